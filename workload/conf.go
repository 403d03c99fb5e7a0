package workload

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	units "github.com/docker/go-units"
)

// Conf holds Hadoop properties under their 0.20/1.x names. MRv2 names are
// accepted everywhere and stored under the old name (Canonical). The zero Conf
// is empty and ready to use.
type Conf struct {
	values map[string]string
}

// Canonical gives the 0.20/1.x name of a Hadoop property. Names it does not
// know are returned as they are.
func Canonical(key string) string {
	if old, ok := oldNames[key]; ok {
		return old
	}
	return key
}

// Set stores a property, replacing an earlier value under either name.
func (c *Conf) Set(key, value string) {
	if c.values == nil {
		c.values = make(map[string]string)
	}
	c.values[Canonical(key)] = value
}

// Grow makes room for n properties in an empty Conf.
func (c *Conf) Grow(n int) {
	if c.values == nil {
		c.values = make(map[string]string, n)
	}
}

// Len returns the number of properties that are set.
func (c Conf) Len() int { return len(c.values) }

// Lookup returns the text of a property and whether it is set.
func (c Conf) Lookup(key string) (string, bool) {
	v, ok := c.values[Canonical(key)]
	return v, ok
}

// Keys lists the properties that are set, sorted.
func (c Conf) Keys() []string { return slices.Sorted(maps.Keys(c.values)) }

// Over returns c with every property of top laid over it; neither is changed.
func (c Conf) Over(top Conf) Conf {
	if len(top.values) == 0 {
		return c
	}
	if len(c.values) == 0 {
		return top
	}
	merged := maps.Clone(c.values)
	maps.Copy(merged, top.values)
	return Conf{merged}
}

// String returns a property's text, or def when it is not set.
func (c Conf) String(key, def string) string {
	if v, ok := c.Lookup(key); ok {
		return strings.TrimSpace(v)
	}
	return def
}

// Int returns a whole number, or def when the property is not set.
func (c Conf) Int(key string, def int) (int, error) {
	v, ok := c.Lookup(key)
	if !ok {
		return def, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(v))
	if err != nil {
		return 0, fmt.Errorf("%s = %q: want a whole number", key, v)
	}
	return n, nil
}

// Float returns a number, or def when the property is not set.
func (c Conf) Float(key string, def float64) (float64, error) {
	v, ok := c.Lookup(key)
	if !ok {
		return def, nil
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || f != f {
		return 0, fmt.Errorf("%s = %q: want a number", key, v)
	}
	return f, nil
}

// Bool returns a truth value, or def when the property is not set.
func (c Conf) Bool(key string, def bool) (bool, error) {
	v, ok := c.Lookup(key)
	if !ok {
		return def, nil
	}
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%s = %q: want true or false", key, v)
}

// Bytes returns a size in bytes, or def when the property is not set. The
// suffixes k, m, g, t are powers of 1024, as Hadoop reads them.
func (c Conf) Bytes(key string, def int64) (int64, error) {
	v, ok := c.Lookup(key)
	if !ok {
		return def, nil
	}
	n, err := ParseBytes(v)
	if err != nil {
		return 0, fmt.Errorf("%s = %q: want a size like 64m or 67108864", key, v)
	}
	return n, nil
}

// ParseBytes reads a size as Hadoop means it: 128m is 134,217,728.
func ParseBytes(s string) (int64, error) {
	n, err := units.RAMInBytes(strings.TrimSpace(s))
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q: want a size like 64m, 30 GB or 67108864", s)
	}
	return n, nil
}

// HeapMB is the -Xmx of Java options in MiB, or Unknown.
func HeapMB(opts string) int64 {
	mb := int64(Unknown)
	for opt := range strings.FieldsSeq(opts) {
		if size, ok := strings.CutPrefix(opt, "-Xmx"); ok { // the last one counts
			if n, err := ParseBytes(size); err == nil {
				mb = n >> 20
			}
		}
	}
	return mb
}

// oldNames maps MRv2 property names to the 0.20/1.x names that slotwave uses
// (hadoop-mapreduce DeprecatedProperties; only properties that mean something
// to the simulator or the models).
var oldNames = map[string]string{
	"dfs.blocksize": "dfs.block.size",
	"mapreduce.client.submit.file.replication":         "mapred.submit.replication",
	"mapreduce.input.fileinputformat.split.minsize":    "mapred.min.split.size",
	"mapreduce.input.fileinputformat.split.maxsize":    "mapred.max.split.size",
	"mapreduce.job.jvm.numtasks":                       "mapred.job.reuse.jvm.num.tasks",
	"mapreduce.job.maps":                               "mapred.map.tasks",
	"mapreduce.job.maxtaskfailures.per.tracker":        "mapred.max.tracker.failures",
	"mapreduce.job.name":                               "mapred.job.name",
	"mapreduce.job.priority":                           "mapred.job.priority",
	"mapreduce.job.queuename":                          "mapred.job.queue.name",
	"mapreduce.job.reduce.slowstart.completedmaps":     "mapred.reduce.slowstart.completed.maps",
	"mapreduce.job.reduces":                            "mapred.reduce.tasks",
	"mapreduce.job.user.name":                          "user.name",
	"mapreduce.jobtracker.expire.trackers.interval":    "mapred.tasktracker.expiry.interval",
	"mapreduce.jobtracker.heartbeats.in.second":        "mapred.heartbeats.in.second",
	"mapreduce.jobtracker.handler.count":               "mapred.job.tracker.handler.count",
	"mapreduce.jobtracker.jobinit.threads":             "mapred.jobinit.threads",
	"mapreduce.jobtracker.taskcache.levels":            "mapred.task.cache.levels",
	"mapreduce.jobtracker.taskscheduler":               "mapred.jobtracker.taskScheduler",
	"mapreduce.map.combine.minspills":                  "min.num.spills.for.combine",
	"mapreduce.map.failures.maxpercent":                "mapred.max.map.failures.percent",
	"mapreduce.map.java.opts":                          "mapred.map.child.java.opts",
	"mapreduce.map.maxattempts":                        "mapred.map.max.attempts",
	"mapreduce.map.memory.mb":                          "mapred.job.map.memory.mb",
	"mapreduce.map.output.compress":                    "mapred.compress.map.output",
	"mapreduce.map.output.compress.codec":              "mapred.map.output.compression.codec",
	"mapreduce.map.sort.spill.percent":                 "io.sort.spill.percent",
	"mapreduce.map.speculative":                        "mapred.map.tasks.speculative.execution",
	"mapreduce.output.fileoutputformat.compress":       "mapred.output.compress",
	"mapreduce.output.fileoutputformat.compress.codec": "mapred.output.compression.codec",
	"mapreduce.reduce.failures.maxpercent":             "mapred.max.reduce.failures.percent",
	"mapreduce.reduce.input.buffer.percent":            "mapred.job.reduce.input.buffer.percent",
	"mapreduce.reduce.java.opts":                       "mapred.reduce.child.java.opts",
	"mapreduce.reduce.maxattempts":                     "mapred.reduce.max.attempts",
	"mapreduce.reduce.memory.mb":                       "mapred.job.reduce.memory.mb",
	"mapreduce.reduce.merge.inmem.threshold":           "mapred.inmem.merge.threshold",
	"mapreduce.reduce.shuffle.input.buffer.percent":    "mapred.job.shuffle.input.buffer.percent",
	"mapreduce.reduce.shuffle.merge.percent":           "mapred.job.shuffle.merge.percent",
	"mapreduce.reduce.shuffle.parallelcopies":          "mapred.reduce.parallel.copies",
	"mapreduce.reduce.speculative":                     "mapred.reduce.tasks.speculative.execution",
	"mapreduce.task.io.sort.factor":                    "io.sort.factor",
	"mapreduce.task.io.sort.mb":                        "io.sort.mb",
	"mapreduce.task.timeout":                           "mapred.task.timeout",
	"mapreduce.tasktracker.http.threads":               "tasktracker.http.threads",
	"mapreduce.tasktracker.indexcache.mb":              "mapred.tasktracker.indexcache.mb",
	"mapreduce.tasktracker.map.tasks.maximum":          "mapred.tasktracker.map.tasks.maximum",
	"mapreduce.tasktracker.reduce.tasks.maximum":       "mapred.tasktracker.reduce.tasks.maximum",
	"mapreduce.cluster.mapmemory.mb":                   "mapred.cluster.map.memory.mb",
	"mapreduce.cluster.reducememory.mb":                "mapred.cluster.reduce.memory.mb",
	"mapreduce.jobtracker.maxmapmemory.mb":             "mapred.cluster.max.map.memory.mb",
	"mapreduce.jobtracker.maxreducememory.mb":          "mapred.cluster.max.reduce.memory.mb",
	"mapreduce.tasktracker.events.batchsize":           "mapred.tasktracker.events.batchsize",
	"mapreduce.jobtracker.tasktracker.maxblacklists":   "mapred.max.tracker.blacklists",
	"mapreduce.job.committer.setup.cleanup.needed":     "mapred.committer.job.setup.cleanup.needed",
	"mapreduce.job.end-notification.url":               "job.end.notification.url",
	"mapreduce.fairscheduler.pool":                     "mapred.fairscheduler.pool",
}
