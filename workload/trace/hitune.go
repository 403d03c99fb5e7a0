package trace

import (
	"fmt"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// HiTune's tables are the CSV export of Chukwa's job-history parser: job,
// MapTask, ReduceTask, MapAttempt, ReduceAttempt and the samples of its
// instrumentation. The columns are the keys of the MRv1 history and the display
// names of counters. The tables of one job are read together, in any order.

var hituneFormat = Format{
	Name: "hitune", About: "HiTune's tables of a job, CSV",
	detect: detection{header: func(_ string, columns []string) bool { return isHiTune(columns) }},
	read:   (*collector).readHiTune,
}

// hituneCounters maps the counters in the tables by display name.
var hituneCounters = map[string]string{
	"HDFS bytes read": "HDFS_BYTES_READ", "HDFS bytes written": "HDFS_BYTES_WRITTEN",
	"Local bytes read": "FILE_BYTES_READ", "Local bytes written": "FILE_BYTES_WRITTEN",
	"Map input records": "MAP_INPUT_RECORDS", "Map input bytes": "MAP_INPUT_BYTES",
	"Map output records": "MAP_OUTPUT_RECORDS", "Map output bytes": "MAP_OUTPUT_BYTES",
	"Combine input records": "COMBINE_INPUT_RECORDS", "Combine output records": "COMBINE_OUTPUT_RECORDS",
	"Reduce input groups": "REDUCE_INPUT_GROUPS", "Reduce shuffle bytes": "REDUCE_SHUFFLE_BYTES",
	"Reduce input records": "REDUCE_INPUT_RECORDS", "Reduce output records": "REDUCE_OUTPUT_RECORDS",
	"Spilled Records": "SPILLED_RECORDS",
	// The job's table has Hadoop's own names.
	"HDFS_BYTES_READ": "HDFS_BYTES_READ", "HDFS_BYTES_WRITTEN": "HDFS_BYTES_WRITTEN",
	"FILE_BYTES_READ": "FILE_BYTES_READ", "FILE_BYTES_WRITTEN": "FILE_BYTES_WRITTEN",
}

// isHiTune reports whether a header is that of one of the tables.
func isHiTune(header []string) bool {
	has := func(names ...string) bool {
		found := 0
		for _, h := range header {
			for _, n := range names {
				if h == n {
					found++
				}
			}
		}
		return found == len(names)
	}
	return has("csource", "capp", "id") || has("phase_name", "phase_start", "attempt_id")
}

func (c *collector) readHiTune(s *source) error {
	if c.hitune == nil {
		c.hitune = &mrv1Reader{c: c, jobs: make(map[string]*jobBuilder), escaped: true}
	}
	t, err := c.textTable(s, false)
	if err != nil {
		return err
	}
	for {
		more, err := t.next()
		if !more {
			return err
		}
		hituneRows{c}.row(t)
		if c.full {
			return errAttempts
		}
	}
}

// hituneRows collects the rows of HiTune's tables.
type hituneRows struct{ *collector }

// row turns a row into a record of the history it was made from.
func (c hituneRows) row(t *table) {
	r, line, row := c.hitune, t.line, t.row
	id := t.cell("id")
	r.fields = r.fields[:0]
	add := func(key, value string) {
		if value != "" {
			r.fields = append(r.fields, mrv1Field{key: []byte(key), value: []byte(value)})
		}
	}
	var counters strings.Builder
	for i, name := range t.header {
		switch counter := hituneCounters[name]; {
		case name == "COUNTERS" || name == "id": // COUNTERS is 1 or 0 here: whether there were any
		case name == "SPLITS":
			add(name, strings.ReplaceAll(row[i], ";", ","))
		case counter == "":
			add(name, row[i])
		case row[i] != "":
			if v, err := parseCount(row[i]); err != nil {
				c.problem(line, "%s = %.40q: want a number", name, row[i])
			} else {
				fmt.Fprintf(&counters, "[(%s)()(%d)]", counter, v)
			}
		}
	}
	if counters.Len() > 0 {
		add("COUNTERS", "{(FileSystemCounters)()"+counters.String()+"}")
	}
	switch {
	case t.cell("phase_name") != "":
		c.sample(t)
	case strings.HasPrefix(id, "job_"):
		add("JOBID", id)
		r.jobRecord(line)
		c.name(r.job(id, line), t.cell("capp"))
	case strings.HasPrefix(id, "task_"):
		add("TASKID", id)
		if job, reduceSlot, number, ok := taskID(id); ok {
			b := r.job("job_"+job, line)
			if kind, ok := taskKinds[t.cell("TASK_TYPE")]; ok { // its attempts may have come earlier, without the type
				b.task(kind, reduceSlot, number).Kind = kind
			}
			c.name(b, t.cell("capp"))
		}
		r.taskRecord(line)
	case strings.HasPrefix(id, "attempt_"):
		add("TASK_ATTEMPT_ID", id)
		add("TASK_TYPE", r.typeOf(id))
		r.attemptRecord(line)
	default:
		c.problem(line, "id = %.60q: want a job, task or attempt: the row is dropped", id)
	}
}

// typeOf returns the TASK_TYPE that an attempt's row lacks: its task's, if that
// is known already.
func (r *mrv1Reader) typeOf(attempt string) string {
	job, reduceSlot, number, _, _ := attemptID(attempt)
	if b, ok := r.jobs["job_"+job]; ok {
		if i, ok := b.tasks[taskKey{reduceSlot: reduceSlot, number: number}]; ok {
			return taskTypes[b.job.Tasks[i].Kind]
		}
	}
	if reduceSlot {
		return taskTypes[workload.Reduce]
	}
	return taskTypes[workload.Map]
}

// name takes user and job name from the history file's name,
// HOST_TIME_JOBID_USER_NAME, where the tables lack them.
func (c hituneRows) name(b *jobBuilder, file string) {
	_, after, ok := strings.Cut(baseName(file), b.job.ID+"_")
	if !ok || b.job.User != "" {
		return
	}
	user, name, _ := strings.Cut(after, "_")
	b.job.User, b.job.Name = c.intern(user), name
}

// sample notes when an attempt's own main thread began its map phase or
// its shuffle: what came before is the start of the JVM.
func (c hituneRows) sample(t *table) {
	cell, line, phase := func(name string) string { return t.cell(name) }, t.line, t.cell("phase_name")
	if thread := strings.Trim(cell("thread_name"), "'"); thread != "main" || phase != "Mapphase" && phase != "Shuffle" {
		return
	}
	job, reduceSlot, task, number, ok := attemptID(cell("attempt_id"))
	began, err := parseCount(cell("phase_start"))
	if !ok || err != nil {
		c.problem(line, "sample of %.60q that began at %.40q: want an attempt and a time", cell("attempt_id"), cell("phase_start"))
		return
	}
	key := attemptKey{taskKey{reduceSlot: reduceSlot, number: task}, number}
	b := c.hitune.job("job_"+job, line)
	if b.began == nil {
		b.began = make(map[attemptKey]time.Duration)
	}
	b.began[key] = c.unixMillis(line, "phase_start", began)
}
