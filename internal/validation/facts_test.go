package validation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/study"
)

// writeFacts compares the table of all facts, and the page of each scenario that
// is shipped for some, with what the runs gave, or writes them anew.
func writeFacts(t *testing.T, all map[string]*study.ShownFacts) {
	table := "| fact | scenario | the source saw | wanted | simulated | |\n|---|---|---|---|---|---|\n"
	for _, name := range study.FactScenarios() {
		if all[name] == nil {
			return // some scenarios only were asked for
		}
		page := ""
		for _, f := range all[name].Facts {
			row := fmt.Sprintf("| %s | %s | %s | %s |", f.Seen, f.Wanted, f.Shown, f.Verdict)
			table += fmt.Sprintf("| %s | [%s](cases/%s.md) %s\n", f.ID, name, name, row)
			page += row + "\n"
		}
		file := "../../docs/cases/" + name + ".md"
		sectionOf(t, file, "facts", "| the source saw | wanted | simulated | |\n|---|---|---|---|\n"+page)
		sectionOf(t, file, "assumed", "- "+strings.Join(all[name].Assumed, "\n- ")+"\n")
	}
	sectionOf(t, "../../docs/validation.md", "facts", table)
}
