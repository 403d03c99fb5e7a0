package workload

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Escape makes a name safe to show in a table, a picture or a terminal: it is
// Printable, and a first character for which a spreadsheet would take it as a
// formula becomes \xHH.
func Escape(name string) string {
	text := Printable(name)
	if beginsFormula(name) {
		text = string(appendHex(nil, name[:1])) + text[1:]
	}
	return text
}

// EscapeList escapes names and joins them with commas; one within a name is escaped too.
func EscapeList(names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, strings.ReplaceAll(Escape(name), ",", `\x2c`))
	}
	return strings.Join(all, ",")
}

// UnescapeList undoes EscapeList.
func UnescapeList(s string) (names []string) {
	for name := range strings.SplitSeq(s, ",") {
		names = append(names, Unescape(name))
	}
	return names
}

// Unescape undoes Escape.
func Unescape(s string) string {
	if !strings.Contains(s, `\x`) {
		return s
	}
	var b strings.Builder
	for s != "" {
		if LooksEscaped(s) {
			c, _ := strconv.ParseUint(s[2:4], 16, 8)
			b.WriteByte(byte(c))
			s = s[4:]
			continue
		}
		b.WriteByte(s[0])
		s = s[1:]
	}
	return b.String()
}

// Printable makes a text safe to show on a terminal. Each byte of a character
// that cannot be printed (control, bidirectional and other format characters,
// line separators, invalid UTF-8) becomes \xHH. A backslash that would look like
// such an escape becomes \x5c, so that the original can be restored. All other
// text stays unchanged.
func Printable(text string) string {
	if plain(text) {
		return text
	}
	return escaped(text, func(rest string, r rune) bool { return unicode.IsPrint(r) && !LooksEscaped(rest) })
}

// Visible escapes what cannot be printed in lines and columns of text whose names are
// escaped already: line ends, tabs and escapes stay as they are.
func Visible(text []byte) []byte {
	return []byte(escaped(string(text), func(_ string, r rune) bool { return r == '\n' || r == '\t' || unicode.IsPrint(r) }))
}

// escaped escapes the characters that do not stay as they are, and bytes of no character.
func escaped(text string, stays func(rest string, r rune) bool) string {
	var out []byte
	from := 0
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 || !stays(text[i:], r) {
			out = appendHex(append(out, text[from:i]...), text[i:i+n])
			from = i + n
		}
		i += n
	}
	if from == 0 {
		return text
	}
	return string(append(out, text[from:]...))
}

// VisibleJSON escapes what cannot be printed in the strings of a JSON text, which keeps
// its value.
func VisibleJSON(text []byte) []byte {
	var out []byte
	from := 0
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r >= 0x7f && !unicode.IsPrint(r) {
			out = append(out, text[from:i]...)
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			from = i + n
		}
		i += n
	}
	if from == 0 {
		return text
	}
	return append(out, text[from:]...)
}

// appendHex appends bytes as \xHH.
func appendHex(dst []byte, bytes string) []byte {
	for i := range len(bytes) {
		dst = fmt.Appendf(dst, `\x%02x`, bytes[i])
	}
	return dst
}

// plain reports whether a name is printable ASCII without a backslash, as
// nearly all names are.
func plain(name string) bool {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	return true
}

// beginsFormula reports whether a spreadsheet would compute the name.
func beginsFormula(name string) bool {
	if len(name) < 2 {
		return false
	}
	c := name[0]
	return c == '=' || c == '+' || c == '-' || c == '@'
}

func LooksEscaped(s string) bool {
	return len(s) >= 4 && s[0] == '\\' && s[1] == 'x' && isHex(s[2]) && isHex(s[3])
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// WriteCSV writes a table, whose rows are passed on cell by cell.
func WriteCSV(w io.Writer, columns []string, rows func(row func(cells ...string))) error {
	out := csv.NewWriter(w)
	out.Write(columns)
	rows(func(cells ...string) { out.Write(cells) })
	out.Flush()
	return out.Error()
}

// AppendField appends a name as one CSV field (RFC 4180). An escaped name has
// no line break, so a row is always one line.
func AppendField(dst []byte, name string) []byte {
	if bare(name) {
		return append(dst, name...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(Escape(name), `"`, `""`)...)
	return append(dst, '"')
}

// bare reports whether a name needs neither quotes nor escapes in CSV.
func bare(name string) bool {
	if beginsFormula(name) {
		return false
	}
	for i := range len(name) {
		if !bareByte[name[i]] {
			return false
		}
	}
	return true
}

var bareByte = func() (t [256]bool) {
	for c := byte('!'); c <= '~'; c++ {
		t[c] = c != '"' && c != ',' && c != '\\'
	}
	return t
}()
