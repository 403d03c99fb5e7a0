package calibrate

import (
	"bytes"
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
	Tasks    []string            // tables of measured tasks with their counters

	terms map[string]platform.WorkModel // by phase
}

// FitPlatform fits the platform model to a platform profile, and the phases of
// measured tasks to their work.
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
	err = k.fitTerms(result)
	result.Platform.Terms = k.terms
	return result, err
}

// fitTerms fits the phases of measured tasks.
func (k *FitOptions) fitTerms(result *Fitting) error {
	tasks := platform.WorkProfile{}
	for _, name := range k.Tasks {
		data, err := os.ReadFile(name)
		if err == nil {
			err = tasks.ReadWork(bytes.NewReader(data))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(k.Tasks) == 0 {
		return nil
	}
	for _, phase := range platform.Phases {
		fitted, err := k.fitPhaseTerms(phase, tasks[phase])
		if err != nil {
			return fmt.Errorf("%s: %w", phase, err)
		}
		result.Terms = append(result.Terms, fitted)
	}
	return nil
}

// fitPhaseTerms fits one phase and predicts each run from the others.
func (k *FitOptions) fitPhaseTerms(phase string, rows []platform.WorkRow) (PhaseTerms, error) {
	fitted := PhaseTerms{Phase: phase, Rows: len(rows)}
	m, err := platform.FitWork(phase, rows, platform.Typical)
	if err != nil {
		return fitted, err
	}
	fitted.Terms = m.String()
	if k.terms == nil {
		k.terms = map[string]platform.WorkModel{}
	}
	k.terms[phase] = m
	left, err := platform.CrossWork(phase, rows)
	if err != nil {
		return fitted, err
	}
	lines, err := platform.CrossLines(phase, rows, k.Platform)
	if err != nil {
		return fitted, err
	}
	var measured, terms, byLine []float64
	at := map[string]int{} // of a run in measuredRuns and predictedRuns
	var measuredRuns, predictedRuns []float64
	copies, all := 0.0, 0.0
	for i := range rows {
		r := &rows[i]
		copies += m.Copies(&r.Work)
		all += m.At(&r.Work)
		if math.IsNaN(left[i].Typical) || math.IsNaN(lines[i]) {
			fitted.Unpredicted++
			continue
		}
		measured, terms, byLine = append(measured, r.MS), append(terms, left[i].Typical), append(byLine, lines[i])
		run, known := at[r.Group]
		if !known {
			run = len(measuredRuns)
			at[r.Group] = run
			measuredRuns, predictedRuns = append(measuredRuns, 0), append(predictedRuns, 0)
		}
		measuredRuns[run] += r.MS
		predictedRuns[run] += left[i].Mean
	}
	if all > 0 {
		fitted.Copies = copies / all
	}
	byRuns, err := fit.Errors(measuredRuns, predictedRuns, nil)
	if err != nil {
		return fitted, err
	}
	fitted.Runs = byRuns.Mean
	byLines, err := fit.Errors(measured, byLine, fit.ErrorThresholds)
	if err != nil {
		return fitted, err
	}
	byTerms, err := fit.Errors(measured, terms, fit.ErrorThresholds)
	fitted.Lines, fitted.Work = byLines.Fractions, byTerms.Fractions
	return fitted, err
}

// expectedBreak returns the break that follows from the configuration, MB; 0: not
// requested.
func (k *FitOptions) expectedBreak() (float64, error) {
	if k.Heap == "" {
		return 0, nil
	}
	bytes, err := workload.ParseBytes(k.Heap)
	if err != nil {
		return 0, fmt.Errorf("heap: %w", err)
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
