package jobtracker

import (
	"fmt"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// jobConf holds the properties that the JobTracker reads from a job's
// configuration.
type jobConf struct {
	slowstart          float64 // mapred.reduce.slowstart.completed.maps
	speculates         [2]bool // mapred.{map,reduce}.tasks.speculative.execution
	maxAttempts        [2]int  // mapred.{map,reduce}.max.attempts
	failuresPercent    [2]int  // mapred.max.{map,reduce}.failures.percent
	maxTrackerFailures int     // mapred.max.tracker.failures
	memoryMB           [2]int  // mapred.job.{map,reduce}.memory.mb
	waitFactor         float64 // mapreduce.job.locality.wait.factor
	slotsPerTask       [2]int
}

// reader reads properties and keeps the first error.
type reader struct {
	conf workload.Conf
	err  error
}

func (r *reader) whole(key string) int {
	n, err := r.conf.Whole(key)
	r.note(err)
	return n
}

func (r *reader) number(key string) float64 {
	f, err := r.conf.Number(key)
	r.note(err)
	return f
}

func (r *reader) truth(key string) bool {
	b, err := r.conf.Truth(key)
	r.note(err)
	return b
}

func (r *reader) note(err error) {
	if r.err == nil {
		r.err = err
	}
}

// lastConf is the configuration that was read last. Most jobs have that of the job
// before.
type lastConf struct {
	conf  workload.Conf
	read  jobConf
	known bool
}

// of reads a job's configuration with the defaults of a release.
func (l *lastConf) of(conf workload.Conf, release string) (jobConf, error) {
	if l.known && l.conf.Equal(conf) {
		return l.read, nil
	}
	c, err := readJobConf(conf, release)
	*l = lastConf{conf, c, err == nil}
	return c, err
}

// readJobConf reads a job's configuration with the defaults of a release.
func readJobConf(conf workload.Conf, release string) (jobConf, error) {
	r := reader{conf: conf.For(release)}
	c := jobConf{
		slowstart:          r.number("mapred.reduce.slowstart.completed.maps"),
		waitFactor:         r.number("mapreduce.job.locality.wait.factor"),
		maxTrackerFailures: r.whole("mapred.max.tracker.failures"),
	}
	for k, name := range [...]string{"map", "reduce"} {
		c.speculates[k] = r.truth("mapred." + name + ".tasks.speculative.execution")
		c.maxAttempts[k] = r.whole("mapred." + name + ".max.attempts")
		c.failuresPercent[k] = r.whole("mapred.max." + name + ".failures.percent")
		c.memoryMB[k] = r.whole("mapred.job." + name + ".memory.mb")
	}
	return c, r.err
}

// memory returns how many slots a task holds. It is more than one only under
// the capacity scheduler with all four memory limits of the cluster set
// (JobConf.computeNumSlotsPerMap, JobTracker.checkMemoryRequirements).
type memory struct {
	slot, most [2]int // MB; a slot of 0 MB: memory is not scheduled
}

// memoryUnder returns the limits that a scheduler heeds.
func memoryUnder(s model.Scheduler, release *model.Release, conf workload.Conf) (m memory, err error) {
	r := reader{conf: conf}
	if !release.WideTasks || s.Name != "capacity" {
		return m, nil
	}
	for k, name := range [...]string{"map", "reduce"} {
		m.slot[k] = r.whole("mapred.cluster." + name + ".memory.mb")
		m.most[k] = r.whole("mapred.cluster.max." + name + ".memory.mb")
	}
	if min(m.slot[0], m.slot[1], m.most[0], m.most[1]) < 0 {
		m = memory{}
	}
	return m, r.err
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
