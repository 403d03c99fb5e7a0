// Package size answers how large a cluster has to be for the goals of a study.
//
//	Open -> Search.Ask    the models say where to begin
//	        Search.Run    sweep simulates the sizes that fewestNodes asks for (fewest),
//	                      then the best one with fresh seeds
//	     -> Sizing        the answer with its error (answer), pictures (figure), page
package size

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/search"
	"github.com/slotwave/slotwave/study/sweep"
	"github.com/slotwave/slotwave/workload"
)

// mostTried is the largest number of nodes that a search tries, unless the study
// says otherwise.
const mostTried = 10_000

// Search looks for the cluster that meets all goals of a study with the fewest
// nodes, the fewest slots or the lowest price. It is a sweep over what the study
// varies, types and numbers of nodes that simulates only those points that the search
// asks for. A size becomes a candidate if at least the stated fraction of its runs
// meets all goals. Candidates are tried with fresh seeds until these show it of one.
type Search struct {
	*sweep.Sweep
	lines    []line // of the first load, then of the second, ...
	offers   int    // lines of one load
	progress study.SweepProgress
	journal  *sweep.Journal
	errors   SizingError
	fewest   int // nodes with which every line is a scenario
	most     int // nodes
	floors   []string
	turn     int // runs in which each machine that explains the record has its turn; 0: there is one machine
}

// line is one question of a search: how many nodes of one type one load takes.
type line struct {
	scenarios.NodeType
	load     string
	now      bool            // the cluster of the scenario, whatever its size
	question *model.WhatIf   // with one node of this type
	fewest   int             // nodes: with fewer the scenario is refused, such as for a queue of less than a slot
	most     int             // nodes
	usable   int             // nodes that the tasks can use
	enough   int             // nodes above most that meet the goals; 0: none do, or a size is the answer
	guess    int             // nodes at which the search begins
	guesses  []guess         // of the models
	answer   *candidate      // nil: no size is enough
	limits   []results.Limit // of the answer, or of the largest cluster
	open     string          // what is not known where no size is enough
}

// Open opens a study with goals.
func Open(name string, o sweep.Options) (*Search, error) {
	s, err := sweep.OpenStudy(name, o)
	if err != nil {
		return nil, err
	}
	if s.File.Size == nil {
		return nil, NoGoals(name)
	}
	return searchOf(s)
}

// NoGoals is the error about a study without goals, or without a file.
func NoGoals(name string) error {
	if _, err := os.Stat(name); err != nil && !slices.Contains(scenarios.List(), name) {
		return err
	}
	return fmt.Errorf("%s: got no [[goal]]: want a study with goals (docs/size-a-cluster.md)", name)
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
	if err := s.Base.SlotsOnly(); err != nil {
		return nil, err
	}
	z := &Search{Sweep: s}
	if machines := 1 + len(s.Base.Scenario.Alternatives); machines > 1 {
		z.errors.Alternatives = machines - 1
		z.turn = machines * max(1, s.File.Replications/machines)
		s.File.Replications, s.File.MaxReplications = min(firstRuns, z.turn), z.turn
	} else if least := search.LeastRuns(s.File.Size.Confidence); s.File.MaxReplications < least {
		return nil, fmt.Errorf("%s: max_replications: got %d: want %d or more, since fewer runs cannot show a confidence of %g %%", name, s.File.MaxReplications, least, 100*s.File.Size.Confidence)
	}
	s.Goals, s.Fresh, s.Enough = s.File.Size.Goals, true, z.decided(0)
	loads, err := s.ReadFactors()
	if err != nil {
		return nil, err
	}
	for i := range loads {
		if key := loads[i].Key; key == "cluster.nodes" || key == "node" {
			return nil, fmt.Errorf("%s: got the factor %s: the search varies the number and the type of nodes", name, key)
		}
	}
	if run := &s.Base.Scenario.Runs[0]; len(run.Recorded) > 0 { // each line in the way of the others
		if s.Base.File, err = s.Base.File.AsRecorded(nil, true); err != nil {
			return nil, err
		}
	}
	kinds := s.File.Size.Types
	if z.offers = len(kinds); z.offers > 1 || len(loads) > 0 {
		z.offers++ // the cluster as it is
	}
	var types []sweep.FactorLevel
	for _, t := range kinds {
		if t.Name != "" { // a new node is none of the slow ones
			t.Set = slices.Concat(t.Set, z.notSlow())
		}
		types = append(types, sweep.FactorLevel{Text: t.Name, Set: t.Set})
	}
	if z.offers > len(kinds) {
		types = append(types, sweep.FactorLevel{Text: asItIs})
	}
	s.Factors = append(loads, sweep.Listed("node", "", types))
	if err := z.openLines(kinds); err != nil {
		return nil, err
	}
	nodes := sweep.Factor{Key: "cluster.nodes", Tried: 1, First: z.fewest - 1, Count: z.most, Level: func(k int) sweep.FactorLevel {
		if k == z.most { // of the cluster as it is
			return sweep.FactorLevel{Text: strconv.Itoa(z.now())}
		}
		text := strconv.Itoa(k + 1)
		return sweep.FactorLevel{Text: text, Set: []string{"cluster.nodes=" + text}}
	}}
	if z.offers > len(kinds) {
		nodes.Count++
	}
	s.Factors = append(s.Factors, nodes, sweep.Listed("seeds", "", []sweep.FactorLevel{{Text: "search"}, {Text: "fresh"}}))
	return z, s.MakePoints()
}

// notSlow takes the factors of single machines away, which calibrate has found or the
// scenario states.
func (z *Search) notSlow() (set []string) {
	nodes := z.Base.Scenario.Runs[0].Question.Cluster.Nodes
	for i := range nodes {
		if nodes[i].Slowness != 1 {
			set = append(set, "cluster.slowdowns."+workload.TOMLText(nodes[i].Name)+"=1")
		}
	}
	return set
}

// asItIs names the cluster of the scenario among the offers.
const asItIs = "as it is"

// now is the number of nodes of the scenario.
func (z *Search) now() int { return len(z.Base.Scenario.Runs[0].Question.Cluster.Nodes) }

// openLines reads the question of each line, which are the points of the factors so far.
func (z *Search) openLines(kinds []scenarios.NodeType) error {
	if err := z.Combine(); err != nil {
		return err
	}
	if len(z.Factors) > 1 && z.NumPoints > mostLines {
		return fmt.Errorf("%s: got %d combinations of loads and types of nodes: want at most %d", z.StudyName, z.NumPoints, mostLines)
	}
	for i := range z.NumPoints {
		kind := i % z.offers
		l := line{NodeType: scenarios.NodeType{Name: asItIs}, load: z.NameOf(i, len(z.Factors)-1), now: kind == len(kinds)}
		settings := z.Settings(i)
		if !l.now {
			l.NodeType = kinds[kind]
		}
		if err := z.openLine(&l, settings); err != nil {
			return err
		}
		z.lines = append(z.lines, l)
		if !l.now {
			z.fewest, z.most = max(z.fewest, l.fewest), max(z.most, l.most)
		}
	}
	return nil
}

// mostLines is how many questions one study asks.
const mostLines = 100

// withFewest returns the scenario of a line with the fewest nodes with which it is one,
// unless it is the cluster as it is.
func (z *Search) withFewest(l *line, f *scenarios.File) (s *scenarios.Scenario, err error) {
	if l.now {
		return f.Scenario(z.File.Seed)
	}
	var refusal error // of one node
	l.fewest, _ = fewestNodes(1, cmp.Or(z.File.Size.MostNodes, mostTried), func(nodes int) (bool, error) {
		f, err := f.With(fmt.Sprintf("cluster.nodes=%d", nodes))
		if err == nil {
			var opened *scenarios.Scenario
			if opened, err = f.Scenario(z.File.Seed); err == nil {
				s = opened
			}
		}
		refusal = cmp.Or(refusal, err)
		return err == nil, nil
	})
	if l.fewest == 0 {
		return nil, refusal
	}
	return s, nil
}

// openLine makes the question of a line, of one node unless it is the cluster as it is.
func (z *Search) openLine(l *line, settings []string) error {
	f, err := z.Base.File.With(settings...)
	if err != nil {
		return err
	}
	scenario, err := z.withFewest(l, f)
	if err != nil {
		return fmt.Errorf("node %s: %w", l.Name, err)
	}
	q := &scenario.Runs[0].Question
	for i := range z.Goals {
		if err := answerable(&z.Goals[i], q); err != nil {
			path := fmt.Sprintf("goal[%d]", i)
			key, _, _ := strings.Cut(err.Error(), ":")
			place := z.StudyName
			if line := cmp.Or(z.File.Size.Lines[path+"."+key], z.File.Size.Lines[path]); line > 0 {
				place += fmt.Sprintf(":%d", line)
			}
			return fmt.Errorf("%s: %s: %w", place, path, err)
		}
	}
	l.question = q
	if l.now {
		return nil
	}
	if run := &scenario.Runs[0]; len(scenario.Beyond) > 0 && len(run.Recorded) > 0 && q.Fidelity == model.Replay && !z.sets("workload.replay") {
		return &study.NeedsMachine{History: z.File.Scenario, What: strings.TrimSpace(l.Name + ": " + workload.WithoutSecrets(strings.Join(scenario.Beyond, ", ")))}
	}
	q.Cluster.Nodes = q.Cluster.Nodes[:1]
	q.Cluster.Nodes[0].Dies = 0 // the models know no failures
	most, err := analytic.MostNodes(q)
	if err != nil {
		return fmt.Errorf("%s: %w", z.StudyName, err)
	}
	l.usable = max(l.fewest, min(most, workload.MostNodes))
	l.most = min(l.usable, mostTried)
	if z.File.Size.MostNodes > 0 {
		l.most = z.File.Size.MostNodes
	}
	l.guess = min(l.most, z.now())
	return nil
}

// sets reports whether the study or the command line sets a key of the scenario.
func (z *Search) sets(key string) bool {
	return slices.ContainsFunc(z.Base.Options.Set, func(text string) bool { return strings.HasPrefix(text, key+"=") })
}

// aboutNone says which pattern of a goal no job of the question has, and the names
// that the jobs have.
func aboutNone(g *model.Goal, q *model.WhatIf) error {
	for _, by := range []struct {
		key, pattern string
		of           func(*workload.Job) string
	}{
		{"job", g.Job, func(j *workload.Job) string { return j.Name }},
		{"user", g.User, func(j *workload.Job) string { return j.User }},
		{"pool", g.Pool, func(j *workload.Job) string { return j.Pool }},
		{"queue", g.Queue, func(j *workload.Job) string { return j.Queue }},
	} {
		names := map[string]bool{}
		for i := range q.Jobs {
			if name := by.of(&q.Jobs[i]); name != "" {
				names[name] = true
			}
		}
		has := func(name string) bool { return workload.Matches(name, by.pattern) }
		if all := slices.Sorted(maps.Keys(names)); by.pattern != "" && !slices.ContainsFunc(all, has) {
			if len(all) == 0 {
				return fmt.Errorf("%s: got %q: no job has a %[1]s: want the key %[1]s in [[job]], or a goal by job", by.key, by.pattern)
			}
			more := ""
			if n := len(all) - mostNames; n > 0 {
				more = fmt.Sprintf(" and %d more%s", n, input.DidYouMean(by.pattern, all))
			}
			return fmt.Errorf("%s: got %q: want one of %s%s", by.key, by.pattern, strings.Join(all[:min(len(all), mostNames)], ", "), more)
		}
	}
	return errors.New("no job has all of its names: want those of one job")
}

const mostNames = 8 // of jobs that an error lists

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
		return aboutNone(g, q)
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
	for i := range z.lines[:z.offers] {
		l, most := &z.lines[i], 0
		if l.now {
			continue
		}
		for k := range z.Goals {
			g := &z.Goals[k]
			q := *l.question
			q.Jobs = nil
			for _, j := range l.question.Jobs {
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
					l.guesses = append(l.guesses, guess{k, x.Model, x.Nodes})
				}
			}
			most = max(most, guessNodes(found, 0))
		}
		if most > 0 {
			l.guess = min(l.most, most)
		}
	}
	return nil
}

// firstRuns are the runs after which a search first asks whether the other machines can
// still change what a size gives.
const firstRuns = 4

// decided reports whether a size needs no more runs in an attempt. Where machines take
// turns, the probability is the mean over them, and all have run unless those that have
// decide whatever the others give. Elsewhere the search, attempt 0, makes a quarter of
// the runs at most: it only chooses the candidates.
func (z *Search) decided(attempt int) func([]points.Replication) bool {
	return func(list []points.Replication) bool {
		runs := z.question().runs(list)
		if z.turn > 0 {
			asked := runs.Asked * float64(z.turn)
			return runs.N >= z.turn || attempt == 0 && (runs.Met >= asked || runs.Met+float64(z.turn-runs.N) < asked)
		}
		enough, tooFew := runs.Shown(attempt)
		return enough || tooFew || attempt == 0 && runs.N >= z.File.MaxReplications/4
	}
}

// question is what is asked, before there is an answer.
func (z *Search) question() *Sizing {
	return &Sizing{Goals: z.Goals, Confidence: z.File.Size.Confidence, Error: z.errors}
}

// point returns the index of a size.
func (z *Search) point(at, nodes int, fresh bool) int {
	sizes := z.most
	if z.offers > len(z.File.Size.Types) {
		sizes++
	}
	if z.lines[at].now {
		nodes = sizes
	}
	i := 2 * (at*sizes + nodes - 1)
	if fresh {
		i++
	}
	return i
}

// meets simulates a size and reports whether enough of its runs meet all goals.
func (z *Search) meets(at, nodes int) (bool, error) {
	if nodes < z.lines[at].fewest {
		return false, nil
	}
	z.Step = z.nameOf(at, nodes)
	runs, err := z.simulated(z.point(at, nodes, false))
	if err != nil {
		return false, err
	}
	return z.enough(runs), nil
}

// enough reports whether the mean chance of runs is what is asked for.
func (z *Search) enough(list []points.Replication) bool {
	runs := z.question().runs(list)
	return runs.Met >= runs.Asked*float64(runs.N)
}

// nameOf names a size for people.
func (z *Search) nameOf(at, nodes int) string {
	l := &z.lines[at]
	name := workload.Counted(nodes, "node", "nodes")
	switch {
	case l.now:
		name = "the cluster as it is"
	case l.Name != "":
		name += " of type " + l.Name
	}
	if l.load != "" {
		name += ", " + l.load
	}
	return name
}

// simulated simulates a size and returns its runs.
func (z *Search) simulated(point int) ([]points.Replication, error) {
	err := z.RunPoints(z.journal, slices.Values([]int{point}), z.progress)
	return z.Runs(point), err
}

// holds simulates a size with fresh seeds and reports whether these show that enough
// of all runs meet the goals, or meet them in the mean over machines that take turns. Of
// the sizes that a search tries one is the luckiest, so that the seeds of the search show
// less.
func (z *Search) holds(at, nodes, attempt int) (bool, error) {
	z.Step = z.nameOf(at, nodes) + " with fresh seeds"
	z.Enough = z.decided(attempt)
	defer func() { z.Enough = z.decided(0) }()
	list, err := z.simulated(z.point(at, nodes, true))
	if err != nil || z.turn > 0 {
		return err == nil && z.enough(list), err
	}
	enough, _ := z.question().runs(list).Shown(attempt)
	return enough, nil
}

// candidate is a size that the search accepted.
type candidate struct {
	nodes int
	cost  float64
}

// Run finds the size for each line. progress may be nil.
func (z *Search) Run(j *sweep.Journal, progress study.SweepProgress) (*Sizing, error) {
	z.journal, z.progress = j, progress
	if err := z.replayRecord(); err != nil {
		return nil, err
	}
	for at := range z.lines {
		if err := z.answer(at); err != nil {
			return nil, err
		}
	}
	if best := z.best(); best >= 0 {
		if err := z.curve(best); err != nil {
			return nil, err
		}
		if err := z.findFloors(best); err != nil {
			return nil, err
		}
	}
	return z.sizing(), nil
}

// answer finds the size for a line, and what limits the jobs there.
func (z *Search) answer(at int) error {
	l := &z.lines[at]
	shown := z.now()
	if l.now {
		if _, err := z.meets(at, shown); err != nil {
			return err
		}
	} else {
		if before := at - z.offers; before >= 0 && z.lines[before].answer != nil {
			l.guess = min(l.most, z.lines[before].answer.nodes) // of the load before
		}
		nodes, err := fewestNodes(max(1, l.guess), l.most, func(n int) (bool, error) { return z.meets(at, n) })
		if err == nil && nodes > 0 {
			err = z.confirm(at, nodes)
		}
		if err != nil {
			return err
		}
		if shown = l.most; l.answer != nil {
			shown = l.answer.nodes
		} else if err := z.leftOpen(at); err != nil {
			return err
		}
	}
	z.report("what limits " + z.nameOf(at, shown))
	q, err := z.Question(z.point(at, shown, false))
	if err != nil {
		return err
	}
	l.limits, err = study.Limits(q, z.missed(at, shown))
	return err
}

// meetsWithMore reports whether a run meets all goals if a line has all the nodes that
// the tasks can use.
func (z *Search) meetsWithMore(at int) (bool, error) {
	l := &z.lines[at]
	f, err := z.Base.File.With(append(z.Settings(z.point(at, l.most, false)), fmt.Sprintf("cluster.nodes=%d", l.usable))...)
	if err != nil {
		return false, err
	}
	scenario, err := f.Scenario(z.File.Seed)
	if err != nil {
		return false, err
	}
	q := &scenario.Runs[0].Question
	p, _, err := study.Simulate(q)
	if sim.Endless(err) {
		return false, nil
	}
	return err == nil && !slices.ContainsFunc(z.Goals, func(g model.Goal) bool {
		value, _ := g.Measure(q, &p, nil)
		return !g.Met(value)
	}), err
}

// leftOpen says whether more nodes than a line tries meet the goals, and how many machines
// that explain the record meet them on its largest cluster.
func (z *Search) leftOpen(at int) error {
	l := &z.lines[at]
	if l.most < l.usable {
		z.report(fmt.Sprintf("whether %d nodes meet the goals", l.usable))
		if met, err := z.meetsWithMore(at); err != nil {
			return err
		} else if met {
			l.enough = l.usable
		}
	}
	if z.turn == 0 {
		return nil
	}
	z.Enough = z.decided(1)
	defer func() { z.Enough = z.decided(0) }()
	runs, err := z.simulated(z.point(at, l.most, false))
	if err != nil {
		return err
	}
	machines, met := len(z.Base.Machines()), 0
	for _, r := range runs[:machines] {
		if slices.Min(r.Slacks) >= 1 {
			met++
		}
	}
	l.open = fmt.Sprintf("%d of %d machines that explain the record meet all goals there (slotwave measure names the fact that tells them apart)", met, machines)
	return nil
}

// missed accepts the jobs of the goals that a size misses; nil: it misses none.
func (z *Search) missed(at, nodes int) func(id string) bool {
	size := z.size(at, nodes, false)
	ids := map[string]bool{}
	for g := range z.Goals {
		if _, met := z.question().goal(&size, g); met < z.File.Size.Confidence {
			for _, j := range z.lines[at].question.Jobs {
				if z.Goals[g].About(j.Name, j.User, j.Pool, j.Queue) {
					ids[j.ID] = true
				}
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return func(id string) bool { return ids[id] }
}

// best is the line of the first load whose answer is the lowest; -1: there is none.
func (z *Search) best() int {
	best := -1
	for at := range z.lines[:z.offers] {
		if a := z.lines[at].answer; a != nil && (best < 0 || a.cost < z.lines[best].answer.cost) {
			best = at
		}
	}
	return best
}

// accept enters a size as a candidate. Where the price per job decides, up to four
// larger clusters are candidates too: they can cost less if they end sooner.
func (z *Search) accept(open *[]candidate, at, nodes int) error {
	more := 0
	if z.File.Size.Lowest == scenarios.LowestPerJob {
		more = 4
	}
	for n := nodes; n <= min(nodes+more, z.lines[at].most); n++ {
		ok, err := z.meets(at, n)
		if err != nil {
			return err
		}
		if c := (candidate{n, z.cost(at, n)}); ok && !slices.Contains(*open, c) {
			*open = append(*open, c)
		}
	}
	return nil
}

// cost is what shall be as low as possible.
func (z *Search) cost(at, nodes int) float64 {
	size := z.size(at, nodes, false)
	switch z.File.Size.Lowest {
	case scenarios.FewestSlots:
		return float64(size.MapSlots + size.ReduceSlots)
	case scenarios.LowestHourly:
		return size.Hourly()
	case scenarios.LowestPerJob:
		return size.PerJob()
	}
	return float64(nodes)
}

// confirm makes the candidate of least cost the answer whose runs with fresh seeds meet
// the goals too. One that fails is replaced by the next larger size. The line has no
// answer if no candidate is left.
func (z *Search) confirm(at, nodes int) error {
	var open []candidate
	err := z.accept(&open, at, nodes)
	for attempt := 1; err == nil && len(open) > 0; attempt++ {
		best := 0
		for i, c := range open {
			if c.cost < open[best].cost {
				best = i
			}
		}
		c := open[best]
		ok, failed := z.holds(at, c.nodes, attempt)
		if failed != nil {
			return failed
		}
		if ok {
			z.lines[at].answer = &c
			return nil
		}
		open = slices.Delete(open, best, best+1)
		for n := c.nodes + 1; n <= z.lines[at].most; n++ {
			if ok, err = z.meets(at, n); err != nil {
				return err
			}
			if ok {
				err = z.accept(&open, at, n)
				break
			}
		}
	}
	return err
}

// curve simulates sizes around the answer: one and two nodes less, and about every
// tenth up to half as many and half as many again.
func (z *Search) curve(at int) error {
	nodes := z.lines[at].answer.nodes
	sizes := []int{nodes - 1, nodes - 2}
	for tenths := -5; tenths <= 5; tenths++ {
		sizes = append(sizes, nodes+int(math.Round(float64(tenths*nodes)/10)))
	}
	var points []int
	for _, n := range sizes {
		if n >= z.lines[at].fewest && n <= z.lines[at].most {
			points = append(points, z.point(at, n, false))
		}
	}
	slices.Sort(points)
	z.Step = "sizes around " + z.nameOf(at, nodes)
	if z.turn > 0 { // all machines, so that sizes compare
		z.Enough = z.decided(1)
		defer func() { z.Enough = z.decided(0) }()
	}
	return z.RunPoints(z.journal, slices.Values(slices.Compact(points)), z.progress)
}

// findFloors says what the goals limit on the largest cluster of a line, and why more
// nodes would not shorten it.
func (z *Search) findFloors(at int) error {
	l := &z.lines[at]
	z.report("what no number of nodes shortens")
	q, err := z.Question(z.point(at, l.most, false))
	if err != nil {
		return err
	}
	p, _, err := study.Simulate(q)
	if err != nil {
		if sim.Endless(err) {
			err = nil
		}
		return err
	}
	for g := range z.Goals {
		goal := &z.Goals[g]
		value, _ := goal.Measure(q, &p, nil)
		if goal.Deadlines > 0 || math.IsNaN(value) {
			continue
		}
		ids := map[string]bool{}
		for _, j := range p.Jobs {
			ids[j.ID] = goal.About(j.Name, j.User, j.Pool, j.Queue)
		}
		limits, err := study.Limits(q, func(id string) bool { return ids[id] })
		if err != nil {
			return err
		}
		floor := fmt.Sprintf("%s: not below %s, even on %s", text.Escape(goal.String()), goalValue(goal, value), workload.Counted(l.most, "node", "nodes"))
		if _, why := results.SharesOf(limits); why != "" {
			floor += "; " + why
		}
		z.floors = append(z.floors, floor)
	}
	return nil
}

// size collects the runs of one size.
func (z *Search) size(at, nodes int, fresh bool) Size {
	l := &z.lines[at]
	cluster := l.question.Cluster.Nodes
	s := Size{Nodes: nodes, Price: l.Price, Jobs: len(l.question.Jobs), Fresh: fresh, Runs: z.Runs(z.point(at, nodes, fresh))}
	for i := range nodes {
		s.MapSlots += cluster[i%len(cluster)].MapSlots
		s.ReduceSlots += cluster[i%len(cluster)].ReduceSlots
	}
	return s
}

// sizing collects the answer.
func (z *Search) sizing() *Sizing {
	r := &Sizing{
		Title: z.Base.Scenario.Title, Goals: z.Goals, Confidence: z.File.Size.Confidence, Lowest: z.File.Size.Lowest, Answer: z.best(), Error: z.errors,
		Assumed: z.Base.Scenario.Assumed, Floors: z.floors,
	}
	if record := z.Base.Scenario.Runs[0].Record; record != nil {
		r.Waited = record.Waited()
	}
	var keys []string
	for _, f := range z.Factors {
		keys = append(keys, f.Key)
	}
	r.Points = points.NewPoints(keys)
	r.Points.Goals, r.Points.Metrics, r.Points.Labels = z.Goals, z.Metrics, z.Base.Labels
	sizes, baseline := 0, 0
	for at := range z.lines {
		l := &z.lines[at]
		shown := Line{Load: l.load, Type: l.Name, Now: l.now, Limits: l.limits, Open: l.open, Enough: l.enough, guesses: l.guesses}
		if l.answer != nil {
			shown.Nodes = l.answer.nodes
		}
		most := l.most
		if l.now {
			most = z.now()
		}
		for n := 1; n <= most; n++ {
			for _, fresh := range []bool{false, true} {
				if l.now && (n < most || fresh) {
					continue
				}
				size := z.size(at, n, fresh)
				if len(size.Runs) == 0 {
					continue
				}
				if at == r.Answer && n == shown.Nodes && !fresh {
					baseline = sizes
				}
				sizes++
				shown.Sizes = append(shown.Sizes, size)
			}
		}
		r.Lines = append(r.Lines, shown)
	}
	for at := range r.Lines {
		for _, s := range r.Lines[at].Sizes {
			r.Points.Add(z.Base.Scenario.Name, z.Values(z.point(at, s.Nodes, s.Fresh)), baseline, s.Runs)
		}
	}
	return r
}

// Manifest describes the result of the search.
func (z *Search) Manifest(b resultdir.Build) resultdir.Manifest {
	m := z.Sweep.Manifest(b)
	m.Arguments[0] = "size"
	return m
}

// Check describes a study file, the points of a sweep or the goals of a question about
// the size of a cluster, and returns the command that takes it. It returns an empty text
// for another file.
func Check(name string) (about string, command []string, err error) {
	if !strings.EqualFold(filepath.Ext(name), ".toml") {
		return "", nil, nil
	}
	file, err := scenarios.ReadStudy(name, func([]string) error { return nil })
	switch {
	case err != nil || file == nil:
		return "", nil, err
	case file.Size != nil:
		about = fmt.Sprintf("%s, %s of nodes", workload.Counted(len(file.Size.Goals), "goal", "goals"), workload.Counted(len(file.Size.Types), "type", "types"))
		if file.Scenario == "" {
			return "goals and offers, " + about, []string{"size", "two-jobs", name}, nil
		}
		_, err := Open(name, sweep.Options{})
		return "study of sizes, " + about, []string{"size", name}, err
	}
	s, err := sweep.Open(name, sweep.Options{})
	if err != nil {
		return "", nil, err
	}
	return "study, " + workload.Counted(s.NumPoints, "point", "points"), []string{"sweep", name}, nil
}
