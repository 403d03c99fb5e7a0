package sim_test

import (
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// A map whose hosts all run no tracker is launched in a cluster of several racks
// too, off its rack, after those whose hosts are known.
func TestHostsWithoutTrackers(t *testing.T) {
	q := crowd("fifo", 1)
	q.Cluster = nodes(40, 1, 1)
	m := &q.Jobs[0].Maps
	m.Count = 2
	m.Splits = []workload.Split{{Hosts: []string{"elsewhere"}}, {Hosts: []string{q.Cluster.Nodes[0].Name}}}
	q.Until = time.Hour
	p, _ := mustRun(t, q)
	if j := &p.Jobs[0]; j.State != workload.Succeeded || j.Locality[workload.OffRack] == 0 {
		t.Errorf("%v with locality %v: want success, a map off its rack", j.State, j.Locality)
	}
}
