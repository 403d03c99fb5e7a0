package sim_test

import (
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// A tracker that jobs have blacklisted is pardoned a fault when it has had none for a day: a job just
// before that leaves it alone, and one just after gives it tasks.
func TestDailyPardon(t *testing.T) {
	for _, c := range []struct {
		after    time.Duration // submission of the second job, from the end of the first
		pardoned bool
	}{{24*time.Hour - 2*time.Minute, false}, {24*time.Hour + 2*time.Minute, true}} {
		nodes := alike(5, 2, 2)
		nodes[4].FailAfter = sec(0.1)
		q := model.WhatIf{
			Cluster: model.Cluster{
				Hadoop: "0.20.2", Nodes: nodes, Racks: []string{"r"}, Costs: eraCosts, Replication: 3, Conf: confOf("mapred.max.tracker.blacklists", "1"),
			},
			Scheduler: model.Scheduler{Name: "fifo"},
		}
		for i, id := range []string{"first", "second"} {
			q.Jobs = append(q.Jobs, workload.Job{
				ID: id, Submit: time.Duration(i) * c.after,
				Conf: confOf("mapred.max.tracker.failures", "1", "mapred.map.tasks.speculative.execution", "false"),
				Maps: workload.MapTasks{Count: 16, Time: all(sec(20))}, Reduces: workload.ReduceTasks{Count: 1},
			})
		}
		p, _ := mustRun(t, q)
		q.Jobs[1].Submit += p.Jobs[0].Finish
		_, rows := mustRun(t, q)
		there := map[string]int{}
		for _, a := range rows.of(workload.Map) {
			if a.Node == nodes[4].Name {
				there[a.Job]++
			}
		}
		if there["first"] == 0 || (there["second"] > 0) != c.pardoned {
			t.Errorf("%v after the fault: attempts on the bad node by job: %v; pardoned: want %v", c.after, there, c.pardoned)
		}
	}
}
