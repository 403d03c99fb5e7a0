package workload

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestEventSchema: the schema line is the one Hadoop 2 writes.
func TestEventSchema(t *testing.T) {
	text, err := os.ReadFile(shared(t, "mrv2-jhist/job_1526555215992_0001-pi-1-1.jhist"))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Split(string(text), "\n")[1]; eventSchema() != want {
		t.Errorf("got  %.3000s\nwant %.3000s", eventSchema(), want)
	}
}

// rewriteFiles writes every job with its configuration and reads all back.
func rewriteFiles(t *testing.T, h *History, name func(*JobFile) string, write func(*JobFile, io.Writer) error) *History {
	t.Helper()
	dir := t.TempDir()
	for _, f := range h.JobFiles() {
		var b, conf bytes.Buffer
		if err := write(&f, &b); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, name(&f)), b.String())
		if len(f.job.Conf.Keys()) == 0 {
			continue
		}
		if err := WriteConf(&conf, f.job.Conf); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, f.ConfName()), conf.String())
	}
	return mustOpen(t, dir)
}

// lose removes from a job what neither history format holds.
func lose(j *HistoryJob) {
	j.Type, j.ClusterMapMB, j.ClusterReduceMB = "", Unknown, Unknown
	for i := range j.Tasks {
		t := &j.Tasks[i]
		if len(t.Split.Hosts) == 0 {
			t.Split.Hosts = nil
		}
		for k := range t.Attempts {
			a := &t.Attempts[k]
			a.Tracker = ""
			if a.Node == "" || a.Kind != Map || len(t.Split.Hosts) == 0 {
				a.Locality = NoLocality
			}
			if a.Progress != nil && len(a.Progress.Clock) == 0 {
				a.Progress = nil
			}
		}
	}
}

var historyFiles = []string{
	"rumen/dispatch-sample-v20-jt-log.gz", "rumen/folder-input-trace.json.gz", "mrv1-history/chukwa-sorter-JobHistory.log.gz",
	"mrv1-history/job_201311192236_3583_Sleep_job.hist", "mrv1-history/job_201002080801_40864.hist.gz", "gridmix-traces/trace_3m.json.gz",
	"mrv2-jhist/job_1526555215992_0001-pi-1-1.jhist", "mrv2-jhist/job_1400206191003_0001-failed-2.0.3-alpha.jhist",
	"mrv2-jhist/job_1329348432655_0001-sleep-10-1.jhist", "oracle/fifo-task-failures/run1/history.log.gz",
}

func TestJhistRoundTrip(t *testing.T) {
	for _, file := range historyFiles {
		h := mustOpen(t, shared(t, file))
		problems := len(h.Problems)
		got := rewriteFiles(t, h, (*JobFile).JhistName, (*JobFile).WriteJhist)
		if len(got.Problems) != problems {
			t.Errorf("%s: problems in what was written: %v", file, got.Problems[:min(3, len(got.Problems))])
		}
		for i := range h.Jobs {
			lose(&h.Jobs[i])
			lose(&got.Jobs[i])
			// Heaps come with the configuration; what MRv1 counts of a job and
			// MRv2 does not count is lost, and an empty queue is the default one.
			x, y := &h.Jobs[i], &got.Jobs[i]
			if len(x.Conf.Keys()) == 0 {
				x.HeapMB, x.MapMB, x.ReduceMB = y.HeapMB, y.MapMB, y.ReduceMB
			}
			if x.Queue == "" {
				x.Queue = "default"
			}
			x.Totals.Map.InBytes, y.Totals.Map.InBytes = Unknown, Unknown
			if x.Outcome != Succeeded {
				x.Totals = y.Totals
			}
			for k := range x.Tasks {
				for n := range x.Tasks[k].Attempts {
					if a := &x.Tasks[k].Attempts[n]; a.State != Succeeded || a.Kind == Setup || a.Kind == Cleanup {
						a.Phases = y.Tasks[k].Attempts[n].Phases // only finished maps and reduces have marks
						if a.Kind >= Setup {
							a.Progress, a.InBytes = nil, Unknown
						}
					}
				}
			}
		}
		if d := cmp.Diff(h.Jobs, got.Jobs, confs); d != "" {
			t.Errorf("%s: read (-) and read again (+) differ:\n%.3000s", file, d)
		}
	}
}

func TestMRv1RoundTrip(t *testing.T) {
	for _, file := range historyFiles {
		h := mustOpen(t, shared(t, file))
		problems := len(h.Problems)
		got := rewriteFiles(t, h, (*JobFile).MRv1Name, (*JobFile).WriteMRv1)
		if len(got.Problems) != problems {
			t.Errorf("%s: problems in what was written: %v", file, got.Problems[:min(3, len(got.Problems))])
		}
		for i := range h.Jobs {
			lose(&h.Jobs[i])
			lose(&got.Jobs[i])
			x, y := &h.Jobs[i], &got.Jobs[i]
			if len(x.Conf.Keys()) == 0 {
				x.HeapMB, x.MapMB, x.ReduceMB = y.HeapMB, y.MapMB, y.ReduceMB
			}
			x.Totals.Map.More.GCMillis, x.Totals.Reduce.More.GCMillis, x.Totals.All.More.GCMillis = Unknown, Unknown, Unknown
			if x.Outcome != Succeeded {
				x.Totals = y.Totals
			}
			for k := range x.Tasks {
				for n := range x.Tasks[k].Attempts {
					a := &x.Tasks[k].Attempts[n]
					a.Progress, a.More.GCMillis = nil, Unknown
					if a.State != Succeeded {
						a.Phases, a.Counters, a.More = y.Tasks[k].Attempts[n].Phases, y.Tasks[k].Attempts[n].Counters, y.Tasks[k].Attempts[n].More
					}
					if !x.Tasks[k].ReduceSlot {
						a.Phases[PhaseMap], a.Phases[PhaseMerge] = UnknownTime, UnknownTime
					}
				}
			}
		}
		if d := cmp.Diff(h.Jobs, got.Jobs, confs); d != "" {
			t.Errorf("%s: read (-) and read again (+) differ:\n%.3000s", file, d)
		}
	}
}

// simulated is a run as a simulator leaves it: two jobs with ids that are no
// Hadoop ids, phases in nanoseconds, a failed and a killed attempt, set-up and
// clean-up numbered by themselves, and an attempt that cleans up after one.
func simulated() ([]Job, []Attempt) {
	ms := time.Millisecond
	jobs := []Job{
		{ID: "sort", User: "u", Queue: "q", Priority: High, Maps: MapTasks{Count: 2, Splits: []Split{{Bytes: 64, Hosts: []string{"n1", "n2"}}, {Bytes: 6, Hosts: []string{"n2"}}}}, Reduces: ReduceTasks{Count: 1}},
		{ID: "job_201001010000_0001", Name: "real id", Submit: 2500 * ms, Maps: MapTasks{Count: 1}},
	}
	row := func(job string, kind Kind, task, number int, s State, node string, start, finish time.Duration, phases ...time.Duration) Attempt {
		a := Attempt{Job: job, Kind: kind, Task: task, Number: number, State: s, Node: node, Rack: "r" + node, Start: start, Finish: finish, Locality: NoLocality}
		for i := 0; i < len(phases); i += 2 {
			a.Phases[phases[i]] = phases[i+1]
		}
		return a
	}
	p := func(p Phase) time.Duration { return time.Duration(p) }
	local := row("sort", Map, 0, 1, Succeeded, "n2", 9000*ms, 14000*ms, p(PhaseStartup), 1000*ms, p(PhaseMap), 3000*ms, p(PhaseMerge), 1000*ms)
	local.Locality, local.InBytes, local.OutRecords, local.Spills = NodeLocal, 64, 7, 3
	return jobs, []Attempt{
		row("sort", Setup, 0, 0, Succeeded, "n1", 1000*ms, 2000*ms),
		row("sort", Map, 0, 0, Failed, "n1", 3000*ms, 5000*ms),
		row("sort", TaskCleanup, 0, 0, Succeeded, "n1", 6000*ms, 7000*ms),
		local,
		row("sort", Map, 1, 0, Succeeded, "n2", 3000*ms, 8000*ms),
		row("sort", Map, 1, 1, Killed, "n1", 6000*ms, 8000*ms),
		row("sort", Reduce, 0, 0, Succeeded, "n1", 5000*ms, 20000*ms, p(PhaseStartup), 1000*ms, p(PhaseShuffle), 9000*ms, p(PhaseMerge), 1000*ms, p(PhaseReduce), 3000*ms, p(PhaseWrite), 1000*ms),
		row("sort", Cleanup, 0, 0, Succeeded, "n2", 21000*ms, 22000*ms),
		row("job_201001010000_0001", Map, 0, 0, Succeeded, "n1", 4000*ms, 6000*ms),
	}
}

// TestExportSimulated writes a simulated run in every format of Hadoop and
// reads it back: the same attempts at the same times on the same machines.
func TestExportSimulated(t *testing.T) {
	jobs, attempts := simulated()
	h := NewHistory(jobs, attempts)
	for _, x := range []struct {
		format string
		read   func() *History
	}{
		{"rumen", func() *History { return rewrite(t, h, WriteRumen) }},
		{"jhist", func() *History { return rewriteFiles(t, h, (*JobFile).JhistName, (*JobFile).WriteJhist) }},
		{"history", func() *History { return rewriteFiles(t, h, (*JobFile).MRv1Name, (*JobFile).WriteMRv1) }},
	} {
		got := x.read()
		if len(got.Problems) > 0 || len(got.Jobs) != 2 {
			t.Fatalf("%s: %d jobs, problems %v", x.format, len(got.Jobs), got.Problems)
		}
		if got.Jobs[0].ID != "job_201001010000_0002" || got.Jobs[1].ID != "job_201001010000_0001" {
			t.Errorf("%s: ids %s and %s", x.format, got.Jobs[0].ID, got.Jobs[1].ID)
		}
		want := map[string]Attempt{}
		for _, a := range attempts {
			if a.Kind != TaskCleanup {
				want[a.Job+a.Kind.String()+string(rune('0'+a.Number))+a.Node+a.Start.String()] = a
			}
		}
		for _, a := range got.Attempts() {
			job := map[string]string{"job_201001010000_0001": "job_201001010000_0001", "job_201001010000_0002": "sort"}[a.Job]
			w, ok := want[job+a.Kind.String()+string(rune('0'+a.Number))+a.Node+a.Start.String()]
			if !ok {
				t.Errorf("%s: %s %v %d.%d on %s at %v was not in the run", x.format, job, a.Kind, a.Task, a.Number, a.Node, a.Start)
				continue
			}
			delete(want, job+a.Kind.String()+string(rune('0'+a.Number))+a.Node+a.Start.String())
			if a.Finish != w.Finish || a.State != w.State || a.Rack != w.Rack {
				t.Errorf("%s: %+v became %+v", x.format, w, a)
			}
			if a.Kind == Reduce && (a.Phases[PhaseShuffle] != 10*time.Second || a.Phases[PhaseMerge] != time.Second) { // with the start of the JVM
				t.Errorf("%s: shuffle %v, sort %v", x.format, a.Phases[PhaseShuffle], a.Phases[PhaseMerge])
			}
			if a.Kind == Map && a.Task == 0 && a.State == Succeeded && w.Job == "sort" && (a.Locality != NodeLocal || a.OutRecords != 7) {
				t.Errorf("%s: locality %v, output %d records", x.format, a.Locality, a.OutRecords)
			}
		}
		if len(want) > 0 {
			t.Errorf("%s: lost %v", x.format, want)
		}
		// A map's clean-up number follows its maps: clean-up 2, set-up 3.
		for _, k := range []struct {
			kind   Kind
			number int
		}{{Cleanup, 2}, {Setup, 3}} {
			if task := tasksOf(&got.Jobs[0], k.kind); len(task) != 1 || task[0].Number != k.number {
				t.Errorf("%s: %v %v", x.format, k.kind, task)
			}
		}
	}
}
