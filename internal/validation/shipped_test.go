package validation

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
)

const committed = "../../results/shipped"

// kept reports whether a file of a result is shipped: figures, and the pictures that
// a page shows. The manifest has the sums of all files.
func kept(scenario string, f resultdir.FileSum, shown []string) bool {
	switch filepath.Base(f.Name) {
	case results.SummaryName, results.ComparisonName, points.Name, points.SummaryName:
		return true
	}
	return slices.Contains(shown, scenario+"/"+f.Name)
}

// shownPictures lists the pictures of shipped results that pages show.
func shownPictures(t *testing.T) []string {
	t.Helper()
	var shown []string
	for _, page := range []string{casesPage, "../../README.md", "../../docs/yarn.md"} {
		for _, m := range regexp.MustCompile(`results/shipped/([^)\s]+\.svg)`).FindAllStringSubmatch(read(t, page), -1) {
			shown = append(shown, m[1])
		}
	}
	return shown
}

// Every shipped scenario gives the committed bytes.
func TestShippedScenariosGiveTheCommittedResults(t *testing.T) {
	if testing.Short() {
		t.Skip("whole days of clusters")
	}
	names := scenarios.List()
	onlyShipped(t, names)
	simulateShipped(t, names)
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

// longShipped take half the time of all shipped scenarios.
var longShipped = []string{"fb2010", "osdi04-sort", "sonata-slowstart"}

// drawnShipped are scenarios whose pages show a picture of each kind: of others, only
// the tables are written before each change.
var drawnShipped = []string{"delay-scheduling", "fb2009", "hitune-hive", "yarn-am-limit"}

func isPicture(f resultdir.FileSum) bool {
	return slices.Contains([]string{".png", ".svg"}, filepath.Ext(f.Name))
}

func simulateShipped(t *testing.T, names []string) {
	shown := shownPictures(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if slices.Contains(longShipped, name) && !*update {
				layers.OnlyWhole(t, "takes as long as all others")
			}
			dir := t.TempDir()
			args := []string{"run", name, "--quiet", "--out", dir}
			drawn := layers.Whole || *update || slices.Contains(drawnShipped, name)
			if !drawn {
				args = append(args, "--set", "plots=none")
			}
			verb(t, args...)
			got, err := resultdir.ReadManifest(dir)
			if err != nil {
				t.Fatal(err)
			}
			home := filepath.Join(committed, name)
			if *update {
				keep(t, name, dir, got, shown)
			}
			data, err := os.ReadFile(filepath.Join(home, resultdir.ManifestName))
			if err != nil {
				t.Fatalf("%v: make it with -update", err)
			}
			want := decodeManifest(t, data)
			if !slices.Equal(got.Inputs, want.Inputs) {
				t.Errorf("inputs %v, committed %v", got.Inputs, want.Inputs)
			}
			made, committed := without(got.Outputs, want.Outputs), without(want.Outputs, got.Outputs)
			if !drawn {
				committed = slices.DeleteFunc(committed, isPicture)
			}
			if len(made)+len(committed) > 0 {
				t.Errorf("outputs %v\ncommitted %v", made, committed)
			}
			for _, f := range want.Outputs {
				if kept(name, f, shown) {
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

// keep replaces the committed files of a scenario by those of a run in dir.
func keep(t *testing.T, scenario, dir string, m resultdir.Manifest, shown []string) {
	home := filepath.Join(committed, scenario)
	if err := os.RemoveAll(home); err != nil {
		t.Fatal(err)
	}
	names := []string{resultdir.ManifestName}
	for _, f := range m.Outputs {
		if kept(scenario, f, shown) {
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
	m.Build, m.Checksum = resultdir.Build{Modules: []resultdir.Module{}}, ""
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}
