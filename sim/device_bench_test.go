package sim_test

import (
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/workload"
)

// server is a machine of two cores' worth of nothing special.
func server() model.Machine {
	disk := model.Disk{Read: 100e6, Write: 90e6, Curve: model.DiskCurve{Kind: model.FloorCurve, Alpha: 0.1, Least: 0.5}}
	return model.Machine{
		Name: "server", Cores: 8, Speed: 1, Memory: 24 << 30, Disks: []model.Disk{disk, disk, disk, disk},
		NIC: 125e6, Uplink: 10 * 125e6, JVMStart: 1e9, HeapPart: 1, CPU: model.MeasuredCost,
	}
}

// sortProgram keeps every record of 100 bytes.
func sortProgram() model.Program {
	return model.Program{
		Name: "sort", MapCPU: 600, ReduceCPU: 400,
		Data: taskplan.Data{
			InputPairWidth: 100, RecsPerGroup: 1, MapSizeSel: 1, MapRecsSel: 1, ReduceSizeSel: 1, ReduceRecsSel: 1,
			CombineSizeSel: 1, CombineRecsSel: 1,
		},
	}
}

// sorting is one job at fidelity device.
func sorting(n, mapSlots, reduceSlots, maps, reduces int, block int64) model.WhatIf {
	c := nodes(n, mapSlots, reduceSlots)
	c.Machines = []model.Machine{server()}
	j := workload.Job{
		ID: "sort", Program: "sort",
		Conf:    confOf("dfs.replication", "1", "mapred.child.java.opts", "-Xmx1g", "io.sort.mb", "200", "io.sort.factor", "100"),
		Maps:    workload.MapTasks{Count: maps, InputBytes: int64(maps) * block},
		Reduces: workload.ReduceTasks{Count: reduces},
	}
	return model.WhatIf{
		Fidelity: model.Device, Cluster: c, Scheduler: model.Scheduler{Name: "fifo"}, Seed: 1,
		Jobs: []workload.Job{j}, Programs: []model.Program{sortProgram()},
	}
}

// Five million transfers between maps and reduces.
func BenchmarkLargeShuffle(b *testing.B) { play(b, sorting(512, 2, 1, 10_240, 512, 64<<20)) }

// A terabyte on a hundred nodes.
func BenchmarkTeraSort(b *testing.B) { play(b, sorting(100, 8, 4, 8000, 400, 125_000_000)) }

// The public day of Facebook's cluster of 600 nodes.
func BenchmarkFacebook2009Devices(b *testing.B) {
	f, err := scenarios.Open("fb2009", "fidelity=device", "cluster.platform=dl145-g3", "workload.profile=terasort")
	if err != nil {
		b.Fatal(err)
	}
	s, err := f.Scenario(1)
	if err != nil {
		b.Fatal(err)
	}
	play(b, s.Runs[0].Question)
}
