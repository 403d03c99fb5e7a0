package main

import (
	"strings"
	"testing"
)

// A run in which a tracker is lost says so, and the explanation of a task that waited
// blames the tracker, not the heartbeats of others.
func TestLostTracker(t *testing.T) {
	t.Chdir(t.TempDir())
	const group = "[[cluster.group]]\ncount = 2\nmap_slots = 2\nreduce_slots = 1\n"
	writeFile(t, "my.toml", group+group+`dies = "20s"
[conf]
"mapred.map.tasks.speculative.execution" = "false"
"mapred.tasktracker.expiry.interval" = "30000"
[[job]]
maps = 30
duration = { dist = "constant", mean = "9s" }
`)
	text := verb(t, "run", "my.toml", "-v", "--trace", "--set", "plots=none", "--out", "out")
	if want := "trackers    2 trackers lost, 4 running attempts with them; last heartbeat of node3 at 20.0 s, node4 at 20.0 s\n"; !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
	text = strings.Join(strings.Fields(verb(t, "explain", "out", "--task", "job1/m/29")), " ")
	if want := "2 TaskTrackers sent no heartbeats any more, so their slots took no task. On average 0.1 of the 8 map slots"; !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
	if text = verb(t, "run", "my.toml", "--set", "until=15s", "--set", "plots=none", "--out", "early"); strings.Contains(text, "lost,") {
		t.Errorf("no tracker is lost before the run ends:\n%s", text)
	}
}
