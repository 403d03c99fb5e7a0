package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotwave/slotwave/workload"
)

var confs = cmp.AllowUnexported(workload.Conf{})

// rewrite writes a history and reads it back.
func rewrite(t *testing.T, h *workload.History, write func(io.Writer, *workload.History) error) *workload.History {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, h); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "written")
	writeFile(t, path, b.String())
	return mustOpen(t, path)
}

// TestRumenRoundTrip: every recorded trace, and the raw logs, come back equal
// but for what a Rumen trace cannot hold.
func TestRumenRoundTrip(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"rumen/folder-input-trace.json.gz", "rumen/dispatch-trace-output.json.gz", "rumen/counters-test-trace.json.gz",
		"rumen/2jobs2min-rumen-jh.json.gz", "gridmix-traces/trace_5m.json.gz", "gridmix-traces/compression_case1_trace.json.gz",
		"rumen/dispatch-sample-v20-jt-log.gz", "mrv1-history/chukwa-sorter-JobHistory.log.gz", "mrv2-jhist/job_1526555215992_0001-pi-1-1.jhist",
	} {
		h := mustOpen(t, shared(t, file))
		got := rewrite(t, h, writeRumen)
		if len(got.Problems) > 0 {
			t.Errorf("%s: problems in what was written: %v", file, got.Problems[:min(3, len(got.Problems))])
		}
		for i := range h.Jobs {
			j := &h.Jobs[i]
			j.Totals, j.Error = workload.NewHistoryJob("").Totals, ""
			for k := range j.Tasks {
				if len(j.Tasks[k].Split.Hosts) == 0 {
					j.Tasks[k].Split.Hosts = nil
				}
				for n := range j.Tasks[k].Attempts {
					a := &j.Tasks[k].Attempts[n]
					a.Tracker, a.HTTPPort, a.Error, a.Speculative = "", workload.Unknown, "", false
					a.CombineOutRecords, a.MaterializedBytes, a.More.GCMillis = workload.Unknown, workload.Unknown, workload.Unknown
					if !j.Tasks[k].ReduceSlot { // no mark of the end of the map phase
						a.Phases[workload.PhaseMap], a.Phases[workload.PhaseMerge] = workload.UnknownTime, workload.UnknownTime
					} else {
						a.OutBytes = workload.Unknown
					}
					if a.Kind != workload.Map {
						a.Locality = workload.NoLocality // MRv2 states one for reduces
					}
					if a.Node != "" && a.Rack == "" { // where Hadoop puts it
						a.Rack = "default-rack"
						if g := &got.Jobs[i].Tasks[k].Attempts[n]; g.Locality == workload.OffRack || g.Locality == workload.RackLocal {
							a.Locality = g.Locality
						}
					}
				}
			}
		}
		if d := cmp.Diff(h.Jobs, got.Jobs, confs); d != "" {
			t.Errorf("%s: read (-) and read again (+) differ:\n%.3000s", file, d)
		}
		if h.Epoch != got.Epoch {
			t.Errorf("%s: epoch %d became %d", file, h.Epoch, got.Epoch)
		}
	}
}

// TestRumenRacks: the trace and the topology that are written agree on the rack
// of every machine, also where the source has none or, as the tables of runs
// do, a slash before it.
func TestRumenRacks(t *testing.T) {
	rows := "job,task,kind,state,node,rack,replica_nodes,start_s,finish_s\nj,0,map,SUCCEEDED,n1,%[1]s,n1 n2,0,9\nj,1,map,SUCCEEDED,n2,%[1]s,n3,0,9\n"
	for given, want := range map[string]string{"": "default-rack", "/rack1": "rack1", "rack1": "rack1", "/dc/rack1": "dc/rack1"} {
		h := readString(t, "t.csv", fmt.Sprintf(rows, given))
		dir := t.TempDir()
		var trace, topology bytes.Buffer
		if err := errors.Join(writeRumen(&trace, h), writeTopology(&topology, h.Workers())); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, "trace.json"), trace.String())
		writeFile(t, filepath.Join(dir, "topology.json"), topology.String())
		if strings.Contains(topology.String(), "n3") {
			t.Errorf("rack %q: a machine that only holds input is listed: %s", given, topology.String())
		}
		host := fmt.Sprintf(`"hostName": "/%s/n1"`, want)
		for _, files := range [][]string{{"trace.json", "topology.json"}, {"topology.json", "trace.json"}} {
			got := mustOpen(t, filepath.Join(dir, files[0]), filepath.Join(dir, files[1]))
			if len(got.Problems) > 0 || rackOf(&got.Topology, "n1") != want || !strings.Contains(trace.String(), host) {
				t.Errorf("rack %q: %v: %+v %v", given, files, got.Topology, got.Problems)
			}
		}
	}
}

// TestRumenStatistics compares the run-time distributions and tries that are
// written with those Rumen itself wrote into the traces. (The Rumen that made
// folder-input-trace counted set-up and clean-up among the maps; the gridmix
// traces lack the locations from which Rumen tells distances.)
func TestRumenStatistics(t *testing.T) {
	fields := []string{"successfulMapAttemptCDFs", "failedMapAttemptCDFs", "successfulReduceAttemptCDF", "failedReduceAttemptCDF", "mapperTriesToSucceed", "failedMapperFraction"}
	for _, file := range []string{"rumen/dispatch-trace-output.json.gz", "rumen/counters-test-trace.json.gz", "rumen/2jobs2min-rumen-jh.json.gz"} {
		path := shared(t, file)
		var b bytes.Buffer
		if err := writeRumen(&b, mustOpen(t, path)); err != nil {
			t.Fatal(err)
		}
		written := decodeAll(t, b.String())
		original := decodeAll(t, gunzip(t, path))
		byID := map[string]map[string]any{}
		for _, j := range written {
			byID[j["jobID"].(string)] = j
		}
		for _, want := range original {
			got := byID[want["jobID"].(string)]
			for _, f := range fields {
				if !alike(got[f], want[f]) {
					t.Errorf("%s %s %s:\n got %.600v\nwant %.600v", file, want["jobID"], f, got[f], want[f])
				}
			}
		}
	}
}

// alike compares decoded JSON, numbers to 1e-9.
func alike(a, b any) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && math.Abs(x-y) <= 1e-9*math.Max(1, math.Abs(y))
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !alike(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k := range x {
			if !alike(x[k], y[k]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func decodeAll(t *testing.T, text string) []map[string]any {
	t.Helper()
	var all []map[string]any
	dec := json.NewDecoder(strings.NewReader(text))
	for {
		var v map[string]any
		err := dec.Decode(&v)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
}

func TestTopologyRoundTrip(t *testing.T) {
	h := mustOpen(t, shared(t, "rumen/dispatch-topology-output.json.gz"))
	for name, write := range map[string]func(io.Writer, *workload.History) error{
		"rumen": func(w io.Writer, h *workload.History) error { return writeTopology(w, h.Workers()) },
		"sls":   func(w io.Writer, h *workload.History) error { return writeSLSNodes(w, h.Workers()) },
	} {
		if d := cmp.Diff(h.Topology, rewrite(t, h, write).Topology); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestSLSRoundTrip keeps what the simulator uses: who ran how long where.
func TestSLSRoundTrip(t *testing.T) {
	h := mustOpen(t, shared(t, "gridmix-traces/trace_1m.json.gz"))
	got := rewrite(t, h, writeSLS)
	for i := range h.Jobs {
		x, y := &h.Jobs[i], &got.Jobs[i]
		if x.ID != y.ID || x.Submit != y.Submit || x.Finish != y.Finish || x.User != y.User {
			t.Errorf("%s became %s, %v-%v became %v-%v", x.ID, y.ID, x.Submit, x.Finish, y.Submit, y.Finish)
		}
		for _, k := range []workload.Kind{workload.Map, workload.Reduce} {
			a, b := tasksOf(x, k), tasksOf(y, k)
			for n := range a {
				if v, w := a[n].Winner(), b[n].Winner(); v.Start != w.Start || v.Finish != w.Finish || v.Node != w.Node || v.Rack != w.Rack {
					t.Errorf("%s %v %d: %v-%v on %s became %v-%v on %s", x.ID, k, n, v.Start, v.Finish, v.Node, w.Start, w.Finish, w.Node)
				}
			}
		}
	}
}

// rackOf returns the rack of a host, or an empty name.
func rackOf(t *workload.Topology, host string) string {
	for _, r := range t.Racks {
		if slices.Contains(r.Hosts, host) {
			return r.Name
		}
	}
	return ""
}
