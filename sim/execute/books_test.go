package execute

import (
	"math"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// What the devices have done is what the attempts have asked for: seconds of
// disks, cores and links against bytes and records.
func TestDeviceBooksBalance(t *testing.T) {
	for _, c := range []struct {
		hadoop string
		exact  int
	}{{"0.20.2", math.MaxInt}, {"0.20.2", 0}, {"3.3.6", math.MaxInt}, {"3.3.6", 0}} {
		q := shuffles(8, 2, 40, 6, 60e6, "0.05", []float64{0.4, 0.2, 0.1, 0.1, 0.1, 0.1})
		q.Cluster.Hadoop = c.hadoop
		q.Jobs[0].Conf.Set("dfs.replication", "2")
		q.Jobs[0].Conf.Set("mapred.compress.map.output", "true")
		q.Jobs[0].Conf.Set("io.sort.mb", "20")
		m := &q.Cluster.Machines[0]
		m.CPU = model.MeasuredCost
		for i := range m.Disks {
			m.Disks[i].Write = 100e6
		}
		h := play(t, q)
		h.devices.exactFetches = c.exact
		h.run(t)

		var asked [2]workload.Counters
		for _, a := range h.rows {
			if a.Kind > workload.Reduce {
				continue
			}
			if a.State != workload.Succeeded {
				t.Fatalf("%+v", a)
			}
			c := &asked[a.Kind]
			c.InRecords += a.InRecords
			c.OutRecords += a.OutRecords
			c.ShuffleBytes += a.ShuffleBytes
			c.HDFSReadBytes += a.HDFSReadBytes
			c.HDFSWriteBytes += a.HDFSWriteBytes
			c.LocalReadBytes += a.LocalReadBytes
			c.LocalWriteBytes += a.LocalWriteBytes
		}
		if got, want := asked[workload.Reduce].InRecords, asked[workload.Map].OutRecords; math.Abs(float64(got-want)) > 6+40 {
			t.Errorf("reduces read %d records of %d", got, want)
		}
		var disks, reads, writes, up, down float64
		for i := range h.devices.hardware.nodes {
			n := &h.devices.hardware.nodes[i]
			for _, d := range n.disks {
				disks += d.Work()
				r, w := d.moved()
				reads, writes = reads+r, writes+w
			}
			up += n.up.Work()
			down += n.down.Work()
		}
		read := asked[0].HDFSReadBytes + asked[0].LocalReadBytes + asked[1].LocalReadBytes
		// The index of a map's output is booked and takes no time of its own.
		index := int64(40 * (6*24 + 8))
		written := asked[0].LocalWriteBytes - index + asked[1].LocalWriteBytes + 2*asked[1].HDFSWriteBytes
		if want := float64(read)/400e6 + float64(written)/100e6; math.Abs(disks-want) > 1e-6*want {
			t.Errorf("disks have served %.6f s, want %.6f for %d bytes read and %d written", disks, want, read, written)
		}
		if math.Abs(reads-float64(read)) > 1e-6*reads || math.Abs(writes-float64(written)) > 1e-6*writes {
			t.Errorf("disks have read %.0f bytes of %d and written %.0f of %d", reads, read, writes, written)
		}
		if math.Abs(up-down) > 1e-6*up {
			t.Errorf("%.0f bytes were sent and %.0f received", up, down)
		}
		remote := float64(asked[1].ShuffleBytes + asked[1].HDFSWriteBytes + asked[0].HDFSReadBytes)
		if down > remote || down < 0.5*float64(asked[1].ShuffleBytes) {
			t.Errorf("%.0f bytes received of at most %.0f", down, remote)
		}
	}
}

// What disks read of the files of tasks, and of an input that has just been
// written, is what memory does not have: nothing where there is enough, all where
// the heaps leave none, and in between less than all.
func TestMemoryKeepsFiles(t *testing.T) {
	const heap = 600 << 20
	for _, c := range []struct {
		name   string
		memory int64
		fresh  bool
		least  float64 // of the bytes that are read, from disks
		most   float64
	}{
		{"enough", 1 << 40, false, 0, 0},
		{"enough, fresh input", 1 << 40, true, 0, 0},
		{"no more than the heaps", heap, true, 1, 1},
		{"some", 5*heap + 64<<20, false, 0.1, 0.9},
		{"some, fresh input", 5*heap + 256<<20, true, 0.1, 0.9},
	} {
		q := shuffles(4, 1, 32, 4, 60e6, "0.05", nil)
		q.Jobs[0].Conf.Set("io.sort.mb", "20")
		q.Jobs[0].Maps.Fresh = c.fresh
		m := &q.Cluster.Machines[0]
		m.PageCache, m.Memory = true, c.memory
		h := play(t, q).run(t)
		var read, others float64 // bytes: those that may be in memory, and the rest
		for _, a := range h.rows {
			if a.Kind > workload.Reduce {
				continue
			}
			read += float64(a.LocalReadBytes)
			if c.fresh {
				read += float64(a.HDFSReadBytes)
			} else {
				others += float64(a.HDFSReadBytes)
			}
		}
		reads := 0.0
		for i := range h.devices.hardware.nodes {
			for _, d := range h.devices.hardware.nodes[i].disks {
				r, _ := d.moved()
				reads += r
			}
		}
		const rounding = 1e-6
		if part := (reads - others) / read; !(part > c.least-rounding && part < c.most+rounding) {
			t.Errorf("%s: disks have read %.3f of %.0f bytes, want %v to %v", c.name, part, read, c.least, c.most)
		}
	}
}

// A map that waits for room in its buffer has not mapped what it waits to map.
func TestProgressOfAWaitingMap(t *testing.T) {
	r := mapTask{step: 1, plan: &mapPlan{input: []float64{10, 6, 6, 0}}}
	r.plan.Steps = taskplan.Steps{{}, {}, {Joined: true}}
	if got := r.progress(0); got != 0.4 {
		t.Errorf("%v mapped, want 0.4", got)
	}
	r.plan.sort = []float64{3, 3, 3, 0}
	if got := r.progress(0); got != 0.8/3 {
		t.Errorf("progress on YARN is %v, want two thirds of 0.4", got)
	}
	r.step, r.plan.input, r.plan.sort = 1, []float64{10, 0, 0, 0}, []float64{4, 3, 3, 0}
	if got := r.progress(0); got != 2.25/3 {
		t.Errorf("progress on YARN is %v, want two thirds and a quarter of the last", got)
	}
}
