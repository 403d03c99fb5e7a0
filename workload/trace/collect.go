package trace

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// collector gathers what one or more files say into a History. The readers
// give instants as they stand in the source (Unix time); rebase makes them
// relative.
type collector struct {
	limits   Limits
	file     string
	h        *workload.History
	each     func(*workload.HistoryJob) error // takes each finished job
	where    func() int                       // the line that stands for here
	racks    map[string]string                // of each host seen
	names    map[string]string                // one copy of each host, rack, property...
	named    int                              // bytes of these
	seen     idSet                            // of jobs
	confs    map[string]workload.Conf         // read apart from their jobs, by job id
	tables   map[string]*jobBuilder           // jobs whose tables may be several files, by id
	order    []*jobBuilder                    // the same in order of their first row
	hitune   *mrv1Reader                      // likewise for HiTune's tables
	attempts int                              // and tasks that are kept
	passing  bool                             // each keeps no jobs
	full     bool                             // a limit on them was hit
	// Instants that are differences cannot be put in order with Unix times.
	differences bool
}

func newCollector(limits Limits) *collector {
	c := &collector{
		limits: limits.withDefaults(), h: &workload.History{Epoch: workload.Unknown},
		racks: make(map[string]string), names: make(map[string]string),
		confs: make(map[string]workload.Conf), tables: make(map[string]*jobBuilder),
	}
	c.each = func(j *workload.HistoryJob) error {
		c.h.Jobs = append(c.h.Jobs, *j)
		return nil
	}
	return c
}

// here stands for the line that the JSON reader is in, which takes counting.
const here = -1

// problem notes a loss.
func (c *collector) problem(line int, format string, args ...any) {
	if len(c.h.Problems) >= c.limits.Problems {
		c.h.Dropped++
		return
	}
	if line == here {
		line = c.where()
	}
	c.h.Problems = append(c.h.Problems, workload.Problem{File: c.file, Line: line, What: fmt.Sprintf(format, args...)})
}

// losses counts the problems.
func (c *collector) losses() int { return len(c.h.Problems) + c.h.Dropped }

// damage notes what was wrong with a source's compression.
func (c *collector) damage(s *source) {
	if err := s.damage(); err != nil {
		c.problem(0, "the compressed content is damaged: %v; what comes before is kept", err)
	}
}

// intern returns the one copy of a short text that recurs, as far as it was
// among the last megabytes of such texts.
func (c *collector) intern(s string) string {
	if one, ok := c.names[s]; ok {
		return one
	}
	const most = 4 << 20
	if c.named += len(s); c.named > most {
		clear(c.names)
		c.named = len(s)
	}
	s = strings.Clone(s)
	c.names[s] = s
	return s
}

// internBytes is intern without a copy of a text that has come before.
func (c *collector) internBytes(b []byte) string {
	if one, ok := c.names[string(b)]; ok {
		return one
	}
	return c.intern(string(b))
}

// text reads a text, of which null is the empty one; texts that recur are kept
// once.
func (c *collector) text(in *jsonScanner, to *string) error {
	text, err := in.string()
	if err == nil {
		*to = c.internBytes(text)
	}
	return err
}

// host takes a machine's name as Hadoop writes it, /rack/host or host, notes
// it in the topology and returns its parts.
func (c *collector) host(line int, s string) (rack, host string) {
	s = unescape(s)
	host = s
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		rack, host = strings.Trim(s[:i], "/"), s[i+1:]
	}
	return c.place(line, rack, host)
}

// place notes that a host stands in a rack; an empty rack is not known.
func (c *collector) place(line int, rack, host string) (string, string) {
	if host == "" {
		return "", ""
	}
	rack = strings.Trim(rack, "/") // as tables of runs have it
	was, known := c.racks[host]
	if known && (rack == "" || rack == was) {
		return was, c.intern(host)
	}
	rack, host = c.intern(rack), c.intern(host)
	if known && was != "" {
		c.problem(line, "host %s in rack %s was in rack %s before: the first is kept", host, rack, was)
		return was, host
	}
	c.racks[host] = rack
	return rack, host
}

// trackerHost returns the host in a TaskTracker's name,
// tracker_host:localhost/127.0.0.1:58165.
func trackerHost(tracker string) string {
	host, ok := strings.CutPrefix(tracker, "tracker_")
	if !ok {
		return ""
	}
	if i := strings.IndexByte(host, ':'); i >= 0 {
		host = host[:i]
	}
	return host
}

// unescape undoes the escapes of the job history, which old traces kept: a
// backslash before a dot, an equals sign, a quote or a backslash.
func unescape(s string) string {
	i := strings.IndexByte(s, '\\')
	if i < 0 || i+1 == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for ; i >= 0 && i+1 < len(s); i = strings.IndexByte(s, '\\') {
		b.WriteString(s[:i])
		if !strings.ContainsRune(`."=\`, rune(s[i+1])) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i+1])
		s = s[i+2:]
	}
	b.WriteString(s)
	return b.String()
}

// taskID takes task_JOB_m_000012 apart; job comes without its prefix.
func taskID[T string | []byte](id T) (job T, reduceSlot bool, number int, ok bool) {
	const prefix = "task_"
	if len(id) < len(prefix) || string(id[:len(prefix)]) != prefix {
		return job, false, 0, false
	}
	return splitID(id[len(prefix):])
}

// attemptID takes attempt_JOB_m_000012_0 apart.
func attemptID[T string | []byte](id T) (job T, reduceSlot bool, task, number int, ok bool) {
	const prefix = "attempt_"
	if len(id) < len(prefix) || string(id[:len(prefix)]) != prefix {
		return job, false, 0, 0, false
	}
	rest := id[len(prefix):]
	i := lastUnderscore(rest)
	if i < 0 {
		return job, false, 0, 0, false
	}
	number, ok = ordinal(rest[i+1:])
	if !ok {
		return job, false, 0, 0, false
	}
	job, reduceSlot, task, ok = splitID(rest[:i])
	return job, reduceSlot, task, number, ok
}

func splitID[T string | []byte](rest T) (job T, reduceSlot bool, number int, ok bool) {
	i := lastUnderscore(rest)
	if i < 3 || rest[i-2] != '_' || (rest[i-1] != 'm' && rest[i-1] != 'r') {
		return job, false, 0, false
	}
	number, ok = ordinal(rest[i+1:])
	return rest[:i-2], rest[i-1] == 'r', number, ok
}

func lastUnderscore[T string | []byte](s T) int {
	i := len(s) - 1
	for i >= 0 && s[i] != '_' {
		i--
	}
	return i
}

// ordinal reads the number of a task or an attempt.
func ordinal[T string | []byte](s T) (int, bool) {
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		if n = n*10 + int(s[i]-'0'); n > math.MaxInt32 {
			return 0, false
		}
	}
	return n, len(s) > 0
}

// idSet holds ids of jobs. Hadoop's, job_START_NUMBER, take a bit each where
// their numbers follow one another.
type idSet struct {
	blocks map[idBlock]uint64
	others map[string]bool
}

// idBlock stands for 64 numbers that are written with so many digits.
type idBlock struct {
	start         string
	digits, block int
}

// add puts an id in and reports whether it was not there.
func (s *idSet) add(id string) bool {
	if s.blocks == nil {
		s.blocks, s.others = make(map[idBlock]uint64), make(map[string]bool)
	}
	i := strings.LastIndexByte(id, '_')
	n, ok := ordinal(id[i+1:])
	if !ok {
		was := s.others[id]
		s.others[id] = true
		return !was
	}
	at, bit := idBlock{id[:i+1], len(id) - i - 1, n / 64}, uint64(1)<<(n%64)
	was := s.blocks[at]
	s.blocks[at] = was | bit
	return was&bit == 0
}

// bareID is a job's id without its prefix, as task and attempt ids carry it.
func bareID(job string) string { return strings.TrimPrefix(job, "job_") }

// jobBuilder assembles one job from records in any order.
type jobBuilder struct {
	c     *collector
	job   workload.HistoryJob
	tasks map[taskKey]int // index in job.Tasks
	marks map[attemptKey]attemptMarks
	line  int // where the job began
	count int // of tasks and attempts

	tabular  bool // of tables, which announce nothing that their rows must fit
	measures map[taskKey]taskMeasure
	began    map[attemptKey]time.Duration // when the child process began its work
}

// taskKey names a task of a job. Ids number all tasks that take slots of a
// type; tables number tasks by kind.
type taskKey struct {
	reduceSlot bool
	number     int
	kind       workload.Kind // of tables only
}

type attemptKey struct {
	taskKey
	attempt int
}

// attemptMarks is what events said of an attempt that only its other events
// can complete.
type attemptMarks struct {
	line             int // of its last event
	shuffled, sorted time.Duration
	mapped           time.Duration
}

func (c *collector) newJob(id string, line int) *jobBuilder {
	return &jobBuilder{c: c, job: workload.NewHistoryJob(id), tasks: make(map[taskKey]int), line: line}
}

// mark notes the line of an attempt's event.
func (b *jobBuilder) mark(t *workload.HistoryTask, a *workload.HistoryAttempt, line int) {
	b.update(t, a, func(m *attemptMarks) {
		if !workload.Known(m.shuffled) {
			m.line = line
		}
	})
}

// markShuffle notes the ends of an attempt's shuffle and sort.
func (b *jobBuilder) markShuffle(t *workload.HistoryTask, a *workload.HistoryAttempt, line int, shuffled, sorted time.Duration) {
	b.update(t, a, func(m *attemptMarks) { m.line, m.shuffled, m.sorted = line, shuffled, sorted })
}

// markMap notes the end of an attempt's map phase; what follows is the merge.
func (b *jobBuilder) markMap(t *workload.HistoryTask, a *workload.HistoryAttempt, line int, mapped time.Duration) {
	b.update(t, a, func(m *attemptMarks) { m.line, m.mapped = line, mapped })
}

func (b *jobBuilder) update(t *workload.HistoryTask, a *workload.HistoryAttempt, f func(*attemptMarks)) {
	if b.marks == nil {
		b.marks = make(map[attemptKey]attemptMarks)
	}
	key := attemptKey{taskKey{reduceSlot: t.ReduceSlot, number: t.Number}, a.Number}
	m, ok := b.marks[key]
	if !ok {
		m = attemptMarks{shuffled: workload.UnknownTime, sorted: workload.UnknownTime, mapped: workload.UnknownTime}
	}
	f(&m)
	b.marks[key] = m
}

// settle completes the attempts that events described, in order.
func (b *jobBuilder) settle() {
	if b.marks == nil {
		return
	}
	for i := range b.job.Tasks {
		t := &b.job.Tasks[i]
		for k := range t.Attempts {
			a := &t.Attempts[k]
			m, ok := b.marks[attemptKey{taskKey{reduceSlot: t.ReduceSlot, number: t.Number}, a.Number}]
			if !ok {
				m = attemptMarks{line: b.line, shuffled: workload.UnknownTime, mapped: workload.UnknownTime}
			}
			name := attemptNameIn(a, t.ReduceSlot)
			switch {
			case a.State == workload.Running || !workload.Known(a.Finish):
				b.c.problem(m.line, "%s has no end", name)
			case !workload.Known(a.Start) && a.State != workload.Killed: // those may end before they start
				b.c.problem(m.line, "%s has no start", name)
			}
			b.checkTimes(name, m.line, a.Start, &a.Finish)
			b.phases(a, m.line, m.shuffled, m.sorted)
			if workload.Known(m.mapped) && workload.Known(a.Start) && workload.Known(a.Finish) {
				if m.mapped < a.Start || a.Finish < m.mapped {
					b.c.problem(m.line, "%s: start, end of map phase and finish are out of order: the phases are dropped", name)
				} else {
					a.Phases[workload.PhaseMap], a.Phases[workload.PhaseMerge] = m.mapped-a.Start, a.Finish-m.mapped
				}
			}
			if a.Node == "" {
				a.Rack, a.Node = b.c.place(m.line, "", trackerHost(a.Tracker))
			}
		}
		b.checkTimes(taskName(b.job.ID, t), b.line, t.Start, &t.Finish)
	}
}

// task returns the task of that id, new if need be. The pointer is valid until
// the next call.
func (b *jobBuilder) task(kind workload.Kind, reduceSlot bool, number int) *workload.HistoryTask {
	return b.taskOf(taskKey{reduceSlot: reduceSlot, number: number}, kind, reduceSlot, number)
}

// taskApart is task where each kind has numbers of its own.
func (b *jobBuilder) taskApart(kind workload.Kind, reduceSlot bool, number int) *workload.HistoryTask {
	return b.taskOf(taskKey{reduceSlot, number, kind}, kind, reduceSlot, number)
}

func (b *jobBuilder) taskOf(key taskKey, kind workload.Kind, reduceSlot bool, number int) *workload.HistoryTask {
	i, ok := b.tasks[key]
	if !ok {
		b.c.attempts++
		b.count++
		b.c.full = b.c.full || b.c.attempts > b.c.limits.Attempts
		i = len(b.job.Tasks)
		b.tasks[key] = i
		b.job.Tasks = append(b.job.Tasks, workload.NewHistoryTask(kind, reduceSlot, number))
	}
	return &b.job.Tasks[i]
}

// attempt returns the attempt of that number, new if need be, and nil beyond
// the limit on attempts. The pointer is valid until the next call.
func (b *jobBuilder) attempt(t *workload.HistoryTask, number int) *workload.HistoryAttempt {
	for i := range t.Attempts {
		if t.Attempts[i].Number == number {
			return &t.Attempts[i]
		}
	}
	if b.c.attempts >= b.c.limits.Attempts || len(t.Attempts) >= maxAttemptsOfTask {
		b.c.full = true
		return nil
	}
	b.c.attempts++
	b.count++
	t.Attempts = append(t.Attempts, workload.NewHistoryAttempt(b.job.ID, b.job.Pool, t.Kind, t.Number, number))
	return &t.Attempts[len(t.Attempts)-1]
}

// maxAttemptsOfTask is far beyond what Hadoop allows (four, twenty when set
// high, and those killed); more is a damaged file.
const maxAttemptsOfTask = 1000

var errAttempts = fmt.Errorf("more tasks or attempts than the limit: refused")

// phases splits a reduce attempt at the ends of its shuffle and its sort.
func (b *jobBuilder) phases(a *workload.HistoryAttempt, line int, shuffleEnd, sortEnd time.Duration) {
	if !workload.Known(shuffleEnd) || !workload.Known(a.Start) {
		return
	}
	if !workload.Known(sortEnd) {
		sortEnd = shuffleEnd
	}
	if shuffleEnd < a.Start || sortEnd < shuffleEnd || workload.Known(a.Finish) && a.Finish < sortEnd {
		b.c.problem(line, "%s: start, end of shuffle, end of sort and finish are out of order: the phases are dropped", attemptName(a))
		return
	}
	a.Phases[workload.PhaseShuffle] = shuffleEnd - a.Start
	a.Phases[workload.PhaseMerge] = sortEnd - shuffleEnd
	if workload.Known(a.Finish) {
		a.Phases[workload.PhaseReduce] = a.Finish - sortEnd
	}
}

// complete adds what was measured inside tasks.
func (b *jobBuilder) complete() {
	for i := range b.job.Tasks {
		t := &b.job.Tasks[i]
		if m, ok := b.measures[taskKey{t.ReduceSlot, t.Number, t.Kind}]; ok {
			if w := t.Winner(); w != nil {
				m.apply(t, w)
			}
		}
		for k := range t.Attempts {
			a := &t.Attempts[k]
			began, ok := b.began[attemptKey{taskKey{reduceSlot: t.ReduceSlot, number: t.Number}, a.Number}]
			if !ok || !workload.Known(began) || !workload.Known(a.Start) || !workload.Known(a.Finish) || began < a.Start || began > a.Finish {
				continue
			}
			startup := began - a.Start
			if t.ReduceSlot && workload.Known(a.Phases[workload.PhaseShuffle]) && a.Phases[workload.PhaseShuffle] >= startup {
				a.Phases[workload.PhaseStartup] = startup
				a.Phases[workload.PhaseShuffle] -= startup
			} else if !t.ReduceSlot {
				a.Phases[workload.PhaseStartup] = startup
				a.Phases[workload.PhaseMap] = a.Finish - began
			}
		}
	}
}

// checkTimes drops a finish that lies before the start.
func (b *jobBuilder) checkTimes(what string, line int, start time.Duration, finish *time.Duration) {
	if workload.Known(start) && workload.Known(*finish) && *finish < start {
		b.c.problem(line, "%s finishes %v before it starts: the finish is dropped", what, start-*finish)
		*finish = workload.UnknownTime
	}
}

func slotLetter(reduceSlot bool) byte {
	if reduceSlot {
		return 'r'
	}
	return 'm'
}

// taskName is the id of a task.
func taskName(job string, t *workload.HistoryTask) string {
	return fmt.Sprintf("task_%s_%c_%06d", bareID(job), slotLetter(t.ReduceSlot), t.Number)
}

// attemptName is the id of an attempt; set-up and clean-up are taken to run in
// a map slot, which is where their numbers come from unless the task says
// otherwise.
func attemptName(a *workload.HistoryAttempt) string {
	return attemptNameIn(a, a.Kind == workload.Reduce)
}

func attemptNameIn(a *workload.HistoryAttempt, reduceSlot bool) string {
	return fmt.Sprintf("attempt_%s_%c_%06d_%d", bareID(a.Job), slotLetter(reduceSlot), a.Task, a.Number)
}

// finish puts the job in order, checks what it announced, and passes it on.
func (b *jobBuilder) finish() error {
	defer b.release()
	c, j := b.c, &b.job
	if j.ID == "" {
		c.problem(b.line, "a job without an id is dropped")
		return nil
	}
	if !c.seen.add(j.ID) {
		c.problem(b.line, "job %s occurs twice: the second is dropped", j.ID)
		return nil
	}
	slices.SortFunc(j.Tasks, compareTasks)
	b.settle()
	b.complete()
	c.configureJob(j)
	for i := range j.Tasks {
		t := &j.Tasks[i]
		slices.SortFunc(t.Attempts, func(x, y workload.HistoryAttempt) int { return cmp.Compare(x.Number, y.Number) })
		for k := range t.Attempts {
			t.Attempts[k].Kind = t.Kind
			if a := &t.Attempts[k]; a.Rack == "" {
				a.Rack = c.racks[a.Node]
			}
			c.locate(t, &t.Attempts[k])
		}
	}
	b.checkTimes("job "+j.ID, b.line, j.Submit, &j.Finish)
	if j.Outcome == workload.Succeeded && !(b.tabular && len(j.Tasks) == 0) {
		for _, x := range []struct {
			kind   workload.Kind
			stated int
			what   string
		}{{workload.Map, j.Maps, "maps"}, {workload.Reduce, j.Reduces, "reduces"}} {
			if found, _ := j.Count(x.kind); x.stated >= 0 && found != x.stated {
				c.problem(b.line, "job %s succeeded with %d %s, but %d are recorded", j.ID, x.stated, x.what, found)
			}
		}
	}
	return c.each(j)
}

// release no longer counts the tasks of a job that nobody keeps.
func (b *jobBuilder) release() {
	if b.c.passing {
		b.c.attempts -= b.count
	}
}

// tasksAnnounced is a number of tasks that a job announces; more than could be
// read are damage.
func (c *collector) tasksAnnounced(line int, what string, v int64) int {
	if v > int64(c.limits.Attempts) {
		c.problem(line, "%s = %d: want at most %d tasks: taken as unknown", what, v, c.limits.Attempts)
		v = workload.Unknown
	}
	return int(v)
}

// replicas notes the machines that hold a task's input, separated by sep. In
// sound files they are few.
func (c *collector) replicas(line int, t *workload.HistoryTask, text, sep string) {
	const most = maxAttemptsOfTask
	for split := range strings.SplitSeq(text, sep) {
		if len(t.Split.Hosts) == most {
			c.problem(line, "task %d: more than %d replicas of its input: the others are dropped", t.Number, most)
			return
		}
		if _, host := c.host(line, split); host != "" {
			t.Split.Hosts = append(t.Split.Hosts, host)
		}
	}
}

// configureJob lays a configuration that was read apart over the job's, and
// takes from it what the job's records do not state.
func (c *collector) configureJob(j *workload.HistoryJob) {
	if conf, ok := c.confs[j.ID]; ok {
		j.Conf = j.Conf.Over(conf)
		delete(c.confs, j.ID)
	}
	if j.Pool == "" {
		j.Pool = c.intern(j.Conf.String("mapred.fairscheduler.pool", ""))
	}
	for i := range j.Tasks {
		for k := range j.Tasks[i].Attempts {
			j.Tasks[i].Attempts[k].Pool = j.Pool
		}
	}
	if j.Queue == "" {
		j.Queue = c.intern(j.Conf.String("mapred.job.queue.name", ""))
	}
	for _, x := range []struct {
		to  *int64
		key string
	}{
		{&j.HeapMB, "mapred.child.java.opts"}, {&j.MapMB, "mapred.map.child.java.opts"}, {&j.ReduceMB, "mapred.reduce.child.java.opts"},
	} {
		if *x.to == workload.Unknown {
			*x.to = workload.HeapMB(j.Conf.String(x.key, j.Conf.String("mapred.child.java.opts", "")))
		}
	}
}

// locate sets how far a map ran from its split, where the source did not say.
func (c *collector) locate(t *workload.HistoryTask, a *workload.HistoryAttempt) {
	if a.Locality != workload.NoLocality || a.Kind != workload.Map || a.Node == "" || len(t.Split.Hosts) == 0 {
		return
	}
	if slices.Contains(t.Split.Hosts, a.Node) {
		a.Locality = workload.NodeLocal
		return
	}
	if a.Rack == "" {
		return
	}
	a.Locality = workload.OffRack
	for _, h := range t.Split.Hosts {
		if c.racks[h] == a.Rack {
			a.Locality = workload.RackLocal
		}
	}
}

// finishTables passes on the jobs that tables described.
func (c *collector) finishTables() error {
	if c.hitune != nil {
		if err := c.hitune.finish(); err != nil {
			return err
		}
	}
	for _, b := range c.order {
		if err := b.finish(); err != nil {
			return err
		}
	}
	if c.differences && c.h.Epoch != workload.Unknown {
		return fmt.Errorf("some files state Unix times and others only differences: read them apart")
	}
	return nil
}

// close makes the instants relative to the earliest submission and orders the
// jobs by it, then by id.
func (c *collector) close() *workload.History {
	h := c.h
	rebase(h.Jobs, &h.Epoch)
	for i := range h.Jobs { // configurations read after their jobs
		c.configureJob(&h.Jobs[i])
	}
	slices.SortStableFunc(h.Jobs, func(x, y workload.HistoryJob) int {
		return cmp.Or(cmp.Compare(x.Submit, y.Submit), cmp.Compare(x.ID, y.ID))
	})
	h.Topology = c.topology()
	return h
}

// rebase moves the earliest submission to zero; where none is recorded, Unix
// times move by the first instant and differences stay. epoch, where it is
// set, is the Unix time of instant 0 in milliseconds and moves along.
func rebase(jobs []workload.HistoryJob, epoch *int64) {
	zero := workload.UnknownTime
	see := func(d time.Duration) {
		if workload.Known(d) && (!workload.Known(zero) || d < zero) {
			zero = d
		}
	}
	for i := range jobs {
		see(jobs[i].Submit)
	}
	if !workload.Known(zero) && *epoch != workload.Unknown {
		for i := range jobs {
			see(jobs[i].Earliest())
		}
	}
	if !workload.Known(zero) {
		return
	}
	for i := range jobs {
		jobs[i].Shift(-zero)
	}
	if *epoch != workload.Unknown {
		*epoch += zero.Milliseconds()
	}
}

// topology lists the hosts seen by rack.
func (c *collector) topology() workload.Topology {
	byRack := make(map[string]int)
	var t workload.Topology
	for _, host := range slices.Sorted(maps.Keys(c.racks)) {
		rack := c.racks[host]
		i, ok := byRack[rack]
		if !ok {
			i = len(t.Racks)
			byRack[rack] = i
			t.Racks = append(t.Racks, workload.Rack{Name: rack})
		}
		t.Racks[i].Hosts = append(t.Racks[i].Hosts, host)
	}
	slices.SortFunc(t.Racks, func(a, b workload.Rack) int { return cmp.Compare(a.Name, b.Name) })
	return t
}

// unixMillis turns a time in milliseconds as Hadoop writes it into an instant;
// zero and -1 are unknown.
func (c *collector) unixMillis(line int, what string, v int64) time.Duration {
	const last = 9_000_000_000_000 // the year 2255, near the end of a Duration
	switch {
	case v == 0 || v == workload.Unknown:
		return workload.UnknownTime
	case v < 0 || v > last:
		c.problem(line, "%s = %d: want a time in milliseconds", what, v)
		return workload.UnknownTime
	}
	c.h.Epoch = 0
	return time.Duration(v) * time.Millisecond
}

// compareTasks orders tasks: maps, reduces, set-up, clean-up; each by number,
// map slots before reduce slots.
func compareTasks(a, b workload.HistoryTask) int {
	slot := func(t workload.HistoryTask) int {
		if t.ReduceSlot {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(slot(a), slot(b)), cmp.Compare(a.Number, b.Number))
}
