package results

import (
	"slices"
	"testing"

	"github.com/slotwave/slotwave/results/points"
)

// Every column of jobs.csv with numbers can be measured.
func TestJobFigures(t *testing.T) {
	texts := []string{"job", "name", "user", "pool", "queue", "state"}
	for _, column := range slices.Concat(jobColumns, deadlineColumns) {
		_, err := points.ReadMetrics([]string{"mean_" + column})
		if known := err == nil; known == slices.Contains(texts, column) {
			t.Errorf("%s: can be measured: got %t", column, err == nil)
		}
	}
}
