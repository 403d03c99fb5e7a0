package results

import (
	"encoding/csv"
	"io"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// jobColumns names the columns of jobs.csv, in order.
var jobColumns = []string{
	"job", "name", "user", "pool", "queue", "state",
	"submit_ns", "launch_ns", "running_ns", "first_map_ns", "last_map_ns", "shuffle_end_ns", "finish_ns", "low_ns", "high_ns",
	"maps", "reduces", "failed", "killed", "speculative", "node_local", "rack_local", "off_rack", "no_locality",
	"map_waves", "reduce_waves", "in_bytes", "shuffle_bytes", "out_bytes", "map_time_ns", "reduce_time_ns",
	"spills", "merge_passes", "spilled_records",
}

// These columns follow the jobColumns if any job has a deadline, or waits for others.
var (
	deadlineColumns = []string{"deadline_ns", "deadline_met"}
	chainColumns    = []string{"after"}
)

// writeJobs writes jobs.csv.
func writeJobs(w io.Writer, jobs []model.JobOutcome) error {
	out := csv.NewWriter(w)
	due := slices.ContainsFunc(jobs, func(j model.JobOutcome) bool { return j.Deadline > 0 })
	chained := slices.ContainsFunc(jobs, func(j model.JobOutcome) bool { return len(j.After) > 0 })
	head := slices.Clone(jobColumns)
	if due {
		head = append(head, deadlineColumns...)
	}
	if chained {
		head = append(head, chainColumns...)
	}
	out.Write(head)
	for i := range jobs {
		j := &jobs[i]
		low, high := ns(j.Low), ns(j.High)
		if !j.Finished() {
			low, high = "", ""
		}
		row := []string{
			text.Escape(j.ID), text.Escape(j.Name), text.Escape(j.User), text.Escape(j.Pool), text.Escape(j.Queue), j.State.String(),
			instant(j.Submit), instant(j.Launch), instant(j.Running), instant(j.FirstMap),
			instant(j.LastMap), instant(j.ShuffleEnd), instant(j.Finish), low, high,
			whole(j.Maps), whole(j.Reduces), whole(j.Failed), whole(j.Killed), whole(j.SpeculativeRuns),
			whole(j.Locality[workload.NodeLocal]), whole(j.Locality[workload.RackLocal]),
			whole(j.Locality[workload.OffRack]), whole(j.Locality[workload.NoLocality]),
			whole(j.MapWaves), whole(j.ReduceWaves),
			whole(j.InBytes), whole(j.ShuffleBytes), whole(j.OutBytes), ns(j.MapTime), ns(j.ReduceTime),
			whole(j.Spills), whole(j.MergePasses), whole(j.SpilledRecords),
		}
		switch {
		case due && j.Deadline > 0:
			row = append(row, ns(j.Deadline), strconv.FormatBool(j.InTime()))
		case due:
			row = append(row, "", "")
		}
		if chained {
			row = append(row, workload.EscapeList(j.After))
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// resourceColumns names the columns of resources.csv, in order.
var resourceColumns = []string{"time_ns", "node", "device", "busy", "bytes", "read_bytes", "write_bytes", "queue", "in_service", "rate", "foreign"}

// allNodes stands for the whole cluster in the node column of resources.csv.
const allNodes = "*"

// Usage is the use of one device from Time until its next row.
type Usage struct {
	Time      time.Duration
	Node      string // allNodes for the slots of the cluster
	Device    string
	Queue     float64 // mean number of waiting requests
	model.Use         // of slots only the busy share
}

// writeResources writes resources.csv.
func writeResources(w io.Writer, rows iter.Seq[Usage]) error {
	out := csv.NewWriter(w)
	out.Write(resourceColumns)
	for u := range rows {
		out.Write([]string{
			ns(u.Time), text.Escape(u.Node), text.Escape(u.Device), text.Share(u.Busy).String(),
			whole(u.Bytes), whole(u.ReadBytes), whole(u.WriteBytes), text.Share(u.Queue).String(), text.Share(u.InService).String(), text.Share(u.Rate).String(), text.Share(u.Foreign).String(),
		})
	}
	out.Flush()
	return out.Error()
}

// SlotUsage yields the use of each type of slot over time, bin by bin.
func (s *Stats) SlotUsage() iter.Seq[Usage] {
	return func(yield func(Usage) bool) {
		types := s.slots.slotTypes()
		busy, waiting := make([][]int64, len(types)), make([][]int64, len(types))
		for i := range types {
			busy[i] = s.over.busy(s.slots.slotTracks(i)...)
			waiting[i] = s.over.busy(trackMapsWaiting + i)
		}
		if len(types) == 1 {
			waiting[0] = s.over.busy(trackMapsWaiting, trackReducesWaiting)
		}
		for bin := range s.over.bins() {
			from, to := s.over.span(bin)
			for i, name := range types {
				u := Usage{Time: time.Duration(from), Node: allNodes, Device: name + "-slots"}
				if n := s.slots.count[i]; n > 0 {
					u.Busy = float64(busy[i][bin]) / float64(n) / float64(to-from)
				}
				u.Queue = float64(waiting[i][bin]) / float64(to-from)
				if !yield(u) {
					return
				}
			}
		}
	}
}

// ReadResources reads resources.csv; file is its name in errors. A row is valid only
// during the call.
func ReadResources(r io.Reader, file string, each func(*Usage)) error {
	t := readTable(r, file, resourceColumns)
	for t.row() {
		u := Usage{Time: time.Duration(t.count()), Node: t.text(), Device: t.text()}
		u.Busy, u.Bytes, u.ReadBytes, u.WriteBytes = t.figure(), t.count(), t.count(), t.count()
		u.Queue, u.InService, u.Rate, u.Foreign = t.figure(), t.figure(), t.figure(), t.figure()
		if t.err != nil {
			break
		}
		each(&u)
	}
	return t.err
}
