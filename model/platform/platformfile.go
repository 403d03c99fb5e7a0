package platform

import (
	"encoding/json"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
)

// Lines is a fitted platform as JSON: each phase as [A, B], or
// [A, B, tau, A2, B2] where it has a second line beyond tau.
type Lines struct {
	Read    []float64 `json:"read"`
	Collect []float64 `json:"collect"`
	Spill   []float64 `json:"spill"`
	Merge   []float64 `json:"merge"`
	Shuffle []float64 `json:"shuffle"`
	Write   []float64 `json:"write"`
}

// Model returns the platform of the lines, and reports lines of a wrong length.
func (l *Lines) Model(c *input.Check) Model {
	phase := func(name string, v []float64) PhaseModel {
		switch len(v) {
		case 2:
			return OneLine(fit.Line{A: v[0], B: v[1]})
		case 5:
			return PhaseModel{fit.Line{A: v[0], B: v[1]}, v[2], fit.Line{A: v[3], B: v[4]}}
		}
		c.Fail("platform."+name, "%d values: want [A, B] or [A, B, tau, A2, B2]", len(v))
		return PhaseModel{}
	}
	return Model{
		Read: phase("read", l.Read), Collect: phase("collect", l.Collect), Spill: phase("spill", l.Spill),
		Merge: phase("merge", l.Merge), Shuffle: phase("shuffle", l.Shuffle), Write: phase("write", l.Write),
	}
}

// modelFile is a fitted platform as JSON, with the terms of phases if they are fitted.
type modelFile struct {
	Lines
	Terms map[string]termsFile `json:"terms,omitzero"`
}

// ReadModel reads a fitted platform as WriteModel writes it.
func ReadModel(text []byte) (Model, error) {
	var f modelFile
	if err := input.Decode(text, &f); err != nil {
		return Model{}, err
	}
	var c input.Check
	p := f.Model(&c)
	for _, phase := range slices.Sorted(maps.Keys(f.Terms)) {
		if !slices.Contains(Phases[:], phase) {
			c.Fail("terms", "unknown phase %q%s", phase, input.Suggest(phase, Phases[:]))
			continue
		}
		if p.Terms == nil {
			p.Terms = map[string]WorkModel{}
		}
		terms := f.Terms[phase]
		p.Terms[phase] = terms.model(&c, phase)
	}
	return p, c.Err()
}

// WriteModel writes a platform as JSON: each phase as [A, B] in ms and ms/MB,
// or [A, B, tau, A2, B2], and the terms of phases in ms for a MB or a million
// records.
func WriteModel(w io.Writer, p Model) error {
	lines := func(m PhaseModel) []float64 {
		if math.IsInf(m.Tau, 1) {
			return []float64{m.A, m.B}
		}
		return []float64{m.A, m.B, m.Tau, m.Beyond.A, m.Beyond.B}
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	f := modelFile{Lines: Lines{
		lines(p.Read), lines(p.Collect), lines(p.Spill), lines(p.Merge), lines(p.Shuffle), lines(p.Write),
	}}
	for _, phase := range Phases {
		if m, ok := p.Terms[phase]; ok {
			if f.Terms == nil {
				f.Terms = map[string]termsFile{}
			}
			f.Terms[phase] = m.file()
		}
	}
	return out.Encode(f)
}
