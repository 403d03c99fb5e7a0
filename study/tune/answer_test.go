package tune

import (
	"slices"
	"testing"

	"github.com/slotwave/slotwave/internal/documented"
)

// The page on results lists the columns of tune.
func TestDocumentedTuneColumns(t *testing.T) {
	if got := documented.Columns(t, "../../docs/results.md", tunedName); !slices.Equal(got, tunedColumns) {
		t.Errorf("documented are\n%v: want\n%v", got, tunedColumns)
	}
}
