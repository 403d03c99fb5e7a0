package trace

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/slotwave/slotwave/workload"
)

// jsonWriter writes JSON token by token and keeps the first error.
type jsonWriter struct {
	enc *jsontext.Encoder
	err error
}

func newJSONWriter(w io.Writer, opts ...jsontext.Options) *jsonWriter {
	opts = append(opts, jsontext.AllowInvalidUTF8(true))
	return &jsonWriter{enc: jsontext.NewEncoder(w, opts...)}
}

func (w *jsonWriter) token(t jsontext.Token) {
	if w.err == nil {
		w.err = w.enc.WriteToken(t)
	}
}

func (w *jsonWriter) value(v jsontext.Value) {
	if w.err == nil {
		w.err = w.enc.WriteValue(v)
	}
}

func (w *jsonWriter) key(k string) { w.token(jsontext.String(k)) }

func (w *jsonWriter) object(f func()) {
	w.token(jsontext.BeginObject)
	f()
	w.token(jsontext.EndObject)
}

func (w *jsonWriter) list(f func()) {
	w.token(jsontext.BeginArray)
	f()
	w.token(jsontext.EndArray)
}

func (w *jsonWriter) str(k, v string) { w.key(k); w.token(jsontext.String(v)) }

// strOrNull writes null for an unknown text.
func (w *jsonWriter) strOrNull(k, v string) {
	w.key(k)
	if v == "" {
		w.token(jsontext.Null)
	} else {
		w.token(jsontext.String(v))
	}
}

// asInt omits numbers that Hadoop cannot read into an int.
func asInt(v int64) int64 {
	if v > math.MaxInt32 {
		return workload.Unknown
	}
	return v
}

// int writes a number that is an int in Hadoop.
func (w *jsonWriter) int(k string, v int64) { w.num(k, asInt(v)) }

func (w *jsonWriter) num(k string, v int64) { w.key(k); w.token(jsontext.Int(v)) }

func (w *jsonWriter) float(k string, v float64) { w.key(k); w.token(jsontext.Float(v)) }

// nums writes a list of ints.
func (w *jsonWriter) nums(k string, list []int64) {
	w.key(k)
	w.list(func() {
		for _, v := range list {
			w.token(jsontext.Int(asInt(v)))
		}
	})
}

// writeRumen writes the history as a Rumen trace (LoggedJob of Hadoop 2.x): one
// object after another. Jobs whose ids Hadoop could not read get new ones.
func writeRumen(w io.Writer, h *workload.History) error {
	r := rumenWriter{exporter: newExporter(h), jsonWriter: newJSONWriter(w, jsontext.SpaceAfterComma(true), jsontext.WithIndent("  "))}
	for i := range h.Jobs {
		r.job(&h.Jobs[i], r.ids[i])
	}
	return r.err
}

type rumenWriter struct {
	*exporter
	*jsonWriter
}

func (w *rumenWriter) job(j *workload.HistoryJob, id string) {
	given := numbers(j)
	tasks := func(name string, kinds ...workload.Kind) {
		w.key(name)
		w.list(func() {
			for _, t := range recorded(j) {
				if slices.Contains(kinds, t.Kind) {
					w.task(t, id, given[t])
				}
			}
		})
	}
	s := runStatistics(j)
	name := j.Name
	if name == "" && id != j.ID {
		name = j.ID
	}
	w.object(func() {
		w.str("priority", j.Priority.String())
		w.str("jobID", id)
		w.strOrNull("user", j.User)
		w.strOrNull("jobName", name)
		w.num("submitTime", w.millis(j.Submit))
		w.num("launchTime", w.millis(j.Launch))
		w.num("finishTime", w.millis(j.Finish))
		w.int("heapMegabytes", j.HeapMB)
		w.int("totalMaps", int64(j.Maps))
		w.int("totalReduces", int64(j.Reduces))
		if j.Outcome == workload.Running {
			w.strOrNull("outcome", "")
		} else {
			w.str("outcome", endedAs(j.Outcome))
		}
		w.strOrNull("jobtype", j.Type)
		w.key("directDependantJobs")
		w.list(func() {})
		tasks("mapTasks", workload.Map)
		tasks("reduceTasks", workload.Reduce)
		tasks("otherTasks", workload.Setup, workload.Cleanup)
		w.cdfs("successfulMapAttemptCDFs", s.mapsDone[:])
		w.cdfs("failedMapAttemptCDFs", s.mapsLost[:])
		w.key("successfulReduceAttemptCDF")
		w.cdf(s.reducesDone)
		w.key("failedReduceAttemptCDF")
		w.cdf(s.reducesLost)
		w.key("mapperTriesToSucceed")
		if len(s.tries) == 0 {
			w.token(jsontext.Null)
		} else {
			w.list(func() {
				for _, share := range s.tries {
					w.token(jsontext.Float(share))
				}
			})
		}
		w.float("failedMapperFraction", s.failedMaps)
		w.num("relativeTime", 0)
		w.strOrNull("queue", j.Queue)
		w.int("clusterMapMB", j.ClusterMapMB)
		w.int("clusterReduceMB", j.ClusterReduceMB)
		w.int("jobMapMB", j.MapMB)
		w.int("jobReduceMB", j.ReduceMB)
		for _, name := range []string{"MapInput", "MapOutput", "ReduceInput", "ReduceOutput"} {
			w.num("computonsPer"+name+"Byte", workload.Unknown)
		}
		w.key("jobProperties")
		w.object(func() {
			conf := w.conf(j, id)
			for _, k := range conf.Keys() {
				v, _ := conf.Lookup(k)
				w.str(k, v)
			}
		})
	})
}

func (w *rumenWriter) task(t *workload.HistoryTask, job string, number int) {
	id := fmt.Sprintf("%s_%c_%06d", bareID(job), slotLetter(t.ReduceSlot), number)
	in, inRecords, out, outRecords := int64(workload.Unknown), int64(workload.Unknown), int64(workload.Unknown), int64(workload.Unknown)
	if a := t.Winner(); a != nil {
		switch t.Kind {
		case workload.Map:
			in, inRecords, out, outRecords = a.HDFSReadBytes, a.InRecords, a.LocalWriteBytes, a.OutRecords
		case workload.Reduce:
			in, inRecords, out, outRecords = a.ShuffleBytes, a.InRecords, a.HDFSWriteBytes, a.OutRecords
		}
	}
	w.object(func() {
		w.num("startTime", w.millis(t.Start))
		w.str("taskID", "task_"+id)
		w.str("taskType", taskTypes[t.Kind])
		w.num("finishTime", w.millis(t.Finish))
		w.key("attempts")
		w.list(func() {
			for i := range t.Attempts {
				w.attempt(&t.Attempts[i], t, fmt.Sprintf("attempt_%s_%d", id, t.Attempts[i].Number))
			}
		})
		w.key("preferredLocations")
		w.list(func() {
			for _, host := range t.Split.Hosts {
				w.object(func() { w.layers(rackOr(w.racks[host]), host) })
			}
		})
		if t.State == workload.Running {
			w.strOrNull("taskStatus", "")
		} else {
			w.str("taskStatus", endedAs(t.State))
		}
		w.num("inputBytes", in)
		w.num("inputRecords", inRecords)
		w.num("outputBytes", out)
		w.num("outputRecords", outRecords)
	})
}

func (w *rumenWriter) layers(rack, host string) {
	w.key("layers")
	w.list(func() {
		for _, layer := range strings.Split(rack, "/") {
			w.token(jsontext.String(layer))
		}
		w.token(jsontext.String(host))
	})
}

func (w *rumenWriter) attempt(a *workload.HistoryAttempt, t *workload.HistoryTask, id string) {
	_, shuffled, sorted := marksOf(a, t.ReduceSlot)
	w.object(func() {
		w.key("location")
		if a.Node == "" {
			w.token(jsontext.Null)
			w.strOrNull("hostName", "")
		} else {
			w.object(func() { w.layers(rackOr(a.Rack), a.Node) })
			w.str("hostName", locationOf(rackOr(a.Rack), a.Node))
		}
		w.num("startTime", w.millis(a.Start))
		if a.State == workload.Running {
			w.strOrNull("result", "")
		} else {
			w.str("result", endedAs(a.State))
		}
		w.num("finishTime", w.millis(a.Finish))
		w.str("attemptID", id)
		if p := a.Progress; p != nil {
			w.nums("clockSplits", p.Clock)
			w.nums("cpuUsages", p.CPU)
			w.nums("vmemKbytes", p.VMem)
			w.nums("physMemKbytes", p.PhysMem)
		}
		w.num("shuffleFinished", w.millis(shuffled))
		w.num("sortFinished", w.millis(sorted))
		all := countersOf(a)
		count := func(n loggedCounter) int64 {
			if field := counterField(&all, t.SlotKind(), n.counter); field != nil {
				return *field
			}
			return workload.Unknown
		}
		for _, n := range rumenCounters {
			w.num(n.member, count(n))
		}
		if slices.ContainsFunc(rumenUsage, func(n loggedCounter) bool { return count(n) != workload.Unknown }) {
			w.key("resourceUsageMetrics")
			w.object(func() {
				for _, n := range rumenUsage {
					w.num(n.member, count(n))
				}
			})
		}
	})
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

func (w *rumenWriter) cdfs(name string, lists [][]int64) {
	w.key(name)
	w.list(func() {
		for _, l := range lists {
			w.cdf(l)
		}
	})
}

// cdf writes a LoggedDiscreteCDF: the extremes and the values at each
// twentieth.
func (w *rumenWriter) cdf(values []int64) {
	slices.Sort(values)
	w.object(func() {
		if len(values) == 0 {
			w.num("maximum", math.MaxInt64)
			w.num("minimum", math.MinInt64)
			w.key("rankings")
			w.list(func() {})
			w.num("numberValues", 0)
			return
		}
		w.num("maximum", values[len(values)-1])
		w.num("minimum", values[0])
		w.key("rankings")
		w.list(func() {
			for percent := 5; percent <= 95; percent += 5 {
				w.object(func() {
					w.num("datum", values[rank(percent, len(values))])
					w.float("relativeRanking", float64(percent)/100)
				})
			}
		})
		w.num("numberValues", int64(len(values)))
	})
}

// rank returns the index of the first of n sorted values at or above a
// percentile. The number of values is rounded down.
func rank(percent, n int) int { return max(0, percent*n/100-1) }

// writeTopology writes the machines as Rumen's LoggedNetworkTopology.
func writeTopology(w io.Writer, t *workload.Topology) error {
	j := newJSONWriter(w, jsontext.WithIndent("  "))
	leaf := func(host string) {
		j.object(func() {
			j.str("name", host)
			j.key("children")
			j.token(jsontext.Null)
		})
	}
	j.object(func() {
		j.str("name", "<root>")
		j.key("children")
		j.list(func() {
			for _, r := range t.Racks {
				j.object(func() {
					j.str("name", rackOr(r.Name))
					j.key("children")
					j.list(func() {
						for _, host := range r.Hosts {
							leaf(host)
						}
					})
				})
			}
		})
	})
	return j.err
}

// inSLS reports whether the scheduler load simulator can run a task: it runs
// containers of successful maps and reduces on machines.
func inSLS(t *workload.HistoryTask) bool {
	a := t.Winner()
	return t.Kind <= workload.Reduce && a != nil && a.Node != "" && workload.Known(a.Start) && workload.Known(a.Finish)
}

// lostInSLS lists and counts what writeSLS leaves out.
func lostInSLS(h *workload.History) (lost []workload.Problem, left Left) {
	apart, others, attempts := 0, 0, 0
	for i := range h.Jobs {
		for k := range h.Jobs[i].Tasks {
			t := &h.Jobs[i].Tasks[k]
			left.Attempts += len(t.Attempts)
			switch {
			case inSLS(t):
				attempts += len(t.Attempts) - 1
				left.Attempts--
			case t.Kind > workload.Reduce:
				apart++
			default:
				others++
			}
		}
	}
	left.Tasks = apart + others
	for _, x := range []struct {
		n               int
		one, many, what string
	}{
		{apart, "set-up or clean-up task", "set-up and clean-up tasks", "has no place"},
		{others, "task", "tasks", "wants a successful attempt with machine, start and finish"},
		{attempts, "attempt", "attempts", "has one attempt of a task"},
	} {
		if x.n > 0 {
			lost = append(lost, workload.Problem{File: "sls", What: fmt.Sprintf("%s left out: the format %s", workload.Counted(x.n, x.one, x.many), x.what)})
		}
	}
	return lost, left
}

// writeSLS writes jobs as input of YARN's scheduler load simulator: the times
// of the containers of successful attempts, in milliseconds from the start.
func writeSLS(w io.Writer, h *workload.History) error {
	e := newExporter(h)
	j := newJSONWriter(w, jsontext.WithIndent("  "))
	for i := range h.Jobs {
		job := &h.Jobs[i]
		if !workload.Known(job.Submit) || !workload.Known(job.Finish) {
			return fmt.Errorf("SLS needs submission and finish of every job: %s lacks one", job.ID)
		}
		j.object(func() {
			j.str("am.type", "mapreduce")
			j.num("job.start.ms", roundMillis(job.Submit))
			j.num("job.end.ms", roundMillis(job.Finish))
			j.str("job.queue.name", cmp.Or(job.Queue, "default"))
			j.str("job.id", e.ids[i])
			if job.User != "" {
				j.str("job.user", job.User)
			}
			j.key("job.tasks")
			j.list(func() {
				for k := range job.Tasks {
					t := &job.Tasks[k]
					if !inSLS(t) {
						continue
					}
					a := t.Winner()
					j.object(func() {
						j.str("container.host", locationOf(rackOr(a.Rack), a.Node))
						j.num("container.start.ms", roundMillis(a.Start))
						j.num("container.end.ms", roundMillis(a.Finish))
						j.num("container.priority", map[workload.Kind]int64{workload.Map: 20, workload.Reduce: 10}[t.Kind])
						j.str("container.type", t.Kind.String())
					})
				}
			})
		})
	}
	return j.err
}

// writeSLSNodes writes the machines in SLS's format, one object a rack.
func writeSLSNodes(w io.Writer, t *workload.Topology) error {
	j := newJSONWriter(w)
	for _, r := range t.Racks {
		j.object(func() {
			j.str("rack", rackOr(r.Name))
			j.key("nodes")
			j.list(func() {
				for _, host := range r.Hosts {
					j.object(func() { j.str("node", host) })
				}
			})
		})
	}
	return j.err
}
