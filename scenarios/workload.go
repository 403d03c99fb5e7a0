package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// load is the part of a workload that comes from traces.
type load struct {
	table    *table
	history  *workload.History // the chosen jobs; nil without a trace
	whole    *workload.History // all jobs, from which the cluster is known
	records  []workload.JobRecord
	changed  []string // settings and keys that make the run another than the recorded one
	stated   []string // settings that state what the record does not
	alsoFits [][][2]string
	still    string // the machines that stood still, and what becomes of it
	failed   bool   // there is one that cannot be read
	rates    workload.SwimRates
	replay   workload.ReplayOptions
	hardware *hardware
	// What the tasks of a trace do apart from their volumes, at fidelity phase or
	// device: those of each job by its name, and of other jobs.
	programs map[string]model.Program
	program  *model.Program
	reduces  int   // of each job that has reduces; 0: as recorded
	block    int64 // bytes of input of a map; 0: as recorded
	onYARN   bool  // it records containers
	interval *foundInterval
	given    bool // its jobs ask for given containers
	users    int  // among whom jobs without a user are dealt; 0: none
}

// readWorkload reads [workload].
func (f *File) readWorkload(t *table, conf workload.Conf, s *Scenario, seed uint64, m *hardware) *load {
	l := &load{table: t, hardware: m}
	paths := t.texts("trace")
	format := ""
	if t.has("format") {
		var known []string
		for _, f := range trace.Formats() {
			if f.Reads() {
				known = append(known, f.Name)
			}
		}
		format = t.oneOf("format", known[0], known...)
	}
	reading := f.reading
	reading.Format = cmp.Or(reading.Format, format)
	if chosen := t.texts("job"); len(reading.Jobs) == 0 {
		reading.Jobs = chosen
	}
	leaveOut := t.oneOf("still_hosts", "recorded", "recorded", "left out") == "left out"
	l.reduces, l.block = t.integer("reduces", 0, 1, mostReduces), t.size("block_size", 0)
	jobs := seed
	if f.jobs != nil {
		jobs, l.replay.Drawn = *f.jobs, workload.Seed(seed).Named("replay")
	}
	shape := t.readShape(workload.Seed(jobs).Named("shape"))
	l.replay.Startup, l.replay.Commit = t.duration("startup", 0), t.duration("commit", 0)
	l.replay.OnlySucceeded = t.boolean("only_succeeded", false)
	if t.yarn != nil {
		l.given = t.oneOf("application", applications[0], applications...) == "fixed"
	}
	l.users = t.integer("users", 0, 1, unlimited)
	l.replay.Initialised = t.oneOf("initialised", "recorded", "recorded", "simulated") == "recorded"
	l.replay.Speculated = m.fidelity == model.Replay
	l.replay.Rescaled = t.oneOf("replay", "recorded", "recorded", "rescaled") == "rescaled"
	l.replay.Bytes, m.volumes = shape.ScaleBytes, shape.ScaleBytes
	for _, key := range []string{"scale_bytes", "scale_time", "scale_jobs", "fold", "reduces", "block_size"} {
		if t.has(key) && t.line(key) >= 0 {
			l.changed = append(l.changed, join(t.path, key))
		}
	}
	given := t.has("rates")
	l.rates = t.inner("rates").readRates(conf)
	t.asked = append(t.asked, "profile", "profiles", "alternatives")
	if len(paths) > 0 && m.planned() {
		l.programs = m.programsIn(t)
		m.alternatives(t)
		if l.programs == nil || t.has("profile") {
			if p := m.program(t); p != nil {
				like := *p
				l.program = &like
			}
		}
	} else {
		t.idleAtFidelity(m.fidelity, "profile", "profiles", "alternatives", "reduces", "block_size")
	}
	t.done()
	if len(paths) == 0 {
		t.idle("there is no trace (workload.trace)", "format", "job", "scale_time", "scale_jobs", "first", "last", "jobs", "fold", "rates", "startup", "commit", "only_succeeded", "initialised", "still_hosts", "replay", "users")
		for i, given := range []string{strings.Join(f.reading.Jobs, ", "), f.reading.Format, f.reading.Topology} {
			if given != "" {
				flag := []string{"job", "format", "topology"}[i]
				where := ""
				if f.reading.Made != "" {
					where = f.reading.Made + ": "
				}
				t.warn("%s--%s %s has no effect on this scenario: it has no trace: want a history, or a scenario with workload.trace", where, flag, given)
			}
		}
		return l
	}
	if err := reading.check(); err != nil {
		t.fail(0, "%v", err)
		l.failed = true
		return l
	}
	read := f.trace(paths, &reading)
	l.interval = &read.interval
	if read.err != nil {
		if f.history {
			t.fail(0, "%s", strings.TrimPrefix(plain(read.err).Error(), f.name+": "))
		} else {
			t.failf("trace", "%v", plain(read.err))
		}
		l.failed = true
		return l
	}
	for _, in := range read.inputs {
		s.note(in)
	}
	if n := len(read.history.Topology.Listed); reading.Topology != "" && n > 0 && read.history.IdleWorkers() == n {
		t.warn("--topology %s: no task ran on any of its %d machines: want the list of the recorded cluster", reading.Topology, n)
	}
	l.onYARN = read.onYARN
	if reading.Anonymise {
		reading.Jobs = nil // they were chosen by their old names
	}
	h, err := l.choose(read.history, &reading)
	if err != nil && len(f.reading.Jobs) == 0 && len(reading.Jobs) > 0 {
		t.fail(t.line("job"), "%s", strings.Replace(err.Error(), "--job", "workload.job:", 1))
	} else if err != nil {
		t.fail(0, "%v", err)
	}
	if err != nil {
		l.failed = true
		return l
	}
	for _, lost := range h.Lost() {
		t.warn("%s", lost)
	}
	if len(h.Jobs) == 0 && len(h.Swim) == 0 {
		if f.history {
			hint := ""
			if found, err := trace.Detect(f.name); err == nil && reading.Format != "" && found != reading.Format {
				hint = fmt.Sprintf("; --format %s: its content is %s", reading.Format, found)
			} else if reading.Format != "" {
				hint = fmt.Sprintf("; without --format %s the content decides", reading.Format)
			}
			t.fail(0, "%s%s", strings.TrimPrefix(trace.NoJobs(h, f.name).Error(), f.name+": "), hint)
		} else {
			hint := ""
			if format != "" {
				hint = fmt.Sprintf("; without workload.format = %q the content decides", format)
			}
			t.failf("trace", "holds no jobs: want a trace of a workload%s", hint)
		}
		l.failed = true
		return l
	}
	if given && len(h.Swim) == 0 {
		t.idle("the trace records times", "rates")
	}
	l.changes(f)
	// What a cluster decided is simulated again if it is another one.
	asks := f.anew || len(l.changed) > 0 || m.varies
	l.replay.Initialised = l.replay.Initialised && (t.has("initialised") || m.own && !asks)
	l.replay.Rescaled = l.replay.Rescaled || asks && !t.has("replay")
	if leaveOut || asks && !t.has("still_hosts") {
		without, hosts := h.WithoutStill()
		*h = without
		if len(hosts) > 0 {
			l.still = strings.Join(hosts, ", ") + ": standstill left out"
		}
	}
	if asks && t.yarn == nil {
		l.replay.Chains = h.Chains()
	}
	l.shape(h, &shape)
	return l
}

// changes divides the settings of the command line: those that ask about another
// cluster or workload, and those that state what the record leaves open.
func (l *load) changes(f *File) {
	workers := l.whole.Workers()
	for i := range f.set {
		s := &f.set[i]
		asks, states := false, false
		for _, set := range leaves(s.value) {
			switch key := strings.Join(set.key(), "."); {
			case set.path[0] == "vary" || set.path[0] == "figure" || slices.Contains(asRecorded, key):
			case key == "cluster.hadoop" && l.onYARN && l.table.yarn != nil:
			case key == "cluster.nodes" && set.value == int64(workers.Hosts()):
			case f.history && l.leavesOpen(f, key):
				states = true
			default:
				asks = true
			}
		}
		if text := workload.WithoutSecrets(s.text); asks {
			l.changed = append(l.changed, text)
		} else if states {
			l.stated = append(l.stated, text)
		}
	}
}

// leavesOpen reports whether a history does not state a key of the scenario, so that
// a setting of it is no change.
func (l *load) leavesOpen(f *File, key string) bool {
	conf := l.whole.Common()
	if _, stated := f.stated[key]; stated {
		return false
	}
	slots := func(property string) bool {
		_, stated := conf.Lookup(property)
		return !stated && f.keepsTimes()
	}
	switch section, name, _ := strings.Cut(key, "."); {
	case key == "cluster.hadoop":
		_, known := model.ReleaseOf(conf)
		return l.whole.Release == "" && !known
	case key == "cluster.map_slots":
		return slots("mapred.tasktracker.map.tasks.maximum")
	case key == "cluster.reduce_slots":
		return slots("mapred.tasktracker.reduce.tasks.maximum")
	case key == "cluster.nodes" || key == "cluster.racks" || key == "cluster.nodes_per_rack":
		return l.whole.Topology.Hosts() == 0
	case section == "scheduler":
		return conf.Text("mapred.jobtracker.taskScheduler") == ""
	case section == "conf":
		return conf.Len() == 0
	default:
		return section == "cluster" && (strings.HasPrefix(name, "costs.") || slices.Contains([]string{"heartbeat", "heartbeats", "phases", "from_start", "shared_slots"}, name))
	}
}

// checkBlocks says what a block size does where all splits are recorded: at most the
// output is written in blocks of this size.
func (l *load) checkBlocks(t *table, conf workload.Conf) {
	const key = "dfs.block.size"
	if _, given := conf.Lookup(key); !given || !t.traced || !l.recorded() || len(l.history.Swim) > 0 {
		return
	}
	if l.hardware.planned() {
		t.assume("%s is the block size of the output only: the splits are recorded (workload.block_size divides the input anew)", key)
		return
	}
	line := t.line("conf")
	for _, name := range []string{key, "dfs.blocksize"} {
		line = cmp.Or(t.lines[join("conf", name)], line)
	}
	t.idleAt(line, "%s has no effect: the splits are recorded; want workload.block_size, at fidelity phase or device", key)
}

// shape changes the jobs of the trace.
func (l *load) shape(h *workload.History, shape *workload.Shaping) {
	t := l.table
	if shape.ScaleBytes != 1 && len(h.Jobs) > 0 && l.hardware.fidelity == model.Replay && !l.replay.Rescaled {
		t.failf("scale_bytes", "has no effect on recorded times: want workload.replay = \"rescaled\", or fidelity phase or device")
	}
	last := lastSubmit(h)
	if err := h.Shape(shape); err != nil {
		key, what, _ := strings.Cut(err.Error(), ": ")
		t.failf(key, "%s", what)
	} else if len(h.Jobs) == 0 && len(h.Swim) == 0 && len(t.problems) == 0 {
		t.failf("first", "no job is submitted in the window: the last one of the trace is submitted after %.1f h", last.Hours())
		l.failed = true
	}
}

// choose leaves the jobs that were asked for.
func (l *load) choose(read *workload.History, r *Reading) (*workload.History, error) {
	whole := *read
	all := len(whole.Jobs)
	err := l.oneCluster(&whole, r)
	h := whole
	l.history, l.whole = &h, &whole
	if err == nil {
		err = r.choose(&h)
	}
	if out := all - len(h.Jobs); err == nil && out > 0 {
		l.table.assume("%s of the trace left out (--job): the others run without them", workload.Counted(out, "job", "jobs"))
	}
	return &h, err
}

// oneCluster leaves the cluster with the jobs that were asked for. If they are of
// several, a scenario has to state the machines itself.
func (l *load) oneCluster(h *workload.History, r *Reading) error {
	recorded := len(h.Clusters())
	asked := r.clusters(h)
	switch {
	case len(asked) == 0 && recorded > 1:
		return r.noMatch(len(h.Jobs), namesOf(h))
	case len(asked) == 1:
		if recorded > 1 {
			l.table.assume("machines: those of the cluster with the chosen jobs, one of %d recorded", recorded)
		}
		machines := asked[0].Topology.Hosts()
		r.narrow(&asked[0])
		if *h = asked[0]; h.Topology.Hosts() < machines {
			l.table.assume("machines: the %d that the JobTracker of the chosen jobs had, of %d", h.Topology.Hosts(), machines)
		}
	case l.hardware.own:
		return r.OneCluster(h)
	}
	return nil
}

// lastSubmit returns the submission of the last job of a trace.
func lastSubmit(h *workload.History) (last time.Duration) {
	for i := range h.Jobs {
		last = max(last, h.Jobs[i].Submit)
	}
	for i := range h.Swim {
		last = max(last, h.Swim[i].Submit)
	}
	return last
}

// trace reads the files of a workload. Names are relative to the scenario's
// directory. A name that is shipped stands for the shipped file, unless there is
// a file of this name: a copy of a shipped scenario then runs anywhere.
func (f *File) trace(names []string, reading *Reading) *openedTrace {
	key := reading.Format + ":" + strings.Join(names, "\n")
	if reading.Anonymise {
		key += "\n" + strings.Join(reading.Jobs, "\n")
	}
	if t := f.traces[key]; t != nil {
		return t
	}
	t := &openedTrace{}
	f.traces[key] = t
	options := trace.ReadOptions{Format: reading.Format}
	paths := make([]string, len(names), len(names)+1)
	for i, name := range names {
		if f.files != nil {
			if _, err := fs.Stat(f.files, name); err == nil {
				options.FS, paths[i] = f.files, name
				continue
			}
		}
		paths[i] = name
		if !filepath.IsAbs(name) && f.files == nil {
			paths[i] = filepath.Join(f.folder, name)
			if _, err := os.Stat(paths[i]); errors.Is(err, fs.ErrNotExist) && isShipped(name) {
				options.FS, paths[i] = shipped, strings.TrimPrefix(name, ShippedPrefix)
			}
		}
	}
	listed := reading.Topology != "" && options.FS != nil // the traces are shipped, the topology is the user's
	if reading.Topology != "" && !listed {
		paths = append(paths, reading.Topology)
	}
	if t.history = reading.Read; t.history == nil {
		if t.history, t.err = options.Open(paths...); t.err != nil {
			return t
		}
	}
	if listed {
		machines, err := trace.Open(reading.Topology)
		if err != nil {
			t.err = err
			return t
		}
		t.history.Topology = machines.Topology
		t.inputs = append(t.inputs, Input{Name: reading.Topology})
	}
	if reading.Anonymise {
		if f.history {
			t.err = reading.OneCluster(t.history)
		}
		if t.err = cmp.Or(t.err, reading.choose(t.history)); t.err != nil {
			return t
		}
		t.history = reading.named(t.history)
	}
	for _, p := range paths {
		inputs, err := inputsUnder(options.FS, p)
		t.onYARN = t.onYARN || options.FS == nil && slices.ContainsFunc(inputs, ofYARN)
		t.inputs, t.err = append(t.inputs, inputs...), errors.Join(t.err, err)
	}
	return t
}

// ofYARN reports whether a file records containers.
func ofYARN(in Input) bool {
	format, err := trace.Detect(in.Name)
	return err == nil && HasContainers(format)
}

// HasContainers reports whether files of a format record the containers of YARN.
func HasContainers(format string) bool {
	return slices.Contains([]string{"jhist", "sls", "dynoyarn", "synth"}, format)
}

// inputsUnder lists a file, or the files read from a directory.
func inputsUnder(files fs.FS, name string) ([]Input, error) {
	if files != nil {
		data, err := fs.ReadFile(files, name)
		return []Input{{ShippedPrefix + path.Clean(name), data}}, err
	}
	paths, err := trace.ReadOptions{}.Files(name)
	var inputs []Input
	for _, p := range paths {
		inputs = append(inputs, Input{Name: p})
	}
	return inputs, err
}

// readShape reads the changes to a trace.
func (t *table) readShape(seed workload.Seed) workload.Shaping {
	s := workload.Shaping{Seed: seed}
	s.From, s.First = t.bound("first")
	s.To, s.Last = t.bound("last")
	if s.To > 0 && s.To <= s.From || s.Last > 0 && s.Last < s.First {
		t.failf("last", "is before first: want a later one")
	}
	s.Jobs = t.integer("jobs", 0, 1, unlimited)
	s.ScaleJobs = t.number("scale_jobs", 1, 0, anyNumber)
	s.ScaleTime = t.number("scale_time", 1, 0, anyNumber)
	s.ScaleBytes = t.number("scale_bytes", 1, above, anyNumber)
	if t.given("fold") {
		fold := t.inner("fold")
		s.Fold = &workload.Folding{Cycle: fold.duration("cycle", 0), Length: fold.duration("length", 0), Concentration: fold.number("concentration", 1, 0, anyNumber)}
		fold.done()
	}
	return s
}

// Shaping reads settings of [workload] that change a trace, such as workload.first=10.
func Shaping(settings []string, seed workload.Seed) (workload.Shaping, error) {
	t := &table{report: &report{file: "--set", lines: map[string]int{}}, values: map[string]any{"workload": map[string]any{}}}
	for i, text := range settings {
		s, err := parseSetting(text)
		if err != nil {
			return workload.Shaping{}, err
		}
		t.set = append(t.set, text)
		over, err := overlay(t.values, s.value, "")
		if err != nil {
			t.fail(-i-1, "%v", err)
		}
		t.values = over.(map[string]any)
		t.relocate(t.values, s.value, "", -i-1)
	}
	w := t.inner("workload")
	shape := w.readShape(seed)
	w.done()
	t.done()
	return shape, t.err()
}

// bound reads one end of a window: a time, or the number of a job.
func (t *table) bound(key string) (time.Duration, int) {
	if _, isText := t.values[key].(string); isText {
		return t.duration(key, 0), 0
	}
	return 0, t.integer(key, 0, 1, unlimited)
}

// readRates reads the rates that convert volumes to tasks and times. For
// missing values it assumes those of the machines of the known traces.
func (t *table) readRates(conf workload.Conf) workload.SwimRates {
	const mib = 1 << 20
	rate := func(key string, def int64) float64 {
		n := t.size(key, def)
		if n < 1 {
			t.want(key, n, "at least a byte in a second")
			n = def
		}
		return float64(n)
	}
	r := workload.SwimRates{
		BytesPerReduce: int64(rate("bytes_per_reduce", 256*mib)),
		ReduceCap:      t.integer("reduce_cap", 0, 0, unlimited),
		MapFixed:       t.duration("map_fixed", 2*time.Second),
		ReduceFixed:    t.duration("reduce_fixed", 2*time.Second),
		MapBytesPS:     rate("map_rate", 8*mib),
		ShuffleBytesPS: rate("shuffle_rate", 10*mib),
		SortBytesPS:    rate("sort_rate", 40*mib),
		ReduceBytesPS:  rate("reduce_rate", 20*mib),
		WriteBytesPS:   rate("write_rate", 20*mib),
	}
	t.done()
	block, err := conf.Size("dfs.block.size")
	if err == nil {
		r.BlockBytes = block
	}
	return r
}

// jobs makes the jobs of the questions from the trace.
func (l *load) jobs(c *model.Cluster, conf workload.Conf) []workload.Job {
	if l.history == nil {
		return nil
	}
	jobs := l.swimJobs(len(c.Nodes))
	if len(l.history.Jobs) > 0 {
		l.replay.FetchSleep, l.replay.Heartbeat = waitsOfReduces(c)
		r, err := l.history.Replay(l.replay)
		if err != nil {
			l.table.fail(l.table.line("trace"), "%s: %v%s", join(l.table.path, "trace"), err, l.damage())
			l.failed = true
			return nil
		}
		if l.replay.Initialised {
			l.table.assume("jobs are initialised when the trace says (workload.initialised)")
		}
		for _, a := range r.Assumed {
			l.table.assume("%s", a)
		}
		for _, note := range workload.Few(r.Notes, 0) {
			l.table.warn("%s", note)
		}
		l.records = r.Records
		if len(r.Still) > 0 && l.still == "" {
			l.still = strings.Join(r.Still, ", ") + ": standstill repeated"
		}
		jobs = append(jobs, r.Jobs...)
	}
	l.dealUsers(jobs)
	known := make(map[string]bool, len(c.Nodes))
	for i := range c.Nodes {
		known[c.Nodes[i].Name] = true
	}
	moved := 0
	for i := range jobs {
		j := &jobs[i]
		if j.Conf.Len() == 0 {
			j.Conf = c.Conf
		} else {
			j.Conf = c.Conf.Over(j.Conf).Over(conf)
		}
		if raw := j.Maps.Output; l.hardware.planned() && raw.RawBytes > 0 && lessFetched(&raw, float64(j.Reduces.ShuffleData)) {
			l.table.assume("%s: a combiner leaves %.3g %% of the map output, since no more was fetched and no codec is recorded", j.ID, 100*float64(j.Reduces.ShuffleData)/float64(raw.RawBytes))
		}
		own, ok := l.programs[j.Name]
		if !ok {
			own, ok = l.programs[j.ID]
		}
		if ok {
			l.hardware.shaped(&own, j)
		} else if l.program != nil {
			l.hardware.shaped(l.program, j)
		} else if l.programs != nil && len(l.table.problems) == 0 {
			l.table.failf("profiles", "none of the profiles has the title %.80q, the name of job %.80s: want one, or profile for such jobs", j.Name, j.ID)
			return nil
		}
		if l.hardware.planned() {
			l.divide(j)
		}
		if allUnknown(j.Maps.Splits, known) {
			j.Maps.Splits = nil
			moved++
		}
		if l.given {
			l.table.asContainers(j, workload.Seed(l.hardware.seed).For(i))
		}
	}
	if moved > 0 && c.Hadoop != "ideal" {
		l.table.assume("the input of %d jobs lies on machines the cluster does not have: their splits are placed anew", moved)
	}
	return jobs
}

// damage is the first problem of a trace, for an error that may follow from it.
func (l *load) damage() string {
	if l.history == nil || len(l.history.Problems) == 0 {
		return ""
	}
	return "; " + l.history.Problems[0].String()
}

// waitsOfReduces returns how long the loop of a reduce sleeps that finds nothing to fetch,
// and the heartbeat of its tracker, by which it knows of maps and may commit.
func waitsOfReduces(c *model.Cluster) (fetch, heartbeat time.Duration) {
	release, err := model.FindRelease(c.Hadoop)
	if err != nil || release.Ideal || release.YARN != nil {
		return 0, 0
	}
	beat, err := release.HeartbeatOf(c, len(c.Nodes))
	if err != nil { // reported where it is read
		return 0, 0
	}
	return release.FetchSleep, beat
}

// dealUsers gives the jobs that name no user to as many users in turn.
func (l *load) dealUsers(jobs []workload.Job) {
	dealt := 0
	for i := range jobs {
		if j := &jobs[i]; l.users > 0 && j.User == "" {
			j.User = fmt.Sprintf("user%d", 1+dealt%l.users)
			dealt++
		}
	}
	if dealt > 0 {
		l.table.assume("users: the %s without one belong to %s in turn", workload.Counted(dealt, "job", "jobs"), workload.Counted(min(dealt, l.users), "user", "users"))
	}
}

// mostReduces limits the reduces that a recorded job may be given.
const mostReduces = 1_000_000

// divide gives a recorded job other numbers of tasks for the same data.
func (l *load) divide(j *workload.Job) {
	maps := int64(j.Maps.Count)
	if l.block > 0 && j.Maps.InputBytes > 0 {
		maps = (j.Maps.InputBytes + l.block - 1) / l.block
	}
	if maps > mostReduces {
		l.table.failf("block_size", "gives job %.80s %d maps: want at most %d", j.ID, maps, mostReduces)
		return
	}
	if maps != int64(j.Maps.Count) {
		l.table.assume("%s: its input is divided into %d equal splits in place of %d, which are placed anew", j.ID, maps, j.Maps.Count)
		wait, _ := j.Maps.Localise.Expect(j.Maps.Count)
		j.Maps = workload.MapTasks{Count: int(maps), InputBytes: j.Maps.InputBytes, Fresh: j.Maps.Fresh, Output: j.Maps.Output,
			Localise: workload.Durations{All: workload.Seconds(wait)}}
	}
	if l.reduces > 0 && j.Reduces.Count > 0 && l.reduces != j.Reduces.Count {
		l.table.assume("%s: its map output is divided into %d equal parts, one for each reduce, in place of %d", j.ID, l.reduces, j.Reduces.Count)
		j.Reduces.Resize(l.reduces)
	}
}

// allUnknown reports whether the splits have hosts but none of them is in the
// cluster.
func allUnknown(splits []workload.Split, known map[string]bool) bool {
	hosts := 0
	for i := range splits {
		for _, h := range splits[i].Hosts {
			if hosts++; known[h] {
				return false
			}
		}
	}
	return hosts > 0
}

func (l *load) swimJobs(nodes int) []workload.Job {
	if len(l.history.Swim) == 0 {
		return nil
	}
	r := l.rates
	if r.ReduceCap == 0 {
		r.ReduceCap = max(1, nodes/5) // the order of SWIM
	}
	jobs, err := workload.SwimJobs(l.history.Swim, r)
	if err != nil {
		l.table.failf("rates", "%v", err)
	}
	for _, a := range r.Assumed() {
		l.table.assume("%s", a)
	}
	return jobs
}

// fixed returns the mean costs that a trace records: of set-up and clean-up
// tasks and of the start of a JVM. Their times include the launch, unless
// launch gives it. Costs that are not recorded are unknown or 0.
func (l *load) fixed(launch time.Duration) (setup, cleanup, startup time.Duration) {
	timed := func(w *workload.HistoryAttempt) bool { return workload.Known(w.Start) && workload.Known(w.Finish) }
	startup = l.history.Mean(func(_ *workload.HistoryTask, w *workload.HistoryAttempt) time.Duration {
		if !timed(w) {
			return workload.UnknownTime
		}
		return w.Phases[workload.PhaseStartup]
	}, 0)
	ofKind := func(kind workload.Kind) time.Duration {
		return l.history.Mean(func(t *workload.HistoryTask, w *workload.HistoryAttempt) time.Duration {
			start := w.Phases[workload.PhaseStartup]
			if !workload.Known(start) {
				start = cmp.Or(launch, startup)
			}
			if t.Kind != kind || !timed(w) {
				return workload.UnknownTime
			}
			return max(0, w.Duration()-start)
		}, workload.UnknownTime)
	}
	return ofKind(workload.Setup), ofKind(workload.Cleanup), startup
}

// recorded reports whether the trace records the times of tasks.
func (l *load) recorded() bool { return l.history != nil && len(l.history.Jobs) > 0 }

// common returns the trace's configuration of its cluster.
func (l *load) common() workload.Conf {
	if l.history == nil {
		return workload.Conf{}
	}
	return l.history.Common()
}
