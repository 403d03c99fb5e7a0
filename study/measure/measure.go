// Package measure names the fact about a recorded machine that shrinks the interval of an
// answer most, before it is measured.
//
//	Ask   -> the answers of all machines that explain the record, to one or more questions
//	Facts -> how much of their scatter each key of the machine explains
package measure

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
)

// A source says how a fact is learned, and how far what is measured may be off.
type source struct {
	keys  string // pattern
	how   string
	error float64 // of the logarithm
}

// sources has the cheapest first. What is in none, such as Hadoop's costs, takes a
// profiler.
var sources = []source{
	{"cores", "nproc on a recorded machine", 0},
	{"disk.count", "the disks that mapred.local.dir and dfs.data.dir name", 0},
	{"memory", "free -b on a recorded machine", 0},
	{"dirty", "sysctl vm.dirty_background_bytes, or its ratio of the memory", 0},
	{"nic_mb", "ethtool, or iperf between two machines of a rack", 0.05},
	{"page_cache", "iostat while a file is read a second time: true if no disk reads", 0},
	{"overlap", "iostat while one map runs on an idle machine: true if disk and CPU work at once", 0},
	{"jvm.start", "time of java -version on an idle machine", 0.1},
	{"uplink_mb", "iperf between all machines of two racks", 0.05},
	{"disk.read_mb", "dd of a file larger than the memory, to /dev/null", 0.05},
	{"disk.write_mb", "dd with conv=fsync of a file larger than the memory", 0.05},
	{"disk.curve.chunk", "fio, one stream and 8 at once: chunk = seek * rate8 * rate1 / (rate1 - rate8)", 0.2},
	{"codec.*", "time of the codec on 1 GB of map output, ns per byte", 0.05},
}

// A Fact is a key of the machine with what knowing it would leave of the intervals.
type Fact struct {
	Key    string       `json:"key"`
	Low    string       `json:"low"` // over the machines that explain the record
	High   string       `json:"high"`
	How    string       `json:"how"`
	Left   float64      `json:"left"`        // of the scatter of the answers, in the mean over questions; 1: it tells nothing
	Widths []text.Share `json:"half_widths"` // relative, that the 90 % intervals are expected to have, by question
}

// Plan is which facts shrink the intervals of some answers.
type Plan struct {
	Schema    string     `json:"schema"`
	Questions []Question `json:"questions"`
	Facts     []Fact     `json:"facts"` // best first
	None      []string   `json:"facts_that_tell_nothing"`
	Machines  int        `json:"machines"`
}

// Question is what is asked, with its answer as it is known without a further fact.
type Question struct {
	Name     string     `json:"name"`
	Makespan int64      `json:"makespan_ns"`
	Width    text.Share `json:"half_width"` // of the 90 % interval, relative
}

const planSchema = "slotwave/measure/1"

// Asked is a question: what it sets in the scenario.
type Asked struct {
	Name string
	Set  []string
}

// Ask simulates questions on all machines that explain the record of a calibrated
// scenario. progress may be nil.
func Ask(name string, questions []Asked, o study.Options, progress study.SweepProgress) (*Plan, error) {
	p := &Plan{Schema: planSchema}
	var machines []*model.WhatIf
	var answers []results.Machines
	set := o.Set
	for _, asked := range questions {
		o.Set = slices.Concat(set, asked.Set)
		s, err := study.Open(name, o)
		if err != nil {
			return nil, err
		}
		if machines = s.Machines(); len(machines) < leastMachines {
			return nil, fmt.Errorf("%s: got one machine: want a scenario that slotwave platform calibrate made of a history, whose machines explain the record", name)
		}
		if progress != nil {
			progress(study.SweepStatus{Step: asked.Name, Ended: len(answers) * len(machines), Done: len(answers) * len(machines), Total: len(questions) * len(machines)})
		}
		run, err := s.Repeat(0)
		if err != nil {
			return nil, err
		}
		m := run.Machines()
		answers = append(answers, m)
		p.Questions = append(p.Questions, Question{asked.Name, int64(1e9 * math.Exp(m.Mean)), relative(&m, 1)})
	}
	p.Machines = len(machines)
	p.Facts, p.None = Facts(machines, answers)
	return p, nil
}

// relative is half of the 90 % interval of a makespan, if a part of its scatter is left.
func relative(m *results.Machines, left float64) text.Share {
	return text.Share(math.Expm1(float64(m.Error(left * m.Scatter))))
}

// leastMachines is the number of machines from which a scatter is estimated.
const leastMachines = 8

// worthIt is the part of the scatter that a fact explains at least, to be listed.
const worthIt = 0.1

// Facts returns how much of the scatter of answers each key explains. The answers are
// logarithms: for each question those of all machines. A fact is a key that a short
// benchmark tells, and that explains more than chance does among as many keys (Holm,
// 5 %). What it leaves is the scatter about a line through the other machines, each left
// out in turn, plus the error of measuring.
func Facts(machines []*model.WhatIf, answers []results.Machines) (facts []Fact, none []string) {
	values, order := keysOf(machines)
	type tried struct {
		fact Fact
		p    float64
	}
	var all []tried
	for _, key := range order {
		x := values[key]
		by := slices.IndexFunc(sources, func(s source) bool { return workload.Matches(key, s.keys) })
		same := func(t tried) bool { return math.Abs(stat.Correlation(x, values[t.fact.Key], nil)) > 0.999 }
		if strings.HasPrefix(key, "codec.") && !strings.HasPrefix(key, "codec."+machines[0].MapCodec().Name+".") {
			by = -1 // calibrate takes that of the record
		}
		if by < 0 || stat.StdDev(x, nil) < 1e-6 || slices.ContainsFunc(all, same) {
			continue
		}
		t := tried{fact: Fact{Key: key, Low: textOf(key, slices.Min(x)), High: textOf(key, slices.Max(x)), How: sources[by].how}, p: 1}
		for i := range answers {
			left, p := explained(x, answers[i].Logs, sources[by].error)
			t.fact.Left += left / float64(len(answers))
			t.fact.Widths = append(t.fact.Widths, relative(&answers[i], left))
			t.p = min(t.p, p*float64(len(answers)))
		}
		all = append(all, t)
	}
	slices.SortStableFunc(all, func(a, b tried) int { return cmp.Compare(a.p, b.p) })
	holds := true
	for i, t := range all {
		if holds = holds && t.p*float64(len(all)-i) <= 0.05; holds && t.fact.Left <= 1-worthIt {
			facts = append(facts, t.fact)
		} else {
			none = append(none, t.fact.Key)
		}
	}
	slices.SortStableFunc(facts, func(a, b Fact) int { return cmp.Compare(a.Left, b.Left) })
	slices.Sort(none)
	return text.Listed(facts), text.Listed(none)
}

// explained returns the part of the scatter of y that is left about a line over x, if x is
// known with an error, and the probability that a line without an effect leaves as little.
func explained(x, y []float64, off float64) (left, p float64) {
	n := float64(len(x))
	if stat.StdDev(y, nil) < 1e-9 {
		return 1, 1
	}
	a, b := stat.LinearRegression(x, y, nil, false)
	mean, sxx := stat.Mean(x, nil), stat.Variance(x, nil)*(n-1)
	press, whole := 0.0, 0.0
	for i := range x {
		leverage := 1/n + (x[i]-mean)*(x[i]-mean)/sxx
		r := (y[i] - a - b*x[i]) / (1 - leverage)
		m := (y[i] - stat.Mean(y, nil)) * n / (n - 1)
		press, whole = press+float64(r*r), whole+float64(m*m)
	}
	left = min(1, math.Sqrt((press+float64(n*b*b*off*off))/whole))
	r := stat.Correlation(x, y, nil)
	t := math.Abs(r) * math.Sqrt((n-2)/max(1e-12, 1-r*r))
	return left, 2 * distuv.StudentsT{Sigma: 1, Nu: n - 2}.Survival(t)
}

// keysOf returns the keys of the platform files of machines with their values, as
// logarithms, or 0 and 1 for false and true.
func keysOf(machines []*model.WhatIf) (values map[string][]float64, order []string) {
	values = map[string][]float64{}
	for i, q := range machines {
		var file bytes.Buffer
		tree := map[string]any{}
		if scenarios.WritePlatform(&file, &q.Cluster.Machines[0]) != nil || toml.Unmarshal(file.Bytes(), &tree) != nil {
			continue
		}
		leaves(tree, "", func(key string, v any) {
			if values[key] == nil {
				order = append(order, key)
				values[key] = slices.Repeat([]float64{math.NaN()}, len(machines))
			}
			values[key][i] = number(v)
		})
	}
	for _, key := range order {
		for i, v := range values[key] {
			if math.IsNaN(v) { // the file of a machine lacks it: false, or no such device
				values[key][i] = 0
				if key != "overlap" && key != "page_cache" {
					clear(values[key])
					break
				}
			}
		}
	}
	return values, order
}

// leaves calls f for each value below a table.
func leaves(v any, at string, f func(key string, v any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			leaves(v[key], strings.TrimPrefix(at+"."+key, "."), f)
		}
	case []map[string]any:
		leaves(v[0], at, f)
	default:
		f(at, v)
	}
}

// number returns the logarithm of a value, 1 for true, 0 for false, or NaN for what is
// none.
func number(v any) float64 {
	x := 0.0
	switch v := v.(type) {
	case bool:
		if v {
			return 1
		}
		return 0
	case int64:
		x = float64(v)
	case float64:
		x = v
	case string:
		if d, err := time.ParseDuration(v); err == nil {
			x = d.Seconds()
		} else if bytes, err := workload.ParseBytes(v); err == nil {
			x = float64(bytes)
		}
	}
	if x <= 0 {
		return math.NaN()
	}
	return math.Log(x)
}

// textOf writes a value of a key.
func textOf(key string, v float64) string {
	switch v = math.Exp(v); key {
	case "overlap", "page_cache":
		return fmt.Sprint(v > 1)
	case "memory", "dirty":
		return fmt.Sprintf("%.3gg", v/(1<<30))
	case "jvm.start":
		return fmt.Sprintf("%.2gs", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// WriteText writes the answers and the facts, best first.
func (p *Plan) WriteText(w io.Writer, colour bool) error {
	t := text.NewWriter(w, colour)
	t.Heading("What to measure")
	number := func(i int) string { // of several questions
		if len(p.Questions) == 1 {
			return ""
		}
		return fmt.Sprintf("%d: ", i+1)
	}
	fmt.Fprintln(t, "question\tmakespan")
	for i, q := range p.Questions {
		fmt.Fprintf(t, "%s%s\t%s ± %s\n", number(i), text.Escape(q.Name), text.Duration(q.Makespan), text.Percent(q.Width))
	}
	t.Flush()
	fmt.Fprintf(t, "± is half of the 90 %% interval of the makespan, over %d machines that explain the record and the error of the model.\n\n", p.Machines)
	if len(p.Facts) == 0 {
		fmt.Fprintln(t, "No single fact explains a tenth of the scatter of these answers.")
	} else {
		fmt.Fprint(t, "fact\ton the machines\t")
		for i := range p.Questions {
			fmt.Fprintf(t, "%s± with it\t", number(i))
		}
		fmt.Fprintln(t, "how to learn it")
		for _, f := range p.Facts {
			fmt.Fprintf(t, "%s\t%s to %s\t", f.Key, f.Low, f.High)
			for _, w := range f.Widths {
				fmt.Fprintf(t, "%s\t", text.Percent(w))
			}
			fmt.Fprintln(t, f.How)
		}
		t.Flush()
	}
	t.Flush()
	if len(p.None) > 0 {
		fmt.Fprintf(t, "\nThese explain no more than chance does: %s\n", strings.Join(p.None, ", "))
	}
	return t.Done()
}

// WriteJSON writes the plan as one JSON object.
func (p *Plan) WriteJSON(w io.Writer) error { return resultdir.WriteJSON(w, p) }
