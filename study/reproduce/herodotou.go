package reproduce

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/taskplan"
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

// herodotouMerges checks the counts that the report's text states or that follow
// from its equations.
func herodotouMerges(*reproducing) ([]ReproducedPart, error) {
	merges := ReproducedPart{
		Name: "merge", Title: "Equations 21 to 27: merge passes",
		Text:   "Files that intermediate passes read, files of the final merge, and passes, for io.sort.factor = 10 (`slotwave platform eval merge`). Published: the report's example of 28 spills, and its equations for the others.",
		Header: []string{"spills", "intermediate reads", "published", "final files", "published", "passes", "published"},
	}
	good := true
	for _, want := range [][4]int{{10, 0, 10, 1}, {11, 2, 10, 2}, {19, 10, 10, 2}, {20, 12, 10, 3}, {28, 20, 10, 3}} {
		m, err := taskplan.Merge(want[0], 10)
		if err != nil {
			return nil, err
		}
		merges.Rows = append(merges.Rows, []string{fmt.Sprint(want[0]),
			fmt.Sprint(m.IntermReads), fmt.Sprint(want[1]), fmt.Sprint(m.FinalFiles), fmt.Sprint(want[2]), fmt.Sprint(m.Passes), fmt.Sprint(want[3])})
		good = good && m.IntermReads == want[1] && m.FinalFiles == want[2] && m.Passes == want[3]
	}
	merges.Outcome = agreement(good)
	spills := ReproducedPart{
		Name: "spills", Title: "Equations 12 to 16: spills of a map",
		Text:   "A map of 64 MiB that emits its records of 100 bytes. The published numbers are those that the equations give for these settings.",
		Header: []string{"io.sort.mb", "io.sort.record.percent", "spills", "published"},
	}
	good = true
	for _, k := range []struct {
		mb     float64
		record float64
		spills float64
	}{{100, 0.05, 3}, {100, 0.15, 1}, {250, 0.05, 2}, {256, 0.05, 1}} {
		h := analytic.DefaultPhases()
		h.SortMB, h.SortRecPercent = k.mb, k.record
		p, err := h.Phases(analytic.HerodotouOptions{Mode: analytic.Corrected})
		if err != nil {
			return nil, err
		}
		spills.Rows = append(spills.Rows, []string{fmt.Sprint(k.mb), fmt.Sprint(k.record), fmt.Sprint(p.NumSpills), fmt.Sprint(k.spills)})
		good = good && float64(p.NumSpills) == k.spills
	}
	if spills.Outcome = agreement(good); !good {
		spills.Outcome += " The equations count 671,088.64 records; a buffer of 256 MiB has room for the 671,088 that the map really has, as the simulator counts them."
	}
	return []ReproducedPart{merges, spills}, nil
}

func agreement(good bool) string {
	if good {
		return "All are equal."
	}
	return "**They differ.**"
}
