package trace

import (
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/workload"
)

// Counter names of Hadoop: Task.Counter and FileSystemCounters (0.20, 1.x),
// TaskCounter, FileSystemCounter and File{Input,Output}FormatCounter (0.21 and
// later), JobInProgress.Counter and JobCounter.

// takeCounter stores a counter of a task of kind k. For sums over a job's tasks k may
// be either. It reports whether the name is known.
func takeCounter(c *workload.TaskCounters, k workload.Kind, name string, v int64) bool {
	field := counterField(c, k, name)
	if field == nil {
		return false
	}
	switch {
	case (name == "BYTES_READ" || name == "BYTES_WRITTEN") && *field != workload.Unknown: // the task's own counter takes precedence
	default:
		*field = v
	}
	return true
}

func counterField(c *workload.TaskCounters, k workload.Kind, name string) *int64 {
	switch name {
	case "HDFS_BYTES_READ":
		return &c.HDFSReadBytes
	case "HDFS_BYTES_WRITTEN":
		return &c.HDFSWriteBytes
	case "FILE_BYTES_READ":
		return &c.LocalReadBytes
	case "FILE_BYTES_WRITTEN":
		return &c.LocalWriteBytes
	case "SPILLED_RECORDS":
		return &c.SpilledRecords
	case "REDUCE_SHUFFLE_BYTES":
		return &c.ShuffleBytes
	case "COMBINE_INPUT_RECORDS":
		return &c.CombineInRecords
	case "COMBINE_OUTPUT_RECORDS":
		return &c.CombineOutRecords
	case "REDUCE_INPUT_GROUPS":
		return &c.More.InGroups
	case "MAP_OUTPUT_MATERIALIZED_BYTES":
		return &c.MaterializedBytes
	case "CPU_MILLISECONDS":
		return &c.CPUMillis
	case "GC_TIME_MILLIS":
		return &c.More.GCMillis
	case "PHYSICAL_MEMORY_BYTES":
		return &c.More.PhysicalBytes
	case "VIRTUAL_MEMORY_BYTES":
		return &c.More.VirtualBytes
	case "COMMITTED_HEAP_BYTES":
		return &c.More.HeapBytes
	case "MAP_INPUT_RECORDS":
		return of(k, workload.Map, &c.InRecords)
	case "MAP_INPUT_BYTES", "BYTES_READ":
		return of(k, workload.Map, &c.InBytes)
	case "MAP_OUTPUT_RECORDS":
		return of(k, workload.Map, &c.OutRecords)
	case "MAP_OUTPUT_BYTES":
		return of(k, workload.Map, &c.OutBytes)
	case "REDUCE_INPUT_RECORDS":
		return of(k, workload.Reduce, &c.InRecords)
	case "REDUCE_OUTPUT_RECORDS":
		return of(k, workload.Reduce, &c.OutRecords)
	case "BYTES_WRITTEN":
		return of(k, workload.Reduce, &c.OutBytes)
	}
	return nil
}

func of(k, want workload.Kind, field *int64) *int64 {
	if k == want {
		return field
	}
	return nil
}

// takeTotal stores a counter of the whole job.
func takeTotal(t *workload.JobTotals, name string, v int64) {
	switch name {
	case "TOTAL_LAUNCHED_MAPS":
		t.LaunchedMaps = v
	case "TOTAL_LAUNCHED_REDUCES":
		t.LaunchedReduces = v
	case "DATA_LOCAL_MAPS":
		t.NodeLocalMaps = v
	case "RACK_LOCAL_MAPS":
		t.RackLocalMaps = v
	case "OTHER_LOCAL_MAPS":
		t.OffRackMaps = v
	case "NUM_FAILED_MAPS":
		t.FailedMaps = v
	case "NUM_FAILED_REDUCES":
		t.FailedReduces = v
	case "SLOTS_MILLIS_MAPS":
		t.SlotMillisMaps = v
	case "SLOTS_MILLIS_REDUCES":
		t.SlotMillisReduces = v
	case "REDUCE_SHUFFLE_BYTES", "REDUCE_INPUT_GROUPS":
		takeCounter(&t.Reduce, workload.Reduce, name, v)
	case "MAP_OUTPUT_MATERIALIZED_BYTES":
		takeCounter(&t.Map, workload.Map, name, v)
	default:
		if !takeOwnCounter(&t.Map, workload.Map, name, v) && !takeOwnCounter(&t.Reduce, workload.Reduce, name, v) {
			takeCounter(&t.All, workload.Setup, name, v)
		}
	}
}

// knowsTotal reports whether takeTotal stores a counter of that name.
func knowsTotal(name string) bool {
	probe := workload.JobTotals{}
	takeTotal(&probe, name, 1)
	return probe != workload.JobTotals{}
}

// takeOwnCounter stores a counter that only tasks of kind k have.
func takeOwnCounter(c *workload.TaskCounters, k workload.Kind, name string, v int64) bool {
	other := workload.Reduce
	if k == workload.Reduce {
		other = workload.Map
	}
	return counterField(c, other, name) == nil && takeCounter(c, k, name, v)
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

// oldCounters gives the names of 0.18, where a counter is written as
// group.display name:value.
var oldCounters = map[string]string{
	"File Systems.HDFS bytes read":                "HDFS_BYTES_READ",
	"File Systems.HDFS bytes written":             "HDFS_BYTES_WRITTEN",
	"File Systems.Local bytes read":               "FILE_BYTES_READ",
	"File Systems.Local bytes written":            "FILE_BYTES_WRITTEN",
	"Map-Reduce Framework.Map input records":      "MAP_INPUT_RECORDS",
	"Map-Reduce Framework.Map input bytes":        "MAP_INPUT_BYTES",
	"Map-Reduce Framework.Map output records":     "MAP_OUTPUT_RECORDS",
	"Map-Reduce Framework.Map output bytes":       "MAP_OUTPUT_BYTES",
	"Map-Reduce Framework.Combine input records":  "COMBINE_INPUT_RECORDS",
	"Map-Reduce Framework.Combine output records": "COMBINE_OUTPUT_RECORDS",
	"Map-Reduce Framework.Reduce input groups":    "REDUCE_INPUT_GROUPS",
	"Map-Reduce Framework.Reduce shuffle bytes":   "REDUCE_SHUFFLE_BYTES",
	"Map-Reduce Framework.Reduce input records":   "REDUCE_INPUT_RECORDS",
	"Map-Reduce Framework.Reduce output records":  "REDUCE_OUTPUT_RECORDS",
	"Map-Reduce Framework.Spilled Records":        "SPILLED_RECORDS",
	"Job Counters .Launched map tasks":            "TOTAL_LAUNCHED_MAPS",
	"Job Counters .Launched reduce tasks":         "TOTAL_LAUNCHED_REDUCES",
	"Job Counters .Data-local map tasks":          "DATA_LOCAL_MAPS",
	"Job Counters .Rack-local map tasks":          "RACK_LOCAL_MAPS",
	"Job Counters .Other local map tasks":         "OTHER_LOCAL_MAPS",
	"Job Counters .Failed map tasks":              "NUM_FAILED_MAPS",
	"Job Counters .Failed reduce tasks":           "NUM_FAILED_REDUCES",
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
