package yarn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
)

// The schedulers of 2.7.7 beside those of 3.3.6, by rules of their sources.

// with adds the release to settings.
func with(release string, settings map[string]string) map[string]string {
	all := map[string]string{"hadoop": release}
	for k, v := range settings {
		all[k] = v
	}
	return all
}

// twoQueues are queues of half the cluster each, in which a user may have all.
var twoQueues = map[string]string{
	"root.queues": "b,a", "root.a.capacity": "50", "root.b.capacity": "50", "root.a.user-limit-factor": "2", "root.b.user-limit-factor": "2",
}

// Before 2.8 queues that use equally much stand in the order of their paths, later in that
// of the list.
func TestOrderOfEqualQueues(t *testing.T) {
	first := func(release string) string {
		d := capacityDesk(t, 1, mib(8192, 8), with(release, twoQueues))
		apps := []*App{d.submit("x", "a", "u", mib(1024, 1)), d.submit("y", "b", "u", mib(1024, 1))}
		d.beat(d.nodes[0])
		for _, a := range apps {
			if len(a.granted) > 0 {
				return a.Path
			}
		}
		return ""
	}
	want(t, "3.3.6", first("3.3.6"), "root.b")
	want(t, "2.7.7", first("2.7.7"), "root.a")
}

// A queue of half of 5 GiB may have 2 GiB: before 2.8 the request of 2 GiB beside its
// ApplicationMaster ends its turn, and a sibling has the room that it waits for. Later the
// room is kept.
func TestQueueLimitCountsTheRequest(t *testing.T) {
	given := func(release string) (int64, int) {
		d := capacityDesk(t, 1, mib(5120, 8), with(release, map[string]string{
			"root.queues": "a,b", "root.a.capacity": "40", "root.b.capacity": "60", "root.a.maximum-capacity": "60", "root.b.user-limit-factor": "2",
			"root.a.user-limit-factor": "2",
		}))
		a := d.start("x", "a", "u")
		b := d.start("y", "b", "v")
		d.ask(a, 20, mib(2048, 1), 5)
		d.ask(b, 20, mib(1024, 1), 5)
		for range 6 {
			d.beat(d.nodes[0])
		}
		return a.used.MemoryMiB, len(b.granted)
	}
	for _, release := range []string{"2.7.7", "3.3.6"} {
		used, others := given(release)
		want(t, release+": use up to the maximum", used, 3072)
		want(t, release+": the sibling", others, 1)
	}
}

// Before 2.8 the limit of a user is the queue's use and the request, by the users that
// ask, whatever they use; later it follows from what the users that ask use. Here one of
// two users asks and the other has most of the queue.
func TestUserLimitByRelease(t *testing.T) {
	limit := func(release string) int64 {
		d := capacityDesk(t, 4, mib(8192, 8), with(release, map[string]string{
			"root.default.minimum-user-limit-percent": "25", "root.default.user-limit-factor": "1", "maximum-am-resource-percent": "1",
			"per-node-heartbeat.maximum-offswitch-assignments": "100",
		}))
		for _, n := range d.nodes {
			n.free = n.Total
		}
		a := d.start("a", "default", "u1")
		d.ask(a, 20, mib(1024, 1), 23)
		for range 8 {
			for _, n := range d.nodes {
				d.beat(n)
			}
		}
		want(t, release+": u1 has", a.used.MemoryMiB, 24*1024)
		b := d.start("b", "default", "u2")
		d.ask(b, 20, mib(1024, 1), 40)
		return b.capacity.leaf.users.limit(b.capacity.leaf.users.user(b), mib(1024, 1)).MemoryMiB
	}
	want(t, "3.3.6: 25 % of the queue", limit("3.3.6"), 8*1024)
	want(t, "2.7.7: all of it for the one user that asks", limit("2.7.7"), 32*1024)
}

// Before 2.8 the request counts in the limit of a user of a queue smaller than it.
func TestUserLimitOfASmallQueue(t *testing.T) {
	d := capacityDesk(t, 1, mib(8192, 8), with("2.7.7", map[string]string{"root.queues": "a,b", "root.a.capacity": "1", "root.b.capacity": "99"}))
	a := d.submit("x", "a", "u", mib(1024, 1))
	m := a.capacity.leaf.users
	want(t, "guarantee rounded up", m.limit(m.user(a), mib(1024, 1)).MemoryMiB, 1024)
	want(t, "request", m.limit(m.user(a), mib(3072, 1)).MemoryMiB, 3072)
}

// Before 2.8 one application of a queue runs whatever the limit, later one while none has
// its master. With a limit of 1 GiB the second of two waits.
func TestFirstApplicationByRelease(t *testing.T) {
	for _, release := range []string{"2.7.7", "3.3.6"} {
		d := capacityDesk(t, 1, mib(8192, 8), with(release, nil))
		first, second := d.submit("a", "default", "u", mib(2048, 1)), d.submit("b", "default", "u", mib(2048, 1))
		want(t, release+": first", first.capacity.ordered, true)
		want(t, release+": second", second.capacity.ordered, false)
	}
}

// Before 2.8 a node goes on in the heartbeat that fulfils its reservation.
func TestAfterAReservation(t *testing.T) {
	more := func(release string) int {
		d := capacityDesk(t, 2, mib(8192, 8), with(release, map[string]string{"root.default.user-limit-factor": "2"}))
		a := d.start("a", "default", "u")
		d.ask(a, 20, mib(1024, 1), 4, "c000")
		d.beat(d.nodes[0])
		small := d.pull(a)
		d.ask(a, 5, mib(5120, 1), 1)
		d.beat(d.nodes[0])
		if d.nodes[0].reserved == nil {
			t.Fatalf("%s: no reservation: %v", release, d.heard)
		}
		d.ask(a, 20, mib(1024, 1), 9)
		launch(small...)
		d.heard = nil
		d.s.NodeUpdate(d.nodes[0], []Ended{{small[0], Success}, {small[1], Success}, {small[2], Success}})
		return strings.Count(strings.Join(d.heard, " "), "allocated")
	}
	want(t, "3.3.6", more("3.3.6"), 1)
	want(t, "2.7.7", more("2.7.7"), 2)
}

// Offers for new containers that are too far from the data are missed in each release.
// Before 2.8 the retry of a reservation is none: later it counts as one.
func TestMissedOffersByRelease(t *testing.T) {
	for release, retried := range map[string]int32{"2.7.7": 0, "3.3.6": 1} {
		d := capacityDesk(t, 2, mib(8192, 8), with(release, map[string]string{"root.default.user-limit-factor": "2", "node-locality-delay": "40"}))
		a := d.start("a", "default", "u")
		d.ask(a, 20, mib(1024, 1), 4, "elsewhere")
		want(t, release+": missed", d.beat(d.nodes[0])+d.beat(d.nodes[1]), 0)
		want(t, release+": missed offers", a.at(20).chances, 2)
		want(t, release+": in the rack", d.beat(d.nodes[0]), 1)

		d.ask(a, 5, mib(8192, 1), 1)
		d.beat(d.nodes[0])
		if d.nodes[0].reserved == nil {
			t.Fatalf("%s: no reservation: %v", release, d.heard)
		}
		before := a.at(5).chances
		d.beat(d.nodes[0])
		want(t, release+": after a retry", a.at(5).chances-before, retried)
	}
}

// Before 2.8 a node is free as soon as the scheduler ends a container.
func TestNodeIsFreeAtOnce(t *testing.T) {
	for release, free := range map[string]int64{"2.7.7": 7 * 1024, "3.3.6": 6 * 1024} {
		d := capacityDesk(t, 1, mib(8192, 8), with(release, nil))
		a := d.start("a", "default", "u")
		d.ask(a, 20, mib(1024, 1), 1)
		d.beat(d.nodes[0])
		c := d.pull(a)[0]
		launch(c)
		d.s.Update(a, nil, []*Container{c}, nil, nil)
		want(t, release, d.nodes[0].Free().MemoryMiB, free)
		d.s.NodeUpdate(d.nodes[0], []Ended{{c, KilledByRM}})
		want(t, release+": reported", d.nodes[0].Free().MemoryMiB, 7*1024)
	}
}

// Before 2.8 hosts and racks keep their counts where an application takes all back.
func TestTableStays(t *testing.T) {
	for release, stays := range map[string]bool{"2.7.7": true, "2.10.2": false} {
		r := newRequests(t, release)
		none := func(x Resource) Resource { return x }
		r.updateAll([]Ask{{Priority: 20, Count: 2}, {Priority: 20, Place: 1, Count: 2}}, none, func(demand) {})
		r.updateAll([]Ask{{Priority: 20, Count: 0}}, none, func(demand) {})
		want(t, release+": asks", len(r.wanted), 0)
		r.updateAll([]Ask{{Priority: 20, Count: 1}}, none, func(demand) {})
		want(t, release+": host", r.table(20).count(1) == 2, stays)
	}
}

// The code of 2.7 has no locality delay of racks, and settings of later releases have no
// effect in it: it gives everything at the host in one heartbeat, beyond 100 containers.
func TestSettingsOf27(t *testing.T) {
	d := capacityDesk(t, 1, mib(200*1024, 8), with("2.7.7", map[string]string{
		"per-node-heartbeat.multiple-assignments-enabled": "false", "rack-locality-additional-delay": "5", "max-parallel-apps": "1",
		"root.default.ordering-policy": "no such", "!yarn.scheduler.maximum-allocation-mb": "8192", "maximum-am-resource-percent": "1",
	}))
	a, b := d.start("a", "default", "u"), d.start("b", "default", "u")
	want(t, "both run", a.capacity.ordered && b.capacity.ordered, true)
	d.ask(a, 20, mib(1024, 1), 150, "c000")
	want(t, "at the host", d.beat(d.nodes[0]), 150)
	d.ask(b, 20, mib(1024, 1), 1, "elsewhere")
	want(t, "at once on the rack", d.beat(d.nodes[0]), 1)
	want(t, "cores", d.s.(*capacity).most.VCores, 32)
	if _, err := New(&model.YARN{Policy: "capacity", Properties: Properties{
		capacityPrefix + "root.queues": "a", capacityPrefix + "root.a.capacity": "[memory=1024,vcores=1]",
	}}, release(t, "2.10.2"), d); err == nil || !strings.Contains(err.Error(), "percentage") {
		t.Errorf("got %v: want a capacity in an amount refused before 3.1", err)
	}
}

// Of what preemption chooses, 2.7 kills nothing before the wait has passed: with rounds of
// 3 s and a wait of 15 s one round later.
func TestPreemptionWaitByRelease(t *testing.T) {
	killed := func(release string) bool {
		d := capacityDesk(t, 10, mib(10240, 10), with(release, map[string]string{
			"root.queues": "a,b", "root.a.capacity": "50", "root.b.capacity": "50", "root.a.user-limit-factor": "2", "root.b.user-limit-factor": "2",
			"!yarn.resourcemanager.scheduler.monitor.enable": "true",
		}))
		a := d.start("x", "a", "u")
		d.ask(a, 20, mib(1024, 1), 99)
		for range 10 {
			for _, n := range d.nodes {
				d.beat(n)
			}
		}
		d.pull(a)
		b := d.submit("y", "b", "u", mib(1024, 1))
		d.s.Update(b, []Ask{{Priority: 20, Size: mib(1024, 1), Count: 49}}, nil, nil, nil)
		d.heard = nil
		d.until(16 * second)
		early := len(d.heard) > 0
		d.until(20 * second)
		want(t, release+": two containers", len(d.heard), 2)
		return early
	}
	want(t, "3.3.6 after 15 s", killed("3.3.6"), true)
	want(t, "2.7.7 after 15 s", killed("2.7.7"), false)
}

// Before 2.8 a map with three replicas on one rack is wanted five times, and is offered
// before an update has seen it.
func TestDemandByRelease(t *testing.T) {
	for release, wanted := range map[string]int64{"2.7.7": 6 * 1024, "3.3.6": 2 * 1024} {
		d := fairDesk(t, 1, mib(8192, 8), Properties{"hadoop": release}, queues())
		a := d.start("a", "root.q", "u")
		d.ask(a, 20, mib(1024, 1), 1, "x", "y", "z")
		want(t, release+": demand", a.fair.demand.MemoryMiB, wanted)
		b := d.start("b", "root.q", "u")
		d.s.Update(b, []Ask{{Priority: 5, Size: mib(1024, 1), Count: 1}}, nil, nil, nil)
		d.ask(a, 20, mib(1024, 1), 0)
		b.fair.demand = b.used
		want(t, release+": offered", d.beat(d.nodes[0]) == 1, release == "2.7.7")
	}
}

// Before 2.8 a queue passes its maximum by one container.
func TestMaxResourcesByRelease(t *testing.T) {
	for release, given := range map[string]int{"2.7.7": 3, "3.3.6": 2} {
		d := fairDesk(t, 2, mib(8192, 8), Properties{several: "true", "hadoop": release}, queues(queue("q", "maxResources", "3584 mb, 8 vcores")))
		a := d.start("a", "root.q", "u")
		d.ask(a, 20, mib(1024, 1), 9)
		want(t, release, d.beat(d.nodes[1]), given)
	}
}

// Before 2.8 a queue whose fair share is not computed yet runs no ApplicationMaster, and
// cores do not count unless its policy is drf.
func TestAMShareByRelease(t *testing.T) {
	for release, runs := range map[string]int{"2.7.7": 0, "3.3.6": 1} {
		d := fairDesk(t, 1, mib(8192, 8), Properties{"hadoop": release}, queues(queue("q", "maxAMShare", "0.5")))
		a := d.submit("a", "root.q", "u", mib(1024, 1))
		a.fair.demand = mib(1024, 1)
		want(t, release+": before an update", d.beat(d.nodes[0]), runs)
	}
	for policy, runs := range map[string]int{"fair": 1, "drf": 0} {
		d := fairDesk(t, 1, mib(8192, 8), Properties{"hadoop": "2.7.7"}, queues(queue("q", "maxAMShare", "0.5", "schedulingPolicy", policy)))
		d.submit("a", "root.q", "u", mib(1024, 5))
		d.pass()
		want(t, "2.7.7, 5 of 8 cores, "+policy, d.beat(d.nodes[0]), runs)
	}
}

// Before 2.8 any application reserves as many nodes as its queue may have; later only one
// below its fair share, and of two nodes one.
func TestReservationsByRelease(t *testing.T) {
	for release, reserved := range map[string]int{"2.7.7": 2, "3.3.6": 1} {
		d := fairDesk(t, 2, mib(2048, 8), Properties{"hadoop": release}, queues(queue("q", "maxResources", "100000 mb, 100 vcores")))
		a := d.start("a", "root.q", "u")
		d.ask(a, 10, mib(1024, 1), 2)
		for _, n := range d.nodes {
			d.beat(n)
		}
		d.ask(a, 20, mib(2048, 1), 4)
		got := 0
		for _, n := range d.nodes {
			if d.beat(n); n.reserved != nil {
				got++
			}
		}
		want(t, release, got, reserved)
	}
}

// A leaf that lacks its fair share gets all of it before 2.8, an application later only
// what it lacks of the threshold. Here b has 1 of the 4 containers of its share. In 2.7.7
// rounds are 5 s apart, and the wait has to have passed.
func TestFairPreemptionByRelease(t *testing.T) {
	for release, killed := range map[string][2]int{"2.7.7": {0, 3}, "3.3.6": {1, 1}} {
		p := Properties{several: "true", "yarn.scheduler.fair.preemption": "true", "hadoop": release}
		d := fairDesk(t, 1, mib(8192, 8), p, queues(queue("a"), queue("b", "fairSharePreemptionTimeout", "5")))
		a, b := d.start("a", "root.a", "u"), d.start("b", "root.b", "u")
		d.ask(a, 20, mib(1024, 1), 6)
		for range 9 {
			d.beat(d.nodes[0])
		}
		launch(d.pull(a)...)
		d.ask(b, 20, mib(1024, 1), 6)
		d.heard = nil
		for i, at := range []int64{29, 31} {
			d.until(at * second)
			want(t, fmt.Sprintf("%s after %d s", release, at), strings.Count(strings.Join(d.heard, " "), "finished -102 true a/"), killed[i])
		}
		if release == "2.7.7" {
			want(t, "the newest first", d.heard[0], "finished -102 true a/7 n0")
		}
	}
}

// A leaf within its fair share loses nothing, and then nobody does.
func TestWarningsSpareFairShares(t *testing.T) {
	p := Properties{several: "true", "yarn.scheduler.fair.preemption": "true", "hadoop": "2.7.7"}
	d := fairDesk(t, 1, mib(8192, 8), p, queues(queue("a"), queue("b", "minResources", "6144 mb, 1 vcores", "minSharePreemptionTimeout", "5", "weight", "0.1")))
	a, b := d.start("a", "root.a", "u"), d.start("b", "root.b", "u")
	d.ask(a, 20, mib(1024, 1), 1)
	d.beat(d.nodes[0])
	launch(d.pull(a)...)
	d.nodes[0].free = Resource{}
	d.ask(b, 20, mib(1024, 1), 9)
	d.heard = nil
	d.until(60 * second)
	want(t, "a has 2 of its share of 2 GiB", len(d.heard), 0)
}

// Before 2.8 drf leaves equals as they stood, takes equal shares as cores first, and
// fair compares two below their minima by these alone.
func TestOrderBefore28(t *testing.T) {
	cluster := mib(8192, 8)
	x := &fixedShares{weight: 1, name: "x", used: mib(1024, 1)}
	y := &fixedShares{weight: 1, name: "a", used: mib(1024, 1)}
	want(t, "drf: equals", sharings["drf"].before28(cluster, x, y), 0)
	want(t, "drf: later by name", sharings["drf"].compare(cluster, x, y) > 0, true)
	y.used = mib(512, 1)
	want(t, "drf: cores alike, less memory", sharings["drf"].before28(cluster, x, y) > 0, true)
	x.least_, y.least_ = mib(4096, 0), mib(2048, 0)
	x.demand, y.demand, y.weight = mib(8192, 0), mib(8192, 0), 9
	want(t, "fair: later name", sharings["fair"].before28(cluster, x, y) > 0, true)
	y.name = "z"
	want(t, "fair: earlier name", sharings["fair"].before28(cluster, x, y) < 0, true)
	want(t, "fair: use by weight from 2.8 on", sharings["fair"].compare(cluster, x, y) > 0, true)
	y.demand, y.least_, y.weight, y.used = Resource{}, Resource{}, 1, Resource{}
	x.least_ = Resource{}
	want(t, "fair: who wants nothing", sharings["fair"].before28(cluster, x, y) > 0, true)
	want(t, "fair: is last from 2.8 on", sharings["fair"].compare(cluster, x, y) < 0, true)
}
