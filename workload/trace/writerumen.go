package trace

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/slotwave/slotwave/workload"
)

// writeRumen writes the history as a Rumen trace (LoggedJob of Hadoop 2.x): one
// object after another. Jobs whose ids Hadoop could not read get new ones.
func writeRumen(w io.Writer, h *workload.History) error {
	e, j := newExporter(h), newJSONWriter(w, jsontext.SpaceAfterComma(true), jsontext.WithIndent("  "))
	for i := range h.Jobs {
		j.write(rumenWriter{e, bareID(e.ids[i])}.job(&h.Jobs[i], e.ids[i]))
	}
	return j.err
}

// rumenWriter makes the objects of a job.
type rumenWriter struct {
	*exporter
	prefix string // what the ids of its tasks begin with
}

func (w rumenWriter) job(j *workload.HistoryJob, id string) object {
	given := numbers(j)
	tasks := func(kinds ...workload.Kind) items {
		return func(write func(any)) {
			for _, t := range recorded(j) {
				if slices.Contains(kinds, t.Kind) {
					write(w.task(t, given[t]))
				}
			}
		}
	}
	s := runStatistics(j)
	var tries any
	if s.tries != nil {
		tries = s.tries
	}
	name := j.Name
	if name == "" && id != j.ID {
		name = j.ID
	}
	conf, properties := w.conf(j, id), object{}
	for _, key := range conf.Keys() {
		value, _ := conf.Lookup(key)
		properties = append(properties, key, value)
	}
	return object{
		"priority", j.Priority.String(),
		"jobID", id,
		"user", orNull(j.User),
		"jobName", orNull(name),
		"submitTime", w.millis(j.Submit),
		"launchTime", w.millis(j.Launch),
		"finishTime", w.millis(j.Finish),
		"heapMegabytes", asInt(j.HeapMB),
		"totalMaps", asInt(int64(j.Maps)),
		"totalReduces", asInt(int64(j.Reduces)),
		"outcome", rumenEnd(j.Outcome),
		"jobtype", orNull(j.Type),
		"directDependantJobs", list{},
		"mapTasks", tasks(workload.Map),
		"reduceTasks", tasks(workload.Reduce),
		"otherTasks", tasks(workload.Setup, workload.Cleanup),
		"successfulMapAttemptCDFs", cdfs(s.mapsDone[:]),
		"failedMapAttemptCDFs", cdfs(s.mapsLost[:]),
		"successfulReduceAttemptCDF", cdf(s.reducesDone),
		"failedReduceAttemptCDF", cdf(s.reducesLost),
		"mapperTriesToSucceed", tries,
		"failedMapperFraction", s.failedMaps,
		"relativeTime", 0,
		"queue", orNull(j.Queue),
		"clusterMapMB", asInt(j.ClusterMapMB),
		"clusterReduceMB", asInt(j.ClusterReduceMB),
		"jobMapMB", asInt(j.MapMB),
		"jobReduceMB", asInt(j.ReduceMB),
		"computonsPerMapInputByte", workload.Unknown,
		"computonsPerMapOutputByte", workload.Unknown,
		"computonsPerReduceInputByte", workload.Unknown,
		"computonsPerReduceOutputByte", workload.Unknown,
		"jobProperties", properties,
	}
}

// rumenEnd is Hadoop's word for an end state; null where no end is recorded.
func rumenEnd(s workload.State) any {
	if s == workload.Running {
		return nil
	}
	return endedAs(s)
}

func (w rumenWriter) task(t *workload.HistoryTask, number int) object {
	id := fmt.Sprintf("%s_%c_%06d", w.prefix, slotLetter(t.ReduceSlot), number)
	in, inRecords, out, outRecords := int64(workload.Unknown), int64(workload.Unknown), int64(workload.Unknown), int64(workload.Unknown)
	if a := t.Winner(); a != nil {
		switch t.Kind {
		case workload.Map:
			in, inRecords, out, outRecords = a.HDFSReadBytes, a.InRecords, a.LocalWriteBytes, a.OutRecords
		case workload.Reduce:
			in, inRecords, out, outRecords = a.ShuffleBytes, a.InRecords, a.HDFSWriteBytes, a.OutRecords
		}
	}
	attempts, locations := list{}, list{}
	for i := range t.Attempts {
		attempts = append(attempts, w.attempt(&t.Attempts[i], t, fmt.Sprintf("attempt_%s_%d", id, t.Attempts[i].Number)))
	}
	for _, host := range t.Split.Hosts {
		locations = append(locations, layers(rackOr(w.racks[host]), host))
	}
	return object{
		"startTime", w.millis(t.Start),
		"taskID", "task_" + id,
		"taskType", taskTypes[t.Kind],
		"finishTime", w.millis(t.Finish),
		"attempts", attempts,
		"preferredLocations", locations,
		"taskStatus", rumenEnd(t.State),
		"inputBytes", in,
		"inputRecords", inRecords,
		"outputBytes", out,
		"outputRecords", outRecords,
	}
}

// layers is a machine as Rumen writes it.
func layers(rack, host string) object {
	return object{"layers", append(strings.Split(rack, "/"), host)}
}

func (w rumenWriter) attempt(a *workload.HistoryAttempt, t *workload.HistoryTask, id string) object {
	var location, hostName any
	if a.Node != "" {
		location, hostName = layers(rackOr(a.Rack), a.Node), locationOf(rackOr(a.Rack), a.Node)
	}
	o := object{
		"location", location,
		"hostName", hostName,
		"startTime", w.millis(a.Start),
		"result", rumenEnd(a.State),
		"finishTime", w.millis(a.Finish),
		"attemptID", id,
	}
	_, shuffled, sorted := marksOf(a, t.ReduceSlot)
	o = append(o, "shuffleFinished", w.millis(shuffled), "sortFinished", w.millis(sorted))
	all, usage, used := countersOf(a), object{}, false
	count := func(n loggedCounter) int64 {
		if field := counterField(&all, t.SlotKind(), n.counter); field != nil {
			return *field
		}
		return workload.Unknown
	}
	for _, n := range rumenCounters {
		o = append(o, n.member, count(n))
	}
	for _, n := range rumenUsage {
		usage, used = append(usage, n.member, count(n)), used || count(n) != workload.Unknown
	}
	if used {
		o = append(o, "resourceUsageMetrics", usage)
	}
	return o
}

// jobStatistics are Rumen's sums over a job's attempts: their run times in
// milliseconds, of maps by distance to the split, and the number of tries of
// maps. Killed attempts are not in the distributions.
type jobStatistics struct {
	mapsDone, mapsLost       [4][]int64 // node, rack, off, unknown
	reducesDone, reducesLost []int64
	tries                    []float64 // fraction of the maps that took one, two... tries
	failedMaps               float64   // fraction of the maps that never succeeded
}

func runStatistics(j *workload.HistoryJob) jobStatistics {
	var s jobStatistics
	var byTries []int
	maps, failed := 0, 0
	for i := range j.Tasks {
		t := &j.Tasks[i]
		if t.Kind > workload.Reduce {
			continue
		}
		for k := range t.Attempts {
			a := &t.Attempts[k]
			if !workload.Known(a.Start) || !workload.Known(a.Finish) || a.State == workload.Running || a.State == workload.Killed {
				continue
			}
			ran := roundMillis(a.Finish) - roundMillis(a.Start)
			done := a.State == workload.Succeeded
			switch {
			case t.Kind == workload.Map && done:
				s.mapsDone[a.Locality] = append(s.mapsDone[a.Locality], ran)
			case t.Kind == workload.Map:
				s.mapsLost[a.Locality] = append(s.mapsLost[a.Locality], ran)
			case done:
				s.reducesDone = append(s.reducesDone, ran)
			default:
				s.reducesLost = append(s.reducesLost, ran)
			}
		}
		if t.Kind != workload.Map {
			continue
		}
		maps++
		won := t.Winner()
		if won == nil {
			failed++
			continue
		}
		for len(byTries) <= min(won.Number, maxAttemptsOfTask) {
			byTries = append(byTries, 0)
		}
		byTries[min(won.Number, maxAttemptsOfTask)]++
	}
	for _, n := range byTries {
		s.tries = append(s.tries, float64(n)/float64(maps-failed))
	}
	if maps > 0 {
		s.failedMaps = float64(failed) / float64(maps)
	}
	return s
}

func cdfs(lists [][]int64) (all list) {
	for _, l := range lists {
		all = append(all, cdf(l))
	}
	return all
}

// cdf is a LoggedDiscreteCDF: the extremes and the values at each twentieth.
func cdf(values []int64) object {
	slices.Sort(values)
	least, most, rankings := int64(math.MinInt64), int64(math.MaxInt64), list{}
	if len(values) > 0 {
		least, most = values[0], values[len(values)-1]
		for percent := 5; percent <= 95; percent += 5 {
			rankings = append(rankings, object{"datum", values[rank(percent, len(values))], "relativeRanking", float64(percent) / 100})
		}
	}
	return object{"maximum", most, "minimum", least, "rankings", rankings, "numberValues", len(values)}
}

// rank returns the index of the first of n sorted values at or above a
// percentile. The number of values is rounded down.
func rank(percent, n int) int { return max(0, percent*n/100-1) }

// writeTopology writes the machines as Rumen's LoggedNetworkTopology.
func writeTopology(w io.Writer, t workload.Topology) error {
	racks := list{}
	for _, r := range t.Racks {
		hosts := list{}
		for _, host := range r.Hosts {
			hosts = append(hosts, object{"name", host, "children", nil})
		}
		racks = append(racks, object{"name", rackOr(r.Name), "children", hosts})
	}
	j := newJSONWriter(w, jsontext.WithIndent("  "))
	j.write(object{"name", "<root>", "children", racks})
	return j.err
}
