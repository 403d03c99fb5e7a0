package workload

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"
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

// shaped returns the jobs after changes, with scales of one unless they are given.
func shaped(t *testing.T, jobs []SwimJob, s Shaping) []SwimJob {
	t.Helper()
	s.ScaleJobs, s.ScaleTime, s.ScaleBytes = cmp.Or(s.ScaleJobs, 1), cmp.Or(s.ScaleTime, 1), cmp.Or(s.ScaleBytes, 1)
	h := History{Swim: jobs}
	if err := h.Shape(&s); err != nil {
		t.Fatal(err)
	}
	return h.Swim
}

func TestWindowAndScale(t *testing.T) {
	jobs := steady(10)
	w := shaped(t, jobs, Shaping{From: 2 * time.Minute, To: 5 * time.Minute})
	if len(w) != 3 || w[0].ID != "job2" || w[0].Submit != 0 || w[2].Submit != 2*time.Minute {
		t.Errorf("window: %+v", w)
	}
	s := shaped(t, jobs, Shaping{ScaleTime: 0.5})
	if s[9].Submit != 270*time.Second || s[9].Gap != 30*time.Second {
		t.Errorf("half the time: %+v", s[9])
	}
	b := shaped(t, jobs, Shaping{ScaleBytes: 0.033})
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
	daily := Folding{Cycle: 24 * time.Hour, Length: time.Hour, Concentration: 1}
	f := shaped(t, jobs, Shaping{Fold: &daily, Seed: 7})
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
	again := shaped(t, jobs, Shaping{Fold: &daily, Seed: 7})
	other := shaped(t, jobs, Shaping{Fold: &daily, Seed: 8})
	if !reflect.DeepEqual(f, again) || reflect.DeepEqual(f, other) {
		t.Error("the seed does not decide the outcome alone")
	}
	for what, wrong := range map[string]Folding{
		"more jobs than there are": {Cycle: 24 * time.Hour, Length: time.Hour, Concentration: 1000},
		"a cycle of no length":     {Length: time.Hour, Concentration: 1},
	} {
		h := History{Swim: jobs}
		if err := h.Shape(&Shaping{ScaleJobs: 1, ScaleTime: 1, ScaleBytes: 1, Fold: &wrong, Seed: 7}); err == nil {
			t.Error(what)
		}
	}
}

func TestScaleJobs(t *testing.T) {
	jobs := steady(1000)
	for _, x := range []struct {
		factor float64
		want   float64
	}{{0.2, 200}, {1, 1000}, {2.5, 2500}} {
		s := shaped(t, jobs, Shaping{ScaleJobs: x.factor, Seed: 3})
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
	if len(shaped(t, jobs, Shaping{Seed: 3})) != 1000 {
		t.Error("factor 1 changes the number of jobs")
	}
}
