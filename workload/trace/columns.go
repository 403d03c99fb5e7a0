package trace

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// This file names the columns of tables of attempts and jobs, for writing and reading.
// readTable looks a column up once for its header and then sets cells row by row.

// attemptColumn is a column of a table of attempts: a text, an instant or length of time
// in nanoseconds, or a count. A cell is empty if the value is unknown.
type attemptColumn struct {
	name    string
	text    func(*workload.Attempt) string // read by attemptTexts
	instant func(*workload.Attempt) *time.Duration
	span    func(*workload.Attempt) *time.Duration
	count   func(*workload.Counters) *int64
}

// attemptColumns are the columns in the order in which they are written, as in the table
// of a simulated run.
var attemptColumns = func() []attemptColumn {
	list := []attemptColumn{
		{name: "job", text: func(a *workload.Attempt) string { return a.Job }},
		{name: "task", text: func(a *workload.Attempt) string { return countCell(int64(a.Task)) }},
		{name: "kind", text: func(a *workload.Attempt) string { return a.Kind.String() }},
		{name: "attempt", text: func(a *workload.Attempt) string { return countCell(int64(a.Number)) }},
		{name: "state", text: func(a *workload.Attempt) string { return a.State.String() }},
		{name: "node", text: func(a *workload.Attempt) string { return a.Node }},
		{name: "rack", text: func(a *workload.Attempt) string { return a.Rack }},
		{name: "slot", text: func(a *workload.Attempt) string { return countCell(int64(a.Slot)) }},
		{name: "pool", text: func(a *workload.Attempt) string { return a.Pool }},
		{name: "locality", text: func(a *workload.Attempt) string { return a.Locality.String() }},
		{name: "runnable_ns", instant: func(a *workload.Attempt) *time.Duration { return &a.Runnable }},
		{name: "start_ns", instant: func(a *workload.Attempt) *time.Duration { return &a.Start }},
		{name: "finish_ns", instant: func(a *workload.Attempt) *time.Duration { return &a.Finish }},
	}
	for p := range workload.NumPhases {
		list = append(list, attemptColumn{name: "p_" + p.String() + "_ns", span: func(a *workload.Attempt) *time.Duration { return &a.Phases[p] }})
	}
	return append(list, []attemptColumn{
		{name: "in_records", count: func(c *workload.Counters) *int64 { return &c.InRecords }},
		{name: "in_bytes", count: func(c *workload.Counters) *int64 { return &c.InBytes }},
		{name: "out_records", count: func(c *workload.Counters) *int64 { return &c.OutRecords }},
		{name: "out_bytes", count: func(c *workload.Counters) *int64 { return &c.OutBytes }},
		{name: "spills", count: func(c *workload.Counters) *int64 { return &c.Spills }},
		{name: "merge_passes", count: func(c *workload.Counters) *int64 { return &c.MergePasses }},
		{name: "spilled_records", count: func(c *workload.Counters) *int64 { return &c.SpilledRecords }},
		{name: "shuffle_bytes", count: func(c *workload.Counters) *int64 { return &c.ShuffleBytes }},
		{name: "hdfs_read_bytes", count: func(c *workload.Counters) *int64 { return &c.HDFSReadBytes }},
		{name: "hdfs_write_bytes", count: func(c *workload.Counters) *int64 { return &c.HDFSWriteBytes }},
		{name: "local_read_bytes", count: func(c *workload.Counters) *int64 { return &c.LocalReadBytes }},
		{name: "local_write_bytes", count: func(c *workload.Counters) *int64 { return &c.LocalWriteBytes }},
		{name: "wait_fetch_ns", span: func(a *workload.Attempt) *time.Duration { return &a.WaitFetch }},
		{name: "wait_memory_ns", span: func(a *workload.Attempt) *time.Duration { return &a.WaitMemory }},
		{name: "combine_input_records", count: func(c *workload.Counters) *int64 { return &c.CombineInRecords }},
		{name: "combine_output_records", count: func(c *workload.Counters) *int64 { return &c.CombineOutRecords }},
		{name: "map_output_materialized_bytes", count: func(c *workload.Counters) *int64 { return &c.MaterializedBytes }},
		{name: "cpu_milliseconds", count: func(c *workload.Counters) *int64 { return &c.CPUMillis }},
	}...)
}()

func (c *attemptColumn) cell(a *workload.Attempt) string {
	switch {
	case c.text != nil:
		return workload.Escape(c.text(a))
	case c.count != nil:
		return countCell(*c.count(&a.Counters))
	case c.span != nil:
		return timeCell(*c.span(a))
	}
	return timeCell(*c.instant(a))
}

func countCell(n int64) string {
	if n == workload.Unknown {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func timeCell(d time.Duration) string {
	if !workload.Known(d) {
		return ""
	}
	return strconv.FormatInt(int64(d), 10)
}

// attemptCells is the attempt of a row whose cells are read.
type attemptCells struct {
	*table
	b                *jobBuilder
	task             *workload.HistoryTask
	a                *workload.HistoryAttempt
	counters         workload.TaskCounters
	shuffled, sorted time.Duration // ends
}

// cellSetter takes a cell that is not empty into a row. A nil one ignores it.
type cellSetter[R any] func(row R, text string)

// attemptTexts read the columns that hold texts.
var attemptTexts = map[string]cellSetter[*attemptCells]{
	"state":  (*attemptCells).setState,
	"status": (*attemptCells).setState,
	"node":   func(r *attemptCells, text string) { r.a.Node = r.c.intern(workload.Unescape(text)) },
	"tracker": func(r *attemptCells, text string) {
		r.a.Node = r.c.intern(workload.Unescape(text))
	},
	"rack": func(r *attemptCells, text string) { r.a.Rack = r.c.intern(workload.Unescape(text)) },
	"slot": func(r *attemptCells, text string) {
		if text != "map" && text != "reduce" { // these name its type
			r.a.Slot = int(r.count("slot", text))
		}
	},
	"pool": func(r *attemptCells, text string) { r.b.job.Pool = r.c.intern(workload.Unescape(text)) },
	"locality": func(r *attemptCells, text string) {
		if l, ok := workload.ParseLocality(text); ok {
			r.a.Locality = l
		} else {
			r.c.problem(r.line, "locality %.40q: want node, rack, off or none", text)
		}
	},
	"node_local": func(r *attemptCells, text string) {
		if text == "1" {
			r.a.Locality = workload.NodeLocal
		}
	},
	"replica_nodes": (*attemptCells).setReplicas,
}

func (r *attemptCells) setState(text string) {
	r.a.State = r.c.state(r.line, attemptNameIn(r.a, r.task.ReduceSlot), text)
}

func (r *attemptCells) setReplicas(text string) {
	if r.task.Kind != workload.Map {
		return
	}
	r.task.Split.Hosts = nil
	for host := range strings.FieldsSeq(text) {
		_, host = r.c.place(r.line, "", host)
		r.task.Split.Hosts = append(r.task.Split.Hosts, host)
	}
}

// attemptSetter returns what reads a column of a table of attempts: one of slotwave's, in
// any unit of time, or a counter by its name in Hadoop.
func attemptSetter(name string) cellSetter[*attemptCells] {
	if set := attemptTexts[name]; set != nil {
		return set
	}
	base, unit := splitUnit(name)
	switch {
	case unit == 0:
	case base == "shuffle_end":
		return func(r *attemptCells, text string) { r.shuffled = r.instant(name, text, unit) }
	case base == "sort_end":
		return func(r *attemptCells, text string) { r.sorted = r.instant(name, text, unit) }
	}
	for i := range attemptColumns {
		c := &attemptColumns[i]
		switch {
		case unit == 0 && c.count != nil && c.name == name:
			return func(r *attemptCells, text string) { *c.count(&r.counters.Counters) = r.count(name, text) }
		case unit != 0 && c.instant != nil && c.name == base+"_ns":
			return func(r *attemptCells, text string) { *c.instant(&r.a.Attempt) = r.instant(name, text, unit) }
		case unit != 0 && c.span != nil && c.name == base+"_ns":
			return func(r *attemptCells, text string) { *c.span(&r.a.Attempt) = r.span(name, text, unit) }
		}
	}
	counter := strings.ToUpper(name)
	if unit != 0 || counterOf[counter] == nil {
		return nil
	}
	return func(r *attemptCells, text string) {
		if field := counterField(&r.counters, r.task.SlotKind(), counter); field != nil {
			*field = r.count(name, text)
		}
	}
}

// jobCells is the job of a row whose cells are read.
type jobCells struct {
	*table
	j *workload.HistoryJob
}

// jobTexts read the columns of a table of jobs that hold no times.
var jobTexts = map[string]cellSetter[*jobCells]{
	"name":             func(r *jobCells, text string) { r.j.Name = r.c.intern(workload.Unescape(text)) },
	"workload":         func(r *jobCells, text string) { r.j.Name = r.c.intern(workload.Unescape(text)) },
	"user":             func(r *jobCells, text string) { r.j.User = r.c.intern(workload.Unescape(text)) },
	"queue":            func(r *jobCells, text string) { r.j.Queue = r.c.intern(workload.Unescape(text)) },
	"pool":             func(r *jobCells, text string) { r.j.Pool = r.c.intern(workload.Unescape(text)) },
	"after":            func(r *jobCells, text string) { r.j.After = workload.UnescapeList(text) },
	"priority":         func(r *jobCells, text string) { r.c.priority(r.line, r.j, text) },
	"state":            func(r *jobCells, text string) { r.j.Outcome = r.c.state(r.line, r.j.ID, text) },
	"status":           func(r *jobCells, text string) { r.j.Outcome = r.c.state(r.line, r.j.ID, text) },
	"maps":             func(r *jobCells, text string) { r.j.Maps = r.announced("maps", text) },
	"num_map_tasks":    func(r *jobCells, text string) { r.j.Maps = r.announced("num_map_tasks", text) },
	"reduces":          func(r *jobCells, text string) { r.j.Reduces = r.announced("reduces", text) },
	"num_reduce_tasks": func(r *jobCells, text string) { r.j.Reduces = r.announced("num_reduce_tasks", text) },
	"slowstart": func(r *jobCells, text string) {
		r.c.setRecorded(&r.j.Conf, r.line, "mapred.reduce.slowstart.completed.maps", text)
	},
	"failed_maps":    func(r *jobCells, text string) { r.j.Totals.FailedMaps = r.count("failed_maps", text) },
	"failed_reduces": func(r *jobCells, text string) { r.j.Totals.FailedReduces = r.count("failed_reduces", text) },
}

func (r *jobCells) announced(name, text string) int {
	return r.c.tasksAnnounced(r.line, name, r.count(name, text))
}

// jobTimes are the columns of a table of jobs that hold times, without their unit.
var jobTimes = map[string]func(*workload.HistoryJob) *time.Duration{
	"submit": func(j *workload.HistoryJob) *time.Duration { return &j.Submit }, "submit_time": func(j *workload.HistoryJob) *time.Duration { return &j.Submit },
	"launch": func(j *workload.HistoryJob) *time.Duration { return &j.Launch }, "init": func(j *workload.HistoryJob) *time.Duration { return &j.Launch },
	"start_time": func(j *workload.HistoryJob) *time.Duration { return &j.Launch },
	"finish":     func(j *workload.HistoryJob) *time.Duration { return &j.Finish }, "finish_time": func(j *workload.HistoryJob) *time.Duration { return &j.Finish },
}

// jobSetter returns what reads a column of a table of jobs.
func jobSetter(name string) cellSetter[*jobCells] {
	if set := jobTexts[name]; set != nil {
		return set
	}
	base, unit := splitUnit(name)
	if at := jobTimes[base]; at != nil && unit != 0 {
		return func(r *jobCells, text string) { *at(r.j) = r.instant(name, text, unit) }
	}
	if total := strings.ToUpper(name); jobCounterOf[total] != nil || counterOf[total] != nil {
		return func(r *jobCells, text string) { takeTotal(&r.j.Totals, total, r.count(name, text)) }
	}
	return nil
}

// settersOf returns what reads each column of a table.
func settersOf[R any](t *table, of func(string) cellSetter[R]) (list []cellSetter[R]) {
	for _, name := range t.header {
		set := of(name)
		stated := func(other string) bool {
			base, unit := splitUnit(other)
			return base == name && unit != 0
		}
		if set == nil && of(name+"_s") != nil && !slices.ContainsFunc(t.header, stated) {
			t.c.problem(t.skipped+1, "column %s: a time without a unit is left out: want %[1]s_s, %[1]s_ms or another unit (slotwave help formats)", name)
		}
		list = append(list, set)
	}
	return list
}

// setCells takes the cells of a row that are not empty.
func setCells[R any](row []string, setters []cellSetter[R], to R) {
	for i, set := range setters {
		if text := row[i]; text != "" && set != nil {
			set(to, text)
		}
	}
}
