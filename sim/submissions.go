package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// submissions holds the future jobs, and those whose initialisation or whose end
// is recorded.
type submissions struct {
	eng         *engine.Engine
	jobs        []workload.Job
	submitted   int
	inits       []int32 // jobs, in the order of their recorded initialisation
	ends        []int32 // jobs, in the order of the recorded orders to end
	submitTimer engine.Timer
	initTimer   engine.Timer
	endTimer    engine.Timer
}

// newSubmissions sets the first calls of submit and of repeat, which initialises
// and ends jobs.
func newSubmissions(eng *engine.Engine, jobs []workload.Job, submit, repeat func(int32)) (submissions, error) {
	s := submissions{eng: eng, jobs: jobs}
	for i := range jobs {
		if jobs[i].Init > 0 {
			s.inits = append(s.inits, int32(i))
		}
		if jobs[i].Ends.After > 0 {
			s.ends = append(s.ends, int32(i))
		}
		if i > 0 && jobs[i].Submit < jobs[i-1].Submit {
			return s, fmt.Errorf("job %s is submitted before job %s but listed after it", jobs[i].ID, jobs[i-1].ID)
		}
	}
	s.submitTimer = eng.NewTimer(engine.Submission, 0, submit)
	s.initTimer = eng.NewTimer(engine.Submission, 1, repeat)
	s.endTimer = eng.NewTimer(engine.Submission, 2, repeat)
	slices.SortStableFunc(s.ends, func(a, b int32) int { return cmp.Compare(endOf(&jobs[a]), endOf(&jobs[b])) })
	slices.SortStableFunc(s.inits, func(a, b int32) int { return cmp.Compare(jobs[a].Init, jobs[b].Init) })
	s.set()
	return s, nil
}

// endOf returns when a job is ordered to end.
func endOf(j *workload.Job) engine.Time { return engine.At(j.Submit + j.Ends.After) }

// set sets the timers to the next due job.
func (s *submissions) set() {
	if s.submitted < len(s.jobs) {
		s.submitTimer.Reset(engine.At(s.jobs[s.submitted].Submit))
	}
	if len(s.inits) > 0 {
		s.initTimer.Reset(engine.At(s.jobs[s.inits[0]].Init))
	}
	if len(s.ends) > 0 {
		s.endTimer.Reset(endOf(&s.jobs[s.ends[0]]))
	}
}

// nextSubmitted returns the next job that is due for submission.
func (s *submissions) nextSubmitted() (id int, ok bool) {
	if s.submitted == len(s.jobs) || engine.At(s.jobs[s.submitted].Submit) > s.eng.Now() {
		return 0, false
	}
	s.submitted++
	return s.submitted - 1, true
}

// nextInitialised returns the next job that is due for initialisation.
func (s *submissions) nextInitialised() (id int, ok bool) {
	if len(s.inits) == 0 || engine.At(s.jobs[s.inits[0]].Init) > s.eng.Now() {
		return 0, false
	}
	id = int(s.inits[0])
	s.inits = s.inits[1:]
	return id, true
}

// nextEnded returns the next job that is ordered to end.
func (s *submissions) nextEnded() (id int, ok bool) {
	if len(s.ends) == 0 || endOf(&s.jobs[s.ends[0]]) > s.eng.Now() {
		return 0, false
	}
	id = int(s.ends[0])
	s.ends = s.ends[1:]
	return id, true
}
