package reproduce

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/workload"
)

// A measure is an expression in Go's syntax over the tables of an experiment:
//
//	mean(reduces, wait_memory / shuffle)            a statistic of an expression over rows
//	max(fair1.jobs, finish) / max(fair2.jobs, finish)    runs by name
//	mean(maps[group == "slow"], finish - start)     rows that meet a condition
//
// A table is maps, reduces, jobs, devices, limits or threads of a run (tablesOf), or one that a
// procedure makes. all.TABLE has the rows of every run. Times are in seconds. Within a
// statistic, names are columns. The statistics are in statistics.
//
// A statistic of no rows is NaN, but the sum 0.

// row is one row of a table. A column is a number or a text.
type row interface{ column(name string) (any, bool) }

// cells are a row with few columns.
type cells map[string]any

func (c cells) column(name string) (any, bool) { v, ok := c[name]; return v, ok }

// attemptRow is a row of the table of attempts.
type attemptRow struct{ *workload.Attempt }

// attemptColumns are the columns besides the phases.
var attemptColumns = map[string]func(*workload.Attempt) any{
	"job":           func(a *workload.Attempt) any { return a.Job },
	"name":          func(a *workload.Attempt) any { return jobName(a.Job) },
	"node":          func(a *workload.Attempt) any { return a.Node },
	"group":         func(a *workload.Attempt) any { return groupOf(a.Node) },
	"locality":      func(a *workload.Attempt) any { return a.Locality.String() },
	"start":         func(a *workload.Attempt) any { return a.Start.Seconds() },
	"finish":        func(a *workload.Attempt) any { return a.Finish.Seconds() },
	"duration":      func(a *workload.Attempt) any { return a.Duration().Seconds() },
	"wait_fetch":    func(a *workload.Attempt) any { return a.WaitFetch.Seconds() },
	"wait_memory":   func(a *workload.Attempt) any { return a.WaitMemory.Seconds() },
	"spills":        func(a *workload.Attempt) any { return float64(a.Spills) },
	"merge_passes":  func(a *workload.Attempt) any { return float64(a.MergePasses) },
	"map_function":  func(a *workload.Attempt) any { return a.Phases[workload.PhaseMap].Seconds() }, // map is a word of Go
	"in_bytes":      func(a *workload.Attempt) any { return float64(a.InBytes) },
	"shuffle_bytes": func(a *workload.Attempt) any { return float64(a.ShuffleBytes) },
}

func (a attemptRow) column(name string) (any, bool) {
	if of := attemptColumns[name]; of != nil {
		return of(a.Attempt), true
	}
	if p, ok := workload.ParsePhase(name); ok {
		return a.Phases[p].Seconds(), true
	}
	return nil, false
}

// jobName is the name of a job without the number of those of its kind.
func jobName(job string) string { return strings.TrimRight(job, "-0123456789") }

// groupOf is the name of the group of a node: that of the node without its number.
func groupOf(node string) string { return strings.TrimRight(node, "0123456789") }

// deviceRow is the use of a device from start to finish.
type deviceRow struct {
	of   *model.DeviceUse
	step int
}

// deviceColumns are the columns besides those of the device itself and of time.
var deviceColumns = map[string]func(*model.Use) any{
	"busy":        func(u *model.Use) any { return u.Busy },
	"bytes":       func(u *model.Use) any { return float64(u.Bytes) },
	"read_bytes":  func(u *model.Use) any { return float64(u.ReadBytes) },
	"write_bytes": func(u *model.Use) any { return float64(u.WriteBytes) },
	"foreign":     func(u *model.Use) any { return u.Foreign },
}

func (d deviceRow) column(name string) (any, bool) {
	switch name {
	case "node":
		return d.of.Node, true
	case "group":
		return groupOf(d.of.Node), true
	case "device":
		return strings.TrimRight(d.of.Device, "0123456789"), true
	case "start":
		return d.of.Times[d.step].Seconds(), true
	case "finish":
		return d.of.Times[d.step+1].Seconds(), true
	}
	if of := deviceColumns[name]; of != nil {
		return of(&d.of.Uses[d.step]), true
	}
	return nil, false
}

// tables are those of the runs of an experiment, by run and name.
type tables map[string]map[string][]row

// allRuns names the rows of all runs together in a measure.
const allRuns = "all"

// badMeasure is a panic of the evaluation: the measure has a mistake.
type badMeasure string

// measure evaluates an expression.
func (t tables) measure(e ast.Expr) (v float64, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case badMeasure:
			err = fmt.Errorf("%s", string(p))
		default:
			panic(p)
		}
	}()
	return scope{tables: t, known: map[*ast.CallExpr]any{}}.number(e), nil
}

// scope is where names stand for something: the tables, and the columns of a row in a
// statistic.
type scope struct {
	tables tables
	row    row
	known  map[*ast.CallExpr]any // values of statistics: they do not depend on the row around them
}

// in is the scope of a row.
func (s scope) in(r row) scope { return scope{s.tables, r, s.known} }

func fail(format string, args ...any) { panic(badMeasure(fmt.Sprintf(format, args...))) }

func (s scope) number(e ast.Expr) float64 {
	v, ok := s.value(e).(float64)
	if !ok {
		fail("%s: want a number", sourceOf(e))
	}
	return v
}

func (s scope) truth(e ast.Expr) bool {
	v, ok := s.value(e).(bool)
	if !ok {
		fail("%s: want a condition", sourceOf(e))
	}
	return v
}

func (s scope) rows(e ast.Expr) []row {
	v, ok := s.value(e).([]row)
	if !ok {
		fail("%s: want a table", sourceOf(e))
	}
	return v
}

// sourceOf names an expression in an error.
func sourceOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.BasicLit:
		return e.Value
	case *ast.CallExpr:
		return sourceOf(e.Fun) + "(...)"
	case *ast.SelectorExpr:
		return sourceOf(e.X) + "." + e.Sel.Name
	}
	return fmt.Sprintf("%T", e)
}

// value is a float64, a string, a bool or rows.
func (s scope) value(e ast.Expr) any {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return s.value(e.X)
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			v, _ := strconv.Unquote(e.Value)
			return v
		}
		v, err := strconv.ParseFloat(e.Value, 64)
		if err != nil {
			fail("%s: want a number", e.Value)
		}
		return v
	case *ast.UnaryExpr:
		if e.Op == token.SUB {
			return -s.number(e.X)
		}
	case *ast.BinaryExpr:
		return s.binary(e)
	case *ast.Ident:
		if s.row != nil {
			if v, ok := s.row.column(e.Name); ok {
				return v
			}
		}
		return s.table("", e.Name)
	case *ast.SelectorExpr:
		return s.table(sourceOf(e.X), e.Sel.Name)
	case *ast.IndexExpr:
		var some []row
		for _, r := range s.rows(e.X) {
			if s.in(r).truth(e.Index) {
				some = append(some, r)
			}
		}
		return some
	case *ast.CallExpr:
		if sourceOf(e.Fun) == "abs" && len(e.Args) == 1 {
			return math.Abs(s.number(e.Args[0]))
		}
		v, ok := s.known[e]
		if !ok {
			v = s.call(e)
			s.known[e] = v
		}
		return v
	}
	fail("%s: not part of a measure", sourceOf(e))
	return nil
}

// table is a table of a run; of the only run if it is not named.
func (s scope) table(run, name string) []row {
	if run == allRuns || run == "" {
		var all []row
		found := false
		for _, r := range sortedKeys(s.tables) {
			rows, ok := s.tables[r][name]
			found = found || ok
			all = append(all, rows...)
		}
		if !found {
			fail("%s: neither a column nor a table", name)
		}
		if run == "" && len(s.tables) > 1 {
			fail("%s: want the name of a run before it: one of %s", name, strings.Join(sortedKeys(s.tables), ", "))
		}
		return all
	}
	rows, ok := s.tables[run][name]
	if !ok {
		fail("%s.%s: no such table: runs are %s", run, name, strings.Join(sortedKeys(s.tables), ", "))
	}
	return rows
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func (s scope) binary(e *ast.BinaryExpr) any {
	switch e.Op {
	case token.LAND:
		return s.truth(e.X) && s.truth(e.Y)
	case token.LOR:
		return s.truth(e.X) || s.truth(e.Y)
	}
	a, b := s.value(e.X), s.value(e.Y)
	if x, ok := a.(string); ok {
		y, ok := b.(string)
		switch {
		case ok && e.Op == token.EQL:
			return x == y
		case ok && e.Op == token.NEQ:
			return x != y
		}
	}
	x, ok := a.(float64)
	y, also := b.(float64)
	if !ok || !also {
		fail("%s %s %s: want two numbers, or two texts that are compared", sourceOf(e.X), e.Op, sourceOf(e.Y))
	}
	switch e.Op {
	case token.ADD:
		return x + y
	case token.SUB:
		return x - y
	case token.MUL:
		return float64(x * y)
	case token.QUO:
		return x / y
	case token.EQL:
		return x == y
	case token.NEQ:
		return x != y
	case token.LSS:
		return x < y
	case token.LEQ:
		return x <= y
	case token.GTR:
		return x > y
	case token.GEQ:
		return x >= y
	}
	fail("%s: no such operation", e.Op)
	return nil
}

// statistics of the values that an expression has in the rows. Only sum takes none.
var statistics = map[string]func(values []float64) float64{
	"sum":  sum,
	"mean": func(v []float64) float64 { return sum(v) / float64(len(v)) },
	"max":  slices.Max[[]float64],
	"min":  slices.Min[[]float64],
	"median": func(v []float64) float64 {
		slices.Sort(v)
		return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
	},
}

func sum(v []float64) (total float64) {
	for _, x := range v {
		total += x
	}
	return total
}

// values of an expression in rows.
func (s scope) values(rows []row, e ast.Expr) []float64 {
	all := make([]float64, len(rows))
	for i, r := range rows {
		all[i] = s.in(r).number(e)
	}
	return all
}

// call evaluates a statistic, or one of
//
//	count(rows)
//	first(rows, by, n)       the n rows with the least values of by
//	together(rows, by)       the most rows at any instant that have the same text in by
//	abs(number)
//	breaks(rows, x, y)       where a line of two pieces through y over x changes; NaN: it is one line
//	steeper(rows, x, y)      slope after the break over the slope before it
func (s scope) call(e *ast.CallExpr) any {
	name := sourceOf(e.Fun)
	arguments := map[string]int{"count": 1, "first": 3, "together": 2, "breaks": 3, "steeper": 3}
	want, ok := arguments[name]
	statistic := statistics[name]
	if statistic != nil {
		want, ok = 2, true
	}
	if !ok || len(e.Args) != want {
		fail("%s: not a function of %d arguments: want one of %s", name, len(e.Args), strings.Join(slices.Sorted(slices.Values(append(sortedKeys(arguments), sortedKeys(statistics)...))), ", "))
	}
	rows := s.rows(e.Args[0])
	if statistic != nil {
		if len(rows) == 0 && name != "sum" {
			return math.NaN()
		}
		return statistic(s.values(rows, e.Args[1]))
	}
	switch name {
	case "count":
		return float64(len(rows))
	case "first":
		sorted := slices.Clone(rows)
		by := func(r row) float64 { return s.in(r).number(e.Args[1]) }
		slices.SortStableFunc(sorted, func(a, b row) int { return cmp.Compare(by(a), by(b)) })
		return sorted[:min(len(sorted), int(s.number(e.Args[2])))]
	case "together":
		return s.together(rows, e.Args[1])
	}
	two, err := fit.Segment(s.values(rows, e.Args[1]), s.values(rows, e.Args[2]), fit.SegmentOptions{MinPoints: 3, Margin: fit.DefaultMargin})
	switch {
	case err != nil || !two.Two:
		return math.NaN()
	case name == "breaks":
		return *two.Tau
	}
	return two.Pieces[1].B / two.Pieces[0].B
}

// together is the most rows with the same text in a column that last from start to
// finish at the same instant.
func (s scope) together(rows []row, by ast.Expr) (peak float64) {
	type change struct{ at, by float64 }
	changes := map[string][]change{}
	for _, r := range rows {
		in := s.in(r)
		key, _ := in.value(by).(string)
		changes[key] = append(changes[key], change{in.number(ast.NewIdent("start")), 1}, change{in.number(ast.NewIdent("finish")), -1})
	}
	for _, key := range sortedKeys(changes) {
		list := changes[key]
		slices.SortFunc(list, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
		n := 0.0
		for _, c := range list {
			n += c.by
			peak = max(peak, n)
		}
	}
	return peak
}
