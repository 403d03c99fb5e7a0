package workload

import (
	"bufio"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// tomlWriter writes TOML line by line; the first error is kept for close.
type tomlWriter struct{ *bufio.Writer }

func newTOMLWriter(w io.Writer) tomlWriter { return tomlWriter{bufio.NewWriter(w)} }

// table begins [path], or [[path]].
func (w tomlWriter) table(path string) { fmt.Fprintf(w, "\n[%s]\n", path) }

// pair writes key = value, where value is a text, number, truth value or a list
// of one of these or of lists.
func (w tomlWriter) pair(key string, value any) {
	fmt.Fprintf(w, "%s = ", key)
	w.value(reflect.ValueOf(value))
	w.WriteByte('\n')
}

func (w tomlWriter) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		w.WriteString(tomlText(v.String()))
	case reflect.Float64:
		text := strconv.FormatFloat(v.Float(), 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		w.WriteString(text)
	case reflect.Slice:
		w.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				w.WriteString(", ")
			}
			w.value(v.Index(i))
		}
		w.WriteByte(']')
	default:
		fmt.Fprint(w, v)
	}
}

// tomlText is a basic string. What is not UTF-8 cannot stand in TOML.
func tomlText(s string) string {
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

// tomlKey is a key as it is, or quoted.
func tomlKey(s string) string {
	for _, r := range s {
		if r >= utf8.RuneSelf || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", r) {
			return tomlText(s)
		}
	}
	if s == "" {
		return `""`
	}
	return s
}
