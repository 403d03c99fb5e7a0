package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"path"
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
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", f.Name, f.Kind, unitOf(e.Name, f.Name), absent)
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

// fieldUnit gives the unit of the fields that a pattern of path.Match fits.
type fieldUnit struct{ model, field, unit string }

// fieldUnits are searched in order. Fields that no row fits are counts, shares and
// ratios, texts and switches, which have no unit.
var fieldUnits = []fieldUnit{
	{"aria.*", "profile.AvgSize_M_input", "bytes"},
	{"aria.*", "profile.[MSR]*_avg", "s"},
	{"aria.*", "profile.[MSR]*_max", "s"},
	{"aria.*", "profile.M_min", "s"},
	{"*", "deadline", "s"},
	{"cresp*", "beta\\[\\]", "s per term"},
	{"cresp.optimum", "price_per_slot_hour", "money/h"},
	{"cresp.optimum", "budget", "money"},
	{"dataflow", "samples\\[\\].ts", "ms"},
	{"dataflow.gap", "*", "any one"},
	{"disk", "rates.\\*", "bytes/s"},
	{"disk", "jobs\\[\\].at", "s"},
	{"disk", "jobs\\[\\].bytes", "bytes"},
	{"disk", "model.chunk", "bytes"},
	{"disk", "model.rate", "bytes/s"},
	{"disk", "model.seek", "s"},
	{"flows", "flows\\[\\].at", "s"},
	{"flows", "flows\\[\\].bytes", "bytes"},
	{"flows", "flows\\[\\].cap", "bytes/s"},
	{"flows", "capacity.\\*", "bytes/s"},
	{"maxmin", "flows\\[\\].cap", "any one"},
	{"maxmin", "capacity.\\*", "any one"},
	{"pipeline", "capacity.\\*", "bytes/s"},
	{"hp.scale", "data_gb\\[\\]", "GB"},
	{"hp.scale", "query_gb", "GB"},
	{"hp.scale", "duration_s\\[\\]", "s"},
	{"ihp.*", "T_*", "s"},
	{"ihp.phases", "D_*", "any one"},
	{"ihp.provision", "[abt]", "s"},
	{"makespan", "durations\\[\\]", "any one"},
	{"outliers", "tasks\\[\\].start", "any one"},
	{"outliers", "tasks\\[\\].end", "any one"},
	{"phases", "set.pTaskMem", "bytes"},
	{"phases", "set.pSplitSize", "bytes"},
	{"phases", "set.pSortMB", "MiB"},
	{"phases", "set.dsInputPairWidth", "bytes"},
	{"phases", "set.ds*Mem", "bytes"},
	{"phases", "set.dsMemPer*", "bytes"},
	{"phases", "set.cs[SC][el]*upCPUCost", "ns per task"},
	{"phases", "set.cs*UncomprCPUCost", "ns per compressed byte"},
	{"phases", "set.cs*ComprCPUCost", "ns per byte"},
	{"phases", "set.csSortCPUCost", "ns per comparison"},
	{"phases", "set.cs*CPUCost", "ns per record"},
	{"phases", "set.cs*", "ns per byte"},
	{"platform.grid", "input_mb", "MB"},
	{"platform.job", "platform.*", "ms, ms/MB"},
	{"platform.job", "job.*_mb_*", "MB"},
	{"platform.job", "job.*_ms_per_rec", "ms"},
	{"platform.job", "job.*_ms", "ms"},
	{"platform.profile", "tasks\\[\\].*_bytes", "bytes"},
	{"platform.profile", "tasks\\[\\].func_ms", "ms"},
	{"segmented.expected", "mem_mb", "MiB"},
	{"task.facts", "tasks\\[\\].input", "any one"},
	{"waves", "map\\[\\]", "s"},
	{"waves", "shuffle", "s"},
	{"waves", "sort", "s"},
	{"waves", "reduce", "s"},
}

// unitOf returns the unit of a field, - if it has none.
func unitOf(name, field string) string {
	for _, u := range fieldUnits {
		in, _ := path.Match(u.model, name)
		is, _ := path.Match(u.field, field)
		if in && is {
			return u.unit
		}
	}
	return "-"
}
