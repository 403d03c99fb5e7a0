package platform

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
)

// Parameter is a rate or cost of a machine. All disks are
// equal.
type Parameter struct {
	Name string // its key in a platform file
	of   func(*model.Machine) *float64
}

// devices are the parameters that every kind of record shows.
var devices = []Parameter{
	{"disk.read_mb", func(m *model.Machine) *float64 { return &m.Disks[0].Read }},
	{"disk.write_mb", func(m *model.Machine) *float64 { return &m.Disks[0].Write }},
	{"nic_mb", func(m *model.Machine) *float64 { return &m.NIC }},
}

// costs are Hadoop's costs with some keys.
func costs(keys ...string) (list []Parameter) {
	for _, key := range keys {
		list = append(list, Parameter{"cpu." + key, func(m *model.Machine) *float64 { return m.CPU.Cost(key) }})
	}
	return list
}

// parametersOf lists the parameters that phase times of microbenchmarks show.
func parametersOf(m *model.Machine, contended bool) []Parameter {
	list := append(slices.Clone(devices), costs("hdfs_read_byte", "hdfs_write_byte", "serde_record", "compare", "merge_record",
		"local_read_byte", "local_write_byte", "fetch_byte", "open_file", "cold_records")...)
	if contended {
		list = append(list, curveOf(m)...)
	}
	return slices.DeleteFunc(list, func(k Parameter) bool { return *k.of(m) == 0 }) // a logarithm has no step from 0
}

// curveOf returns the parameter of the disk curve, if it has one.
func curveOf(m *model.Machine) []Parameter {
	switch m.Disks[0].Curve.Kind {
	case model.LinearCurve, model.FloorCurve:
		return []Parameter{{"disk.curve.alpha", func(m *model.Machine) *float64 { return &m.Disks[0].Curve.Alpha }}}
	case model.SeekCurve: // seek time and chunk have one effect: vary the chunk
		return []Parameter{{"disk.curve.chunk", func(m *model.Machine) *float64 { return &m.Disks[0].Curve.Chunk }}}
	}
	return nil
}

// Calibration is a machine whose microbenchmarks reproduce a measured profile.
type Calibration struct {
	Machine    model.Machine
	Parameters []CalibratedParameter
	Joint      [][]string // parameters that the profile determines only jointly
	Phases     []CalibratedPhase
	Runs       int // simulations
}

// CalibratedParameter is one parameter before and after calibration.
type CalibratedParameter struct {
	Name         string
	Start, Found float64
	Error        float64 // relative standard error, if phase times scatter as the residuals do, and by 1 % at least
}

// CalibratedPhase is the relative error of the simulated times of a phase; errors
// count relative to 100 ms where the measured time is less.
type CalibratedPhase struct {
	Phase                   string
	Points                  int // amounts of data
	MeanBefore, MeanAfter   float64
	WorstBefore, WorstAfter float64
}

// Bench runs the microbenchmarks on a machine.
type Bench func(model.Machine) (Profile, error)

const (
	priorError   = 0.02 // weight of the prior: the residual that justifies a change by a factor of e
	leastError   = 0.01 // relative error of the best measurement
	leastMS      = 100  // least denominator of a relative residual, about the time of a task start
	determinedTo = 0.1  // relative standard error up to which a parameter is determined
	mostPowers   = 5    // largest change of a parameter, as a power of e
)

// Calibrate searches for the rates and costs, and with contention for the disk
// curve, with which the microbenchmarks reproduce the measured profile. It starts
// from a machine; parameters that the profile does not determine stay near their
// start. The method is Gauss-Newton on relative residuals.
func Calibrate(measured Profile, start model.Machine, contended bool, bench Bench) (Calibration, error) {
	if err := start.Check(); err != nil {
		return Calibration{}, err
	}
	s := &calibrator{start: start, parameters: parametersOf(&start, contended), bench: bench}
	var c input.Check
	for _, name := range Phases {
		i := slices.IndexFunc(measured, func(r PhaseRows) bool { return r.Phase == name })
		if i < 0 {
			c.Fail(name, "no rows of this phase")
			continue
		}
		s.measured = append(s.measured, PhaseRows{name, trimmedMeans(measured[i].Rows)})
	}
	if err := c.Err(); err != nil {
		return Calibration{}, err
	}
	if i := slices.IndexFunc(measured, func(r PhaseRows) bool { return r.Phase == SortPhase }); i >= 0 {
		s.measured = append(s.measured, PhaseRows{SortPhase, trimmedMeans(measured[i].Rows)})
	}
	return s.calibrate(contended)
}

func (s *calibrator) calibrate(contended bool) (Calibration, error) {
	from := make([]float64, len(s.parameters))
	before := s.residuals(from)
	if s.err != nil {
		return Calibration{}, s.err
	}
	x, err := s.search(contended)
	if err != nil {
		return Calibration{}, err
	}
	result := Calibration{Machine: s.machine(x)}
	after := s.residuals(x)
	result.Phases = s.phases(before, after)
	s.standardErrors(&result, x)
	result.Runs = s.runs
	return result, s.err
}

// search minimises the residuals. With contention, times jump and there are local
// minima, mostly along the disk curve: the search then takes longer steps for its
// slopes and starts from three curves.
func (s *calibrator) search(contended bool) ([]float64, error) {
	from, curves := make([]float64, len(s.parameters)), []float64{0}
	s.step = 0.02
	last := len(s.parameters) - 1
	if contended {
		s.step = 0.1
		if strings.HasPrefix(s.parameters[last].Name, "disk.curve.") {
			curves = append(curves, -0.7, 0.7)
		}
	}
	var best *optimize.Result
	for _, curve := range curves {
		from[last] = curve
		found, err := optimize.Minimize(optimize.Problem{Func: s.cost, Grad: s.gradient, Hess: s.hessian}, from,
			&optimize.Settings{Converger: &optimize.FunctionConverge{Absolute: 1e-7, Relative: 1e-2, Iterations: 2}},
			&optimize.Newton{Linesearcher: &optimize.Backtracking{}})
		if s.err != nil || found == nil {
			return nil, errors.Join(s.err, err)
		}
		// A line search that finds nothing better ends at its best point.
		if best == nil || found.F < best.F {
			best = found
		}
	}
	return best.X, nil
}

// trimmedMeans returns the mean time for each amount of data, without the smallest
// and the largest tenth.
func trimmedMeans(rows []PhaseRow) []PhaseRow {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b PhaseRow) int { return cmp.Or(cmp.Compare(a.MB, b.MB), cmp.Compare(a.MS, b.MS)) })
	var means []PhaseRow
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].MB-rows[0].MB <= 1e-4*rows[0].MB {
			n++
		}
		kept := rows[n/10 : n-n/10]
		mean := PhaseRow{MB: rows[0].MB}
		for _, r := range kept {
			mean.MS += r.MS / float64(len(kept))
		}
		means = append(means, mean)
		rows = rows[n:]
	}
	return means
}

// calibrator is a search. Its coordinates are the logarithms of the factors on the
// parameters.
type calibrator struct {
	start      model.Machine
	parameters []Parameter
	measured   []PhaseRows // trimmed means, in the order of Phases
	bench      Bench
	step       float64
	runs       int
	err        error

	residualsAt   []float64 // point of lastResiduals
	lastResiduals []float64 // relative
	jacobianAt    []float64
	lastJacobian  *mat.Dense
}

func (s *calibrator) machine(x []float64) model.Machine {
	m := s.start
	m.Disks = slices.Clone(m.Disks)
	for i, k := range s.parameters {
		*k.of(&m) = *k.of(&s.start) * math.Exp(math.Max(-mostPowers, math.Min(mostPowers, x[i])))
	}
	for i := range m.Disks {
		m.Disks[i] = m.Disks[0]
	}
	return m
}

// residuals returns the relative differences between simulated and measured times,
// phase by phase.
func (s *calibrator) residuals(x []float64) []float64 {
	if slices.Equal(x, s.residualsAt) && s.residualsAt != nil {
		return s.lastResiduals
	}
	s.runs++
	shown, err := s.bench(s.machine(x))
	if err != nil {
		s.err = errors.Join(s.err, err)
		return nil
	}
	var rest []float64
	for _, phase := range s.measured {
		i := slices.IndexFunc(shown, func(r PhaseRows) bool { return r.Phase == phase.Phase })
		if i < 0 {
			s.err = fmt.Errorf("%s: the benchmarks have no rows of this phase", phase.Phase)
			return nil
		}
		points := trimmedMeans(shown[i].Rows)
		for _, r := range phase.Rows {
			rest = append(rest, (interpolate(points, r.MB)-r.MS)/math.Max(r.MS, leastMS))
		}
	}
	s.residualsAt, s.lastResiduals = slices.Clone(x), rest
	return rest
}

// interpolate returns the time for an amount of data on the straight line through
// its neighbours.
func interpolate(points []PhaseRow, mb float64) float64 {
	if len(points) == 1 {
		return points[0].MS
	}
	i := slices.IndexFunc(points[1:], func(p PhaseRow) bool { return p.MB >= mb })
	if i < 0 {
		i = len(points) - 2
	}
	a, b := points[i], points[i+1]
	return math.Max(0, a.MS+float64((b.MS-a.MS)*(mb-a.MB)/(b.MB-a.MB)))
}

func (s *calibrator) cost(x []float64) float64 {
	rest := s.residuals(x)
	if s.err != nil {
		return math.Inf(1)
	}
	sum := 0.0
	for _, r := range rest {
		sum += float64(r * r)
	}
	for _, v := range x {
		sum += float64(priorError * priorError * v * v)
	}
	return sum / 2
}

// jacobian returns the derivative of each residual by each parameter.
func (s *calibrator) jacobian(x []float64) *mat.Dense {
	if s.jacobianAt != nil && slices.Equal(x, s.jacobianAt) {
		return s.lastJacobian
	}
	rest := slices.Clone(s.residuals(x))
	j := mat.NewDense(max(1, len(rest)), len(x), nil)
	for k := range x {
		to := slices.Clone(x)
		to[k] += s.step
		moved := s.residuals(to)
		if s.err != nil {
			return j
		}
		for i := range rest {
			j.Set(i, k, (moved[i]-rest[i])/s.step)
		}
	}
	s.residualsAt, s.lastResiduals = slices.Clone(x), rest
	s.jacobianAt, s.lastJacobian = slices.Clone(x), j
	return j
}

func (s *calibrator) gradient(grad, x []float64) {
	j, rest := s.jacobian(x), s.residuals(x)
	for k := range grad {
		grad[k] = float64(priorError * priorError * x[k])
		for i := range rest {
			grad[k] += float64(j.At(i, k) * rest[i])
		}
	}
}

func (s *calibrator) hessian(h *mat.SymDense, x []float64) {
	j := s.jacobian(x)
	h.SymOuterK(1, j.T())
	for k := range x {
		h.SetSym(k, k, h.At(k, k)+priorError*priorError)
	}
}

func (s *calibrator) phases(before, after []float64) []CalibratedPhase {
	var list []CalibratedPhase
	at := 0
	for _, phase := range s.measured {
		p := CalibratedPhase{Phase: phase.Phase}
		for range phase.Rows {
			b, a := math.Abs(before[at]), math.Abs(after[at])
			p.MeanBefore, p.MeanAfter = p.MeanBefore+b, p.MeanAfter+a
			p.WorstBefore, p.WorstAfter = math.Max(p.WorstBefore, b), math.Max(p.WorstAfter, a)
			p.Points, at = p.Points+1, at+1
		}
		if p.Points > 0 {
			p.MeanBefore, p.MeanAfter = p.MeanBefore/float64(p.Points), p.MeanAfter/float64(p.Points)
		}
		list = append(list, p)
	}
	return list
}

// standardErrors estimates how well the profile determines each parameter, and
// lists parameters that it determines only jointly.
func (s *calibrator) standardErrors(c *Calibration, x []float64) {
	j, rest := s.jacobian(x), s.residuals(x)
	if s.err != nil {
		return
	}
	noise := 0.0
	for _, r := range rest {
		noise += float64(r * r)
	}
	noise = math.Max(leastError, math.Sqrt(noise/math.Max(1, float64(len(rest)-len(x)))))
	var curvature mat.SymDense
	curvature.SymOuterK(1, j.T())
	var axes mat.EigenSym
	if !axes.Factorize(&curvature, true) {
		s.err = errors.New("the slopes of the search have no decomposition")
		return
	}
	var v mat.Dense
	axes.VectorsTo(&v)
	unsure := axes.Values(nil) // standard errors along the axes
	for d, value := range unsure {
		unsure[d] = noise / math.Sqrt(math.Max(value, 1e-18))
	}
	for k := range s.parameters {
		sum := 0.0
		for d, u := range unsure {
			part := v.At(k, d) * u
			sum += float64(part * part)
		}
		c.Parameters = append(c.Parameters, CalibratedParameter{s.parameters[k].Name, *s.parameters[k].of(&s.start), *s.parameters[k].of(&c.Machine), math.Sqrt(sum)})
	}
	for d, u := range unsure {
		if u <= determinedTo {
			continue
		}
		var names []string
		for k := range s.parameters {
			if math.Abs(v.At(k, d)) > 0.25 {
				names = append(names, s.parameters[k].Name)
			}
		}
		if len(names) > 1 && !slices.ContainsFunc(c.Joint, func(t []string) bool { return slices.Equal(t, names) }) {
			c.Joint = append(c.Joint, names)
		}
	}
}

// Determined reports whether the profile determines the parameter.
func (k *CalibratedParameter) Determined() bool { return k.Error <= determinedTo }
