package analytic

import (
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// Cause is one cause of time in a cluster that a model may leave out.
type Cause uint8

// The causes.
const (
	Contention   Cause = iota // tasks share devices
	Protocol                  // heartbeats, start-up, set-up, commit, remote splits
	Stragglers                // unequal tasks, slow nodes, failures
	Overlap                   // shuffle during the map stage
	Slowstart                 // reduces hold slots while they wait for maps
	Quantisation              // the last wave does not fill the slots
	NumCauses
)

var causeNames = [NumCauses]string{
	"contention", "heartbeats and start-up", "stragglers", "shuffle overlap", "slowstart idling", "wave quantisation",
}

func (c Cause) String() string { return causeNames[c] }

// Causes returns the causes in the order in which they are switched off one after
// another. Heartbeats notice that a node has died, so the deaths of nodes, which
// are among the stragglers, go before the protocol.
func Causes(q *model.WhatIf) []Cause {
	if nodesDie(q) {
		return []Cause{Contention, Stragglers, Protocol, Overlap, Slowstart, Quantisation}
	}
	return []Cause{Contention, Protocol, Stragglers, Overlap, Slowstart, Quantisation}
}

func nodesDie(q *model.WhatIf) bool {
	return slices.ContainsFunc(q.Cluster.Nodes, func(n model.Node) bool { return n.Dies > 0 })
}

// maxPieces bounds the tasks into which Without divides a workload.
const maxPieces = 300_000

// Without returns the question q in a world without one cause. No two causes
// change the same part of a question: if causes are removed one after another,
// each difference of two answers is the share of one cause, and the shares add up.
func Without(q model.WhatIf, c Cause) model.WhatIf {
	q.Jobs = slices.Clone(q.Jobs)
	q.Cluster.Nodes = slices.Clone(q.Cluster.Nodes)
	switch c {
	case Contention:
		q.Fidelity = min(q.Fidelity, model.Phase)
	case Protocol:
		q.Cluster.Hadoop, q.Cluster.Heartbeat, q.Cluster.Phases, q.Cluster.FromStart = "ideal", 0, nil, false
		q.Cluster.Costs = model.Costs{}
		for i := range q.Jobs {
			q.Jobs[i].Maps.Localise, q.Jobs[i].Reduces.Localise = workload.Durations{}, workload.Durations{}
		}
	case Stragglers:
		evenNodes(&q)
		for i := range q.Jobs {
			evenTasks(&q.Jobs[i])
		}
	case Overlap:
		for i := range q.Jobs {
			if q.Fidelity > model.Profile {
				startLate(&q.Jobs[i])
			}
			r := &q.Jobs[i].Reduces
			if r.Copy.Set() {
				r.Shuffle, r.Copy = r.Copy, workload.Durations{}
			}
			r.FirstWave = workload.Durations{}
		}
	case Slowstart:
		for i := range q.Jobs {
			lateReduces(&q, &q.Jobs[i])
		}
	case Quantisation:
		fillWaves(&q)
	}
	return q
}

// evenNodes gives every node the mean speed of all.
func evenNodes(q *model.WhatIf) {
	rate := 0.0
	for i := range q.Cluster.Nodes {
		n := &q.Cluster.Nodes[i]
		if n.Slowness == 0 {
			n.Slowness = 1
		}
		rate += 1 / n.Slowness / float64(len(q.Cluster.Nodes))
	}
	for i := range q.Cluster.Nodes {
		n := &q.Cluster.Nodes[i]
		n.Dies, n.FailAfter = 0, 0
		if n.Slowness*rate != 1 {
			n.Slowness = 1 / rate
		}
	}
}

// evenTasks gives all tasks of a job the mean time and the same data.
func evenTasks(j *workload.Job) {
	even := func(d *workload.Durations, n int) {
		if d.Set() {
			mean, _ := d.Expect(n)
			*d = workload.Durations{All: workload.Seconds(mean)}
		}
	}
	j.DropAttemptEnds()
	j.Maps.Shares, j.Reduces.Shares = nil, nil
	j.Maps.Splits = slices.Clone(j.Maps.Splits)
	for i := range j.Maps.Splits {
		j.Maps.Splits[i].Bytes = j.Maps.InputBytes / int64(j.Maps.Count)
	}
	even(&j.Maps.Time, j.Maps.Count)
	for _, d := range reduceTimes(&j.Reduces) {
		even(d, j.Reduces.Count)
	}
}

func reduceTimes(r *workload.ReduceTasks) []*workload.Durations {
	return []*workload.Durations{&r.Shuffle, &r.Copy, &r.Sort, &r.Time, &r.FirstWave}
}

// lateReduces starts reduces after the last map, with the shuffle times that they
// would have had. Shuffles that are fetched while maps end need the early start
// and stay.
func lateReduces(q *model.WhatIf, j *workload.Job) {
	r := &j.Reduces
	if r.Copy.Set() || q.Fidelity > model.Profile {
		return
	}
	if r.FirstWave.Set() {
		slots := q.Cluster.Slots()[workload.Reduce]
		all := make([]time.Duration, r.Count)
		for i := range all {
			d := &r.Shuffle
			if i < slots {
				d = &r.FirstWave
			}
			all[i] = workload.Seconds(expectedSeconds(d, i))
		}
		r.Shuffle, r.FirstWave = workload.Durations{Each: all}, workload.Durations{}
	}
	startLate(j)
}

func startLate(j *workload.Job) {
	var late workload.Conf
	late.Set("mapred.reduce.slowstart.completed.maps", "1")
	j.Conf = j.Conf.Over(late)
}

// fillWaves divides tasks so that they fill whole waves, if their times are given
// and the pieces are at most maxPieces.
func fillWaves(q *model.WhatIf) {
	pieces, slots := 0, q.Cluster.Slots()
	for i := range q.Jobs {
		j := &q.Jobs[i]
		pieces += j.Maps.Count*piecesToFill(j.Maps.Count, slots[workload.Map]) + j.Reduces.Count*piecesToFill(j.Reduces.Count, slots[workload.Reduce])
		if isRandom(j) || q.Fidelity > model.Profile || j.Profile != nil && !j.Maps.Time.Set() {
			return
		}
	}
	if pieces > maxPieces {
		return
	}
	for i := range q.Jobs {
		m, r := &q.Jobs[i].Maps, &q.Jobs[i].Reduces
		k := piecesToFill(m.Count, slots[workload.Map])
		m.Count, m.Splits, m.Ends = m.Count*k, nil, nil
		splitTasks(&m.Time, k)
		splitTasks(&m.Localise, k)
		k = piecesToFill(r.Count, slots[workload.Reduce])
		r.Count, r.Ends = r.Count*k, nil
		for _, d := range append(reduceTimes(r), &r.Localise) {
			splitTasks(d, k)
		}
	}
}

// isRandom reports whether a time of the job's tasks is drawn from a distribution.
func isRandom(j *workload.Job) bool {
	return j.Maps.Time.Dist != nil ||
		slices.ContainsFunc(reduceTimes(&j.Reduces), func(d *workload.Durations) bool { return d.Dist != nil })
}

// splitTasks divides each task into k tasks.
func splitTasks(d *workload.Durations, k int) {
	d.All /= time.Duration(k)
	var each []time.Duration
	for _, t := range d.Each {
		each = append(each, slices.Repeat([]time.Duration{t / time.Duration(k)}, k)...)
	}
	d.Each = each
}

// piecesToFill returns the fewest pieces per task with which the tasks fill the
// slots.
func piecesToFill(tasks, slots int) int {
	a, b := tasks, slots
	for b > 0 {
		a, b = b, a%b
	}
	if tasks == 0 || slots == 0 {
		return 1
	}
	return slots / a
}

// expectedSeconds returns the expected time of one task.
func expectedSeconds(d *workload.Durations, task int) float64 {
	base := d.All
	if len(d.Each) > 0 {
		base = d.Each[task]
	}
	switch {
	case d.Dist == nil:
		return base.Seconds()
	case len(d.Each) > 0 || d.All != 0:
		return base.Seconds() * d.Dist.Mean()
	}
	return d.Dist.Mean()
}
