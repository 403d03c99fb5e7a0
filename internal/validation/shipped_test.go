package validation

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
)

const committed = "../../results/shipped"

// kept are the files of a result that are shipped; the manifest has the sums of
// all.
func kept(f resultdir.FileSum) bool {
	switch filepath.Base(f.Name) {
	case results.SummaryName, results.ComparisonName, results.PointsName, results.PointSummaryName:
		return true
	}
	return f.Name == "slots.svg" || f.Name == "differences.svg" || f.Name == "execution.svg" && f.Size < 300_000
}

// Every shipped scenario gives the committed bytes, and shows what the page on
// validation says that it shows.
func TestShippedScenariosGiveTheCommittedResults(t *testing.T) {
	if testing.Short() {
		t.Skip("whole days of clusters")
	}
	names := scenarios.List()
	onlyShipped(t, names)
	facts := make([]*study.ShownFacts, len(names))
	t.Run("all", func(t *testing.T) { simulateShipped(t, names, facts) })
	if t.Failed() {
		return
	}
	all := map[string]*study.ShownFacts{}
	for i, name := range names {
		if facts[i] != nil {
			all[name] = facts[i]
		}
	}
	writeFacts(t, all)
}

// onlyShipped checks that no results are kept of a scenario that is gone.
func onlyShipped(t *testing.T, names []string) {
	entries, err := os.ReadDir(committed)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !slices.Contains(names, e.Name()) {
			t.Errorf("results/shipped/%s: no such scenario: want the folder removed", e.Name())
		}
	}
}

func simulateShipped(t *testing.T, names []string, all []*study.ShownFacts) {
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			verb(t, "run", name, "--quiet", "--out", dir)
			got, err := resultdir.ReadManifest(dir)
			if err != nil {
				t.Fatal(err)
			}
			home := filepath.Join(committed, name)
			if *update {
				keep(t, dir, home, got)
			}
			if slices.Contains(caseNames(t), name) {
				if all[i], err = study.Facts(name, dir); err != nil {
					t.Fatal(err)
				}
			}
			data, err := os.ReadFile(filepath.Join(home, resultdir.ManifestName))
			if err != nil {
				t.Fatalf("%v: make it with -update", err)
			}
			want := decodeManifest(t, data)
			if !slices.Equal(got.Inputs, want.Inputs) {
				t.Errorf("inputs %v, committed %v", got.Inputs, want.Inputs)
			}
			if made, committed := without(got.Outputs, want.Outputs), without(want.Outputs, got.Outputs); len(made)+len(committed) > 0 {
				t.Errorf("outputs %v\ncommitted %v", made, committed)
			}
			for _, f := range want.Outputs {
				if kept(f) {
					if err := resultdir.Verify(home, []resultdir.FileSum{f}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

// without returns the files that others lack or have with other content.
func without(files, others []resultdir.FileSum) []resultdir.FileSum {
	return slices.DeleteFunc(slices.Clone(files), func(f resultdir.FileSum) bool { return slices.Contains(others, f) })
}

// keep replaces the committed files of a scenario.
func keep(t *testing.T, dir, home string, m resultdir.Manifest) {
	if err := os.RemoveAll(home); err != nil {
		t.Fatal(err)
	}
	names := []string{resultdir.ManifestName}
	for _, f := range m.Outputs {
		if kept(f) {
			names = append(names, f.Name)
		}
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			t.Fatal(err)
		}
		if name == resultdir.ManifestName {
			data = withoutBuild(t, m)
		}
		if err := os.WriteFile(to, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func decodeManifest(t *testing.T, data []byte) resultdir.Manifest {
	t.Helper()
	var m resultdir.Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// withoutBuild is a manifest that does not change with the program that made it.
func withoutBuild(t *testing.T, m resultdir.Manifest) []byte {
	t.Helper()
	m.Build = resultdir.Build{Modules: []resultdir.Module{}}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}
