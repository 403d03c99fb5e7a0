package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestFittedPlatform runs a job on a platform that fit wrote. Each phase lasts as
// long as its line says. On the ideal cluster the run takes as long as zhang says.
func TestFittedPlatform(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	var rows strings.Builder
	rows.WriteString("phase,row,data_mb,duration_ms\n")
	for phase, perMB := range map[string]int{"read": 10, "collect": 20, "spill": 30, "merge": 40, "shuffle": 50, "write": 60} {
		for mb := 1; mb <= 100; mb++ { // 100 ms and perMB for each MB
			rows.WriteString(strings.Join([]string{phase, strconv.Itoa(mb), strconv.Itoa(mb), strconv.Itoa(100 + perMB*mb)}, ",") + "\n")
		}
	}
	profile, platform := write("profile.csv", rows.String()), filepath.Join(dir, "fitted")
	if code, _, stderr := call("", "platform", "fit", profile, "--quiet", "--out", platform); code != exitDone {
		t.Fatal(stderr)
	}
	const text = `fidelity = "phase"
[cluster]
nodes = 5
hadoop = "ideal"
platform = "fitted/platform.json"
[conf]
"mapred.reduce.slowstart.completed.maps" = 1.0
[[job]]
name = "sort"
profile = "identity.toml"
input = "640 MB"
reduces = 10
`
	write("identity.toml", `title = "copies 100-byte records"
source = "invented"
[data]
input_pair_width = 100
map_size_sel = 0.5
map_records_sel = 0.5
reduce_size_sel = 1
reduce_records_sel = 1
[cpu]
map_record = 1000
reduce_record = 0
`)
	asked := write("asked.toml", text)
	if code, out, stderr := call("", "validate", asked, filepath.Join(platform, "platform.json")); code != exitDone || strings.Count(out, "\n") != 3 {
		t.Fatalf("validate: %d %s %s", code, out, stderr)
	}
	out := filepath.Join(dir, "run")
	if code, _, stderr := call("", "run", asked, "--set", "plots=none", "--quiet", "--out", out); code != exitDone {
		t.Fatal(stderr)
	}
	data, err := os.ReadFile(filepath.Join(out, "attempts.csv"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
	if err != nil || len(table) != 21 {
		t.Fatalf("%d rows, %v: want 10 maps and 10 reduces", len(table)-1, err)
	}
	// A map reads 64 MB and emits 32 MB; a reduce gets 32 MB.
	want := map[string]map[string]float64{
		"map":    {"read": 740, "map": 671.08864, "collect": 740, "spill": 1060, "merge": 1380, "shuffle": 0, "reduce": 0, "write": 0},
		"reduce": {"read": 0, "map": 0, "collect": 0, "spill": 0, "merge": 0, "shuffle": 1700, "reduce": 0, "write": 2020},
	}
	for _, row := range table[1:] {
		at := map[string]string{}
		for i, name := range table[0] {
			at[name] = row[i]
		}
		for phase, ms := range want[at["kind"]] {
			// Counters are whole bytes and records.
			if ns, err := strconv.ParseFloat(at["p_"+phase+"_ns"], 64); err != nil || ns/1e6 < ms-0.01 || ns/1e6 > ms+0.01 {
				t.Errorf("%s %s: %s takes %v ms (%v): want %v", at["kind"], at["task"], phase, ns/1e6, err, ms)
			}
		}
	}
	code, compared, stderr := call("", "compare", asked, "--out", filepath.Join(dir, "both"))
	if code != exitDone || !strings.Contains(compared, "zhang       8.31 s") || !strings.Contains(compared, "+0.0 %") || !strings.Contains(compared, "n/a: a fitted platform states no costs") {
		t.Errorf("compare: %d %s\n%s", code, stderr, compared)
	}
	for words, args := range map[string][]string{
		`want fidelity = "phase", got device`:     {"run", asked, "--fidelity", "device"},
		"fitted without compression":              {"run", asked, "--set", `conf."mapred.compress.map.output"=true`},
		"cluster.disks: a fitted platform has no": {"run", asked, "--set", "cluster.disks=2"},
		"holds the settings of its benchmarks":    {"tune", asked},
		"platform.read: 1 values: want [A, B]":    {"run", write("short.toml", strings.Replace(text, "fitted/platform.json", write("short.json", `{"read":[1],"collect":[0,1],"spill":[0,1],"merge":[0,1],"shuffle":[0,1],"write":[0,1]}`), 1))},
	} {
		if code, _, stderr := call("", append(args, "--out", filepath.Join(dir, "none"))...); code != exitInput || !strings.Contains(stderr, words) {
			t.Errorf("%v: exit %d, %s: want exit 2 and %q", args, code, stderr, words)
		}
	}
}
