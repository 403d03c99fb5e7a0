package trace

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model/vectortest"
	"github.com/slotwave/slotwave/workload"
)

// draw draws the parts of a history. Most times are whole seconds, and small, so that much
// happens in one instant or nearly, and anything may not be recorded.
type draw struct{ *rand.Rand }

func (d draw) n(low, high int) int { return low + d.IntN(high-low+1) }

func (d draw) rarely(n int) bool { return d.IntN(n) == 0 }

func (d draw) seconds(low, high int) time.Duration {
	return time.Duration(d.n(low, high)) * time.Second
}

func (d draw) oneOf(values ...string) string { return values[d.IntN(len(values))] }

// after is an instant after another one, not known if that one is not.
func (d draw) after(from time.Duration, low, high, unknown int) time.Duration {
	if !workload.Known(from) || d.rarely(unknown) {
		return workload.UnknownTime
	}
	if d.rarely(8) {
		from += time.Duration(d.n(-12, 12)) * time.Millisecond
	}
	return from + d.seconds(low, high)
}

func (d draw) count(most int) int64 {
	if d.rarely(8) {
		return workload.Unknown
	}
	return int64(d.n(0, most))
}

func (d draw) history() *workload.History {
	h := &workload.History{Epoch: []int64{workload.Unknown, 1300000000000}[d.n(0, 1)], Release: d.oneOf("", "0.20.2", "1.2.1", "2.7.7")}
	hosts := []string{"a", "b", "c", "d", "e"}[:d.n(1, 5)]
	h.Topology.Racks = []workload.Rack{{Name: "/r", Hosts: hosts[:1]}}
	if len(hosts) > 1 {
		h.Topology.Racks = append(h.Topology.Racks, workload.Rack{Name: "/s", Hosts: hosts[1:]})
	}
	h.Topology.Listed = map[string]bool{hosts[0]: d.rarely(2)}
	for i := range d.n(1, 6) {
		h.Jobs = append(h.Jobs, d.job(i, hosts))
	}
	if d.rarely(8) { // only volumes
		h.Swim, h.Jobs = []workload.SwimJob{{ID: "s", Submit: d.seconds(0, 9), InputBytes: d.count(1e6), ShuffleBytes: d.count(1e6), OutputBytes: d.count(1e6)}}, nil
	}
	return h
}

func (d draw) job(i int, hosts []string) workload.HistoryJob {
	j := workload.NewHistoryJob(fmt.Sprintf("job_%d_%d", 1+i/4, i))
	j.Name, j.User, j.Queue = d.oneOf("sort", "grep", "", `a "b" \c=[d] (e)`), d.oneOf("ann", "bob", ""), d.oneOf("", "default")
	j.Outcome = []workload.State{workload.Succeeded, workload.Succeeded, workload.Succeeded, workload.Failed, workload.Killed, workload.Running}[d.n(0, 5)]
	j.Submit = d.seconds(0, 40)
	j.Launch = d.after(j.Submit, 0, 3, 4)
	if d.rarely(4) {
		j.After = []string{fmt.Sprintf("job_%d_%d", 1+(i-1)/4, i-1)}
	}
	set := func(key string, values ...string) {
		if d.rarely(3) {
			j.Conf.Set(key, d.oneOf(values...))
		}
	}
	set("mapred.reduce.slowstart.completed.maps", "0", "0.05", "0.5", "1")
	set("mapred.map.max.attempts", "1", "2")
	set("mapred.compress.map.output", "true", "false")
	set("mapred.child.java.opts", "-Xmx200m", "-Dpassword=x -Xmx1g")
	set(workload.OriginalID, "etl_1", "etl_2")
	set("x.y", "<a&b>", "line\nbreak", "{}")
	at := d.after(j.Submit, 0, 3, 8)
	last := j.Submit
	add := func(kind workload.Kind, reduceSlot bool, number int) {
		t := workload.NewHistoryTask(kind, reduceSlot, number)
		if kind == workload.Map {
			t.Split.Bytes = d.count(1000)
			for _, k := range d.Perm(len(hosts))[:d.n(0, min(2, len(hosts)))] {
				t.Split.Hosts = append(t.Split.Hosts, hosts[k])
			}
		}
		t.State = workload.Succeeded
		start := d.after(at, 0, 12, 20)
		t.Start = d.after(start, -3, 0, 4)
		for n := range d.n(0, 6) {
			if n > 2 {
				break
			}
			a := d.attempt(&j, &t, n, start, hosts)
			t.Attempts = append(t.Attempts, a)
			t.Finish = a.Finish
			last = max(last, a.Finish)
			if start = d.after(a.Start, 0, 8, 20); a.State == workload.Succeeded && !d.rarely(3) {
				break
			}
		}
		j.Tasks = append(j.Tasks, t)
	}
	maps, reduces := d.n(0, 8), d.n(0, 2)*d.n(0, 3)
	for k := range maps {
		add(workload.Map, false, k)
	}
	at = d.after(at, 0, 15, 20)
	for k := range reduces {
		add(workload.Reduce, true, k)
	}
	if d.rarely(2) {
		at = j.Submit
		add(workload.Setup, d.rarely(2), maps)
		at = last
		add(workload.Cleanup, d.rarely(2), maps+1)
	}
	if d.rarely(12) { // has only its own lines
		j.Tasks = nil
	}
	if !d.rarely(4) {
		j.Maps, j.Reduces = maps, reduces
	}
	if j.Outcome != workload.Running {
		j.Finish = d.after(last, 0, 5, 12)
	}
	for _, c := range []*int64{&j.Totals.LaunchedMaps, &j.Totals.LaunchedReduces, &j.Totals.SlotMillisMaps, &j.Totals.SlotMillisReduces, &j.Totals.All.HDFSReadBytes, &j.Totals.All.HDFSWriteBytes, &j.Totals.Reduce.ShuffleBytes} {
		*c = d.count(100_000)
	}
	return j
}

func (d draw) attempt(j *workload.HistoryJob, t *workload.HistoryTask, n int, start time.Duration, hosts []string) workload.HistoryAttempt {
	a := workload.NewHistoryAttempt(j.ID, "", t.Kind, t.Number, n)
	a.State = []workload.State{workload.Succeeded, workload.Succeeded, workload.Succeeded, workload.Failed, workload.Killed, workload.Running}[d.n(0, 5)]
	a.Start, a.Finish = start, d.after(start, 0, 20, 20)
	if d.rarely(40) { // its host may stand still
		a.Finish = d.after(start, 100, 300, 20)
	}
	if a.State == workload.Running {
		a.Finish = workload.UnknownTime
	}
	if !d.rarely(10) {
		a.Node, a.Locality = hosts[d.IntN(len(hosts))], workload.Locality(d.n(0, 3))
	}
	left := d.seconds(0, 20)
	if workload.Known(a.Finish) && workload.Known(a.Start) {
		left = a.Finish - a.Start
	}
	if t.Kind == workload.Reduce && !d.rarely(4) {
		for _, p := range []workload.Phase{workload.PhaseShuffle, workload.PhaseMerge} {
			a.Phases[p] = time.Duration(d.n(0, 4)) * left / 4
			left -= a.Phases[p]
		}
		a.Phases[workload.PhaseReduce] = left
	} else if d.rarely(3) {
		a.Phases[workload.PhaseStartup] = d.seconds(0, 2)
	}
	for _, c := range []*int64{
		&a.InRecords, &a.InBytes, &a.OutRecords, &a.OutBytes, &a.Spills, &a.SpilledRecords, &a.ShuffleBytes, &a.HDFSReadBytes, &a.HDFSWriteBytes,
		&a.LocalReadBytes, &a.LocalWriteBytes, &a.CombineInRecords, &a.CombineOutRecords, &a.MaterializedBytes, &a.CPUMillis,
	} {
		*c = d.count([]int{3, 1000}[d.n(0, 1)])
	}
	return a
}

func (d draw) options(h *workload.History) workload.ReplayOptions {
	o := workload.ReplayOptions{OnlySucceeded: d.rarely(4), Initialised: d.rarely(2), Speculated: d.rarely(2), Rescaled: d.rarely(2)}
	if d.rarely(2) {
		o.Startup, o.Commit = d.seconds(0, 2), d.seconds(0, 2)
	}
	if d.rarely(2) {
		o.Chains = h.Chains()
	}
	if d.rarely(2) {
		o.Assigned = func(_ string, at time.Duration) time.Duration { return at.Truncate(3 * time.Second) }
	}
	if d.rarely(3) {
		o.Drawn = workload.Seed(d.n(1, 9))
	}
	if d.rarely(2) {
		o.FetchSleep, o.Heartbeat = d.seconds(0, 5), d.seconds(0, 3)
	}
	o.Bytes = []float64{0, 0, 1, 0.5, 1.3, 2}[d.n(0, 5)]
	return o
}

func (d draw) shaping() *workload.Shaping {
	s := &workload.Shaping{ScaleJobs: 1, ScaleTime: 1, ScaleBytes: 1, Seed: workload.Seed(d.n(1, 9))}
	if d.rarely(2) {
		s.From, s.To = d.seconds(0, 10), d.seconds(0, 40)
	}
	if d.rarely(2) {
		s.First, s.Last, s.Jobs = d.n(0, 3), d.n(0, 5), d.n(0, 3)
	}
	if d.rarely(2) {
		s.ScaleJobs, s.ScaleTime, s.ScaleBytes = float64(d.n(0, 5))/2, float64(d.n(1, 4))/2, float64(d.n(1, 4))/2
	}
	if d.rarely(4) {
		s.Fold = &workload.Folding{Cycle: d.seconds(1, 20), Length: d.seconds(1, 40), Concentration: float64(d.n(0, 4))}
	}
	return s
}

// continued lets the jobs of a replay that run go on.
func (d draw) continued(h *workload.History) (all []any, err error) {
	r, err := h.Replay(workload.ReplayOptions{})
	if err != nil {
		return nil, err
	}
	c := workload.NewContinuation(h, r.Jobs)
	for i := range h.Jobs {
		j := &h.Jobs[i]
		k := slices.IndexFunc(r.Jobs, func(x workload.Job) bool { return x.ID == j.ReplayedAs() })
		if j.Outcome != workload.Running || k < 0 {
			continue
		}
		on, err := c.Continue(r.Jobs[k], j, h.Now(), d.Rand)
		all = append(all, c.KnowsReduces(j), on, err)
	}
	return all, nil
}

// writtenAs returns the files of a history in a format.
func writtenAs(f Format, h *workload.History) (all []any) {
	out, err := f.Write(h)
	all = append(all, out.Left, out.Lost, fmt.Sprint(err))
	for _, file := range out.Files {
		var text bytes.Buffer
		err := file.Write(&text)
		all = append(all, file.Name, text.String(), fmt.Sprint(err))
	}
	return all
}

// What is made of random histories stays: replays, profiles, shapes, files of each format,
// and what is known of slots, waits and machines. A line of the golden file is the first
// of ten histories and a thing that is made of them, so a new format adds lines and
// changes none; -v shows the things. A change is a change in results.
func TestMadeOfHistoriesStays(t *testing.T) {
	t.Parallel()
	type thing struct {
		name string
		of   func(draw, *workload.History) (any, error)
	}
	made := []thing{
		{"replay", func(d draw, h *workload.History) (any, error) {
			r, err := h.Replay(d.options(h))
			return r, err
		}},
		{"continued", func(d draw, h *workload.History) (any, error) { return d.continued(h) }},
		{"profiles", func(d draw, h *workload.History) (any, error) {
			var p workload.Profiler
			for i := range h.Jobs {
				p.Add(&h.Jobs[i])
			}
			var text bytes.Buffer
			err := WriteProfilesJSON(&text, p.Profiles())
			return []any{p.Profiles(), text.String()}, err
		}},
		{"slots", func(d draw, h *workload.History) (any, error) {
			held := func(_ *workload.HistoryJob, t *workload.HistoryTask) [2]int64 { return [2]int64{int64(t.Kind), 2} }
			return []any{
				h.MostOnMachine(workload.Map), h.MostOnMachine(workload.Map, workload.Reduce), h.MostHeld(held), h.MostAtOnce(workload.Reduce),
				h.Waited(), h.WithoutSetupCleanup(), h.IdleWorkers(), h.Workers(), h.Now(), h.AtOnce(), h.Common(), h.Chains(),
			}, nil
		}},
		{"still", func(d draw, h *workload.History) (any, error) {
			without, names := h.WithoutStill()
			return []any{h.StillHosts(), without, names}, nil
		}},
		{"clusters", func(d draw, h *workload.History) (any, error) {
			part := *h
			part.Jobs = slices.Clone(h.Jobs)
			part.WithTrackersOf(func(j *workload.HistoryJob) bool { return j.Name == "sort" })
			return []any{h.Clusters(), part}, nil
		}},
		{"anonymous", func(d draw, h *workload.History) (any, error) {
			return h.Anonymise(&workload.Names{Seed: workload.Seed(d.n(1, 9))}), nil
		}},
		{"shape", func(d draw, h *workload.History) (any, error) {
			shaped := *h
			err := shaped.Shape(d.shaping())
			return shaped, err
		}},
	}
	for _, f := range formats {
		if f.write != nil {
			made = append(made, thing{"as " + f.Name, func(_ draw, h *workload.History) (any, error) { return writtenAs(f, h), nil }})
		}
	}
	const each = 10
	texts := make([]bytes.Buffer, len(made))
	var got bytes.Buffer
	for i := range uint64(150) {
		h := draw{rand.New(rand.NewPCG(i, 41))}.history()
		for k, m := range made {
			text, from := &texts[k], texts[k].Len()
			what, err := m.of(draw{rand.New(rand.NewPCG(i, uint64(k)))}, h)
			vectortest.Dump(text, what)
			fmt.Fprint(text, err)
			if testing.Verbose() {
				t.Logf("%d %s: %s", i, m.name, text.Bytes()[from:])
			}
			if i%each == each-1 {
				fmt.Fprintf(&got, "%d %s: %.6x\n", i+1-each, m.name, sha256.Sum256(text.Bytes()))
				text.Reset()
			}
		}
	}
	vectortest.Lines(t, "testdata/made.txt", got.String(), *update)
}
