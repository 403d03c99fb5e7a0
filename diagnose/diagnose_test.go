package diagnose

import (
	"context"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/shareddata"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

func jobsOf(h *workload.History) iter.Seq[*workload.HistoryJob] {
	return func(yield func(*workload.HistoryJob) bool) {
		for i := range h.Jobs {
			if !yield(&h.Jobs[i]) {
				return
			}
		}
	}
}

func openShared(t testing.TB, names ...string) *workload.History {
	t.Helper()
	var paths []string
	for _, n := range names {
		paths = append(paths, shareddata.Path(t, "data/"+n))
	}
	h, err := trace.Open(paths...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// buffer is a file that is written into memory.
// written returns the files of a diagnosis.
func written(t testing.TB, d *Diagnosis) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := d.Write(func(name string, content func(io.Writer) error) error {
		var b strings.Builder
		err := content(&b)
		texts[name] = b.String()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// Every table of attempts there is gives a diagnosis; its ledger balances, its
// text keeps to 80 columns.
func TestEveryTable(t *testing.T) {
	sets := map[string][]string{
		"hitune-sort": {"hitune-sort"},
		"ec2":         {"ec2-starfish/tasks.tsv"},
		"aloja":       {"aloja/terasort_100g_tasks.tsv"},
		"platform":    {"platform-0.20.2/histories"},
		"pseudo":      {"pseudo-0.20.2"},
		"mrv1-sorter": {"mrv1-history/chukwa-sorter-JobHistory.log.gz"},
		"mrv1-18":     {"mrv1-history/chukwa-Hadoop18JobHistoryLog.txt.gz"},
		"mrv1-40864":  {"mrv1-history/job_201002080801_40864.hist.gz"},
		"mrv1-sleep":  {"mrv1-history/job_201311192236_3583_Sleep_job.hist"},
		"mrv2":        {"mrv2-jhist"},
		"rumen":       {"rumen"},
	}
	traces, err := filepath.Glob(filepath.Join(shareddata.Path(t, "data/gridmix-traces"), "*.json.gz"))
	if err != nil || len(traces) != 13 {
		t.Fatalf("%d gridmix traces, %v, want 13", len(traces), err)
	}
	for _, path := range traces {
		sets["gridmix "+filepath.Base(path)] = []string{"gridmix-traces/" + filepath.Base(path)}
	}
	for _, name := range sortedKeys(sets) {
		t.Run(name, func(t *testing.T) {
			h := openShared(t, sets[name]...)
			d, err := Run(context.Background(), Input{Jobs: jobsOf(h)}, DefaultOptions())
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Jobs) != len(h.Jobs) || len(d.Unknown) == 0 {
				t.Errorf("%d jobs of %d, %d things unknown", len(d.Jobs), len(h.Jobs), len(d.Unknown))
			}
			files := written(t, d)
			for _, table := range tables {
				head, _, _ := strings.Cut(files[table.name], "\n")
				if head != strings.Join(table.columns, ",") {
					t.Errorf("%s begins with %q", table.name, head)
				}
			}
			var text strings.Builder
			if err := d.Text(&text, true); err != nil {
				t.Fatal(err)
			}
			for l := range strings.SplitSeq(text.String(), "\n") {
				if n := len([]rune(l)); n > width {
					t.Errorf("%d columns: %s", n, l)
				}
			}
			if os.Getenv("SHOW") != "" {
				t.Log("\n" + text.String())
			}
		})
	}
}

// Of HiTune's own Sort, R18 names the node that stood still from 99.3 to 167.7 s:
// clocks differ by a second and attempts end every few, so each end is within 5 s.
func TestStandstill(t *testing.T) {
	h := openShared(t, "hitune-sort")
	d, err := Run(context.Background(), Input{Jobs: jobsOf(h), Dataflow: openHiTune(t)}, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	limits := DefaultThresholds()
	b := keep(jobsOf(h), nil, nil)
	b.assignSlots()
	still := b.still(&limits)
	if len(still) != 1 || still[0].Host != "sr216" || math.Abs(still[0].From.Seconds()-99.3) > 5 || math.Abs(still[0].To.Seconds()-167.7) > 5 {
		t.Errorf("%+v, want sr216 from 99.3 to 167.7 s", still)
	}
	named := false
	for _, f := range d.Findings {
		switch f.Rule {
		case "R18":
			named = named || f.Node == "sr216"
			if f.Node != "sr216" {
				t.Errorf("R18 names %s", f.Node)
			}
		case "R07":
			t.Errorf("R07: %s", f.Evidence)
		}
	}
	if !named {
		t.Error("no finding names sr216")
	}
}

// Maps of 4 s run on three nodes. From 20 to 80 s one begins none, although the others
// begin those of the next job; the two with which it goes on are late, if it has their
// input. Of others none was offered to it.
func TestStandstillBetweenMaps(t *testing.T) {
	limits := DefaultThresholds()
	found := func(locality workload.Locality) []workload.Standstill {
		w := &world{}
		maps := func(from, to time.Duration, nodes ...string) {
			for at := from; at < to; at += 4 * s {
				for _, node := range nodes {
					w.attempt(workload.Map, node, 0, at, at, at+4*s).Locality = locality
				}
			}
		}
		w.job("next", 20*s, 100*s)
		maps(20*s, 96*s, "a", "b")
		w.job("first", 0, 100*s)
		maps(0, 20*s, "a", "b", "c")
		maps(80*s, 88*s, "c")
		return keep(w.input().Jobs, nil, nil).still(&limits)
	}
	still := found(workload.NodeLocal)
	if len(still) != 1 || still[0].Host != "c" || still[0].From != 20*s || still[0].To != 80*s || len(still[0].Held) != 2 {
		t.Errorf("%+v, want c from 20 to 80 s with two late maps", still)
	}
	if still := found(workload.RackLocal); len(still) > 0 {
		t.Errorf("%+v, want none for maps whose input is elsewhere", still)
	}
}

// What other jobs lack is not counted.
func TestLacksOfChosenJobs(t *testing.T) {
	w := &world{}
	w.job("a", 0, 30*s)
	w.attempt(workload.Map, "n1", 0, 1*s, 2*s, 28*s)
	w.job("b", 0, 30*s)
	w.attempt(workload.Map, "n2", -1, 1*s, 2*s, 28*s)
	o := DefaultOptions()
	for job, want := range map[string]int{"a": 0, "b": 1, "": 1} {
		o.Job = job
		d, err := Run(t.Context(), w.input(), o)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, u := range d.Unknown {
			if u.What == "slot of an attempt" {
				got += u.Count
			}
		}
		if got != want {
			t.Errorf("job %q: got %d attempts without a slot, want %d", job, got, want)
		}
	}
}
