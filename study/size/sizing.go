package size

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/text"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
)

// Sizing is the answer to the question how large a cluster has to be.
type Sizing struct {
	Title      string
	Goals      []model.Goal
	Confidence float64 // least fraction of runs that meet all goals
	Lowest     string  // what is as low as possible: nodes, slots, price_per_hour or price_per_job
	Lines      []Line  // by load, then by type of node
	Answer     int     // the best line of the first load, -1 without one
	Points     *points.Points
	Error      SizingError
	Assumed    []string // of the scenario
}

// Line is how many nodes of one type meet the goals under one load.
type Line struct {
	Load    string // what differs from the scenario, as KEY=VALUE; empty: nothing
	Type    string // of node
	Now     bool   // the cluster of the scenario, which is not searched
	Nodes   int    // enough; 0: no size is
	Sizes   []Size // those that were simulated, by number of nodes, searched before fresh
	Limits  []results.Limit
	guesses []guess
}

// guess is how many nodes a model finds for one goal.
type guess struct {
	goal  int
	model string
	nodes int
}

// Size is a cluster with the runs on it.
type Size struct {
	Nodes                 int
	MapSlots, ReduceSlots int     // of the cluster
	Price                 float64 // of a node, per hour; 0: none
	Jobs                  int
	Fresh                 bool // seeds that the search has not seen
	Runs                  []points.Replication
}

// Hourly is the price of the cluster per hour.
func (s *Size) Hourly() float64 { return s.Price * float64(s.Nodes) }

// PerJob is the mean price of a job: that of the cluster until the last one ends,
// divided by their number.
func (s *Size) PerJob() float64 {
	sum, n := 0.0, 0
	for _, r := range s.Runs {
		if makespan := r.Values[0]; !math.IsNaN(makespan) {
			sum, n = sum+makespan, n+1
		}
	}
	const hour = 3600e9
	return s.Hourly() * sum / float64(n) / hour / float64(s.Jobs)
}

// full is the mean fraction of the time in which all slots of a type were in use.
func (s *Size) full() float64 {
	sum := 0.0
	for _, r := range s.Runs {
		sum += r.Full
	}
	return sum / float64(len(s.Runs))
}

// same reports whether all runs have the same figures.
func (s *Size) same() bool {
	return len(s.Runs) > 1 && !slices.ContainsFunc(s.Runs, func(r points.Replication) bool {
		return !points.SameFigures(r.Goals, s.Runs[0].Goals) || !points.SameFigures(r.Values, s.Runs[0].Values)
	})
}

// goal returns the mean of what a goal limits, its half-width, and the runs that
// meet it. Runs in which a job does not succeed are not in the mean.
func (s *Size) goal(goals []model.Goal, g int) (mean, half float64, met int) {
	var values []float64
	for _, r := range s.Runs {
		if v := r.Goals[g]; !math.IsNaN(v) {
			values = append(values, v)
			if goals[g].Met(v) {
				met++
			}
		}
	}
	mean, half = fit.StudentInterval(values)
	return mean, half, met
}

// Met returns the number of runs that meet all goals.
func (s *Size) Met(goals []model.Goal) (met int) {
	for _, r := range s.Runs {
		all := true
		for g, v := range r.Goals {
			all = all && goals[g].Met(v)
		}
		if all {
			met++
		}
	}
	return met
}

// Probability returns the fraction of runs that meet all goals, with its 95 %
// interval, which holds however many runs the search has made.
func (s *Size) Probability(z *Sizing) (p, low, high float64) {
	met, n := s.Met(z.Goals), len(s.Runs)
	p = float64(met) / float64(n)
	outside := func(at float64) bool { return evidence(met, n, at, z.Confidence) >= math.Log(1/sizingError) }
	return p, edge(0, p, outside), edge(1, p, outside)
}

// edge returns the end of an interval between a probability outside and p inside.
func edge(from, p float64, outside func(float64) bool) float64 {
	if !outside(from) {
		return from
	}
	for range 50 {
		if mid := (from + p) / 2; outside(mid) {
			from = mid
		} else {
			p = mid
		}
	}
	return p
}

// sizingError is the probability with which an interval misses the true one.
const sizingError = 0.05

// Shown reports whether the runs show that at least, or that less than, the stated
// fraction of all runs meets the goals. Each of these errs with a probability of at
// most 5 % in the first attempt, half of it in the second, and so on: 5 % in all if
// attempts begin with 1. Attempt 0 errs with 5 % by itself.
func (z *Sizing) Shown(s *Size, attempt int) (enough, tooFew bool) {
	met, n := s.Met(z.Goals), len(s.Runs)
	if evidence(met, n, z.Confidence, z.Confidence) < math.Log(1/sizingError)+float64(attempt)*math.Ln2 {
		return false, false
	}
	enough = float64(met) > z.Confidence*float64(n)
	return enough, !enough
}

// leastRuns is the number of runs that show a confidence in the first attempt if all
// of them meet the goals.
func leastRuns(confidence float64) (n int) {
	for evidence(n, n, confidence, confidence) < math.Log(1/sizingError)+math.Ln2 {
		n++
	}
	return n
}

// evidence is the logarithm of the likelihood of the runs, averaged over what the
// probability to meet the goals may be, relative to their likelihood at the given
// probability. If that is the true one, the ratio ever reaches 1/a with a probability
// of at most a, so that one may look after each run (Robbins, Statistical methods
// related to the law of the iterated logarithm, 1970). Half of the average is over a
// beta distribution about the confidence asked for, which decides soon there; half is
// over the uniform distribution.
func evidence(met, n int, at, confidence float64) float64 {
	m, missed := float64(met), float64(n-met)
	a := confidence / (1 - confidence)
	log := floats.LogSumExp([]float64{
		mathext.Lbeta(a+m, 1+missed) - mathext.Lbeta(a, 1),
		mathext.Lbeta(1+m, 1+missed),
	}) - math.Ln2
	if met > 0 {
		log -= m * math.Log(at)
	}
	if missed > 0 {
		log -= missed * math.Log1p(-at)
	}
	return log
}

// answer is the best line of the first load; nil: no size is enough.
func (z *Sizing) answer() *Line {
	if z.Answer < 0 {
		return nil
	}
	return &z.Lines[z.Answer]
}

// shown is the line that stands for the first load: its answer, or the one with the
// largest cluster that was tried.
func (z *Sizing) shown() *Line {
	if l := z.answer(); l != nil {
		return l
	}
	most := &z.Lines[0]
	for i := range z.Lines {
		if l := &z.Lines[i]; l.Load == most.Load && !l.Now && l.largest().Nodes > most.largest().Nodes {
			most = l
		}
	}
	return most
}

// find returns a size that was simulated; nil if it was not.
func (l *Line) find(nodes int, fresh bool) *Size {
	for i := range l.Sizes {
		if s := &l.Sizes[i]; s.Nodes == nodes && s.Fresh == fresh {
			return s
		}
	}
	return nil
}

// shown is the answer of a line, or its largest cluster, by the seeds of the search.
func (l *Line) shown() *Size {
	if l.Nodes > 0 {
		return l.find(l.Nodes, false)
	}
	return l.largest()
}

// best is the answer of a line with fresh seeds, or what is shown.
func (l *Line) best() *Size {
	if s := l.find(l.Nodes, true); s != nil {
		return s
	}
	return l.shown()
}

// largest is the size with most nodes by the seeds of the search.
func (l *Line) largest() *Size {
	last := &l.Sizes[len(l.Sizes)-1]
	return l.find(last.Nodes, false)
}

// name describes a size of a line.
func (l *Line) name(s *Size) string {
	line := text.Count(s.Nodes, "node")
	if l.Type != "" && !l.Now {
		line += " of type " + text.Escape(l.Type)
	}
	return line
}

// loadName names the load by the last parts of its keys.
func (l *Line) loadName() string {
	var parts []string
	for _, set := range strings.Fields(l.Load) {
		key, value, _ := strings.Cut(set, "=")
		parts = append(parts, key[strings.LastIndex(key, ".")+1:]+"="+value)
	}
	return text.Escape(strings.Join(parts, " "))
}

// SizingError is how far the simulation may be off in the answer to a question about
// the size of a cluster.
type SizingError struct {
	Unknown      string                 `json:"unknown,omitempty"` // why no record is compared; empty if one is
	Replay       *results.ReplaySummary `json:"replay"`
	Alternatives int                    `json:"other_calibrations"` // that explain the record about as well, over which the runs take turns
}

// price formats money for people; empty without a price.
func price(v float64) string {
	if !(v > 0) {
		return ""
	}
	if v < 0.1 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// goalValue formats what a goal limits.
func goalValue(g *model.Goal, v float64) string {
	if g.Deadlines > 0 {
		return text.Percent(text.Share(v))
	}
	return text.Duration(int64(math.Round(v)))
}

func goalMean(g *model.Goal, mean, half float64) string {
	switch {
	case math.IsNaN(mean):
		return "jobs fail"
	case math.IsNaN(half):
		return goalValue(g, mean)
	}
	return goalValue(g, mean) + " ± " + goalValue(g, half)
}
