package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two jobs, one without a name, and an attempt that fails and is cleaned up.
const toConvert = `[cluster]
hadoop = "0.20.2"
nodes = 2
map_slots = 1
reduce_slots = 1
[[job]]
name = ""
maps = 2
map_ms = 1000
map_fail_ms = { "0" = [500, -1] }
[[job]]
name = "b"
maps = 1
map_ms = 1000
`

func runToConvert(t *testing.T, text string) (result string) {
	t.Helper()
	result = filepath.Join(t.TempDir(), "result")
	verb(t, "run", "--set", "plots=none", write(t, "s.toml", text), "--out", result, "--quiet")
	return result
}

// A result is written in the form of its release, and the summary counts what
// was written: no clean-up of an attempt, and in SLS no set-up.
func TestConvertResult(t *testing.T) {
	result := runToConvert(t, toConvert)
	for format, want := range map[string]string{
		"history": ": 2 jobs, 7 tasks, 8 attempts,", "jhist": ": 2 jobs, 7 tasks, 8 attempts,", "rumen": ": 2 jobs, 7 tasks, 8 attempts,",
		"sls": ": 2 jobs, 3 tasks, 3 attempts,", "csv": ": 2 jobs, 8 tasks, 9 attempts,",
	} {
		out := filepath.Join(t.TempDir(), format)
		if got := verb(t, "convert", result, "--to", format, "--out", out); !strings.Contains(got, want) {
			t.Errorf("%s: got %q: want %q", format, got, want)
		}
		if format != "history" {
			continue
		}
		files, _ := filepath.Glob(filepath.Join(out, "localhost_*_job_*_0001__*"))
		if len(files) != 1 || strings.Contains(read(t, files[0]), "VIEW_JOB") {
			entries, _ := os.ReadDir(out)
			t.Errorf("not in the form of 0.20.2: %v", entries)
		}
	}
}

// The runs of one result are histories of their own.
func TestConvertVariedResult(t *testing.T) {
	result := runToConvert(t, toConvert+"[vary]\n\"cluster.nodes\" = [1, 2]\n")
	out := filepath.Join(t.TempDir(), "out")
	code, _, errs := call("", "convert", result, "--to", "jhist", "--out", out)
	if code != exitInput || !strings.Contains(errs, "got 2 runs: want one of them: ") || !strings.Contains(errs, "nodes-2") {
		t.Errorf("exit %d: %s", code, errs)
	}
	code, got, errs := call("", "convert", filepath.Join(result, "nodes-2"), "--to", "jhist", "--out", out)
	if code != exitDone || !strings.Contains(got, "8 attempts") || errs != "" {
		t.Errorf("exit %d: %s%s", code, got, errs)
	}
}
