package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// check finds every out-of-range value of a recorded case, with its line.
func (r *recorded) check(f *File, run int, onYARN bool) error {
	k := &ranges{report: report{file: f.name, lines: jsonLines(f.data)}}
	c := &r.Cluster
	key, nodes := "cluster.trackers", c.Trackers
	if onYARN {
		key, nodes = "cluster.nodes", c.Nodes
	}
	if nodes == 0 && k.lines[key] == 0 {
		return fmt.Errorf("%s: got JSON without %s: want a scenario in TOML, or a recorded case (docs/scenarios.md)", f.name, key)
	}
	k.whole(key, nodes, 1, mostNodes)
	k.nodes = nodes
	k.cluster(r, onYARN)
	k.costs(r)
	k.time("limit_ms", r.Limit)
	switch {
	case nodes < 1 || nodes > mostNodes: // reported
	case run < 1 || run > len(r.Runs):
		k.wrong("runs", fmt.Sprintf("run %d", run), fmt.Sprintf("--set run=K with K from 1 to %d", len(r.Runs)))
	default:
		at := index("runs", run-1)
		if n := len(r.Runs[run-1]); n != nodes {
			k.wrong(at, fmt.Sprintf("%d heartbeat phases", n), fmt.Sprintf("one for each of %d nodes", nodes))
		}
		k.times(at, r.Runs[run-1])
	}
	for i := range r.Jobs {
		k.job(index("jobs", i)+".", &r.Jobs[i], onYARN)
	}
	for i := range r.Apps {
		k.job(index("apps", i)+".", &r.Apps[i], onYARN)
	}
	if k.tasks > mostTasks {
		k.wrong("jobs", fmt.Sprintf("more than %d tasks", mostTasks), "fewer in one question")
	}
	return k.err()
}

// count adds numbers of tasks; above the limit it need not be exact.
func (k *ranges) count(numbers ...int) {
	for _, n := range numbers {
		k.tasks = min(mostTasks+1, k.tasks+min(mostTasks+1, n))
	}
}

func (k *ranges) cluster(r *recorded, onYARN bool) {
	c := &r.Cluster
	k.whole("cluster.racks", c.Racks, 0, max(1, k.nodes))
	k.ofNodes("cluster.map_slots", c.MapSlots, mostSlots)
	k.ofNodes("cluster.reduce_slots", c.ReduceSlots, mostSlots)
	k.ofNodes("cluster.memory_mb", c.Memory, mostContainer)
	k.ofNodes("cluster.vcores", c.VCores, mostContainer)
	switch {
	case len(k.problems) > 0:
	case onYARN && (len(c.Memory) == 0 || len(c.VCores) == 0):
		k.wrong("cluster", "no memory_mb or vcores", "both, as one number or one for each node")
	case !onYARN:
		sum := 0
		for i := range k.nodes {
			sum += int(c.MapSlots.of(i) + c.ReduceSlots.of(i))
		}
		if sum == 0 || sum > allSlots {
			k.wrong("cluster.map_slots", fmt.Sprintf("%d slots on %d trackers", sum, k.nodes), fmt.Sprintf("1 to %d slots in all", allSlots))
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
}

func (k *ranges) costs(r *recorded) {
	c := reflect.ValueOf(r.Costs)
	for i := range c.NumField() {
		k.time("costs."+c.Type().Field(i).Tag.Get("json"), c.Field(i).Int())
	}
}

// job checks a job or a scripted application.
func (k *ranges) job(at string, j *caseJob, onYARN bool) {
	k.time(at+"submit_ms", j.Submit)
	k.time(at+"heartbeat_ms", j.Heartbeat)
	if n, number := j.Priority.(float64); onYARN && j.Priority != nil && !(number && n == math.Trunc(n) && math.Abs(n) <= math.MaxInt32) {
		k.wrong(at+"priority", j.Priority, "a whole number")
	}
	k.whole(at+"maps.count", j.Maps.Count, 0, mostTasks)
	k.whole(at+"reduces.count", j.Reduces.Count, 0, mostTasks)
	k.count(j.Maps.Count, j.Reduces.Count)
	k.size(at+"am.", j.AM)
	k.size(at+"maps.", j.Maps.caseSize)
	k.size(at+"reduces.", j.Reduces.caseSize)
	k.eachTask(at+"maps.ms", j.Maps.Time, j.Maps.Count, onYARN)
	k.eachTask(at+"maps.retry_ms", j.Maps.Retry, j.Maps.Count, false)
	k.eachTask(at+"reduces.shuffle_ms", j.Reduces.Shuffle, j.Reduces.Count, onYARN)
	k.eachTask(at+"reduces.sort_ms", j.Reduces.Sort, j.Reduces.Count, onYARN)
	k.eachTask(at+"reduces.reduce_ms", j.Reduces.Reduce, j.Reduces.Count, onYARN)
	if most := int64(mostInput) / int64(max(1, j.Maps.Count)); j.Maps.Bytes < 0 || j.Maps.Bytes > most {
		k.wrong(at+"maps.bytes", j.Maps.Bytes, fmt.Sprintf("0 to %d, the bytes of each of %d maps", most, j.Maps.Count))
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
	for g := range j.Tasks {
		t, at := &j.Tasks[g], index(at+"tasks", g)+"."
		k.whole(at+"count", t.Count, 0, mostTasks)
		k.whole(at+"priority", t.Priority, -math.MaxInt32, math.MaxInt32)
		k.count(t.Count)
		k.size(at, t.caseSize)
		k.eachTask(at+"ms", t.Time, t.Count, true)
		if t.Hosts != nil && len(t.Hosts) != t.Count {
			k.wrong(at+"hosts", fmt.Sprintf("%d lists", len(t.Hosts)), fmt.Sprintf("one for each of %d tasks", t.Count))
		}
	}
}

const (
	mostContainer = 1 << 31 // MiB or vcores: Hadoop's resources hold at most 2^31 - 1
	mostInput     = 1 << 60 // bytes of a job
)

// ranges reports the out-of-range values of a recorded case.
type ranges struct {
	report
	nodes int
	tasks int // so far
}

func (k *ranges) wrong(path string, got any, want string) {
	line := k.lines[path]
	for of := path; line == 0 && of != ""; line = k.lines[of] { // of a key that is missing: where its table begins
		of = of[:max(0, strings.LastIndexAny(of, ".["))]
	}
	k.fail(line, "%s: %v: want %s", path, got, want)
}

func (k *ranges) whole(path string, n, least, most int) {
	if n < least || n > most {
		k.wrong(path, n, fmt.Sprintf("%d to %d", least, most))
	}
}

// ofNodes checks one number for all nodes, or one for each.
func (k *ranges) ofNodes(path string, list oneOrEach, most int64) {
	if n := len(list); n > 1 && n != k.nodes {
		k.wrong(path, fmt.Sprintf("%d numbers", n), fmt.Sprintf("one number, or one for each of %d nodes", k.nodes))
	}
	for i, n := range list {
		k.whole(k.element(path, i), int(n), 0, int(most))
	}
}

// size checks the size of a container.
func (k *ranges) size(at string, s caseSize) {
	k.whole(at+"memory_mb", int(s.Memory), 0, mostContainer)
	k.whole(at+"vcores", int(s.VCores), 0, mostContainer)
}

// eachTask checks one time for all tasks, or one for each. The cases of a JobTracker
// may have none, which is no time, or more than tasks.
func (k *ranges) eachTask(path string, list times, tasks int, exact bool) {
	if n := len(list); n > 1 && n < tasks || exact && tasks > 0 && n != 1 && n != tasks {
		k.wrong(path, fmt.Sprintf("%d times", n), fmt.Sprintf("one for each of %d tasks", tasks))
	}
	k.times(path, list)
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
