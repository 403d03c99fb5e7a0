package yarn

import (
	"cmp"
	"slices"
)

// appLimit is a queue's limit of applications that run at once.
type appLimit struct {
	up       *appLimit
	path     string      // of the queue
	below    []*appLimit // in the order of the queues
	most     int
	runnable int
	waiting  []*App // of a leaf: above a limit
}

// newAppLimit makes the limit of a queue below another, or of root.
func newAppLimit(up *appLimit, path string, most int) *appLimit {
	l := &appLimit{up: up, path: path, most: most}
	if up != nil {
		up.below = append(up.below, l)
	}
	return l
}

func (l *appLimit) each(do func(*appLimit)) {
	for ; l != nil; l = l.up {
		do(l)
	}
}

// appLimits hold applications above the limits of their queues and users back until
// others end (MaxRunningAppsEnforcer, CSMaxRunningAppsEnforcer).
type appLimits struct {
	running map[string]int
	waiting map[string][]*App // by user
	ofUser  func(user string) int
	ofQueue func(*App) *appLimit
	run     func(*App) // makes an application part of its queue
}

func newAppLimits(ofUser func(string) int, ofQueue func(*App) *appLimit, run func(*App)) appLimits {
	return appLimits{make(map[string]int), make(map[string][]*App), ofUser, ofQueue, run}
}

// add lets an application run or wait.
func (s *appLimits) add(a *App) {
	if s.may(a) {
		s.start(a)
		return
	}
	l := s.ofQueue(a)
	l.waiting = append(l.waiting, a)
	s.waiting[a.User] = append(s.waiting[a.User], a)
}

// may reports whether one more application of a queue and user may run
// (canAppBeRunnable).
func (s *appLimits) may(a *App) bool {
	if s.running[a.User] >= s.ofUser(a.User) {
		return false
	}
	for l := s.ofQueue(a); l != nil; l = l.up {
		if l.runnable >= l.most {
			return false
		}
	}
	return true
}

func (s *appLimits) start(a *App) {
	a.runs = true
	s.running[a.User]++
	s.ofQueue(a).each(func(l *appLimit) { l.runnable++ })
	s.run(a)
}

// remove ends an application: leave takes one that runs out of its queue. Waiting ones
// run in its place (updateRunnabilityOnAppRemoval).
func (s *appLimits) remove(a *App, leave func()) {
	own := s.ofQueue(a)
	if slices.Contains(own.waiting, a) {
		s.drop(a)
		return
	}
	leave()
	if s.running[a.User]--; s.running[a.User] == 0 {
		delete(s.running, a.User)
	}
	var lists [][]*App
	var highest *appLimit
	own.each(func(l *appLimit) {
		if l.runnable--; l.runnable == l.most-1 {
			highest = l
		}
	})
	if highest != nil {
		lists = highest.candidates(lists)
	}
	if s.running[a.User] == s.ofUser(a.User)-1 {
		lists = append(lists, slices.Clone(s.waiting[a.User]))
	}
	s.wake(lists)
}

// drop takes an application from those that wait.
func (s *appLimits) drop(a *App) {
	l := s.ofQueue(a)
	l.waiting = remove(l.waiting, a)
	s.waiting[a.User] = remove(s.waiting[a.User], a)
}

// candidates collects the waiting applications of each leaf that may run more.
func (l *appLimit) candidates(lists [][]*App) [][]*App {
	if l.runnable >= l.most {
		return lists
	}
	if len(l.below) == 0 {
		return append(lists, slices.Clone(l.waiting))
	}
	for _, c := range l.below {
		lists = c.candidates(lists)
	}
	return lists
}

// wake makes applications runnable in order of their start, at most as many as there
// are lists (updateAppsRunnability).
func (s *appLimits) wake(lists [][]*App) {
	var all []*App
	for _, l := range lists {
		for _, a := range l {
			if !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *App) int { return cmp.Compare(a.Start, b.Start) })
	woken := 0
	for _, a := range all {
		if woken >= len(lists) {
			return
		}
		if s.may(a) {
			s.start(a)
			s.drop(a)
			woken++
		}
	}
}
