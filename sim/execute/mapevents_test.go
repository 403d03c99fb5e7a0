package execute

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// shuffling is a tracker whose reduces wait for the maps of a few jobs.
type shuffling struct {
	interval engine.Time
	reduces  []*Attempt // in the order in which they get their slots
	fetcher  fetcher
}

func (s *shuffling) draw(t *rapid.T) {
	seconds := func(name string, low, high int) engine.Time {
		return engine.Time(rapid.IntRange(2*low, 2*high).Draw(t, name)) * Poll / 2 // many at one instant
	}
	s.interval = seconds("interval", 1, 12)
	jobs := make([]*Job, rapid.IntRange(1, 3).Draw(t, "jobs"))
	for i := range jobs {
		jobs[i] = &Job{ID: i, Spec: &workload.Job{Maps: workload.MapTasks{Count: 20}, Reduces: workload.ReduceTasks{Count: 4}}}
		now := engine.Time(0)
		for range rapid.IntRange(0, 19).Draw(t, "events") {
			now += seconds("between events", 0, 20)
			jobs[i].Events.add(now, 1)
		}
		if rapid.Bool().Draw(t, "all maps end") {
			now += seconds("last event", 1, 20)
			jobs[i].Events.add(now, 1)
			jobs[i].Events.SetComplete(now, true)
		}
	}
	now := engine.Time(0)
	for i := range rapid.IntRange(1, 4).Draw(t, "reduces") {
		now += seconds("between reduces", 0, 30)
		shuffle := seconds("shuffle", 0, 10)
		a := new(NewAttempt(rapid.SampledFrom(jobs).Draw(t, "job"), workload.Reduce, int32(i)))
		a.Assigned, a.shuffle, a.Started = now, shuffle, true
		a.Start, a.Begin, a.Finish = now, now+seconds("launch", 0, 3), engine.Never
		if rapid.IntRange(0, 3).Draw(t, "is killed") == 0 {
			a.Finish = a.Begin + seconds("killed after", 0, 90)
		}
		s.reduces = append(s.reduces, a)
	}
}

// play answers the requests before an instant, at most a step at a time.
func (s *shuffling) play(to, step engine.Time) {
	f, now := &s.fetcher, engine.Time(0)
	f.idle = true
	until := func(at engine.Time) {
		for now < at {
			now = min(at, now+step)
			f.advance(s.interval, now)
		}
	}
	for _, a := range s.reduces {
		until(a.Start)
		a.Job.wait(a)
		f.waiters, f.due = append(f.waiters, waiter{a: a}), 0
		if f.idle {
			f.push(request{at: a.Start})
		}
		f.push(request{at: a.Begin, a: a})
	}
	until(to)
}

// state lists what a fetcher knows, and its requests in the order of their answers.
func (f *fetcher) state() (list []string) {
	for _, w := range f.waiters {
		list = append(list, fmt.Sprintf("reduce %d has read %d", w.a.Task, w.seen))
	}
	for _, a := range f.copying {
		list = append(list, fmt.Sprintf("reduce %d copies", a.Task))
	}
	for _, c := range f.caches {
		list = append(list, fmt.Sprintf("%d events of job %d fetched at %v, all: %v", c.have, c.job.ID, c.last, c.complete))
	}
	slices.SortFunc(f.queue, func(a, b request) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
	for _, x := range f.queue {
		if x.a != nil {
			list = append(list, fmt.Sprintf("request of reduce %d at %v", x.a.Task, x.at))
		} else {
			list = append(list, fmt.Sprintf("round at %v, of the timer: %v, wake: %v", x.at, x.seq == f.timer, x.wake))
		}
	}
	return list
}

// Requests that repeat are jumped over. A tracker that is looked at every half
// second, between two requests of a child, has the same requests and events.
func TestRepeatedRequestsAreJumpedOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var once, often shuffling
		once.draw(t)
		often = shuffling{interval: once.interval}
		for _, a := range once.reduces {
			twin := *a
			often.reduces = append(often.reduces, &twin)
		}
		end := engine.At(time.Duration(rapid.IntRange(1, 300).Draw(t, "end")) * time.Second)
		once.play(end, end)
		often.play(end, Poll/2)
		if a, b := once.fetcher.state(), often.fetcher.state(); !slices.Equal(a, b) {
			t.Fatalf("interval %v, at %v:\n%q, and by half seconds\n%q", once.interval, end, a, b)
		}
	})
}
