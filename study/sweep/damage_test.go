package sweep_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study/sweep"
)

// finished are the simulations of a sweep, as text.
func finished(t *testing.T, s *sweep.Sweep) string {
	t.Helper()
	text := ""
	for point := range s.NumPoints {
		text += fmt.Sprintln(s.Runs(point))
	}
	return text
}

// resumed continues a sweep from a journal, and returns all its simulations.
func resumed(t *testing.T, study, folder string) (string, error) {
	t.Helper()
	s, err := sweep.Open(study, sweep.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	j, err := s.OpenJournal(folder, resultdir.Build{})
	if err != nil {
		return "", err
	}
	if err := s.Run(j, nil); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return finished(t, s), nil
}

// merged joins the rows of a file, and returns all its simulations.
func merged(t *testing.T, file string) (string, error) {
	t.Helper()
	s, err := sweep.Merge([]string{file}, resultdir.Build{})
	if err != nil {
		return "", err
	}
	return finished(t, s), nil
}

// A damaged byte of a journal or a file of rows is refused with its line, or changes
// nothing: the last line may be one that was cut off, and is simulated again.
func TestDamagedByte(t *testing.T) {
	study, folder := smallPoints(t, 3), t.TempDir()
	journal := filepath.Join(folder, resultdir.JournalName)
	want, err := resumed(t, study, folder)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := merged(t, journal); err != nil || got != want {
		t.Fatalf("merge: got %s, %v: want %s", got, err, want)
	}
	place := regexp.MustCompile(`\.partial:[1-4]: `)
	step := 1
	if testing.Short() {
		step = 7
	}
	refused, same := 0, 0
	for at := 0; at < len(whole); at += step {
		for _, by := range []byte{whole[at] ^ 1, '\n'} {
			if by == whole[at] {
				continue
			}
			text := bytes.Clone(whole)
			text[at] = by
			for verb, read := range map[string]func() (string, error){
				"resume": func() (string, error) { return resumed(t, study, folder) },
				"merge":  func() (string, error) { return merged(t, journal) },
			} {
				if err := os.WriteFile(journal, text, 0o666); err != nil {
					t.Fatal(err)
				}
				got, err := read()
				switch {
				case err != nil && (verb == "resume" || at < len(whole)-1) && !place.MatchString(err.Error()):
					t.Errorf("%s: byte %d: %q does not say where", verb, at, err)
				case err != nil:
					refused++
				case got != want:
					t.Errorf("%s: byte %d: got %s: want %s", verb, at, got, want)
				default:
					same++
				}
				if now, _ := os.ReadFile(journal); err != nil && !bytes.Equal(now, text) {
					t.Errorf("%s: byte %d: the refused file changed", verb, at)
				}
			}
		}
	}
	t.Logf("%d bytes: %d damages refused, %d without effect", len(whole), refused, same)
}

// Damages of whole rows, of figures and of older files are refused.
func TestDamagedRows(t *testing.T) {
	study, folder := smallPoints(t, 3), t.TempDir()
	journal := filepath.Join(folder, resultdir.JournalName)
	if _, err := resumed(t, study, folder); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	values := regexp.MustCompile(`"values":\[([^],]*)`)
	first := func(line string) string { return values.FindStringSubmatch(line)[1] }
	set := func(line, figure string) string {
		return values.ReplaceAllLiteralString(line, `"values":[`+figure)
	}
	edit := func(at int, line string) string {
		changed := append([]string{}, lines...)
		changed[at] = line
		return strings.Join(changed, "")
	}
	old := regexp.MustCompile(`,"(crc32c|row)":("[^"]*"|\d+)`).ReplaceAllString(strings.Replace(string(whole), "journal/2", "journal/1", 1), "")
	for name, c := range map[string]struct{ text, want string }{
		"negative":   {edit(1, set(lines[1], "-5")), ":2: damaged: crc32c: got "},
		"huge":       {edit(2, set(lines[2], "1e300")), ":3: damaged: crc32c: got "},
		"null":       {edit(3, set(lines[3], "null")), ":4: damaged: crc32c: got "},
		"swapped":    {lines[0] + set(lines[1], first(lines[2])) + set(lines[2], first(lines[1])) + lines[3], ":2: damaged: crc32c: got "},
		"missing":    {lines[0] + lines[1] + lines[3], ":3: row: got 3: want 2"},
		"repeated":   {lines[0] + lines[1] + lines[1] + lines[2], ":3: row: got 1: want 2"},
		"cut within": {edit(2, lines[2][:40]+"\n"), ":3: damaged: want a line that ends with its checksum"},
		"older":      {old, ":1: schema: got \"slotwave/journal/1\", which has no checksums: want \"slotwave/journal/2\": remove the file and run slotwave sweep work again"},
		"other file": {"notes of mine", ":1: not a file of finished simulations"},
	} {
		if err := os.WriteFile(journal, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := resumed(t, study, folder); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: resume: got %v: want %q", name, err, c.want)
		}
		if _, err := merged(t, journal); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: merge: got %v: want %q", name, err, c.want)
		}
		if now, _ := os.ReadFile(journal); string(now) != c.text {
			t.Errorf("%s: the refused file changed", name)
		}
	}
}
