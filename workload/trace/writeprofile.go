package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/slotwave/slotwave/workload"
)

// WriteProfile writes a profile as TOML: the data flow of the job in [data] and
// [combiner], as in shipped profiles, and all recorded values in [recorded]. It
// leaves out unknown values.
func WriteProfile(w io.Writer, p *workload.Profile) error {
	t := newTOMLWriter(w)
	t.pair("title", p.Name)
	t.pair("source", p.Source)
	if len(p.Assumed) > 0 {
		t.pair("assumed", p.Assumed)
	}
	known := func(key string, v float64) {
		if !math.IsNaN(v) {
			t.pair(key, v)
		}
	}
	d := &p.Data
	t.table("data")
	known("input_pair_width", d.InputPairWidth)
	known("map_size_sel", d.MapSizeSel)
	known("map_records_sel", d.MapRecsSel)
	known("records_per_group", d.RecsPerRedGroup)
	known("reduce_size_sel", d.ReduceSizeSel)
	known("reduce_records_sel", d.ReduceRecsSel)
	if d.CombineRecsSel < 1 {
		t.table("combiner")
		known("size_sel", d.CombineSizeSel)
		t.pair("records_sel", d.CombineRecsSel)
	}
	t.keyed("recorded", slices.DeleteFunc(keyed(reflect.ValueOf(*p)), func(m member) bool {
		return slices.Contains([]string{"name", "source", "assumed"}, m.key) // stand above
	}))
	return t.Flush()
}

// WriteProfilesJSON writes the [recorded] tables of profiles as a JSON array.
// each calls its argument for one profile after another.
func WriteProfilesJSON(w io.Writer, each func(func(*workload.Profile) error) error) error {
	j := newJSONWriter(w, jsontext.WithIndent("  "))
	j.list(func() {
		j.err = cmp.Or(each(func(p *workload.Profile) error {
			j.keyed(keyed(reflect.ValueOf(*p)))
			return j.err
		}), j.err)
	})
	return j.err
}

// member is one key of a profile with its value: a text, number, truth value or
// list, a table (members), or a list of tables.
type member struct {
	key   string
	value any
}

type members []member

// keyed lists the known fields with tags of a struct.
func keyed(v reflect.Value) (list members) {
	for i := range v.NumField() {
		key := v.Type().Field(i).Tag.Get("key")
		switch f := v.Field(i).Interface().(type) {
		case float64:
			if !math.IsNaN(f) {
				list = append(list, member{key, f})
			}
		case string, int, bool:
			list = append(list, member{key, f})
		case []string:
			if len(f) > 0 {
				list = append(list, member{key, f})
			}
		case []float64:
			list = append(list, member{key, f})
		case workload.Sample:
			list = addSample(list, key, f)
		case []workload.Sample:
			var tables []members
			for _, s := range f {
				tables = append(tables, keyed(reflect.ValueOf(s)))
			}
			if len(tables) > 0 {
				list = append(list, member{key, tables})
			}
		case [workload.NumLocalities]int:
			var by members
			for l, n := range f {
				by = append(by, member{workload.Locality(l).String(), n})
			}
			list = append(list, member{key, by})
		case [workload.NumLocalities]workload.Sample:
			var by members
			for l, s := range f {
				by = addSample(by, workload.Locality(l).String(), s)
			}
			if len(by) > 0 {
				list = append(list, member{key, by})
			}
		default:
			if inner := keyed(v.Field(i)); len(inner) > 0 {
				list = append(list, member{key, inner})
			}
		}
	}
	return list
}

func addSample(list members, key string, s workload.Sample) members {
	if s.N == 0 {
		return list
	}
	return append(list, member{key, keyed(reflect.ValueOf(s))})
}

// keyed writes a table. Its own pairs come first, because TOML requires that.
func (w tomlWriter) keyed(path string, list members) {
	w.table(path)
	for _, m := range list {
		switch m.value.(type) {
		case members, []members:
		default:
			w.pair(m.key, m.value)
		}
	}
	for _, m := range list {
		switch v := m.value.(type) {
		case members:
			w.keyed(path+"."+m.key, v)
		case []members:
			for _, one := range v {
				w.keyed(fmt.Sprintf("[%s.%s]", path, m.key), one)
			}
		}
	}
}

func (w *jsonWriter) keyed(list members) {
	w.object(func() {
		for _, m := range list {
			w.key(m.key)
			switch v := m.value.(type) {
			case members:
				w.keyed(v)
			case []members:
				w.list(func() {
					for _, one := range v {
						w.keyed(one)
					}
				})
			default:
				text, err := json.Marshal(v) // a number, text, truth value, or list of these
				w.err = cmp.Or(w.err, err)
				w.value(text)
			}
		}
	})
}
