package workload

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A job whose table does not say how many maps it has goes on only after one has ended.
func TestContinueNeedsAMap(t *testing.T) {
	h := &History{}
	for _, name := range []string{"j1", "j2"} {
		j := NewHistoryJob(name)
		j.Name, j.Submit = "same", 0
		a := NewHistoryAttempt(name, "", Map, 0, 0)
		a.State, a.Start = Running, time.Second
		task := NewHistoryTask(Map, false, 0)
		task.Attempts = []HistoryAttempt{a}
		j.Tasks = []HistoryTask{task}
		h.Jobs = append(h.Jobs, j)
	}
	jobs := replay(t, h, ReplayOptions{}).Jobs
	c := NewContinuation(h, jobs)
	if _, err := c.Continue(jobs[0], &h.Jobs[0], time.Minute, rand.New(rand.NewPCG(1, 1))); err == nil {
		t.Error("no map has ended: want an error")
	}
}
