package station

import (
	"github.com/slotwave/slotwave/sim/engine"
)

// A Device serves all its visitors at once, each at the same rate. An arrival
// or departure costs the logarithm of their number and allocates nothing.
type Device struct {
	Places float64 // visitors served at a time; more of them alternate

	clock
	conditions
	tally   Tally
	curve   Curve
	arrived uint64
	served  float64
	busy    engine.Time // up to since, if a visitor is present
	since   engine.Time // when the first present visitor came
	taken   float64     // visitor seconds of the places up to the last change
	changed engine.Time // instant of the last change
	present float64     // visitors with a place since then
	ending  bool        // visits end at this instant, after which the timer is set
}

// Visitor is called when a visit has received all its work. It may start
// visits, including this one again.
type Visitor interface {
	Served(*Visit)
}

// Visit is one piece of work on a device. Its user owns it. The sums include
// all its starts.
type Visit struct {
	Visitor Visitor
	Work    float64     // seconds of service, including the present visit
	Time    engine.Time // time on devices, up to the last end

	place
	device *Device
	work   float64
	begin  engine.Time
}

// NewDevice makes an idle device.
func NewDevice(e *engine.Engine, c Curve) *Device {
	d := &Device{clock: clock{eng: e}, conditions: normal, curve: c, Places: 1}
	d.timer = e.NewTimer(engine.Completion, 0, d.end)
	return d
}

// Start begins a visit that would take the given seconds on the device alone.
// Starting a visit that has not ended causes a panic.
func (d *Device) Start(v *Visit, seconds float64) {
	if v.device != nil {
		panic("station: started a visit that has not ended")
	}
	if !(seconds >= 0) {
		panic("station: started a visit with negative work")
	}
	now := d.eng.Now()
	if len(d.visitors) == 0 {
		d.since = now
	}
	v.of, v.device, v.work, v.begin = v, d, seconds, now
	v.Work += seconds
	d.arrived++
	d.count()
	d.enter(&v.place, d.arrived, seconds)
	d.change()
}

// Cancel ends a visit early and returns the seconds of service that are left.
// The visitor is not called. For a visit that has ended it returns 0.
func (v *Visit) Cancel() float64 {
	d := v.device
	if d == nil {
		return 0
	}
	left := d.depart(v)
	v.Work -= left
	d.served -= left
	return left
}

// Left returns the seconds of service that the visit still needs.
func (v *Visit) Left() float64 {
	if v.device == nil {
		return 0
	}
	return v.device.left(&v.place)
}

// Uses returns a number that changes with each visit, or less than 0 while there is
// one.
func (d *Device) Uses() int64 {
	if len(d.visitors) > 0 {
		return -1
	}
	return int64(d.arrived)
}

// Busy returns the time with a visitor on the device.
func (d *Device) Busy() engine.Time {
	if len(d.visitors) == 0 {
		return d.busy
	}
	return d.busy + d.eng.Now() - d.since
}

// Taken returns the visitor seconds for which the places were taken, at any
// speed.
func (d *Device) Taken() float64 {
	return d.taken + float64(d.present*(d.eng.Now()-d.changed).Duration().Seconds())
}

// Work returns the seconds of service given, including those of present visits.
func (d *Device) Work() float64 {
	sum := d.served
	for _, e := range d.visitors {
		v := e.of.(*Visit)
		sum += v.work - v.Left()
	}
	return sum
}

// count sums the use of the device up to now.
func (d *Device) count() {
	now := d.eng.Now()
	if now == d.tally.at {
		return
	}
	n := float64(len(d.visitors))
	d.tally.add(now, n, d.background, d.speed*d.curve.at(n+d.background), d.Places)
}

// Tally returns the use of the device up to now.
func (d *Device) Tally() *Tally {
	d.count()
	return &d.tally
}

// Set changes the conditions of the device from now on. speed is a factor on
// its rate, below 1 if it is slow or has foreign load, 0 if it stands still.
// background streams share the device with its visitors.
func (d *Device) Set(speed, background float64) {
	d.count()
	d.conditions = conditions{speed, background}
	d.change()
}

// change updates the clock after a change in the rate.
func (d *Device) change() {
	d.taken, d.changed = d.Taken(), d.eng.Now()
	d.present = min(float64(len(d.visitors)), d.Places)
	rate := 0.0
	if n := float64(len(d.visitors)) + d.background; n > 0 {
		rate = d.speed * (d.curve.at(n) / n)
	}
	d.run(rate)
	if !d.ending {
		d.rearm()
	}
}

// end ends the visits that are due. Those who end them may begin others, so the
// timer is set afterwards.
func (d *Device) end(owner int32) {
	d.ending = true
	d.fire(owner)
	d.ending = false
	d.rearm()
}

func (v *Visit) due() {
	v.device.depart(v)
	v.Visitor.Served(v)
}

func (d *Device) depart(v *Visit) (left float64) {
	now := d.eng.Now()
	left = d.left(&v.place)
	d.count()
	d.exit(&v.place)
	d.served += v.work
	v.device = nil
	v.Time += now - v.begin
	if len(d.visitors) == 0 {
		d.busy += now - d.since
	}
	d.change()
	return left
}
