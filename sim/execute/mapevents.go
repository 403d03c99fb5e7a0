package execute

import (
	"cmp"
	"slices"

	"github.com/slotwave/slotwave/sim/engine"
)

// mapEvents decides when the children of reduces learn of map outputs.
type mapEvents interface {
	expect(a *Attempt) // its node has been assigned a
	join(a *Attempt)   // a has its slot
	leave(a *Attempt)  // a ends, or will never start
	drop(a *Attempt)   // its node is lost
	// copied is called when a reduce that runs on devices ends its shuffle.
	copied(a *Attempt)
	// read returns how many events the child of a has read while it waits for
	// more.
	read(a *Attempt, now engine.Time) (events int32, waits bool)
	// resolve is called when the number of unfinished maps of a job reaches
	// or leaves 0.
	resolve(j *Job)
}

// reducer is called when it is known when the child of a reduce knows all maps,
// and with engine.Never when that becomes open again.
type reducer interface {
	known(a *Attempt, at engine.Time)
}

func newMapEvents(c *common, r reducer) mapEvents {
	switch {
	case c.protocol.Master:
		return &masterEvents{instantEvents{c, r}}
	case c.protocol.Poll:
		return &polledEvents{c: c, reducer: r, fetchers: make([]*fetcher, len(c.cluster.Nodes))}
	}
	return &instantEvents{c, r}
}

// instantEvents makes children know at once what the JobTracker knows.
type instantEvents struct {
	c       *common
	reducer reducer
}

func (e *instantEvents) expect(a *Attempt) { a.Job.wait(a) }
func (e *instantEvents) leave(a *Attempt)  { a.Job.dismiss(a) }
func (e *instantEvents) drop(a *Attempt)   { a.Job.dismiss(a) }
func (e *instantEvents) copied(*Attempt)   {}

func (e *instantEvents) join(a *Attempt) {
	if a.Job.Events.Complete() {
		a.Job.dismiss(a)
		e.reducer.known(a, a.Begin)
	}
}

func (e *instantEvents) read(a *Attempt, now engine.Time) (int32, bool) {
	return a.Job.Events.upTo(now), a.Known == engine.Never
}

func (e *instantEvents) resolve(j *Job) {
	if !j.Events.Complete() {
		return
	}
	now := e.c.eng.Now()
	for _, a := range j.waiting {
		e.reducer.known(a, max(now, a.Begin))
		e.c.host.Report(a.Node, min(a.Pending, a.Finish))
	}
	clear(j.waiting)
	j.waiting = j.waiting[:0]
}

// masterEvents makes children ask the master of their job: when they begin, and after
// each Poll (YARN's EventFetcher). A reduce that will know all maps at its next poll
// waits until then, since a map may be lost before.
type masterEvents struct{ instantEvents }

func (e *masterEvents) join(a *Attempt) {
	if a.Job.Events.Complete() || a.Job.maps() == 0 {
		e.reducer.known(a, a.Begin)
	}
}

func (e *masterEvents) read(a *Attempt, now engine.Time) (int32, bool) {
	if now < a.Begin {
		return 0, true
	}
	return a.Job.Events.upTo(now - (now-a.Begin)%Poll), a.Known > now
}

func (e *masterEvents) resolve(j *Job) {
	now, complete := e.c.eng.Now(), j.Events.Complete()
	for i := len(j.waiting) - 1; i >= 0; i-- {
		switch a := j.waiting[i]; {
		case a.Known < now:
			j.dismiss(a)
		case !a.Started:
		case complete:
			e.reducer.known(a, firstAsk(a.Begin, now))
			e.c.host.Report(a.Node, min(a.Pending, a.Finish))
		case a.Known != engine.Never:
			e.reducer.known(a, engine.Never)
			e.c.host.Report(a.Node, engine.Never)
		}
	}
}

// polledEvents makes children ask their trackers, and trackers the JobTracker.
type polledEvents struct {
	c        *common
	reducer  reducer
	fetchers []*fetcher // by node; nil until the first reduce comes
	trial    fetcher
}

func (e *polledEvents) expect(a *Attempt) {
	a.Job.wait(a)
	f := e.fetchers[a.Node]
	if f == nil {
		f = &fetcher{idle: true}
		e.fetchers[a.Node] = f
	}
	f.waiters = append(f.waiters, waiter{a: a})
	f.due = min(f.due, a.Assigned)
}

func (e *polledEvents) join(a *Attempt) {
	f := e.fetchers[a.Node]
	f.advance(e.interval(a), a.Start)
	f.caches = slices.DeleteFunc(f.caches, func(c eventCache) bool { return c.job.ended })
	f.due = 0
	if f.idle {
		f.push(request{at: a.Start})
	}
	f.push(request{at: a.Begin, a: a})
	e.settle(a.Node)
}

func (e *polledEvents) leave(a *Attempt) {
	f := e.fetchers[a.Node]
	if f == nil || !f.counts(a) {
		return
	}
	f.advance(e.interval(a), a.Finish)
	if f.waits(a) {
		f.dismiss(a)
		f.queue = slices.DeleteFunc(f.queue, func(x request) bool { return x.a == a })
		e.settle(a.Node)
	} else if f.forget(a) && a.Finish < a.ShuffleEnd() {
		e.settle(a.Node)
	}
}

func (e *polledEvents) drop(a *Attempt) {
	f := e.fetchers[a.Node]
	if f == nil || f.forget(a) {
		return
	}
	if f.waits(a) {
		f.dismiss(a)
	}
}

func (e *polledEvents) copied(a *Attempt) {
	if f := e.fetchers[a.Node]; f.counts(a) {
		f.advance(e.interval(a), e.c.eng.Now())
		if f.forget(a) {
			e.settle(a.Node)
		}
	}
}

func (e *polledEvents) read(a *Attempt, now engine.Time) (int32, bool) {
	f := e.fetchers[a.Node]
	f.advance(e.interval(a), now)
	if i := f.waiter(a); i >= 0 {
		return f.waiters[i].seen, true
	}
	return 0, false
}

func (e *polledEvents) resolve(j *Job) {
	now, last := e.c.eng.Now(), int32(-1)
	for i := len(j.waiting) - 1; i >= 0; i = min(i, len(j.waiting)) - 1 {
		a := j.waiting[i]
		if a.Node == last {
			continue // two reduces of a job on one tracker mostly come together
		}
		last = a.Node
		e.fetchers[last].advance(e.interval(a), now)
		e.settle(last)
	}
}

func (e *polledEvents) interval(a *Attempt) engine.Time { return e.c.host.FetchInterval(a.Node) }

// settle computes when the reduces that wait on a node will know all maps, if
// that is already decided.
func (e *polledEvents) settle(node int32) {
	f, trial, first := e.fetchers[node], &e.trial, engine.Never
	for _, w := range f.waiters {
		if w.a.Started && w.a.Known < engine.Never {
			e.reducer.known(w.a, engine.Never)
		}
	}
	hopeful := f.hopeful()
	if hopeful {
		trial.copy(f)
	}
	interval := e.c.host.FetchInterval(node)
	for ; hopeful; hopeful = trial.hopeful() {
		x, ok := trial.pop(engine.Never)
		if !ok {
			break
		}
		if a := trial.take(interval, x, engine.Never); a != nil {
			i := trial.waiter(a)
			trial.waiters = slices.Delete(trial.waiters, i, i+1)
			e.reducer.known(a, x.at)
			trial.copying = append(trial.copying, a)
			first = min(first, a.Pending, a.Finish)
		}
	}
	if first < engine.Never {
		e.c.host.Report(node, first)
	}
}

// fetcher is the tracker's thread that asks the JobTracker for completion
// events while reduces wait for maps (TaskTracker.MapEventsFetcherThread). It
// includes the children of those reduces, which ask it every second
// (ReduceTask.GetMapEventsThread).
//
// In a round the thread fetches events for each job that has a reduce in its
// shuffle and whose last fetch is an interval ago. A reduce counts until its
// shuffle ends, even if it knows all maps (TaskTracker.reducesInShuffle). The
// thread then sets a timer for the next round, an interval later. A
// child that finds nothing new triggers a round at once. The first reduce on an
// idle tracker does so too, but leaves the timer as it is.
//
// None of this is simulated event by event. It is replayed when the outcome
// matters: when the last map of a job is known, or when something changes.
type fetcher struct {
	queue   []request // unordered; requests at one instant come in the order of seq
	seq     int32
	timer   int32 // seq of the round that the last timer will start; 0: none
	woken   bool  // a child has triggered a round that has not started yet
	idle    bool  // in the last round no reduce was in its shuffle
	caches  []eventCache
	waiters []waiter    // reduces that do not know all maps, with or without a slot
	copying []*Attempt  // reduces that know all maps and still copy
	due     engine.Time // a round before it fetches nothing; 0: not known
	every   engine.Time // the interval with which due was computed
	asked   []*request  // memory for pass
}

// request is the request of a child (a is set) or a round of the thread.
type request struct {
	at   engine.Time
	seq  int32
	wake bool
	a    *Attempt
}

// eventCache holds the events fetched for one job.
type eventCache struct {
	job      *Job
	last     engine.Time
	have     int32 // events
	complete bool  // the fetched events name every map
}

type waiter struct {
	a    *Attempt
	seen int32 // events the child has read
}

func (f *fetcher) waits(a *Attempt) bool { return f.waiter(a) >= 0 }

func (f *fetcher) waiter(a *Attempt) int {
	return slices.IndexFunc(f.waiters, func(w waiter) bool { return w.a == a })
}

// counts reports whether the thread may count a reduce.
func (f *fetcher) counts(a *Attempt) bool { return f.waits(a) || slices.Contains(f.copying, a) }

// forget removes a reduce from those that copy, and reports whether it was one.
func (f *fetcher) forget(a *Attempt) bool {
	i := slices.Index(f.copying, a)
	if i < 0 {
		return false
	}
	f.copying = slices.Delete(f.copying, i, i+1)
	return true
}

// dismiss removes a reduce from those that wait.
func (f *fetcher) dismiss(a *Attempt) {
	i := f.waiter(a)
	f.waiters = slices.Delete(f.waiters, i, i+1)
	a.Job.dismiss(a)
}

func (f *fetcher) push(next request) int32 {
	f.seq++
	next.seq = f.seq
	f.queue = append(f.queue, next)
	return f.seq
}

// pop removes the next request before an instant.
func (f *fetcher) pop(before engine.Time) (request, bool) {
	best := -1
	for i := range f.queue {
		if x := &f.queue[i]; x.at < before || best >= 0 && x.at == before && x.seq < f.queue[best].seq {
			best, before = i, x.at
		}
	}
	if best < 0 {
		return request{}, false
	}
	next := f.queue[best]
	last := len(f.queue) - 1
	if best < last {
		f.queue[best] = f.queue[last]
	}
	f.queue = f.queue[:last]
	return next, true
}

// take answers one request and returns the reduce that now knows all maps, if any.
// Requests that change nothing, before an instant, may be answered with it.
func (f *fetcher) take(interval engine.Time, x request, to engine.Time) *Attempt {
	if x.a == nil {
		if x.wake {
			f.woken = false
		}
		if x.seq == f.timer && len(f.queue) == 0 {
			x.at = f.lastAlike(interval, x.at, to)
		}
		f.doRound(interval, x.at)
		f.pass(interval, x.at, to)
		return nil
	}
	i := f.waiter(x.a)
	if i < 0 || x.a.Finish <= x.at {
		return nil
	}
	w := &f.waiters[i]
	news := false
	if c := f.cacheOf(x.a.Job); c != nil {
		news = w.seen != c.have
		w.seen = c.have
		if c.complete {
			return x.a
		}
	}
	if x.a.Job.maps() == 0 {
		return x.a
	}
	if !news && !f.woken {
		f.clearTimer()
		if f.alone(x.at) {
			f.seq++ // of the request for a round, which is answered at once
			f.push(request{at: x.at + Poll, a: x.a})
			if x.at < f.due && f.every == interval {
				f.idle, f.timer = false, f.push(request{at: x.at + interval})
				f.pass(interval, x.at, to)
			} else {
				f.doRound(interval, x.at)
			}
			return nil
		}
		f.woken = true
		f.push(request{at: x.at, wake: true})
	}
	f.push(request{at: x.at + Poll, a: x.a})
	return nil
}

// pass jumps over the requests before an instant if they repeat: children that find
// nothing new ask every second, and each of them resets the timer for the next
// round, which fetches nothing yet. Rounds of earlier timers are not jumped over.
func (f *fetcher) pass(interval, now, to engine.Time) {
	to = min(to, f.due)
	for _, x := range f.queue {
		if x.a == nil && x.seq != f.timer {
			to = min(to, x.at)
		}
	}
	if interval <= Poll || interval != f.every || to <= now+Poll || to == engine.Never {
		return
	}
	for _, x := range f.queue {
		if x.a != nil && (x.at <= now || x.at > now+Poll || !f.asksInVain(x.a, to)) {
			return
		}
	}
	asked := f.asked[:0]
	timer := 0
	for i := range f.queue {
		x := &f.queue[i]
		if x.a == nil {
			if x.seq == f.timer {
				timer = i
			}
			continue
		}
		if next := firstAsk(x.at, to); next > x.at {
			x.at = next
			asked = append(asked, x)
		}
	}
	slices.SortFunc(asked, func(a, b *request) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
	for _, x := range asked {
		f.seq++
		x.seq = f.seq
	}
	if n := len(asked); n > 0 {
		f.seq++
		f.queue[timer], f.timer = request{at: asked[n-1].at - Poll + interval, seq: f.seq}, f.seq
	}
	f.asked = asked
}

// lastAlike returns the last of the rounds before an instant that follow each other by
// the timer alone, from one on, and count the same reduces. Each fetches all that there
// is, so only the last matters.
func (f *fetcher) lastAlike(interval, now, to engine.Time) engine.Time {
	until := func(at engine.Time) {
		if now < at {
			to = min(to, at)
		}
	}
	for _, w := range f.waiters {
		until(w.a.Assigned)
		until(w.a.Finish)
	}
	for _, a := range f.copying {
		until(min(a.ShuffleEnd(), a.Finish))
	}
	if to == engine.Never {
		return now
	}
	return now + (to-1-now)/interval*interval
}

// asksInVain reports whether the child of a waiting reduce lives until an instant and
// would find nothing new.
func (f *fetcher) asksInVain(a *Attempt, to engine.Time) bool {
	if a.Finish < to {
		return false
	}
	i, c := f.waiter(a), f.cacheOf(a.Job)
	return i >= 0 && c != nil && !c.complete && f.waiters[i].seen == c.have
}

// clearTimer removes the timer for the next round.
func (f *fetcher) clearTimer() {
	for i, x := range f.queue {
		if x.seq == f.timer {
			last := len(f.queue) - 1
			f.queue[i] = f.queue[last]
			f.queue = f.queue[:last]
			break
		}
	}
	f.timer = 0
}

// alone reports whether no request is left at an instant.
func (f *fetcher) alone(at engine.Time) bool {
	for _, x := range f.queue {
		if x.at == at {
			return false
		}
	}
	return true
}

func (f *fetcher) doRound(interval engine.Time, now engine.Time) {
	f.idle = true
	f.due, f.every = engine.Never, interval
	for i := range f.waiters {
		switch a := f.waiters[i].a; {
		case now < a.Assigned:
			f.due = min(f.due, a.Assigned)
		case now < a.Finish:
			f.fetch(a.Job, interval, now)
		}
	}
	for _, a := range f.copying {
		if now < min(a.ShuffleEnd(), a.Finish) {
			f.fetch(a.Job, interval, now)
		}
	}
	if !f.idle {
		f.timer = f.push(request{at: now + interval})
	}
}

// fetch asks the JobTracker for the events of a job that has a reduce in its
// shuffle, if the last fetch is an interval ago.
func (f *fetcher) fetch(j *Job, interval, now engine.Time) {
	f.idle = false
	c := f.cacheOf(j)
	if c == nil {
		f.caches = append(f.caches, eventCache{job: j, last: -engine.Never / 2})
		c = &f.caches[len(f.caches)-1]
	}
	if now-c.last >= interval {
		c.last = now
		c.have, c.complete = j.Events.upTo(now), j.Events.completeAt(now)
	}
	f.due = min(f.due, c.last+interval)
}

func (f *fetcher) cacheOf(j *Job) *eventCache {
	for i := range f.caches {
		if f.caches[i].job == j {
			return &f.caches[i]
		}
	}
	return nil
}

// advance replays the requests before an instant. The reduces that know all maps
// by then wait no more.
func (f *fetcher) advance(interval engine.Time, to engine.Time) {
	for {
		x, ok := f.pop(to)
		if !ok {
			return
		}
		if a := f.take(interval, x, to); a != nil {
			f.dismiss(a)
			f.copying = append(f.copying, a)
			f.due = 0
		}
	}
}

// firstAsk returns the first of the requests at, at+1s, ... that is not before
// due.
func firstAsk(at, due engine.Time) engine.Time {
	if at >= due {
		return at
	}
	return at + (due-at+Poll-1)/Poll*Poll
}

// hopeful reports whether a waiting reduce will know all maps without another
// map ending.
func (f *fetcher) hopeful() bool {
	for _, w := range f.waiters {
		asks := func(x request) bool { return x.a == w.a && x.at < w.a.Finish }
		if !w.a.Started || !slices.ContainsFunc(f.queue, asks) {
			continue // otherwise it fails before it asks again
		}
		if w.a.Job.Events.Complete() || w.a.Job.maps() == 0 {
			return true
		}
		if c := f.cacheOf(w.a.Job); c != nil && c.complete {
			return true
		}
	}
	return false
}

func (f *fetcher) copy(from *fetcher) {
	queue, caches, waiters, copying, asked := f.queue[:0], f.caches[:0], f.waiters[:0], f.copying[:0], f.asked
	*f = *from
	f.asked = asked
	f.queue = append(queue, from.queue...)
	f.caches = append(caches, from.caches...)
	f.waiters = append(waiters, from.waiters...)
	f.copying = append(copying, from.copying...)
}
