package results

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/slotwave/slotwave/model"
)

// ProvisionsSchema is the first field of provisions in JSON.
const ProvisionsSchema = "slotwave/provisions/1"

// Provisions are the clusters that models take for a deadline.
type Provisions struct {
	Deadline time.Duration
	list     []provision
}

// provision is a row: nodes by each estimate, null where none are enough, and the
// slots of a node.
type provision struct {
	Scenario    string `json:"scenario"`
	Model       string `json:"model"`
	Low         *int   `json:"nodes_by_low"`
	Mean        *int   `json:"nodes_by_mean"`
	Safe        *int   `json:"nodes_by_safe_mean"`
	High        *int   `json:"nodes_by_high"`
	MapSlots    int    `json:"map_slots"`
	ReduceSlots int    `json:"reduce_slots"`
	Note        string `json:"note,omitempty"`
}

// Add adds what a model says to a question.
func (p *Provisions) Add(q *model.WhatIf, x model.Provisioned) {
	row := provision{Scenario: Escape(q.Name), Model: Escape(x.Model)}
	if len(q.Cluster.Nodes) > 0 {
		row.MapSlots, row.ReduceSlots = q.Cluster.Nodes[0].MapSlots, q.Cluster.Nodes[0].ReduceSlots
	}
	if x.Err != nil {
		row.Note = "n/a: " + Escape(x.Err.Error())
	}
	for _, n := range []struct {
		of int
		to **int
	}{{x.Low, &row.Low}, {x.Mean, &row.Mean}, {x.Safe, &row.Safe}, {x.High, &row.High}} {
		if n.of > 0 {
			*n.to = &n.of
		}
	}
	p.list = append(p.list, row)
}

// WriteJSON writes them as one JSON object.
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
		t.heading(fmt.Sprintf("%s: nodes of %s and %s to be done in %s", first.Scenario,
			count(first.MapSlots, "map slot"), count(first.ReduceSlots, "reduce slot"), formatDuration(int64(p.Deadline))))
		fmt.Fprintln(t, "model\tby low\tby mean\tby safe mean\tby high")
		for _, x := range p.list[from:until] {
			if x.Note == "" {
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", x.Model, nodes(x.Low), nodes(x.Mean), nodes(x.Safe), nodes(x.High))
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
	fmt.Fprintln(t, "\n-: not with any number of nodes, or not known. Safe: as 95 of 100 runs would be that are as far off as those")
	fmt.Fprintln(t, "of the history, each left out in turn.")
	return t.done()
}

func nodes(n *int) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(*n)
}
