package workload

import (
	"cmp"
	"math"
	"time"
)

// rescale converts recorded times to those on another cluster. The time of a
// map is first converted to that of a node-local one: it is divided by the
// slowdown of the job's maps at its distance from the input. At its new
// distance it is multiplied by the slowdown there. A reduce copies its recorded
// bytes as the reduces did that had no maps to wait for. If bytes are not recorded,
// its shuffle is drawn from the job's first and typical ones. Reduce phases are
// drawn from those of the job. All times but the fixed part of a copy grow with the
// data.
func (j *Job) rescale(h *HistoryJob, o *ReplayOptions) {
	grow := cmp.Or(o.Bytes, 1)
	m := &j.Maps
	far := farness(h, m.Time.Each)
	task := 0
	for i := range h.Tasks {
		if t := &h.Tasks[i]; t.Kind == Map {
			if w := t.Winner(); w != nil {
				m.Time.Each[task] = Seconds(m.Time.Each[task].Seconds() * grow / far[w.Locality])
			}
			task++
		}
	}
	m.RackFactor, m.OffFactor = far[RackLocal], far[OffRack]

	r := &j.Reduces
	if r.Count == 0 {
		return
	}
	p := extractProfile(h)
	if p.ReduceTime.N > 0 {
		r.Time = p.ReduceTime.Durations(o.Commit, grow)
	}
	if p.FirstShuffle.N+p.TypicalShuffle.N == 0 {
		return
	}
	if bytes := shuffled(h); bytes != nil && !math.IsNaN(p.Cost.ShufflePerByte) {
		r.Shuffle, r.Copy = Durations{}, Durations{}
		fixed, perByte := copying(h, p.Cost.ShufflePerByte/1e9)
		for i, b := range bytes {
			r.Copy.Each = append(r.Copy.Each, Seconds(fixed+float64(b)*perByte*grow))
			r.Sort.Each[i] = Seconds(r.Sort.Each[i].Seconds() * grow)
		}
		return
	}
	r.FirstWave, r.Shuffle, r.Sort = p.FirstShuffle.Durations(0, grow), p.TypicalShuffle.Durations(0, grow), Durations{}
}

// copying divides the time in which a reduce copies into a fixed part and one per
// byte, in seconds. A few bytes take as long as none, so the mean time per byte of
// reduces that had no maps to wait for, if they fetched little, does not hold for
// the others: the bytes of each that fetched more took no longer than its shuffle.
func copying(h *HistoryJob, perByte float64) (fixed, each float64) {
	type fetch struct {
		took    float64
		bytes   int64
		typical bool // without maps to wait for
	}
	var all []fetch
	var most int64 // bytes of typical ones
	last := h.LastMap()
	for i := range h.Tasks {
		t := &h.Tasks[i]
		if w := t.Winner(); t.Kind == Reduce && w != nil && Known(w.Phases[PhaseShuffle]) && Known(w.Start) {
			c := fetch{w.Phases[PhaseShuffle].Seconds(), w.ShuffleBytes, w.Start >= last}
			if all = append(all, c); c.typical {
				most = max(most, c.bytes)
			}
		}
	}
	each = perByte
	for _, c := range all {
		if c.bytes > most {
			each = min(each, c.took/float64(c.bytes))
		}
	}
	if each == perByte {
		return 0, each
	}
	n := 0
	for _, c := range all {
		if c.typical {
			fixed, n = fixed+max(0, c.took-each*float64(c.bytes)), n+1
		}
	}
	return fixed / float64(max(1, n)), each
}

// farness returns the mean slowdown of maps at each distance relative to
// node-local ones; 1 if the job lacks either.
func farness(h *HistoryJob, times []time.Duration) [NumLocalities]float64 {
	var sum, n, far [NumLocalities]float64
	task := 0
	for i := range h.Tasks {
		if t := &h.Tasks[i]; t.Kind == Map {
			if w := t.Winner(); w != nil {
				sum[w.Locality] += times[task].Seconds()
				n[w.Locality]++
			}
			task++
		}
	}
	for l := range far {
		far[l] = 1
		if local := sum[NodeLocal] / n[NodeLocal]; (l == int(RackLocal) || l == int(OffRack)) && n[l] > 0 && local > 0 {
			far[l] = max(1, sum[l]/n[l]/local)
		}
	}
	return far
}

// shuffled returns the bytes that each reduce fetched, or nil if they are not
// recorded for all.
func shuffled(h *HistoryJob) (bytes []int64) {
	for i := range h.Tasks {
		if t := &h.Tasks[i]; t.Kind == Reduce {
			w := t.Winner()
			if w == nil || w.ShuffleBytes == Unknown {
				return nil
			}
			bytes = append(bytes, w.ShuffleBytes)
		}
	}
	return bytes
}

// Durations draws times from the sample, minus a constant part and times a
// factor. An empty sample sets nothing.
func (s Sample) Durations(less time.Duration, factor float64) Durations {
	if s.N == 0 {
		return Durations{}
	}
	law := make(empirical, len(s.Quantiles))
	for i, q := range s.Quantiles {
		law[i] = max(0, q-less.Seconds()) * factor
	}
	return Durations{Dist: &Dist{Name: "empirical", law: law, mean: law.mean()}}
}
