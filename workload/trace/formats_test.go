package trace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/workload"
)

// TestBlanksBefore: white space before a JSON file does not hide its format.
func TestBlanksBefore(t *testing.T) {
	for _, before := range []string{" ", "\t", "\n  ", " \r\n\t"} {
		h, err := readBytes([]byte(before+`{"jobID":"job_1_0001","mapTasks":[]}`), "")
		if err != nil || len(h.Jobs) == 0 {
			t.Errorf("%q: %+v, %v", before, h, err)
		}
	}
}

// TestMachinesBesideForcedFormat: a topology and a configuration beside a trace
// stay what they are when the format of the trace is named.
func TestMachinesBesideForcedFormat(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"trace.json": rumenSample, "topology.json": topologySample, "core-site.xml": confSample} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	detected, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	named, err := ReadOptions{Format: "rumen"}.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(named.Problems) != len(detected.Problems) || len(named.Jobs) != len(detected.Jobs) || named.Topology.Hosts() != detected.Topology.Hosts() || named.Topology.Hosts() == 1 || named.Site.Len() != detected.Site.Len() || named.Site.Len() == 0 {
		t.Errorf("%d jobs, %d machines, %d properties, problems %v", len(named.Jobs), named.Topology.Hosts(), named.Site.Len(), named.Problems)
	}
}

// TestHistoryWithoutMeta: a history of version 1 whose first line is lost is read
// like one that has it, counters and escapes too.
func TestHistoryWithoutMeta(t *testing.T) {
	_, rest, _ := strings.Cut(mrv1Sample, "\n")
	h := readString(t, "log", rest)
	if len(h.Problems) > 0 {
		t.Fatal(h.Problems)
	}
	j := &h.Jobs[0]
	won := &j.Tasks[0].Attempts[1]
	if j.Name != `word=count "a"` || won.HDFSReadBytes != 77 || won.InRecords != 7 || won.More.GCMillis != workload.Unknown || j.Totals.RackLocalMaps != 1 {
		t.Errorf("name %q, counters %+v, %d rack-local maps", j.Name, won.Counters, j.Totals.RackLocalMaps)
	}
}
