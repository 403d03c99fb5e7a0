package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// recipes are the plans of a job's tasks, each made once for a type of machine
// and a size of split.
type recipes struct {
	spec     *workload.Job
	conf     taskplan.Conf
	block    float64             // bytes of HDFS
	planners []*taskplan.Planner // by machine; nil for one that no node is of
	sizes    []float64           // of splits, bytes
	classes  []int32             // by map: which size; nil: the first one, but for the last map the last one
	maps     [][]*mapRecipe      // by machine and size
	outputs  []taskplan.Segment  // by size: what a map leaves for all reduces together
	reduces  []*reduceRecipe     // by machine and reduce, of one share the first
}

// mapRecipe is the plan of a map on a type of machine.
type mapRecipe struct {
	taskplan.MapPlan
	cost  taskplan.Cost
	alone [workload.NumPhases]time.Duration // on devices of its own
	input []float64                         // by step: seconds to map the input from there on, on devices of its own
}

// reduceRecipe is the plan of a reduce on a type of machine, without contention.
type reduceRecipe struct {
	taskplan.ReducePlan
	alone [workload.NumPhases]time.Duration
}

// newRecipes finds the program of a job and checks that it can be planned on
// every machine.
func (jt *jobTracker) newRecipes(spec *workload.Job) (*recipes, error) {
	q := jt.q
	program := jt.programs[spec.Program]
	if program == nil {
		return nil, fmt.Errorf("fidelity %v wants a program: the question has none named %q", q.Fidelity, spec.Program)
	}
	if spec.Maps.Count > 0 && spec.Maps.InputBytes == 0 && spec.Maps.Splits == nil {
		return nil, fmt.Errorf("fidelity %v wants the bytes of its input", q.Fidelity)
	}
	conf, err := taskplan.ReadConf(spec.Conf)
	if err != nil {
		return nil, err
	}
	r := &recipes{spec: spec, conf: conf, planners: make([]*taskplan.Planner, len(q.Cluster.Machines))}
	for n := range q.Cluster.Nodes {
		m := q.Cluster.Nodes[n].Machine
		if m < 0 || m >= len(r.planners) {
			return nil, fmt.Errorf("fidelity %v wants a machine for node %s", q.Fidelity, q.Cluster.Nodes[n].Name)
		}
		if r.planners[m] == nil {
			if r.planners[m], err = q.Cluster.Machines[m].Planner(program, conf, spec.Reduces.Count); err != nil {
				return nil, fmt.Errorf("on %s: %w", q.Cluster.Machines[m].Name, err)
			}
		}
	}
	if err := r.split(); err != nil {
		return nil, err
	}
	r.maps = make([][]*mapRecipe, len(r.planners))
	r.outputs = make([]taskplan.Segment, len(r.sizes))
	for m := range r.planners {
		r.maps[m] = make([]*mapRecipe, len(r.sizes))
		for c := range r.sizes {
			if r.planners[m] == nil {
				continue
			}
			if r.maps[m][c], err = r.newMap(r.planners[m], r.sizes[c]); err != nil {
				return nil, err
			}
			r.outputs[c] = r.maps[m][c].Output
		}
	}
	r.reduces = make([]*reduceRecipe, len(r.planners)*max(1, len(spec.Reduces.Shares)))
	return r, nil
}

// split finds the sizes of the splits. Where the input is in one piece, all but
// the last are a block; where that does not fit their number, all are equal.
func (r *recipes) split() error {
	m := &r.spec.Maps
	block, err := r.spec.Conf.Bytes("dfs.block.size", 64<<20)
	if err != nil || block < 1 {
		return cmp.Or(err, fmt.Errorf("dfs.block.size = %d: want at least 1", block))
	}
	r.block = float64(block)
	if m.Splits != nil {
		r.classes = make([]int32, m.Count)
		for i, s := range m.Splits {
			c := slices.Index(r.sizes, float64(s.Bytes))
			if c < 0 {
				c = len(r.sizes)
				r.sizes = append(r.sizes, float64(s.Bytes))
			}
			r.classes[i] = int32(c)
		}
		return nil
	}
	if n := int64(m.Count); n == 0 || m.InputBytes > n*block || m.InputBytes <= (n-1)*block {
		r.sizes = []float64{float64(m.InputBytes) / float64(max(1, n))}
	} else {
		r.sizes = []float64{float64(block), float64(m.InputBytes - (n-1)*block)}
	}
	return nil
}

// class is which size a map's split has.
func (r *recipes) class(index int32) int {
	switch {
	case r.classes != nil:
		return int(r.classes[index])
	case int(index) == r.spec.Maps.Count-1:
		return len(r.sizes) - 1
	}
	return 0
}

func (r *recipes) newMap(p *taskplan.Planner, split float64) (*mapRecipe, error) {
	plan, err := p.Map(p.MapFlow(split))
	m := &mapRecipe{plan, p.Cost, plan.Alone(p.Cost), make([]float64, len(plan.Steps)+1)}
	for i := len(plan.Steps) - 1; i >= 0; i-- {
		if plan.Steps[i].Joined {
			continue
		}
		together := plan.Steps.Together(i)
		m.input[i] = m.input[i+len(together)]
		if together[0].Phase < workload.PhaseSpill {
			m.input[i] += together.Serial(p.Cost) / 1e9
		}
	}
	return m, err
}

// share is the part of the map output that goes to a reduce.
func (r *recipes) share(index int32) float64 {
	if s := r.spec.Reduces.Shares; s != nil {
		return s[index]
	}
	return 1 / float64(r.spec.Reduces.Count)
}

// segment is what a reduce fetches of a map's output.
func (r *recipes) segment(index int32, share float64) taskplan.Segment {
	return r.outputs[r.class(index)].Part(share)
}

// reduce is the plan of a reduce without contention.
func (r *recipes) reduce(machine int, index int32) *reduceRecipe {
	at, share := machine, r.share(index)
	if shares := r.spec.Reduces.Shares; shares != nil {
		at = machine*len(shares) + slices.Index(shares, share)
	}
	if r.reduces[at] == nil {
		segments := make([]taskplan.Segment, r.spec.Maps.Count)
		for i := range segments {
			segments[i] = r.segment(int32(i), share)
		}
		p := r.planners[machine]
		plan := p.Reduce(segments)
		r.reduces[at] = &reduceRecipe{plan, plan.PhaseTimes(p.Cost)}
	}
	return r.reduces[at]
}

// execution is what happens in an attempt between its begin and its end, where
// its work is known.
type execution interface {
	// fill divides the time after the begin among the phases, and tells of the
	// data of an attempt that has left its slot.
	fill(*attempt, *division)
}

// division divides the time of an attempt among its phases, one after the other.
type division struct {
	row        *workload.Attempt
	at, finish engine.Time
}

func (d *division) until(p workload.Phase, end engine.Time) {
	if end = min(end, d.finish); end > d.at {
		d.row.Phases[p] += (end - d.at).Duration()
		d.at = end
	}
}

// profile is the job's profile from the plans for the first machine there is,
// all reduces being alike.
func (r *recipes) profile() analytic.AriaProfile {
	machine := slices.IndexFunc(r.planners, func(p *taskplan.Planner) bool { return p != nil })
	p := analytic.AriaProfile{Maps: r.spec.Maps.Count, Reduces: r.spec.Reduces.Count}
	for i := range p.Maps {
		t := total(r.maps[machine][r.class(int32(i))].alone[:]...).Seconds()
		p.MapAvg += t / float64(p.Maps)
		p.MapMax = max(p.MapMax, t)
	}
	if p.Reduces == 0 {
		return p
	}
	t := &r.reduce(machine, 0).alone
	p.ShuffleAvg = (t[workload.PhaseShuffle] + t[workload.PhaseMerge]).Seconds()
	p.ReduceAvg = (t[workload.PhaseReduce] + t[workload.PhaseWrite]).Seconds()
	p.FirstShuffleAvg = p.ShuffleAvg
	p.ShuffleMax, p.FirstShuffleMax, p.ReduceMax = p.ShuffleAvg, p.ShuffleAvg, p.ReduceAvg
	return p
}

// fill tells of the data that an attempt has moved, if it came to its end.
func (d *division) fill(a *attempt, c *workload.Counters) {
	if a.ended() == workload.Succeeded {
		d.row.Counters = *c
	}
}
