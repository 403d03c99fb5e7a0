package results

import (
	"io"

	"github.com/slotwave/slotwave/workload"
)

// attempt passes a row of attempts.csv. Where tasks have a plan and the release counts
// them, it ends with more counters.
func (r *record) attempt(a *workload.Attempt, more bool) {
	r.text("job", &a.Job)
	passCount(r, "task", &a.Task)
	passNamed(r, "kind", &a.Kind, workload.ReduceTaskCleanup+1)
	passCount(r, "attempt", &a.Number)
	passNamed(r, "state", &a.State, workload.Running+1)
	r.text("node", &a.Node)
	r.text("rack", &a.Rack)
	passWhole(r, "slot", &a.Slot)
	r.text("pool", &a.Pool)
	passNamed(r, "locality", &a.Locality, workload.NumLocalities)
	passWhole(r, "runnable_ns", &a.Runnable)
	passWhole(r, "start_ns", &a.Start)
	passWhole(r, "finish_ns", &a.Finish)
	for p := range a.Phases {
		passWhole(r, phaseColumns[p], &a.Phases[p])
	}
	for i, n := range figures(a) {
		passWhole(r, figureColumns[i], n)
	}
	if more {
		passWhole(r, "combine_input_records", &a.CombineInRecords)
		passWhole(r, "combine_output_records", &a.CombineOutRecords)
		passWhole(r, "map_output_materialized_bytes", &a.MaterializedBytes)
		passWhole(r, "cpu_milliseconds", &a.CPUMillis)
	}
}

var phaseColumns = func() (columns [workload.NumPhases]string) {
	for p := range columns {
		columns[p] = "p_" + workload.Phase(p).String() + "_ns"
	}
	return columns
}()

// figures are what an attempt has moved and how long its copiers waited.
func figures(a *workload.Attempt) [14]*int64 {
	return [...]*int64{
		&a.InRecords, &a.InBytes, &a.OutRecords, &a.OutBytes, &a.Spills, &a.MergePasses, &a.SpilledRecords,
		&a.ShuffleBytes, &a.HDFSReadBytes, &a.HDFSWriteBytes, &a.LocalReadBytes, &a.LocalWriteBytes,
		(*int64)(&a.WaitFetch), (*int64)(&a.WaitMemory),
	}
}

var figureColumns = [...]string{
	"in_records", "in_bytes", "out_records", "out_bytes", "spills", "merge_passes", "spilled_records",
	"shuffle_bytes", "hdfs_read_bytes", "hdfs_write_bytes", "local_read_bytes", "local_write_bytes",
	"wait_fetch_ns", "wait_memory_ns",
}

// attemptColumns returns the columns of attempts.csv.
func attemptColumns(more bool) []string {
	return columnsOf(func(r *record) { r.attempt(new(workload.Attempt), more) })
}

// AttemptTable writes attempts.csv: one row per attempt, in the order of their
// ends. It is a model.Recorder that keeps and allocates nothing per row.
type AttemptTable struct {
	rowWriter
	rows int64
	more bool
}

// NewAttemptTable starts a table. It must be closed, also when the run fails.
// Counters says that the table has more of them.
func NewAttemptTable(w io.Writer, counters bool) *AttemptTable {
	t := &AttemptTable{more: counters}
	t.start(w, attemptColumns(counters))
	return t
}

// Attempt appends one row. An error of the writer is kept for Close.
func (t *AttemptTable) Attempt(a *workload.Attempt) {
	t.attempt(a, t.more)
	t.rows++
	t.endRow()
}

// Rows returns the number of attempts so far.
func (t *AttemptTable) Rows() int64 { return t.rows }

// openAttempts reads the header of a table of attempts.
func openAttempts(r io.Reader, file string) *tableReader {
	return readTable(r, file, attemptColumns(false), attemptColumns(true))
}

// HasAttempts reports whether a table has the columns of attempts.csv, so that
// ReadAttempts reads it.
func HasAttempts(r io.Reader) bool { return openAttempts(r, "").err == nil }

// ReadAttempts reads attempts.csv; file is its name in errors. An attempt is valid
// only during the call. It keeps only names. It stops if each returns false.
func ReadAttempts(r io.Reader, file string, each func(*workload.Attempt) bool) error {
	t := openAttempts(workload.CountedReader{Reader: r}, file)
	more := len(t.columns) > len(attemptColumns(false))
	for t.row() {
		var a workload.Attempt
		a.SetUncounted()
		if (&record{from: t}).attempt(&a, more); t.err != nil || !each(&a) {
			break
		}
	}
	return t.err
}
