package scenarios

import (
	"cmp"
	"fmt"
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
// Keys of the machine are in the same words after a calibration, with intervals.
func FactsOf(h *workload.History) (list []Fact) {
	conf := h.Common()
	add := func(key, told, value, why string) { list = append(list, Fact{key, told, value, why}) }
	workers := h.Workers()
	switch n := workers.Hosts(); {
	case n == 0:
		add("cluster.nodes", NotTold, "", "no attempt names its machine")
	case h.Topology.Listed:
		add("cluster.nodes", Determined, fmt.Sprint(n), "listed by the topology")
	default:
		add("cluster.nodes", Bounded, fmt.Sprintf("%d or more", n), "machines that ran a task")
	}
	for _, kind := range []workload.Kind{workload.Map, workload.Reduce} {
		key := "cluster." + kind.String() + "_slots"
		if n, told := statedSlots("mapred.tasktracker."+kind.String()+".tasks.maximum", conf); told {
			add(key, Determined, fmt.Sprint(n), "configuration")
		} else if most := h.MostOnMachine(kind); most > 0 {
			add(key, Bounded, fmt.Sprintf("%d or more", most), "attempts at once on a machine")
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
	add("times of tasks", Determined, "", "for these slots, devices and settings of tasks only")
	add("devices and codec", NotTold, "", "platform calibrate bounds cores, disks, memory, page_cache, overlap and codec; --know states them")
	return list
}
