package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A plan of jobs comes through its result: the scenario that convert writes has the
// same chain, and its jobs end at the same times.
func TestConvertWritesChains(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	writeFile(t, at("plan.toml"), `fidelity = "replay"
[cluster]
nodes = 2
hadoop = "ideal"
[[job]]
name = "left"
maps = 2
map_ms = 4000
setup_cleanup = false
[[job]]
name = "right"
maps = 2
map_ms = 9000
setup_cleanup = false
[[job]]
name = "join"
after = ["left", "right"]
submit = "3s"
maps = 2
map_ms = 5000
setup_cleanup = false
`)
	verb(t, "run", at("plan.toml"), "--quiet", "--out", at("plan"))
	verb(t, "convert", at("plan"), "--to", "toml", "--quiet", "--out", at("again"))
	text := read(t, at("again/scenario.toml"))
	if want := "after = [\n  \"left\",\n  \"right\",\n]\nsubmit = \"3s\""; !strings.Contains(text, want) || strings.Count(text, "after = ") != 1 {
		t.Fatalf("want %s in\n%s", want, text)
	}
	verb(t, "run", at("again/scenario.toml"), "--set", "cluster.hadoop=ideal", "--quiet", "--out", at("replayed"))
	sameRows(t, "jobs", rows(t, at("plan/jobs.csv"), "queue"), rows(t, at("replayed/jobs.csv"), "queue"))
}
