package inspect

import (
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// Two containers are in use until 10 s, one until 20 s. A map that is ready at 5 s and
// starts at 25 s waits for 20 s, in 15 s of which fewer than two are in use.
func TestContainersStandFreeWhileMapsWait(t *testing.T) {
	task := func(kind workload.Kind, from, to time.Duration) workload.HistoryTask {
		return workload.HistoryTask{Kind: kind, Attempts: []workload.HistoryAttempt{{Attempt: workload.Attempt{Start: from * time.Second, Finish: to * time.Second}}}}
	}
	first := workload.HistoryJob{Tasks: []workload.HistoryTask{task(workload.Map, 0, 10), task(workload.Reduce, 0, 20)}}
	second := workload.HistoryJob{Launch: 5 * time.Second, Tasks: []workload.HistoryTask{task(workload.Map, 25, 30)}}
	in := inspected{&workload.History{Jobs: []workload.HistoryJob{first, second}}, &Inspection{}}
	if got, want := in.waited(), (RecordedWait{Most: 2, Time: 20e9, Free: 15e9}); got == nil || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	one := inspected{&workload.History{Jobs: []workload.HistoryJob{second}}, &Inspection{}}
	if got := one.waited(); got == nil || got.Time > 0 {
		t.Errorf("one map, whose wait may be the start of its container: got %+v, want no wait", got)
	}
	for i := range in.Jobs {
		in.Jobs[i].Launch = workload.UnknownTime
	}
	if got := in.waited(); got != nil {
		t.Errorf("without the time of initialisation: got %+v, want none", *got)
	}
}
