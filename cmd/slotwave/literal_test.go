package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLiteral asks predict for Herodotou's equations as printed, from statistics
// without those that no equation uses, and compares the time with that of eval.
func TestLiteral(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	asked := write("asked.toml", `[cluster]
nodes = 5
map_slots = 2
reduce_slots = 2
[conf]
"mapred.child.java.opts" = "-Xmx400m"
[[job]]
name = "job"
maps = 24
map_ms = 1000
reduces = 7
reduce_ms = 1000
input = "1536 MB"
`)
	const used = `"dsInputPairWidth":100,"dsMapSizeSel":1.5,"dsMapRecsSel":1.2,"dsReduceSizeSel":0.8,"dsReduceRecsSel":0.7,
"csHdfsReadCost":30,"csHdfsWriteCost":40,"csLocalIOReadCost":20,"csLocalIOWriteCost":25,"csNetworkCost":60,
"csMapCPUCost":3000,"csReduceCPUCost":2000,"csPartitionCPUCost":100,"csSerdeCPUCost":900,"csSortCPUCost":150,"csMergeCPUCost":700,
"csSetupCPUCost":5e8,"csCleanupCPUCost":1e8`
	statistics := write("statistics.json", "{"+used+"}")
	makespan := func(model string, args ...string) float64 {
		t.Helper()
		for _, row := range predictions(t, append([]string{"predict", asked, "--set", "models.statistics=" + statistics, "--json"}, args...)...) {
			if row["model"] == model && row["part"] == "makespan" {
				ns, _ := row["mean_ns"].(float64)
				return ns / 1e6
			}
		}
		return math.NaN()
	}
	question := `{"mode":"literal","set":{"pNumNodes":5,"pTaskMem":419430400,"pNumMappers":24,"pNumReducers":7,"pSplitSize":67108864,` + used + "}}"
	code, out, stderr := call(question, "platform", "eval", "phases")
	var want struct{ TotalJobTime float64 }
	if err := json.Unmarshal([]byte(out), &want); code != exitDone || err != nil {
		t.Fatal(stderr, err)
	}
	if got := makespan("herodotou-literal", "--set=models.literal=true"); math.Abs(got-want.TotalJobTime) > 1e-3 { // times are whole ns
		t.Errorf("predict --literal: %v ms, eval: %v", got, want.TotalJobTime)
	}
	if corrected := makespan("herodotou", "--set=models.literal=true"); !(corrected > want.TotalJobTime) || corrected != makespan("herodotou") {
		t.Errorf("corrected: %v ms: want more than as printed, with and without --literal", corrected)
	}
	if !math.IsNaN(makespan("herodotou-literal")) {
		t.Error("the equations as printed answer unasked")
	}
	code, out, stderr = call("", "compare", asked, "--set", "models.statistics="+statistics, "--set=models.literal=true")
	if code != exitDone || !strings.Contains(out, "\nherodotou-literal ") {
		t.Errorf("compare: %d %s\n%s", code, stderr, out)
	}
}
