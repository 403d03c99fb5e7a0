// Package diagnosis opens a result, a history or sampling records for package diagnose.
//
//	Diagnose, Explain, Sample -> open -> trace.Open, results.ReadAttempts, ReadOffers, ReadSpans
//	                                     study.QuestionOf (the scenario of a result)
//	                          -> diagnose.Run, Explain, WriteSamples
package diagnosis

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/simulated"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// DefaultBudget is the budget of the verbs.
const DefaultBudget = 10_000_000

// Options says how runs are diagnosed.
type Options struct {
	Job           string              // empty: all jobs
	Specification string              // of the dataflow: hadoop, hive or a file; empty: hadoop
	Thresholds    string              // a file with thresholds; empty: the defaults
	Rules         string              // a file with rules of the user; empty: none
	On            string              // a scenario that asks what a recorded history answers
	Verify        bool                // test changes by simulation where the question is known
	Budget        int64               // of these tests, in tasks, of which one at fidelity device counts as ten; 0: no limit
	Workers       int                 // simulations at a time; 0: one per core
	Pairs         int                 // largest number of pairs of a test; 0: 20
	Without       bool                // also simulate the run without each part of the cluster
	Progress      study.SweepProgress // counts tests of changes; nil: nobody is told

	Attempts  bool // keep what a report shows beside the diagnosis
	Anonymise bool // give users, jobs and machines new names; only tables of attempts and jobs are read

	read *workload.History // what the paths hold; nil: not read yet
}

// Diagnosis is a diagnosis, with what it was made from.
type Diagnosis struct {
	*diagnose.Diagnosis
	Warnings []string

	job       string
	anonymise bool
	read      *workload.History

	inputs   []resultdir.FileSum         // of files without their sums
	Attempts iter.Seq[*workload.Attempt] // nil: only sampling records, or not asked for
	Usage    []diagnose.Usage
	Offers   []model.Offer
	Question *model.WhatIf // nil: unknown
	On       bool          // the question is that of Diagnosing.On
	Err      error         // of reading them
}

// Inputs lists what the diagnosis was made from. The sums of large files are
// computed here, because only a manifest needs them.
func (d *Diagnosis) Inputs() ([]resultdir.FileSum, error) {
	for i := range d.inputs {
		if in := &d.inputs[i]; in.SHA256 == "" {
			sum, err := resultdir.SumFile(in.Name)
			if err != nil {
				return nil, err
			}
			*in = sum
		}
	}
	return d.inputs, nil
}

// Diagnose says why the jobs of a run took as long as they did. Paths are the
// folder of a result, the files of a history, or sampling records.
func Diagnose(paths []string, k Options) (*Diagnosis, error) {
	done := &Diagnosis{job: k.Job, anonymise: k.Anonymise, read: k.read}
	in := diagnose.Input{}
	if k.Anonymise && (k.On != "" || k.Specification != "" || k.Job != "") {
		return nil, errors.New("--anonymise: want no --on, --spec or --job, which name jobs")
	}
	options, err := k.options(done)
	if err != nil {
		return nil, err
	}
	if err := NotScenarios(paths...); err != nil {
		return nil, err
	}
	histories, err := k.dataflow(paths, &in, done)
	if err != nil {
		return nil, err
	}
	if k.Anonymise && in.Dataflow != nil {
		return nil, errors.New("--anonymise: got sampling records: want none, since their stacks name the code of users")
	}
	recorded := map[string]time.Duration{}
	if len(histories) > 0 {
		h, err := done.open(histories, &in)
		if err != nil {
			return nil, err
		}
		for i := range h.Jobs {
			if j := &h.Jobs[i]; workload.Known(j.Submit) && j.Finish > j.Submit {
				recorded[j.ID] = j.Finish - j.Submit
			}
		}
		in.Jobs, in.Localised = handedOver(h), h.Localised()
		if k.Attempts {
			in.Jobs, done.Attempts, done.Usage, done.Offers = simulated.Jobs(h), in.Rows, in.Resources, in.Offers
			if in.Rows == nil {
				done.Attempts = attemptsIn(h)
			}
		}
	}
	if k.On != "" {
		if err := k.question(&in, recorded, done); err != nil {
			return nil, fmt.Errorf("--on %w", err)
		}
		options.Verify.Measured = recorded
	}
	done.Question, done.On = in.Question, k.On != ""
	if in.Question != nil && k.On == "" {
		retrace(&in)
	}
	if k.Verify && in.Question != nil {
		measured := options.Verify.Measured
		options.Verify = diagnose.DefaultVerification(sim.Simulator{})
		options.Verify.Measured, options.Verify.Workers, options.Verify.Without, options.Verify.Budget = measured, k.Workers, k.Without, k.Budget
		options.Verify.Progress = func(step string, done, total int) { k.Progress.Of(done, total, step) }
		if k.Pairs > 0 {
			options.Verify.Pairs, options.Verify.MostPairs = min(k.Pairs, options.Verify.Pairs), k.Pairs
		}
	}
	done.Diagnosis, err = diagnose.Run(context.Background(), in, options)
	if done.Err != nil {
		return nil, done.Err
	}
	if errors.Is(err, diagnose.ErrUnbalanced) {
		return nil, study.Internal(err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(paths, ", "), err)
	}
	return done, nil
}

// mostRetraced is the largest number of tasks of a run that is simulated again for its
// trace.
const mostRetraced = 20_000

// retrace simulates a run again for its offers and, at fidelity device, for what threads
// did. The offers replace those of offers.csv, which leaves repeats out, so that a
// diagnosis says the same of a run with and without --trace.
func retrace(in *diagnose.Input) {
	q := *in.Question
	if q.Tasks() > mostRetraced || q.YARN != nil {
		return
	}
	if in.Spans == nil && q.Fidelity == model.Device {
		in.Spans = func(yield func(*model.Span) bool) {
			_, _ = sim.Simulator{Spans: &spanner{yield: yield}}.Predict(q) // a run that fails has the spans up to then
		}
	}
	var list simulated.Offers
	if _, err := (sim.Simulator{Tracer: &list}).Predict(q); err == nil {
		in.Offers = list
	}
}

// spanner passes spans on until it is enough.
type spanner struct {
	yield func(*model.Span) bool
	over  bool
}

func (s *spanner) Span(span *model.Span) { s.over = s.over || !s.yield(span) }

// attemptsIn lists the attempts of a history.
func attemptsIn(h *workload.History) iter.Seq[*workload.Attempt] {
	return func(yield func(*workload.Attempt) bool) {
		for i := range h.Jobs {
			j := &h.Jobs[i]
			for t := range j.Tasks {
				for n := range j.Tasks[t].Attempts {
					a := &j.Tasks[t].Attempts[n].Attempt
					if a.Job = j.ID; !yield(a) {
						return
					}
				}
			}
		}
	}
}

// handedOver lists the jobs of a history, and drops each after its use.
func handedOver(h *workload.History) iter.Seq[*workload.HistoryJob] {
	return func(yield func(*workload.HistoryJob) bool) {
		for i := range h.Jobs {
			if !yield(&h.Jobs[i]) {
				return
			}
			h.Jobs[i] = workload.HistoryJob{}
		}
	}
}

// Above lists the confirmed findings whose change gains more than a part of the
// job's time.
func (d *Diagnosis) Above(part float64) []string {
	var above []string
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Receipt.Outcome == diagnose.Confirmed && f.Receipt.Gain > part {
			above = append(above, strings.TrimSpace(fmt.Sprintf("%s %s %s gains %.1f %%", f.Cause, text.Escape(f.Node), f.Device, 100*f.Receipt.Gain)))
		}
	}
	return above
}

// Explain writes why a task of a result or a history ran when and where it did, or
// what a node got at a time.
func Explain(w io.Writer, path string, what diagnose.Explained) (warnings []string, err error) {
	done, in := &Diagnosis{}, diagnose.Input{}
	h, err := done.open([]string{path}, &in)
	if err != nil {
		return nil, err
	}
	in.Jobs = simulated.Jobs(h)
	if err := diagnose.Explain(w, in, what); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return done.Warnings, nil
}

// NotScenarios refuses scenarios, of files and shipped ones, and their parts where
// results are wanted.
func NotScenarios(paths ...string) error {
	for _, path := range paths {
		if what, next := scenarios.Kind(path); what != "" {
			return fmt.Errorf("%s: got %s: want a result; %s", path, what, next)
		}
		if err := scenarios.PartOfResult(path); err != nil && len(paths) == 1 {
			return err
		}
	}
	return nil
}

// Sample writes the sampling records of a result or a history.
func Sample(w io.Writer, path string, every diagnose.Sampling) (warnings []string, err error) {
	done, in := &Diagnosis{}, diagnose.Input{}
	h, err := done.open([]string{path}, &in)
	if err != nil {
		return nil, err
	}
	in.Jobs = simulated.Jobs(h)
	return done.Warnings, diagnose.WriteSamples(w, in, every)
}

func (k *Options) options(done *Diagnosis) (diagnose.Options, error) {
	o := diagnose.DefaultOptions()
	o.Job = k.Job
	read := func(name string, parse func(text string) error) error {
		if name == "" {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		done.inputs = append(done.inputs, resultdir.Sum(name, data))
		if err := scenarios.Syntax(name, string(data)); err != nil {
			return err
		}
		return parse(string(data))
	}
	err := errors.Join(read(k.Thresholds, func(text string) (err error) {
		o.Thresholds, err = diagnose.ReadThresholds(k.Thresholds, text)
		return err
	}), read(k.Rules, func(text string) error { return o.ReadRules(k.Rules, text) }))
	return o, err
}

// specification is an embedded one, or that of a file.
func (k *Options) specification(done *Diagnosis) (*diagnose.Specification, error) {
	name := k.Specification
	if name == "" {
		name = "hadoop"
	}
	if !study.IsFile(name) {
		return diagnose.LoadSpecification(name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	done.inputs = append(done.inputs, resultdir.Sum(name, data))
	return diagnose.ParseSpecification(name, string(data))
}

// dataflow reads the sampling records under the paths and returns the paths
// that hold anything else.
func (k *Options) dataflow(paths []string, in *diagnose.Input, done *Diagnosis) (rest []string, err error) {
	spec, err := k.specification(done)
	if err != nil {
		return nil, err
	}
	flow := diagnose.NewReconstruction(spec)
	found := false
	for _, path := range paths {
		files, err := trace.ReadOptions{}.Files(path)
		if err != nil {
			return nil, err
		}
		others := 0
		for _, file := range files {
			read, err := readSamples(flow, file)
			if err != nil {
				return nil, err
			}
			if !read {
				others++
				continue
			}
			found = true
			done.inputs = append(done.inputs, resultdir.FileSum{Name: file})
		}
		if others > 0 || len(files) == 0 {
			rest = append(rest, path)
		}
	}
	if found {
		in.Dataflow = flow.Dataflow()
	} else if k.Specification != "" {
		return nil, fmt.Errorf("--spec %s: got no sampling records: want a file with some", k.Specification)
	}
	return rest, nil
}

// readSamples reads a file of sampling records, gzip or plain, and reports whether
// it is one.
func readSamples(flow *diagnose.Reconstruction, name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	b := bufio.NewReaderSize(f, 1<<16)
	if magic, _ := b.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(b)
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		b = bufio.NewReaderSize(z, 1<<16)
	}
	if start, _ := b.Peek(1 << 10); !diagnose.IsSamples(start) {
		return false, nil
	}
	return true, flow.Read(b, name)
}

// open reads one result, or one history of one or more files.
func (d *Diagnosis) open(paths []string, in *diagnose.Input) (*workload.History, error) {
	runs, err := study.Histories(paths)
	if err != nil {
		return nil, err
	}
	folder := ""
	for _, files := range runs {
		if len(files) == 2 && files[1] == study.AttemptsOf(filepath.Dir(files[1])) && files[0] != paths[0] {
			folder = filepath.Dir(files[1])
		}
	}
	if folder != "" && len(runs) > 1 {
		var names []string
		for _, files := range runs {
			name := files[0]
			if study.IsFile(name) {
				name = filepath.Dir(name)
			}
			names = append(names, name)
		}
		return nil, fmt.Errorf("got %s: want the folder of one run: %s", workload.Counted(len(runs), "run", "runs"), strings.Join(names, ", "))
	}
	read := paths
	if folder != "" {
		paths = runs[0]
		read = paths
		if !d.anonymise && d.stream(paths[1], in) {
			read = paths[:1]
		}
	}
	h := d.read
	if h == nil {
		if h, err = trace.Open(read...); err != nil {
			return nil, err
		}
	}
	if d.anonymise {
		return h.Anonymise(&workload.Names{Seed: workload.Seed(1).Named("names")}), nil
	}
	h.Problems = slices.DeleteFunc(h.Problems, func(p workload.Problem) bool {
		return slices.ContainsFunc(d.inputs, func(s resultdir.FileSum) bool { return s.Name == p.File }) // sampling records
	})
	d.Warnings = append(d.Warnings, h.Lost()...)
	if study.IsFile(filepath.Join(paths[0], resultdir.ManifestName)) && len(h.Jobs) > 0 && !slices.ContainsFunc(h.Jobs, func(j workload.HistoryJob) bool { return len(j.Tasks) > 0 }) {
		return nil, fmt.Errorf("%s: the run wrote no attempts (attempts = \"none\"): want the same run with --set attempts=csv", paths[0])
	}
	if folder == "" {
		if d.job != "" {
			if err := (&scenarios.Reading{Jobs: []string{d.job}}).OneCluster(h); err != nil {
				return nil, err
			}
		}
		files, err := trace.ReadOptions{}.Files(paths...)
		for _, file := range files {
			d.inputs = append(d.inputs, resultdir.FileSum{Name: file})
		}
		return h, err
	}
	for i := range h.Jobs { // the other tables of a result count from the start of the run
		h.Jobs[i].Shift(h.Moved)
	}
	return h, d.result(folder, paths, in)
}

// stream reads the attempts of a result during the diagnosis, so that they are not
// held twice. It reports false for a table that only trace.Open can read.
func (d *Diagnosis) stream(name string, in *diagnose.Input) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	if !results.HasAttempts(f) {
		return false
	}
	in.Rows = func(yield func(*workload.Attempt) bool) {
		f, err := os.Open(name)
		if err == nil {
			defer f.Close()
			err = results.ReadAttempts(f, name, yield)
		}
		d.Err = err
	}
	return true
}

// result reads what a result has beside its attempts: the use of devices, and
// the question from its manifest.
func (d *Diagnosis) result(folder string, tables []string, in *diagnose.Input) error {
	resources, offers := filepath.Join(folder, results.ResourcesName), filepath.Join(folder, results.OffersName)
	spans := filepath.Join(folder, results.SpansName)
	for _, name := range []string{resources, offers, spans} {
		if study.IsFile(name) {
			tables = append(tables, name)
		}
	}
	for _, name := range tables {
		d.inputs = append(d.inputs, resultdir.FileSum{Name: name})
	}
	var err error
	if study.IsFile(resources) {
		if in.Resources, err = readResources(resources); err != nil {
			return err
		}
	}
	if study.IsFile(offers) {
		if in.Offers, err = readOffers(offers); err != nil {
			return err
		}
	}
	if study.IsFile(spans) {
		in.Spans = d.spans(spans)
	}
	run, err := study.RunOf(folder)
	if resultdir.Unreadable(err) {
		return err
	}
	if err == nil {
		err = ask(in, run)
	}
	if err != nil {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%s: the scenario is not known, so no change is tested: %v", folder, err))
		return nil
	}
	in.Replay = in.Recorded
	return nil
}

// ask takes the question from a run, and the one in which changes of it are tested. Times
// of tasks that are recorded hold for the slots of the recorded run, as run says.
func ask(in *diagnose.Input, asked *study.Opened) error {
	anew, err := asked.Anew()
	if err != nil {
		return err
	}
	run := asked.Asked()
	in.Question, in.Anew, in.Still = &run.Question, &anew.Question, anew.Still
	in.Recorded = len(run.Recorded) > 0 && run.Question.Fidelity == model.Replay
	return nil
}

// spans reads spans.csv, each time that the spans are asked for.
func (d *Diagnosis) spans(name string) iter.Seq[*model.Span] {
	return func(yield func(*model.Span) bool) {
		f, err := os.Open(name)
		if err == nil {
			defer f.Close()
			err = results.ReadSpans(f, name, yield)
		}
		if err != nil {
			d.Err = err
		}
	}
}

// readResources reads resources.csv.
func readResources(name string) (rows []diagnose.Usage, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = results.ReadResources(f, name, func(u *results.Usage) {
		rows = append(rows, diagnose.Usage{Time: u.Time, Node: u.Node, Device: u.Device, Busy: u.Busy, Bytes: u.Bytes, InService: u.InService, Rate: u.Rate, ForeignBusy: u.Foreign})
	})
	return rows, err
}

// readOffers reads offers.csv.
func readOffers(name string) ([]model.Offer, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var offers simulated.Offers
	err = results.ReadOffers(f, name, offers.Offer)
	return offers, err
}

// question opens the scenario that describes a recorded run. If both have a single
// job, it counts as the same job, whatever its ID.
func (k *Options) question(in *diagnose.Input, recorded map[string]time.Duration, done *Diagnosis) error {
	s, err := study.Open(k.On, study.Options{Seed: 1})
	if err != nil {
		return err
	}
	if n := len(s.Scenario.Runs); n > 1 {
		return fmt.Errorf("%s: got %d runs: want a scenario with one", k.On, n)
	}
	if err := ask(in, &study.Opened{Study: s}); err != nil {
		return err
	}
	jobs, ids := in.Question.Jobs, slices.Sorted(maps.Keys(recorded))
	if len(jobs) == 1 && len(ids) == 1 {
		jobs[0].ID, in.Anew.Jobs[0].ID = ids[0], ids[0]
	}
	if len(ids) > 0 && !slices.ContainsFunc(jobs, func(j workload.Job) bool { return slices.Contains(ids, j.ID) }) {
		var names []string
		for i := range jobs {
			names = append(names, jobs[i].ID)
		}
		const most = 3
		return fmt.Errorf("%s: has the jobs %s and none of the run: want the ids of the run as names, such as %s", k.On, strings.Join(names[:min(most, len(names))], ", "), strings.Join(ids[:min(most, len(ids))], ", "))
	}
	sums, err := study.Sums(s.Scenario.Inputs)
	done.inputs = append(done.inputs, sums...)
	done.Warnings = append(done.Warnings, s.Scenario.Warnings...)
	return err
}
