package results

import (
	"io"
	"slices"
	"strconv"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// OffersName is the table of offers of a traced run.
const OffersName = "offers.csv"

const launchedOutcome = "launched"

// offer passes a row of offers.csv: of a job that was asked; without an ID, that none was.
func (r *record) offer(o *model.Offer, a *model.Asked) {
	passCount(r, "time_ns", &o.Time)
	r.text("node", &o.Node)
	passNamed(r, "kind", &a.Kind, workload.Reduce+1)
	passWhole(r, "free", &o.Free[a.Kind])
	passWhole(r, "waiting", &o.Waiting[a.Kind])
	passNamed(r, "stayed_free", &o.Reason[a.Kind], model.NumReasons)
	r.text("job", &a.Job)
	switch {
	case r.from == nil && a.Task < 0:
		r.b = append(append(r.b, a.Reason.String()...), ",,,,"...)
	case r.from != nil && !r.from.follows(launchedOutcome):
		a.Task = -1
		passNamed(r, "outcome", &a.Reason, model.NumReasons)
		r.from.next += 3
	default:
		outcome := launchedOutcome
		r.text("outcome", &outcome)
		passWhole(r, "task", &a.Task)
		passWhole(r, "attempt", &a.Attempt)
		passNamed(r, "locality", &a.Locality, workload.NumLocalities)
	}
	passFigure(r, "repeats", &o.Repeats)
	f := &a.Figures
	r.text("pool", &f.Pool)
	passFigure(r, "running", &f.Running)
	passFigure(r, "demand", &f.Demand)
	passFigure(r, "min_share", &f.MinShare)
	switch {
	case r.lists("share"):
	case r.from != nil:
		f.Share = r.from.figure()
	case f.Share != 0:
		r.b = strconv.AppendFloat(r.b, f.Share, 'f', 3, 64)
		fallthrough
	default:
		r.b = append(r.b, ',')
	}
	passFigure(r, "deficit_ns", &f.Deficit)
	passFigure(r, "waited_ns", &f.Waited)
	passFigure(r, "delay_ns", &f.Delay)
	passFigure(r, "skipped", &f.Skipped)
	passFigure(r, "limit", &f.Limit)
}

func offerColumns() []string {
	return columnsOf(func(r *record) { r.offer(new(model.Offer), new(model.Asked)) })
}

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
	t.start(w, offerColumns())
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
	if t.b != nil {
		t.flush()
	}
	return t.rowWriter.Close()
}

// write appends the rows of an offer.
func (t *OfferTable) write(o *model.Offer) {
	var asked [2]bool
	for i := range o.Asked {
		asked[o.Asked[i].Kind] = true
		t.offer(o, &o.Asked[i])
		t.endRow()
	}
	for k, why := range o.Reason {
		if why != model.NotDeclined && !asked[k] {
			t.offer(o, &model.Asked{Kind: workload.Kind(k), Task: -1})
			t.endRow()
		}
	}
}

// ReadOffers reads offers.csv; file is its name in errors. An offer is valid only
// during the call.
func ReadOffers(r io.Reader, file string, each func(*model.Offer)) error {
	t := readTable(r, file, offerColumns())
	var o model.Offer
	for t.row() {
		var of model.Offer // as the row has it
		var a model.Asked
		if (&record{from: t}).offer(&of, &a); t.err != nil {
			return t.err
		}
		if of.Time != o.Time || of.Node != o.Node {
			if o.Node != "" {
				each(&o)
			}
			o = model.Offer{Time: of.Time, Node: of.Node, Asked: o.Asked[:0]}
		}
		o.Free[a.Kind], o.Waiting[a.Kind], o.Reason[a.Kind], o.Repeats = of.Free[a.Kind], of.Waiting[a.Kind], of.Reason[a.Kind], of.Repeats
		if a.Job != "" { // else none was asked
			o.Asked = append(o.Asked, a)
		}
	}
	if o.Node != "" && t.err == nil {
		each(&o)
	}
	return t.err
}
