package analytic

import (
	"fmt"
	"math"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
)

// Slots are the map and reduce slots that meet a deadline.
type Slots struct {
	Time     float64 `json:"t"` // what the deadline leaves after the constant part
	Feasible bool    `json:"feasible"`
	*SlotPlan
}

// SlotPlan is the smallest sum of slots on the curve a/S_M + b/S_R = t: in real
// numbers by Lagrange's multiplier, those rounded up, and the exact optimum in
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

// provisionSlots minimises S_M + S_R subject to a/S_M + b/S_R <= t by Lagrange's
// multiplier (ARIA, section 4; Khan et al., section 3). It is infeasible if t <=
// 0. The result can exceed the tasks of a stage; the caller compares it with N_M
// and N_R.
func provisionSlots(a, b, t float64) (Slots, error) {
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

// reducesFor returns the fewest reduce slots that meet t with m map slots; ok is
// false if none do.
func reducesFor(a, b, t float64, m int) (r int, ok bool) {
	rest := t - a/float64(m)
	if rest <= 0 {
		return 0, false
	}
	need := fit.Ceil(b / rest)
	return int(need), need <= input.MaxCount
}

// wholeSlots improves a feasible pair of whole slots: smallest sum first, then
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

// AriaSlots are the slots for a deadline, and the coefficients of the bound that
// they meet.
type AriaSlots struct {
	A        float64 `json:"a"`
	B        float64 `json:"b"`
	C        float64 `json:"c"`
	Solution Slots   `json:"solution"`
}

// Invert returns the fewest slots with which a bound (low, avg or up) meets the
// deadline, seconds.
func (p AriaProfile) Invert(deadline float64, bound string) (AriaSlots, error) {
	var s AriaSlots
	var err error
	if s.A, s.B, s.C, err = p.deadline(deadline, bound); err != nil {
		return AriaSlots{}, err
	}
	s.Solution, err = provisionSlots(s.A, s.B, deadline-s.C)
	return s, err
}

func (p AriaProfile) deadline(deadline float64, bound string) (a, b, c float64, err error) {
	var check input.Check
	check.AtLeast("deadline", deadline, 0)
	if err := check.Err(); err != nil {
		return 0, 0, 0, err
	}
	return p.coefficients(bound)
}

// maxCurve bounds the pairs of a curve.
const maxCurve = 1 << 20

// curve lists the minimal pairs (S_M, S_R) that meet the deadline, map slots
// descending, up to the slots of the cluster and the tasks of the job.
func (p AriaProfile) curve(deadline float64, bound string, mapSlots, reduceSlots int) ([][2]int, error) {
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

type provisionQuestion struct {
	A float64 `json:"a" unit:"s"`
	B float64 `json:"b" unit:"s"`
	T float64 `json:"t" unit:"s"`
}

func (q provisionQuestion) answer() (Slots, error) { return provisionSlots(q.A, q.B, q.T) }
