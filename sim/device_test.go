package sim_test

import (
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// onDevices has a random world's tasks do work on machines that are not alike.
func onDevices(t *rapid.T, w *world) *world {
	draw := source{T: t}
	w.Fidelity = model.Device
	w.Cluster.Costs.Launch = max(w.Cluster.Costs.Launch, time.Millisecond)
	slow := server()
	slow.Cores, slow.SMT, slow.Speed, slow.NIC, slow.Overlap = 2, []float64{1, 1.3}, 0.5, 30e6, true
	slow.Disks = slow.Disks[:1]
	slow.Dirty = int64(draw.n("dirty", 0, 3)) << 25
	fast := server()
	if draw.rarely("page cache", 4) { // of some GiB, of which heaps leave more, less or nothing
		slow.PageCache, slow.Memory = true, int64(draw.n("memory", 1, 16))<<28
		fast.PageCache = draw.bool("page cache")
	}
	if draw.rarely("dirty", 4) {
		fast.Dirty = int64(draw.n("dirty", 1, 8)) << 25
	}
	w.Cluster.Machines = []model.Machine{fast, slow}
	for i := range w.Cluster.Nodes {
		w.Cluster.Nodes[i].Machine = draw.n("machine", 0, 1)
	}
	w.Programs = []model.Program{sortProgram()}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		j.Program = "sort"
		if j.Maps.Count+j.Reduces.Count == 0 {
			j.Reduces.Count = 1
		}
		j.Maps.InputBytes = int64(max(1, j.Maps.Count)) * int64(draw.n("split", 1, 128)) << 20
		j.Maps.Fresh = draw.rarely("fresh", 4)
		for i := range j.Maps.Splits {
			j.Maps.Splits[i].Bytes = int64(draw.n("size", 1, 2)) << 26
		}
		j.Conf = j.Conf.Over(confOf("dfs.replication", draw.oneOf("replicas", "1", "2", "3"),
			"io.sort.factor", draw.oneOf("factor", "3", "10"), "mapred.compress.map.output", draw.oneOf("compress", "true", "false")))
	}
	if draw.rarely("load", 4) {
		w.Cluster.Loads = []model.Load{{Disk: -1, Streams: 2, From: sec(3), Until: sec(20)}, {Device: model.LoadCPU, Share: 0.5, From: sec(10)}}
	}
	return w
}

func TestLazyHeartbeatsOnDevices(t *testing.T) {
	check(t, 300, 5000, func(t *rapid.T) {
		w := onDevices(t, drawWorld(t))
		if w.instant || w.wide {
			return
		}
		lazy := w.run(t)
		w.Cluster.EveryHeartbeat = true
		every := w.run(t)
		if err := different(lazy.Prediction, every.Prediction, lazy.rows, every.rows); err != nil {
			t.Fatalf("%s, %s, lazy and every: %v", w.Cluster.Hadoop, w.Scheduler.Name, err)
		}
	})
}

func TestDeterministicOnDevices(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	check(t, 100, 1000, func(t *rapid.T) {
		w := onDevices(t, drawWorld(t))
		runtime.GOMAXPROCS(1)
		one := w.run(t)
		runtime.GOMAXPROCS(2)
		two := w.run(t)
		if err := different(one.Prediction, two.Prediction, one.rows, two.rows); err != nil {
			t.Fatal(err)
		}
	})
}

// Phases fill the time of every attempt, however it ends.
func TestPhasesFillAttemptsOnDevices(t *testing.T) {
	for _, fidelity := range []model.Fidelity{model.Phase, model.Device} {
		check(t, 300, 3000, func(t *rapid.T) {
			w := onDevices(t, drawWorld(t))
			if w.instant && w.limited {
				return // known gap: limits of running jobs may be forgotten when all end at one instant
			}
			w.Fidelity = fidelity
			for _, a := range w.run(t).rows {
				sum := time.Duration(0)
				for _, p := range a.Phases {
					if p < 0 {
						t.Fatalf("a phase of less than no time: %+v", a)
					}
					sum += p
				}
				if sum != a.Duration() {
					t.Fatalf("phases of %v in %v: %+v", sum, a.Duration(), a)
				}
				if a.WaitFetch < 0 || a.WaitMemory < 0 || a.WaitFetch+a.WaitMemory > a.Phases[workload.PhaseShuffle] {
					t.Fatalf("waits of %v and %v: %+v", a.WaitFetch, a.WaitMemory, a)
				}
			}
		})
	}
}

// onlyTask is one task's worth of work on nodes without neighbours and protocol: a
// map and, on another node, a reduce.
func onlyTask(conf workload.Conf, program model.Program, machine model.Machine, bytes int64, reduces int) model.WhatIf {
	nodes := alike(2, 1, 0)
	nodes[1].MapSlots, nodes[1].ReduceSlots = 0, 1
	cluster := idealCluster(nodes)
	cluster.Machines = []model.Machine{machine}
	return model.WhatIf{
		Cluster: cluster, Scheduler: model.Scheduler{Name: "fifo"}, Programs: []model.Program{program},
		Jobs: []workload.Job{{
			ID: "j", Program: program.Name, Conf: conf,
			Maps:    workload.MapTasks{Count: 1, InputBytes: bytes},
			Reduces: workload.ReduceTasks{Count: reduces},
		}},
	}
}

// A map, and a reduce of one map, that have the devices for themselves take what
// the equations say, phase by phase to the nanosecond of each step; so does what
// fidelity phase makes of them.
func TestAloneOnDevicesIsThePhaseModel(t *testing.T) {
	combining := sortProgram()
	combining.Name, combining.Combiner, combining.CombineCPU = "combine", true, 900
	combining.Data.CombineSizeSel, combining.Data.CombineRecsSel = 0.4, 0.3
	for _, c := range []struct {
		name    string
		program model.Program
		bytes   int64
		reduces int
		conf    workload.Conf
	}{
		{"one spill", sortProgram(), 20 << 20, 1, confOf()},
		{"a block of replicas", sortProgram(), 20 << 20, 1, confOf("dfs.replication", "2")},
		{"many blocks", sortProgram(), 60 << 20, 1, confOf("dfs.replication", "1", "dfs.block.size", "4m", "io.sort.record.percent", "0.2")},
		{"compressed", sortProgram(), 20 << 20, 1, confOf("mapred.compress.map.output", "true", "mapred.output.compress", "true")},
		{"three spills", sortProgram(), 64 << 20, 1, confOf()},
		{"merged in passes", sortProgram(), 64 << 20, 1, confOf("io.sort.mb", "10", "io.sort.factor", "3")},
		{"combined", combining, 64 << 20, 1, confOf("io.sort.mb", "20")},
		{"to disk", sortProgram(), 200 << 20, 1, confOf()},
		{"of maps alone", sortProgram(), 64 << 20, 0, confOf()},
	} {
		for _, kind := range [...]struct {
			overlap, pageCache bool
			turn               int64
		}{{}, {overlap: true}, {pageCache: true}, {overlap: true, turn: 3 << 20}} {
			machine := server()
			machine.Overlap, machine.PageCache, machine.WriteTurn = kind.overlap, kind.pageCache, kind.turn
			q := onlyTask(c.conf, c.program, machine, c.bytes, c.reduces)
			conf, err := taskplan.ReadConf(c.conf)
			if err != nil {
				t.Fatal(err)
			}
			p, err := machine.Planner(&c.program, conf, c.reduces)
			if err != nil {
				t.Fatal(err)
			}
			m, err := p.Map(p.MapFlow(float64(c.bytes)))
			if err != nil {
				t.Fatal(err)
			}
			if one, all := m.Alone(p.Cost), m.PhaseTimes(p.Cost); len(m.Spilled) <= 1 && kind.turn == 0 && one != all {
				t.Errorf("with one spill the threads do not overlap: %v and %v", one, all)
			}
			r := p.Reduce([]taskplan.Segment{m.Output})
			for _, f := range []model.Fidelity{model.Phase, model.Device} {
				q.Fidelity = f
				_, rows := mustRun(t, q)
				agree(t, f, rows.find(t, "j", workload.Map, 0, 0), m.Alone(p.Cost), m.Counters, m.Steps)
				if c.reduces > 0 {
					agree(t, f, rows.find(t, "j", workload.Reduce, 0, 0), r.PhaseTimes(p.Cost), r.Counters, r.Steps)
				}
			}
			if t.Failed() {
				t.Fatalf("%s, %+v", c.name, kind)
			}
		}
	}
}

// A task that reads and writes in turn takes longer, and its blocks get the nodes
// that they get without turns.
func TestWriteTurn(t *testing.T) {
	const block = 4 << 20
	var took [2]time.Duration
	var written [2]map[string]int64
	for k, turn := range []int64{0, block} {
		q := onlyTask(confOf("dfs.block.size", "4m", "dfs.replication", "2"), model.Program{Name: "copy", Data: sortProgram().Data}, server(), 16*block, 0)
		q.Cluster.Nodes = alike(8, 1, 0)
		q.Cluster.Machines[0].Overlap, q.Cluster.Machines[0].WriteTurn = true, turn
		q.Fidelity = model.Device
		p, rows := mustRun(t, q)
		a := rows.find(t, "j", workload.Map, 0, 0)
		took[k], written[k] = a.Duration(), map[string]int64{}
		for _, d := range p.Devices {
			for _, u := range d.Uses {
				if d.Node != "*" && d.Node != a.Node {
					written[k][d.Node] += u.WriteBytes
				}
			}
		}
	}
	for node, bytes := range written[0] {
		if d := bytes - written[1][node]; d < -16 || d > 16 {
			t.Errorf("%s: %d bytes written, %d in turn", node, bytes, written[1][node])
		}
	}
	if took[1] <= took[0] {
		t.Errorf("%v, in turn %v", took[0], took[1])
	}
}

// A disk reads and writes what its tasks do, in no step more than its rates allow.
func TestDiskUse(t *testing.T) {
	machine := server()
	machine.Disks = []model.Disk{{Read: 4e6, Write: 2e6, Curve: model.DiskCurve{Kind: model.NoCurve}}}
	const bytes = 40 << 20
	q := onlyTask(confOf("dfs.replication", "1"), model.Program{Name: "copy", Data: sortProgram().Data}, machine, bytes, 0)
	q.Fidelity = model.Device
	p, rows := mustRun(t, q)
	a := rows.find(t, "j", workload.Map, 0, 0)
	i := slices.IndexFunc(p.Devices, func(d model.DeviceUse) bool { return d.Node == a.Node && d.Device == "disk0" })
	d := &p.Devices[i]
	var all, read, written int64
	for k, u := range d.Uses {
		all, read, written = all+u.Bytes, read+u.ReadBytes, written+u.WriteBytes
		seconds := (d.Times[k+1] - d.Times[k]).Seconds()
		if float64(u.ReadBytes) > 4e6*seconds+1 || float64(u.WriteBytes) > 2e6*seconds+1 {
			t.Errorf("step %d of %.3f s: %d bytes read and %d written, more than the disk can", k, seconds, u.ReadBytes, u.WriteBytes)
		}
	}
	if read != a.HDFSReadBytes || written != a.HDFSWriteBytes || all != read+written || written == 0 {
		t.Errorf("%d bytes moved, %d read and %d written; want %d and %d", all, read, written, a.HDFSReadBytes, a.HDFSWriteBytes)
	}
}

// Alone a task takes as long at fidelity phase as on devices if equal tasks differ,
// and another time than without.
func TestPacesAloneOnDevices(t *testing.T) {
	program := sortProgram()
	_, plain := mustRun(t, onlyTask(confOf(), program, server(), 64<<20, 1))
	program.CV = [2]float64{0.4, 0.2}
	q := onlyTask(confOf(), program, server(), 64<<20, 1)
	q.Fidelity = model.Phase
	_, phased := mustRun(t, q)
	q.Fidelity = model.Device
	_, devices := mustRun(t, q)
	for _, kind := range []workload.Kind{workload.Map, workload.Reduce} {
		a, b, without := phased.find(t, "j", kind, 0, 0), devices.find(t, "j", kind, 0, 0), plain.find(t, "j", kind, 0, 0)
		const steps = 100 // at most, each rounded to a nanosecond
		for p := range a.Phases {
			if d := (a.Phases[p] - b.Phases[p]).Abs(); d > steps {
				t.Errorf("%v of %v: %v at phase, %v on devices", workload.Phase(p), kind, a.Phases[p], b.Phases[p])
			}
		}
		if a.Duration() == without.Duration() {
			t.Errorf("%v: %v with and without", kind, a.Duration())
		}
	}
}

// agree wants the phases of an attempt to be those of its plan, but for the
// rounding of each step, and, in a reduce, for the wait for its map.
func agree(t *testing.T, f model.Fidelity, a workload.Attempt, want [workload.NumPhases]time.Duration, c workload.Counters, steps taskplan.Steps) {
	t.Helper()
	var n [workload.NumPhases]time.Duration
	for _, s := range steps {
		n[s.Phase]++
		if s.Resource == taskplan.HDFSWrite {
			n[s.Phase] += 20 // at most so many blocks
		}
	}
	got := a.Phases
	got[workload.PhaseShuffle] -= a.WaitFetch
	for p := range want {
		if d := (got[p] - want[p]).Abs(); d > n[p] && workload.Phase(p) != workload.PhaseSpill || d > time.Duration(len(steps)) {
			t.Errorf("%v: %v of %v: %v, want %v", f, workload.Phase(p), a.Kind, got[p], want[p])
		}
	}
	if a.Counters != c {
		t.Errorf("%v: %v: %+v, want %+v", f, a.Kind, a.Counters, c)
	}
}

// The durations of a run on devices, given to tasks, play that run again: every
// attempt begins and ends when it did.
func TestReplayOfDevices(t *testing.T) {
	check(t, 300, 3000, func(t *rapid.T) {
		w := onDevices(t, drawWorld(t))
		if w.nodesDie || w.failing || w.kills || w.instant || w.Scheduler.Name == "minedf" {
			return // the attempts that end early do not tell how long they would have taken
		}
		for i := range w.Jobs {
			if w.Jobs[i].Maps.Count == 0 {
				return // reduces of no data take no time, and ties are not what this is about
			}
			w.Jobs[i].Conf = w.Jobs[i].Conf.Over(confOf(
				"mapred.map.tasks.speculative.execution", "false", "mapred.reduce.tasks.speculative.execution", "false"))
		}
		first := w.run(t)
		again := *w
		again.Fidelity = model.Replay
		again.Cluster.Nodes = append([]model.Node(nil), w.Cluster.Nodes...)
		for i := range again.Cluster.Nodes {
			again.Cluster.Nodes[i].Slowness = 1
		}
		again.Jobs = append([]workload.Job(nil), w.Jobs...)
		at := map[string]*workload.Job{}
		for i := range again.Jobs {
			j := &again.Jobs[i]
			j.Maps.Time = workload.Durations{Each: make([]time.Duration, j.Maps.Count)}
			j.Maps.RackFactor, j.Maps.OffFactor = 0, 0
			r := &j.Reduces
			for _, d := range []*workload.Durations{&r.Copy, &r.Sort, &r.Time} {
				*d = workload.Durations{Each: make([]time.Duration, r.Count)}
			}
			r.Shuffle, r.FirstWave = workload.Durations{}, workload.Durations{}
			at[j.ID] = j
		}
		for _, a := range first.rows {
			if a.State != workload.Succeeded {
				return
			}
			j, p := at[a.Job], a.Phases
			switch a.Kind {
			case workload.Map:
				j.Maps.Time.Each[a.Task] = a.Duration() - p[workload.PhaseStartup] - p[workload.PhaseCommit]
			case workload.Reduce:
				j.Reduces.Copy.Each[a.Task] = p[workload.PhaseShuffle]
				j.Reduces.Sort.Each[a.Task] = p[workload.PhaseMerge]
				j.Reduces.Time.Each[a.Task] = p[workload.PhaseReduce] + p[workload.PhaseWrite]
			}
		}
		second := again.run(t)
		if len(first.rows) != len(second.rows) {
			t.Fatalf("%d attempts, then %d", len(first.rows), len(second.rows))
		}
		for i, a := range first.rows {
			b := second.rows[i]
			if a.Job != b.Job || a.Kind != b.Kind || a.Task != b.Task || a.Node != b.Node || a.Start != b.Start || a.Finish != b.Finish {
				t.Fatalf("attempt %d: %+v, then %+v", i, a, b)
			}
		}
		if first.Mean != second.Mean {
			t.Fatalf("makespan %v, then %v", first.Mean, second.Mean)
		}
	})
}

// Devices of twice the rates halve the time of everything that is not computed.
func TestTwiceTheBandwidth(t *testing.T) {
	program := sortProgram()
	program.MapCPU, program.ReduceCPU = 0, 0
	machine := server()
	machine.CPU = model.FrameworkCost{}
	q := onlyTask(confOf("dfs.replication", "2"), program, machine, 64<<20, 1)
	q.Fidelity = model.Device
	_, slow := mustRun(t, q)
	fast := server()
	fast.CPU = model.FrameworkCost{}
	fast.NIC *= 2
	for i := range fast.Disks {
		fast.Disks[i].Read *= 2
		fast.Disks[i].Write *= 2
	}
	q.Cluster.Machines = []model.Machine{fast}
	_, quick := mustRun(t, q)
	for i, a := range slow {
		for p, d := range a.Phases {
			if half := quick[i].Phases[p]; (half*2 - d).Abs() > 20 {
				t.Errorf("%v of %v: %v, at twice the rate %v", workload.Phase(p), a.Kind, d, half)
			}
		}
	}
}

// Twice the bytes over twice the bandwidth change nothing.
func TestBytesAndBandwidthDoubled(t *testing.T) {
	q := sorting(10, 3, 2, 60, 12, 16<<20)
	_, rows := mustRun(t, q)
	double := sorting(10, 3, 2, 60, 12, 32<<20)
	m := &double.Cluster.Machines[0]
	m.NIC, m.Uplink = 2*m.NIC, 2*m.Uplink
	for i := range m.Disks {
		m.Disks[i].Read *= 2
		m.Disks[i].Write *= 2
	}
	m.CPU.HDFSRead, m.CPU.HDFSWrite, m.CPU.SerdeByte = m.CPU.HDFSRead/2, m.CPU.HDFSWrite/2, m.CPU.SerdeByte/2
	double.Programs[0].Data.InputPairWidth *= 2
	// Framing is bytes for each record that do not double: there is none to
	// speak of beside the records.
	double.Jobs[0].Conf = double.Jobs[0].Conf.Over(confOf("mapred.child.java.opts", "-Xmx2g", "io.sort.mb", "400", "io.sort.record.percent", "0.025", "dfs.block.size", "128m"))
	_, again := mustRun(t, double)
	for i, a := range rows {
		if d := (again[i].Finish - a.Finish).Abs().Seconds(); d > 0.02*a.Finish.Seconds() {
			t.Fatalf("%v %d ends at %v, with twice the bytes at %v", a.Kind, a.Task, a.Finish, again[i].Finish)
		}
	}
}

// Other names of nodes are all that other names of nodes change.
func TestNamesOfNodesDoNotMatter(t *testing.T) {
	q := sorting(6, 2, 2, 30, 8, 32<<20)
	out, rows := mustRun(t, q)
	for i := range q.Cluster.Nodes {
		q.Cluster.Nodes[i].Name = "z" + strconv.Itoa(100-i)
	}
	out2, again := mustRun(t, q)
	for i := range again {
		again[i].Node = rows[i].Node
	}
	for i := range out2.Devices {
		out2.Devices[i].Node = out.Devices[i].Node
	}
	if err := different(out, out2, rows, again); err != nil {
		t.Error(err)
	}
}

// A load on the disks, the cores or the network of a node makes its maps slower,
// never faster.
func TestLoadsDelay(t *testing.T) {
	for _, l := range []model.Load{
		{Disk: -1, Streams: 3}, {Disk: 1, Share: 0.5}, {Device: model.LoadCPU, Streams: 8}, {Device: model.LoadNetwork, Share: 0.9},
	} {
		q := onlyTask(confOf(), sortProgram(), server(), 64<<20, 1)
		q.Fidelity = model.Device
		free, _ := mustRun(t, q)
		for node := range 2 {
			l.Node = node
			q.Cluster.Loads = []model.Load{l}
			loaded, _ := mustRun(t, q)
			if loaded.Mean < free.Mean {
				t.Errorf("%+v: %v instead of %v", l, loaded.Mean, free.Mean)
			}
		}
	}
}

// A larger buffer never makes another spill, and takes no more time.
func TestLargerBuffersSpillLess(t *testing.T) {
	last, spills := time.Duration(math.MaxInt64), int64(math.MaxInt64)
	for _, mb := range []string{"10", "25", "50", "100", "150"} {
		q := onlyTask(confOf("io.sort.mb", mb), sortProgram(), server(), 64<<20, 1)
		q.Fidelity = model.Device
		_, rows := mustRun(t, q)
		m := rows.find(t, "j", workload.Map, 0, 0)
		if m.Spills > spills || m.Phases[workload.PhaseMerge] > last {
			t.Errorf("io.sort.mb = %s: %d spills, merged in %v", mb, m.Spills, m.Phases[workload.PhaseMerge])
		}
		spills, last = m.Spills, m.Phases[workload.PhaseMerge]
	}
}

// The loop that schedules fetches looks once before it can know of any output,
// and sleeps: a reduce that starts after the last map fetches 5 s later, or at
// once where the loop is another one. Then it fetches without a break.
func TestFirstLookFindsNothing(t *testing.T) {
	for release, want := range map[string]time.Duration{"0.20.2": sec(5), "0.21.0": 0, "1.0.4": sec(5), "1.2.1": sec(5)} {
		q := model.WhatIf{
			Cluster: model.Cluster{
				Hadoop: release, Nodes: alike(1, 2, 1), Racks: []string{"r"}, Machines: []model.Machine{server()},
				Costs: eraCosts, Phases: []time.Duration{0},
			},
			Scheduler: model.Scheduler{Name: "fifo"}, Fidelity: model.Device,
			Programs: []model.Program{sortProgram()},
			Jobs: []workload.Job{{
				ID: "j", Program: "sort", Conf: confOf("mapred.reduce.slowstart.completed.maps", "1"),
				Maps:    workload.MapTasks{Count: 8, InputBytes: 64 << 20},
				Reduces: workload.ReduceTasks{Count: 2},
			}},
		}
		_, rows := mustRun(t, q)
		for i, a := range rows.of(workload.Reduce) {
			// Then up to a second for the thread that asks to end.
			if a.WaitFetch < want || a.WaitFetch > want+sec(1) {
				t.Errorf("%s: reduce %d waits %v for outputs, want %v and at most a second", release, i, a.WaitFetch, want)
			}
		}
	}
}

// Tasks whose times are made of their work commit, though those of their record
// have a commit in them.
func TestWorkIsCommitted(t *testing.T) {
	for _, fidelity := range []model.Fidelity{model.Phase, model.Device} {
		var ends [2]time.Duration
		for i, recorded := range []bool{false, true} {
			q := sorting(4, 4, 2, 8, 2, 64<<20)
			q.Fidelity, q.Jobs[0].Commits, q.Cluster.Costs.Commit = fidelity, recorded, 10*time.Second
			q.Jobs[0].Reduces.FromLastMap = recorded
			p, err := sim.Simulator{}.Predict(q)
			if err != nil {
				t.Fatal(err)
			}
			ends[i] = p.Mean
		}
		if ends[0] != ends[1] {
			t.Errorf("%v: %v, with flags of recorded times %v", fidelity, ends[0], ends[1])
		}
	}
}

// A recorded time ends with the commit: of 20 s the last three are the 2 s of the commit and
// the second after which a child that waits for permission asks again. An attempt that fails
// has no commit, nor has a map whose output goes to reduces.
func TestRecordedCommit(t *testing.T) {
	const s = time.Second
	for reduces, commit := range []time.Duration{3 * s, 0} {
		q := crowd("fifo", 1)
		q.Cluster.Costs.Commit = 2 * s
		j := &q.Jobs[0]
		j.Commits, j.Maps.Count, j.Maps.Time, j.Reduces.Count = true, 1, workload.Durations{All: 20 * s}, reduces
		j.Maps.Ends = map[int][]workload.AttemptEnd{0: {{State: workload.Failed, After: 18 * s}}}
		_, rows := mustRun(t, q)
		for number, want := range [][2]time.Duration{{18 * s, 0}, {20*s - commit, commit}} {
			a := rows.find(t, j.ID, workload.Map, 0, number)
			if got := [2]time.Duration{a.Phases[workload.PhaseMap], a.Phases[workload.PhaseCommit]}; got != want {
				t.Errorf("%d reduces, attempt %d: map and commit take %v, want %v", reduces, number, got, want)
			}
		}
	}
}

// A reduce that fetches from its own node alone does without the network, which
// would take 20 s: phases and devices agree to the rounding of each step.
func TestFetchFromOwnNode(t *testing.T) {
	var shuffles [2]time.Duration
	for i, f := range []model.Fidelity{model.Phase, model.Device} {
		q := sorting(1, 1, 1, 1, 1, 20<<20)
		q.Fidelity, q.Cluster.Machines[0].NIC = f, 1<<20
		_, rows := mustRun(t, q)
		r := rows.find(t, "sort", workload.Reduce, 0, 0)
		shuffles[i] = r.Phases[workload.PhaseShuffle] - r.WaitFetch
	}
	if d := (shuffles[0] - shuffles[1]).Abs(); d > 10 || shuffles[0] > 10*time.Second {
		t.Errorf("shuffles of %v by phases and %v on devices", shuffles[0], shuffles[1])
	}
}

// What is simulated only nearly is named in the prediction.
func TestApproximationsAreNamed(t *testing.T) {
	q := sorting(2, 1, 1, 3, 2, 20<<20)
	q.Fidelity = model.Device
	q.Network.ExactFetches = 6
	if p, _ := mustRun(t, q); len(p.Assumed) != 0 {
		t.Errorf("%q, want nothing", p.Assumed)
	}
	q.Network = model.Network{Slack: 0.01, ExactFetches: 5}
	p, _ := mustRun(t, q)
	got := strings.Join(p.Assumed, "\n")
	for _, want := range []string{"network.slack = 0.01", "by 1 %", "network.exact_fetches = 5", "1 larger job "} {
		if !strings.Contains(got, want) {
			t.Errorf("%q: want %q in it", got, want)
		}
	}
}
