package scenarios

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/slotwave/slotwave/workload"
)

// takes records what a reader takes for a key, if somebody asks.
func (t *table) takes(key string, k Key) {
	if t.forms == nil {
		return
	}
	if v, ok := t.values[key]; ok {
		k.Value, k.Given = workload.TOMLValue(v), true
	}
	if k.Most >= math.MaxInt32 {
		k.Most = 0
	}
	t.forms[inList.ReplaceAllString(join(t.path, key), ".$1")] = k
}

// Keys lists the keys that a scenario may have, by their names: those that its readers
// ask for, and the Hadoop properties of all jobs with the values that the scheduler
// reads. Settings choose the run whose values they are.
func (f *File) Keys() ([]Key, error) {
	t, err := f.overlaid()
	if err != nil {
		return nil, err
	}
	t.forms = map[string]Key{}
	f.read(t, 1)
	var names []string
	for _, path := range t.known {
		names = append(names, inList.ReplaceAllString(path, ".$1"))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { // tables are not values
		return name == "conf" || slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+".") })
	})
	var keys []Key
	for _, name := range names {
		k, typed := t.forms[name]
		if !typed {
			k = statedKey(t.values, strings.Split(name, "."))
		}
		k.Name = name
		keys = append(keys, k)
	}
	return append(keys, t.propertyKeys()...), nil
}

// Varied lists the keys that [vary] varies, by the names of Keys. A property of the
// scheduler has the name under which Keys has its value, in conf.
func (f *File) Varied() (names []string, err error) {
	t, err := f.overlaid()
	if err != nil {
		return nil, err
	}
	vary, _ := t.values["vary"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(vary)) {
		for _, path := range varied(t.values, key) {
			for _, l := range leaves(pathTree(path, nil)) {
				parts := l.key()
				if len(parts) == 2 && parts[0] == "scheduler" && strings.Contains(parts[1], ".") {
					parts[0] = "conf"
				}
				names = append(names, strings.Join(parts, "."))
			}
		}
	}
	return names, nil
}

// Settings returns the settings KEY=VALUE that make the scenario this run alone.
func (s *Scenario) Settings(run int) (set []string) {
	for _, level := range s.Runs[run].Levels {
		for _, key := range VariedPaths(level.Key, s.Tables) {
			set = append(set, key+"="+level.TOML)
		}
	}
	return set
}

// statedKey returns the form that the value of a key has, where readers take several.
func statedKey(values any, path []string) Key {
	for _, part := range path {
		switch v := values.(type) {
		case map[string]any:
			values = v[part]
		case []map[string]any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(v) {
				return Key{}
			}
			values = v[i]
		}
	}
	k := Key{Given: true}
	switch v := values.(type) {
	case bool:
		k.Form = "switch"
	case int64:
		k.Form = "whole"
	case float64:
		k.Form = "number"
	case string:
		if k.Form = "text"; v != "" {
			if _, ok := asDuration(v); ok {
				k.Form = "duration"
			}
		}
	default:
		return Key{}
	}
	k.Value = workload.TOMLValue(values)
	return k
}

// propertyKeys are the keys of Hadoop properties of all jobs. Those of [scheduler] are
// read before those of [conf].
func (t *table) propertyKeys() (keys []Key) {
	read := table{report: &report{phases: true, yarn: t.yarn}, values: t.values}
	conf := read.conf("conf").Over(read.inner("scheduler").hadoopKeys())
	for _, name := range workload.Properties() {
		p, _ := workload.FindProperty(name)
		if strings.Contains(name, "*") || p.OnYARN() != (t.yarn != nil) && p.OnYARN() {
			continue
		}
		k := Key{Name: "conf." + name, Value: p.Default, About: p.About}
		k.Form, k.Least, k.Most = p.Form()
		if v, ok := conf.Lookup(name); ok {
			k.Value, k.Given = v, true
		}
		if k.Form == "text" {
			k.Value = workload.TOMLText(k.Value)
		}
		keys = append(keys, k)
	}
	return keys
}

// Text returns the scenario with its settings, as TOML without comments.
func (f *File) Text() (string, error) {
	t, err := f.overlaid()
	if err == nil {
		err = t.err()
	}
	if err != nil {
		return "", err
	}
	values := maps.Clone(t.values)
	if conf, ok := values["conf"].(map[string]any); ok {
		flat := map[string]any{} // under the joined names, as Hadoop writes them
		for _, l := range leaves(conf) {
			flat[strings.Join(l.path, ".")] = l.value
		}
		values["conf"] = flat
	}
	if vary, ok := values["vary"].(map[string]any); ok && len(vary) == 0 {
		delete(values, "vary")
	}
	var b strings.Builder
	e := toml.NewEncoder(&b)
	e.Indent = ""
	err = e.Encode(values)
	return b.String(), err
}
