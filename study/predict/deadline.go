package predict

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/search"
	"github.com/slotwave/slotwave/workload"
)

// deciding is how many times the replications asked for decide on the size that is
// recommended, and on a size of which few are late.
const deciding = 4

// Provision finds the fewest nodes, like those of the scenario, with which its jobs
// finish by the deadline in 90 % of the replications of the simulation. The answers
// of the analytic models say where the search begins.
func Provision(s *study.Study, models []analytic.Predictor, deadline time.Duration) (*Provisions, error) {
	p := &Provisions{Deadline: deadline}
	for r := range s.Scenario.Runs {
		q := &s.Scenario.Runs[r].Question
		list, err := analytic.Provision(*q, models, deadline)
		if err != nil {
			return nil, err
		}
		for _, x := range list {
			p.Add(q, x)
		}
		search := nodeSearch{study: s, run: r, deadline: deadline, finishes: map[int][]time.Duration{}}
		found, err := search.fewest(list)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.Name, err)
		}
		p.AddSimulated(q, found)
	}
	return p, nil
}

// nodeSearch looks for the fewest nodes by bisection.
type nodeSearch struct {
	study    *study.Study
	run      int
	deadline time.Duration
	finishes map[int][]time.Duration // of the last job, in each replication, by nodes
}

// meets reports whether the deadline is met in nine of ten replications. If one in
// five or fewer is late, more replications decide: a few late ones may be chance.
func (n *nodeSearch) meets(nodes int) (bool, error) {
	asked := n.study.Options.NumReplications()
	late, err := n.late(nodes, asked)
	if err == nil && late > 0 && 5*late <= asked {
		return n.decided(nodes)
	}
	return 10*late <= len(n.finishes[nodes]), err
}

// decided is meets with more replications: of a size that is late half of the time,
// one in 32 has five replications in time.
func (n *nodeSearch) decided(nodes int) (bool, error) {
	late, err := n.late(nodes, deciding*n.study.Options.NumReplications())
	return 10*late <= len(n.finishes[nodes]), err
}

// late counts the replications that miss the deadline, of the given number or of as
// many as are simulated already.
func (n *nodeSearch) late(nodes, replications int) (late int, err error) {
	done := len(n.finishes[nodes])
	finishes := append(slices.Clone(n.finishes[nodes]), make([]time.Duration, max(0, replications-done))...)
	var group errgroup.Group
	group.SetLimit(n.study.Options.NumWorkers())
	for i := done; i < len(finishes); i++ {
		group.Go(func() (err error) {
			finishes[i], err = n.finish(nodes, i)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	n.finishes[nodes] = finishes
	for _, t := range finishes {
		if t > n.deadline {
			late++
		}
	}
	return late, nil
}

// finish returns the time from the first submission to the end of the last job in a
// replication.
func (n *nodeSearch) finish(nodes, replication int) (time.Duration, error) {
	s, err := n.study.Replication(replication)
	if err != nil {
		return 0, err
	}
	q := s.Runs[n.run].Question.Resized(nodes)
	p, _, err := study.Simulate(&q)
	begin := p.Mean
	for k := range p.Jobs {
		begin = min(begin, p.Jobs[k].Submit)
		if j := &p.Jobs[k]; err == nil && (j.Finish < 0 || j.State != workload.Succeeded) {
			err = fmt.Errorf("job %s does not succeed on %s: want a scenario in which every job succeeds", j.ID, workload.Counted(nodes, "node", "nodes"))
		}
	}
	return p.Mean - begin, err
}

// fewest begins with the nodes that the models find in the mean, or with those of
// the scenario.
func (n *nodeSearch) fewest(models []analytic.Provisioned) (SimulatedNodes, error) {
	q := &n.study.Scenario.Runs[n.run].Question
	none := SimulatedNodes{Replications: n.study.Options.NumReplications()}
	most, err := analytic.MostNodes(q)
	switch {
	case q.Until > 0:
		none.Err = model.NotApplicable("the scenario stops the run before its jobs end")
		return none, nil
	case errors.Is(err, model.ErrNotApplicable):
		none.Err = err
		return none, nil
	case err != nil:
		return none, err
	}
	at := min(most, search.GuessNodes(models, len(q.Cluster.Nodes)))
	high, err := search.FewestNodes(at, most, n.meets)
	if err == nil && high > 0 {
		high, err = search.FewestNodes(high, most, func(nodes int) (bool, error) {
			if nodes < high {
				return false, nil // was late
			}
			return n.decided(nodes)
		})
	}
	if err != nil {
		return none, err
	}
	if high == 0 {
		none.FewerFinish = n.finishes[most]
		none.Fewer = most
		return none, nil
	}
	found := SimulatedNodes{Nodes: high, Replications: none.Replications, Finish: n.finishes[high]}
	if high > 1 {
		found.Fewer, found.FewerFinish = high-1, n.finishes[high-1]
	}
	return found, nil
}
