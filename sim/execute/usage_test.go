package execute

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/station"
)

// Of readings every second up to 400 s, the 401st makes room: those of each second second
// are left, and the next ones come every 2 s.
func TestIntervalDoubles(t *testing.T) {
	e := engine.New()
	u := Usage{eng: e, step: engine.At(time.Second)}
	u.gauges = []gauge{{size: 1, members: []*meter{{device: station.NewDevice(e, nil), loaded: true, read: func() reading {
		return reading{busy: e.Now().Duration().Seconds() / 4}
	}}}}}
	u.Read()
	for range 402 {
		e.Wait(u.Next)
		u.Read()
	}
	e.Wait(u.Next - engine.At(time.Second))
	use := u.Shares()[0]
	if n := len(use.Times); n != 201+2+1 || use.Times[n-1] != 405*time.Second {
		t.Fatalf("%d readings, the last at %v: want 204, at 405 s", n, use.Times[n-1])
	}
	for i, at := range use.Times[:203] {
		if at != time.Duration(2*i)*time.Second || use.Uses[i].Busy != 0.25 {
			t.Fatalf("reading %d at %v, busy %v: want 2 s apart, a quarter busy", i, at, use.Uses[i].Busy)
		}
	}
}

// A meter that reads only after use gives what reading again would, for a device
// that is at times idle, in use, or used between two readings, with and without
// others on it.
func TestMeterMissesNoUse(t *testing.T) {
	for _, loaded := range []bool{false, true} {
		e := engine.New()
		net := station.NewNetwork(e)
		link, device := net.NewLink(1, station.Linear(0.1)), station.NewDevice(e, nil)
		meters := []meter{
			{device: link, loaded: loaded, read: func() reading {
				use := link.Tally()
				return reading{busy: link.Busy().Duration().Seconds(), sent: link.Work(), visits: use.Visits, foreign: use.Foreign}
			}},
			{device: device, loaded: loaded, read: func() reading {
				use := device.Tally()
				return reading{busy: device.Taken(), sent: device.Work(), visits: use.Visits, foreign: use.Foreign}
			}},
		}
		if loaded {
			others := []station.Change{{At: 50e9, Speed: 1, Background: 2}, {At: 51e9, Speed: 1}}
			station.Vary(e, link, others)
			station.Vary(e, device, others)
		}
		var f station.Flow
		var v station.Visit
		r := &restarting{rng: rand.New(rand.NewPCG(1, 2)), eng: e, net: net, flow: &f, visit: &v, link: link, device: device}
		f.Receiver, v.Visitor = r, r
		r.timer = e.NewTimer(engine.Completion, 0, r.restart)
		r.timer.Reset(0)
		var kept int
		for at := engine.Time(0); at < 100e9; at += 1e9 / 4 {
			for e.Next() <= at {
				e.Step()
			}
			e.Wait(at)
			for i := range meters {
				m := &meters[i]
				was := m.uses
				if got, want := *m.reading(), m.read(); got != want {
					t.Fatalf("loaded=%v, device %d at %v: %+v, want %+v", loaded, i, at, got, want)
				}
				if !loaded && was == m.uses && was > 0 {
					kept++
				}
			}
		}
		if !loaded && kept < 50 {
			t.Errorf("%d readings without use, want at least 50 for the test to mean something", kept)
		}
	}
}

// restarting uses a link and a device for up to half a second every half second, on
// average.
type restarting struct {
	rng    *rand.Rand
	eng    *engine.Engine
	net    *station.Network
	timer  engine.Timer
	flow   *station.Flow
	visit  *station.Visit
	link   *station.Link
	device *station.Device
}

func (r *restarting) restart(int32) {
	r.flow.Cancel()
	r.visit.Cancel()
	r.flow.Hops = station.Through(r.flow.Hops[:0], r.link, 1)
	r.net.Start(r.flow, r.rng.Float64()/2)
	r.device.Start(r.visit, r.rng.Float64()/2)
	r.timer.Reset(r.eng.Now() + engine.Time(r.rng.ExpFloat64()*5e8))
}

func (r *restarting) Received(*station.Flow) {}
func (r *restarting) Served(*station.Visit)  {}
