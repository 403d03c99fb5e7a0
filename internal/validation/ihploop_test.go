package validation

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/evidence"
	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// attemptLog keeps the attempts of a run.
type attemptLog []workload.Attempt

func (l *attemptLog) Attempt(a *workload.Attempt) { *l = append(*l, *a) }

func gigabytes(gb float64, reduces int) load { return load{gb, int(gb * 16), reduces} }

// asks is the question of a program with so much to do.
func (b testbed) asks(p model.Program, l load) model.WhatIf {
	j := workload.Job{Maps: workload.MapTasks{Count: l.maps, InputBytes: int64(l.bytes())}, Reduces: workload.ReduceTasks{Count: l.reduces}}
	j.Conf.Set("mapred.reduce.slowstart.completed.maps", "0.05")
	return b.Job(j, p)
}

// A history of runs over sizes and reduces predicts runs of other sizes and
// reduces, where hp has runs with one number of reduces only; and the nodes that
// it takes for a deadline are enough, and few more than the fewest that are.
func TestIHPLoop(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates a whole history")
	}
	bed := open(t, "dl145-g3", "device", "cluster.nodes=20")
	program := shippedProgram(t, "terasort")
	every, seeds := layers.Whole || *update, uint64(1)
	if every {
		seeds = 3
	}
	var runs, alike []analytic.RecordedRun
	for _, gb := range []float64{8, 12, 16, 20, 24, 28} {
		for _, reduces := range []int{8, 16, 24, 32, 40} {
			for seed := range seeds {
				var log attemptLog
				q := bed.asks(program, gigabytes(gb, reduces))
				q.Seed += seed
				answer, err := sim.Simulator{Recorder: &log}.Predict(q)
				if err != nil {
					t.Fatal(err)
				}
				r, err := analytic.RecordRun(log, 0, answer.Mean)
				if err != nil {
					t.Fatal(err)
				}
				if runs = append(runs, r); reduces == 24 {
					alike = append(alike, r)
				}
			}
		}
	}
	known, few := informed(t, runs), informed(t, alike)
	ask := func(name string, models map[string]analytic.Predictor, q model.WhatIf) float64 {
		p, err := models[name].Predict(q)
		if err != nil {
			t.Fatal(name, err)
		}
		return p.Mean.Seconds()
	}
	var hpRuns []analytic.HPRun
	for _, r := range alike {
		hpRuns = append(hpRuns, analytic.HPRun{Profile: r.Profile, Data: r.Data / float64(r.Profile.Reduces), Outside: r.Outside})
	}

	var b strings.Builder
	b.WriteString("| input | reduces | simulated s | ihp | hp |\n|---|---|---|---|---|\n")
	var sums, same [2]float64
	n, constant := 0.0, 0.0
	for _, gb := range []float64{10, 18, 26} {
		for _, reduces := range []int{12, 20, 24, 28, 36} {
			q := bed.asks(program, gigabytes(gb, reduces))
			answer, err := sim.Simulator{}.Predict(q)
			if err != nil {
				t.Fatal(err)
			}
			want := answer.Mean.Seconds()
			// HP scales what it knows to the data of a reduce, whatever their number.
			p, err := analytic.HPProfile(hpRuns, q.Jobs[0].Maps.Count, fetchedOf(t, bed, &q)/float64(reduces))
			if err != nil {
				t.Fatal(err)
			}
			p.Reduces = reduces
			old, err := p.Bounds(40, 40, true)
			if err != nil {
				t.Fatal(err)
			}
			e := [2]float64{ask("ihp", known, q)/want - 1, (old.Avg+alike[0].Outside)/want - 1}
			fmt.Fprintf(&b, "| %v GB | %d | %.1f | %+.1f %% | %+.1f %% |\n", gb, reduces, want, 100*e[0], 100*e[1])
			sums[0], sums[1], n = sums[0]+math.Abs(e[0]), sums[1]+math.Abs(e[1]), n+1
			if reduces == 24 {
				same[0] += math.Abs(ask("ihp", few, q)/want - 1)
				same[1] += math.Abs(ask("hp", few, q)/want - 1)
				constant++
			}
		}
	}
	accuracy := [2]float64{1 - sums[0]/n, 1 - sums[1]/n}
	if accuracy[0] < 0.95 || accuracy[1] >= accuracy[0] {
		t.Errorf("mean accuracy of ihp %.3f, of hp %.3f: want 0.95, and hp below", accuracy[0], accuracy[1])
	}
	fmt.Fprintf(&b, "\nMean accuracy: ihp %.1f %%, hp %.1f %%; on 24 reduces, if both know only the runs with 24 reduces: %.1f and %.1f %%.\n",
		100*accuracy[0], 100*accuracy[1], 100*(1-same[0]/constant), 100*(1-same[1]/constant))
	if every {
		evidence.Compare(t, "ihp-loop", b.String(), *update)
		provisioned(t, bed, program, known["ihp"])
	}
}

// informed are the models that have learnt from runs, by name.
func informed(t *testing.T, runs []analytic.RecordedRun) map[string]analytic.Predictor {
	t.Helper()
	all, err := analytic.Predictors(analytic.Inputs{Runs: runs})
	if err != nil {
		t.Fatal(err)
	}
	models := map[string]analytic.Predictor{}
	for _, p := range all {
		models[p.Name] = p
	}
	return models
}

// fetchedOf is the map output of a question's job, from its first map.
func fetchedOf(t *testing.T, b testbed, q *model.WhatIf) float64 {
	t.Helper()
	var log attemptLog
	one := *q
	one.Fidelity = model.Phase
	if _, err := (sim.Simulator{Recorder: &log}).Predict(one); err != nil {
		t.Fatal(err)
	}
	r, err := analytic.RecordRun(log, 0, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return r.Data
}

// provisioned holds the clusters that the history takes for deadlines against the
// smallest that meet them when simulated.
func provisioned(t *testing.T, bed testbed, program model.Program, ihp model.Predictor) {
	t.Helper()
	var b strings.Builder
	b.WriteString("| input | reduces | deadline s | nodes | simulated s | fewest nodes | slots more |\n|---|---|---|---|---|---|---|\n")
	met, near, all := 0, 0, 0
	for _, c := range []struct {
		load
		deadlines []float64
	}{
		{gigabytes(18, 28), []float64{180, 210, 300}},
		{gigabytes(26, 36), []float64{200, 240, 320}},
		{gigabytes(28, 20), []float64{280, 340}},
	} {
		for _, s := range c.deadlines {
			q, deadline := bed.asks(program, c.load), workload.Seconds(s)
			mean := func(p *model.Prediction) time.Duration { return p.Mean }
			nodes, err := analytic.NodesFor(ihp, q, func(p *model.Prediction) time.Duration { return p.Safe }, deadline)
			if err != nil || nodes == 0 {
				t.Fatalf("%+v in %v: %d nodes, %v", c.load, deadline, nodes, err)
			}
			fewest, err := analytic.NodesFor(sim.Simulator{}, q, mean, deadline)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := sim.Simulator{}.Predict(q.Resized(nodes))
			if err != nil {
				t.Fatal(err)
			}
			more := float64(nodes)/float64(fewest) - 1
			fmt.Fprintf(&b, "| %v GB | %d | %.0f | %d | %.1f | %d | %+.1f %% |\n", c.gb, c.reduces, s, nodes, answer.Mean.Seconds(), fewest, 100*more)
			all++
			if answer.Mean <= deadline {
				met++
			}
			if more <= 0.1 {
				near++
			}
		}
	}
	fmt.Fprintf(&b, "\n%d of %d meet their deadline, %d with at most 10 %% more slots than the fewest that do.\n", met, all, near)
	evidence.Compare(t, "ihp-provision", b.String(), *update)
}
