package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/study/simulated"
	"github.com/slotwave/slotwave/workload"
)

// words is the answer to differ.
type words struct {
	Sentences []string
	Offer     [3]string // the first offer that was decided differently: where, and what each did
	Accounts  []simulated.AccountChange
}

// noDifference is the part of a time below which two times count as equal in practice.
const noDifference = 0.01

// differ compares the last runs of both sides, which the page names A and B.
func (s *Session) differ(a *Asked) (*words, error) {
	a1, a2 := s.sides[0].question, s.sides[1].question
	if a1 == nil || a2 == nil {
		return nil, errNotOpen
	}
	w := &words{}
	p := [2]time.Duration{s.sides[0].run.Prediction.Mean, s.sides[1].run.Prediction.Mean}
	w.say("%s", than(p[0], p[1]))
	w.compareJobs(&s.sides)
	if max(a1.Tasks(), a2.Tasks()) > mostTraced {
		return w, nil
	}
	var pair [2]simulated.Run
	for i := range pair {
		r, err := s.whole(i, true)
		if err != nil {
			return nil, err
		}
		pair[i] = *r
	}
	d, err := simulated.Compare(&pair, a.Job)
	if err != nil {
		return nil, err
	}
	w.Accounts = d.Accounts
	w.compareAccounts(d.Accounts, a.Job)
	if d.Launch == nil {
		w.say("All launches are the same.")
	} else {
		w.say("The first launch that differs, at %s: A launches %s, B %s.", text.Duration(d.Launch.Time), d.Launch.First, d.Launch.Second)
	}
	if o := d.Offer; o != nil {
		w.Offer = [3]string{fmt.Sprintf("The first offer that was decided differently: %s, heartbeat of %s", text.Duration(o.Time), o.Node), o.First, o.Second}
	}
	return w, nil
}

func (w *words) say(format string, args ...any) {
	w.Sentences = append(w.Sentences, fmt.Sprintf(format, args...))
}

// than compares the times of two runs in a sentence.
func than(a, b time.Duration) string {
	if a == b {
		return fmt.Sprintf("The run takes %s with both.", text.Duration(int64(a)))
	}
	part := float64(b-a) / float64(max(1, a))
	way, by := "longer", part
	if part < 0 {
		way, by = "less", -part
	}
	note := ""
	if by < noDifference {
		note = " That is less than 1 %: no practical difference."
	}
	return fmt.Sprintf("The run takes %s with A and %s with B: %s %s (%.1f %%).%s", text.Duration(int64(a)), text.Duration(int64(b)), text.Duration(int64(max(b-a, a-b))), way, 100*by, note)
}

// compareJobs compares the jobs of runs that have more than one, or a deadline.
func (w *words) compareJobs(sides *[2]side) {
	var times [2][]map[string]time.Duration
	for i := range sides {
		times[i] = []map[string]time.Duration{diagnose.TimesOf(&sides[i].run.Prediction)}
	}
	e := diagnose.EffectOf(times, [2]*model.WhatIf{sides[0].question, sides[1].question})
	if e.OfSeveral() {
		e.Worst = workload.Escape(e.Worst)
		w.say("Jobs with B, %d in both: %s.", e.Jobs, e)
	}
}

// compareAccounts names the accounts of the ledger that change most.
func (w *words) compareAccounts(list []simulated.AccountChange, job string) {
	of := "the ledgers of all jobs"
	if job != "" {
		of = "the ledger of " + workload.Escape(job)
	}
	var parts []string
	for _, c := range list[:min(3, len(list))] {
		if by := c.Second - c.First; by < 0 {
			parts = append(parts, fmt.Sprintf("%s less for %q", text.Duration(-by), c.Account))
		} else if by > 0 {
			parts = append(parts, fmt.Sprintf("%s more for %q", text.Duration(by), c.Account))
		}
	}
	if len(parts) > 0 {
		w.say("In %s B has %s.", of, strings.Join(parts, ", "))
	}
}
