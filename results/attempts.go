package results

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// attemptColumns names the columns of attempts.csv, in order.
var attemptColumns = func() []string {
	columns := []string{
		"job", "task", "kind", "attempt", "state", "node", "rack", "slot", "pool", "locality",
		"runnable_ns", "start_ns", "finish_ns",
	}
	for p := range workload.NumPhases {
		columns = append(columns, "p_"+p.String()+"_ns")
	}
	return append(columns,
		"in_records", "in_bytes", "out_records", "out_bytes", "spills", "merge_passes", "spilled_records",
		"shuffle_bytes", "hdfs_read_bytes", "hdfs_write_bytes", "local_read_bytes", "local_write_bytes",
		"wait_fetch_ns", "wait_memory_ns")
}()

// counterColumns names the columns that follow where tasks have a plan and the
// release counts these values.
var counterColumns = []string{"combine_input_records", "combine_output_records", "map_output_materialized_bytes", "cpu_milliseconds"}

// figures are what an attempt has moved and how long its copiers waited, in the order
// of the columns.
func figures(a *workload.Attempt) [14]*int64 {
	return [...]*int64{
		&a.InRecords, &a.InBytes, &a.OutRecords, &a.OutBytes, &a.Spills, &a.MergePasses, &a.SpilledRecords,
		&a.ShuffleBytes, &a.HDFSReadBytes, &a.HDFSWriteBytes, &a.LocalReadBytes, &a.LocalWriteBytes,
		(*int64)(&a.WaitFetch), (*int64)(&a.WaitMemory),
	}
}

// counters are the figures of counterColumns.
func counters(a *workload.Attempt) [4]*int64 {
	return [...]*int64{&a.CombineInRecords, &a.CombineOutRecords, &a.MaterializedBytes, &a.CPUMillis}
}

// rowBuffer is so large that passing a buffer on costs little per row.
const rowBuffer = 256 << 10

// rowWriter writes the rows of a long CSV table. The caller formats rows. Another
// goroutine writes and hashes them at the same time, because this takes as long
// again.
type rowWriter struct {
	buf  []byte
	full chan []byte // to the writing goroutine
	free chan []byte // back from it
	end  chan error
	err  error // of the writer, once closed
}

// start begins a table with its columns.
func (t *rowWriter) start(w io.Writer, columns []string) {
	const buffers = 3
	t.full, t.free, t.end = make(chan []byte, buffers), make(chan []byte, buffers), make(chan error)
	for range buffers {
		t.free <- make([]byte, 0, rowBuffer+4<<10)
	}
	t.buf = <-t.free
	go t.drain(w)
	t.buf = append(append(t.buf, strings.Join(columns, ",")...), '\n')
}

// drain writes full buffers until the channel is closed. After an error it only
// returns them.
func (t *rowWriter) drain(w io.Writer) {
	var err error
	for b := range t.full {
		if err == nil {
			_, err = w.Write(b)
		}
		t.free <- b[:0]
	}
	t.end <- err
}

// endRow ends the row that was appended to b.
func (t *rowWriter) endRow(b []byte) {
	t.buf = append(b, '\n')
	if len(t.buf) >= rowBuffer {
		t.full <- t.buf
		t.buf = <-t.free
	}
}

// Close writes the rest and returns the first error. It does not close the
// underlying writer. A second call does nothing, so Close can also be deferred.
func (t *rowWriter) Close() error {
	if t.buf != nil {
		t.full <- t.buf
		close(t.full)
		t.buf, t.err = nil, <-t.end
	}
	return t.err
}

// AttemptTable writes attempts.csv: one row per attempt, in the order of their
// ends. It is a model.Recorder that keeps and allocates nothing per row.
type AttemptTable struct {
	rowWriter
	rows int64
	more bool // counterColumns
}

// NewAttemptTable starts a table. It must be closed, also when the run fails.
// Counters adds counterColumns.
func NewAttemptTable(w io.Writer, counters bool) *AttemptTable {
	t := &AttemptTable{more: counters}
	columns := attemptColumns
	if counters {
		columns = slices.Concat(columns, counterColumns)
	}
	t.start(w, columns)
	return t
}

// Attempt appends one row. An error of the writer is kept for Close.
func (t *AttemptTable) Attempt(a *workload.Attempt) {
	b := text.AppendField(t.buf, a.Job)
	b = appendInt(b, int64(a.Task))
	b = append(append(b, ','), a.Kind.String()...)
	b = appendInt(b, int64(a.Number))
	b = append(append(b, ','), a.State.String()...)
	b = text.AppendField(append(b, ','), a.Node)
	b = text.AppendField(append(b, ','), a.Rack)
	b = appendInt(b, int64(a.Slot))
	b = text.AppendField(append(b, ','), a.Pool)
	b = append(append(b, ','), a.Locality.String()...)
	b = appendInt(b, int64(a.Runnable))
	b = appendInt(b, int64(a.Start))
	b = appendInt(b, int64(a.Finish))
	for _, d := range &a.Phases {
		b = appendInt(b, int64(d))
	}
	for _, n := range figures(a) {
		b = appendInt(b, *n)
	}
	if t.more {
		for _, n := range counters(a) {
			b = appendInt(b, *n)
		}
	}
	t.rows++
	t.endRow(b)
}

// appendInt appends a comma and a number.
func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(append(b, ','), n, 10) }

// Rows returns the number of attempts so far.
func (t *AttemptTable) Rows() int64 { return t.rows }
