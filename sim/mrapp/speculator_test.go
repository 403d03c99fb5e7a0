package mrapp

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// speculating makes a lab of two maps and a reduce that speculates, with map 1 on the
// slow node.
func speculating(t *testing.T) *lab {
	l := unlike(t, 10, 1, anywhere(2)...)
	l.job.Settings.Speculation.Maps = true
	l.job.Settings.Slowstart = 1
	l.grant(2, 20, 2, 0, 3)
	return l
}

// Map 0 ends at 13 s, after 11 s. Map 1 reported last at 9 s: 6 % after 7 s from its
// launch, so it shall end 116.7 s after 2 s; a new attempt would at 24 s. The pass of
// 13 s comes before the beat of that instant, which carries the ask. The new attempt
// starts at 14 s and ends at 25 s; the old one is killed.
func TestSpeculatesOnASlowMap(t *testing.T) {
	l := speculating(t)
	l.grant(14, 20, 4, 1)
	l.run(25500 * time.Millisecond)
	want(t, "asks", l.carried(), "1: 20:*=2; 3: 20:*=0; 13: 20:*=1; 15: 20:*=0")
	want(t, "attempts", l.ran(), "m0_0 2@0 2s-3s-13sS; m1_0 3@3 2s-3s-25sK; m1_1 4@1 14s-15s-25sS")
}

// value returns the worth of a second attempt of map 1 at an instant.
func value(t *testing.T, at time.Duration, prepare func(l *lab)) int64 {
	l := speculating(t)
	l.job.Settings.Speculation.Minimum = 0
	l.job.Settings.Speculation.CapTotal, l.job.Settings.Speculation.CapRunning = 0, 0
	l.run(at)
	prepare(l)
	return l.am.speculator.value(l.am.maptasks[1])
}

// What a second attempt saves, in milliseconds, or why there is none.
func TestSpeculationValue(t *testing.T) {
	for _, c := range []struct {
		name    string
		at      time.Duration
		prepare func(l *lab)
		value   int64
	}{
		{"too few have ended", 12 * time.Second, func(*lab) {}, onSchedule},
		// 7000 / 0.06 = 116666 from the launch at 2000, against 11000 from 14000 on.
		{"slow", 14 * time.Second, func(*lab) {}, 116666 + 2000 - 14000 - 11000},
		// The report of 15 s: 13000 / 0.12.
		{"next report", 15 * time.Second, func(*lab) {}, 108333 + 2000 - 15000 - 11000},
		{"two run", 14 * time.Second, func(l *lab) {
			l.am.maptasks[1].attempts = append(l.am.maptasks[1].attempts, &attempt{task: l.am.maptasks[1]})
		}, alreadySpeculating},
		{"none runs", 14 * time.Second, func(l *lab) { l.am.maptasks[1].attempts[0].state = failed }, notRunning},
		{"not started", 14 * time.Second, func(l *lab) { l.am.maptasks[1].attempts[0].speculate.enrolled = 0 }, notWorthIt},
		{"should have ended", 14 * time.Second, func(l *lab) { l.am.maptasks[1].attempts[0].speculate.legacy = 11999 }, notWorthIt},
		{"a new one ends no earlier", 14 * time.Second, func(l *lab) { l.am.maptasks[1].attempts[0].speculate.legacy = 23000 }, notWorthIt},
		{"but 1 ms before", 14 * time.Second, func(l *lab) { l.am.maptasks[1].attempts[0].speculate.legacy = 23001 }, 1},
	} {
		if got := value(t, c.at, c.prepare); got != c.value {
			t.Errorf("%s: %d, want %d", c.name, got, c.value)
		}
	}
}

// No map is looked at while a map waits for a container, and no more start than
// allowed: the largest of the minimum, 1 % of the tasks and 10 % of those that run.
func TestSpeculationLimits(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(s *speculator, set *SpeculationSettings)
		starts  string
	}{
		{"none allowed", func(*speculator, *SpeculationSettings) {}, "false"},
		{"minimum", func(_ *speculator, set *SpeculationSettings) { set.Minimum = 1 }, "true"},
		{"share of all", func(_ *speculator, set *SpeculationSettings) { set.CapTotal = 0.5 }, "true"},
		{"share of running", func(_ *speculator, set *SpeculationSettings) { set.CapRunning = 1 }, "true"},
		{"one waits", func(s *speculator, set *SpeculationSettings) { set.Minimum, s.needs[workload.Map] = 1, 1 }, "false"},
	} {
		l := speculating(t)
		l.job.Settings.Speculation.Minimum = 0
		l.job.Settings.Speculation.CapTotal, l.job.Settings.Speculation.CapRunning = 0, 0
		l.run(13500 * time.Millisecond)
		c.prepare(&l.am.speculator, &l.job.Settings.Speculation)
		want(t, c.name, l.am.speculator.look(workload.Map, l.am.maptasks), c.starts)
	}
}

// After a pass that has started something the next one follows 15 s later, otherwise
// 1 s.
func TestSpeculationPauses(t *testing.T) {
	l := unlike(t, 10, 1, anywhere(3)...)
	l.job.Settings.Speculation.Maps = true
	l.job.Settings.Slowstart = 1
	l.grant(2, 20, 2, 0, 3, 3)
	l.grant(14, 20, 5, 1)
	l.grant(29, 20, 6, 1)
	l.run(31 * time.Second)
	want(t, "asks", l.carried(), "1: 20:*=3; 3: 20:*=0; 13: 20:*=1; 15: 20:*=0; 28: 20:*=1; 30: 20:*=0")
}

// An attempt that has not reported anything new for more than 9 s is reported with its
// old progress, so that its estimate grows. The node of map 1 dies at 14 s; the
// speculator has looked at 13 s, at 7000 / 0.06, and makes it 21000 / 0.06 at 23 s.
func TestSilentAttemptsLookSlower(t *testing.T) {
	l := speculating(t)
	l.at(14*time.Second, func() { l.am.Died(l.made[3]) })
	x := func() *attempt { return l.am.maptasks[1].attempts[0] }
	for _, c := range []struct {
		at       time.Duration
		estimate string
	}{{22 * time.Second, "116666"}, {23 * time.Second, "350000"}} {
		l.run(c.at)
		l.am.speculator.hear(x())
		want(t, "estimate", x().speculate.legacy, c.estimate)
	}
}

// Durations 8, 10 and 12 s: mean 10 s, deviation 1.633 s, upper bound 11.848 s.
func TestStatistics(t *testing.T) {
	var s statistics
	for _, x := range []float64{8000, 10000, 12000} {
		s.add(x)
	}
	want(t, "mean", s.mean(), "10000")
	near(t, "deviation", s.std(), 1632.993)
	near(t, "bound", s.meanCI(), 10000+1.96*1632.993/math.Sqrt(3))
	e := estimator{set: &SpeculationSettings{}, statistics: [2]statistics{s}}
	want(t, "replacement", e.replacement(workload.Map), "10000")
	e.set.Estimator = SimpleExponential
	// 11847.9 and the smaller of a quarter of it and half the deviation.
	want(t, "replacement", e.replacement(workload.Map), "12664")
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.01 {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Only the first success of a task counts in the durations.
func TestFirstSuccessCounts(t *testing.T) {
	s := defaults().Speculation
	e := newEstimator(&s)
	k := &task{}
	for _, start := range []int64{1000, 5000} {
		e.done(&attempt{task: k, speculate: estimate{enrolled: start}}, 11000)
	}
	want(t, "mean", e.statistics[0].mean(), "10000")
}

// ended returns an attempt that started at 1 s with these reports, at every 6 s after
// its begin at 2 s.
func reported(s *SpeculationSettings, progress ...float32) (*estimator, *attempt) {
	e := newEstimator(s)
	x := &attempt{task: &task{}, speculate: estimate{enrolled: 1000}}
	for i, p := range progress {
		e.update(x, p, int64(8000+6000*i), true)
	}
	return &e, x
}

func TestLegacyEstimate(t *testing.T) {
	s := defaults().Speculation
	e, x := reported(&s)
	want(t, "no report", e.runtime(x), "-1")
	e, x = reported(&s, 0)
	want(t, "no progress", e.runtime(x), "70000000") // 7000 / 0.0001
	e, x = reported(&s, 0.25)
	want(t, "a quarter", e.runtime(x), "28000")
	e.update(x, 0.5, 30000, false)
	want(t, "committing", e.runtime(x), "28000")
}

// The first report makes the entry, the second gives a rate of nearly nothing, because
// the time before it overflows. From the third on the newest rate counts, less the
// excess of exp(+6/60) over 1 of the old one.
func TestExponentialEstimate(t *testing.T) {
	s := defaults().Speculation
	s.Estimator = Exponential
	e, x := reported(&s)
	want(t, "no report", e.runtime(x), "-1")
	e, x = reported(&s, 0.1)
	want(t, "one", e.runtime(x), "9223372036854774807") // all arithmetic wraps
	e, x = reported(&s, 0.1, 0.2, 0.3)
	want(t, "three", x.speculate.smooth.value > 0, "true")
	rate := float64((float32(0.3) - float32(0.2)) / 6000)
	near(t, "rate", x.speculate.smooth.value*1e6, rate*1e6)
	want(t, "runtime", e.runtime(x), "60999") // 20000 - 1000 and 0.7 / rate
	_, x = reported(&s, 0.1, 0.2, 0.3, 0.5)
	next := float64((float32(0.5) - float32(0.3)) / 6000)
	near(t, "rate", x.speculate.smooth.value*1e6, (rate*math.Exp(0.1)+next*(1-math.Exp(0.1)))*1e6)
}

// A forecast counts after more readings than are skipped; until then the remaining work
// is divided by almost nothing.
func TestSimpleExponentialEstimate(t *testing.T) {
	s := defaults().Speculation
	s.Estimator, s.SimpleSkip = SimpleExponential, 2
	e, x := reported(&s)
	want(t, "no report", e.runtime(x), "-1")
	e, x = reported(&s, 0.07, 0.13)
	if e.runtime(x) < 1e9 {
		t.Errorf("runtime %d after two readings, want none", e.runtime(x))
	}
	e, x = reported(&s, 0.07, 0.13, 0.19)
	near(t, "rate", x.speculate.forecast.now.forecast*1e6, 10)
	want(t, "runtime", (e.runtime(x)+50)/100, "1000") // 19000 and 0.81 / 0.00001
	// The rate halves; the time constant is 120 s.
	e, x = reported(&s, 0.07, 0.13, 0.19, 0.22)
	near(t, "rate", x.speculate.forecast.now.forecast*1e6, 10-5*(1-math.Exp(-6./120)))
	want(t, "stagnated", e.stagnated(x, 26000+359999), "true")
	want(t, "stagnated", e.stagnated(x, 26000+360000), "false")
}

// Reduces report a third for the maps that they know, as of their last poll.
func TestProgressOfReduces(t *testing.T) {
	l := newLab(t, 1, anywhere(2)...)
	l.job.Settings.Slowstart = 0
	l.grant(2, 20, 2, 0)
	l.grant(4, 10, 3, 0)
	l.grant(9, 20, 4, 0)
	l.run(20500 * time.Millisecond)
	x := l.am.reducetasks[0].attempts[0]
	// It began at 5 s. One map of two has ended at 13 s; the other ends at 20 s, the
	// instant of a poll.
	for _, c := range []struct {
		at       engine.Time
		progress float32
	}{{12, 0}, {13, 1. / 6}, {19, 1. / 6}, {20, 1. / 3}, {23, 2. / 3}} {
		if got := l.job.Executor.Progress(&x.run, c.at*second); math.Abs(float64(got-c.progress)) > 1e-6 {
			t.Errorf("at %d s: %v, want %v", c.at, got, c.progress)
		}
	}
	want(t, "reported at 17 s", l.am.progress(x), "0.16666667")
}

// Speculation of reduces alone looks at no map, and that of maps at no reduce.
func TestSpeculatesByKind(t *testing.T) {
	for _, c := range []struct{ maps, reduces bool }{{true, false}, {false, true}, {true, true}, {false, false}} {
		l := speculating(t)
		l.job.Settings.Speculation.Maps, l.job.Settings.Speculation.Reduces = c.maps, c.reduces
		l.run(13 * time.Second)
		want(t, "maps", l.am.speculator.watches(workload.Map), fmt.Sprint(c.maps))
		want(t, "reduces", l.am.speculator.watches(workload.Reduce), fmt.Sprint(c.reduces))
		want(t, "attempts of map 1", len(l.am.maptasks[1].attempts), map[bool]string{true: "2", false: "1"}[c.maps])
	}
}
