package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
)

// unevenStudy has points of which the last takes a hundred times as long as the first.
const unevenStudy = `
scenario = "my.toml"
replications = %d
metrics = ["mean_response_ns"]
[[factor]]
key = "maps"
from = 1
to = 200
count = %d
`

// uneven writes a study of uneven points into a new folder.
func uneven(t *testing.T, points, replications int) {
	t.Helper()
	t.Chdir(t.TempDir())
	scenario, _, _ := strings.Cut(sweptScenario, "[vary]")
	writeFile(t, "my.toml", scenario)
	writeFile(t, "mystudy.toml", fmt.Sprintf(unevenStudy, replications, points))
}

// Two mappers of Hadoop Streaming, one of which gets keys before its lines, write
// rows with keys, which merge into the result of one machine.
func TestSweepStreaming(t *testing.T) {
	if testing.Short() {
		t.Skip("runs one sweep twice")
	}
	points := 40
	if layers.Whole {
		points = 200
	}
	uneven(t, points, 1)
	verb(t, "sweep", "mystudy.toml", "--quiet", "--out", "local")
	if layers.Whole {
		for _, workers := range []string{"1", "2", "8"} {
			verb(t, "sweep", "mystudy.toml", "--quiet", "--workers", workers, "--out", "workers"+workers)
			sameTree(t, tree(t, "workers"+workers), tree(t, "local"), workers+" workers")
		}
	}
	lines := strings.SplitAfter(strings.TrimSuffix(verb(t, "sweep", "plan", "mystudy.toml"), "\n"), "\n")
	rows := ""
	for i, half := range [][]string{lines[:points/2], lines[points/2:]} {
		input := ""
		for k, line := range half {
			if i == 0 {
				line = strconv.Itoa(1000*k) + "\t" + line
			}
			input += line
		}
		code, out, stderr := call(input, "sweep", "work", "--stdin")
		if code != exitDone || !strings.Contains(stderr, "reporter:counter:slotwave,points,1\n") {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
			if key, value, tab := strings.Cut(line, "\t"); len(key) != 7 || !tab || !strings.HasPrefix(value, "{") {
				t.Fatalf("got %q: want a key, a tab and a value", line)
			}
		}
		rows += out
	}
	writeFile(t, "hadoop.rows", rows)
	verb(t, "sweep", "merge", "hadoop.rows", "--quiet", "--out", "merged")
	sameTree(t, tree(t, "merged"), tree(t, "local"), "Hadoop Streaming")
	verb(t, "sweep", "submit", "hadoop", "mystudy.toml", "--shards", "4", "--dry-run", "--out", "shards")
	if script := read(t, "shards/hadoop.sh"); !strings.Contains(script, fmt.Sprintf("linespermap=%d ", points/4)) || !strings.Contains(script, ",mystudy.toml,my.toml'") {
		t.Errorf("got %s: want a quarter of the points a mapper, and the study and the scenario as files", script)
	}
}
