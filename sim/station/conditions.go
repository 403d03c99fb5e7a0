package station

import "github.com/slotwave/slotwave/sim/engine"

// conditions are what the surroundings of a device do to it.
type conditions struct {
	speed      float64 // factor on the rate
	background float64 // streams of others
}

var normal = conditions{speed: 1}

// Change is the conditions of a device from an instant on; see Device.Set.
type Change struct {
	At         engine.Time
	Speed      float64
	Background float64
}

// Variable is a Device or a Link.
type Variable interface {
	Set(speed, background float64)
}

// Vary makes the changes, which are in order of time, when they are due.
func Vary(e *engine.Engine, v Variable, changes []Change) {
	if len(changes) == 0 {
		return
	}
	var timer engine.Timer
	timer = e.NewTimer(engine.Completion, 0, func(int32) {
		v.Set(changes[0].Speed, changes[0].Background)
		if changes = changes[1:]; len(changes) > 0 {
			timer.Reset(changes[0].At)
		}
	})
	timer.Reset(changes[0].At)
}

// Turns hands out things, such as the disks of a node, one after the other.
type Turns[T any] struct {
	Things []T
	next   int
}

// Next returns the thing whose turn it is.
func (t *Turns[T]) Next() T {
	thing := t.Things[t.next]
	t.next = (t.next + 1) % len(t.Things)
	return thing
}
