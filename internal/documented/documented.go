// Package documented reads what the pages say of a file, for tests that compare it with
// the code that writes the file.
package documented

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Columns reads the first column of the table below a heading of a page.
func Columns(t *testing.T, page, heading string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("%s has no part on %s", page, heading)
	}
	part, _, _ := strings.Cut(rest, "\n## ")
	var names []string
	for _, cell := range regexp.MustCompile("(?m)^\\| (`[^`]+`(?:, `[^`]+`)*) \\|").FindAllStringSubmatch(part, -1) {
		names = append(names, strings.Split(strings.Trim(cell[1], "`"), "`, `")...)
	}
	return names
}
