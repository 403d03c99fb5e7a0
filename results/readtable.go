package results

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// rowBuffer is so large that passing a buffer on costs little per row.
const rowBuffer = 256 << 10

// tableReader reads a table that slotwave wrote, row by row, and each row cell by
// cell. The first cell that it cannot read ends the table.
type tableReader struct {
	in      *bufio.Reader
	file    string // in errors
	line    int
	columns []string
	cells   [][]byte // of the row, valid until the next one
	next    int      // cell to read
	names   map[string]string
	err     error
}

// readTable reads the header, which must be one of those given.
func readTable(r io.Reader, file string, headers ...[]string) *tableReader {
	t := &tableReader{in: bufio.NewReaderSize(r, rowBuffer), file: file, names: map[string]string{}}
	if _, err := t.split(); err != nil {
		t.fail("%v", err)
	}
	for _, cell := range t.cells {
		t.columns = append(t.columns, string(cell))
	}
	if !slices.ContainsFunc(headers, func(h []string) bool { return slices.Equal(h, t.columns) }) {
		t.fail("got columns %s: want %s; another version of slotwave wrote it: run the scenario again",
			text.Escape(strings.Join(t.columns, ",")), strings.Join(headers[0], ","))
	}
	return t
}

// split reads the cells of a line, and reports whether there is one.
func (t *tableReader) split() (more bool, err error) {
	t.line++
	line, err := t.in.ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	t.cells, t.next = splitRow(t.cells[:0], bytes.TrimRight(line, "\r\n")), 0
	return len(line) > 0, nil
}

// row goes to the next row, and reports whether there is one.
func (t *tableReader) row() bool {
	if t.err != nil {
		return false
	}
	more, err := t.split()
	switch {
	case err != nil:
		t.fail("%v", err)
	case more && len(t.cells) != len(t.columns):
		t.fail("got %s: want %d", workload.Counted(len(t.cells), "column", "columns"), len(t.columns))
	}
	return more && t.err == nil
}

// splitRow appends the cells of a row of CSV.
func splitRow(cells [][]byte, row []byte) [][]byte {
	for {
		i := bytes.IndexByte(row, ',')
		if i < 0 {
			i = len(row)
		}
		if len(row) == 0 || row[0] != '"' {
			if cells = append(cells, row[:i]); i == len(row) {
				return cells
			}
			row = row[i+1:]
			continue
		}
		var cell []byte
		for i = 1; i < len(row); i++ {
			if row[i] == '"' {
				if i+1 == len(row) || row[i+1] != '"' {
					break
				}
				i++
			}
			cell = append(cell, row[i])
		}
		if cells = append(cells, cell); i+1 >= len(row) {
			return cells
		}
		row = row[i+2:]
	}
}

func (t *tableReader) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf("%s:%d: %s", t.file, t.line, fmt.Sprintf(format, args...))
	}
}

// wrong reports the cell that was read last.
func (t *tableReader) wrong(want string) {
	t.fail("%s: got %s: want %s", t.columns[t.next-1], strconv.Quote(string(t.cells[t.next-1])), want)
}

func (t *tableReader) cell() []byte {
	t.next++
	return t.cells[t.next-1]
}

// text returns a cell, of which one copy is kept for all rows.
func (t *tableReader) text() string {
	cell := t.cell()
	own, known := t.names[string(cell)]
	if !known {
		own = workload.Unescape(string(cell))
		t.names[string(cell)] = own
	}
	return own
}

// number reads a whole number. A figure of 0 may be left out.
func (t *tableReader) number() int64 {
	cell := t.cell()
	switch {
	case len(cell) == 0:
		return 0
	case len(cell) == 1 && cell[0] >= '0' && cell[0] <= '9': // as most are
		return int64(cell[0] - '0')
	}
	n, err := strconv.ParseInt(string(cell), 10, 64)
	if err != nil {
		t.wrong("a whole number")
	}
	return n
}

// count reads a whole number from 0.
func (t *tableReader) count() int64 {
	n := t.number()
	if n < 0 {
		t.wrong("a whole number from 0")
	}
	return n
}

// figure reads a number from 0. One of 0 may be left out.
func (t *tableReader) figure() float64 {
	cell := t.cell()
	if len(cell) == 0 {
		return 0
	}
	x, err := strconv.ParseFloat(string(cell), 64)
	if err != nil || !(x >= 0) {
		t.wrong("a number from 0")
	}
	return x
}

// follows reports whether the next cell has a text.
func (t *tableReader) follows(text string) bool { return string(t.cells[t.next]) == text }
