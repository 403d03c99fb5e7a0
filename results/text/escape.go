package text

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes a name safe to show in a table, a picture or a terminal: it is
// Printable, and a first character for which a spreadsheet would take it as a
// formula becomes \xHH.
func Escape(name string) string {
	if plain(name) && !beginsFormula(name) {
		return name
	}
	return string(appendEscaped(make([]byte, 0, len(name)+8), name, beginsFormula(name)))
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
	return string(appendEscaped(make([]byte, 0, len(text)+8), text, false))
}

// Message returns the text of an error on one line.
func Message(err error) string {
	return Printable(strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "\n", "; ")), " "))
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

// appendEscaped appends a name with escapes, its first character among them
// where formula is set.
func appendEscaped(dst []byte, name string, formula bool) []byte {
	const digits = "0123456789abcdef"
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		printable := unicode.IsPrint(r) && (r != utf8.RuneError || n > 1)
		if printable && !LooksEscaped(name[i:]) && (i > 0 || !formula) {
			dst = append(dst, name[i:i+n]...)
		} else {
			for _, c := range []byte(name[i : i+n]) {
				dst = append(dst, '\\', 'x', digits[c>>4], digits[c&15])
			}
		}
		i += n
	}
	return dst
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

// AppendField appends a name as one CSV field (RFC 4180). An escaped name has
// no line break, so a row is always one line.
func AppendField(dst []byte, name string) []byte {
	if bare(name) {
		return append(dst, name...)
	}
	dst = append(dst, '"')
	for i, part := range strings.Split(Escape(name), `"`) {
		if i > 0 {
			dst = append(dst, '"', '"')
		}
		dst = append(dst, part...)
	}
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

// maxSlug limits a slug with any suffix to the name length of every file
// system.
const maxSlug = 64

// Slug converts a name to a file name: lower-case letters, digits, dots,
// hyphens and underscores, starting with a letter, digit or underscore, at most
// 64 long, and no device name of Windows. A valid slug stays unchanged. Any
// other name gets a hash as a suffix, so that two names never share a file.
func Slug(name string) string {
	if IsSlug(name) {
		return name
	}
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(name) {
		if !slugRune(r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(r)
	}
	sum := sha256.Sum256([]byte(name))
	suffix := "-" + hex.EncodeToString(sum[:4])
	s := strings.Trim(b.String(), ".-")
	s = strings.TrimRight(s[:min(len(s), maxSlug-len(suffix)-1)], ".-")
	if s == "" || deviceName(s) {
		s = "_" + s
	}
	return s + suffix
}

func IsSlug(s string) bool {
	if s == "" || len(s) > maxSlug || strings.ContainsAny(s[:1], ".-") || strings.HasSuffix(s, ".") || deviceName(s) {
		return false
	}
	for _, r := range s {
		if !slugRune(r) {
			return false
		}
	}
	return true
}

func slugRune(r rune) bool {
	return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '.' || r == '-' || r == '_'
}

// deviceName reports whether a name is a device in Windows.
func deviceName(s string) bool {
	stem, _, _ := strings.Cut(s, ".")
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(stem) == 4 && (stem[:3] == "com" || stem[:3] == "lpt") && '0' <= stem[3] && stem[3] <= '9'
}
