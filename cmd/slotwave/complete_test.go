package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompletion(t *testing.T) {
	for _, c := range []struct{ line, want, never string }{
		{"run ", "two-jobs\ta short", "dl145-g3"},
		{"show ", "dl145-g3\tHP", "nothing"},
		{"microbench ", "dl145-g3\tHP", "two-jobs"},
		{"reproduce ", "zhang", "two-jobs"},
		{"eval ", "aria.bounds", "two-jobs"},
		{"help ", "sweep\t", "two-jobs"},
		{"convert x --to ", "chrome\t", "topology"},
		{"run --format ", "rumen\t", "chrome"},
		{"run two-jobs --fidelity ", "device", "two-jobs"},
		{"run two-jobs --set ", "job.1.map_ms=", "job.2.map_ms="},
		{"run two-jobs --set ", "cluster.nodes=", "cluster=\n"},
		{"run two-jobs --set conf.", "conf.io.sort.mb=", "conf.none"},
		{"run two-jobs --set scheduler.name=", "scheduler.name=fair2", "cluster"},
		{"run two-jobs --set job.0.profile=", "job.0.profile=terasort", "cluster"},
	} {
		code, out, stderr := call("", append([]string{"__complete"}, strings.Split(c.line, " ")...)...)
		if code != exitDone || !strings.Contains(out, c.want) || strings.Contains(out, c.never) {
			t.Errorf("%q: exit code %d: %.600s%s", c.line, code, out, stderr)
		}
	}
}

func TestVersionFlag(t *testing.T) {
	_, verb, _ := call("", "version")
	if code, flag, _ := call("", "--version"); code != exitDone || flag != verb || !strings.HasPrefix(flag, "slotwave ") {
		t.Errorf("exit code %d: %q, want %q", code, flag, verb)
	}
}

// Every verb has a page, no line of whose text is a request of roff.
func TestManualPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	if code, _, stderr := call("", "man", "--out", dir); code != exitDone {
		t.Fatal(stderr)
	}
	for name, want := range map[string]string{"slotwave.1": ".B run\n", "slotwave-run.1": "\\-\\-fail\\-above DIFFERENCE", "slotwave-formats.1": ".SH DESCRIPTION"} {
		if page := read(t, filepath.Join(dir, name)); !strings.Contains(page, want) {
			t.Errorf("%s lacks %q: %.300s", name, want, page)
		}
	}
	pages, _ := os.ReadDir(dir)
	for _, p := range pages {
		if filepath.Ext(p.Name()) != ".1" {
			continue
		}
		for _, line := range strings.Split(read(t, filepath.Join(dir, p.Name())), "\n") {
			request, _, _ := strings.Cut(line, " ")
			if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !strings.Contains(" .TH .SH .B .BR .TP .nf .fi ", " "+request+" ") {
				t.Errorf("%s: %q", p.Name(), line)
			}
		}
	}
	if got := roff(".TH \\n\n'x a-b"); got != "\\&.TH \\en\n\\&'x a\\-b" {
		t.Errorf("%q", got)
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
