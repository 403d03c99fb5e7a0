package trace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/workload"
)

// damage changes the lines of a sound file in one place. One job must be left,
// with so many tasks, and the loss reported where it is.
type damage struct {
	name  string
	do    func(t *testing.T, lines []string) []string
	line  int
	what  string
	tasks int
}

func testDamage(t *testing.T, sound string, cases []damage) {
	t.Helper()
	h := readString(t, "sound", sound)
	if len(h.Problems) > 0 {
		t.Fatalf("the sound file has problems: %v", h.Problems)
	}
	all := strings.Split(strings.TrimSuffix(sound, "\n"), "\n")
	for _, x := range cases {
		t.Run(x.name, func(t *testing.T) {
			h := readString(t, "damaged", strings.Join(x.do(t, slices.Clone(all)), "\n"))
			if len(h.Jobs) != 1 || len(h.Jobs[0].Tasks) != x.tasks {
				t.Fatalf("%d jobs, want 1 of %d tasks; problems %v", len(h.Jobs), x.tasks, h.Problems)
			}
			found := slices.ContainsFunc(h.Problems, func(p workload.Problem) bool { return p.Line == x.line && strings.Contains(p.What, x.what) })
			if !found {
				t.Errorf("want %d: ...%s..., got %v", x.line, x.what, h.Problems)
			}
			if h.Strict() == nil {
				t.Error("strict reading accepts it")
			}
		})
	}
}

// Lines are counted from 1.

func replaceIn(line int, old, new string) func(*testing.T, []string) []string {
	return func(t *testing.T, l []string) []string {
		if !strings.Contains(l[line-1], old) {
			t.Fatalf("line %d does not contain %q", line, old)
		}
		l[line-1] = strings.Replace(l[line-1], old, new, 1)
		return l
	}
}

func deleteLine(line int) func(*testing.T, []string) []string {
	return func(_ *testing.T, l []string) []string { return slices.Delete(l, line-1, line) }
}

func insertAt(line int, text string) func(*testing.T, []string) []string {
	return func(_ *testing.T, l []string) []string { return slices.Insert(l, line-1, text) }
}

func cutAfter(lines, columns int) func(*testing.T, []string) []string {
	return func(_ *testing.T, l []string) []string { return append(l[:lines:lines], l[lines][:columns]) }
}

// readString reads a text as a file of any format.
func readString(t testing.TB, name, text string) *workload.History {
	t.Helper()
	path := t.TempDir() + "/" + name
	writeFile(t, path, text)
	return mustOpen(t, path)
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// A property without its end is damage, as for Hadoop.
func TestBrokenProperty(t *testing.T) {
	for _, end := range []string{"</propery>", "</property", ""} {
		name := filepath.Join(t.TempDir(), "mapred-site.xml")
		writeFile(t, name, "<configuration>\n<property><name>io.sort.mb</name><value>200</value>"+end+
			"\n<property><name>io.sort.factor</name><value>20</value></property>\n</configuration>\n")
		h, err := ReadOptions{}.Each([]string{name}, nil)
		if err != nil || len(h.Problems) != 1 {
			t.Errorf("%q: got %v, %v: want one loss", end, h, err)
		}
	}
}
