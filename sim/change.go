package sim

import (
	"fmt"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
)

// A change replaces the scheduler at a given time. The next scheduler is told of
// the jobs that have not ended, in order of submission, and of the tasks that they
// run. What the scheduler before kept for itself is lost: deficits, waits for
// locality, reserved trackers.

// newPolicies makes the schedulers of a run, in order of time. What a job can leave
// out is decided at its submission, so it has to suit all of them.
func newPolicies(q *model.WhatIf, r *model.Release) (all []policy, err error) {
	var any policy
	for _, spec := range q.Schedulers() {
		p, err := newPolicy(spec, r)
		if err != nil {
			return nil, err
		}
		any.readsProgress = any.readsProgress || p.readsProgress
		any.remembers = any.remembers || p.remembers
		any.preempts = any.preempts || p.preempts
		all = append(all, p)
	}
	for i := range all {
		all[i].readsProgress, all[i].remembers, all[i].preempts = any.readsProgress, any.remembers, any.preempts
	}
	return all, nil
}

// readMemory reads the memory limits that a scheduler heeds.
func (jt *jobTracker) readMemory(s model.Scheduler) error {
	jt.memory = memory{scheduled: jt.release.WideTasks && s.Name == "capacity"}
	return jt.memory.read(jt.question.Cluster.Conf)
}

// openChanges checks that all jobs can be run by each scheduler, and sets the
// changes.
func (jt *jobTracker) openChanges() error {
	changes := jt.question.Changes
	first := jt.memory
	for i := range changes {
		if i > 0 && changes[i].At < changes[i-1].At {
			return fmt.Errorf("the change at %v is listed after the one at %v", changes[i].At, changes[i-1].At)
		}
		if err := jt.readMemory(changes[i].Scheduler); err != nil {
			return err
		}
		for k := range jt.question.Jobs {
			spec := &jt.question.Jobs[k]
			if _, err := jt.checkedConf(spec); err != nil {
				return fmt.Errorf("job %s: %w", spec.ID, err)
			}
		}
		jt.eng.NewTimer(engine.Submission, int32(i), jt.changeScheduler).Reset(engine.At(changes[i].At))
	}
	jt.memory = first
	return nil
}

// changeScheduler replaces the scheduler, before jobs are submitted at this instant.
func (jt *jobTracker) changeScheduler(i int32) {
	jt.at(beforeHeartbeats)
	jt.policy = jt.later[i]
	if err := jt.readMemory(jt.question.Changes[i].Scheduler); err != nil {
		panic(err) // openChanges has read it
	}
	for _, j := range jt.jobs[:jt.submissions.submitted] {
		if j != nil {
			j.Discharge()
			j.bygone = j.State == scheduler.Done
		}
	}
	jt.ticks.restart(&jt.cluster, jt.active, jt.tick)
	jt.at(beforeHeartbeats)
	if s := jt.policy.successor; s != nil {
		s.TakeOver(jt.view.View())
	}
	for _, j := range slices.Clone(jt.active) {
		if s := jt.policy.submitter; s != nil {
			s.Submitted(jt.view.View(), j.View())
		} else {
			j.Init()
		}
		j.settleNeeds()
	}
	jt.changed()
}
