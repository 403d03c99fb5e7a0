// Package measured provides tests with tables of measured runs, and counts how
// often a model matches them.
package measured

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/shareddata"
)

// Path returns the path of a file of the measured data sets.
func Path(t testing.TB, name string) string {
	t.Helper()
	return shareddata.Path(t, "data/"+name)
}

// Open opens a file of the measured data sets, and unpacks one that ends in .gz.
func Open(t testing.TB, name string) io.Reader {
	t.Helper()
	f, err := os.Open(Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if !strings.HasSuffix(name, ".gz") {
		return f
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// A Record is one row of a table by the names of its columns.
type Record map[string]string

// Records reads a table with a header; sep separates its fields.
func Records(t testing.TB, name, sep string) []Record {
	t.Helper()
	lines := bufio.NewScanner(Open(t, name))
	lines.Buffer(nil, 1<<20)
	var header []string
	var rows []Record
	for lines.Scan() {
		fields := strings.Split(lines.Text(), sep)
		if header == nil {
			header = fields
			continue
		}
		row := Record{}
		for i, name := range header {
			if _, twice := row[name]; !twice && i < len(fields) {
				row[name] = fields[i]
			}
		}
		rows = append(rows, row)
	}
	if lines.Err() != nil || len(rows) == 0 {
		t.Fatalf("%s: %d rows, %v", name, len(rows), lines.Err())
	}
	return rows
}

// Number returns the number in a column, 0 if there is none.
func (r Record) Number(name string) float64 {
	f, err := strconv.ParseFloat(r[name], 64)
	if err != nil {
		return 0
	}
	return f
}

// Exact counts how often a figure equals the measured one.
type Exact struct{ of, equal int }

// Check counts one figure, and fails the test if it differs from the measured
// one.
func (e *Exact) Check(t testing.TB, what string, got, want float64) {
	t.Helper()
	e.of++
	if got == want {
		e.equal++
	} else {
		t.Errorf("%s: %v, measured %v", what, got, want)
	}
}

// Report fails the test unless the number of figures equals that in the data.
func (e *Exact) Report(t testing.TB, what string, of int) {
	t.Helper()
	t.Logf("%s: %d of %d", what, e.equal, e.of)
	if e.of != of {
		t.Errorf("%s: %d figures in the data, want %d", what, e.of, of)
	}
}
