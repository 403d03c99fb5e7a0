package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/cases"
)

// compareCase says how the simulation of a recorded case differs from the record;
// empty: it is no case, or nothing is recorded.
func compareCase(name string, k *asked) (string, error) {
	run := runOfCase(name, k)
	if run == 0 {
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

// runOfCase returns the run of a recorded case that was simulated; 0 if nothing is
// recorded or nothing is to be printed.
func runOfCase(name string, k *asked) int {
	run := 1
	for _, s := range k.set { // a case takes no other setting
		_, value, _ := strings.Cut(s, "=")
		run, _ = strconv.Atoi(strings.TrimSpace(value))
	}
	if k.quiet || k.json || filepath.Base(name) != "case.json" || !cases.Recorded(name, run) {
		return 0
	}
	return run
}

// simulateCase runs a recorded case of a ResourceManager, writes its tables, and
// compares them with the record.
func (a *app) simulateCase(d *resultdir.Dir, s *study.Study, name string, k *asked) error {
	run, err := cases.SimulateOnYARN(s)
	if err != nil {
		return err
	}
	m, err := s.Manifest(build(), k.arguments("run", name))
	if err != nil {
		return err
	}
	if err := a.end(d, m, run.Write); err != nil || k.quiet {
		return err
	}
	if err := run.WriteText(a.stdout); err != nil {
		return err
	}
	n := runOfCase(name, k)
	if n == 0 {
		return nil
	}
	gaps, err := run.Compare(name, n)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "\n%s%d\n", recordedRun, n)
	for _, g := range gaps {
		fmt.Fprintf(a.stdout, "%d of %d %s exact to the ms, %d not recorded\n", g.Same, g.Rows, g.Name, g.Extra)
		if g.First != "" {
			fmt.Fprintf(a.stdout, "- %s\n", printable(g.First))
		}
	}
	return nil
}

// recordedRun begins the title of the section about the record.
const recordedRun = "Recorded run "
