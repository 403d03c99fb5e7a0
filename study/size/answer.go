package size

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
)

// sizesName is the table with one row per size of a cluster.
const sizesName = "sizes.csv"

const sizingSchema = "slotwave/sizing/1"

// Write writes the tables and the picture.
func (z *Sizing) Write(d resultdir.Target) error {
	w := resultdir.Writer{Dir: d}
	var drawn figure.Pictures
	drawn.Draw([]string{"sizes"}, []*figure.Figure{sizesFigure(z)})
	w.Write(sizesName, z.writeSizes)
	w.Write(points.Name, z.Points.WritePoints)
	w.Write(points.SummaryName, z.Points.WriteSummary)
	drawn.Write(&w)
	return w.Err
}

// writeSizes writes one row per size, and one more for its fresh seeds.
func (z *Sizing) writeSizes(w io.Writer) error {
	out := csv.NewWriter(w)
	head := []string{"node", "nodes", "map_slots", "reduce_slots", "price_per_hour", "price_per_job", "seeds", "answer", "n", "met", "probability", "low", "high", "slots_full"}
	for g := range z.Goals {
		head = append(head, points.GoalColumn(&z.Goals[g], g, "_mean"), fmt.Sprintf("goal_%d_met", g+1))
	}
	out.Write(head)
	for i := range z.Sizes {
		s := &z.Sizes[i]
		seeds := "search"
		if s.Fresh {
			seeds = "fresh"
		}
		n, met := len(s.Runs), s.Met(z.Goals)
		p, low, high := s.Probability(z)
		row := []string{
			text.Escape(s.Type), strconv.Itoa(s.Nodes), strconv.Itoa(s.Nodes * s.MapSlots), strconv.Itoa(s.Nodes * s.ReduceSlots),
			money(s.Hourly()), money(s.PerJob()), seeds, strconv.FormatBool(z.answers(i)),
			strconv.Itoa(n), strconv.Itoa(met), points.Cell("", p), points.Cell("", low), points.Cell("", high), points.Cell("", s.full()),
		}
		for g := range z.Goals {
			mean, _, met := s.goal(z.Goals, g)
			row = append(row, points.Cell(points.GoalColumn(&z.Goals[g], g, "_mean"), mean), strconv.Itoa(met))
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// money writes a price into a table; empty without one.
func money(v float64) string {
	if !(v > 0) {
		return ""
	}
	return points.Cell("", v)
}

// price formats money for people; empty without a price.
func price(v float64) string {
	if !(v > 0) {
		return ""
	}
	if v < 0.1 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// WriteText writes the answer, what each goal takes, and the safety curve.
func (z *Sizing) WriteText(w io.Writer, colour bool) error {
	t := text.NewWriter(w, colour)
	t.Heading(text.Escape(z.Title))
	lowest := map[string]string{"nodes": "fewest nodes", "slots": "fewest slots", "price_per_hour": "lowest price per hour", "price_per_job": "lowest price per job"}[z.Lowest]
	fmt.Fprintf(t, "%s, all goals met in at least %s of the runs\n\n", lowest, text.Percent(text.Share(z.Confidence)))
	shown := z.largest()
	if z.Answer < 0 {
		fmt.Fprintf(t, "answer\tnone: no size up to %s is shown to meet the goals\n", shown.name())
	} else {
		shown = &z.Sizes[z.Answer]
		fmt.Fprintf(t, "answer\t%s\n", shown.name())
		fmt.Fprintf(t, "slots\t%s and %s\n", text.Count(shown.Nodes*shown.MapSlots, "map slot"), text.Count(shown.Nodes*shown.ReduceSlots, "reduce slot"))
		if shown.Price > 0 {
			fmt.Fprintf(t, "price\t%s per hour, %s per job\n", price(shown.Hourly()), price(shown.PerJob()))
		}
		if fresh := z.find(shown.Type, shown.Nodes, true); fresh != nil {
			fmt.Fprintf(t, "confirmed\t%s\n", z.metText(fresh)+" with fresh seeds")
		}
	}
	z.errorText(t)
	z.guessText(t, shown.Type)
	t.Flush()
	z.goalText(t, shown)
	z.curveText(t)
	t.List("Notes", append(z.notes(shown), z.errorNotes()...))
	return t.Done()
}

// metText is the fraction of runs that meet all goals.
func (z *Sizing) metText(s *Size) string {
	n, met := len(s.Runs), s.Met(z.Goals)
	p, low, high := s.Probability(z)
	return fmt.Sprintf("%d of %s meet all goals (%s, 95 %% interval %s to %s)", met, text.Count(n, "run"), text.Percent(text.Share(p)), text.Percent(text.Share(low)), text.Percent(text.Share(high)))
}

// guessText lists what the models find for nodes of a type.
func (z *Sizing) guessText(t io.Writer, kind string) {
	line := ""
	for _, g := range z.guesses {
		if g.kind == kind {
			if line != "" {
				line += ", "
			}
			line += fmt.Sprintf("%s %d", text.Escape(g.model), g.nodes)
			if len(z.Goals) > 1 {
				line += fmt.Sprintf(" (goal %d)", g.goal+1)
			}
		}
	}
	if line != "" {
		fmt.Fprintf(t, "models\t%s nodes\n", line)
	}
}

// goalText writes each goal at a size, and at one node less.
func (z *Sizing) goalText(t *text.Writer, s *Size) {
	t.Section("Goals")
	less := z.find(s.Type, s.Nodes-1, false)
	fmt.Fprintf(t, "goal\tlimit\t%s\tmet", text.Count(s.Nodes, "node"))
	if less != nil {
		fmt.Fprintf(t, "\t%s\tmet", text.Count(less.Nodes, "node"))
	}
	fmt.Fprintln(t)
	for g := range z.Goals {
		goal := &z.Goals[g]
		fmt.Fprintf(t, "%s\t%s", text.Escape(goal.String()), goalValue(goal, goal.Limit()))
		for _, at := range []*Size{s, less} {
			if at != nil {
				mean, half, met := at.goal(z.Goals, g)
				fmt.Fprintf(t, "\t%s\t%s", goalMean(goal, mean, half), text.Percent(text.Share(float64(met)/float64(len(at.Runs)))))
			}
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

func goalValue(g *model.Goal, v float64) string {
	if g.Deadlines > 0 {
		return text.Percent(text.Share(v))
	}
	return text.Duration(int64(math.Round(v)))
}

func goalMean(g *model.Goal, mean, half float64) string {
	switch {
	case math.IsNaN(mean):
		return "jobs fail"
	case math.IsNaN(half):
		return goalValue(g, mean)
	}
	return goalValue(g, mean) + " ± " + goalValue(g, half)
}

// curveText writes the probability to meet all goals against the size.
func (z *Sizing) curveText(t *text.Writer) {
	t.Section("Sizes")
	priced, typed := false, false
	for i := range z.Sizes {
		priced = priced || z.Sizes[i].Price > 0
		typed = typed || z.Sizes[i].Type != ""
	}
	head := "nodes"
	if typed {
		head += "\ttype"
	}
	if priced {
		head += "\tper hour\tper job"
	}
	fmt.Fprintln(t, head+"\tprobability\t95 % interval\tn\tslots full\t")
	for i := range z.Sizes {
		s := &z.Sizes[i]
		if s.Fresh {
			continue
		}
		n := len(s.Runs)
		p, low, high := s.Probability(z)
		row := strconv.Itoa(s.Nodes)
		if typed {
			row += "\t" + text.Shorten(text.Escape(s.Type), 24)
		}
		if priced {
			row += "\t" + price(s.Hourly()) + "\t" + price(s.PerJob())
		}
		mark := ""
		if z.answers(i) {
			mark = "answer"
		}
		fmt.Fprintf(t, "%s\t%s\t%s to %s\t%d\t%s\t%s\n", row, text.Percent(text.Share(p)), text.Percent(text.Share(low)), text.Percent(text.Share(high)), n, text.Percent(text.Share(s.full())), mark)
	}
	t.Flush()
}

// notes say when the number of nodes is not what limits the jobs.
func (z *Sizing) notes(s *Size) []string {
	var notes []string
	if s.same() {
		notes = append(notes, "the runs do not differ: the scenario draws nothing at random, so that seeds change nothing and the probability is 0 or 1")
	}
	if full := s.full(); full == 0 {
		notes = append(notes, fmt.Sprintf("the workload never fills %s: not once are all map slots or all reduce slots in use", s.name()))
	} else if z.Answer < 0 && full < 0.01 {
		notes = append(notes, fmt.Sprintf("the cluster is not the bottleneck: all slots of a type are in use in %s of the time", text.Percent(text.Share(full))))
	}
	if z.Answer < 0 {
		for g := range z.Goals {
			if mean, half, met := s.goal(z.Goals, g); float64(met) < z.Confidence*float64(len(s.Runs)) {
				notes = append(notes, fmt.Sprintf("%s: %s on %s, limit %s", text.Escape(z.Goals[g].String()), goalMean(&z.Goals[g], mean, half), s.name(), goalValue(&z.Goals[g], z.Goals[g].Limit())))
			}
		}
		return notes
	}
	if s.Nodes == 1 {
		notes = append(notes, "one node is enough")
	}
	if less := z.find(s.Type, s.Nodes-1, false); less != nil {
		for g := range z.Goals {
			if _, _, met := less.goal(z.Goals, g); float64(met) < z.Confidence*float64(len(less.Runs)) {
				notes = append(notes, fmt.Sprintf("%s break a goal: %s: met in %s of the runs", less.name(), text.Escape(z.Goals[g].String()), text.Percent(text.Share(float64(met)/float64(len(less.Runs))))))
			}
		}
	}
	for i := range z.Sizes {
		o := &z.Sizes[i]
		if o.Type != s.Type || o.Nodes >= s.Nodes || o.Fresh {
			continue
		}
		if fresh := z.find(o.Type, o.Nodes, true); fresh != nil {
			notes = append(notes, fmt.Sprintf("%s: %s with fresh seeds, which does not show %s; with a larger max_replications more runs decide", o.name(), z.metText(fresh), text.Percent(text.Share(z.Confidence))))
		} else if p, _, _ := o.Probability(z); p >= z.Confidence {
			notes = append(notes, fmt.Sprintf("%s: %s with the seeds of the search, but a size between does not", o.name(), z.metText(o)))
		}
	}
	return notes
}

// sizeRow is a size as JSON.
type sizeRow struct {
	Type        string       `json:"node,omitempty"`
	Nodes       int          `json:"nodes"`
	MapSlots    int          `json:"map_slots"`
	ReduceSlots int          `json:"reduce_slots"`
	Hourly      *text.Share  `json:"price_per_hour,omitempty"`
	PerJob      *text.Share  `json:"price_per_job,omitempty"`
	Fresh       bool         `json:"fresh_seeds"`
	N           int          `json:"n"`
	Met         int          `json:"met"`
	Probability text.Share   `json:"probability"`
	Low         text.Share   `json:"low"`
	High        text.Share   `json:"high"`
	Full        text.Share   `json:"slots_full"`
	Goals       []text.Share `json:"goals_met"` // fraction of runs that meet each goal
}

func (z *Sizing) row(s *Size) *sizeRow {
	n := len(s.Runs)
	p, low, high := s.Probability(z)
	r := &sizeRow{
		Type: text.Escape(s.Type), Nodes: s.Nodes, MapSlots: s.Nodes * s.MapSlots, ReduceSlots: s.Nodes * s.ReduceSlots, Fresh: s.Fresh,
		N: n, Met: s.Met(z.Goals), Probability: text.Share(p), Low: text.Share(low), High: text.Share(high), Full: text.Share(s.full()),
	}
	if s.Price > 0 {
		hourly, job := text.Share(s.Hourly()), text.Share(s.PerJob())
		r.Hourly, r.PerJob = &hourly, &job
	}
	for g := range z.Goals {
		_, _, met := s.goal(z.Goals, g)
		r.Goals = append(r.Goals, text.Share(float64(met)/float64(n)))
	}
	return r
}

// WriteJSON writes the answer and all sizes as one JSON object.
func (z *Sizing) WriteJSON(w io.Writer) error {
	var answer *sizeRow
	shown := z.largest()
	if z.Answer >= 0 {
		shown = &z.Sizes[z.Answer]
		answer = z.row(shown)
	}
	var rows []*sizeRow
	for i := range z.Sizes {
		rows = append(rows, z.row(&z.Sizes[i]))
	}
	return resultdir.WriteJSON(w, struct {
		Schema     string         `json:"schema"`
		Lowest     string         `json:"lowest"`
		Confidence text.Share     `json:"confidence"`
		Answer     *sizeRow       `json:"answer"`
		Error      sizingErrorRow `json:"error"`
		Sizes      []*sizeRow     `json:"sizes"`
		Notes      []string       `json:"notes"`
	}{sizingSchema, z.Lowest, text.Share(z.Confidence), answer, z.errorRow(), rows, text.Listed(append(z.notes(shown), z.errorNotes()...))})
}
