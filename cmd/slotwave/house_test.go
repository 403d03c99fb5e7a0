package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The policy of CONTRIBUTING.md compiles and schedules, as one file and one line.
func TestSixthPolicy(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read(t, filepath.Join(root, "CONTRIBUTING.md")), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of Go, want the file and the line", len(blocks))
	}
	file, line := blocks[0][1], blocks[1][1]
	table := filepath.Join(root, "scheduler", "scheduler.go")
	text := read(t, table)
	last := strings.LastIndex(text, ", newMinEDF},\n") + len(", newMinEDF},\n")
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(root, "scheduler", "shortest.go"): write("shortest.go", file),
		table: write("scheduler.go", text[:last]+line+text[last:]),
	}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "-overlay", write("overlay.json", string(overlay)), "./cmd/slotwave",
		"run", "two-jobs", "--set", "scheduler.name=shortest", "--quiet", "--out", filepath.Join(dir, "out"))
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if s := read(t, filepath.Join(dir, "out", "summary.json")); !strings.Contains(s, `"scheduler": "shortest"`) {
		t.Errorf("another scheduler ran: %.300s", s)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Commands in the documents are lines of code that begin with slotwave or go
// run. Files of the reader's own in them are named my*. The commands of the
// tutorial depend on one another: TestTutorial runs them. What is
// diagnosed or explained a command before wrote; no changes are tested here.
func TestDocumentedCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("whole days of clusters")
	}
	line := regexp.MustCompile(`^(?:    |\t)?(?:\$ )?(?:go run \./cmd/)?slotwave ([^#<|]*)`)
	seen := map[string]bool{}
	folder, written := t.TempDir(), map[string]string{}
	for _, doc := range documents(t) {
		if isChapter(doc) {
			continue
		}
		fenced := false
		for _, text := range strings.Split(read(t, doc), "\n") {
			if strings.HasPrefix(text, "```") {
				fenced = !fenced
			}
			m := line.FindStringSubmatch(text)
			if m == nil || !fenced && !strings.HasPrefix(text, "    ") || strings.Contains(m[1], " my") || seen[m[1]] {
				continue
			}
			seen[m[1]] = true
			t.Run(strings.TrimSpace(m[1]), func(t *testing.T) {
				args := arguments(m[1])
				out := filepath.Join(folder, strconv.Itoa(len(seen)))
				if i := slices.Index(args, "--out"); i >= 0 {
					written[args[i+1]] = out
					args[i+1] = out
				} else if args[0] == "run" || args[0] == "compare" {
					written["out/"+args[1]] = out
					args = append(args, "--out", out)
				}
				if args[0] == "diagnose" {
					args = append(args, "--verify", "off")
				}
				for i, a := range args {
					if dir := written[a]; dir != "" {
						args[i] = dir
					}
				}
				if code, _, stderr := call("", args...); code != exitDone {
					t.Errorf("%s: exit code %d: %s", doc, code, stderr)
				}
			})
		}
	}
	if len(seen) < 4 {
		t.Errorf("%d commands found, want those of the README at least", len(seen))
	}
}

// arguments splits a command as a shell does, with single quotes.
func arguments(command string) []string {
	args := regexp.MustCompile(`(?:[^\s']|'[^']*')+`).FindAllString(command, -1)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "'", "")
	}
	return args
}
