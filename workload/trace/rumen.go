package trace

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// Rumen traces: org.apache.hadoop.tools.rumen, LoggedJob and below, as written
// by Hadoop 0.21, 0.22 and 2.x. A file is a sequence of objects. Fields that
// are not named here are ignored, as Rumen's own reader does. Numbers that are
// absent, null or -1 are unknown.

var rumenFormat = Format{
	Name: "rumen", About: "Rumen job trace: jobs, attempts and configuration, JSON",
	Files:  "trace.json, topology.json",
	detect: detection{keys: rumenKeys},
	read:   (*collector).readRumen,
	write: func(h *workload.History) (Output, error) {
		return Output{Left: unrecorded(h), Files: []File{
			{"trace.json", func(w io.Writer) error { return writeRumen(w, h) }},
			{"topology.json", func(w io.Writer) error { return writeTopology(w, h.Workers()) }},
		}}, nil
	},
}

var rumenKeys = []string{"jobID", "mapTasks", "reduceTasks", "otherTasks", "jobProperties", "submitTime", "priority", "jobName"}

var rumenJobKeys = slices.Concat(rumenKeys, slices.Sorted(maps.Keys(jobPlaces)))

// logged are the values of a logged object by their members.
type logged[T any] struct {
	place  map[string]int
	values []T
}

// placesOf returns the places of members in figures.
func placesOf(members ...string) map[string]int {
	place := make(map[string]int, len(members))
	for i, member := range members {
		place[member] = i
	}
	return place
}

var (
	jobMembers = placesOf("jobID", "jobName", "user", "queue", "priority", "jobtype", "outcome")
	jobPlaces  = placesOf("submitTime", "launchTime", "finishTime", "totalMaps", "totalReduces",
		"heapMegabytes", "jobMapMB", "jobReduceMB", "clusterMapMB", "clusterReduceMB")
	taskPlaces    = placesOf("startTime", "finishTime", "inputBytes", "inputRecords", "outputBytes", "outputRecords")
	attemptPlaces = func() map[string]int {
		members := []string{"startTime", "finishTime", "shuffleFinished", "sortFinished"}
		for _, n := range slices.Concat(rumenCounters, rumenUsage) {
			members = append(members, n.member)
		}
		return placesOf(members...)
	}()
)

// forget makes all values unknown.
func (f *logged[T]) forget(place map[string]int, unknown T) {
	f.place, f.values = place, f.values[:0]
	for range len(place) {
		f.values = append(f.values, unknown)
	}
}

// field returns where the value of a member is stored, or nil.
func (f *logged[T]) field(member []byte) *T {
	if i, ok := f.place[string(member)]; ok {
		return &f.values[i]
	}
	return nil
}

func (f *logged[T]) get(member string) T { return f.values[f.place[member]] }

type loggedJob struct {
	texts   logged[string]
	figures logged[int64]
}

type loggedTask struct {
	id           []byte
	kind, status string
	figures      logged[int64]
	places       []*machine
	attempts     []loggedAttempt
}

type loggedAttempt struct {
	id             []byte
	result         string
	host, location *machine
	figures        logged[int64]
}

// machine is a machine as a trace names it.
type machine struct {
	given      string // /rack/host or host, or layers separated by a zero byte
	rack, host string // parts, once settled
	settled    bool   // the rack is known and final
}

// rumenReader turns logged jobs into history jobs.
type rumenReader struct {
	c    *collector
	in   *jsonScanner
	b    *jobBuilder
	task loggedTask // reused
	key  []byte     // reused

	expected int                 // properties of a job
	machines map[string]*machine // by their text in the trace
	owner    string              // job in the last task id, without its prefix...
	ownerID  string              // ... and with it
}

func (c *collector) readRumen(s *source) error {
	rr := &rumenReader{c: c, in: newJSONScanner(s, c.limits.LineBytes), machines: make(map[string]*machine)}
	c.where = rr.in.line
	var j loggedJob
	return c.objects(rr.in, func() error {
		rr.b, j = c.newJob("", rr.in.line()), loggedJob{}
		j.texts.forget(jobMembers, "")
		j.figures.forget(jobPlaces, workload.Unknown)
		return rr.logged(&j)
	}, func(int) error { return rr.job(&j) }, func() string {
		rr.b.release()
		if id := j.texts.get("jobID"); id != "" {
			return "job " + id
		}
		return "what stands here"
	})
}

// logged reads one object of the trace.
func (rr *rumenReader) logged(j *loggedJob) error {
	in := rr.in
	return in.object(func(name []byte) error {
		if to := j.figures.field(name); to != nil {
			return in.number(to)
		}
		if to := j.texts.field(name); to != nil {
			return rr.c.text(in, to)
		}
		switch string(name) {
		case "mapTasks", "reduceTasks", "otherTasks":
			return rr.tasks()
		case "jobProperties":
			return rr.properties()
		}
		rr.c.unknownMember(here, string(name), rumenJobKeys)
		return in.skip()
	})
}

// job completes the job after its tasks and properties have been read.
func (rr *rumenReader) job(j *loggedJob) error {
	c, b := rr.c, rr.b
	h := &b.job
	line := here
	text := j.texts.get
	h.ID, h.Name, h.User, h.Queue = text("jobID"), unescape(text("jobName")), c.intern(unescape(text("user"))), c.intern(unescape(text("queue")))
	for t, a := range h.Each() {
		if a.Job != h.ID && h.ID != "" {
			c.problem(line, "%s is listed under job %s", attemptNameIn(a, t.ReduceSlot), h.ID)
		}
		a.Job = h.ID
	}
	h.Type = c.intern(text("jobtype"))
	c.priority(line, h, text("priority"))
	h.Outcome = c.state(line, "outcome", text("outcome"))
	f := &j.figures
	h.Submit, h.Launch, h.Finish = rr.time(f, "submitTime"), rr.time(f, "launchTime"), rr.time(f, "finishTime")
	h.Maps = c.tasksAnnounced(line, "totalMaps", rr.count(f, "totalMaps"))
	h.Reduces = c.tasksAnnounced(line, "totalReduces", rr.count(f, "totalReduces"))
	h.HeapMB, h.MapMB, h.ReduceMB = rr.count(f, "heapMegabytes"), rr.count(f, "jobMapMB"), rr.count(f, "jobReduceMB")
	h.ClusterMapMB, h.ClusterReduceMB = rr.count(f, "clusterMapMB"), rr.count(f, "clusterReduceMB")
	return b.finish()
}

// properties reads jobProperties into the job's configuration.
func (rr *rumenReader) properties() error {
	conf := &rr.b.job.Conf
	err := rr.in.object(func(name []byte) error {
		key := rr.c.internBytes(name)
		value, some, err := rr.in.scalar()
		if err != nil || !some {
			return err
		}
		conf.Grow(rr.expected) // as many as the previous job had
		return rr.c.property(conf, here, key, rr.c.internBytes(value))
	})
	rr.expected = conf.Len()
	return err
}

// tasks reads a list of tasks, one at a time.
func (rr *rumenReader) tasks() error {
	return rr.in.list(func() error {
		t := &rr.task
		*t = loggedTask{id: t.id[:0], places: t.places[:0], attempts: t.attempts[:0], figures: t.figures}
		t.figures.forget(taskPlaces, workload.Unknown)
		if err := rr.loggedTask(t); err != nil {
			return err
		}
		if err := rr.oneTask(t); err != nil {
			return err
		}
		if rr.c.full {
			return errAttempts
		}
		return nil
	})
}

func (rr *rumenReader) loggedTask(t *loggedTask) error {
	in := rr.in
	return in.object(func(name []byte) error {
		if to := t.figures.field(name); to != nil {
			return in.number(to)
		}
		switch string(name) {
		case "taskID":
			return in.copy(&t.id)
		case "taskType":
			return rr.c.text(in, &t.kind)
		case "taskStatus":
			return rr.c.text(in, &t.status)
		case "preferredLocations":
			t.places = t.places[:0]
			return in.few(func() error {
				m, err := rr.location()
				t.places = append(t.places, m)
				return err
			})
		case "attempts":
			t.attempts = t.attempts[:0]
			return in.few(func() error {
				n := len(t.attempts)
				t.attempts = slices.Grow(t.attempts, 1)[:n+1]
				a := &t.attempts[n]
				*a = loggedAttempt{id: a.id[:0], figures: a.figures}
				a.figures.forget(attemptPlaces, workload.Unknown)
				return rr.loggedAttempt(a)
			})
		}
		return in.skip()
	})
}

func (rr *rumenReader) loggedAttempt(a *loggedAttempt) error {
	in := rr.in
	return in.object(func(name []byte) (err error) {
		if to := a.figures.field(name); to != nil {
			return in.number(to)
		}
		switch string(name) {
		case "attemptID":
			return in.copy(&a.id)
		case "result":
			return rr.c.text(in, &a.result)
		case "hostName":
			host, err := in.string()
			a.host = rr.machine(host)
			return err
		case "location":
			a.location, err = rr.location()
			return err
		case "resourceUsageMetrics":
			return in.object(func(name []byte) error {
				if to := a.figures.field(name); to != nil {
					return in.number(to)
				}
				return in.skip()
			})
		}
		return in.skip()
	})
}

// location reads a machine given as layers, rack first. It is nil if there are
// none.
func (rr *rumenReader) location() (m *machine, err error) {
	in := rr.in
	err = in.object(func(name []byte) error {
		if string(name) != "layers" {
			return in.skip()
		}
		rr.key = append(rr.key[:0], layered)
		err := in.few(func() error {
			layer, err := in.string()
			if err == nil && layer == nil {
				err = fmt.Errorf("layers: got null: want text")
			}
			if len(rr.key) > 1 {
				rr.key = append(rr.key, layered)
			}
			rr.key = append(rr.key, layer...)
			return err
		})
		m = rr.machine(rr.key)
		return err
	})
	return m, err
}

func (rr *rumenReader) oneTask(lt *loggedTask) error {
	c, b, line := rr.c, rr.b, here
	job, reduceSlot, number, ok := taskID(lt.id)
	if !ok {
		c.problem(line, "task id %.80q: want task_..._m_000000: the task is dropped", lt.id)
		return nil
	}
	kind, ok := taskKinds[lt.kind]
	if !ok {
		c.problem(line, "%s: type %.40q is none of MAP, REDUCE, SETUP, CLEANUP: the task is dropped", lt.id, lt.kind)
		return nil
	}
	before := len(b.job.Tasks)
	t := b.task(kind, reduceSlot, number)
	if len(b.job.Tasks) == before {
		c.problem(line, "%s occurs twice: the second is dropped", lt.id)
		return nil
	}
	if string(job) != rr.owner {
		rr.owner = string(job)
		rr.ownerID = c.intern("job_" + rr.owner)
	}
	t.State = rr.state(lt.id, lt.status)
	t.Start, t.Finish = rr.time(&lt.figures, "startTime"), rr.time(&lt.figures, "finishTime")
	rr.checkTimes(lt.id, t.Start, &t.Finish)
	for _, m := range lt.places {
		if _, host := rr.settle(m); host != "" {
			t.Split.Hosts = append(t.Split.Hosts, host)
		}
	}
	for i := range lt.attempts {
		if err := rr.oneAttempt(t, job, &lt.attempts[i]); err != nil {
			return err
		}
	}
	if w := t.Winner(); w != nil { // Rumen's JobBuilder takes these from the attempt's counters
		fill := func(to *int64, member string) {
			if *to == workload.Unknown {
				*to = rr.count(&lt.figures, member)
			}
		}
		fill(&w.InRecords, "inputRecords")
		fill(&w.OutRecords, "outputRecords")
		switch kind {
		case workload.Map:
			fill(&w.HDFSReadBytes, "inputBytes")
		case workload.Reduce:
			fill(&w.ShuffleBytes, "inputBytes")
			fill(&w.HDFSWriteBytes, "outputBytes")
		}
	}
	return nil
}

// layered starts the key of a machine that is given as layers, and separates
// the layers.
const layered = 0

// machine returns the machine for a text, the same one for equal texts; nil if
// there is none.
func (rr *rumenReader) machine(given []byte) *machine {
	if len(given) == 0 || len(given) == 1 && given[0] == layered {
		return nil
	}
	m, ok := rr.machines[string(given)]
	if !ok {
		m = &machine{given: string(given)}
		rr.machines[m.given] = m
	}
	return m
}

// settle adds a machine to the topology and returns its parts.
func (rr *rumenReader) settle(m *machine) (rack, host string) {
	if m == nil {
		return "", ""
	}
	if m.settled {
		return m.rack, m.host
	}
	before := rr.c.losses()
	if m.given[0] == layered {
		layers := strings.Split(m.given[1:], "\x00")
		for i := range layers {
			layers[i] = unescape(layers[i])
		}
		last := len(layers) - 1
		rack, host = rr.c.place(here, strings.Join(layers[:last], "/"), layers[last])
	} else {
		rack, host = rr.c.host(here, m.given)
	}
	if rack != "" && rr.c.losses() == before {
		m.rack, m.host, m.settled = rack, host, true
	}
	return rack, host
}

// time returns an instant, count a number that cannot be negative.
func (rr *rumenReader) time(f *logged[int64], member string) time.Duration {
	return rr.c.unixMillis(here, member, f.get(member))
}

func (rr *rumenReader) count(f *logged[int64], member string) int64 {
	return rr.c.count(here, member, f.get(member))
}

// state is like collector.state, but formats the text only for problems.
func (rr *rumenReader) state(id []byte, s string) workload.State {
	if end, ok := ended(s); ok {
		return end
	}
	return rr.c.state(here, string(id), s)
}

// checkTimes is like the builder's, but formats the text only for problems.
func (rr *rumenReader) checkTimes(id []byte, start time.Duration, finish *time.Duration) {
	if workload.Known(start) && workload.Known(*finish) && *finish < start {
		rr.b.checkTimes(string(id), here, start, finish)
	}
}

func (rr *rumenReader) oneAttempt(t *workload.HistoryTask, job []byte, la *loggedAttempt) error {
	c, b, line := rr.c, rr.b, here
	ajob, reduceSlot, task, try, ok := attemptID(la.id)
	if !ok {
		c.problem(line, "attempt id %.80q: want attempt_..._m_000000_0: the attempt is dropped", la.id)
		return nil
	}
	if !bytes.Equal(ajob, job) || reduceSlot != t.ReduceSlot || task != t.Number {
		c.problem(line, "%s is listed under another task: dropped", la.id)
		return nil
	}
	before := len(t.Attempts)
	a := b.attempt(t, try)
	if a == nil {
		return errAttempts
	}
	if len(t.Attempts) == before {
		c.problem(line, "%s occurs twice: the second is dropped", la.id)
		return nil
	}
	f := &la.figures
	a.Job = rr.ownerID
	a.State = rr.state(la.id, la.result)
	a.Start, a.Finish = rr.time(f, "startTime"), rr.time(f, "finishTime")
	rr.checkTimes(la.id, a.Start, &a.Finish)
	b.phases(a, line, rr.time(f, "shuffleFinished"), rr.time(f, "sortFinished"))
	if la.host != nil {
		a.Rack, a.Node = rr.settle(la.host)
	} else {
		a.Rack, a.Node = rr.settle(la.location)
	}
	counters := countersOf(a)
	for _, list := range [][]loggedCounter{rumenCounters, rumenUsage} {
		for _, n := range list {
			if field := counterField(&counters, t.SlotKind(), n.counter); field != nil {
				*field = rr.count(f, n.member)
			}
		}
	}
	a.Counters, a.More = counters.Counters, counters.More
	return nil
}

// count returns a number that cannot be negative; -1 is unknown.
func (c *collector) count(line int, what string, v int64) int64 {
	if v < workload.Unknown {
		c.problem(line, "%s = %d: a count cannot be negative", what, v)
		return workload.Unknown
	}
	return v
}

// state reads the end state of a job, task or attempt. SUCCESS and SUCCEEDED
// are the same. An empty text means that no end is recorded.
func (c *collector) state(line int, what, s string) workload.State {
	end, ok := ended(s)
	if !ok {
		c.problem(line, "%s: outcome %.40q is none of SUCCESS, FAILED, KILLED", what, s)
	}
	return end
}

func ended(s string) (end workload.State, ok bool) {
	switch s {
	case "SUCCESS", "SUCCEEDED":
		return workload.Succeeded, true
	case "FAILED", "ERROR", "FAILED_UNCLEAN":
		return workload.Failed, true
	case "KILLED", "KILLED_UNCLEAN":
		return workload.Killed, true
	case "", "RUNNING", "PREP", "INITED", "UNASSIGNED", "COMMIT_PENDING":
		return workload.Running, true
	}
	return workload.Running, false
}

func (c *collector) priority(line int, j *workload.HistoryJob, s string) {
	if s == "" {
		return
	}
	p, ok := workload.ParsePriority(s)
	if !ok {
		c.problem(line, "job %s: priority %.40q is none of VERY_HIGH, HIGH, NORMAL, LOW, VERY_LOW", j.ID, s)
		return
	}
	j.Priority = p
}
