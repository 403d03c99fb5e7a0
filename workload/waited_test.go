package workload

import (
	"testing"
	"time"
)

// Two containers are in use until 10 s, one until 20 s. A map that is ready at 5 s and
// starts at 25 s waits for 20 s, in 15 s of which fewer than two are in use.
func TestContainersStandFreeWhileMapsWait(t *testing.T) {
	task := func(kind Kind, from, to time.Duration) HistoryTask {
		return HistoryTask{Kind: kind, Attempts: []HistoryAttempt{{Attempt: Attempt{Start: from * time.Second, Finish: to * time.Second}}}}
	}
	first := HistoryJob{Tasks: []HistoryTask{task(Map, 0, 10), task(Reduce, 0, 20)}}
	second := HistoryJob{Launch: 5 * time.Second, Tasks: []HistoryTask{task(Map, 25, 30)}}
	in := History{Jobs: []HistoryJob{first, second}}
	if got, want := in.Waited(), (RecordedWait{Most: 2, Time: 20e9, Free: 15e9}); got == nil || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	one := History{Jobs: []HistoryJob{second}}
	if got := one.Waited(); got == nil || got.Time > 0 {
		t.Errorf("one map, whose wait may be the start of its container: got %+v, want no wait", got)
	}
	runs := &in.Jobs[0].Tasks[1].Attempts[0]
	runs.State, runs.Start, runs.Finish = Running, 10*time.Second, UnknownTime
	in.Jobs[0].Outcome, in.Jobs[0].Tasks = Running, append(in.Jobs[0].Tasks, task(Reduce, 0, 25))
	if got := in.Waited(); got == nil || got.Free > 0 {
		t.Errorf("a container that is in use when the record ends: got %+v, want none free", got)
	}
	for i := range in.Jobs {
		in.Jobs[i].Launch = UnknownTime
	}
	if got := in.Waited(); got != nil {
		t.Errorf("without the time of initialisation: got %+v, want none", *got)
	}
}
