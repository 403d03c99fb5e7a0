package workload

import "cmp"

// Profiler makes profiles of recorded jobs. Runs of one job, known by its name,
// merge into one profile. It keeps no jobs, so that many histories can pass
// through it, but the values behind the samples of the merged profiles: about 50
// bytes for a task.
type Profiler struct {
	// Key names the profile that a job belongs to. It is empty for a job with
	// a profile of its own, under its id. If Key is nil, the name of the job
	// is used.
	Key func(*HistoryJob) string

	byKey    map[string]*profileSums
	profiles []func() *Profile // in the order of their first runs
}

// Add adds one run.
func (p *Profiler) Add(j *HistoryJob) {
	key := j.Name
	if p.Key != nil {
		key = p.Key(j)
	}
	if s, ok := p.byKey[key]; ok {
		s.add(j)
		return
	}
	s := &profileSums{name: cmp.Or(key, j.ID)}
	s.add(j)
	if key == "" {
		alone := s.profile()
		p.profiles = append(p.profiles, func() *Profile { return alone })
		return
	}
	if p.byKey == nil {
		p.byKey = make(map[string]*profileSums)
	}
	p.byKey[key] = s
	p.profiles = append(p.profiles, s.profile)
}

// Profiles returns the profiles in the order of their first runs.
func (p *Profiler) Profiles() []*Profile {
	list := make([]*Profile, len(p.profiles))
	for i, profile := range p.profiles {
		list[i] = profile()
	}
	return list
}

// extractProfile makes the profile of one or more runs of one job.
func extractProfile(runs ...*HistoryJob) *Profile {
	p := Profiler{Key: func(*HistoryJob) string { return cmp.Or(runs[0].Name, runs[0].ID) }}
	for _, j := range runs {
		p.Add(j)
	}
	return p.Profiles()[0]
}
