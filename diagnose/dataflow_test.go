package diagnose_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/diagnose"
)

// sample is one look at thread 1 of task t on node n.
func sample(ts float64, state string, stack ...string) diagnose.Sample {
	return diagnose.Sample{Time: ts, Node: "n", Task: "t", Thread: 1, State: state, Stack: stack}
}

func reconstruct(t *testing.T, v diagnose.Vertices, samples ...diagnose.Sample) diagnose.Dataflow {
	t.Helper()
	d, err := diagnose.Reconstruct(v, samples)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A method's instance reaches to its last sample, with what lies between; a
// range stops at the first sample with its end, or with its start's last where
// the end never comes.
func TestLocations(t *testing.T) {
	trace := []diagnose.Sample{
		sample(0, "RUNNABLE", "x.open"), sample(10, "RUNNABLE", "x.other"), sample(20, "WAITING", "x.open"),
		sample(30, "RUNNABLE", "x.close"), sample(40, "RUNNABLE", "x.open"), sample(50, "RUNNABLE", "x.close"),
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
		d := reconstruct(t, diagnose.Vertices{"v": c.locations}, trace...)
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
	v := diagnose.Hadoop().Vertices
	var samples []diagnose.Sample
	for task, node := range map[string]string{"m0": "n2", "m1": "n1", "m2": "n1"} {
		for thread, frame := range []string{"MapTask.run", "SpillThread.run"} {
			for ts := range 5 {
				samples = append(samples, diagnose.Sample{
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
		if got := reconstruct(t, v, samples...); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, want %+v", got, want)
		}
	}
}

func TestReconstructErrors(t *testing.T) {
	one := []diagnose.Sample{sample(0, "RUNNABLE")}
	for _, c := range []struct {
		v       diagnose.Vertices
		samples []diagnose.Sample
		want    string
	}{
		{nil, one, "vertices: none"},
		{diagnose.Vertices{"v": nil}, one, "vertices.v: no location"},
		{diagnose.Vertices{"v": {"a#"}}, one, `location "a#"`},
		{diagnose.Vertices{"v": {""}}, one, `location ""`},
		{diagnose.Vertices{"v": {"a"}}, []diagnose.Sample{sample(math.NaN(), "RUNNABLE")}, "samples[0].ts"},
	} {
		if _, err := diagnose.Reconstruct(c.v, c.samples); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// System records go to the instances of their node, both ends included.
func TestAttach(t *testing.T) {
	d := reconstruct(t, diagnose.Vertices{"v": {"f"}}, sample(10, "RUNNABLE", "f"), sample(30, "RUNNABLE", "f"))
	records := []diagnose.SystemRecord{
		{Time: 30, Node: "n", Value: 3}, {Time: 5, Node: "n"}, {Time: 10, Node: "n", Value: 1},
		{Time: 20, Node: "other", Value: 9}, {Time: 35, Node: "n"}, {Time: 20, Node: "n", Value: 2},
	}
	got := d.Attach(records)
	if len(got) != 1 || len(got[0]) != 3 {
		t.Fatalf("%v, want three records", got)
	}
	for i, r := range got[0] {
		if r.Value != float64(i+1) {
			t.Errorf("record %d has value %v, want %d: by time", i, r.Value, i+1)
		}
	}
}

func TestBreakdown(t *testing.T) {
	d := reconstruct(t, diagnose.Vertices{"v": {"run"}, "w": {"work"}},
		sample(0, "RUNNABLE", "read", "run"), sample(1, "WAITING", "wait", "run"),
		sample(2, "RUNNABLE", "read", "run"), sample(3, "RUNNABLE", "hash", "work"))
	want := []diagnose.VertexShare{
		{Vertex: "v", Samples: 3, IdlePart: 1.0 / 3, HotFrame: "read", HotPart: 2.0 / 3},
		{Vertex: "w", Samples: 1, HotFrame: "hash", HotPart: 1},
	}
	if got := d.Breakdown(); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestTimeline(t *testing.T) {
	d := reconstruct(t, diagnose.Vertices{"v": {"run"}},
		sample(10, "RUNNABLE", "main"), sample(20, "RUNNABLE", "run"), sample(40, "RUNNABLE", "run"), sample(50, "RUNNABLE", "main"))
	got, err := d.Timeline(0, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := []diagnose.Segment{{"t", "bootstrap", 0, 10}, {"t", "v", 20, 40}, {"t", "idle", 50, 100}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if _, err := d.Timeline(15, 100); err == nil || !strings.Contains(err.Error(), "task t: sampled from 10") {
		t.Errorf("a job that starts after its task: error %v", err)
	}
}

// A complete reconstruction of M maps and R reduces has 2M + 4R stages.
func TestHadoopSpecification(t *testing.T) {
	s := diagnose.Hadoop()
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	if n, err := s.ExpectedStages(100, 27); err != nil || n != 2*100+4*27 {
		t.Errorf("%d stages, %v, want %d", n, err, 2*100+4*27)
	}
	if _, err := s.ExpectedStages(100); err == nil {
		t.Error("one count for two pools: no error")
	}
	for _, c := range []struct {
		want   string
		change func(*diagnose.Specification)
	}{
		{"vertex spill: in 0 pools", func(s *diagnose.Specification) { s.Pools[0].Phases[0] = s.Pools[0].Phases[0][:1] }},
		{`unknown vertex "sift"`, func(s *diagnose.Specification) { s.Pools[0].Phases[0][0].Vertices[0] = "sift" }},
		{`unknown end "mop"`, func(s *diagnose.Specification) { s.Edges[0].To = "mop" }},
		{"a thread group runs 2 vertices", func(s *diagnose.Specification) { s.Pools[1].Phases[1][0].GroupSize = 3 }},
		{"vertex map: in 2 pools", func(s *diagnose.Specification) {
			s.Pools[0].Phases = append(s.Pools[0].Phases, s.Pools[0].Phases[0][:1])
		}},
	} {
		s := diagnose.Hadoop()
		c.change(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
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
		if _, err := diagnose.ShuffleGap(c.maps, c.shuffles, c.start, c.end); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	if _, err := diagnose.StageByNode([]diagnose.NodeRow{{Node: "a"}}); err == nil {
		t.Error("no time on any node: no error")
	}
}
