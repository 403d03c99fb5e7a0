package sim

import (
	"slices"

	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
)

// fetcher is what a tracker knows of the completion events of one job. It asks
// the JobTracker for new ones when the child of a reduce has asked it in vain
// and the last fetch is an interval old, or an interval after its last round;
// children ask every second (TaskTracker.MapEventsFetcherThread,
// ReduceTask.GetMapEventsThread). Nothing of this is simulated event by event:
// it is worked out when the job's last map is known, or something changes.
type fetcher struct {
	job      *job
	last     engine.Time // last fetch
	round    engine.Time // last look at whether to fetch
	have     int32       // events fetched
	complete bool        // they tell of every map
	waiters  []waiter
}

// waiter is the child of a reduce that does not know all maps yet.
type waiter struct {
	a    *attempt
	asks engine.Time // next
	seen int32       // events
}

// joinShuffle starts the wait of a reduce for its maps. The first reduce of a
// job on a tracker makes it fetch at once.
func (t *taskTracker) joinShuffle(jt *jobTracker, a *attempt) {
	t.fetchers = slices.DeleteFunc(t.fetchers, func(f *fetcher) bool { return f.job.State == scheduler.Done })
	f := t.fetcherOf(a.job)
	if f == nil {
		f = &fetcher{job: a.job, last: a.start, round: a.start}
		e := &a.job.events
		if a.start == jt.eng.Now() {
			f.have, f.complete = e.total(), e.complete()
		} else {
			f.have, f.complete = e.before(a.start), e.completeBefore(a.start)
		}
		t.fetchers = append(t.fetchers, f)
	} else {
		f.advance(t, a.start)
	}
	f.waiters = append(f.waiters, waiter{a: a, asks: a.begin})
	a.job.shuffling = append(a.job.shuffling, a)
	f.resolve(jt, t)
}

// leaveShuffle ends the wait of a reduce that is killed or fails.
func (t *taskTracker) leaveShuffle(jt *jobTracker, a *attempt) {
	f := t.fetcherOf(a.job)
	if f == nil || !f.waits(a) {
		return
	}
	f.advance(t, a.finish)
	if f.waits(a) {
		f.dismiss(a)
		f.resolve(jt, t)
	}
}

func (t *taskTracker) fetcherOf(j *job) *fetcher {
	for _, f := range t.fetchers {
		if f.job == j {
			return f
		}
	}
	return nil
}

func (f *fetcher) waits(a *attempt) bool {
	return slices.ContainsFunc(f.waiters, func(w waiter) bool { return w.a == a })
}

func (f *fetcher) dismiss(a *attempt) {
	f.waiters = slices.DeleteFunc(f.waiters, func(w waiter) bool { return w.a == a })
	list := f.job.shuffling
	if i := slices.Index(list, a); i >= 0 {
		last := len(list) - 1
		list[i], list[last] = list[last], nil
		f.job.shuffling = list[:last]
	}
}

// next is the instant of what the fetcher or a child does next, and which child
// that is, or -1.
func (f *fetcher) next(t *taskTracker) (engine.Time, int) {
	at, who := f.round+t.interval, -1
	for i := range f.waiters {
		if f.waiters[i].asks <= at {
			if who < 0 || f.waiters[i].asks < at {
				at, who = f.waiters[i].asks, i
			}
		}
	}
	return at, who
}

// step does what comes next. It reports whether a child now knows all maps.
func (f *fetcher) step(t *taskTracker, at engine.Time, who int) bool {
	if who >= 0 {
		w := &f.waiters[who]
		w.asks += poll
		if f.complete {
			w.seen = f.have
			return true
		}
		if w.seen != f.have {
			w.seen = f.have
			return false
		}
	}
	f.round = at
	if at-f.last >= t.interval {
		f.last = at
		f.have = f.job.events.before(at)
		f.complete = f.job.events.completeBefore(at)
	}
	return false
}

// advance brings the fetcher up to an instant. Children that know all maps by
// then wait no more.
func (f *fetcher) advance(t *taskTracker, to engine.Time) {
	for len(f.waiters) > 0 {
		at, who := f.next(t)
		if at > to {
			return
		}
		if f.step(t, at, who) {
			f.dismiss(f.waiters[who].a)
		}
	}
	f.round = max(f.round, to-(to-f.round)%t.interval)
}

// resolve works out when the children that wait will know all maps, as far as
// that is settled by what has happened so far.
func (f *fetcher) resolve(jt *jobTracker, t *taskTracker) {
	trial := *f
	trial.waiters = slices.Clone(f.waiters)
	for i := range trial.waiters {
		jt.replan(trial.waiters[i].a, engine.Never)
	}
	for len(trial.waiters) > 0 {
		at, who := trial.next(t)
		if trial.step(t, at, who) {
			a := trial.waiters[who].a
			trial.waiters = slices.Delete(trial.waiters, who, who+1)
			jt.replan(a, at)
			t.reportable(min(a.pending, a.finish))
			continue
		}
		if at > jt.eng.Now() && !trial.complete && !f.job.events.complete() {
			break // nobody will learn more until more maps end
		}
	}
	jt.rearm(t)
}

// resolveShuffles follows a change in whether the job's maps are all known.
func (j *job) resolveShuffles() {
	now := j.jt.eng.Now()
	for _, a := range slices.Clone(j.shuffling) {
		t := &j.jt.trackers[a.tracker]
		if f := t.fetcherOf(j); f != nil && f.waits(a) {
			f.advance(t, now)
			f.resolve(j.jt, t)
		}
	}
}
