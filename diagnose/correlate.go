package diagnose

import (
	"cmp"
	"slices"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// Correlation is an unusual value of one of SONATA's four kinds.
type Correlation struct {
	Job     string // "*": the cluster
	Stage   string
	Kind    string // task-task, phase-phase, task-resource, resource-resource
	Scope   string // intra or inter: within a node or task, or between them
	Task    string
	Node    string
	Subject string // the unusual value: input, a phase, a device
	Value   float64
	Peers   float64
	Class   string // over, under, saturated, share, same-node
}

// mostExplained is the largest number of critical tasks of a stage whose
// resources are examined one by one, in order of delay.
const mostExplained = 100

// saturation is the utilisation from which a device counts as saturated.
const saturation = 0.95

// correlate is Algorithm 1 of SONATA on one stage. It finds critical outliers,
// checks whether they share a node, and correlates tasks with resources and phases
// with phases for each. In all cases it correlates resources between nodes and
// within them, and the phases of the average task.
func (s *stage) correlate(r *resources) []Correlation {
	var list []Correlation
	base := Correlation{Job: s.job.id, Stage: s.kind.String()}
	critical := s.critical()
	for _, i := range critical {
		c := base
		c.Kind, c.Scope, c.Task, c.Node = "task-task", "inter", s.b.name(s.b.at(s.rows[i])), s.b.node(s.b.at(s.rows[i]))
		c.Subject, c.Value, c.Peers, c.Class = "time", s.slots[i].End-s.slots[i].Start, s.median, "over"
		list = append(list, c)
	}
	if s.facts.SameNode {
		c := base
		c.Kind, c.Scope, c.Node, c.Subject, c.Class = "task-task", "intra", *s.facts.Node, "node", "same-node"
		c.Value = float64(s.facts.Critical)
		list = append(list, c)
	}
	if s.facts.Critical > 0 && s.facts.InputRatio != 1 {
		c := base
		c.Kind, c.Scope, c.Subject, c.Value, c.Peers, c.Class = "task-task", "intra", "input", s.facts.InputRatio, 1, classOf(s.facts.InputRatio > 1)
		list = append(list, c)
	}
	shares, known := s.phaseShares()
	if len(critical) > mostExplained {
		s.b.add("critical tasks beyond the first hundred of a stage", len(critical)-mostExplained, len(critical), "they are not correlated with resources and phases")
		critical = critical[:mostExplained]
	}
	for _, i := range critical {
		a := s.b.at(s.rows[i])
		for _, u := range r.unusual(a.start, a.finish, s.b.node(a)) {
			u.Job, u.Stage, u.Kind, u.Scope, u.Task = base.Job, base.Stage, "task-resource", "inter", s.b.name(a)
			list = append(list, u)
		}
		for p := range workload.NumPhases {
			if known && (shares.of[i][p] >= 0.5 || shares.of[i][p] >= shares.usual[p]+0.2) {
				c := base
				c.Kind, c.Scope, c.Task, c.Node = "phase-phase", "intra", s.b.name(a), s.b.node(a)
				c.Subject, c.Value, c.Peers, c.Class = p.String(), shares.of[i][p], shares.usual[p], "share"
				list = append(list, c)
			}
		}
	}
	for _, u := range r.unusual(s.begin, s.end, "") {
		u.Job, u.Stage, u.Kind, u.Scope = base.Job, base.Stage, "resource-resource", "inter"
		if u.Class == "saturated" {
			u.Scope = "intra"
		}
		list = append(list, u)
	}
	for p := range workload.NumPhases {
		if known && shares.mean[p] >= 0.5 {
			c := base
			c.Kind, c.Scope, c.Task, c.Subject, c.Class = "phase-phase", "inter", "average", p.String(), "share"
			c.Value, c.Peers = shares.mean[p], shares.usual[p]
			list = append(list, c)
		}
	}
	return list
}

func classOf(over bool) string {
	if over {
		return "over"
	}
	return "under"
}

// critical lists the stage's critical tasks, largest delay first.
func (s *stage) critical() []int {
	var list []int
	for i, c := range s.out.Critical {
		if c {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return -cmp.Compare(s.out.Gain[a], s.out.Gain[b]) })
	return list
}

// phaseShares holds the phase shares of each task.
type phaseShares struct {
	of          [][workload.NumPhases]float64
	usual, mean [workload.NumPhases]float64
}

// phaseShares divides each task into its phases, if phases are known.
func (s *stage) phaseShares() (phaseShares, bool) {
	r := phaseShares{of: make([][workload.NumPhases]float64, len(s.rows))}
	var sums [workload.NumPhases]float64
	total := 0.0
	for i, row := range s.rows {
		a := s.b.at(row)
		whole := 0.0
		for p, d := range a.phases {
			if workload.Known(d) {
				whole += d.Seconds()
				sums[p] += d.Seconds()
			}
		}
		for p, d := range a.phases {
			if workload.Known(d) && whole > 0 {
				r.of[i][p] = d.Seconds() / whole
			}
		}
		total += whole
	}
	if total == 0 {
		return r, false
	}
	for p := range workload.NumPhases {
		if sums[p] == 0 {
			continue
		}
		all := make([]float64, len(s.rows))
		for i := range r.of {
			all[i] = r.of[i][p]
		}
		r.usual[p], r.mean[p] = median(all), sums[p]/total
	}
	return r, true
}

// unusual lists the devices that differ from those of other nodes, or are
// saturated, during an interval, on one node or on all.
func (r *resources) unusual(from, until time.Duration, node string) []Correlation {
	var list []Correlation
	for _, device := range r.names {
		var means []float64
		var of []*useSeries
		for _, s := range r.devices[device] {
			if m, ok := s.mean(s.work, from, until); ok {
				means, of = append(means, m), append(of, s)
			}
		}
		full := saturation
		o := defaultResourceOptions()
		o.Saturation = &full
		usual := 0.0
		if len(means) > 0 {
			usual = median(means)
		}
		for i, s := range of {
			if node != "" && s.node != node {
				continue
			}
			u := o.classify(means, i)
			c := Correlation{Node: s.node, Subject: device, Value: u.Mean, Peers: usual, Class: u.Class}
			if u.Class != "normal" {
				list = append(list, c)
			}
			if u.Saturated {
				c.Class = "saturated"
				list = append(list, c)
			}
		}
	}
	return list
}

// clusterTimes sums, by node and over all jobs, the times of tasks relative to
// the median of their stage.
type clusterTimes struct {
	b     *books
	nodes []nodeTimes // by number
}

type nodeTimes struct{ ratio, n float64 }

func (c *clusterTimes) add(s *stage) {
	if s.median <= 0 || len(s.rows) < fewestPeers {
		return
	}
	for i, row := range s.rows {
		n := &c.nodes[s.b.at(row).node]
		n.ratio += (s.slots[i].End - s.slots[i].Start) / s.median
		n.n++
	}
}

// correlations compares the nodes. A node that is slow in most jobs is itself
// the cause, and not a job.
func (c *clusterTimes) correlations(t *Thresholds) []Correlation {
	var names []string
	var means []float64
	for _, i := range c.b.nodes.sorted() {
		if n := c.nodes[i]; n.n > 0 && c.b.nodes.list[i] != "" {
			names, means = append(names, c.b.nodes.list[i]), append(means, n.ratio/n.n)
		}
	}
	o := defaultResourceOptions()
	o.Over = t.SlowNode
	var list []Correlation
	for i, n := range names {
		if u := o.classify(means, i); u.Class != "normal" {
			list = append(list, Correlation{
				Job: allNodes, Kind: "task-task", Scope: "inter", Node: n, Subject: "time", Value: u.Mean, Peers: median(means), Class: u.Class,
			})
		}
	}
	return list
}
