package execute

import (
	"slices"

	"github.com/slotwave/slotwave/sim/station"
)

// disk is a link of seconds of service.
type disk struct {
	*station.Link
	read, write float64    // bytes in a second of service
	moved       float64    // bytes that were asked for
	back        *writeBack // nil: no cache
}

// pageCache is the memory of a node in which written data waits for the disks.
// A write is over once all of it is in memory. While there is no room, writers
// wait and get what becomes free in turns (vm.dirty_ratio of Linux).
type pageCache struct {
	size  float64 // bytes; 0: writes wait for their disks instead
	dirty float64 // bytes, those on their way to a disk included
	queue []*put
}

// cacheWriter is who writes into memory.
type cacheWriter interface{ entered() }

// put is a write on its way into memory.
type put struct {
	of   cacheWriter
	onto *disk
	left float64 // bytes that have found no room
}

// writeBack is the one stream that empties a cache to a disk.
type writeBack struct {
	net     *station.Network
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

// enter brings a write into memory while there is room, and reports whether
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
	w.onto.back.next()
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
			w.of.entered()
		}
	}
}

func (b *writeBack) next() {
	if b.going > 0 || b.waiting == 0 {
		return
	}
	b.going = min(b.waiting, writeBackChunk)
	b.waiting -= b.going
	b.flow.Hops = station.Through(b.flow.Hops[:0], b.onto.Link, 1)
	b.net.Start(&b.flow, b.going/b.onto.write)
}

// Received is station.Receiver.
func (b *writeBack) Received(*station.Flow) {
	b.cache.dirty -= b.going
	b.going = 0
	b.next()
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

// drop forgets the writes of a writer that wait for room.
func (c *pageCache) drop(w cacheWriter) {
	c.queue = slices.DeleteFunc(c.queue, func(p *put) bool { return p.of == w })
}
