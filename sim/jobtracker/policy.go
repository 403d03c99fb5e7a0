package jobtracker

import (
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
)

// policy is the scheduler with its optional interfaces.
type policy struct {
	scheduler.Scheduler
	submitter     scheduler.Submitter // or nil
	listener      scheduler.Listener  // or nil
	ticker        scheduler.Ticker    // or nil
	chooser       scheduler.Chooser   // or nil
	successor     scheduler.Successor // or nil
	readsProgress bool                // is called for all tasks
	remembers     bool                // its state changes at heartbeats at which it launches nothing
	preempts      bool
}

func newPolicy(spec model.Scheduler, r *model.Release) (policy, error) {
	s, err := scheduler.New(spec, r)
	if err != nil {
		return policy{}, err
	}
	p := policy{Scheduler: s}
	p.submitter, _ = s.(scheduler.Submitter)
	p.listener, _ = s.(scheduler.Listener)
	p.ticker, _ = s.(scheduler.Ticker)
	p.chooser, _ = s.(scheduler.Chooser)
	p.successor, _ = s.(scheduler.Successor)
	if r, ok := s.(scheduler.ProgressReader); ok {
		p.readsProgress = r.ReadsProgress()
	}
	if r, ok := s.(scheduler.Rememberer); ok {
		p.remembers = r.Remembers()
	}
	if r, ok := s.(scheduler.Preemptor); ok {
		p.preempts = r.Preempts()
	}
	return p, nil
}
