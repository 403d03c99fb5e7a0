package scenarios

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// leaf is a value of a tree, and the path to it.
type leaf struct {
	path  []string
	value any
}

// leaves lists the values of a tree, in the order of keys.
func leaves(tree any, path ...string) (all []leaf) {
	m, ok := tree.(map[string]any)
	if !ok {
		return []leaf{{path, tree}}
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		all = append(all, leaves(m[k], append(slices.Clone(path), k)...)...)
	}
	return all
}

// repeated returns a value that a list has twice.
func repeated(list []any) (text string, twice bool) {
	seen := map[string]bool{}
	for _, v := range list {
		if text = textOf(v); seen[text] {
			return text, true
		}
		seen[text] = true
	}
	return "", false
}

// key returns the path with a Hadoop property as one step.
func (l *leaf) key() []string {
	properties := slices.Index(l.path, "conf") + 1
	if len(l.path) > 1 && l.path[0] == "scheduler" && strings.HasPrefix(l.path[1], "mapred") {
		properties = 1
	}
	if properties > 0 && properties < len(l.path) {
		return append(l.path[:properties:properties], workload.Canonical(strings.Join(l.path[properties:], ".")))
	}
	return l.path
}

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
