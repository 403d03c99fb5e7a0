package jobtracker

import (
	"fmt"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
)

// A change replaces the scheduler at a given time. The next scheduler learns of
// the jobs that have not ended, in order of submission, and of the tasks that they
// run. What the scheduler before kept for itself is lost: deficits, waits for
// locality, reserved trackers.

// newPolicies makes the schedulers of a run, in order of time. What a job can leave
// out is decided at its submission, so it has to suit all of them.
func newPolicies(q *model.WhatIf, r *model.Release) (all []scheduler.Policy, err error) {
	var any scheduler.Policy
	for _, spec := range q.Schedulers() {
		p, err := scheduler.New(spec, r)
		if err != nil {
			return nil, err
		}
		any.ReadsProgress = any.ReadsProgress || p.ReadsProgress
		any.Remembers = any.Remembers || p.Remembers
		any.Preempts = any.Preempts || p.Preempts
		all = append(all, p)
	}
	for i := range all {
		all[i].ReadsProgress, all[i].Remembers, all[i].Preempts = any.ReadsProgress, any.Remembers, any.Preempts
	}
	return all, nil
}

// changes are the schedulers that replace the first one.
type changes struct {
	jt    *JobTracker
	later []successor // in order of time
}

// successor is a scheduler that replaces another, with the memory limits that it
// heeds.
type successor struct {
	policy scheduler.Policy
	memory memory
}

// open checks that all jobs can be run by each scheduler, and sets the times.
func (c *changes) open(later []scheduler.Policy) (err error) {
	jt := c.jt
	asked, first := jt.Question.Changes, jt.memory
	for i := range asked {
		if i > 0 && asked[i].At < asked[i-1].At {
			return fmt.Errorf("the change at %v is listed after the one at %v", asked[i].At, asked[i-1].At)
		}
		if jt.memory, err = memoryUnder(asked[i].Scheduler, jt.Release, jt.Question.Cluster.Conf); err != nil {
			return err
		}
		for k := range jt.Question.Jobs {
			spec := &jt.Question.Jobs[k]
			if _, err := jt.checkedConf(spec); err != nil {
				return fmt.Errorf("job %s: %w", spec.ID, err)
			}
		}
		c.later = append(c.later, successor{later[i], jt.memory})
		jt.Engine.NewTimer(engine.Submission, int32(i), c.change).Reset(engine.At(asked[i].At))
	}
	jt.memory = first
	return nil
}

// change replaces the scheduler, before jobs are submitted at this instant.
func (c *changes) change(i int32) {
	jt := c.jt
	jt.at(beforeHeartbeats)
	jt.policy, jt.memory = c.later[i].policy, c.later[i].memory
	for _, j := range jt.jobs {
		if j != nil {
			j.Discharge()
			j.standing.ended = j.State == scheduler.Done
		}
	}
	jt.ticks.restart(&jt.cluster, jt.active, jt.tick)
	jt.at(beforeHeartbeats)
	if s := jt.policy.TakeOver; s != nil {
		s(&jt.view)
	}
	for _, j := range slices.Clone(jt.active) {
		if s := jt.policy.Submitted; s != nil {
			s(&jt.view, &j.Job)
		} else {
			j.Init()
		}
		j.settleNeeds()
	}
	jt.changed()
}
