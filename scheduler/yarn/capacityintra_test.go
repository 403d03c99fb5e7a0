package yarn

import (
	"maps"
	"strings"
	"testing"
)

const (
	monitorKey = "!yarn.resourcemanager.monitor.capacity.preemption."
	withinKey  = monitorKey + "intra-queue-preemption."
)

// load is an application with its ApplicationMaster, containers of 1 GiB and a core,
// and asks for more of them.
type load struct {
	user     string
	priority int32
	has      int32
	asks     int32
}

// withinQueue has applications named a, b, ... share a queue of 100 GiB, and returns
// whose containers are preempted after 15 s.
func withinQueue(t *testing.T, more map[string]string, apps ...load) string {
	t.Helper()
	settings := map[string]string{
		"root.default.user-limit-factor": "10", "maximum-am-resource-percent": "1", "per-node-heartbeat.maximum-offswitch-assignments": "1000",
		"per-node-heartbeat.maximum-container-assignments": "1000", "!yarn.cluster.max-application-priority": "9",
		"!yarn.resourcemanager.scheduler.monitor.enable": "true", withinKey + "enabled": "true", monitorKey + "total_preemption_per_round": "1",
	}
	maps.Copy(settings, more)
	d := capacityDesk(t, 1, mib(102400, 100), settings)
	var list []*App
	for i, r := range apps {
		d.apps++
		a := &App{ID: d.apps, Attempt: 1, Name: string(rune('a' + i)), User: r.user, Queue: "default", Size: mib(1024, 1), Priority: r.priority}
		if err := d.s.AppAdded(a); err != nil {
			t.Fatal(err)
		}
		d.s.Update(a, []Ask{{Size: a.Size, Count: 1}}, nil, nil, nil)
		d.beat(d.nodes[0])
		d.pull(a)
		d.ask(a, 20, mib(1024, 1), r.has)
		d.beat(d.nodes[0])
		want(t, "containers of "+a.Name, len(d.pull(a)), int(r.has))
		if a.Waits() {
			t.Fatalf("%s has no ApplicationMaster", a.Name)
		}
		list = append(list, a)
	}
	for i, r := range apps {
		if r.asks > 0 {
			d.ask(list[i], 20, mib(1024, 1), r.asks)
		}
	}
	d.heard = nil
	d.until(14 * second)
	want(t, "only warned", len(d.heard), 0)
	d.until(15 * second)
	var of strings.Builder
	for _, h := range d.heard {
		if name, ok := strings.CutPrefix(h, "finished -102 true "); ok {
			of.WriteString(name[:1])
		}
	}
	return of.String()
}

// An application of a higher priority takes from a lower one of its user what it waits
// for, at most a fifth of the queue in a round.
func TestPreemptionByPriority(t *testing.T) {
	low, high := load{"u", 1, 97, 0}, load{"u", 5, 0, 30}
	by := map[string]string{withinKey + "preemption-order-policy": "priority_first"}
	with := func(key, value string) map[string]string {
		m := maps.Clone(by)
		m[key] = value
		return m
	}
	for _, c := range []struct {
		name     string
		settings map[string]string
		apps     []load
		want     string
	}{
		{"a fifth", by, []load{low, high}, strings.Repeat("a", 20)},
		{"what it waits for", with(withinKey+"max-allowable-limit", "1"), []load{low, high}, strings.Repeat("a", 30)},
		{"of the round", with(monitorKey+"total_preemption_per_round", "0.1"), []load{low, high}, strings.Repeat("a", 10)},
		{"same priority", by, []load{low, {"u", 1, 0, 30}}, ""},
		{"off in the queue", with("root.intra-queue-preemption.disable_preemption", "true"), []load{low, high}, ""},
		{"no preemption of the queue", with("root.default.disable_preemption", "true"), []load{low, high}, ""},
		{"only observed", with(monitorKey+"observe_only", "true"), []load{low, high}, ""},
		{"below the threshold", with(withinKey+"minimum-threshold", "0.995"), []load{low, high}, ""},
		{"off", with(withinKey+"enabled", "false"), []load{low, high}, ""},
		{"the lowest first", by, []load{{"u", 2, 40, 0}, {"u", 1, 10, 0}, {"u", 3, 40, 0}, high}, strings.Repeat("a", 10) + strings.Repeat("b", 10)},
		{"the newest first", by, []load{{"u", 1, 40, 0}, {"u", 1, 10, 0}, {"u", 1, 40, 0}, high}, strings.Repeat("c", 20)},
		{"of another user", by, []load{{"v", 1, 40, 0}, {"u", 2, 40, 0}, {"w", 5, 0, 19}}, strings.Repeat("a", 19)},
		{"its user may have no more", with("root.default.user-limit-factor", "1"), []load{low, {"u", 5, 1, 30}}, ""},
	} {
		want(t, c.name, withinQueue(t, c.settings, c.apps...), c.want)
	}
}

// A user below the limit takes from one above it, down to the limit and no further.
func TestPreemptionByUserLimit(t *testing.T) {
	by := map[string]string{"root.default.minimum-user-limit-percent": "50", withinKey + "max-allowable-limit": "1"}
	fair := maps.Clone(by)
	fair["root.default.ordering-policy"] = "fair"
	for _, c := range []struct {
		name     string
		settings map[string]string
		apps     []load
		want     string
	}{
		{"what it waits for", by, []load{{"u", 1, 97, 0}, {"v", 1, 0, 30}}, strings.Repeat("a", 30)},
		{"down to the limit", by, []load{{"u", 1, 97, 0}, {"v", 1, 0, 60}}, strings.Repeat("a", 47)},
		{"whatever the priority", by, []load{{"u", 5, 97, 0}, {"v", 1, 0, 60}}, strings.Repeat("a", 47)},
		{"one user", by, []load{{"u", 1, 97, 0}, {"u", 1, 0, 30}}, ""},
		{"all below the limit", by, []load{{"u", 1, 48, 0}, {"v", 1, 47, 30}}, ""},
		{"the newer of a user", by, []load{{"u", 1, 47, 0}, {"u", 1, 47, 0}, {"v", 1, 0, 60}}, strings.Repeat("b", 45)},
		{"the one that has more", fair, []load{{"u", 1, 57, 0}, {"u", 1, 37, 0}, {"v", 1, 0, 60}}, strings.Repeat("a", 45)},
		{"limits first", by, []load{{"u", 1, 40, 0}, {"v", 1, 40, 0}, {"w", 5, 0, 19}}, ""},
	} {
		want(t, c.name, withinQueue(t, c.settings, c.apps...), c.want)
	}
}
