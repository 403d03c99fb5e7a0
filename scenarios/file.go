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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// File is the text of a scenario with the settings applied to it. It makes
// questions for any seed.
type File struct {
	name   string // as the user gave it
	slug   string // name of the scenario unless it sets one
	data   []byte
	files  fs.FS  // file system of a shipped scenario; nil: the machine's
	folder string // base of the scenario's paths
	set    []setting
	fork   *fork // nil: one run of each variation
	traces map[string]*openedTrace
	parsed *parsed // data, shared by copies with more settings

	reading    Reading
	history    bool              // the file is a history, which the scenario replays
	onlyQueues bool              // the scenario is the file of a scheduler, without jobs
	stated     map[string]stated // by key, what is known of a history besides its tables
}

// parsed is the text of a scenario, parsed once. Readers do not change its values.
type parsed struct {
	once  sync.Once
	whole *table
	err   error
}

// table returns the values with lines and problems of its own.
func (p *parsed) table(data []byte, name string) (*table, error) {
	p.once.Do(func() { p.whole, p.err = parse(data, name) })
	if p.err != nil {
		return nil, p.err
	}
	return &table{report: &report{file: name, lines: maps.Clone(p.whole.lines)}, values: p.whole.values}, nil
}

// Reading says how the histories of a scenario are read. The zero value detects
// the format and takes every job.
type Reading struct {
	Format   string   // instead of what the content looks like
	Topology string   // file with the machines, read beside the histories
	Jobs     []string // patterns of ids or names of the jobs to take
	Workload string   // history or scenario with the jobs for the file of a scheduler of YARN

	Anonymise bool // give users, jobs, queues, pools, paths and machines new names
}

// setting is one --set KEY=VALUE.
type setting struct {
	text  string
	value map[string]any // tree of the setting
}

// maxFile is larger than any scenario that people or programs write.
const maxFile = 64 << 20

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
		return nil, fmt.Errorf("%s: no such file or shipped scenario%s; slotwave list prints the shipped ones", name, input.DidYouMean(name, append(List(), siblings(name)...)))
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
	f.slug = slugOf(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)))
	f.folder = filepath.Dir(name)
	return f, nil
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

func slugOf(s string) string {
	return cut(strings.Trim(notSlug.ReplaceAllString(strings.ToLower(s), "-"), "-"), 64)
}

func cut(s string, n int) string {
	if s == "" {
		return "scenario"
	}
	return s[:min(len(s), n)]
}

// parseSetting reads KEY=VALUE. A value that is not valid TOML is a text.
func parseSetting(text string) (setting, error) {
	s := setting{text: text}
	key, value, ok := cutSetting(text)
	if _, isProperty := workload.FindProperty(key); isProperty {
		return s, fmt.Errorf("--set %s: want --set conf.%s for a Hadoop property of all jobs", text, text)
	}
	if !ok {
		return s, fmt.Errorf("--set %s: want KEY=VALUE, with a key of the scenario such as cluster.nodes", text)
	}
	if _, err := lines(text); err != nil {
		return s, fmt.Errorf("--set %s: %w", text, err)
	}
	for _, v := range []string{value, workload.TOMLText(value)} {
		s.value = nil
		if _, err := toml.Decode(key+" = "+v, &s.value); err == nil {
			return s, nil
		}
	}
	return s, fmt.Errorf("--set %s: want KEY=VALUE, with a key of the scenario such as cluster.nodes", text)
}

// sets reports whether a setting replaces the value of a key.
func (f *File) sets(key string) bool {
	return slices.ContainsFunc(f.set, func(s setting) bool {
		k, _, _ := cutSetting(s.text)
		return strings.TrimSpace(k) == key
	})
}

// changes reports whether a setting gives or varies a key.
func (f *File) changes(key string) bool {
	return slices.ContainsFunc(f.set, func(s setting) bool { return strings.Contains(s.text, key) })
}

// cutSetting splits at the first = outside quotes.
func cutSetting(text string) (key, value string, ok bool) {
	quote := rune(0)
	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '=':
			return text[:i], strings.TrimSpace(text[i+1:]), strings.TrimSpace(text[:i]) != ""
		}
	}
	return "", "", false
}

// Scenario makes the questions of one seed. One error lists all mistakes in the
// file.
func (f *File) Scenario(seed uint64) (*Scenario, error) {
	if first := bytes.TrimLeft(f.data, " \t\r\n\ufeff"); !f.history && len(first) > 0 && first[0] == '{' {
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
		return nil, fmt.Errorf("%s: %w", f.name, trace.Foreign(f.data))
	}
	t, err := f.parsed.table(f.data, f.name)
	if err != nil {
		return nil, err
	}
	switch {
	case f.history:
		clear(t.lines) // nobody wrote them
	case t.has("scenario"):
		verb := "sweep"
		if t.has("goal") {
			verb = "size"
		}
		return nil, fmt.Errorf("%s:%d: scenario: a study has this key: want a scenario, or slotwave %s %s", f.name, t.lines["scenario"], verb, f.name)
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

// relocate records a setting as the place of the values that it made.
func (r *report) relocate(values, set any, path string, line int) {
	m, ok := set.(map[string]any)
	if !ok {
		maps.DeleteFunc(r.lines, func(p string, _ int) bool {
			return strings.HasPrefix(p, path+".") || strings.HasPrefix(p, path+"[")
		})
		r.lines[path] = line
		return
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		below := m[k]
		switch v := values.(type) {
		case map[string]any:
			r.relocate(v[k], below, join(path, k), line)
		case []map[string]any:
			if i, err := strconv.Atoi(k); err == nil && i >= 0 && i < len(v) {
				r.relocate(v[i], below, index(path, i), line)
			}
		}
	}
}

// extensible are the lists that a setting may add the next table to.
var extensible = []string{"change", "pool", "user", "queue"}

// overlay sets the values of one tree over another. Numbers index lists. The
// error names an index outside its list.
func overlay(under, over any, path string) (any, error) {
	m, ok := over.(map[string]any)
	if !ok {
		return over, nil
	}
	if under == nil {
		under = map[string]any{}
	}
	var wrong error
	switch u := under.(type) {
	case map[string]any:
		out := maps.Clone(u)
		if conf, own := m["conf"], u["scheduler"]; path == "" && conf != nil && own != nil {
			// The scheduler reads its own properties first, which would hide this later one.
			out["scheduler"] = withoutProperties(own, "", propertiesOf(conf, ""))
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			below := out[k]
			if below == nil && slices.Contains(extensible, k) {
				below = []map[string]any{}
			}
			if k == "conf" || k == "scheduler" {
				below = withoutProperties(below, "", propertiesOf(m[k], ""))
			}
			next, err := overlay(below, m[k], join(path, k))
			out[k], wrong = next, cmp.Or(wrong, err)
		}
		return out, wrong
	case []map[string]any:
		out := slices.Clone(u)
		for _, k := range slices.Sorted(maps.Keys(m)) {
			i, err := strconv.Atoi(k)
			if err == nil && i == len(out) && slices.Contains(extensible, path[strings.LastIndexByte(path, '.')+1:]) {
				out = append(out, map[string]any{})
			}
			if err != nil || i < 0 || i >= len(out) {
				wrong = cmp.Or(wrong, noEntry(path, k, len(u)))
				continue
			}
			next, err := overlay(out[i], m[k], index(path, i))
			if entry, ok := next.(map[string]any); ok {
				out[i] = entry
			}
			wrong = cmp.Or(wrong, err)
		}
		return out, wrong
	}
	return over, nil
}

// noEntry lists the tables of a list in an error.
func noEntry(path, key string, n int) error {
	switch n {
	case 0:
		return fmt.Errorf("%s.%s: there are no [[%s]] tables: want %s.0", path, key, path, path)
	case 1:
		return fmt.Errorf("%s.%s: there is only 1 [[%s]] table: want %s.0", path, key, path, path)
	}
	return fmt.Errorf("%s.%s: there are only %d [[%s]] tables: want %s.0 to %s.%d", path, key, n, path, path, path, n-1)
}

// propertiesOf returns the Hadoop properties that the values of a tree set. A
// property is one key in quotes or nested tables of its parts.
func propertiesOf(tree any, name string) []string {
	m, ok := tree.(map[string]any)
	if !ok {
		return []string{workload.Canonical(name)}
	}
	var names []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		names = append(names, propertiesOf(m[k], join(name, k))...)
	}
	return names
}

// withoutProperties returns a tree without the given properties, in either
// form.
func withoutProperties(tree any, name string, names []string) any {
	m, ok := tree.(map[string]any)
	if !ok {
		return tree
	}
	out := make(map[string]any, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		full := join(name, k)
		if _, table := m[k].(map[string]any); table || !slices.Contains(names, workload.Canonical(full)) {
			out[k] = withoutProperties(m[k], full, names)
		}
	}
	return out
}

// fix removes the variation of keys that a setting has replaced, because the
// variation would override it. Of a key that varies in every job it notes the jobs in
// which the setting holds.
func (t *table) fix(set map[string]any) {
	vary, ok := t.values["vary"].(map[string]any)
	if !ok {
		return
	}
	fixed := keyPaths(set, nil)
	for _, path := range fixed {
		if path[0] == "conf" {
			fixed = append(fixed, append([]string{"scheduler"}, path[1:]...))
		}
	}
	left := maps.Clone(vary)
	replaced := func(key string) bool {
		return slices.ContainsFunc(keyPaths(pathTree(key, 0), nil), func(varied []string) bool {
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

// keyPaths returns the paths to the values of a tree. A Hadoop property is one
// step.
func keyPaths(tree any, path []string) [][]string {
	if m, ok := tree.(map[string]any); ok {
		var all [][]string
		for _, k := range slices.Sorted(maps.Keys(m)) {
			all = append(all, keyPaths(m[k], append(slices.Clone(path), k))...)
		}
		return all
	}
	properties := slices.Index(path, "conf") + 1
	if len(path) > 1 && path[0] == "scheduler" && strings.HasPrefix(path[1], "mapred") {
		properties = 1
	}
	if properties > 0 && properties < len(path) {
		path = append(path[:properties:properties], workload.Canonical(strings.Join(path[properties:], ".")))
	}
	return [][]string{path}
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
	if t.str("attempts", "") == "parquet" {
		t.failf("attempts", "%q: want csv.gz, which pandas, R and DuckDB read", "parquet")
	} else {
		s.Attempts = t.oneOf("attempts", "csv", "csv", "csv.gz", "none")
	}
	plots := t.oneOf("plots", "all", "all", "none")

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
				if run.Levels = append(run.Levels, Level{name, textOf(v), tomlOf(v)}); v == "none" {
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
			run.Levels = append(run.Levels, Level{name, textOf(v), tomlOf(v)})
		}
		one := &table{report: t.report, values: values.(map[string]any), asked: t.asked}
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
	s.NoPlots = plots == "none"
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
		if !filepath.IsAbs(name) && f.files == nil {
			name = filepath.Join(f.folder, name)
		}
		inputs, err := inputsUnder(nil, name)
		if err != nil {
			t.failf(key, "%v", err)
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

// FlagMark stands in a setting before the flag that it comes from, if that is not --set.
const FlagMark = " # --"

// Vary returns the setting that varies a key as [vary] does. The values are TOML, or
// texts. Errors blame the flag.
func Vary(key string, values []string, flag string) string {
	list := make([]string, len(values))
	for i, v := range values {
		var one map[string]any
		if _, err := toml.Decode("v = "+v, &one); err != nil {
			v = workload.TOMLText(v)
		}
		list[i] = v
	}
	return "vary." + workload.TOMLText(key) + "=[" + strings.Join(list, ", ") + "]" + FlagMark + "over " + flag
}

// varied returns the keys that a varied key stands for. One without a dot that is not
// a key of the whole scenario is that of every [[job]].
func varied(values map[string]any, key string) (paths []string) {
	jobs, _ := values["job"].([]map[string]any)
	return VariedPaths(key, len(jobs))
}

// VariedPaths returns the keys that a varied key of a scenario with some [[job]] tables
// stands for.
func VariedPaths(key string, jobs int) (paths []string) {
	if jobs == 0 || strings.ContainsAny(key, ".\"") || slices.Contains([]string{"fidelity", "attempts", "plots"}, key) {
		return []string{key}
	}
	for i := range jobs {
		paths = append(paths, fmt.Sprintf("job.%d.%s", i, key))
	}
	return paths
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
	for _, key := range slices.SortedFunc(maps.Keys(vary.values), func(a, b string) int { return vary.line(a) - vary.line(b) }) {
		v, _ := vary.ask(key)
		list, ok := v.([]any)
		if !ok || len(list) == 0 {
			vary.want(key, v, `a list of values for a key such as "cluster.map_slots"`)
			continue
		}
		names, choices = append(names, key), append(choices, list)
		if total *= len(list); total > mostRuns {
			vary.failf(key, "makes more than %d combinations: want fewer", mostRuns)
			return nil, nil
		}
	}
	return names, choices
}

// tomlOf writes a value as TOML does.
func tomlOf(v any) string {
	switch v := v.(type) {
	case string:
		return workload.TOMLText(v)
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".en") {
			text += ".0"
		}
		return text
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, tomlOf(x))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, workload.TOMLText(k)+" = "+tomlOf(v[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
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

// pathTree returns the tree that sets one key.
func pathTree(path string, v any) any {
	var m map[string]any
	if _, err := toml.Decode(path+" = 0", &m); err != nil {
		m = map[string]any{path: int64(0)}
	}
	return replaceLeaf(m, v)
}

func replaceLeaf(tree, v any) any {
	m, ok := tree.(map[string]any)
	if !ok {
		return v
	}
	for k, inner := range m {
		m[k] = replaceLeaf(inner, v)
	}
	return m
}

// question reads what a run asks: cluster, scheduler, configuration, workload.
func (f *File) question(t *table, s *Scenario, run *Run, seed uint64) {
	q := &run.Question
	q.Seed = seed
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

	m := &hardware{file: f, scenario: s, fidelity: q.Fidelity, own: own, varies: run.Name != "", seed: workload.Seed(seed)}
	m.readNetwork(t.inner("network"), &q.Network)
	load := f.readWorkload(t.inner("workload"), conf, s, seed, m)
	load.checkBlocks(t, conf)
	q.Cluster = clusterTable{t.inner("cluster")}.readCluster(load, conf, m, onYARN)
	if onYARN != nil {
		q.Scheduler, q.YARN = onYARN.scheduler(&q.Cluster)
		if t.has("change") {
			t.failf("change", "the scheduler of a cluster on YARN does not change in a run")
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
	if load.recorded() && q.Scheduler.Name == "capacity" {
		t.recordedQueues(q)
	}
	run.Recorded, run.Changed, run.Stated, run.Rescaled = load.records, load.changed, load.stated, load.replay.Rescaled
	if t.yarn != nil && !load.onYARN && load.recorded() {
		run.Changed = append(run.Changed, "cluster.hadoop")
	}
	q.Programs = m.programs
	t.limited(q)
	if len(q.Jobs) == 0 && !load.failed && !t.has("job") && !f.onlyQueues {
		t.fail(0, "no jobs: want [[job]] tables or a trace in [workload]")
	}
	slices.SortStableFunc(q.Jobs, func(a, b workload.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	t.unique(q.Jobs)
	t.chains(q.Jobs)
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
			t.fail(t.line("job"), "two jobs are named %q: want a different name for each", id)
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
	used := map[string]bool{}
	for i := range q.Jobs {
		j := &q.Jobs[i]
		used["pool "+scheduler.PoolOf(j.Pool, j.User)], used["user "+j.User], used["queue "+cmp.Or(j.Queue, "default")] = true, true, true
	}
	fair := isAny(q, "fair")
	at := func(key string, i int) int { return t.lines[index("scheduler."+key, i)] }
	for i := 0; t.lines[index("job", i)] > 0; i++ {
		job := index("job", i)
		for _, key := range []struct {
			name, other, family string
		}{{"pool", "queue", "fair"}, {"queue", "pool", "capacity"}} {
			if line := t.lines[join(job, key.name)]; line > 0 && t.lines[join(job, key.other)] == 0 && !isAny(q, key.family) {
				t.warnAt(line, "%s.%s has no effect: the scheduler is %s%s", job, key.name, q.Scheduler.Name, map[bool]string{true: ": want " + key.other}[isAny(q, "fair") || isAny(q, "capacity")])
			}
		}
	}
	for i, p := range q.Scheduler.Pools {
		if !fair {
			t.warnAt(at("pool", i), "pool %s has no effect: the scheduler is %s%s", p.Name, q.Scheduler.Name, map[bool]string{true: ": want [[scheduler.queue]]"}[isAny(q, "capacity")])
		} else if !used["pool "+p.Name] && p.Name != "default" {
			t.warnAt(at("pool", i), "pool %s has no effect: no job is in it", p.Name)
		}
	}
	for i, u := range q.Scheduler.Users {
		if !fair {
			t.warnAt(at("user", i), "user %s has no effect: the scheduler is %s", u.Name, q.Scheduler.Name)
		} else if !used["user "+u.Name] {
			t.warnAt(at("user", i), "user %s has no effect: no job has this user", u.Name)
		}
	}
	for i, u := range q.Scheduler.Queues {
		if !isAny(q, "capacity") {
			t.warnAt(at("queue", i), "queue %s has no effect: the scheduler is %s%s", u.Name, q.Scheduler.Name, map[bool]string{true: ": want [[scheduler.pool]]"}[fair])
		} else if !used["queue "+u.Name] {
			t.warnAt(at("queue", i), "queue %s gets no job: other queues use its guaranteed capacity", u.Name)
		}
	}
	for _, key := range q.Scheduler.Conf.Keys() {
		family := map[string]string{"mapred.fairscheduler.": "fair", "mapred.capacity-scheduler.": "capacity", "mapred.newjobweightbooster.": "fair"}
		for _, prefix := range slices.Sorted(maps.Keys(family)) {
			if strings.HasPrefix(key, prefix) && !isAny(q, family[prefix]) && t.lines["scheduler."+key] > 0 {
				t.warnAt(t.lines["scheduler."+key], "%s has no effect: the scheduler is %s", key, q.Scheduler.Name)
			}
		}
	}
}
