package main

import (
	"strings"
	"testing"
)

func TestCompletion(t *testing.T) {
	for _, c := range []struct{ line, want, never string }{
		{"run ", "two-jobs", "dl145-g3"},
		{"show ", "dl145-g3", "nothing"},
		{"platform bench ", "dl145-g3", "two-jobs"},
		{"reproduce ", "zhang", "two-jobs"},
		{"platform eval ", "aria.bounds", "two-jobs"},
		{"help ", "sweep\t", "two-jobs"},
		{"convert x --to ", "csv.gz", "topology"},
		{"run --format ", "rumen\t", "statistics"},
		{"run two-jobs --fidelity ", "device", "two-jobs"},
		{"run two-jobs --set ", "job.1.map_ms=", "job.2.map_ms="},
		{"run two-jobs --set ", "cluster.nodes=", "cluster=\n"},
	} {
		code, out, stderr := call("", append([]string{"__complete"}, strings.Split(c.line, " ")...)...)
		if code != exitDone || !strings.Contains(out, c.want) || strings.Contains(out, c.never) {
			t.Errorf("%q: exit code %d: %.600s%s", c.line, code, out, stderr)
		}
	}
}

func TestVersionFlag(t *testing.T) {
	if code, line, _ := call("", "--version"); code != exitDone || !strings.HasPrefix(line, "slotwave ") {
		t.Errorf("exit code %d: %q", code, line)
	}
}

// The commands are made at each call: what completion lists is read when a shell
// asks for it. Parsing the shipped files would allocate a hundred times as much.
func TestCommandsReadNoFiles(t *testing.T) {
	const most = 20_000
	if n := testing.AllocsPerRun(2, func() { (&app{}).root() }); n > most {
		t.Errorf("%.0f allocations for the tree of commands, want at most %d", n, most)
	} else {
		t.Logf("%.0f allocations", n)
	}
}
