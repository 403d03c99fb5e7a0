package sensitivity

import (
	"slices"
	"testing"

	"github.com/slotwave/slotwave/internal/documented"
)

// The page on results lists the columns of sensitivity.
func TestDocumentedSensitivityColumns(t *testing.T) {
	if got := documented.Columns(t, "../../docs/results.md", sensitivityName); !slices.Equal(got, sensitivityColumns) {
		t.Errorf("documented are\n%v: want\n%v", got, sensitivityColumns)
	}
}
