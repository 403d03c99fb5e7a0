package jobtracker

import (
	"maps"
	"slices"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// recordedSpeculation holds the recorded speculative attempts of a job's maps or
// reduces. A
// replay launches them when they are due, in place of the rule of the JobTracker.
type recordedSpeculation struct {
	kind  workload.Kind
	ends  map[int][]workload.AttemptEnd // by task
	tasks []int32                       // with such attempts
}

func findRecorded(kind workload.Kind, ends map[int][]workload.AttemptEnd) recordedSpeculation {
	b := recordedSpeculation{kind: kind, ends: ends}
	for _, task := range slices.Sorted(maps.Keys(ends)) {
		if slices.ContainsFunc(ends[task], func(e workload.AttemptEnd) bool { return e.Beside > 0 }) {
			b.tasks = append(b.tasks, int32(task))
		}
	}
	return b
}

func (b *recordedSpeculation) any() bool { return len(b.tasks) > 0 }

// due reports whether the next attempt of a running task is to be launched along with
// the one that runs.
func (b *recordedSpeculation) due(s *speculation, index int32) bool {
	t := s.tasks.at(b.kind, index)
	if t == nil || !t.running() || !t.runnable() {
		return false
	}
	list := b.ends[int(index)]
	if int(t.next) >= len(list) {
		return false
	}
	last, next := t.attempts[len(t.attempts)-1], list[t.next]
	return next.Beside > 0 && last.Number == t.next-1 && last.Started && s.eng.Now() >= last.Start+engine.At(next.Beside)
}

// count counts the tasks that are due.
func (b *recordedSpeculation) count(s *speculation) (n int) {
	for _, index := range b.tasks {
		if b.due(s, index) {
			n++
		}
	}
	return n
}

// find returns the first task that is due and has not run on a tracker.
func (b *recordedSpeculation) find(s *speculation, tracker int32) (int32, bool) {
	for _, index := range b.tasks {
		if b.due(s, index) && !s.tasks.at(b.kind, index).ranOn(tracker) {
			return index, true
		}
	}
	return 0, false
}
