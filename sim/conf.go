package sim

import (
	"fmt"

	"github.com/slotwave/slotwave/workload"
)

// jobConf holds the properties that the JobTracker reads from a job's
// configuration.
type jobConf struct {
	slowstart          float64 // mapred.reduce.slowstart.completed.maps, 0.05
	speculates         [2]bool // mapred.{map,reduce}.tasks.speculative.execution, true; ideal: false
	maxAttempts        [2]int  // mapred.{map,reduce}.max.attempts, 4
	failuresPercent    [2]int  // mapred.max.{map,reduce}.failures.percent, 0
	maxTrackerFailures int     // mapred.max.tracker.failures, 4
	memoryMB           [2]int  // mapred.job.{map,reduce}.memory.mb, -1
	waitFactor         float64 // mapreduce.job.locality.wait.factor, 1
	slotsPerTask       [2]int
}

// reader reads properties and keeps the first error.
type reader struct {
	conf workload.Conf
	err  error
}

func (r *reader) int(key string, def, least int) int {
	n, err := r.conf.Int(key, def)
	if err == nil && n < least && n != def {
		err = fmt.Errorf("%s = %d: want at least %d", key, n, least)
	}
	if r.err == nil {
		r.err = err
	}
	return n
}

func (r *reader) float(key string, def, least float64) float64 {
	f, err := r.conf.Float(key, def)
	if err == nil && f < least {
		err = fmt.Errorf("%s = %v: want at least %v", key, f, least)
	}
	if r.err == nil {
		r.err = err
	}
	return f
}

func (r *reader) fraction(key string, def float64) float64 {
	f, err := r.conf.Float(key, def)
	if err == nil && (f < 0 || f > 1) {
		err = fmt.Errorf("%s = %v: want a fraction between 0 and 1", key, f)
	}
	if r.err == nil {
		r.err = err
	}
	return f
}

func (r *reader) bool(key string, def bool) bool {
	b, err := r.conf.Bool(key, def)
	if r.err == nil {
		r.err = err
	}
	return b
}

func readJobConf(conf workload.Conf, speculative bool) (jobConf, error) {
	r := reader{conf: conf}
	c := jobConf{
		slowstart:          r.fraction("mapred.reduce.slowstart.completed.maps", 0.05),
		waitFactor:         r.fraction("mapreduce.job.locality.wait.factor", 1),
		maxTrackerFailures: r.int("mapred.max.tracker.failures", 4, 1),
	}
	for k, name := range [...]string{"map", "reduce"} {
		c.speculates[k] = r.bool("mapred."+name+".tasks.speculative.execution", speculative)
		c.maxAttempts[k] = r.int("mapred."+name+".max.attempts", 4, 1)
		c.failuresPercent[k] = r.int("mapred.max."+name+".failures.percent", 0, 0)
		c.memoryMB[k] = r.int("mapred.job."+name+".memory.mb", -1, 1)
	}
	return c, r.err
}

// memory returns how many slots a task holds. It is more than one only under
// the capacity scheduler with all four memory limits of the cluster set
// (JobConf.computeNumSlotsPerMap, JobTracker.checkMemoryRequirements).
type memory struct {
	scheduled  bool
	slot, most [2]int // MB; a slot of 0 MB: memory is not scheduled
}

func (m *memory) read(conf workload.Conf) error {
	r := reader{conf: conf}
	if !m.scheduled {
		return nil
	}
	for k, name := range [...]string{"map", "reduce"} {
		m.slot[k] = r.int("mapred.cluster."+name+".memory.mb", -1, 1)
		m.most[k] = r.int("mapred.cluster.max."+name+".memory.mb", -1, 1)
	}
	if min(m.slot[0], m.slot[1], m.most[0], m.most[1]) < 0 {
		*m = memory{scheduled: true}
	}
	return r.err
}

func (m *memory) slotsPerTask(c *jobConf) ([2]int, error) {
	width := [2]int{1, 1}
	for k, name := range [...]string{"map", "reduce"} {
		if m.slot[k] == 0 {
			continue
		}
		if c.memoryMB[k] < 0 || c.memoryMB[k] > m.most[k] {
			return width, fmt.Errorf("mapred.job.%s.memory.mb = %d: the cluster's memory limits want 1 to %d",
				name, c.memoryMB[k], m.most[k])
		}
		width[k] = (c.memoryMB[k] + m.slot[k] - 1) / m.slot[k]
	}
	return width, nil
}
