package sim

import (
	"slices"

	"github.com/slotwave/slotwave/sim/station"
)

// pageCache is the memory of a node in which written data waits for the disks.
// A write is over once all of it is in memory. While there is no room, writers
// wait and get what becomes free in turns (vm.dirty_ratio of Linux).
type pageCache struct {
	size  float64 // bytes; 0: writes wait for their disks instead
	dirty float64 // bytes, those on their way to a disk included
	queue []*put
}

// put is a write on its way into memory.
type put struct {
	of   *thread
	onto *disk
	left float64 // bytes that have found no room
}

// writeBack is the one stream that empties a cache to a disk.
type writeBack struct {
	p       *plant
	cache   *pageCache
	onto    *disk
	flow    station.Flow
	waiting float64 // bytes
	going   float64
}

const (
	pipelineWindow = 80 * 64 << 10  // bytes that a writer to HDFS has on the way (DFSOutputStream: 80 packets)
	writeBackChunk = 1024 * 4 << 10 // bytes that go to a disk at a time (Linux: MAX_WRITEBACK_PAGES)
)

// cached gives the disks of a node a cache of so many bytes.
func (n *plantNode) cached(p *plant, bytes float64) {
	n.cache.size = bytes
	for _, d := range n.disks {
		d.back = &writeBack{p: p, cache: &n.cache, onto: d}
		d.back.flow.Receiver = d.back
	}
}

// enter brings a write into memory, as far as there is room, and reports whether
// that is all of it.
func (c *pageCache) enter(w *put) bool {
	if len(c.queue) == 0 {
		c.take(w)
	}
	if w.left > 0 {
		c.queue = append(c.queue, w)
	}
	return w.left == 0
}

func (c *pageCache) take(w *put) {
	bytes := w.left
	if room := c.room(); bytes > room+1 {
		bytes = room
	}
	c.dirty += bytes
	w.left -= bytes
	w.onto.back.waiting += bytes
	w.onto.back.goOn()
}

// room is the bytes that are free. What rounding leaves over, parts of a byte, is
// none, else parts of it would go round without end.
func (c *pageCache) room() float64 {
	if free := c.size - c.dirty; free >= 1 {
		return free
	}
	return 0
}

// admit gives room to those who wait for it.
func (c *pageCache) admit() {
	for len(c.queue) > 0 && c.room() > 0 {
		w := c.queue[0]
		c.queue = slices.Delete(c.queue, 0, 1)
		c.take(w)
		if w.left > 0 {
			c.queue = append(c.queue, w)
		} else {
			w.of.put()
		}
	}
}

func (b *writeBack) goOn() {
	if b.going > 0 || b.waiting == 0 {
		return
	}
	b.going = min(b.waiting, writeBackChunk)
	b.waiting -= b.going
	b.flow.Hops = station.Through(b.flow.Hops[:0], b.onto.Link, 1)
	b.p.net.Start(&b.flow, b.going/b.onto.write)
}

// Received is station.Receiver.
func (b *writeBack) Received(*station.Flow) {
	b.cache.dirty -= b.going
	b.going = 0
	b.goOn()
	b.cache.admit()
}

// writing is what a thread writes through caches. It goes part by part over the
// links, and through the disks of nodes without a cache, and from there into the
// caches of the others while the next part is on its way.
type writing struct {
	onto    []*disk // that have a cache; empty: the thread writes nothing through one
	rate    float64 // bytes/s by which the flow counts
	rest    float64 // bytes to be sent
	part    float64 // on the way
	arrived float64 // to be put into memory
	puts    []put
	waiting int // of them
}

// writeThrough begins a write of so many bytes along the hops of the flow.
func (t *thread) writeThrough(bytes, rate float64) {
	w := &t.writing
	w.rate, w.rest, w.arrived, w.puts, w.waiting = rate, bytes, 0, w.puts[:0], 0
	t.send()
}

func (t *thread) send() {
	w := &t.writing
	w.part = w.rest
	if len(t.flow.Hops) > 0 {
		w.part = min(w.rest, pipelineWindow)
	}
	w.rest -= w.part
	t.p.net.Start(&t.flow, w.part/w.rate)
}

// arrive takes a part in, and reports whether the write is over.
func (t *thread) arrive() bool {
	w := &t.writing
	w.arrived += w.part
	w.part = 0
	if w.waiting == 0 && w.arrived > 0 {
		w.puts = w.puts[:0]
		for _, d := range w.onto {
			w.puts = append(w.puts, put{t, d, w.arrived})
		}
		w.arrived = 0
		for i := range w.puts {
			if p := &w.puts[i]; !p.onto.back.cache.enter(p) {
				w.waiting++
			}
		}
	}
	switch {
	case w.arrived > 0: // for the room of the part before
	case w.rest > 0:
		t.send()
	case w.waiting == 0:
		w.onto = w.onto[:0]
		return true
	}
	return false
}

// put is told that one of the puts is in memory.
func (t *thread) put() {
	w := &t.writing
	if w.waiting--; w.waiting == 0 && w.part == 0 {
		t.p.net.Start(&t.flow, 0)
	}
}

// stopWriting drops what waits for room.
func (t *thread) stopWriting() {
	w := &t.writing
	for _, d := range w.onto {
		c := d.back.cache
		c.queue = slices.DeleteFunc(c.queue, func(p *put) bool { return p.of == t })
	}
	w.onto, w.rest, w.part, w.arrived = w.onto[:0], 0, 0, 0
}

// unwritten is the seconds that what has still to be sent takes.
func (t *thread) unwritten() float64 {
	if w := &t.writing; len(w.onto) > 0 {
		return (w.rest + w.arrived) / w.rate
	}
	return 0
}
