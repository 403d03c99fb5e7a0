package yarn

import (
	"fmt"
	"slices"
	"testing"

	"github.com/slotwave/slotwave/model"
	policy "github.com/slotwave/slotwave/scheduler/yarn"
	"github.com/slotwave/slotwave/sim/engine"
)

// recorded is the release whose decisions are recorded.
var recorded, _ = model.FindRelease("3.3.6")

const ms = engine.Time(1e6)

var small = model.Resource{MemoryMiB: 1024, VCores: 1}

// cluster makes nodes of 4 GiB that register 100 ms after each other, with one queue.
func cluster(nodes int, work ...Submission) Config {
	c := Config{
		Engine: engine.New(), Heartbeat: 1000 * ms, Kill: 50 * ms, Expiry: 15000 * ms, AMExpiry: 600000 * ms, Work: work,
		Scheduler: func(l policy.Listener) (policy.Scheduler, error) {
			const prefix = "yarn.scheduler.capacity."
			return policy.New(&model.YARN{Policy: "capacity", Properties: policy.Properties{
				prefix + "root.queues": "default", prefix + "root.default.capacity": "100", prefix + "maximum-am-resource-percent": "1",
			}}, recorded.YARN, l)
		},
	}
	for i := range nodes {
		c.Nodes = append(c.Nodes, NodeConfig{
			Name: fmt.Sprintf("c%03d", i), Rack: "/default-rack", Total: model.Resource{MemoryMiB: 4096, VCores: 4},
			First: engine.Time(100*i) * ms, Dies: engine.Never,
		})
	}
	return c
}

func submission(at engine.Time, app func(attempt int) Application) Submission {
	return Submission{Name: "a", Queue: "default", User: "u", At: at, AM: small, Attempts: 2, Launch: 2050 * ms, Interval: 1000 * ms, New: app}
}

// script is an ApplicationMaster that does at each beat what a function says.
type script struct {
	m      Master
	beats  []engine.Time
	beat   func(s *script, n int) // the n-th, from 1
	heard  []string
	silent bool
}

func (s *script) Start(m Master)    { s.m = m }
func (s *script) Beating() bool     { return !s.silent }
func (s *script) Idle() bool        { return false }
func (s *script) Died(c *Container) { s.hear("died", c) }
func (s *script) Lost()             { s.heard = append(s.heard, "lost") }
func (s *script) Killed(c *Container) {
	s.hear(fmt.Sprint("killed at ", int64(s.m.Now()/ms)), c)
}

func (s *script) hear(what string, c *Container) {
	s.heard = append(s.heard, fmt.Sprintf("%s %d", what, c.Number))
}

func (s *script) Beat() {
	s.beats = append(s.beats, s.m.Now())
	s.beat(s, len(s.beats))
}

func run(t *testing.T, c Config, until engine.Time) *ResourceManager {
	t.Helper()
	rm, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := rm.Run(until); err != nil {
		t.Fatal(err)
	}
	return rm
}

func want[T comparable](t *testing.T, what string, got, wanted T) {
	t.Helper()
	if got != wanted {
		t.Errorf("%s: got %v, want %v", what, got, wanted)
	}
}

// The life of an application: its ApplicationMaster comes with a node's heartbeat, starts
// at once, registers after its launch, beats a second later; what it asks for is known
// to it one beat after; it ends one second after it first unregisters.
func TestLifeOfAnApplication(t *testing.T) {
	job := &FixedJob{
		Groups: []FixedGroup{{Priority: 1, Size: small, Times: []engine.Time{3000 * ms, 4020 * ms}}},
		Launch: 1000 * ms, Exit: 100 * ms,
		HostOf: func(int32) string { return "" }, RackOf: func(string) string { return "" }, Slowness: func(int32) float64 { return 1.5 },
	}
	var finished engine.Time
	rm := run(t, cluster(1, submission(1500*ms, func(int) Application { return job.New(func(at engine.Time) { finished = at }) })), engine.Never-1)
	a := rm.Applications()[0]
	want(t, "allocated", a.AMAllocated, 2000*ms)
	want(t, "registered", a.Registered, 4050*ms)
	rows := rm.Rows()
	want(t, "first task given", rows[1].Allocated, 6000*ms) // asked at 5050
	want(t, "known", rows[1].Acquired, 6050*ms)
	want(t, "its end", rows[1].End, 6050*ms+1000*ms+4500*ms)
	want(t, "second task given", rows[2].Allocated, 7000*ms) // one container a beat
	want(t, "tasks ended", finished, 15050*ms)
	want(t, "unregistered", a.Unregistered, 16050*ms)
	want(t, "over", a.Ended, 16150*ms)
	want(t, "succeeded", a.Succeeded, true)
}

// The end of a container calls for a heartbeat at once, and moves the node's phase.
func TestEndMovesTheHeartbeat(t *testing.T) {
	s := &script{}
	s.beat = func(s *script, n int) {
		switch r := (AllocateRequest{}); n {
		case 1:
			r.Asks = []Ask{{Priority: 1, Size: small, Count: 2}}
			s.m.Allocate(r)
		default:
			for _, c := range s.m.Allocate(r).Granted {
				s.m.Launch(c)
				s.m.At(s.m.Now()+1300*ms, func() { s.m.Ended(c, Success) })
			}
		}
	}
	rm := run(t, cluster(1, submission(1500*ms, func(int) Application { return s })), 20000*ms)
	rows := rm.Rows()
	want(t, "first given", rows[1].Allocated, 6000*ms)
	want(t, "first freed", rows[1].Freed, 7350*ms)
	want(t, "second given at a regular beat", rows[2].Allocated, 7000*ms)
	want(t, "phase", rm.nodes[0].lastHeard()%(1000*ms), (rows[2].End)%(1000*ms))
}

// A regular heartbeat in the instant of an end stands: the node beats twice.
func TestTwoHeartbeatsInOneInstant(t *testing.T) {
	s := &script{}
	s.beat = func(s *script, n int) {
		r := AllocateRequest{}
		if n == 1 {
			r.Asks = []Ask{{Priority: 1, Size: small, Count: 3}}
		}
		for _, c := range s.m.Allocate(r).Granted {
			s.m.Launch(c)
			if c.Number == 2 {
				s.m.At(7000*ms, func() { s.m.Ended(c, Success) })
			}
		}
	}
	rm := run(t, cluster(1, submission(1500*ms, func(int) Application { return s })), 9000*ms)
	rows := rm.Rows()
	want(t, "first", rows[1].Allocated, 6000*ms)
	want(t, "two at once", rows[2].Allocated == 7000*ms && rows[3].Allocated == 7000*ms, true)
}

// A container that is released reaches its node with a later heartbeat's answer; the
// process is gone after the kill delay, and its end is told at the next beat but one.
func TestReleaseOfARunningContainer(t *testing.T) {
	s := &script{}
	var c *Container
	s.beat = func(s *script, n int) {
		r := AllocateRequest{}
		switch n {
		case 1:
			r.Asks = []Ask{{Priority: 1, Size: small, Count: 1}}
		case 4:
			r.Releases = []*Container{c}
		}
		answer := s.m.Allocate(r)
		if len(answer.Granted) > 0 {
			c = answer.Granted[0]
			s.m.Launch(c)
		}
		for _, e := range answer.Ended {
			s.heard = append(s.heard, fmt.Sprintf("beat %d: %d", n, e.Exit))
		}
	}
	rm := run(t, cluster(2, submission(1550*ms, func(int) Application { return s })), 12000*ms)
	r := rm.Rows()[1]
	want(t, "freed for the queue", r.Freed, s.beats[3])
	if len(s.heard) != 2 || s.heard[1] != "beat 5: -100" {
		t.Errorf("heard %v: want the kill, and the end in the fifth beat", s.heard)
	}
	if r.End <= r.Freed || r.End > r.Freed+1050*ms {
		t.Errorf("gone at %v, ordered at %v: want within a heartbeat and the kill delay", r.End, r.Freed)
	}
}

// A node that falls silent is given up at the first check after its expiry: its
// containers are told as aborted, and the node as unusable.
func TestLostNode(t *testing.T) {
	s := &script{}
	var nodes []NodeReport
	s.beat = func(s *script, n int) {
		r := AllocateRequest{}
		if n == 1 {
			r.Asks = []Ask{{Priority: 1, Size: small, Count: 4}}
		}
		a := s.m.Allocate(r)
		for _, c := range a.Granted {
			s.m.Launch(c)
		}
		for _, e := range a.Ended {
			s.heard = append(s.heard, fmt.Sprintf("%d at %d", e.Exit, int64(s.m.Now()/ms)))
		}
		nodes = append(nodes, a.Nodes...)
	}
	c := cluster(2, submission(1050*ms, func(int) Application { return s }))
	c.Nodes[0].Dies = 9500 * ms
	rm := run(t, c, 40000*ms)
	want(t, "ApplicationMaster", rm.Applications()[0].AMNode, 1)
	var lost engine.Time
	for _, r := range rm.Rows() {
		if r.Node == 0 {
			lost = r.Freed
			want(t, "exit", r.Exit, Aborted)
			want(t, "end", r.End, None)
		}
	}
	want(t, "given up", lost, 25000*ms) // 9000 + 15000, at the next multiple of 5000
	want(t, "reports", len(nodes), 1)
	if !slices.Contains(s.heard, "died 2") && !slices.Contains(s.heard, "died 3") {
		t.Errorf("heard %v: want the death of containers", s.heard)
	}
}

// With the node of an ApplicationMaster its application gets another attempt, and what
// the first one had is killed.
func TestLostApplicationMaster(t *testing.T) {
	var attempts []int
	c := cluster(2, submission(1050*ms, func(attempt int) Application {
		attempts = append(attempts, attempt)
		return &script{beat: func(s *script, n int) { s.m.Allocate(AllocateRequest{}) }}
	}))
	c.Nodes[1].Dies = 5000 * ms
	rm := run(t, c, 40000*ms)
	if !slices.Equal(attempts, []int{1, 2}) {
		t.Fatalf("attempts %v: want two", attempts)
	}
	rows := rm.Rows()
	want(t, "first", rows[0].Exit, Aborted)
	want(t, "second on", rows[1].Node, 0)
	want(t, "its number", rows[1].Number, 1)
	want(t, "its attempt", rows[1].Attempt, 2)
}

// Attempts that end with one node all leave their queue before the new ones of their
// applications come: an application that waited for them goes first.
func TestAttemptsLeaveBeforeOthersCome(t *testing.T) {
	var work []Submission
	for i, name := range []string{"x", "y", "waiting"} {
		s := submission(engine.Time(1050+1000*i)*ms, func(int) Application {
			return &script{beat: func(s *script, n int) { s.m.Allocate(AllocateRequest{}) }}
		})
		s.Name = name
		work = append(work, s)
	}
	c := cluster(2, work...)
	c.Nodes[1].Dies = 3500 * ms // with both of the ApplicationMasters that the queue may have
	c.Scheduler = func(l policy.Listener) (policy.Scheduler, error) {
		const prefix = "yarn.scheduler.capacity."
		return policy.New(&model.YARN{Policy: "capacity", Properties: policy.Properties{
			prefix + "root.queues": "default", prefix + "root.default.capacity": "100", prefix + "maximum-am-resource-percent": "0.25",
		}}, recorded.YARN, l)
	}
	rows := run(t, c, 25000*ms).Rows()
	want(t, "first", rows[0].Application+" "+rows[1].Application, "x y")
	want(t, "after both", rows[2].Application, "waiting")
}

// The process of an ApplicationMaster that is preempted is stopped at once, not with the
// next heartbeat of its node.
func TestPreemptedApplicationMaster(t *testing.T) {
	idle := func(int) Application {
		return &script{beat: func(s *script, n int) { s.m.Allocate(AllocateRequest{}) }}
	}
	first, second := submission(1050*ms, idle), submission(8050*ms, idle)
	first.Queue, first.AM, second.Queue = "root.a", model.Resource{MemoryMiB: 4096, VCores: 1}, "root.b"
	c := cluster(1, first, second)
	c.Scheduler = func(l policy.Listener) (policy.Scheduler, error) {
		return policy.New(&model.YARN{
			Policy:     "fair",
			Properties: policy.Properties{"yarn.scheduler.fair.preemption": "true", "yarn.scheduler.fair.waitTimeBeforeKill": "1200"},
			Allocations: &model.Allocations{
				Settings: map[string]string{"defaultFairSharePreemptionTimeout": "1"},
				Queues:   []model.AllocationQueue{{Name: "a", Settings: map[string]string{"weight": "0", "maxAMShare": "-1"}}, {Name: "b"}},
			},
		}, recorded.YARN, l)
	}
	row := run(t, c, 20000*ms).Rows()[0]
	want(t, "exit", row.Exit, Preempted)
	want(t, "stopped", row.End, row.Freed+c.Kill)
}

// The FairScheduler rejects an application of a queue that is no leaf, and goes on with others.
func TestRejectedApplication(t *testing.T) {
	done := func(int) Application {
		return &script{beat: func(s *script, n int) { s.silent = true; s.m.Exit() }}
	}
	first, second := submission(1050*ms, done), submission(1100*ms, done)
	first.Queue, second.Queue = "root.a", "root.a.b"
	c := cluster(1, first, second)
	c.Scheduler = func(l policy.Listener) (policy.Scheduler, error) {
		return policy.New(&model.YARN{Policy: "fair", Allocations: &model.Allocations{
			Queues: []model.AllocationQueue{{Name: "a", Queues: []model.AllocationQueue{{Name: "b"}}}},
		}}, recorded.YARN, l)
	}
	rm := run(t, c, engine.Never-1)
	want(t, "rejected", rm.Rejected(0) != nil, true)
	want(t, "at once", rm.Applications()[0].Ended, 1050*ms)
	want(t, "the other one", rm.Rejected(1) == nil, true)
	want(t, "has a container", rm.Rows()[0].Allocated > 0, true)
}

// An ApplicationMaster that exits without a word fails, twice at most.
func TestFailedApplicationMaster(t *testing.T) {
	attempts := 0
	rm := run(t, cluster(1, submission(1500*ms, func(int) Application {
		attempts++
		return &script{beat: func(s *script, n int) { s.silent = true; s.m.Exit() }}
	})), engine.Never-1)
	want(t, "attempts", attempts, 2)
	want(t, "succeeded", rm.Applications()[0].Succeeded, false)
}

// Of calls for one instant the first one set comes first; a stopped one does not come,
// also if its place serves another by then.
func TestAgenda(t *testing.T) {
	g := newAgenda(engine.New(), 2, func() bool { return true })
	var got []int
	add := func(n int) func() { return func() { got = append(got, n) } }
	g.at(5, add(1))
	g.at(3, func() {
		g.at(5, add(4))
		got = append(got, 0)
	})
	stopped := g.at(5, add(2))
	g.at(5, add(3))
	stopped.Stop()
	g.at(6, add(5))
	stopped.Stop()
	for g.e.Step() {
	}
	if !slices.Equal(got, []int{0, 1, 3, 4, 5}) {
		t.Errorf("got %v", got)
	}
}

// Series that forked from a series of heartbeats keep their order, whether heartbeats of
// theirs are left out or not: each runs after the one that set it, the last one set first.
func TestForksOfASeries(t *testing.T) {
	for _, rests := range []bool{false, true} {
		g := newAgenda(engine.New(), 2, func() bool { return true })
		var got []string
		var all [3]series
		for i, name := range []string{"heartbeat", "early", "late"} {
			all[i] = series{g: g, interval: 2, do: func() {
				got = append(got, name)
				all[i].beat()
				now := g.e.Now()
				if i == 0 && (now == 5 || now == 7) {
					all[(now-3)/2].beat()
					all[(now-3)/2].wake()
				}
				if !rests || i == 0 || now != 9 {
					all[i].wake()
				}
			}}
		}
		g.at(1, all[0].do)
		g.at(14, func() {
			for i := range all {
				all[i].wake()
			}
			got = nil
		})
		for g.e.StepBy(15) {
		}
		if !slices.Equal(got, []string{"heartbeat", "late", "early"}) {
			t.Errorf("heartbeats left out: %v: got %v", rests, got)
		}
	}
}

// An update and a heartbeat a period apart keep their order when they fall together: the
// update that was set before the first heartbeat, at the registration at 0.1 s, sees at
// 2.1 s the application of 1.5 s, and the heartbeat after it starts it.
func TestUpdateInTheInstantOfAHeartbeat(t *testing.T) {
	c := cluster(1, submission(1500*ms, func(int) Application { return &script{beat: func(s *script, n int) { s.silent = true }} }))
	c.Nodes[0].First = 100 * ms
	c.Work[0].Queue = "root.q"
	c.Scheduler = func(l policy.Listener) (policy.Scheduler, error) {
		return policy.New(&model.YARN{
			Policy: "fair", Properties: policy.Properties{"yarn.scheduler.fair.update-interval-ms": "1000"}, Allocations: &model.Allocations{},
		}, recorded.YARN, l)
	}
	rm := run(t, c, 4000*ms)
	want(t, "ApplicationMaster given", rm.Applications()[0].AMAllocated, 2100*ms)
}

// A given container goes to the waiting task whose data is nearest: on the node, else in
// its rack, else the first.
func TestContainersGoToNearData(t *testing.T) {
	rackOf := func(host string) string { return map[string]string{"c000": "/a", "c001": "/b", "c002": "/b"}[host] }
	w := waitingTasks{asked: make([]int32, 3), atHost: map[string]*taskQueue{}, atRack: map[string]*taskQueue{}}
	for i, host := range []string{"c000", "c001", "c002"} {
		w.add(i, []string{host}, rackOf)
	}
	best := func(host string) [2]int {
		task, near := w.best(host, rackOf)
		w.take(task)
		return [2]int{task, near}
	}
	want(t, "on its node", best("c002"), [2]int{2, 0})
	want(t, "in its rack", best("c002"), [2]int{1, 1})
	want(t, "elsewhere", best("c002"), [2]int{0, 2})
}

// What has ended is told in the order of a ConcurrentHashMap of the nodes, which has 32
// buckets from twelve nodes on.
func TestOrderOfEndedContainers(t *testing.T) {
	rm, err := New(cluster(12))
	if err != nil {
		t.Fatal(err)
	}
	var ended []Ended
	for i := range rm.nodes {
		ended = append(ended, Ended{Container: &Container{Node: int32(i)}})
	}
	for n, slots := range map[int]int{11: 16, 12: 32} {
		told := rm.dealer.byNode(&attempt{rm: rm, slots: 16}, ended[:n], nil)
		if !slices.IsSortedFunc(told, func(x, y Ended) int {
			return rm.nodes[x.Container.Node].book.Slot(slots) - rm.nodes[y.Container.Node].book.Slot(slots)
		}) {
			t.Errorf("%d nodes: not in the order of %d buckets", n, slots)
		}
	}
}

// What a call sets for its own instant and another class runs before the next call of that
// instant; a call that is set for it runs after those that were set before.
func TestCallsOfOneInstant(t *testing.T) {
	e := engine.New()
	g := newAgenda(e, 1000*ms, func() bool { return true })
	var ran []string
	note := func(what string) func() { return func() { ran = append(ran, what) } }
	ends := e.NewTimer(engine.Completion, 0, func(int32) { note("end")() })
	g.at(10*ms, func() {
		note("first")()
		ends.Reset(e.Now())
		g.at(e.Now(), note("third"))
	})
	g.at(10*ms, note("second"))
	g.at(10*ms, note("stopped")).Stop()
	for e.Step() {
	}
	if want := []string{"first", "end", "second", "third"}; !slices.Equal(ran, want) {
		t.Errorf("got %v, want %v", ran, want)
	}
}
