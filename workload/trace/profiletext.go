package trace

import (
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"text/tabwriter"

	"github.com/slotwave/slotwave/workload"
)

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
