package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// submissions holds the future jobs, and those whose initialisation is
// recorded.
type submissions struct {
	eng         *engine.Engine
	jobs        []workload.Job
	submitted   int
	inits       []int32 // jobs, in the order of their recorded initialisation
	submitTimer engine.Timer
	initTimer   engine.Timer
}

// newSubmissions sets the first calls of submit and initialise.
func newSubmissions(eng *engine.Engine, jobs []workload.Job, submit, initialise func(int32)) (submissions, error) {
	s := submissions{eng: eng, jobs: jobs}
	for i := range jobs {
		if jobs[i].Init > 0 {
			s.inits = append(s.inits, int32(i))
		}
		if i > 0 && jobs[i].Submit < jobs[i-1].Submit {
			return s, fmt.Errorf("job %s is submitted before job %s but listed after it", jobs[i].ID, jobs[i-1].ID)
		}
	}
	s.submitTimer = eng.NewTimer(engine.Submission, 0, submit)
	s.initTimer = eng.NewTimer(engine.Submission, 1, initialise)
	slices.SortStableFunc(s.inits, func(a, b int32) int { return cmp.Compare(jobs[a].Init, jobs[b].Init) })
	s.set()
	return s, nil
}

// set sets both timers to the next due job.
func (s *submissions) set() {
	if s.submitted < len(s.jobs) {
		s.submitTimer.Reset(engine.At(s.jobs[s.submitted].Submit))
	}
	if len(s.inits) > 0 {
		s.initTimer.Reset(engine.At(s.jobs[s.inits[0]].Init))
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
