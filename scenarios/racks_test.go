package scenarios

import (
	"slices"
	"strings"
	"testing"
)

// A shipped scenario keeps its nodes per rack when the number of nodes is set.
func TestNodesPerRack(t *testing.T) {
	for _, c := range []struct {
		set   []string
		racks int
	}{
		{nil, 5},
		{[]string{"cluster.nodes=50"}, 3},
		{[]string{"cluster.nodes=7"}, 1},
		{[]string{"cluster.nodes=50", "cluster.racks=10"}, 10},
	} {
		f, err := OpenReading("delay-scheduling", Reading{}, c.set...)
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Scenario(1)
		if err != nil {
			t.Fatal(err)
		}
		q := &s.Runs[0].Question
		in := make([]int, len(q.Cluster.Racks))
		for _, n := range q.Cluster.Nodes {
			in[n.Rack]++
		}
		if len(in) != c.racks || slices.Max(in) > 20 {
			t.Errorf("%v: got racks of %v nodes: want %d racks of at most 20", c.set, in, c.racks)
		}
		warned := slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, "nodes_per_rack has no effect") })
		if warned != (len(c.set) == 2) {
			t.Errorf("%v: warnings %q", c.set, s.Warnings)
		}
	}
}

// A FairScheduler that the release does not have is an assumption.
func TestFairOfRelease(t *testing.T) {
	for _, c := range []struct {
		name, hadoop string
		assumed      bool
	}{
		{"fair1", "0.20.2", false}, {"fair2", "0.20.2", true}, {"fair1", "1.0.4", true}, {"fair2", "1.2.1", false},
		{"fair1", "ideal", false}, {"fair2", "ideal", false}, {"fifo", "1.2.1", false},
	} {
		f, err := OpenReading("two-jobs", Reading{}, "scheduler.name="+c.name, "cluster.hadoop="+c.hadoop)
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Scenario(1)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(strings.Join(s.Assumed, "\n"), "whose FairScheduler is"); got == 1 != c.assumed {
			t.Errorf("%s on %s: assumed %q", c.name, c.hadoop, s.Assumed)
		}
	}
}
