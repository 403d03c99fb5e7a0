package workload

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// recordedHosts is a history of three hosts with two slots each on which maps of
// 4 s follow one another for ten minutes. Host c stands still from 100 s to 300 s:
// the two maps that it holds then end late.
func recordedHosts(still bool) *History {
	h := &History{Jobs: []HistoryJob{{ID: "j", Name: "sort", Outcome: Succeeded, Submit: 0, Launch: time.Second, Finish: 610 * time.Second}}}
	j := &h.Jobs[0]
	for _, host := range []string{"a", "b", "c"} {
		for slot := range 2 {
			at := time.Duration(slot) * 2 * time.Second
			for at < 600*time.Second {
				end := at + 4*time.Second
				if still && host == "c" && at <= 100*time.Second && end > 100*time.Second {
					end += 200 * time.Second
				}
				a := HistoryAttempt{Attempt: Attempt{Kind: Map, State: Succeeded, Node: host, Start: at, Finish: end}}
				j.Tasks = append(j.Tasks, HistoryTask{Kind: Map, Number: len(j.Tasks), State: Succeeded, Attempts: []HistoryAttempt{a}})
				at = end
			}
		}
	}
	return h
}

// TestStillHosts plants a host that stands still, one that is full of a long job's
// tasks, and a cluster that pauses as a whole: only the first is found.
func TestStillHosts(t *testing.T) {
	h := recordedHosts(true)
	got := h.StillHosts()
	if len(got) != 1 || got[0].Host != "c" || got[0].From != 102*time.Second && got[0].From != 100*time.Second || got[0].To-got[0].From < 198*time.Second {
		t.Errorf("got %v: want c, from 100 s for 200 s", got)
	}
	if r := h.Jobs[0].record("j", got, nil); !r.Still || r.Time() != 610*time.Second || r.FirstMap != 0 {
		t.Errorf("got %+v: want a job of 610 s that ran on a host that stood still", r)
	}
	if got := recordedHosts(false).StillHosts(); len(got) != 0 {
		t.Errorf("got %v: want no host that stood still", got)
	}
	// The same tasks on c, now of a job whose tasks are all as long.
	long := HistoryJob{ID: "long"}
	for i := range h.Jobs[0].Tasks {
		task := &h.Jobs[0].Tasks[i]
		if w := task.Winner(); w.Finish-w.Start > 100*time.Second {
			long.Tasks = append(long.Tasks, *task, *task)
			task.Attempts = nil
		}
	}
	h.Jobs = append(h.Jobs, long)
	if got := h.StillHosts(); len(got) != 0 {
		t.Errorf("got %v: want a host full of long tasks not to stand still", got)
	}
	h = recordedHosts(false)
	for i := range h.Jobs[0].Tasks {
		if a := &h.Jobs[0].Tasks[i].Attempts[0]; a.Start >= 100*time.Second {
			a.Start += time.Hour
			a.Finish += time.Hour
		}
	}
	if got := h.StillHosts(); len(got) != 0 {
		t.Errorf("got %v: want a pause of the whole cluster not to count", got)
	}
}

// TestRecordedMakespan: from the first submission, at 20 s, to the last end, at 50 s, of
// the jobs whose times are known.
func TestRecordedMakespan(t *testing.T) {
	const s = time.Second
	jobs := []JobRecord{{Submit: 5 * s, Finish: UnknownTime}, {Submit: 30 * s, Finish: 50 * s}, {Submit: 20 * s, Finish: 40 * s}, {Submit: UnknownTime, Finish: 90 * s}}
	if all, none := RecordedMakespan(jobs), RecordedMakespan(jobs[:1]); all != 30*s || none != 0 {
		t.Errorf("got %v and %v, want 30 s and none", all, none)
	}
}

// TestFirstMap: reduces and maps without a known start do not count.
func TestFirstMap(t *testing.T) {
	j := HistoryJob{ID: "j"}
	for _, x := range []struct {
		kind  Kind
		start time.Duration
	}{{Reduce, 5 * time.Second}, {Map, UnknownTime}, {Map, 20 * time.Second}, {Map, 10 * time.Second}, {Map, 30 * time.Second}, {Map, UnknownTime}, {Reduce, 6 * time.Second}} {
		j.Tasks = append(j.Tasks, HistoryTask{Kind: x.kind, Attempts: []HistoryAttempt{{Attempt: Attempt{Kind: x.kind, Start: x.start}}}})
	}
	if got := j.record("j", nil, nil).FirstMap; got != 10*time.Second {
		t.Errorf("first map at %v: want 10 s", got)
	}
}

// TestRanOnStillHost: host c stands still from 100 s to 300 s. A job ran on it if an
// attempt was assigned to it by then and the job did not end before it went on.
func TestRanOnStillHost(t *testing.T) {
	for _, x := range []struct {
		node                      string
		start, localised, jobEnds time.Duration // seconds
		want                      bool
	}{
		{"c", 100, 0, 300, true},
		{"c", 101, 0, 300, false},
		{"c", 101, 1, 300, true}, // fetched the files of the job for a second
		{"c", 100, 0, 299, false},
		{"b", 100, 0, 300, false},
		{"c", -1, 0, 300, false},
	} {
		a := HistoryAttempt{Attempt: Attempt{Kind: Map, Node: x.node, Start: x.start * time.Second}}
		if x.start < 0 {
			a.Start = UnknownTime
		}
		j := HistoryJob{ID: "j", Finish: x.jobEnds * time.Second, Tasks: []HistoryTask{{Kind: Map, Attempts: []HistoryAttempt{a}}}}
		still := []Standstill{{Host: "c", From: 100 * time.Second, To: 300 * time.Second}}
		if got := j.record("j", still, localised{&j.Tasks[0]: x.localised * time.Second}).Still; got != x.want {
			t.Errorf("%+v: got %t", x, got)
		}
	}
}

// TestIdleHosts: on a cluster with little to do, a host that has nothing to do did not
// stand still, and one whose maps begin long after the others of their job did.
func TestIdleHosts(t *testing.T) {
	h := &History{Jobs: make([]HistoryJob, 4)}
	begin := func(job int, host string, start time.Duration) {
		j := &h.Jobs[job]
		a := HistoryAttempt{Attempt: Attempt{Kind: Map, State: Succeeded, Node: host, Start: start, Finish: start + 2*time.Second}}
		j.Tasks = append(j.Tasks, HistoryTask{Kind: Map, Number: len(j.Tasks), State: Succeeded, Start: start, Attempts: []HistoryAttempt{a}})
	}
	for i := range time.Duration(8) {
		for _, host := range []string{"a", "b", "c", "d", "e"} {
			begin(0, host, i*time.Second)
		}
	}
	for _, host := range []string{"a", "b", "e"} {
		begin(1, host, 9*time.Second)
	}
	for i := range time.Duration(5) {
		begin(2, "a", (20+20*i)*time.Second)
		begin(2, "b", (30+20*i)*time.Second)
		begin(2, "e", (25+20*i)*time.Second)
	}
	begin(1, "c", 120*time.Second) // the last maps of job 1
	begin(1, "c", 120*time.Second)
	begin(3, "d", 125*time.Second) // and one of a new job
	if got := h.StillHosts(); len(got) != 1 || got[0].Host != "c" {
		t.Errorf("got %v: want c, which began its maps long after the other hosts", got)
	}
}

// TestStraggles checks the last task against the median: tasks of 10 s and one that ends
// last. Of three tasks none straggles.
func TestStraggles(t *testing.T) {
	for _, c := range []struct {
		others int
		last   time.Duration
		want   bool
	}{{4, 19 * time.Second, false}, {4, 21 * time.Second, true}, {3, 21 * time.Second, true}, {2, 21 * time.Second, false}} {
		j := HistoryJob{ID: "j"}
		for i, took := range append(slices.Repeat([]time.Duration{10 * time.Second}, c.others), c.last) {
			a := HistoryAttempt{Attempt: Attempt{Kind: Map, State: Succeeded, Node: fmt.Sprint(i), Start: 0, Finish: took}}
			j.Tasks = append(j.Tasks, HistoryTask{Kind: Map, Number: i, Attempts: []HistoryAttempt{a}})
		}
		if got := j.straggles(Map); got != c.want {
			t.Errorf("last task of %v after %d others: got %t", c.last, c.others, got)
		}
	}
}

// TestWithoutStill leaves out a standstill: the two maps that the host held take
// the 4 s of the others, and the history itself does not change.
func TestWithoutStill(t *testing.T) {
	h := recordedHosts(true)
	h.Topology = Topology{Racks: []Rack{{Name: "/r1", Hosts: []string{"a", "b"}}, {Name: "/r2", Hosts: []string{"c"}}}}
	got, names := h.WithoutStill()
	if hosts := got.Workers(); len(names) != 1 || names[0] != "c" || hosts.Hosts() != 3 {
		t.Errorf("without %v: %v", names, got.Topology)
	}
	long := func(h *History) (n int) {
		for i := range h.Jobs[0].Tasks {
			if h.Jobs[0].Tasks[i].Winner().Duration() != 4*time.Second {
				n++
			}
		}
		return n
	}
	if long(&got) != 0 || long(h) != 2 {
		t.Errorf("%d maps do not take 4 s, %d in the history: want 0 and 2", long(&got), long(h))
	}
	if again, names := recordedHosts(false).WithoutStill(); len(names) != 0 || long(&again) != 0 {
		t.Errorf("nothing stood still: without %v", names)
	}
}
