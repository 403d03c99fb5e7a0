package size

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/study/search"
	"github.com/slotwave/slotwave/workload"
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
	Assumed    []string               // of the scenario
	Waited     *workload.RecordedWait // of the record; nil: it has no containers
	Floors     []string               // what no number of nodes shortens, of the answer
}

// Line is how many nodes of one type meet the goals under one load.
type Line struct {
	Load    string // what differs from the scenario, as KEY=VALUE; empty: nothing
	Type    string // of node
	Now     bool   // the cluster of the scenario, which is not searched
	Nodes   int    // enough; 0: no size is
	Sizes   []Size // those that were simulated, by number of nodes, searched before fresh
	Limits  []results.Limit
	Open    string // what is not known where no size is enough; empty: nothing
	Enough  int    // nodes, more than were tried, on which a run meets the goals; 0: none
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
	const hour = 3600e9
	return s.Hourly() * s.makespan() / hour / float64(s.Jobs)
}

// makespan is the mean of the runs that have one, ns.
func (s *Size) makespan() float64 {
	sum, n := 0.0, 0
	for _, r := range s.Runs {
		if makespan := r.Values[0]; !math.IsNaN(makespan) {
			sum, n = sum+makespan, n+1
		}
	}
	return sum / float64(n)
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

// goal returns what a goal limits in each run in which its jobs succeed, and the
// probability that it is met.
func (z *Sizing) goal(s *Size, g int) (values []float64, met float64) {
	for _, r := range s.Runs {
		if v := r.Goals[g]; !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values, stat.Mean(z.chances(s.Runs, g), nil)
}

// value describes what a goal limits: its mean, with the interval that holds a time in
// nine of ten cases, or, where nothing else is open, with that of the mean over seeds.
func (z *Sizing) value(s *Size, g int) string {
	goal := &z.Goals[g]
	values, _ := z.goal(s, g)
	if len(values) == 0 {
		return "jobs fail"
	}
	mean, half := fit.StudentInterval(values)
	if z.Error.Alternatives > 0 && goal.Deadlines == 0 {
		off := math.Exp(float64(z.Error.ofModel(time.Duration(s.makespan()), results.ScatterOf(values))))
		return fmt.Sprintf("%s (%s to %s)", goalValue(goal, mean), goalValue(goal, mean/off), goalValue(goal, mean*off))
	}
	if math.IsNaN(half) {
		return goalValue(goal, mean)
	}
	return goalValue(goal, mean) + " ± " + goalValue(goal, half)
}

// chances are the probabilities that runs meet a goal, by the error of their machines.
func (z *Sizing) chances(list []points.Replication, g int) []float64 {
	scatter := 0.0
	if z.Error.Alternatives > 0 {
		slacks := make([]float64, len(list))
		for i, r := range list {
			slacks[i] = r.Slacks[g]
		}
		scatter = results.ScatterOf(slacks)
	}
	chances := make([]float64, len(list))
	for i, r := range list {
		switch {
		case z.Error.Alternatives > 0:
			chances[i] = z.Error.ofModel(time.Duration(r.Values[0]), scatter).Chance(r.Slacks[g])
		case z.Goals[g].Met(r.Goals[g]):
			chances[i] = 1
		}
	}
	return chances
}

// Met returns the number of runs that meet all goals as they are simulated.
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

// runs sums the chances that runs meet all goals: the times of a run are off together.
func (z *Sizing) runs(list []points.Replication) search.Runs {
	least := slices.Repeat([]float64{1}, len(list))
	for g := range z.Goals {
		for i, chance := range z.chances(list, g) {
			least[i] = min(least[i], chance)
		}
	}
	return search.Runs{Met: floats.Sum(least), N: len(list), Asked: z.Confidence}
}

// Probability returns the probability to meet all goals, with its 95 % interval, which
// holds however many runs the search has made. Runs that draw the errors of replayed jobs
// know it no better than as many jobs do.
func (s *Size) Probability(z *Sizing) (p, low, high float64) {
	runs := z.runs(s.Runs)
	p = runs.Mean()
	low, high = runs.Interval()
	if e := &z.Error; e.Replay != nil && e.Alternatives == 0 {
		least, most := search.Wilson(p, e.Replay.Jobs)
		low, high = min(low, least), max(high, most)
	}
	return p, low, high
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

	recorded time.Duration // makespan; 0: not known
}

// ofModel is the error of a makespan whose logarithm scatters so over the machines.
func (e *SizingError) ofModel(makespan time.Duration, scatter float64) results.ModelError {
	return results.MachinesErrorOf(makespan, e.recorded, scatter)
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
