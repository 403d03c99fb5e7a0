package workload

import (
	"cmp"
)

// Profiler makes profiles of recorded jobs. Runs of one job, known by its name,
// merge into one profile. It keeps no jobs, so that many histories can pass
// through it, but the values behind the samples of the merged profiles: about 50
// bytes for a task.
type Profiler struct {
	// Key names the profile that a job belongs to. It is empty for a job with
	// a profile of its own, under its id. If Key is nil, the name of the job
	// is used.
	Key func(*HistoryJob) string

	// Spill writes the profiles of single jobs to a temporary file if they
	// exceed a MiB. Only Each returns them, and Close removes them.
	Spill bool

	byKey map[string]*profileSums
	order []*profileSums
	done  spool
}

// Add adds one run.
func (p *Profiler) Add(j *HistoryJob) {
	key := j.Name
	if p.Key != nil {
		key = p.Key(j)
	}
	s, ok := p.byKey[key]
	if !ok {
		s = &profileSums{name: cmp.Or(key, j.ID), after: p.done.n}
		if key == "" && p.Spill {
			s.add(j)
			p.done.put(s.profile())
			return
		}
		if p.byKey == nil {
			p.byKey = make(map[string]*profileSums)
		}
		if key != "" {
			p.byKey[key] = s
		}
		p.order = append(p.order, s)
	}
	s.add(j)
}

// Profiles returns the profiles in the order of their first runs.
func (p *Profiler) Profiles() []*Profile {
	list := make([]*Profile, len(p.order))
	for i, s := range p.order {
		list[i] = s.profile()
	}
	return list
}

// Each calls f for the profiles in the order of their first runs, one at a
// time. An error comes from f or from the temporary file.
func (p *Profiler) Each(f func(*Profile) error) error {
	next, err := p.done.reader()
	for _, s := range p.order {
		for ; err == nil && p.done.at < s.after; p.done.at++ {
			err = next(f)
		}
		if err == nil {
			err = f(s.profile())
		}
	}
	for ; err == nil && p.done.at < p.done.n; p.done.at++ {
		err = next(f)
	}
	return err
}

// Len returns the number of profiles.
func (p *Profiler) Len() int { return len(p.order) + p.done.n }

// Close removes the temporary file.
func (p *Profiler) Close() error { return p.done.close() }

// extractProfile makes the profile of one or more runs of one job.
func extractProfile(runs ...*HistoryJob) *Profile {
	p := Profiler{Key: func(*HistoryJob) string { return cmp.Or(runs[0].Name, runs[0].ID) }}
	for _, j := range runs {
		p.Add(j)
	}
	return p.Profiles()[0]
}
