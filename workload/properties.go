package workload

import (
	"fmt"
	"strings"
)

// Property is a Hadoop property that means something to slotwave.
type Property struct {
	Key     string // under its 0.20/1.x name; a last part * stands for any
	Value   Value
	Default string // the release's own, where it is not in the row of the release
	About   string
	Phases  bool // matters only where times are made of phases (fidelities phase and device)
}

// Value is what a property may be set to.
type Value uint8

// The kinds of values, as Hadoop's Configuration reads them.
const (
	Text Value = iota
	Whole
	Number
	Fraction // from 0 to 1
	Truth
	Size // bytes, with k, m, g, t
)

// Check says what is wrong with a text as the property's value.
func (p Property) Check(text string) error {
	var c Conf
	c.Set(p.Key, text)
	var err error
	switch p.Value {
	case Whole:
		_, err = c.Int(p.Key, 0)
	case Number:
		_, err = c.Float(p.Key, 0)
	case Fraction:
		var f float64
		if f, err = c.Float(p.Key, 0); err == nil && !(f >= 0 && f <= 1) {
			err = fmt.Errorf("%s = %v: want a number from 0 to 1", p.Key, f)
		}
	case Truth:
		_, err = c.Bool(p.Key, false)
	case Size:
		_, err = c.Bytes(p.Key, 0)
	}
	return err
}

// properties is the table of what is read, by purpose.
var properties = []Property{
	// The JobTracker and its trackers.
	{Key: "mapred.tasktracker.map.tasks.maximum", Value: Whole, Default: "2", About: "map slots of a node, unless the cluster states them"},
	{Key: "mapred.tasktracker.reduce.tasks.maximum", Value: Whole, Default: "2", About: "reduce slots of a node, unless the cluster states them"},
	{Key: "mapred.tasktracker.expiry.interval", Value: Whole, Default: "600000", About: "ms of silence after which a tracker is lost"},
	{Key: "mapred.heartbeats.in.second", Value: Whole, Default: "100", About: "1.x: heartbeats a second the JobTracker aims at"},
	{Key: "mapreduce.jobtracker.heartbeats.scaling.factor", Value: Number, Default: "1.0", About: "1.x: factor on the heartbeat interval"},
	{Key: "mapreduce.tasktracker.outofband.heartbeat", Value: Truth, Default: "false", About: "1.x: a task's end brings the heartbeat forward"},
	{Key: "mapreduce.tasktracker.outofband.heartbeat.damper", Value: Whole, Default: "1000000", About: "1.x: by how much: interval / (ended tasks x damper + 1)"},
	{Key: "mapred.max.tracker.blacklists", Value: Whole, Default: "4", About: "0.20: jobs that may avoid a tracker before it gets no more work"},
	{Key: "mapred.cluster.average.blacklist.threshold", Value: Number, Default: "0.5", About: "0.20: and by how much that must exceed the average"},
	{Key: "mapred.cluster.map.memory.mb", Value: Whole, Default: "-1", About: "capacity, 1.x: memory of a map slot"},
	{Key: "mapred.cluster.reduce.memory.mb", Value: Whole, Default: "-1", About: "capacity, 1.x: memory of a reduce slot"},
	{Key: "mapred.cluster.max.map.memory.mb", Value: Whole, Default: "-1", About: "capacity, 1.x: most memory a map may ask for"},
	{Key: "mapred.cluster.max.reduce.memory.mb", Value: Whole, Default: "-1", About: "capacity, 1.x: most memory a reduce may ask for"},
	{Key: "dfs.replication", Value: Whole, Default: "3", About: "replicas of a split whose place is not given"},
	{Key: "dfs.block.size", Value: Size, Default: "67108864", About: "bytes of a split, where the number of maps is not given"},

	// A job and its tasks.
	{Key: "mapred.reduce.slowstart.completed.maps", Value: Fraction, Default: "0.05", About: "share of the maps that end before reduces start"},
	{Key: "mapred.map.tasks.speculative.execution", Value: Truth, Default: "true", About: "second attempts of slow maps"},
	{Key: "mapred.reduce.tasks.speculative.execution", Value: Truth, Default: "true", About: "second attempts of slow reduces"},
	{Key: "mapred.map.max.attempts", Value: Whole, Default: "4", About: "failures of a map that fail the job"},
	{Key: "mapred.reduce.max.attempts", Value: Whole, Default: "4", About: "failures of a reduce that fail the job"},
	{Key: "mapred.max.map.failures.percent", Value: Whole, Default: "0", About: "maps that may fail without failing the job"},
	{Key: "mapred.max.reduce.failures.percent", Value: Whole, Default: "0", About: "reduces that may fail without failing the job"},
	{Key: "mapred.max.tracker.failures", Value: Whole, Default: "4", About: "failures on a tracker after which the job avoids it"},
	{Key: "mapred.job.map.memory.mb", Value: Whole, Default: "-1", About: "capacity, 1.x: memory a map asks for"},
	{Key: "mapred.job.reduce.memory.mb", Value: Whole, Default: "-1", About: "capacity, 1.x: memory a reduce asks for"},
	{Key: "mapreduce.job.locality.wait.factor", Value: Fraction, Default: "hosts of the input / nodes", About: "capacity, 1.x: how long maps wait for a near node"},

	// What happens inside a task.
	{Key: "io.sort.mb", Value: Whole, Default: "100", About: "MiB in which a map collects its output", Phases: true},
	{Key: "io.sort.record.percent", Value: Fraction, Default: "0.05", About: "part of them for the accounting of records", Phases: true},
	{Key: "io.sort.spill.percent", Value: Fraction, Default: "0.80", About: "part of them from which on a spill starts", Phases: true},
	{Key: "io.sort.factor", Value: Whole, Default: "10", About: "files merged at once", Phases: true},
	{Key: "min.num.spills.for.combine", Value: Whole, Default: "3", About: "spills of a map from which on its last merge combines", Phases: true},
	{Key: "mapred.compress.map.output", Value: Truth, Default: "false", About: "compress what maps write for reduces", Phases: true},
	{Key: "mapred.map.output.compression.codec", Default: "org.apache.hadoop.io.compress.DefaultCodec", About: "class that does so", Phases: true},
	{Key: "mapred.output.compress", Value: Truth, Default: "false", About: "compress the output of the job", Phases: true},
	{Key: "mapred.output.compression.codec", Default: "org.apache.hadoop.io.compress.DefaultCodec", About: "class that does so", Phases: true},
	{Key: "mapred.child.java.opts", Default: "-Xmx200m", About: "options of a task's JVM; its heap is read", Phases: true},
	{Key: "mapred.map.child.java.opts", Default: "mapred.child.java.opts", About: "1.x: the same for maps", Phases: true},
	{Key: "mapred.reduce.child.java.opts", Default: "mapred.child.java.opts", About: "1.x: the same for reduces", Phases: true},
	{Key: "mapred.reduce.parallel.copies", Value: Whole, Default: "5", About: "map outputs that a reduce fetches at once", Phases: true},
	{Key: "mapred.job.shuffle.input.buffer.percent", Value: Fraction, Default: "0.70", About: "part of a reduce's heap for fetched map outputs", Phases: true},
	{Key: "mapred.job.shuffle.merge.percent", Value: Fraction, Default: "0.66", About: "part of that at which they are merged to disk", Phases: true},
	{Key: "mapred.inmem.merge.threshold", Value: Whole, Default: "1000", About: "map outputs in memory at which they are; 0 or less: any number", Phases: true},
	{Key: "mapred.job.reduce.input.buffer.percent", Value: Fraction, Default: "0.0", About: "part of a reduce's heap that may hold map outputs while it reduces", Phases: true},
	{Key: "tasktracker.http.threads", Value: Whole, Default: "40", About: "map outputs that a tracker sends at once", Phases: true},

	// Schedulers.
	{Key: "mapred.jobtracker.taskScheduler", About: "class of the scheduler, unless the scenario names one"},
	{Key: "mapred.jobtracker.taskalloc.capacitypad", Value: Number, Default: "0.01", About: "fifo: share of slots kept for failures and speculation"},
	{Key: "mapred.fairscheduler.assignmultiple", Value: Truth, Default: "fair1: false, fair2: true", About: "more than one task a heartbeat"},
	{Key: "mapred.fairscheduler.assignmultiple.maps", Value: Whole, Default: "-1", About: "fair2: most maps a heartbeat; -1: all free slots"},
	{Key: "mapred.fairscheduler.assignmultiple.reduces", Value: Whole, Default: "-1", About: "fair2: most reduces a heartbeat; -1: all free slots"},
	{Key: "mapred.fairscheduler.sizebasedweight", Value: Truth, Default: "false", About: "fair: weight by the logarithm of the tasks"},
	{Key: "mapred.fairscheduler.weightadjuster", About: "fair: org.apache.hadoop.mapred.NewJobWeightBooster or none"},
	{Key: "mapred.newjobweightbooster.factor", Value: Number, Default: "3", About: "fair: weight of a young job"},
	{Key: "mapred.newjobweightbooster.duration", Value: Whole, Default: "300000", About: "fair: ms a job is young"},
	{Key: "mapred.fairscheduler.load.max.diff", Value: Number, Default: "0", About: "fair2: how far the load of a tracker may exceed the average"},
	{Key: "mapred.fairscheduler.locality.delay", Value: Whole, Default: "-1", About: "fair2: ms to wait for a near node; -1: 1.5 heartbeats"},
	{Key: "mapred.fairscheduler.locality.delay.node", Value: Whole, Default: "-1", About: "fair2: the same before settling for the rack"},
	{Key: "mapred.fairscheduler.locality.delay.rack", Value: Whole, Default: "-1", About: "fair2: and from there before settling for any node"},
	{Key: "mapred.fairscheduler.update.interval", Value: Whole, Default: "500", About: "fair2: ms between updates of the shares"},
	{Key: "mapred.fairscheduler.preemption", Value: Truth, Default: "false", About: "fair2: kill tasks of pools above their share"},
	{Key: "mapred.fairscheduler.preemption.interval", Value: Whole, Default: "15000", About: "fair2: ms between looks for starved pools"},
	{Key: "mapred.fairscheduler.preemption.only.log", Value: Truth, Default: "false", About: "fair2: look without killing"},
	{Key: "mapred.fairscheduler.pool", About: "pool of a job, unless the job names one"},
	{Key: "mapred.queue.names", Default: "default", About: "capacity: queues, unless the scenario lists them"},
	{Key: "mapred.job.queue.name", Default: "default", About: "queue of a job, unless the job names one"},
	{Key: "mapred.capacity-scheduler.*", About: "capacity: capacity-scheduler.xml"},
	{Key: "mapred.job.priority", Default: "NORMAL", About: "VERY_HIGH ... VERY_LOW, unless the job states it"},
	{Key: "user.name", About: "user of a job, unless the job names one"},
}

// Properties lists the keys of all properties that mean something.
func Properties() []string {
	var keys []string
	for _, p := range properties {
		keys = append(keys, p.Key)
	}
	return keys
}

// FindProperty looks a property up under either of its names.
func FindProperty(key string) (Property, bool) {
	key = Canonical(key)
	for _, p := range properties {
		family, isFamily := strings.CutSuffix(p.Key, "*")
		if p.Key == key || isFamily && strings.HasPrefix(key, family) {
			return p, true
		}
	}
	return Property{}, false
}
