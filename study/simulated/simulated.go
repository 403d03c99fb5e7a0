// Package simulated keeps one simulated run in memory: its attempts, what the scheduler
// decided, and the ledgers of its jobs. It compares two runs. It draws and writes
// nothing, so that a browser can hold it.
package simulated

import (
	"context"
	"iter"
	"slices"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// Run is a simulated run.
type Run struct {
	Question   *model.WhatIf
	Prediction model.Prediction
	Attempts   Attempts // in the order of their ends
	Offers     Offers   // none unless the run was traced
}

// Attempts collects attempts. It is a model.Recorder.
type Attempts []workload.Attempt

func (a *Attempts) Attempt(x *workload.Attempt) { *a = append(*a, *x) }

// Offers collects offers. It is a model.Tracer.
type Offers []model.Offer

func (list *Offers) Offer(o *model.Offer) {
	own := *o
	own.Asked = slices.Clone(o.Asked)
	*list = append(*list, own)
}

// History returns the jobs of the run with their attempts and times.
func (r *Run) History() *workload.History {
	h := trace.NewHistory(r.Question.Jobs, r.Attempts)
	outcomes := make(map[string]*model.JobOutcome, len(r.Prediction.Jobs))
	for i := range r.Prediction.Jobs {
		outcomes[r.Prediction.Jobs[i].ID] = &r.Prediction.Jobs[i]
	}
	for i := range h.Jobs {
		j := &h.Jobs[i]
		if o := outcomes[j.ID]; o != nil {
			j.Submit, j.Launch, j.Finish = o.Submit, o.Launch, o.Finish
		}
	}
	return h
}

// Jobs passes the jobs of a history.
func Jobs(h *workload.History) iter.Seq[*workload.HistoryJob] {
	return func(yield func(*workload.HistoryJob) bool) {
		for i := range h.Jobs {
			if !yield(&h.Jobs[i]) {
				return
			}
		}
	}
}

// Ledgers returns the ledger of a job, or those of all jobs if the name is empty.
func (r *Run) Ledgers(job string) ([]diagnose.JobDiagnosis, error) {
	options := diagnose.DefaultOptions()
	options.Job = job
	d, err := diagnose.Run(context.Background(), diagnose.Input{Jobs: Jobs(r.History()), Question: r.Question, Offers: r.Offers}, options)
	if err != nil {
		return nil, err
	}
	return d.Jobs, nil
}

// Counts reports whether the tasks of a question count what they compute and
// combine.
func Counts(q *model.WhatIf) bool {
	release, err := model.FindRelease(q.Cluster.Hadoop)
	return err == nil && release.CPUCounter && q.Fidelity >= model.Phase
}
