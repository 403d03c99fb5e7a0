package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/slotwave/slotwave/workload"
)

// jsonScanner reads a sequence of JSON values from a stream, token by token. It
// buffers little more than the present token, looks at each byte once, and
// skips unused members without decoding them. Names may recur in an object.
// Bytes that are not UTF-8 are replaced. After an error it goes on at the next
// line that begins an object.
type jsonScanner struct {
	r    io.Reader
	end  error  // why r ended
	buf  []byte // bytes read from r and not yet dropped
	pos  int    // position after the last token
	fail int    // position of the last syntax error
	max  int    // longest token in bytes

	breaks  int // lines ended before buf[counted]
	counted int

	first   bool // the object or list opened last has no member yet
	depth   int
	name    []byte // name of the present member; empty for an item
	text    []byte // reused
	resyncs int
}

const (
	maxDepth   = 10_000 // nesting depth of objects and lists
	maxResyncs = 1000   // number of damaged places allowed
)

func newJSONScanner(from *source, max int) *jsonScanner {
	return &jsonScanner{r: from.Reader, max: max, breaks: from.skipped, buf: make([]byte, 0, 1<<17)}
}

// line returns the number of the present line.
func (s *jsonScanner) line() int {
	s.breaks += bytes.Count(s.buf[s.counted:s.pos], []byte{'\n'})
	s.counted = s.pos
	return s.breaks + 1
}

// lineOf returns the line number of an error. A syntax error lies after the
// last token.
func (s *jsonScanner) lineOf(err error) int {
	if errors.As(err, new(syntaxError)) {
		return s.line() + bytes.Count(s.buf[s.pos:s.fail], []byte{'\n'})
	}
	return s.line()
}

// syntaxError is an error in the JSON syntax.
type syntaxError string

func (e syntaxError) Error() string { return string(e) }

// wrong records a syntax error at buf[i].
func (s *jsonScanner) wrong(i int, where string) error {
	s.fail = i
	c, size := utf8.DecodeRune(s.buf[i:])
	if c == utf8.RuneError && size == 1 {
		return syntaxError(fmt.Sprintf(`invalid character '\x%02x' %s`, s.buf[i], where))
	}
	return syntaxError(fmt.Sprintf("invalid character %q %s", c, where))
}

// more reads until there is a byte at buf[i], and returns the new index of that
// byte.
func (s *jsonScanner) more(i int) (int, error) {
	const most = 100
	for tries := 0; i >= len(s.buf); tries++ {
		if s.end != nil {
			s.fail = len(s.buf)
			return i, s.end
		}
		if s.pos > 0 {
			s.line()
			i -= s.pos
			s.buf = s.buf[:copy(s.buf, s.buf[s.pos:])]
			s.pos, s.counted = 0, 0
		}
		if len(s.buf) > s.max {
			return i, errLineLong
		}
		if len(s.buf) == cap(s.buf) {
			s.buf = append(make([]byte, 0, 2*cap(s.buf)), s.buf...)
		}
		n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf, s.end = s.buf[:len(s.buf)+n], err
		if n > 0 {
			tries = 0
		} else if err == nil && tries == most {
			return i, io.ErrNoProgress
		}
	}
	return i, nil
}

// fatal reports whether reading cannot go on after an error.
func (s *jsonScanner) fatal(err error) bool {
	return errors.Is(err, errLineLong) || errors.Is(err, errAttempts) || errors.Is(err, io.ErrNoProgress) ||
		s.end != nil && s.end != io.EOF && errors.Is(err, s.end)
}

// within is like more inside a value, where the content must not end.
func (s *jsonScanner) within(i int) (int, error) {
	i, err := s.more(i)
	if err == io.EOF {
		err = syntaxError("unexpected EOF")
	}
	return i, err
}

// after returns the first byte from buf[i] on that is not blank.
func (s *jsonScanner) after(i int) (int, byte, error) {
	for {
		for ; i < len(s.buf); i++ {
			if c := s.buf[i]; c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
				return i, c, nil
			}
		}
		var err error
		if i, err = s.more(i); err != nil {
			return i, 0, err
		}
	}
}

// next is like after, inside a value.
func (s *jsonScanner) next(i int) (int, byte, error) {
	i, c, err := s.after(i)
	if err == io.EOF {
		err = syntaxError("unexpected EOF")
	}
	return i, c, err
}

// begin reports whether another value of the sequence follows.
func (s *jsonScanner) begin() (bool, error) {
	s.depth = 0
	_, _, err := s.after(s.pos)
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, atLine(s.line(), err)
	}
	return true, nil
}

// open starts the object or list with the given bracket. It returns false for
// null.
func (s *jsonScanner) open(bracket byte) (bool, error) {
	i, c, err := s.next(s.pos)
	if err != nil {
		return false, err
	}
	if c == 'n' {
		return false, s.null(i)
	}
	if c != bracket {
		want := "an object"
		if bracket == '[' {
			want = "a list"
		}
		return false, s.misfit(want)
	}
	err = s.enter(i)
	return err == nil, err
}

func (s *jsonScanner) enter(i int) error {
	if s.depth++; s.depth > maxDepth {
		s.fail = i
		return syntaxError("exceeded max depth")
	}
	s.pos, s.first = i+1, true
	return nil
}

// member goes to the next member of the open object and returns its name, which
// is valid until the next one is read. After the last one it returns false.
func (s *jsonScanner) member() (name []byte, ok bool, err error) {
	i, c, err := s.next(s.pos)
	if err != nil {
		return nil, false, err
	}
	switch {
	case c == '}':
		s.leave(i)
		return nil, false, nil
	case s.first:
	case c != ',':
		return nil, false, s.wrong(i, "after object value (expecting ',' or '}')")
	default:
		comma := i - s.pos
		if i, c, err = s.next(i + 1); err != nil {
			return nil, false, err
		}
		if c == '}' || c == ']' {
			return nil, false, s.wrong(s.pos+comma, "before the end of an object")
		}
	}
	if c != '"' {
		return nil, false, s.wrong(i, "where the name of a member begins (expecting '\"')")
	}
	name, end, err := s.str(i)
	if err != nil {
		return nil, false, err
	}
	s.name, s.pos = append(s.name[:0], name...), end
	if end, c, err = s.next(end); err != nil {
		return nil, false, err
	}
	if c != ':' {
		return nil, false, s.wrong(end, "after object name (expecting ':')")
	}
	s.pos, s.first = end+1, false
	return s.name, true, nil
}

// item goes to the next item of the open list. After the last one it returns
// false.
func (s *jsonScanner) item() (ok bool, err error) {
	i, c, err := s.next(s.pos)
	switch {
	case err != nil:
		return false, err
	case c == ']':
		s.leave(i)
		return false, nil
	case s.first:
		s.first, s.name = false, s.name[:0]
		return true, nil
	case c != ',':
		return false, s.wrong(i, "after array element (expecting ',' or ']')")
	}
	comma := i - s.pos
	if i, c, err = s.next(i + 1); err != nil {
		return false, err
	}
	if c == ']' || c == '}' {
		return false, s.wrong(s.pos+comma, "before the end of a list")
	}
	s.pos, s.name = i, s.name[:0]
	return true, nil
}

func (s *jsonScanner) leave(i int) {
	s.pos, s.first = i+1, false
	s.depth--
}

// plain are the bytes that need no decoding in a string.
var plain = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= ' ' && c < 0x80 && c != '"' && c != '\\'
	}
	return t
}()

// str reads the string at buf[i]. It returns its text, valid until the next
// read, and its end.
func (s *jsonScanner) str(i int) (text []byte, end int, err error) {
	exact := true
	at := i - s.pos // bytes before pos may be dropped
	for i++; ; {
		for i < len(s.buf) && plain[s.buf[i]] {
			i++
		}
		if i >= len(s.buf) {
			if i, err = s.within(i); err != nil {
				return nil, i, err
			}
			continue
		}
		switch c := s.buf[i]; {
		case c == '"':
			raw := s.buf[s.pos+at : i+1]
			if exact {
				return raw[1 : len(raw)-1], i + 1, nil
			}
			s.text, _ = jsontext.AppendUnquote(s.text[:0], raw) // an error only reports replaced bytes
			return s.text, i + 1, nil
		case c < ' ':
			return nil, i, s.wrong(i, "within string (expecting non-control character)")
		case c != '\\':
			exact = false
			i++
			continue
		}
		exact = false
		if i, err = s.within(i + 1); err != nil {
			return nil, i, err
		}
		digits := 0
		switch s.buf[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		case 'u':
			digits = 4
		default:
			return nil, i, s.wrong(i, "in escape sequence of a string")
		}
		for i++; digits > 0; digits-- {
			if i, err = s.within(i); err != nil {
				return nil, i, err
			}
			if c := s.buf[i] | 0x20; (c < '0' || c > '9') && (c < 'a' || c > 'f') || s.buf[i] < '0' {
				return nil, i, s.wrong(i, "in escape sequence of a string")
			}
			i++
		}
	}
}

// null reads the literal at buf[i].
func (s *jsonScanner) null(i int) error {
	i, err := s.literal(i, "null")
	if err == nil {
		s.pos = i
	}
	return err
}

func (s *jsonScanner) literal(i int, text string) (end int, err error) {
	for k := range len(text) {
		if i, err = s.within(i); err != nil {
			return i, err
		}
		if s.buf[i] != text[k] {
			return i, s.wrong(i, "within literal "+text)
		}
		i++
	}
	return i, nil
}

// misfit skips a value of the wrong type.
func (s *jsonScanner) misfit(want string) error {
	name := string(s.name)
	_, c, err := s.next(s.pos)
	if err != nil {
		return err
	}
	if err := s.skip(); err != nil {
		return err
	}
	found := "a number"
	switch c {
	case '{':
		found = "an object"
	case '[':
		found = "a list"
	case '"':
		found = "text"
	case 't', 'f':
		found = "a truth value"
	}
	return named(name, fmt.Errorf("found %s: want %s", found, want))
}

// named returns the name of the member with an error.
func named(member string, err error) error {
	if member == "" {
		return err
	}
	return fmt.Errorf("%s: %w", member, err)
}

// string reads a text, valid until the next read; it is nil for null.
func (s *jsonScanner) string() ([]byte, error) {
	i, c, err := s.next(s.pos)
	switch {
	case err != nil:
		return nil, err
	case c == 'n':
		return nil, s.null(i)
	case c != '"':
		return nil, s.misfit("text")
	}
	text, end, err := s.str(i)
	if err != nil {
		return nil, err
	}
	s.pos = end
	return text, nil
}

// number reads a whole number into a field. null leaves the field unchanged.
func (s *jsonScanner) number(to *int64) error {
	i, c, err := s.next(s.pos)
	switch {
	case err != nil:
		return err
	case c == 'n':
		return s.null(i)
	case c != '-' && (c < '0' || c > '9'):
		return s.misfit("a number")
	}
	// Nearly all numbers are short and complete in the buffer.
	k, v := i, int64(0)
	if c == '-' {
		k++
	}
	digits := k
	for k < len(s.buf) && s.buf[k] >= '0' && s.buf[k] <= '9' {
		v = v*10 + int64(s.buf[k]-'0')
		k++
	}
	if n := k - digits; n > 0 && n <= 18 && (n == 1 || s.buf[digits] != '0') && k < len(s.buf) && (s.buf[k] == ',' || s.buf[k] <= ' ' || s.buf[k] == ']' || s.buf[k] == '}') {
		if c == '-' {
			v = -v
		}
		*to, s.pos = v, k
		return nil
	}
	raw, err := s.numeral(i)
	if err != nil {
		return err
	}
	if v, err = strconv.ParseInt(string(raw), 10, 64); err != nil {
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || f < -1<<63 || f >= 1<<63 {
			return named(string(s.name), fmt.Errorf("%.40s: want a whole number", raw))
		}
		v = int64(f)
	}
	*to = v
	return nil
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
	i, c, err := s.next(s.pos)
	switch {
	case err != nil:
		return nil, false, err
	case c == '"' || c == 'n':
		text, err = s.string()
		return text, text != nil, err
	case c == '{' || c == '[':
		return nil, false, s.misfit("text")
	case c == 't' || c == 'f':
		at := i - s.pos
		i, err := s.literal(i, map[byte]string{'t': "true", 'f': "false"}[c])
		if err != nil {
			return nil, false, err
		}
		text, s.pos = s.buf[s.pos+at:i], i
		return text, true, nil
	case c == '-' || c >= '0' && c <= '9':
		text, err = s.numeral(i)
		return text, err == nil, err
	}
	return nil, false, s.wrong(i, "at start of value")
}

// object calls f for each member of an object, and f reads its value. null is
// an empty object.
func (s *jsonScanner) object(f func(name []byte) error) error {
	if some, err := s.open('{'); !some {
		return err
	}
	for {
		name, ok, err := s.member()
		if !ok {
			return err
		}
		if err := f(name); err != nil {
			return err
		}
	}
}

// list calls f for each item of a list. null is an empty list.
func (s *jsonScanner) list(f func() error) error {
	if some, err := s.open('['); !some {
		return err
	}
	for {
		if ok, err := s.item(); !ok {
			return err
		}
		if err := f(); err != nil {
			return err
		}
	}
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

// numbers reads a short list of numbers into reused memory.
func (s *jsonScanner) numbers(to *[]int64) error {
	*to = (*to)[:0]
	return s.few(func() error {
		v := int64(workload.Unknown)
		err := s.number(&v)
		*to = append(*to, v)
		return err
	})
}

// numeral reads the number at buf[i] and returns its text, valid until the next
// read.
func (s *jsonScanner) numeral(i int) ([]byte, error) {
	at := i - s.pos
	peek := func() byte { // 0 at the end of the content
		var err error
		if i, err = s.more(i); err != nil {
			return 0
		}
		return s.buf[i]
	}
	digits := func() error {
		if c := peek(); c < '0' || c > '9' {
			if i < len(s.buf) {
				return s.wrong(i, "within number (expecting digit)")
			}
			_, err := s.within(i)
			return err
		}
		for c := peek(); c >= '0' && c <= '9'; c = peek() {
			i++
		}
		return nil
	}
	if peek() == '-' {
		i++
	}
	if peek() == '0' {
		i++
	} else if err := digits(); err != nil {
		return nil, err
	}
	if peek() == '.' {
		i++
		if err := digits(); err != nil {
			return nil, err
		}
	}
	if c := peek(); c == 'e' || c == 'E' {
		i++
		if c := peek(); c == '+' || c == '-' {
			i++
		}
		if err := digits(); err != nil {
			return nil, err
		}
	}
	if _, err := s.more(i); err != nil && err != io.EOF { // the number may continue after the limit
		return nil, err
	}
	raw := s.buf[s.pos+at : i]
	s.pos = i
	return raw, nil
}

// skip skips the next value.
func (s *jsonScanner) skip() error {
	i, c, err := s.next(s.pos)
	if err != nil {
		return err
	}
	return s.pass(i, c)
}

// pass skips the value that begins with c at buf[i].
func (s *jsonScanner) pass(i int, c byte) (err error) {
	switch {
	case c == '"':
		_, i, err = s.str(i)
	case c == '-' || c >= '0' && c <= '9':
		_, err = s.numeral(i)
		return err
	case c == 'n':
		i, err = s.literal(i, "null")
	case c == 't':
		i, err = s.literal(i, "true")
	case c == 'f':
		i, err = s.literal(i, "false")
	case c == '{':
		return s.object(func([]byte) error { return s.skip() })
	case c == '[':
		return s.list(s.skip)
	default:
		return s.wrong(i, "at start of value")
	}
	if err == nil {
		s.pos = i
	}
	return err
}

// resync goes on at the next line that begins an object.
func (s *jsonScanner) resync() error {
	if s.resyncs++; s.resyncs > maxResyncs {
		return atLine(s.line(), fmt.Errorf("more than %d places are damaged: refused", maxResyncs))
	}
	const enough = 256
	for first := true; ; first = false {
		if _, err := s.more(s.pos + enough - 1); err != nil && err != io.EOF {
			return atLine(s.line(), err)
		}
		head := s.buf[s.pos:min(len(s.buf), s.pos+enough)]
		if (!first || bytes.HasPrefix(head, []byte{'}'})) && beginsObject(head) {
			s.pos += bytes.IndexByte(head, '{')
			return nil
		}
		for {
			if n := bytes.IndexByte(s.buf[s.pos:], '\n'); n >= 0 {
				s.pos += n + 1
				break
			}
			s.pos = len(s.buf)
			if _, err := s.more(s.pos); err == io.EOF {
				return nil
			} else if err != nil {
				return atLine(s.line(), err)
			}
		}
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
