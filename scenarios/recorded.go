package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
)

// caseTable reads an object of a case.json: a small cluster and jobs with given times.
// Their outcome under a real JobTracker or ResourceManager is recorded next to it. Times
// are in milliseconds from its start. Keys that no reader asks for are left alone.
//
//	cluster, costs, runs   readCluster
//	scheduler              policy; on YARN inContainers
//	jobs                   ofJobTracker; on YARN ofMapReduce; their maps and reduces: readTasks
//	apps                   scripted
type caseTable struct {
	*table
	made *made
}

// made is what has been read of a case so far.
type made struct {
	tasks  int
	tables []*table
}

// recorded reads a recorded case. The setting run selects one of its lists of
// heartbeat phases, counted from 1.
func (f *File) recorded() (*Scenario, error) {
	run := 1
	for _, s := range f.set {
		n, ok := s.value["run"].(int64)
		if !ok || len(s.value) != 1 {
			return nil, fmt.Errorf("--set %s: a recorded case takes run=K only", s.text)
		}
		run = int(n)
	}
	all, err := parseJSON(f.data, f.name)
	if err != nil {
		return nil, err
	}
	t := caseTable{all, new(made)}.kept()
	if !t.gives("cluster", "trackers", "nodes") {
		return nil, fmt.Errorf("%s: got JSON without cluster.trackers or cluster.nodes: want a scenario in TOML, or a recorded case (docs/scenarios.md)", f.name)
	}
	q := &model.WhatIf{Name: cmp.Or(t.str("name", ""), f.slug), Fidelity: model.Replay, Seed: 1, Until: t.milliseconds("limit_ms")}
	about := t.str("about", "")
	q.Cluster.Hadoop = t.oneOf("hadoop", "", releases()...)
	release, err := model.FindRelease(q.Cluster.Hadoop)
	if err != nil { // reported
		return nil, t.err()
	}
	master := "JobTracker"
	if t.yarn = release.YARN; t.yarn != nil {
		master = "ResourceManager"
		if !t.yarn.Recorded {
			t.failf("hadoop", "%q: want %s, of which alone cases of YARN are recorded", release.Name, usualYARN)
		}
	}
	t.readCluster(&q.Cluster, run)
	if t.yarn != nil {
		t.inContainers(q)
	} else {
		t.onSlots(q)
	}
	t.refuseMistyped()
	if err := t.err(); err != nil {
		return nil, err
	}
	if t.yarn == nil {
		err = servable(q)
	}
	if what := beyond(q); what != "" && err == nil {
		err = errors.New(what)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return &Scenario{
		Name: slugOf(q.Name), Title: about, Source: "decisions of a real " + master + ", " + release.Name, Attempts: "csv", Case: t.yarn != nil,
		Inputs: []Input{{f.name, f.data}},
		Runs:   []Run{{Question: *q}},
	}, nil
}

func (t caseTable) kept() caseTable {
	t.made.tables = append(t.made.tables, t.table)
	return t
}

// refuseMistyped refuses keys that nobody reads if they are near one that is missing.
func (t caseTable) refuseMistyped() {
	for _, in := range t.made.tables {
		missing := slices.DeleteFunc(slices.Clone(in.asked), in.has)
		for _, key := range slices.Sorted(maps.Keys(in.values)) {
			if i := input.Mistyped(key, missing); i >= 0 && !slices.Contains(in.asked, key) {
				in.failf(key, "unknown key: want %s", missing[i])
			}
		}
	}
}

// object reads an object; one that is absent reads as empty.
func (t caseTable) object(key string) caseTable {
	v, given := t.ask(key)
	values, isObject := v.(map[string]any)
	if given && !isObject {
		t.want(key, v, "an object")
	}
	return caseTable{&table{report: t.report, path: join(t.path, key), values: values}, t.made}.kept()
}

// objects reads a list of objects.
func (t caseTable) objects(key string) (all []caseTable) {
	for i, v := range t.list(key, "a list of objects") {
		values, isObject := v.(map[string]any)
		if !isObject {
			t.want(index(key, i), v, "an object")
		}
		all = append(all, caseTable{&table{report: t.report, path: index(join(t.path, key), i), values: values}, t.made}.kept())
	}
	return all
}

func (t caseTable) list(key, expected string) []any {
	return read(t.table, key, nil, Key{}, expected, as[[]any])
}

// wholes checks the numbers of a list, or a part of one.
func (t caseTable) wholes(key string, list []any, least, most int) []int {
	numbers := make([]int, len(list))
	for i, v := range list {
		n, ok := v.(int64)
		if !ok || n < int64(least) || n > int64(most) {
			t.want(index(key, i), v, fmt.Sprintf("a whole number from %d to %d", least, most))
			continue
		}
		numbers[i] = int(n)
	}
	return numbers
}

// each reads a number for each node: one for all, or a list.
func (t caseTable) each(key string, nodes, most int) []int {
	v, _ := t.ask(key)
	list, isList := v.([]any)
	switch {
	case !isList:
		return slices.Repeat([]int{t.integer(key, 0, 0, most)}, nodes)
	case len(list) != nodes:
		t.failf(key, "a list of %d: want one number, or one for each of %d nodes", len(list), nodes)
		return make([]int, nodes)
	}
	return t.wholes(key, list, 0, most)
}

// mostCaseTime is smaller than the limits of scenarios, because slowness and distance
// multiply the times of a case.
const mostCaseTime = 24_000 * int(time.Hour/time.Millisecond)

func (t caseTable) milliseconds(key string) time.Duration {
	return millis(t.integer(key, 0, 0, mostCaseTime))
}

func millis(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }

// times reads a time for each task: one for all, or a list, which may be longer.
func (t caseTable) times(key string, tasks int) (d workload.Durations) {
	v, _ := t.ask(key)
	list, isList := v.([]any)
	switch {
	case !isList:
		d.All = t.milliseconds(key)
		if t.yarn != nil && tasks > 0 && !t.has(key) {
			t.lacks("%s: missing: want the time of %d tasks in ms", join(t.path, key), tasks)
		}
	case len(list) < tasks:
		t.failf(key, "a list of %d: want a time for each of %d tasks", len(list), tasks)
	default:
		for _, ms := range t.wholes(key, list[:tasks], 0, mostCaseTime) {
			d.Each = append(d.Each, millis(ms))
		}
	}
	return d
}

// byNode reads times of some nodes: an object with their numbers as keys, or a list in
// which others are null.
func (t caseTable) byNode(key string, nodes int) []time.Duration {
	if list, isList := t.values[key].([]any); isList {
		values := map[string]any{}
		for i, v := range list {
			if v != nil {
				values[strconv.Itoa(i)] = v
			}
		}
		t.values[key] = values
	}
	times := make([]time.Duration, nodes)
	in := t.object(key)
	for _, name := range slices.Sorted(maps.Keys(in.values)) {
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= nodes {
			in.failf(name, "want the number of a node in place of %q, from 0 to %d", name, nodes-1)
			continue
		}
		times[i] = in.milliseconds(name)
	}
	return times
}

// readCluster reads the nodes with their first heartbeats in a run, and the fixed times.
func (t caseTable) readCluster(to *model.Cluster, run int) {
	in, number := t.object("cluster"), "trackers"
	if t.yarn != nil {
		number = "nodes"
	}
	nodes := in.integer(number, 0, 1, mostNodes)
	if nodes == 0 {
		if !in.has(number) {
			in.lacks("%s: missing: want the number of machines", join(in.path, number))
		}
		return
	}
	to.FromStart, to.Grain = true, time.Millisecond
	racks := max(1, in.integer("racks", 1, 0, nodes))
	for rack := range racks {
		to.Racks = append(to.Racks, fmt.Sprintf("/rack%d", rack))
	}
	maps, reduces := in.each("map_slots", nodes, mostSlots), in.each("reduce_slots", nodes, mostSlots)
	memory, vcores := in.each("memory_mb", nodes, mostContainer), in.each("vcores", nodes, mostContainer)
	dies, failAfter := in.byNode("dies_ms", nodes), in.byNode("fail_after_ms", nodes)
	for i := range nodes {
		to.Nodes = append(to.Nodes, model.Node{
			Name: fmt.Sprintf("c%03d", i), Slowness: 1, MapSlots: maps[i], ReduceSlots: reduces[i],
			Resource: model.Resource{MemoryMiB: int64(memory[i]), VCores: int64(vcores[i])},
			Dies:     dies[i], FailAfter: failAfter[i],
		})
	}
	perNode := fmt.Sprintf("a list of at most %d numbers, one for each node", nodes)
	if list := in.list("rack_of", perNode); len(list) > nodes {
		in.failf("rack_of", "a list of %d: want %s", len(list), perNode)
	} else {
		for i, rack := range in.wholes("rack_of", list, 0, racks-1) {
			to.Nodes[i].Rack = rack
		}
	}
	for i, v := range in.list("slowness", perNode) {
		slowness, ok := asNumber(v)
		if !ok || i >= nodes || slowness < leastSlowdown || slowness > mostSlowdown {
			in.want(index("slowness", i), v, aNumber(leastSlowdown, mostSlowdown)+" for each node")
			continue
		}
		to.Nodes[i].Slowness = slowness
	}
	if slots := slotsOf(to); t.yarn == nil && (slots == 0 || slots > allSlots) {
		in.failf("map_slots", "%d slots on %d trackers: want 1 to %d slots in all", slots, nodes, allSlots)
	}
	for _, key := range []string{"memory_mb", "vcores"} {
		if t.yarn != nil && !in.has(key) {
			in.lacks("%s: missing: want one number, or one for each of %d nodes", join(in.path, key), nodes)
		}
	}
	runs := t.list("runs", "a list of runs")
	if run < 1 || run > len(runs) {
		t.failf("runs", "run %d: want --set run=K with K from 1 to %d", run, len(runs))
		return
	}
	at := index("runs", run-1)
	beats, ok := runs[run-1].([]any)
	if perNode := fmt.Sprintf("want a heartbeat phase for each of %d nodes", nodes); !ok {
		t.failf(at, "%s: %s", describe(runs[run-1]), perNode)
	} else if len(beats) != nodes {
		t.failf(at, "a list of %d: %s", len(beats), perNode)
	}
	for _, ms := range t.wholes(at, beats, 0, mostCaseTime) {
		to.Phases = append(to.Phases, millis(ms))
	}
	costs := t.object("costs")
	to.Costs = model.Costs{
		Launch: costs.milliseconds("launch_ms"), Setup: costs.milliseconds("setup_ms"), Cleanup: costs.milliseconds("cleanup_ms"),
		TaskCleanup: costs.milliseconds("task_cleanup_ms"), Commit: costs.milliseconds("commit_ms"),
	}
}

// count reads a number of tasks.
func (t caseTable) count() int {
	n := t.integer("count", 0, 0, mostTasks)
	if t.made.tasks += n; t.made.tasks > mostTasks {
		t.failf("count", "%d tasks so far: want at most %d in one question", t.made.tasks, mostTasks)
		return 0
	}
	return n
}

// hosts reads the hosts of the split of each task.
func (t caseTable) hosts() (hosts [][]string) {
	for i, v := range t.list("hosts", "a list of the hosts of each task") {
		names, ok := asTexts(v)
		if !ok {
			t.want(index("hosts", i), v, "a list of hosts")
		}
		hosts = append(hosts, names)
	}
	return hosts
}

// readTasks reads the maps and reduces of a job.
func (t caseTable) readTasks(j *workload.Job) {
	in, m := t.object("maps"), &j.Maps
	m.Count = in.count()
	m.Time = in.times("ms", m.Count)
	m.RackFactor, m.OffFactor = in.number("rack_factor", 0, 0, mostFactor), in.number("off_factor", 0, 0, mostFactor)
	m.Ends = in.failures("fail", m.Count)
	m.Splits = make([]workload.Split, m.Count)
	hosts := in.hosts()
	for i := range min(len(hosts), m.Count) {
		m.Splits[i].Hosts = hosts[i]
	}
	in, r := t.object("reduces"), &j.Reduces
	r.Count = in.count()
	r.Shuffle, r.Sort, r.Time = in.times("shuffle_ms", r.Count), in.times("sort_ms", r.Count), in.times("reduce_ms", r.Count)
	r.Ends = in.failures("fail", r.Count)
}

// properties reads Hadoop's settings.
func (t caseTable) properties(key string) (conf workload.Conf) {
	values := t.object(key).values
	for _, name := range slices.Sorted(maps.Keys(values)) {
		conf.Set(name, textOf(values[name]))
	}
	return conf
}

// onSlots reads the scheduler and the jobs of a JobTracker.
func (t caseTable) onSlots(q *model.WhatIf) {
	in := t.object("scheduler")
	q.Cluster.Conf = in.properties("properties")
	q.Scheduler = in.policy(&q.Cluster)
	for _, job := range t.objects("jobs") {
		q.Jobs = append(q.Jobs, job.ofJobTracker(&q.Cluster, strings.HasPrefix(q.Scheduler.Name, "fair")))
	}
	slices.SortStableFunc(q.Jobs, func(a, b workload.Job) int { return cmp.Compare(a.Submit, b.Submit) })
}

// policy reads the scheduler. Pools and queues keep the element names of Hadoop's files.
func (t caseTable) policy(c *model.Cluster) model.Scheduler {
	s := model.Scheduler{Name: t.str("type", ""), Conf: c.Conf}
	if s.Name == "fair" {
		s.Name = cmp.Or(fairOf(c.Hadoop), "fair2")
	}
	pools, users, queues := t.object("pools"), t.object("users"), t.object("queues")
	for _, name := range slices.Sorted(maps.Keys(pools.values)) {
		s.Pools = append(s.Pools, pools.object(name).pool(name))
	}
	for _, name := range slices.Sorted(maps.Keys(users.values)) {
		if limit := users.object(name).optional("maxRunningJobs"); limit != nil {
			s.Users = append(s.Users, model.UserLimit{Name: name, MaxRunningJobs: *limit})
		}
	}
	s.Conf = s.Conf.Over(t.properties("allocations"))
	for _, name := range slices.Sorted(maps.Keys(queues.values)) {
		s.Queues = append(s.Queues, model.Queue{Name: name, Conf: queues.properties(name)})
	}
	return s
}

func (t caseTable) pool(name string) model.Pool {
	p := model.Pool{
		Name: name, Weight: t.number("weight", 1, 0, math.Inf(1)), Mode: t.str("schedulingMode", ""),
		MinMaps: t.integer("minMaps", 0, 0, unlimited), MinReduces: t.integer("minReduces", 0, 0, unlimited),
		MaxMaps: t.optional("maxMaps"), MaxReduces: t.optional("maxReduces"), MaxRunningJobs: t.optional("maxRunningJobs"),
	}
	if seconds := t.optional("minSharePreemptionTimeout"); seconds != nil {
		d := time.Duration(*seconds) * time.Second
		p.MinShareTimeout = &d
	}
	return p
}

// ofJobTracker reads a job of a JobTracker.
func (t caseTable) ofJobTracker(c *model.Cluster, inPools bool) workload.Job {
	j := t.job()
	j.User = cmp.Or(j.User, "root")
	if j.Pool = t.str("pool", ""); j.Pool == "" && inPools {
		j.Pool = "default"
	}
	j.Priority, _ = workload.ParsePriority(t.oneOf("priority", "NORMAL", "VERY_HIGH", "HIGH", "NORMAL", "LOW", "VERY_LOW"))
	j.Conf = c.Conf.Over(t.properties("properties"))
	ofMaps, ofReduces := t.speculative()
	j.Conf = with(j.Conf, "mapred.map.tasks.speculative.execution", strconv.FormatBool(ofMaps))
	j.Conf = with(j.Conf, "mapred.reduce.tasks.speculative.execution", strconv.FormatBool(ofReduces))
	if t.has("slowstart") {
		j.Conf = with(j.Conf, "mapred.reduce.slowstart.completed.maps", textOf(t.number("slowstart", 0, 0, 1)))
	}
	t.readTasks(&j)
	return j
}

// speculative reads true, false, "map", "reduce" or "both": of which tasks speculative
// attempts start.
func (t caseTable) speculative() (ofMaps, ofReduces bool) {
	switch v, _ := t.ask("speculative"); v {
	case true, "both":
		return true, true
	case false, nil:
	case "map":
		return true, false
	case "reduce":
		return false, true
	default:
		t.want("speculative", v, `true, false, "map", "reduce" or "both"`)
	}
	return false, false
}

// job reads what jobs of both masters have.
func (t caseTable) job() workload.Job {
	name := t.str("name", "")
	return workload.Job{ID: name, Name: name, User: t.str("user", ""), Queue: t.str("queue", ""), Submit: t.milliseconds("submit_ms")}
}
