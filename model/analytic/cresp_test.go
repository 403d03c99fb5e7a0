package analytic

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/approx"
)

var crespBeta = []float64{12, 1.9, 0.004, 0.3, 0.011, 0.55, 0.02, 0.08}

// Forty training runs without noise give the coefficients back.
func TestFitCresp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	truth := crespCost{Beta: crespBeta}
	var runs []crespRun
	for range 40 {
		m := 2 + r.IntN(30)
		run := crespRun{Maps: m * (2 + r.IntN(20)), MapSlots: m, Reduces: 1 + r.IntN(40)}
		var err error
		if run.Seconds, err = truth.Time(run.Maps, run.MapSlots, run.Reduces); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	got, err := fitCresp(runs)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range crespBeta {
		if !approx.Within(got.Beta[i], b, 1e-6) {
			t.Errorf("beta[%d] = %v, want %v", i, got.Beta[i], b)
		}
	}
	if _, err := fitCresp(runs[:7]); err == nil || !strings.Contains(err.Error(), "runs: 7") {
		t.Errorf("seven runs: error %v", err)
	}
	runs[0].MapSlots = runs[0].Maps
	if _, err := fitCresp(runs); err == nil || !strings.Contains(err.Error(), "two map waves") {
		t.Errorf("one map wave: error %v", err)
	}
}

// One second of deadline more or a unit of money more never gives a worse
// choice, and no cheaper pair meets the deadline.
func TestCrespOptimum(t *testing.T) {
	c := crespCost{Beta: crespBeta}
	limits := func(deadline float64) crespLimits {
		return crespLimits{PricePerSlotHour: 0.05, MaxMapSlots: 32, MaxReduces: 16, Deadline: &deadline}
	}
	last := math.Inf(1)
	for deadline := 20.0; deadline < 60; deadline++ {
		got, err := c.Optimum(64, limits(deadline))
		if err != nil {
			t.Fatal(err)
		}
		if !got.Feasible {
			continue
		}
		if got.Cost > last || got.Time > deadline {
			t.Errorf("deadline %v: cost %v after %v, time %v", deadline, got.Cost, last, got.Time)
		}
		last = got.Cost
	}
}

// At no price every pair costs the same: the fastest wins. With all terms but
// the constant 0, time ties too: the fewest slots win.
func TestCrespOptimumTies(t *testing.T) {
	budget := 1.0
	l := crespLimits{MaxMapSlots: 4, MaxReduces: 4, Budget: &budget}
	got, err := crespCost{Beta: []float64{5, 0, 0, 0, 0, 0, 0, 0}}.Optimum(64, l)
	if err != nil || got.MapSlots != 1 || got.Reduces != 1 {
		t.Errorf("%+v, %v, want one slot each", got.crespPlan, err)
	}
}

func TestCrespErrors(t *testing.T) {
	one, c := 1.0, crespCost{Beta: crespBeta}
	for _, x := range []struct {
		want string
		c    crespCost
		maps int
		l    crespLimits
	}{
		{"want either", c, 64, crespLimits{MaxMapSlots: 1, MaxReduces: 1}},
		{"want either", c, 64, crespLimits{MaxMapSlots: 1, MaxReduces: 1, Deadline: &one, Budget: &one}},
		{"beta: 7 coefficients", crespCost{Beta: crespBeta[:7]}, 64, crespLimits{MaxMapSlots: 1, MaxReduces: 1, Budget: &one}},
		{"beta[0]: -1", crespCost{Beta: append([]float64{-1}, crespBeta[1:]...)}, 64, crespLimits{MaxMapSlots: 1, MaxReduces: 1, Budget: &one}},
		{"R_max: 1099511627776", c, 1 << 40, crespLimits{MaxMapSlots: 1 << 40, MaxReduces: 1 << 40, Budget: &one}},
		{"m_max: 0", c, 64, crespLimits{MaxReduces: 1, Budget: &one}},
	} {
		if _, err := x.c.Optimum(x.maps, x.l); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("error %v, want one with %q", err, x.want)
		}
	}
	if _, err := c.Time(64, 0, 8); err == nil || !strings.Contains(err.Error(), "m: 0") {
		t.Errorf("no map slots: error %v", err)
	}
}

func TestCrespOptimumLargest(t *testing.T) {
	if testing.Short() {
		t.Skip("tries 16 million sizes")
	}
	deadline := 1e9
	l := crespLimits{PricePerSlotHour: 1, MaxMapSlots: 1 << 12, MaxReduces: 1 << 12, Deadline: &deadline}
	if _, err := (crespCost{Beta: crespBeta}).Optimum(1<<20, l); err != nil {
		t.Fatal(err)
	}
}
