package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"

	"golang.org/x/sync/errgroup"
)

// simulate answers one question.
func (s *Sweep) simulate(point, replication int) (points.Replication, error) {
	scenario, err := s.scenario(point, replication)
	if err != nil {
		return points.Replication{}, err
	}
	q := &scenario.Runs[0].Question
	p, stats, err := study.Simulate(q)
	if sim.Endless(err) && len(s.Goals) > 0 {
		return s.endless(q), nil
	}
	if err != nil {
		return points.Replication{}, fmt.Errorf("point %d (%s), seed %d: %w", point+1, s.pointName(point), q.Seed, err)
	}
	if replication == 0 {
		s.lock.Lock()
		for _, w := range scenario.Warnings {
			s.warnings[w]++
		}
		s.lock.Unlock()
	}
	r := points.Replication{Seed: q.Seed, Values: s.Metrics.Measure(q, &p, stats.Busy(p.Mean))}
	if len(s.Goals) > 0 {
		r.Full = stats.Full(p.Mean)
		longer := s.errorOf(q, &p)
		for i := range s.Goals {
			value, slack := s.Goals[i].Measure(q, &p, longer)
			r.Goals, r.Slacks = append(r.Goals, value), append(r.Slacks, slack)
		}
	}
	return r, nil
}

// errorOf draws for each job of a simulation the error of a job of the replay, or
// returns what a calibration misses of its program.
func (s *Sweep) errorOf(q *model.WhatIf, p *model.Prediction) func(job int) float64 {
	if len(s.Ratios) > 0 {
		draws := q.Draws(model.DrawReplayError)
		return func(job int) float64 {
			source := draws.Stream(job, 0).Generator()
			return s.Ratios[rand.New(&source).IntN(len(s.Ratios))]
		}
	}
	if len(s.Base.Scenario.Alternatives) == 0 {
		return nil
	}
	misfits := q.Misfits()
	return func(job int) float64 { return misfits[p.Jobs[job].ID] }
}

// endless is a simulation whose jobs never end, such as one whose nodes all die.
// It meets no goal.
func (s *Sweep) endless(q *model.WhatIf) points.Replication {
	r := points.Replication{Seed: q.Seed}
	for range s.Metrics.Names() {
		r.Values = append(r.Values, math.NaN())
	}
	for range s.Goals {
		r.Goals, r.Slacks = append(r.Goals, math.NaN()), append(r.Slacks, 0)
	}
	return r
}

// Run simulates what is not in the journal, several at a time. progress may
// be nil.
func (s *Sweep) Run(j *Journal, progress study.SweepProgress) error {
	return s.RunPoints(j, s.all(), progress)
}

// RunPoints simulates what is missing of the given points, in rounds: how many replications a
// point needs is known after those before.
func (s *Sweep) RunPoints(j *Journal, points iter.Seq[int], progress study.SweepProgress) error {
	x := sweepRun{sweep: s, journal: j, progress: progress}
	for {
		left, total := s.left(points)
		x.status.Done, x.status.Total, x.status.Ended, x.status.Step = total-left, total, s.Ended, s.Step
		if progress != nil {
			progress(x.status)
		}
		if left == 0 {
			return nil
		}
		if err := x.round(points, min(s.Base.Options.NumWorkers(), left)); err != nil {
			return err
		}
	}
}

// sweepRun is the work on some simulations of a sweep. Its fields are guarded by the
// lock of the sweep.
type sweepRun struct {
	sweep    *Sweep
	journal  *Journal
	next     func() (task, bool) // of the tasks of a round
	taken    int                 // tasks of the round
	ended    map[int][]byte      // rows of tasks, by their place in the round, that wait for those before them
	written  int                 // rows of the round
	failed   bool
	status   study.SweepStatus
	progress study.SweepProgress // may be nil
}

// round simulates what is missing at its start.
func (x *sweepRun) round(points iter.Seq[int], workers int) error {
	next, stop := iter.Pull(x.sweep.missing(points))
	defer stop()
	x.next, x.taken, x.written, x.ended = next, 0, 0, map[int][]byte{}
	var group errgroup.Group
	for range workers {
		group.Go(x.work)
	}
	return group.Wait()
}

// work simulates one task after the other until none is left or one fails.
func (x *sweepRun) work() error {
	for {
		t, place, ok := x.take()
		if !ok {
			return nil
		}
		began := time.Now()
		r, err := x.sweep.simulate(t.point, t.replication)
		var line []byte
		if err == nil {
			line, err = encode(finishedRow(t, r))
		}
		if err := x.end(t, place, r, line, time.Since(began), err); err != nil {
			return err
		}
	}
}

// take returns the next task and its place in the round.
func (x *sweepRun) take() (t task, place int, ok bool) {
	x.sweep.lock.Lock()
	defer x.sweep.lock.Unlock()
	if x.failed {
		return t, 0, false
	}
	t, ok = x.next()
	x.taken++
	return t, x.taken - 1, ok
}

// end records a simulation. The journal gets rows in the order of their tasks, however
// many work at a time. An error ends the work of all.
func (x *sweepRun) end(t task, place int, r points.Replication, line []byte, took time.Duration, err error) error {
	x.sweep.lock.Lock()
	defer x.sweep.lock.Unlock()
	x.ended[place] = line
	for err == nil && x.ended[x.written] != nil {
		err = x.journal.add(x.ended[x.written])
		delete(x.ended, x.written)
		x.written++
	}
	if err != nil {
		x.failed = true
		return err
	}
	x.sweep.record(t, r)
	x.status.Done++
	x.sweep.Ended++
	x.status.Ended = x.sweep.Ended
	if x.progress != nil {
		if took > x.status.Took {
			x.status.Slowest, x.status.Took = x.sweep.pointName(t.point), took
		}
		x.progress(x.status)
	}
	return nil
}

// identity identifies what finished simulations depend on: the inputs, the points
// with their settings and seeds, and the program.
func (s *Sweep) identity(b resultdir.Build) journalHead {
	if s.known != nil {
		return *s.known
	}
	sum := sha256.New()
	e := json.NewEncoder(sum)
	e.Encode(journalSchema.String())
	e.Encode(s.inputs)
	e.Encode([]float64{float64(s.File.Replications), float64(s.File.MaxReplications), s.File.Precision})
	e.Encode([]any{s.File.Seed, s.Metrics.First(), s.Metrics.Names(), s.Base.Options.Set, s.Base.Options.Fidelity, s.Asked.Jobs})
	if s.File.Size != nil {
		e.Encode(s.File.Size)
	}
	for i := range s.NumPoints {
		e.Encode(s.Settings(i))
	}
	build := sha256.Sum256([]byte(strings.Join([]string{b.Version, b.Revision, b.Go, runtime.GOARCH}, "\n")))
	s.known = &journalHead{
		Schema: journalSchema.String(), Study: s.StudyName, Asked: s.Asked,
		Inputs: hex.EncodeToString(sum.Sum(nil)), Build: hex.EncodeToString(build[:]),
	}
	return *s.known
}
