package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// clusterTable reads [cluster].
type clusterTable struct{ *table }

// readCluster reads [cluster]. A trace may give the values that it leaves open.
func (t clusterTable) readCluster(l *load, conf workload.Conf, m *hardware, onYARN *yarnTable) model.Cluster {
	common := l.common().Over(conf)
	c := model.Cluster{Conf: common, Hadoop: t.oneOf("hadoop", t.releaseOf(l), releases()...)}
	if l.recorded() {
		c.Conf = t.withoutOthersLimits(l, common, conf)
	}
	ideal := c.Hadoop == "ideal"
	machine := m.readMachine(t.table, -1)
	c.Costs = t.readCosts(l, ideal, m)
	if onYARN != nil {
		onYARN.readCosts(t.table, &c.Costs)
	} else {
		if _, ok := t.ask("vcores"); ok {
			t.onlyOnYARN("vcores")
			t.failf("vcores", "Hadoop %s has slots: want hadoop = \"3.3.6\" or another release with containers, or cores, of a machine", c.Hadoop)
		}
	}
	c.SharedSlots = t.boolean("shared_slots", false)
	c.EveryHeartbeat = t.oneOf("heartbeats", "lazy", "lazy", "every") == "every"
	c.Heartbeat = t.duration("heartbeat", 0)
	if given, ok := asDuration(t.values["heartbeat"]); ok && given < time.Millisecond {
		t.want("heartbeat", given, "at least 1ms; hadoop = \"ideal\" does without")
	}
	c.FromStart = t.boolean("from_start", false)
	c.Replication = t.replication(common)
	t.readNodes(&c, l, common, conf, m, machine)
	if l.recorded() && !m.planned() && t.yarn == nil && !m.file.keepsTimes() {
		t.otherSlots(&c, l, m.file.history)
	}
	if l.recorded() && !c.SharedSlots && t.yarn == nil {
		t.sharedSlots(l)
	}
	t.readSlowdowns(&c, l, m)
	t.readDies(&c, m.seed.Named("dies"))
	if c.Heartbeat == 0 && !ideal && l.recorded() && onYARN == nil {
		t.inferHeartbeat(&c, l.whole)
	}
	c.Machines = m.machines
	if len(t.problems) == 0 {
		m.readLoads(t.table, &c)
	} else {
		t.ask("load") // it names nodes, which a problem may have left out
	}
	for i, text := range t.texts("phases") {
		d, ok := asDuration(text)
		if !ok {
			t.failf("phases", "%q: want %s", text, durationForm)
		}
		c.Phases = append(c.Phases, d)
		if i+1 > len(c.Nodes) {
			break
		}
	}
	if len(c.Phases) == 0 && !ideal && l.recorded() && onYARN == nil {
		l.replay.Assigned = t.recordedBeats(&c, l)
	}
	if len(c.Phases) > 0 && len(c.Phases) != len(c.Nodes) {
		t.failf("phases", "want one for each of %d nodes", len(c.Nodes))
	}
	t.done()
	return c
}

// withoutOthersLimits replaces memory limits of a trace under which its own jobs
// could not have run. Such limits come from the machine that submitted the job,
// not from the JobTracker. If the jobs held several slots for a task, the record
// implies the memory of a slot.
func (t clusterTable) withoutOthersLimits(l *load, common, given workload.Conf) workload.Conf {
	stated := true
	for _, key := range memoryLimits {
		if _, mine := given.Lookup(key); mine {
			return common
		}
		_, known := common.Lookup(key)
		stated = stated && known
	}
	exceeded, why := "", ""
	for _, kind := range []string{"map", "reduce"} {
		limit := "mapred.cluster.max." + kind + ".memory.mb"
		most, err := common.Whole(limit)
		for i := range l.history.Jobs {
			asks, asksErr := l.history.Jobs[i].Conf.Whole("mapred.job." + kind + ".memory.mb")
			if err == nil && asksErr == nil && most >= 0 && asks > most && exceeded == "" {
				exceeded, why = limit, fmt.Sprintf("a limit of %d MB (%s) although its jobs ran with %d MB", most, limit, asks)
			}
		}
	}
	if stated && exceeded == "" {
		return common
	}
	if implied, ok := t.impliedLimits(l, common); ok {
		return implied
	}
	if exceeded == "" {
		return common
	}
	t.warn("%s: the trace records %s, but tasks are scheduled by memory only if [conf] states the limits", t.file, why)
	return with(common, exceeded, "-1")
}

// memoryLimits are the properties with which the capacity scheduler schedules
// memory.
var memoryLimits = []string{
	"mapred.cluster.map.memory.mb", "mapred.cluster.reduce.memory.mb",
	"mapred.cluster.max.map.memory.mb", "mapred.cluster.max.reduce.memory.mb",
}

func releases() []string {
	var names []string
	for i := range model.Releases {
		names = append(names, model.Releases[i].Name)
	}
	return names
}

func (t clusterTable) replication(conf workload.Conf) int {
	n, err := conf.Whole("dfs.replication")
	if err != nil { // reported where it is set
		n, _ = (workload.Conf{}).Whole("dfs.replication")
	}
	return n
}

// readCosts reads the fixed times. Durations in a trace include the start of
// the JVM and the commit.
func (t clusterTable) readCosts(l *load, ideal bool, m *hardware) model.Costs {
	given := t.has("costs")
	in := t.inner("costs")
	c := model.Costs{
		Launch: time.Second, Setup: 700 * time.Millisecond, Cleanup: 700 * time.Millisecond,
		Commit: 200 * time.Millisecond, TaskCleanup: 500 * time.Millisecond,
	}
	if t.yarn != nil { // threads of the ApplicationMaster do this, not tasks
		c.Setup, c.Cleanup, c.TaskCleanup = 100*time.Millisecond, yarnCosts.JobCommit, yarnCosts.TaskAbort
	}
	source := map[string]string{}
	if len(m.machines) > 0 && m.machines[0].Fitted == nil {
		c.Launch, source["launch"] = m.machines[0].JVMStart, "of the platform"
	}
	if l.recorded() {
		if in.has("launch") && !ideal && l.replay.Startup == 0 {
			l.replay.Startup = in.duration("launch", 0)
			t.assume("workload.startup = %v (cluster.costs.launch)", l.replay.Startup)
		}
		jvm := c.Launch
		c.Launch = l.replay.Startup
		source["launch"], source["commit"] = "recorded times contain the rest", "recorded times contain it"
		if l.replay.Commit > 0 {
			c.Commit, source["commit"] = l.replay.Commit, "recorded times contain the rest"
		}
		setup, cleanup, startup := l.fixed(l.replay.Startup)
		if startup > 0 {
			c.Launch, source["launch"] = startup, "mean of the trace"
		}
		if c.Launch == 0 && t.yarn == nil {
			// No history records the clean-up of an attempt, which starts a JVM too.
			c.TaskCleanup, source["task_cleanup"] = c.TaskCleanup+jvm, "with the start of its JVM"
		}
		// If the launch is the trace's own mean, nothing may remain.
		some := func(d time.Duration) bool { return d > 0 || d == 0 && startup > 0 && l.replay.Startup == 0 }
		if l.history.WithoutSetupCleanup() {
			const none = "not for the jobs of the trace, which run no such tasks"
			source["setup"], source["cleanup"] = none, none
		}
		if some(setup) {
			c.Setup, source["setup"] = setup, "mean of the trace, after the launch"
		}
		if some(cleanup) {
			c.Cleanup, source["cleanup"] = cleanup, "mean of the trace, after the launch"
		}
	}
	if ideal {
		if given {
			t.warnAt(t.line("costs"), "cluster.costs has no effect: the release ideal has no fixed costs")
		}
		c = model.Costs{}
	}
	for _, cost := range []struct {
		key string
		at  *time.Duration
	}{{"launch", &c.Launch}, {"setup", &c.Setup}, {"cleanup", &c.Cleanup}, {"commit", &c.Commit}, {"task_cleanup", &c.TaskCleanup}} {
		if !in.has(cost.key) && !ideal {
			why := source[cost.key]
			if why != "" {
				why = " (" + why + ")"
			}
			t.assume("%s = %v%s", join(in.path, cost.key), *cost.at, why)
		}
		*cost.at = in.duration(cost.key, *cost.at)
	}
	in.done()
	return c
}

// group is a number of equal nodes.
type group struct {
	table *table
	count int
	name  string
	node  model.Node
}

// racksOf returns the number of racks of a number of nodes.
func (t clusterTable) racksOf(total, racks, perRack int) int {
	switch {
	case perRack == 0:
	case t.has("racks"):
		t.warnAt(t.line("nodes_per_rack"), "cluster.nodes_per_rack has no effect: cluster.racks is given")
	default:
		racks = (total + perRack - 1) / perRack
	}
	if racks > total {
		t.warnAt(t.line("racks"), "of %d racks only %d have nodes", racks, total)
		racks = total
	}
	return racks
}

// readNodes makes the nodes: from groups, from a number, or from the trace.
func (t clusterTable) readNodes(c *model.Cluster, l *load, conf, stated workload.Conf, m *hardware, machine int) {
	// Another number of nodes, set from outside, is a change of the recorded cluster.
	own := l.recorded() && (m.file.history || !t.has("nodes") || m.file.changes("cluster.nodes")) && !t.has("group") && l.whole.Topology.Hosts() > 0
	slots := func(key, property string, kind workload.Kind) int {
		if own {
			return t.slotsOfTrace(key, property, conf, max(1, l.whole.MostOnMachine(kind)), kind)
		}
		return t.slots(key, property, conf)
	}
	alike := model.Node{
		Slowness: t.number("slowdown", 1, leastSlowdown, mostSlowdown),
		Price:    t.number("price_per_hour", 0, 0, anyNumber),
		Machine:  machine,
	}
	alike.FailAfter = t.duration("fail_after", 0)
	if t.yarn != nil {
		t.noSlots(t.table)
		var used model.Resource
		if own {
			used = heldOnMachine(l.whole, t.yarn)
		}
		alike.Resource = t.readResource(t.table, t.resourceOf(conf, stated, used))
	} else {
		alike.MapSlots = slots("map_slots", "mapred.tasktracker.map.tasks.maximum", workload.Map)
		alike.ReduceSlots = slots("reduce_slots", "mapred.tasktracker.reduce.tasks.maximum", workload.Reduce)
	}
	nodes, ofTrace := t.integer("nodes", 0, 1, mostNodes), 1
	if own {
		workers := l.whole.Workers()
		if ofTrace = len(workers.Racks); nodes == workers.Hosts() && !t.has("racks") && !t.has("nodes_per_rack") {
			nodes = 0 // as many as the trace names
		}
	}
	racks, perRack := t.integer("racks", ofTrace, 1, mostNodes), t.integer("nodes_per_rack", 0, 1, mostNodes)
	var groups []group
	total := 0
	for _, in := range t.named("group") {
		g := group{table: in, node: alike}
		g.count = in.integer("count", 1, 1, mostNodes)
		g.name = in.str("name", "")
		if t.yarn != nil {
			t.noSlots(in)
			g.node.Resource = t.readResource(in, alike.Resource)
		} else {
			g.node.MapSlots = in.integer("map_slots", alike.MapSlots, 0, mostSlots)
			g.node.ReduceSlots = in.integer("reduce_slots", alike.ReduceSlots, 0, mostSlots)
		}
		g.node.Slowness = in.number("slowdown", alike.Slowness, leastSlowdown, mostSlowdown)
		g.node.Price = in.number("price_per_hour", alike.Price, 0, anyNumber)
		g.node.Machine = m.readMachine(in, machine)
		g.node.Dies = in.duration("dies", 0)
		g.node.FailAfter = in.duration("fail_after", alike.FailAfter)
		in.done()
		groups = append(groups, g)
		total += g.count
	}
	switch {
	case len(groups) > 0 && nodes > 0:
		t.failf("nodes", "cannot be combined with [[cluster.group]]: want one of them")
	case total > mostNodes:
		t.fail(t.line("group"), "%d nodes: want at most %d", total, mostNodes)
		return
	case len(groups) == 0 && nodes == 0:
		if l.whole != nil && l.whole.Topology.Hosts() > 0 {
			t.nodesOfTrace(c, l.whole, alike)
			t.somePlatform(c, m)
			return
		}
		if l.failed || t.has("nodes") { // reported
			return
		}
		t.lacks("%s: want nodes or [[cluster.group]], or --set cluster.nodes=N: neither the scenario nor a trace names machines%s", join(t.path, "nodes"), l.damage())
		nodes = 1
	}
	if len(groups) == 0 {
		groups, total = []group{{count: nodes, node: alike}}, nodes
	}
	racks = t.racksOf(total, racks, perRack)
	c.Racks = []string{"/default-rack"}
	if racks > 1 {
		c.Racks = nil
		for r := range racks {
			c.Racks = append(c.Racks, fmt.Sprintf("/rack%0*d", digits(racks), r+1))
		}
	}
	if !own && l.recorded() && t.yarn == nil {
		t.fewSlots(l.whole, groups, conf)
	}
	names := map[string]bool{}
	for _, g := range groups {
		for i := range g.count {
			n := g.node
			n.Rack = len(c.Nodes) * racks / total
			switch {
			case g.name == "":
				n.Name = fmt.Sprintf("node%0*d", digits(total), len(c.Nodes)+1)
			case g.count == 1:
				n.Name = g.name
			default:
				n.Name = fmt.Sprintf("%s%0*d", g.name, digits(g.count), i+1)
			}
			if names[n.Name] {
				g.table.failf("name", "two nodes are named %q: want a different name for each", n.Name)
				return
			}
			names[n.Name] = true
			c.Nodes = append(c.Nodes, n)
		}
	}
	t.someSlots(c)
	t.somePlatform(c, m)
}

// readSlowdowns reads the factors of single nodes. Recorded times contain those of
// their own machines.
func (t clusterTable) readSlowdowns(c *model.Cluster, l *load, m *hardware) {
	in := t.inner("slowdowns")
	var missing []string
	idle := false
	for _, name := range slices.Sorted(maps.Keys(in.values)) {
		factor := in.number(name, 1, leastSlowdown, mostSlowdown)
		of := func(r workload.Rack) bool { return slices.Contains(r.Hosts, name) }
		switch i := slices.IndexFunc(c.Nodes, func(n model.Node) bool { return n.Name == name }); {
		case i >= 0 && l.recorded() && !m.planned():
			idle = true
		case i >= 0:
			c.Nodes[i].Slowness *= factor
		case l.whole != nil && slices.ContainsFunc(l.whole.Topology.Racks, of):
			t.assume("no node is as slow as %s was: the nodes are others than the machines of the trace", name)
		default:
			missing = append(missing, name)
		}
	}
	if idle {
		t.idleAt(t.line("slowdowns"), "cluster.slowdowns has no effect: the recorded times of the machines contain it")
	}
	if len(missing) > 0 {
		const most = 5
		shown := strings.Join(missing[:min(most, len(missing))], ", ")
		if more := len(missing) - most; more > 0 {
			shown += fmt.Sprintf(" and %d more", more)
		}
		if len(c.Nodes) > 0 {
			t.warnAt(t.line("slowdowns"), "cluster.slowdowns: no node of this cluster has the name %s, so it has no effect: want one of %s", shown, nodesNear(c, missing[0]))
		}
	}
	in.done()
}

// readDies reads when nodes die, except those of a group with a time of its own.
func (t clusterTable) readDies(c *model.Cluster, seed workload.Seed) {
	dies := t.durations("dies", 0)
	if !dies.Set() {
		return
	}
	for i := range c.Nodes {
		if c.Nodes[i].Dies == 0 {
			c.Nodes[i].Dies = min(mostTime, max(1, dies.At(i, seed.Stream(i, 0))))
		}
	}
}

func (t clusterTable) somePlatform(c *model.Cluster, m *hardware) {
	if m.planned() && slices.ContainsFunc(c.Nodes, func(n model.Node) bool { return n.Machine < 0 }) {
		t.lacks("%s: missing: fidelity %v needs the platform of the nodes, such as --set cluster.platform=dl145-g3 (slotwave list)", join(t.path, "platform"), m.fidelity)
	}
}

// nodesOfTrace returns the machines that a trace names, in the order of their
// names.
func (t clusterTable) nodesOfTrace(c *model.Cluster, h *workload.History, alike model.Node) {
	t.idle("the trace names the racks", "racks", "nodes_per_rack")
	workers := h.Workers()
	for r, rack := range workers.Racks {
		name := rack.Name
		if !strings.HasPrefix(name, "/") {
			name = "/" + name
		}
		c.Racks = append(c.Racks, name)
		for _, host := range rack.Hosts {
			n := alike
			n.Name, n.Rack = host, r
			c.Nodes = append(c.Nodes, n)
		}
	}
	t.someSlots(c)
	t.assume("the cluster is the %d machines in %s that the trace names", len(c.Nodes), workload.Counted(len(c.Racks), "rack", "racks"))
	if idle := h.IdleWorkers(); idle > 0 {
		t.assume("%s without a task are workers: the topology lists them", workload.Counted(idle, "machine", "machines"))
	}
	if idle := h.Topology.Hosts() - workers.Hosts(); idle > 0 {
		t.assume("%s that only hold input are no workers: the trace names no task on them", workload.Counted(idle, "machine", "machines"))
	}
}

// otherSlots finds nodes with other slots than those recorded, whose tasks would share
// cores and disks with others. The slots that a scenario file itself states of its trace
// count as recorded.
func (t clusterTable) otherSlots(c *model.Cluster, l *load, history bool) {
	if one := c.Nodes[0]; c.SharedSlots && one.MapSlots+one.ReduceSlots == l.whole.MostOnMachine(workload.Map, workload.Reduce) {
		return
	}
	for _, kind := range []workload.Kind{workload.Map, workload.Reduce} {
		if !history && t.line(kind.String()+"_slots") >= 0 {
			continue
		}
		most := l.whole.MostOnMachine(kind)
		if n, known := statedSlots("mapred.tasktracker."+kind.String()+".tasks.maximum", l.whole.Common()); known {
			most = n
		}
		for i := range c.Nodes {
			slots := c.Nodes[i].MapSlots
			if kind == workload.Reduce {
				slots = c.Nodes[i].ReduceSlots
			}
			if slots != most && most > 0 {
				t.beyond = append(t.beyond, fmt.Sprintf("%d %s slots on a node in place of %d", slots, kind, most))
				break
			}
		}
	}
}

// sharedSlots finds whether the slots of a machine may be those of both kinds: no more
// attempts ran on one than of a single kind, or more of a kind than it has slots for.
func (t clusterTable) sharedSlots(l *load) {
	conf := l.whole.Common()
	most := l.whole.MostOnMachine(workload.Map, workload.Reduce)
	maps, reduces := l.whole.MostOnMachine(workload.Map), l.whole.MostOnMachine(workload.Reduce)
	m, knowsMaps := statedSlots("mapred.tasktracker.map.tasks.maximum", conf)
	r, knowsReduces := statedSlots("mapred.tasktracker.reduce.tasks.maximum", conf)
	shared := [][2]string{{"shared_slots", "true"}}
	switch {
	case knowsMaps && knowsReduces:
		if (maps > m || reduces > r) && most <= m+r {
			l.alsoFits = append(l.alsoFits, shared)
		}
	case !knowsMaps && !knowsReduces && most > 1 && most == max(maps, reduces):
		l.alsoFits = append(l.alsoFits, append(shared, [2]string{"map_slots", fmt.Sprint(most - most/2)}, [2]string{"reduce_slots", fmt.Sprint(most / 2)}))
	}
}

// statedSlots returns the slots of a machine that a configuration states. YARN has
// containers, and does not read these properties.
func statedSlots(property string, conf workload.Conf) (n int, known bool) {
	_, known = conf.Lookup(property)
	n, err := conf.Whole(property)
	return n, known && err == nil && conf.String("mapreduce.framework.name", "") != "yarn"
}

// slotsOfTrace returns the slots of the machines of a trace. They come from the
// scenario, else the configuration, else the largest recorded number of concurrent
// attempts on one machine.
func (t clusterTable) slotsOfTrace(key, property string, conf workload.Conf, most int, kind workload.Kind) int {
	if n, known := statedSlots(property, conf); known {
		if n < most && !t.has(key) {
			t.warn("%s: the history has %d %ss at once on one machine, but a node has %s (%s)", t.file, most, kind, workload.Counted(n, "slot", "slots"), property)
		}
		return t.slots(key, property, conf)
	}
	if !t.has(key) && !t.eachGroup(key) {
		t.assume("%s = %d (the most attempts at once on a machine of the trace)", join(t.path, key), most)
	}
	return t.integer(key, most, 0, mostSlots)
}

// eachGroup reports whether every group of nodes sets a key.
func (t clusterTable) eachGroup(key string) bool {
	groups, _ := t.values["group"].([]map[string]any)
	return len(groups) > 0 && !slices.ContainsFunc(groups, func(g map[string]any) bool { _, ok := g[key]; return !ok })
}

// slots returns a number of slots: from the scenario, else the configuration,
// else Hadoop's default.
func (t clusterTable) slots(key, property string, conf workload.Conf) int {
	n, err := conf.Whole(property)
	if _, known := conf.Lookup(property); err != nil || !known {
		n, _ = (workload.Conf{}).Whole(property)
		if !t.has(key) && !t.eachGroup(key) {
			t.assume("%s = %d (default of %s)", join(t.path, key), n, property)
		}
	}
	return t.integer(key, n, 0, mostSlots)
}

// fewSlots warns of slots that no source states if a record that names no machines has
// more attempts at once than the nodes have slots.
func (t clusterTable) fewSlots(h *workload.History, groups []group, conf workload.Conf) {
	if h.Topology.Hosts() > 0 {
		return
	}
	for kind, of := range []func(*model.Node) int{func(n *model.Node) int { return n.MapSlots }, func(n *model.Node) int { return n.ReduceSlots }} {
		kind := workload.Kind(kind)
		key := kind.String() + "_slots"
		slots, nodes := 0, 0
		for i := range groups {
			slots, nodes = slots+groups[i].count*of(&groups[i].node), nodes+groups[i].count
		}
		most := h.MostAtOnce(kind)
		if _, stated := conf.Lookup("mapred.tasktracker." + kind.String() + ".tasks.maximum"); stated || slots >= most || t.has(key) || t.eachGroup(key) {
			continue
		}
		t.warn("%s: %s, the default, while the record has %d %ss at once: if it ran on as many nodes, want --set %s=%d", t.file, workload.Counted(slots, kind.String()+" slot", kind.String()+" slots"), most, kind, join(t.path, key), (most+nodes-1)/nodes)
	}
}

// someSlots reports a cluster without slots, or with too many.
func (t clusterTable) someSlots(c *model.Cluster) {
	switch all := slotsOf(c); {
	case t.yarn != nil:
	case all == 0:
		t.failf("map_slots", "no node has a slot: want at least one")
	case all > allSlots:
		t.failf("map_slots", "%d slots on %d nodes: want at most %d in all", all, len(c.Nodes), allSlots)
	}
}

// readResource reads the memory and virtual cores of a node.
func (t clusterTable) readResource(in *table, usual model.Resource) model.Resource {
	const mib = 1 << 20
	r := model.Resource{
		MemoryMiB: in.memory(usual.MemoryMiB*mib) / mib,
		VCores:    int64(in.integer("vcores", int(usual.VCores), 1, unlimited)),
	}
	return r
}

// resourceOf returns the memory and virtual cores that the configuration gives a node: at
// least what the containers of a record used of a machine, unless it is the user's own.
// A job's recorded configuration has the properties of the machine that submitted it.
func (t clusterTable) resourceOf(conf, stated workload.Conf, used model.Resource) model.Resource {
	whole := func(key, property string, used int64) int64 {
		n, err := conf.Whole(property)
		_, told := conf.Lookup(property)
		if _, own := stated.Lookup(property); own || t.has(key) || t.eachGroup(key) {
			return int64(n)
		}
		if used = min(used, mostContainer); used > int64(n) {
			t.assume("%s = %d (containers of tasks at once on a machine of the trace)", join(t.path, key), used)
			return used
		}
		if err != nil || !told {
			t.assume("%s = %d (default of %s)", join(t.path, key), n, property)
		}
		return int64(n)
	}
	return model.Resource{
		MemoryMiB: whole("memory", "yarn.nodemanager.resource.memory-mb", used.MemoryMiB),
		VCores:    whole("vcores", "yarn.nodemanager.resource.cpu-vcores", used.VCores),
	}
}

// heldOnMachine returns the most that containers of maps and reduces held at once on a
// machine of a record, if the ResourceManager gave them what their jobs ask for.
func heldOnMachine(h *workload.History, release *model.YARNRelease) model.Resource {
	sizes := make(map[*workload.HistoryJob][2]model.Resource, len(h.Jobs)) // of maps and reduces; 0: not known
	for i := range h.Jobs {
		conf := h.Jobs[i].Conf
		rounded := func(n int64, unit string) int64 {
			step, err := conf.Whole("yarn.scheduler.minimum-allocation-" + unit)
			if err != nil || step < 1 || step > mostContainer || n > mostContainer {
				return 0
			}
			return (n + int64(step) - 1) / int64(step) * int64(step)
		}
		var of [2]model.Resource
		for kind := range of {
			if size, err := release.TaskSize(conf, workload.Kind(kind)); err == nil {
				of[kind] = model.Resource{MemoryMiB: rounded(size.MemoryMiB, "mb"), VCores: rounded(size.VCores, "vcores")}
			}
		}
		sizes[&h.Jobs[i]] = of
	}
	most := h.MostHeld(func(j *workload.HistoryJob, t *workload.HistoryTask) (amounts [2]int64) {
		if t.Kind <= workload.Reduce {
			r := sizes[j][t.Kind]
			amounts = [2]int64{r.MemoryMiB, r.VCores}
		}
		return amounts
	})
	return model.Resource{MemoryMiB: most[0], VCores: most[1]}
}

// onlyOnYARN blames a release with slots that the command line states, and no key that
// the file then has in vain.
func (t *table) onlyOnYARN(key string) {
	if i := slices.IndexFunc(t.problems, func(p problem) bool { return strings.HasPrefix(p.what, "cluster.hadoop: ") }); i >= 0 { // unknown
		t.decisive = &t.problems[i]
		return
	}
	if release := t.lines["cluster.hadoop"]; release < 0 && t.line(key) > 0 {
		t.decisive = &problem{line: release, what: fmt.Sprintf("it has slots, and %s:%d states %s: want a release with containers, such as 3.3.6, or a scenario with slots", t.file, t.line(key), join(t.path, key))}
	}
}

// noSlots refuses slots on YARN.
func (t clusterTable) noSlots(in *table) {
	for _, key := range []string{"map_slots", "reduce_slots", "shared_slots"} {
		if in.has(key) {
			if release := in.line("hadoop"); release < 0 && in.line(key) > 0 {
				in.decisive = &problem{line: release, what: fmt.Sprintf("it has containers on YARN, and %s:%d states %s: want a scenario for YARN, such as yarn-am-limit, or a release with slots, such as 1.2.1", in.file, in.line(key), join(in.path, key))}
			}
			in.failf(key, "Hadoop on YARN has no slots: want memory and vcores")
			in.ask(key)
		}
	}
}

// slotsOfKinds reports tasks of a kind for which a setting leaves no slot.
func (t *table) slotsOfKinds(q *model.WhatIf) {
	var slots [2]int
	for _, n := range q.Cluster.Nodes {
		slots[workload.Map], slots[workload.Reduce] = slots[workload.Map]+n.MapSlots, slots[workload.Reduce]+n.ReduceSlots
	}
	if q.Cluster.SharedSlots || slots == [2]int{} {
		return
	}
	for kind := range workload.Kind(2) {
		key := fmt.Sprintf("cluster.%v_slots", kind)
		for i := range q.Jobs {
			j := &q.Jobs[i]
			if n := []int{j.Maps.Count, j.Reduces.Count}[kind]; n > 0 && slots[kind] == 0 && t.lines[key] != 0 {
				t.fail(t.lines[key], "%s: no node has a %v slot, and job %s has %s: want at least one", key, kind, j.ID, workload.Counted(n, kind.String(), kind.String()+"s"))
				break
			}
		}
	}
}
