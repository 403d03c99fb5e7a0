package workload

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestReplayRescaled: node-local maps took 10 s, one on the rack 15 s and one
// off it 30 s, so each is one of 10 s elsewhere. The last map ends at 30. The
// reduce that starts at 40 fetches 100 bytes in 5 s, so the first one needs
// 15 s for its 300. Reduce phases took 4 and 8 s, and stay with their reduces.
func TestReplayRescaled(t *testing.T) {
	sec := func(s float64) time.Duration { return Seconds(s) }
	record := func(bytes int64) *History {
		j := NewHistoryJob("job_1_1")
		j.Outcome, j.Submit, j.Finish = Succeeded, 0, sec(60)
		add := func(kind Kind, n int, start, finish float64) *HistoryAttempt {
			task := NewHistoryTask(kind, kind == Reduce, n)
			a := NewHistoryAttempt(j.ID, "", kind, n, 0)
			a.State, a.Start, a.Finish = Succeeded, sec(start), sec(finish)
			task.Attempts = []HistoryAttempt{a}
			j.Tasks = append(j.Tasks, task)
			return &j.Tasks[len(j.Tasks)-1].Attempts[0]
		}
		for i, x := range []struct {
			seconds float64
			far     Locality
		}{{10, NodeLocal}, {10, NodeLocal}, {15, RackLocal}, {30, OffRack}} {
			add(Map, i, 0, x.seconds).Locality = x.far
		}
		first := add(Reduce, 0, 5, 37)
		first.Phases[PhaseShuffle], first.Phases[PhaseMerge], first.ShuffleBytes = sec(27), sec(1), 3*bytes
		later := add(Reduce, 1, 40, 54)
		later.Phases[PhaseShuffle], later.Phases[PhaseMerge], later.ShuffleBytes = sec(5), sec(1), bytes
		return &History{Jobs: []HistoryJob{j}}
	}
	check := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	for _, grow := range []float64{0, 2} {
		by := max(1, grow)
		r := replay(t, record(100), ReplayOptions{Rescaled: true, Bytes: grow})
		j := r.Jobs[0]
		check("maps", j.Maps.Count, int(4*by))
		check("times of maps", len(j.Maps.Time.Each), j.Maps.Count)
		for _, d := range j.Maps.Time.Each {
			check("map", d, sec(10))
		}
		check("on the rack", j.Maps.RackFactor, 1.5)
		check("off it", j.Maps.OffFactor, 3.0)
		check("copy of the first", j.Reduces.Copy.Each[0], sec(15*by))
		check("copy of the later", j.Reduces.Copy.Each[1], sec(5*by))
		check("sort", j.Reduces.Sort.Each[0], sec(by))
		check("shuffle", j.Reduces.Shuffle.Set(), false)
		check("reduce of the first", j.Reduces.Time.Each[0], sec(4*by)) // 33-37
		check("reduce of the later", j.Reduces.Time.Each[1], sec(8*by)) // 46-54
		check("assumed", len(r.Assumed), int(by)+2)                     // and no set-up tasks, and reduces before the first map
	}
	// The later one slept for all of its 5 s, and 2 s of each reduce phase were the wait
	// to commit: these do not grow.
	waits := replay(t, record(100), ReplayOptions{Rescaled: true, Bytes: 2, FetchSleep: sec(5), Heartbeat: sec(2)}).Jobs[0].Reduces
	check("copy of the first with waits", waits.Copy.Each[0], sec(5))
	check("copy of the later with waits", waits.Copy.Each[1], sec(5))
	check("reduce of the first with waits", waits.Time.Each[0], sec(6))
	check("reduce of the later with waits", waits.Time.Each[1], sec(14))

	// Without bytes each keeps its own, or takes the other's where it has none of its kind.
	j := replay(t, record(Unknown), ReplayOptions{Rescaled: true}).Jobs[0]
	first, _ := j.Reduces.FirstWave.Expect(1)
	later, _ := j.Reduces.Shuffle.Expect(1)
	check("first shuffle", first, 2.0)
	check("typical shuffle", later, 5.0)
	check("sort", j.Reduces.Sort.Each[1], sec(1))
	check("copy", j.Reduces.Copy.Set(), false)

	plain := replay(t, record(100), ReplayOptions{}).Jobs[0]
	check("as recorded", plain.Maps.Time.Each[3], sec(30))
}

// drawnTimes returns the times of reduces with the given bytes and times, as one seed
// draws them.
func drawnTimes(seed Seed, bytes []int64, seconds ...float64) (times []float64) {
	j := NewHistoryJob("job_1_1")
	var winners []*HistoryAttempt
	var each []time.Duration
	for i, s := range seconds {
		a := NewHistoryAttempt(j.ID, "", Reduce, i, 0)
		a.ShuffleBytes = bytes[i]
		winners, each = append(winners, &a), append(each, Seconds(s))
	}
	(&ReplayOptions{Drawn: seed}).draw(&j, Reduce, each, winners, func(a *HistoryAttempt) int64 { return a.ShuffleBytes })
	for _, d := range each {
		times = append(times, d.Seconds())
	}
	return times
}

// Equal maps took 10 and 30 s, and draw their times from each other. Reduces took a second
// for each byte but one, which took twice as long: drawn times are those of the bytes, or
// about twice as long. A task without an equal one keeps its time.
func TestDrawnTimes(t *testing.T) {
	equal, own := []int64{5, 5, 5, 5}, []float64{10, 30, 10, 30}
	if got := drawnTimes(0, equal, own...); !slices.Equal(got, own) {
		t.Errorf("without a seed: got %v", got)
	}
	if got := drawnTimes(1, equal[:1], 10); got[0] != 10 {
		t.Errorf("one task: got %v", got)
	}
	moved := false
	for seed := range Seed(20) {
		got := drawnTimes(seed+1, []int64{10, 20, 30, 40, 50, 60, 70, 80}, 10, 20, 30, 80, 50, 60, 70, 80)
		for i, s := range got {
			if bytes := float64(10 * (i + 1)); s < bytes/2 || s > 30+2.5*bytes {
				t.Errorf("reduce of %d bytes: drawn %.1f s", 10*(i+1), s)
			}
		}
		moved = moved || !slices.Equal(drawnTimes(seed+1, equal, own...), own)
	}
	if !moved {
		t.Error("no seed draws other times")
	}
	// Bytes that differ by less than 2 % explain nothing, nor do those of two tasks, though
	// a line goes through both.
	for _, x := range []struct {
		bytes   []int64
		seconds []float64
	}{{[]int64{100, 100, 101, 101}, []float64{10, 10, 30, 30}}, {[]int64{10, 20}, []float64{10, 20}}} {
		if !slices.ContainsFunc([]Seed{1, 2, 3, 4, 5}, func(s Seed) bool { return !slices.Equal(drawnTimes(s, x.bytes, x.seconds...), x.seconds) }) {
			t.Errorf("%v bytes: five seeds draw the recorded times", x.bytes)
		}
	}
}

// The fixed part of times is the intercept of a line, here 3 s and 2 s a byte, if there are
// five of them, else none. Times that fall with the bytes are fixed, unless they differ as
// much as 1 s and 5 s do; so many that rise from about nothing, or are of equal bytes, are not.
func TestFixedPart(t *testing.T) {
	bytes := []float64{1, 2, 3, 4, 5}
	for _, x := range []struct {
		bytes, took []float64
		want        float64
	}{
		{bytes, []float64{5, 7, 9, 11, 13}, 3}, {bytes[:4], []float64{5, 7, 9, 11}, 0}, {bytes, []float64{2, 6, 7, 10, 9}, 0},
		{bytes, []float64{10.2, 10.1, 10, 9.9, 9.8}, 10}, {bytes, []float64{5, 4, 3, 2, 1}, 0}, {[]float64{7, 7, 7, 7, 7}, []float64{9, 9, 9, 9, 9}, 0},
	} {
		if got := fixedPart(x.bytes, x.took); math.Abs(got-x.want) > 1e-9 {
			t.Errorf("%v s of %v bytes: fixed part %v, want %v", x.took, x.bytes, got, x.want)
		}
	}
}

// Without bytes a reduce keeps its own time after the last map, at 30 s, and takes the mean
// of the others where it waited for maps and they did not, or the other way round.
func TestShufflesOfTheOtherKind(t *testing.T) {
	j := NewHistoryJob("job_1_1")
	j.Outcome, j.Submit, j.Finish = Succeeded, 0, Seconds(60)
	for i, x := range []struct{ start, shuffle float64 }{{0, 0}, {5, 27}, {5, 29}, {40, 5}, {40, 7}} {
		kind, number, finish := Reduce, i-1, x.start+x.shuffle+1
		if i == 0 {
			kind, number, finish = Map, 0, 30
		}
		task, a := NewHistoryTask(kind, kind == Reduce, number), NewHistoryAttempt(j.ID, "", kind, number, 0)
		a.State, a.Start, a.Finish = Succeeded, Seconds(x.start), Seconds(finish)
		if kind == Reduce {
			a.Phases[PhaseShuffle], a.Phases[PhaseMerge] = Seconds(x.shuffle), 0
		}
		task.Attempts = []HistoryAttempt{a}
		j.Tasks = append(j.Tasks, task)
	}
	r := replay(t, &History{Jobs: []HistoryJob{j}}, ReplayOptions{Rescaled: true}).Jobs[0].Reduces
	for _, x := range []struct {
		got  []time.Duration
		want []time.Duration
	}{{r.FirstWave.Each, []time.Duration{2e9, 4e9, 3e9, 3e9}}, {r.Shuffle.Each, []time.Duration{6e9, 6e9, 5e9, 7e9}}} {
		if !slices.Equal(x.got, x.want) {
			t.Errorf("got %v, want %v", x.got, x.want)
		}
	}
}

// Tasks whose times are drawn from each other take as long on average as they were
// recorded, whether or not their bytes explain a part: 40,000 draws of the mean, whose
// standard error is below 0.3 % of it, are off by less than 1 %.
func TestDrawnMean(t *testing.T) {
	for _, c := range []struct {
		bytes   []int64
		seconds []float64
	}{
		{[]int64{5, 5, 5}, []float64{10, 30, 90}},
		{[]int64{5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 100}},
		{[]int64{10, 20, 30, 40, 50, 60, 70, 80}, []float64{10, 20, 30, 80, 50, 60, 70, 80}},
		{[]int64{10, 20, 30, 400}, []float64{1, 1, 9, 100}}, // the line is below a tenth of the mean
	} {
		const seeds = 40_000
		sum, drawn := 0.0, 0.0
		for _, s := range c.seconds {
			sum += s
		}
		for seed := range Seed(seeds) {
			for _, s := range drawnTimes(seed+1, c.bytes, c.seconds...) {
				drawn += s / seeds
			}
		}
		if off := drawn/sum - 1; math.Abs(off) > 0.01 {
			t.Errorf("%v s: drawn ones take %+.1f %%", c.seconds, 100*off)
		}
	}
}

// A reduce that fetched more than those without maps to wait for bounds the time of
// a byte: 1 byte took 4 s, but 1,000 bytes took 5 s, so 3.995 s are for no bytes.
func TestCopyingFewBytes(t *testing.T) {
	h := NewHistoryJob("j")
	for i, x := range []struct {
		start, shuffle float64
		bytes          int64
	}{{0, 5, 1000}, {10, 4, 1}} {
		task := NewHistoryTask(Reduce, true, i)
		a := NewHistoryAttempt("j", "", Reduce, i, 0)
		a.State, a.Start, a.Finish = Succeeded, Seconds(x.start), Seconds(x.start+x.shuffle)
		a.Phases[PhaseShuffle], a.ShuffleBytes = Seconds(x.shuffle), x.bytes
		task.Attempts = []HistoryAttempt{a}
		h.Tasks = append(h.Tasks, task)
	}
	m := NewHistoryAttempt("j", "", Map, 0, 0)
	m.State, m.Start, m.Finish = Succeeded, 0, Seconds(10)
	task := NewHistoryTask(Map, false, 0)
	task.Attempts = []HistoryAttempt{m}
	h.Tasks = append(h.Tasks, task)
	if fixed, each := copying(&h, 4, 0); each != 0.005 || math.Abs(fixed-3.995) > 1e-12 {
		t.Errorf("%v s and %v s a byte, want 3.995 and 0.005", fixed, each)
	}
}

// Half of four maps are the first and fourth, and those come twice in six; the shares of
// six add up to one, and attempts that failed stay those of the recorded tasks.
func TestMapsGrowWithTheData(t *testing.T) {
	maps := func() MapTasks {
		return MapTasks{
			Count: 4, InputBytes: 100, Splits: []Split{{Bytes: 10}, {Bytes: 20}, {Bytes: 30}, {Bytes: 40}},
			Shares: []MapShare{{.1, .1, .1, .1}, {.2, .2, .2, .2}, {.3, .3, .3, .3}, {.4, .4, .4, .4}},
			Ends:   attemptEnds{1: {{State: Failed}}, 3: {{State: Failed}}},
		}
	}
	half := maps()
	for i := range half.Splits {
		half.Splits[i].Bytes /= 2
	}
	half.grow(0.5)
	if half.Count != 2 || half.InputBytes != 50 || half.Splits[1].Bytes != 40 || len(half.Ends) != 1 || math.Abs(half.Shares[1].Input-0.8) > 1e-12 {
		t.Errorf("half: %+v", half)
	}
	more := maps()
	more.grow(1.5)
	sum := 0.0
	for _, s := range more.Shares {
		sum += s.OutRecords
	}
	if more.Count != 6 || len(more.Splits) != 6 || math.Abs(sum-1) > 1e-12 || more.Shares[4] != more.Shares[0] || more.Shares[5] != more.Shares[3] || len(more.Ends) != 2 {
		t.Errorf("one and a half: %+v", more)
	}
	lengths := MapTasks{Count: 10, Time: Durations{Each: make([]time.Duration, 10)}}
	for i := range lengths.Time.Each {
		lengths.Time.Each[i] = time.Second
		if i < 3 {
			lengths.Time.Each[i] = 10 * time.Second
		}
	}
	lengths.grow(1.3)
	all := 0.0
	for _, d := range lengths.Time.Each {
		all += d.Seconds()
	}
	if all < 37*1.25 || all > 37*1.42 {
		t.Errorf("37 s of ten maps become %g s of %d", all, lengths.Count)
	}
	empty := MapTasks{Count: 4, Shares: make([]MapShare, 4)}
	if empty.grow(0.5); len(empty.Shares) != 2 || empty.Shares[1] != (MapShare{0.5, 0.5, 0.5, 0.5}) {
		t.Errorf("maps without input: %+v: want half of nothing each", empty.Shares)
	}
	none := MapTasks{}
	if none.grow(2); none.Count != 0 {
		t.Errorf("no map grows to %d", none.Count)
	}
}

// A reduce that was behind with the maps from its start on, at 10 s, until 57 copied for
// 47 s, and does so after the last map if it starts later. Where it was not, since its
// shuffle ended 2 s after the last of three maps, it keeps these. So it does with up to 12 s,
// in which two heartbeats of 3 s, a second and a loop that sleeps for 5 s let it know of all
// maps.
func TestReduceBehindTheMaps(t *testing.T) {
	sec := func(s float64) time.Duration { return Seconds(s) }
	for _, x := range []struct{ shuffle, copied, heartbeat float64 }{{47, 47, 0}, {22, 0, 0}, {30, 30, 0}, {32, 0, 3}, {32.5, 32.5, 3}, {47, 47, 3}} {
		j := NewHistoryJob("job_1_1")
		j.Outcome, j.Submit, j.Finish = Succeeded, 0, sec(60)
		for i, finish := range []float64{10, 20, 30, 10 + x.shuffle + 1} {
			kind, number, start := Map, i, 0.0
			if i == 3 {
				kind, number, start = Reduce, 0, 10
			}
			task := NewHistoryTask(kind, kind == Reduce, number)
			a := NewHistoryAttempt(j.ID, "", kind, number, 0)
			a.State, a.Start, a.Finish = Succeeded, sec(start), sec(finish)
			if kind == Reduce {
				a.Phases[PhaseShuffle], a.Phases[PhaseMerge] = sec(x.shuffle), 0
			}
			task.Attempts = []HistoryAttempt{a}
			j.Tasks = append(j.Tasks, task)
		}
		r := replay(t, &History{Jobs: []HistoryJob{j}}, ReplayOptions{Rescaled: true, Heartbeat: sec(x.heartbeat), FetchSleep: 5 * time.Second}).Jobs[0].Reduces
		if got, _ := r.Copy.Expect(1); got != x.copied {
			t.Errorf("shuffle of %v s: copies for %v s, want %v", x.shuffle, got, x.copied)
		}
		if own, _ := r.FirstWave.Expect(1); x.copied == 0 && own != x.shuffle-20 {
			t.Errorf("after the last map: got %v s, want %v", own, x.shuffle-20)
		}
	}
}

// A killed job launched maps 1 and 2 of three and reduces 1 and 3 of four: each recorded task
// keeps its own times, and reduces without any take the means of 2 and 6 s, which have no
// commit, and of sorts of 1 and 3 s. That is no zero time, where a job succeeded.
func TestRescaledTasksWithoutTimes(t *testing.T) {
	secs := func(list ...float64) (all []time.Duration) {
		for _, s := range list {
			all = append(all, Seconds(s))
		}
		return all
	}
	h := NewHistoryJob("job_1_1")
	h.Submit, h.Finish, h.Maps, h.Reduces = 0, Seconds(60), 3, 4
	for _, x := range []struct {
		kind                         Kind
		number                       int
		start, shuffle, sort, finish float64
		end                          State
	}{
		{Map, 1, 0, 0, 0, 10, Succeeded}, {Map, 2, 0, 0, 0, 20, Succeeded},
		{Reduce, 1, 5, 20, 1, 30, Succeeded}, {Reduce, 2, 5, 0, 0, 6, Failed}, {Reduce, 3, 40, 3, 3, 54, Succeeded},
	} {
		task := NewHistoryTask(x.kind, x.kind == Reduce, x.number)
		a := NewHistoryAttempt(h.ID, "", x.kind, x.number, 0)
		a.State, a.Start, a.Finish, a.Locality = x.end, Seconds(x.start), Seconds(x.finish), Locality(max(0, x.number-1))
		if x.kind == Reduce {
			a.Phases[PhaseShuffle], a.Phases[PhaseMerge] = Seconds(x.shuffle), Seconds(x.sort)
		}
		task.Attempts = []HistoryAttempt{a}
		h.Tasks = append(h.Tasks, task)
	}
	record := func(how State, rescaled bool) Replay {
		h.Outcome = how
		return replay(t, &History{Jobs: []HistoryJob{h}}, ReplayOptions{Rescaled: rescaled, Commit: Seconds(2)})
	}
	killed := record(Killed, true).Jobs[0]
	for _, x := range []struct {
		what      string
		got, want []time.Duration
	}{
		{"maps", killed.Maps.Time.Each, secs(0, 10, 10)}, {"reduces", killed.Reduces.Time.Each, secs(4, 2, 4, 6)},
		{"sorts", killed.Reduces.Sort.Each, secs(2, 1, 2, 3)}, {"shuffles", killed.Reduces.Shuffle.Each, secs(3, 3, 3, 3)},
		{"first shuffles", killed.Reduces.FirstWave.Each, secs(5, 5, 5, 5)},
	} {
		if !slices.Equal(x.got, x.want) {
			t.Errorf("%s: got %v, want %v", x.what, x.got, x.want)
		}
	}
	if killed.Maps.RackFactor != 2 {
		t.Errorf("on the rack: got %v, want 2", killed.Maps.RackFactor)
	}
	zero := func(note string) bool { return strings.Contains(note, "zero time") }
	for _, rescaled := range []bool{false, true} {
		if r := record(Succeeded, rescaled); slices.ContainsFunc(r.Notes, zero) == rescaled {
			t.Errorf("rescaled %v: notes %q", rescaled, r.Notes)
		}
	}
}

// Records of Hadoop 0.20 and tables of results may not count the records of combiners.
// That fewer come into the reduces than maps emit shows one: 1,000 of 10,000 in one spill,
// 4,000 in spills and 1,000 in files, or 5,000 in a spill and 1,000 in reduces. Nothing
// shows one where a reduce lacks its records or the job failed.
func TestUncountedCombiner(t *testing.T) {
	type records struct{ in, out, mergedIn, mergedOut int64 }
	for _, x := range []struct {
		spilled, read, second int64
		state                 State
		want                  records
	}{
		{1000, 0, 500, Succeeded, records{10_000, 1000, 0, 0}}, {5000, 4000, 500, Succeeded, records{14_000, 5000, 0, 0}},
		{5000, 0, 500, Succeeded, records{10_000, 5000, 5000, 1000}}, {10_000, 0, Unknown, Succeeded, records{}},
		{1000, 0, 500, Failed, records{}},
	} {
		j := NewHistoryJob("job_1_1")
		j.Outcome = x.state
		for i, kind := range []Kind{Map, Reduce, Reduce} {
			task := NewHistoryTask(kind, kind == Reduce, max(0, i-1))
			a := NewHistoryAttempt(j.ID, "", kind, max(0, i-1), 0)
			a.State, a.Start, a.Finish = Succeeded, 0, Seconds(10)
			if kind == Map {
				a.OutRecords, a.OutBytes, a.SpilledRecords, a.LocalReadBytes = 10_000, 100_000, x.spilled, x.read
			} else if a.InRecords = 500; i == 2 {
				a.InRecords = x.second
			}
			task.Attempts = []HistoryAttempt{a}
			j.Tasks = append(j.Tasks, task)
		}
		out := replay(t, &History{Jobs: []HistoryJob{j}}, ReplayOptions{}).Jobs[0].Maps.Output
		if got := (records{out.CombineIn, out.CombineOut, out.MergedIn, out.MergedOut}); got != x.want {
			t.Errorf("%+v: got %+v", x, got)
		}
	}
}
