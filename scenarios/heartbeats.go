package scenarios

import (
	"cmp"
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
	longest, other := l.interval.of(&as, interval)
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
