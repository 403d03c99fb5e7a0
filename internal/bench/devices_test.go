package bench

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/station"
	"github.com/slotwave/slotwave/workload"
)

// shuffles are simulations of disks, cores and links.
func shuffles() []benchmark {
	n, day, set := 128, "fb2009 on dl145-g3, 500 jobs", []string{"workload.jobs=500"}
	if !testing.Short() {
		n, day, set = 512, "fb2009 on dl145-g3", nil
	}
	set = append(set, "fidelity=device", "cluster.platform=dl145-g3", "workload.profile=terasort")
	return []benchmark{
		fetching(fmt.Sprintf("%d nodes, each fetch a flow", n), n, 1<<30),
		fetching(fmt.Sprintf("%d nodes, fetches in batches", n), n, 1),
		simulated("device", day, func() (model.WhatIf, error) { return shipped("fb2009", set...) }),
	}
}

// fetching is the sort of 20 blocks a node by a reduce a node, by fetch.
func fetching(name string, n, exact int) benchmark {
	return benchmark{group: "device", name: name, unit: "fetch", prepare: func(testing.TB) (func() (int64, error), error) {
		q, err := sorting(n)
		q.Network.ExactFetches = exact
		return func() (int64, error) {
			_, err := (sim.Simulator{}).Predict(q)
			return int64(20 * n * n), err
		}, err
	}}
}

func sorting(n int) (model.WhatIf, error) {
	disk := model.Disk{Read: 100e6, Write: 90e6, Curve: model.DiskCurve{Kind: model.FloorCurve, Alpha: 0.1, Least: 0.5}}
	q := question(nodes(n, 2, 1))
	q.Fidelity = model.Device
	q.Cluster.Machines = []model.Machine{{
		Name: "server", Cores: 8, Speed: 1, Memory: 24 << 30, Disks: []model.Disk{disk, disk, disk, disk},
		NIC: 125e6, Uplink: 10 * 125e6, JVMStart: 1e9, HeapPart: 1, CPU: model.MeasuredCost,
	}}
	q.Programs = []model.Program{{
		Name: "sort", MapCPU: 600, ReduceCPU: 400,
		Data: taskplan.Data{
			InputPairWidth: 100, RecsPerGroup: 1, MapSizeSel: 1, MapRecsSel: 1, ReduceSizeSel: 1, ReduceRecsSel: 1,
			CombineSizeSel: 1, CombineRecsSel: 1,
		},
	}}
	j := workload.Job{ID: "sort", Program: "sort"}
	for _, p := range [][2]string{{"dfs.replication", "1"}, {"mapred.child.java.opts", "-Xmx1g"}, {"io.sort.mb", "200"}, {"io.sort.factor", "100"}} {
		j.Conf.Set(p[0], p[1])
	}
	j.Maps.Count, j.Maps.InputBytes, j.Reduces.Count = 20*n, int64(20*n)*64<<20, n
	q.Jobs = []workload.Job{j}
	return q, nil
}

// transfers let every host fetch with five copiers from hosts at random, in
// racks of 40 whose uplinks carry a quarter of the interfaces.
func transfers() (list []benchmark) {
	for _, slack := range []float64{0, 0.01} {
		for _, hosts := range []int{200, 1000} {
			transfers := 20 * hosts
			if slack > 0 {
				transfers *= 5
			}
			list = append(list, benchmark{
				group: "uplinks 4:1", name: fmt.Sprintf("%d hosts, slack %v", hosts, slack), unit: "transfer",
				prepare: func(testing.TB) (func() (int64, error), error) { return fetchOverUplinks(hosts, transfers, slack), nil },
			})
		}
	}
	return list
}

func fetchOverUplinks(hosts, transfers int, slack float64) func() (int64, error) {
	const rack, nic = 40, 125e6
	t := &traffic{eng: engine.New()}
	t.net = station.NewNetwork(t.eng)
	t.net.Slack = slack
	for range hosts / rack {
		t.fabric.Racks = append(t.fabric.Racks, station.Rack{Up: t.net.NewTrunk(rack * nic / 4), Down: t.net.NewTrunk(rack * nic / 4)})
	}
	for i := range hosts {
		t.fabric.Hosts = append(t.fabric.Hosts, station.Host{Up: t.net.NewLink(nic, nil), Down: t.net.NewLink(nic, nil), Rack: i / rack})
	}
	for to := range hosts {
		for i := range 5 {
			c := &copier{to: to, rng: rand.New(rand.NewPCG(uint64(to), uint64(i))), traffic: t}
			c.flow.Receiver = c
			c.fetch()
		}
	}
	t.run(20 * hosts) // until it is in a steady state
	return func() (int64, error) {
		t.run(transfers)
		return int64(transfers), nil
	}
}

// traffic is endless transfers between hosts.
type traffic struct {
	eng    *engine.Engine
	net    *station.Network
	fabric station.Fabric
	done   int
}

func (t *traffic) run(transfers int) {
	for end := t.done + transfers; t.done < end; {
		t.eng.Step()
	}
}

// copier fetches from one host after another.
type copier struct {
	flow    station.Flow
	to      int
	rng     *rand.Rand
	traffic *traffic
}

// Received implements station.Receiver.
func (c *copier) Received(*station.Flow) {
	c.traffic.done++
	c.fetch()
}

func (c *copier) fetch() {
	t := c.traffic
	from := c.rng.IntN(len(t.fabric.Hosts) - 1)
	if from >= c.to {
		from++
	}
	c.flow.Hops = t.fabric.Transfer(c.flow.Hops[:0], from, c.to)
	t.net.Start(&c.flow, c.rng.ExpFloat64()*64e6)
}
