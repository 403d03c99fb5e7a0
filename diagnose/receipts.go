package diagnose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/workload"
)

// Outcome is the result of re-simulating a change.
type Outcome string

// The possible results.
const (
	Confirmed Outcome = "confirmed"
	Withdrawn Outcome = "withdrawn"
	Untested  Outcome = "untested"
)

// Receipt is the gain of a change: the fraction of the job's time that it saves,
// with the 95 % interval of its mean over pairs of runs.
type Receipt struct {
	Gain, Low, High float64
	Pairs           int
	Outcome         Outcome
	Note            string
	ranked          float64 // gain of the job that was asked for, else of the mean job of the run

	// RealLow and RealHigh hold the gain on the cluster of a recorded run in 8 of
	// 10 cases. Both are 0 if nothing is recorded.
	RealLow, RealHigh float64
}

// Verification chooses how changes are tested.
type Verification struct {
	Predictor model.Predictor                    // nil: nothing is tested
	Pairs     int                                // first, 5
	MostPairs int                                // 20
	HalfWidth float64                            // half width of the interval at which no more pairs are run, 0.01
	Most      int                                // number of findings that are tested, 10
	Workers   int                                // 0: all cores
	Budget    int64                              // tasks to simulate, of which one at fidelity device counts as ten; 0: any number
	Without   bool                               // also run the question without each part of the cluster
	Progress  func(step string, done, total int) // tests of a step that have begun; nil: nobody is told

	// Measured holds the times of recorded jobs by id. If the question's own
	// answer is off by more than BaseError, changes of devices are withdrawn.
	Measured map[string]time.Duration
}

// maxBaseError is the largest error of the base at which advice on devices is
// given.
const maxBaseError = 0.1

// worldError is the error of the simulated ratio of two times that was not exceeded
// by 8 of 10 pairs of real runs that differ in one setting or component, as a
// natural logarithm (n = 17, conformal quantile: 0.25; docs/validation.md).
const worldError = 0.26

// onRecorded sets the gain that a change has on the recorded cluster, from the
// error of simulated changes, or that of the base if it is larger.
func (r *Receipt) onRecorded(off float64) {
	e := math.Exp(max(worldError, off))
	r.RealLow, r.RealHigh = 1-float64((1-r.Low)*e), 1-(1-r.High)/e
}

// DefaultVerification returns the defaults for tests with a predictor.
func DefaultVerification(p model.Predictor) Verification {
	return Verification{Predictor: p, Pairs: 5, MostPairs: 20, HalfWidth: 0.01, Most: 10}
}

// budgetUsed is the note of a change that the budget did not reach.
const budgetUsed = "the budget of tasks is used up"

// errBudget says that the budget does not allow more runs.
var errBudget = errors.New(budgetUsed)

// verifier runs a question with several seeds and keeps the runs of the base.
type verifier struct {
	Verification
	ctx      context.Context
	base     model.WhatIf
	recorded bool                       // the base has times of tasks that hold for its slots and tasks only
	bases    []map[string]time.Duration // by seed: times of jobs
	about    string                     // job whose gain ranks changes: the one that was asked for, else the mean one
	least    float64                    // smallest useful gain
	spent    int64                      // of the budget

	known map[string][]map[string]time.Duration // runs of changes of the cluster, by their text
}

// tell reports how far a step is.
func (v *verifier) tell(step string, done, total int) {
	if v.Progress != nil {
		v.Progress(step, done, total)
	}
}

// times returns the times of the jobs of a question; "" is the makespan.
func (v *verifier) times(q model.WhatIf) (map[string]time.Duration, error) {
	p, err := v.Predictor.Predict(q)
	if err != nil {
		return nil, err
	}
	times := TimesOf(&p)
	if n := len(times); n > 0 && n == len(p.Jobs) {
		sum := time.Duration(0)
		for _, t := range times {
			sum += t
		}
		times[meanJob] = sum / time.Duration(n)
	}
	times[""] = p.Mean
	return times, nil
}

// runs answers the question with the seeds from first up to n, concurrently.
func (v *verifier) runs(q model.WhatIf, first, n int) ([]map[string]time.Duration, error) {
	if !v.spend(&q, n-first) {
		return nil, errBudget
	}
	list := make([]map[string]time.Duration, n-first)
	group, ctx := errgroup.WithContext(v.ctx)
	group.SetLimit(v.workers())
	for i := range list {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			own := q
			own.Seed = v.base.Seed + uint64(first+i)
			if own.Until == 0 && first+i < len(v.bases) { // some changes let a job wait for ever
				own.Until = mostTime * v.bases[first+i][""]
			}
			times, err := v.times(own)
			list[i] = times
			return err
		})
	}
	return list, group.Wait()
}

// mostTime is how many times the time of the base a changed run may take.
const mostTime = 4

// workers is the number of simulations at a time.
func (v *verifier) workers() int { return cmp.Or(v.Workers, runtime.GOMAXPROCS(0)) }

// trial is the test of one change, in pairs of runs with common seeds.
type trial struct {
	receipt Receipt
	changed model.WhatIf
	job     string
	device  bool
	runs    []map[string]time.Duration
	wide    bool   // the interval needs more pairs
	whole   string // text of a change of the cluster, which is run once for all jobs
}

// test re-simulates a change until the interval is narrow enough.
func (v *verifier) test(change *Change, job string, device bool) Receipt {
	t := v.begin(change, job, device)
	v.narrow(t)
	return t.receipt
}

// edit changes the base. Tasks with recorded times would share other cores and disks in
// other slots, and do other work where there are more or fewer of them.
func (v *verifier) edit(change *Change) (model.WhatIf, error) {
	q, err := change.Edit(v.base)
	if err != nil || !v.recorded {
		return q, err
	}
	same := q.Tasks() == v.base.Tasks() && q.Cluster.SharedSlots == v.base.Cluster.SharedSlots
	for i, n := range v.base.Cluster.Nodes {
		same = same && n.MapSlots == q.Cluster.Nodes[i].MapSlots && n.ReduceSlots == q.Cluster.Nodes[i].ReduceSlots
	}
	if !same {
		return q, errors.New("recorded times of tasks hold for the recorded slots and tasks only: want a machine that slotwave platform calibrate makes")
	}
	return q, nil
}

// begin tests a change with the least number of pairs.
func (v *verifier) begin(change *Change, job string, device bool) *trial {
	t := &trial{job: job, device: device}
	if change != nil && change.ofCluster() {
		t.whole = change.Text
		if v.known == nil {
			v.known = map[string][]map[string]time.Duration{}
		}
	}
	if change == nil {
		t.receipt = Receipt{Outcome: Untested, Note: "no change to the scenario can test it"}
		return t
	}
	changed, err := v.edit(change)
	same := asItIs("")
	switch {
	case v.Measured == nil && errors.As(err, &same):
		t.receipt = Receipt{Outcome: Withdrawn, Note: err.Error()}
	case err != nil:
		t.receipt = Receipt{Outcome: Untested, Note: err.Error()}
	default:
		t.changed = changed
		if err := v.extend(t, v.Pairs); err != nil {
			t.receipt = v.failed(err)
		}
	}
	return t
}

// narrow adds pairs until the interval is narrow enough. If that fails, the
// receipt of the pairs so far stays.
func (v *verifier) narrow(t *trial) {
	for t.wide && len(t.runs) < v.MostPairs {
		if v.extend(t, min(v.MostPairs, len(t.runs)+max(1, v.Pairs/2))) != nil {
			return
		}
	}
}

// extend brings a trial to n pairs and judges it.
func (v *verifier) extend(t *trial, n int) error {
	known := t.runs
	if t.whole != "" {
		known = v.known[t.whole]
	}
	if len(known) < n {
		more, err := v.pairsOf(t.changed, len(known), n)
		if err != nil {
			return err
		}
		known = append(known, more...)
	}
	t.runs = known[:n]
	if t.whole != "" {
		v.known[t.whole] = known
	}
	r, ended := v.gain(t.runs, t.job)
	if !ended {
		t.wide = false
		t.receipt = Receipt{Outcome: Untested, Note: fmt.Sprintf("job %s does not end in each run", t.job)}
		return nil
	}
	t.wide = r.High-r.Low > 2*v.HalfWidth && r.High >= v.least // else it is withdrawn anyway
	v.judge(&r, t.job, t.device)
	if all, ok := v.gain(t.runs, v.about); ok {
		r.ranked = all.Gain
	} else {
		r.ranked = r.Gain
	}
	if r.Outcome == Confirmed {
		r.Note = v.forAll(&t.changed, t.runs)
	}
	t.receipt = r
	return nil
}

// testAll tests the findings in their order: first each with the least number of
// pairs, so that a short budget reaches many, then those with wide intervals, and
// other changes where the first gains nothing.
func (v *verifier) testAll(findings []Finding) {
	trials := map[string]*trial{}
	of := make([]*trial, len(findings))
	for i := range findings {
		f := &findings[i]
		key := f.Job
		if f.Change != nil {
			key += "\x00" + f.Change.Text
		}
		switch t := trials[key]; {
		case t != nil && f.Change != nil:
			of[i] = t
		case len(trials) >= v.Most:
			of[i] = &trial{receipt: Receipt{Outcome: Untested, Note: "only the first " + counted(v.Most) + " tested"}}
		default:
			of[i] = v.begin(f.Change, f.Job, f.Device != "")
			trials[key] = of[i]
		}
	}
	for i, t := range of {
		v.tell("changes of rules", i+1, len(of))
		v.narrow(t)
		f := &findings[i]
		f.Receipt = t.receipt
		for _, other := range f.others {
			if f.Receipt.Outcome != Withdrawn {
				break
			}
			if r := v.test(other, f.Job, f.Device != ""); r.Outcome == Confirmed {
				f.Change, f.Receipt = other, r
			}
		}
	}
}

// pairsOf runs a changed question with the seeds from first up to n, and the base
// where it has not been run with them.
func (v *verifier) pairsOf(changed model.WhatIf, first, n int) ([]map[string]time.Duration, error) {
	if len(v.bases) < n {
		more, err := v.runs(v.base, len(v.bases), n)
		if err != nil {
			return nil, err
		}
		v.bases = append(v.bases, more...)
	}
	return v.runs(changed, first, n)
}

// gain returns the gain of a job in runs of a changed question, with the interval
// of the mean. It reports whether the job ends in all of them.
func (v *verifier) gain(runs []map[string]time.Duration, job string) (Receipt, bool) {
	var gains []float64
	for seed, times := range runs {
		before, known := v.bases[seed][job]
		after, still := times[job]
		if !known || !still || before <= 0 {
			return Receipt{}, false
		}
		gains = append(gains, 1-after.Seconds()/before.Seconds())
	}
	return interval(gains), true
}

// forAll says what a change does to all jobs of a run with several.
func (v *verifier) forAll(changed *model.WhatIf, runs []map[string]time.Duration) string {
	e := EffectOf([2][]map[string]time.Duration{v.bases[:len(runs)], runs}, [2]*model.WhatIf{&v.base, changed})
	if !e.OfSeveral() {
		return ""
	}
	return "all jobs: " + e.String()
}

// Effect is what a change does to the jobs of a run: the changes of the mean time and
// of that of the slow twentieth, the jobs that gain and lose, and those late.
type Effect struct {
	Jobs           int
	Mean, P95      float64 // as fractions; below 0: faster
	Faster, Slower int     // by more than 1 %
	Worst          string  // job that loses most
	WorstBy        time.Duration
	Deadlines      [2]int // before and after
	Late           [2]int // of them, also those of jobs that do not end in each run
}

// TimesOf returns the times of the jobs that a run ends without a failure, by ID.
func TimesOf(p *model.Prediction) map[string]time.Duration {
	times := map[string]time.Duration{}
	for i := range p.Jobs {
		if j := &p.Jobs[i]; j.Finished() && j.State != workload.Failed {
			times[j.ID] = j.Finish - j.Submit
		}
	}
	return times
}

// EffectOf compares the times of jobs by ID, in pairs of runs before and after a change.
// "" and "*" are no jobs. The questions state the deadlines.
func EffectOf(times [2][]map[string]time.Duration, questions [2]*model.WhatIf) Effect {
	const notable = 0.01
	before, after := times[0], times[1]
	var e Effect
	for i, q := range questions {
		e.Deadlines[i], e.Late[i] = lateJobs(q, times[i])
	}
	var was, is []float64
	for _, id := range sortedKeys(before[0]) {
		if id == "" || id == meanJob {
			continue
		}
		var sums [2]float64
		ended := 0
		for i := range before {
			b, known := before[i][id]
			if a, still := after[i][id]; known && still {
				sums, ended = [2]float64{sums[0] + b.Seconds(), sums[1] + a.Seconds()}, ended+1
			}
		}
		if ended == 0 || sums[0] == 0 {
			continue
		}
		b, a := sums[0]/float64(ended), sums[1]/float64(ended)
		e.Jobs++
		was, is = append(was, b), append(is, a)
		switch {
		case a < (1-notable)*b:
			e.Faster++
		case a > (1+notable)*b:
			e.Slower++
			if by := workload.Seconds(a - b); by > e.WorstBy {
				e.Worst, e.WorstBy = id, by
			}
		}
	}
	if e.Jobs > 0 {
		e.Mean, e.P95 = mean(is)/mean(was)-1, quantile(is, 0.95)/quantile(was, 0.95)-1
	}
	return e
}

// lateJobs counts the jobs of a question with a deadline, and those whose mean time over
// runs exceeds it.
func lateJobs(q *model.WhatIf, runs []map[string]time.Duration) (deadlines, late int) {
	for i := range q.Jobs {
		j := &q.Jobs[i]
		if j.Deadline == 0 {
			continue
		}
		sum := 0.0
		for _, times := range runs {
			if t, ended := times[j.ID]; ended {
				sum += t.Seconds()
			} else {
				sum = math.Inf(1)
			}
		}
		deadlines++
		if sum > float64(len(runs))*(j.Deadline-j.Submit).Seconds() {
			late++
		}
	}
	return deadlines, late
}

// OfSeveral reports whether the effect says more than how the time of one job changes.
func (e *Effect) OfSeveral() bool { return e.Jobs > 1 || max(e.Deadlines[0], e.Deadlines[1]) > 0 }

func (e Effect) String() string {
	var parts []string
	if e.Jobs > 0 {
		parts = append(parts, fmt.Sprintf("mean %+.1f %%, p95 %+.1f %%, %d faster, %d slower", 100*e.Mean, 100*e.P95, e.Faster, e.Slower))
	}
	if e.Slower > 0 {
		parts = append(parts, fmt.Sprintf("worst %s by %s", e.Worst, seconds(e.WorstBy)))
	}
	if d := e.Deadlines; max(d[0], d[1]) > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d deadlines missed in place of %d of %d", e.Late[1], d[1], e.Late[0], d[0]))
	}
	return strings.Join(parts, ", ")
}

func (v *verifier) failed(err error) Receipt {
	if v.ctx.Err() != nil || errors.Is(err, errBudget) {
		return Receipt{Outcome: Untested, Note: budgetUsed}
	}
	return Receipt{Outcome: Untested, Note: err.Error()}
}

// interval returns the mean of the gains with Student's 95 % interval.
func interval(gains []float64) Receipt {
	m, half := fit.StudentInterval(gains)
	if len(gains) < 2 {
		half = math.Inf(1)
	}
	return Receipt{Gain: m, Low: m - half, High: m + half, Pairs: len(gains)}
}

// measured is the recorded time of a job, or of the mean one if all are recorded; 0: it
// is unknown.
func (v *verifier) measured(job string) (sum time.Duration) {
	if job != meanJob || len(v.Measured) == 0 || len(v.Measured) < len(v.base.Jobs) {
		return v.Measured[job]
	}
	for _, t := range slices.Sorted(maps.Values(v.Measured)) {
		sum += t
	}
	return sum / time.Duration(len(v.Measured))
}

// judge confirms a change whose interval lies above 0 and whose mean is large
// enough. The error of a calibrated base widens the interval.
func (v *verifier) judge(r *Receipt, job string, device bool) {
	r.Outcome = Withdrawn
	if measured := v.measured(job); measured > 0 {
		sum := 0.0
		for _, times := range v.bases {
			sum += times[job].Seconds()
		}
		off := math.Abs(sum/float64(len(v.bases))/measured.Seconds() - 1)
		r.onRecorded(off)
		r.Low, r.High = r.Low-float64(off*math.Abs(r.Gain)), r.High+float64(off*math.Abs(r.Gain))
		if device && off > maxBaseError {
			r.Note = fmt.Sprintf("the simulation is off by %.0f %% from what was recorded", 100*off)
			return
		}
	}
	switch {
	case r.Low <= 0:
		r.Note = fmt.Sprintf("gains %.1f %% ± %.1f: leave it", 100*r.Gain, 50*(r.High-r.Low))
	case r.Gain < v.least:
		r.Note = fmt.Sprintf("gains only %.1f %% ± %.1f: leave it", 100*r.Gain, 50*(r.High-r.Low))
	default:
		r.Outcome = Confirmed
	}
}
