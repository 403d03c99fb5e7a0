package analytic

import (
	"errors"
	"fmt"
	"time"

	"github.com/slotwave/slotwave/model"
)

// Provisioned is the number of nodes with which a model meets a deadline in the mean;
// 0: no number of nodes does. All nodes are like those of the question.
type Provisioned struct {
	Model string
	Nodes int
	Err   error
}

// Provision returns for each model the smallest cluster that meets a deadline with
// the question's jobs (Khan et al., section 3; ARIA, section 4). It searches
// by nodes, which bring the slots.
func Provision(q model.WhatIf, predictors []Predictor, deadline time.Duration) ([]Provisioned, error) {
	if deadline <= 0 {
		return nil, fmt.Errorf("deadline: %v: want more than 0", deadline)
	}
	var all []Provisioned
	for _, p := range predictors {
		x := Provisioned{Model: p.Name}
		x.Nodes, x.Err = NodesFor(p, q, func(p *model.Prediction) time.Duration { return p.Mean }, deadline)
		if x.Err != nil && !errors.Is(x.Err, model.ErrNotApplicable) {
			return nil, fmt.Errorf("%s: %w", p.Name, x.Err)
		}
		all = append(all, x)
	}
	return all, nil
}

// MostNodes returns the number of nodes that the tasks of a question can use, all of
// them like the first. It is not
// applicable if the nodes are not alike.
func MostNodes(q *model.WhatIf) (int, error) {
	if len(q.Cluster.Nodes) == 0 {
		return 0, model.NotApplicable("no nodes")
	}
	if len(q.Cluster.Loads) > 0 {
		return 0, model.NotApplicable("nodes differ: some have load from outside Hadoop")
	}
	node := q.Cluster.Nodes[0]
	for _, n := range q.Cluster.Nodes {
		n.Name, n.Rack = node.Name, node.Rack
		if n != node {
			return 0, model.NotApplicable("nodes differ in type")
		}
	}
	maps, reduces := 0, 0
	for i := range q.Jobs {
		maps, reduces = maps+q.Jobs[i].Maps.Count, reduces+q.Jobs[i].Reduces.Count
	}
	most := 1
	if node.MapSlots > 0 {
		most = max(most, (maps+node.MapSlots-1)/node.MapSlots)
	}
	if node.ReduceSlots > 0 {
		most = max(most, (reduces+node.ReduceSlots-1)/node.ReduceSlots)
	}
	return most, nil
}

// NodesFor returns the least number of nodes with which an estimate of the
// question's makespan meets the deadline, 0 if none does. It does not try more
// nodes than the tasks can use.
func NodesFor(p model.Predictor, q model.WhatIf, estimate func(*model.Prediction) time.Duration, deadline time.Duration) (int, error) {
	most, err := MostNodes(&q)
	if err != nil {
		return 0, err
	}
	meets := func(nodes int) (bool, error) {
		answer, err := p.Predict(q.Resized(nodes))
		return err == nil && estimate(&answer) <= deadline, err
	}
	if ok, err := meets(most); !ok {
		return 0, err
	}
	low, high := 0, most // the deadline is missed with low, and met with high
	for high-low > 1 {
		mid := (low + high) / 2
		ok, err := meets(mid)
		switch {
		case err != nil && !errors.Is(err, model.ErrNotApplicable):
			return 0, err
		case ok:
			high = mid
		default:
			low = mid
		}
	}
	return high, nil
}
