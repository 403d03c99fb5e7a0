package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// check finds every out-of-range value of a recorded case, with its line.
func (r *recorded) check(f *File, run int) error {
	k := &ranges{report{file: f.name, lines: jsonLines(f.data)}}
	c := &r.Cluster
	if c.Trackers == 0 && k.lines["cluster.trackers"] == 0 {
		return fmt.Errorf("%s: got JSON without cluster.trackers: want a scenario in TOML, or a recorded case (docs/cases.md)", f.name)
	}
	k.whole("cluster.trackers", c.Trackers, 1, mostNodes)
	k.whole("cluster.racks", c.Racks, 0, max(1, c.Trackers))
	k.slots("cluster.map_slots", c.MapSlots, c.Trackers)
	k.slots("cluster.reduce_slots", c.ReduceSlots, c.Trackers)
	if len(k.problems) == 0 {
		sum := 0
		for i := range c.Trackers {
			sum += c.MapSlots.of(i) + c.ReduceSlots.of(i)
		}
		if sum == 0 || sum > allSlots {
			k.wrong("cluster.map_slots", fmt.Sprintf("%d slots on %d trackers", sum, c.Trackers), fmt.Sprintf("1 to %d slots in all", allSlots))
		}
	}
	for i, rack := range c.RackOf {
		k.whole(index("cluster.rack_of", i), rack, 0, max(1, c.Racks)-1)
	}
	for i, slowness := range c.Slowness {
		if !(slowness >= leastSlowdown && slowness <= mostSlowdown) {
			k.wrong(index("cluster.slowness", i), slowness, fmt.Sprintf("%v to %v", leastSlowdown, mostSlowdown))
		}
	}
	k.byTracker("cluster.dies_ms", c.Dies)
	k.byTracker("cluster.fail_after_ms", c.FailAfter)
	k.time("costs.launch_ms", r.Costs.Launch)
	k.time("costs.setup_ms", r.Costs.Setup)
	k.time("costs.cleanup_ms", r.Costs.Cleanup)
	k.time("costs.commit_ms", r.Costs.Commit)
	k.time("costs.task_cleanup_ms", r.Costs.TaskCleanup)
	k.time("limit_ms", r.Limit)
	switch {
	case c.Trackers < 1 || c.Trackers > mostNodes: // reported
	case run < 1 || run > len(r.Runs):
		k.wrong("runs", fmt.Sprintf("run %d", run), fmt.Sprintf("--set run=K with K from 1 to %d", len(r.Runs)))
	default:
		at := index("runs", run-1)
		if n := len(r.Runs[run-1]); n != c.Trackers {
			k.wrong(at, fmt.Sprintf("%d heartbeat phases", n), fmt.Sprintf("one for each of %d trackers", c.Trackers))
		}
		k.times(at, r.Runs[run-1])
	}
	tasks := 0
	for i := range r.Jobs {
		j := &r.Jobs[i]
		at := index("jobs", i) + "."
		k.time(at+"submit_ms", j.Submit)
		k.whole(at+"maps.count", j.Maps.Count, 0, mostTasks)
		k.whole(at+"reduces.count", j.Reduces.Count, 0, mostTasks)
		tasks = min(mostTasks, tasks) + min(mostTasks, j.Maps.Count) + min(mostTasks, j.Reduces.Count)
		for _, x := range []struct {
			key   string
			list  times
			tasks int
		}{
			{"maps.ms", j.Maps.Time, j.Maps.Count}, {"reduces.shuffle_ms", j.Reduces.Shuffle, j.Reduces.Count},
			{"reduces.sort_ms", j.Reduces.Sort, j.Reduces.Count}, {"reduces.reduce_ms", j.Reduces.Reduce, j.Reduces.Count},
		} {
			if n := len(x.list); n > 1 && n < x.tasks {
				k.wrong(at+x.key, fmt.Sprintf("%d times", n), fmt.Sprintf("one for each of %d tasks", x.tasks))
			}
			k.times(at+x.key, x.list)
		}
		for _, x := range []struct {
			key    string
			factor float64
		}{{"maps.rack_factor", j.Maps.RackFactor}, {"maps.off_factor", j.Maps.OffFactor}} {
			if !(x.factor >= 0 && x.factor <= mostFactor) {
				k.wrong(at+x.key, x.factor, fmt.Sprintf("0 to %v", mostFactor))
			}
		}
		k.failures(at+"maps.fail", j.Maps.Fail, j.Maps.Count)
		k.failures(at+"reduces.fail", j.Reduces.Fail, j.Reduces.Count)
	}
	if tasks > mostTasks {
		k.wrong("jobs", fmt.Sprintf("more than %d tasks", mostTasks), "fewer in one question")
	}
	return k.err()
}

// ranges reports the out-of-range values of a recorded case.
type ranges struct{ report }

func (k *ranges) wrong(path string, got any, want string) {
	k.fail(k.lines[path], "%s: %v: want %s", path, got, want)
}

func (k *ranges) whole(path string, n, least, most int) {
	if n < least || n > most {
		k.wrong(path, n, fmt.Sprintf("%d to %d", least, most))
	}
}

func (k *ranges) slots(path string, list oneOrEach[int], trackers int) {
	if n := len(list); n > 1 && n != trackers {
		k.wrong(path, fmt.Sprintf("%d numbers", n), fmt.Sprintf("one number, or one for each of %d trackers", trackers))
	}
	for i, n := range list {
		k.whole(k.element(path, i), n, 0, mostSlots)
	}
}

// element returns the path of an element of a list, or of the one value that is
// given instead of a list.
func (k *ranges) element(path string, i int) string {
	if at := index(path, i); k.lines[at] > 0 {
		return at
	}
	return path
}

// mostCaseTime is smaller than the other limits, because slowness and distance
// multiply the times of a case.
const mostCaseTime = int64(24_000 * time.Hour / time.Millisecond)

func (k *ranges) time(path string, ms int64) {
	if ms < 0 || ms > mostCaseTime {
		k.wrong(path, ms, fmt.Sprintf("0 to %d ms", mostCaseTime))
	}
}

func (k *ranges) times(path string, list []int64) {
	for i, ms := range list {
		k.time(k.element(path, i), ms)
	}
}

func (k *ranges) byTracker(path string, values map[string]int64) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		k.time(join(path, key), values[key])
	}
}

func (k *ranges) failures(path string, in map[string][]*int64, tasks int) {
	for _, key := range slices.Sorted(maps.Keys(in)) {
		at := join(path, key)
		if task, err := strconv.Atoi(key); err != nil || task < 0 || task >= tasks {
			k.wrong(at, strconv.Quote(key), fmt.Sprintf("a task from 0 to %d", tasks-1))
		}
		for i, ms := range in[key] {
			if ms != nil {
				k.time(index(at, i), *ms)
			}
		}
	}
}

// jsonLines finds the line of every value of a JSON text, by its path as in
// jobs[0].maps.ms[3].
func jsonLines(data []byte) map[string]int {
	at := map[string]int{}
	d := json.NewDecoder(bytes.NewReader(data))
	line, seen := 1, 0
	next := func() json.Token {
		token, err := d.Token()
		if err != nil {
			return nil
		}
		line += bytes.Count(data[seen:d.InputOffset()], []byte("\n"))
		seen = int(d.InputOffset())
		return token
	}
	var value func(path string, depth int) bool
	value = func(path string, depth int) bool {
		token := next()
		at[path] = line
		switch token {
		case json.Delim('{'):
			for d.More() && depth < maxDepth {
				key, ok := next().(string)
				if !ok || !value(join(path, key), depth+1) {
					return false
				}
			}
			return next() == json.Delim('}')
		case json.Delim('['):
			for i := 0; d.More() && depth < maxDepth; i++ {
				if !value(strings.TrimPrefix(index(path, i), "."), depth+1) {
					return false
				}
			}
			return next() == json.Delim(']')
		}
		return true
	}
	value("", 0)
	return at
}
