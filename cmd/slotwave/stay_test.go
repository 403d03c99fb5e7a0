package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model/vectortest"
)

// volatile names what differs between versions, compilers or machines: the release of
// slotwave and of Go, and pictures and archives, which Go may compress in another way.
var volatile = regexp.MustCompile(`(manifest\.json|(^|/)run\.log)$|\.(png|gz|html)$`)

// What verbs write stays: of runs and what is asked of them, and of models, sizes and
// papers. A golden file lists commands; below each are its exit code and size and digest of
// what it printed and of each file that it wrote or changed. -v shows what was printed. The
// commands share a folder, and later ones read what earlier ones wrote.
func TestOutputsStay(t *testing.T)      { outputsStay(t, "testdata/stay.txt") }
func TestModelOutputsStay(t *testing.T) { outputsStay(t, "testdata/models.txt") }

func outputsStay(t *testing.T, list string) {
	golden, err := filepath.Abs(list)
	if err != nil {
		t.Fatal(err)
	}
	inputs := os.DirFS(filepath.Join(filepath.Dir(golden), "stay"))
	t.Chdir(t.TempDir())
	if err := os.CopyFS(".", inputs); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	digest := func(name, text string) {
		fmt.Fprintf(&got, "    %s %d %.6x\n", name, len(text), sha256.Sum256([]byte(text)))
	}
	before := contentBut(t, ".", volatile)
	for line := range strings.Lines(read(t, golden)) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "slotwave ")
		if !ok {
			continue
		}
		args := strings.Fields(command)
		code, out, errs := call("", args...)
		if testing.Verbose() {
			t.Logf("%s: exit %d\n%s%s", command, code, out, errs)
		}
		fmt.Fprintf(&got, "slotwave %s\n    exit %d\n", command, code)
		digest("stdout", out)
		digest("stderr", errs)
		after := contentBut(t, ".", volatile)
		for _, name := range slices.Sorted(maps.Keys(after)) {
			if after[name] != before[name] {
				digest(filepath.ToSlash(name), after[name])
			}
		}
		before = after
	}
	vectortest.Lines(t, golden, got.String(), *update)
}
