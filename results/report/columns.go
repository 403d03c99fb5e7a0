package report

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"github.com/slotwave/slotwave/workload"
)

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
	Findings   []Finding `json:"findings"`
	Devices    []series  `json:"devices"`
	Offers     [][5]any  `json:"offers"` // time, node, free slots, asked, declined
	Works      []string  `json:"works"`  // what the equations count, one column each
	Sampled    *Flow     `json:"sampled,omitempty"`
	Models     []byModel `json:"models"` // with times of phases
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

func newByModel(a *Answer) byModel {
	m := byModel{Name: a.Model}
	for kind := range m.Phases {
		m.Phases[kind] = slices.Repeat([]int64{-1}, int(workload.NumPhases))
	}
	for _, p := range a.Phases {
		if p.Kind <= workload.Reduce {
			m.Phases[p.Kind][p.Phase] = micros(p.Time)
		}
	}
	return m
}

// usual is the median time of each phase over the successful attempts of a kind.
type usual struct {
	Kind   int     `json:"kind"`
	Count  int     `json:"count"`
	Phases []int64 `json:"phases"`
}

// medians returns the usual times of the attempts of each job, by job and kind.
func medians(rows []workload.Attempt, jobs map[string]int) map[[2]int]usual {
	times := map[[2]int]*[workload.NumPhases][]int64{}
	for i := range rows {
		a := &rows[i]
		if a.State != workload.Succeeded {
			continue
		}
		k := [2]int{jobs[a.Job], int(a.Kind)}
		if times[k] == nil {
			times[k] = &[workload.NumPhases][]int64{}
		}
		for p, d := range a.Phases {
			times[k][p] = append(times[k][p], micros(max(0, d)))
		}
	}
	all := make(map[[2]int]usual, len(times))
	for k, phases := range times {
		u := usual{Kind: k[1], Count: len(phases[0])}
		for _, list := range phases {
			slices.Sort(list)
			u.Phases = append(u.Phases, list[len(list)/2])
		}
		all[k] = u
	}
	return all
}

// series is the use of a device in percent, from each of its times on.
type series struct {
	Node   string  `json:"node"`
	Device string  `json:"device"`
	Times  []int64 `json:"times"`
	Busy   []int   `json:"busy"`
	Others []int   `json:"others,omitempty"` // share that others than Hadoop had; none: all 0
}

func micros(d time.Duration) int64 { return int64(d / time.Microsecond) }

// column is a sequence of small signed numbers.
type column []byte

func (c *column) add(v int64) { *c = binary.AppendVarint(*c, v) }

// columns returns what the script needs to know, and the attempts as columns:
// lane, job, kind, task, number, state, start, length, each phase, the waits of
// copiers, and the counts of the equations. Lane, job, task and start are differences
// from the row before.
func (r *Run) columns() (aboutRun, []byte) {
	rows := r.longest()
	about := aboutRun{
		Name: r.Name, Conclusion: r.Conclusion, Rows: len(rows), Left: len(r.Attempts) - len(rows), Findings: r.Findings, Devices: r.series(),
	}
	if about.Findings == nil {
		about.Findings = []Finding{}
	}
	for _, o := range r.Offers[:min(MostOffers, len(r.Offers))] {
		about.Offers = append(about.Offers, [5]any{micros(o.Time), o.Node, o.Free, o.Asked, o.Declined})
	}
	for p := range workload.NumPhases {
		about.Phases = append(about.Phases, p.String())
	}
	for k := workload.Map; k <= workload.TaskCleanup; k++ {
		about.Kinds = append(about.Kinds, k.String())
	}
	for s := workload.Succeeded; s <= workload.Running; s++ {
		about.States = append(about.States, s.String())
	}
	about.Models, about.Works, about.Sampled = []byModel{}, []string{}, r.Sampled
	for i := range r.Answers {
		if a := &r.Answers[i]; len(a.Phases) > 0 {
			about.Models = append(about.Models, newByModel(a))
		}
	}
	var counts []func(*workload.Attempt) int64 // by column
	jobs := map[string]int{}
	flows := flowsOf(rows)
	for i := range r.Jobs {
		j := &r.Jobs[i]
		row := jobRow{ID: j.ID, Submit: micros(j.Submit), Finish: micros(j.Finish), Steps: [][]any{}, Lines: []line{}, Flow: flows[j.ID]}
		for _, l := range j.Lines {
			own := line{int(l.Kind), int(l.Phase), l.Base.Seconds(), l.PerUnit, slices.Index(about.Works, l.Work)}
			if own.Work < 0 && l.Work != "" {
				own.Work = len(counts)
				about.Works, counts = append(about.Works, l.Work), append(counts, l.Of)
			}
			row.Lines = append(row.Lines, own)
		}
		for _, s := range j.Ledger {
			row.Steps = append(row.Steps, []any{micros(s.From), micros(s.To), s.Account, s.Attempt, s.Node, s.By})
		}
		jobs[j.ID] = i
		about.Jobs = append(about.Jobs, row)
	}
	all := medians(rows, jobs)
	for i := range about.Jobs {
		about.Jobs[i].Usual = []usual{}
		for k := workload.Map; k <= workload.TaskCleanup; k++ {
			if u, ok := all[[2]int{i, int(k)}]; ok {
				about.Jobs[i].Usual = append(about.Jobs[i].Usual, u)
			}
		}
	}
	lanes := about.assignLanes(rows)
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(lanes[a], lanes[b]), cmp.Compare(rows[a].Start, rows[b].Start))
	})
	cols := make([]column, 9+int(workload.NumPhases)+len(counts))
	var lane, job, task, start int64
	for _, i := range order {
		a := &rows[i]
		l, j, t, s := int64(lanes[i]), int64(jobs[a.Job]), int64(a.Task), micros(a.Start)
		for c, v := range []int64{l - lane, j - job, int64(a.Kind), t - task, int64(a.Number), int64(a.State), s - start, micros(a.Finish) - s} {
			cols[c].add(v)
		}
		lane, job, task, start = l, j, t, s
		for p, d := range a.Phases {
			cols[8+p].add(micros(max(0, d)))
		}
		waits := 8 + int(workload.NumPhases)
		cols[waits].add(micros(max(0, a.WaitFetch) + max(0, a.WaitMemory)))
		for k, count := range counts {
			cols[waits+1+k].add(count(a))
		}
	}
	return about, slices.Concat(sliced(cols)...)
}

func sliced(cols []column) [][]byte {
	all := make([][]byte, len(cols))
	for i, c := range cols {
		all[i] = c
	}
	return all
}

// longest returns the attempts with known times, and of too many the longest.
func (r *Run) longest() []workload.Attempt {
	var rows []workload.Attempt
	for i := range r.Attempts {
		if a := &r.Attempts[i]; workload.Known(a.Start) && a.Finish > a.Start {
			rows = append(rows, *a)
		}
	}
	if len(rows) > MostAttempts {
		slices.SortStableFunc(rows, func(a, b workload.Attempt) int { return cmp.Compare(b.Finish-b.Start, a.Finish-a.Start) })
		rows = rows[:MostAttempts]
	}
	return rows
}

// assignLanes gives each attempt a line of the chart: its slot, or, where that is
// unknown, the first line of its node that is free.
func (about *aboutRun) assignLanes(rows []workload.Attempt) []int {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rows[a].Start, rows[b].Start) })
	type key struct {
		node string
		slot int
	}
	free := map[string][]time.Duration{} // ends on the lines of nodes without slots
	slots := make([]int, len(rows))
	used := map[key]bool{}
	for _, i := range order {
		a := &rows[i]
		slots[i] = a.Slot
		if a.Slot < 0 {
			ends := free[a.Node]
			n := slices.IndexFunc(ends, func(end time.Duration) bool { return end <= a.Start })
			if n < 0 {
				n = len(ends)
				ends = append(ends, 0)
			}
			ends[n] = a.Finish
			free[a.Node] = ends
			slots[i] = n
		}
		used[key{a.Node, slots[i]}] = true
	}
	var keys []key
	for k := range used {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.slot, b.slot)) })
	at := map[key]int{}
	for i, k := range keys {
		if n := len(about.Nodes); n == 0 || about.Nodes[n-1] != k.node {
			about.Nodes = append(about.Nodes, k.node)
		}
		about.Lanes = append(about.Lanes, [2]int{len(about.Nodes) - 1, k.slot})
		at[k] = i
	}
	lanes := make([]int, len(rows))
	for i := range rows {
		lanes[i] = at[key{rows[i].Node, slots[i]}]
	}
	return lanes
}

// mostPoints is the largest number of times of a series; more are averaged.
const mostPoints = 400

// series returns the use of devices. Of nodes it keeps processors, disks and
// network, the busiest of several.
func (r *Run) series() []series {
	list := []series{}
	at := map[[2]string]int{}
	rows := map[[2]string][]int{}
	for i := range r.Devices {
		u := &r.Devices[i]
		k := [2]string{u.Node, u.Device}
		if _, known := at[k]; !known {
			at[k] = len(list)
			list = append(list, series{Node: u.Node, Device: u.Device})
		}
		rows[k] = append(rows[k], i)
	}
	for k, i := range at {
		s, of := &list[i], rows[k]
		step, any := (len(of)+mostPoints-1)/mostPoints, false
		for from := 0; from < len(of); from += step {
			part := of[from:min(from+step, len(of))]
			sum, others := 0.0, 0.0
			for _, row := range part {
				sum, others = sum+r.Devices[row].Busy, others+r.Devices[row].Foreign
			}
			any = any || others > 0
			s.Others = append(s.Others, int(100*others/float64(len(part))+0.5))
			s.Times = append(s.Times, micros(r.Devices[part[0]].Time))
			s.Busy = append(s.Busy, int(100*sum/float64(len(part))+0.5))
		}
		if !any {
			s.Others = nil
		}
	}
	return list
}
