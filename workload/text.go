package workload

import (
	"fmt"
	"strings"
)

// Counted returns a number of things, in words for one and for any other
// number.
func Counted(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// TOMLText returns a basic string of TOML. What is not UTF-8 cannot stand in
// TOML.
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
		default: // a byte that is none of UTF-8 comes as RuneError
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
