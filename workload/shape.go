package workload

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// arrivalOf is a job that can be shaped: from a history (HistoryJob) or a trace
// of volumes (SwimJob). Shaping returns changed copies and leaves its input
// unchanged.
type arrivalOf[T any] interface {
	*T
	arrival() time.Duration
	moved(by time.Duration) T
	renamed(id string) T
	scaled(bytes float64) T
	name() string
}

func (j *SwimJob) arrival() time.Duration    { return j.Submit }
func (j *HistoryJob) arrival() time.Duration { return j.Earliest() }

func (j *SwimJob) name() string    { return j.ID }
func (j *HistoryJob) name() string { return j.ID }

func (j *SwimJob) moved(by time.Duration) SwimJob {
	m := *j
	m.Submit += by
	return m
}

func (j *HistoryJob) moved(by time.Duration) HistoryJob {
	m := j.cloned()
	m.Shift(by)
	return m
}

// cloned copies the job with its tasks and attempts.
func (j *HistoryJob) cloned() HistoryJob {
	m := *j
	m.Tasks = slices.Clone(j.Tasks)
	for i := range m.Tasks {
		m.Tasks[i].Attempts = slices.Clone(m.Tasks[i].Attempts)
	}
	return m
}

func (j *SwimJob) renamed(id string) SwimJob {
	m := *j
	m.ID = id
	return m
}

func (j *HistoryJob) renamed(id string) HistoryJob {
	m := j.cloned()
	m.ID = id
	for i := range m.Tasks {
		for k := range m.Tasks[i].Attempts {
			m.Tasks[i].Attempts[k].Job = id
		}
	}
	return m
}

func scale(v int64, by float64) int64 {
	if v == Unknown {
		return v
	}
	if f := math.Round(float64(v) * by); f < math.MaxInt64 {
		return int64(f)
	}
	return math.MaxInt64
}

func (j *SwimJob) scaled(by float64) SwimJob {
	m := *j
	m.InputBytes, m.ShuffleBytes, m.OutputBytes = scale(m.InputBytes, by), scale(m.ShuffleBytes, by), scale(m.OutputBytes, by)
	return m
}

func (j *HistoryJob) scaled(by float64) HistoryJob {
	m := j.cloned()
	for i := range m.Tasks {
		t := &m.Tasks[i]
		t.Split.Bytes = scale(t.Split.Bytes, by)
		for k := range t.Attempts {
			a := &t.Attempts[k]
			all := TaskCounters{a.Counters, a.More}
			all.scale(by)
			a.Counters, a.More = all.Counters, all.More
		}
	}
	m.Totals.Map.scale(by)
	m.Totals.Reduce.scale(by)
	m.Totals.All.scale(by)
	return m
}

// scale multiplies the values that grow with the data: bytes and records, so
// that record sizes and selectivities stay.
func (c *TaskCounters) scale(by float64) {
	for _, v := range []*int64{
		&c.InRecords, &c.InBytes, &c.OutRecords, &c.OutBytes, &c.SpilledRecords, &c.ShuffleBytes,
		&c.HDFSReadBytes, &c.HDFSWriteBytes, &c.LocalReadBytes, &c.LocalWriteBytes,
		&c.CombineInRecords, &c.CombineOutRecords, &c.More.InGroups, &c.MaterializedBytes,
		&c.More.SpillRawBytes, &c.More.SpillStoredBytes,
	} {
		*v = scale(*v, by)
	}
}

// each applies f to every job.
func each[T any](jobs []T, f func(i int, j *T) T) []T {
	out := make([]T, len(jobs))
	for i := range jobs {
		out[i] = f(i, &jobs[i])
	}
	return out
}

// byArrival orders jobs by submission, keeps the order of equal ones, and sets
// the gaps of traces that have them.
func byArrival[T any, P arrivalOf[T]](jobs []T) []T {
	slices.SortStableFunc(jobs, func(a, b T) int { return cmp.Compare(P(&a).arrival(), P(&b).arrival()) })
	last := time.Duration(0)
	for i := range jobs {
		if s, ok := any(&jobs[i]).(*SwimJob); ok {
			s.Gap, last = s.Submit-last, s.Submit
		}
	}
	return jobs
}

// scaleBytes multiplies all volumes by a factor; the numbers of tasks stay.
func scaleBytes[T any, P arrivalOf[T]](jobs []T, factor float64) []T {
	return each(jobs, func(_ int, j *T) T { return P(j).scaled(factor) })
}

// scaleTime multiplies the gaps between submissions by a factor; the durations
// of jobs stay.
func scaleTime[T any, P arrivalOf[T]](jobs []T, factor float64) []T {
	return byArrival[T, P](each(jobs, func(_ int, j *T) T {
		at := P(j).arrival()
		return P(j).moved(Seconds(at.Seconds()*factor) - at)
	}))
}

// window keeps the jobs submitted in [from, to) and measures time from its
// beginning.
func window[T any, P arrivalOf[T]](jobs []T, from, to time.Duration) []T {
	var kept []T
	for i := range jobs {
		if at := P(&jobs[i]).arrival(); at >= from && at < to {
			kept = append(kept, P(&jobs[i]).moved(-from))
		}
	}
	return byArrival[T, P](kept)
}

// byNumber keeps the jobs from the first to the last number, counted from 1 in
// order of submission, and measures time from the first one. A last of 0 means
// no upper bound.
func byNumber[T any, P arrivalOf[T]](jobs []T, first, last int) []T {
	jobs = byArrival[T, P](slices.Clone(jobs))
	if last == 0 || last > len(jobs) {
		last = len(jobs)
	}
	if first > last {
		return nil
	}
	jobs = jobs[first-1 : last]
	start := P(&jobs[0]).arrival()
	return each(jobs, func(_ int, j *T) T { return P(j).moved(-start) })
}

// scaleJobs changes the number of jobs by a factor. Below one each job is kept
// with that probability. Above one a job occurs that many times, the fraction
// at random. Its copies are submitted at random times before the next job of
// the trace.
func scaleJobs[T any, P arrivalOf[T]](jobs []T, factor float64, seed Seed) []T {
	seed = seed.Named("scale jobs")
	var out []T
	for i := range jobs {
		g := seed.Stream(i, 0).Generator()
		r := rand.New(&g)
		copies := int(factor)
		if r.Float64() < factor-math.Floor(factor) {
			copies++
		}
		gap := time.Duration(0)
		if i+1 < len(jobs) {
			gap = max(0, P(&jobs[i+1]).arrival()-P(&jobs[i]).arrival())
		}
		for n := range copies {
			j := jobs[i]
			if n > 0 {
				j = P(&j).renamed(fmt.Sprintf("%s-%d", P(&j).name(), n+1))
				j = P(&j).moved(time.Duration(r.Float64() * float64(gap)))
			}
			out = append(out, j)
		}
	}
	return byArrival[T, P](out)
}

// fold makes a short trace from a long one, as Rumen's Folder does. It shortens
// each cycle of the trace (a day, say) to the given length and overlays the
// cycles. It keeps each job with the same probability, chosen so that the density
// of jobs is that of the original multiplied by the concentration.
func fold[T any, P arrivalOf[T]](jobs []T, cycle, length time.Duration, concentration float64, seed Seed) ([]T, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	span := time.Duration(0)
	for i := range jobs {
		span = max(span, P(&jobs[i]).arrival())
	}
	if cycle <= 0 || length <= 0 || concentration <= 0 {
		return nil, fmt.Errorf("fold: cycle %v, length %v, concentration %g: want them above zero", cycle, length, concentration)
	}
	// Cycles are whole: the last one counts in full, because its end is not
	// recorded.
	cycles := math.Ceil(float64(span+1) / float64(cycle))
	keep := concentration * length.Seconds() / (cycles * cycle.Seconds())
	if keep > 1 {
		return nil, fmt.Errorf("fold: %v at %g times the density needs %.2f times as many jobs as the trace has", length, concentration, keep)
	}
	seed = seed.Named("fold")
	var out []T
	for i := range jobs {
		if seed.Stream(i, 0).Uniform() >= keep {
			continue
		}
		at := P(&jobs[i]).arrival()
		to := Seconds((at % cycle).Seconds() / cycle.Seconds() * length.Seconds())
		out = append(out, P(&jobs[i]).moved(to-at))
	}
	return byArrival[T, P](out), nil
}

// Shaping lists the changes to a trace before it is used, in this order. The
// zero value of a field changes nothing. For the scales this is 1.
type Shaping struct {
	From, To    time.Duration // window of submissions; 0: no end
	First, Last int           // or by number, from 1; 0: unbounded
	Jobs        int           // largest number of jobs; 0: all
	ScaleJobs   float64
	ScaleTime   float64
	ScaleBytes  float64
	Fold        *Folding
	Seed        Seed
}

// Folding are the arguments of fold.
type Folding struct {
	Cycle, Length time.Duration
	Concentration float64
}

// maxJobs guards the memory against a mistyped factor.
const maxJobs = 10_000_000

// shape returns the jobs after all changes.
func shape[T any, P arrivalOf[T]](jobs []T, s *Shaping) ([]T, error) {
	if len(jobs) == 0 {
		return jobs, nil
	}
	if s.From > 0 || s.To > 0 {
		to := s.To
		if to == 0 {
			to = math.MaxInt64
		}
		jobs = window[T, P](jobs, s.From, to)
	}
	if s.First > 0 || s.Last > 0 || s.Jobs > 0 {
		last := s.Last
		if n := max(1, s.First) - 1 + s.Jobs; s.Jobs > 0 && (last == 0 || n < last) {
			last = n
		}
		jobs = byNumber[T, P](jobs, max(1, s.First), last)
	}
	if n := float64(len(jobs)) * s.ScaleJobs; n > maxJobs {
		return nil, fmt.Errorf("scale_jobs: %g jobs: want at most %d", n, maxJobs)
	}
	if s.ScaleJobs != 1 {
		jobs = scaleJobs[T, P](jobs, s.ScaleJobs, s.Seed)
	}
	if s.ScaleTime != 1 {
		jobs = scaleTime[T, P](jobs, s.ScaleTime)
	}
	if s.ScaleBytes != 1 {
		jobs = scaleBytes[T, P](jobs, s.ScaleBytes)
	}
	if s.Fold != nil {
		return fold[T, P](jobs, s.Fold.Cycle, s.Fold.Length, s.Fold.Concentration, s.Seed)
	}
	return jobs, nil
}

// Shape returns a changed copy of a history. Its machines stay the same.
func (h *History) Shape(s *Shaping) error {
	var err error
	if h.Jobs, err = shape(h.Jobs, s); err == nil {
		h.Swim, err = shape(h.Swim, s)
	}
	return err
}
