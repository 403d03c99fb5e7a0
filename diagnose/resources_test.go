package diagnose

import (
	"math"
	"strings"
	"testing"
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
