package trace

import (
	"compress/gzip"
	"io"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/workload"
)

// writeAttempts writes the attempts of a history as CSV. Times are nanoseconds
// from the earliest submission, sizes bytes.
func writeAttempts(w io.Writer, h *workload.History) error {
	row := make([]string, len(attemptColumns))
	for i := range attemptColumns {
		row[i] = attemptColumns[i].name
	}
	return workload.WriteCSV(w, row, func(write func(...string)) {
		h.Each()(func(_ *workload.HistoryTask, a *workload.HistoryAttempt) bool {
			for c := range attemptColumns {
				row[c] = attemptColumns[c].cell(&a.Attempt)
			}
			write(row...)
			return true
		})
	})
}

var jobColumns = []string{
	"job", "name", "user", "pool", "queue", "priority", "state", "submit_ns", "launch_ns", "finish_ns", "maps", "reduces",
}

// total is a column of a table of jobs for one of their counters.
type total struct {
	name string
	of   func(*workload.JobTotals) int64
}

// totalsOf lists the counters that jobs without tasks state. Nothing else tells
// how long such jobs took and what they moved.
func totalsOf(h *workload.History) (list []total) {
	var all []total
	for _, n := range slices.Concat(fileSystemCounters, taskCounters) {
		all = append(all, total{strings.ToLower(n.name), func(t *workload.JobTotals) int64 { return ofJob(t)(&n) }})
	}
	for _, n := range jobCounters {
		all = append(all, total{strings.ToLower(n.name), func(t *workload.JobTotals) int64 { return *n.field(t) }})
	}
	for _, c := range all {
		if slices.ContainsFunc(h.Jobs, func(j workload.HistoryJob) bool { return len(j.Tasks) == 0 && c.of(&j.Totals) != workload.Unknown }) {
			list = append(list, c)
		}
	}
	return list
}

// writeJobs writes the jobs of a history as CSV, next to its attempts.
func writeJobs(w io.Writer, h *workload.History) error {
	totals, header := totalsOf(h), slices.Clone(jobColumns)
	for _, c := range totals {
		header = append(header, c.name)
	}
	chained := waiting(h) > 0
	if chained {
		header = append(header, "after")
	}
	return workload.WriteCSV(w, header, func(write func(...string)) {
		for i := range h.Jobs {
			j := &h.Jobs[i]
			row := []string{
				workload.Escape(j.ID), workload.Escape(j.Name), workload.Escape(j.User), workload.Escape(j.Pool), workload.Escape(j.Queue), j.Priority.String(), j.Outcome.String(),
				timeCell(j.Submit), timeCell(j.Launch), timeCell(j.Finish), countCell(int64(j.Maps)), countCell(int64(j.Reduces)),
			}
			for _, c := range totals {
				cell := ""
				if len(j.Tasks) == 0 {
					cell = countCell(c.of(&j.Totals))
				}
				row = append(row, cell)
			}
			if chained {
				row = append(row, workload.EscapeList(j.After))
			}
			write(row...)
		}
	})
}

// NewGzip compresses at the lowest level: writing the table of a simulated run takes as
// long as its simulation, and higher levels make it a tenth smaller. The bytes do not
// depend on when they are written.
func NewGzip(w io.Writer) *gzip.Writer {
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // a valid level is no error
	return z
}

// Gzip compresses what write writes.
func Gzip(w io.Writer, write func(io.Writer) error) error {
	z := NewGzip(w)
	if err := write(z); err != nil {
		return err
	}
	return z.Close()
}
