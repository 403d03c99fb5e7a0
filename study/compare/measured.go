package compare

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// measured is the name under which recorded runs answer.
const measured = "measured"

// Measured are recorded runs that are compared with predictions.
type Measured struct {
	histories []*workload.History
	sums      []resultdir.FileSum
}

// ReadMeasured reads traces and results of earlier runs.
func ReadMeasured(paths []string) (*Measured, error) {
	m := &Measured{}
	histories, err := study.Histories(paths)
	if err != nil {
		return nil, err
	}
	for _, group := range histories {
		h, err := trace.Open(group...)
		if err == nil {
			err = h.Strict()
		}
		if err != nil {
			return nil, err
		}
		if len(h.Jobs) == 0 {
			return nil, fmt.Errorf("--measured %s: no jobs found", group[0])
		}
		sums, err := study.FileSums(group)
		if err != nil {
			return nil, err
		}
		m.histories, m.sums = append(m.histories, h), append(m.sums, sums...)
	}
	return m, nil
}

// Files returns the checksums of the files.
func (m *Measured) Files() []resultdir.FileSum {
	if m == nil {
		return nil
	}
	return m.sums
}

// measuredRun is the recorded run of all jobs of a question.
type measuredRun struct {
	jobs     []*workload.HistoryJob // in the order of the question
	makespan time.Duration          // from the start of the workload
}

// answer returns the mean over the recorded runs of a question, with the 95 %
// interval of the mean as its bounds.
func (m *Measured) answer(q *model.WhatIf) results.Answer {
	x := results.Answer{Scenario: q.Name, Prediction: model.Prediction{Model: measured}}
	var runs []measuredRun
	for _, h := range m.histories {
		runs = append(runs, runsOf(h, q)...)
	}
	if x.Replications = len(runs); len(runs) == 0 {
		x.Err = model.NotApplicable("no recorded run has the jobs of this scenario, with as many maps and reduces on as many nodes")
		return x
	}
	p := &x.Prediction
	p.Low, p.Mean, p.High = meanOf(runs, func(r *measuredRun) time.Duration { return r.makespan })
	for k := range q.Jobs {
		j := &q.Jobs[k]
		low, mean, high := meanOf(runs, func(r *measuredRun) time.Duration { return r.jobs[k].Finish - r.jobs[k].Submit })
		p.Jobs = append(p.Jobs, model.JobOutcome{
			ID: j.ID, Name: j.Name, User: j.User, Pool: j.Pool, Queue: j.Queue, Submit: j.Submit, Deadline: j.Deadline,
			Finish: j.Submit + mean, Low: low, High: high, Maps: j.Maps.Count, Reduces: j.Reduces.Count,
			Launch: -1, Running: -1, FirstMap: -1, LastMap: -1, ShuffleEnd: -1,
		})
	}
	p.Phases = measuredPhases(runs)
	return x
}

// runsOf returns the runs of a question that a history holds. A history of several
// runs of one job holds as many runs of a question with this job alone.
func runsOf(h *workload.History, q *model.WhatIf) (runs []measuredRun) {
	candidates := make([][]*workload.HistoryJob, len(q.Jobs))
	for k := range q.Jobs {
		for i := range h.Jobs {
			if r := &h.Jobs[i]; sameJob(q, k, r) {
				candidates[k] = append(candidates[k], r)
			}
		}
		if n := len(candidates[k]); n == 0 || n > 1 && len(q.Jobs) > 1 {
			return nil
		}
	}
	if len(q.Jobs) == 1 {
		for _, r := range candidates[0] {
			runs = append(runs, measuredRun{[]*workload.HistoryJob{r}, q.Jobs[0].Submit + r.Finish - r.Submit})
		}
		return runs
	}
	all := measuredRun{}
	first, start, end := workload.UnknownTime, time.Duration(math.MaxInt64), time.Duration(0)
	for k, list := range candidates {
		r := list[0]
		all.jobs = append(all.jobs, r)
		start, end = min(start, r.Submit), max(end, r.Finish)
		if !workload.Known(first) || q.Jobs[k].Submit < first {
			first = q.Jobs[k].Submit
		}
	}
	all.makespan = first + end - start
	return []measuredRun{all}
}

// sameJob reports whether a recorded job is job k of a question. It needs the same
// id or name and the same numbers of tasks. The nodes must be as many as those of
// the question, or fewer if the tasks do not fill the slots.
func sameJob(q *model.WhatIf, k int, r *workload.HistoryJob) bool {
	j := &q.Jobs[k]
	if r.Outcome != workload.Succeeded || !workload.Known(r.Submit) || !workload.Known(r.Finish) || r.Finish <= r.Submit {
		return false
	}
	if r.ID != j.ID && r.Name != j.ID && (r.Name != j.Name || j.Name == "") {
		return false
	}
	maps, _ := r.Count(workload.Map)
	reduces, _ := r.Count(workload.Reduce)
	if maps != j.Maps.Count || reduces != j.Reduces.Count {
		return false
	}
	hosts := map[string]bool{}
	for i := range r.Tasks {
		for a := range r.Tasks[i].Attempts {
			hosts[r.Tasks[i].Attempts[a].Node] = true
		}
	}
	delete(hosts, "")
	nodes, mapSlots := len(q.Cluster.Nodes), 0
	for i := range q.Cluster.Nodes {
		mapSlots += q.Cluster.Nodes[i].MapSlots
	}
	return len(hosts) == 0 || len(hosts) == nodes || len(hosts) < nodes && maps < mapSlots
}

// meanOf returns the mean of a time over runs with its 95 % interval (Student's t).
func meanOf(runs []measuredRun, of func(*measuredRun) time.Duration) (low, mean, high time.Duration) {
	values := make([]float64, len(runs))
	for i := range runs {
		values[i] = of(&runs[i]).Seconds()
	}
	if len(values) == 1 {
		t := workload.Seconds(values[0])
		return t, t, t
	}
	m, half := fit.StudentInterval(values)
	return workload.Seconds(max(0, m-half)), workload.Seconds(m), workload.Seconds(m + half)
}

// measuredPhases returns the mean times of the phases that the tasks of runs record.
func measuredPhases(runs []measuredRun) (list []model.PhaseTime) {
	for _, kind := range []workload.Kind{workload.Map, workload.Reduce} {
		var sums [workload.NumPhases]time.Duration
		n := time.Duration(0)
		for _, r := range runs {
			for _, j := range r.jobs {
				for t := range j.Tasks {
					if w := j.Tasks[t].Winner(); w != nil && j.Tasks[t].Kind == kind {
						n++
						for ph, took := range w.Phases {
							sums[ph] += max(0, took) // a phase that is not recorded is negative
						}
					}
				}
			}
		}
		for ph, sum := range sums {
			if sum > 0 {
				list = append(list, model.PhaseTime{Kind: kind, Phase: workload.Phase(ph), Time: sum / n})
			}
		}
	}
	return slices.Clip(list)
}
