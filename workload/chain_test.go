package workload

import (
	"slices"
	"testing"
	"time"
)

// A plan is that of a Pig script under Hadoop 1.2: names with the characters that Hadoop
// escapes, one node with two predecessors, one job that was submitted early.
func TestChains(t *testing.T) {
	plan := `"a\=1"="c" "b\.x"="c,early" "c"="d" `
	job := func(id, node string, submit, finish time.Duration) HistoryJob {
		return HistoryJob{ID: id, Submit: submit, Finish: finish, Workflow: Workflow{ID: "w", Node: node, Adjacencies: plan}}
	}
	h := History{Jobs: []HistoryJob{
		job("1", "a=1", 0, 10), job("2", "b.x", 1, 30), job("3", "c", 32, 50), job("4", "d", 50, 60), job("5", "early", 20, 40),
		{ID: "6", Submit: 70, Finish: 80, After: []string{"4", "gone"}}, {ID: "7", Submit: 90, Finish: UnknownTime},
		{ID: "8", Submit: 95, After: []string{"7"}},
	}}
	want := map[string]Chained{"3": {[]string{"1", "2"}, 2}, "4": {[]string{"3"}, 0}, "6": {[]string{"4"}, 10}}
	got := h.Chains()
	for id, w := range want {
		if g := got[id]; !slices.Equal(g.After, w.After) || g.Delay != w.Delay {
			t.Errorf("job %s: %+v: want %+v", id, g, w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("chains %+v", got)
	}
}

// A replay with chains submits a job as long after the end of the others as recorded,
// under the IDs of the replay; one whose predecessor is left out keeps its submission.
func TestReplayChains(t *testing.T) {
	var conf Conf
	conf.Set(OriginalID, "first")
	h := History{Jobs: []HistoryJob{
		{ID: "1", Conf: conf, Outcome: Succeeded, Submit: 0, Finish: 10},
		{ID: "2", Outcome: Failed, Submit: 0, Finish: 20},
		{ID: "3", Outcome: Succeeded, Submit: 12, Finish: 30, After: []string{"1"}},
		{ID: "4", Outcome: Succeeded, Submit: 25, Finish: 40, After: []string{"2"}},
	}}
	r, err := h.Replay(ReplayOptions{OnlySucceeded: true, Chains: h.Chains()})
	if err != nil || len(r.Jobs) != 3 {
		t.Fatalf("%+v, %v", r.Jobs, err)
	}
	if j := &r.Jobs[1]; !slices.Equal(j.After, []string{"first"}) || j.Submit != 2 || j.Init != 0 {
		t.Errorf("job 3 waits for %v, %v, initialised at %v: want first, 2 ns, with its submission", j.After, j.Submit, j.Init)
	}
	if j := &r.Jobs[2]; j.After != nil || j.Submit != 25 {
		t.Errorf("job 4 waits for %v, %v: want none, 25 ns", j.After, j.Submit)
	}
}
