package diagnose

import (
	"bytes"
	"math"
	"testing"
	"time"

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
		{"copier", "MapOutputCopier", "WAITING", 50},
		{"copier", "MapOutputCopier", "BLOCKED", 20},
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
