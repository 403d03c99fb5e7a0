package scenarios

import (
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// Two machines beat every three seconds. Half of their attempts wait for a slot and
// start in between, and several tasks come with one heartbeat.
func TestBeats(t *testing.T) {
	const interval = 3 * time.Second
	job := workload.NewHistoryJob("job_1_0001")
	add := func(node string, starts ...float64) {
		for _, s := range starts {
			task := workload.NewHistoryTask(workload.Map, false, len(job.Tasks))
			a := workload.NewHistoryAttempt(job.ID, "", workload.Map, len(job.Tasks), 0)
			a.Node, a.Start, a.Finish = node, workload.Seconds(s), workload.Seconds(s+10)
			task.Attempts = append(task.Attempts, a)
			job.Tasks = append(job.Tasks, task)
		}
	}
	add("a", 1, 4, 4.001, 7, 8.2, 10.6)
	add("b", 2.5, 5.5, 6.4, 8.501)
	h := &workload.History{Jobs: []workload.HistoryJob{job}}
	as := assignedIn(h)
	beats := as.beats(interval)
	if a, b := beats["a"], beats["b"]; a != time.Second || b != 2500*time.Millisecond {
		t.Errorf("first heartbeats at %v and %v, want 1s and 2.5s", a, b)
	}
	// A tracker whose heartbeats drift has no beat, though tasks come in pairs.
	job.Tasks = nil
	add("a", 1, 1.001, 4.3, 4.301, 7.6, 7.601, 10.9, 10.901, 14.2, 14.201)
	as = assignedIn(&workload.History{Jobs: []workload.HistoryJob{job}})
	if beats := as.beats(interval); beats != nil {
		t.Errorf("a drifting tracker beats at %v", beats)
	}
}

// An attempt that starts when another one on its machine succeeds has waited for the
// slot, and shows no heartbeat, though most attempts may start so.
func TestBeatsBesidesWaits(t *testing.T) {
	const interval = 300 * time.Millisecond
	job := workload.NewHistoryJob("job_1_0001")
	at := 1904 * time.Millisecond
	for n, length := range []time.Duration{10_867, 11_996, 9_237, 13_037, 12_700, 0} {
		task := workload.NewHistoryTask(workload.Map, false, n)
		a := workload.NewHistoryAttempt(job.ID, "", workload.Map, n, 0)
		a.Node, a.Start, a.State = "a", at, workload.Succeeded
		at += length * time.Millisecond
		if a.Finish = at; n == 3 {
			a.Start += interval // the slot was free before
		}
		task.Attempts = append(task.Attempts, a)
		job.Tasks = append(job.Tasks, task)
	}
	as := assignedIn(&workload.History{Jobs: []workload.HistoryJob{job}})
	beats := as.beats(interval)
	if want := 1904 * time.Millisecond % interval; beats["a"] != want {
		t.Errorf("first heartbeat at %v, want %v", beats["a"], want)
	}
}

// Of 21 machines that got one wave of tasks, the last by name was assigned two, 9 s apart:
// too little to tell the interval, but one that replays can try.
func TestBeatOfOneWave(t *testing.T) {
	as := assignments{given: map[string][]time.Duration{"z": {180 * time.Millisecond, 9180 * time.Millisecond}}}
	for i := range 20 {
		as.given[string(rune('a'+i))] = []time.Duration{time.Duration(9180+417*i) * time.Millisecond}
	}
	first := as.first()
	if longest, other := first.interval(3 * time.Second); longest != 3*time.Second || other != 9*time.Second {
		t.Errorf("got %v, or %v: want 3s, or 9s", longest, other)
	}
}
