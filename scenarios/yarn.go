package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
	policy "github.com/slotwave/slotwave/scheduler/yarn"
	"github.com/slotwave/slotwave/workload"
)

// YARNSchedulers are the schedulers of YARN: what each is, by its name in scenarios.
var YARNSchedulers = map[string]string{
	"yarn-capacity": "CapacityScheduler of YARN: a tree of queues with guarantees and maxima, user limits",
	"yarn-fair":     "FairScheduler of YARN: a tree of queues with weights, minimum and maximum shares",
	"yarn-fifo":     "FifoScheduler of YARN: applications in the order of submission",
}

// releaseOnYARN returns what the release of a scenario does on YARN; nil: it has a
// JobTracker.
func (t *table) releaseOnYARN() *model.YARNRelease {
	cluster, _ := t.values["cluster"].(map[string]any)
	name, _ := cluster["hadoop"].(string)
	if r, err := model.FindRelease(name); err == nil {
		return r.YARN
	}
	return nil
}

// yarnTable reads [scheduler] of a cluster on YARN.
type yarnTable struct {
	*table
	file   *File
	to     *Scenario
	files  hadoopFiles // what the files of the cluster set
	queues hadoopFiles // places of the settings in fair-scheduler.xml
	y      model.YARN
	name   string
	placement
}

// onYARN reads the files that [scheduler] names and those beside them. It returns the
// properties of the scenario over theirs.
func (f *File) onYARN(t *table, to *Scenario, conf workload.Conf) (*yarnTable, workload.Conf) {
	x := &yarnTable{table: t, file: f, to: to, files: hadoopFiles{}, queues: hadoopFiles{}}
	x.y.Allocations = &model.Allocations{}
	name := t.str("file", "")
	sites := t.texts("sites")
	if name != "" && !t.has("sites") {
		for _, site := range siteFiles {
			if file := beside(name, site); f.has(file) {
				sites = append(sites, file)
			}
		}
	}
	for _, site := range sites {
		if x.readFile("sites", site, true); f.has(site) {
			x.assume("properties of %s", site)
		}
	}
	if name != "" {
		x.readFile("file", name, false)
	}
	x.expand(x.files)
	var site workload.Conf
	for _, key := range slices.Sorted(maps.Keys(x.files)) {
		if p, known := workload.FindProperty(key); known && !strings.HasPrefix(key, "yarn.scheduler.capacity.") {
			site.Set(key, x.files[key].value)
			if err := p.Check(x.files[key].value); err != nil {
				x.failIn(x.files[key].file, x.files[key].line, "%v", err)
			}
		}
	}
	return x, site.Over(conf)
}

// has reports whether a file that the scenario names is there.
func (f *File) has(name string) bool {
	_, _, err := f.described(&Scenario{}, "", name, nil)
	return err == nil
}

// readFile reads a configuration or an allocation file.
func (x *yarnTable) readFile(key, name string, site bool) {
	data, file, err := x.file.described(x.to, "", name, nil)
	if err != nil {
		x.failf(key, "%v", err)
		return
	}
	r := x.readXML(data, file)
	fair := isAllocations(data)
	if kind, named := strings.CutSuffix(filepath.Base(name), "-scheduler.xml"); named && (kind == "capacity" && fair || kind == "fair" && !fair && strings.Contains(string(data), capacityKey)) {
		x.warn("%s: holds the queues of the %s scheduler, whatever its name says: want its content or its name changed", file, map[bool]string{true: "fair", false: "capacity"}[fair])
	}
	if site || !fair {
		r.configuration(x.files)
		return
	}
	x.name = "yarn-fair"
	x.y.Allocations, x.rules = r.allocations(x.queues)
	x.rulesOf = file
}

// isQueues recognises the file of a scheduler of YARN.
func isQueues(name string) bool {
	data, err := os.ReadFile(name)
	return err == nil && (isAllocations(data) || strings.Contains(string(data), "<configuration") && strings.Contains(string(data), capacityKey))
}

// usualYARN is the release of a cluster on YARN that names none.
const usualYARN = "3.3.6"

// isAllocations recognises fair-scheduler.xml by its root element.
func isAllocations(data []byte) bool { return strings.Contains(string(data), "<allocations") }

// scheduler reads the rest of [scheduler], over what the files say.
func (x *yarnTable) scheduler(c *model.Cluster) (model.Scheduler, *model.YARN) {
	names := slices.Sorted(maps.Keys(YARNSchedulers))
	class := c.Conf.Text(classKey)
	usual := cmp.Or(x.name, ofClass(x.files[classKey].value))
	if usual == "" && !x.has("file") { // whose queues may be of another class than recorded jobs name
		usual = ofClass(class)
	}
	usual = cmp.Or(usual, "yarn-capacity")
	if of := ofClass(class); of != "" && of != usual {
		x.warn("%s%s: %s has no effect: scheduler.file holds the queues of %s", x.files[classKey].at(), classKey, class, usual)
	}
	name := x.oneOf("name", usual, names...)
	if x.name != "" && name != x.name {
		x.failf("name", "%q: want %q: %s holds its allocations", name, x.name, x.rulesOf)
	}
	x.y.Policy = strings.TrimPrefix(name, "yarn-")
	x.y.Properties = x.files.values()
	for _, key := range c.Conf.Keys() {
		if strings.HasPrefix(key, "yarn.") {
			x.y.Properties[key], _ = c.Conf.Lookup(key)
		}
	}
	if c.Heartbeat > 0 {
		x.y.Properties["yarn.resourcemanager.nodemanagers.heartbeat-interval-ms"] = fmt.Sprint(c.Heartbeat.Milliseconds())
	}
	for _, queue := range x.named("queue") {
		if x.line("file") < 0 && !queue.onCommandLine() {
			x.warnAt(x.line("queue"), "scheduler.queue has no effect: the queues are those of %s", strings.TrimSuffix(place("", x.set, x.line("file")), ": "))
			continue
		}
		x.readQueue(queue)
	}
	if release, err := model.FindRelease(c.Hadoop); err == nil && !release.YARN.Recorded {
		x.assume("YARN of Hadoop %s as its source reads: only that of %s is recorded", c.Hadoop, usualYARN)
		if key := capacityKey + "node-locality-delay"; !x.has("file") && x.y.Policy == "capacity" && x.y.Properties[key] == "" {
			x.y.Properties[key] = "40" // as in the capacity-scheduler.xml that Hadoop ships
		}
	}
	own := x.hadoopKeys()
	for _, key := range own.Keys() {
		x.y.Properties[key], _ = own.Lookup(key)
	}
	x.groups = x.readGroups()
	x.done()
	return model.Scheduler{Name: name, Conf: c.Conf.Over(own)}, &x.y
}

const classKey = "yarn.resourcemanager.scheduler.class"

// ofClass returns the scheduler of a class; empty: the usual one, or no class.
func ofClass(class string) string {
	switch class[strings.LastIndexByte(class, '.')+1:] {
	case "FairScheduler":
		return "yarn-fair"
	case "FifoScheduler":
		return "yarn-fifo"
	}
	return ""
}

const capacityKey = "yarn.scheduler.capacity."

// queuesOf gives a cluster whose queues nobody states those that its jobs name, with
// equal capacities: the one queue of the capacity-scheduler.xml that Hadoop ships, if
// they name none.
func (x *yarnTable) queuesOf(jobs []workload.Job) {
	if _, stated := x.y.Properties[capacityKey+"root.queues"]; stated || x.y.Policy != "capacity" {
		return
	}
	if len(x.problems) > 0 {
		return
	}
	if x.has("file") {
		key := capacityKey + "root.queues"
		one := strings.TrimSuffix(key, "s")
		if p, ok := x.files[one]; ok {
			x.failIn(p.file, p.line, "%s: want %s: the queues below root", one, key)
			return
		}
		x.failf("file", "%s: missing: want the queues below root", key)
		return
	}
	var names []string
	for i := range jobs {
		if name := strings.TrimPrefix(jobs[i].Queue, "root."); !slices.Contains(names, name) && !strings.Contains(name, ".") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	x.y.Properties[capacityKey+"root.queues"] = strings.Join(names, ",")
	for _, name := range names {
		x.y.Properties[capacityKey+"root."+name+".capacity"] = fmt.Sprint(100 / float64(len(names)))
	}
	x.assume("the queues are %s, of equal capacity", strings.Join(names, ", "))
}

// readQueue reads a queue: its path, and settings under Hadoop's names.
func (x *yarnTable) readQueue(t *table) {
	path := t.str("name", "")
	if path == "" {
		t.failf("name", "want the path of a queue, such as root.etl")
		return
	}
	path = "root." + strings.TrimPrefix(path, "root.")
	parts := strings.Split(path, ".")
	if x.y.Policy == "capacity" {
		for i := 1; i < len(parts); i++ {
			key := capacityKey + strings.Join(parts[:i], ".") + ".queues"
			if list := x.y.Properties[key]; !slices.Contains(strings.Split(list, ","), parts[i]) {
				x.y.Properties[key] = strings.TrimPrefix(list+","+parts[i], ",")
			}
		}
	}
	list := &x.y.Allocations.Queues
	for _, part := range parts[1:] {
		i := slices.IndexFunc(*list, func(q model.AllocationQueue) bool { return q.Name == part })
		if i < 0 {
			i = len(*list)
			*list = append(*list, model.AllocationQueue{Name: part, Settings: map[string]string{}})
		}
		if part == parts[len(parts)-1] {
			x.queueKeys(t, path, &(*list)[i])
			break
		}
		list = &(*list)[i].Queues
	}
	t.done()
}

// queueKeys reads the settings of a queue, which have - in place of _ for the capacity
// scheduler.
func (x *yarnTable) queueKeys(t *table, path string, q *model.AllocationQueue) {
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if key == "name" {
			continue
		}
		v, _ := t.ask(key)
		text := textOf(v)
		place := placed{value: text, file: x.table.file, line: t.line(key)}
		switch x.y.Policy {
		case "capacity":
			full := capacityKey + path + "." + strings.ReplaceAll(key, "_", "-")
			if key == "disable_preemption" {
				full = capacityKey + path + "." + key
			}
			x.replaces(x.files, full, place)
			x.y.Properties[full] = text
		case "fair":
			if !slices.Contains(settingsOfQueues, key) {
				t.failf(key, "no setting of a queue of yarn-fair%s: want one of %s", input.DidYouMean(key, settingsOfQueues), strings.Join(settingsOfQueues, ", "))
			}
			x.replaces(x.queues, "queue "+path+": "+key, place)
			q.Settings[key] = text
		default:
			t.failf(key, "the scheduler yarn-fifo has no queues")
		}
	}
}

// replaces enters a setting of the scenario over that of a file.
func (x *yarnTable) replaces(in hadoopFiles, key string, p placed) {
	if was := in[key]; was.file != "" && was.file != p.file && was.value != p.value {
		x.warn("%s%s has no effect: %s sets it again", was.at(), key, strings.TrimSuffix(place(p.file, x.set, p.line), ": "))
	}
	in[key] = p
}

// check makes the scheduler and submits a job of each user to each queue, so that what
// the ResourceManager would refuse is refused here. It warns of settings that nothing
// reads.
func (x *yarnTable) check(q *model.WhatIf) {
	if len(x.problems) > 0 {
		return
	}
	defer func() {
		if x.run != "" && len(x.problems) > 0 {
			x.problems[0].what += " (run " + x.run + ")"
		}
	}()
	unread, sought, err := policy.Check(q)
	var job *policy.RefusedJob
	if errors.As(err, &job) {
		x.failJob(job)
		return
	}
	if err != nil {
		var refused *policy.Refused
		place, known := placed{}, false
		if errors.As(err, &refused) {
			if place, known = x.files[refused.Key]; !known {
				place, known = x.queues[refused.Key]
			}
		}
		if known {
			x.failIn(place.file, place.line, "%v", err)
			queue := strings.TrimSuffix(refused.Key, ".capacity")
			level := queue[:strings.LastIndexByte(queue, '.')+1]
			for _, key := range unread { // a queue or a key beside it may be mistyped
				if queue != refused.Key && strings.HasPrefix(key, level) && x.files[key].line > 0 {
					x.failIn(x.files[key].file, x.files[key].line, "%s has no effect: %s", key, x.whyUnread(key, sought))
				}
			}
		} else {
			x.fail(x.line("file"), "%s: %v", x.path, err)
		}
		return
	}
	for _, key := range slices.Sorted(maps.Keys(x.y.Properties)) {
		if part, err := strconv.ParseFloat(x.y.Properties[key], 64); err == nil && part > 1 && strings.HasSuffix(key, "maximum-am-resource-percent") {
			x.warn("%s%s: %v: Hadoop takes %v %%: want a part from 0 to 1, such as 0.1", x.files[key].at(), key, part, 100*part)
		}
	}
	for _, key := range unread {
		value := x.y.Properties[key]
		if inert.MatchString(key) || value == "" || value == "false" && onSwitch.MatchString(key) {
			continue
		}
		x.warn("%s%s has no effect: %s", x.files[key].at(), key, x.whyUnread(key, sought))
	}
}

// whyUnread says why nothing reads a property: no list of queues has its queue, or the
// name is unknown, with that of the same queue that it may have been meant to be.
func (x *yarnTable) whyUnread(key string, sought []string) string {
	const unknown = "Hadoop does not know it, or it is not simulated"
	path, ofQueue := strings.CutPrefix(key, capacityKey)
	if !ofQueue {
		return unknown
	}
	name := strings.LastIndexByte(key, '.') + 1
	var words []string
	elsewhere := false
	for _, k := range sought {
		elsewhere = elsewhere || strings.HasSuffix(k, key[name-1:])
		if word, same := strings.CutPrefix(k, key[:name]); same && !strings.Contains(word, ".") {
			words = append(words, word)
		}
	}
	parts := strings.Split(path, ".")
	if n := len(parts); len(words) == 0 && elsewhere && n > 2 && parts[0] == "root" {
		list := capacityKey + strings.Join(parts[:n-2], ".") + ".queues"
		return fmt.Sprintf("%s%s does not list the queue %s: want %s", x.files[list].at(), list, parts[n-2], strings.TrimPrefix(x.y.Properties[list]+","+parts[n-2], ","))
	}
	return unknown + input.DidYouMean(key[name:], words)
}

// failJob reports what the ResourceManager refuses of a job, where the job, the cluster
// or one of its files says it, or where the limit is set.
func (x *yarnTable) failJob(e *policy.RefusedJob) {
	table := x.ofJob(e.Job).path
	for _, key := range []string{table + "." + e.Key, table + ".conf." + e.Key, "conf." + e.Key} {
		if line := x.lines[key]; line != 0 {
			x.fail(line, "%s: %s", key, e.What)
			return
		}
	}
	for _, key := range []string{e.Key, e.Limit} {
		if p, ok := x.files[key]; ok {
			x.failIn(p.file, p.line, "%v", e)
			return
		}
	}
	line := x.lines[table]
	for _, limit := range []string{e.Limit, "conf." + e.Limit} {
		line = cmp.Or(x.lines[limit], line)
	}
	x.fail(line, "%v", e)
}

// failKey reports a problem of a property, at its place in a file if one sets it.
func (x *yarnTable) failKey(key, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p, ok := x.files[key]; ok {
		x.failIn(p.file, p.line, "%s: %s", key, text)
		return
	}
	x.failf("name", "%s: %s", key, text)
}

// inert are settings of capacity-scheduler.xml that the policy does not read although
// nothing is lost: who may submit, limits of lifetime, and mappings, which the scenario
// reads.
var inert = regexp.MustCompile(`\.acl_|-lifetime$|\.fail-fast$|-mappings`)

// onSwitch are keys that turn on what is off by default.
var onSwitch = regexp.MustCompile(`[.-]enabled?$|select_based_on_reserved_containers$`)

// yarnCosts are the fixed times of a cluster on YARN. No source states them for a
// cluster at large.
var yarnCosts = model.YARNCosts{
	AMLaunch: 3 * time.Second, AMExit: 100 * time.Millisecond, Exit: 300 * time.Millisecond, Kill: 250 * time.Millisecond,
	JobCommit: 300 * time.Millisecond, TaskAbort: 50 * time.Millisecond,
}

// readCosts reads the fixed times of [cluster.costs] that only YARN has, and takes the
// others from the costs of any cluster: cleanup is the commit of a job, task_cleanup the
// abort of a task.
func (x *yarnTable) readCosts(cluster *table, common *model.Costs) {
	in := cluster.inner("costs")
	c := &x.y.Costs
	*c = yarnCosts
	for _, cost := range []struct {
		key string
		at  *time.Duration
	}{{"am_launch", &c.AMLaunch}, {"am_exit", &c.AMExit}, {"exit", &c.Exit}, {"kill", &c.Kill}} {
		if !in.has(cost.key) {
			x.assume("%s = %v", join(in.path, cost.key), *cost.at)
		}
		*cost.at = in.duration(cost.key, *cost.at)
	}
	c.JobCommit, c.TaskAbort = common.Cleanup, common.TaskCleanup
}

// placement decides in which queue of YARN a job runs: the mappings of the
// CapacityScheduler (UserGroupMappingPlacementRule) or the rules of the FairScheduler
// (QueuePlacementPolicy).
type placement struct {
	groups  map[string][]string // of each user, the primary one first
	rules   *element            // queuePlacementPolicy
	rulesOf string              // the file
}
