package scheduler_test

import (
	"math"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/workload"
)

// A property outside its range is refused by its name, with what is wanted.
func TestRanges(t *testing.T) {
	for _, row := range []struct{ policy, release, key, value, want string }{
		{"fifo", "1.0.4", "mapred.jobtracker.taskalloc.capacitypad", "-0.1", "at least 0"},
		{"fifo", "1.0.4", "mapred.jobtracker.taskalloc.capacitypad", "inf", "at most 1e+12"},
		{"fifo", "1.0.4", "mapred.jobtracker.taskalloc.capacitypad", "much", "want a number"},
		{"fair1", "0.20.2", "userMaxJobsDefault", "-1", "from 0"},
		{"fair1", "0.20.2", "mapred.fairscheduler.sizebasedweight", "2", "want true or false"},
		{"fair1", "0.20.2", "mapred.fairscheduler.weightadjuster", "Mine", "NewJobWeightBooster"},
		{"fair2", "1.0.4", "mapred.fairscheduler.update.interval", "0", "at least 1"},
		{"fair2", "1.0.4", "mapred.fairscheduler.update.interval", "2147483648", "to 2147483647"},
		{"fair2", "1.0.4", "mapred.fairscheduler.preemption.interval", "-1", "at least 0"},
		{"fair2", "1.0.4", "mapred.fairscheduler.assignmultiple.maps", "-2", "at least -1"},
		{"fair2", "1.0.4", "mapred.fairscheduler.assignmultiple.reduces", "-2", "at least -1"},
		{"fair2", "1.0.4", "mapred.fairscheduler.load.max.diff", "-0.5", "at least 0"},
		{"fair2", "1.0.4", "mapred.fairscheduler.locality.delay", "-2", "at least -1"},
		{"fair2", "1.0.4", "mapred.fairscheduler.locality.delay.node", "-2", "at least -1"},
		{"fair2", "1.0.4", "mapred.fairscheduler.locality.delay.rack", "-2", "at least -1"},
		{"fair2", "1.0.4", "poolMaxJobsDefault", "-1", "from 0"},
		{"fair2", "1.0.4", "userMaxJobsDefault", "-1", "from 0"},
		{"fair2", "1.0.4", "fairSharePreemptionTimeout", "-1", "from 0"},
		{"fair2", "1.0.4", "defaultMinSharePreemptionTimeout", "-1", "from 0"},
		{"capacity", "1.0.4", "mapred.capacity-scheduler.init-poll-interval", "0", "at least 1"},
		{"capacity", "1.0.4", "mapred.capacity-scheduler.queue.default.capacity", "101", "0 to 100"},
		{"capacity", "1.0.4", "mapred.capacity-scheduler.queue.default.maximum-capacity", "-0.5", "0 to 100"},
		{"capacity", "1.0.4", "mapred.capacity-scheduler.queue.default.minimum-user-limit-percent", "0", "from 1"},
		{"capacity", "1.0.4", "mapred.capacity-scheduler.queue.default.minimum-user-limit-percent", "101", "1 to 100"},
		{"capacity", "1.0.4", "mapred.capacity-scheduler.queue.default.user-limit-factor", "-1", "from 0 on"},
		{"capacity", "1.0.4", "mapred.capacity-scheduler.queue.default.maximum-initialized-jobs-per-user", "0", "from 1"},
		{"capacity", "1.0.4", "mapred.capacity-scheduler.queue.default.init-accept-jobs-factor", "0", "from 1"},
		{"capacity", "1.0.4", "mapred.capacity-scheduler.maximum-tasks-per-heartbeat", "0", "at least 1"},
		{"capacity", "1.0.4", "mapred.capacity-scheduler.maximum-tasks-after-offswitch", "-1", "at least 0"},
		{"capacity", "1.0.4", "mapred.capacity-scheduler.maximum-system-jobs", "0", "at least 1"},
	} {
		err := refusal(t, model.Scheduler{Name: row.policy, Conf: conf(row.key, row.value)}, row.release)
		short := row.key[strings.LastIndex(row.key, "queue.default.")+1:]
		if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(short, "ueue.default.")) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s = %s: %v, want an error with the key and %q", row.key, row.value, err, row.want)
		}
	}
}

// refusal makes a policy only for its error.
func refusal(t *testing.T, spec model.Scheduler, release string) error {
	t.Helper()
	r, err := model.FindRelease(release)
	if err != nil {
		t.Fatal(err)
	}
	_, err = scheduler.New(spec, r)
	return err
}

// Of several errors the first one is told.
func TestFirstError(t *testing.T) {
	err := refusal(t, model.Scheduler{Name: "fair2", Conf: conf("mapred.fairscheduler.locality.delay", "-2", "userMaxJobsDefault", "-1")}, "1.0.4")
	if err == nil || !strings.Contains(err.Error(), "locality.delay") {
		t.Errorf("%v, want an error about the delay", err)
	}
}

// What else a policy does not accept.
func TestRefusedSettings(t *testing.T) {
	for want, spec := range map[string]model.Scheduler{
		`unknown scheduler "lifo": want one of ` + strings.Join(scheduler.Names(), ", "): {Name: "lifo"},
		"the queues' capacities add up to 130 %: want 100: lower one of a 70 %, b 60 %":  capacity("a capacity 70", "b capacity 60"),
		`pool p: scheduling mode "lifo": want fair or fifo`:                              {Name: "fair2", Pools: []model.Pool{{Name: "p", Mode: "lifo"}}},
		"pool p: weight = +Inf: want a number, 0 or more":                                {Name: "fair2", Pools: []model.Pool{{Name: "p", Weight: math.Inf(1)}}},
		"pool q: weight = -1: want a number, 0 or more":                                  {Name: "fair1", Pools: []model.Pool{{Name: "q", Weight: -1}}},
	} {
		if err := refusal(t, spec, "1.0.4"); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Every policy says in a line what it is; a name that is none has no such line.
func TestAbout(t *testing.T) {
	seen := map[string]bool{"": true}
	for _, name := range scheduler.Names() {
		if about := scheduler.About(name); seen[about] {
			t.Errorf("%s: about %q is empty or that of another one", name, about)
		} else {
			seen[about] = true
		}
	}
	if about := scheduler.About("lifo"); about != "" {
		t.Errorf("lifo: about %q", about)
	}
}

// In 0.20 a queue whose share is rounded to no slot is never looked at: 20 % of
// four map slots are none, of five one. Only jobs with such tasks suffer, and
// 1.0.4 gives a job one slot all the same.
func TestCheckQueueWithoutSlot(t *testing.T) {
	spec := capacity("big capacity 80", "small capacity 20")
	job := workload.Job{ID: "x", Queue: "small", Maps: workload.MapTasks{Count: 3}}
	none := "queue small: capacity = 20 % of 4 map slots is less than one slot: want at least 25 % for the maps of job x"
	for _, row := range []struct {
		release string
		slots   [2]int
		want    string
	}{
		{"0.20.2", [2]int{4, 4}, none},
		{"0.21.0", [2]int{4, 4}, none},
		{"0.20.2", [2]int{5, 4}, ""},
		{"1.0.4", [2]int{4, 4}, ""},
	} {
		r, err := model.FindRelease(row.release)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := scheduler.Check(spec, r, row.slots, []workload.Job{job}); err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("%s, %v slots: %q, want %q", row.release, row.slots, got, row.want)
		}
	}
}

// FairScheduler of 0.20 waits for a map before it launches reduces.
func TestCheckJobWithoutMaps(t *testing.T) {
	r, err := model.FindRelease("0.20.2")
	if err != nil {
		t.Fatal(err)
	}
	job := workload.Job{ID: "x", Reduces: workload.ReduceTasks{Count: 3}}
	for name, want := range map[string]string{"fair2": "", "fifo": "", "fair1": "job x has reduces and no maps: fair1 launches reduces only after a map has ended"} {
		got := ""
		if err := scheduler.Check(model.Scheduler{Name: name}, r, [2]int{4, 4}, []workload.Job{job}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
