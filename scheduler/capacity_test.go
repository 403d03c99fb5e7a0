package scheduler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// capacity has the queues that are given as "name property value property value".
func capacity(queues ...string) model.Scheduler {
	spec := model.Scheduler{Name: "capacity"}
	for _, q := range queues {
		words := strings.Fields(q)
		spec.Queues = append(spec.Queues, model.Queue{Name: words[0], Conf: conf(words[1:]...)})
	}
	return spec
}

func with(spec model.Scheduler, pairs ...string) model.Scheduler {
	spec.Conf = conf(pairs...)
	return spec
}

// ready lets the poller pick the jobs, and its workers initialise them.
func ready(c *Cluster) { c.Pass(10 * time.Second) }

// Jobs are picked at one tick of the poller and initialised at the next one:
// every 5 s in 0.20.2, every 3 s in 1.0.4.
func TestCapacityInitialisesInTwoStages(t *testing.T) {
	for release, poll := range map[string]time.Duration{"0.20.2": 5 * time.Second, "1.0.4": 3 * time.Second} {
		c := newCluster(t, capacity(), release, slots(1, 0))
		c.Submit(Job{Name: "a", Maps: 1})
		c.Pass(2*poll - 1)
		if c.Initialised("a") {
			t.Errorf("%s: initialised at the first tick", release)
		}
		c.Pass(1)
		if !c.Initialised("a") {
			t.Errorf("%s: not initialised at the second tick", release)
		}
	}
}

// Of ten slots, queue big has 7 and small 3. The queue that occupies the smaller
// part of its slots goes first: at 1/7, 2/7 and then 3/7 it is small's turn with
// 1/3, and at 5/7 with 2/3. Empty queues are in the order of a Java HashMap.
func TestCapacityQueuesByFullness(t *testing.T) {
	c := newCluster(t, capacity("big capacity 70", "small capacity 30"), "0.20.2", slots(10, 0))
	c.Submit(Job{Name: "b", Maps: 99, Queue: "big"})
	c.Submit(Job{Name: "s", Maps: 99, Queue: "small"})
	ready(c)
	beats(t, c, "s map", "b map", "b map", "b map", "s map", "b map", "b map", "s map", "b map", "b map")
}

// A queue without a share of the slots gets nothing; one whose capacity is not
// stated has what is left.
func TestCapacityOfTheRest(t *testing.T) {
	c := newCluster(t, capacity("a capacity 60", "b", "none capacity 0"), "0.20.2", slots(5, 0))
	c.Submit(Job{Name: "n", Maps: 9, Queue: "none"})
	c.Submit(Job{Name: "a", Maps: 9, Queue: "a"})
	c.Submit(Job{Name: "b", Maps: 9, Queue: "b"})
	ready(c)
	beats(t, c, "a map", "b map", "a map", "b map", "a map")

	c = newCluster(t, capacity("a capacity 100", "none capacity 0"), "0.20.2", slots(5, 0))
	c.Submit(Job{Name: "n", Maps: 9, Queue: "none"})
	ready(c)
	beats(t, c, "")
}

// "Aa" and "BB" have one hash code in Java, so that they stay in the order in which
// they are listed.
func TestCapacityQueuesInHashMapOrder(t *testing.T) {
	c := newCluster(t, capacity("BB capacity 50", "Aa capacity 50"), "0.20.2", slots(4, 0))
	c.Submit(Job{Name: "a", Maps: 9, Queue: "Aa"})
	c.Submit(Job{Name: "b", Maps: 9, Queue: "BB"})
	ready(c)
	beats(t, c, "b map", "a map")
}

// The table of a HashMap grows with the 13th name: "p" has its first bucket of 16, and
// the 17th of 32.
func TestCapacityQueuesInGrownHashMap(t *testing.T) {
	for names, want := range map[string]string{"bcdefghijklp": "pbcdefghijkl", "bcdefghijklmp": "bcdefghijklmp"} {
		var queues, order []string
		for i, name := range strings.Split(names, "") {
			share := 5
			if i == 0 {
				share = 100 - 5*(len(names)-1)
			}
			queues = append(queues, fmt.Sprintf("%s capacity %d", name, share))
		}
		c := newCluster(t, capacity(queues...), "0.20.2", slots(20, 0))
		for _, name := range strings.Split(names, "") {
			c.Submit(Job{Name: name, Maps: 1, Queue: name})
		}
		ready(c)
		for _, name := range strings.Split(want, "") {
			order = append(order, name+" map")
		}
		beats(t, c, order...)
	}
}

// Room that one queue leaves is lent to the other.
func TestCapacityIsLent(t *testing.T) {
	c := newCluster(t, capacity("a capacity 50", "b capacity 50"), "0.20.2", slots(4, 0))
	c.Submit(Job{Name: "a", Maps: 9, Queue: "a"})
	ready(c)
	beats(t, c, "a map", "a map", "a map", "a map")
}

// 0.20.2 gives one task a heartbeat, of the type of which more slots are free; of
// the other one if there is none. 0.21 gives a reduce and a map.
func TestCapacity0TasksPerHeartbeat(t *testing.T) {
	c := newCluster(t, capacity(), "0.20.2", slots(2, 3))
	c.Submit(Job{Name: "a", Maps: 2, Reduces: 2})
	ready(c)
	beats(t, c, "a reduce", "a map", "a reduce", "a map", "")

	c = newCluster(t, capacity(), "0.21.0", slots(2, 3))
	c.Submit(Job{Name: "a", Maps: 2, Reduces: 3})
	ready(c)
	beats(t, c, "a reduce, a map", "a reduce, a map", "a reduce")
}

// Jobs go by submission, after priority only if the queue supports it.
func TestCapacityPriorities(t *testing.T) {
	for value, want := range map[string]string{"false": "a map", "true": "b map"} {
		c := newCluster(t, capacity("q supports-priority "+value), "0.20.2", slots(2, 0))
		c.Submit(Job{Name: "a", Maps: 9, Queue: "q"})
		c.Submit(Job{Name: "b", Maps: 9, Queue: "q", Priority: workload.High})
		ready(c)
		c.Beat(0, want)
	}
}

// Two users share a queue of six slots: three each, so ann's job, which came
// first, stops at three. With a minimum of 67 % it may have ceil(6 x 67/100) = 5.
// When the queue is full, the limit counts the slot that is asked for.
func TestCapacity0UserLimit(t *testing.T) {
	for percent, want := range map[string]string{"50": "aaabbb", "67": "aaaaab"} {
		c := newCluster(t, capacity("q minimum-user-limit-percent "+percent), "0.20.2", slots(6, 0))
		c.Submit(Job{Name: "a", Maps: 9, Queue: "q", User: "ann"})
		c.Submit(Job{Name: "b", Maps: 9, Queue: "q", User: "bob"})
		ready(c)
		for _, job := range want {
			c.Beat(0, string(job)+" map")
		}
	}
}

// The limit of a user yields if nobody else can use the slots.
func TestCapacity0UserLimitYields(t *testing.T) {
	c := newCluster(t, capacity("q minimum-user-limit-percent 50"), "0.20.2", slots(4, 0))
	c.Submit(Job{Name: "a", Maps: 9, Queue: "q", User: "ann"})
	c.Submit(Job{Name: "b", Maps: 1, Queue: "q", User: "bob"})
	ready(c)
	beats(t, c, "a map", "a map", "b map", "a map")
}

// Beyond the queue's capacity the limit is taken of what it would then occupy:
// q has 2 of 6 slots, and ann and bob one each; with q's two taken, 3 x 50 % are
// 2 for each; with 4 taken 5/2, so 3.
func TestCapacity0UserLimitBeyondCapacity(t *testing.T) {
	c := newCluster(t, capacity("q capacity 40 minimum-user-limit-percent 50", "r capacity 60"), "0.20.2", slots(6, 0))
	c.Submit(Job{Name: "a", Maps: 9, Queue: "q", User: "ann"})
	c.Submit(Job{Name: "b", Maps: 9, Queue: "q", User: "bob"})
	ready(c)
	beats(t, c, "a map", "b map", "a map", "b map", "a map", "b map")
}

// 0.20 initialises two jobs of a user, of 100/100 + 2 = 3 users; the next ones
// when a task of one has been launched.
func TestCapacity0InitialisesFewJobs(t *testing.T) {
	c := newCluster(t, capacity(), "0.20.2", slots(9, 0))
	for _, name := range []string{"a1", "a2", "a3", "b1", "c1", "d1"} {
		c.Submit(Job{Name: name, Maps: 1, User: name[:1]})
	}
	initialised := func(want string) {
		t.Helper()
		got := ""
		for _, name := range []string{"a1", "a2", "a3", "b1", "c1", "d1"} {
			if c.Initialised(name) {
				got += name + " "
			}
		}
		if got != want {
			t.Errorf("initialised are %s, want %s", got, want)
		}
	}
	ready(c)
	c.Pass(30 * time.Second)
	initialised("a1 a2 b1 c1 ")
	c.Beat(0, "a1 map")
	ready(c)
	initialised("a1 a2 a3 b1 c1 ")
	beats(t, c, "a2 map", "a3 map")
	ready(c)
	initialised("a1 a2 a3 b1 c1 d1 ")
}

// The limit on initialised jobs is a setting of the queue or of all.
func TestCapacity0InitialisedJobsPerUser(t *testing.T) {
	for _, spec := range []model.Scheduler{
		capacity("default maximum-initialized-jobs-per-user 1"),
		with(capacity(), "mapred.capacity-scheduler.default-maximum-initialized-jobs-per-user", "1"),
	} {
		c := newCluster(t, spec, "0.20.2", slots(9, 0))
		c.Submit(Job{Name: "a", Maps: 1})
		c.Submit(Job{Name: "b", Maps: 1})
		ready(c)
		if !c.Initialised("a") || c.Initialised("b") {
			t.Error("want one job initialised")
		}
	}
}

// Two jobs of the only user are initialised at once, unless told otherwise.
func TestCapacity0TwoJobsOfAUser(t *testing.T) {
	c := newCluster(t, capacity(), "0.20.2", slots(9, 0))
	for _, name := range []string{"a", "b", "c"} {
		c.Submit(Job{Name: name, Maps: 1})
	}
	ready(c)
	if !c.Initialised("a") || !c.Initialised("b") || c.Initialised("c") {
		t.Error("want two of three jobs initialised")
	}
}

// A job that needs two slots where one is free blocks its queue, not the other.
func TestCapacity0WideJobBlocks(t *testing.T) {
	c := newCluster(t, capacity("q capacity 50", "r capacity 50"), "0.20.2", slots(5, 0))
	c.Submit(Job{Name: "wide", Maps: 9, Queue: "q", Width: [2]int{2, 1}})
	c.Submit(Job{Name: "thin", Maps: 9, Queue: "q"})
	ready(c)
	beats(t, c, "wide map", "wide map", "")
	c.Submit(Job{Name: "other", Maps: 9, Queue: "r"})
	ready(c)
	c.Beat(0, "other map")
}

// A job for a queue that is not there fails.
func TestCapacityUnknownQueue(t *testing.T) {
	c := newCluster(t, capacity("q"), "1.0.4", slots(1, 0))
	c.Submit(Job{Name: "a", Maps: 1, Queue: "p"})
	if got, want := c.Rejected("a"), `no queue "p"`; got != want {
		t.Errorf("rejected: %q, want %q", got, want)
	}
}

// 1.x gives as many maps as slots are free, and one reduce.
func TestCapacity1TasksPerHeartbeat(t *testing.T) {
	for _, row := range []struct{ key, value, want string }{
		{"mapred.capacity-scheduler.maximum-tasks-per-heartbeat", "32767", "a map, a map, a map, a reduce"},
		{"mapred.capacity-scheduler.maximum-tasks-per-heartbeat", "2", "a map, a map, a reduce"},
	} {
		c := newCluster(t, with(capacity(), row.key, row.value), "1.0.4", slots(3, 3))
		c.Submit(Job{Name: "a", Maps: 9, Reduces: 9})
		ready(c)
		c.Beat(0, row.want)
	}
}

// A user gets no more than the queue's capacity, of eight slots four; with a
// factor of 1.5, six.
func TestCapacity1UserLimitFactor(t *testing.T) {
	for factor, want := range map[string]string{"1": "a map, a map, a map, a map", "1.5": "a map, a map, a map, a map, a map, a map"} {
		c := newCluster(t, capacity("q capacity 50 user-limit-factor "+factor, "r capacity 50"), "1.0.4", slots(8, 0))
		c.Submit(Job{Name: "a", Maps: 99, Queue: "q", User: "ann"})
		ready(c)
		c.Beat(0, want)
	}
}

// Users with tasks left share: of six slots three each with a minimum of 50 %,
// ceil(6 x 67/100) = 5 with one of 67 %.
func TestCapacity1UserLimit(t *testing.T) {
	for percent, want := range map[string]string{"50": "a map, a map, a map, b map, b map, b map", "67": "a map, a map, a map, a map, a map, b map"} {
		c := newCluster(t, capacity("q minimum-user-limit-percent "+percent), "1.0.4", slots(6, 0))
		c.Submit(Job{Name: "a", Maps: 99, Queue: "q", User: "ann"})
		c.Submit(Job{Name: "b", Maps: 99, Queue: "q", User: "bob"})
		ready(c)
		c.Beat(0, want)
	}
}

// A user without tasks left to launch does not count: carl has launched all of
// his, so ann and bob may have three slots each and not two.
func TestCapacity1ActiveUsers(t *testing.T) {
	c := newCluster(t, capacity("q minimum-user-limit-percent 10"), "1.0.4", Trackers{Count: 2, Maps: 3})
	c.Submit(Job{Name: "c", Maps: 1, Queue: "q", User: "carl"})
	ready(c)
	c.Beat(0, "c map")
	c.End("c map", 1)
	c.Submit(Job{Name: "a", Maps: 99, Queue: "q", User: "ann"})
	c.Submit(Job{Name: "b", Maps: 99, Queue: "q", User: "bob"})
	c.Submit(Job{Name: "c2", Reduces: 9, Maps: 1, Slowstart: 1, Queue: "q", User: "carl"})
	ready(c)
	c.Beat(0, "a map, a map, b map")
	c.Beat(1, "b map, c2 map")
}

// A queue with a maximum of 50 % takes five of ten slots, though all are free.
func TestCapacityMaximum(t *testing.T) {
	for release, tasks := range map[string][]string{
		"1.0.4":  {"a map, a map, a map, a map, a map", ""},
		"0.21.0": {"a map", "a map", "a map", "a map", "a map", ""},
	} {
		c := newCluster(t, capacity("q capacity 20 maximum-capacity 50 user-limit-factor 9", "r capacity 80"), release, slots(10, 0))
		c.Submit(Job{Name: "a", Maps: 99, Queue: "q"})
		ready(c)
		beats(t, c, tasks...)
	}
}

// A maximum of one slot is a maximum.
func TestCapacity1MaximumOfOne(t *testing.T) {
	c := newCluster(t, capacity("q capacity 10 maximum-capacity 10 user-limit-factor 9", "r capacity 90"), "1.0.4", slots(10, 0))
	c.Submit(Job{Name: "a", Maps: 99, Queue: "q"})
	ready(c)
	beats(t, c, "a map", "")
}

// A map is taken from another rack once the job was offered more trackers in vain
// than the smaller number of its maps left and of the trackers, times the wait
// factor: 4 x 0.5 = 2, so at the third offer. After that the heartbeat gives no
// more.
func TestCapacity1OffRack(t *testing.T) {
	c := newCluster(t, capacity(), "1.0.4", Trackers{Count: 4, Maps: 9, PerRack: 2})
	c.Submit(Job{Name: "a", Maps: 99, On: []int{2}, WaitFactor: 0.5})
	ready(c)
	c.Beat(0, "")
	c.Beat(1, "")
	c.Beat(0, "a map")
	c.Beat(1, "a map")                                                         // and from now on
	c.Beat(3, "a map, a map, a map, a map, a map, a map, a map, a map, a map") // until one is near
	c.Beat(0, "")
}

// Offers in vain count while all maps run, for the second attempt of one: that of
// tracker 2's other slot, one before a lags and one after it are more than 1 x 2.
func TestCapacity1OffersBeforeSpeculation(t *testing.T) {
	c := newCluster(t, capacity(), "1.0.4", Trackers{Count: 4, Maps: 2, PerRack: 2})
	c.Submit(Job{Name: "a", Maps: 1, On: []int{2}, WaitFactor: 2, Speculates: true})
	ready(c)
	c.Beat(2, "a map")
	c.Beat(0, "")
	c.Lag("a", 1)
	c.Beat(0, "a map")
}

// With two left of the maps, 2 x 0.5 = 1 offer in vain is enough. Two maps from
// another rack a heartbeat are allowed.
func TestCapacity1AfterOffRack(t *testing.T) {
	c := newCluster(t, with(capacity(), "mapred.capacity-scheduler.maximum-tasks-after-offswitch", "1"), "1.0.4",
		Trackers{Count: 4, Maps: 9, PerRack: 2})
	c.Submit(Job{Name: "a", Maps: 2, On: []int{2}, WaitFactor: 0.5})
	c.Submit(Job{Name: "b", Maps: 9})
	ready(c)
	c.Beat(0, "b map, a map, b map")
}

// A job whose maps take two slots has a tracker with one free slot kept for it:
// thin gets nothing there. It has one map to launch, so the other tracker is not
// kept. When its tracker has two free slots, wide gets its map.
func TestCapacity1Reservation(t *testing.T) {
	c := newCluster(t, capacity(), "1.0.4", Trackers{Count: 2, Maps: 2})
	c.Submit(Job{Name: "old", Maps: 2, User: "ann"})
	ready(c)
	c.Beat(0, "old map, old map")
	c.Submit(Job{Name: "wide", Maps: 1, Width: [2]int{2, 1}, User: "bob"})
	c.Submit(Job{Name: "thin", Maps: 9, User: "carl"})
	ready(c)
	c.End("old map", 1)
	c.Beat(0, "")
	c.Beat(0, "")
	c.Beat(1, "wide map")
	c.Beat(0, "") // until the poller ends the reservation
	c.Pass(3 * time.Second)
	c.Beat(0, "thin map")
}

// Reserved slots are occupied. Two of six are kept for wide, and another two would
// be more than half, so that thin gets a slot. Now all are taken, the limit counts
// what is asked for, ceil((6 + 2)/2) = 4, and the last slot is kept for wide too.
func TestCapacity1ReservedSlotsCount(t *testing.T) {
	c := newCluster(t, capacity("q minimum-user-limit-percent 50"), "1.0.4", Trackers{Count: 2, Maps: 3})
	c.Submit(Job{Name: "old", Maps: 5, User: "ann", Queue: "q"})
	ready(c)
	c.Beat(0, "old map, old map, old map")
	c.Beat(1, "old map, old map")
	c.Submit(Job{Name: "wide", Maps: 9, Width: [2]int{2, 1}, User: "bob", Queue: "q"})
	c.Submit(Job{Name: "thin", Maps: 9, User: "carl", Queue: "q"})
	ready(c)
	c.Beat(1, "") // kept for wide
	c.End("old map", 2)
	c.Beat(0, "thin map")
	c.End("old map", 3)
	c.Beat(1, "wide map, thin map")
}

// 1.2.1 keeps no tracker that is too small: the map of three slots waits, and
// thin runs.
func TestCapacity1NoReservationOnSmallTrackers(t *testing.T) {
	for release, want := range map[string]string{"1.0.4": "", "1.2.1": "thin map, thin map"} {
		c := newCluster(t, capacity(), release, Trackers{Count: 2, Maps: 2})
		c.Submit(Job{Name: "wide", Maps: 1, Width: [2]int{3, 1}})
		c.Submit(Job{Name: "thin", Maps: 9})
		ready(c)
		c.Beat(0, want)
	}
}

// q's capacity is three slots, and its maps take two. 1.0.4 takes the second map
// to be within the capacity, as only two slots are occupied, and keeps the user
// to three. 1.2.1 sees that it goes beyond, to four, and allows as many; and then
// six, which are twice the capacity, and the end.
func TestCapacity1RequestsThatFit(t *testing.T) {
	for release, want := range map[string]string{"1.0.4": "a map", "1.2.1": "a map, a map, a map"} {
		c := newCluster(t, capacity("q capacity 37.5 user-limit-factor 2", "r capacity 62.5"), release, slots(8, 0))
		c.Submit(Job{Name: "a", Maps: 9, Queue: "q", Width: [2]int{2, 1}})
		ready(c)
		c.Beat(0, want)
	}
}

// A queue accepts ten times as many jobs as it initialises: with 1 job in the
// system and all of the capacity, ten.
func TestCapacity1JobLimits(t *testing.T) {
	c := newCluster(t, with(capacity(), "mapred.capacity-scheduler.maximum-system-jobs", "1"), "1.0.4", slots(1, 0))
	for i := range 11 {
		name := string(rune('a' + i))
		c.Submit(Job{Name: name, Maps: 1})
		if got := c.Rejected(name) != ""; got != (i == 10) {
			t.Errorf("job %d rejected: %v", i, got)
		}
	}
}

// A user may have half of that if the minimum user limit is 50 %: of two jobs in
// the system one, so of ten times as many ten. Another user may go on.
func TestCapacity1JobLimitsOfUsers(t *testing.T) {
	c := newCluster(t, with(capacity("default minimum-user-limit-percent 50"), "mapred.capacity-scheduler.maximum-system-jobs", "2"),
		"1.0.4", slots(1, 0))
	for i := range 11 {
		name := string(rune('a' + i))
		c.Submit(Job{Name: name, Maps: 1, User: "ann"})
		if got := c.Rejected(name) != ""; got != (i == 10) {
			t.Errorf("job %d of ann rejected: %v", i, got)
		}
	}
	c.Submit(Job{Name: "z", Maps: 1, User: "bob"})
	if why := c.Rejected("z"); why != "" {
		t.Errorf("the job of bob was rejected: %s", why)
	}
}

// Jobs are initialised as long as their tasks are within the limits of the queue
// and of their user: two jobs of two maps are four tasks.
func TestCapacity1TaskLimits(t *testing.T) {
	for _, key := range []string{"maximum-initialized-active-tasks", "maximum-initialized-active-tasks-per-user"} {
		c := newCluster(t, capacity("default "+key+" 4"), "1.0.4", slots(9, 0))
		for _, name := range []string{"a", "b", "c"} {
			c.Submit(Job{Name: name, Maps: 2})
		}
		ready(c)
		if !c.Initialised("a") || !c.Initialised("b") || c.Initialised("c") {
			t.Errorf("%s: want two of three jobs initialised", key)
		}
		c.Beat(0, "a map, a map, b map, b map")
		c.End("a map", 2)
		ready(c)
		if !c.Initialised("c") {
			t.Errorf("%s: want the third job initialised after one has ended", key)
		}
	}
	c := newCluster(t, capacity("default maximum-initialized-active-tasks-per-user 4"), "1.0.4", slots(9, 0))
	c.Submit(Job{Name: "big", Maps: 5})
	if c.Rejected("big") == "" {
		t.Error("a job with more tasks than a user may have was accepted")
	}
}

// The number is exact where it is large: 300 jobs in the system and a factor of
// one are 300 jobs for the only queue.
func TestCapacity1ManyJobs(t *testing.T) {
	c := newCluster(t, with(capacity("default init-accept-jobs-factor 1"), "mapred.capacity-scheduler.maximum-system-jobs", "300"),
		"1.0.4", slots(1, 0))
	for i := range 301 {
		name := fmt.Sprint("job", i)
		c.Submit(Job{Name: name, Maps: 1})
		if got := c.Rejected(name) != ""; got != (i == 300) {
			t.Errorf("job %d rejected: %v", i, got)
		}
	}
}

// A maximum of 1 % is a maximum.
func TestCapacity1MaximumOfOnePercent(t *testing.T) {
	c := newCluster(t, capacity("q capacity 1 maximum-capacity 1 user-limit-factor 9", "r capacity 99"), "1.0.4", slots(200, 0))
	c.Submit(Job{Name: "a", Maps: 99, Queue: "q"})
	ready(c)
	beats(t, c, "a map, a map", "")
}
