package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model/platform"
)

// brokenProfile is one of all phases; the shuffle bends at 3200 MB.
func brokenProfile(rows int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("phase,row,data_mb,duration_ms\n")
	for _, phase := range platform.Phases {
		most := 128.0
		if phase == "shuffle" {
			most = 8000
		}
		for i := range rows / len(platform.Phases) {
			mb := most * r.Float64()
			ms := 100 + 50*mb
			if phase == "shuffle" && mb > 3200 {
				ms = -100000 + 90*mb
			}
			fmt.Fprintf(&b, "%s,%d,%.4f,%.1f\n", phase, i+1, mb, ms*(1+0.05*r.NormFloat64()))
		}
	}
	return b.String()
}

func TestFit(t *testing.T) {
	path := write(t, "profile.csv", brokenProfile(600))
	out := filepath.Join(t.TempDir(), "out")
	code, text, errs := call("", "platform", "fit", path, "--heap", "700m", "--out", out)
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, want := range []string{"within 10 %", "merge    one:", "shuffle  two: from 3", "expected by the configuration at 3234 MB (Chow: F = "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, name := range []string{"platform.json", "fit.csv", "fit-read.png", "fit-shuffle.svg", "manifest.json"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
	if code, _, errs := call("", "run", filepath.Join(out, "manifest.json")); code != exitDone {
		t.Errorf("rerun: exit %d: %s", code, errs)
	}

	// What is printed and what is written is what predict reads.
	code, printed, errs := call("", "platform", "fit", path, "--json")
	written, err := os.ReadFile(filepath.Join(out, "platform.json"))
	if code != exitDone || err != nil || printed != string(written) {
		t.Errorf("exit %d, %v: %s\nprinted %s, written %s", code, err, errs, printed, written)
	}
	code, text, errs = call("", "predict", write(t, "one.toml", oneJob), "--set", "models.platform_model="+filepath.Join(out, "platform.json"))
	if code != exitDone || !strings.Contains(text, "n/a: sort: needs a job profile") {
		t.Errorf("predict: exit %d, %s\n%s", code, errs, text)
	}
}

func TestFitErrors(t *testing.T) {
	path := write(t, "profile.csv", brokenProfile(60))
	without := strings.ReplaceAll(brokenProfile(60), "write,", "writing,")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{write(t, "p.csv", without)}, "write: no rows of this phase"},
		{[]string{write(t, "p.csv", "phase,row\n")}, "line 1"},
		{[]string{write(t, "p.csv", "phase,row,data_mb,duration_ms\nread,1,2,NaN\n")}, `line 2: duration_ms "NaN"`},
		{[]string{"nothing.csv"}, "nothing.csv"},
		{[]string{path, "--weight", "bisquared"}, "want one of"},
		{[]string{path, "--heap", "x"}, "heap"},
		{[]string{path, "--heap", "200m", "--set", "io.sort.factor=1"}, "io.sort.factor"},
		{[]string{path, "--min-rows", "1"}, "min_pts"},
	} {
		code, _, errs := call("", append([]string{"platform", "fit"}, test.args...)...)
		if code != exitInput || !strings.Contains(errs, test.want) {
			t.Errorf("%q: exit %d, %s; want %q", test.args[1:], code, errs, test.want)
		}
	}
}

// Reading and fitting; at most a second is asked for.
func BenchmarkFit100k(b *testing.B) {
	path := filepath.Join(b.TempDir(), "profile.csv")
	if err := os.WriteFile(path, []byte(brokenProfile(100_000)), 0o644); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if code, _, errs := call("", "platform", "fit", path); code != exitDone {
			b.Fatal(errs)
		}
	}
}
