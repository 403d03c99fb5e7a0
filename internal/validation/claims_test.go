package validation

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/reproduce"
)

// claimsFile has the answers to all claims, as reproduce --all writes them.
const claimsFile = "../../docs/evidence/claims.csv"

// quickParts are parts of papers that take less than a second.
var quickParts = [][2]string{{"herodotou", "merge"}, {"herodotou", "behaviour"}, {"khan", "2"}, {"zhang", "splits"}, {"hitune", "7.1"}, {"sonata", "splits"}}

// The committed answers are those of the claims, and the counts on the page
// of the cases follow from them. All points take minutes, so the usual run of the
// tests simulates some parts.
func TestClaims(t *testing.T) {
	papers, err := reproduce.Papers()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		all, err := reproduce.All(reproduce.Reproducing{Options: study.Options{Seed: 1}, Journal: os.Getenv("SLOTWAVE_CLAIMS")})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(claimsFile, csvOf(t, all), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	rows := claimRows(t)
	next := 1 // after the header
	for i := range papers {
		for k := range papers[i].Experiment {
			e := &papers[i].Experiment[k]
			for _, c := range e.Claim {
				if next >= len(rows) || rows[next][0] != papers[i].Name || rows[next][1] != c.ID || rows[next][3] != c.Text || !strings.HasPrefix(rows[next][4], strings.Join(c.Says, "; ")) && c.Beyond == "" {
					t.Fatalf("%s: %s, %s is not in its place (-update writes the file)", claimsFile, papers[i].Name, c.ID)
				}
				next++
			}
		}
	}
	if next != len(rows) {
		t.Errorf("%s has %d rows: want %d", claimsFile, len(rows), next)
	}
	writeCases(t, papers, rows)
	for _, part := range quickParts {
		checkPart(t, rows, part[0], part[1])
	}
	t.Run("all", func(t *testing.T) {
		layers.OnlyWhole(t, "minutes of processor time")
		for i := range papers {
			for k := range papers[i].Experiment {
				checkPart(t, rows, papers[i].Name, papers[i].Experiment[k].Name)
			}
		}
	})
}

// checkPart compares the answers of a part with the committed ones.
func checkPart(t *testing.T, rows [][]string, paper, part string) {
	t.Helper()
	page, err := reproduce.Reproduce(paper, reproduce.Reproducing{Options: study.Options{Seed: 1}, Figure: part})
	if err != nil {
		t.Fatal(err)
	}
	got, err := csv.NewReader(bytes.NewReader(csvOf(t, page.Answers))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range got[1:] {
		if !slices.ContainsFunc(rows, func(r []string) bool { return slices.Equal(r, row) }) {
			t.Errorf("%s has other answers than %q", claimsFile, row)
		}
	}
}

func csvOf(t *testing.T, all reproduce.Answers) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := all.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func claimRows(t *testing.T) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(read(t, claimsFile))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// casesPage has a section for each case, with the scenario in its heading.
const casesPage = "../../docs/cases.md"

// writeCases compares the counts of verdicts on the page of the cases with the answers,
// or writes them anew. Claims are answered by the scenario of each section.
func writeCases(t *testing.T, papers []reproduce.Paper, rows [][]string) {
	t.Helper()
	answered := map[string]bool{}
	for i := range papers {
		for k := range papers[i].Experiment {
			answered[papers[i].Experiment[k].Scenario] = true
		}
	}
	for _, heading := range regexp.MustCompile(`(?m)^### ([a-z0-9-]+):`).FindAllStringSubmatch(read(t, casesPage), -1) {
		if !answered[heading[1]] {
			t.Errorf("%s: no claim is answered by %s", casesPage, heading[1])
		}
	}
	verdicts := "| paper | reproduced | depends | not reproduced | not a simulator's business | claims |\n|---|---|---|---|---|---|\n"
	for i := range papers {
		counts := map[string]int{}
		for _, r := range rows[1:] {
			if r[0] == papers[i].Name {
				counts[r[8]]++
				counts[""]++
			}
		}
		verdicts += fmt.Sprintf("| `%s` | %d | %d | %d | %d | %d |\n", papers[i].Name, counts[reproduce.Reproduced], counts[reproduce.Depends], counts[reproduce.NotReproduced], counts[reproduce.Beyond], counts[""])
	}
	sectionOf(t, casesPage, "verdicts", verdicts)
}
