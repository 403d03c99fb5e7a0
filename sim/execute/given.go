package execute

import (
	"math"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// alone is an execution in which attempts do not slow each other down. The time
// of a map is known when it starts, the time of a reduce when it knows all
// maps.
type alone struct {
	common
	times times
}

// times are where an execution has the times of tasks from.
type times interface {
	// shuffleTime returns what a reduce still has to copy once it knows all
	// maps.
	shuffleTime(a *Attempt) engine.Time
	// worked sets what follows when all work of an attempt but the commit is
	// done.
	worked(a *Attempt, at engine.Time)
}

// factor returns the factor on the time of an attempt.
func (x *alone) factor(a *Attempt) float64 {
	factor := x.slowness[a.Node]
	if a.Kind == workload.Map {
		switch maps := &a.Job.Spec.Maps; a.Locality {
		case workload.RackLocal:
			factor *= orOne(maps.RackFactor)
		case workload.OffRack:
			factor *= orOne(maps.OffFactor)
		}
	}
	return factor
}

func orOne(factor float64) float64 {
	if factor == 0 {
		return 1
	}
	return factor
}

// stretched returns a task time on a node that is slower, or farther from its
// data, than normal.
func (x *alone) stretched(t engine.Time, factor float64) engine.Time {
	if factor == 1 {
		return t
	}
	grain := float64(max(x.cluster.Grain, 1))
	return engine.Time(math.Floor(float64(t)/grain*factor+0.5) * grain) // halves of a grain are exact
}

// start sets what follows from the work of an attempt that has its slot.
func (x *alone) start(a *Attempt) {
	switch {
	case a.Kind == workload.Reduce:
		x.known(a, engine.Never)
		x.events.join(a)
	case a.Job.Spec.Reduces.Count == 0:
		x.times.worked(a, x.untilKilled(a, a.Begin+a.work))
	default:
		a.endAt(x.untilKilled(a, a.Begin+a.work))
	}
}

// untilKilled returns when the work of an attempt is done. One that is to be killed
// has more work than its task, up to the heartbeat that kills it, unless it is
// killed when it asks to commit. A record does not show whether it asked; one that
// was killed had no permission.
func (x *alone) untilKilled(a *Attempt, done engine.Time) engine.Time {
	asked := a.KillAt
	if x.protocol.Commit && !a.Job.Spec.Commits && (a.Kind == workload.Reduce || a.Job.Spec.Reduces.Count == 0) {
		asked -= x.host.CommitWait(a.Node)
	}
	if a.KillAt == engine.Never || done >= asked {
		return done
	}
	return a.KillAt + x.host.CommitWait(a.Node) + Poll
}

// known implements reducer.
func (x *alone) known(a *Attempt, at engine.Time) {
	a.Known = at
	a.Pending = engine.Never
	if at == engine.Never {
		a.endAt(engine.Never)
		return
	}
	a.shuffle = x.times.shuffleTime(a)
	x.times.worked(a, x.untilKilled(a, at+a.shuffle+a.sort+a.work))
}

// leftToCopy returns the part of a whole copy time that is still ahead. A
// reduce copies from its start on. If it kept up with the maps, only the output
// of the last map is left.
func (x *alone) leftToCopy(a *Attempt, whole engine.Time) engine.Time {
	waited := a.Known - a.Begin
	if waited > 0 && whole < waited {
		return x.stretched(whole, 1/float64(max(1, a.Job.maps())))
	}
	return whole - max(waited, 0)
}

// Progress implements Execution: a map progresses linearly. A reduce progresses
// by thirds: the shuffle by known outputs, the sort and the reduce phase
// linearly. One that asks its master progresses linearly from the end of its first
// third on.
func (x *alone) Progress(a *Attempt, now engine.Time) float32 {
	if a.Kind == workload.Map {
		return a.MapProgress(now)
	}
	if now <= a.Begin {
		return 0
	}
	const third = float32(1) / 3
	switch {
	case now <= a.Known:
		if read, waits := x.events.read(a, now); waits {
			return float32(float64(a.Job.Events.maps(read)) / float64(a.Job.maps()) / 3)
		}
		return third
	case x.protocol.Master:
		rest := a.shuffle + a.sort + a.work
		return min(1, float32((1+2*float64(now-a.Known)/float64(max(rest, 1)))/3))
	case now < a.Known+a.shuffle:
		return third
	case now < a.Known+a.shuffle+a.sort:
		return 2 * third
	}
	into := now - a.Known - a.shuffle - a.sort
	return min(1, 2*third+third*float32(float64(into)/float64(max(a.work, 1))))
}

// given executes attempts by recorded or drawn times (fidelities replay and
// profile).
type given struct {
	alone
	maps, shuffles, sorts, reduces workload.Seed
}

func newGiven(c common) *given {
	g := &given{
		alone:    alone{common: c},
		maps:     c.question.Draws(model.DrawMapTime),
		shuffles: c.question.Draws(model.DrawShuffleTime),
		sorts:    c.question.Draws(model.DrawSortTime),
		reduces:  c.question.Draws(model.DrawReduceTime),
	}
	g.times = g
	g.events = newMapEvents(&g.common, g)
	return g
}

// NewJob implements Execution.
func (g *given) NewJob(id int, spec *workload.Job) (*Job, error) {
	return &Job{ID: id, Spec: spec}, nil
}

// Profile implements Execution.
func (g *given) Profile(j *Job) analytic.AriaProfile { return analytic.GivenAria(j.Spec) }

// Start implements Execution.
func (g *given) Start(a *Attempt) {
	if !g.begin(a) {
		return
	}
	factor, spec := g.factor(a), a.Job.Spec
	if a.Kind == workload.Map {
		d := &spec.Maps.Time
		if a.Number > 0 && spec.Maps.Retry.Set() {
			d = &spec.Maps.Retry
		}
		a.work = g.stretched(g.draw(d, g.maps, a), factor)
	} else {
		a.sort = g.stretched(g.draw(&spec.Reduces.Sort, g.sorts, a), factor)
		a.work = g.stretched(g.draw(&spec.Reduces.Time, g.reduces, a), factor)
	}
	g.setCommitApart(a)
	g.start(a)
}

// draw draws a time of an attempt from a distribution.
func (g *given) draw(d *workload.Durations, seed workload.Seed, a *Attempt) engine.Time {
	index := int(a.Task)
	return engine.At(d.At(index, seed.For(a.Job.ID).Stream(index, int(a.Number))))
}

// setCommitApart splits a recorded time into the work and the commit. The
// commit part includes a wait for permission, whose length is not recorded. A
// child that waits asks again after an interval, so its first request was at
// least that long before its end.
func (g *given) setCommitApart(a *Attempt) {
	spec := a.Job.Spec
	if !g.protocol.Commit || !spec.Commits || a.Kind == workload.Map && spec.Reduces.Count > 0 {
		return
	}
	a.commit = min(a.work, engine.At(g.cluster.Costs.Commit)+Poll)
	a.work -= a.commit
}

// worked implements times. An attempt whose time is recorded to the end of the
// commit has already waited for the permission.
func (g *given) worked(a *Attempt, at engine.Time) {
	if !g.protocol.Commit || !a.Job.Spec.Commits {
		g.common.worked(a, at)
		return
	}
	a.endAt(at + a.commit)
	if a.commit > 0 && a.End == Success {
		a.Pending, a.Permitted = at, true
	}
}

// shuffleTime implements times.
func (g *given) shuffleTime(a *Attempt) engine.Time {
	r, shuffle := &a.Job.Spec.Reduces, engine.Time(0)
	switch {
	case r.Copy.Set():
		whole := g.draw(&r.Copy, g.shuffles, a)
		if whole < a.Known-a.Begin { // it keeps up with the maps
			whole = max(0, whole-engine.At(r.Idle(0, 0)))
			shuffle = engine.At(r.Idle(time.Duration(a.Begin), time.Duration(a.Known)))
		}
		shuffle += g.leftToCopy(a, whole)
	case r.FirstWave.Set() && a.Known > a.Begin:
		shuffle = g.draw(&r.FirstWave, g.shuffles, a)
	default:
		shuffle = g.draw(&r.Shuffle, g.shuffles, a)
	}
	shuffle = g.stretched(shuffle, g.slowness[a.Node])
	if r.FromLastMap && !r.Copy.Set() {
		shuffle = max(0, max(a.Begin, a.Job.LastMap)+shuffle-a.Known)
	}
	return shuffle
}

// Close implements Execution.
func (g *given) Close(a *Attempt, row *workload.Attempt) {
	if row == nil {
		return
	}
	p := startup(a, row)
	switch a.Kind {
	case workload.Map:
		p.until(workload.PhaseMap, min(a.Begin+a.work, a.Pending))
	case workload.Reduce:
		p.shuffle(a)
		p.until(workload.PhaseReduce, a.Pending)
	}
	p.rest(a)
}
