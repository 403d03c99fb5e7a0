package sim_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// Two map slots and three jobs of 10 s maps that come together: a has until 100 s
// and four maps, b has four as well, c has two, no deadline and the highest
// priority. ARIA's mean of the bounds for four maps of 10 s is 35/S + 5: one slot
// does until 40 s, two until 22.5 s, four until 13.75 s.
func TestDeadlinePolicies(t *testing.T) {
	for _, c := range []struct {
		policy    string
		deadlineB float64
		a, b, c   float64 // finishes, s
	}{
		{"maxedf", 30, 40, 20, 50},  // b, a, c, each on both slots
		{"maxedf", 200, 20, 40, 50}, // a, b, c
		{"maxedf", 0, 20, 50, 30},   // without deadlines by priority: a, c, b
		{"minedf", 30, 60, 20, 40},  // b needs both slots; then a takes one and c the other
		{"minedf", 45, 40, 40, 50},  // a and b take one slot each, then comes c
		{"minedf", 1, 60, 20, 40},   // out of reach: b gets what there is
	} {
		four := slices.Repeat([]time.Duration{sec(10)}, 4)
		jobA, jobB, jobC := mapsOnly("a", four...), mapsOnly("b", four...), mapsOnly("c", four[:2]...)
		jobA.Deadline, jobB.Deadline, jobC.Priority = sec(100), sec(c.deadlineB), workload.VeryHigh
		p, _ := mustRun(t, model.WhatIf{
			Cluster: idealCluster(alike(1, 2, 0)), Scheduler: model.Scheduler{Name: c.policy},
			Jobs: []workload.Job{jobA, jobB, jobC},
		})
		got := [3]float64{p.Jobs[0].Finish.Seconds(), p.Jobs[1].Finish.Seconds(), p.Jobs[2].Finish.Seconds()}
		if want := [3]float64{c.a, c.b, c.c}; got != want {
			t.Errorf("%s, b until %v s: a, b and c end at %v, want %v", c.policy, c.deadlineB, got, want)
		}
	}
}

// A node on which everything fails is avoided by the first job; when that has
// succeeded, 0.20.2 gives the node nothing for a day. 1.0.4 goes on using it.
func TestClusterBlacklist(t *testing.T) {
	job := func(id string, submit time.Duration) workload.Job {
		return workload.Job{
			ID: id, Submit: submit,
			Conf:    confOf("mapred.max.tracker.failures", "1", "mapred.map.tasks.speculative.execution", "false"),
			Maps:    workload.MapTasks{Count: 16, Time: all(sec(20))},
			Reduces: workload.ReduceTasks{Count: 1},
		}
	}
	for _, c := range []struct {
		release string
		shunned bool
	}{{"0.20.2", true}, {"1.0.4", false}} {
		nodes := alike(5, 2, 2)
		nodes[4].FailAfter = sec(0.1)
		_, rows := mustRun(t, model.WhatIf{
			Cluster: model.Cluster{
				Hadoop: c.release, Nodes: nodes, Racks: []string{"r"}, Costs: eraCosts, Replication: 3,
				Conf: confOf("mapred.max.tracker.blacklists", "1"),
			},
			Scheduler: model.Scheduler{Name: "fifo"},
			Jobs:      []workload.Job{job("first", 0), job("second", time.Hour), job("third", 25*time.Hour)},
		})
		there := map[string]int{}
		for _, a := range rows.of(workload.Map) {
			if a.Node == nodes[4].Name {
				there[a.Job]++
			}
		}
		if there["first"] == 0 || (there["second"] == 0) != c.shunned || there["third"] == 0 {
			t.Errorf("%s: attempts on the bad node by job: %v; shunned by the second: want %v", c.release, there, c.shunned)
		}
	}
}

// A map of 2000 MB takes two slots of 1000 MB where the capacity scheduler of 1.x
// schedules memory: of eight maps two run at a time on four slots, else four.
func TestMemorySlots(t *testing.T) {
	limits := []string{
		"mapred.cluster.map.memory.mb", "1000", "mapred.cluster.reduce.memory.mb", "1000",
		"mapred.cluster.max.map.memory.mb", "2000", "mapred.cluster.max.reduce.memory.mb", "2000",
	}
	for _, c := range []struct {
		release, policy string
		limits          []string
		memory          string
		atOnce          int // 0: the job is refused
	}{
		{"1.0.4", "capacity", limits, "2000", 2},
		{"1.2.1", "capacity", limits, "1001", 2},
		{"1.2.1", "capacity", limits, "1000", 4},
		{"1.0.4", "capacity", limits[:6], "2000", 4}, // all four limits or none
		{"0.20.2", "capacity", limits, "2000", 4},
		{"1.0.4", "fifo", limits, "2000", 4},
		{"1.0.4", "capacity", limits, "3000", 0},
	} {
		_, rows, err := tryRun(model.WhatIf{
			Cluster: model.Cluster{
				Hadoop: c.release, Nodes: alike(1, 4, 1), Racks: []string{"r"}, Replication: 1, Conf: confOf(c.limits...),
			},
			Scheduler: model.Scheduler{Name: c.policy},
			Jobs: []workload.Job{{
				ID: "j", Conf: confOf("mapred.job.map.memory.mb", c.memory, "mapred.job.reduce.memory.mb", "1000"),
				Maps: workload.MapTasks{Count: 8, Time: all(time.Minute)},
			}},
		})
		if c.atOnce == 0 {
			if err == nil || !strings.Contains(err.Error(), "mapred.job.map.memory.mb = 3000") {
				t.Errorf("%s MB: error %v, want one that names the property", c.memory, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var steps []step
		for _, a := range rows.of(workload.Map) {
			// Without the commit, during which the next map may be given already.
			end := a.Finish - a.Phases[workload.PhaseCommit]
			steps = append(steps, step{at: a.Start, by: 1}, step{at: end, by: -1})
		}
		most := 0
		if err := walk(steps, func(_, _ time.Duration, n int) error { most = max(most, n); return nil }); err != nil {
			t.Fatal(err)
		}
		if most != c.atOnce {
			t.Errorf("%s of %s, %s MB: %d maps at once, want %d", c.policy, c.release, c.memory, most, c.atOnce)
		}
	}
}

// A map that wants to commit at 10.7 fails, on the one node of
// TestOneAttemptOnAnIdleNode. While it waits, at 5.5 + 6 = 11.5: known at 13, the
// attempt is cleaned up after from 13 to 13 + 1.5 + 0.2, which is known at 16,
// and the map runs again. While it commits, from 13.7 to 14.2, at 14: all that
// comes a heartbeat later.
func TestFailsWhileCommitting(t *testing.T) {
	for _, c := range []struct {
		after float64
		want  []instants
	}{
		{6, []instants{
			{kind: workload.Setup, state: workload.Succeeded, start: 1, finish: 3.2}, {kind: workload.Map, state: workload.Failed, start: 4, finish: 11.5},
			{kind: workload.TaskCleanup, state: workload.Failed, start: 13, finish: 14.7}, {kind: workload.Map, state: workload.Succeeded, start: 16, finish: 26.2},
			{kind: workload.Cleanup, state: workload.Succeeded, start: 28, finish: 29.9},
		}},
		{8.5, []instants{
			{kind: workload.Setup, state: workload.Succeeded, start: 1, finish: 3.2}, {kind: workload.Map, state: workload.Failed, start: 4, finish: 14},
			{kind: workload.TaskCleanup, state: workload.Failed, start: 16, finish: 17.7}, {kind: workload.Map, state: workload.Succeeded, start: 19, finish: 29.2},
			{kind: workload.Cleanup, state: workload.Succeeded, start: 31, finish: 32.9},
		}},
		// It has committed by then.
		{8.8, []instants{
			{kind: workload.Setup, state: workload.Succeeded, start: 1, finish: 3.2}, {kind: workload.Map, state: workload.Succeeded, start: 4, finish: 14.2},
			{kind: workload.Cleanup, state: workload.Succeeded, start: 16, finish: 17.9},
		}},
	} {
		job := mapsOnly("j", sec(5.2))
		job.Maps.Ends = map[int][]workload.AttemptEnd{0: {{State: workload.Failed, After: sec(c.after)}}}
		_, rows := mustRun(t, model.WhatIf{
			Cluster: model.Cluster{
				Hadoop: "0.20.2", Nodes: alike(1, 1, 1), Racks: []string{"r"}, Costs: eraCosts, Phases: []time.Duration{sec(1)},
			},
			Scheduler: model.Scheduler{Name: "fifo"}, Jobs: []workload.Job{job},
		})
		wantInstants(t, rows, c.want)
	}
}

// A run that is cut at 15 s on one slot: the first job has ended at 10 s, the
// second runs, the third, of 20 s, was never submitted.
func TestCut(t *testing.T) {
	third := mapsOnly("third", sec(10))
	third.Submit = sec(20)
	p, rows := mustRun(t, model.WhatIf{
		Cluster: idealCluster(alike(1, 1, 0)), Scheduler: model.Scheduler{Name: "fifo"}, Until: sec(15),
		Jobs: []workload.Job{mapsOnly("first", sec(10)), mapsOnly("second", sec(10)), third},
	})
	wantInstants(t, rows, []instants{{kind: workload.Map, state: workload.Succeeded, start: 0, finish: 10}, {kind: workload.Map, state: workload.Running, start: 10, finish: 15}})
	for i, want := range []struct {
		state          workload.State
		launch, finish time.Duration
	}{{workload.Succeeded, 0, sec(10)}, {workload.Running, 0, -1}, {workload.Running, -1, -1}} {
		if o := p.Jobs[i]; o.State != want.state || o.Launch != want.launch || o.Finish != want.finish {
			t.Errorf("job %s: %v, launched %v, finished %v; want %+v", o.ID, o.State, o.Launch, o.Finish, want)
		}
	}
	if p.Mean != sec(15) || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "2 of 3 jobs unfinished") {
		t.Errorf("makespan %v, warnings %q", p.Mean, p.Warnings)
	}
}

// Runs that never end say so: one whose reduces find no slots stalls, and one
// that takes longer than it may reaches its limit.
func TestEndlessRuns(t *testing.T) {
	for _, release := range []string{"0.20.2", "1.0.4", "1.2.1", "ideal"} {
		q := model.WhatIf{
			Cluster:   model.Cluster{Hadoop: release, Nodes: alike(2, 1, 0), Racks: []string{"r"}},
			Scheduler: model.Scheduler{Name: "fifo"},
			Jobs: []workload.Job{
				{ID: "stuck", Maps: workload.MapTasks{Count: 1, Time: all(sec(100))}, Reduces: workload.ReduceTasks{Count: 1}},
				{ID: "free", Maps: workload.MapTasks{Count: 1, Time: all(sec(10))}},
			},
		}
		_, _, err := tryRun(q)
		var stalled *sim.Stalled
		if !errors.As(err, &stalled) || !slices.Equal(stalled.Jobs, []string{"stuck"}) || stalled.At < sec(100) {
			t.Errorf("%s: error %v, want stalled with the first job after its map", release, err)
		}
		_, err = sim.Simulator{Limit: time.Minute}.Predict(q)
		var limit *sim.LimitReached
		if !errors.As(err, &limit) || limit.Limit != time.Minute {
			t.Errorf("%s: error %v, want the limit of a minute reached", release, err)
		}
	}
}

// A node dies at 30 s, two seconds after its last heartbeat. With an expiry of
// 60 s that is looked at every 20 s it is given up at 100 s: 80 - 28 is not more
// than 60. The other node beats at 99.5 s and 102.5 s.
//
// The map that ran there has to be cleaned up after first, from 102.5 s for
// 0.2 s, which is known at 105.5 s; one that had ended, but whose output a reduce
// still wants, runs again at once.
func TestLostTracker(t *testing.T) {
	for _, c := range []struct {
		second float64 // s, the map on the node that dies
		want   []instants
	}{
		{150, []instants{
			{kind: workload.Map, state: workload.Succeeded, start: 3.5, finish: 153.5}, {kind: workload.Map, state: workload.Killed, start: 4, finish: 30},
			{kind: workload.TaskCleanup, state: workload.Killed, start: 102.5, finish: 102.7}, {kind: workload.Map, state: workload.Succeeded, start: 105.5, finish: 255.5},
		}},
		{5, []instants{
			{kind: workload.Map, state: workload.Succeeded, start: 3.5, finish: 153.5}, {kind: workload.Map, state: workload.Succeeded, start: 4, finish: 9},
			{kind: workload.Map, state: workload.Succeeded, start: 102.5, finish: 107.5},
		}},
	} {
		nodes := alike(2, 2, 1)
		nodes[1].Dies = sec(30)
		_, rows := mustRun(t, model.WhatIf{
			Cluster: model.Cluster{
				Hadoop: "1.0.4", Nodes: nodes, Racks: []string{"r"}, Replication: 2,
				Phases: []time.Duration{sec(0.5), sec(1)}, Costs: model.Costs{Setup: sec(0.7), TaskCleanup: sec(0.2)},
				Conf: confOf("mapred.tasktracker.expiry.interval", "60000"),
			},
			Scheduler: model.Scheduler{Name: "fifo"},
			Jobs: []workload.Job{{
				ID: "j",
				Conf: confOf("mapred.reduce.slowstart.completed.maps", "1",
					"mapred.map.tasks.speculative.execution", "false"),
				Maps:    workload.MapTasks{Count: 2, Time: each(sec(150), sec(c.second))},
				Reduces: workload.ReduceTasks{Count: 1},
			}},
		})
		t.Run(fmt.Sprint(c.second), func(t *testing.T) {
			wantInstants(t, append(rows.of(workload.Map), rows.of(workload.TaskCleanup)...), c.want)
		})
	}
}

// Recorded ends are repeated, on the nodes of TestOneAttemptOnAnIdleNode; the
// second node, where there is one, sends its heartbeats a second later. The map
// takes 5.2 s.
//
// A map that hung fails when it is recorded to, not when a map would have ended:
// 4 + 1.5 + 20 = 25.5, known at 28, cleaned up after until 29.7, known at 31. One
// that was killed after 2 s is killed again, at the next heartbeat. One that was
// slower than another, launched 10 s after it on the second node, runs until that
// has ended: it asks to commit at 20.7, says so at 23, ends at 24.2, known at 26,
// so the first is killed at 28.
// A job that is ordered to end at 30 s kills its map at 31, and its clean-up takes
// the reduce slot.
func TestRecordedEndsAreRepeated(t *testing.T) {
	const ok, failed, killed = workload.Succeeded, workload.Failed, workload.Killed
	setup := instants{kind: workload.Setup, state: ok, start: 1, finish: 3.2}
	for _, c := range []struct {
		name  string
		nodes int
		ends  string
		job   workload.AttemptEnd
		want  []instants
		end   workload.State
	}{
		{"hung", 1, "FAILED 20s", workload.AttemptEnd{}, []instants{
			setup, {kind: workload.Map, state: failed, start: 4, finish: 25.5}, {kind: workload.TaskCleanup, state: failed, start: 28, finish: 29.7}, {kind: workload.Map, state: ok, start: 31, finish: 41.2}, {kind: workload.Cleanup, state: ok, start: 43, finish: 44.9},
		}, ok},
		{"killed", 1, "KILLED 2s", workload.AttemptEnd{}, []instants{
			setup, {kind: workload.Map, state: killed, start: 4, finish: 10}, {kind: workload.TaskCleanup, state: killed, start: 13, finish: 14.7}, {kind: workload.Map, state: ok, start: 16, finish: 26.2}, {kind: workload.Cleanup, state: ok, start: 28, finish: 29.9},
		}, ok},
		{"slower", 2, "KILLED 100s, SUCCEEDED beside 10s", workload.AttemptEnd{}, []instants{
			setup, {kind: workload.Map, state: killed, start: 4, finish: 28}, {kind: workload.Map, state: ok, start: 14, finish: 24.2}, {kind: workload.Cleanup, state: ok, start: 26, finish: 27.9},
		}, ok},
		{"too slow", 2, "SUCCEEDED, KILLED 100s beside 3s", workload.AttemptEnd{}, []instants{
			setup, {kind: workload.Map, state: ok, start: 4, finish: 14.2}, {kind: workload.Map, state: killed, start: 8, finish: 17}, {kind: workload.Cleanup, state: ok, start: 16, finish: 17.9},
		}, ok},
		{"job killed", 1, "KILLED 100s", workload.AttemptEnd{State: killed, After: sec(30)}, []instants{
			setup, {kind: workload.Map, state: killed, start: 4, finish: 31}, {kind: workload.Cleanup, state: ok, start: 31, finish: 32.9},
		}, killed},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := mapsOnly("j", sec(5.2))
			job.Conf = confOf("mapred.map.tasks.speculative.execution", "false")
			job.Ends = c.job
			job.Maps.Ends = map[int][]workload.AttemptEnd{}
			for _, text := range strings.Split(c.ends, ", ") {
				var end workload.AttemptEnd
				if err := end.UnmarshalText([]byte(text)); err != nil || end.String() != strings.NewReplacer("100s", "1m40s").Replace(text) {
					t.Fatalf("%q is read as %v", text, end)
				}
				job.Maps.Ends[0] = append(job.Maps.Ends[0], end)
			}
			p, rows := mustRun(t, model.WhatIf{
				Cluster: model.Cluster{
					Hadoop: "0.20.2", Nodes: alike(c.nodes, 1, 1), Racks: []string{"r"}, Costs: eraCosts, Phases: []time.Duration{sec(1), sec(2)}[:c.nodes],
				},
				Scheduler: model.Scheduler{Name: "fifo"}, Jobs: []workload.Job{job},
			})
			wantInstants(t, rows, c.want)
			if p.Jobs[0].State != c.end {
				t.Errorf("the job ended %v, want %v", p.Jobs[0].State, c.end)
			}
		})
	}
}

// The first set-up fails after 20 s and the first two clean-ups after 5 s, each once: also
// where the tasks of both types of slots have the same numbers, as with one map and one
// reduce.
func TestRecordedServiceEndsAreRepeated(t *testing.T) {
	job := mapsOnly("j", sec(5))
	job.Reduces.Count = 1
	fails := func(after float64) workload.AttemptEnd {
		return workload.AttemptEnd{State: workload.Failed, After: sec(after), Certain: true}
	}
	job.SetupEnds, job.CleanupEnds = []workload.AttemptEnd{fails(20)}, []workload.AttemptEnd{fails(5), fails(5)}
	_, rows := mustRun(t, model.WhatIf{
		Cluster:   model.Cluster{Hadoop: "0.20.2", Nodes: alike(3, 1, 1), Racks: []string{"r"}, Costs: eraCosts},
		Scheduler: model.Scheduler{Name: "fifo"}, Jobs: []workload.Job{job},
	})
	got := map[workload.Kind]string{}
	for i := range rows {
		got[rows[i].Kind] += rows[i].State.String() + " "
	}
	if setups, cleanups := got[workload.Setup], got[workload.Cleanup]; setups != "FAILED SUCCEEDED " || cleanups != "FAILED FAILED SUCCEEDED " {
		t.Errorf("set-ups end %s and clean-ups %s", setups, cleanups)
	}
}

// Without heartbeats an attempt that is recorded as killed is killed at the instant of
// the record, before or after the 5 s that its task takes, and the next one starts.
func TestRecordedKillsWithoutHeartbeats(t *testing.T) {
	for _, after := range []float64{0, 2, 9} {
		job := mapsOnly("j", sec(5))
		job.Maps.Ends = map[int][]workload.AttemptEnd{0: {{State: workload.Killed, After: sec(after)}}}
		_, rows := mustRun(t, model.WhatIf{
			Cluster:   model.Cluster{Hadoop: "ideal", Nodes: alike(1, 1, 1), Racks: []string{"r"}},
			Scheduler: model.Scheduler{Name: "fifo"}, Jobs: []workload.Job{job},
		})
		wantInstants(t, rows, []instants{
			{kind: workload.Map, state: workload.Killed, start: 0, finish: after}, {kind: workload.Map, state: workload.Succeeded, start: after, finish: after + 5},
		})
	}
}

// A run whose nodes have all died ends when the JobTracker has lost the last of them: no
// thread of a scheduler keeps it alive.
func TestEveryNodeDies(t *testing.T) {
	for _, c := range []struct{ release, scheduler string }{
		{"0.20.2", "fair1"}, {"1.2.1", "fair2"}, {"0.20.2", "capacity"}, {"1.2.1", "capacity"}, {"1.0.4", "fifo"},
	} {
		for _, fromStart := range []bool{false, true} {
			nodes := alike(2, 1, 1)
			nodes[0].Dies, nodes[1].Dies = sec(20), sec(30)
			_, _, err := tryRun(model.WhatIf{
				Cluster:   model.Cluster{Hadoop: c.release, Nodes: nodes, Racks: []string{"r"}, FromStart: fromStart},
				Scheduler: model.Scheduler{Name: c.scheduler},
				Jobs:      []workload.Job{mapsOnly("j", sec(15), sec(15), sec(15), sec(15)), {ID: "late", Submit: sec(2000), Maps: workload.MapTasks{Count: 1, Time: all(sec(1))}}},
			})
			var stalled *sim.Stalled
			if !errors.As(err, &stalled) || !slices.Equal(stalled.Jobs, []string{"j", "late"}) || !strings.HasSuffix(err.Error(), "every node has died (dies)") || stalled.At > sec(2001) {
				t.Errorf("%s on %s, from the start %t: error %v, want stalled by dead nodes", c.scheduler, c.release, fromStart, err)
			}
		}
	}
}
