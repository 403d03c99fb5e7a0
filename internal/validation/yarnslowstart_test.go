package validation

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/evidence"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/workload"
)

// slowstartRuns are the recorded runs of TeraSort with one slowstart: values by
// column.
type slowstartRuns map[string][]float64

func (r slowstartRuns) mean(column string) float64 {
	sum := 0.0
	for _, v := range r[column] {
		sum += v / float64(len(r[column]))
	}
	return sum
}

var slowstarts = []string{"0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "0.8", "0.9", "1.0"}

func readSlowstarts(t *testing.T) map[string]slowstartRuns {
	t.Helper()
	f, err := os.Open(shared(t, "data/yarn-slowstart/runs.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := csv.NewReader(f)
	in.Comma = '\t'
	rows, err := in.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]slowstartRuns{}
	for _, row := range rows[1:] {
		value := map[string]string{}
		for i, name := range rows[0] {
			value[name] = row[i]
		}
		if value["workload"] != "TeraSort" {
			continue
		}
		r := all[value["slowstart"]]
		if r == nil {
			r = slowstartRuns{}
			all[value["slowstart"]] = r
		}
		for name, v := range value {
			if name != "series" && name != "workload" && name != "input" {
				r[name] = append(r[name], number(t, v))
			}
		}
	}
	return all
}

// yarn is the cluster and its job: eleven containers, as the application master
// has the twelfth. Nothing is known of the machines but their four virtual
// processors and the memory of containers.
const yarn = `
fidelity = "device"
[cluster]
hadoop = "0.21.0"
heartbeat = "1s"
platform = "vm.toml"
shared_slots = true
[[cluster.group]]
name = "worker"
count = 3
map_slots = 3
reduce_slots = 0
[[cluster.group]]
name = "master"
map_slots = 2
reduce_slots = 0
[cluster.costs]
setup = "0s"
[scheduler]
name = "fifo"
[conf]
"dfs.block.size" = "64m"
"io.sort.record.percent" = 0.14
"mapred.child.java.opts" = "-Xmx1638m"
[[job]]
name = "terasort"
profile = "terasort"
input = 1073741800
maps = 16
reduces = 4
[job.conf]
"dfs.replication" = 1
`

const yarnPlatform = `
source = ["four virtual processors of a cloud; 6 GB of containers"]
assumed = ["cores: two, with two threads each", "memory: what containers leave", "dirty: a fifth of memory, as Linux has it", "overlap: Linux reads ahead and writes behind", "page_cache: Linux", "disk.read_mb: a volume of a cloud", "disk.write_mb: likewise", "nic_mb: 1 Gbit/s"]
cores = 2
smt = [1, 1.3]
speed = 0.6
memory = "8g"
dirty = "1600m"
overlap = true
page_cache = true
nic_mb = 125
[[disk]]
read_mb = 150
write_mb = 120
[jvm]
start = "1s"
heap_part = 1
`

// yarnRun is what the recorded runs tell, of a simulated one: seconds, since the
// job runs, and means of its tasks.
type yarnRun struct {
	maps, first, elapsed           float64 // last map's end, first reduce's start, last reduce's end
	mapAvg, shuffle, merge, reduce float64
}

// yarn counts the times of an attempt from the start of its container.
func (r *taskRun) yarn(q *model.WhatIf) *yarnRun {
	y, began := &yarnRun{first: math.Inf(1)}, math.Inf(1)
	for i := range r.attempts {
		if a := &r.attempts[i]; a.Kind == workload.Map {
			began = math.Min(began, a.Runnable.Seconds())
		}
	}
	for i := range r.attempts {
		a := &r.attempts[i]
		from := (a.Start + q.Cluster.Costs.Launch - q.Cluster.Machines[0].JVMStart).Seconds()
		took, finish := a.Finish.Seconds()-from, a.Finish.Seconds()-began
		switch a.Kind {
		case workload.Map:
			y.maps = math.Max(y.maps, finish)
			y.mapAvg += took / float64(q.Jobs[0].Maps.Count)
		case workload.Reduce:
			n := float64(q.Jobs[0].Reduces.Count)
			merge := a.Phases[workload.PhaseMerge].Seconds()
			reduce := (a.Phases[workload.PhaseReduce] + a.Phases[workload.PhaseWrite] + a.Phases[workload.PhaseCommit]).Seconds()
			y.first = math.Min(y.first, from-began)
			y.elapsed = math.Max(y.elapsed, finish)
			y.shuffle += (took - merge - reduce) / n
			y.merge += merge / n
			y.reduce += reduce / n
		}
	}
	return y
}

func (y *yarnRun) profile() platform.Profile {
	return yarnProfile(y.mapAvg, y.shuffle, y.merge, y.reduce)
}

// yarnProfile has a row for each time that is known, that of a map as its read.
func yarnProfile(mapAvg, shuffle, merge, reduce float64) platform.Profile {
	p := platform.Profile{{Phase: "collect"}, {Phase: "spill"}}
	for _, row := range []struct {
		phase   string
		seconds float64
	}{{"read", mapAvg}, {"shuffle", shuffle}, {"merge", merge}, {"write", reduce}} {
		p.Add(row.phase, platform.PhaseRow{MB: 64, MS: 1000 * row.seconds})
	}
	return p
}

// TeraSort on YARN over slowstart: from what the tasks took at slowstart 1.0,
// all other runs.
func TestYarnSlowstart(t *testing.T) {
	recorded := readSlowstarts(t)
	known := recorded["1.0"]
	folder := t.TempDir()
	for name, text := range map[string]string{"vm.toml": yarnPlatform, "yarn.toml": yarn} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	question := func(slowstart string) model.WhatIf {
		f, err := scenarios.Open(filepath.Join(folder, "yarn.toml"), `conf."mapred.reduce.slowstart.completed.maps"=`+slowstart)
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Scenario(1)
		if err != nil {
			t.Fatal(err)
		}
		return s.Runs[0].Question
	}
	run := func(q model.WhatIf) *yarnRun {
		r, err := runTasks(q)
		if err != nil {
			t.Fatal(err)
		}
		return r.yarn(&q)
	}
	// From the last map to the first reduce pass a wait for the master's heartbeat
	// and one for a node's, half a second each, and the start of the container.
	const beats = 1.0
	q := question("1.0")
	start := q.Cluster.Machines[0]
	q.Cluster.Costs.Launch = start.JVMStart + workload.Seconds(known.mean("first_reduce_start_time")-known.mean("map_completion_time")-beats)
	measured := yarnProfile(known.mean("avg_map_time"), known.mean("avg_shuffle_time"), known.mean("avg_merge_time"), known.mean("avg_reduce_time"))
	found, err := platform.Calibrate(measured, start, true, func(m model.Machine) (platform.Profile, error) {
		q := q
		q.Cluster.Machines = []model.Machine{m}
		return run(q).profile(), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(calibrated(t, &found))
	var b strings.Builder
	b.WriteString("| slowstart | first reduce starts: measured s | simulated s | last map ends: measured s | last map simulated s | job: measured s (runs) | job simulated s | difference |\n|---|---|---|---|---|---|---|---|\n")
	worst, steps := 0.0, map[string]*yarnRun{}
	for _, slowstart := range slowstarts {
		p := question(slowstart)
		p.Cluster.Machines, p.Cluster.Costs = []model.Machine{found.Machine}, q.Cluster.Costs
		r, y := recorded[slowstart], run(p)
		off := y.elapsed/r.mean("elapsed_s") - 1
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %.1f | %.1f | %.1f (%.1f to %.1f) | %.1f | %+.1f %% |\n", slowstart,
			r.mean("first_reduce_start_time"), y.first, r.mean("map_completion_time"), y.maps,
			r.mean("elapsed_s"), slices.Min(r["elapsed_s"]), slices.Max(r["elapsed_s"]), y.elapsed, 100*off)
		if math.Abs(off) > 0.12 {
			t.Errorf("slowstart %s: %.1f s, want %.1f within 12 %%", slowstart, y.elapsed, r.mean("elapsed_s"))
		}
		worst, steps[slowstart] = math.Max(worst, math.Abs(off)), y
	}
	fmt.Fprintf(&b, "\nWorst %.1f %%.\n", 100*worst)
	t.Logf("tasks at slowstart 1.0, to which rates and costs were fitted: maps %.1f s (measured %.1f), shuffle %.1f (%.1f), merge %.1f (%.1f), reduce %.1f (%.1f)",
		steps["1.0"].mapAvg, known.mean("avg_map_time"), steps["1.0"].shuffle, known.mean("avg_shuffle_time"),
		steps["1.0"].merge, known.mean("avg_merge_time"), steps["1.0"].reduce, known.mean("avg_reduce_time"))
	// Up to 0.5 reduces start with the second wave of maps, from 0.7 on when it
	// ends; and no job is shorter than one that starts them earlier.
	if early, late := steps["0.5"], steps["0.7"]; early.first > steps["1.0"].maps-10 || late.first < early.first+6 {
		t.Errorf("first reduces start at %.1f s with slowstart 0.5 and at %.1f s with 0.7: want a wave of maps between", early.first, late.first)
	}
	for i, slowstart := range slowstarts[1:] {
		if before := steps[slowstarts[i]]; steps[slowstart].elapsed < before.elapsed {
			t.Errorf("slowstart %s: %.1f s, with %s %.1f", slowstart, steps[slowstart].elapsed, slowstarts[i], before.elapsed)
		}
	}
	evidence.Compare(t, "yarn-slowstart", b.String(), *update)
}
