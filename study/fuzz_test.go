//go:build unix

package study

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/workload"
)

// Limits of one input. A question larger than mostTasks or mostNodes is read and
// not run.
const (
	mostTasks   = 2000
	mostNodes   = 200
	mostRuns    = 8
	mostHeap    = 512 << 20
	mostHanging = 20 * time.Second
)

func spentCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// guard panics while an input hangs or takes too much memory, so that the fuzzer
// keeps it. The function that it returns ends the watch.
func guard(t *testing.T) func() {
	began, done := spentCPU(), make(chan struct{})
	go func() {
		every := time.NewTicker(100 * time.Millisecond)
		defer every.Stop()
		var m runtime.MemStats
		for {
			select {
			case <-done:
				return
			case <-every.C:
			}
			if runtime.ReadMemStats(&m); m.HeapAlloc > mostHeap {
				panic(fmt.Sprintf("%d MiB, want at most %d", m.HeapAlloc>>20, mostHeap>>20))
			}
			if took := spentCPU() - began; took > mostHanging {
				panic(fmt.Sprintf("hangs: %v of a core", took))
			}
		}
	}()
	return func() { close(done) }
}

// simulates opens a scenario or a history, runs it and writes its tables. It may
// refuse the input, in words; it must not fail in any other way.
func simulates(t *testing.T, path string, settings ...string) {
	t.Helper()
	defer guard(t)()
	refused := func(err error) {
		t.Helper()
		text := err.Error()
		if errors.As(err, new(InternalError)) {
			t.Errorf("internal error: %v", err)
		}
		for _, word := range []string{"strconv", "runtime error", "goroutine", "%!", "lstat", "struct {", "interface {"} {
			if strings.Contains(text, word) {
				t.Errorf("%q in the message %q", word, text)
			}
		}
	}
	s, err := Open(path, Options{Seed: 1, Workers: 1, Set: settings})
	if err != nil {
		refused(err)
		return
	}
	if len(s.Scenario.Runs) > mostRuns {
		return
	}
	tasks := 0
	for i := range s.Scenario.Runs {
		q := &s.Scenario.Runs[i].Question
		if tasks += q.Tasks(); tasks > mostTasks || len(q.Cluster.Nodes) > mostNodes {
			return
		}
	}
	d, err := resultdir.Create(filepath.Join(t.TempDir(), "out"), resultdir.Purpose{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Abort()
	s.Scenario.NoPlots = true // pictures take longer than the limits allow
	runs, err := s.Simulate(d, nil)
	if err != nil {
		refused(err)
		return
	}
	if err := s.Write(d, runs); err != nil {
		t.Error(err)
	}
	for _, r := range runs {
		if err := r.Summary().WriteText(io.Discard, false); err != nil {
			t.Error(err)
		}
	}
}

// values replace those of an input, one at a time.
var values = []string{
	"-1", "0", "1", "2", "3", "7", "64", "1000", "100000", "9223372036854775807", "-9223372036854775808",
	"1e308", "-1e308", "5e-324", "nan", "inf", "0.5", "1e-9", "true", "false",
	`""`, `"0s"`, `"1ns"`, `"-1s"`, `"876000h"`, `"99999999h"`, `"1b"`, `"0"`, `"-1"`, `"16e"`, `"9223372036854775807"`,
	`"a"`, `"fair1"`, `"fair2"`, `"capacity"`, `"lifo"`, `"replay"`, `"profile"`, `"phase"`, `"device"`, `"0.20.2"`, `"1.0.4"`, `"ideal"`, `"every"`,
	"[]", "[0]", "[-1, 5]", "{}",
}

var (
	words   = regexp.MustCompile(`"[^"\n]*"|[-+]?\d[\d_.]*(e[-+]?\d+)?|\btrue\b|\bfalse\b`)
	numbers = regexp.MustCompile(`[-+]?\d[\d_.]*(e[-+]?\d+)?`)
)

// edited replaces words of a text: of three bytes, two choose the word and one
// its new value. Beyond the values, a byte removes the line or repeats it.
func edited(text string, edits []byte, word *regexp.Regexp) string {
	for ; len(edits) >= 3; edits = edits[3:] {
		at, value := int(edits[0])<<8|int(edits[1]), int(edits[2])
		if value >= len(values) {
			lines := strings.SplitAfter(text, "\n")
			i := at % len(lines)
			if value%2 == 0 {
				lines[i] = ""
			} else {
				lines[i] += lines[i]
			}
			text = strings.Join(lines, "")
			continue
		}
		found := word.FindAllStringIndex(text, -1)
		if len(found) == 0 {
			break
		}
		x := found[at%len(found)]
		text = text[:x[0]] + values[value] + text[x[1]:]
	}
	return text
}

// fuzzRun adds texts and single edits as seeds and runs what becomes of them.
func fuzzRun(f *testing.F, texts []string, word *regexp.Regexp, run func(t *testing.T, text string)) {
	for i, text := range texts {
		f.Add(text, []byte{})
		f.Add(text, []byte{0, byte(5 * i), byte(3 * i), 0, byte(11 * i), byte(7 * i)})
	}
	f.Fuzz(func(t *testing.T, text string, edits []byte) {
		if len(text) > 1<<14 || len(edits) > 3*8 {
			return
		}
		run(t, edited(text, edits, word))
	})
}

func shippedText(f *testing.F, name string) string {
	f.Helper()
	text, ok := scenarios.Text(name)
	if !ok {
		f.Fatalf("%s is not shipped", name)
	}
	return text
}

func textFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

const everything = `
fidelity = "device"
[cluster]
heartbeats = "every"
hadoop = "1.0.4"
racks = 2
platform = "dl145-g3"
heartbeat = "1s"
[[cluster.group]]
name = "a"
count = 3
map_slots = 2
reduce_slots = 1
[[cluster.group]]
name = "b"
count = 2
map_slots = 1
reduce_slots = 2
slowdown = 2.5
[scheduler]
name = "fair2"
[[scheduler.pool]]
name = "p"
weight = 2
min_maps = 3
min_reduces = 1
[conf]
"mapred.fairscheduler.preemption" = true
"io.sort.mb" = 10
"io.sort.factor" = 3
"mapred.job.shuffle.input.buffer.percent" = 0.1
"mapred.reduce.slowstart.completed.maps" = 0.5
[[job]]
name = "x"
pool = "p"
profile = "sort"
input = "1g"
reduces = 3
submit = "5s"
[[job]]
name = "y"
pool = "q"
profile = "wordcount"
maps = 9
input = "300m"
reduces = 2
jobs = 2
interarrival = "7s"
`

const failures = `
[cluster]
dies = { dist = "exponential", mean = "1000h" }
[[cluster.group]]
name = "n"
count = 3
[[cluster.group]]
name = "m"
count = 2
dies = "20s"
fail_after = "7s"
[scheduler]
name = "fair1"
[[job]]
name = "x"
maps = 5
map_ms = [8000, 200, 1000, 1, 9]
reduces = 2
reduce_shuffle_ms = 100
reduce_ms = 5000
map_fail_ms = { "0" = [5000, -1] }
reduce_fail_ms = { "0" = [500, -1] }
[[job]]
name = "y"
maps = 30
duration = { dist = "lognormal", mean = "20s", sd = "15s" }
reduces = 3
shuffle_duration = { dist = "gamma", mean = "20s", sd = "5s" }
reduce_duration = { dist = "weibull", mean = "20s", shape = 1.5 }
`

// containers is a scenario on YARN with both kinds of applications.
const containers = `
[cluster]
hadoop = "3.3.6"
racks = 2
nodes = 4
memory = "8 GiB"
vcores = 8
[scheduler]
name = "yarn-capacity"
[[scheduler.queue]]
name = "a"
capacity = 60
maximum-capacity = 80
[[scheduler.queue]]
name = "b"
capacity = 40
user-limit-factor = 2
[[job]]
name = "x"
queue = "a"
maps = 9
map_ms = [8000, 200, 1000, 1, 9, 4, 4, 4, 4]
reduces = 2
reduce_shuffle_ms = 100
reduce_ms = 5000
[[job]]
name = "y"
queue = "b"
application = "fixed"
[[job.container]]
count = 3
memory = "1 GiB"
vcores = 1
duration = "9s"
priority = 5
`

// caseOnYARN is a recorded case of a ResourceManager, with every key of one.
const caseOnYARN = `{"name": "x", "hadoop": "3.3.6",
"cluster": {"nodes": 3, "memory_mb": [8192,
4096, 8192], "vcores": 8,
"racks": 2,
"rack_of": [0, 1, 0],
"slowness": [1, 2, 1.5],
"dies_ms": {"1": 70000},
"fail_after_ms": {"2": 900}},
"scheduler": {"type": "capacity", "properties": {}, "capacity": {"root.queues": "a,b",
"root.a.capacity": 60,
"root.b.capacity": 40}},
"costs": {"launch_ms": 1000,
"setup_ms": 700,
"commit_ms": 200,
"am_launch_ms": 900,
"job_commit_ms": 100,
"exit_ms": 50,
"am_exit_ms": 40,
"kill_ms": 30,
"task_abort_ms": 20},
"limit_ms": 21600000,
"runs": [[0,
1000, 2000]],
"jobs": [{"name": "a", "queue": "root.a", "submit_ms": 0,
"priority": 3,
"slowstart": 0.5, "am": {"memory_mb": 1536,
"vcores": 1}, "maps": {"count": 5,
"ms": [5000, 1, 900, 7000,
10000], "hosts": [["c000"], ["c001", "c002"], [], [], []], "memory_mb": 1024,
"vcores": 1,
"bytes": 1000000,
"retry_ms": [700, 700, 700, 700, 900],
"rack_factor": 1.5,
"off_factor": 2,
"fail": {"3": [500, null]}}, "reduces": {"count": 2,
"memory_mb": 2048,
"shuffle_ms": 100,
"sort_ms": [5, 5],
"reduce_ms": 900}}],
"apps": [{"name": "b", "queue": "root.b", "submit_ms": 4000,
"heartbeat_ms": 1000,
"tasks": [{"count": 2,
"priority": 7,
"memory_mb": 512,
"vcores": 1,
"ms": [500, 900], "hosts": [[], ["c001"]]}]}]}`

// A scenario that is read is also run.
func FuzzRunScenario(f *testing.F) {
	texts := []string{everything, failures, containers, oneRecordedJob}
	for _, name := range []string{"two-jobs", "capacity-queues", "speculation", "delay-scheduling", "sonata-two-spills", "mm4", "khan-waves"} {
		texts = append(texts, shippedText(f, name))
	}
	fuzzRun(f, texts, words, func(t *testing.T, text string) {
		simulates(t, textFile(t, filepath.Join(t.TempDir(), "s.toml"), text))
	})
}

const oneRecordedJob = `
[cluster]
hadoop = "1.2.1"
nodes = 8
[conf]
"mapred.reduce.tasks.speculative.execution" = false
"mapred.map.tasks.speculative.execution" = false
[[job]]
name = "sort"
input = "3 GB"
maps = 6
map_ms = [4000, 5000, 3000, 9000, 4000, 2000]
reduces = 20
reduce_shuffle_ms = 3000
first_shuffle_ms = 1000
reduce_ms = 5000
`

// extremes are the ends of what a number, a time or a size may be.
var extremes = []string{
	"9223372036854775807", "4611686018427387903", "-9223372036854775808", "1e308", "inf", `"8191p"`, `"876000h"`,
}

// small is a scenario that reads most properties of a scheduler.
const small = `
hadoop = "1.0.4"
nodes = 2
platform = "dl145-g3"
[[job]]
profile = "sort"
input = "200m"
reduces = 2
[[job]]
maps = 3
profile = "wordcount"
input = "100m"
reduces = 1
`

// Each property at its extremes is refused in words, or runs.
func TestExtremeProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs")
	}
	for _, key := range workload.Properties() {
		p, _ := workload.FindProperty(key)
		scheduler := "fifo"
		for _, name := range []string{"capacity", "fair1", "fair2"} {
			if strings.HasPrefix(name, strings.Fields(p.Reader)[0]) {
				scheduler = name
			}
		}
		text := fmt.Sprintf("fidelity = \"device\"\n[scheduler]\nname = %q\n[cluster]%s", scheduler, small)
		path := textFile(t, filepath.Join(t.TempDir(), "s.toml"), text)
		for _, value := range append(extremes, "2147483648") {
			t.Run(key+"="+value, func(t *testing.T) { simulates(t, path, fmt.Sprintf("conf.%q=%s", key, value)) })
		}
	}
}

// Each number of a scenario at its extremes is refused in words, or the scenario runs.
func TestExtremeKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("many runs")
	}
	for _, in := range []struct{ file, text string }{{"s.toml", everything}, {"s.toml", failures}, {"s.toml", containers}, {"case.json", caseOnYARN}} {
		text := in.text
		for _, at := range words.FindAllStringIndex(text, -1) {
			line := text[1+strings.LastIndex(text[:at[0]], "\n"):]
			line, _, _ = strings.Cut(line, "\n")
			for _, value := range append(extremes, "-1", "5e-324") {
				t.Run(line+" "+value, func(t *testing.T) {
					simulates(t, textFile(t, filepath.Join(t.TempDir(), in.file), text[:at[0]]+value+text[at[1]:]))
				})
			}
		}
	}
}

// So is a recorded case.
func FuzzRunCase(f *testing.F) {
	fuzzRun(f, []string{
		`{"name": "x", "hadoop": "0.20.2", "cluster": {"trackers": 3, "racks": 2, "rack_of": [0, 1, 0], "map_slots": [2, 1, 1], "reduce_slots": 2,
"slowness": [1, 2, 1.5], "dies_ms": {"1": 70000}, "fail_after_ms": {"2": 900}}, "scheduler": {"type": "fair", "properties": {"mapred.fairscheduler.assignmultiple": true},
"pools": {"p": {"minMaps": 2, "weight": 1.5}}}, "costs": {"launch_ms": 1000, "setup_ms": 700, "cleanup_ms": 700, "commit_ms": 200, "task_cleanup_ms": 500},
"limit_ms": 21600000, "runs": [[0, 1000, 2000], [5, 1, 9]], "jobs": [
{"name": "a", "pool": "p", "submit_ms": 0, "slowstart": 0.5, "speculative": true, "maps": {"count": 5, "ms": [5000, 1, 900, 7000, 10000], "hosts": [["c000"], ["c001", "c002"], [], [], []],
"rack_factor": 1.5, "off_factor": 2, "fail": {"3": [500, null]}}, "reduces": {"count": 2, "shuffle_ms": 100, "sort_ms": [5, 5], "reduce_ms": 900}},
{"name": "b", "pool": "q", "submit_ms": 4000, "maps": {"count": 2, "ms": 50}, "properties": {"mapred.map.max.attempts": 2}}]}`,
		`{"hadoop": "1.2.1", "cluster": {"trackers": 1, "map_slots": 1}, "scheduler": {"type": "fifo"}, "runs": [[0]], "jobs": [{"name": "j", "maps": {"count": 1, "ms": [5]}}]}`,
		`{"hadoop": "1.0.4", "cluster": {"trackers": 2, "map_slots": 2, "reduce_slots": 1}, "scheduler": {"type": "capacity", "queues": {"a": {"capacity": 40, "maximum-capacity": 80}, "b": {"capacity": 60}}},
"runs": [[0, 7]], "jobs": [{"name": "j", "queue": "a", "maps": {"count": 9, "ms": 5000}}, {"name": "k", "queue": "b", "maps": {"count": 4, "ms": 8000}, "reduces": {"count": 3, "shuffle_ms": 5, "reduce_ms": 50}}]}`,
		caseOnYARN,
	}, words, func(t *testing.T, text string) {
		simulates(t, textFile(t, filepath.Join(t.TempDir(), "case.json"), text))
	})
}

// shortJob runs on one machine, its platform beside it and its program too.
const shortJob = `
fidelity = "device"
[cluster]
nodes = 2
map_slots = 2
reduce_slots = 2
platform = %q
[[job]]
name = "x"
profile = %q
input = "640m"
reduces = 3
`

// So is a platform.
func FuzzRunPlatform(f *testing.F) {
	var texts []string
	for _, name := range scenarios.Platforms() {
		texts = append(texts, shippedText(f, name))
	}
	fuzzRun(f, texts, words, func(t *testing.T, text string) {
		dir := t.TempDir()
		textFile(t, filepath.Join(dir, "p.toml"), text)
		simulates(t, textFile(t, filepath.Join(dir, "s.toml"), fmt.Sprintf(shortJob, "p.toml", "sort")))
	})
}

// So is the profile of a job, alone on a node and among others.
func FuzzRunProfile(f *testing.F) {
	var texts []string
	for _, name := range scenarios.Profiles() {
		texts = append(texts, shippedText(f, name))
	}
	fuzzRun(f, texts, words, func(t *testing.T, text string) {
		dir := t.TempDir()
		textFile(t, filepath.Join(dir, "p.toml"), text)
		path := textFile(t, filepath.Join(dir, "s.toml"), fmt.Sprintf(shortJob, "dl145-g3", "p.toml"))
		simulates(t, path)
		simulates(t, path, "fidelity=phase")
	})
}

const history = `Meta VERSION="1" .
Job JOBID="job_201102151322_0001" JOBNAME="n" USER="u" SUBMIT_TIME="1300000000000" JOBCONF="c" JOB_PRIORITY="NORMAL" .
Job JOBID="job_201102151322_0001" LAUNCH_TIME="1300000001000" TOTAL_MAPS="2" TOTAL_REDUCES="1" JOB_STATUS="RUNNING" .
Task TASKID="task_201102151322_0001_m_000000" TASK_TYPE="MAP" START_TIME="1300000002000" SPLITS="/r/a" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201102151322_0001_m_000000" TASK_ATTEMPT_ID="attempt_201102151322_0001_m_000000_0" START_TIME="1300000002000" TRACKER_NAME="tracker_a:x" HTTP_PORT="1" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201102151322_0001_m_000000" TASK_ATTEMPT_ID="attempt_201102151322_0001_m_000000_0" TASK_STATUS="SUCCESS" FINISH_TIME="1300000009000" HOSTNAME="/r/a" STATE_STRING="" .
Task TASKID="task_201102151322_0001_m_000000" TASK_TYPE="MAP" TASK_STATUS="SUCCESS" FINISH_TIME="1300000009000" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201102151322_0001_m_000001" TASK_ATTEMPT_ID="attempt_201102151322_0001_m_000001_0" START_TIME="1300000002500" TRACKER_NAME="tracker_b:x" HTTP_PORT="1" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201102151322_0001_m_000001" TASK_ATTEMPT_ID="attempt_201102151322_0001_m_000001_0" TASK_STATUS="SUCCESS" FINISH_TIME="1300000007000" HOSTNAME="/r/b" STATE_STRING="" .
ReduceAttempt TASK_TYPE="REDUCE" TASKID="task_201102151322_0001_r_000000" TASK_ATTEMPT_ID="attempt_201102151322_0001_r_000000_0" START_TIME="1300000004000" TRACKER_NAME="tracker_b:x" HTTP_PORT="1" .
ReduceAttempt TASK_TYPE="REDUCE" TASKID="task_201102151322_0001_r_000000" TASK_ATTEMPT_ID="attempt_201102151322_0001_r_000000_0" TASK_STATUS="SUCCESS" SHUFFLE_FINISHED="1300000011000" SORT_FINISHED="1300000012000" FINISH_TIME="1300000015000" HOSTNAME="/r/b" .
Job JOBID="job_201102151322_0001" FINISH_TIME="1300000017000" JOB_STATUS="SUCCESS" FINISHED_MAPS="2" FINISHED_REDUCES="1" FAILED_MAPS="0" FAILED_REDUCES="0" .
`

const attemptRows = `job,task,kind,attempt,state,node,rack,slot,runnable_ns,start_ns,finish_ns,p_shuffle_ns,p_reduce_ns
a,0,map,0,SUCCEEDED,n1,/r,0,0,1000000000,5000000000,,
a,1,map,0,FAILED,n2,/r,0,0,1000000000,2000000000,,
a,1,map,1,SUCCEEDED,n2,/r,0,0,3000000000,9000000000,,
a,0,reduce,0,SUCCEEDED,n1,/r,2,0,3000000000,12000000000,7000000000,2000000000
b,0,map,0,KILLED,n1,/r,1,0,1000000000,5000000000,,
b,0,map,1,SUCCEEDED,n1,/r,1,0,6000000000,6000000001,,
`

const rumenJob = `{"jobID":"job_1_0001","jobName":"n","priority":"HIGH","submitTime":1300000000000,"launchTime":1300000000500,"finishTime":1300000003000,
"totalMaps":1,"totalReduces":1,"outcome":"SUCCESS","heapMegabytes":200,"jobProperties":{"io.sort.mb":"100","mapred.job.map.memory.mb":"512"},
"mapTasks":[{"taskID":"task_1_0001_m_000000","taskType":"MAP","taskStatus":"SUCCESS","startTime":1300000001000,"finishTime":1300000002000,
"preferredLocations":[{"layers":["r","h"]}],"attempts":[{"attemptID":"attempt_1_0001_m_000000_0","hostName":"/r/h","result":"SUCCESS",
"startTime":1300000001000,"finishTime":1300000002000,"mapInputRecords":5,"spilledRecords":-1}]}],
"reduceTasks":[{"taskID":"task_1_0001_r_000000","taskType":"REDUCE","taskStatus":"SUCCESS","attempts":[{"attemptID":"attempt_1_0001_r_000000_0","hostName":"/r/h","result":"SUCCESS",
"startTime":1300000001000,"shuffleFinished":1300000001500,"sortFinished":1300000001600,"finishTime":1300000002700}]}]}
`

// So is a history, on the cluster that it records and on another.
func FuzzRunHistory(f *testing.F) {
	fuzzRun(f, []string{history, attemptRows, rumenJob, "job0\t49\t49\t740773\t2339561\t627471\njob1\t60\t11\t3\t0\t5\n"}, numbers, func(t *testing.T, text string) {
		path := textFile(t, filepath.Join(t.TempDir(), "h"), text)
		simulates(t, path)
		simulates(t, path, "cluster.nodes=3")
	})
}
