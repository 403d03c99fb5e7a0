package station

import (
	"testing"

	"github.com/slotwave/slotwave/sim/engine"
)

// Two visitors share a disk with a background stream for 2 s; it has a third of
// the time, and afterwards all of it.
func TestTally(t *testing.T) {
	e := engine.New()
	d := NewDevice(e, nil)
	d.Set(0.5, 1)
	var a, b Visit
	a.Visitor, b.Visitor = ignored{}, ignored{}
	d.Start(&a, 1)
	d.Start(&b, 1)
	for e.Step() {
	}
	use := d.Tally()
	near := func(got, want float64) bool { return got > want-1e-9 && got < want+1e-9 }
	// 2 s of work at half speed, two thirds of it for the visitors: 6 s.
	if !near(use.Visits, 12) || !near(use.Present, 6) || !near(use.Offered, 2) || !near(use.Foreign, 2) {
		t.Errorf("%+v: want 12 visitor seconds in 6 s, 2 s of work and 2 s of others", *use)
	}
}

// Of 8 places, a visitor and a background stream have one each for 2 s: that is an eighth of
// the device for others, 0.25 s of it. 9 visitors and 3 background streams share all places,
// and others have a quarter of the device.
func TestTallyOfPlaces(t *testing.T) {
	for _, x := range []struct{ visitors, background, seconds, foreign float64 }{
		{1, 1, 2, 2.0 / 8}, {4, 0, 1, 0}, {9, 3, 1.5, 1.5 / 4},
	} {
		var use Tally
		use.add(engine.Time(x.seconds*1e9), x.visitors, x.background, 1, 8)
		if use.Foreign != x.foreign || use.Visits != x.visitors*x.seconds {
			t.Errorf("%+v: %+v", x, use)
		}
	}
}

type ignored struct{}

func (ignored) Served(*Visit) {}
