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

// The machines of jobs that were asked for are those of all jobs of their JobTracker, and
// listed ones, but none that it had only after a restart. No JobTracker gave etl_1 its id.
func TestMachinesOfAJobTracker(t *testing.T) {
	h := &History{Topology: Topology{
		Racks:  []Rack{{Hosts: []string{"a", "b", "c", "later", "listed", "own"}}},
		Listed: map[string]bool{"listed": true},
	}}
	for _, j := range [][2]string{{"job_1_1", "a"}, {"job_1_2", "b"}, {"job_2_1", "a"}, {"job_2_2", "later"}, {"job_3_1", "c"}, {"etl_1", "own"}} {
		h.Jobs = append(h.Jobs, HistoryJob{ID: j[0], Tasks: []HistoryTask{{Attempts: []HistoryAttempt{{Attempt: Attempt{Node: j[1]}}}}}})
	}
	h.WithTrackersOf(func(j *HistoryJob) bool { return j.ID == "job_1_2" || j.ID == "job_3_1" })
	var jobs []string
	for i := range h.Jobs {
		jobs = append(jobs, h.Jobs[i].ID)
	}
	if want := []string{"job_1_1", "job_1_2", "job_3_1", "etl_1"}; !reflect.DeepEqual(jobs, want) {
		t.Errorf("jobs %v: want %v", jobs, want)
	}
	if want := []Rack{{Hosts: []string{"a", "b", "c", "listed", "own"}}}; !reflect.DeepEqual(h.Topology.Racks, want) {
		t.Errorf("machines %v: want %v", h.Topology.Racks, want)
	}
}
