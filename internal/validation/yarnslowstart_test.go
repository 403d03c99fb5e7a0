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

// slowstartRuns are the recorded runs of a program with one slowstart: values by
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

func readSlowstarts(t *testing.T, program string) map[string]slowstartRuns {
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
		if value["workload"] != program {
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

// yarn is the cluster and its job: four nodes of three containers, one of which the
// ApplicationMaster has. Nothing is known of the machines but their four virtual
// processors and the memory of containers.
const yarn = `
fidelity = "phase"
[cluster]
hadoop = "3.4.1"
nodes = 4
memory = "6 GiB"
vcores = 4
platform = "vm.toml"
[conf]
"dfs.block.size" = "64m"
"yarn.app.mapreduce.am.resource.mb" = 2048
"mapreduce.map.memory.mb" = 2048
"mapreduce.reduce.memory.mb" = 2048
[[job]]
name = "sort"
input = 1073741800
maps = 16
reduces = 4
[job.conf]
"dfs.replication" = 1
`

const yarnPlatform = `
source = ["four virtual processors of a cloud; 6 GB of containers"]
assumed = ["cores: the virtual processors", "memory: what containers leave", "overlap: Linux reads ahead and writes behind", "disk.read_mb: a volume of a cloud", "disk.write_mb: likewise", "nic_mb: 1 Gbit/s"]
cores = 4
speed = 0.6
memory = "8g"
overlap = true
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

// yarn counts the times of an attempt from the start of its container, as histories of
// MRv2 do.
func (r *taskRun) yarn(q *model.WhatIf) *yarnRun {
	y, began := &yarnRun{first: math.Inf(1)}, math.Inf(1)
	for i := range r.attempts {
		if a := &r.attempts[i]; a.Kind == workload.Map {
			began = math.Min(began, (a.Runnable - q.Cluster.Costs.Setup).Seconds())
		}
	}
	for i := range r.attempts {
		a := &r.attempts[i]
		if a.State != workload.Succeeded {
			continue
		}
		from, took := a.Start.Seconds()-began, (a.Finish - a.Start).Seconds()
		switch a.Kind {
		case workload.Map:
			y.maps = math.Max(y.maps, from+took)
			y.mapAvg += took / float64(q.Jobs[0].Maps.Count)
		case workload.Reduce:
			n := float64(q.Jobs[0].Reduces.Count)
			merge := a.Phases[workload.PhaseMerge].Seconds()
			reduce := (a.Phases[workload.PhaseReduce] + a.Phases[workload.PhaseWrite] + a.Phases[workload.PhaseCommit]).Seconds()
			y.first = math.Min(y.first, from)
			y.elapsed = math.Max(y.elapsed, from+took)
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

// yarnMeans are those of a question with several seeds.
func yarnMeans(t *testing.T, q model.WhatIf) *yarnRun {
	t.Helper()
	const seeds = 40
	sum := &yarnRun{}
	for seed := range uint64(seeds) {
		q.Seed = seed
		r, err := runTasks(q)
		if err != nil {
			t.Fatal(err)
		}
		one := r.yarn(&q)
		for _, v := range []struct {
			to   *float64
			more float64
		}{
			{&sum.maps, one.maps}, {&sum.first, one.first}, {&sum.elapsed, one.elapsed}, {&sum.mapAvg, one.mapAvg},
			{&sum.shuffle, one.shuffle}, {&sum.merge, one.merge}, {&sum.reduce, one.reduce},
		} {
			*v.to += v.more / seeds
		}
	}
	return sum
}

// TeraSort and WordCount on YARN over slowstart at fidelity phase. Slowstart 1.0 alone
// gives the parameters: what its tasks took on average the rates and costs, its last map
// the spread of maps, and its end the spread of reduces. All other settings follow.
func TestYarnSlowstart(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"vm.toml": yarnPlatform, "yarn.toml": yarn} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	b.WriteString("| program | slowstart | first reduce starts: measured s | simulated s | last map ends: measured s | last map simulated s | job: measured s (runs) | job simulated s | difference |\n|---|---|---|---|---|---|---|---|---|\n")
	var worst [3]float64
	missed := 0
	for _, program := range []string{"TeraSort", "WordCount"} {
		question := func(slowstart string) model.WhatIf {
			f, err := scenarios.Open(filepath.Join(folder, "yarn.toml"),
				`conf."mapreduce.job.reduce.slowstart.completedmaps"=`+slowstart, "job.0.profile="+strings.ToLower(program))
			if err != nil {
				t.Fatal(err)
			}
			s, err := f.Scenario(1)
			if err != nil {
				t.Fatal(err)
			}
			return s.Runs[0].Question
		}
		recorded := readSlowstarts(t, program)
		at := slowstartModel(t, recorded["1.0"], question)
		for _, slowstart := range slowstarts {
			r, y := recorded[slowstart], at(slowstart)
			off := [3]float64{y.first/r.mean("first_reduce_start_time") - 1, y.maps/r.mean("map_completion_time") - 1, y.elapsed/r.mean("elapsed_s") - 1}
			fmt.Fprintf(&b, "| %s | %s | %.1f | %.1f | %.1f | %.1f | %.1f (%.1f to %.1f) | %.1f | %+.1f %% |\n", program, slowstart,
				r.mean("first_reduce_start_time"), y.first, r.mean("map_completion_time"), y.maps,
				r.mean("elapsed_s"), slices.Min(r["elapsed_s"]), slices.Max(r["elapsed_s"]), y.elapsed, 100*off[2])
			for i := range off {
				worst[i] = max(worst[i], math.Abs(off[i]))
				if math.Abs(off[i]) > 0.1 {
					missed++
				}
			}
		}
	}
	fmt.Fprintf(&b, "\nWorst: first reduce %.1f %%, last map %.1f %%, job %.1f %%; %d of 54 figures **miss** by more than 10 %%.\n", 100*worst[0], 100*worst[1], 100*worst[2], missed)
	for i, most := range []float64{0.3, 0.12, 0.12} {
		if worst[i] > most {
			t.Errorf("worst of first reduce, last map and job: %v, want at most 0.3, 0.12, 0.12", worst)
		}
	}
	evidence.Compare(t, "yarn-slowstart", b.String(), *update)
}

// slowstartModel finds the parameters from the recorded runs with slowstart 1.0 and
// returns what they give at another one.
func slowstartModel(t *testing.T, known slowstartRuns, question func(string) model.WhatIf) func(string) *yarnRun {
	t.Helper()
	q := question("1.0")
	measured := yarnProfile(known.mean("avg_map_time"), known.mean("avg_shuffle_time"), known.mean("avg_merge_time"), known.mean("avg_reduce_time"))
	found, err := platform.Calibrate(measured, q.Cluster.Machines[0], false, func(m model.Machine) (platform.Profile, error) {
		q := q
		q.Cluster.Machines = []model.Machine{m}
		r, err := runTasks(q)
		if err != nil {
			return nil, err
		}
		return r.yarn(&q).profile(), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(calibrated(t, &found))
	var cv [2]float64
	at := func(slowstart string) *yarnRun {
		p := question(slowstart)
		p.Cluster.Machines = []model.Machine{found.Machine}
		p.Programs[0].CV = cv
		return yarnMeans(t, p)
	}
	spread := func(kind workload.Kind, of func(*yarnRun) float64, want float64) {
		low, high := 0.0, 1.0
		for range 10 {
			cv[kind] = (low + high) / 2
			if of(at("1.0")) < want {
				low = cv[kind]
			} else {
				high = cv[kind]
			}
		}
	}
	spread(workload.Map, func(y *yarnRun) float64 { return y.maps }, known.mean("map_completion_time"))
	spread(workload.Reduce, func(y *yarnRun) float64 { return y.elapsed }, known.mean("elapsed_s"))
	y := at("1.0")
	t.Logf("coefficients of variation of work on cores: maps %.2f, reduces %.2f", cv[workload.Map], cv[workload.Reduce])
	t.Logf("tasks at slowstart 1.0: maps %.1f s (measured %.1f), shuffle %.1f (%.1f), merge %.1f (%.1f), reduce %.1f (%.1f)",
		y.mapAvg, known.mean("avg_map_time"), y.shuffle, known.mean("avg_shuffle_time"),
		y.merge, known.mean("avg_merge_time"), y.reduce, known.mean("avg_reduce_time"))
	return at
}
