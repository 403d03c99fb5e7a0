package results

import (
	"fmt"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// Two queues on a cluster of 10 GiB over 400 s: one step is a second. Queue a has an
// ApplicationMaster of 2 GiB from 1 s to the end and a task of 4 GiB from 10 s to
// 20.5 s; an application waits there from 100 s on. Queue b has a reservation of
// 1 GiB from 50 s to 60 s, which becomes a container that is given back at 61 s.
func TestUseOfQueues(t *testing.T) {
	const second = time.Second
	size := func(gib int64) model.Resource { return model.Resource{MemoryMiB: gib << 10, VCores: gib} }
	never := func(c Container) Container {
		for _, at := range []*time.Duration{&c.Reserved, &c.Allocated, &c.Acquired, &c.Start, &c.End, &c.Freed} {
			if *at == 0 {
				*at = -1
			}
		}
		return c
	}
	y := &OnYARN{
		Nodes: []model.Node{{Name: "n", Resource: size(10)}},
		Applications: []Application{
			{Job: &workload.Job{ID: "x"}, Queue: "root.a", Submitted: 0, AMAllocated: second, Ended: -1},
			{Job: &workload.Job{ID: "y"}, Queue: "root.a", Submitted: 100 * second, AMAllocated: -1, Ended: -1},
			{Job: &workload.Job{ID: "z"}, Queue: "root.b", Submitted: -1, AMAllocated: -1, Ended: -1},
		},
		Containers: []Container{
			never(Container{Number: 1, What: "am", Size: size(2), Allocated: second}),
			never(Container{Number: 2, What: "m0_0", Size: size(4), Allocated: 10 * second, Freed: 20*second + second/2}),
			never(Container{Application: 2, Number: 2, Size: size(1), Reserved: 50 * second, Allocated: 60 * second, Freed: 61 * second}),
		},
		Queues: []Queue{{"root.a", size(6), size(10)}},
	}
	u := y.useOver(400 * second)
	rows := u.table()
	for _, c := range []struct {
		row  int
		want string
	}{
		{1, "[0 root.a 0 0 0 0 6144 10240 0 1]"},
		{3, "[1000000000 root.a 2048 2 2048 0 6144 10240 1 0]"},
		{41, "[20000000000 root.a 4096 4 2048 0 6144 10240 1 0]"},
		{102, "[50000000000 root.b 0 0 0 1024   0 0]"},
		{122, "[60000000000 root.b 1024 1 0 0   0 0]"},
		{799, "[399000000000 root.a 2048 2 2048 0 6144 10240 1 1]"},
	} {
		if got := fmt.Sprint(rows[c.row]); got != c.want {
			t.Errorf("row %d: got %s, want %s", c.row, got, c.want)
		}
	}
	s := u.summary()
	// Of a: 2 GiB for 399 s and 4 GiB for 10.5 s; of b 1 GiB for 1 s; of 4,000 GiB s.
	if got, want := fmt.Sprintf("%.6f %.6f %.6f %d %d", s.Memory, s.Masters, s.Reserved, s.Containers, s.Unused), "0.210250 0.199500 0.002500 3 1"; got != want {
		t.Errorf("summary: got %s, want %s", got, want)
	}
	if got, want := fmt.Sprintf("%.4f %.4f %.4f", s.Queues[0].Running, s.Queues[0].Waiting, s.Queues[0].Peak), "0.9975 0.7525 0.6000"; got != want {
		t.Errorf("queue: got %s, want %s", got, want)
	}
}
