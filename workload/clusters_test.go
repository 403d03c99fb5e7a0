package workload

import (
	"reflect"
	"testing"
)

// A list of machines is one of a cluster: it joins the jobs that ran on them, and none
// that ran elsewhere.
func TestClustersOfListedMachines(t *testing.T) {
	h := &History{Epoch: Unknown, Topology: Topology{
		Racks:  []Rack{{Hosts: []string{"a", "b", "c", "x", "y"}}},
		Listed: map[string]bool{"a": true, "b": true, "c": true},
	}}
	for _, j := range [][2]string{{"job_1_1", "x"}, {"job_2_1", "a"}, {"job_3_1", "b"}, {"job_1_2", "y"}} {
		h.Jobs = append(h.Jobs, HistoryJob{ID: j[0], Submit: UnknownTime, Tasks: []HistoryTask{
			{Attempts: []HistoryAttempt{{Attempt: Attempt{Node: j[1]}}}},
		}})
	}
	var got [][]string
	for _, c := range h.Clusters() {
		workers := c.Workers()
		got = append(got, append([]string{c.Jobs[0].ID, c.Jobs[1].ID}, workers.Racks[0].Hosts...))
	}
	want := [][]string{{"job_1_1", "job_1_2", "x", "y"}, {"job_2_1", "job_3_1", "a", "b", "c"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v: want %v", got, want)
	}
}
