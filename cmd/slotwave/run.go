package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/sync/errgroup"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// asked are the flags that the verbs on scenarios have in common.
type asked struct {
	out          string
	seed         uint64
	replications int
	workers      int
	set          []string
	fidelity     string
	json, quiet  bool
	force        bool
}

func (k *asked) flags(c *cobra.Command, noOut string) {
	f := c.Flags()
	f.StringVar(&k.out, "out", "", "directory of the results (default "+noOut+")")
	f.Uint64Var(&k.seed, "seed", 1, "seed of everything random")
	f.IntVar(&k.replications, "replications", 1, "runs with seeds of their own")
	f.IntVar(&k.workers, "workers", 0, "runs at a time (0: one per core)")
	f.StringArrayVar(&k.set, "set", nil, "`KEY=VALUE` laid over the scenario, such as cluster.nodes=40")
	f.StringVar(&k.fidelity, "fidelity", "", "where task times come from: replay, profile, phase or device")
	f.BoolVar(&k.json, "json", false, "print JSON instead of text")
	f.BoolVar(&k.quiet, "quiet", false, "print no summary, progress or warnings")
	f.BoolVar(&k.force, "force", false, "write into a directory that holds other files")
}

func (k *asked) check() error {
	switch {
	case k.replications < 1 || k.replications > 100_000:
		return fmt.Errorf("--replications %d: want 1 to 100000", k.replications)
	case k.workers < 0:
		return fmt.Errorf("--workers %d: want 0 or more", k.workers)
	}
	return nil
}

// arguments repeat a verb so that it gives the same bytes.
func (k *asked) arguments(verb string, names ...string) []string {
	args := append([]string{verb}, names...)
	args = append(args, fmt.Sprintf("--seed=%d", k.seed), fmt.Sprintf("--replications=%d", k.replications))
	if k.fidelity != "" {
		args = append(args, "--fidelity="+k.fidelity)
	}
	for _, s := range k.set {
		args = append(args, "--set="+s)
	}
	return args
}

func (a *app) runCommand() *cobra.Command {
	k := &asked{}
	c := &cobra.Command{
		Use:   "run SCENARIO",
		Short: "Simulate a scenario and write its results",
		Long: `Simulate a scenario and write tables, pictures and a summary.

SCENARIO is a TOML file, the name of a shipped scenario (slotwave list), or a
recorded case of a real JobTracker (case.json).`,
		Example: "  slotwave run fb2009\n  slotwave run two-jobs --set scheduler.name=fifo --out out/fifo\n  slotwave run my.toml --replications 10 --seed 7",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.simulate(args[0], k) },
	}
	k.flags(c, "out/<name>")
	return c
}

// study is a scenario while it is simulated.
type study struct {
	file  *scenarios.File
	first *scenarios.Scenario // with the given seed
	runs  []*results.Run
	asked *asked
}

func (k *asked) open(name string) (*study, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	settings := k.set
	if k.fidelity != "" {
		settings = append(append([]string{}, settings...), "fidelity="+workload.TOMLText(k.fidelity))
	}
	f, err := scenarios.Open(name, settings...)
	if err != nil {
		return nil, err
	}
	s := &study{file: f, asked: k}
	if s.first, err = f.Scenario(k.seed); err != nil {
		return nil, err
	}
	s.runs = make([]*results.Run, len(s.first.Runs))
	return s, nil
}

func (a *app) simulate(name string, k *asked) error {
	began := time.Now()
	s, err := k.open(name)
	if err != nil {
		return err
	}
	if k.out == "" {
		k.out = filepath.Join("out", s.first.Name)
	}
	if !k.quiet {
		a.warn(s.first.Warnings)
	}
	d, err := results.Create(k.out, k.force)
	if err != nil {
		return err
	}
	defer d.Abort()
	a.writing.Store(d)
	if err := s.simulate(a, d); err != nil {
		return err
	}
	if err := s.write(d); err != nil {
		return internal(err)
	}
	if err := d.Write(results.LogName, s.log(began)); err != nil {
		return internal(err)
	}
	m, err := s.manifest(k.arguments("run", name))
	if err != nil {
		return err
	}
	a.writing.Store(nil)
	if err := d.Commit(m); err != nil {
		return internal(err)
	}
	return a.print(s)
}

func (a *app) warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(a.stderr, "warning: %s\n", printable(w))
	}
}

// printable keeps what names came with from acting on a terminal.
func printable(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = results.Escape(lines[i])
	}
	return strings.Join(lines, "\n")
}

// seed of a replication; the first has the seed that was asked for.
func (k *asked) seedOf(replication int) uint64 {
	if replication == 0 {
		return k.seed
	}
	return uint64(workload.Seed(k.seed).Named("replication").For(replication))
}

// target is where the files of one run go.
func (s *study) target(d *results.Dir, run int) results.Target {
	if len(s.runs) == 1 {
		return d
	}
	return d.Folder(s.first.Runs[run].Folder)
}

// simulate runs all questions and replications, several at a time.
func (s *study) simulate(a *app, d *results.Dir) error {
	k := s.asked
	predictions := make([][]model.Prediction, len(s.runs))
	tables := make([][]*table, len(s.runs))
	for r := range s.runs {
		predictions[r] = make([]model.Prediction, k.replications)
		for i := range k.replications {
			t, err := s.newTable(s.target(d, r), i)
			if err != nil {
				return internal(err)
			}
			tables[r] = append(tables[r], t)
		}
	}
	bar := a.progress(s)
	defer bar.end()
	var group errgroup.Group
	group.SetLimit(cmp.Or(k.workers, runtime.GOMAXPROCS(0)))
	for r := range s.runs {
		for i := range k.replications {
			group.Go(func() error {
				scenario := s.first
				if i > 0 {
					var err error
					if scenario, err = s.file.Scenario(k.seedOf(i)); err != nil {
						return err
					}
				}
				q := &scenario.Runs[r].Question
				p, stats, err := tables[r][i].fill(q, bar)
				if err != nil {
					return fmt.Errorf("%s: %w", q.Name, err)
				}
				predictions[r][i] = p
				if i == 0 {
					s.runs[r] = &results.Run{Title: s.title(r), Question: q, Stats: stats}
				}
				return nil
			})
		}
	}
	err := group.Wait()
	for r := range tables {
		for _, t := range tables[r] {
			err = errors.Join(err, internal(t.close()))
		}
	}
	if err != nil {
		return err
	}
	for r, run := range s.runs {
		run.Predictions = predictions[r]
		p := &run.Predictions[0]
		p.Assumed = append(s.first.Assumed[:len(s.first.Assumed):len(s.first.Assumed)], p.Assumed...)
		p.Warnings = append(s.first.Warnings[:len(s.first.Warnings):len(s.first.Warnings)], p.Warnings...)
	}
	return nil
}

func (s *study) title(run int) string {
	if name := s.first.Runs[run].Name; name != "" {
		return name
	}
	return s.first.Title
}

// table is the table of attempts of one run: as text or as Parquet, or none.
type table struct {
	csv     *results.AttemptTable
	file    *results.File
	parquet *collector
}

// collector keeps attempts, for formats that want all of them at once.
type collector struct{ rows []workload.Attempt }

func (c *collector) Attempt(a *workload.Attempt) { c.rows = append(c.rows, *a) }

func (s *study) newTable(to results.Target, replication int) (*table, error) {
	name := "attempts"
	if replication > 0 {
		name = fmt.Sprintf("attempts-%02d", replication+1)
	}
	t := &table{}
	var err error
	switch s.first.Attempts {
	case "csv":
		if t.file, err = to.File(name + ".csv"); err == nil {
			t.csv = results.NewAttemptTable(t.file)
		}
	case "parquet":
		t.file, err = to.File(name + ".parquet")
		t.parquet = &collector{}
	}
	return t, err
}

// fill simulates a question into the table.
func (t *table) fill(q *model.WhatIf, bar *progress) (p model.Prediction, stats *results.Stats, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = internal(fmt.Errorf("internal error: %v", v))
		}
	}()
	stats = results.NewStats(q)
	recorders := results.Recorders{stats}
	if t.csv != nil {
		recorders = append(recorders, t.csv)
	}
	if t.parquet != nil {
		recorders = append(recorders, t.parquet)
	}
	simulator := sim.Simulator{Recorder: recorders, Progress: bar.follow(len(q.Jobs))}
	if p, err = simulator.Predict(*q); err != nil {
		return p, stats, err
	}
	if t.parquet != nil {
		err = trace.WriteAttemptsParquet(t.file, trace.NewHistory(q.Jobs, t.parquet.rows))
	}
	return p, stats, internal(errors.Join(err, stats.Check(&p)))
}

func (t *table) close() error {
	var err error
	if t.csv != nil {
		err = t.csv.Close()
	}
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
	}
	return err
}

func (s *study) write(d *results.Dir) error {
	for r, run := range s.runs {
		if err := run.Write(s.target(d, r)); err != nil {
			return err
		}
	}
	if len(s.runs) == 1 {
		return nil
	}
	return s.comparison().Write(d)
}

func (s *study) comparison() *results.Comparison {
	return &results.Comparison{Title: s.first.Title, Runs: s.runs}
}

// log is what may differ between two runs of the same question.
func (s *study) log(began time.Time) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "began %s\ntook %.3f s\n%s, %d cores\n", began.Format(time.RFC3339), time.Since(began).Seconds(),
			runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH, runtime.GOMAXPROCS(0))
		return err
	}
}

func (s *study) manifest(arguments []string) (results.Manifest, error) {
	m := results.Manifest{
		Build: results.ReadBuild(version, ""), Arguments: arguments, Scenario: s.first.Name,
		Seed: s.asked.seed, Replications: s.asked.replications, Assumptions: s.first.Assumed,
	}
	var err error
	m.Inputs, err = inputSums(s.first.Inputs)
	return m, err
}

// inputSums are the sums of what a scenario was made from.
func inputSums(inputs []scenarios.Input) (sums []results.FileSum, err error) {
	for _, in := range inputs {
		sum := results.Sum(in.Name, in.Data)
		if in.Data == nil {
			if sum, err = results.SumFile(in.Name); err != nil {
				return nil, err
			}
		}
		sums = append(sums, sum)
	}
	return sums, nil
}

// print shows the result to whoever asked.
func (a *app) print(s *study) error {
	k := s.asked
	var err error
	switch {
	case k.quiet:
	case len(s.runs) == 1 && k.json:
		err = s.runs[0].Summary().WriteJSON(a.stdout)
	case len(s.runs) == 1:
		err = s.runs[0].Summary().WriteText(a.stdout, results.UseColour(terminal(a.stdout)))
	case k.json:
		err = s.comparison().WriteJSON(a.stdout)
	default:
		err = s.comparison().WriteText(a.stdout, results.UseColour(terminal(a.stdout)))
	}
	if err == nil && !k.quiet && !k.json {
		_, err = fmt.Fprintf(a.stdout, "\nresults in %s\n", printable(k.out))
	}
	return internal(err)
}

// progress is a bar over the jobs of all runs, on a terminal only.
type progress struct {
	container *mpb.Progress
	bar       *mpb.Bar
	ended     atomic.Int64
}

func (a *app) progress(s *study) *progress {
	p := &progress{}
	if s.asked.quiet || !terminal(a.stderr) {
		return p
	}
	jobs := 0
	for _, r := range s.first.Runs {
		jobs += len(r.Question.Jobs) * s.asked.replications
	}
	p.container = mpb.New(mpb.WithOutput(a.stderr), mpb.WithWidth(60))
	p.bar = p.container.AddBar(int64(jobs), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.CountersNoUnit("%d/%d jobs")), mpb.AppendDecorators(decor.Percentage()))
	return p
}

// follow is told of the jobs of one run as they end.
func (p *progress) follow(jobs int) func(jobs, left int) {
	if p.bar == nil {
		return nil
	}
	return func(_, left int) {
		p.bar.SetCurrent(p.ended.Add(int64(jobs - left)))
		jobs = left
	}
}

func (p *progress) end() {
	if p.bar != nil {
		p.bar.Abort(true)
		p.container.Wait()
	}
}
