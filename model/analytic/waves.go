package analytic

import (
	"math"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
)

// WaveJob is one job alone on its slots, without contention, heartbeats or task
// overheads. Times in seconds.
type WaveJob struct {
	Maps        int       `json:"M"`
	Reduces     int       `json:"R"`
	MapSlots    int       `json:"S_M"`
	ReduceSlots int       `json:"S_R"`
	Map         []float64 `json:"map" input:"scalar" unit:"s"` // one for all, or one for each
	Shuffle     float64   `json:"shuffle,omitzero" unit:"s"`
	Sort        float64   `json:"sort,omitzero" unit:"s"`
	Reduce      float64   `json:"reduce,omitzero" unit:"s"`
	Slowstart   float64   `json:"slowstart,omitzero"` // mapred.reduce.slowstart.completed.maps, part, 0.05
}

// ReduceTimes are one reduce's start, shuffle end and end.
type ReduceTimes [3]float64

// WaveTimes is when the stages of a WaveJob end, seconds. A wave is one round of
// all slots.
type WaveTimes struct {
	MapEnd   float64 `json:"map_end"`
	MapWaves int     `json:"map_waves"`
	*WaveReduces
	JobEnd float64 `json:"job_end"`
}

// WaveReduces is the reduce stage of a WaveTimes, nil for a map-only job.
type WaveReduces struct {
	Start float64     `json:"reduce_start"`
	First ReduceTimes `json:"first_reduce"`
	Last  ReduceTimes `json:"last_reduce"` // of the last wave
	Waves int         `json:"reduce_waves"`
}

// Waves replays a job in waves (after the what-if scheduler of Starfish,
// BasicFIFOScheduler.java, without its heartbeats and set-up tasks). Tasks go in
// order to the earliest free slot. A reduce that has fetched all other outputs
// when the last map ends still fetches the output of that map.
func Waves(j WaveJob) (WaveTimes, error) {
	if err := j.check(); err != nil {
		return WaveTimes{}, err
	}
	need := max(1, int(fit.Ceil(j.Slowstart*float64(j.Maps))))
	t := WaveTimes{MapWaves: wavesOf(j.Maps, j.MapSlots)}
	var start float64 // start of the reduces
	if len(j.Map) == 1 {
		t.MapEnd = float64(t.MapWaves) * j.Map[0]
		start = float64(wavesOf(need, j.MapSlots)) * j.Map[0]
	} else {
		ends := greedy(j.Map, j.MapSlots)
		slices.Sort(ends)
		t.MapEnd, start = ends[j.Maps-1], ends[need-1]
	}
	t.JobEnd = t.MapEnd
	if j.Reduces == 0 {
		return t, nil
	}

	// Reduces are equal, so all reduces of a wave run at the same time. No
	// first-wave reduce ends before the last map: later waves are shifted copies.
	r := WaveReduces{Start: start, Waves: wavesOf(j.Reduces, j.ReduceSlots)}
	r.First = j.reduceFrom(start, t.MapEnd)
	r.Last = r.First
	if r.Waves > 1 {
		each := j.Shuffle + j.Sort + j.Reduce
		r.Last = j.reduceFrom(r.First[2]+float64(float64(r.Waves-2)*each), t.MapEnd)
	}
	t.WaveReduces = &r
	t.JobEnd = math.Max(t.JobEnd, r.Last[2])
	return t, nil
}

// reduceFrom returns the times of one reduce that starts at t0.
func (j *WaveJob) reduceFrom(t0, mapEnd float64) ReduceTimes {
	shuffled := t0 + j.Shuffle
	if t0 < mapEnd && j.Shuffle <= mapEnd-t0 {
		shuffled = mapEnd + j.Shuffle/float64(j.Maps)
	}
	return ReduceTimes{t0, shuffled, shuffled + j.Sort + j.Reduce}
}

func wavesOf(tasks, slots int) int { return (tasks-1)/slots + 1 }

func (j *WaveJob) check() error {
	var c input.Check
	c.Count("M", j.Maps, 1)
	c.Count("R", j.Reduces, 0)
	c.Count("S_M", j.MapSlots, 1)
	c.List("map", j.Map, 1, 0)
	if n := len(j.Map); n > 1 && n != j.Maps {
		c.Fail("map", "%d durations for %d maps", n, j.Maps)
	}
	if j.Reduces > 0 {
		c.Count("S_R", j.ReduceSlots, 1)
		c.AtLeast("shuffle", j.Shuffle, 0)
		c.AtLeast("sort", j.Sort, 0)
		c.AtLeast("reduce", j.Reduce, 0)
		c.Within("slowstart", j.Slowstart, 0, 1)
	}
	return c.Err()
}

var wavesModel = Model{
	Name: "waves", About: "tasks in waves over the slots, without heartbeats or contention",
	Accounts: []Cause{Stragglers, Overlap, Slowstart, Quantisation},
	New:      withoutInputs(wavesPredictor{}),
}

// wavesPredictor replays one job in waves: task by task if their times are
// listed, by their means if they are drawn at random.
type wavesPredictor struct{}

func (wavesPredictor) Predict(q model.WhatIf) (model.Prediction, error) {
	j, g, err := oneJob(&q)
	if err != nil {
		return model.Prediction{}, err
	}
	if g.fastest < g.slowest {
		return model.Prediction{}, model.NotApplicable("nodes differ in speed")
	}
	if q.Fidelity > model.Profile || j.Profile != nil && !j.Maps.Time.Set() {
		return model.Prediction{}, model.NotApplicable("%s: the times of its tasks are not given", j.ID)
	}
	slowstart, err := j.Conf.Number("mapred.reduce.slowstart.completed.maps")
	if err != nil {
		return model.Prediction{}, err
	}
	p, _, err := g.ariaProfile(&q, j)
	if err != nil {
		return model.Prediction{}, err
	}
	p = p.scaled(g.slowest)
	mapEnd, end, err := g.playWaves(j, slowstart)
	if err != nil {
		return model.Prediction{}, err
	}
	return g.prediction("waves", g.outcome(j, &p, jobTimes{mapEnd, end, end, end}), p.phases()), nil
}

// playWaves returns the ends of the maps and of the job, seconds.
func (g *capacity) playWaves(j *workload.Job, slowstart float64) (mapEnd, end float64, err error) {
	r := &j.Reduces
	times := func(d *workload.Durations, n int) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = g.slowest * expectedSeconds(d, i)
		}
		return list
	}
	maps := times(&j.Maps.Time, j.Maps.Count)
	if r.Copy.Set() {
		mean := func(d *workload.Durations) float64 { m, _ := d.Expect(r.Count); return m * g.slowest }
		t, err := Waves(WaveJob{
			Maps: j.Maps.Count, Reduces: r.Count, MapSlots: g.maps, ReduceSlots: max(1, g.reduces), Map: maps,
			Shuffle: mean(&r.Copy), Sort: mean(&r.Sort), Reduce: mean(&r.Time), Slowstart: slowstart,
		})
		return t.MapEnd, t.JobEnd, err
	}
	for _, e := range greedy(maps, g.maps) {
		mapEnd = math.Max(mapEnd, e)
	}
	// A shuffle after the last map takes the same time in all reduces that have a
	// slot by then, whenever they started.
	early := slowstart*float64(j.Maps.Count) <= float64(j.Maps.Count-1)
	reduces := times(&r.Shuffle, r.Count)
	if r.FirstWave.Set() && early {
		copy(reduces, times(&r.FirstWave, min(r.Count, g.reduces)))
	}
	for i := range reduces {
		reduces[i] += g.slowest * (expectedSeconds(&r.Sort, i) + expectedSeconds(&r.Time, i))
	}
	end = mapEnd
	for _, e := range greedy(reduces, max(1, g.reduces)) {
		end = math.Max(end, mapEnd+e)
	}
	return mapEnd, end, nil
}
