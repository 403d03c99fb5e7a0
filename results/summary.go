package results

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// Summary is the content of summary.json: a run in figures. Counts over
// attempts (Kinds, Locality, Slots) are those of the first replication.
// Makespan and job statistics are means over all replications.
type Summary struct {
	Schema       string          `json:"schema"`
	Scenario     string          `json:"scenario"`
	Title        string          `json:"title"`
	Model        string          `json:"model"`
	Fidelity     string          `json:"fidelity"`
	Hadoop       string          `json:"hadoop"`
	Conf         properties      `json:"conf,omitempty"`
	Scheduler    string          `json:"scheduler"`
	Changes      []ChangeSummary `json:"changes,omitempty"`
	Seed         uint64          `json:"seed"`
	Replications int             `json:"replications"`
	Nodes        int             `json:"nodes"`
	Makespan     Estimate        `json:"makespan"`
	Calibrations *Interval       `json:"calibrations,omitempty"` // of the makespan by machines that explain a record about equally well, each corrected by what it misses of the recorded jobs
	Interval     *Interval       `json:"interval,omitempty"`     // of the makespan of a what-if on recorded times
	Replay       *ReplaySummary  `json:"replay,omitempty"`
	Lost         []lostTracker   `json:"lost_trackers,omitempty"`
	LimitedBy    string          `json:"limited_by,omitempty"`
	Limits       []Limit         `json:"limits,omitempty"`
	Jobs         JobSummary      `json:"jobs"`
	Deadlines    *Deadlines      `json:"deadlines,omitempty"`
	Kinds        []KindSummary   `json:"kinds"`
	Locality     LocalitySummary `json:"locality"`
	Slots        []SlotSummary   `json:"slots"`

	Containers *ContainerSummary `json:"containers,omitempty"`

	Slowest     []JobTime   `json:"slowest"`
	Spills      []JobSpills `json:"spills,omitempty"` // of the jobs that spilled most, at most slowestJobs
	Groups      []Group     `json:"groups,omitempty"`
	Warnings    []string    `json:"warnings"`
	Assumptions []string    `json:"assumptions"`
}

// properties are Hadoop properties with their values.
type properties map[string]string

// commonConf returns the properties that all jobs share.
func commonConf(jobs []workload.Job) properties {
	if len(jobs) == 0 {
		return nil
	}
	common := properties{}
	for _, key := range jobs[0].Conf.Keys() {
		value, _ := jobs[0].Conf.Lookup(key)
		differs := func(j workload.Job) bool {
			v, stated := j.Conf.Lookup(key)
			return !stated || v != value
		}
		if !slices.ContainsFunc(jobs, differs) {
			common[key] = value
		}
	}
	return common
}

// interval returns that of a what-if on recorded times.
func (r *Run) interval() *Interval {
	if r.Replay == nil {
		return nil
	}
	p := &r.Predictions[0]
	mean, _, n := logsOf(makespans(r.drawn()))
	return &Interval{n, int64(logTime(mean)), int64(p.Least), int64(p.Most)}
}

// calibrations returns nil if only one calibration is known.
func (r *Run) calibrations() *Interval {
	if len(r.Calibrations) == 0 {
		return nil
	}
	p := &r.Predictions[0]
	return &Interval{len(r.Calibrations), int64(p.Middle()), int64(p.Least), int64(p.Most)}
}

// Answer returns the makespan over what is not known, if several runs show it.
func (r *Run) Answer() *Interval { return answerOf(r.calibrations(), r.interval()) }

func answerOf(machines, times *Interval) *Interval {
	if i := cmp.Or(machines, times); i != nil && i.N > 1 {
		return i
	}
	return nil
}

// JobSummary counts jobs and summarises the time from submission to finish of
// finished jobs. Quantiles are exact (nearest rank).
type JobSummary struct {
	Jobs        int      `json:"jobs"`
	Succeeded   int      `json:"succeeded"`
	Failed      int      `json:"failed"`
	Killed      int      `json:"killed"`
	Mean        Estimate `json:"mean"`
	Median      Estimate `json:"median"`
	P95         Estimate `json:"p95"`
	Max         Estimate `json:"max"`
	MapWaves    Waves    `json:"map_waves"`
	ReduceWaves Waves    `json:"reduce_waves"`
}

// Waves summarises the waves of the jobs that have tasks of a kind.
type Waves struct {
	Jobs   int `json:"jobs"`
	Median int `json:"median"`
	Max    int `json:"max"`
}

// KindSummary summarises the attempts of one kind of task. Durations are those of
// attempts that succeeded; times and volumes are sums over all.
type KindSummary struct {
	Kind        string       `json:"kind"`
	Attempts    int64        `json:"attempts"`
	Succeeded   int64        `json:"succeeded"`
	Failed      int64        `json:"failed"`
	Killed      int64        `json:"killed"`
	SlotTime    int64        `json:"slot_time_ns"`
	LostTime    int64        `json:"lost_time_ns"` // of failed and killed attempts
	Mean        int64        `json:"mean_ns"`
	Median      int64        `json:"median_ns"`
	P95         int64        `json:"p95_ns"`
	Max         int64        `json:"max_ns"`
	Phases      []PhaseShare `json:"phases"`
	InBytes     int64        `json:"in_bytes"`
	OutBytes    int64        `json:"out_bytes"`
	Shuffle     int64        `json:"shuffle_bytes"`
	HDFSRead    int64        `json:"hdfs_read_bytes"`
	HDFSWritten int64        `json:"hdfs_write_bytes"`
	Spills      int64        `json:"spills"`
	MergePasses int64        `json:"merge_passes"`
	Spilled     int64        `json:"spilled_records"`
	WaitFetch   int64        `json:"wait_fetch_ns"`
	WaitMemory  int64        `json:"wait_memory_ns"`
}

// PhaseShare is the time of a kind of task in one phase.
type PhaseShare struct {
	Phase string     `json:"phase"`
	Time  int64      `json:"time_ns"`
	Share text.Share `json:"share"` // of the slot time of the kind
}

// LocalitySummary counts map attempts by their distance from the split.
type LocalitySummary struct {
	Node int64 `json:"node"`
	Rack int64 `json:"rack"`
	Off  int64 `json:"off"`
	None int64 `json:"none"`
}

// SlotSummary summarises the use of one type of slot until the makespan.
type SlotSummary struct {
	Type      string     `json:"type"` // map, reduce or shared
	Slots     int        `json:"slots"`
	Busy      text.Share `json:"busy_share"`      // slot time over slots times makespan
	Saturated text.Share `json:"saturated_share"` // of the makespan with all in use
	Peak      text.Share `json:"peak_in_use"`     // largest mean over a step
	Used      int        `json:"slots_used"`      // with an attempt
	PerSlot   text.Share `json:"attempts_per_slot"`
	MostPer   int        `json:"attempts_per_slot_max"`
}

// JobTime is one job's time from submission to finish.
type JobTime struct {
	ID   string `json:"job"`
	Name string `json:"name"`
	Estimate
}

// Summary summarises the run.
func (r *Run) Summary() *Summary {
	first := &r.Predictions[0]
	s := &Summary{
		Schema:       workload.SummarySchema.String(),
		Scenario:     text.Escape(r.Question.Name),
		Title:        r.title(),
		Model:        first.Model,
		Fidelity:     r.Question.Fidelity.String(),
		Hadoop:       r.Question.Cluster.Hadoop,
		Conf:         commonConf(r.Question.Jobs),
		Scheduler:    r.Question.Scheduler.Name,
		Changes:      changesOf(r.Question),
		Seed:         r.Question.Seed,
		Replications: len(r.Predictions),
		Nodes:        len(r.Question.Cluster.Nodes),
		Makespan:     r.estimate(func(p *model.Prediction) float64 { return float64(p.Mean) }),
		Calibrations: r.calibrations(), Interval: r.interval(),
		Replay:    r.ReplaySummary(),
		Lost:      r.lostTrackers(),
		Jobs:      r.jobSummary(),
		Deadlines: r.deadlines(),
		Kinds:     text.Listed(r.Stats.kindSummaries()),
		Slots:     text.Listed(r.Stats.slotSummaries(r.end())),
		Slowest:   text.Listed(r.slowest()),
		Spills:    r.spills(),
		Groups:    r.groups(),
	}
	if use := r.Stats.use; use != nil {
		s.Containers = use.summary()
	}
	s.Limits, s.LimitedBy = SharesOf(r.Limits)
	l := &r.Stats.locality
	s.Locality = LocalitySummary{l[workload.NodeLocal], l[workload.RackLocal], l[workload.OffRack], l[workload.NoLocality]}
	for i := range r.Predictions {
		s.Warnings = addNew(s.Warnings, r.Predictions[i].Warnings)
		s.Assumptions = addNew(s.Assumptions, r.Predictions[i].Assumed)
	}
	s.Warnings = text.Listed(append(append(s.Warnings, s.doubts()...), r.overload(s.Slots)...))
	s.Assumptions = text.Listed(s.Assumptions)
	return s
}

// overload warns of a workload that comes much faster than the cluster serves it: not of
// one that a few long jobs prolong while slots are free.
func (r *Run) overload(slots []SlotSummary) []string {
	const least, jobs, times = time.Hour, 20, 2 // below, the jobs may be meant as one batch
	if !slices.ContainsFunc(slots, func(s SlotSummary) bool { return s.Saturated > 0.5 }) {
		return nil
	}
	last := time.Duration(0)
	for i := range r.Question.Jobs {
		last = max(last, r.Question.Jobs[i].Submit)
	}
	if len(r.Question.Jobs) < jobs || last < least || r.end() < times*int64(last) {
		return nil
	}
	return []string{fmt.Sprintf("overload: the jobs of %s end after %s: times of jobs depend on how long the workload is: want more nodes, or fewer jobs (workload.scale_jobs)", text.Duration(int64(last)), text.Duration(r.end()))}
}

// ChangeSummary says which scheduler took over when.
type ChangeSummary struct {
	At        int64  `json:"at_ns"`
	Scheduler string `json:"scheduler"`
}

func changesOf(q *model.WhatIf) (all []ChangeSummary) {
	for _, c := range q.Changes {
		all = append(all, ChangeSummary{int64(c.At), c.Scheduler.Name})
	}
	return all
}

// schedulerText names the schedulers of the run.
func (s *Summary) schedulerText() string {
	line := s.Scheduler + " scheduler"
	for _, c := range s.Changes {
		line += ", " + c.Scheduler + " from " + text.Duration(c.At)
	}
	return line
}

// WriteJSON writes summary.json.
func (s *Summary) WriteJSON(w io.Writer) error { return resultdir.WriteJSON(w, s) }

// addNew appends the elements that are not in the list yet.
func addNew(to, from []string) []string {
	for _, line := range from {
		if line = text.Printable(line); !slices.Contains(to, line) {
			to = append(to, line)
		}
	}
	return to
}

// estimate returns the mean of a figure (ns) over the replications.
func (r *Run) estimate(figure func(*model.Prediction) float64) Estimate {
	var values []float64
	for i := range r.Predictions {
		if v := figure(&r.Predictions[i]); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return NewEstimate(values)
}

// jobSummary returns each statistic of the job times as a mean over the
// replications.
func (r *Run) jobSummary() JobSummary {
	first := r.Predictions[0].Jobs
	s := JobSummary{Jobs: len(first)}
	for i := range first {
		switch j := &first[i]; {
		case !j.Finished():
		case j.State == workload.Succeeded:
			s.Succeeded++
		case j.State == workload.Failed:
			s.Failed++
		default:
			s.Killed++
		}
	}
	times := make(map[*model.Prediction][]float64, len(r.Predictions)) // sorted
	for i := range r.Predictions {
		p := &r.Predictions[i]
		var t []float64
		for k := range p.Jobs {
			if j := &p.Jobs[k]; j.Finished() {
				t = append(t, float64(j.Finish-j.Submit))
			}
		}
		slices.Sort(t)
		times[p] = t
	}
	of := func(figure func([]float64) float64) Estimate {
		return r.estimate(func(p *model.Prediction) float64 {
			if len(times[p]) == 0 {
				return math.NaN()
			}
			return figure(times[p])
		})
	}
	quantile := func(p float64) func([]float64) float64 {
		return func(t []float64) float64 { return stat.Quantile(p, stat.Empirical, t, nil) }
	}
	s.Mean = of(func(t []float64) float64 { return stat.Mean(t, nil) })
	s.Median, s.P95, s.Max = of(quantile(0.5)), of(quantile(0.95)), of(quantile(1))
	s.MapWaves = waves(first, func(j *model.JobOutcome) (int, int) { return j.Maps, j.MapWaves })
	s.ReduceWaves = waves(first, func(j *model.JobOutcome) (int, int) { return j.Reduces, j.ReduceWaves })
	return s
}

func waves(jobs []model.JobOutcome, of func(*model.JobOutcome) (tasks, waves int)) Waves {
	var all []int
	for i := range jobs {
		if tasks, n := of(&jobs[i]); tasks > 0 {
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		return Waves{}
	}
	slices.Sort(all)
	return Waves{Jobs: len(all), Median: all[(len(all)-1)/2], Max: all[len(all)-1]}
}

// slowest lists the jobs that took longest, by their mean over the
// replications.
func (r *Run) slowest() []JobTime {
	var all []JobTime
	outcomes := outcomes(r.Predictions)
	for k := range r.Predictions[0].Jobs {
		j := &r.Predictions[0].Jobs[k]
		t := JobTime{ID: text.Escape(j.ID), Name: text.Escape(j.Name), Estimate: NewEstimate(jobTimes(outcomes(k)))}
		if t.N > 0 {
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b JobTime) int { return int(min(1, max(-1, b.Mean-a.Mean))) })
	return all[:min(len(all), slowestJobs)]
}

func (s *Stats) kindSummaries() []KindSummary {
	var all []KindSummary
	for i := range s.kinds {
		k := &s.kinds[i]
		n := k.attempts
		sum := KindSummary{
			Kind:        workload.Kind(i).String(),
			Succeeded:   n[workload.Succeeded],
			Failed:      n[workload.Failed],
			Killed:      n[workload.Killed],
			SlotTime:    k.slotTime(),
			LostTime:    k.time[workload.Failed] + k.time[workload.Killed],
			Mean:        k.lasted.mean(),
			Median:      k.lasted.quantile(0.5),
			P95:         k.lasted.quantile(0.95),
			Max:         k.lasted.max,
			Phases:      []PhaseShare{},
			InBytes:     k.sums.InBytes,
			OutBytes:    k.sums.OutBytes,
			Shuffle:     k.sums.ShuffleBytes,
			HDFSRead:    k.sums.HDFSReadBytes,
			HDFSWritten: k.sums.HDFSWriteBytes,
			Spills:      k.sums.Spills,
			MergePasses: k.sums.MergePasses,
			Spilled:     k.sums.SpilledRecords,
			WaitFetch:   int64(k.sums.WaitFetch),
			WaitMemory:  int64(k.sums.WaitMemory),
		}
		if sum.Attempts = sum.Succeeded + sum.Failed + sum.Killed + n[workload.Running]; sum.Attempts == 0 {
			continue
		}
		for p, t := range k.phases {
			if t > 0 {
				sum.Phases = append(sum.Phases, PhaseShare{workload.Phase(p).String(), t, text.Share(float64(t) / float64(sum.SlotTime))})
			}
		}
		all = append(all, sum)
	}
	return all
}

// slotTracks returns the tracks of work on one type of slot.
func (s *slots) slotTracks(section int) []int {
	maps := append(phaseTracks(workload.Map), trackOther)
	reduces := append(phaseTracks(workload.Reduce), trackOtherReduces)
	if s.sections == 1 {
		return append(maps, reduces...)
	}
	return [][]int{maps, reduces}[section]
}

// slotTypes name the sections of a cluster's slots.
func (s *slots) slotTypes() []string {
	if s.word == "container" {
		return nil
	}
	if s.sections == 1 {
		return []string{"shared"}
	}
	return []string{"map", "reduce"}
}

// slotSummaries returns the summary of each type of slot over the makespan
// (ns). If the time with all slots in use changes too often to be kept exactly,
// a bin counts if 99 % or more are in use in it on average.
func (s *Stats) slotSummaries(makespan int64) []SlotSummary {
	var all []SlotSummary
	for i, name := range s.slots.slotTypes() {
		n := s.slots.count[i]
		if n == 0 {
			continue
		}
		sum := SlotSummary{Type: name, Slots: n}
		full, most, busy := int64(0), 0.0, int64(0)
		for bin, v := range s.over.busy(s.slots.slotTracks(i)...) {
			from, to := s.over.span(bin)
			busy += v
			inUse := float64(v) / float64(to-from)
			most = max(most, inUse)
			if inUse >= 0.99*float64(n) {
				full += to - from
			}
		}
		if exact, known := s.slots.idle[i].busy(makespan); known {
			full = exact
		}
		if makespan > 0 {
			sum.Busy = text.Share(float64(busy) / float64(n) / float64(makespan))
			sum.Saturated = text.Share(float64(full) / float64(makespan))
		}
		sum.Peak = text.Share(most)
		attempts := 0
		for _, slot := range s.slots.idle[i].slots {
			attempts += int(slot.ran)
			sum.MostPer = max(sum.MostPer, int(slot.ran))
			if slot.ran > 0 {
				sum.Used++
			}
		}
		sum.PerSlot = text.Share(float64(attempts) / float64(n))
		all = append(all, sum)
	}
	return all
}

// Busy returns the share of the makespan in which map and reduce slots were in use; NaN
// if there are none.
func (s *Stats) Busy(makespan time.Duration) [2]float64 {
	busy := [2]float64{math.NaN(), math.NaN()}
	for _, sl := range s.slotSummaries(int64(makespan)) {
		switch sl.Type {
		case "map":
			busy[0] = float64(sl.Busy)
		case "reduce":
			busy[1] = float64(sl.Busy)
		default:
			busy = [2]float64{float64(sl.Busy), float64(sl.Busy)}
		}
	}
	return busy
}

// Full returns the fraction of the makespan in which all slots of a type were in
// use, for the type with the largest fraction.
func (s *Stats) Full(makespan time.Duration) float64 {
	most := text.Share(0)
	for _, sl := range s.slotSummaries(int64(makespan)) {
		most = max(most, sl.Saturated)
	}
	return float64(most)
}

// doubts returns the warnings that follow from the figures alone.
func (s *Summary) doubts() []string {
	var doubts []string
	for _, sl := range s.Slots {
		if sl.Used > 0 && sl.Saturated == 0 {
			doubts = append(doubts, fmt.Sprintf("the %s %s slots were never all in use: their number did not limit the run", text.Number(int64(sl.Slots)), sl.Type))
		}
	}
	for _, c := range s.Changes {
		if c.At >= s.Makespan.Mean {
			doubts = append(doubts, fmt.Sprintf("the change to %s at %s has no effect: the run ends at %s", c.Scheduler, text.Duration(c.At), text.Duration(s.Makespan.Mean)))
		}
	}
	if left := s.Jobs.Jobs - s.Jobs.Succeeded; left > 0 {
		doubts = append(doubts, fmt.Sprintf("%s of %s did not succeed; statistics leave out jobs that never finished",
			text.Number(int64(left)), text.Count(s.Jobs.Jobs, "job")))
	}
	switch {
	case s.Replications == 1:
		doubts = append(doubts, "one run: the spread over seeds is unknown (use --replications 5)")
	case s.Replications < 5:
		doubts = append(doubts, fmt.Sprintf("the 95 %% intervals are based on only %d runs", s.Replications))
	}
	return doubts
}

// span returns the time (ns) of a bin. The last one ends with the run.
func (t *timeline) span(bin int) (from, to int64) {
	return int64(bin) * t.width, min(int64(bin+1)*t.width, t.end)
}
