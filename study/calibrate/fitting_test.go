package calibrate

import (
	"slices"
	"testing"

	"github.com/slotwave/slotwave/internal/documented"
)

// The page on results lists the columns of fit.
func TestDocumentedFitColumns(t *testing.T) {
	if got := documented.Columns(t, "../../docs/results.md", fitName); !slices.Equal(got, fitColumns) {
		t.Errorf("documented are\n%v: want\n%v", got, fitColumns)
	}
}
