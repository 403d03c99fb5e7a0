package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// What a record tells of a key.
const (
	Determined = "determined"
	Bounded    = "bounded"
	NotTold    = "not told"
)

// Fact is what a record tells of a key of its cluster.
type Fact struct {
	Key   string `json:"key"`
	Told  string `json:"told"`
	Value string `json:"value"` // empty: the record has none
	Why   string `json:"why"`
}

// FactsOf returns what the tasks and the configuration of a history tell of its cluster.
// Keys of the machine are in the same words after a calibration, with intervals. On YARN
// it had containers.
func FactsOf(h *workload.History, onYARN bool) (list []Fact) {
	conf := h.Common()
	add := func(key, told, value, why string) { list = append(list, Fact{key, told, value, why}) }
	workers := h.Workers()
	switch n := workers.Hosts(); {
	case n == 0:
		add("cluster.nodes", NotTold, "", "no attempt names its machine")
	case !slices.ContainsFunc(workers.Racks, func(r workload.Rack) bool {
		return slices.ContainsFunc(r.Hosts, func(host string) bool { return !workers.Listed[host] })
	}):
		add("cluster.nodes", Determined, fmt.Sprint(n), "listed by the topology")
	default:
		why := "machines that ran a task"
		if len(workers.Listed) > 0 {
			why += " or are listed"
		}
		add("cluster.nodes", Bounded, fmt.Sprintf("%d or more", n), why)
	}
	if onYARN {
		addContainers(h, add)
	} else {
		addSlots(h, conf, add)
	}
	if !slices.ContainsFunc(h.Jobs, func(j workload.HistoryJob) bool { return len(j.Tasks) > 0 }) {
		add("times of tasks", NotTold, "", "no task is recorded")
	} else {
		add("times of tasks", Determined, "", "for these slots or containers, devices and settings of tasks only")
	}
	add("devices and codec", NotTold, "", "platform calibrate bounds cores, disks, memory, page_cache, overlap and codec; --know states them")
	return list
}

// addSlots adds what a record tells of a cluster with a JobTracker.
func addSlots(h *workload.History, conf workload.Conf, add func(key, told, value, why string)) {
	for _, kind := range []workload.Kind{workload.Map, workload.Reduce} {
		key := "cluster." + kind.String() + "_slots"
		if n, told := statedSlots("mapred.tasktracker."+kind.String()+".tasks.maximum", conf); told {
			add(key, Determined, fmt.Sprint(n), "configuration")
		} else if most := h.MostOnMachine(kind); most > 0 {
			add(key, Bounded, fmt.Sprintf("%d or more", most), "attempts at once on a machine")
		} else {
			add(key, NotTold, "", "no such attempt names its machine")
		}
	}
	release, known := model.ReleaseOf(conf)
	if stated := cmp.Or(h.Release, release); h.Release != "" || known {
		add("cluster.hadoop", Determined, stated, "stated")
	} else if release, why := InferRelease(h); release != "" {
		add("cluster.hadoop", Bounded, release, why)
	} else {
		add("cluster.hadoop", NotTold, "", why)
	}
	as := assignedIn(h)
	first := as.first()
	if interval, _ := first.interval(0); interval > 0 {
		add("cluster.heartbeat", Determined, interval.Round(time.Millisecond).String(), "tasks of a machine are assigned whole intervals apart")
	} else {
		add("cluster.heartbeat", NotTold, "", "it is that of the release")
	}
	if class := conf.Text("mapred.jobtracker.taskScheduler"); class != "" {
		add("scheduler.name", Determined, class, "configuration")
	} else {
		add("scheduler.name", NotTold, "", "run tries FIFO, Fair and Capacity")
	}
}

// addContainers adds what a record tells of a cluster on YARN.
func addContainers(h *workload.History, add func(key, told, value, why string)) {
	release, err := model.FindRelease(h.Release)
	if err == nil && release.YARN != nil {
		add("cluster.hadoop", Determined, h.Release, "stated")
	} else {
		release, _ = model.FindRelease(usualYARN)
		add("cluster.hadoop", NotTold, "", usualYARN+" replays it on YARN")
	}
	if used := heldOnMachine(h, release.YARN); used.MemoryMiB > 0 {
		const why = "containers of tasks at once on a machine"
		add("cluster.memory", Bounded, fmt.Sprintf("%d MiB or more", used.MemoryMiB), why)
		add("cluster.vcores", Bounded, fmt.Sprintf("%d or more", used.VCores), why)
	} else {
		const why = "no attempt names its machine"
		add("cluster.memory", NotTold, "", why)
		add("cluster.vcores", NotTold, "", why)
	}
	add("scheduler.name", NotTold, "", "scheduler.queue or scheduler.file states it and its queues")
}
