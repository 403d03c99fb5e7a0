// Package sweep simulates the points of a study: all combinations of the values of its
// factors, each with several seeds, on one machine or many.
//
//	Open -> Sweep.Run -> Journal            one line for each finished simulation
//	Sweep.Plan -> Work -> Merge             the same in shards (shard), on Slurm or Hadoop (submit)
//	Sweep.Points -> results/points          tables, intervals and pictures
package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/spool"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
)

// Options select how a study is simulated. A field that is nil, 0 or empty
// takes the value of the study file, or else the default of Options.
type Options struct {
	Seed         *uint64  `json:"seed,omitempty"`
	Replications int      `json:"replications,omitempty"`
	Set          []string `json:"set,omitempty"`
	Over         []string `json:"over,omitempty"`     // KEY=FROM:TO:STEP or KEY=VALUE,VALUE
	Metrics      []string `json:"metrics,omitempty"`  // of the summary, in place of those of the study
	Baseline     []string `json:"baseline,omitempty"` // KEY=VALUE, in place of that of the study
	Fidelity     string   `json:"fidelity,omitempty"`
	Workers      int      `json:"-"`
}

// arguments repeat the sweep so that it gives the same bytes.
func (o *Options) arguments(name string) []string {
	args := []string{"sweep", name}
	if o.Seed != nil {
		args = append(args, fmt.Sprintf("--seed=%d", *o.Seed))
	}
	if o.Replications > 0 {
		args = append(args, fmt.Sprintf("--replications=%d", o.Replications))
	}
	if o.Fidelity != "" {
		args = append(args, "--fidelity="+o.Fidelity)
	}
	for _, s := range o.Set {
		args = append(args, "--set="+s)
	}
	for _, s := range o.Over {
		args = append(args, "--over="+s)
	}
	for _, m := range o.Metrics {
		args = append(args, "--metric="+m)
	}
	for _, b := range o.Baseline {
		args = append(args, "--baseline="+b)
	}
	return args
}

// Sweep is a study: the points of a scenario whose keys vary, each simulated
// with several seeds.
type Sweep struct {
	StudyName string
	Asked     Options
	Base      *study.Study
	File      *scenarios.StudyFile
	inputs    []resultdir.FileSum
	Factors   []Factor
	wheels    []wheel
	Step      string // of a search
	Ended     int    // simulations
	NumPoints int    // combinations of the factors
	Metrics   points.Metrics
	Goals     []model.Goal
	Fresh     bool                            // the last factor is the seeds: those of the search, or fresh ones
	Enough    func([]points.Replication) bool // whether a point needs no more replications; nil: always

	known   *journalHead   // its identity; nil until asked for
	tried   int            // questions that were made before the sweep
	assumed map[string]int // those of them that assume something
	assumes []string       // in order

	lock     sync.Mutex
	done     *spool.File    // finished simulations by point and replication
	warnings map[string]int // points by warning
}

// Open opens a study file, or a scenario whose factors are its [vary] and
// those of o.Over. Each value of each factor is tried once.
func Open(name string, o Options) (*Sweep, error) {
	s, err := OpenStudy(name, o)
	if err != nil {
		return nil, err
	}
	if s.File.Size != nil {
		return nil, fmt.Errorf("%s: asks for the size of a cluster: want slotwave size %s, or a study without [[goal]]", name, name)
	}
	if s.Factors, err = s.readFactors(); err != nil {
		return nil, err
	}
	if s.File.Precision > 0 {
		s.Enough = func(runs []points.Replication) bool { return s.Metrics.RelativeHalf(runs) <= s.File.Precision }
	}
	return s, s.MakePoints()
}

// OpenStudy reads a study and opens its scenario.
func OpenStudy(name string, o Options) (*Sweep, error) {
	file, err := scenarios.ReadStudy(name, func(metrics []string) error {
		_, err := points.ReadMetrics(metrics)
		return err
	})
	if err != nil {
		return nil, err
	}
	if file == nil {
		file = &scenarios.StudyFile{Scenario: name, Seed: 1, Replications: 1, MaxReplications: 1}
	}
	if o.Seed != nil {
		file.Seed = *o.Seed
	}
	if o.Replications > 0 {
		file.Replications = o.Replications
		file.MaxReplications = max(file.MaxReplications, o.Replications)
	}
	if len(o.Metrics) > 0 {
		file.Metrics = o.Metrics
	}
	if len(o.Baseline) > 0 {
		file.Baseline = nil
	}
	for _, text := range o.Baseline {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("--baseline %s: want KEY=VALUE", text)
		}
		file.Baseline = append(file.Baseline, scenarios.Level{Key: key, Text: value})
	}
	s := &Sweep{StudyName: name, Asked: o, File: file, assumed: map[string]int{}, warnings: map[string]int{}}
	if s.Metrics, err = points.ReadMetrics(file.Metrics); err != nil {
		return nil, fmt.Errorf("--metric %w", err)
	}
	s.Base, err = study.Open(file.Scenario, study.Options{
		Seed: file.Seed, Replications: file.Replications, Workers: o.Workers,
		Set: append(slices.Clone(file.Set), o.Set...), Fidelity: o.Fidelity,
	})
	return s, err
}

// MakePoints combines the factors.
func (s *Sweep) MakePoints() (err error) {
	if s.wheels, s.NumPoints, err = combine(s.Factors); err != nil {
		return err
	}
	s.done = spool.New(s.NumPoints, s.File.Replications, keptFigures+len(s.Metrics.Names())+len(s.Goals))
	return s.tryLevels()
}

// seed returns the seed of a simulation.
func (s *Sweep) seed(t task) uint64 {
	replication := t.replication
	if levels := s.levels(t.point); s.Fresh && levels[len(levels)-1] > 0 {
		replication += s.File.MaxReplications
	}
	return s.Base.Options.SeedOf(replication)
}

// readFactors are those of the file and the command line, and the keys that the
// scenario varies.
func (s *Sweep) readFactors() ([]Factor, error) {
	all := varied(s.Base.Scenario.Runs)
	add := func(f Factor) { // replaces one of the same key
		if i := slices.IndexFunc(all, func(g Factor) bool { return g.Key == f.Key }); i >= 0 {
			all[i] = f
			return
		}
		all = append(all, f)
	}
	tables := s.Base.Scenario.Tables
	for _, given := range s.File.Factors {
		f := Factor{Key: given.Key, zip: given.Zip, where: given.Where, Count: given.Count}
		if given.Range {
			f.Tried = 2
		}
		f.Level = func(k int) FactorLevel {
			level := given.Level(k)
			return FactorLevel{level.Text, study.KeySettings(level.Key, level.TOML, tables)}
		}
		if slices.ContainsFunc(all, func(g Factor) bool { return g.Key == f.Key && g.where != "" }) {
			return nil, fmt.Errorf("%sfactor: key: got %s twice: want one factor", f.where, f.Key)
		}
		add(f)
	}
	for _, text := range s.Asked.Over {
		o, err := study.ParseOver([]string{text})
		if err != nil {
			return nil, err
		}
		var levels []FactorLevel
		for _, v := range o.Values {
			levels = append(levels, FactorLevel{v.Text, study.KeySettings(o.Key, v.Text, tables)})
		}
		add(Listed(o.Key, "--over "+o.Key+": ", levels))
	}
	return all, nil
}

// tryLevels makes a question with each value of each factor, or with the ends of a
// range, the others at their first, and collects the files that the questions depend on.
func (s *Sweep) tryLevels() error {
	var all scenarios.Scenario
	if s.File.Input.Data != nil {
		all.AddInputs([]scenarios.Input{s.File.Input})
	}
	all.AddInputs(s.Base.Scenario.Inputs)
	seen := make([]map[int]bool, len(s.Factors))
	for f := range seen {
		seen[f] = map[int]bool{}
	}
	for i := range s.NumPoints {
		levels, fresh, where := s.levels(i), false, ""
		for f, level := range levels {
			if !seen[f][level] && s.Factors[f].tries(level) {
				seen[f][level], fresh, where = true, true, s.Factors[f].where
			}
		}
		if !fresh && i > 0 {
			continue
		}
		scenario, err := s.scenario(i, 0)
		if err != nil {
			return fmt.Errorf("%s%w", where, err)
		}
		all.AddInputs(scenario.Inputs)
		s.tried++
		for _, text := range scenario.Assumed {
			if s.assumed[text]++; s.assumed[text] == 1 {
				s.assumes = append(s.assumes, text)
			}
		}
		for _, text := range scenario.Warnings {
			s.warnings[text] = 0
		}
	}
	var err error
	if s.inputs, err = study.Sums(all.Inputs); err != nil {
		return err
	}
	return s.readBaseline()
}

// Settings are what a point lays over the scenario.
func (s *Sweep) Settings(point int) (all []string) {
	for f, level := range s.levels(point) {
		all = append(all, s.Factors[f].Level(level).Set...)
	}
	return all
}

// pointName names a point for people.
func (s *Sweep) pointName(point int) string {
	var parts []string
	for f, level := range s.levels(point) {
		parts = append(parts, s.Factors[f].Key+"="+s.Factors[f].Level(level).Text)
	}
	return strings.Join(parts, " ")
}

// scenario makes the question of one simulation.
func (s *Sweep) scenario(point, replication int) (*scenarios.Scenario, error) {
	f, err := s.Base.File.With(s.Settings(point)...)
	if err != nil {
		return nil, err
	}
	scenario, err := f.Scenario(s.seed(task{point, replication}))
	if err == nil && len(scenario.Runs) != 1 {
		err = fmt.Errorf("%s: got %d runs: want the keys of [vary] as factors", s.pointName(point), len(scenario.Runs))
	}
	return scenario, err
}

// simulate answers one question.
func (s *Sweep) simulate(point, replication int) (points.Replication, error) {
	scenario, err := s.scenario(point, replication)
	if err != nil {
		return points.Replication{}, err
	}
	q := &scenario.Runs[0].Question
	p, stats, err := study.Simulate(q)
	if limit := (*sim.LimitReached)(nil); errors.As(err, &limit) && len(s.Goals) > 0 {
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
		for i := range s.Goals {
			r.Goals = append(r.Goals, s.Goals[i].Measure(q, &p))
		}
	}
	return r, nil
}

// endless is a simulation whose jobs never end, such as one whose nodes all die.
// It meets no goal.
func (s *Sweep) endless(q *model.WhatIf) points.Replication {
	r := points.Replication{Seed: q.Seed}
	for range s.Metrics.Names() {
		r.Values = append(r.Values, math.NaN())
	}
	for range s.Goals {
		r.Goals = append(r.Goals, math.NaN())
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
		left, total, err := s.left(points)
		if err != nil {
			return err
		}
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
	next     func() (task, error, bool) // of the tasks of a round
	failed   bool
	status   study.SweepStatus
	progress study.SweepProgress // may be nil
}

// round simulates what is missing at its start.
func (x *sweepRun) round(points iter.Seq[int], workers int) error {
	next, stop := iter.Pull2(x.sweep.missing(points))
	defer stop()
	x.next = next
	var group errgroup.Group
	for range workers {
		group.Go(x.work)
	}
	return group.Wait()
}

// work simulates one task after the other until none is left or one fails.
func (x *sweepRun) work() error {
	for {
		t, ok, err := x.take()
		if !ok {
			return err
		}
		began := time.Now()
		r, err := x.sweep.simulate(t.point, t.replication)
		var line []byte
		if err == nil {
			line, err = encode(finishedRow(t, r))
		}
		if err := x.end(t, r, line, time.Since(began), err); err != nil {
			return err
		}
	}
}

func (x *sweepRun) take() (t task, ok bool, err error) {
	x.sweep.lock.Lock()
	defer x.sweep.lock.Unlock()
	if x.failed {
		return t, false, nil
	}
	t, err, ok = x.next()
	return t, ok && err == nil, err
}

// end records a simulation. An error ends the work of all.
func (x *sweepRun) end(t task, r points.Replication, line []byte, took time.Duration, err error) error {
	x.sweep.lock.Lock()
	defer x.sweep.lock.Unlock()
	if err == nil {
		err = x.journal.add(line)
	}
	if err == nil {
		err = x.sweep.record(t, r, 0)
	}
	if err != nil {
		x.failed = true
		return err
	}
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

// Warnings are those of the values that were tried and of the points that were
// simulated, each with its number of simulated points.
func (s *Sweep) Warnings() []string { return study.Counted(s.warnings, "point") }

// assumptions are those of the questions that were tried, each once.
func (s *Sweep) assumptions() (list []string) {
	for _, text := range s.assumes {
		if s.assumed[text] < s.tried {
			text += " (some points)"
		}
		list = append(list, text)
	}
	return list
}

// Name names the folder of the results.
func (s *Sweep) Name() string { return s.Base.Scenario.Name }

// Title is the title of the scenario.
func (s *Sweep) Title() string { return text.Escape(s.Base.Scenario.Title) }

// Manifest describes the result of the sweep.
func (s *Sweep) Manifest(b resultdir.Build) resultdir.Manifest {
	return resultdir.Manifest{
		Build: b, Arguments: s.Asked.arguments(s.StudyName), Scenario: s.Base.Scenario.Name, Seed: s.File.Seed,
		Replications: s.File.Replications, Inputs: s.inputs, Assumptions: s.Base.Scenario.Assumed,
	}
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
	e.Encode([]any{s.File.Seed, s.Metrics.First(), s.Metrics.Names(), s.Base.Options.Set, s.Base.Options.Fidelity})
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

// number is a figure in JSON; null is NaN.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

func (n *number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = number(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}
