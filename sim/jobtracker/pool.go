package jobtracker

// pool allocates records that do not move, and uses freed ones again.
// References are small integers, so tables of them are small and the garbage
// collector skips them.
type pool[T any] struct {
	chunks [][]T
	free   []uint32
}

// poolChunk is small, since most runs of a sweep have few tasks.
const poolChunk = 64

func (p *pool[T]) get() (uint32, *T) {
	if len(p.free) == 0 {
		base := uint32(len(p.chunks) * poolChunk)
		p.chunks = append(p.chunks, make([]T, poolChunk))
		for i := range uint32(poolChunk) {
			p.free = append(p.free, base+poolChunk-1-i)
		}
	}
	ref := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return ref, p.at(ref)
}

func (p *pool[T]) at(ref uint32) *T { return &p.chunks[ref/poolChunk][ref%poolChunk] }

func (p *pool[T]) put(ref uint32) { p.free = append(p.free, ref) }
