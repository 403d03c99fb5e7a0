package mrapp

import (
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

// Counts are absolute, and a map lowers them at all its hosts, wherever it runs. The
// second beat brings containers 2 and 3, so that the third says what is left.
func TestAsksAreAbsolute(t *testing.T) {
	l := newLab(t, 0, []int32{0, 1}, []int32{1, 2}, []int32{3})
	l.grant(2, 20, 2, 0, 2)
	l.run(4 * time.Second)
	want(t, "asks", l.carried(), "1: 20:*=3 20:r0=2 20:r1=2 20:n0=1 20:n1=2 20:n2=1 20:n3=1; "+
		"3: 20:*=1 20:r0=0 20:r1=1 20:n0=0 20:n1=0 20:n2=0")
}

// A split that names a host twice asks for it once.
func TestHostsAreDistinct(t *testing.T) {
	l := newLab(t, 0, []int32{1, 1, 0})
	l.run(time.Second)
	want(t, "asks", l.carried(), "1: 20:*=1 20:r0=1 20:n0=1 20:n1=1")
}

// The first container of the batch is at home for no map, in the rack of map 1 and
// good for any. Map 1 still runs at its host, because all containers look for hosts
// before any looks for racks; then the first takes map 0 as any, since map 2 is served
// by its rack before that.
func TestAssignsHostsThenRacksThenAny(t *testing.T) {
	l := newLab(t, 0, []int32{3}, []int32{0}, []int32{0})
	l.grant(2, 20, 2, 2, 0, 1)
	l.run(15 * time.Second)
	want(t, "attempts", l.ran(), "m1_0 3@0 2s-3s-13.2sS; m0_0 2@2 2s-3s-13.2sS; m2_0 4@1 2s-3s-13.2sS")
}

// Without a host on this rack, the rack's list decides before the order of maps.
func TestAssignsRackBeforeAny(t *testing.T) {
	l := newLab(t, 0, []int32{3}, []int32{0})
	l.grant(2, 20, 2, 1)
	l.run(4 * time.Second)
	want(t, "map of container 2", l.am.holder[2].task.index, "1")
}

// What nobody waits for is released with the next heartbeat: container 4 finds no map
// left, 5 no reduce, and 6 has a priority that was never asked for.
func TestReleasesSurplus(t *testing.T) {
	l := newLab(t, 1, anywhere(2)...)
	l.grant(2, 20, 2, 0, 0, 0)
	l.grant(2, 10, 5, 0)
	l.grant(2, 7, 6, 0)
	l.run(4 * time.Second)
	want(t, "asks", l.carried(), "1: 20:*=2; 3: 20:*=0 -4 -5 -6")
}

// Two reduce containers come for one waiting reduce, while a map waits. 3.3 returns
// the second when it checks the batch; 2.7 checks only whether any reduce waits, and
// the map takes it.
func TestReduceContainersBeyondWaiting(t *testing.T) {
	for _, c := range []struct {
		counts   bool
		maps     int
		released int
	}{{true, 0, 1}, {false, 1, 0}} {
		a := ramp(1, 1)
		a.job.Release.CountReduces = c.counts
		a.rampUp(1)
		a.assign([]*yarn.Container{box(2, reducePrio), box(3, reducePrio)})
		if a.runningMaps.len != c.maps || a.runningReduces.len != 1 || len(a.requests.releases) != c.released {
			t.Errorf("counted %v: %d maps, %d reduces, %d released", c.counts, a.runningMaps.len, a.runningReduces.len, len(a.requests.releases))
		}
	}
}

func box(number int32, priority yarn.Priority) *yarn.Container {
	return &yarn.Container{Number: number, Size: model.Resource{MemoryMiB: gib, VCores: 1}, Priority: priority}
}

// A container smaller than the task is useless.
func TestReleasesSmallContainers(t *testing.T) {
	l := newLab(t, 0, anywhere(1)...)
	l.grant(2, 20, 2, 0)
	l.made[2].Size.MemoryMiB = 512
	l.run(3 * time.Second)
	want(t, "asks", l.carried(), "1: 20:*=1; 3: -2")
}

// 101 maps with slowstart 0.05 need 5.05 ended maps, so 6; 60 need 3, because the
// product is a float.
func TestSlowstart(t *testing.T) {
	for _, c := range []struct{ maps, ended, asked int }{{101, 5, 0}, {101, 6, 2}, {60, 2, 0}, {60, 3, 2}} {
		a := ramp(c.maps, 2)
		a.ended[workload.Map] = c.ended
		a.headroom = model.Resource{MemoryMiB: 1000 * gib, VCores: 1000}
		a.scheduleReduces()
		if a.reduces.len != c.asked {
			t.Errorf("%d of %d maps ended: %d reduces asked for, want %d", c.ended, c.maps, a.reduces.len, c.asked)
		}
	}
}

// The ramp-up counts in the sizes that tasks ask for: 1500 MiB, although the scheduler
// gives 2048. Half of 12 GiB is four of them, and three of 2048; with 24 GiB half is
// enough for the eight maps of 1500 that wait, and reduces get what is left too. Three
// running maps add their size to what the job may have, and to what its maps need.
func TestRampUpCountsAskedSizes(t *testing.T) {
	for _, c := range []struct{ headroom, size, running, asked int }{
		{12, 1500, 0, 4}, {12, 2048, 0, 3}, {24, 1500, 0, 8}, {24, 2048, 0, 6}, {12, 1500, 3, 5}, {12, 2048, 3, 4}, {24, 1500, 3, 9},
	} {
		a := ramp(8, 20)
		size := model.Resource{MemoryMiB: int64(c.size), VCores: 1}
		a.requests.sizes = [2]model.Resource{size, size}
		a.ended[workload.Map] = 4
		a.headroom = model.Resource{MemoryMiB: int64(c.headroom) * gib, VCores: 99}
		for range c.running {
			a.runningMaps.push(&attempt{task: a.maptasks[0]})
		}
		a.scheduleReduces()
		if a.reduces.len != c.asked {
			t.Errorf("%d GiB, %d running maps of %d MiB: %d reduces asked for, want %d", c.headroom, c.running, c.size, a.reduces.len, c.asked)
		}
	}
}

// ramp makes an ApplicationMaster before whose ramp-up all maps wait and all reduces
// are pending.
func ramp(maps, reduces int) *AppMaster {
	size := model.Resource{MemoryMiB: gib, VCores: 1}
	q := labQuestion()
	q.Jobs[0].Maps.Count, q.Jobs[0].Reduces = maps, workload.ReduceTasks{Count: reduces, Time: workload.Durations{All: 100 * time.Second}}
	l := &lab{e: engine.New()}
	executor, err := NewExecutor(q, l.e)
	if err != nil {
		panic(err)
	}
	job := &Job{
		Spec: &q.Jobs[0], Hosts: make([][]int32, maps), Topology: execute.NewTopology(&q.Cluster), MapSize: size, ReduceSize: size,
		Settings: defaults(), Release: hadoop336, Executor: executor,
	}
	a := New(job, 1)
	a.master = l
	a.registered = l.Registered()
	a.requests = newRequestor(l, job)
	a.makeTasks()
	for _, k := range a.maptasks {
		a.maps.push(&attempt{task: k})
	}
	for _, k := range a.reducetasks {
		a.pending.push(&attempt{task: k, request: request{priority: reducePrio}})
	}
	return a
}

func defaults() Settings {
	s, err := ReadSettings(workload.Conf{})
	if err != nil {
		panic(err)
	}
	return s
}

// The figures of the reference: a limit of 100 GiB and 200 maps that wait. With 40 % of
// the maps ended reduces may have 40 GiB, with 80 % no more than the limit of half.
func TestRampUp(t *testing.T) {
	for _, c := range []struct{ ended, asked int }{{40, 40}, {80, 50}} {
		a := ramp(200, 90)
		a.ended[workload.Map] = c.ended * 2
		a.headroom = model.Resource{MemoryMiB: 100 * gib, VCores: 100}
		a.scheduleReduces()
		if a.reduces.len != c.asked || a.pending.len != 90-c.asked {
			t.Errorf("%d %% ended: %d reduces asked for, %d pending, want %d", c.ended, a.reduces.len, a.pending.len, c.asked)
		}
	}
}

// Ten maps that wait and run leave 90 of 100 GiB; reduces get their half and what the
// maps leave of theirs, the 3 that are asked for included.
func TestRampUpTakesWhatMapsLeave(t *testing.T) {
	a := ramp(10, 200)
	a.ended[workload.Map] = 8
	a.headroom = model.Resource{MemoryMiB: 100 * gib, VCores: 100}
	a.started = true
	a.rampUp(3)
	a.scheduleReduces()
	want(t, "reduces asked for", a.reduces.len, "90")
}

// When no map waits all reduces are asked for, whatever the headroom.
func TestAllReducesOnceNoMapWaits(t *testing.T) {
	a := ramp(10, 7)
	for a.maps.first != nil {
		x := a.maps.first
		a.maps.remove(x)
		a.runningMaps.push(x)
	}
	a.ended[workload.Map] = 1
	a.scheduleReduces()
	want(t, "reduces asked for", a.reduces.len, "7")
}

// The headroom has gone, so 4 of the reduces that are asked for are taken back: the
// first ones, which queue behind the pending ones.
func TestRampDownTakesTheFirst(t *testing.T) {
	a := ramp(10, 6)
	a.started = true
	a.ended[workload.Map] = 5
	a.rampUp(5)
	a.headroom = model.Resource{MemoryMiB: 2 * gib, VCores: 2}
	a.scheduleReduces()
	want(t, "asked for", order(&a.reduces), "[4]")
	want(t, "pending", order(&a.pending), "[5 0 1 2 3]")
	want(t, "count sent", a.requests.row(key{reducePrio, yarn.Any}).count, "1")
}

func order(q *queue) []int32 {
	var out []int32
	for x := q.first; x != nil; x = x.after {
		out = append(out, x.task.index)
	}
	return out
}

// Virtual cores limit the ramp-up only where the scheduler counts them.
func TestRampUpByVirtualCores(t *testing.T) {
	for _, c := range []struct {
		counts bool
		asked  string
	}{{false, "20"}, {true, "5"}} {
		a := ramp(100, 30)
		a.registered.VCores = c.counts
		a.ended[workload.Map] = 80
		a.headroom = model.Resource{MemoryMiB: 40 * gib, VCores: 10}
		a.scheduleReduces()
		want(t, "reduces asked for", a.reduces.len, c.asked)
	}
}

// preemptible makes an ApplicationMaster of which reduces run that learnt of all maps
// at these seconds, while one map waits. It is 60 s, so the later the less progress.
func preemptible(known ...engine.Time) *AppMaster {
	a := ramp(1, len(known)+2)
	a.ended[workload.Map] = 1
	a.started = true
	for _, at := range known {
		x := a.pending.first
		a.pending.remove(x)
		a.runningReduces.push(x)
		x.state = running
		x.child.until = engine.Never
		a.work(x, 0)
		x.run.Begin, x.run.Known = 0, at*second
	}
	a.master.(*lab).e.Wait(60 * second)
	return a
}

// killsOf lists the tasks of the kills that wait for the dispatcher.
func killsOf(a *AppMaster) []int32 {
	var out []int32
	for _, e := range a.queue {
		out = append(out, e.kill.task.index)
	}
	return out
}

// Half of what the job has would be 2 of 4 reduces, but one waiting map needs only one:
// the one that has come least far. The reduces that are asked for are taken back.
func TestPreemptsTheLeastProgress(t *testing.T) {
	a := preemptible(30, 40, 50, 20)
	a.rampUp(2)
	want(t, "acted", a.preemptIfNeeded(), "true")
	want(t, "asked for", a.reduces.len, "0")
	want(t, "killed", killsOf(a), "[2]")
}

// Three maps of 2 GiB wait; half of 4 GiB is 2 reduces, less than the 6 for all maps.
func TestPreemptsUpToTheLimit(t *testing.T) {
	a := preemptible(30, 40, 50, 20)
	a.requests.sizes[0].MemoryMiB = 2 * gib
	for range 2 {
		a.maps.push(&attempt{task: a.maptasks[0]})
	}
	a.preemptIfNeeded()
	want(t, "killed", killsOf(a), "[2 1]")
}

// No reduce is killed while a map runs, while there is room for a map beside the
// reduces that are asked for (3.3; 2.7 does not subtract those), or before the delay.
func TestPreemptsOnlyIfNeeded(t *testing.T) {
	for _, c := range []struct {
		name  string
		set   func(a *AppMaster)
		acted string
	}{
		{"a map runs", func(a *AppMaster) { a.runningMaps.push(&attempt{task: a.maptasks[0]}) }, "false"},
		{"room", func(a *AppMaster) { a.headroom.MemoryMiB = gib }, "false"},
		{"room for a reduce that is asked for", func(a *AppMaster) { a.headroom.MemoryMiB = gib; a.rampUp(1) }, "true"},
		{"that room in 2.7", func(a *AppMaster) {
			a.headroom.MemoryMiB = gib
			a.rampUp(1)
			a.job.Release.ScheduledReduces = false
		}, "false"},
		{"delay not over", func(a *AppMaster) { a.job.Settings.PreemptDelay = 60 * second }, "false"},
		{"delay over", func(a *AppMaster) { a.job.Settings.PreemptDelay = 59 * second }, "true"},
		{"room, but the map has waited too long", func(a *AppMaster) {
			a.headroom.MemoryMiB = 5 * gib
			a.job.Settings.UnconditionalDelay = 59 * second
		}, "true"},
		{"never unconditionally", func(a *AppMaster) {
			a.headroom.MemoryMiB = 5 * gib
			a.job.Settings.UnconditionalDelay = -1
		}, "false"},
	} {
		a := preemptible(30)
		c.set(a)
		want(t, c.name, a.preemptIfNeeded(), c.acted)
	}
}

// A limit of 2 running maps: 2 are asked for although 5 wait, hosts in full. While both
// run 0 is sent; the report of an ended container sends the cap again, and a released
// one's too.
func TestRunningLimit(t *testing.T) {
	l := newLab(t, 0, []int32{0}, []int32{0}, []int32{0}, []int32{0}, []int32{0})
	l.job.Settings.RunningMaps = 2
	l.grant(2, 20, 2, 0, 0, 0)
	l.run(6500 * time.Millisecond)
	want(t, "asks", l.carried(), "1: 20:*=2 20:r0=5 20:n0=5; 3: 20:*=0 20:r0=3 20:n0=3 -4")
	l.unheard = append(l.unheard, yarn.Ended{Container: l.made[4], Exit: yarn.Aborted})
	l.run(8500 * time.Millisecond)
	want(t, "then", l.sent[2:], "[8: 20:*=0]")
	l.run(15500 * time.Millisecond)
	// Both maps end at 13 s and their processes at 13.3 s; the beat of 14 s hears of
	// them, and the next one raises the cap.
	want(t, "then", l.sent[3:], "[15: 20:*=2]")
}

// Reduces are capped alike.
func TestRunningLimitOfReduces(t *testing.T) {
	l := newLab(t, 5, anywhere(1)...)
	l.job.Settings.RunningReduces = 2
	l.job.Settings.Slowstart = 0
	l.grant(2, 20, 2, 0)
	l.run(3 * time.Second)
	want(t, "asks", l.carried(), "1: 20:*=1; 2: 10:*=2; 3: 20:*=0")
}

// With no more tasks than the limit, and with none asked for, nothing is capped.
func TestRunningLimitNeedsMoreTasks(t *testing.T) {
	for _, c := range []struct {
		reduces, asked int
		capped         string
	}{{2, 2, "0"}, {3, 0, "0"}, {3, 3, "1"}} {
		a := ramp(1, c.reduces)
		a.job.Settings.RunningReduces = 2
		a.rampUp(c.asked)
		a.limitRunning()
		want(t, "capped rows", len(a.requests.limited), c.capped)
	}
}

// Once slowstart has been reached it is not asked again, though maps are lost.
func TestSlowstartIsReachedOnce(t *testing.T) {
	a := ramp(100, 2)
	a.headroom = model.Resource{MemoryMiB: 1000 * gib, VCores: 1000}
	a.ended[workload.Map] = 5
	a.scheduleReduces()
	a.rampDown(a.reduces.len)
	a.ended[workload.Map] = 4
	a.scheduleReduces()
	want(t, "reduces asked for", a.reduces.len, "2")
}

// Maps that fill their part of the limit to the last leave nothing of it; with one more
// they leave nothing either, and reduces have their part alone.
func TestRampUpWhenMapsFillTheirPart(t *testing.T) {
	for _, c := range []struct {
		maps  int
		asked string
	}{{50, "50"}, {51, "50"}, {49, "51"}} {
		a := ramp(c.maps, 90)
		a.ended[workload.Map] = c.maps
		a.headroom = model.Resource{MemoryMiB: 100 * gib, VCores: 100}
		a.scheduleReduces()
		want(t, "reduces asked for", a.reduces.len, c.asked)
	}
}

// The blacklist is not lifted where that is disabled, and weighed only when the number of
// blacklisted nodes or of nodes has changed.
func TestWeighBlacklist(t *testing.T) {
	for _, c := range []struct {
		name    string
		set     func(r *requestor)
		ignored string
	}{
		{"a third", func(*requestor) {}, "true"},
		{"disabled", func(r *requestor) { r.settings.IgnorePercent = -1 }, "false"},
		{"no blacklist", func(r *requestor) { r.settings.Blacklist = false }, "false"},
		{"nothing changed", func(r *requestor) { r.refused.counted, r.refused.last = 1, 3 }, "false"},
		{"fewer nodes", func(r *requestor) { r.refused.counted, r.refused.last = 1, 4 }, "true"},
		{"no node yet", func(r *requestor) { r.refused.nodes = 0 }, "false"},
		{"a quarter", func(r *requestor) { r.refused.nodes = 4 }, "false"},
	} {
		a := ramp(1, 0)
		r := &a.requests
		r.refused.listed[1] = true
		r.refused.order = []int32{1}
		r.refused.nodes = 3
		c.set(r)
		r.weighBlacklist()
		want(t, c.name, r.refused.ignored, c.ignored)
	}
}

// Preempting for maps of 2 cores takes as many reduces of 1 core where cores count.
func TestPreemptsByVirtualCores(t *testing.T) {
	for _, c := range []struct {
		counts bool
		killed string
	}{{false, "[2]"}, {true, "[2 1]"}} {
		a := preemptible(30, 40, 50, 20)
		a.registered.VCores = c.counts
		a.requests.sizes[workload.Map].VCores = 2
		a.preemptIfNeeded()
		want(t, "killed", killsOf(a), c.killed)
	}
}

// Without a blacklist failures on a node are not counted, nor are they on a node that is
// listed.
func TestFailuresThatDoNotCount(t *testing.T) {
	a := ramp(1, 0)
	a.job.Settings.Blacklist = false
	for range 3 {
		a.requests.failedOn(1)
	}
	want(t, "listed", len(a.requests.refused.listed), "0")
	a.job.Settings.Blacklist = true
	for range 7 {
		a.requests.failedOn(1)
	}
	want(t, "told once", a.requests.refused.additions, "[1]")
}

// A container of priority 5 on a blacklisted node is for the first failed map that still
// waits: the one before it has been killed.
func TestRefileSkipsKilledMaps(t *testing.T) {
	a := ramp(0, 0)
	gone := &attempt{task: &task{am: a}, request: request{priority: fastFailMap}}
	waits := &attempt{task: &task{am: a, index: 1}, request: request{priority: fastFailMap}}
	a.failedMaps = []*attempt{gone, waits}
	a.maps.push(waits)
	want(t, "refiled", a.toRefile(box(2, fastFailMap)) == waits, "true")
}
