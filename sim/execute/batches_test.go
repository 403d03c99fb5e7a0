package execute

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
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
			for _, flows := range []int{len(c.q.Cluster.Nodes) * len(exact), 0} {
				got, last, l2 := ends(flows)
				sum := 0.0
				for i := range exact {
					sum += math.Abs(float64(got[i]-exact[i])) / float64(length) / float64(len(exact))
				}
				off := float64(last-lastExact) / float64(length)
				t.Logf("shuffle %v (%v): ends differ by %.1f %% of it, the last by %+.1f %%", length, l2, 100*sum, 100*off)
				if sum > eachBound || math.Abs(off) > lastBound {
					t.Errorf("more than %v and %v", eachBound, lastBound)
				}
			}
		})
	}
}

// uneven is a shuffle between nodes that differ in adapters, cores and slots, in
// racks with narrow uplinks, whose reduces get unequal shares.
func uneven(seed uint64) model.WhatIf {
	draw := rand.New(rand.NewPCG(seed, 0))
	nodes, racks := 6+draw.IntN(15), 1+draw.IntN(3)
	slots := make([]int, nodes) // for reduces, which run in one wave
	reduces := 0
	for i := range slots {
		slots[i] = 1 + draw.IntN(3)
		reduces += slots[i]
	}
	shares, sum := make([]float64, reduces), 0.0
	for i := range shares {
		shares[i] = 1 + draw.ExpFloat64()
		sum += shares[i]
	}
	for i := range shares {
		shares[i] /= sum
	}
	slowstart := []string{"0.05", "0.5", "1"}[draw.IntN(3)]
	q := shuffles(nodes, racks, nodes*(8+draw.IntN(25)), reduces, 20e6+80e6*draw.Float64(), slowstart, shares)
	slow := q.Cluster.Machines[0]
	slow.NIC /= []float64{2, 10, 20}[draw.IntN(3)]
	weak := q.Cluster.Machines[0]
	weak.Speed, weak.Cores = weak.Speed/3, 2
	q.Cluster.Machines = append(q.Cluster.Machines, slow, weak)
	for i := range q.Cluster.Nodes {
		n := &q.Cluster.Nodes[i]
		n.MapSlots, n.ReduceSlots = 1+draw.IntN(4), slots[i]
		switch draw.IntN(5) {
		case 0:
			n.Machine = 1
		case 1:
			n.Machine = 2
		}
	}
	return q
}

// On uneven clusters batches give each node the shuffle that single fetches give
// it, because a batch loads the links of the node that sends it. Which host a
// copier asks next is drawn, and moves a node's shuffle by up to a quarter: the
// means of four draws are compared, with the bound of the even clusters above and
// twice the standard error of the difference.
func TestBatchesOfFetchesOnUnevenNodes(t *testing.T) {
	clusters := uint64(5)
	if os.Getenv("SLOTWAVE_LARGE") != "" {
		clusters = 50
	}
	const draws = 4
	for seed := uint64(1000); seed < 1000+clusters; seed++ {
		q := uneven(seed)
		var single, batched [draws][]float64 // by draw and node
		for i := range draws {
			q.Seed = uint64(i + 1)
			single[i], batched[i] = shuffleByNode(t, q, math.MaxInt), shuffleByNode(t, q, len(q.Cluster.Nodes)*q.Jobs[0].Reduces.Count)
		}
		worst := 0.0
		for node := range q.Cluster.Nodes {
			want, off, err := 0.0, 0.0, 0.0
			var diff [draws]float64
			for i := range draws {
				diff[i] = batched[i][node] - single[i][node]
				want += single[i][node] / draws
				off += diff[i] / draws
			}
			for _, d := range diff {
				err += (d - off) * (d - off) / draws / (draws - 1)
			}
			worst = max(worst, math.Abs(off)/want)
			if math.Abs(off) > eachBound*want+2*math.Sqrt(err) {
				t.Errorf("seed %d, node %d: shuffle %.2f s longer than %.2f s, standard error %.2f", seed, node, off, want, math.Sqrt(err))
			}
		}
		t.Logf("seed %d: %d nodes, worst node %.1f %%", seed, len(q.Cluster.Nodes), 100*worst)
	}
}

// shuffleByNode returns the mean length of the shuffles on each node, and checks
// that all that was sent was received.
func shuffleByNode(t *testing.T, q model.WhatIf, exact int) []float64 {
	h := play(t, q)
	h.devices.exactFetches = exact
	mean := make([]float64, len(q.Cluster.Nodes))
	for _, a := range h.run(t).rows {
		if a.Kind == workload.Reduce {
			node := h.nodeOf[a.Task]
			mean[node] += a.Phases[workload.PhaseShuffle].Seconds() / float64(q.Cluster.Nodes[node].ReduceSlots)
		}
	}
	up, down := 0.0, 0.0
	for i := range h.devices.hardware.nodes {
		up += h.devices.hardware.nodes[i].up.Work()
		down += h.devices.hardware.nodes[i].down.Work()
	}
	if math.Abs(up-down) > 1e-6*up {
		t.Errorf("%.0f bytes were sent and %.0f received", up, down)
	}
	return mean
}

// On YARN a fetcher takes up to 20 outputs of a host, one after the other. While outputs
// in memory are merged none takes another host, and what memory holds passes its limit by
// one output at most. A connection without memory puts back what it has not brought.
func TestFetchersOfHadoop2(t *testing.T) {
	const maps, reduces = 120, 2
	q := shuffles(3, 1, maps, reduces, 100e6, "1", nil)
	q.Cluster.Hadoop = "3.3.6"
	q.Jobs[0].Conf.Set("mapred.child.java.opts", "-Xmx700m")
	q.Jobs[0].Conf.Set("mapred.job.shuffle.merge.percent", "0.95")
	h := play(t, q)
	longest, merges, putBack := 0, 0, 0
	before := map[*reduceTask]struct {
		merging bool
		copiers []*copier
		left    int
	}{}
	for !h.over() {
		if !h.eng.Step() {
			t.Fatal("the run stalled")
		}
		for _, list := range h.attempts {
			for _, a := range list {
				r, ok := a.running.(*reduceTask)
				if !ok || r.state != fetching {
					continue
				}
				left := 0
				for _, c := range r.copiers {
					longest = max(longest, len(c.maps)+len(c.left))
					left += len(c.left)
				}
				was := before[r]
				if was.merging && r.shuffle.Merging() {
					if len(r.copiers) > len(was.copiers) {
						t.Error("a fetcher takes a host during a merge")
					}
				}
				if !was.merging && r.shuffle.Merging() {
					merges++
				}
				if len(r.copiers) < len(was.copiers) && was.left-left > 1 {
					putBack++
				}
				was.merging, was.copiers, was.left = r.shuffle.Merging(), r.copiers, left
				before[r] = was
			}
		}
	}
	if longest != 20 || merges == 0 || putBack == 0 {
		t.Errorf("at most %d outputs on a connection, %d merges, %d connections without memory: want 20 and some", longest, merges, putBack)
	}
	got := 0
	for _, a := range h.rows {
		if a.Kind == workload.Reduce {
			got += int(a.InRecords)
		}
	}
	if want := int(int64(maps) * 64 << 20 / 100); got < want-reduces*maps || got > want+reduces*maps {
		t.Errorf("reduces read %d records: want %d", got, want)
	}
}
