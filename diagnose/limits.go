package diagnose

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// Limit is the part of the time of all jobs that went by with one thing.
type Limit struct {
	What string
	Time time.Duration
}

const (
	limitSlots      = "slots"
	limitScheduler  = "scheduler"
	limitHeartbeats = "heartbeats"
	limitProcessors = "processors"
	limitData       = "reads, spills, merges and writes"
	limitNetwork    = "network"
	limitStartUp    = "start-up and end of tasks and jobs"
	limitTasks      = "given times of tasks"
	limitLost       = "lost attempts"
	limitOther      = "other"
)

// limitOf names the limit of each account; others are limitOther.
var limitOf = map[Account]string{
	slotHeld: limitSlots, schedulerLimit: limitScheduler, localityTime: limitScheduler, queueTime: limitScheduler, heartbeatTime: limitHeartbeats,
	cpuOwn: limitProcessors, workTime: limitProcessors, diskOwn: limitData, readTime: limitData, writeTime: limitData, sortSpill: limitData,
	mergeTime: limitData, waitsForSpill: limitData, networkOwn: limitNetwork, shuffleTime: limitNetwork, waitsForFetch: limitNetwork,
	startUp: limitStartUp, setUp: limitStartUp, cleanUp: limitStartUp, commitTime: limitStartUp, initialisation: limitStartUp, givenTime: limitTasks,
	lostAttempts: limitLost,
}

// Limits divides the time of those jobs of a simulated run that about accepts, nil: of
// all, the largest part first. It uses the ledger of each job.
func Limits(jobs iter.Seq[*workload.HistoryJob], q *model.WhatIf, offers []model.Offer, about func(id string) bool) ([]Limit, error) {
	o := DefaultOptions()
	b := keep(jobs, nil, nil)
	b.assignSlots()
	e := &evidence{b: b, r: newResources(nil), q: q, options: &o, offers: newOfferBook(offers)}
	l := e.newLedger()
	sums := map[string]time.Duration{}
	for _, j := range b.jobs {
		if about != nil && !about(j.id) {
			continue
		}
		steps, err := l.walk(j)
		if err != nil {
			return nil, err
		}
		for account, d := range accountSums(steps) {
			what := cmp.Or(limitOf[Account(account)], limitOther)
			if given := q.Fidelity <= model.Profile; given && (what == limitProcessors || what == limitData || what == limitNetwork) {
				what = limitTasks
			}
			sums[what] += d
		}
	}
	var list []Limit
	for _, what := range sortedKeys(sums) {
		if sums[what] > 0 {
			list = append(list, Limit{what, sums[what]})
		}
	}
	slices.SortStableFunc(list, func(a, b Limit) int { return cmp.Compare(b.Time, a.Time) })
	return list, nil
}
