package validation

import (
	"cmp"
	"compress/gzip"
	"container/heap"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/mrapp"
	ryarn "github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

// yarnCase is the case.json of a recorded YARN case, as far as the ApplicationMaster
// needs it.
type yarnCase struct {
	Name    string
	Cluster struct {
		Nodes     int
		RackOf    []int `json:"rack_of"`
		Slowness  []float64
		Dies      map[string]int64 `json:"dies_ms"`
		FailAfter []int64          `json:"fail_after_ms"` // by node; 0 or missing: never
	}
	Scheduler struct {
		Type     string
		Capacity map[string]any
	}
	Costs map[string]int64
	Jobs  []yarnJob
}

type yarnJob struct {
	Name       string
	Properties map[string]any
	AM         yarnSize
	Maps       struct {
		yarnSize
		Count      int
		MS         []int64
		Retry      []int64 `json:"retry_ms"`
		Hosts      [][]string
		Fail       map[string][]int64
		RackFactor float64 `json:"rack_factor"`
		OffFactor  float64 `json:"off_factor"`
		Bytes      int64
	}
	Reduces struct {
		yarnSize
		Count   int
		Shuffle []int64 `json:"shuffle_ms"`
		Sort    []int64 `json:"sort_ms"`
		Reduce  []int64 `json:"reduce_ms"`
		Fail    map[string][]int64
	}
}

type yarnSize struct {
	Memory int64 `json:"memory_mb"`
	VCores int64
}

func (s yarnSize) size() model.Resource { return model.Resource{MemoryMiB: s.Memory, VCores: s.VCores} }

func ms(n int64) engine.Time { return engine.Time(n) * engine.Time(time.Millisecond) }

func inMS(t engine.Time) string {
	if t == mrapp.None {
		return ""
	}
	return strconv.FormatInt(t.Duration().Milliseconds(), 10)
}

// rows reads a table, plain or compressed, as maps from column to text.
func rows(t *testing.T, path string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	all, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, column := range all[0] {
			row[column] = cells[i]
		}
		out = append(out, row)
	}
	return out
}

// agenda runs calls in order of time, and those of one instant in the order in which
// they were set.
type agenda struct {
	now   engine.Time
	set   int
	calls []*agendaCall
}

type agendaCall struct {
	at    engine.Time
	order int
	do    func()
}

func (a *agenda) Len() int { return len(a.calls) }
func (a *agenda) Less(i, j int) bool {
	x, y := a.calls[i], a.calls[j]
	return x.at < y.at || x.at == y.at && x.order < y.order
}
func (a *agenda) Swap(i, j int) { a.calls[i], a.calls[j] = a.calls[j], a.calls[i] }
func (a *agenda) Push(x any)    { a.calls = append(a.calls, x.(*agendaCall)) }
func (a *agenda) Pop() any {
	last := a.calls[len(a.calls)-1]
	a.calls = a.calls[:len(a.calls)-1]
	return last
}

func (a *agenda) at(when engine.Time, do func()) *agendaCall {
	if when < a.now {
		panic("agenda: an instant that has passed")
	}
	a.set++
	c := &agendaCall{when, a.set, do}
	heap.Push(a, c)
	return c
}

func (c *agendaCall) Stop() { c.do = func() {} }

func (a *agenda) run() {
	for len(a.calls) > 0 {
		c := heap.Pop(a).(*agendaCall)
		a.now = c.at
		c.do()
	}
}

// fedMaster is a ResourceManager that answers what was recorded, whatever it is asked.
type fedMaster struct {
	*fedCase
	job        string
	generation string // "" or "2."
	am         *mrapp.AppMaster
	node       int32
	headroom   model.Resource
	containers map[string]*ryarn.Container
	told       map[int32]bool // lost nodes
	asked      bool           // to unregister
	process    map[*ryarn.Container]*process
	container  map[string]string
}

type process struct {
	row     map[string]string
	stopped bool
	gone    bool
}

// fedCase is one recorded case and what came out of the replay.
type fedCase struct {
	agenda
	test *testing.T
	yarnCase
	answers  map[string]map[string]string // by job and time
	rows     map[string][]map[string]string
	places   map[string]ryarn.Place
	lostAt   map[int32]engine.Time // when the ResourceManager lost a node
	asks     []string
	attempts map[string]string
	jobs     map[string]string
	ends     map[string]string
	killing  engine.Time
}

func (f *fedCase) dies(node int32) engine.Time {
	if at, ok := f.Cluster.Dies[strconv.Itoa(int(node))]; ok {
		return ms(at)
	}
	return engine.Never
}

func (m *fedMaster) Now() engine.Time { return m.now }

func (m *fedMaster) At(when engine.Time, do func()) ryarn.Timer { return m.at(when, do) }

func (m *fedMaster) Registered() ryarn.Registration {
	calculator, _ := m.Scheduler.Capacity["resource-calculator"].(string)
	return ryarn.Registration{
		Node: m.node, Largest: model.Resource{MemoryMiB: 1 << 40, VCores: 1 << 20},
		VCores: m.Scheduler.Type == "fair" || strings.Contains(calculator, "Dominant"),
	}
}

func (f *fedCase) place(name string) ryarn.Place {
	if _, ok := f.places[name]; !ok {
		f.places[name] = ryarn.Place(len(f.places) + 1)
	}
	return f.places[name]
}

func (m *fedMaster) Place(name string) ryarn.Place { return m.place(name) }
func (m *fedMaster) HostOf(node int32) ryarn.Place { return m.place(host(node)) }
func (m *fedMaster) RackOf(node int32) ryarn.Place { return m.place("/default-rack") }
func host(node int32) string                       { return fmt.Sprintf("c%03d", node) }
func nodeOf(host string) int32 {
	n, err := strconv.Atoi(strings.TrimPrefix(host, "c"))
	if err != nil {
		panic(err)
	}
	return int32(n)
}

func (m *fedMaster) Allocate(q ryarn.AllocateRequest) ryarn.AllocateResponse {
	m.note(q)
	var answer ryarn.AllocateResponse
	if row, ok := m.answers[m.job+" "+inMS(m.now)]; ok {
		for _, n := range strings.Fields(row["allocated"]) {
			answer.Granted = append(answer.Granted, m.granted(n))
		}
		for _, e := range strings.Fields(row["completed"]) {
			n, exit, _ := strings.Cut(e, ":")
			code, _ := strconv.Atoi(exit)
			answer.Ended = append(answer.Ended, ryarn.Ended{Container: m.granted(n), Exit: ryarn.Exit(code)})
		}
		memory, cores, _ := strings.Cut(row["headroom"], ":")
		m.headroom.MemoryMiB, _ = strconv.ParseInt(memory, 10, 64)
		m.headroom.VCores, _ = strconv.ParseInt(cores, 10, 64)
	}
	answer.Headroom = m.headroom
	answer.Cluster = m.Cluster.Nodes
	for node, at := range m.lostAt {
		if at <= m.now {
			answer.Cluster--
			if !m.told[node] {
				m.told[node] = true
				answer.Nodes = append(answer.Nodes, ryarn.NodeReport{Node: node})
			}
		}
	}
	return answer
}

// granted returns a recorded container.
func (m *fedMaster) granted(number string) *ryarn.Container {
	if c, ok := m.containers[number]; ok {
		return c
	}
	row := m.row(number)
	n, _ := strconv.Atoi(number)
	p, _ := strconv.Atoi(row["priority"])
	memory, _ := strconv.ParseInt(row["memory_mb"], 10, 64)
	cores, _ := strconv.ParseInt(row["vcores"], 10, 64)
	c := &ryarn.Container{
		Number: int32(n), Node: nodeOf(row["node"]), Priority: ryarn.Priority(p),
		Size: model.Resource{MemoryMiB: memory, VCores: cores},
	}
	m.containers[number] = c
	return c
}

func (m *fedMaster) row(number string) map[string]string {
	for _, row := range m.rows["containers"] {
		if row["job"] == m.job && row["container"] == m.generation+number {
			return row
		}
	}
	m.test.Fatalf("%s: no container %s%s of %s", m.Name, m.generation, number, m.job)
	return nil
}

// note writes down what a heartbeat carried, in the words of the record.
func (m *fedMaster) note(q ryarn.AllocateRequest) {
	names := map[ryarn.Place]string{ryarn.Any: "*"}
	for name, place := range m.places {
		names[place] = name
	}
	var asks, releases, refused []string
	for _, a := range q.Asks {
		if !m.Registered().VCores {
			a.Size.VCores = 1 // the record shows the ask after the scheduler has normalised it
		}
		asks = append(asks, fmt.Sprintf("%d:%s:%d:%d:%d", a.Priority, names[a.Place], a.Size.MemoryMiB, a.Size.VCores, a.Count))
	}
	for _, c := range q.Releases {
		releases = append(releases, strconv.Itoa(int(c.Number)))
	}
	for _, n := range q.Blacklist {
		refused = append(refused, "+"+host(n))
	}
	for _, n := range q.Forgive {
		refused = append(refused, "-"+host(n))
	}
	m.asks = append(m.asks, asksRow(inMS(m.now), m.job, asks, releases, refused)...)
}

func asksRow(at, job string, asks, releases, refused []string) []string {
	if len(asks)+len(releases)+len(refused) == 0 {
		return nil
	}
	slices.Sort(asks)
	slices.Sort(releases)
	slices.Sort(refused)
	return []string{fmt.Sprintf("%8s %s: %s | %s | %s", at, job, strings.Join(asks, " "), strings.Join(releases, " "), strings.Join(refused, " "))}
}

func (m *fedMaster) Launch(c *ryarn.Container) bool {
	if m.dies(c.Node) <= m.now {
		return false
	}
	p := &process{row: m.row(strconv.Itoa(int(c.Number)))}
	m.process[c] = p
	if at := m.dies(c.Node); at != engine.Never {
		m.at(at, func() {
			if !p.gone {
				p.gone = true
				m.am.Died(c)
			}
		})
	}
	if exit := p.row["exit"]; exit != "0" && exit != "-105" && p.row["end_ms"] != "" {
		end, _ := strconv.ParseInt(p.row["end_ms"], 10, 64)
		if at := ms(end) - m.killing; at >= m.now {
			m.at(at, func() { m.kill(c) })
		}
	}
	return true
}

func (m *fedMaster) kill(c *ryarn.Container) {
	p := m.process[c]
	if p == nil || p.stopped || p.gone {
		return
	}
	p.stopped = true
	m.am.Killed(c)
	m.at(m.now+m.killing, func() { m.gone(c) })
}

func (m *fedMaster) gone(c *ryarn.Container) {
	if p := m.process[c]; !p.gone {
		p.gone = true
		m.ends[m.job+" "+m.generation+strconv.Itoa(int(c.Number))] = inMS(m.now)
	}
}

func (m *fedMaster) Ended(c *ryarn.Container, exit ryarn.Exit) { m.gone(c) }

func (m *fedMaster) Stop(c *ryarn.Container) { m.at(m.now, func() { m.kill(c) }) }

func (m *fedMaster) Unregister(success bool) bool {
	again := m.asked
	m.asked = true
	return again
}

func (m *fedMaster) Exit() { m.jobs[m.job] += " " + inMS(m.now) }

func (m *fedMaster) Attempt(r mrapp.AttemptRecord) {
	container := m.generation + strconv.Itoa(int(r.Container))
	if r.Container == 0 {
		container = "am"
	}
	locality, state := "", ""
	if r.Kind == workload.Map {
		locality = r.Locality.String()
	}
	if r.State != workload.Running {
		state = r.State.String()
	}
	key := fmt.Sprintf("%s %s %d %d", m.job, r.Kind, r.Task, r.Attempt)
	m.attempts[key] = strings.Join([]string{
		container, host(r.Node), locality, inMS(r.Launched), inMS(r.Begun), inMS(r.MapsKnown), inMS(r.Pending), inMS(r.Done), state,
	}, ",")
}

func (m *fedMaster) Job(r mrapp.JobRecord) {
	uber := ""
	if r.Uber {
		uber = "1"
	}
	m.jobs[m.job] = strings.Join([]string{inMS(r.Inited), inMS(r.Finished), inMS(r.Unregistered), uber, r.State.String()}, " ")
}

// yarnTasks are the given times of a recorded job.
type yarnTasks struct {
	*yarnCase
	*yarnJob
}

func (y yarnTasks) Work(kind workload.Kind, task, attempt, node int32) mrapp.Work {
	slow := 1.0
	if len(y.Cluster.Slowness) > 0 {
		slow = y.Cluster.Slowness[node]
	}
	times := func(n int64, by float64) engine.Time {
		return ms(int64(math.Floor(float64(n)*by*slow + 0.5)))
	}
	w := mrapp.Work{Fails: engine.Never, Locality: workload.NoLocality}
	fail := y.Maps.Fail
	if kind == workload.Map {
		n := y.Maps.MS[task]
		if attempt > 0 && len(y.Maps.Retry) > 0 {
			n = y.Maps.Retry[task]
		}
		factor := 1.0
		w.Locality = y.locality(task, node)
		switch w.Locality {
		case workload.RackLocal:
			factor = cmp.Or(y.Maps.RackFactor, 1)
		case workload.OffRack:
			factor = cmp.Or(y.Maps.OffFactor, 1)
		}
		w.Map = times(n, factor)
	} else {
		fail = y.Reduces.Fail
		w.Shuffle, w.Sort, w.Reduce = times(y.Reduces.Shuffle[task], 1), times(y.Reduces.Sort[task], 1), times(y.Reduces.Reduce[task], 1)
	}
	if at := fail[strconv.Itoa(int(task))]; int(attempt) < len(at) {
		w.Fails = ms(at[attempt])
	}
	if at := y.Cluster.FailAfter; int(node) < len(at) && at[node] > 0 {
		w.Fails = min(w.Fails, ms(at[node]))
	}
	return w
}

func (y yarnTasks) locality(task, node int32) workload.Locality {
	if int(task) >= len(y.Maps.Hosts) || len(y.Maps.Hosts[task]) == 0 {
		return workload.NoLocality
	}
	best := workload.OffRack
	for _, h := range y.Maps.Hosts[task] {
		at := nodeOf(h)
		if at == node {
			return workload.NodeLocal
		}
		if y.Cluster.RackOf[at] == y.Cluster.RackOf[node] {
			best = workload.RackLocal
		}
	}
	return best
}

// job makes the question of a recorded job.
func (f *fedCase) question(t *testing.T, j *yarnJob, recorder mrapp.Recorder) *mrapp.Job {
	var conf workload.Conf
	conf.Set("mapreduce.map.speculative", "false")
	conf.Set("mapreduce.reduce.speculative", "false")
	for k, v := range j.Properties {
		conf.Set(k, fmt.Sprint(v))
	}
	settings, err := mrapp.ReadSettings(conf)
	if err != nil {
		t.Fatal(err)
	}
	q := &mrapp.Job{
		Reduces: j.Reduces.Count, MapSize: j.Maps.size(), ReduceSize: j.Reduces.size(), AMSize: j.AM.size(),
		InputBytes: int64(j.Maps.Count) * cmp.Or(j.Maps.Bytes, 128<<20), BlockBytes: 128 << 20,
		Settings: settings, Release: mrapp.Hadoop336, Tasks: yarnTasks{&f.yarnCase, j}, Recorder: recorder,
		Costs: mrapp.Costs{
			Setup: ms(f.Costs["setup_ms"]), Launch: ms(f.Costs["launch_ms"]), Commit: ms(f.Costs["commit_ms"]),
			Exit: ms(f.Costs["exit_ms"]), Abort: ms(f.Costs["task_abort_ms"]), JobCommit: ms(f.Costs["job_commit_ms"]),
			AMExit: ms(f.Costs["am_exit_ms"]),
		},
	}
	q.Hosts = make([][]int32, j.Maps.Count)
	for i, hosts := range j.Maps.Hosts {
		for _, h := range hosts {
			q.Hosts[i] = append(q.Hosts[i], nodeOf(h))
		}
	}
	return q
}

// feed replays the ApplicationMasters of run 1 of a case; nil: it has none of MapReduce.
func feed(t *testing.T, folder string) *fedCase {
	f := &fedCase{
		test: t, answers: map[string]map[string]string{}, rows: map[string][]map[string]string{}, places: map[string]ryarn.Place{},
		lostAt: map[int32]engine.Time{}, attempts: map[string]string{}, jobs: map[string]string{}, ends: map[string]string{},
	}
	data, err := os.ReadFile(filepath.Join(folder, "case.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &f.yarnCase); err != nil {
		t.Fatal(err)
	}
	if len(f.Jobs) == 0 {
		return nil
	}
	f.killing = ms(f.Costs["kill_ms"])
	f.place("/default-rack")
	for n := range int32(f.Cluster.Nodes) {
		f.place(host(n))
	}
	for _, name := range []string{"asks.csv.gz", "attempts.csv.gz", "containers.csv.gz", "jobs.csv"} {
		table, _, _ := strings.Cut(name, ".")
		f.rows[table] = rows(t, filepath.Join(folder, "run1", name))
	}
	for _, row := range f.rows["asks"] {
		f.answers[row["job"]+" "+row["time_ms"]] = row
	}
	for _, row := range f.rows["containers"] {
		if node := nodeOf(row["node"]); f.dies(node) != engine.Never && row["exit"] == "-100" && row["end_ms"] == "" && row["start_ms"] != "" {
			at, _ := strconv.ParseInt(row["freed_ms"], 10, 64)
			f.lostAt[node] = ms(at)
		}
	}
	for i := range f.Jobs {
		f.start(t, &f.Jobs[i])
	}
	f.run()
	return f
}

// start starts the ApplicationMasters of a job when they were recorded to start.
func (f *fedCase) start(t *testing.T, j *yarnJob) {
	for _, row := range f.rows["containers"] {
		if row["job"] != j.Name || row["what"] != "am" {
			continue
		}
		m := &fedMaster{
			fedCase: f, job: j.Name, node: nodeOf(row["node"]), containers: map[string]*ryarn.Container{},
			told: map[int32]bool{}, process: map[*ryarn.Container]*process{},
		}
		nth := 1
		if strings.HasPrefix(row["container"], "2.") {
			m.generation, nth = "2.", 2
		}
		start, _ := strconv.ParseInt(row["start_ms"], 10, 64)
		at := ms(start + f.Costs["am_launch_ms"])
		m.am = mrapp.New(f.question(t, j, m), nth)
		if dies := f.dies(m.node); dies != engine.Never && row["exit"] != "0" {
			f.at(dies, m.am.Lost)
		}
		for node, lost := range f.lostAt {
			if lost <= at {
				m.told[node] = true
			}
		}
		f.at(at, func() {
			m.am.Start(m)
			m.beat()
		})
	}
}

func (m *fedMaster) beat() {
	m.at(m.now+ms(1000), func() {
		if m.am.Beating() {
			m.am.Beat()
			m.beat()
		}
	})
}

// difference is the outcome of a comparison of one table.
type difference struct {
	same, all int
	first     string
}

func (d *difference) row(got, want string) {
	d.all++
	if got == want {
		d.same++
	} else if d.first == "" {
		d.first = fmt.Sprintf("got  %s\n      want %s", got, want)
	}
}

// The ApplicationMaster alone: given the recorded grants, ends of containers and
// headroom, it sends what the real one sent and runs its attempts as the real one did.
func TestRealApplicationMaster(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(shared(t, "data/oracle-yarn"), "*", "case.json"))
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	exact, cases := 0, 0
	for _, path := range folders {
		f := feed(t, filepath.Dir(path))
		if f == nil {
			continue
		}
		cases++
		var asks, attempts, jobs, ends difference
		f.compareAsks(&asks)
		f.compareRest(&attempts, &jobs, &ends)
		all := []*difference{&asks, &attempts, &jobs, &ends}
		same, total := 0, 0
		fmt.Fprintf(&table, "%-26s", f.Name)
		for _, d := range all {
			same += d.same
			total += d.all
			fmt.Fprintf(&table, " %5d/%-5d", d.same, d.all)
		}
		if same == total {
			exact++
		}
		fmt.Fprintln(&table)
		for i, d := range all {
			if d.first != "" {
				fmt.Fprintf(&table, "  %s\n      %s\n", []string{"asks", "attempts", "jobs", "ends"}[i], d.first)
			}
		}
	}
	t.Logf("%d of %d cases exact; rows of asks, attempts, jobs, ends of containers\n%s", exact, cases, table.String())
}

func (f *fedCase) compareAsks(d *difference) {
	var want []string
	for _, row := range f.rows["asks"] {
		want = append(want, asksRow(row["time_ms"], row["job"], strings.Fields(row["asks"]), strings.Fields(row["releases"]), strings.Fields(row["blacklist"]))...)
	}
	got := map[string]string{}
	key := func(row string) string { k, _, _ := strings.Cut(row, ":"); return k }
	for _, row := range f.asks {
		got[key(row)] = row
	}
	for _, row := range want {
		d.row(got[key(row)], row)
		delete(got, key(row))
	}
	for _, row := range f.asks {
		if _, ok := got[key(row)]; ok {
			d.row(row, "")
		}
	}
}

func (f *fedCase) compareRest(attempts, jobs, ends *difference) {
	for _, row := range f.rows["attempts"] {
		key := fmt.Sprintf("%s %s %s %s", row["job"], row["kind"], row["index"], row["attempt"])
		want := strings.Join([]string{
			row["container"], row["node"], row["locality"], row["launch_ms"], row["begin_ms"], row["maps_known_ms"], row["commit_pending_ms"], row["done_ms"], row["state"],
		}, ",")
		attempts.row(key+": "+f.attempts[key], key+": "+want)
		delete(f.attempts, key)
	}
	for key, row := range f.attempts {
		attempts.row(key+": "+row, "")
	}
	mapreduce := map[string]bool{}
	for _, j := range f.Jobs {
		mapreduce[j.Name] = true
	}
	for _, row := range f.rows["jobs"] {
		if mapreduce[row["job"]] {
			want := strings.Join([]string{row["inited_ms"], row["finish_ms"], row["unregistered_ms"], row["uber"], row["state"], row["app_finished_ms"]}, " ")
			jobs.row(row["job"]+": "+f.jobs[row["job"]], row["job"]+": "+want)
		}
	}
	for _, row := range f.rows["containers"] {
		if mapreduce[row["job"]] && row["what"] != "am" && row["start_ms"] != "" {
			key := row["job"] + " " + row["container"]
			ends.row(key+" ends "+f.ends[key], key+" ends "+row["end_ms"])
		}
	}
}
