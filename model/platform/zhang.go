// Package platform measures the cost of task phases on a platform:
// microbenchmarks, the lines of Zhang's platform model, regressions on the work
// of a phase, and the calibration of a machine to a measured profile.
package platform

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
)

// Phases are the phases of the platform model (Zhang, Cherkasova and Loo, ICPE
// 2013), in the order of a task's life.
var Phases = [...]string{"read", "collect", "spill", "merge", "shuffle", "write"}

// SortPhase is the sort of a reduce after its last fetch. The platform model
// counts it as shuffle; on its own it separates merging from the network.
const SortPhase = "sort"

// phaseData is the data of one task in each phase, MB, in the order of Phases.
type phaseData struct {
	Read    float64 `json:"read"`
	Collect float64 `json:"collect"`
	Spill   float64 `json:"spill"`
	Merge   float64 `json:"merge"`
	Shuffle float64 `json:"shuffle"`
	Write   float64 `json:"write"`
}

// GridPoint is one run of the microbenchmark: 100-byte records, identity reduce.
type GridPoint struct {
	InputMB float64 `json:"input_mb" unit:"MiB"` // one map, M_inp
	MapSel  float64 `json:"map_sel"`             // M_sel
	Maps    int     `json:"N_map"`
	Reduces int     `json:"N_red"`
}

// Grids returns the two grids of the paper: 30 runs for all phases, and 15 runs
// with much data per reduce for the shuffle.
func Grids() (first, shuffle []GridPoint) {
	for _, mb := range []float64{2, 4, 8, 16, 32, 64} {
		for _, sel := range []float64{0.2, 0.6, 1.0, 1.4, 1.8} {
			first = append(first, GridPoint{mb, sel, 40, 40})
		}
	}
	for maps := 20; maps <= 160; maps += 10 {
		shuffle = append(shuffle, GridPoint{64, 5.0, maps, 5})
	}
	return first, shuffle
}

// ReadGrid reads runs of the microbenchmark from CSV, one per row: columns
// mb_per_map (MiB), selectivity, maps and reduces; others are ignored.
func ReadGrid(r io.Reader) ([]GridPoint, error) {
	lines := csv.NewReader(r)
	header, err := lines.Read()
	if err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	var at [4]int
	for i, name := range []string{"mb_per_map", "selectivity", "maps", "reduces"} {
		if at[i] = slices.Index(header, name); at[i] < 0 {
			return nil, fmt.Errorf("line 1: no column %s", name)
		}
	}
	var points []GridPoint
	err = eachRow(lines, "", func(line int, row []string) error {
		var v [4]float64
		for i, column := range at {
			if v[i], err = strconv.ParseFloat(row[column], 64); err != nil {
				return fmt.Errorf("line %d: %s %q: want a number", line, header[column], row[column])
			}
		}
		g := GridPoint{v[0], v[1], int(v[2]), int(v[3])}
		if _, err := g.Data(); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		points = append(points, g)
		return nil
	})
	if err == nil && len(points) == 0 {
		err = errors.New("no rows")
	}
	if err != nil {
		return nil, err
	}
	return points, nil
}

// eachRow calls f with the rows of a table after its header, and their lines. A row of
// another length is refused with the columns that are wanted.
func eachRow(lines *csv.Reader, columns string, f func(line int, row []string) error) error {
	for {
		row, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		wrong := errors.Is(err, csv.ErrFieldCount) && columns != ""
		if err != nil && !wrong {
			return err
		}
		line, _ := lines.FieldPos(0)
		if wrong {
			return fmt.Errorf("line %d: got %d fields: want %s", line, len(row), columns)
		}
		if err := f(line, row); err != nil {
			return err
		}
	}
}

// nonNegative reads a number of a table.
func nonNegative(line int, column, text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 1) {
		return 0, fmt.Errorf("line %d: %s %q: want a number, 0 or more", line, column, text)
	}
	return v, nil
}

// Data returns the data that one task of the microbenchmark moves in each phase
// (section 3).
func (g GridPoint) Data() (phaseData, error) {
	var c input.Check
	c.AtLeast("input_mb", g.InputMB, 0)
	c.AtLeast("map_sel", g.MapSel, 0)
	c.Count("N_map", g.Maps, 1)
	c.Count("N_red", g.Reduces, 1)
	if err := c.Err(); err != nil {
		return phaseData{}, err
	}
	out := g.InputMB * g.MapSel
	in := out * float64(g.Maps) / float64(g.Reduces)
	return phaseData{Read: g.InputMB, Collect: out, Spill: out, Merge: out, Shuffle: in, Write: in}, nil
}

// PhaseRow is one measurement of a phase.
type PhaseRow struct {
	MB float64
	MS float64
}

// PhaseRows are the measurements of one phase.
type PhaseRows struct {
	Phase string
	Rows  []PhaseRow
}

// Profile holds the measurements of each phase. It may have phases that the
// platform model does not have.
type Profile []PhaseRows

// Add appends a measurement to a phase, and adds the phase if it is new.
func (p *Profile) Add(phase string, row PhaseRow) {
	i := slices.IndexFunc(*p, func(r PhaseRows) bool { return r.Phase == phase })
	if i < 0 {
		i = len(*p)
		*p = append(*p, PhaseRows{Phase: phase})
	}
	(*p)[i].Rows = append((*p)[i].Rows, row)
}

var profileHeader = []string{"phase", "row", "data_mb", "duration_ms"}

// ReadProfile reads a platform profile as CSV with the columns
// phase,row,data_mb,duration_ms. Phases keep the order of their first rows.
func ReadProfile(r io.Reader) (Profile, error) {
	lines := csv.NewReader(r)
	lines.FieldsPerRecord = len(profileHeader)
	header, err := lines.Read()
	if !slices.Equal(header, profileHeader) {
		got := ""
		if err == nil || errors.Is(err, csv.ErrFieldCount) {
			got = fmt.Sprintf("got the columns %s: ", strings.Join(header, ","))
		}
		return nil, fmt.Errorf("line 1: %swant a table of benchmarks with the columns %s (slotwave platform bench writes one)", got, strings.Join(profileHeader, ","))
	}
	var p Profile
	err = eachRow(lines, strings.Join(profileHeader, ","), func(line int, fields []string) (err error) {
		if fields[0] == "" {
			return fmt.Errorf("line %d: phase: empty", line)
		}
		if _, err := strconv.Atoi(fields[1]); err != nil {
			return fmt.Errorf("line %d: row %q: want a whole number", line, fields[1])
		}
		var row PhaseRow
		for i, to := range []*float64{&row.MB, &row.MS} {
			if *to, err = nonNegative(line, profileHeader[2+i], fields[2+i]); err != nil {
				return err
			}
		}
		p.Add(fields[0], row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Write writes the profile in the format of ReadProfile.
func (p Profile) Write(w io.Writer) error {
	return workload.WriteCSV(w, profileHeader, func(write func(...string)) {
		for _, phase := range p {
			for j, r := range phase.Rows {
				write(phase.Phase, strconv.Itoa(j+1), number(r.MB), number(r.MS))
			}
		}
	})
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// PhaseModel is the time of a phase, ms, as a function of its data in MB (eq. 1):
// A + B*D, with a second line beyond Tau.
type PhaseModel struct {
	fit.Line
	Tau    float64 // +Inf for a phase with one line
	Beyond fit.Line
}

// OneLine returns a phase with a single line.
func OneLine(l fit.Line) PhaseModel { return PhaseModel{Line: l, Tau: math.Inf(1)} }

// At returns the time of the phase for the given MB, ms, 0 or more.
func (m PhaseModel) At(mb float64) float64 {
	if mb > m.Tau {
		return math.Max(0, m.Beyond.At(mb))
	}
	return math.Max(0, m.Line.At(mb))
}

// PhaseFit is the fit of one phase.
type PhaseFit struct {
	Phase        string
	Model        PhaseModel
	Proportional bool            // rows scatter in proportion to their time
	Weight       string          // the weight function; huber if the requested one did not converge
	Scales       []float64       // of the residuals of each piece: ms, or parts of 1 if Proportional
	Two          *fit.SegmentFit // the test for two lines; nil if the phase may not have two
	Errors       fit.ErrorTable  // at 10, 15 and 20 %; empty if every time is 0
}

// FitOptions choose how a platform profile is fitted.
type FitOptions struct {
	Robust   fit.RobustOptions  // Weight "": bisquare, or huber where that loses time
	Segment  fit.SegmentOptions // MinPoints 0: 3, Margin 0: 10
	TwoLines []string           // phases that may have two lines; nil: merge and shuffle

	// EqualSpread assumes equal scatter of all rows, as the paper does. Otherwise
	// a phase whose rows scatter in proportion to their time is fitted for that:
	// under equal scatter its large times, which scatter most, would dominate the
	// fit or count as outliers.
	EqualSpread bool
}

func (o FitOptions) withDefaults() FitOptions {
	if o.TwoLines == nil {
		// The paper has two lines for the shuffle. The merge has two as well: a map of
		// one spill merges nothing.
		o.TwoLines = []string{"merge", "shuffle"}
	}
	if o.Segment.MinPoints == 0 {
		o.Segment.MinPoints = fit.DefaultMinPoints
	}
	if o.Segment.Margin == 0 {
		o.Segment.Margin = fit.DefaultMargin
	}
	o.Segment.SetAside = true
	return o
}

// mostLost is the part of the time of all rows that a fit may lose.
const mostLost = 0.1

// fitRequested fits a phase with the requested weight function. If none is
// requested it is bisquare, which leaves out rows far from the line. Where many
// are slow, as on disks with contention, the line loses time; it is then huber,
// with equal spread. A line that gives too much time stays: equal spread would
// follow the largest rows only.
func fitRequested(rows []PhaseRow, o FitOptions, mayBreak bool) (PhaseFit, error) {
	if o.Robust.Weight != "" {
		return fitPhase(rows, o, mayBreak)
	}
	o.Robust.Weight = "bisquare"
	f, err := fitPhase(rows, o, mayBreak)
	if err != nil {
		return f, err
	}
	x, y := fit.WithoutOutliers(columns(rows))
	lost := f.Model.lostTime(x, y)
	if lost <= mostLost {
		return f, nil
	}
	o.Robust.Weight, o.EqualSpread = "huber", true
	other, err := fitPhase(rows, o, mayBreak)
	if err != nil || math.Abs(other.Model.lostTime(x, y)) >= lost {
		return f, nil
	}
	return other, nil
}

// lostTime returns the part of the time of all rows together that the lines do not
// give; it is negative if they give too much.
func (m PhaseModel) lostTime(mb, ms []float64) float64 {
	var measured, predicted float64
	for i, v := range mb {
		measured, predicted = measured+ms[i], predicted+m.At(v)
	}
	if measured == 0 {
		return 0
	}
	return 1 - predicted/measured
}

// columns returns the data and the times of rows.
func columns(rows []PhaseRow) (mb, ms []float64) {
	mb, ms = make([]float64, len(rows)), make([]float64, len(rows))
	for i, r := range rows {
		mb[i], ms[i] = r.MB, r.MS
	}
	return mb, ms
}

// few is the part of the rows below which Doubt warns.
const few = 0.5

// Doubt says what makes a fit doubtful, and what may help; empty: nothing.
func (f *PhaseFit) Doubt() string {
	if len(f.Errors.Fractions) == 0 || f.Errors.Fractions[0] >= few {
		return ""
	}
	return fmt.Sprintf("%s: only %.1f %% of the rows lie within 10 %% of the line: rows of the same data differ, as with contention for disks. "+
		"Want benchmarks with as many tasks on a node as the jobs have, or --weight huber --equal-spread", f.Phase, 100*f.Errors.Fractions[0])
}

func fitPhase(rows []PhaseRow, o FitOptions, mayBreak bool) (PhaseFit, error) {
	var f PhaseFit
	x, y := columns(rows)
	f.Proportional = !o.EqualSpread && fit.Proportional(x, y)
	o.Robust.Proportional = f.Proportional
	f.Model = PhaseModel{Tau: math.Inf(1)}
	if mayBreak {
		o.Segment.Proportional = f.Proportional
		two, err := fit.Segment(x, y, o.Segment)
		if err != nil {
			return f, err
		}
		f.Two = &two
		if two.Two {
			f.Model.Tau = *two.Tau
		}
	}
	var lowX, lowY, highX, highY []float64
	for i, v := range x {
		if v <= f.Model.Tau {
			lowX, lowY = append(lowX, v), append(lowY, y[i])
		} else {
			highX, highY = append(highX, v), append(highY, y[i])
		}
	}
	f.Weight = o.Robust.Weight
	var err error
	if f.Model.Line, err = f.piece(lowX, lowY, o.Robust); err != nil {
		return f, err
	}
	if len(highX) > 0 {
		if f.Model.Beyond, err = f.piece(highX, highY, o.Robust); err != nil {
			return f, fmt.Errorf("beyond %v MB: %w", f.Model.Tau, err)
		}
	}
	predicted := make([]float64, len(x))
	for i, v := range x {
		predicted[i] = f.Model.At(v)
	}
	if slices.Max(y) > 0 {
		f.Errors, err = fit.Errors(y, predicted, fit.ErrorThresholds)
	}
	return f, err
}

// piece fits one line. A redescending weight function may cycle on few rows; the
// line of huber is unique, but reweighting may approach it too slowly. Least
// squares take one step.
func (f *PhaseFit) piece(x, y []float64, o fit.RobustOptions) (fit.Line, error) {
	line, err := fit.Robust(x, y, o)
	for _, other := range []string{"huber", "ols"} {
		// A step has no line in proportion to its rows.
		if !errors.Is(err, fit.ErrNotConverged) && !(o.Proportional && errors.Is(err, fit.ErrSingular)) {
			break
		}
		if f.Weight, o.Weight, o.Tune = other, other, 0; other == "ols" {
			o.Proportional = false
		}
		line, err = fit.Robust(x, y, o)
	}
	f.Scales = append(f.Scales, line.Scale)
	return line.Line, err
}

// BreakSetup is the configuration that determines the breakpoint of the shuffle.
type BreakSetup struct {
	SortFactor int     `json:"F"`                 // io.sort.factor
	HeapMB     float64 `json:"mem_mb" unit:"MiB"` // -Xmx
	InBuffer   float64 `json:"in_buf"`            // mapred.job.shuffle.input.buffer.percent
	MergeAt    float64 `json:"merge"`             // mapred.job.shuffle.merge.percent
}

// ShuffleBreak is the size of one shuffle spill file, and the shuffle data from
// which on such files are merged on disk, MB.
type ShuffleBreak struct {
	SpillMB float64 `json:"spill_mb"`
	TauMB   float64 `json:"tau_mb"`
}

// ExpectedBreak returns the breakpoint of the shuffle for a configuration (section
// 3).
func ExpectedBreak(s BreakSetup) (ShuffleBreak, error) {
	var c input.Check
	c.Count("F", s.SortFactor, 2)
	c.Above("mem_mb", s.HeapMB, 0)
	c.Part("in_buf", s.InBuffer)
	c.Part("merge", s.MergeAt)
	if err := c.Err(); err != nil {
		return ShuffleBreak{}, err
	}
	spill := s.HeapMB * s.InBuffer * s.MergeAt
	return ShuffleBreak{spill, float64(s.SortFactor) * spill}, nil
}
