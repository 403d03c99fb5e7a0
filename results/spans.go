package results

import (
	"io"
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

// ReadSpans reads spans.csv until each returns false; file is its name in errors. A
// span is valid only during the call.
func ReadSpans(r io.Reader, file string, each func(*model.Span) bool) error {
	t := readTable(r, file, spanColumns)
	for t.row() {
		s := model.Span{Job: t.text(), Kind: named(t, workload.Reduce+1), Task: int(t.count()), Attempt: int(t.count())}
		s.Thread, s.Copier = named(t, model.NumThreads), int(t.count())
		s.Phase, s.Wait = named(t, workload.Phase(workload.NumPhases)), named(t, model.NumWaits)
		s.Device, s.DeviceOf, s.FromNode = t.text(), t.text(), t.text()
		s.Begin, s.End, s.Own, s.Bytes = time.Duration(t.count()), time.Duration(t.count()), time.Duration(t.count()), t.count()
		if t.err != nil || !each(&s) {
			break
		}
	}
	return t.err
}
