package scenarios

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
)

// readJobs reads [[job]] tables.
func (f *File) readJobs(t *table, s *Scenario, q *model.WhatIf, m *hardware) []workload.Job {
	var jobs []workload.Job
	t.jobs = map[string]*table{}
	made := 0 // tasks
	for i, in := range t.tables("job") {
		profile := f.jobProfile(in, s, q.Fidelity)
		program := ""
		if m.planned() {
			if p := m.program(in); p != nil {
				program = p.Name
			}
		}
		if in.has("fresh_input") && (m.fidelity != model.Device || !slices.ContainsFunc(m.machines, func(m model.Machine) bool { return m.PageCache })) {
			in.warnAt(in.line("fresh_input"), "%s has no effect: want fidelity device and a platform with page_cache", join(in.path, "fresh_input"))
		}
		read := jobTable{in, m.volumes}.readJob(i, profile, program, &q.Cluster, q.Draws(model.DrawInterarrival).For(i))
		for j := range read {
			t.jobs[read[j].ID] = in
		}
		jobs = append(jobs, read...)
		if made += tasks(read); made > mostTasks {
			break
		}
	}
	return jobs
}

// ofJob returns the [[job]] of a job, or what gives the jobs of a trace.
func (t *table) ofJob(id string) *table {
	if own := t.jobs[id]; own != nil {
		return own
	}
	return &table{report: t.report, path: "workload"}
}

// jobTable reads a [[job]].
type jobTable struct {
	*table
	volumes float64 // workload.scale_bytes
}

// scaled multiplies bytes, or a number of maps, by the factor on the volumes.
func (t jobTable) scaled(n int64) int64 {
	if t.volumes == 1 {
		return n
	}
	return int64(math.Ceil(min(1<<62, float64(n)*t.volumes)))
}

// application is what asks for the containers of a job on YARN.
func (t jobTable) application() string {
	if t.yarn == nil {
		return applications[0]
	}
	return t.oneOf("application", applications[0], applications...)
}

func (t jobTable) readJob(number int, profile *workload.Profile, program string, c *model.Cluster, seed workload.Seed) []workload.Job {
	id := fmt.Sprintf("job%d", number+1)
	j := workload.Job{Name: t.str("name", id), Profile: profile, Program: program}
	j.ID = cmp.Or(j.Name, id)
	j.User, j.Pool, j.Queue = t.str("user", ""), t.str("pool", ""), t.str("queue", "")
	p, _ := workload.ParsePriority(t.oneOf("priority", "NORMAL", "VERY_HIGH", "HIGH", "NORMAL", "LOW", "VERY_LOW"))
	j.Priority = p
	j.Submit = t.duration("submit", 0)
	j.After = t.texts("after")
	if len(j.After) > 0 && (t.has("initialised") || t.has("ends")) {
		t.failf("after", "cannot be combined with initialised or ends: the time of submission is not known before the run")
	}
	j.Commits = t.boolean("commits", false)
	j.Reduces.FromLastMap = t.boolean("from_last_map", false)
	j.Init = t.duration("initialised", 0)
	if j.Init > 0 && j.Init < j.Submit {
		t.failf("initialised", "is before submit: want the same time or a later one")
	}
	j.SetupTime, j.CleanupTime = t.duration("setup", 0), t.duration("cleanup", 0)
	j.NoSetupCleanup = !t.boolean("setup_cleanup", true)
	for _, key := range []string{"setup", "cleanup"} {
		if j.NoSetupCleanup && t.has(key) {
			t.failf(key, "cannot be combined with setup_cleanup = false: want one of them")
		}
	}
	if t.given("ends") {
		var end workload.AttemptEnd
		err := end.UnmarshalText([]byte(t.str("ends", "")))
		if err != nil || end.State == workload.Succeeded || end.After <= 0 || end.Beside > 0 {
			t.want("ends", t.str("ends", ""), `FAILED or KILLED and a time after the submission, such as "KILLED 300s"`)
		}
		j.Ends = end
	}
	deadline := t.duration("deadline", 0)
	own := t.conf("conf")
	j.Conf = c.Conf
	if own.Len() > 0 {
		j.Conf = c.Conf.Over(own)
	}
	if t.application() == "fixed" {
		t.readContainers(&j)
	} else {
		t.readMaps(&j, c)
		t.readReduces(&j)
	}
	if j.Reduces.FromLastMap && j.Reduces.Copy.Set() {
		t.failf("from_last_map", "cannot be combined with copy times: want shuffle times")
	}
	if profile != nil {
		t.draw(&j, &c.Costs)
	}
	if j.Containers == nil {
		t.someTimes(&j)
	}
	if program != "" {
		t.idle("at this fidelity the work of the profile gives the times", slices.Concat(timesOfMaps, timesOfReduces)...)
	}
	const short = 100 // ms
	for _, key := range []string{"map_ms", "reduce_ms"} {
		if ms, ok := t.values[key].(int64); ok && ms > 0 && ms < short {
			t.warnAt(t.line(key), "%s: %d ms, less than the start of a JVM: for %[2]d s want %[2]d000", join(t.path, key), ms)
		}
	}
	count := t.integer("jobs", 1, 1, mostJobs)
	gap := t.durations("interarrival", 0)
	t.done()
	if count == 1 {
		t.idle("jobs is 1", "interarrival")
		switch {
		case len(j.After) > 0:
			j.Deadline = deadline
		case deadline > 0:
			j.Deadline = j.Submit + deadline
		}
		return []workload.Job{j}
	}
	if len(j.After) > 0 {
		t.failf("after", "cannot be combined with jobs = %d: want one job", count)
		j.After = nil // no circle follows from it
	}
	if count > mostTasks/max(1, j.Maps.Count+j.Reduces.Count) {
		t.failf("jobs", "%d jobs of %d tasks: want at most %d tasks in one question", count, j.Maps.Count+j.Reduces.Count, mostTasks)
		return nil
	}
	jobs := make([]workload.Job, count)
	at := j.Submit
	for i := range jobs {
		if i > 0 {
			at += min(mostTime, gap.At(0, seed.Stream(i, 0)))
		}
		if at > mostTime {
			t.failf("interarrival", "job %d of %d is submitted after %s: want at most 10 years", i+1, count, years(at.Seconds()))
			return nil
		}
		jobs[i] = j
		jobs[i].ID = fmt.Sprintf("%s-%0*d", j.ID, digits(count), i+1)
		jobs[i].Submit = at
		if deadline > 0 {
			jobs[i].Deadline = at + deadline
		}
	}
	return jobs
}

func (t jobTable) readMaps(j *workload.Job, c *model.Cluster) {
	m := &j.Maps
	m.InputBytes = t.scaled(t.size("input", 0))
	switch {
	case t.has("maps"):
		m.Count = int(t.scaled(int64(t.integer("maps", 0, 0, mostTasks))))
		if m.Count > mostTasks {
			t.failf("maps", "workload.scale_bytes makes %d maps of it: want at most %d", m.Count, mostTasks)
			m.Count = 0
		}
	case m.InputBytes > 0:
		block, err := j.Conf.Size("dfs.block.size")
		if err == nil {
			m.Count = int(min(mostTasks+1, (m.InputBytes+block-1)/block))
			if m.Count > mostTasks {
				t.failf("input", "makes more than %d maps of %d bytes: want fewer", mostTasks, block)
				m.Count = 0
			}
		} else {
			t.failf("input", "%v", err)
		}
	case j.Profile != nil:
		m.Count = int(t.scaled(int64(j.Profile.Maps)))
		if in := j.Profile.MapInBytes; in.N > 0 {
			m.InputBytes = int64(math.Round(in.Mean * float64(m.Count)))
		}
	case j.Program != "" || !t.has("profile"):
		t.lacks("%s: want maps or input", t.path)
	}
	t.asked = append(t.asked, "maps")
	m.Fresh = t.boolean("fresh_input", false)
	m.Time = t.oneTime(m.Count, "map_ms", "duration")
	m.Localise = t.localised("map_localise_ms", m.Count)
	m.RackFactor = t.number("rack_factor", 0, 0, mostFactor)
	m.OffFactor = t.number("off_factor", 0, 0, mostFactor)
	for i, factor := range []float64{m.RackFactor, m.OffFactor} {
		if key := []string{"rack_factor", "off_factor"}[i]; factor > 0 && factor < 1 {
			t.warnAt(t.line(key), "%s: %v: a map far from its split is then faster than one beside it: want 1 or more", join(t.path, key), factor)
		}
	}
	m.Ends = t.attemptEnds("map_ends", m.Count, t.failures("map_fail_ms", m.Count))
	if lists, ok := t.ask("split_hosts"); ok {
		m.Splits = t.splits(lists, m, c)
	}
}

// splits reads a list of hosts for each map.
func (t jobTable) splits(v any, m *workload.MapTasks, c *model.Cluster) []workload.Split {
	lists, ok := v.([]any)
	if !ok || len(lists) != m.Count {
		t.want("split_hosts", v, fmt.Sprintf("a list of nodes for each of %d maps", m.Count))
		return nil
	}
	known := make(map[string]bool, len(c.Nodes))
	for i := range c.Nodes {
		known[c.Nodes[i].Name] = true
	}
	splits := make([]workload.Split, m.Count)
	for i, list := range lists {
		hosts, ok := asTexts(list)
		if !ok {
			t.want(index("split_hosts", i), list, "a list of names of nodes")
		}
		for _, h := range hosts {
			if !known[h] {
				t.warnAt(t.line(index("split_hosts", i)), "%s: the cluster has no node %q: want one of %s", join(t.path, index("split_hosts", i)), h, nodesNear(c, h))
			}
		}
		splits[i] = workload.Split{Hosts: hosts, Bytes: m.InputBytes / int64(m.Count)}
	}
	return splits
}

func (t jobTable) readReduces(j *workload.Job) {
	r := &j.Reduces
	if j.Profile != nil {
		r.Count = j.Profile.Reduces
	}
	r.Count = t.integer("reduces", r.Count, 0, mostTasks)
	r.Shuffle = t.oneTime(r.Count, "reduce_shuffle_ms", "shuffle_duration")
	r.FirstWave = t.oneTime(r.Count, "first_shuffle_ms", "first_shuffle_duration")
	r.Copy = t.oneTime(r.Count, "copy_ms", "copy_duration")
	r.Sort = t.oneTime(r.Count, "reduce_sort_ms", "sort_duration")
	r.Time = t.oneTime(r.Count, "reduce_ms", "reduce_duration")
	r.Localise = t.localised("reduce_localise_ms", r.Count)
	r.ShuffleData, r.OutputBytes = t.scaled(t.size("shuffle_bytes", 0)), t.scaled(t.size("output_bytes", 0))
	r.Ends = t.attemptEnds("reduce_ends", r.Count, t.failures("reduce_fail_ms", r.Count))
	r.Shares = t.shares(r.Count)
	if r.Copy.Set() && (r.Shuffle.Set() || r.FirstWave.Set()) {
		t.fail(t.line("copy_ms"), "%s: gives the shuffle twice: want copy (which overlaps the maps) or shuffle (after the last map)", t.path)
	}
	if r.Count == 0 {
		t.idle("the job has no reduces", timesOfReduces...)
	}
}

// The keys of the times of tasks.
var (
	timesOfMaps    = []string{"map_ms", "duration"}
	timesOfReduces = []string{"reduce_shuffle_ms", "shuffle_duration", "first_shuffle_ms", "first_shuffle_duration", "copy_ms", "copy_duration", "reduce_sort_ms", "sort_duration", "reduce_ms", "reduce_duration"}
)

// someTimes reports a job without task times.
func (t jobTable) someTimes(j *workload.Job) {
	if j.Program != "" && j.Maps.Count > 0 && j.Maps.InputBytes == 0 {
		t.fail(t.line("maps"), "%s: want input, the bytes that the maps read", t.path)
	}
	if t.has("profile") && j.Profile == nil {
		return // reported or used elsewhere
	}
	if j.Maps.Count > 0 && !j.Maps.Time.Set() && !t.has("map_ms") && !t.has("duration") {
		t.lacks("%s: want the time of its maps: map_ms or duration", t.path)
	}
	r := &j.Reduces
	if r.Count > 0 && !r.Shuffle.Set() && !r.Copy.Set() && !r.Sort.Set() && !r.Time.Set() && !t.has("reduce_ms") {
		t.fail(t.line("reduces"), "%s: want the times of its reduces: reduce_shuffle_ms, reduce_sort_ms, reduce_ms or their durations", t.path)
	}
}

// oneTime reads a time per task under one of two keys: plain milliseconds, or
// durations and distributions.
func (t *table) oneTime(n int, ms, duration string) workload.Durations {
	if t.has(ms) && t.has(duration) {
		t.failf(duration, "cannot be combined with %s: want one of them", ms)
	}
	d := t.durations(duration, n)
	if t.has(ms) {
		d = t.durations(ms, n)
	}
	t.asked = append(t.asked, ms)
	return d
}

// durations reads a value for all tasks, a list by task, or a distribution. Numbers are
// milliseconds, of a key that says so; else those of a distribution are seconds.
func (t *table) durations(key string, n int) (d workload.Durations) {
	v, ok := t.ask(key)
	if !ok {
		return d
	}
	inMS := strings.HasSuffix(key, "_ms")
	switch v := v.(type) {
	case []any:
		if len(v) != n {
			t.failf(key, "lists %d times: want one for each of %d tasks", len(v), n)
			return d
		}
		d.Each = make([]time.Duration, n)
		for i := range v {
			d.Each[i] = t.oneDuration(index(key, i), v[i], inMS)
		}
	case map[string]any:
		in := t.inner(key)
		if inMS {
			d.Dist = in.dist("milliseconds", 0.001)
		} else {
			d.Dist = in.dist("seconds", 1)
		}
		in.done()
	default:
		d.All = t.oneDuration(key, v, inMS)
	}
	return d
}

func (t *table) oneDuration(key string, v any, inMS bool) time.Duration {
	form := `a duration such as "90s", or a distribution such as { dist = "exponential", mean = "10s" }`
	ms, number := asNumber(v)
	if inMS {
		form = "milliseconds of 0 or more, " + form
	} else {
		number = number && ms == 0 // a number has no unit
	}
	if number && ms >= 0 && ms <= mostTime.Seconds()*1000 {
		return workload.Seconds(ms / 1000)
	}
	d, ok := asDuration(v)
	if !ok {
		t.want(key, v, form)
	}
	return d
}

// localised reads the time from the assignment of each task to the launch of its
// first attempt: a list by task, or one number for all.
func (t *table) localised(key string, n int) workload.Durations {
	d := t.durations(key, n)
	if d.Dist != nil {
		t.failf(key, "got a distribution: want milliseconds, or a list of them by task")
	}
	return d
}

// dist reads a distribution: { dist = "lognormal", mean = "20s", sd = "5s" }. A number
// is in a unit of so many seconds.
func (t *table) dist(unit string, seconds float64) *workload.Dist {
	read := func(key string, v any) float64 {
		if f, ok := asNumber(v); ok && f >= 0 && f*seconds <= mostTime.Seconds() {
			return f * seconds
		}
		d, ok := asDuration(v)
		if !ok {
			t.want(key, v, durationForm+" or a number of "+unit)
		}
		return d.Seconds()
	}
	parameter := func(key string) float64 {
		if v, ok := t.ask(key); ok {
			return read(key, v)
		}
		return math.NaN()
	}
	name := t.oneOf("dist", workload.DistNames[0], workload.DistNames...)
	p := workload.DistParams{
		Mean: parameter("mean"), SD: parameter("sd"), Min: parameter("min"), Max: parameter("max"), Mode: parameter("mode"),
		Shape: t.number("shape", math.NaN(), 0, math.Inf(1)),
	}
	if v, ok := t.ask("quantiles"); ok {
		list, isList := v.([]any)
		if !isList {
			t.want("quantiles", v, "a list of durations")
		}
		for i := range list {
			p.Quantiles = append(p.Quantiles, read(index("quantiles", i), list[i]))
		}
	}
	if len(t.problems) > 0 {
		return nil
	}
	d, err := workload.NewDist(name, p)
	if err != nil {
		t.lacks("%s: %v", t.path, err)
	}
	return d
}

// failures reads for each task how long its attempts run before they fail; -1, or null
// in JSON, is an attempt that does not fail.
func (t *table) failures(key string, n int) map[int][]workload.AttemptEnd {
	if !t.given(key) {
		return nil
	}
	out := map[int][]workload.AttemptEnd{}
	in := t.inner(key)
	in.byTask(n, "its attempts' times", func(task int, name string, v any) bool {
		list, ok := v.([]any)
		for _, v := range list {
			ms, ok := asNumber(v)
			switch {
			case ok && ms == -1 || v == nil:
				out[task] = append(out[task], workload.AttemptEnd{})
			case ok && ms >= 0 && ms <= mostTime.Seconds()*1000:
				out[task] = append(out[task], workload.AttemptEnd{State: workload.Failed, After: workload.Seconds(ms / 1000)})
			default:
				in.want(name, v, "milliseconds until the attempt fails, or -1 if it does not fail")
			}
		}
		return ok
	})
	return out
}

// byTask calls read for each of n tasks in a table with lists by task. It returns false
// if the value is no such list.
func (t *table) byTask(n int, of string, read func(task int, name string, v any) bool) {
	for _, name := range slices.Sorted(maps.Keys(t.values)) {
		task, err := strconv.Atoi(name)
		if err != nil || task < 0 || task >= n || !read(task, name, t.values[name]) {
			t.failf(name, "want a task from 0 to %d and the list of %s", n-1, of)
		}
	}
}

// attemptEnds reads for each task how its attempts end, into a list that may hold
// failures already.
func (t *table) attemptEnds(key string, n int, ends map[int][]workload.AttemptEnd) map[int][]workload.AttemptEnd {
	if !t.given(key) {
		return ends
	}
	if ends == nil {
		ends = map[int][]workload.AttemptEnd{}
	}
	in := t.inner(key)
	in.byTask(n, "the ends of its attempts", func(task int, name string, v any) bool {
		texts, ok := asTexts(v)
		if !ok {
			return false
		}
		ends[task] = nil
		for _, text := range texts {
			var end workload.AttemptEnd
			if end.UnmarshalText([]byte(text)) != nil || max(end.After, end.Beside) > mostTime {
				in.want(name, text, `an end such as "FAILED 600s", "KILLED 12s", "KILLED 12s beside 8s" or "SUCCEEDED"`)
				break
			}
			ends[task] = append(ends[task], end)
		}
		return true
	})
	return ends
}

// chains replaces the names in after by the IDs of the jobs that have them, and puts
// jobs that wait behind those that do not.
func (t *table) chains(jobs []workload.Job) {
	if !slices.ContainsFunc(jobs, func(j workload.Job) bool { return len(j.After) > 0 }) {
		return
	}
	if t.yarn != nil {
		t.fail(t.line("job"), "job.after: want an MRv1 release in cluster.hadoop: jobs on YARN do not wait for others")
		return
	}
	ids := map[string][]string{}
	for i := range jobs {
		if name := jobs[i].Name; !slices.Contains(ids[name], jobs[i].ID) {
			ids[name] = append(ids[name], jobs[i].ID)
		}
	}
	known := slices.Sorted(maps.Keys(ids))
	rank := map[string]int{} // of IDs: the longest chain before a job
	for i := range jobs {
		j := &jobs[i]
		var before []string
		for _, name := range j.After {
			if len(ids[name]) == 0 {
				t.ofJob(j.ID).failf("after", "got %q: no such job%s", name, input.Suggest(name, known))
				return
			}
			before = append(before, ids[name]...)
		}
		j.After = before
	}
	for round := 0; ; round++ {
		changed := false
		for i := range jobs {
			longest := 0
			for _, id := range jobs[i].After {
				longest = max(longest, rank[id]+1)
			}
			changed = changed || longest != rank[jobs[i].ID]
			rank[jobs[i].ID] = longest
		}
		if !changed {
			break
		}
		if round > len(jobs) {
			last := slices.MaxFunc(jobs, func(a, b workload.Job) int { return cmp.Compare(rank[a.ID], rank[b.ID]) }).ID
			var circle []string
			for !slices.Contains(circle, last) {
				circle = append(circle, last)
				i := slices.IndexFunc(jobs, func(j workload.Job) bool { return j.ID == last })
				last = slices.MaxFunc(jobs[i].After, func(a, b string) int { return cmp.Compare(rank[a], rank[b]) })
			}
			circle = append(circle[slices.Index(circle, last):], last)
			t.ofJob(last).failf("after", "the jobs wait in a circle, %s: want a chain that begins with a job without after", strings.Join(circle, " after "))
			return
		}
	}
	slices.SortStableFunc(jobs, func(a, b workload.Job) int { return cmp.Compare(min(1, rank[a.ID]), min(1, rank[b.ID])) })
}

// Priorities of the containers of maps and reduces that an application with given
// containers asks for (org.apache.hadoop.yarn.sls.appmaster.MRAMSimulator).
const (
	fixedReduces = 10
	fixedMaps    = 20
)

// asContainers makes a job one that asks for its containers at once and holds each for
// the time of its task: no slowstart, shuffle or failure.
func (t *table) asContainers(j *workload.Job, seed workload.Seed) {
	group := func(kind workload.Kind, priority, n int, times ...*workload.Durations) workload.ContainerGroup {
		size, err := t.yarn.TaskSize(j.Conf, kind)
		if err != nil {
			t.fail(t.line(""), "job %s: %v", j.ID, err)
		}
		g := workload.ContainerGroup{Priority: priority, MemoryMiB: size.MemoryMiB, VCores: size.VCores}
		for i := range n {
			whole := time.Duration(0)
			for _, d := range times {
				whole += d.At(i, seed.Stream(i, 0))
			}
			g.Times = append(g.Times, whole)
		}
		return g
	}
	m, r := &j.Maps, &j.Reduces
	maps := group(workload.Map, fixedMaps, m.Count, &m.Time)
	for i := range m.Splits {
		maps.Hosts = append(maps.Hosts, m.Splits[i].Hosts)
	}
	j.Containers = []workload.ContainerGroup{maps}
	if r.Count > 0 {
		j.Containers = append(j.Containers, group(workload.Reduce, fixedReduces, r.Count, &r.Shuffle, &r.Sort, &r.Time))
	}
	j.Maps, j.Reduces = workload.MapTasks{}, workload.ReduceTasks{}
}

// readContainers reads the [[job.container]] tables of an application that is no
// MapReduce job.
func (t jobTable) readContainers(j *workload.Job) {
	all := 0
	for _, in := range t.tables("container") {
		const usual = 1024 // MiB
		count := in.integer("count", 1, 1, mostTasks)
		if all += count; all > mostTasks {
			in.failf("count", "%d containers of the job: want at most %d", all, mostTasks)
			return
		}
		g := workload.ContainerGroup{
			Priority: in.integer("priority", 1, 1, unlimited), MemoryMiB: in.size("memory", usual<<20) >> 20, VCores: int64(in.integer("vcores", 1, 1, unlimited)),
		}
		d := in.oneTime(count, "ms", "duration")
		if !in.has("ms") && !in.has("duration") {
			in.lacks("%s: want the time of its containers: ms or duration", in.path)
		}
		for i := range count {
			g.Times = append(g.Times, d.At(i, workload.Seed(len(j.Containers)).Stream(i, 0)))
		}
		in.done()
		j.Containers = append(j.Containers, g)
	}
	if len(j.Containers) == 0 {
		t.lacks("%s: want [[job.container]] tables", t.path)
	}
}
