package workload

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"
)

const slowstartKey = "mapred.reduce.slowstart.completed.maps"

// mapEnds lists when the maps of a job ended, in order of time.
func (j *HistoryJob) mapEnds() (ends []time.Duration) {
	for _, w := range j.Of(Map) {
		if w != nil && Known(w.Finish) {
			ends = append(ends, w.Finish)
		}
	}
	slices.Sort(ends)
	return ends
}

// reducesReady returns when so many maps had ended that reduces may start
// (mapred.reduce.slowstart.completed.maps). A reduce of MRv2 is requested before.
func (j *HistoryJob) reducesReady() time.Duration {
	slowstart, err := j.Conf.Number(slowstartKey)
	ends := j.mapEnds()
	n := int(math.Ceil(slowstart * float64(max(j.Maps, len(ends)))))
	if err != nil || n == 0 || n > len(ends) {
		return UnknownTime
	}
	return ends[n-1]
}

// firstReduce returns when the first reduce of a job started.
func (j *HistoryJob) firstReduce() time.Duration {
	first := UnknownTime
	for t := range j.Of(Reduce) {
		if len(t.Attempts) == 0 {
			continue
		}
		if at := t.Attempts[0].Start; Known(at) && (!Known(first) || at < first) {
			first = at
		}
	}
	return first
}

// slowstart returns the part of the maps after which the reduces of a job started, if
// its configuration does not state it and the record shows another one than the
// default: a reduce started before, or all started after the last map although no
// other job had reduces meanwhile. Hadoop 0.18 has no such limit.
func (h *History) slowstart(j *HistoryJob, reduces *reduceTimes) (part float64, shown bool) {
	// The longest time from heartbeat to heartbeat of a small cluster, with one to spare.
	const beats = 2 * 5 * time.Second
	_, stated := h.Site.Over(j.Conf).Lookup(slowstartKey)
	ends, first, ready := j.mapEnds(), j.firstReduce(), j.reducesReady()
	if stated || len(ends) == 0 || len(ends) < j.Maps || !Known(first) || !Known(ready) {
		return 0, false
	}
	if first < ready {
		n, _ := slices.BinarySearch(ends, first)
		return float64(n) / float64(len(ends)), true
	}
	last := ends[len(ends)-1]
	return 1, first >= last && last-ready > beats && !reduces.ofOthers(j, ready, first)
}

// reduceTimes are the times of all reduce attempts of a history, in order of their
// start.
type reduceTimes struct {
	starts []time.Duration
	latest [][2]reduceEnd // up to each: the latest end, and the latest of another job
}

type reduceEnd struct {
	job *HistoryJob
	at  time.Duration
}

func (h *History) reduceTimes() *reduceTimes {
	type attempt struct {
		start time.Duration
		end   reduceEnd
	}
	var all []attempt
	for j, t := range h.Tasks() {
		for n := range t.Attempts {
			if a := &t.Attempts[n]; t.Kind == Reduce && Known(a.Start) && Known(a.Finish) {
				all = append(all, attempt{a.Start, reduceEnd{j, a.Finish}})
			}
		}
	}
	slices.SortFunc(all, func(a, b attempt) int { return cmp.Compare(a.start, b.start) })
	var t reduceTimes
	var latest [2]reduceEnd
	for _, a := range all {
		switch first := &latest[0]; {
		case first.job == a.end.job:
			first.at = max(first.at, a.end.at)
		case first.job == nil || a.end.at > first.at:
			latest[1], latest[0] = latest[0], a.end
		case latest[1].job == nil || a.end.at > latest[1].at:
			latest[1] = a.end
		}
		t.starts, t.latest = append(t.starts, a.start), append(t.latest, latest)
	}
	return &t
}

// ofOthers reports whether a reduce of another job ran in a span of time.
func (t *reduceTimes) ofOthers(but *HistoryJob, from, to time.Duration) bool {
	n, _ := slices.BinarySearch(t.starts, to)
	if n == 0 {
		return false
	}
	return slices.ContainsFunc(t.latest[n-1][:], func(e reduceEnd) bool { return e.job != nil && e.job != but && e.at > from })
}

// showSlowstart gives a job the slowstart that its record shows.
func (h *History) showSlowstart(recorded *HistoryJob, reduces *reduceTimes, j *Job, r *Replay) {
	part, shown := h.slowstart(recorded, reduces)
	if !shown {
		return
	}
	var conf Conf
	value := strconv.FormatFloat(part, 'g', 4, 64)
	conf.Set(slowstartKey, value)
	j.Conf = j.Conf.Over(conf)
	r.Assumed = append(r.Assumed, j.ID+": "+slowstartKey+" = "+value+", as its first reduce shows")
}
