package sim_test

import (
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// Maps are listed by their hosts 65536 at a time. A host that has none of these is given its
// own maps of the rest, and the first host goes on with its own.
func TestMapsListedLater(t *testing.T) {
	const first = 1 << 16
	q := crowd("fifo", 1)
	q.Cluster = nodes(2, 2, 1)
	m := &q.Jobs[0].Maps
	m.Splits = make([]workload.Split, first+100)
	m.Count = len(m.Splits)
	for i := range m.Splits {
		m.Splits[i].Hosts = []string{q.Cluster.Nodes[i/first].Name}
	}
	q.Until = time.Minute
	p, list := mustRun(t, q)
	for _, a := range list {
		if a.Kind == workload.Map && (a.NodeIndex == 1) != (a.Task >= first) {
			t.Errorf("map %d ran on %s", a.Task, a.Node)
		}
	}
	if j := &p.Jobs[0]; j.Locality[workload.NodeLocal] < 4 || j.Locality[workload.RackLocal] > 0 {
		t.Errorf("locality %v: want at least 4 maps on their hosts, none elsewhere", j.Locality)
	}
}

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
