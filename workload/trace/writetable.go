package trace

import (
	"compress/gzip"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// attemptColumns are the columns of a table of attempts, in order, with the
// value of each. They are the same as in the table of a simulated run. A cell is
// empty if the value is unknown.
var attemptColumns = func() []attemptColumn {
	text := func(name string, f func(a *workload.Attempt) string) attemptColumn {
		return attemptColumn{name: name, text: f}
	}
	span := func(name string, f func(a *workload.Attempt) time.Duration) attemptColumn {
		return attemptColumn{name: name, number: func(a *workload.Attempt) (int64, bool) { d := f(a); return int64(d), workload.Known(d) }}
	}
	count := func(name string, f func(a *workload.Attempt) int64) attemptColumn {
		return attemptColumn{name: name, number: func(a *workload.Attempt) (int64, bool) { v := f(a); return v, v != workload.Unknown }}
	}
	list := []attemptColumn{
		text("job", func(a *workload.Attempt) string { return a.Job }),
		count("task", func(a *workload.Attempt) int64 { return int64(a.Task) }),
		text("kind", func(a *workload.Attempt) string { return a.Kind.String() }),
		count("attempt", func(a *workload.Attempt) int64 { return int64(a.Number) }),
		text("state", func(a *workload.Attempt) string { return a.State.String() }),
		text("node", func(a *workload.Attempt) string { return a.Node }),
		text("rack", func(a *workload.Attempt) string { return a.Rack }),
		count("slot", func(a *workload.Attempt) int64 { return int64(a.Slot) }),
		text("pool", func(a *workload.Attempt) string { return a.Pool }),
		text("locality", func(a *workload.Attempt) string { return a.Locality.String() }),
		span("runnable_ns", func(a *workload.Attempt) time.Duration { return a.Runnable }),
		span("start_ns", func(a *workload.Attempt) time.Duration { return a.Start }),
		span("finish_ns", func(a *workload.Attempt) time.Duration { return a.Finish }),
	}
	for p := range workload.NumPhases {
		list = append(list, span("p_"+p.String()+"_ns", func(a *workload.Attempt) time.Duration { return a.Phases[p] }))
	}
	return append(list,
		count("in_records", func(a *workload.Attempt) int64 { return a.InRecords }),
		count("in_bytes", func(a *workload.Attempt) int64 { return a.InBytes }),
		count("out_records", func(a *workload.Attempt) int64 { return a.OutRecords }),
		count("out_bytes", func(a *workload.Attempt) int64 { return a.OutBytes }),
		count("spills", func(a *workload.Attempt) int64 { return a.Spills }),
		count("merge_passes", func(a *workload.Attempt) int64 { return a.MergePasses }),
		count("spilled_records", func(a *workload.Attempt) int64 { return a.SpilledRecords }),
		count("shuffle_bytes", func(a *workload.Attempt) int64 { return a.ShuffleBytes }),
		count("hdfs_read_bytes", func(a *workload.Attempt) int64 { return a.HDFSReadBytes }),
		count("hdfs_write_bytes", func(a *workload.Attempt) int64 { return a.HDFSWriteBytes }),
		count("local_read_bytes", func(a *workload.Attempt) int64 { return a.LocalReadBytes }),
		count("local_write_bytes", func(a *workload.Attempt) int64 { return a.LocalWriteBytes }),
		span("wait_fetch_ns", func(a *workload.Attempt) time.Duration { return a.WaitFetch }),
		span("wait_memory_ns", func(a *workload.Attempt) time.Duration { return a.WaitMemory }),
		count("combine_input_records", func(a *workload.Attempt) int64 { return a.CombineInRecords }),
		count("combine_output_records", func(a *workload.Attempt) int64 { return a.CombineOutRecords }),
		count("map_output_materialized_bytes", func(a *workload.Attempt) int64 { return a.MaterializedBytes }),
		count("cpu_milliseconds", func(a *workload.Attempt) int64 { return a.CPUMillis }),
	)
}()

// attemptColumn is a column of texts or of whole numbers.
type attemptColumn struct {
	name   string
	text   func(*workload.Attempt) string
	number func(*workload.Attempt) (v int64, known bool)
}

func (c *attemptColumn) cell(a *workload.Attempt) string {
	if c.text != nil {
		return c.text(a)
	}
	if v, known := c.number(a); known {
		return strconv.FormatInt(v, 10)
	}
	return ""
}

// writeAttempts writes the attempts of a history as CSV. Times are nanoseconds
// from the earliest submission, sizes bytes.
func writeAttempts(w io.Writer, h *workload.History) error {
	out := csv.NewWriter(w)
	row := make([]string, len(attemptColumns))
	for i := range attemptColumns {
		row[i] = attemptColumns[i].name
	}
	out.Write(row)
	for i := range h.Jobs {
		for k := range h.Jobs[i].Tasks {
			t := &h.Jobs[i].Tasks[k]
			for n := range t.Attempts {
				for c := range attemptColumns {
					row[c] = escapeCell(attemptColumns[c].cell(&t.Attempts[n].Attempt))
				}
				out.Write(row)
			}
		}
	}
	out.Flush()
	return out.Error()
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
		all = append(all, total{strings.ToLower(n.name), func(t *workload.JobTotals) int64 { return ofJob(t)(n) }})
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
	out := csv.NewWriter(w)
	totals, header := totalsOf(h), slices.Clone(jobColumns)
	for _, c := range totals {
		header = append(header, c.name)
	}
	out.Write(header)
	for i := range h.Jobs {
		j := &h.Jobs[i]
		instant := func(d time.Duration) string {
			if !workload.Known(d) {
				return ""
			}
			return strconv.FormatInt(int64(d), 10)
		}
		count := func(n int) string {
			if n == workload.Unknown {
				return ""
			}
			return strconv.Itoa(n)
		}
		row := []string{
			escapeCell(j.ID), escapeCell(j.Name), escapeCell(j.User), escapeCell(j.Pool), escapeCell(j.Queue), j.Priority.String(), j.Outcome.String(),
			instant(j.Submit), instant(j.Launch), instant(j.Finish), count(j.Maps), count(j.Reduces),
		}
		for _, c := range totals {
			cell := ""
			if v := c.of(&j.Totals); v != workload.Unknown && len(j.Tasks) == 0 {
				cell = strconv.FormatInt(v, 10)
			}
			row = append(row, cell)
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// NewGzip compresses at the lowest level: the table of a simulated run is as fast as its
// simulation, and higher levels make it a tenth smaller. The bytes do not depend on when
// they are written.
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
