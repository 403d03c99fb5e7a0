package analytic

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/model/vectortest"
	"github.com/slotwave/slotwave/workload"
)

// draws makes random questions of small whole numbers, so that limits are often met
// exactly.
type draws struct{ *rand.Rand }

func (r draws) one(n int) bool { return r.IntN(n) == 0 }

// seconds is a time of whole seconds.
func (r draws) seconds(least, most int) time.Duration {
	return time.Duration(least+r.IntN(most-least+1)) * time.Second
}

// times are those of n tasks: all alike, each its own, or drawn.
func (r draws) times(n, most int) workload.Durations {
	d := workload.Durations{All: r.seconds(1, most)}
	switch {
	case r.one(3) && n > 0:
		d.All = 0
		for range n {
			d.Each = append(d.Each, r.seconds(1, most))
		}
	case r.one(5):
		dist, err := workload.NewDist("uniform", workload.DistParams{Min: 0.5, Max: 2})
		if err != nil {
			panic(err)
		}
		d.Dist = dist
	}
	return d
}

func (r draws) statistics() workload.DataStatistics {
	return workload.DataStatistics{
		InputPairWidth: float64(10 + r.IntN(200)), MapSizeSel: float64(1+r.IntN(8)) / 4, MapRecsSel: float64(1+r.IntN(8)) / 4,
		ReduceSizeSel: float64(r.IntN(5)) / 4, ReduceRecsSel: float64(r.IntN(5)) / 4, RecsPerRedGroup: float64(1 + r.IntN(3)),
		CombineSizeSel: float64(1+r.IntN(4)) / 4, CombineRecsSel: float64(1+r.IntN(4)) / 4,
		MapOutPairWidth: 100, ReduceOutPairWidth: 100, InputCompressRatio: []float64{1, 0.5}[r.IntN(2)], IntermCompressRatio: []float64{1, 0.3}[r.IntN(2)],
	}
}

// profile is a job's profile whose samples are about those of its tasks.
func (r draws) profile(maps, reduces int) *workload.Profile {
	sample := func(mean float64) workload.Sample {
		mean *= float64(2+r.IntN(4)) / 4
		return workload.Sample{N: 9, Mean: mean, Max: mean * float64(4+r.IntN(3)) / 4, Min: mean / 2}
	}
	p := &workload.Profile{
		Name: "p", Runs: 1, Maps: maps, Reduces: reduces, ReduceSkew: float64(4+r.IntN(3)) / 4, Data: r.statistics(),
		MapInBytes: sample(64 << 20), MapInRecords: sample(600_000), ReduceInBytes: sample(80 << 20), ReduceInRecords: sample(800_000),
		MapTime: sample(12), FirstShuffle: sample(4), TypicalShuffle: sample(6), SortTime: sample(2), ReduceTime: sample(9),
		SetupTime: sample(1), CleanupTime: sample(1), LaunchDelay: sample(1),
	}
	c := &p.Cost
	for _, v := range []*float64{
		&c.ReadPerByte, &c.MapPerRecord, &c.ReducePerRecord, &c.WritePerByte, &c.CollectPerRecord, &c.SpillPerByte, &c.MergePerByte,
	} {
		*v = float64(1+r.IntN(40)) * 2
	}
	return p
}

func (r draws) question() model.WhatIf {
	q := model.WhatIf{Name: "q", Fidelity: model.Fidelity(r.IntN(4))}
	c := &q.Cluster
	c.Hadoop = []string{"", "ideal", "0.20.2", "1.0.4"}[r.IntN(4)]
	if r.one(2) {
		c.Heartbeat = r.seconds(1, 5)
	}
	if c.Hadoop != "ideal" && r.one(2) {
		c.Costs = model.Costs{Launch: r.seconds(0, 2), Setup: r.seconds(0, 2), Cleanup: r.seconds(0, 2), TaskCleanup: r.seconds(0, 1), Commit: r.seconds(0, 2)}
	}
	c.FromStart, c.SharedSlots, c.Replication = r.one(5), r.one(20), 1+r.IntN(3)
	if r.one(3) {
		c.Racks = []string{"a", "b"}
	}
	fast := model.Machine{
		Name: "m", Cores: 1 + r.IntN(4), Speed: []float64{0.5, 1, 2}[r.IntN(3)], Memory: 8 << 30, NIC: 100e6, Uplink: 1e9, HeapPart: 1,
		JVMStart: r.seconds(0, 1), CPU: model.MeasuredCost, Overlap: r.one(2), PageCache: r.one(3),
		Disks: slices.Repeat([]model.Disk{{Read: 80e6, Write: 50e6, Curve: model.DiskCurve{Kind: model.NoCurve}}}, 1+r.IntN(3)),
	}
	if r.one(4) {
		fast.Fitted = ptr(fittedPlatform())
	}
	slow := fast
	slow.Name, slow.Speed, slow.NIC = "slow", fast.Speed/2, 40e6
	c.Machines = []model.Machine{fast, slow}
	node := model.Node{MapSlots: 1 + r.IntN(4), ReduceSlots: 1 + r.IntN(3), Slowness: []float64{0, 1, 1.5}[r.IntN(3)], Price: float64(r.IntN(3))}
	if r.one(12) {
		node.ReduceSlots = 0
	}
	c.Nodes = slices.Repeat([]model.Node{node}, 1+r.IntN(8))
	if r.one(6) {
		other := &c.Nodes[len(c.Nodes)-1]
		other.MapSlots, other.Slowness, other.Machine = 1+r.IntN(3), 2, r.IntN(2)
		other.Dies, other.FailAfter = r.seconds(0, 1), r.seconds(0, 1)
	}
	q.Programs = []model.Program{{Name: "sort", MapCPU: float64(100 * r.IntN(9)), ReduceCPU: float64(100 * r.IntN(9)), Data: taskplan.Data{
		InputPairWidth: float64(10 + r.IntN(150)), RecsPerGroup: float64(1 + r.IntN(3)), MapSizeSel: float64(1+r.IntN(6)) / 4, MapRecsSel: float64(1+r.IntN(6)) / 4,
		CombineSizeSel: 0.5, CombineRecsSel: 0.5, ReduceSizeSel: 1, ReduceRecsSel: 0.5,
	}, Combiner: r.one(3), CombineCPU: 50}}
	jobs := 1
	if r.one(8) {
		jobs = 2 + r.IntN(2)
	}
	for i := range jobs {
		q.Jobs = append(q.Jobs, r.job(i, q.Fidelity))
	}
	return q
}

func (r draws) job(i int, f model.Fidelity) workload.Job {
	maps, reduces := 1+r.IntN(10)*r.IntN(12), r.IntN(3)*r.IntN(12)
	j := workload.Job{ID: fmt.Sprint("j", i), Submit: time.Duration(i) * r.seconds(0, 40)}
	j.Conf.Set("mapred.reduce.slowstart.completed.maps", []string{"0.05", "0.5", "1"}[r.IntN(3)])
	for _, v := range [][]string{
		{"io.sort.mb", "20", "100"}, {"io.sort.factor", "3", "10"}, {"mapred.compress.map.output", "true", "false"}, {"dfs.replication", "1", "2"},
		{"mapred.map.tasks.speculative.execution", "false", "true"}, {"io.sort.record.percent", "0.05", "0.2"},
	} {
		if r.one(2) {
			j.Conf.Set(v[0], v[1+r.IntN(2)])
		}
	}
	j.Maps = workload.MapTasks{Count: maps, InputBytes: int64(maps) * int64(16+r.IntN(64)) << 20, RackFactor: 1, OffFactor: float64(1 + r.IntN(2)), Fresh: r.one(4)}
	if r.one(3) {
		for range maps {
			j.Maps.Splits = append(j.Maps.Splits, workload.Split{Bytes: int64(8+r.IntN(64)) << 20})
		}
	}
	j.Reduces = workload.ReduceTasks{Count: reduces, FromLastMap: r.one(4)}
	if r.one(2) {
		j.Reduces.ShuffleData = j.Maps.InputBytes / int64(1+r.IntN(3))
	}
	if f > model.Profile {
		j.Program = "sort"
		return j
	}
	if r.one(4) {
		j.Profile = r.profile(maps, reduces)
		if r.one(2) {
			return j
		}
	}
	j.Maps.Time, j.Reduces.Sort, j.Reduces.Time = r.times(maps, 20), r.times(reduces, 3), r.times(reduces, 20)
	if j.Reduces.Shuffle = r.times(reduces, 9); r.one(3) {
		j.Reduces.FirstWave = r.times(reduces, 9)
	}
	if r.one(4) {
		j.Reduces.Copy = r.times(reduces, 30)
	}
	if r.one(4) {
		j.Maps.Localise, j.Reduces.Localise = r.times(maps, 2), r.times(reduces, 2)
	}
	if r.one(6) {
		j.Maps.Ends = map[int][]workload.AttemptEnd{0: {{State: workload.Failed, After: time.Second}}}
	}
	return j
}

// attempts are those of a job of random tasks, some of which failed.
func (r draws) attempts() []workload.Attempt {
	var all []workload.Attempt
	lastMap := time.Duration(0)
	for i := range 2 + r.IntN(20) {
		a := workload.Attempt{Kind: workload.Map, Task: i, Start: r.seconds(0, 30), Counters: workload.Counters{
			InBytes: int64(r.IntN(64)) << 20, InRecords: int64(r.IntN(9)) * 1e5, OutBytes: int64(r.IntN(64)) << 20, OutRecords: int64(r.IntN(9)) * 1e5, Spills: int64(r.IntN(3)),
		}}
		a.Finish = a.Start
		for _, p := range []workload.Phase{workload.PhaseStartup, workload.PhaseRead, workload.PhaseMap, workload.PhaseSpill, workload.PhaseCommit} {
			a.Phases[p] = r.seconds(0, 4)
			a.Finish += a.Phases[p]
		}
		if r.one(8) {
			a.State = workload.Killed
		}
		lastMap = max(lastMap, a.Finish)
		all = append(all, a)
	}
	for i := range r.IntN(8) {
		a := workload.Attempt{Kind: workload.Reduce, Task: i, Start: r.seconds(5, 60), Counters: workload.Counters{
			InBytes: int64(r.IntN(64)) << 20, ShuffleBytes: int64(r.IntN(64)) << 20, InRecords: int64(r.IntN(9)) * 1e5,
		}}
		a.Phases[workload.PhaseStartup], a.Phases[workload.PhaseMerge], a.Phases[workload.PhaseReduce] = r.seconds(0, 1), r.seconds(0, 3), r.seconds(0, 9)
		a.WaitFetch = max(0, lastMap-a.Start)
		a.Phases[workload.PhaseShuffle] = a.WaitFetch + r.seconds(0, 5)
		a.Finish = a.Start
		for _, d := range a.Phases {
			a.Finish += d
		}
		all = append(all, a)
	}
	return all
}

// knowledge is what models may know: runs, files, a small run.
func (r draws) knowledge(t testing.TB, out *bytes.Buffer) Inputs {
	k := Inputs{Literal: r.one(2), Files: map[string]File{}}
	if r.one(2) {
		sizes := []float64{20 << 26, 40 << 26, 60 << 26, 80 << 26, 100 << 26}[:2+r.IntN(4)]
		k.Runs = runsOf(sizes, [][]float64{{16}, {16, 32}, {16, 32, 48, 64}}[r.IntN(3)])
		for i := range k.Runs {
			k.Runs[i].Time *= float64(30+r.IntN(4)) / 30
			if r.one(2) {
				k.Runs[i].MapSlots, k.Runs[i].ReduceSlots = 8, 32
			}
		}
	}
	attempts := r.attempts()
	small, err := SmallRunOf(attempts)
	fmt.Fprintf(out, "small %+v %v\n", small, err)
	if err == nil && r.one(3) {
		k.Small = &small
	}
	run, err := RecordRun(attempts, 0, r.seconds(60, 120))
	fmt.Fprintf(out, "run %+v %v\n", run, err)
	p := fittedPlatform()
	var text bytes.Buffer
	if err := platform.WriteModel(&text, p); err != nil {
		t.Fatal(err)
	}
	if r.one(2) {
		k.Files[zhangFile] = File{"p.json", slices.Clone(text.Bytes())}
	}
	text.Reset()
	if r.one(2) {
		job := DefaultPhases()
		job.Data.MapSizeSel, job.Cost.MapCPU = float64(1+r.IntN(8))/4, float64(100+r.IntN(900))
		statistics, err := json.Marshal(herodotouStatistics{Data: job.Data, Cost: job.Cost})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(out, "statistics %s\n", statistics)
		k.Files[herodotouFile] = File{"s.json", statistics}
	}
	return k
}

// parts lists those parts of a question that a cause can change.
func parts(q *model.WhatIf) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %s %v %v %v %v;", q.Fidelity, q.Cluster.Hadoop, q.Cluster.Heartbeat, q.Cluster.Phases, q.Cluster.FromStart, q.Cluster.Costs)
	for _, n := range q.Cluster.Nodes {
		fmt.Fprintf(&b, " %.9g %v %v", n.Slowness, n.Dies, n.FailAfter)
	}
	for i := range q.Jobs {
		m, r := &q.Jobs[i].Maps, &q.Jobs[i].Reduces
		fmt.Fprintf(&b, "; %s %d %d %v %v", q.Jobs[i].Conf.String("mapred.reduce.slowstart.completed.maps", ""), m.Count, len(m.Splits), m.Ends, r.Ends)
		fmt.Fprintf(&b, " %d", r.Count)
		for _, d := range append(reduceTimes(r), &m.Time, &m.Localise, &r.Localise) {
			fmt.Fprintf(&b, " %v %v %v", d.All, d.Each, d.Dist != nil)
		}
	}
	return b.String()
}

// What each model answers to random questions, in all worlds without a cause, stays. A
// line of the golden file is the first of twenty questions and a model, so a new model
// adds lines and changes none; -v shows the answers.
func TestPredictionsStay(t *testing.T) {
	const each = 20
	said := map[string]*bytes.Buffer{}
	say := func(name, format string, what ...any) {
		if said[name] == nil {
			said[name] = &bytes.Buffer{}
		}
		fmt.Fprintf(said[name], format+"\n", what...)
		if testing.Verbose() {
			t.Logf(name+": "+format, what...)
		}
	}
	var got bytes.Buffer
	for seed := range uint64(layers.Draws(400, 400)) {
		r := draws{rand.New(rand.NewPCG(seed, 11))}
		var inputs bytes.Buffer
		k := r.knowledge(t, &inputs)
		q := r.question()
		all, err := Predictors(k)
		say("inputs", "%s %v", &inputs, err)
		for _, p := range all {
			a, err := p.Predict(q)
			say(p.Name, "%+v %v", a, err)
		}
		for c := range NumCauses {
			world := Without(q, c)
			say("causes", "without %s: %s", c, parts(&world))
			for _, p := range all {
				a, err := p.Predict(world)
				say(p.Name, "%v %v %v %v %v", p.AccountsFor(&q, c), a.Low, a.Mean, a.High, err)
			}
		}
		if seed%4 == 0 {
			sizes, err := Provision(q, all, r.seconds(20, 200))
			for _, x := range sizes {
				say(x.Model, "%d %v", x.Nodes, x.Err)
			}
			say("inputs", "%v", err)
		}
		if seed%each == each-1 {
			for _, name := range slices.Sorted(maps.Keys(said)) {
				fmt.Fprintf(&got, "%d %s: %.6x\n", seed+1-each, name, sha256.Sum256(said[name].Bytes()))
			}
			clear(said)
		}
	}
	vectortest.Lines(t, "testdata/predictions.txt", got.String(), *update)
}
