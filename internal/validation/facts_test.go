package validation

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/study"
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

// writeFacts compares the table of all facts, and the page of each scenario that
// is shipped for some, with what the runs gave, or writes them anew.
func writeFacts(t *testing.T, all map[string]*study.ShownFacts) {
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
			table += fmt.Sprintf("| %s | [%s](cases/%s.md) %s\n", f.ID, name, name, row)
			page += row + "\n"
		}
		file := "../../docs/cases/" + name + ".md"
		sectionOf(t, file, "facts", "| the source saw | wanted | simulated | from published numbers | result |\n|---|---|---|---|---|\n"+page)
		sectionOf(t, file, "assumed", "- "+strings.Join(all[name].Assumed, "\n- ")+"\n")
	}
	sectionOf(t, "../../docs/validation.md", "facts", table)
}
