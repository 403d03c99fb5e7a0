package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/slotwave/slotwave/model"
)

//go:embed examples.json
var examplesText []byte

// exampleOf returns a question to a model.
func exampleOf(name string) (string, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(examplesText, &all); err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := json.Compact(&out, all[name]); err != nil {
		return "", err
	}
	return out.String(), nil
}

// writeEvaluator prints the page of one model: its fields and an example.
func writeEvaluator(w io.Writer, e *model.Evaluator) {
	fmt.Fprintf(w, "Evaluate %s on one JSON object from standard input.\n\n", e.Name)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "field\ttype\tunit\tif left out")
	for _, f := range e.Fields() {
		absent := "an error"
		switch {
		case f.Default != "":
			absent = f.Default
		case !f.Needed:
			absent = "unknown"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", f.Name, f.Kind, cmp.Or(f.Unit, "-"), absent)
	}
	t.Flush()
	fmt.Fprintln(w, "\nunknown: no value, which is an error if the model needs one.")
	example, err := exampleOf(e.Name)
	if err == nil {
		fmt.Fprintf(w, "\nExample:\n  slotwave platform eval %s <<'END'\n%s\nEND\n", e.Name, wrapped(example, 78))
	}
}

// wrapped breaks JSON into lines after commas.
func wrapped(text string, width int) string {
	var out strings.Builder
	column := 0
	for _, part := range strings.SplitAfter(text, ",") {
		if column > 0 && column+len(part) > width {
			out.WriteByte('\n')
			column = 0
		}
		out.WriteString(part)
		column += len(part)
	}
	return out.String()
}
