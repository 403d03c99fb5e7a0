package sensitivity

import (
	"slices"
	"testing"

	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/search"
)

// A changed input gives the makespan of a scenario that states its value.
func TestLeversAreSettings(t *testing.T) {
	s, err := study.Open("../../scenarios/sonata-two-spills.toml", study.Options{Seed: 1, Replications: 2, Set: []string{
		"conf.io.sort.mb=250", "cluster.nodes=2", "job.0.input=4 GB", "job.0.reduces=64", "cluster.costs.setup=1s",
	}})
	if err != nil {
		t.Fatal(err)
	}
	levers, err := leversOf(s, &s.Scenario.Runs[0].Question, 0.2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ lever, to, set string }{
		{"mapred.reduce.slowstart.completed.maps", "0.05", "job.0.conf.mapred.reduce.slowstart.completed.maps=0.05"},
		{"reduces", "1.2 times", "job.0.reduces=77"},
		{"cluster.costs.setup", "1.2 times", "cluster.costs.setup=1.2s"},
		{"speed", "0.8 times", "cluster.cpu_slowdown=1.25"},
		{"cluster.reduce_slots", "31", "cluster.reduce_slots=31"},
	} {
		k := slices.IndexFunc(levers, func(l lever) bool { return l.name == c.lever })
		if k < 0 {
			t.Errorf("%s is not changed", c.lever)
			continue
		}
		e := slices.IndexFunc(levers[k].ends, func(e end) bool { return e.to == c.to })
		if e < 0 {
			t.Errorf("%s is not set to %s: %+v", c.lever, c.to, levers[k])
			continue
		}
		base, times, err := pull(s, []lever{{ends: levers[k].ends[e : e+1]}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.File.With(c.set)
		if err != nil {
			t.Fatal(err)
		}
		set, err := f.Scenario(1)
		if err != nil {
			t.Fatal(err)
		}
		want, err := search.TimeTaken(&set.Runs[0].Question)
		if err != nil {
			t.Fatal(err)
		}
		if got := times[0][0]; got != want || got == base[0] {
			t.Errorf("%s %s: %v s; the scenario with %s takes %v s, without %v s", c.lever, c.to, got, c.set, want, base[0])
		}
	}
}
