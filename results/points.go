package results

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/workload"
)

// Names of the tables with one row per value of several points or replications.
const (
	PointsName       = "points.csv"
	PointSummaryName = "summary.csv"
)

// measure returns the metrics of every points.csv; NaN where there is none.
func measure(p *model.Prediction, s *Stats) []float64 {
	var responses, slowdowns []float64
	var locality [numLocalities]float64
	var failed, killed, deadlines, met, succeeded float64
	for i := range p.Jobs {
		j := &p.Jobs[i]
		failed += float64(j.Failed)
		killed += float64(j.Killed)
		for at, n := range j.Locality {
			locality[at] += float64(n)
		}
		if v := response(j); !math.IsNaN(v) {
			responses = append(responses, v)
		}
		if v := slowdown(j); !math.IsNaN(v) {
			slowdowns = append(slowdowns, v)
		}
		if j.State == workload.Succeeded {
			succeeded++
		}
		if j.Deadline > 0 {
			deadlines++
			if inTime(j) {
				met++
			}
		}
	}
	slices.Sort(responses)
	quantile := func(p float64) float64 {
		if len(responses) == 0 {
			return math.NaN()
		}
		return stat.Quantile(p, stat.Empirical, responses, nil)
	}
	mean := func(values []float64) float64 {
		if len(values) == 0 {
			return math.NaN()
		}
		return stat.Mean(values, nil)
	}
	if deadlines == 0 {
		met = math.NaN()
	}
	busy := [2]float64{math.NaN(), math.NaN()}
	for _, sl := range s.slotSummaries(int64(p.Mean)) {
		switch sl.Type {
		case "map":
			busy[0] = float64(sl.Busy)
		case "reduce":
			busy[1] = float64(sl.Busy)
		default:
			busy = [2]float64{float64(sl.Busy), float64(sl.Busy)}
		}
	}
	placed := locality[workload.NodeLocal] + locality[workload.RackLocal] + locality[workload.OffRack]
	return []float64{
		float64(p.Mean), mean(responses), quantile(0.95), quantile(0.99), mean(slowdowns), busy[0], busy[1],
		locality[workload.NodeLocal] / placed, locality[workload.RackLocal] / placed, locality[workload.OffRack] / placed,
		deadlines, met, succeeded, failed, killed,
	}
}

// Replication is one simulation of a point.
type Replication struct {
	Seed   uint64
	Values []float64 // one per metric; NaN: none
	Goals  []float64 // what each goal limits; NaN: a job did not succeed
	Full   float64   // with goals: the fraction of the time in which all slots of a type were in use
}

// Point is one combination of the factors' values.
type Point struct {
	Scenario     string
	Levels       []string // one per factor
	Replications []Replication
}

// Points are the points of a study. Replications with the same seed form pairs
// across points.
type Points struct {
	Factors   []string // keys that vary
	List      []Point
	Metrics   Metrics
	Baselines []int // the point with which each is compared; nil: the first
	Goals     []model.Goal
	Sampled   bool // factors are samples of ranges: those that advance together differ
}

// replicated reports whether a point was simulated with several seeds.
func (p *Points) replicated() bool {
	return p != nil && slices.ContainsFunc(p.List, func(one Point) bool { return len(one.Replications) > 1 })
}

// Write writes points.csv and summary.csv. One simulation alone has neither.
func (p *Points) Write(d resultdir.Target) error {
	if p == nil || len(p.List) < 2 && !p.replicated() {
		return nil
	}
	w := fileWriter{dir: d}
	w.write(PointsName, p.writePoints)
	w.write(PointSummaryName, p.writeSummary)
	return w.err
}

func (p *Points) header(then ...string) []string {
	head := []string{"point", "scenario"}
	for _, f := range p.Factors {
		head = append(head, Escape(f))
	}
	return append(head, then...)
}

func (p *Points) cells(i int) []string {
	cells := []string{strconv.Itoa(i + 1), Escape(p.List[i].Scenario)}
	for _, level := range p.List[i].Levels {
		cells = append(cells, Escape(level))
	}
	return cells
}

// writePoints writes one row per point and replication.
func (p *Points) writePoints(w io.Writer) error {
	out := csv.NewWriter(w)
	head := append([]string{"replication", "seed"}, p.Metrics.Names()...)
	for i := range p.Goals {
		head = append(head, goalColumn(&p.Goals[i], i, ""))
	}
	out.Write(p.header(head...))
	names := p.Metrics.Names()
	for i := range p.List {
		for r, one := range p.List[i].Replications {
			row := append(p.cells(i), strconv.Itoa(r+1), strconv.FormatUint(one.Seed, 10))
			for m, v := range one.Values {
				row = append(row, cell(names[m], v))
			}
			for g, v := range one.Goals {
				row = append(row, cell(goalColumn(&p.Goals[g], g, ""), v))
			}
			out.Write(row)
		}
	}
	out.Flush()
	return out.Error()
}

// pointSummaryColumns names the columns of summary.csv after those of the
// factors.
var pointSummaryColumns = []string{
	"metric", "n", "mean", "low", "high",
	"pairs", "difference", "difference_low", "difference_high", "ratio", "ratio_low", "ratio_high", "best",
}

// pointFigure is a metric of a point, as in a row of summary.csv. Its figures are cells
// in the order of pointSummaryColumns.
type pointFigure struct {
	point int
	cells []string
}

// summary lists the figures of the metrics that are asked for, point by point.
func (p *Points) summary() (rows []pointFigure) {
	metrics := p.Metrics.list()
	best := make([][]float64, len(metrics))
	for m := range metrics {
		if p.Metrics.summed(metrics[m].name) {
			best[m] = p.best(m)
		}
	}
	for i := range p.List {
		for m := range metrics {
			of := p.values(i, m)
			if !p.Metrics.summed(metrics[m].name) || len(of) == 0 {
				continue
			}
			name := metrics[m].name
			mean, half := studentInterval(of)
			row := []string{Escape(name), strconv.Itoa(len(of)), cell(name, mean), cell(name, mean-half), cell(name, mean+half)}
			differences, ratios := p.pairs(i, m)
			row = append(row, strconv.Itoa(len(differences)))
			mean, half = studentInterval(differences)
			row = append(row, cell(name, mean), cell(name, mean-half), cell(name, mean+half))
			mean, half = studentInterval(ratios)
			rows = append(rows, pointFigure{i, append(row, cell("", mean), cell("", mean-half), cell("", mean+half), cell("", best[m][i]))})
		}
	}
	return rows
}

// writeSummary writes one row per point and metric.
func (p *Points) writeSummary(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write(p.header(pointSummaryColumns...))
	for _, row := range p.summary() {
		out.Write(append(p.cells(row.point), row.cells...))
	}
	out.Flush()
	return out.Error()
}

// objects are the rows of summary.csv as objects for JSON. Figures that do not exist
// are left out.
func (p *Points) objects() (rows []map[string]any) {
	for _, row := range p.summary() {
		object := map[string]any{}
		for i, name := range p.header() {
			object[name] = p.cells(row.point)[i]
		}
		object["point"] = row.point + 1
		for i, text := range row.cells {
			if name := pointSummaryColumns[i]; name == "metric" {
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

// cell writes a figure: whole nanoseconds, or six decimals; empty without one.
func cell(name string, v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return ""
	case isTime(name):
		return strconv.FormatInt(int64(math.Round(v)), 10)
	}
	return share(v).String()
}

// values are the figures of a point, without those that do not exist.
func (p *Points) values(i, m int) []float64 {
	var values []float64
	for _, r := range p.List[i].Replications {
		if v := r.Values[m]; !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}

// baseline is the point with which a point is compared.
func (p *Points) baseline(i int) int {
	if p.Baselines == nil {
		return 0
	}
	return p.Baselines[i]
}

// pairs are the differences and ratios of a point to the baseline, one for each
// seed that both have.
func (p *Points) pairs(i, m int) (differences, ratios []float64) {
	base := p.List[p.baseline(i)].Replications
	for r, one := range p.List[i].Replications {
		if r >= len(base) || base[r].Seed != one.Seed {
			break
		}
		v, b := one.Values[m], base[r].Values[m]
		if math.IsNaN(v) || math.IsNaN(b) {
			continue
		}
		differences = append(differences, v-b)
		if b != 0 {
			ratios = append(ratios, v/b)
		}
	}
	return differences, ratios
}

// best is, for each point, the share of the common seeds with which it has the
// best value of all points that are compared with the same baseline. Points that tie
// share a seed.
func (p *Points) best(m int) []float64 {
	shares := make([]float64, len(p.List))
	groups := map[int][]int{}
	var baselines []int
	for i := range p.List {
		shares[i] = math.NaN()
		base := p.baseline(i)
		if groups[base] == nil {
			baselines = append(baselines, base)
		}
		groups[base] = append(groups[base], i)
	}
	better := float64(p.Metrics.list()[m].better)
	if better == 0 {
		return shares
	}
	for _, base := range baselines {
		p.bestOf(groups[base], m, better, shares)
	}
	return shares
}

// bestOf sets the shares of a group of points.
func (p *Points) bestOf(group []int, m int, better float64, shares []float64) {
	if len(group) < 2 {
		return
	}
	n := len(p.List[group[0]].Replications)
	for _, i := range group {
		n = min(n, len(p.List[i].Replications))
	}
	seeds := 0.0
	won := make([]float64, len(group))
	for r := range n {
		most, ties := math.Inf(-1), 0.0
		for _, i := range group {
			switch v := better * p.List[i].Replications[r].Values[m]; {
			case v > most:
				most, ties = v, 1
			case v == most:
				ties++
			}
		}
		if ties == 0 {
			continue
		}
		seeds++
		for k, i := range group {
			if better*p.List[i].Replications[r].Values[m] == most {
				won[k] += 1 / ties
			}
		}
	}
	for k, i := range group {
		if seeds > 0 {
			shares[i] = won[k] / seeds
		}
	}
}

// studentInterval returns the mean and the half-width of its 95 % interval
// (Student's t). With fewer than two values the half-width is NaN.
func studentInterval(values []float64) (mean, half float64) {
	n := len(values)
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	mean, sd := stat.MeanStdDev(values, nil)
	if n == 1 {
		return mean, math.NaN()
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975)
	return mean, t * sd / math.Sqrt(float64(n))
}

// Half returns the half-width of the 95 % interval of a point's metric, one of its
// values, as a fraction of its mean; infinite below two replications.
func (p *Point) Half(m int) float64 {
	var values []float64
	for _, r := range p.Replications {
		if !math.IsNaN(r.Values[m]) {
			values = append(values, r.Values[m])
		}
	}
	mean, half := studentInterval(values)
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
	t := newTextWriter(w, colour)
	names := p.Metrics.Names()
	for k, m := range p.Metrics.shown() {
		if k > 0 {
			fmt.Fprintln(t)
		}
		t.heading(metricTitle(names[m]))
		if !slices.ContainsFunc(p.List, func(one Point) bool {
			return slices.ContainsFunc(one.Replications, func(r Replication) bool { return !math.IsNaN(r.Values[m]) })
		}) {
			fmt.Fprintln(t, "No simulation has this figure: no job that it is about has ended, or no node has a price.")
			continue
		}
		fmt.Fprint(t, "point\tmean\tn\tbest\tcompared with the baseline\n")
		best := p.best(m)
		for i := range p.List[:min(len(p.List), maxPointRows)] {
			p.textRow(t, i, m, best[i])
		}
		t.Flush()
		if left := len(p.List) - maxPointRows; left > 0 {
			fmt.Fprintf(t, "and %s in %s\n", count(left, "point"), PointSummaryName)
		}
	}
	if p.replicated() && !p.spread() {
		t.list("Notes", []string{"all seeds give the same figures: the scenario draws nothing at random, so that replications add nothing"})
	}
	return t.done()
}

// spread reports whether the figures of a point depend on the seed.
func (p *Points) spread() bool {
	return slices.ContainsFunc(p.List, func(one Point) bool {
		return slices.ContainsFunc(one.Replications, func(r Replication) bool {
			return !sameFigures(r.Values, one.Replications[0].Values)
		})
	})
}

// sameFigures compares figures; one that does not exist equals another.
func sameFigures(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}

// metricTitle is the name of a metric without its unit.
func metricTitle(name string) string {
	name, jobs, some := strings.Cut(name, "[")
	name = strings.ReplaceAll(strings.TrimSuffix(name, "_ns"), "_", " ")
	if some {
		name += " [" + jobs
	}
	return Escape(name)
}

func (p *Points) textRow(t io.Writer, i, m int, best float64) {
	values, name := p.values(i, m), p.Metrics.list()[m].name
	mean, half := studentInterval(values)
	show := func(v float64) string {
		switch {
		case math.IsNaN(v):
			return "-"
		case isTime(name):
			return formatDuration(int64(math.Round(v)))
		}
		return share(v).String()
	}
	text := show(mean)
	if len(p.List) == 1 && !math.IsNaN(half) {
		text += " ± " + show(half)
	}
	chance := "-"
	if !math.IsNaN(best) {
		chance = percentOf(share(best))
	}
	fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\n", shorten(p.label(i), 40), text, len(values), chance, p.ratioText(i, m))
}

// label names a point by the values of its factors.
func (p *Points) label(i int) string {
	if len(p.Factors) == 0 {
		return Escape(p.List[i].Scenario)
	}
	var parts []string
	for f, level := range p.List[i].Levels {
		key := p.Factors[f]
		if len(p.Factors) == 1 {
			key = ""
		} else if key = strings.Trim(key[strings.LastIndexByte(key, '.')+1:], `'"`) + "="; key == "name=" {
			key = ""
		}
		parts = append(parts, Escape(key+level))
	}
	return strings.Join(parts, " ")
}

// ratioText compares a point with the baseline: 1.27 ± 0.03 times faster.
func (p *Points) ratioText(i, m int) string {
	if i == p.baseline(i) {
		return "baseline"
	}
	_, ratios := p.pairs(i, m)
	if len(ratios) == 0 {
		return "-"
	}
	less, more := "less", "more"
	if isTime(p.Metrics.list()[m].name) {
		less, more = "faster", "slower"
	}
	word := more
	if mean, _ := studentInterval(ratios); mean < 1 {
		word = less
		for k := range ratios {
			ratios[k] = 1 / ratios[k]
		}
	}
	mean, half := studentInterval(ratios)
	switch {
	case mean == 1 && !(half > 0):
		return "the same"
	case math.IsInf(mean, 0):
		return "none"
	case math.IsNaN(half):
		return fmt.Sprintf("%.2f times %s", mean, word)
	}
	digits := 2
	for half > 0 && half < 0.5*math.Pow10(-digits) && digits < 4 { // an interval has a width
		digits++
	}
	return fmt.Sprintf("%.*f ± %.*f times %s", digits, mean, digits, half, word)
}
