package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/study/play/live"
)

// The attempts that the page simulates are those that run writes, in the table of convert.
func TestPlayAttemptsOfRun(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"two-jobs", "hitune-sort"} {
		for _, args := range [][]string{{"run", name, "--seed", "3", "--quiet", "--out", "out-" + name, "--set", "plots=none", "--set", "cluster.heartbeat=7s"}, {"convert", "out-" + name, "--to", "csv", "--out", "csv-" + name}} {
			if code, _, stderr := call("", args...); code != exitDone {
				t.Fatalf("%q: exit code %d: %s", args, code, stderr)
			}
		}
		want := read(t, filepath.Join("csv-"+name, "attempts.csv"))
		var s live.Session
		var got []byte
		for _, a := range []live.Asked{{Verb: "open", Name: name}, {Verb: "run", Set: []string{"cluster.heartbeat=7s"}, Seed: 3}, {Verb: "attempts"}} {
			request, err := json.Marshal(a)
			if err == nil {
				_, got, err = s.Answer(request)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if string(got) != want || strings.Count(want, "\n") < 20 {
			t.Errorf("%s: the page has %d bytes, run and convert %d", name, len(got), len(want))
		}
	}
}

// A page replaces only a page, and play says what to do about a wrong name.
func TestPlayRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "mine.html", "<html>")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--out mine.html: the file exists and is no page of play", []string{"play", "two-jobs", "--out", "mine.html"}},
		{"(did you mean two-jobs?)", []string{"play", "two-job"}},
		{"--set cluster.node=3: unknown key cluster.node (did you mean", []string{"play", "two-jobs", "--set", "cluster.node=3"}},
		{"runs on YARN", []string{"play", "yarn-am-limit"}},
	} {
		if code, _, stderr := call("", c.args...); code != exitInput || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit code %d: %s", c.args, code, stderr)
		}
	}
}
