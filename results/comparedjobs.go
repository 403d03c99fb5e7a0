package results

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/text"
)

// comparedJobsName is the table of the jobs of two runs.
const comparedJobsName = "compare.csv"

// comparedJob is a row of compare.csv: the time of a job from submission to finish in two runs.
type comparedJob struct {
	ID     string      `json:"job"`
	Name   string      `json:"name"`
	First  *int64      `json:"first_ns"` // nil: the run does not have it, or it does not end
	Second *int64      `json:"second_ns"`
	Ratio  *text.Share `json:"ratio"` // second over first
	in     [2]bool     // which runs have the job
}

// jobs pairs the jobs of two runs by their ids: means over the replications, the
// largest change first, then the jobs that only one run ends. It is empty unless two
// runs are compared.
func (c *Comparison) jobs() []comparedJob {
	if len(c.Runs) != 2 || c.Answers == nil {
		return nil
	}
	first, second := c.Runs[0].Mean().Jobs, c.Runs[1].Mean().Jobs
	took := func(j *model.JobOutcome) *int64 {
		if !j.Finished() {
			return nil
		}
		time := int64(j.Finish - j.Submit)
		return &time
	}
	place := make(map[string]int, len(first))
	var rows []comparedJob
	for i := range first {
		place[first[i].ID] = i
		rows = append(rows, comparedJob{ID: text.Escape(first[i].ID), Name: text.Escape(first[i].Name), First: took(&first[i]), in: [2]bool{true, false}})
	}
	for i := range second {
		if k, ok := place[second[i].ID]; ok {
			rows[k].Second, rows[k].in[1] = took(&second[i]), true
		} else {
			rows = append(rows, comparedJob{ID: text.Escape(second[i].ID), Name: text.Escape(second[i].Name), Second: took(&second[i]), in: [2]bool{false, true}})
		}
	}
	for i := range rows {
		if r := &rows[i]; r.both() && *r.First > 0 {
			ratio := text.Share(float64(*r.Second) / float64(*r.First))
			r.Ratio = &ratio
		}
	}
	slices.SortStableFunc(rows, func(a, b comparedJob) int { return cmp.Compare(b.change(), a.change()) })
	return rows
}

func (j *comparedJob) both() bool { return j.First != nil && j.Second != nil }

// change is the size of the change, -1 without one.
func (j *comparedJob) change() int64 {
	if !j.both() {
		return -1
	}
	return max(*j.First-*j.Second, *j.Second-*j.First)
}

// jobsText writes the jobs of two runs that changed most, as many as fit on a screen.
func (c *Comparison) jobsText(w io.Writer, colour bool) error {
	rows := c.jobs()
	if len(rows) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	const shown = 15
	t := text.NewWriter(w, colour)
	if !slices.ContainsFunc(rows, func(r comparedJob) bool { return r.in == [2]bool{true, true} }) {
		fmt.Fprintf(t, "no job is in both runs, so the ratios are of different workloads (%s)\n", comparedJobsName)
		return t.Done()
	}
	_, names := runNames(c.summaries())
	names = text.Apart(names, 24)
	fmt.Fprintf(t, "job\t%s\t%s\tratio\n", names[0], names[1])
	changed := 0
	for _, r := range rows[:min(shown, len(rows))] {
		if r.change() == 0 {
			continue
		}
		changed++
		ratio := ""
		if r.Ratio != nil {
			ratio = fmt.Sprintf("%.3f", float64(*r.Ratio))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.label(), endedAfter(r.First, r.in[0]), endedAfter(r.Second, r.in[1]), ratio)
	}
	t.Flush()
	switch more := len(rows) - changed; {
	case changed == 0:
		fmt.Fprintf(t, "no job changes (%s)\n", text.Count(len(rows), "job"))
	case more > 0:
		fmt.Fprintf(t, "and %s more, with smaller changes or none (%s)\n", text.Number(int64(more)), comparedJobsName)
	}
	return t.Done()
}

// label is the id, and the name if it says more.
func (j *comparedJob) label() string {
	if j.Name == "" || j.Name == j.ID {
		return text.Shorten(j.ID, 32)
	}
	return text.Shorten(j.ID, 24) + " " + text.Shorten(j.Name, 20)
}

func endedAfter(ns *int64, in bool) string {
	switch {
	case !in:
		return "not in this run"
	case ns == nil:
		return "did not end"
	}
	return text.Duration(*ns)
}
