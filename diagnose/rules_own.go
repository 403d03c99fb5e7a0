package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

var ruleR15 = rule{
	id: "R15", basis: "O", cause: "slots free while tasks wait",
	evidence: "share of the offers that left a slot free, or of the slots, while tasks waited", change: "scheduler, assignmultiple, heartbeat or delay",
	find: func(s *scene, _ *rule) []hit {
		var hits []hit
		for kind, st := range s.stages {
			if st == nil {
				continue
			}
			value, length := s.freeWhileWaiting(st)
			reason, from := model.NotDeclined, "the slot time"
			if s.offers != nil {
				var declined float64
				if declined, reason = s.offers.declined(workload.Kind(kind)); math.IsNaN(value) {
					value, from = declined, "offers"
				}
			}
			least := s.t.FreeWaiting
			if s.q != nil && s.q.Scheduler.Name != "fair2" { // another scheduler is tried, so that little evidence is enough
				least /= 6
			}
			if !(value > least) || workload.Kind(kind) == workload.Reduce && reason == model.Slowstart && s.offers == nil {
				continue
			}
			changes := s.launchMore(reason)
			if value <= s.t.FreeWaiting { // the test says more than the evidence
				for _, c := range changes {
					c.weigh(weightUsual)
				}
			}
			h := hit{value: value, peers: least, account: schedulerLimit, saves: value * length}
			if len(changes) > 0 {
				h.change, h.others = changes[0], changes[1:]
			}
			h.evidence = fmt.Sprintf("%s slots free while %ss wait in %s of %s", st.kind, st.kind, percent(value), from)
			if reason != model.NotDeclined {
				h.evidence += ", because of: " + reason.String()
			}
			hits = append(hits, h)
		}
		return hits
	},
}

// launchMore returns the changes that make the scheduler launch where it declined
// for a reason: one of them, in this order.
func (s *scene) launchMore(reason model.Reason) []*Change {
	switch reason {
	case model.LocalityWait:
		return []*Change{setProperty("mapred.fairscheduler.locality.delay", "0")}
	case model.AtPoolLimit, model.AtUserLimit, model.AtJobLimit, model.AtQueueLimit:
		var changes []*Change
		for _, l := range s.levers {
			if strings.HasPrefix(l.key, "scheduler.") && l.unusual() {
				changes = append(changes, l.to[0])
			}
		}
		return changes
	case model.Slowstart:
		return []*Change{s.setConf("mapred.reduce.slowstart.completed.maps", "0.05")}
	case model.LoadFactor, model.OneTaskPerHeartbeat, model.NotDeclined:
		switch {
		case s.q == nil || s.q.Scheduler.Name == "capacity":
			return []*Change{setScheduler("fair2")}
		case s.q.Scheduler.Name == "fair2":
			return []*Change{setHeartbeat("heartbeat of 300 ms", 300*time.Millisecond)}
		}
		return []*Change{setScheduler("fair2"), setScheduler("capacity")} // both fill all slots of a tracker
	}
	return nil
}

var ruleR16 = rule{
	id: "R16", basis: "O", weight: weightRepair, cause: "slow device",
	evidence: "own work per busy second, or times of tasks, compared with the peers", change: "nominal speed",
	find: func(s *scene, _ *rule) []hit {
		hits := s.addSlowNodes(s.slowDevices())
		s.repairTogether(hits)
		return hits
	},
}

// measured reports whether the table of devices counts requests, so that rates
// can be compared without the times of tasks.
func (e *evidence) measured() bool {
	return slices.ContainsFunc(e.rates, func(d deviceRate) bool { return d.counted })
}

// slowDevices finds devices that serve more slowly than their peers. All disks
// of a node, or both directions of its network, are one finding.
func (s *scene) slowDevices() []hit {
	var hits []hit
	disks := map[string]int{} // of each node
	for i := range s.rates {
		d := &s.rates[i]
		if deviceKind(d.device) == "disk" {
			disks[d.node]++
		}
		if d.slow(s.t) {
			hits = append(hits, hit{
				node: d.node, device: d.device, value: d.rate, peers: 1, z: d.z, account: slowDevice, saves: s.nodeDelay(d.node),
			})
		}
	}
	slow := map[[2]string]int{} // slow devices of each kind of a node
	for _, h := range hits {
		slow[[2]string{h.node, devicesOf(h.device)}]++
	}
	var merged []hit
	for _, h := range hits {
		kind := devicesOf(h.device)
		if n := slow[[2]string{h.node, kind}]; isNetwork(h.device) || n > 1 && n == disks[h.node] {
			h.device = kind
		}
		if slices.ContainsFunc(merged, func(m hit) bool { return m.node == h.node && m.device == h.device }) {
			continue
		}
		h.change = repair(h.node, h.device)
		h.evidence = fmt.Sprintf("rate differs by %+.0f %% from its peers", 100*(h.value-1))
		merged = append(merged, h)
	}
	return wholeNodes(merged)
}

// alike is the factor within which the rates of the devices of a slow node agree.
const alike = 1.1

// deviceKinds is the number of kinds of devices of a node: processors, disks and network.
const deviceKinds = 3

// wholeNodes makes one finding of a node whose processors, disks and network are
// all slow, and equally so.
func wholeNodes(hits []hit) (list []hit) {
	own := map[string][]hit{}
	for _, h := range hits {
		own[h.node] = append(own[h.node], h)
	}
	for _, h := range hits {
		same := own[h.node]
		rate := func(a, b hit) int { return cmp.Compare(a.value, b.value) }
		least, most := slices.MinFunc(same, rate), slices.MaxFunc(same, rate)
		if len(same) < deviceKinds || most.value > alike*least.value {
			list = append(list, h)
			continue
		}
		if h.device == same[0].device {
			h.device, h.change = "", repair(h.node, "")
			h.evidence = fmt.Sprintf("rates of its processors, disks and network differ by %+.0f %% from its peers", 100*(h.value-1))
			list = append(list, h)
		}
	}
	return list
}

// addSlowNodes adds what the times of tasks say about nodes. It replaces findings
// on devices of nodes with slow processors, which make devices seem slow, too.
func (s *scene) addSlowNodes(hits []hit) []hit {
	nodes := s.slowNodes()
	if len(hits) == 0 {
		return nodes
	}
	for _, n := range nodes {
		if n.device == "cpu" {
			hits = slices.DeleteFunc(hits, func(h hit) bool { return h.node == n.node })
			hits = append(hits, n)
		}
	}
	return hits
}

// repairTogether has one change test all slow devices: a job that waits for the
// slowest of them gains nothing from the others alone. Devices that are
// not slow in the question are left out.
func (s *scene) repairTogether(hits []hit) {
	var slow []int
	var changes []*Change
	for i := range hits {
		if s.q == nil {
			return
		}
		if _, err := hits[i].change.Edit(*s.q); err == nil {
			slow, changes = append(slow, i), append(changes, hits[i].change)
		}
	}
	if len(slow) > 1 {
		all := join(changes)
		for _, i := range slow {
			hits[i].change = all
		}
	}
}

// nodeDelay is by how many seconds the outliers of a node delay the job's stages.
func (s *scene) nodeDelay(node string) float64 {
	most := 0.0
	for _, st := range s.stages {
		if st == nil {
			continue
		}
		for i, row := range st.rows {
			if s.b.node(s.b.at(row)) == node {
				most = max(most, st.out.Gain[i], st.excess[i]/4)
			}
		}
	}
	return most
}

// slowNode is how much longer the tasks of a node take than those of its peers.
type slowNode struct {
	node     string
	kind     workload.Kind
	shuffles bool // its shuffles end apart from all others, factor says by how much
	factor   float64
	z        float64
}

// slowLimits are pairs of a factor and of a number of standard errors, from both of
// which a node is slow. Sound nodes of few tasks differ by chance, and by what runs
// beside them. Shuffles have a limit of their own.
var slowLimits, shuffleLimits = [][2]float64{{1.5, 3.2}, {1.3, 7}}, [][2]float64{{1.1, 3.2}}

// slowNodes compares the times of the tasks of each node with those of the same job,
// kind on the other nodes, by their logarithms (same-node outliers of
// SONATA, over all jobs). It returns the nodes that are far above the others, for the
// kind of tasks that says it most clearly.
//
// Other nodes wait for all that a slow interface sends, so their shuffles end together.
// Those of its own node wait for what it receives, and end earlier or later.
func (b *books) slowNodes(t *Thresholds) []slowNode {
	var found []slowNode
	for _, of := range []struct {
		kind     workload.Kind
		shuffles bool
	}{{workload.Map, false}, {workload.Reduce, false}, {workload.Reduce, true}} {
		excess := b.excess(of.kind, of.shuffles)
		list, nodes := b.compareNodes(of.kind, excess)
		limits := slowLimits
		for i := range list {
			if n := &list[i]; of.shuffles {
				limits = shuffleLimits
				n.shuffles, n.factor, n.z = true, max(n.factor, 1/n.factor), math.Abs(n.z)
			}
		}
		list = slices.DeleteFunc(list, func(n slowNode) bool {
			single := len(excess[b.nodes.id(n.node)]) == 1 // that straggles, and not the node
			return !slices.ContainsFunc(limits, func(l [2]float64) bool { return n.factor >= l[0] && n.z >= l[1] }) || !of.shuffles && (n.factor < t.SlowNode || single)
		})
		if 4*len(list) > max(4, nodes) { // the tasks differ, and not the nodes
			continue
		}
		for _, n := range list {
			if i := slices.IndexFunc(found, func(f slowNode) bool { return f.node == n.node }); i < 0 {
				found = append(found, n)
			} else if n.z > found[i].z && !n.shuffles {
				found[i] = n
			}
		}
	}
	return found
}

// excess lists by node how much longer than usual each task of a kind takes, as a
// logarithm, or the shuffle of each reduce after the last map. A larger input excuses a
// longer time. Shuffles that end within two sleeps of a copier end together.
func (b *books) excess(kind workload.Kind, shuffles bool) [][]float64 {
	const together = 10.0 // seconds
	excess := make([][]float64, len(b.nodes.list))
	for _, j := range b.jobs {
		lastMap := b.lastMap(j)
		var groups [2][]int32 // maps with remote data, and reduces that copy all of it after the last map, are apart
		for _, row := range j.won[kind] {
			apart, a := 0, b.at(row)
			if kind == workload.Reduce && a.start >= lastMap || a.locality == workload.RackLocal || a.locality == workload.OffRack {
				apart = 1
			}
			groups[apart] = append(groups[apart], row)
		}
		for _, rows := range groups {
			var times, inputs []float64
			for _, row := range rows {
				a := b.at(row)
				start, end := a.start, a.finish
				if shuffles {
					_, end, _ = a.shuffle()
				}
				if kind == workload.Reduce { // time before the end of the last map is a wait
					start = min(max(start, lastMap), end)
				}
				times, inputs = append(times, (end-start).Seconds()), append(inputs, float64(max(0, a.input(kind))))
			}
			if len(rows) < fewestPeers {
				continue
			}
			usual, input := median(times), median(inputs)
			for i, row := range rows {
				a := b.at(row)
				if b.node(a) == "" || times[i] <= 0 || usual <= 0 {
					continue
				}
				more := math.Log(times[i] / usual)
				if input > 0 && inputs[i] > input {
					more -= math.Log(inputs[i] / input)
				}
				if shuffles && math.Abs(times[i]-usual) < together {
					more = 0
				}
				excess[a.node] = append(excess[a.node], more)
			}
		}
	}
	return excess
}

// input is what a task reads, in bytes; 0: unknown.
func (a *attempt) input(kind workload.Kind) int64 {
	if kind == workload.Reduce {
		return a.ShuffleBytes
	}
	return max(a.InBytes, a.HDFSReadBytes)
}

// compareNodes compares the tasks of each node with those of all others, and counts the
// nodes. It leaves out those that hardly differ, since the spread takes long to find.
func (b *books) compareNodes(kind workload.Kind, excess [][]float64) (list []slowNode, nodes int) {
	medians := make([]float64, len(excess)) // of nodes with tasks
	for node, own := range excess {
		if len(own) > 0 {
			medians[node] = median(own)
		}
	}
	for node, own := range excess {
		var others []float64
		for k, of := range excess {
			if k != node && len(of) > 0 {
				others = append(others, medians[k])
			}
		}
		if len(own) == 0 || len(others) < 3 {
			continue
		}
		nodes++
		usual := median(others)
		more := medians[node] - usual
		if math.Abs(more) < math.Log(shuffleLimits[0][0]) {
			continue
		}
		all := slices.Concat(slices.Delete(slices.Clone(excess), node, node+1)...)
		spread := normalMAD * deviation(all, median(all))
		between := normalMAD * deviation(others, usual)
		const medianError = 1.2533 // of a normal median, in errors of the mean
		const shared = 0.06        // error that all tasks of a node share, by what runs beside them
		e := max(shared, between, medianError*spread/math.Sqrt(float64(len(own))))
		list = append(list, slowNode{node: b.nodes.list[node], kind: kind, factor: math.Exp(more), z: more / e})
	}
	return list, nodes
}

// slowNodes finds the nodes on which tasks take longer than on their peers, while no
// device explains it.
func (s *scene) slowNodes() []hit {
	var hits []hit
	for _, n := range s.slow {
		st := s.stages[n.kind]
		ran := func(row int32) bool { return s.b.node(s.b.at(row)) == n.node }
		if st == nil || s.loaded(n.node) || s.stood(n.node) || !slices.ContainsFunc(st.rows, ran) { // others may have run there
			continue
		}
		h := hit{node: n.node, value: n.factor, peers: 1, z: n.z, account: slowDevice, saves: max(s.nodeDelay(n.node), st.length()*(1-1/n.factor)/4)}
		if h.device, h.evidence = st.slowPart(n.node, n.factor); n.shuffles {
			h.device, h.evidence = "network", fmt.Sprintf("the shuffles of its reduces end apart from those of all other nodes, by a factor of %.2f", n.factor)
		}
		h.change = repair(n.node, h.device)
		hits = append(hits, h)
	}
	return hits
}

// loaded reports whether the node carries a foreign load.
func (s *scene) loaded(node string) bool {
	return slices.ContainsFunc(s.rates, func(d deviceRate) bool { return d.node == node && d.foreign > s.t.ForeignBusy })
}

func (s *scene) stood(node string) bool {
	return slices.ContainsFunc(s.still, func(p workload.Standstill) bool { return p.Host == node })
}

// slowPart names the device of a node whose phases exceed their prediction most, those
// that compute or those that read and write, if bytes or records tell it.
func (st *stage) slowPart(node string, factor float64) (device, evidence string) {
	var took, expected [2]float64
	counted := false
	for _, row := range st.rows {
		a := st.b.at(row)
		if st.b.node(a) != node {
			continue
		}
		for p, l := range st.lines {
			p := workload.Phase(p)
			if l.median == 0 || p == workload.PhaseShuffle || p == workload.PhaseStartup || p == workload.PhaseCommit {
				continue
			}
			t, timed := phaseTime(a, p)
			work, known := phaseWork(a, p)
			if !timed || !known {
				continue
			}
			k := 0
			if p == workload.PhaseRead || p == workload.PhaseWrite || p == workload.PhaseMerge {
				k = 1
			}
			counted = counted || work > 0
			took[k], expected[k] = took[k]+t.Seconds(), expected[k]+l.at(work)
		}
	}
	text := fmt.Sprintf("its %ss take %.2f times as long as those of other nodes", st.kind, factor)
	if !counted || expected[0] == 0 || expected[1] == 0 {
		return "", text
	}
	if took[1]/expected[1] > took[0]/expected[0] {
		return "disk", text + ", most of all their reads and writes"
	}
	return "cpu", text + ", most of all their computing"
}

var ruleR17 = rule{
	id: "R17", basis: "O", weight: weightRepair, cause: "foreign load",
	evidence: "time of a device that is not Hadoop's", change: "no foreign load",
	find: func(s *scene, _ *rule) []hit {
		var hits []hit
		for _, d := range s.rates {
			if d.foreign <= s.t.ForeignBusy || d.foreign <= 1.5*d.peerForeign || s.stood(d.node) {
				continue
			}
			h := hit{
				node: d.node, device: d.device, value: d.foreign, peers: d.peerForeign, account: foreignLoad,
				saves: s.nodeDelay(d.node), change: unload(d.node, d.device, false),
				evidence: fmt.Sprintf("work outside Hadoop uses %s of its time, peers %s", percent(d.foreign), percent(d.peerForeign)),
			}
			if isNetwork(h.device) {
				h.device = devicesOf(h.device)
				h.change = unload(h.node, h.device, false)
			}
			same := func(o hit) bool { return o.node == h.node && devicesOf(o.device) == devicesOf(h.device) }
			if i := slices.IndexFunc(hits, same); i >= 0 { // several disks of a node are one finding
				hits[i].device = devicesOf(h.device)
				hits[i].value = max(hits[i].value, h.value)
				hits[i].change = unload(h.node, hits[i].device, false)
				continue
			}
			hits = append(hits, h)
		}
		return hits
	},
}

var ruleR18 = rule{
	id: "R18", basis: "O", weight: weightRepair, cause: "node stood still",
	evidence: "no map, or no reduce, begins or ends for more than ten times the usual gap", change: "no standstill",
	find: func(s *scene, _ *rule) []hit {
		var hits []hit
		for _, p := range s.still {
			var tasks []string
			for _, row := range p.Held {
				if a := s.b.at(row); a.job == s.job.index {
					tasks = append(tasks, s.b.name(a))
				}
			}
			if len(tasks) == 0 {
				continue
			}
			length := (p.To - p.From).Seconds()
			hits = append(hits, hit{
				node: p.Host, tasks: tasks, value: length, peers: p.Usual.Seconds(), z: length / p.Usual.Seconds(), account: foreignLoad,
				saves: length / 2, change: unload(p.Host, "", true),
				evidence: fmt.Sprintf("no %s began or ended from %.1f to %.1f s; usual gap %.1f s", p.Kind, p.From.Seconds(), p.To.Seconds(), p.Usual.Seconds()),
			})
		}
		return hits
	},
}

var ruleR19 = rule{
	id: "R19", basis: "O", cause: "copiers wait for memory",
	evidence: "share of the shuffle in which copiers wait for memory while the merger works", change: "codec or shuffle buffer",
	find: func(s *scene, _ *rule) []hit {
		st := s.stages[workload.Reduce]
		if st == nil {
			return nil
		}
		var shuffle, wait time.Duration
		for _, row := range st.rows {
			if a := s.b.at(row); workload.Known(a.waitMemory) && workload.Known(a.phases[workload.PhaseShuffle]) {
				shuffle, wait = shuffle+a.phases[workload.PhaseShuffle], wait+a.waitMemory
			}
		}
		h := hit{peers: s.t.WaitMemory, account: waitsForMemory}
		frame := ""
		if shuffle > 0 {
			h.value = wait.Seconds() / shuffle.Seconds()
		} else if s.flow != nil {
			const reserve = "org.apache.hadoop.mapred.ReduceTask$ReduceCopier$ShuffleRamManager.reserve"
			h.value, frame = s.flow.share("copier", "", reserve), ", in "+reserve
		}
		if h.value <= s.t.WaitMemory {
			return nil
		}
		h.saves = h.value * st.length() / 2
		h.evidence = fmt.Sprintf("copiers wait for memory in %s of the shuffle%s", percent(h.value), frame)
		h.change = s.setConf("mapred.job.shuffle.input.buffer.percent", "0.9")
		if s.facts[workload.Reduce].Compressed && !strings.Contains(s.conf.Text("mapred.map.output.compression.codec"), "Lz") {
			h.change = s.setConf("mapred.map.output.compression.codec", fastCodec)
		}
		return []hit{h}
	},
}

var ruleR20 = rule{
	id: "R20", basis: "O", cause: "last wave part-full, or too few reduces",
	evidence: "part of the slots that the last wave uses", change: "number of reduces, or block size",
	find: func(s *scene, _ *rule) []hit {
		var hits []hit
		for kind, st := range s.stages {
			slots := s.slots[kind]
			if st == nil || slots == 0 || !s.alone(st) {
				continue
			}
			n := len(st.rows)
			waves := (n + slots - 1) / slots
			last := float64(n-(waves-1)*slots) / float64(slots)
			if last >= s.t.LastWave || waves == 1 && workload.Kind(kind) == workload.Map {
				continue
			}
			h := hit{value: last, peers: 1, account: slotHeld, evidence: fmt.Sprintf("%s on %d slots: the last wave uses %s of them", workload.Counted(n, st.kind.String(), st.kind.String()+"s"), slots, percent(last))}
			h.saves = st.median * (1 - last) / float64(waves)
			switch {
			case workload.Kind(kind) == workload.Map:
				h.change = nil // splits of another size: the number of maps follows from the block size
				if waves == 2 {
					h.change = s.combineSplits(2)
				}
			case waves == 1:
				h.change = s.setReduces(slots)
			default:
				h.change = s.setReduces((waves - 1) * slots)
			}
			hits = append(hits, h)
		}
		return hits
	},
}

// alone reports whether no other job ran during the stage.
func (s *scene) alone(st *stage) bool {
	for _, j := range s.b.jobs {
		if j != s.job && j.submit < st.end && j.finish > st.begin {
			return false
		}
	}
	return true
}

var ruleR21 = rule{
	id: "R21", basis: "O", cause: "start-up dominates",
	evidence: "share of the slot time in starting JVMs", change: "combined splits, or larger blocks",
	find: func(s *scene, _ *rule) []hit {
		st := s.stages[workload.Map]
		if st == nil || !st.knows(workload.PhaseStartup) {
			return nil
		}
		share := st.share(workload.PhaseStartup)
		if share <= s.t.Startup && (s.q == nil || share <= s.t.Startup/3) {
			return nil
		}
		const block, most = 64 << 20, 16 // bytes of a usual split, and splits combined
		factor, size := 4, st.usualInput()
		if size > 0 {
			factor = int(min(most, max(float64(factor), block/size)))
		}
		return []hit{{
			value: share, peers: s.t.Startup, account: startUp, saves: st.length() * share / 2, change: s.combineSplits(factor).weigh(unusual(0 < size && size < leastSplit)),
			evidence: fmt.Sprintf("start-up %s of the map slot time; median map %.1f s", percent(share), st.median),
		}}
	},
}

// usualInput returns the median of the inputs of the stage's tasks in bytes.
func (st *stage) usualInput() float64 {
	bytes := make([]float64, 0, len(st.rows))
	for _, row := range st.rows {
		bytes = append(bytes, float64(max(0, st.b.at(row).InBytes)))
	}
	return median(bytes)
}

var ruleR22 = rule{
	id: "R22", basis: "O", cause: "remote reads",
	evidence: "maps whose split is on another node, and how much longer they take", change: "replication, delay or uplink",
	find: func(s *scene, _ *rule) []hit {
		st := s.stages[workload.Map]
		if st == nil {
			return nil
		}
		var near, far, off []float64
		for _, row := range st.rows {
			a := s.b.at(row)
			d := (a.finish - a.start).Seconds()
			switch a.locality {
			case workload.NodeLocal:
				near = append(near, d)
			case workload.RackLocal:
				far = append(far, d)
			case workload.OffRack:
				far, off = append(far, d), append(off, d)
			}
		}
		if len(near) == 0 || len(far) == 0 {
			return nil
		}
		share, ratio := float64(len(far))/float64(len(far)+len(near)), median(far)/max(1e-9, median(near))
		if len(off) > 0 {
			ratio = max(ratio, median(off)/max(1e-9, median(near)))
		}
		few, fast := share <= s.t.RemoteReads, ratio < s.t.TaskRatio
		if few && fast || s.q == nil && (few || fast) {
			return nil
		}
		h := hit{
			value: share, peers: s.t.RemoteReads, account: localityTime, saves: st.length() * share * max(0, 1-1/ratio), change: s.lever("dfs.replication", 1),
			evidence: fmt.Sprintf("%s of the maps read from other nodes and take %.2f times as long", percent(share), ratio),
		}
		if uplink := s.lever("network.uplink_mb", 0); uplink != nil && 2*longer(off, near) >= longer(far, near) {
			first := h
			first.change = uplink
			return []hit{first, h}
		}
		return []hit{h}
	},
}

// longer sums the time by which tasks are longer than the median of their peers.
func longer(tasks, peers []float64) float64 {
	usual, sum := median(peers), 0.0
	for _, d := range tasks {
		sum += max(0, d-usual)
	}
	return sum
}

var ruleR23 = rule{
	id: "R23", basis: "O", weight: weightRepair, cause: "lost attempts",
	evidence: "slot time of attempts that failed, or were lost with their node", change: "no failures",
	find: func(s *scene, _ *rule) []hit {
		lost, whole := 0.0, 0.0
		seconds, count, ran := map[string]float64{}, map[string]int{}, map[string]int{}
		h := hit{account: lostAttempts}
		lose := func(a *attempt) {
			d, node := (a.finish - a.start).Seconds(), s.b.node(a)
			lost += d
			seconds[node] += d
			count[node]++
			h.tasks = append(h.tasks, s.b.name(a))
		}
		isLost := func(a *attempt) bool {
			return a.state == workload.Failed || a.state == workload.Killed && !s.beaten(a)
		}
		for _, row := range s.job.attempts {
			a := s.b.at(row)
			if a.kind > workload.Reduce || !a.timed() {
				continue
			}
			whole += (a.finish - a.start).Seconds()
			ran[s.b.node(a)]++
			if isLost(a) {
				lose(a)
			}
			p := s.b.previous(a)
			undone := p != nil && p.state == workload.Succeeded && p.finish <= a.start && s.winner(a) != p // its output was lost
			if undone {
				lose(p)
			}
			if undone || p != nil && isLost(p) { // the task could have ended earlier by this
				h.saves = max(h.saves, (a.start - p.start).Seconds())
			}
		}
		chance := 1.0
		for _, node := range sortedKeys(seconds) {
			if seconds[node] > 0.8*lost && !s.replay {
				h.node = node
				chance = math.Pow(float64(ran[node])/float64(len(s.job.attempts)), float64(count[node])) * float64(len(ran))
			}
		}
		const unlikely = 0.01 // that so many attempts of one node are lost by chance
		delayed := h.saves > s.t.Lost*s.job.time().Seconds()
		if lost == 0 || lost/whole <= s.t.Lost && !delayed && s.q == nil && chance > unlikely {
			return nil
		}
		h.value, h.peers, h.change = lost/whole, s.t.Lost, noFailures()
		h.saves = max(h.saves, lost/whole*s.job.time().Seconds())
		h.evidence = fmt.Sprintf("%s of the slot time in %s, lost with their output or before it", percent(lost/whole), workload.Counted(len(h.tasks), "attempt", "attempts"))
		return []hit{h}
	},
}

// beaten reports whether another attempt of the task succeeded while this one
// ran. Then it was speculation and not a loss.
func (s *scene) beaten(a *attempt) bool {
	w := s.winner(a)
	return w != nil && w.start < a.finish
}

// winner returns the attempt whose work was used of the task of an attempt, nil for none.
func (s *scene) winner(a *attempt) *attempt {
	won := s.job.won[a.kind]
	i, ok := slices.BinarySearchFunc(won, a.task, func(row int32, task int32) int { return cmp.Compare(s.b.at(row).task, task) })
	if !ok {
		return nil
	}
	return s.b.at(won[i])
}

var ruleR24 = rule{
	id: "R24", basis: "O", cause: "link limits the shuffle",
	evidence: "a link full during the shuffle", change: "codec, network interface or uplink",
	find: func(s *scene, _ *rule) []hit {
		st := s.stages[workload.Reduce]
		if st == nil || !st.knows(workload.PhaseShuffle) {
			return nil
		}
		until := st.begin
		from := min(s.b.lastMap(s.job), st.end)
		for _, row := range st.rows {
			a := s.b.at(row)
			if d := a.phases[workload.PhaseShuffle]; workload.Known(d) {
				until = max(until, a.start+max(0, a.phases[workload.PhaseStartup])+d)
			}
		}
		var best hit
		for _, device := range s.r.names {
			if !isNetwork(device) {
				continue
			}
			m := s.r.means(device, min(from, st.begin), until)
			for _, node := range m.by {
				if s.loaded(node) || slices.ContainsFunc(s.rates, func(d deviceRate) bool {
					return d.node == node && d.device == device && d.slow(s.t)
				}) {
					continue // R16 and R17 name it
				}
				if m.of[node] > max(s.t.LinkFull, best.value) {
					best = hit{node: node, device: device, value: m.of[node], peers: median(m.all)}
				}
			}
		}
		if best.value == 0 {
			return nil
		}
		best.account, best.saves = networkOwn, 0.3*(until-from).Seconds()
		best.evidence = fmt.Sprintf("busy %s of the shuffle, peers %s", percent(best.value), percent(best.peers))
		best.change = s.lever("network.nic_mb", 1)
		if strings.HasPrefix(best.device, "rack") {
			best.change = s.lever("network.uplink_mb", 0)
		}
		if s.hasConf && !s.facts[workload.Reduce].Compressed {
			best.change = s.setConf("mapred.compress.map.output", "true", "mapred.map.output.compression.codec", fastCodec)
		}
		return []hit{best}
	},
}

var ruleR25 = rule{
	id: "R25", basis: "O", weight: weightUnusual, cause: "data skew",
	evidence: "bytes of the largest reduce against the median", change: "even partitions, or more reduces",
	find: func(s *scene, _ *rule) []hit {
		st := s.stages[workload.Reduce]
		if st == nil || len(st.rows) < 2 {
			return nil
		}
		bytes := make([]float64, len(st.rows))
		for i, row := range st.rows {
			a := s.b.at(row)
			bytes[i] = float64(max(a.ShuffleBytes, a.InBytes))
			if bytes[i] < 0 {
				s.b.add("bytes of a reduce", 1, len(st.rows), "no R25")
				return nil
			}
		}
		usual := median(bytes)
		largest := 0
		for i := range bytes {
			if bytes[i] > bytes[largest] {
				largest = i
			}
		}
		if usual <= 0 || bytes[largest] <= s.t.DataSkew*usual || math.IsInf(usual, 0) {
			return nil
		}
		a := s.b.at(st.rows[largest])
		h := hit{
			tasks: []string{s.b.name(a)}, value: bytes[largest] / usual, peers: 1, account: networkOwn,
			saves: st.out.Gain[largest], change: s.evenReduces(),
			evidence: fmt.Sprintf("the largest reduce has %.2f times the bytes of the median", bytes[largest]/usual),
		}
		return []hit{h}
	},
}

var ruleR26 = rule{
	id: "R26", basis: "O", weight: weightRepair, cause: "late task",
	evidence: "one task delays its stage of a recorded job, and no other rule names it", change: "none",
	find: func(s *scene, _ *rule) []hit {
		var hits []hit
		for _, st := range s.stages {
			if st == nil || s.q != nil && !s.replay && s.options.Verify.Measured == nil { // a simulated task is late for a cause of the scenario
				continue
			}
			for _, i := range st.critical() {
				a := s.b.at(st.rows[i])
				if s.stood(s.b.node(a)) {
					continue
				}
				took := st.slots[i].End - st.slots[i].Start
				h := hit{tasks: []string{s.b.name(a)}, value: took, peers: st.median, account: unknownTime, saves: st.out.Gain[i]}
				h.evidence = fmt.Sprintf("%s/%d took %.0f s, the median %s %.0f s", kindLetter(st.kind), a.task, took, st.kind, st.median)
				if before := a.localised.Seconds(); 2*before > took {
					h.account = startUp
					h.evidence += fmt.Sprintf("; it began %.0f s after its assignment", before)
				}
				if !s.replay {
					h.node = s.b.node(a)
				}
				hits = append(hits, h)
			}
		}
		return hits
	},
}
