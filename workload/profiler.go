package workload

import (
	"cmp"
)

// Profiler makes profiles of recorded jobs. Runs of one job, known by its
// name, merge into one profile. It keeps no jobs, so that many histories can
// pass through it: of each merged profile it keeps the values behind its
// samples, all of them up to 4 million in all profiles together. Beyond that
// every sample of more than some thousand keeps a thinned selection, from
// which its quantiles are; its number, mean, deviation and extremes stay exact.
type Profiler struct {
	// Key names the profile a job belongs to, or is empty for a job that makes
	// a profile of its own, under its id; nil: its name.
	Key func(*HistoryJob) string

	// Spill puts the profiles of single jobs into a temporary file when they
	// are more than a MiB. They are to be had through Each only, and Close
	// removes them.
	Spill bool

	byKey  map[string]*profileSums
	order  []*profileSums
	keeper keeper
	done   spool
}

// Add takes in one run.
func (p *Profiler) Add(j *HistoryJob) {
	key := j.Name
	if p.Key != nil {
		key = p.Key(j)
	}
	s, ok := p.byKey[key]
	if !ok {
		s = &profileSums{name: cmp.Or(key, j.ID), after: p.done.n, keeper: &p.keeper}
		if key == "" && p.Spill {
			s.keeper = &keeper{}
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
	if p.keeper.kept > exactValues && !p.keeper.thin {
		p.keeper.thin = true
		for _, s := range p.order {
			s.eachGathering(func(t *gathering) { t.thin(&p.keeper) })
		}
	}
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
// time. An error is that of f, or of the temporary file.
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

// ExtractProfile makes the profile of one or more runs of one job.
func ExtractProfile(runs ...*HistoryJob) *Profile {
	p := Profiler{Key: func(*HistoryJob) string { return cmp.Or(runs[0].Name, runs[0].ID) }}
	for _, j := range runs {
		p.Add(j)
	}
	return p.Profiles()[0]
}
