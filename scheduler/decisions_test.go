package scheduler_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/workload"
)

var update = flag.Bool("update", false, "write the decisions of the policies to testdata")

// Policies keep their order as jobs change. What they decide is what they decided
// when they sorted everything for each task: the decisions on random clusters are
// those in testdata/decisions.txt. A change in them is a change in results, and
// the commit says why; go test ./scheduler -run Decisions -update then writes them.
func TestDecisionsStay(t *testing.T) {
	const path = "testdata/decisions.txt"
	var got strings.Builder
	for _, policy := range scheduler.Names() {
		for _, release := range []string{"0.20.2", "0.21.0", "1.0.4", "1.2.1"} {
			h := fnv.New64a()
			launched := 0
			for seed := range uint64(60) {
				d := driver{rng: rand.New(rand.NewPCG(seed, 1))}
				launched += d.drive(t, policy, release, func(event string) { fmt.Fprintln(h, event) })
			}
			fmt.Fprintf(&got, "%s %s: %d tasks, %016x\n", policy, release, launched, h.Sum64())
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(want), "\n") {
		if now := strings.Split(got.String(), "\n"); i >= len(now) || now[i] != line {
			t.Fatalf("the decisions are %q, want %q", now[min(i, len(now)-1)], line)
		}
	}
}

// driver plays a random history of a cluster.
type driver struct {
	rng     *rand.Rand
	c       *Cluster
	jobs    []string
	running []string // tasks
}

func (d *driver) n(low, high int) int { return low + d.rng.IntN(high-low+1) }

func (d *driver) rarely(n int) bool { return d.rng.IntN(n) == 0 }

// drive plays one history and returns how many tasks were launched.
func (d *driver) drive(t *testing.T, policy, release string, note func(string)) (launched int) {
	trackers := Trackers{Count: d.n(1, 6), Maps: d.n(1, 4), Reduces: d.n(1, 3), PerRack: d.n(0, 3)}
	d.c = newCluster(t, d.spec(policy), release, trackers)
	preempts := policy == "fair2"
	for step := range 250 {
		switch k := d.n(0, 19); {
		case k < 2 && len(d.jobs) < 40 || step == 0:
			d.submit(policy, trackers.Count)
		case k < 13:
			number := d.n(0, trackers.Count-1)
			for task := range strings.SplitSeq(d.c.Heartbeat(number), ", ") {
				if task != "" {
					launched++
					d.running = append(d.running, task)
					note(strconv.Itoa(number) + " " + task)
				}
			}
		case k < 16 && len(d.running) > 0:
			i := d.rng.IntN(len(d.running))
			d.c.End(d.running[i], 1)
			d.running = append(d.running[:i], d.running[i+1:]...)
		case k < 17 && len(d.jobs) > 0:
			d.c.Lag(d.jobs[d.rng.IntN(len(d.jobs))], d.n(0, 2))
		default:
			d.c.Pass(time.Duration(d.n(0, 30)) * 250 * time.Millisecond)
		}
		if killed := d.c.Killed(); preempts && killed != "" {
			note("killed " + killed)
			for task := range strings.SplitSeq(killed, ", ") {
				for i, r := range d.running {
					if r == task {
						d.running = append(d.running[:i], d.running[i+1:]...)
						break
					}
				}
			}
		}
	}
	for _, name := range d.jobs {
		note(fmt.Sprint(name, d.c.Initialised(name), d.c.Rejected(name)))
	}
	return launched
}

// submit hands in a random job.
func (d *driver) submit(policy string, trackers int) {
	name := "j" + strconv.Itoa(len(d.jobs))
	d.jobs = append(d.jobs, name)
	j := Job{
		Name: name, Maps: d.n(1, 12), Reduces: d.n(0, 4), Slowstart: d.n(0, 1),
		User: []string{"ann", "bob", "carl"}[d.n(0, 2)], Pool: []string{"", "p", "q", "r"}[d.n(0, 3)],
		Queue:    []string{"p", "q"}[d.n(0, 1)],
		Priority: workload.VeryHigh + workload.Priority(d.n(0, 4)), Speculates: d.rarely(2),
		WaitFactor: float32(d.n(0, 2)) / 2, Unplaced: d.rarely(8),
	}
	if d.rarely(2) {
		j.Deadline = time.Duration(d.n(1, 200)) * time.Second
	}
	j.Profile = analytic.AriaProfile{Maps: j.Maps, MapAvg: 10, MapMax: 12}
	if d.rarely(2) {
		j.On = []int{d.n(0, trackers-1)}
	}
	if policy == "capacity" && d.rarely(4) {
		j.Width = [2]int{d.n(1, 2), 1}
	}
	d.c.Submit(j)
}

// spec draws the settings of a policy.
func (d *driver) spec(policy string) model.Scheduler {
	spec := model.Scheduler{Name: policy}
	set := func(key string, value any) { spec.Conf.Set(key, fmt.Sprint(value)) }
	switch policy {
	case "fifo":
		set("mapred.jobtracker.taskalloc.capacitypad", float64(d.n(0, 4))/20)
	case "fair1", "fair2":
		set("mapred.fairscheduler.assignmultiple", d.rarely(2))
		set("mapred.fairscheduler.sizebasedweight", d.rarely(3))
		if d.rarely(4) {
			set("mapred.fairscheduler.weightadjuster", "NewJobWeightBooster")
			set("mapred.newjobweightbooster.duration", 20_000)
		}
		if d.rarely(2) {
			set("mapred.fairscheduler.locality.delay", d.n(0, 5)*1000)
		}
		if d.rarely(2) {
			set("mapred.fairscheduler.preemption", true)
			set("mapred.fairscheduler.preemption.interval", d.n(1, 10)*1000)
			set("fairSharePreemptionTimeout", d.n(2, 20))
			set("defaultMinSharePreemptionTimeout", d.n(2, 20))
		}
		for _, name := range []string{"p", "q"}[:d.n(0, 2)] {
			p := model.Pool{Name: name, Weight: float64(d.n(1, 6)) / 2, MinMaps: d.n(0, 4), MinReduces: d.n(0, 2)}
			if d.rarely(3) {
				p.MaxMaps, p.MaxRunningJobs = most(d.n(1, 5)), most(d.n(1, 3))
			}
			if d.rarely(3) {
				p.Mode = "fifo"
			}
			spec.Pools = append(spec.Pools, p)
		}
		if d.rarely(3) {
			spec.Users = []model.UserLimit{{Name: "ann", MaxRunningJobs: d.n(1, 3)}}
		}
	case "capacity":
		share := d.n(1, 9) * 10
		spec.Queues = capacity(
			fmt.Sprintf("p capacity %d minimum-user-limit-percent %d user-limit-factor %d", share, d.n(1, 100), d.n(1, 3)),
			fmt.Sprintf("q capacity %d supports-priority %v maximum-initialized-active-tasks %d", 100-share, d.rarely(2), d.n(12, 80)),
		).Queues
		if d.rarely(2) {
			spec.Queues[0].Conf.Set("maximum-capacity", strconv.Itoa(min(100, share+20)))
		}
		set("mapred.capacity-scheduler.maximum-tasks-after-offswitch", d.n(0, 2))
		set("mapred.capacity-scheduler.maximum-system-jobs", d.n(1, 12))
	}
	return spec
}
