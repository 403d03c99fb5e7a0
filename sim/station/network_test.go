package station

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/sim/engine"
)

// fill raises the rates of all flows together, in proportion to their weights,
// and freezes those that meet their cap or a full link: the textbook's way.
func fill(flows []*Flow) []float64 {
	levels := make([]float64, len(flows))
	frozen := make([]bool, len(flows))
	weight := func(f *Flow) float64 {
		if f.Weight == 0 {
			return 1
		}
		return f.Weight
	}
	var links []*Link
	for _, f := range flows {
		for _, h := range f.Hops {
			if !slices.Contains(links, h.Link) {
				links = append(links, h.Link)
			}
		}
	}
	ceiling := func(i int) float64 {
		if flows[i].Cap == 0 {
			return math.Inf(1)
		}
		return flows[i].Cap / weight(flows[i])
	}
	fullAt := func(l *Link) float64 {
		streams := l.background
		load, rest := l.background, 0.0
		for i, f := range flows {
			for _, h := range f.Hops {
				if h.Link != l {
					continue
				}
				streams += weight(f)
				if frozen[i] {
					rest -= h.Cost * weight(f) * levels[i]
				} else {
					load += h.Cost * weight(f)
				}
			}
		}
		return max(0, l.capacity*l.speed*l.curve.at(streams)+rest) / load
	}
	for slices.Contains(frozen, false) {
		at := make([]float64, len(links))
		level := math.Inf(1)
		for k, l := range links {
			at[k] = fullAt(l)
			if slices.ContainsFunc(flows, func(f *Flow) bool {
				return !frozen[slices.Index(flows, f)] && slices.ContainsFunc(f.Hops, func(h Hop) bool { return h.Link == l })
			}) {
				level = min(level, at[k])
			} else {
				at[k] = math.Inf(1)
			}
		}
		for i := range flows {
			if !frozen[i] {
				level = min(level, ceiling(i))
			}
		}
		for i, f := range flows {
			if frozen[i] {
				continue
			}
			levels[i] = level
			frozen[i] = ceiling(i) <= level || math.IsInf(level, 1)
			for _, h := range f.Hops {
				frozen[i] = frozen[i] || at[slices.Index(links, h.Link)] <= level*(1+1e-13)
			}
		}
	}
	rates := make([]float64, len(flows))
	for i, f := range flows {
		rates[i] = levels[i] * weight(f)
	}
	return rates
}

// system is a network with flows at random. Where all is in whole numbers, many
// links fill together.
type system struct {
	rng   *rand.Rand
	whole bool
	net   *Network
	links []*Link
	flows []*Flow
}

func (s *system) number() float64 {
	if s.whole {
		return float64(1 + s.rng.IntN(4))
	}
	return math.Exp(2 * s.rng.NormFloat64())
}

func newSystem(e *engine.Engine, seed uint64) *system {
	rng := rand.New(rand.NewPCG(seed, 8))
	s := &system{rng: rng, whole: rng.IntN(2) == 0, net: NewNetwork(e)}
	s.net.crowd = rng.IntN(4) // with and without routes
	for range 1 + rng.IntN(12) {
		var c Curve
		if rng.IntN(4) == 0 {
			c = Linear(0.3)
		}
		make := func(capacity float64) *Link { return s.net.NewLink(capacity, c) }
		if c == nil && rng.IntN(2) == 0 {
			make = s.net.NewTrunk
		}
		l := make(s.number())
		if rng.IntN(5) == 0 {
			l.Set(s.number(), float64(rng.IntN(3)))
		}
		s.links = append(s.links, l)
	}
	for range 1 + rng.IntN(25) {
		f := &Flow{}
		for range 1 + rng.IntN(5) {
			cost := 1.0
			if rng.IntN(5) == 0 {
				cost = s.number()
			}
			f.Hops = Through(f.Hops, s.links[rng.IntN(len(s.links))], cost)
		}
		if rng.IntN(3) == 0 {
			f.Weight = s.number()
		}
		if rng.IntN(4) == 0 {
			f.Cap = s.number()
		}
		s.flows = append(s.flows, f)
	}
	return s
}

// going are the flows that have begun and not ended.
func (s *system) going() []*Flow {
	return slices.DeleteFunc(slices.Clone(s.flows), func(f *Flow) bool { return f.net == nil })
}

// Flows come, go and change lanes; the rates are those of the textbook after
// each.
func TestRatesAgainstFilling(t *testing.T) {
	checked := 0
	for seed := range uint64(layers.Draws(10_000, 10_000)) {
		e := engine.New()
		s := newSystem(e, seed)
		for round := range 4 {
			for _, f := range s.flows {
				if f.net != nil && s.rng.IntN(2) == 0 {
					f.Cancel()
				} else if f.net == nil && (round == 0 || s.rng.IntN(2) == 0) {
					s.net.Start(f, 1e6)
				}
			}
			if round == 2 {
				s.links[0].Set(s.number(), 0)
			}
			going := s.going()
			for i, want := range fill(going) {
				checked++
				if got := going[i].Rate(); math.Abs(got-want) > 1e-9*max(1, want) {
					t.Fatalf("system %d, round %d: rate %v, want %v", seed, round, got, want)
				}
			}
		}
	}
	t.Logf("%d rates", checked)
}

// ends notes when flows were received.
type ends struct {
	eng *engine.Engine
	at  map[*Flow]engine.Time
}

func (r ends) Received(f *Flow) { r.at[f] = r.eng.Now() }

// What has passed each link is what the flows through it have got.
func TestNetworkBooks(t *testing.T) {
	for seed := range uint64(500) {
		e := engine.New()
		s := newSystem(e, seed)
		bytes := make([]float64, len(s.flows))
		for i, f := range s.flows {
			f.Receiver = ends{e, map[*Flow]engine.Time{}}
			for k := range f.Hops {
				f.Hops[k].write = (i+k)%3 == 0
			}
			bytes[i] = s.number()
			start := engine.Time(s.rng.IntN(4e9))
			at(e, start, func() { s.net.Start(f, bytes[i]) })
			if i%6 == 0 {
				at(e, start+engine.Time(s.rng.IntN(4e9)), func() { f.Cancel() })
			}
		}
		drain(e)
		for i, f := range s.flows {
			if i%6 > 0 && f.Bytes != bytes[i] {
				t.Fatalf("system %d: flow %d got %v bytes through, want %v", seed, i, f.Bytes, bytes[i])
			}
		}
		for k, l := range s.links {
			var want, written float64
			for _, f := range s.flows {
				for _, h := range f.Hops {
					if h.Link == l {
						want += h.Cost * f.Bytes
					}
					if h.Link == l && h.write {
						written += h.Cost * f.Bytes
					}
				}
			}
			if got := l.Work(); math.Abs(got-want) > 1e-9*max(1, want) {
				t.Fatalf("system %d: %v has passed link %d, want %v", seed, got, k, want)
			}
			if got := l.Written(); math.Abs(got-written) > 1e-9*max(1, want) {
				t.Fatalf("system %d: %v was written over link %d, want %v", seed, got, k, written)
			}
			if l.flows != 0 || len(l.visitors) != 0 || l.streams != 0 || math.IsInf(l.level, 1) != (l.background == 0) {
				t.Fatalf("system %d: link %d is not idle in the end", seed, k)
			}
		}
	}
}

// From event to event every flow has got through what it would at the rates of
// the textbook, to within the nanosecond to which ends are rounded.
func TestProgressAgainstFilling(t *testing.T) {
	for seed := range uint64(500) {
		e := engine.New()
		s := newSystem(e, seed)
		for _, f := range s.flows {
			f.Receiver = ends{e, map[*Flow]engine.Time{}}
			at(e, engine.Time(s.rng.IntN(4e9)), func() { s.net.Start(f, 1+s.number()) })
		}
		got, rates := make([]float64, len(s.flows)), make([]float64, len(s.flows))
		last := engine.Time(0)
		for e.Next() != engine.Never {
			next := e.Next()
			for e.Next() == next {
				e.Step()
			}
			going := s.going()
			slow := fill(going)
			for i, f := range s.flows {
				got[i] += rates[i] * (next - last).Duration().Seconds()
				want := f.Bytes - f.Left()
				if d := math.Abs(got[i] - want); d > 1e-9*max(1, want, rates[i]) {
					t.Fatalf("system %d at %v: flow %d has got %v through, want %v", seed, next, i, want, got[i])
				}
				if f.net == nil {
					rates[i], got[i] = 0, f.Bytes
				} else {
					rates[i] = slow[slices.Index(going, f)]
				}
			}
			last = next
		}
		if n := len(s.going()); n > 0 {
			t.Fatalf("system %d: %d flows never end", seed, n)
		}
	}
}

// Flows that take twice as long at half the rates.
func TestNetworkTwiceAsFast(t *testing.T) {
	for seed := range uint64(300) {
		run := func(speed float64) []engine.Time {
			e := engine.New()
			s := newSystem(e, seed)
			for _, l := range s.links {
				l.Set(l.speed*speed, l.background)
			}
			r := ends{e, map[*Flow]engine.Time{}}
			for _, f := range s.flows {
				f.Receiver = r
				f.Cap *= speed
				start := engine.Time(float64(2*s.rng.IntN(4e9)) / speed)
				at(e, start, func() { s.net.Start(f, 1+s.number()) })
			}
			drain(e)
			all := make([]engine.Time, len(s.flows))
			for i, f := range s.flows {
				all[i] = r.at[f]
			}
			return all
		}
		slow, fast := run(1), run(2)
		for i := range slow {
			if d := float64(slow[i] - 2*fast[i]); math.Abs(d) > 100+2e-9*float64(slow[i]) {
				t.Fatalf("system %d: flow %d ends at %v and, at twice the rates, %v", seed, i, slow[i], fast[i])
			}
		}
	}
}

// Two machines in a rack, one in another, uplinks of half an interface.
func smallFabric(e *engine.Engine) (*Network, *Fabric) {
	n := NewNetwork(e)
	nic := func(rack int) Host { return Host{n.NewLink(125e6, nil), n.NewLink(125e6, nil), rack} }
	up := func() Rack { return Rack{n.NewTrunk(62.5e6), n.NewTrunk(62.5e6)} }
	return n, &Fabric{[]Host{nic(0), nic(0), nic(1)}, []Rack{up(), up()}}
}

func TestTransferAlone(t *testing.T) {
	for _, c := range []struct {
		from, to int
		bytes    float64
		want     engine.Time
	}{
		{0, 0, 1e12, 0}, // does not leave the machine
		{0, 1, 1e9, 8e9},
		{0, 2, 1e9, 16e9},
		{0, 1, 1, 8},
		{0, 1, 0, 0},
	} {
		e := engine.New()
		n, f := smallFabric(e)
		r := ends{e, map[*Flow]engine.Time{}}
		flow := &Flow{Receiver: r, Hops: f.Transfer(nil, c.from, c.to)}
		n.Start(flow, c.bytes)
		drain(e)
		if got, ended := r.at[flow]; !ended || got != c.want {
			t.Errorf("%v bytes from %d to %d end at %v, want %v", c.bytes, c.from, c.to, got, c.want)
		}
	}
}

// A block written from machine 0 to the disks of 0, 2 and 1 crosses racks twice,
// each way once; the disks take 60 MB/s of writes, 80 of reads. Where the writer
// is 1 the first disk is reached by the wire.
func TestWritePipeline(t *testing.T) {
	e := engine.New()
	n, f := smallFabric(e)
	disks := []*Link{n.NewLink(80e6, nil), n.NewLink(80e6, nil), n.NewLink(80e6, nil)}
	on := func(host int) Replica { return Replica{host, disks[host], 80.0 / 60} }
	h, r := f.Hosts, f.Racks
	for _, c := range []struct {
		writer int
		want   []*Link
	}{
		{0, []*Link{disks[0], h[0].Up, h[2].Down, r[0].Up, r[1].Down, disks[2], h[2].Up, h[1].Down, r[1].Up, r[0].Down, disks[1]}},
		{1, []*Link{h[1].Up, h[0].Down, disks[0], h[0].Up, h[2].Down, r[0].Up, r[1].Down, disks[2], h[2].Up, h[1].Down, r[1].Up, r[0].Down, disks[1]}},
	} {
		flow := &Flow{Hops: f.Write(nil, c.writer, []Replica{on(0), on(2), on(1)})}
		var got []*Link
		for _, hop := range flow.Hops {
			got = append(got, hop.Link)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("writer %d: other links than wanted", c.writer)
		}
		n.Start(flow, 64e6)
		if rate := flow.Rate(); math.Abs(rate-60e6) > 1e-3 {
			t.Errorf("writer %d: %v bytes/s, want 60e6", c.writer, rate)
		}
		flow.Cancel()
	}
}

// Five segments as one flow take as much of a full link as five flows.
func TestWeightStandsForTransfers(t *testing.T) {
	e := engine.New()
	n := NewNetwork(e)
	l := n.NewLink(60, Linear(0.1))
	five, one := &Flow{Hops: Through(nil, l, 1), Weight: 5}, &Flow{Hops: Through(nil, l, 1)}
	n.Start(five, 1e3)
	n.Start(one, 1e3)
	if a, b := five.Rate(), one.Rate(); math.Abs(a-200.0/6) > 1e-9 || math.Abs(b-40.0/6) > 1e-9 {
		t.Errorf("rates %v and %v, want 33.33 and 6.67", a, b)
	}
}

// What starts, or is stopped, when something ends, does so at that instant.
func TestNetworkFromWithin(t *testing.T) {
	e := engine.New()
	n := NewNetwork(e)
	l := n.NewLink(10, nil)
	a, b, c := &Flow{Hops: Through(nil, l, 1)}, &Flow{Hops: Through(nil, l, 1)}, &Flow{Hops: Through(nil, l, 1)}
	n.Start(a, 10)
	n.Start(b, 30)
	var again int
	a.Receiver = receiver(func(*Flow) {
		if b.Cancel() != 20 {
			t.Errorf("%v bytes left, want 20", b.Left())
		}
		n.Start(c, 5)
		c.Cancel()
		n.Start(c, 10)
	})
	c.Receiver = receiver(func(*Flow) {
		if again++; again < 3 {
			n.Start(c, 10)
		}
	})
	drain(e)
	if e.Now() != 5e9 || c.Bytes != 30 || b.Bytes != 10 || l.Busy() != 5e9 || l.Work() != 50 || c.Time != 3e9 {
		t.Errorf("ends at %v; bytes %v, %v; busy %v with %v; time %v", e.Now(), b.Bytes, c.Bytes, l.Busy(), l.Work(), c.Time)
	}
}

type receiver func(*Flow)

func (r receiver) Received(f *Flow) { r(f) }

// With slack no link carries more than its capacity by more than that. Each
// transfer then ends, on average, within a tenth of the slack of the length of
// the run, and the last within the slack. (What is fetched does not depend on
// when: 8,000 transfers.)
func TestSlack(t *testing.T) {
	run := func(slack float64) []engine.Time {
		e := engine.New()
		traffic := newTraffic(e, 80, 5, 20, true)
		traffic.ends = make([]engine.Time, 0, 8000)
		traffic.net.Slack = slack
		var links []*Link
		for _, h := range traffic.fabric.Hosts {
			links = append(links, h.Up, h.Down)
		}
		for _, r := range traffic.fabric.Racks {
			links = append(links, r.Up, r.Down)
		}
		for step := 0; e.Step(); step++ {
			if step%50 > 0 {
				continue
			}
			for _, l := range links {
				var sum float64
				for _, f := range l.present() {
					sum += f.Rate()
				}
				if sum > l.capacity*(1+slack+1e-12) {
					t.Fatalf("slack %v: a link of %v carries %v", slack, l.capacity, sum)
				}
			}
		}
		if traffic.done != 8000 {
			t.Fatalf("%d transfers, want 8000", traffic.done)
		}
		return traffic.ends
	}
	want := run(0)
	length := float64(want[len(want)-1])
	for _, slack := range []float64{0.001, 0.01} {
		got := run(slack)
		var mean float64
		for i := range want {
			mean += math.Abs(float64(got[i]-want[i])) / length / float64(len(want))
		}
		last := math.Abs(float64(got[len(got)-1])-length) / length
		t.Logf("slack %v: ends %.4f %% off on average, the last %.4f %%", slack, 100*mean, 100*last)
		if mean > slack/10 || last > slack {
			t.Errorf("slack %v: ends %v off on average, the last %v", slack, mean, last)
		}
	}
}

func TestNetworkDoesNotAllocate(t *testing.T) {
	e := engine.New()
	newTraffic(e, 20, 3, 1<<60, true)
	step := func() {
		for range 100 {
			e.Step()
		}
	}
	for range 2000 {
		step() // until links and the event list have grown to their size
	}
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations in 100 events, want 0", n)
	}
}

// present lists the flows on a link.
func (l *Link) present() []*Flow {
	var all []*Flow
	for _, x := range l.crossings {
		all = append(all, x.flow)
	}
	for _, g := range l.legs {
		for _, m := range g.route.members {
			all = append(all, m.flow)
		}
	}
	return all
}
