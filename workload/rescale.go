package workload

import (
	"cmp"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// rescale converts recorded times to those on another cluster. The time of a
// map is first converted to that of a node-local one: it is divided by the
// slowdown of the job's maps at its distance from the input. At its new
// distance it is multiplied by the slowdown there. A reduce copies its recorded
// bytes as the reduces did that had no maps to wait for. If that is not recorded, it
// keeps its own shuffle, the whole of it if the longest one was behind with the maps from
// its start on; one that waits for maps here and did not there, or the other way round,
// takes the mean of the others. Sorts and reduce phases are its own. All of these but the
// fixed part of a copy and of a reduce phase, which is at least what the protocol lets
// them wait, grow with the data; maps become more (MapTasks.grow). A reduce without a winner takes the means; rescale returns how many did.
func (j *Job) rescale(h *HistoryJob, winners [2][]*HistoryAttempt, o *ReplayOptions) (estimated int) {
	grow := cmp.Or(o.Bytes, 1)
	m := &j.Maps
	far := farness(winners[Map], m.Time.Each)
	var ends []time.Duration // of maps
	for i, w := range winners[Map] {
		if w != nil {
			m.Time.Each[i] = Seconds(m.Time.Each[i].Seconds() / far[w.Locality])
			ends = append(ends, w.Finish)
		}
	}
	m.RackFactor, m.OffFactor = far[RackLocal], far[OffRack]
	o.draw(h, Map, m.Time.Each, winners[Map], func(w *HistoryAttempt) int64 { return max(0, w.HDFSReadBytes, w.InBytes) })

	r := &j.Reduces
	if r.Count == 0 {
		return 0
	}
	p, fixed, last := extractProfile(h), fixedReduce(h), h.LastMap()
	late := time.Duration(0) // a reduce that keeps up with the maps may know all and wake to fetch so long after them
	if o.Heartbeat > 0 {
		late = 2*o.Heartbeat + time.Second + o.FetchSleep
		if j.Commits { // waits for half a heartbeat, and until it asks its tracker again
			fixed = max(fixed, (o.Heartbeat/2 + time.Second).Seconds())
		}
	}
	r.FetchSleep = o.FetchSleep
	var shuffles [2][]float64 // of reduces that had no maps to wait for, and of others
	slices.Sort(ends)
	var copied Durations
	longest, longestBehind := time.Duration(-1), false // of the shuffles after the last map
	for i, w := range winners[Reduce] {
		if w == nil && p.ReduceTime.N > 0 {
			r.Sort.Each[i], r.Time.Each[i] = Seconds(p.SortTime.Mean), Seconds(max(0, p.ReduceTime.Mean-o.Commit.Seconds()))
			estimated++
		}
		all := r.Time.Each[i].Seconds()
		r.Time.Each[i] = Seconds(all + max(0, all-fixed)*(grow-1))
		r.Sort.Each[i] = Seconds(grow * r.Sort.Each[i].Seconds())
		if w == nil {
			r.Shuffle.Each[i] = Seconds(grow * r.Shuffle.Each[i].Seconds())
			continue
		}
		tail := r.Shuffle.Each[i]
		r.Shuffle.Each[i] = tail + Seconds(max(0, tail-r.Idle(w.Start+max(0, w.Phases[PhaseStartup]), last)).Seconds()*(grow-1))
		of := &shuffles[waits(w, last)]
		*of = append(*of, r.Shuffle.Each[i].Seconds())
		took, behind := w.copied(ends)
		copied.Each = append(copied.Each, Seconds(grow*took))
		if r.Shuffle.Each[i] > longest {
			longest, longestBehind = r.Shuffle.Each[i], behind && tail > late
		}
	}
	o.draw(h, Reduce, r.Time.Each, winners[Reduce], func(w *HistoryAttempt) int64 { return max(0, w.ShuffleBytes) })
	switch bytes := shuffled(winners[Reduce]); {
	case bytes != nil && !math.IsNaN(p.Cost.ShufflePerByte):
		r.Shuffle = Durations{}
		fixed, perByte := copying(h, p.Cost.ShufflePerByte/1e9, r.Idle(0, 0).Seconds())
		for _, b := range bytes {
			r.Copy.Each = append(r.Copy.Each, Seconds(fixed+float64(b)*perByte*grow))
		}
		return estimated
	case longestBehind && len(shuffles[1]) == r.Count:
		r.Shuffle, r.Copy = Durations{}, copied
		return estimated
	}
	own := r.Shuffle.Each
	r.Shuffle, r.FirstWave = Durations{}, Durations{}
	for k, to := range []*Durations{&r.Shuffle, &r.FirstWave} {
		for i, w := range winners[Reduce] {
			took := own[i]
			if len(shuffles[k]) > 0 && (w == nil || waits(w, last) != k) {
				took = Seconds(stat.Mean(shuffles[k], nil))
			}
			to.Each = append(to.Each, took)
		}
	}
	return estimated
}

// draw gives each task of a job the part of its time that its bytes do not explain from a
// task of the same kind, with replacement. The times of all are expected to sum to the
// recorded ones.
func (o *ReplayOptions) draw(h *HistoryJob, kind Kind, times []time.Duration, winners []*HistoryAttempt, bytesOf func(*HistoryAttempt) int64) {
	var bytes, took []float64
	var tasks []int
	for i, w := range winners {
		if w != nil && times[i] > 0 {
			bytes, took, tasks = append(bytes, float64(bytesOf(w))), append(took, times[i].Seconds()), append(tasks, i)
		}
	}
	n := float64(len(tasks))
	if o.Drawn == 0 || n < 2 {
		return
	}
	seed := o.Drawn.Named(h.ID).For(int(kind))
	const equal = 0.02 // deviation of bytes, relative
	fixed, slope, used := stat.Mean(took, nil), 0.0, 1.0
	if mean, sd := stat.MeanStdDev(bytes, nil); n > 2 && sd > equal*mean {
		if a, b := stat.LinearRegression(bytes, took, nil, false); b > 0 {
			fixed, slope, used = a, b, 2
		}
	}
	least := stat.Mean(took, nil) / 10
	usual := func(k int) float64 { return max(least, fixed+float64(slope*bytes[k])) }
	wider := math.Sqrt(n / (n - used)) // the line takes some of the scatter
	all, ratios := 0.0, make([]float64, len(tasks))
	for k := range tasks {
		all += usual(k)
		ratios[k] = math.Pow(took[k]/usual(k), wider)
	}
	level := floats.Sum(took) / (all * stat.Mean(ratios, nil)) // the expected sum is the recorded one
	for k, i := range tasks {
		times[i] = Seconds(usual(k) * level * ratios[int(n*seed.Stream(k, 0).Uniform())])
	}
}

// waits returns 1 if a reduce started before the last map ended, else 0.
func waits(w *HistoryAttempt, last time.Duration) int {
	if w.Start < last {
		return 1
	}
	return 0
}

// copied returns how long a reduce copied at most, in seconds. It copied the outputs of the
// last k of n maps after the first of these ended, so all outputs took at most n/k times
// as long. A reduce that was behind with the maps from its start on copied all the time.
func (a *HistoryAttempt) copied(ends []time.Duration) (took float64, behind bool) {
	began := a.Start + max(0, a.Phases[PhaseStartup])
	ended := began + max(0, a.Phases[PhaseShuffle])
	took, behind = (ended - began).Seconds(), true
	const looked = 64 // of the maps
	for k := range min(looked, len(ends)) {
		i := k * len(ends) / min(looked, len(ends))
		if all := (ended - ends[i]).Seconds() * float64(len(ends)) / float64(len(ends)-i); ends[i] > began && all < took {
			took, behind = all, false
		}
	}
	return took, behind
}

// grow gives a job whose bytes were multiplied by a factor that many times its maps,
// since more data are more blocks: splits keep their recorded sizes and maps their
// times. New maps repeat recorded ones; their attempts do not fail.
func (m *MapTasks) grow(by float64) {
	recorded := m.Count
	m.Count = max(1, int(math.Round(float64(recorded)*by)))
	if recorded == 0 || m.Count == recorded {
		m.Count = recorded
		return
	}
	chosen := m.evenly(recorded)
	m.Time.Each = repeated(m.Time.Each, chosen)
	m.Localise.Each = repeated(m.Localise.Each, chosen)
	m.Ends = m.Ends.chosen(chosen)
	if m.Splits = repeated(m.Splits, chosen); m.Splits != nil {
		m.InputBytes = 0
		for i := range m.Splits {
			m.Splits[i].Bytes = scale(m.Splits[i].Bytes, 1/by)
			m.InputBytes += m.Splits[i].Bytes
		}
	}
	m.Shares = repeated(m.Shares, chosen)
	var sum MapShare
	for _, s := range m.Shares {
		sum = MapShare{sum.Input + s.Input, sum.InRecords + s.InRecords, sum.OutBytes + s.OutBytes, sum.OutRecords + s.OutRecords}
	}
	part := func(of, all float64) float64 {
		if all == 0 { // the maps that remain had none of it
			return 1 / float64(m.Count)
		}
		return of / all
	}
	for i, s := range m.Shares {
		m.Shares[i] = MapShare{part(s.Input, sum.Input), part(s.InRecords, sum.InRecords), part(s.OutBytes, sum.OutBytes), part(s.OutRecords, sum.OutRecords)}
	}
}

// evenly returns which of the recorded maps each map is: all of them, as often as they go
// whole into the number, and the rest, in their order, evenly from short to long ones, so
// that times grow as the number does, and bytes with them.
func (m *MapTasks) evenly(recorded int) []int {
	byTime := make([]int, recorded)
	for i := range byTime {
		byTime[i] = i
	}
	slices.SortStableFunc(byTime, func(a, b int) (order int) {
		if m.Time.Each != nil {
			order = cmp.Compare(m.Time.Each[a], m.Time.Each[b])
		}
		if order == 0 && m.Splits != nil {
			order = cmp.Compare(m.Splits[a].Bytes, m.Splits[b].Bytes)
		}
		return order
	})
	chosen := make([]int, m.Count)
	for i := range chosen {
		chosen[i] = i % recorded
	}
	rest := chosen[m.Count-m.Count%recorded:]
	for k := range rest {
		middle, n := (2*k+1)*recorded-len(rest), 2*len(rest) // of the k-th part, over n
		at := middle / n
		if half := 2 * (middle % n); half > n || half == n && k%2 == 1 {
			at++
		}
		rest[k] = byTime[at]
	}
	slices.Sort(rest)
	return chosen
}

// repeated returns the chosen entries of a list.
func repeated[T any](list []T, chosen []int) []T {
	if len(list) == 0 {
		return nil
	}
	out := make([]T, len(chosen))
	for i, k := range chosen {
		out[i] = list[k]
	}
	return out
}

// fixedPart returns the part of some times that does not grow with the bytes: the
// intercept of a line, if it is two standard errors above 0, else 0. Reduces of equal
// bytes show none: no line goes through them, and no comparison holds of NaN.
func fixedPart(bytes, took []float64) float64 {
	if len(bytes) < 5 {
		return 0
	}
	fixed, slope := stat.LinearRegression(bytes, took, nil, false)
	if slope < 0 {
		fixed, slope = stat.Mean(took, nil), 0
	}
	rest := 0.0
	for i, b := range bytes {
		off := took[i] - fixed - slope*b
		rest += float64(off * off)
	}
	n, mean := float64(len(bytes)), stat.Mean(bytes, nil)
	if sure := math.Sqrt(rest / (n - 2) * (1/n + mean*mean/(n-1)/stat.Variance(bytes, nil))); fixed > 2*sure {
		return fixed
	}
	return 0
}

// fixedReduce returns the fixed part of the reduce phases of a job, in seconds.
func fixedReduce(h *HistoryJob) float64 {
	var bytes, took []float64
	for _, w := range h.Of(Reduce) {
		if w != nil && w.ShuffleBytes != Unknown && Known(w.Phases[PhaseReduce]) {
			bytes, took = append(bytes, float64(w.ShuffleBytes)), append(took, w.Phases[PhaseReduce].Seconds())
		}
	}
	return fixedPart(bytes, took)
}

// copying divides the time in which a reduce copies into a fixed part and one per
// byte, in seconds. A few bytes take as long as none, so the mean time per byte of
// reduces that had no maps to wait for, if they fetched little, does not hold for
// the others: the bytes of each that fetched more took no longer than its shuffle. At
// least the idle time of a reduce without maps to wait for is fixed.
func copying(h *HistoryJob, perByte, idle float64) (fixed, each float64) {
	type fetch struct {
		took    float64
		bytes   int64
		typical bool // without maps to wait for
	}
	var all []fetch
	var most int64 // bytes of typical ones
	var bytes, took []float64
	last := h.LastMap()
	for _, w := range h.Of(Reduce) {
		if w != nil && Known(w.Phases[PhaseShuffle]) && Known(w.Start) {
			c := fetch{w.Phases[PhaseShuffle].Seconds(), w.ShuffleBytes, w.Start >= last}
			if all = append(all, c); c.typical {
				most = max(most, c.bytes)
				bytes, took = append(bytes, float64(c.bytes)), append(took, c.took)
			}
		}
	}
	fixed, each = fixedPart(bytes, took), perByte
	if whole := floats.Sum(took); whole > 0 {
		fixed = min(max(fixed, idle), whole/float64(len(took)))
		each *= 1 - fixed*float64(len(took))/whole
	}
	of := each
	for _, c := range all {
		if c.bytes > most {
			each = min(each, c.took/float64(c.bytes))
		}
	}
	if each == of {
		return fixed, each
	}
	fixed = 0
	for i := range took {
		fixed += max(0, took[i]-each*bytes[i])
	}
	return fixed / float64(max(1, len(took))), each
}

// farness returns the mean slowdown of maps at each distance relative to
// node-local ones; 1 if the job lacks either.
func farness(winners []*HistoryAttempt, times []time.Duration) [NumLocalities]float64 {
	var sum, n, far [NumLocalities]float64
	for i, w := range winners {
		if w != nil {
			sum[w.Locality] += times[i].Seconds()
			n[w.Locality]++
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
func shuffled(winners []*HistoryAttempt) (bytes []int64) {
	for _, w := range winners {
		if w == nil || w.ShuffleBytes == Unknown {
			return nil
		}
		bytes = append(bytes, w.ShuffleBytes)
	}
	return bytes
}

// Durations draws times from the sample, minus a constant part. An empty sample sets
// nothing.
func (s Sample) Durations(less time.Duration) Durations {
	if s.N == 0 {
		return Durations{}
	}
	law := make(empirical, len(s.Quantiles))
	for i, q := range s.Quantiles {
		law[i] = max(0, q-less.Seconds())
	}
	return Durations{Dist: &Dist{Name: "empirical", law: law, mean: law.mean()}}
}
