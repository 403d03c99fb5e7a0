package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// The schema of MRv2 events follows Events.avpr of Hadoop 2.5: its records in
// order, with the fields of each. A type ending in ? is a union with null. Null
// is its default unless ! follows.
const (
	eventNamespace = "org.apache.hadoop.mapreduce.jobhistory"
	splitsFields   = "clockSplits []int,cpuUsages []int,vMemKbytes []int,physMemKbytes []int"
)

var eventTypes = func() []string {
	types := []string{
		"JOB_SUBMITTED", "JOB_INITED", "JOB_FINISHED", "JOB_PRIORITY_CHANGED", "JOB_STATUS_CHANGED", "JOB_QUEUE_CHANGED",
		"JOB_FAILED", "JOB_KILLED", "JOB_ERROR", "JOB_INFO_CHANGED",
		"TASK_STARTED", "TASK_FINISHED", "TASK_FAILED", "TASK_UPDATED", "NORMALIZED_RESOURCE",
	}
	for _, kind := range []string{"MAP", "REDUCE", "SETUP", "CLEANUP"} {
		for _, end := range []string{"STARTED", "FINISHED", "FAILED", "KILLED"} {
			types = append(types, kind+"_ATTEMPT_"+end)
		}
	}
	return append(types, "AM_STARTED")
}()

var eventRecords = []struct{ name, fields string }{
	{"JobFinished", "jobid string,finishTime long,finishedMaps int,finishedReduces int,failedMaps int,failedReduces int," +
		"totalCounters JhCounters,mapCounters JhCounters,reduceCounters JhCounters"},
	{"JobInfoChange", "jobid string,submitTime long,launchTime long"},
	{"JobInited", "jobid string,launchTime long,totalMaps int,totalReduces int,jobStatus string,uberized boolean"},
	{"AMStarted", "applicationAttemptId string,startTime long,containerId string,nodeManagerHost string,nodeManagerPort int,nodeManagerHttpPort int"},
	{"JobPriorityChange", "jobid string,priority string"},
	{"JobQueueChange", "jobid string,jobQueueName string"},
	{"JobStatusChanged", "jobid string,jobStatus string"},
	{"JobSubmitted", "jobid string,jobName string,userName string,submitTime long,jobConfPath string,acls {}string,jobQueueName string," +
		"workflowId string?,workflowName string?,workflowNodeName string?,workflowAdjacencies string?,workflowTags string?"},
	{"JobUnsuccessfulCompletion", "jobid string,finishTime long,finishedMaps int,finishedReduces int,jobStatus string,diagnostics string?"},
	{"MapAttemptFinished", "taskid string,attemptId string,taskType string,taskStatus string,mapFinishTime long,finishTime long," +
		"hostname string,port int,rackname string,state string,counters JhCounters," + splitsFields},
	{"ReduceAttemptFinished", "taskid string,attemptId string,taskType string,taskStatus string,shuffleFinishTime long,sortFinishTime long,finishTime long," +
		"hostname string,port int,rackname string,state string,counters JhCounters," + splitsFields},
	{"TaskAttemptFinished", "taskid string,attemptId string,taskType string,taskStatus string,finishTime long,rackname string,hostname string,state string,counters JhCounters"},
	{"TaskAttemptStarted", "taskid string,taskType string,attemptId string,startTime long,trackerName string,httpPort int,shufflePort int,containerId string," +
		"locality string?,avataar string?"},
	{"TaskAttemptUnsuccessfulCompletion", "taskid string,taskType string,attemptId string,finishTime long,hostname string,port int,rackname string," +
		"status string,error string,counters JhCounters?," + splitsFields},
	{"TaskFailed", "taskid string,taskType string,finishTime long,error string,failedDueToAttempt string?!,status string,counters JhCounters?"},
	{"TaskFinished", "taskid string,taskType string,finishTime long,status string,counters JhCounters,successfulAttemptId string?"},
	{"TaskStarted", "taskid string,taskType string,startTime long,splitLocations string"},
	{"TaskUpdated", "taskid string,finishTime long"},
}

// eventSchema returns the schema as Avro prints it: a named type is complete at
// its first occurrence.
func eventSchema() string {
	record := func(name string, fields ...any) any {
		return object{"type", "record", "name", name, "fields", list(fields)}
	}
	field := func(name string, kind any) any { return object{"name", name, "type", kind} }
	array := func(of any) any { return object{"type", "array", "items", of} }
	counter := record("JhCounter", field("name", "string"), field("displayName", "string"), field("value", "long"))
	group := record("JhCounterGroup", field("name", "string"), field("displayName", "string"), field("counts", array(counter)))
	counters := record("JhCounters", field("name", "string"), field("groups", array(group)))
	typed := func(t string) any {
		switch {
		case t == "JhCounters":
			whole := counters
			counters = t
			return whole
		case strings.HasPrefix(t, "[]"):
			return array(t[2:])
		case strings.HasPrefix(t, "{}"):
			return object{"type", "map", "values", t[2:]}
		}
		return t
	}
	var events list
	for _, r := range eventRecords {
		var fields list
		for _, f := range strings.Split(r.fields, ",") {
			fields = append(fields, eventField(f, typed))
		}
		events = append(events, record(r.name, fields...))
	}
	var b bytes.Buffer
	newJSONWriter(&b).write(object{"type", "record", "name", "Event", "namespace", eventNamespace, "fields", list{
		field("type", object{"type", "enum", "name", "EventType", "symbols", eventTypes}), field("event", events),
	}})
	return strings.TrimSuffix(b.String(), "\n")
}

// eventField is a field as eventRecords state it: its name and type, with ?
// where it may be null and ! where that is not the default.
func eventField(f string, typed func(string) any) object {
	name, t, _ := strings.Cut(f, " ")
	base, noDefault := strings.CutSuffix(t, "!")
	base, optional := strings.CutSuffix(base, "?")
	switch {
	case !optional:
		return object{"name", name, "type", typed(base)}
	case noDefault:
		return object{"name", name, "type", list{"null", typed(base)}}
	}
	return object{"name", name, "type", list{"null", typed(base)}, "default", nil}
}

// writeJhist writes the job as an MRv2 job history in text form.
func (f *jobFile) writeJhist(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s\n%s\n", jhistMark, eventSchema())
	jw := jhistWriter{exporter: f.e, jsonWriter: newJSONWriter(out), job: f.job, id: f.ID, given: numbers(f.job), out: out, containers: 1}
	jw.events()
	if jw.err != nil {
		return jw.err
	}
	return out.Flush()
}

type jhistWriter struct {
	*exporter
	*jsonWriter
	job   *workload.HistoryJob
	id    string
	given map[*workload.HistoryTask]int
	out   *bufio.Writer
	// Hadoop's parser requires container ids; the first container of an
	// application is its master's.
	containers int
}

// event writes one event. The values are in the order of the record's fields.
// An optional text is a pointer: nil is null.
func (w *jhistWriter) event(kind, record string, values ...any) {
	r := slices.IndexFunc(eventRecords, func(r struct{ name, fields string }) bool { return r.name == record })
	fields := strings.Split(eventRecords[r].fields, ",")
	if len(fields) != len(values) {
		panic("workload: " + record + ": wrong number of values")
	}
	var members object
	for i, f := range fields {
		name, kind, _ := strings.Cut(f, " ")
		value := values[i]
		switch v := value.(type) {
		case int64:
			if kind == "int" {
				value = asInt(v)
			}
		case *string:
			if value = nil; v != nil {
				value = object{"string", *v}
			}
		}
		members = append(members, name, value)
	}
	w.write(object{"type", kind, "event", object{eventNamespace + "." + record, members}})
	if w.err == nil {
		w.err = w.out.WriteByte('\n') // an empty line between events, as Hadoop has it
	}
}

// jhCounters returns counters as JhCounters; whole are those of a job, nil: they are of
// tasks.
func jhCounters(name string, of counterSource, whole *workload.JobTotals) object {
	const hadoop = "org.apache.hadoop.mapreduce."
	groups := []counterGroup{grouped(hadoop+"FileSystemCounter", "File System Counters", fileSystemCounters, mrv2, of)}
	if whole != nil {
		groups = append(groups, ofWhole(hadoop+"JobCounter", whole))
	}
	groups = append(groups, grouped(hadoop+"TaskCounter", "Map-Reduce Framework", taskCounters, mrv2, of))
	if whole == nil {
		groups = append(groups,
			grouped(hadoop+"lib.input.FileInputFormatCounter", "File Input Format Counters ", formatCounters[:1], mrv2, of),
			grouped(hadoop+"lib.output.FileOutputFormatCounter", "File Output Format Counters ", formatCounters[1:], mrv2, of))
	}
	shown := list{}
	for _, g := range groups {
		var counts list
		for _, n := range g.counts {
			counts = append(counts, object{"name", n.name, "displayName", n.display, "value", n.v})
		}
		if counts != nil {
			shown = append(shown, object{"name", g.name, "displayName", g.display, "counts", counts})
		}
	}
	return object{"name", name, "groups", shown}
}

// timedEvent is an event of a task with its position in the file.
type timedEvent struct {
	at    time.Duration
	write func()
}

func (w *jhistWriter) events() {
	j := w.job
	none := (*string)(nil)
	w.event("JOB_SUBMITTED", "JobSubmitted", w.id, j.Name, j.User, w.millis(j.Submit), "", object{},
		cmp.Or(j.Queue, "default"), none, none, none, none, none)
	if j.Priority != workload.Normal {
		w.event("JOB_PRIORITY_CHANGED", "JobPriorityChange", w.id, j.Priority.String())
	}
	w.event("JOB_INITED", "JobInited", w.id, w.millis(j.Launch), int64(j.Maps), int64(j.Reduces), "INITED", false)
	w.event("JOB_INFO_CHANGED", "JobInfoChange", w.id, w.millis(j.Submit), w.millis(j.Launch))
	var all []timedEvent
	finished := [2]int64{}
	for _, t := range recorded(j) {
		all = append(all, w.taskEvents(t)...)
		if t.Kind <= workload.Reduce && t.State == workload.Succeeded {
			finished[t.Kind]++
		}
	}
	slices.SortStableFunc(all, func(a, b timedEvent) int { return cmp.Compare(a.at, b.at) })
	for _, e := range all {
		e.write()
	}
	failed := [2]int64{j.Totals.FailedMaps, j.Totals.FailedReduces}
	switch j.Outcome {
	case workload.Succeeded:
		w.event("JOB_FINISHED", "JobFinished", w.id, w.millis(j.Finish), finished[workload.Map], finished[workload.Reduce], failed[workload.Map], failed[workload.Reduce],
			jhCounters("TOTAL_COUNTERS", ofJob(&j.Totals), &j.Totals), jhCounters("MAP_COUNTERS", ofKind(&j.Totals.Map, workload.Map), nil),
			jhCounters("REDUCE_COUNTERS", ofKind(&j.Totals.Reduce, workload.Reduce), nil))
	case workload.Failed, workload.Killed:
		why := &j.Error
		w.event("JOB_"+j.Outcome.String(), "JobUnsuccessfulCompletion", w.id, w.millis(j.Finish), finished[workload.Map], finished[workload.Reduce], j.Outcome.String(), why)
	}
}

// taskType2 names kinds as MRv2 does (TaskType).
var taskType2 = [...]string{"MAP", "REDUCE", "JOB_SETUP", "JOB_CLEANUP", "TASK_CLEANUP"}

// attemptEvent returns the beginning of an attempt's event. Hadoop takes it
// from the letter of the id. Set-up and clean-up have events of maps or reduces
// with their own kind of task.
func attemptEvent(t *workload.HistoryTask) string {
	if t.ReduceSlot {
		return "REDUCE_ATTEMPT_"
	}
	return "MAP_ATTEMPT_"
}

// taskEvents lists the events of a task. A parser needs the start of a task
// before those of its attempts, and their starts before their ends, whatever
// the recorded times.
func (w *jhistWriter) taskEvents(t *workload.HistoryTask) []timedEvent {
	id := fmt.Sprintf("%s_%c_%06d", bareID(w.id), slotLetter(t.ReduceSlot), w.given[t])
	task, kind := "task_"+id, taskType2[t.Kind]
	began, finish := taskTimes(t)
	events := []timedEvent{{began, func() {
		w.event("TASK_STARTED", "TaskStarted", task, kind, w.millis(began), strings.Join(t.Split.Hosts, ","))
	}}}
	last := began
	for i := range t.Attempts {
		a := &t.Attempts[i]
		name := fmt.Sprintf("attempt_%s_%d", id, a.Number)
		start := max(began, a.Start)
		events = append(events, timedEvent{start, func() { w.attemptStarted(a, t, task, name) }})
		if a.State != workload.Running {
			last = max(last, start, a.Finish)
			events = append(events, timedEvent{max(start, a.Finish), func() { w.attemptEnded(a, t, task, name) }})
		}
	}
	ends := timedEvent{max(last, t.Finish), nil}
	switch t.State {
	case workload.Succeeded:
		ends.write = func() {
			var winner *string
			counters := counterSource(uncounted)
			if a := t.Winner(); a != nil {
				name := fmt.Sprintf("attempt_%s_%d", id, a.Number)
				winner, counters = &name, ofAttempt(a, t)
			}
			w.event("TASK_FINISHED", "TaskFinished", task, kind, w.millis(finish), "SUCCEEDED", jhCounters("COUNTERS", counters, nil), winner)
		}
	case workload.Failed, workload.Killed:
		ends.write = func() {
			var culprit *string
			why := ""
			if a := failedDueTo(t); a != nil {
				name := fmt.Sprintf("attempt_%s_%d", id, a.Number)
				culprit, why = &name, a.Error
			}
			w.event("TASK_FAILED", "TaskFailed", task, kind, w.millis(finish), why, culprit, t.State.String(), unionOf(jhCounters("COUNTERS", uncounted, nil)))
		}
	default:
		return events
	}
	return append(events, ends)
}

func (w *jhistWriter) attemptStarted(a *workload.HistoryAttempt, t *workload.HistoryTask, task, name string) {
	var locality, avataar *string
	if s := statedLocalities[a.Locality]; s != "" {
		locality = &s
	}
	if a.Speculative {
		s := "SPECULATIVE"
		avataar = &s
	}
	w.containers++
	w.event(attemptEvent(t)+"STARTED", "TaskAttemptStarted", task, taskType2[t.Kind], name, w.millis(a.Start),
		cmp.Or(a.Tracker, a.Node), int64(a.HTTPPort), int64(workload.Unknown), fmt.Sprintf("container_%s_01_%06d", bareID(w.id), w.containers), locality, avataar)
}

func (w *jhistWriter) attemptEnded(a *workload.HistoryAttempt, t *workload.HistoryTask, task, name string) {
	kind, rack := taskType2[t.Kind], ""
	if a.Rack != "" {
		rack = "/" + a.Rack
	}
	counters := jhCounters("COUNTERS", ofAttempt(a, t), nil)
	mapped, shuffled, sorted := marksOf(a, t.ReduceSlot)
	switch {
	case a.State != workload.Succeeded:
		w.event(attemptEvent(t)+a.State.String(), "TaskAttemptUnsuccessfulCompletion", task, kind, name, w.millis(a.Finish), a.Node, int64(workload.Unknown), rack,
			a.State.String(), a.Error, unionOf(counters), list{}, list{}, list{}, list{})
	case !t.ReduceSlot:
		w.event("MAP_ATTEMPT_FINISHED", "MapAttemptFinished", task, name, kind, "SUCCEEDED", w.millis(mapped), w.millis(a.Finish), a.Node, int64(workload.Unknown), rack,
			"", counters, list{}, list{}, list{}, list{})
	default:
		w.event("REDUCE_ATTEMPT_FINISHED", "ReduceAttemptFinished", task, name, kind, "SUCCEEDED", w.millis(shuffled), w.millis(sorted), w.millis(a.Finish), a.Node,
			int64(workload.Unknown), rack, "", counters, list{}, list{}, list{}, list{})
	}
}

// unionOf returns counters where the schema also allows null.
func unionOf(counters object) object { return object{eventNamespace + ".JhCounters", counters} }

const jhistMark = "Avro-Json"
