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

// Reduces that run at the end of a record hold the slots of their machine.
func TestSlotsOfRunningReduces(t *testing.T) {
	for state, want := range map[State]int{Running: 3, Failed: 1} {
		h := &History{Topology: Topology{Racks: []Rack{{Name: "r", Hosts: []string{"a"}}}}, Jobs: []HistoryJob{NewHistoryJob("j")}}
		j := &h.Jobs[0]
		j.Outcome = state
		for n := range 3 {
			a := NewHistoryAttempt("j", "", Reduce, n, 0)
			a.Node, a.State, a.Start = "a", Running, time.Duration(n)*time.Second
			j.Tasks = append(j.Tasks, HistoryTask{Kind: Reduce, Number: n, Attempts: []HistoryAttempt{a}})
		}
		if got := max(1, h.MostOnMachine(Reduce)); got != want {
			t.Errorf("job %v: %d slots, want %d", state, got, want)
		}
	}
}

// A job whose end is not recorded, because its JobTracker died, holds no slot later.
func TestSlotsOfAnotherJobTracker(t *testing.T) {
	for dead, want := range map[string]int{"job_1_1": 2, "job_2_1": 3} {
		h := &History{Topology: Topology{Racks: []Rack{{Name: "r", Hosts: []string{"a"}}}}}
		for n, id := range []string{dead, "job_2_2", "job_2_3"} {
			j, a := NewHistoryJob(id), NewHistoryAttempt(id, "", Reduce, 0, 0)
			a.Node, a.Start = "a", time.Duration(n)*time.Hour
			if n > 0 {
				j.Outcome, a.State, a.Finish = Succeeded, Succeeded, 3*time.Hour
			}
			j.Tasks = []HistoryTask{{Kind: Reduce, Attempts: []HistoryAttempt{a}}}
			h.Jobs = append(h.Jobs, j)
		}
		if got := h.MostOnMachine(Reduce); got != want {
			t.Errorf("%s has no end: %d slots, want %d", dead, got, want)
		}
	}
}

// A reduce of a job of which none has ended takes what its part of the map output, or else
// the time of the maps, lets expect, and longer than it has run.
func TestReduceTime(t *testing.T) {
	for _, c := range []struct {
		stored      int64
		ran         time.Duration
		least, most float64 // seconds
	}{{80e6, 0, 0.35 * 55, 6.5 * 55}, {Unknown, 0, 0.35 * 30, 6.5 * 30}, {80e6, 1000 * time.Second, 1000, 4000}} {
		j := NewHistoryJob("j")
		j.Submit, j.Maps, j.Reduces, j.Outcome = 0, 10, 2, Running
		add := func(kind Kind, n int, start, finish time.Duration) {
			a := NewHistoryAttempt("j", "", kind, n, 0)
			if a.State, a.Start = Running, start; finish > 0 {
				a.State, a.Finish, a.Counters.LocalWriteBytes = Succeeded, finish, c.stored
			}
			task := NewHistoryTask(kind, false, n)
			task.State, task.Attempts = a.State, []HistoryAttempt{a}
			j.Tasks = append(j.Tasks, task)
		}
		for n := range 10 {
			add(Map, n, time.Second, 11*time.Second)
		}
		add(Reduce, 0, 11*time.Second, 0)
		h := &History{Jobs: []HistoryJob{j}}
		jobs := replay(t, h, ReplayOptions{}).Jobs
		now := 11*time.Second + c.ran
		for seed := range uint64(20) {
			next, err := NewContinuation(h, jobs).Continue(jobs[0], &h.Jobs[0], now, rand.New(rand.NewPCG(seed, 1)))
			if err != nil {
				t.Fatal(err)
			}
			d := next.Reduces
			for k := range d.Time.Each {
				if took := (d.Shuffle.Each[k] + d.Sort.Each[k] + d.Time.Each[k]).Seconds(); took < c.least || took > c.most {
					t.Errorf("%+v: reduce %d takes %.1f s", c, k, took)
				}
			}
		}
	}
}
