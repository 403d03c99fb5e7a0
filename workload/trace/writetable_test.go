package trace

import (
	"bytes"
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
