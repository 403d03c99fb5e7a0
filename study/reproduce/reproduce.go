// Package reproduce simulates the experiments of papers, and answers each of their
// claims by where it is true: over the inputs that the paper does not state.
//
//	Papers     -> claims/PAPER.toml     what a paper prints, where, and how it is measured (claims)
//	Reproduce  -> Reproduction          the page of one paper (answer)
//	All        -> Answers               a table of the claims of all papers (verdict)
//
//	Experiment.points -> tables of runs (experiment), or of procedures (zhang, khan, herodotou)
//	                  -> measures of claims (measure) -> Answer
package reproduce

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/study"

	"golang.org/x/sync/errgroup"
)

// procedure makes the tables of an experiment that is no run of a scenario, with
// settings of what it simulates, and parts of the page besides the claims.
type procedure struct {
	tables func(r *reproducing) (tables, error)
	parts  func(r *reproducing) ([]ReproducedPart, error) // nil: none
}

// procedures by name.
var procedures = map[string]procedure{
	"equations":       {tables: herodotouTables},
	"evaluation":      {tables: khanTables},
	"benchmarks":      {zhangBenchmarks, zhangTable1},
	"applications-5":  {zhangFiveTables, zhangFive},
	"applications-64": {zhangManyTables, zhangMany},
}

// Find returns the paper with a name.
func Find(name string) (*Paper, error) {
	papers, err := Papers()
	if err != nil {
		return nil, study.Internal(err)
	}
	var known []string
	for i := range papers {
		if papers[i].Name == name {
			return &papers[i], nil
		}
		known = append(known, papers[i].Name)
	}
	return nil, fmt.Errorf("no paper %q%s", name, input.Suggest(name, known))
}

// All answers the claims of all papers.
func All(o Reproducing) (all Answers, err error) {
	papers, err := Papers()
	if err != nil {
		return nil, study.Internal(err)
	}
	r, end, err := start(o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	for i := range papers {
		p := &papers[i]
		for k := range p.Experiment {
			e := &p.Experiment[k]
			answers, err := r.answers(p.Name, e)
			if err != nil {
				return nil, fmt.Errorf("%s, %w", p.Name, err)
			}
			all = append(all, answers...)
		}
	}
	return all, nil
}

// Reproduce runs what a paper ran, and returns its claims with where they are true,
// and its tables and figures beside the published ones.
func Reproduce(name string, o Reproducing) (page *Reproduction, err error) {
	p, err := Find(name)
	if err != nil {
		return nil, err
	}
	if o.Figure != "" && !slices.ContainsFunc(p.Experiment, func(e Experiment) bool { return e.named(o.Figure) }) {
		return nil, fmt.Errorf("--figure %s: %s has no such part: want one of %s", o.Figure, p.Name, strings.Join(p.Parts(), ", "))
	}
	r, end, err := start(o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	page = &Reproduction{Paper: p.Name, Title: p.Title, Source: p.Source, Missing: p.Missing}
	for i := range p.Experiment {
		e := &p.Experiment[i]
		if o.Figure != "" && !e.named(o.Figure) {
			continue
		}
		answers, err := r.answers(p.Name, e)
		if err != nil {
			return nil, fmt.Errorf("%s, %w", p.Name, err)
		}
		page.Answers = append(page.Answers, answers...)
		page.Parts = append(page.Parts, e.part(answers, r.assumed[e.Name]))
		if procedures[e.Procedure].parts == nil {
			continue
		}
		parts, err := procedures[e.Procedure].parts(r)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", p.Name, e.Name, err)
		}
		page.Parts = append(page.Parts, parts...)
	}
	page.Warnings = r.warnings
	shareAssumptions(page)
	return page, nil
}

// part is the part of the page with the claims of an experiment.
func (e *Experiment) part(answers []Answer, assumed []string) ReproducedPart {
	part := ReproducedPart{
		Name: e.Name, Title: e.Title, Text: e.Text, Assumed: assumed,
		Header: []string{"claim", "place", "the paper says", "simulated", "true at", "verdict"},
	}
	if e.Scenario != "" && e.Procedure == "" {
		part.Text = strings.TrimSpace(part.Text + fmt.Sprintf(" `slotwave run %s` draws the tasks of the scenario over time.", e.Scenario))
	}
	for i := range e.Inputs {
		u := &e.Inputs[i]
		part.Unknown = append(part.Unknown, fmt.Sprintf("%s, %s: %s", u.Name, u.rangeText(), u.Source))
	}
	for i := range answers {
		a := &answers[i]
		verdict := a.Verdict
		if area := a.Area(); area != "" {
			verdict += ": " + area
		}
		part.Rows = append(part.Rows, []string{a.Claim.Text, a.Claim.Place, a.Says(), a.Simulated(), a.Share(), verdict})
		part.Causes = append(part.Causes, a.Cause())
		part.Charts = append(part.Charts, a.charts()...)
	}
	return part
}

// shareAssumptions moves to the page what all simulated cases assume.
func shareAssumptions(page *Reproduction) {
	var lists [][]string
	for _, p := range page.Parts {
		if len(p.Assumed) > 0 {
			lists = append(lists, p.Assumed)
		}
	}
	if len(lists) < 2 {
		return
	}
	for _, a := range lists[0] {
		if !slices.ContainsFunc(lists, func(list []string) bool { return !slices.Contains(list, a) }) {
			page.Assumed = append(page.Assumed, a)
		}
	}
	for i := range page.Parts {
		p := &page.Parts[i]
		p.Assumed = slices.DeleteFunc(p.Assumed, func(a string) bool { return slices.Contains(page.Assumed, a) })
	}
}

// answers judges the claims of an experiment at each choice of the unknown inputs, and
// those that hold at none between them.
func (r *reproducing) answers(paper string, e *Experiment) ([]Answer, error) {
	switch {
	case e.Scenario == "" && e.Procedure == "":
		return e.judged(paper, nil), nil
	case e.Scenario == "": // nothing varies
		all := make([]point, 1)
		err := r.once(paper, e, &all[0], func() (tables, error) { return r.follow(e, nil) })
		return e.judged(paper, all), err
	}
	s, err := r.sampled(e)
	if err != nil {
		return nil, err
	}
	tablesAt := func(settings []string) (tables, error) { return e.simulatePoint(s, settings) }
	var group errgroup.Group
	group.SetLimit(r.NumWorkers())
	if e.Procedure != "" { // its own runs are concurrent
		tablesAt = func(settings []string) (tables, error) { return r.follow(e, settings) }
		group.SetLimit(1)
	} else {
		r.assumed[e.Name] = s.Base.Scenario.Assumed
	}
	answer := func(p *point) error {
		return r.once(paper, e, p, func() (tables, error) { return tablesAt(e.settings(p.Inputs)) })
	}
	all := make([]point, s.NumPoints)
	for k := range all {
		group.Go(func() error {
			if len(e.Inputs) > 0 {
				all[k].Inputs = s.Values(k)
			}
			return answer(&all[k])
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	list := e.judged(paper, all)
	for i := range list {
		if err := list[i].seek(e, i, answer); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// follow makes the tables of a procedure with settings.
func (r *reproducing) follow(e *Experiment, settings []string) (tables, error) {
	work, err := os.MkdirTemp(r.work, "point-")
	if err != nil {
		return nil, err
	}
	at := &reproducing{Reproducing: r.Reproducing, work: work, done: map[string]any{}, assumed: map[string][]string{}}
	at.Set = settings
	return procedures[e.Procedure].tables(at)
}
