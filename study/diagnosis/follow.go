package diagnosis

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/simulated"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// Standing is what a folder of histories says at one time: the jobs that run, and the
// findings that were not there before.
type Standing struct {
	Begun   bool          // there is a job
	Now     time.Duration // last recorded instant
	Running []RunningJob
	Found   []diagnose.Finding
}

// RunningJob is a job without a recorded end, with its predicted end.
type RunningJob struct {
	ID             string
	Ended, Tasks   [2]int // maps and reduces
	End, Low, High time.Duration
	Reduces        bool   // times of its reduces are known, or of those of jobs with its name
	Unknown        string // why no end is predicted

	name string
}

// continuations is the number of simulations of a prediction. The interval is that of
// their ends without the earliest and the latest.
const continuations = 21

// widened are the factors by which the interval lets the time that is left be shorter and
// longer than predicted (docs/validation.md). Where no time of a reduce is known their
// spread is wide already.
var widened = [2][2]float64{{1.5, 2}, {2.5, 3}}

// slack is what the end of a job takes at most besides: a clean-up task and heartbeats.
const slack = 10 * time.Second

// Standings passes what a folder says to each, now and each time that it has grown, until
// no job runs.
func (k Options) Standings(folder string, grown func() bool, each func(*Standing) error) error {
	known := map[string]bool{}
	for {
		s, err := k.standing(folder, known)
		if err != nil {
			return err
		}
		if err := each(s); err != nil || s.Begun && len(s.Running) == 0 || !grown() {
			return err
		}
	}
}

func (k Options) standing(folder string, known map[string]bool) (*Standing, error) {
	h, err := trace.Open(folder)
	if err != nil {
		return nil, err
	}
	s := &Standing{Begun: len(h.Jobs) > 0, Now: h.Now()}
	if !s.Begun { // the first lines of a history, or a file that is written anew
		return s, nil
	}
	if err := s.predict(folder, h); err != nil {
		return nil, err
	}
	runs := func(job string) bool {
		return slices.ContainsFunc(s.Running, func(r RunningJob) bool { return r.ID == job })
	}
	k.Verify, k.read = false, h
	d, err := Diagnose([]string{folder}, k)
	if err != nil {
		return nil, err
	}
	for _, f := range d.Findings {
		if runs(f.Job) && slices.Contains(ofWholeJobs, f.Rule) {
			continue
		}
		if what := fmt.Sprint(f.Rule, f.Job, f.Node, f.Device); !known[what] {
			known[what] = true
			s.Found = append(s.Found, f)
		}
	}
	if k.Job != "" {
		s.Running = slices.DeleteFunc(s.Running, func(r RunningJob) bool { return !workload.MatchesJob(r.ID, r.name, k.Job) })
	}
	return s, nil
}

// ofWholeJobs are the rules that count tasks, or slots that seem free because the record of
// a task that runs has no end. They hold for no job that runs.
var ofWholeJobs = []string{"R04", "R07", "R11", "R15", "R20"}

// predict simulates the record so far and goes on with times of tasks that are drawn from
// those that ended.
func (s *Standing) predict(folder string, h *workload.History) error {
	at := map[string]int{} // in Running
	records := map[string]*workload.HistoryJob{}
	for i := range h.Jobs {
		if j := &h.Jobs[i]; j.Outcome == workload.Running {
			at[j.ReplayedAs()], records[j.ReplayedAs()] = len(s.Running), j
			r := RunningJob{ID: j.ID, name: j.Name, Ended: j.Ended(), Unknown: "no map of it has ended"}
			for _, t := range j.Tasks {
				if t.Kind <= workload.Reduce {
					r.Tasks[t.Kind]++
				}
			}
			r.Tasks = [2]int{max(r.Tasks[0], j.Maps), max(r.Tasks[1], j.Reduces)}
			s.Running = append(s.Running, r)
		}
	}
	if !slices.ContainsFunc(s.Running, func(r RunningJob) bool { return r.Ended[workload.Map] > 0 }) {
		return nil
	}
	opened, err := study.Open(folder, study.Options{Seed: 1, Reading: scenarios.Reading{Read: h}})
	if err != nil { // such as no slot of a kind so far
		s.unknown(err)
		return nil
	}
	base := opened.Scenario.Runs[0].Question
	if slots := base.Cluster.Slots(); slots[workload.Map] == 0 || slots[workload.Reduce] == 0 { // none was used so far
		base.Cluster.Nodes = slices.Clone(base.Cluster.Nodes)
		const usual = 2 // of a kind, by default of Hadoop
		for i := range base.Cluster.Nodes {
			n := &base.Cluster.Nodes[i]
			for kind, has := range []*int{&n.MapSlots, &n.ReduceSlots} {
				if slots[kind] == 0 {
					*has = usual
				}
			}
		}
	}
	c := workload.NewContinuation(h, base.Jobs)
	for i := range h.Jobs {
		if k, runs := at[h.Jobs[i].ReplayedAs()]; runs {
			s.Running[k].Reduces = c.KnowsReduces(&h.Jobs[i])
		}
	}
	for i := range s.Running {
		s.Running[i].Unknown += "; the others are predicted without it"
	}
	ends := make([][]time.Duration, len(s.Running))
	for n := range continuations {
		q, r := base, rand.New(rand.NewPCG(1, uint64(n)))
		q.Seed, q.Jobs = uint64(1+n), nil
		for _, j := range base.Jobs {
			if record := records[j.ID]; record != nil {
				if j, err = c.Continue(j, record, s.Now, r); err != nil {
					continue
				}
				s.Running[at[j.ID]].Unknown = "it does not end in each simulation"
			}
			q.Jobs = append(q.Jobs, j)
		}
		var attempts simulated.Attempts
		p, err := sim.Simulator{Recorder: &attempts}.Predict(q)
		if err != nil {
			s.unknown(err)
			return nil
		}
		s.add(p.Jobs, attempts, records, at, ends, r.ExpFloat64())
	}
	for i, list := range ends {
		if r := &s.Running[i]; len(list) == continuations {
			slices.Sort(list)
			r.Unknown = ""
			factor := widened[0]
			if r.Reduces {
				factor = widened[1]
			}
			left := func(end time.Duration, by float64) time.Duration {
				return s.Now + workload.Seconds((end-s.Now).Seconds()*by)
			}
			r.End, r.Low, r.High = list[len(list)/2], left(list[1], 1/factor[0]), left(list[len(list)-2], factor[1])+slack
		}
	}
	return nil
}

// unknown says why no end is predicted.
func (s *Standing) unknown(err error) {
	for i := range s.Running {
		s.Running[i].Unknown = err.Error()
	}
}

// add notes the ends of the running jobs in a simulation: as long after the end of so many
// tasks as have ended now as they are in the simulation. A job that should have ended takes
// longer by a part of the time that it is late.
func (s *Standing) add(jobs []model.JobOutcome, attempts []workload.Attempt, records map[string]*workload.HistoryJob, at map[string]int, ends [][]time.Duration, late float64) {
	for i := range jobs {
		k, runs := at[jobs[i].ID]
		if !runs || !jobs[i].Finished() {
			continue
		}
		var recorded, again time.Duration // ends of the last task
		for _, a := range records[jobs[i].ID].Each() {
			if a.State == workload.Succeeded && a.Kind <= workload.Reduce {
				recorded = max(recorded, a.Finish)
			}
		}
		left := s.Running[k].Ended[0] + s.Running[k].Ended[1]
		for n := range attempts { // in the order of their ends
			if a := &attempts[n]; left > 0 && a.Job == jobs[i].ID && a.State == workload.Succeeded && a.Kind <= workload.Reduce {
				left--
				again = a.Finish
			}
		}
		end := jobs[i].Finish + recorded - again
		if over := s.Now - end; over > 0 {
			end = s.Now + workload.Seconds(late*over.Seconds())
		}
		ends[k] = append(ends[k], end)
	}
}

// Text writes what is known, a line for each job.
func (s *Standing) Text(w io.Writer) error {
	count := workload.Counted(len(s.Running), "job runs", "jobs run")
	switch {
	case !s.Begun:
		count = "no job has begun"
	case len(s.Running) == 0:
		count = "no job runs"
	}
	_, err := fmt.Fprintf(w, "after %.0f s: %s\n", s.Now.Seconds(), count)
	for i := range s.Running {
		j := &s.Running[i]
		end := fmt.Sprintf("ends after %.0f s (%.0f to %.0f s)", j.End.Seconds(), j.Low.Seconds(), j.High.Seconds())
		if j.Unknown != "" {
			end = "end not known: " + j.Unknown
		}
		tasks := fmt.Sprintf("%d of %d maps, %d of %d reduces", j.Ended[0], j.Tasks[0], j.Ended[1], j.Tasks[1])
		if j.Tasks == [2]int{} {
			tasks = "no task is recorded"
		}
		_, err1 := fmt.Fprintf(w, "  %s: %s; %s\n", text.Escape(j.ID), tasks, end)
		err = errors.Join(err, err1)
	}
	for i := range s.Found {
		f := &s.Found[i]
		_, err1 := fmt.Fprintf(w, "  new in job %s: %s\n", text.Escape(f.Job), text.Escape(fmt.Sprintf("%s %s: %s", f.Rule, f.Headline(), f.Evidence)))
		err = errors.Join(err, err1)
	}
	return err
}
