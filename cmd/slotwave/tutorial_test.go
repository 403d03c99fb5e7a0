package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
)

// isChapter knows the pages whose commands are run one after the other.
func isChapter(page string) bool {
	name := filepath.Base(page)
	return filepath.Base(filepath.Dir(page)) == "tutorial" && name != "README.md" || slices.Contains([]string{"studies.md", "size-a-cluster.md"}, name)
}

// longPages take two minutes.
var longPages = []string{"size-a-cluster.md", "3-slowstart.md", "5-locality.md", "6-contention.md", "studies.md"}

// Every chapter of the tutorial and the other pages with commands that depend on
// one another work as a reader follows them: the files are saved, the commands run
// in order, what they print is what the page shows (-update writes it), and the
// pictures and tables that the page names exist.
func TestTutorial(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every command of the tutorial")
	}
	chapters := 0
	for _, page := range documents(t) {
		if !isChapter(page) {
			continue
		}
		chapters++
		t.Run(filepath.Base(page), func(t *testing.T) {
			if !*update && slices.Contains(longPages, filepath.Base(page)) {
				layers.OnlyWhole(t, "a page that takes long")
			}
			path, err := filepath.Abs(page)
			if err != nil {
				t.Fatal(err)
			}
			before := read(t, path)
			t.Chdir(t.TempDir())
			after := follow(t, before)
			if *update && after != before {
				writeFile(t, path, after)
			}
		})
	}
	if chapters != 9 {
		t.Errorf("%d chapters, want 7 and the pages on studies and sizes", chapters)
	}
}

var (
	saved   = regexp.MustCompile("`(my[\\w-]*\\.toml)`")
	indent  = regexp.MustCompile(`^ {4,}slotwave (.*)`)
	named   = regexp.MustCompile("`(out/[^`]+)`")
	label   = regexp.MustCompile(`^ *\S+( \S+)*`)
	spacing = regexp.MustCompile(` +`)
)

// follow does what a chapter says, and returns the chapter with what the
// commands print now.
func follow(t *testing.T, text string) string {
	t.Helper()
	lines := strings.Split(text, "\n")
	file, printed, commands, texts := "", "", 0, 0
	for i := 0; i < len(lines); i++ {
		if m := saved.FindStringSubmatch(lines[i]); m != nil {
			file = m[1]
		}
		switch {
		case lines[i] == "```toml":
			end := i + 1 + slices.Index(lines[i+1:], "```")
			writeFile(t, file, strings.Join(lines[i+1:end], "\n")+"\n")
			i = end
		case lines[i] == "```text":
			for i++; lines[i] != "```"; i++ {
				lines[i] = asPrinted(t, lines[i], printed)
				texts++
			}
		default:
			m := indent.FindStringSubmatch(lines[i])
			if m == nil {
				continue
			}
			code, out, stderr := call("", arguments(m[1])...)
			if code != exitDone {
				t.Errorf("slotwave %s: exit code %d: %s", m[1], code, stderr)
			}
			printed = out
			commands++
		}
	}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("no file %s", m[1])
		}
	}
	if commands < 3 || texts == 0 {
		t.Errorf("%d commands and %d lines of what they print, want more", commands, texts)
	}
	return strings.Join(lines, "\n")
}

// asPrinted finds the line that a command printed with the first column of a line
// on the page.
func asPrinted(t *testing.T, line, printed string) string {
	t.Helper()
	first := label.FindString(line)
	for _, now := range strings.Split(printed, "\n") {
		now = strings.TrimRight(now, " ")
		if label.FindString(now) != first {
			continue
		}
		if !*update && spacing.ReplaceAllString(now, " ") != spacing.ReplaceAllString(line, " ") {
			t.Errorf("the page shows\n%s\nthe command prints (-update writes it)\n%s", line, now)
		}
		return now
	}
	t.Errorf("the command prints no line that begins with %q", first)
	return line
}
