package trace

import (
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// TestSwimJobs: 150 bytes at 64 a block are 3 maps of 50 bytes, at 10 bytes/s
// and 1 s fixed 6 s each. 90 shuffled + 20 written at 50 a reduce round to 2
// reduces of 45 and 10 bytes.
func TestSwimJobs(t *testing.T) {
	rates := workload.SwimRates{
		BlockBytes: 64, BytesPerReduce: 50, MapFixed: time.Second, ReduceFixed: 2 * time.Second,
		MapBytesPS: 10, ShuffleBytesPS: 9, SortBytesPS: 45, ReduceBytesPS: 15, WriteBytesPS: 5,
	}
	jobs, err := workload.SwimJobs([]workload.SwimJob{
		{ID: "a", InputBytes: 150, ShuffleBytes: 90, OutputBytes: 20},
		{ID: "b", Submit: time.Minute, InputBytes: 0, OutputBytes: 15},
	}, rates)
	if err != nil {
		t.Fatal(err)
	}
	a, b := &jobs[0], &jobs[1]
	for _, x := range []struct {
		what      string
		got, want any
	}{
		{"maps", a.Maps.Count, 3}, {"map time", a.Maps.Time.All, 6 * time.Second},
		{"reduces", a.Reduces.Count, 2}, {"shuffle", a.Reduces.Shuffle.All, 5 * time.Second},
		{"sort", a.Reduces.Sort.All, time.Second}, {"reduce", a.Reduces.Time.All, 7 * time.Second}, // 2 + 45/15 + 10/5
		{"maps without input", b.Maps.Count, 1}, {"reduces without shuffle", b.Reduces.Count, 0},
		{"map-only map", b.Maps.Time.All, 4 * time.Second}, // 1 + 0/10 + 15/5
		{"submit", b.Submit, time.Minute},
	} {
		if x.got != x.want {
			t.Errorf("%s: got %v, want %v", x.what, x.got, x.want)
		}
	}
	rates.ReduceCap = 1
	if jobs, _ := workload.SwimJobs([]workload.SwimJob{{ID: "a", InputBytes: 150, ShuffleBytes: 90}}, rates); jobs[0].Reduces.Count != 1 {
		t.Errorf("%d reduces, want the cap 1", jobs[0].Reduces.Count)
	}
	if _, err := workload.SwimJobs([]workload.SwimJob{{ID: "huge", InputBytes: 1 << 62}}, rates); err == nil {
		t.Error("a job of 10^16 maps was accepted")
	}
	if _, err := workload.SwimJobs(nil, workload.SwimRates{}); err == nil {
		t.Error("rates of zero were accepted")
	}
}

// TestSwimMaps: the day of the 2010 trace is 4.05 million maps of 256 MiB, 16.2
// million of 64 MiB (counted apart).
func TestSwimMaps(t *testing.T) {
	h := mustOpen(t, shared(t, "swim/FB-2010_samples_24_times_1hr_0.tsv.gz"))
	for _, x := range []struct {
		block int64
		maps  float64
	}{{256 << 20, 4.05e6}, {64 << 20, 16.2e6}} {
		jobs, err := workload.SwimJobs(h.Swim, workload.SwimRates{
			BlockBytes: x.block, BytesPerReduce: 1 << 30, MapBytesPS: 1e7, ShuffleBytesPS: 1e7, SortBytesPS: 1e7, ReduceBytesPS: 1e7, WriteBytesPS: 1e7,
		})
		if err != nil {
			t.Fatal(err)
		}
		maps, mapOnly := 0, 0
		for i := range jobs {
			maps += jobs[i].Maps.Count
			if jobs[i].Reduces.Count == 0 {
				mapOnly++
			}
		}
		if d := float64(maps)/x.maps - 1; d < -0.01 || d > 0.01 || mapOnly != 8324 {
			t.Errorf("%d maps of %d bytes and %d map-only jobs, want %.3g and 8324", maps, x.block, mapOnly, x.maps)
		}
	}
}
