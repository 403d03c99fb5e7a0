package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// lever is a key of the schema that can be moved: its name, the parts of a job's
// time that it acts on, and its values.
type lever struct {
	key   string
	acts  string
	about string
	node  string                       // of a repair
	note  string                       // on the simulation of its changes
	to    []*Change                    // values to try: the default, the peers', no limit
	step  func(steps int) *Change      // a value some steps above or below; nil: none
	times func(factor float64) *Change // of a key that is multiplied
}

// unusual reports whether the value of the key is so.
func (l *lever) unusual() bool { return len(l.to) > 0 && l.to[0].weight >= weightUnusual }

// The weights of the gains in the ranking: how much more likely it is that a value is
// the cause if it is unusual. Faster or more hardware nearly always gains something, and
// so does the best of many values of a setting.
const (
	weightRepair  = 3    // a node unlike its peers
	weightUnusual = 1    // a limit, or a value outside its usual range
	weightSet     = 0.3  // a property that the scenario sets
	weightUsual   = 0.15 // any other
	weightBought  = 0.05 // more or faster hardware than usual, or another Hadoop
)

// weigh sets the weight of a change.
func (c *Change) weigh(weight float64) *Change {
	c.weight = weight
	return c
}

// unusual is the weight of a change of a value that is unusual or not.
func unusual(is bool) float64 {
	if is {
		return weightUnusual
	}
	return weightUsual
}

// parts are the accounts of the ledger in which a part of a job's time is, and the
// kinds of devices. Time for which a slot was held by others has the parts of their
// tasks.
var parts = map[string][]string{
	"launch":    names(queueTime, initialisation, heartbeatTime, schedulerLimit, localityTime, slotHeld, betweenAttempts, waitsForFetch, shuffleTime),
	"start":     names(startUp, setUp, cleanUp, commitTime, heartbeatTime, slotHeld),
	"read":      append(names(readTime, localityTime), onDisk, onNetwork),
	"map":       append(names(readTime, workTime, startUp), onCPU, onDisk),
	"sort":      append(names(sortSpill, mergeTime, waitsForSpill, workTime), onCPU, onDisk),
	"shuffle":   append(names(shuffleTime, waitsForFetch, waitsForMemory, mergeTime), onNetwork),
	"write":     append(names(writeTime, commitTime), onDisk, onNetwork),
	"processor": append(names(workTime, sortSpill, mergeTime), onCPU),
	"disk":      append(names(readTime, sortSpill, mergeTime, writeTime), onDisk),
	"network":   append(names(readTime, shuffleTime, writeTime, localityTime), onNetwork),
	"lost":      names(lostAttempts, queueTime, betweenAttempts, slotHeld),
}

// The kinds of devices, of whose time each step with a device is.
const (
	onCPU     = "cpu"
	onDisk    = "disk"
	onNetwork = "network"
)

func names(accounts ...Account) []string {
	list := make([]string, len(accounts))
	for i, a := range accounts {
		list[i] = a.String()
	}
	return list
}

// uses is the time of all jobs by account, and by kind of device.
type uses struct {
	of    map[string]time.Duration
	whole time.Duration
}

func usesOf(jobs []JobDiagnosis) *uses {
	u := &uses{of: map[string]time.Duration{}}
	for i := range jobs {
		for k := range jobs[i].Ledger {
			s := &jobs[i].Ledger[k]
			u.of[s.Account.String()] += s.To - s.From
			if s.Device != "" {
				u.of[devicesOf(s.Device)] += s.To - s.From
			}
			u.whole += s.To - s.From
		}
	}
	return u
}

// leastPart is the part of the time of all jobs from which an account proposes its
// removal.
const leastPart = 0.05

// largest returns the account or device with the most time of those that a lever acts
// on, and its part of the time of all jobs.
func (u *uses) largest(l *lever) (name string, part float64) {
	for _, acts := range strings.Fields(l.acts) {
		for _, n := range parts[acts] {
			if p := u.of[n].Seconds() / max(1e-9, u.whole.Seconds()); p > part {
				name, part = n, p
			}
		}
	}
	return name, part
}

// levers lists what can be moved in a question: repairs of nodes and limits first,
// then sizes and settings.
func levers(q *model.WhatIf) []lever {
	list := slices.Concat(unlikePeers(q), limitsOf(q), jobKeys(q), sizes(q), fewOrMany(q))
	for _, key := range workload.Properties() {
		if p, _ := workload.FindProperty(key); p.Acts != "" && readBy(&p, q) {
			list = append(list, propertyLever(q, p))
		}
	}
	return list
}

// readBy reports whether a part of the question's Hadoop reads a property.
func readBy(p *workload.Property, q *model.WhatIf) bool {
	reader, _, _ := strings.Cut(p.Reader, " ")
	return !p.Phases || q.Fidelity >= model.Phase && (reader == "task" || reader == "JobTracker") ||
		!slices.Contains([]string{"fair", "fair2", "fifo", "capacity"}, reader) || strings.HasPrefix(q.Scheduler.Name, reader)
}

// edited is a change of a question that is copied as far as levers write it.
func edited(key, text string, edit func(q *model.WhatIf) error) *Change {
	return &Change{Text: text, Key: key, Edit: func(q model.WhatIf) (model.WhatIf, error) {
		q = q.Copy()
		before := demand(&q)
		if err := edit(&q); err != nil {
			return q, err
		}
		return q, fits(before, demand(&q), &q)
	}}
}

// demand is the memory of the heaps that each node may run at once.
func demand(q *model.WhatIf) []int64 {
	var heaps [2]int64
	for i := range q.Jobs {
		conf := q.Jobs[i].Conf
		both := conf.Text("mapred.child.java.opts")
		for kind, key := range []string{"mapred.map.child.java.opts", "mapred.reduce.child.java.opts"} {
			heaps[kind] = max(heaps[kind], workload.Heap(conf.String(key, both)))
		}
	}
	need := make([]int64, len(q.Cluster.Nodes))
	for i, n := range q.Cluster.Nodes {
		need[i] = int64(n.MapSlots)*heaps[workload.Map] + int64(n.ReduceSlots)*heaps[workload.Reduce]
	}
	return need
}

// fits refuses a change after which the heaps of a node exceed its memory.
func fits(before, after []int64, q *model.WhatIf) error {
	for i, n := range q.Cluster.Nodes {
		if n.Machine >= len(q.Cluster.Machines) || i >= len(before) {
			continue
		}
		if has := q.Cluster.Machines[n.Machine].Memory; has > 0 && after[i] > before[i] && after[i] > has {
			return fmt.Errorf("the heaps of %d slots need %.3g GB, and %s has %.3g GB", n.MapSlots+n.ReduceSlots, float64(after[i])/1e9, n.Name, float64(has)/1e9)
		}
	}
	return nil
}

// setProperty sets a property of the cluster, of every job and of the scheduler.
func setProperty(key, value string) *Change {
	var top workload.Conf
	top.Set(key, value)
	return edited(key, key+" = "+value, func(q *model.WhatIf) error {
		q.Cluster.Conf = q.Cluster.Conf.Over(top)
		for i := range q.Jobs {
			q.Jobs[i].Conf = q.Jobs[i].Conf.Over(top)
		}
		q.Scheduler.Conf = q.Scheduler.Conf.Over(top)
		if key == "dfs.replication" {
			replicas, err := top.Whole(key)
			q.Cluster.Replication = replicas
			return err
		}
		return nil
	})
}

// weightOf is the weight of a change of a key: whether the scenario sets the property, or
// has another scheduler than Hadoop's default.
func weightOf(q *model.WhatIf, key string) float64 {
	if q == nil || key == "scheduler.name" && q.Scheduler.Name != "fifo" {
		return weightSet
	}
	for _, c := range append([]workload.Conf{q.Cluster.Conf, q.Scheduler.Conf}, confsOf(q)...) {
		if _, set := c.Lookup(key); set {
			return weightSet
		}
	}
	return weightUsual
}

// propertyLever moves a Hadoop property to its default, and up and down within its
// usual range, or towards it.
func propertyLever(q *model.WhatIf, p workload.Property) lever {
	def, _ := (workload.Conf{}).For(q.Cluster.Hadoop).For(q.Scheduler.Name).Lookup(p.Key)
	if def == "" {
		def = p.Default
	}
	value := def
	for _, c := range append([]workload.Conf{q.Cluster.Conf, q.Scheduler.Conf}, confsOf(q)...) {
		if v := c.String(p.Key, value); v != def {
			value = v
		}
	}
	about, _, _ := strings.Cut(p.About, ";")
	l := lever{key: p.Key, acts: p.Acts, about: about}
	off, own := p.Unusual(value, def), weightOf(q, p.Key)
	if value != def && def != "" {
		l.to = append(l.to, setProperty(p.Key, def).weigh(max(own, unusual(off != 0))))
	}
	switch {
	case p.Key == "mapred.output.compress": // who reads the output decides
	case strings.HasSuffix(p.Key, ".codec"):
		l.to = append(l.to, setProperty(p.Key, fastCodec).weigh(own))
	case strings.HasSuffix(p.Key, "java.opts"):
		heap := workload.HeapMB(value)
		if value != "" && heap > 0 {
			l.step = func(steps int) *Change {
				return setProperty(p.Key, fmt.Sprintf("-Xmx%dm", int64(float64(heap)*math.Pow(2, float64(steps))))).weigh(own)
			}
		}
	default:
		l.step = func(steps int) *Change {
			next, ok := p.Step(value, steps)
			switch {
			case !ok:
				return nil
			case p.Key != "dfs.replication":
				return setProperty(p.Key, next).weigh(max(own, unusual(off*steps < 0)))
			case steps > 0: // replicas take disks, and keep data safe
				replicas, _ := strconv.Atoi(value)
				return setProperty(p.Key, strconv.Itoa(replicas+steps)).weigh(weightBought)
			}
			return nil
		}
	}
	return l
}

func confsOf(q *model.WhatIf) []workload.Conf {
	list := make([]workload.Conf, len(q.Jobs))
	for i := range q.Jobs {
		list[i] = q.Jobs[i].Conf
	}
	return list
}

// unlikePeers lists the nodes that differ from most others in anything but their
// name and rack, with one lever for those that differ alike.
func unlikePeers(q *model.WhatIf) []lever {
	c := &q.Cluster
	type kind struct {
		model.Node
		loads string
	}
	nodes, counts := make([]kind, len(c.Nodes)), map[kind]int{}
	var usual kind
	for i := range c.Nodes {
		k := &nodes[i]
		k.Node = c.Nodes[i]
		k.Name, k.Rack, k.Price = "", 0, 0
		for _, l := range c.Loads {
			if l.Node == i {
				l.Node = 0
				k.loads += fmt.Sprint(l)
			}
		}
		counts[*k]++
		if counts[*k] > counts[usual] {
			usual = *k
		}
	}
	var list []lever
	for i, k := range nodes {
		if k == usual || slices.Contains(nodes[:i], k) {
			continue
		}
		var names []string
		var which []int
		for n := range nodes {
			if nodes[n] == k {
				names, which = append(names, c.Nodes[n].Name), append(which, n)
			}
		}
		l := lever{key: "node " + names[0], acts: "launch start read map sort shuffle write lost", about: "nodes unlike their peers", node: names[0]}
		weight := float64(weightRepair)
		if 4*len(names) > len(nodes) { // another kind of node, and no fault
			weight = weightUsual
		}
		text := strings.Join(names[:min(3, len(names))], ", ")
		if more := len(names) - 3; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		l.to = []*Change{edited(l.key, text+" like the other nodes", func(q *model.WhatIf) error {
			for _, n := range which {
				if n >= len(q.Cluster.Nodes) {
					return fmt.Errorf("node %d is not in the cluster", n)
				}
				own := &q.Cluster.Nodes[n]
				name, rack, price := own.Name, own.Rack, own.Price
				*own = usual.Node
				own.Name, own.Rack, own.Price = name, rack, price
				q.Cluster.Loads = slices.DeleteFunc(q.Cluster.Loads, func(l model.Load) bool { return l.Node == n })
			}
			return nil
		}).weigh(weight)}
		list = append(list, l)
	}
	return list
}

// limitsOf lists the limits that a scheduler was given, each with its removal, and
// the other schedulers.
func limitsOf(q *model.WhatIf) []lever {
	var list []lever
	add := func(key, about, text string, weight float64, edit func(q *model.WhatIf)) {
		list = append(list, lever{key: key, acts: "launch", about: about, to: []*Change{
			edited(key, text, func(q *model.WhatIf) error { edit(q); return nil }).weigh(weight),
		}})
	}
	for i := range q.Scheduler.Pools {
		p := &q.Scheduler.Pools[i]
		for _, k := range []struct {
			key    string
			set    bool
			weight float64
			unset  func(*model.Pool)
		}{
			{"max_maps", p.MaxMaps != nil, weightUnusual, func(p *model.Pool) { p.MaxMaps = nil }},
			{"max_reduces", p.MaxReduces != nil, weightUnusual, func(p *model.Pool) { p.MaxReduces = nil }},
			{"max_running_jobs", p.MaxRunningJobs != nil, weightUnusual, func(p *model.Pool) { p.MaxRunningJobs = nil }},
			{"min_maps", p.MinMaps > 0, weightSet, func(p *model.Pool) { p.MinMaps = 0 }},
			{"min_reduces", p.MinReduces > 0, weightSet, func(p *model.Pool) { p.MinReduces = 0 }},
			{"weight", p.Weight != 1, max(weightSet, unusual(p.Weight < 0.25 || p.Weight > 4)), func(p *model.Pool) { p.Weight = 1 }},
			{"mode", p.Mode != "", weightSet, func(p *model.Pool) { p.Mode = "" }},
		} {
			if k.set {
				add("scheduler.pool."+k.key+" of "+p.Name, "setting of a pool", fmt.Sprintf("no %s of pool %s", k.key, p.Name), k.weight, func(q *model.WhatIf) { k.unset(&q.Scheduler.Pools[i]) })
			}
		}
	}
	if len(q.Scheduler.Users) > 0 {
		add("scheduler.user", "limits of users", "no limits of users", weightUnusual, func(q *model.WhatIf) { q.Scheduler.Users = nil })
	}
	for i := range q.Scheduler.Queues {
		for _, key := range q.Scheduler.Queues[i].Conf.Keys() {
			if value, _ := q.Scheduler.Queues[i].Conf.Lookup(key); key == "capacity" && (len(q.Scheduler.Queues) > 1 || value == "100") { // all of the cluster is no limit
				continue
			}
			name, written := q.Scheduler.Queues[i].Name, strings.ReplaceAll(key, "-", "_")
			add("scheduler.queue."+written+" of "+name, "limit of a queue", fmt.Sprintf("no %s of queue %s", written, name), weightUnusual, func(q *model.WhatIf) {
				own := &q.Scheduler.Queues[i]
				own.Conf = own.Conf.Without(key)
			})
		}
	}
	for _, key := range q.Scheduler.Conf.Keys() { // elements of the fair scheduler's file; no property of the cluster, such as of a recorded job, is one
		_, property := workload.FindProperty(key)
		if _, ofCluster := q.Cluster.Conf.Lookup(key); !property && !ofCluster {
			add("scheduler."+key, "limit of the scheduler", "no "+key, weightUnusual, func(q *model.WhatIf) { q.Scheduler.Conf = q.Scheduler.Conf.Without(key) })
		}
	}
	other := lever{key: "scheduler.name", acts: "launch", about: "order of jobs and tasks"}
	for _, name := range []string{"fifo", "fair1", "fair2", "capacity"} {
		if name != q.Scheduler.Name {
			other.to = append(other.to, setScheduler(name).weigh(weightOf(q, other.key)))
		}
	}
	return append(list, other)
}

// jobKeys lists the priorities of jobs and the uneven parts of their reduces, each with
// its removal.
func jobKeys(q *model.WhatIf) (list []lever) {
	const uneven = 1.5 // times the mean part
	add := func(key, acts, about, text string, weight float64, set func(*workload.Job) bool, unset func(*workload.Job)) {
		for i := range q.Jobs {
			if set(&q.Jobs[i]) {
				list = append(list, lever{key: key, acts: acts, about: about, to: []*Change{edited(key, text, func(q *model.WhatIf) error {
					for k := range q.Jobs {
						unset(&q.Jobs[k])
					}
					return nil
				}).weigh(weight)}})
				return
			}
		}
	}
	add("job.priority", "launch", "priorities of jobs", "no priority of jobs", weightSet,
		func(j *workload.Job) bool { return j.Priority != workload.Normal }, func(j *workload.Job) { j.Priority = workload.Normal })
	add("job.skew", "shuffle sort write", "uneven parts of reduces", "even partitions", weightUnusual, func(j *workload.Job) bool {
		return slices.ContainsFunc(j.Reduces.Shares, func(share float64) bool { return share*float64(j.Reduces.Count) > uneven })
	}, func(j *workload.Job) { j.Reduces.Shares = nil })
	return list
}

// leastBeat is the shortest interval of heartbeats that is tried.
const leastBeat = 100 * time.Millisecond

// sizes lists the keys of the cluster: the heartbeat, fixed costs, slots, devices, and
// the sizes of tasks.
func sizes(q *model.WhatIf) []lever {
	c := &q.Cluster
	beat := lever{key: "cluster.heartbeat", acts: "launch start", about: "interval of heartbeats"}
	unset := *q
	unset.Cluster.Heartbeat = 0
	usual, release := heartbeatOf(q), heartbeatOf(&unset)
	if c.Heartbeat > 0 {
		beat.to = []*Change{setHeartbeat("heartbeat of the release", 0).weigh(max(weightSet, unusual(usual > release)))}
	}
	if usual > 0 {
		beat.step = func(steps int) *Change {
			next := time.Duration(float64(usual) * math.Pow(4, float64(steps))).Round(time.Millisecond)
			weight := weightUsual
			if next < release { // no property of Hadoop sets it
				weight = weightBought
			}
			if next < leastBeat {
				return nil
			}
			return setHeartbeat(fmt.Sprintf("heartbeat of %v", next), next).weigh(weight)
		}
	}
	list := []lever{beat, releaseLever(q)}
	for _, cost := range []struct {
		key, acts string
		most      time.Duration // that a healthy cluster needs
		of        func(*model.Costs) *time.Duration
	}{
		{"launch", "start", time.Second, func(c *model.Costs) *time.Duration { return &c.Launch }}, {"setup", "start launch", 700 * time.Millisecond, func(c *model.Costs) *time.Duration { return &c.Setup }},
		{"cleanup", "start", 700 * time.Millisecond, func(c *model.Costs) *time.Duration { return &c.Cleanup }}, {"commit", "start write launch", 200 * time.Millisecond, func(c *model.Costs) *time.Duration { return &c.Commit }},
		{"task_cleanup", "lost", 500 * time.Millisecond, func(c *model.Costs) *time.Duration { return &c.TaskCleanup }},
	} {
		const often = 3 // times what a healthy cluster needs, as machines differ: containers of a real one start in 2.6 s
		if *cost.of(&c.Costs) > often*cost.most {
			key := "cluster.costs." + cost.key
			list = append(list, lever{key: key, acts: cost.acts, about: "fixed cost of tasks or jobs", to: []*Change{
				edited(key, fmt.Sprintf("%s of %v", key, cost.most), func(q *model.WhatIf) error { *cost.of(&q.Cluster.Costs) = cost.most; return nil }).weigh(weightUnusual),
			}})
		}
	}
	if usual := usualSlowness(c); usual > 1 {
		const key = "cluster.slowdown"
		list = append(list, lever{key: key, acts: "start map sort write shuffle", about: "factor on the times of tasks", to: []*Change{edited(key, key+" = 1", func(q *model.WhatIf) error {
			for i := range q.Cluster.Nodes {
				q.Cluster.Nodes[i].Slowness /= usual
			}
			return nil
		}).weigh(weightUnusual)}})
	}
	const shared = "cluster.shared_slots"
	kinds := map[bool]float64{true: weightSet, false: weightBought} // a shared slot stands for two
	list = append(list, lever{key: shared, acts: "launch", about: "kinds of slots", to: []*Change{edited(shared, fmt.Sprintf("%s = %v", shared, !c.SharedSlots), func(q *model.WhatIf) error {
		q.Cluster.SharedSlots = !q.Cluster.SharedSlots
		return nil
	}).weigh(kinds[c.SharedSlots])}})
	machine := usualMachine(c)
	list = append(list, slotsLever(q, workload.Map), slotsLever(q, workload.Reduce))
	if !math.IsInf(machine.Uplink, 1) && len(c.Machines) > 0 && len(c.Racks) > 1 {
		const key = "network.uplink_mb"
		list = append(list, lever{key: key, acts: "network launch", about: "rate of the links of racks", to: []*Change{edited(key, "rack links without a limit", func(q *model.WhatIf) error {
			for i := range q.Cluster.Machines {
				q.Cluster.Machines[i].Uplink = math.Inf(1)
			}
			return nil
		}).weigh(weightUnusual)}})
	}
	if len(c.Racks) > 1 {
		const key = "cluster.racks"
		list = append(list, lever{key: key, acts: "launch read network", about: "number of racks", to: []*Change{edited(key, key+" = 1", func(q *model.WhatIf) error {
			q.Cluster.Racks = q.Cluster.Racks[:1]
			for i := range q.Cluster.Nodes {
				q.Cluster.Nodes[i].Rack = 0
			}
			return nil
		}).weigh(weightSet)}})
	}
	if len(c.Machines) == 0 {
		return append(list, reducesLever(), splitsLever(q))
	}
	for _, h := range hardware {
		better := func(steps int) float64 { return max(0, min(weightBought, float64(steps)*h.base)) }
		l := multiplied(h.key, h.acts, h.about, h.text, h.base, better, func(q *model.WhatIf, factor float64) error {
			for i := range q.Cluster.Machines {
				h.multiply(&q.Cluster.Machines[i], factor)
			}
			return nil
		})
		if is, described := h.of(machine.Describe()), h.of(machine.Described); described > float64(1.01*is) && is > 0 {
			as := l.times(described / is).weigh(weightUnusual)
			as.Text += ", as those of " + machine.Name
			l.to = []*Change{as}
		}
		if len(l.to) > 0 || h.base > 0 {
			list = append(list, l)
		}
	}
	return append(list, reducesLever(), splitsLever(q))
}

// releaseLever tries the other releases of Hadoop that send heartbeats.
func releaseLever(q *model.WhatIf) lever {
	const key = "cluster.hadoop"
	l := lever{key: key, acts: "launch start", about: "release of Hadoop"}
	for i := range model.Releases {
		if r := &model.Releases[i]; r.HeartbeatMin > 0 && r.Name != q.Cluster.Hadoop {
			l.to = append(l.to, edited(key, "Hadoop "+r.Name, func(q *model.WhatIf) error { q.Cluster.Hadoop = r.Name; return nil }).weigh(weightBought))
		}
	}
	return l
}

// hardware lists the keys of machines. More of it is tried in powers of base; 0: only
// as much as the platform has.
var hardware = []struct {
	key, acts, about, text string
	base                   float64
	of                     func(model.Described) float64
	multiply               func(*model.Machine, float64)
}{
	{"network.nic_mb", "network", "rate of network interfaces", "network interfaces %.3g times as fast", 4, func(d model.Described) float64 { return d.NIC }, func(m *model.Machine, by float64) { m.NIC *= by }},
	{"cluster.disks", "disk", "number of disks", "%.3g times as many disks", 2, func(d model.Described) float64 { return float64(d.Disks) }, func(m *model.Machine, by float64) {
		m.Disks = slices.Repeat(m.Disks[:min(1, len(m.Disks))], int(math.Round(float64(len(m.Disks))*by)))
	}},
	{"cluster.disk_slowdown", "disk", "rate of disks", "disks %.3g times as fast", 0, func(d model.Described) float64 { return d.Rate }, func(m *model.Machine, by float64) {
		for i := range m.Disks {
			m.Disks[i].Read, m.Disks[i].Write = m.Disks[i].Read*by, m.Disks[i].Write*by
		}
	}},
	{"cluster.cores", "processor", "number of cores", "%.3g times as many cores", 0, func(d model.Described) float64 { return float64(d.Cores) }, func(m *model.Machine, by float64) { m.Cores = int(math.Round(float64(m.Cores) * by)) }},
	{"cluster.cpu_slowdown", "processor", "speed of cores", "cores %.3g times as fast", 0, func(d model.Described) float64 { return d.Speed }, func(m *model.Machine, by float64) { m.Speed *= by }},
	{"cluster.memory", "disk", "memory of nodes", "%.3g times as much memory", 0, func(d model.Described) float64 { return float64(d.Memory) }, func(m *model.Machine, by float64) { m.Memory = int64(float64(m.Memory) * by) }},
}

// usualMachine is the machine of most nodes, a zero one where there are no machines.
func usualMachine(c *model.Cluster) (m model.Machine) {
	if len(c.Machines) > 0 {
		m = c.Machines[c.UsualMachine()]
	}
	return m
}

// usualSlowness is the factor on the times of tasks that half of the nodes do not exceed.
func usualSlowness(c *model.Cluster) float64 {
	var list []float64
	for i := range c.Nodes {
		list = append(list, c.Nodes[i].Slowness)
	}
	return median(list)
}

// slotsLever multiplies the slots of a kind on every node. One map slot for four cores or
// one reduce slot for eight is unusually few, and so is a single one for half as many,
// unless one wave of reduces is enough. More slots than cores are unusually many.
func slotsLever(q *model.WhatIf, kind workload.Kind) lever {
	of := func(n *model.Node) *int { return []*int{&n.MapSlots, &n.ReduceSlots}[kind] }
	cores := usualMachine(&q.Cluster).Cores
	per := []int{4, 8}[kind]
	slots := q.Cluster.Slots()[kind]
	few := kind == workload.Map || slices.ContainsFunc(q.Jobs, func(j workload.Job) bool { return j.Reduces.Count > slots })
	most := 0
	for i := range q.Cluster.Nodes {
		n := *of(&q.Cluster.Nodes[i])
		few, most = few && (per*n <= cores || n <= 1 && (cores == 0 || 2*cores >= per)), max(most, n)
	}
	many := cores > 0 && most > cores
	weight := func(steps int) float64 {
		switch {
		case few && steps > 0, many && steps < 0:
			return weightUnusual
		case steps < 0:
			return weightUsual
		}
		return weightBought
	}
	l := multiplied(fmt.Sprintf("cluster.%s_slots", kind), "launch map", fmt.Sprintf("number of %s slots", kind), "%.3g times as many "+kind.String()+" slots", 2,
		weight, func(q *model.WhatIf, factor float64) error {
			for i := range q.Cluster.Nodes {
				if n := of(&q.Cluster.Nodes[i]); *n > 0 {
					*n = max(1, int(float64(float64(*n)*factor)+1e-9))
				}
			}
			return nil
		})
	if q.Fidelity <= model.Profile {
		l.note = "; the given times of tasks do not grow with the number of tasks on a node"
	}
	switch {
	case few:
		l.to = []*Change{l.step(1)}
	case many: // half of far too many may be as bad
		l.to = []*Change{l.times(float64(cores) / float64(most)).weigh(weightUnusual)}
	}
	return l
}

// multiplied is a lever that multiplies a key by powers of a base. A weight of 0 says
// that a step is not tried.
func multiplied(key, acts, about, text string, base float64, weight func(steps int) float64, edit func(q *model.WhatIf, factor float64) error) lever {
	l := lever{key: key, acts: acts, about: about}
	l.times = func(factor float64) *Change {
		return edited(key, fmt.Sprintf(text, factor), func(q *model.WhatIf) error { return edit(q, factor) })
	}
	l.step = func(steps int) *Change {
		if weight(steps) == 0 {
			return nil
		}
		return l.times(math.Pow(base, float64(steps))).weigh(weight(steps))
	}
	return l
}

// fewOrMany lists a lever for the jobs with far fewer reduces than slots although they
// have several times as many maps, or with more than two waves of reduces: it gives each
// of them as many reduces as nine tenths of the slots.
func fewOrMany(q *model.WhatIf) []lever {
	slots := q.Cluster.Slots()[workload.Reduce]
	n := max(1, slots*9/10)
	var of []int
	for i := range q.Jobs {
		r := &q.Jobs[i].Reduces
		few := 8*r.Count <= slots && 4*r.Count <= q.Jobs[i].Maps.Count
		if r.Count > 0 && (few || r.Count > 2*slots) && !reduceTimesGiven(r) {
			of = append(of, i)
		}
	}
	if len(of) == 0 {
		return nil
	}
	text := fmt.Sprintf("mapred.reduce.tasks = %d for %s", n, q.Jobs[of[0]].ID)
	if len(of) > 1 {
		text += fmt.Sprintf(" and %d more", len(of)-1)
	}
	const key = "job.reduces"
	return []lever{{key: key, acts: "shuffle write launch", about: "number of reduces", to: []*Change{edited(key, text, func(q *model.WhatIf) error {
		for _, i := range of {
			q.Jobs[i].Reduces.Resize(n)
		}
		return nil
	}).weigh(weightUnusual)}}}
}

// reducesLever multiplies the number of reduces of each job, unless their times are given.
func reducesLever() lever {
	return multiplied("job.reduces", "shuffle write launch", "number of reduces", "%.3g times as many reduces", 2, func(int) float64 { return weightUsual }, func(q *model.WhatIf, factor float64) error {
		any := false
		for i := range q.Jobs {
			if r := &q.Jobs[i].Reduces; r.Count > 0 && !reduceTimesGiven(r) {
				r.Resize(max(1, int(float64(r.Count)*factor)))
				any = true
			}
		}
		if !any {
			return inQuestion("the times of reduces are given")
		}
		return nil
	})
}

// Usual splits, in bytes: blocks of Hadoop have 64 or 128 MiB.
const (
	leastSplit = 32 << 20
	mostSplit  = 256 << 20
)

// splitsLever joins splits, and divides them, within their usual sizes or towards them.
func splitsLever(q *model.WhatIf) lever {
	const key, base = "dfs.block.size", 4
	bytes, maps := int64(0), int64(0)
	for i := range q.Jobs {
		bytes, maps = bytes+q.Jobs[i].Maps.InputBytes, maps+int64(q.Jobs[i].Maps.Count)
	}
	size := float64(bytes) / float64(max(1, maps))
	return lever{key: key, acts: "start map launch sort", about: "size of the splits", step: func(steps int) *Change {
		text, n, edit := "%d splits combined into one", int(math.Pow(base, math.Abs(float64(steps)))), joinSplits
		changed, towards := size*float64(n), size < leastSplit
		if steps < 0 {
			text, edit, changed, towards = "%d splits in place of each", divideSplits, size/float64(n), size > mostSplit
		}
		weight := unusual(towards)
		switch {
		case bytes == 0: // how much work a task has is not known
			weight = weightBought
		case !towards && (changed < leastSplit || changed > mostSplit):
			return nil
		}
		return edited(key, fmt.Sprintf(text, n), func(q *model.WhatIf) error {
			for i := range q.Jobs {
				if err := edit(&q.Jobs[i], n); err != nil {
					return err
				}
			}
			return nil
		}).weigh(weight)
	}}
}
