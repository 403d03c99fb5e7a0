package model_test

import (
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/vectortest"
	"github.com/slotwave/slotwave/workload"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A configuration of 2.x or 3.x says 0.23.0, whatever its release is.
func TestReleaseOfLaterConf(t *testing.T) {
	var conf workload.Conf
	conf.Set("hadoop.common.configuration.version", "0.23.0")
	if release, known := model.ReleaseOf(conf); release != "" || known {
		t.Errorf("got %q, %v: want none", release, known)
	}
}

// The tables of the package, and small functions at both sides of their limits, as text: releases and
// their heartbeats, codecs, machines that are refused, goals, clusters of other sizes, names.
func TestTables(t *testing.T) {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for _, name := range []string{"0.20.2", "0.21.0", "1.0.4", "1.2.1", "ideal", "", "1.0"} {
		r, err := model.FindRelease(name)
		say("# release %q: %+v %v", name, r, err)
		var conf workload.Conf
		conf.Set("hadoop.common.configuration.version", name)
		own, ok := model.ReleaseOf(conf)
		say("configured: %s %v", own, ok)
		if err != nil {
			continue
		}
		for _, set := range [][2]string{
			{}, {"mapred.heartbeats.in.second", "1"}, {"mapred.heartbeats.in.second", "0"}, {"mapreduce.jobtracker.heartbeats.scaling.factor", "0.01"},
			{"mapreduce.jobtracker.heartbeats.scaling.factor", "0.009"}, {"mapreduce.jobtracker.heartbeats.scaling.factor", "2.5"}, {"mapred.heartbeats.in.second", "x"},
		} {
			var c model.Cluster
			if set[0] != "" {
				c.Conf.Set(set[0], set[1])
			}
			for _, n := range []int{1, 29, 30, 31, 299, 300, 301, 4000} {
				interval, err := r.HeartbeatInterval(n, c.Conf)
				say("%v %d trackers: %v %v", set, n, interval, err)
			}
			c.Heartbeat = time.Second
			stated, err := r.HeartbeatOf(&c, 10)
			say("stated %v %v", stated, err)
		}
	}
	for _, c := range model.Codecs {
		say("%s %v %.6g %.6g %.6g", c.Name, c.Classes, c.Compress, c.Decompress, c.Ratio)
	}
	for _, class := range []string{"lzo", "org.apache.hadoop.io.compress.GzipCodec", "LzopCodec", "a.Unknown", ""} {
		c, err := model.FindCodec(class)
		say("%q: %s %v", class, c.Name, err)
	}
	say("%+v", model.MeasuredCost)
	sayMachines(say)
	sayGoals(say)
	q := model.WhatIf{Scheduler: model.Scheduler{Name: "a"}, Changes: []model.Change{{Scheduler: model.Scheduler{Name: "b"}}}}
	q.Jobs = []workload.Job{{Maps: workload.MapTasks{Count: 3}, Reduces: workload.ReduceTasks{Count: 2}}, {Maps: workload.MapTasks{Count: 5}}}
	q.Cluster.Racks, q.Cluster.Nodes = []string{"r0", "r1", "r2"}, []model.Node{{MapSlots: 2}}
	say("%d tasks, %d schedulers, %d and %d fetches", q.Tasks(), len(q.Schedulers()), q.Network.Exact(), model.Network{ExactFetches: 7}.Exact())
	for _, n := range []int{1, 3, 10} {
		say("%+v", q.Resized(n).Cluster.Nodes)
	}
	for _, machines := range [][]int{{}, {0, 1, 1}, {1, 0}, {2, 2, 1, 1, 5}} {
		c := model.Cluster{Machines: make([]model.Machine, 3)}
		for _, m := range machines {
			c.Nodes = append(c.Nodes, model.Node{Machine: m})
		}
		say("usual of %v: %d", machines, c.UsualMachine())
	}
	for f := range model.Fidelity(4) {
		parsed, ok := model.ParseFidelity(f.String())
		say("%s %d %v", f, parsed, ok)
	}
	for r := range model.NumReasons {
		say("%s", r)
	}
	_, ok1 := model.ParseFidelity("no")
	say("%v", ok1)
	for i := range model.NumThreads {
		say("%s", i)
	}
	for i := range model.NumWaits {
		say("%q", i.String())
	}
	vectortest.Lines(t, "testdata/tables.txt", b.String(), *update)
}

// sayMachines lists machines with one wrong value each, and what is wrong.
func sayMachines(say func(string, ...any)) {
	f := model.FittedMachine("f", nil)
	say("%+v", f)
	for _, smt := range [][]float64{{1}, {1, 1.3}, {1, 2}, {1, 2.01}, {1, 0.9}, {0.9}, {1, 1.5, 2.25}, {1, 1.5, 2.3}} {
		m := machine()
		m.SMT = smt
		say("smt %v: %v, %d threads", smt, m.Check(), m.Threads())
	}
	for _, v := range []float64{-1, 0, 0.5, 1, 1.5, math.NaN(), math.Inf(1)} {
		for _, c := range []struct {
			name string
			set  func(m *model.Machine)
		}{
			{"cores", func(m *model.Machine) { m.Cores = int(min(9, max(-1, v))) }},
			{"speed", func(m *model.Machine) { m.Speed = v }},
			{"memory", func(m *model.Machine) { m.Memory = int64(min(9, max(-1, v))) }},
			{"dirty", func(m *model.Machine) { m.Dirty = int64(min(9, max(-1, v))) }},
			{"read", func(m *model.Machine) { m.Disks[0].Read = v }},
			{"write", func(m *model.Machine) { m.Disks[0].Write = v }},
			{"alpha", func(m *model.Machine) { m.Disks[0].Curve.Alpha = v }},
			{"least", func(m *model.Machine) { m.Disks[0].Curve.Least = v }},
			{"chunk", func(m *model.Machine) { m.Disks[0].Curve = model.DiskCurve{Kind: model.SeekCurve, Chunk: v} }},
			{"nic", func(m *model.Machine) { m.NIC = v }},
			{"uplink", func(m *model.Machine) { m.Uplink = v }},
			{"heap", func(m *model.Machine) { m.HeapPart = v }},
			{"codec", func(m *model.Machine) { m.Codecs = []model.Codec{{Name: "c", Ratio: v}} }},
			{"decoder", func(m *model.Machine) { m.Codecs = []model.Codec{{Name: "c", Ratio: 1, Compress: v, Decompress: v}} }},
		} {
			m := machine()
			c.set(&m)
			say("%s %v: %v", c.name, v, m.Check())
		}
	}
}

// sayGoals measures goals on jobs of which one has failed.
func sayGoals(say func(string, ...any)) {
	q := model.WhatIf{Jobs: []workload.Job{{ID: "a", Deadline: 20 * time.Second}, {ID: "b", Deadline: 30 * time.Second}, {ID: "c"}, {ID: "d", Deadline: time.Second}}}
	p := model.Prediction{Jobs: []model.JobOutcome{
		{ID: "a", Name: "a", User: "ann", Pool: "p", Submit: 0, Finish: 20 * time.Second, State: workload.Succeeded},
		{ID: "b", Name: "b", User: "bob", Pool: "p", Queue: "q", Submit: 5 * time.Second, Finish: 31 * time.Second, State: workload.Succeeded},
		{ID: "c", Name: "c", User: "ann", Queue: "q", Submit: 10 * time.Second, Finish: 40 * time.Second, State: workload.Succeeded},
		{ID: "d", Name: "d", User: "dan", Submit: 0, Finish: 2 * time.Second, State: workload.Failed},
	}}
	for _, who := range []model.Goal{{}, {Job: "b"}, {User: "ann"}, {Pool: "p"}, {Queue: "q"}, {User: "ann", Pool: "p"}, {User: "eve"}, {User: "dan"}} {
		for _, g := range []model.Goal{
			{Finish: 31 * time.Second}, {Finish: 40 * time.Second}, {Response: 30 * time.Second, Percentile: 100}, {Response: 26 * time.Second, Percentile: 50},
			{Response: 20 * time.Second, Percentile: 33}, {Response: 20 * time.Second, Percentile: 34}, {Deadlines: 0.5}, {Deadlines: 1},
		} {
			g.Job, g.User, g.Pool, g.Queue = who.Job, who.User, who.Pool, who.Queue
			value, slack := g.Measure(&q, &p, nil)
			say("%s: %.9g of %.9g, met %v, slack %.6g", g.String(), value, g.Limit(), g.Met(value), slack)
		}
	}
}
