package workload

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// arrival is one submission of a job of the trace that is shaped: of a history
// (HistoryJob) or of volumes (SwimJob).
type arrival struct {
	job  int           // its number in the trace
	copy int           // 0: the job itself
	at   time.Duration // of the submission
	gap  time.Duration // since the submission before, Unknown: as the trace says

	tasks int // that it records
}

// name returns the name of the job or of its copy.
func (a *arrival) name(id string) string {
	if a.copy == 0 {
		return id
	}
	return fmt.Sprintf("%s-%d", id, a.copy+1)
}

// arriving returns a copy of the job as submitted, its volumes by a factor.
func (j *SwimJob) arriving(a *arrival, bytes float64) SwimJob {
	m := *j
	m.ID, m.Submit = a.name(j.ID), a.at
	if Known(a.gap) {
		m.Gap = a.gap
	}
	if bytes != 1 {
		m.InputBytes, m.ShuffleBytes, m.OutputBytes = scale(m.InputBytes, bytes), scale(m.ShuffleBytes, bytes), scale(m.OutputBytes, bytes)
	}
	return m
}

func (j *HistoryJob) arriving(a *arrival, bytes float64) HistoryJob {
	by := a.at - j.Earliest()
	if a.copy == 0 && by == 0 && bytes == 1 {
		return *j
	}
	m := j.renamed(a.name(j.ID))
	if m.Shift(by); bytes == 1 {
		return m
	}
	for i := range m.Tasks {
		m.Tasks[i].Split.Bytes = scale(m.Tasks[i].Split.Bytes, bytes)
	}
	for _, a := range m.Each() {
		all := TaskCounters{a.Counters, a.More}
		all.scale(bytes)
		a.Counters, a.More = all.Counters, all.More
	}
	m.Totals.Map.scale(bytes)
	m.Totals.Reduce.scale(bytes)
	m.Totals.All.scale(bytes)
	return m
}

// renamed copies the job with its tasks and attempts.
func (j *HistoryJob) renamed(id string) HistoryJob {
	m := *j
	m.ID = id
	m.Tasks = slices.Clone(j.Tasks)
	for i := range m.Tasks {
		m.Tasks[i].Attempts = slices.Clone(m.Tasks[i].Attempts)
	}
	for _, a := range m.Each() {
		a.Job = id
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

// byArrival orders submissions, keeps the order of equal ones, and sets the gaps.
func byArrival(jobs []arrival) []arrival {
	slices.SortStableFunc(jobs, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	last := time.Duration(0)
	for i := range jobs {
		jobs[i].gap, last = jobs[i].at-last, jobs[i].at
	}
	return jobs
}

// shift measures time from an instant.
func shift(jobs []arrival, from time.Duration) []arrival {
	for i := range jobs {
		jobs[i].at -= from
	}
	return jobs
}

// byNumber keeps the jobs from the first to the last number, counted from 1 in
// order of submission, and measures time from the first one. A last of 0 means
// no upper bound.
func byNumber(jobs []arrival, first, last int) []arrival {
	jobs = byArrival(jobs)
	if last == 0 || last > len(jobs) {
		last = len(jobs)
	}
	if first > last {
		return nil
	}
	jobs = jobs[first-1 : last]
	return shift(jobs, jobs[0].at)
}

// scaleJobs changes the number of jobs by a factor. Below one each job is kept
// with that probability. Above one a job occurs that many times, the fraction
// at random. Its copies are submitted at random times before the next job of
// the trace.
func scaleJobs(jobs []arrival, factor float64, seed Seed) []arrival {
	seed = seed.Named("scale jobs")
	var out []arrival
	for i, j := range jobs {
		g := seed.Stream(i, 0).Generator()
		r := rand.New(&g)
		copies := int(factor)
		if r.Float64() < factor-math.Floor(factor) {
			copies++
		}
		gap := time.Duration(0)
		if i+1 < len(jobs) {
			gap = max(0, jobs[i+1].at-j.at)
		}
		for n := range copies {
			c := j
			if c.copy = n; n > 0 {
				c.at += time.Duration(r.Float64() * float64(gap))
			}
			out = append(out, c)
		}
	}
	return byArrival(out)
}

// fold makes a short trace from a long one, as Rumen's Folder does. It shortens
// each cycle of the trace (a day, say) to the given length and overlays the
// cycles. It keeps each job with the same probability, chosen so that the density
// of jobs is that of the original multiplied by the concentration.
func fold(jobs []arrival, f *Folding, seed Seed) ([]arrival, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	span := time.Duration(0)
	for i := range jobs {
		span = max(span, jobs[i].at)
	}
	if f.Cycle <= 0 || f.Length <= 0 || f.Concentration <= 0 {
		return nil, fmt.Errorf("fold: cycle %v, length %v, concentration %g: want them above zero", f.Cycle, f.Length, f.Concentration)
	}
	// Cycles are whole: the last one counts in full, because its end is not
	// recorded.
	cycles := math.Ceil(float64(span+1) / float64(f.Cycle))
	keep := f.Concentration * f.Length.Seconds() / (cycles * f.Cycle.Seconds())
	if keep > 1 {
		return nil, fmt.Errorf("fold: %v at %g times the density needs %.2f times as many jobs as the trace has", f.Length, f.Concentration, keep)
	}
	seed = seed.Named("fold")
	var out []arrival
	for i, j := range jobs {
		if seed.Stream(i, 0).Uniform() < keep {
			j.at = Seconds((j.at % f.Cycle).Seconds() / f.Cycle.Seconds() * f.Length.Seconds())
			out = append(out, j)
		}
	}
	return byArrival(out), nil
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

// These guard the memory against a mistyped factor.
const (
	maxJobs   = 2_000_000
	maxCopies = 5_000_000 // tasks, with all that is recorded of them
)

// arrivals returns the submissions after all changes.
func (s *Shaping) arrivals(jobs []arrival) ([]arrival, error) {
	if s.From > 0 || s.To > 0 {
		jobs = slices.DeleteFunc(jobs, func(j arrival) bool { return j.at < s.From || s.To > 0 && j.at >= s.To })
		jobs = byArrival(shift(jobs, s.From))
	}
	if s.First > 0 || s.Last > 0 || s.Jobs > 0 {
		last := s.Last
		if n := max(1, s.First) - 1 + s.Jobs; s.Jobs > 0 && (last == 0 || n < last) {
			last = n
		}
		jobs = byNumber(jobs, max(1, s.First), last)
	}
	tasks := 0
	for i := range jobs {
		tasks += jobs[i].tasks
	}
	if n := float64(len(jobs)) * s.ScaleJobs; n > maxJobs {
		return nil, fmt.Errorf("scale_jobs: makes %.4g jobs: want at most %d", n, maxJobs)
	}
	if n := float64(tasks) * s.ScaleJobs; n > maxCopies {
		return nil, fmt.Errorf("scale_jobs: makes %.4g tasks: want at most %d", n, maxCopies)
	}
	if s.ScaleJobs != 1 {
		jobs = scaleJobs(jobs, s.ScaleJobs, s.Seed)
	}
	// The gaps between submissions grow, the durations of jobs stay.
	if s.ScaleTime != 1 {
		for i := range jobs {
			jobs[i].at = Seconds(jobs[i].at.Seconds() * s.ScaleTime)
		}
		jobs = byArrival(jobs)
	}
	if s.Fold != nil {
		return fold(jobs, s.Fold, s.Seed)
	}
	return jobs, nil
}

// shape returns copies of the jobs as they arrive after all changes.
func shape[T any](jobs []T, s *Shaping, tasks func(*T) int, at func(*T) time.Duration, arriving func(*T, *arrival, float64) T) ([]T, error) {
	if len(jobs) == 0 {
		return jobs, nil
	}
	all := make([]arrival, len(jobs))
	for i := range jobs {
		all[i] = arrival{job: i, at: at(&jobs[i]), gap: UnknownTime, tasks: tasks(&jobs[i])}
	}
	all, err := s.arrivals(all)
	out := make([]T, len(all))
	for i := range all {
		out[i] = arriving(&jobs[all[i].job], &all[i], s.ScaleBytes)
	}
	return out, err
}

// Shape changes the jobs of a history. Its machines stay the same.
func (h *History) Shape(s *Shaping) error {
	var err error
	if h.Jobs, err = shape(h.Jobs, s, func(j *HistoryJob) int { return len(j.Tasks) }, (*HistoryJob).Earliest, (*HistoryJob).arriving); err == nil {
		h.Swim, err = shape(h.Swim, s, func(*SwimJob) int { return 0 }, func(j *SwimJob) time.Duration { return j.Submit }, (*SwimJob).arriving)
	}
	return err
}
