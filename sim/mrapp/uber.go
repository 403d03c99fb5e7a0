package mrapp

// uberizes reports whether the job runs inside its ApplicationMaster
// (JobImpl.makeUberDecision). With the defaults of 3.3 the memory of tasks does not
// speak against it.
func (a *AppMaster) uberizes() bool {
	j, s := a.job, &a.job.Settings
	most := s.UberBytes
	if most == 0 {
		most = j.BlockBytes
	}
	size := j.MapSize
	reduces := j.Spec.Reduces.Count
	if reduces > 0 {
		size = size.Max(j.ReduceSize)
	}
	return s.Uber && len(j.Hosts) <= s.UberMaps && reduces <= s.UberReduces &&
		j.Spec.Maps.InputBytes <= most && size.Within(j.AMSize)
}

// localLauncher runs the tasks of an uber job one after the other in the
// ApplicationMaster's own container (LocalContainerLauncher).
type localLauncher struct {
	waiting []*attempt
	running bool
}

func (l *localLauncher) add(a *AppMaster, t *attempt) {
	l.waiting = append(l.waiting, t)
	if !l.running {
		l.running = true
		a.later(event{local: true})
	}
}

// next starts the next task.
func (l *localLauncher) next(a *AppMaster) {
	if len(l.waiting) == 0 {
		l.running = false
		return
	}
	t := l.waiting[0]
	l.waiting = l.waiting[1:]
	if t.state != unassigned {
		l.next(a)
		return
	}
	t.state = running
	a.work(t, a.registered.Node)
}
