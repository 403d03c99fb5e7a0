package trace

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// This file holds the code shared by the writers of Hadoop's formats. They
// leave out what a format cannot hold: slots, phases except the ends of map,
// shuffle and sort, spills and merge passes, waiting times, and task clean-up
// attempts, which Hadoop does not record. Times are rounded to milliseconds.

// NewHistory makes a history of a simulated run, for export: its jobs and their
// attempts. A task starts with its first attempt and ends with its winner; a
// job ends with its last attempt, and has succeeded if all its tasks have.
// Neither table has the instants of job initialisation, so Launch stays
// unknown.
func NewHistory(jobs []workload.Job, attempts []workload.Attempt) *workload.History {
	c := newCollector(Limits{Attempts: len(attempts)*2 + 1})
	type entry struct {
		*jobBuilder
		splits []workload.Split
	}
	index := make(map[string]entry, len(jobs))
	for i := range jobs {
		b := c.newJob(jobs[i].ID, 0)
		j := &b.job
		j.Name, j.User, j.Queue, j.Pool, j.Priority = jobs[i].Name, jobs[i].User, jobs[i].Queue, jobs[i].Pool, jobs[i].Priority
		j.Submit, j.Conf, j.Maps, j.Reduces = jobs[i].Submit, jobs[i].Conf, jobs[i].Maps.Count, jobs[i].Reduces.Count
		b.noTotals = true
		index[j.ID] = entry{b, jobs[i].Maps.Splits}
	}
	for i := range attempts {
		a := &attempts[i]
		b, ok := index[a.Job]
		if !ok {
			continue
		}
		t := b.taskApart(a.Kind, a.Kind == workload.Reduce, a.Task)
		if a.Kind == workload.Map && a.Task < len(b.splits) {
			t.Split = b.splits[a.Task]
		}
		h := b.attempt(t, a.Number)
		h.Attempt = *a
		if a.CPUMillis == 0 { // not counted
			h.SetUncounted()
		}
		h.Rack, h.Node = c.place(0, a.Rack, a.Node)
		if !workload.Known(t.Start) || a.Start < t.Start {
			t.Start = a.Start
		}
		if t.State == workload.Succeeded {
			continue
		}
		t.State, t.Finish = a.State, a.Finish
	}
	for i := range jobs {
		b := index[jobs[i].ID].jobBuilder
		j := &b.job
		j.Outcome = workload.Succeeded
		for k := range j.Tasks {
			t := &j.Tasks[k]
			if t.Kind <= workload.Reduce && t.State != workload.Succeeded {
				j.Outcome = workload.Failed
			}
			for n := range t.Attempts {
				j.Finish = max(j.Finish, t.Attempts[n].Finish)
			}
		}
		if err := b.finish(); err != nil {
			panic("workload: " + err.Error()) // the collector's own limits cannot be exceeded
		}
	}
	c.h.Topology = c.topology()
	return c.h
}

// hadoopJobID matches the only form of a job id that Hadoop reads.
var hadoopJobID = regexp.MustCompile(`^job_\d{1,18}_\d{4,9}$`)

// hadoopIDs returns the ids under which jobs are written: their own, or a new
// one if Hadoop cannot read it.
func hadoopIDs(jobs []workload.HistoryJob) []string {
	taken := make(map[string]bool, len(jobs))
	ids := make([]string, len(jobs))
	for i := range jobs {
		if id := jobs[i].ID; hadoopJobID.MatchString(id) {
			ids[i], taken[id] = id, true
		}
	}
	next := 1
	for i := range ids {
		for ids[i] == "" {
			if id := fmt.Sprintf("job_201001010000_%04d", next); !taken[id] {
				ids[i], taken[id] = id, true
			}
			next++
		}
	}
	return ids
}

// exporter converts one history's times and names to Hadoop's terms.
type exporter struct {
	h     *workload.History
	epoch int64 // Unix time of instant 0
	ids   []string
	racks map[string]string // by host
}

func newExporter(h *workload.History) *exporter {
	e := &exporter{h: h, epoch: h.UnixEpoch(), ids: hadoopIDs(h.Jobs), racks: make(map[string]string)}
	for _, r := range h.Topology.Racks {
		for _, host := range r.Hosts {
			e.racks[host] = r.Name
		}
	}
	return e
}

// jobFile is one job of a history, for the formats that keep a file per job. A
// job whose id Hadoop could not read gets a new one.
type jobFile struct {
	ID  string
	e   *exporter
	job *workload.HistoryJob
}

// jobFiles lists the jobs of a history for writing.
func jobFiles(h *workload.History) []jobFile {
	e := newExporter(h)
	files := make([]jobFile, len(h.Jobs))
	for i := range files {
		files[i] = jobFile{e.ids[i], e, &h.Jobs[i]}
	}
	return files
}

// perJob returns an output with a file for each job and one for its
// configuration.
func perJob(h *workload.History, name, confName func(*jobFile) string, write func(*jobFile, io.Writer) error) Output {
	out := Output{PerJob: true, Left: unrecorded(h)}
	for _, f := range jobFiles(h) {
		out.Files = append(out.Files, File{name(&f), func(w io.Writer) error { return write(&f, w) }})
		if f.conf().Len() > 0 {
			out.Files = append(out.Files, File{confName(&f), func(w io.Writer) error { return writeConf(w, f.conf()) }})
		}
	}
	return out
}

// jhistName returns the file's name for the MRv2 history server.
func (f *jobFile) jhistName() string { return f.ID + ".jhist" }

// confName returns the name of the configuration beside a .jhist.
func (f *jobFile) confName() string { return f.ID + "_conf.xml" }

// conf returns the configuration of the job. Like Hadoop's own it states name and
// queue, which TraceBuilder takes only from there.
func (f *jobFile) conf() workload.Conf {
	return withProperties(f.e.conf(f.job, f.ID), [][2]string{{"mapred.job.name", f.job.Name}, {"mapred.job.queue.name", f.job.Queue}})
}

// withProperties adds properties that are known and not stated.
func withProperties(c workload.Conf, more [][2]string) workload.Conf {
	var own workload.Conf
	for _, p := range more {
		if _, stated := c.Lookup(p[0]); p[1] != "" && !stated {
			own.Set(p[0], p[1])
		}
	}
	return c.Over(own)
}

// mrv1Name returns the file's name in a JobTracker's history folder:
// JOBID_START_USER_NAME, and in 0.20.2 HOST_START_JOBID_USER_NAME, where user and
// name are URL-encoded (JobHistory.getNewJobHistoryFileName).
func (f *jobFile) mrv1Name() string {
	user, name := url.QueryEscape(f.job.User), url.QueryEscape(cmp.Or(f.job.Name, "NA"))
	if f.e.h.Release == firstRelease {
		return fmt.Sprintf("localhost_%d_%s_%s_%s", f.e.epoch, f.ID, user, name)
	}
	return fmt.Sprintf("%s_%d_%s_%s", f.ID, max(0, f.e.millis(f.job.Submit)), user, name)
}

// mrv1ConfName returns the name of the configuration beside it. Rumen's
// TraceBuilder takes both names from one release, or makes two jobs of them.
func (f *jobFile) mrv1ConfName() string {
	if f.e.h.Release == firstRelease {
		return fmt.Sprintf("localhost_%d_%s_conf.xml", f.e.epoch, f.ID)
	}
	return f.confName()
}

// firstRelease is the release whose job history has the fewest keys and other
// file names than the later ones.
const firstRelease = "0.20.2"

// conf returns the configuration of a job with what Hadoop states nowhere else:
// its pool, the release, the slots of a node, and the id it had if that is not
// Hadoop's.
func (e *exporter) conf(j *workload.HistoryJob, id string) workload.Conf {
	more := [][2]string{{"mapred.fairscheduler.pool", j.Pool}, {"hadoop.common.configuration.version", e.h.Release}}
	for _, slots := range []string{"mapred.tasktracker.map.tasks.maximum", "mapred.tasktracker.reduce.tasks.maximum"} {
		more = append(more, [2]string{slots, e.h.Site.String(slots, "")})
	}
	placed, replicas := j.Placed()
	more = append(more, [2]string{placed, replicas})
	c := withProperties(j.Conf, more)
	if id == j.ID {
		return c
	}
	var own workload.Conf
	own.Set(workload.OriginalID, j.ID)
	return c.Over(own)
}

// millis returns an instant as Unix time in milliseconds, or -1.
func (e *exporter) millis(d time.Duration) int64 {
	if !workload.Known(d) {
		return workload.Unknown
	}
	return e.epoch + roundMillis(d)
}

func roundMillis(d time.Duration) int64 { return d.Round(time.Millisecond).Milliseconds() }

// recorded returns the job's tasks that Hadoop would have recorded.
func recorded(j *workload.HistoryJob) []*workload.HistoryTask {
	var list []*workload.HistoryTask
	for i := range j.Tasks {
		if j.Tasks[i].Kind < workload.TaskCleanup {
			list = append(list, &j.Tasks[i])
		}
	}
	return list
}

// unrecorded counts the tasks that Hadoop would not have recorded.
func unrecorded(h *workload.History) (left Left) {
	for _, t := range h.Tasks() {
		if t.Kind >= workload.TaskCleanup {
			left.Tasks++
			left.Attempts += len(t.Attempts)
		}
	}
	return left
}

// numbers gives each task the number of its id. Hadoop numbers the tasks of a
// slot type together; where kinds have numbers of their own, set-up and
// clean-up follow the maps or reduces, clean-up first.
func numbers(j *workload.HistoryJob) map[*workload.HistoryTask]int {
	type key struct {
		reduceSlot bool
		number     int
	}
	taken := make(map[key]bool)
	given := make(map[*workload.HistoryTask]int)
	for i := range j.Tasks {
		if t := &j.Tasks[i]; t.Kind <= workload.Reduce {
			given[t] = t.Number
			taken[key{t.ReduceSlot, t.Number}] = true
		}
	}
	for _, kind := range []workload.Kind{workload.Cleanup, workload.Setup} {
		for t := range j.Of(kind) {
			k := key{t.ReduceSlot, t.Number}
			if taken[k] {
				k.number = 0
				for taken[k] {
					k.number++
				}
			}
			taken[k] = true
			given[t] = k.number
		}
	}
	return given
}

// marksOf returns the instants that Hadoop records within an attempt of a map or
// a reduce slot.
func marksOf(a *workload.HistoryAttempt, reduceSlot bool) (mapped, shuffled, sorted time.Duration) {
	mapped, shuffled, sorted = workload.UnknownTime, workload.UnknownTime, workload.UnknownTime
	known := func(p workload.Phase) time.Duration {
		if workload.Known(a.Phases[p]) {
			return a.Phases[p]
		}
		return 0
	}
	switch {
	case reduceSlot && workload.Known(a.Phases[workload.PhaseShuffle]) && workload.Known(a.Start):
		shuffled = a.Start + known(workload.PhaseStartup) + a.Phases[workload.PhaseShuffle]
		sorted = shuffled + known(workload.PhaseMerge)
	case !reduceSlot && workload.Known(a.Phases[workload.PhaseMerge]) && workload.Known(a.Finish):
		mapped = a.Finish - a.Phases[workload.PhaseMerge] - known(workload.PhaseWrite) - known(workload.PhaseCommit)
	}
	return mapped, shuffled, sorted
}

// failedDueTo returns the attempt by which a task failed or was killed: the last
// one that failed, or else the last one. Hadoop's parsers need one.
func failedDueTo(t *workload.HistoryTask) *workload.HistoryAttempt {
	var last *workload.HistoryAttempt
	for i := range t.Attempts {
		if a := &t.Attempts[i]; last == nil || a.State == workload.Failed || last.State != workload.Failed {
			last = a
		}
	}
	return last
}

// locationOf returns a machine as Hadoop writes it: /rack/host, or the host
// alone.
func locationOf(rack, host string) string {
	if rack == "" {
		return host
	}
	return "/" + rack + "/" + host
}

// rackOr returns the rack of a machine, or Hadoop's default rack if it is
// unknown and the format needs one (NetworkTopology.DEFAULT_RACK).
func rackOr(rack string) string { return cmp.Or(rack, "default-rack") }

var statedLocalities = [workload.NumLocalities]string{"NODE_LOCAL", "RACK_LOCAL", "OFF_SWITCH", ""}

// trackerOf returns the name of an attempt's TaskTracker.
func trackerOf(a *workload.HistoryAttempt) string {
	if a.Tracker == "" && a.Node != "" {
		return "tracker_" + a.Node
	}
	return a.Tracker
}

// endedAs returns Hadoop's word for an end state.
func endedAs(s workload.State) string { return strings.Replace(s.String(), "SUCCEEDED", "SUCCESS", 1) }
