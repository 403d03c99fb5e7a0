package validation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

type attemptRows []workload.Attempt

type spanRows []model.Span

func (k *spanRows) Span(s *model.Span) { *k = append(*k, *s) }

func (k spanRows) all(yield func(*model.Span) bool) {
	for i := range k {
		if !yield(&k[i]) {
			return
		}
	}
}

func (k *attemptRows) Attempt(a *workload.Attempt) { *k = append(*k, *a) }

// randomScenario writes a small random scenario of any fidelity and scheduler.
func randomScenario(r *rand.Rand) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	fidelity := []string{"replay", "profile", "phase", "device"}[r.IntN(4)]
	line("fidelity = %q\n[cluster]\nhadoop = %q\nnodes = %d\nracks = %d\nmap_slots = %d\nreduce_slots = %d\nplatform = \"dl145-g3\"\nshared_slots = %t",
		fidelity, []string{"0.20.2", "1.0.4", "1.2.1", "ideal"}[r.IntN(4)], 1+r.IntN(6), 1+r.IntN(2), 1+r.IntN(3), 1+r.IntN(2), r.IntN(4) == 0)
	line("[scheduler]\nname = %q", []string{"fifo", "fair1", "fair2", "capacity", "maxedf", "minedf"}[r.IntN(6)])
	line("[conf]\n\"mapred.map.tasks.speculative.execution\" = %t\n\"mapred.reduce.slowstart.completed.maps\" = %.2f", r.IntN(2) == 0, r.Float64())
	for i := range 1 + r.IntN(4) {
		maps, reduces := 1+r.IntN(12), r.IntN(4)
		line("[[job]]\nname = \"job%d\"\nsubmit = \"%ds\"\nmaps = %d\nreduces = %d\ndeadline = \"10m\"", i, r.IntN(60), maps, reduces)
		switch fidelity {
		case "replay":
			line("map_ms = %d\nreduce_shuffle_ms = %d\nreduce_sort_ms = 500\nreduce_ms = %d", 1000+r.IntN(20000), r.IntN(9000), r.IntN(9000))
			if r.IntN(3) == 0 {
				line("map_fail_ms = { \"0\" = [%d, -1] }", 100+r.IntN(3000))
			}
		case "profile":
			line("duration = { dist = \"lognormal\", mean = \"%ds\", sd = \"3s\" }\nshuffle_duration = \"4s\"\nsort_duration = \"1s\"\nreduce_duration = \"3s\"", 2+r.IntN(20))
		default:
			line("profile = \"wordcount\"\ninput = \"%d MB\"", maps*(1+r.IntN(60)))
		}
	}
	return b.String()
}

// The ledger of every job adds up to its time, to the nanosecond, at every
// fidelity and under every scheduler.
func TestLedgersOfRandomRuns(t *testing.T) {
	n := 60
	if layers.Whole {
		n = 1000
	}
	jobs := 0
	for seed := range n {
		text := randomScenario(rand.New(rand.NewPCG(uint64(seed), 4)))
		q, p, rows, spans := traceText(t, text, uint64(seed))
		in := diagnose.Input{Jobs: asHistory(&q, &p, rows), Question: &q}
		if q.Fidelity == model.Device {
			in.Spans = spans.all
		}
		d, err := diagnose.Run(context.Background(), in, diagnose.DefaultOptions())
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, j := range d.Jobs {
			jobs++
			at := j.Submit
			for _, step := range j.Ledger {
				switch step.Account.String() {
				case "unknown":
					t.Errorf("%s: nothing is known from %v to %v, of %s\n%s", j.ID, step.From, step.To, step.Attempt, text)
				case "read", "write", "shuffle", "map and reduce":
					if in.Spans != nil {
						t.Errorf("%s: %v from %v to %v, of %s: want the devices\n%s", j.ID, step.Account, step.From, step.To, step.Attempt, text)
					}
				}
				if step.From != at || step.To <= step.From {
					t.Fatalf("%s: step from %v to %v: want it from %v\n%s", j.ID, step.From, step.To, at, text)
				}
				at = step.To
			}
			if at != j.Finish {
				t.Fatalf("%s: ledger ends at %v: want %v\n%s", j.ID, at, j.Finish, text)
			}
		}
	}
	t.Logf("%d jobs in %d runs", jobs, n)
}

// Without a part of the cluster a job gains at most the time of the accounts of this
// part and 1 % of its own time, or the waits behind it are shorter too.
func TestWithoutParts(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of small runs")
	}
	n := cmp.Or(*evaluates, 4)
	if layers.Whole {
		n = 100
	}
	type count struct{ cases, above, withWaits, withOthers int }
	counts, all := map[string]*count{}, count{}
	for seed := *evaluated; seed < *evaluated+n; seed++ {
		text := randomScenario(rand.New(rand.NewPCG(seed, 5)))
		q, p, rows := runText(t, text, seed)
		o := diagnose.DefaultOptions()
		o.Verify = diagnose.Verification{Predictor: sim.Simulator{}, Pairs: 5, MostPairs: 5, Without: true}
		d, err := diagnose.Run(context.Background(), diagnose.Input{Jobs: asHistory(&q, &p, rows), Question: &q}, o)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		times, waits, others := map[string]time.Duration{}, map[string]float64{}, map[string]float64{}
		for _, j := range d.Jobs {
			times[j.ID] = j.Finish - j.Submit
			for _, s := range j.Ledger {
				part := (s.To - s.From).Seconds() / times[j.ID].Seconds()
				switch s.Account.String() {
				case "heartbeat", "commit":
					waits[j.ID] += part
				case "scheduler limit":
					others[j.ID] += part
				}
			}
		}
		for _, w := range d.Without {
			c := counts[w.Part]
			if c == nil {
				c = &count{}
				counts[w.Part] = c
			}
			for _, c := range []*count{c, &all} {
				c.cases++
				for i, n := range []*int{&c.above, &c.withWaits, &c.withOthers} {
					more := []float64{0, waits[w.Job], waits[w.Job] + others[w.Job]}[i]
					if w.Gain > w.Ledger.Seconds()/times[w.Job].Seconds()+more+0.01 {
						*n++
					}
				}
			}
			if part := w.Ledger.Seconds() / times[w.Job].Seconds(); w.Gain > part+0.01 {
				t.Logf("seed %d: %s of %s to %v of its time gains %.1f %% ± %.1f, the ledger has %.1f %%", seed, w.Part, w.Job, w.Factor, 100*w.Gain, 50*(w.High-w.Low), 100*part)
			}
		}
	}
	for _, part := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("| %s | %+v |", part, *counts[part])
	}
	t.Logf("| all | %+v |", all)
	// On 100 seeds 2.2 % gain more than their accounts, because a task that ends earlier
	// may also reach an earlier heartbeat or commit.
	if all.above > 1+all.cases/20 || all.withWaits > 1+all.cases/100 {
		t.Errorf("%d of %d cases gain more than their accounts, %d more than with waits: want at most 5 and 1 %%", all.above, all.cases, all.withWaits)
	}
}

// asHistory returns the jobs of a simulated run with their attempts.
func asHistory(q *model.WhatIf, p *model.Prediction, rows []workload.Attempt) func(func(*workload.HistoryJob) bool) {
	h := trace.NewHistory(q.Jobs, rows)
	return func(yield func(*workload.HistoryJob) bool) {
		for i := range h.Jobs {
			j := &h.Jobs[i]
			for k := range p.Jobs {
				if p.Jobs[k].ID == j.ID {
					j.Submit, j.Launch, j.Finish = p.Jobs[k].Submit, p.Jobs[k].Launch, p.Jobs[k].Finish
				}
			}
			if !yield(j) {
				return
			}
		}
	}
}

// runText simulates a scenario given as text.
func runText(t *testing.T, text string, seed uint64) (model.WhatIf, model.Prediction, attemptRows) {
	t.Helper()
	q, p, rows, _ := traceText(t, text, seed)
	return q, p, rows
}

// traceText simulates a scenario given as text, and keeps the spans too.
func traceText(t *testing.T, text string, seed uint64) (model.WhatIf, model.Prediction, attemptRows, spanRows) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "random.toml")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := study.Open(name, study.Options{Seed: seed})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	q := s.Scenario.Runs[0].Question
	var rows attemptRows
	var spans spanRows
	p, err := sim.Simulator{Recorder: &rows, Spans: &spans}.Predict(q)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return q, p, rows, spans
}
