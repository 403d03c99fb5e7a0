package study

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// Why says why two scenarios differ. A difference is the second minus the first,
// in nanoseconds; if it is negative, the second is faster.
type Why struct {
	Schema   string          `json:"schema"`
	First    string          `json:"first"`
	Second   string          `json:"second"`
	Pairs    int             `json:"pairs"`
	Makespan Difference      `json:"makespan"`
	Jobs     []Difference    `json:"jobs"` // by the size of their difference
	Accounts []AccountChange `json:"accounts"`
	Launch   *OtherLaunch    `json:"launch,omitempty"` // left out: all launches are the same
	Offer    *OtherOffer     `json:"offer,omitempty"`  // left out: all offers with launches are the same
}

// Difference is the time of a job in both scenarios, over pairs of runs with the
// same seeds, with the 95 % interval of the mean difference.
type Difference struct {
	Job    string `json:"job"`
	First  int64  `json:"first_ns"`
	Second int64  `json:"second_ns"`
	Mean   int64  `json:"difference_ns"`
	Low    int64  `json:"low_ns"`
	High   int64  `json:"high_ns"`
}

// AccountChange is the time of all jobs in one account of the ledger.
type AccountChange struct {
	Account string `json:"account"`
	First   int64  `json:"first_ns"`
	Second  int64  `json:"second_ns"`
}

// OtherLaunch is the first launch in which the two runs differ.
type OtherLaunch struct {
	Time   int64  `json:"time_ns"`
	First  string `json:"first"`
	Second string `json:"second"`
}

// OtherOffer is the first heartbeat at which the schedulers launched different
// tasks, and what each decided, in words.
type OtherOffer struct {
	Time   int64  `json:"time_ns"`
	Node   string `json:"node"`
	First  string `json:"first"`
	Second string `json:"second"`
}

// asMade reports whether a name is that of a result which is simulated as its
// manifest says.
func (o *Options) asMade(name string) bool {
	return attemptsOf(name) != "" && len(o.Set) == 0 && o.Fidelity == ""
}

// compared opens one of two scenarios. A result is simulated as its manifest says.
func (o Options) compared(name string) (*model.WhatIf, error) {
	if o.asMade(name) {
		return questionOf(name)
	}
	s, err := Open(name, o)
	if err != nil {
		return nil, err
	}
	if n := len(s.Scenario.Runs); n != 1 {
		return nil, fmt.Errorf("--why: %s: got %d runs: want a scenario with one", name, n)
	}
	return &s.Scenario.Runs[0].Question, nil
}

// whyPairs is the number of pairs if no number of replications is given.
const whyPairs = 5

// CompareWhy simulates two scenarios in pairs with the same seeds and compares
// the times of jobs, the ledgers, and the launches.
func CompareWhy(first, second string, o Options) (*Why, error) {
	var questions [2]*model.WhatIf
	for i, name := range []string{first, second} {
		q, err := o.compared(name)
		if err != nil {
			return nil, err
		}
		questions[i] = q
	}
	w := &Why{Schema: "slotwave/why/1", First: first, Second: second, Pairs: whyPairs}
	if o.Replications > 1 {
		w.Pairs = o.Replications
	}
	times := map[string]*[2][]float64{"": {}}
	var names []string
	var rows [2]attempts
	var offers [2]offers
	var predictions [2]model.Prediction
	for pair := range w.Pairs {
		for i, q := range questions {
			own := *q
			own.Seed = o.seedOf(pair)
			simulator := sim.Simulator{}
			if pair == 0 {
				simulator.Recorder, simulator.Tracer = &rows[i], &offers[i]
			}
			p, err := predict(simulator, &own)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", q.Name, err)
			}
			if pair == 0 {
				predictions[i] = p
			}
			times[""][i] = append(times[""][i], float64(p.Mean))
			for k := range p.Jobs {
				j := &p.Jobs[k]
				if times[j.ID] == nil {
					times[j.ID] = &[2][]float64{}
					names = append(names, j.ID)
				}
				if j.Finish >= 0 {
					times[j.ID][i] = append(times[j.ID][i], float64(j.Finish-j.Submit))
				}
			}
		}
	}
	w.Makespan = differenceOf("", times[""])
	for _, name := range names {
		if t := times[name]; len(t[0]) == w.Pairs && len(t[1]) == w.Pairs {
			w.Jobs = append(w.Jobs, differenceOf(name, t))
		}
	}
	slices.SortStableFunc(w.Jobs, func(a, b Difference) int { return -cmp.Compare(max(a.Mean, -a.Mean), max(b.Mean, -b.Mean)) })
	w.Launch = otherLaunch(rows[0], rows[1])
	w.Offer = otherOffer(offers, questions)
	return w, w.compareLedgers(questions, predictions, rows)
}

func differenceOf(job string, times *[2][]float64) Difference {
	differences := make([]float64, len(times[0]))
	for i := range differences {
		differences[i] = times[1][i] - times[0][i]
	}
	mean, half := stat.Mean(differences, nil), 0.0
	if n := float64(len(differences)); n > 1 {
		half = distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975) * stat.StdDev(differences, nil) / math.Sqrt(n)
	}
	return Difference{
		Job: results.Escape(job), First: int64(stat.Mean(times[0], nil)), Second: int64(stat.Mean(times[1], nil)),
		Mean: int64(mean), Low: int64(mean - half), High: int64(mean + half),
	}
}

// compareLedgers sums the ledgers of the first pair by account.
func (w *Why) compareLedgers(questions [2]*model.WhatIf, predictions [2]model.Prediction, rows [2]attempts) error {
	var sums [2]map[string]int64
	all := map[string]bool{}
	for i, q := range questions {
		h := historyOf(q, &predictions[i], rows[i])
		d, err := diagnose.Run(context.Background(), diagnose.Input{Jobs: jobsOf(h), Question: q}, diagnose.DefaultOptions())
		if err != nil {
			return Internal(err)
		}
		sums[i] = map[string]int64{}
		for _, j := range d.Jobs {
			for _, step := range j.Ledger {
				sums[i][step.Account.String()] += int64(step.To - step.From)
				all[step.Account.String()] = true
			}
		}
	}
	for _, account := range slices.Sorted(maps.Keys(all)) {
		w.Accounts = append(w.Accounts, AccountChange{account, sums[0][account], sums[1][account]})
	}
	slices.SortFunc(w.Accounts, func(a, b AccountChange) int {
		x, y := a.Second-a.First, b.Second-b.First
		return cmp.Or(-cmp.Compare(max(x, -x), max(y, -y)), cmp.Compare(a.Account, b.Account))
	})
	return nil
}

// historyOf returns the jobs of a simulated run with their attempts and times.
func historyOf(q *model.WhatIf, p *model.Prediction, rows attempts) *workload.History {
	h := trace.NewHistory(q.Jobs, rows)
	outcomes := make(map[string]*model.JobOutcome, len(p.Jobs))
	for i := range p.Jobs {
		outcomes[p.Jobs[i].ID] = &p.Jobs[i]
	}
	for i := range h.Jobs {
		j := &h.Jobs[i]
		if o := outcomes[j.ID]; o != nil {
			j.Submit, j.Launch, j.Finish = o.Submit, o.Launch, o.Finish
		}
	}
	return h
}

// otherLaunch finds the first launch that differs in job, task, node or time.
func otherLaunch(first, second attempts) *OtherLaunch {
	for _, list := range []attempts{first, second} {
		slices.SortStableFunc(list, func(a, b workload.Attempt) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Task, b.Task))
		})
	}
	say := func(list attempts, i int) (string, time.Duration) {
		if i >= len(list) {
			return "nothing more", math.MaxInt64
		}
		a := &list[i]
		return fmt.Sprintf("%v %d of %s on %s at %.3f s", a.Kind, a.Task, results.Escape(a.Job), results.Escape(a.Node), a.Start.Seconds()), a.Start
	}
	for i := range max(len(first), len(second)) {
		a, at := say(first, i)
		b, bt := say(second, i)
		if a != b {
			return &OtherLaunch{int64(min(at, bt)), a, b}
		}
	}
	return nil
}

// offers collects the offers of a run.
type offers []model.Offer

func (list *offers) Offer(o *model.Offer) {
	own := *o
	own.Asked = slices.Clone(o.Asked)
	*list = append(*list, own)
}

// launchesOf lists what an offer launched.
func launchesOf(o *model.Offer) []string {
	var list []string
	for i := range o.Asked {
		if a := &o.Asked[i]; a.Task >= 0 {
			list = append(list, fmt.Sprintf("%v %d %d %s", a.Kind, a.Task, a.Attempt, a.Job))
		}
	}
	return list
}

// otherOffer finds the first heartbeat with different launches. An offer that one
// of the runs lacks counts as launching nothing there.
func otherOffer(runs [2]offers, questions [2]*model.WhatIf) *OtherOffer {
	type heartbeat struct {
		at   time.Duration
		node string
	}
	found := map[heartbeat]*[2]*model.Offer{}
	var order []heartbeat
	for i, run := range runs {
		for k := range run {
			h := heartbeat{run[k].Time, run[k].Node}
			if found[h] == nil {
				found[h] = &[2]*model.Offer{}
				order = append(order, h)
			}
			found[h][i] = &run[k]
		}
	}
	slices.SortStableFunc(order, func(a, b heartbeat) int { return cmp.Compare(a.at, b.at) })
	for _, h := range order {
		var launched [2][]string
		texts := [2]string{}
		for i, o := range found[h] {
			if o != nil {
				launched[i] = launchesOf(o)
			}
		}
		if slices.Equal(launched[0], launched[1]) {
			continue
		}
		for i, o := range found[h] {
			texts[i] = "  nothing: no slot was free there for which a job waited\n"
			if o != nil {
				texts[i] = diagnose.DecisionText(o, questions[i])
			}
		}
		return &OtherOffer{int64(h.at), results.Escape(h.node), texts[0], texts[1]}
	}
	return nil
}

// WriteJSON writes the comparison.
func (w *Why) WriteJSON(to io.Writer) error {
	out := json.NewEncoder(to)
	out.SetIndent("", "  ")
	return out.Encode(w)
}

// WriteText writes the comparison for people.
func (w *Why) WriteText(to io.Writer, _ bool) error {
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	s := func(ns int64) string { return fmt.Sprintf("%.1f s", float64(ns)/1e9) }
	change := func(d *Difference) string {
		text := fmt.Sprintf("%+.1f s ± %.1f", float64(d.Mean)/1e9, float64(d.High-d.Low)/2e9)
		if d.Low <= 0 && d.High >= 0 {
			text += " (may be chance)"
		}
		return text
	}
	fmt.Fprintf(t, "%s against %s, %d pairs of runs with the same seeds\n\n", w.Second, w.First, w.Pairs)
	fmt.Fprintf(t, "makespan\t%s\t%s\t%s\n", s(w.Makespan.First), s(w.Makespan.Second), change(&w.Makespan))
	won, lost := 0, 0
	for _, j := range w.Jobs {
		if j.High < 0 {
			won++
		}
		if j.Low > 0 {
			lost++
		}
	}
	fmt.Fprintf(t, "\n%d of %d jobs gain, %d lose\n", won, len(w.Jobs), lost)
	for i := range w.Jobs[:min(10, len(w.Jobs))] {
		j := &w.Jobs[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", j.Job, s(j.First), s(j.Second), change(j))
	}
	fmt.Fprintf(t, "\nledger of all jobs\tfirst\tsecond\tdifference\n")
	for _, a := range w.Accounts {
		if a.First != a.Second {
			fmt.Fprintf(t, "%s\t%s\t%s\t%+.1f s\n", a.Account, s(a.First), s(a.Second), float64(a.Second-a.First)/1e9)
		}
	}
	if w.Launch != nil {
		fmt.Fprintf(t, "\nfirst launch that differs\n  %s: %s\n  %s: %s\n", w.First, w.Launch.First, w.Second, w.Launch.Second)
	} else {
		fmt.Fprintf(t, "\nall launches are the same\n")
	}
	if err := t.Flush(); err != nil || w.Offer == nil {
		return err
	}
	_, err := fmt.Fprintf(to, "\nfirst offer that was decided differently: %.3f s, %s\n%s:\n%s%s:\n%s", float64(w.Offer.Time)/1e9, w.Offer.Node, w.First, w.Offer.First, w.Second, w.Offer.Second)
	return err
}
