package trace

import (
	"cmp"
	"slices"
	"time"

	"github.com/slotwave/slotwave/workload"
)

func (c *collector) newJob(id string, line int) *jobBuilder {
	job := workload.NewHistoryJob(id)
	for _, key := range c.conf.Keys() {
		value, _ := c.conf.Lookup(key)
		job.Conf.Set(key, value)
	}
	return &jobBuilder{c: c, job: job, tasks: make(map[taskKey]int), line: line}
}

// mark records the line of an attempt's event.
func (b *jobBuilder) mark(t *workload.HistoryTask, a *workload.HistoryAttempt, line int) {
	b.update(t, a, func(m *attemptMarks) {
		if !workload.Known(m.shuffled) {
			m.line = line
		}
	})
}

// markShuffle records the ends of an attempt's shuffle and sort.
func (b *jobBuilder) markShuffle(t *workload.HistoryTask, a *workload.HistoryAttempt, line int, shuffled, sorted time.Duration) {
	b.update(t, a, func(m *attemptMarks) { m.line, m.shuffled, m.sorted = line, shuffled, sorted })
}

// markMap records the end of an attempt's map phase; the merge follows.
func (b *jobBuilder) markMap(t *workload.HistoryTask, a *workload.HistoryAttempt, line int, mapped time.Duration) {
	b.update(t, a, func(m *attemptMarks) { m.line, m.mapped = line, mapped })
}

func (b *jobBuilder) update(t *workload.HistoryTask, a *workload.HistoryAttempt, f func(*attemptMarks)) {
	if b.marks == nil {
		b.marks = make(map[attemptKey]attemptMarks)
	}
	key := attemptKey{taskKey{reduceSlot: t.ReduceSlot, number: t.Number}, a.Number}
	m, ok := b.marks[key]
	if !ok {
		m = attemptMarks{shuffled: workload.UnknownTime, sorted: workload.UnknownTime, mapped: workload.UnknownTime}
	}
	f(&m)
	b.marks[key] = m
}

// settle completes the attempts from events, in order.
func (b *jobBuilder) settle() {
	if b.marks == nil {
		return
	}
	for i := range b.job.Tasks {
		t := &b.job.Tasks[i]
		for k := range t.Attempts {
			a := &t.Attempts[k]
			m, ok := b.marks[attemptKey{taskKey{reduceSlot: t.ReduceSlot, number: t.Number}, a.Number}]
			if !ok {
				m = attemptMarks{line: b.line, shuffled: workload.UnknownTime, mapped: workload.UnknownTime}
			}
			name := attemptNameIn(a, t.ReduceSlot)
			switch {
			case a.State == workload.Running || !workload.Known(a.Finish):
				b.c.problem(m.line, "%s has no end", name)
			case !workload.Known(a.Start) && a.State != workload.Killed: // such attempts may end before they start
				b.c.problem(m.line, "%s has no start", name)
			}
			b.checkTimes(name, m.line, a.Start, &a.Finish)
			b.phases(a, m.line, m.shuffled, m.sorted)
			if workload.Known(m.mapped) && workload.Known(a.Start) && workload.Known(a.Finish) {
				if m.mapped < a.Start || a.Finish < m.mapped {
					b.c.problem(m.line, "%s: start, end of map phase and finish are out of order: the phases are dropped", name)
				} else {
					a.Phases[workload.PhaseMap], a.Phases[workload.PhaseMerge] = m.mapped-a.Start, a.Finish-m.mapped
				}
			}
			if a.Node == "" {
				a.Rack, a.Node = b.c.place(m.line, "", trackerHost(a.Tracker))
			}
		}
		b.checkTimes(taskName(b.job.ID, t), b.line, t.Start, &t.Finish)
	}
}

// task returns the task with an id. It adds the task if it is new. The pointer
// is valid until the next call.
func (b *jobBuilder) task(kind workload.Kind, reduceSlot bool, number int) *workload.HistoryTask {
	return b.taskOf(taskKey{reduceSlot: reduceSlot, number: number}, kind, reduceSlot, number)
}

// taskApart is like task, for a source that numbers the tasks of each kind
// separately.
func (b *jobBuilder) taskApart(kind workload.Kind, reduceSlot bool, number int) *workload.HistoryTask {
	return b.taskOf(taskKey{reduceSlot, number, kind}, kind, reduceSlot, number)
}

func (b *jobBuilder) taskOf(key taskKey, kind workload.Kind, reduceSlot bool, number int) *workload.HistoryTask {
	i, ok := b.tasks[key]
	if !ok {
		b.c.attempts++
		b.count++
		b.c.full = b.c.full || b.c.attempts > b.c.limits.Attempts
		i = len(b.job.Tasks)
		b.tasks[key] = i
		b.job.Tasks = append(b.job.Tasks, workload.NewHistoryTask(kind, reduceSlot, number))
	}
	return &b.job.Tasks[i]
}

// attempt returns the attempt with a number. It adds the attempt if it is new,
// and returns nil beyond the limit on attempts. The pointer is valid until the
// next call.
func (b *jobBuilder) attempt(t *workload.HistoryTask, number int) *workload.HistoryAttempt {
	for i := range t.Attempts {
		if t.Attempts[i].Number == number {
			return &t.Attempts[i]
		}
	}
	if b.c.attempts >= b.c.limits.Attempts || len(t.Attempts) >= maxAttemptsOfTask {
		b.c.full = true
		return nil
	}
	b.c.attempts++
	b.count++
	t.Attempts = append(t.Attempts, workload.NewHistoryAttempt(b.job.ID, b.job.Pool, t.Kind, t.Number, number))
	return &t.Attempts[len(t.Attempts)-1]
}

// phases splits a reduce attempt at the ends of its shuffle and its sort.
func (b *jobBuilder) phases(a *workload.HistoryAttempt, line int, shuffleEnd, sortEnd time.Duration) {
	if !workload.Known(shuffleEnd) || !workload.Known(a.Start) {
		return
	}
	if !workload.Known(sortEnd) {
		sortEnd = shuffleEnd
	}
	if shuffleEnd < a.Start || sortEnd < shuffleEnd || workload.Known(a.Finish) && a.Finish < sortEnd {
		b.c.problem(line, "%s: start, end of shuffle, end of sort and finish are out of order: the phases are dropped", attemptName(a))
		return
	}
	a.Phases[workload.PhaseShuffle] = shuffleEnd - a.Start
	a.Phases[workload.PhaseMerge] = sortEnd - shuffleEnd
	if workload.Known(a.Finish) {
		a.Phases[workload.PhaseReduce] = a.Finish - sortEnd
	}
}

// complete adds what was measured inside tasks.
func (b *jobBuilder) complete() {
	for i := range b.job.Tasks {
		t := &b.job.Tasks[i]
		if m, ok := b.measures[taskKey{t.ReduceSlot, t.Number, t.Kind}]; ok {
			if w := t.Winner(); w != nil {
				m.apply(t, w)
			}
		}
	}
	for t, a := range b.job.Each() {
		began, ok := b.began[attemptKey{taskKey{reduceSlot: t.ReduceSlot, number: t.Number}, a.Number}]
		if !ok || !workload.Known(began) || !workload.Known(a.Start) || !workload.Known(a.Finish) || began < a.Start || began > a.Finish {
			continue
		}
		startup := began - a.Start
		if t.ReduceSlot && workload.Known(a.Phases[workload.PhaseShuffle]) && a.Phases[workload.PhaseShuffle] >= startup {
			a.Phases[workload.PhaseStartup] = startup
			a.Phases[workload.PhaseShuffle] -= startup
		} else if !t.ReduceSlot {
			a.Phases[workload.PhaseStartup] = startup
			a.Phases[workload.PhaseMap] = a.Finish - began
		}
	}
}

// checkTimes drops a finish that lies before the start.
func (b *jobBuilder) checkTimes(what string, line int, start time.Duration, finish *time.Duration) {
	if workload.Known(start) && workload.Known(*finish) && *finish < start {
		b.c.problem(line, "%s finishes %v before it starts: the finish is dropped", what, start-*finish)
		*finish = workload.UnknownTime
	}
}

// finish orders the records of the job, checks them against the announced
// numbers, and passes the job on.
func (b *jobBuilder) finish() error {
	defer b.release()
	c, j := b.c, &b.job
	if j.ID == "" {
		c.problem(b.line, "a job without an id is dropped")
		return nil
	}
	if c.seen[j.ID] {
		c.problem(b.line, "job %s occurs twice: the second is dropped", j.ID)
		return nil
	}
	c.seen[j.ID] = true
	slices.SortFunc(j.Tasks, compareTasks)
	b.settle()
	b.complete()
	c.configureJob(j)
	for i := range j.Tasks {
		t := &j.Tasks[i]
		slices.SortFunc(t.Attempts, func(x, y workload.HistoryAttempt) int { return cmp.Compare(x.Number, y.Number) })
	}
	for t, a := range j.Each() {
		a.Kind = t.Kind
		if a.Rack == "" {
			a.Rack = c.racks[a.Node]
		}
		c.locate(t, a)
	}
	b.checkTimes("job "+j.ID, b.line, j.Submit, &j.Finish)
	if j.Outcome == workload.Succeeded && !(b.noTotals && len(j.Tasks) == 0) {
		for kind, stated := range []int{workload.Map: j.Maps, workload.Reduce: j.Reduces} {
			if found, _ := j.Count(workload.Kind(kind)); stated >= 0 && found != stated {
				c.problem(b.line, "job %s succeeded with %d %ss, but %d are recorded", j.ID, stated, workload.Kind(kind), found)
			}
		}
	}
	return c.each(j)
}

// release subtracts the tasks of a job that is not kept.
func (b *jobBuilder) release() {
	if b.c.passing {
		b.c.attempts -= b.count
	}
}

// configureJob sets the properties of a separate configuration over the job's,
// and fills in missing job fields from it.
func (c *collector) configureJob(j *workload.HistoryJob) {
	if conf, ok := c.confs[j.ID]; ok {
		j.Conf = j.Conf.Over(conf)
		delete(c.confs, j.ID)
	}
	if j.Pool == "" {
		j.Pool = c.intern(j.Conf.String("mapred.fairscheduler.pool", ""))
	}
	for _, a := range j.Each() {
		a.Pool = j.Pool
	}
	if j.Queue == "" {
		j.Queue = c.intern(j.Conf.String("mapred.job.queue.name", ""))
	}
	for _, x := range []struct {
		to  *int64
		key string
	}{
		{&j.HeapMB, "mapred.child.java.opts"}, {&j.MapMB, "mapred.map.child.java.opts"}, {&j.ReduceMB, "mapred.reduce.child.java.opts"},
	} {
		if *x.to == workload.Unknown {
			*x.to = workload.HeapMB(j.Conf.String(x.key, j.Conf.String("mapred.child.java.opts", "")))
		}
	}
}

// locate sets the distance of a map from its split, if the source does not give
// it.
func (c *collector) locate(t *workload.HistoryTask, a *workload.HistoryAttempt) {
	if a.Locality != workload.NoLocality || a.Kind != workload.Map || a.Node == "" || len(t.Split.Hosts) == 0 {
		return
	}
	if slices.Contains(t.Split.Hosts, a.Node) {
		a.Locality = workload.NodeLocal
		return
	}
	if a.Rack == "" {
		return
	}
	a.Locality = workload.OffRack
	for _, h := range t.Split.Hosts {
		if c.racks[h] == a.Rack {
			a.Locality = workload.RackLocal
		}
	}
}

// compareTasks orders tasks: maps, reduces, set-up, clean-up; each by number,
// map slots before reduce slots.
func compareTasks(a, b workload.HistoryTask) int {
	slot := func(t workload.HistoryTask) int {
		if t.ReduceSlot {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(slot(a), slot(b)), cmp.Compare(a.Number, b.Number))
}
