// Package study opens a scenario and simulates every run and replication of it. Each
// question that a verb asks has a package below, which calls this one:
//
//	cmd/slotwave, any Go program
//	   | size, sweep, tune, sensitivity, predict, compare, diagnosis, report, ...
//	Open -> Study.Simulate -> sim.Simulator      attempts to tables as they end
//	        Study.Write    -> results.Run.Write  tables, pictures, summary
//	Options.OpenAll    several scenarios, with the values of a key (over)
//	Histories, QuestionOf    results and histories that are there already (history)
package study

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/workload"
)

// Options select how a scenario is run. The zero value runs it once, without
// changes.
type Options struct {
	Seed         uint64         // master seed of the first replication
	Replications int            // number of runs, each with its own seed; 0 is 1
	Workers      int            // concurrent runs; 0 is one per core
	Set          []string       // KEY=VALUE settings that replace values of the scenario
	Over         []string       // KEY=FROM:TO:STEP or KEY=VALUE,VALUE that vary as in [vary], replacing it
	Fidelity     string         // replay, profile, phase or device; empty: the scenario's
	ForkAt       string         // time from which Set takes effect, in a second run; empty: from the start
	Metrics      points.Metrics // of points.csv
	Trace        bool           // write the offers of the first replication
	Reading      scenarios.Reading
	Containers   bool // who asks can speak of a run on YARN
	Costs        bool // the question is about costs and settings of tasks, which recorded times do not answer

	policies *policies // of a history; nil before Open
}

const maxReplications = 100_000

func (o *Options) check() error {
	switch {
	case o.Replications < 0 || o.Replications > maxReplications:
		return fmt.Errorf("replications: got %d: want 1 to %d", o.Replications, maxReplications)
	case o.Workers < 0:
		return fmt.Errorf("--workers: got %d: want 0 or more", o.Workers)
	}
	for _, text := range o.Over {
		if _, err := ParseOver(text); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) NumReplications() int { return max(1, o.Replications) }

func (o *Options) NumWorkers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// SeedOf returns the seed of a replication. The first one has the given seed.
func (o *Options) SeedOf(replication int) uint64 {
	if replication == 0 {
		return o.Seed
	}
	return uint64(o.Draws("replication").For(replication))
}

// Draws returns the seed of what is drawn for a purpose.
func (o *Options) Draws(purpose string) workload.Seed { return workload.Seed(o.Seed).Named(purpose) }

// Settings are laid over the scenario.
func (o *Options) Settings() []string {
	all := slices.Clone(o.Set)
	if o.Fidelity != "" {
		all = append(all, "fidelity="+workload.TOMLText(o.Fidelity)+scenarios.FlagMark+"fidelity "+o.Fidelity)
	}
	for _, text := range o.Over {
		if v, err := ParseOver(text); err == nil { // checked by Open
			all = append(all, scenarios.Vary(v.Key, v.Values, text))
		}
	}
	return all
}

// A Study is an opened scenario with the options of its simulation.
type Study struct {
	Scenario *scenarios.Scenario // made with the seed of the first replication
	File     *scenarios.File
	Options  Options
	Labels   *figure.Labels // [figure] of the scenario

	alternatives []*scenarios.Scenario // the same runs by other calibrations, each with a seed of its own but for the jobs
	machines     []*scenarios.File     // File and those of the alternatives

	// The runs of each alternative again, with another seed, made when first asked for.
	redrawn []func() (*scenarios.Scenario, error)
}

// Open opens a scenario file, a shipped scenario, a history or a recorded case.
func Open(name string, o Options) (*Study, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	f, err := o.open(name)
	if err != nil {
		return nil, err
	}
	first, err := f.Scenario(o.Seed)
	if err != nil {
		return nil, err
	}
	o.policies = &policies{without: map[string]Policy{}}
	if found, err := o.findScheduler(f, nil, f, first); err != nil {
		return nil, err
	} else if found {
		if first, err = f.Scenario(o.Seed); err != nil {
			return nil, err
		}
	}
	if first.OnYARN() && !o.Containers {
		return nil, notOnYARN(name)
	}
	beyond := slices.Clone(first.Beyond)
	if o.Costs {
		beyond = append(beyond, "costs and settings of tasks")
	}
	if run := &first.Runs[0]; len(beyond) > 0 && len(run.Recorded) > 0 && run.Question.Fidelity == model.Replay {
		return nil, &NeedsMachine{name, workload.WithoutSecrets(strings.Join(beyond, ", "))}
	}
	s := &Study{Scenario: first, File: f, Options: o, Labels: figure.NewLabels(first.Labels, first.LabelPlaces, first.PDF), machines: []*scenarios.File{f}}
	for i, settings := range first.Alternatives {
		other, err := scenarios.OpenReading(name, o.Reading, append(settings, o.Settings()...)...)
		if err != nil {
			return nil, err
		}
		again, err := other.Redrawn(o.Seed).Scenario(o.SeedOf(i + 1))
		if err != nil {
			return nil, err
		}
		s.alternatives = append(s.alternatives, again)
		s.machines = append(s.machines, other)
		s.redrawn = append(s.redrawn, sync.OnceValues(func() (*scenarios.Scenario, error) {
			return other.Redrawn(o.Seed).Scenario(o.SeedOf(len(first.Alternatives) + 1 + i))
		}))
	}
	return s, nil
}

// NeedsMachine says that a question changes what recorded times of tasks contain, so
// that only tasks which are simulated on a machine can answer it.
type NeedsMachine struct{ History, What string }

func (e *NeedsMachine) Error() string {
	return fmt.Sprintf("%s: %s: got a question about what tasks do, want a machine: recorded times of tasks hold for the recorded slots, devices and settings only (slotwave platform calibrate %[1]s --out MACHINE, then ask MACHINE/scenario.toml)", e.History, e.What)
}

// Machines returns the question of the first run on the machine of the scenario, and on
// each other one that a calibration found to explain the record about as well.
func (s *Study) Machines() []*model.WhatIf {
	all := []*model.WhatIf{&s.Scenario.Runs[0].Question}
	for _, other := range s.alternatives {
		all = append(all, &other.Runs[0].Question)
	}
	return all
}

// Turn returns the scenario for the i-th of several pairs of runs: on the machine of the
// scenario, and then in turn on the others that explain the record as well.
func (s *Study) Turn(i int) *scenarios.File { return s.machines[i%len(s.machines)] }

// SlotsOnly returns an error if the study is one on YARN.
func (s *Study) SlotsOnly() error {
	if s.Scenario.OnYARN() {
		return notOnYARN(s.Scenario.Name)
	}
	return nil
}

// open opens the scenario with its settings.
func (o *Options) open(name string) (*scenarios.File, error) {
	if o.ForkAt == "" {
		return scenarios.OpenReading(name, o.Reading, o.Settings()...)
	}
	fixed := Options{Fidelity: o.Fidelity, Over: o.Over}
	f, err := scenarios.OpenReading(name, o.Reading, fixed.Settings()...)
	if err != nil {
		return nil, err
	}
	return f.ForkAt(o.ForkAt, o.Set)
}

// Replication returns the scenario with the seed of a replication.
func (s *Study) Replication(i int) (*scenarios.Scenario, error) {
	if i == 0 {
		return s.Scenario, nil
	}
	return s.File.Scenario(s.Options.SeedOf(i))
}

// Tasks returns the number of maps and reduces over all runs and replications.
func (s *Study) Tasks() (tasks int) {
	for i := range s.Scenario.Runs {
		tasks += s.Scenario.Runs[i].Question.Tasks() * s.Options.NumReplications()
	}
	return tasks
}

// Replays returns nil if the study repeats a record, and otherwise the reason why
// it does not.
func (s *Study) Replays() error {
	for i := range s.Scenario.Runs {
		switch r := &s.Scenario.Runs[i]; {
		case len(r.Recorded) == 0:
			return errors.New("the workload records no times of jobs: want a history")
		case len(r.Changed) > 0:
			return fmt.Errorf("the settings differ from those recorded: %s", strings.Join(r.Changed, ", "))
		}
	}
	return nil
}

// Manifest describes a result of the study: what made it, with which arguments,
// and the checksums of its inputs.
func (s *Study) Manifest(b resultdir.Build, arguments []string) (resultdir.Manifest, error) {
	m := resultdir.Manifest{
		Build: b, Arguments: arguments, Scenario: s.Scenario.Name,
		Seed: s.Options.Seed, Replications: s.Options.NumReplications(), Assumptions: s.Scenario.Assumed,
	}
	var err error
	m.Inputs, err = Sums(s.Scenario.Inputs)
	if s.Options.Reading.Anonymise {
		m.Anonymise()
	}
	return m, err
}

// Sums returns the checksums of a scenario's inputs.
func Sums(inputs []scenarios.Input) (sums []resultdir.FileSum, err error) {
	for _, in := range inputs {
		sum := resultdir.Sum(in.Name, in.Data)
		if in.Data == nil {
			if sum, err = resultdir.SumFile(in.Name); err != nil {
				return nil, err
			}
		}
		sums = append(sums, sum)
	}
	return sums, nil
}

// InputsUnchanged compares embedded and other inputs with their checksums.
func InputsUnchanged(inputs []resultdir.FileSum) error {
	var errs []error
	for _, in := range inputs {
		name, shipped := strings.CutPrefix(in.Name, scenarios.ShippedPrefix)
		if !shipped {
			errs = append(errs, resultdir.Verify("", []resultdir.FileSum{in}))
			continue
		}
		data, ok := scenarios.Data(name)
		if !ok || resultdir.Sum(in.Name, data).SHA256 != in.SHA256 {
			errs = append(errs, fmt.Errorf("%s: this version of slotwave ships a different file", in.Name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w\nthe manifest repeats its result from unchanged inputs: want them back, or a new run of the scenario", err)
	}
	return nil
}

// WriteLog writes what may differ between two runs of the same question: the
// clock and the machine.
func WriteLog(w io.Writer, began time.Time) error {
	_, err := fmt.Fprintf(w, "began %s\ntook %.3f s\n%s, %d cores\n", began.Format(time.RFC3339), time.Since(began).Seconds(),
		runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH, runtime.GOMAXPROCS(0))
	return err
}

// InternalError is a defect of slotwave and not of its input: an inconsistent
// sum, or a panic.
type InternalError struct{ error }

// Unwrap returns the error behind it.
func (e InternalError) Unwrap() error { return e.error }

// Internal marks an error as a defect, unless the operating system reports it
// for a file, such as a full disk or a missing directory.
func Internal(err error) error {
	if err == nil || errors.As(err, new(*fs.PathError)) || errors.As(err, new(*os.LinkError)) || errors.As(err, new(*os.SyscallError)) {
		return err
	}
	return InternalError{err}
}
