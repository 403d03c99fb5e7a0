package sim_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/model/vectortest"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/workload"
)

// N equal maps on S slots take ceil(N/S) waves, to the nanosecond, under every
// policy: none of them lets a slot idle while its only job has work.
func TestEqualMapsComeInWaves(t *testing.T) {
	for _, policy := range scheduler.Names() {
		rng := rand.New(rand.NewPCG(1, 1))
		for range 200 {
			n, slots := 1+rng.IntN(300), 1+rng.IntN(40)
			each := time.Duration(1 + rng.Int64N(int64(time.Hour)))
			cluster := idealCluster(dealt(rng, slots, 0))
			p, rows := mustRun(t, model.WhatIf{
				Cluster: cluster, Scheduler: model.Scheduler{Name: policy},
				Jobs: []workload.Job{{ID: "j", Maps: workload.MapTasks{Count: n, Time: all(each)}}},
			})
			waves := (n + slots - 1) / slots
			if want := time.Duration(waves) * each; p.Mean != want {
				t.Fatalf("%s: %d maps of %v on %d slots took %v, want %v", policy, n, each, slots, p.Mean, want)
			}
			if got := p.Jobs[0].MapWaves; got != waves {
				t.Fatalf("%s: %d maps on %d slots: %d waves, want %d", policy, n, slots, got, waves)
			}
			if len(rows) != n {
				t.Fatalf("%s: %d attempts of %d maps", policy, len(rows), n)
			}
		}
	}
}

// Graham's worst case of list scheduling (Bounds on multiprocessing timing
// anomalies, 1969): m(m-1) unit jobs and then one of m take 2m-1 on m slots; the
// other way round they take m.
func TestGrahamsWorstCase(t *testing.T) {
	for m := 1; m <= 30; m++ {
		times := slices.Repeat([]time.Duration{time.Second}, m*(m-1))
		long := time.Duration(m) * time.Second
		for _, c := range []struct {
			order []time.Duration
			want  time.Duration
		}{
			{append(slices.Clone(times), long), time.Duration(2*m-1) * time.Second},
			{append([]time.Duration{long}, times...), long},
		} {
			p, _ := mustRun(t, model.WhatIf{
				Cluster:   idealCluster(alike(m, 1, 0)),
				Scheduler: model.Scheduler{Name: "fifo"},
				Jobs:      []workload.Job{mapsOnly("j", c.order...)},
			})
			if p.Mean != c.want {
				t.Errorf("m = %d: %v, want %v", m, p.Mean, c.want)
			}
		}
	}
}

// closedForms is how many random jobs are held against a closed form, a third in short tests.
const closedForms = 10_000

// rounding allows for sums of seconds in floating point, and for a nanosecond.
func rounding(a, b float64) bool {
	return math.Abs(a-b) <= 2e-9+1e-12*math.Max(math.Abs(a), math.Abs(b))
}

// ARIA's assumptions hold here: tasks go in order to the earliest free slot, and
// a job's profile is its own. So the makespan lies within the guarded bounds, and
// the map stage is the greedy one.
func TestWithinARIAsBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	draw := func(n int) workload.Durations {
		// Mixtures of short and long tasks come nearest to the bounds.
		most := []int64{1, 1000, 100_000}[rng.IntN(3)]
		d := make([]time.Duration, n)
		for i := range d {
			d[i] = time.Duration(1+rng.Int64N(most)) * time.Millisecond
			if rng.IntN(20) == 0 {
				d[i] *= 10
			}
		}
		return each(d...)
	}
	for i := range layers.Draws(closedForms, closedForms) {
		maps, reduces := 1+rng.IntN(60), rng.IntN(40)
		mapSlots, reduceSlots := 1+rng.IntN(20), 1+rng.IntN(20)
		job := workload.Job{
			ID:   "j",
			Conf: confOf("mapred.reduce.slowstart.completed.maps", strconv.FormatFloat(rng.Float64(), 'g', 3, 64)),
			Maps: workload.MapTasks{Count: maps, Time: draw(maps)},
			Reduces: workload.ReduceTasks{
				Count: reduces, Shuffle: draw(reduces), FirstWave: draw(reduces), Sort: draw(reduces), Time: draw(reduces),
			},
		}
		p, rows := mustRun(t, model.WhatIf{
			Cluster: idealCluster(dealt(rng, mapSlots, reduceSlots)), Scheduler: model.Scheduler{Name: "fifo"},
			Jobs: []workload.Job{job},
		})
		profile, err := analytic.ExtractAria(rows)
		if err != nil {
			t.Fatal(err)
		}
		bounds, err := profile.Bounds(mapSlots, reduceSlots, true)
		if err != nil {
			t.Fatal(err)
		}
		within := func(low, x, up float64) bool { return rounding(low, x) || rounding(x, up) || low < x && x < up }
		if !within(bounds.Low, p.Mean.Seconds(), bounds.Up) {
			t.Fatalf("job %d took %v, outside [%g, %g]", i, p.Mean, bounds.Low, bounds.Up)
		}
		durations := make([]float64, maps)
		for i, d := range job.Maps.Time.Each {
			durations[i] = d.Seconds()
		}
		stage, err := analytic.Makespan(durations, mapSlots)
		if err != nil {
			t.Fatal(err)
		}
		mapEnd := p.Jobs[0].LastMap.Seconds()
		if !rounding(mapEnd, stage.Greedy) || !within(stage.Low, mapEnd, stage.Up) {
			t.Fatalf("job %d: maps took %v, want %v within [%v, %v]", i, mapEnd, stage.Greedy, stage.Low, stage.Up)
		}
	}
}

// simulateWaves asks the simulator what model.Waves is asked.
func simulateWaves(t *testing.T, rng *rand.Rand, w analytic.WaveJob) analytic.WaveTimes {
	times := all(sec(w.Map[0]))
	if len(w.Map) > 1 {
		times = workload.Durations{Each: make([]time.Duration, w.Maps)}
		for i, m := range w.Map {
			times.Each[i] = sec(m)
		}
	}
	reduceSlots := w.ReduceSlots
	if w.Reduces == 0 {
		reduceSlots = 0
	}
	p, rows := mustRun(t, model.WhatIf{
		Cluster: idealCluster(dealt(rng, w.MapSlots, reduceSlots)), Scheduler: model.Scheduler{Name: "fifo"},
		Jobs: []workload.Job{{
			ID:   "j",
			Conf: confOf("mapred.reduce.slowstart.completed.maps", strconv.FormatFloat(w.Slowstart, 'g', -1, 64)),
			Maps: workload.MapTasks{Count: w.Maps, Time: times},
			Reduces: workload.ReduceTasks{
				Count: w.Reduces, Copy: all(sec(w.Shuffle)), Sort: all(sec(w.Sort)), Time: all(sec(w.Reduce)),
			},
		}},
	})
	got := analytic.WaveTimes{MapEnd: p.Jobs[0].LastMap.Seconds(), MapWaves: p.Jobs[0].MapWaves, JobEnd: p.Mean.Seconds()}
	if w.Reduces > 0 {
		reduces := rows.of(workload.Reduce)
		slices.SortFunc(reduces, func(a, b workload.Attempt) int { return a.Task - b.Task })
		stages := func(a workload.Attempt) analytic.ReduceTimes {
			return analytic.ReduceTimes{a.Start.Seconds(), (a.Start + a.Phases[workload.PhaseShuffle]).Seconds(), a.Finish.Seconds()}
		}
		first := stages(reduces[0])
		got.WaveReduces = &analytic.WaveReduces{
			Start: first[0], First: first, Last: stages(reduces[len(reduces)-1]), Waves: p.Jobs[0].ReduceWaves,
		}
	}
	return got
}

func differs(got, want analytic.WaveTimes) bool {
	bad := !rounding(got.MapEnd, want.MapEnd) || got.MapWaves != want.MapWaves || !rounding(got.JobEnd, want.JobEnd) ||
		(got.WaveReduces == nil) != (want.WaveReduces == nil)
	if bad || got.WaveReduces == nil {
		return bad
	}
	bad = !rounding(got.Start, want.Start) || got.Waves != want.Waves
	for i := range got.First {
		bad = bad || !rounding(got.First[i], want.First[i]) || !rounding(got.Last[i], want.Last[i])
	}
	return bad
}

// The worked examples of the wave model hold for the simulated cluster.
func TestWaveVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	seen := 0
	for _, v := range vectortest.Read(t, "../model/analytic/testdata/vectors.json").Vectors {
		if v.Model != "waves" {
			continue
		}
		seen++
		t.Run(v.ID, func(t *testing.T) {
			var w analytic.WaveJob
			if err := input.Decode(v.In, &w); err != nil {
				t.Fatal(err)
			}
			got := simulateWaves(t, rng, w)
			if d := vectortest.Diff(vectortest.Plain(t, got), v.Out, v.Tol); d != "" {
				t.Error(d)
			}
		})
	}
	if seen == 0 {
		t.Fatal("no vectors of the wave model")
	}
}

// Random jobs of every shape, alone: the simulated cluster is the wave model.
func TestWaveModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	ms := func(most int64) float64 { return float64(rng.Int64N(most)) / 1000 }
	for range layers.Draws(closedForms, closedForms) {
		w := analytic.WaveJob{
			Maps: 1 + rng.IntN(50), Reduces: rng.IntN(30), MapSlots: 1 + rng.IntN(20), ReduceSlots: 1 + rng.IntN(20),
			Map: []float64{0.001 + ms(20_000)}, Shuffle: ms(100_000), Sort: ms(5000), Reduce: 0.001 + ms(20_000),
			Slowstart: float64(rng.IntN(21)) / 20,
		}
		if rng.IntN(2) == 0 {
			w.Map = make([]float64, w.Maps)
			for i := range w.Map {
				w.Map[i] = 0.001 + ms(20_000)
			}
		}
		want, err := analytic.Waves(w)
		if err != nil {
			t.Fatal(err)
		}
		got := simulateWaves(t, rng, w)
		if differs(got, want) {
			t.Fatalf("%+v:\n got %+v %+v\nwant %+v %+v", w, got, got.WaveReduces, want, want.WaveReduces)
		}
	}
}

// On shared slots the waves of reduces are those of reduces alone: 12 maps on 4
// slots make 3 waves, 2 reduces after them one.
func TestWavesOnSharedSlots(t *testing.T) {
	q := model.WhatIf{Cluster: model.Cluster{Hadoop: "ideal", Nodes: alike(2, 1, 1), Racks: []string{"r"}, SharedSlots: true}, Scheduler: model.Scheduler{Name: "fifo"}, Seed: 1}
	j := workload.Job{ID: "x", Maps: workload.MapTasks{Count: 12, Time: all(time.Second)}, Reduces: workload.ReduceTasks{Count: 2, Time: all(time.Second)}}
	j.Conf.Set("mapred.reduce.slowstart.completed.maps", "1")
	q.Jobs = []workload.Job{j}
	p, _ := mustRun(t, q)
	if o := &p.Jobs[0]; o.MapWaves != 3 || o.ReduceWaves != 1 {
		t.Errorf("%d waves of maps, %d of reduces: want 3 and 1", o.MapWaves, o.ReduceWaves)
	}
}
