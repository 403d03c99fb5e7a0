package main

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slotwave/slotwave/docs"
)

// markup matches the Markdown of the glossary: code, and links with their text.
var markup = regexp.MustCompile("`|\\[([^]]*)\\]\\([^)]*\\)")

// meaning returns the entries of the glossary for a word, empty if there is none.
func meaning(word string) string {
	var entries []string
	for line := range strings.Lines(docs.Glossary) {
		cells := strings.Split(strings.Trim(markup.ReplaceAllString(line, "$1"), "| \n"), " | ")
		if len(cells) != 3 || !slices.ContainsFunc(strings.Split(cells[0], ", "), func(name string) bool { return strings.EqualFold(name, word) }) {
			continue
		}
		entry := cells[0] + ": " + cells[1]
		if cells[2] != "–" {
			entry += "\nfrom: " + cells[2]
		}
		entries = append(entries, filled(entry, 80))
	}
	return strings.Join(entries, "\n\n")
}

// filled breaks the lines of a text at blanks, to at most width columns.
func filled(text string, width int) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		column := 0
		for _, word := range strings.Fields(line) {
			n := utf8.RuneCountInString(word)
			switch {
			case column == 0:
			case column+1+n > width:
				b.WriteByte('\n')
				column = 0
			default:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += n
		}
	}
	return b.String()
}
