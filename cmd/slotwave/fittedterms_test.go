package main

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A phase with terms takes their time in run, predict and compare; the others take
// their lines.
func TestFittedTerms(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const lines = `{"read": [100, 10], "collect": [100, 20], "spill": [100, 30], "merge": [0, 0], "shuffle": [100, 50], "write": [100, 60]`
	platforms := []string{
		write("lines.json", lines+"}"),
		write("terms.json", lines+`, "terms": {
			"collect": {"terms": [{"term": "records", "ms": 5000}]},
			"write": {"terms": [{"term": "MB", "ms": 10}, {"term": "1", "ms": 7000}], "retried_part": 0.5}}}`),
	}
	write("copies.toml", "title = \"copies\"\nsource = \"invented\"\n[data]\ninput_pair_width = 100\nmap_size_sel = 0.5\nmap_records_sel = 0.5\nreduce_size_sel = 1\nreduce_records_sel = 1\n[cpu]\nmap_record = 0\nreduce_record = 0\n")
	asked := write("asked.toml", `fidelity = "phase"
[cluster]
nodes = 5
hadoop = "ideal"
platform = "lines.json"
[conf]
"mapred.reduce.slowstart.completed.maps" = 1.0
[[job]]
name = "sort"
profile = "copies.toml"
input = "640 MB"
reduces = 10
`)
	var mean [2]float64
	for i, platform := range platforms {
		code, text, stderr := call("", "compare", asked, "--set", "cluster.platform="+filepath.Base(platform))
		row := ""
		for _, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "simulation ") {
				row = line
			}
		}
		if code != exitDone || !strings.Contains(text, "+0.0 %") || row == "" {
			t.Fatalf("compare on %s: exit %d, %s\n%s: want zhang as the simulation", platform, code, stderr, text)
		}
		mean[i] = shownSeconds(t, row)
	}
	// 640 MB are 10 maps of 64 MB; each emits 0.32 million records and collects them
	// for 1.6 s in place of 0.74 s. Each of 10 reduces writes 32 MB: 7.52 s with half
	// of the retries, in place of 2.02 s. All run at once.
	const mib = 1 << 20
	records, mb := 64*mib/2/100/1e6, 32.0
	want := 5*records - (0.1 + 0.02*mb) + (7 + 0.01*mb + 0.2) - (0.1 + 0.06*mb)
	if got := mean[1] - mean[0]; math.Abs(got-want) > 0.02 { // shown to hundredths of a second
		t.Errorf("terms lengthen the job by %.2f s, want %.2f", got, want)
	}
	code, text, _ := call("", "predict", asked, "--set", "models.platform_model="+platforms[1])
	if code != exitDone || !strings.Contains(text, "zhang") || shownSeconds(t, text[strings.Index(text, "zhang "):]) != mean[1] {
		t.Errorf("predict --platform-model: %s\nwant %.2f s", text, mean[1])
	}
	if code, text, _ := call("", "validate", platforms[1]); code != exitDone || !strings.Contains(text, "2 with terms") {
		t.Errorf("validate: %d %s", code, text)
	}
}

// shownSeconds returns the first time of a row, which is less than a minute.
func shownSeconds(t *testing.T, row string) float64 {
	t.Helper()
	seconds, err := strconv.ParseFloat(strings.Fields(row)[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return seconds
}
