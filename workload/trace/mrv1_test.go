package trace

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slotwave/slotwave/workload"
)

// TestLogAgainstRumen reads the raw 0.20 logs and the trace that Rumen made of
// them. They must agree in everything both state: Rumen keeps no tracker,
// port, error text or job counters, drops the host of failed and killed
// attempts, and takes the queue "default" and the type JAVA for granted.
func TestLogAgainstRumen(t *testing.T) {
	log := mustOpen(t, shared(t, "rumen/dispatch-sample-v20-jt-log.gz"))
	trace := mustOpen(t, shared(t, "rumen/dispatch-trace-output.json.gz"))
	if len(log.Problems)+len(trace.Problems) > 0 {
		t.Fatalf("problems: %v %v", log.Problems, trace.Problems)
	}
	hidden := 0
	for i := range log.Jobs {
		x, y := &log.Jobs[i], &trace.Jobs[i]
		x.Totals, x.Queue, x.Type = y.Totals, y.Queue, y.Type
		if y.Name == "" {
			x.Name = ""
		}
		for k := range x.Tasks {
			for n := range x.Tasks[k].Attempts {
				a, b := &x.Tasks[k].Attempts[n], &y.Tasks[k].Attempts[n]
				a.Tracker, a.HTTPPort, a.Error, a.CombineOutRecords = "", workload.Unknown, "", workload.Unknown
				if b.Node == "" && b.State != workload.Succeeded {
					a.Node, a.Rack, a.Locality = "", "", workload.NoLocality
					hidden++
				}
			}
		}
	}
	if hidden != 73 { // 4 failed, 69 killed
		t.Errorf("%d attempts without a host in the trace, want 73", hidden)
	}
	if d := cmp.Diff(log.Jobs, trace.Jobs, cmp.AllowUnexported(workload.Conf{})); d != "" {
		t.Errorf("log (-) and trace (+) differ:\n%.4000s", d)
	}
	if log.Epoch != trace.Epoch {
		t.Errorf("epoch %d, trace %d", log.Epoch, trace.Epoch)
	}
	if first := log.Topology.Racks[0]; first.Name == "" { // hosts of failed attempts, named without rack
		log.Topology.Racks = log.Topology.Racks[1:]
	}
	if d := cmp.Diff(log.Topology, trace.Topology); d != "" {
		t.Errorf("topologies differ:\n%s", d)
	}
}

// TestHistoryAgainstOracle compares the JobTracker's own history of every
// recorded case with the table of attempts made apart from it.
func TestHistoryAgainstOracle(t *testing.T) {
	logs, err := filepath.Glob(filepath.Join(filepath.Dir(shared(t, "oracle/README.md")), "*", "run1", "history.log.gz"))
	if err != nil || len(logs) < 40 {
		t.Fatalf("%d cases, want at least 40 (%v)", len(logs), err)
	}
	for _, path := range logs {
		h := mustOpen(t, path)
		if len(h.Problems) > 0 {
			t.Errorf("%s: %v", path, h.Problems)
		}
		rows := strings.Count(gunzip(t, filepath.Join(filepath.Dir(path), "attempts.csv.gz")), "\n") - 1
		// Attempts that clean up after others, and the half of set-up and
		// clean-up that was killed unrun, are not in the history.
		tasks := strings.Count(gunzip(t, filepath.Join(filepath.Dir(path), "attempts.csv.gz")), ",taskcleanup,")
		if got := len(h.Attempts()); got != rows-tasks {
			t.Errorf("%s: %d attempts, want %d", path, got, rows-tasks)
		}
	}
}

func gunzip(t testing.TB, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

const mrv1Sample = `Meta VERSION="1" .
Job JOBID="job_201001010000_0001" JOBNAME="word\=count \"a\"" USER="ann" SUBMIT_TIME="1262304000000" JOBCONF="hdfs://h\.x/job\.xml" JOB_QUEUE="etl" .
Job JOBID="job_201001010000_0001" JOB_PRIORITY="HIGH" .
Job JOBID="job_201001010000_0001" LAUNCH_TIME="1262304001000" TOTAL_MAPS="1" TOTAL_REDUCES="1" JOB_STATUS="PREP" .
Task TASKID="task_201001010000_0001_m_000000" TASK_TYPE="MAP" START_TIME="1262304002000" SPLITS="/r1/n1\.x,/r1/n2\.x" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201001010000_0001_m_000000" TASK_ATTEMPT_ID="attempt_201001010000_0001_m_000000_0" START_TIME="1262304002500" TRACKER_NAME="tracker_n2\.x:localhost/127\.0\.0\.1:50000" HTTP_PORT="50060" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201001010000_0001_m_000000" TASK_ATTEMPT_ID="attempt_201001010000_0001_m_000000_0" TASK_STATUS="FAILED" FINISH_TIME="1262304004000" HOSTNAME="n2\.x" ERROR="java\.lang\.Error: a \= b
	at X\.y(X\.java:1)
" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201001010000_0001_m_000000" TASK_ATTEMPT_ID="attempt_201001010000_0001_m_000000_1" START_TIME="1262304005000" TRACKER_NAME="tracker_n3\.x:localhost/127\.0\.0\.1:50000" HTTP_PORT="50060" LOCALITY="RACK_LOCAL" AVATAAR="SPECULATIVE" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201001010000_0001_m_000000" TASK_ATTEMPT_ID="attempt_201001010000_0001_m_000000_1" TASK_STATUS="SUCCESS" FINISH_TIME="1262304009000" HOSTNAME="/r1/n3\.x" STATE_STRING="" COUNTERS="{(FileSystemCounters)(FileSystemCounters)[(HDFS_BYTES_READ)(HDFS_BYTES_READ)(77)]}{(mine)(Mine \\(own\\))[(HDFS_BYTES_READ)(\\[x\\])(5)]}{(org\.apache\.hadoop\.mapred\.Task$Counter)(Map-Reduce Framework)[(MAP_INPUT_RECORDS)(Map input records)(7)][(MAP_OUTPUT_BYTES)(Map output bytes)(70)]}" .
Task TASKID="task_201001010000_0001_m_000000" TASK_TYPE="MAP" TASK_STATUS="SUCCESS" FINISH_TIME="1262304010000" COUNTERS="" .
Task TASKID="task_201001010000_0001_r_000000" TASK_TYPE="REDUCE" START_TIME="1262304010000" SPLITS="" .
ReduceAttempt TASK_TYPE="REDUCE" TASKID="task_201001010000_0001_r_000000" TASK_ATTEMPT_ID="attempt_201001010000_0001_r_000000_0" TASK_STATUS="SUCCESS" SHUFFLE_FINISHED="1262304013000" SORT_FINISHED="1262304013500" FINISH_TIME="1262304016000" HOSTNAME="/r1/n1\.x" STATE_STRING="reduce > reduce" COUNTERS="" .
ReduceAttempt TASK_TYPE="REDUCE" TASKID="task_201001010000_0001_r_000000" TASK_ATTEMPT_ID="attempt_201001010000_0001_r_000000_0" START_TIME="1262304011000" TRACKER_NAME="tracker_n1\.x:localhost/127\.0\.0\.1:50000" HTTP_PORT="50060" .
Task TASKID="task_201001010000_0001_r_000000" TASK_TYPE="REDUCE" TASK_STATUS="SUCCESS" FINISH_TIME="1262304017000" COUNTERS="" .
Job JOBID="job_201001010000_0001" FINISH_TIME="1262304018000" JOB_STATUS="SUCCESS" FINISHED_MAPS="1" FINISHED_REDUCES="1" FAILED_MAPS="1" FAILED_REDUCES="0" COUNTERS="{(org\.apache\.hadoop\.mapred\.JobInProgress$Counter)(Job Counters )[(RACK_LOCAL_MAPS)(Rack-local map tasks)(1)]}" .
`

// TestMRv1Records reads one job whose records show every rule: escapes, an
// error text over several lines, counters of the user that bear Hadoop's
// names, and a finish that stands before its start.
func TestMRv1Records(t *testing.T) {
	h := readString(t, "log", mrv1Sample)
	if len(h.Problems) > 0 {
		t.Fatal(h.Problems)
	}
	j := &h.Jobs[0]
	failed, won, reduce := &j.Tasks[0].Attempts[0], &j.Tasks[0].Attempts[1], &j.Tasks[1].Attempts[0]
	for _, x := range []struct {
		what      string
		got, want any
	}{
		{"epoch", h.Epoch, int64(1262304000000)},
		{"name", j.Name, `word=count "a"`}, {"queue", j.Queue, "etl"}, {"priority", j.Priority, workload.High},
		{"launch", j.Launch, time.Second}, {"finish", j.Finish, 18 * time.Second}, {"outcome", j.Outcome, workload.Succeeded},
		{"rack-local maps", j.Totals.RackLocalMaps, int64(1)}, {"failed maps", j.Totals.FailedMaps, int64(1)},
		{"hosts", strings.Join(j.Tasks[0].Split.Hosts, " "), "n1.x n2.x"},
		{"failed on", failed.Node, "n2.x"}, {"in rack", failed.Rack, "r1"}, {"locality", failed.Locality, workload.NodeLocal},
		{"ran", failed.Duration(), 1500 * time.Millisecond},
		{"error", failed.Error, "java.lang.Error: a = b\n\tat X.y(X.java:1)\n"},
		{"speculative", won.Speculative, true}, {"stated locality", won.Locality, workload.RackLocal},
		{"tracker", won.Tracker, "tracker_n3.x:localhost/127.0.0.1:50000"},
		{"read", won.HDFSReadBytes, int64(77)}, {"records", won.InRecords, int64(7)}, {"output", won.OutBytes, int64(70)},
		{"input not stated", won.InBytes, int64(workload.Unknown)},
		{"shuffle", reduce.Phases[workload.PhaseShuffle], 2 * time.Second}, {"sort", reduce.Phases[workload.PhaseMerge], 500 * time.Millisecond},
		{"reduce", reduce.Phases[workload.PhaseReduce], 2500 * time.Millisecond},
	} {
		if x.got != x.want {
			t.Errorf("%s: got %v, want %v", x.what, x.got, x.want)
		}
	}
}

// TestMRv1Damage damages the sample in one place at a time. What is left must
// be read, and the loss reported with its line.
func TestMRv1Damage(t *testing.T) {
	testDamage(t, mrv1Sample, []damage{
		{"truncated", cutAfter(11, 100), 12, "without its end mark", 1},
		{"no end mark", replaceIn(5, `" .`, `"`), 5, "without its end mark", 2},
		{"no finish", deleteLine(11), 10, "attempt_201001010000_0001_m_000000_1 has no end", 2},
		{"no start", deleteLine(15), 14, "attempt_201001010000_0001_r_000000_0 has no start", 2},
		{"starts twice", func(_ *testing.T, l []string) []string {
			return append(l, strings.Replace(l[9], "1262304005000", "1262304005001", 1))
		}, 18, "starts twice", 2},
		{"wrong count", replaceIn(4, `TOTAL_MAPS="1"`, `TOTAL_MAPS="3"`), 2, "succeeded with 3 maps, but 1 are recorded", 2},
		{"not a record", insertAt(5, "Segmentation fault"), 5, "is not a history record", 2},
		{"negative time", replaceIn(5, "1262304002000", "-7"), 5, "want a number", 2},
		{"ends before its start", replaceIn(11, "1262304009000", "1262304001000"), 10, "before it starts", 2},
		{"phases out of order", replaceIn(14, "1262304013000", "1262304019000"), 14, "out of order", 2},
		{"bad id", replaceIn(13, "task_201001010000_0001_r_000000", "task_x"), 13, "want task_", 2},
		{"damaged counters", replaceIn(11, "(HDFS_BYTES_READ)(77)", "(HDFS_BYTES_READ)(77"), 11, "damaged counters", 2},
	})
}

// Names and values of counters escape the brackets around them with a backslash, which is no
// part of them; a bracket that is not closed holds nothing.
func TestBracketed(t *testing.T) {
	for _, x := range []struct {
		in, text, rest string
		ok             bool
	}{
		{`(a)b`, "a", "b", true}, {`(a\)b\\)c)d`, `a)b\`, "c)d", true}, {`()`, "", "", true}, {`(\()`, "(", "", true},
		{`(a`, "", "", false}, {`(a\)`, "", "", false}, {`a)`, "", "", false}, {"", "", "", false},
	} {
		text, rest, ok := bracketed(x.in, '(', ')')
		if text != x.text || ok != x.ok || ok && rest != x.rest {
			t.Errorf("%s: got %q, %q, %v: want %q, %q, %v", x.in, text, rest, ok, x.text, x.rest, x.ok)
		}
	}
}
