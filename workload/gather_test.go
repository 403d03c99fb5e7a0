package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"
)

// TestThinned: of a million values a thinned gathering keeps few, and its
// quantiles lie within a tenth of a percent of all values of where they belong,
// in whatever order the values come. What is not a quantile is exact.
func TestThinned(t *testing.T) {
	const n = 1_000_000
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, n)
	for i := range values {
		values[i] = math.Round(1000*math.Exp(2*random.NormFloat64())) / 1000
	}
	sorted := slices.Sorted(slices.Values(values))
	falling := slices.Clone(sorted)
	slices.Reverse(falling)
	want := NewSample(slices.Clone(values))
	for order, list := range map[string][]float64{"random": values, "rising": sorted, "falling": falling} {
		k := &keeper{thin: true}
		var g gathering
		g.add(k, list...)
		if k.kept > 40_000 {
			t.Errorf("%s: keeps %d values", order, k.kept)
		}
		got := g.sample()
		for _, x := range [][2]float64{{got.Mean, want.Mean}, {got.SD, want.SD}, {got.Min, want.Min}, {got.Max, want.Max}, {float64(got.N), n}} {
			if math.Abs(x[0]-x[1]) > 1e-9*math.Abs(x[1]) {
				t.Errorf("%s: %v, want %v", order, x[0], x[1])
			}
		}
		for i, q := range got.Quantiles {
			first, _ := slices.BinarySearch(sorted, q)
			last, _ := slices.BinarySearch(sorted, math.Nextafter(q, math.Inf(1)))
			if at := float64(i) / 100 * n; at < float64(first)-n/1000 || at > float64(last)+n/1000 {
				t.Errorf("%s: the value at %d %% is that of %.2f to %.2f %%", order, i, 100*float64(first)/n, 100*float64(last)/n)
			}
		}
		if !slices.IsSorted(got.Quantiles) {
			t.Errorf("%s: quantiles fall", order)
		}
	}
}

// manyMaps is a job of so many maps that each take another time.
func manyMaps(id string, n int) *HistoryJob {
	j := NewHistoryJob(id)
	j.Outcome, j.Submit, j.Finish = Succeeded, 0, time.Hour
	for i := range n {
		task := NewHistoryTask(Map, false, i)
		a := NewHistoryAttempt(j.ID, "", Map, i, 0)
		a.State, a.Start, a.Finish, a.InBytes, a.InRecords = Succeeded, 0, time.Duration(i+1)*time.Millisecond, int64(i), int64(i)
		task.Attempts = []HistoryAttempt{a}
		j.Tasks = append(j.Tasks, task)
	}
	return &j
}

// TestProfilerThins: all values are kept until they are too many, and then not.
func TestProfilerThins(t *testing.T) {
	const maps = 5000
	j := manyMaps("job_1_0001", maps)
	j.Name = "n"
	var p Profiler
	most := 0
	for !p.keeper.thin {
		most = p.keeper.kept
		p.Add(j)
	}
	if most > exactValues || most < exactValues-10*maps {
		t.Errorf("%d values are kept before they are thinned", most)
	}
	if p.keeper.kept > exactValues/10 {
		t.Errorf("%d values are left", p.keeper.kept)
	}
	for range 50 {
		p.Add(j)
	}
	got := p.Profiles()[0].MapTime
	if p.keeper.kept > exactValues/10 || got.N < maps*100 || math.Abs(got.Mean-(maps+1)/2000.0) > 1e-9 {
		t.Errorf("%d values are kept; %d of mean %v", p.keeper.kept, got.N, got.Mean)
	}
	for i, q := range got.Quantiles {
		if at := float64(i) / 100 * maps / 1000; math.Abs(q-at) > maps/1000.0*0.002 { // 0.2 % of the values
			t.Errorf("%d %%: %v s, want %v", i, q, at)
		}
	}
}

// TestSpilledProfiles: profiles of single jobs go to a file and come back, in
// their order among those of several runs.
func TestSpilledProfiles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const jobs = 900
	p, plain := Profiler{Spill: true}, Profiler{}
	for i := range jobs {
		j := manyMaps(fmt.Sprintf("job_1_%04d", i), 40+i%3)
		if i%300 == 1 {
			j.Name = "recurs"
		}
		p.Add(j)
		plain.Add(j)
	}
	if p.done.file == nil {
		t.Fatal("nothing was spilled")
	}
	if p.Len() != jobs-2 || len(p.order) != 1 {
		t.Errorf("%d profiles, %d in memory", p.Len(), len(p.order))
	}
	want := plain.Profiles()
	for range 2 { // Each begins anew
		n := 0
		err := p.Each(func(got *Profile) error {
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want[n]) {
				return fmt.Errorf("profile %d:\n%+v\nwant\n%+v", n, got, want[n])
			}
			n++
			return nil
		})
		if err != nil || n != len(want) {
			t.Fatal(n, err)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
