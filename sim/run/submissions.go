package run

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// Open sets the first calls of submit and of repeat, which initialises and ends
// jobs.
func (s *Submissions) Open(r *Run, submit, repeat func(int32)) error {
	eng, jobs := r.Engine, r.Question.Jobs
	*s = Submissions{eng: eng, jobs: jobs}
	for i := range jobs {
		if jobs[i].Init > 0 {
			s.inits = append(s.inits, int32(i))
		}
		if jobs[i].Ends.After > 0 {
			s.ends = append(s.ends, int32(i))
		}
		if i > 0 && jobs[i].Submit < jobs[i-1].Submit {
			return fmt.Errorf("job %s is submitted before job %s but listed after it", jobs[i].ID, jobs[i-1].ID)
		}
	}
	s.submitTimer = eng.NewTimer(engine.Submission, 0, submit)
	s.initTimer = eng.NewTimer(engine.Submission, 1, repeat)
	s.endTimer = eng.NewTimer(engine.Submission, 2, repeat)
	slices.SortStableFunc(s.ends, func(a, b int32) int { return cmp.Compare(endOf(&jobs[a]), endOf(&jobs[b])) })
	slices.SortStableFunc(s.inits, func(a, b int32) int { return cmp.Compare(jobs[a].Init, jobs[b].Init) })
	s.Set()
	return nil
}

// endOf returns when a job is ordered to end.
func endOf(j *workload.Job) engine.Time { return engine.At(j.Submit + j.Ends.After) }

// Set sets the timers to the next due job.
func (s *Submissions) Set() {
	if s.Submitted < len(s.jobs) {
		s.submitTimer.Reset(engine.At(s.jobs[s.Submitted].Submit))
	}
	if len(s.inits) > 0 {
		s.initTimer.Reset(engine.At(s.jobs[s.inits[0]].Init))
	}
	if len(s.ends) > 0 {
		s.endTimer.Reset(endOf(&s.jobs[s.ends[0]]))
	}
}

// NextSubmitted returns the next job that is due for submission.
func (s *Submissions) NextSubmitted() (id int, ok bool) {
	if s.Submitted == len(s.jobs) || engine.At(s.jobs[s.Submitted].Submit) > s.eng.Now() {
		return 0, false
	}
	s.Submitted++
	return s.Submitted - 1, true
}

// NextInitialised returns the next job that is due for initialisation.
func (s *Submissions) NextInitialised() (id int, ok bool) {
	if len(s.inits) == 0 || engine.At(s.jobs[s.inits[0]].Init) > s.eng.Now() {
		return 0, false
	}
	id = int(s.inits[0])
	s.inits = s.inits[1:]
	return id, true
}

// NextEnded returns the next job that is ordered to end.
func (s *Submissions) NextEnded() (id int, ok bool) {
	if len(s.ends) == 0 || endOf(&s.jobs[s.ends[0]]) > s.eng.Now() {
		return 0, false
	}
	id = int(s.ends[0])
	s.ends = s.ends[1:]
	return id, true
}
