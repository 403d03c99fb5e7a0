package workload

import "testing"

// The output of a job is that of its reduces, or of its maps if it has none.
func TestSwimOutput(t *testing.T) {
	jobs, err := SwimJobs([]SwimJob{{ID: "a", InputBytes: 1 << 20, OutputBytes: 5}, {ID: "b", InputBytes: 1 << 20, ShuffleBytes: 9, OutputBytes: 7}}, SwimRates{
		BlockBytes: 1 << 20, MapBytesPS: 1e6, ShuffleBytesPS: 1e6, SortBytesPS: 1e6, ReduceBytesPS: 1e6, WriteBytesPS: 1e6, BytesPerReduce: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][2]int64{{5, 0}, {0, 7}} {
		if got := [2]int64{jobs[i].Maps.OutputBytes, jobs[i].Reduces.OutputBytes}; got != want {
			t.Errorf("%s: %v bytes out of maps and reduces, want %v", jobs[i].ID, got, want)
		}
	}
}
