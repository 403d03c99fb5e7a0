package analytic

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/slotwave/slotwave/model/input"
)

// StagedJob is one job on trackers with equal slots, by the times of its tasks in
// seconds. Times adds the protocol between tasks: heartbeats, completion events,
// and commit.
type StagedJob struct {
	Maps, Reduces           int
	MapSlots, ReduceSlots   int // of all trackers
	Trackers                int
	Slowstart               float64 // share of the maps that ends before reduces start
	Before                  float64 // from submission to the launch of the first map
	Launch, LaunchSpread    float64 // from the launch of a task to the start of its body: mean and standard deviation
	Map, MapSpread          float64 // body: mean and standard deviation
	Cleanup                 float64 // body of the job clean-up task
	Commit                  float64 // of a map of a job without reduces
	Reduce                  StagedReduce
	ReduceSpread            float64 // standard deviation of a reduce
	Heartbeat, Sleep, Polls float64 // intervals: of heartbeats, of the loop that fetches outputs, of a child's polls
}

// StagedReduce is the time of a reduce, seconds.
type StagedReduce struct {
	Copies float64 // of all outputs
	Sort   float64 // from the end of the copies to the reduce function
	Rest   float64 // from the reduce function to commit pending
	Commit float64
}

// StagedTimes are instants after the submission of a job, seconds.
type StagedTimes struct{ LastMap, LastReduce, End float64 }

// Times returns the mean over the distributions of launch and map times.
func (j *StagedJob) Times() (StagedTimes, error) {
	var c input.Check
	c.Count("maps", j.Maps, 1)
	c.Count("reduces", j.Reduces, 0)
	c.Count("map slots", j.MapSlots, 1)
	c.Count("reduce slots", j.ReduceSlots, 1)
	c.Count("trackers", j.Trackers, 1)
	c.Within("slowstart", j.Slowstart, 0, 1)
	for _, v := range []struct {
		name string
		s    float64
	}{{"before", j.Before}, {"launch", j.Launch}, {"launch spread", j.LaunchSpread}, {"map", j.Map}, {"map spread", j.MapSpread}, {"cleanup", j.Cleanup}, {"commit", j.Commit}, {"reduce spread", j.ReduceSpread}, {"sleep", j.Sleep}} {
		c.AtLeast(v.name, v.s, 0)
	}
	c.Above("heartbeat", j.Heartbeat, 0)
	c.Above("polls", j.Polls, 0)
	if err := c.Err(); err != nil {
		return StagedTimes{}, err
	}
	if j.LaunchSpread == 0 && j.MapSpread == 0 {
		return j.times(j.Launch, j.Map), nil
	}
	// Quintile midpoints of the normal distribution.
	normal := []float64{-1.28, -0.52, 0, 0.52, 1.28}
	var sum StagedTimes
	for _, a := range normal {
		for _, b := range normal {
			t := j.times(math.Max(0, j.Launch+a*j.LaunchSpread), math.Max(0, j.Map+b*j.MapSpread))
			n := float64(len(normal) * len(normal))
			sum.LastMap += t.LastMap / n
			sum.LastReduce += t.LastReduce / n
			sum.End += t.End / n
		}
	}
	return sum, nil
}

// nextBeat returns the first instant of a periodic beat, which begins at an
// origin, that is not before t.
func nextBeat(t, origin, every float64) float64 {
	if every == 0 {
		return math.Max(t, origin)
	}
	return origin + math.Max(0, math.Ceil((t-origin)/every-1e-9))*every
}

// times counts from the launch of the first map, at a heartbeat.
func (j *StagedJob) times(launch, body float64) StagedTimes {
	h := j.Heartbeat
	// A heartbeat reports the end of a map and launches the next one.
	done := launch + body
	if j.Reduces == 0 {
		done = j.committed(done, 0) + j.Commit
	}
	cycle := nextBeat(done, 0, h)
	waves := math.Ceil(float64(j.Maps) / float64(j.MapSlots))
	lastEnd, reported := (waves-1)*cycle+done, waves*cycle
	if j.Reduces == 0 {
		last := j.Before + lastEnd
		return StagedTimes{LastMap: last, LastReduce: last, End: j.Before + nextBeat(reported+launch+j.Cleanup, 0, h)}
	}
	first := math.Ceil(math.Max(1, math.Ceil(j.Slowstart*float64(j.Maps))) / float64(j.MapSlots)) // wave after which reduces start

	var t StagedTimes
	perTracker := max(1, j.ReduceSlots/j.Trackers)
	free := make([]float64, min(j.Reduces, j.ReduceSlots)) // when each slot is free
	for i := range free {
		free[i] = first*cycle + h*float64(i%perTracker) // one reduce per heartbeat
	}
	fetcher := first*cycle + launch // polls for completion events, one interval after the last poll
	last := 0.0
	for i := range j.Reduces {
		slot := i % len(free)
		begin := free[slot] + launch
		// A child knows of an output when a heartbeat has reported the map, the
		// tracker has fetched the event, and the child has polled the tracker.
		known := func(reported float64) float64 { return nextBeat(nextBeat(reported, fetcher, h)+1e-6, begin, j.Polls) }
		// Fetch rounds; the first one is before anything can be known.
		look := func(known float64) float64 { return nextBeat(known, begin+j.Sleep, j.Sleep) }
		late := 0.0
		for w := 1.0; w <= waves; w++ {
			part := math.Min(float64(j.MapSlots), float64(j.Maps)-(w-1)*float64(j.MapSlots)) / float64(j.Maps)
			if look(known(w*cycle)) == look(known(reported)) {
				late += part
			}
		}
		r := j.Reduce
		at := look(known(reported))
		// The reduce waits for the thread that polls for events.
		copied := nextBeat(at+late*r.Copies, begin, j.Polls)
		pending := copied + r.Sort + r.Rest
		permitted := nextBeat(pending, 0, h)
		done := j.committed(pending, 0) + r.Commit
		free[slot] = done
		last = math.Max(last, nextBeat(done, permitted+h, h))
		t.LastReduce = math.Max(t.LastReduce, done)
	}
	// The job waits for the slot whose reduces take longest together.
	late := j.ReduceSpread * math.Sqrt(math.Ceil(float64(j.Reduces)/float64(len(free)))) * longestOf(len(free))
	last += late
	t.LastMap = j.Before + lastEnd
	t.LastReduce += j.Before + late
	t.End = j.Before + nextBeat(last+launch+j.Cleanup, last+h, h)
	return t
}

// committed returns when a task that asks for permission to commit at t sees it.
// A heartbeat fetches the permission; the child asks its tracker at each poll.
func (j *StagedJob) committed(t, origin float64) float64 {
	return nextBeat(nextBeat(t, origin, j.Heartbeat), t+j.Polls, j.Polls)
}

// longestOf returns the expected largest of n standard normal values (Blom).
func longestOf(n int) float64 {
	const a = 0.375
	return math.Max(0, distuv.UnitNormal.Quantile((float64(n)-a)/(float64(n)+1-2*a)))
}
