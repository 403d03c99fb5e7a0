package validation

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/shareddata"
	"github.com/slotwave/slotwave/model"
	policy "github.com/slotwave/slotwave/scheduler/yarn"
	"github.com/slotwave/slotwave/sim/engine"
	sim "github.com/slotwave/slotwave/sim/yarn"
)

// recorded is the release whose decisions are recorded.
var recorded, _ = model.FindRelease("3.3.6")

// yarnCase is a case of the measured ResourceManager (oracle-yarn/README.md).
type yarnCase struct {
	name    string
	folder  string
	Cluster struct {
		Nodes    int
		RackOf   []int           `json:"rack_of"`
		Memory   json.RawMessage `json:"memory_mb"`
		VCores   json.RawMessage
		Slowness []float64
		Dies     map[string]int64 `json:"dies_ms"`
	}
	Scheduler struct {
		Type       string
		Properties map[string]any
		Capacity   map[string]any
		Fair       map[string]any
	}
	Costs map[string]int64
	Limit int64 `json:"limit_ms"`
	Runs  [][]int64
	Jobs  []yarnJob
	Apps  []yarnJob
}

type yarnJob struct {
	Name, Queue, User string
	Submit            int64 `json:"submit_ms"`
	Priority          int32
	AM                yarnSize
	Heartbeat         int64 `json:"heartbeat_ms"`
	Properties        map[string]any
	Maps, Reduces     yarnSize
	Tasks             []struct {
		Count    int
		Priority int32
		yarnSize
		MS    []int64
		Hosts [][]string
	}
}

type yarnSize struct {
	Memory int64 `json:"memory_mb"`
	VCores int64
}

func (s yarnSize) resource() model.Resource {
	return model.Resource{MemoryMiB: s.Memory, VCores: s.VCores}
}

const ms = engine.Time(1e6)

func openYarnCase(t testing.TB, folder string) *yarnCase {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "case.json"))
	if err != nil {
		t.Fatal(err)
	}
	c := &yarnCase{name: filepath.Base(folder), folder: folder}
	if err := json.Unmarshal(data, c); err != nil {
		t.Fatalf("%s: %v", folder, err)
	}
	return c
}

// perNode spreads a number or a list over the nodes.
func (c *yarnCase) perNode(raw json.RawMessage) []int64 {
	var list []int64
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	var one int64
	json.Unmarshal(raw, &one)
	for range c.Cluster.Nodes {
		list = append(list, one)
	}
	return list
}

func (c *yarnCase) host(i int32) string { return fmt.Sprintf("c%03d", i) }

// scheduler makes the case's policy from its properties.
func (c *yarnCase) scheduler() func(policy.Listener) (policy.Scheduler, error) {
	p := policy.Properties{}
	add := func(prefix string, m map[string]any) {
		for k, v := range m {
			p[prefix+k] = fmt.Sprint(v)
		}
	}
	add("", c.Scheduler.Properties)
	if c.Scheduler.Type == "capacity" {
		const prefix = "yarn.scheduler.capacity."
		p[prefix+"root.queues"], p[prefix+"root.default.capacity"] = "default", "100"
		add(prefix, c.Scheduler.Capacity)
		return func(l policy.Listener) (policy.Scheduler, error) {
			return policy.New(&model.YARN{Policy: "capacity", Properties: p}, recorded.YARN, l)
		}
	}
	file := &model.Allocations{Settings: texts(c.Scheduler.Fair), Queues: allocationQueues(c.Scheduler.Fair["queues"])}
	return func(l policy.Listener) (policy.Scheduler, error) {
		return policy.New(&model.YARN{Policy: "fair", Properties: p, Allocations: file}, recorded.YARN, l)
	}
}

// texts keeps the settings of a queue or a file that are no queues.
func texts(m map[string]any) map[string]string {
	out := make(map[string]string)
	for k, v := range m {
		if k != "queues" {
			out[k] = fmt.Sprint(v)
		}
	}
	return out
}

func allocationQueues(v any) []model.AllocationQueue {
	m, _ := v.(map[string]any)
	var list []model.AllocationQueue
	for _, name := range slices.Sorted(maps.Keys(m)) {
		own, _ := m[name].(map[string]any)
		list = append(list, model.AllocationQueue{Name: name, Settings: texts(own), Queues: allocationQueues(own["queues"])})
	}
	return list
}

func (c *yarnCase) property(key string, unset int64) engine.Time {
	if v, ok := c.Scheduler.Properties[key]; ok {
		n, _ := strconv.ParseInt(fmt.Sprint(v), 10, 64)
		return engine.Time(n) * ms
	}
	return engine.Time(unset) * ms
}

func (c *yarnCase) cost(name string) engine.Time { return engine.Time(c.Costs[name]) * ms }

// config makes the cluster of a run, counted from 1.
func (c *yarnCase) config(run int) sim.Config {
	memory, vcores := c.perNode(c.Cluster.Memory), c.perNode(c.Cluster.VCores)
	config := sim.Config{
		Engine:    engine.New(),
		Scheduler: c.scheduler(), Heartbeat: 1000 * ms, Kill: c.cost("kill_ms"),
		Expiry:   c.property("yarn.nm.liveness-monitor.expiry-interval-ms", 600000),
		AMExpiry: c.property("yarn.am.liveness-monitor.expiry-interval-ms", 600000),
	}
	for i, first := range c.Runs[run-1] {
		n := sim.NodeConfig{
			Name: c.host(int32(i)), Rack: "/default-rack", First: engine.Time(first) * ms, Dies: engine.Never,
			Total: model.Resource{MemoryMiB: memory[i], VCores: vcores[i]},
		}
		if d, ok := c.Cluster.Dies[strconv.Itoa(i)]; ok {
			n.Dies = engine.Time(d) * ms
		}
		config.Nodes = append(config.Nodes, n)
	}
	return config
}

func (c *yarnCase) submission(j *yarnJob) sim.Submission {
	interval := engine.Time(1000) * ms
	if j.Heartbeat > 0 {
		interval = engine.Time(j.Heartbeat) * ms
	}
	return sim.Submission{
		Name: j.Name, Queue: j.Queue, User: j.User, At: engine.Time(j.Submit) * ms, Priority: j.Priority,
		AM: j.AM.resource(), Attempts: 2, Launch: c.cost("am_launch_ms"), Interval: interval,
	}
}

// readTable reads a recorded table, packed or not; a missing one has no rows.
func readTable(t testing.TB, path string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		r = csv.NewReader(z)
	}
	all, err := r.ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var rows []map[string]string
	for _, line := range all[1:] {
		row := make(map[string]string)
		for i, name := range all[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// containerFields are the columns of containers.csv that decide whether a run is exact.
var containerFields = []string{"job", "container", "what", "node", "memory_mb", "vcores", "priority", "reserved_ms", "allocated_ms", "acquired_ms", "start_ms", "end_ms", "freed_ms", "exit"}

func inMs(t engine.Time) string {
	if t == sim.None {
		return ""
	}
	return strconv.FormatInt(int64(t/ms), 10)
}

// containerRow writes a simulated container as the recorded table does.
func (c *yarnCase) containerRow(r sim.Row) map[string]string {
	id := strconv.Itoa(int(r.Number))
	if r.Attempt > 1 {
		id = fmt.Sprint(r.Attempt, ".", id)
	}
	exit := strconv.Itoa(int(r.Exit))
	if r.Freed == sim.None {
		exit = ""
	}
	return map[string]string{
		"job": r.Application, "container": id, "what": r.What, "node": c.host(r.Node),
		"memory_mb": strconv.FormatInt(r.Size.MemoryMiB, 10), "vcores": strconv.FormatInt(r.Size.VCores, 10),
		"priority": strconv.Itoa(int(r.Priority)), "reserved_ms": inMs(r.Reserved), "allocated_ms": inMs(r.Allocated),
		"acquired_ms": inMs(r.Acquired), "start_ms": inMs(r.Start), "end_ms": inMs(r.End), "freed_ms": inMs(r.Freed), "exit": exit,
	}
}

// matched counts the recorded containers that were simulated exactly.
type matched struct {
	exact, rows int
	extra       int // simulated, not recorded
	first       string
	firstAt     int64
}

func (c *yarnCase) compareContainers(t testing.TB, run int, rows []sim.Row) matched {
	t.Helper()
	got := make(map[string]map[string]string)
	for _, r := range rows {
		row := c.containerRow(r)
		got[row["job"]+"/"+row["container"]] = row
	}
	m := matched{firstAt: -1}
	differs := func(at, text string) {
		n, _ := strconv.ParseInt(at, 10, 64)
		if m.firstAt < 0 || n < m.firstAt {
			m.firstAt, m.first = n, text
		}
	}
	for _, want := range readTable(t, filepath.Join(c.folder, fmt.Sprint("run", run), "containers.csv.gz")) {
		m.rows++
		key := want["job"] + "/" + want["container"]
		row, ok := got[key]
		delete(got, key)
		at := want["allocated_ms"]
		if want["reserved_ms"] != "" {
			at = want["reserved_ms"]
		}
		if !ok {
			differs(at, fmt.Sprintf("%s at %s: not there", key, at))
			continue
		}
		same := true
		for _, f := range containerFields {
			if row[f] != want[f] {
				same = false
				when := at
				if strings.HasSuffix(f, "_ms") && want[f] != "" {
					when = want[f]
				}
				differs(when, fmt.Sprintf("%s at %s: %s got %q, want %q", key, at, f, row[f], want[f]))
			}
		}
		if same {
			m.exact++
		}
	}
	m.extra = len(got)
	for key, row := range got {
		differs(row["allocated_ms"], fmt.Sprintf("%s at %s: not recorded", key, row["allocated_ms"]))
	}
	return m
}

func yarnFolders(t testing.TB) []string {
	cases, _ := filepath.Glob(filepath.Join(filepath.Dir(shareddata.Path(t, "data/oracle-yarn/README.md")), "*", "case.json"))
	for i := range cases {
		cases[i] = filepath.Dir(cases[i])
	}
	return cases
}
