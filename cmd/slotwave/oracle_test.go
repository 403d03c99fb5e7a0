package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A folder with a case that cannot be read: the others are compared, and the exit
// code is that of bad input. One of them gives its slots as lists by tracker.
func TestOracleComparesTheOtherCases(t *testing.T) {
	dir, of := t.TempDir(), shared(t, "data/oracle/fifo-one-job")
	text := read(t, filepath.Join(of, "case.json"))
	for name, text := range map[string]string{
		"a-broken": strings.Replace(text, `"trackers"`, `"trakers"`, 1),
		"b-lists":  strings.NewReplacer(`"map_slots":2`, `"map_slots":[2,2,2,2,2]`, `"reduce_slots":2`, `"reduce_slots":[2,2,2,2,2]`).Replace(text),
		"c-fewer":  strings.Replace(text, `"map_slots":2`, `"map_slots":[1,2,2,2,2]`, 1),
	} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "case.json"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"run1", "summary.json"} {
			if err := os.Symlink(filepath.Join(of, part), filepath.Join(dir, name, part)); err != nil {
				t.Fatal(err)
			}
		}
	}
	code, out, errs := call("", "oracle", filepath.Join(dir, "a-broken"), filepath.Join(dir, "b-lists"))
	if want := "1 of 1 runs exact in every attempt"; !strings.Contains(out, want) {
		t.Errorf("printed %s, want %q", out, want)
	}
	if code != exitInput || !strings.Contains(errs, filepath.Join("a-broken", "case.json")) {
		t.Errorf("exit code %d: %s", code, errs)
	}
	code, out, errs = call("", "oracle", filepath.Join(dir, "c-fewer"))
	if want := "0 of 1 runs exact"; code != exitInternal || !strings.Contains(out, want) {
		t.Errorf("with fewer slots: exit code %d: %s%s, want %q", code, out, errs, want)
	}
}
