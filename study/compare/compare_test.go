package compare

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
)

const oneJob = `
[cluster]
hadoop = "1.2.1"
nodes = 8
[conf]
"mapred.reduce.tasks.speculative.execution" = false
"mapred.map.tasks.speculative.execution" = false
[[job]]
name = "sort"
input = "3 GB"
maps = 6
map_ms = [4000, 5000, 3000, 9000, 4000, 2000]
reduces = 20
reduce_shuffle_ms = 3000
first_shuffle_ms = 1000
reduce_ms = 5000
`

// Simulations are shared between models that lack the same causes only.
func TestAttributeSharesSimulations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.toml")
	if err := os.WriteFile(path, []byte(oneJob), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := scenarios.Open(path, "job.0.first_shuffle_ms=500", "job.0.reduce_shuffle_ms=7000")
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Scenario(1)
	if err != nil {
		t.Fatal(err)
	}
	q := &s.Runs[0].Question
	alone := func() []replicatedWorld {
		return []replicatedWorld{{q, map[uint]simulatedAnswer{0: {makespan: time.Minute}}}}
	}
	models, err := analytic.Predictors(analytic.Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	parts := func(worlds []replicatedWorld, name string) []results.GapPart {
		i := slices.IndexFunc(models, func(m analytic.Predictor) bool { return m.Name == name })
		list, err := attribute(worlds, &models[i], time.Minute, &model.Prediction{})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	shared := alone()
	parts(shared, "aria")
	if got, want := parts(shared, "zhang"), parts(alone(), "zhang"); !slices.Equal(got, want) {
		t.Errorf("after aria %v, alone %v", got, want)
	}
}

// The causes and phases explain the gap of each model that has phases, on devices and
// with given times, also where the last wave does not fill the slots. On devices next to
// nothing can be left of models with bounds: TestTails counts their parts.
func TestAttributeExplainsGaps(t *testing.T) {
	for name, set := range map[string][]string{
		"khan-waves":  {"job.0.input=3g", "job.0.reduces=24"},
		"zhang-waves": {"cluster.heartbeat=3s", "cluster.hadoop=\"0.20.2\"", "job.0.maps=495"},
		"hitune-sort": nil,
	} {
		c, err := Compare([]string{name}, Options{Causes: true, Options: study.Options{Seed: 1, Set: set}}, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		simulated, asked := c.Answers.List[0].Prediction.Mean, 0
		for _, x := range c.Answers.List[1:] {
			if x.Err != nil {
				continue
			}
			asked++
			sum, left := time.Duration(0), x.Gap[len(x.Gap)-1].Time
			for _, g := range x.Gap {
				sum += g.Time
			}
			if gap := simulated - x.Prediction.Mean; sum != gap || left.Abs() > simulated/200 {
				t.Errorf("%s, %s: of %v %v is unexplained: %v", name, x.Prediction.Model, gap, left, x.Gap)
			}
		}
		if asked < 3 {
			t.Errorf("%s: %d models answer: want three", name, asked)
		}
	}
}

// Three maps on two slots: 6 s of simulated work over the slots take 8 s in whole waves and
// 9 s as simulated. The model's own phases make 4.5 s, and its bounds have the mean 5 s.
func TestTails(t *testing.T) {
	q := model.WhatIf{Fidelity: model.Device, Jobs: []workload.Job{{Maps: workload.MapTasks{Count: 3}}}}
	q.Cluster.Nodes = []model.Node{{MapSlots: 1}, {MapSlots: 1}}
	phases := func(d time.Duration) []model.PhaseTime { return []model.PhaseTime{{Kind: workload.Map, Time: d}} }
	got := tailsOf(&q, &simulatedAnswer{9 * time.Second, phases(4 * time.Second)}, &model.Prediction{Low: 4 * time.Second, Mean: 5 * time.Second, High: 6 * time.Second, Phases: phases(3 * time.Second)})
	if want := (tails{2 * time.Second, time.Second, -time.Second / 2}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Without heartbeats the death of a node would not be noticed: the gap of each model
// is split all the same, and no model counts deaths as its own. Pictures of the
// comparison have the user's texts.
func TestAttributeWithDeadNode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dies.toml")
	const text = "[figure]\ntitle = \"deaths\"\n\"maps waiting\" = \"queue\"\n[[cluster.group]]\ncount = 4\n[[cluster.group]]\ndies = \"30s\"\n[[job]]\nmaps = 16\nmap_ms = 1000\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := Compare([]string{path}, Options{Causes: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := resultdir.Create(filepath.Join(t.TempDir(), "out"), resultdir.Purpose{})
	if err == nil {
		err = c.Write(d)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.Abort()
	if got := c.Study.Labels.Unused(); len(got) != 1 || !strings.Contains(got[0], `figure."maps waiting" replaces nothing here (did you mean waiting maps?)`) {
		t.Errorf("texts of the pictures: got %q, want one that replaces nothing", got)
	}
	for _, x := range c.Answers.List[1:] {
		if x.Err == nil && !slices.ContainsFunc(x.Gap, func(g results.GapPart) bool { return g.Cause == analytic.Stragglers.String() }) {
			t.Errorf("%s: %v: want a part of %s", x.Prediction.Model, x.Gap, analytic.Stragglers)
		}
	}
}

// A simulated phase belongs to that of the model before it, times count over the waves
// of the tasks, and the JVM and the commit are left out.
func TestPhaseGaps(t *testing.T) {
	q := &model.WhatIf{Cluster: model.Cluster{Nodes: []model.Node{{MapSlots: 2, ReduceSlots: 4}}}, Jobs: []workload.Job{{Maps: workload.MapTasks{Count: 5}, Reduces: workload.ReduceTasks{Count: 3}}}}
	of := func(k workload.Kind, p workload.Phase, seconds int) model.PhaseTime {
		return model.PhaseTime{Kind: k, Phase: p, Time: time.Duration(seconds) * time.Second}
	}
	simulated := []model.PhaseTime{
		of(workload.Map, workload.PhaseStartup, 1), of(workload.Map, workload.PhaseRead, 4), of(workload.Map, workload.PhaseMap, 2), of(workload.Map, workload.PhaseSpill, 3),
		of(workload.Reduce, workload.PhaseShuffle, 7), of(workload.Reduce, workload.PhaseMerge, 5), of(workload.Reduce, workload.PhaseCommit, 9),
	}
	predicted := []model.PhaseTime{of(workload.Map, workload.PhaseMap, 6), of(workload.Map, workload.PhaseSpill, 1), of(workload.Reduce, workload.PhaseShuffle, 10)}
	want := []results.GapPart{
		{Cause: "map, map", Phase: true, Time: 0}, {Cause: "map, spill", Phase: true, Time: 5 * time.Second}, {Cause: "reduce, shuffle", Phase: true, Time: 2 * time.Second},
	}
	if got := phaseGaps(q, simulated, predicted); !slices.Equal(got, want) {
		t.Errorf("%v: want %v", got, want)
	}
}
