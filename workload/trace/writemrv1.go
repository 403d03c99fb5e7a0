package trace

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/workload"
)

// writeMRv1 writes the job as a job history of Hadoop 1.x (JobHistory).
func (f *jobFile) writeMRv1(w io.Writer) error {
	out := mrv1Writer{exporter: f.e, out: bufio.NewWriter(w), id: f.ID}
	out.job(f.job)
	return out.out.Flush()
}

type mrv1Writer struct {
	*exporter
	out *bufio.Writer
	id  string
}

var mrv1Escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `=`, `\=`, `.`, `\.`)

// record writes one record of keys and values, without those to omit.
func (w *mrv1Writer) record(kind string, pairs ...string) {
	w.out.WriteString(kind)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == omit {
			continue
		}
		fmt.Fprintf(w.out, ` %s="%s"`, pairs[i], mrv1Escapes.Replace(pairs[i+1]))
	}
	w.out.WriteString(" .\n")
}

// omit is the value of a number that is not known: Hadoop's parser takes none
// but whole numbers.
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
		end = append(end, "FAILED_MAPS", known(t.FailedMaps), "FAILED_REDUCES", known(t.FailedReduces),
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
	w.record("Task", "TASKID", task, "TASK_TYPE", kind, "START_TIME", known(w.millis(t.Start)), "SPLITS", strings.Join(splits, ","))
	for i := range t.Attempts {
		w.attempt(&t.Attempts[i], t, task, fmt.Sprintf("attempt_%s_%d", id, t.Attempts[i].Number))
	}
	switch t.State {
	case workload.Succeeded:
		counters := ""
		if a := t.Winner(); a != nil {
			counters = mrv1Counters(ofKind(&workload.TaskCounters{Counters: a.Counters, More: a.More}, t.SlotKind()), nil)
		}
		w.record("Task", "TASKID", task, "TASK_TYPE", kind, "TASK_STATUS", "SUCCESS", "FINISH_TIME", known(w.millis(t.Finish)), "COUNTERS", counters)
	case workload.Failed, workload.Killed:
		culprit, why := "", ""
		for i := range t.Attempts {
			if a := &t.Attempts[i]; a.State == workload.Failed {
				culprit, why = fmt.Sprintf("attempt_%s_%d", id, a.Number), a.Error
			}
		}
		w.record("Task", "TASKID", task, "TASK_TYPE", kind, "TASK_STATUS", t.State.String(), "FINISH_TIME", known(w.millis(t.Finish)),
			"ERROR", why, "TASK_ATTEMPT_ID", culprit)
	}
}

func (w *mrv1Writer) attempt(a *workload.HistoryAttempt, t *workload.HistoryTask, task, name string) {
	record := "MapAttempt"
	if t.ReduceSlot {
		record = "ReduceAttempt"
	}
	kind := taskTypes[t.Kind]
	port := "" // as Hadoop writes one that is not known
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
			_, shuffled, sorted := marksOf(a)
			head = append(head, "SHUFFLE_FINISHED", known(w.millis(shuffled)), "SORT_FINISHED", known(w.millis(sorted)))
		}
		w.record(record, append(head, "FINISH_TIME", known(w.millis(a.Finish)), "HOSTNAME", host, "STATE_STRING", "",
			"COUNTERS", mrv1Counters(ofKind(&workload.TaskCounters{Counters: a.Counters, More: a.More}, t.SlotKind()), nil))...)
	case workload.Failed, workload.Killed:
		w.record(record, append(head, "FINISH_TIME", known(w.millis(a.Finish)), "HOSTNAME", host, "ERROR", a.Error)...)
	}
}

// mrv1Counters writes counters compactly: {(group)(display)[(name)(display)(value)]...}.
func mrv1Counters(of counterSource, job *workload.JobTotals) string {
	var b strings.Builder
	group := func(name, display string, counts func(count func(name, display string, v int64))) {
		began := false
		counts(func(counter, shown string, v int64) {
			if v == workload.Unknown {
				return
			}
			if !began {
				fmt.Fprintf(&b, "{(%s)(%s)", counterEscapes.Replace(name), counterEscapes.Replace(display))
				began = true
			}
			fmt.Fprintf(&b, "[(%s)(%s)(%d)]", counter, counterEscapes.Replace(shown), v)
		})
		if began {
			b.WriteByte('}')
		}
	}
	if job != nil {
		group("org.apache.hadoop.mapred.JobInProgress$Counter", "Job Counters ", func(count func(string, string, int64)) {
			for _, n := range jobCounters {
				count(n.name, n.display, *n.field(job))
			}
		})
	}
	group("FileSystemCounters", "FileSystemCounters", func(count func(string, string, int64)) {
		for _, n := range fileSystemCounters {
			count(n.name, n.name, of(n))
		}
	})
	group("org.apache.hadoop.mapred.Task$Counter", "Map-Reduce Framework", func(count func(string, string, int64)) {
		for _, n := range taskCounters {
			if n.mrv1 {
				count(n.name, n.display, of(n))
			}
		}
	})
	if job == nil {
		group("org.apache.hadoop.mapred.FileOutputFormat$Counter", "File Output Format Counters ", func(count func(string, string, int64)) {
			count("BYTES_WRITTEN", "Bytes Written", of(bytesWritten))
		})
	}
	return b.String()
}

var counterEscapes = strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)
