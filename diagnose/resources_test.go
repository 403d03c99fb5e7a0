package diagnose_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/diagnose"
)

func constant(v float64) diagnose.Series { return diagnose.Series{{0, v}, {50, v}, {100, v}} }

func TestCompareNodesErrors(t *testing.T) {
	good := map[string]diagnose.Series{"a": constant(1)}
	for _, c := range []struct {
		series map[string]diagnose.Series
		t0, t1 float64
		k      float64
		want   string
	}{
		{nil, 0, 1, 3, "series: no node"},
		{good, 10, 20, 3, "series.a: no reading from 10 to 20"},
		{good, 20, 10, 3, "t1: 10: want 20 or more"},
		{good, 0, 100, -1, "k: -1"},
		{map[string]diagnose.Series{"a": {{0, math.NaN()}}}, 0, 1, 3, "series.a[0]: missing"},
	} {
		o := diagnose.DefaultResourceOptions()
		o.K = c.k
		if _, err := diagnose.CompareNodes(c.series, c.t0, c.t1, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	got, err := diagnose.CompareNodes(good, 0, 100, diagnose.DefaultResourceOptions())
	if err != nil || got["a"].Class != "normal" {
		t.Errorf("one node: %v, %v, want it normal", got, err)
	}
}

func TestComparePhasesErrors(t *testing.T) {
	a, b := diagnose.Phases{"read": 1, "map": 2}, diagnose.Phases{"read": 1}
	for _, c := range []struct {
		tasks []diagnose.Phases
		index int
		want  string
	}{
		{[]diagnose.Phases{a}, 0, "tasks: 1: want two"},
		{[]diagnose.Phases{a, a}, 2, "index: 2"},
		{[]diagnose.Phases{a, a}, -1, "index: -1"},
		{[]diagnose.Phases{a, b}, 0, "tasks[1].map: missing"},
		{[]diagnose.Phases{a, {"read": 0, "map": 0}}, 0, "tasks[1]: no time"},
		{[]diagnose.Phases{a, {"read": -1, "map": 0}}, 0, "tasks[1].read: -1"},
	} {
		if _, err := diagnose.ComparePhases(c.tasks, c.index, diagnose.DefaultPhaseOptions()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	if _, err := diagnose.MeanPhases(nil); err == nil {
		t.Error("no tasks: no error")
	}
	mean, err := diagnose.MeanPhases([]diagnose.Phases{{"read": 1, "map": 2}, {"read": 3, "map": 6}})
	if err != nil || !reflect.DeepEqual(mean, diagnose.Phases{"read": 2, "map": 4}) {
		t.Errorf("%v, %v", mean, err)
	}
}

// Four nodes, two tasks each. The second task of n2 takes three times as long,
// in its spill, while the disk of n2 carries twice the load of the others'; the
// CPU of n3 is saturated all the time.
func TestCorrelate(t *testing.T) {
	var tasks []diagnose.StageTask
	for i, node := range []string{"n1", "n2", "n3", "n4", "n1", "n2", "n3", "n4"} {
		start := float64(i / 4 * 20)
		s := diagnose.StageTask{
			Task: diagnose.Task{Slot: node + "/0", Start: start, End: start + 20}, ID: string(rune('a' + i)), Node: node, Input: 64,
			Phases: diagnose.Phases{"map": 12, "spill": 4, "write": 4},
		}
		if i == 5 {
			s.End, s.Phases = start+60, diagnose.Phases{"map": 12, "spill": 44, "write": 4}
		}
		tasks = append(tasks, s)
	}
	full := 0.95
	cpu := diagnose.DefaultResourceOptions()
	cpu.Saturation = &full
	resources := []diagnose.Resource{
		{Name: "cpu", Options: cpu, Nodes: map[string]diagnose.Series{
			"n1": constant(0.9), "n2": constant(0.9), "n3": constant(0.97), "n4": constant(0.9)}},
		{Name: "disk", Options: diagnose.DefaultResourceOptions(), Nodes: map[string]diagnose.Series{
			"n1": constant(50), "n2": constant(100), "n3": constant(50), "n4": constant(50)}},
	}
	o := diagnose.DefaultCorrelateOptions()
	got, err := diagnose.Correlate(tasks, resources, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Tasks) != 1 || got.Tasks[0].ID != "f" || !reflect.DeepEqual(got.Tasks[0].Phases, []string{"spill"}) {
		t.Errorf("critical tasks %+v, want f for its spill", got.Tasks)
	}
	if u := got.Tasks[0].Resources; len(u) != 1 || u[0].Resource != "disk" || u[0].Class != "over" || u[0].Node != "n2" {
		t.Errorf("unusual while f ran: %+v, want the disk of n2", u)
	}
	if !got.Facts.SameNode || *got.Facts.Node != "n2" {
		t.Errorf("facts %+v, want node n2", got.Facts)
	}
	if len(got.Between) != 1 || got.Between[0].Node != "n2" {
		t.Errorf("between nodes: %+v, want n2", got.Between)
	}
	if len(got.Within) != 1 || got.Within[0].Node != "n3" || !got.Within[0].Saturated {
		t.Errorf("within nodes: %+v, want n3", got.Within)
	}
	if len(got.Average) != 0 {
		t.Errorf("phases of the average task: %v, want none", got.Average)
	}

	// Without an outlier the cluster and the average task are still looked at.
	tasks[5].End, tasks[5].Phases = tasks[5].Start+20, tasks[4].Phases
	for i := range tasks {
		tasks[i].Phases = diagnose.Phases{"map": 2, "spill": 14, "write": 4}
	}
	if got, err = diagnose.Correlate(tasks, resources, o); err != nil || len(got.Tasks) != 0 || len(got.Between) != 1 ||
		!reflect.DeepEqual(got.Average, []string{"spill"}) {
		t.Errorf("%+v, %v, want the disk of n2 and the spill of the average task", got, err)
	}
	if _, err = diagnose.Correlate(nil, nil, o); err == nil || !strings.Contains(err.Error(), "tasks: none") {
		t.Errorf("no tasks: error %v", err)
	}
}
