package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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

const jhistMark = "Avro-Json"

// jhistEvent is one line. The type makes the record's name in event redundant.
type jhistEvent struct {
	Type  string `json:"type"`
	Event jhistRecord
}

// jhistRecord holds the fields of the records of Events.avpr that a history
// uses.
type jhistRecord struct {
	JobID        string     `json:"jobid"`
	JobName      string     `json:"jobName"`
	UserName     string     `json:"userName"`
	QueueName    string     `json:"jobQueueName"`
	WorkflowID   avroString `json:"workflowId"`
	WorkflowNode avroString `json:"workflowNodeName"`
	Adjacencies  avroString `json:"workflowAdjacencies"`
	Priority     string     `json:"priority"`
	JobStatus    string     `json:"jobStatus"`
	Diagnostics  avroString `json:"diagnostics"`
	SubmitTime   jsonNumber `json:"submitTime"`
	LaunchTime   jsonNumber `json:"launchTime"`
	TotalMaps    jsonNumber `json:"totalMaps"`
	TotalReduces jsonNumber `json:"totalReduces"`

	TaskID         string     `json:"taskid"`
	TaskType       string     `json:"taskType"`
	AttemptID      string     `json:"attemptId"`
	StartTime      jsonNumber `json:"startTime"`
	FinishTime     jsonNumber `json:"finishTime"`
	MapFinish      jsonNumber `json:"mapFinishTime"`
	ShuffleFinish  jsonNumber `json:"shuffleFinishTime"`
	SortFinish     jsonNumber `json:"sortFinishTime"`
	Status         string     `json:"status"`
	TaskStatus     string     `json:"taskStatus"`
	SplitLocations string     `json:"splitLocations"`
	TrackerName    string     `json:"trackerName"`
	HTTPPort       jsonNumber `json:"httpPort"`
	Locality       avroString `json:"locality"`
	Avataar        avroString `json:"avataar"`
	Hostname       string     `json:"hostname"`
	RackName       string     `json:"rackname"`
	Error          string     `json:"error"`

	FailedMaps     jsonNumber    `json:"failedMaps"`
	FailedReduces  jsonNumber    `json:"failedReduces"`
	Counters       jhistCounters `json:"counters"`
	TotalCounters  jhistCounters `json:"totalCounters"`
	MapCounters    jhistCounters `json:"mapCounters"`
	ReduceCounters jhistCounters `json:"reduceCounters"`

	ClockSplits   twelfths `json:"clockSplits"`
	CPUUsages     twelfths `json:"cpuUsages"`
	VMemKbytes    twelfths `json:"vMemKbytes"`
	PhysMemKbytes twelfths `json:"physMemKbytes"`
}

// avroString is a string, or the union of null and string in Avro's JSON.
type avroString string

func (s *avroString) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case '"':
		tok, err := dec.ReadToken()
		*s = avroString(tok.String())
		return err
	case '{':
		var union struct {
			String string `json:"string"`
		}
		err := json.UnmarshalDecode(dec, &union)
		*s = avroString(union.String)
		return err
	}
	return dec.SkipValue()
}

type jhistCounter struct {
	name  string
	value int64
}

// jhistCounters are the counters of Hadoop's own groups, of JhCounters or of
// its union with null.
type jhistCounters []jhistCounter

type jhistGroups struct {
	Groups []struct {
		Name   string `json:"name"`
		Counts []struct {
			Name  string     `json:"name"`
			Value jsonNumber `json:"value"`
		} `json:"counts"`
	} `json:"groups"`
	Union *jhistGroups `json:"org.apache.hadoop.mapreduce.jobhistory.JhCounters"`
}

func (c *jhistCounters) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var g jhistGroups
	if err := json.UnmarshalDecode(dec, &g); err != nil {
		return err
	}
	if g.Union != nil {
		g = *g.Union
	}
	for _, group := range g.Groups {
		if !frameworkGroup(group.Name) {
			continue
		}
		for _, n := range group.Counts {
			if n.Value.set {
				*c = append(*c, jhistCounter{n.Name, n.Value.v})
			}
		}
	}
	return nil
}

// UnmarshalJSONFrom reads {"type":...,"event":{"record name":{...}}}.
func (e *jhistEvent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return eachMember(dec, func(key string) error {
		switch key {
		case "type":
			return json.UnmarshalDecode(dec, &e.Type)
		case "event":
			return eachMember(dec, func(string) error { return json.UnmarshalDecode(dec, &e.Event) })
		}
		return dec.SkipValue()
	})
}

// errBinaryHistory rejects histories in Avro's binary form.
var errBinaryHistory = errors.New("binary Avro history: want the text form (set mapreduce.jobhistory.jhist.format=json, or print it with: mapred job -history -format json -outfile FILE)")

type jhistReader struct {
	c *collector
	b *jobBuilder // nil before the first event that names the job
}

func (c *collector) readJhist(s *source) error {
	in := &lines{r: s.Reader, max: c.limits.LineBytes, line: s.skipped}
	r := &jhistReader{c: c}
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
		var e jhistEvent
		if err := json.Unmarshal(line, &e, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
			c.problem(in.line, "the event is lost: %s", jsonCause(err))
			continue
		}
		r.event(&e, in.line)
		if c.full {
			return errAttempts
		}
	}
	if r.b == nil {
		c.problem(0, "no event names a job")
		return nil
	}
	return r.b.finish()
}

// job returns the builder; a file describes one job.
func (r *jhistReader) job(id string, line int) *jobBuilder {
	if r.b == nil {
		r.b = r.c.newJob(id, line)
	}
	if r.b.job.ID != id {
		r.c.problem(line, "event of %.60s in the history of %s: dropped", id, r.b.job.ID)
		return nil
	}
	return r.b
}

func (r *jhistReader) event(e *jhistEvent, line int) {
	ev := &e.Event
	switch {
	case e.Type == "AM_STARTED" || e.Type == "NORMALIZED_RESOURCE": // of the application master
	case strings.HasPrefix(e.Type, "JOB_"):
		if !strings.HasPrefix(ev.JobID, "job_") {
			r.c.problem(line, "%s: jobid = %.60q: want job_...: the event is dropped", e.Type, ev.JobID)
			return
		}
		if b := r.job(ev.JobID, line); b != nil {
			r.jobEvent(&b.job, e.Type, ev, line)
		}
	case strings.HasPrefix(e.Type, "TASK_") || strings.Contains(e.Type, "_ATTEMPT_"):
		r.taskEvent(e.Type, ev, line)
	default:
		r.c.problem(line, "event type %.60q is unknown: dropped", e.Type)
	}
}

func (r *jhistReader) jobEvent(j *workload.HistoryJob, kind string, ev *jhistRecord, line int) {
	c := r.c
	if ev.SubmitTime.set {
		j.Submit = c.unixMillis(line, "submitTime", ev.SubmitTime.v)
	}
	if ev.LaunchTime.set {
		j.Launch = c.unixMillis(line, "launchTime", ev.LaunchTime.v)
	}
	if ev.QueueName != "" {
		j.Queue = c.intern(ev.QueueName)
	}
	switch kind {
	case "JOB_SUBMITTED":
		j.Name, j.User = ev.JobName, c.intern(ev.UserName)
		j.Workflow = workload.Workflow{ID: string(ev.WorkflowID), Node: string(ev.WorkflowNode), Adjacencies: string(ev.Adjacencies)}
	case "JOB_INITED":
		j.Maps, j.Reduces = c.tasksAnnounced(line, "totalMaps", c.count(line, "totalMaps", ev.TotalMaps.orUnknown())),
			c.tasksAnnounced(line, "totalReduces", c.count(line, "totalReduces", ev.TotalReduces.orUnknown()))
	case "JOB_PRIORITY_CHANGED":
		c.priority(line, j, ev.Priority)
	case "JOB_FINISHED":
		j.Finish, j.Outcome = c.unixMillis(line, "finishTime", ev.FinishTime.orUnknown()), workload.Succeeded
		j.Totals.FailedMaps = c.count(line, "failedMaps", ev.FailedMaps.orUnknown())
		j.Totals.FailedReduces = c.count(line, "failedReduces", ev.FailedReduces.orUnknown())
		for _, n := range ev.TotalCounters {
			takeTotal(&j.Totals, n.name, n.value)
		}
		for _, n := range ev.MapCounters {
			takeCounter(&j.Totals.Map, workload.Map, n.name, n.value)
		}
		for _, n := range ev.ReduceCounters {
			takeCounter(&j.Totals.Reduce, workload.Reduce, n.name, n.value)
		}
	case "JOB_FAILED", "JOB_KILLED", "JOB_ERROR":
		j.Finish = c.unixMillis(line, "finishTime", ev.FinishTime.orUnknown())
		j.Outcome, j.Error = workload.Failed, string(ev.Diagnostics)
		if kind == "JOB_KILLED" || ev.JobStatus == "KILLED" {
			j.Outcome = workload.Killed
		}
	}
}

func (r *jhistReader) taskEvent(kind string, ev *jhistRecord, line int) {
	c := r.c
	job, reduceSlot, number, ok := taskID(ev.TaskID)
	if !ok {
		c.problem(line, "%s: taskid = %.60q: want task_..._m_000000: the event is dropped", kind, ev.TaskID)
		return
	}
	b := r.job("job_"+job, line)
	if b == nil {
		return
	}
	taskKind, ok := taskKinds[ev.TaskType]
	if !ok {
		if _, seen := b.tasks[taskKey{reduceSlot: reduceSlot, number: number}]; !seen {
			c.problem(line, "%s: %s: type %.40q is none of MAP, REDUCE: the event is dropped", kind, ev.TaskID, ev.TaskType)
			return
		}
	}
	t := b.task(taskKind, reduceSlot, number)
	switch kind {
	case "TASK_STARTED":
		t.Start = c.unixMillis(line, "startTime", ev.StartTime.orUnknown())
		c.replicas(line, t, ev.SplitLocations, ",")
	case "TASK_FINISHED", "TASK_FAILED":
		t.Finish = c.unixMillis(line, "finishTime", ev.FinishTime.orUnknown())
		t.State = c.state(line, ev.TaskID, ev.Status)
	case "TASK_UPDATED":
		t.Finish = c.unixMillis(line, "finishTime", ev.FinishTime.orUnknown())
	default:
		r.attemptEvent(b, t, kind, ev, line)
	}
}

func (r *jhistReader) attemptEvent(b *jobBuilder, t *workload.HistoryTask, kind string, ev *jhistRecord, line int) {
	c := r.c
	_, reduceSlot, task, number, ok := attemptID(ev.AttemptID)
	if !ok || reduceSlot != t.ReduceSlot || task != t.Number {
		c.problem(line, "%s: attemptId = %.60q: want an attempt of %s: the event is dropped", kind, ev.AttemptID, ev.TaskID)
		return
	}
	a := b.attempt(t, number)
	if a == nil {
		return
	}
	if strings.HasSuffix(kind, "_STARTED") {
		start := c.unixMillis(line, "startTime", ev.StartTime.orUnknown())
		if workload.Known(a.Start) && a.Start != start {
			c.problem(line, "%s starts twice: the first is kept", ev.AttemptID)
			return
		}
		a.Start = start
		a.Tracker, a.HTTPPort = c.intern(ev.TrackerName), int(c.count(line, "httpPort", ev.HTTPPort.orUnknown()))
		a.Locality = statedLocality(string(ev.Locality))
		a.Speculative = ev.Avataar == "SPECULATIVE"
		b.mark(t, a, line)
		return
	}
	a.Finish = c.unixMillis(line, "finishTime", ev.FinishTime.orUnknown())
	a.Rack, a.Node = c.place(line, strings.Trim(ev.RackName, "/"), ev.Hostname)
	a.Error = ev.Error
	if s := ev.TaskStatus + ev.Status; s != "" { // a record has one of the two
		a.State = c.state(line, ev.AttemptID, s)
	}
	all := countersOf(a)
	for _, n := range ev.Counters {
		takeCounter(&all, t.SlotKind(), n.name, n.value)
	}
	a.Counters, a.More = all.Counters, all.More
	if len(ev.ClockSplits)+len(ev.CPUUsages)+len(ev.VMemKbytes)+len(ev.PhysMemKbytes) > 0 {
		a.Progress = &workload.ProgressSplits{Clock: ev.ClockSplits, CPU: ev.CPUUsages, VMem: ev.VMemKbytes, PhysMem: ev.PhysMemKbytes}
	}
	if t.ReduceSlot {
		b.markShuffle(t, a, line, c.unixMillis(line, "shuffleFinishTime", ev.ShuffleFinish.orUnknown()),
			c.unixMillis(line, "sortFinishTime", ev.SortFinish.orUnknown()))
	} else {
		b.markMap(t, a, line, c.unixMillis(line, "mapFinishTime", ev.MapFinish.orUnknown()))
	}
}

// jsonNumber is a JSON number that may be absent, null or -1: all unknown.
type jsonNumber struct {
	v   int64
	set bool
}

func (n *jsonNumber) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch raw.Kind() {
	case 'n':
		return nil
	case '0':
		n.v, err = wholeNumber(raw)
		n.set = err == nil
		return err
	}
	return fmt.Errorf("%.40s: want a number", raw)
}

func (n jsonNumber) orUnknown() int64 {
	if !n.set {
		return workload.Unknown
	}
	return n.v
}

// twelfths are samples, one for each twelfth of progress.
type twelfths []int64

func (s *twelfths) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*s = make(twelfths, 0, 12)
	return eachItem(dec, func() error {
		var n jsonNumber
		err := n.UnmarshalJSONFrom(dec)
		*s = append(*s, n.orUnknown())
		return err
	})
}

// eachItem calls f for each item of a short list; null counts as empty.
func eachItem(dec *jsontext.Decoder, f func() error) error {
	tok, err := dec.ReadToken()
	if err != nil || tok.Kind() == 'n' {
		return err
	}
	if tok.Kind() != '[' {
		return fmt.Errorf("want a list")
	}
	for n := 0; dec.PeekKind() != ']'; n++ {
		if n == maxAttemptsOfTask {
			return fmt.Errorf("a list of more than %d items", maxAttemptsOfTask)
		}
		if err := f(); err != nil {
			return err
		}
	}
	_, err = dec.ReadToken()
	return err
}

// jsonCause returns the core of an error of the JSON decoder.
func jsonCause(err error) string {
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return syntactic.Err.Error()
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		if semantic.Err != nil {
			return fmt.Sprintf("%s: %v", semantic.JSONPointer, semantic.Err)
		}
		return fmt.Sprintf("%s: %v is not allowed here", semantic.JSONPointer, semantic.JSONKind)
	}
	return err.Error()
}

// eachMember reads the next object. It calls f with the name of each member; f
// reads the value. null counts as an empty object.
func eachMember(dec *jsontext.Decoder, f func(key string) error) error {
	tok, err := dec.ReadToken()
	if err != nil || tok.Kind() == 'n' {
		return err
	}
	if tok.Kind() != '{' {
		return fmt.Errorf("want an object")
	}
	for dec.PeekKind() != '}' {
		key, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if err := f(key.String()); err != nil {
			return err
		}
	}
	_, err = dec.ReadToken()
	return err
}
