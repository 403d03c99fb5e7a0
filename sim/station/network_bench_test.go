package station

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/slotwave/slotwave/sim/engine"
)

// star is hosts with an interface each of 125 MB/s per direction, in racks of
// 40 whose uplinks carry a quarter of that.
func star(e *engine.Engine, hosts int, racks bool) (*Network, *Fabric) {
	n := NewNetwork(e)
	f := &Fabric{Racks: make([]Rack, (hosts+39)/40)}
	for i := range f.Racks {
		if racks {
			f.Racks[i] = Rack{n.NewTrunk(40 * 125e6 / 4), n.NewTrunk(40 * 125e6 / 4)}
		}
	}
	for i := range hosts {
		f.Hosts = append(f.Hosts, Host{n.NewLink(125e6, nil), n.NewLink(125e6, nil), i / 40})
	}
	return n, f
}

// fetcher takes transfers one after another from hosts at random.
type fetcher struct {
	Flow
	to, more int
	rng      *rand.Rand // its own, so that what it fetches does not hang on when
	traffic  *traffic
}

type traffic struct {
	net    *Network
	fabric *Fabric
	done   int
	ends   []engine.Time // of every transfer, unless nil
}

func (f *fetcher) Received(*Flow) {
	t := f.traffic
	t.done++
	if t.ends != nil {
		t.ends = append(t.ends, t.net.eng.Now())
	}
	if f.more > 0 {
		f.more--
		f.fetch()
	}
}

func (f *fetcher) fetch() {
	t := f.traffic
	from := f.rng.IntN(len(t.fabric.Hosts) - 1)
	if from >= f.to {
		from++
	}
	f.Hops = t.fabric.Transfer(f.Hops[:0], from, f.to)
	t.net.Start(&f.Flow, f.rng.ExpFloat64()*64e6)
}

func newTraffic(e *engine.Engine, hosts, copiers, each int, racks bool) *traffic {
	net, fabric := star(e, hosts, racks)
	t := &traffic{net: net, fabric: fabric}
	for to := range hosts {
		for i := range copiers {
			f := &fetcher{to: to, more: each - 1, rng: rand.New(rand.NewPCG(uint64(to), uint64(i))), traffic: t}
			f.Receiver = f
			f.fetch()
		}
	}
	return t
}

// BenchmarkTransfers lets every host fetch with so many copiers from hosts at
// random, for ever.
func BenchmarkTransfers(b *testing.B) {
	for _, c := range []struct {
		hosts, copiers int
		racks          bool
		slack          float64
	}{
		{200, 1, false, 0}, {200, 5, false, 0}, {200, 5, true, 0}, {200, 5, true, 0.01},
		{1000, 1, false, 0}, {1000, 5, false, 0}, {1000, 5, true, 0}, {1000, 5, true, 0.01},
	} {
		b.Run(fmt.Sprintf("hosts=%d/copiers=%d/racks=%v/slack=%v", c.hosts, c.copiers, c.racks, c.slack), func(b *testing.B) {
			e := engine.New()
			t := newTraffic(e, c.hosts, c.copiers, 1<<60, c.racks)
			t.net.Slack = c.slack
			for t.done < 10*c.hosts {
				e.Step()
			}
			b.ReportAllocs()
			start := t.done
			for b.Loop() {
				for done := t.done; t.done == done; {
					e.Step()
				}
			}
			b.ReportMetric(float64(t.done-start)/b.Elapsed().Seconds(), "transfers/s")
		})
	}
}

// BenchmarkThousandHosts has 1,000 hosts fetch 100 times each, by so many copiers.
func BenchmarkThousandHosts(b *testing.B) {
	for _, copiers := range []int{1, 5, 10} {
		b.Run(fmt.Sprintf("copiers=%d", copiers), func(b *testing.B) {
			for b.Loop() {
				e := engine.New()
				t := newTraffic(e, 1000, copiers, 100/copiers, false)
				drain(e)
				if t.done != 100_000 {
					b.Fatalf("%d transfers, want 100000", t.done)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/run")
		})
	}
}
