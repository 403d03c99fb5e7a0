package trace

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// This file reads tables with a header: the attempts that slotwave writes, and
// other tables of attempts, jobs or settings, separated by commas or tabs.
// Columns may be in any order; unknown ones are ignored. The name of a column
// of time ends in its unit: _ns, _us, _ms, _s, or _ts for Unix milliseconds.
// Empty cells are unknown.

var tableFormat = Format{
	Name: "csv", About: "tables of attempts, jobs or settings with a header, commas or tabs",
	chains: true,
	Files:  "attempts.csv, jobs.csv",
	detect: detection{header: func(_ string, columns []string) bool { return isTable(columns) }},
	read:   (*collector).readTable,
	write:  func(h *workload.History) (Output, error) { return Output{Files: tables(h)}, nil },
}

var tableGzipFormat = Format{
	Name: "csv.gz", About: "the tables of csv, compressed with gzip; read as csv",
	chains: true,
	Files:  "attempts.csv.gz, jobs.csv.gz",
	write: func(h *workload.History) (Output, error) {
		files := tables(h)
		for i, f := range files {
			files[i].Name = f.Name + gzipEnding // who writes the file compresses by its ending
		}
		return Output{Files: files}, nil
	},
}

// tables returns the tables of a history's attempts and jobs.
func tables(h *workload.History) []File {
	return []File{
		{attemptsName, func(w io.Writer) error { return writeAttempts(w, h) }},
		{jobsName, func(w io.Writer) error { return writeJobs(w, h) }},
	}
}

// readTable reads a table of attempts, jobs or settings.
func (c *collector) readTable(s *source) error {
	t, err := c.textTable(s, true)
	if err != nil {
		return err
	}
	return t.read()
}

// read reads all rows. The header says what they hold.
func (t *table) read() error {
	c := t.c
	var row func(t *table)
	switch {
	case isSettings(t.header):
		row = tableRows{c}.settingRow
	case t.has("total_run_ms") && t.has("task"):
		row = tableRows{c}.measureRow
	case t.has("task", "index") && t.has("kind", "type"):
		setters := settersOf(t, attemptSetter)
		if err := t.missing("start", "finish"); err != nil {
			return err
		}
		row = func(t *table) { tableRows{c}.attemptRow(t, setters) }
	case t.has("maps", "num_map_tasks", "submit_ms", "submit_ns"):
		setters := settersOf(t, jobSetter)
		row = func(t *table) { tableRows{c}.jobRow(t, setters) }
	default:
		return fmt.Errorf("columns %.200q: want a table of attempts (job, kind, task...), of jobs (job, maps, reduces...) or of settings (job, key, value)", t.header)
	}
	for {
		more, err := t.next()
		if !more {
			return err
		}
		row(t)
		if c.full {
			return errAttempts
		}
	}
}

// missing returns an error about the one of two times that the table lacks, since the
// other would be taken for both. One without a unit is reported where it is left out.
func (t *table) missing(times ...string) error {
	lacks := slices.DeleteFunc(slices.Clone(times), func(time string) bool {
		return slices.ContainsFunc(t.header, func(column string) bool { base, _ := splitUnit(column); return base == time })
	})
	if len(lacks) != 1 {
		return nil
	}
	var unread []string
	for _, column := range t.header {
		if !slices.Contains(namesOfTasks, column) && attemptSetter(column) == nil {
			unread = append(unread, column)
		}
	}
	err := fmt.Errorf("no column %s_ns: want it, or %[1]s_ms, %[1]s_s or %[1]s_ts", lacks[0])
	if len(unread) > 0 {
		err = fmt.Errorf("%w; not read: %.80s", err, strings.Join(unread, ", "))
	}
	return err
}

// namesOfTasks are the columns that say of which attempt a row is.
var namesOfTasks = []string{"job", "task", "index", "kind", "type", "attempt"}

// isTable reports whether a header is one that readTable knows.
func isTable(header []string) bool {
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(header, n) })
	}
	return isSettings(header) || has("task", "index") && has("kind", "type") ||
		has("maps", "num_map_tasks", "submit_ms", "submit_ns")
}

func isSettings(header []string) bool { return slices.Equal(header, []string{"job", "key", "value"}) }

// tableRows collects the rows of the tables of tasks, attempts and jobs.
type tableRows struct{ *collector }

// tableJob returns the builder of a job from tables, which may be several
// files.
func (c tableRows) tableJob(id string, line int) *jobBuilder {
	if b, ok := c.tables[id]; ok {
		return b
	}
	b := c.newJob(id, line)
	b.noTotals = true
	c.tables[id] = b
	c.order = append(c.order, b)
	return b
}

// jobOf returns the row's job: its column, even if empty, or the file if there is
// no such column.
func (t *table) jobOf() string {
	if t.has("job") {
		return t.c.intern(workload.Unescape(t.cell("job")))
	}
	name, _, _ := strings.Cut(baseName(t.c.file), ".")
	return t.c.intern(name)
}

func (c tableRows) settingRow(t *table) {
	b := c.tableJob(t.jobOf(), t.line)
	c.setRecorded(&b.job.Conf, t.line, c.intern(t.cell("key")), c.intern(t.cell("value")))
}

// rowTask returns the task of a row.
func (c tableRows) rowTask(t *table) (*jobBuilder, *workload.HistoryTask) {
	kind, ok := tableKinds[t.cell("kind", "type")]
	if !ok {
		c.problem(t.line, "kind %.40q is none of map, reduce, setup, cleanup, taskcleanup, reducetaskcleanup: the row is dropped", t.cell("kind", "type"))
		return nil, nil
	}
	number, ok := ordinal(t.cell("task", "index"))
	if !ok {
		c.problem(t.line, "task %.40q: want a number: the row is dropped", t.cell("task", "index"))
		return nil, nil
	}
	b := c.tableJob(t.jobOf(), t.line)
	reduceSlot := kind == workload.Reduce || kind == workload.ReduceTaskCleanup
	if slot := t.cell("slot"); kind != workload.Map && (slot == "map" || slot == "reduce") {
		reduceSlot = slot == "reduce"
	}
	if kind == workload.TaskCleanup && reduceSlot { // a recorded case has one name for both
		kind = workload.ReduceTaskCleanup
	}
	return b, b.taskApart(kind, reduceSlot, number)
}

var tableKinds = map[string]workload.Kind{
	"map": workload.Map, "reduce": workload.Reduce, "setup": workload.Setup, "cleanup": workload.Cleanup, "taskcleanup": workload.TaskCleanup, "reducetaskcleanup": workload.ReduceTaskCleanup,
	"MAP": workload.Map, "REDUCE": workload.Reduce, "SETUP": workload.Setup, "CLEANUP": workload.Cleanup,
}

// attemptRow reads one attempt of a table of attempts.
func (c tableRows) attemptRow(t *table, setters []cellSetter[*attemptCells]) {
	b, task := c.rowTask(t)
	if b == nil {
		return
	}
	number := 0
	if text := t.cell("attempt"); text != "" {
		n, ok := ordinal(text)
		if !ok {
			c.problem(t.line, "attempt %.40q: want a number: the row is dropped", text)
			return
		}
		number = n
	}
	before := len(task.Attempts)
	a := b.attempt(task, number)
	if a == nil {
		return
	}
	if len(task.Attempts) == before {
		c.problem(t.line, "%s occurs twice: the second is dropped", attemptNameIn(a, task.ReduceSlot))
		return
	}
	r := attemptCells{
		table: t, b: b, task: task, a: a, counters: countersOf(a),
		shuffled: workload.UnknownTime, sorted: workload.UnknownTime,
	}
	setCells(t.row, setters, &r)
	a.Counters, a.More = r.counters.Counters, r.counters.More
	a.Rack, a.Node = c.place(t.line, a.Rack, a.Node)
	if a.State == workload.Succeeded || task.State == workload.Running {
		task.State = a.State
	}
	b.checkTimes(attemptNameIn(a, task.ReduceSlot), t.line, a.Start, &a.Finish)
	b.phases(a, t.line, r.shuffled, r.sorted)
}

// measureRow reads the times and volumes measured inside a task. They belong to
// its successful attempt.
func (c tableRows) measureRow(t *table) {
	b, task := c.rowTask(t)
	if b == nil {
		return
	}
	m := taskMeasure{raw: workload.Unknown, stored: workload.Unknown, spills: workload.Unknown, run: workload.UnknownTime}
	count := func(to *int64, name string) {
		if text := t.cell(name); text != "" {
			*to = t.count(name, text)
		}
	}
	count(&m.raw, "spill_or_shuffle_raw_bytes")
	count(&m.stored, "spill_or_shuffle_stored_bytes")
	count(&m.spills, "spills")
	span := func(to *time.Duration, name string) {
		if text := t.cell(name); text != "" {
			*to = t.span(name, text, time.Millisecond)
		}
	}
	span(&m.run, "total_run_ms")
	span(&m.read, "read_ms")
	span(&m.mapped, "map_func_ms")
	span(&m.partition, "partition_ms")
	span(&m.serialize, "serialize_ms")
	span(&m.merge, "merge_ms")
	if b.measures == nil {
		b.measures = make(map[taskKey]taskMeasure)
	}
	b.measures[taskKey{task.ReduceSlot, task.Number, task.Kind}] = m
}

// apply completes the measured attempt. The time of a map is the time that its
// timers cover. The rest of the run is the wait for the last spill. The time of
// the attempt beyond its run is its start.
func (m *taskMeasure) apply(t *workload.HistoryTask, a *workload.HistoryAttempt) {
	a.Spills = m.spills
	if t.ReduceSlot {
		a.InBytes = m.raw
		return
	}
	a.More.SpillRawBytes, a.More.SpillStoredBytes = m.raw, m.stored
	spill := m.run - m.read - m.mapped - m.merge
	startup := a.Duration() - m.run
	if !workload.Known(m.run) || !workload.Known(a.Start) || !workload.Known(a.Finish) || spill < 0 || startup < 0 {
		return
	}
	a.Phases[workload.PhaseStartup], a.Phases[workload.PhaseRead], a.Phases[workload.PhaseMerge] = startup, m.read, m.merge
	a.Phases[workload.PhaseCollect] = min(m.mapped, m.partition+m.serialize)
	a.Phases[workload.PhaseMap] = m.mapped - a.Phases[workload.PhaseCollect]
	a.Phases[workload.PhaseSpill] = spill
}

// jobRow reads one job of a table of jobs.
func (c tableRows) jobRow(t *table, setters []cellSetter[*jobCells]) {
	id := t.jobOf()
	if !t.has("job") {
		id = fmt.Sprintf("%s-%d", id, t.line-t.skipped-1)
	}
	b := c.tableJob(id, t.line)
	if b.row > 0 {
		c.problem(t.line, "job %.80s occurs twice: the second is dropped", id)
		return
	}
	c.jobRows++
	b.row = c.jobRows
	j := &b.job
	if !t.has("submit_ns", "submit_ms", "submit_s", "submit_time_ts") {
		j.Submit = 0 // origin of the table's instants
	}
	setCells(t.row, setters, &jobCells{t, j})
	if workload.Known(j.Finish) && !t.has("state", "status") {
		j.Outcome = workload.Succeeded // such tables list finished jobs
	}
}
