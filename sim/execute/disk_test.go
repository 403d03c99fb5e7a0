package execute

import (
	"math"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// writer is one map that writes to HDFS, and nothing else takes
// time.
func writer(t *testing.T, bytes int64, replicas string, m model.Machine) float64 {
	t.Helper()
	var conf workload.Conf
	conf.Set("dfs.replication", replicas)
	q := model.WhatIf{
		Fidelity: model.Device, Scheduler: model.Scheduler{Name: "fifo"},
		Cluster: model.Cluster{
			Hadoop: "ideal", Racks: []string{"r"}, Machines: []model.Machine{m},
			Nodes: []model.Node{{Name: "a", MapSlots: 1, Slowness: 1}, {Name: "b", Slowness: 1}},
		},
		Programs: []model.Program{{Name: "copy", Data: taskplan.Data{InputPairWidth: 100, RecsPerGroup: 1, MapSizeSel: 1, MapRecsSel: 1}}},
		Jobs:     []workload.Job{{ID: "j", Program: "copy", Conf: conf, Maps: workload.MapTasks{Count: 1, InputBytes: bytes}}},
	}
	return play(t, q).run(t).rows[0].Phases[workload.PhaseWrite].Seconds()
}

// A write waits for its disks as far as there is no room in memory for it.
func TestWritesWaitInMemory(t *testing.T) {
	const chunk = writeBackChunk
	for _, c := range []struct {
		name     string
		replicas string
		dirty    int64
		nic      float64
		seconds  float64
	}{
		{"no cache", "1", 0, 1e9, 40 * chunk / 80e6},
		{"room for all", "1", 40 * chunk, 1e9, 0},
		{"room for a quarter", "1", 10 * chunk, 1e9, 30 * chunk / 80e6},
		{"room for all, a second replica", "2", 40 * chunk, 50e6, 40 * chunk / 50e6},
		{"a slow network, disks that follow", "2", chunk, 50e6, 40 * chunk / 50e6},
		{"room for a quarter, a second replica", "2", 10 * chunk, 1e9, 30 * chunk / 80e6},
	} {
		m := model.Machine{Name: "m", Cores: 1, Speed: 1, Memory: 1 << 34, HeapPart: 1, NIC: c.nic, Uplink: math.Inf(1), Dirty: c.dirty}
		m.Disks = []model.Disk{{Read: 1e12, Write: 80e6, Curve: model.DiskCurve{Kind: model.NoCurve}}}
		// One window of a pipeline is on its way while the last one is put.
		within := 1e-6
		if c.replicas == "2" && c.dirty > 0 {
			within = pipelineWindow/c.nic + chunk/80e6
		}
		if got := writer(t, 40*chunk, c.replicas, m); math.Abs(got-c.seconds) > within {
			t.Errorf("%s: written in %.6f s, want %.6f", c.name, got, c.seconds)
		}
	}
}

// What went through memory reaches the disks, all of it, and there is never more
// in memory than there is room.
func TestPageCacheBooksBalance(t *testing.T) {
	q := shuffles(8, 2, 40, 6, 60e6, "0.05", nil)
	q.Jobs[0].Conf.Set("dfs.replication", "2")
	m := &q.Cluster.Machines[0]
	m.Dirty = 60 << 20
	for i := range m.Disks {
		m.Disks[i].Write = 20e6
	}
	h := play(t, q)
	dirty, waited := 1.0, false
	for !h.over() || dirty > 0 {
		h.eng.Step()
		dirty = 0
		for i := range h.devices.hardware.nodes {
			c := &h.devices.hardware.nodes[i].cache
			dirty += c.dirty
			waited = waited || len(c.queue) > 0
			if c.dirty < 0 || c.dirty > c.size {
				t.Fatalf("%.0f bytes in a memory of %.0f", c.dirty, c.size)
			}
		}
	}
	if !waited {
		t.Error("nobody ever waited for room")
	}
	var served, asked float64
	for i := range h.devices.hardware.nodes {
		n := &h.devices.hardware.nodes[i]
		if len(n.cache.queue) > 0 {
			t.Errorf("%d writes still wait", len(n.cache.queue))
		}
		for _, d := range n.disks {
			served += d.Work()
		}
	}
	for _, a := range h.rows {
		if a.Kind > workload.Reduce {
			continue
		}
		index := 0.0 // of a map's output: booked, and takes no time of its own
		if a.Kind == workload.Map {
			index = 6*24 + 8
		}
		asked += float64(a.HDFSReadBytes+a.LocalReadBytes)/400e6 + (float64(a.LocalWriteBytes+2*a.HDFSWriteBytes)-index)/20e6
	}
	if math.Abs(served-asked) > 1e-6*asked {
		t.Errorf("disks have served %.6f s of %.6f", served, asked)
	}
}

// What rounding leaves of the memory is no room: written back in no time, it
// would be there again for the same writer.
func TestNoRoomByRounding(t *testing.T) {
	c := pageCache{size: 1 << 26, dirty: math.Nextafter(1<<26, 0)}
	w := put{onto: &disk{back: &writeBack{cache: &c, going: 1}}, left: 100}
	if c.enter(&w) || w.left != 100 || len(c.queue) != 1 {
		t.Errorf("%v bytes left of 100, %d writers wait; want all to wait", w.left, len(c.queue))
	}
}
