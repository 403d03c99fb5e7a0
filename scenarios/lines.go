package scenarios

import (
	"fmt"
	"strings"
)

// lines finds the line of every key of a TOML text, because the TOML library
// does not report it. Keys are paths: cluster.group[1].nodes. For invalid TOML
// it returns the keys found before the error, which the library reports.
func lines(text string) (map[string]int, error) {
	s := scan(text)
	return s.at, s.err
}

func scan(text string) *scanner {
	s := newScanner(text)
	s.document()
	return s
}

func newScanner(text string) *scanner {
	return &scanner{text: text, line: 1, at: make(map[string]int), order: make(map[string]int), count: make(map[string]int)}
}

// A hostile text must not exhaust the stack.
const (
	maxDepth = 64 // nesting depth of arrays and tables within a value
	maxParts = 16 // parts of a dotted key
)

type scanner struct {
	text  string
	pos   int
	line  int
	colon bool // after keys: JSON
	at    map[string]int
	order map[string]int // of keys, as they first appear
	count map[string]int // tables of an array of tables so far
	err   error
}

func (s *scanner) document() {
	table := ""
	for s.err == nil {
		s.blank(true)
		switch c := s.peek(); {
		case c == 0:
			return
		case c == '[':
			double := strings.HasPrefix(s.text[s.pos:], "[[")
			s.pos++
			if double {
				s.pos++
			}
			line, key := s.line, s.key()
			table = s.resolve(key, double)
			s.at[table] = line
			s.skipTo('\n')
		default:
			if !s.pair(table, 0) {
				return
			}
		}
	}
}

// pair reads key = value.
func (s *scanner) pair(table string, depth int) bool {
	line, key := s.line, s.key()
	if c := s.peek(); len(key) == 0 || c != '=' && (c != ':' || !s.colon) {
		return false
	}
	s.pos++
	path := table
	for _, part := range key {
		path = join(path, part)
		if _, ok := s.at[path]; !ok {
			s.at[path], s.order[path] = line, len(s.order)
		}
	}
	s.value(path, depth)
	return true
}

// resolve returns the path of a table's header. Within an array of tables it
// belongs to the last one.
func (s *scanner) resolve(key []string, another bool) string {
	path := ""
	for i, part := range key {
		path = join(path, part)
		last := i == len(key)-1
		if last && another {
			s.count[path]++
			if _, ok := s.at[path]; !ok {
				s.at[path] = s.line
			}
		}
		if n := s.count[path]; n > 0 {
			path = index(path, n-1)
		}
	}
	return path
}

// key reads a dotted key and the blanks after it.
func (s *scanner) key() []string {
	var parts []string
	for {
		s.blank(false)
		start := s.pos
		switch c := s.peek(); c {
		case '"', '\'':
			text := s.quoted()
			parts = append(parts, text)
		default:
			for strings.IndexByte("= .]\t\n\r#", s.peek()) < 0 && s.peek() != 0 {
				s.pos++
			}
			if s.pos == start {
				return parts
			}
			parts = append(parts, s.text[start:s.pos])
		}
		if len(parts) > maxParts {
			s.fail("a key of more than %d parts", maxParts)
			return nil
		}
		s.blank(false)
		if s.peek() != '.' {
			return parts
		}
		s.pos++
	}
}

func (s *scanner) value(path string, depth int) {
	if depth > maxDepth {
		s.fail("values nested deeper than %d", maxDepth)
		return
	}
	s.blank(false)
	switch s.peek() {
	case '"', '\'':
		s.quoted()
	case '[':
		s.pos++
		for i := 0; s.err == nil; i++ {
			s.separators()
			if c := s.peek(); c == ']' || c == 0 {
				s.pos++
				return
			}
			s.at[index(path, i)] = s.line
			before := s.pos
			s.value(index(path, i), depth+1)
			if s.pos == before {
				return
			}
		}
	case '{':
		s.pos++
		for s.err == nil {
			s.separators()
			if c := s.peek(); c == '}' || c == 0 {
				s.pos++
				return
			}
			if !s.pair(path, depth+1) {
				return
			}
		}
	default:
		for strings.IndexByte(",]}\n#", s.peek()) < 0 && s.peek() != 0 {
			s.pos++
		}
	}
}

// quoted reads a string of any kind and returns what is between the quotes.
func (s *scanner) quoted() string {
	quote := s.text[s.pos : s.pos+1]
	if three := strings.Repeat(quote, 3); strings.HasPrefix(s.text[s.pos:], three) {
		quote = three
	}
	s.pos += len(quote)
	start := s.pos
	for s.pos < len(s.text) && !strings.HasPrefix(s.text[s.pos:], quote) {
		if s.text[s.pos] == '\\' && quote[0] == '"' {
			s.pos++
		}
		if s.peek() == '\n' {
			if len(quote) == 1 {
				break
			}
			s.line++
		}
		s.pos++
	}
	s.pos = min(s.pos, len(s.text))
	text := s.text[start:s.pos]
	s.pos = min(s.pos+len(quote), len(s.text))
	return text
}

// blank skips spaces and, if they are allowed, line ends and comments.
func (s *scanner) blank(ends bool) {
	for {
		switch s.peek() {
		case ' ', '\t':
		case '\r', '\n':
			if !ends {
				return
			}
			if s.peek() == '\n' {
				s.line++
			}
		case '#':
			if !ends {
				return
			}
			s.skipTo('\n')
			continue
		default:
			return
		}
		s.pos++
	}
}

// separators skips everything allowed between the values of an array.
func (s *scanner) separators() {
	for s.blank(true); s.peek() == ','; s.blank(true) {
		s.pos++
	}
}

func (s *scanner) skipTo(c byte) {
	for s.peek() != c && s.peek() != 0 {
		s.pos++
	}
}

// peek returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = problem{line: s.line, what: fmt.Sprintf(format, args...)}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// problem is an error at a line of a file. Line 0 means no particular line, -n
// the n-th setting of the command line.
type problem struct {
	line int
	what string
	file string // that the line is of, if it is another than the file of the report

	lacks bool   // a key is missing, of the table
	table string // its path
}

func (p problem) Error() string { return p.what }
