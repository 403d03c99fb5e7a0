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
	r := workload.ConfReader{Conf: conf.For(release)}
	c := jobConf{
		slowstart:          r.Number("mapred.reduce.slowstart.completed.maps"),
		waitFactor:         r.Number("mapreduce.job.locality.wait.factor"),
		maxTrackerFailures: r.Whole("mapred.max.tracker.failures"),
	}
	for k, name := range [...]string{"map", "reduce"} {
		c.speculates[k] = r.Truth("mapred." + name + ".tasks.speculative.execution")
		c.maxAttempts[k] = r.Whole("mapred." + name + ".max.attempts")
		c.failuresPercent[k] = r.Whole("mapred.max." + name + ".failures.percent")
		c.memoryMB[k] = r.Whole("mapred.job." + name + ".memory.mb")
	}
	return c, r.Err
}

// memory returns how many slots a task holds. It is more than one only under
// the capacity scheduler with all four memory limits of the cluster set
// (JobConf.computeNumSlotsPerMap, JobTracker.checkMemoryRequirements).
type memory struct {
	slot, most [2]int // MB; a slot of 0 MB: memory is not scheduled
}

// memoryUnder returns the limits that a scheduler heeds.
func memoryUnder(s model.Scheduler, release *model.Release, conf workload.Conf) (m memory, err error) {
	r := workload.ConfReader{Conf: conf}
	if !release.WideTasks || s.Name != "capacity" {
		return m, nil
	}
	for k, name := range [...]string{"map", "reduce"} {
		m.slot[k] = r.Whole("mapred.cluster." + name + ".memory.mb")
		m.most[k] = r.Whole("mapred.cluster.max." + name + ".memory.mb")
	}
	if min(m.slot[0], m.slot[1], m.most[0], m.most[1]) < 0 {
		m = memory{}
	}
	return m, r.Err
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
