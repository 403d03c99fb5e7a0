package platform_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/workload"
)

// Terms that are written and read back predict the same times of measured tasks.
func TestTermsInFile(t *testing.T) {
	p := platform.Model{Terms: map[string]platform.WorkModel{}}
	rows := rowsOf(t, true, "small")
	for _, phase := range platform.Phases {
		m, err := platform.FitWork(phase, rows[phase], platform.Typical)
		if err != nil {
			t.Fatal(err)
		}
		p.Terms[phase] = m
	}
	var text bytes.Buffer
	if err := platform.WriteModel(&text, p); err != nil {
		t.Fatal(err)
	}
	again, err := platform.ReadModel(text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, phase := range platform.Phases {
		was, is := p.Terms[phase], again.Terms[phase]
		if was.String() != is.String() {
			t.Errorf("%s: wrote %s, read %s", phase, was.String(), is.String())
		}
		for i := range rows[phase] {
			w := &rows[phase][i].Work
			if was.Mean(w) != is.Mean(w) || was.Copies(w) != is.Copies(w) {
				t.Fatalf("%s, row %d: %v ms, read back %v", phase, i, was.Mean(w), is.Mean(w))
			}
		}
	}
}

// A file that names what a phase cannot have is refused.
func TestWrongTerms(t *testing.T) {
	lines := `"read": [0, 1], "collect": [0, 1], "spill": [0, 1], "merge": [0, 1], "shuffle": [0, 1], "write": [0, 1]`
	for terms, want := range map[string]string{
		`"raed": {"terms": []}`:                                            `unknown phase "raed"`,
		`"read": {"terms": [{"term": "comparisons", "ms": 1}]}`:            `unknown term "comparisons"`,
		`"read": {"terms": [{"term": "MB", "ms": -1}]}`:                    "terms.read.MB",
		`"read": {"terms": [{"term": "MB", "ms": 1}], "copies": 1}`:        "terms.read.copies",
		`"write": {"terms": [{"term": "MB", "ms": 1}], "retried_part": 2}`: "retried_part",
	} {
		_, err := platform.ReadModel([]byte("{" + lines + `, "terms": {` + terms + "}}"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", terms, err, want)
		}
	}
}

// A fitted machine takes the terms of a phase where there are any, from the work of
// the task, and else its line.
func TestTermsOfTask(t *testing.T) {
	line := platform.OneLine(fit.Line{A: 5, B: 2})
	p := platform.Model{Read: line, Collect: line, Spill: line, Merge: line, Shuffle: line, Write: line}
	var rows []platform.WorkRow
	for i := range 40 {
		w := platform.Work{OutMB: float64(10 + i%7), OutRecords: float64(1+i%5) / 4}
		rows = append(rows, platform.WorkRow{Work: w, MS: 30 + 2*w.OutMB + 300*w.OutRecords})
	}
	m, err := platform.FitWork("collect", rows, platform.Mean)
	if err != nil {
		t.Fatal(err)
	}
	p.Terms = map[string]platform.WorkModel{"collect": m}
	n := model.TaskCounts{Counters: &workload.Counters{OutBytes: 12 << 20, OutRecords: 500_000}}
	if ms, ok := p.Work("collect", &n); !ok || ms != m.Mean(&platform.Work{OutMB: 12, OutRecords: 0.5}) {
		t.Errorf("collect: %v ms, %v, want the terms of 12 MB and half a million records", ms, ok)
	}
	if _, ok := p.Work("read", &n); ok {
		t.Error("read has terms, though none are fitted")
	}
}

// A run without which nothing can be fitted is not predicted; the others are.
func TestCrossWithoutTheOnlyRows(t *testing.T) {
	rows := []platform.WorkRow{}
	for i := range 4 {
		group := "most"
		if i == 3 {
			group = "one"
		}
		rows = append(rows, platform.WorkRow{Work: platform.Work{InMB: float64(1 + i)}, MS: float64(10 + 10*i), Group: group})
	}
	predicted, err := platform.CrossWork("read", rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range predicted {
		if nan := p.Typical != p.Typical; nan != (i < 3) {
			t.Errorf("row %d: predicted %v", i, p.Typical)
		}
	}
}
