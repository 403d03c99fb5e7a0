package fit

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Unknown is a positive number that measured rows may tell or not. Before they are
// looked at it is within a factor of exp(Spread) of Likely with a probability of 68 %.
type Unknown struct {
	Name           string
	Likely, Spread float64
	Least, Most    float64
}

// Ensemble finds sets of values that explain measured rows about equally well. An
// unknown that no row tells keeps its range.
//
// First all members move towards the rows together (ensemble smoother with multiple
// data assimilation; Emerick and Reynolds, Computers & Geosciences 55, 2013). This
// needs no slopes, and as many simulations for 20 unknowns as for two. Then each
// walks on its own, by differences between others (differential evolution Markov
// chain; ter Braak, Statistics and Computing 16, 2006), where the rows bend too much
// for the smoother.
type Ensemble struct {
	Unknowns []Unknown
	Want     []float64 // logarithms of the measured rows
	Noise    []float64 // standard errors of their logarithms

	// Show returns the logarithms of the rows for values of the unknowns. It is called
	// for several members at a time. Keep tells that the member stays at the values that
	// were shown last.
	Show func(member int, values []float64) ([]float64, error)
	Keep func(member int)

	draw *rand.Rand
}

// Member is a set of values of the unknowns.
type Member struct {
	Number int
	Values []float64
	Cost   float64 // squared errors of the rows and of the unknowns, in standard errors

	at, rows []float64 // coordinates; logarithms
}

// placebos are unknowns without an effect. Chance correlations with the rows narrow
// them; by as much the others are widened again (Evensen, IEEE Control Systems
// Magazine 29(3), 2009).
const placebos = 10

// Find returns members with the lowest cost first, after some passes of the smoother
// and some steps of the walks. Each takes a call of Show for every member, and so
// does the change between them.
func (e *Ensemble) Find(members, passes, steps int, seed uint64) ([]Member, error) {
	e.draw = rand.New(rand.NewPCG(seed, uint64(members)))
	all := e.prior(members)
	for range passes {
		if err := e.show(all); err != nil {
			return nil, err
		}
		e.keep(all)
		e.move(all, float64(passes))
	}
	if err := e.show(all); err != nil {
		return nil, err
	}
	e.keep(all)
	for range steps {
		if err := e.walk(all); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b Member) int { return cmp.Compare(a.Cost, b.Cost) })
	return all, nil
}

// prior draws members of which each unknown takes all quantiles (a Latin hypercube).
// The first is what is likeliest.
func (e *Ensemble) prior(members int) []Member {
	all := make([]Member, members)
	for i := range all {
		all[i] = Member{Number: i, at: make([]float64, len(e.Unknowns)+placebos)}
	}
	for k := range all[0].at {
		for i, quantile := range e.draw.Perm(members) {
			all[i].at[k] = math.Sqrt2 * math.Erfinv(float64(2*(float64(quantile)+0.5)/float64(members))-1)
		}
	}
	clear(all[0].at[:len(e.Unknowns)])
	return all
}

func (e *Ensemble) keep(all []Member) {
	for i := range all {
		e.Keep(i)
	}
}

// mostOff is how many standard errors a single row counts for at most: no values may
// explain it.
const mostOff = 8

// noise returns the standard errors of the rows for a step of the smoother. Where members
// are far off, a step is no longer than slopes may hold.
func (e *Ensemble) noise(all []Member, passes float64) []float64 {
	list := make([]float64, len(e.Want))
	for j := range list {
		squares := 0.0
		for i := range all {
			off := (all[i].rows[j] - e.Want[j]) / e.Noise[j]
			squares += float64(off*off) / float64(len(all))
		}
		list[j] = e.Noise[j] * math.Sqrt(passes*(1+squares/(mostOff*mostOff)))
	}
	return list
}

// show simulates every member. A bound is where a member ends.
func (e *Ensemble) show(all []Member) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range all {
		group.Go(func() (err error) {
			m := &all[i]
			m.Values, m.Cost = make([]float64, len(e.Unknowns)), 0
			for k := range e.Unknowns {
				u := &e.Unknowns[k]
				m.Values[k] = math.Max(u.Least, math.Min(u.Most, u.Likely*math.Exp(u.Spread*m.at[k])))
				m.at[k] = math.Log(m.Values[k]/u.Likely) / u.Spread
				m.Cost += float64(m.at[k] * m.at[k])
			}
			if m.rows, err = e.Show(i, m.Values); err != nil {
				return err
			}
			for j, row := range m.rows {
				off := (row - e.Want[j]) / e.Noise[j]
				m.Cost += float64(off*off) / (1 + float64(off*off)/(mostOff*mostOff))
			}
			return nil
		})
	}
	return group.Wait()
}

// move takes one step of the smoother.
func (e *Ensemble) move(all []Member, passes float64) {
	members, n, unknowns := len(all), len(e.Want), len(all[0].at)
	x, rows := mat.NewDense(members, unknowns, nil), mat.NewDense(members, n, nil)
	for i := range all {
		x.SetRow(i, all[i].at)
		rows.SetRow(i, all[i].rows)
	}
	var both mat.Dense
	both.Augment(x, rows)
	var joint mat.SymDense
	stat.CovarianceMatrix(&joint, &both, nil)
	cross, own := mat.NewDense(unknowns, n, nil), mat.NewSymDense(n, nil)
	for j := range n {
		for k := range unknowns {
			cross.Set(k, j, joint.At(k, unknowns+j))
		}
		for i := range j + 1 {
			own.SetSym(i, j, joint.At(unknowns+i, unknowns+j))
		}
	}
	noise := e.noise(all, passes)
	for j := range n {
		own.SetSym(j, j, own.At(j, j)+float64(noise[j]*noise[j]))
	}
	var chol mat.Cholesky
	if !chol.Factorize(own) {
		return
	}
	off := mat.NewDense(n, members, nil)
	for i := range members {
		for j := range n {
			off.Set(j, i, e.Want[j]+float64(noise[j]*e.draw.NormFloat64())-rows.At(i, j))
		}
	}
	var solved, by mat.Dense
	if chol.SolveTo(&solved, off) != nil {
		return
	}
	by.Mul(cross, &solved)
	before := spreadOf(all, len(e.Unknowns), unknowns)
	for i := range all {
		for k := range all[i].at {
			all[i].at[k] += by.At(k, i)
		}
	}
	wider := before / spreadOf(all, len(e.Unknowns), unknowns)
	for k := range e.Unknowns {
		mean := 0.0
		for i := range all {
			mean += all[i].at[k] / float64(members)
		}
		for i := range all {
			all[i].at[k] = mean + float64(wider*(all[i].at[k]-mean))
		}
	}
}

// spreadOf returns the mean standard deviation of some coordinates.
func spreadOf(all []Member, from, to int) (sum float64) {
	for k := from; k < to; k++ {
		own := make([]float64, len(all))
		for i := range all {
			own[i] = all[i].at[k]
		}
		sum += stat.StdDev(own, nil)
	}
	return sum / float64(to-from)
}

// walk takes a step of each member by the difference of two others, and stays there as
// often as its cost allows. One that is far worse than others starts from one of them.
func (e *Ensemble) walk(all []Member) error {
	const blur = 0.02
	factor := 2.38 / math.Sqrt(float64(2*len(e.Unknowns)))
	to := make([]Member, len(all))
	for i := range all {
		from := &all[i]
		for range 3 {
			if other := &all[e.draw.IntN(len(all))]; other.Cost < from.Cost-float64(2*len(e.Want)) {
				from = other
			}
		}
		a, b := &all[e.draw.IntN(len(all))], &all[e.draw.IntN(len(all))]
		to[i] = Member{Number: i, at: slices.Clone(from.at)}
		for k := range e.Unknowns {
			to[i].at[k] += float64(factor*(a.at[k]-b.at[k])) + float64(blur*e.draw.NormFloat64())
		}
	}
	if err := e.show(to); err != nil {
		return err
	}
	for i := range all {
		if e.draw.Float64() < math.Exp((all[i].Cost-to[i].Cost)/2) {
			all[i] = to[i]
			e.Keep(i)
		}
	}
	return nil
}
