package sensitivity

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/study/search"
	"github.com/slotwave/slotwave/workload"
)

// sensitivitySchema is the first field of a sensitivity analysis in JSON.
const sensitivitySchema = "slotwave/sensitivity/1"

// Names of the files of a sensitivity analysis.
const (
	sensitivityName = "sensitivity.csv"
	tornadoName     = "tornado"
)

// Sensitivity is what each cost and each setting, changed alone, does to the
// makespan.
type Sensitivity struct {
	Scenario, Fidelity string
	By                 float64   // part by which costs change
	Base               []float64 // makespans of the scenario itself, one for each seed, s
	Models             []string  // that predict the changes too
	Rows               []Pulled
	Labels             *figure.Labels // texts of the picture that the user replaces
}

// Pulled is one value of an input.
type Pulled struct {
	Name      string             // key of the input
	Kind      string             // where it is stated: platform, cost, profile, setting
	From, To  string             // value in the scenario, and here
	Makespans []float64          // simulated, one for each seed, s; +Inf: a job does not end
	Predicted map[string]float64 // relative change of the makespan, by model
}

// pulledRow is a value with the change of the makespan: the part by which it is
// longer. If one run does not end, nor does the mean.
type pulledRow struct {
	*Pulled
	change search.Gain
}

func (s *Sensitivity) row(i int) pulledRow {
	p := &s.Rows[i]
	if slices.ContainsFunc(p.Makespans, func(t float64) bool { return math.IsInf(t, 1) }) {
		return pulledRow{p, search.Gain{Mean: math.Inf(1), Low: math.Inf(1), High: math.Inf(1), Pairs: len(s.Base)}}
	}
	g := search.NewGain(s.Base, p.Makespans)
	return pulledRow{p, search.Gain{Mean: -g.Mean, Low: -g.High, High: -g.Low, Pairs: g.Pairs}}
}

// verdict says what the change does.
func (p *pulledRow) verdict() string {
	switch c := p.change; {
	case math.IsInf(c.Mean, 1):
		return "does not end"
	case c.Low > search.LeastGain:
		return string(search.Slower)
	case c.High < -search.LeastGain:
		return string(search.Faster)
	}
	return string(search.NoDifference)
}

// pulledInput is the rows of one input.
type pulledInput struct {
	rows []pulledRow
	most float64 // largest change whose interval does not include 0
}

// inputs groups the rows, the largest effect first.
func (s *Sensitivity) inputs() []pulledInput {
	var list []pulledInput
	for i := range s.Rows {
		r := s.row(i)
		if n := len(list); n == 0 || list[n-1].rows[0].Name != r.Name {
			list = append(list, pulledInput{})
		}
		in := &list[len(list)-1]
		in.rows = append(in.rows, r)
		if r.verdict() != string(search.NoDifference) {
			in.most = max(in.most, math.Abs(r.change.Mean))
		}
	}
	slices.SortStableFunc(list, func(a, b pulledInput) int { return cmp.Compare(b.most, a.most) })
	return list
}

// WriteText writes the inputs that matter, the largest effect first, and those that
// do not.
func (s *Sensitivity) WriteText(w io.Writer, colour bool) error {
	out := text.NewWriter(w, colour)
	out.Heading(fmt.Sprintf("What changes the makespan of %s at fidelity %s", text.Escape(s.Scenario), s.Fidelity))
	e := search.EstimateOf(s.Base)
	fmt.Fprintf(out, "makespan\t%s ± %s\n", text.Duration(e.Mean), text.Duration((*e.High-*e.Low)/2))
	out.Flush()
	fmt.Fprintf(out, "Each input changes alone. n = %d pairs of runs with common seeds; ± is the 95 %% interval of the simulated change.\n\n", len(s.Base))
	fmt.Fprintf(out, "input\tfrom\tto\tchange")
	for _, m := range s.Models {
		fmt.Fprintf(out, "\t%s", m)
	}
	fmt.Fprintln(out)
	var idle []string
	for _, in := range s.inputs() {
		if in.most == 0 {
			idle = append(idle, in.rows[0].Name)
			continue
		}
		for k, r := range in.rows {
			name, from := r.Name, text.ClassName(r.From)
			if k > 0 {
				name, from = "", ""
			}
			change := "the job does not end"
			if !math.IsInf(r.change.Mean, 1) {
				change = fmt.Sprintf("%s ± %.1f", changeText(r.change.Mean), 50*(r.change.High-r.change.Low))
			}
			fmt.Fprintf(out, "%s\t%s\t%s\t%s", name, from, text.ClassName(r.To), change)
			for _, m := range s.Models {
				fmt.Fprintf(out, "\t%s", r.predicted(m))
			}
			fmt.Fprintln(out)
		}
	}
	out.Flush()
	out.List("Inputs that make no difference", idle)
	return out.Done()
}

// changeText writes a change in per cent.
func changeText(change float64) string {
	percent := math.Round(1000*change) / 10
	return fmt.Sprintf("%+.1f %%", percent+0) // no -0.0
}

func (p *pulledRow) predicted(m string) string {
	if v, ok := p.Predicted[m]; ok {
		return changeText(v)
	}
	return "n/a"
}

// sensitivityColumns are the columns of sensitivity.csv.
var sensitivityColumns = []string{"input", "kind", "from", "to", "by", "change", "change_low", "change_high", "n", "verdict"}

// WriteCSV writes sensitivity.csv.
func (s *Sensitivity) WriteCSV(w io.Writer) error {
	return workload.WriteCSV(w, sensitivityColumns, func(write func(...string)) {
		number := func(v float64) string {
			if math.IsInf(v, 0) {
				return ""
			}
			return strconv.FormatFloat(v, 'f', 6, 64)
		}
		for i := range s.Rows {
			r := s.row(i)
			cells := []string{r.Name, r.Kind, text.Escape(r.From), text.Escape(r.To)}
			write(append(slices.Clone(cells), "simulation", number(r.change.Mean), number(r.change.Low), number(r.change.High), strconv.Itoa(r.change.Pairs), r.verdict())...)
			for _, m := range s.Models {
				if v, ok := r.Predicted[m]; ok {
					write(append(slices.Clone(cells), m, number(v), "", "", "", "")...)
				}
			}
		}
	})
}

// WriteJSON writes the inputs as one JSON object.
func (s *Sensitivity) WriteJSON(w io.Writer) error {
	type row struct {
		Input     string             `json:"input"`
		Kind      string             `json:"kind"`
		From      string             `json:"from"`
		To        string             `json:"to"`
		Change    *search.Gain       `json:"change"` // null: the job does not end
		Verdict   string             `json:"verdict"`
		Predicted map[string]float64 `json:"predicted"`
	}
	doc := struct {
		Schema   string           `json:"schema"`
		Scenario string           `json:"scenario"`
		Fidelity string           `json:"fidelity"`
		Makespan results.Estimate `json:"makespan"`
		By       float64          `json:"by"`
		Inputs   []row            `json:"inputs"`
	}{Schema: sensitivitySchema, Scenario: text.Escape(s.Scenario), Fidelity: s.Fidelity, Makespan: search.EstimateOf(s.Base), By: s.By}
	for i := range s.Rows {
		r := s.row(i)
		one := row{r.Name, r.Kind, text.Escape(r.From), text.Escape(r.To), &r.change, r.verdict(), r.Predicted}
		if math.IsInf(r.change.Mean, 1) {
			one.Change = nil
		}
		doc.Inputs = append(doc.Inputs, one)
	}
	doc.Inputs = text.Listed(doc.Inputs)
	return resultdir.WriteJSON(w, doc)
}

// Write writes sensitivity.csv and the picture.
func (s *Sensitivity) Write(d resultdir.Target) error {
	w := resultdir.Writer{Dir: d}
	drawn := figure.Pictures{Labels: s.Labels}
	if f := s.tornado(); f != nil {
		drawn.Draw([]string{tornadoName}, []*figure.Figure{f})
	}
	w.Write(sensitivityName, s.WriteCSV)
	drawn.Write(&w)
	return w.Err
}

// mostLevers is the number of inputs in the picture.
const mostLevers = 25

// tornado draws the change of the makespan, for each input that makes a difference.
func (s *Sensitivity) tornado() *figure.Figure {
	var bars []figure.Bar
	for _, in := range s.inputs() {
		if in.most == 0 || len(bars) == mostLevers {
			break
		}
		b := figure.Bar{Name: in.rows[0].Name}
		for _, r := range in.rows {
			change := 100 * r.change.Mean
			switch {
			case math.IsInf(change, 1):
			case change < b.Low:
				b.Low, b.From = change, text.ClassName(r.To)
			case change > b.High:
				b.High, b.To = change, text.ClassName(r.To)
			}
		}
		bars = append(bars, b)
	}
	if len(bars) == 0 {
		return nil
	}
	f := &figure.Figure{
		Title:    "What changes the makespan of " + text.Escape(s.Scenario),
		Subtitle: fmt.Sprintf("each input changed alone; mean of %d pairs of runs; inputs that make no difference are left out", len(s.Base)),
	}
	p, low, high := figure.TornadoPanel(bars, 0)
	f.Panels = []*figure.Panel{p}
	f.SetRange(low, high, "change of the makespan (%)")
	return f
}
