package house

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Each module that go.mod requires has its licence in a comment, so that each new one
// has its licence read.
func TestLicences(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	licence := regexp.MustCompile(`// (indirect; )?(MIT|BSD-[23]-Clause|Apache-2\.0|MPL-2\.0|CC-BY-4\.0|FTL)\b`)
	modules := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "\t") {
			continue
		}
		modules++
		if !licence.MatchString(line) {
			t.Errorf("go.mod: %s: want its licence in the comment", strings.TrimSpace(line))
		}
	}
	if modules == 0 {
		t.Error("go.mod requires no module")
	}
}
