package sweep_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/slotwave/slotwave/results/points"
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

// A point that needs more replications gets half as many again, at least one, up to the
// most.
func TestReplicationsGrow(t *testing.T) {
	s, err := sweep.Open(smallPoints(t, 2), sweep.Options{Replications: 1})
	if err != nil {
		t.Fatal(err)
	}
	s.File.MaxReplications = 10
	asked := map[int]bool{}
	s.Enough = func(runs []points.Replication) bool { asked[len(runs)] = true; return false }
	j, err := s.OpenJournal(t.TempDir(), resultdir.Build{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Run(j, nil), j.Close()); err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(maps.Keys(asked)), []int{1, 2, 3, 4, 6, 9}; !slices.Equal(got, want) || len(s.Runs(1)) != 10 {
		t.Errorf("asked after %d replications, and made %d: want %d and 10", got, len(s.Runs(1)), want)
	}
}
