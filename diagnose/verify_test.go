package diagnose

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// twoFaults is a job whose copiers wait for memory and whose partitions are not
// even, with the question to it.
func twoFaults() *testRun {
	p := newTestRun()
	last := &p.jobs[0].Tasks[len(p.jobs[0].Tasks)-1].Attempts[0]
	last.ShuffleBytes, last.InBytes = 900*mb, 900*mb
	p.each(func(a *workload.HistoryAttempt) {
		if a.Kind == workload.Reduce {
			a.WaitMemory = a.Phases[workload.PhaseShuffle] / 2
		}
	})
	p.question = &model.WhatIf{
		Jobs:    []workload.Job{{ID: "j", Reduces: workload.ReduceTasks{Count: 40, Shares: []float64{1}}}},
		Cluster: model.Cluster{Nodes: slices.Repeat([]model.Node{{MapSlots: 4, ReduceSlots: 4}}, 10)},
	}
	return p
}

// Findings whose change gains come first, by their gain; those that gain nothing
// come last and say so; all that gain are tested together.
func TestVerify(t *testing.T) {
	const buffer = "mapred.job.shuffle.input.buffer.percent"
	for _, c := range []struct {
		gain          float64 // of the buffer
		first, second Outcome
		together      bool
		sentence      string
	}{
		{0.3, Confirmed, Withdrawn, false, `Main cause in job j: copiers wait for memory. The change "mapred.job.shuffle.input.buffer.percent = 0.9" saves 30.0 % ± 0.0.`},
		{0.001, Withdrawn, Withdrawn, false, "No change gains anything: all findings are withdrawn."},
	} {
		p := twoFaults()
		in := p.input()
		in.Question, in.Resources = p.question, p.resources
		o := DefaultOptions()
		o.Thresholds.MapOutput, o.Thresholds.LateShuffle = 1, 1 // only the two faults
		o.Verify = DefaultVerification(&fakePredictor{gains: map[string]float64{buffer: c.gain}})
		d, err := Run(context.Background(), in, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Findings) != 2 {
			t.Fatalf("%d findings, want R19 and R25: %+v", len(d.Findings), d.Findings)
		}
		a, b := d.Findings[0], d.Findings[1]
		if a.Receipt.Outcome != c.first || b.Receipt.Outcome != c.second || a.Rank != 1 || b.Rank != 2 || (d.Together != nil) != c.together {
			t.Errorf("gain %v: %s %+v, %s %+v, together %v", c.gain, a.Rule, a.Receipt, b.Rule, b.Receipt, d.Together)
		}
		if c.first == Confirmed && (a.Rule != "R19" || a.Receipt.Gain < 0.29) {
			t.Errorf("%s first with %+v, want R19 with 30 %%", a.Rule, a.Receipt)
		}
		var text strings.Builder
		d.Text(&text, true)
		if joined := strings.Join(strings.Fields(text.String()), " "); !strings.HasPrefix(joined, c.sentence) {
			t.Errorf("%s\nwant it to begin with %q", text.String(), c.sentence)
		}
		findings := strings.Split(written(t, d)["findings.csv"], "\n")
		if !strings.HasPrefix(findings[1], "1,j,"+a.Rule+",") || !strings.Contains(findings[1], ",5,"+string(c.first)) {
			t.Errorf("findings.csv: %s", findings[1])
		}
	}
}

// An outlier is critical until its repair is tested and gains nothing.
func TestUncritical(t *testing.T) {
	for _, c := range []struct {
		predictor model.Predictor
		critical  bool
	}{{nil, true}, {&fakePredictor{}, false}} {
		p := twoFaults()
		last := &p.jobs[0].Tasks[len(p.jobs[0].Tasks)-1].Attempts[0]
		last.Finish, last.Phases[workload.PhaseShuffle] = last.Finish+30*s, last.Phases[workload.PhaseShuffle]+30*s
		p.jobs[0].Finish += 30 * s
		in, o := p.input(), DefaultOptions()
		in.Question = p.question
		if c.predictor != nil {
			o.Verify = DefaultVerification(c.predictor)
		}
		d, err := Run(context.Background(), in, o)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		d.Text(&text, true)
		files := written(t, d)
		stages := strings.Contains(files["stages.csv"], "j,reduce,,40,") && strings.Contains(files["stages.csv"], ",1,1\n")
		if stages != c.critical || strings.Contains(files["outliers.csv"], ",true,") != c.critical || strings.Contains(text.String(), ", 0 of them critical") == c.critical {
			t.Errorf("tested %v: want an outlier that is critical: %v\n%s\n%s\n%s", c.predictor != nil, c.critical, text.String(), files["outliers.csv"], files["stages.csv"])
		}
	}
}

// Of the repairs of a task and of its node one that gains is enough, also if it was tested
// for all jobs; one that nobody tested takes nothing away.
func TestUncriticalByOneGain(t *testing.T) {
	finding := func(job, node string, outcome Outcome, tasks ...string) Finding {
		return Finding{Job: job, Node: node, Tasks: tasks, weight: weightUnusual, Receipt: Receipt{Pairs: 5, Outcome: outcome}}
	}
	for name, c := range map[string]struct {
		findings []Finding
		critical bool
	}{
		"none":                 {nil, true},
		"both gain nothing":    {[]Finding{finding("j", "", Withdrawn, "j/m/1"), finding("j", "n", Withdrawn)}, false},
		"the task gains":       {[]Finding{finding("j", "", Confirmed, "j/m/1"), finding("j", "n", Withdrawn)}, true},
		"the node, for all":    {[]Finding{finding("j", "n", Withdrawn), finding(meanJob, "n", Confirmed)}, true},
		"another node gains":   {[]Finding{finding("j", "n", Withdrawn), finding("j", "o", Confirmed)}, false},
		"a setting that loses": {[]Finding{finding("j", "", Withdrawn)}, true},
	} {
		d := Diagnosis{Findings: c.findings, Jobs: []JobDiagnosis{{Outliers: []Outlier{{Job: "j", Task: "j/m/1", Node: "n", Critical: true}}}}}
		if d.uncritical(); d.Jobs[0].Outliers[0].Critical != c.critical {
			t.Errorf("%s: critical %v", name, !c.critical)
		}
	}
}

// The same input gives the same bytes.
func TestSameBytes(t *testing.T) {
	var first map[string]string
	for range 3 {
		h := openShared(t, "hitune-sort")
		p := newTestRun()
		in := Input{Jobs: jobsOf(h), Dataflow: openHiTune(t), Resources: p.resources}
		d, err := Run(context.Background(), in, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		got := written(t, d)
		if first == nil {
			first = got
		}
		for name, text := range got {
			if text != first[name] {
				t.Errorf("%s differs", name)
			}
		}
	}
}

// A budget that is used up leaves findings untested, and no pairs are an error.
func TestVerifyLimits(t *testing.T) {
	p := twoFaults()
	in := p.input()
	in.Question = p.question
	o := DefaultOptions()
	o.Verify = DefaultVerification(&fakePredictor{})
	o.Verify.Most = 1
	d, err := Run(context.Background(), in, o)
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, f := range d.Findings {
		if f.Receipt.Outcome != Untested {
			tested++
		} else if !strings.Contains(f.Receipt.Note, "only the first change was tested") {
			t.Errorf("%+v", f.Receipt)
		}
	}
	if tested != 1 {
		t.Errorf("%d findings tested, want 1", tested)
	}
	o.Verify.Pairs = 1
	if _, err := Run(context.Background(), in, o); err == nil || !strings.Contains(err.Error(), "pairs: got 1 to 20: want 2 or more") {
		t.Errorf("one pair: error %v", err)
	}
	o = DefaultOptions()
	o.Job = "other"
	if _, err := Run(context.Background(), in, o); err == nil || !strings.Contains(err.Error(), `job: got "other"`) {
		t.Errorf("unknown job: error %v", err)
	}
}
