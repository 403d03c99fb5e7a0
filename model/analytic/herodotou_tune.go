package analytic

import (
	"fmt"
	"math"
	"slices"

	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
)

// splitGroup is a number of splits of one size, bytes.
type splitGroup struct {
	Size  float64
	Count int
}

// maxSplits bounds the list of map durations of a job with splits of several
// sizes.
const maxSplits = 1 << 24

// waves predicts a profile on other input or another configuration. The phase
// model gives a virtual profile for each distinct split size, and Waves replays
// its tasks (Starfish). SplitSize and Mappers are taken from the splits. Reduces
// see the average map. The result is valid while the data distribution and the
// node type are those of the profile.
func (h Herodotou) waves(splits []splitGroup, slowstart float64, o HerodotouOptions) (WaveJob, error) {
	var c input.Check
	maps, bytes := 0, 0.0
	for i, s := range splits {
		c.AtLeast(fmt.Sprintf("splits[%d].size", i), s.Size, 0)
		c.Count(fmt.Sprintf("splits[%d].count", i), s.Count, 1)
		if maps += s.Count; maps > maxSplits && len(splits) > 1 {
			c.Fail("splits", "more than %d of several sizes", maxSplits)
			break
		}
		bytes += float64(s.Size * float64(s.Count))
	}
	if len(splits) == 0 {
		c.Fail("splits", "none")
	}
	if err := c.Err(); err != nil {
		return WaveJob{}, err
	}

	h.Mappers = maps
	j := WaveJob{
		Maps: maps, MapSlots: h.Nodes * h.MapsPerNode,
		Reduces: h.Reducers, ReduceSlots: h.Nodes * h.ReducesPerNode,
		Slowstart: slowstart,
	}
	for _, s := range splits {
		h.SplitSize = s.Size
		t, err := h.mapTaskTime(o)
		if err != nil {
			return WaveJob{}, err
		}
		if len(splits) == 1 {
			j.Map = []float64{t}
			break
		}
		j.Map = append(j.Map, slices.Repeat([]float64{t}, s.Count)...)
	}
	if h.Reducers == 0 {
		return j, nil
	}
	h.SplitSize = bytes / float64(maps)
	p, err := h.Phases(o)
	if err != nil {
		return WaveJob{}, err
	}
	j.Shuffle, j.Sort = p.ShuffleTime/1000, p.ReduceMergeTime/1000
	j.Reduce = p.TotalReduceTime/1000 - j.Shuffle - j.Sort
	return j, nil
}

// mapTaskTime returns the time of one map task in seconds.
func (h Herodotou) mapTaskTime(o HerodotouOptions) (float64, error) {
	if h.Reducers == 0 {
		p, err := h.MapOnly(o)
		return p.TotalMapTime / 1000, err
	}
	p, err := h.Phases(o)
	return p.TotalMapTime / 1000, err
}

// tunable is a parameter that Tune may set.
type tunable struct {
	name  string
	whole bool
	set   func(h *Herodotou, v float64)
}

// The parameters of the map side and of the reduce side.
var (
	mapTunables = []tunable{
		{"pSortMB", false, func(h *Herodotou, v float64) { h.SortMB = v }},
		{"pSpillPerc", false, func(h *Herodotou, v float64) { h.SpillPercent = v }},
		{"pSortRecPerc", false, func(h *Herodotou, v float64) { h.SortRecPercent = v }},
		{"pSortFactor", true, func(h *Herodotou, v float64) { h.SortFactor = int(v) }},
		{"pUseCombine", true, func(h *Herodotou, v float64) { h.UseCombine = v != 0 }},
		{"pIsIntermCompressed", true, func(h *Herodotou, v float64) { h.IntermCompressed = v != 0 }},
	}
	reduceTunables = []tunable{
		{"pNumReducers", true, func(h *Herodotou, v float64) { h.Reducers = int(v) }},
		{"pInMemMergeThr", true, func(h *Herodotou, v float64) { h.InMemMergeThr = int(v) }},
		{"pShuffleInBufPerc", false, func(h *Herodotou, v float64) { h.ShuffleInBuf = v }},
		{"pShuffleMergePerc", false, func(h *Herodotou, v float64) { h.ShuffleMerge = v }},
		{"pReducerInBufPerc", false, func(h *Herodotou, v float64) { h.ReduceInBuf = v }},
		{"pIsOutCompressed", true, func(h *Herodotou, v float64) { h.OutCompressed = v != 0 }},
	}
)

// Tunables lists the parameters that Tune may set, map side first. Switches go
// from 0 to 1.
func Tunables() []string {
	var names []string
	for _, t := range slices.Concat(mapTunables, reduceTunables) {
		names = append(names, t.name)
	}
	return names
}

// Tune looks for the settings with which the phase model predicts the shortest
// job in whole waves (Starfish), and returns the job with them and that time in
// ms. The parameters fall into two independent groups. The map side is chosen
// first, by the time of a map task, and then the reduce side, by the time of
// the job. Tune skips settings that the model rejects, and a sort buffer larger
// than the task's heap. It never returns a slower job.
func (h Herodotou) Tune(space []SearchParam, seed workload.Seed) (Herodotou, float64, error) {
	known := Tunables()
	for _, p := range space {
		if !slices.Contains(known, p.Name) {
			return Herodotou{}, 0, fmt.Errorf("unknown parameter %q%s", p.Name, input.Suggest(p.Name, known))
		}
	}
	h, err := h.tuneSide(space, mapTunables, seed, func(p HerodotouPhases) float64 { return p.TotalMapTime })
	if err != nil {
		return Herodotou{}, 0, err
	}
	waveTime := func(p HerodotouPhases) float64 { return p.WaveJobTime }
	if h, err = h.tuneSide(space, reduceTunables, seed, waveTime); err != nil {
		return Herodotou{}, 0, err
	}
	p, err := h.Phases(HerodotouOptions{Mode: Corrected})
	return h, p.WaveJobTime, err
}

// tuneSide searches those dimensions of space that are among side.
func (h Herodotou) tuneSide(space []SearchParam, side []tunable, seed workload.Seed, cost func(HerodotouPhases) float64) (Herodotou, error) {
	var dims []SearchParam
	var set []func(*Herodotou, float64)
	for _, p := range space {
		if i := slices.IndexFunc(side, func(t tunable) bool { return t.name == p.Name }); i >= 0 {
			p.Whole = side[i].whole
			dims, set = append(dims, p), append(set, side[i].set)
		}
	}
	now, err := h.Phases(HerodotouOptions{Mode: Corrected})
	if err != nil || len(dims) == 0 {
		return h, err
	}
	with := func(at []float64) Herodotou {
		job := h
		for i, set := range set {
			set(&job, at[i])
		}
		return job
	}
	found, err := recursiveRandomSearch(dims, seed, func(at []float64) float64 {
		job := with(at)
		p, err := job.Phases(HerodotouOptions{Mode: Corrected})
		if err != nil || job.SortMB*mib > job.TaskMem {
			return math.Inf(1)
		}
		return cost(p)
	})
	if err != nil {
		return h, err
	}
	if found.Value < cost(now) {
		h = with(found.At)
	}
	return h, nil
}
