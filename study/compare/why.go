package compare

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
)

// Why says why two scenarios differ. A difference is the second minus the first,
// in nanoseconds; if it is negative, the second is faster.
type Why struct {
	Schema   string          `json:"schema"`
	First    string          `json:"first"`
	Second   string          `json:"second"`
	Pairs    int             `json:"pairs"`
	Makespan Difference      `json:"makespan"`
	Response Difference      `json:"mean_response"`    // mean time of the jobs of a run
	Jobs     []Difference    `json:"jobs"`             // of at least two pairs, by the size of their difference
	Job      string          `json:"job,omitempty"`    // whose time the accounts are; empty: of all jobs
	Accounts []AccountChange `json:"accounts"`         // of the first pair
	Held     []AccountChange `json:"held"`             // slot held, by the job that held it
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
	Pairs  int    `json:"pairs"`
}

// AccountChange is the time in one account of the ledger, or of slots held by one job.
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

// openCompared opens one of two scenarios. It returns the question of each pair. A
// result is simulated as its manifest says.
func openCompared(name string, o study.Options) (func(pair int) (*model.WhatIf, error), error) {
	if o.AsMade(name) {
		q, err := study.QuestionOf(name)
		return func(pair int) (*model.WhatIf, error) {
			own := *q
			own.Seed = o.SeedOf(pair)
			return &own, nil
		}, err
	}
	s, err := study.Open(name, o)
	if err != nil {
		return nil, err
	}
	if n := len(s.Scenario.Runs); n != 1 {
		return nil, fmt.Errorf("--why: %s: got %d runs: want a scenario with one", name, n)
	}
	return func(pair int) (*model.WhatIf, error) {
		r, err := s.Replication(pair)
		if err != nil {
			return nil, err
		}
		return &r.Runs[0].Question, nil
	}, nil
}

// whyPairs is the number of pairs if no number of replications is given.
const whyPairs = 5

// whyRun is a run of one of two scenarios.
type whyRun struct {
	question   *model.WhatIf
	prediction model.Prediction
	rows       study.AttemptList
	offers     study.OfferList
}

// Explain simulates two scenarios in pairs with the same seeds and compares
// the times of jobs, the ledgers, and the launches. If a job is named, the ledger
// is that of this job.
func Explain(first, second, job string, o study.Options) (*Why, error) {
	w := &Why{Schema: "slotwave/why/1", First: first, Second: second, Pairs: whyPairs, Job: text.Escape(job)}
	if o.Replications > 1 {
		w.Pairs = o.Replications
	}
	var questions [2]func(int) (*model.WhatIf, error)
	for i, name := range []string{first, second} {
		var err error
		if questions[i], err = openCompared(name, o); err != nil {
			return nil, err
		}
	}
	var shown [2]whyRun // the first pair
	var makespans, responses [2][]float64
	times := map[string]*[2][]float64{} // of each job, of the pairs in which both runs end it
	for pair := range w.Pairs {
		var own [2]endedJobs
		for i, of := range questions {
			r, err := simulateWhy(of, pair)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", []string{first, second}[i], err)
			}
			if pair == 0 {
				shown[i] = r
			}
			own[i] = endedOf(&r.prediction)
			makespans[i] = append(makespans[i], float64(r.prediction.Mean))
			responses[i] = append(responses[i], own[i].mean)
		}
		for _, id := range own[1].ids {
			t, both := own[0].times[id]
			if !both {
				continue
			}
			if times[id] == nil {
				times[id] = &[2][]float64{}
			}
			times[id][0], times[id][1] = append(times[id][0], t), append(times[id][1], own[1].times[id])
		}
	}
	w.Makespan, w.Response = differenceOf("", &makespans), differenceOf("", &responses)
	for _, id := range slices.Sorted(maps.Keys(times)) {
		if t := times[id]; len(t[0]) > 1 {
			w.Jobs = append(w.Jobs, differenceOf(id, t))
		}
	}
	slices.SortStableFunc(w.Jobs, func(a, b Difference) int { return -cmp.Compare(max(a.Mean, -a.Mean), max(b.Mean, -b.Mean)) })
	w.Launch, w.Offer = otherLaunch(&shown, job), otherOffer(&shown, job)
	return w, w.compareLedgers(&shown, job)
}

// endedJobs are the times of the jobs that a run ends, in nanoseconds.
type endedJobs struct {
	ids   []string
	times map[string]float64
	mean  float64
}

func endedOf(p *model.Prediction) endedJobs {
	t := endedJobs{times: map[string]float64{}}
	sum := 0.0
	for i := range p.Jobs {
		if j := &p.Jobs[i]; j.Finish >= 0 {
			t.ids, t.times[j.ID] = append(t.ids, j.ID), float64(j.Finish-j.Submit)
			sum += t.times[j.ID]
		}
	}
	t.mean = sum / math.Max(1, float64(len(t.ids)))
	return t
}

// simulateWhy simulates one scenario of a pair. Attempts and offers are kept of the
// first pair only.
func simulateWhy(of func(int) (*model.WhatIf, error), pair int) (r whyRun, err error) {
	if r.question, err = of(pair); err != nil {
		return r, err
	}
	simulator := sim.Simulator{}
	if pair == 0 {
		simulator.Recorder, simulator.Tracer = &r.rows, &r.offers
	}
	r.prediction, err = study.Predict(simulator, r.question)
	return r, err
}

func differenceOf(job string, times *[2][]float64) Difference {
	differences := make([]float64, len(times[0]))
	for i := range differences {
		differences[i] = times[1][i] - times[0][i]
	}
	mean, half := fit.StudentInterval(differences)
	if len(differences) == 1 {
		half = 0
	}
	return Difference{
		Job: text.Escape(job), First: int64(stat.Mean(times[0], nil)), Second: int64(stat.Mean(times[1], nil)),
		Mean: int64(mean), Low: int64(mean - half), High: int64(mean + half), Pairs: len(differences),
	}
}

// slotHeld is the account of the ledger for slots that other attempts held.
const slotHeld = "slot held"

// compareLedgers sums the ledgers of the first pair by account, of one job or of
// all, and the time for which slots were held by the job that held them.
func (w *Why) compareLedgers(pair *[2]whyRun, job string) error {
	accounts, held := map[string]*AccountChange{}, map[string]*AccountChange{}
	add := func(to map[string]*AccountChange, name string, i int, d time.Duration) {
		if to[name] == nil {
			to[name] = &AccountChange{Account: text.Escape(name)}
		}
		*[]*int64{&to[name].First, &to[name].Second}[i] += int64(d)
	}
	for i := range pair {
		r := &pair[i]
		h := study.HistoryOf(r.question, &r.prediction, r.rows)
		options := diagnose.DefaultOptions()
		options.Job = job
		d, err := diagnose.Run(context.Background(), diagnose.Input{Jobs: study.JobsOf(h), Question: r.question}, options)
		if err != nil {
			return study.Internal(err)
		}
		for _, j := range d.Jobs {
			for _, step := range j.Ledger {
				add(accounts, step.Account.String(), i, step.To-step.From)
				if step.Account.String() == slotHeld {
					add(held, step.By, i, step.To-step.From)
				}
			}
		}
	}
	w.Accounts, w.Held = changesOf(accounts), changesOf(held)
	return nil
}

// changesOf lists what changes most first.
func changesOf(sums map[string]*AccountChange) []AccountChange {
	list := []AccountChange{}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		list = append(list, *sums[name])
	}
	slices.SortStableFunc(list, func(a, b AccountChange) int {
		x, y := a.Second-a.First, b.Second-b.First
		return -cmp.Compare(max(x, -x), max(y, -y))
	})
	return list
}

// otherLaunch finds the first launch, of one job or of all, that differs in job,
// task, node or time.
func otherLaunch(pair *[2]whyRun, job string) *OtherLaunch {
	var lists [2]study.AttemptList
	for i := range pair {
		for k := range pair[i].rows {
			if a := &pair[i].rows[k]; job == "" || a.Job == job {
				lists[i] = append(lists[i], *a)
			}
		}
		slices.SortStableFunc(lists[i], func(a, b workload.Attempt) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Task, b.Task))
		})
	}
	first, second := lists[0], lists[1]
	say := func(list study.AttemptList, i int) (string, time.Duration) {
		if i >= len(list) {
			return "nothing more", math.MaxInt64
		}
		a := &list[i]
		return fmt.Sprintf("%v %d of %s on %s at %.3f s", a.Kind, a.Task, text.Escape(a.Job), text.Escape(a.Node), a.Start.Seconds()), a.Start
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

// launchesOf lists what an offer launched, of one job or of all.
func launchesOf(o *model.Offer, job string) []string {
	var list []string
	for i := range o.Asked {
		if a := &o.Asked[i]; a.Task >= 0 && (job == "" || a.Job == job) {
			list = append(list, fmt.Sprintf("%v %d %d %s", a.Kind, a.Task, a.Attempt, a.Job))
		}
	}
	return list
}

// otherOffer finds the first heartbeat with different launches, of one job or of
// all. An offer that one of the runs lacks counts as launching nothing there.
func otherOffer(pair *[2]whyRun, job string) *OtherOffer {
	type heartbeat struct {
		at   time.Duration
		node string
	}
	found := map[heartbeat]*[2]*model.Offer{}
	var order []heartbeat
	for i := range pair {
		for k := range pair[i].offers {
			o := &pair[i].offers[k]
			h := heartbeat{o.Time, o.Node}
			if found[h] == nil {
				found[h] = &[2]*model.Offer{}
				order = append(order, h)
			}
			found[h][i] = o
		}
	}
	slices.SortStableFunc(order, func(a, b heartbeat) int { return cmp.Compare(a.at, b.at) })
	for _, h := range order {
		var launched [2][]string
		texts := [2]string{}
		for i, o := range found[h] {
			if o != nil {
				launched[i] = launchesOf(o, job)
			}
		}
		if slices.Equal(launched[0], launched[1]) {
			continue
		}
		for i, o := range found[h] {
			texts[i] = "  nothing: no slot was free there for which a job waited\n"
			if o != nil {
				texts[i] = diagnose.DecisionText(o, pair[i].question)
			}
		}
		return &OtherOffer{int64(h.at), text.Escape(h.node), texts[0], texts[1]}
	}
	return nil
}

// WriteJSON writes the comparison.
func (w *Why) WriteJSON(to io.Writer) error { return resultdir.WriteJSON(to, w) }

// mostShown is how many jobs that gain, jobs that lose, and jobs that hold slots the
// text shows.
const mostShown = 5

// WriteText writes the comparison for people.
func (w *Why) WriteText(to io.Writer, _ bool) error {
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s against %s, %d pairs of runs with the same seeds\n\n", w.Second, w.First, w.Pairs)
	fmt.Fprintf(t, "\tfirst\tsecond\tdifference, with its 95 %% interval\n")
	fmt.Fprintf(t, "makespan\t%s\nmean job time\t%s\n", w.Makespan.text(), w.Response.text())
	w.jobsText(t)
	of := "all jobs"
	if w.Job != "" {
		of = w.Job
	}
	fmt.Fprintf(t, "\nledger of %s, first pair\tfirst\tsecond\tdifference\n", of)
	sum := AccountChange{Account: "together"}
	for _, a := range w.Accounts {
		fmt.Fprintln(t, a.text())
		sum.First, sum.Second = sum.First+a.First, sum.Second+a.Second
	}
	fmt.Fprintln(t, sum.text())
	if w.Job != "" && len(w.Held) > 0 {
		fmt.Fprintf(t, "\nits slots were held by\tfirst\tsecond\tdifference\n")
		for i := range w.Held[:min(mostShown, len(w.Held))] {
			fmt.Fprintln(t, w.Held[i].text())
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

// jobsText writes how many jobs gain and lose, and those that do so most.
func (w *Why) jobsText(t io.Writer) {
	var won, lost []Difference
	var gain, loss float64
	for _, j := range w.Jobs {
		switch {
		case j.High < 0:
			won, gain = append(won, j), gain-float64(j.Mean)
		case j.Low > 0:
			lost, loss = append(lost, j), loss+float64(j.Mean)
		}
	}
	mean := func(sum float64, list []Difference) float64 { return sum / math.Max(1, float64(len(list))) / 1e9 }
	fmt.Fprintf(t, "\nOf %d jobs %d gain, %.1f s in the mean, and %d lose, %.1f s in the mean. The others may differ by chance.\n",
		len(w.Jobs), len(won), mean(gain, won), len(lost), mean(loss, lost))
	for _, some := range []struct {
		what string
		list []Difference
	}{{"jobs that gain most", won}, {"jobs that lose most", lost}} {
		if len(some.list) == 0 {
			continue
		}
		fmt.Fprintf(t, "\n%s\tfirst\tsecond\tdifference\n", some.what)
		for i := range some.list[:min(mostShown, len(some.list))] {
			fmt.Fprintf(t, "%s\t%s\n", some.list[i].Job, some.list[i].text())
		}
	}
	for i := range w.Jobs {
		if j := &w.Jobs[i]; j.Job == w.Job {
			fmt.Fprintf(t, "\njob\tfirst\tsecond\tdifference\n%s\t%s\n", j.Job, j.text())
		}
	}
}

func seconds(ns int64) string { return fmt.Sprintf("%.1f s", float64(ns)/1e9) }

func (a *AccountChange) text() string {
	return fmt.Sprintf("%s\t%s\t%s\t%+.1f s", a.Account, seconds(a.First), seconds(a.Second), float64(a.Second-a.First)/1e9)
}

func (d *Difference) text() string {
	text := fmt.Sprintf("%s\t%s\t%+.1f s ± %.1f", seconds(d.First), seconds(d.Second), float64(d.Mean)/1e9, float64(d.High-d.Low)/2e9)
	if d.Low <= 0 && d.High >= 0 {
		text += " (may be chance)"
	}
	return text
}
