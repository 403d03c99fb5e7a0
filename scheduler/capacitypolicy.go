package scheduler

import "github.com/slotwave/slotwave/model"

var capacityPolicy = named{
	name:  "capacity",
	about: "CapacityTaskScheduler: queues with capacities, user limits",
	order: "capacity first asks the queue that uses the smallest part of its capacity, and within the queue the jobs in order of submission.",
	make:  newCapacity,
}

func newCapacity(spec model.Scheduler, r *model.Release) (Policy, error) {
	base, err := readQueues(spec, r)
	if err != nil {
		return Policy{}, err
	}
	p := Policy{
		Updated:  base.updated,
		Interval: base.poll, Skips: true, // the poller does nothing unless a job waits
		// Queues with equal use keep the order of the heartbeat before, and jobs count
		// the trackers that they declined.
		Remembers: true,
	}
	if r.Capacity1 {
		s, err := newCapacity1(spec, r, base)
		p.Assign, p.Submitted, p.Tick, p.Held = s.assign, s.submitted, s.tick, s.held
		return p, err
	}
	s := newCapacity0(r, base)
	p.Assign, p.Submitted, p.Tick, p.Held, p.check = s.assign, s.submitted, s.tick, s.held, s.check
	return p, nil
}
