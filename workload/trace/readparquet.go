package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// parquetMagic begins a Parquet file.
const parquetMagic = "PAR1"

// readParquet reads a table of attempts, jobs or settings. The whole file is kept in
// memory, since its index comes last; of its rows only some are.
func (c *collector) readParquet(s *source) error {
	data, err := io.ReadAll(s)
	if err != nil {
		return err
	}
	r, header, err := c.openParquet(data)
	if err != nil {
		return err
	}
	return c.readRows(c.tableOf(r, header))
}

// openParquet checks that the file keeps the limits and returns its rows and the
// names of its columns.
func (c *collector) openParquet(data []byte) (r *parquetRows, header []string, err error) {
	defer recoverParquet(&err)
	// Indexes and Bloom filters only serve searches.
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, nil, err
	}
	for _, path := range f.Schema().Columns() {
		if leaf, _ := f.Schema().Lookup(path...); len(path) != 1 || leaf.MaxRepetitionLevel > 0 {
			return nil, nil, fmt.Errorf("column %.100q is nested: want a table of plain columns", strings.Join(path, "."))
		}
		header = append(header, path[0])
	}
	if len(header) == 0 {
		return nil, nil, errors.New("a table without columns")
	}
	if rows := f.NumRows(); rows < 0 || rows > int64(c.limits.Attempts) {
		return nil, nil, errAttempts
	}
	if err := c.checkPages(data, f.Metadata()); err != nil {
		return nil, nil, err
	}
	return &parquetRows{groups: f.RowGroups(), row: make([]string, len(header)), line: 1}, header, nil
}

// checkPages follows the headers of all pages. A page states the room that it needs
// when it is decoded, which must fit the size of the file.
func (c *collector) checkPages(data []byte, m *format.FileMetaData) error {
	var size, values int64
	rows := int64(0)
	for g := range m.RowGroups {
		rows = max(rows, m.RowGroups[g].NumRows)
		for k := range m.RowGroups[g].Columns {
			column := &m.RowGroups[g].Columns[k].MetaData
			at := column.DataPageOffset
			if d := column.DictionaryPageOffset; d > 0 {
				at = min(at, d)
			}
			if at < 0 || column.TotalCompressedSize < 0 || at > int64(len(data)) || column.TotalCompressedSize > int64(len(data))-at {
				return fmt.Errorf("column %d lies outside of the file", k)
			}
			for rest := data[at : at+column.TotalCompressedSize]; len(rest) > 0; {
				in := bytes.NewReader(rest)
				var page format.PageHeader
				if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(in)).Decode(&page); err != nil {
					return fmt.Errorf("column %d: header of a page: %w", k, err)
				}
				size += int64(page.UncompressedPageSize)
				of := max(page.DataPageHeader.V.NumValues, page.DictionaryPageHeader.V.NumValues, page.DataPageHeaderV2.V.NumValues)
				values = max(values, int64(of))
				if page.UncompressedPageSize < 0 || page.CompressedPageSize < 0 || int(page.CompressedPageSize) > in.Len() {
					return fmt.Errorf("column %d: a page lies outside of the file", k)
				}
				if size > ratioFrom && size > int64(c.limits.Ratio)*int64(len(data)) {
					return errRatio
				}
				rest = rest[len(rest)-in.Len()+int(page.CompressedPageSize):]
			}
		}
	}
	if values > rows {
		return fmt.Errorf("a page has %d values: want at most the %d of the rows", values, rows)
	}
	return nil
}

// recoverParquet makes an error of a panic: the decoder panics at some damaged
// files.
func recoverParquet(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("damaged Parquet: %v", r)
	}
}

// parquetRows reads the rows of a Parquet table as the text that a table of commas
// would have.
type parquetRows struct {
	groups []parquet.RowGroup
	rows   parquet.Rows // of the group that is read
	buffer []parquet.Row
	left   []parquet.Row // rows of the buffer that are not read
	row    []string
	line   int // of the last row; a header would be line 1
}

func (r *parquetRows) read() (row []string, line int, err error) {
	defer recoverParquet(&err)
	for len(r.left) == 0 {
		if r.rows == nil {
			if len(r.groups) == 0 {
				return nil, 0, io.EOF
			}
			r.rows, r.groups = r.groups[0].Rows(), r.groups[1:]
		}
		if err := r.fill(); err != nil {
			return nil, 0, err
		}
	}
	clear(r.row)
	for _, v := range r.left[0] {
		if k := v.Column(); k >= 0 && k < len(r.row) {
			r.row[k] = cellOf(v)
		}
	}
	r.left = r.left[1:]
	r.line++
	return r.row, r.line, nil
}

// fill reads some rows of a group, and closes it at its end.
func (r *parquetRows) fill() error {
	if r.buffer == nil {
		r.buffer = make([]parquet.Row, 256)
	}
	n, err := r.rows.ReadRows(r.buffer)
	r.left = r.buffer[:n]
	if err == io.EOF {
		err = r.rows.Close()
		r.rows = nil
	} else if n == 0 && err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// cellOf writes a value as in a table of text; one that is null or no number is
// unknown.
func cellOf(v parquet.Value) string {
	if v.IsNull() {
		return ""
	}
	switch v.Kind() {
	case parquet.Boolean:
		return strconv.FormatBool(v.Boolean())
	case parquet.Int32:
		return strconv.FormatInt(int64(v.Int32()), 10)
	case parquet.Int64:
		return strconv.FormatInt(v.Int64(), 10)
	case parquet.Float:
		return number(float64(v.Float()))
	case parquet.Double:
		return number(v.Double())
	}
	return string(v.ByteArray())
}

func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
