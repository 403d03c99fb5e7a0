package validation

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/sim/mrapp"
	sim "github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

// fedMaster is a ResourceManager that answers what was recorded, whatever it is asked.
type fedMaster struct {
	*fedCase
	job        string
	generation string // "" or "2."
	am         *mrapp.AppMaster
	node       int32
	headroom   model.Resource
	containers map[string]*sim.Container
	told       map[int32]bool // lost nodes
	asked      bool           // to unregister
	process    map[*sim.Container]*process
}

type process struct {
	row     map[string]string
	stopped bool
	gone    bool
}

// fedCase is one recorded case and what came out of the replay.
type fedCase struct {
	*engine.Engine
	rank uint32 // of the next timer
	test *testing.T
	*yarnCase
	answers map[string]map[string]string // by job and time
	rows    map[string][]map[string]string
	places  map[string]sim.Place
	lostAt  map[int32]engine.Time // when the ResourceManager lost a node
	asks    []string
	ends    map[string]string
	played
	killing engine.Time
}

func (f *fedCase) dies(node int32) engine.Time {
	if at, ok := f.Cluster.Dies[strconv.Itoa(int(node))]; ok {
		return engine.Time(at) * ms
	}
	return engine.Never
}

// at calls do at an instant; of one instant, what was set first comes first.
func (f *fedCase) at(when engine.Time, do func()) engine.Timer {
	f.rank++
	t := f.NewTimer(engine.Heartbeat, 0, func(int32) { do() }).Ranked(f.rank)
	t.Reset(when)
	return t
}

func (m *fedMaster) At(when engine.Time, do func()) sim.Timer { return m.at(when, do) }

func (m *fedMaster) Registered() sim.Registration {
	calculator, _ := m.Scheduler.Capacity["resource-calculator"].(string)
	return sim.Registration{
		Node: m.node, Largest: model.Resource{MemoryMiB: 1 << 40, VCores: 1 << 20},
		VCores: m.Scheduler.Type == "fair" || strings.Contains(calculator, "Dominant"),
	}
}

func (f *fedCase) place(name string) sim.Place {
	if _, ok := f.places[name]; !ok {
		f.places[name] = sim.Place(len(f.places) + 1)
	}
	return f.places[name]
}

func (m *fedMaster) Place(name string) sim.Place { return m.place(name) }
func (m *fedMaster) HostOf(node int32) sim.Place { return m.place(host(node)) }
func (m *fedMaster) RackOf(node int32) sim.Place { return m.place("/default-rack") }
func host(node int32) string                     { return fmt.Sprintf("c%03d", node) }
func nodeOf(host string) int32 {
	n, err := strconv.Atoi(strings.TrimPrefix(host, "c"))
	if err != nil {
		panic(err)
	}
	return int32(n)
}

func (m *fedMaster) Allocate(q sim.AllocateRequest) sim.AllocateResponse {
	m.note(q)
	var answer sim.AllocateResponse
	if row, ok := m.answers[m.job+" "+inMs(m.Now())]; ok {
		for _, n := range strings.Fields(row["allocated"]) {
			answer.Granted = append(answer.Granted, m.granted(n))
		}
		for _, e := range strings.Fields(row["completed"]) {
			n, exit, _ := strings.Cut(e, ":")
			code, _ := strconv.Atoi(exit)
			answer.Ended = append(answer.Ended, sim.Ended{Container: m.granted(n), Exit: sim.Exit(code)})
		}
		memory, cores, _ := strings.Cut(row["headroom"], ":")
		m.headroom.MemoryMiB, _ = strconv.ParseInt(memory, 10, 64)
		m.headroom.VCores, _ = strconv.ParseInt(cores, 10, 64)
	}
	answer.Headroom = m.headroom
	answer.Cluster = m.Cluster.Nodes
	for node, at := range m.lostAt {
		if at <= m.Now() {
			answer.Cluster--
			if !m.told[node] {
				m.told[node] = true
				answer.Nodes = append(answer.Nodes, sim.NodeReport{Node: node})
			}
		}
	}
	return answer
}

// granted returns a recorded container.
func (m *fedMaster) granted(number string) *sim.Container {
	if c, ok := m.containers[number]; ok {
		return c
	}
	row := m.row(number)
	n, _ := strconv.Atoi(number)
	p, _ := strconv.Atoi(row["priority"])
	memory, _ := strconv.ParseInt(row["memory_mb"], 10, 64)
	cores, _ := strconv.ParseInt(row["vcores"], 10, 64)
	c := &sim.Container{
		Number: int32(n), Node: nodeOf(row["node"]), Priority: sim.Priority(p),
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
	m.test.Fatalf("%s: no container %s%s of %s", m.name, m.generation, number, m.job)
	return nil
}

// note writes down what a heartbeat carried, in the words of the record.
func (m *fedMaster) note(q sim.AllocateRequest) {
	names := map[sim.Place]string{sim.Any: "*"}
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
	m.asks = append(m.asks, asksRow(inMs(m.Now()), m.job, asks, releases, refused)...)
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

func (m *fedMaster) Launch(c *sim.Container) bool {
	if m.dies(c.Node) <= m.Now() {
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
		if at := engine.Time(end)*ms - m.killing; at >= m.Now() {
			m.at(at, func() { m.kill(c) })
		}
	}
	return true
}

func (m *fedMaster) kill(c *sim.Container) {
	p := m.process[c]
	if p == nil || p.stopped || p.gone {
		return
	}
	p.stopped = true
	m.am.Killed(c)
	m.at(m.Now()+m.killing, func() { m.gone(c) })
}

func (m *fedMaster) gone(c *sim.Container) {
	if p := m.process[c]; !p.gone {
		p.gone = true
		m.ends[m.job+" "+m.generation+strconv.Itoa(int(c.Number))] = inMs(m.Now())
	}
}

func (m *fedMaster) Ended(c *sim.Container, exit sim.Exit) { m.gone(c) }

func (m *fedMaster) Stop(c *sim.Container) { m.kill(c) }

// Wake implements sim.Master: each heartbeat is fed.
func (m *fedMaster) Wake() {}

func (m *fedMaster) Unregister(success bool) bool {
	again := m.asked
	m.asked = true
	return again
}

func (m *fedMaster) Exit() {
	m.ends[m.job+" "+m.generation+"1"] = inMs(m.Now())
}

// question is the question of run 1 of a case, as slotwave reads it.
func (c *yarnCase) question(t *testing.T) *model.WhatIf {
	f, err := scenarios.Open(filepath.Join(c.folder, "case.json"), "run=1")
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Scenario(1)
	if err != nil {
		t.Fatal(err)
	}
	return &s.Runs[0].Question
}

// mapreduce makes a job of a case for its ApplicationMaster.
func (c *yarnCase) mapreduce(t *testing.T, q *model.WhatIf, x *mrapp.Executor, id int, recorder mrapp.Recorder) *mrapp.Job {
	j, spec := &c.Jobs[id], &q.Jobs[id]
	release, err := model.FindRelease(q.Cluster.Hadoop)
	if err != nil {
		t.Fatal(err)
	}
	settings, err := mrapp.ReadSettings(spec.Conf)
	if err != nil {
		t.Fatal(err)
	}
	job := &mrapp.Job{
		ID: id, Spec: spec, Topology: execute.NewTopology(&q.Cluster), Hosts: make([][]int32, spec.Maps.Count),
		MapSize: j.Maps.resource(), ReduceSize: j.Reduces.resource(), AMSize: j.AM.resource(), BlockBytes: 128 << 20,
		Settings: settings, Release: release.YARN, Executor: x, Recorder: recorder,
		Costs: mrapp.Costs{
			Setup: c.cost("setup_ms"), Commit: c.cost("commit_ms"), Exit: c.cost("exit_ms"), Abort: c.cost("task_abort_ms"),
			JobCommit: c.cost("job_commit_ms"), AMExit: c.cost("am_exit_ms"),
		},
	}
	for i := range spec.Maps.Splits {
		for _, h := range spec.Maps.Splits[i].Hosts {
			job.Hosts[i] = append(job.Hosts[i], nodeOf(h))
		}
	}
	return job
}

// played is what came of the MapReduce jobs of a run.
type played struct {
	attempts map[string]string
	jobs     map[string]string
}

func newPlayed() played { return played{map[string]string{}, map[string]string{}} }

// playedJob records one attempt of an ApplicationMaster in the words of the record.
type playedJob struct {
	played
	job    string
	prefix string // of its containers
}

func (p playedJob) Attempt(r mrapp.AttemptRecord) {
	container := p.prefix + strconv.Itoa(int(r.Container))
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
	key := fmt.Sprintf("%s %s %d %d", p.job, r.Kind, r.Task, r.Attempt)
	p.attempts[key] = strings.Join([]string{
		container, host(r.Node), locality, inMs(r.Launched), inMs(r.Begun), inMs(r.MapsKnown), inMs(r.Pending), inMs(r.Done), state,
	}, ",")
}

func (p playedJob) Job(r mrapp.JobRecord) {
	uber := ""
	if r.Uber {
		uber = "1"
	}
	p.jobs[p.job] = strings.Join([]string{inMs(r.Inited), inMs(r.Finished), inMs(r.Unregistered), uber, r.State.String()}, " ")
}

// compare holds attempts and jobs of a run against the record.
func (p played) compare(t testing.TB, c *yarnCase, run int, attempts, jobs *difference) {
	folder := filepath.Join(c.folder, fmt.Sprint("run", run))
	for _, row := range readTable(t, filepath.Join(folder, "attempts.csv.gz")) {
		key := fmt.Sprintf("%s %s %s %s", row["job"], row["kind"], row["index"], row["attempt"])
		want := strings.Join([]string{
			row["container"], row["node"], row["locality"], row["launch_ms"], row["begin_ms"], row["maps_known_ms"], row["commit_pending_ms"], row["done_ms"], row["state"],
		}, ",")
		attempts.row(key+": "+p.attempts[key], key+": "+want)
		delete(p.attempts, key)
	}
	for key, row := range p.attempts {
		attempts.row(key+": "+row, "")
	}
	mapreduce := map[string]bool{}
	for _, j := range c.Jobs {
		mapreduce[j.Name] = true
	}
	for _, row := range readTable(t, filepath.Join(folder, "jobs.csv")) {
		if mapreduce[row["job"]] {
			want := strings.Join([]string{row["inited_ms"], row["finish_ms"], row["unregistered_ms"], row["uber"], row["state"]}, " ")
			jobs.row(row["job"]+": "+p.jobs[row["job"]], row["job"]+": "+want)
		}
	}
}

// feed replays the ApplicationMasters of run 1 of a case; nil: it has none of MapReduce.
func feed(t *testing.T, folder string) *fedCase {
	f := &fedCase{
		Engine: engine.New(), test: t, answers: map[string]map[string]string{}, rows: map[string][]map[string]string{}, places: map[string]sim.Place{},
		lostAt: map[int32]engine.Time{}, ends: map[string]string{}, played: newPlayed(),
	}
	f.yarnCase = openYarnCase(t, folder)
	if len(f.Jobs) == 0 {
		return nil
	}
	f.killing = f.cost("kill_ms")
	f.place("/default-rack")
	for n := range int32(f.Cluster.Nodes) {
		f.place(host(n))
	}
	for _, name := range []string{"asks.csv.gz", "attempts.csv.gz", "containers.csv.gz", "jobs.csv"} {
		table, _, _ := strings.Cut(name, ".")
		f.rows[table] = readTable(t, filepath.Join(folder, "run1", name))
	}
	for _, row := range f.rows["asks"] {
		f.answers[row["job"]+" "+row["time_ms"]] = row
	}
	for _, row := range f.rows["containers"] {
		if node := nodeOf(row["node"]); f.dies(node) != engine.Never && row["exit"] == "-100" && row["end_ms"] == "" && row["start_ms"] != "" {
			at, _ := strconv.ParseInt(row["freed_ms"], 10, 64)
			f.lostAt[node] = engine.Time(at) * ms
		}
	}
	q := f.question(t)
	x, err := mrapp.NewExecutor(q, f.Engine)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Jobs {
		f.start(t, q, x, i)
	}
	for f.Step() {
	}
	return f
}

// start starts the ApplicationMasters of a job when they were recorded to start.
func (f *fedCase) start(t *testing.T, q *model.WhatIf, x *mrapp.Executor, id int) {
	j := &f.Jobs[id]
	for _, row := range f.rows["containers"] {
		if row["job"] != j.Name || row["what"] != "am" {
			continue
		}
		m := &fedMaster{
			fedCase: f, job: j.Name, node: nodeOf(row["node"]), containers: map[string]*sim.Container{},
			told: map[int32]bool{}, process: map[*sim.Container]*process{},
		}
		nth := 1
		if strings.HasPrefix(row["container"], "2.") {
			m.generation, nth = "2.", 2
		}
		start, _ := strconv.ParseInt(row["start_ms"], 10, 64)
		at := engine.Time(start+f.Costs["am_launch_ms"]) * ms
		m.am = mrapp.New(f.mapreduce(t, q, x, id, playedJob{f.played, j.Name, m.generation}), nth)
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
	m.at(m.Now()+engine.Time(1000)*ms, func() {
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
	var table strings.Builder
	exact, cases := 0, 0
	for _, folder := range yarnFolders(t) {
		f := feed(t, folder)
		if f == nil {
			continue
		}
		cases++
		var asks, attempts, jobs, ends difference
		f.compareAsks(&asks)
		f.compare(t, f.yarnCase, 1, &attempts, &jobs)
		f.compareEnds(&ends)
		all := []*difference{&asks, &attempts, &jobs, &ends}
		same, total := 0, 0
		fmt.Fprintf(&table, "%-26s", f.name)
		for _, d := range all {
			same += d.same
			total += d.all
			fmt.Fprintf(&table, " %5d/%-5d", d.same, d.all)
		}
		if same == total {
			exact++
		} else {
			t.Errorf("%s: %d of %d rows exact", f.name, same, total)
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

func (f *fedCase) compareEnds(ends *difference) {
	for _, row := range f.rows["containers"] {
		if row["start_ms"] != "" {
			key := row["job"] + " " + row["container"]
			ends.row(key+" ends "+f.ends[key], key+" ends "+row["end_ms"])
		}
	}
}
