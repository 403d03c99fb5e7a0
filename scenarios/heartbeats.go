package scenarios

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// reported is the time from the assignment of a task to the heartbeat that reports
// its end, and how much of it the attempt ran.
type reported struct{ after, ran time.Duration }

// inferHeartbeat sets the heartbeat interval that a trace shows, if it cannot be
// that of the release: the trace may name only a part of the machines. A task is
// assigned at a heartbeat, and its end is reported at the next one or later.
func (t clusterTable) inferHeartbeat(c *model.Cluster, h *workload.History) {
	const fewest, waits, near = 20, 0.2, 1.02
	release, err := model.FindRelease(c.Hadoop)
	if err != nil {
		return
	}
	formula, err := release.HeartbeatInterval(len(c.Nodes), c.Conf)
	if outOfBand, confErr := c.Conf.Truth("mapreduce.tasktracker.outofband.heartbeat"); err != nil || confErr != nil || outOfBand {
		return
	}
	var all []reported
	for _, x := range h.Tasks() {
		if w := x.Winner(); w != nil && len(x.Attempts) == 1 && workload.Known(x.Start) && workload.Known(x.Finish) && x.Finish > w.Finish {
			all = append(all, reported{x.Finish - x.Start, w.Duration()})
		}
	}
	if len(all) < fewest {
		return
	}
	slices.SortFunc(all, func(a, b reported) int { return cmp.Compare(a.after, b.after) })
	least := all[len(all)/50].after
	alike, waited := 0, 0
	for _, r := range all {
		if r.after >= least && r.after.Seconds() <= near*least.Seconds() {
			alike++
			if (r.after - r.ran).Seconds() >= waits*r.after.Seconds() {
				waited++
			}
		}
	}
	// The shortest tasks all waited for the same interval, or did not wait as
	// long as the release would make them.
	longer := alike >= max(fewest/4, len(all)/20) && 2*waited > alike && least.Seconds() > near*formula.Seconds()
	if longer || least.Seconds()*near < formula.Seconds() {
		c.Heartbeat = least.Truncate(10 * time.Millisecond)
		t.assume("cluster.heartbeat = %v (the ends of the shortest tasks are reported so long after their assignment; the release has %v)", c.Heartbeat, formula)
	}
}

// sameBeat is how far the times of one heartbeat may differ in a record.
const sameBeat = 5 * time.Millisecond

// recordedBeats sets the first heartbeats of the machines of a trace, if its tasks
// were assigned whole intervals apart: then each machine kept its own beat. It
// returns the last heartbeat of a machine up to an instant.
func (t clusterTable) recordedBeats(c *model.Cluster, l *load) func(string, time.Duration) time.Duration {
	release, err := model.FindRelease(c.Hadoop)
	if err != nil {
		return nil
	}
	interval, err := release.HeartbeatOf(c, len(c.Nodes))
	if err != nil {
		return nil
	}
	as := assignedIn(l.history)
	longest, other := as.interval(interval)
	if other > 0 && c.Heartbeat == 0 {
		l.alsoFits = append(l.alsoFits, [][2]string{{"heartbeat", workload.TOMLText(other.String())}})
	}
	if c.Heartbeat == 0 && longest != interval {
		t.assume("cluster.heartbeat = %v (tasks of a machine are assigned whole intervals of it apart; the release has %v)", longest, interval)
		interval, c.Heartbeat = longest, longest
	}
	beats := as.beats(interval)
	if beats == nil {
		return nil
	}
	c.Phases = make([]time.Duration, len(c.Nodes))
	for i := range c.Nodes {
		beat, known := beats[c.Nodes[i].Name]
		if c.Phases[i] = beat; !known {
			c.Phases[i] = interval * time.Duration(i) / time.Duration(len(c.Nodes))
		}
	}
	const poll = time.Second
	commit := poll + c.Costs.Commit // a child asks this long before its end, or earlier, whether it may commit
	t.assume("heartbeats come when the trace's tasks were assigned: on each machine whole intervals of %v apart", interval)
	return func(node string, at time.Duration) time.Duration {
		const rounded = 2 * time.Millisecond
		after := (at-beats[node]+sameBeat)%interval - sameBeat
		if after <= sameBeat && !as.freed[nodeInstant{node, at}] {
			return at - rounded
		}
		return at - after - max(0, commit-after)/interval*interval - rounded // it waited for a slot from the first free heartbeat on
	}
}

// interval returns the longest heartbeat interval that the assignments of a history fit
// about as well as any, or the usual one if they fit none well. Those of a real tracker
// drift, and fit none in a longer record. A longer one that a short record may fit by
// chance is the other one.
func (as *assignments) interval(usual time.Duration) (longest, other time.Duration) {
	const (
		step, most = 10 * time.Millisecond, 15 * time.Second // intervals are configured in round numbers
		machines   = 20
		each       = 100 // assignments of a machine
		fits, near = 0.8, 0.9
		fewest     = 20
		few, many  = 3, 5 // different multiples of the interval between assignments; many if the usual one fits too
	)
	first := assignments{given: map[string][]time.Duration{}, freed: as.freed}
	total := 0
	for _, node := range slices.Sorted(maps.Keys(as.given))[:min(machines, len(as.given))] {
		given := slices.Clone(as.given[node])
		slices.Sort(given)
		first.given[node] = given[:min(each, len(given))]
		total += len(first.given[node])
	}
	first.show()
	longest = usual
	if total < fewest || as.seconds {
		return usual, 0
	}
	best := 0.0
	shares := map[time.Duration]float64{}
	for at := 10 * step; at <= most; at += step {
		_, shares[at] = first.agreement(at)
		best = max(best, shares[at])
	}
	if best < fits {
		return usual, 0
	}
	for at := 10 * step; at <= most; at += step {
		if shares[at] >= near*best {
			longest = at
		}
	}
	needs := many
	if usual > 0 {
		if _, share := first.agreement(usual); share < near*best {
			needs = few
		}
	}
	switch n := first.multiples(longest); {
	case n >= needs:
		return longest, 0
	case n >= few && longest != usual:
		return usual, longest
	}
	return usual, 0
}

// multiples returns how many different multiples of an interval lie between assignments
// of a machine. Equal tasks are assigned equally long apart, which also fits multiples of
// the interval.
func (as *assignments) multiples(interval time.Duration) int {
	seen := map[time.Duration]bool{}
	for _, node := range slices.Sorted(maps.Keys(as.given)) {
		given := as.given[node]
		for i := range len(given) - 1 {
			if n := (given[i+1] - given[i] + interval/2) / interval; n > 0 {
				seen[n] = true
			}
		}
	}
	return len(seen)
}

// beats returns the first heartbeat of each machine of a history, if many of the
// intervals with an assignment have one at that beat. Others have none: an attempt
// may wait for its slot, and then starts between heartbeats. The heartbeats of a
// real tracker drift by the time of a call, and show no such beat in a longer
// record.
func (as *assignments) beats(interval time.Duration) map[string]time.Duration {
	const kept = 0.3 // share of the intervals after the first of a machine
	beats, share := as.agreement(interval)
	if !(share >= kept) {
		return nil
	}
	return beats
}

// agreement returns the beat of each machine that most of its assignments have, and the
// share of all that have it, after the first of a machine.
func (as *assignments) agreement(interval time.Duration) (beats map[string]time.Duration, share float64) {
	beats = make(map[string]time.Duration, len(as.shown))
	total, agree := 0, 0
	var offsets []time.Duration
	for _, s := range as.shown {
		offsets = offsets[:0]
		for _, at := range s.at {
			offsets = append(offsets, at%interval)
		}
		beat, n := beatOf(offsets, interval)
		beats[s.node] = beat
		agree += n - 1
		total += len(offsets) - 1
	}
	if agree == 0 {
		return beats, 0
	}
	return beats, float64(agree) / float64(total)
}

// nodeInstant is a time on a machine.
type nodeInstant struct {
	node string
	at   time.Duration
}

// assignments are what a history shows of the heartbeats of its machines.
type assignments struct {
	given   map[string][]time.Duration // when attempts were assigned, or started if that is not recorded
	shown   []shownBeats
	freed   map[nodeInstant]bool // when attempts succeeded, for which others may have waited
	seconds bool                 // the record has whole seconds, which show no heartbeats
}

// shownBeats are the heartbeats of a machine that assigned tasks: several tasks may come
// with one, and what waited for another to succeed shows none.
type shownBeats struct {
	node string
	at   []time.Duration
}

// show sets the heartbeats that the assignments show.
func (as *assignments) show() {
	for _, node := range slices.Sorted(maps.Keys(as.given)) {
		s := shownBeats{node: node}
		seen := map[time.Duration]bool{}
		for _, at := range as.given[node] {
			if slot := at / sameBeat; !seen[slot] && !as.freed[nodeInstant{node, at}] {
				seen[slot] = true
				s.at = append(s.at, at)
			}
		}
		if len(s.at) > 0 {
			as.shown = append(as.shown, s)
		}
	}
}

func assignedIn(h *workload.History) assignments {
	as := assignments{given: map[string][]time.Duration{}, freed: map[nodeInstant]bool{}, seconds: true}
	for t, a := range h.Each() {
		if a.Node == "" || !workload.Known(a.Start) || a.Start < 0 {
			continue
		}
		at := a.Start
		if a == &t.Attempts[0] && workload.Known(t.Start) && t.Start >= 0 {
			at = min(at, t.Start)
		}
		as.given[a.Node] = append(as.given[a.Node], at)
		if a.State == workload.Succeeded && workload.Known(a.Finish) && a.Finish > a.Start {
			as.freed[nodeInstant{a.Node, a.Finish}] = true
			as.seconds = as.seconds && a.Finish%time.Second == 0
		}
	}
	as.show()
	return as
}

// beatOf returns the offset that most of a list share, and how many do. Offsets are
// on a circle as long as the interval.
func beatOf(list []time.Duration, interval time.Duration) (beat time.Duration, agree int) {
	slices.Sort(list)
	n := len(list)
	at := func(i int) time.Duration { return list[i%n] + interval*time.Duration(i/n) }
	for i, j := 0, 0; i < n; i++ {
		for j < 2*n && at(j) <= list[i]+sameBeat {
			j++
		}
		if j-i > agree {
			beat, agree = list[i], j-i
		}
	}
	return beat, agree
}
