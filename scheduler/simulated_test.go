package scheduler_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/vectortest"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// journal writes what a policy decides: where attempts ran, and whom it asked.
type journal struct {
	bytes.Buffer
	attempts int
}

func (j *journal) Attempt(a *workload.Attempt) {
	j.attempts++
	fmt.Fprintln(j, a.Job, a.Kind, a.Task, a.Number, a.State, a.Node, a.Start, a.Finish)
}

func (j *journal) Offer(o *model.Offer) { fmt.Fprintf(j, "%+v\n", *o) }

// busyCluster is a question in which jobs of many users, pools and queues compete, with
// random settings of the policy and times in whole seconds.
func busyCluster(r *rand.Rand, policy string) model.WhatIf {
	n := func(low, high int) int { return low + r.IntN(high-low+1) }
	rarely := func(k int) bool { return r.IntN(k) == 0 }
	seconds := func(low, high int) time.Duration { return time.Duration(n(low, high)) * time.Second }
	q := model.WhatIf{Seed: r.Uint64(), Scheduler: policySettings(r, policy)}
	c := &q.Cluster
	c.Hadoop = []string{"0.20.2", "0.21.0", "1.0.4", "1.2.1"}[n(0, 3)]
	c.Heartbeat, c.Racks = seconds(1, 3), []string{"a", "b"}[:n(1, 2)]
	if rarely(8) {
		c.Heartbeat = seconds(9, 14)
	}
	c.Replication = n(1, 2)
	c.Costs = model.Costs{Launch: seconds(0, 1), Setup: seconds(0, 1), Cleanup: seconds(0, 1), Commit: seconds(0, 1)}
	for i := range n(1, 6) {
		node := model.Node{Name: fmt.Sprint("n", i), Rack: i % len(c.Racks), MapSlots: n(2, 4), ReduceSlots: n(2, 3)}
		if rarely(5) {
			node.Slowness = 4
		}
		c.Nodes = append(c.Nodes, node)
	}
	wide := policy == "capacity" && rarely(3)
	if wide {
		for _, kind := range []string{"map", "reduce"} {
			c.Conf.Set("mapred.cluster."+kind+".memory.mb", "1000")
			c.Conf.Set("mapred.cluster.max."+kind+".memory.mb", "2000")
		}
	}
	submit := time.Duration(0)
	for i := range n(2, 14) {
		submit += seconds(0, 20)
		j := workload.Job{
			ID: fmt.Sprint("j", i), Submit: submit, User: []string{"ann", "bob", "carl"}[n(0, 2)], Pool: []string{"", "p", "q", "r"}[n(0, 3)],
			Queue: []string{"p", "q"}[n(0, 1)], Priority: workload.VeryHigh + workload.Priority(n(0, 4)), NoSetupCleanup: rarely(4),
		}
		if rarely(2) {
			j.Deadline = submit + seconds(1, 200)
		}
		set := func(key, value string) { j.Conf.Set(key, value) }
		set("mapred.reduce.slowstart.completed.maps", []string{"0", "0.3", "1"}[n(0, 2)])
		speculates := strconv.FormatBool(rarely(3))
		set("mapred.map.tasks.speculative.execution", speculates)
		set("mapred.reduce.tasks.speculative.execution", speculates)
		if wide {
			set("mapred.job.map.memory.mb", []string{"1000", "2000"}[n(0, 1)])
			set("mapred.job.reduce.memory.mb", []string{"1000", "2000"}[n(0, 1)])
		}
		most := 20
		if speculates == "true" {
			most = 150
		}
		j.Maps = workload.MapTasks{Count: n(1, 16), Time: workload.Durations{All: seconds(1, most)}, RackFactor: 1, OffFactor: 2}
		if rarely(2) {
			for range j.Maps.Count {
				j.Maps.Splits = append(j.Maps.Splits, workload.Split{Hosts: []string{fmt.Sprint("n", n(0, len(c.Nodes)-1))}})
			}
		}
		reduces := n(0, 2) * n(0, 4)
		j.Reduces = workload.ReduceTasks{Count: reduces, Shuffle: workload.Durations{All: seconds(1, 5)}, Time: workload.Durations{All: seconds(1, most)}}
		q.Jobs = append(q.Jobs, j)
	}
	return q
}

// policySettings draws the properties of a policy.
func policySettings(r *rand.Rand, policy string) model.Scheduler {
	n := func(low, high int) int { return low + r.IntN(high-low+1) }
	rarely := func(k int) bool { return r.IntN(k) == 0 }
	spec := model.Scheduler{Name: policy}
	set := func(k int, key string, value any) {
		if rarely(k) {
			spec.Conf.Set(key, fmt.Sprint(value))
		}
	}
	switch policy {
	case "fifo":
		set(2, "mapred.jobtracker.taskalloc.capacitypad", float64(n(0, 6))/20)
	case "fair1", "fair2":
		const fair = "mapred.fairscheduler."
		set(2, fair+"assignmultiple", rarely(2))
		set(3, fair+"assignmultiple.maps", n(-1, 3))
		set(3, fair+"assignmultiple.reduces", n(-1, 3))
		set(3, fair+"sizebasedweight", true)
		set(4, fair+"weightadjuster", "NewJobWeightBooster")
		set(2, "mapred.newjobweightbooster.duration", n(5, 60)*1000)
		set(2, "mapred.newjobweightbooster.factor", n(2, 5))
		set(2, fair+"locality.delay", max(-1, n(-1, 8)*1000))
		set(4, fair+"locality.delay.node", n(0, 8)*1000)
		set(4, fair+"locality.delay.rack", n(0, 8)*1000)
		set(4, fair+"load.max.diff", float64(n(0, 4))/4)
		set(4, fair+"update.interval", n(1, 6)*500)
		set(2, fair+"preemption", true)
		set(8, fair+"preemption.only.log", true)
		set(2, fair+"preemption.interval", n(1, 10)*1000)
		set(2, "fairSharePreemptionTimeout", n(2, 20))
		set(2, "defaultMinSharePreemptionTimeout", n(2, 20))
		set(4, "poolMaxJobsDefault", n(1, 3))
		set(4, "userMaxJobsDefault", n(1, 3))
		for _, name := range []string{"p", "q"}[:n(0, 2)] {
			p := model.Pool{Name: name, Weight: float64(n(1, 6)) / 2, MinMaps: n(0, 4), MinReduces: n(0, 2)}
			if rarely(3) {
				p.MaxMaps, p.MaxReduces = most(n(1, 5)), most(n(1, 3))
			}
			if rarely(3) {
				p.MaxRunningJobs = most(n(1, 3))
			}
			if rarely(3) {
				p.Mode = "fifo"
			}
			if rarely(3) {
				timeout := time.Duration(n(2, 20)) * time.Second
				p.MinShareTimeout = &timeout
			}
			spec.Pools = append(spec.Pools, p)
		}
		if rarely(3) {
			spec.Users = []model.UserLimit{{Name: "ann", MaxRunningJobs: n(1, 3)}}
		}
	case "capacity":
		share := n(1, 9) * 10
		for i, name := range []string{"p", "q"} {
			var c workload.Conf
			c.Set("capacity", fmt.Sprint([]int{share, 100 - share}[i]))
			for _, v := range []struct {
				key   string
				value any
			}{
				{"minimum-user-limit-percent", n(20, 100)}, {"user-limit-factor", n(1, 3)}, {"supports-priority", rarely(2)},
				{"maximum-initialized-jobs-per-user", n(1, 3)}, {"maximum-initialized-active-tasks", n(16, 80)}, {"init-accept-jobs-factor", n(1, 12)},
			} {
				if rarely(3) {
					c.Set(v.key, fmt.Sprint(v.value))
				}
			}
			if rarely(3) {
				c.Set("maximum-capacity", fmt.Sprint(min(100, []int{share, 100 - share}[i]+n(0, 3)*10)))
			}
			spec.Queues = append(spec.Queues, model.Queue{Name: name, Conf: c})
		}
		set(2, "mapred.capacity-scheduler.maximum-tasks-after-offswitch", n(0, 2))
		set(4, "mapred.capacity-scheduler.maximum-tasks-per-heartbeat", n(1, 4))
		set(4, "mapred.capacity-scheduler.maximum-system-jobs", n(1, 12))
	}
	return spec
}

// What each policy does on a busy simulated cluster stays: its launches, whom it asked before, by
// which figures, and why it declined a slot. A line of the golden file says which run
// differs; -v shows it. A change is a change in results.
func TestSimulatedDecisionsStay(t *testing.T) {
	var got strings.Builder
	for seed := range uint64(layers.Draws(150, 150)) {
		for _, policy := range scheduler.Names() {
			if seed >= 40 && policy != "fair1" && policy != "fair2" && policy != "capacity" {
				continue
			}
			var j journal
			run := sim.Simulator{Recorder: &j, Limit: time.Hour}
			if seed%3 > 0 { // the policies do not take the same ways without a tracer
				run.Tracer = &j
			}
			p, err := run.Predict(busyCluster(rand.New(rand.NewPCG(seed, 23)), policy))
			fmt.Fprintln(&j, p.Mean, err)
			if testing.Verbose() {
				t.Logf("%s %d:\n%s", policy, seed, j.String())
			}
			fmt.Fprintf(&got, "%s %d: %d attempts, %v, %.6x\n", policy, seed, j.attempts, p.Mean, sha256.Sum256(j.Bytes()))
		}
	}
	vectortest.Lines(t, "testdata/simulated.txt", got.String(), *update)
}
