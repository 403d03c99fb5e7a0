package workload

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// steady is a trace of n jobs, one each minute.
func steady(n int) []SwimJob {
	jobs := make([]SwimJob, n)
	for i := range jobs {
		jobs[i] = SwimJob{ID: fmt.Sprintf("job%d", i), Submit: time.Duration(i) * time.Minute, Gap: time.Minute, InputBytes: 100, ShuffleBytes: 10}
	}
	jobs[0].Gap = 0
	return jobs
}

func TestWindowAndScale(t *testing.T) {
	jobs := steady(10)
	w := Window(jobs, 2*time.Minute, 5*time.Minute)
	if len(w) != 3 || w[0].ID != "job2" || w[0].Submit != 0 || w[2].Submit != 2*time.Minute {
		t.Errorf("window: %+v", w)
	}
	s := ScaleTime(jobs, 0.5)
	if s[9].Submit != 270*time.Second || s[9].Gap != 30*time.Second {
		t.Errorf("half the time: %+v", s[9])
	}
	b := ScaleBytes(jobs, 0.033)
	if b[3].InputBytes != 3 || b[3].ShuffleBytes != 0 { // 3.3 and 0.33, rounded
		t.Errorf("scaled bytes: %+v", b[3])
	}
	if !reflect.DeepEqual(jobs, steady(10)) {
		t.Error("shaping changed what it was given")
	}
}

// TestFold: ten days of one job a minute folded to one hour at the same density
// leave about 60 of 14,400 jobs, spread over the hour as over the day.
func TestFold(t *testing.T) {
	jobs := steady(14400)
	f, err := Fold(jobs, 24*time.Hour, time.Hour, 1, 7)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(float64(len(f))-60) > 4*math.Sqrt(60) {
		t.Errorf("%d jobs, want about 60", len(f))
	}
	first := 0
	for i := range f {
		if f[i].Submit >= time.Hour {
			t.Errorf("%s at %v", f[i].ID, f[i].Submit)
		}
		if f[i].Submit < 30*time.Minute {
			first++
		}
	}
	if share := float64(first) / float64(len(f)); share < 0.25 || share > 0.75 {
		t.Errorf("%.2f of the jobs in the first half", share)
	}
	again, _ := Fold(jobs, 24*time.Hour, time.Hour, 1, 7)
	other, _ := Fold(jobs, 24*time.Hour, time.Hour, 1, 8)
	if !reflect.DeepEqual(f, again) || reflect.DeepEqual(f, other) {
		t.Error("the seed does not decide the outcome alone")
	}
	if _, err := Fold(jobs, 24*time.Hour, time.Hour, 1000, 7); err == nil {
		t.Error("more jobs than there are")
	}
	if _, err := Fold(jobs, 0, time.Hour, 1, 7); err == nil {
		t.Error("a cycle of no length")
	}
}

func TestScaleJobs(t *testing.T) {
	jobs := steady(1000)
	for _, x := range []struct {
		factor float64
		want   float64
	}{{0.2, 200}, {1, 1000}, {2.5, 2500}} {
		s := ScaleJobs(jobs, x.factor, 3)
		if math.Abs(float64(len(s))-x.want) > 4*math.Sqrt(250) {
			t.Errorf("factor %g: %d jobs", x.factor, len(s))
		}
		ids := map[string]bool{}
		for i := range s {
			if ids[s[i].ID] {
				t.Fatalf("factor %g: %s twice", x.factor, s[i].ID)
			}
			ids[s[i].ID] = true
			if i > 0 && s[i].Submit-s[i-1].Submit != s[i].Gap {
				t.Fatalf("factor %g: gap %v", x.factor, s[i].Gap)
			}
		}
	}
	if len(ScaleJobs(jobs, 1, 3)) != 1000 {
		t.Error("factor 1 changes the number of jobs")
	}
}

func TestMergeTraces(t *testing.T) {
	a := []HistoryJob{sampleJob(t, "a")}
	m := Merge(a, a, a)
	if len(m) != 3 {
		t.Fatalf("%d jobs, want 3", len(m))
	}
	ids := []string{m[0].ID, m[1].ID, m[2].ID}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 3 {
		t.Errorf("ids %v", ids)
	}
	for i := range m {
		if got := m[i].Tasks[0].Attempts[0].Job; got != m[i].ID {
			t.Errorf("attempt of %s says %s", m[i].ID, got)
		}
	}
}

// sampleJob is the job of the MRv1 sample with a configuration.
func sampleJob(t testing.TB, user string) HistoryJob {
	j := readString(t, "log", mrv1Sample).Jobs[0]
	j.User = user
	j.Conf.Set("io.sort.mb", "100")
	j.Conf.Set("mapred.child.java.opts", "-server -Xmx640m -Djava.io.tmpdir=/home/ann/tmp")
	j.Conf.Set("mapred.jobtracker.taskScheduler", "org.apache.hadoop.mapred.FairScheduler")
	j.Conf.Set("fs.default.name", "hdfs://secret.example.com")
	return j
}

// TestAnonymise: nothing of the old names is left, and the same name gets the
// same new one.
func TestAnonymise(t *testing.T) {
	h := &History{Epoch: 1262304000000, Jobs: []HistoryJob{sampleJob(t, "ann"), sampleJob(t, "ann")}}
	h.Topology.Racks = []Rack{{"r1", []string{"n1.x", "n2.x", "n3.x"}}}
	a := h.Anonymise(&Names{Seed: 5})
	text := fmt.Sprintf("%+v", *a)
	for _, secret := range []string{"ann", "word", "etl", "n1.x", "n2.x", "n3.x", "r1", "secret", "java.io", "java.lang", "201001010000_0001_m"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is still there", secret)
		}
	}
	x, y := &a.Jobs[0], &a.Jobs[1]
	if x.User != y.User || x.User == "" || x.ID == y.ID {
		t.Errorf("users %q and %q, jobs %s and %s", x.User, y.User, x.ID, y.ID)
	}
	if got := x.Tasks[0].Attempts[0]; a.Topology.RackOf(got.Node) != got.Rack || got.Locality != NodeLocal || !slices.Contains(x.Tasks[0].Split.Hosts, got.Node) {
		t.Errorf("host %q in rack %q does not fit topology and splits", got.Node, got.Rack)
	}
	if got := x.Conf.Keys(); len(got) != 3 || x.Conf.String("mapred.child.java.opts", "") != "-Xmx640m" {
		t.Errorf("properties kept: %v", got)
	}
	if d := cmp.Diff(a.Jobs, h.Anonymise(&Names{Seed: 5}).Jobs, cmp.AllowUnexported(Conf{})); d != "" {
		t.Errorf("not the same again: %s", d)
	}
	if b := h.Anonymise(&Names{Seed: 6}); b.Jobs[0].User == x.User {
		t.Error("another seed gives the same names")
	}
}

// TestScaleHistory keeps widths and selectivities.
func TestScaleHistory(t *testing.T) {
	j := sampleJob(t, "ann")
	s := ScaleBytes([]HistoryJob{j}, 10)[0]
	was, now := j.Tasks[0].Winner(), s.Tasks[0].Winner()
	if now.HDFSReadBytes != 770 || now.InRecords != 70 || now.InBytes != Unknown || was.HDFSReadBytes != 77 {
		t.Errorf("scaled %+v from %+v", now.Counters, was.Counters)
	}
}
