package trace

import (
	"cmp"
	"fmt"
	"maps"
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
	listed   bool                             // the machines of the cluster were read from a list of them
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

// tasksAnnounced returns a number of tasks that a job announces; more than
// could be read are damage.
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
