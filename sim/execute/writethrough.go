package execute

// writeThrough begins a write along the hops of the flow.
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
	t.start(w.part / w.rate)
}

// arrive adds a part, and reports whether the write is over.
func (t *thread) arrive() bool {
	w := &t.writing
	w.arrived += w.part
	w.part = 0
	if w.waiting == 0 && w.arrived > 0 {
		w.puts = w.puts[:0]
		for _, d := range w.onto {
			w.puts = append(w.puts, put{t, d, w.arrived, w.arrived})
		}
		w.arrived = 0
		for i := range w.puts {
			if p := &w.puts[i]; !p.onto.back.cache.enter(p) {
				w.waiting++
			}
		}
	}
	switch {
	case w.arrived > 0: // for space for the part before
	case w.rest > 0:
		t.send()
	case w.waiting == 0:
		w.onto = w.onto[:0]
		return true
	}
	return false
}

// entered records that one of the puts is in memory.
func (t *thread) entered(p *put) {
	w := &t.writing
	if w.waiting--; w.waiting == 0 && w.part == 0 {
		if trace := t.hardware.trace; trace != nil {
			trace.cached(t, p)
		}
		t.start(0)
	}
}

// stopWriting removes the puts that wait for space.
func (t *thread) stopWriting() {
	w := &t.writing
	for _, d := range w.onto {
		c := d.back.cache
		c.drop(t)
	}
	w.onto, w.rest, w.part, w.arrived = w.onto[:0], 0, 0, 0
}

// unwritten returns the seconds needed for the data that is not sent yet.
func (t *thread) unwritten() float64 {
	if w := &t.writing; len(w.onto) > 0 {
		return (w.rest + w.arrived) / w.rate
	}
	return 0
}
