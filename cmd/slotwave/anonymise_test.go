package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The records of two jobs in which every text that a user or a site chooses holds the
// word zebra, and every secret the word hunter2.
const (
	zebraHistory = `Meta VERSION="1" .
Job JOBID="job_201001010000_0001" JOBNAME="zebra-name" USER="zebra-user" SUBMIT_TIME="1262304000000" JOBCONF="hdfs://zebra-nn:9000/zebra/job\.xml" .
Job JOBID="job_201001010000_0001" JOB_PRIORITY="NORMAL" .
Job JOBID="job_201001010000_0001" LAUNCH_TIME="1262304001000" TOTAL_MAPS="1" TOTAL_REDUCES="1" JOB_STATUS="PREP" .
Task TASKID="task_201001010000_0001_m_000000" TASK_TYPE="MAP" START_TIME="1262304002000" SPLITS="/zebra-rack/zebra-host1,/zebra-rack/zebra-host2" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201001010000_0001_m_000000" TASK_ATTEMPT_ID="attempt_201001010000_0001_m_000000_0" START_TIME="1262304002000" TRACKER_NAME="tracker_zebra-host2:localhost/127\.0\.0\.1:50060" HTTP_PORT="50060" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201001010000_0001_m_000000" TASK_ATTEMPT_ID="attempt_201001010000_0001_m_000000_0" TASK_STATUS="FAILED" FINISH_TIME="1262304005000" HOSTNAME="/zebra-rack/zebra-host2" ERROR="zebra went wrong at /zebra/path" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201001010000_0001_m_000000" TASK_ATTEMPT_ID="attempt_201001010000_0001_m_000000_1" START_TIME="1262304006000" TRACKER_NAME="tracker_zebra-host1:localhost/127\.0\.0\.1:50060" HTTP_PORT="50060" .
MapAttempt TASK_TYPE="MAP" TASKID="task_201001010000_0001_m_000000" TASK_ATTEMPT_ID="attempt_201001010000_0001_m_000000_1" TASK_STATUS="SUCCESS" FINISH_TIME="1262304015000" HOSTNAME="/zebra-rack/zebra-host1" STATE_STRING="zebra" COUNTERS="{(zebra)(zebra)[(zebra)(zebra)(1)]}" .
Task TASKID="task_201001010000_0001_m_000000" TASK_TYPE="MAP" TASK_STATUS="SUCCESS" FINISH_TIME="1262304016000" COUNTERS="" .
Task TASKID="task_201001010000_0001_r_000000" TASK_TYPE="REDUCE" START_TIME="1262304016000" SPLITS="" .
ReduceAttempt TASK_TYPE="REDUCE" TASKID="task_201001010000_0001_r_000000" TASK_ATTEMPT_ID="attempt_201001010000_0001_r_000000_0" START_TIME="1262304016000" TRACKER_NAME="tracker_zebra-host1:localhost/127\.0\.0\.1:50060" HTTP_PORT="50060" .
ReduceAttempt TASK_TYPE="REDUCE" TASKID="task_201001010000_0001_r_000000" TASK_ATTEMPT_ID="attempt_201001010000_0001_r_000000_0" TASK_STATUS="SUCCESS" SHUFFLE_FINISHED="1262304020000" SORT_FINISHED="1262304021000" FINISH_TIME="1262304030000" HOSTNAME="/zebra-rack/zebra-host1" COUNTERS="" .
Task TASKID="task_201001010000_0001_r_000000" TASK_TYPE="REDUCE" TASK_STATUS="SUCCESS" FINISH_TIME="1262304031000" COUNTERS="" .
Job JOBID="job_201001010000_0001" FINISH_TIME="1262304032000" JOB_STATUS="SUCCESS" FINISHED_MAPS="1" FINISHED_REDUCES="1" FAILED_MAPS="1" FAILED_REDUCES="0" COUNTERS="" .
`
	zebraConf = `<configuration>
<property><name>user.name</name><value>zebra-user</value></property>
<property><name>mapred.job.name</name><value>zebra-name</value></property>
<property><name>mapred.job.queue.name</name><value>zebra-queue</value></property>
<property><name>mapred.fairscheduler.pool</name><value>zebra-pool</value></property>
<property><name>mapred.output.dir</name><value>hdfs://zebra:hunter2@zebra-nn:9000/zebra</value></property>
<property><name>mapred.capacity-scheduler.queue.zebra.capacity</name><value>30</value></property>
<property><name>mapred.zebra.limit</name><value>5</value></property>
<property><name>mapred.map.output.compression.codec</name><value>org.apache.hadoop.zebra.ZebraCodec</value></property>
<property><name>mapred.child.java.opts</name><value>-Xmx400m -Dzebra=1 -Djavax.net.ssl.keyStorePassword=hunter2</value></property>
<property><name>fs.s3.awsSecretAccessKey</name><value>hunter2</value></property>
<property><name>fs.s3a.access.key</name><value>hunter2</value></property>
<property><name>ssl.server.keystore.password</name><value>hunter2</value></property>
<property><name>my.api.token</name><value>hunter2</value></property>
<property><name>io.sort.mb</name><value>123</value></property>
</configuration>
`
)

// everyWriter are the verbs that write files from a record.
func everyWriter(history, out string) map[string][]string {
	all := map[string][]string{
		"run":      {"run", history, "--out", out + "/run", "--set", `conf."my.password"="hunter2"`},
		"inspect":  {"inspect", history, "--out", out + "/inspect"},
		"report":   {"report", history, "--out", out + "/report.html"},
		"diagnose": {"diagnose", history, "--out", out + "/diagnose"},
		"profile":  {"convert", history, "--to", "profile", "--out", out + "/profile"},
		"compare":  {"compare", history, "two-jobs", "--out", out + "/compare"},
		"predict":  {"predict", history, "--out", out + "/predict"},
	}
	for _, to := range []string{"csv", "rumen", "history", "jhist"} {
		all[to] = []string{"convert", history, "--to", to, "--out", filepath.Join(out, to)}
	}
	return all
}

func zebra(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "zebra-history")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "zebra_1262304000000_job_201001010000_0001_zebra-user_zebra-name"), zebraHistory)
	writeFile(t, filepath.Join(dir, "zebra_1262304000000_job_201001010000_0001_conf.xml"), zebraConf)
	return dir
}

// holds lists the files under a folder in which a word stands, in a name or in the content.
func holds(t *testing.T, folder, word string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if z, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, _ = io.ReadAll(z)
		}
		data = bytes.ToLower(data)
		if i := bytes.Index(data, []byte(word)); i >= 0 || strings.Contains(strings.TrimPrefix(path, folder), word) {
			found = append(found, fmt.Sprintf("%s: %.80q", path, data[max(0, i-40):]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// No file that a verb writes with --anonymise holds a name of the record.
func TestAnonymise(t *testing.T) {
	t.Parallel()
	history, out := zebra(t), t.TempDir()
	for name, args := range everyWriter(history, out) {
		if name != "inspect" { // it has no --quiet
			args = append(args, "--quiet")
		}
		if code, _, stderr := call("", append(args, "--anonymise")...); code != exitDone {
			t.Errorf("%v: exit code %d: %s", args, code, stderr)
		}
	}
	for _, at := range holds(t, out, "zebra") {
		t.Error(at)
	}
	if table := read(t, filepath.Join(out, "csv", "attempts.csv")); !strings.Contains(table, "host-") || !strings.Contains(table, "rack-") {
		t.Errorf("got %s: want the pseudonyms of machines and racks", table)
	}
}

// calibrate and size ask a copy of the record that holds no name of it, beside the result.
func TestAnonymiseCopies(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	history, study := filepath.Join(dir, "zebra-history"), filepath.Join(out, "study.toml")
	writeFile(t, filepath.Join(dir, "zebra.toml"), "fidelity = \"device\"\n[cluster]\nplatform = \"dl145-g3\"\nnodes = 3\n"+
		"[[job]]\nname = \"zebra-name\"\nuser = \"zebra-user\"\nprofile = \"terasort\"\ninput = \"384 MB\"\nreduces = 2\n")
	writeFile(t, study, "confidence = \"80 %\"\nmost_nodes = 4\nmax_replications = 40\n[[goal]]\nfinish = \"1h\"\n[[node]]\nname = \"small\"\nmap_slots = 1\n")
	verb(t, "run", filepath.Join(dir, "zebra.toml"), "--quiet", "--set", "plots=none", "--out", filepath.Join(dir, "ran"))
	verb(t, "convert", filepath.Join(dir, "ran"), "--to", "jhist", "--quiet", "--out", history)
	for range 2 { // the copy is written again
		verb(t, "platform", "calibrate", history, "--fidelity", "phase", "--anonymise", "--quiet", "--force", "--out", filepath.Join(out, "calibrated"))
		verb(t, "size", history, study, "--anonymise", "--quiet", "--force", "--out", filepath.Join(out, "sized"))
	}
	for _, at := range holds(t, out, "zebra") {
		t.Error(at)
	}
	verb(t, "run", filepath.Join(out, "calibrated", "scenario.toml"), "--quiet", "--set", "plots=none", "--out", filepath.Join(out, "again"))
	for _, c := range []struct {
		want string
		args []string
	}{
		{"want a history before it", []string{"size", study}},
		{"two-jobs: want a history", []string{"size", "two-jobs", study}},
		{"want a folder for --out", []string{"platform", "calibrate", history}},
	} {
		if code, _, stderr := call("", append(c.args, "--anonymise")...); code != exitInput || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, %q: want %q", c.args, code, stderr, c.want)
		}
	}
}

// No verb writes the value of a password, with or without --anonymise.
func TestSecretsAreNeverWritten(t *testing.T) {
	t.Parallel()
	history, out := zebra(t), t.TempDir()
	for name, args := range everyWriter(history, out) {
		if name != "inspect" {
			args = append(args, "--quiet")
		}
		if code, _, stderr := call("", args...); code != exitDone {
			t.Errorf("%v: exit code %d: %s", args, code, stderr)
		}
	}
	for _, at := range holds(t, out, "hunter2") {
		t.Error(at)
	}
	if len(holds(t, out, "zebra-user")) == 0 {
		t.Error("no file holds the name of the user: is the record still read?")
	}
}
