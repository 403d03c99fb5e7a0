package yarn

import "testing"

// What keeps a container from an application is named with its limit and what of it is
// used, whatever the node at hand.
func TestCapacityRefusal(t *testing.T) {
	two := map[string]string{
		"root.queues": "a,b", "root.a.capacity": "50", "root.b.capacity": "50", "root.a.maximum-capacity": "50", "root.b.user-limit-factor": "0.5",
		"per-node-heartbeat.maximum-offswitch-assignments": "100", "root.a.max-parallel-apps": "2", "user.few.max-parallel-apps": "1",
		"root.a.user-limit-factor": "2",
	}
	d := capacityDesk(t, 4, mib(8192, 8), two)
	a := d.start("x", "a", "u")
	want(t, "asks for nothing", d.s.Refusal(a), Refusal{})
	d.ask(a, 20, mib(2048, 1), 100)
	want(t, "room", d.s.Refusal(a), Refusal{What: "heartbeats of nodes"})
	fill := func() {
		for range 3 {
			for _, n := range d.nodes {
				d.beat(n)
			}
		}
	}
	fill()
	want(t, "asked", a.Asked(), 93)
	want(t, "maximum", d.s.Refusal(a), Refusal{"maximum of queue root.a (50 %)", 15 * 1024, 16 * 1024, "MiB"})
	second := d.submit("y", "a", "few", mib(2048, 1))
	want(t, "masters", d.s.Refusal(second), Refusal{"ApplicationMasters of queue root.a", 1024, 2048, "MiB"})
	third := d.submit("z", "b", "few", mib(1024, 1))
	want(t, "of a user", d.s.Refusal(third), Refusal{"max-parallel-apps of user few", 1, 1, "applications"})
	fourth := d.submit("z", "a", "v", mib(1024, 1))
	want(t, "of queues", d.s.Refusal(fourth), Refusal{"max-parallel-apps of queue root.a", 2, 2, "applications"})
	b := d.start("v", "b", "")
	d.ask(b, 20, mib(1024, 1), 100)
	fill()
	want(t, "user", d.s.Refusal(b), Refusal{"limit in queue root.b", 9 * 1024, 8 * 1024, "MiB"})
}

// A user's part of the limit of ApplicationMasters may be less than the queue's.
func TestMastersOfAUser(t *testing.T) {
	d := capacityDesk(t, 10, mib(8192, 8), map[string]string{"root.default.user-limit-factor": "0.5"})
	d.submit("x", "default", "u  v", mib(2048, 1))
	d.submit("y", "default", "u  v", mib(2048, 1))
	third := d.submit("z", "default", "u  v", mib(2048, 1))
	want(t, "third", d.s.Refusal(third), Refusal{"ApplicationMasters of user u v in queue root.default", 4096, 4096, "MiB"})
}

// Nodes refuse by what they lack: memory, cores if these count, or because they are
// reserved, refused or too far from the data for now.
func TestNodesRefuse(t *testing.T) {
	refused := func(settings map[string]string, ask func(d *desk, a *App)) Refusal {
		settings["root.default.user-limit-factor"] = "4"
		d := capacityDesk(t, 2, mib(8192, 8), settings)
		a := d.start("x", "default", "u")
		ask(d, a)
		return d.s.Refusal(a)
	}
	want(t, "memory", refused(map[string]string{}, func(d *desk, a *App) {
		d.nodes[0].free, d.nodes[1].free = mib(1024, 1), mib(0, 0)
		d.ask(a, 20, mib(2048, 1), 1)
	}), Refusal{"nodes", 15 * 1024, 16 * 1024, "MiB"})
	want(t, "cores", refused(map[string]string{"resource-calculator": "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator"}, func(d *desk, a *App) {
		d.nodes[0].free, d.nodes[1].free = mib(6144, 0), mib(6144, 1)
		d.ask(a, 20, mib(1024, 2), 1)
	}), Refusal{"nodes", 15, 16, "vcores"})
	want(t, "reserved", refused(map[string]string{}, func(d *desk, a *App) {
		d.nodes[0].free = mib(0, 0)
		d.nodes[1].reserved = &Container{}
		d.ask(a, 20, mib(2048, 1), 1)
	}), Refusal{"reservations", 1, 2, "nodes"})
	want(t, "refused", refused(map[string]string{}, func(d *desk, a *App) {
		d.s.Update(a, nil, nil, []int32{0, 1}, nil)
		d.ask(a, 20, mib(2048, 1), 1)
	}), Refusal{"blacklisted nodes", 2, 2, "nodes"})
	want(t, "far from the data", refused(map[string]string{}, func(d *desk, a *App) {
		d.ask(a, 20, mib(1024, 1), 40, "elsewhere")
	}), Refusal{What: "locality delay"})
	want(t, "data on a node", refused(map[string]string{}, func(d *desk, a *App) {
		d.ask(a, 20, mib(1024, 1), 40, "c001")
	}), Refusal{What: "heartbeats of nodes"})
	want(t, "any node of the rack", refused(map[string]string{"node-locality-delay": "0"}, func(d *desk, a *App) {
		d.ask(a, 20, mib(1024, 1), 40, "elsewhere")
	}), Refusal{What: "heartbeats of nodes"})
}

// The FairScheduler's limits.
func TestFairRefusal(t *testing.T) {
	file := queues(queue("q", "maxResources", "3072 mb, 8 vcores", "maxAMShare", "1"), queue("r", "maxRunningApps", "1"), queue("s", "maxAMShare", "0.1"))
	d := fairDesk(t, 2, mib(8192, 8), Properties{several: "true", "yarn.scheduler.fair.locality.threshold.node": "1", "yarn.scheduler.fair.locality.threshold.rack": "1"}, file)
	a := d.start("a", "root.q", "u")
	d.ask(a, 20, mib(1024, 1), 9)
	d.beat(d.nodes[1])
	want(t, "maximum", d.s.Refusal(a), Refusal{"maxResources of queue root.q", 3072, 3072, "MiB"})
	d.submit("b", "root.r", "u", mib(1024, 1))
	want(t, "running", d.s.Refusal(d.submit("c", "root.r", "u", mib(1024, 1))), Refusal{"maxRunningApps of queue root.r", 1, 1, "applications"})
	s := d.submit("d", "root.s", "u", mib(1024, 1))
	d.pass()
	want(t, "masters", d.s.Refusal(s).What, "maxAMShare of queue root.s")
	e := d.start("e", "root.t", "u")
	want(t, "nothing", d.s.Refusal(e), Refusal{})
	d.ask(e, 20, mib(1024, 1), 2, "elsewhere")
	d.beat(d.nodes[1])
	want(t, "far from the data", d.s.Refusal(e), Refusal{What: "locality delay"})
	d.ask(e, 10, mib(1024, 1), 2)
	want(t, "anywhere", d.s.Refusal(e), Refusal{What: "heartbeats of nodes"})
}

// A queue of which one more container would pass the maximum is at its limit from 2.8 on,
// and not before, when it is given the container.
func TestFairRefusalByRelease(t *testing.T) {
	for release, what := range map[string]string{"2.7.7": "heartbeats of nodes", "3.3.6": "maxResources of queue root.q"} {
		d := fairDesk(t, 1, mib(8192, 8), Properties{"hadoop": release}, queues(queue("q", "maxResources", "2560 mb, 8 vcores", "maxAMShare", "1")))
		a := d.start("a", "root.q", "u")
		d.ask(a, 20, mib(2048, 1), 1)
		want(t, release, d.s.Refusal(a).What, what)
		d.beat(d.nodes[0])
		want(t, release+": use", a.used.MemoryMiB, map[string]int64{"2.7.7": 3072, "3.3.6": 1024}[release])
	}
}
