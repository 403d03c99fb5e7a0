package trace

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/slotwave/slotwave/workload"
)

var chromeFormat = Format{
	Name: "chrome", About: "trace for Perfetto and chrome://tracing",
	Files: "trace.json.gz",
	write: func(h *workload.History) (Output, error) {
		return Output{Files: []File{{"trace.json.gz", func(w io.Writer) error { return writeChromeTrace(w, h) }}}}, nil
	},
}

// writeChromeTrace writes the attempts in the JSON trace format that Perfetto
// and chrome://tracing open: a process for each node, a thread for each slot,
// and on it a slice for each attempt with its phases inside. Attempts without a
// recorded slot are placed on as few tracks as possible. Counters show the slots
// in use, the tasks that wait for one and the devices; arrows lead from maps to
// the reduces that fetch their outputs. Times are microseconds.
func writeChromeTrace(w io.Writer, h *workload.History) error {
	rows := chromeRows(h)
	j := newJSONWriter(w)
	j.write(object{"displayTimeUnit", "ms", "traceEvents", items(func(write func(any)) {
		rows.write(write)
		rows.writeFlows(write)
		rows.writeLoad(write)
		rows.writeDevices(write, h)
	})})
	return j.err
}

// chromeRow is an attempt on its track.
type chromeRow struct {
	*workload.HistoryAttempt
	node, track int
}

type chromeTrace struct {
	nodes  []string
	tracks [][]string // names of each node's slots, empty where no attempt ran
	rows   []chromeRow
}

func chromeRows(h *workload.History) *chromeTrace {
	type slotType struct {
		node   string
		reduce bool
	}
	var list []chromeRow
	types := make(map[slotType][]*chromeRow)
	var c chromeTrace
	for t, a := range h.Each() {
		if a.Node != "" && workload.Known(a.Start) && workload.Known(a.Finish) && a.Finish >= a.Start {
			list = append(list, chromeRow{HistoryAttempt: a, track: map[bool]int{false: 0, true: 1}[t.ReduceSlot]})
		}
	}
	slices.SortStableFunc(list, func(a, b chromeRow) int { return cmp.Compare(a.Start, b.Start) })
	for i := range list {
		key := slotType{list[i].Node, list[i].track == 1}
		if types[key] == nil && types[slotType{key.node, !key.reduce}] == nil {
			c.nodes = append(c.nodes, key.node)
		}
		types[key] = append(types[key], &list[i])
	}
	for i := range h.Devices {
		if d := &h.Devices[i]; i == 0 || d.Node != h.Devices[i-1].Node {
			c.nodes = append(c.nodes, d.Node)
		}
	}
	slices.Sort(c.nodes)
	c.nodes = slices.Compact(c.nodes)
	c.tracks = make([][]string, len(c.nodes))
	for n, node := range c.nodes {
		for _, reduce := range []bool{false, true} {
			rows := types[slotType{node, reduce}]
			width := dealSlots(rows)
			first := len(c.tracks[n])
			c.tracks[n] = append(c.tracks[n], make([]string, width)...)
			for _, r := range rows {
				name := &c.tracks[n][first+r.track]
				if *name == "" {
					*name = fmt.Sprintf("%s slot %d", map[bool]string{false: "map", true: "reduce"}[reduce], r.track)
				}
				r.node, r.track = n, first+r.track
			}
		}
	}
	c.rows = list
	return &c
}

// dealSlots assigns each attempt of one node and slot type to a track: its
// recorded slot if that track is free, else the first free one. Rows are in
// order of their start. It returns the number of tracks.
func dealSlots(rows []*chromeRow) int {
	var until []time.Duration // when each track is free
	for _, r := range rows {
		free := func(track int) bool { return track >= len(until) || until[track] <= r.Start }
		r.track = r.Slot
		const mostSlots = 10_000 // larger numbers are not slots
		if r.Slot < 0 || r.Slot >= mostSlots || !free(r.Slot) {
			for r.track = 0; !free(r.track); r.track++ {
			}
		}
		for len(until) <= r.track {
			until = append(until, 0)
		}
		until[r.track] = r.Finish
	}
	return len(until)
}

func (c *chromeTrace) write(write func(any)) {
	meta := func(kind string, node, track int, value string) {
		write(object{"ph", "M", "name", kind, "pid", node + 1, "tid", track + 1, "args", object{"name", value}})
	}
	meta("process_name", len(c.nodes), 0, "cluster")
	for n, node := range c.nodes {
		meta("process_name", n, 0, node)
		for t, name := range c.tracks[n] {
			if name != "" {
				meta("thread_name", n, t, name)
			}
		}
	}
	slice := func(r *chromeRow, name, category string, start, length time.Duration, args ...any) {
		write(append(object{
			"ph", "X", "name", name, "cat", category, "ts", micros(start), "dur", micros(length), "pid", r.node + 1, "tid", r.track + 1,
		}, args...))
	}
	for i := range c.rows {
		r := &c.rows[i]
		args := object{"job", r.Job, "task", r.Task, "attempt", r.Number, "state", r.State.String(), "locality", r.Locality.String()}
		if r.Pool != "" {
			args = append(args, "pool", r.Pool)
		}
		slice(r, fmt.Sprintf("%s %s %d", r.Job, r.Kind, r.Task), r.Kind.String(), r.Start, r.Duration(), "args", args)
		at := r.Start
		for p, d := range r.Phases {
			if !workload.Known(d) || d <= 0 {
				continue
			}
			if d = min(d, r.Finish-at); d > 0 { // a slice must lie within its outer one
				slice(r, workload.Phase(p).String(), "phase", at, d)
				at += d
			}
		}
	}
}

// mostArrows is the largest number of arrows of a job with one from each map to
// each reduce. A larger job has one arrow for each reduce, from the map that
// ended last.
const mostArrows = 10_000

// writeFlows writes an arrow from the end of a map to the shuffle of each reduce
// that fetched its output: not before the reduce shuffles, nor after.
func (c *chromeTrace) writeFlows(write func(any)) {
	type ends struct{ maps, reduces []*chromeRow }
	jobs := make(map[string]*ends)
	var order []string
	for i := range c.rows {
		r := &c.rows[i]
		if r.State != workload.Succeeded || r.Kind > workload.Reduce || r.Finish <= r.Start {
			continue
		}
		e := jobs[r.Job]
		if e == nil {
			e = &ends{}
			jobs[r.Job], order = e, append(order, r.Job)
		}
		if r.Kind == workload.Map {
			e.maps = append(e.maps, r)
		} else {
			e.reduces = append(e.reduces, r)
		}
	}
	id := 0
	for _, name := range order {
		e := jobs[name]
		slices.SortStableFunc(e.maps, func(a, b *chromeRow) int { return cmp.Compare(a.Finish, b.Finish) })
		for _, r := range e.reduces {
			from, to := r.shuffle()
			maps := e.maps
			for len(maps) > 0 && maps[len(maps)-1].Finish > to {
				maps = maps[:len(maps)-1] // ran again after its output was fetched
			}
			if len(e.maps)*len(e.reduces) > mostArrows {
				maps = maps[max(0, len(maps)-1):]
			}
			for _, m := range maps {
				id++
				write(arrowEnd(m, m.Finish-1, "ph", "s", "name", "map output", "cat", "fetch", "id", id))
				write(arrowEnd(r, max(from, min(m.Finish, to-1)), "ph", "f", "name", "map output", "cat", "fetch", "id", id, "bp", "e"))
			}
		}
	}
}

// shuffle returns when the attempt of a reduce shuffled; if that is not known,
// when it ran.
func (r *chromeRow) shuffle() (from, to time.Duration) {
	known := func(p workload.Phase) time.Duration { return max(0, r.Phases[p]) } // Unknown is negative
	if from = r.Start + known(workload.PhaseStartup); known(workload.PhaseShuffle) == 0 || from >= r.Finish {
		return r.Start, r.Finish
	}
	return from, min(r.Finish, from+known(workload.PhaseShuffle))
}

// arrowEnd is one end of an arrow, which the viewer attaches to the slice that
// encloses the instant.
func arrowEnd(r *chromeRow, at time.Duration, head ...any) object {
	return append(head, "ts", micros(at), "pid", r.node+1, "tid", r.track+1)
}

// writeLoad counts the attempts that hold a slot of the cluster, and the tasks
// that could have one.
func (c *chromeTrace) writeLoad(write func(any)) {
	type step struct {
		at       time.Duration
		what, by int
	}
	var steps []step
	for i := range c.rows {
		r := &c.rows[i]
		k := min(int(r.Kind), 2)
		if r.Finish > r.Start {
			steps = append(steps, step{r.Start, k, 1}, step{r.Finish, k, -1})
		}
		if k < 2 && workload.Known(r.Runnable) && r.Runnable < r.Start {
			steps = append(steps, step{r.Runnable, 3 + k, 1}, step{r.Start, 3 + k, -1})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	counters := []struct {
		name   string
		series []string
	}{{"slots in use", []string{"maps", "reduces", "other"}}, {"tasks waiting", []string{"maps", "reduces"}}}
	var level [5]int
	for i := 0; i < len(steps); {
		before, at := level, steps[i].at
		for ; i < len(steps) && steps[i].at == at; i++ {
			level[steps[i].what] += steps[i].by
		}
		for n, first := 0, 0; n < len(counters); n++ {
			series := counters[n].series
			if now := level[first : first+len(series)]; !slices.Equal(now, before[first:first+len(series)]) {
				var values object
				for k, s := range series {
					values = append(values, s, now[k])
				}
				write(count(counters[n].name, len(c.nodes), at, values))
			}
			first += len(series)
		}
	}
}

// writeDevices writes the part of the time for which devices were busy, where it
// changes.
func (c *chromeTrace) writeDevices(write func(any), h *workload.History) {
	type device struct{ node, name string }
	last := make(map[device]string)
	for i := range h.Devices {
		u := &h.Devices[i]
		key := device{u.Node, u.Device}
		busy := fmt.Sprintf("%.1f", 100*u.Busy)
		if last[key] == busy {
			continue
		}
		last[key] = busy
		node, _ := slices.BinarySearch(c.nodes, u.Node)
		write(count(u.Device, node, u.At, object{"busy %", jsontext.Value(busy)}))
	}
}

// count is the values of a counter from an instant on.
func count(name string, node int, at time.Duration, values object) object {
	return object{"ph", "C", "name", name, "ts", micros(at), "pid", node + 1, "args", values}
}

// micros is a time in microseconds, with exact nanoseconds after the point,
// so that slices nest.
func micros(d time.Duration) jsontext.Value {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	return jsontext.Value(fmt.Sprintf("%s%d.%03d", sign, d/1000, d%1000))
}
