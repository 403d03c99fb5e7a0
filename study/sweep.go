package study

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
)

// SweepOptions select how a study is simulated. A field that is nil, 0 or empty
// takes the value of the study file, or else the default of Options.
type SweepOptions struct {
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
func (o *SweepOptions) arguments(name string) []string {
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
	name    string
	asked   SweepOptions
	base    *Study
	file    *scenarios.StudyFile
	inputs  []resultdir.FileSum
	factors []factor
	points  [][]int // the level of each factor
	metrics results.Metrics
	goals   []model.Goal
	fresh   bool                      // the last factor is the seeds: those of the search, or fresh ones
	enough  func(*results.Point) bool // whether a point needs no more replications; nil: always

	lock     sync.Mutex
	done     [][]results.Replication // by point; Values is nil until it is finished
	warnings map[string]int          // points by warning
}

// OpenSweep opens a study file, or a scenario whose factors are its [vary] and
// those of o.Over. Each value of each factor is tried once.
func OpenSweep(name string, o SweepOptions) (*Sweep, error) {
	s, err := openStudy(name, o)
	if err != nil {
		return nil, err
	}
	if s.file.Size != nil {
		return nil, fmt.Errorf("%s: asks for the size of a cluster: want slotwave size %s, or a study without [[goal]]", name, name)
	}
	if s.factors, err = s.readFactors(); err != nil {
		return nil, err
	}
	if s.file.Precision > 0 {
		first := slices.Index(s.metrics.Names(), s.metrics.First())
		s.enough = func(p *results.Point) bool { return p.Half(first) <= s.file.Precision }
	}
	return s, s.makePoints()
}

// openStudy reads a study and opens its scenario.
func openStudy(name string, o SweepOptions) (*Sweep, error) {
	file, err := scenarios.ReadStudy(name, func(metrics []string) error {
		_, err := results.ReadMetrics(metrics)
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
	s := &Sweep{name: name, asked: o, file: file, warnings: map[string]int{}}
	if s.metrics, err = results.ReadMetrics(file.Metrics); err != nil {
		return nil, fmt.Errorf("--metric %w", err)
	}
	s.base, err = Open(file.Scenario, Options{
		Seed: file.Seed, Replications: file.Replications, Workers: o.Workers,
		Set: append(slices.Clone(file.Set), o.Set...), Fidelity: o.Fidelity,
	})
	return s, err
}

// makePoints combines the factors.
func (s *Sweep) makePoints() (err error) {
	if s.points, err = combine(s.factors); err != nil {
		return err
	}
	s.done = make([][]results.Replication, len(s.points))
	return s.tryLevels()
}

// seed returns the seed of a simulation.
func (s *Sweep) seed(t task) uint64 {
	replication := t.replication
	if levels := s.points[t.point]; s.fresh && levels[len(levels)-1] > 0 {
		replication += s.file.MaxReplications
	}
	return s.base.options.seedOf(replication)
}

// readFactors are those of the file and the command line, and the keys that the
// scenario varies.
func (s *Sweep) readFactors() ([]factor, error) {
	var all []factor
	add := func(f factor) { // replaces one of the same key
		if i := slices.IndexFunc(all, func(g factor) bool { return g.key == f.key }); i >= 0 {
			all[i] = f
			return
		}
		all = append(all, f)
	}
	for i := range s.base.Scenario.Runs {
		for k, level := range s.base.Scenario.Runs[i].Levels {
			if k == len(all) {
				all = append(all, factor{key: level.Key})
			}
			all[k].add(level.Text, []string{level.Key + "=" + level.TOML})
		}
	}
	tables := s.base.Scenario.Tables
	for _, given := range s.file.Factors {
		f := factor{key: given.Key, zip: given.Zip, where: given.Where}
		if given.Range {
			f.tried = 2
		}
		for _, level := range given.Levels {
			f.levels = append(f.levels, factorLevel{level.Text, settings(level.Key, level.TOML, tables)})
		}
		if slices.ContainsFunc(all, func(g factor) bool { return g.key == f.key && g.where != "" }) {
			return nil, fmt.Errorf("%sfactor: key: got %s twice: want one factor", f.where, f.key)
		}
		add(f)
	}
	for _, text := range s.asked.Over {
		o, err := parseOver([]string{text})
		if err != nil {
			return nil, err
		}
		f := factor{key: o.key, where: "--over " + o.key + ": "}
		for _, v := range o.values {
			f.levels = append(f.levels, factorLevel{v.text, settings(o.key, v.text, tables)})
		}
		add(f)
	}
	return all, nil
}

// tryLevels makes a question with each value of each factor, or with the ends of a
// range, the others at their first, and collects the files that the questions depend on.
func (s *Sweep) tryLevels() error {
	var all scenarios.Scenario
	if s.file.Input.Data != nil {
		all.AddInputs([]scenarios.Input{s.file.Input})
	}
	all.AddInputs(s.base.Scenario.Inputs)
	seen := make([]map[int]bool, len(s.factors))
	for f := range seen {
		seen[f] = map[int]bool{}
	}
	for i, levels := range s.points {
		fresh := false
		where := ""
		for f, level := range levels {
			if !seen[f][level] && s.factors[f].tries(level) {
				seen[f][level], fresh, where = true, true, s.factors[f].where
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
	}
	var err error
	if s.inputs, err = Sums(all.Inputs); err != nil {
		return err
	}
	_, err = s.baselines()
	return err
}

// settings are what a point lays over the scenario.
func (s *Sweep) settings(point int) (all []string) {
	for f, level := range s.points[point] {
		all = append(all, s.factors[f].levels[level].set...)
	}
	return all
}

// pointName names a point for people.
func (s *Sweep) pointName(point int) string {
	var parts []string
	for f, level := range s.points[point] {
		parts = append(parts, s.factors[f].key+"="+s.factors[f].levels[level].text)
	}
	return strings.Join(parts, " ")
}

// scenario makes the question of one simulation.
func (s *Sweep) scenario(point, replication int) (*scenarios.Scenario, error) {
	f, err := s.base.file.With(s.settings(point)...)
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
func (s *Sweep) simulate(point, replication int) (results.Replication, error) {
	scenario, err := s.scenario(point, replication)
	if err != nil {
		return results.Replication{}, err
	}
	q := &scenario.Runs[0].Question
	p, stats, err := (&attemptTable{}).fill(q, false, nil)
	if limit := (*sim.LimitReached)(nil); errors.As(err, &limit) && len(s.goals) > 0 {
		return s.endless(q), nil
	}
	if err != nil {
		return results.Replication{}, fmt.Errorf("point %d (%s), seed %d: %w", point+1, s.pointName(point), q.Seed, err)
	}
	if replication == 0 {
		s.lock.Lock()
		for _, w := range scenario.Warnings {
			s.warnings[w]++
		}
		s.lock.Unlock()
	}
	r := results.Replication{Seed: q.Seed, Values: s.metrics.Measure(q, &p, stats)}
	if len(s.goals) > 0 {
		r.Full = stats.Full(p.Mean)
		for i := range s.goals {
			r.Goals = append(r.Goals, s.goals[i].Measure(q, &p))
		}
	}
	return r, nil
}

// endless is a simulation whose jobs never end, such as one whose nodes all die.
// It meets no goal.
func (s *Sweep) endless(q *model.WhatIf) results.Replication {
	r := results.Replication{Seed: q.Seed}
	for range s.metrics.Names() {
		r.Values = append(r.Values, math.NaN())
	}
	for range s.goals {
		r.Goals = append(r.Goals, math.NaN())
	}
	return r
}

// task is one simulation.
type task struct{ point, replication int }

func (s *Sweep) finished(t task) bool {
	done := s.done[t.point]
	return t.replication < len(done) && done[t.replication].Values != nil
}

// record keeps a finished simulation.
func (s *Sweep) record(t task, r results.Replication) {
	for len(s.done[t.point]) <= t.replication {
		s.done[t.point] = append(s.done[t.point], results.Replication{})
	}
	s.done[t.point][t.replication] = r
}

// missing are the simulations that the given points need next. How many
// replications a point needs depends on its own figures alone.
func (s *Sweep) missing(points []int) (tasks []task, total int) {
	for _, i := range points {
		n := s.file.Replications
		for {
			open := false
			for r := range n {
				if t := (task{i, r}); !s.finished(t) {
					tasks, open = append(tasks, t), true
				}
			}
			if open || s.enough == nil || n >= s.file.MaxReplications || s.enough(&results.Point{Replications: s.done[i][:n]}) {
				break
			}
			n = min(s.file.MaxReplications, n+max(1, n/2))
		}
		s.done[i] = s.done[i][:min(n, len(s.done[i]))]
		total += n
	}
	return tasks, total
}

// SweepProgress is called as simulations end.
type SweepProgress func(SweepStatus)

// SweepStatus says how far a sweep is.
type SweepStatus struct {
	Done, Total int           // simulations
	Slowest     string        // the point whose simulation took longest
	Took        time.Duration // how long it took
}

// Run simulates what is not in the journal, several at a time. progress may
// be nil.
func (s *Sweep) Run(j *Journal, progress SweepProgress) error {
	return s.run(j, s.all(), progress)
}

func (s *Sweep) all() []int {
	all := make([]int, len(s.points))
	for i := range all {
		all[i] = i
	}
	return all
}

func (s *Sweep) run(j *Journal, points []int, progress SweepProgress) error {
	x := sweepRun{sweep: s, journal: j, progress: progress}
	for {
		x.tasks, x.status.Total = s.missing(points)
		x.next, x.status.Done = 0, x.status.Total-len(x.tasks)
		if progress != nil {
			progress(x.status)
		}
		if len(x.tasks) == 0 {
			return nil
		}
		var group errgroup.Group
		for range min(s.base.options.workers(), len(x.tasks)) {
			group.Go(x.work)
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
}

// sweepRun is the work on some simulations of a sweep. Its fields are guarded by the
// lock of the sweep.
type sweepRun struct {
	sweep    *Sweep
	journal  *Journal
	tasks    []task
	next     int // of tasks
	status   SweepStatus
	progress SweepProgress // may be nil
}

// work simulates one task after the other until none is left or one fails.
func (x *sweepRun) work() error {
	for t, ok := x.take(); ok; t, ok = x.take() {
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
	return nil
}

func (x *sweepRun) take() (t task, ok bool) {
	x.sweep.lock.Lock()
	defer x.sweep.lock.Unlock()
	if x.next == len(x.tasks) {
		return t, false
	}
	x.next++
	return x.tasks[x.next-1], true
}

// end records a simulation. An error ends the work of all.
func (x *sweepRun) end(t task, r results.Replication, line []byte, took time.Duration, err error) error {
	x.sweep.lock.Lock()
	defer x.sweep.lock.Unlock()
	if err == nil {
		err = x.journal.add(line)
	}
	if err != nil {
		x.next = len(x.tasks)
		return err
	}
	x.sweep.record(t, r)
	x.status.Done++
	if x.progress != nil {
		if took > x.status.Took {
			x.status.Slowest, x.status.Took = x.sweep.pointName(t.point), took
		}
		x.progress(x.status)
	}
	return nil
}

// Warnings are those of the points that were simulated, each with its number of
// points.
func (s *Sweep) Warnings() []string { return counted(s.warnings, "point") }

// counted lists warnings once, with how many things have each.
func counted(warnings map[string]int, thing string) []string {
	var list []string
	for _, w := range slices.Sorted(maps.Keys(warnings)) {
		if n := warnings[w]; n > 1 {
			w += fmt.Sprintf(" (%d %ss)", n, thing)
		}
		list = append(list, w)
	}
	slices.Sort(list)
	return list
}

// Points are the finished simulations.
func (s *Sweep) Points() (*results.Points, error) {
	baselines, err := s.baselines()
	if err != nil {
		return nil, err
	}
	p := &results.Points{Metrics: s.metrics, Baselines: baselines}
	p.Sampled = slices.ContainsFunc(s.file.Factors, func(f scenarios.Factor) bool { return f.Sampled })
	for _, f := range s.factors {
		p.Factors = append(p.Factors, f.key)
	}
	for i, levels := range s.points {
		if len(s.done[i]) == 0 {
			continue // a size that the search left out
		}
		point := results.Point{Scenario: s.base.Scenario.Name, Replications: s.done[i]}
		for f, level := range levels {
			point.Levels = append(point.Levels, s.factors[f].levels[level].text)
		}
		p.List = append(p.List, point)
	}
	return p, nil
}

// baselines returns the point with which each point is compared: the one that has the
// values of the file's baseline, and the point's own values of all other factors but
// those that advance with one in the baseline.
func (s *Sweep) baselines() ([]int, error) {
	if len(s.file.Baseline) == 0 {
		return nil, nil
	}
	set := make([]bool, len(s.factors))
	for _, want := range s.file.Baseline {
		for f := range s.factors {
			if s.factors[f].key == want.Key {
				set[f] = true
			}
		}
	}
	free := slices.Clone(set)
	for f := range s.factors {
		for g := range s.factors {
			free[f] = free[f] || set[g] && s.factors[f].zip != "" && s.factors[f].zip == s.factors[g].zip
		}
	}
	kept := func(levels []int) string {
		var own []int
		for f, level := range levels {
			if !free[f] {
				own = append(own, level)
			}
		}
		return fmt.Sprint(own)
	}
	first := map[string]int{}
	for i, levels := range s.points {
		if _, known := first[kept(levels)]; !known && s.hasBaseline(levels) {
			first[kept(levels)] = i
		}
	}
	if len(first) == 0 {
		var wanted []string
		for _, level := range s.file.Baseline {
			wanted = append(wanted, level.Key+"="+level.Text)
		}
		return nil, fmt.Errorf("%s: baseline: got %s: want values of the factors", s.name, strings.Join(wanted, " "))
	}
	all := make([]int, len(s.points))
	for i, levels := range s.points {
		all[i] = first[kept(levels)]
	}
	return all, nil
}

// hasBaseline reports whether a point has the values of the file's baseline.
func (s *Sweep) hasBaseline(levels []int) bool {
	matches := 0
	for _, want := range s.file.Baseline {
		for f, level := range levels {
			if s.factors[f].key == want.Key && s.factors[f].levels[level].text == want.Text {
				matches++
			}
		}
	}
	return matches == len(s.file.Baseline)
}

// Name names the folder of the results.
func (s *Sweep) Name() string { return s.base.Scenario.Name }

// Title is the title of the scenario.
func (s *Sweep) Title() string { return results.Escape(s.base.Scenario.Title) }

// Manifest describes the result of the sweep.
func (s *Sweep) Manifest(b resultdir.Build) resultdir.Manifest {
	return resultdir.Manifest{
		Build: b, Arguments: s.asked.arguments(s.name), Scenario: s.base.Scenario.Name, Seed: s.file.Seed,
		Replications: s.file.Replications, Inputs: s.inputs, Assumptions: s.base.Scenario.Assumed,
	}
}

// identity identifies what finished simulations depend on: the inputs, the points
// with their settings and seeds, and the program.
func (s *Sweep) identity(b resultdir.Build) journalHead {
	sum := sha256.New()
	e := json.NewEncoder(sum)
	e.Encode(s.inputs)
	e.Encode([]float64{float64(s.file.Replications), float64(s.file.MaxReplications), s.file.Precision})
	e.Encode([]any{s.file.Seed, s.metrics.First(), s.metrics.Names(), s.base.options.Set, s.base.options.Fidelity})
	if s.file.Size != nil {
		e.Encode(s.file.Size)
	}
	for i := range s.points {
		e.Encode(s.settings(i))
	}
	build := sha256.Sum256([]byte(strings.Join([]string{b.Version, b.Revision, b.Go, runtime.GOARCH}, "\n")))
	return journalHead{
		Schema: journalSchema, Study: s.name, Asked: s.asked,
		Inputs: hex.EncodeToString(sum.Sum(nil)), Build: hex.EncodeToString(build[:]),
	}
}

// factor is a key that varies.
type factor struct {
	key, zip string
	where    string // file:line: or flag
	tried    int    // values of which a question is made before the sweep begins: 0, all; 1, the first; 2, the first and the last
	levels   []factorLevel
}

func (f *factor) tries(level int) bool {
	return f.tried == 0 || level == 0 || f.tried == 2 && level == len(f.levels)-1
}

type factorLevel struct {
	text string
	set  []string
}

// add adds a value once.
func (f *factor) add(text string, set []string) {
	if !slices.ContainsFunc(f.levels, func(l factorLevel) bool { return slices.Equal(l.set, set) }) {
		f.levels = append(f.levels, factorLevel{text, set})
	}
}

// maxPoints is how many points a study may have.
const maxPoints = 1_000_000

// combine lists the levels of every point. Factors with a zip name advance
// together; among the others the last changes fastest.
func combine(factors []factor) ([][]int, error) {
	var wheels [][]int // factors that advance together
	for i, f := range factors {
		w := slices.IndexFunc(wheels, func(w []int) bool { return f.zip != "" && factors[w[0]].zip == f.zip })
		if w < 0 {
			wheels = append(wheels, []int{i})
			continue
		}
		if first := factors[wheels[w][0]]; len(first.levels) != len(f.levels) {
			return nil, fmt.Errorf("%szip %s: %s has %d values and %s has %d: want the same number", f.where, f.zip, first.key, len(first.levels), f.key, len(f.levels))
		}
		wheels[w] = append(wheels[w], i)
	}
	total := 1
	for _, w := range wheels {
		if total *= len(factors[w[0]].levels); total > maxPoints {
			return nil, fmt.Errorf("the factors make more than %d points: want fewer", maxPoints)
		}
	}
	points := make([][]int, total)
	for i := range points {
		points[i] = make([]int, len(factors))
		at := i
		for _, w := range slices.Backward(wheels) {
			n := len(factors[w[0]].levels)
			for _, f := range w {
				points[i][f] = at % n
			}
			at /= n
		}
	}
	return points, nil
}

// errIncomplete lists points that are not finished.
func (s *Sweep) errIncomplete(tasks []task) error {
	const most = 10
	var errs []error
	for i, t := range tasks {
		if i == most {
			errs = append(errs, fmt.Errorf("and %d more", len(tasks)-most))
			break
		}
		errs = append(errs, fmt.Errorf("point %d (%s), replication %d: missing", t.point+1, s.pointName(t.point), t.replication+1))
	}
	return errors.Join(errs...)
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
