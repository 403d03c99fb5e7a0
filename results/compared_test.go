package results

import (
	"slices"
	"testing"

	"github.com/slotwave/slotwave/results/text"
)

// A table of several runs shows what differs, each figure once.
func TestComparedFiguresDiffer(t *testing.T) {
	run := func(makespan, mean int64, local text.Share) *Summary {
		s := &Summary{Makespan: Estimate{Mean: makespan}, Groups: []Group{{By: "pool", Rows: []GroupRow{
			{Name: "long", Jobs: 1, Mean: makespan}, {Name: "small", Jobs: 9, Mean: mean, Local: &local},
		}}}}
		s.Jobs.Mean, s.Jobs.Max, s.Jobs.P95 = Estimate{Mean: 5e9}, Estimate{Mean: makespan}, Estimate{Mean: 9e9}
		return s
	}
	runs := []*Summary{run(100e9, 20e9, 0.25), run(90e9, 10e9, 1)}
	var labels []string
	for _, c := range differing(comparedColumns(runs), runs) {
		labels = append(labels, c.label)
	}
	// The mean and the percentile of all jobs are the same; the longest job and the
	// pool of one job repeat the makespan.
	want := []string{"makespan", "mean, pool small", "node-local, pool small"}
	if !slices.Equal(labels, want) {
		t.Errorf("columns %q, want %q", labels, want)
	}
	same := []*Summary{runs[0], runs[0]}
	if kept := differing(comparedColumns(same), same); len(kept) != 1 || kept[0].label != "makespan" {
		t.Errorf("equal runs: %d columns, want the makespan alone", len(kept))
	}
	// The answer of several runs comes first, beside the makespan of a run without one.
	runs[1].Interval = &Interval{N: 9, Mean: 80e9}
	columns := differing(comparedColumns(runs), runs)
	if got, want := columns[0].cells(runs), []string{"answer\tratio", "1 min 40 s\t1.000", "1 min 20 s\t0.800"}; !slices.Equal(got, want) || columns[1].label != "makespan" || columns[1].ratio {
		t.Errorf("columns %q and %+v, want %q and the makespan without its ratio", got, columns[1], want)
	}
}
