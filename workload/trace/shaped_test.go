package trace

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotwave/slotwave/workload"
)

// sampleJob is the job of the MRv1 sample with a configuration.
func sampleJob(t testing.TB, user string) workload.HistoryJob {
	j := readString(t, "log", mrv1Sample).Jobs[0]
	j.User = user
	j.Conf.Set("io.sort.mb", "100")
	j.Conf.Set("mapred.child.java.opts", "-server -Xmx640m -Djava.io.tmpdir=/home/ann/tmp")
	j.Conf.Set("mapred.jobtracker.taskScheduler", "org.apache.hadoop.mapred.FairScheduler")
	j.Conf.Set("fs.default.name", "hdfs://secret.example.com")
	return j
}

// TestAnonymise: nothing of the old names is left, and the same name gets the
// same new one.
func TestAnonymise(t *testing.T) {
	h := &workload.History{Epoch: 1262304000000, Jobs: []workload.HistoryJob{sampleJob(t, "ann"), sampleJob(t, "ann")}}
	h.Topology.Racks = []workload.Rack{{Name: "r1", Hosts: []string{"n1.x", "n2.x", "n3.x"}}}
	a := h.Anonymise(&workload.Names{Seed: 5})
	text := fmt.Sprintf("%+v", *a)
	for _, secret := range []string{"ann", "word", "etl", "n1.x", "n2.x", "n3.x", "r1", "secret", "java.io", "java.lang", "201001010000_0001_m"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is still there", secret)
		}
	}
	x, y := &a.Jobs[0], &a.Jobs[1]
	if x.User != y.User || x.User == "" || x.ID == y.ID {
		t.Errorf("users %q and %q, jobs %s and %s", x.User, y.User, x.ID, y.ID)
	}
	if got := x.Tasks[0].Attempts[0]; rackOf(&a.Topology, got.Node) != got.Rack || got.Locality != workload.NodeLocal || !slices.Contains(x.Tasks[0].Split.Hosts, got.Node) {
		t.Errorf("host %q in rack %q does not fit topology and splits", got.Node, got.Rack)
	}
	if got := x.Conf.Keys(); len(got) != 3 || x.Conf.String("mapred.child.java.opts", "") != "-Xmx640m" {
		t.Errorf("properties kept: %v", got)
	}
	if d := cmp.Diff(a.Jobs, h.Anonymise(&workload.Names{Seed: 5}).Jobs, cmp.AllowUnexported(workload.Conf{})); d != "" {
		t.Errorf("not the same again: %s", d)
	}
	if b := h.Anonymise(&workload.Names{Seed: 6}); b.Jobs[0].User == x.User {
		t.Error("another seed gives the same names")
	}
}

// Machines and racks keep their order, so that a replay numbers its nodes alike.
func TestAnonymiseKeepsOrder(t *testing.T) {
	h := readString(t, "log", mrv1Sample)
	h.Topology.Listed = map[string]bool{h.Jobs[0].Tasks[0].Attempts[0].Node: true}
	places := func(h *workload.History) (places []int) {
		var hosts []string
		for _, rack := range h.Topology.Racks {
			hosts = append(hosts, rack.Hosts...)
		}
		for _, a := range h.Each() {
			places = append(places, slices.Index(hosts, a.Node))
		}
		return places
	}
	for seed := range 20 {
		a := h.Anonymise(&workload.Names{Seed: workload.Seed(seed)})
		var b bytes.Buffer
		if err := writeRumen(&b, a); err != nil {
			t.Fatal(err)
		}
		again := readString(t, "trace.json", b.String())
		if got, want := places(again), places(h); !slices.Equal(got, want) {
			t.Errorf("seed %d: attempts on machines %v: want %v", seed, got, want)
		}
		if !a.Topology.Listed[a.Jobs[0].Tasks[0].Attempts[0].Node] || len(a.Topology.Listed) != 1 {
			t.Errorf("seed %d: got %v: want the listed machine", seed, a.Topology.Listed)
		}
	}
}

// TestScaleHistory keeps widths and selectivities.
func TestScaleHistory(t *testing.T) {
	j := sampleJob(t, "ann")
	h := workload.History{Jobs: []workload.HistoryJob{j}}
	if err := h.Shape(&workload.Shaping{ScaleJobs: 1, ScaleTime: 1, ScaleBytes: 10}); err != nil {
		t.Fatal(err)
	}
	s := h.Jobs[0]
	was, now := j.Tasks[0].Winner(), s.Tasks[0].Winner()
	if now.HDFSReadBytes != 770 || now.InRecords != 70 || now.InBytes != workload.Unknown || was.HDFSReadBytes != 77 {
		t.Errorf("scaled %+v from %+v", now.Counters, was.Counters)
	}
}
