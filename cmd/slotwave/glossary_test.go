package main

import (
	"strings"
	"testing"

	"github.com/slotwave/slotwave/docs"
)

// Each word of the glossary has an entry, on lines that fit a terminal.
func TestMeaning(t *testing.T) {
	words := 0
	for line := range strings.Lines(docs.Glossary) {
		first, _, row := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !row || strings.HasPrefix(line, "|---") || first == "word" {
			continue
		}
		for _, word := range strings.Split(strings.ReplaceAll(first, "`", ""), ", ") {
			words++
			text := meaning(word)
			if text == "" || strings.Contains(text, "`") || strings.Contains(text, "](") {
				t.Errorf("%s: %q", word, text)
			}
			for _, l := range strings.Split(text, "\n") {
				if len([]rune(l)) > 80 {
					t.Errorf("%s: more than 80 columns: %s", word, l)
				}
			}
		}
	}
	if words < 100 {
		t.Errorf("%d words, want 100 or more: are the rows still read?", words)
	}
	code, out, _ := call("", "help", "speculative", "attempt")
	if want := "speculative attempt: a second attempt of a task that lags"; code != exitDone || !strings.HasPrefix(out, want) {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, _, stderr := call("", "help", "no-such-word"); code != exitInput || !strings.Contains(stderr, "a word of the glossary") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
