package trace

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/workload"
)

// The MRv2 job history (org.apache.hadoop.mapreduce.jobhistory, EventWriter) is
// read in its text form: the line Avro-Json, the schema, then one event a line.

var jhistFormat = Format{
	Name: "jhist", About: "job history of MRv2 (.jhist), text form",
	Files:  "JOBID.jhist and JOBID_conf.xml of each job",
	detect: detection{begins: func(text []byte) bool { return bytes.HasPrefix(text, []byte(jhistMark)) }},
	read:   (*collector).readJhist,
	write: func(h *workload.History) (Output, error) {
		return perJob(h, (*jobFile).jhistName, (*jobFile).confName, (*jobFile).writeJhist), nil
	},
}

// jhistReader takes the fields of events for those of records of MRv1.
type jhistReader struct {
	mrv1Reader
	b    *jobBuilder // nil before the first event that names the job
	in   jsonScanner
	kind string // of the present event
	text []byte // of its values
}

// jhistKeys are the fields of the records of Events.avpr that a history uses, with the
// keys of MRv1 that mean the same. Those without one have their own name. jhistNumbers
// are those that are numbers.
var (
	jhistKeys = jhistFields("jobid JOBID", "jobName JOBNAME", "userName USER", "jobQueueName JOB_QUEUE", "priority JOB_PRIORITY",
		"workflowId WORKFLOW_ID", "workflowNodeName WORKFLOW_NODE_NAME", "workflowAdjacencies WORKFLOW_ADJACENCIES",
		"jobStatus jobStatus", "diagnostics FAIL_REASON", "taskid TASKID", "taskType TASK_TYPE", "attemptId TASK_ATTEMPT_ID",
		"status TASK_STATUS", "taskStatus TASK_STATUS", "splitLocations SPLITS", "trackerName TRACKER_NAME", "locality LOCALITY", "avataar AVATAAR",
		"hostname hostname", "rackname rackname", "error ERROR",
		"counters COUNTERS", "totalCounters COUNTERS", "mapCounters MAP_COUNTERS", "reduceCounters REDUCE_COUNTERS")
	jhistNumbers = jhistFields("submitTime SUBMIT_TIME", "launchTime LAUNCH_TIME", "startTime START_TIME", "finishTime FINISH_TIME",
		"mapFinishTime mapFinishTime", "shuffleFinishTime SHUFFLE_FINISHED", "sortFinishTime SORT_FINISHED",
		"totalMaps TOTAL_MAPS", "totalReduces TOTAL_REDUCES", "failedMaps FAILED_MAPS", "failedReduces FAILED_REDUCES", "httpPort HTTP_PORT")
)

func jhistFields(fields ...string) map[string][]byte {
	keys := map[string][]byte{}
	for _, f := range fields {
		name, key, _ := strings.Cut(f, " ")
		keys[name] = []byte(key)
	}
	return keys
}

// read reads {"type":...,"event":{"record name":{...}}}.
func (r *jhistReader) read(line []byte) error {
	r.kind, r.fields, r.text = "", r.fields[:0], r.text[:0]
	clear(r.counted)
	return r.in.only(line, func(name []byte) error {
		switch string(name) {
		case "type":
			return r.c.text(&r.in, &r.kind)
		case "event":
			return r.in.object(func([]byte) error { return r.in.object(r.member) })
		}
		return r.in.skip()
	})
}

// member reads a field of a record.
func (r *jhistReader) member(name []byte) error {
	text, isText := jhistKeys[string(name)]
	number, isNumber := jhistNumbers[string(name)]
	field, from := mrv1Field{name: r.c.internBytes(name)}, len(r.text)
	some, err := true, error(nil)
	switch {
	case isNumber:
		v := int64(0)
		v, some, err = r.number()
		field.key, r.text = number, strconv.AppendInt(r.text, v, 10)
	case !isText:
		return r.in.skip()
	case bytes.HasSuffix(text, []byte("COUNTERS")):
		field.key = text
		err = r.groups(string(text))
	default:
		field.key = text
		some, err = r.value()
	}
	if field.value = r.text[from:]; some {
		r.fields = append(r.fields, field)
	}
	return err
}

// number reads a number; null is none.
func (r *jhistReader) number() (v int64, some bool, err error) {
	raw, err := r.in.dec.ReadValue()
	if err != nil {
		return 0, false, r.in.plain(err)
	}
	switch raw.Kind() {
	case 'n':
		return 0, false, nil
	case '0':
		v, err = wholeNumber(raw)
	default:
		err = fmt.Errorf("%.40s: want a number", raw)
	}
	if err != nil {
		return 0, false, fmt.Errorf("%s: %w", r.in.dec.StackPointer(), err)
	}
	return v, true, nil
}

// value reads a text, or the union of one and null in Avro's JSON; null is none.
func (r *jhistReader) value() (some bool, err error) {
	if r.in.dec.PeekKind() == '{' {
		err = r.in.object(func([]byte) (err error) { some, err = r.value(); return err })
		return some, err
	}
	text, err := r.in.string()
	r.text = append(r.text, text...)
	return text != nil, err
}

// groups reads the counters of Hadoop's own groups, of JhCounters or of its union with
// null.
func (r *jhistReader) groups(key string) error {
	return r.in.object(func(name []byte) error {
		switch string(name) {
		case "org.apache.hadoop.mapreduce.jobhistory.JhCounters":
			return r.groups(key)
		case "groups":
			return r.in.list(func() error { return r.group(key) })
		}
		return r.in.skip()
	})
}

func (r *jhistReader) group(key string) error {
	var group string
	before := len(r.counted[key])
	err := r.in.object(func(name []byte) error {
		switch string(name) {
		case "name":
			return r.c.text(&r.in, &group)
		case "counts":
			return r.in.list(func() error { return r.count(key) })
		}
		return r.in.skip()
	})
	if !frameworkGroup(group) {
		r.counted[key] = r.counted[key][:before]
	}
	return err
}

func (r *jhistReader) count(key string) error {
	var n countOf
	some := false
	err := r.in.object(func(name []byte) (err error) {
		switch string(name) {
		case "name":
			return r.c.text(&r.in, &n.name)
		case "value":
			n.value, some, err = r.number()
			return err
		}
		return r.in.skip()
	})
	if some {
		r.counted[key] = append(r.counted[key], n)
	}
	return err
}

func (c *collector) readJhist(s *source) error {
	in := &lines{r: s.Reader, max: c.limits.LineBytes, line: s.skipped}
	r := &jhistReader{mrv1Reader: mrv1Reader{c: c, counted: map[string][]countOf{}}}
	for {
		line, err := in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return atLine(in.line, err)
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || string(line) == jhistMark || bytes.HasPrefix(line, []byte(`{"type":"record"`)) {
			continue
		}
		if err := r.read(line); err != nil {
			c.problem(in.line, "the event is lost: %v", err)
			continue
		}
		r.event(in.line)
		if c.full {
			return errAttempts
		}
	}
	switch {
	case r.kind == "":
		c.problem(in.line, "the file ends before its first event: want the whole file")
		return nil
	case r.b == nil:
		c.problem(0, "no event names a job")
		return nil
	}
	return r.b.finish()
}

// of returns the builder if an event is of its job; a file describes one job.
func (r *jhistReader) of(id string, line int) *jobBuilder {
	if r.b == nil {
		r.b = r.c.newJob(id, line)
	}
	if r.b.job.ID != id {
		r.c.problem(line, "event of %.60s in the history of %s: dropped", id, r.b.job.ID)
		return nil
	}
	return r.b
}

func (r *jhistReader) event(line int) {
	switch {
	case r.kind == "AM_STARTED" || r.kind == "NORMALIZED_RESOURCE": // of the application master
	case strings.HasPrefix(r.kind, "JOB_"):
		id := r.get("JOBID")
		if !strings.HasPrefix(id, "job_") {
			r.c.problem(line, "%s: jobid = %.60q: want job_...: the event is dropped", r.kind, id)
			return
		}
		b := r.of(id, line)
		if b == nil {
			return
		}
		r.jobFields(line, &b.job)
		switch r.kind {
		case "JOB_FINISHED":
			b.job.Outcome = workload.Succeeded
		case "JOB_FAILED", "JOB_KILLED", "JOB_ERROR":
			b.job.Outcome = workload.Failed
			if r.kind == "JOB_KILLED" || r.get("jobStatus") == "KILLED" {
				b.job.Outcome = workload.Killed
			}
		}
	case strings.HasPrefix(r.kind, "TASK_") || strings.Contains(r.kind, "_ATTEMPT_"):
		r.taskEvent(line)
	default:
		r.c.problem(line, "event type %.60q is unknown: dropped", r.kind)
	}
}

func (r *jhistReader) taskEvent(line int) {
	c, id := r.c, r.get("TASKID")
	job, reduceSlot, number, ok := taskID(id)
	if !ok {
		c.problem(line, "%s: taskid = %.60q: want task_..._m_000000: the event is dropped", r.kind, id)
		return
	}
	b := r.of("job_"+job, line)
	if b == nil {
		return
	}
	taskKind, ok := taskKinds[r.get("TASK_TYPE")]
	if !ok {
		if _, seen := b.tasks[taskKey{reduceSlot: reduceSlot, number: number}]; !seen {
			c.problem(line, "%s: %s: type %.40q is none of MAP, REDUCE: the event is dropped", r.kind, id, r.get("TASK_TYPE"))
			return
		}
	}
	t := b.task(taskKind, reduceSlot, number)
	if strings.HasPrefix(r.kind, "TASK_") {
		r.fields = slices.DeleteFunc(r.fields, func(f mrv1Field) bool { return string(f.key) == "COUNTERS" }) // those of its attempt
		r.taskFields(line, id, t)
		return
	}
	r.attemptEvent(b, t, line)
}

func (r *jhistReader) attemptEvent(b *jobBuilder, t *workload.HistoryTask, line int) {
	id := r.get("TASK_ATTEMPT_ID")
	_, reduceSlot, task, number, ok := attemptID(id)
	if !ok || reduceSlot != t.ReduceSlot || task != t.Number {
		r.c.problem(line, "%s: attemptId = %.60q: want an attempt of %s: the event is dropped", r.kind, id, r.get("TASKID"))
		return
	}
	a := b.attempt(t, number)
	if a == nil {
		return
	}
	r.attemptFields(line, id, b, t, a)
	if strings.HasSuffix(r.kind, "_STARTED") {
		return
	}
	a.Rack, a.Node = r.c.place(line, strings.Trim(r.get("rackname"), "/"), r.get("hostname"))
	if t.ReduceSlot {
		b.markShuffle(t, a, line, r.time(line, "SHUFFLE_FINISHED"), r.time(line, "SORT_FINISHED"))
	} else {
		b.markMap(t, a, line, r.time(line, "mapFinishTime"))
	}
}
