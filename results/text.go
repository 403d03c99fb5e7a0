package results

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/slotwave/slotwave/workload"
)

// UseColour reports whether text may have colours: only on a terminal, and not
// if NO_COLOR is set (no-color.org).
func UseColour(terminal bool) bool { return terminal && os.Getenv("NO_COLOR") == "" }

// WriteText writes the summary for people.
func (s *Summary) WriteText(w io.Writer, colour bool) error {
	t := newTextWriter(w, colour)
	t.heading(s.Title)
	fmt.Fprintf(t, "%s, %s, %s, %s, fidelity %s, seed %d", count(s.Nodes, "node"), s.slotsText(), s.schedulerText(), s.releaseText(), s.Fidelity, s.Seed)
	if s.Replications > 1 {
		fmt.Fprintf(t, ", %s replications", number(int64(s.Replications)))
	}
	fmt.Fprintf(t, "\n\n")

	fmt.Fprintf(t, "makespan\t%s\n", s.Makespan.text())
	if c := s.Calibrations; c != nil {
		fmt.Fprintf(t, "interval\t%s to %s: 90 %% interval, from %d calibrations that explain the record;\n\tof jobs: low_ns and high_ns in %s\n",
			formatDuration(c.Low), formatDuration(c.High), c.N, JobsName)
	}
	if s.Replay != nil {
		fmt.Fprintf(t, "replay\t%s\n", s.Replay.text())
	}
	fmt.Fprintf(t, "jobs\t%s\n", s.jobsText())
	if s.Jobs.Mean.N > 0 {
		fmt.Fprintf(t, "job time\tmean %s, median %s, 95th percentile %s, longest %s\n",
			s.Jobs.Mean.text(), s.Jobs.Median.short(), s.Jobs.P95.short(), s.Jobs.Max.short())
	}
	if s.Deadlines != nil {
		fmt.Fprintf(t, "deadlines\t%s\n", s.Deadlines.text(s.Replications))
	}
	if len(s.Lost) > 0 {
		fmt.Fprintf(t, "trackers\t%s\n", lostText(s.Lost))
	}
	if s.LimitedBy != "" {
		fmt.Fprintf(t, "limited by\t%s\n", s.LimitedBy)
	}
	if text := s.wavesText(); text != "" {
		fmt.Fprintf(t, "waves\t%s\n", text)
	}
	if n := s.Locality.Node + s.Locality.Rack + s.Locality.Off; n > 0 {
		fmt.Fprintf(t, "locality\t%s of maps node-local, %s rack-local, %s off-rack",
			percent(s.Locality.Node, n), percent(s.Locality.Rack, n), percent(s.Locality.Off, n))
		if s.Locality.None > 0 {
			fmt.Fprintf(t, " (%s without hosts of their split)", number(s.Locality.None))
		}
		fmt.Fprintln(t)
	}
	t.Flush()

	if s.Replay != nil {
		s.Replay.table(t)
	}
	t.list("Warnings", s.Warnings)
	t.section("Slots")
	fmt.Fprintf(t, "type\tslots\tbusy\tall in use\tbusiest step\tnever used\tattempts per slot\n")
	for _, sl := range s.Slots {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s of the time\t%s\t%s\t%.1f (most: %s)\n", sl.Type, number(int64(sl.Slots)), percentOf(sl.Busy), percentOf(sl.Saturated),
			number(int64(math.Round(float64(sl.Peak)))), number(int64(sl.Slots-sl.Used)), float64(sl.PerSlot), number(int64(sl.MostPer)))
	}
	t.Flush()

	t.section("Attempts")
	fmt.Fprintf(t, "kind\tattempts\tfailed\tkilled\tmean\tmedian\t95th pct\tlongest\tslot time lost\n")
	for _, k := range s.Kinds {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.Kind, number(k.Attempts), number(k.Failed), number(k.Killed),
			k.length(k.Mean), k.length(k.Median), k.length(k.P95), k.length(k.Max), percent(k.LostTime, k.SlotTime))
	}
	t.Flush()

	t.section("Share of slot time by phase")
	s.phaseTable(t)
	t.Flush()

	if len(s.Slowest) > 1 && s.Replications == 1 {
		t.section("Slowest jobs")
		for _, j := range s.Slowest {
			name := j.Name
			if name == j.ID {
				name = ""
			}
			fmt.Fprintf(t, "%s\t%s\t%s\n", shorten(j.ID, 32), j.text(), shorten(name, 48))
		}
		t.Flush()
	}
	if s.Deadlines != nil {
		s.Deadlines.table(t, s.Replications)
	}
	for i := range s.Groups {
		s.Groups[i].table(t)
	}
	t.list("Assumed", s.Assumptions)
	return t.done()
}

// length returns a time of the successful attempts, in words.
func (k *KindSummary) length(ns int64) string {
	if k.Succeeded == 0 {
		return "-"
	}
	return formatDuration(ns)
}

// table writes the rows of a group. Of nodes it writes those with the longest
// maps.
func (g *Group) table(t *textWriter) {
	rows, head := g.Rows, g.By+"\tjobs\tmean job time\tnode-local maps"
	if g.By == "node" {
		const most = 3
		rows, head = rows[:min(most, len(rows))], "node\tattempts\tmean map time"
		t.section("Nodes with the longest maps")
	} else {
		t.section("By " + g.By)
	}
	fmt.Fprintln(t, head+"\tslot time\tshare\tattempts lost")
	for _, r := range rows {
		name, of, local := r.Name, number(r.Attempts), ""
		if name == "" {
			name = "(none)"
		}
		if g.By != "node" {
			of, local = number(int64(r.Jobs)), "\t"
			if r.Local != nil {
				local += percentOf(*r.Local)
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s%s\t%s\t%s\t%s\n", shorten(name, 32), of, formatDuration(r.Mean), local, formatDuration(r.SlotTime), percentOf(r.Share), number(r.Lost))
	}
	t.Flush()
}

// phaseTable writes the share of each phase in the time of maps and of reduces.
func (s *Summary) phaseTable(w io.Writer) {
	var kinds []KindSummary
	for _, k := range s.Kinds {
		if k.Kind == workload.Map.String() || k.Kind == workload.Reduce.String() {
			kinds = append(kinds, k)
			fmt.Fprintf(w, "\t%s", k.Kind)
		}
	}
	fmt.Fprintln(w)
	for p := range workload.NumPhases {
		line, found := p.String(), false
		for _, k := range kinds {
			cell := "\t"
			for _, ph := range k.Phases {
				if ph.Phase == p.String() {
					cell += percentOf(ph.Share)
					found = true
				}
			}
			line += cell
		}
		if found {
			fmt.Fprintln(w, line)
		}
	}
}

func (s *Summary) releaseText() string {
	if s.Hadoop == "ideal" {
		return "ideal cluster"
	}
	return "Hadoop " + s.Hadoop
}

func (s *Summary) slotsText() string {
	var parts []string
	for _, sl := range s.Slots {
		parts = append(parts, number(int64(sl.Slots))+" "+sl.Type)
	}
	return strings.Join(parts, " and ") + " slots"
}

func (s *Summary) jobsText() string {
	text := fmt.Sprintf("%s succeeded", number(int64(s.Jobs.Succeeded)))
	if s.Jobs.Succeeded < s.Jobs.Jobs {
		text += fmt.Sprintf(", %s failed, %s killed, of %s", number(int64(s.Jobs.Failed)), number(int64(s.Jobs.Killed)), number(int64(s.Jobs.Jobs)))
	}
	return text
}

func (s *Summary) wavesText() string {
	var parts []string
	for _, x := range []struct {
		Waves
		of string
	}{{s.Jobs.MapWaves, "maps"}, {s.Jobs.ReduceWaves, "reduces"}} {
		switch {
		case x.Jobs == 1:
			parts = append(parts, fmt.Sprintf("%s of %s", number(int64(x.Max)), x.of))
		case x.Jobs > 1:
			parts = append(parts, fmt.Sprintf("%s of %s in the median job, at most %s", number(int64(x.Median)), x.of, number(int64(x.Max))))
		}
	}
	return strings.Join(parts, "; ")
}

// text formats an estimate with its interval, if there is one.
func (e *Estimate) text() string {
	if e.Low == nil {
		return e.short()
	}
	return fmt.Sprintf("%s (95 %% interval %s to %s, n = %d)", e.short(), formatDuration(*e.Low), formatDuration(*e.High), e.N)
}

func (e *Estimate) short() string { return formatDuration(e.Mean) }

// textWriter aligns tables and keeps the first error.
type textWriter struct {
	*tabwriter.Writer
	out    *bufio.Writer
	colour bool
}

func newTextWriter(w io.Writer, colour bool) *textWriter {
	out := bufio.NewWriter(w)
	return &textWriter{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0), out, colour}
}

// paint writes a whole line in a terminal colour. In a table, the colour codes
// would count as width.
func (t *textWriter) paint(code, line string) {
	t.Flush()
	if t.colour {
		line = "\x1b[" + code + "m" + line + "\x1b[0m"
	}
	fmt.Fprintln(t.out, line)
}

func (t *textWriter) heading(line string) { t.paint("1", line) }

func (t *textWriter) section(line string) {
	fmt.Fprintln(t)
	t.heading(line)
}

func (t *textWriter) list(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	t.section(title)
	for _, line := range lines {
		if title == "Warnings" {
			t.paint("33", "- "+line)
		} else {
			fmt.Fprintln(t, "- "+line)
		}
	}
}

func (t *textWriter) done() error {
	t.Flush()
	return t.out.Flush()
}

func number(n int64) string { return group(strconv.FormatInt(n, 10)) }

func percent(part, of int64) string {
	if of == 0 {
		return "0 %"
	}
	return percentOf(share(float64(part) / float64(of)))
}

func percentOf(s share) string { return strconv.FormatFloat(100*float64(s), 'f', 1, 64) + " %" }

// listed returns an empty list for nil, so that readers always find an array.
func listed[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
