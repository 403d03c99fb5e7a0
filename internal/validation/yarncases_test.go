package validation

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/cases"
)

// Every run of every recorded case of a ResourceManager is exact: each row of jobs,
// containers and attempts, to the millisecond.
func TestYarnCases(t *testing.T) {
	for _, folder := range yarnFolders(t) {
		file := filepath.Join(folder, "case.json")
		for run := 1; run <= len(openYarnCase(t, folder).Runs); run++ {
			s, err := study.Open(file, study.Options{Seed: 1, Set: []string{fmt.Sprintf("run=%d", run)}, Containers: true})
			if err != nil {
				t.Fatal(err)
			}
			done, err := cases.SimulateOnYARN(s)
			if err != nil {
				t.Errorf("%s run %d: %v", folder, run, err)
				continue
			}
			tables, err := done.Compare(file, run)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range tables {
				if g.Same < g.Rows || g.Extra > 0 {
					t.Errorf("%s run %d: %d of %d %s exact, %d not recorded; %s", filepath.Base(folder), run, g.Same, g.Rows, g.Name, g.Extra, g.First)
				}
			}
		}
	}
}
