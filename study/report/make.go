package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study/compare"
	"github.com/slotwave/slotwave/study/diagnosis"
	"github.com/slotwave/slotwave/study/play"
	"github.com/slotwave/slotwave/study/predict"
	"github.com/slotwave/slotwave/workload"
)

// Write diagnoses each path, the folder of a result or a history, and writes a
// page with all of them side by side. Of the result of a study, or of a run on
// YARN, it shows the table and the pictures. If building is not nil, the page has
// the simulator, and building is told if that takes long. It returns the paths of
// the runs that it diagnosed, and what the second of two has changed.
func Write(w io.Writer, paths []string, k diagnosis.Options, building func(string)) (diagnosed []string, compared string, warnings []string, err error) {
	page := Page{Title: "slotwave report"}
	var names []string
	var all []*diagnosis.Diagnosis
	k.Attempts = true
	tried := false
	for _, path := range paths {
		if s, err := studyAt(path); err != nil {
			return nil, "", nil, err
		} else if s != nil {
			if k.Anonymise {
				return nil, "", nil, fmt.Errorf("%s: --anonymise: got the result of a study, which names what it varies: want results of runs or histories", path)
			}
			names = append(names, s.Name)
			page.Studies = append(page.Studies, *s)
			continue
		}
		d, err := diagnosis.Diagnose([]string{path}, k)
		if err != nil {
			return nil, "", nil, err
		}
		if d.Attempts == nil {
			return nil, "", nil, fmt.Errorf("%s: got no jobs: want the folder of a result, or a history", path)
		}
		name := filepath.Base(filepath.Clean(path))
		if k.Anonymise {
			name = fmt.Sprintf("run-%d", len(names)+1)
		}
		run, err := reported(d, name)
		if err != nil {
			return nil, "", nil, err
		}
		if building != nil {
			run.offerTrials(strings.TrimSuffix("slotwave diagnose "+path+" --on "+k.On, " --on "))
			tried = tried || run.Packed != nil
		}
		names, diagnosed = append(names, run.Name), append(diagnosed, path)
		page.Runs = append(page.Runs, run)
		warnings, all = append(warnings, d.Warnings...), append(all, d)
	}
	page.Title += ": " + strings.Join(names, ", ")
	if len(page.Runs) == 2 {
		page.Difference = difference(page.Runs[0], page.Runs[1])
	}
	if tried {
		if page.Engine, err = play.Load(building); err != nil {
			return nil, "", nil, err
		}
	} else if building != nil {
		warnings = append(warnings, "the page has no simulator: no change of a run on it can be simulated")
	}
	err = page.Write(w)
	for _, d := range all {
		err = cmp.Or(d.Err, err)
	}
	return diagnosed, page.Difference, warnings, err
}

// difference says in a sentence what the second run has changed of the jobs that
// both have.
func difference(before, after *Run) string {
	var times [2]map[string]time.Duration
	for i, r := range []*Run{before, after} {
		times[i] = map[string]time.Duration{}
		for k := range r.Jobs {
			times[i][r.Jobs[k].ID] = r.Jobs[k].Finish - r.Jobs[k].Submit
		}
	}
	e := diagnose.EffectOf([2][]map[string]time.Duration{times[:1], times[1:]}, [2]*model.WhatIf{{}, {}})
	if e.Jobs == 0 {
		return ""
	}
	e.Worst = text.Escape(e.Worst)
	return fmt.Sprintf("%s against %s, %s in both: %s.", after.Name, before.Name, text.Count(e.Jobs, "job"), e)
}

// folded are the tables of a diagnosis that a page folds, with their titles.
var folded = map[string]string{"outliers.csv": "Outliers", "correlations.csv": "Correlations", "breakdown.csv": "Threads"}

// reported returns the diagnosis as a run of a report.
func reported(d *diagnosis.Diagnosis, name string) (*Run, error) {
	r := &Run{Diagnosis: d, Name: text.Escape(name), Verdict: d.Conclusion(), Answers: answersOf(d)}
	err := d.Diagnosis.Write(func(name string, content func(io.Writer) error) error {
		if folded[name] == "" {
			return nil
		}
		var b bytes.Buffer
		if err := content(&b); err != nil {
			return err
		}
		t, err := readTable(folded[name], &b)
		if len(t.Rows) > 0 {
			r.Tables = append(r.Tables, t)
		}
		return err
	})
	if len(d.Findings) > 0 && !slices.ContainsFunc(d.Findings, func(f diagnose.Finding) bool { return f.Receipt.Pairs > 0 }) {
		hint := " The flag --verify tests them; with --play the page does."
		if slices.ContainsFunc(d.Unknown, func(u diagnose.Unknown) bool { return u.What == "cluster and settings" }) {
			hint = " To test them, name a scenario of this cluster with --on."
		}
		r.Verdict += hint
	}
	if d.Dataflow != nil {
		r.Sampled = sampledFlow(d.Dataflow)
	}
	return r, err
}

// sampledFlow returns the dataflow of sampling records, with its inputs and outputs
// as vertices without time.
func sampledFlow(d *diagnose.Dataflow) *Flow {
	vertices, edges := d.Graph()
	f, at := &Flow{}, map[string]int{}
	add := func(v Vertex) {
		at[v.Name] = len(f.Vertices)
		f.Vertices = append(f.Vertices, v)
	}
	for _, v := range vertices {
		add(Vertex{Name: v.Name, Busy: int64(1000 * v.Busy), Idle: int64(1000 * v.Idle), Runs: v.Stages})
	}
	for _, e := range edges {
		for _, end := range []string{e.From, e.To} {
			if _, known := at[end]; !known {
				add(Vertex{Name: end})
			}
		}
		f.Edges = append(f.Edges, Edge{From: at[e.From], To: at[e.To], Text: e.Kind})
	}
	return f
}

// answersOf asks the models what the run should have taken. A question that is too
// large for their comparison has none.
func answersOf(d *diagnosis.Diagnosis) []results.Answer {
	if d.Question == nil || len(d.Jobs) == 0 || d.Question.Tasks() > compare.MaxAttributedTasks {
		return nil
	}
	submit := time.Duration(math.MaxInt64)
	for i := range d.Question.Jobs {
		submit = min(submit, d.Question.Jobs[i].Submit)
	}
	models := []analytic.Predictor{}
	if d.On { // else the run is the simulation
		models = append(models, analytic.Predictor{Model: analytic.Model{Name: compare.Simulation}, Predictor: sim.Simulator{}})
	}
	known, err := analytic.Predictors(analytic.Inputs{})
	if err != nil {
		return nil
	}
	var list []results.Answer
	for _, m := range append(models, known...) {
		x, err := predict.AskOne(d.Question, m)
		if err != nil {
			x.Err = err
		}
		p := &x.Prediction
		p.Model, p.Mean = m.Name, p.Mean-submit
		maps := 0 // phases; a model with one has the whole map under its name
		for _, ph := range p.Phases {
			if ph.Kind == workload.Map {
				maps++
			}
		}
		if maps < 2 || len(d.Question.Jobs) > 1 {
			p.Phases = nil
		}
		list = append(list, x)
	}
	return list
}

// offered puts an offer into words: its time, node, free slots, the jobs that were
// asked, and why slots stayed free.
func offered(o *model.Offer) [5]any {
	var free, asked, declined []string
	for kind, n := range o.Free {
		if n > 0 {
			free = append(free, workload.Counted(n, workload.Kind(kind).String(), workload.Kind(kind).String()+"s"))
		}
		if why := o.Reason[kind]; why != model.NotDeclined {
			declined = append(declined, workload.Kind(kind).String()+": "+why.String())
		}
	}
	for i := range o.Asked {
		a := &o.Asked[i]
		answer := a.Reason.String()
		if a.Task >= 0 {
			answer = fmt.Sprintf("launches %s %d", a.Kind, a.Task)
		}
		if f := &a.Figures; f.Share > 0 || f.Deficit != 0 {
			answer += fmt.Sprintf(" (running %d, share %.1f", f.Running, f.Share)
			if f.Deficit != 0 {
				answer += fmt.Sprintf(", deficit %.0f s", f.Deficit.Seconds())
			}
			answer += ")"
		}
		asked = append(asked, a.Job+": "+answer)
	}
	if o.Repeats > 0 {
		declined = append(declined, fmt.Sprintf("%d more offers alike", o.Repeats))
	}
	return [5]any{micros(o.Time), o.Node, strings.Join(free, ", "), strings.Join(asked, "; "), strings.Join(declined, "; ")}
}
