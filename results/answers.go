package results

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// predictionsSchema is the first field of predictions in JSON.
const predictionsSchema = "slotwave/predictions/1"

// predictionRow is a row of predictions.csv: one figure of one model and the same
// figure of the reference. Fields that do not apply are nil.
type predictionRow struct {
	Scenario   string      `json:"scenario"`
	Model      string      `json:"model"`
	Part       string      `json:"part"` // makespan, interval, gap, job or phase
	Job        string      `json:"job,omitempty"`
	Kind       string      `json:"kind,omitempty"`
	Phase      string      `json:"phase,omitempty"`
	Low        *int64      `json:"low_ns,omitempty"`
	Mean       *int64      `json:"mean_ns,omitempty"`
	High       *int64      `json:"high_ns,omitempty"`
	Reference  *int64      `json:"reference_ns,omitempty"`
	Difference *text.Share `json:"difference,omitempty"`
	Within     *bool       `json:"within,omitempty"`
	Note       string      `json:"note,omitempty"`
}

// against sets the figures of a row.
func (r predictionRow) against(low, mean, high time.Duration, ref *time.Duration) predictionRow {
	r.Low, r.Mean, r.High = (*int64)(&low), (*int64)(&mean), (*int64)(&high)
	if ref != nil {
		within := low <= *ref && *ref <= high
		r.Reference, r.Within = (*int64)(ref), &within
		if *ref > 0 {
			d := text.Share(difference(mean, *ref))
			r.Difference = &d
		}
	}
	return r
}

// difference is (predicted - reference) / reference.
func difference(predicted, reference time.Duration) float64 {
	return float64(predicted-reference) / float64(reference)
}

// rows lists the figures of each answer: its makespan, the parts of the gap to
// the reference, the time of each job from submission to finish, and the mean
// time of each phase.
func (a *Answers) rows() []predictionRow {
	var rows []predictionRow
	for i := range a.List {
		x := &a.List[i]
		p := &x.Prediction
		row := predictionRow{Scenario: text.Escape(x.Scenario), Model: text.Escape(p.Model), Part: "makespan"}
		if x.Err != nil {
			row.Note = "n/a: " + text.Message(x.Err)
			rows = append(rows, row)
			continue
		}
		ref := a.reference(x.Scenario)
		var makespan *time.Duration
		if ref != nil {
			makespan = &ref.Mean
		}
		rows = append(rows, row.against(p.Low, p.Mean, p.High, makespan))
		if p.Most > 0 {
			interval := row
			interval.Part = "interval"
			rows = append(rows, interval.against(p.Least, p.Mean, p.Most, makespan))
		}
		for _, g := range x.Gap {
			gap := row
			gap.Part, gap.Mean, gap.Note = "gap", (*int64)(&g.Time), g.Cause
			rows = append(rows, gap)
		}
		row.Part = "job"
		for k := range p.Jobs {
			j := &p.Jobs[k]
			row.Job = text.Escape(j.ID)
			if j.Finished() {
				rows = append(rows, row.against(j.Low, j.Finish-j.Submit, j.High, jobTime(ref, k, j.ID)))
			} else {
				unfinished := row
				unfinished.Note = "not finished"
				rows = append(rows, unfinished)
			}
		}
		row.Part, row.Job = "phase", ""
		for _, ph := range p.Phases {
			row.Kind, row.Phase = ph.Kind.String(), ph.Phase.String()
			rows = append(rows, row.against(ph.Time, ph.Time, ph.Time, phaseTime(ref, ph)))
		}
	}
	return rows
}

func phaseTime(ref *model.Prediction, of model.PhaseTime) *time.Duration {
	if ref == nil {
		return nil
	}
	for _, ph := range ref.Phases {
		if ph.Kind == of.Kind && ph.Phase == of.Phase {
			return &ph.Time
		}
	}
	return nil
}

// WriteCSV writes predictions.csv.
func (a *Answers) WriteCSV(w io.Writer) error { return writeRows(a.rows())(w) }

// WriteJSON writes the rows of predictions.csv as one JSON object, with the
// notes of the models.
func (a *Answers) WriteJSON(w io.Writer) error { return a.writeJSON(w, nil, nil) }

// writeJSON adds how the metrics of scenarios differ.
func (a *Answers) writeJSON(w io.Writer, metrics []map[string]any, jobs []comparedJob) error {
	doc := struct {
		Schema      string           `json:"schema"`
		Reference   string           `json:"reference"`
		Rows        []predictionRow  `json:"rows"`
		Metrics     []map[string]any `json:"metrics,omitempty"`
		Jobs        []comparedJob    `json:"jobs,omitempty"` // of two runs
		Warnings    []string         `json:"warnings"`
		Assumptions []string         `json:"assumptions"`
	}{Schema: predictionsSchema, Reference: text.Escape(a.Reference), Rows: text.Listed(a.rows()), Metrics: metrics, Jobs: jobs}
	for i := range a.List {
		p := &a.List[i].Prediction
		doc.Warnings = addNew(doc.Warnings, p.Warnings)
		doc.Assumptions = addNew(doc.Assumptions, p.Assumed)
	}
	doc.Warnings, doc.Assumptions = text.Listed(doc.Warnings), text.Listed(doc.Assumptions)
	return resultdir.WriteJSON(w, doc)
}

// WriteText writes the predictions as a table with one line per model, then the
// phases of tasks, and the causes of the gaps.
func (a *Answers) WriteText(w io.Writer, colour bool) error {
	t := text.NewWriter(w, colour)
	if a.Over != "" {
		a.sweepTable(t)
		return t.Done()
	}
	for from := 0; from < len(a.List); {
		until := from + 1
		for until < len(a.List) && a.List[until].Scenario == a.List[from].Scenario {
			until++
		}
		if from > 0 {
			fmt.Fprintln(t)
		}
		t.Heading(text.Escape(a.List[from].Scenario))
		a.makespanTable(t, a.List[from:until])
		phaseTable(t, a.List[from:until])
		gapTable(t, text.Escape(a.Reference), a.List[from:until])
		from = until
	}
	return t.Done()
}

func (a *Answers) makespanTable(t *text.Writer, list []Answer) {
	against := ""
	if a.Reference != "" {
		against = "\tagainst " + text.Escape(a.Reference)
	}
	interval := slices.ContainsFunc(list, func(x Answer) bool { return x.Prediction.Most > 0 })
	fmt.Fprint(t, "model\tmakespan\tlow\thigh")
	if interval {
		fmt.Fprint(t, "\t90 % interval")
	}
	fmt.Fprintln(t, against)
	not, reasons := map[string][]string{}, []string(nil) // models without an answer, by reason
	for i := range list {
		x := &list[i]
		p := &x.Prediction
		if x.Err != nil {
			why := text.Message(x.Err)
			if not[why] == nil {
				reasons = append(reasons, why)
			}
			not[why] = append(not[why], text.Escape(p.Model))
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s", text.Escape(p.Model), text.Duration(int64(p.Mean)), text.Duration(int64(p.Low)), text.Duration(int64(p.High)))
		if interval {
			fmt.Fprint(t, "\t")
			if p.Most > 0 {
				fmt.Fprintf(t, "%s to %s", text.Duration(int64(p.Least)), text.Duration(int64(p.Most)))
			}
		}
		if ref := a.reference(x.Scenario); ref != nil && ref != p && ref.Mean > 0 {
			fmt.Fprintf(t, "\t%+.1f %%", 100*difference(p.Mean, ref.Mean))
			if p.Low < p.High && p.Low <= ref.Mean && ref.Mean <= p.High {
				fmt.Fprint(t, ", within the bounds")
			}
		} else if ref != nil {
			fmt.Fprint(t, "\t")
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	for i := range list {
		if p := &list[i].Prediction; p.Model != a.Reference {
			for _, w := range p.Warnings {
				fmt.Fprintf(t, "%s: %s\n", text.Escape(p.Model), text.Escape(w))
			}
		}
		if n := list[i].Replications; n > 1 {
			fmt.Fprintf(t, "%s: mean of %s runs; low and high are its 95 %% interval\n", text.Escape(list[i].Prediction.Model), text.Number(int64(n)))
		}
		if o := list[i].Over; o != nil {
			fmt.Fprintf(t, "%s: the answer, mean of %s runs of what is not known, is %s; the rest is of the run that is shown\n",
				text.Escape(list[i].Prediction.Model), text.Number(int64(o.N)), text.Duration(o.Mean))
		}
	}
	for _, why := range reasons {
		fmt.Fprintf(t, "%s\tn/a: %s\n", strings.Join(not[why], ", "), why)
	}
	t.Flush()
}

// sweepTable writes a line per value of the swept key and a column per model
// with an answer.
func (a *Answers) sweepTable(t *text.Writer) {
	lines := a.sweepLines(figure.TimeUnits[0])
	t.Heading("Makespan over " + text.Escape(a.Over))
	fmt.Fprint(t, text.Escape(a.Over))
	for _, l := range lines {
		fmt.Fprintf(t, "\t%s", text.Escape(l.Name))
		if a.Reference != "" && l.Name != a.Reference {
			fmt.Fprint(t, "\t")
		}
	}
	fmt.Fprintln(t)
	for from := 0; from < len(a.List); {
		first := &a.List[from]
		ref := a.reference(first.Scenario)
		fmt.Fprint(t, text.Share(first.At).String())
		for _, l := range lines {
			cell := "\t"
			if a.Reference != "" && l.Name != a.Reference {
				cell = "\t\t"
			}
			for i := from; i < len(a.List) && a.List[i].Scenario == first.Scenario; i++ {
				x := &a.List[i]
				if x.Prediction.Model != l.Name || x.Err != nil {
					continue
				}
				cell = "\t" + text.Duration(int64(x.Prediction.Mean))
				if ref != nil && ref != &x.Prediction && ref.Mean > 0 {
					cell += fmt.Sprintf("\t%+.1f %%", 100*difference(x.Prediction.Mean, ref.Mean))
				}
			}
			fmt.Fprint(t, cell)
		}
		fmt.Fprintln(t)
		for from < len(a.List) && a.List[from].Scenario == first.Scenario {
			from++
		}
	}
	t.Flush()
}

// phaseTable writes a line per phase and a column per model that reports
// phases.
func phaseTable(t *text.Writer, list []Answer) {
	type key struct {
		kind  workload.Kind
		phase workload.Phase
	}
	var models []*model.Prediction
	var phases []key
	for i := range list {
		p := &list[i].Prediction
		if list[i].Err != nil || len(p.Phases) == 0 {
			continue
		}
		models = append(models, p)
		for _, ph := range p.Phases {
			if k := (key{ph.Kind, ph.Phase}); !slices.Contains(phases, k) {
				phases = append(phases, k)
			}
		}
	}
	if len(models) == 0 {
		return
	}
	slices.SortFunc(phases, func(a, b key) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.phase, b.phase)) })
	t.Section("Mean time of a task's phases")
	for _, p := range models {
		fmt.Fprintf(t, "\t%s", text.Escape(p.Model))
	}
	fmt.Fprintln(t)
	for _, k := range phases {
		fmt.Fprintf(t, "%s, %s", k.kind, k.phase)
		for _, p := range models {
			cell := ""
			for _, ph := range p.Phases {
				if ph.Kind == k.kind && ph.Phase == k.phase {
					cell = text.Duration(int64(ph.Time))
				}
			}
			fmt.Fprintf(t, "\t%s", cell)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

// gapTable writes a line per cause and a column per model.
func gapTable(t *text.Writer, reference string, list []Answer) {
	var causes, phases []string
	var rest string // the last part of each gap
	var answers []*Answer
	for i := range list {
		if len(list[i].Gap) == 0 {
			continue
		}
		answers = append(answers, &list[i])
		for k, g := range list[i].Gap {
			switch {
			case k == len(list[i].Gap)-1:
				rest = g.Cause
			case g.Phase && !slices.Contains(phases, g.Cause):
				phases = append(phases, g.Cause)
			case !g.Phase && !slices.Contains(causes, g.Cause):
				causes = append(causes, g.Cause)
			}
		}
	}
	if len(answers) == 0 {
		return
	}
	t.Section("Why " + reference + " differs")
	for _, x := range answers {
		fmt.Fprintf(t, "\tfrom %s", text.Escape(x.Prediction.Model))
	}
	fmt.Fprintln(t)
	line := func(name, missing string, of func(*Answer) (time.Duration, bool)) {
		fmt.Fprint(t, name)
		for _, x := range answers {
			if d, ok := of(x); ok {
				fmt.Fprintf(t, "\t%s", signed(d))
			} else {
				fmt.Fprint(t, "\t"+missing)
			}
		}
		fmt.Fprintln(t)
	}
	part := func(cause string) func(x *Answer) (time.Duration, bool) {
		return func(x *Answer) (time.Duration, bool) {
			i := slices.IndexFunc(x.Gap, func(g GapPart) bool { return g.Cause == cause })
			if i < 0 {
				return 0, false
			}
			return x.Gap[i].Time, true
		}
	}
	for _, cause := range causes {
		line(cause, "in the model", part(cause))
	}
	for _, phase := range phases {
		line(phase, "", part(phase))
	}
	line(rest, "", part(rest))
	line("together", "", func(x *Answer) (sum time.Duration, ok bool) {
		for _, g := range x.Gap {
			sum += g.Time
		}
		return sum, true
	})
	t.Flush()
}

func signed(d time.Duration) string {
	if d >= 5*time.Millisecond { // what is less is written 0.00 s
		return "+" + text.Duration(int64(d))
	}
	return text.Duration(int64(d))
}

// Above lists the answers whose makespan or job differs from the reference's by
// more than a fraction of it: of the jobs, how many and the one that differs most.
func (a *Answers) Above(part float64) []string {
	var list []string
	for i := range a.List {
		x := &a.List[i]
		ref := a.reference(x.Scenario)
		if x.Err != nil || ref == nil || ref.Mean == 0 {
			continue
		}
		if d := difference(x.Prediction.Mean, ref.Mean); math.Abs(d) > part {
			list = append(list, fmt.Sprintf("%s, %s: %+.1f %%", text.Escape(x.Scenario), text.Escape(x.Prediction.Model), 100*d))
		}
		if jobs := jobsAbove(x.Prediction.Jobs, ref.Jobs, part); jobs != "" {
			list = append(list, fmt.Sprintf("%s, %s: %s", text.Escape(x.Scenario), text.Escape(x.Prediction.Model), jobs))
		}
	}
	return list
}

// jobsAbove says how many jobs differ from those of a reference by more than a
// fraction, and which differs most.
func jobsAbove(jobs, reference []model.JobOutcome, part float64) string {
	times := map[string]time.Duration{}
	for i := range reference {
		if j := &reference[i]; j.Finished() {
			times[j.ID] = j.Finish - j.Submit
		}
	}
	above, compared, most, worst := 0, 0, 0.0, ""
	for i := range jobs {
		j := &jobs[i]
		before := times[j.ID]
		if !j.Finished() || before <= 0 {
			continue
		}
		compared++
		if d := difference(j.Finish-j.Submit, before); math.Abs(d) > part {
			above++
			if math.Abs(d) > math.Abs(most) {
				most, worst = d, j.ID
			}
		}
	}
	if above == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s, most %s: %+.1f %%", above, workload.Counted(compared, "job", "jobs"), text.Escape(worst), 100*most)
}

// Write writes predictions.csv and its picture.
func (a *Answers) Write(d resultdir.Target, title string) error {
	w := resultdir.Writer{Dir: d}
	var drawn figure.Pictures
	s := subject{title: text.Escape(title), answers: a}
	s.begin(&drawn)
	w.Write(predictionsName, a.WriteCSV)
	drawn.Write(&w)
	return w.Err
}
