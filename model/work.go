package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
)

// Work is what one task does with its data, as far as phases may depend on it:
// bytes in MiB, records in millions. A task has the work of its kind.
type Work struct {
	InMB, InRecords   float64 // of a map
	OutMB, OutRecords float64 // before the combiner
	Spills            float64
	SpillMB           float64 // that the spills wrote: combined, compressed
	SpillRecords      float64
	Compares          float64 // millions of comparisons of the sort (Herodotou, eq. 20)

	ShuffleMB, ShuffleRecords float64 // of a reduce, as fetched
	MergedMB, MergedRecords   float64 // of these, merged to disk in the background
	WriteMB, WriteRecords     float64
}

// MB is what the platform model takes a phase's time from.
func (w *Work) MB(phase string) float64 {
	switch phase {
	case "read":
		return w.InMB
	case "shuffle":
		return w.ShuffleMB
	case "write":
		return w.WriteMB
	}
	return w.OutMB
}

// WorkTerm is a part of a phase's time, in proportion to something of its work.
type WorkTerm struct {
	Name string
	Of   func(*Work) float64
}

// merged is what a map merges: nothing of one spill.
func (w *Work) merged(v float64) float64 {
	if w.Spills > 1 {
		return v
	}
	return 0
}

// workTerms are what each phase may depend on. Roots stand for the first
// records of a JVM, which are slow until its compiler has seen them.
var workTerms = map[string][]WorkTerm{
	"read": {
		{"1", one}, {"MB", func(w *Work) float64 { return w.InMB }}, {"records", func(w *Work) float64 { return w.InRecords }},
	},
	"collect": {
		{"1", one}, {"MB", func(w *Work) float64 { return w.OutMB }},
		{"records", func(w *Work) float64 { return w.OutRecords }}, {"root of records", func(w *Work) float64 { return math.Sqrt(w.OutRecords) }},
	},
	"spill": {
		{"1", one}, {"spills", func(w *Work) float64 { return w.Spills }}, {"MB written", func(w *Work) float64 { return w.SpillMB }},
		{"records written", func(w *Work) float64 { return w.SpillRecords }}, {"comparisons", func(w *Work) float64 { return w.Compares }},
		{"root of records", func(w *Work) float64 { return math.Sqrt(w.OutRecords) }},
		{"root of records written", func(w *Work) float64 { return math.Sqrt(w.SpillRecords) }},
	},
	"merge": {
		{"1", one}, {"merging", func(w *Work) float64 { return w.merged(1) }}, {"spills merged", func(w *Work) float64 { return w.merged(w.Spills) }},
		{"MB merged", func(w *Work) float64 { return w.merged(w.SpillMB) }}, {"records merged", func(w *Work) float64 { return w.merged(w.SpillRecords) }},
		{"root of records merged", func(w *Work) float64 { return w.merged(math.Sqrt(w.SpillRecords)) }},
	},
	"shuffle": {
		{"1", one}, {"MB", func(w *Work) float64 { return w.ShuffleMB }}, {"records", func(w *Work) float64 { return w.ShuffleRecords }},
		{"root of records", func(w *Work) float64 { return math.Sqrt(w.ShuffleRecords) }},
		{"MB merged", func(w *Work) float64 { return w.MergedMB }}, {"records merged", func(w *Work) float64 { return w.MergedRecords }},
	},
	"write": {
		{"1", one}, {"MB", func(w *Work) float64 { return w.WriteMB }}, {"records", func(w *Work) float64 { return w.WriteRecords }},
		{"root of records", func(w *Work) float64 { return math.Sqrt(w.WriteRecords) }},
	},
}

func one(*Work) float64 { return 1 }

// WorkRow is one measurement of a phase. Rows of one group are alike, such as
// the tasks of one run.
type WorkRow struct {
	Work
	MS    float64
	Group string
}

// WorkModel is the time of a phase in ms as a sum of terms, none negative.
type WorkModel struct {
	Terms []WorkTerm
	B     []float64 // ms per unit of each term
	BIC   float64
}

// At is the phase's time in ms.
func (m *WorkModel) At(w *Work) float64 {
	ms := 0.0
	for i, t := range m.Terms {
		ms += float64(m.B[i] * t.Of(w))
	}
	return ms
}

// String is the sum, as in 2 × MB + 30 × 1.
func (m *WorkModel) String() string {
	var terms []string
	for i, t := range m.Terms {
		terms = append(terms, fmt.Sprintf("%.3g × %s", m.B[i], t.Name))
	}
	return strings.Join(terms, " + ")
}

// FitWork chooses the terms of a phase one by one as long as the BIC falls, and
// fits them, none negative, by reweighting: residuals count relative to the
// prediction, and large ones less (huber).
func FitWork(phase string, rows []WorkRow) (WorkModel, error) {
	candidates, known := workTerms[phase]
	var c input.Check
	if !known {
		c.Fail("phase", "unknown %q%s", phase, input.Suggest(phase, PlatformPhases[:]))
	}
	if len(rows) < 3 {
		c.Fail(phase, "%d rows: want 3 or more", len(rows))
	}
	for i := range rows {
		c.AtLeast(fmt.Sprintf("%s[%d].duration_ms", phase, i), rows[i].MS, 0)
	}
	if err := c.Err(); err != nil {
		return WorkModel{}, err
	}
	best := WorkModel{BIC: math.Inf(1)}
	for {
		next := best
		for _, t := range candidates {
			if slices.ContainsFunc(best.Terms, func(x WorkTerm) bool { return x.Name == t.Name }) {
				continue
			}
			m, err := fitTerms(append(slices.Clone(best.Terms), t), rows)
			if errors.Is(err, fit.ErrSingular) {
				continue
			}
			if err != nil {
				return WorkModel{}, fmt.Errorf("%s: %w", phase, err)
			}
			if m.BIC < next.BIC && !slices.Contains(m.B, 0) {
				next = m
			}
		}
		if len(next.Terms) == len(best.Terms) {
			break
		}
		best = next
	}
	if len(best.Terms) == 0 {
		return best, fmt.Errorf("%s: %w", phase, fit.ErrSingular)
	}
	return best, nil
}

const (
	workRounds  = 20
	leastTime   = 1.0 // ms; the resolution of the clocks
	hardResidue = 0.5 // of the prediction: what counts for the BIC at most
)

// fitTerms fits given terms.
func fitTerms(terms []WorkTerm, rows []WorkRow) (WorkModel, error) {
	m := WorkModel{Terms: terms}
	x, y := make([][]float64, len(rows)), make([]float64, len(rows))
	weight, rest := make([]float64, len(rows)), make([]float64, len(rows))
	for i := range rows {
		x[i], weight[i] = make([]float64, len(terms)), 1/math.Max(leastTime, rows[i].MS)
	}
	for range workRounds {
		for i := range rows {
			for k, t := range terms {
				x[i][k] = t.Of(&rows[i].Work) * weight[i]
			}
			y[i] = rows[i].MS * weight[i]
		}
		var err error
		if m.B, err = fit.NonNegative(x, y); err != nil {
			return m, err
		}
		sizes := make([]float64, len(rows))
		for i := range rows {
			at := math.Max(leastTime, m.At(&rows[i].Work))
			rest[i] = (rows[i].MS - at) / at
			sizes[i] = math.Abs(rest[i])
			weight[i] = 1 / at
		}
		slices.Sort(sizes)
		const huber, normalMAD = 1.345, 0.6745
		limit := huber * math.Max(1e-6, sizes[len(sizes)/2]/normalMAD)
		for i := range rows {
			weight[i] *= math.Sqrt(math.Min(1, limit/math.Max(1e-12, math.Abs(rest[i]))))
		}
	}
	sum, n := 0.0, float64(len(rows))
	for i := range rows {
		r := math.Min(hardResidue, math.Abs(rest[i]))
		sum += float64(r * r)
	}
	m.BIC = float64(n*fit.Log(math.Max(sum, 1e-12)/n)) + float64(float64(len(terms))*fit.Log(n))
	return m, nil
}

// CrossWork predicts each row by a model fitted to the rows of all other
// groups.
func CrossWork(phase string, rows []WorkRow) ([]float64, error) {
	return cross(rows, func(others []WorkRow) (func(*Work) float64, error) {
		m, err := FitWork(phase, others)
		return m.At, err
	})
}

// CrossLines does the same with the lines of the platform model.
func CrossLines(phase string, rows []WorkRow, o PlatformOptions) ([]float64, error) {
	o = o.withDefaults()
	return cross(rows, func(others []WorkRow) (func(*Work) float64, error) {
		lines := make([]PhaseRow, len(others))
		for i := range others {
			lines[i] = PhaseRow{others[i].MB(phase), others[i].MS}
		}
		f, err := fitPhase(lines, o, slices.Contains(o.TwoLines, phase))
		return func(w *Work) float64 { return f.Model.At(w.MB(phase)) }, err
	})
}

// cross leaves each group out of a fit in turn, and predicts it.
func cross(rows []WorkRow, fit func([]WorkRow) (func(*Work) float64, error)) ([]float64, error) {
	predicted := make([]float64, len(rows))
	done := map[string]bool{}
	for _, r := range rows {
		if done[r.Group] {
			continue
		}
		done[r.Group] = true
		at, err := fit(slices.DeleteFunc(slices.Clone(rows), func(x WorkRow) bool { return x.Group == r.Group }))
		if err != nil {
			return nil, fmt.Errorf("without %s: %w", r.Group, err)
		}
		for i := range rows {
			if rows[i].Group == r.Group {
				predicted[i] = at(&rows[i].Work)
			}
		}
	}
	return predicted, nil
}

// MapWait is how long a map waits for its spills, in the unit of the times: main
// is the time in which its output is produced, spilling that of all spills. The
// spills run beside the map as far as the buffer has room; the last one is
// waited for.
func MapWait(spills []Spill, main, spilling float64) float64 {
	records := 0.0
	for _, s := range spills {
		records += s.Records
	}
	if records == 0 {
		return 0
	}
	now, done, room := 0.0, 0.0, math.Inf(1)
	for _, s := range spills {
		early := math.Min(room, s.Records)
		now += early / records * main
		if early < s.Records {
			now = math.Max(now, done) + float64((s.Records-early)/records*main)
		}
		done = math.Max(now, done) + float64(s.Records/records*spilling)
		room = s.Room
	}
	return math.Max(now, done) - main
}
