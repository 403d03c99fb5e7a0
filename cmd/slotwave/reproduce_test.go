package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReproduce(t *testing.T) {
	out := filepath.Join(t.TempDir(), "page")
	code, text, errs := call("", "reproduce", "herodotou", "--figure", "merge", "--out", out)
	if code != exitDone || !strings.Contains(text, "reproduced") {
		t.Errorf("exit %d: %s%s", code, text, errs)
	}
	for name, want := range map[string]string{"README.md": "| section 5, text before equation 21 | exactly 0; exactly 1 files; passes | 0; 1 | 1 of 1 | reproduced |", "claims.csv": "slotwave reproduce herodotou --figure merge"} {
		page, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || !strings.Contains(string(page), want) {
			t.Errorf("%v: %s: want %q", err, page, want)
		}
	}
	if code, text, _ := call("", "reproduce", "--list"); code != exitDone || !strings.Contains(text, "parts: splits, 3 (or figure-3), table-1 (or 2), 4, 5") {
		t.Errorf("exit %d: %s", code, text)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"reproduce"}, "want one PAPER"},
		{[]string{"reproduce", "zang"}, "zhang"},
		{[]string{"reproduce", "--all", "zhang"}, "want one PAPER"},
		{[]string{"reproduce", "--all", "--figure", "4"}, "want a PAPER"},
		{[]string{"reproduce", "zhang", "--figure", "7"}, "want one of splits"},
	} {
		if code, _, errs := call("", test.args...); code != exitInput || !strings.Contains(errs, test.want) {
			t.Errorf("%q: exit %d, %q: want %q", test.args, code, errs, test.want)
		}
	}
}

// The loop of Zhang, Cherkasova and Loo by verbs alone: benchmarks with rows of 100
// bytes, lines, a small run, and a prediction of a larger one.
func TestZhangByVerbs(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the microbenchmarks")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	scenario := func(name string, nodes, bytes, reduces string) string {
		file := at(name + ".toml")
		text := `title = "WordCount"
fidelity = "device"
[cluster]
hadoop = "0.20.2"
platform = "dl145-g3"
nodes = ` + nodes + `
map_slots = 2
reduce_slots = 2
[conf]
"dfs.block.size" = 67108864
"mapred.child.java.opts" = "-Xmx700m"
"mapred.reduce.slowstart.completed.maps" = 1.0
[[job]]
profile = "wordcount"
input = ` + bytes + `
reduces = ` + reduces + "\n"
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	done := func(args ...string) string {
		t.Helper()
		code, text, errs := call("", args...)
		if code != exitDone {
			t.Fatalf("%q: exit %d: %s", args, code, errs)
		}
		return text
	}
	done("platform", "bench", "dl145-g3", "--out", at("profile.csv"))
	done("platform", "fit", at("profile.csv"), "--two-lines", "shuffle")
	code, _, warned := call("", "platform", "fit", at("profile.csv"), "--heap", "700m", "--out", at("platform"))
	if code != exitDone || !strings.Contains(warned, "read: only") {
		t.Errorf("exit %d, %q: want a warning of the reads", code, warned)
	}
	done("run", scenario("small", "5", "1476395008", "10"), "--out", at("small"), "--quiet")
	if text := done("validate", at("platform/platform.json")); !strings.Contains(text, "fitted platform, 6 phases") {
		t.Errorf("validate: %s", text)
	}
	short := at("short.json")
	if err := os.WriteFile(short, []byte(`{"shuffle": [1]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := call("", "validate", short); code != exitInput || !strings.Contains(errs, "short.json") {
		t.Errorf("exit %d: %s", code, errs)
	}
	args := []string{"compare", scenario("large", "20", "6710886400", "40"), "--set=models.causes=false", "--json", "--set", "models.platform_model=" + at("platform/platform.json")}
	errors := map[bool]float64{}
	for _, withSmall := range []bool{false, true} {
		with := args
		if withSmall {
			with = append(with, "--set", "models.small="+at("small"))
		}
		for _, r := range predictions(t, with...) {
			if r["model"] == "zhang" && r["part"] == "makespan" {
				errors[withSmall], _ = r["difference"].(float64)
			}
		}
	}
	// Records of WordCount have 15 bytes.
	if errors[false] > -0.2 || errors[true] < -0.1 || errors[true] > 0.1 {
		t.Errorf("without a small run %+.3f, with one %+.3f: want less than -0.2, and within 0.1", errors[false], errors[true])
	}
	for _, test := range []struct{ path, want string }{{at("none"), "none"}, {"two-jobs", "two-jobs"}} {
		if code, _, errs := call("", append(args, "--set", "models.small="+test.path)...); code != exitInput || !strings.Contains(errs, test.want) {
			t.Errorf("--small %s: exit %d: %s", test.path, code, errs)
		}
	}
}
