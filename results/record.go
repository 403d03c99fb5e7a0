package results

import (
	"io"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/results/text"
)

// record passes the cells of rows in the order of their columns. One list of cells names
// the columns of a table, writes its rows and reads them.
type record struct {
	columns *[]string    // to which names are added; nil: a row is passed
	b       []byte       // of the row that is written, with a comma after each cell
	from    *tableReader // of the row that is read; nil: it is written
}

// columnsOf returns the names of the cells of a row.
func columnsOf(row func(*record)) (columns []string) {
	row(&record{columns: &columns})
	return columns
}

// lists reports whether names are wanted, and adds one.
func (r *record) lists(column string) bool {
	if r.columns != nil {
		*r.columns = append(*r.columns, column)
	}
	return r.columns != nil
}

func (r *record) text(column string, v *string) {
	switch {
	case r.lists(column):
	case r.from != nil:
		*v = r.from.text()
	default:
		r.b = append(text.AppendField(r.b, *v), ',')
	}
}

// passWhole passes a whole number.
func passWhole[T ~int | ~int64](r *record, column string, v *T) {
	switch {
	case r.lists(column):
	case r.from != nil:
		*v = T(r.from.number())
	default:
		r.b = append(strconv.AppendInt(r.b, int64(*v), 10), ',')
	}
}

// passCount passes a whole number from 0.
func passCount[T ~int | ~int64](r *record, column string, v *T) {
	if r.from != nil {
		*v = T(r.from.count())
	} else {
		passWhole(r, column, v)
	}
}

// passFigure passes a whole number, and leaves 0 out.
func passFigure[T ~int | ~int64](r *record, column string, v *T) {
	if r.columns == nil && r.from == nil && *v == 0 {
		r.b = append(r.b, ',')
	} else {
		passWhole(r, column, v)
	}
}

// passAmount passes a whole number from 0, and leaves 0 out.
func passAmount[T ~int | ~int64](r *record, column string, v *T) {
	if r.from != nil {
		passCount(r, column, v)
	} else {
		passFigure(r, column, v)
	}
}

// passShare passes a number from 0.
func passShare(r *record, column string, v *float64) {
	switch {
	case r.lists(column):
	case r.from != nil:
		*v = r.from.figure()
	default:
		r.b = append(append(r.b, text.Share(*v).String()...), ',')
	}
}

// passNamed passes the name of one of the values below a limit.
func passNamed[T interface {
	~uint8
	String() string
}](r *record, column string, v *T, limit T) {
	switch {
	case r.lists(column):
	case r.from == nil:
		r.b = append(append(r.b, (*v).String()...), ',')
	default:
		cell := r.from.cell()
		for *v = 0; *v < limit; *v++ {
			if (*v).String() == string(cell) {
				return
			}
		}
		*v = 0
		r.from.wrong("a name that slotwave writes")
	}
}

// rowWriter writes the rows of a long CSV table. The caller passes them to the record,
// and then calls endRow. Another goroutine writes and hashes them at the same time,
// because this takes as long again.
type rowWriter struct {
	record
	full chan []byte // to the writing goroutine
	free chan []byte // back from it
	end  chan error
	err  error // of the writer, once closed
}

// start begins a table with its columns.
func (t *rowWriter) start(w io.Writer, columns []string) {
	const buffers = 3
	t.full, t.free, t.end = make(chan []byte, buffers), make(chan []byte, buffers), make(chan error)
	for range buffers {
		t.free <- make([]byte, 0, rowBuffer+4<<10)
	}
	t.b = <-t.free
	go t.drain(w)
	t.b = append(append(t.b, strings.Join(columns, ",")...), '\n')
}

// drain writes full buffers until the channel is closed. After an error it only
// returns them.
func (t *rowWriter) drain(w io.Writer) {
	var err error
	for b := range t.full {
		if err == nil {
			_, err = w.Write(b)
		}
		t.free <- b[:0]
	}
	t.end <- err
}

// endRow ends a row at its last comma.
func (t *rowWriter) endRow() {
	t.b[len(t.b)-1] = '\n'
	if len(t.b) >= rowBuffer {
		t.full <- t.b
		t.b = <-t.free
	}
}

// Close writes the rest and returns the first error. It does not close the
// underlying writer. A second call does nothing, so Close can also be deferred.
func (t *rowWriter) Close() error {
	if t.b != nil {
		t.full <- t.b
		close(t.full)
		t.b, t.err = nil, <-t.end
	}
	return t.err
}
