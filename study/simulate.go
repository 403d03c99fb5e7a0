package study

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study/simulated"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// Progress is called with the number of tasks that have ended since the last
// call.
type Progress func(ended int)

// taskCounter reports tasks that ended, several at a time.
type taskCounter struct {
	progress Progress
	ended    int
}

func (c *taskCounter) Attempt(a *workload.Attempt) {
	const several = 16
	if a.Kind > workload.Reduce || a.State != workload.Succeeded {
		return
	}
	if c.ended++; c.ended == several {
		c.progress(several)
		c.ended = 0
	}
}

// Simulate simulates every run and replication, several at a time. Attempts are
// written into the folder as tables in the scenario's format. A nil folder
// writes none. The runs hold the predictions of all replications and the
// statistics of the first.
func (s *Study) Simulate(to *resultdir.Dir, progress Progress) ([]*results.Run, error) {
	n := s.Options.NumReplications()
	runs := make([]*results.Run, len(s.Scenario.Runs))
	tables := make([][]attemptTable, len(runs))
	for r := range runs {
		runs[r] = s.newRun(r)
		runs[r].Title, runs[r].NoPlots = s.title(r), s.Scenario.NoPlots
		for i := range n {
			t, err := s.newTable(to, r, i)
			if err != nil {
				return nil, Internal(err)
			}
			tables[r] = append(tables[r], t)
		}
	}
	var group errgroup.Group
	group.SetLimit(s.Options.NumWorkers())
	s.simulateAll(&group, 0, runs, tables, progress)
	err := group.Wait()
	for r := range tables {
		for i := range tables[r] {
			err = errors.Join(err, Internal(tables[r][i].close()))
		}
	}
	if err != nil {
		return nil, err
	}
	if s.Options.ForkAt != "" {
		end := time.Duration(0)
		for _, j := range runs[0].Predictions[0].Jobs {
			end = max(end, j.Finish)
		}
		if changes := s.Scenario.Runs[len(runs)-1].Question.Changes; len(changes) > 0 && changes[0].At > end {
			return nil, fmt.Errorf("--fork-at %s: want a time before the end of the run, %s", s.Options.ForkAt, text.Duration(int64(end)))
		}
	}
	for r, run := range runs {
		s.spread(run, r)
		p := &run.Predictions[0]
		p.Assumed = append(s.Scenario.Assumed[:len(s.Scenario.Assumed):len(s.Scenario.Assumed)], p.Assumed...)
		p.Warnings = append(s.Scenario.Warnings[:len(s.Scenario.Warnings):len(s.Scenario.Warnings)], p.Warnings...)
	}
	return runs, nil
}

// simulateAll has a group simulate runs of the scenario, from the first on: all
// replications and calibrations, and what shows how far a what-if on a record is off.
func (s *Study) simulateAll(group *errgroup.Group, first int, runs []*results.Run, tables [][]attemptTable, progress Progress) {
	for k, run := range runs {
		for i := range tables[k] {
			group.Go(func() error { return s.simulateOne(run, first+k, i, &tables[k][i], progress) })
		}
		run.Calibrations = make([]model.Prediction, len(s.alternatives))
		for i := range run.Calibrations {
			group.Go(func() (err error) {
				run.Calibrations[i], err = s.simulateAlternative(&s.alternatives[i].Runs[first+k].Question)
				return err
			})
		}
		run.Chances = make([]model.Prediction, min(len(s.redrawn), s.chances()))
		for i := range run.Chances {
			group.Go(func() error {
				again, err := s.redrawn[i]()
				if err == nil {
					run.Chances[i], err = s.simulateAlternative(&again.Runs[first+k].Question)
				}
				return err
			})
		}
	}
	group.Go(func() error { return s.replayRecord(runs) })
	s.replayChances(group, first, runs)
}

// Repeat simulates a run with all its replications and calibrations, one after the
// other. No attempts are written.
func (s *Study) Repeat(r int) (*results.Run, error) {
	run := s.newRun(r)
	run.Title = run.Question.Name
	var group errgroup.Group
	group.SetLimit(1)
	s.simulateAll(&group, r, []*results.Run{run}, [][]attemptTable{make([]attemptTable, len(run.Predictions))}, nil)
	if err := group.Wait(); err != nil {
		return nil, err
	}
	s.spread(run, r)
	return run, nil
}

// Once simulates the first replication of a run, without pictures.
func (s *Study) Once(r int) (*results.Run, error) {
	run := s.newRun(r)
	run.NoPlots = true
	return run, s.simulateOne(run, r, 0, &attemptTable{}, nil)
}

// Simulate answers one question. No attempts are written.
func Simulate(q *model.WhatIf) (model.Prediction, *results.Stats, error) {
	return (&attemptTable{}).fill(q, false, nil)
}

// Limits simulates a question and divides the time of the jobs that about accepts,
// nil: of all. Above 100,000 attempts, or if the jobs never end, it returns nothing.
func Limits(q *model.WhatIf, about func(id string) bool) ([]results.Limit, error) {
	t := attemptTable{ledger: new(ledgerRecorder)}
	p, _, err := t.fill(q, false, nil)
	if err != nil || t.ledger.full {
		if sim.Endless(err) {
			err = nil
		}
		return nil, err
	}
	return t.ledger.limits(q, &p, about)
}

// newRun returns a run that is not simulated yet.
func (s *Study) newRun(r int) *results.Run {
	asked, n := &s.Scenario.Runs[r], s.Options.NumReplications()
	return &results.Run{
		Question: &asked.Question, Predictions: make([]model.Prediction, n), Replicated: make([]points.Replication, n),
		Recorded: asked.Recorded, Changed: asked.Changed, Stated: asked.Stated, Rescaled: asked.Rescaled, Still: asked.Still,
		Labels: s.Labels,
	}
}

// simulateOne simulates one replication of a run.
func (s *Study) simulateOne(run *results.Run, r, replication int, t *attemptTable, progress Progress) error {
	scenario, err := s.Replication(replication)
	if err != nil {
		return err
	}
	q := &scenario.Runs[r].Question
	if replication == 0 && q.Tasks() <= mostForLedger && q.YARN == nil {
		t.ledger = new(ledgerRecorder)
	}
	p, stats, err := t.fill(q, replication == 0 && !run.NoPlots, progress)
	if err != nil {
		return fmt.Errorf("%s: %w", run.Question.Name, err)
	}
	if t.ledger != nil && !t.ledger.full {
		if run.Limits, err = t.ledger.limits(q, &p, nil); err != nil {
			return err
		}
	}
	if replication == 0 && q.YARN != nil && q.Tasks() <= mostForLedger {
		run.Limits = t.limits
	}
	run.Predictions[replication] = p
	run.Replicated[replication] = points.Replication{Seed: q.Seed, Values: s.Options.Metrics.Measure(q, &p, stats.Busy(p.Mean))}
	if replication == 0 {
		run.Stats = stats
	}
	return nil
}

// asks reports whether a run asks a history about what it does not record.
func asks(r *results.Run) bool {
	return len(r.Changed)+len(r.Stated) > 0 && len(r.Recorded) > 0 && r.Question.Fidelity == model.Replay && r.Question.YARN == nil
}

// What a run owes to chance is seen in so many others, of at most so many tasks in all.
const (
	chances            = 8
	mostTasksOfChances = 500_000
)

func (s *Study) chances() int {
	return min(chances, mostTasksOfChances/max(1, s.Tasks()/s.Options.NumReplications()))
}

// replayChances has a group simulate runs of the scenario, from the first on, that use
// recorded times of tasks again, with other places of inputs and phases of heartbeats, and
// with the times of equal tasks drawn from each other.
func (s *Study) replayChances(group *errgroup.Group, first int, runs []*results.Run) {
	moved := func(r *results.Run) bool { return asks(r) && r.Rescaled }
	if !slices.ContainsFunc(runs, moved) || s.Options.ForkAt != "" {
		return
	}
	f := s.File.Redrawn(s.Options.Seed)
	n := s.chances()
	for _, run := range runs {
		if moved(run) {
			run.Chances = make([]model.Prediction, n)
		}
	}
	for i := range n {
		group.Go(func() error {
			scenario, err := f.Scenario(s.Options.SeedOf(i + 1))
			if err != nil {
				return err
			}
			for k, run := range runs {
				if !moved(run) {
					continue
				}
				q := &scenario.Runs[first+k].Question
				q.Cluster.Phases = nil // recorded ones are those of one run
				if run.Chances[i], err = Predict(sim.Simulator{}, q); err != nil {
					return fmt.Errorf("%s: %w", run.Question.Name, err)
				}
			}
			return nil
		})
	}
}

// replayRecord simulates the record of a history that its runs ask about otherwise.
func (s *Study) replayRecord(runs []*results.Run) error {
	first := slices.IndexFunc(runs, asks)
	if first < 0 || len(s.Scenario.Inputs) == 0 {
		return nil
	}
	changed, stated := runs[first].Changed, runs[first].Stated
	record, err := s.asRecorded(changed, len(changed) > 0, runs[first].Still)
	if err != nil {
		return err
	}
	// Who states what no record has may know better, or ask what would be otherwise: what
	// meets the record better is its replay.
	if len(stated) > 0 {
		without, err := s.asRecorded(slices.Concat(changed, stated), len(changed) > 0, runs[first].Still)
		if err != nil {
			return err
		}
		if record == nil || without != nil && meanError(without.Run) < meanError(record.Run) {
			record = without
		}
	}
	for _, run := range runs {
		if asks(run) {
			run.Replay = record
		}
	}
	return nil
}

// asRecorded replays a history without some settings; nil if it runs only with them. A
// question that leaves standstills out is set against the record without them.
func (s *Study) asRecorded(without []string, anew bool, still string) (*results.ReplayedRecord, error) {
	f, err := s.File.AsRecorded(without, anew)
	if err != nil {
		return nil, err
	}
	scenario, err := f.Scenario(s.Options.Seed)
	if err != nil || len(scenario.Runs[0].Changed) > 0 {
		return nil, nil
	}
	if found, err := s.Options.findScheduler(s.File, without, f, scenario); err != nil {
		return nil, err
	} else if found {
		if scenario, err = f.Scenario(s.Options.Seed); err != nil {
			return nil, err
		}
	}
	once := func() (*results.Run, error) {
		return (&Study{Scenario: scenario, File: f, Options: Options{Seed: s.Options.Seed}}).Once(0)
	}
	replayed, err := once()
	if err != nil {
		return nil, err
	}
	p := &replayed.Predictions[0]
	record := &results.ReplayedRecord{Makespan: p.Mean, Missed: 1, Run: replayed}
	if recorded := workload.RecordedMakespan(scenario.Runs[0].Recorded); recorded > 0 && p.Mean > 0 {
		record.Missed = recorded.Seconds() / p.Mean.Seconds()
	}
	if record.Base = replayed; replayed.Still == still {
		return record, nil
	}
	if f, err = f.With("workload.still_hosts=" + workload.TOMLText("left out")); err != nil {
		return nil, err
	}
	if scenario, err = f.Scenario(s.Options.Seed); err == nil {
		record.Base, err = once()
	}
	return record, err
}

// meanError returns the mean relative error of the recorded jobs in a replay: infinite if
// no time of them is known.
func meanError(run *results.Run) (mean float64) {
	rows := run.Replayed()
	if len(rows) == 0 {
		return math.Inf(1)
	}
	for _, row := range rows {
		mean += math.Abs(float64(row.Difference)) / float64(len(rows))
	}
	return mean
}

// simulateAlternative simulates a run by another calibration.
func (s *Study) simulateAlternative(q *model.WhatIf) (model.Prediction, error) {
	p, err := Predict(sim.Simulator{}, q)
	if err != nil {
		return p, fmt.Errorf("%s: %w", q.Name, err)
	}
	return corrected(p, q), nil
}

// spread enters what the calibrations leave open into a run.
func (s *Study) spread(run *results.Run, r int) {
	if len(run.Calibrations) > 0 {
		own := corrected(run.Predictions[0], &s.Scenario.Runs[r].Question)
		run.Calibrations = slices.Insert(run.Calibrations, 0, own)
	}
	run.Spread()
}

// corrected returns a prediction with each job times what the calibration misses of the
// recorded one, which it misses of the answer too. Jobs of the record itself then end when
// the recorded ones did. Times of submission are not off, except of jobs that wait for
// others, nor is what follows the last job.
func corrected(p model.Prediction, q *model.WhatIf) model.Prediction {
	of := q.Misfits()
	p.Jobs = slices.Clone(p.Jobs)
	order := make([]*model.JobOutcome, len(p.Jobs))
	for k := range p.Jobs {
		order[k] = &p.Jobs[k]
	}
	slices.SortStableFunc(order, func(a, b *model.JobOutcome) int { return cmp.Compare(a.Submit, b.Submit) })
	simulated, moved := map[string]time.Duration{}, map[string]time.Duration{} // ends
	end := func(ends map[string]time.Duration, of []string) (last time.Duration) {
		for _, id := range of {
			last = max(last, ends[id])
		}
		return last
	}
	last, ended := time.Duration(0), time.Duration(0)
	for _, j := range order {
		if !j.Finished() {
			continue
		}
		took := workload.Seconds((j.Finish - j.Submit).Seconds() * of[j.ID])
		simulated[j.ID] = j.Finish
		last = max(last, j.Finish)
		j.Submit += end(moved, j.After) - end(simulated, j.After)
		j.Finish = j.Submit + took
		moved[j.ID] = j.Finish
		ended = max(ended, j.Finish)
	}
	p.Mean += ended - last
	return p
}

// Write writes the tables, pictures and summary of the runs.
func (s *Study) Write(d *resultdir.Dir, runs []*results.Run) error {
	for r, run := range runs {
		if err := run.Write(s.target(d, r)); err != nil {
			return err
		}
	}
	c := s.Comparison(runs)
	if len(runs) == 1 {
		return c.Points.Write(d)
	}
	return c.Write(d)
}

// Comparison returns the runs as a comparison.
func (s *Study) Comparison(runs []*results.Run) *results.Comparison {
	all := make([]Opened, len(runs))
	for r := range all {
		all[r] = Opened{Study: s, Run: r}
	}
	return &results.Comparison{Title: s.Scenario.Title, Runs: runs, Points: PointsOf(all, runs)}
}

// target returns the place for the files of one run.
func (s *Study) target(d *resultdir.Dir, run int) resultdir.Target {
	if len(s.Scenario.Runs) == 1 {
		return d
	}
	return d.Folder(s.Scenario.Runs[run].Folder)
}

func (s *Study) title(run int) string {
	if name := s.Scenario.Runs[run].Name; name != "" {
		return name
	}
	return s.Scenario.Title
}

// attemptTable is the tables of one run, of its attempts in the format the scenario
// chooses. The zero value writes nothing.
type attemptTable struct {
	csv    *results.AttemptTable
	offers *results.OfferTable
	spans  *results.SpanTable
	open   []io.Closer     // what the tables write into and the tables, closed from the last
	limits []results.Limit // of a run on YARN
	ledger *ledgerRecorder // nil: the summary does not need the limits of the run
}

func (s *Study) newTable(d *resultdir.Dir, run, replication int) (t attemptTable, err error) {
	if d == nil {
		return t, nil
	}
	to, q := s.target(d, run), &s.Scenario.Runs[run].Question
	create := func(name string) io.Writer {
		f, failed := to.File(name)
		if err = errors.Join(err, failed); failed == nil {
			t.open = append(t.open, f)
		}
		return f
	}
	name := "attempts"
	if replication > 0 {
		name = fmt.Sprintf("attempts-%02d", replication+1)
	}
	switch s.Scenario.Attempts {
	case "csv":
		t.csv = results.NewAttemptTable(create(name+".csv"), simulated.Counts(q))
	case "csv.gz":
		packed := trace.NewGzip(create(name + ".csv.gz"))
		t.csv, t.open = results.NewAttemptTable(packed, simulated.Counts(q)), append(t.open, packed)
	}
	if t.csv != nil {
		t.open = append(t.open, t.csv)
	}
	if s.Options.Trace && replication == 0 {
		t.offers = results.NewOfferTable(create(results.OffersName))
		t.open = append(t.open, t.offers)
		if q.Fidelity == model.Device {
			t.spans = results.NewSpanTable(create(results.SpansName))
			t.open = append(t.open, t.spans)
		}
	}
	return t, err
}

// Predict simulates a question. A defect of the simulator is an internal error, in
// every goroutine.
func Predict(simulator sim.Simulator, q *model.WhatIf) (p model.Prediction, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Internal(fmt.Errorf("internal error: %v", v))
		}
	}()
	return simulator.Predict(*q)
}

// fill simulates a question and writes the table. Only statistics that will be
// drawn keep what pictures need.
func (t *attemptTable) fill(q *model.WhatIf, drawn bool, progress Progress) (p model.Prediction, stats *results.Stats, err error) {
	stats = results.NewStats(q, drawn)
	recorders := results.Recorders{stats}
	if t.ledger != nil {
		recorders = append(recorders, t.ledger)
	}
	if t.csv != nil {
		recorders = append(recorders, t.csv)
	}
	if progress != nil {
		recorders = append(recorders, &taskCounter{progress: progress})
	}
	simulator := sim.Simulator{Recorder: recorders}
	if t.offers != nil {
		simulator.Tracer = t.offers
	}
	if t.ledger != nil {
		t.ledger.traced, simulator.Tracer = simulator.Tracer, t.ledger
	}
	if t.spans != nil {
		simulator.Spans = t.spans
	}
	var done sim.OnYARN
	simulator.OnYARN = &done
	if p, err = Predict(simulator, q); err != nil {
		return p, stats, err
	}
	if q.YARN != nil {
		stats.AddYARN(OnYARN(q, &done), p.Mean)
		t.limits = limitsOf(done.Limits)
	}
	return p, stats, Internal(stats.Check(&p))
}

func (t *attemptTable) close() (err error) {
	for _, c := range slices.Backward(t.open) {
		err = errors.Join(err, c.Close())
	}
	return err
}

// mostForLedger is the largest number of attempts that are kept to find out what
// limited a run.
const mostForLedger = 100_000

// ledgerRecorder keeps the attempts and offers of a run, unless there are too many.
type ledgerRecorder struct {
	simulated.Attempts
	simulated.Offers
	full   bool
	traced model.Tracer // also receives the offers; may be nil
}

func (r *ledgerRecorder) Attempt(a *workload.Attempt) {
	if r.full = r.full || len(r.Attempts) == mostForLedger; r.full {
		r.Attempts, r.Offers = nil, nil
		return
	}
	r.Attempts.Attempt(a)
}

func (r *ledgerRecorder) Offer(o *model.Offer) {
	if r.traced != nil {
		r.traced.Offer(o)
	}
	if !r.full {
		r.Offers.Offer(o)
	}
}

// limits returns what limited the jobs that about accepts, nil: all.
func (r *ledgerRecorder) limits(q *model.WhatIf, p *model.Prediction, about func(id string) bool) ([]results.Limit, error) {
	run := simulated.Run{Question: q, Prediction: *p, Attempts: r.Attempts}
	list, err := diagnose.Limits(simulated.Jobs(run.History()), q, r.Offers, about)
	if err != nil {
		return nil, Internal(err)
	}
	var limits []results.Limit
	for _, l := range list {
		limits = append(limits, results.Limit{What: l.What, Time: int64(l.Time)})
	}
	return limits, nil
}
