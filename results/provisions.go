package results

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
)

// ProvisionsSchema is the first field of provisions in JSON.
const ProvisionsSchema = "slotwave/provisions/1"

// Provisions lists the number of nodes that each model needs to meet a
// deadline.
type Provisions struct {
	Deadline time.Duration
	list     []provision
}

// provision is a row: nodes by each estimate, and the slots of a node.
type provision struct {
	Scenario    string `json:"scenario"`
	Model       string `json:"model"`
	Low         nodes  `json:"nodes_by_low"`
	Mean        nodes  `json:"nodes_by_mean"`
	Safe        nodes  `json:"nodes_by_safe_mean"`
	High        nodes  `json:"nodes_by_high"`
	MapSlots    int    `json:"map_slots"`
	ReduceSlots int    `json:"reduce_slots"`
	Note        string `json:"note,omitempty"`
}

// nodes is the smallest sufficient number of nodes: 0 if there is none, unknown
// if the model gives no answer.
type nodes int

const unknown nodes = -1

func (n nodes) String() string {
	switch n {
	case 0:
		return "none"
	case unknown:
		return "-"
	}
	return strconv.Itoa(int(n))
}

// MarshalJSON writes a number, "none" or null.
func (n nodes) MarshalJSON() ([]byte, error) {
	switch n {
	case 0:
		return []byte(`"none"`), nil
	case unknown:
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(n), 10), nil
}

// Add adds the answer of a model to a question.
func (p *Provisions) Add(q *model.WhatIf, x analytic.Provisioned) {
	row := provision{Scenario: Escape(q.Name), Model: Escape(x.Model)}
	if len(q.Cluster.Nodes) > 0 {
		row.MapSlots, row.ReduceSlots = q.Cluster.Nodes[0].MapSlots, q.Cluster.Nodes[0].ReduceSlots
	}
	row.Low, row.Mean, row.Safe, row.High = nodes(x.Low), nodes(x.Mean), nodes(x.Safe), nodes(x.High)
	if x.NoSafe {
		row.Safe = unknown
	}
	if x.Err != nil {
		row.Note = "n/a: " + message(x.Err)
		row.Low, row.Mean, row.Safe, row.High = unknown, unknown, unknown, unknown
	}
	p.list = append(p.list, row)
}

// WriteJSON writes the provisions as one JSON object.
func (p *Provisions) WriteJSON(w io.Writer) error {
	return writeJSON(w, struct {
		Schema   string      `json:"schema"`
		Deadline int64       `json:"deadline_ns"`
		Rows     []provision `json:"rows"`
	}{ProvisionsSchema, int64(p.Deadline), listed(p.list)})
}

// WriteText writes a table for each scenario, then the models that cannot answer.
func (p *Provisions) WriteText(w io.Writer, colour bool) error {
	t := newTextWriter(w, colour)
	for from := 0; from < len(p.list); {
		until := from + 1
		for until < len(p.list) && p.list[until].Scenario == p.list[from].Scenario {
			until++
		}
		if from > 0 {
			fmt.Fprintln(t)
		}
		first := &p.list[from]
		t.heading(fmt.Sprintf("%s: nodes with %s and %s each that finish in %s", first.Scenario,
			count(first.MapSlots, "map slot"), count(first.ReduceSlots, "reduce slot"), formatDuration(int64(p.Deadline))))
		fmt.Fprintln(t, "model\tby low\tby mean\tby safe mean\tby high")
		for _, x := range p.list[from:until] {
			if x.Note == "" {
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", x.Model, x.Low, x.Mean, x.Safe, x.High)
			}
		}
		t.Flush()
		for _, x := range p.list[from:until] {
			if x.Note != "" {
				fmt.Fprintf(t, "%s\t%s\n", x.Model, x.Note)
			}
		}
		t.Flush()
		from = until
	}
	fmt.Fprintln(t, "\nnone: no number of nodes is enough. -: not known.")
	fmt.Fprintln(t, "safe: upper 95 % prediction bound, from leave-one-out errors on the history.")
	return t.done()
}
