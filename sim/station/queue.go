package station

// queue is a heap of entries by due key, then by order. Each entry knows its
// place, so that it can be removed.
type queue []entry

type entry struct {
	key   float64
	order uint64
	*place
}

// place is the position of an entry; the zero place is not in a queue.
type place struct {
	index int32 // from 1
	of    waiter
}

// waiter is called when it is due. It removes itself from the queue.
type waiter interface{ due() }

func (e *entry) before(f *entry) bool {
	return e.key < f.key || e.key == f.key && e.order < f.order
}

func (q *queue) add(e entry) {
	*q = append(*q, e)
	q.up(len(*q) - 1)
}

func (q *queue) remove(p *place) {
	i, last := int(p.index)-1, len(*q)-1
	p.index = 0
	moved := (*q)[last]
	(*q)[last] = entry{}
	*q = (*q)[:last]
	if i < last {
		(*q)[i] = moved
		if !q.up(i) {
			q.down(i)
		}
	}
}

// up moves an entry before those that it precedes and reports whether there were
// any.
func (q queue) up(i int) bool {
	e, start := q[i], i
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&q[parent]) {
			break
		}
		q.put(i, q[parent])
		i = parent
	}
	q.put(i, e)
	return i < start
}

func (q queue) down(i int) {
	e := q[i]
	for {
		child := 2*i + 1
		if child >= len(q) {
			break
		}
		if right := child + 1; right < len(q) && q[right].before(&q[child]) {
			child = right
		}
		if !q[child].before(&e) {
			break
		}
		q.put(i, q[child])
		i = child
	}
	q.put(i, e)
}

func (q queue) put(i int, e entry) {
	q[i] = e
	e.index = int32(i + 1)
}
