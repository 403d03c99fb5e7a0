package run

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// Open sets the first calls of submit and of repeat, which initialises and ends
// jobs.
func (s *Submissions) Open(r *Run, submit, repeat func(int32)) error {
	eng, jobs := r.Engine, r.Question.Jobs
	*s = Submissions{eng: eng, jobs: jobs, submitted: make([]bool, len(jobs)), queue: make([]int32, 0, len(jobs))}
	if err := s.chain(); err != nil {
		return err
	}
	for i := range jobs {
		if jobs[i].Init > 0 {
			s.inits = append(s.inits, int32(i))
		}
		if jobs[i].Ends.After > 0 {
			s.ends = append(s.ends, int32(i))
		}
		if len(jobs[i].After) > 0 {
			continue
		}
		if n := len(s.queue); n > 0 && jobs[i].Submit < jobs[s.queue[n-1]].Submit {
			return fmt.Errorf("job %s is submitted before job %s but listed after it", jobs[i].ID, jobs[s.queue[n-1]].ID)
		}
		s.queue = append(s.queue, int32(i))
	}
	s.submitTimer = eng.NewTimer(engine.Submission, 0, submit)
	s.initTimer = eng.NewTimer(engine.Submission, 1, repeat)
	s.endTimer = eng.NewTimer(engine.Submission, 2, repeat)
	slices.SortStableFunc(s.ends, func(a, b int32) int { return cmp.Compare(endOf(&jobs[a]), endOf(&jobs[b])) })
	slices.SortStableFunc(s.inits, func(a, b int32) int { return cmp.Compare(jobs[a].Init, jobs[b].Init) })
	s.Set()
	return nil
}

// chain finds which jobs wait for which.
func (s *Submissions) chain() error {
	if !slices.ContainsFunc(s.jobs, func(j workload.Job) bool { return len(j.After) > 0 }) {
		return nil
	}
	s.after, s.waits = make([][]int32, len(s.jobs)), make([]int32, len(s.jobs))
	index := make(map[string]int32, len(s.jobs))
	for i := range s.jobs {
		index[s.jobs[i].ID] = int32(i)
	}
	for i := range s.jobs {
		for _, id := range s.jobs[i].After {
			before, ok := index[id]
			if !ok {
				return fmt.Errorf("job %s: after: no job %s", s.jobs[i].ID, id)
			}
			s.after[before] = append(s.after[before], int32(i))
			s.waits[i]++
		}
	}
	return nil
}

// Release submits what waited for a job that has ended now, if it waits for no other.
func (s *Submissions) Release(ended int) {
	if s.after == nil {
		return
	}
	now := s.eng.Now().Duration()
	for _, i := range s.after[ended] {
		if s.waits[i]--; s.waits[i] > 0 {
			continue
		}
		j := &s.jobs[i]
		j.Submit += now
		if j.Deadline > 0 {
			j.Deadline += s.began(j)
		}
		at, _ := slices.BinarySearchFunc(s.queue, j.Submit, func(k int32, t time.Duration) int {
			if s.jobs[k].Submit <= t {
				return -1
			}
			return 1
		})
		s.queue = slices.Insert(s.queue, at, i)
		s.Set()
	}
}

// began is when the first job of a chain was submitted.
func (s *Submissions) began(j *workload.Job) time.Duration {
	first := j.Submit
	for i := range s.jobs {
		if slices.Contains(j.After, s.jobs[i].ID) {
			first = min(first, s.began(&s.jobs[i]))
		}
	}
	return first
}

// Until marks the jobs that are submitted up to an instant, in a run whose master keeps
// no submissions.
func (s *Submissions) Until(jobs []workload.Job, at engine.Time) {
	s.submitted = make([]bool, len(jobs))
	for i := range jobs {
		s.submitted[i] = engine.At(jobs[i].Submit) <= at
	}
}

// endOf returns when a job is ordered to end.
func endOf(j *workload.Job) engine.Time { return engine.At(j.Submit + j.Ends.After) }

// Set sets the timers to the next due job.
func (s *Submissions) Set() {
	if len(s.queue) > 0 {
		s.submitTimer.Reset(engine.At(s.jobs[s.queue[0]].Submit))
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
	if len(s.queue) == 0 || engine.At(s.jobs[s.queue[0]].Submit) > s.eng.Now() {
		return 0, false
	}
	id = int(s.queue[0])
	s.queue, s.submitted[id] = s.queue[1:], true
	return id, true
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
