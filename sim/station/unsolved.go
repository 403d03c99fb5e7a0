package station

func (q *unsolved) add(l *Link) {
	*q = append(*q, waiting{})
	h, i := *q, len(*q)-1
	for i > 0 {
		parent := (i - 1) / 2
		if !(l.level < h[parent].level) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = waiting{l.level, l}
}

// next removes the link of the lowest level and returns it.
func (q *unsolved) next() *Link {
	h := *q
	first, last := h[0].link, len(h)-1
	moved := h[last]
	h = h[:last]
	*q = h
	i := 0
	for child := 1; child < last; child = 2*i + 1 {
		if right := child + 1; right < last && h[right].level < h[child].level {
			child = right
		}
		if !(h[child].level < moved.level) {
			break
		}
		h[i] = h[child]
		i = child
	}
	if last > 0 {
		h[i] = moved
	}
	first.isQueued = false
	return first
}
