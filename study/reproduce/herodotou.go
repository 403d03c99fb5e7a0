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

// herodotouMerges compares the counts of spills and merges with the one example of
// the report's text, and with its equations worked by hand.
func herodotouMerges(*reproducing) ([]ReproducedPart, error) {
	merges := ReproducedPart{
		Name: "merge", Title: "Equations 21 to 27: merge passes",
		Text:   "Files that intermediate passes read, files of the final merge, and passes, for io.sort.factor = 10 (`slotwave platform eval merge`). The report works the example of 28 spills; the other rows are its equations worked by hand.",
		Header: []string{"spills", "intermediate reads", "wanted", "final files", "wanted", "passes", "wanted", "wanted by"},
	}
	good := true
	for _, want := range []struct {
		spills, reads, final, passes int
		by                           string
	}{{28, 20, 10, 3, "published example"}, {10, 0, 10, 1, byHand}, {11, 2, 10, 2, byHand}, {19, 10, 10, 2, byHand}, {20, 12, 10, 3, byHand}} {
		m, err := taskplan.Merge(want.spills, 10)
		if err != nil {
			return nil, err
		}
		merges.Rows = append(merges.Rows, []string{fmt.Sprint(want.spills),
			fmt.Sprint(m.IntermReads), fmt.Sprint(want.reads), fmt.Sprint(m.FinalFiles), fmt.Sprint(want.final), fmt.Sprint(m.Passes), fmt.Sprint(want.passes), want.by})
		good = good && m.IntermReads == want.reads && m.FinalFiles == want.final && m.Passes == want.passes
	}
	merges.Outcome = agreement(good)
	spills := ReproducedPart{
		Name: "spills", Title: "Equations 12 to 16: spills of a map",
		Text:   "A map of 64 MiB that emits its records of 100 bytes: 671,088.64 of them, as the equations count. The report prints no example, so the wanted numbers are the equations worked by hand. A buffer of 256 MiB has room for 671,088: the equations spill the rest, a real map has none.",
		Header: []string{"io.sort.mb", "io.sort.record.percent", "spills", byHand},
	}
	good = true
	for _, k := range []struct {
		mb     float64
		record float64
		spills float64
	}{{100, 0.05, 3}, {100, 0.15, 1}, {250, 0.05, 2}, {256, 0.05, 2}} {
		h := analytic.DefaultPhases()
		h.SortMB, h.SortRecPercent = k.mb, k.record
		p, err := h.Phases(analytic.HerodotouOptions{Mode: analytic.Corrected})
		if err != nil {
			return nil, err
		}
		spills.Rows = append(spills.Rows, []string{fmt.Sprint(k.mb), fmt.Sprint(k.record), fmt.Sprint(p.NumSpills), fmt.Sprint(k.spills)})
		good = good && float64(p.NumSpills) == k.spills
	}
	spills.Outcome = agreement(good)
	return []ReproducedPart{merges, spills}, nil
}

const byHand = "equations by hand"

func agreement(good bool) string {
	if good {
		return "All are equal."
	}
	return "**They differ.**"
}
