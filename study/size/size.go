// Package size answers how large a cluster has to be for the goals of a study.
//
//	Open -> Search.Ask    the models say where to begin
//	        Search.Run    sweep simulates the sizes that fewestNodes asks for (fewest),
//	                      then the best one with fresh seeds
//	     -> Sizing        the answer with its error (answer, error), picture (figure)
package size

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/sweep"
	"github.com/slotwave/slotwave/workload"
)

// mostTried is the largest number of nodes that a search tries, unless the study
// says otherwise.
const mostTried = 10_000

// Search looks for the cluster that meets all goals of a study with the fewest
// nodes, the fewest slots or the lowest price. It is a sweep over types and
// numbers of nodes that simulates only those points that the search asks for. A
// size becomes a candidate if at least the stated fraction of its runs meets all
// goals. Candidates are tried with fresh seeds until these show it of one.
type Search struct {
	*sweep.Sweep
	types    []sizedType
	progress study.SweepProgress
	journal  *sweep.Journal
	errors   SizingError
	most     int // nodes
	attempts int // to show with fresh seeds that a candidate is enough
}

// sizedType is a type of node in a search.
type sizedType struct {
	scenarios.NodeType
	question model.WhatIf // with one node of this type
	most     int          // nodes
	guess    int          // nodes that the models find
	guesses  []func(*Sizing)
}

// Open opens a study with goals.
func Open(name string, o sweep.Options) (*Search, error) {
	s, err := sweep.OpenStudy(name, o)
	if err != nil {
		return nil, err
	}
	if s.File.Size == nil {
		return nil, fmt.Errorf("%s: got no [[goal]]: want a study with goals (docs/size-a-cluster.md)", name)
	}
	return searchOf(s)
}

// inTime is the fraction of runs that OpenDeadline wants to be in time.
const inTime = 0.9

// OpenDeadline asks how many nodes, like the first of a scenario, let its jobs finish by
// a deadline in 90 % of the runs.
func OpenDeadline(name string, deadline time.Duration, o sweep.Options) (*Search, error) {
	if deadline <= 0 {
		return nil, fmt.Errorf("--deadline: got %v: want a time above 0", deadline)
	}
	asked := &scenarios.SizeFile{
		Lowest: scenarios.FewestNodes, Confidence: inTime,
		Goals: []model.Goal{{Finish: deadline, Percentile: 100}}, Types: []scenarios.NodeType{{}},
	}
	s, err := sweep.OpenFile(name, &scenarios.StudyFile{
		Scenario: name, Seed: 1, Size: asked, Replications: scenarios.SizeReplications, MaxReplications: asked.MostReplications(),
	}, o)
	if err != nil {
		return nil, err
	}
	return searchOf(s)
}

// searchOf makes the search of a study with goals.
func searchOf(s *sweep.Sweep) (*Search, error) {
	name := s.StudyName
	if len(s.File.Factors) > 0 || len(s.Asked.Over) > 0 || len(s.Base.Scenario.Runs) > 1 {
		return nil, fmt.Errorf("%s: got factors: want [[node]] tables with the types of nodes to choose from, and nothing else that varies", name)
	}
	if least := leastRuns(s.File.Size.Confidence); s.File.MaxReplications < least {
		return nil, fmt.Errorf("%s: max_replications: got %d: want %d or more, since fewer runs cannot show a confidence of %g %%", name, s.File.MaxReplications, least, 100*s.File.Size.Confidence)
	}
	z := &Search{Sweep: s}
	s.Goals, s.Fresh, s.Enough = s.File.Size.Goals, true, z.decided(0)
	for _, t := range s.File.Size.Types {
		one := sizedType{NodeType: t}
		if err := z.openType(&one); err != nil {
			return nil, err
		}
		z.types = append(z.types, one)
		z.most = max(z.most, one.most)
	}
	var types []sweep.FactorLevel
	for _, t := range z.types {
		types = append(types, sweep.FactorLevel{Text: t.Name, Set: t.Set})
	}
	nodes := sweep.Factor{Key: "cluster.nodes", Tried: 1, Count: z.most, Level: func(k int) sweep.FactorLevel {
		text := strconv.Itoa(k + 1)
		return sweep.FactorLevel{Text: text, Set: []string{"cluster.nodes=" + text}}
	}}
	s.Factors = []sweep.Factor{sweep.Listed("node", "", types), nodes, sweep.Listed("seeds", "", []sweep.FactorLevel{{Text: "search"}, {Text: "fresh"}})}
	return z, s.MakePoints()
}

// openType reads the question for one node of a type, and asks the models.
func (z *Search) openType(t *sizedType) error {
	f, err := z.Base.File.With(append(slices.Clone(t.Set), "cluster.nodes=1")...)
	if err != nil {
		return err
	}
	scenario, err := f.Scenario(z.File.Seed)
	if err != nil {
		return fmt.Errorf("node %s: %w", t.Name, err)
	}
	q := &scenario.Runs[0].Question
	for i := range z.Goals {
		if err := answerable(&z.Goals[i], q); err != nil {
			return fmt.Errorf("%s: goal[%d]: %w", z.StudyName, i, err)
		}
	}
	q.Cluster.Nodes[0].Dies = 0 // the models know no failures
	t.question = *q
	most, err := analytic.MostNodes(q)
	if err != nil {
		return fmt.Errorf("%s: %w", z.StudyName, err)
	}
	t.most = min(most, mostTried)
	if z.File.Size.MostNodes > 0 {
		t.most = z.File.Size.MostNodes
	}
	t.guess = min(t.most, len(z.Base.Scenario.Runs[0].Question.Cluster.Nodes))
	return nil
}

// answerable refuses a goal about jobs or deadlines that the question does not have.
func answerable(g *model.Goal, q *model.WhatIf) error {
	jobs, deadlines := 0, 0
	for i := range q.Jobs {
		j := &q.Jobs[i]
		if g.About(j.Name, j.User, j.Pool, j.Queue) {
			jobs++
			if j.Deadline > 0 {
				deadlines++
			}
		}
	}
	switch {
	case jobs == 0:
		return errors.New("got a goal about no job: want the name, user, pool or queue of jobs of the scenario")
	case g.Deadlines > 0 && deadlines == 0:
		return errors.New("deadlines: none of its jobs has a deadline: want the key deadline in [[job]]")
	}
	return nil
}

// Ask lets the models guess where the search of each type begins. They can answer
// for goals about the end of all jobs, or of a job that is alone.
func (z *Search) Ask() error {
	models, err := z.Base.Models()
	if err != nil {
		return err
	}
	for i := range z.types {
		t, guess := &z.types[i], 0
		for k := range z.Goals {
			g := &z.Goals[k]
			q := t.question
			q.Jobs = nil
			for _, j := range t.question.Jobs {
				if g.About(j.Name, j.User, j.Pool, j.Queue) {
					q.Jobs = append(q.Jobs, j)
				}
			}
			limit := g.Finish
			if len(q.Jobs) == 1 {
				limit += g.Response
				q.Jobs[0].Submit = 0
			}
			if limit == 0 {
				continue
			}
			found, err := analytic.Provision(q, models, limit)
			if err != nil {
				return err
			}
			for _, x := range found {
				if x.Err == nil && x.Nodes > 0 {
					t.guesses = append(t.guesses, func(r *Sizing) { r.AddGuess(k, t.Name, x.Model, x.Nodes) })
				}
			}
			guess = max(guess, guessNodes(found, 0))
		}
		if guess > 0 {
			t.guess = min(t.most, guess)
		}
	}
	return nil
}

// decided reports whether a size needs no more runs in an attempt. The search, attempt
// 0, makes a quarter of the runs at most: it only chooses the candidates.
func (z *Search) decided(attempt int) func([]points.Replication) bool {
	return func(runs []points.Replication) bool {
		enough, tooFew := z.shown(runs, attempt)
		return enough || tooFew || attempt == 0 && len(runs) >= z.File.MaxReplications/4
	}
}

func (z *Search) shown(runs []points.Replication, attempt int) (enough, tooFew bool) {
	question := Sizing{Goals: z.Goals, Confidence: z.File.Size.Confidence}
	return question.Shown(&Size{Runs: runs}, attempt)
}

// point returns the index of a size.
func (z *Search) point(kind, nodes int, fresh bool) int {
	i := 2 * (kind*z.most + nodes - 1)
	if fresh {
		i++
	}
	return i
}

// meets simulates a size and reports whether enough of its runs meet all goals.
func (z *Search) meets(kind, nodes int) (bool, error) { return z.meetsGoals(kind, nodes, z.Goals) }

func (z *Search) meetsGoals(kind, nodes int, goals []model.Goal) (bool, error) {
	z.Step = z.nameOf(kind, nodes)
	runs, err := z.simulated(z.point(kind, nodes, false))
	met := (&Size{Runs: runs}).Met(goals)
	return float64(met) >= z.File.Size.Confidence*float64(len(runs)), err
}

// nameOf names a size for people.
func (z *Search) nameOf(kind, nodes int) string {
	name := workload.Counted(nodes, "node", "nodes")
	if len(z.types) > 1 {
		name += " of type " + z.types[kind].Name
	}
	return name
}

// simulated simulates a size and returns its runs.
func (z *Search) simulated(point int) ([]points.Replication, error) {
	if err := z.RunPoints(z.journal, slices.Values([]int{point}), z.progress); err != nil {
		return nil, err
	}
	return z.Runs(point)
}

// holds simulates a size with fresh seeds and reports whether these show that enough
// of all runs meet the goals. Of the sizes that a search tries one is the luckiest, so
// that the seeds of the search show less.
func (z *Search) holds(kind, nodes int) (bool, error) {
	z.attempts++
	z.Step = z.nameOf(kind, nodes) + " with fresh seeds"
	z.Enough = z.decided(z.attempts)
	defer func() { z.Enough = z.decided(0) }()
	runs, err := z.simulated(z.point(kind, nodes, true))
	enough, _ := z.shown(runs, z.attempts)
	return enough, err
}

// candidate is a size that the search accepted.
type candidate struct {
	kind, nodes int
	cost        float64
}

// Run finds the size. progress may be nil.
func (z *Search) Run(j *sweep.Journal, progress study.SweepProgress) (*Sizing, error) {
	z.journal, z.progress = j, progress
	if err := z.replayRecord(); err != nil {
		return nil, err
	}
	var open []candidate
	for kind := range z.types {
		t := &z.types[kind]
		nodes, err := fewestNodes(max(1, t.guess), t.most, func(n int) (bool, error) { return z.meets(kind, n) })
		if err != nil {
			return nil, err
		}
		if nodes > 0 {
			if err := z.accept(&open, kind, nodes); err != nil {
				return nil, err
			}
		}
	}
	answer, err := z.confirm(open)
	if err != nil {
		return nil, err
	}
	for _, step := range []func(*candidate) error{z.withError, z.byCalibrations, z.curve} {
		if err := step(answer); err != nil {
			return nil, err
		}
	}
	return z.sizing(answer)
}

// accept enters a size as a candidate. Where the price per job decides, up to four
// larger clusters are candidates too: they can cost less if they end sooner.
func (z *Search) accept(open *[]candidate, kind, nodes int) error {
	more := 0
	if z.File.Size.Lowest == scenarios.LowestPerJob {
		more = 4
	}
	for n := nodes; n <= min(nodes+more, z.types[kind].most); n++ {
		ok, err := z.meets(kind, n)
		if err != nil {
			return err
		}
		cost, err := z.cost(kind, n)
		if err != nil {
			return err
		}
		c := candidate{kind, n, cost}
		if ok && !slices.Contains(*open, c) {
			*open = append(*open, c)
		}
	}
	return nil
}

// cost is what shall be as low as possible.
func (z *Search) cost(kind, nodes int) (float64, error) {
	size, err := z.size(kind, nodes, false)
	switch z.File.Size.Lowest {
	case scenarios.FewestSlots:
		return float64(nodes * (size.MapSlots + size.ReduceSlots)), err
	case scenarios.LowestHourly:
		return size.Hourly(), err
	case scenarios.LowestPerJob:
		return size.PerJob(), err
	}
	return float64(nodes), err
}

// confirm returns the candidate of least cost whose runs with fresh seeds meet the
// goals too. One that fails is replaced by the next larger size. It returns nil if
// no candidate is left.
func (z *Search) confirm(open []candidate) (*candidate, error) {
	for len(open) > 0 {
		best := 0
		for i, c := range open {
			if c.cost < open[best].cost {
				best = i
			}
		}
		c := open[best]
		ok, err := z.holds(c.kind, c.nodes)
		if err != nil || ok {
			return &c, err
		}
		open = slices.Delete(open, best, best+1)
		for n := c.nodes + 1; n <= z.types[c.kind].most; n++ {
			if ok, err = z.meets(c.kind, n); err != nil {
				return nil, err
			}
			if ok {
				if err := z.accept(&open, c.kind, n); err != nil {
					return nil, err
				}
				break
			}
		}
	}
	return nil, nil
}

// curve simulates sizes around the answer: one and two nodes less, and about every
// tenth up to half as many and half as many again.
func (z *Search) curve(answer *candidate) error {
	if answer == nil {
		return nil
	}
	most := z.types[answer.kind].most
	sizes := []int{answer.nodes - 1, answer.nodes - 2}
	for tenths := -5; tenths <= 5; tenths++ {
		sizes = append(sizes, answer.nodes+int(math.Round(float64(tenths*answer.nodes)/10)))
	}
	var points []int
	for _, n := range sizes {
		if n >= 1 && n <= most {
			points = append(points, z.point(answer.kind, n, false))
		}
	}
	slices.Sort(points)
	z.Step = "sizes around " + z.nameOf(answer.kind, answer.nodes)
	return z.RunPoints(z.journal, slices.Values(slices.Compact(points)), z.progress)
}

// size collects the runs of one size.
func (z *Search) size(kind, nodes int, fresh bool) (Size, error) {
	t := &z.types[kind]
	node := &t.question.Cluster.Nodes[0]
	runs, err := z.Runs(z.point(kind, nodes, fresh))
	return Size{
		Type: t.Name, Nodes: nodes, MapSlots: node.MapSlots, ReduceSlots: node.ReduceSlots, Price: t.Price,
		Jobs: len(t.question.Jobs), Fresh: fresh, Runs: runs,
	}, err
}

// sizing collects the answer.
func (z *Search) sizing(answer *candidate) (*Sizing, error) {
	r := &Sizing{
		Title: z.Base.Scenario.Title, Goals: z.Goals, Confidence: z.File.Size.Confidence, Lowest: z.File.Size.Lowest, Answer: -1, Error: z.errors,
	}
	for kind, t := range z.types {
		for _, add := range t.guesses {
			add(r)
		}
		for n := 1; n <= t.most; n++ {
			for _, fresh := range []bool{false, true} {
				size, err := z.size(kind, n, fresh)
				if err != nil {
					return nil, err
				}
				if len(size.Runs) == 0 {
					continue
				}
				if answer != nil && answer.kind == kind && answer.nodes == n && !fresh {
					r.Answer = len(r.Sizes)
				}
				r.Sizes = append(r.Sizes, size)
			}
		}
	}
	var keys []string
	for _, f := range z.Factors {
		keys = append(keys, f.Key)
	}
	r.Points = points.NewPoints(keys)
	r.Points.Goals, r.Points.Metrics = z.Goals, z.Metrics
	for _, size := range r.Sizes {
		seeds := 0
		if size.Fresh {
			seeds = 1
		}
		values := []string{size.Type, strconv.Itoa(size.Nodes), z.Factors[2].Level(seeds).Text}
		r.Points.Add(z.Base.Scenario.Name, values, max(0, r.Answer), size.Runs)
	}
	return r, nil
}

// Manifest describes the result of the search.
func (z *Search) Manifest(b resultdir.Build) resultdir.Manifest {
	m := z.Sweep.Manifest(b)
	m.Arguments[0] = "size"
	return m
}

// Check describes a study file: the points of a sweep, or the goals of a question
// about the size of a cluster. It returns an empty text for another file.
func Check(name string) (about string, err error) {
	if !strings.EqualFold(filepath.Ext(name), ".toml") {
		return "", nil
	}
	file, err := scenarios.ReadStudy(name, func([]string) error { return nil })
	switch {
	case err != nil || file == nil:
		return "", err
	case file.Size != nil:
		s, err := Open(name, sweep.Options{})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s, %s of nodes", workload.Counted(len(file.Size.Goals), "goal", "goals"), workload.Counted(len(s.types), "type", "types")), nil
	}
	s, err := sweep.Open(name, sweep.Options{})
	if err != nil {
		return "", err
	}
	return workload.Counted(s.NumPoints, "point", "points"), nil
}
