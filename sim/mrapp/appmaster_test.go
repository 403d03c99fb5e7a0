package mrapp

import (
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

// faulty makes a lab in which the first attempts of some maps fail after these seconds.
func faulty(t *testing.T, fails map[int][]time.Duration, reduces int, hosts ...[]int32) *lab {
	t.Helper()
	q := labQuestion()
	for task, list := range fails {
		for _, at := range list {
			if q.Jobs[0].Maps.Ends == nil {
				q.Jobs[0].Maps.Ends = map[int][]workload.AttemptEnd{}
			}
			q.Jobs[0].Maps.Ends[task] = append(q.Jobs[0].Maps.Ends[task], workload.AttemptEnd{State: workload.Failed, After: at * time.Second})
		}
	}
	return newLabOf(t, q, reduces, hosts...)
}

// A job of one map and one reduce, with its times to the end. The reduce is asked for
// with the map's grant (slowstart 0), begins at 5 s and polls each second: the map's
// end at 13 s is known at once, since it was set long before that poll. It works for
// 6 s and commits for 0.2 s; the job commits for 0.4 s. The first call to unregister
// answers no. The process leaves 5.1 s after the second.
func TestJobFromStartToEnd(t *testing.T) {
	l := newLab(t, 1, anywhere(1)...)
	l.job.Settings.Slowstart = 0
	l.grant(2, 20, 2, 1)
	l.grant(4, 10, 3, 1)
	l.run(time.Minute)
	want(t, "attempts", l.ran(), "m0_0 2@1 2s-3s-13sS; r0_0 3@1 4s-5s-19.2sS")
	r := l.attempts[1]
	want(t, "reduce knows its maps", r.MapsKnown, "13s")
	want(t, "asks to commit", r.Pending, "19s")
	want(t, "job", *l.record, "{0s 0s 19.6s 20.6s false 0 SUCCEEDED}")
	want(t, "process leaves", l.exited, "25.7s")
	want(t, "beats", l.beats, "19")
}

// Maps of a job without reduces commit.
func TestMapsCommitWithoutReduces(t *testing.T) {
	l := newLab(t, 0, anywhere(1)...)
	l.grant(2, 20, 2, 1)
	l.run(time.Minute)
	want(t, "attempts", l.ran(), "m0_0 2@1 2s-3s-13.2sS")
	want(t, "asked to commit", l.attempts[0].Pending, "13s")
}

// quick makes a lab of one map and one reduce in which a process starts in 1.5 s and
// the map takes this long.
func quick(t *testing.T, work time.Duration) *lab {
	t.Helper()
	q := labQuestion()
	q.Cluster.Costs.Launch = 1500 * time.Millisecond
	q.Jobs[0].Maps.Time.All = work
	l := newLabOf(t, q, 1, anywhere(1)...)
	l.job.Settings.Slowstart = 0
	return l
}

// A reduce polls at its begin, 4.5 s, and each second after. It learns of a map that
// ends at 13.5 s in that instant, and of one that ends at 14 s half a second later.
func TestReducePollsEachSecond(t *testing.T) {
	for _, c := range []struct {
		work  time.Duration
		known string
	}{{10 * time.Second, "13.5s"}, {10500 * time.Millisecond, "14.5s"}} {
		l := quick(t, c.work)
		l.grant(2, 20, 2, 1)
		l.grant(3, 10, 3, 1)
		l.run(time.Minute)
		want(t, "reduce begins", l.attempts[1].Begun, "4.5s")
		want(t, "known", l.attempts[1].MapsKnown, c.known)
	}
}

// The last map is lost before the poll that would have found it: the reduce waits for
// the map's next attempt, which ends at 29.5 s.
func TestReduceWaitsForALostMap(t *testing.T) {
	l := quick(t, 10300*time.Millisecond)
	l.grant(2, 20, 2, 1)
	l.grant(3, 10, 3, 1)
	l.at(14*time.Second, func() { l.am.kill(l.am.maptasks[0].attempts[0], false) })
	l.grant(17, 20, 4, 1)
	l.run(time.Minute)
	want(t, "known", l.attempts[len(l.attempts)-1].MapsKnown, "29.5s")
}

// A failed map asks at once again, at priority 5 and without hosts; the process stays
// for 0.3 s. Its container is granted to it although map 1 waits at its host.
func TestFailedMapAsksAtPriority5(t *testing.T) {
	l := faulty(t, map[int][]time.Duration{0: {2}}, 0, []int32{1}, []int32{1})
	l.grant(2, 20, 2, 1)
	l.grant(7, 5, 3, 1)
	l.run(time.Minute)
	want(t, "asks", l.carried(), "1: 20:*=2 20:r0=2 20:n1=2; 3: 20:*=1 20:r0=1 20:n1=1; 5: 5:*=1; 8: 5:*=0")
	want(t, "attempts", l.ran(), "m0_0 2@1 2s-3s-5sF; m0_1 3@1 7s-8s-18.2sS")
}

// Before 2.8 the container is stopped and the output aborted first, so the new ask
// leaves 50 ms later; a done attempt is stopped too.
func TestFailureBeforeFinishingStates(t *testing.T) {
	l := faulty(t, map[int][]time.Duration{0: {2}}, 0, anywhere(2)...)
	l.job.Release = hadoop277
	l.grant(2, 20, 2, 1, 1)
	l.run(14 * time.Second)
	want(t, "asks", l.carried(), "1: 20:*=2; 3: 20:*=0; 6: 5:*=1")
	want(t, "stopped", l.stopped, "[5s: 2 13.2s: 3]")
}

// A failed reduce goes to the head of the pending reduces, a killed one to the end.
func TestWhereReducesQueueAgain(t *testing.T) {
	for _, c := range []struct {
		fails bool
		order string
	}{{true, "[0 1 2]"}, {false, "[1 2 0]"}} {
		l := newLab(t, 3, anywhere(2)...)
		l.run(time.Second)
		a := l.am
		first := a.pending.first
		a.pending.remove(first)
		a.runningReduces.push(first)
		first.state = running
		if c.fails {
			a.fail(first)
		} else {
			a.kill(first, false)
			l.run(1100 * time.Millisecond)
		}
		want(t, "pending", order(&a.pending), c.order)
	}
}

// The fourth failure of a map fails the job: what runs is killed, which takes an abort
// of 50 ms; the job's abort takes 0.4 s, and the ApplicationMaster unregisters.
func TestJobFails(t *testing.T) {
	l := faulty(t, map[int][]time.Duration{0: {2, 2}}, 1, anywhere(2)...)
	l.job.Settings.MapAttempts = 2
	l.grant(2, 20, 2, 1, 2)
	l.grant(7, 5, 4, 1)
	l.run(time.Minute)
	want(t, "attempts", l.ran(), "m0_0 2@1 2s-3s-5sF; m1_0 3@2 2s-3s-10sK; m0_1 4@1 7s-8s-10sF")
	want(t, "job", *l.record, "{0s 0s 10.45s 11.45s false 0 FAILED}")
}

// With a share of maps that may fail the job goes on, and reduces do not wait for the
// failed map.
func TestFailedMapsMayBeTolerated(t *testing.T) {
	l := faulty(t, map[int][]time.Duration{0: {2}}, 1, anywhere(2)...)
	l.job.Settings.MapAttempts = 1
	l.job.Settings.MapFailures = 50
	l.job.Settings.Slowstart = 0
	l.grant(2, 20, 2, 1, 2)
	l.grant(4, 10, 4, 1)
	l.run(time.Minute)
	want(t, "known", l.attempts[2].MapsKnown, "13s")
	want(t, "state", l.record.State, "SUCCEEDED")
}

// A container that ends without a word of its child fails its attempt; one that was
// preempted kills it: it is stopped and aborted, then asks again with its hosts.
func TestContainerEndsByItself(t *testing.T) {
	for _, c := range []struct {
		exit yarn.Exit
		sent string
	}{
		{yarn.ProcessFailed, "6: 5:*=1"},
		{yarn.Preempted, "6: 20:*=1 20:r0=1 20:n0=1"},
		{yarn.Aborted, "6: 20:*=1 20:r0=1 20:n0=1"},
	} {
		l := newLab(t, 0, []int32{0})
		l.grant(2, 20, 2, 0)
		l.run(4500 * time.Millisecond)
		l.unheard = append(l.unheard, yarn.Ended{Container: l.made[2], Exit: c.exit})
		l.run(6500 * time.Millisecond)
		want(t, "ask", l.sent[2:], "["+c.sent+"]")
	}
}

// A node is lost with one running map and one that has ended while a reduce needs it.
// Both ask again at priority 5: the ended one at once, the running one after its abort,
// both in time for the next beat. The count of ended maps drops.
func TestLostNode(t *testing.T) {
	l := newLab(t, 1, []int32{1}, []int32{1}, []int32{2})
	l.job.Settings.Slowstart = 1
	l.grant(2, 20, 2, 1)
	l.grant(10, 20, 3, 1)
	l.answer(15).Nodes = []yarn.NodeReport{{Node: 1}}
	l.run(14500 * time.Millisecond)
	want(t, "ended maps", l.am.endedMaps(), "1")
	l.run(15500 * time.Millisecond)
	want(t, "ended maps", l.am.endedMaps(), "0")
	l.run(16500 * time.Millisecond)
	want(t, "ask", l.sent[len(l.sent)-1], "16: 5:*=2")
}

// 2.7 asks for them as for first attempts.
func TestLostNodeBeforeFastFail(t *testing.T) {
	l := newLab(t, 1, []int32{1})
	l.job.Release.FastFailKilled = false
	l.grant(2, 20, 2, 1)
	l.answer(5).Nodes = []yarn.NodeReport{{Node: 1}}
	l.run(6500 * time.Millisecond)
	want(t, "ask", l.sent[len(l.sent)-1], "6: 20:*=1 20:r0=1 20:n1=1")
}

// Without reduces, or with all of them ended, maps on a lost node have done their work.
func TestLostNodeWithoutReduces(t *testing.T) {
	l := newLab(t, 0, []int32{1}, []int32{2})
	l.grant(2, 20, 2, 1)
	l.answer(15).Nodes = []yarn.NodeReport{{Node: 1}}
	l.run(16500 * time.Millisecond)
	want(t, "ended maps", l.am.endedMaps(), "1")
}

// A killed attempt that has no container withdraws its request; a pending reduce's
// stays, and the container that it gets is never used.
func TestKillsBeforeAContainer(t *testing.T) {
	l := newLab(t, 2, []int32{1}, []int32{1})
	l.job.Settings.Slowstart = 1
	l.run(1500 * time.Millisecond)
	a := l.am
	a.killTask(a.maptasks[0])
	a.killTask(a.reducetasks[0])
	a.settle()
	want(t, "states", []taskState{a.maptasks[0].state, a.reducetasks[0].state}, "[4 4]")
	want(t, "pending", order(&a.pending), "[0 1]")
	l.run(2500 * time.Millisecond)
	want(t, "asks", l.sent[1:], "[2: 20:*=1 20:r0=1 20:n1=1]")
	a.rampUp(1)
	l.grant(3, 10, 2, 0)
	l.run(4 * time.Second)
	want(t, "attempts that run", len(l.attempts)+l.am.runningMaps.len, "0")
	want(t, "reduces with containers", l.am.runningReduces.len, "1")
}

// A task larger than any container kills the job, of several also those that had not
// started when the first was found too large (RMContainerAllocator's thread handles requests
// after the dispatcher has started all tasks, 3.3.6).
func TestTooLargeTaskKillsTheJob(t *testing.T) {
	l := newLab(t, 0, anywhere(3)...)
	l.largest = model.Resource{MemoryMiB: 512, VCores: 4}
	l.run(time.Minute)
	want(t, "job", *l.record, "{0s 0s 500ms 1.5s false 0 KILLED}")
}

// Two attempts of a map that commits: the first to ask may, the other is killed when it
// asks. Attempt 1 was launched later but works on a faster node.
func TestOneAttemptCommits(t *testing.T) {
	l := unlike(t, 0.6, 0, anywhere(1)...)
	l.job.Costs.Commit = 3 * second
	l.grant(2, 20, 2, 1)
	l.grant(5, 20, 3, 3)
	l.at(3500*time.Millisecond, func() { l.am.addAttempt(l.am.maptasks[0], false) })
	l.run(time.Minute)
	want(t, "attempts", l.ran(), "m0_0 2@1 2s-3s-13sK; m0_1 3@3 5s-6s-15sS")
	want(t, "asked to commit", l.attempts[0].Pending, "13s")
}

// unlike makes a lab in which node 3 takes this many times as long for a task.
func unlike(t *testing.T, slowness float64, reduces int, hosts ...[]int32) *lab {
	t.Helper()
	q := labQuestion()
	q.Cluster.Nodes[3].Slowness = slowness
	return newLabOf(t, q, reduces, hosts...)
}

// The first success kills the other attempt; its container ends after the kill.
func TestFirstSuccessKillsTheOther(t *testing.T) {
	l := unlike(t, 0.6, 1, anywhere(1)...)
	l.grant(2, 20, 2, 1)
	l.grant(5, 20, 3, 3)
	l.at(3500*time.Millisecond, func() { l.am.addAttempt(l.am.maptasks[0], false) })
	l.run(14 * time.Second)
	want(t, "attempts", l.ran(), "m0_0 2@1 2s-3s-12sK; m0_1 3@3 5s-6s-12sS")
	want(t, "ended maps", l.am.endedMaps(), "1")
}

// A failure while another attempt only waits for a container: 3.3 starts a third.
func TestRetryBesideAnAsk(t *testing.T) {
	for _, c := range []struct {
		release  *model.YARNRelease
		attempts string
	}{{hadoop336, "3"}, {hadoop277, "2"}} {
		l := faulty(t, map[int][]time.Duration{0: {2}}, 1, anywhere(1)...)
		l.job.Release = c.release
		l.grant(2, 20, 2, 1)
		l.at(3500*time.Millisecond, func() { l.am.addAttempt(l.am.maptasks[0], false) })
		l.run(6 * time.Second)
		want(t, "attempts", len(l.am.maptasks[0].attempts), c.attempts)
	}
}

// Three failed attempts on node 1 blacklist it: what is asked there becomes 0, the
// ResourceManager is told, and a container there goes back while its request moves to
// the end without the host. Node 2 makes it half of the cluster: all is forgiven.
func TestBlacklist(t *testing.T) {
	fails := map[int][]time.Duration{0: {1}, 1: {1}, 2: {1}}
	l := faulty(t, fails, 1, []int32{1}, []int32{1}, []int32{1}, []int32{1, 2}, []int32{2})
	l.grant(2, 20, 2, 1, 1, 1)
	l.grant(6, 20, 5, 1)
	l.run(7500 * time.Millisecond)
	want(t, "asks", l.carried(), "1: 20:*=5 20:r0=4 20:r1=2 20:n1=4 20:n2=2; 3: 20:*=2 20:r0=1 20:n1=1; "+
		"4: 20:n1=0 5:*=3 !1; 7: 20:*=2 20:r0=1 20:r1=2 20:n1=0 20:n2=2 -5")
	want(t, "waiting", order(&l.am.maps), "[4 0 1 2 3]")
	for range 3 {
		l.am.requests.failedOn(2)
	}
	l.run(9500 * time.Millisecond)
	want(t, "then", l.sent[4:], "[8: 20:n2=0 !2 9: ?1 ?2]")
	want(t, "refused", l.am.requests.blacklisted(1), "false")
}

// A count that has not been sent is only forgotten: the ResourceManager keeps its own.
func TestBlacklistForgetsUnsentCounts(t *testing.T) {
	l := newLab(t, 0, []int32{1})
	l.run(500 * time.Millisecond)
	for range 3 {
		l.am.requests.failedOn(1)
	}
	l.run(1500 * time.Millisecond)
	want(t, "asks", l.carried(), "1: 20:*=1 20:r0=1 !1")
}

// Containers on a blacklisted node: one of priority 5 or 10 keeps the order of what
// waits or moves the first to the end, and an unknown host the first map.
func TestRefile(t *testing.T) {
	a := ramp(2, 2)
	a.rampUp(2)
	again := &attempt{task: a.maptasks[1], request: request{priority: fastFailMap}}
	a.maps.push(again)
	a.failedMaps = append(a.failedMaps, again)
	a.refile(box(2, fastFailMap))
	want(t, "maps", order(&a.maps), "[0 1 1]")
	a.refile(box(3, reducePrio))
	want(t, "reduces", order(&a.reduces), "[1 0]")
	a.refile(box(4, mapPrio))
	want(t, "maps", order(&a.maps), "[1 1 0]")
}

// An uber job runs its tasks one after the other on the ApplicationMaster's node and
// asks for nothing. The reduce knows all maps when it begins and commits.
func TestUber(t *testing.T) {
	l := newLab(t, 1, []int32{1}, []int32{2})
	l.job.Settings.Uber = true
	l.run(time.Minute)
	want(t, "attempts", l.ran(), "m0_0 0@0 100ms-100ms-10.1sS; m1_0 0@0 10.1s-10.1s-20.1sS; r0_0 0@0 20.1s-20.1s-26.3sS")
	want(t, "asks", l.carried(), "")
	want(t, "job", *l.record, "{0s 0s 26.7s 27.7s true 0 SUCCEEDED}")
}

// A task of an uber job has one attempt: its failure fails the job. The other map has
// been given the ApplicationMaster's container and is aborted.
func TestUberFails(t *testing.T) {
	l := faulty(t, map[int][]time.Duration{0: {2}}, 0, anywhere(2)...)
	l.job.Settings.Uber = true
	l.run(time.Minute)
	want(t, "attempts", l.ran(), "m0_0 0@0 100ms-100ms-2.1sF")
	want(t, "job", *l.record, "{0s 0s 2.55s 3.55s true 0 FAILED}")
}

// A job is too large for its ApplicationMaster by maps, reduces, bytes, memory or
// cores.
func TestUberDecision(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(j *Job)
		uber string
	}{
		{"fits", func(j *Job) {}, "true"},
		{"not wanted", func(j *Job) { j.Settings.Uber = false }, "false"},
		{"nine maps", func(j *Job) { j.Hosts = anywhere(9) }, "true"},
		{"ten maps", func(j *Job) { j.Hosts = anywhere(10) }, "false"},
		{"two reduces", func(j *Job) { j.Spec.Reduces.Count = 2 }, "false"},
		{"a block", func(j *Job) { j.Spec.Maps.InputBytes = 1 << 20 }, "true"},
		{"more", func(j *Job) { j.Spec.Maps.InputBytes = 1<<20 + 1 }, "false"},
		{"own limit", func(j *Job) { j.Spec.Maps.InputBytes = 1<<20 + 1; j.Settings.UberBytes = 1 << 21 }, "true"},
		{"reduces larger than the ApplicationMaster", func(j *Job) { j.ReduceSize.MemoryMiB *= 2 }, "false"},
		{"but none", func(j *Job) { j.ReduceSize.MemoryMiB *= 2; j.Spec.Reduces.Count = 0 }, "true"},
		{"cores", func(j *Job) { j.MapSize.VCores = 2 }, "false"},
	} {
		l := newLab(t, 1, anywhere(2)...)
		l.job.Settings.Uber = true
		c.set(l.job)
		want(t, c.name, l.am.uberizes(), c.uber)
	}
}

// The ApplicationMaster dies with its node at 6 s. The map on another node works on,
// but nobody hears of its end; it is killed when its node is told. A second
// ApplicationMaster counts attempts from 1000.
func TestLostApplicationMaster(t *testing.T) {
	l := newLab(t, 0, anywhere(1)...)
	l.grant(2, 20, 2, 1)
	l.at(6*time.Second, func() { l.am.Lost() })
	l.at(15*time.Second, func() { l.am.Killed(l.made[2]) })
	l.run(time.Minute)
	want(t, "attempts", l.ran(), "m0_0 2@1 2s-3s-15sK")
	want(t, "job", l.record, "<nil>")
	again := newLab(t, 0, anywhere(1)...)
	again.am = New(again.job, 2)
	again.grant(2, 20, 2, 1)
	again.run(time.Minute)
	want(t, "attempts", again.ran(), "m0_1000 2@1 2s-3s-13.2sS")
}

// Map 0 and the reduce have ended when the first ApplicationMaster is lost, and map 1 has
// been lost. The second one runs map 1 alone and goes on from there; without recovery it
// starts from nothing.
func TestRecovery(t *testing.T) {
	for _, c := range []struct {
		recovery bool
		asks     string
	}{{true, "1: 20:*=1"}, {false, "1: 20:*=2"}} {
		l := newLab(t, 1, anywhere(2)...)
		l.job.Settings.Recovery = c.recovery
		h := l.job.History
		h.add(&task{}, 2, 2)
		h.add(&task{index: 1}, 2, 2)
		h.remove(&task{index: 1})
		h.add(&task{kind: workload.Reduce}, 1, 3)
		l.am = New(l.job, 2)
		l.run(1500 * time.Millisecond)
		want(t, "asks", l.carried(), c.asks)
		if !c.recovery {
			continue
		}
		l.grant(2, 20, 2, 1)
		l.run(time.Minute)
		want(t, "attempts", l.ran(), "m1_1000 2@1 2s-3s-13sS")
		want(t, "state", l.record.State, "SUCCEEDED")
	}
}

// What runs on a dead node is heard of no more.
func TestDeadNode(t *testing.T) {
	l := newLab(t, 0, anywhere(1)...)
	l.grant(2, 20, 2, 1)
	l.at(6*time.Second, func() { l.am.Died(l.made[2]) })
	l.run(20 * time.Second)
	want(t, "state", l.attempts[0].State, "RUNNING")
	want(t, "done", l.attempts[0].Done, "-1ns")
}

// A job without tasks is committed at once.
func TestJobWithoutTasks(t *testing.T) {
	l := newLab(t, 0)
	l.run(time.Minute)
	want(t, "job", *l.record, "{0s 0s 500ms 1.5s false 0 SUCCEEDED}")
}

// What a node says of a container that runs nothing, or nothing any more, is of no
// effect.
func TestContainersWithoutAttempts(t *testing.T) {
	l := newLab(t, 0, anywhere(1)...)
	l.grant(2, 20, 2, 1, 1)
	l.run(14 * time.Second)
	for _, number := range []int32{2, 3, 9} {
		l.am.Killed(box(number, mapPrio))
		l.am.Died(box(number, mapPrio))
	}
	want(t, "attempts", l.ran(), "m0_0 2@1 2s-3s-13.2sS")
}

// The distance of a map to its split, and the node that it reads from.
func TestLocality(t *testing.T) {
	for _, c := range []struct {
		hosts    []int32
		node     int32
		locality string
		source   string
	}{
		{[]int32{3, 1}, 1, "node", "1"},
		{[]int32{3, 1}, 0, "rack", "1"},
		{[]int32{3}, 1, "off", "3"},
		{[]int32{2, 3}, 0, "off", "2"},
		{nil, 2, "none", "2"},
	} {
		l := newLab(t, 0, c.hosts)
		l.grant(2, 20, 2, c.node)
		l.run(4 * time.Second)
		x := l.am.maptasks[0].attempts[0]
		want(t, "locality", x.run.Locality, c.locality)
		want(t, "source", l.job.Executor.SplitNode(&x.run), c.source)
	}
}

// A reduce that is killed in the second in which it learns of the last map has learnt of
// it; one that is killed before its begin has not begun.
func TestRecordsUpToTheEnd(t *testing.T) {
	l := newLab(t, 1, anywhere(1)...)
	l.job.Settings.Slowstart = 0
	l.grant(2, 20, 2, 1)
	l.grant(4, 10, 3, 1)
	l.at(13*time.Second, func() { l.am.Killed(l.made[3]) })
	l.run(14 * time.Second)
	want(t, "known", l.attempts[0].MapsKnown, "13s")
	l = newLab(t, 0, anywhere(1)...)
	l.grant(2, 20, 2, 1)
	l.at(2500*time.Millisecond, func() { l.am.Killed(l.made[2]) })
	l.run(3 * time.Second)
	want(t, "begun", l.attempts[0].Begun, "-1ns")
}

// A reduce that waits for its begin has no progress, and reports none before its first
// report.
func TestProgressBeforeTheFirstReport(t *testing.T) {
	l := newLab(t, 1, anywhere(2)...)
	l.job.Settings.Slowstart = 0
	l.grant(2, 20, 2, 0)
	l.grant(13, 10, 3, 0)
	l.run(13500 * time.Millisecond)
	x := l.am.reducetasks[0].attempts[0]
	want(t, "before its begin", l.am.progress(x), "0")
	// It begins at 14 s and knows half of the maps then; its first report is at 20 s.
	l.run(19 * time.Second)
	want(t, "before its report", l.am.progress(x), "0")
	l.run(20 * time.Second)
	want(t, "at its report", l.am.progress(x), "0.16666667")
}

// Unregistering is asked again after an interval of heartbeats.
func TestUnregistersAtTheHeartbeatInterval(t *testing.T) {
	l := newLab(t, 0)
	l.job.Settings.Heartbeat = 3 * second
	l.run(time.Minute)
	want(t, "job", *l.record, "{0s 0s 500ms 3.5s false 0 SUCCEEDED}")
}

// A map whose first attempt failed is killed with the job while its second runs: the
// task is over when that one is, and the job fails.
func TestKilledTaskCountsEarlierFailures(t *testing.T) {
	l := faulty(t, map[int][]time.Duration{0: {1}, 1: {9}}, 1, anywhere(2)...)
	l.grant(2, 20, 2, 1, 2)
	l.grant(6, 5, 4, 1)
	l.at(10*time.Second, func() { l.am.endTasks(jobFailWait, workload.Failed); l.am.settle() })
	l.run(time.Minute)
	want(t, "attempts", l.ran(), "m0_0 2@1 2s-3s-4sF; m0_1 4@1 6s-7s-10sK; m1_0 3@2 2s-3s-10sK")
	want(t, "job", *l.record, "{0s 0s 10.45s 11.45s false 0 FAILED}")
}

// A job that was ended from outside ends so again: its tasks are killed, and it has the
// recorded state. An order that comes after the end has no effect.
func TestJobEndsAsRecorded(t *testing.T) {
	for _, c := range []struct {
		state workload.State
		after time.Duration
		want  string
	}{
		{workload.Killed, 6 * time.Second, "{0s 0s 6.45s 7.45s false 0 KILLED}"},
		{workload.Failed, 6 * time.Second, "{0s 0s 6.45s 7.45s false 0 FAILED}"},
		{workload.Killed, 30 * time.Second, "{0s 0s 13.6s 14.6s false 0 SUCCEEDED}"},
	} {
		l := newLab(t, 0, anywhere(1)...)
		l.job.Spec.Ends = workload.AttemptEnd{State: c.state, After: c.after}
		l.grant(2, 20, 2, 1)
		l.run(time.Minute)
		want(t, "job", *l.record, c.want)
	}
}
