package predict

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
)

// provisionsSchema is the first field of provisions in JSON.
const provisionsSchema = "slotwave/provisions/1"

// Provisions lists the number of nodes that each model needs to meet a
// deadline.
type Provisions struct {
	Deadline  time.Duration
	list      []provision
	simulated []simulatedProvision
}

// SimulatedNodes is the fewest nodes with which 90 % of the replications of a
// simulation meet the deadline.
type SimulatedNodes struct {
	Nodes        int // 0: no number of nodes does
	Replications int
	Finish       []time.Duration // of the last job, in each replication
	Fewer        int             // one node less; if Nodes is 0, the most nodes that the tasks can use; 0: none
	FewerFinish  []time.Duration
	Err          error // why there is no answer
}

// simulatedProvision is a SimulatedNodes as JSON.
type simulatedProvision struct {
	Scenario     string       `json:"scenario"`
	Nodes        nodes        `json:"nodes"`
	Replications int          `json:"n"`
	Found        *finishTimes `json:"found,omitempty"`
	Fewer        *finishTimes `json:"fewer,omitempty"`
	Note         string       `json:"note,omitempty"`
}

// finishTimes are the replications on some number of nodes.
type finishTimes struct {
	Nodes  int              `json:"nodes"`
	Finish results.Estimate `json:"finish"`
	Last   int64            `json:"last_ns"` // of all replications
	Met    int              `json:"met"`
	Share  text.Share       `json:"share_met"`
}

func (p *Provisions) finishTimes(n int, finish []time.Duration) *finishTimes {
	if len(finish) == 0 {
		return nil
	}
	f := finishTimes{Nodes: n, Last: int64(slices.Max(finish))}
	var ns []float64
	for _, t := range finish {
		ns = append(ns, float64(t))
		if t <= p.Deadline {
			f.Met++
		}
	}
	f.Finish, f.Share = results.NewEstimate(ns), text.Share(float64(f.Met)/float64(len(finish)))
	return &f
}

// AddSimulated adds the answer of the simulation to a question.
func (p *Provisions) AddSimulated(q *model.WhatIf, x SimulatedNodes) {
	row := simulatedProvision{
		Scenario: text.Escape(q.Name), Nodes: nodes(x.Nodes), Replications: x.Replications,
		Found: p.finishTimes(x.Nodes, x.Finish), Fewer: p.finishTimes(x.Fewer, x.FewerFinish),
	}
	if x.Err != nil {
		row.Nodes, row.Note = unknown, "n/a: "+text.Message(x.Err)
	}
	p.simulated = append(p.simulated, row)
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
	row := provision{Scenario: text.Escape(q.Name), Model: text.Escape(x.Model)}
	if len(q.Cluster.Nodes) > 0 {
		row.MapSlots, row.ReduceSlots = q.Cluster.Nodes[0].MapSlots, q.Cluster.Nodes[0].ReduceSlots
	}
	row.Low, row.Mean, row.Safe, row.High = nodes(x.Low), nodes(x.Mean), nodes(x.Safe), nodes(x.High)
	if x.NoSafe {
		row.Safe = unknown
	}
	if x.Err != nil {
		row.Note = "n/a: " + text.Message(x.Err)
		row.Low, row.Mean, row.Safe, row.High = unknown, unknown, unknown, unknown
	}
	p.list = append(p.list, row)
}

// WriteJSON writes the provisions as one JSON object.
func (p *Provisions) WriteJSON(w io.Writer) error {
	return resultdir.WriteJSON(w, struct {
		Schema    string               `json:"schema"`
		Deadline  int64                `json:"deadline_ns"`
		Simulated []simulatedProvision `json:"simulation"`
		Rows      []provision          `json:"rows"`
	}{provisionsSchema, int64(p.Deadline), text.Listed(p.simulated), text.Listed(p.list)})
}

// WriteText writes a table for each scenario, then the models that cannot answer.
func (p *Provisions) WriteText(w io.Writer, colour bool) error {
	t := text.NewWriter(w, colour)
	for from := 0; from < len(p.list); {
		until := from + 1
		for until < len(p.list) && p.list[until].Scenario == p.list[from].Scenario {
			until++
		}
		if from > 0 {
			fmt.Fprintln(t)
		}
		first := &p.list[from]
		t.Heading(fmt.Sprintf("%s: number of nodes, with %s and %s each, that finishes in %s", first.Scenario,
			text.Count(first.MapSlots, "map slot"), text.Count(first.ReduceSlots, "reduce slot"), text.Duration(int64(p.Deadline))))
		for i := range p.simulated {
			if p.simulated[i].Scenario == first.Scenario {
				p.simulated[i].writeText(t)
			}
		}
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
	return t.Done()
}

// writeText writes the nodes that the simulation needs, and the result with one
// node less.
func (s *simulatedProvision) writeText(t *text.Writer) {
	switch {
	case s.Note != "":
		fmt.Fprintf(t, "simulation\t%s\n", s.Note)
	case s.Nodes == 0:
		fmt.Fprintln(t, "simulation: no number of nodes is enough")
	default:
		fmt.Fprintf(t, "simulation: %s\n", text.Count(int(s.Nodes), "node"))
	}
	t.Flush()
	if s.Found != nil || s.Fewer != nil {
		fmt.Fprintln(t, "nodes\tlast job finishes\tlatest\tin time")
		for _, f := range []*finishTimes{s.Found, s.Fewer} {
			if f == nil {
				continue
			}
			time := text.Duration(f.Finish.Mean)
			if f.Finish.High != nil {
				time += " ± " + text.Duration((*f.Finish.High-*f.Finish.Low)/2)
			}
			fmt.Fprintf(t, "%d\t%s\t%s\t%d of %d\n", f.Nodes, time, text.Duration(f.Last), f.Met, f.Finish.N)
		}
		t.Flush()
		fmt.Fprintln(t, "A number of nodes is enough if 90 % of the replications are in time; ± is the 95 % interval of the mean.")
	}
	fmt.Fprintln(t)
	t.Flush()
}
