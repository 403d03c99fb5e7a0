package station

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/slotwave/slotwave/sim/engine"
)

// log notes who left when.
type log struct {
	eng  *engine.Engine
	ends map[*Visit]engine.Time
	list []*Visit
}

func newLog(e *engine.Engine) *log { return &log{eng: e, ends: map[*Visit]engine.Time{}} }

func (l *log) Served(v *Visit) {
	l.ends[v] = l.eng.Now()
	l.list = append(l.list, v)
}

// at has f done at an instant, before what ends then.
func at(e *engine.Engine, t engine.Time, f func()) {
	e.NewTimer(engine.Completion, 0, func(int32) { f() }).Reset(t)
}

func drain(e *engine.Engine) {
	for e.Step() {
	}
}

// request is one visit of a random workload; cancel is 0 if it is let end.
type request struct {
	at, cancel engine.Time
	work       float64
}

func randomRequests(rng *rand.Rand) []request {
	all := make([]request, 1+rng.IntN(60))
	t := engine.Time(1e9)
	for i := range all {
		if rng.IntN(4) > 0 {
			t += engine.Time(rng.ExpFloat64() * 1e9)
		}
		all[i] = request{at: t, work: rng.ExpFloat64()}
		switch rng.IntN(12) {
		case 0:
			all[i].work = 0
		case 1:
			all[i].work = 1
		case 2:
			all[i].cancel = t + engine.Time(rng.ExpFloat64()*2e9)
		}
	}
	return all
}

func randomChanges(rng *rand.Rand) []Change {
	var all []Change
	var t engine.Time
	for range rng.IntN(5) {
		t += engine.Time(rng.ExpFloat64() * 10e9)
		all = append(all, Change{t, float64(rng.IntN(5)) / 2, float64(rng.IntN(4)) / 2})
	}
	if len(all) > 0 {
		all[len(all)-1].Speed = 1 // so that all ends
	}
	return all
}

var curves = map[string]Curve{
	"none":   nil,
	"linear": Linear(0.25),
	"floor":  Floor(0.6, Linear(0.25)),
	"seek":   Seek(4e6, 80e6, 0.0125),
	"cores":  Cores(4),
}

// serve runs requests on a device and returns the ends, 0 for those cancelled.
func serve(c Curve, requests []request, changes []Change) ([]engine.Time, *Device) {
	e := engine.New()
	d := NewDevice(e, c)
	Vary(e, d, changes)
	l := newLog(e)
	visits := make([]Visit, len(requests))
	for i, r := range requests {
		v := &visits[i]
		v.Visitor = l
		at(e, r.at, func() { d.Start(v, r.work) })
		if r.cancel > 0 {
			at(e, r.cancel, func() { v.Cancel() })
		}
	}
	drain(e)
	ends := make([]engine.Time, len(requests))
	for i := range visits {
		ends[i] = l.ends[&visits[i]]
	}
	return ends, d
}

// serveSlowly goes from event to event and takes away from each visitor what it
// was served.
func serveSlowly(c Curve, requests []request, changes []Change) []engine.Time {
	left := map[int]float64{}
	ends := make([]engine.Time, len(requests))
	speed, background := 1.0, 0.0
	var now engine.Time
	for {
		rate := 0.0
		if n := float64(len(left)) + background; n > 0 {
			rate = speed * c.at(n) / n
		}
		next := engine.Never
		soon := func(t engine.Time) {
			if t > now {
				next = min(next, t)
			}
		}
		for i := range requests {
			soon(requests[i].at)
			soon(requests[i].cancel)
		}
		for _, ch := range changes {
			soon(ch.At)
		}
		due := func(w float64) float64 { return math.Round(max(0, w) / rate * 1e9) }
		for _, w := range left {
			if w <= 0 {
				next = now
			} else if d := due(w); d < 1e18 {
				next = min(next, now+engine.Time(d))
			}
		}
		if next == engine.Never {
			return ends
		}
		for i := range left {
			left[i] -= rate * float64(next-now) / 1e9
		}
		now = next
		for i, w := range left {
			if w <= 0 || due(w) == 0 {
				delete(left, i)
				ends[i] = now
			}
		}
		for _, ch := range changes {
			if ch.At == now {
				speed, background = ch.Speed, ch.Background
			}
		}
		for i, r := range requests {
			if r.at == now && ends[i] == 0 {
				left[i] = r.work
			}
			if r.cancel == now {
				delete(left, i)
			}
		}
	}
}

func TestDeviceAgainstSteps(t *testing.T) {
	for name, c := range curves {
		t.Run(name, func(t *testing.T) {
			served := 0
			for seed := range uint64(400) {
				rng := rand.New(rand.NewPCG(seed, 3))
				requests, changes := randomRequests(rng), randomChanges(rng)
				got, _ := serve(c, requests, changes)
				want := serveSlowly(c, requests, changes)
				for i := range want {
					if d := got[i] - want[i]; d < -1 || d > 1 {
						t.Fatalf("seed %d: visit %d ends at %v, want %v", seed, i, got[i], want[i])
					}
					if want[i] > 0 {
						served++
					}
				}
			}
			t.Logf("%d visits", served)
		})
	}
}

// Alone on an idle device, whatever was there before.
func TestDeviceIdleIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	e := engine.New()
	d := NewDevice(e, Linear(0.5))
	l := newLog(e)
	var crowd [3]Visit
	for range 2000 {
		for i := range crowd {
			crowd[i].Visitor = l
			d.Start(&crowd[i], rng.ExpFloat64())
		}
		drain(e)
		v := Visit{Visitor: l}
		begin, work := e.Now(), math.Exp(rng.Float64()*25-15)
		d.Start(&v, work)
		drain(e)
		if want := begin + engine.Time(math.Round(work*1e9)); e.Now() != want {
			t.Fatalf("%v s of work from %v end at %v, want %v", work, begin, e.Now(), want)
		}
		if v.waited() != 0 {
			t.Fatalf("waited %v alone", v.waited())
		}
	}
}

// Mean response of M/G/1 under processor sharing is E[S]/(1-rho) whatever the
// distribution: 3.3333 at rho 0.7.
func TestProcessorSharingIsInsensitive(t *testing.T) {
	if testing.Short() {
		t.Skip("serves millions of requests")
	}
	const jobs, rho = 4_000_000, 0.7
	for name, size := range map[string]func(*rand.Rand) float64{
		"constant":    func(*rand.Rand) float64 { return 1 },
		"exponential": (*rand.Rand).ExpFloat64,
		"hyperexponential": func(rng *rand.Rand) float64 { // squared variation 4: balanced means
			p := 0.5 * (1 + math.Sqrt(3.0/5))
			if rng.Float64() >= p {
				p = 1 - p
			}
			return rng.ExpFloat64() / (2 * p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := engine.New()
			m := &mg1{device: NewDevice(e, nil), jobs: jobs, rng: rand.New(rand.NewPCG(7, 7)), size: size}
			m.arrival = e.NewTimer(engine.Arrival, 0, m.arrive)
			m.arrival.Reset(0)
			drain(e)
			mean := m.time / jobs
			t.Logf("%d jobs: mean response %.4f, busy %.4f", jobs, mean, float64(m.device.Busy())/float64(e.Now()))
			if want := 1 / (1 - rho); math.Abs(mean/want-1) > 0.01 {
				t.Errorf("mean response %v, want %v", mean, want)
			}
		})
	}
}

// mg1 is an open queue with Poisson arrivals at 0.7 a second.
type mg1 struct {
	device  *Device
	arrival engine.Timer
	rng     *rand.Rand
	size    func(*rand.Rand) float64
	jobs    int
	time    float64
	pool    []*Visit
}

func (m *mg1) arrive(int32) {
	v := &Visit{Visitor: m}
	if n := len(m.pool); n > 0 {
		v, m.pool = m.pool[n-1], m.pool[:n-1]
	}
	m.device.Start(v, m.size(m.rng))
	if m.jobs--; m.jobs > 0 {
		m.arrival.Reset(m.device.eng.Now() + engine.Time(m.rng.ExpFloat64()/0.7*1e9))
	}
}

func (m *mg1) Served(v *Visit) {
	m.time += v.Time.Duration().Seconds()
	v.Time = 0
	m.pool = append(m.pool, v)
}

// Threads of a core beside one another get more done than one, and less each.
func TestCores(t *testing.T) {
	for _, c := range []struct{ visitors, plain, threads float64 }{
		{1, 1, 1}, {2, 2, 2}, {3, 2, 2.4}, {4, 2, 2.8}, {6, 2, 3}, {8, 2, 3.2}, {9, 2, 3.2},
	} {
		if got := Cores(2)(c.visitors); got != c.plain {
			t.Errorf("%v on two cores: %v, want %v", c.visitors, got, c.plain)
		}
		if got := Cores(2, 1, 1.4, 1.5, 1.6)(c.visitors); math.Abs(got-c.threads) > 1e-12 {
			t.Errorf("%v on two cores of four threads: %v, want %v", c.visitors, got, c.threads)
		}
	}
}

// Places are taken by as many as there are, however slowly they are served.
func TestTaken(t *testing.T) {
	e := engine.New()
	d := NewDevice(e, Cores(2, 1, 1.5))
	d.Places = 4
	visits := make([]Visit, 6)
	for i := range visits {
		visits[i].Visitor = newLog(e)
	}
	at(e, 0, func() { d.Start(&visits[0], 10) })
	at(e, 1e9, func() {
		for i := range visits[1:] {
			d.Start(&visits[i+1], 10)
		}
	})
	at(e, 3e9, func() {
		if got := d.Taken(); got != 1+4*2 {
			t.Errorf("%v visitor seconds, want 9", got)
		}
		if got := d.Work(); math.Abs(got-(1+3*2)) > 1e-9 {
			t.Errorf("%v seconds of service, want 7", got)
		}
	})
	drain(e)
}

// What a device has given is what its visitors have asked for.
func TestDeviceBooks(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 4))
		e := engine.New()
		d := NewDevice(e, Cores(2))
		l := newLog(e)
		requests := randomRequests(rng)
		visits := make([]Visit, len(requests))
		var busy, last engine.Time
		var given float64
		for i, r := range requests {
			visits[i].Visitor = l
			at(e, r.at, func() { d.Start(&visits[i], r.work) })
			if r.cancel > 0 {
				at(e, r.cancel, func() {
					left := visits[i].Left()
					if got := visits[i].Cancel(); got != left {
						t.Fatalf("%v left, then %v", left, got)
					}
				})
			}
		}
		for {
			n := len(d.visitors)
			if !e.Step() {
				break
			}
			if n > 0 {
				busy += e.Now() - last
				given += float64(min(n, 2)) * (e.Now() - last).Duration().Seconds()
			}
			last = e.Now()
			if got := d.Work(); math.Abs(got-given) > 1e-6 {
				t.Fatalf("seed %d: %v s of work done at %v, want %v", seed, got, last, given)
			}
			if d.Busy() != busy {
				t.Fatalf("seed %d: busy for %v at %v, want %v", seed, d.Busy(), last, busy)
			}
		}
		var sum float64
		for i, r := range requests {
			v := &visits[i]
			sum += v.Work
			if r.cancel == 0 && v.Work != r.work {
				t.Fatalf("seed %d: visit %d got %v, want %v", seed, i, v.Work, r.work)
			}
			if v.waited() < -1 {
				t.Fatalf("seed %d: visit %d waited %v", seed, i, v.waited())
			}
		}
		if math.Abs(sum-d.Work()) > 1e-9 {
			t.Fatalf("seed %d: visits got %v, the device gave %v", seed, sum, d.Work())
		}
	}
}

// At twice the speed all takes half the time.
func TestDeviceTwiceAsFast(t *testing.T) {
	for name, c := range curves {
		for seed := range uint64(100) {
			rng := rand.New(rand.NewPCG(seed, 5))
			slow := randomRequests(rng)
			fast := slices.Clone(slow)
			for i := range slow {
				slow[i].at, slow[i].cancel = 2*slow[i].at, 2*slow[i].cancel
			}
			a, _ := serve(c, slow, nil)
			b, _ := serve(c, fast, []Change{{At: 1, Speed: 2}})
			for i := range a {
				// Ends are rounded by up to 0.5 ns, which is worth n when n share.
				if d := float64(a[i] - 2*b[i]); math.Abs(d) > 10+2e-9*float64(a[i]) {
					t.Fatalf("%s, seed %d: visit %d ends at %v and, at twice the speed, %v", name, seed, i, a[i], b[i])
				}
			}
		}
	}
}

// Without its background a device lets nobody leave later.
func TestRemovingBackgroundDelaysNobody(t *testing.T) {
	for name, c := range curves {
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, 6))
			requests := randomRequests(rng)
			for i := range requests {
				requests[i].cancel = 0
			}
			changes := randomChanges(rng)
			with, _ := serve(c, requests, changes)
			for i := range changes {
				changes[i].Background = 0
			}
			without, _ := serve(c, requests, changes)
			for i := range with {
				if without[i] > with[i] {
					t.Fatalf("%s, seed %d: visit %d ends at %v without background, at %v with it", name, seed, i, without[i], with[i])
				}
			}
		}
	}
}

// Work done at one instant is handed over in the order of arrival.
func TestEqualEndsInOrderOfArrival(t *testing.T) {
	e := engine.New()
	d := NewDevice(e, Linear(0.1))
	l := newLog(e)
	visits := make([]Visit, 20)
	for i := range visits {
		visits[i].Visitor = l
		d.Start(&visits[i], 1)
	}
	visits[3].Cancel()
	drain(e)
	want := make([]*Visit, 0, len(visits))
	for i := range visits {
		if i != 3 {
			want = append(want, &visits[i])
			if l.ends[&visits[i]] != e.Now() {
				t.Errorf("visit %d ends at %v, want %v", i, l.ends[&visits[i]], e.Now())
			}
		}
	}
	if !slices.Equal(l.list, want) {
		t.Error("not in order of arrival")
	}
}

// A disk reads 3 s of work; a second reader comes after 1 s and is killed after
// 3: till then each gets half of what two get, 0.8 of the disk.
func TestCancelTellsWhatIsLeft(t *testing.T) {
	e := engine.New()
	d := NewDevice(e, Linear(0.25))
	l := newLog(e)
	a, b := Visit{Visitor: l}, Visit{Visitor: l}
	d.Start(&a, 3)
	at(e, 1e9, func() { d.Start(&b, 5) })
	at(e, 3e9, func() {
		if left := b.Cancel(); math.Abs(left-4.2) > 1e-12 {
			t.Errorf("%v s left, want 4.2", left)
		}
		if b.Cancel() != 0 || b.Left() != 0 {
			t.Error("something is left of a visit that does not go on")
		}
	})
	drain(e)
	if a.Time != 4.2e9 || a.waited() != 1.2e9 || d.Busy() != 4.2e9 || math.Abs(d.Work()-3.8) > 1e-12 || len(l.list) != 1 {
		t.Errorf("time %v, waited %v, busy %v, work %v", a.Time, a.waited(), d.Busy(), d.Work())
	}
}

func TestStoppedDevice(t *testing.T) {
	e := engine.New()
	d := NewDevice(e, nil)
	Vary(e, d, []Change{{1e9, 0, 0}, {5e9, 0.5, 1}})
	v := Visit{Visitor: newLog(e)}
	d.Start(&v, 2)
	drain(e)
	if e.Now() != 9e9 { // 1 s of work, a stop of 4 s, and 1 s at a quarter of the speed
		t.Errorf("ends at %v, want 9s", e.Now())
	}
}

func TestMisusePanics(t *testing.T) {
	for name, f := range map[string]func(*Device, *Network, *Visit, *Flow){
		"visit twice":    func(d *Device, _ *Network, v *Visit, _ *Flow) { d.Start(v, 1); d.Start(v, 1) },
		"negative visit": func(d *Device, _ *Network, v *Visit, _ *Flow) { d.Start(v, -1) },
		"visit of NaN":   func(d *Device, _ *Network, v *Visit, _ *Flow) { d.Start(v, math.NaN()) },
		"flow twice":     func(_ *Device, n *Network, _ *Visit, f *Flow) { n.Start(f, 1); n.Start(f, 1) },
		"negative flow":  func(_ *Device, n *Network, _ *Visit, f *Flow) { n.Start(f, -1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			e := engine.New()
			f(NewDevice(e, nil), NewNetwork(e), &Visit{}, &Flow{})
		})
	}
}

// What n streams together get done in the time of 1, by hand: a turn of the
// seeking disk reads 50 ms and moves the head 12.5 ms.
func TestCurves(t *testing.T) {
	for _, c := range []struct {
		name    string
		n, want float64
	}{
		{"none", 1, 1}, {"none", 7, 1},
		{"linear", 1, 1}, {"linear", 2, 0.8}, {"linear", 5, 0.5}, {"linear", 1.5, 1 / 1.125},
		{"floor", 1, 1}, {"floor", 2, 0.8}, {"floor", 5, 0.6},
		{"seek", 1, 1}, {"seek", 2, 0.8}, {"seek", 9, 0.8},
		{"cores", 1, 1}, {"cores", 3, 3}, {"cores", 4, 4}, {"cores", 9, 4},
	} {
		if got := curves[c.name].at(c.n); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%s: %v streams get %v done, want %v", c.name, c.n, got, c.want)
		}
	}
}

func TestTurns(t *testing.T) {
	disks := Turns[string]{Things: []string{"a", "b", "c"}}
	var got string
	for range 7 {
		got += disks.Next()
	}
	if got != "abcabca" {
		t.Errorf("turns %s, want abcabca", got)
	}
}

// crowd keeps n visitors on a device.
type crowd struct {
	device *Device
	sizes  [1024]float64
	done   int
}

func (c *crowd) Served(v *Visit) {
	c.done++
	c.device.Start(v, c.sizes[c.done%len(c.sizes)])
}

func newCrowd(e *engine.Engine, n int) *crowd {
	c := &crowd{device: NewDevice(e, Linear(0.1))}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range c.sizes {
		c.sizes[i] = rng.ExpFloat64()
	}
	for range n {
		c.Served(&Visit{Visitor: c})
	}
	return c
}

func TestDeviceDoesNotAllocate(t *testing.T) {
	e := engine.New()
	newCrowd(e, 30)
	step := func() {
		for range 100 {
			e.Step()
		}
	}
	for range 200 {
		step() // until the event list has grown to its size
	}
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations in 100 events, want 0", n)
	}
}

func BenchmarkDevice(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("visitors=%d", n), func(b *testing.B) {
			e := engine.New()
			newCrowd(e, n)
			b.ReportAllocs()
			for b.Loop() {
				e.Step()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mvisits/s")
		})
	}
}

// waited returns the time on devices that the visit lost to other visitors or a slow
// device.
func (v *Visit) waited() engine.Time { return v.Time - engine.Time(math.Round(v.Work*1e9)) }
