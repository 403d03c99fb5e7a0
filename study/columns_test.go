package study_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/documented"
	"github.com/slotwave/slotwave/study/sensitivity"
	"github.com/slotwave/slotwave/study/tune"
)

// The page on results lists the columns of answers.
func TestDocumentedColumns(t *testing.T) {
	for name, write := range map[string]func(io.Writer) error{
		"tune.csv": new(tune.Tuned).WriteCSV, "sensitivity.csv": new(sensitivity.Sensitivity).WriteCSV,
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		want, _, _ := strings.Cut(b.String(), "\n")
		if got := strings.Join(documented.Columns(t, "../docs/results.md", name), ","); got != want {
			t.Errorf("%s: documented are\n%s: want\n%s", name, got, want)
		}
	}
}
