package trace

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"

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
// each calls its argument for one profile after another.
func WriteProfilesJSON(w io.Writer, each func(func(*workload.Profile) error) error) error {
	j := newJSONWriter(w, jsontext.WithIndent("  "))
	j.write(items(func(write func(any)) {
		j.err = cmp.Or(each(func(p *workload.Profile) error {
			write(keyed(reflect.ValueOf(*p)))
			return j.err
		}), j.err)
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

// WriteProfileText writes a profile for people: the samples, the ratios and
// costs under the keys of profile files, and the missing values.
func WriteProfileText(w io.Writer, p *workload.Profile) error {
	fmt.Fprintf(w, "%s: %s, %s, %s\n", workload.Printable(p.Name), workload.Counted(p.Runs, "run", "runs"), workload.Counted(p.Maps, "map", "maps"), workload.Counted(p.Reduces, "reduce", "reduces"))
	if n := p.FailedMaps + p.FailedReduces + p.KilledMaps + p.KilledReduces; n > 0 {
		fmt.Fprintf(w, "failed attempts: %d of maps, %d of reduces; killed: %d of maps, %d of reduces\n", p.FailedMaps, p.FailedReduces, p.KilledMaps, p.KilledReduces)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\ns, bytes, records\tn\tmean\tsd\tmin\tmedian\t95 %\tmax")
	sampleRows(t, "", reflect.ValueOf(*p))
	row := headed(t, "ratio\tof sums\tmean of tasks'")
	tasks := reflect.ValueOf(p.TaskMeans)
	figures(reflect.ValueOf(p.Data), func(i int, key string, v float64) {
		row("data.%s\t%s\t%s\n", key, figure(v), figure(tasks.Field(i).Float()))
	})
	if !math.IsNaN(p.ReduceSkew) {
		row("reduce_skew\t%s\n", figure(p.ReduceSkew))
	}
	row = headed(t, "cost\tns")
	figures(reflect.ValueOf(p.Cost), func(_ int, key string, v float64) { row("cost.%s\t%s\n", key, figure(v)) })
	row = headed(t, "successful maps\tn")
	for l, n := range p.MapsByLocality {
		if n > 0 {
			row("maps_by_locality.%s\t%d\n", workload.Locality(l), n)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	listing(w, "assumed", p.Assumed)
	listing(w, "missing", p.Missing)
	_, err := io.WriteString(w, "\n")
	return err
}

// headed writes rows, with the header before the first one.
func headed(w io.Writer, header string) func(format string, args ...any) {
	return func(format string, args ...any) {
		if header != "" {
			fmt.Fprintf(w, "\n%s\n", header)
			header = ""
		}
		fmt.Fprintf(w, format, args...)
	}
}

func listing(w io.Writer, title string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(w, "\n%s\n  %s\n", title, strings.Join(lines, "\n  "))
	}
}

// figures calls f for the known numbers of a struct.
func figures(v reflect.Value, each func(i int, key string, v float64)) {
	for i := range v.NumField() {
		if f := v.Field(i).Float(); !math.IsNaN(f) {
			each(i, v.Type().Field(i).Tag.Get("key"), f)
		}
	}
}

// sampleRows writes a row for each sample with values.
func sampleRows(w io.Writer, prefix string, v reflect.Value) {
	row := func(key string, s workload.Sample) {
		if s.N > 0 {
			fmt.Fprintf(w, "%s%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", prefix, key, s.N,
				figure(s.Mean), figure(s.SD), figure(s.Min), figure(s.Quantile(0.5)), figure(s.Quantile(0.95)), figure(s.Max))
		}
	}
	const most = 8 // waves shown
	for i := range v.NumField() {
		key := v.Type().Field(i).Tag.Get("key")
		switch f := v.Field(i).Interface().(type) {
		case workload.Sample:
			row(key, f)
		case []workload.Sample:
			for n, s := range f[:min(most, len(f))] {
				row(fmt.Sprintf("%s[%d]", key, n), s)
			}
			if len(f) > most {
				fmt.Fprintf(w, "%s: %d waves in all\n", key, len(f))
			}
		case [workload.NumLocalities]workload.Sample:
			for l, s := range f {
				row(key+"."+workload.Locality(l).String(), s)
			}
		case workload.RunSpread:
			if f.Duration.N > 1 {
				sampleRows(w, key+".", v.Field(i))
			}
		}
	}
}

func figure(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return fmt.Sprintf("%.5g", v)
}
