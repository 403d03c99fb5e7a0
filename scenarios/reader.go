package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// Errors lists all errors in a file, in order of lines.
type Errors struct {
	File string
	set  []string // settings from the command line
	all  []problem
}

func (e *Errors) Error() string {
	const most = 40
	var lines []string
	for i, p := range e.all {
		if i == most {
			lines = append(lines, fmt.Sprintf("%s: and %d more", e.File, len(e.all)-most))
			break
		}
		at := place(cmp.Or(p.file, e.File), e.set, p.line)
		if p.line < 0 && !strings.HasPrefix(at, "--") { // a [[node]], whose keys are those of [cluster]
			p.what = strings.ReplaceAll(p.what, "cluster.", "")
		}
		lines = append(lines, at+p.what)
	}
	return strings.Join(lines, "\n")
}

// place returns the place of an error: a line, or the flag that set the value.
func place(file string, set []string, line int) string {
	switch {
	case line > 0:
		return fmt.Sprintf("%s:%d: ", file, line)
	case line < 0:
		if _, flag, ok := strings.Cut(set[-line-1], FlagMark); ok {
			return strings.TrimPrefix("--"+flag, "-- ") + ": "
		}
		return fmt.Sprintf("--set %s: ", set[-line-1])
	}
	return file + ": "
}

// report collects the errors in one file and the notes for readers of its
// results.
type report struct {
	file     string
	lines    map[string]int
	order    map[string]int // of keys in the file, as they first appear
	set      []string       // settings from the command line; negative lines refer to them
	known    []string       // paths of all keys that were read
	forms    map[string]Key // by name, what readers take; nil: nobody asks
	problems []problem
	run      string // of several, that is read: values of what varies
	warnings []string
	assumed  []string
	top      *table             // of the whole file, where its keys are read; nil: elsewhere
	decisive *problem           // that causes others, which are left out
	misread  []mistyped         // what tables seem to lack follows from it
	mistyped []string           // tables of the whole file whose names are mistyped
	beyond   []string           // what the command line asks and given times of tasks do not answer
	phases   bool               // times come from phases, so properties within a task matter
	fixed    []string           // varied keys of single jobs that a setting has replaced
	yarn     *model.YARNRelease // of the cluster; nil: it has a JobTracker
	traced   bool               // all jobs come from traces
	jobs     map[string]*table  // each [[job]], by the IDs of its jobs
	stated   []statedProperty   // of the question, which its scheduler may not read
}

// statedProperty is a Hadoop property as a scenario names it.
type statedProperty struct {
	workload.Property
	name string
	line int
}

func (r *report) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	if r.decisive != nil {
		r.problems = []problem{*r.decisive}
	}
	r.problems = slices.DeleteFunc(r.problems, func(p problem) bool { // what a table lacks may be what was mistyped
		meant := func(name string) bool {
			return strings.HasPrefix(p.what, name+".") || strings.HasPrefix(p.what, name+":")
		}
		follows := func(m mistyped) bool { return p.table == m.table && strings.Contains(p.what, m.key) }
		return p.lacks && (slices.ContainsFunc(r.misread, follows) || slices.ContainsFunc(r.mistyped, meant))
	})
	seen := map[problem]bool{} // each run of a varied key finds the same ones
	r.problems = slices.DeleteFunc(r.problems, func(p problem) bool { again := seen[p]; seen[p] = true; return again })
	slices.SortStableFunc(r.problems, func(a, b problem) int { return cmp.Compare(a.line, b.line) })
	return &Errors{r.file, r.set, r.problems}
}

func (r *report) fail(line int, format string, args ...any) {
	r.problems = append(r.problems, problem{line: line, what: fmt.Sprintf(format, args...)})
}

// failIn reports a problem in another file that the scenario names.
func (r *report) failIn(file string, line int, format string, args ...any) {
	r.problems = append(r.problems, problem{line: line, what: fmt.Sprintf(format, args...), file: file})
}

func (r *report) warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(r.warnings, w) {
		r.warnings = append(r.warnings, w)
	}
}

// warnAt adds a warning about a line.
func (r *report) warnAt(line int, format string, args ...any) {
	r.warn("%s%s", place(r.file, r.set, line), fmt.Sprintf(format, args...))
}

// idleAt warns about a line that changes nothing at the fidelity of the scenario.
func (r *report) idleAt(line int, format string, args ...any) {
	r.warnAt(line, format, args...)
	if line < 0 {
		asked, _, _ := strings.Cut(r.set[-line-1], FlagMark)
		r.beyond = append(r.beyond, asked)
	}
}

func (r *report) assume(format string, args ...any) {
	if a := fmt.Sprintf(format, args...); !slices.Contains(r.assumed, a) {
		r.assumed = append(r.assumed, a)
	}
}

// table reads one table of a file strictly: any key that no reader asks for is
// an error.
type table struct {
	*report
	path   string
	values map[string]any
	asked  []string
}

func (t *table) ask(key string) (any, bool) {
	t.asked = append(t.asked, key)
	v, ok := t.values[key]
	return v, ok
}

// has reports whether a key is given. It does not count as reading the key.
func (t *table) has(key string) bool {
	_, ok := t.values[key]
	return ok
}

// given is has for a key that is read next, and only if it is given.
func (t *table) given(key string) bool {
	_, ok := t.ask(key)
	return ok
}

// onCommandLine reports whether a setting gives one of the keys.
func (t *table) onCommandLine() bool {
	return slices.ContainsFunc(slices.Sorted(maps.Keys(t.values)), func(key string) bool { return t.line(key) < 0 })
}

// idle warns about keys that change nothing, and why.
func (t *table) idle(why string, keys ...string) {
	for _, key := range keys {
		if t.has(key) {
			t.warnAt(t.line(key), "%s has no effect: %s", join(t.path, key), why)
		}
	}
}

// idleAtFidelity is idle for keys that change nothing at the fidelity of the scenario.
func (t *table) idleAtFidelity(f model.Fidelity, keys ...string) {
	for _, key := range keys {
		if t.has(key) {
			t.idleAt(t.line(key), "%s has no effect at fidelity %v", join(t.path, key), f)
		}
	}
}

// line returns the line of a key, of a setting that made the first of its values, or of
// the table.
func (t *table) line(key string) int {
	if n := t.lines[firstLeaf(join(t.path, key), t.values[key])]; n < 0 {
		return n
	}
	for path := join(t.path, key); ; path = path[:max(0, strings.LastIndexAny(path, ".["))] {
		if n, ok := t.lines[path]; ok || path == "" {
			return n
		}
	}
}

// failf reports a value that is refused.
func (t *table) failf(key, format string, args ...any) {
	t.fail(t.line(key), "%s: %s", join(t.path, key), fmt.Sprintf(format, args...))
	t.misread = append(t.misread, mistyped{t.path, key})
}

// lacks reports what the table should have, unless a key of it was not understood.
func (t *table) lacks(format string, args ...any) {
	t.problems = append(t.problems, problem{line: t.line(""), what: fmt.Sprintf(format, args...), lacks: true, table: t.path})
}

// want reports a value of the wrong type or range.
func (t *table) want(key string, v any, expected string) {
	s, _ := v.(string)
	switch {
	case thousands.MatchString(s):
		expected += ", without commas: " + strings.ReplaceAll(s, ",", "")
	case t.line(key) < 0 && strings.Contains(s, "="):
		expected += "; each setting takes its own --set"
	case t.line(key) < 0 && (strings.Contains(s, ",") || rangeForm.MatchString(s)) && strings.HasPrefix(expected, "a "):
		expected += "; several values: --over " + join(t.path, key) + "=" + s
	}
	t.failf(key, "%s: want %s", describe(v), expected)
}

// rangeForm is a range of numbers as --over takes it.
var rangeForm = regexp.MustCompile(`^\d+:\d+(:\d+)?$`)

// thousands is a whole number as people write it.
var thousands = regexp.MustCompile(`^[1-9]\d{0,2}(,\d{3})+$`)

// firstLeaf is the path to the first value of a tree.
func firstLeaf(path string, tree any) string {
	if all := leaves(tree, path); len(all) > 0 {
		return strings.Join(all[0].path, ".")
	}
	return path
}

// mistyped is a key or a value of a table that was not understood.
type mistyped struct {
	table string // its path
	key   string // that the table seems to lack; empty: any
}

func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(v)
	case map[string]any:
		return "a table"
	case []any:
		if len(v) == 0 {
			return "an empty list"
		}
		return "a list"
	case []map[string]any:
		return "a list of tables"
	case time.Time:
		return "a date"
	}
	return workload.TOMLValue(v)
}

// read reads a value of a form. One that is no such value is refused with what was
// expected.
func read[T any](t *table, key string, def T, form Key, expected string, as func(any) (T, bool)) T {
	t.takes(key, form)
	v, ok := t.ask(key)
	if !ok {
		return def
	}
	x, ok := as(v)
	if !ok {
		t.want(key, v, expected)
		return def
	}
	return x
}

// as returns a value that has the type of T already.
func as[T any](v any) (T, bool) {
	x, ok := v.(T)
	return x, ok
}

func (t *table) str(key, def string) string {
	return read(t, key, def, Key{Form: "text", Value: workload.TOMLText(def)}, "a text in quotes", as[string])
}

// oneOf reads one of a few words.
func (t *table) oneOf(key, def string, words ...string) string {
	t.takes(key, Key{Form: "choice", Words: words, Value: workload.TOMLText(def)})
	v, ok := t.ask(key)
	if !ok {
		v = def
	}
	if s, _ := v.(string); slices.Contains(words, s) {
		return s
	}
	if s, _ := v.(string); strings.Contains(s, ",") {
		t.want(key, v, "a name, one of "+strings.Join(words, ", "))
		return def
	}
	t.failf(key, "%s: want one of %s%s", describe(v), strings.Join(words, ", "), input.DidYouMean(fmt.Sprint(v), words))
	return def
}

func (t *table) boolean(key string, def bool) bool {
	return read(t, key, def, Key{Form: "switch", Value: fmt.Sprint(def)}, "true or false", as[bool])
}

func (t *table) integer(key string, def, least, most int) int {
	expected := fmt.Sprintf("a whole number from %d to %d", least, most)
	if most == math.MaxInt32 {
		expected = fmt.Sprintf("a whole number of at least %d", least)
	}
	form := Key{Form: "whole", Least: float64(least), Most: float64(most), Value: fmt.Sprint(def)}
	return read(t, key, def, form, expected, func(v any) (int, bool) {
		n, ok := v.(int64)
		return int(n), ok && n >= int64(least) && n <= int64(most)
	})
}

// optional reads a whole number that may be absent.
func (t *table) optional(key string) *int {
	if !t.given(key) {
		return nil
	}
	n := t.integer(key, 0, 0, math.MaxInt32)
	return &n
}

func (t *table) number(key string, def, least, most float64) float64 {
	expected := aNumber(least, most)
	switch {
	case strings.HasSuffix(key, "_mb"):
		expected += ", in MB/s"
	case strings.HasSuffix(key, "_ms"):
		expected += ", in milliseconds"
	}
	form := Key{Form: "number", Least: least, Most: most, Value: workload.TOMLValue(def)}
	return read(t, key, def, form, expected, func(v any) (float64, bool) {
		f, ok := asNumber(v)
		return f, ok && f >= least && f <= most
	})
}

// above is the least number above 0.
const above = math.SmallestNonzeroFloat64

// aNumber describes the numbers of a range.
func aNumber(least, most float64) string {
	switch unlimited := most >= math.MaxFloat64; {
	case least == above && unlimited:
		return "a number above 0"
	case least == above:
		return fmt.Sprintf("a number above 0 and at most %v", most)
	case unlimited:
		return fmt.Sprintf("a number of at least %v", least)
	}
	return fmt.Sprintf("a number from %v to %v", least, most)
}

func asNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return 0, false
}

const durationForm = `a duration such as "90s", "1.5h" or "300ms", at most 10 years`

func (t *table) duration(key string, def time.Duration) time.Duration {
	return read(t, key, def, Key{Form: "duration", Value: workload.TOMLText(shortTime(def))}, durationForm, asDuration)
}

func asDuration(v any) (time.Duration, bool) {
	s, ok := v.(string)
	if !ok {
		return 0, false
	}
	d, err := time.ParseDuration(strings.ReplaceAll(s, " ", ""))
	return d, err == nil && d >= 0 && d <= mostTime
}

// size reads a number of bytes: a whole number, or a text such as 64m or 30 GB.
func (t *table) size(key string, def int64) int64 {
	if n, ok := t.values[key].(int64); ok && n > 0 && n < 1<<10 && !strings.Contains(key, "bytes") {
		t.warnAt(t.line(key), "%s: %d bytes: want a unit if they are not bytes, such as \"%[2]d GB\"", join(t.path, key), n)
	}
	return read(t, key, def, Key{Form: "size", Value: fmt.Sprint(def)}, `a size such as "64m", "30 GB" or 67108864`, func(v any) (int64, bool) {
		if text, ok := v.(string); ok {
			n, err := workload.ParseBytes(text)
			return n, err == nil
		}
		n, ok := v.(int64)
		return n, ok && n >= 0
	})
}

// memory reads the memory of a node.
func (t *table) memory(def int64) int64 {
	n := t.size("memory", def)
	if n < 1<<20 && t.given("memory") {
		t.want("memory", t.values["memory"], `at least 1 MiB, such as "64 GB"`)
	}
	return n
}

// texts reads a list of texts, or a single text.
func (t *table) texts(key string) []string {
	v, ok := t.ask(key)
	if !ok {
		return nil
	}
	list, ok := asTexts(v)
	if !ok {
		t.want(key, v, "a list of texts in quotes")
	}
	return list
}

func asTexts(v any) ([]string, bool) {
	switch v := v.(type) {
	case string:
		return []string{v}, true
	case []any:
		list := make([]string, len(v))
		for i := range v {
			s, ok := v[i].(string)
			if !ok {
				return nil, false
			}
			list[i] = s
		}
		return list, true
	}
	return nil, false
}

// inner reads a table of this one; one that is absent reads as empty.
func (t *table) inner(key string) *table {
	inner := &table{report: t.report, path: join(t.path, key)}
	if v, ok := t.ask(key); ok {
		if inner.values, ok = v.(map[string]any); !ok {
			want := fmt.Sprintf("a table [%s]", join(t.path, key))
			if t.line(key) < 0 {
				want = fmt.Sprintf("one of its keys, such as %s.name", join(t.path, key))
			}
			t.want(key, v, want)
		}
	}
	return inner
}

// tables reads a list of tables.
func (t *table) tables(key string) []*table {
	v, ok := t.ask(key)
	if !ok {
		return nil
	}
	list, ok := asTables(v)
	if _, one := v.(map[string]any); one && key == "job" && t.gives("workload", "trace") {
		t.failf(key, "there are no [[job]] tables: want the keys of [workload] to change recorded jobs, such as workload.replay")
	} else if !ok {
		t.want(key, v, fmt.Sprintf("a list of tables [[%s]]", join(t.path, key)))
	}
	var out []*table
	for i, m := range list {
		out = append(out, &table{report: t.report, path: index(join(t.path, key), i), values: m})
	}
	return out
}

// named reads a list of tables with different names.
func (t *table) named(key string) []*table {
	list := t.tables(key)
	seen := map[string]bool{}
	for _, in := range list {
		name, _ := in.values["name"].(string)
		if name = strings.TrimPrefix(name, "root."); seen[name] && name != "" {
			in.failf("name", "got %q twice: want a different name for each", name)
		}
		seen[name] = true
	}
	return list
}

// asTables returns a list of tables, which [[TABLE]] makes, or one between brackets.
func asTables(v any) (list []map[string]any, ok bool) {
	if list, ok = v.([]map[string]any); ok {
		return list, true
	}
	all, ok := v.([]any)
	for _, x := range all {
		m, isTable := x.(map[string]any)
		if !isTable {
			return nil, false
		}
		list = append(list, m)
	}
	return list, ok
}

// conf reads a table of Hadoop properties. Keys without quotes form nested
// tables of their parts. conf joins the parts again.
func (t *table) conf(key string) workload.Conf {
	var conf workload.Conf
	inner := t.inner(key)
	inner.properties(&conf, inner.values)
	return conf
}

func (t *table) properties(conf *workload.Conf, values map[string]any, prefix ...string) {
	for _, l := range leaves(values, prefix...) {
		name, v := strings.Join(l.path, "."), l.value
		switch v.(type) {
		case string, bool, int64, float64:
			t.property(conf, name, v)
		default:
			t.want(name, v, "the text, number, true or false that Hadoop's configuration would hold")
		}
	}
}

// labels reads the texts of a table and of those in it, and their places, by their keys
// with dots.
func (t *table) labels(prefix string) (all, places map[string]string) {
	all, places = map[string]string{}, map[string]string{}
	for key := range inOrder(t) {
		if _, ok := t.values[key].(map[string]any); ok {
			inner, at := t.inner(key).labels(prefix + key + ".")
			maps.Copy(all, inner)
			maps.Copy(places, at)
		} else {
			all[prefix+key], places[prefix+key] = t.str(key, ""), place(t.file, t.set, t.line(key))
		}
	}
	return all, places
}

// keysOfJob maps properties to the keys of a job that replace them.
var keysOfJob = map[string]string{
	"mapred.map.tasks":    "maps",
	"mapred.reduce.tasks": "reduces",
}

// KeyOfJob returns the key of a job that replaces a Hadoop property; empty: none does.
func KeyOfJob(property string) string { return keysOfJob[workload.Canonical(property)] }

// keysOfTrace says how the number of tasks of traced jobs is set, by the key of a job.
var keysOfTrace = map[string]string{
	"maps":    "want workload.block_size, at fidelity phase or device",
	"reduces": "want workload.reduces, at fidelity phase or device",
}

func (t *table) property(conf *workload.Conf, name string, v any) {
	if v, twice := conf.Lookup(name); twice {
		t.failf(name, "is already set, by its other name, to %q: want only one of the two", v)
	}
	conf.Set(name, textOf(v))
	p, ok := workload.FindProperty(name)
	if p.Phases && !t.phases {
		t.idleAt(t.line(name), "%s has no effect: at this fidelity task times are given, not computed from phases", name)
	}
	if ok {
		t.stated = append(t.stated, statedProperty{p, name, t.line(name)})
	} else {
		hint, names, near := "", workload.PropertyNames(), propertyWith(name)
		if i := input.Mistyped(name, names); i >= 0 { // all have parts in common
			near = names[i]
		}
		if near != "" && !workload.Unread(name) {
			hint = fmt.Sprintf(" (did you mean %s?)", near)
		}
		if key, own := keysOfJob[workload.Canonical(name)]; own {
			if hint = ": want " + key + " of the [[job]]"; t.traced {
				hint = ": " + keysOfTrace[key]
			}
		}
		t.warnAt(t.line(name), "%s has no effect: slotwave does not read it%s", name, hint)
	}
	if err := p.Check(textOf(v)); err != nil {
		t.fail(t.line(name), "%s", strings.Replace(err.Error(), p.Key, name, 1))
	}
}

// hadoopKeys reads the Hadoop properties among the keys of a table, which
// contain dots.
func (t *table) hadoopKeys() workload.Conf {
	var conf workload.Conf
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		v := t.values[key]
		inner, isTable := v.(map[string]any)
		switch {
		case strings.Contains(key, "."):
			t.asked = append(t.asked, key)
			t.property(&conf, key, v)
		case isTable && (key == "mapred" || key == "yarn" && t.yarn != nil):
			t.asked = append(t.asked, key)
			t.properties(&conf, inner, key)
		}
	}
	return conf
}

// done reports the keys that no reader has asked for.
func (t *table) done() {
	for _, key := range t.asked {
		t.known = append(t.known, join(t.path, key))
	}
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if !slices.Contains(t.asked, key) {
			meant, path, line := t.suggest(key), join(t.path, key), t.line(key)
			if name := firstLeaf(key, t.values[key]); meant == "" { // a property, which may be in parts
				properties := workload.Properties()
				hadoops := func(p string) bool { return p == key || strings.HasPrefix(p, key+".") }
				if i := input.Nearest(name, properties); i >= 0 && slices.ContainsFunc(properties, hadoops) {
					line, path, meant = t.line(name), join(t.path, name), "conf."+properties[i]
				}
			}
			if property := propertyWith(key); property != "" && input.Mistyped(key, []string{meant[strings.LastIndexByte(meant, '.')+1:]}) < 0 {
				meant = "conf." + property
			}
			if line < 0 && slices.ContainsFunc(t.problems, func(p problem) bool { return p.line == line && strings.HasPrefix(p.what, unknownKey) }) {
				continue // one setting, in another [[job]]
			}
			if t.path == "" {
				t.mistyped = append(t.mistyped, meant)
			}
			switch {
			case t.path == "" && slices.Contains(keysOfSize, key):
				t.fail(line, "%s: a key of goals and offers: want it in their file (docs/size-a-cluster.md)", key)
			case meant == key && slices.ContainsFunc(t.known, func(k string) bool { return strings.HasPrefix(k, key+".") }):
				t.fail(line, "%s: a table: want one of its keys", path)
			case meant != "":
				t.fail(line, unknownKey+"%s (did you mean %s?)", path, meant)
				t.misread = append(t.misread, mistyped{table: t.path})
			default:
				t.fail(line, unknownKey+"%s: want one of %s", path, strings.Join(slices.Compact(slices.Sorted(slices.Values(t.asked))), ", "))
			}
		}
	}
}

// keysOfSize are the keys of goals and offers, in which a scenario has no part.
var keysOfSize = []string{"confidence", "goal", "lowest", "most_nodes", "node"}

// propertyWith returns the shortest Hadoop property with all parts of a key; empty: none.
func propertyWith(key string) (shortest string) {
	for _, p := range workload.PropertyNames() {
		if input.HasParts(p, key) && (shortest == "" || len(p) < len(shortest)) {
			shortest = p
		}
	}
	return shortest
}

const unknownKey = "unknown key "

// otherWords are what newcomers call keys, or another of Hadoop's words.
var otherWords = map[string]string{
	"mappers": "maps", "reducers": "reduces", "map_time": "map_ms", "reduce_time": "reduce_ms", "map_duration": "map_ms", "time": "map_ms",
	"jobs": "job", "varies": "vary", "varied": "vary", "bandwidth": "nic_mb", "network": "nic_mb", "speed": "slowdown", "workers": "nodes", "hosts": "nodes", "trackers": "nodes", "machines": "nodes", "version": "hadoop", "release": "hadoop",
	"stddev": "sd", "std": "sd", "sigma": "sd", "average": "mean", "avg": "mean",
	"start": "submit", "arrival": "submit", "submit_time": "submit", "depends": "after", "type": "name", "input_size": "input",
	"deadline": "finish", "nodes": "count", "seed": "--seed", "replications": "--replications", "out": "--out",
	"block_size": `conf."dfs.block.size"`, "replication": `conf."dfs.replication"`, "slowstart": `conf."mapred.reduce.slowstart.completed.maps"`,
}

// suggest returns the key with the most similar spelling: of this table or, if it has
// none or is the whole file, of any table that is not in a list; empty: none is near.
func (t *table) suggest(key string) string {
	other := otherWords[key]
	for _, unit := range []string{"_s", "_sec", "_seconds", "_min"} { // times that are in ms
		if name, ok := strings.CutSuffix(key, unit); ok && slices.Contains(t.asked, name+"_ms") {
			other = name + "_ms"
		}
	}
	elsewhere := (strings.HasPrefix(other, "conf.") || strings.HasPrefix(other, "--") && t.path == "") && input.Mistyped(key, t.asked) < 0
	if other != "" && (slices.Contains(t.asked, other) || elsewhere) {
		if t.path != "" && !elsewhere {
			other = t.path + "." + other
		}
		return other
	}
	if t.path != "" && t.top != nil && slices.Contains(t.top.asked, key) {
		if t.line(key) < 0 {
			return key
		}
		return key + " before the first table"
	}
	var words, paths []string
	for _, k := range t.asked {
		words, paths = append(words, k), append(paths, join(t.path, k))
	}
	if i := input.Nearest(key, words); i >= 0 && t.path != "" {
		return paths[i]
	}
	if t.path == "" && t.line(key) < 0 { // a key of a job, without its table
		for _, path := range t.known {
			if in, ok := strings.CutPrefix(path, "job[0]."); ok && in == key {
				return "job.0." + key + ", or --over " + key + " for every job"
			}
		}
	}
	for _, path := range t.known {
		if !strings.Contains(path, "[") && !strings.Contains(t.path, ".") {
			words, paths = append(words, path[strings.LastIndexByte(path, '.')+1:]), append(paths, path)
		}
	}
	if i := input.Nearest(key, words); i >= 0 {
		return paths[i]
	}
	return ""
}

// inOrder asks for every key of a table, in order of lines.
func inOrder(t *table) func(func(string, any) bool) {
	keys := slices.SortedFunc(maps.Keys(t.values), func(a, b string) int {
		if d := t.line(a) - t.line(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return func(yield func(string, any) bool) {
		for _, key := range keys {
			if v, _ := t.ask(key); !yield(key, v) {
				return
			}
		}
	}
}

// Key is a key that a scenario may have, as --set takes it.
type Key struct {
	Name  string
	Form  string   // whole, number, switch, duration, size, choice or text; empty: a list or a table
	Words []string // of a choice
	Least float64  // of a whole or other number
	Most  float64  // the same; 0: no limit
	Value string   // as TOML: what the scenario states, or else what is read in its place
	Given bool     // the scenario states it
	About string   // of a Hadoop property
}

// inList is the place of an entry in a list.
var inList = regexp.MustCompile(`\[(\d+)\]`)

// plain removes the name of the system call from an error, and says what files there are.
func plain(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return fmt.Errorf("%s: %w%s", p.Path, p.Err, input.NearMissing(p))
	}
	return err
}

// parse reads a TOML text into a table with line numbers.
func parse(data []byte, file string) (*table, error) {
	if len(data) > mostTOML {
		return nil, &Errors{File: file, all: []problem{{what: fmt.Sprintf("got %d MB: want a TOML file of at most %d MB; larger workloads are traces", len(data)>>20, mostTOML>>20)}}}
	}
	if what := trace.NoText(data); what != "" {
		return nil, &Errors{File: file, all: []problem{{what: what}}}
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	s := scan(text)
	if p := (problem{}); errors.As(s.err, &p) {
		return nil, &Errors{File: file, all: []problem{p}}
	}
	var tree map[string]any
	if _, err := toml.Decode(text, &tree); err != nil {
		p := problem{what: err.Error()}
		if e := (toml.ParseError{}); errors.As(err, &e) {
			p = syntax(text, s.at, e)
		}
		return nil, &Errors{File: file, all: []problem{p}}
	}
	return &table{report: &report{file: file, lines: s.at, order: s.order}, values: tree}, nil
}

// Syntax returns what is wrong with the syntax of a text in TOML.
func Syntax(file, text string) error {
	_, err := parse([]byte(text), file)
	return err
}

// mostTOML is the largest scenario, study or profile: reading takes a second for some MB.
const mostTOML = 16 << 20
