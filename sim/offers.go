package sim

import (
	"math"
	"math/bits"

	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// Heartbeats that would neither report nor be given anything are not simulated.
// A heartbeat is simulated because its tracker has something to report (it then
// has set its own timer), or because it has a free slot and there is work: of
// these only the next one is looked up, in rings of the trackers with free
// slots ordered by the phase of their heartbeats.

// offers finds the next tracker that can be offered work.
type offers struct {
	rings [2]ring // by type of slot
}

// ring holds trackers in the order of their heartbeats within one interval.
type ring struct {
	interval engine.Time
	heads    []int32  // by bucket of phases: first tracker, or -1
	used     []uint64 // buckets that are not empty
	beads    []bead   // by tracker
}

// bead is one tracker's place in a ring.
type bead struct {
	phase engine.Time
	rank  uint32 // of those at one phase the lower comes first
	next  int32  // the following one in its bucket, or -1
	in    bool
}

func (b *bead) before(phase engine.Time, rank uint32) bool {
	return b.phase < phase || b.phase == phase && b.rank < rank
}

func newRing(trackers int, interval engine.Time) ring {
	buckets := 64
	for buckets < trackers {
		buckets *= 2
	}
	r := ring{
		interval: interval,
		heads:    make([]int32, buckets),
		used:     make([]uint64, buckets/64),
		beads:    make([]bead, trackers),
	}
	for i := range r.heads {
		r.heads[i] = -1
	}
	return r
}

func (r *ring) bucket(phase engine.Time) int {
	hi, lo := bits.Mul64(uint64(phase), uint64(len(r.heads)))
	q, _ := bits.Div64(hi, lo, uint64(r.interval))
	return int(q)
}

func (r *ring) add(id int32, phase engine.Time, rank uint32) {
	own := &r.beads[id]
	if own.in {
		if own.phase == phase && own.rank == rank {
			return
		}
		r.remove(id)
	}
	b := r.bucket(phase)
	at := &r.heads[b]
	for *at >= 0 && r.beads[*at].before(phase, rank) {
		at = &r.beads[*at].next
	}
	*own = bead{phase, rank, *at, true}
	*at = id
	r.used[b/64] |= 1 << (b % 64)
}

func (r *ring) remove(id int32) {
	own := &r.beads[id]
	if !own.in {
		return
	}
	own.in = false
	b := r.bucket(own.phase)
	at := &r.heads[b]
	for *at != id {
		at = &r.beads[*at].next
	}
	*at = own.next
	if r.heads[b] < 0 {
		r.used[b/64] &^= 1 << (b % 64)
	}
}

// after finds the tracker whose heartbeat comes next after the present turn, and
// when.
func (r *ring) after(jt *jobTracker) (int32, engine.Time) {
	now := jt.eng.Now()
	phase := now % r.interval
	b := r.bucket(phase)
	for i := r.heads[b]; i >= 0; i = r.beads[i].next {
		if at := r.beads[i].phase; at > phase || at == phase && !jt.hasBeaten(&jt.trackers[i]) {
			return i, now + at - phase
		}
	}
	i := r.nextUsed(b)
	if i < 0 {
		return -1, engine.Never
	}
	ahead := r.beads[i].phase - phase
	if ahead <= 0 {
		ahead += r.interval
	}
	return i, now + ahead
}

// nextUsed is the first tracker of the next bucket in use after b, round the
// ring and back to b itself.
func (r *ring) nextUsed(b int) int32 {
	w := b / 64
	word := r.used[w] &^ (1<<(b%64+1) - 1)
	if b%64 == 63 {
		word = 0
	}
	for range len(r.used) + 1 {
		if word != 0 {
			return r.heads[w*64+bits.TrailingZeros64(word)]
		}
		w = (w + 1) % len(r.used)
		word = r.used[w]
	}
	return -1
}

func (o *offers) reset(trackers int, interval engine.Time) {
	for k := range o.rings {
		o.rings[k] = newRing(trackers, interval)
	}
}

// place enters a tracker where offers can find it, as its slots are now.
func (o *offers) place(jt *jobTracker, t *taskTracker) {
	if jt.every || t.steady || jt.instant.on {
		return
	}
	given := t.givenSlots
	if jt.shared {
		given = [2]int{} // Used has them already
	}
	for k := range o.rings {
		r := &o.rings[k]
		if t.regular && !t.lost && !t.blacklisted && t.view.Used[k]+given[k] < t.view.Slots[k] {
			r.add(t.id, t.next%r.interval, t.rank)
		} else {
			r.remove(t.id)
		}
	}
}

// turnOf is a place in the order of one instant: the rank of the tracker whose
// heartbeat is answered, or before or after all heartbeats.
type turnOf int64

const (
	beforeBeats turnOf = -1
	afterBeats  turnOf = math.MaxInt64
)

// hasBeaten reports whether a tracker's heartbeat of this instant, if it has one,
// is past.
func (jt *jobTracker) hasBeaten(t *taskTracker) bool {
	return turnOf(t.rank) <= jt.turn || t.last == jt.eng.Now()
}

// offer makes sure that the next heartbeat that can be given work is simulated.
// It is called after everything that happens.
func (jt *jobTracker) offer() {
	if jt.instant.on {
		jt.instant.offering.Reset(jt.eng.Now())
		return
	}
	if jt.every {
		return
	}
	want := jt.wants()
	if want.Map || want.Any {
		jt.arm(jt.offers.rings[workload.Map].after(jt))
	}
	if want.Reduce || want.Any {
		jt.arm(jt.offers.rings[workload.Reduce].after(jt))
	}
}

func (jt *jobTracker) wants() scheduler.Offers {
	if jt.needs[needSetup]+jt.needs[needCleanup] > 0 {
		return scheduler.Offers{Any: true}
	}
	want := scheduler.Offers{Map: jt.needs[needMap] > 0, Reduce: jt.needs[needReduce] > 0}
	if jt.chooses != nil {
		want = jt.chooses.Wants(jt.c.View())
	}
	want.Map = want.Map || jt.needs[needMapTidy] > 0
	want.Reduce = want.Reduce || jt.needs[needReduceTidy] > 0
	return want
}

// arm simulates a heartbeat unless an earlier one of the tracker is due anyway.
func (jt *jobTracker) arm(id int32, at engine.Time) {
	if id < 0 {
		return
	}
	t := &jt.trackers[id]
	if set, ok := t.timer.Set(); !ok || set > at {
		t.timer.Reset(at)
	}
}

// rearm sets a tracker's timer to its next heartbeat that has something to
// report or must be simulated for another reason.
func (jt *jobTracker) rearm(t *taskTracker) {
	if t.lost || t.beating {
		return
	}
	if jt.plant != nil && t.waiting != [2]int{} {
		jt.plant.awaitSlots(t)
	}
	if jt.instant.on {
		if at := t.news; t.doomed {
			jt.arm(t.id, jt.eng.Now())
		} else if at < engine.Never {
			jt.arm(t.id, at)
		}
		return
	}
	from := jt.eng.Now()
	if jt.hasBeaten(t) {
		from++
	}
	at := engine.Never
	if jt.every || t.steady || t.doomed || !t.regular || t.watched() {
		at = t.beatFrom(from)
	} else if t.news < engine.Never {
		at = t.beatFrom(max(t.news, from))
	}
	if t.faults > 0 {
		at = min(at, t.beatFrom(max(t.pardon+1, from)))
	}
	if jt.outOfBand.on {
		at = min(at, max(from, jt.outOfBand.beat(t)))
	}
	if at < t.dies && at < engine.Never {
		jt.arm(t.id, at)
	}
}

// watched reports whether the progress of an attempt on the tracker matters.
func (t *taskTracker) watched() bool {
	for _, a := range t.attempts {
		if a.watched {
			return true
		}
	}
	return false
}

// statusQueue delays the cluster's count of attempts: what a tracker was given
// at one heartbeat is in ClusterStatus from its next one on.
type statusQueue struct {
	queue []status // by due
	head  int
}

type status struct {
	due     engine.Time
	tracker int32
	stamp   uint32
	tasks   [2]int32
}

// set takes in the count of a tracker that reports.
func (q *statusQueue) set(jt *jobTracker, t *taskTracker, tasks [2]int) {
	for k := range tasks {
		jt.c.Running[k] += tasks[k] - t.status[k]
	}
	t.status = tasks
	t.stamp++
}

// expect notes what the tracker's next heartbeat will report, in case that is
// not simulated.
func (q *statusQueue) expect(t *taskTracker) {
	if t.given == [2]int{} {
		return
	}
	s := status{t.next, t.id, t.stamp, [2]int32{int32(t.status[0] + t.given[0]), int32(t.status[1] + t.given[1])}}
	q.queue = append(q.queue, s)
	for i := len(q.queue) - 1; i > q.head && q.queue[i-1].due > s.due; i-- {
		q.queue[i-1], q.queue[i] = q.queue[i], q.queue[i-1]
	}
}

// apply takes in what was reported before the present turn.
func (q *statusQueue) apply(jt *jobTracker) {
	now := jt.eng.Now()
	for q.head < len(q.queue) && q.queue[q.head].due < now {
		q.take(jt, q.queue[q.head])
		q.head++
	}
	for i := q.head; i < len(q.queue) && q.queue[i].due == now; i++ {
		if s := q.queue[i]; turnOf(jt.trackers[s.tracker].rank) < jt.turn {
			q.take(jt, s)
		}
	}
	if q.head > 1024 && q.head > len(q.queue)/2 {
		q.queue = q.queue[:copy(q.queue, q.queue[q.head:])]
		q.head = 0
	}
}

// take counts what was expected of a tracker, unless it has reported since.
func (q *statusQueue) take(jt *jobTracker, s status) {
	if t := &jt.trackers[s.tracker]; t.stamp == s.stamp && !t.lost {
		q.set(jt, t, [2]int{int(s.tasks[0]), int(s.tasks[1])})
	}
}
