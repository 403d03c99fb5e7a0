package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/study/cases"
)

// compareCase says how the simulation of a recorded case differs from the record;
// empty: it is no case, or nothing is recorded.
func compareCase(name string, k *asked) (string, error) {
	run := 1
	for _, s := range k.set { // a case takes no other setting
		_, value, _ := strings.Cut(s, "=")
		run, _ = strconv.Atoi(strings.TrimSpace(value))
	}
	if k.quiet || k.json || filepath.Base(name) != "case.json" || !cases.Recorded(name, run) {
		return "", nil
	}
	g, err := cases.Compare(name, run)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("\n%s%d\n%d of %d attempts exact to the ms, makespan %.3f s (simulated %.3f s)\n",
		recordedRun, run, g.Same, g.Attempts, float64(g.MakespanMS)/1000, float64(g.SimulatedMS)/1000)
	for _, note := range []string{g.First, g.Outside} {
		if note != "" {
			text += "- " + printable(note) + "\n"
		}
	}
	return text, nil
}

// recordedRun begins the title of the section about the record.
const recordedRun = "Recorded run "
