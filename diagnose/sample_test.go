package diagnose

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// The records of a run, read back, have the phases of its attempts: shares within
// a point, and every vertex of every task.
func TestWriteSamples(t *testing.T) {
	p := newTestRun()
	p.each(func(a *workload.HistoryAttempt) {
		if a.Kind == workload.Reduce {
			a.WaitFetch, a.WaitMemory = a.Phases[workload.PhaseShuffle]/2, a.Phases[workload.PhaseShuffle]/5
		}
	})
	in := p.input()
	in.Resources = p.resources
	var b bytes.Buffer
	if err := WriteSamples(&b, in, Sampling{Tasks: 20 * time.Millisecond, System: 5 * time.Second}); err != nil {
		t.Fatal(err)
	}
	r := NewReconstruction(loadSpec(t, "hadoop"))
	if err := r.Read(&b, "samples.csv"); err != nil {
		t.Fatal(err)
	}
	d := r.Dataflow()
	if n := len(d.Instances); n != 200+200+40*5+40 || len(d.problems.counts) > 0 {
		t.Errorf("%d executions, want those of 200 maps and their spill threads, 40 reduces and their 5 copiers; problems %v", n, d.problems.counts)
	}
	// A map reads and maps size/20 and size/10 s and spills size/40.
	for _, c := range []struct {
		vertex, class, name string
		percent             float64
	}{
		{"map", "main", mapRed + "MapTask$TrackedRecordReader.next", 100 * (1.0 / 20) / (1.0/20 + 1.0/10 + 1.0/40)},
		{"map", "main", "Mapper.map", 100 * (1.0 / 10) / (1.0/20 + 1.0/10 + 1.0/40)},
		{"map", "main", mapRed + "MapTask$MapOutputBuffer.flush", 100 * (1.0 / 40) / (1.0/20 + 1.0/10 + 1.0/40)},
		{"spill", "SpillThread", "WAITING", 100},
		{"copier", "MapOutputCopier", "WAITING", 70},
		{"copier", "MapOutputCopier", mapRed + "ReduceTask$ReduceCopier$MapOutputCopier.copyOutput", 30},
		{"copier", "MapOutputCopier", mapRed + "ReduceTask$ReduceCopier$ShuffleRamManager.reserve", 20},
		{"reduce", "main", "BLOCKED", 50},
	} {
		if got := 100 * d.share(c.vertex, c.class, c.name); math.Abs(got-c.percent) > 1 {
			t.Errorf("%s of %s: %.2f %% %s, want %.2f", c.class, c.vertex, got, c.name, c.percent)
		}
	}
	if s := d.system[seriesKey{"n3", "disk", "disk0"}]; s == nil || len(*s) < 30 || math.Abs((*s)[3][1]-0.6) > 1e-3 {
		t.Errorf("readings of a disk: %v, want 0.6 each 5 s", s)
	}
}

// The records of a thread follow its spans: a thread that computes while its files
// are written behind runs, and one whose stream is full is blocked; a copier waits
// for memory or for work with Object.wait.
func TestWriteSamplesOfSpans(t *testing.T) {
	w := &world{}
	w.job("j", 0, 60*s)
	w.attempt(workload.Map, "n1", 0, 5*s, 6*s, 26*s)
	w.attempt(workload.Reduce, "n2", 0, 5*s, 10*s, 60*s)
	for _, sp := range []model.Span{
		{Phase: workload.PhaseRead, Device: "disk0", Begin: 6 * s, End: 16 * s},
		{Phase: workload.PhaseSpill, Wait: model.WaitSpill, Begin: 16 * s, End: 21 * s},
		{Phase: workload.PhaseSpill, Device: "cpu", Begin: 21 * s, End: 26 * s},
		{Thread: model.SpillThread, Phase: workload.PhaseSpill, Device: "disk0", Begin: 11 * s, End: 21 * s},
	} {
		w.span(workload.Map, 0, sp)
	}
	for _, sp := range []model.Span{
		{Phase: workload.PhaseShuffle, Wait: model.WaitFetch, Begin: 10 * s, End: 30 * s},
		{Thread: model.CopierThread, Phase: workload.PhaseShuffle, Wait: model.WaitMemory, Begin: 12 * s, End: 16 * s},
		{Thread: model.CopierThread, Phase: workload.PhaseShuffle, Device: "network-in", Begin: 16 * s, End: 26 * s},
		{Thread: model.MemoryMergeThread, Phase: workload.PhaseShuffle, Device: "cpu", Begin: 20 * s, End: 25 * s},
		{Phase: workload.PhaseReduce, Device: "cpu", Begin: 30 * s, End: 40 * s},
		{Phase: workload.PhaseWrite, Device: "disk0", Begin: 30 * s, End: 60 * s},
	} {
		w.span(workload.Reduce, 0, sp)
	}
	var b bytes.Buffer
	if err := WriteSamples(&b, w.input(), Sampling{Tasks: 100 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	r := NewReconstruction(loadSpec(t, "hadoop"))
	if err := r.Read(&b, "samples.csv"); err != nil {
		t.Fatal(err)
	}
	d := r.Dataflow()
	for _, c := range []struct {
		vertex, class, name string
		percent             float64
	}{
		{"map", "main", mapRed + "MapTask$TrackedRecordReader.next", 50},
		{"map", "main", "WAITING", 25},
		{"map", "main", mapRed + "MapTask$MapOutputBuffer.flush", 50},
		{"spill", "SpillThread", "RUNNABLE", 50},
		{"copier", "MapOutputCopier", mapRed + "ReduceTask$ReduceCopier$MapOutputCopier.copyOutput", 10}, // one of five copiers, half of the time
		{"copier", "MapOutputCopier", mapRed + "ReduceTask$ReduceCopier$ShuffleRamManager.reserve", 4},
		{"copier", "MapOutputCopier", "WAITING", 90},
		{"merge", "Thread for merging in memory files", "WAITING", 75},
		{"merge", "Thread for merging on-disk files", "WAITING", 100},
		{"reduce", "main", "RUNNABLE", 100.0 / 3},
		{"reduce", "main", "BLOCKED", 200.0 / 3},
	} {
		if got := 100 * d.share(c.vertex, c.class, c.name); math.Abs(got-c.percent) > 0.5 {
			t.Errorf("%s of %s: %.2f %% %s, want %.2f", c.class, c.vertex, got, c.name, c.percent)
		}
	}
}

// The samples of a job of Hive have its five stages in a map and four in a reduce
// (HiTune, figures 21 to 24), those of compressed output have the frames of the codec as
// often as it takes time, and the text has the use of devices and the gap of the shuffle.
func TestWriteSamplesOfHive(t *testing.T) {
	w := &world{}
	w.job("j", 0, 60*s)
	w.attempt(workload.Map, "n1", 0, 5*s, 6*s, 28*s).OutBytes = 70e6
	w.attempt(workload.Reduce, "n1", 0, 5*s, 10*s, 60*s)
	for _, sp := range []model.Span{
		{Phase: workload.PhaseStartup, Begin: 6 * s, End: 7 * s},
		{Phase: workload.PhaseMap, Device: "cpu", Begin: 7 * s, End: 22 * s},
		{Phase: workload.PhaseSpill, Device: "cpu", Begin: 22 * s, End: 26 * s, Own: 4 * s},
		{Phase: workload.PhaseCommit, Wait: model.WaitCommit, Begin: 26 * s, End: 28 * s}, // in a method of reduce-close
	} {
		w.span(workload.Map, 0, sp)
	}
	for _, sp := range []model.Span{
		{Phase: workload.PhaseShuffle, Wait: model.WaitFetch, Begin: 10 * s, End: 30 * s},
		{Phase: workload.PhaseMerge, Device: "disk0", Begin: 30 * s, End: 34 * s},
		{Phase: workload.PhaseReduce, Device: "cpu", Begin: 34 * s, End: 58 * s},
		{Phase: workload.PhaseCommit, Wait: model.WaitCommit, Begin: 58 * s, End: 60 * s},
	} {
		w.span(workload.Reduce, 0, sp)
	}
	var conf workload.Conf
	conf.Set("mapred.compress.map.output", "true")
	conf.Set("mapred.child.java.opts", "-Xmx1g")
	w.question = &model.WhatIf{
		Cluster: model.Cluster{Conf: conf, Nodes: []model.Node{{Name: "n1"}}, Machines: []model.Machine{{Speed: 1, Memory: 4 << 30}}},
		Jobs:    []workload.Job{{ID: "j", Program: "hive-aggregation"}},
	}
	var b bytes.Buffer
	if err := WriteSamples(&b, w.input(), Sampling{Tasks: 100 * time.Millisecond, System: 5 * s}); err != nil {
		t.Fatal(err)
	}
	r := NewReconstruction(loadSpec(t, "hive"))
	if err := r.Read(&b, "samples.csv"); err != nil {
		t.Fatal(err)
	}
	d := r.Dataflow()
	var vertices []string
	for _, s := range d.Stages {
		if s.Vertex != "copier" && s.Vertex != "spill" && s.Vertex != "merge" {
			vertices = append(vertices, s.Vertex)
		}
	}
	want := "map-init map-hive-init map-hive-active map-hive-close map-close sort reduce-hive-init reduce-hive-active reduce-hive-close reduce-close"
	if got := strings.Join(vertices, " "); got != want {
		t.Errorf("stages %s, want %s", got, want)
	}
	// 70 MB at 35 MB/s of zlib are 2 of the 4 s of the spill.
	if got := d.share("map-close", "main", "org.apache.hadoop.io.compress.zlib.ZlibCompressor.compress"); math.Abs(got-0.5) > 0.02 {
		t.Errorf("%.3f of the spill in the codec, want half", got)
	}
	if series := d.system[seriesKey{"n1", "memory", "heaps"}]; series == nil || (*series)[3][1] != 0.5 || (*series)[9][1] != 0.25 {
		t.Errorf("memory %v, want the heaps of two attempts of 1 GiB in 4 GiB at 20 s and of one at 50 s", series)
	}
	var text strings.Builder
	d.system[seriesKey{"n1", "rare", "heaps"}] = &Series{{-1, 5}}
	d.useText(&text)
	if strings.Contains(text.String(), "NaN") || !strings.Contains(text.String(), "  -\n") {
		t.Errorf("got %s: want a dash where no sample fell", text.String())
	}
	for _, want := range []string{"use while it runs", "memory", "0.25", "The first phase of Reduce ends 2.0 s after the last Map, 3.7 %"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in %s", want, text.String())
		}
	}
}
