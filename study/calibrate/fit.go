package calibrate

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/workload"
)

// FitOptions selects how a platform model is fitted.
type FitOptions struct {
	Platform platform.FitOptions
	Heap     string              // -Xmx of a reduce, such as 700m: test the break expected in the shuffle; empty: do not
	Break    platform.BreakSetup // other properties that determine that break
}

// FitPlatform fits the platform model to a platform profile.
func FitPlatform(name string, k FitOptions) (*Fitting, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	profile, err := platform.ReadProfile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	result := &Fitting{Title: filepath.Base(name)}
	var fits []platform.PhaseFit
	if result.Platform, fits, err = platform.Fit(profile, k.Platform); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	tau, err := k.expectedBreak()
	if err != nil {
		return nil, err
	}
	for i, f := range fits {
		p := FittedPhase{PhaseFit: f, Rows: profile[i].Rows}
		if f.Phase == "shuffle" && tau > 0 {
			p.Expected = chow(p.Rows, tau, k.Platform.Segment.Continuous)
		}
		result.Phases = append(result.Phases, p)
	}
	return result, nil
}

// expectedBreak returns the break that follows from the configuration, MB; 0: not
// requested.
func (k *FitOptions) expectedBreak() (float64, error) {
	if k.Heap == "" {
		return 0, nil
	}
	bytes, err := workload.ParseMemory(k.Heap, "700m")
	if err != nil {
		return 0, fmt.Errorf("--heap: %w", err)
	}
	k.Break.HeapMB = float64(bytes) / (1 << 20)
	b, err := platform.ExpectedBreak(k.Break)
	return b.TauMB, err
}

// chow tests the expected break. Rows on only one side of it do not allow a
// test.
func chow(rows []platform.PhaseRow, tau float64, continuous bool) *ExpectedBreak {
	x, y := make([]float64, len(rows)), make([]float64, len(rows))
	for i, r := range rows {
		x[i], y[i] = r.MB, r.MS
	}
	e := &ExpectedBreak{MB: tau}
	var err error
	if e.F, e.P, err = fit.Chow(x, y, tau, continuous); err != nil {
		e.F, e.P = math.NaN(), math.NaN()
	}
	return e
}
