package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// stage is the maps or the reduces of a job.
type stage struct {
	b     *books
	job   *job
	kind  workload.Kind
	rows  []int32 // the attempts whose work was used
	slots []stageSlot
	order []int // of the slots, by slot and start
	begin time.Duration
	end   time.Duration

	median float64 // seconds of a task
	whole  float64 // seconds of all tasks
	out    outliers
	facts  taskFacts
	has    [workload.NumPhases]bool // some task has a time in the phase, or an unknown one
	lines  [workload.NumPhases]robust
	excess []float64 // seconds of a task's phases beyond the prediction
	found  []Outlier
}

// newStage returns the stage of the maps or the reduces of a job, or nil if no
// attempt ran.
func (b *books) newStage(j *job, kind workload.Kind, o *Options) *stage {
	s := &stage{b: b, job: j, kind: kind, rows: j.won[kind], end: math.MinInt64, begin: math.MaxInt64}
	if len(s.rows) == 0 {
		return nil
	}
	lastMap := b.lastMap(j)
	type slot struct{ node, slot int32 }
	names := map[slot]string{}
	for _, row := range s.rows {
		a := b.at(row)
		s.begin, s.end = min(s.begin, a.start), max(s.end, a.finish)
		s.whole += (a.finish - a.start).Seconds()
		for p, d := range a.phases {
			s.has[p] = s.has[p] || d != 0
		}
		k := slot{a.node, a.slot}
		if names[k] == "" {
			names[k] = fmt.Sprintf("%s/%d", b.node(a), a.slot)
		}
		start := a.start
		if kind == workload.Reduce { // time before the end of the last map is a wait
			start = min(max(start, lastMap), a.finish)
		}
		s.slots = append(s.slots, stageSlot{names[k], start.Seconds(), a.finish.Seconds()})
	}
	s.excess = make([]float64, len(s.rows))
	options := defaultOutlierOptions()
	options.MinRatio, options.Gamma, options.K = o.Thresholds.TaskRatio, o.Thresholds.Critical, &o.Thresholds.TaskK
	s.order = bySlot(s.slots)
	s.out = compareTasks(s.slots, s.order, options)
	s.median = s.out.Median
	s.taskOutliers()
	s.phaseOutliers(o)
	s.delays(o)
	s.shareNode()
	return s
}

// length returns the time of the stage in seconds.
func (s *stage) length() float64 { return (s.end - s.begin).Seconds() }

// taskOutliers lists the tasks that are outliers as a whole.
func (s *stage) taskOutliers() {
	for i, row := range s.rows {
		if !s.out.Outlier[i] {
			continue
		}
		a := s.b.at(row)
		s.found = append(s.found, Outlier{
			Job: s.job.id, Stage: s.kind.String(), Task: s.b.name(a), Node: s.b.node(a),
			Time: workload.Seconds(s.slots[i].End - s.slots[i].Start), Expected: workload.Seconds(s.median), Median: workload.Seconds(s.median),
			Limit: workload.Seconds(s.out.Threshold), Critical: s.out.Critical[i], Delay: workload.Seconds(s.out.Gain[i]), row: row,
		})
	}
}

// delays computes the delay of the stage by phases that took too long: all
// tasks are shortened by their excess, and one is restored at a time.
func (s *stage) delays(o *Options) {
	saved := make([]float64, len(s.rows))
	at := map[int32]int{}
	for i, row := range s.rows {
		saved[i] = min(s.excess[i], s.slots[i].End-s.slots[i].Start)
		at[row] = i
	}
	gains, _ := clip(s.slots, s.order, saved)
	for k := range s.found {
		f := &s.found[k]
		if f.Phase == "" {
			continue
		}
		i := at[f.row]
		if s.excess[i] > 0 { // a task's delay is divided among its phases by excess
			part := (f.Time - f.Expected).Seconds() / s.excess[i]
			f.Delay = workload.Seconds(gains[i] * part)
			f.Critical = gains[i] > o.Thresholds.Critical*s.length()
		}
	}
}

// shareNode is the intra-node correlation of the critical tasks.
func (s *stage) shareNode() {
	inputs := make([]taskInput, len(s.rows))
	known := true
	for i, row := range s.rows {
		a := s.b.at(row)
		bytes := a.InBytes
		if s.kind == workload.Reduce {
			bytes = max(a.ShuffleBytes, a.InBytes)
		}
		if bytes < 0 {
			known = false
		}
		inputs[i] = taskInput{s.b.node(a), float64(max(0, bytes)), s.out.Critical[i]}
	}
	if !known {
		for i := range inputs {
			inputs[i].Input = 0
		}
	}
	s.facts, _ = criticalFacts(inputs, defaultNodeShare)
}

// summary returns a row of stages.csv.
func (s *stage) summary() Summary {
	r := Summary{Job: s.job.id, Stage: s.kind.String(), Tasks: len(s.rows), Begin: s.begin, End: s.end}
	var times []float64
	for _, row := range s.rows {
		a := s.b.at(row)
		times = append(times, (a.finish - a.start).Seconds())
	}
	r.add("", times, s)
	for p := range workload.NumPhases {
		if !s.has[p] {
			continue
		}
		var times []float64
		for _, row := range s.rows {
			if d := s.b.at(row).phases[p]; workload.Known(d) {
				times = append(times, d.Seconds())
			}
		}
		if len(times) > 0 && slices.Max(times) > 0 {
			r.add(p.String(), times, s)
		}
	}
	return r
}

// Summary describes the times of the tasks of a stage.
type Summary struct {
	Job, Stage string
	Tasks      int
	Begin, End time.Duration
	Phases     []PhaseSummary // the first one, without a name, is the whole task
}

// PhaseSummary describes the times of one phase over the tasks of a stage.
type PhaseSummary struct {
	Phase             string
	Tasks             int // number of tasks for which it is known
	Mean, Median, Max time.Duration
	Share             float64 // of the time of the tasks
	Outliers          int
}

func (r *Summary) add(phase string, times []float64, s *stage) {
	total := 0.0
	for _, t := range times {
		total += t
	}
	p := PhaseSummary{
		Phase: phase, Tasks: len(times), Mean: workload.Seconds(total / float64(len(times))),
		Median: workload.Seconds(median(times)), Max: workload.Seconds(slices.Max(times)), Share: 1,
	}
	if phase != "" && s.whole > 0 {
		p.Share = total / s.whole
	}
	for _, f := range s.found {
		if f.Phase == phase {
			p.Outliers++
		}
	}
	r.Phases = append(r.Phases, p)
}

// still finds the times at which a node stood still. In such a time no map
// there began or ended for more than Still times its usual gap, while other nodes
// went on. Most of the maps that ran through the gap, in at least half of the map
// slots, must be outliers that took longer than their peers by most of the gap; or several
// maps start when the node goes on, whose input it has, of jobs half of whose maps had
// started before.
// Reduces do not count, because they may wait for maps as long.
func (b *books) still(t *Thresholds) []standstill {
	overdue := make([]float32, b.rows) // seconds beyond the median of its peers; 0: not a map, or not an outlier
	for _, j := range b.jobs {
		var times []float64
		for _, row := range j.won[workload.Map] {
			times = append(times, (b.at(row).finish - b.at(row).start).Seconds())
		}
		if len(times) < fewestPeers {
			continue
		}
		usual := median(times)
		spread := max(normalMAD*deviation(times, usual), 0.02*usual)
		for _, row := range j.attempts {
			if a := b.at(row); a.kind == workload.Map && a.timed() {
				late := (a.finish - a.start).Seconds() - usual
				if late < t.TaskK*spread {
					late = 0
				}
				overdue[row] = float32(late)
			}
		}
	}
	byNode := make([][]int32, len(b.nodes.list))
	ends := make([][]time.Duration, len(b.nodes.list))
	slots := make([]int32, len(b.nodes.list)) // map slots that were used
	for i := range int32(b.rows) {
		if a := b.at(i); a.timed() && b.node(a) != "" {
			byNode[a.node] = append(byNode[a.node], i)
			ends[a.node] = append(ends[a.node], a.finish)
			if a.kind == workload.Map {
				slots[a.node] = max(slots[a.node], a.slot+1)
			}
		}
	}
	for _, list := range ends {
		slices.Sort(list)
	}
	begun := make([]time.Duration, len(b.jobs)) // half of the maps of a job
	for k, j := range b.jobs {
		var starts []time.Duration
		for _, row := range j.won[workload.Map] {
			starts = append(starts, b.at(row).start)
		}
		if slices.Sort(starts); len(starts) > 0 {
			begun[k] = starts[len(starts)/2]
		}
	}
	const heldUp = 0.8 // least delay of a map that stood still, as a fraction of the gap
	const often = 3    // a node with this many standstills is slow instead
	var found []standstill
	for node, rows := range byNode {
		first := len(found)
		for _, g := range b.gaps(rows, t) {
			stuck, late := 0, 0
			through := 0
			for _, i := range rows {
				a := b.at(i)
				if soon := g.until + (g.until-g.from)/10; a.kind == workload.Map && a.number == 0 && a.locality == workload.NodeLocal && a.start >= g.until && a.start <= soon && begun[a.job] <= g.from {
					late++
					g.tasks = append(g.tasks, i)
				}
				if a.kind == workload.Map && a.start <= g.from && a.finish >= g.until {
					through++
					if float64(overdue[i]) > heldUp*(g.until-g.from).Seconds() {
						stuck++
						g.tasks = append(g.tasks, i)
					}
				}
			}
			held := stuck >= 2 && 2*stuck > through && 2*stuck >= int(slots[node]) && stuck*(len(byNode)-1) >= 2*b.lateElsewhere(overdue, int32(node), g)
			if (held || through == 0 && late >= 2) && mostGoOn(ends, node, g) {
				g.node = b.nodes.list[node]
				found = append(found, g)
			}
		}
		if len(found)-first >= often {
			found = found[:first]
		}
	}
	slices.SortFunc(found, func(a, b standstill) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.node, b.node)) })
	return found
}

// lateElsewhere returns how many maps on other nodes ran during a gap and are
// equally late. If there are many, the maps are of two sizes.
func (b *books) lateElsewhere(overdue []float32, node int32, g standstill) int {
	n := 0
	for i, late := range overdue {
		if late == 0 {
			continue
		}
		if a := b.at(int32(i)); a.node != node && a.start < g.until && a.finish > g.from && float64(late) > 0.5*(g.until-g.from).Seconds() {
			n++
		}
	}
	return n
}

// mostGoOn reports whether attempts end on most other nodes during a gap.
func mostGoOn(ends [][]time.Duration, node int, g standstill) bool {
	others, active := 0, 0
	for n, list := range ends {
		if n == node || len(list) == 0 {
			continue
		}
		others++
		first, _ := slices.BinarySearch(list, g.from+1)
		last, _ := slices.BinarySearch(list, g.until)
		if last-first >= 2 {
			active++
		}
	}
	return 2*active > others
}

// standstill is a time in which a node stood still.
type standstill struct {
	node        string
	from, until time.Duration
	usual       time.Duration // usual gap between events of the node
	tasks       []int32       // attempts that were delayed
}

// gaps lists the long times between starts and ends of a node's maps. The
// usual gap is the median gap while tasks run, and at least a second because
// the clocks of nodes differ.
func (b *books) gaps(rows []int32, t *Thresholds) []standstill {
	var events []time.Duration
	for _, i := range rows {
		if a := b.at(i); a.kind == workload.Map {
			events = append(events, a.start, a.finish)
		}
	}
	slices.Sort(events)
	events = slices.Compact(events)
	var lengths []float64
	for i := 1; i < len(events); i++ {
		lengths = append(lengths, (events[i] - events[i-1]).Seconds())
	}
	if len(lengths) < fewestPeers {
		return nil
	}
	usual := max(1, median(lengths))
	var long []standstill
	for i, length := range lengths {
		if length > t.Still*usual {
			long = append(long, standstill{from: events[i], until: events[i+1], usual: workload.Seconds(usual)})
		}
	}
	return long
}
