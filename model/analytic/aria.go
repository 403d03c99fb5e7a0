package analytic

import (
	"container/heap"
	"math"
	"slices"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
)

// Bounds are the makespan bounds of tasks that the earliest free slot takes in
// any order, and the makespan of the given order, in the unit of the durations.
type Bounds struct {
	Low    float64 `json:"low"`
	Up     float64 `json:"up"`
	Greedy float64 `json:"greedy"`
}

// Makespan bounds the time that slots need for the tasks (Verma et al., ARIA,
// ICAC 2011, section 4): n*avg/k <= makespan <= (n-1)*avg/k + max.
func Makespan(durations []float64, slots int) (Bounds, error) {
	var c input.Check
	c.List("durations", durations, 1, 0)
	c.Count("slots", slots, 1)
	if err := c.Err(); err != nil {
		return Bounds{}, err
	}
	n, k, avg := float64(len(durations)), float64(slots), 0.0
	for _, d := range durations {
		avg += d / n
	}
	low, up := stageBounds(n, k, avg, slices.Max(durations))
	return Bounds{low, up, slices.Max(greedy(durations, slots))}, nil
}

// stageBounds returns the makespan bounds of one stage, 0 for a stage without
// tasks.
func stageBounds(n, k, avg, longest float64) (low, up float64) {
	if n == 0 {
		return 0, 0
	}
	return n * avg / k, float64((n-1)*avg/k) + longest
}

// greedy assigns tasks in order to the earliest free slot, the lowest index on
// ties, and returns the end of each.
func greedy(durations []float64, slots int) []float64 {
	free := make(slotHeap, min(slots, len(durations)))
	for i := range free {
		free[i].index = i
	}
	ends := make([]float64, len(durations))
	for i, d := range durations {
		free[0].at += d
		ends[i] = free[0].at
		heap.Fix(&free, 0)
	}
	return ends
}

type slot struct {
	at    float64
	index int
}

type slotHeap []slot

func (h slotHeap) Len() int { return len(h) }
func (h slotHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].index < h[j].index
}
func (h slotHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h slotHeap) Push(any)      { panic("model: the number of slots is fixed") }
func (h slotHeap) Pop() any      { panic("model: the number of slots is fixed") }

// AriaProfile is the job profile of ARIA, in seconds. Statistics of a stage
// without tasks may be missing (NaN).
type AriaProfile struct {
	Maps    int `json:"N_M"`
	Reduces int `json:"N_R"`

	MapAvg float64 `json:"M_avg" unit:"s"`
	MapMax float64 `json:"M_max" unit:"s"`

	// The first shuffle is the part of a first-wave shuffle after the end of the
	// last map; the typical one is the whole shuffle and sort of a later wave.
	FirstShuffleAvg float64 `json:"Sh1_avg,omitzero" unit:"s"`
	FirstShuffleMax float64 `json:"Sh1_max,omitzero" unit:"s"`
	ShuffleAvg      float64 `json:"Sh_typ_avg,omitzero" unit:"s"`
	ShuffleMax      float64 `json:"Sh_typ_max,omitzero" unit:"s"`
	ReduceAvg       float64 `json:"R_avg,omitzero" unit:"s"`
	ReduceMax       float64 `json:"R_max,omitzero" unit:"s"`

	// Statistics that no bound uses; NaN where unknown.
	MapMin            float64 `json:"M_min,omitzero" unit:"s"`
	MapInputBytes     float64 `json:"AvgSize_M_input,omitzero" unit:"bytes"` // mean of a map
	MapSelectivity    float64 `json:"Selectivity_M,omitzero"`
	ReduceSelectivity float64 `json:"Selectivity_R,omitzero"`

	// ShuffleFromFirst says that the job had one reduce wave, and that the first
	// shuffle stands in for the typical one.
	ShuffleFromFirst bool `json:"-"`
}

// laterNames are the names of what later returns.
var laterNames = [6]string{"Sh1_avg", "Sh1_max", "Sh_typ_avg", "Sh_typ_max", "R_avg", "R_max"}

// later returns the durations after the maps, each average before its maximum.
func (p *AriaProfile) later() [6]*float64 {
	return [...]*float64{&p.FirstShuffleAvg, &p.FirstShuffleMax, &p.ShuffleAvg, &p.ShuffleMax, &p.ReduceAvg, &p.ReduceMax}
}

// uncross raises maxima to their averages: the lines of both may cross outside the runs
// that they were fitted to.
func uncross(later [6]*float64) {
	for k := 1; k < len(later); k += 2 {
		*later[k] = math.Max(*later[k], *later[k-1])
	}
}

// unknownAria returns a profile without statistics.
func unknownAria() AriaProfile { return unknown(AriaProfile{}) }

func (p *AriaProfile) check(c *input.Check) {
	c.Count("N_M", p.Maps, 1)
	c.Count("N_R", p.Reduces, 0)
	checkPair(c, "M", p.MapAvg, p.MapMax)
	if p.Reduces > 0 {
		checkPair(c, "Sh1", p.FirstShuffleAvg, p.FirstShuffleMax)
		checkPair(c, "Sh_typ", p.ShuffleAvg, p.ShuffleMax)
		checkPair(c, "R", p.ReduceAvg, p.ReduceMax)
	}
}

// checkPair checks an average and a maximum of the same durations. The average of
// equal durations may exceed them by rounding.
func checkPair(c *input.Check, name string, avg, longest float64) {
	c.AtLeast(name+"_avg", avg, 0)
	c.AtLeast(name+"_max", longest, 0)
	if longest < avg*(1-fit.Guard) {
		c.Fail(name+"_max", "%v: want %s_avg = %v or more", longest, name, avg)
	}
}

// AriaBounds are lower and upper bounds of every stage and of the job, seconds.
type AriaBounds struct {
	MapLow     float64 `json:"T_M_low"`
	MapUp      float64 `json:"T_M_up"`
	ShuffleLow float64 `json:"T_Sh_low"`
	ShuffleUp  float64 `json:"T_Sh_up"`
	ReduceLow  float64 `json:"T_R_low"`
	ReduceUp   float64 `json:"T_R_up"`
	Low        float64 `json:"T_low"`
	Up         float64 `json:"T_up"`
	Avg        float64 `json:"T_avg"`
}

// Bounds bounds the time of the job on mapSlots and reduceSlots, seconds (ARIA,
// section 4). If guarded, slots beyond the tasks do not count, and a job whose
// reduces all start in one wave has no later shuffle. If unguarded, the equations
// are as printed, and the lower bound of the shuffle can be negative.
func (p AriaProfile) Bounds(mapSlots, reduceSlots int, guarded bool) (AriaBounds, error) {
	var c input.Check
	p.check(&c)
	c.Count("S_M", mapSlots, 1)
	if p.Reduces > 0 {
		c.Count("S_R", reduceSlots, 1)
	}
	if err := c.Err(); err != nil {
		return AriaBounds{}, err
	}
	oneWave := guarded && p.Reduces <= reduceSlots
	if guarded {
		mapSlots, reduceSlots = min(mapSlots, p.Maps), min(reduceSlots, p.Reduces)
	}
	var b AriaBounds
	b.MapLow, b.MapUp = stageBounds(float64(p.Maps), float64(mapSlots), p.MapAvg, p.MapMax)
	b.Low, b.Up = b.MapLow, b.MapUp
	if p.Reduces > 0 {
		n, k := float64(p.Reduces), float64(reduceSlots)
		if !oneWave {
			b.ShuffleLow = (n/k - 1) * p.ShuffleAvg
			b.ShuffleUp = float64(((n-1)/k-1)*p.ShuffleAvg) + p.ShuffleMax
		}
		b.ReduceLow, b.ReduceUp = stageBounds(n, k, p.ReduceAvg, p.ReduceMax)
		b.Low += p.FirstShuffleAvg + b.ShuffleLow + b.ReduceLow
		b.Up += p.FirstShuffleMax + b.ShuffleUp + b.ReduceUp
	}
	b.Avg = (b.Low + b.Up) / 2
	return b, nil
}

// coefficients returns a bound in closed form: T = a/S_M + b/S_R + c. Bound is
// low, avg or up.
func (p AriaProfile) coefficients(bound string) (a, b, c float64, err error) {
	var check input.Check
	p.check(&check)
	if !slices.Contains([]string{"low", "avg", "up"}, bound) {
		check.Fail("bound", "unknown %q; want low, avg or up", bound)
	}
	if err := check.Err(); err != nil {
		return 0, 0, 0, err
	}
	maps, reduces := float64(p.Maps), float64(p.Reduces)
	lowA, upA := float64(p.MapAvg*maps), float64(p.MapAvg*(maps-1))
	var lowB, upB, lowC float64
	upC := p.MapMax
	if p.Reduces > 0 {
		each := p.ShuffleAvg + p.ReduceAvg
		lowB, upB = float64(each*reduces), float64(each*(reduces-1))
		lowC = p.FirstShuffleAvg - p.ShuffleAvg
		upC += p.FirstShuffleMax - p.ShuffleAvg + p.ShuffleMax + p.ReduceMax
	}
	switch bound {
	case "low":
		return lowA, lowB, lowC, nil
	case "up":
		return upA, upB, upC, nil
	}
	return (lowA + upA) / 2, (lowB + upB) / 2, (lowC + upC) / 2, nil
}
