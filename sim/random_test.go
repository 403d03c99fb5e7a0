package sim_test

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/workload"
)

// check tries a property on random clusters: always the same ones, so that a
// failure is never chance.
func check(t *testing.T, few, many int, property func(*rapid.T)) {
	t.Helper()
	if layers.Whole {
		few = many
	}
	for name, value := range map[string]string{
		"rapid.checks": strconv.Itoa(few), "rapid.seed": "1", "rapid.nofailfile": "true", "rapid.shrinktime": "10s",
	} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, property)
}

// world is a random question and what its making knows of it.
type world struct {
	model.WhatIf
	instant  bool // nothing waits for heartbeats
	nodesDie bool // nodes die
	failing  bool // attempts fail
	kills    bool // attempts may be killed although their jobs go on
	limited  bool // pools or users may leave slots idle
	wide     bool // tasks may take two slots
}

// source draws from rapid with fewer words.
type source struct{ *rapid.T }

func (s source) n(name string, low, high int) int { return rapid.IntRange(low, high).Draw(s.T, name) }

// rarely is true once in n times.
func (s source) rarely(name string, n int) bool { return s.n(name, 1, n) == n }

func (s source) bool(name string) bool { return s.n(name, 0, 1) == 1 }

func (s source) oneOf(name string, choices ...string) string {
	return rapid.SampledFrom(choices).Draw(s.T, name)
}

// time is mostly a round number, so that things fall on one instant, and at
// times not.
func (s source) time(name string, least, most time.Duration) time.Duration {
	grain := []time.Duration{time.Second, 100 * time.Millisecond, time.Millisecond}[s.n(name+" grain", 0, 2)]
	return max(least, grain*time.Duration(s.n(name, int(least/grain), int(most/grain))))
}

// durations are all alike, listed, or drawn anew for each attempt.
func (s source) durations(name string, n int, most time.Duration) workload.Durations {
	const least = time.Millisecond
	d := all(s.time(name, least, most))
	switch s.n(name+" kind", 0, 2) {
	case 1:
		d = workload.Durations{Each: make([]time.Duration, n)}
		for i := range d.Each {
			d.Each[i] = s.time(name, least, most)
		}
	case 2:
		factor, err := workload.NewDist("uniform", workload.DistParams{Min: 0.5, Max: 1.5})
		if err != nil {
			s.Fatal(err)
		}
		d.Dist = factor
	}
	return d
}

// drawWorld draws a cluster, a policy and a few jobs that can be done on it: at
// least one node lives, and no limit keeps a job from ever running.
func drawWorld(t *rapid.T) *world {
	s := source{T: t}
	w := &world{}
	w.Seed = uint64(s.n("seed", 0, 1000))
	c := &w.Cluster
	c.Hadoop = s.oneOf("hadoop", "0.20.2", "0.21.0", "1.0.4", "1.2.1", "ideal")
	if c.Hadoop != "ideal" || s.rarely("heartbeats in ideal", 3) {
		if c.Hadoop == "ideal" || s.bool("own heartbeat") {
			c.Heartbeat = s.time("heartbeat", 100*time.Millisecond, 5*time.Second)
		}
	}
	w.Scheduler.Name = s.oneOf("policy", scheduler.Names()...)
	if c.Hadoop == "ideal" && w.Scheduler.Name == "capacity" {
		c.Heartbeat = 0
	}
	w.instant = c.Hadoop == "ideal" && c.Heartbeat == 0
	w.drawCluster(s)
	w.drawPolicy(s)
	for i := range s.n("jobs", 1, 5) {
		w.Jobs = append(w.Jobs, w.drawJob(s, i))
	}
	slices.SortStableFunc(w.Jobs, func(a, b workload.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	return w
}

func (w *world) drawCluster(s source) {
	c := &w.Cluster
	c.Racks = []string{"a", "b", "c"}[:s.n("racks", 1, 3)]
	c.Nodes = alike(s.n("nodes", 1, 6), 0, 0)
	c.Replication = s.n("replication", 0, 3)
	c.FromStart = s.rarely("from start", 4)
	c.Grain = []time.Duration{0, time.Millisecond}[s.n("grain", 0, 1)]
	w.nodesDie = !w.instant && s.rarely("nodes die", 4)
	w.failing = s.rarely("failing", 3)
	w.wide = w.Scheduler.Name == "capacity" && (c.Hadoop == "1.0.4" || c.Hadoop == "1.2.1") && !w.failing && s.bool("memory")
	// A map that must run again may find every shared slot with a reduce that
	// waits for it.
	c.SharedSlots = !w.nodesDie && !w.failing && !w.wide && s.rarely("shared slots", 3)
	if w.nodesDie {
		c.Conf.Set("mapred.tasktracker.expiry.interval", strconv.Itoa(1000*s.n("expiry", 10, 60)))
	}
	if s.bool("out of band") {
		c.Conf.Set("mapreduce.tasktracker.outofband.heartbeat", "true")
		if s.bool("damped") {
			c.Conf.Set("mapreduce.tasktracker.outofband.heartbeat.damper", strconv.Itoa(s.n("damper", 1, 5)))
		}
	}
	if w.wide {
		for _, k := range []string{"map", "reduce"} {
			c.Conf.Set("mapred.cluster."+k+".memory.mb", "1000")
			c.Conf.Set("mapred.cluster.max."+k+".memory.mb", "2000")
		}
	}
	if s.bool("strict blacklist") {
		c.Conf.Set("mapred.max.tracker.blacklists", "1")
	}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		n.Rack = s.n("rack", 0, len(c.Racks)-1)
		// The first node gives each of two queues a slot. A task that has failed
		// everywhere else waits for a node without slots, as in Hadoop.
		least := 2
		switch {
		case w.wide || i == 0:
		case w.failing:
			least = 1
		default:
			least = 0
		}
		n.MapSlots, n.ReduceSlots = s.n("map slots", least, 4), s.n("reduce slots", least, 3)
		if s.rarely("slow", 4) {
			n.Slowness = 2.5
		}
		if w.nodesDie && i > 0 && s.bool("dies") {
			n.Dies = s.time("death", time.Millisecond, 3*time.Minute)
		}
		if w.failing && i > 0 && s.rarely("bad node", 4) {
			n.FailAfter = s.time("fail after", 100*time.Millisecond, 5*time.Second)
		}
	}
	if !w.instant && s.bool("phases") {
		latest := 99 * time.Millisecond // within every heartbeat interval
		if c.FromStart {
			latest = 3 * time.Second
		}
		c.Phases = make([]time.Duration, len(c.Nodes))
		for i := range c.Phases {
			c.Phases[i] = s.time("phase", 0, latest)
		}
	}
	if c.Hadoop != "ideal" {
		c.Costs = model.Costs{
			Launch: s.time("launch", 0, 2*time.Second), Setup: s.time("set-up", 0, 2*time.Second),
			Cleanup: s.time("clean-up", 0, 2*time.Second), TaskCleanup: s.time("task clean-up", 0, time.Second),
			Commit: s.time("commit", 0, time.Second),
		}
	}
}

func (w *world) drawPolicy(s source) {
	p := &w.Scheduler
	switch p.Name {
	case "fair1":
		p.Conf.Set("mapred.fairscheduler.assignmultiple", strconv.FormatBool(s.bool("multiple")))
		p.Conf.Set("mapred.fairscheduler.sizebasedweight", strconv.FormatBool(s.bool("by size")))
		if s.rarely("booster", 4) {
			p.Conf.Set("mapred.fairscheduler.weightadjuster", "org.apache.hadoop.mapred.NewJobWeightBooster")
			p.Conf.Set("mapred.newjobweightbooster.duration", "30000")
		}
		w.drawPools(s)
	case "fair2":
		p.Conf.Set("mapred.fairscheduler.assignmultiple", strconv.FormatBool(!s.rarely("one", 4)))
		if s.rarely("by size", 4) {
			p.Conf.Set("mapred.fairscheduler.sizebasedweight", "true")
		}
		if s.bool("delay") {
			p.Conf.Set("mapred.fairscheduler.locality.delay", strconv.Itoa(s.n("locality delay", 0, 20_000)))
		}
		if s.bool("preemption") {
			w.kills = true
			p.Conf.Set("mapred.fairscheduler.preemption", "true")
			p.Conf.Set("mapred.fairscheduler.preemption.interval", strconv.Itoa(s.n("preemption interval", 500, 15_000)))
			p.Conf.Set("fairSharePreemptionTimeout", strconv.Itoa(s.n("fair timeout", 5, 30)))
			p.Conf.Set("defaultMinSharePreemptionTimeout", strconv.Itoa(s.n("min timeout", 5, 30)))
		}
		w.drawPools(s)
	case "capacity":
		for i := range s.n("queues", 1, 2) {
			q := model.Queue{Name: fmt.Sprintf("q%d", i)}
			q.Conf.Set("supports-priority", strconv.FormatBool(s.bool("priority")))
			if !w.wide { // a user's share may be too small for a wide task
				q.Conf.Set("minimum-user-limit-percent", strconv.Itoa(s.n("user limit", 20, 100)))
			}
			p.Queues = append(p.Queues, q)
		}
	}
}

func (w *world) drawPools(s source) {
	for i := range s.n("pools", 0, 2) {
		pool := model.Pool{Name: fmt.Sprintf("p%d", i), Weight: float64(s.n("weight", 1, 3))}
		pool.MinMaps, pool.MinReduces = s.n("min maps", 0, 4), s.n("min reduces", 0, 4)
		limit := func(name string) *int {
			if !s.rarely(name, 4) {
				return nil
			}
			w.limited = true
			n := s.n(name, 1, 3)
			return &n
		}
		pool.MaxMaps, pool.MaxReduces, pool.MaxRunningJobs = limit("max maps"), limit("max reduces"), limit("max jobs")
		if s.rarely("first in first out", 3) {
			pool.Mode = "fifo"
		}
		w.Scheduler.Pools = append(w.Scheduler.Pools, pool)
	}
	if s.rarely("user limits", 4) {
		w.limited = true
		w.Scheduler.Users = []model.UserLimit{{Name: "ann", MaxRunningJobs: 1}}
	}
}

func (w *world) drawJob(s source, i int) workload.Job {
	j := workload.Job{ID: fmt.Sprintf("j%d", i), User: s.oneOf("user", "ann", "bob")}
	j.Submit = s.time("submit", 0, 100*time.Second)
	j.Priority = workload.Priority(s.n("priority", int(workload.VeryHigh), int(workload.VeryLow)))
	if s.bool("in pool") {
		j.Pool = fmt.Sprintf("p%d", s.n("pool", 0, 2))
	}
	if queues := len(w.Scheduler.Queues); queues > 0 {
		j.Queue = fmt.Sprintf("q%d", s.n("queue", 0, queues-1))
	}
	if s.bool("deadline") {
		j.Deadline = j.Submit + s.time("deadline", 0, 200*time.Second)
	}
	j.Conf.Set("mapred.reduce.slowstart.completed.maps", s.oneOf("slowstart", w.slowstarts()...))
	speculates := s.rarely("speculation", 3) && !w.instant
	for _, k := range []string{"map", "reduce"} {
		j.Conf.Set("mapred."+k+".tasks.speculative.execution", strconv.FormatBool(speculates))
		if w.wide {
			j.Conf.Set("mapred.job."+k+".memory.mb", s.oneOf("memory", "1000", "2000"))
		}
		if w.failing {
			j.Conf.Set("mapred."+k+".max.attempts", strconv.Itoa(s.n("attempts", 1, 4)))
			if !speculates {
				// A second attempt may succeed after the task was given up, and the
				// task then counts twice: the job never ends.
				j.Conf.Set("mapred.max."+k+".failures.percent", s.oneOf("failures", "0", "50"))
			}
		}
	}
	w.kills = w.kills || speculates
	longest := 20 * time.Second
	if speculates {
		longest = 200 * time.Second // a job is 60 s old before it speculates
	}
	maps := s.n("maps", 0, 10)
	if w.Scheduler.Name == "fair1" {
		maps = max(maps, 1) // without maps it never gets reduces
	}
	j.Maps = workload.MapTasks{
		Count: maps, Time: s.durations("map", maps, longest), RackFactor: float64(s.n("rack factor", 1, 2)), OffFactor: 3,
	}
	if s.bool("splits") {
		j.Maps.Splits = make([]workload.Split, maps)
		for i := range j.Maps.Splits {
			for range s.n("hosts", 0, 2) {
				// In a cluster of one rack the last host runs no tracker.
				host := fmt.Sprintf("n%d", s.n("host", 0, len(w.Cluster.Nodes)-min(1, len(w.Cluster.Racks)-1)))
				if !slices.Contains(j.Maps.Splits[i].Hosts, host) {
					j.Maps.Splits[i].Hosts = append(j.Maps.Splits[i].Hosts, host)
				}
			}
		}
	}
	reduces := s.n("reduces", 0, 6)
	j.Reduces = workload.ReduceTasks{
		Count: reduces, Shuffle: s.durations("shuffle", reduces, 10*time.Second),
		Sort: s.durations("sort", reduces, time.Second), Time: s.durations("reduce", reduces, longest),
	}
	switch s.n("shuffle kind", 0, 2) {
	case 1:
		j.Reduces.FirstWave = s.durations("first shuffle", reduces, 5*time.Second)
	case 2:
		j.Reduces.Copy = s.durations("copy", reduces, 40*time.Second)
	}
	j.NoSetupCleanup = w.Cluster.Hadoop != "ideal" && s.rarely("no set-up and clean-up", 4)
	if w.failing {
		j.Maps.Ends, j.Reduces.Ends = w.drawFailures(s, maps), w.drawFailures(s, reduces)
	}
	return j
}

// slowstarts are those that let every job end. Where half of the maps may fail for
// good, and releases before 1.2 do not count those, not all of them come; where
// slots are shared, reduces may take them all and wait for maps.
func (w *world) slowstarts() []string {
	switch {
	case w.failing:
		return []string{"0", "0.05", "0.3"}
	case w.Cluster.SharedSlots:
		return []string{"1"}
	}
	return []string{"0", "0.05", "0.3", "1"}
}

func (w *world) drawFailures(s source, tasks int) map[int][]workload.AttemptEnd {
	fails := map[int][]workload.AttemptEnd{}
	for i := range tasks {
		for range s.n("failures of task", 0, 3) * s.n("unlucky", 0, 1) {
			var end workload.AttemptEnd
			if !s.rarely("succeeds", 3) {
				end = workload.AttemptEnd{State: workload.Failed, After: s.time("fails after", 0, 20*time.Second)}
				if s.rarely("killed", 4) {
					end.State = workload.Killed
				}
			}
			fails[i] = append(fails[i], end)
		}
	}
	return fails
}
