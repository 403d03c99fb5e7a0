package reproduce

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// herodotouExample works one job through all phases, as the report prints its
// equations and with the errata.
func herodotouExample(*reproducing) ([]ReproducedPart, error) {
	h := analytic.DefaultPhases()
	literal, err := namedFigures(h, analytic.Literal)
	if err != nil {
		return nil, err
	}
	corrected, err := namedFigures(h, analytic.Corrected)
	if err != nil {
		return nil, err
	}
	part := ReproducedPart{
		Name: "example", Title: "A job through all phases",
		Text: "TeraSort of 40 splits of 64 MiB with 8 reduces on 4 nodes, stock settings, and costs close to those that the report profiles " +
			"(`slotwave platform eval phases`). Times are in ms, sizes in bytes. *Literal* has the equations as printed, *corrected* has the errata of docs/deviations.md.",
		Header: []string{"quantity", "literal", "corrected", "difference"},
	}
	differ := 0
	for i, f := range literal {
		difference := ""
		if c := corrected[i].value; c != f.value {
			differ++
			if difference = "new"; f.value != 0 {
				difference = fmt.Sprintf("%+.1f %%", 100*(c/f.value-1))
			}
		}
		part.Rows = append(part.Rows, []string{f.name, fmt.Sprintf("%.6g", f.value), fmt.Sprintf("%.6g", corrected[i].value), difference})
	}
	part.Outcome = fmt.Sprintf("%d of %d quantities differ. The report prints no worked job; tests compare the equations with an independent computation.", differ, len(literal))
	return []ReproducedPart{part}, nil
}

// namedFigure is a quantity under its name in the report.
type namedFigure struct {
	name  string
	value float64
}

// namedFigures lists the quantities of a job in the order of the equations.
func namedFigures(h analytic.Herodotou, mode analytic.Mode) (all []namedFigure, err error) {
	p, err := h.Phases(analytic.HerodotouOptions{Mode: mode})
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	name := ""
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		switch v := t.(type) {
		case string:
			name = v
		case float64:
			all = append(all, namedFigure{name, v})
		}
	}
	return all, nil
}

// herodotouTables makes the tables merges, the plan of a merge by the number of spills
// with io.sort.factor 10, and defaults, the values of Hadoop's properties as numbers.
func herodotouTables(*reproducing) (tables, error) {
	var merges, defaults []row
	for spills := 1; spills <= 100; spills++ {
		m, err := taskplan.Merge(spills, 10)
		if err != nil {
			return nil, err
		}
		merges = append(merges, cells{"spills": float64(spills), "first": float64(m.FirstPass), "reads": float64(m.IntermReads), "final": float64(m.FinalFiles), "passes": float64(m.Passes)})
	}
	for _, key := range workload.Properties() {
		p, _ := workload.FindProperty(key)
		if v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(p.Default, "-Xmx"), "m"), 64); err == nil {
			defaults = append(defaults, cells{"key": key, "value": v})
		}
	}
	return tables{"run": {"merges": merges, "defaults": defaults}}, nil
}
