package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// This file has the parts that recorded cases of both masters share.

// oneOrEach is a number for all tasks or machines, or a list with one for each.
type oneOrEach[T int | int64] []T

func (v *oneOrEach[T]) UnmarshalJSON(b []byte) error {
	var one T
	if json.Unmarshal(b, &one) == nil {
		*v = oneOrEach[T]{one}
		return nil
	}
	var each []T
	if err := json.Unmarshal(b, &each); err != nil {
		return fmt.Errorf("got %.40s: want a whole number or a list of them", b)
	}
	*v = each
	return nil
}

// of returns the value of a task or machine; 0 if none is given.
func (v oneOrEach[T]) of(i int) T {
	switch len(v) {
	case 0:
		return 0
	case 1:
		return v[0]
	}
	return v[i]
}

// times is a number of milliseconds or a list of them by task.
type times = oneOrEach[int64]

func durationsOf(t times) workload.Durations {
	if len(t) < 2 {
		return workload.Durations{All: millis(t.of(0))}
	}
	d := workload.Durations{Each: make([]time.Duration, len(t))}
	for i, ms := range t {
		d.Each[i] = millis(ms)
	}
	return d
}

func millis(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// perTracker is a value by tracker: an object with tracker numbers, or a list.
type perTracker map[string]int64

func (p *perTracker) UnmarshalJSON(b []byte) error {
	var list []*int64
	if json.Unmarshal(b, &list) == nil {
		*p = perTracker{}
		for i, v := range list {
			if v != nil {
				(*p)[strconv.Itoa(i)] = *v
			}
		}
		return nil
	}
	var m map[string]int64
	err := json.Unmarshal(b, &m)
	*p = m
	return err
}

// caseMachines are the racks of a case, and what its machines suffer.
type caseMachines struct {
	Racks     int              `json:"racks"`
	RackOf    []int            `json:"rack_of"`
	Slowness  []float64        `json:"slowness"`
	Dies      map[string]int64 `json:"dies_ms"`
	FailAfter perTracker       `json:"fail_after_ms"`
}

func (c *caseMachines) racks() (names []string) {
	for rack := range max(1, c.Racks) {
		names = append(names, fmt.Sprintf("/rack%d", rack))
	}
	return names
}

// node returns a machine without its slots or resources.
func (c *caseMachines) node(i int) model.Node {
	n := model.Node{Name: fmt.Sprintf("c%03d", i), Slowness: 1}
	if i < len(c.RackOf) {
		n.Rack = c.RackOf[i]
	}
	if i < len(c.Slowness) {
		n.Slowness = c.Slowness[i]
	}
	n.Dies, n.FailAfter = millis(c.Dies[strconv.Itoa(i)]), millis(c.FailAfter[strconv.Itoa(i)])
	return n
}

// caseMaps are the maps of a job.
type caseMaps struct {
	Count      int                 `json:"count"`
	Time       times               `json:"ms"`
	Hosts      [][]string          `json:"hosts"`
	RackFactor float64             `json:"rack_factor"`
	OffFactor  float64             `json:"off_factor"`
	Fail       map[string][]*int64 `json:"fail"`
}

func (m *caseMaps) tasks() (workload.MapTasks, error) {
	t := workload.MapTasks{Count: m.Count, Time: durationsOf(m.Time), RackFactor: m.RackFactor, OffFactor: m.OffFactor, Splits: make([]workload.Split, m.Count)}
	for i := range min(len(m.Hosts), m.Count) {
		t.Splits[i].Hosts = m.Hosts[i]
	}
	var err error
	t.Ends, err = failures(m.Fail, m.Count)
	return t, err
}

// caseReduces are the reduces of a job.
type caseReduces struct {
	Count   int                 `json:"count"`
	Shuffle times               `json:"shuffle_ms"`
	Sort    times               `json:"sort_ms"`
	Reduce  times               `json:"reduce_ms"`
	Fail    map[string][]*int64 `json:"fail"`
}

func (r *caseReduces) tasks() (workload.ReduceTasks, error) {
	t := workload.ReduceTasks{Count: r.Count, Shuffle: durationsOf(r.Shuffle), Sort: durationsOf(r.Sort), Time: durationsOf(r.Reduce)}
	var err error
	t.Ends, err = failures(r.Fail, r.Count)
	return t, err
}

// failures returns how attempts end: after a number of milliseconds by a failure, or,
// for null, as they should.
func failures(in map[string][]*int64, tasks int) (map[int][]workload.AttemptEnd, error) {
	if len(in) == 0 {
		return nil, nil
	}
	out := make(map[int][]workload.AttemptEnd, len(in))
	for _, key := range slices.Sorted(maps.Keys(in)) {
		task, err := strconv.Atoi(key)
		if err != nil || task < 0 || task >= tasks {
			return nil, fmt.Errorf("fail: task %q, want one from 0 to %d", key, tasks-1)
		}
		for _, ms := range in[key] {
			var end workload.AttemptEnd
			if ms != nil {
				end = workload.AttemptEnd{State: workload.Failed, After: millis(*ms)}
			}
			out[task] = append(out[task], end)
		}
	}
	return out, nil
}
