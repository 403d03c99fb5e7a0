// Package evidence compares what tests measure with the tables of docs/evidence.
package evidence

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/shareddata"
)

// Compare compares the table of a test with docs/evidence/NAME.csv, or writes
// that file anew. text is a table as verbs print it, in Markdown. A sentence
// below the table sums it up, and is a figure of docs/validation.md.
func Compare(t testing.TB, name, text string, update bool) {
	t.Helper()
	table, sentences := parse(text)
	file := fileOf(name)
	now, err := os.ReadFile(file)
	switch {
	case err == nil && bytes.Equal(now, table):
	case !update:
		t.Errorf("docs/evidence/%s.csv has changed (-update writes it): got\n%s", name, table)
	default:
		if err := os.WriteFile(file, table, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(filepath.Join(shareddata.Module, "docs", "validation.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sentences {
		if !bytes.Contains(page, []byte(s)) {
			t.Errorf("docs/validation.md does not say: %s", s)
		}
	}
}

// parse returns the rows of a Markdown table as CSV, and the lines that are none.
func parse(text string) (table []byte, sentences []string) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "|--") || line == "":
		case strings.HasPrefix(line, "|"):
			w.Write(cells(line)) //nolint:errcheck // a buffer takes everything
		default:
			sentences = append(sentences, line)
		}
	}
	w.Flush()
	return b.Bytes(), sentences
}

func cells(row string) []string {
	all := strings.Split(strings.NewReplacer("`", "", "**", "").Replace(strings.Trim(row, "|")), "|")
	for i, cell := range all {
		all[i] = strings.TrimSpace(cell)
	}
	return all
}

// Rows are those of a file of docs/evidence, without the titles of its columns.
type Rows struct {
	name string
	rows [][]string
}

// Read reads docs/evidence/NAME.csv.
func Read(t testing.TB, name string) Rows {
	t.Helper()
	f, err := os.Open(fileOf(name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return Rows{name, rows[1:]}
}

// All returns the rows.
func (r Rows) All() [][]string { return r.rows }

// Want fails the test if a row is not in the file.
func (r Rows) Want(t testing.TB, row []string) {
	t.Helper()
	if !slices.ContainsFunc(r.rows, func(is []string) bool { return slices.Equal(is, row) }) {
		t.Errorf("docs/evidence/%s.csv does not have the row\n%s", r.name, strings.Join(row, ","))
	}
}

func fileOf(name string) string {
	return filepath.Join(shareddata.Module, "docs", "evidence", name+".csv")
}
