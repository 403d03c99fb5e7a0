package trace

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// table reads the rows of a file with a header.
type table struct {
	c       *collector
	csv     *csv.Reader
	header  []string
	columns map[string]int
	skipped int      // lines before the header
	row     []string // valid until the next one
	line    int
}

// textTable reads the header. Tables with tabs, and those of HiTune, do not
// quote.
func (c *collector) textTable(s *source, quoted bool) (*table, error) {
	head, _ := s.Peek(1 << 12)
	first, _, _ := bytes.Cut(head, []byte{'\n'})
	in := capLines(s, c.limits.LineBytes)
	tabs := bytes.Contains(first, []byte{'\t'})
	if tabs || !quoted {
		in = withoutQuotes(in)
	}
	t := &table{c: c, csv: csv.NewReader(in), columns: make(map[string]int), skipped: s.skipped}
	t.csv.ReuseRecord = true
	if tabs {
		t.csv.Comma = '\t'
	}
	header, err := t.csv.Read()
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	t.header = slices.Clone(header)
	for i, name := range t.header {
		if _, twice := t.columns[name]; twice && name != "" {
			c.problem(t.skipped+1, "column %.80s occurs twice: the last one is read", name)
		}
		t.columns[name] = i
	}
	return t, nil
}

// next goes to the next row. Those that do not fit the header are dropped.
func (t *table) next() (more bool, err error) {
	for {
		t.row, err = t.csv.Read()
		var damaged *csv.ParseError
		switch {
		case errors.As(err, &damaged):
			t.c.problem(damaged.StartLine+t.skipped, "line is lost: %v", damaged.Err)
			continue
		case err == io.EOF:
			return false, nil
		case err != nil:
			return false, err
		}
		t.line, _ = t.csv.FieldPos(0)
		t.line += t.skipped
		return true, nil
	}
}

// cell returns the cell of the first of the named columns that the table has.
func (t *table) cell(names ...string) string {
	for _, name := range names {
		if i, ok := t.columns[name]; ok {
			return t.row[i]
		}
	}
	return ""
}

func (t *table) has(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { _, ok := t.columns[n]; return ok })
}

// splitUnit splits the unit off the name of a time column.
func splitUnit(name string) (base string, unit time.Duration) {
	for _, u := range timeUnits {
		if base, ok := strings.CutSuffix(name, u.suffix); ok {
			return base, u.unit
		}
	}
	return name, 0
}

var timeUnits = []struct {
	suffix string
	unit   time.Duration
}{
	{"_ns", 1}, {"_us", time.Microsecond}, {"_ms", time.Millisecond}, {"_s", time.Second}, {"_ts", unixUnit},
}

// unixUnit marks columns of Unix time in milliseconds.
const unixUnit time.Duration = -1

func (t *table) number(name, text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		t.c.problem(t.line, "%s = %.40q: want a number", name, text)
		return 0, false
	}
	return v, true
}

// instant returns a point in time.
func (t *table) instant(name, text string, unit time.Duration) time.Duration {
	if unit == 1 { // not all nanoseconds fit a float
		if v, err := strconv.ParseInt(text, 10, 64); err == nil && v >= int64(-maxSkew) && v != workload.Unknown {
			t.c.differences = true
			return time.Duration(v)
		}
	}
	v, ok := t.number(name, text)
	if !ok {
		return workload.UnknownTime
	}
	if unit == unixUnit {
		return t.c.unixMillis(t.line, name, int64(v))
	}
	return t.c.relative(t.line, name, v, unit)
}

// maxSkew limits how far an instant may lie before the start: the clocks of
// machines differ.
const maxSkew = time.Hour

// relative returns an instant from the start of the source; -1 is unknown.
func (c *collector) relative(line int, what string, v float64, unit time.Duration) time.Duration {
	if v == workload.Unknown {
		return workload.UnknownTime
	}
	if ns := v * float64(unit); ns < float64(-maxSkew) || ns >= math.MaxInt64/2 {
		c.problem(line, "%s = %g: want a time since the start of the workload", what, v)
		return workload.UnknownTime
	}
	c.differences = true
	return time.Duration(math.Round(v * float64(unit)))
}

// span returns a duration.
func (t *table) span(name, text string, unit time.Duration) time.Duration {
	if unit == 1 {
		if v, err := strconv.ParseInt(text, 10, 64); err == nil && v >= 0 {
			return time.Duration(v)
		}
	}
	v, ok := t.number(name, text)
	if ok && v == workload.Unknown {
		return workload.UnknownTime
	}
	if ok && v >= 0 && unit != unixUnit && v*float64(unit) < math.MaxInt64/2 {
		return time.Duration(math.Round(v * float64(unit)))
	}
	if ok {
		t.c.problem(t.line, "%s = %.40q: want a duration", name, text)
	}
	return workload.UnknownTime
}

// count returns a number that cannot be negative; -1 is unknown.
func (t *table) count(name, text string) int64 {
	v, err := parseCount(text)
	if err != nil {
		t.c.problem(t.line, "%s = %.40q: want a number, 0 or more", name, text)
		return workload.Unknown
	}
	return v
}

// parseCount reads a whole number of at least -1, which may be written as 3.0.
func parseCount(text string) (int64, error) {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		f, ferr := strconv.ParseFloat(text, 64)
		if ferr != nil || f != math.Trunc(f) || f < workload.Unknown || f >= math.MaxInt64 {
			return 0, fmt.Errorf("%q: want a whole number", text)
		}
		return int64(f), nil
	}
	if v < workload.Unknown {
		return 0, fmt.Errorf("%q: want a whole number, 0 or more", text)
	}
	return v, nil
}
