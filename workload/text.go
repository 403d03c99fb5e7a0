package workload

import (
	"fmt"
	"maps"
	"math"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Counted returns a number with the singular or plural of a word.
func Counted(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// TOMLText returns a basic string of TOML. TOML cannot hold bytes that are not
// UTF-8.
func TOMLText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default: // a byte that is not UTF-8 arrives as RuneError
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// TOMLValue writes a text, number, truth value, list or table as TOML does.
func TOMLValue(v any) string {
	switch v := v.(type) {
	case string:
		return TOMLText(v)
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".en") {
			text += ".0"
		}
		return text
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, TOMLText(k)+" = "+TOMLValue(v[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	if list := reflect.ValueOf(v); list.Kind() == reflect.Slice {
		parts := make([]string, list.Len())
		for i := range parts {
			parts[i] = TOMLValue(list.Index(i).Interface())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// MatchesJob reports whether a pattern, as in a shell, is one of the id or the name of a
// job.
func MatchesJob(id, name, pattern string) bool {
	matches := func(text string) bool {
		// A name may hold slashes, which * does not match in paths.
		ok, _ := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(text, "/", "\x00"))
		return ok
	}
	return matches(id) || matches(name)
}

// Matches reports whether a name is that of a pattern, in which * is any text.
func Matches(name, pattern string) bool {
	first, rest, some := strings.Cut(pattern, "*")
	name, ok := strings.CutPrefix(name, first)
	if !ok || !some {
		return ok && name == ""
	}
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, part)
		}
		if _, name, ok = strings.Cut(name, part); !ok {
			return false
		}
		rest = after
	}
}

// ParseMemory is ParseBytes for a memory, which is not of a few bytes.
func ParseMemory(s, such string) (int64, error) {
	n, err := ParseBytes(s)
	if err == nil && n < 1<<20 {
		err = fmt.Errorf("got %q, %d bytes: want a size with its unit, such as %s", s, n, such)
	}
	return n, err
}

// ParseBytes reads a size as Hadoop does: 128m is 134,217,728. The unit is k, m, g, t
// or p in either case, which b or ib may follow, after at most one blank.
func ParseBytes(s string) (int64, error) {
	s = strings.TrimSpace(s)
	digits := 1 + strings.LastIndexAny(s, "0123456789.")
	unit := strings.ToLower(strings.TrimPrefix(s[digits:], " "))
	power := 0
	if unit != "" && unit != "b" {
		power = 1 + strings.IndexByte("kmgtp", unit[0])
		if rest := unit[1:]; power == 0 || rest != "" && rest != "b" && rest != "ib" {
			digits = 0 // no size
		}
	}
	v, err := strconv.ParseFloat(s[:digits], 64)
	if v = math.Ldexp(v, 10*power); err != nil || !(v >= 0 && v < math.MaxInt64) {
		return 0, fmt.Errorf("%q: want a size like 64m, 30 GB or 67108864", s)
	}
	return int64(v), nil
}

// parseFloat reads a number as Java does (Float.parseFloat), which takes the suffixes of
// its literals: 0.8f.
func parseFloat(text string) (float64, error) {
	if n := len(text) - 1; n > 0 && strings.IndexByte("fFdD", text[n]) >= 0 && strings.IndexByte("0123456789.", text[n-1]) >= 0 {
		text = text[:n]
	}
	f, err := strconv.ParseFloat(text, 64)
	if f != f {
		err = strconv.ErrSyntax
	}
	return f, err
}
