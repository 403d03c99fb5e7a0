// Package analytic holds the analytic models of a job's time: waves, ARIA, HP,
// improved HP, CRESP, Herodotou's and Zhang's. Each answers what-if questions as a
// Predictor, and raw questions as an Evaluator.
package analytic

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/workload"
)

// Knowledge is what models must be told besides the question: what was fitted
// to measurements of the platform or to earlier runs. What is nil or empty is
// not known.
type Knowledge struct {
	Platform   *platform.Model      // of zhang
	Statistics *HerodotouStatistics // of the job
	Runs       []HPRun              // of the job, for hp
	History    *IHPHistory          // of the job, for ihp
	NoHistory  string               // why runs of the job did not make one
	Cresp      *Cresp
	NoCresp    string // why runs of the job did not make one
}

// NamedPredictor is an analytic model that answers what-if questions.
type NamedPredictor struct {
	Name, About string
	has         []Cause
	New         func(Knowledge) model.Predictor
}

// Has reports whether the model accounts for a cause. No model knows what a
// simulation draws.
func (p *NamedPredictor) Has(q *model.WhatIf, c Cause) bool {
	return slices.Contains(p.has, c) &&
		(c != Stragglers || !slices.ContainsFunc(q.Jobs, func(j workload.Job) bool { return drawn(&j) }))
}

// Predictors are the analytic models by name, sorted.
var Predictors = []NamedPredictor{
	{"aria", "ARIA: makespan bounds from average and longest tasks", []Cause{Overlap}, func(Knowledge) model.Predictor { return ariaPredictor{} }},
	{"cresp", "CRESP: a regression on maps, slots and reduces; wants its coefficients", []Cause{Contention, Protocol, Stragglers, Overlap, Slowstart, Quantisation}, func(k Knowledge) model.Predictor { return crespPredictor{k.Cresp, k.NoCresp} }},
	{"herodotou", "Herodotou's phase equations in waves; wants data and cost statistics, or a program on machines", []Cause{Overlap, Slowstart, Quantisation}, func(k Knowledge) model.Predictor { return herodotouPredictor{k.Statistics} }},
	{"hp", "HP: ARIA on scaled durations; wants runs on other input", []Cause{Contention, Overlap}, func(k Knowledge) model.Predictor { return hpPredictor{k.Runs} }},
	{"ihp", "improved HP: bounds by wave; durations given or from a history of runs", []Cause{Overlap}, func(k Knowledge) model.Predictor { return ihpPredictor{k.History, k.NoHistory} }},
	{"waves", "tasks in waves over the slots, without heartbeats or contention", []Cause{Stragglers, Overlap, Slowstart, Quantisation}, func(Knowledge) model.Predictor { return wavesPredictor{} }},
	{"zhang", "Zhang's platform model; wants a platform fitted from microbenchmarks", nil, func(k Knowledge) model.Predictor { return zhangPredictor{k.Platform} }},
}

// grounds are the slots of a question, as far as models without nodes see them.
type grounds struct {
	maps, reduces    int
	fastest, slowest float64 // factors on task times
	warnings         []string
}

// groundsOf sums up the cluster, or says why no model of slots can.
func groundsOf(q *model.WhatIf) (grounds, error) {
	g := grounds{fastest: math.Inf(1)}
	failing := false
	for i := range q.Cluster.Nodes {
		n := &q.Cluster.Nodes[i]
		g.maps, g.reduces = g.maps+n.MapSlots, g.reduces+n.ReduceSlots
		slowness := n.Slowness
		if slowness == 0 {
			slowness = 1
		}
		g.fastest, g.slowest = math.Min(g.fastest, slowness), math.Max(g.slowest, slowness)
		failing = failing || n.Dies > 0 || n.FailAfter > 0
	}
	needMaps, needReduces := false, false
	for i := range q.Jobs {
		j := &q.Jobs[i]
		needMaps, needReduces = needMaps || j.Maps.Count > 0, needReduces || j.Reduces.Count > 0
		failing = failing || len(j.Maps.Fails) > 0 || len(j.Reduces.Fails) > 0
	}
	switch {
	case len(q.Jobs) == 0:
		return g, model.NotApplicable("no jobs")
	case q.Cluster.SharedSlots:
		return g, model.NotApplicable("maps and reduces share one pool of slots")
	case q.Until > 0:
		return g, model.NotApplicable("the run is cut before its jobs end")
	case needMaps && g.maps == 0:
		return g, model.NotApplicable("no map slots")
	case needReduces && g.reduces == 0:
		return g, model.NotApplicable("no reduce slots")
	}
	if failing {
		g.warnings = append(g.warnings, "attempts and nodes that fail are not in the model")
	}
	return g, nil
}

// oneJob is for models of a job alone.
func oneJob(q *model.WhatIf) (*workload.Job, grounds, error) {
	g, err := groundsOf(q)
	switch {
	case err != nil:
		return nil, g, err
	case len(q.Jobs) > 1:
		return nil, g, model.NotApplicable("one job only")
	case q.Jobs[0].Maps.Count == 0:
		return nil, g, model.NotApplicable("the job has no maps")
	}
	return &q.Jobs[0], g, nil
}

// aria is ARIA's profile of a job as a question states it: by the times of its
// tasks, by the equations for its program, or by a profile of recorded runs. The
// first shuffle is what follows the last map.
func (g *grounds) aria(q *model.WhatIf, j *workload.Job) (AriaProfile, error) {
	p := unknownAria()
	p.Maps, p.Reduces = j.Maps.Count, j.Reduces.Count
	m, r := &j.Maps, &j.Reduces
	switch {
	case q.Fidelity > model.Profile && j.Program != "":
		return ariaByEquations(q, j, g)
	case j.Profile != nil && !m.Time.Set():
		return p, p.fromProfile(j)
	case q.Fidelity > model.Profile:
		return p, model.NotApplicable("%s: the times of its tasks are not given", j.ID)
	}
	p = GivenAria(j)
	if r.Copy.Set() && r.Count > 0 {
		// Copying kept up with the maps, but for the last one's output; or had
		// not begun.
		sort, _ := r.Sort.Expect(r.Count)
		p.FirstShuffleAvg = (p.FirstShuffleAvg-sort)/math.Max(1, float64(m.Count)) + sort
	}
	return p, nil
}

// GivenAria is ARIA's profile of a job by the times it is given. The first
// shuffle is what follows the last map; a typical one has nothing to wait for.
func GivenAria(j *workload.Job) AriaProfile {
	m, r := &j.Maps, &j.Reduces
	p := unknownAria()
	p.Maps, p.Reduces = m.Count, r.Count
	p.MapAvg, p.MapMax = m.Time.Expect(m.Count)
	p.ReduceAvg, p.ReduceMax = r.Time.Expect(r.Count)
	typical, first := r.Shuffle, r.FirstWave
	if r.Copy.Set() {
		typical = r.Copy
	}
	if !first.Set() {
		first = typical
	}
	sort, longestSort := r.Sort.Expect(r.Count)
	p.ShuffleAvg, p.ShuffleMax = typical.Expect(r.Count)
	p.FirstShuffleAvg, p.FirstShuffleMax = first.Expect(r.Count)
	p.ShuffleAvg, p.ShuffleMax = p.ShuffleAvg+sort, p.ShuffleMax+longestSort
	p.FirstShuffleAvg, p.FirstShuffleMax = p.FirstShuffleAvg+sort, p.FirstShuffleMax+longestSort
	return p
}

// fromProfile takes the statistics of recorded runs.
func (p *AriaProfile) fromProfile(j *workload.Job) error {
	var missing []string
	take := func(name string, s *workload.Sample, avg, longest *float64) {
		if s.N == 0 {
			missing = append(missing, name)
		}
		*avg, *longest = s.Mean, s.Max
	}
	take("MapTime", &j.Profile.MapTime, &p.MapAvg, &p.MapMax)
	if p.Reduces > 0 {
		take("FirstShuffle", &j.Profile.FirstShuffle, &p.FirstShuffleAvg, &p.FirstShuffleMax)
		take("TypicalShuffle", &j.Profile.TypicalShuffle, &p.ShuffleAvg, &p.ShuffleMax)
		take("ReduceTime", &j.Profile.ReduceTime, &p.ReduceAvg, &p.ReduceMax)
	}
	if len(missing) > 0 {
		return model.NotApplicable("%s: its profile states no %s", j.ID, strings.Join(missing, ", "))
	}
	return nil
}

// scaled is the profile on nodes so much slower.
func (p AriaProfile) scaled(by float64) AriaProfile {
	for _, v := range []*float64{
		&p.MapAvg, &p.MapMax, &p.FirstShuffleAvg, &p.FirstShuffleMax, &p.ShuffleAvg, &p.ShuffleMax, &p.ReduceAvg, &p.ReduceMax,
	} {
		*v *= by
	}
	return p
}

// farthest are the factors on the times of a job's maps next to their splits
// and farthest from them.
func farthest(m *workload.MapTasks) (least, most float64) {
	least, most = 1, 1
	for _, f := range []float64{m.RackFactor, m.OffFactor} {
		if f > 0 {
			least, most = math.Min(least, f), math.Max(most, f)
		}
	}
	return least, most
}

// job is the outcome of one job as a model has it: seconds from its submission.
func (g *grounds) job(j *workload.Job, p *AriaProfile, mapEnd, low, mean, high float64) model.JobOutcome {
	const never = -1
	o := model.JobOutcome{
		ID: j.ID, Name: j.Name, User: j.User, Pool: j.Pool, Queue: j.Queue,
		Submit: j.Submit, Launch: never, Running: never, FirstMap: never, LastMap: never, ShuffleEnd: never,
		Finish: j.Submit + workload.Seconds(mean), Low: workload.Seconds(low), High: workload.Seconds(high),
		Maps: j.Maps.Count, Reduces: j.Reduces.Count,
		InBytes: j.Maps.InputBytes, ShuffleBytes: j.Reduces.ShuffleData, OutBytes: j.Reduces.OutputBytes,
	}
	if j.Maps.Count > 0 {
		o.FirstMap, o.LastMap = j.Submit, j.Submit+workload.Seconds(mapEnd)
		o.MapWaves = (j.Maps.Count + g.maps - 1) / g.maps
		o.MapTime = workload.Seconds(p.MapAvg * float64(j.Maps.Count))
	}
	if j.Reduces.Count > 0 {
		o.ReduceWaves = (j.Reduces.Count + g.reduces - 1) / g.reduces
		o.ReduceTime = workload.Seconds((p.ShuffleAvg + p.ReduceAvg) * float64(j.Reduces.Count))
	}
	return o
}

// phaseOf is the mean time of a phase, seconds.
func phaseOf(k workload.Kind, ph workload.Phase, s float64) model.PhaseTime {
	return model.PhaseTime{Kind: k, Phase: ph, Time: workload.Seconds(s)}
}

// phases are the parts of a task that the profile tells apart.
func (p *AriaProfile) phases() []model.PhaseTime {
	var list []model.PhaseTime
	if p.Maps > 0 {
		list = append(list, phaseOf(workload.Map, workload.PhaseMap, p.MapAvg))
	}
	if p.Reduces > 0 {
		list = append(list,
			phaseOf(workload.Reduce, workload.PhaseShuffle, p.ShuffleAvg),
			phaseOf(workload.Reduce, workload.PhaseReduce, p.ReduceAvg))
	}
	return list
}

// alone makes a prediction of one job's.
func (g *grounds) alone(name string, o model.JobOutcome, phases []model.PhaseTime) model.Prediction {
	return model.Prediction{
		Model: name, Jobs: []model.JobOutcome{o}, Phases: phases, Warnings: g.warnings,
		Low: o.Submit + o.Low, Mean: o.Finish, High: o.Submit + o.High,
	}
}

// ariaPredictor bounds each job by ARIA. Jobs together are bounded by the
// makespan theorem: below by each alone and by the work of all their maps,
// above by all tasks in one pool after the last submission. With fifo a job
// waits for those before it only.
type ariaPredictor struct{}

func (ariaPredictor) Predict(q model.WhatIf) (model.Prediction, error) {
	g, err := groundsOf(&q)
	if err != nil {
		return model.Prediction{}, err
	}
	p := model.Prediction{Model: "aria", Warnings: g.warnings}
	fifo := q.Scheduler.Name == "" || q.Scheduler.Name == "fifo"
	if len(q.Jobs) > 1 && !fifo {
		p.Warnings = append(p.Warnings, fmt.Sprintf("the order of jobs under %s is not in the model: each may end last", q.Scheduler.Name))
	}
	var all, pool, slow AriaProfile // of the workload; of jobs that may overlap, on the fastest and the slowest nodes
	var began, end float64          // of the pool: first submission, latest end
	first := 0                      // job of the pool
	spread := func(until int) {
		if fifo {
			return
		}
		for i := first; i < until; i++ {
			o := &p.Jobs[i]
			o.High = workload.Seconds(end) - o.Submit
			o.Finish = o.Submit + (o.Low+o.High)/2
		}
	}
	for i := range q.Jobs {
		j := &q.Jobs[i]
		submit := j.Submit.Seconds()
		own, err := g.aria(&q, j)
		if err != nil {
			return model.Prediction{}, err
		}
		if submit >= end {
			spread(i)
			pool, slow, began, first = AriaProfile{}, AriaProfile{}, submit, i
		}
		near, far := farthest(&j.Maps)
		fastest, slowest := own.scaled(g.fastest), own.scaled(g.slowest)
		fastest.MapAvg, fastest.MapMax = fastest.MapAvg*near, fastest.MapMax*near
		slowest.MapAvg, slowest.MapMax = slowest.MapAvg*far, slowest.MapMax*far
		all, pool, slow = all.with(own), pool.with(fastest), slow.with(slowest)

		least, err := fastest.boundsOn(&g)
		if err != nil {
			return model.Prediction{}, fmt.Errorf("%s: %w", j.ID, err)
		}
		most, err := slow.boundsOn(&g)
		if err != nil {
			return model.Prediction{}, fmt.Errorf("%s: %w", j.ID, err)
		}
		together, err := pool.boundsOn(&g)
		if err != nil {
			return model.Prediction{}, fmt.Errorf("%s: %w", j.ID, err)
		}
		end = submit + most.Up
		o := g.job(j, &own, (least.MapLow+most.MapUp)/2, least.Low, (least.Low+most.Up)/2, most.Up)
		p.Jobs = append(p.Jobs, o)
		p.Low = max(p.Low, o.Submit+o.Low, workload.Seconds(began+together.MapLow))
		p.High = workload.Seconds(end)
	}
	spread(len(q.Jobs))
	p.Mean = (p.Low + p.High) / 2
	p.Phases = all.phases()
	return p, nil
}

// boundsOn bounds the profile on the slots; without maps there is nothing to
// wait for.
func (p AriaProfile) boundsOn(g *grounds) (AriaBounds, error) {
	if p.Maps == 0 {
		p.Maps = 1 // of no time
	}
	return p.Bounds(max(1, g.maps), max(1, g.reduces), true)
}

// with pools the tasks of another job with those of p.
func (p AriaProfile) with(o AriaProfile) AriaProfile {
	merge := func(n, m int, avg, longest *float64, a, l float64) {
		if m > 0 {
			*avg = (float64(*avg*float64(n)) + float64(a*float64(m))) / float64(n+m)
			*longest = math.Max(*longest, l)
		}
	}
	merge(p.Maps, o.Maps, &p.MapAvg, &p.MapMax, o.MapAvg, o.MapMax)
	n, m := p.Reduces, o.Reduces
	merge(n, m, &p.FirstShuffleAvg, &p.FirstShuffleMax, o.FirstShuffleAvg, o.FirstShuffleMax)
	merge(n, m, &p.ShuffleAvg, &p.ShuffleMax, o.ShuffleAvg, o.ShuffleMax)
	merge(n, m, &p.ReduceAvg, &p.ReduceMax, o.ReduceAvg, o.ReduceMax)
	p.Maps, p.Reduces = p.Maps+o.Maps, n+m
	return p
}

// wavesPredictor plays one job out in waves, task by task where their times are
// listed, by their means where they are drawn.
type wavesPredictor struct{}

func (wavesPredictor) Predict(q model.WhatIf) (model.Prediction, error) {
	j, g, err := oneJob(&q)
	if err != nil {
		return model.Prediction{}, err
	}
	if g.fastest < g.slowest {
		return model.Prediction{}, model.NotApplicable("nodes of different speed")
	}
	if q.Fidelity > model.Profile || j.Profile != nil && !j.Maps.Time.Set() {
		return model.Prediction{}, model.NotApplicable("%s: the times of its tasks are not given", j.ID)
	}
	slowstart, err := j.Conf.Float("mapred.reduce.slowstart.completed.maps", 0.05)
	if err != nil {
		return model.Prediction{}, err
	}
	p, err := g.aria(&q, j)
	if err != nil {
		return model.Prediction{}, err
	}
	p = p.scaled(g.slowest)
	mapEnd, end, err := g.waves(j, slowstart)
	if err != nil {
		return model.Prediction{}, err
	}
	return g.alone("waves", g.job(j, &p, mapEnd, end, end, end), p.phases()), nil
}

// waves ends the maps and the job, seconds.
func (g *grounds) waves(j *workload.Job, slowstart float64) (mapEnd, end float64, err error) {
	r := &j.Reduces
	times := func(d *workload.Durations, n int) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = g.slowest * expected(d, i)
		}
		return list
	}
	maps := times(&j.Maps.Time, j.Maps.Count)
	if r.Copy.Set() {
		mean := func(d *workload.Durations) float64 { m, _ := d.Expect(r.Count); return m * g.slowest }
		t, err := Waves(WaveJob{
			Maps: j.Maps.Count, Reduces: r.Count, MapSlots: g.maps, ReduceSlots: max(1, g.reduces), Map: maps,
			Shuffle: mean(&r.Copy), Sort: mean(&r.Sort), Reduce: mean(&r.Time), Slowstart: slowstart,
		})
		return t.MapEnd, t.JobEnd, err
	}
	for _, e := range greedy(maps, g.maps) {
		mapEnd = math.Max(mapEnd, e)
	}
	// A shuffle after the last map is the same for all reduces that have a slot
	// by then, so that it does not matter when they began.
	early := slowstart*float64(j.Maps.Count) <= float64(j.Maps.Count-1)
	reduces := times(&r.Shuffle, r.Count)
	if r.FirstWave.Set() && early {
		copy(reduces, times(&r.FirstWave, min(r.Count, g.reduces)))
	}
	for i := range reduces {
		reduces[i] += g.slowest * (expected(&r.Sort, i) + expected(&r.Time, i))
	}
	end = mapEnd
	for _, e := range greedy(reduces, max(1, g.reduces)) {
		end = math.Max(end, mapEnd+e)
	}
	return mapEnd, end, nil
}

// expected is the time to expect of one task, seconds.
func expected(d *workload.Durations, task int) float64 {
	base := d.All
	if len(d.Each) > 0 {
		base = d.Each[task]
	}
	switch {
	case d.Dist == nil:
		return base.Seconds()
	case len(d.Each) > 0 || d.All != 0:
		return base.Seconds() * d.Dist.Mean()
	}
	return d.Dist.Mean()
}
