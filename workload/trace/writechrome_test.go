package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// chromeEvent is an event of a Chrome trace.
type chromeEvent struct {
	Ph, Name, Cat, Bp string
	Ts, Dur           float64
	Pid, Tid, ID      int
	Args              map[string]any
}

func chromeEvents(t *testing.T, h *workload.History) (events []chromeEvent) {
	t.Helper()
	var b bytes.Buffer
	if err := writeChromeTrace(&b, h); err != nil {
		t.Fatal(err)
	}
	var file struct{ TraceEvents []chromeEvent }
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	return file.TraceEvents
}

// twoMaps is a job of two maps and two reduces on one node, in seconds: maps from
// 0 to 4 and from 2 to 8, reduces from 3 and from 9 with a shuffle after 1 s.
func twoMaps() *workload.History {
	attempt := func(kind workload.Kind, task, slot int, runnable, start, finish time.Duration, phases map[workload.Phase]time.Duration) workload.Attempt {
		a := workload.Attempt{
			Job: "a", Kind: kind, Task: task, State: workload.Succeeded, Node: "n", Rack: "/r", Slot: slot,
			Runnable: runnable * time.Second, Start: start * time.Second, Finish: finish * time.Second,
		}
		for p, d := range phases {
			a.Phases[p] = d * time.Second
		}
		return a
	}
	jobs := []workload.Job{{ID: "a", Name: "a"}}
	jobs[0].Maps.Count, jobs[0].Reduces.Count = 2, 2
	return NewHistory(jobs, []workload.Attempt{
		attempt(workload.Map, 0, 0, 0, 0, 4, map[workload.Phase]time.Duration{workload.PhaseMap: 4}),
		attempt(workload.Map, 1, 1, 0, 2, 8, map[workload.Phase]time.Duration{workload.PhaseMap: 6}),
		attempt(workload.Reduce, 0, 2, 3, 3, 12, map[workload.Phase]time.Duration{workload.PhaseStartup: 1, workload.PhaseShuffle: 5, workload.PhaseReduce: 3}),
		attempt(workload.Reduce, 1, 3, 3, 9, 14, map[workload.Phase]time.Duration{workload.PhaseStartup: 1, workload.PhaseShuffle: 2, workload.PhaseReduce: 2}),
	})
}

// A slot has the number of the attempts table. Slots without attempts are left out.
func TestChromeSlots(t *testing.T) {
	var names []any
	for _, e := range chromeEvents(t, twoMaps()) {
		if e.Ph == "M" && e.Name == "thread_name" {
			names = append(names, e.Args["name"])
		}
	}
	if got, want := fmt.Sprint(names), "[map slot 0 map slot 1 reduce slot 2 reduce slot 3]"; got != want {
		t.Errorf("slots %s, want %s", got, want)
	}
}

// An arrow leads from the end of each map to each reduce: not before its shuffle
// begins. Both ends lie inside a slice.
func TestChromeArrows(t *testing.T) {
	events := chromeEvents(t, twoMaps())
	var got []string
	for _, e := range events {
		if e.Ph != "s" && e.Ph != "f" {
			continue
		}
		inside := slices.ContainsFunc(events, func(x chromeEvent) bool {
			return x.Ph == "X" && x.Pid == e.Pid && x.Tid == e.Tid && x.Ts <= e.Ts && e.Ts < x.Ts+x.Dur
		})
		if !inside || e.Ph == "f" && e.Bp != "e" {
			t.Errorf("%+v is in no slice", e)
		}
		got = append(got, fmt.Sprintf("%d %s %.0f", e.ID, e.Ph, e.Ts/1e6))
	}
	want := []string{"1 s 4", "1 f 4", "2 s 8", "2 f 8", "3 s 4", "3 f 10", "4 s 8", "4 f 10"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A large job has one arrow for each reduce.
func TestChromeArrowsOfLargeJobs(t *testing.T) {
	h := twoMaps()
	m := &h.Jobs[0].Tasks[slices.IndexFunc(h.Jobs[0].Tasks, func(t workload.HistoryTask) bool { return t.Kind == workload.Map })]
	for len(m.Attempts) < mostArrows/2 {
		m.Attempts = append(m.Attempts, m.Attempts[0])
	}
	arrows := 0
	for _, e := range chromeEvents(t, h) {
		if e.Ph == "s" {
			arrows++
		}
	}
	if arrows != 2 {
		t.Errorf("%d arrows, want 2", arrows)
	}
}

// Counters change when attempts start and end, and end at 0.
func TestChromeCounters(t *testing.T) {
	h := twoMaps()
	h.AddDevice(0, "n", "disk", 0.25)
	h.AddDevice(1, "n", "disk", 0.25)
	h.AddDevice(2*time.Second, "n", "disk", 1)
	h.AddDevice(0, "other", "disk", 0)
	got := map[string][]string{}
	names := map[int]string{}
	for _, e := range chromeEvents(t, h) {
		switch {
		case e.Ph == "M" && e.Name == "process_name":
			names[e.Pid] = e.Args["name"].(string)
		case e.Ph == "C":
			key := names[e.Pid] + " " + e.Name
			got[key] = append(got[key], fmt.Sprintf("%v: %v %v %v", math.Round(e.Ts/1e6), e.Args["maps"], e.Args["reduces"], e.Args["busy %"]))
		}
	}
	want := map[string][]string{
		"cluster slots in use": {"0: 1 0 <nil>", "2: 2 0 <nil>", "3: 2 1 <nil>", "4: 1 1 <nil>", "8: 0 1 <nil>", "9: 0 2 <nil>", "12: 0 1 <nil>", "14: 0 0 <nil>"},
		// The first map and the first reduce start as soon as they can.
		"cluster tasks waiting": {"0: 1 0 <nil>", "2: 0 0 <nil>", "3: 0 1 <nil>", "9: 0 0 <nil>"},
		"n disk":                {"0: <nil> <nil> 25", "2: <nil> <nil> 100"},
		"other disk":            {"0: <nil> <nil> 0"},
	}
	for key, list := range want {
		if !slices.Equal(got[key], list) {
			t.Errorf("%s: %q, want %q", key, got[key], list)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d counters, want %d: %v", len(got), len(want), got)
	}
}
