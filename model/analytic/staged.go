package analytic

import (
	"math"

	"github.com/slotwave/slotwave/model/input"
)

// StagedJob is one job by the times of its tasks alone, seconds, on trackers that
// all have the same slots. What passes between the tasks is Hadoop's protocol
// (sections 1.7, 11.2, 11.3 and 14.3 of its behaviour, as the simulator has it).
type StagedJob struct {
	Maps, Reduces           int
	MapSlots, ReduceSlots   int // of all trackers
	Trackers                int
	Slowstart               float64 // part of the maps that ends before reduces begin
	Before                  float64 // from submission to the launch of the first map
	Launch, LaunchSpread    float64 // from the launch of a task to the begin of its body, and its standard deviation
	Map, MapSpread          float64 // body
	Cleanup                 float64 // body of the job's clean-up
	Reduce                  func(beside float64) StagedReduce
	Heartbeat, Sleep, Polls float64 // interval; of the loop that looks for outputs; of a child that asks
}

// StagedReduce are what a reduce takes, seconds, when so much of its copying goes on
// beside maps.
type StagedReduce struct {
	Copies float64 // of all outputs
	Sort   float64 // from the end of the copies to the reduce function
	Rest   float64 // up to the wish to commit
	Commit float64
}

// StagedTimes are instants after the submission of a job, seconds, and
// Beside the part of the copies that goes on beside maps.
type StagedTimes struct {
	LastMap, LastReduce, End float64
	Beside                   float64
}

// Times is the mean over what scatters: the launches and the maps.
func (j *StagedJob) Times() (StagedTimes, error) {
	var c input.Check
	c.Count("maps", j.Maps, 1)
	c.Count("reduces", j.Reduces, 1)
	c.Count("map slots", j.MapSlots, 1)
	c.Count("reduce slots", j.ReduceSlots, 1)
	c.Count("trackers", j.Trackers, 1)
	c.Within("slowstart", j.Slowstart, 0, 1)
	for _, v := range []struct {
		name string
		s    float64
	}{{"before", j.Before}, {"launch", j.Launch}, {"launch spread", j.LaunchSpread}, {"map", j.Map}, {"map spread", j.MapSpread}, {"cleanup", j.Cleanup}, {"sleep", j.Sleep}} {
		c.AtLeast(v.name, v.s, 0)
	}
	c.Above("heartbeat", j.Heartbeat, 0)
	c.Above("polls", j.Polls, 0)
	if err := c.Err(); err != nil {
		return StagedTimes{}, err
	}
	// Midpoints of equal parts of a normal distribution.
	normal := []float64{-1.28, -0.52, 0, 0.52, 1.28}
	var sum StagedTimes
	for _, a := range normal {
		for _, b := range normal {
			t := j.times(math.Max(0, j.Launch+a*j.LaunchSpread), math.Max(0, j.Map+b*j.MapSpread))
			n := float64(len(normal) * len(normal))
			sum.LastMap += t.LastMap / n
			sum.LastReduce += t.LastReduce / n
			sum.End += t.End / n
			sum.Beside += t.Beside / n
		}
	}
	return sum, nil
}

// upTo is the first instant of a beat from an origin on that is not before t.
func nextBeat(t, origin, every float64) float64 {
	if every == 0 {
		return math.Max(t, origin)
	}
	return origin + math.Max(0, math.Ceil((t-origin)/every-1e-9))*every
}

// times counts from the launch of the first map, at a heartbeat.
func (j *StagedJob) times(launch, body float64) StagedTimes {
	h := j.Heartbeat
	// The end of a map is told at a heartbeat, and the next one launched by it.
	cycle := nextBeat(launch+body, 0, h)
	waves := math.Ceil(float64(j.Maps) / float64(j.MapSlots))
	lastEnd, told := (waves-1)*cycle+launch+body, waves*cycle
	first := math.Ceil(math.Max(1, math.Ceil(j.Slowstart*float64(j.Maps))) / float64(j.MapSlots)) // wave after which reduces begin
	busy := math.Min(1, (launch+body)/cycle)

	var t StagedTimes
	perTracker := max(1, j.ReduceSlots/j.Trackers)
	free := make([]float64, min(j.Reduces, j.ReduceSlots)) // when the slots are
	for i := range free {
		free[i] = first*cycle + h*float64(i%perTracker) // one at a heartbeat
	}
	fetcher := first*cycle + launch // asks for events an interval after it did
	last := 0.0
	for i := range j.Reduces {
		slot := i % len(free)
		begin := free[slot] + launch
		// What a child knows when: told at a heartbeat, fetched in a round of its
		// tracker, and seen when the child asks next.
		known := func(told float64) float64 { return nextBeat(nextBeat(told, fetcher, h)+1e-6, begin, j.Polls) }
		// Looks, the first one before anything can be known.
		look := func(known float64) float64 { return nextBeat(known, begin+j.Sleep, j.Sleep) }
		early, late := 0.0, 0.0
		for w := 1.0; w <= waves; w++ {
			part := math.Min(float64(j.MapSlots), float64(j.Maps)-(w-1)*float64(j.MapSlots)) / float64(j.Maps)
			at := look(known(w * cycle))
			if at < lastEnd {
				early += part * busy
			}
			if at == look(known(told)) {
				late += part
			}
		}
		r := j.Reduce(early)
		at := look(known(told))
		// The thread that asks for events is waited for.
		copied := nextBeat(at+late*r.Copies, begin, j.Polls)
		pending := copied + r.Sort + r.Rest
		permitted := nextBeat(pending, 0, h)
		done := nextBeat(permitted, pending+j.Polls, j.Polls) + r.Commit
		free[slot] = done
		last = math.Max(last, nextBeat(done, permitted+h, h))
		t.LastReduce = math.Max(t.LastReduce, done)
		t.Beside += early / float64(j.Reduces)
	}
	t.LastMap = j.Before + lastEnd
	t.LastReduce += j.Before
	t.End = j.Before + nextBeat(last+launch+j.Cleanup, last+h, h)
	return t
}
