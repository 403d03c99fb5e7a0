package scenarios

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/slotwave/slotwave/workload"
)

// setting is one --set KEY=VALUE.
type setting struct {
	text  string
	value map[string]any // tree of the setting
}

// parseSetting reads KEY=VALUE. A value that is not valid TOML is a text.
func parseSetting(text string) (setting, error) {
	if straight := curly.Replace(text); straight != text {
		return setting{}, fmt.Errorf("--set %s: want straight quotes: --set %s", text, straight)
	}
	key, value, ok := cutSetting(text)
	dotted := inList.ReplaceAllString(key, ".$1") // as errors write the place of a table
	text = dotted + text[len(key):]
	s, key := setting{text: text}, dotted
	if varies, ok := strings.CutPrefix(key, "vary."); ok && !strings.Contains(value, FlagMark) && !strings.HasPrefix(value, "[") {
		return s, fmt.Errorf("--set %s: want --over %s=%s", text, strings.Trim(varies, `"`), value)
	}
	if _, isProperty := workload.FindProperty(key); isProperty {
		return s, fmt.Errorf("--set %s: want --set conf.%s for a Hadoop property of all jobs", text, text)
	}
	if !ok {
		return s, fmt.Errorf("--set %s: want KEY=VALUE, with a key of the scenario such as cluster.nodes", text)
	}
	if slices.Contains(strings.Split(unread.ReplaceAllString(key, ""), "."), "*") {
		return s, fmt.Errorf("--set %s: got *: want the number of a table, such as job.0; --over KEY=VALUES varies a key without a dot in every [[job]]", text)
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
	if list, ok := asTables(under); ok {
		under = list
	}
	var wrong error
	switch u := under.(type) {
	case map[string]any:
		out := maps.Clone(u)
		if conf, own := m["conf"], u["scheduler"]; path == "" && conf != nil && own != nil {
			// The scheduler reads its own properties first, which would hide this later one.
			out["scheduler"] = withoutProperties(own, "", propertiesOf(conf))
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			below := out[k]
			if below == nil && slices.Contains(extensible, k) {
				below = []map[string]any{}
			}
			if k == "conf" || k == "scheduler" {
				below = withoutProperties(below, "", propertiesOf(m[k]))
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
				wrong = cmp.Or(wrong, noEntry(path, k, u))
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

// noEntry lists the tables of a list in an error, with their names.
func noEntry(path, key string, list []map[string]any) error {
	name := func(i int) string {
		if name, ok := list[i]["name"].(string); ok {
			return fmt.Sprintf("%s.%d (%s)", path, i, name)
		}
		return fmt.Sprintf("%s.%d", path, i)
	}
	for i := range list {
		if list[i]["name"] == key {
			return fmt.Errorf("%s.%s: got a name: want the number of the table: %s.%d", path, key, path, i)
		}
	}
	switch n := len(list); n {
	case 0:
		return fmt.Errorf("%s.%s: there are no [[%s]] tables: want %s.0", path, key, path, path)
	case 1:
		return fmt.Errorf("%s.%s: there is only 1 [[%s]] table: want %s", path, key, path, name(0))
	default:
		return fmt.Errorf("%s.%s: there are only %d [[%s]] tables: want %s to %s", path, key, n, path, name(0), name(n-1))
	}
}

// propertiesOf returns the Hadoop properties that the values of a tree set. A
// property is one key in quotes or nested tables of its parts.
func propertiesOf(tree any) (names []string) {
	for _, l := range leaves(tree) {
		names = append(names, workload.Canonical(strings.Join(l.path, ".")))
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
