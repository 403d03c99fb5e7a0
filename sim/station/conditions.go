package station

import "github.com/slotwave/slotwave/sim/engine"

// conditions are external influences on a device.
type conditions struct {
	speed      float64 // factor on the rate
	background float64 // foreign streams
}

var normal = conditions{speed: 1}

// Change is a change of a device's conditions at an instant; see Device.Set.
type Change struct {
	At         engine.Time
	Speed      float64
	Background float64
}

// Variable is a Device or a Link.
type Variable interface {
	Set(speed, background float64)
}

// Vary applies the changes, in order of time, when they are due.
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

// Turns hands out things, such as the disks of a node, in rotation.
type Turns[T any] struct {
	Things []T
	next   int
}

// Next returns the next thing in the rotation.
func (t *Turns[T]) Next() T {
	thing := t.Things[t.next]
	t.next = (t.next + 1) % len(t.Things)
	return thing
}
