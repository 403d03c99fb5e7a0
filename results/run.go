package results

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// These are the names of the files of a result; plots has those of its
// pictures.
const (
	AttemptsName    = "attempts.csv"
	JobsName        = "jobs.csv"
	ResourcesName   = "resources.csv"
	SummaryName     = "summary.json"
	predictionsName = "predictions.csv"
	replayName      = "replay.csv"
	ComparisonName  = "comparison.json"
)

// Run is one simulated question with the content of all its files.
type Run struct {
	Title       string // one line for people; empty: the question's name
	Question    *model.WhatIf
	Predictions []model.Prediction   // the simulator's, one per replication; at least one
	Replicated  []points.Replication // the metrics of each
	Stats       *Stats               // of the first replication, which the tables and pictures show
	Models      []Answer             // answers of other models to the same question
	Limits      []Limit              // what limited the first replication, the largest part first; empty: not known
	NoPlots     bool                 // write no pictures
	Labels      *figure.Labels       // texts of the pictures that the user replaces

	Stated       []string           // settings that state what the record does not
	Rescaled     bool               // recorded times are adapted to where tasks run
	Still        string             // the machines that stood still, and what becomes of it; empty: none did
	Calibrations []model.Prediction // by each calibration that explains the record, its own first, corrected by what it misses of it; empty: none are known
	Chances      []model.Prediction // with other seeds: on recorded times of tasks that are drawn from each other, or by the first calibrations after its own
	Replay       *ReplayedRecord    // where recorded times of tasks answer about another cluster or workload; else nil

	Recorded []workload.JobRecord // what is recorded of the jobs; empty: nothing
	Changed  []string             // settings that differ from the recorded ones
}

// ReplayedRecord is the record itself, simulated in the way of the what-if.
type ReplayedRecord struct {
	Run      *Run
	Base     *Run // the same, without standstills if the what-if leaves them out
	Makespan time.Duration
	Missed   float64 // recorded over simulated makespan; 1 if no makespan is recorded
}

// around returns the 90 % interval of a what-if on recorded times of tasks: what the
// replay misses of the record it may miss of the answer, beside the error of the model.
// Times of tasks may be those of their neighbours on a node, or not.
func (r *ReplayedRecord) around(answer time.Duration, by, neighbours float64) (low, high time.Duration) {
	return off(workload.Seconds(answer.Seconds()*min(1, r.Missed)), min(0, neighbours)-by), off(workload.Seconds(answer.Seconds()*max(1, r.Missed)), max(0, neighbours)+by)
}

// neighbours returns the logarithm by which the time of a job would change if its tasks
// took as much longer as more of them share a node than in the replay of the record.
// Recorded times contain what tasks on a node cost each other, and do not tell how much.
func (r *Run) neighbours(j *model.JobOutcome) float64 {
	at := slices.IndexFunc(r.Replay.Run.Predictions[0].Jobs, func(o model.JobOutcome) bool { return o.ID == j.ID })
	if at < 0 || j.Finish == j.Submit || j.FirstMap < 0 || j.LastMap < 0 {
		return 0
	}
	before := &r.Replay.Run.Predictions[0].Jobs[at]
	change := func(tasks, waves, tasksBefore, wavesBefore int) float64 {
		if min(tasks, waves, tasksBefore, wavesBefore) == 0 {
			return 0
		}
		onNode := func(tasks, waves int, q *model.WhatIf) float64 {
			return max(1, float64(tasks)/float64(waves)/float64(len(q.Cluster.Nodes)))
		}
		return math.Log(onNode(tasks, waves, r.Question) / onNode(tasksBefore, wavesBefore, r.Replay.Run.Question))
	}
	whole := (j.Finish - j.Submit).Seconds()
	return (j.LastMap-j.FirstMap).Seconds()/whole*change(j.Maps, j.MapWaves, before.Maps, before.MapWaves) +
		(j.Finish-j.LastMap).Seconds()/whole*change(j.Reduces, j.ReduceWaves, before.Reduces, before.ReduceWaves)
}

// Spread enters what is not known of the answers: into the first prediction as its
// interval, and into its jobs as their bounds.
func (r *Run) Spread() {
	p := &r.Predictions[0]
	switch {
	case r.Replay != nil:
		last, neighbours := time.Duration(0), 0.0
		runs := r.drawn()
		ofJobs := modelErrorOf(p.Mean, r.Replay.Makespan, 1)
		p.Jobs = slices.Clone(p.Jobs)
		outcomes := outcomes(runs)
		for k := range p.Jobs {
			if j := &p.Jobs[k]; j.Finished() {
				of := r.neighbours(j)
				if j.Finish > last {
					last, neighbours = j.Finish, of
				}
				mean, scatter, n := logsOf(jobTimes(outcomes(k)))
				j.Low, j.High = r.Replay.around(logTime(mean), ofJobs.Beside(scatter, n), of)
			}
		}
		part := p.LastPart()
		mean, scatter, n := logsOf(makespans(runs))
		p.Least, p.Most = r.Replay.around(logTime(mean), modelErrorOf(logTime(mean), r.Replay.Makespan, part).Beside(scatter, n), part*neighbours)
	case len(r.Calibrations) > 0:
		m, pairs := r.Machines(), r.pairs()
		p.Least, p.Most = between(m.Mean, math.Hypot(float64(m.Error(m.Scatter)), r.chance(makespans(pairs))))
		p.Jobs = slices.Clone(p.Jobs)
		outcomes, paired := outcomes(r.Calibrations), outcomes(slices.Concat(r.Calibrations[:1], pairs))
		for k := range p.Jobs {
			if j := &p.Jobs[k]; j.Finished() {
				times := jobTimes(outcomes(k))
				mean, _, _ := logsOf(times)
				j.Low, j.High = between(mean, math.Hypot(float64(m.Error(ScatterOf(times))), r.chance(jobTimes(paired(k)[1:]))))
			}
		}
	}
}

// pairs returns runs by some calibrations, and by the same ones with other seeds.
func (r *Run) pairs() []model.Prediction {
	if len(r.Chances) == 0 {
		return nil
	}
	return slices.Concat(r.Calibrations[1:1+len(r.Chances)], r.Chances)
}

// chance returns half of a 90 % interval of the logarithm of what a record, to which the
// calibrations are corrected, owes to chance: it is one run. times are those of pairs; if
// not all have one, it is not known.
func (r *Run) chance(times []float64) float64 {
	n, squares := len(r.Chances), 0.0
	if n == 0 || len(times) != 2*n || slices.Min(times) <= 0 {
		return 0
	}
	for i, t := range times[:n] {
		off := math.Log(times[n+i] / t)
		squares += off * off / 2 // both are off
	}
	student := distuv.StudentsT{Sigma: 1, Nu: float64(n)}
	return student.Quantile(0.95) * math.Sqrt(squares/float64(n))
}

// Machines is the makespan by the machines that explain the record.
type Machines struct {
	Logs          []float64 // its logarithm by each machine
	Mean, Scatter float64   // of its logarithm
	recorded      time.Duration
}

// Error returns the error of a time of the run that scatters so over the machines.
func (m *Machines) Error(scatter float64) ModelError {
	return MachinesErrorOf(logTime(m.Mean), m.recorded, scatter)
}

// Open returns the ends of the 90 % interval of one more machine that explains the record,
// and half of it, relative.
func (m *Machines) Open() (low, high time.Duration, half float64) {
	half = ModelError(0).Beside(m.Scatter, len(m.Logs))
	low, high = between(m.Mean, half)
	return low, high, math.Sinh(half)
}

func (r *Run) Machines() Machines {
	m := Machines{recorded: workload.RecordedMakespan(r.Recorded)}
	for i := range r.Calibrations {
		m.Logs = append(m.Logs, math.Log(r.Calibrations[i].Mean.Seconds()))
	}
	times := makespans(r.Calibrations)
	m.Mean, _, _ = logsOf(times)
	m.Scatter = ScatterOf(times)
	return m
}

// drawn returns a run on recorded times of tasks and those that chance gave others.
func (r *Run) drawn() []model.Prediction {
	return slices.Concat(r.Predictions[:1], r.Chances)
}

// makespans returns those of several runs, in ns.
func makespans(runs []model.Prediction) (times []float64) {
	for i := range runs {
		times = append(times, float64(runs[i].Mean))
	}
	return times
}

// logsOf returns the mean and the deviation of the logarithm of n times in ns, in seconds;
// of none but zero, the logarithm of zero.
func logsOf(times []float64) (mean, scatter float64, n int) {
	var logs []float64
	for _, t := range times {
		if t > 0 {
			logs = append(logs, math.Log(t/1e9))
		}
	}
	if len(logs) == 0 {
		return math.Inf(-1), 0, 0
	}
	mean, scatter = stat.MeanStdDev(logs, nil)
	return mean, scatter, len(logs)
}

// between returns the ends of an interval of a logarithm, as times.
func between(mean, half float64) (low, high time.Duration) {
	return logTime(mean - half), logTime(mean + half)
}

func logTime(x float64) time.Duration { return workload.Seconds(math.Exp(x)) }

func off(t time.Duration, by float64) time.Duration {
	return workload.Seconds(t.Seconds() * math.Exp(by))
}

// Mean returns the mean over the replications, with its 95 % interval as Low and
// High: of the makespan, and of the time of each job that finishes in all of them.
// Phases are means too. All else is that of the first replication.
func (r *Run) Mean() model.Prediction {
	p := r.Predictions[0]
	if len(r.Predictions) == 1 {
		return p
	}
	over := func(of func(*model.Prediction) time.Duration) (low, mean, high time.Duration) {
		values := make([]float64, len(r.Predictions))
		for i := range values {
			values[i] = of(&r.Predictions[i]).Seconds()
		}
		m, half := fit.StudentInterval(values)
		return workload.Seconds(math.Max(0, m-half)), workload.Seconds(m), workload.Seconds(m + half)
	}
	p.Low, p.Mean, p.High = over(func(p *model.Prediction) time.Duration { return p.Mean })
	p.Jobs = slices.Clone(p.Jobs)
	outcomes := outcomes(r.Predictions)
	for k := range p.Jobs {
		if e := NewEstimate(jobTimes(outcomes(k))); e.N == len(r.Predictions) {
			j := &p.Jobs[k]
			low, high := time.Duration(*e.Low), time.Duration(*e.High)
			switch { // what several seeds know does not shrink what no record tells
			case len(r.Calibrations) > 0:
				low, high = j.Low, j.High // of answers that are corrected
			case r.Replay != nil:
				low, high = min(low, j.Low), max(high, j.High)
			}
			j.Low, j.High, j.Finish = low, high, j.Submit+time.Duration(e.Mean)
		}
	}
	p.Phases = slices.Clone(p.Phases)
	for k := range p.Phases {
		_, p.Phases[k].Time, _ = over(func(q *model.Prediction) time.Duration {
			for _, ph := range q.Phases {
				if ph.Kind == p.Phases[k].Kind && ph.Phase == p.Phases[k].Phase {
					return ph.Time
				}
			}
			return 0
		})
	}
	return p
}

// outcomes returns what finds a job of the first of several runs in all of them. With
// scale_jobs each seed draws other jobs, so that some may lack it.
func outcomes(runs []model.Prediction) func(k int) []*model.JobOutcome {
	first := runs[0].Jobs
	places := make([]map[string]int, len(runs)) // nil: the same jobs in the same order
	for i := range runs {
		jobs := runs[i].Jobs
		if slices.EqualFunc(jobs, first, func(a, b model.JobOutcome) bool { return a.ID == b.ID }) {
			continue
		}
		places[i] = make(map[string]int, len(jobs))
		for k := range jobs {
			places[i][jobs[k].ID] = k
		}
	}
	return func(k int) (all []*model.JobOutcome) {
		for i := range runs {
			place, drawn := k, true
			if places[i] != nil {
				place, drawn = places[i][first[k].ID]
			}
			if drawn {
				all = append(all, &runs[i].Jobs[place])
			}
		}
		return all
	}
}

// jobTimes returns the times from submission to finish of those that end, in ns.
func jobTimes(outcomes []*model.JobOutcome) (times []float64) {
	for _, j := range outcomes {
		if j.Finished() {
			times = append(times, float64(j.Finish-j.Submit))
		}
	}
	return times
}

// answers returns the predictions of the simulator and of the other models.
func (r *Run) answers() *Answers {
	a := &Answers{Reference: r.Predictions[0].Model}
	a.List = append(a.List, Answer{Scenario: r.Question.Name, Prediction: r.Predictions[0]})
	a.List = append(a.List, r.Models...)
	return a
}

// Comparison is several runs, or one run and the predictions of models for it.
type Comparison struct {
	Title   string
	Runs    []*Run
	Answers *Answers       // nil: those of the runs
	Points  *points.Points // the same runs as points of a study; nil: not asked for
}

func (c *Comparison) answers() *Answers {
	if c.Answers != nil {
		return c.Answers
	}
	all := &Answers{}
	for _, r := range c.Runs {
		a := r.answers()
		all.Reference = a.Reference
		all.List = append(all.List, a.List...)
	}
	return all
}

// Answer is the answer of one predictor to one question.
type Answer struct {
	Scenario   string
	At         float64          // value of the swept key
	Prediction model.Prediction // Model is always set
	Err        error            // why the model cannot answer; nil if it can
	Gap        []GapPart        // causes of the difference to the reference's makespan; they add up

	Replications int       // of a simulation whose means these are; 0: one run, or a model
	Over         *Interval // the makespan over more runs of what is not known; nil: there are none
}

// Interval holds a time with a probability of 90 %, and its mean over n runs of what may
// be otherwise.
type Interval struct {
	N    int   `json:"n"`
	Mean int64 `json:"mean_ns"`
	Low  int64 `json:"low_ns"`
	High int64 `json:"high_ns"`
}

// GapPart is a part of the difference between a prediction and the reference.
type GapPart struct {
	Cause string
	Phase bool // a phase of tasks, whose mean differs
	Time  time.Duration
}

// Answers are predictions for the same questions. Reference names the model
// with which the others are compared: the simulator, or recorded runs; empty:
// none.
type Answers struct {
	Reference string
	Over      string // the swept key, one value per scenario; empty: none
	List      []Answer
}

// reference returns the prediction with which others of a scenario are
// compared.
func (a *Answers) reference(scenario string) *model.Prediction {
	for i := range a.List {
		if x := &a.List[i]; x.Scenario == scenario && x.Err == nil && x.Prediction.Model == a.Reference {
			return &x.Prediction
		}
	}
	return nil
}

// Limit is the part of the time of all jobs that went by with one thing.
type Limit struct {
	What  string     `json:"limit"`
	Time  int64      `json:"time_ns"`
	Share text.Share `json:"share"`

	// On YARN, of a limit that kept containers from jobs: the most that waited at an
	// instant, and what was used of the limit then.
	Waiting int    `json:"containers,omitempty"`
	Used    int64  `json:"used,omitempty"`
	Of      int64  `json:"of,omitempty"`
	Unit    string `json:"unit,omitempty"`
}
