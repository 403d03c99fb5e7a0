package results

import (
	"io"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// jobColumns returns the columns of jobs.csv, and those of them with numbers. The last
// ones are there if any job has a deadline, or waits for others.
func jobColumns(due, chained bool) (head []string, figures []points.JobFigure) {
	head, figures = []string{"job", "name", "user", "pool", "queue", "state"}, points.JobFigures
	if !due {
		figures = figures[:len(figures)-2]
	}
	for _, f := range figures {
		head = append(head, f.Name)
	}
	if chained {
		head = append(head, "after")
	}
	return head, figures
}

// writeJobs writes jobs.csv.
func writeJobs(w io.Writer, jobs []model.JobOutcome) error {
	due := slices.ContainsFunc(jobs, func(j model.JobOutcome) bool { return j.Deadline > 0 })
	chained := slices.ContainsFunc(jobs, func(j model.JobOutcome) bool { return len(j.After) > 0 })
	head, figures := jobColumns(due, chained)
	return workload.WriteCSV(w, head, func(write func(...string)) {
		for i := range jobs {
			j := &jobs[i]
			row := []string{text.Escape(j.ID), text.Escape(j.Name), text.Escape(j.User), text.Escape(j.Pool), text.Escape(j.Queue), j.State.String()}
			for _, f := range figures {
				switch n := f.Of(j); {
				case n < 0:
					row = append(row, "")
				case f.Name == "deadline_met":
					row = append(row, strconv.FormatBool(n > 0))
				default:
					row = append(row, whole(n))
				}
			}
			if chained {
				row = append(row, workload.EscapeList(j.After))
			}
			write(row...)
		}
	})
}

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

// usage passes a row of resources.csv.
func (r *record) usage(u *Usage) {
	passCount(r, "time_ns", &u.Time)
	r.text("node", &u.Node)
	r.text("device", &u.Device)
	passShare(r, "busy", &u.Busy)
	passCount(r, "bytes", &u.Bytes)
	passCount(r, "read_bytes", &u.ReadBytes)
	passCount(r, "write_bytes", &u.WriteBytes)
	passShare(r, "queue", &u.Queue)
	passShare(r, "in_service", &u.InService)
	passShare(r, "rate", &u.Rate)
	passShare(r, "foreign", &u.Foreign)
}

func resourceColumns() []string { return columnsOf(func(r *record) { r.usage(new(Usage)) }) }

// writeResources writes resources.csv.
func writeResources(w io.Writer, rows iter.Seq[Usage]) error {
	var t rowWriter
	t.start(w, resourceColumns())
	for u := range rows {
		t.usage(&u)
		t.endRow()
	}
	return t.Close()
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
	t := readTable(r, file, resourceColumns())
	for t.row() {
		var u Usage
		if (&record{from: t}).usage(&u); t.err != nil {
			break
		}
		each(&u)
	}
	return t.err
}
