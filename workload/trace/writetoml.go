package trace

import (
	"bufio"
	"fmt"
	"io"

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
		w.WriteString(workload.TOMLValue(value))
	}
	w.WriteByte('\n')
}
