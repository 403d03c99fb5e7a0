package results

import (
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// OffersName is the table of offers of a traced run.
const OffersName = "offers.csv"

// offerColumns names the columns of offers.csv, in order.
var offerColumns = []string{
	"time_ns", "node", "kind", "free", "waiting", "stayed_free", "job", "outcome", "task", "attempt", "locality",
	"repeats", "pool", "running", "demand", "min_share", "share", "deficit_ns", "waited_ns", "delay_ns", "skipped", "limit",
}

const launchedOutcome = "launched"

// OfferTable writes offers.csv. An offer has one row for each job that was asked,
// and one without a job for each type of slot for which none was. It is a
// model.Tracer that keeps and allocates nothing per row. Figures of 0 are left
// out. Of several offers in a row that launch nothing for the same reasons, only
// the first is written, with the number of the others.
type OfferTable struct {
	rowWriter
	last model.Offer // launched nothing and is not written yet, if it has a node
}

// NewOfferTable starts a table. It must be closed, also when the run fails.
func NewOfferTable(w io.Writer) *OfferTable {
	t := &OfferTable{}
	t.start(w, offerColumns)
	return t
}

// Offer adds an offer.
func (t *OfferTable) Offer(o *model.Offer) {
	vain := !slices.ContainsFunc(o.Asked, func(a model.Asked) bool { return a.Task >= 0 })
	if vain && t.last.Node != "" && sameAnswer(o, &t.last) {
		t.last.Repeats++
		return
	}
	t.flush()
	if !vain {
		t.write(o)
		return
	}
	asked := append(t.last.Asked[:0], o.Asked...)
	t.last = *o
	t.last.Asked = asked
}

// sameAnswer reports whether two offers asked the same jobs, which refused for the
// same reasons.
func sameAnswer(a, b *model.Offer) bool {
	return a.Reason == b.Reason && slices.EqualFunc(a.Asked, b.Asked, func(x, y model.Asked) bool {
		return x.Job == y.Job && x.Kind == y.Kind && x.Reason == y.Reason
	})
}

// flush writes the offer that was held back.
func (t *OfferTable) flush() {
	if t.last.Node != "" {
		t.write(&t.last)
		t.last.Node = ""
	}
}

// Close writes the rest and returns the first error, as that of AttemptTable does.
func (t *OfferTable) Close() error {
	if t.buf != nil {
		t.flush()
	}
	return t.rowWriter.Close()
}

// write appends the rows of an offer.
func (t *OfferTable) write(o *model.Offer) {
	var asked [2]bool
	for i := range o.Asked {
		a := &o.Asked[i]
		asked[a.Kind] = true
		b := t.begin(o, a.Kind)
		b = text.AppendField(b, a.Job)
		if a.Task >= 0 {
			b = append(append(b, ','), launchedOutcome...)
			b = appendInt(appendInt(b, int64(a.Task)), int64(a.Attempt))
			b = append(append(b, ','), a.Locality.String()...)
		} else {
			b = append(append(append(b, ','), a.Reason.String()...), ",,,"...)
		}
		b = appendFigure(b, int64(o.Repeats))
		if a.Figures == (model.Figures{}) {
			t.endRow(append(b, ",,,,,,,,,,"...))
			continue
		}
		f := &a.Figures
		b = text.AppendField(append(b, ','), f.Pool)
		b = appendFigure(appendFigure(appendFigure(b, int64(f.Running)), int64(f.Demand)), int64(f.MinShare))
		if b = append(b, ','); f.Share != 0 {
			b = strconv.AppendFloat(b, f.Share, 'f', 3, 64)
		}
		b = appendFigure(appendFigure(appendFigure(b, int64(f.Deficit)), int64(f.Waited)), int64(f.Delay))
		t.endRow(appendFigure(appendFigure(b, int64(f.Skipped)), int64(f.Limit)))
	}
	for k, why := range o.Reason {
		if why != model.NotDeclined && !asked[k] {
			b := appendFigure(append(t.begin(o, workload.Kind(k)), ",,,,"...), int64(o.Repeats))
			t.endRow(append(b, ",,,,,,,,,,"...))
		}
	}
}

// begin starts a row with what all rows of an offer have.
func (t *OfferTable) begin(o *model.Offer, k workload.Kind) []byte {
	b := strconv.AppendInt(t.buf, int64(o.Time), 10)
	b = text.AppendField(append(b, ','), o.Node)
	b = append(append(b, ','), k.String()...)
	b = appendInt(appendInt(b, int64(o.Free[k])), int64(o.Waiting[k]))
	return append(append(append(b, ','), o.Reason[k].String()...), ',')
}

// appendFigure leaves 0 out.
func appendFigure(b []byte, n int64) []byte {
	if n == 0 {
		return append(b, ',')
	}
	return appendInt(b, n)
}

// ReadOffers reads offers.csv; file is its name in errors. An offer is valid only
// during the call.
func ReadOffers(r io.Reader, file string, each func(*model.Offer)) error {
	t := readTable(r, file, offerColumns)
	var o model.Offer
	for t.row() {
		at, node := time.Duration(t.count()), t.text()
		if at != o.Time || node != o.Node {
			if o.Node != "" {
				each(&o)
			}
			o = model.Offer{Time: at, Node: node, Asked: o.Asked[:0]}
		}
		if t.offer(&o); t.err != nil {
			return t.err
		}
	}
	if o.Node != "" && t.err == nil {
		each(&o)
	}
	return t.err
}

// offer adds the rest of a row to its offer.
func (t *tableReader) offer(o *model.Offer) {
	kind := named(t, workload.Reduce+1)
	o.Free[kind], o.Waiting[kind], o.Reason[kind] = int(t.number()), int(t.number()), t.reason()
	a := model.Asked{Job: t.text(), Kind: kind, Task: -1}
	if outcome := t.cell(); string(outcome) == launchedOutcome {
		a.Task, a.Attempt, a.Locality = int(t.number()), int(t.number()), named(t, workload.NumLocalities)
	} else {
		t.next--
		a.Reason = t.reason()
		t.next += 3
	}
	o.Repeats = int(t.number())
	if a.Job == "" { // none was asked
		return
	}
	f := &a.Figures
	f.Pool, f.Running, f.Demand, f.MinShare = t.text(), int(t.number()), int(t.number()), int(t.number())
	f.Share = t.figure()
	f.Deficit, f.Waited, f.Delay = t.time(), t.time(), t.time()
	f.Skipped, f.Limit = int(t.number()), int(t.number())
	o.Asked = append(o.Asked, a)
}

// reason reads why an offer or a job was declined; an empty cell says that it was not.
func (t *tableReader) reason() model.Reason {
	why, known := model.ParseReason(string(t.cell()))
	if !known {
		t.wrong("a reason")
	}
	return why
}
