package results

import (
	"io"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// SpansName is the table of spans of a traced run.
const SpansName = "spans.csv"

// span passes a row of spans.csv.
func (r *record) span(s *model.Span) {
	r.text("job", &s.Job)
	passNamed(r, "kind", &s.Kind, workload.Reduce+1)
	passCount(r, "task", &s.Task)
	passCount(r, "attempt", &s.Attempt)
	passNamed(r, "thread", &s.Thread, model.NumThreads)
	passAmount(r, "copier", &s.Copier)
	passNamed(r, "phase", &s.Phase, workload.Phase(workload.NumPhases))
	passNamed(r, "wait", &s.Wait, model.NumWaits)
	r.text("device", &s.Device)
	r.text("device_of", &s.DeviceOf)
	r.text("from_node", &s.FromNode)
	passCount(r, "begin_ns", &s.Begin)
	passCount(r, "end_ns", &s.End)
	passAmount(r, "own_ns", &s.Own)
	passAmount(r, "bytes", &s.Bytes)
}

func spanColumns() []string { return columnsOf(func(r *record) { r.span(new(model.Span)) }) }

// SpanTable writes spans.csv, in the order in which spans end. It is a
// model.SpanRecorder that keeps and allocates nothing per row. Figures of 0 are left
// out.
type SpanTable struct{ rowWriter }

// NewSpanTable starts a table. It must be closed, also when the run fails.
func NewSpanTable(w io.Writer) *SpanTable {
	t := &SpanTable{}
	t.start(w, spanColumns())
	return t
}

// Span appends a row.
func (t *SpanTable) Span(s *model.Span) {
	t.span(s)
	t.endRow()
}

// ReadSpans reads spans.csv until each returns false; file is its name in errors. A
// span is valid only during the call.
func ReadSpans(r io.Reader, file string, each func(*model.Span) bool) error {
	t := readTable(r, file, spanColumns())
	for t.row() {
		var s model.Span
		if (&record{from: t}).span(&s); t.err != nil || !each(&s) {
			break
		}
	}
	return t.err
}
