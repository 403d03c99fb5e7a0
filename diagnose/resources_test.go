package diagnose

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/workload"
)

func constant(v float64) Series { return Series{{0, v}, {50, v}, {100, v}} }

func TestCompareNodesErrors(t *testing.T) {
	good := map[string]Series{"a": constant(1)}
	for _, c := range []struct {
		series map[string]Series
		t0, t1 float64
		k      float64
		want   string
	}{
		{nil, 0, 1, 3, "series: no node"},
		{good, 10, 20, 3, "series.a: no reading from 10 to 20"},
		{good, 20, 10, 3, "t1: 10: want 20 or more"},
		{good, 0, 100, -1, "k: -1"},
		{map[string]Series{"a": {{0, math.NaN()}}}, 0, 1, 3, "series.a[0]: missing"},
	} {
		o := defaultResourceOptions()
		o.K = c.k
		if _, err := compareNodes(c.series, c.t0, c.t1, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	got, err := compareNodes(good, 0, 100, defaultResourceOptions())
	if err != nil || got["a"].Class != "normal" {
		t.Errorf("one node: %v, %v, want it normal", got, err)
	}
}

func TestComparePhasesErrors(t *testing.T) {
	a, b := phaseTimes{"read": 1, "map": 2}, phaseTimes{"read": 1}
	for _, c := range []struct {
		tasks []phaseTimes
		index int
		want  string
	}{
		{[]phaseTimes{a}, 0, "tasks: 1: want two"},
		{[]phaseTimes{a, a}, 2, "index: 2"},
		{[]phaseTimes{a, a}, -1, "index: -1"},
		{[]phaseTimes{a, b}, 0, "tasks[1].map: missing"},
		{[]phaseTimes{a, {"read": 0, "map": 0}}, 0, "tasks[1]: no time"},
		{[]phaseTimes{a, {"read": -1, "map": 0}}, 0, "tasks[1].read: -1"},
	} {
		if _, err := comparePhases(c.tasks, c.index, defaultPhaseOptions()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// The fall of the processors during a critical map is that from its first third to its
// last. After the end of the table of devices its last reading goes on.
func TestFallOfProcessors(t *testing.T) {
	for _, c := range []struct {
		name string
		use  func(u *Usage, third bool) (kept bool)
		want bool
	}{
		{"busy as before", func(*Usage, bool) bool { return true }, false},
		{"idle in the last third", func(u *Usage, third bool) bool {
			if third {
				u.Busy = 0.1
			}
			return true
		}, true},
		{"no reading in the last third", func(_ *Usage, third bool) bool { return !third }, false},
	} {
		p := newTestRun()
		p.slow(4, func(a *workload.HistoryAttempt) bool { return a.Kind == workload.Map && a.Task == 199 }, workload.PhaseMap)
		slow := p.jobs[0].Tasks[199].Attempts[0]
		last := slow.Finish - (slow.Finish-slow.Start)/3
		var rows []Usage
		for _, u := range p.resources {
			if u.Device != "cpu" || c.use(&u, u.Time >= last) {
				rows = append(rows, u)
			}
		}
		p.resources = rows
		found := slices.ContainsFunc(p.diagnose(t).Findings, func(f Finding) bool { return f.Rule == "R11" })
		if found != c.want {
			t.Errorf("%s: R11 holds: %v, want %v", c.name, found, c.want)
		}
	}
}
