package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/slotwave/slotwave/workload"
)

var tableFiles = []string{
	"rumen/dispatch-sample-v20-jt-log.gz", "gridmix-traces/trace_5m.json.gz", "mrv2-jhist/job_1526555215992_0001-pi-1-1.jhist",
	"oracle/fifo-task-failures/run1/attempts.csv.gz", "mrv1-history/chukwa-Hadoop18JobHistoryLog.txt.gz",
}

// sortedAttempts are a history's attempts in an order that no format changes.
func sortedAttempts(h *workload.History) []workload.Attempt {
	all := h.Attempts()
	slices.SortStableFunc(all, func(a, b workload.Attempt) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Start, b.Start))
	})
	return all
}

// TestCSVRoundTrip: the two tables bring back every attempt and job.
func TestCSVRoundTrip(t *testing.T) {
	for _, file := range append([]string{"simulated"}, tableFiles...) {
		var h *workload.History
		if file == "simulated" {
			h = NewHistory(simulated())
		} else {
			h = mustOpen(t, shared(t, file))
		}
		dir := t.TempDir()
		for name, write := range map[string]func(io.Writer, *workload.History) error{"attempts.csv": writeAttempts, "jobs.csv": writeJobs} {
			var b bytes.Buffer
			if err := write(&b, h); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(dir, name), b.String())
		}
		got := mustOpen(t, dir)
		if len(got.Problems) > 0 {
			t.Errorf("%s: problems in what was written: %v", file, got.Problems[:min(3, len(got.Problems))])
		}
		if d := gocmp.Diff(sortedAttempts(h), sortedAttempts(got)); d != "" {
			t.Errorf("%s: read (-) and read again (+) differ:\n%.2000s", file, d)
		}
		for i := range h.Jobs {
			x, y := &h.Jobs[i], &got.Jobs[i]
			if x.ID != y.ID || x.Name != y.Name || x.User != y.User || x.Queue != y.Queue || x.Submit != y.Submit || x.Launch != y.Launch ||
				x.Finish != y.Finish || x.Outcome != y.Outcome || x.Maps != y.Maps || x.Reduces != y.Reduces || x.Priority != y.Priority {
				t.Errorf("%s: %+v became %+v", file, x, y)
			}
		}
	}
}

// TestCellEscapes: names from traces may hold anything.
func TestCellEscapes(t *testing.T) {
	for _, name := range []string{"", "a,b\"c", "line\nbreak\r", "\x00\xff", "\\x41", "\\x4", "ünï\u202ecode", "a\\b"} {
		cell := workload.Escape(name)
		if strings.ContainsAny(cell, "\n\r\x00") || workload.Unescape(cell) != name {
			t.Errorf("%q became %q and then %q", name, cell, workload.Unescape(cell))
		}
		j := workload.NewHistoryJob("job_1_1")
		j.Name, j.Outcome, j.Submit = name, workload.Succeeded, 0
		var b bytes.Buffer
		if err := writeJobs(&b, &workload.History{Jobs: []workload.HistoryJob{j}}); err != nil {
			t.Fatal(err)
		}
		if got := readString(t, "jobs.csv", b.String()); got.Jobs[0].Name != name {
			t.Errorf("%q came back as %q", name, got.Jobs[0].Name)
		}
	}
}

// TestChromeTrace checks what the viewer needs: slices of one track do not
// overlap unless one lies within the other, and every track has a name.
func TestChromeTrace(t *testing.T) {
	_, attempts := simulated()
	jobs, _ := simulated()
	sim := NewHistory(jobs, attempts)
	for _, h := range []*workload.History{mustOpen(t, shared(t, "gridmix-traces/trace_5m.json.gz")), mustOpen(t, shared(t, tableFiles[0])), sim} {
		var b bytes.Buffer
		if err := Gzip(&b, func(w io.Writer) error { return writeChromeTrace(w, h) }); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "trace.json.gz")
		writeFile(t, path, b.String())
		var trace struct {
			TraceEvents []struct {
				Ph, Name, Cat string
				Ts, Dur       json.Number
				Pid, Tid      int
				Args          map[string]any
			}
		}
		dec := json.NewDecoder(strings.NewReader(gunzip(t, path)))
		dec.UseNumber()
		if err := dec.Decode(&trace); err != nil {
			t.Fatal(err)
		}
		type slice struct {
			from, to int64
			name     string
		}
		named := map[string]bool{}
		tracks := map[string][]slice{}
		slices_, phases := 0, 0
		nanos := func(n json.Number) int64 {
			f, err := n.Float64()
			if err != nil {
				t.Fatal(err)
			}
			return int64(math.Round(f * 1000))
		}
		for _, e := range trace.TraceEvents {
			track := fmt.Sprint(e.Pid, "/", e.Tid)
			switch {
			case e.Ph == "M" && e.Name == "thread_name":
				named[track] = true
			case e.Ph == "X":
				from := nanos(e.Ts)
				tracks[track] = append(tracks[track], slice{from, from + nanos(e.Dur), e.Name})
				if e.Cat == "phase" {
					phases++
				} else {
					slices_++
				}
			}
		}
		want := 0
		for _, a := range h.Attempts() {
			if a.Node != "" && workload.Known(a.Start) && workload.Known(a.Finish) {
				want++
			}
		}
		if slices_ != want || phases == 0 {
			t.Errorf("%d slices and %d phases, want %d slices", slices_, phases, want)
		}
		for track, list := range tracks {
			if !named[track] {
				t.Errorf("track %s has no name", track)
			}
			slices.SortStableFunc(list, func(a, b slice) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
			var open []slice
			for _, s := range list {
				for len(open) > 0 && open[len(open)-1].to <= s.from {
					open = open[:len(open)-1]
				}
				if len(open) > 0 && s.to > open[len(open)-1].to {
					t.Fatalf("track %s: %+v reaches out of %+v", track, s, open[len(open)-1])
				}
				open = append(open, s)
			}
		}
	}
}

// TestDealSlots: three attempts that overlap need three tracks, the fourth
// takes the first that is free; recorded slots are kept where they can be.
func TestDealSlots(t *testing.T) {
	row := func(slot, start, finish int) *chromeRow {
		return &chromeRow{HistoryAttempt: &workload.HistoryAttempt{Attempt: workload.Attempt{Slot: slot, Start: time.Duration(start), Finish: time.Duration(finish)}}}
	}
	rows := []*chromeRow{row(workload.Unknown, 0, 10), row(workload.Unknown, 1, 5), row(1, 2, 9), row(workload.Unknown, 5, 7), row(4, 6, 8)}
	if width := dealSlots(rows); width != 5 {
		t.Errorf("%d tracks, want 5", width)
	}
	for i, want := range []int{0, 1, 2, 1, 4} {
		if rows[i].track != want {
			t.Errorf("attempt %d on track %d, want %d", i, rows[i].track, want)
		}
	}
}

// TestJobTotalsWritten: a table of jobs without tasks comes back with the counters
// from which the tasks of a replay are made.
func TestJobTotalsWritten(t *testing.T) {
	h := readString(t, "t.csv", "job,maps,reduces,submit_s,finish_s,slots_millis_maps,slots_millis_reduces,hdfs_bytes_read,map_output_bytes,reduce_shuffle_bytes,failed_maps\n"+
		"a,3,1,0,9,7000,2000,64,32,30,1\nb,2,0,1,5,4000,,16,,,\n")
	var table bytes.Buffer
	if err := writeJobs(&table, h); err != nil {
		t.Fatal(err)
	}
	again := readString(t, "t.csv", table.String())
	for i := range h.Jobs {
		if want, got := h.Jobs[i].Totals, again.Jobs[i].Totals; got != want || want.SlotMillisMaps == workload.Unknown {
			t.Errorf("%s: %+v: want %+v", h.Jobs[i].ID, got, want)
		}
	}
}
