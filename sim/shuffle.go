package sim

import (
	"slices"

	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// fetcher is the thread of a tracker that asks the JobTracker for completion
// events on behalf of the reduces that still wait for maps
// (TaskTracker.MapEventsFetcherThread), with the children of those reduces,
// which ask it every second (ReduceTask.GetMapEventsThread).
//
// In a round the thread fetches for each job whose last fetch is an interval
// old, and sets a timer for the next round an interval later. A child that
// finds nothing new makes it do a round at once. The first reduce on an idle
// tracker does so too, without touching a timer that is left.
//
// None of this is simulated event by event as time goes by: it is replayed when
// the outcome matters, that is when the last map of a job is known, or when
// something changes.
type fetcher struct {
	queue   []turn // unordered; turns at one instant come in the order of seq
	seq     int32
	timer   int32 // seq of the round that the last timer set will start; 0: none
	woken   bool  // a child has asked for a round that has not come yet
	idle    bool  // the last round found nobody waiting
	caches  []cache
	waiters []waiter // reduces that do not know all maps, with or without a slot
}

// turn is a child asking (a is set) or a round.
type turn struct {
	at   engine.Time
	seq  int32
	wake bool
	a    *attempt
}

// cache is what has been fetched for one job.
type cache struct {
	job      *job
	last     engine.Time
	have     int32 // events
	complete bool  // they tell of every map
}

type waiter struct {
	a    *attempt
	seen int32 // events the child has read
}

// expectReduce notes a reduce that has been given to the tracker.
func (t *taskTracker) expectReduce(a *attempt) {
	a.shufflingAt = int32(len(a.job.shuffling))
	a.job.shuffling = append(a.job.shuffling, a)
	if a.job.jt.release.Ideal {
		return // it knows what the JobTracker knows
	}
	if t.fetch == nil {
		t.fetch = &fetcher{idle: true}
	}
	t.fetch.waiters = append(t.fetch.waiters, waiter{a: a})
}

// joinShuffle starts the wait of a reduce that has got its slot.
func (t *taskTracker) joinShuffle(jt *jobTracker, a *attempt) {
	if jt.release.Ideal {
		if a.job.events.complete() {
			a.job.unlist(a)
			jt.replan(a, a.begin)
		}
		return
	}
	f := t.fetch
	f.advance(t, a.start)
	f.caches = slices.DeleteFunc(f.caches, func(c cache) bool { return c.job.State == scheduler.Done })
	if f.idle {
		f.push(turn{at: a.start})
	}
	f.push(turn{at: a.begin, a: a})
	f.resolve(jt, t)
}

// leaveShuffle ends the wait of a reduce that ends before it knows all maps.
func (t *taskTracker) leaveShuffle(jt *jobTracker, a *attempt) {
	f := t.fetch
	if jt.release.Ideal {
		a.job.unlist(a)
		return
	}
	if f == nil || !f.waits(a) {
		return
	}
	f.advance(t, a.finish)
	if f.waits(a) {
		f.dismiss(a)
		f.queue = slices.DeleteFunc(f.queue, func(x turn) bool { return x.a == a })
		f.resolve(jt, t)
	}
}

// eventsRead is how many events the child of a reduce has read, while it waits
// for more.
func (a *attempt) eventsRead(t *taskTracker, now engine.Time) (int32, bool) {
	if a.job.jt.release.Ideal {
		return a.job.events.upTo(now), a.known == engine.Never
	}
	t.fetch.advance(t, now)
	if i := t.fetch.waiter(a); i >= 0 {
		return t.fetch.waiters[i].seen, true
	}
	return 0, false
}

func (f *fetcher) waits(a *attempt) bool { return f.waiter(a) >= 0 }

func (f *fetcher) waiter(a *attempt) int {
	return slices.IndexFunc(f.waiters, func(w waiter) bool { return w.a == a })
}

// dismiss takes a reduce off the list of those that wait.
func (f *fetcher) dismiss(a *attempt) {
	i := f.waiter(a)
	f.waiters = slices.Delete(f.waiters, i, i+1)
	a.job.unlist(a)
}

// unlist takes a reduce off those that wait for maps.
func (j *job) unlist(a *attempt) {
	i, last := int(a.shufflingAt), len(j.shuffling)-1
	if i > last || j.shuffling[i] != a {
		return // it was done with all others of its job
	}
	j.shuffling[i], j.shuffling[last] = j.shuffling[last], nil
	if i < last {
		j.shuffling[i].shufflingAt = a.shufflingAt
	}
	j.shuffling = j.shuffling[:last]
}

func (f *fetcher) push(next turn) int32 {
	f.seq++
	next.seq = f.seq
	f.queue = append(f.queue, next)
	return f.seq
}

// pop takes the next turn before an instant.
func (f *fetcher) pop(before engine.Time) (turn, bool) {
	best := -1
	for i, x := range f.queue {
		if x.at < before && (best < 0 || x.at < f.queue[best].at || x.at == f.queue[best].at && x.seq < f.queue[best].seq) {
			best = i
		}
	}
	if best < 0 {
		return turn{}, false
	}
	next := f.queue[best]
	last := len(f.queue) - 1
	f.queue[best] = f.queue[last]
	f.queue = f.queue[:last]
	return next, true
}

// take plays one turn and returns the reduce that now knows all maps, if any.
func (f *fetcher) take(t *taskTracker, x turn) *attempt {
	if x.a == nil {
		if x.wake {
			f.woken = false
		}
		f.doRound(t, x.at)
		return nil
	}
	i := f.waiter(x.a)
	if i < 0 || x.a.finish <= x.at {
		return nil
	}
	w := &f.waiters[i]
	news := false
	if c := f.cacheOf(x.a.job); c != nil {
		news = w.seen != c.have
		w.seen = c.have
		if c.complete {
			return x.a
		}
	}
	if x.a.job.Tasks[workload.Map] == 0 {
		return x.a
	}
	if !news && !f.woken {
		f.woken = true
		f.queue = slices.DeleteFunc(f.queue, func(x turn) bool { return x.seq == f.timer })
		f.timer = 0
		f.push(turn{at: x.at, wake: true})
	}
	f.push(turn{at: x.at + poll, a: x.a})
	return nil
}

func (f *fetcher) doRound(t *taskTracker, now engine.Time) {
	f.idle = true
	for i := range f.waiters {
		a := f.waiters[i].a
		if a.assigned > now || a.finish <= now {
			continue
		}
		f.idle = false
		c := f.cacheOf(a.job)
		if c == nil {
			f.caches = append(f.caches, cache{job: a.job, last: -engine.Never / 2})
			c = &f.caches[len(f.caches)-1]
		}
		if now-c.last >= t.interval {
			c.last = now
			c.have, c.complete = a.job.events.upTo(now), a.job.events.completeAt(now)
		}
	}
	if !f.idle {
		f.timer = f.push(turn{at: now + t.interval})
	}
}

func (f *fetcher) cacheOf(j *job) *cache {
	for i := range f.caches {
		if f.caches[i].job == j {
			return &f.caches[i]
		}
	}
	return nil
}

// advance replays what came before an instant. Reduces that know all maps by
// then wait no more.
func (f *fetcher) advance(t *taskTracker, to engine.Time) {
	f.skip(t, to)
	for {
		x, ok := f.pop(to)
		if !ok {
			return
		}
		if a := f.take(t, x); a != nil {
			f.dismiss(a)
		}
	}
}

// skip passes over a time in which nothing but the same happens again and
// again: the reduces of one job wait, the thread has one timer, which the
// children keep resetting, and it fetches at the first ask that comes an
// interval after the last fetch.
func (f *fetcher) skip(t *taskTracker, to engine.Time) {
	if len(f.caches) != 1 || len(f.waiters) == 0 || t.interval < 3*poll || f.woken || len(f.queue) != len(f.waiters)+1 {
		return
	}
	c := &f.caches[0]
	if c.complete || c.job.events.completeAt(to-1) || to-c.last < 2*t.interval {
		return
	}
	for _, x := range f.queue {
		if x.a == nil && x.seq != f.timer || x.a != nil && (x.a.finish < engine.Never || x.a.job != c.job) {
			return
		}
	}
	for {
		// The ask at which the thread fetches next.
		due, next := c.last+t.interval, engine.Never
		for _, x := range f.queue {
			if x.a != nil {
				next = min(next, firstAsk(x.at, due))
			}
		}
		if next+t.interval >= to {
			break
		}
		c.last = next
	}
	c.have = c.job.events.upTo(c.last)
	for i := range f.waiters {
		f.waiters[i].seen = c.have
	}
	// Every child has asked since, so that all is known but what comes next.
	at := c.last + poll
	for i := range f.queue {
		x := &f.queue[i]
		if x.a != nil {
			x.at = firstAsk(x.at, at+1)
		} else {
			x.at = at + t.interval
		}
	}
	slices.SortFunc(f.queue, func(a, b turn) int {
		if a.at != b.at {
			return int(max(-1, min(1, a.at-b.at)))
		}
		return int(a.seq - b.seq)
	})
	for i := range f.queue {
		timer := f.queue[i].a == nil
		f.seq++
		f.queue[i].seq = f.seq
		if timer {
			f.timer = f.seq
		}
	}
}

// firstAsk is the first of the asks at, at+1s, ... that is not before due.
func firstAsk(at, due engine.Time) engine.Time {
	if at >= due {
		return at
	}
	return at + (due-at+poll-1)/poll*poll
}

// resolve works out when the reduces that wait will know all maps, as far as
// that is settled by what has happened so far.
func (f *fetcher) resolve(jt *jobTracker, t *taskTracker) {
	trial := &jt.trial
	trial.copy(f)
	for _, w := range f.waiters {
		if w.a.started {
			jt.replan(w.a, engine.Never)
		}
	}
	for trial.hopeful() {
		x, ok := trial.pop(engine.Never)
		if !ok {
			break
		}
		if a := trial.take(t, x); a != nil {
			i := trial.waiter(a)
			trial.waiters = slices.Delete(trial.waiters, i, i+1)
			jt.replan(a, x.at)
			t.reportable(min(a.pending, a.finish))
		}
	}
	jt.rearm(t)
}

// hopeful reports whether somebody who waits will know all maps without any
// further map ending.
func (f *fetcher) hopeful() bool {
	for _, w := range f.waiters {
		asks := func(x turn) bool { return x.a == w.a && x.at < w.a.finish }
		if !w.a.started || !slices.ContainsFunc(f.queue, asks) {
			continue // or it fails before it asks again
		}
		if w.a.job.events.complete() || w.a.job.Tasks[workload.Map] == 0 {
			return true
		}
		if c := f.cacheOf(w.a.job); c != nil && c.complete {
			return true
		}
	}
	return false
}

func (f *fetcher) copy(from *fetcher) {
	queue, caches, waiters := f.queue[:0], f.caches[:0], f.waiters[:0]
	*f = *from
	f.queue = append(queue, from.queue...)
	f.caches = append(caches, from.caches...)
	f.waiters = append(waiters, from.waiters...)
}

// resolveShuffles follows a change in whether the job's maps are all known.
func (j *job) resolveShuffles() {
	now := j.jt.eng.Now()
	if j.jt.release.Ideal {
		if j.events.complete() {
			for _, a := range j.shuffling {
				t := &j.jt.trackers[a.tracker]
				j.jt.replan(a, max(now, a.begin))
				t.reportable(min(a.pending, a.finish))
				j.jt.rearm(t)
			}
			clear(j.shuffling)
			j.shuffling = j.shuffling[:0]
		}
		return
	}
	last := int32(-1)
	for i := len(j.shuffling) - 1; i >= 0; i = min(i, len(j.shuffling)) - 1 {
		a := j.shuffling[i]
		if a.tracker == last {
			continue // two reduces of a job on a tracker mostly come together
		}
		last = a.tracker
		t := &j.jt.trackers[a.tracker]
		t.fetch.advance(t, now)
		t.fetch.resolve(j.jt, t)
	}
}
