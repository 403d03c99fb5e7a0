package workload

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Now returns the last recorded instant of a history.
func (h *History) Now() (now time.Duration) {
	for i := range h.Jobs {
		now = max(now, h.Jobs[i].last())
	}
	return now
}

// last returns the last time that is recorded of a job.
func (j *HistoryJob) last() time.Duration {
	last := max(j.Submit, j.Launch, j.Finish)
	for _, a := range j.Each() {
		last = max(last, a.Start, a.Finish)
	}
	return last
}

// Ended counts the maps and the reduces of which an attempt succeeded.
func (j *HistoryJob) Ended() (n [2]int) {
	for i := range j.Tasks {
		if t := &j.Tasks[i]; t.Kind <= Reduce && t.Winner() != nil {
			n[t.Kind]++
		}
	}
	return n
}

// A Continuation lets jobs whose record ends before they do run on: a task that has not
// ended takes the time of one that has.
type Continuation struct {
	ended map[string]*endedTasks // by the name of their jobs
	ratio []float64              // time of the reduces of a job that ended over what is expected of them
}

// endedTasks are the times of tasks, by kind.
type endedTasks [2][]taskTime

// taskTime is the time of a reduce: of its shuffle after the last map, its sort and its
// reduce phase; of a map it is the last of these.
type taskTime [3]time.Duration

func (t taskTime) whole() time.Duration { return t[0] + t[1] + t[2] }

// tasksOf returns the tasks of a kind, in the order in which a replay has them, and the
// attempts that ended them, nil for others.
func (j *HistoryJob) tasksOf(kind Kind) (tasks []*HistoryTask, winners []*HistoryAttempt) {
	for t, w := range j.Of(kind) {
		tasks, winners = append(tasks, t), append(winners, w)
	}
	return tasks, winners
}

// NewContinuation takes the times of tasks from the replay of a history.
func NewContinuation(h *History, jobs []Job) *Continuation {
	c := &Continuation{ended: map[string]*endedTasks{}}
	for i := range jobs {
		j, record := &jobs[i], h.job(jobs[i].ID)
		if record == nil {
			continue
		}
		own := c.ended[record.Name]
		if own == nil {
			own = &endedTasks{}
			c.ended[record.Name] = own
		}
		var maps, reduces time.Duration
		_, winners := record.tasksOf(Map)
		for k, w := range winners {
			if w != nil && k < len(j.Maps.Time.Each) {
				own[Map] = append(own[Map], taskTime{2: j.Maps.Time.Each[k]})
				maps += j.Maps.Time.Each[k]
			}
		}
		_, winners = record.tasksOf(Reduce)
		for k, w := range winners {
			if d := &j.Reduces; w != nil && k < len(d.Time.Each) {
				took := taskTime{d.Shuffle.Each[k], d.Sort.Each[k], d.Time.Each[k]}
				own[Reduce] = append(own[Reduce], took)
				reduces += took.whole()
			}
		}
		if record.Outcome == Succeeded && maps > 0 && reduces > 0 {
			n := len(winners)
			c.ratio = append(c.ratio, reduces.Seconds()/float64(n)/record.reduceTime(maps, n))
		}
	}
	return c
}

// ReplayedAs returns the ID that a job has in a replay, if no other job has it.
func (j *HistoryJob) ReplayedAs() string { return j.Conf.String(OriginalID, j.ID) }

// job returns a job by its ID in a replay, nil if there is none.
func (h *History) job(id string) *HistoryJob {
	for i := range h.Jobs {
		if h.Jobs[i].ReplayedAs() == id {
			return &h.Jobs[i]
		}
	}
	return nil
}

// reduceTime is what a reduce is expected to take after the last map, in seconds, where
// nothing is known of it: a start, and its part of the map output at an ordinary rate.
// Where no bytes are counted it is a part of the time of the maps.
func (h *HistoryJob) reduceTime(maps time.Duration, n int) float64 {
	const fixed, rate, ofMaps = 5, 8e6, 0.6
	bytes, known := int64(0), 0
	_, winners := h.tasksOf(Map)
	for _, w := range winners {
		if w == nil {
			continue
		}
		stored := w.Counters.MaterializedBytes
		if stored < 0 {
			stored = w.Counters.LocalWriteBytes
		}
		if stored >= 0 {
			bytes, known = bytes+stored, known+1
		}
	}
	if known == 0 {
		return max(1, ofMaps*maps.Seconds()/float64(n))
	}
	all := float64(bytes) * float64(max(known, h.Maps)) / float64(known)
	return fixed + all/rate/float64(n)
}

// KnowsReduces reports whether reduces of jobs with the name of a job have ended. Those of
// others take 0.35 to 6.5 times as long as expected.
func (c *Continuation) KnowsReduces(h *HistoryJob) bool {
	own := c.ended[h.Name]
	return h.Reduces == 0 || own != nil && len(own[Reduce]) > 0
}

// Continue replaces a job that runs now. It fails if no map of such a job has ended, or
// none is recorded.
func (c *Continuation) Continue(j Job, h *HistoryJob, now time.Duration, r *rand.Rand) (Job, error) {
	ended := c.ended[h.Name]
	if maps := max(j.Maps.Count, h.Maps); ended == nil || len(ended[Map]) == 0 && maps > 0 || maps <= 0 && h.Maps < 0 {
		return j, errors.New("no map of it has ended")
	}
	late := 0.3 * r.ExpFloat64() // of tasks that have run longer than all that ended
	j.Ends = AttemptEnd{}
	j.DropAttemptEnds()
	m := j.Maps
	m.Shares = nil
	tasks, winners := h.tasksOf(Map)
	splits := m.Splits
	m.Time.Each, m.Splits, m.Localise.Each = append([]time.Duration(nil), m.Time.Each...), append([]Split(nil), splits...), append([]time.Duration(nil), m.Localise.Each...)
	for k := range max(m.Count, h.Maps) {
		if k < len(winners) && winners[k] != nil {
			continue
		}
		ran := time.Duration(0)
		if k < len(tasks) {
			ran = tasks[k].ran(0, now)
		}
		took := longerThan(ran, ended[Map], late, r)[2]
		if k < len(m.Time.Each) {
			m.Time.Each[k] = took
			continue
		}
		m.Count, m.Time.Each = m.Count+1, append(m.Time.Each, took)
		if len(splits) > 0 {
			m.Splits = append(m.Splits, Split{Bytes: splits[r.IntN(len(splits))].Bytes})
			m.InputBytes += m.Splits[m.Count-1].Bytes
		}
		if len(m.Localise.Each) > 0 {
			m.Localise.Each = append(m.Localise.Each, 0)
		}
	}
	j.Maps = m
	if max(j.Reduces.Count, h.Reduces) <= 0 {
		return j, nil
	}
	j.Reduces = c.reduces(&j, h, ended[Reduce], now, late, r)
	return j, nil
}

// ran returns for how long an attempt of a task has run, or since an instant.
func (t *HistoryTask) ran(since, now time.Duration) (ran time.Duration) {
	for i := range t.Attempts {
		if a := &t.Attempts[i]; a.State == Running && Known(a.Start) {
			ran = max(ran, now-max(a.Start, since))
		}
	}
	return ran
}

// longerThan draws a time among those longer than a task has run. If none is, the task is
// late and takes a part longer.
func longerThan(ran time.Duration, times []taskTime, late float64, r *rand.Rand) taskTime {
	var longer []taskTime
	for _, t := range times {
		if t.whole() > ran || ran == 0 {
			longer = append(longer, t)
		}
	}
	if len(longer) == 0 {
		t := times[r.IntN(len(times))]
		t[2] += ran - t.whole() + Seconds(late*ran.Seconds())
		return t
	}
	return longer[r.IntN(len(longer))]
}

// reduces continues the reduces of a job.
func (c *Continuation) reduces(j *Job, h *HistoryJob, ended []taskTime, now time.Duration, late float64, r *rand.Rand) ReduceTasks {
	d := j.Reduces
	tasks, winners := h.tasksOf(Reduce)
	n := max(d.Count, h.Reduces)
	since, mapsRun := h.LastMap(), h.Ended()[Map] < h.Maps
	ran := make([]time.Duration, n)
	for k := range min(n, len(tasks)) {
		if !mapsRun {
			ran[k] = tasks[k].ran(since, now)
		}
	}
	if len(ended) == 0 {
		var maps time.Duration
		for _, took := range j.Maps.Time.Each {
			maps += took
		}
		expected := h.reduceTime(maps, n)
		const least, most = 0.35, 6.5 // most of 90 simulated jobs lie between
		from := max(least, slices.Max(ran).Seconds()/expected)
		ratio := from * math.Pow(max(4, most/from), r.Float64())
		if len(c.ratio) > 0 {
			ratio = max(from, c.ratio[r.IntN(len(c.ratio))])
		}
		ended = []taskTime{{2: Seconds(expected * ratio)}}
	}
	d.Shares, d.FromLastMap, d.Copy, d.FirstWave = nil, true, Durations{}, Durations{}
	d.Localise = Durations{}
	var shuffle, sort, reduce []time.Duration
	for k := range n {
		own := longerThan(ran[k], ended, late, r)
		if k < len(winners) && winners[k] != nil && k < len(d.Time.Each) {
			own = taskTime{d.Shuffle.Each[k], d.Sort.Each[k], d.Time.Each[k]}
		}
		shuffle, sort, reduce = append(shuffle, own[0]), append(sort, own[1]), append(reduce, own[2])
	}
	d.Count, d.Shuffle, d.Sort, d.Time = n, Durations{Each: shuffle}, Durations{Each: sort}, Durations{Each: reduce}
	return d
}
