package analytic

import (
	"container/heap"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
)

// Bounds are the makespan theorem for tasks given in any order to the earliest
// free slot, and the makespan of the order at hand. Unit of the durations.
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

// stageBounds is the makespan theorem for one stage; a stage without tasks
// takes no time.
func stageBounds(n, k, avg, longest float64) (low, up float64) {
	if n == 0 {
		return 0, 0
	}
	return n * avg / k, float64((n-1)*avg/k) + longest
}

// greedy gives tasks in order to the earliest free slot, the lowest index on
// ties, and returns when each ends.
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

	MapAvg float64 `json:"M_avg"`
	MapMax float64 `json:"M_max"`

	// The first shuffle is the part of a first-wave shuffle after the last map
	// ended; the typical one is the whole shuffle and sort of a later wave.
	FirstShuffleAvg float64 `json:"Sh1_avg,omitzero"`
	FirstShuffleMax float64 `json:"Sh1_max,omitzero"`
	ShuffleAvg      float64 `json:"Sh_typ_avg,omitzero"`
	ShuffleMax      float64 `json:"Sh_typ_max,omitzero"`
	ReduceAvg       float64 `json:"R_avg,omitzero"`
	ReduceMax       float64 `json:"R_max,omitzero"`

	// Parts of the profile that no bound uses; NaN where unknown.
	MapMin            float64 `json:"M_min,omitzero"`
	MapInputBytes     float64 `json:"AvgSize_M_input,omitzero"` // mean of a map
	MapSelectivity    float64 `json:"Selectivity_M,omitzero"`
	ReduceSelectivity float64 `json:"Selectivity_R,omitzero"`

	// ShuffleFromFirst marks a job with one reduce wave: its typical shuffle is
	// the first one, for want of another.
	ShuffleFromFirst bool `json:"-"`
}

// unknownAria is a profile that states nothing.
func unknownAria() AriaProfile {
	nan := math.NaN()
	return AriaProfile{
		FirstShuffleAvg: nan, FirstShuffleMax: nan, ShuffleAvg: nan, ShuffleMax: nan, ReduceAvg: nan, ReduceMax: nan,
		MapMin: nan, MapInputBytes: nan, MapSelectivity: nan, ReduceSelectivity: nan,
	}
}

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

// checkPair wants an average and a maximum of the same durations; the average
// of equal ones may exceed them by its rounding.
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

// Bounds bounds the job's time on mapSlots and reduceSlots (ARIA, section 4).
// Guarded, slots beyond the tasks do not count and a job whose reduces all
// start at once has no later shuffle; unguarded, the equations are as printed
// and the shuffle's lower bound can be negative.
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

// Coefficients give a bound in closed form: T = a/S_M + b/S_R + c. Bound is
// low, avg or up.
func (p AriaProfile) Coefficients(bound string) (a, b, c float64, err error) {
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

// ExtractAria takes the profile of one job from the attempts of a finished run:
// succeeded maps and reduces. A reduce is of the first wave if it started before
// the last map ended. The shuffle includes the sort.
func ExtractAria(attempts []workload.Attempt) (AriaProfile, error) {
	p := unknownAria()
	var maps, reduces []*workload.Attempt
	for i := range attempts {
		switch a := &attempts[i]; {
		case a.State != workload.Succeeded:
		case a.Kind == workload.Map:
			maps = append(maps, a)
		case a.Kind == workload.Reduce:
			reduces = append(reduces, a)
		}
	}
	if len(maps) == 0 {
		return p, errors.New("no map succeeded: the job has no profile")
	}
	p.Maps, p.Reduces = len(maps), len(reduces)
	lastMap, inBytes, outBytes := time.Duration(0), int64(0), int64(0)
	p.MapMin = math.Inf(1)
	var mapTimes []float64
	for _, a := range maps {
		lastMap = max(lastMap, a.Finish)
		mapTimes = append(mapTimes, a.Duration().Seconds())
		inBytes, outBytes = inBytes+a.InBytes, outBytes+a.OutBytes
	}
	p.MapAvg, p.MapMax = meanMax(mapTimes)
	p.MapMin = slices.Min(mapTimes)
	p.MapInputBytes = float64(inBytes) / float64(len(maps))
	p.MapSelectivity = float64(outBytes) / float64(inBytes) // NaN where the trace has no bytes
	if len(reduces) == 0 {
		return p, nil
	}

	var first, typical, reduceTimes []float64
	inBytes, outBytes = 0, 0
	for _, a := range reduces {
		shuffled := a.Start + a.Phases[workload.PhaseStartup] + a.Phases[workload.PhaseShuffle] + a.Phases[workload.PhaseMerge]
		if a.Start < lastMap {
			first = append(first, max(0, shuffled-lastMap).Seconds())
		} else {
			typical = append(typical, (shuffled - a.Start).Seconds())
		}
		reduceTimes = append(reduceTimes, (a.Finish - shuffled).Seconds())
		inBytes, outBytes = inBytes+a.InBytes, outBytes+a.OutBytes
	}
	if len(first) == 0 {
		// Every reduce waited for the last map: its whole shuffle comes after it.
		first = typical
	}
	p.ShuffleFromFirst = len(typical) == 0
	if p.ShuffleFromFirst {
		typical = first
	}
	p.FirstShuffleAvg, p.FirstShuffleMax = meanMax(first)
	p.ShuffleAvg, p.ShuffleMax = meanMax(typical)
	p.ReduceAvg, p.ReduceMax = meanMax(reduceTimes)
	p.ReduceSelectivity = float64(outBytes) / float64(inBytes)
	return p, nil
}

func meanMax(v []float64) (mean, longest float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	return mean, slices.Max(v)
}

// Slots are the map and reduce slots that meet a deadline.
type Slots struct {
	Time     float64 `json:"t"` // what the deadline leaves after the constant part
	Feasible bool    `json:"feasible"`
	*SlotPlan
}

// SlotPlan is the least sum of slots on the curve a/S_M + b/S_R = t: in real
// numbers with Lagrange's multiplier, those rounded up, and the exact optimum in
// whole slots.
type SlotPlan struct {
	Lambda        float64 `json:"lambda"`
	Maps          float64 `json:"S_M"`
	Reduces       float64 `json:"S_R"`
	MapsRoundedUp int     `json:"S_M_ceil"`
	RedsRoundedUp int     `json:"S_R_ceil"`
	MapSlots      int     `json:"S_M_int"`
	ReduceSlots   int     `json:"S_R_int"`
}

// ProvisionSlots minimises S_M + S_R subject to a/S_M + b/S_R <= t by
// Lagrange's multiplier (ARIA, section 4; Khan et al., section 3). It is
// infeasible if t <= 0. Slots beyond the tasks of a stage do nothing: the caller
// compares with N_M and N_R.
func ProvisionSlots(a, b, t float64) (Slots, error) {
	var c input.Check
	c.AtLeast("a", a, 0)
	c.AtLeast("b", b, 0)
	c.Number("t", t)
	if err := c.Err(); err != nil {
		return Slots{}, err
	}
	if t <= 0 {
		return Slots{Time: t}, nil
	}
	ra, rb := math.Sqrt(a), math.Sqrt(b)
	root := (ra + rb) / t
	s := SlotPlan{Lambda: root * root, Maps: float64(ra * root), Reduces: float64(rb * root)}
	if s.Maps+s.Reduces > input.MaxCount/2 {
		return Slots{}, fmt.Errorf("t: %v needs %v slots: want a longer time", t, s.Maps+s.Reduces)
	}
	s.MapsRoundedUp, s.RedsRoundedUp = max(1, int(fit.Ceil(s.Maps))), max(1, int(fit.Ceil(s.Reduces)))
	s.MapSlots, s.ReduceSlots = wholeSlots(a, b, t, s.MapsRoundedUp, s.RedsRoundedUp)
	return Slots{t, true, &s}, nil
}

// reducesFor is the fewest reduce slots that finish beside m map slots, 0 if
// none do.
func reducesFor(a, b, t float64, m int) (r int, ok bool) {
	rest := t - a/float64(m)
	if rest <= 0 {
		return 0, false
	}
	need := fit.Ceil(b / rest)
	return int(need), need <= input.MaxCount
}

// wholeSlots improves on a feasible pair of whole slots: smallest sum first, then
// smallest time, then fewest map slots.
func wholeSlots(a, b, t float64, maps, reduces int) (int, int) {
	if b == 0 {
		return max(1, int(fit.Ceil(a/t))), 0
	}
	// m + b/(t-a/m) <= sum is a quadratic in m: only the pairs between its roots
	// can win, a small part of all where the sum is large.
	sum := maps + reduces
	least := a/float64(maps) + b/float64(reduces)
	alone := a / t // map slots if reduces took no time
	middle := float64((float64(sum) + alone - b/t) / 2)
	half := math.Sqrt(math.Max(0, float64(middle*middle)-float64(float64(sum)*alone)))
	for m := max(int(fit.Floor(alone))+1, int(middle-half)-1); m <= min(sum, int(middle+half)+2); m++ {
		r, ok := reducesFor(a, b, t, m)
		if !ok || m+r > sum {
			continue
		}
		took := a/float64(m) + b/float64(r)
		if m+r < sum || took < least || took == least && m < maps {
			maps, reduces, sum, least = m, r, m+r, took
		}
	}
	return maps, reduces
}

// AriaSlots are the slots for a deadline: the coefficients of the bound, and
// what they lead to.
type AriaSlots struct {
	A        float64 `json:"a"`
	B        float64 `json:"b"`
	C        float64 `json:"c"`
	Solution Slots   `json:"solution"`
}

// Invert finds the fewest slots with which the bound (low, avg or up) meets the
// deadline, seconds.
func (p AriaProfile) Invert(deadline float64, bound string) (AriaSlots, error) {
	var s AriaSlots
	var err error
	if s.A, s.B, s.C, err = p.deadline(deadline, bound); err != nil {
		return AriaSlots{}, err
	}
	s.Solution, err = ProvisionSlots(s.A, s.B, deadline-s.C)
	return s, err
}

func (p AriaProfile) deadline(deadline float64, bound string) (a, b, c float64, err error) {
	var check input.Check
	check.AtLeast("deadline", deadline, 0)
	if err := check.Err(); err != nil {
		return 0, 0, 0, err
	}
	return p.Coefficients(bound)
}

// maxCurve bounds the pairs of a curve that anybody will look at.
const maxCurve = 1 << 20

// Curve lists the minimal pairs (S_M, S_R) that meet the deadline, map slots
// descending, up to the slots of the cluster and the tasks of the job.
func (p AriaProfile) Curve(deadline float64, bound string, mapSlots, reduceSlots int) ([][2]int, error) {
	a, b, c, err := p.deadline(deadline, bound)
	if err != nil {
		return nil, err
	}
	var check input.Check
	check.Count("S_M", mapSlots, 1)
	check.Count("S_R", reduceSlots, min(1, p.Reduces))
	if min(mapSlots, p.Maps) > maxCurve {
		check.Fail("S_M", "%d map slots: want at most %d for a curve", min(mapSlots, p.Maps), maxCurve)
	}
	if err := check.Err(); err != nil {
		return nil, err
	}
	pairs := [][2]int{}
	for m := min(mapSlots, p.Maps); m >= 1; m-- {
		r, ok := reducesFor(a, b, deadline-c, m)
		if !ok || r > min(reduceSlots, p.Reduces) {
			break
		}
		pairs = append(pairs, [2]int{m, r})
	}
	return pairs, nil
}
