package sim

import (
	"math"

	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// draws are the random streams of task times.
type draws struct {
	maps, shuffles, sorts, reduces workload.Seed
}

func newDraws(seed workload.Seed) draws {
	return draws{
		maps:     seed.Named("map time"),
		shuffles: seed.Named("shuffle time"),
		sorts:    seed.Named("sort time"),
		reduces:  seed.Named("reduce time"),
	}
}

func (jt *jobTracker) launchTime() engine.Time { return engine.At(jt.q.Cluster.Costs.Launch) }

func orOne(factor float64) float64 {
	if factor == 0 {
		return 1
	}
	return factor
}

// stretched is a task time on a node that is slower, or farther from its data,
// than normal.
func (jt *jobTracker) stretched(t engine.Time, factor float64) engine.Time {
	if factor == 1 {
		return t
	}
	grain := float64(max(jt.q.Cluster.Grain, 1))
	return engine.Time(math.Floor(float64(t)*factor/grain+0.5) * grain)
}

// plan works out an attempt's times from the moment it has its slot. Those of a
// reduce stay open until it knows all maps.
func (jt *jobTracker) plan(a *attempt) {
	costs := &jt.q.Cluster.Costs
	node := &jt.q.Cluster.Nodes[a.tracker]
	spec := a.job.spec
	index, number := int(a.task.index), int(a.number)
	a.failAt = engine.Never
	if node.FailAfter > 0 {
		a.failAt = a.begin + engine.At(node.FailAfter)
	}
	switch a.kind {
	case workload.Setup:
		jt.ends(a, a.begin+engine.At(costs.Setup))
		return
	case workload.Cleanup:
		jt.ends(a, a.begin+engine.At(costs.Cleanup))
		return
	case workload.TaskCleanup:
		a.failAt = engine.Never
		jt.ends(a, a.begin+engine.At(costs.TaskCleanup))
		return
	case workload.Map:
		if after, ok := spec.Maps.Fails.After(index, number); ok {
			a.failAt = min(a.failAt, a.begin+engine.At(after))
		}
		factor := node.Slowness
		switch a.local {
		case workload.RackLocal:
			factor *= orOne(spec.Maps.RackFactor)
		case workload.OffRack:
			factor *= orOne(spec.Maps.OffFactor)
		}
		if jt.plant != nil {
			jt.plant.runMap(a)
			return
		}
		if a.job.recipes != nil {
			jt.planPhases(a, factor)
		} else {
			d := &jt.draws
			a.work = jt.stretched(engine.At(spec.Maps.Time.At(index, d.maps.For(a.job.ID).Stream(index, number))), factor)
			if a.job.Tasks[workload.Reduce] == 0 {
				jt.setCommitApart(a)
			}
		}
		if a.job.Tasks[workload.Reduce] == 0 && !jt.release.Ideal {
			jt.commits(a, a.begin+a.work)
		} else {
			jt.ends(a, a.begin+a.work)
		}
	case workload.Reduce:
		if after, ok := spec.Reduces.Fails.After(index, number); ok {
			a.failAt = min(a.failAt, a.begin+engine.At(after))
		}
		if jt.plant != nil {
			jt.plant.runReduce(a)
			return
		}
		if a.job.recipes != nil {
			jt.planPhases(a, node.Slowness)
			jt.replan(a, engine.Never)
			return
		}
		r, d := &spec.Reduces, &jt.draws
		id := a.job.ID
		a.sort = jt.stretched(engine.At(r.Sort.At(index, d.sorts.For(id).Stream(index, number))), node.Slowness)
		a.work = jt.stretched(engine.At(r.Time.At(index, d.reduces.For(id).Stream(index, number))), node.Slowness)
		jt.setCommitApart(a)
		jt.replan(a, engine.Never)
	}
}

// setCommitApart takes off a recorded time what it has of the commit: that, and
// a wait for permission, of which the record does not tell how long it was. A
// child that has to wait asks again after a while, and so has asked that long
// before at the latest.
func (jt *jobTracker) setCommitApart(a *attempt) {
	if a.commit = 0; a.job.spec.Commits && !jt.release.Ideal {
		a.commit = min(a.work, engine.At(jt.q.Cluster.Costs.Commit)+poll)
		a.work -= a.commit
	}
}

// replan sets when a reduce's child knows all maps, and what follows from it.
func (jt *jobTracker) replan(a *attempt, known engine.Time) {
	a.known = known
	if jt.plant != nil {
		return
	}
	a.pending = engine.Never
	if known == engine.Never {
		jt.ends(a, engine.Never)
		return
	}
	a.shuffle = jt.stretched(jt.shuffleTime(a), jt.q.Cluster.Nodes[a.tracker].Slowness)
	if r := &a.job.spec.Reduces; r.FromLastMap && !r.Copy.Set() && a.job.recipes == nil {
		a.shuffle = max(0, max(a.begin, a.job.lastMap)+a.shuffle-known)
	}
	if done := known + a.shuffle + a.sort + a.work; jt.release.Ideal {
		jt.ends(a, done)
	} else {
		jt.commits(a, done)
	}
}

// shuffleTime is what a reduce still has to copy once it knows all maps.
func (jt *jobTracker) shuffleTime(a *attempt) engine.Time {
	r := &a.job.spec.Reduces
	if p, ok := a.exec.(*reduceRecipe); ok {
		return jt.leftToCopy(a, engine.At(p.alone[workload.PhaseShuffle]))
	}
	stream := jt.draws.shuffles.For(a.job.ID).Stream(int(a.task.index), int(a.number))
	if r.Copy.Set() {
		return jt.leftToCopy(a, engine.At(r.Copy.At(int(a.task.index), stream)))
	}
	if r.FirstWave.Set() && a.known > a.begin {
		return engine.At(r.FirstWave.At(int(a.task.index), stream))
	}
	return engine.At(r.Shuffle.At(int(a.task.index), stream))
}

// leftToCopy is what is left of a whole copy time. Copying has gone on since the
// start; if it kept up with the maps, the output of the last one is left.
func (jt *jobTracker) leftToCopy(a *attempt, whole engine.Time) engine.Time {
	waited := a.known - a.begin
	if waited > 0 && whole < waited {
		return jt.stretched(whole, 1/float64(max(1, a.job.Tasks[workload.Map])))
	}
	return whole - max(waited, 0)
}

// Profile is ARIA's profile of the job.
func (j *job) Profile() analytic.AriaProfile {
	if j.recipes != nil {
		return j.recipes.profile()
	}
	return analytic.GivenAria(j.spec)
}

// ends sets the end of an attempt that needs no permission.
func (jt *jobTracker) ends(a *attempt, at engine.Time) {
	a.pending = engine.Never
	a.finish, a.end, a.finishSet = at, endsWell, a.settled()
	jt.mayFail(a, at)
}

// commits sets when an attempt will ask for permission to commit. One whose
// time is recorded to the end of the commit has had to wait for it already; times
// made of work hold none.
func (jt *jobTracker) commits(a *attempt, at engine.Time) {
	if a.job.spec.Commits && a.job.recipes == nil {
		jt.ends(a, at+a.commit)
		if a.commit > 0 && a.end == endsWell {
			a.pending, a.pendingSet, a.permitted = at, a.settled(), true
		}
		return
	}
	a.pending, a.pendingSet = at, a.settled()
	a.finish, a.end = engine.Never, endsWell
	if a.failAt <= at {
		a.pending = engine.Never
	}
	jt.mayFail(a, engine.Never)
}

func (jt *jobTracker) mayFail(a *attempt, before engine.Time) {
	if a.failAt < engine.Never && a.failAt <= before {
		a.finish, a.end, a.finishSet = a.failAt, endsFailed, a.start
	}
}

// settled is when the end of an attempt's work became certain: with its start,
// or, for a reduce, when its child knew all maps.
func (a *attempt) settled() engine.Time {
	if a.kind == workload.Reduce && a.known < engine.Never {
		return a.known + 1
	}
	return a.start
}

// progressAt is what the child of an attempt reports: a map moves linearly, a
// reduce by thirds (shuffle by outputs known, sort, reduce linearly).
func (a *attempt) progressAt(t *taskTracker, now engine.Time) float32 {
	if !a.started || now <= a.begin {
		return 0
	}
	if r, ok := a.exec.(activity); ok {
		return r.progress(now)
	}
	if a.kind == workload.Map {
		return min(1, float32(float64(now-a.begin)/float64(max(a.work, 1))))
	}
	const third = float32(1) / 3
	switch {
	case now <= a.known:
		if read, waits := a.eventsRead(t, now); waits {
			return float32(float64(a.job.events.maps(read)) / float64(a.job.Tasks[workload.Map]) / 3)
		}
		return third
	case now < a.known+a.shuffle:
		return third
	case now < a.known+a.shuffle+a.sort:
		return 2 * third
	}
	into := now - a.known - a.shuffle - a.sort
	return min(1, 2*third+third*float32(float64(into)/float64(max(a.work, 1))))
}
