package validation

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/evidence"
	"github.com/slotwave/slotwave/study/reproduce"
)

// caseNames lists the scenarios that have a page of facts.
func caseNames(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/cases/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, page := range pages {
		pages[i] = strings.TrimSuffix(filepath.Base(page), ".md")
	}
	return pages
}

// ofScenario leaves out what every scenario of a platform, a profile or a release
// assumes.
func ofScenario(assumed []string) []string {
	return slices.DeleteFunc(slices.Clone(assumed), func(a string) bool {
		return slices.ContainsFunc([]string{"platform ", "profile ", "cluster.costs.", "network.", "fair2 on Hadoop "}, func(p string) bool { return strings.HasPrefix(a, p) })
	})
}

// writeFacts compares the table of all facts, and the page of each scenario that
// is shipped for some, with what the runs gave, or writes them anew.
func writeFacts(t *testing.T, all map[string]*reproduce.ShownFacts) {
	table := "| fact | scenario | the source saw | wanted | simulated | from published numbers | result |\n|---|---|---|---|---|---|---|\n"
	names := caseNames(t)
	for _, name := range names {
		if all[name] == nil {
			return // some scenarios only were asked for
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(all[a].Facts[0].ID, all[b].Facts[0].ID) })
	for _, name := range names {
		page := ""
		for _, f := range all[name].Facts {
			row := fmt.Sprintf("| %s | %s | %s | %s | %s |", f.Seen, f.Wanted, f.Shown, f.Difference, f.Outcome)
			table += fmt.Sprintf("| %s | %s %s\n", f.ID, name, row)
			page += row + "\n"
		}
		file := "../../docs/cases/" + name + ".md"
		sectionOf(t, file, "facts", "| the source saw | wanted | simulated | from published numbers | result |\n|---|---|---|---|---|\n"+page)
		sectionOf(t, file, "assumed", "- "+strings.Join(ofScenario(all[name].Assumed), "\n- ")+"\n")
	}
	evidence.Compare(t, "facts", table, *update)
}
