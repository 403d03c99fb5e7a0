package trace

import (
	"bufio"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/workload"
)

// tomlWriter writes TOML line by line. It keeps the first error for close.
type tomlWriter struct{ *bufio.Writer }

func newTOMLWriter(w io.Writer) tomlWriter { return tomlWriter{bufio.NewWriter(w)} }

// table starts [path], or [[path]].
func (w tomlWriter) table(path string) { fmt.Fprintf(w, "\n[%s]\n", path) }

// pair writes key = value. The value is a text, number, truth value or a list
// of one of these or of lists. Texts in a list are on lines of their own.
func (w tomlWriter) pair(key string, value any) {
	fmt.Fprintf(w, "%s = ", key)
	if texts, ok := value.([]string); ok && len(texts) > 1 {
		w.WriteString("[\n")
		for _, text := range texts {
			fmt.Fprintf(w, "  %s,\n", workload.TOMLText(text))
		}
		w.WriteByte(']')
	} else {
		w.value(reflect.ValueOf(value))
	}
	w.WriteByte('\n')
}

func (w tomlWriter) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		w.WriteString(workload.TOMLText(v.String()))
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
