package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/slotwave/slotwave/results/text"
)

// Deadlines counts the jobs of a run that meet their deadlines. A job that does
// not succeed misses its deadline.
type Deadlines struct {
	Jobs   int              `json:"jobs"`
	Met    text.Share       `json:"met"` // jobs, as a mean over the replications
	Missed []MissedDeadline `json:"missed"`
}

// MissedDeadline is a job that misses its deadline in some replication. Times are
// counted from its submission.
type MissedDeadline struct {
	ID       string   `json:"job"`
	Name     string   `json:"name"`
	Deadline int64    `json:"deadline_ns"`
	Missed   int      `json:"replications"`
	Time     Estimate `json:"time"` // over the replications in which it ends
}

// deadlines returns nil if no job has a deadline. The jobs that miss theirs by most
// come first.
func (r *Run) deadlines() *Deadlines {
	d := &Deadlines{Missed: []MissedDeadline{}}
	met := 0.0
	outcomes := outcomes(r.Predictions)
	for k := range r.Predictions[0].Jobs {
		first := &r.Predictions[0].Jobs[k]
		if first.Deadline == 0 {
			continue
		}
		d.Jobs++
		m := MissedDeadline{ID: text.Escape(first.ID), Name: text.Escape(first.Name), Deadline: int64(first.Deadline - first.Submit)}
		drawn := outcomes(k)
		for _, j := range drawn {
			if !j.InTime() {
				m.Missed++
			}
		}
		met += 1 - float64(m.Missed)/float64(len(drawn))
		if m.Missed == 0 {
			continue
		}
		m.Time = NewEstimate(jobTimes(drawn))
		d.Missed = append(d.Missed, m)
	}
	if d.Jobs == 0 {
		return nil
	}
	d.Met = text.Share(met)
	slices.SortStableFunc(d.Missed, func(a, b MissedDeadline) int { return cmp.Compare(b.late(), a.late()) })
	return d
}

// late is by how much a job misses its deadline in the mean. A job that never ends
// is latest.
func (m *MissedDeadline) late() int64 {
	if m.Time.N == 0 {
		return math.MaxInt64
	}
	return m.Time.Mean - m.Deadline
}

func (d *Deadlines) text(replications int) string {
	if replications == 1 {
		return fmt.Sprintf("%s of %s met", text.Number(int64(d.Met)), text.Number(int64(d.Jobs)))
	}
	return fmt.Sprintf("%.1f of %s met, as a mean over the replications", float64(d.Met), text.Number(int64(d.Jobs)))
}

// table writes the jobs that miss their deadlines by most.
func (d *Deadlines) table(t *text.Writer, replications int) {
	if len(d.Missed) == 0 {
		return
	}
	t.Section("Missed deadlines")
	fmt.Fprint(t, "job\tdeadline\tjob time\tmissed by")
	if replications > 1 {
		fmt.Fprint(t, "\tin replications")
	}
	fmt.Fprintln(t)
	for i := range d.Missed[:min(len(d.Missed), slowestJobs)] {
		m := &d.Missed[i]
		took, by := "-", "-"
		if m.Time.N > 0 {
			took = m.Time.short()
		}
		if m.Time.N > 0 && m.late() > 0 {
			by = text.Duration(m.late())
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s", text.Shorten(m.ID, 32), text.Duration(m.Deadline), took, by)
		if replications > 1 {
			fmt.Fprintf(t, "\t%d of %d", m.Missed, replications)
		}
		fmt.Fprintln(t)
	}
	if left := len(d.Missed) - slowestJobs; left > 0 {
		fmt.Fprintf(t, "and %s\n", text.Count(left, "more job"))
	}
	t.Flush()
}

// slowestJobs is the number of jobs that a summary names.
const slowestJobs = 10
