package station

import "github.com/slotwave/slotwave/sim/engine"

// Tally is the use of a device since the start.
type Tally struct {
	Visits  float64 // visitor seconds
	Present float64 // seconds with a visitor
	Offered float64 // work that the visitors could have received
	Foreign float64 // seconds in which background streams had the device

	at engine.Time
}

// add adds the time since the last call, with the visitors that were present.
// rate is the work per second of visitors and background together. places is
// the number of visitors that the device serves at a time.
func (t *Tally) add(now engine.Time, visitors, background, rate, places float64) {
	seconds := (now - t.at).Duration().Seconds()
	t.at = now
	all := visitors + background
	if visitors > 0 {
		t.Visits += float64(seconds * visitors)
		t.Present += seconds
		work := float64(seconds * rate)
		if background > 0 {
			work = float64(work * (visitors / all))
		}
		t.Offered += work
	}
	if background > 0 {
		t.Foreign += float64(seconds * (background / all) * min(1, all/places))
	}
}
