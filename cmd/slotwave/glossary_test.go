package main

import (
	"strings"
	"testing"
)

// help explains the words of the glossary, whatever their case.
func TestHelpExplainsWords(t *testing.T) {
	t.Parallel()
	if n := len(glossary()); n < 100 {
		t.Errorf("%d words in the glossary: is the form of its entries still known?", n)
	}
	for name, want := range map[string]string{
		"heartbeat": "the periodic report of a tracker", "Heartbeat Interval": "time between two heartbeats", "tracker": "the daemon on a worker node", "slowstart": "reduces",
	} {
		if text := verb(t, append([]string{"help"}, strings.Fields(name)...)...); !strings.Contains(text, want) {
			t.Errorf("help %s: got %q: want %q", name, text, want)
		}
	}
	if code, _, errs := call("", "help", "flux-compensator"); code != exitInput || !strings.Contains(errs, "a word of the glossary") {
		t.Errorf("exit code %d, %q", code, errs)
	}
}
