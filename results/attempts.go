package results

import (
	"encoding/binary"
	"io"
	"math/bits"
	"slices"
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
	b = appendInt(b, a.InRecords)
	b = appendInt(b, a.InBytes)
	b = appendInt(b, a.OutRecords)
	b = appendInt(b, a.OutBytes)
	b = appendInt(b, a.Spills)
	b = appendInt(b, a.MergePasses)
	b = appendInt(b, a.SpilledRecords)
	b = appendInt(b, a.ShuffleBytes)
	b = appendInt(b, a.HDFSReadBytes)
	b = appendInt(b, a.HDFSWriteBytes)
	b = appendInt(b, a.LocalReadBytes)
	b = appendInt(b, a.LocalWriteBytes)
	b = appendInt(b, int64(a.WaitFetch))
	b = appendInt(b, int64(a.WaitMemory))
	if t.more {
		b = appendInt(b, a.CombineInRecords)
		b = appendInt(b, a.CombineOutRecords)
		b = appendInt(b, a.MaterializedBytes)
		b = appendInt(b, a.CPUMillis)
	}
	t.rows++
	t.endRow(b)
}

// appendInt appends a comma and a number. Most numbers of a simulated attempt are 0,
// and the others have up to 15 digits.
func appendInt(b []byte, n int64) []byte {
	if n == 0 {
		return append(b, ',', '0')
	}
	return appendDigits(b, n)
}

// appendDigits appends a comma and a number in decimal, eight digits at a time.
func appendDigits(b []byte, n int64) []byte {
	b = append(b, ',')
	u := uint64(n)
	if n < 0 {
		b, u = append(b, '-'), -u
	}
	var groups [2]uint64 // after the first; at most 19 digits are two groups and a first of 3
	k := 0
	for ; u >= 1e8; k++ {
		groups[k], u = eightDigits(u%1e8), u/1e8
	}
	const lastDigit = 1 << 56 // stands even if it is 0
	first := eightDigits(u)
	zeros := bits.TrailingZeros64(first|lastDigit) / 8
	b = binary.LittleEndian.AppendUint64(b, (first|asciiZeros)>>(8*zeros))
	b = b[:len(b)-zeros]
	for k > 0 {
		k--
		b = binary.LittleEndian.AppendUint64(b, groups[k]|asciiZeros)
	}
	return b
}

// asciiZeros makes characters of eight digits.
const asciiZeros = 0x3030303030303030

// eightDigits returns the decimal digits of a number below 1e8, the first one in
// the lowest byte. It divides by 10,000, then two halves by 100, then four quarters
// by 10 at once: by a multiplication and a shift in each half or quarter.
func eightDigits(u uint64) uint64 {
	u = u/10000 | u%10000<<32
	hundreds := u * 5243 >> 19 & 0x7f_0000_007f // of numbers below 10,000
	u = hundreds | (u-100*hundreds)<<16
	tens := u * 103 >> 10 & 0xf_000f_000f_000f // of numbers below 100
	return tens | (u-10*tens)<<8
}

// Rows returns the number of attempts so far.
func (t *AttemptTable) Rows() int64 { return t.rows }
