package platform_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/slotwave/slotwave/internal/evidence"
	"github.com/slotwave/slotwave/internal/measured"
	"github.com/slotwave/slotwave/model/platform"
)

// The paper's own method on the profile of a real Hadoop, beside the figures of
// its Table 1: lines in bytes alone, and rows within 10, 15 and 20 %.
func TestBytesOnPlatform(t *testing.T) {
	p, err := platform.ReadProfile(measured.Open(t, "platform-0.20.2/platform-profile.csv"))
	if err != nil {
		t.Fatal(err)
	}
	_, fits, err := platform.Fit(p, platform.FitOptions{EqualSpread: true, TwoLines: []string{"shuffle"}})
	if err != nil {
		t.Fatal(err)
	}
	known := evidence.Read(t, "platform-lines")
	for i, paper := range []string{"66 / 83 / 92", "56 / 73 / 84", "61 / 76 / 83", "58 / 84 / 94", "76 / 85 / 96", "93 / 97 / 98"} {
		f := fits[slices.IndexFunc(fits, func(f platform.PhaseFit) bool { return f.Phase == platform.Phases[i] })]
		line := fmt.Sprintf("%.0f + %.3g/MB", f.Model.A, f.Model.B)
		if !math.IsInf(f.Model.Tau, 1) {
			line += fmt.Sprintf(", from %.0f MB on %.0f + %.3g/MB", f.Model.Tau, f.Model.Beyond.A, f.Model.Beyond.B)
		}
		e := f.Errors.Fractions
		known.Want(t, []string{f.Phase, line, fmt.Sprintf("%.0f / %.0f / %.0f", 100*e[0], 100*e[1], 100*e[2]), paper})
	}
}
