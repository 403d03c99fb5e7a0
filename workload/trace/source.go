package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/slotwave/slotwave/workload"
)

// Limits limit what the readers accept, so that a hostile or damaged file
// causes an error and does not exhaust the memory. The zero value of a field
// takes its default.
type Limits struct {
	LineBytes int // longest line, or JSON or XML value: 16 MiB
	Ratio     int // size of decompressed content relative to the file, beyond the first 16 MiB: 150
	Attempts  int // tasks and attempts of all jobs read: 2,500,000
	Problems  int // problems kept in detail: 1,000
}

const ratioFrom = 16 << 20 // content up to this size may have any ratio

func (l Limits) withDefaults() Limits {
	set := func(field *int, value int) {
		if *field <= 0 {
			*field = value
		}
	}
	set(&l.LineBytes, 16<<20)
	set(&l.Ratio, 150)
	set(&l.Attempts, 2_500_000)
	set(&l.Problems, 1000)
	return l
}

var (
	errRatio    = errors.New("the compressed content is implausibly large for the file: refused")
	errLineLong = errors.New("line or value longer than the limit")
)

// lineError is an error that ends the reading of a file, with its line.
type lineError struct {
	line int
	error
}

func (e lineError) Unwrap() error { return e.error }

// atLine adds the line to an error. It unwraps only errors of this package.
func atLine(line int, err error) error {
	for _, own := range []error{errRatio, errLineLong} {
		if errors.Is(err, own) {
			err = own
		}
	}
	return lineError{line, err}
}

// source is one opened file: its decompressed content, after any leading
// comments.
type source struct {
	*bufio.Reader
	skipped int // leading lines of comment
	close   []func()
	guard   *ratioGuard // nil: not compressed
}

// damage returns the error that reading the compressed content found.
func (s *source) damage() error {
	if s.guard == nil {
		return nil
	}
	return s.guard.damage
}

func (s *source) Close() {
	for _, f := range s.close {
		f()
	}
}

// openSource opens a file for reading, from the machine if files is nil. It
// detects gzip from the content.
func openSource(files fs.FS, path string, limits Limits) (*source, error) {
	var f fs.File
	var err error
	if files == nil {
		f, err = os.Open(path)
	} else {
		f, err = files.Open(path)
	}
	if err != nil {
		return nil, err
	}
	s := &source{close: []func(){func() { f.Close() }}}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		s.Close()
		return nil, fmt.Errorf("%s: want a file, found a directory", path)
	}
	if err := s.decompress(f, limits); err != nil {
		s.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// decompress sets the content of s to that of r, decompressed.
func (s *source) decompress(r io.Reader, limits Limits) error {
	if err := s.unpack(r, limits); err != nil {
		return err
	}
	s.skipped = skipComment(s.Reader)
	return nil
}

func (s *source) unpack(r io.Reader, limits Limits) error {
	in := &counted{r: workload.CountedReader{Reader: r}}
	packed := bufio.NewReaderSize(in, 1<<16)
	magic, _ := packed.Peek(4)
	var out io.Reader
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(packed)
		if err != nil {
			return fmt.Errorf("gzip: %w", err)
		}
		out = z
	default:
		s.Reader = packed
		return nil
	}
	s.guard = &ratioGuard{r: out, in: in, ratio: int64(limits.Ratio)}
	s.Reader = bufio.NewReaderSize(s.guard, 1<<16)
	return nil
}

// counted counts the bytes that are read through it.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// ratioGuard fails when decompressed content outgrows its source. If the
// compressed content is truncated or damaged, it ends the content there.
type ratioGuard struct {
	r      io.Reader
	in     *counted
	n      int64
	ratio  int64
	damage error
}

func (g *ratioGuard) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	g.n += int64(n)
	if g.n > ratioFrom && g.n > g.ratio*g.in.n {
		return 0, errRatio
	}
	if err != nil && err != io.EOF {
		g.damage = err
		return n, io.EOF
	}
	return n, err
}

// lines reads a text line by line and counts them.
type lines struct {
	r    *bufio.Reader
	max  int
	line int    // number of the last returned line
	buf  []byte // a line that spans buffers
}

// next returns the next line without its line end, valid until the next call.
// It skips a line beyond the limit and returns errLineLong. Reading may go on
// afterwards.
func (l *lines) next() ([]byte, error) {
	chunk, err := l.r.ReadSlice('\n')
	if err == nil {
		l.line++
		return trimEnd(chunk), nil
	}
	l.buf = l.buf[:0]
	long := false
	for err == bufio.ErrBufferFull {
		if len(l.buf)+len(chunk) > l.max {
			long, l.buf = true, l.buf[:0]
		}
		l.buf = append(l.buf, chunk...)
		chunk, err = l.r.ReadSlice('\n')
	}
	if err != nil && (err != io.EOF || len(l.buf)+len(chunk) == 0) {
		return nil, err
	}
	l.line++
	if long || len(l.buf)+len(chunk) > l.max {
		return nil, errLineLong
	}
	l.buf = append(l.buf, chunk...)
	return trimEnd(l.buf), nil
}

func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// skipComment skips leading blank lines and comments (a licence before the
// header): lines of # or //, /* */ and <!-- -->. It returns the lines skipped.
func skipComment(r *bufio.Reader) (skipped int) {
	for {
		head, _ := r.Peek(4)
		var end string
		switch {
		case len(head) == 0:
			return skipped
		case head[0] == '\n', bytes.HasPrefix(head, []byte("\r\n")), head[0] == '#', bytes.HasPrefix(head, []byte("//")):
			end = "\n"
		case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}): // byte order mark
			r.Discard(3)
			continue
		case bytes.HasPrefix(head, []byte("/*")):
			end = "*/"
		case bytes.HasPrefix(head, []byte("<!--")):
			end = "-->"
		default:
			return skipped
		}
		for matched := 0; matched < len(end); {
			b, err := r.ReadByte()
			if err != nil {
				return skipped
			}
			if b == '\n' {
				skipped++
			}
			switch {
			case b == end[matched]:
				matched++
			case b != end[0]:
				matched = 0
			case end != "-->" || matched != 2: // a third dash before > still ends the comment
				matched = 1
			}
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// maxAttemptsOfTask is far above what Hadoop allows (four, or up to twenty, and
// the killed ones). More mean a damaged file.
const maxAttemptsOfTask = 1000

var errAttempts = errors.New("more than 2.5 million tasks and attempts, which would take over 2 GB of memory: want fewer jobs at once, such as those of a week")

// baseName returns the name of a file without its directories.
func baseName(path string) string { return filepath.Base(filepath.ToSlash(path)) }
