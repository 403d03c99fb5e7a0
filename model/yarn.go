package model

import (
	"fmt"
	"math"
	"time"

	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// YARN is what a question says of a cluster on YARN, beside what it says of any
// cluster: containers take the place of slots.
type YARN struct {
	Policy      string            // capacity, fair or fifo
	Properties  map[string]string // of yarn-site.xml and capacity-scheduler.xml
	Allocations *Allocations      // fair-scheduler.xml
	Costs       YARNCosts
	Flat        bool // the ResourceManager takes all nodes for one rack: it has no topology script
}

// YARNCosts are durations of a platform on YARN beside those of any cluster.
type YARNCosts struct {
	AMLaunch  time.Duration // from the start of its container until an ApplicationMaster registers
	AMExit    time.Duration // of its process, after its last sleep
	Exit      time.Duration // of a task's process, after its last call
	Kill      time.Duration // of a process, after the order
	JobCommit time.Duration
	TaskAbort time.Duration
}

// Allocations is the content of fair-scheduler.xml: settings of the whole, by element
// name, and the queues.
type Allocations struct {
	Settings map[string]string
	Queues   []AllocationQueue
	UserApps map[string]string // maxRunningApps of users
}

// AllocationQueue is one queue element: its own settings by element name, and the
// queues in it.
type AllocationQueue struct {
	Name     string
	Settings map[string]string
	Queues   []AllocationQueue
}

// AMSize returns the size of the container of a job's ApplicationMaster, before the
// scheduler rounds it.
func AMSize(conf workload.Conf) (Resource, error) {
	const usual = 1536 // MiB
	return containerSize(conf, "yarn.app.mapreduce.am.resource.mb", "yarn.app.mapreduce.am.resource.cpu-vcores", usual)
}

// TaskSize returns the size of the container of a job's maps or reduces, before the
// scheduler rounds it. From 3.0 on a task that states no memory has that of its heap
// over mapreduce.job.heap.memory-mb.ratio (JobConf.getMemoryRequired).
func (r *YARNRelease) TaskSize(conf workload.Conf, kind workload.Kind) (Resource, error) {
	of := "mapreduce." + kind.String()
	usual := int64(1024) // MiB
	if r.SizeOfHeaps {
		opts := conf.String(of+".java.opts", conf.String("mapred.child.java.opts", ""))
		ratio, err := conf.Float("mapreduce.job.heap.memory-mb.ratio", 0.8)
		if err != nil {
			return Resource{}, err
		}
		if heap := workload.HeapMB(opts); heap > 0 && ratio > 0 {
			usual = int64(math.Ceil(float64(heap) / ratio))
		}
	}
	return containerSize(conf, of+".memory.mb", of+".cpu.vcores", usual)
}

// TaskConf reads the configuration of a job's tasks. From 3.0 on a task that states no
// heap has mapreduce.job.heap.memory-mb.ratio of its container's memory
// (JobConf.getTaskJavaOpts).
func (r *Release) TaskConf(conf workload.Conf) (taskplan.Conf, error) {
	if r.YARN == nil {
		return taskplan.ReadConf(conf)
	}
	if r.YARN.SizeOfHeaps {
		var heaps workload.Conf
		ratio, err := conf.Float("mapreduce.job.heap.memory-mb.ratio", 0.8)
		if err != nil {
			return taskplan.Conf{}, err
		}
		for _, kind := range []workload.Kind{workload.Map, workload.Reduce} {
			size, err := r.YARN.TaskSize(conf, kind)
			if err != nil {
				return taskplan.Conf{}, err
			}
			key := "mapreduce." + kind.String() + ".java.opts"
			opts := conf.String(key, conf.String("mapred.child.java.opts", ""))
			if ratio > 0 && workload.HeapMB(opts) <= 0 {
				heaps.Set(key, fmt.Sprintf("%s -Xmx%dm", opts, int64(ratio*float64(size.MemoryMiB))))
			}
		}
		conf = conf.Over(heaps)
	}
	c, err := taskplan.ReadConf(conf)
	c.MRv2 = true
	return c, err
}

func containerSize(conf workload.Conf, memory, vcores string, usual int64) (Resource, error) {
	r := workload.ConfReader{Conf: conf}
	m, v := int64(r.Int(memory, int(usual))), int64(r.Int(vcores, 1))
	if m <= 0 {
		m = usual
	}
	return Resource{MemoryMiB: m, VCores: v}, r.Err
}
