package execute

import (
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// worker is what a running map and a running reduce have in common: the thread of the
// task itself, and how long that has been in each phase.
type worker struct {
	common   *common
	hardware *hardware
	a        *Attempt
	timer    engine.Timer // fires at the begin, then at the failure
	own      thread
	files    files

	phase workload.Phase // of the own thread
	since engine.Time
	spent [workload.NumPhases]engine.Time
}

// again returns a worker for another attempt.
func (w *worker) again() worker {
	w.timer.Stop()
	return worker{common: w.common, hardware: w.hardware, timer: w.timer, own: w.own}
}

func (w *worker) now() engine.Time { return w.common.eng.Now() }

// enter adds the time since the last change to the present phase and enters
// another phase.
func (w *worker) enter(p workload.Phase) {
	now := w.now()
	w.spent[w.phase] += now - w.since
	w.phase, w.since = p, now
}

// phaseChanged implements stepper.
func (w *worker) phaseChanged(t *thread) {
	if t == &w.own {
		w.enter(t.phase())
	}
}

// fill adds the phases of an attempt. The phase that was interrupted gets the rest of
// the time.
func (w *worker) fill(a *Attempt, p *phases) {
	for phase, t := range w.spent {
		p.until(workload.Phase(phase), p.at+t)
	}
	if a.Pending == engine.Never && a.End != Success {
		p.until(w.phase, p.finish)
	}
}

// idle holds things that are not at work.
type idle[T any] []*T

// take returns one of them, or makes one.
func (i *idle[T]) take(make func() *T) *T {
	last := len(*i) - 1
	if last < 0 {
		return make()
	}
	one := (*i)[last]
	*i = (*i)[:last]
	return one
}

func (i *idle[T]) put(one *T) { *i = append(*i, one) }
