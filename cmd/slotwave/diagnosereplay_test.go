package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// What diagnose says that a change of a replay gains is what run --set says: both sides
// decide again what the recorded cluster decided.
func TestDiagnoseGainsWhatRunSays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	writeFile(t, at("plan.toml"), `fidelity = "replay"
[cluster]
nodes = 4
map_slots = 2
reduce_slots = 1
[conf]
"mapred.jobtracker.taskScheduler" = "org.apache.hadoop.mapred.CapacityTaskScheduler"
[scheduler]
name = "capacity"
[[job]]
jobs = 3
maps = 40
map_ms = 10000
reduces = 2
reduce_shuffle_ms = 1000
reduce_sort_ms = 0
reduce_ms = 5000
[[job]]
jobs = 4
submit = "20s"
maps = 4
map_ms = 5000
`)
	verb(t, "run", at("plan.toml"), "--set", "plots=none", "--quiet", "--out", at("plan"))
	verb(t, "convert", at("plan"), "--to", "history", "--quiet", "--out", at("history"))
	verb(t, "run", at("history"), "--set", "plots=none", "--quiet", "--out", at("replay"))
	f := diagnoseByVerb(t, at("replay"), "--pairs", "2", "--quiet").Findings[0]
	name, found := strings.CutPrefix(f.Change, "scheduler ")
	if !found || f.Verdict != "confirmed" {
		t.Fatalf("first finding: got %+v: want another scheduler", f)
	}
	var gain float64
	for _, seed := range []string{"1", "2"} {
		out := at("seed" + seed)
		verb(t, "run", at("history"), "--set", "plots=none", "--set", "scheduler.name="+name, "--seed", seed, "--quiet", "--out", out)
		var summary struct {
			Replay struct {
				JobTime float64 `json:"record_simulated_job_ns"`
			}
		}
		if err := json.Unmarshal([]byte(read(t, out+"/summary.json")), &summary); err != nil {
			t.Fatal(err)
		}
		mean, jobs := 0.0, rowsOf(t, out+"/jobs.csv")
		for _, j := range jobs {
			mean += (numberOf(t, j["finish_ns"]) - numberOf(t, j["submit_ns"])) / float64(len(jobs))
		}
		gain += (1 - mean/summary.Replay.JobTime) / 2
	}
	if math.Abs(f.Gain-gain) > 1e-6 {
		t.Errorf("scheduler %s: diagnose says that it gains %.4f, run %.4f", name, f.Gain, gain)
	}
}
