package diagnose

import (
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
		start := a.assigned()
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

// still finds the times at which a node stood still.
func (b *books) still(t *Thresholds) []workload.Standstill {
	won := make([]bool, b.rows)
	for _, j := range b.jobs {
		for _, row := range slices.Concat(j.won[:]...) {
			won[row] = true
		}
	}
	return workload.Standstills(b.rows, func(i int32) workload.Ran {
		a := b.at(i)
		return workload.Ran{Node: b.node(a), Kind: a.kind, Job: int(a.job), Number: int(a.number), Near: a.locality == workload.NodeLocal, Won: won[i], Start: a.start, Finish: a.finish}
	}, t.Still)
}
