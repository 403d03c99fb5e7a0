package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/docs"
	"github.com/slotwave/slotwave/model/input"
)

// word is an entry of the glossary.
type word struct {
	names   []string
	meaning string
}

// glossary reads the entries of the page: "- **name, name**: meaning".
func glossary() (all []word) {
	page := strings.ReplaceAll(strings.ReplaceAll(docs.Glossary, "`", ""), "\n  ", " ")
	for _, line := range strings.Split(page, "\n") {
		if names, meaning, found := strings.Cut(strings.TrimPrefix(line, "- **"), "**: "); found {
			all = append(all, word{strings.Split(names, ", "), meaning})
		}
	}
	return all
}

// explainWord prints the entry of a word, and the entries whose names contain it unless a
// verb is meant. It reports whether there is one.
func explainWord(w io.Writer, name string, verbs []string) bool {
	if rule := diagnose.RuleText(name); rule != "" {
		fmt.Fprintln(w, strings.Join(wrap(rule), "\n"))
		return true
	}
	var also []string
	found := false
	for _, entry := range glossary() {
		switch {
		case slices.ContainsFunc(entry.names, func(n string) bool { return strings.EqualFold(n, name) || strings.EqualFold(n+"s", name) }):
			fmt.Fprintln(w, strings.Join(wrap(strings.Join(entry.names, ", ")+": "+entry.meaning), "\n"))
			found = true
		case len(name) > 2 && strings.Contains(strings.ToLower(strings.Join(entry.names, "\n")), strings.ToLower(name)):
			also = append(also, entry.names[0])
		}
	}
	misspelt := newName(name) != "" || input.Mistyped(name, verbs) >= 0
	if len(also) > 0 && len(also) < 10 && (found || !misspelt) {
		fmt.Fprintln(w, strings.Join(wrap("See also: "+strings.Join(also, ", ")), "\n"))
		found = true
	}
	return found
}
