package reproduce

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// claimsName is the table of claims.
const claimsName = "claims.csv"

// The verdicts on a claim.
const (
	Reproduced    = "reproduced"     // true at every choice of the unknown inputs
	Depends       = "depends"        // true at some
	NotReproduced = "not reproduced" // true at none
	Beyond        = "not a simulator's business"
)

// Answer is where a claim is true.
type Answer struct {
	Paper   string
	Part    string // the experiment
	Claim   Claim
	Verdict string
	Points  int // choices of the unknown inputs
	True    int // of them at which the claim is true

	inputs    []Unknown
	at        []point // inputs of the points
	values    [][]float64
	truth     []bool
	published []published
	decides   int  // the measure that agrees at the fewest points
	sought    bool // in vain between points with values on both sides of the printed number
}

// judged judges the claims of an experiment by the points.
func (e *Experiment) judged(paper string, points []point) (all []Answer) {
	for i := range e.Claim {
		a := Answer{Paper: paper, Part: e.Name, Claim: e.Claim[i], Points: len(points), inputs: e.Inputs, at: points, Verdict: Beyond}
		if a.Claim.Beyond == "" {
			a.judge(i)
		} else {
			a.Points = 0
		}
		all = append(all, a)
	}
	return all
}

// judge sets the verdict on claim i of the experiment.
func (a *Answer) judge(i int) {
	for _, says := range a.Claim.Says {
		p, err := readPublished(says)
		if err != nil {
			panic(err) // the files of claims are well formed
		}
		a.published = append(a.published, p)
	}
	agree := make([]int, len(a.published))
	for _, at := range a.at {
		for k := range a.published {
			if a.published[k].holds(at.Values[i][k]) {
				agree[k]++
			}
		}
		good := a.holds(at.Values[i])
		if good {
			a.True++
		}
		a.values, a.truth = append(a.values, at.Values[i]), append(a.truth, good)
	}
	a.decides = slices.Index(agree, slices.Min(agree))
	switch a.True {
	case 0:
		a.Verdict = NotReproduced
	case a.Points:
		a.Verdict = Reproduced
	default:
		a.Verdict = Depends
	}
}

// holds reports whether all measures agree with the printed numbers.
func (a *Answer) holds(values []float64) bool {
	for k := range a.published {
		if !a.published[k].holds(values[k]) {
			return false
		}
	}
	return true
}

// maxWays is between how many pairs of points a claim is sought, and maxHalvings how
// often the way between two is halved.
const maxWays, maxHalvings = 4, 6

// seek looks for a choice of the inputs at which claim i of the experiment holds that
// no point has: if values lie on both sides of the printed one, it halves the way
// between two such points, first between those whose values differ least. What it finds
// is one more point, but not of the range: the share stays as it is.
func (a *Answer) seek(e *Experiment, i int, answer func(*point) error) error {
	if a.Verdict != NotReproduced {
		return nil
	}
	p := a.published[a.decides]
	value := func(k int) float64 { return a.values[k][a.decides] }
	var below, above []int
	for k := range a.at {
		switch p.side(value(k)) {
		case -1:
			below = append(below, k)
		case 1:
			above = append(above, k)
		}
	}
	slices.SortStableFunc(below, func(x, y int) int { return cmp.Compare(value(y), value(x)) })
	slices.SortStableFunc(above, func(x, y int) int { return cmp.Compare(value(x), value(y)) })
	for way := range maxWays {
		l, h := way%2, way/2 // of the two values next to the printed one on each side
		if l >= len(below) || h >= len(above) {
			continue
		}
		found, err := a.between(e, i, [2][]string{a.at[below[l]].Inputs, a.at[above[h]].Inputs}, answer)
		if a.sought = !found; found || err != nil {
			return err
		}
	}
	return nil
}

// between halves the way between two choices of the inputs, below and above the printed
// number.
func (a *Answer) between(e *Experiment, i int, ends [2][]string, answer func(*point) error) (found bool, err error) {
	for range maxHalvings {
		at := point{Inputs: e.middle(ends[0], ends[1])}
		if slices.Equal(at.Inputs, ends[0]) || slices.Equal(at.Inputs, ends[1]) {
			break
		}
		if err := answer(&at); err != nil {
			return false, err
		}
		v := at.Values[i]
		switch {
		case a.holds(v):
			a.Verdict, a.at = Depends, append(slices.Clone(a.at), at)
			a.values, a.truth = append(a.values, v), append(a.truth, true)
			return true, nil
		case a.published[a.decides].side(v[a.decides]) < 0:
			ends[0] = at.Inputs
		default: // above, or right but not with the other measures
			ends[1] = at.Inputs
		}
	}
	return false, nil
}

// middle of two choices of the inputs.
func (e *Experiment) middle(a, b []string) (all []string) {
	for i := range e.Inputs {
		u := &e.Inputs[i]
		all = append(all, u.text((u.scaled(a[i])+u.scaled(b[i]))/2))
	}
	return all
}

// Says is what the paper prints.
func (a *Answer) Says() string {
	if len(a.Claim.Says) == 0 {
		return "n/a"
	}
	if a.Claim.Unit == "" {
		return strings.Join(a.Claim.Says, "; ")
	}
	return strings.Join(a.Claim.Says, "; ") + " " + a.Claim.Unit
}

// Simulated is the range of the measures over the points.
func (a *Answer) Simulated() string {
	var parts []string
	for k := range a.published {
		parts = append(parts, a.rangeOf(k))
	}
	return strings.Join(parts, "; ")
}

// rangeOf is the range of measure k over the points.
func (a *Answer) rangeOf(k int) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range a.values {
		if finite(v[k]) {
			low, high = min(low, v[k]), max(high, v[k])
		}
	}
	l, h := figures(low), figures(high)
	switch {
	case low > high:
		return "none"
	case l == h:
		return l
	}
	return l + " to " + h
}

// figures writes a number with four digits.
func figures(v float64) string {
	if math.Abs(v) >= 1000 {
		return text.Number(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// Share is the part of the points at which the claim is true.
func (a *Answer) Share() string {
	if a.Points == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", a.True, a.Points)
}

// Area says for which values of the unknown inputs the claim is true, where it
// depends on them, or that it is not although values lie on both sides of the printed
// number.
func (a *Answer) Area() string {
	if a.sought {
		return fmt.Sprintf("not found, also at up to %d points between those with values next to it", maxWays*maxHalvings)
	}
	if a.Verdict != Depends {
		return ""
	}
	var parts []string
	for _, i := range a.byInfluence() {
		u := &a.inputs[i]
		inside, outside := a.inputRange(i, true), a.inputRange(i, false)
		if inside == outside {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %s (false at %s)", u.Name, inside, outside))
		if len(parts) == 2 {
			break
		}
	}
	if a.True == 0 {
		return "between points: " + strings.Join(parts, ", ")
	}
	return strings.Join(parts, ", ")
}

// inputRange is the range of an input over the points at which the claim is true, or
// false.
func (a *Answer) inputRange(i int, truth bool) string {
	var numbers []float64
	for k := range a.at {
		if a.truth[k] == truth {
			numbers = append(numbers, a.number(k, i))
		}
	}
	low, high := figures(slices.Min(numbers)), figures(slices.Max(numbers))
	if low == high {
		return low
	}
	return low + " to " + high
}

// number is an input of point k.
func (a *Answer) number(k, input int) float64 { return mustParse(a.at[k].Inputs[input]) }

// byInfluence lists the inputs, those first with whose ranks the measured value goes
// most; last those with the same range where the claim is true and where it is false.
func (a *Answer) byInfluence() (order []int) {
	influence := make([]float64, len(a.inputs))
	for i := range a.inputs {
		order = append(order, i)
		var x, y []float64
		for k := range a.at {
			if v := a.values[k][a.decides]; finite(v) {
				x, y = append(x, a.number(k, i)), append(y, v)
			}
		}
		if len(x) > 2 {
			influence[i] = math.Abs(stat.Correlation(ranks(x), ranks(y), nil))
		}
		if math.IsNaN(influence[i]) {
			influence[i] = 0
		}
	}
	same := func(i int) int {
		if a.Verdict == Depends && a.inputRange(i, true) == a.inputRange(i, false) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(same(x), same(y)), cmp.Compare(influence[y], influence[x]))
	})
	return order
}

// ranks replaces numbers by their ranks; equal ones share the mean of theirs.
func ranks(v []float64) []float64 {
	sorted := slices.Sorted(slices.Values(v))
	all := make([]float64, len(v))
	for i, x := range v {
		first, _ := slices.BinarySearch(sorted, x)
		last := first
		for last < len(sorted) && sorted[last] == x {
			last++
		}
		all[i] = float64(first+last-1) / 2
	}
	return all
}

// Command repeats the part that answers the claim.
func (a *Answer) Command() string {
	return fmt.Sprintf("slotwave reproduce %s --figure %s", a.Paper, a.Part)
}

// Cause is why the claim does not hold, with what shows it, or why nothing is
// simulated.
func (a *Answer) Cause() string {
	c := &a.Claim
	switch {
	case a.Verdict == Reproduced:
		return ""
	case c.Beyond != "" || c.Cause == "":
		return c.Beyond
	case c.Shown == "":
		return "not shown: " + c.Cause
	}
	p, said, what, err := c.shows()
	if err != nil {
		panic(err) // the files of claims are well formed
	}
	k, n := len(c.Measure), 0
	for _, v := range a.values[:a.Points] {
		if p.holds(v[k]) {
			n++
		}
	}
	return fmt.Sprintf("%s (%s: %s; %s at %d of %d)", c.Cause, what, a.rangeOf(k), said, n, a.Points)
}

// charts draw where the claim is true: the value over the input with the most
// influence, and the points over the two with the most.
func (a *Answer) charts() (all []Chart) {
	if a.Verdict != Depends && a.Verdict != NotReproduced || len(a.inputs) == 0 || a.Points < 3 {
		return nil
	}
	numbers := a.byInfluence()
	name := text.Slug(a.Claim.ID)
	value := Chart{Name: "value-" + name, Title: a.Claim.Text, X: a.inputs[numbers[0]].Name, Y: cmp.Or(a.Claim.Unit, "value")}
	area := Chart{Name: "area-" + name, Title: a.Claim.Text, X: value.X}
	if len(numbers) > 1 {
		area.Y = a.inputs[numbers[1]].Name
	}
	for _, truth := range []bool{true, false} {
		of := map[bool]string{true: "true", false: "false"}[truth]
		v, p := ChartSeries{Name: "simulated, " + of, Hollow: !truth}, ChartSeries{Name: of, Hollow: !truth}
		for k := range a.at {
			if a.truth[k] != truth {
				continue
			}
			x := a.number(k, numbers[0])
			if y := a.values[k][a.decides]; finite(y) {
				v.X, v.Y = append(v.X, x), append(v.Y, y)
			}
			if len(numbers) > 1 {
				p.X, p.Y = append(p.X, x), append(p.Y, a.number(k, numbers[1]))
			}
		}
		if len(v.X) > 0 {
			value.Series = append(value.Series, v)
		}
		if len(p.X) > 0 {
			area.Series = append(area.Series, p)
		}
	}
	from, to := math.Inf(1), math.Inf(-1)
	for k := range a.at {
		x := a.number(k, numbers[0])
		from, to = min(from, x), max(to, x)
	}
	p := a.published[a.decides]
	said := "the paper: " + a.Claim.Says[a.decides]
	for _, y := range slices.Compact([]float64{p.low, p.high}) {
		value.Series = append(value.Series, ChartSeries{Name: said, X: []float64{from, to}, Y: []float64{y, y}, Line: true, Published: true})
		said = "" // one entry in the legend
	}
	all = append(all, value)
	if len(numbers) > 1 && a.Verdict == Depends {
		all = append(all, area)
	}
	return all
}

// Answers are those on the claims of one or several papers.
type Answers []Answer

// count writes how many claims have each verdict.
func (all Answers) count(of func(*Answer) bool) (line []string) {
	total := 0
	for _, verdict := range []string{Reproduced, Depends, NotReproduced, Beyond} {
		n := 0
		for i := range all {
			if of(&all[i]) && all[i].Verdict == verdict {
				n++
			}
		}
		total += n
		line = append(line, strconv.Itoa(n))
	}
	return append(line, strconv.Itoa(total))
}

// papers lists the papers of the answers, in order.
func (all Answers) papers() (names []string) {
	for i := range all {
		if !slices.Contains(names, all[i].Paper) {
			names = append(names, all[i].Paper)
		}
	}
	return names
}

// WriteText writes one line for each claim, and the number of claims by verdict.
func (all Answers) WriteText(w io.Writer, colour bool) error {
	t := text.NewWriter(w, colour)
	t.Heading("Claims of papers")
	for _, paper := range all.papers() {
		t.Section(paper)
		fmt.Fprintln(t, "claim\tthe paper says\tsimulated\ttrue at\tverdict")
		for i := range all {
			if a := &all[i]; a.Paper == paper {
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", a.Claim.ID, a.Says(), a.Simulated(), a.Share(), a.Verdict)
			}
		}
		t.Flush()
	}
	t.Section("Verdicts")
	fmt.Fprintln(t, "paper\treproduced\tdepends\tnot reproduced\tno simulation\tclaims")
	for _, paper := range all.papers() {
		fmt.Fprintf(t, "%s\t%s\n", paper, strings.Join(all.count(func(a *Answer) bool { return a.Paper == paper }), "\t"))
	}
	fmt.Fprintf(t, "all\t%s\n", strings.Join(all.count(func(*Answer) bool { return true }), "\t"))
	return t.Done()
}

// answerColumns names the columns of claims.csv, in order.
var answerColumns = []string{"paper", "claim", "place", "text", "the paper says", "simulated", "points", "true", "verdict", "true where", "cause", "inputs not stated", "sources of their ranges", "command"}

// cells of a row of claims.csv.
func (a *Answer) cells() []string {
	var names, sources []string
	for i := range a.inputs {
		u := &a.inputs[i]
		names, sources = append(names, u.Name+" "+u.rangeText()), append(sources, u.Name+": "+u.Source)
	}
	points, good := "", ""
	if a.Points > 0 {
		points, good = strconv.Itoa(a.Points), strconv.Itoa(a.True)
	} else {
		names, sources = nil, nil
	}
	return []string{
		a.Paper, a.Claim.ID, a.Claim.Place, a.Claim.Text, a.Says(), a.Simulated(), points, good, a.Verdict, a.Area(), a.Cause(),
		strings.Join(names, "; "), strings.Join(sources, "; "), a.Command(),
	}
}

// rangeText is the range of an unknown input.
func (u *Unknown) rangeText() string {
	return fmt.Sprintf("%v to %v", u.Factor["from"], u.Factor["to"])
}

// Write writes claims.csv.
func (all Answers) Write(d resultdir.Target) error {
	w := resultdir.Writer{Dir: d}
	w.Write(claimsName, all.WriteCSV)
	return w.Err
}

// WriteCSV writes claims.csv.
func (all Answers) WriteCSV(w io.Writer) error {
	return workload.WriteCSV(w, answerColumns, func(write func(...string)) {
		for i := range all {
			write(all[i].cells()...)
		}
	})
}

// WriteJSON writes the rows of claims.csv as one JSON object.
func (all Answers) WriteJSON(w io.Writer) error {
	rows := []map[string]string{}
	for i := range all {
		row := map[string]string{}
		for k, cell := range all[i].cells() {
			row[strings.ReplaceAll(answerColumns[k], " ", "_")] = cell
		}
		rows = append(rows, row)
	}
	return resultdir.WriteJSON(w, struct {
		Schema string              `json:"schema"`
		Claims []map[string]string `json:"claims"`
	}{"slotwave/claims/1", rows})
}
