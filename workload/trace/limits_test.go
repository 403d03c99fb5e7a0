package trace

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"
)

// TestHostileFiles opens files made to exhaust time or memory. Each must end in
// an error or in reported problems, and in 512 MiB.
func TestHostileFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("large files")
	}
	const mib = 1 << 20
	repeat := func(piece string, size int) string { return strings.Repeat(piece, size/len(piece)+1) }
	packed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		io.WriteString(w, text)
		w.Close()
		return b.String()
	}
	// A file of gzip may have parts, which are read as one; so a chunk is packed once.
	pack := func(head, piece string, size int) string {
		return packed(head) + strings.Repeat(packed(repeat(piece, mib)), size/mib)
	}
	const rumenHead = `{"jobID":"job_1_0001","jobName":"`
	task := `{"taskID":"task_1_0001_m_000000","taskType":"MAP","attempts":[`
	for _, x := range []struct {
		name, content string
		refused       bool // an error, not only problems
	}{
		{"gzip bomb in a string", pack(rumenHead, "x", 128*mib), true},
		{"gzip bomb of blanks", pack(rumenHead+`",`, " ", 128*mib), true},
		{"gzip bomb of records", pack(mrv1Sample, strings.SplitAfter(mrv1Sample, "\n")[4], 128*mib), true},
		{"gzip bomb of empty tasks", pack(`{"jobID":"job_1_0001","mapTasks":[{}`, ",{}", 32*mib), true},
		{"gzip bomb of SWIM lines", pack("", "job0\t1\t1\t1\t1\t1\n", 128*mib), true},
		{"deep JSON", rumenHead + `","x":` + repeat("[", 4*mib), false},
		{"deep topology", repeat(`{"name":"a","children":[`, 4*mib), false},
		{"deep XML", "<configuration>" + repeat("<property>", 8*mib), false},
		{"long JSON string", rumenHead + repeat("x", 32*mib), true},
		{"long history line", `Job JOBID="job_1_0001" JOBNAME="` + repeat("x", 32*mib), true},
		{"long history record", "Meta VERSION=\"1\" .\nJob JOBID=\"job_1_0001\" JOBNAME=\"" + repeat("x\n", 32*mib), true},
		{"long event", jhistSample + repeat("x", 32*mib), true},
		{"long cell", tableSample + repeat("x", 32*mib), true},
		{"long SWIM cell", "job0\t1\t1\t1\t1\t1\n" + repeat("x", 32*mib), true},
		{"long XML text", "<configuration><property><name>" + repeat("x", 32*mib), true},
		{"many attempts of one task", `{"mapTasks":[` + task + repeat(`{"attemptID":"attempt_1_0001_m_000000_0"},`, 16*mib), false},
		{"damage everywhere", strings.Join(threeJobs(), "\n") + repeat("\n{x", 16*mib), true},
		{"damaged records everywhere", repeat("Job JOBID=\"job_1_1\n", 16*mib), false},
		{"absurd counts", strings.Replace(jhistSample, `"totalMaps":1`, `"totalMaps":9223372036854775807`, 1), false},
		{"absurd numbers", strings.Replace(jhistSample, `"finishTime":1300000010000`, `"finishTime":1e300`, 1), false},
		{"no format", repeat("\x00", 8*mib), true},
		{"nothing", "", true},
		{"only comment", repeat("# x\n", 8*mib), true},
		{"truncated gzip", pack(mrv1Sample, "x", mib)[:300], false},
	} {
		t.Run(x.name, func(t *testing.T) {
			path := t.TempDir() + "/hostile"
			if err := os.WriteFile(path, []byte(x.content), 0o666); err != nil {
				t.Fatal(err)
			}
			x.content = ""
			runtime.GC()
			live := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
			metrics.Read(live)
			before, peak := live[0].Value.Uint64(), uint64(0)
			done, sampled := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(sampled)
				for {
					metrics.Read(live)
					peak = max(peak, live[0].Value.Uint64())
					select {
					case <-done:
						return
					case <-time.After(2 * time.Millisecond):
					}
				}
			}()
			h, err := Open(path)
			close(done)
			<-sampled
			grown := (int64(peak) - int64(before)) / mib
			if x.refused != (err != nil) {
				t.Fatalf("error %v, want one: %v", err, x.refused)
			}
			if err == nil && len(h.Problems) == 0 {
				t.Error("no problem reported")
			}
			if err != nil && (strings.Contains(err.Error(), "panic") || !strings.Contains(err.Error(), "hostile")) {
				t.Errorf("error without the file: %v", err)
			}
			if grown > 512 {
				t.Errorf("took %d MiB", grown)
			}
			t.Logf("%d MiB, %v", grown, err)
		})
	}
}

// TestDetect names the format of every measured file from its content.
func TestDetect(t *testing.T) {
	for _, x := range []struct {
		file string
		want string
	}{
		{"swim/FB-2009_samples_24_times_1hr_0.tsv.gz", "swim"},
		{"rumen/folder-input-trace.json.gz", "rumen"}, {"gridmix-traces/trace_1m.json.gz", "rumen"},
		{"rumen/dispatch-topology-output.json.gz", "topology"},
		{"rumen/dispatch-sample-v20-jt-log.gz", "history"}, {"mrv1-history/chukwa-Hadoop18JobHistoryLog.txt.gz", "history"},
		{"mrv1-history/job_201311192236_3583_Sleep_job.hist", "history"},
		{"mrv2-jhist/job_1526555215992_0001-pi-1-1.jhist", "jhist"}, {"mrv2-jhist/job_1526555215992_0001_conf.xml", "conf"},
		{"platform-0.20.2/histories/score-large.conf.gz", "properties"},
		{"hitune-sort/job.csv.gz", "hitune"}, {"hitune-sort/instruments_map.csv.gz", "hitune"},
		{"ec2-starfish/tasks.tsv", "csv"}, {"ec2-starfish/conf.tsv", "csv"}, {"ec2-starfish/phases.tsv", "csv"},
		{"prod-hive-jobs/jobs.tsv", "csv"}, {"yarn-slowstart/runs.tsv", "csv"}, {"oracle/fifo-one-job/run1/attempts.csv.gz", "csv"},
	} {
		if got, err := Detect(shared(t, x.file)); got != x.want || err != nil {
			t.Errorf("%s: %s (%v), want %s", x.file, got, err, x.want)
		}
	}
	for _, file := range []string{"README.md", "oracle/fifo-one-job/case.json", "ec2-starfish/profiles.tsv", "aloja/runs.tsv.gz"} {
		if got, err := Detect(shared(t, file)); err == nil {
			t.Errorf("%s: taken for %s", file, got)
		}
	}
}
