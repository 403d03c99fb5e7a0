package diagnose

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/slotwave/slotwave/model/input"
)

// Series holds readings of one resource of one node: [time, value] pairs.
type Series [][2]float64

// resourceOptions choose when a node counts as unusual.
type resourceOptions struct {
	K          float64  `json:"k,omitempty"`     // 3 scaled median deviations of the other nodes
	Over       float64  `json:"over,omitempty"`  // 1.25 times their median
	Under      float64  `json:"under,omitempty"` // 0.5 times
	Saturation *float64 `json:"sat"`             // 0.95 for a utilisation, nil for a rate
}

// defaultResourceOptions are slotwave's own, for a rate. For utilisations,
// Saturation is 0.95.
func defaultResourceOptions() resourceOptions {
	return resourceOptions{K: 3, Over: 1.25, Under: 0.5}
}

func (o resourceOptions) check(c *input.Check) {
	c.AtLeast("k", o.K, 0)
	c.AtLeast("over", o.Over, 0)
	c.AtLeast("under", o.Under, 0)
	if o.Saturation != nil {
		c.AtLeast("sat", *o.Saturation, 0)
	}
}

// nodeUse is one node's mean use of a resource relative to the other nodes.
type nodeUse struct {
	Mean      float64 `json:"mean"`
	Class     string  `json:"class"` // over, under, normal
	Saturated bool    `json:"saturated"`
}

// compareNodes classifies every node's mean use of one resource from t0 to t1,
// both included (task-resource and resource-resource correlation).
func compareNodes(series map[string]Series, t0, t1 float64, o resourceOptions) (map[string]nodeUse, error) {
	var c input.Check
	o.check(&c)
	if c.Number("t0", t0) {
		c.AtLeast("t1", t1, t0)
	}
	if len(series) == 0 {
		c.Fail("series", "no node")
	}
	nodes, means := meanUse(series, t0, t1, &c)
	if err := c.Err(); err != nil {
		return nil, err
	}
	uses := make(map[string]nodeUse, len(nodes))
	for i, node := range nodes {
		uses[node] = o.classify(means, i)
	}
	return uses, nil
}

// meanUse averages the readings of each node, sorted by name.
func meanUse(series map[string]Series, t0, t1 float64, c *input.Check) (nodes []string, means []float64) {
	nodes = slices.Sorted(maps.Keys(series))
	means = make([]float64, len(nodes))
	for i, node := range nodes {
		n := 0.0
		for k, reading := range series[node] {
			name := fmt.Sprintf("series.%s[%d]", node, k)
			if !c.Number(name, reading[0]) || !c.Number(name, reading[1]) {
				continue
			}
			if reading[0] >= t0 && reading[0] <= t1 {
				means[i] += reading[1]
				n++
			}
		}
		if n == 0 {
			c.Fail("series."+node, "no reading from %v to %v", t0, t1)
		}
		means[i] /= n
	}
	return nodes, means
}

// classify compares one of the means with the others.
func (o resourceOptions) classify(means []float64, i int) nodeUse {
	u := nodeUse{Mean: means[i], Class: "normal"}
	if others := slices.Delete(slices.Clone(means), i, i+1); len(others) > 0 {
		med := median(others)
		margin := float64(o.K * normalMAD * deviation(others, med))
		switch {
		case u.Mean > med+margin && u.Mean > o.Over*med:
			u.Class = "over"
		case u.Mean < med-margin && u.Mean < o.Under*med:
			u.Class = "under"
		}
	}
	u.Saturated = o.Saturation != nil && u.Mean >= *o.Saturation
	return u
}

// phaseTimes is one task's time in each of its phases, any one unit.
type phaseTimes map[string]float64

// phaseOptions choose when a phase counts as unusual.
type phaseOptions struct {
	Share  float64 `json:"share,omitempty"`  // 0.5 of the task
	Excess float64 `json:"excess,omitempty"` // 0.2 above the median share
}

// defaultPhaseOptions are slotwave's own.
func defaultPhaseOptions() phaseOptions { return phaseOptions{Share: 0.5, Excess: 0.2} }

// phaseShare is a phase's share of a task and the median share of the others.
type phaseShare struct {
	Share   float64 `json:"share"`
	Usual   float64 `json:"usual"`
	Outlier bool    `json:"outlier"`
}

// comparePhases returns the phase-phase correlation of the task at index: its
// phases with half of its time, or with a much larger share than in other
// tasks.
func comparePhases(tasks []phaseTimes, index int, o phaseOptions) (map[string]phaseShare, error) {
	var c input.Check
	c.AtLeast("share", o.Share, 0)
	c.AtLeast("excess", o.Excess, 0)
	if len(tasks) < 2 {
		c.Fail("tasks", "%d: want two or more to compare", len(tasks))
	}
	if index < 0 || index >= len(tasks) {
		c.Fail("index", "%d: want a task from 0 to %d", index, len(tasks)-1)
		return nil, c.Err()
	}
	names := phaseNames(tasks, &c)
	totals := make([]float64, len(tasks))
	for i, t := range tasks {
		for _, name := range names {
			totals[i] += t[name]
		}
		if totals[i] == 0 {
			c.Fail(fmt.Sprintf("tasks[%d]", i), "no time in any phase")
		}
	}
	if err := c.Err(); err != nil {
		return nil, err
	}
	shares := make(map[string]phaseShare, len(names))
	for _, name := range names {
		var others []float64
		for i, t := range tasks {
			if i != index {
				others = append(others, t[name]/totals[i])
			}
		}
		s := phaseShare{Share: tasks[index][name] / totals[index], Usual: median(others)}
		s.Outlier = s.Share >= o.Share || s.Share >= s.Usual+o.Excess
		shares[name] = s
	}
	return shares, nil
}

// phaseNames lists the phases, sorted; every task must have each.
func phaseNames(tasks []phaseTimes, c *input.Check) []string {
	all := map[string]bool{}
	for _, t := range tasks {
		for name := range t {
			all[name] = true
		}
	}
	names := slices.Sorted(maps.Keys(all))
	for i, t := range tasks {
		for _, name := range names {
			v, known := t[name]
			if !known {
				v = math.NaN()
			}
			c.AtLeast(fmt.Sprintf("tasks[%d].%s", i, name), v, 0)
		}
	}
	return names
}
