package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/study"
)

// The attempts of a recorded case are compared with the record. One of them gives
// its slots as lists by tracker.
func TestRunCase(t *testing.T) {
	dir, of := t.TempDir(), shared(t, "data/oracle/fifo-one-job")
	text := read(t, filepath.Join(of, "case.json"))
	for name, c := range map[string]struct{ text, set, want string }{
		"as-recorded": {text, "run=1", " attempts exact to the ms"},
		"lists": {strings.NewReplacer(`"map_slots":2`, `"map_slots":[2,2,2,2,2]`, `"reduce_slots":2`, `"reduce_slots":[2,2,2,2,2]`).Replace(text),
			"run=1", " attempts exact to the ms"},
		"fewer":   {strings.Replace(text, `"map_slots":2`, `"map_slots":[1,2,2,2,2]`, 1), "run=1", ": recorded c00"},
		"changed": {text, "cluster.nodes=7", ""},
	} {
		folder := filepath.Join(dir, name)
		if err := os.Mkdir(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		file := writeFile(t, filepath.Join(folder, "case.json"), c.text)
		for _, part := range []string{"run1", "summary.json"} {
			if err := os.Symlink(filepath.Join(of, part), filepath.Join(folder, part)); err != nil {
				t.Fatal(err)
			}
		}
		_, out, errs := call("", "run", file, "--set", c.set, "--out", filepath.Join(dir, "out-"+name))
		if !strings.Contains(out, c.want) || c.want == "" && strings.Contains(out, "recorded run") {
			t.Errorf("%s: printed %s%s, want %q", name, out, errs, c.want)
		}
	}
}

// A run on a platform that the user states has no machines to differ by, however wide its
// interval.
func TestTooWideOnAStatedPlatform(t *testing.T) {
	runs := []*results.Run{{Predictions: []model.Prediction{{Mean: time.Minute}}}}
	if err := tooWide(&study.Study{}, runs); err != nil {
		t.Error(err)
	}
}
