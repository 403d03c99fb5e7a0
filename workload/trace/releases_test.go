package trace

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// TestJhistSetup: Hadoop writes set-up and clean-up as attempts of maps or
// reduces, by the letter of the id, and says in the task's type what they are.
func TestJhistSetup(t *testing.T) {
	h := NewHistory(simulated())
	for i := range h.Jobs[0].Tasks {
		if task := &h.Jobs[0].Tasks[i]; task.Kind == workload.Cleanup {
			task.ReduceSlot = true
		}
	}
	var b bytes.Buffer
	if err := jobFiles(h)[0].writeJhist(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"MAP_ATTEMPT_STARTED","event":{"org.apache.hadoop.mapreduce.jobhistory.TaskAttemptStarted":{"taskid":"task_201001010000_0002_m_000002","taskType":"JOB_SETUP"`,
		`MapAttemptFinished":{"taskid":"task_201001010000_0002_m_000002","attemptId":"attempt_201001010000_0002_m_000002_0","taskType":"JOB_SETUP"`,
		`ReduceAttemptFinished":{"taskid":"task_201001010000_0002_r_000001","attemptId":"attempt_201001010000_0002_r_000001_0","taskType":"JOB_CLEANUP"`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no event has %s", want)
		}
	}
	if bad := regexp.MustCompile(`{"type":"(SETUP|CLEANUP)_ATTEMPT_\w+`).FindString(b.String()); bad != "" {
		t.Errorf("%s is no event of Hadoop", bad)
	}
	got := readString(t, "job_201001010000_0002.jhist", b.String())
	kinds := map[workload.Kind]int{}
	for _, task := range got.Jobs[0].Tasks {
		kinds[task.Kind]++
	}
	if len(got.Problems) > 0 || kinds[workload.Setup] != 1 || kinds[workload.Cleanup] != 1 {
		t.Errorf("read again: %v, problems %v", kinds, got.Problems)
	}
}

// TestTaskTimesWritten: a task without times of its own is written with those of
// its attempts, which Hadoop's parsers need.
func TestTaskTimesWritten(t *testing.T) {
	h := golden()
	h.Jobs[0].Tasks[0].Start, h.Jobs[0].Tasks[0].Finish = workload.UnknownTime, workload.UnknownTime
	for name, write := range map[string]func(*jobFile, *bytes.Buffer) error{
		"history": func(f *jobFile, b *bytes.Buffer) error { return f.writeMRv1(b) },
		"jhist":   func(f *jobFile, b *bytes.Buffer) error { return f.writeJhist(b) },
	} {
		var b bytes.Buffer
		if err := write(&jobFiles(h)[0], &b); err != nil {
			t.Fatal(err)
		}
		got := readString(t, "log", b.String()).Jobs[0].Tasks[0]
		if got.Start != 2*time.Second || got.Finish != 6*time.Second {
			t.Errorf("%s: task from %v to %v, want 2s to 6s", name, got.Start, got.Finish)
		}
	}
}

// TestMRv1Releases: a job history has the keys and file names of its release, so
// that the parser of that release reads it (JobHistory.Keys); a job has a name.
func TestMRv1Releases(t *testing.T) {
	for _, x := range []struct {
		release, history, conf string
		has, lacks             []string
	}{
		{"0.20.2", "localhost_1262304000000_job_201001010000_0007_u_NA", "localhost_1262304000000_job_201001010000_0007_conf.xml",
			[]string{"FAILED_MAPS"}, []string{"VIEW_JOB", "MODIFY_JOB", "JOB_QUEUE", "MAP_COUNTERS", "REDUCE_COUNTERS", "LOCALITY", "AVATAAR"}},
		{"1.0.4", "job_201001010000_0007_1262304000000_u_NA", "job_201001010000_0007_conf.xml",
			[]string{"FAILED_MAPS", "VIEW_JOB", "MODIFY_JOB", "JOB_QUEUE", "MAP_COUNTERS"}, []string{"LOCALITY", "AVATAAR"}},
		{"1.2.1", "job_201001010000_0007_1262304000000_u_NA", "job_201001010000_0007_conf.xml",
			[]string{"FAILED_MAPS", "VIEW_JOB", "JOB_QUEUE", "LOCALITY", "AVATAAR"}, nil},
	} {
		h := golden()
		h.Release, h.Jobs[0].Name = x.release, ""
		h.Jobs[0].Conf.Set("io.sort.mb", "100")
		out, err := mrv1Format.Write(h)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := out.Files[0].Write(&b); err != nil {
			t.Fatal(err)
		}
		if len(out.Files) != 2 || out.Files[0].Name != x.history || out.Files[1].Name != x.conf {
			t.Errorf("%s: files %v", x.release, out.Files)
		}
		for _, key := range x.has {
			if !strings.Contains(b.String(), " "+key+"=") {
				t.Errorf("%s: no %s", x.release, key)
			}
		}
		for _, key := range x.lacks {
			if strings.Contains(b.String(), " "+key+"=") {
				t.Errorf("%s: %s, which the release does not know", x.release, key)
			}
		}
		if got := readString(t, "log", b.String()).Jobs[0]; got.Totals.FailedMaps != 1 || got.Totals.FailedReduces != 0 {
			t.Errorf("%s: %d failed maps and %d reduces, want 1 and 0", x.release, got.Totals.FailedMaps, got.Totals.FailedReduces)
		}
	}
}
