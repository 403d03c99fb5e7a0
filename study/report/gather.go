package report

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// gathered holds what a page shows of the attempts. They pass once, and a row of them
// takes less than half of the memory of an attempt.
type gathered struct {
	rows    []row
	counted []int64                         // of all rows, one for each of counts
	counts  []func(*workload.Attempt) int64 // of the equations
	jobs    map[string]int32
	nodes   []string
	numbers map[string]int32 // of nodes
	flows   flows
}

// row is an attempt. Phases and waits are in microseconds.
type row struct {
	start, finish   time.Duration
	job, node, task int32
	slot            int32 // negative: unknown
	at              int32 // among those that were gathered
	number          int16
	kind            workload.Kind
	state           workload.State
	phases          [workload.NumPhases]int64
	waits           int64 // of copiers
}

// add gathers an attempt with known times.
func (g *gathered) add(a *workload.Attempt) {
	if !workload.Known(a.Start) || a.Finish <= a.Start {
		return
	}
	node, known := g.numbers[a.Node]
	if !known {
		node = int32(len(g.nodes))
		g.nodes, g.numbers[a.Node] = append(g.nodes, a.Node), node
	}
	w := row{
		start: a.Start, finish: a.Finish, job: g.jobs[a.Job], node: node, task: int32(a.Task), slot: int32(a.Slot), at: int32(len(g.rows)),
		number: int16(a.Number), kind: a.Kind, state: a.State, waits: micros(max(0, a.WaitFetch) + max(0, a.WaitMemory)),
	}
	for p, d := range a.Phases {
		w.phases[p] = micros(max(0, d))
	}
	g.rows = append(g.rows, w)
	for _, count := range g.counts {
		g.counted = append(g.counted, count(a))
	}
	g.flows.add(a)
}

// keepLongest leaves out the shortest of too many attempts, and counts them.
func (g *gathered) keepLongest(most int) (left int) {
	if left = len(g.rows) - most; left <= 0 {
		return 0
	}
	lengths := make([]time.Duration, len(g.rows))
	for i := range g.rows {
		lengths[i] = g.rows[i].finish - g.rows[i].start
	}
	slices.Sort(lengths)
	shortest := lengths[left] // that stays
	alike := 0                // attempts of this length that stay
	for _, d := range lengths[left:] {
		if d == shortest {
			alike++
		}
	}
	g.rows = slices.DeleteFunc(g.rows, func(a row) bool {
		d := a.finish - a.start
		if d == shortest {
			alike--
		}
		return d < shortest || d == shortest && alike < 0
	})
	return left
}

// encode returns the columns of the attempts by lane and start, and sorts the rows so.
func (g *gathered) encode(lanes []int32) []column {
	type key struct {
		lane, row int32
		start     time.Duration
	}
	order := make([]key, len(g.rows))
	for i := range order {
		order[i] = key{lanes[i], int32(i), g.rows[i].start}
	}
	slices.SortFunc(order, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.lane, b.lane), cmp.Compare(a.start, b.start), cmp.Compare(a.row, b.row))
	})
	cols := make([]column, 9+int(workload.NumPhases)+len(g.counts))
	var lane, job, task, start int64
	for _, k := range order {
		a := &g.rows[k.row]
		l, j, t, s := int64(k.lane), int64(a.job), int64(a.task), micros(a.start)
		for c, v := range []int64{l - lane, j - job, int64(a.kind), t - task, int64(a.number), int64(a.state), s - start} {
			cols[c].add(v)
		}
		lane, job, task, start = l, j, t, s
		rest := micros(a.finish) - s
		for p, d := range a.phases {
			cols[7+p].add(d)
			rest -= d
		}
		next := 7 + int(workload.NumPhases)
		cols[next].add(rest)
		cols[next+1].add(a.waits)
		for c := range g.counts {
			cols[next+2+c].add(g.counted[int(a.at)*len(g.counts)+c])
		}
	}
	return cols
}

// assignLanes gives each attempt a line of the chart: its slot, or, where that is
// unknown, the first line of its node that is free.
func (about *aboutRun) assignLanes(g *gathered) []int32 {
	var unknown []int32
	for i := range g.rows {
		if g.rows[i].slot < 0 {
			unknown = append(unknown, int32(i))
		}
	}
	slices.SortStableFunc(unknown, func(a, b int32) int { return cmp.Compare(g.rows[a].start, g.rows[b].start) })
	free := map[int32][]time.Duration{} // ends on the lines of nodes without slots
	for _, i := range unknown {
		a := &g.rows[i]
		ends := free[a.node]
		n := slices.IndexFunc(ends, func(end time.Duration) bool { return end <= a.start })
		if n < 0 {
			n = len(ends)
			ends = append(ends, 0)
		}
		ends[n] = a.finish
		free[a.node] = ends
		a.slot = int32(n)
	}
	type lane struct{ node, slot int32 }
	at := map[lane]int32{}
	for i := range g.rows {
		at[lane{g.rows[i].node, g.rows[i].slot}] = 0
	}
	all := slices.SortedFunc(maps.Keys(at), func(a, b lane) int {
		return cmp.Or(cmp.Compare(g.nodes[a.node], g.nodes[b.node]), cmp.Compare(a.slot, b.slot))
	})
	for i, k := range all {
		if n := len(about.Nodes); n == 0 || about.Nodes[n-1] != g.nodes[k.node] {
			about.Nodes = append(about.Nodes, g.nodes[k.node])
		}
		about.Lanes = append(about.Lanes, [2]int{len(about.Nodes) - 1, int(k.slot)})
		at[k] = int32(i)
	}
	lanes := make([]int32, len(g.rows))
	for i := range g.rows {
		lanes[i] = at[lane{g.rows[i].node, g.rows[i].slot}]
	}
	return lanes
}

// aboutRun is the JSON part of the data of a run. Times are in microseconds.
type aboutRun struct {
	Name       string    `json:"name"`
	Conclusion string    `json:"verdict"`
	Rows       int       `json:"rows"`
	Left       int       `json:"left"` // attempts that are left out, the shortest
	Nodes      []string  `json:"nodes"`
	Lanes      [][2]int  `json:"lanes"` // node and slot
	Jobs       []jobRow  `json:"jobs"`
	Phases     []string  `json:"phases"`
	Kinds      []string  `json:"kinds"`
	States     []string  `json:"states"`
	Findings   []finding `json:"findings"`
	Devices    []series  `json:"devices"`
	Offers     [][5]any  `json:"offers"` // time, node, free slots, asked, declined
	Works      []string  `json:"works"`  // what the equations count, one column each
	Sampled    *Flow     `json:"sampled,omitempty"`
	Models     []byModel `json:"models"` // with times of phases
	Question   []byte    `json:"question,omitempty"`
}

type finding struct {
	Job      string   `json:"job"`
	Cause    string   `json:"cause"`
	Node     string   `json:"node"`
	Tasks    []string `json:"tasks"`
	Evidence string   `json:"evidence"`
	Change   string   `json:"change"`
	Question []byte   `json:"question,omitempty"` // with the change, that the page simulates
}

type jobRow struct {
	ID     string  `json:"id"`
	Submit int64   `json:"submit"`
	Finish int64   `json:"finish"`
	Steps  [][]any `json:"steps"` // from, to, account, attempt, node, by
	Usual  []usual `json:"usual"` // of the kinds of attempts that it has
	Lines  []line  `json:"lines"`
	Flow   *Flow   `json:"flow"`
}

// line is an equation: seconds before the first unit, seconds for each, and the
// column of the counts, -1 for none.
type line struct {
	Kind    int     `json:"kind"`
	Phase   int     `json:"phase"`
	Base    float64 `json:"base"`
	PerUnit float64 `json:"unit"`
	Work    int     `json:"work"`
}

// byModel is the time of each phase that a model predicts, by kind and phase, in
// microseconds; -1 where it predicts none.
type byModel struct {
	Name   string     `json:"name"`
	Phases [2][]int64 `json:"phases"`
}

// usual is the median time of each phase over the successful attempts of a kind.
type usual struct {
	Kind   int     `json:"kind"`
	Count  int     `json:"count"`
	Phases []int64 `json:"phases"`
}

// medians returns the usual times of the attempts of each job, by job and kind.
func (g *gathered) medians() map[[2]int]usual {
	groups := map[[2]int][]int32{}
	for i := range g.rows {
		if a := &g.rows[i]; a.state == workload.Succeeded {
			k := [2]int{int(a.job), int(a.kind)}
			groups[k] = append(groups[k], int32(i))
		}
	}
	all := make(map[[2]int]usual, len(groups))
	for k, rows := range groups {
		all[k] = g.usual(k[1], rows)
	}
	return all
}

// usual returns the usual times of some rows.
func (g *gathered) usual(kind int, rows []int32) usual {
	u := usual{Kind: kind, Count: len(rows)}
	times := make([]int64, len(rows))
	for p := range workload.NumPhases {
		for k, i := range rows {
			times[k] = g.rows[i].phases[p]
		}
		slices.Sort(times)
		u.Phases = append(u.Phases, times[len(times)/2])
	}
	return u
}

// series is the use of a device in percent, from each of its times on.
type series struct {
	Node   string  `json:"node"`
	Device string  `json:"device"`
	Times  []int64 `json:"times"`
	Busy   []int   `json:"busy"`
	Others []int   `json:"others,omitempty"` // share that others than Hadoop had; none: all 0
}

// column is a sequence of small signed numbers.
type column []byte

func (c *column) add(v int64) { *c = binary.AppendVarint(*c, v) }
