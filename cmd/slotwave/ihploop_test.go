package main

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// stageRun is what the improved HP model takes from a run: s, but for the data.
type stageRun struct {
	attempts    []workload.Attempt
	total       float64
	outside     float64 // before the first map and after the last task
	mapAvg      float64
	mapMax      float64
	shuffleAvg  float64 // of the first wave, from the start of the reduce
	shuffleMax  float64
	reduceAvg   float64
	reduceMax   float64
	data, count float64
}

func (r *stageRun) Attempt(a *workload.Attempt) { r.attempts = append(r.attempts, *a) }

// stages simulates a program and measures its stages.
func (b *testbed) stages(t *testing.T, p model.Program, l load) *stageRun {
	t.Helper()
	r := &stageRun{data: l.gb, count: float64(l.reduces)}
	j := workload.Job{Maps: workload.MapTasks{Count: l.maps, InputBytes: int64(l.bytes())}, Reduces: workload.ReduceTasks{Count: l.reduces}}
	j.Conf.Set("mapred.reduce.slowstart.completed.maps", "0.05")
	answer, err := sim.Simulator{Recorder: r}.Predict(b.job(j, p))
	if err != nil {
		t.Fatal(err)
	}
	r.total = answer.Mean.Seconds()
	first, last := time.Duration(math.MaxInt64), time.Duration(0)
	for i := range r.attempts {
		a := &r.attempts[i]
		d := a.Duration().Seconds()
		switch a.Kind {
		case workload.Map:
			r.mapAvg, r.mapMax = r.mapAvg+d/float64(l.maps), math.Max(r.mapMax, d)
		case workload.Reduce:
			s := (a.Phases[workload.PhaseStartup] + a.Phases[workload.PhaseShuffle] + a.Phases[workload.PhaseMerge]).Seconds()
			r.shuffleAvg, r.shuffleMax = r.shuffleAvg+s/float64(l.reduces), math.Max(r.shuffleMax, s)
			r.reduceAvg, r.reduceMax = r.reduceAvg+(d-s)/float64(l.reduces), math.Max(r.reduceMax, d-s)
		default:
			continue
		}
		first, last = min(first, a.Start), max(last, a.Finish)
	}
	r.outside = r.total - (last - first).Seconds()
	return r
}

func gigabytes(gb float64, reduces int) load { return load{gb, int(gb * 16), reduces} }

// A history of runs over sizes and reduces predicts runs of other sizes and
// reduces; hp has runs with one number of reduces only.
func TestIHPLoop(t *testing.T) {
	bed := open(t, "dl145-g3", "device", "cluster.nodes=20")
	program, err := scenarios.Profile("terasort")
	if err != nil {
		t.Fatal(err)
	}
	var runs []*stageRun
	var fixed []model.HPRun
	mapAvg, mapMax, outside := 0.0, 0.0, 0.0
	for _, gb := range []float64{8, 12, 16, 20, 24, 28} {
		for _, reduces := range []int{8, 16, 24, 32, 40} {
			r := bed.stages(t, program, gigabytes(gb, reduces))
			runs = append(runs, r)
			mapMax = math.Max(mapMax, r.mapMax)
			if reduces == 24 {
				p, err := model.ExtractAria(r.attempts)
				if err != nil {
					t.Fatal(err)
				}
				fixed = append(fixed, model.HPRun{Data: gb / float64(reduces), Profile: p})
			}
		}
	}
	for _, r := range runs {
		mapAvg, outside = mapAvg+r.mapAvg/float64(len(runs)), outside+r.outside/float64(len(runs))
	}
	regression := func(of func(*stageRun) float64) model.IHPRegression {
		var rows []model.IHPRun
		for _, r := range runs {
			rows = append(rows, model.IHPRun{Data: r.data, Reduces: r.count, Duration: of(r)})
		}
		m, err := model.FitIHP(rows, fit.LocalOptions{Intercept: true, Scale: "zscore"})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	durations := []model.IHPRegression{
		regression(func(r *stageRun) float64 { return r.shuffleAvg }), regression(func(r *stageRun) float64 { return r.shuffleMax }),
		regression(func(r *stageRun) float64 { return r.reduceAvg }), regression(func(r *stageRun) float64 { return r.reduceMax }),
	}
	ihp := func(l load) model.IHPJob {
		j := model.IHPJob{Maps: l.maps, MapSlots: min(40, l.maps), Reduces: l.reduces, ReduceSlots: min(40, l.reduces), MapAvg: mapAvg, MapMax: mapMax}
		for i, to := range []*float64{&j.Shuffle1Avg, &j.Shuffle1Max, &j.ReduceAvg, &j.ReduceMax} {
			at, _, err := durations[i].At(l.gb, float64(l.reduces))
			if err != nil {
				t.Fatal(err)
			}
			*to = at
		}
		return j
	}
	var b strings.Builder
	b.WriteString("| input | reduces | simulated s | ihp | hp |\n|---|---|---|---|---|\n")
	sums, n := [2]float64{}, 0.0
	for _, gb := range []float64{10, 18, 26} {
		for _, reduces := range []int{12, 20, 24, 28, 36} {
			l := gigabytes(gb, reduces)
			want := bed.stages(t, program, l).total
			j := ihp(l)
			bounds, err := j.Bounds()
			if err != nil {
				t.Fatal(err)
			}
			p, err := model.HPProfile(fixed, l.maps, gb/float64(reduces))
			if err != nil {
				t.Fatal(err)
			}
			p.Reduces = reduces
			old, err := p.Bounds(40, 40, true)
			if err != nil {
				t.Fatal(err)
			}
			e := [2]float64{(bounds.Avg+outside)/want - 1, (old.Avg+outside)/want - 1}
			fmt.Fprintf(&b, "| %v GB | %d | %.1f | %+.1f %% | %+.1f %% |\n", gb, reduces, want, 100*e[0], 100*e[1])
			sums[0], sums[1], n = sums[0]+math.Abs(e[0]), sums[1]+math.Abs(e[1]), n+1
		}
	}
	accuracy := [2]float64{1 - sums[0]/n, 1 - sums[1]/n}
	if accuracy[0] < 0.95 || accuracy[1] >= accuracy[0] {
		t.Errorf("mean accuracy of ihp %.3f, of hp %.3f: want 0.95, and hp below", accuracy[0], accuracy[1])
	}
	fmt.Fprintf(&b, "\nMean accuracy: ihp %.1f %%, hp %.1f %%.\n", 100*accuracy[0], 100*accuracy[1])
	section(t, "ihp-loop", b.String())
}
