package validation

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/evidence"
)

// The tables of the recorded cases and traces are what the measurements give today.
func TestValidationPage(t *testing.T) {
	data := shared(t, "data")
	evidence.Compare(t, "oracle", oracleTable(t, data), *update)
	evidence.Compare(t, "gridmix", gridmixTable(t, data), *update)
}

func oracleTable(t *testing.T, data string) string {
	all := compareCases(t, filepath.Join(data, "oracle"))
	var b bytes.Buffer
	writeAgreements(&b, all)
	runs, exact, attempts := 0, 0, 0
	for _, a := range all {
		if a.First == "" {
			runs++
		}
		exact, attempts = exact+a.Same, attempts+a.Attempts
	}
	fmt.Fprintf(&b, "\n%d of %d runs are exact in every attempt; %d of %d attempts are.\n", runs, len(all), exact, attempts)
	return b.String()
}

func gridmixTable(t *testing.T, data string) string {
	files, err := filepath.Glob(filepath.Join(data, "gridmix-traces", "*.json.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces (%v)", err)
	}
	var b strings.Builder
	b.WriteString("| trace | recorded s | simulated s | difference | with the scheduler's own initialisation | jobs: number, median, worst difference | most maps at once, of slots | most reduces, of slots |\n|---|---|---|---|---|---|---|---|\n")
	var off, alone, jobs []float64
	for _, file := range files {
		name, r := replayGridmix(t, file, "")
		_, own := replayGridmix(t, file, `initialised = "simulated"`)
		percent, ownPercent := r.miss(), own.miss()
		slices.Sort(r.jobs)
		jobs = append(jobs, r.jobs...)
		off, alone = append(off, math.Abs(percent)), append(alone, math.Abs(ownPercent))
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %+.1f %% | %+.1f %% | %d, %.1f %%, %.1f %% | %d of %d | %d of %d |\n",
			name, r.recorded.Seconds(), r.simulated.Seconds(), percent, ownPercent, len(r.jobs), 100*r.jobs[len(r.jobs)/2], 100*r.jobs[len(r.jobs)-1], r.peak[0], r.slots[0], r.peak[1], r.slots[1])
	}
	slices.Sort(off)
	slices.Sort(alone)
	slices.Sort(jobs)
	fmt.Fprintf(&b, "\nMedian %.1f %%, worst %.1f %% (with the scheduler's own initialisation %.1f and %.1f %%); median %.1f %%, 90 %% within %.1f %%, worst %.1f %%\n",
		off[len(off)/2], off[len(off)-1], alone[len(alone)/2], alone[len(alone)-1], 100*jobs[len(jobs)/2], 100*jobs[len(jobs)*9/10], 100*jobs[len(jobs)-1])
	return b.String()
}
