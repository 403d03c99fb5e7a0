package scenarios

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/workload"
)

// elements are the settings of an allocation file outside pools and users,
// under the names of [scheduler].
var elements = []struct {
	key, element string
	isTime       bool
}{
	{"user_max_running_jobs", "userMaxJobsDefault", false},
	{"pool_max_running_jobs", "poolMaxJobsDefault", false},
	{"fair_share_timeout", "fairSharePreemptionTimeout", true},
	{"min_share_timeout", "defaultMinSharePreemptionTimeout", true},
}

// schedulerTable reads [scheduler], its pools and its queues.
type schedulerTable struct{ *table }

// readScheduler reads [scheduler].
func (t schedulerTable) readScheduler(c *model.Cluster) model.Scheduler {
	s := model.Scheduler{Conf: c.Conf}
	for _, key := range []string{"name", "file", "sites", "groups"} {
		if name, _ := t.values["name"].(string); key == "name" && !strings.HasPrefix(name, "yarn-") || !t.has(key) {
			continue
		}
		t.onlyOnYARN(key)
		t.ask(key)
		t.failf(key, "%s: is of a cluster on YARN: want cluster.hadoop = %q, and memory and vcores of its nodes in place of slots", describe(t.values[key]), usualYARN)
		return s
	}
	class, _ := t.values["name"].(string)
	if of := ofClassOnSlots(class, c.Hadoop); of != "" {
		t.ask("name")
		t.failf("name", "%q: a class of Hadoop: want %q", class, of)
	} else {
		s.Name = t.oneOf("name", t.policyOf(c), scheduler.Names()...)
	}
	for _, e := range elements {
		switch {
		case !t.given(e.key):
		case e.isTime:
			s.Conf = with(s.Conf, e.element, textOf(t.duration(e.key, 0).Seconds()))
		default:
			s.Conf = with(s.Conf, e.element, textOf(t.integer(e.key, 0, 0, unlimited)))
		}
	}
	if mode := t.oneOf("mode", "fair", "fair", "fifo"); mode != "fair" {
		s.Conf = with(s.Conf, "defaultPoolSchedulingMode", mode)
	}
	for _, in := range t.named("pool") {
		s.Pools = append(s.Pools, schedulerTable{in}.readPool())
	}
	for _, in := range t.named("user") {
		s.Users = append(s.Users, model.UserLimit{
			Name: schedulerTable{in}.name("name"), MaxRunningJobs: in.integer("max_running_jobs", unlimited, 0, unlimited),
		})
		in.done()
	}
	for _, in := range t.named("queue") {
		s.Queues = append(s.Queues, schedulerTable{in}.readQueue())
	}
	s.Conf = s.Conf.Over(t.hadoopKeys())
	t.done()
	if of := fairOf(c.Hadoop); of != "" && of != s.Name && (s.Name == "fair1" || s.Name == "fair2") {
		t.assume("%s on Hadoop %s, whose FairScheduler is %s: no release had this pair", s.Name, c.Hadoop, of)
	}
	t.valid(&s, c.Hadoop)
	return s
}

// valid checks the settings with the scheduler itself.
func (t schedulerTable) valid(s *model.Scheduler, release string) {
	r, err := model.FindRelease(release)
	if err != nil || len(t.problems) > 0 {
		return
	}
	if _, err := scheduler.New(*s, r); err != nil {
		t.fail(t.line("name"), "%s: %v", t.path, err)
	}
}

// recordedQueues makes the queues that recorded jobs name, where nothing states queues.
func (t *table) recordedQueues(q *model.WhatIf) {
	const keys = "mapred.capacity-scheduler.queue."
	if len(q.Scheduler.Queues) > 0 || slices.ContainsFunc(q.Scheduler.Conf.Keys(), func(k string) bool { return strings.HasPrefix(k, keys) }) {
		return
	}
	var names []string
	for i := range q.Jobs {
		if name := cmp.Or(q.Jobs[i].Queue, "default"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		queue := model.Queue{Name: name}
		queue.Conf.Set("capacity", textOf(100/float64(len(names))))
		q.Scheduler.Queues = append(q.Scheduler.Queues, queue)
	}
	t.assume("the queues of the capacity scheduler (%s) have equal capacities: no record states them", strings.Join(names, ", "))
}

// knownQueues refuses a job of a queue that the capacity scheduler does not have, as
// Hadoop does when the job is submitted.
func (t *table) knownQueues(q *model.WhatIf) {
	for _, s := range q.Schedulers() {
		if !strings.HasPrefix(s.Name, "capacity") || len(t.problems) > 0 {
			continue
		}
		known := scheduler.QueueNames(s)
		for i := range q.Jobs {
			j := &q.Jobs[i]
			if name := cmp.Or(j.Queue, "default"); !slices.Contains(known, name) {
				line := t.line("workload.trace")
				for _, in := range t.tables("job") {
					if queue, _ := in.values["queue"].(string); queue == j.Queue {
						line = in.line("queue")
						break
					}
				}
				t.fail(line, "job %s: queue %q: want one of %s%s", j.ID, name, strings.Join(known, ", "), input.DidYouMean(name, known))
				return
			}
		}
	}
}

// servesAll reports jobs that the scheduler would never serve.
func servesAll(t *table, q *model.WhatIf) {
	if _, err := model.FindRelease(q.Cluster.Hadoop); err != nil || len(t.problems) > 0 {
		return
	}
	if err := servable(q); err != nil {
		t.fail(t.line("name"), "%s: %v", t.path, err)
	}
}

// servable returns why the scheduler cannot serve all jobs, or nil.
func servable(q *model.WhatIf) error {
	r, err := model.FindRelease(q.Cluster.Hadoop)
	if err != nil {
		return err
	}
	slots := q.Cluster.Slots()
	if q.Cluster.SharedSlots {
		all := slots[workload.Map] + slots[workload.Reduce]
		slots = [2]int{all, all}
	}
	for _, x := range q.Schedulers() {
		if err := scheduler.Check(x, r, slots, q.Jobs); err != nil {
			return err
		}
	}
	return nil
}

// policyOf returns the scheduler whose class the configuration names.
func (t schedulerTable) policyOf(c *model.Cluster) string {
	class := c.Conf.Text("mapred.jobtracker.taskScheduler")
	if t.has("name") || class == "" {
		return "fifo"
	}
	name := ofClassOnSlots(class, c.Hadoop)
	if name == "" {
		t.warn("%s: mapred.jobtracker.taskScheduler: %s is not simulated: the scheduler is fifo: want scheduler.name for another", t.file, class)
	}
	return cmp.Or(name, "fifo")
}

// ofClassOnSlots returns the scheduler of a class of a release with slots; empty: none is.
func ofClassOnSlots(class, release string) string {
	switch class[strings.LastIndexByte(class, '.')+1:] {
	case "JobQueueTaskScheduler":
		return "fifo"
	case "FairScheduler":
		return cmp.Or(fairOf(release), "fair2")
	case "CapacityTaskScheduler":
		return "capacity"
	}
	return ""
}

// fairOf names the FairScheduler of a release; empty for ideal, which has any.
func fairOf(release string) string {
	switch release {
	case "ideal":
		return ""
	case "0.20.2":
		return "fair1"
	}
	return "fair2"
}

func with(c workload.Conf, key, value string) workload.Conf {
	var top workload.Conf
	top.Set(key, value)
	return c.Over(top)
}

// name reads a required name.
func (t schedulerTable) name(key string) string {
	s := t.str(key, "")
	if s == "" {
		t.failf(key, "want a name")
	}
	return s
}

func (t schedulerTable) readPool() model.Pool {
	p := model.Pool{
		Name:           t.name("name"),
		Weight:         t.number("weight", 1, 0, math.Inf(1)),
		MinMaps:        t.integer("min_maps", 0, 0, unlimited),
		MinReduces:     t.integer("min_reduces", 0, 0, unlimited),
		MaxMaps:        t.optional("max_maps"),
		MaxReduces:     t.optional("max_reduces"),
		MaxRunningJobs: t.optional("max_running_jobs"),
	}
	if t.given("mode") {
		p.Mode = t.oneOf("mode", "fair", "fair", "fifo")
	}
	if t.given("min_share_timeout") {
		d := t.duration("min_share_timeout", 0)
		p.MinShareTimeout = &d
	}

	t.done()
	return p
}

// queueKeys are the settings of a queue, under Hadoop's names with _ for -.
var queueKeys = []string{
	"capacity", "maximum_capacity", "minimum_user_limit_percent", "user_limit_factor", "supports_priority",
	"maximum_initialized_jobs_per_user", "maximum_initialized_active_tasks",
	"maximum_initialized_active_tasks_per_user", "init_accept_jobs_factor",
}

func (t schedulerTable) readQueue() model.Queue {
	q := model.Queue{Name: t.name("name")}
	for _, key := range queueKeys {
		v, ok := t.ask(key)
		switch {
		case !ok:
		case key == "supports_priority":
			q.Conf.Set("supports-priority", textOf(t.boolean(key, false)))
		default:
			most := math.Inf(1)
			if strings.HasSuffix(key, "capacity") {
				most = 100
			}
			t.number(key, 0, 0, most)
			q.Conf.Set(strings.ReplaceAll(key, "_", "-"), textOf(v))
		}
	}
	t.done()
	return q
}

// isAny reports whether one of the schedulers of a run has a name that begins with
// a word.
func isAny(q *model.WhatIf, word string) bool {
	return slices.ContainsFunc(q.Schedulers(), func(s model.Scheduler) bool { return strings.HasPrefix(s.Name, word) })
}
