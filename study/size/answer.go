package size

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// Names of the table with one row per size of a cluster, and of the answer as one page
// for who pays.
const (
	sizesName = "sizes.csv"
	pageName  = "answer.html"
)

const sizingSchema = "slotwave/sizing/1"

// Write writes the tables and the picture.
func (z *Sizing) Write(d resultdir.Target) error {
	w := resultdir.Writer{Dir: d}
	drawn := figure.Pictures{Labels: z.Points.Labels}
	names, figures := []string{"sizes"}, []*figure.Figure{sizesFigure(z)}
	if len(z.Lines) > 1 {
		names, figures = []string{"offers", "sizes"}, []*figure.Figure{offersFigure(z), figures[0]}
	}
	drawn.Draw(names, figures)
	w.Write(sizesName, z.writeSizes)
	w.Write(pageName, func(w io.Writer) error { return z.writePage(w, figures) })
	w.Write(points.Name, z.Points.WritePoints)
	w.Write(points.SummaryName, z.Points.WriteSummary)
	drawn.Write(&w)
	return w.Err
}

// writeSizes writes one row per size, and one more for its fresh seeds.
func (z *Sizing) writeSizes(w io.Writer) error {
	head := []string{"load", "node", "nodes", "map_slots", "reduce_slots", "price_per_hour", "price_per_job", "seeds", "answer", "n", "met", "probability", "low", "high", "slots_full"}
	for g := range z.Goals {
		head = append(head, points.GoalColumn(&z.Goals[g], g, "_mean"), fmt.Sprintf("goal_%d_met", g+1))
	}
	return workload.WriteCSV(w, head, func(write func(...string)) {
		for k := range z.Lines {
			l := &z.Lines[k]
			for i := range l.Sizes {
				s := &l.Sizes[i]
				r, seeds := z.row(l, s), "search"
				if s.Fresh {
					seeds = "fresh"
				}
				row := []string{
					r.Load, r.Type, strconv.Itoa(s.Nodes), strconv.Itoa(s.MapSlots), strconv.Itoa(s.ReduceSlots),
					money(s.Hourly()), money(s.PerJob()), seeds, strconv.FormatBool(s.Nodes == l.Nodes),
					strconv.Itoa(r.N), strconv.Itoa(r.Met), r.Probability.String(), r.Low.String(), r.High.String(), r.Full.String(),
				}
				for g := range z.Goals {
					values, met := z.goal(s, g)
					mean, _ := fit.StudentInterval(values)
					row = append(row, points.Cell(points.GoalColumn(&z.Goals[g], g, "_mean"), mean), points.Cell("", met))
				}
				write(row...)
			}
		}
	})
}

// money writes a price into a table; empty without one.
func money(v float64) string {
	if !(v > 0) {
		return ""
	}
	return points.Cell("", v)
}

// WriteText writes the answer, a line for each load and type of node, what each goal
// takes, and the safety curve.
func (z *Sizing) WriteText(w io.Writer, colour bool) error {
	t := text.NewWriter(w, colour)
	t.Heading(text.Escape(z.Title))
	fmt.Fprintf(t, "%s\n\n", z.asked())
	l, s := z.shown(), z.shown().shown()
	if z.Answer < 0 {
		fmt.Fprintf(t, "answer\tnone: no size up to %s is shown to meet the goals\n", l.name(s))
		fmt.Fprintf(t, "want\t%s\n", l.wanted())
	} else {
		fmt.Fprintf(t, "answer\t%s\n", l.name(s))
		fmt.Fprintf(t, "slots\t%s and %s\n", text.Count(s.MapSlots, "map slot"), text.Count(s.ReduceSlots, "reduce slot"))
		if s.Price > 0 {
			fmt.Fprintf(t, "price\t%s per hour, %s per job\n", price(s.Hourly()), price(s.PerJob()))
		}
		if fresh := l.find(s.Nodes, true); fresh != nil {
			head := "confirmed"
			if z.Error.Alternatives > 0 { // as few runs as machines confirm nothing
				head = "probability"
			}
			fmt.Fprintf(t, "%s\t%s\n", head, z.metText(fresh)+" with fresh seeds")
		}
	}
	if l.Load != "" {
		fmt.Fprintf(t, "for\t%s\n", l.loadName())
	}
	for _, line := range z.errorRows() {
		fmt.Fprintf(t, "%s\t%s\n", line[0], line[1])
	}
	z.guessText(t, l)
	t.Flush()
	z.lineText(t)
	z.goalText(t, l, s)
	z.curveText(t, l)
	t.List("Notes", z.notes(l, s))
	return t.Done()
}

// errorRows say how far the simulation may be off in the answer: what of it, and how far.
func (z *Sizing) errorRows() (rows [][2]string) {
	e := &z.Error
	switch {
	case e.Replay != nil:
		rows = append(rows, [2]string{"replay", "of the record at its own size: " + e.Replay.Text()})
		if e.Alternatives == 0 {
			rows = append(rows, [2]string{"", fmt.Sprintf("each job has the error of a job of the replay, drawn at random, and intervals are at least those of %s; on other numbers and types of nodes the simulation may be off by more", text.Count(e.Replay.Jobs, "case"))})
		}
	case e.Unknown != "":
		rows = append(rows, [2]string{"error", "not known: " + e.Unknown + "; the intervals cover the seeds only"})
	}
	if e.Alternatives > 0 {
		others := workload.Counted(e.Alternatives, "other that explains", "others that explain")
		rows = append(rows, [2]string{"machines", "the probability is the mean over the calibrated machine and " + others + " the record about as well;"},
			[2]string{"", fmt.Sprintf("each time is corrected by what its machine misses of the recorded jobs; in nine of ten cases it is off by at most another %s where the machines agree, and by more where they differ or the run takes another time than the record", text.Percent(text.Share(math.Expm1(float64(e.ofModel(0, 0))))))})
	}
	return rows
}

// asked says what is searched.
func (z *Sizing) asked() string {
	lowest := map[string]string{"nodes": "fewest nodes", "slots": "fewest slots", "price_per_hour": "lowest price per hour", "price_per_job": "lowest price per job"}[z.Lowest]
	return fmt.Sprintf("%s, all goals met in at least %s of the runs", lowest, text.Percent(text.Share(z.Confidence)))
}

// has reports whether a line has something.
func (z *Sizing) has(of func(*Line) bool) bool {
	for i := range z.Lines {
		if of(&z.Lines[i]) {
			return true
		}
	}
	return false
}

// cells are a line for people, under the heads of lineHeads.
func (z *Sizing) cells(l *Line) []string {
	s := l.best()
	r := z.row(l, s)
	nodes, limit := "none", ""
	if l.Now || l.Nodes > 0 {
		nodes = strconv.Itoa(s.Nodes)
	}
	if list, _ := results.SharesOf(l.Limits); len(list) > 0 {
		limit = list[0].What + " " + text.Percent(list[0].Share)
	}
	return []string{
		l.loadName(), text.Shorten(text.Escape(l.Type), 24), nodes, price(s.Hourly()), price(s.PerJob()),
		text.Percent(r.Probability), text.Percent(r.Low) + " to " + text.Percent(r.High), limit,
	}
}

var lineHeads = []string{"load", "offer", "nodes", "per hour", "per job", "probability", "95 % interval", "limited by"}

// table are the lines with the columns that say something.
func (z *Sizing) table() (heads []string, rows [][]string) {
	priced, loads := z.has(func(l *Line) bool { return l.shown().Price > 0 }), z.has(func(l *Line) bool { return l.Load != "" })
	for k, head := range lineHeads {
		if head == "load" && !loads || (head == "per hour" || head == "per job") && !priced {
			continue
		}
		heads = append(heads, head)
		for i := range z.Lines {
			if len(rows) <= i {
				rows = append(rows, nil)
			}
			rows[i] = append(rows[i], z.cells(&z.Lines[i])[k])
		}
	}
	return heads, rows
}

// lineText writes the lines, if there is more than one.
func (z *Sizing) lineText(t *text.Writer) {
	if len(z.Lines) < 2 {
		return
	}
	t.Section("Offers")
	heads, rows := z.table()
	for _, row := range append([][]string{heads}, rows...) {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	t.Flush()
}

// metText is the fraction of runs that meet all goals.
func (z *Sizing) metText(s *Size) string {
	n, met := len(s.Runs), s.Met(z.Goals)
	p, low, high := s.Probability(z)
	between := fmt.Sprintf("%s, 95 %% interval %s to %s", text.Percent(text.Share(p)), text.Percent(text.Share(low)), text.Percent(text.Share(high)))
	if z.Error.Alternatives > 0 {
		return fmt.Sprintf("all goals are met with a probability of %s, over %s", between, text.Count(n, "run"))
	}
	return fmt.Sprintf("%d of %s meet all goals (%s)", met, text.Count(n, "run"), between)
}

// guessText lists what the models find for nodes of a line.
func (z *Sizing) guessText(t io.Writer, l *Line) {
	var list []string
	for _, g := range l.guesses {
		one := text.Escape(g.model) + " " + text.Count(g.nodes, "node")
		if len(z.Goals) > 1 {
			one += fmt.Sprintf(" (goal %d)", g.goal+1)
		}
		list = append(list, one)
	}
	if len(list) > 0 {
		fmt.Fprintf(t, "models\t%s\n", strings.Join(list, ", "))
	}
}

// goalText writes each goal at a size, and at one node less.
func (z *Sizing) goalText(t *text.Writer, l *Line, s *Size) {
	t.Section("Goals")
	less := l.find(s.Nodes-1, false)
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
				_, met := z.goal(at, g)
				fmt.Fprintf(t, "\t%s\t%s", z.value(at, g), text.Percent(text.Share(met)))
			}
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

// curveText writes the probability to meet all goals against the size.
func (z *Sizing) curveText(t *text.Writer, l *Line) {
	t.Section("Sizes")
	head, priced := "nodes", l.shown().Price > 0
	if priced {
		head += "\tper hour\tper job"
	}
	fmt.Fprintln(t, head+"\tprobability\t95 % interval\tn\tslots full\t")
	for i := range l.Sizes {
		s := &l.Sizes[i]
		if s.Fresh {
			continue
		}
		r, row := z.row(l, s), strconv.Itoa(s.Nodes)
		if priced {
			row += "\t" + price(s.Hourly()) + "\t" + price(s.PerJob())
		}
		mark := ""
		if s.Nodes == l.Nodes {
			mark = "answer"
		}
		fmt.Fprintf(t, "%s\t%s\t%s to %s\t%d\t%s\t%s\n", row, text.Percent(r.Probability), text.Percent(r.Low), text.Percent(r.High), r.N, text.Percent(r.Full), mark)
	}
	t.Flush()
}

// notes say when the number of nodes is not what limits the jobs.
func (z *Sizing) notes(l *Line, s *Size) []string {
	var notes []string
	if s.same() {
		notes = append(notes, "the runs do not differ: the scenario draws nothing at random, so that seeds change nothing and the probability is 0 or 1")
	}
	if full := s.full(); full == 0 {
		notes = append(notes, fmt.Sprintf("the workload never fills %s: not once are all map slots or all reduce slots in use", l.name(s)))
	} else if l.Nodes == 0 && full < 0.01 {
		notes = append(notes, fmt.Sprintf("the cluster is not the bottleneck: all slots of a type are in use in %s of the time", text.Percent(text.Share(full))))
	}
	if w := z.Waited; w != nil && 10*w.Free >= w.Time && w.Free > 0 {
		notes = append(notes, "the record may lack applications that took nodes: "+results.WaitText(w))
	}
	for i := range z.Lines {
		if o := &z.Lines[i]; o.Nodes == 0 && !o.Now {
			notes = append(notes, z.missedNotes(o)...)
		}
	}
	if l.Nodes == 0 {
		return notes
	}
	if s.Nodes == 1 {
		notes = append(notes, "one node is enough")
	}
	if less := l.find(s.Nodes-1, false); less != nil {
		for g := range z.Goals {
			if _, met := z.goal(less, g); met < z.Confidence {
				notes = append(notes, fmt.Sprintf("with %s a goal is missed: %s: met in %s of the runs", l.name(less), text.Escape(z.Goals[g].String()), text.Percent(text.Share(met))))
			}
		}
	}
	for i := range l.Sizes {
		o := &l.Sizes[i]
		if o.Nodes >= s.Nodes || o.Fresh {
			continue
		}
		if fresh := l.find(o.Nodes, true); fresh != nil {
			notes = append(notes, fmt.Sprintf("%s: %s with fresh seeds, which does not show %s; with a larger max_replications more runs decide", l.name(o), z.metText(fresh), text.Percent(text.Share(z.Confidence))))
		} else if p, _, _ := o.Probability(z); p >= z.Confidence {
			notes = append(notes, fmt.Sprintf("%s: %s with the seeds of the search, but a size between does not", l.name(o), z.metText(o)))
		}
	}
	return append(notes, z.Floors...)
}

// wanted says what to change where no size of a line is enough.
func (l *Line) wanted() string {
	if l.Enough > 0 {
		return fmt.Sprintf("a most_nodes above %d, since a run on %s meets the goals, or looser goals", l.largest().Nodes, text.Count(l.Enough, "node"))
	}
	return "looser goals, or other nodes: more of these would not be enough"
}

// missedNotes say which goals no size of a line meets, and what their jobs spend their
// time on at the largest.
func (z *Sizing) missedNotes(l *Line) (notes []string) {
	s := l.largest()
	_, limit := results.SharesOf(l.Limits)
	for g := range z.Goals {
		goal := &z.Goals[g]
		_, met := z.goal(s, g)
		if met >= z.Confidence {
			continue
		}
		note := fmt.Sprintf("%s: %s on %s, limit %s", text.Escape(goal.String()), z.value(s, g), l.name(s), goalValue(goal, goal.Limit()))
		if l.Load != "" {
			note += ", with " + l.loadName()
		}
		if limit != "" {
			note += "; " + limit
		}
		if l.Open != "" {
			note += "; " + l.Open
		}
		notes = append(notes, note)
	}
	return notes
}

// sizeRow is a size as JSON.
type sizeRow struct {
	Load        string       `json:"load,omitempty"`
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

func (z *Sizing) row(l *Line, s *Size) *sizeRow {
	n := len(s.Runs)
	p, low, high := s.Probability(z)
	r := &sizeRow{
		Load: text.Escape(l.Load), Type: text.Escape(l.Type), Nodes: s.Nodes, MapSlots: s.MapSlots, ReduceSlots: s.ReduceSlots, Fresh: s.Fresh,
		N: n, Met: s.Met(z.Goals), Probability: text.Share(p), Low: text.Share(low), High: text.Share(high), Full: text.Share(s.full()),
	}
	if s.Price > 0 {
		hourly, job := text.Share(s.Hourly()), text.Share(s.PerJob())
		r.Hourly, r.PerJob = &hourly, &job
	}
	for g := range z.Goals {
		_, met := z.goal(s, g)
		r.Goals = append(r.Goals, text.Share(met))
	}
	return r
}

// lineRow is a line as JSON.
type lineRow struct {
	Load   string          `json:"load"`
	Type   string          `json:"node"`
	Now    bool            `json:"as_it_is"`
	Nodes  int             `json:"nodes"` // 0: no size is enough
	Shown  *sizeRow        `json:"size"`  // the answer with fresh seeds, or the largest
	Limits []results.Limit `json:"limits"`
}

// WriteJSON writes the answer and all sizes as one JSON object.
func (z *Sizing) WriteJSON(w io.Writer) error {
	l := z.shown()
	var answer *sizeRow
	if z.Answer >= 0 {
		answer = z.row(l, l.shown())
	}
	var sizes []*sizeRow
	var lines []lineRow
	for i := range z.Lines {
		l := &z.Lines[i]
		for k := range l.Sizes {
			sizes = append(sizes, z.row(l, &l.Sizes[k]))
		}
		limits, _ := results.SharesOf(l.Limits)
		lines = append(lines, lineRow{text.Escape(l.Load), text.Escape(l.Type), l.Now, l.Nodes, z.row(l, l.best()), text.Listed(limits)})
	}
	return resultdir.WriteJSON(w, struct {
		Schema     string      `json:"schema"`
		Lowest     string      `json:"lowest"`
		Confidence text.Share  `json:"confidence"`
		Answer     *sizeRow    `json:"answer"`
		Error      SizingError `json:"error"`
		Lines      []lineRow   `json:"offers"`
		Sizes      []*sizeRow  `json:"sizes"`
		Notes      []string    `json:"notes"`
	}{sizingSchema, z.Lowest, text.Share(z.Confidence), answer, z.Error, lines, sizes, text.Listed(z.notes(l, l.shown()))})
}
