package diagnose

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// look is one look at thread 1 of task t on node n.
func look(ts float64, state string, stack ...string) sample {
	return sample{Time: ts, Node: "n", Task: "t", Thread: 1, State: state, Stack: stack}
}

func reconstruct(t *testing.T, v map[string][]string, samples ...sample) *Dataflow {
	t.Helper()
	d, err := dataflowQuestion{v, samples}.answer()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A method's instance reaches to its last sample, with what lies between; a
// range stops at the first sample with its end, or with its start's last where
// the end never comes.
func TestLocations(t *testing.T) {
	trace := []sample{
		look(0, "RUNNABLE", "x.open"), look(10, "RUNNABLE", "x.other"), look(20, "WAITING", "x.open"),
		look(30, "RUNNABLE", "x.close"), look(40, "RUNNABLE", "x.open"), look(50, "RUNNABLE", "x.close"),
	}
	for _, c := range []struct {
		locations  []string
		start, end float64
		samples    int
	}{
		{[]string{"open"}, 0, 40, 5},
		{[]string{"x.open"}, 0, 40, 5},
		{[]string{"open#close"}, 0, 30, 4},
		{[]string{"close#never"}, 30, 50, 3},
		{[]string{"open#open"}, 0, 0, 1},
		{[]string{"never", "close"}, 30, 50, 3},
		{[]string{"never", "never#close"}, 0, 0, 0},
		{[]string{"pen"}, 0, 0, 0}, // part of a name is no name
	} {
		d := reconstruct(t, map[string][]string{"v": c.locations}, trace...)
		if c.samples == 0 {
			if len(d.Instances) != 0 {
				t.Errorf("%v: %+v, want none", c.locations, d.Instances)
			}
			continue
		}
		if len(d.Instances) != 1 || d.Instances[0].Start != c.start || d.Instances[0].End != c.end || d.Instances[0].Samples != c.samples {
			t.Errorf("%v: %+v, want %v to %v in %d samples", c.locations, d.Instances, c.start, c.end, c.samples)
		}
	}
}

// The order of the samples in the file does not matter, nor that of the map of
// vertices.
func TestReconstructOrder(t *testing.T) {
	v := hadoopVertices(t)
	var samples []sample
	for task, node := range map[string]string{"m0": "n2", "m1": "n1", "m2": "n1"} {
		for thread, frame := range []string{"MapTask.run", "SpillThread.run"} {
			for ts := range 5 {
				samples = append(samples, sample{
					Time: float64(20 * ts), Node: node, Task: task, Thread: thread, State: "BLOCKED", Stack: []string{frame},
				})
			}
		}
	}
	want := reconstruct(t, v, samples...)
	if len(want.Instances) != 6 || len(want.Stages) != 6 || want.Stages[0].IdlePart != 1 {
		t.Fatalf("%+v", want)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		r.Shuffle(len(samples), func(i, j int) { samples[i], samples[j] = samples[j], samples[i] })
		got := reconstruct(t, v, samples...)
		if !reflect.DeepEqual(got.Instances, want.Instances) || !reflect.DeepEqual(got.Stages, want.Stages) {
			t.Fatalf("%+v, want %+v", got, want)
		}
	}
}

func TestReconstructErrors(t *testing.T) {
	one := []sample{look(0, "RUNNABLE")}
	for _, c := range []struct {
		v       map[string][]string
		samples []sample
		want    string
	}{
		{nil, one, "vertices: none"},
		{map[string][]string{"v": nil}, one, "vertices.v: no location"},
		{map[string][]string{"v": {"a#"}}, one, `location "a#"`},
		{map[string][]string{"v": {""}}, one, `location ""`},
		{map[string][]string{"v": {"a"}}, []sample{look(math.NaN(), "RUNNABLE")}, "samples[0].ts"},
	} {
		if _, err := (dataflowQuestion{c.v, c.samples}).answer(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

func hadoopVertices(t *testing.T) map[string][]string {
	s, err := LoadSpecification("hadoop")
	if err != nil {
		t.Fatal(err)
	}
	v := map[string][]string{}
	for _, vertex := range s.vertices {
		for _, l := range vertex.locations {
			v[vertex.id] = append(v[vertex.id], strings.TrimSuffix(l.from+"#"+l.to, "#"))
		}
	}
	return v
}

func TestBreakdown(t *testing.T) {
	d := reconstruct(t, map[string][]string{"v": {"run"}, "w": {"work"}},
		look(0, "RUNNABLE", "read", "run"), look(1, "WAITING", "wait", "run"),
		look(2, "RUNNABLE", "read", "run"), look(3, "RUNNABLE", "hash", "work"))
	for _, c := range []struct {
		vertex, name string
		want         float64
	}{
		{"v", "RUNNABLE", 2.0 / 3}, {"v", "WAITING", 1.0 / 3}, {"v", "read", 2.0 / 3}, {"v", "wait", 1.0 / 3},
		{"w", "RUNNABLE", 1}, {"w", "hash", 1}, {"w", "read", 0},
	} {
		if got := d.share(c.vertex, "", c.name); got != c.want {
			t.Errorf("%s %s: %v, want %v", c.vertex, c.name, got, c.want)
		}
	}
}

func TestTimeline(t *testing.T) {
	d := reconstruct(t, map[string][]string{"v": {"run"}},
		look(10, "RUNNABLE", "main"), look(20, "RUNNABLE", "run"), look(40, "RUNNABLE", "run"), look(50, "RUNNABLE", "main"))
	want := []segment{{"t", "n", "bootstrap", 0, 10}, {"t", "n", "v", 20, 40}, {"t", "n", "idle", 50, 100}}
	if got := d.timeline(0, 100); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestShuffleGapErrors(t *testing.T) {
	for _, c := range []struct {
		maps, shuffles []float64
		start, end     float64
		want           string
	}{
		{nil, []float64{1}, 0, 1, "map_ends: none"},
		{[]float64{1}, nil, 0, 1, "shuffle_ends: none"},
		{[]float64{1}, []float64{1}, 5, 5, "job_end: 5: want more than 5"},
		{[]float64{math.NaN()}, []float64{1}, 0, 5, "map_ends[0]: missing"},
	} {
		if _, err := shuffleGap(c.maps, c.shuffles, c.start, c.end); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	if _, err := stageByNode([]nodeRow{{Node: "a"}}); err == nil {
		t.Error("no time on any node: no error")
	}
}
