package trace

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// This file reads the job history of Hadoop 0.18 to 1.x
// (org.apache.hadoop.mapred.JobHistory). A record is RecordType KEY="value" ...
// In 0.19 and later, a file begins with Meta VERSION="1" and a record ends in "
// .". Its values escape quotes, equals signs and dots and may span lines. One
// log may hold several files, each after a form feed and !!FILE=name!!.
// Configurations among them are XML.

var mrv1Types = []string{"Meta ", "Job ", "Task ", "MapAttempt ", "ReduceAttempt ", "Jobtracker ", "JobTracker "}

var mrv1Format = Format{
	Name: "history", About: "job history of Hadoop 0.18 to 1.x",
	Files: "JOBID_START_USER_NAME and JOBID_conf.xml of each job",
	detect: detection{begins: func(text []byte) bool {
		line := firstLine(text)
		_, member := memberName(line)
		return member || beginsRecord(line)
	}},
	read: (*collector).readMRv1,
	write: func(h *workload.History) (Output, error) {
		out := perJob(h, (*jobFile).mrv1Name, (*jobFile).mrv1ConfName, (*jobFile).writeMRv1)
		out.Lost = lostInMRv1(h)
		return out, nil
	},
}

// beginsRecord reports whether a line begins a record: a type and a key.
func beginsRecord(line []byte) bool {
	for _, t := range mrv1Types {
		if len(line) > len(t) && string(line[:len(t)]) == t {
			key, value, _ := bytes.Cut(line[len(t):], []byte{'='})
			return len(key) > 0 && len(bytes.Trim(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")) == 0 && len(value) > 0 && value[0] == '"'
		}
	}
	return false
}

func (c *collector) readMRv1(s *source) error {
	in := &lines{r: s.Reader, max: c.limits.LineBytes, line: s.skipped}
	var member string
	for {
		next, err := c.mrv1Member(in, member)
		if err != nil || next == "" {
			return err
		}
		member = next
	}
}

// mrv1Member reads up to the end of one member of a log and returns the name of
// the next, or an empty name at the end of the file.
func (c *collector) mrv1Member(in *lines, member string) (next string, err error) {
	r := &mrv1Reader{c: c, jobs: make(map[string]*jobBuilder)}
	var record []byte
	began := 0
	flush := func(sound bool) {
		if len(record) > 0 {
			if !sound {
				c.problem(began, "a record without its end mark: its readable fields are kept")
			}
			r.record(record, began)
		}
		record = record[:0]
	}
	for {
		line, err := in.next()
		if err == io.EOF {
			break
		}
		if errors.Is(err, errLineLong) {
			return "", atLine(in.line, err)
		}
		if err != nil {
			return "", err
		}
		if name, ok := memberName(line); ok {
			next = name
			break
		}
		line = bytes.TrimPrefix(line, []byte{'\f'})
		if len(record) == 0 && beginsConf(line) {
			next, err := c.confMember(in, line, member)
			if err != nil || next != "" {
				return next, errors.Join(err, r.finish())
			}
			continue
		}
		begins := beginsRecord(line)
		if begins {
			flush(!r.escaped)
			began = in.line
			r.escaped = r.escaped || bytes.HasPrefix(line, []byte("Meta ")) || bytes.HasSuffix(bytes.TrimRight(line, " "), []byte(`" .`))
		} else if len(record) == 0 {
			if len(bytes.TrimSpace(line)) > 0 {
				c.problem(in.line, "%.60q is not a history record: skipped", line)
			}
			continue
		}
		if len(record)+len(line) > c.limits.LineBytes {
			return "", atLine(in.line, errLineLong)
		}
		record = append(record, line...)
		if !r.escaped || endsRecord(line) {
			flush(true)
		} else {
			record = append(record, '\n')
		}
	}
	flush(!r.escaped)
	return next, r.finish()
}

// endsRecord reports whether a line ends in a dot that is not escaped.
func endsRecord(line []byte) bool {
	line = bytes.TrimRight(line, " ")
	return bytes.HasSuffix(line, []byte{'.'}) && !bytes.HasSuffix(line, []byte(`\.`))
}

// split divides a record into its fields. It reports whether the text is well
// formed.
func (r *mrv1Reader) split(record []byte) bool {
	r.fields = r.fields[:0]
	_, rest, _ := bytes.Cut(record, []byte{' '})
	for {
		rest = bytes.TrimLeft(rest, " \n")
		if len(rest) == 0 || len(rest) == 1 && rest[0] == '.' {
			return true
		}
		key, after, ok := bytes.Cut(rest, []byte(`="`))
		if !ok {
			return false
		}
		end := 0
		for end < len(after) && after[end] != '"' {
			if after[end] == '\\' && r.escaped {
				end++
			}
			end++
		}
		if end >= len(after) {
			return false
		}
		r.fields = append(r.fields, mrv1Field{key: key, value: after[:end]})
		rest = after[end+1:]
	}
}

// get returns the unescaped value of a key.
func (r *mrv1Reader) get(key string) string {
	_, value := r.named(key)
	return value
}

// named is get with the name of the key in the source.
func (r *mrv1Reader) named(key string) (name, value string) {
	for i := range r.fields {
		if f := &r.fields[i]; string(f.key) == key {
			value = string(f.value)
			if r.escaped {
				value = unescape(value)
			}
			return cmp.Or(f.name, key), value
		}
	}
	return key, ""
}

// number returns a whole number, or Unknown.
func (r *mrv1Reader) number(line int, key string) int64 {
	name, v := r.whole(line, key)
	return r.c.count(line, name, v)
}

// whole returns a whole number as it stands, and the name of the key in the source.
func (r *mrv1Reader) whole(line int, key string) (name string, v int64) {
	name, s := r.named(key)
	if s == "" {
		return name, workload.Unknown
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v < workload.Unknown && name == key {
		r.c.problem(line, "%s = %.40q: want a number", name, s)
		return name, workload.Unknown
	}
	return name, v
}

func (r *mrv1Reader) time(line int, key string) time.Duration {
	name, v := r.whole(line, key)
	return r.c.unixMillis(line, name, v)
}

// announced returns a number of tasks.
func (r *mrv1Reader) announced(line int, key string) int {
	name, _ := r.named(key)
	return r.c.tasksAnnounced(line, name, r.number(line, key))
}

// job returns the builder of a job. It adds the job if it is new.
func (r *mrv1Reader) job(id string, line int) *jobBuilder {
	b, ok := r.jobs[id]
	if !ok {
		b = r.c.newJob(id, line)
		r.jobs[id] = b
		r.order = append(r.order, b)
	}
	return b
}

func (r *mrv1Reader) record(record []byte, line int) {
	if !r.split(record) {
		r.c.problem(line, "a field of the record is cut short: the fields before it are kept")
	}
	switch kind, _, _ := bytes.Cut(record, []byte{' '}); string(kind) {
	case "Job":
		r.jobRecord(line)
	case "Task":
		r.taskRecord(line)
	case "MapAttempt", "ReduceAttempt":
		r.attemptRecord(line)
	case "Meta":
		if v := r.get("VERSION"); v != "1" {
			r.c.problem(line, "history version %.20q: want 1", v)
		}
	}
}

func (r *mrv1Reader) jobRecord(line int) {
	id := r.get("JOBID")
	if !strings.HasPrefix(id, "job_") {
		r.c.problem(line, "JOBID = %.60q: want job_...: the record is dropped", id)
		return
	}
	r.jobFields(line, &r.job(id, line).job)
}

func (r *mrv1Reader) jobFields(line int, j *workload.HistoryJob) {
	c := r.c
	for i := range r.fields {
		switch key := string(r.fields[i].key); key {
		case "JOBNAME":
			j.Name = r.get(key)
		case "USER":
			j.User = c.intern(r.get(key))
		case "JOB_QUEUE":
			j.Queue = c.intern(r.get(key))
		case "WORKFLOW_ID":
			j.Workflow.ID = r.get(key)
		case "WORKFLOW_NODE_NAME":
			j.Workflow.Node = r.get(key)
		case "WORKFLOW_ADJACENCIES":
			j.Workflow.Adjacencies = r.get(key)
		case "JOB_PRIORITY":
			c.priority(line, j, r.get(key))
		case "SUBMIT_TIME":
			j.Submit = r.time(line, key)
		case "LAUNCH_TIME":
			j.Launch = r.time(line, key)
		case "FINISH_TIME":
			j.Finish = r.time(line, key)
		case "TOTAL_MAPS":
			j.Maps = r.announced(line, key)
		case "TOTAL_REDUCES":
			j.Reduces = r.announced(line, key)
		case "FAILED_MAPS":
			j.Totals.FailedMaps = r.number(line, key)
		case "FAILED_REDUCES":
			j.Totals.FailedReduces = r.number(line, key)
		case "FAIL_REASON":
			j.Error = r.get(key)
		case "JOB_STATUS":
			j.Outcome = c.state(line, j.ID, r.get(key))
		case "MAP_COUNTERS":
			r.counters(line, key, func(name string, v int64) { takeCounter(&j.Totals.Map, workload.Map, name, v) })
		case "REDUCE_COUNTERS":
			r.counters(line, key, func(name string, v int64) { takeCounter(&j.Totals.Reduce, workload.Reduce, name, v) })
		case "COUNTERS":
			r.counters(line, key, func(name string, v int64) { takeTotal(&j.Totals, name, v) })
		}
	}
}

func (r *mrv1Reader) counters(line int, key string, f func(string, int64)) {
	for _, n := range r.counted[key] {
		f(n.name, n.value)
	}
	if !eachCounter(r.get(key), f) {
		r.c.problem(line, "%s: damaged counters: those before the damage are kept", key)
	}
}

// taskOf returns the job and the task that TASKID and TASK_TYPE name.
func (r *mrv1Reader) taskOf(line int) (*jobBuilder, *workload.HistoryTask) {
	id := r.get("TASKID")
	job, reduceSlot, number, ok := taskID(id)
	if !ok {
		r.c.problem(line, "TASKID = %.60q: want task_..._m_000000: the record is dropped", id)
		return nil, nil
	}
	kind, ok := taskKinds[r.get("TASK_TYPE")]
	if !ok {
		r.c.problem(line, "%s: type %.40q is none of MAP, REDUCE, SETUP, CLEANUP: the record is dropped", id, r.get("TASK_TYPE"))
		return nil, nil
	}
	b := r.job("job_"+job, line)
	t := b.task(kind, reduceSlot, number)
	if t.Kind != kind {
		r.c.problem(line, "%s is a %v here and a %v before: the first is kept", id, kind, t.Kind)
	}
	return b, t
}

func (r *mrv1Reader) taskRecord(line int) {
	if b, t := r.taskOf(line); b != nil {
		r.taskFields(line, "TASK_STATUS", t)
	}
}

// taskFields sets the fields of a task; what names it where its state is refused.
func (r *mrv1Reader) taskFields(line int, what string, t *workload.HistoryTask) {
	for i := range r.fields {
		switch key := string(r.fields[i].key); key {
		case "START_TIME":
			t.Start = r.time(line, key)
		case "FINISH_TIME":
			t.Finish = r.time(line, key)
		case "TASK_STATUS":
			t.State = r.c.state(line, what, r.get(key))
		case "SPLITS":
			t.Split.Hosts = nil
			r.c.replicas(line, t, r.get(key), ",")
		case "COUNTERS":
			// In 0.18 only the task has the counters; they are those of its
			// successful attempt.
			if w := t.Winner(); w != nil && w.InRecords == workload.Unknown && w.SpilledRecords == workload.Unknown {
				r.attemptCounters(line, t, w)
			}
		}
	}
}

func (r *mrv1Reader) attemptCounters(line int, t *workload.HistoryTask, a *workload.HistoryAttempt) {
	all := countersOf(a)
	r.counters(line, "COUNTERS", func(name string, v int64) { takeCounter(&all, t.SlotKind(), name, v) })
	a.Counters, a.More = all.Counters, all.More
}

func (r *mrv1Reader) attemptRecord(line int) {
	b, t := r.taskOf(line)
	if b == nil {
		return
	}
	id := r.get("TASK_ATTEMPT_ID")
	_, reduceSlot, task, number, ok := attemptID(id)
	if !ok || reduceSlot != t.ReduceSlot || task != t.Number {
		r.c.problem(line, "TASK_ATTEMPT_ID = %.60q: want an attempt of %s: the record is dropped", id, taskName(b.job.ID, t))
		return
	}
	a := b.attempt(t, number)
	if a == nil {
		return
	}
	r.attemptFields(line, id, b, t, a)
	if shuffled := r.time(line, "SHUFFLE_FINISHED"); workload.Known(shuffled) {
		b.markShuffle(t, a, line, shuffled, r.time(line, "SORT_FINISHED"))
	}
}

func (r *mrv1Reader) attemptFields(line int, id string, b *jobBuilder, t *workload.HistoryTask, a *workload.HistoryAttempt) {
	for i := range r.fields {
		switch key := string(r.fields[i].key); key {
		case "START_TIME":
			start := r.time(line, key)
			if workload.Known(a.Start) && a.Start != start {
				r.c.problem(line, "%s starts twice: the first is kept", id)
				continue
			}
			a.Start = start
			b.mark(t, a, line)
		case "FINISH_TIME":
			a.Finish = r.time(line, key)
		case "TASK_STATUS":
			a.State = r.c.state(line, id, r.get(key))
		case "TRACKER_NAME":
			a.Tracker = r.c.intern(r.get(key))
		case "HTTP_PORT":
			a.HTTPPort = int(r.number(line, key))
		case "HOSTNAME":
			if rack, host := r.c.host(line, r.get(key)); host != "" {
				a.Rack, a.Node = rack, host
			}
		case "LOCALITY":
			a.Locality = statedLocality(r.get(key))
		case "AVATAAR":
			a.Speculative = r.get(key) == "SPECULATIVE"
		case "ERROR":
			a.Error = r.get(key)
		case "COUNTERS":
			r.attemptCounters(line, t, a)
		}
	}
}

// statedLocality reads LOCALITY of 1.x and MRv2. For other levels (node groups
// of 1.2) the split's hosts decide.
func statedLocality(s string) workload.Locality {
	if l := slices.Index(statedLocalities[:workload.NoLocality], s); l >= 0 {
		return workload.Locality(l)
	}
	return workload.NoLocality
}

// finish passes on the jobs of one file in the order of their first records.
func (r *mrv1Reader) finish() error {
	for _, b := range r.order {
		if r.c.full {
			return errAttempts
		}
		if err := b.finish(); err != nil {
			return err
		}
	}
	return nil
}
