package workload

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Attempts that began beside another one, though the times alone do not show it: one
// that was killed without a slot, after its sibling had succeeded, and one that began
// before the JobTracker knew of the success.
func TestBesideAnEndedAttempt(t *testing.T) {
	sec := func(s int) time.Duration { return time.Duration(s) * time.Second }
	j := NewHistoryJob("job_1_0001")
	j.Submit, j.Finish, j.Outcome = 0, sec(60), Succeeded
	for task, twin := range [][2]int{{21, 21}, {21, 24}, {23, 23}} {
		m := NewHistoryTask(Map, false, task)
		for n, times := range [][2]int{{10, 20}, twin} {
			a := NewHistoryAttempt(j.ID, "", Map, task, n)
			a.State, a.Node, a.Start, a.Finish = State(2*n), "a", sec(times[0]), sec(times[1])
			m.Attempts = append(m.Attempts, a)
		}
		j.Tasks = append(j.Tasks, m)
	}
	h := History{Jobs: []HistoryJob{j}}
	// Heartbeats at whole multiples of 3 s; one that waits is assigned at the last.
	assigned := func(_ string, at time.Duration) time.Duration { return at / sec(3) * sec(3) }
	maps := replay(t, &h, ReplayOptions{Speculated: true, Assigned: assigned}).Jobs[0].Maps
	for task, want := range []time.Duration{sec(8), sec(11), sec(11)} {
		if got := maps.Ends.Of(task, 1); got.State != Killed || got.Beside != want {
			t.Errorf("map %d: second attempt %v, want one beside the first after %v", task, got, want)
		}
	}
}

// TestReplayExample: two maps and a reduce of one job, in seconds from its
// submission. Map 0 fails after 4 s and then runs 10-22; map 1 runs 6-14, its
// speculative twin is killed. The reduce starts at 12, ends its shuffle at 25,
// its sort at 26 and itself at 33. The last map ends at 22, so 3 s of shuffle
// remain after it.
func TestReplayExample(t *testing.T) {
	sec := func(s int) time.Duration { return time.Duration(s) * time.Second }
	attempt := func(kind Kind, task, n int, s State, start, finish int) HistoryAttempt {
		a := NewHistoryAttempt("job_1_0001", "", kind, task, n)
		a.State, a.Start, a.Finish = s, sec(start), sec(finish)
		return a
	}
	j := NewHistoryJob("job_1_0001")
	j.Submit, j.Finish, j.Outcome = 0, sec(35), Succeeded
	m0 := NewHistoryTask(Map, false, 0)
	m0.Attempts = []HistoryAttempt{attempt(Map, 0, 0, Failed, 5, 9), attempt(Map, 0, 1, Succeeded, 10, 22)}
	m0.Split.Hosts = []string{"n1", "n2"}
	m1 := NewHistoryTask(Map, false, 1)
	m1.Attempts = []HistoryAttempt{attempt(Map, 1, 0, Succeeded, 6, 14), attempt(Map, 1, 1, Killed, 11, 14)}
	m1.Attempts[0].HDFSReadBytes = 1000
	r0 := NewHistoryTask(Reduce, true, 0)
	r := attempt(Reduce, 0, 0, Succeeded, 12, 33)
	r.Phases[PhaseShuffle], r.Phases[PhaseMerge], r.Phases[PhaseReduce] = sec(13), sec(1), sec(7)
	r0.Attempts = []HistoryAttempt{r}
	setup := NewHistoryTask(Setup, false, 3)
	setup.Attempts = []HistoryAttempt{attempt(Setup, 3, 0, Succeeded, 1, 3)}
	j.Tasks = []HistoryTask{m0, m1, r0, setup}
	h := History{Jobs: []HistoryJob{j}}

	check := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	got := replay(t, &h, ReplayOptions{}).Jobs[0]
	check("maps", got.Maps.Count, 2)
	check("map 0", got.Maps.Time.Each[0], sec(12))
	check("map 1", got.Maps.Time.Each[1], sec(8))
	check("input", got.Maps.InputBytes, int64(1000))
	check("hosts of map 0", len(got.Maps.Splits[0].Hosts), 2)
	check("failure of map 0", got.Maps.Ends.Of(0, 0), AttemptEnd{State: Failed, After: sec(4), Certain: true})
	check("map 0 fails again", got.Maps.Ends.Of(0, 1), AttemptEnd{})
	check("the twin of map 1", got.Maps.Ends.Of(1, 1), AttemptEnd{}) // the JobTracker decides
	again := replay(t, &h, ReplayOptions{Speculated: true}).Jobs[0]
	check("the twin of map 1", again.Maps.Ends.Of(1, 1), AttemptEnd{State: Killed, After: sec(3), Beside: sec(5)})
	check("its rule", again.Conf.String("mapred.map.tasks.speculative.execution", ""), "false")
	check("no set-up and clean-up", got.NoSetupCleanup, false)
	check("reduces", got.Reduces.Count, 1)
	check("shuffle", got.Reduces.Shuffle.Each[0], sec(3))
	check("sort", got.Reduces.Sort.Each[0], sec(1))
	check("reduce", got.Reduces.Time.Each[0], sec(7))

	// 2 s of JVM start come off maps and failures; the reduce started before
	// the last map ended, so its shuffle after it is as before. A commit of 3 s
	// leaves 4 s of reduce.
	cut := replay(t, &h, ReplayOptions{Startup: sec(2), Commit: sec(3)}).Jobs[0]
	check("map 0 without JVM start", cut.Maps.Time.Each[0], sec(10))
	check("failure without JVM start", cut.Maps.Ends.Of(0, 0).After, sec(2))
	check("shuffle without JVM start", cut.Reduces.Shuffle.Each[0], sec(3))
	check("reduce without commit", cut.Reduces.Time.Each[0], sec(4))

	// Without marks all that is after the last map, 22 to 33, is reduce.
	for p := range h.Jobs[0].Tasks[2].Attempts[0].Phases {
		h.Jobs[0].Tasks[2].Attempts[0].Phases[p] = UnknownTime
	}
	check("reduce without marks", replay(t, &h, ReplayOptions{}).Jobs[0].Reduces.Time.Each[0], sec(11))

	// Where no reduce counts bytes, those that the maps put out were fetched, and
	// the job's sum was written.
	check("shuffled, not known", got.Reduces.ShuffleData, int64(0))
	h.Jobs[0].Tasks[0].Attempts[1].OutBytes, h.Jobs[0].Tasks[1].Attempts[0].OutBytes = 300, 500
	h.Jobs[0].Tasks[1].Attempts[0].MaterializedBytes = 50
	h.Jobs[0].Totals.All.HDFSWriteBytes = 900
	check("shuffled, by the maps", replay(t, &h, ReplayOptions{}).Jobs[0].Reduces.ShuffleData, int64(350))
	check("written, by the job", replay(t, &h, ReplayOptions{}).Jobs[0].Reduces.OutputBytes, int64(900))
	reduce := &h.Jobs[0].Tasks[2].Attempts[0]
	reduce.ShuffleBytes, reduce.HDFSWriteBytes = 340, 800
	check("shuffled", replay(t, &h, ReplayOptions{}).Jobs[0].Reduces.ShuffleData, int64(340))
	check("written", replay(t, &h, ReplayOptions{}).Jobs[0].Reduces.OutputBytes, int64(800))

	// The shares of the maps need all counters of all maps.
	a, b := &h.Jobs[0].Tasks[0].Attempts[1], &h.Jobs[0].Tasks[1].Attempts[0]
	a.InRecords, a.OutRecords, b.InRecords = 30, 6, 10
	check("shares of maps, one unknown", len(replay(t, &h, ReplayOptions{}).Jobs[0].Maps.Shares), 0)
	b.OutRecords = 2
	check("share of map 0", replay(t, &h, ReplayOptions{}).Jobs[0].Maps.Shares[0], MapShare{0, 0.75, 0.375, 0.75})
	check("share of map 1", replay(t, &h, ReplayOptions{}).Jobs[0].Maps.Shares[1], MapShare{1, 0.25, 0.625, 0.25})
	check("share of the reduce", replay(t, &h, ReplayOptions{}).Jobs[0].Reduces.Shares[0], 1.0)

	h.Jobs[0].Tasks = h.Jobs[0].Tasks[:3] // without the set-up
	check("no set-up and clean-up", replay(t, &h, ReplayOptions{}).Jobs[0].NoSetupCleanup, true)

	notes := replay(t, &h, ReplayOptions{}).Notes
	check("notes", len(notes), 1) // one map of unknown input
	h.Jobs[0].Outcome = Killed
	check("jobs kept", len(replay(t, &h, ReplayOptions{OnlySucceeded: true}).Jobs), 0)
}

func replay(t *testing.T, h *History, o ReplayOptions) Replay {
	t.Helper()
	r, err := h.Replay(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReplayWithoutTasks: of a job that has only its own lines the tasks are made
// from its counters, and said so; without the time of their slots it is refused.
func TestReplayWithoutTasks(t *testing.T) {
	j := NewHistoryJob("job_1_0001")
	j.Submit, j.Finish, j.Outcome, j.Maps, j.Reduces = 0, time.Hour, Succeeded, 40, 2
	j.Totals.LaunchedMaps, j.Totals.SlotMillisMaps, j.Totals.LaunchedReduces, j.Totals.SlotMillisReduces = 50, 100_000, 2, 60_000
	j.Totals.All.HDFSReadBytes, j.Totals.All.HDFSWriteBytes, j.Totals.Reduce.ShuffleBytes = 4000, 700, 900
	h := History{Jobs: []HistoryJob{j}}
	r := replay(t, &h, ReplayOptions{})
	got := r.Jobs[0]
	if got.Maps.Count != 40 || got.Maps.Time.All != 2*time.Second || got.Maps.InputBytes != 4000 || got.Reduces.Count != 2 ||
		got.Reduces.Time.All != 30*time.Second || got.Reduces.ShuffleData != 900 || got.Reduces.OutputBytes != 700 || len(r.Assumed) != 1 {
		t.Errorf("maps %+v, reduces %+v, assumed %v", got.Maps, got.Reduces, r.Assumed)
	}
	h.Jobs[0].Totals.SlotMillisMaps = Unknown
	if _, err := h.Replay(ReplayOptions{}); err == nil {
		t.Error("a job of 40 maps whose time is not known was replayed")
	}
}

// TestReplayMapOutput: what maps put out, what the combiner left and what was
// fetched are three quantities; without combiner and codec they are one.
func TestReplayMapOutput(t *testing.T) {
	record := func(set func(*HistoryJob, *HistoryAttempt)) Job {
		j := NewHistoryJob("job_1_0001")
		j.Submit, j.Outcome = 0, Succeeded
		for kind, n := range []int{2, 1} {
			for i := range n {
				task := NewHistoryTask(Kind(kind), Kind(kind) == Reduce, i)
				a := NewHistoryAttempt(j.ID, "", Kind(kind), i, 0)
				a.State, a.Start, a.Finish = Succeeded, 0, time.Second
				if Kind(kind) == Map {
					a.OutBytes, a.MaterializedBytes = 1000, 120
					set(&j, &a)
				} else {
					a.ShuffleBytes = 240
				}
				task.Attempts = []HistoryAttempt{a}
				j.Tasks = append(j.Tasks, task)
			}
		}
		return replay(t, &History{Jobs: []HistoryJob{j}}, ReplayOptions{}).Jobs[0]
	}
	if less := record(func(*HistoryJob, *HistoryAttempt) {}); less.Maps.Output != (MapOutput{RawBytes: 2000}) {
		t.Errorf("combined, but not recorded: %+v", less.Maps.Output)
	}
	plain := record(func(_ *HistoryJob, a *HistoryAttempt) { a.OutBytes = 120 })
	if plain.Maps.Output != (MapOutput{RawBytes: 240}) || plain.Reduces.ShuffleData != 240 {
		t.Errorf("plain: %+v, %d fetched", plain.Maps.Output, plain.Reduces.ShuffleData)
	}
	both := record(func(j *HistoryJob, a *HistoryAttempt) {
		j.Conf.Set("mapred.compress.map.output", "true")
		a.CombineInRecords, a.CombineOutRecords = 50, 20
	})
	want := MapOutput{RawBytes: 2000, CombineIn: 100, CombineOut: 40, Codec: "org.apache.hadoop.io.compress.DefaultCodec"}
	if both.Maps.Output != want || both.Reduces.ShuffleData != 240 {
		t.Errorf("combined and compressed: %+v, %d fetched; want %+v, 240", both.Maps.Output, both.Reduces.ShuffleData, want)
	}
}

// TestReplayEndsOfJobs: a job that was killed is ordered to end when its first
// unfinished attempt was killed; tasks that it never launched are there, and run
// until then. One that failed because a task failed four times needs no order.
func TestReplayEndsOfJobs(t *testing.T) {
	sec := func(s int) time.Duration { return time.Duration(s) * time.Second }
	record := func(how State, ends ...State) Job {
		j := NewHistoryJob("job_1_0001")
		j.Submit, j.Finish, j.Outcome, j.Maps, j.Reduces = sec(10), sec(60), how, 4, 1
		ran := NewHistoryTask(Map, false, 1)
		for i, end := range ends {
			a := NewHistoryAttempt(j.ID, "", Map, 1, i)
			a.State, a.Start, a.Finish = end, sec(20+7*i), sec(26+7*i)
			ran.Attempts = append(ran.Attempts, a)
		}
		cleanup := NewHistoryTask(Cleanup, false, 5)
		c := NewHistoryAttempt(j.ID, "", Cleanup, 5, 0)
		c.State, c.Start, c.Finish = Succeeded, sec(55), sec(57)
		cleanup.Attempts = []HistoryAttempt{c}
		j.Tasks = []HistoryTask{ran, cleanup}
		return replay(t, &History{Jobs: []HistoryJob{j}}, ReplayOptions{Speculated: true}).Jobs[0]
	}
	killed := record(Killed, Failed, Killed)
	if want := (AttemptEnd{State: Killed, After: sec(23)}); killed.Ends != want { // 33 - 10
		t.Errorf("killed: %v, want %v", killed.Ends, want)
	}
	open := AttemptEnd{State: Killed, After: sec(50)} // as long as the job
	want := []AttemptEnd{{State: Failed, After: sec(6), Certain: true}, {State: Killed, After: sec(6)}, open}
	if got := killed.Maps.Ends[1]; !slices.Equal(got, want) {
		t.Errorf("map 1: %v, want %v", got, want)
	}
	if killed.Maps.Count != 4 || killed.Reduces.Count != 1 || killed.Maps.Ends.Of(0, 0) != open || killed.Maps.Ends.Of(3, 0) != open || killed.Reduces.Ends.Of(0, 0) != open {
		t.Errorf("%d maps, %d reduces, ends %v and %v; want 4 and 1 that run until the end", killed.Maps.Count, killed.Reduces.Count, killed.Maps.Ends, killed.Reduces.Ends)
	}
	// An attempt that was killed while another one of the job ran on beside it on its
	// machine was not killed by the order.
	alone := NewHistoryAttempt("job_1_0001", "", Map, 2, 0)
	alone.Node, alone.State, alone.Start, alone.Finish = "n1", Killed, sec(20), sec(52)
	beside := alone
	beside.Start, beside.Finish = sec(50), sec(54)
	h := NewHistoryJob("job_1_0001")
	h.Submit, h.Finish, h.Outcome = sec(10), sec(60), Killed
	for i, a := range []HistoryAttempt{alone, beside} {
		task := NewHistoryTask(Map, false, i)
		task.Attempts = []HistoryAttempt{a}
		h.Tasks = append(h.Tasks, task)
	}
	if order := h.endOrder(); order != sec(54) {
		t.Errorf("ordered to end at %v, want 54 s", order)
	}
	if failed := record(Failed, Failed, Failed, Failed, Failed); failed.Ends.After != 0 {
		t.Errorf("failed by itself: ordered to end %v", failed.Ends)
	}
	if failed := record(Failed, Failed); failed.Ends != (AttemptEnd{State: Failed, After: sec(45)}) {
		t.Errorf("failed for another reason: %v, want its clean-up at 55 s", failed.Ends)
	}
}

// TestReplayLocalises: attempts are on their machine from their assignment. Of two
// maps in the one slot of a machine, the first waits 2 s for the files of its job;
// the second is assigned at 15 s, waits until 20 s for the slot, and half a second
// more. Where tasks start when they are requested, as in MRv2, nothing is taken.
func TestReplayLocalises(t *testing.T) {
	half := func(n int) time.Duration { return time.Duration(n) * time.Second / 2 }
	record := func(requested bool) Replay {
		j := NewHistoryJob("job_1_0001")
		j.Submit, j.Finish, j.Outcome = 0, half(80), Succeeded
		for i, at := range [][3]int{{16, 20, 40}, {30, 41, 60}} {
			task := NewHistoryTask(Map, false, i)
			a := NewHistoryAttempt(j.ID, "", Map, i, 0)
			a.Node = "n1"
			a.State, a.Start, a.Finish = Succeeded, half(at[1]), half(at[2])
			if task.Start = half(at[0]); requested {
				task.Start = 0
			}
			task.Attempts = []HistoryAttempt{a}
			j.Tasks = append(j.Tasks, task)
		}
		setup := NewHistoryTask(Setup, false, 3)
		a := NewHistoryAttempt(j.ID, "", Setup, 3, 0)
		a.Node = "n1"
		a.State, a.Start, a.Finish = Succeeded, half(6), half(9)
		setup.Start, setup.Attempts = half(3), []HistoryAttempt{a}
		j.Tasks = append(j.Tasks, setup)
		h := &History{Jobs: []HistoryJob{j}, Topology: Topology{Racks: []Rack{{"/r", []string{"n1"}}}}}
		return replay(t, h, ReplayOptions{})
	}
	got := record(false).Jobs[0]
	if want := []time.Duration{half(4), half(1)}; !slices.Equal(got.Maps.Localise.Each, want) {
		t.Errorf("maps start %v after their slot, want %v", got.Maps.Localise.Each, want)
	}
	if got.SetupTime != half(6) || got.CleanupTime != 0 {
		t.Errorf("set-up takes %v, clean-up %v; want %v and what the cluster takes", got.SetupTime, got.CleanupTime, half(6))
	}
	if late := record(true).Jobs[0]; late.Maps.Localise.Set() {
		t.Errorf("tasks that start when requested: %v", late.Maps.Localise.Each)
	}
}

// The set-up for map slots failed after 4 s, that for reduce slots, which has its number,
// was killed after 3 s, and then the first succeeded. The clean-up succeeded at once. What
// followed a success cannot follow again, and more maps change nothing.
func TestReplayServiceEnds(t *testing.T) {
	sec := func(s int) time.Duration { return time.Duration(s) * time.Second }
	j := NewHistoryJob("job_1_1")
	j.Submit, j.Finish, j.Outcome = 0, sec(60), Succeeded
	add := func(kind Kind, reduceSlot bool, number int, states []State, times ...int) {
		task := NewHistoryTask(kind, reduceSlot, number)
		for n, state := range states {
			a := NewHistoryAttempt(j.ID, "", kind, number, n)
			a.State, a.Start, a.Finish = state, sec(times[2*n]), sec(times[2*n+1])
			task.Attempts = append(task.Attempts, a)
		}
		j.Tasks = append(j.Tasks, task)
	}
	add(Setup, true, 3, []State{Killed, Failed}, 5, 8, 13, 14)
	add(Setup, false, 3, []State{Failed, Succeeded}, 1, 5, 9, 12)
	for i := range 2 {
		add(Map, false, i, []State{Succeeded}, 15, 25)
		add(Reduce, true, i, []State{Succeeded}, 30, 40)
	}
	add(Cleanup, false, 2, []State{Succeeded}, 41, 43)
	for _, by := range []float64{1, 2} {
		got := replay(t, &History{Jobs: []HistoryJob{j}}, ReplayOptions{Bytes: by, Rescaled: true}).Jobs[0]
		want := []AttemptEnd{{State: Failed, After: sec(4), Certain: true}, {State: Killed, After: sec(3)}}
		if !slices.Equal(got.SetupEnds, want) || got.CleanupEnds != nil {
			t.Errorf("data of factor %v: set-ups end %v, clean-ups %v; want %v and none", by, got.SetupEnds, got.CleanupEnds, want)
		}
		if all := got.AttemptEnds(); !slices.Equal(all, want) {
			t.Errorf("data of factor %v: all ends %v, want %v", by, all, want)
		}
	}
}

// Jobs that are all submitted at once may come from a record without submissions.
func TestReplayAtOnce(t *testing.T) {
	h := History{Jobs: []HistoryJob{NewHistoryJob("a"), NewHistoryJob("b")}}
	for i := range h.Jobs {
		j := &h.Jobs[i]
		j.Submit, j.Finish, j.Outcome = 0, 9*time.Second, Succeeded
		j.Tasks = []HistoryTask{{Kind: Map, Attempts: []HistoryAttempt{{Attempt: Attempt{Job: j.ID, Node: "n", Start: time.Second, Finish: 8 * time.Second}}}}}
	}
	for submit, want := range map[time.Duration]bool{0: true, time.Second: false} {
		h.Jobs[1].Submit = submit
		r, err := h.Replay(ReplayOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(r.Notes) > 0 && strings.HasPrefix(r.Notes[0], "all 2 jobs are submitted at once"); got != want {
			t.Errorf("second submission at %v: %q", submit, r.Notes)
		}
	}
}
