package analytic

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
)

// rrsCounts are the numbers of samples of recursive random search.
type rrsCounts struct {
	Explore int `json:"n"` // samples that hit the best part r of the space with confidence p
	Exploit int `json:"l"` // failures after which the box shrinks
}

// rrsSamples returns n = round(ln(1-p)/ln(1-r)) and l = round(ln(1-q)/ln(1-v)) (Ye
// and Kalyanaraman).
func rrsSamples(p, r, q, v float64) (rrsCounts, error) {
	var c input.Check
	count := func(name, share string, confidence, part float64) int {
		for _, x := range []struct {
			name  string
			value float64
		}{{name, confidence}, {share, part}} {
			if c.Number(x.name, x.value) && (x.value <= 0 || x.value >= 1) {
				c.Fail(x.name, "%v: want more than 0 and less than 1", x.value)
			}
		}
		n := math.Round(math.Log1p(-confidence) / math.Log1p(-part))
		if n > input.MaxCount {
			c.Fail(share, "%v: too small", part)
			return 0
		}
		return max(1, int(n))
	}
	counts := rrsCounts{count("p", "r", p, r), count("q", "v", q, v)}
	return counts, c.Err()
}

// SearchParam is one dimension of a search: a number from Min to Max, whole if
// Whole is set. A switch is a whole number from 0 to 1.
type SearchParam struct {
	Name     string
	Min, Max float64
	Whole    bool
}

// searchResult is the best point found.
type searchResult struct {
	At          []float64 // one value per SearchParam
	Value       float64
	Evaluations int
}

// The settings of recursive random search in Starfish.
const (
	rrsP, rrsR  = 0.99, 0.1
	rrsQ, rrsV  = 0.99, 0.8
	rrsShrink   = 0.5
	rrsSmallest = 0.001
)

// recursiveRandomSearch minimises f: uniform samples find promising points, and
// shrinking boxes search around them. f returns +Inf for an invalid point. Spaces
// with fewer points than one round of samples are enumerated. The same seed gives
// the same answer.
func recursiveRandomSearch(space []SearchParam, seed workload.Seed, f func(at []float64) float64) (searchResult, error) {
	var c input.Check
	if len(space) == 0 {
		c.Fail("space", "no parameter")
	}
	for _, p := range space {
		c.Number(p.Name+".min", p.Min)
		c.AtLeast(p.Name+".max", p.Max, p.Min)
		if p.Whole && (p.Min != math.Trunc(p.Min) || p.Max != math.Trunc(p.Max) || p.Max-p.Min > input.MaxCount) {
			c.Fail(p.Name, "from %v to %v: want whole numbers, at most 2^53 apart", p.Min, p.Max)
		}
	}
	counts, err := rrsSamples(rrsP, rrsR, rrsQ, rrsV)
	if err != nil {
		return searchResult{}, err
	}
	if err := c.Err(); err != nil {
		return searchResult{}, err
	}
	power := math.Pow(float64(len(space)), 1.2)
	stream := seed.Named("rrs").Stream(0, 0).Generator()
	s := search{
		space: space, f: f, counts: counts, random: rand.New(&stream),
		limit: int(150 * power), patience: int(80 * power),
		best: searchResult{Value: math.Inf(1)},
	}
	if points := spacePoints(space); points < float64(counts.Explore) {
		s.enumerate(int(points))
	} else {
		s.run()
	}
	if s.best.At == nil {
		return searchResult{}, fmt.Errorf("none of the %d points tried is valid", s.best.Evaluations)
	}
	return s.best, nil
}

// spacePoints counts the points of a space; +Inf if a parameter is not whole.
func spacePoints(space []SearchParam) float64 {
	points := 1.0
	for _, p := range space {
		if !p.Whole && p.Max > p.Min {
			return math.Inf(1)
		}
		if p.Whole {
			points *= p.Max - p.Min + 1
		}
	}
	return points
}

type search struct {
	space           []SearchParam
	f               func([]float64) float64
	counts          rrsCounts
	random          *rand.Rand
	limit, patience int // evaluations in all, and without improvement
	best            searchResult
	improved        int // evaluation that found best
}

func (s *search) done() bool {
	return s.best.Evaluations >= s.limit || s.best.Evaluations-s.improved >= s.patience
}

func (s *search) try(at []float64) float64 {
	v := s.f(at)
	if math.IsNaN(v) {
		v = math.Inf(1)
	}
	s.best.Evaluations++
	if v < s.best.Value {
		s.best.At, s.best.Value = append([]float64(nil), at...), v
		s.improved = s.best.Evaluations
	}
	return v
}

func (s *search) enumerate(points int) {
	at := make([]float64, len(s.space))
	for k := range points {
		rest := k
		for i, p := range s.space {
			n := 1
			if p.Whole {
				n = int(p.Max-p.Min) + 1
			}
			at[i] = p.Min + float64(rest%n)
			rest /= n
		}
		s.try(at)
	}
}

// sample draws a point of the box of relative volume rho around centre; nil is
// the whole space.
func (s *search) sample(centre []float64, rho float64) []float64 {
	side := math.Exp(fit.Log(rho) / float64(len(s.space)))
	at := make([]float64, len(s.space))
	for i, p := range s.space {
		low, high := p.Min, p.Max
		if centre != nil {
			half := float64(side * (p.Max - p.Min) / 2)
			low, high = math.Max(low, centre[i]-half), math.Min(high, centre[i]+half)
		}
		if p.Whole {
			low, high = math.Ceil(low-0.5), math.Floor(high+0.5)
			at[i] = low + float64(s.random.Int64N(int64(high-low)+1))
		} else {
			at[i] = low + float64(s.random.Float64()*(high-low))
		}
	}
	return at
}

func (s *search) run() {
	var start []float64
	threshold := math.Inf(1)
	for range s.counts.Explore {
		if at := s.sample(nil, 1); s.try(at) < threshold {
			start, threshold = at, s.best.Value
		}
	}
	minima := []float64{threshold} // of each round of exploring
	if start != nil {
		s.exploit(start, threshold)
	}
	for !s.done() {
		least := math.Inf(1)
		for range s.counts.Explore {
			at := s.sample(nil, 1)
			v := s.try(at)
			least = math.Min(least, v)
			if v < threshold {
				s.exploit(at, v)
			}
			if s.done() {
				return
			}
		}
		if minima = append(minima, least); !math.IsInf(least, 1) {
			threshold = mean(minima)
		}
	}
}

// mean averages the rounds in which a point was allowed.
func mean(v []float64) float64 {
	sum, n := 0.0, 0.0
	for _, x := range v {
		if !math.IsInf(x, 1) {
			sum, n = sum+x, n+1
		}
	}
	return sum / n
}

func (s *search) exploit(centre []float64, value float64) {
	failures := 0
	for rho := rrsR; rho > rrsSmallest && !s.done(); {
		at := s.sample(centre, rho)
		if v := s.try(at); v < value {
			centre, value, failures = at, v, 0
		} else if failures++; failures >= s.counts.Exploit {
			rho, failures = rho*rrsShrink, 0
		}
	}
}

type rrsQuestion struct {
	P float64 `json:"p"`
	R float64 `json:"r"`
	Q float64 `json:"q"`
	V float64 `json:"v"`
}

func (q rrsQuestion) answer() (rrsCounts, error) { return rrsSamples(q.P, q.R, q.Q, q.V) }
