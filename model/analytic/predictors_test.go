package analytic

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// informed are all models by name, which have learnt from runs; nil: from none.
func informed(t testing.TB, runs []RecordedRun) (all []Predictor, by map[string]Predictor) {
	t.Helper()
	all, err := Predictors(Inputs{Runs: runs})
	if err != nil {
		t.Fatal(err)
	}
	by = map[string]Predictor{}
	for _, p := range all {
		by[p.Name] = p
	}
	return all, by
}

func TestModelsSorted(t *testing.T) {
	if !slices.IsSortedFunc(Models, func(a, b Model) int { return cmp.Compare(a.Name, b.Name) }) {
		t.Error("Models is not sorted by name")
	}
}

// exampleJob is 80 maps of 12 s and 32 reduces of 2+1+8 s on 16+16 slots.
func exampleJob() model.WhatIf {
	each := func(s float64) workload.Durations { return workload.Durations{All: seconds(s)} }
	j := workload.Job{ID: "job", Maps: workload.MapTasks{Count: 80, InputBytes: 80 << 26, Time: each(12)}}
	j.Reduces = workload.ReduceTasks{Count: 32, Shuffle: each(2), Sort: each(1), Time: each(8), ShuffleData: 80 << 26}
	q := model.WhatIf{Name: "q", Jobs: []workload.Job{j}}
	for range 8 {
		q.Cluster.Nodes = append(q.Cluster.Nodes, model.Node{MapSlots: 2, ReduceSlots: 2})
	}
	return q
}

func TestPredictions(t *testing.T) {
	statistics := DefaultPhases()
	known := map[string]model.Predictor{
		"zhang":     zhangPredictor{platform: ptr(fittedPlatform())},
		"herodotou": herodotouPredictor{&herodotouStatistics{Data: statistics.Data, Cost: statistics.Cost}},
		"hp":        hpPredictor{hpRuns(1<<26, 3<<26)},
		"cresp":     crespPredictor{model: &crespCost{Beta: []float64{1, 2, 0.1, 3, 0.01, 0.5, 0.05, 0.2}}},
		"aria":      ariaPredictor{}, "ihp": ihpPredictor{}, "waves": wavesPredictor{},
	}
	for _, test := range []struct {
		name            string
		low, mean, high float64
		phases          string
		change          func(*model.WhatIf)
	}{
		// 80*12/16 + 3 + (32/16-1)*3 + 32*8/16; 79*12/16+12 + 3 + ((31/16)-1)*3+3 + 31*8/16+8
		{"aria", 82, (82 + 103.5625) / 2, 71.25 + 3 + 5.8125 + 23.5, "map map, reduce shuffle, reduce reduce", nil},
		{"waves", 82, 82, 82, "map map, reduce shuffle, reduce reduce", nil},
		// A copy of 20 s that keeps up with the maps leaves the last one's output: 0.25 s.
		{"waves", 60 + 0.25 + 9 + 29, 98.25, 98.25, "map map, reduce shuffle, reduce reduce", func(q *model.WhatIf) {
			r := &q.Jobs[0].Reduces
			r.Copy, r.Shuffle = workload.Durations{All: seconds(20)}, workload.Durations{}
		}},
		// The first shuffle covers four map waves: 12 + (48+3) + 3 + 2*8.
		{"ihp", 82, (82 + 93.25) / 2, 12 + (3 + 71.25 - 12) + 3 + 16, "map map, reduce shuffle, reduce reduce", nil},
		{"cresp", 0, 0, 0, "", func(q *model.WhatIf) { q.Jobs[0].Reduces.Count = 16 }},
		{"herodotou", 0, 0, 0, "map read, map map, map collect, map spill, map merge, reduce shuffle, reduce merge, reduce reduce, reduce write", nil},
		{"zhang", 0, 0, 0, "map read, map map, map collect, map spill, map merge, reduce shuffle, reduce reduce, reduce write", func(q *model.WhatIf) {
			q.Jobs[0].Profile = &workload.Profile{
				Data:       workload.DataStatistics{InputPairWidth: 100, MapSizeSel: 1, MapRecsSel: 1, ReduceSizeSel: 1, ReduceRecsSel: 1},
				Cost:       workload.CostStatistics{MapPerRecord: 900, ReducePerRecord: 1100},
				MapInBytes: workload.Sample{N: 1, Mean: 1 << 26, Max: 1 << 26},
			}
		}},
		{"hp", 0, 0, 0, "map map, reduce shuffle, reduce reduce", func(q *model.WhatIf) { q.Jobs[0].Reduces.Count = hpRuns(1)[0].Profile.Reduces }},
	} {
		q := exampleJob()
		if test.change != nil {
			test.change(&q)
		}
		p, err := known[test.name].Predict(q)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		for _, v := range []struct {
			what      string
			got, want float64
		}{{"low", p.Low.Seconds(), test.low}, {"mean", p.Mean.Seconds(), test.mean}, {"high", p.High.Seconds(), test.high}} {
			if test.low > 0 && math.Abs(v.got-v.want) > 1e-6 {
				t.Errorf("%s: %s %v, want %v", test.name, v.what, v.got, v.want)
			}
		}
		var phases []string
		for _, ph := range p.Phases {
			phases = append(phases, ph.Kind.String()+" "+ph.Phase.String())
		}
		if got := strings.Join(phases, ", "); got != test.phases {
			t.Errorf("%s: phases %s, want %s", test.name, got, test.phases)
		}
		j := p.Jobs[0]
		if p.Model != test.name || p.Low > p.Mean || p.Mean > p.High || p.Low <= 0 || len(p.Jobs) != 1 || j.Finish != p.Mean || j.Low != p.Low || j.High != p.High {
			t.Errorf("%s: %v %v %v, job %+v", p.Model, p.Low, p.Mean, p.High, j)
		}
	}
}

// A program on machines gives the statistics of the equations, and these the
// times of tasks.
func TestPredictionsOfPrograms(t *testing.T) {
	h := DefaultPhases()
	q := exampleJob()
	q.Fidelity = model.Phase
	q.Cluster.Machines = []model.Machine{{
		Name: "m", Cores: 4, Speed: 2, Memory: 1 << 33, HeapPart: 1, NIC: 1e8, Uplink: 1e9,
		Disks: []model.Disk{{Read: 8e7, Write: 5e7, Curve: model.DiskCurve{Kind: model.NoCurve}}},
		CPU:   model.FrameworkCost{HDFSRead: 4, HDFSWrite: 6, Partition: 500, SerdeRecord: 300, Compare: 100, Merge: 400},
	}}
	q.Programs = []model.Program{{Name: "p", Data: h.Data, MapCPU: 2000, ReduceCPU: 3000}}
	j := &q.Jobs[0]
	j.Program, j.Maps.Time, j.Reduces.Shuffle, j.Reduces.Sort, j.Reduces.Time = "p", workload.Durations{}, workload.Durations{}, workload.Durations{}, workload.Durations{}

	planner, err := q.Cluster.Machines[0].Planner(&q.Programs[0], taskConf(t, nil), 32)
	if err != nil {
		t.Fatal(err)
	}
	s := herodotouStatistics{Data: planner.Data, Cost: planner.Cost}
	s.HDFSRead, s.HDFSWrite = s.HDFSRead+2, s.HDFSWrite+3
	told, err := herodotouPredictor{&s}.Predict(q)
	if err != nil {
		t.Fatal(err)
	}
	for name, by := range map[string]model.Predictor{
		"herodotou": herodotouPredictor{}, "aria": ariaPredictor{}, "ihp": ihpPredictor{}, "zhang": zhangPredictor{platform: ptr(fittedPlatform())},
	} {
		p, err := by.Predict(q)
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case name == "herodotou" && (p.Mean != told.Mean || !slices.Equal(p.Phases, told.Phases)):
			t.Errorf("herodotou: %v, %v with the statistics of the plan", p.Mean, told.Mean)
		case name == "aria" && (p.Low > told.Mean || told.Mean > p.High):
			t.Errorf("aria: %v to %v, the waves end at %v", p.Low, p.High, told.Mean)
		}
	}
	q.Jobs = append(q.Jobs, q.Jobs[0])
	without, err := ariaPredictor{}.Predict(q)
	if err != nil {
		t.Fatal(err)
	}
	q.Cluster.Costs.Launch, q.Cluster.Costs.Commit = 2*time.Second, time.Second
	with, err := ariaPredictor{}.Predict(q)
	if err != nil || with.Low <= without.Low+4*time.Second || with.High <= without.High+4*time.Second {
		t.Errorf("two jobs whose tasks start and commit: %v to %v (%v), without %v to %v", with.Low, with.High, err, without.Low, without.High)
	}
	q.Cluster.Nodes[3].Machine = 1
	q.Cluster.Machines = append(q.Cluster.Machines, q.Cluster.Machines[0])
	if _, err := (herodotouPredictor{}).Predict(q); !errors.Is(err, model.ErrNotApplicable) {
		t.Errorf("machines of two types: %v", err)
	}
}

func ptr[T any](v T) *T { return &v }

func TestPredictorsSayWhyNot(t *testing.T) {
	two := func(q *model.WhatIf) { q.Jobs = append(q.Jobs, q.Jobs[0]) }
	for _, test := range []struct {
		by     model.Predictor
		change func(*model.WhatIf)
		want   string
	}{
		{wavesPredictor{}, two, "answers for a single job; this scenario has 2"},
		{ihpPredictor{}, two, "answers for a single job; this scenario has 2"},
		{hpPredictor{}, func(*model.WhatIf) {}, "needs two or more recorded runs"},
		{crespPredictor{}, func(*model.WhatIf) {}, "needs coefficients"},
		{crespPredictor{model: &crespCost{}}, func(*model.WhatIf) {}, "32 reduces on 16 slots"},
		{zhangPredictor{}, func(*model.WhatIf) {}, "needs a platform fitted from microbenchmarks"},
		{zhangPredictor{platform: ptr(fittedPlatform())}, func(*model.WhatIf) {}, "needs a job profile"},
		{zhangPredictor{platform: ptr(fittedPlatform())}, func(q *model.WhatIf) { q.Jobs[0].Program = "p" }, "needs data and cost statistics"},
		{herodotouPredictor{}, func(*model.WhatIf) {}, "needs data and cost statistics"},
		{herodotouPredictor{&herodotouStatistics{}}, func(q *model.WhatIf) { q.Jobs[0].Maps.InputBytes = 0 }, "bytes of its input"},
		{ariaPredictor{}, func(q *model.WhatIf) { q.Cluster.SharedSlots = true }, "slots shared by maps and reduces"},
		{ariaPredictor{}, func(q *model.WhatIf) { q.Until = time.Second }, "stops the run"},
		{ariaPredictor{}, func(q *model.WhatIf) { q.Jobs = nil }, "no jobs"},
		{ariaPredictor{}, func(q *model.WhatIf) { q.Cluster.Nodes = nil }, "no map slots"},
		{ariaPredictor{}, func(q *model.WhatIf) { q.Fidelity = model.Device }, "the times of its tasks are not given"},
		{ariaPredictor{}, func(q *model.WhatIf) {
			q.Jobs[0].Maps.Time = workload.Durations{}
			q.Jobs[0].Profile = &workload.Profile{MapTime: workload.Sample{N: 1, Mean: 1, Max: 1}}
		}, "its profile states no FirstShuffle, TypicalShuffle, ReduceTime"},
		{wavesPredictor{}, func(q *model.WhatIf) { q.Cluster.Nodes[0].Slowness = 2 }, "nodes differ in speed"},
	} {
		q := exampleJob()
		test.change(&q)
		_, err := test.by.Predict(q)
		if !errors.Is(err, model.ErrNotApplicable) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%T: %v, want %q", test.by, err, test.want)
		}
	}
	// What was told but makes no sense is an error of its own.
	_, err := herodotouPredictor{ptr(herodotouStatistics{Data: unknown(taskplan.Data{}), Cost: unknown(taskplan.Cost{})})}.Predict(exampleJob())
	if err == nil || errors.Is(err, model.ErrNotApplicable) || !strings.Contains(err.Error(), "csHdfsReadCost") {
		t.Errorf("herodotou without statistics: %v", err)
	}
}

// runsOf are runs on 16 map slots whose shuffles take 4 s for 1.25 GiB a slot, and
// reduces twice that; 3 s are outside of every stage.
func runsOf(data, reduces []float64) []RecordedRun {
	var runs []RecordedRun
	for _, d := range data {
		for _, r := range reduces {
			t := 4 * d / (80 << 26)
			p := AriaProfile{
				Maps: 80, Reduces: int(r), MapAvg: 12, MapMax: 12, FirstShuffleAvg: t, FirstShuffleMax: t,
				ShuffleAvg: t, ShuffleMax: t, ReduceAvg: 2 * t, ReduceMax: 2 * t,
			}
			waves := r / 16
			runs = append(runs, RecordedRun{
				Profile: p, Data: d, MapStage: (79*12/16.0 + 12 + 60) / 2, MapSlots: 16, ReduceSlots: 16, Outside: 3,
				Time: 3 + (60+79*12/16.0+12)/2 + t + (waves-1)*t + waves*2*t,
			})
		}
	}
	return runs
}

// As printed, 8 reduces on 16 slots take half a wave: equation 20 with 12 s of maps, a
// shuffle of 4 s and reduces of 8 s. In whole waves they take one.
func TestIHPAsPrinted(t *testing.T) {
	runs := runsOf([]float64{20 << 26, 40 << 26, 60 << 26, 80 << 26, 100 << 26, 120 << 26}, []float64{8, 16, 32, 48})
	for i := range runs {
		runs[i].MapStage = runs[i].Profile.MapAvg // no wave of maps for the first shuffle to cover
	}
	q := exampleJob().Resized(8)
	j := &q.Jobs[0]
	j.Maps.Count, j.Reduces.Count, j.Reduces.ShuffleData = 80, 8, 80<<26
	for _, c := range []struct {
		model Model
		want  float64 // seconds
	}{{ihpLiteral, 12 + 4/2.0 + 8/2.0}, {ihpWaves, 12 + 4 + 8}} {
		predictor, err := c.model.New(Inputs{Runs: runs, Literal: true})
		if err != nil {
			t.Fatal(err)
		}
		p, err := predictor.Predict(q)
		if err != nil || math.Abs(p.Mean.Seconds()-c.want) > 1e-6 || p.Model != c.model.Name {
			t.Errorf("%s: %v (%s, %v), want %v s", c.model.Name, p.Mean, p.Model, err, c.want)
		}
		if predictor, _ := c.model.New(Inputs{Runs: runs}); predictor != nil {
			t.Errorf("%s answers without being asked", c.model.Name)
		}
	}
}

// The improved HP model with a history takes the durations of the regressions, on
// other slots those of as much to do on each.
func TestIHPWithHistory(t *testing.T) {
	h, err := newIHPHistory(runsOf([]float64{20 << 26, 40 << 26, 60 << 26, 80 << 26, 100 << 26, 120 << 26, 140 << 26}, []float64{16, 32, 48, 64, 80, 96}), false)
	if err != nil {
		t.Fatal(err)
	}
	ihp := ihpPredictor{history: h}
	for _, c := range []struct{ nodes, maps int }{{8, 80}, {16, 160}} {
		q := exampleJob().Resized(c.nodes)
		j := &q.Jobs[0]
		j.Maps.Count, j.Reduces.Count = c.maps, 4*c.nodes
		j.Reduces.ShuffleData = int64(c.maps) << 26
		p, err := ihp.Predict(q)
		if err != nil {
			t.Fatal(err)
		}
		// All maps, first and second shuffle of 4 s, two waves of reduces of 8 s.
		slots := float64(2 * c.nodes)
		low, up := float64(c.maps)*12/slots, float64(c.maps-1)*12/slots+12
		if want := (low+up)/2 + 4 + 4 + 16 + 3; math.Abs(p.Mean.Seconds()-want) > 0.5 {
			t.Errorf("%d nodes: %v, want %v s", c.nodes, p.Mean, want)
		}
		if p.Safe < p.Mean {
			t.Errorf("%d nodes: safe %v below the mean %v", c.nodes, p.Safe, p.Mean)
		}
	}
	// Ten times the data of the largest run is an extrapolation. Its interval is that of
	// the runs at the edge, which here take 10 % longer or less long than the rest says.
	off := runsOf([]float64{20 << 26, 40 << 26, 60 << 26, 80 << 26, 100 << 26, 120 << 26, 140 << 26}, []float64{16, 32, 48, 64, 80, 96})
	for i := range off {
		if d := off[i].Data; d == 20<<26 || d == 140<<26 {
			off[i].Time *= 1.1 - 0.2*float64(i%2)
		}
	}
	if h, err = newIHPHistory(off, false); err != nil {
		t.Fatal(err)
	}
	ihp = ihpPredictor{history: h}
	q := exampleJob()
	inside, err := ihp.Predict(q)
	if err != nil {
		t.Fatal(err)
	}
	q.Jobs[0].Reduces.ShuffleData = 1400 << 26
	outside, err := ihp.Predict(q)
	if err != nil {
		t.Fatal(err)
	}
	if len(inside.Warnings) != 0 || len(outside.Warnings) != 1 || !strings.Contains(outside.Warnings[0], "outside the range") {
		t.Errorf("warnings %q within the history, %q outside", inside.Warnings, outside.Warnings)
	}
	width := func(p model.Prediction) float64 { return (p.Most - p.Least).Seconds() / p.Mean.Seconds() }
	if !(width(inside) < 0.01 && width(outside) > 0.15) {
		t.Errorf("intervals %v to %v and %v to %v: want the second wider", inside.Least, inside.Most, outside.Least, outside.Most)
	}
	if _, err := Predictors(Inputs{Runs: runsOf([]float64{1 << 30}, []float64{16})}); err == nil {
		t.Error("one run teaches")
	}
}

// Runs that do not teach one model teach the others, and the one says what it
// wants.
func TestLearnInPart(t *testing.T) {
	sizes := []float64{20 << 26, 40 << 26, 60 << 26, 80 << 26}
	larger := runsOf(sizes, []float64{16})
	for i := range larger {
		larger[i].MapSlots, larger[i].ReduceSlots = 8, 32
	}
	hasty := slices.Clone(larger)
	for i := range hasty {
		hasty[i].Profile.Maps = 12
	}
	for _, c := range []struct {
		name           string
		runs           []RecordedRun
		hp, ihp, cresp string // what each wants; empty: it answers
	}{
		{"on one line of data and reduces", []RecordedRun{runsOf(sizes[1:2], []float64{16})[0], runsOf(sizes[3:], []float64{32})[0]},
			"1 recorded runs with 16 reduces", "needs runs that differ in data and reduces: got 2 runs (different amounts of data: 2, different numbers of reduces per map slot: 2)", "needs runs on clusters of different sizes: all 2 runs"},
		{"one amount of data", append(runsOf(sizes[:1], []float64{16}), runsOf(sizes[:1], []float64{16})...),
			"needs runs that differ in data: got 2 runs", "needs runs that differ in data and reduces: got 2 runs (different amounts of data: 1, different numbers of reduces per map slot: 1)", "needs runs on clusters of different sizes"},
		{"one number of reduces", runsOf(sizes, []float64{16}), "", "", "needs runs on clusters of different sizes: all 4 runs"},
		{"too few on two clusters", append(runsOf(sizes[:2], []float64{16}), larger[:2]...), "", "", "needs 8 or more runs with all reduces in one wave: got 4 of 4"},
		{"one wave of maps", append(runsOf(sizes, []float64{16}), hasty...), "", "", "needs runs of two map waves or more"},
	} {
		_, by := informed(t, c.runs)
		q := exampleJob()
		q.Jobs[0].Reduces.Count, q.Jobs[0].Reduces.ShuffleData = 16, 50<<26
		for name, want := range map[string]string{"hp": c.hp, "ihp": c.ihp, "cresp": c.cresp} {
			_, err := by[name].Predict(q)
			switch {
			case want == "" && err != nil:
				t.Errorf("%s: %s: %v", c.name, name, err)
			case want != "" && (!errors.Is(err, model.ErrNotApplicable) || !strings.Contains(err.Error(), want)):
				t.Errorf("%s: %s: %v, want %q", c.name, name, err, want)
			}
		}
	}
}

// Tasks that took no time, and those whose end is unknown, are in nobody's way.
func TestRecordRun(t *testing.T) {
	at := func(k workload.Kind, s workload.State, start, finish time.Duration) workload.Attempt {
		return workload.Attempt{Kind: k, State: s, Start: start * time.Second, Finish: finish * time.Second, Counters: workload.Counters{OutBytes: 10}}
	}
	attempts := []workload.Attempt{
		at(workload.Map, workload.Succeeded, 1, 3), at(workload.Map, workload.Succeeded, 2, 4), at(workload.Map, workload.Succeeded, 4, 6),
		at(workload.Map, workload.Killed, 7, 7), at(workload.Map, workload.Running, 8, -1),
		at(workload.Reduce, workload.Succeeded, 6, 9),
	}
	r, err := RecordRun(attempts, 0, 10*time.Second)
	if err != nil || r.MapSlots != 2 || r.ReduceSlots != 1 || r.Data != 30 || r.Time != 10 {
		t.Errorf("%+v, %v", r, err)
	}
}

// What Provision finds meets the deadline, and a node less does not.
func TestProvision(t *testing.T) {
	all, by := informed(t, runsOf([]float64{20 << 26, 40 << 26, 60 << 26, 80 << 26}, []float64{16, 32, 48}))
	q := exampleJob()
	const deadline = 90 * time.Second
	found, err := Provision(q, all, deadline)
	if err != nil {
		t.Fatal(err)
	}
	answered := 0
	for _, x := range found {
		if x.Err != nil {
			continue
		}
		answered++
		last := 0
		for _, estimate := range []func(*model.Prediction) time.Duration{
			func(p *model.Prediction) time.Duration { return p.Low },
			func(p *model.Prediction) time.Duration { return p.Mean },
			func(p *model.Prediction) time.Duration { return p.High },
		} {
			enough, err := NodesFor(by[x.Model], q, estimate, deadline)
			if err != nil {
				t.Fatal(err)
			}
			for nodes, meets := range map[int]bool{enough: true, enough - 1: false} {
				if nodes < 1 {
					continue
				}
				p, err := by[x.Model].Predict(q.Resized(nodes))
				if err != nil || (estimate(&p) <= deadline) != meets {
					t.Errorf("%s, %d nodes: %v, %v", x.Model, nodes, estimate(&p), err)
				}
			}
			if enough > 0 && enough < last {
				t.Errorf("%s: %d nodes, fewer than %d by a shorter time", x.Model, enough, last)
			}
			last = enough
		}
		if mean, _ := NodesFor(by[x.Model], q, func(p *model.Prediction) time.Duration { return p.Mean }, deadline); x.Nodes != mean {
			t.Errorf("%s: got %d nodes: want %d", x.Model, x.Nodes, mean)
		}
	}
	if answered < 3 {
		t.Errorf("%d models answered: %+v", answered, found)
	}
	if _, err := Provision(q, all, 0); err == nil {
		t.Error("no deadline")
	}
}

// The lower bound has all maps on the fast nodes and near, the upper one on the
// slow ones and far.
func TestAriaOnSlowNodes(t *testing.T) {
	q := exampleJob()
	q.Jobs[0].Reduces.Count = 0
	q.Jobs[0].Maps.RackFactor = 1.5
	for i := range q.Cluster.Nodes {
		q.Cluster.Nodes[i].Slowness = []float64{1, 2}[i%2]
	}
	p, err := ariaPredictor{}.Predict(q)
	if err != nil {
		t.Fatal(err)
	}
	if low, high := 60*time.Second, seconds(3*(79*12/16.0+12)); p.Low != low || p.High != high {
		t.Errorf("%v to %v, want %v to %v", p.Low, p.High, low, high)
	}
}

// Under fifo a job waits for those before it only; under any policy the whole
// lies between the work of all and one pool of tasks after the last submission.
func TestAriaOfSeveralJobs(t *testing.T) {
	q := exampleJob()
	second := q.Jobs[0]
	second.ID, second.Submit = "second", 10*time.Second
	third := second
	third.ID, third.Submit = "third", time.Hour
	q.Jobs = append(q.Jobs, second, third)
	fifo, err := ariaPredictor{}.Predict(q)
	if err != nil {
		t.Fatal(err)
	}
	q.Scheduler.Name = "fair2"
	fair, err := ariaPredictor{}.Predict(q)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := ariaPredictor{}.Predict(exampleJob())
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range []model.Prediction{fifo, fair} {
		if p.Jobs[2].Low != alone.Low || p.Jobs[2].High != alone.High || p.High != time.Hour+alone.High || p.Low != time.Hour+alone.Low {
			t.Errorf("%d: the third job, alone by then: %+v", i, p.Jobs[2])
		}
		if p.Jobs[1].Low != alone.Low || p.Jobs[1].High <= alone.High {
			t.Errorf("%d: the second job: %+v", i, p.Jobs[1])
		}
	}
	if fifo.Jobs[0].High != alone.High || fair.Jobs[0].High != fair.Jobs[1].High+10*time.Second {
		t.Errorf("the first job: fifo at most %v, fair at most %v", fifo.Jobs[0].High, fair.Jobs[0].High)
	}
	if len(fair.Warnings) != 1 || len(fifo.Warnings) != 0 {
		t.Errorf("warnings %q and %q", fifo.Warnings, fair.Warnings)
	}
}

// No model of slots has attempts that fail, of whichever task; a world with even tasks has none.
func TestFailuresAreWarnedOf(t *testing.T) {
	failed := []workload.AttemptEnd{{State: workload.Failed, After: time.Second}}
	for name, fail := range map[string]func(*workload.Job){
		"set-up":   func(j *workload.Job) { j.SetupEnds = failed },
		"clean-up": func(j *workload.Job) { j.CleanupEnds = failed },
		"map":      func(j *workload.Job) { j.Maps.Ends = map[int][]workload.AttemptEnd{1: failed} },
		"reduce":   func(j *workload.Job) { j.Reduces.Ends = map[int][]workload.AttemptEnd{0: failed} },
	} {
		q := exampleJob()
		fail(&q.Jobs[0])
		for want, q := range [...]model.WhatIf{Without(q, Stragglers), q} {
			p, err := ariaPredictor{}.Predict(q)
			if err != nil {
				t.Fatal(err)
			}
			if ends := len(q.Jobs[0].AttemptEnds()); len(p.Warnings) != want || ends != want {
				t.Errorf("%s: %d attempts end early, warnings %q: want %d of each", name, ends, p.Warnings, want)
			}
		}
	}
}

// A thousand what-if questions of one TeraSort to every model; at most a second is
// asked for.
func BenchmarkThousandPredictions(b *testing.B) {
	h := DefaultPhases()
	history, err := newIHPHistory(runsOf([]float64{50 << 26, 100 << 26, 150 << 26, 200 << 26, 250 << 26, 300 << 26, 350 << 26, 400 << 26}, []float64{16, 32, 48, 64, 80}), false)
	if err != nil {
		b.Fatal(err)
	}
	known := []model.Predictor{
		ariaPredictor{}, wavesPredictor{}, hpPredictor{hpRuns(1<<26, 3<<26)}, ihpPredictor{history: history},
		zhangPredictor{platform: ptr(fittedPlatform())}, herodotouPredictor{&herodotouStatistics{Data: h.Data, Cost: h.Cost}},
		crespPredictor{model: &crespCost{Beta: []float64{1, 2, 0.1, 3, 0.01, 0.5, 0.05, 0.2}}},
	}
	q := exampleJob()
	j := &q.Jobs[0]
	j.Maps.Count, j.Maps.InputBytes = 400, 400<<26
	j.Reduces.Count = hpRuns(1)[0].Profile.Reduces
	for i := range q.Cluster.Nodes {
		q.Cluster.Nodes[i].ReduceSlots = 8 // CRESP wants one wave
	}
	j.Profile = &workload.Profile{
		Data:       workload.DataStatistics{InputPairWidth: 100, MapSizeSel: 1, MapRecsSel: 1, ReduceSizeSel: 1, ReduceRecsSel: 1},
		Cost:       workload.CostStatistics{MapPerRecord: 900, ReducePerRecord: 1100},
		MapInBytes: workload.Sample{N: 1, Mean: 1 << 26, Max: 1 << 26},
	}
	for b.Loop() {
		for i := range 1000 {
			j.Conf.Set("io.sort.mb", strconv.Itoa(50+i%100))
			for _, p := range known {
				if _, err := p.Predict(q); err != nil {
					b.Fatalf("%T: %v", p, err)
				}
			}
		}
	}
}

// The report knows one speed of nodes; its equations as printed answer for no other.
func TestLiteralSpeeds(t *testing.T) {
	statistics := DefaultPhases()
	p := literalPredictor{herodotouPredictor{&herodotouStatistics{Data: statistics.Data, Cost: statistics.Cost}}}
	for _, c := range []struct {
		first, others float64
		answers       bool
	}{{1, 1, true}, {1, 2, false}, {2, 2, false}, {0.5, 1, false}} {
		q := exampleJob()
		for i := range q.Cluster.Nodes {
			q.Cluster.Nodes[i].Slowness = c.others
		}
		q.Cluster.Nodes[0].Slowness = c.first
		if _, err := p.Predict(q); (err == nil) != c.answers {
			t.Errorf("a node of slowness %v, others of %v: %v", c.first, c.others, err)
		}
	}
}
