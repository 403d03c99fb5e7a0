// Package live answers the questions of the page that slotwave play writes. Natively the
// tests ask them; in the page a worker asks package wasm, which is compiled for the
// browser and calls this package.
//
//	open    a scenario, trace or history: its runs, what is known of it
//	keys    the keys of a run of it, with their values
//	run     simulate one of two settings: the picture and the jobs
//	differ  compare the two settings that were simulated last, in words
//	explain, ledger, attempts, toml    more about one of them
package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study/simulated"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// Session holds the opened scenario, whose traces are read once, and the last run of
// each of two settings. The zero value is ready.
type Session struct {
	file  *scenarios.File
	all   *scenarios.Scenario // of the file without settings
	sides [2]side
}

// side is one of the two settings.
type side struct {
	question *model.WhatIf // nil: not simulated yet
	run      simulated.Run
	traced   bool // the run has offers
	whole    bool // the run has all attempts
}

// Asked is a request of the page.
type Asked struct {
	Verb string
	Name string   // of open: a shipped scenario or a file
	Side int      // 0 or 1
	Set  []string // KEY=VALUE, as --set takes them
	Run  int      // of a scenario with [vary]
	Seed uint64
	Task string // of explain: job/m/12
	Job  string // of ledger and differ; empty: all jobs

	Question []byte // of run, from Pack: answered in place of a scenario's
}

// Answer answers a request with JSON, and with the columns of a picture or a file.
func (s *Session) Answer(request []byte) (answer, data []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("internal error: %v", v)
		}
	}()
	var a Asked
	if err := json.Unmarshal(request, &a); err != nil {
		return nil, nil, err
	}
	if a.Side < 0 || a.Side >= len(s.sides) {
		return nil, nil, fmt.Errorf("side: got %d: want 0 or 1", a.Side)
	}
	var v any
	switch a.Verb {
	case "open":
		v, err = s.open(&a)
	case "keys":
		v, err = s.keys(&a)
	case "run":
		v, data, err = s.simulate(&a)
	case "differ":
		v, err = s.differ(&a)
	case "explain":
		v, err = s.explain(&a)
	case "ledger":
		v, err = s.ledger(&a)
	case "attempts":
		data, err = s.attempts(&a)
	case "toml":
		v, err = s.toml(&a)
	default:
		err = fmt.Errorf("verb: got %q", a.Verb)
	}
	if err != nil {
		return nil, nil, err
	}
	answer, err = json.Marshal(v)
	return answer, data, err
}

// opened is the answer to open.
type opened struct {
	Name, Title, Source string
	Runs                []string // names of the variations; one empty name without [vary]
	Varied              []string // keys of [vary]
	Nodes               []string
	Fidelity            string
	Jobs                int
	Shipped             [][2]string // names and titles of all scenarios
}

// Open opens a scenario as the page does.
func (s *Session) Open(name string, seed uint64) error {
	_, err := s.open(&Asked{Name: name, Seed: seed})
	return err
}

func (s *Session) open(a *Asked) (*opened, error) {
	f, err := scenarios.Open(a.Name)
	if err != nil {
		return nil, err
	}
	all, err := f.Scenario(max(1, a.Seed))
	if err != nil {
		return nil, err
	}
	if all.OnYARN() {
		return nil, fmt.Errorf("%s: got a scenario on YARN: want one on slots; slotwave run simulates YARN", all.Name)
	}
	o := &opened{Name: all.Name, Title: all.Title, Source: all.Source}
	for i := range all.Runs {
		o.Runs = append(o.Runs, all.Runs[i].Name)
	}
	if o.Varied, err = f.Varied(); err != nil {
		return nil, err
	}
	q := &all.Runs[0].Question
	o.Fidelity, o.Jobs = q.Fidelity.String(), len(q.Jobs)
	for i := range q.Cluster.Nodes {
		o.Nodes = append(o.Nodes, q.Cluster.Nodes[i].Name)
	}
	for _, name := range scenarios.List() {
		if !scenarios.OnYARN(name) {
			o.Shipped = append(o.Shipped, [2]string{name, scenarios.Title(name)})
		}
	}
	s.file, s.all, s.sides = f, all, [2]side{}
	return o, nil
}

// keys answers with the keys of a run that the page offers.
func (s *Session) keys(a *Asked) ([]scenarios.Key, error) {
	if s.file == nil {
		return nil, errNotOpen
	}
	f, err := s.file.With(s.all.Settings(s.index(a))...)
	if err != nil {
		return nil, err
	}
	keys, err := f.Keys()
	for i := range keys {
		if keys[i].Name == "cluster.hadoop" {
			keys[i].Words = slices.DeleteFunc(slices.Clone(keys[i].Words), func(name string) bool {
				r, err := model.FindRelease(name)
				return err == nil && r.YARN != nil
			})
		}
	}
	return keys, err
}

// index is the place of the wanted run in the scenario without settings.
func (s *Session) index(a *Asked) int { return min(max(0, a.Run), len(s.all.Runs)-1) }

var errNotOpen = errors.New("no scenario is open")

// question makes the run of some settings: the wanted one, whose varied keys keep their
// values unless a setting replaces them.
func (s *Session) question(a *Asked) (*scenarios.Scenario, *scenarios.Run, error) {
	if s.file == nil {
		return nil, nil, errNotOpen
	}
	f, err := s.file.With(a.Set...)
	if err != nil {
		return nil, nil, err
	}
	all, err := f.Scenario(max(1, a.Seed))
	if err != nil {
		return nil, nil, err
	}
	if all.OnYARN() {
		return nil, nil, errors.New("cluster.hadoop: got a release of YARN: want one with slots; slotwave run simulates YARN")
	}
	wanted := s.all.Runs[s.index(a)].Levels
	i := slices.IndexFunc(all.Runs, func(r scenarios.Run) bool {
		return !slices.ContainsFunc(r.Levels, func(l scenarios.Level) bool { return !slices.Contains(wanted, l) })
	})
	if i < 0 { // a setting varies a key
		i = min(s.index(a), len(all.Runs)-1)
	}
	return all, &all.Runs[i], nil
}

// simulate answers run.
func (s *Session) simulate(a *Asked) (*picture, []byte, error) {
	var q *model.WhatIf
	all, run, err := &scenarios.Scenario{}, &scenarios.Run{}, error(nil)
	if a.Question != nil {
		q, err = unpack(a.Question)
	} else if all, run, err = s.question(a); err == nil {
		q = &run.Question
	}
	if err != nil {
		return nil, nil, err
	}
	k := newRecorder(q)
	p, err := sim.Simulator{Recorder: k}.Predict(*q)
	if err != nil {
		return nil, nil, err
	}
	s.sides[a.Side] = side{question: q, run: simulated.Run{Question: q, Prediction: p, Attempts: k.attempts}, whole: k.whole()}
	v, data := k.picture(&p)
	v.Variation = run.Name
	v.Warnings, v.Assumed = append(append(v.Warnings, all.Warnings...), p.Warnings...), append(v.Assumed, all.Assumed...)
	return v, data, nil
}

// mostTraced is the largest number of tasks of a run that is simulated again with the
// decisions of its scheduler.
const mostTraced = 200_000

// whole returns the last run of one of the two settings with its attempts, and with the
// slots that heartbeats offered if they are wanted.
func (s *Session) whole(i int, traced bool) (*simulated.Run, error) {
	k := &s.sides[i]
	switch {
	case k.question == nil:
		return nil, errNotOpen
	case k.whole && (k.traced || !traced):
		return &k.run, nil
	case k.question.Tasks() > mostTraced:
		return nil, fmt.Errorf("the run has more than %d tasks: slotwave run --trace and slotwave explain answer this", mostTraced)
	}
	r := simulated.Run{Question: k.question}
	simulator := sim.Simulator{Recorder: &r.Attempts}
	if traced {
		simulator.Tracer = &r.Offers
	}
	p, err := simulator.Predict(*k.question)
	r.Prediction = p
	if err == nil {
		k.run, k.whole, k.traced = r, true, traced
	}
	return &k.run, err
}

// explain answers with the sentences of slotwave explain.
func (s *Session) explain(a *Asked) (string, error) {
	r, err := s.whole(a.Side, true)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	err = diagnose.Explain(&text, diagnose.Input{Jobs: simulated.Jobs(r.History()), Offers: r.Offers, Question: r.Question}, diagnose.Explained{Task: a.Task})
	return text.String(), err
}

// ledgerStep is a step of a ledger, in milliseconds.
type ledgerStep struct {
	From, To                   float64
	Account, Attempt, Node, By string
}

// ledger answers with the steps of a job.
func (s *Session) ledger(a *Asked) ([]ledgerStep, error) {
	r, err := s.whole(a.Side, false)
	if err != nil {
		return nil, err
	}
	jobs, err := r.Ledgers(a.Job)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	steps := []ledgerStep{}
	for _, l := range jobs[0].Ledger {
		steps = append(steps, ledgerStep{millis(l.From), millis(l.To), l.Account.String(), l.Attempt, l.Node, workload.Escape(l.By)})
	}
	return steps, nil
}

// attempts answers with attempts.csv as slotwave convert --to csv writes it.
func (s *Session) attempts(a *Asked) ([]byte, error) {
	r, err := s.whole(a.Side, false)
	if err != nil {
		return nil, err
	}
	if !simulated.Counts(r.Question) {
		for i := range r.Attempts {
			r.Attempts[i].SetUncounted()
		}
	}
	var b bytes.Buffer
	for _, f := range trace.Formats() {
		if f.Name != "csv" {
			continue
		}
		out, err := f.Write(r.History())
		if err != nil {
			return nil, err
		}
		for _, file := range out.Files {
			if file.Name == "attempts.csv" {
				err = errors.Join(err, file.Write(&b))
			}
		}
		return b.Bytes(), err
	}
	return nil, errors.New("attempts.csv: no format writes it")
}

// toml answers with the scenario under the settings of a side.
func (s *Session) toml(a *Asked) (string, error) {
	if s.file == nil {
		return "", errNotOpen
	}
	f, err := s.file.With(a.Set...)
	if err != nil {
		return "", err
	}
	return f.Text()
}
