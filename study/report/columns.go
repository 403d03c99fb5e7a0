package report

import (
	"slices"

	"github.com/slotwave/slotwave/workload"
)

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

// columns returns what the script needs to know, and the attempts as columns:
// lane, job, kind, task, number, state, start, each phase, the rest of the length that
// no phase has, the waits of copiers, and the counts of the equations. Lane, job, task
// and start are differences from the row before.
func (r *Run) columns() (aboutRun, []column) {
	about := aboutRun{Name: r.Name, Conclusion: r.Conclusion, Findings: r.Findings, Devices: r.series(), Models: []byModel{}, Works: []string{}, Sampled: r.Sampled, Question: r.Question}
	if about.Findings == nil {
		about.Findings = []Finding{}
	}
	for _, o := range r.Offers[:min(mostOffers, len(r.Offers))] {
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
	for i := range r.Answers {
		if a := &r.Answers[i]; len(a.Phases) > 0 {
			about.Models = append(about.Models, newByModel(a))
		}
	}
	g := &gathered{jobs: map[string]int32{}, numbers: map[string]int32{}, flows: flows{}}
	for i := range r.Jobs {
		about.Jobs = append(about.Jobs, r.Jobs[i].row(&about, g))
		g.jobs[r.Jobs[i].ID] = int32(i)
	}
	for a := range r.Attempts {
		g.add(a)
	}
	about.Left = g.keepLongest(mostAttempts)
	about.Rows = len(g.rows)
	all := g.medians()
	for i := range about.Jobs {
		j := &about.Jobs[i]
		j.Usual, j.Flow = []usual{}, g.flows.of(j.ID)
		for k := workload.Map; k <= workload.TaskCleanup; k++ {
			if u, ok := all[[2]int{i, int(k)}]; ok {
				j.Usual = append(j.Usual, u)
			}
		}
	}
	return about, g.encode(about.assignLanes(g))
}

// row returns what the script needs to know of a job. It adds the counts of its
// equations to those that are gathered.
func (j *Job) row(about *aboutRun, g *gathered) jobRow {
	row := jobRow{ID: j.ID, Submit: micros(j.Submit), Finish: micros(j.Finish), Steps: [][]any{}, Lines: []line{}}
	for _, l := range j.Lines {
		own := line{int(l.Kind), int(l.Phase), l.Base.Seconds(), l.PerUnit, slices.Index(about.Works, l.Work)}
		if own.Work < 0 && l.Work != "" {
			own.Work = len(g.counts)
			about.Works, g.counts = append(about.Works, l.Work), append(g.counts, l.Of)
		}
		row.Lines = append(row.Lines, own)
	}
	for _, s := range j.Ledger {
		row.Steps = append(row.Steps, []any{micros(s.From), micros(s.To), s.Account, s.Attempt, s.Node, s.By})
	}
	return row
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
	for i := range list {
		s := &list[i]
		of := rows[[2]string{s.Node, s.Device}]
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
