package jobtracker

import (
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/workload"
)

// offerTrace records the decisions at heartbeats of trackers with a free slot. It
// has one offer, which it uses again.
type offerTrace struct {
	offer model.Offer
}

// assignTasks gives tasks to a tracker with a free slot, and records the
// decisions if the run is traced.
func (jt *JobTracker) assignTasks(t *taskTracker) {
	if jt.Tracer == nil {
		if !jt.giveSetupOrCleanup(t) {
			jt.policy.Assign(&jt.view, &t.view)
		}
		return
	}
	o := &jt.offers.offer
	*o = model.Offer{Time: jt.view.Now, Node: jt.Question.Cluster.Nodes[t.id].Name, Waiting: jt.view.Waiting, Asked: o.Asked[:0]}
	for k := range o.Free {
		o.Free[k] = max(0, t.view.Free(workload.Kind(k)))
	}
	jt.view.Offer = o
	if jt.giveSetupOrCleanup(t) {
		o.Reason = [2]model.Reason{model.SetupOrCleanupFirst, model.SetupOrCleanupFirst}
	} else {
		jt.policy.Assign(&jt.view, &t.view)
		jt.traceHeld(o)
	}
	jt.view.Offer = nil
	if settleOffer(o) {
		jt.Tracer.Offer(o)
	}
}

// mostHeld limits the jobs of an offer that a limit keeps from tasks.
const mostHeld = 3

// traceHeld records which jobs a limit keeps from the slots that were offered. Such a
// job may wait for a slot although it is not initialised.
func (jt *JobTracker) traceHeld(o *model.Offer) {
	if jt.policy.Held == nil {
		return
	}
	for k := range o.Free {
		held := 0
		for _, j := range jt.view.Jobs {
			if o.Free[k] == 0 || held == mostHeld {
				break
			}
			waits := j.Wants[k] || j.State == scheduler.Prep && j.Tasks[k] > 0
			asked := func(a model.Asked) bool {
				return int(a.Kind) == k && a.Job == j.Name && (a.Task >= 0 || a.Reason == model.NothingWaiting)
			}
			if !waits || slices.ContainsFunc(o.Asked, asked) {
				continue
			}
			why, figures := jt.policy.Held(j, k)
			if why == model.NotDeclined {
				continue
			}
			held++
			if o.Waiting[k] = max(1, o.Waiting[k]); o.Reason[k] <= model.NothingWaiting {
				o.Reason[k] = why
			}
			o.Asked = slices.DeleteFunc(o.Asked, func(a model.Asked) bool { return int(a.Kind) == k && a.Job == j.Name })
			o.Asked = append(o.Asked, model.Asked{Job: j.Name, Kind: workload.Kind(k), Task: -1, Reason: why, Figures: figures})
		}
	}
}

// settleOffer completes the reasons of an offer. It reports whether jobs waited for
// one of the free slots.
func settleOffer(o *model.Offer) bool {
	var launched [2]int
	for i := range o.Asked {
		if o.Asked[i].Task >= 0 {
			launched[o.Asked[i].Kind]++
		}
	}
	wanted := false
	for k := range o.Free {
		switch {
		case o.Free[k] == 0 || o.Waiting[k] == 0:
			o.Free[k], o.Waiting[k], o.Reason[k] = 0, 0, model.NotDeclined
		case launched[k] >= o.Free[k]:
			o.Reason[k] = model.NotDeclined
		case o.Reason[k] == model.NotDeclined:
			o.Reason[k] = model.NothingWaiting
		}
		wanted = wanted || o.Free[k] > 0 || launched[k] > 0
	}
	return wanted
}

// traceLaunch records a launch as the answer of the job that was asked last.
func (j *jobInProgress) traceLaunch(a *attempt) {
	o := j.cluster.view.Offer
	if o == nil {
		return
	}
	kind := a.Kind
	if last := len(o.Asked) - 1; last < 0 || o.Asked[last].Task >= 0 || o.Asked[last].Job != j.Name || o.Asked[last].Kind != kind {
		o.Asked = append(o.Asked, model.Asked{Job: j.Name, Kind: kind})
	}
	last := &o.Asked[len(o.Asked)-1]
	last.Task, last.Attempt, last.Locality, last.Reason = int(a.Task), int(a.Number), a.Locality, model.NotDeclined
}

// traceRefusal records why a job that was asked launches nothing.
func (c *cluster) traceRefusal(why model.Reason) {
	if o := c.view.Offer; o != nil && len(o.Asked) > 0 {
		if last := &o.Asked[len(o.Asked)-1]; last.Task < 0 {
			last.Reason = why
		}
	}
}
