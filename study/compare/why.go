package compare

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/simulated"
	"github.com/slotwave/slotwave/workload"
)

// Why says why two scenarios differ. A difference is the second minus the first,
// in nanoseconds; if it is negative, the second is faster.
type Why struct {
	Schema                string       `json:"schema"`
	First                 string       `json:"first"`
	Second                string       `json:"second"`
	Pairs                 int          `json:"pairs"`
	Makespan              Difference   `json:"makespan"`
	Response              Difference   `json:"mean_response"` // mean time of the jobs of a run
	Jobs                  []Difference `json:"jobs"`          // of at least two pairs, by the size of their difference
	Job                   string       `json:"job,omitempty"` // whose time the accounts are; empty: of all jobs
	simulated.Differences              // of the first pair
	Verdict               string       `json:"verdict,omitempty"` // on all jobs, as diagnose says it; empty: one job
	Note                  string       `json:"note,omitempty"`    // what the runs differ in beside their settings
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

// openCompared opens one of two scenarios. It returns the question of each pair, and what
// becomes of standstills. A result is simulated as its manifest says.
func openCompared(name string, o study.Options) (of func(pair int) (*model.WhatIf, error), still string, err error) {
	if o.AsMade(name) {
		run, err := study.RunOf(name)
		if err != nil {
			return nil, "", err
		}
		return func(pair int) (*model.WhatIf, error) {
			own := *run.Question()
			own.Seed = o.SeedOf(pair)
			return &own, nil
		}, run.Asked().Still, nil
	}
	s, err := study.Open(name, o)
	if err != nil {
		return nil, "", err
	}
	if n := len(s.Scenario.Runs); n != 1 {
		return nil, "", fmt.Errorf("--why: %s: got %d runs: want a scenario with one", name, n)
	}
	return func(pair int) (*model.WhatIf, error) {
		r, err := s.Replication(pair)
		if err != nil {
			return nil, err
		}
		return &r.Runs[0].Question, nil
	}, s.Scenario.Runs[0].Still, nil
}

// whyPairs is the number of pairs if no number of replications is given.
const whyPairs = 5

// Explain simulates two scenarios in pairs with the same seeds and compares
// the times of jobs, the ledgers, and the launches. If a job is named, the ledger
// is that of this job. Progress counts simulations; it may be nil.
func Explain(first, second, job string, o study.Options, progress study.SweepProgress) (*Why, error) {
	w := &Why{Schema: "slotwave/why/1", First: first, Second: second, Pairs: whyPairs, Job: text.Escape(job)}
	if o.Replications > 1 {
		w.Pairs = o.Replications
	}
	var questions [2]func(int) (*model.WhatIf, error)
	var still [2]string
	for i, name := range []string{first, second} {
		var err error
		if questions[i], still[i], err = openCompared(name, o); err != nil {
			return nil, err
		}
	}
	w.Note = results.StandstillNote(first, text.Escape(still[0]), second, text.Escape(still[1]))
	if !shareJobs(questions) {
		return nil, fmt.Errorf("--why: %s and %s have no job in common: want two runs of the same jobs", first, second)
	}
	var shown [2]simulated.Run // the first pair
	var makespans, responses [2][]float64
	var ended [2][]map[string]time.Duration // times of jobs by pair
	times := map[string]*[2][]float64{}     // of each job, of the pairs in which both runs end it
	for pair := range w.Pairs {
		for i, of := range questions {
			r, err := simulateWhy(of, pair)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", []string{first, second}[i], err)
			}
			progress.Of(2*pair+i+1, 2*w.Pairs, "")
			if pair == 0 {
				shown[i] = r
			}
			own := diagnose.TimesOf(&r.Prediction)
			ended[i] = append(ended[i], own)
			makespans[i] = append(makespans[i], float64(r.Prediction.Mean))
			sum := 0.0
			for _, id := range slices.Sorted(maps.Keys(own)) {
				sum += float64(own[id])
			}
			responses[i] = append(responses[i], sum/math.Max(1, float64(len(own))))
		}
		for _, id := range slices.Sorted(maps.Keys(ended[1][pair])) {
			first, both := ended[0][pair][id]
			if !both {
				continue
			}
			if times[id] == nil {
				times[id] = &[2][]float64{}
			}
			times[id][0], times[id][1] = append(times[id][0], float64(first)), append(times[id][1], float64(ended[1][pair][id]))
		}
	}
	w.Makespan, w.Response = differenceOf("", &makespans), differenceOf("", &responses)
	for _, id := range slices.Sorted(maps.Keys(times)) {
		if t := times[id]; len(t[0]) > 1 {
			w.Jobs = append(w.Jobs, differenceOf(id, t))
		}
	}
	slices.SortStableFunc(w.Jobs, func(a, b Difference) int { return -cmp.Compare(max(a.Mean, -a.Mean), max(b.Mean, -b.Mean)) })
	if e := diagnose.EffectOf(ended, [2]*model.WhatIf{shown[0].Question, shown[1].Question}); e.OfSeveral() {
		e.Worst = text.Escape(e.Worst)
		if won, lost := w.changed(); len(w.Jobs) > 0 { // the intervals decide
			if e.Faster, e.Slower = len(won), len(lost); e.Slower > 0 {
				e.Worst, e.WorstBy = lost[0].Job, time.Duration(lost[0].Mean)
			}
		}
		w.Verdict = e.String()
	}
	var err error
	w.Differences, err = simulated.Compare(&shown, job)
	if errors.Is(err, diagnose.ErrUnbalanced) {
		err = study.Internal(err)
	}
	return w, err
}

// shareJobs says whether a job is in both questions. What cannot be asked is simulated,
// which says why.
func shareJobs(questions [2]func(int) (*model.WhatIf, error)) bool {
	first, err := questions[0](0)
	second, err2 := questions[1](0)
	return err != nil || err2 != nil || slices.ContainsFunc(first.Jobs, func(j workload.Job) bool {
		return slices.ContainsFunc(second.Jobs, func(other workload.Job) bool { return other.ID == j.ID })
	})
}

// simulateWhy simulates one scenario of a pair. Attempts and offers are kept of the
// first pair only.
func simulateWhy(of func(int) (*model.WhatIf, error), pair int) (r simulated.Run, err error) {
	if r.Question, err = of(pair); err != nil {
		return r, err
	}
	simulator := sim.Simulator{}
	if pair == 0 {
		simulator.Recorder, simulator.Tracer = &r.Attempts, &r.Offers
	}
	r.Prediction, err = study.Predict(simulator, r.Question)
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

// WriteJSON writes the comparison.
func (w *Why) WriteJSON(to io.Writer) error { return resultdir.WriteJSON(to, w) }

// mostShown is how many jobs that gain, jobs that lose, and jobs that hold slots the
// text shows.
const mostShown = 5

// WriteText writes the comparison for people.
func (w *Why) WriteText(to io.Writer, _ bool) error {
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s (second) against %s (first), %d pairs of runs with the same seeds\n", w.Second, w.First, w.Pairs)
	if w.Note != "" {
		fmt.Fprintln(t, w.Note)
	}
	fmt.Fprintln(t)
	if d := w.Decision; d != nil {
		slower := []string{w.First, w.Second}[d.Slower]
		fmt.Fprintf(t, "In the first pair %s takes %s longer with %s.\nMost of this is %q (%+.1f s).\nThe longest part of it lasts from %s to %s%s.\n%s\n", text.Escape(d.Job), seconds(max(d.Difference, -d.Difference)), slower,
			text.Escape(d.Account), math.Abs(float64(d.Change))/1e9, seconds(d.From), seconds(d.To), where(d), d.Offer)
	}
	fmt.Fprintf(t, "\tfirst\tsecond\tdifference, with its 95 %% interval\n")
	fmt.Fprintf(t, "makespan\t%s\nmean job time\t%s\n", w.Makespan.text(), w.Response.text())
	w.jobsText(t)
	of := "all jobs"
	if w.Job != "" {
		of = w.Job
	}
	fmt.Fprintf(t, "\nledger of %s, first pair\tfirst\tsecond\tdifference\n", of)
	sum := simulated.AccountChange{Account: "together"}
	for _, a := range w.Accounts {
		fmt.Fprintln(t, changeText(&a))
		sum.First, sum.Second = sum.First+a.First, sum.Second+a.Second
	}
	fmt.Fprintln(t, changeText(&sum))
	if w.Job != "" && len(w.Held) > 0 {
		fmt.Fprintf(t, "\nits slots were held by\tfirst\tsecond\tdifference\n")
		for i := range w.Held[:min(mostShown, len(w.Held))] {
			fmt.Fprintln(t, changeText(&w.Held[i]))
		}
	}
	if w.Launch != nil {
		fmt.Fprintf(t, "\nfirst launch that differs\n  %s: %s\n  %s: %s\n", w.First, w.Launch.First, w.Second, w.Launch.Second)
	} else {
		fmt.Fprintf(t, "\nall launches are the same\n")
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if w.Offer == nil {
		return w.conclude(to)
	}
	if _, err := fmt.Fprintf(to, "\nfirst offer that was decided differently: %.3f s, %s\n%s:\n%s%s:\n%s", float64(w.Offer.Time)/1e9, w.Offer.Node, w.First, w.Offer.First, w.Second, w.Offer.Second); err != nil {
		return err
	}
	return w.conclude(to)
}

// where is the attempt or the slot of a decision.
func where(d *simulated.Decision) string {
	task, node := text.Escape(d.Task), text.Escape(d.Node)
	switch {
	case node == "" && task == "":
		return ""
	case strings.HasPrefix(task, node+"/"): // a slot
		return fmt.Sprintf(": a %s of %s", strings.TrimPrefix(task, node+"/"), node)
	case task == "":
		return " on " + node
	}
	return fmt.Sprintf(": %s on %s", task, node)
}

// conclude writes the verdict on all jobs.
func (w *Why) conclude(to io.Writer) error {
	if w.Verdict == "" {
		return nil
	}
	_, err := fmt.Fprintf(to, "\n%s: %s\n", w.Second, w.Verdict)
	return err
}

// changed returns the jobs that gain and those that lose, by their intervals.
func (w *Why) changed() (won, lost []Difference) {
	for _, j := range w.Jobs {
		switch {
		case j.High < 0:
			won = append(won, j)
		case j.Low > 0:
			lost = append(lost, j)
		}
	}
	return won, lost
}

// jobsText writes how many jobs gain and lose, and those that do so most.
func (w *Why) jobsText(t io.Writer) {
	won, lost := w.changed()
	count := func(list []Difference, verb string) string {
		if len(list) == 0 {
			return "none " + verb + "s"
		}
		sum := 0.0
		for _, j := range list {
			sum += math.Abs(float64(j.Mean)) / 1e9
		}
		return fmt.Sprintf("%d %s, %.1f s in the mean", len(list), verb, sum/float64(len(list)))
	}
	line := fmt.Sprintf("\nOf %d jobs %s", len(w.Jobs), count(won, "gain"))
	if len(lost) > 0 {
		line += ", and " + count(lost, "lose")
	}
	if len(won)+len(lost) < len(w.Jobs) {
		line += ". The others may differ by chance"
	}
	fmt.Fprintln(t, line+".")
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

func changeText(a *simulated.AccountChange) string {
	return fmt.Sprintf("%s\t%s\t%s\t%+.1f s", a.Account, seconds(a.First), seconds(a.Second), float64(a.Second-a.First)/1e9)
}

func (d *Difference) text() string {
	text := fmt.Sprintf("%s\t%s\t%+.1f s ± %.1f", seconds(d.First), seconds(d.Second), float64(d.Mean)/1e9, float64(d.High-d.Low)/2e9)
	if d.Low <= 0 && d.High >= 0 {
		text += " (may be chance)"
	}
	return text
}
