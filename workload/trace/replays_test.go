package trace

import (
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// TestReplayGridmix replays a recorded cluster: every job and task once, the
// gaps between submissions kept, and the cluster's settings at hand.
func TestReplayGridmix(t *testing.T) {
	h := mustOpen(t, shared(t, "gridmix-traces/trace_5m.json.gz"))
	r := replay(t, h, workload.ReplayOptions{})
	if len(r.Jobs) != len(h.Jobs) {
		t.Fatalf("%d jobs of %d", len(r.Jobs), len(h.Jobs))
	}
	for i, j := range r.Jobs {
		was := &h.Jobs[i]
		if j.ID != was.ID || j.Submit != was.Submit {
			t.Errorf("%s submitted at %v, was %s at %v", j.ID, j.Submit, was.ID, was.Submit)
		}
		if j.Maps.Count != was.Maps || j.Reduces.Count != was.Reduces {
			t.Errorf("%s: %d + %d tasks, was %d + %d", j.ID, j.Maps.Count, j.Reduces.Count, was.Maps, was.Reduces)
		}
		for k := range j.Reduces.Count {
			w := was.Tasks[j.Maps.Count+k].Winner()
			end := max(w.Start, was.LastMap()) + j.Reduces.Shuffle.Each[k] + j.Reduces.Sort.Each[k] + j.Reduces.Time.Each[k]
			if end != w.Finish {
				t.Errorf("%s reduce %d ends at %v, was %v", j.ID, k, end, w.Finish)
			}
		}
	}
	common := h.Common()
	for key, want := range map[string]string{
		"mapred.tasktracker.map.tasks.maximum":    "4",
		"mapred.tasktracker.reduce.tasks.maximum": "2",
		"mapred.jobtracker.taskScheduler":         "org.apache.hadoop.mapred.CapacityTaskScheduler",
		"io.sort.mb":                              "256",
		"io.sort.spill.percent":                   "0.95",
		"dfs.block.size":                          "134217728",
		"mapred.reduce.parallel.copies":           "30",
	} {
		if got := common.String(key, ""); got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
}

// TestReplaySimulated: of a simulated run the start of the JVM and the commit
// are known, and come off by themselves. The map ran 9 to 14 with 1 s of start;
// the reduce began at 6, the last map ended at 14, the shuffle at 15, the sort
// at 16, the reduce with its output at 20.
func TestReplaySimulated(t *testing.T) {
	j := replay(t, NewHistory(simulated()), workload.ReplayOptions{Startup: time.Hour}).Jobs[0]
	for _, x := range []struct {
		what      string
		got, want time.Duration
	}{
		{"map", j.Maps.Time.Each[0], 4 * time.Second}, {"shuffle", j.Reduces.Shuffle.Each[0], time.Second},
		{"sort", j.Reduces.Sort.Each[0], time.Second}, {"reduce", j.Reduces.Time.Each[0], 4 * time.Second},
	} {
		if x.got != x.want {
			t.Errorf("%s: got %v, want %v", x.what, x.got, x.want)
		}
	}
	if len(j.Maps.Splits[0].Hosts) != 2 || j.Maps.Splits[0].Bytes != 64 || j.Maps.InputBytes != 70 {
		t.Errorf("splits %+v of %d bytes", j.Maps.Splits, j.Maps.InputBytes)
	}
}

func replay(t *testing.T, h *workload.History, o workload.ReplayOptions) workload.Replay {
	t.Helper()
	r, err := h.Replay(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWorkers: a machine that only holds input is no worker, unless the record
// lists the machines of the cluster.
func TestWorkers(t *testing.T) {
	h := readString(t, "log", mrv1Sample) // input on n1 and n2; attempts on n2, n3, n1
	if got := h.Workers(); got.Hosts() != 3 {
		t.Errorf("%d workers, want 3", got.Hosts())
	}
	h = readString(t, "log", strings.ReplaceAll(mrv1Sample, `/r1/n2\.x"`, `/r1/n2\.x,/r1/n9\.x"`))
	if got := h.Workers(); h.Topology.Hosts() != 4 || got.Hosts() != 3 || rackOf(&got, "n9.x") != "" || rackOf(&got, "n1.x") != "r1" {
		t.Errorf("workers %+v of %+v, want all but n9.x", got, h.Topology)
	}
	h.Topology.Listed = map[string]bool{"n9.x": true}
	if got := h.Workers(); got.Hosts() != 4 {
		t.Errorf("%d of 4 listed machines", got.Hosts())
	}
	h = readString(t, "topology.json", topologySample)
	if got := h.Workers(); got.Hosts() != 2 || len(h.Topology.Listed) != 2 {
		t.Errorf("%d workers of a list of 2", got.Hosts())
	}
}
