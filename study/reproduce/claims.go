package reproduce

import (
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// claimFiles has one file for each paper.
//
//go:embed claims/*.toml
var claimFiles embed.FS

// Paper is a paper with what it claims.
type Paper struct {
	Name, Title, Source string
	Missing             []string // what no text at hand states, or no claim has, and why
	Unknown             []Unknown
	Experiment          []Experiment
}

// Experiment is something that a paper ran, and the claims that it drew from it. It
// is a part of the page of the paper.
type Experiment struct {
	Name  string   // of the part
	Also  []string // further names: of figures, or of a section
	Title string
	Text  string // what is run in place of the paper's experiment

	Scenario  string              // shipped; empty: a procedure makes the tables, or nothing is run
	Procedure string              // name of the procedure in procedures
	Set       []string            // KEY=VALUE settings of all runs
	Runs      map[string][]string // the settings of each run, by its name in measures; empty: one run
	Limits    bool                // a measure reads the table of limits
	Threads   bool                // a measure reads the table of threads
	Points    int                 // samples of the ranges of the unknown inputs; 0: none
	Unknown   []string            // names of those inputs
	Inputs    []Unknown           `toml:"-"` // the same with their ranges
	Claim     []Claim
}

// Unknown is an input that the paper does not state, with the range that sources allow:
// a factor of a study file.
type Unknown struct {
	Name, Source string
	Factor       map[string]any // key, from and to
}

// Claim is one figure or sentence of a paper.
type Claim struct {
	ID      string
	Place   string   // section, figure or table
	Text    string   // in our words
	Says    []string // what the paper prints of each measure: see readPublished
	Unit    string   // of the printed numbers: s, ms, MB, GB, %, times, or none
	Measure []string // expressions over the tables of the runs: see measure
	Cause   string   // of the difference, where one is known
	Shown   string   // an expression that shows the cause in the same runs; empty: none does
	Shows   string   // what the expression is there if the cause is the right one, as in Says, and what it is
	Beyond  string   // why no simulator can answer; nothing is measured
}

// published is what a paper prints of one measure.
type published struct {
	how       string
	low, high float64 // equal unless how is from
}

// near is the fraction by which a simulated number may differ from one that a paper
// prints. One rule for all claims, so that no claim has a band that was chosen for it.
const near = 0.1

// readPublished reads "about 6", "exactly 3", "more than 49", "less than 5" or
// "from 4.49 to 5.03". A paper does not print a number that is marked "(ours)": it
// stands for a word, such as "gone".
func readPublished(text string) (p published, err error) {
	words := strings.Fields(strings.TrimSuffix(text, "(ours)"))
	number := func(s string) float64 {
		v, e := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
		if e != nil {
			err = fmt.Errorf("says: got %q: want about, exactly, more than, less than or from and to, with numbers", text)
		}
		return v
	}
	switch {
	case len(words) == 2 && (words[0] == "about" || words[0] == "exactly"):
		p.how, p.low = words[0], number(words[1])
		p.high = p.low
	case len(words) == 3 && (words[0] == "more" || words[0] == "less") && words[1] == "than":
		p.how, p.low = words[0], number(words[2])
		p.high = p.low
	case len(words) == 4 && words[0] == "from" && words[2] == "to":
		p.how, p.low, p.high = words[0], number(words[1]), number(words[3])
	default:
		number("")
	}
	return p, err
}

// holds reports whether a simulated number agrees with the printed one. A figure that
// a run does not have, NaN, does not.
func (p *published) holds(v float64) bool {
	switch p.how {
	case "about":
		return math.Abs(v-p.low) <= near*math.Abs(p.low)
	case "exactly":
		return math.Abs(v-p.low) <= 1e-9*math.Max(1, math.Abs(p.low)) // sums of floating-point numbers
	case "more":
		return v > p.low
	case "less":
		return v < p.low
	}
	return p.low <= v && v <= p.high
}

// side is where a number lies that does not agree: -1 below the printed one, 1 above.
// Of more and less it is 0: nothing between two numbers that disagree agrees.
func (p *published) side(v float64) int {
	switch {
	case p.how == "more" || p.how == "less" || math.IsNaN(v) || p.holds(v):
		return 0
	case v < p.low:
		return -1
	}
	return 1
}

// scaled is where a value lies in the range: 0 at its begin, 1 at its end.
func (u *Unknown) scaled(text string) float64 {
	from, to, v := float(u.Factor["from"]), float(u.Factor["to"]), mustParse(text)
	if u.Factor["scale"] == "log" {
		from, to, v = math.Log(from), math.Log(to), math.Log(v)
	}
	return (v - from) / (to - from)
}

// text is the value at a part of the range.
func (u *Unknown) text(part float64) string {
	from, to := float(u.Factor["from"]), float(u.Factor["to"])
	v := from + float64(part*(to-from))
	if u.Factor["scale"] == "log" {
		v = from * math.Pow(to/from, part)
	}
	_, whole := u.Factor["from"].(int64)
	if _, also := u.Factor["to"].(int64); whole && also {
		return strconv.FormatInt(int64(math.Round(v)), 10)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func float(v any) float64 {
	if n, whole := v.(int64); whole {
		return float64(n)
	}
	return v.(float64)
}

func mustParse(number string) float64 {
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		panic(err) // the files of claims have ranges of numbers
	}
	return v
}

// Papers lists the papers, sorted by name.
func Papers() ([]Paper, error) {
	var all []Paper
	names, err := fs.Glob(claimFiles, "claims/*.toml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := claimFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var p Paper
		if err := toml.Unmarshal(data, &p); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for i := range p.Experiment {
			if err := p.Experiment[i].setInputs(p.Unknown); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// setInputs finds the unknown inputs by their names.
func (e *Experiment) setInputs(of []Unknown) error {
	for _, name := range e.Unknown {
		i := slices.IndexFunc(of, func(u Unknown) bool { return u.Name == name })
		if i < 0 {
			return fmt.Errorf("%s: no unknown input %q", e.Name, name)
		}
		e.Inputs = append(e.Inputs, of[i])
	}
	return nil
}

// measures are those of the printed numbers, then that of the cause, if it has one.
func (c *Claim) measures() []string {
	if c.Shown == "" {
		return c.Measure
	}
	return append(slices.Clone(c.Measure), c.Shown)
}

// shows reads what shows the cause: the values it has if the cause is right, in words
// too, and what it is.
func (c *Claim) shows() (p published, said, what string, err error) {
	said, what, _ = strings.Cut(c.Shows, ": ")
	p, err = readPublished(said)
	return p, said, what, err
}

// Parts lists the names of a paper's parts, with their further names.
func (p *Paper) Parts() (names []string) {
	for i := range p.Experiment {
		e := &p.Experiment[i]
		name := e.Name
		if len(e.Also) > 0 {
			name += " (or " + strings.Join(e.Also, ", ") + ")"
		}
		names = append(names, name)
	}
	return names
}

// named reports whether a part has a name.
func (e *Experiment) named(name string) bool { return e.Name == name || slices.Contains(e.Also, name) }

// expression parses a measure.
func expression(measure string) ast.Expr {
	e, err := parser.ParseExpr(measure)
	if err != nil {
		panic(err)
	}
	return e
}
