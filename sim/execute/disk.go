package execute

import (
	"slices"

	"github.com/slotwave/slotwave/sim/station"
)

// disk is a link whose unit is a second of service.
type disk struct {
	*station.Link
	read, write float64    // bytes in a second of service
	back        *writeBack // nil: no cache
}

// moved returns the bytes that the disk has read and written.
func (d *disk) moved() (read, written float64) {
	writing := d.Written()
	return (d.Work() - writing) * d.read, writing * d.write
}

// pageCache is the memory of a node in which written data waits for the disks.
// A write ends once all of it is in memory. While the memory is full, writers
// wait and share the space that becomes free (vm.dirty_ratio of Linux).
type pageCache struct {
	size  float64 // bytes; 0: writes wait for their disks instead
	dirty float64 // bytes, including those on their way to a disk
	queue []*put
}

// cacheWriter is a writer into the page cache.
type cacheWriter interface{ entered(*put) }

// put is a write on its way into memory.
type put struct {
	of    cacheWriter
	onto  *disk
	left  float64 // bytes that still wait for space
	bytes float64 // all of it
}

// writeBack is the single stream that writes the data of a cache to a disk.
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

// enter puts a write into memory while space is free, and reports whether all
// of it fits.
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

// room returns the free bytes. Less than a byte counts as none, so that rounding
// cannot make writes loop.
func (c *pageCache) room() float64 {
	if free := c.size - c.dirty; free >= 1 {
		return free
	}
	return 0
}

// admit gives space to the writes that wait for it.
func (c *pageCache) admit() {
	for len(c.queue) > 0 && c.room() > 0 {
		w := c.queue[0]
		c.queue = slices.Delete(c.queue, 0, 1)
		c.take(w)
		if w.left > 0 {
			c.queue = append(c.queue, w)
		} else {
			w.of.entered(w)
		}
	}
}

func (b *writeBack) next() {
	if b.going > 0 || b.waiting == 0 {
		return
	}
	b.going = min(b.waiting, writeBackChunk)
	b.waiting -= b.going
	b.flow.Hops = station.Onto(b.flow.Hops[:0], b.onto.Link, 1)
	b.net.Start(&b.flow, b.going/b.onto.write)
}

// Received implements station.Receiver.
func (b *writeBack) Received(*station.Flow) {
	b.cache.dirty -= b.going
	b.going = 0
	b.next()
	b.cache.admit()
}

// writing is a write of a thread through page caches. It is sent in parts over
// the links and through the disks of nodes without a cache. While one part is
// sent, the part before it enters the caches of the other nodes.
type writing struct {
	onto    []*disk // that have a cache; empty: the thread writes through none
	rate    float64 // weight of the flow, bytes/s
	rest    float64 // bytes to be sent
	part    float64 // on the way
	arrived float64 // bytes that enter the memory next
	puts    []put
	waiting int // of them
}

// drop removes the waiting writes of a writer.
func (c *pageCache) drop(w cacheWriter) {
	c.queue = slices.DeleteFunc(c.queue, func(p *put) bool { return p.of == w })
}
