package results

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// PlainAttempts reports whether a table has the columns of attempts.csv, and no
// name that needs quotes. ReadAttempts reads such a table.
func PlainAttempts(r io.Reader) (bool, error) {
	b := bufio.NewReaderSize(r, rowBuffer)
	header, err := b.ReadString('\n')
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	columns := strings.Split(strings.TrimSuffix(header, "\n"), ",")
	if err != nil || !slices.Equal(columns, attemptColumns) && !slices.Equal(columns, slices.Concat(attemptColumns, counterColumns)) {
		return false, err
	}
	for {
		part, err := b.Peek(max(1, b.Buffered()))
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil || bytes.IndexByte(part, '"') >= 0 {
			return false, err
		}
		b.Discard(len(part))
	}
}

// ReadAttempts reads attempts.csv without names in quotes; name is that of the
// file in errors. An attempt is valid only during the call. It keeps only names. It
// stops if each returns false.
func ReadAttempts(r io.Reader, name string, each func(*workload.Attempt) bool) error {
	in := bufio.NewReaderSize(r, rowBuffer)
	header, err := in.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	more := bytes.Count(header, []byte(",")) >= len(attemptColumns)
	row := attemptRow{names: map[string]string{}}
	for line := 2; ; line++ {
		text, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(text) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if row.read(text[:len(text)-1], more); row.bad != "" {
			return fmt.Errorf("%s:%d: %s: got %q: want what slotwave writes; run the scenario again", name, line, row.bad, text)
		}
		if !each(&row.Attempt) {
			return nil
		}
	}
}

// attemptRow is a row that is read.
type attemptRow struct {
	workload.Attempt
	names map[string]string
	rest  []byte
	bad   string // column that cannot be read
}

func (r *attemptRow) cell() []byte {
	i := bytes.IndexByte(r.rest, ',')
	if i < 0 {
		cell := r.rest
		r.rest = nil
		return cell
	}
	cell := r.rest[:i]
	r.rest = r.rest[i+1:]
	return cell
}

// name returns a cell, of which one copy is kept.
func (r *attemptRow) name() string {
	cell := r.cell()
	known, ok := r.names[string(cell)]
	if !ok {
		known = string(cell)
		r.names[known] = known
	}
	return known
}

func (r *attemptRow) number(column string) int64 {
	cell := r.cell()
	if len(cell) > 18 {
		n, err := strconv.ParseInt(string(cell), 10, 64)
		if err != nil {
			r.bad = column
		}
		return n
	}
	n, digits := int64(0), cell
	if len(cell) > 0 && cell[0] == '-' {
		digits = cell[1:]
	}
	if len(digits) == 0 {
		r.bad = column
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			r.bad = column
		}
		n = 10*n + int64(c-'0')
	}
	if len(digits) < len(cell) {
		return -n
	}
	return n
}

func (r *attemptRow) time(column string) time.Duration { return time.Duration(r.number(column)) }

// indexOf returns the place of a name among those of the values 0, 1, ...
func indexOf[T interface {
	~uint8
	String() string
}](r *attemptRow, column string, n T) T {
	text := r.cell()
	for v := range n {
		if v.String() == string(text) {
			return v
		}
	}
	r.bad = column
	return 0
}

func (r *attemptRow) read(text []byte, more bool) {
	a := &r.Attempt
	r.rest, r.bad = text, ""
	a.Job, a.Task = r.name(), int(r.number("task"))
	a.Kind = indexOf(r, "kind", workload.ReduceTaskCleanup+1)
	a.Number = int(r.number("attempt"))
	a.State = indexOf(r, "state", workload.Running+1)
	a.Node, a.Rack, a.Slot, a.Pool = r.name(), r.name(), int(r.number("slot")), r.name()
	a.Locality = indexOf(r, "locality", workload.NumLocalities)
	a.Runnable, a.Start, a.Finish = r.time("runnable_ns"), r.time("start_ns"), r.time("finish_ns")
	for p := range a.Phases {
		a.Phases[p] = r.time("phases")
	}
	for _, n := range []*int64{
		&a.InRecords, &a.InBytes, &a.OutRecords, &a.OutBytes, &a.Spills, &a.MergePasses, &a.SpilledRecords,
		&a.ShuffleBytes, &a.HDFSReadBytes, &a.HDFSWriteBytes, &a.LocalReadBytes, &a.LocalWriteBytes,
	} {
		*n = r.number("data")
	}
	a.WaitFetch, a.WaitMemory = r.time("wait_fetch_ns"), r.time("wait_memory_ns")
	a.SetUncounted()
	if more {
		a.CombineInRecords, a.CombineOutRecords = r.number("combine_input_records"), r.number("combine_output_records")
		a.MaterializedBytes, a.CPUMillis = r.number("map_output_materialized_bytes"), r.number("cpu_milliseconds")
	}
	if len(r.rest) > 0 {
		r.bad = "columns"
	}
}
