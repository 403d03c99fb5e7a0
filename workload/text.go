package workload

import (
	"fmt"
	"path"
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
