// Package points holds the points of a study: combinations of the values of its
// factors, each simulated with one or several seeds.
//
//	sweep, size, run, compare -> Points{List, Factors, Metrics}
//	     Metrics.Measure  the figures of one simulation (metric)
//	     Points.Write     points.csv and summary.csv: intervals, pairs with the baseline, ranks (list)
//	     Points.WriteStudy  and the picture that fits what varies (figure)
package points

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// Names of the tables with one row per value of several points or replications.
const (
	Name        = "points.csv"
	SummaryName = "summary.csv"
)

// Replicated reports whether a point was simulated with several seeds.
func (p *Points) Replicated() bool {
	return p.some(func(runs []Replication) bool { return len(runs) > 1 })
}

// some reports whether a condition holds for the simulations of a point.
func (p *Points) some(condition func([]Replication) bool) bool {
	if p == nil {
		return false
	}
	for i := range p.List.Len() {
		if condition(p.List.Replications(i)) {
			return true
		}
	}
	return false
}

// Single reports whether there is one simulation only, or none.
func (p *Points) Single() bool { return p == nil || p.List.Len() < 2 && !p.Replicated() }

// Write writes points.csv and summary.csv. One simulation alone has neither.
func (p *Points) Write(d resultdir.Target) error {
	if p.Single() {
		return nil
	}
	w := resultdir.Writer{Dir: d}
	w.Write(Name, p.WritePoints)
	w.Write(SummaryName, p.WriteSummary)
	return w.Err
}

func (p *Points) header(then ...string) []string {
	head := []string{"point", "scenario"}
	for _, f := range p.Factors {
		head = append(head, text.Escape(f.Key))
	}
	return append(head, then...)
}

func (p *Points) cells(i int) []string {
	point := p.List.Point(i)
	cells := []string{strconv.Itoa(i + 1), text.Escape(point.Scenario)}
	for f, k := range point.Levels {
		cells = append(cells, text.Escape(p.Factors[f].Value(k)))
	}
	return cells
}

// WritePoints writes one row per point and replication.
func (p *Points) WritePoints(w io.Writer) error {
	head := append([]string{"replication", "seed"}, p.Metrics.Names()...)
	for i := range p.Goals {
		head = append(head, GoalColumn(&p.Goals[i], i, ""))
	}
	return workload.WriteCSV(w, p.header(head...), func(write func(...string)) {
		names := p.Metrics.Names()
		for i := range p.List.Len() {
			for r, one := range p.List.Replications(i) {
				row := append(p.cells(i), strconv.Itoa(r+1), strconv.FormatUint(one.Seed, 10))
				for m, v := range one.Values {
					row = append(row, Cell(names[m], v))
				}
				for g, v := range one.Goals {
					row = append(row, Cell(GoalColumn(&p.Goals[g], g, ""), v))
				}
				write(row...)
			}
		}
	})
}

// PointSummaryColumns names the columns of summary.csv after those of the
// factors.
var PointSummaryColumns = []string{
	"metric", "n", "mean", "low", "high",
	"pairs", "difference", "difference_low", "difference_high", "ratio", "ratio_low", "ratio_high", "best",
}

// pointFigure is a metric of a point, as in a row of summary.csv. Its figures are cells
// in the order of pointSummaryColumns.
type pointFigure struct {
	point int
	cells []string
}

// summary gives the figures of the metrics that are asked for, point by point.
func (p *Points) summary(yield func(pointFigure) bool) {
	metrics := p.Metrics.list()
	for i := range p.List.Len() {
		for m := range metrics {
			name := metrics[m].name
			if !p.Metrics.summed(name) {
				continue
			}
			of := p.values(i, m)
			if len(of) == 0 {
				continue
			}
			mean, half := fit.StudentInterval(of)
			row := []string{text.Escape(name), strconv.Itoa(len(of)), Cell(name, mean), Cell(name, max(0, mean-half)), Cell(name, mean+half)}
			differences, ratios := p.pairs(i, m)
			row = append(row, strconv.Itoa(len(differences)))
			mean, half = fit.StudentInterval(differences)
			row = append(row, Cell(name, mean), Cell(name, mean-half), Cell(name, mean+half))
			mean, low, high := ratioInterval(ratios)
			if !yield(pointFigure{i, append(row, Cell("", mean), Cell("", low), Cell("", high), Cell("", p.best(i, m)))}) {
				return
			}
		}
	}
}

// WriteSummary writes one row per point and metric.
func (p *Points) WriteSummary(w io.Writer) error {
	return workload.WriteCSV(w, p.header(PointSummaryColumns...), func(write func(...string)) {
		p.summary(func(row pointFigure) bool {
			write(append(p.cells(row.point), row.cells...)...)
			return true
		})
	})
}

// Objects are the rows of summary.csv as objects for JSON. Figures that do not exist
// are left out.
func (p *Points) Objects() (rows []map[string]any) {
	for row := range p.summary {
		object := map[string]any{}
		for i, name := range p.header() {
			object[name] = p.cells(row.point)[i]
		}
		object["point"] = row.point + 1
		for i, text := range row.cells {
			if name := PointSummaryColumns[i]; name == "metric" {
				object[name] = text
			} else if text != "" {
				object[name] = json.Number(text)
			}
		}
		rows = append(rows, object)
	}
	return rows
}

// isTime reports whether a metric is a time in nanoseconds.
func isTime(name string) bool {
	name, _, _ = strings.Cut(name, "[")
	return strings.HasSuffix(name, "_ns")
}

// Cell writes a figure: whole nanoseconds, or six decimals; empty without one.
func Cell(name string, v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return ""
	case isTime(name):
		return strconv.FormatInt(int64(math.Round(v)), 10)
	}
	return text.Share(v).String()
}

// values are the figures of a point, without those that do not exist.
func (p *Points) values(i, m int) []float64 {
	var values []float64
	for _, r := range p.List.Replications(i) {
		if v := r.Values[m]; !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}

// pairs are the differences and ratios of a point to the baseline, one for each
// seed that both have. There are no ratios if a value is not above zero.
func (p *Points) pairs(i, m int) (differences, ratios []float64) {
	base := p.List.Replications(p.List.Point(i).Baseline)
	for r, one := range p.List.Replications(i) {
		if r >= len(base) || base[r].Seed != one.Seed {
			break
		}
		v, b := one.Values[m], base[r].Values[m]
		if math.IsNaN(v) || math.IsNaN(b) {
			continue
		}
		differences = append(differences, v-b)
		if v > 0 && b > 0 {
			ratios = append(ratios, v/b)
		}
	}
	if len(ratios) < len(differences) {
		ratios = nil
	}
	return differences, ratios
}

// ratioInterval returns the geometric mean of ratios and its 95 % interval, so that
// a point is as many times faster than another as that one is slower.
func ratioInterval(ratios []float64) (mean, low, high float64) {
	logs := make([]float64, len(ratios))
	for i, r := range ratios {
		logs[i] = math.Log(r)
	}
	log, half := fit.StudentInterval(logs)
	return math.Exp(log), math.Exp(log - half), math.Exp(log + half)
}

// RelativeHalf returns the half-width of the 95 % interval of the metric that the study
// asks for first, as a fraction of its mean; infinite below two simulations.
func (m *Metrics) RelativeHalf(runs []Replication) float64 {
	first := m.shown()[0]
	var values []float64
	for _, r := range runs {
		if !math.IsNaN(r.Values[first]) {
			values = append(values, r.Values[first])
		}
	}
	mean, half := fit.StudentInterval(values)
	switch {
	case half == 0:
		return 0
	case math.IsNaN(half) || mean == 0:
		return math.Inf(1)
	}
	return half / math.Abs(mean)
}

// maxPointRows is how many points a terminal shows.
const maxPointRows = 40

// WriteText writes one table per metric: each point's mean, and how it compares
// with the baseline over pairs with the same seed. An interval of a mean alone
// is shown only where there are no pairs.
func (p *Points) WriteText(w io.Writer, colour bool) error {
	t := text.NewWriter(w, colour)
	names, labels := p.Metrics.Names(), make([]string, min(p.List.Len(), maxPointRows))
	for i := range labels {
		labels[i] = p.label(i)
	}
	by := ""
	const widest = 40 // of a label
	if slices.ContainsFunc(labels, func(s string) bool { return utf8.RuneCountInString(s) > widest }) {
		var keys string
		if keys, labels = text.WithoutPrefix(labels); keys != "" {
			by = " by " + keys
		}
		labels = text.Apart(labels, widest)
	}
	for k, m := range p.Metrics.shown() {
		if k > 0 {
			fmt.Fprintln(t)
		}
		t.Heading(metricTitle(names[m]) + by)
		if !p.some(func(runs []Replication) bool {
			return slices.ContainsFunc(runs, func(r Replication) bool { return !math.IsNaN(r.Values[m]) })
		}) {
			fmt.Fprintln(t, "No simulation has this figure: no job that it is about has ended, or no node has a price (cluster.price_per_hour).")
			continue
		}
		fmt.Fprint(t, "point\tmean\tn\tbest\tcompared with the baseline\n")
		for i, label := range labels {
			p.textRow(t, label, i, m)
		}
		t.Flush()
		if left := p.List.Len() - maxPointRows; left > 0 {
			fmt.Fprintf(t, "and %s in %s\n", text.Count(left, "point"), SummaryName)
		}
	}
	switch {
	case !p.Replicated():
		t.List("Notes", []string{"one seed a point: the spread over seeds is unknown (use --replications 5)"})
	case !p.spread():
		t.List("Notes", []string{"all seeds give the same figures: the scenario draws nothing at random, so that replications add nothing"})
	}
	t.List("Assumed", p.Assumed)
	return t.Done()
}

// spread reports whether the figures of a point depend on the seed.
func (p *Points) spread() bool {
	return p.some(func(runs []Replication) bool {
		return slices.ContainsFunc(runs, func(r Replication) bool { return !SameFigures(r.Values, runs[0].Values) })
	})
}

// SameFigures compares figures; one that does not exist equals another.
func SameFigures(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}

// Titles are those of the tables of the metrics that were asked for.
func (m *Metrics) Titles() (titles []string) {
	for _, name := range m.Asked {
		titles = append(titles, metricTitle(name))
	}
	return titles
}

// metricTitle is the name of a metric without its unit.
func metricTitle(name string) string {
	name, jobs, some := strings.Cut(name, "[")
	name = strings.ReplaceAll(strings.TrimSuffix(name, "_ns"), "_", " ")
	if some {
		name += " [" + jobs
	}
	return text.Escape(name)
}

func (p *Points) textRow(t io.Writer, label string, i, m int) {
	values, name := p.values(i, m), p.Metrics.list()[m].name
	mean, half := fit.StudentInterval(values)
	show := func(v float64) string {
		switch {
		case math.IsNaN(v):
			return "-"
		case isTime(name):
			return text.Duration(int64(math.Round(v)))
		}
		return text.Share(v).String()
	}
	shown := show(mean)
	if p.List.Len() == 1 && !math.IsNaN(half) {
		shown += " ± " + show(half)
	}
	chance := "-"
	if best := p.best(i, m); !math.IsNaN(best) {
		chance = text.Percent(text.Share(best))
	}
	fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\n", label, shown, len(values), chance, p.ratioText(i, m))
}

// label names a point by the values of its factors.
func (p *Points) label(i int) string {
	point := p.List.Point(i)
	if len(p.Factors) == 0 {
		return text.Escape(point.Scenario)
	}
	var parts []string
	for f, k := range point.Levels {
		key := ""
		if short := p.short(f); len(p.Factors) > 1 && short != "name" {
			key = short + "="
		}
		parts = append(parts, text.Escape(key+p.Factors[f].Value(k)))
	}
	return strings.Join(parts, " ")
}

// short is the part of a factor's key that says what it is: the last word, or three if
// another factor has the same.
func (p *Points) short(factor int) string {
	last := func(f, words int) string {
		key := strings.Trim(p.Factors[f].Key, `'"`)
		parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(key, ".execution"), ".completed.maps"), ".")
		return strings.Trim(strings.Join(parts[max(0, len(parts)-words):], "."), `'"`)
	}
	for f := range p.Factors {
		if f != factor && last(f, 1) == last(factor, 1) {
			return last(factor, 3)
		}
	}
	return last(factor, 1)
}

// ratioText compares a point with the baseline: 1.27 times faster (1.18 to 1.37).
func (p *Points) ratioText(i, m int) string {
	if i == p.List.Point(i).Baseline {
		return "baseline"
	}
	differences, ratios := p.pairs(i, m)
	if len(differences) > 0 && !slices.ContainsFunc(differences, func(d float64) bool { return d != 0 }) {
		return "the same"
	}
	if len(ratios) == 0 {
		return "-"
	}
	less, more := "less", "more"
	if isTime(p.Metrics.list()[m].name) {
		less, more = "faster", "slower"
	}
	word := more
	mean, low, high := ratioInterval(ratios)
	if mean < 1 {
		word, mean, low, high = less, 1/mean, 1/high, 1/low
	}
	if math.IsNaN(low) {
		return fmt.Sprintf("%.2f times %s", mean, word)
	}
	digits := 2
	for high > low && high-low < math.Pow10(-digits) && digits < 4 { // an interval has a width
		digits++
	}
	line := fmt.Sprintf("%.*f times %s (%.*f to %.*f)", digits, mean, word, digits, low, digits, high)
	if max(high, 1/low) < 1.01 {
		line += ", no practical difference"
	}
	return line
}

// GoalColumn names the column of a goal.
func GoalColumn(g *model.Goal, i int, of string) string {
	unit := "_ns"
	if g.Deadlines > 0 {
		unit = "_missed"
	}
	return fmt.Sprintf("goal_%d%s%s", i+1, of, unit)
}
