package results

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// widestComparison is the number of characters that fit beside each other.
const widestComparison = 100

// compareText writes the figures that differ between several runs side by side,
// as many as fit, with the ratios of the makespan and of the mean job time to the
// first run.
func compareText(w io.Writer, runs []*Summary, colour bool) error {
	t := text.NewWriter(w, colour)
	key, names := runNames(runs)
	head := "run"
	if key != "" {
		t.Heading("Runs by " + key)
		head = "value"
	}
	rows := append([]string{head}, names...)
	width, all := widest(rows), true
	for _, c := range differing(comparedColumns(runs), runs) {
		cells := c.cells(runs)
		if width += widest(cells); width > widestComparison {
			all = false
			continue
		}
		for i := range rows {
			rows[i] += "\t" + cells[i]
		}
	}
	for _, row := range rows {
		fmt.Fprintln(t, row)
	}
	t.Flush()
	repeats := slices.ContainsFunc(runs, func(s *Summary) bool { return s.Replay != nil && len(s.Replay.Settings) == 0 })
	for i, s := range runs {
		if repeats && s.Replay != nil && s.Replay.Makespan > 0 {
			fmt.Fprintf(t, "%s decides anew what the record has decided, as a replay does not: in this way %s.\n", names[i], s.Replay.itself())
		}
	}
	for i, s := range runs[1:] {
		if first := runs[0]; first.Replay != nil && s.Replay != nil && first.Replay.Still != s.Replay.Still {
			fmt.Fprintln(t, StandstillNote(names[0], first.Replay.Still, names[i+1], s.Replay.Still))
		}
	}
	if n := runs[0].Replications; n > 1 {
		fmt.Fprintf(t, "Makespan and mean job time are means of %d seeds; other columns are of the first.\n", n)
	}
	if !all && len(runs) > 1 {
		fmt.Fprintln(t, "More figures differ: summary.csv of the result has all.")
	}
	var assumed []string
	for _, s := range runs {
		assumed = addNew(assumed, s.Assumptions)
	}
	t.List("Assumed", assumed)
	return t.Done()
}

// StandstillNote warns of two runs of a record of which one repeats a standstill of
// machines that the other leaves out; empty: both do the same.
func StandstillNote(first, still, second, otherStill string) string {
	if still == otherStill {
		return ""
	}
	return fmt.Sprintf("%s (%s), %s (%s): the difference contains that too; --set workload.still_hosts=recorded repeats a standstill in both.",
		first, cmp.Or(still, "no standstill"), second, cmp.Or(otherStill, "no standstill"))
}

// runNames returns what tells the runs apart. If they differ in the value of one
// key only, it returns the key and the values.
func runNames(runs []*Summary) (key string, names []string) {
	for _, s := range runs {
		names = append(names, s.Title)
	}
	key, names = text.WithoutPrefix(names)
	return key, text.Apart(names, 60)
}

// widest is the width of a column of a table, with the space after it.
func widest(cells []string) int {
	const space = 2
	n := 0
	for _, c := range cells {
		n = max(n, utf8.RuneCountInString(c)+space)
	}
	return n
}

// comparedColumn is one figure of several runs, NaN for a run without it.
// Ratios are to the first run.
type comparedColumn struct {
	label string
	ratio bool
	of    func(*Summary) float64
	show  func(float64) string
}

func (c *comparedColumn) cell(s *Summary) string {
	if v := c.of(s); !math.IsNaN(v) {
		return c.show(v)
	}
	return ""
}

// cells returns the label and a cell for each run, with ratios where the column
// has them.
func (c *comparedColumn) cells(runs []*Summary) []string {
	cells := []string{c.label}
	if c.ratio {
		cells[0] += "\tratio"
	}
	for _, s := range runs {
		cell := c.cell(s)
		if v, first := c.of(s), c.of(runs[0]); c.ratio && first > 0 {
			cell += fmt.Sprintf("\t%.3f", v/first)
		} else if c.ratio {
			cell += "\t"
		}
		cells = append(cells, cell)
	}
	return cells
}

// comparedColumns are the figures that can differ between runs.
func comparedColumns(runs []*Summary) []comparedColumn {
	var columns []comparedColumn
	answer := func(s *Summary) *Interval { return answerOf(s.Calibrations, s.Interval) }
	if slices.ContainsFunc(runs, func(s *Summary) bool { return answer(s) != nil }) {
		columns = append(columns, comparedColumn{"answer", true, func(s *Summary) float64 {
			if a := answer(s); a != nil {
				return float64(a.Mean)
			}
			return float64(s.Makespan.Mean)
		}, textDuration})
	}
	columns = append(columns, []comparedColumn{
		{"makespan", len(columns) == 0, func(s *Summary) float64 { return float64(s.Makespan.Mean) }, textDuration},
		{"mean job time", true, func(s *Summary) float64 { return float64(s.Jobs.Mean.Mean) }, textDuration},
	}...)
	by, names := comparedGroup(runs)
	for _, name := range names {
		columns = append(columns, comparedColumn{"mean, " + by + " " + name, false, func(s *Summary) float64 {
			if row := s.groupRow(by, name); row != nil {
				return float64(row.Mean)
			}
			return math.NaN()
		}, textDuration}, comparedColumn{"node-local, " + by + " " + name, false, func(s *Summary) float64 {
			if row := s.groupRow(by, name); row != nil && row.Local != nil {
				return float64(*row.Local)
			}
			return math.NaN()
		}, textShare})
	}
	columns = append(columns,
		comparedColumn{"95th percentile", false, func(s *Summary) float64 { return float64(s.Jobs.P95.Mean) }, textDuration},
		comparedColumn{"longest job", false, func(s *Summary) float64 { return float64(s.Jobs.Max.Mean) }, textDuration},
		comparedColumn{"node-local maps", false, func(s *Summary) float64 {
			l := s.Locality
			return float64(l.Node) / float64(l.Node+l.Rack+l.Off)
		}, textShare})
	for _, kind := range []workload.Kind{workload.Map, workload.Reduce} {
		columns = append(columns, ofKind("mean "+kind.String(), kind, textDuration, func(k *KindSummary) float64 { return float64(k.Mean) }))
	}
	columns = append(columns,
		ofKind("spills of a map", workload.Map, textMean, func(k *KindSummary) float64 { return k.perSpilling(k.Spills) }),
		ofKind("merge passes of a map", workload.Map, textMean, func(k *KindSummary) float64 { return k.perSpilling(k.MergePasses) }),
		ofKind("merge passes of a reduce", workload.Reduce, textMean, func(k *KindSummary) float64 { return k.perSpilling(k.MergePasses) }))
	if slices.ContainsFunc(runs, func(s *Summary) bool { return s.Containers != nil }) {
		columns = append(columns, comparedColumn{"memory in use", false, func(s *Summary) float64 {
			if s.Containers == nil {
				return math.NaN()
			}
			return float64(s.Containers.Memory)
		}, textShare})
	}
	for _, kind := range slotTypes(runs) {
		columns = append(columns, comparedColumn{kind + " slots busy", false, func(s *Summary) float64 {
			for _, x := range s.Slots {
				if x.Type == kind {
					return float64(x.Busy)
				}
			}
			return math.NaN()
		}, textShare})
	}
	return columns
}

// ofKind is a figure of the attempts of a kind.
func ofKind(label string, kind workload.Kind, show func(float64) string, of func(*KindSummary) float64) comparedColumn {
	return comparedColumn{label, false, func(s *Summary) float64 {
		for i := range s.Kinds {
			if s.Kinds[i].Kind == kind.String() {
				return of(&s.Kinds[i])
			}
		}
		return math.NaN()
	}, show}
}

// perSpilling is a count for each successful attempt; NaN if none spilled.
func (k *KindSummary) perSpilling(count int64) float64 {
	if k.Spilled == 0 {
		return math.NaN()
	}
	return float64(count) / float64(k.Succeeded)
}

// differing returns the makespan and those other columns that neither are about
// the same for all of several runs nor repeat a column before them.
func differing(columns []comparedColumn, runs []*Summary) []comparedColumn {
	const little = 0.005 // of the largest value
	var kept []comparedColumn
	var shown [][]string
	for _, c := range columns {
		var cells []string
		least, most := math.Inf(1), math.Inf(-1)
		for _, s := range runs {
			cells = append(cells, c.cell(s))
			if v := c.of(s); !math.IsNaN(v) {
				least, most = min(least, v), max(most, v)
			}
		}
		repeats := slices.ContainsFunc(shown, func(other []string) bool { return slices.Equal(cells, other) })
		alone := len(runs) == 1 && cells[0] != ""
		if len(kept) == 0 || (alone || most-least > little*math.Abs(most)) && !repeats {
			kept, shown = append(kept, c), append(shown, cells)
		}
	}
	return kept
}

// comparedGroup returns the names of two or three pools, queues or users, those
// with the most jobs first.
func comparedGroup(runs []*Summary) (by string, names []string) {
	for _, g := range runs[0].Groups {
		if g.By != "node" && len(g.Rows) <= 3 {
			rows := slices.Clone(g.Rows)
			slices.SortStableFunc(rows, func(a, b GroupRow) int { return cmp.Compare(b.Jobs, a.Jobs) })
			for _, row := range rows {
				names = append(names, row.Name)
			}
			return g.By, names
		}
	}
	return "", nil
}

func (s *Summary) groupRow(by, name string) *GroupRow {
	for _, g := range s.Groups {
		if g.By == by {
			if i := slices.IndexFunc(g.Rows, func(r GroupRow) bool { return r.Name == name }); i >= 0 {
				return &g.Rows[i]
			}
		}
	}
	return nil
}

// slotTypes returns the types of slots that any of the runs has.
func slotTypes(runs []*Summary) []string {
	var types []string
	for _, s := range runs {
		for _, sl := range s.Slots {
			if !slices.Contains(types, sl.Type) {
				types = append(types, sl.Type)
			}
		}
	}
	return types
}

func textDuration(v float64) string { return text.Duration(int64(v)) }

func textShare(v float64) string { return text.Percent(text.Share(v)) }

func textMean(v float64) string { return fmt.Sprintf("%.1f", v) }
