package trace

import (
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
	t.keyed("recorded", keyed(reflect.ValueOf(*p), "name", "source", "assumed")) // these stand above
	return t.Flush()
}

// WriteProfilesJSON writes the [recorded] tables of profiles as a JSON array.
func WriteProfilesJSON(w io.Writer, all []*workload.Profile) error {
	j := newJSONWriter(w, jsontext.WithIndent("  "))
	j.write(items(func(write func(any)) {
		for _, p := range all {
			write(keyed(reflect.ValueOf(*p)))
		}
	}))
	return j.err
}

// keyed returns the known fields with tags of a struct, without those of some keys: an
// object for a table, and a list of them for a list of tables.
func keyed(v reflect.Value, without ...string) (all object) {
	for i := range v.NumField() {
		key := v.Type().Field(i).Tag.Get("key")
		if slices.Contains(without, key) {
			continue
		}
		switch f := v.Field(i).Interface().(type) {
		case float64:
			if !math.IsNaN(f) {
				all = append(all, key, f)
			}
		case string, int, bool, []float64:
			all = append(all, key, f)
		case []string:
			if len(f) > 0 {
				all = append(all, key, f)
			}
		case workload.Sample:
			all = addSample(all, key, f)
		case []workload.Sample:
			var tables []object
			for _, s := range f {
				tables = append(tables, keyed(reflect.ValueOf(s)))
			}
			if len(tables) > 0 {
				all = append(all, key, tables)
			}
		case [workload.NumLocalities]int:
			var by object
			for l, n := range f {
				by = append(by, workload.Locality(l).String(), n)
			}
			all = append(all, key, by)
		case [workload.NumLocalities]workload.Sample:
			var by object
			for l, s := range f {
				by = addSample(by, workload.Locality(l).String(), s)
			}
			if len(by) > 0 {
				all = append(all, key, by)
			}
		default:
			if inner := keyed(v.Field(i)); len(inner) > 0 {
				all = append(all, key, inner)
			}
		}
	}
	return all
}

func addSample(all object, key string, s workload.Sample) object {
	if s.N == 0 {
		return all
	}
	return append(all, key, keyed(reflect.ValueOf(s)))
}

// keyed writes a table. Its own pairs come first, because TOML requires that.
func (w tomlWriter) keyed(path string, all object) {
	w.table(path)
	for i := 0; i < len(all); i += 2 {
		switch all[i+1].(type) {
		case object, []object:
		default:
			w.pair(all[i].(string), all[i+1])
		}
	}
	for i := 0; i < len(all); i += 2 {
		inner := path + "." + all[i].(string)
		switch v := all[i+1].(type) {
		case object:
			w.keyed(inner, v)
		case []object:
			for _, one := range v {
				w.keyed("["+inner+"]", one)
			}
		}
	}
}
