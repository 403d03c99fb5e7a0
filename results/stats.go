package results

import (
	"fmt"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// Tracks of the timeline are the phases of maps and of reduces, then these.
const (
	trackOther        = 2*numPhases + iota // set-up and clean-up tasks on map or shared slots
	trackOtherReduces                      // the same on reduce slots
	trackMapsWaiting
	trackReducesWaiting
	numTracks
)

// Stats sums the attempts of one run while they are recorded. It is a
// model.Recorder of fixed size, whatever the length of the run.
type Stats struct {
	slots    slots
	kinds    [numKinds]kindStats
	locality [numLocalities]int64 // map attempts
	over     *timeline
	chart    *execution // nil if it is not drawn
	rows     int64
	strays   int64 // attempts on slots that the cluster does not have
	onYARN   *OnYARN
	use      *useOfQueues // on YARN
	unequal  string       // first attempt whose phases do not add up
}

// kindStats are the totals of one kind of task.
type kindStats struct {
	attempts [numStates]int64
	time     [numStates]int64 // ns of slot time
	phases   [numPhases]int64 // ns, of all end states
	lasted   sketch           // durations of attempts that succeeded
	sums     workload.Attempt // of the figures, all states
}

// NewStats returns statistics for the attempts of one question. They can be drawn
// only if that is asked for.
func NewStats(q *model.WhatIf, drawn bool) *Stats {
	s := &Stats{slots: newSlots(q), over: newTimeline(numTracks)}
	if drawn {
		s.chart = newExecution(&s.slots, q.Jobs)
	}
	return s
}

// AddYARN enters what a run on YARN of the given length has done.
func (s *Stats) AddYARN(y *OnYARN, end time.Duration) { s.onYARN, s.use = y, y.useOver(end) }

// Attempt records an attempt that has ended. The simulator calls it.
func (s *Stats) Attempt(a *workload.Attempt) {
	s.rows++
	k := &s.kinds[a.Kind]
	d := int64(a.Finish - a.Start)
	k.attempts[a.State]++
	k.time[a.State] += d
	if a.State == workload.Succeeded {
		k.lasted.add(d)
	}
	sums := figures(&k.sums)
	for i, n := range figures(a) {
		*sums[i] += *n
	}
	s.over.reach(int64(a.Finish))
	node, section, lane := s.slots.find(a)
	switch a.Kind {
	case workload.Map:
		s.locality[a.Locality]++
		s.addPhases(a, 0)
		s.addWaiting(a, trackMapsWaiting)
	case workload.Reduce:
		s.addPhases(a, numPhases)
		s.addWaiting(a, trackReducesWaiting)
	default:
		s.addPhases(a, -1)
		if d > 0 {
			s.over.add(trackOther+section, int64(a.Start), int64(a.Finish))
		}
	}
	switch {
	case node != nil:
		node.add(a)
		s.slots.idle[section].ran(int(lane), int64(a.Start), int64(a.Finish))
		if s.chart != nil {
			s.chart.add(a, section, lane)
		}
	case d > 0: // an attempt without time ended before it got a slot
		s.strays++
	}
}

// addPhases adds an attempt's phases, one after another from its start, to the
// tracks from base on. A negative base means no tracks.
func (s *Stats) addPhases(a *workload.Attempt, base int) {
	total := &s.kinds[a.Kind].phases
	at := int64(a.Start)
	for p, d := range &a.Phases {
		if d == 0 {
			continue
		}
		total[p] += int64(d)
		end := at + int64(d)
		if end < at || end > int64(a.Finish) {
			at = -1
			break
		}
		if base >= 0 {
			s.over.add(base+p, at, end)
		}
		at = end
	}
	if at != int64(a.Finish) && s.unequal == "" {
		s.unequal = fmt.Sprintf("%s %v %d attempt %d: its phases do not add up to %v",
			text.Escape(a.Job), a.Kind, a.Task, a.Number, a.Duration())
	}
}

// addWaiting adds the time from when a task was runnable until its first
// attempt had a slot. Later attempts do not count as waiting.
func (s *Stats) addWaiting(a *workload.Attempt, track int) {
	if a.Number == 0 && a.Runnable < a.Start {
		s.over.add(track, int64(a.Runnable), int64(a.Start))
	}
}

// MeanPhases returns the mean times of the phases of maps and of reduces, over all
// attempts.
func (s *Stats) MeanPhases() (list []model.PhaseTime) {
	for _, kind := range []workload.Kind{workload.Map, workload.Reduce} {
		k, n := &s.kinds[kind], int64(0)
		for _, attempts := range k.attempts {
			n += attempts
		}
		for ph, total := range k.phases {
			if total > 0 {
				list = append(list, model.PhaseTime{Kind: kind, Phase: workload.Phase(ph), Time: time.Duration(total / n)})
			}
		}
	}
	return list
}

// slotTime returns the ns for which all attempts of a kind held their slots.
func (k *kindStats) slotTime() int64 {
	sum := int64(0)
	for _, t := range k.time {
		sum += t
	}
	return sum
}

// Check checks the sums of a run: every attempt ran on a slot of the cluster,
// its phases fill its time, the time in the bins is the time of the attempts,
// and the jobs of the prediction account for the same time.
func (s *Stats) Check(p *model.Prediction) error {
	if s.strays > 0 {
		return fmt.Errorf("the sums of the run do not agree: %d attempts ran on slots that the cluster does not have", s.strays)
	}
	if s.unequal != "" {
		return fmt.Errorf("the sums of the run do not agree: %s", s.unequal)
	}
	var jobs [2]int64
	for i := range p.Jobs {
		jobs[0] += int64(p.Jobs[i].MapTime)
		jobs[1] += int64(p.Jobs[i].ReduceTime)
	}
	for i, kind := range []workload.Kind{workload.Map, workload.Reduce} {
		want := s.kinds[kind].slotTime()
		if got := total(s.over.busy(phaseTracks(kind)...)); got != want {
			return fmt.Errorf("the sums of the run do not agree: the sum of %v slots in use over time is %d ns: want the slot time of the attempts, %d", kind, got, want)
		}
		if jobs[i] != want {
			return fmt.Errorf("the sums of the run do not agree: %v slot time is %d ns over the jobs, but %d over the attempts", kind, jobs[i], want)
		}
	}
	return nil
}

// phaseTracks returns the tracks of one kind's phases.
func phaseTracks(kind workload.Kind) []int {
	base := 0
	if kind == workload.Reduce {
		base = numPhases
	}
	tracks := make([]int, numPhases)
	for i := range tracks {
		tracks[i] = base + i
	}
	return tracks
}

func total(values []int64) int64 {
	sum := int64(0)
	for _, v := range values {
		sum += v
	}
	return sum
}

// Recorders passes each attempt to all its recorders, in order.
type Recorders []model.Recorder

// Attempt implements model.Recorder.
func (r Recorders) Attempt(a *workload.Attempt) {
	for _, to := range r {
		to.Attempt(a)
	}
}
