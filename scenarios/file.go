package scenarios

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// Open opens a shipped scenario by its name, or else a file. Settings are
// KEY=VALUE as in the file. They replace values of the file.
func Open(name string, settings ...string) (*File, error) {
	return OpenReading(name, Reading{}, settings...)
}

// siblings lists the scenarios and folders beside a file that does not exist.
func siblings(name string) (paths []string) {
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) == ".toml" {
			paths = append(paths, filepath.Join(filepath.Dir(name), e.Name()))
		}
	}
	return paths
}

// MissingError is about a name that is neither a file nor a shipped scenario.
type MissingError struct{ Name, hint string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: no such file or shipped scenario%s; slotwave list prints the shipped ones", e.Name, e.hint)
}

// OpenReading is Open with a way to read histories.
func OpenReading(name string, r Reading, settings ...string) (*File, error) {
	if r.Workload != "" {
		return openQueues(name, r, settings)
	}
	f := &File{name: name, traces: make(map[string]*openedTrace), reading: r, parsed: new(parsed)}
	if err := r.check(); err != nil {
		return nil, err
	}
	for _, text := range settings {
		s, err := parseSetting(text)
		if err != nil {
			return nil, err
		}
		f.set = append(f.set, s)
	}
	if data, err := shipped.ReadFile(name + ".toml"); err == nil && path.Base(name) == name {
		f.name, f.slug, f.data, f.files, f.folder = ShippedPrefix+name+".toml", name, data, shipped, "."
		return f, nil
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		hint, near := "", append(List(), siblings(name)...)
		if filepath.Base(name) != name { // who names a folder means something in it
			near = append(siblings(name), List()...)
		}
		if i := input.NearestFile(name, near); i >= 0 {
			hint = fmt.Sprintf(" (did you mean %s?)", near[i])
		}
		return nil, &MissingError{name, hint}
	case errors.Is(err, syscall.ENOTDIR) && strings.TrimRight(name, `/\`) != name:
		return nil, fmt.Errorf("%s: want %s: it is no folder", name, strings.TrimRight(name, `/\`))
	case err != nil:
		return nil, err
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: want a file or a folder", name)
	}
	if f.history, err = r.isHistory(name, info); err != nil {
		return nil, err
	}
	switch {
	case f.history:
		f.replayOf(name)
		return f, nil
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s: %d bytes: want at most %d in a scenario", name, info.Size(), maxFile)
	}
	if f.data, err = os.ReadFile(name); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(f.data)) == 0 {
		return nil, fmt.Errorf("%s: the file is empty: want a scenario, such as slotwave show two-jobs prints", name)
	}
	f.slug = slugOf(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)))
	f.folder = filepath.Dir(name)
	return f, nil
}

// sets reports whether a setting replaces the value of a key.
func (f *File) sets(key string) bool {
	return slices.ContainsFunc(f.set, func(s setting) bool {
		k, _, _ := cutSetting(s.text)
		return strings.TrimSpace(k) == key
	})
}

// keepsTimes reports whether who asks says that recorded times of tasks hold.
func (f *File) keepsTimes() bool {
	return slices.ContainsFunc(f.set, func(s setting) bool {
		k, v, _ := cutSetting(s.text)
		return strings.TrimSpace(k) == "workload.replay" && strings.Trim(v, ` "`) == "recorded"
	})
}

// changes reports whether a setting gives or varies a key.
func (f *File) changes(key string) bool {
	return slices.ContainsFunc(f.set, func(s setting) bool { return strings.Contains(s.text, key) })
}

// Scenario makes the questions of one seed. One error lists all mistakes in the
// file.
func (f *File) Scenario(seed uint64) (*Scenario, error) {
	if first := bytes.TrimLeft(f.data, " \t\r\n\ufeff"); !f.history && len(first) > 0 && first[0] == '{' && filepath.Ext(f.name) != ".toml" {
		return f.recorded()
	}
	t, err := f.overlaid()
	if err != nil {
		return nil, err
	}
	s := f.read(t, seed)
	if err := t.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// overlaid returns the values of the file with the settings laid over them.
func (f *File) overlaid() (*table, error) {
	if !utf8.Valid(f.data) {
		// With a line after it the end of the file is no letter that the reader cut.
		return nil, fmt.Errorf("%s: %w", f.name, trace.Foreign(slices.Concat(f.data, []byte("\n"))))
	}
	t, err := f.parsed.table(f.data, f.name)
	if err != nil {
		return nil, err
	}
	switch {
	case f.history:
		clear(t.lines) // nobody wrote them
	default:
		if what, next := kindOf(t); what != "a scenario" {
			return nil, fmt.Errorf("%s: got %s: want a scenario; %s", f.name, what, next)
		}
	}
	for i, s := range f.set {
		t.set = append(t.set, workload.WithoutSecrets(s.text))
		if vary, ok := s.value["vary"].(map[string]any); ok {
			for _, key := range slices.Sorted(maps.Keys(vary)) {
				for _, path := range varied(t.values, key) {
					t.fix(pathTree(path, 0).(map[string]any))
					t.fixed = slices.DeleteFunc(t.fixed, func(fixed string) bool { return fixed == path })
				}
			}
		}
		over, err := overlay(t.values, s.value, "")
		if err != nil {
			t.fail(-i-1, "%v", err)
		}
		t.values = over.(map[string]any)
		t.relocate(t.values, s.value, "", -i-1)
		t.fix(s.value)
	}
	return t, nil
}

// fix removes the variation of keys that a setting has replaced, because the
// variation would override it. Of a key that varies in every job it notes the jobs in
// which the setting holds.
func (t *table) fix(set map[string]any) {
	vary, ok := t.values["vary"].(map[string]any)
	if !ok {
		return
	}
	var fixed [][]string
	for _, l := range leaves(set) {
		path := l.key()
		fixed = append(fixed, path) // a property of the scheduler may stand in either
		if other := map[string]string{"conf": "scheduler", "scheduler": "conf"}[path[0]]; other != "" {
			fixed = append(fixed, append([]string{other}, path[1:]...))
		}
	}
	left := maps.Clone(vary)
	replaced := func(key string) bool {
		return slices.ContainsFunc(leaves(pathTree(key, 0)), func(l leaf) bool {
			varied := l.key()
			return slices.ContainsFunc(fixed, func(path []string) bool {
				n := min(len(path), len(varied))
				return slices.Equal(path[:n], varied[:n])
			})
		})
	}
	maps.DeleteFunc(left, func(name string, _ any) bool {
		varies := false
		for _, key := range varied(t.values, name) {
			if replaced(key) {
				t.fixed = append(t.fixed, key)
			}
			varies = varies || !slices.Contains(t.fixed, key)
		}
		return !varies
	})
	t.values["vary"] = left
}

// read makes a scenario of the whole tree.
func (f *File) read(t *table, seed uint64) *Scenario {
	s := &Scenario{}
	if !f.history {
		s.note(Input{f.name, f.data})
	}
	s.Name = t.str("name", f.slug)
	if s.Name != slugOf(s.Name) {
		t.failf("name", "%q: want small letters, digits and hyphens, such as %q", s.Name, slugOf(s.Name))
	}
	s.Title = t.str("title", s.Name)
	s.Source = t.str("source", "")
	jobs, _ := t.values["job"].([]map[string]any)
	s.Tables = len(jobs)
	t.assumed = append(t.assumed, t.texts("assumed")...)
	if v, _ := t.ask("attempts"); v == "parquet" {
		t.failf("attempts", "%q: want csv.gz, which pandas, R and DuckDB read", "parquet")
	} else {
		s.Attempts = t.oneOf("attempts", "csv", "csv", "csv.gz", "none")
	}
	plots := t.oneOf("plots", "all", "all", "pdf", "none")
	s.Labels, s.LabelPlaces = t.inner("figure").labels("")

	f.modelFiles(t.inner("models"), s)

	names, choices := t.variations()
	labels := shortKeys(names)
	if f.fork != nil {
		names, choices, labels = append(names, "change"), append(choices, []any{"none", f.fork.name}), append(labels, "change")
	}
	size := 0
	for i := range combinations(choices) {
		run := Run{}
		values := any(t.values)
		for k, name := range names {
			v := choices[k][pick(choices, i, k)]
			if f.fork != nil && k == len(names)-1 {
				if run.Levels = append(run.Levels, Level{name, textOf(v), workload.TOMLValue(v)}); v == "none" {
					run.Name = strings.TrimSpace(run.Name + " unchanged")
					continue
				}
				run.Name = strings.TrimSpace(run.Name + " " + f.fork.name)
				values = f.fork.over(t, values)
				continue
			}
			for _, path := range varied(t.values, name) {
				if slices.Contains(t.fixed, path) {
					continue
				}
				over, err := overlay(values, pathTree(path, v), "")
				if err != nil && i == 0 {
					t.fail(t.line("vary"), "vary.%s: %v", name, err)
				}
				values = over
				if line, known := t.lines[join("vary", name)]; known {
					t.relocate(values, pathTree(path, v), "", line)
				}
			}
			run.Name = strings.TrimSpace(run.Name + " " + labels[k] + "=" + textOf(v))
			run.Levels = append(run.Levels, Level{name, textOf(v), workload.TOMLValue(v)})
		}
		one := &table{report: t.report, values: values.(map[string]any), asked: t.asked}
		t.run = run.Name
		f.question(one, s, &run, seed)
		run.Changed = append(run.Changed, strings.Fields(run.Name)...)
		run.Question.Name = s.Name
		if run.Name != "" {
			run.Question.Name += " " + run.Name
		}
		one.done()
		run.Folder = slugOf(run.Name)
		if slices.ContainsFunc(s.Runs, func(r Run) bool { return r.Folder == run.Folder }) {
			run.Folder = fmt.Sprintf("%s-%d", run.Folder, i+1)
		}
		s.Runs = append(s.Runs, run)
		if size += sizeOf(&run.Question); size > mostInAll && i > 0 {
			t.fail(t.line("vary"), "vary: the runs have more than %d nodes and jobs, or %d slots, in all: want fewer combinations", mostInAll, allSlots)
			break
		}
	}
	s.NoPlots, s.PDF = plots == "none", plots == "pdf"
	if many := len(s.Runs) > mostDrawn; many && !t.has("plots") {
		s.NoPlots = true
		t.warn("no pictures are drawn of %d runs: plots = \"all\" draws those of each run", len(s.Runs))
	}
	s.Assumed, s.Warnings, s.Beyond = t.assumed, t.warnings, t.beyond
	return s
}

// modelFiles reads [models]. Its paths are relative to the scenario, or to the
// current directory if the scenario is shipped or a history.
func (f *File) modelFiles(t *table, s *Scenario) {
	in := func(key, name string) string {
		if name == "" {
			return ""
		}
		if filepath.Ext(name) == ".toml" && key == "platform_model" {
			t.failf(key, "%s: want platform.json, which slotwave platform fit --out writes", name)
		}
		if !filepath.IsAbs(name) && f.files == nil {
			name = filepath.Join(f.folder, name)
		}
		inputs, err := inputsUnder(nil, name)
		if err != nil {
			t.failf(key, "%v", plain(err))
		}
		for _, input := range inputs {
			s.note(input)
		}
		return name
	}
	s.Models.PlatformModel = in("platform_model", t.str("platform_model", ""))
	s.Models.Statistics = in("statistics", t.str("statistics", ""))
	s.Models.Small = in("small", t.str("small", ""))
	for _, name := range t.texts("history") {
		s.Models.History = append(s.Models.History, in("history", name))
	}
	s.Models.Literal = t.boolean("literal", false)
	s.Models.NoCauses = !t.boolean("causes", true)
	t.done()
}

// shortKeys returns the last parts of keys, and all of Hadoop properties but their
// prefix.
func shortKeys(keys []string) []string {
	labels := make([]string, len(keys))
	for i, key := range keys {
		parts := (&scanner{text: key}).key()
		if len(parts) == 0 {
			parts = []string{key}
		}
		last := parts[len(parts)-1]
		if last == "name" && len(parts) > 1 {
			last = parts[len(parts)-2]
		}
		if parts[0] == "conf" && len(parts) > 2 { // a property without quotes
			last = strings.Join(parts[1:], ".")
		}
		if first, rest, ok := strings.Cut(last, "."); ok && strings.HasPrefix(first, "map") {
			last = rest // the prefixes mapred. and mapreduce. carry no information
		}
		labels[i] = last
	}
	return labels
}

// variations reads [vary]: keys of the scenario with the values they take, in
// all combinations.
func (t *table) variations() (names []string, choices [][]any) {
	vary := t.inner("vary")
	total := 1
	for _, key := range slices.SortedFunc(maps.Keys(vary.values), func(a, b string) int {
		x, y := vary.line(a), vary.line(b)
		if x < 0 && y < 0 { // of the first setting and of the second
			x, y = y, x
		}
		return cmp.Or(x-y, vary.order[join("vary", a)]-vary.order[join("vary", b)], cmp.Compare(a, b))
	}) {
		v, _ := vary.ask(key)
		list, ok := v.([]any)
		if !ok || len(list) == 0 {
			if _, dotted := v.(map[string]any); dotted {
				key = firstLeaf(key, v)
				vary.fail(cmp.Or(vary.lines["vary."+key], vary.line("")), "vary.%s: want the key in quotes: %q = [...]", key, key)
				continue
			}
			vary.want(key, v, `a list of values for a key such as "cluster.map_slots"`)
			continue
		}
		if text, twice := repeated(list); twice {
			vary.failf(key, "got %s twice: want different values", text)
		}
		names, choices = append(names, key), append(choices, list)
		if total *= len(list); total > mostRuns {
			vary.failf(key, "makes more than %d combinations: want fewer", mostRuns)
			return nil, nil
		}
	}
	return names, choices
}

// combinations returns the number of combinations, 1 without any list.
func combinations(choices [][]any) int {
	n := 1
	for _, list := range choices {
		n *= len(list)
	}
	return n
}

// pick returns the index in list k for combination i. The last list varies
// fastest.
func pick(choices [][]any, i, k int) int {
	for _, list := range choices[k+1:] {
		i /= len(list)
	}
	return i % len(choices[k])
}

// question reads what a run asks: cluster, scheduler, configuration, workload.
func (f *File) question(t *table, s *Scenario, run *Run, seed uint64) {
	q := &run.Question
	t.top, q.Seed = t, seed
	q.Fidelity = t.fidelity()
	t.phases = q.Fidelity == model.Phase || q.Fidelity == model.Device
	t.traced = t.gives("workload", "trace") && !t.has("job")
	q.Until = t.duration("until", 0)
	t.yarn = t.releaseOnYARN()
	conf := t.conf("conf")
	own := f.history || !t.gives("cluster", "nodes", "group", "map_slots", "reduce_slots")
	own = own && !t.gives("scheduler", "name")
	f.adopt(t)
	policy := t.inner("scheduler")
	var onYARN *yarnTable
	if t.yarn != nil {
		onYARN, conf = f.onYARN(policy, s, conf)
	}

	m := &hardware{file: f, scenario: s, fidelity: q.Fidelity, own: own, varies: run.Name != "", seed: workload.Seed(seed), yarn: t.yarn}
	m.readNetwork(t.inner("network"), &q.Network)
	load := f.readWorkload(t.inner("workload"), conf, s, seed, m)
	load.checkBlocks(t, conf)
	q.Cluster = clusterTable{t.inner("cluster")}.readCluster(load, conf, m, onYARN)
	if onYARN != nil {
		q.Scheduler, q.YARN = onYARN.scheduler(&q.Cluster)
		if t.has("change") {
			if f.fork != nil {
				t.fail(0, "--fork-at: the scheduler of a cluster on YARN does not change in a run: want slotwave compare with --over scheduler.name=A,B")
			} else {
				t.failf("change", "the scheduler of a cluster on YARN does not change in a run")
			}
		}
		t.ask("change")
	} else {
		run.AnyScheduler = load.recorded() && f.history && !policy.has("name") && q.Cluster.Conf.Text("mapred.jobtracker.taskScheduler") == ""
		if run.AnyScheduler {
			t.assume("scheduler.name = fifo (no record states it)")
		}
		q.Scheduler = schedulerTable{policy}.readScheduler(&q.Cluster)
		q.Changes = t.readChanges(&q.Cluster)
	}
	q.Jobs = append(load.jobs(&q.Cluster, conf), f.readJobs(t, s, q, m)...)
	if q.Fidelity == model.Profile && !slices.ContainsFunc(q.Jobs, func(j workload.Job) bool { return j.Profile != nil }) {
		t.warnAt(t.line("fidelity"), "fidelity %v has no effect: no [[job]] has a profile", q.Fidelity)
	}
	if load.recorded() && q.Scheduler.Name == "capacity" {
		t.recordedQueues(q)
	}
	run.Recorded, run.Changed, run.Stated, run.Rescaled, run.Still = load.records, load.changed, load.stated, load.replay.Rescaled, load.still
	run.AlsoFits = load.alsoFits
	if load.onYARN {
		run.Record = load.whole
	}
	if t.yarn != nil && !load.onYARN && load.recorded() && !slices.ContainsFunc(run.Changed, func(s string) bool { return strings.HasPrefix(s, "cluster.hadoop=") }) {
		run.Changed = append(run.Changed, "cluster.hadoop")
	}
	q.Programs = m.programs
	t.limited(q)
	wrong := slices.ContainsFunc(t.problems, func(p problem) bool { return strings.HasPrefix(p.what, "workload") })
	if len(q.Jobs) == 0 && !load.failed && !wrong && !t.has("job") && !t.has("jobs") && !f.onlyQueues {
		t.lacks("no jobs: want [[job]] tables or a trace in [workload]")
	}
	slices.SortStableFunc(q.Jobs, func(a, b workload.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	t.unique(q.Jobs)
	t.chains(q.Jobs)
	t.unread(q)
	if onYARN != nil {
		onYARN.place(q.Jobs)
		onYARN.check(q)
		return
	}
	t.knownQueues(q)
	t.slotsOfKinds(q)
	servesAll(policy, q)
	t.withoutEffect(q)
	oneUser(t, q)
}

// gives reports whether a table within this one has one of the keys.
func (t *table) gives(inner string, keys ...string) bool {
	values, _ := t.values[inner].(map[string]any)
	return slices.ContainsFunc(keys, func(key string) bool { _, ok := values[key]; return ok })
}

func (t *table) fidelity() model.Fidelity {
	words := []string{model.Replay.String(), model.Profile.String(), model.Phase.String(), model.Device.String()}
	f, _ := model.ParseFidelity(t.oneOf("fidelity", words[0], words...))
	return f
}

// unique reports jobs with equal names.
func (t *table) unique(jobs []workload.Job) {
	seen := make(map[string]bool, len(jobs))
	for i := range jobs {
		if id := jobs[i].ID; seen[id] {
			want := "a different name for each"
			if t.traced {
				want = "one of the files, if a folder holds several traces, or a different name for each"
			}
			t.fail(t.line("job"), "two jobs are named %q: want %s", id, want)
			return
		}
		seen[jobs[i].ID] = true
	}
}

// oneUser warns where a limit for each user holds back all jobs, because none names
// its user.
func oneUser(t *table, q *model.WhatIf) {
	const limit = "mapred.capacity-scheduler.default-maximum-initialized-jobs-per-user"
	const many = 10
	named := slices.ContainsFunc(q.Jobs, func(j workload.Job) bool { return j.User != "" })
	if !isAny(q, "capacity") || !strings.HasPrefix(q.Cluster.Hadoop, "0.") || named || len(q.Jobs) < many || slices.Contains(q.Scheduler.Conf.Keys(), limit) {
		return
	}
	p, _ := workload.FindProperty(limit)
	t.warn("no job names its user: the capacity scheduler of %s takes all for jobs of one user, and initialises %s of them at a time unless %s states more", q.Cluster.Hadoop, p.Default, limit)
}

// withoutEffect warns about inputs that change nothing.
func (t *table) withoutEffect(q *model.WhatIf) {
	used := map[string]map[string]bool{"pool": {"default": true}, "user": {}, "queue": {}}
	for i := range q.Jobs {
		j := &q.Jobs[i]
		used["pool"][scheduler.PoolOf(j.Pool, j.User)], used["user"][j.User], used["queue"][cmp.Or(j.Queue, "default")] = true, true, true
	}
	delete(used["user"], "")
	compared := t.lines["scheduler.name"] < 0 || t.gives("vary", "scheduler.name") // jobs may have keys for other schedulers
	if values, _ := t.values["scheduler"].(map[string]any); !isAny(q, "fair") && !compared {
		policy := &table{report: t.report, path: "scheduler", values: values}
		policy.idle("the scheduler is "+q.Scheduler.Name, "mode")
		for _, e := range elements {
			policy.idle("the scheduler is "+q.Scheduler.Name, e.key)
		}
	}
	for i := 0; t.lines[index("job", i)] > 0; i++ {
		job := index("job", i)
		for _, key := range []struct{ name, family, want, wanted string }{
			{"pool", "fair", "queue", "capacity"}, {"queue", "capacity", "pool", "fair"},
		} {
			line := t.lines[join(job, key.name)]
			switch {
			case line <= 0 || isAny(q, key.family):
			case isAny(q, key.wanted) && t.lines[join(job, key.want)] == 0:
				t.warnAt(line, "%s.%s has no effect: the scheduler is %s: want %s", job, key.name, q.Scheduler.Name, key.want)
			case !isAny(q, key.wanted) && !compared:
				t.warnAt(line, "%s.%s has no effect on the run: the scheduler is %s", job, key.name, q.Scheduler.Name)
			}
		}
	}
	wantQueue, wantPool := "", ""
	if isAny(q, "capacity") {
		wantQueue = ": want [[scheduler.queue]]"
	}
	if isAny(q, "fair") {
		wantPool = ": want [[scheduler.pool]]"
	}
	check := func(kind, name string, i, most int, policy, unused, instead string) {
		at := t.lines[index("scheduler."+kind, i)]
		if !isAny(q, policy) {
			t.warnAt(at, "%s %s has no effect: the scheduler is %s%s", kind, name, q.Scheduler.Name, instead)
		} else if !used[kind][name] {
			t.warnAt(at, "%s %s %s%s", kind, name, unused, input.DidYouMean(name, slices.Sorted(maps.Keys(used[kind]))))
		} else if most == 0 {
			t.fail(t.line(join(index("scheduler."+kind, i), "max_running_jobs")), "%s %s: max_running_jobs = 0 lets none of its jobs run: want 1 or more", kind, name)
		}
	}
	for i, p := range q.Scheduler.Pools {
		most := unlimited
		if p.MaxRunningJobs != nil {
			most = *p.MaxRunningJobs
		}
		check("pool", p.Name, i, most, "fair", "has no effect: no job is in it", wantQueue)
		t.checkPool(q, i)
	}
	for i, u := range q.Scheduler.Users {
		check("user", u.Name, i, u.MaxRunningJobs, "fair", "has no effect: no job has this user", "")
	}
	percent, whole := 0.0, len(q.Scheduler.Queues) > 0
	for i, u := range q.Scheduler.Queues {
		text, _ := u.Conf.Lookup("capacity")
		capacity, err := strconv.ParseFloat(text, 64)
		percent, whole = percent+capacity, whole && err == nil
		check("queue", u.Name, i, unlimited, "capacity", "gets no job: other queues use its guaranteed capacity", wantPool)
	}
	if whole && percent < 99.9 {
		t.warnAt(t.lines["scheduler.queue"], "scheduler.queue: the capacities add up to %.4g %%: want 100", percent)
	}
	if t.lines["scheduler.name"] != 0 && strings.HasSuffix(q.Scheduler.Name, "edf") && !slices.ContainsFunc(q.Jobs, func(j workload.Job) bool { return j.Deadline > 0 }) {
		t.warnAt(t.lines["scheduler.name"], "scheduler.name: %s serves jobs by deadline, and none has one: want deadline in [[job]]", q.Scheduler.Name)
	}
	t.preempts(q)
}

// checkPool warns about limits of a pool that do not go together.
func (t *table) checkPool(q *model.WhatIf, i int) {
	p, slots := &q.Scheduler.Pools[i], q.Cluster.Slots()
	if p.Weight == 0 {
		key := join(index("scheduler.pool", i), "weight")
		t.warnAt(t.line(key), "%s: 0: pool %s gets no fair share: want a number above 0", key, p.Name)
	}
	for kind, limits := range [2]struct {
		least int
		most  *int
	}{{p.MinMaps, p.MaxMaps}, {p.MinReduces, p.MaxReduces}} {
		key := join(index("scheduler.pool", i), []string{"min_maps", "min_reduces"}[kind])
		switch {
		case limits.most != nil && limits.least > *limits.most:
			t.warnAt(t.line(key), "%s: %d: more than the most of pool %s, %d, which holds", key, limits.least, p.Name, *limits.most)
		case limits.least > slots[kind] && !q.Cluster.SharedSlots:
			t.warnAt(t.line(key), "%s: %d: more than the %d %s slots of the cluster", key, limits.least, slots[kind], workload.Kind(kind))
		}
	}
}

// preempts warns about timeouts of a fair scheduler that does not preempt.
func (t *table) preempts(q *model.WhatIf) {
	const key = "mapred.fairscheduler.preemption"
	if on, err := q.Scheduler.Conf.Truth(key); on || err != nil || !isAny(q, "fair2") {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(t.lines)) {
		if strings.HasPrefix(path, "scheduler") && strings.HasSuffix(path, "share_timeout") {
			t.warnAt(t.lines[path], "%s has no effect: preemption is off: want conf.%s = true", path, key)
		}
	}
}

// unread warns about properties that no part of the question's Hadoop reads, or that a
// key of the scenario replaces.
func (t *table) unread(q *model.WhatIf) {
	replaced := map[string][2]string{
		"mapred.tasktracker.map.tasks.maximum":    {"cluster", "map_slots"},
		"mapred.tasktracker.reduce.tasks.maximum": {"cluster", "reduce_slots"},
		"mapred.jobtracker.taskScheduler":         {"scheduler", "name"},
	}
	for _, s := range t.stated {
		switch jobs, _ := asTables(t.values["job"]); {
		case s.Key == "mapred.tasktracker.expiry.interval" && t.yarn == nil:
			t.expires(q, &s)
		case s.Key == "dfs.replication" && q.Cluster.Replication > len(q.Cluster.Nodes):
			t.warnAt(s.line, "%s: %d: more than the %d nodes, which then hold a replica each", s.name, q.Cluster.Replication, len(q.Cluster.Nodes))
		case s.Key == "dfs.block.size" && !t.phases && !t.gives("workload", "trace") && !slices.ContainsFunc(jobs, func(job map[string]any) bool { return job["maps"] == nil }):
			t.warnAt(s.line, "%s has no effect: every [[job]] states maps", s.name)
		}
		why, by := "", replaced[s.Key]
		switch {
		case s.OnYARN() && t.yarn == nil:
			why = "only clusters on YARN read it (cluster.hadoop)"
		case s.Reader == "JobTracker 1.x" && !knowsOutOfBand(q.Cluster.Hadoop):
			why = "Hadoop " + q.Cluster.Hadoop + " does not know it (cluster.hadoop)"
		case slices.ContainsFunc(q.Schedulers(), func(x model.Scheduler) bool { return s.ReadUnder(x.Name) }):
			switch {
			case s.Needs != "" && (t.phases || !s.Phases) && !anyStates(q, s.Needs):
				why = "it needs " + s.Needs + " = true"
			case by[0] == "" || !t.gives(by[0], by[1]) || ofClassOnSlots(q.Cluster.Conf.String(s.Key, ""), q.Cluster.Hadoop) == q.Scheduler.Name:
				continue
			default:
				why = join(by[0], by[1]) + " is stated too: want one of the two"
			}
		case t.yarn != nil:
			why = "a cluster on YARN has no " + strings.Fields(s.Reader)[0]
		default:
			why = fmt.Sprintf("the scheduler is %s, and %s reads it", q.Scheduler.Name, strings.Fields(s.Reader)[0])
		}
		t.warnAt(s.line, "%s has no effect: %s", s.name, why)
	}
	t.stated = nil
}

// knowsOutOfBand reports whether the JobTracker of a release has the properties of
// heartbeats that came with 1.x.
func knowsOutOfBand(release string) bool {
	r, err := model.FindRelease(release)
	return err != nil || r.OutOfBand || r.YARN != nil
}

// anyStates reports whether the scheduler or a job has a property, even a switch that is
// off: who compares both keeps what belongs to it.
func anyStates(q *model.WhatIf, property string) bool {
	states := func(c workload.Conf) bool { _, known := c.Lookup(property); return known }
	return states(q.Scheduler.Conf) || slices.ContainsFunc(q.Jobs, func(j workload.Job) bool { return states(j.Conf) })
}

// expires warns of a time after which trackers are lost that no heartbeat comes within.
func (t *table) expires(q *model.WhatIf, s *statedProperty) {
	r, err := model.FindRelease(q.Cluster.Hadoop)
	if err != nil {
		return
	}
	every, err1 := r.HeartbeatInterval(len(q.Cluster.Nodes), q.Cluster.Conf)
	ms, err2 := q.Cluster.Conf.Whole(s.Key)
	if every = cmp.Or(q.Cluster.Heartbeat, every); err1 == nil && err2 == nil && time.Duration(ms)*time.Millisecond < every {
		t.warnAt(s.line, "%s: %d ms, less than the %v between heartbeats: the unit is ms", s.name, ms, every)
	}
}

// limited checks a whole question.
func (t *table) limited(q *model.WhatIf) {
	if what := beyond(q); what != "" {
		t.fail(t.line("job"), "%s", what)
	}
}

// CheckQueues checks the file of a scheduler of YARN, with the files beside it, on a
// cluster without jobs. It returns an empty description for other files.
func CheckQueues(name string) (about string, warnings []string, err error) {
	if !isQueues(name) {
		return "", nil, nil
	}
	f := &File{name: name, slug: "queues", folder: ".", traces: make(map[string]*openedTrace), parsed: new(parsed), onlyQueues: true}
	f.data = fmt.Appendf(nil, "[cluster]\nhadoop = %q\nnodes = 1\n[scheduler]\nfile = %s\n", usualYARN, workload.TOMLText(name))
	s, err := f.Scenario(1)
	if err != nil {
		return "", nil, err
	}
	return "queues of a cluster on YARN", s.Warnings, nil
}

// openQueues opens the workload of a scheduler's file, on a cluster on YARN with this
// scheduler unless the settings say otherwise.
func openQueues(name string, r Reading, settings []string) (*File, error) {
	data, _ := os.ReadFile(name)
	if pools := ofHadoop1(data, name); !isQueues(name) || pools != nil {
		got := "no queues of a cluster on YARN"
		switch holds := func(text string) bool { return strings.Contains(string(data), text) }; {
		case isQueues(r.Workload) && len(data) > 0 && !holds("<configuration"):
			return nil, fmt.Errorf("%s: holds the jobs: want slotwave run %s --workload %s", name, r.Workload, name)
		case holds("mapred.capacity-scheduler."):
			got = "queues of Hadoop 1, which a scenario lists as [[scheduler.queue]]"
		case len(data) == 0:
			for _, file := range []string{"capacity-scheduler.xml", "fair-scheduler.xml"} {
				if file = filepath.Join(name, file); isQueues(file) {
					got += " (did you mean " + file + "?)"
				}
			}
		case pools != nil:
			got = "pools of Hadoop 1, which a scenario lists as [[scheduler.pool]]"
		case holds("<configuration"):
			got = "settings of a cluster, which are read where they lie beside its queues"
		}
		return nil, fmt.Errorf("--workload: %s: %s: want capacity-scheduler.xml or fair-scheduler.xml of YARN", name, got)
	}
	workload := r.Workload
	r.Workload = ""
	base, err := OpenReading(workload, r)
	if err != nil {
		return nil, fmt.Errorf("--workload: %w", err)
	}
	file := name
	if base.files == nil && !filepath.IsAbs(name) {
		if file, err = filepath.Rel(base.folder, name); err != nil {
			return nil, err
		}
	}
	return OpenReading(workload, r, append([]string{
		"cluster.hadoop=" + strconv.Quote(usualYARN) + FlagMark + " " + name, "scheduler.file=" + strconv.Quote(file) + FlagMark + " " + name,
	}, settings...)...)
}
