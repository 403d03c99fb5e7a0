package workload

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestSlowstartOfRecord: a job whose first reduce started before enough maps had
// ended had a smaller slowstart, if its configuration does not state one; a job whose
// reduces all waited for the last map had 1, unless another job had the slots.
func TestSlowstartOfRecord(t *testing.T) {
	sec := func(s int) time.Duration { return time.Duration(s) * time.Second }
	job := func(id string, reduce [2]int, maps ...int) HistoryJob {
		j := NewHistoryJob(id)
		j.Submit, j.Finish, j.Outcome = 0, sec(200), Succeeded
		add := func(kind Kind, n, start, finish int) {
			task := NewHistoryTask(kind, kind == Reduce, n)
			a := NewHistoryAttempt(id, "", kind, n, 0)
			a.Node, a.State, a.Start, a.Finish = "n1", Succeeded, sec(start), sec(finish)
			task.Attempts = []HistoryAttempt{a}
			j.Tasks = append(j.Tasks, task)
		}
		for i, end := range maps {
			add(Map, i, 0, end)
		}
		add(Reduce, 0, reduce[0], reduce[1])
		j.Maps, j.Reduces = len(maps), 1
		return j
	}
	stated := job("job_1_0005", [2]int{5, 90}, 10, 50)
	stated.Conf.Set(slowstartKey, "0.05")
	for _, x := range []struct {
		name string
		jobs []HistoryJob
		want string
	}{
		{"before any map", []HistoryJob{job("job_1_0001", [2]int{5, 90}, 10, 50)}, "0"},
		{"before the second of 21 maps", []HistoryJob{job("job_1_0001", [2]int{6, 90}, append(make([]int, 20), 5)...)}, ""},
		{"as the default has it", []HistoryJob{job("job_1_0001", [2]int{11, 90}, 10, 50)}, ""},
		{"after all maps", []HistoryJob{job("job_1_0001", [2]int{51, 90}, 10, 50)}, "1"},
		{"soon after all maps", []HistoryJob{job("job_1_0001", [2]int{20, 90}, 10, 19)}, ""},
		{"after the reduce of another job", []HistoryJob{job("job_1_0001", [2]int{51, 90}, 10, 50), job("job_1_0002", [2]int{12, 51}, 11)}, ""},
		{"stated", []HistoryJob{stated}, "0.05"},
	} {
		h := &History{Jobs: x.jobs, Topology: Topology{Racks: []Rack{{"/r", []string{"n1"}}}}}
		if got := replay(t, h, ReplayOptions{}).Jobs[0].Conf.String(slowstartKey, ""); got != x.want {
			t.Errorf("%s: slowstart %q, want %q", x.name, got, x.want)
		}
	}
}

// TestReplayWaitsForContainers: in MRv2 a reduce is requested with the maps, and
// waits first for the maps and then for a container. Only the latter is the time
// until it starts on its machine.
func TestReplayWaitsForContainers(t *testing.T) {
	sec := func(s int) time.Duration { return time.Duration(s) * time.Second }
	j := NewHistoryJob("job_1_0001")
	j.Submit, j.Finish, j.Outcome, j.Maps, j.Reduces = 0, sec(60), Succeeded, 1, 1
	for kind, span := range [][2]int{Map: {2, 40}, Reduce: {43, 60}} {
		task := NewHistoryTask(Kind(kind), Kind(kind) == Reduce, 0)
		a := NewHistoryAttempt(j.ID, "", Kind(kind), 0, 0)
		a.Node, a.State, a.Start, a.Finish = "n1", Succeeded, sec(span[0]), sec(span[1])
		task.Start, task.Attempts = 0, []HistoryAttempt{a}
		j.Tasks = append(j.Tasks, task)
	}
	h := &History{Jobs: []HistoryJob{j}, Topology: Topology{Racks: []Rack{{"/r", []string{"n1"}}}}}
	got := replay(t, h, ReplayOptions{}).Jobs[0]
	if m, r := got.Maps.Localise.Each, got.Reduces.Localise.Each; len(m) != 1 || m[0] != sec(2) || len(r) != 1 || r[0] != sec(3) {
		t.Errorf("waits of %v and %v, want 2 s and 3 s", m, r)
	}
}

// The index of reduces answers as a walk over all of them does.
func TestReducesOfOthers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		h := &History{Jobs: make([]HistoryJob, 4)}
		for i := range h.Jobs {
			for range random.IntN(5) {
				start := time.Duration(random.IntN(30))
				a := HistoryAttempt{Attempt: Attempt{Start: start, Finish: start + time.Duration(random.IntN(9))}}
				h.Jobs[i].Tasks = append(h.Jobs[i].Tasks, HistoryTask{Kind: Reduce, Attempts: []HistoryAttempt{a}})
			}
		}
		from := time.Duration(random.IntN(35))
		to, but := from+time.Duration(random.IntN(9)), &h.Jobs[random.IntN(4)]
		want := false
		for i := range h.Jobs {
			for _, task := range h.Jobs[i].Tasks {
				a := &task.Attempts[0]
				want = want || &h.Jobs[i] != but && a.Start < to && a.Finish > from
			}
		}
		if got := h.reduceTimes().ofOthers(but, from, to); got != want {
			t.Errorf("from %d to %d: %v, want %v", from, to, got, want)
		}
	}
}
