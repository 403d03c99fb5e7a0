package results

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// SpansName is the table of spans of a traced run.
const SpansName = "spans.csv"

// spanColumns names the columns of spans.csv, in order.
var spanColumns = []string{
	"job", "kind", "task", "attempt", "thread", "copier", "phase", "wait", "device", "device_of", "from_node", "begin_ns", "end_ns", "own_ns", "bytes",
}

// SpanTable writes spans.csv, in the order in which spans end. It is a
// model.SpanRecorder that keeps and allocates nothing per row. Figures of 0 are left
// out.
type SpanTable struct{ rowWriter }

// NewSpanTable starts a table. It must be closed, also when the run fails.
func NewSpanTable(w io.Writer) *SpanTable {
	t := &SpanTable{}
	t.start(w, spanColumns)
	return t
}

// Span appends a row.
func (t *SpanTable) Span(s *model.Span) {
	b := append(append(text.AppendField(t.buf, s.Job), ','), s.Kind.String()...)
	b = appendInt(appendInt(b, int64(s.Task)), int64(s.Attempt))
	b = append(append(b, ','), s.Thread.String()...)
	b = append(append(appendFigure(b, int64(s.Copier)), ','), s.Phase.String()...)
	b = append(append(append(append(b, ','), s.Wait.String()...), ','), s.Device...)
	b = text.AppendField(append(b, ','), s.DeviceOf)
	b = appendInt(text.AppendField(append(b, ','), s.FromNode), int64(s.Begin))
	t.endRow(appendFigure(appendFigure(appendInt(b, int64(s.End)), int64(s.Own)), s.Bytes))
}

// ReadSpans reads spans.csv until each returns false; name is that of the file in
// errors. A span is valid only during the call.
func ReadSpans(r io.Reader, name string, each func(*model.Span) bool) error {
	in := bufio.NewReaderSize(r, rowBuffer)
	reading := &spanReader{names: map[string]string{}}
	for line := 1; ; line++ {
		field, err := in.ReadSlice('\n')
		if err == io.EOF && len(field) == 0 {
			break
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
		field = bytes.TrimRight(field, "\r\n")
		if line == 1 {
			if string(field) != strings.Join(spanColumns, ",") {
				return fmt.Errorf("%s:1: got columns %s: want %s; another version of slotwave wrote it: run the scenario again",
					name, text.Escape(string(field)), strings.Join(spanColumns, ","))
			}
			continue
		}
		if err := reading.row(field); err != nil {
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if !each(&reading.span) {
			break
		}
	}
	return nil
}

// spanReader reads rows into one span.
type spanReader struct {
	span  model.Span
	cells [][]byte
	names map[string]string // each name once
}

// kept returns a name that stays valid.
func (r *spanReader) kept(name []byte) string {
	if own, ok := r.names[string(name)]; ok {
		return own
	}
	own := string(name)
	r.names[own] = own
	return own
}

// row reads a row.
func (r *spanReader) row(text []byte) error {
	if r.cells = splitRow(r.cells[:0], text); len(r.cells) != len(spanColumns) {
		return fmt.Errorf("got %s: want %d", workload.Counted(len(r.cells), "column", "columns"), len(spanColumns))
	}
	s, c := &r.span, r.cells
	*s = model.Span{Job: r.kept(c[0]), Device: r.kept(c[8]), DeviceOf: r.kept(c[9]), FromNode: r.kept(c[10])}
	var found [4]bool
	s.Kind, found[0] = named(c[1], workload.Reduce+1)
	s.Thread, found[1] = named(c[4], model.NumThreads)
	s.Phase, found[2] = named(c[6], workload.Phase(workload.NumPhases))
	s.Wait, found[3] = named(c[7], model.NumWaits)
	for i, column := range [...]int{1, 4, 6, 7} {
		if !found[i] {
			return fmt.Errorf("%s: got %s: want a name that slotwave writes", spanColumns[column], strconv.Quote(string(c[column])))
		}
	}
	var n [7]int64
	for i, column := range [...]int{2, 3, 5, 11, 12, 13, 14} {
		if len(c[column]) == 0 {
			continue
		}
		v, err := strconv.ParseInt(string(c[column]), 10, 64)
		if err != nil || v < 0 {
			return fmt.Errorf("%s: got %s: want a whole number from 0", spanColumns[column], strconv.Quote(string(c[column])))
		}
		n[i] = v
	}
	s.Task, s.Attempt, s.Copier = int(n[0]), int(n[1]), int(n[2])
	s.Begin, s.End, s.Own, s.Bytes = time.Duration(n[3]), time.Duration(n[4]), time.Duration(n[5]), n[6]
	return nil
}

// named returns the value with a name, of those below a limit.
func named[T interface {
	~uint8
	String() string
}](name []byte, limit T) (T, bool) {
	for v := range limit {
		if v.String() == string(name) {
			return v, true
		}
	}
	return 0, false
}

// splitRow appends the cells of a row of CSV.
func splitRow(cells [][]byte, text []byte) [][]byte {
	for {
		if len(text) > 0 && text[0] == '"' {
			var cell []byte
			i := 1
			for ; i < len(text); i++ {
				if text[i] == '"' {
					if i+1 == len(text) || text[i+1] != '"' {
						break
					}
					i++
				}
				cell = append(cell, text[i])
			}
			cells, text = append(cells, cell), text[min(i+1, len(text)):]
			if len(text) == 0 {
				return cells
			}
			text = text[1:]
			continue
		}
		i := bytes.IndexByte(text, ',')
		if i < 0 {
			return append(cells, text)
		}
		cells, text = append(cells, text[:i]), text[i+1:]
	}
}
