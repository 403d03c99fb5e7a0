package trace

import (
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/workload"
)

// Counter names of Hadoop: Task.Counter and FileSystemCounters (0.20, 1.x),
// TaskCounter, FileSystemCounter and File{Input,Output}FormatCounter (0.21 and
// later), JobInProgress.Counter and JobCounter. Readers and writers of all
// formats take them from the tables below.

// counter is a counter of tasks.
type counter struct {
	name, display string
	only          tasksCounted
	shared        bool // maps and reduces count it under two names, in one field
	not           generation
	field         func(*workload.TaskCounters) *int64
}

// tasksCounted are the tasks that have a counter.
type tasksCounted uint8

const (
	ofAll tasksCounted = iota
	ofMaps
	ofReduces
)

// generation is one that does not write a counter.
type generation uint8

const (
	mrv1 generation = 1 + iota
	mrv2
)

var fileSystemCounters = []counter{
	{name: "FILE_BYTES_READ", display: "FILE: Number of bytes read", field: func(c *workload.TaskCounters) *int64 { return &c.LocalReadBytes }},
	{name: "FILE_BYTES_WRITTEN", display: "FILE: Number of bytes written", field: func(c *workload.TaskCounters) *int64 { return &c.LocalWriteBytes }},
	{name: "HDFS_BYTES_READ", display: "HDFS: Number of bytes read", field: func(c *workload.TaskCounters) *int64 { return &c.HDFSReadBytes }},
	{name: "HDFS_BYTES_WRITTEN", display: "HDFS: Number of bytes written", field: func(c *workload.TaskCounters) *int64 { return &c.HDFSWriteBytes }},
}

var taskCounters = []counter{
	{name: "MAP_INPUT_RECORDS", display: "Map input records", only: ofMaps, shared: true, field: func(c *workload.TaskCounters) *int64 { return &c.InRecords }},
	{name: "MAP_INPUT_BYTES", display: "Map input bytes", only: ofMaps, shared: true, not: mrv2, field: func(c *workload.TaskCounters) *int64 { return &c.InBytes }},
	{name: "MAP_OUTPUT_RECORDS", display: "Map output records", only: ofMaps, shared: true, field: func(c *workload.TaskCounters) *int64 { return &c.OutRecords }},
	{name: "MAP_OUTPUT_BYTES", display: "Map output bytes", only: ofMaps, shared: true, field: func(c *workload.TaskCounters) *int64 { return &c.OutBytes }},
	{name: "MAP_OUTPUT_MATERIALIZED_BYTES", display: "Map output materialized bytes", only: ofMaps, field: func(c *workload.TaskCounters) *int64 { return &c.MaterializedBytes }},
	{name: "COMBINE_INPUT_RECORDS", display: "Combine input records", field: func(c *workload.TaskCounters) *int64 { return &c.CombineInRecords }},
	{name: "COMBINE_OUTPUT_RECORDS", display: "Combine output records", field: func(c *workload.TaskCounters) *int64 { return &c.CombineOutRecords }},
	{name: "REDUCE_INPUT_GROUPS", display: "Reduce input groups", only: ofReduces, field: func(c *workload.TaskCounters) *int64 { return &c.More.InGroups }},
	{name: "REDUCE_SHUFFLE_BYTES", display: "Reduce shuffle bytes", only: ofReduces, field: func(c *workload.TaskCounters) *int64 { return &c.ShuffleBytes }},
	{name: "REDUCE_INPUT_RECORDS", display: "Reduce input records", only: ofReduces, shared: true, field: func(c *workload.TaskCounters) *int64 { return &c.InRecords }},
	{name: "REDUCE_OUTPUT_RECORDS", display: "Reduce output records", only: ofReduces, shared: true, field: func(c *workload.TaskCounters) *int64 { return &c.OutRecords }},
	{name: "SPILLED_RECORDS", display: "Spilled Records", field: func(c *workload.TaskCounters) *int64 { return &c.SpilledRecords }},
	{name: "GC_TIME_MILLIS", display: "GC time elapsed (ms)", not: mrv1, field: func(c *workload.TaskCounters) *int64 { return &c.More.GCMillis }},
	{name: "CPU_MILLISECONDS", display: "CPU time spent (ms)", field: func(c *workload.TaskCounters) *int64 { return &c.CPUMillis }},
	{name: "PHYSICAL_MEMORY_BYTES", display: "Physical memory (bytes) snapshot", field: func(c *workload.TaskCounters) *int64 { return &c.More.PhysicalBytes }},
	{name: "VIRTUAL_MEMORY_BYTES", display: "Virtual memory (bytes) snapshot", field: func(c *workload.TaskCounters) *int64 { return &c.More.VirtualBytes }},
	{name: "COMMITTED_HEAP_BYTES", display: "Total committed heap usage (bytes)", field: func(c *workload.TaskCounters) *int64 { return &c.More.HeapBytes }},
}

// formatCounters count the input and the output as their formats do.
var formatCounters = []counter{
	{name: "BYTES_READ", display: "Bytes Read", only: ofMaps, shared: true, not: mrv1, field: func(c *workload.TaskCounters) *int64 { return &c.InBytes }},
	{name: "BYTES_WRITTEN", display: "Bytes Written", only: ofReduces, shared: true, field: func(c *workload.TaskCounters) *int64 { return &c.OutBytes }},
}

var jobCounters = []struct {
	name, display string
	field         func(*workload.JobTotals) *int64
}{
	{"NUM_FAILED_MAPS", "Failed map tasks", func(t *workload.JobTotals) *int64 { return &t.FailedMaps }},
	{"NUM_FAILED_REDUCES", "Failed reduce tasks", func(t *workload.JobTotals) *int64 { return &t.FailedReduces }},
	{"TOTAL_LAUNCHED_MAPS", "Launched map tasks", func(t *workload.JobTotals) *int64 { return &t.LaunchedMaps }},
	{"TOTAL_LAUNCHED_REDUCES", "Launched reduce tasks", func(t *workload.JobTotals) *int64 { return &t.LaunchedReduces }},
	{"DATA_LOCAL_MAPS", "Data-local map tasks", func(t *workload.JobTotals) *int64 { return &t.NodeLocalMaps }},
	{"RACK_LOCAL_MAPS", "Rack-local map tasks", func(t *workload.JobTotals) *int64 { return &t.RackLocalMaps }},
	{"OTHER_LOCAL_MAPS", "Other local map tasks", func(t *workload.JobTotals) *int64 { return &t.OffRackMaps }},
	{"SLOTS_MILLIS_MAPS", "SLOTS_MILLIS_MAPS", func(t *workload.JobTotals) *int64 { return &t.SlotMillisMaps }},
	{"SLOTS_MILLIS_REDUCES", "SLOTS_MILLIS_REDUCES", func(t *workload.JobTotals) *int64 { return &t.SlotMillisReduces }},
}

var (
	counterOf    = make(map[string]*counter)
	jobCounterOf = make(map[string]func(*workload.JobTotals) *int64)
	// oldCounters gives the names of 0.18, where a counter is written as
	// group.display name:value.
	oldCounters = map[string]string{
		"File Systems.HDFS bytes read":     "HDFS_BYTES_READ",
		"File Systems.HDFS bytes written":  "HDFS_BYTES_WRITTEN",
		"File Systems.Local bytes read":    "FILE_BYTES_READ",
		"File Systems.Local bytes written": "FILE_BYTES_WRITTEN",
	}
)

func init() {
	for _, table := range [][]counter{fileSystemCounters, taskCounters, formatCounters} {
		for i := range table {
			counterOf[table[i].name] = &table[i]
		}
	}
	for _, n := range taskCounters {
		oldCounters["Map-Reduce Framework."+n.display] = n.name
	}
	for _, n := range jobCounters {
		jobCounterOf[n.name] = n.field
		oldCounters["Job Counters ."+n.display] = n.name
	}
}

// counterField returns the field of a counter in those of a task of kind k; nil if
// there is none.
func counterField(c *workload.TaskCounters, k workload.Kind, name string) *int64 {
	n := counterOf[name]
	if n == nil || n.shared && !n.countedBy(k) {
		return nil
	}
	return n.field(c)
}

func (n *counter) countedBy(k workload.Kind) bool {
	return n.only == ofAll || (n.only == ofMaps) == (k == workload.Map)
}

// takeCounter stores a counter of a task of kind k.
func takeCounter(c *workload.TaskCounters, k workload.Kind, name string, v int64) {
	field := counterField(c, k, name)
	ofFormat := name == "BYTES_READ" || name == "BYTES_WRITTEN" // the task's own counter takes precedence
	if field != nil && !(ofFormat && *field != workload.Unknown) {
		*field = v
	}
}

// countersOf returns all counters of an attempt.
func countersOf(a *workload.HistoryAttempt) workload.TaskCounters {
	return workload.TaskCounters{Counters: a.Counters, More: a.More}
}

// takeTotal stores a counter of the whole job.
func takeTotal(t *workload.JobTotals, name string, v int64) {
	if field := jobCounterOf[name]; field != nil {
		*field(t) = v
	} else if n := counterOf[name]; n != nil {
		sums, k := n.sums(t)
		takeCounter(sums, k, name, v)
	}
}

// sums returns the sums over a job's tasks that hold a counter: those of its maps or
// reduces if only these have it.
func (n *counter) sums(t *workload.JobTotals) (*workload.TaskCounters, workload.Kind) {
	switch n.only {
	case ofMaps:
		return &t.Map, workload.Map
	case ofReduces:
		return &t.Reduce, workload.Reduce
	}
	return &t.All, workload.Map
}

// counterSource gives the value of a counter, or Unknown.
type counterSource func(*counter) int64

// ofKind takes counters from those of a task of kind k.
func ofKind(c *workload.TaskCounters, k workload.Kind) counterSource {
	return func(n *counter) int64 {
		if !n.countedBy(k) {
			return workload.Unknown
		}
		return *n.field(c)
	}
}

// uncounted has no counters.
func uncounted(*counter) int64 { return workload.Unknown }

// ofAttempt takes counters from an attempt of a task.
func ofAttempt(a *workload.HistoryAttempt, t *workload.HistoryTask) counterSource {
	all := countersOf(a)
	return ofKind(&all, t.SlotKind())
}

// ofJob takes counters from the sums of a job.
func ofJob(t *workload.JobTotals) counterSource {
	return func(n *counter) int64 {
		sums, _ := n.sums(t)
		return *n.field(sums)
	}
}

// counterGroup is a group of counters as a history shows it: those with a value.
type counterGroup struct {
	name, display string
	counts        []shownCount
}

type shownCount struct {
	name, display string
	v             int64
}

func (g *counterGroup) add(name, display string, v int64) {
	if v != workload.Unknown {
		g.counts = append(g.counts, shownCount{name, display, v})
	}
}

// grouped returns the counters of a table that a generation writes.
func grouped(name, display string, table []counter, g generation, of counterSource) counterGroup {
	group := counterGroup{name: name, display: display}
	for i := range table {
		if n := &table[i]; n.not != g {
			group.add(n.name, n.display, of(n))
		}
	}
	return group
}

// ofWhole returns the counters of a job's launches and slots.
func ofWhole(name string, t *workload.JobTotals) counterGroup {
	group := counterGroup{name: name, display: "Job Counters "}
	for _, n := range jobCounters {
		group.add(n.name, n.display, *n.field(t))
	}
	return group
}

// frameworkGroup reports whether counters of this group are Hadoop's own. A
// user's counter may have the same name.
func frameworkGroup(name string) bool {
	switch name {
	case "FileSystemCounters", "org.apache.hadoop.mapreduce.FileSystemCounter",
		"org.apache.hadoop.mapred.Task$Counter", "org.apache.hadoop.mapreduce.TaskCounter",
		"org.apache.hadoop.mapred.JobInProgress$Counter", "org.apache.hadoop.mapreduce.JobCounter",
		"org.apache.hadoop.mapred.FileInputFormat$Counter", "org.apache.hadoop.mapreduce.lib.input.FileInputFormat$Counter",
		"org.apache.hadoop.mapred.FileOutputFormat$Counter", "org.apache.hadoop.mapreduce.lib.output.FileOutputFormat$Counter",
		"org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter", "org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter":
		return true
	}
	return false
}

// eachCounter calls f for every counter of Hadoop's own groups in a COUNTERS
// value: {(group)(display)[(name)(display)(value)]...}... since 0.19, and
// group.display name:value,... before that. It reports whether the text is well
// formed.
func eachCounter(s string, f func(name string, v int64)) bool {
	if s == "" {
		return true
	}
	if s[0] != '{' {
		return eachOldCounter(s, f)
	}
	for s != "" {
		group, rest, ok := bracketed(s[1:], '(', ')')
		if s[0] != '{' || !ok {
			return false
		}
		_, rest, ok = bracketed(rest, '(', ')') // display name
		if !ok {
			return false
		}
		ours := frameworkGroup(group)
		for strings.HasPrefix(rest, "[") {
			var name, value string
			if name, rest, ok = bracketed(rest[1:], '(', ')'); !ok {
				return false
			}
			if _, rest, ok = bracketed(rest, '(', ')'); !ok {
				return false
			}
			if value, rest, ok = bracketed(rest, '(', ')'); !ok || !strings.HasPrefix(rest, "]") {
				return false
			}
			rest = rest[1:]
			if !ours {
				continue
			}
			v, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return false
			}
			f(name, v)
		}
		if !strings.HasPrefix(rest, "}") {
			return false
		}
		s = rest[1:]
	}
	return true
}

// bracketed removes a bracketed text from the front of s, and returns it
// without the backslashes before brackets.
func bracketed(s string, open, close byte) (text, rest string, ok bool) {
	if s == "" || s[0] != open {
		return "", s, false
	}
	escaped := false
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			escaped = true
			i++
		case close:
			text = s[1:i]
			if escaped {
				text = unslash(text)
			}
			return text, s[i+1:], true
		}
	}
	return "", s, false
}

// unslash removes every backslash that escapes the character after it.
func unslash(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func eachOldCounter(s string, f func(name string, v int64)) bool {
	for item := range strings.SplitSeq(s, ",") {
		i := strings.LastIndexByte(item, ':')
		if i < 0 { // a comma in a user's counter
			continue
		}
		name, known := oldCounters[item[:i]]
		if !known {
			continue
		}
		v, err := strconv.ParseInt(item[i+1:], 10, 64)
		if err != nil {
			return false
		}
		f(name, v)
	}
	return true
}

// loggedCounter is a counter by its member in Rumen and its name in Hadoop.
type loggedCounter struct{ member, counter string }

// rumenCounters are the counters of an attempt, in Rumen's order.
var rumenCounters = []loggedCounter{
	{"hdfsBytesRead", "HDFS_BYTES_READ"}, {"hdfsBytesWritten", "HDFS_BYTES_WRITTEN"},
	{"fileBytesRead", "FILE_BYTES_READ"}, {"fileBytesWritten", "FILE_BYTES_WRITTEN"},
	{"mapInputRecords", "MAP_INPUT_RECORDS"}, {"mapOutputBytes", "MAP_OUTPUT_BYTES"}, {"mapOutputRecords", "MAP_OUTPUT_RECORDS"},
	{"combineInputRecords", "COMBINE_INPUT_RECORDS"}, {"reduceInputGroups", "REDUCE_INPUT_GROUPS"},
	{"reduceInputRecords", "REDUCE_INPUT_RECORDS"}, {"reduceShuffleBytes", "REDUCE_SHUFFLE_BYTES"}, {"reduceOutputRecords", "REDUCE_OUTPUT_RECORDS"},
	{"spilledRecords", "SPILLED_RECORDS"}, {"mapInputBytes", "MAP_INPUT_BYTES"},
}

// rumenUsage are the members of resourceUsageMetrics.
var rumenUsage = []loggedCounter{
	{"cumulativeCpuUsage", "CPU_MILLISECONDS"}, {"virtualMemoryUsage", "VIRTUAL_MEMORY_BYTES"},
	{"physicalMemoryUsage", "PHYSICAL_MEMORY_BYTES"}, {"heapUsage", "COMMITTED_HEAP_BYTES"},
}
