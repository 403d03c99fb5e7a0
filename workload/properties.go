package workload

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Property is a Hadoop property that slotwave reads. Its row in the table of
// properties is the only place that defines its names, default and range.
type Property struct {
	Key       string // name in 0.20 and 1.x; a * at the end matches any last part
	New       string // name in MRv2, if different
	Default   string // value if not set, for most readers; empty: none
	Otherwise string // description of a computed default
	Unit      string // of a whole number
	Reader    string // the scheduler or part of Hadoop that reads it, with the release if not all do
	Phases    bool   // used only at fidelities phase and device
	Needs     string // a switch without which nothing reads it; empty: none
	About     string
	Acts      string    // the parts of a job's time that it changes: launch, map, sort, shuffle, write, read, lost; package diagnose proposes by them
	Tuned     []float64 // least and largest value that tune tries, 0 to 1 for a switch; nil: it leaves the property alone

	kind   valueKind
	limits []float64         // smallest and, if given, largest value; the default is always allowed
	per    map[string]string // defaults of single readers or releases (Conf.For)
}

// valueKind is the type of a property's value, as Hadoop's Configuration reads
// it.
type valueKind uint8

const (
	text valueKind = iota
	whole
	number
	fraction // from 0 to 1
	truth
	size // bytes, with k, m, g, t
)

var wanted = [...]string{"a text", "a whole number", "a number", "a number from 0 to 1", "true or false", "a size like 64m or 67108864"}

const (
	// MostSlots is the largest number of slots of one kind on a node.
	MostSlots = 100_000

	// MostNodes is the largest number of nodes of a cluster.
	MostNodes = 200_000
)

// largestNumber limits numbers without a limit of their own, so that their products with
// times and slots stay in range.
const largestNumber = 1e12

// properties is the table of properties, by purpose.
var properties = []Property{
	// The JobTracker and its trackers.
	{Key: "mapred.tasktracker.map.tasks.maximum", New: "mapreduce.tasktracker.map.tasks.maximum", kind: whole, Default: "2", limits: []float64{0, MostSlots}, Reader: "JobTracker", About: "map slots of a node, unless the cluster states them"},
	{Key: "mapred.tasktracker.reduce.tasks.maximum", New: "mapreduce.tasktracker.reduce.tasks.maximum", kind: whole, Default: "2", limits: []float64{0, MostSlots}, Reader: "JobTracker", About: "reduce slots of a node, unless the cluster states them"},
	{Key: "mapred.tasktracker.expiry.interval", New: "mapreduce.jobtracker.expire.trackers.interval", kind: whole, Default: "600000", limits: []float64{3, 315360000000}, Unit: "ms", Reader: "JobTracker", Acts: "lost", About: "time without a heartbeat after which a tracker is lost"},
	{Key: "mapred.heartbeats.in.second", New: "mapreduce.jobtracker.heartbeats.in.second", kind: whole, Default: "100", Reader: "JobTracker 1.x", Acts: "launch start", About: "heartbeats that the JobTracker aims to receive per second"},
	{Key: "mapreduce.jobtracker.heartbeats.scaling.factor", kind: number, Default: "1.0", Reader: "JobTracker 1.x", Acts: "launch start", About: "factor on the heartbeat interval"},
	{Key: "mapreduce.tasktracker.outofband.heartbeat", kind: truth, Default: "false", Reader: "JobTracker 1.x", Acts: "launch start", About: "a tracker sends its next heartbeat earlier when a task ends"},
	{Key: "mapreduce.tasktracker.outofband.heartbeat.damper", kind: whole, Default: "1000000", limits: []float64{1}, Reader: "JobTracker 1.x", Acts: "launch start", About: "the earlier interval = interval / (ended tasks x damper + 1)"},
	{Key: "mapred.max.tracker.blacklists", New: "mapreduce.jobtracker.tasktracker.maxblacklists", kind: whole, Default: "4", limits: []float64{1}, Reader: "JobTracker 0.20", Acts: "lost", About: "blacklisting jobs after which a tracker gets no more tasks"},
	{Key: "mapred.cluster.average.blacklist.threshold", kind: number, Default: "0.5", limits: []float64{0}, Reader: "JobTracker 0.20", Acts: "lost", About: "how far that number must exceed the average; 0.5: by 50 %"},
	{Key: "mapred.cluster.map.memory.mb", New: "mapreduce.cluster.mapmemory.mb", kind: whole, Default: "-1", limits: []float64{1}, Unit: "MiB", Reader: "capacity 1.x", Acts: "launch", About: "memory of a map slot"},
	{Key: "mapred.cluster.reduce.memory.mb", New: "mapreduce.cluster.reducememory.mb", kind: whole, Default: "-1", limits: []float64{1}, Unit: "MiB", Reader: "capacity 1.x", Acts: "launch", About: "memory of a reduce slot"},
	{Key: "mapred.cluster.max.map.memory.mb", New: "mapreduce.jobtracker.maxmapmemory.mb", kind: whole, Default: "-1", limits: []float64{1}, Unit: "MiB", Reader: "capacity 1.x", Acts: "launch", About: "largest memory that a map may request"},
	{Key: "mapred.cluster.max.reduce.memory.mb", New: "mapreduce.jobtracker.maxreducememory.mb", kind: whole, Default: "-1", limits: []float64{1}, Unit: "MiB", Reader: "capacity 1.x", Acts: "launch", About: "largest memory that a reduce may request"},
	{Key: "dfs.replication", kind: whole, Default: "3", limits: []float64{1}, Reader: "JobTracker and YARN", Acts: "read write launch", About: "replicas of a split whose hosts are not given"},
	{Key: "dfs.block.size", New: "dfs.blocksize", kind: size, Default: "67108864", limits: []float64{512}, Unit: "bytes", Reader: "JobTracker and YARN", About: "bytes of a split, if the number of maps is not given"},

	// A job and its tasks.
	{Key: "mapred.reduce.slowstart.completed.maps", New: "mapreduce.job.reduce.slowstart.completedmaps", kind: fraction, Default: "0.05", Reader: "JobTracker and YARN", Tuned: []float64{0.05, 1}, Acts: "launch shuffle", About: "share of maps that must succeed before reduces start"},
	{Key: "mapred.map.tasks.speculative.execution", New: "mapreduce.map.speculative", kind: truth, Default: "true", per: map[string]string{"ideal": "false", "0.21.0": "false"}, Reader: "JobTracker and YARN", Acts: "map launch lost", About: "launch speculative attempts of maps"},
	{Key: "mapred.reduce.tasks.speculative.execution", New: "mapreduce.reduce.speculative", kind: truth, Default: "true", per: map[string]string{"ideal": "false", "0.21.0": "false"}, Reader: "JobTracker and YARN", Acts: "shuffle write launch lost", About: "launch speculative attempts of reduces"},
	{Key: "mapred.map.max.attempts", New: "mapreduce.map.maxattempts", kind: whole, Default: "4", limits: []float64{1}, Reader: "JobTracker and YARN", About: "failed attempts of one map that fail the job"},
	{Key: "mapred.reduce.max.attempts", New: "mapreduce.reduce.maxattempts", kind: whole, Default: "4", limits: []float64{1}, Reader: "JobTracker and YARN", About: "failed attempts of one reduce that fail the job"},
	{Key: "mapred.max.map.failures.percent", New: "mapreduce.map.failures.maxpercent", kind: whole, Default: "0", limits: []float64{0}, Unit: "%", Reader: "JobTracker and YARN", About: "share of the maps that may fail without failing the job"},
	{Key: "mapred.max.reduce.failures.percent", New: "mapreduce.reduce.failures.maxpercent", kind: whole, Default: "0", limits: []float64{0}, Unit: "%", Reader: "JobTracker and YARN", About: "share of reduces that may fail without failing the job"},
	{Key: "mapred.max.tracker.failures", New: "mapreduce.job.maxtaskfailures.per.tracker", kind: whole, Default: "4", limits: []float64{1}, Reader: "JobTracker and YARN", Acts: "lost", About: "failures on a tracker after which a job blacklists it"},
	{Key: "mapred.job.map.memory.mb", New: "mapreduce.map.memory.mb", kind: whole, Default: "-1", limits: []float64{1}, Unit: "MiB", Reader: "capacity 1.x and YARN", Acts: "launch", About: "memory that a map requests"},
	{Key: "mapred.job.reduce.memory.mb", New: "mapreduce.reduce.memory.mb", kind: whole, Default: "-1", limits: []float64{1}, Unit: "MiB", Reader: "capacity 1.x and YARN", Acts: "launch", About: "memory that a reduce requests"},
	{Key: "mapreduce.job.locality.wait.factor", kind: fraction, Default: "1", Reader: "capacity 1.x", Acts: "launch read", About: "limits how long a job waits before it launches an off-rack map"},

	// What happens inside a task.
	{Key: "io.sort.mb", New: "mapreduce.task.io.sort.mb", kind: whole, Default: "100", limits: []float64{1, 2047}, Unit: "MiB", Reader: "task", Phases: true, Tuned: []float64{50, 2047}, Acts: "sort", About: "size of a map's sort buffer"},
	{Key: "io.sort.record.percent", kind: fraction, Default: "0.05", limits: []float64{0.01, 1}, Reader: "task", Phases: true, Tuned: []float64{0.01, 0.5}, Acts: "sort", About: "part of the sort buffer that holds record metadata"},
	{Key: "io.sort.spill.percent", New: "mapreduce.map.sort.spill.percent", kind: fraction, Default: "0.80", Reader: "task", Phases: true, Tuned: []float64{0.5, 0.95}, Acts: "sort", About: "fill level of the sort buffer at which a spill starts"},
	{Key: "io.sort.factor", New: "mapreduce.task.io.sort.factor", kind: whole, Default: "10", limits: []float64{2}, Reader: "task", Phases: true, Tuned: []float64{5, 100}, Acts: "sort shuffle", About: "files merged at once"},
	{Key: "min.num.spills.for.combine", New: "mapreduce.map.combine.minspills", kind: whole, Default: "3", limits: []float64{0}, Reader: "task", Phases: true, Acts: "sort shuffle", About: "fewest spills with which the last merge of a map runs the combiner"},
	{Key: "mapred.compress.map.output", New: "mapreduce.map.output.compress", kind: truth, Default: "false", Reader: "task", Phases: true, Tuned: []float64{0, 1}, Acts: "sort shuffle", About: "compress map output"},
	{Key: "mapred.map.output.compression.codec", New: "mapreduce.map.output.compress.codec", Default: "org.apache.hadoop.io.compress.DefaultCodec", Reader: "task", Phases: true, Needs: "mapred.compress.map.output", Acts: "sort shuffle", About: "codec class for map output"},
	{Key: "mapred.output.compress", New: "mapreduce.output.fileoutputformat.compress", kind: truth, Default: "false", Reader: "task", Phases: true, Acts: "write processor", About: "compress the output of the job"},
	{Key: "mapred.output.compression.codec", New: "mapreduce.output.fileoutputformat.compress.codec", Default: "org.apache.hadoop.io.compress.DefaultCodec", Reader: "task", Phases: true, Needs: "mapred.output.compress", Acts: "write processor", About: "codec class for the output of the job"},
	{Key: "mapred.child.java.opts", Default: "-Xmx200m", Reader: "task", Phases: true, Acts: "sort shuffle", About: "JVM options of a task; only the heap size -Xmx is used"},
	{Key: "mapred.map.child.java.opts", New: "mapreduce.map.java.opts", Otherwise: "mapred.child.java.opts", Reader: "task 1.x", Phases: true, Acts: "sort", About: "the same for maps only"},
	{Key: "mapred.reduce.child.java.opts", New: "mapreduce.reduce.java.opts", Otherwise: "mapred.child.java.opts", Reader: "task 1.x", Phases: true, Acts: "shuffle", About: "the same for reduces only"},
	{Key: "mapred.reduce.parallel.copies", New: "mapreduce.reduce.shuffle.parallelcopies", kind: whole, Default: "5", limits: []float64{1}, Reader: "task", Phases: true, Tuned: []float64{5, 50}, Acts: "shuffle", About: "map outputs that a reduce fetches at once"},
	{Key: "mapred.job.shuffle.input.buffer.percent", New: "mapreduce.reduce.shuffle.input.buffer.percent", kind: fraction, Default: "0.70", Reader: "task", Phases: true, Tuned: []float64{0.5, 0.9}, Acts: "shuffle", About: "part of a reduce's heap for fetched map outputs"},
	{Key: "mapred.job.shuffle.merge.percent", New: "mapreduce.reduce.shuffle.merge.percent", kind: fraction, Default: "0.66", Reader: "task", Phases: true, Tuned: []float64{0.3, 0.9}, Acts: "shuffle", About: "fill level of that buffer at which its map outputs are merged to disk"},
	{Key: "mapred.inmem.merge.threshold", New: "mapreduce.reduce.merge.inmem.threshold", kind: whole, Default: "1000", Reader: "task", Phases: true, Tuned: []float64{100, 5000}, Acts: "shuffle", About: "map outputs in that buffer that start a merge; 0 or less: no limit"},
	{Key: "mapred.job.reduce.input.buffer.percent", New: "mapreduce.reduce.input.buffer.percent", kind: fraction, Default: "0.0", Reader: "task", Phases: true, Tuned: []float64{0, 0.8}, Acts: "shuffle map", About: "part of a reduce's heap that may hold map outputs in the reduce phase"},
	{Key: "tasktracker.http.threads", New: "mapreduce.tasktracker.http.threads", kind: whole, Default: "40", limits: []float64{1}, Reader: "task", Phases: true, Acts: "shuffle", About: "map outputs that a tracker serves at once"},

	// Schedulers.
	{Key: "mapred.jobtracker.taskScheduler", New: "mapreduce.jobtracker.taskscheduler", Reader: "scenario", About: "class of the scheduler, unless the scenario names one"},
	{Key: "mapred.jobtracker.taskalloc.capacitypad", kind: number, Default: "0.01", limits: []float64{0}, Reader: "fifo", Acts: "launch", About: "share of the slots kept free for failed and speculative attempts"},
	{Key: "mapred.fairscheduler.assignmultiple", kind: truth, Default: "false", per: map[string]string{"fair2": "true"}, Reader: "fair", Acts: "launch", About: "assign more than one task per heartbeat"},
	{Key: "mapred.fairscheduler.assignmultiple.maps", kind: whole, Default: "-1", limits: []float64{-1}, Reader: "fair2", Acts: "launch", About: "most maps assigned per heartbeat; -1: all free slots"},
	{Key: "mapred.fairscheduler.assignmultiple.reduces", kind: whole, Default: "-1", limits: []float64{-1}, Reader: "fair2", Acts: "launch", About: "most reduces assigned per heartbeat; -1: all free slots"},
	{Key: "mapred.fairscheduler.sizebasedweight", kind: truth, Default: "false", Reader: "fair", Acts: "launch", About: "multiply a job's weight by the logarithm of its number of tasks"},
	{Key: "mapred.fairscheduler.weightadjuster", Reader: "fair", About: "org.apache.hadoop.mapred.NewJobWeightBooster, or not set"},
	{Key: "mapred.newjobweightbooster.factor", kind: number, Default: "3", limits: []float64{0}, Reader: "fair", Acts: "launch", About: "factor on the weight of a new job"},
	{Key: "mapred.newjobweightbooster.duration", kind: whole, Default: "300000", limits: []float64{0}, Unit: "ms", Reader: "fair", Acts: "launch", About: "time after its submission for which a job counts as new"},
	{Key: "mapred.fairscheduler.load.max.diff", kind: number, Default: "0", limits: []float64{0}, Reader: "fair2", Acts: "launch", About: "how far the load of a tracker may exceed the average"},
	{Key: "mapred.fairscheduler.locality.delay", kind: whole, Default: "-1", limits: []float64{-1}, Unit: "ms", Reader: "fair2", Acts: "launch read", About: "time to wait for a local map; -1: 1.5 heartbeat intervals"},
	{Key: "mapred.fairscheduler.locality.delay.node", kind: whole, Otherwise: "mapred.fairscheduler.locality.delay", limits: []float64{-1}, Unit: "ms", Reader: "fair2", Acts: "launch read", About: "time to wait for a node-local map before a rack-local one"},
	{Key: "mapred.fairscheduler.locality.delay.rack", kind: whole, Otherwise: "mapred.fairscheduler.locality.delay", limits: []float64{-1}, Unit: "ms", Reader: "fair2", Acts: "launch read", About: "further time to wait before an off-rack map"},
	{Key: "mapred.fairscheduler.update.interval", kind: whole, Default: "500", limits: []float64{1}, Unit: "ms", Reader: "fair2", Acts: "launch", About: "time between updates of the shares"},
	{Key: "mapred.fairscheduler.preemption", kind: truth, Default: "false", Reader: "fair2", Acts: "launch lost", About: "kill tasks of pools above their share"},
	{Key: "mapred.fairscheduler.preemption.interval", kind: whole, Default: "15000", limits: []float64{0}, Unit: "ms", Reader: "fair2", Needs: "mapred.fairscheduler.preemption", Acts: "launch lost", About: "time between searches for starved pools"},
	{Key: "mapred.fairscheduler.preemption.only.log", kind: truth, Default: "false", Reader: "fair2", Needs: "mapred.fairscheduler.preemption", About: "log preemption without killing"},
	{Key: "mapred.fairscheduler.pool", New: "mapreduce.fairscheduler.pool", Reader: "scenario", About: "pool of a job, unless the job names one"},
	{Key: "mapred.queue.names", Default: "default", Reader: "capacity", About: "queues, unless the scenario lists them"},
	{Key: "mapred.job.queue.name", New: "mapreduce.job.queuename", Default: "default", Reader: "scenario", About: "queue of a job, unless the job names one"},
	{Key: "mapred.capacity-scheduler.init-poll-interval", kind: whole, Default: "3000", per: map[string]string{"0.20.2": "5000", "0.21.0": "5000"}, limits: []float64{1}, Unit: "ms", Reader: "capacity", Acts: "launch", About: "time between searches for jobs to initialise"},
	{Key: "mapred.capacity-scheduler.maximum-tasks-per-heartbeat", kind: whole, Default: "32767", limits: []float64{1}, Reader: "capacity 1.x", Acts: "launch", About: "most tasks assigned per heartbeat"},
	{Key: "mapred.capacity-scheduler.maximum-tasks-after-offswitch", kind: whole, Default: "0", limits: []float64{0}, Reader: "capacity 1.x", Acts: "launch", About: "most further tasks in a heartbeat after an off-rack map"},
	{Key: "mapred.capacity-scheduler.maximum-system-jobs", kind: whole, Default: "3000", limits: []float64{1}, Reader: "capacity 1.x", Acts: "launch", About: "most initialised jobs in the cluster"},
	{Key: "mapred.capacity-scheduler.default-minimum-user-limit-percent", kind: whole, Default: "100", limits: []float64{1, 100}, Unit: "%", Reader: "capacity", Acts: "launch", About: "least limit on a user's share, unless the queue sets it"},
	{Key: "mapred.capacity-scheduler.default-user-limit-factor", kind: number, Default: "1", limits: []float64{0}, Reader: "capacity 1.x", Acts: "launch", About: "most slots of one user, as a multiple of the queue's capacity"},
	{Key: "mapred.capacity-scheduler.default-supports-priority", kind: truth, Default: "false", Reader: "capacity", Acts: "launch", About: "jobs are served by priority, unless the queue sets it"},
	{Key: "mapred.capacity-scheduler.default-maximum-initialized-jobs-per-user", kind: whole, Default: "2", limits: []float64{1}, Reader: "capacity 0.20", Acts: "launch", About: "most initialised jobs of one user, unless the queue sets it"},
	{Key: "mapred.capacity-scheduler.default-maximum-active-tasks-per-queue", kind: whole, Default: "200000", limits: []float64{1}, Reader: "capacity 1.x", Acts: "launch", About: "initialised tasks of a queue, unless the queue sets it"},
	{Key: "mapred.capacity-scheduler.default-maximum-active-tasks-per-user", kind: whole, Default: "100000", limits: []float64{1}, Reader: "capacity 1.x", Acts: "launch", About: "initialised tasks of one user, unless the queue sets it"},
	{Key: "mapred.capacity-scheduler.default-init-accept-jobs-factor", kind: whole, Default: "10", limits: []float64{1}, Reader: "capacity 1.x", Acts: "launch", About: "jobs accepted per initialised job, unless the queue sets it"},
	{Key: "mapred.capacity-scheduler.*", Reader: "capacity", About: "settings of the queues, as in capacity-scheduler.xml"},
	{Key: "mapred.job.priority", New: "mapreduce.job.priority", Default: "NORMAL", Reader: "scenario", About: "priority of a job, VERY_HIGH to VERY_LOW, unless the job states it"},
	{Key: "user.name", New: "mapreduce.job.user.name", Reader: "scenario", About: "user of a job, unless the job names one"},

	// YARN, and MapReduce on it.
	{Key: "yarn.nodemanager.resource.memory-mb", kind: whole, Default: "8192", limits: []float64{1}, Unit: "MiB", Reader: "YARN ResourceManager", About: "memory of a node, unless the cluster states it"},
	{Key: "yarn.nodemanager.resource.cpu-vcores", kind: whole, Default: "8", limits: []float64{1}, Reader: "YARN ResourceManager", About: "vcores of a node, unless the cluster states them"},
	{Key: "yarn.resourcemanager.scheduler.class", Reader: "YARN ResourceManager", About: "class of the scheduler, if no name or file states it"},
	{Key: "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", kind: whole, Default: "1000", limits: []float64{1}, Unit: "ms", Reader: "YARN ResourceManager", About: "time between heartbeats of a node"},
	{Key: "yarn.nm.liveness-monitor.expiry-interval-ms", kind: whole, Default: "600000", limits: []float64{3}, Unit: "ms", Reader: "YARN ResourceManager", About: "time without a heartbeat after which a node is lost"},
	{Key: "yarn.am.liveness-monitor.expiry-interval-ms", kind: whole, Default: "600000", limits: []float64{3}, Unit: "ms", Reader: "YARN ResourceManager", About: "the same for an ApplicationMaster"},
	{Key: "yarn.cluster.max-application-priority", kind: whole, Default: "0", limits: []float64{0}, Reader: "YARN ResourceManager", About: "largest priority of an application"},
	{Key: "yarn.scheduler.minimum-allocation-mb", kind: whole, Default: "1024", limits: []float64{1}, Unit: "MiB", Reader: "YARN ResourceManager", About: "least memory of a container"},
	{Key: "yarn.scheduler.minimum-allocation-vcores", kind: whole, Default: "1", limits: []float64{1}, Reader: "YARN ResourceManager", About: "fewest virtual cores of a container"},
	{Key: "yarn.scheduler.maximum-allocation-mb", kind: whole, Default: "8192", limits: []float64{1}, Unit: "MiB", Reader: "YARN ResourceManager", About: "most memory of a container"},
	{Key: "yarn.scheduler.maximum-allocation-vcores", kind: whole, Default: "4", per: map[string]string{"2.7.7": "32"}, limits: []float64{1}, Reader: "YARN ResourceManager", About: "most virtual cores of a container"},
	{Key: "yarn.scheduler.increment-allocation-mb", kind: whole, Default: "1024", limits: []float64{1}, Unit: "MiB", Reader: "YARN fair", About: "memory of a container is a multiple of this"},
	{Key: "yarn.scheduler.increment-allocation-vcores", kind: whole, Default: "1", limits: []float64{1}, Reader: "YARN fair", About: "virtual cores of a container are a multiple of this"},
	{Key: "yarn.scheduler.capacity.*", Reader: "YARN capacity", About: "as in capacity-scheduler.xml"},
	{Key: "yarn.scheduler.fair.*", Reader: "YARN fair", About: "settings of the FairScheduler outside fair-scheduler.xml"},
	{Key: "yarn.resourcemanager.scheduler.monitor.enable", kind: truth, Default: "false", Reader: "YARN capacity", About: "preempt containers of queues above their capacity"},
	{Key: "yarn.resourcemanager.monitor.capacity.preemption.*", Reader: "YARN capacity", About: "settings of that preemption"},
	{Key: "yarn.app.mapreduce.am.resource.mb", kind: whole, Default: "1536", limits: []float64{1}, Unit: "MiB", Reader: "YARN MRAppMaster", About: "memory of the container of a job's ApplicationMaster"},
	{Key: "yarn.app.mapreduce.am.resource.cpu-vcores", kind: whole, Default: "1", limits: []float64{1}, Reader: "YARN MRAppMaster", About: "virtual cores of that container"},
	{Key: "mapreduce.map.cpu.vcores", kind: whole, Default: "1", limits: []float64{1}, Reader: "YARN MRAppMaster", About: "virtual cores of the container of a map"},
	{Key: "mapreduce.reduce.cpu.vcores", kind: whole, Default: "1", limits: []float64{1}, Reader: "YARN MRAppMaster", About: "virtual cores of the container of a reduce"},
	{Key: "mapreduce.job.heap.memory-mb.ratio", kind: fraction, Default: "0.8", Reader: "YARN MRAppMaster", About: "heap over memory of a container that states only its heap"},
	{Key: "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", kind: whole, Default: "1000", limits: []float64{1}, Unit: "ms", Reader: "YARN MRAppMaster", About: "time between heartbeats of an ApplicationMaster"},
	{Key: "yarn.app.mapreduce.am.job.reduce.rampup.limit", kind: fraction, Default: "0.5", Reader: "YARN MRAppMaster", About: "most memory for reduces while maps wait, as a share"},
	{Key: "yarn.app.mapreduce.am.job.reduce.preemption.limit", kind: fraction, Default: "0.5", Reader: "YARN MRAppMaster", About: "most memory taken from reduces at once, as a share"},
	{Key: "mapreduce.job.reducer.preempt.delay.sec", kind: whole, Default: "0", limits: []float64{-1}, Unit: "s", Reader: "YARN MRAppMaster", About: "seconds that a map waits before reduces are killed for it"},
	{Key: "mapreduce.job.reducer.unconditional-preempt.delay.sec", kind: whole, Default: "300", limits: []float64{-1}, Unit: "s", Reader: "YARN MRAppMaster", About: "the same, whatever the headroom; -1: never"},
	{Key: "mapreduce.job.running.map.limit", kind: whole, Default: "0", limits: []float64{0}, Reader: "YARN MRAppMaster", About: "most maps of a job at once; 0: no limit"},
	{Key: "mapreduce.job.running.reduce.limit", kind: whole, Default: "0", limits: []float64{0}, Reader: "YARN MRAppMaster", About: "most reduces of a job at once; 0: no limit"},
	{Key: "yarn.app.mapreduce.am.job.node-blacklisting.enable", kind: truth, Default: "true", Reader: "YARN MRAppMaster", About: "a job avoids nodes on which its attempts fail"},
	{Key: "yarn.app.mapreduce.am.job.node-blacklisting.ignore-threshold-node-percent", kind: whole, Default: "33", limits: []float64{-1}, Unit: "%", Reader: "YARN MRAppMaster", About: "share of such nodes from which it avoids none; -1: never"},
	{Key: "yarn.app.mapreduce.am.job.recovery.enable", kind: truth, Default: "true", Reader: "YARN MRAppMaster", About: "a second ApplicationMaster keeps what has succeeded"},
	{Key: "mapred.task.timeout", New: "mapreduce.task.timeout", kind: whole, Default: "600000", limits: []float64{0}, Unit: "ms", Reader: "YARN MRAppMaster", About: "a hundredth of it is the interval of progress reports"},
	{Key: "mapreduce.task.progress-report.interval", kind: whole, Otherwise: "a hundredth of mapreduce.task.timeout", limits: []float64{1}, Unit: "ms", Reader: "YARN MRAppMaster", About: "time between progress reports of a task"},
	{Key: "mapreduce.job.ubertask.enable", kind: truth, Default: "false", Reader: "YARN MRAppMaster", About: "run small jobs inside their ApplicationMaster"},
	{Key: "mapreduce.job.ubertask.maxmaps", kind: whole, Default: "9", limits: []float64{0}, Reader: "YARN MRAppMaster", About: "most maps of a small job"},
	{Key: "mapreduce.job.ubertask.maxreduces", kind: whole, Default: "1", limits: []float64{0}, Reader: "YARN MRAppMaster", About: "most reduces of a small job"},
	{Key: "mapreduce.job.ubertask.maxbytes", kind: whole, Otherwise: "a block", limits: []float64{0}, Unit: "bytes", Reader: "YARN MRAppMaster", About: "most input of a small job"},
	{Key: "mapreduce.job.speculative.*", Reader: "YARN MRAppMaster", About: "pauses and limits of speculation"},
	{Key: "yarn.app.mapreduce.am.job.task.estimator.*", Reader: "YARN MRAppMaster", About: "class that estimates the times of tasks, and its settings"},
}

// otherNames gives the MRv2 names of properties that slotwave does not read but
// that histories and scenarios contain (hadoop-mapreduce DeprecatedProperties),
// with those of 0.20 and 1.x.
var otherNames = map[string]string{
	"mapreduce.client.submit.file.replication":      "mapred.submit.replication",
	"mapreduce.input.fileinputformat.split.maxsize": "mapred.max.split.size",
	"mapreduce.input.fileinputformat.split.minsize": "mapred.min.split.size",
	"mapreduce.job.committer.setup.cleanup.needed":  "mapred.committer.job.setup.cleanup.needed",
	"mapreduce.job.end-notification.url":            "job.end.notification.url",
	"mapreduce.job.jvm.numtasks":                    "mapred.job.reuse.jvm.num.tasks",
	"mapreduce.job.maps":                            "mapred.map.tasks",
	"mapreduce.job.name":                            "mapred.job.name",
	"mapreduce.job.reduces":                         "mapred.reduce.tasks",
	"mapreduce.jobtracker.handler.count":            "mapred.job.tracker.handler.count",
	"mapreduce.jobtracker.jobinit.threads":          "mapred.jobinit.threads",
	"mapreduce.jobtracker.taskcache.levels":         "mapred.task.cache.levels",
	"mapreduce.tasktracker.events.batchsize":        "mapred.tasktracker.events.batchsize",
	"mapreduce.tasktracker.indexcache.mb":           "mapred.tasktracker.indexcache.mb",
}

// rows are the properties by key, families those whose keys end in *, and
// oldNames the keys by MRv2 name.
var rows, families, oldNames = indexProperties()

func indexProperties() (rows map[string]*Property, families []*Property, old map[string]string) {
	rows, old = make(map[string]*Property), maps.Clone(otherNames)
	for i := range properties {
		p := &properties[i]
		rows[p.Key] = p
		if strings.HasSuffix(p.Key, "*") {
			families = append(families, p)
		}
		if p.New != "" {
			old[p.New] = p.Key
		}
	}
	return rows, families, old
}

// Canonical returns the 0.20/1.x name of a Hadoop property. It returns unknown
// names as they are.
func Canonical(key string) string {
	if old, ok := oldNames[key]; ok {
		return old
	}
	return key
}

// Properties lists the keys of all properties that slotwave reads.
func Properties() []string {
	var keys []string
	for _, p := range properties {
		keys = append(keys, p.Key)
	}
	return keys
}

// PropertyNames lists both names of all properties that slotwave reads.
func PropertyNames() []string {
	unread := func(name string) bool { _, ok := FindProperty(name); return !ok }
	return append(Properties(), slices.DeleteFunc(slices.Sorted(maps.Keys(oldNames)), unread)...)
}

// Unread reports whether a property is one of Hadoop's that slotwave does not read.
func Unread(name string) bool {
	_, found := FindProperty(name)
	return !found && (Canonical(name) != name || slices.Contains(slices.Sorted(maps.Values(otherNames)), name))
}

// FindProperty returns the property with either of its names.
func FindProperty(key string) (Property, bool) {
	key = Canonical(key)
	if p, ok := rows[key]; ok {
		return *p, true
	}
	for _, p := range families {
		if strings.HasPrefix(key, strings.TrimSuffix(p.Key, "*")) {
			return *p, true
		}
	}
	return Property{}, false
}

// ReadUnder reports whether a cluster with the scheduler of a name has a reader of the
// property. The names of those on YARN begin with yarn-.
func (p Property) ReadUnder(scheduler string) bool {
	reader, _, _ := strings.Cut(p.Reader, " ")
	switch {
	case reader == "task" || reader == "scenario":
		return true
	case strings.HasPrefix(scheduler, "yarn-"):
		return strings.Contains(p.Reader, "YARN")
	}
	return reader == "JobTracker" || strings.HasPrefix(scheduler, reader)
}

// OnYARN reports whether only YARN, or MapReduce on it, reads the property.
func (p Property) OnYARN() bool { return strings.HasPrefix(p.Reader, "YARN ") }

// CheckKind is Check without the limits of numbers.
func (p Property) CheckKind(value string) error {
	_, _, err := p.read(strings.TrimSpace(value))
	return err
}

// Check returns an error if a text is not a valid value of the property.
func (p Property) Check(value string) error {
	_, _, err := p.parse(value)
	return err
}

// Whole reports whether the property is a whole number or a switch.
func (p Property) Whole() bool { return p.kind == whole || p.kind == truth }

// Switch reports whether the property is true or false.
func (p Property) Switch() bool { return p.kind == truth }

// Form says what the value of the property is: whole, number, switch, size or text,
// with the limits of a number; most 0 is no limit.
func (p Property) Form() (form string, least, most float64) {
	switch p.kind {
	case truth:
		return "switch", 0, 0
	case fraction:
		form, most = "number", 1
	default:
		form = [...]string{text: "text", whole: "whole", number: "number", size: "size"}[p.kind]
	}
	if len(p.limits) > 0 {
		least = p.limits[0]
	}
	if len(p.limits) > 1 {
		most = p.limits[1]
	}
	return form, least, most
}

// Unusual reports whether a value lies below (-1) or above (1) the usual range of the
// property: that in which it is tuned, or else a step around a default; 0: within it.
func (p Property) Unusual(value, def string) int {
	v, _, err1 := p.parse(value)
	d, _, err2 := p.parse(def)
	if err1 != nil || err2 != nil {
		return 0
	}
	down, up := p.moved(d, -1), p.moved(d, 1)
	least, most := min(d, down, up), max(d, down, up)
	if p.Tuned != nil {
		least, most = p.Tuned[0], p.Tuned[1]
	}
	switch {
	case v < least:
		return -1
	case v > most:
		return 1
	}
	return 0
}

// moved is a value some steps above or below another: a factor of 4 for a number, three
// quarters of the way to 1 or to 0 for a fraction, the other value of a switch.
func (p Property) moved(v float64, steps int) float64 {
	left := math.Pow(4, -math.Abs(float64(steps)))
	switch {
	case p.kind == truth:
		return 1 - v
	case p.kind == fraction && steps > 0:
		return 1 - (1-v)*left
	case p.kind == fraction:
		return v * left
	}
	return v * math.Pow(4, float64(steps))
}

// Step returns the value some steps above or below another, but no farther outside of
// the range in which the property is tuned. It reports false where there is none.
func (p Property) Step(value string, steps int) (string, bool) {
	v, _, err := p.parse(value)
	if err != nil || p.kind == text || p.kind == truth && steps != 1 {
		return "", false
	}
	to := p.moved(v, steps)
	if p.Tuned != nil {
		to = min(max(to, min(v, p.Tuned[0])), max(v, p.Tuned[1]))
	}
	next := ""
	switch p.kind {
	case truth:
		next = strconv.FormatBool(to != 0)
	case fraction:
		next = strconv.FormatFloat(to, 'g', 2, 64)
	case whole, size:
		next = strconv.FormatInt(int64(math.Round(to)), 10)
	case number:
		next = strconv.FormatFloat(to, 'g', 3, 64)
	}
	return next, next != strings.TrimSpace(value) && p.Check(next) == nil
}

// Range is what the property may be set to, in words.
func (p Property) Range() string {
	switch {
	case len(p.limits) == 0:
		return wanted[p.kind]
	case p.kind == size:
		return fmt.Sprintf("%s, at least %v", wanted[size], p.limits[0])
	case len(p.limits) == 1:
		return fmt.Sprintf("at least %.15g", p.limits[0])
	}
	return fmt.Sprintf("%.15g to %.15g", p.limits[0], p.limits[1])
}

// parse reads a value: a number, or 1 for true. It returns a size or whole
// number also as an integer.
func (p Property) parse(value string) (v float64, n int64, err error) {
	value = strings.TrimSpace(value)
	if v, n, err = p.read(value); err != nil || p.kind == text {
		return 0, 0, err
	}
	outside := p.kind == fraction && (v < 0 || v > 1) || len(p.limits) > 0 && v < p.limits[0] || len(p.limits) > 1 && v > p.limits[1]
	switch {
	case value == p.Default:
	case outside:
		return 0, 0, fmt.Errorf("%s: got %s: want %s", p.Key, value, p.Range())
	case p.kind == whole && len(p.limits) < 2 && v != float64(int32(n)): // Hadoop reads 32 bits
		return 0, 0, fmt.Errorf("%s: got %s: want a whole number from %d to %d", p.Key, value, math.MinInt32, math.MaxInt32)
	case math.Abs(v) > largestNumber && p.kind == number:
		return 0, 0, fmt.Errorf("%s: got %s: want at most %g", p.Key, value, largestNumber)
	}
	return v, n, nil
}

// read is parse without the limits.
func (p Property) read(value string) (v float64, n int64, err error) {
	switch p.kind {
	case whole:
		var i int
		i, err = strconv.Atoi(value)
		n, v = int64(i), float64(i)
	case number, fraction:
		v, err = parseFloat(value)
	case truth:
		switch strings.ToLower(value) {
		case "true":
			v = 1
		case "false":
		default:
			err = strconv.ErrSyntax
		}
	case size:
		n, err = ParseBytes(value)
		v = float64(n)
	}
	if err != nil {
		hint := ""
		if bytes, err := ParseBytes(value); err == nil && strings.HasSuffix(p.Key, "mb") {
			hint = fmt.Sprintf(" of MB, such as %d", bytes>>20)
		} else if per := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second}[p.Unit]; per > 0 {
			hint = " of " + p.Unit
			if d, err := time.ParseDuration(value); err == nil {
				hint += fmt.Sprintf(", such as %d", d/per)
			}
		} else if p.kind == whole && p.Default != "" {
			hint = ", such as " + p.Default
		}
		return 0, 0, fmt.Errorf("%s: got %q: want %s%s", p.Key, value, wanted[p.kind], hint)
	}
	return v, n, nil
}
