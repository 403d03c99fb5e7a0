package yarn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/slotwave/slotwave/model"
	policy "github.com/slotwave/slotwave/scheduler/yarn"
	"github.com/slotwave/slotwave/sim/engine"
)

// world is a random cluster with random applications.
type world struct {
	rng      *rand.Rand
	config   Config
	finished int
	dominant bool
}

func (w *world) pick(list ...string) string { return list[w.rng.IntN(len(list))] }

func newWorld(seed uint64) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 1))}
	w.config = cluster(3 + w.rng.IntN(6))
	for i := range w.config.Nodes {
		n := &w.config.Nodes[i]
		n.Total = model.Resource{MemoryMiB: int64(8+w.rng.IntN(9)) * 1024, VCores: int64(8 + w.rng.IntN(9))}
		n.First = engine.Time(w.rng.IntN(1000)) * ms
		if i > 0 && w.rng.IntN(10) == 0 {
			n.Dies = engine.Time(5000+w.rng.IntN(60000)) * ms
		}
	}
	switch w.rng.IntN(5) {
	case 0:
		w.config.Scheduler = func(l policy.Listener) (policy.Scheduler, error) {
			return policy.New(&model.YARN{Policy: "fifo"}, recorded.YARN, l)
		}
	case 1, 2:
		w.capacity()
	default:
		w.fair()
	}
	for i := range 1 + w.rng.IntN(6) {
		w.add(i)
	}
	return w
}

func (w *world) capacity() {
	const prefix = "yarn.scheduler.capacity."
	part := 30 + w.rng.IntN(40)
	p := policy.Properties{
		prefix + "root.queues": "a,b", prefix + "root.a.capacity": strconv.Itoa(part), prefix + "root.b.capacity": strconv.Itoa(100 - part),
		prefix + "maximum-am-resource-percent": w.pick("0.1", "0.3"), prefix + "root.a.user-limit-factor": w.pick("1", "2", "10"),
		prefix + "root.a.ordering-policy": w.pick("fifo", "fair"), prefix + "node-locality-delay": w.pick("-1", "2", "40"),
		prefix + "per-node-heartbeat.maximum-offswitch-assignments": w.pick("1", "3"),
		prefix + "reservations-continue-look-all-nodes":             w.pick("true", "false"),
		"yarn.resourcemanager.scheduler.monitor.enable":             w.pick("true", "false"),
		"yarn.scheduler.maximum-allocation-vcores":                  "8",
	}
	if w.rng.IntN(2) == 0 {
		w.dominant = true
		p[prefix+"resource-calculator"] = "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator"
	}
	w.config.Scheduler = func(l policy.Listener) (policy.Scheduler, error) {
		return policy.New(&model.YARN{Policy: "capacity", Properties: p}, recorded.YARN, l)
	}
}

func (w *world) fair() {
	w.dominant = true
	file := &model.Allocations{
		Settings: map[string]string{"defaultQueueSchedulingPolicy": w.pick("fair", "drf")},
		Queues: []model.AllocationQueue{
			{Name: "a", Settings: map[string]string{"weight": w.pick("1", "2"), "fairSharePreemptionTimeout": "5", "maxRunningApps": w.pick("1", "9")}},
			{Name: "b", Settings: map[string]string{"minResources": "2048 mb, 2 vcores", "minSharePreemptionTimeout": "5"}},
		},
	}
	p := policy.Properties{
		"yarn.scheduler.fair.assignmultiple": w.pick("true", "false"), "yarn.scheduler.fair.preemption": w.pick("true", "false"),
		"yarn.scheduler.fair.locality.threshold.node": w.pick("-1", "0.5"), "yarn.scheduler.fair.locality.threshold.rack": w.pick("-1", "0.5"),
		"yarn.scheduler.maximum-allocation-vcores": "8", "yarn.scheduler.fair.continuous-scheduling-enabled": w.pick("false", "false", "true"),
		"yarn.scheduler.fair.continuous-scheduling-sleep-ms": "50",
	}
	w.config.Scheduler = func(l policy.Listener) (policy.Scheduler, error) {
		return policy.New(&model.YARN{Policy: "fair", Properties: p, Allocations: file}, recorded.YARN, l)
	}
}

// add submits an application whose containers fit the first node.
func (w *world) add(i int) {
	host := func(n int32) string { return w.config.Nodes[n].Name }
	job := &FixedJob{
		Launch: 1000 * ms, Exit: 100 * ms, HostOf: host,
		Slowness: func(int32) float64 { return 1 },
	}
	job.RackOf = func(string) string { return "/default-rack" }
	for range 1 + w.rng.IntN(2) {
		g := FixedGroup{
			Priority: Priority(1 + w.rng.IntN(3)),
			Size:     model.Resource{MemoryMiB: int64(1+w.rng.IntN(3)) * 1024, VCores: int64(1 + w.rng.IntN(3))},
		}
		hosts := w.rng.IntN(2) == 0
		for range 1 + w.rng.IntN(30) {
			g.Times = append(g.Times, engine.Time(1000+w.rng.IntN(20000))*ms)
			if hosts {
				g.Hosts = append(g.Hosts, []string{host(int32(w.rng.IntN(len(w.config.Nodes))))})
			}
		}
		job.Groups = append(job.Groups, g)
	}
	s := submission(engine.Time(w.rng.IntN(30000))*ms, func(int) Application {
		return job.New(func(engine.Time) { w.finished++ })
	})
	s.Name, s.Queue, s.User = fmt.Sprint("app", i), w.pick("a", "b"), w.pick("u", "v")
	w.config.Work = append(w.config.Work, s)
}

// watch looks from time to time whether a node has given more than it has.
func (w *world) watch(rm *ResourceManager, bad func(text string)) {
	rm.every(130*ms, func() {
		for _, n := range rm.nodes {
			if f := n.book.Free(); f.MemoryMiB < 0 || w.dominant && f.VCores < 0 {
				bad(fmt.Sprintf("node %s has %v free at %v", n.book.Name, f, rm.Now()))
			}
		}
	})
}

// In random worlds every application ends, no node holds more than it has, every
// container has one fate, and a second run gives the same.
func TestRandomWorlds(t *testing.T) {
	const longest = 3000 * 1000 * ms
	worlds := uint64(300)
	if testing.Short() {
		worlds = 60
	}
	for seed := range worlds {
		w := newWorld(seed)
		rm, err := New(w.config)
		if err != nil {
			t.Fatalf("world %d: %v", seed, err)
		}
		w.watch(rm, func(text string) { t.Errorf("world %d: %s", seed, text) })
		if err := rm.Run(longest); err != nil {
			t.Fatalf("world %d: %v", seed, err)
		}
		for i, a := range rm.Applications() {
			if a.Ended == None || !a.Succeeded {
				t.Errorf("world %d: application %d has not succeeded: %+v", seed, i, a)
			}
		}
		for _, r := range rm.Rows() {
			if r.Freed == None || r.Start != None && r.Acquired == None || r.Acquired != None && r.Allocated == None {
				t.Errorf("world %d: %+v", seed, r)
			}
		}
		again := newWorld(seed)
		second, _ := New(again.config)
		if second.Run(longest); !slices.Equal(rm.Rows(), second.Rows()) {
			t.Errorf("world %d: the second run differs", seed)
		}
	}
}
