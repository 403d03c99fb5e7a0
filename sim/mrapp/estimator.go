package mrapp

import (
	"math"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// estimate is what an estimator holds of an attempt. Times are in milliseconds, as
// Hadoop's are: the rounding is part of the rule.
type estimate struct {
	history  history
	enrolled int64       // when the attempt started; 0: it has not
	told     engine.Time // last report
	legacy   int64
	known    bool // legacy holds an estimate
	smooth   *smoothed
	forecast *forecast
}

// estimator guesses how long attempts run (TaskRuntimeEstimator). The part that all
// have in common is StartEndTimesBase.
type estimator struct {
	set        *SpeculationSettings
	counted    map[*task]bool
	statistics [2]statistics
}

func newEstimator(s *SpeculationSettings) estimator {
	return estimator{set: s, counted: map[*task]bool{}}
}

// done adds the duration of a task's first success.
func (e *estimator) done(t *attempt, now int64) {
	if e.counted[t.task] {
		return
	}
	e.counted[t.task] = true
	if start := t.speculate.enrolled; start > 1 && start <= now {
		e.statistics[t.task.kind].add(float64(now - start))
	}
}

// update takes a report. running says that the attempt has not begun to commit.
func (e *estimator) update(t *attempt, progress float32, now int64, running bool) {
	s := &t.speculate
	switch e.set.Estimator {
	case Exponential:
		if s.smooth == nil { // the first report only makes the entry
			s.smooth = &smoothed{value: -1, at: math.MinInt64}
			return
		}
		s.smooth.add(e.set, progress, now)
	case SimpleExponential:
		if s.enrolled == 0 {
			return
		}
		if s.forecast == nil {
			s.forecast = newForecast(e.set, s.enrolled, float64(progress), now)
		}
		s.forecast.add(now, float64(progress))
	default:
		if !running {
			return
		}
		s.known, s.legacy = true, -1
		if s.enrolled > 0 && now > s.enrolled {
			s.legacy = int64(float64(now-s.enrolled) / max(0.0001, float64(progress)))
		}
	}
}

// runtime is the estimate of the whole run of an attempt; -1: none.
func (e *estimator) runtime(t *attempt) int64 {
	s := &t.speculate
	switch e.set.Estimator {
	case Exponential:
		return s.smooth.runtime(e.set, s.enrolled)
	case SimpleExponential:
		return s.forecast.runtime()
	}
	if !s.known {
		return -1
	}
	return s.legacy
}

// replacement is the estimate of a new attempt.
func (e *estimator) replacement(kind workload.Kind) int64 {
	s := &e.statistics[kind]
	if e.set.Estimator == SimpleExponential {
		ci := s.meanCI()
		return int64(ci + min(ci*0.25, s.std()/2))
	}
	return int64(s.mean())
}

// stagnated reports whether an attempt's progress stands still.
func (e *estimator) stagnated(t *attempt, now int64) bool {
	return e.set.Estimator == SimpleExponential && t.speculate.forecast.stagnated(now)
}

// statistics are the durations of ended tasks of a type (DataStatistics).
type statistics struct{ count, sum, squares float64 }

func (s *statistics) add(x float64) {
	s.count++
	s.sum += x
	s.squares += float64(x * x)
}

func (s *statistics) mean() float64 {
	if s.count == 0 {
		return 0
	}
	return s.sum / s.count
}

func (s *statistics) std() float64 {
	if s.count <= 1 {
		return 0
	}
	mean := s.mean()
	return math.Sqrt(max(s.squares/s.count-float64(mean*mean), 0))
}

// meanCI is the upper bound of a 95 % confidence interval of the mean.
func (s *statistics) meanCI() float64 {
	if s.count <= 1 {
		return 0
	}
	return s.mean() + float64(1.96*s.std())/math.Sqrt(s.count)
}

// smoothed is a rate of progress per millisecond, smoothed exponentially
// (ExponentiallySmoothedTaskRuntimeEstimator.EstimateVector). Hadoop weighs the old
// value by exp(+dt/lambda), more than 1, and reckons the first interval from the
// smallest long, which overflows; both are kept.
type smoothed struct {
	value    float64
	progress float32
	at       int64
}

func (s *smoothed) add(set *SpeculationSettings, progress float32, now int64) {
	if now <= s.at || progress < s.progress {
		return
	}
	old := 0.0
	if s.value >= 0 {
		old = math.Exp(float64(now-s.at) / float64(milliseconds(set.Smoothing)))
	}
	read := float64((progress - s.progress) / float32(now-s.at))
	if set.SmoothTime {
		read = 1 / read
	}
	s.value = float64(s.value*old) + float64(read*(1-old))
	s.progress, s.at = progress, now
}

func (s *smoothed) runtime(set *SpeculationSettings, start int64) int64 {
	if s == nil || start == 0 || s.value == 0 {
		return -1
	}
	rate := s.value
	if set.SmoothTime {
		rate = 1 / s.value
	}
	if rate == 0 {
		return -1
	}
	return s.at - start + toLong(float64(1-s.progress)/rate)
}

// toLong converts as Java does: it saturates, and NaN is 0.
func toLong(x float64) int64 {
	switch {
	case x != x:
		return 0
	case x >= math.MaxInt64:
		return math.MaxInt64
	case x <= math.MinInt64:
		return math.MinInt64
	}
	return int64(x)
}

// forecast is a rate of progress by simple exponential smoothing
// (SimpleExponentialSmoothing, 3.3).
type forecast struct {
	constant  float64 // time constant, milliseconds
	skip      int     // readings that are not used
	window    int64
	start     int64
	now, last *reading
}

type reading struct {
	at       int64
	raw      float64
	forecast float64
	index    int
}

func newForecast(set *SpeculationSettings, start int64, raw float64, now int64) *forecast {
	return &forecast{
		constant: float64(milliseconds(set.SimpleSmoothing)), skip: set.SimpleSkip,
		window: milliseconds(set.SimpleStagnated), start: start,
		now: &reading{at: start, forecast: raw / float64(now-start)},
	}
}

// add takes a reading. One of the same instant as the last replaces it.
func (f *forecast) add(now int64, raw float64) {
	if f.now.at >= now && f.now.raw >= raw {
		return
	}
	base := f.now
	if now == base.at && f.last != nil {
		base = f.last
	}
	sample := (raw - base.raw) / float64(now-base.at)
	if base.index == f.skip {
		f.constant = max(f.constant, float64(now-f.start))
	}
	weight := 1 - math.Exp(float64(f.now.at-now)/f.constant)
	next := &reading{
		at: now, raw: raw, index: base.index + 1,
		forecast: float64(weight*sample) + float64((1-weight)*base.forecast),
	}
	f.last, f.now = base, next
}

func (f *forecast) runtime() int64 {
	if f == nil {
		return -1
	}
	rate := -1.0
	if f.now.index > f.skip {
		rate = f.now.forecast
	}
	left := max(0, min(1, 1-f.now.raw))
	return toLong(left/max(1e-10, rate)) + f.now.at - f.start
}

// stagnated is true, as in Hadoop, while the last reading is younger than the window.
func (f *forecast) stagnated(now int64) bool {
	return f != nil && f.now.index > f.skip && f.now.at+f.window > now
}
