package scenarios

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/slotwave/slotwave/workload"
)

// writer writes the TOML text of a platform or profile.
type writer struct{ bytes.Buffer }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *writer) text(key, value string) { w.line("%s = %s", key, workload.TOMLText(value)) }

func (w *writer) number(key string, v float64) { w.line("%s = %s", key, sixDigits(v)) }

func (w *writer) list(key string, texts []string) {
	w.line("%s = [", key)
	for _, text := range texts {
		w.line("  %s,", workload.TOMLText(text))
	}
	w.line("]")
}

// about writes the beginning of a file as readProvenance reads it.
func (w *writer) about(title string, source, assumed []string) {
	w.text("title", title)
	w.list("source", source)
	w.list("assumed", assumed)
}

// to writes the text.
func (w *writer) to(out io.Writer) error {
	_, err := out.Write(w.Bytes())
	return err
}

// sixDigits formats more digits than a measured value has.
func sixDigits(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
