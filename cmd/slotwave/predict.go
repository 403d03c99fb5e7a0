package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/workload"
)

// knowledge are the files with what models know that is not in the scenario.
type knowledge struct {
	files   map[string]*string // by the name of the flag
	history []string
}

func (k *knowledge) flags(c *cobra.Command) {
	k.files = map[string]*string{}
	for _, f := range analytic.Files() {
		k.files[f.Name] = c.Flags().String(f.Name, "", f.About)
	}
	c.Flags().StringArrayVar(&k.history, "history", nil, "`TRACE` of runs of the job on other input or with other reduces, for hp, ihp and cresp")
}

// read reads the files, gives the models what they know, and returns the sums.
func (k *knowledge) read() ([]analytic.Predictor, []results.FileSum, error) {
	known := analytic.Knowledge{Files: map[string]analytic.File{}}
	var sums []results.FileSum
	for _, f := range analytic.Files() {
		name := *k.files[f.Name]
		if name == "" {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		sums = append(sums, results.Sum(name, data))
		known.Files[f.Name] = analytic.File{Name: name, Data: data}
	}
	runs, read, err := k.runs()
	if err != nil {
		return nil, nil, err
	}
	known.Runs = runs
	predictors, err := analytic.Predictors(known)
	return predictors, append(sums, read...), err
}

// runs reads the recorded runs of a job.
func (k *knowledge) runs() ([]analytic.RecordedRun, []results.FileSum, error) {
	if k.history == nil {
		return nil, nil, nil
	}
	var runs []analytic.RecordedRun
	var sums []results.FileSum
	name := ""
	for _, paths := range runsIn(k.history) {
		h, err := workload.Open(paths...)
		if err != nil {
			return nil, nil, err
		}
		if err := h.Strict(); err != nil {
			return nil, nil, err
		}
		for i := range h.Jobs {
			j := &h.Jobs[i]
			if name == "" {
				name = j.Name
			}
			if j.Name != name {
				return nil, nil, fmt.Errorf("--history: runs of %q and of %q: want those of one job", name, j.Name)
			}
			one := workload.History{Jobs: h.Jobs[i : i+1]}
			r, err := analytic.RecordRun(one.Attempts(), j.Submit, j.Finish)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %s: %w", paths[0], j.ID, err)
			}
			runs = append(runs, r)
		}
		read, err := sumsOf(paths)
		if err != nil {
			return nil, nil, err
		}
		sums = append(sums, read...)
	}
	return runs, sums, nil
}

func (k *knowledge) arguments() []string {
	var args []string
	for _, f := range analytic.Files() {
		if name := *k.files[f.Name]; name != "" {
			args = append(args, "--"+f.Name+"="+name)
		}
	}
	for _, h := range k.history {
		args = append(args, "--history="+h)
	}
	return args
}

func (a *app) predictCommand() *cobra.Command {
	k, told := &asked{}, &knowledge{}
	var deadline time.Duration
	c := &cobra.Command{
		Use:   "predict SCENARIO",
		Short: "Ask every analytic model about a scenario",
		Long: `Ask every analytic model about a scenario. A model that cannot answer says why.
With --out the answers are written as a table and drawn. With --deadline they are
asked how many nodes, like those of the scenario, have its job done in time.`,
		Example: "  slotwave predict two-jobs\n  slotwave predict my.toml --platform-model platform.json --out out/predicted\n  slotwave predict my.toml --history out/my-runs --deadline 10m",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("deadline") {
				return a.provision(args[0], k, told, deadline)
			}
			return a.predict(args[0], k, told)
		},
	}
	k.flags(c, "none, nothing is written")
	told.flags(c)
	c.Flags().DurationVar(&deadline, "deadline", 0, "by when the job is to be done; prints nodes instead of times")
	return c
}

// openTold opens a scenario and reads what models are told besides.
func (a *app) openTold(name string, k *asked, told *knowledge) (*study, []analytic.Predictor, []results.FileSum, error) {
	models, sums, err := told.read()
	if err != nil {
		return nil, nil, nil, err
	}
	s, err := k.open(name)
	if err == nil && !k.quiet {
		a.warn(s.first.Warnings)
	}
	return s, models, sums, err
}

// provision asks every model how many nodes a deadline takes.
func (a *app) provision(name string, k *asked, told *knowledge, deadline time.Duration) error {
	if k.out != "" {
		return errors.New("--deadline: --out writes predictions of times: want one of the two")
	}
	s, models, _, err := a.openTold(name, k, told)
	if err != nil {
		return err
	}
	p := results.Provisions{Deadline: deadline}
	for i := range s.first.Runs {
		q := &s.first.Runs[i].Question
		list, err := analytic.Provision(*q, models, deadline)
		if err != nil {
			return err
		}
		for _, x := range list {
			p.Add(q, x)
		}
	}
	return a.show(k, p.WriteText, p.WriteJSON)
}

func (a *app) predict(name string, k *asked, told *knowledge) error {
	s, models, sums, err := a.openTold(name, k, told)
	if err != nil {
		return err
	}
	answers := &results.Answers{}
	for i := range s.first.Runs {
		list, err := ask(&s.first.Runs[i].Question, models)
		if err != nil {
			return err
		}
		answers.List = append(answers.List, list...)
	}
	if k.out != "" {
		write := func(d *results.Dir) error { return answers.Write(d, s.first.Title) }
		if err := a.keep(s, write, append(k.arguments("predict", name), told.arguments()...), sums); err != nil {
			return err
		}
	}
	return a.show(k, answers.WriteText, answers.WriteJSON)
}

// ask puts a question to every model. A model that cannot answer is no error;
// one whose knowledge makes no sense is.
func ask(q *model.WhatIf, models []analytic.Predictor) ([]results.Answer, error) {
	var list []results.Answer
	for _, m := range models {
		x, err := askOne(q, m)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

func askOne(q *model.WhatIf, m analytic.Predictor) (results.Answer, error) {
	p, err := m.Predict(*q)
	if err != nil && !errors.Is(err, model.ErrNotApplicable) {
		return results.Answer{}, fmt.Errorf("%s: %w", m.Name, err)
	}
	p.Model = m.Name
	return results.Answer{Scenario: q.Name, Prediction: p, Err: err}, nil
}

// keep writes results into the directory that was asked for.
func (a *app) keep(s *study, write func(*results.Dir) error, arguments []string, read []results.FileSum) error {
	k := s.asked
	d, err := results.Create(k.out, k.force)
	if err != nil {
		return err
	}
	defer d.Abort()
	a.writing.Store(d)
	if err := write(d); err != nil {
		return internal(err)
	}
	m, err := s.manifest(arguments)
	if err != nil {
		return err
	}
	m.Inputs = append(m.Inputs, read...)
	a.writing.Store(nil)
	return internal(d.Commit(m))
}

// show prints a result as text or as JSON.
func (a *app) show(k *asked, text func(io.Writer, bool) error, json func(io.Writer) error) error {
	var err error
	switch {
	case k.quiet:
	case k.json:
		err = json(a.stdout)
	default:
		err = text(a.stdout, results.UseColour(terminal(a.stdout)))
		if err == nil && k.out != "" {
			_, err = fmt.Fprintf(a.stdout, "\nresults in %s\n", printable(k.out))
		}
	}
	return internal(err)
}
