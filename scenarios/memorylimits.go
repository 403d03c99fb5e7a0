package scenarios

import (
	"fmt"
	"strconv"

	"github.com/slotwave/slotwave/workload"
)

// impliedLimits returns the configuration with the memory limits that the record
// implies, if some job with more tasks than slots never held more than half of the
// slots of a machine: its tasks took several slots each.
func (t clusterTable) impliedLimits(l *load, conf workload.Conf) (workload.Conf, bool) {
	wide := false
	var found []string
	for kind, name := range [...]string{"map", "reduce"} {
		slots, err := conf.Whole("mapred.tasktracker." + name + ".tasks.maximum")
		if err != nil || slots < 1 {
			return conf, false
		}
		slot, most := 1, 1
		for i := range l.history.Jobs {
			j := &l.history.Jobs[i]
			asks, err := j.Conf.Whole("mapred.job." + name + ".memory.mb")
			if err != nil || asks < 1 {
				return conf, false
			}
			width := slotsHeld(l.history, j, workload.Kind(kind), slots)
			wide = wide || width > 1
			slot, most = max(slot, (asks+width-1)/width), max(most, asks)
		}
		conf = with(conf, "mapred.cluster."+name+".memory.mb", strconv.Itoa(slot))
		conf = with(conf, "mapred.cluster.max."+name+".memory.mb", strconv.Itoa(most))
		found = append(found, fmt.Sprintf("%s slots have %d MB (jobs ask for up to %d MB; how many of their tasks ran at once on a machine shows the slots of each)", name, slot, most))
	}
	if wide {
		for _, text := range found {
			t.assume("%s", text)
		}
	}
	return conf, wide
}

// slotsHeld returns how many slots a task of a job held: the slots of a machine
// over the most tasks at once on one, if there were more tasks than slots.
func slotsHeld(h *workload.History, j *workload.HistoryJob, kind workload.Kind, slots int) int {
	workers := h.Workers()
	if tasks, _ := j.Count(kind); tasks <= slots*workers.Hosts() {
		return 1
	}
	alone := workload.History{Jobs: []workload.HistoryJob{*j}, Topology: h.Topology}
	return max(1, slots/max(1, alone.MostOnMachine(kind)))
}
