package yarn

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
)

// An ApplicationMaster of 1536 MiB takes 2048 MiB and one core.
func TestRequestsAreRoundedUp(t *testing.T) {
	d := capacityDesk(t, 1, mib(8192, 8), nil)
	want(t, "default calculator", d.s.Normalize("default", mib(1536, 3)), mib(2048, 1))
	d = capacityDesk(t, 1, mib(8192, 8), map[string]string{"resource-calculator": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator"})
	want(t, "dominant calculator", d.s.Normalize("default", mib(1536, 3)), mib(2048, 3))
	want(t, "at most", d.s.Normalize("default", mib(99999, 9)), mib(8192, 4))
}

// With the default calculator cores do not bound a node; with the other one they do.
func TestCoresCountWithTheDominantCalculator(t *testing.T) {
	fill := func(settings map[string]string) int {
		settings["per-node-heartbeat.maximum-offswitch-assignments"] = "100"
		settings["root.default.user-limit-factor"] = "10"
		d := capacityDesk(t, 2, mib(8192, 8), settings)
		a := d.start("a", "default", "u")
		d.ask(a, 20, mib(1024, 2), 50)
		return d.beat(d.nodes[1])
	}
	want(t, "memory alone", fill(map[string]string{}), 8)
	want(t, "memory and cores", fill(map[string]string{"resource-calculator": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator"}), 4)
}

// ApplicationMasters may take 10 % of the queue; the first application always runs.
func TestApplicationMasterLimit(t *testing.T) {
	active := func(nodes int) int {
		d := capacityDesk(t, nodes, mib(8192, 8), nil)
		for range 6 {
			d.submit("a", "default", "u", mib(1536, 1))
		}
		return len(d.s.(*capacity).paths["root.default"].leaf.active)
	}
	want(t, "10 nodes", active(10), 4) // 8192 / 2048
	want(t, "2 nodes", active(2), 1)   // 1638 rounds up to 2048
	want(t, "1 node", active(1), 1)
}

// When an application ends, the next one in order is activated.
func TestApplicationsAreActivatedInOrder(t *testing.T) {
	d := capacityDesk(t, 1, mib(8192, 8), map[string]string{"!yarn.cluster.max-application-priority": "5"})
	first := d.submit("first", "default", "u", mib(1024, 1))
	second := d.submit("second", "default", "u", mib(1024, 1))
	third := &App{ID: 9, Name: "third", User: "u", Queue: "default", Size: mib(1024, 1), Priority: 3}
	if err := d.s.AppAdded(third); err != nil {
		t.Fatal(err)
	}
	want(t, "second waits", second.capacity.ordered, false)
	d.s.AttemptRemoved(first)
	want(t, "the higher priority goes first", third.capacity.ordered, true)
	want(t, "second waits on", second.capacity.ordered, false)
}

// A user whose applications all wait counts among those that share the limit on
// ApplicationMasters: when one of the first user ends, the other's goes before its next.
func TestUsersThatWaitShareTheApplicationMasterLimit(t *testing.T) {
	d := capacityDesk(t, 1, mib(8192, 8), map[string]string{"maximum-am-resource-percent": "0.5", "root.default.minimum-user-limit-percent": "25"})
	var first []*App
	for range 5 {
		first = append(first, d.submit("first", "default", "u", mib(1024, 1)))
	}
	other := d.submit("other", "default", "v", mib(1024, 1))
	d.beat(d.nodes[0])
	d.s.AttemptRemoved(first[0])
	want(t, "the other user's", other.capacity.ordered, true)
	want(t, "the first user's fifth", first[4].capacity.ordered, false)
}

// A lone user of a queue of half the cluster stops at the guarantee, exceeded by one
// container at most.
func TestUserLimitFactor(t *testing.T) {
	two := map[string]string{"root.queues": "a,b", "root.a.capacity": "50", "root.b.capacity": "50", "per-node-heartbeat.maximum-offswitch-assignments": "100"}
	d := capacityDesk(t, 4, mib(8192, 8), two)
	a := d.start("x", "a", "u")
	d.ask(a, 20, mib(1024, 1), 100)
	for range 3 {
		for _, n := range d.nodes {
			d.beat(n)
		}
	}
	want(t, "use", a.used.MemoryMiB, 17*1024)
	want(t, "headroom", d.headroom(a).MemoryMiB, 0)
}

// Reduces, which ask for no place, get one container in a heartbeat of a node.
func TestOneOffSwitchContainerABeat(t *testing.T) {
	d := capacityDesk(t, 2, mib(8192, 8), nil)
	a := d.start("a", "default", "u")
	d.ask(a, 10, mib(1024, 1), 5)
	want(t, "first beat", d.beat(d.nodes[0]), 1)
	want(t, "second beat", d.beat(d.nodes[0]), 1)
}

// Containers at their host come all in one heartbeat, up to the settings.
func TestAssignmentsABeat(t *testing.T) {
	for _, c := range []struct {
		settings map[string]string
		want     int
	}{
		{nil, 7},
		{map[string]string{"per-node-heartbeat.maximum-container-assignments": "2"}, 2},
		{map[string]string{"per-node-heartbeat.multiple-assignments-enabled": "false"}, 1},
	} {
		d := capacityDesk(t, 1, mib(8192, 8), c.settings)
		a := d.start("a", "default", "u")
		d.ask(a, 20, mib(1024, 1), 20, "c000")
		want(t, "containers", d.beat(d.nodes[0]), c.want)
	}
}

// The rack serves after as many missed offers as node-locality-delay, at most the
// number of nodes; after a grant the same heartbeat counts one.
func TestRackDelay(t *testing.T) {
	d := capacityDesk(t, 4, mib(8192, 8), map[string]string{"node-locality-delay": "40"})
	a := d.start("a", "default", "u")
	d.ask(a, 20, mib(1024, 1), 40, "elsewhere")
	for i := 1; i <= 4; i++ {
		want(t, "missed", d.beat(d.nodes[i%4]), 0)
	}
	want(t, "fifth offer", d.beat(d.nodes[1]), 1)
	want(t, "counted anew", a.at(20).chances, 1)
}

// Away from all its data, an application waits for more offers the more names it asks
// at: here 4 of 4 nodes x min(1, 5/4).
func TestOffSwitchDelay(t *testing.T) {
	d := capacityDesk(t, 4, mib(8192, 8), nil)
	a := d.start("a", "default", "u")
	asks := []Ask{{Priority: 20, Size: mib(1024, 1), Count: 9}}
	for _, h := range []string{"h1", "h2", "h3", "h4", "/other"} {
		asks = append(asks, Ask{Priority: 20, Place: d.place(h), Size: mib(1024, 1), Count: 9})
	}
	d.s.Update(a, asks, nil, nil, nil)
	for i := range 4 {
		want(t, "missed", d.beat(d.nodes[i]), 0)
	}
	want(t, "fifth offer", d.beat(d.nodes[0]), 1)
	want(t, "not reset", a.at(20).chances, 5)
}

// rack-locality-additional-delay replaces that rule.
func TestAdditionalDelay(t *testing.T) {
	d := capacityDesk(t, 9, mib(8192, 8), map[string]string{"node-locality-delay": "2", "rack-locality-additional-delay": "1"})
	a := d.start("a", "default", "u")
	d.s.Update(a, []Ask{{Priority: 20, Size: mib(1024, 1), Count: 9}, {Priority: 20, Place: d.place("h"), Size: mib(1024, 1), Count: 9}}, nil, nil, nil)
	for i := range 3 {
		want(t, "missed", d.beat(d.nodes[i]), 0)
	}
	want(t, "fourth offer", d.beat(d.nodes[3]), 1)
}

// The first priority that wants something and cannot have it ends the turn: waiting
// reduces block the maps of their job, but not of another.
func TestFirstPriorityBlocks(t *testing.T) {
	d := capacityDesk(t, 2, mib(8192, 8), map[string]string{"maximum-am-resource-percent": "1"})
	a, b := d.start("a", "default", "u"), d.start("b", "default", "u")
	d.ask(a, 10, mib(4096, 1), 1, "elsewhere")
	d.ask(a, 20, mib(1024, 1), 1, "c001")
	d.ask(b, 20, mib(1024, 1), 1, "c001")
	d.heard = nil
	d.beat(d.nodes[1])
	want(t, "first", d.heard[0], "allocated b/2 n1")
	want(t, "then a's reduce, away from its data", d.heard[1], "allocated a/2 n1")
	want(t, "a's map waits", a.granted[0].Priority, 10)
}

// A refused node gives an application nothing.
func TestBlacklist(t *testing.T) {
	d := capacityDesk(t, 1, mib(8192, 8), nil)
	a := d.start("a", "default", "u")
	d.s.Update(a, []Ask{{Priority: 20, Size: mib(1024, 1), Count: 1}}, nil, []int32{0}, nil)
	want(t, "refused", d.beat(d.nodes[0]), 0)
	d.s.Update(a, nil, nil, nil, []int32{0})
	want(t, "taken again", d.beat(d.nodes[0]), 1)
}

// The queue that uses least of its guarantee is served first; equals stand by capacity,
// then in the order of the list.
func TestLeastUsedQueueFirst(t *testing.T) {
	d := capacityDesk(t, 4, mib(8192, 8), map[string]string{
		"root.queues": "a,b,c", "root.a.capacity": "25", "root.b.capacity": "25", "root.c.capacity": "50", "maximum-am-resource-percent": "1",
	})
	for _, q := range []string{"a", "b", "c"} {
		d.submit("in-"+q, q, "u", mib(1024, 1))
	}
	for _, n := range d.nodes {
		d.beat(n)
	}
	got := strings.Join(d.heard, ", ")
	if want := "allocated in-c/1 n0, allocated in-a/1 n1, allocated in-b/1 n2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A queue that states no order of those below it has that of the queue above it: of two that
// use as much, the one of the higher priority goes first
// (CapacitySchedulerConfiguration.getQueueOrderingPolicy, 3.3.6).
func TestOrderOfQueuesFromAbove(t *testing.T) {
	for order, wanted := range map[string]string{"priority-utilization": "y", "utilization": "x"} {
		d := capacityDesk(t, 1, mib(8192, 8), map[string]string{
			"root.queues": "q", "root.q.capacity": "100", "root.q.queues": "a,b", "root.q.a.capacity": "50", "root.q.b.capacity": "50", "root.q.b.priority": "1",
			"root.ordering-policy": order, "maximum-am-resource-percent": "1",
		})
		x, y := d.start("x", "a", "u"), d.start("y", "b", "u")
		d.s.Update(x, []Ask{{Priority: 20, Size: mib(1024, 1), Count: 1}}, nil, nil, nil)
		d.s.Update(y, []Ask{{Priority: 20, Size: mib(1024, 1), Count: 1}}, nil, nil, nil)
		d.heard = nil
		d.beat(d.nodes[0])
		want(t, order, d.heard[0], "allocated "+wanted+"/2 n0")
	}
}

// A queue stops at its maximum.
func TestMaximumCapacity(t *testing.T) {
	d := capacityDesk(t, 4, mib(8192, 8), map[string]string{
		"root.queues": "a,b", "root.a.capacity": "25", "root.b.capacity": "75", "root.a.maximum-capacity": "50", "root.a.user-limit-factor": "10",
		"per-node-heartbeat.maximum-offswitch-assignments": "100",
	})
	a := d.start("x", "a", "u")
	d.ask(a, 20, mib(1024, 1), 100)
	for _, n := range d.nodes {
		d.beat(n)
	}
	want(t, "use", a.used.MemoryMiB, 16*1024)
}

// A large request reserves a node; the reservation counts in the use of the queue, is
// fulfilled under the same number, and nothing else happens in these beats.
func TestReservation(t *testing.T) {
	d := capacityDesk(t, 2, mib(8192, 8), map[string]string{"root.default.user-limit-factor": "2"})
	a := d.start("a", "default", "u")
	d.ask(a, 20, mib(1024, 1), 4, "c000")
	d.beat(d.nodes[0])
	small := d.pull(a)
	d.ask(a, 5, mib(6144, 1), 1)
	d.ask(a, 20, mib(1024, 1), 9)
	d.nodes[1].free = mib(0, 0)
	d.beat(d.nodes[0])
	if d.nodes[0].reserved == nil {
		t.Fatalf("no reservation: %v", d.heard)
	}
	number := d.nodes[0].reserved.Number
	want(t, "use of the queue", d.s.(*capacity).root.used.MemoryMiB, (1+4+6)*1024)
	want(t, "nothing else", d.beat(d.nodes[0]), 0)
	want(t, "tries", a.at(5).retries, 1)
	launch(small...)
	d.s.NodeUpdate(d.nodes[0], nil)
	d.s.NodeUpdate(d.nodes[0], []Ended{{small[0], Success}, {small[1], Success}, {small[2], Success}})
	got := d.pull(a)
	if len(got) != 1 || got[0].Number != number || got[0].Size.MemoryMiB != 6144 {
		t.Fatalf("got %v: want the reserved container alone", got)
	}
	want(t, "reservation gone", d.nodes[0].reserved == nil, true)
	want(t, "held", a.held, Resource{})
}

// Thirteen reservations are listed by 32 buckets of their nodes, also when all but one
// are gone; once none is left, the next ones are listed by 16.
func TestReservationsAreListedAnew(t *testing.T) {
	d := capacityDesk(t, 13, mib(8192, 8), nil)
	a := d.start("a", "default", "u")
	var b bookings
	for _, n := range d.nodes {
		b.add(a.newContainer(n, mib(1024, 1), 5))
	}
	for len(b.list) > 1 {
		b.remove(b.list[0])
	}
	want(t, "buckets with one left", b.slots, 32)
	b.remove(b.list[0])
	b.add(a.newContainer(d.nodes[0], mib(1024, 1), 5))
	want(t, "buckets anew", b.slots, 16)
}

// A reservation whose ask is withdrawn is given up at the node's next heartbeat.
func TestReservationGivenUp(t *testing.T) {
	d := capacityDesk(t, 2, mib(8192, 8), map[string]string{"root.default.user-limit-factor": "2"})
	a := d.start("a", "default", "u")
	d.ask(a, 20, mib(1024, 1), 4, "c000")
	d.beat(d.nodes[0])
	d.ask(a, 5, mib(6144, 1), 1)
	d.beat(d.nodes[0])
	d.ask(a, 5, mib(6144, 1), 0)
	d.beat(d.nodes[0])
	want(t, "last", d.heard[len(d.heard)-1], "finished -999 false a/6 n0")
	want(t, "use", d.s.(*capacity).root.used.MemoryMiB, 5*1024)
}

// A job that ends running containers through the scheduler frees its queue at once, and
// the node only when it reports the end.
func TestNodeKeepsMemoryUntilItReports(t *testing.T) {
	d := capacityDesk(t, 1, mib(8192, 8), nil)
	a := d.start("a", "default", "u")
	d.ask(a, 20, mib(1024, 1), 1)
	d.beat(d.nodes[0])
	c := d.pull(a)[0]
	launch(c)
	d.s.NodeUpdate(d.nodes[0], nil)
	d.s.Update(a, nil, []*Container{c}, nil, nil)
	want(t, "queue", d.s.(*capacity).root.used.MemoryMiB, 1024)
	want(t, "node", d.nodes[0].Free().MemoryMiB, 6*1024)
	want(t, "told", d.heard[len(d.heard)-1], "finished -100 true a/2 n0")
	d.s.NodeUpdate(d.nodes[0], []Ended{{c, KilledByRM}})
	want(t, "node", d.nodes[0].Free().MemoryMiB, 7*1024)
}

// A container that its application does not know of yet is asked for again if its node
// is lost; one that it knows of is not.
func TestLostBeforeAcquired(t *testing.T) {
	d := capacityDesk(t, 2, mib(8192, 8), map[string]string{"root.default.user-limit-factor": "2"})
	a := d.start("a", "default", "u")
	d.ask(a, 20, mib(1024, 1), 2, "c001")
	d.beat(d.nodes[1])
	want(t, "asked", a.table(20).count(Any), 0)
	d.s.NodeRemoved(d.nodes[1])
	want(t, "asked again", a.table(20).count(Any), 2)
	want(t, "at the host", a.table(20).count(d.nodes[1].Host), 2)
	want(t, "cluster", d.s.(*capacity).total.MemoryMiB, 8192)
}

// The end of an application frees all it has, also in the books of its queue and user.
func TestApplicationEnds(t *testing.T) {
	d := capacityDesk(t, 1, mib(8192, 8), nil)
	a := d.start("a", "default", "u")
	d.ask(a, 20, mib(1024, 1), 4, "c000")
	d.beat(d.nodes[0])
	d.s.AttemptRemoved(a)
	d.s.AppRemoved(a)
	s := d.s.(*capacity)
	want(t, "used", s.root.used, Resource{})
	want(t, "pending", s.root.pending, Resource{})
	want(t, "users", len(s.leafs[0].users.users), 0)
	want(t, "active users", len(s.leafs[0].users.asking), 0)
}

// With the ordering policy fair the application that uses less goes first.
func TestFairOrdering(t *testing.T) {
	serve := func(policy string) *App {
		d := capacityDesk(t, 2, mib(8192, 8), map[string]string{"root.default.ordering-policy": policy, "maximum-am-resource-percent": "1"})
		a, b := d.start("a", "default", "u"), d.start("b", "default", "u")
		d.ask(a, 20, mib(1024, 1), 3, "c001")
		d.beat(d.nodes[1])
		d.ask(a, 10, mib(1024, 1), 1)
		d.ask(b, 10, mib(1024, 1), 1)
		d.pull(a)
		d.beat(d.nodes[1])
		if len(b.granted) > 0 {
			return b
		}
		return a
	}
	want(t, "fifo", serve("fifo").Name, "a")
	want(t, "fair", serve("fair").Name, "b")
}

// By size an application's use counts by the logarithm of its demand: what it uses and
// what it asks for.
func TestFairOrderingBySize(t *testing.T) {
	d := capacityDesk(t, 2, mib(8192, 8), map[string]string{
		"root.default.ordering-policy": "fair", "root.default.ordering-policy.fair.enable-size-based-weight": "true",
	})
	a := d.start("a", "default", "u")
	d.ask(a, 20, mib(1024, 1), 3)
	l := a.capacity.leaf
	l.order()
	want(t, "uses", a.capacity.key, mib(1024, 1))
	want(t, "uses and asks for", a.capacity.wish, mib(4096, 4))
	want(t, "1023 by log2(1024)", l.magnitude(&capacityApp{key: mib(1023, 1), wish: mib(1023, 1)}), 102.3)
}

// Reservations are dropped in the order of two hash maps, of priorities and of nodes.
func TestOrderOfReservations(t *testing.T) {
	d := capacityDesk(t, 3, mib(8192, 8), nil)
	a := d.start("a", "default", "u")
	for _, b := range []struct {
		node     int
		priority Priority
	}{{1, 1}, {0, 1}, {2, 2}} {
		c := a.newContainer(d.nodes[b.node], mib(1024, 1), b.priority)
		a.book(c)
	}
	var nodes []int32
	for _, c := range a.reservations() {
		nodes = append(nodes, c.Node)
	}
	if !slices.Equal(nodes, []int32{2, 0, 1}) {
		t.Errorf("got nodes %v: want 2, 0, 1", nodes)
	}
}

// A queue has the largest allocation and the weights of users of the queue above it, unless
// it has its own. Tries of reservations count by that allocation.
func TestSettingsFromAbove(t *testing.T) {
	d := capacityDesk(t, 1, mib(8192, 8), map[string]string{
		"root.queues": "p", "root.p.capacity": "100", "root.p.queues": "a,b", "root.p.a.capacity": "50", "root.p.b.capacity": "50",
		"root.p.maximum-allocation-mb": "4096", "root.p.b.maximum-allocation-mb": "2048",
		"root.user-settings.u.weight": "0.5", "root.p.user-settings.v.weight": "0.4", "root.p.b.user-settings.v.weight": "0.3",
		"root.p.a.maximum-allocation-mb": "-1",
	})
	s := d.s.(*capacity)
	want(t, "of a", s.Normalize("root.p.a", mib(8000, 1)), mib(4096, 1))
	want(t, "of b", s.Normalize("root.p.b", mib(8000, 1)), mib(2048, 1))
	want(t, "largest in a", s.Largest("root.p.a"), mib(4096, 4))
	want(t, "largest in b", s.Largest("root.p.b"), mib(2048, 4))
	want(t, "key of a", maximumKey(s, "root.p.a", "mb", func(r Resource) int64 { return r.MemoryMiB }), capacityPrefix+"root.p.maximum-allocation-mb")
	want(t, "key of vcores", maximumKey(s, "root.p.b", "vcores", func(r Resource) int64 { return r.VCores }), "yarn.scheduler.maximum-allocation-vcores")
	want(t, "part of the largest", s.paths["root.p.b"].leastFactor, 0.5)
	a, b := s.paths["root.p.a"].leaf.users.weights, s.paths["root.p.b"].leaf.users.weights
	want(t, "u in a", a["u"], 0.5)
	want(t, "v in a", a["v"], 0.4)
	want(t, "v in b", b["v"], 0.3)
}

// Users in one queue get equal parts, whatever their number of jobs.
func TestUsersShare(t *testing.T) {
	d := capacityDesk(t, 4, mib(8192, 8), map[string]string{
		"root.default.minimum-user-limit-percent": "25", "maximum-am-resource-percent": "1", "per-node-heartbeat.maximum-offswitch-assignments": "100",
	})
	u1, u1b, u2 := d.start("a", "default", "u1"), d.start("b", "default", "u1"), d.start("c", "default", "u2")
	for _, a := range []*App{u1, u1b, u2} {
		d.ask(a, 20, mib(1024, 1), 40)
	}
	for _, n := range d.nodes {
		d.beat(n)
	}
	users := d.s.(*capacity).leafs[0].users.users
	if x, y := users["u1"].used.MemoryMiB/1024, users["u2"].used.MemoryMiB/1024; x+y != 32 || max(x-y, y-x) > 2 {
		t.Errorf("users have %d and %d of 32 containers: want halves", x, y)
	}
}

// 100 GiB, half guaranteed to each of two queues, one of which uses all: of the excess
// of 50 a round takes a tenth of the cluster, and a fifth of that; the same containers
// again until they are killed.
func TestPreemption(t *testing.T) {
	d := capacityDesk(t, 10, mib(10240, 10), map[string]string{
		"root.queues": "a,b", "root.a.capacity": "50", "root.b.capacity": "50", "root.a.user-limit-factor": "2", "root.b.user-limit-factor": "2",
		"per-node-heartbeat.maximum-offswitch-assignments": "100", "!yarn.resourcemanager.scheduler.monitor.enable": "true",
	})
	a := d.start("x", "a", "u")
	d.ask(a, 20, mib(1024, 1), 99)
	for _, n := range d.nodes {
		d.beat(n)
	}
	d.pull(a)
	b := d.submit("y", "b", "u", mib(1024, 1))
	d.s.Update(b, []Ask{{Priority: 20, Size: mib(1024, 1), Count: 49}}, nil, nil, nil)
	d.heard = nil
	d.until(14 * second)
	want(t, "warned only", len(d.heard), 0)
	d.until(18 * second)
	if got := strings.Join(d.heard, ", "); !strings.Contains(got, "finished -102 true x/100") || !strings.Contains(got, "finished -102 true x/99") || len(d.heard) != 2 {
		t.Errorf("got %s: want the two newest containers", got)
	}
}

// An application that has reserved as much as it asks for takes another node only by
// giving the reservation up; without that rule the other node is passed over.
func TestReservationIsGivenUp(t *testing.T) {
	for _, look := range []string{"true", "false"} {
		d := capacityDesk(t, 2, mib(8192, 8), map[string]string{
			"reservations-continue-look-all-nodes": look, "maximum-am-resource-percent": "1", "root.default.user-limit-factor": "10",
		})
		z := d.start("z", "default", "u")
		x := d.start("x", "default", "u")
		d.ask(z, 20, mib(1024, 1), 5)
		for range 6 {
			d.beat(d.nodes[0])
		}
		d.ask(x, 20, mib(4096, 1), 1)
		d.beat(d.nodes[0])
		if d.nodes[0].reserved == nil {
			t.Fatal("no reservation")
		}
		d.heard = nil
		d.beat(d.nodes[1])
		got, wanted := strings.Join(d.heard, ", "), ""
		if look == "true" {
			wanted = "allocated x/3 n1, finished -999 false x/2 n0"
		}
		want(t, "looking at all nodes "+look, got, wanted)
	}
}

// A container that may not leave its host is given there alone, and offers of other nodes
// do not count as missed.
func TestStrictLocality(t *testing.T) {
	for name, d := range map[string]*desk{
		"capacity": capacityDesk(t, 2, mib(8192, 8), map[string]string{"node-locality-delay": "-1"}), "fair": fairDesk(t, 2, mib(8192, 8), nil, queues(queue("default"))),
	} {
		queue := map[string]string{"capacity": "default", "fair": "root.default"}[name]
		a := d.start("a", queue, "u")
		rack := d.place("/default-rack")
		d.s.Update(a, []Ask{
			{Priority: 20, Place: d.place("c000"), Size: mib(1024, 1), Count: 1}, {Priority: 20, Place: rack, Size: mib(1024, 1), Count: 1, Strict: true},
			{Priority: 20, Size: mib(1024, 1), Count: 1, Strict: true},
		}, nil, nil, nil)
		d.pass()
		for range 3 {
			want(t, name+": elsewhere", d.beat(d.nodes[1]), 0)
		}
		want(t, name+": missed", a.at(20).chances, 0)
		want(t, name+": on its host", d.beat(d.nodes[0]), 1)
		d.s.Update(a, []Ask{
			{Priority: 10, Place: rack, Size: mib(1024, 1), Count: 1}, {Priority: 10, Size: mib(1024, 1), Count: 1, Strict: true},
		}, nil, nil, nil)
		d.pass()
		given := 0
		for range 4 {
			given += d.beat(d.nodes[1])
		}
		want(t, name+": in its rack", given, 1)
	}
}

// Where cores count, a queue is offered its part of each: b waits for 11 GiB and 41 cores,
// so 41 containers of a core go.
func TestPreemptionForCores(t *testing.T) {
	const monitor = "!yarn.resourcemanager.monitor.capacity.preemption."
	d := capacityDesk(t, 10, mib(10240, 10), map[string]string{
		"resource-calculator": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
		"root.queues":         "a,b", "root.a.capacity": "50", "root.b.capacity": "50", "root.a.user-limit-factor": "2", "root.b.user-limit-factor": "2",
		"per-node-heartbeat.maximum-offswitch-assignments": "100", "!yarn.resourcemanager.scheduler.monitor.enable": "true",
		monitor + "total_preemption_per_round": "1", monitor + "natural_termination_factor": "1",
	})
	a := d.start("x", "a", "u")
	d.ask(a, 20, mib(1024, 1), 99)
	for _, n := range d.nodes {
		d.beat(n)
	}
	d.pull(a)
	b := d.submit("y", "b", "u", mib(1024, 1))
	d.s.Update(b, []Ask{{Priority: 20, Size: mib(1024, 4), Count: 10}}, nil, nil, nil)
	d.heard = nil
	d.until(18 * second)
	want(t, "containers", len(d.heard), 41)
}

// Of what a queue shares out nothing may be cores: a queue of 4 GiB and 4 cores is above its
// guarantee of 1638 MiB and no core all the same (DominantResourceCalculator.calculateShare,
// 3.3.6: any amount of cores is infinitely much, and memory decides).
func TestSharesOfWhatIsNotThere(t *testing.T) {
	want(t, "above", dominant.compare(mib(3405, 0), mib(4096, 4), mib(1638, 0)), 1)
	want(t, "divided", dominant.divide(mib(3405, 0), mib(4096, 4), mib(1024, 0)), 4)
}

// Queue b has reserved 4 GiB on the first of three nodes of 8 GiB; 2 GiB are free there and
// 2 GiB elsewhere. If what is reserved counts as wanted, queue a is to give 4 GiB, and the two
// newest containers on that node go (ReservedContainerCandidatesSelector, 3.3.6); else
// nothing does, for a reservation counts as use.
func TestPreemptionForReservations(t *testing.T) {
	for setting, wanted := range map[string]string{"true": "finished -102 true x/5 n0,finished -102 true x/6 n0", "false": ""} {
		d := preemptionDesk(t, 3, mib(8192, 8), "root.queues", "a,b", "root.a.capacity", "50", "root.b.capacity", "50", "select_based_on_reserved_containers", setting)
		x := d.start("x", "a", "u")
		for i, count := range []int32{5, 8, 6} {
			d.ask(x, 20, mib(1024, 1), count)
			d.beat(d.nodes[i])
		}
		d.submit("y", "b", "u", mib(4096, 1))
		d.beat(d.nodes[0])
		d.pull(x)
		d.heard = nil
		d.until(18 * second)
		want(t, setting, strings.Join(d.heard, ","), wanted)
	}
}

// Queue b has its guarantee of 10 GiB and wants more while queue a has 89 GiB of the 80 that
// queue c leaves: only for balance beyond the guarantees is anything taken from a, and after
// a wait of its own (FifoCandidatesSelector, preemption-to-balance-queue-after-satisfied,
// 3.3.6). With a wait of 5 minutes, as by default, the choice is forgotten before.
func TestPreemptionBeyondGuarantees(t *testing.T) {
	for _, c := range []struct {
		setting, wait string
		until         int64
		wanted        bool
	}{{"true", "6000", 9, true}, {"false", "6000", 9, false}, {"true", "300000", 400, false}} {
		setting := c.setting
		d := preemptionDesk(t, 10, mib(10240, 10), "root.queues", "a,b,c", "root.a.capacity", "10", "root.b.capacity", "10", "root.c.capacity", "80",
			"preemption-to-balance-queue-after-satisfied.enabled", setting, "preemption-to-balance-queue-after-satisfied.max-wait-before-kill", c.wait)
		y := d.start("y", "b", "u")
		d.ask(y, 20, mib(1024, 1), 10)
		d.beat(d.nodes[0])
		d.beat(d.nodes[1])
		x := d.start("x", "a", "u")
		d.ask(x, 20, mib(1024, 1), 88)
		for _, n := range d.nodes {
			d.beat(n)
		}
		d.pull(x)
		d.ask(y, 20, mib(1024, 1), 30)
		d.heard = nil
		d.until(5 * second)
		want(t, setting+": warned only", len(d.heard), 0)
		d.until(c.until * second)
		want(t, setting+" "+c.wait+": taken", len(d.heard) > 0, c.wanted)
	}
}

// preemptionDesk has a monitor whose rounds take what they like. Settings come in pairs; of
// those with queues in them the prefix is left off, of others that of preemption.
func preemptionDesk(t *testing.T, nodes int, total Resource, settings ...string) *desk {
	all := map[string]string{
		"per-node-heartbeat.maximum-offswitch-assignments": "100", "maximum-am-resource-percent": "1", "!" + monitorEnabled: "true",
		"!" + preemptionPrefix + "total_preemption_per_round": "1",
	}
	for i := 0; i < len(settings); i += 2 {
		key := settings[i]
		if !strings.HasPrefix(key, "root.") {
			key = "!" + preemptionPrefix + key
		} else if strings.HasSuffix(key, ".capacity") {
			all[strings.TrimSuffix(key, "capacity")+"user-limit-factor"] = "100"
		}
		all[key] = settings[i+1]
	}
	return capacityDesk(t, nodes, total, all)
}

// ApplicationMasters go last, and only down to the part of the guarantee that they may
// have: of eight with 1 GiB each, six stay in a queue of 4 GiB that gives them half as
// much again, although four are too many.
func TestPreemptionOfMasters(t *testing.T) {
	const monitor = "!yarn.resourcemanager.monitor.capacity.preemption."
	d := capacityDesk(t, 1, mib(8192, 8), map[string]string{
		"root.queues": "a,b", "root.a.capacity": "50", "root.b.capacity": "50", "root.a.user-limit-factor": "2", "root.b.user-limit-factor": "2",
		"root.a.maximum-am-resource-percent": "1.5", "!yarn.resourcemanager.scheduler.monitor.enable": "true",
		monitor + "total_preemption_per_round": "1", monitor + "natural_termination_factor": "1",
	})
	for i := range 8 {
		d.start(fmt.Sprint("x", i), "a", "u")
	}
	d.submit("y", "b", "u", mib(4096, 1))
	d.heard = nil
	d.until(18 * second)
	if got := strings.Join(d.heard, ", "); got != "finished -102 true x7/1 n0, finished -102 true x6/1 n0" && got != "finished -102 true x6/1 n0, finished -102 true x7/1 n0" {
		t.Errorf("got %s: want the two newest ApplicationMasters", got)
	}
}

// What Hadoop refuses is refused with the name of the property.
func TestCapacityRefusals(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"root.queues", "", "root.queues"},
		{"root.default.capacity", "90", `root.default.capacity: got "90": want capacities below root that sum to 100, not to 90: root.default 90`},
		{"root.queues", "a,default,b", `root.default.capacity: got "100": want capacities below root that sum to 100, not to 170: root.a 10, root.default 100, root.b 60`},
		{"root.queues", "b,c,default", `root.c.capacity: got "50": want capacities below root that sum to 100, not to 210`},
		{"root.queues", "b,d", `root.d.capacity: got "[memory=1024,vcores=1]": want all queues below root in percent or all in resources`},
		{"root.default.maximum-capacity", "50", "at least the capacity"},
		{"root.default.ordering-policy", "lifo", "fifo or fair"},
		{"resource-calculator", "Mine", "DefaultResourceCalculator"},
		{"node-locality-delay", "x", "whole number"},
		{"root.default.maximum-allocation-mb", "9000", "at most yarn.scheduler.maximum-allocation-mb (8192)"},
		{"root.default.maximum-allocation-vcores", "5", "at most yarn.scheduler.maximum-allocation-vcores (4)"},
		{"root.user-settings.u.weight", "NaN", "a number"},
		{"root.user-settings.u.weight", "1.5", "from 0 to 1: 100 / minimum-user-limit-percent of root.default"},
	} {
		p := Properties{capacityPrefix + "root.queues": "default", capacityPrefix + "root.default.capacity": "100"}
		for q, capacity := range map[string]string{"a": "10", "b": "60", "c": "50", "d": "[memory=1024,vcores=1]"} {
			p[capacityPrefix+"root."+q+".capacity"] = capacity
		}
		p[capacityPrefix+c.key] = c.value
		if _, err := New(&model.YARN{Policy: "capacity", Properties: p}, release(t, ""), &desk{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %q: got %v, want %q in it", c.key, c.value, err, c.want)
		}
	}
	d := capacityDesk(t, 1, mib(8192, 8), nil)
	if err := d.s.AppAdded(&App{Queue: "nowhere"}); err == nil {
		t.Error("an unknown queue is accepted")
	}
}

// Above maximum-applications, and above its part that one user may have, applications
// are rejected.
func TestMaximumApplications(t *testing.T) {
	d := capacityDesk(t, 1, mib(8192, 8), map[string]string{"root.default.maximum-applications": "4", "root.default.minimum-user-limit-percent": "50"})
	add := func(user string) error { return d.s.AppAdded(&App{Queue: "default", User: user, Size: mib(1024, 1)}) }
	for _, user := range []string{"u", "u", "v"} {
		if err := add(user); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "a third of u", add("u"), error(errFull))
	want(t, "a second of v", add("v"), nil)
	want(t, "a fifth", add("w"), error(errFull))

	// A queue that states no number has its share of the system's.
	d = capacityDesk(t, 1, mib(8192, 8), map[string]string{"root.queues": "default,b", "root.default.capacity": "25", "root.b.capacity": "75", "maximum-applications": "8"})
	want(t, "the first of a quarter of 8", add("u"), nil)
	want(t, "the second", add("v"), nil)
	want(t, "the third", add("w"), error(errFull))
}

// Of queues that use nothing the one with the larger amount goes first, then the first
// in the list. Amounts that the cluster cannot hold are scaled to it, each by itself.
func TestQueuesOfAmounts(t *testing.T) {
	d := capacityDesk(t, 4, mib(8192, 8), map[string]string{
		"root.queues": "a,b,c", "root.a.capacity": "[memory=16384,vcores=8]", "root.b.capacity": "[memory=32768,vcores=8]", "root.c.capacity": "[memory=16384,vcores=8]",
		"maximum-am-resource-percent": "1",
	})
	for _, q := range []string{"a", "b", "c"} {
		d.submit("in-"+q, q, "u", mib(1024, 1))
	}
	for _, n := range d.nodes {
		d.beat(n)
	}
	want(t, "order", strings.Join(d.heard, ", "), "allocated in-b/1 n0, allocated in-a/1 n1, allocated in-c/1 n2")
	s := d.s.(*capacity)
	want(t, "a", s.paths["root.a"].guaranteed, mib(8192, 10))
	want(t, "b", s.paths["root.b"].guaranteed, mib(16384, 10))
}

// The headroom of an application follows what other queues leave to its own, as of the
// last offer to it.
func TestHeadroomFollowsTheQueue(t *testing.T) {
	d := capacityDesk(t, 4, mib(8192, 8), map[string]string{
		"root.queues": "a,b", "root.a.capacity": "50", "root.b.capacity": "50", "root.a.user-limit-factor": "2", "root.b.user-limit-factor": "2",
		"per-node-heartbeat.maximum-offswitch-assignments": "100", "maximum-am-resource-percent": "1",
	})
	a, b := d.start("x", "a", "u"), d.start("y", "b", "u")
	want(t, "while b is empty: the user's limit", d.headroom(a), mib(15*1024, 1))
	d.ask(b, 20, mib(1024, 1), 20)
	for _, n := range d.nodes[1:] {
		d.beat(n)
	}
	d.ask(a, 20, mib(1024, 1), 1)
	d.beat(d.nodes[0])
	want(t, "while b has 21 of 32 GiB", d.headroom(a), mib(9*1024, 9))
}

// Applications above the limit of parallel ones of their queue, of one above it or of
// their user wait, and run in the order of their start when one of those ends
// (CSMaxRunningAppsEnforcer).
func TestParallelApplications(t *testing.T) {
	two := map[string]string{
		"root.queues": "a,b", "root.a.capacity": "50", "root.b.capacity": "50", "root.default.capacity": "0", "maximum-am-resource-percent": "1",
	}
	for _, c := range []struct {
		name          string
		settings      map[string]string
		before, after string // that run, of those in a, a, b, b, of users x, y, x, y
	}{
		{"no limit", nil, "0123", "123"},
		{"of a queue", map[string]string{"root.a.max-parallel-apps": "1"}, "023", "123"},
		{"of each queue", map[string]string{"max-parallel-apps": "1", "root.max-parallel-apps": "9"}, "02", "12"},
		{"of root", map[string]string{"root.max-parallel-apps": "2"}, "01", "12"},
		{"of a user", map[string]string{"user.x.max-parallel-apps": "1"}, "013", "123"},
		{"of each user", map[string]string{"user.max-parallel-apps": "1", "user.y.max-parallel-apps": "2"}, "013", "123"},
	} {
		settings := maps.Clone(two)
		maps.Copy(settings, c.settings)
		d := capacityDesk(t, 4, mib(8192, 8), settings)
		var apps []*App
		for i := range 4 {
			d.now++
			apps = append(apps, d.submit(fmt.Sprint(i), []string{"a", "a", "b", "b"}[i], []string{"x", "y", "x", "y"}[i], mib(1024, 1)))
		}
		running := func() (list string) {
			for i, a := range apps {
				if a.capacity.ordered && !a.stopped {
					list += fmt.Sprint(i)
				}
			}
			return list
		}
		want(t, c.name+", before", running(), c.before)
		d.s.AttemptRemoved(apps[0])
		want(t, c.name+", after", running(), c.after)
	}
}

// Tries of reservations let an application reserve beyond what it asks for: as many nodes
// as tries by reservation, less the part of the largest container that it asks for.
func TestStarvedReservations(t *testing.T) {
	d := capacityDesk(t, 2, mib(8192, 8), nil)
	a := d.start("a", "default", "u")
	s := d.s.(*capacity)
	d.ask(a, 5, mib(2048, 1), 1)
	d.nodes[0].free, d.nodes[1].free = mib(1024, 1), mib(1024, 1)
	d.beat(d.nodes[0])
	want(t, "reserved", len(a.at(5).booked.list), 1)
	want(t, "at once", s.mayTake(a, 5, mib(2048, 1)), false)
	a.at(5).retries = 1
	want(t, "1 try x 3/4", s.mayTake(a, 5, mib(2048, 1)), false)
	a.at(5).retries = 2
	want(t, "2 tries x 3/4", s.mayTake(a, 5, mib(2048, 1)), true)
}

// What a queue at its limit has left is kept from its siblings, from 2.8 on: of 32 GiB one
// queue may have 16 and stops at 15, because it asks for 2.
func TestRoomOfAQueueAtItsLimit(t *testing.T) {
	for release, used := range map[string]int64{"2.7.7": 17, "3.3.6": 16} {
		d := capacityDesk(t, 4, mib(8192, 8), with(release, map[string]string{
			"root.queues": "a,b", "root.a.capacity": "50", "root.b.capacity": "50", "root.a.maximum-capacity": "50",
			"root.a.user-limit-factor": "2", "root.b.user-limit-factor": "2", "maximum-am-resource-percent": "1",
		}))
		a, b := d.start("x", "a", "u"), d.start("y", "b", "w")
		d.ask(a, 20, mib(2048, 1), 100)
		for a.used.MemoryMiB < 15*1024 {
			for _, n := range d.nodes {
				d.beat(n)
			}
		}
		d.ask(b, 20, mib(1024, 1), 100)
		for range 20 {
			for _, n := range d.nodes {
				d.beat(n)
			}
		}
		want(t, release, b.used.MemoryMiB/1024, used)
	}
}

// A user counts among those that ask while one of his applications asks for something,
// unless all of them wait for others to end.
func TestUsersThatAsk(t *testing.T) {
	d := capacityDesk(t, 1, mib(8192, 8), map[string]string{"max-parallel-apps": "1"})
	a := d.start("a", "default", "u")
	users := a.capacity.leaf.users
	d.ask(a, 10, mib(1024, 1), 3)
	d.ask(a, 20, mib(1024, 1), 3)
	want(t, "asks", users.active(), 1)
	d.submit("b", "default", "v", mib(1024, 1))
	want(t, "with one that waits", users.active(), 1)
	want(t, "of whom all count", len(users.users), 2)
	d.ask(a, 10, mib(1024, 1), 0)
	want(t, "at one priority", users.active(), 1)
	d.ask(a, 20, mib(1024, 1), 0)
	want(t, "at none", users.active(), 0)
}
