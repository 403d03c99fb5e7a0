package workload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Rumen traces: org.apache.hadoop.tools.rumen, LoggedJob and below, as written
// by Hadoop 0.21, 0.22 and 2.x. A file is a sequence of objects. Fields that
// are not named here are ignored, as Rumen's own reader does.

type loggedJob struct {
	JobID           string         `json:"jobID"`
	JobName         string         `json:"jobName"`
	User            string         `json:"user"`
	Queue           string         `json:"queue"`
	Priority        string         `json:"priority"`
	JobType         string         `json:"jobtype"`
	Outcome         string         `json:"outcome"`
	SubmitTime      jsonNumber     `json:"submitTime"`
	LaunchTime      jsonNumber     `json:"launchTime"`
	FinishTime      jsonNumber     `json:"finishTime"`
	TotalMaps       jsonNumber     `json:"totalMaps"`
	TotalReduces    jsonNumber     `json:"totalReduces"`
	HeapMB          jsonNumber     `json:"heapMegabytes"`
	MapMB           jsonNumber     `json:"jobMapMB"`
	ReduceMB        jsonNumber     `json:"jobReduceMB"`
	ClusterMapMB    jsonNumber     `json:"clusterMapMB"`
	ClusterReduceMB jsonNumber     `json:"clusterReduceMB"`
	JobProperties   propertyMap    `json:"jobProperties"`
	MapTasks        loggedTaskList `json:"mapTasks"`
	ReduceTasks     loggedTaskList `json:"reduceTasks"`
	OtherTasks      loggedTaskList `json:"otherTasks"`
}

type loggedTask struct {
	TaskID             string                 `json:"taskID"`
	TaskType           string                 `json:"taskType"`
	TaskStatus         string                 `json:"taskStatus"`
	StartTime          jsonNumber             `json:"startTime"`
	FinishTime         jsonNumber             `json:"finishTime"`
	InputBytes         jsonNumber             `json:"inputBytes"`
	InputRecords       jsonNumber             `json:"inputRecords"`
	OutputBytes        jsonNumber             `json:"outputBytes"`
	OutputRecords      jsonNumber             `json:"outputRecords"`
	PreferredLocations few[loggedLocation]    `json:"preferredLocations"`
	Attempts           few[loggedTaskAttempt] `json:"attempts"`
}

type loggedLocation struct {
	Layers layers `json:"layers"`
}

type loggedTaskAttempt struct {
	AttemptID           string          `json:"attemptID"`
	Result              string          `json:"result"`
	StartTime           jsonNumber      `json:"startTime"`
	FinishTime          jsonNumber      `json:"finishTime"`
	HostName            string          `json:"hostName"`
	Location            *loggedLocation `json:"location"`
	ShuffleFinished     jsonNumber      `json:"shuffleFinished"`
	SortFinished        jsonNumber      `json:"sortFinished"`
	HDFSBytesRead       jsonNumber      `json:"hdfsBytesRead"`
	HDFSBytesWritten    jsonNumber      `json:"hdfsBytesWritten"`
	FileBytesRead       jsonNumber      `json:"fileBytesRead"`
	FileBytesWritten    jsonNumber      `json:"fileBytesWritten"`
	MapInputBytes       jsonNumber      `json:"mapInputBytes"`
	MapInputRecords     jsonNumber      `json:"mapInputRecords"`
	MapOutputBytes      jsonNumber      `json:"mapOutputBytes"`
	MapOutputRecords    jsonNumber      `json:"mapOutputRecords"`
	CombineInputRecords jsonNumber      `json:"combineInputRecords"`
	ReduceInputGroups   jsonNumber      `json:"reduceInputGroups"`
	ReduceInputRecords  jsonNumber      `json:"reduceInputRecords"`
	ReduceShuffleBytes  jsonNumber      `json:"reduceShuffleBytes"`
	ReduceOutputRecords jsonNumber      `json:"reduceOutputRecords"`
	SpilledRecords      jsonNumber      `json:"spilledRecords"`
	ResourceUsage       *struct {
		CPU      jsonNumber `json:"cumulativeCpuUsage"`
		Virtual  jsonNumber `json:"virtualMemoryUsage"`
		Physical jsonNumber `json:"physicalMemoryUsage"`
		Heap     jsonNumber `json:"heapUsage"`
	} `json:"resourceUsageMetrics"`
	ClockSplits   twelfths `json:"clockSplits"`
	CPUUsages     twelfths `json:"cpuUsages"`
	VMemKbytes    twelfths `json:"vmemKbytes"`
	PhysMemKbytes twelfths `json:"physMemKbytes"`
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
		if n.v, err = strconv.ParseInt(string(raw), 10, 64); err != nil {
			f, err := strconv.ParseFloat(string(raw), 64)
			if err != nil || f < -1<<63 || f >= 1<<63 {
				return fmt.Errorf("%s: want a whole number", raw)
			}
			n.v = int64(f)
		}
		n.set = true
		return nil
	}
	return fmt.Errorf("%.40s: want a number", raw)
}

func (n jsonNumber) orUnknown() int64 {
	if !n.set {
		return Unknown
	}
	return n.v
}

// few is a list that is short in any sound trace: of replicas or attempts.
type few[T any] []T

const maxFew = maxAttemptsOfTask

func (f *few[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*f = (*f)[:0]
	return eachItem(dec, func() error {
		var item T
		err := json.UnmarshalDecode(dec, &item)
		*f = append(*f, item)
		return err
	})
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

// layers name a machine from the rack inwards.
type layers []string

func (l *layers) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*l = make(layers, 0, 2)
	return eachItem(dec, func() error {
		name, err := dec.ReadToken()
		if err == nil && name.Kind() != '"' {
			err = fmt.Errorf("want a name")
		}
		*l = append(*l, name.String())
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
		if n == maxFew {
			return fmt.Errorf("a list of more than %d", maxFew)
		}
		if err := f(); err != nil {
			return err
		}
	}
	_, err = dec.ReadToken()
	return err
}

// loggedTaskList and propertyMap are read piece by piece by rumenReader.
type (
	loggedTaskList struct{}
	propertyMap    struct{}
)

// ReadRumen reads a Rumen trace, calling each for every job as soon as it is
// complete; instants are then Unix times. It keeps one job in memory. file
// names the source in problems; what is lost goes to report.
func ReadRumen(r io.Reader, file string, limits Limits, each func(*HistoryJob) error, report func(Problem)) error {
	c := newCollector(limits)
	c.file, c.each = file, each
	s := &source{}
	if err := s.decompress(r, c.limits); err != nil {
		return err
	}
	defer s.Close()
	err := c.readRumen(s)
	c.damage(s)
	for _, p := range c.h.Problems {
		report(p)
	}
	return err
}

// rumenReader turns logged jobs into history jobs.
type rumenReader struct {
	c    *collector
	in   *jsonStream
	opts json.Options
	b    *jobBuilder
	// Tasks need no functions of ours, and looking for them takes time.
	plain json.Options
	task  loggedTask // reused
	text  []byte     // reused
}

func (c *collector) readRumen(s *source) error {
	rr := &rumenReader{c: c, plain: json.WithUnmarshalers(nil)}
	rr.opts = json.JoinOptions(
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
		json.WithUnmarshalers(json.JoinUnmarshalers(
			json.UnmarshalFromFunc(func(dec *jsontext.Decoder, _ *loggedTaskList) error { return rr.tasks(dec) }),
			json.UnmarshalFromFunc(func(dec *jsontext.Decoder, _ *propertyMap) error { return rr.properties(dec) }),
		)))
	rr.in = newJSONStream(s, c.limits.LineBytes)
	c.where = rr.in.line
	for {
		more, err := rr.in.begin()
		if !more {
			return err
		}
		line := rr.in.line()
		rr.b = c.newJob("", line)
		var j loggedJob
		err = json.UnmarshalDecode(rr.in.dec, &j, rr.opts)
		if err == nil {
			err = rr.job(&j)
			if err != nil {
				return err
			}
			continue
		}
		if refused := errors.Is(err, errLineLong) || errors.Is(err, errRatio) || errors.Is(err, errAttempts); refused {
			return atLine(rr.in.line(), err)
		}
		lost := "what stands here"
		if id := j.JobID; id != "" {
			lost = "job " + id
		}
		c.problem(rr.in.lineOf(err), "%s is lost (began in line %d): %s", lost, line, jsonCause(err))
		if err := rr.in.resync(); err != nil {
			return err
		}
	}
}

// job completes the job whose tasks and properties have been taken in.
func (rr *rumenReader) job(j *loggedJob) error {
	c, b := rr.c, rr.b
	h := &b.job
	line := here
	h.ID, h.Name, h.User, h.Queue = j.JobID, unescape(j.JobName), c.intern(unescape(j.User)), c.intern(unescape(j.Queue))
	for i := range h.Tasks {
		for k := range h.Tasks[i].Attempts {
			a := &h.Tasks[i].Attempts[k]
			if a.Job != h.ID && h.ID != "" {
				c.problem(line, "%s is listed under job %s", attemptNameIn(a, h.Tasks[i].ReduceSlot), h.ID)
			}
			a.Job = h.ID
		}
	}
	h.Type = c.intern(j.JobType)
	c.priority(line, h, j.Priority)
	h.Submit = c.unixMillis(line, "submitTime", j.SubmitTime.orUnknown())
	h.Launch = c.unixMillis(line, "launchTime", j.LaunchTime.orUnknown())
	h.Finish = c.unixMillis(line, "finishTime", j.FinishTime.orUnknown())
	h.Outcome = c.state(line, "outcome", j.Outcome)
	h.Maps = int(c.count(line, "totalMaps", j.TotalMaps))
	h.Reduces = int(c.count(line, "totalReduces", j.TotalReduces))
	h.HeapMB = c.count(line, "heapMegabytes", j.HeapMB)
	h.MapMB = c.count(line, "jobMapMB", j.MapMB)
	h.ReduceMB = c.count(line, "jobReduceMB", j.ReduceMB)
	h.ClusterMapMB = c.count(line, "clusterMapMB", j.ClusterMapMB)
	h.ClusterReduceMB = c.count(line, "clusterReduceMB", j.ClusterReduceMB)
	return b.finish()
}

// properties reads jobProperties into the job's configuration.
func (rr *rumenReader) properties(dec *jsontext.Decoder) error {
	return eachMember(dec, func(key string) error {
		switch v, err := dec.ReadValue(); {
		case err != nil:
			return err
		case v.Kind() == 'n':
			return nil
		case v.Kind() == '{' || v.Kind() == '[':
			return fmt.Errorf("jobProperties: %s: want text", key)
		case v.Kind() != '"':
			return rr.c.property(&rr.b.job.Conf, key, rr.c.internBytes(v))
		default:
			rr.text = rr.text[:0]
			if rr.text, err = jsontext.AppendUnquote(rr.text, v); err != nil {
				return err
			}
			return rr.c.property(&rr.b.job.Conf, key, rr.c.internBytes(rr.text))
		}
	})
}

// tasks reads a list of tasks, one at a time.
func (rr *rumenReader) tasks(dec *jsontext.Decoder) error {
	tok, err := dec.ReadToken()
	if err != nil || tok.Kind() == 'n' {
		return err
	}
	if tok.Kind() != '[' {
		return fmt.Errorf("want a list of tasks")
	}
	for dec.PeekKind() != ']' {
		rr.task = loggedTask{Attempts: rr.task.Attempts[:0]}
		if err := json.UnmarshalDecode(dec, &rr.task, rr.plain); err != nil {
			return err
		}
		if err := rr.oneTask(&rr.task); err != nil {
			return err
		}
		if rr.c.full {
			return errAttempts
		}
	}
	_, err = dec.ReadToken()
	return err
}

// taskTypes are Hadoop's names of the kinds (TaskType).
var taskTypes = [numKinds]string{"MAP", "REDUCE", "SETUP", "CLEANUP", "TASK_CLEANUP"}

var taskKinds = map[string]Kind{
	"MAP": Map, "REDUCE": Reduce, "SETUP": Setup, "JOB_SETUP": Setup, "CLEANUP": Cleanup, "JOB_CLEANUP": Cleanup, "TASK_CLEANUP": TaskCleanup,
}

func (rr *rumenReader) oneTask(lt *loggedTask) error {
	c, b, line := rr.c, rr.b, here
	job, reduceSlot, number, ok := taskID(lt.TaskID)
	if !ok {
		c.problem(line, "task id %.80q: want task_..._m_000000: the task is dropped", lt.TaskID)
		return nil
	}
	kind, ok := taskKinds[lt.TaskType]
	if !ok {
		c.problem(line, "%s: type %.40q is none of MAP, REDUCE, SETUP, CLEANUP: the task is dropped", lt.TaskID, lt.TaskType)
		return nil
	}
	if _, twice := b.tasks[taskKey{reduceSlot: reduceSlot, number: number}]; twice {
		c.problem(line, "%s occurs twice: the second is dropped", lt.TaskID)
		return nil
	}
	t := b.task(kind, reduceSlot, number)
	t.State = c.state(line, lt.TaskID, lt.TaskStatus)
	t.Start = c.unixMillis(line, "startTime", lt.StartTime.orUnknown())
	t.Finish = c.unixMillis(line, "finishTime", lt.FinishTime.orUnknown())
	b.checkTimes(lt.TaskID, line, t.Start, &t.Finish)
	for _, l := range lt.PreferredLocations {
		if _, host := rr.location(line, l.Layers); host != "" {
			t.Split.Hosts = append(t.Split.Hosts, host)
		}
	}
	for i := range lt.Attempts {
		if err := rr.oneAttempt(t, job, &lt.Attempts[i], line); err != nil {
			return err
		}
	}
	if w := t.Winner(); w != nil { // Rumen's JobBuilder takes these from the attempt's counters
		fill := func(to *int64, from jsonNumber) {
			if *to == Unknown {
				*to = c.count(line, lt.TaskID, from)
			}
		}
		fill(&w.InRecords, lt.InputRecords)
		fill(&w.OutRecords, lt.OutputRecords)
		switch kind {
		case Map:
			fill(&w.HDFSReadBytes, lt.InputBytes)
		case Reduce:
			fill(&w.ShuffleBytes, lt.InputBytes)
			fill(&w.HDFSWriteBytes, lt.OutputBytes)
		}
	}
	return nil
}

// location notes a machine given by its layers, from the rack inwards.
func (rr *rumenReader) location(line int, layers []string) (rack, host string) {
	if len(layers) == 0 {
		return "", ""
	}
	for i := range layers {
		layers[i] = unescape(layers[i])
	}
	last := len(layers) - 1
	return rr.c.place(line, strings.Join(layers[:last], "/"), layers[last])
}

func (rr *rumenReader) oneAttempt(t *HistoryTask, job string, la *loggedTaskAttempt, line int) error {
	c, b := rr.c, rr.b
	ajob, reduceSlot, task, try, ok := attemptID(la.AttemptID)
	if !ok {
		c.problem(line, "attempt id %.80q: want attempt_..._m_000000_0: the attempt is dropped", la.AttemptID)
		return nil
	}
	if ajob != job || reduceSlot != t.ReduceSlot || task != t.Number {
		c.problem(line, "%s is listed under another task: dropped", la.AttemptID)
		return nil
	}
	before := len(t.Attempts)
	a := b.attempt(t, try)
	if a == nil {
		return errAttempts
	}
	if len(t.Attempts) == before {
		c.problem(line, "%s occurs twice: the second is dropped", la.AttemptID)
		return nil
	}
	a.Job = c.intern("job_" + job)
	a.State = c.state(line, la.AttemptID, la.Result)
	a.Start = c.unixMillis(line, "startTime", la.StartTime.orUnknown())
	a.Finish = c.unixMillis(line, "finishTime", la.FinishTime.orUnknown())
	b.checkTimes(la.AttemptID, line, a.Start, &a.Finish)
	b.phases(a, line, c.unixMillis(line, "shuffleFinished", la.ShuffleFinished.orUnknown()),
		c.unixMillis(line, "sortFinished", la.SortFinished.orUnknown()))
	if la.HostName != "" {
		a.Rack, a.Node = c.host(line, la.HostName)
	} else if la.Location != nil {
		a.Rack, a.Node = rr.location(line, la.Location.Layers)
	}
	count := func(name string, v jsonNumber) int64 { return c.count(line, name, v) }
	a.HDFSReadBytes = count("hdfsBytesRead", la.HDFSBytesRead)
	a.HDFSWriteBytes = count("hdfsBytesWritten", la.HDFSBytesWritten)
	a.LocalReadBytes = count("fileBytesRead", la.FileBytesRead)
	a.LocalWriteBytes = count("fileBytesWritten", la.FileBytesWritten)
	a.SpilledRecords = count("spilledRecords", la.SpilledRecords)
	a.ShuffleBytes = count("reduceShuffleBytes", la.ReduceShuffleBytes)
	a.More.CombineInRecords = count("combineInputRecords", la.CombineInputRecords)
	a.More.InGroups = count("reduceInputGroups", la.ReduceInputGroups)
	if t.ReduceSlot {
		a.InRecords = count("reduceInputRecords", la.ReduceInputRecords)
		a.OutRecords = count("reduceOutputRecords", la.ReduceOutputRecords)
	} else {
		a.InRecords = count("mapInputRecords", la.MapInputRecords)
		a.InBytes = count("mapInputBytes", la.MapInputBytes)
		a.OutRecords = count("mapOutputRecords", la.MapOutputRecords)
		a.OutBytes = count("mapOutputBytes", la.MapOutputBytes)
	}
	if u := la.ResourceUsage; u != nil {
		a.More.CPUMillis = count("cumulativeCpuUsage", u.CPU)
		a.More.VirtualBytes = count("virtualMemoryUsage", u.Virtual)
		a.More.PhysicalBytes = count("physicalMemoryUsage", u.Physical)
		a.More.HeapBytes = count("heapUsage", u.Heap)
	}
	if len(la.ClockSplits)+len(la.CPUUsages)+len(la.VMemKbytes)+len(la.PhysMemKbytes) > 0 {
		a.Progress = &ProgressSplits{la.ClockSplits, la.CPUUsages, la.VMemKbytes, la.PhysMemKbytes}
	}
	return nil
}

// count is a number that cannot be negative, -1 being unknown.
func (c *collector) count(line int, what string, n jsonNumber) int64 {
	v := n.orUnknown()
	if v < Unknown {
		c.problem(line, "%s = %d: a count cannot be negative", what, v)
		return Unknown
	}
	return v
}

// state reads how a job, task or attempt ended; SUCCESS and SUCCEEDED are the
// same, and nothing means that no end was recorded.
func (c *collector) state(line int, what, s string) State {
	switch s {
	case "SUCCESS", "SUCCEEDED":
		return Succeeded
	case "FAILED", "ERROR", "FAILED_UNCLEAN":
		return Failed
	case "KILLED", "KILLED_UNCLEAN":
		return Killed
	case "", "RUNNING", "PREP", "INITED", "UNASSIGNED", "COMMIT_PENDING":
		return Running
	}
	c.problem(line, "%s: outcome %.40q is none of SUCCESS, FAILED, KILLED", what, s)
	return Running
}

func (c *collector) priority(line int, j *HistoryJob, s string) {
	if s == "" {
		return
	}
	p, ok := ParsePriority(s)
	if !ok {
		c.problem(line, "job %s: priority %.40q is none of VERY_HIGH, HIGH, NORMAL, LOW, VERY_LOW", j.ID, s)
		return
	}
	j.Priority = p
}

// jsonCause is the core of an error of the JSON decoder.
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
		return fmt.Sprintf("%s: found %v where it does not belong", semantic.JSONPointer, semantic.JSONKind)
	}
	return err.Error()
}

// eachMember calls f for each member of the object that comes next, after its
// name; null counts as empty.
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

// jsonStream is a sequence of JSON objects that survives damage: after an
// error it goes on at the next line that begins an object.
type jsonStream struct {
	dec    *jsontext.Decoder
	r      *bufio.Reader
	max    int
	read   int64 // bytes handed to dec
	breaks int   // lines ended in them and before

	resyncs int
}

func newJSONStream(from *source, max int) *jsonStream {
	s := &jsonStream{r: from.Reader, max: max, breaks: from.skipped}
	s.restart()
	return s
}

func (s *jsonStream) restart() {
	s.read = 0
	s.dec = jsontext.NewDecoder(readerFunc(func(p []byte) (int, error) {
		if s.dec != nil && s.read-s.dec.InputOffset() > int64(s.max) {
			return 0, errLineLong
		}
		n, err := s.r.Read(p)
		s.read += int64(n)
		s.breaks += bytes.Count(p[:n], []byte{'\n'})
		return n, err
	}), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// line is the number of the line that is being read.
func (s *jsonStream) line() int {
	return s.breaks - bytes.Count(s.dec.UnreadBuffer(), []byte{'\n'}) + 1
}

// lineOf is the number of the line where an error lies: a syntax error behind
// what was read last.
func (s *jsonStream) lineOf(err error) int {
	var syntactic *jsontext.SyntacticError
	unread := s.dec.UnreadBuffer()
	if errors.As(err, &syntactic) {
		behind := syntactic.ByteOffset - s.dec.InputOffset()
		if behind > 0 && behind <= int64(len(unread)) {
			return s.line() + bytes.Count(unread[:behind], []byte{'\n'})
		}
	}
	return s.line()
}

// begin reports whether another value follows.
func (s *jsonStream) begin() (bool, error) {
	if s.dec.PeekKind() != 0 {
		return true, nil
	}
	// PeekKind hides the error; ask again for it without losing a value.
	_, err := s.dec.ReadToken()
	if err == io.EOF {
		return false, nil
	}
	return true, nil
}

// maxResyncs bounds the pieces of a file that may be damaged.
const maxResyncs = 1000

// resync goes on at the next line that begins an object.
func (s *jsonStream) resync() error {
	if s.resyncs++; s.resyncs > maxResyncs {
		return atLine(s.line(), fmt.Errorf("more than %d places are damaged: refused", maxResyncs))
	}
	s.breaks -= bytes.Count(s.dec.UnreadBuffer(), []byte{'\n'})
	left := bytes.Clone(s.dec.UnreadBuffer())
	r := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(left), s.r), 1<<16)
	for first := true; ; first = false {
		head, _ := r.Peek(256)
		if (!first || bytes.HasPrefix(head, []byte{'}'})) && beginsObject(head) {
			for b, _ := r.ReadByte(); b != '{'; b, _ = r.ReadByte() {
			}
			r.UnreadByte()
			break
		}
		for {
			_, err := r.ReadSlice('\n')
			if err == bufio.ErrBufferFull {
				continue
			}
			if err == io.EOF {
				s.r = r
				s.restart()
				return nil
			}
			if err != nil {
				return err
			}
			break
		}
		s.breaks++
	}
	s.r = r
	s.restart()
	return nil
}

// beginsObject reports whether a line begins with an object, perhaps behind
// the bracket that ends the one before.
func beginsObject(line []byte) bool {
	if after, ok := bytes.CutPrefix(line, []byte{'}'}); ok {
		line = bytes.TrimLeft(after, " ")
	}
	return len(line) > 0 && line[0] == '{'
}
