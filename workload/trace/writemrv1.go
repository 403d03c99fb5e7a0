package trace

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// writeMRv1 writes the job as a job history of Hadoop 1.x (JobHistory).
func (f *jobFile) writeMRv1(w io.Writer) error {
	out := mrv1Writer{exporter: f.e, out: bufio.NewWriter(w), id: f.ID, unknown: laterKeys[f.e.h.Release]}
	out.job(f.job)
	return out.out.Flush()
}

type mrv1Writer struct {
	*exporter
	out     *bufio.Writer
	id      string
	unknown map[string]bool // keys that the release's own parser rejects
}

// laterKeys are the keys (JobHistory.Keys) that were added after each release.
var laterKeys = map[string]map[string]bool{
	"0.20.2": {
		"MAP_COUNTERS": true, "REDUCE_COUNTERS": true, "VIEW_JOB": true, "MODIFY_JOB": true, "JOB_QUEUE": true,
		"LOCALITY": true, "AVATAAR": true, "FAIL_REASON": true,
	},
	"1.0.4": {"LOCALITY": true, "AVATAAR": true, "FAIL_REASON": true},
}

// lostInMRv1 counts the maps whose locality is lost: the release has no key for
// it, and the machines with their input, from which it follows, are not known.
func lostInMRv1(h *workload.History) []workload.Problem {
	if !laterKeys[h.Release]["LOCALITY"] {
		return nil
	}
	n := 0
	for _, t := range h.Tasks() {
		if t.Kind == workload.Map && len(t.Split.Hosts) == 0 && t.Winner() != nil && t.Winner().Locality != workload.NoLocality {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []workload.Problem{{File: "history", What: fmt.Sprintf("locality of %s left out: histories of %s have no key for it (jhist has)", workload.Counted(n, "map", "maps"), h.Release)}}
}

var mrv1Escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `=`, `\=`, `.`, `\.`)

// record writes one record of keys and values. It leaves out values equal to
// omit.
func (w *mrv1Writer) record(kind string, pairs ...string) {
	w.out.WriteString(kind)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == omit || w.unknown[pairs[i]] {
			continue
		}
		fmt.Fprintf(w.out, ` %s="%s"`, pairs[i], mrv1Escapes.Replace(pairs[i+1]))
	}
	w.out.WriteString(" .\n")
}

// omit is the value of an unknown number: Hadoop's parser accepts only whole
// numbers.
const omit = "\x00"

func known(v int64) string {
	if v == workload.Unknown {
		return omit
	}
	return strconv.FormatInt(v, 10)
}

func (w *mrv1Writer) job(j *workload.HistoryJob) {
	w.record("Meta", "VERSION", "1")
	w.record("Job", "JOBID", w.id, "JOBNAME", j.Name, "USER", j.User, "SUBMIT_TIME", known(w.millis(j.Submit)), "JOBCONF", "",
		"VIEW_JOB", "*", "MODIFY_JOB", "*", "JOB_QUEUE", j.Queue)
	w.record("Job", "JOBID", w.id, "JOB_PRIORITY", j.Priority.String())
	w.record("Job", "JOBID", w.id, "LAUNCH_TIME", known(w.millis(j.Launch)), "TOTAL_MAPS", known(int64(j.Maps)),
		"TOTAL_REDUCES", known(int64(j.Reduces)), "JOB_STATUS", "PREP")
	w.record("Job", "JOBID", w.id, "JOB_STATUS", "RUNNING")
	given := numbers(j)
	finished := [2]int{}
	for _, t := range recorded(j) {
		w.task(t, given[t])
		if t.Kind <= workload.Reduce && t.State == workload.Succeeded {
			finished[t.Kind]++
		}
	}
	end := []string{"JOBID", w.id, "FINISH_TIME", known(w.millis(j.Finish)), "JOB_STATUS", endedAs(j.Outcome),
		"FINISHED_MAPS", strconv.Itoa(finished[workload.Map]), "FINISHED_REDUCES", strconv.Itoa(finished[workload.Reduce])}
	switch j.Outcome {
	case workload.Succeeded:
		t := &j.Totals
		end = append(end, "FAILED_MAPS", known(orFailed(t.FailedMaps, j, workload.Map)), "FAILED_REDUCES", known(orFailed(t.FailedReduces, j, workload.Reduce)),
			"MAP_COUNTERS", mrv1Counters(ofKind(&t.Map, workload.Map), nil), "REDUCE_COUNTERS", mrv1Counters(ofKind(&t.Reduce, workload.Reduce), nil),
			"COUNTERS", mrv1Counters(ofJob(t), t))
	case workload.Failed, workload.Killed:
		end = append(end, "FAIL_REASON", j.Error)
	default:
		return
	}
	w.record("Job", end...)
}

func (w *mrv1Writer) task(t *workload.HistoryTask, number int) {
	id := fmt.Sprintf("%s_%c_%06d", bareID(w.id), slotLetter(t.ReduceSlot), number)
	task, kind := "task_"+id, taskTypes[t.Kind]
	splits := make([]string, len(t.Split.Hosts))
	for i, host := range t.Split.Hosts {
		splits[i] = locationOf(w.racks[host], host)
	}
	start, finish := taskTimes(t)
	w.record("Task", "TASKID", task, "TASK_TYPE", kind, "START_TIME", known(w.millis(start)), "SPLITS", strings.Join(splits, ","))
	for i := range t.Attempts {
		w.attempt(&t.Attempts[i], t, task, fmt.Sprintf("attempt_%s_%d", id, t.Attempts[i].Number))
	}
	switch t.State {
	case workload.Succeeded:
		counters := ""
		if a := t.Winner(); a != nil {
			counters = mrv1Counters(ofAttempt(a, t), nil)
		}
		w.record("Task", "TASKID", task, "TASK_TYPE", kind, "TASK_STATUS", "SUCCESS", "FINISH_TIME", known(w.millis(finish)), "COUNTERS", counters)
	case workload.Failed, workload.Killed:
		culprit, why := "", ""
		if a := failedDueTo(t); a != nil {
			culprit, why = fmt.Sprintf("attempt_%s_%d", id, a.Number), a.Error
		}
		w.record("Task", "TASKID", task, "TASK_TYPE", kind, "TASK_STATUS", t.State.String(), "FINISH_TIME", known(w.millis(finish)),
			"ERROR", why, "TASK_ATTEMPT_ID", culprit)
	}
}

// orFailed returns the number of a kind's failed attempts. It counts them if
// the number is unknown, because Hadoop's parsers accept no successful job
// without it.
func orFailed(stated int64, j *workload.HistoryJob, kind workload.Kind) int64 {
	if stated != workload.Unknown {
		return stated
	}
	n := int64(0)
	for t, a := range j.Each() {
		if t.Kind == kind && a.State == workload.Failed {
			n++
		}
	}
	return n
}

// taskTimes returns the start and finish of a task, or those of its attempts if
// they are unknown. Hadoop's parsers accept no task without them.
func taskTimes(t *workload.HistoryTask) (start, finish time.Duration) {
	start, finish = t.Start, t.Finish
	for i := range t.Attempts {
		a := &t.Attempts[i]
		if !workload.Known(t.Start) && workload.Known(a.Start) && (!workload.Known(start) || a.Start < start) {
			start = a.Start
		}
		if !workload.Known(t.Finish) {
			finish = max(finish, a.Finish)
		}
	}
	return start, finish
}

func (w *mrv1Writer) attempt(a *workload.HistoryAttempt, t *workload.HistoryTask, task, name string) {
	record := "MapAttempt"
	if t.ReduceSlot {
		record = "ReduceAttempt"
	}
	kind := taskTypes[t.Kind]
	port := "" // as Hadoop writes an unknown one
	if a.HTTPPort != workload.Unknown {
		port = strconv.Itoa(a.HTTPPort)
	}
	began := []string{"TASK_TYPE", kind, "TASKID", task, "TASK_ATTEMPT_ID", name, "START_TIME", known(w.millis(a.Start)),
		"TRACKER_NAME", trackerOf(a), "HTTP_PORT", port}
	if s := statedLocalities[a.Locality]; s != "" {
		began = append(began, "LOCALITY", s)
	}
	if a.Speculative {
		began = append(began, "AVATAAR", "SPECULATIVE")
	}
	w.record(record, began...)
	host := ""
	if a.Node != "" {
		host = locationOf(a.Rack, a.Node)
	}
	head := []string{"TASK_TYPE", kind, "TASKID", task, "TASK_ATTEMPT_ID", name, "TASK_STATUS", endedAs(a.State)}
	switch a.State {
	case workload.Succeeded:
		if t.ReduceSlot {
			_, shuffled, sorted := marksOf(a, t.ReduceSlot)
			head = append(head, "SHUFFLE_FINISHED", known(w.millis(shuffled)), "SORT_FINISHED", known(w.millis(sorted)))
		}
		w.record(record, append(head, "FINISH_TIME", known(w.millis(a.Finish)), "HOSTNAME", host, "STATE_STRING", "",
			"COUNTERS", mrv1Counters(ofAttempt(a, t), nil))...)
	case workload.Failed, workload.Killed:
		w.record(record, append(head, "FINISH_TIME", known(w.millis(a.Finish)), "HOSTNAME", host, "ERROR", a.Error)...)
	}
}

// mrv1Counters returns counters in compact form:
// {(group)(display)[(name)(display)(value)]...}.
func mrv1Counters(of counterSource, job *workload.JobTotals) string {
	var groups []counterGroup
	if job != nil {
		groups = append(groups, ofWhole("org.apache.hadoop.mapred.JobInProgress$Counter", job))
	}
	files := grouped("FileSystemCounters", "FileSystemCounters", fileSystemCounters, mrv1, of)
	for i := range files.counts {
		files.counts[i].display = files.counts[i].name
	}
	groups = append(groups, files, grouped("org.apache.hadoop.mapred.Task$Counter", "Map-Reduce Framework", taskCounters, mrv1, of))
	if job == nil {
		groups = append(groups, grouped("org.apache.hadoop.mapred.FileOutputFormat$Counter", "File Output Format Counters ", formatCounters, mrv1, of))
	}
	var b strings.Builder
	for _, g := range groups {
		if len(g.counts) == 0 {
			continue
		}
		fmt.Fprintf(&b, "{(%s)(%s)", counterEscapes.Replace(g.name), counterEscapes.Replace(g.display))
		for _, n := range g.counts {
			fmt.Fprintf(&b, "[(%s)(%s)(%d)]", n.name, counterEscapes.Replace(n.display), n.v)
		}
		b.WriteByte('}')
	}
	return b.String()
}

var counterEscapes = strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)
