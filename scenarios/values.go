package scenarios

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// FlagMark stands in a setting before the flag that it comes from, if that is not --set,
// or, after a space, before the argument.
const FlagMark = " # --"

// textOf returns a JSON value as the text that Hadoop's configuration would
// hold.
func textOf(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// shortTime writes a time as people do: 3h, not 3h0m0s.
func shortTime(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

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
