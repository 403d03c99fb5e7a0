package trace

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// collector collects the records of one or more files into a History. The
// readers pass instants as in the source (Unix time). rebase makes them
// relative.
type collector struct {
	limits   Limits
	file     string
	conf     workload.Conf // of jobs that do not state theirs
	h        *workload.History
	each     func(*workload.HistoryJob) error // receives each finished job
	where    func() int                       // line of the present record, if the reader counts it
	racks    map[string]string                // of each host seen
	names    map[string]string                // one copy of each host, rack, property...
	named    int                              // size of these
	seen     map[string]bool                  // ids of jobs
	unread   map[[2]string]int                // places in h.Unread, by property and value
	again    []int                            // how often each of h.Unread came again
	confs    map[string]workload.Conf         // read apart from their jobs, by job id
	tables   map[string]*jobBuilder           // jobs whose tables may be in several files, by id
	order    []*jobBuilder                    // the same jobs in order of their first row
	jobRows  int                              // of tables of jobs
	hitune   *mrv1Reader                      // the same for HiTune's tables
	attempts int                              // and tasks that are kept
	passing  bool                             // f receives the jobs, none is kept
	listed   map[string]bool                  // machines of a list of the cluster
	unknown  map[string]bool                  // members of JSON objects that nobody reads
	full     bool                             // a limit was reached
	// Instants that are differences cannot be ordered with Unix times.
	differences bool
	ofTimes     [2]string // the first files with differences and with Unix times
}

func newCollector(limits Limits) *collector {
	c := &collector{
		limits: limits.withDefaults(), h: &workload.History{Epoch: workload.Unknown},
		racks: make(map[string]string), names: make(map[string]string), seen: make(map[string]bool), unread: make(map[[2]string]int),
		confs: make(map[string]workload.Conf), tables: make(map[string]*jobBuilder), listed: make(map[string]bool), unknown: make(map[string]bool),
	}
	c.each = func(j *workload.HistoryJob) error {
		c.h.Jobs = append(c.h.Jobs, *j)
		return nil
	}
	return c
}

// here replaces the line of the JSON reader, which is expensive to count.
const here = -1

// problem records a loss.
func (c *collector) problem(line int, format string, args ...any) {
	if len(c.h.Problems) >= c.limits.Problems {
		c.h.Dropped++
		return
	}
	c.h.Problems = append(c.h.Problems, c.problemAt(line, format, args...))
}

func (c *collector) problemAt(line int, format string, args ...any) workload.Problem {
	if line == here {
		line = c.where()
	}
	what := strings.ReplaceAll(fmt.Sprintf(format, args...), io.ErrUnexpectedEOF.Error(), "the file ends within it")
	return workload.Problem{File: c.file, Line: line, What: what}
}

// losses counts the problems.
func (c *collector) losses() int { return len(c.h.Problems) + c.h.Dropped }

// damage records an error in the compression of a source.
func (c *collector) damage(s *source) {
	if err := s.damage(); err != nil {
		c.problem(0, "the compressed content is damaged: %v; what comes before is kept", err)
	}
}

// intern returns one shared copy of a short text that recurs among the last
// megabytes of such texts.
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

// internBytes is like intern, but copies only new texts.
func (c *collector) internBytes(b []byte) string {
	if one, ok := c.names[string(b)]; ok {
		return one
	}
	return c.intern(string(b))
}

// text reads a text; null is the empty text. It keeps one copy of recurring
// texts.
func (c *collector) text(in *jsonScanner, to *string) error {
	text, err := in.string()
	if err == nil {
		*to = c.internBytes(text)
	}
	return err
}

// host reads a machine's name as Hadoop writes it, /rack/host or host. It adds
// the host to the topology and returns its parts.
func (c *collector) host(line int, s string) (rack, host string) {
	s = unescape(s)
	host = s
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		rack, host = strings.Trim(s[:i], "/"), s[i+1:]
	}
	return c.place(line, rack, host)
}

// place records the rack of a host; an empty rack is unknown.
func (c *collector) place(line int, rack, host string) (string, string) {
	if host == "" {
		return "", ""
	}
	rack = strings.Trim(rack, "/") // as in tables of runs
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

// list places a host of a list of the cluster's machines.
func (c *collector) list(line int, rack, host string) {
	if _, host = c.place(line, rack, host); host != "" {
		c.listed[host] = true
	}
}

// tasksAnnounced returns the number of tasks that a job announces. A number
// above the limit counts as damage.
func (c *collector) tasksAnnounced(line int, what string, v int64) int {
	if v > int64(c.limits.Attempts) {
		c.problem(line, "%s = %d: want at most %d tasks: taken as unknown", what, v, c.limits.Attempts)
		v = workload.Unknown
	}
	return int(v)
}

// replicas records the machines that hold a task's input, separated by sep.
// Sound files have few of them.
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

// finishTables passes on the jobs that tables describe.
func (c *collector) finishTables() error {
	if c.hitune != nil {
		if err := c.hitune.finish(); err != nil {
			return err
		}
	}
	c.slotsApart()
	slices.SortStableFunc(c.order, func(x, y *jobBuilder) int { return cmp.Compare(x.row, y.row) })
	for _, b := range c.order {
		for _, id := range b.job.After {
			if c.tables[id] == nil && !c.seen[id] {
				c.problem(b.line, "after %.40q of job %.40q: no such job: it does not wait for it", id, b.job.ID)
			}
		}
		if err := b.finish(); err != nil {
			return err
		}
	}
	if c.differences && c.h.Epoch != workload.Unknown {
		return fmt.Errorf("%s has relative times and %s Unix times: read them separately", c.ofTimes[0], c.ofTimes[1])
	}
	return nil
}

// slotsApart finds the type of the slots that set-up and clean-up of tables ran in. The
// JobTracker numbers them after the tasks of this type. Where maps and reduces are as
// many, the index of the slot tells: a machine's reduce slots have higher ones than its
// map slots, unless slots are shared or machines differ.
func (c *collector) slotsApart() {
	last, first := workload.Unknown, math.MaxInt
	for _, b := range c.order {
		for t, a := range b.job.Each() {
			switch {
			case t.Kind == workload.Map:
				last = max(last, a.Slot)
			case t.Kind == workload.Reduce && a.Slot != workload.Unknown:
				first = min(first, a.Slot)
			}
		}
	}
	for _, b := range c.order {
		maps, _ := b.job.Count(workload.Map)
		reduces, _ := b.job.Count(workload.Reduce)
		maps, reduces = max(maps, b.job.Maps), max(reduces, b.job.Reduces)
		for t, a := range b.job.Each() {
			number := t.Number
			switch t.Kind {
			case workload.Setup:
				number--
			case workload.Cleanup:
			default:
				continue
			}
			if maps != reduces && (number == maps || number == reduces) {
				t.ReduceSlot = number == reduces
			} else if first > last && last != workload.Unknown && a.Slot > last {
				t.ReduceSlot = true
			}
		}
	}
}

// close makes the instants relative to the earliest submission and orders the
// jobs by submission. Jobs of one instant keep the order of the numbers that the
// JobTracker gave them, or else that of their source.
func (c *collector) close() *workload.History {
	h := c.h
	h.Moved = rebase(h.Jobs, &h.Epoch)
	for i := range h.Jobs { // configurations read after their jobs
		c.configureJob(&h.Jobs[i])
	}
	slices.SortStableFunc(h.Jobs, func(x, y workload.HistoryJob) int {
		if x.Submit != y.Submit {
			return cmp.Compare(x.Submit, y.Submit)
		}
		xTracker, xNumber := jobNumber(x.ID)
		yTracker, yNumber := jobNumber(y.ID)
		return cmp.Or(cmp.Compare(xTracker, yTracker), cmp.Compare(xNumber, yNumber))
	})
	h.Topology = c.topology()
	for i, more := range c.again {
		if more > 0 {
			h.Unread[i].What += fmt.Sprintf(" (%d more like it)", more)
		}
	}
	return h
}

// rebase moves the earliest submission to zero. If no submission is recorded,
// Unix times move by the first instant and differences stay. epoch, if set, is
// the Unix time of instant 0 in milliseconds and moves too. It returns how far
// differences moved.
func rebase(jobs []workload.HistoryJob, epoch *int64) time.Duration {
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
		return 0
	}
	for i := range jobs {
		jobs[i].Shift(-zero)
	}
	if *epoch == workload.Unknown {
		return zero
	}
	*epoch += zero.Milliseconds()
	return 0
}

// topology lists the recorded hosts by rack.
func (c *collector) topology() workload.Topology {
	byRack := make(map[string]int)
	t := workload.Topology{Listed: c.listed}
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

// unixMillis converts a time in milliseconds, as Hadoop writes it, to an
// instant; zero and -1 are unknown.
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

// jobBuilder assembles one job from records in any order.
type jobBuilder struct {
	c     *collector
	job   workload.HistoryJob
	tasks map[taskKey]int // index in job.Tasks
	marks map[attemptKey]attemptMarks
	line  int // line at which the job began
	count int // set for tasks and attempts

	row      int  // in a table of jobs, from 1; 0: in none
	noTotals bool // the source does not say how many tasks its jobs have
	measures map[taskKey]taskMeasure
	began    map[attemptKey]time.Duration // when the child process began its work
}

// taskKey identifies a task of a job. In ids, all tasks that take slots of a
// type share one numbering. In tables each kind has its own.
type taskKey struct {
	reduceSlot bool
	number     int
	kind       workload.Kind // of tables only
}

type attemptKey struct {
	taskKey
	attempt int
}

// attemptMarks are facts from events that need the attempt's other events to be
// used.
type attemptMarks struct {
	line             int // line of its last event
	shuffled, sorted time.Duration
	mapped           time.Duration
}

// taskMeasure is one row of measurements inside a task.
type taskMeasure struct {
	raw, stored, spills                            int64
	run, read, mapped, partition, serialize, merge time.Duration
}

// mrv1Reader takes the fields of records, which are those of MRv1's history or stand
// for them: rows of HiTune's tables and events of MRv2.
type mrv1Reader struct {
	c       *collector
	jobs    map[string]*jobBuilder
	order   []*jobBuilder
	escaped bool // version 1: records end in " ."
	fields  []mrv1Field
	counted map[string][]countOf // of fields that are not a text of counters
}

// mrv1Field is a key with its value, and its name in the source if that is another.
type mrv1Field struct {
	key, value []byte
	name       string
}

// countOf is the value of a counter.
type countOf struct {
	name  string
	value int64
}
