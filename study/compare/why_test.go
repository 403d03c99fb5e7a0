package compare

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/diagnosis"
)

const smallJobs = `
[cluster]
hadoop = "1.2.1"
nodes = 4
map_slots = 4
[scheduler]
name = "SCHEDULER"
[[job]]
name = "a"
maps = 60
map_ms = 3000
[[job]]
name = "b"
submit = "5s"
maps = 5
map_ms = 3000
`

// Under fair2 a small job overtakes a large one that FIFO serves first.
func TestCompareWhy(t *testing.T) {
	names := make([]string, 2)
	for i, scheduler := range []string{"fifo", "fair2"} {
		names[i] = filepath.Join(t.TempDir(), scheduler+".toml")
		text := []byte(strings.Replace(smallJobs, "SCHEDULER", scheduler, 1))
		if err := os.WriteFile(names[i], text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	w, err := Explain(names[0], names[1], "", study.Options{Seed: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if w.Pairs != 5 || len(w.Jobs) != 2 || w.Launch == nil || w.Offer == nil || len(w.Accounts) == 0 {
		t.Fatalf("%+v", w)
	}
	// At the first heartbeat fair2 has not yet counted the tasks of a.
	if o := w.Offer; o.Node != "node4" || !strings.Contains(o.First, "- a: launched map 3") || !strings.Contains(o.Second, "A slot stayed free: nothing waiting") {
		t.Errorf("%+v: want maps of a under fifo, nothing under fair2", o)
	}
	// Under fifo b waits for the slots of a.
	if d := w.Decision; d == nil || d.Job != "b" || d.Slower != 0 || d.Account != "slot held" || d.Change >= 0 || d.From >= d.To || !strings.Contains(w.Verdict, "1 faster, 1 slower, worst a by") {
		t.Errorf("%+v, %q: want b, which waits for slots under fifo", d, w.Verdict)
	}
	for _, j := range w.Jobs {
		if j.Job == "b" && j.High >= 0 || j.Low > j.Mean || j.High < j.Mean {
			t.Errorf("%+v: want b to gain", j)
		}
	}
	// The ledgers of the two jobs add up to that of all, and fair2 lets a wait for b.
	together := func(job string) (sum [2]int64) {
		w, err := Explain(names[0], names[1], job, study.Options{Seed: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range w.Accounts {
			sum[0], sum[1] = sum[0]+a.First, sum[1]+a.Second
		}
		if job == "a" && (len(w.Held) == 0 || w.Held[0].Account != "b" || w.Held[0].First != 0) {
			t.Errorf("slots of a are held by %+v: want b, in the second run only", w.Held)
		}
		return sum
	}
	for i, all := range together("") {
		if a, b := together("a")[i], together("b")[i]; a+b != all || a == 0 || b == 0 {
			t.Errorf("accounts of a are %d ns and of b %d, of both %d", a, b, all)
		}
	}
	if w, err := Explain(names[0], names[1], "[b]", study.Options{Seed: 1}, nil); err != nil || w.Launch == nil || !strings.Contains(w.Launch.First, " of b ") || w.Offer == nil {
		t.Errorf("a pattern of jobs: %+v, %v: want the first launch and offer that differ", w, err)
	}
	if _, err := Explain(names[0], names[1], "c", study.Options{Seed: 1}, nil); err == nil || !strings.Contains(err.Error(), "want the id or name of a job") {
		t.Errorf("a job that does not run: %v", err)
	}
	same, err := Explain(names[0], names[0], "", study.Options{Seed: 1}, nil)
	if err != nil || same.Launch != nil || same.Offer != nil || same.Makespan.Mean != 0 {
		t.Errorf("a scenario against itself: %+v, %v", same, err)
	}
	other := filepath.Join(t.TempDir(), "other.toml")
	text := strings.NewReplacer("SCHEDULER", "fifo", `"a"`, `"c"`, `"b"`, `"d"`).Replace(smallJobs)
	if err := os.WriteFile(other, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Explain(names[0], other, "", study.Options{Seed: 1}, nil); err == nil || !strings.Contains(err.Error(), "no job in common") {
		t.Errorf("other jobs: %v", err)
	}
}

// The explanation of a traced run names the heartbeat, the jobs that the scheduler
// asked, and their figures.
func TestExplainOffers(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "fair1.toml")
	text := strings.Replace(smallJobs, "SCHEDULER", "fair1", 1) + "\n[conf]\n\"mapred.fairscheduler.assignmultiple\" = false\n"
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := study.Open(name, study.Options{Seed: 1, Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	d, err := resultdir.Create(filepath.Join(dir, "out"), resultdir.Purpose{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Abort()
	runs, err := s.Simulate(d, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(d, runs); err != nil {
		t.Fatal(err)
	}
	m, err := s.Manifest(resultdir.Build{}, []string{"run", name, "--seed=1", "--trace"})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(m); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[diagnose.Explained][]string{
		{Task: "b/m/0"}: {
			"While it waited,", "heartbeats offered map slots", "maps of other jobs",
			"fair1 first asks jobs that run fewer tasks than their minimum share.", "- b: launched this attempt", "its fair share was", "its deficit",
		},
		{Node: "node2", At: 10 * time.Second}: {"At 7.139 s the TaskTracker of node2 sent a heartbeat with 1 free map slot", "- b: launched map 1", "- a: not asked: it came later in the order"},
	} {
		var b strings.Builder
		if _, err := diagnosis.Explain(&b, filepath.Join(dir, "out"), what); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strings.Fields(b.String()), " ")
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%+v: no %q in %s", what, w, b.String())
			}
		}
	}
}
