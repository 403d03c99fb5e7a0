package sim_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// eraCosts are round figures of the era: a JVM takes 1.5 s to start.
var eraCosts = model.Costs{
	Launch: sec(1.5), Setup: sec(0.7), Cleanup: sec(0.4), TaskCleanup: sec(0.2), Commit: sec(0.5),
}

// instants are what is checked of an attempt.
type instants struct {
	kind          workload.Kind
	state         workload.State
	start, finish float64 // seconds
}

func wantInstants(t *testing.T, rows table, want []instants) {
	t.Helper()
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b workload.Attempt) int { return int(a.Start - b.Start) })
	var got []instants
	for _, a := range rows {
		got = append(got, instants{kind: a.Kind, state: a.State, start: a.Start.Seconds(), finish: a.Finish.Seconds()})
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("attempts %v,\n          want %v", got, want)
	}
}

// A job of one map, of 5.2 s, on one idle node whose first heartbeat is at 1 s
// (0.1 s where the interval is 0.3 s); then with one reduce, of 2.1 s shuffle,
// 0.4 s sort and 3.3 s reduce; and the map again alone, which then has to commit.
//
// Every attempt starts at a heartbeat, its child 1.5 s later, and its end is known
// at the heartbeat after it. Who wants to commit says so at a heartbeat, sees the
// answer when it next asks, a whole number of seconds after it first did, and
// commits for 0.5 s. With an interval of 3 s, in the case with the reduce:
//
//	set-up    1 + 1.5 + 0.7 = 3.2, known at 4
//	map       4 + 1.5 + 5.2 = 10.7, known at 13
//	reduce   13 + 1.5, knows the map's output at once; + 2.1 + 0.4 + 3.3 = 20.3,
//	         known at 22, asks at 22.3, ends at 22.8, known at 25
//	clean-up 25 + 1.5 + 0.4 = 26.9, known at 28
func TestOneAttemptOnAnIdleNode(t *testing.T) {
	const ok = workload.Succeeded
	for _, c := range []struct {
		release string
		phase   float64
		reduces int
		want    []instants
		end     float64
	}{
		{"0.20.2", 1, 1, []instants{
			{kind: workload.Setup, state: ok, start: 1, finish: 3.2}, {kind: workload.Map, state: ok, start: 4, finish: 10.7}, {kind: workload.Reduce, state: ok, start: 13, finish: 22.8}, {kind: workload.Cleanup, state: ok, start: 25, finish: 26.9},
		}, 28},
		{"1.0.4", 1, 1, []instants{
			{kind: workload.Setup, state: ok, start: 1, finish: 3.2}, {kind: workload.Map, state: ok, start: 4, finish: 10.7}, {kind: workload.Reduce, state: ok, start: 13, finish: 22.8}, {kind: workload.Cleanup, state: ok, start: 25, finish: 26.9},
		}, 28},
		// Heartbeats at 0.1 + 0.3 k: 2.5, 9.4, 16.9, 18.4, 20.5. The reduce wants to
		// commit at 9.4 + 1.5 + 5.8 = 16.7 and asks again at 17.7.
		{"1.2.1", 0.1, 1, []instants{
			{kind: workload.Setup, state: ok, start: 0.1, finish: 2.3}, {kind: workload.Map, state: ok, start: 2.5, finish: 9.2}, {kind: workload.Reduce, state: ok, start: 9.4, finish: 18.2}, {kind: workload.Cleanup, state: ok, start: 18.4, finish: 20.3},
		}, 20.5},
		{"ideal", 0, 1, []instants{{kind: workload.Map, state: ok, start: 0, finish: 5.2}, {kind: workload.Reduce, state: ok, start: 5.2, finish: 11}}, 11},
		// The map wants to commit at 10.7, says so at 13, asks at 13.7.
		{"0.20.2", 1, 0, []instants{{kind: workload.Setup, state: ok, start: 1, finish: 3.2}, {kind: workload.Map, state: ok, start: 4, finish: 14.2}, {kind: workload.Cleanup, state: ok, start: 16, finish: 17.9}}, 19},
		{"1.0.4", 1, 0, []instants{{kind: workload.Setup, state: ok, start: 1, finish: 3.2}, {kind: workload.Map, state: ok, start: 4, finish: 14.2}, {kind: workload.Cleanup, state: ok, start: 16, finish: 17.9}}, 19},
		// At 9.2, says so at 9.4, asks at 10.2, ends at 10.7.
		{"1.2.1", 0.1, 0, []instants{{kind: workload.Setup, state: ok, start: 0.1, finish: 2.3}, {kind: workload.Map, state: ok, start: 2.5, finish: 10.7}, {kind: workload.Cleanup, state: ok, start: 10.9, finish: 12.8}}, 13},
		{"ideal", 0, 0, []instants{{kind: workload.Map, state: ok, start: 0, finish: 5.2}}, 5.2},
	} {
		t.Run(fmt.Sprintf("%s-%d-reduces", c.release, c.reduces), func(t *testing.T) {
			q := model.WhatIf{
				Cluster: model.Cluster{
					Hadoop: c.release, Nodes: alike(1, 1, 1), Racks: []string{"r"}, Costs: eraCosts, Phases: []time.Duration{sec(c.phase)},
				},
				Scheduler: model.Scheduler{Name: "fifo"},
				Jobs: []workload.Job{{
					ID: "j", Maps: workload.MapTasks{Count: 1, Time: all(sec(5.2))},
					Reduces: workload.ReduceTasks{Count: c.reduces, Shuffle: all(sec(2.1)), Sort: all(sec(0.4)), Time: all(sec(3.3))},
				}},
			}
			if c.release == "ideal" {
				q.Cluster.Costs = model.Costs{}
			}
			p, rows := mustRun(t, q)
			wantInstants(t, rows, c.want)
			if p.Mean != sec(c.end) {
				t.Errorf("the job ended at %v, want %v s", p.Mean, c.end)
			}
		})
	}
}

// TestFetchSleep: a reduce of 0.4 s of copying and 3.3 s of reduce starts beside the
// map, at 4 s, and its child at 5.5 s. It knows the output of the map when it asks at
// 13.5 s, after the heartbeat at 13 s. Its loop, which slept from 5.5 s on, looks again
// each 5 s, so at 15.5 s, and the thread that asks ends within a second: 15.5 + 1 + 0.4
// + 3.3 = 20.2, known at 22, asks at 22.2, ends at 22.7. A Copy of a job without such
// waits is over at 13.9 s. One that starts after the map sleeps once, within its Copy.
func TestFetchSleep(t *testing.T) {
	for _, c := range []struct {
		slowstart   string
		sleep, copy float64
		want        float64 // end of the reduce
	}{{"0", 0, 0.4, 19.7}, {"0", 5, 6.4, 22.7}, {"1", 5, 6.4, 25.7}} {
		conf := workload.Conf{}
		conf.Set("mapred.reduce.slowstart.completed.maps", c.slowstart)
		_, rows := mustRun(t, model.WhatIf{
			Cluster: model.Cluster{
				Hadoop: "0.20.2", Nodes: alike(1, 1, 1), Racks: []string{"r"}, Costs: eraCosts, Phases: []time.Duration{sec(1)},
			},
			Scheduler: model.Scheduler{Name: "fifo"},
			Jobs: []workload.Job{{
				ID: "j", Conf: conf, Maps: workload.MapTasks{Count: 1, Time: all(sec(5.2))},
				Reduces: workload.ReduceTasks{Count: 1, Copy: all(sec(c.copy)), FetchSleep: sec(c.sleep), Time: all(sec(3.3))},
			}},
		})
		for _, a := range rows {
			if a.Kind == workload.Reduce && a.Finish != sec(c.want) {
				t.Errorf("slowstart %s, %v s of sleep: the reduce ends at %v, want %v s", c.slowstart, c.sleep, a.Finish, c.want)
			}
		}
	}
}

// TestNoSetupCleanup: a job without such tasks gets its map at the first heartbeat
// and ends at the heartbeat that reports its reduce. Heartbeats are at 1 + 3 k s:
//
//	map       1 + 1.5 + 5.2 = 7.7, known at 10
//	reduce   10 + 1.5 + 2.1 + 0.4 + 3.3 = 17.3, told at 19, asks at 19.3, ends
//	         at 19.8, known at 22
func TestNoSetupCleanup(t *testing.T) {
	const ok = workload.Succeeded
	p, rows := mustRun(t, model.WhatIf{
		Cluster: model.Cluster{
			Hadoop: "0.20.2", Nodes: alike(1, 1, 1), Racks: []string{"r"}, Costs: eraCosts, Phases: []time.Duration{sec(1)},
		},
		Scheduler: model.Scheduler{Name: "fifo"},
		Jobs: []workload.Job{{
			ID: "j", NoSetupCleanup: true, Maps: workload.MapTasks{Count: 1, Time: all(sec(5.2))},
			Reduces: workload.ReduceTasks{Count: 1, Shuffle: all(sec(2.1)), Sort: all(sec(0.4)), Time: all(sec(3.3))},
		}},
	})
	wantInstants(t, rows, []instants{{kind: workload.Map, state: ok, start: 1, finish: 7.7}, {kind: workload.Reduce, state: ok, start: 10, finish: 19.8}})
	if p.Mean != sec(22) {
		t.Errorf("the job ended at %v, want 22 s", p.Mean)
	}
}

// The tracker's thread that fetches completion events counts a reduce until its
// shuffle ends, even if the reduce knows all maps. The reduce of a therefore keeps
// the thread from fetching at once for the reduce of b, which comes to the same
// tracker at 20.8 s. Heartbeats are at 1 + 3.3 k s:
//
//	a  reduce from 4.3, asks at 5.8, 6.8, ...; the map is known at 14.2, fetched
//	   at 15.8, so the reduce knows it at 16.8 and copies until 46.8; the thread
//	   wakes at 19.1 and 22.4
//	b  the reduce asks at 22.3, which is the first fetch for b; the next ones are
//	   at 26.3, 30.3 and 34.3, as it asks each second and 3.3 s must have passed;
//	   the map is known at 30.7, so the reduce knows it at 35.3; + 5.8 = 41.1, told
//	   at 43.9, asks at 44.1, ends at 44.6
func TestReduceCountsUntilItsShuffleEnds(t *testing.T) {
	job := func(id string, submit, shuffle float64) workload.Job {
		return workload.Job{
			ID: id, Submit: sec(submit), Conf: confOf("mapred.reduce.slowstart.completed.maps", "0"),
			Maps:    workload.MapTasks{Count: 1, Time: all(sec(5.2))},
			Reduces: workload.ReduceTasks{Count: 1, Shuffle: all(sec(shuffle)), Sort: all(sec(0.4)), Time: all(sec(3.3))},
		}
	}
	_, rows := mustRun(t, model.WhatIf{
		Cluster: model.Cluster{
			Hadoop: "0.20.2", Heartbeat: sec(3.3), Nodes: alike(1, 2, 2), Racks: []string{"r"}, Costs: eraCosts, Phases: []time.Duration{sec(1)},
		},
		Scheduler: model.Scheduler{Name: "fifo"},
		Jobs:      []workload.Job{job("a", 0, 30), job("b", 15, 2.1)},
	})
	rows = slices.DeleteFunc(rows.of(workload.Reduce), func(a workload.Attempt) bool { return a.Job == "a" })
	wantInstants(t, rows, []instants{{kind: workload.Reduce, state: workload.Succeeded, start: 20.8, finish: 44.6}})
}

// With a slot each and work that waits, a node starts its next map at the first
// heartbeat after the end of the one before: k maps of t take k times t rounded
// up to whole intervals, on every node at its own phase.
func TestCompletionIsSeenAtHeartbeats(t *testing.T) {
	const interval, nodes, waves = 3.0, 5, 4
	for _, length := range []float64{0.5, 2.999, 3.001, 7.5, 14} {
		q := model.WhatIf{
			Cluster: model.Cluster{
				Hadoop: "1.0.4", Nodes: alike(nodes, 1, 1), Racks: []string{"r"}, Replication: 1,
				Phases: []time.Duration{sec(0.1), sec(0.7), sec(1.3), sec(1.9), sec(2.5)},
			},
			Scheduler: model.Scheduler{Name: "fifo"},
			// One reduce at the end, so that maps need not commit.
			Jobs: []workload.Job{{
				ID: "j", Conf: confOf("mapred.reduce.slowstart.completed.maps", "1"),
				Maps:    workload.MapTasks{Count: nodes * waves, Time: all(sec(length))},
				Reduces: workload.ReduceTasks{Count: 1},
			}},
		}
		_, rows := mustRun(t, q)
		period := time.Duration((int64(sec(length)) + int64(sec(interval)) - 1) / int64(sec(interval)) * int64(sec(interval)))
		for i, n := range q.Cluster.Nodes {
			var starts []time.Duration
			for _, a := range rows.of(workload.Map) {
				if a.Node == n.Name {
					starts = append(starts, a.Start)
				}
			}
			if len(starts) != waves {
				t.Fatalf("%s ran %d maps, want %d", n.Name, len(starts), waves)
			}
			if (starts[0]-q.Cluster.Phases[i])%sec(interval) != 0 {
				t.Errorf("%s started its first map at %v, which is no heartbeat", n.Name, starts[0])
			}
			for w, at := range starts {
				if want := starts[0] + time.Duration(w)*period; at != want {
					t.Errorf("maps of %v: %s started map %d at %v, want %v", sec(length), n.Name, w, at, want)
				}
			}
		}
	}
}

// How many tasks of each type, and in all, one heartbeat gives a node with six
// free map slots and four free reduce slots while there is work for all.
func TestTasksPerHeartbeat(t *testing.T) {
	for _, c := range []struct {
		release, policy string
		conf            workload.Conf
		maps, reduces   int
		total           int
	}{
		{"0.20.2", "fifo", workload.Conf{}, 6, 1, 7},
		{"0.20.2", "fair1", workload.Conf{}, 1, 1, 1},
		{"0.20.2", "fair1", confOf("mapred.fairscheduler.assignmultiple", "true"), 1, 1, 2},
		{"1.2.1", "fair2", workload.Conf{}, 6, 4, 10},
		{"1.2.1", "fair2", confOf("mapred.fairscheduler.assignmultiple", "false"), 1, 1, 1},
		{"1.2.1", "fair2", confOf("mapred.fairscheduler.assignmultiple.maps", "2", "mapred.fairscheduler.assignmultiple.reduces", "3"), 2, 3, 5},
		{"0.20.2", "capacity", workload.Conf{}, 1, 1, 1},
		{"1.2.1", "capacity", workload.Conf{}, 6, 1, 7},
		{"1.2.1", "capacity", confOf("mapred.capacity-scheduler.maximum-tasks-per-heartbeat", "4"), 4, 1, 5},
	} {
		_, rows := mustRun(t, model.WhatIf{
			Cluster:   model.Cluster{Hadoop: c.release, Nodes: alike(1, 6, 4), Racks: []string{"r"}, Phases: []time.Duration{0}, Replication: 1},
			Scheduler: model.Scheduler{Name: c.policy, Conf: c.conf},
			Jobs: []workload.Job{{
				ID: "j", Conf: confOf("mapred.reduce.slowstart.completed.maps", "0", "mapred.map.tasks.speculative.execution", "false"),
				Maps:    workload.MapTasks{Count: 60, Time: all(time.Minute)},
				Reduces: workload.ReduceTasks{Count: 20, Time: all(time.Minute)},
			}},
		})
		most := map[time.Duration][2]int{}
		maps, reduces, total := 0, 0, 0
		for _, a := range append(rows.of(workload.Map), rows.of(workload.Reduce)...) {
			n := most[a.Start]
			n[a.Kind]++
			most[a.Start] = n
			maps, reduces, total = max(maps, n[0]), max(reduces, n[1]), max(total, n[0]+n[1])
		}
		if maps != c.maps || reduces != c.reduces || total != c.total {
			t.Errorf("%s of %s %v gave %d maps, %d reduces, %d tasks at once; want %d, %d, %d",
				c.policy, c.release, c.conf.Keys(), maps, reduces, total, c.maps, c.reduces, c.total)
		}
	}
}
