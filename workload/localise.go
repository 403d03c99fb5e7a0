package workload

import (
	"maps"
	"slices"
	"time"
)

// mostUsual is the longest median of these times that is taken for localisation, or,
// in MRv2, for the wait for a container.
const mostUsual = 4 * time.Second

// placedAttempt is the first attempt of a task with the task's assignment.
type placedAttempt struct {
	task     *HistoryTask
	assigned time.Duration
	start    time.Duration
}

// localisation finds the times from assignment to start. The time that an attempt
// waited for a slot of its machine is no part of them.
func (h *History) localisation() localised {
	placed := map[string][]placedAttempt{}
	assigned, finished := map[slotsOf][]time.Duration{}, map[slotsOf][]time.Duration{}
	for i := range h.Jobs {
		reduces := h.Jobs[i].reducesReady()
		for k := range h.Jobs[i].Tasks {
			t := &h.Jobs[i].Tasks[k]
			for n := range t.Attempts {
				a := &t.Attempts[n]
				if a.Node == "" || !Known(a.Start) || !Known(a.Finish) {
					continue
				}
				from, at := a.Start, slotsOf{a.Node, t.SlotKind()}
				if n == 0 && Known(t.Start) {
					given := t.Start
					if t.Kind == Reduce && Known(reduces) {
						given = min(max(given, reduces), a.Start)
					}
					placed[a.Node] = append(placed[a.Node], placedAttempt{t, given, a.Start})
					from = min(from, given)
				}
				assigned[at], finished[at] = append(assigned[at], from), append(finished[at], a.Finish)
			}
		}
	}
	var most [2]int // slots of a machine, of which set-up and clean-up tasks use some
	for _, kind := range [...]Kind{Map, Reduce} {
		most[kind] = max(1, h.mostAtOnce(func(t *HistoryTask) bool { return t.SlotKind() == kind }))
	}
	times := localised{}
	var all []time.Duration
	for _, node := range slices.Sorted(maps.Keys(placed)) {
		for _, kind := range [...]Kind{Map, Reduce} {
			slices.Sort(assigned[slotsOf{node, kind}])
			slices.Sort(finished[slotsOf{node, kind}])
		}
		skew := time.Duration(0) // a clock behind that of the JobTracker
		for _, p := range placed[node] {
			skew = min(skew, p.start-p.assigned)
		}
		for _, p := range placed[node] {
			at := slotsOf{node, p.task.SlotKind()}
			until := func(list []time.Duration) int {
				n, _ := slices.BinarySearch(list, p.assigned+1)
				return n
			}
			from, ended := p.assigned, until(finished[at])
			if over := until(assigned[at]) - ended - most[at.kind]; over > 0 && ended+over-1 < len(finished[at]) {
				from = max(from, finished[at][ended+over-1]) // when a slot was free
			}
			times[p.task] = max(0, p.start-skew-from)
			all = append(all, times[p.task])
		}
	}
	slices.Sort(all)
	if len(all) == 0 || all[len(all)-1] == 0 || all[len(all)/2] > mostUsual {
		return nil
	}
	return times
}

// Localised returns a function of the time from the assignment of a task to the start of
// its first attempt, 0 where the record does not have it.
func (h *History) Localised() func(*HistoryTask) time.Duration {
	local := h.localisation()
	return func(t *HistoryTask) time.Duration { return local[t] }
}

// WithoutSetupCleanup reports whether a history has times of maps or reduces but no
// set-up and clean-up tasks, as those of Hadoop 0.18 do.
func (h *History) WithoutSetupCleanup() bool {
	timed := false
	for _, t := range h.Tasks() {
		if t.Kind == Setup || t.Kind == Cleanup {
			return false
		}
		timed = timed || slices.ContainsFunc(t.Attempts, func(a HistoryAttempt) bool {
			return Known(a.Start) && Known(a.Finish)
		})
	}
	return timed
}

// serviceTime returns how long the set-up or clean-up of a job was on its machine,
// without the start of the JVM; 0 if that is not recorded.
func (o ReplayOptions) serviceTime(h *HistoryJob, kind Kind, local localised) time.Duration {
	for t, w := range h.Of(kind) {
		if w != nil && Known(w.Start) && Known(w.Finish) {
			return max(1, o.spent(w)+local[t])
		}
	}
	return 0
}
