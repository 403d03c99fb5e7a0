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

// Another change for one cause comes after the other causes, and so does the same change
// of the cluster for another job; faults of one node, stages of a rule and pools have
// their own places.
func TestOnePlaceForEachCause(t *testing.T) {
	of := func(job, rule, device, evidence, key, text string) Finding {
		f := Finding{Job: job, Rule: rule, Device: device, Evidence: evidence, Change: &Change{Key: key, Text: text}, weight: 1, Receipt: Receipt{Outcome: Confirmed}}
		if device != "" {
			f.Node = "n"
		}
		return f
	}
	for name, c := range map[string]struct {
		finding Finding
		last    bool
	}{
		"other change for the evidence":  {of("j", "R06", "", "gzip", "codec", "lzo"), true},
		"other value of the key, all":    {of(meanJob, keyRule, "", "CPU", "compress", "2"), true},
		"change of the cluster again":    {of("k", "R15", "", "reduces wait", "scheduler.name", "fair2"), true},
		"other stage of the rule":        {of("j", "R15", "", "reduces wait", "scheduler.name", "no limit"), false},
		"other pool":                     {of("j", "R15", "", "maps of b wait", "scheduler.name", "no limit of b"), false},
		"same evidence of another job":   {of("k", "R06", "", "gzip", "codec", "lzo"), false},
		"other fault of the same device": {of("j", "R17", "disk0", "load", "node n", "no load"), false},
		"other key for the same account": {of(meanJob, keyRule, "", "CPU", "slots", "2"), false},
		"other rule without a key":       {of("j", "R25", "", "skew", "", "even"), false},
	} {
		d := Diagnosis{}
		for i, f := range []Finding{
			of("j", "R06", "", "gzip", "compress", "false"), of("j", "R15", "", "maps wait", "scheduler.name", "fair2"), of("j", "R16", "disk0", "slow", "node n", "disk0"), of("j", "R08", "", "input", "", "other"),
		} {
			f.Receipt.ranked = []float64{0.9, 0.8, 0.7, 0.1}[i]
			d.Findings = append(d.Findings, f)
		}
		c.finding.Receipt.ranked = 0.5
		d.Findings = append(d.Findings, c.finding)
		d.rank()
		if last := d.Findings[len(d.Findings)-1].Change == c.finding.Change; last != c.last {
			t.Errorf("%s: last %v, want %v", name, last, c.last)
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
