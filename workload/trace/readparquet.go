package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// parquetMagic begins a Parquet file.
const parquetMagic = "PAR1"

// readParquet reads a table of attempts, jobs or settings. The whole file is kept in
// memory, since its index comes last; of its rows only some are.
func readParquet(c *collector, s *source) error {
	data, err := io.ReadAll(s)
	if err != nil {
		return err
	}
	r, header, err := openParquet(data, c.limits)
	if err != nil {
		return err
	}
	return newTable(c, r, header).read()
}

// openParquet checks that the file keeps the limits and returns its rows and the
// names of its columns.
func openParquet(data []byte, limits Limits) (r *parquetRows, header []string, err error) {
	defer recoverParquet(&err)
	// The last 8 bytes are the length of the index before them, and PAR1.
	if n := len(data) - 8; n < len(parquetMagic) || int64(binary.LittleEndian.Uint32(data[n:])) > int64(n) {
		return nil, nil, errors.New("the end of the file is missing or damaged")
	}
	// Page indexes and Bloom filters only serve searches.
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
	if rows := f.NumRows(); rows < 0 || rows > int64(limits.Attempts) {
		return nil, nil, errAttempts
	}
	pages := pageCheck{data: data, most: max(ratioFrom, int64(limits.Ratio)*int64(len(data)))}
	if err := pages.check(f.Metadata()); err != nil {
		return nil, nil, err
	}
	return &parquetRows{groups: f.RowGroups(), row: make([]string, len(header)), line: 1}, header, nil
}

// pageCheck follows the headers of all pages of a file, before one is decoded. The
// decoder trusts what a file states; here the size of a page and the number of its
// values must fit the file.
type pageCheck struct {
	data []byte
	rows int64 // most in a group
	most int64 // bytes of all pages
	size int64 // bytes of the pages so far
	zstd *zstd.Decoder
}

func (k *pageCheck) check(m *format.FileMetaData) error {
	defer func() {
		if k.zstd != nil {
			k.zstd.Close()
		}
	}()
	for g := range m.RowGroups {
		k.rows = max(k.rows, m.RowGroups[g].NumRows)
	}
	for g := range m.RowGroups {
		for c := range m.RowGroups[g].Columns {
			if err := k.column(&m.RowGroups[g].Columns[c].MetaData); err != nil {
				return fmt.Errorf("column %d of group %d: %w", c+1, g+1, err)
			}
		}
	}
	return nil
}

var errPage = errors.New("a page is damaged")

func (k *pageCheck) column(m *format.ColumnMetaData) error {
	at := m.DataPageOffset
	if m.DictionaryPageOffset != 0 {
		at = m.DictionaryPageOffset
	}
	if at < 0 || m.TotalCompressedSize < 0 || at > int64(len(k.data)) || m.TotalCompressedSize > int64(len(k.data))-at {
		return errors.New("it lies outside of the file")
	}
	end, isPage := at+m.TotalCompressedSize, false
	for rest := k.data[at:end]; len(rest) > 0; {
		isPage = isPage || end-int64(len(rest)) == m.DataPageOffset
		header := new(thrift.CompactProtocol).NewReaderFromBytes(rest)
		var page format.PageHeader
		if err := thrift.NewDecoder(header).Decode(&page); err != nil {
			return fmt.Errorf("header of a page: %w", err)
		}
		rest = rest[header.BytesRead():]
		if page.CompressedPageSize < 0 || int(page.CompressedPageSize) > len(rest) {
			return errPage
		}
		if err := k.page(&page, m.Codec, rest[:page.CompressedPageSize]); err != nil {
			return err
		}
		rest = rest[page.CompressedPageSize:]
	}
	if !isPage && end > at {
		return errPage
	}
	return nil
}

func (k *pageCheck) page(page *format.PageHeader, codec format.CompressionCodec, content []byte) error {
	values := max(page.DataPageHeader.V.NumValues, page.DictionaryPageHeader.V.NumValues, page.DataPageHeaderV2.V.NumValues)
	if int64(values) > k.rows || page.UncompressedPageSize < 0 {
		return errPage
	}
	if k.size += int64(page.UncompressedPageSize); k.size > k.most {
		return errRatio
	}
	if page.Type == format.DataPageV2 {
		h := &page.DataPageHeaderV2.V
		levels := int64(h.RepetitionLevelsByteLength) + int64(h.DefinitionLevelsByteLength)
		if h.RepetitionLevelsByteLength < 0 || h.DefinitionLevelsByteLength < 0 || levels > int64(len(content)) {
			return errPage
		}
		if content = content[levels:]; h.IsCompressed.Valid && !h.IsCompressed.V {
			codec = format.Uncompressed
		}
	}
	size, err := k.unpacked(codec, content, int64(page.UncompressedPageSize))
	if err == nil && size > int64(page.UncompressedPageSize) {
		err = errPage
	}
	return err
}

// unpacked returns the size of decompressed content, or a size above most.
func (k *pageCheck) unpacked(codec format.CompressionCodec, content []byte, most int64) (int64, error) {
	var r io.Reader
	switch codec {
	case format.Uncompressed:
		return int64(len(content)), nil
	case format.Snappy:
		n, err := snappy.DecodedLen(content)
		return int64(n), err
	case format.Gzip:
		z, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return 0, err
		}
		r = z
	case format.Zstd:
		if k.zstd == nil {
			k.zstd, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderLowmem(true))
		}
		if err := k.zstd.Reset(bytes.NewReader(content)); err != nil {
			return 0, err
		}
		r = k.zstd
	default:
		return 0, fmt.Errorf("compressed with %s: want none, snappy, gzip or zstd", codec)
	}
	return io.Copy(io.Discard, io.LimitReader(r, most+1))
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
