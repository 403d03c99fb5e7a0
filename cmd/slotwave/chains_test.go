package main

import (
	"path/filepath"
	"testing"
)

// A plan of jobs comes through its result: what convert writes has the
// same chain, and on fewer nodes its jobs end when those of the plan do.
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
	verb(t, "run", at("plan.toml"), "--quiet", "--set", "plots=none", "--out", at("plan"))
	verb(t, "convert", at("plan"), "--to", "csv", "--quiet", "--out", at("again"))
	verb(t, "run", at("plan.toml"), "--set", "cluster.nodes=1", "--set", "plots=none", "--quiet", "--out", at("smaller"))
	verb(t, "run", at("again"), "--set", "cluster.hadoop=ideal", "--set", "cluster.nodes=1", "--set", "plots=none", "--quiet", "--out", at("replayed"))
	unlike := []string{"queue", "low_ns", "high_ns"}
	sameRows(t, "jobs", rows(t, at("smaller/jobs.csv"), unlike...), rows(t, at("replayed/jobs.csv"), unlike...))
}
