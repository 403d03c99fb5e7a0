package report

import (
	"slices"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

func newByModel(p *model.Prediction) byModel {
	m := byModel{Name: p.Model}
	for kind := range m.Phases {
		m.Phases[kind] = slices.Repeat([]int64{-1}, int(workload.NumPhases))
	}
	for _, ph := range p.Phases {
		if ph.Kind <= workload.Reduce {
			m.Phases[ph.Kind][ph.Phase] = micros(ph.Time)
		}
	}
	return m
}

// columns returns what the script needs to know, and the attempts as columns:
// lane, job, kind, task, number, state, start, each phase, the rest of the length that
// no phase has, the waits of copiers, and the counts of the equations. Lane, job, task
// and start are differences from the row before.
func (r *Run) columns() (aboutRun, []column) {
	about := aboutRun{Name: r.Name, Conclusion: r.Verdict, Findings: []finding{}, Devices: r.series(), Models: []byModel{}, Works: []string{}, Sampled: r.Sampled, Question: r.Packed}
	for i := range r.Findings {
		f := &r.Findings[i]
		own := finding{Job: f.Job, Cause: f.Cause, Node: f.Node, Tasks: f.Tasks, Evidence: f.Evidence, Question: r.trial(i).Question}
		if f.Change != nil {
			own.Change = f.Change.Text
		}
		about.Findings = append(about.Findings, own)
	}
	for i := range r.Offers[:min(mostOffers, len(r.Offers))] {
		about.Offers = append(about.Offers, offered(&r.Offers[i]))
	}
	for p := range workload.NumPhases {
		about.Phases = append(about.Phases, p.String())
	}
	for k := workload.Map; k <= workload.ReduceTaskCleanup; k++ {
		about.Kinds = append(about.Kinds, k.String())
	}
	for s := workload.Succeeded; s <= workload.Running; s++ {
		about.States = append(about.States, s.String())
	}
	for i := range r.Answers {
		if p := &r.Answers[i].Prediction; len(p.Phases) > 0 {
			about.Models = append(about.Models, newByModel(p))
		}
	}
	g := &gathered{jobs: map[string]int32{}, numbers: map[string]int32{}, flows: flows{}}
	for i := range r.Jobs {
		about.Jobs = append(about.Jobs, newJobRow(&r.Jobs[i], &about, g))
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
		for k := workload.Map; k <= workload.ReduceTaskCleanup; k++ {
			if u, ok := all[[2]int{i, int(k)}]; ok {
				j.Usual = append(j.Usual, u)
			}
		}
	}
	return about, g.encode(about.assignLanes(g))
}

// newJobRow returns what the script needs to know of a job. It adds the counts of its
// equations to those that are gathered.
func newJobRow(j *diagnose.JobDiagnosis, about *aboutRun, g *gathered) jobRow {
	row := jobRow{ID: j.ID, Submit: micros(j.Submit), Finish: micros(j.Finish), Steps: [][]any{}, Lines: []line{}}
	for _, l := range j.Lines {
		own := line{int(l.Kind), int(l.Phase), l.Base.Seconds(), l.PerUnit, slices.Index(about.Works, l.Work.String())}
		if own.Work < 0 && l.Work.String() != "" {
			own.Work = len(g.counts)
			about.Works, g.counts = append(about.Works, l.Work.String()), append(g.counts, l.Work.Of)
		}
		row.Lines = append(row.Lines, own)
	}
	for _, s := range j.Ledger {
		row.Steps = append(row.Steps, []any{micros(s.From), micros(s.To), s.Account.String(), s.Attempt, s.Node, s.By})
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
	for i := range r.Usage {
		u := &r.Usage[i]
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
				sum, others = sum+r.Usage[row].Busy, others+r.Usage[row].ForeignBusy
			}
			any = any || others > 0
			s.Others = append(s.Others, int(100*others/float64(len(part))+0.5))
			s.Times = append(s.Times, micros(r.Usage[part[0]].Time))
			s.Busy = append(s.Busy, int(100*sum/float64(len(part))+0.5))
		}
		if !any {
			s.Others = nil
		}
	}
	return list
}
