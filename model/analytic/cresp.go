package analytic

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
)

// crespTerms is the number of coefficients with linear reduces (eq. 17.10).
const crespTerms = 8

// crespCost is the cost model of CRESP (Chen et al., TPDS 2014, and chapter 17 of
// Large Scale and Big Data) for reduces that are linear in their input: T = sum of
// beta_i*x_i, seconds, with M maps on m slots and R reduces in one wave.
type crespCost struct{ Beta []float64 }

// crespTermsOf returns the terms of eq. 17.10; logarithms are to base 2. m/R
// stands for the copying that is left when the last map wave ends.
func crespTermsOf(maps, mapSlots, reduces int) ([crespTerms]float64, error) {
	var c input.Check
	c.Count("M", maps, 1)
	c.Count("m", mapSlots, 1)
	c.Count("R", reduces, 1)
	if err := c.Err(); err != nil {
		return [crespTerms]float64{}, err
	}
	return crespX(float64(maps), float64(mapSlots), float64(reduces)), nil
}

func crespX(maps, m, r float64) [crespTerms]float64 {
	return [crespTerms]float64{1, maps / m, maps * r / m, m / r, maps * fit.Log2(maps) / r, maps / r, maps, r}
}

func (c crespCost) check() error {
	var check input.Check
	check.List("beta", c.Beta, 0, 0)
	if len(c.Beta) != crespTerms {
		check.Fail("beta", "%d coefficients: want %d", len(c.Beta), crespTerms)
	}
	return check.Err()
}

// time evaluates eq. 17.10.
func (c *crespCost) time(x [crespTerms]float64) float64 {
	t := 0.0
	for i, v := range x {
		t += float64(c.Beta[i] * v)
	}
	return t
}

// Time predicts a job's time in seconds.
func (c crespCost) Time(maps, mapSlots, reduces int) (float64, error) {
	if err := c.check(); err != nil {
		return 0, err
	}
	x, err := crespTermsOf(maps, mapSlots, reduces)
	if err != nil {
		return 0, err
	}
	return c.time(x), nil
}

// crespRun is one training run; the paper takes 25 to 60 with random sizes and
// M >= 2m.
type crespRun struct {
	Maps, MapSlots, Reduces int
	Seconds                 float64
}

// fitCresp finds the coefficients, none negative, from training runs.
func fitCresp(runs []crespRun) (crespCost, error) {
	var c input.Check
	x, y := make([][]float64, len(runs)), make([]float64, len(runs))
	if len(runs) < crespTerms {
		c.Fail("runs", "%d: want %d or more", len(runs), crespTerms)
	}
	for i, r := range runs {
		name := fmt.Sprintf("runs[%d]", i)
		terms, err := crespTermsOf(r.Maps, r.MapSlots, r.Reduces)
		if err != nil {
			c.Fail(name, "%v", err)
			continue
		}
		if r.Maps < 2*r.MapSlots {
			c.Fail(name, "M = %d on m = %d slots: want two map waves or more", r.Maps, r.MapSlots)
		}
		c.AtLeast(name+".seconds", r.Seconds, 0)
		x[i], y[i] = terms[:], r.Seconds
	}
	if err := c.Err(); err != nil {
		return crespCost{}, err
	}
	beta, err := fit.NonNegative(x, y)
	return crespCost{beta}, err
}

// crespLimits bound the search for the best slots: exactly one of Deadline
// (seconds) and Budget (money) is given.
type crespLimits struct {
	PricePerSlotHour float64  `json:"price_per_slot_hour" unit:"money/h"`
	MaxMapSlots      int      `json:"m_max"`
	MaxReduces       int      `json:"R_max"`
	Deadline         *float64 `json:"deadline" unit:"s"`
	Budget           *float64 `json:"budget" unit:"money"`
}

// crespChoice is the best map slots and reduces, if any meet the limit.
type crespChoice struct {
	Feasible bool `json:"feasible"`
	*crespPlan
}

// crespPlan is one choice of slots: its time in seconds and its price.
type crespPlan struct {
	MapSlots int     `json:"m"`
	Reduces  int     `json:"R"`
	Time     float64 `json:"T"`
	Cost     float64 `json:"cost"`
}

// maxPairs bounds the exhaustive search to about a second.
const maxPairs = 1 << 24

// Optimum tries every pair of map slots and reduces. It returns the lowest cost
// within a deadline, or the shortest time within a budget. cost is the price of
// m+R slots for the time of the job. Ties go to the other quantity, to fewer
// slots, to fewer map slots.
func (c crespCost) Optimum(maps int, l crespLimits) (crespChoice, error) {
	if err := c.check(); err != nil {
		return crespChoice{}, err
	}
	var check input.Check
	check.Count("M", maps, 1)
	check.Count("m_max", l.MaxMapSlots, 1)
	check.Count("R_max", l.MaxReduces, 1)
	check.AtLeast("price_per_slot_hour", l.PricePerSlotHour, 0)
	switch {
	case (l.Deadline == nil) == (l.Budget == nil):
		check.Fail("deadline", "want either a deadline or a budget")
	case l.Deadline != nil:
		check.AtLeast("deadline", *l.Deadline, 0)
	default:
		check.AtLeast("budget", *l.Budget, 0)
	}
	mapSlots := min(maps, l.MaxMapSlots)
	if l.MaxReduces > maxPairs || mapSlots > maxPairs/max(1, l.MaxReduces) {
		check.Fail("R_max", "%d reduces with %d map slots: want at most %d pairs", l.MaxReduces, mapSlots, maxPairs)
	}
	if err := check.Err(); err != nil {
		return crespChoice{}, err
	}

	var best *crespPlan
	for m := 1; m <= mapSlots; m++ {
		for r := 1; r <= l.MaxReduces; r++ {
			p := crespPlan{MapSlots: m, Reduces: r, Time: c.time(crespX(float64(maps), float64(m), float64(r)))}
			p.Cost = l.PricePerSlotHour * float64(m+r) * p.Time / 3600
			if l.Deadline != nil && p.Time > *l.Deadline || l.Budget != nil && p.Cost > *l.Budget {
				continue
			}
			if best == nil || comparePlans(p, *best, l.Deadline != nil) < 0 {
				better := p // on the heap, unlike p
				best = &better
			}
		}
	}
	return crespChoice{best != nil, best}, nil
}

// comparePlans orders by (cost, time) or (time, cost), then m+R, then m.
func comparePlans(a, b crespPlan, costFirst bool) int {
	byCost, byTime := cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Time, b.Time)
	if !costFirst {
		byCost, byTime = byTime, byCost
	}
	return cmp.Or(byCost, byTime,
		cmp.Compare(a.MapSlots+a.Reduces, b.MapSlots+b.Reduces), cmp.Compare(a.MapSlots, b.MapSlots))
}

var crespModel = Model{
	Name: "cresp", About: "CRESP: a regression on maps, slots and reduces; needs its coefficients",
	Accounts: []Cause{Contention, Protocol, Stragglers, Overlap, Slowstart, Quantisation},
	New: func(k Inputs) (model.Predictor, error) {
		if len(k.Runs) == 0 {
			return crespPredictor{}, nil
		}
		c, err := crespOfRuns(k.Runs)
		if err != nil {
			return crespPredictor{reason: err.Error()}, nil
		}
		return crespPredictor{model: c}, nil
	},
}

// crespOfRuns fits the coefficients to recorded runs whose reduces ran in one wave.
func crespOfRuns(runs []RecordedRun) (*crespCost, error) {
	var train []crespRun
	slots := map[int]bool{}
	all := 0
	for _, r := range runs {
		n := r.Profile.Reduces
		if n == 0 {
			continue
		}
		all++
		slots[r.MapSlots] = true
		if n <= r.ReduceSlots {
			train = append(train, crespRun{r.Profile.Maps, r.MapSlots, n, r.Time})
		}
	}
	switch {
	case len(slots) == 1:
		return nil, fmt.Errorf("needs runs on clusters of different sizes: all %d runs had the same number of maps at a time", all)
	case len(train) < crespTerms:
		return nil, fmt.Errorf("needs %d or more runs with all reduces in one wave: got %d of %d", crespTerms, len(train), all)
	case slices.ContainsFunc(train, func(r crespRun) bool { return r.Maps < 2*r.MapSlots }):
		return nil, errors.New("needs runs of two map waves or more")
	}
	c, err := fitCresp(train)
	if err != nil {
		return nil, fmt.Errorf("the recorded runs: %w", err)
	}
	return &c, nil
}

// crespPredictor predicts one kind of job by its regression.
type crespPredictor struct {
	model  *crespCost
	reason string // why the recorded runs give no coefficients
}

func (c crespPredictor) Predict(q model.WhatIf) (model.Prediction, error) {
	j, g, err := oneJob(&q)
	switch {
	case err != nil:
		return model.Prediction{}, err
	case c.model == nil && c.reason != "":
		return model.Prediction{}, model.NotApplicable("%s", c.reason)
	case c.model == nil:
		return model.Prediction{}, model.NotApplicable("needs coefficients fitted to training runs of the job")
	case j.Reduces.Count == 0:
		return model.Prediction{}, model.NotApplicable("the job has no reduces")
	case j.Reduces.Count > g.reduces:
		return model.Prediction{}, model.NotApplicable("%d reduces on %d slots: one wave only", j.Reduces.Count, g.reduces)
	}
	t, err := c.model.Time(j.Maps.Count, g.maps, j.Reduces.Count)
	if err != nil {
		return model.Prediction{}, err
	}
	o := g.outcome(j, &AriaProfile{}, jobTimes{0, t, t, t})
	o.LastMap = -1
	return g.prediction("cresp", o, nil), nil
}

type crespQuestion struct {
	Beta     []float64 `json:"beta" unit:"s per term"`
	Maps     int       `json:"M"`
	MapSlots int       `json:"m"`
	Reduces  int       `json:"R"`
}

type crespAnswer struct {
	X    []float64 `json:"x"`
	Time float64   `json:"T"`
}

func (q crespQuestion) answer() (crespAnswer, error) {
	t, err := crespCost{Beta: q.Beta}.Time(q.Maps, q.MapSlots, q.Reduces)
	if err != nil {
		return crespAnswer{}, err
	}
	x, err := crespTermsOf(q.Maps, q.MapSlots, q.Reduces)
	return crespAnswer{x[:], t}, err
}

type crespOptimumQuestion struct {
	Beta []float64 `json:"beta" unit:"s per term"`
	Maps int       `json:"M"`
	crespLimits
}

func (q crespOptimumQuestion) answer() (crespChoice, error) {
	return crespCost{Beta: q.Beta}.Optimum(q.Maps, q.crespLimits)
}
