//go:build unix

package sim_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/workload"
)

// crowd is a queue of small jobs that grows: each has ten maps, and they are
// submitted ten times as fast as 100 nodes can run them.
func crowd(policy string, jobs int) model.WhatIf {
	q := model.WhatIf{Cluster: nodes(100, 4, 2), Scheduler: model.Scheduler{Name: policy}, Seed: 1}
	for i := range jobs {
		q.Jobs = append(q.Jobs, workload.Job{
			ID: fmt.Sprintf("job%d", i), User: fmt.Sprintf("user%d", i%10),
			Submit:   time.Duration(i) * 75 * time.Millisecond,
			Deadline: time.Duration(i)*75*time.Millisecond + time.Hour,
			Maps:     workload.MapTasks{Count: 10, Time: lognormal(30, 5)},
		})
		alone(&q.Jobs[i])
	}
	return q
}

// BenchmarkJobs runs ever more jobs with ten maps each: a policy's cost for a
// task must not grow with the number of jobs that wait.
func BenchmarkJobs(b *testing.B) {
	for _, policy := range scheduler.Names() {
		for _, n := range []int{10, 100, 1000, 10_000} {
			b.Run(policy+"/"+strconv.Itoa(n), func(b *testing.B) { play(b, crowd(policy, n)) })
		}
	}
}
