package execute

import (
	"math"
	"testing"

	"github.com/slotwave/slotwave/workload"
)

// A map moves the part of the job's data that was recorded of it: one with more
// and narrower records spills twice, where the others spill once.
func TestMapsWithRecordedShares(t *testing.T) {
	q := shuffles(2, 1, 4, 2, 100e6, "1", nil)
	q.Jobs[0].Conf.Set("io.sort.record.percent", "0.05")
	all := playBatches(t, q, 100)
	var records, bytes int64
	for _, a := range all {
		if a.Kind == workload.Map {
			records, bytes = records+a.OutRecords, bytes+a.OutBytes
		}
	}
	for _, x := range [][3]float64{{0.1, 0.3, 0.1}, {0.5, 0.1, 0.7}, {0.2, 0.3, 0.1}, {0.2, 0.3, 0.1}} {
		share := workload.MapShare{Input: 0.25, InRecords: x[0], OutBytes: x[1], OutRecords: x[2]}
		q.Jobs[0].Maps.Shares = append(q.Jobs[0].Maps.Shares, share)
	}
	for _, a := range playBatches(t, q, 100) {
		if a.Kind != workload.Map {
			continue
		}
		share := q.Jobs[0].Maps.Shares[a.Task]
		near := func(what string, got int64, want float64) {
			if math.Abs(float64(got)-want) > 3 { // counters are whole, those of four maps added up
				t.Errorf("map %d: %s %d, want %.0f", a.Task, what, got, want)
			}
		}
		near("output bytes", a.OutBytes, share.OutBytes*float64(bytes))
		near("output records", a.OutRecords, share.OutRecords*float64(records))
		near("input records", a.InRecords, share.InRecords*float64(records)) // a record is emitted for each
		near("input bytes", a.HDFSReadBytes, share.Input*float64(q.Jobs[0].Maps.InputBytes))
		if want := a.Task == 1; a.Spills > 1 != want {
			t.Errorf("map %d: %d spills", a.Task, a.Spills)
		}
	}
}

// The time that cores take for equal tasks has the mean of the program and the
// coefficient of variation that it states. Other attempts of a task have other
// paces, and the same attempt always the same one.
func TestPaces(t *testing.T) {
	const tasks, cv = 4000, 0.3
	q := shuffles(20, 1, tasks, 1, 100e6, "1", nil)
	q.Programs[0].CV[workload.Map] = cv
	p := play(t, q).job.plans
	base := p.planners[0].Cost.MapCPU
	sum, squares := 0.0, 0.0
	pace := func(task, number int32) float64 {
		return p.plannerFor(0, &Attempt{Task: task, Number: number}).Cost.MapCPU / base
	}
	for i := range int32(tasks) {
		x := pace(i, 0)
		sum, squares = sum+x, squares+x*x
		if x == pace(i, 1) || x != pace(i, 0) {
			t.Fatalf("map %d: paces %v, %v and %v of attempts 0, 1 and 0", i, x, pace(i, 1), pace(i, 0))
		}
	}
	mean := sum / tasks
	sd := math.Sqrt(squares/tasks - mean*mean)
	// Five standard errors: of a mean, and of a standard deviation whose kurtosis is 5.
	if math.Abs(mean-1) > 5*cv/math.Sqrt(tasks) || math.Abs(sd/cv-1) > 5*math.Sqrt(1.0/tasks) {
		t.Errorf("mean %v and coefficient of variation %v, want 1 and %v", mean, sd/mean, cv)
	}
	if got := p.plannerFor(0, &Attempt{Kind: workload.Reduce}); got != p.planners[0] {
		t.Error("reduces have paces too")
	}
}
