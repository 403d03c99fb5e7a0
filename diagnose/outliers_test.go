package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// replay ends the stage with the given tasks shortened to the median and later
// tasks of their slots moved up: the definition, task by task.
func replay(tasks []stageSlot, shorten []bool, median float64) float64 {
	end := math.Inf(-1)
	for i, t := range tasks {
		saved := 0.0
		for k, other := range tasks {
			if shorten[k] && other.Slot == t.Slot && (other.Start < t.Start || k == i) {
				saved += other.End - other.Start - median
			}
		}
		end = math.Max(end, t.End-saved)
	}
	return end
}

func TestOutliersAgainstReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tasks []stageSlot
		for slot := range rapid.IntRange(1, 6).Draw(t, "slots") {
			at := 0.0
			for range rapid.IntRange(1, 5).Draw(t, "tasks") {
				d := rapid.Float64Range(15, 25).Draw(t, "duration")
				if rapid.IntRange(0, 4).Draw(t, "long") == 0 {
					d *= 3
				}
				at += rapid.Float64Range(0, 5).Draw(t, "wait")
				tasks = append(tasks, stageSlot{Slot: fmt.Sprint("s", slot), Start: at, End: at + d})
				at += d
			}
		}
		tasks = rapid.Permutation(tasks).Draw(t, "order")
		o := defaultOutlierOptions()
		o.Method = rapid.SampledFrom(outlierMethods).Draw(t, "method")
		got, err := findOutliers(tasks, o)
		if err != nil {
			t.Fatal(err)
		}
		clipped := replay(tasks, got.Outlier, got.Median)
		if math.Abs(got.StageClipped-clipped) > 1e-9 {
			t.Errorf("clipped stage ends at %v, want %v", got.StageClipped, clipped)
		}
		for i := range tasks {
			if !got.Outlier[i] {
				if got.Gain[i] != 0 || got.Critical[i] {
					t.Errorf("task %d is no outlier but gains %v", i, got.Gain[i])
				}
				continue
			}
			others := slices.Clone(got.Outlier)
			others[i] = false
			if want := replay(tasks, others, got.Median) - clipped; math.Abs(got.Gain[i]-want) > 1e-9 {
				t.Errorf("restoring task %d costs %v, want %v", i, got.Gain[i], want)
			}
		}
	})
}

// Where nothing sets K, mad uses 3 and the others 1.5.
func TestOutlierDefaults(t *testing.T) {
	tasks := []stageSlot{{"a", 0, 10}, {"b", 0, 12}, {"c", 0, 14}, {"d", 0, 16}, {"e", 0, 18}}
	for method, want := range map[string]float64{
		"mad":           14 + 3*1.4826*2,
		"median_factor": 1.5 * 14,
		"iqr":           16 + 1.5*4,
	} {
		o := defaultOutlierOptions()
		o.Method = method
		if got, err := findOutliers(tasks, o); err != nil || math.Abs(got.Threshold-want) > 1e-12 {
			t.Errorf("%s: threshold %v, %v, want %v", method, got.Threshold, err, want)
		}
	}
}

func TestOutlierErrors(t *testing.T) {
	good := []stageSlot{{"a", 0, 10}}
	negative := -1.0
	for _, c := range []struct {
		tasks  []stageSlot
		change func(*outlierOptions)
		want   string
	}{
		{nil, func(*outlierOptions) {}, "tasks: none"},
		{[]stageSlot{{"a", 5, 4}}, func(*outlierOptions) {}, "tasks[0].end: 4"},
		{good, func(o *outlierOptions) { o.Method = "zscore" }, "method: unknown"},
		{good, func(o *outlierOptions) { o.K = &negative }, "k: -1"},
		{good, func(o *outlierOptions) { o.Gamma = math.NaN() }, "gamma: missing"},
	} {
		o := defaultOutlierOptions()
		c.change(&o)
		if _, err := findOutliers(c.tasks, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// Five critical tasks: four on one node are 80 %, three are not.
func TestCriticalFactsShare(t *testing.T) {
	on := func(nodes ...string) (tasks []taskInput) {
		for _, n := range nodes {
			tasks = append(tasks, taskInput{Node: n, Input: 64, Critical: true})
		}
		return append(tasks, taskInput{Node: "z", Input: 32})
	}
	f, err := criticalFacts(on("b", "a", "b", "b", "b"), 0.8)
	if err != nil || !f.SameNode || *f.Node != "b" || f.InputRatio != 2 || f.Critical != 5 {
		t.Errorf("%+v, %v, want node b", f, err)
	}
	if f, err = criticalFacts(on("b", "a", "b", "b", "a"), 0.8); err != nil || f.SameNode || f.Node != nil {
		t.Errorf("%+v, %v, want no node", f, err)
	}
	if f, err = criticalFacts(on("b", "a"), 0.5); err != nil || *f.Node != "a" {
		t.Errorf("%+v, %v, want the first by name of two equal nodes", f, err)
	}
	if _, err = criticalFacts(on("a"), 0); err == nil || !strings.Contains(err.Error(), "share: 0") {
		t.Errorf("share 0: error %v", err)
	}
	nothing := []taskInput{{Node: "a", Input: 1, Critical: true}, {Node: "b"}}
	if _, err = criticalFacts(nothing, 0.8); err == nil || !strings.Contains(err.Error(), "read nothing") {
		t.Errorf("others without input: error %v", err)
	}
}
