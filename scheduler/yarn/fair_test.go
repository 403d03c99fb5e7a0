package yarn

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
)

func queues(list ...model.AllocationQueue) *model.Allocations {
	return &model.Allocations{Queues: []model.AllocationQueue{{Name: "root", Queues: list}}}
}

func queue(name string, settings ...string) model.AllocationQueue {
	q := model.AllocationQueue{Name: name, Settings: map[string]string{}}
	for i := 0; i < len(settings); i += 2 {
		q.Settings[settings[i]] = settings[i+1]
	}
	return q
}

const several = "yarn.scheduler.fair.assignmultiple"

// fixed is a schedulable with given figures.
type fixedShares struct {
	least_, most_, used, demand Resource
	weight                      float32
	idle                        bool
	begun                       int64
	name                        string
	got                         Resource
}

func (f *fixedShares) wish() Resource  { return f.demand }
func (f *fixedShares) use() Resource   { return f.used }
func (f *fixedShares) least() Resource { return f.least_ }
func (f *fixedShares) most() Resource  { return f.most_ }
func (f *fixedShares) weigh() float32  { return f.weight }
func (f *fixedShares) since() int64    { return f.begun }
func (f *fixedShares) label() string   { return f.name }
func (f *fixedShares) running() bool   { return !f.idle }
func (f *fixedShares) fair() *Resource { return &f.got }

// 100 GB among three: by weight, with a minimum, with a maximum; who does not run gets
// nothing.
func TestFairShares(t *testing.T) {
	const gb = 1024
	give := func(list ...*fixedShares) []int64 {
		var all []schedulable
		for _, f := range list {
			if f.weight == 0 {
				f.weight = 1
			}
			if f.most_ == (Resource{}) {
				f.most_ = unbounded
			}
			all = append(all, f)
		}
		shareMemory(all, mib(100*gb, 0))
		var got []int64
		for _, f := range list {
			got = append(got, (f.got.MemoryMiB+gb/2)/gb)
		}
		return got
	}
	for _, c := range []struct{ got, want []int64 }{
		{give(&fixedShares{}, &fixedShares{}, &fixedShares{weight: 2}), []int64{25, 25, 50}},
		{give(&fixedShares{least_: mib(60*gb, 0)}, &fixedShares{}), []int64{60, 40}},
		{give(&fixedShares{most_: mib(10*gb, 0)}, &fixedShares{}, &fixedShares{}), []int64{10, 45, 45}},
		{give(&fixedShares{idle: true}, &fixedShares{}), []int64{0, 100}},
		{give(&fixedShares{most_: mib(10*gb, 0)}, &fixedShares{most_: mib(20*gb, 0)}), []int64{10, 20}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

// Under fifo the one that began first has everything, and the others keep what they had.
func TestFifoShares(t *testing.T) {
	a, b, c := &fixedShares{begun: 2, got: mib(1, 1)}, &fixedShares{begun: 1}, &fixedShares{begun: 3, got: mib(2, 2)}
	shareFirst([]schedulable{a, b, c}, mib(100, 10))
	want(t, "the second", a.got, mib(1, 1))
	want(t, "the first", b.got, mib(100, 10))
	want(t, "the third", c.got, mib(2, 2))
	shareFirst(nil, mib(100, 10))
}

// Who wants something goes before who does not, who is below its minimum before who is
// not; then use by weight, start and name decide.
func TestFairOrder(t *testing.T) {
	less := func(a, b *fixedShares) bool {
		return compareFair(Resource{}, a, b) < 0 && compareFair(Resource{}, b, a) > 0
	}
	base := func() *fixedShares { return &fixedShares{demand: mib(100, 0), used: mib(50, 0), weight: 1, name: "m"} }
	with := func(change func(*fixedShares)) *fixedShares {
		f := base()
		change(f)
		return f
	}
	for i, first := range []*fixedShares{
		with(func(f *fixedShares) { f.least_ = mib(60, 0) }),
		with(func(f *fixedShares) { f.used.MemoryMiB = 40 }),
		with(func(f *fixedShares) { f.weight = 2 }),
		with(func(f *fixedShares) { f.begun = -1 }),
		with(func(f *fixedShares) { f.name = "a" }),
	} {
		if !less(first, base()) {
			t.Errorf("%d does not go first", i)
		}
	}
	if !less(base(), with(func(f *fixedShares) { f.demand = Resource{} })) {
		t.Error("who wants nothing goes first")
	}
}

// Ghodsi's example: 9 cores and 18 GB; A asks for (1 core, 4 GB), B for (3 cores, 1 GB):
// A gets three containers and B two.
func TestDominantResourceFairness(t *testing.T) {
	file := queues(queue("a"), queue("b"))
	file.Settings = map[string]string{"defaultQueueSchedulingPolicy": "drf"}
	a, b := &fixedShares{weight: 1, name: "a"}, &fixedShares{weight: 1, name: "b"}
	cluster := mib(18*1024, 9)
	sizes := map[*fixedShares]Resource{a: mib(4096, 1), b: mib(1024, 3)}
	count := map[*fixedShares]int{}
	for used := (Resource{}); ; {
		f := a
		if sharings["drf"].compare(cluster, a, b) > 0 {
			f = b
		}
		if !used.Plus(sizes[f]).Within(cluster) {
			break
		}
		used = used.Plus(sizes[f])
		f.used = f.used.Plus(sizes[f])
		count[f]++
	}
	want(t, "A", count[a], 3)
	want(t, "B", count[b], 2)
}

// One container a heartbeat; with assignmultiple as many as half of what is free, the
// last beyond it, or a fixed number.
func TestAssignMultiple(t *testing.T) {
	beats := func(p Properties, total Resource) []int {
		d := fairDesk(t, 2, total, p, queues())
		a := d.start("a", "root.q", "u")
		d.ask(a, 20, mib(1024, 1), 60)
		var got []int
		for range 4 {
			got = append(got, d.beat(d.nodes[1]))
		}
		return got
	}
	for _, c := range []struct {
		p     Properties
		total Resource
		want  []int
	}{
		{Properties{}, mib(16384, 18), []int{1, 1, 1, 1}},
		{Properties{several: "true"}, mib(16384, 18), []int{9, 4, 2, 1}},
		{Properties{several: "true"}, mib(16384, 8), []int{5, 2, 1, 0}},
		{Properties{several: "true", "yarn.scheduler.fair.dynamic.max.assign": "false", "yarn.scheduler.fair.max.assign": "3"}, mib(8192, 8), []int{3, 3, 2, 0}},
	} {
		if got := beats(c.p, c.total); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.p, got, c.want)
		}
	}
}

// What was asked after the last update is not offered anything yet.
func TestDemandOfLastUpdate(t *testing.T) {
	d := fairDesk(t, 1, mib(8192, 8), Properties{}, queues())
	a := d.start("a", "root.q", "u")
	d.pass()
	d.s.Update(a, []Ask{{Priority: 20, Size: mib(1024, 1), Count: 1}}, nil, nil, nil)
	want(t, "before the update", d.beat(d.nodes[0]), 0)
	d.until(500 * second / 1000)
	want(t, "after it", d.beat(d.nodes[0]), 1)
}

// A queue may not pass its maximum.
func TestMaxResources(t *testing.T) {
	d := fairDesk(t, 2, mib(8192, 8), Properties{several: "true"}, queues(queue("q", "maxResources", "3072 mb, 8 vcores")))
	a := d.start("a", "root.q", "u")
	d.ask(a, 20, mib(1024, 1), 9)
	want(t, "beside the ApplicationMaster", d.beat(d.nodes[1]), 2)
}

// ApplicationMasters may take a part of the fair share of their queue.
func TestMaxAMShare(t *testing.T) {
	d := fairDesk(t, 2, mib(8192, 8), Properties{several: "true"}, queues(queue("q", "maxAMShare", "0.1")))
	for range 3 {
		d.submit("a", "root.q", "u", mib(1024, 1))
	}
	d.pass()
	want(t, "of 16384 x 0.1", d.beat(d.nodes[0]), 1)
	want(t, "no more", d.beat(d.nodes[1]), 0)
}

func runs(a *App) bool { return slices.Contains(a.fair.queue.apps, a) }

// Above maxRunningApps applications wait, and run in order of start.
func TestMaxRunningApps(t *testing.T) {
	file := queues(queue("q", "maxRunningApps", "1"))
	file.UserApps = map[string]string{"few": "1"}
	d := fairDesk(t, 1, mib(8192, 8), Properties{}, file)
	first, second, third := d.submit("a", "root.q", "u", mib(1024, 1)), d.submit("b", "root.q", "u", mib(1024, 1)), d.submit("c", "root.q", "u", mib(1024, 1))
	want(t, "second waits", runs(second), false)
	d.s.AttemptRemoved(first)
	want(t, "second runs", runs(second), true)
	want(t, "third waits", runs(third), false)
	d.submit("d", "root.r", "few", mib(1024, 1))
	want(t, "one of a user", runs(d.submit("e", "root.s", "few", mib(1024, 1))), false)
}

// Locality is relaxed after more offers than a part of the nodes, level by level.
func TestLocalityThreshold(t *testing.T) {
	d := fairDesk(t, 4, mib(8192, 8), Properties{"yarn.scheduler.fair.locality.threshold.node": "0.5", "yarn.scheduler.fair.locality.threshold.rack": "0.5"}, queues())
	a := d.start("a", "root.q", "u")
	d.s.Update(a, []Ask{{Priority: 20, Place: d.place("h"), Size: mib(1024, 1), Count: 5}, {Priority: 20, Size: mib(1024, 1), Count: 5}}, nil, nil, nil)
	d.pass()
	got := 0
	for i := range 9 {
		if d.beat(d.nodes[i%4]) > 0 {
			got = i + 1
			break
		}
	}
	want(t, "offers until away from the data", got, 6) // 3 to the rack, 3 beyond
}

// Only an application below its fair share reserves, and only for two steps or more.
func TestFairReservation(t *testing.T) {
	reserve := func(size int64) bool {
		d := fairDesk(t, 1, mib(8192, 8), Properties{several: "true"}, queues(queue("s"), queue("l")))
		s := d.start("s", "root.s", "u")
		l := d.start("l", "root.l", "u")
		d.ask(s, 20, mib(1024, 1), 6)
		for range 9 {
			d.beat(d.nodes[0])
		}
		d.ask(l, 20, mib(size, 1), 1)
		d.beat(d.nodes[0])
		return d.nodes[0].reserved != nil
	}
	want(t, "one step", reserve(1024), false)
	want(t, "three steps", reserve(3072), true)
}

// Under drf the dominant share decides who is below its fair share: l has little memory,
// but more than its share of the cores.
func TestDominantReservation(t *testing.T) {
	reserve := func(cores int64) bool {
		p := Properties{several: "true", "yarn.scheduler.maximum-allocation-vcores": "8"}
		file := queues(queue("s"), queue("l"))
		file.Settings = map[string]string{"defaultQueueSchedulingPolicy": "drf"}
		d := fairDesk(t, 1, mib(16384, 16), p, file)
		s := d.start("s", "root.s", "u")
		l := d.start("l", "root.l", "u")
		d.ask(l, 10, mib(1024, cores), 1)
		d.beat(d.nodes[0])
		d.ask(s, 20, mib(1024, 1), 15)
		for range 16 {
			d.beat(d.nodes[0])
		}
		d.ask(l, 20, mib(3072, 3), 1)
		d.beat(d.nodes[0])
		return d.nodes[0].reserved != nil
	}
	want(t, "2 of 16 cores", reserve(1), true)
	want(t, "9 of 16 cores", reserve(8), false)
}

// A starved application gets containers of those above their share: warned, killed
// 15 s later, and kept for it on that node.
func TestFairPreemption(t *testing.T) {
	p := Properties{several: "true", "yarn.scheduler.fair.preemption": "true"}
	d := fairDesk(t, 1, mib(8192, 8), p, queues(queue("a"), queue("b", "fairSharePreemptionTimeout", "5")))
	a := d.start("a", "root.a", "u")
	d.ask(a, 20, mib(1024, 1), 7)
	for range 9 {
		d.beat(d.nodes[0])
	}
	d.pull(a)
	b := d.submit("b", "root.b", "u", mib(1024, 1))
	d.pass()
	d.heard = nil
	d.until(19 * second)
	want(t, "waits", len(d.heard), 0)
	d.until(21 * second)
	if len(d.heard) != 1 || !strings.HasPrefix(d.heard[0], "finished -102 true a/") {
		t.Fatalf("got %v: want one container of a", d.heard)
	}
	d.beat(d.nodes[0])
	want(t, "b's ApplicationMaster", len(b.granted), 1)
}

// A queue that nothing may be taken from keeps those below it too, whatever they state
// (FSQueue.updatePreemptionVariables, 3.3.6).
func TestQueuesBelowOneThatIsSpared(t *testing.T) {
	up := queue("up", "allowPreemptionFrom", "false")
	up.Queues = append(up.Queues, queue("a", "allowPreemptionFrom", "true"))
	s := fairDesk(t, 1, mib(4096, 4), Properties{}, queues(up, queue("b"))).s.(*fair)
	want(t, "below", s.queues["root.up.a"].preemptable, false)
	want(t, "beside", s.queues["root.b"].preemptable, true)
}

// For a request at one node only an ApplicationMaster could go there; the other node has room
// without a victim, so that none is chosen (FSPreemptionThread.getBestPreemptableContainers,
// 3.3.6: containers of fewer ApplicationMasters go first, and none are fewer).
func TestNoMasterGoesWhereThereIsRoomElsewhere(t *testing.T) {
	d := fairDesk(t, 2, mib(4096, 4), Properties{}, queues(queue("a", "maxAMShare", "-1")))
	x, y := d.submit("x", "root.a", "u", mib(4096, 1)), d.submit("y", "root.a", "u", mib(1024, 1))
	d.pass()
	d.beat(d.nodes[0])
	d.beat(d.nodes[1])
	want(t, "ApplicationMasters", len(d.pull(x))+len(d.pull(y)), 2)
	x.fair.share, y.fair.share = Resource{}, mib(8192, 8)
	s := d.s.(*fair)
	want(t, "victims", len(s.best(Ask{Place: d.place("c000"), Size: mib(1024, 1), Count: 1}, d.nodes[:1])), 0)
}

// Headroom is what the queue's fair share leaves.
func TestFairHeadroom(t *testing.T) {
	d := fairDesk(t, 2, mib(8192, 8), Properties{}, queues(queue("a"), queue("b")))
	a := d.start("a", "root.a", "u")
	d.start("b", "root.b", "u")
	d.pass()
	want(t, "half of 16384 less its own", d.headroom(a), mib(8192-1024, 14))
}

// Amounts are read in all of Hadoop's forms.
func TestAmounts(t *testing.T) {
	for text, wanted := range map[string]Resource{
		"12288 mb, 12 vcores":           mib(12288, 12),
		"12288mb,12vcores":              mib(12288, 12),
		"memory-mb=2048, vcores=3":      mib(2048, 3),
		"50%":                           mib(500, 5),
		"20% memory, 50% cpu":           mib(200, 5),
		"vcores = 4 , memory-mb = 1024": mib(1024, 4),
	} {
		a, err := parseAmounts(text, unbounded)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		want(t, text, a.of(mib(1000, 10)), wanted)
	}
	for _, text := range []string{"", "many", "-5 mb", "5 apples", "x%"} {
		if _, err := parseAmounts(text, unbounded); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// Queues are made on demand; the default queue is the user's own.
func TestQueuesOnDemand(t *testing.T) {
	d := fairDesk(t, 1, mib(8192, 8), Properties{}, queues(queue("a")))
	want(t, "made", d.submit("x", "new.deep", "u", mib(1024, 1)).fair.queue.path, "root.new.deep")
	want(t, "of the user", d.submit("y", "default", "ann", mib(1024, 1)).fair.queue.path, "root.ann")
	if err := d.s.AppAdded(&App{Queue: "root.new"}); err == nil {
		t.Error("a parent queue takes an application")
	}
}

// A queue that is made has the default policy, which the one above it may forbid
// (QueueManager.createNewQueues, 3.3.6).
func TestQueueOnDemandOfAForbiddenPolicy(t *testing.T) {
	file := &model.Allocations{Queues: []model.AllocationQueue{queue("root", "schedulingPolicy", "fair")}}
	file.Settings = map[string]string{"defaultQueueSchedulingPolicy": "drf"}
	d := fairDesk(t, 1, mib(8192, 8), Properties{}, file)
	if err := d.s.AppAdded(&App{Queue: "new", User: "u"}); err == nil {
		t.Error("a queue of the policy drf is made below one of the policy fair")
	}
}

// Of applications that began together and wait in two queues, the one of the queue that
// Hadoop has made first runs first, whatever the order of the file.
func TestQueuesAreMadeInTheOrderOfHashes(t *testing.T) {
	file := queues(queue("b"), queue("a"))
	file.Queues[0].Settings = map[string]string{"maxRunningApps": "1"}
	d := fairDesk(t, 1, mib(8192, 8), Properties{}, file)
	first := d.submit("x", "root.b", "u", mib(1024, 1))
	b, a := d.submit("y", "root.b", "u", mib(1024, 1)), d.submit("z", "root.a", "u", mib(1024, 1))
	d.s.AttemptRemoved(first)
	want(t, "in a", a.runs, true)
	want(t, "in b", b.runs, false)
}

// The defaults of the file hold for root too, what root says of queues below it for those
// that the file does not name, and a minimum of one resource leaves the other at none.
func TestRootAndDefaults(t *testing.T) {
	file := queues(queue("a", "minResources", "memory-mb=2048"), queue("b"))
	file.Queues[0].Settings = map[string]string{"maxChildResources": "4096 mb, 2 vcores"}
	file.Settings = map[string]string{"queueMaxAppsDefault": "1"}
	d := fairDesk(t, 1, mib(8192, 8), Properties{"yarn.resource-types.memory-mb.increment-allocation": "512"}, file)
	s := d.s.(*fair)
	want(t, "first", d.submit("x", "root.a", "u", mib(1024, 1)).runs, true)
	want(t, "second of root", d.submit("y", "root.b", "u", mib(1024, 1)).runs, false)
	want(t, "made", d.submit("z", "root.new", "u", mib(1024, 1)).fair.queue.most(), mib(4096, 2))
	want(t, "of the file", s.queues["root.b"].most(), unbounded)
	want(t, "minimum", s.queues["root.a"].least(), mib(2048, 0))
	want(t, "increment", s.Normalize("root.a", mib(1100, 1)), mib(1536, 1))
}

func TestFairRefusals(t *testing.T) {
	for _, q := range []model.AllocationQueue{
		queue("q", "weight", "heavy"), queue("q", "weight", "NaN"), queue("q", "maxResources", "lots"), queue("q", "schedulingPolicy", "lifo"), queue("q", "schedulingPolicy", "drf"),
		{Name: "q", Settings: map[string]string{"schedulingPolicy": "fifo"}, Queues: []model.AllocationQueue{queue("below")}},
		{Name: "q", Settings: map[string]string{"maxAMShare": "0.3"}, Queues: []model.AllocationQueue{queue("below")}},
	} {
		if _, err := New(&model.YARN{Policy: "fair", Allocations: queues(q)}, release(t, ""), &desk{}); err == nil || !strings.Contains(err.Error(), "root.q") {
			t.Errorf("%v: got %v, want an error that names the queue", q.Settings, err)
		}
	}
	file := &model.Allocations{Settings: map[string]string{"defaultQueueSchedulingPolicy": "FIFO"}}
	_, err := New(&model.YARN{Policy: "fair", Allocations: file}, release(t, ""), &desk{})
	want(t, "fifo without queues", fmt.Sprint(err), `queue root: defaultQueueSchedulingPolicy: got "FIFO": want fair or drf`)
}

// A queue bounds its containers and those of the queues below it.
func TestMaxContainerAllocation(t *testing.T) {
	d := fairDesk(t, 1, mib(8192, 8), nil, queues(
		model.AllocationQueue{Name: "p", Settings: map[string]string{"maxContainerAllocation": "2048 mb, 9 vcores"}, Queues: []model.AllocationQueue{queue("a")}}, queue("b")))
	want(t, "below p", d.s.Largest("root.p.a"), mib(2048, 4))
	want(t, "of b", d.s.Largest("root.b"), mib(8192, 4))
	want(t, "key", maximumKey(d.s, "root.p.a", "mb", func(r Resource) int64 { return r.MemoryMiB }), "queue root.p: maxContainerAllocation")
}

// Each level of locality has its threshold: of 4 nodes the rack serves after more than 1
// offer, whatever the threshold of other racks.
func TestThresholdOfEachLevel(t *testing.T) {
	for _, c := range []struct {
		node, rack string
		offers     int
	}{{"0.25", "1", 2}, {"1", "0.25", 5}} {
		d := fairDesk(t, 4, mib(8192, 8), Properties{"yarn.scheduler.fair.locality.threshold.node": c.node, "yarn.scheduler.fair.locality.threshold.rack": c.rack}, queues())
		a := d.start("a", "root.q", "u")
		d.ask(a, 20, mib(1024, 1), 5, "elsewhere")
		got := 1
		for ; got < 9 && d.beat(d.nodes[got%4]) == 0; got++ {
		}
		want(t, c.node+" and "+c.rack, got, c.offers)
	}
}

// With continuous scheduling all nodes are offered again after each sleep.
func TestContinuousScheduling(t *testing.T) {
	const ms = second / 1000
	d := fairDesk(t, 1, mib(8192, 8), Properties{"yarn.scheduler.fair.continuous-scheduling-enabled": "true", "yarn.scheduler.fair.continuous-scheduling-sleep-ms": "50"}, queues())
	a := d.start("a", "root.q", "u")
	d.ask(a, 20, mib(1024, 1), 5)
	d.until(1 * ms)
	want(t, "the first round", len(a.granted), 1)
	d.until(49 * ms)
	want(t, "asleep", len(a.granted), 1)
	d.until(50 * ms)
	want(t, "the next round", len(a.granted), 2)
}

// Continuous scheduling visits nodes with equally much room in the order of a hash map
// that has grown with the cluster and does not shrink with it: of 32 buckets c006 comes
// first, of 64 c007.
func TestNodesStayInTheirBuckets(t *testing.T) {
	visited := func(nodes int) string {
		d := fairDesk(t, nodes, mib(8192, 8), Properties{"yarn.scheduler.fair.continuous-scheduling-enabled": "true"}, queues())
		for i, n := range d.nodes {
			if i != 6 && i != 7 {
				d.s.NodeRemoved(n)
			}
		}
		d.submit("a", "root.q", "u", mib(1024, 1))
		d.pass()
		d.until(1)
		return d.heard[len(d.heard)-1]
	}
	want(t, "24 nodes", visited(24), "allocated a/1 n6")
	want(t, "25 nodes", visited(25), "allocated a/1 n7")
}

// A node that is preempted for an application is not reserved by it.
func TestNoReservationOfAPreemptedNode(t *testing.T) {
	d := fairDesk(t, 1, mib(8192, 8), Properties{}, queues(queue("a"), queue("b")))
	a, b := d.start("a", "root.a", "u"), d.start("b", "root.b", "u")
	d.pass()
	n := d.nodes[0]
	d.s.(*fair).node(n).claims = []claim{{app: a.fair, size: mib(1024, 1)}}
	want(t, "its own", a.fair.mayReserve(n, mib(4096, 1), nodeLocal), false)
	want(t, "another's", b.fair.mayReserve(n, mib(4096, 1), nodeLocal), true)
}
