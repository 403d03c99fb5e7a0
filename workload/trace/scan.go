package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// jsonScanner reads a sequence of JSON values from a stream, token by token. It
// buffers little more than the present token, and skips unused members without
// decoding them. Names may recur in an object. Bytes that are not UTF-8 are
// replaced. After an error it goes on at the next line that begins an object.
type jsonScanner struct {
	dec     *jsontext.Decoder
	in      *bufio.Reader // of again, then of r
	r       io.Reader
	again   []byte // read ahead by the decoder before it was reset
	max     int    // longest token in bytes
	passed  int64  // bytes that the decoder has got from in since it was reset
	failure error  // why no more can be read

	breaks  int     // lines ended before those in ends
	ends    []int64 // where lines end that were not counted yet, in bytes passed
	text    []byte  // reused
	resyncs int
}

// maxResyncs is the number of damaged places allowed.
const maxResyncs = 1000

func newJSONScanner(from *source, max int) *jsonScanner {
	s := &jsonScanner{r: from.Reader, max: max, breaks: from.skipped}
	s.in = bufio.NewReaderSize(readerFunc(s.source), 1<<16)
	s.dec = jsontext.NewDecoder(readerFunc(s.pass), scannerOptions)
	return s
}

// only makes the scanner read one object of a text that has nothing else.
func (s *jsonScanner) only(text []byte, f func(name []byte) error) error {
	if s.dec == nil {
		s.dec = new(jsontext.Decoder)
	}
	s.dec.Reset(bytes.NewBuffer(text), scannerOptions)
	err := s.object(f)
	if more, _ := s.begin(); more && err == nil {
		err = errors.New("want one object")
	}
	return err
}

var scannerOptions = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func (s *jsonScanner) source(p []byte) (n int, err error) {
	if n = copy(p, s.again); n > 0 {
		s.again = s.again[n:]
		return n, nil
	}
	return s.r.Read(p)
}

// pass hands content to the decoder, which asks for more than the limit only
// within a token or a long blank.
func (s *jsonScanner) pass(p []byte) (n int, err error) {
	if s.passed-s.dec.InputOffset() > int64(s.max) {
		s.failure = errLineLong
		return 0, s.failure
	}
	s.line() // forgets the ends of the lines before the present token
	n, err = s.in.Read(p)
	for i := 0; ; i++ {
		next := bytes.IndexByte(p[i:n], '\n')
		if next < 0 {
			break
		}
		i += next
		s.ends = append(s.ends, s.passed+int64(i))
	}
	s.passed += int64(n)
	if err != nil && err != io.EOF {
		s.failure = err
	}
	return n, err
}

// line returns the number of the present line.
func (s *jsonScanner) line() int {
	passed, _ := slices.BinarySearch(s.ends, s.dec.InputOffset())
	s.breaks += passed
	s.ends = slices.Delete(s.ends, 0, passed)
	return s.breaks + 1
}

// lineOf returns the line number of an error. A syntax error lies after the
// last token.
func (s *jsonScanner) lineOf(err error) int {
	line := s.line()
	if at := (*jsontext.SyntacticError)(nil); errors.As(err, &at) {
		after, _ := slices.BinarySearch(s.ends, at.ByteOffset)
		line += after
	}
	return line
}

// fatal reports whether reading cannot go on after an error.
func (s *jsonScanner) fatal(err error) bool {
	return s.failure != nil || errors.Is(err, errAttempts)
}

// plain returns an error of the decoder in words for people.
func (s *jsonScanner) plain(err error) error {
	switch {
	case err == nil:
		return nil
	case s.failure != nil:
		return s.failure
	}
	if at := (*jsontext.SyntacticError)(nil); errors.As(err, &at) {
		return syntaxError{at}
	}
	if of := (*json.SemanticError)(nil); errors.As(err, &of) && of.JSONKind != 0 && of.Err == nil {
		return fmt.Errorf("%s: got %s: want a value of another kind", of.JSONPointer, cmp.Or(string(of.JSONValue), of.JSONKind.String()))
	}
	return err
}

// syntaxError is an error in the JSON syntax, in words for people.
type syntaxError struct{ *jsontext.SyntacticError }

func (e syntaxError) Error() string { return e.Err.Error() }
func (e syntaxError) Unwrap() error { return e.SyntacticError }

// begin reports whether another value of the sequence follows.
func (s *jsonScanner) begin() (bool, error) {
	if s.dec.PeekKind() > 0 {
		return true, nil
	}
	_, err := s.dec.ReadToken()
	switch {
	case err == io.EOF:
		return false, nil
	case s.failure != nil:
		return false, atLine(s.line(), s.failure)
	}
	return true, nil // the error recurs when the value is read
}

// open starts the object or list with the given bracket. It returns false for
// null.
func (s *jsonScanner) open(bracket jsontext.Kind) (bool, error) {
	switch kind := s.dec.PeekKind(); kind {
	case bracket, 'n', 0:
		_, err := s.dec.ReadToken()
		return kind == bracket, s.plain(err)
	}
	if bracket == '[' {
		return false, s.misfit("a list")
	}
	return false, s.misfit("an object")
}

// object calls f for each member of an object, and f reads its value. null is
// an empty object. The name is valid until f reads.
func (s *jsonScanner) object(f func(name []byte) error) error {
	if some, err := s.open('{'); !some || err != nil {
		return err
	}
	for s.dec.PeekKind() == '"' {
		raw, err := s.dec.ReadValue()
		if err == nil {
			err = f(s.unquote(raw))
		}
		if err != nil {
			return s.plain(err)
		}
	}
	_, err := s.dec.ReadToken()
	return s.plain(err)
}

// list calls f for each item of a list. null is an empty list.
func (s *jsonScanner) list(f func() error) error {
	if some, err := s.open('['); !some || err != nil {
		return err
	}
	for kind := s.dec.PeekKind(); kind != ']' && kind != 0; kind = s.dec.PeekKind() {
		if err := f(); err != nil {
			return err
		}
	}
	_, err := s.dec.ReadToken()
	return s.plain(err)
}

// unquote returns the text of a string, valid until the next read.
func (s *jsonScanner) unquote(raw []byte) []byte {
	s.text, _ = jsontext.AppendUnquote(s.text[:0], raw) // an error only reports replaced bytes
	return s.text
}

// misfit skips a value of the wrong type.
func (s *jsonScanner) misfit(want string) error {
	found := map[jsontext.Kind]string{'{': "an object", '[': "a list", '"': "text", '0': "a number", 't': "a truth value", 'f': "a truth value"}[s.dec.PeekKind()]
	if err := s.skip(); err != nil {
		return err
	}
	return s.named(fmt.Errorf("found %s: want %s", found, want))
}

// named returns an error with the name of the present member.
func (s *jsonScanner) named(err error) error {
	if kind, _ := s.dec.StackIndex(s.dec.StackDepth()); kind != '{' {
		return err
	}
	return fmt.Errorf("%s: %w", s.dec.StackPointer().LastToken(), err)
}

// string reads a text, valid until the next read; it is nil for null.
func (s *jsonScanner) string() ([]byte, error) {
	switch s.dec.PeekKind() {
	case '"':
		raw, err := s.dec.ReadValue()
		if err != nil {
			return nil, s.plain(err)
		}
		return s.unquote(raw), nil
	case 'n', 0:
		return nil, s.skip()
	}
	return nil, s.misfit("text")
}

// copy reads a text into reused memory; null is the empty text.
func (s *jsonScanner) copy(to *[]byte) error {
	text, err := s.string()
	if err == nil {
		*to = append((*to)[:0], text...)
	}
	return err
}

// scalar reads a text, or the text of a number or a truth value, valid until
// the next read. It returns false for null.
func (s *jsonScanner) scalar() (text []byte, some bool, err error) {
	switch s.dec.PeekKind() {
	case '0', 't', 'f':
		text, err = s.dec.ReadValue()
		return text, err == nil, s.plain(err)
	}
	text, err = s.string()
	return text, text != nil, err
}

// number reads a whole number into a field. null leaves the field unchanged.
func (s *jsonScanner) number(to *int64) error {
	switch s.dec.PeekKind() {
	case '0':
	case 'n', 0:
		return s.skip()
	default:
		return s.misfit("a number")
	}
	raw, err := s.dec.ReadValue()
	if err != nil {
		return s.plain(err)
	}
	v, err := wholeNumber(raw)
	if err != nil {
		return s.named(err)
	}
	*to = v
	return nil
}

// wholeNumber reads a number of JSON, which may be written as 3.0 or 3e0.
func wholeNumber(raw []byte) (int64, error) {
	v, err := strconv.ParseInt(string(raw), 10, 64)
	if err == nil {
		return v, nil
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f < -1<<63 || f >= 1<<63 {
		return 0, fmt.Errorf("%.40s: want a whole number", raw)
	}
	return int64(f), nil
}

// few is like list, for lists that are short in all sound files: replicas,
// attempts, layers and twelfths of progress.
func (s *jsonScanner) few(f func() error) error {
	const most = maxAttemptsOfTask
	n := 0
	return s.list(func() error {
		if n++; n > most {
			return fmt.Errorf("a list of more than %d items", most)
		}
		return f()
	})
}

// skip skips the next value.
func (s *jsonScanner) skip() error { return s.plain(s.dec.SkipValue()) }

// resync goes on at the next line that begins an object.
func (s *jsonScanner) resync() error {
	line := s.line()
	if s.resyncs++; s.resyncs > maxResyncs {
		return atLine(line, fmt.Errorf("more than %d places are damaged: refused", maxResyncs))
	}
	ahead, _ := s.in.Peek(s.in.Buffered())
	s.again = slices.Concat(s.dec.UnreadBuffer(), ahead, s.again)
	s.in.Reset(readerFunc(s.source))
	s.passed, s.ends = 0, s.ends[:0]
	defer func() { s.dec.Reset(readerFunc(s.pass), scannerOptions) }()
	const enough = 256
	for first := true; ; first = false {
		head, err := s.in.Peek(enough)
		if err != nil && err != io.EOF {
			return atLine(s.breaks+1, err)
		}
		if (!first || bytes.HasPrefix(head, []byte{'}'})) && beginsObject(head) {
			_, err := s.in.Discard(bytes.IndexByte(head, '{'))
			return err
		}
		for err = bufio.ErrBufferFull; err == bufio.ErrBufferFull; {
			_, err = s.in.ReadSlice('\n')
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return atLine(s.breaks+1, err)
		}
		s.breaks++
	}
}

// beginsObject reports whether a line begins with an object. The closing
// bracket of the previous object may precede it.
func beginsObject(line []byte) bool {
	if after, ok := bytes.CutPrefix(line, []byte{'}'}); ok {
		line = bytes.TrimLeft(after, " ")
	}
	return len(line) > 0 && line[0] == '{'
}
