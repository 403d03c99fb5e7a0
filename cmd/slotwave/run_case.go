package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/study/cases"
)

// compareCase compares the simulation of a recorded case with the record, unless
// settings change the case or nothing is recorded.
func (a *app) compareCase(name string, k *asked) error {
	run := 1
	for _, s := range k.set {
		key, value, _ := strings.Cut(s, "=")
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if strings.TrimSpace(key) != "run" || err != nil {
			return nil
		}
		run = n
	}
	if k.quiet || k.json || filepath.Base(name) != "case.json" || k.fidelity != "" || k.forkAt != "" || !cases.Recorded(name, run) {
		return nil
	}
	g, err := cases.Compare(name, run)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "recorded run %d: %d of %d attempts exact to the millisecond, makespan %.3f s (simulated %.3f s)\n",
		run, g.Same, g.Attempts, float64(g.MakespanMS)/1000, float64(g.SimulatedMS)/1000)
	for _, note := range []string{g.First, g.Outside} {
		if note != "" {
			fmt.Fprintf(a.stdout, "  %s\n", printable(note))
		}
	}
	return nil
}
