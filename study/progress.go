package study

import "time"

// SweepProgress is called as simulations end.
type SweepProgress func(SweepStatus)

// Of reports that something out of a known number is done.
func (p SweepProgress) Of(done, total int, step string) {
	if p != nil {
		p(SweepStatus{Done: done, Total: total, Ended: done, Step: step})
	}
}

// SweepStatus says how far a sweep or a search is.
type SweepStatus struct {
	Done, Total int           // simulations, of the step if there are steps; Total 0: not known
	Ended       int           // simulations that ended since the start
	Step        string        // of a search, such as "8 nodes"
	Slowest     string        // the point whose simulation took longest
	Took        time.Duration // how long it took
}
