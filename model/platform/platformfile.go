package platform

import (
	"encoding/json"
	"io"
	"math"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
)

// Lines is a fitted platform as JSON: each phase as [A, B], or
// [A, B, tau, A2, B2] where it has a second line beyond tau.
type Lines struct {
	Read    []float64 `json:"read" unit:"ms, ms/MiB"`
	Collect []float64 `json:"collect" unit:"ms, ms/MiB"`
	Spill   []float64 `json:"spill" unit:"ms, ms/MiB"`
	Merge   []float64 `json:"merge" unit:"ms, ms/MiB"`
	Shuffle []float64 `json:"shuffle" unit:"ms, ms/MiB"`
	Write   []float64 `json:"write" unit:"ms, ms/MiB"`
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

// ReadModel reads a fitted platform as WriteModel writes it.
func ReadModel(text []byte) (Model, error) {
	var l Lines
	if err := input.Decode(text, &l); err != nil {
		return Model{}, err
	}
	var c input.Check
	p := l.Model(&c)
	return p, c.Err()
}

// WriteModel writes a platform as JSON: each phase as [A, B] in ms and ms/MB,
// or [A, B, tau, A2, B2].
func WriteModel(w io.Writer, p Model) error {
	lines := func(m PhaseModel) []float64 {
		if math.IsInf(m.Tau, 1) {
			return []float64{m.A, m.B}
		}
		return []float64{m.A, m.B, m.Tau, m.Beyond.A, m.Beyond.B}
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(Lines{
		lines(p.Read), lines(p.Collect), lines(p.Spill), lines(p.Merge), lines(p.Shuffle), lines(p.Write),
	})
}
