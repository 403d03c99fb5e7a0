package platform

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
)

// Work is the work of one task on which its phases may depend: bytes in MiB,
// records in millions. A task has the fields of its kind.
type Work struct {
	InMB, InRecords   float64 // into a map
	OutMB, OutRecords float64 // before the combiner
	Spills            float64
	SpillMB           float64 // written by the spills: combined, compressed
	SpillRecords      float64
	Compares          float64 // millions of comparisons of the sort (Herodotou, eq. 20)

	ShuffleMB, ShuffleRecords float64 // into a reduce, as fetched
	Fetches                   float64
	MergedMB, MergedRecords   float64 // the part of them that is merged to disk in the background
	WriteMB, WriteRecords     float64

	// The share of a reduce's copies, of its merges, and of its reduce and write
	// phases during which other tasks run on the node.
	CopiesContended, MergesContended, WriteContended float64
}

// MB returns the data of a phase as the platform model counts it.
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

// workTerm is one term of a phase's time: a coefficient times a quantity of the
// work.
type workTerm struct {
	Name string
	Of   func(*Work) float64
}

// merged returns v if the map merges: a map of one spill does not.
func (w *Work) merged(v float64) float64 {
	if w.Spills > 1 {
		return v
	}
	return 0
}

// workTerms are the candidate terms of each phase. Square roots model the warm-up
// of a JVM, whose first records are slow.
var workTerms = map[string][]workTerm{
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
	copies: {
		{"1", one}, {"fetches", func(w *Work) float64 { return w.Fetches }},
		{"MB", func(w *Work) float64 { return w.ShuffleMB }}, {"root of MB", func(w *Work) float64 { return math.Sqrt(w.ShuffleMB) }},
	},
	merges: {
		{"1", one}, {"MB merged", func(w *Work) float64 { return w.ShuffleMB }},
		{"records merged", func(w *Work) float64 { return w.ShuffleRecords }}, {"root of records merged", func(w *Work) float64 { return math.Sqrt(w.ShuffleRecords) }},
	},
	"shuffle": {
		{"1", one}, {"MB", func(w *Work) float64 { return w.ShuffleMB }}, {"records", func(w *Work) float64 { return w.ShuffleRecords }},
		{"root of records", func(w *Work) float64 { return math.Sqrt(w.ShuffleRecords) }},
		{"MB merged", func(w *Work) float64 { return w.MergedMB }}, {"records merged", func(w *Work) float64 { return w.MergedRecords }},
	},
	// Reading the merged records for the reduce function.
	"input": {
		{"1", one}, {"MB", func(w *Work) float64 { return w.ShuffleMB }}, {"root of MB", func(w *Work) float64 { return math.Sqrt(w.ShuffleMB) }},
		{"records", func(w *Work) float64 { return w.ShuffleRecords }}, {"root of records", func(w *Work) float64 { return math.Sqrt(w.ShuffleRecords) }},
	},
	"write": {
		{"1", one}, {"MB", func(w *Work) float64 { return w.WriteMB }}, {"root of MB", func(w *Work) float64 { return math.Sqrt(w.WriteMB) }},
		{"records", func(w *Work) float64 { return w.WriteRecords }}, {"root of records", func(w *Work) float64 { return math.Sqrt(w.WriteRecords) }},
	},
}

// The parts of a shuffle: fetching the map outputs, and merging each of them once,
// in the background or in the sort.
const (
	copies = "copies"
	merges = "merges"
)

// contendedParts returns the share of a phase during which other tasks run on the
// node.
var contendedParts = map[string]func(*Work) float64{
	copies:  func(w *Work) float64 { return w.CopiesContended },
	merges:  func(w *Work) float64 { return w.MergesContended },
	"input": func(w *Work) float64 { return w.WriteContended },
	"write": func(w *Work) float64 { return w.WriteContended },
}

// slowedTerms returns the terms of a phase that takes extra times longer,
// relative to its time alone, while other tasks run on the node.
func slowedTerms(phase string, extra float64) []workTerm {
	terms := slices.Clone(workTerms[phase])
	for i, t := range terms {
		if extra > 0 {
			terms[i] = workTerm{t.Name, func(w *Work) float64 { return t.Of(w) * (1 + float64(extra*contendedParts[phase](w))) }}
		}
	}
	return terms
}

func one(*Work) float64 { return 1 }

// WorkRow is one measurement of a phase. Rows of one group are similar, such as
// the tasks of one run.
type WorkRow struct {
	Work
	MS    float64
	Group string

	Copies, Merges float64 // ms of each part of a shuffle, which may overlap; 0: unknown
}

// WorkModel is the time of a phase in ms as a sum of terms, none negative.
type WorkModel struct {
	Terms []workTerm
	B     []float64 // ms per unit of each term
	BIC   float64

	fetching int // number of terms of a shuffle's copies; 0: the parts are not separated

	Slowdowns []slowdown // while other tasks run on the node
	Retried   float64    // share of the rows that waited retryMS longer than the terms predict
}

// slowdown is the relative increase of a phase's terms while other tasks run on
// the node.
type slowdown struct {
	Phase string
	By    float64
}

// retryMS is how long a client that closes a file waits before it asks the
// NameNode again whether the last block has arrived
// (DFSClient.DFSOutputStream.closeInternal).
const retryMS = 400

// At returns the time of the phase, ms.
func (m *WorkModel) At(w *Work) float64 { return m.terms(w, 0, len(m.Terms)) }

// Copies returns the time of a shuffle without merging, ms, or all of it if the
// parts are not separated.
func (m *WorkModel) Copies(w *Work) float64 {
	if m.fetching == 0 {
		return m.At(w)
	}
	return m.terms(w, 0, m.fetching)
}

func (m *WorkModel) terms(w *Work, from, to int) float64 {
	ms := 0.0
	for i := from; i < to; i++ {
		ms += float64(m.B[i] * m.Terms[i].Of(w))
	}
	return ms
}

// Mean returns the mean time, ms: At plus the mean wait for retries.
func (m *WorkModel) Mean(w *Work) float64 { return m.At(w) + float64(m.Retried*retryMS) }

// String formats the sum, such as 2 × MB + 30 × 1.
func (m *WorkModel) String() string {
	var terms []string
	for i, t := range m.Terms {
		terms = append(terms, fmt.Sprintf("%.3g × %s", m.B[i], t.Name))
	}
	text := strings.Join(terms[m.fetching:], " + ")
	if m.fetching > 0 {
		text = "copies " + strings.Join(terms[:m.fetching], " + ") + "; merges " + text
	}
	for _, s := range m.Slowdowns {
		text += fmt.Sprintf("; %s %.0f %% longer beside others", s.Phase, 100*s.By)
	}
	if m.Retried > 0 {
		text += fmt.Sprintf("; %.0f %% wait %d ms more", 100*m.Retried, retryMS)
	}
	return text
}

// Estimate chooses the row that a model estimates.
type Estimate int

// The mean of the rows, and the typical row: a pause that a few tasks suffer is
// not part of the typical row.
const (
	Mean Estimate = iota
	Typical
)

// leastRows is the number of rows that a fit needs.
const leastRows = 3

// FitWork adds terms to the model of a phase as long as the BIC falls.
// Coefficients are not negative. Rows are reweighted: residuals count relative to
// the prediction, and large ones less (huber) for the mean; for the typical row,
// residuals beyond twice the scatter do not count (bisquare).
func FitWork(phase string, rows []WorkRow, what Estimate) (WorkModel, error) {
	_, known := workTerms[phase]
	var c input.Check
	if !known {
		c.Fail("phase", "unknown %q%s", phase, input.Suggest(phase, Phases[:]))
	}
	if len(rows) < leastRows {
		c.Fail(phase, "%d rows: want %d or more", len(rows), leastRows)
	}
	for i := range rows {
		c.AtLeast(fmt.Sprintf("%s[%d].duration_ms", phase, i), rows[i].MS, 0)
	}
	if err := c.Err(); err != nil {
		return WorkModel{}, err
	}
	if phase == "shuffle" {
		if fetched, merged := timedParts(rows); fetched != nil && merged != nil {
			return fitShuffle(fetched, merged, what)
		}
	}
	best := WorkModel{BIC: math.Inf(1)}
	for _, by := range slowdowns {
		choose := chooseTerms
		if phase == "write" {
			choose = chooseRetried
		}
		m, err := choose(slowedTerms(phase, by), rows, what)
		if err != nil {
			return m, fmt.Errorf("%s: %w", phase, err)
		}
		if by > 0 {
			m.BIC += fit.Log(float64(len(rows)))
			m.Slowdowns = []slowdown{{phase, by}}
		}
		if m.BIC < best.BIC {
			best = m
		}
		if contendedParts[phase] == nil {
			break
		}
	}
	return best, nil
}

// slowdowns are the candidate slowdowns by other tasks.
var slowdowns = []float64{0, 0.5, 1, 1.5, 2}

// timedParts returns the rows with a time for their copies, and those with a time
// for their merges; none if fewer than half of the usable rows have one. Rows with
// background merges are not usable for copies, which stall there for lack of
// memory.
func timedParts(rows []WorkRow) (fetched, merged []WorkRow) {
	free := 0 // rows whose copies did not stall
	for _, r := range rows {
		if r.MergedMB == 0 {
			if free++; r.Copies > 0 {
				r.MS = r.Copies
				fetched = append(fetched, r)
			}
		}
		if r.Merges > 0 {
			r.MS = r.Merges
			merged = append(merged, r)
		}
	}
	return enough(fetched, free), enough(merged, len(rows))
}

func enough(own []WorkRow, all int) []WorkRow {
	if len(own) < leastRows || 2*len(own) < all {
		return nil
	}
	return own
}

// fitShuffle fits both parts of a shuffle.
func fitShuffle(fetched, merged []WorkRow, what Estimate) (WorkModel, error) {
	var both WorkModel
	for i, own := range [][]WorkRow{fetched, merged} {
		part := []string{copies, merges}[i]
		m, err := FitWork(part, own, what)
		if err != nil {
			return both, err
		}
		if part == copies {
			both.fetching = len(m.Terms)
		}
		both.Terms, both.B = append(both.Terms, m.Terms...), append(both.B, m.B...)
		both.Slowdowns, both.BIC = append(both.Slowdowns, m.Slowdowns...), both.BIC+m.BIC
	}
	return both, nil
}

// chooseRetried is like chooseTerms, for a phase in which some rows waited for a retry:
// those that are nearer to the prediction plus the wait. It looks for retries only
// where the wait exceeds the ordinary scatter.
func chooseRetried(candidates []workTerm, rows []WorkRow, what Estimate) (m WorkModel, err error) {
	const rounds = 3
	once, found := slices.Clone(rows), -1.0
	for range rounds {
		if m, err = chooseTerms(candidates, once, what); err != nil {
			return m, err
		}
		var retried, seen float64
		for i, r := range rows {
			at := m.At(&r.Work)
			if once[i].MS = r.MS; retryMS < hardResidue*at {
				continue
			}
			seen++
			if r.MS > retryMS && r.MS-at > retryMS/2 {
				once[i].MS -= retryMS
				retried++
			}
		}
		if m.Retried = retried / math.Max(1, seen); retried == found {
			break
		}
		found = retried
	}
	return m, nil
}

// chooseTerms adds candidates as long as the BIC falls.
func chooseTerms(candidates []workTerm, rows []WorkRow, what Estimate) (WorkModel, error) {
	best := WorkModel{BIC: math.Inf(1)}
	for {
		next := best
		for _, t := range candidates {
			if slices.ContainsFunc(best.Terms, func(x workTerm) bool { return x.Name == t.Name }) {
				continue
			}
			m, err := fitTerms(append(slices.Clone(best.Terms), t), rows, what)
			if errors.Is(err, fit.ErrSingular) {
				continue
			}
			if err != nil {
				return WorkModel{}, err
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
		return best, fit.ErrSingular
	}
	return best, nil
}

const (
	workRounds  = 20
	leastTime   = 1.0 // ms; the resolution of the clocks
	hardResidue = 0.5 // largest relative residual that counts for the BIC
)

// fitTerms fits the given terms. The typical row is found from the fit of the
// mean, by leaving out rows that are too far from it.
func fitTerms(terms []workTerm, rows []WorkRow, what Estimate) (WorkModel, error) {
	m := WorkModel{Terms: terms}
	of := make([][]float64, len(rows))
	x, y := make([][]float64, len(rows)), make([]float64, len(rows))
	weight, rest, sizes := make([]float64, len(rows)), make([]float64, len(rows)), make([]float64, len(rows))
	for i := range rows {
		of[i], x[i], weight[i] = make([]float64, len(terms)), make([]float64, len(terms)), 1/math.Max(leastTime, rows[i].MS)
		for k, t := range terms {
			of[i][k] = t.Of(&rows[i].Work)
		}
	}
	const huber, bisquare, normalMAD, settled = 1.345, 2, 0.6745, 1e-3
	for _, w := range []Estimate{Mean, Typical} {
		if w > what {
			break
		}
		var before []float64
		for range workRounds {
			for i := range rows {
				for k, v := range of[i] {
					x[i][k] = v * weight[i]
				}
				y[i] = rows[i].MS * weight[i]
			}
			var err error
			if m.B, err = fit.NonNegative(x, y); err != nil {
				return m, err
			}
			for i := range rows {
				at := 0.0
				for k, v := range of[i] {
					at += float64(m.B[k] * v)
				}
				at = math.Max(leastTime, at)
				rest[i] = (rows[i].MS - at) / at
				sizes[i] = math.Abs(rest[i])
				weight[i] = 1 / at
			}
			if slices.EqualFunc(m.B, before, func(a, b float64) bool { return math.Abs(a-b) <= settled*math.Abs(a) }) {
				break
			}
			before = m.B
			slices.Sort(sizes)
			scale := math.Max(1e-6, sizes[len(sizes)/2]/normalMAD)
			for i := range rows {
				u := math.Abs(rest[i]) / scale
				if w == Mean {
					weight[i] *= math.Sqrt(math.Min(1, huber/math.Max(1e-12, u)))
				} else {
					u /= bisquare
					weight[i] *= math.Max(1e-3, 1-float64(u*u))
				}
			}
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

// WorkTime is the time of a phase in ms that a model of its work predicts. Typical
// is that of a typical task. Mean includes waits for retries; sums over tasks use
// it.
type WorkTime struct{ Typical, Mean float64 }

// CrossWork predicts each row by a typical-row model fitted to the rows of all
// other groups. Rows of a group without which nothing can be fitted are NaN.
func CrossWork(phase string, rows []WorkRow) ([]WorkTime, error) {
	return cross(rows, WorkTime{math.NaN(), math.NaN()}, func(others []WorkRow) (func(*Work) WorkTime, error) {
		m, err := FitWork(phase, others, Typical)
		return func(w *Work) WorkTime { return WorkTime{m.At(w), m.Mean(w)} }, err
	})
}

// CrossLines predicts each row by lines of the platform model fitted to the rows
// of all other groups, or by NaN as CrossWork does.
func CrossLines(phase string, rows []WorkRow, o FitOptions) ([]float64, error) {
	o = o.withDefaults()
	return cross(rows, math.NaN(), func(others []WorkRow) (func(*Work) float64, error) {
		lines := make([]PhaseRow, len(others))
		for i := range others {
			lines[i] = PhaseRow{others[i].MB(phase), others[i].MS}
		}
		f, err := fitPhase(lines, o, slices.Contains(o.TwoLines, phase))
		return func(w *Work) float64 { return f.Model.At(w.MB(phase)) }, err
	})
}

// cross leaves each group out of a fit and predicts its rows. Rows that no fit
// predicts are none; it is an error if all are.
func cross[T any](rows []WorkRow, none T, fit func([]WorkRow) (func(*Work) T, error)) ([]T, error) {
	predicted := make([]T, len(rows))
	var failed error
	fitted := false
	done := map[string]bool{}
	for _, r := range rows {
		if done[r.Group] {
			continue
		}
		done[r.Group] = true
		at, err := fit(slices.DeleteFunc(slices.Clone(rows), func(x WorkRow) bool { return x.Group == r.Group }))
		if err != nil {
			failed = fmt.Errorf("without %s: %w", r.Group, err)
			at = func(*Work) T { return none }
		}
		fitted = fitted || err == nil
		for i := range rows {
			if rows[i].Group == r.Group {
				predicted[i] = at(&rows[i].Work)
			}
		}
	}
	if !fitted {
		return nil, failed
	}
	return predicted, nil
}
