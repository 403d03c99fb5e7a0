package study

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/report"
	"github.com/slotwave/slotwave/workload"
)

// Report diagnoses each path, the folder of a result or a history, and writes a
// page with all of them side by side.
func Report(w io.Writer, paths []string, k Diagnosing) (warnings []string, err error) {
	page := report.Page{Title: "slotwave report"}
	var names []string
	k.attempts = true
	for _, path := range paths {
		d, err := Diagnose([]string{path}, k)
		if err != nil {
			return nil, err
		}
		if d.history == nil {
			return nil, fmt.Errorf("%s: got no jobs: want the folder of a result, or a history", path)
		}
		run := d.reported(filepath.Base(filepath.Clean(path)))
		names = append(names, run.Name)
		page.Runs = append(page.Runs, run)
		warnings = append(warnings, d.Warnings...)
	}
	page.Title += ": " + strings.Join(names, ", ")
	return warnings, page.Write(w)
}

// reported returns the diagnosis as a run of a report.
func (d *Diagnosed) reported(name string) report.Run {
	r := report.Run{Name: results.Escape(name), Conclusion: d.Conclusion()}
	for i := range d.Findings {
		f := &d.Findings[i]
		shown := report.Finding{
			Job: f.Job, Rule: f.Rule, Cause: f.Cause, Node: f.Node, Device: f.Device, Tasks: f.Tasks, Evidence: f.Evidence,
			Outcome: string(f.Receipt.Outcome), Note: f.Receipt.Note,
		}
		if f.Change != nil {
			shown.Change = f.Change.Text
		}
		if f.Receipt.Pairs > 0 {
			shown.Tested, shown.Gain, shown.Low, shown.High = true, f.Receipt.Gain, f.Receipt.Low, f.Receipt.High
		}
		r.Findings = append(r.Findings, shown)
	}
	for i := range d.Jobs {
		j := &d.Jobs[i]
		job := report.Job{ID: j.ID, Submit: j.Submit, Finish: j.Finish}
		for _, s := range j.Ledger {
			job.Ledger = append(job.Ledger, report.Step{From: s.From, To: s.To, Account: s.Account.String(), Attempt: s.Attempt, Node: s.Node, By: s.By})
		}
		r.Jobs = append(r.Jobs, job)
	}
	for i := range d.history.Jobs {
		j := &d.history.Jobs[i]
		for t := range j.Tasks {
			for n := range j.Tasks[t].Attempts {
				a := j.Tasks[t].Attempts[n].Attempt
				a.Job = j.ID
				r.Attempts = append(r.Attempts, a)
			}
		}
	}
	for _, u := range d.usage {
		r.Devices = append(r.Devices, results.Usage{Time: u.Time, Node: u.Node, Device: u.Device, Use: model.Use{Busy: u.Busy, Bytes: u.Bytes}})
	}
	for _, u := range d.Unknown {
		r.Unknown = append(r.Unknown, fmt.Sprintf("%s (%s): %s", u.What, workload.Counted(u.Count, "row", "rows"), u.Effect))
	}
	return r
}
