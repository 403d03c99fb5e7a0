package trace

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slotwave/slotwave/workload"
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
func rewriteFiles(t *testing.T, h *workload.History, name func(*jobFile) string, write func(*jobFile, io.Writer) error) *workload.History {
	t.Helper()
	dir := t.TempDir()
	for _, f := range jobFiles(h) {
		var b, conf bytes.Buffer
		if err := write(&f, &b); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, name(&f)), b.String())
		if len(f.job.Conf.Keys()) == 0 {
			continue
		}
		if err := writeConf(&conf, f.job.Conf); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, f.confName()), conf.String())
	}
	return mustOpen(t, dir)
}

// lose removes from a job what neither history format holds.
func lose(j *workload.HistoryJob) {
	j.Type, j.ClusterMapMB, j.ClusterReduceMB = "", workload.Unknown, workload.Unknown
	for i := range j.Tasks {
		t := &j.Tasks[i]
		if len(t.Split.Hosts) == 0 {
			t.Split.Hosts = nil
		}
		for k := range t.Attempts {
			a := &t.Attempts[k]
			a.Tracker = ""
			if a.Node == "" || a.Kind != workload.Map || len(t.Split.Hosts) == 0 {
				a.Locality = workload.NoLocality
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
	t.Parallel()
	for _, file := range historyFiles {
		h := mustOpen(t, shared(t, file))
		problems := len(h.Problems)
		got := rewriteFiles(t, h, (*jobFile).jhistName, (*jobFile).writeJhist)
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
			x.Totals.Map.InBytes, y.Totals.Map.InBytes = workload.Unknown, workload.Unknown
			if x.Outcome != workload.Succeeded {
				x.Totals = y.Totals
			}
			for k := range x.Tasks {
				for n := range x.Tasks[k].Attempts {
					if a := &x.Tasks[k].Attempts[n]; a.State != workload.Succeeded || a.Kind == workload.Setup || a.Kind == workload.Cleanup {
						a.Phases = y.Tasks[k].Attempts[n].Phases // only finished maps and reduces have marks
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
	t.Parallel()
	for _, file := range historyFiles {
		h := mustOpen(t, shared(t, file))
		problems := len(h.Problems)
		got := rewriteFiles(t, h, (*jobFile).mrv1Name, (*jobFile).writeMRv1)
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
			x.Totals.FailedMaps = orFailed(x.Totals.FailedMaps, x, workload.Map) // counted where they are not stated
			x.Totals.FailedReduces = orFailed(x.Totals.FailedReduces, x, workload.Reduce)
			x.Totals.Map.More.GCMillis, x.Totals.Reduce.More.GCMillis, x.Totals.All.More.GCMillis = workload.Unknown, workload.Unknown, workload.Unknown
			if x.Outcome != workload.Succeeded {
				x.Totals = y.Totals
			}
			for k := range x.Tasks {
				for n := range x.Tasks[k].Attempts {
					a := &x.Tasks[k].Attempts[n]
					a.More.GCMillis = workload.Unknown
					if a.State != workload.Succeeded {
						a.Phases, a.Counters, a.More = y.Tasks[k].Attempts[n].Phases, y.Tasks[k].Attempts[n].Counters, y.Tasks[k].Attempts[n].More
					}
					if !x.Tasks[k].ReduceSlot {
						a.Phases[workload.PhaseMap], a.Phases[workload.PhaseMerge] = workload.UnknownTime, workload.UnknownTime
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
func simulated() ([]workload.Job, []workload.Attempt) {
	ms := time.Millisecond
	jobs := []workload.Job{
		{ID: "sort", User: "u", Queue: "q", Priority: workload.High, Maps: workload.MapTasks{Count: 2, Splits: []workload.Split{{Bytes: 64, Hosts: []string{"n1", "n2"}}, {Bytes: 6, Hosts: []string{"n2"}}}}, Reduces: workload.ReduceTasks{Count: 1}},
		{ID: "job_201001010000_0001", Name: "real id", Submit: 2500 * ms, Maps: workload.MapTasks{Count: 1}},
	}
	row := func(job string, kind workload.Kind, task, number int, s workload.State, node string, start, finish time.Duration, phases ...time.Duration) workload.Attempt {
		a := workload.Attempt{Job: job, Kind: kind, Task: task, Number: number, State: s, Node: node, Rack: "r" + node, Start: start, Finish: finish, Locality: workload.NoLocality}
		for i := 0; i < len(phases); i += 2 {
			a.Phases[phases[i]] = phases[i+1]
		}
		return a
	}
	p := func(p workload.Phase) time.Duration { return time.Duration(p) }
	local := row("sort", workload.Map, 0, 1, workload.Succeeded, "n2", 9000*ms, 14000*ms, p(workload.PhaseStartup), 1000*ms, p(workload.PhaseMap), 3000*ms, p(workload.PhaseMerge), 1000*ms)
	local.Locality, local.InBytes, local.OutRecords, local.Spills = workload.NodeLocal, 64, 7, 3
	return jobs, []workload.Attempt{
		row("sort", workload.Setup, 0, 0, workload.Succeeded, "n1", 1000*ms, 2000*ms),
		row("sort", workload.Map, 0, 0, workload.Failed, "n1", 3000*ms, 5000*ms),
		row("sort", workload.TaskCleanup, 0, 0, workload.Succeeded, "n1", 6000*ms, 7000*ms),
		local,
		row("sort", workload.Map, 1, 0, workload.Succeeded, "n2", 3000*ms, 8000*ms),
		row("sort", workload.Map, 1, 1, workload.Killed, "n1", 6000*ms, 8000*ms),
		row("sort", workload.Reduce, 0, 0, workload.Succeeded, "n1", 5000*ms, 20000*ms, p(workload.PhaseStartup), 1000*ms, p(workload.PhaseShuffle), 9000*ms, p(workload.PhaseMerge), 1000*ms, p(workload.PhaseReduce), 3000*ms, p(workload.PhaseWrite), 1000*ms),
		row("sort", workload.Cleanup, 0, 0, workload.Succeeded, "n2", 21000*ms, 22000*ms),
		row("job_201001010000_0001", workload.Map, 0, 0, workload.Succeeded, "n1", 4000*ms, 6000*ms),
	}
}

// TestExportSimulated writes a simulated run in every format of Hadoop and
// reads it back: the same attempts at the same times on the same machines.
func TestExportSimulated(t *testing.T) {
	jobs, attempts := simulated()
	h := NewHistory(jobs, attempts)
	for _, x := range []struct {
		format string
		read   func() *workload.History
	}{
		{"rumen", func() *workload.History { return rewrite(t, h, writeRumen) }},
		{"jhist", func() *workload.History { return rewriteFiles(t, h, (*jobFile).jhistName, (*jobFile).writeJhist) }},
		{"history", func() *workload.History { return rewriteFiles(t, h, (*jobFile).mrv1Name, (*jobFile).writeMRv1) }},
	} {
		got := x.read()
		if len(got.Problems) > 0 || len(got.Jobs) != 2 {
			t.Fatalf("%s: %d jobs, problems %v", x.format, len(got.Jobs), got.Problems)
		}
		if got.Jobs[0].ID != "job_201001010000_0002" || got.Jobs[1].ID != "job_201001010000_0001" {
			t.Errorf("%s: ids %s and %s", x.format, got.Jobs[0].ID, got.Jobs[1].ID)
		}
		want := map[string]workload.Attempt{}
		for _, a := range attempts {
			if a.Kind != workload.TaskCleanup {
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
			if a.Kind == workload.Reduce && (a.Phases[workload.PhaseShuffle] != 10*time.Second || a.Phases[workload.PhaseMerge] != time.Second) { // with the start of the JVM
				t.Errorf("%s: shuffle %v, sort %v", x.format, a.Phases[workload.PhaseShuffle], a.Phases[workload.PhaseMerge])
			}
			if a.Kind == workload.Map && a.Task == 0 && a.State == workload.Succeeded && w.Job == "sort" && (a.Locality != workload.NodeLocal || a.OutRecords != 7) {
				t.Errorf("%s: locality %v, output %d records", x.format, a.Locality, a.OutRecords)
			}
		}
		if len(want) > 0 {
			t.Errorf("%s: lost %v", x.format, want)
		}
		// A map's clean-up number follows its maps: clean-up 2, set-up 3.
		for _, k := range []struct {
			kind   workload.Kind
			number int
		}{{workload.Cleanup, 2}, {workload.Setup, 3}} {
			if task := tasksOf(&got.Jobs[0], k.kind); len(task) != 1 || task[0].Number != k.number {
				t.Errorf("%s: %v %v", x.format, k.kind, task)
			}
		}
	}
}

// golden is one small job with every kind of text to escape.
func golden() *workload.History {
	sec := func(n int) time.Duration { return time.Duration(n) * time.Second }
	j := workload.NewHistoryJob("job_201001010000_0007")
	j.Name, j.User, j.Queue, j.Submit, j.Launch, j.Finish, j.Outcome, j.Maps, j.Reduces = `a="b".c\d`, "u", "q", 0, sec(1), sec(9), workload.Succeeded, 1, 0
	task := workload.NewHistoryTask(workload.Map, false, 0)
	task.State, task.Start, task.Finish, task.Split.Hosts = workload.Succeeded, sec(2), sec(6), []string{"n1.x"}
	lost := workload.NewHistoryAttempt(j.ID, "", workload.Map, 0, 0)
	lost.State, lost.Node, lost.Start, lost.Finish, lost.Error = workload.Failed, "n1.x", sec(2), sec(3), "x = 1.\n"
	won := workload.NewHistoryAttempt(j.ID, "", workload.Map, 0, 1)
	won.State, won.Node, won.Rack, won.Start, won.Finish, won.Locality, won.InRecords, won.LocalWriteBytes = workload.Succeeded, "n1.x", "r", sec(4), sec(6), workload.NodeLocal, 5, 7
	won.Tracker, won.HTTPPort, won.Speculative = "tracker_n1.x:localhost/127.0.0.1:1", 50060, true
	task.Attempts = []workload.HistoryAttempt{lost, won}
	j.Tasks = []workload.HistoryTask{task}
	return &workload.History{Epoch: 1262304000000, Jobs: []workload.HistoryJob{j}, Topology: workload.Topology{Racks: []workload.Rack{{Name: "r", Hosts: []string{"n1.x"}}}}}
}

// TestMRv1Golden pins records, keys, their order and the escapes.
func TestMRv1Golden(t *testing.T) {
	const want = `Meta VERSION="1" .
Job JOBID="job_201001010000_0007" JOBNAME="a\=\"b\"\.c\\d" USER="u" SUBMIT_TIME="1262304000000" JOBCONF="" VIEW_JOB="*" MODIFY_JOB="*" JOB_QUEUE="q" .
Job JOBID="job_201001010000_0007" JOB_PRIORITY="NORMAL" .
Job JOBID="job_201001010000_0007" LAUNCH_TIME="1262304001000" TOTAL_MAPS="1" TOTAL_REDUCES="0" JOB_STATUS="PREP" .
Job JOBID="job_201001010000_0007" JOB_STATUS="RUNNING" .
Task TASKID="task_201001010000_0007_m_000000" TASK_TYPE="MAP" START_TIME="1262304002000" SPLITS="/r/n1\.x" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201001010000_0007_m_000000" TASK_ATTEMPT_ID="attempt_201001010000_0007_m_000000_0" START_TIME="1262304002000" TRACKER_NAME="tracker_n1\.x" HTTP_PORT="" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201001010000_0007_m_000000" TASK_ATTEMPT_ID="attempt_201001010000_0007_m_000000_0" TASK_STATUS="FAILED" FINISH_TIME="1262304003000" HOSTNAME="n1\.x" ERROR="x \= 1\.
" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201001010000_0007_m_000000" TASK_ATTEMPT_ID="attempt_201001010000_0007_m_000000_1" START_TIME="1262304004000" TRACKER_NAME="tracker_n1\.x:localhost/127\.0\.0\.1:1" HTTP_PORT="50060" LOCALITY="NODE_LOCAL" AVATAAR="SPECULATIVE" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201001010000_0007_m_000000" TASK_ATTEMPT_ID="attempt_201001010000_0007_m_000000_1" TASK_STATUS="SUCCESS" FINISH_TIME="1262304006000" HOSTNAME="/r/n1\.x" STATE_STRING="" COUNTERS="{(FileSystemCounters)(FileSystemCounters)[(FILE_BYTES_WRITTEN)(FILE_BYTES_WRITTEN)(7)]}{(org\.apache\.hadoop\.mapred\.Task$Counter)(Map-Reduce Framework)[(MAP_INPUT_RECORDS)(Map input records)(5)]}" .
Task TASKID="task_201001010000_0007_m_000000" TASK_TYPE="MAP" TASK_STATUS="SUCCESS" FINISH_TIME="1262304006000" COUNTERS="{(FileSystemCounters)(FileSystemCounters)[(FILE_BYTES_WRITTEN)(FILE_BYTES_WRITTEN)(7)]}{(org\.apache\.hadoop\.mapred\.Task$Counter)(Map-Reduce Framework)[(MAP_INPUT_RECORDS)(Map input records)(5)]}" .
Job JOBID="job_201001010000_0007" FINISH_TIME="1262304009000" JOB_STATUS="SUCCESS" FINISHED_MAPS="1" FINISHED_REDUCES="0" FAILED_MAPS="1" FAILED_REDUCES="0" MAP_COUNTERS="" REDUCE_COUNTERS="" COUNTERS="" .
`
	var b bytes.Buffer
	if err := jobFiles(golden())[0].writeMRv1(&b); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(b.String(), "\n")); d != "" {
		t.Error(d)
	}
	if name := jobFiles(golden())[0].mrv1Name(); name != "job_201001010000_0007_1262304000000_u_a%3D%22b%22.c%5Cd" {
		t.Errorf("name %s", name)
	}
}

// TestJhistGolden pins events, fields, their order and the unions.
func TestJhistGolden(t *testing.T) {
	const head = `{"type":"%","event":{"org.apache.hadoop.mapreduce.jobhistory.`
	want := []string{
		`JOB_SUBMITTED|JobSubmitted":{"jobid":"job_201001010000_0007","jobName":"a=\"b\".c\\d","userName":"u","submitTime":1262304000000,"jobConfPath":"","acls":{},"jobQueueName":"q","workflowId":null,"workflowName":null,"workflowNodeName":null,"workflowAdjacencies":null,"workflowTags":null}}}`,
		`JOB_INITED|JobInited":{"jobid":"job_201001010000_0007","launchTime":1262304001000,"totalMaps":1,"totalReduces":0,"jobStatus":"INITED","uberized":false}}}`,
		`JOB_INFO_CHANGED|JobInfoChange":{"jobid":"job_201001010000_0007","submitTime":1262304000000,"launchTime":1262304001000}}}`,
		`TASK_STARTED|TaskStarted":{"taskid":"task_201001010000_0007_m_000000","taskType":"MAP","startTime":1262304002000,"splitLocations":"n1.x"}}}`,
		`MAP_ATTEMPT_STARTED|TaskAttemptStarted":{"taskid":"task_201001010000_0007_m_000000","taskType":"MAP","attemptId":"attempt_201001010000_0007_m_000000_0","startTime":1262304002000,"trackerName":"n1.x","httpPort":-1,"shufflePort":-1,"containerId":"container_201001010000_0007_01_000002","locality":null,"avataar":null}}}`,
		`MAP_ATTEMPT_FAILED|TaskAttemptUnsuccessfulCompletion":{"taskid":"task_201001010000_0007_m_000000","taskType":"MAP","attemptId":"attempt_201001010000_0007_m_000000_0","finishTime":1262304003000,"hostname":"n1.x","port":-1,"rackname":"","status":"FAILED","error":"x = 1.\n","counters":{"org.apache.hadoop.mapreduce.jobhistory.JhCounters":{"name":"COUNTERS","groups":[]}},"clockSplits":[],"cpuUsages":[],"vMemKbytes":[],"physMemKbytes":[]}}}`,
		`MAP_ATTEMPT_STARTED|TaskAttemptStarted":{"taskid":"task_201001010000_0007_m_000000","taskType":"MAP","attemptId":"attempt_201001010000_0007_m_000000_1","startTime":1262304004000,"trackerName":"tracker_n1.x:localhost/127.0.0.1:1","httpPort":50060,"shufflePort":-1,"containerId":"container_201001010000_0007_01_000003","locality":{"string":"NODE_LOCAL"},"avataar":{"string":"SPECULATIVE"}}}}`,
		`MAP_ATTEMPT_FINISHED|MapAttemptFinished":{"taskid":"task_201001010000_0007_m_000000","attemptId":"attempt_201001010000_0007_m_000000_1","taskType":"MAP","taskStatus":"SUCCEEDED","mapFinishTime":-1,"finishTime":1262304006000,"hostname":"n1.x","port":-1,"rackname":"/r","state":"","counters":{"name":"COUNTERS","groups":[{"name":"org.apache.hadoop.mapreduce.FileSystemCounter","displayName":"File System Counters","counts":[{"name":"FILE_BYTES_WRITTEN","displayName":"FILE: Number of bytes written","value":7}]},{"name":"org.apache.hadoop.mapreduce.TaskCounter","displayName":"Map-Reduce Framework","counts":[{"name":"MAP_INPUT_RECORDS","displayName":"Map input records","value":5}]}]},"clockSplits":[],"cpuUsages":[],"vMemKbytes":[],"physMemKbytes":[]}}}`,
		`TASK_FINISHED|TaskFinished":{"taskid":"task_201001010000_0007_m_000000","taskType":"MAP","finishTime":1262304006000,"status":"SUCCEEDED","counters":{"name":"COUNTERS","groups":[{"name":"org.apache.hadoop.mapreduce.FileSystemCounter","displayName":"File System Counters","counts":[{"name":"FILE_BYTES_WRITTEN","displayName":"FILE: Number of bytes written","value":7}]},{"name":"org.apache.hadoop.mapreduce.TaskCounter","displayName":"Map-Reduce Framework","counts":[{"name":"MAP_INPUT_RECORDS","displayName":"Map input records","value":5}]}]},"successfulAttemptId":{"string":"attempt_201001010000_0007_m_000000_1"}}}}`,
		`JOB_FINISHED|JobFinished":{"jobid":"job_201001010000_0007","finishTime":1262304009000,"finishedMaps":1,"finishedReduces":0,"failedMaps":-1,"failedReduces":-1,"totalCounters":{"name":"TOTAL_COUNTERS","groups":[]},"mapCounters":{"name":"MAP_COUNTERS","groups":[]},"reduceCounters":{"name":"REDUCE_COUNTERS","groups":[]}}}}`,
	}
	for i, w := range want {
		kind, rest, _ := strings.Cut(w, "|")
		want[i] = strings.Replace(head, "%", kind, 1) + rest
	}
	var b bytes.Buffer
	if err := jobFiles(golden())[0].writeJhist(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	var got []string
	for _, l := range lines[2:] {
		if l != "" {
			got = append(got, l)
		}
	}
	if d := cmp.Diff(want, got); d != "" || lines[0] != "Avro-Json" {
		t.Errorf("%s\n%s", lines[0], d)
	}
}

// TestHadoopInts: what is an int for Hadoop's parsers fits into one; what does
// not is unknown.
func TestHadoopInts(t *testing.T) {
	h := golden()
	const much = 1 << 40
	j := &h.Jobs[0]
	j.HeapMB, j.MapMB, j.ClusterMapMB, j.Totals.FailedMaps = much, much, much, much
	a := &j.Tasks[0].Attempts[1]
	a.HTTPPort, a.HDFSReadBytes = much, much
	var rumen, jhist bytes.Buffer
	if err := errors.Join(writeRumen(&rumen, h), jobFiles(h)[0].writeJhist(&jhist)); err != nil {
		t.Fatal(err)
	}
	for text, in := range map[string]*bytes.Buffer{
		`"heapMegabytes": -1,`: &rumen, `"jobMapMB": -1,`: &rumen, `"clusterMapMB": -1,`: &rumen, `"hdfsBytesRead": 1099511627776,`: &rumen,
		`"failedMaps":-1,`: &jhist, `"httpPort":-1,"shufflePort":-1,"containerId":"container_201001010000_0007_01_000003"`: &jhist,
		`"name":"HDFS_BYTES_READ","displayName":"HDFS: Number of bytes read","value":1099511627776`: &jhist,
	} {
		if !strings.Contains(in.String(), text) {
			t.Errorf("%s is not in\n%s", text, in)
		}
	}
	if strings.Count(rumen.String(), "1099511627776") != 2 { // of the attempt and of its task
		t.Errorf("an int does not fit:\n%s", &rumen)
	}
}

// A comma in the ID of a job that others wait for is kept, and an unknown ID is told.
func TestChainsWithCommas(t *testing.T) {
	h := golden()
	first, next := h.Jobs[0], h.Jobs[0]
	first.ID, next.ID = "a,b", "c"
	next.After = []string{first.ID, `\x2c`, "=d"}
	h.Jobs = []workload.HistoryJob{first, next}
	var out strings.Builder
	if err := writeJobs(&out, h); err != nil {
		t.Fatal(err)
	}
	got := readString(t, "jobs.csv", out.String())
	if after := got.Jobs[1].After; !slices.Equal(after, next.After) || len(got.Problems) != 2 || !strings.Contains(got.Problems[1].What, `after "=d" of job "c": no such job`) {
		t.Errorf("read %q with %v, want %q and two unknown", after, got.Problems, next.After)
	}
}

// What jobs waited for is kept, or its loss is told.
func TestChainsLost(t *testing.T) {
	h := golden()
	h.Jobs[0].After = []string{"job_1"}
	for _, f := range []Format{mrv1Format, jhistFormat, rumenFormat, tableFormat} {
		out, err := f.Write(h)
		if err != nil {
			t.Fatal(err)
		}
		told := slices.ContainsFunc(out.Lost, func(p workload.Problem) bool { return strings.Contains(p.What, "what 1 job waited for") })
		if kept := f.Name == "csv"; told == kept {
			t.Errorf("%s: told %v: want %v", f.Name, told, !kept)
		}
	}
}
