package platform

import (
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model/input"
)

// Model is the fitted platform model, in the order of Phases.
type Model struct {
	Read, Collect, Spill, Merge, Shuffle, Write PhaseModel
}

// Phase implements model.Fitted.
func (m *Model) Phase(phase string, mb float64) float64 {
	return [...]*PhaseModel{&m.Read, &m.Collect, &m.Spill, &m.Merge, &m.Shuffle, &m.Write}[slices.Index(Phases[:], phase)].At(mb)
}

// Fit fits every phase of a profile: one robust line, or two if the phase may have
// two and its rows without gross outliers support them. Each piece is fitted
// robustly and separately. It returns the platform and the fits of all phases in
// the order of the profile.
func Fit(p Profile, o FitOptions) (Model, []PhaseFit, error) {
	o = o.withDefaults()
	var fits []PhaseFit
	var c input.Check
	for _, phase := range p {
		f, err := fitRequested(phase.Rows, o, slices.Contains(o.TwoLines, phase.Phase))
		if err != nil {
			c.Fail(phase.Phase, "%v", err)
		}
		f.Phase = phase.Phase
		fits = append(fits, f)
	}
	var all Model
	var others []string // phases of other names
	for _, f := range fits {
		if !slices.Contains(Phases[:], f.Phase) {
			others = append(others, f.Phase)
		}
	}
	for i, model := range []*PhaseModel{&all.Read, &all.Collect, &all.Spill, &all.Merge, &all.Shuffle, &all.Write} {
		n := slices.IndexFunc(fits, func(f PhaseFit) bool { return f.Phase == Phases[i] })
		if n < 0 {
			c.Fail(Phases[i], "no rows of this phase%s: want benchmarks of all: %s (slotwave platform bench)", input.DidYouMean(Phases[i], others), strings.Join(Phases[:], ", "))
			continue
		}
		*model = fits[n].Model
	}
	if err := c.Err(); err != nil {
		return Model{}, nil, err
	}
	return all, fits, nil
}
