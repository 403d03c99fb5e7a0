package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// randomRun is a run of a few jobs with faults of random kinds and sizes. Its times
// are whole seconds and its counts small, so that values often equal a limit.
type randomRun struct {
	world
	r         *rand.Rand
	nodes     int
	slots     [2]int
	faulty    int // node
	slow      float64
	free      [2][]time.Duration
	gap       [2]time.Duration // of the faulty node, in which it stands still
	resources []Usage
	measured  map[string]time.Duration
	rows      bool // attempts are given as rows
	sampled   bool // the samples are given
}

// one returns true once in n draws.
func (p *randomRun) one(n int) bool { return p.r.IntN(n) == 0 }

func (p *randomRun) seconds(least, most int) time.Duration {
	return time.Duration(least+p.r.IntN(most-least+1)) * s
}

func newRandomRun(seed uint64) *randomRun {
	p := &randomRun{r: rand.New(rand.NewPCG(seed, 17)), measured: map[string]time.Duration{}}
	r := p.r
	p.nodes, p.slots = 2+r.IntN(7), [2]int{1 + r.IntN(4), 1 + r.IntN(3)}
	p.faulty, p.slow = r.IntN(p.nodes), []float64{1, 1.5, 3}[r.IntN(3)]
	for kind := range p.free {
		p.free[kind] = make([]time.Duration, p.nodes*p.slots[kind])
	}
	if p.one(4) {
		p.gap[0] = p.seconds(20, 60)
		p.gap[1] = p.gap[0] + p.seconds(20, 90)
	}
	conf := p.conf()
	for j := range 1 + r.IntN(2)*r.IntN(4) {
		p.addJob(fmt.Sprint("j", j), conf)
	}
	if !p.one(6) {
		p.ask(conf)
	}
	if !p.one(5) {
		p.useDevices()
	}
	if !p.one(3) {
		p.offer()
	}
	if p.one(2) {
		p.trace()
	}
	p.rows, p.sampled = p.one(4), p.one(3)
	if p.one(5) {
		p.forgetSlots()
	}
	return p
}

func (p *randomRun) conf() workload.Conf {
	var c workload.Conf
	for _, v := range [][]string{
		{"io.sort.mb", "100", "20"}, {"mapred.compress.map.output", "true", "false"}, {"io.sort.spill.percent", "0.5", "0.8"},
		{"mapred.map.output.compression.codec", "org.apache.hadoop.io.compress.GzipCodec", "org.apache.hadoop.io.compress.BZip2Codec", fastCodec},
		{"mapred.child.java.opts", "-Xmx200m", "-server -Xmx64m", "-Xmx1g"}, {"mapred.reduce.slowstart.completed.maps", "0.05", "0.9"},
	} {
		if p.one(2) {
			c.Set(v[0], v[1+p.r.IntN(len(v)-1)])
		}
	}
	return c
}

// addJob adds a job whose tasks take the slots that are free first.
func (p *randomRun) addJob(id string, conf workload.Conf) {
	submit := p.seconds(0, 60)
	p.job(id, submit, 0)
	j := &p.jobs[len(p.jobs)-1]
	j.Conf, j.Launch = conf, submit+p.seconds(0, 2)
	ready := j.Launch
	if p.one(2) {
		a := p.attempt(workload.Setup, p.node(p.r.IntN(p.nodes)), 0, ready, ready+s, ready+p.seconds(2, 4))
		a.Locality = workload.NoLocality
		ready = a.Finish
	}
	maps, reduces := 1+p.r.IntN(8)*p.r.IntN(12), p.r.IntN(3)*p.r.IntN(8)
	length := [4]int{1 + p.r.IntN(3), p.r.IntN(8), 1 + p.r.IntN(12), p.r.IntN(5)} // start-up, read, map, spill
	counted, known := !p.one(6), !p.one(8)
	var ends []time.Duration
	for range maps {
		a := p.launch(workload.Map, ready, func(a *workload.HistoryAttempt, slow float64) {
			scale := 1.0
			if p.one(9) {
				scale = float64(2 + p.r.IntN(3))
			}
			for k, ph := range []workload.Phase{workload.PhaseStartup, workload.PhaseRead, workload.PhaseMap, workload.PhaseSpill} {
				took := float64(length[k]) * scale
				if p.one(4) {
					took++
				}
				if a.Locality != workload.NodeLocal && ph == workload.PhaseRead {
					took = 2*took + 1
				}
				if ph != workload.PhaseStartup {
					took *= slow
				}
				a.Phases[ph] = workload.Seconds(math.Round(took))
			}
			if a.Spills = int64(p.r.IntN(3)); a.Spills > 1 {
				a.Phases[workload.PhaseMerge] = p.seconds(0, 4)
			}
			size := int64(16 * scale * mb)
			a.InBytes, a.HDFSReadBytes, a.OutBytes = size, size, size/2
			a.InRecords, a.OutRecords = size/100, size/200
			if !counted {
				a.InBytes, a.HDFSReadBytes, a.OutBytes, a.InRecords, a.OutRecords, a.Spills = -1, -1, -1, -1, -1, -1
			}
		})
		ends = append(ends, a.Finish)
		p.repeat()
	}
	slices.Sort(ends)
	from, lastMap := ends[p.r.IntN(len(ends))], ends[len(ends)-1]
	end := lastMap
	heavy := p.r.IntN(12)
	for range reduces {
		a := p.launch(workload.Reduce, from, func(a *workload.HistoryAttempt, slow float64) {
			scale := 1.0
			if p.one(7) {
				scale = float64(1 + p.r.IntN(3))
			}
			a.Phases[workload.PhaseStartup] = s
			copying := workload.Seconds(math.Round(float64(1+p.r.IntN(9)) * slow))
			wait := max(0, lastMap-a.Start-s)
			a.Phases[workload.PhaseShuffle] = wait + copying
			a.WaitFetch, a.WaitMemory = wait, time.Duration(p.r.IntN(2))*copying/4
			a.Phases[workload.PhaseMerge] = p.seconds(0, 2)
			a.Phases[workload.PhaseReduce] = workload.Seconds(math.Round(float64(1+heavy) * scale * slow))
			a.Phases[workload.PhaseWrite] = p.seconds(1, 4)
			size := int64(float64(8*mb) * scale)
			a.ShuffleBytes, a.InBytes, a.OutBytes, a.HDFSWriteBytes, a.InRecords, a.OutRecords = size, size, size, size, size/100, size/100
			if !known {
				a.WaitFetch, a.WaitMemory = workload.UnknownTime, workload.UnknownTime
				a.Phases[workload.PhaseShuffle] += a.Phases[workload.PhaseMerge]
				a.Phases[workload.PhaseMerge] = workload.UnknownTime
			}
			if !counted && p.one(2) {
				a.ShuffleBytes, a.InBytes = -1, -1
			}
		})
		a.Locality = workload.NoLocality
		end = max(end, a.Finish)
	}
	if p.one(2) {
		a := p.attempt(workload.Cleanup, p.node(p.r.IntN(p.nodes)), 0, end, end+s, end+p.seconds(2, 4))
		a.Locality = workload.NoLocality
		end = a.Finish
	}
	j.Maps, j.Reduces, j.Finish = maps, reduces, end+p.seconds(0, 3)
	p.measured[id] = j.Finish - submit + p.seconds(0, 30)
}

// forgetSlots leaves the slots of attempts to be found.
func (p *randomRun) forgetSlots() {
	for i := range p.jobs {
		for _, t := range p.jobs[i].Tasks {
			for k := range t.Attempts {
				t.Attempts[k].Slot = -1
			}
		}
	}
}

func (p *randomRun) node(i int) string { return fmt.Sprint("n", i) }

// launch adds an attempt in the slot that is free first. set gives it its phases.
func (p *randomRun) launch(kind workload.Kind, ready time.Duration, set func(a *workload.HistoryAttempt, slow float64)) *workload.HistoryAttempt {
	free := p.free[kind]
	slot := 0
	for i := range free {
		if free[i] < free[slot] {
			slot = i
		}
	}
	start := max(free[slot], ready) + time.Duration(p.r.IntN(3)*p.r.IntN(2))*s
	a := p.attempt(kind, p.node(slot%p.nodes), slot/p.nodes, ready, start, 0)
	a.Locality = []workload.Locality{workload.NodeLocal, workload.NodeLocal, workload.RackLocal, workload.OffRack}[p.r.IntN(4)]
	slow := 1.0
	if slot%p.nodes == p.faulty {
		slow = p.slow
	}
	set(a, slow)
	length := time.Duration(0)
	for _, d := range a.Phases {
		if workload.Known(d) {
			length += d
		}
	}
	a.Finish = start + length
	if slot%p.nodes == p.faulty && start < p.gap[0] && a.Finish > p.gap[0] && kind == workload.Map {
		more := p.gap[1] - p.gap[0]
		a.Phases[workload.PhaseMap] += more
		a.Finish += more
	}
	free[slot] = a.Finish
	if p.one(40) {
		a.Runnable = workload.UnknownTime
	}
	return a
}

// repeat lets the last task have a failed, a killed or a speculative attempt.
func (p *randomRun) repeat() {
	if !p.one(12) {
		return
	}
	tasks := p.jobs[len(p.jobs)-1].Tasks
	list := &tasks[len(tasks)-1].Attempts
	first := (*list)[0]
	extra := first
	extra.Number, extra.Node = 1, p.node(p.r.IntN(p.nodes))
	switch p.r.IntN(3) {
	case 0: // the first one fails
		(*list)[0].State, (*list)[0].Finish = workload.Failed, first.Start+p.seconds(1, 5)
		extra.Runnable, extra.Start = (*list)[0].Finish, (*list)[0].Finish+p.seconds(0, 3)
		extra.Finish = extra.Start + first.Finish - first.Start
	case 1: // the first one is overtaken
		(*list)[0].State, extra.Start = workload.Killed, first.Start+p.seconds(1, 4)
		extra.Finish = first.Finish - s
	default: // the second one is too late
		extra.State, extra.Start = workload.Killed, first.Start+p.seconds(1, 4)
		extra.Finish = max(extra.Start, first.Finish)
	}
	*list = append(*list, extra)
}

// ask adds the question to the run.
func (p *randomRun) ask(conf workload.Conf) {
	r := p.r
	q := &model.WhatIf{Fidelity: model.Fidelity(r.IntN(4)), Seed: 5}
	c := &q.Cluster
	c.Hadoop, c.Heartbeat, c.Replication, c.SharedSlots = "0.20.2", p.seconds(0, 3), 1+r.IntN(3), p.one(5)
	c.Costs = model.Costs{Launch: p.seconds(0, 1), Setup: p.seconds(0, 2), Cleanup: p.seconds(0, 1), Commit: p.seconds(0, 1)}
	c.Conf = conf
	if p.one(2) {
		c.Racks = []string{"r0", "r1"}
	}
	if !p.one(3) {
		m := model.Machine{Cores: 2 + r.IntN(3), Speed: 1, NIC: 100e6, Uplink: 1e9, JVMStart: p.seconds(0, 1), Memory: 8 << 30}
		m.Disks = slices.Repeat([]model.Disk{{Read: 100e6, Write: 80e6}}, 1+r.IntN(2))
		m.CPU.Fetch = float64(r.IntN(2))
		slow := m
		slow.Disks = slices.Clone(m.Disks)
		switch r.IntN(4) {
		case 0:
			slow.Disks[0].Read = 50e6
		case 1:
			slow.NIC = 50e6
		case 2:
			slow.Speed = 0.5
		}
		c.Machines = []model.Machine{m, slow}
	}
	for i := range p.nodes {
		n := model.Node{Name: p.node(i), MapSlots: p.slots[0], ReduceSlots: p.slots[1], Slowness: 1}
		if i == p.faulty && len(c.Machines) > 0 {
			n.Machine = 1
		}
		if i == p.faulty && p.one(2) {
			n.Slowness = 1.5
		}
		if p.one(9) {
			n.Dies = p.seconds(20, 90)
		}
		if len(c.Racks) > 0 {
			n.Rack = i % 2
		}
		c.Nodes = append(c.Nodes, n)
	}
	if p.one(2) {
		c.Loads = append(c.Loads, model.Load{Node: p.faulty, Device: model.LoadDevice(r.IntN(3)), Share: []float64{0.5, 0.99, 1}[r.IntN(3)]})
	}
	q.Scheduler.Name = []string{"fifo", "fair1", "fair2", "capacity", "maxedf"}[r.IntN(5)]
	if p.one(2) {
		most := 3
		q.Scheduler.Pools = []model.Pool{{Name: "a", MaxMaps: &most}}
	}
	for i := range p.jobs {
		j := &p.jobs[i]
		own := workload.Job{ID: j.ID, Submit: j.Submit, Maps: workload.MapTasks{Count: j.Maps}, Reduces: workload.ReduceTasks{Count: j.Reduces}}
		for k := range j.Maps {
			split := workload.Split{Bytes: int64(16+k) * mb}
			if p.one(60) {
				split.Hosts = []string{"n0"}
			}
			own.Maps.Splits = append(own.Maps.Splits, split)
		}
		if p.one(2) {
			own.Maps.Time.All = 10 * s
		}
		if p.one(2) {
			own.Reduces.Shares = []float64{1}
		}
		if p.one(3) {
			own.Conf.Set("mapred.compress.map.output", "true")
		}
		if !p.one(8) {
			q.Jobs = append(q.Jobs, own)
		}
	}
	p.question = q
}

func (p *randomRun) end() time.Duration {
	end := time.Duration(0)
	for _, j := range p.jobs {
		end = max(end, j.Finish)
	}
	return end
}

// useDevices adds the use of devices every 4 s, with a fault of the faulty node.
func (p *randomRun) useDevices() {
	devices := []string{"cpu", "disk0", "network-in", "network-out"}
	if p.one(2) {
		devices = append(devices, "disk1")
	}
	if p.one(4) {
		devices = append(devices, "rack0-up")
	}
	counted := !p.one(3)
	fault, device := p.r.IntN(6), devices[p.r.IntN(len(devices))]
	base := []float64{0.3, 0.6, 0.8}[p.r.IntN(3)]
	for n := range p.nodes {
		for _, d := range devices {
			for at := time.Duration(0); at < p.end(); at += 4 * s {
				u := Usage{Time: at, Node: p.node(n), Device: d, Busy: base + 0.02*float64(p.r.IntN(5)), Bytes: int64(80+p.r.IntN(20)) * mb}
				if counted {
					u.InService = u.Busy * float64(1+p.r.IntN(3))
					u.Rate = 1 / math.Ceil(u.InService/u.Busy-1e-9)
				}
				if n == p.faulty {
					switch {
					case fault == 0 && d == device, fault == 1:
						u.Rate, u.Bytes = u.Rate*0.6, u.Bytes/2
					case fault == 2 && d == device:
						u.ForeignBusy = 0.3
					case fault == 3 && d == device:
						u.Busy = 1
					case fault == 4 && at >= p.gap[0] && at < p.gap[1]:
						u.ForeignBusy, u.Busy, u.Bytes = 1, 0, 0
					case fault == 5 && d == "cpu":
						u.Busy *= 1 - float64(at)/float64(p.end())
					}
				}
				p.resources = append(p.resources, u)
			}
		}
	}
}

// offer adds heartbeats that launch tasks, and such that launch none.
func (p *randomRun) offer() {
	usual := model.Reason(p.r.IntN(int(model.NumReasons)))
	figures := func() (f model.Figures) {
		f = model.Figures{Pool: "a", Running: p.r.IntN(4), Demand: p.r.IntN(4), MinShare: p.r.IntN(3), Share: float64(p.r.IntN(5)) / 2, Limit: p.r.IntN(4), Skipped: p.r.IntN(3)}
		f.Deficit, f.Waited, f.Delay = p.seconds(-3, 3), p.seconds(0, 4), p.seconds(0, 4)
		if p.one(3) {
			f.Pool = ""
		}
		return f
	}
	for i := range p.jobs {
		for _, t := range p.jobs[i].Tasks {
			for _, a := range t.Attempts {
				if a.Kind > workload.Reduce {
					continue
				}
				o := model.Offer{Time: a.Start - time.Duration(p.r.IntN(3)/2)*s, Node: a.Node, Repeats: p.r.IntN(3) / 2}
				o.Free[a.Kind], o.Waiting[a.Kind] = 1+p.r.IntN(3), 1+p.r.IntN(2)
				if p.one(2) {
					o.Reason[a.Kind] = usual
				}
				for range p.r.IntN(3) {
					other := model.Asked{Job: p.jobs[p.r.IntN(len(p.jobs))].ID, Kind: workload.Kind(p.r.IntN(2)), Task: -1, Locality: workload.NoLocality, Reason: usual, Figures: figures()}
					if p.one(3) {
						other.Task, other.Locality, other.Reason = p.r.IntN(9), workload.NodeLocal, model.NotDeclined
					}
					if p.one(3) {
						other.Reason = model.BehindOthers
					}
					o.Asked = append(o.Asked, other)
				}
				if !p.one(5) {
					o.Asked = append(o.Asked, model.Asked{Job: a.Job, Kind: a.Kind, Task: a.Task, Attempt: a.Number, Locality: a.Locality, Figures: figures()})
				}
				p.offers = append(p.offers, o)
			}
		}
	}
}

// trace adds a span for each phase of each attempt.
func (p *randomRun) trace() {
	device := [workload.NumPhases]string{"cpu", "disk0", "cpu", "", "disk0", "network-in", "disk0", "cpu", "disk0", ""}
	for i := range p.jobs {
		for _, t := range p.jobs[i].Tasks {
			for _, a := range t.Attempts {
				at := a.Start
				for ph, d := range a.Phases {
					if !workload.Known(d) || d == 0 {
						continue
					}
					sp := model.Span{Job: a.Job, Kind: a.Kind, Task: a.Task, Attempt: a.Number, Phase: workload.Phase(ph), Device: device[ph], Begin: at, End: at + d, Own: d / time.Duration(1+p.r.IntN(3))}
					switch {
					case p.one(6):
						sp.Device, sp.Own, sp.Wait = "", 0, model.Wait(p.r.IntN(int(model.NumWaits)))
					case sp.Phase == workload.PhaseShuffle:
						wait := sp
						wait.Device, wait.Own, wait.Wait = "", 0, model.WaitFetch
						p.spans = append(p.spans, wait)
						sp.Thread, sp.FromNode, sp.Begin = model.CopierThread, p.node(p.r.IntN(p.nodes)), at+d/2
					}
					p.spans = append(p.spans, sp)
					at += d
				}
			}
		}
	}
}

func (p *randomRun) input() Input {
	in := p.world.input()
	in.Resources = p.resources
	if p.rows {
		var rows []*workload.Attempt
		for i := range p.jobs {
			for _, t := range p.jobs[i].Tasks {
				for k := range t.Attempts {
					rows = append(rows, &t.Attempts[k].Attempt)
				}
			}
		}
		slices.SortStableFunc(rows, func(a, b *workload.Attempt) int { return cmp.Compare(a.Finish, b.Finish) })
		in.Rows = slices.Values(rows)
	}
	return in
}

// roughPredictor takes the work of the jobs over what the cluster can do. It answers
// any question, and each change of a question changes its answer.
type roughPredictor struct{}

func (roughPredictor) Predict(q model.WhatIf) (model.Prediction, error) {
	noise := 1 + 0.02*rand.New(rand.NewPCG(q.Seed, 3)).Float64()
	costs := &q.Cluster.Costs
	fixed := (q.Cluster.Heartbeat + costs.Launch + costs.Setup + costs.Cleanup + costs.Commit).Seconds()
	slots := 0.0
	for _, n := range q.Cluster.Nodes {
		rate := 1 / max(0.1, n.Slowness)
		if n.Machine < len(q.Cluster.Machines) {
			m := &q.Cluster.Machines[n.Machine]
			rate *= m.Speed * math.Sqrt(m.NIC/100e6) * math.Sqrt(m.Disks[0].Read/100e6)
		}
		slots += rate * float64(n.MapSlots+n.ReduceSlots)
	}
	if q.Cluster.SharedSlots {
		slots *= 1.1
	}
	slots -= float64(len(q.Cluster.Loads)) / 2
	var pr model.Prediction
	for i := range q.Jobs {
		j := &q.Jobs[i]
		took := (fixed + 20*float64(j.Maps.Count+j.Reduces.Count)/max(1, slots)) * noise
		if j.Conf.String("mapred.compress.map.output", "") == "true" {
			took *= 0.8
		}
		if j.Reduces.Shares == nil {
			took *= 0.95
		}
		out := model.JobOutcome{ID: j.ID, Submit: j.Submit, Finish: j.Submit + workload.Seconds(took)}
		pr.Jobs, pr.Mean = append(pr.Jobs, out), max(pr.Mean, out.Finish)
	}
	return pr, nil
}

// changed lists what a change does to a question.
func changed(c *Change, q *model.WhatIf) string {
	if c == nil || q == nil {
		return ""
	}
	state := func(q *model.WhatIf) []string {
		lines := []string{fmt.Sprintf("cluster %v %v %d %v", q.Cluster.Heartbeat, q.Cluster.SharedSlots, q.Cluster.Replication, q.Cluster.Loads)}
		for _, n := range q.Cluster.Nodes {
			lines = append(lines, fmt.Sprintf("node %+v", n))
			if n.Machine < len(q.Cluster.Machines) {
				m := q.Cluster.Machines[n.Machine]
				lines = append(lines, fmt.Sprintf("machine of %s %v %v %v %v %v %v", n.Name, m.Cores, m.Speed, m.Disks, m.NIC, m.Uplink, m.CPU.Fetch))
			}
		}
		for _, pool := range q.Scheduler.Pools {
			lines = append(lines, fmt.Sprint("pool ", pool.Name, pool.MaxMaps == nil))
		}
		lines = append(lines, "scheduler "+q.Scheduler.Name+" "+keysOf(q.Scheduler.Conf))
		for i := range q.Jobs {
			j := &q.Jobs[i]
			lines = append(lines, fmt.Sprintf("job %s %s %d %d %d %v %v %v %v", j.ID, keysOf(j.Conf), j.Maps.Count, len(j.Maps.Splits), j.Reduces.Count, j.Reduces.Shares, j.Maps.Time.All, j.Maps.Ends, j.Reduces.Ends))
		}
		return lines
	}
	before := state(q)
	after, err := c.Edit(*q)
	if err != nil {
		return "error: " + err.Error()
	}
	var lines []string
	for _, l := range state(&after) {
		if !slices.Contains(before, l) {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, " | ")
}

func keysOf(c workload.Conf) string {
	var list []string
	for _, key := range c.Keys() {
		list = append(list, key+"="+c.String(key, ""))
	}
	return strings.Join(list, ",")
}
