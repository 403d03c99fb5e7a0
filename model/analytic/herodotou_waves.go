package analytic

import (
	"fmt"
	"slices"

	"github.com/slotwave/slotwave/model/input"
)

// splitGroup is a number of splits of one size, bytes.
type splitGroup struct {
	Size  float64
	Count int
}

// maxSplits bounds the list of map durations of a job with splits of several
// sizes.
const maxSplits = 1 << 24

// waves answers the what-if question of a profile on other input or another
// configuration: the phase model for each distinct split size gives a virtual
// profile, and Waves runs its tasks (Starfish). SplitSize and Mappers are
// taken from the splits. Reduces see the average map. It holds while the data
// distribution and the node type stay what they were when the profile was taken.
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

// mapTaskTime is the time of one map task in seconds.
func (h Herodotou) mapTaskTime(o HerodotouOptions) (float64, error) {
	if h.Reducers == 0 {
		p, err := h.MapOnly(o)
		return p.TotalMapTime / 1000, err
	}
	p, err := h.Phases(o)
	return p.TotalMapTime / 1000, err
}
