package results

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
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

// ReadOffers reads offers.csv; name is that of the file in errors. An offer is
// valid only during the call.
func ReadOffers(r io.Reader, name string, each func(*model.Offer)) error {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil || !slices.Equal(header, offerColumns) {
		return fmt.Errorf("%s:1: got columns %s: want %s; another version of slotwave wrote it: run the scenario again",
			name, text.Escape(strings.Join(header, ",")), strings.Join(offerColumns, ","))
	}
	var o model.Offer
	names := map[string]string{}
	for line := 2; ; line++ {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, i := range []int{1, 6, 12} {
			if _, known := names[cells[i]]; !known {
				own := strings.Clone(cells[i])
				names[own] = own
			}
			cells[i] = names[cells[i]]
		}
		at, err := strconv.ParseInt(cells[0], 10, 64)
		if err != nil || at < 0 {
			return fmt.Errorf("%s:%d: time_ns: got %q: want whole nanoseconds from 0", name, line, cells[0])
		}
		if same := time.Duration(at) == o.Time && cells[1] == o.Node; !same || line == 2 {
			if line > 2 {
				each(&o)
			}
			o = model.Offer{Time: time.Duration(at), Node: cells[1], Asked: o.Asked[:0]}
		}
		if err := readOffer(&o, cells); err != nil {
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
	if o.Node != "" {
		each(&o)
	}
	return nil
}

// readOffer adds a row to its offer.
func readOffer(o *model.Offer, cells []string) error {
	kind := workload.Map
	switch cells[2] {
	case workload.Map.String():
	case workload.Reduce.String():
		kind = workload.Reduce
	default:
		return fmt.Errorf("kind: got %q: want map or reduce", cells[2])
	}
	stayed, known := model.ParseReason(cells[5])
	if !known {
		return fmt.Errorf("stayed_free: got %q: want a reason", cells[5])
	}
	n := numbers{cells: cells}
	o.Free[kind], o.Waiting[kind], o.Reason[kind], o.Repeats = n.at(3), n.at(4), stayed, n.figure(11)
	if cells[6] == "" {
		return n.err
	}
	why, known := model.ParseReason(cells[7])
	if !known && cells[7] != launchedOutcome {
		return fmt.Errorf("outcome: got %q: want launched or a reason", cells[7])
	}
	a := model.Asked{Job: cells[6], Kind: kind, Task: -1, Reason: why}
	if cells[7] == launchedOutcome {
		a.Task, a.Attempt = n.at(8), n.at(9)
		var ok bool
		if a.Locality, ok = workload.ParseLocality(cells[10]); !ok {
			return fmt.Errorf("locality: got %q: want a locality, such as node", cells[10])
		}
	}
	f := &a.Figures
	f.Pool, f.Running, f.Demand, f.MinShare = cells[12], n.figure(13), n.figure(14), n.figure(15)
	f.Deficit, f.Waited, f.Delay = time.Duration(n.figure(17)), time.Duration(n.figure(18)), time.Duration(n.figure(19))
	f.Skipped, f.Limit = n.figure(20), n.figure(21)
	if cells[16] != "" {
		var err error
		if f.Share, err = strconv.ParseFloat(cells[16], 64); err != nil {
			n.fail(16)
		}
	}
	o.Asked = append(o.Asked, a)
	return n.err
}

// numbers reads whole numbers of a row until the first error.
type numbers struct {
	cells []string
	err   error
}

func (n *numbers) at(i int) int {
	v, err := strconv.Atoi(n.cells[i])
	if err != nil {
		n.fail(i)
	}
	return v
}

// figure reads a number that is left out if it is 0.
func (n *numbers) figure(i int) int {
	if n.cells[i] == "" {
		return 0
	}
	return n.at(i)
}

func (n *numbers) fail(i int) {
	if n.err == nil {
		n.err = fmt.Errorf("%s: got %q: want a number", offerColumns[i], n.cells[i])
	}
}
