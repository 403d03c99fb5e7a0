package execute

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// playBatches runs a question with up to exact fetches of a job as flows of their own.
func playBatches(t *testing.T, q model.WhatIf, exact int) []workload.Attempt {
	t.Helper()
	h := play(t, q)
	h.devices.exactFetches = exact
	return h.run(t).rows
}

// shuffles is a job whose reduces take most of their time to fetch, on nodes of
// a rack or two.
func shuffles(nodes, racks, maps, reduces int, nic float64, slowstart string, shares []float64) model.WhatIf {
	disk := model.Disk{Read: 400e6, Write: 400e6}
	disk.Curve.Kind = model.NoCurve
	c := model.Cluster{
		Hadoop: "0.20.2", Replication: 3,
		Machines: []model.Machine{{Name: "m", Cores: 8, Speed: 4, Memory: 1 << 34, Disks: []model.Disk{disk, disk, disk, disk}, NIC: nic, Uplink: nic * float64(nodes) / 4, HeapPart: 1}},
	}
	for i := range nodes {
		c.Nodes = append(c.Nodes, model.Node{Name: fmt.Sprintf("n%03d", i), Rack: i * racks / nodes, MapSlots: 4, ReduceSlots: 2, Slowness: 1})
	}
	for i := range racks {
		c.Racks = append(c.Racks, fmt.Sprintf("r%d", i))
	}
	var conf workload.Conf
	for k, v := range map[string]string{
		"dfs.replication": "1", "mapred.child.java.opts": "-Xmx600m", "io.sort.mb": "200", "io.sort.record.percent": "0.2",
		"mapred.reduce.slowstart.completed.maps":    slowstart,
		"mapred.map.tasks.speculative.execution":    "false",
		"mapred.reduce.tasks.speculative.execution": "false",
	} {
		conf.Set(k, v)
	}
	data := taskplan.Data{InputPairWidth: 100, RecsPerGroup: 1, MapSizeSel: 1, MapRecsSel: 1, ReduceSizeSel: 0.01, ReduceRecsSel: 0.01, CombineSizeSel: 1, CombineRecsSel: 1}
	return model.WhatIf{
		Fidelity: model.Device, Cluster: c, Scheduler: model.Scheduler{Name: "fifo"}, Seed: 1,
		Programs: []model.Program{{Name: "p", MapCPU: 100, ReduceCPU: 10, Data: data}},
		Jobs: []workload.Job{{
			ID: "j", Program: "p", Conf: conf,
			Maps:    workload.MapTasks{Count: maps, InputBytes: int64(maps) * 64 << 20},
			Reduces: workload.ReduceTasks{Count: reduces, Shares: shares},
		}},
	}
}

// Fetching several outputs at a time moves the end of each reduce's shuffle, and
// of the last one, by no more than this part of its length.
const (
	eachBound = 0.10
	lastBound = 0.10
)

func TestBatchesOfFetchesAreNearExact(t *testing.T) {
	for _, c := range []struct {
		name string
		q    model.WhatIf
	}{
		{"after the maps", shuffles(20, 1, 640, 40, 30e6, "1", nil)},
		{"beside the maps", shuffles(20, 1, 640, 40, 30e6, "0.05", nil)},
		{"two waves", shuffles(20, 1, 640, 80, 30e6, "0.05", nil)},
		{"between racks", shuffles(20, 2, 640, 40, 60e6, "0.05", nil)},
		{"between racks after the maps", shuffles(20, 2, 640, 40, 60e6, "1", nil)},
		{"fast network", shuffles(20, 1, 640, 40, 1000e6, "0.05", nil)},
	} {
		t.Run(c.name, func(t *testing.T) {
			ends := func(exact int) (each []time.Duration, last, length time.Duration) {
				each = make([]time.Duration, c.q.Jobs[0].Reduces.Count)
				for _, a := range playBatches(t, c.q, exact) {
					if a.Kind == workload.Reduce {
						end := a.Start + a.Phases[workload.PhaseStartup] + a.Phases[workload.PhaseShuffle]
						each[a.Task] = end
						last = max(last, end)
						length += a.Phases[workload.PhaseShuffle] / time.Duration(len(each))
					}
				}
				return each, last, length
			}
			exact, lastExact, length := ends(math.MaxInt)
			got, last, l2 := ends(0)
			sum := 0.0
			for i := range exact {
				sum += math.Abs(float64(got[i]-exact[i])) / float64(length) / float64(len(exact))
			}
			off := float64(last-lastExact) / float64(length)
			t.Logf("shuffle %v (%v): ends differ by %.1f %% of it, the last by %+.1f %%", length, l2, 100*sum, 100*off)
			if sum > eachBound || math.Abs(off) > lastBound {
				t.Errorf("more than %v and %v", eachBound, lastBound)
			}
		})
	}
}
