package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// ReplaySummary compares the times of the simulated jobs with the recorded ones.
// If settings differ from the record, the difference is not an error: what is compared
// is then the record itself, simulated in the same way.
type ReplaySummary struct {
	Settings []string      `json:"settings"`
	Stated   []string      `json:"stated"`                            // settings that state what the record does not
	Times    string        `json:"times"`                             // of tasks, where settings differ
	Makespan int64         `json:"record_simulated_ns,omitempty"`     // of the record itself, likewise
	JobTime  int64         `json:"record_simulated_job_ns,omitempty"` // mean of its jobs
	Still    string        `json:"standstills,omitempty"`
	Jobs     int           `json:"jobs"`
	Unknown  int           `json:"jobs_without_time"`
	Median   text.Share    `json:"median_error"` // of the absolute differences
	Worst    text.Share    `json:"worst_error"`  // with its sign
	WorstJob string        `json:"worst_job"`
	List     []ReplayedJob `json:"list"` // the largest differences first
}

// ReplayedJob is the time of a job from submission to finish.
type ReplayedJob struct {
	ID         string     `json:"job"`
	Name       string     `json:"name"`
	Recorded   int64      `json:"recorded_ns"`
	Simulated  int64      `json:"simulated_ns"`
	Difference text.Share `json:"difference"` // simulated over recorded, less 1
	Cause      string     `json:"cause"`
}

// Causes of a difference between the simulated and the recorded time.
const (
	causeInitialisation = "initialisation"
	causeWaited         = "waited"
	causeStraggler      = "straggler"
	causeStill          = "stood still"
)

// listedReplays is how many jobs a summary lists; replay.csv has all.
const listedReplays = 20

// Replayed pairs the recorded time of each job with the simulated one (mean over
// the replications), in order of submission. It is empty if settings differ from
// the record.
func (r *Run) Replayed() []ReplayedJob {
	if len(r.Recorded) == 0 || len(r.Changed) > 0 {
		return nil
	}
	place := make(map[string]int, len(r.Predictions[0].Jobs))
	for i := range r.Predictions[0].Jobs {
		place[r.Predictions[0].Jobs[i].ID] = i
	}
	var rows []ReplayedJob
	for i := range r.Recorded {
		rec := &r.Recorded[i]
		k, ran := place[rec.ID]
		if !ran || !workload.Known(rec.Time()) || rec.Time() == 0 || !r.Predictions[0].Jobs[k].Finished() {
			continue
		}
		simulated := r.estimate(func(p *model.Prediction) float64 {
			if !p.Jobs[k].Finished() {
				return math.NaN()
			}
			return float64(p.Jobs[k].Finish - p.Jobs[k].Submit)
		}).Mean
		row := ReplayedJob{ID: text.Escape(rec.ID), Name: text.Escape(rec.Name), Recorded: int64(rec.Time()), Simulated: simulated}
		row.Difference = text.Share(float64(simulated)/float64(row.Recorded) - 1)
		row.Cause = causeOf(rec, &r.Predictions[0].Jobs[k], row.Difference)
		rows = append(rows, row)
	}
	return rows
}

// causeOf names the cause of at least half of a difference, if it is known. A
// difference below 1 % needs none.
func causeOf(rec *workload.JobRecord, sim *model.JobOutcome, difference text.Share) string {
	if math.Abs(float64(difference)) < 0.01 {
		return ""
	}
	whole := (sim.Finish - sim.Submit) - rec.Time()
	half := func(part time.Duration) bool { return part != 0 && 2*float64(part)/float64(whole) >= 1 }
	switch known := workload.Known(rec.Launch); {
	case known && sim.Launch >= 0 && half((sim.Launch-sim.Submit)-(rec.Launch-rec.Submit)):
		return causeInitialisation
	case known && workload.Known(rec.FirstMap) && sim.FirstMap >= 0 && half((sim.FirstMap-sim.Launch)-(rec.FirstMap-rec.Launch)):
		return causeWaited
	case rec.Still:
		return causeStill
	case rec.Straggler:
		return causeStraggler
	}
	return ""
}

// AboveRecord lists the jobs whose time differs from the record by more than the
// limit.
func (r *Run) AboveRecord(limit float64) (list []string) {
	for _, row := range r.Replayed() {
		if math.Abs(float64(row.Difference)) > limit {
			list = append(list, fmt.Sprintf("%s: %+.1f %%", row.ID, 100*float64(row.Difference)))
		}
	}
	return list
}

func (r *Run) ReplaySummary() *ReplaySummary {
	if len(r.Recorded) == 0 {
		return nil
	}
	s := &ReplaySummary{List: []ReplayedJob{}}
	if r.Replay != nil && len(r.Changed) > 0 {
		*s = *r.Replay.Run.ReplaySummary()
		s.Makespan, s.JobTime = int64(r.Replay.Base.Predictions[0].Mean), r.Replay.Base.meanJobTime()
	}
	s.Settings, s.Stated, s.Still = escaped(r.Changed), escaped(r.Stated), text.Escape(r.Still)
	if len(r.Changed) > 0 {
		switch {
		case r.Question.Fidelity != model.Replay:
			s.Times = "simulated"
		case r.Rescaled:
			s.Times = "recorded, adapted to where tasks run"
		default:
			s.Times = "recorded"
		}
		return s
	}
	rows := r.Replayed()
	s.Jobs, s.Unknown = len(rows), len(r.Recorded)-len(rows)
	if s.Jobs == 0 {
		return s
	}
	size := func(r ReplayedJob) float64 { return math.Abs(float64(r.Difference)) }
	slices.SortStableFunc(rows, func(a, b ReplayedJob) int { return cmp.Compare(size(b), size(a)) })
	s.Worst, s.WorstJob = rows[0].Difference, rows[0].ID
	n := len(rows)
	s.Median = text.Share((size(rows[(n-1)/2]) + size(rows[n/2])) / 2)
	s.List = rows[:min(n, listedReplays)]
	return s
}

func escaped(settings []string) []string {
	list := []string{}
	for _, setting := range settings {
		list = append(list, text.Escape(setting))
	}
	return list
}

// meanJobTime is that of the finished jobs of the first replication.
func (r *Run) meanJobTime() int64 {
	sum, n := time.Duration(0), time.Duration(0)
	for i := range r.Predictions[0].Jobs {
		if j := &r.Predictions[0].Jobs[i]; j.Finished() {
			sum, n = sum+j.Finish-j.Submit, n+1
		}
	}
	return int64(sum / max(1, n))
}

// Text is the line of the summary.
func (s *ReplaySummary) Text() string {
	if s.Still == "" {
		return s.compared()
	}
	return s.compared() + "; " + text.Shorten(s.Still, 80) + " (workload.still_hosts)"
}

func (s *ReplaySummary) compared() string {
	switch {
	case len(s.Settings) > 0:
		anew := "not compared with the record (" + text.Shorten(strings.Join(s.Settings, ", "), 60) + "): initialisation, queues and placement are simulated anew, times of tasks are " + s.Times
		if s.Jobs > 0 {
			anew += fmt.Sprintf("; in this way %s, with a %s", s.itself(), s.Errors())
		}
		return anew
	case s.Jobs == 0:
		return fmt.Sprintf("not compared: no time is recorded for %s", text.Count(s.Unknown, "job"))
	}
	line := s.Errors()
	if s.Unknown > 0 {
		line += fmt.Sprintf("; %s without a recorded time", text.Number(int64(s.Unknown)))
	}
	if len(s.Stated) > 0 {
		line += "; taken as recorded, though no record states it: " + text.Shorten(strings.Join(s.Stated, ", "), 60)
	}
	return line
}

// itself says what the record takes in the way of the what-if.
func (s *ReplaySummary) itself() string {
	return fmt.Sprintf("the record itself takes %s and its jobs %s in the mean", text.Duration(s.Makespan), text.Duration(s.JobTime))
}

// Errors are those of the jobs, in words.
func (s *ReplaySummary) Errors() string {
	return fmt.Sprintf("median error %s of %s, worst %s (%s)", text.Percent(s.Median), text.Count(s.Jobs, "job"), signedPercent(s.Worst), text.Shorten(s.WorstJob, 24))
}

func signedPercent(s text.Share) string { return fmt.Sprintf("%+.1f %%", 100*float64(s)) }

// table lists the jobs with the largest differences.
func (s *ReplaySummary) table(t *text.Writer) {
	if s.Jobs == 0 {
		return
	}
	t.Section("Recorded against simulated")
	fmt.Fprintf(t, "job\trecorded\tsimulated\tdifference\tcause\n")
	for _, r := range s.List {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", text.Shorten(r.ID, 32), text.Duration(r.Recorded), text.Duration(r.Simulated), signedPercent(r.Difference), r.Cause)
	}
	t.Flush()
	if more := s.Jobs - len(s.List); more > 0 {
		fmt.Fprintf(t, "%s with smaller differences: see %s\n", text.Count(more, "more job"), replayName)
	}
}
