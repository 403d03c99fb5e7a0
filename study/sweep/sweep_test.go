package sweep_test

import (
	"testing"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/sweep"
)

// The progress of a sweep ends with all simulations, and names the slowest point.
func TestSweepProgress(t *testing.T) {
	s, err := sweep.Open(smallPoints(t, 5), sweep.Options{Replications: 2})
	if err != nil {
		t.Fatal(err)
	}
	j, err := s.OpenJournal(t.TempDir(), resultdir.Build{})
	if err != nil {
		t.Fatal(err)
	}
	calls, last := 0, study.SweepStatus{}
	if err := s.Run(j, func(now study.SweepStatus) { calls, last = calls+1, now }); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if calls != 12 || last.Done != 10 || last.Total != 10 || last.Slowest == "" || last.Took <= 0 {
		t.Errorf("%d calls, the last with %+v: want 12 calls, 10 of 10 simulations and the slowest point", calls, last)
	}
}
