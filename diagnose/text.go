package diagnose

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// width of the terminal that the text is written for.
const width = 80

// shownChanges limits the text that fits a screen, shownFindings and shownJobs the whole
// text; the files are complete.
const (
	shownChanges  = 4
	shownFindings = 10
	shownJobs     = 5
)

// Text writes the diagnosis for a terminal of 80 columns. Unless all is wanted, it has the
// first changes, each once, and the ledger of one job.
func (d *Diagnosis) Text(w io.Writer, all bool) error {
	var b strings.Builder
	line(&b, 0, d.Conclusion())
	findings, jobs := d.Findings[:min(shownFindings, len(d.Findings))], d.Jobs
	if !all {
		findings = d.firstChanges()
		if at := d.longest(); at >= 0 {
			jobs = jobs[at : at+1]
		}
	}
	if len(findings) > 0 {
		fmt.Fprintf(&b, "\n%-4s %-24s %-20s %-12s %s\n", "rule", "cause", "where", "gain", "verdict")
	}
	for _, f := range findings {
		fmt.Fprintf(&b, "%-4s %-24s %-20s %-12s %s\n", f.Rule, cut(f.Cause, 24), cut(f.where(), 20), f.gain(), f.Receipt.Outcome)
		evidence := f.Evidence
		switch {
		case len(d.Jobs) == 1:
		case f.Job == meanJob:
			evidence = "gain of the mean job: " + evidence
		case f.Receipt.Pairs > 0:
			evidence = "gain of job " + f.Job + ": " + evidence
		default:
			evidence = "job " + f.Job + ": " + evidence
		}
		line(&b, 5, evidence)
		if f.Change != nil {
			line(&b, 5, "change: "+f.Change.Text)
		}
		if f.Receipt.Note != "" {
			line(&b, 5, f.Receipt.Note)
		}
		if r := f.Receipt; r.Outcome == Confirmed && r.RealLow != r.RealHigh {
			line(&b, 5, fmt.Sprintf("on the recorded cluster: %.0f to %.0f %% in 8 of 10 cases", math.Round(100*r.RealLow)+0, math.Round(100*r.RealHigh)+0))
		}
	}
	if more := len(d.Findings) - len(findings); more > 0 && all {
		fmt.Fprintf(&b, "and %d more in findings.csv\n", more)
	}
	if len(d.Findings) > 1 && all {
		line(&b, 0, fmt.Sprintf("Order: confirmed findings by the gain of the mean job times %d for repairs of nodes, %d for limits and values outside their usual range, %.2g for other properties that the scenario sets, %.2g for the rest and %.2g for shared slots, another Hadoop, heartbeats shorter than those of the release and, if the ledger proposes them, more hardware, slots or replicas and other splits of unknown size; then untested ones by the time that they may save; then withdrawn ones.", weightRepair, weightUnusual, weightSet, weightUsual, weightBought))
	}
	if t := d.Together; t != nil && t.Pairs > 0 {
		fmt.Fprintf(&b, "all confirmed changes together: %.1f %% ± %.1f\n", 100*t.Gain, 50*(t.High-t.Low))
		if best := d.mostConfirmed(); best != nil && best.Receipt.ranked > t.ranked {
			line(&b, 0, fmt.Sprintf("This is less than %q alone, which saves %.1f %%: some of the changes act on the same time, and some fit only the run as it was. Make the first change and diagnose the new run.", best.Change.Text, 100*best.Receipt.ranked))
		}
	}
	for i := range jobs {
		if i == shownJobs {
			fmt.Fprintf(&b, "\nand %d more jobs in ledger-sums.csv\n", len(jobs)-i)
			break
		}
		jobs[i].text(&b)
		d.withoutText(&b, &jobs[i])
	}
	if d.Dataflow != nil {
		d.Dataflow.text(&b)
		d.Dataflow.useText(&b)
	}
	if len(d.Unknown) > 0 {
		fmt.Fprintln(&b, "\nnot known")
		for _, u := range d.Unknown {
			count := ""
			if u.Of > 1 {
				count = fmt.Sprintf(" (%d of %d)", u.Count, u.Of)
			} else if u.Count > 1 {
				count = fmt.Sprintf(" (%d)", u.Count)
			}
			line(&b, 2, fmt.Sprintf("%s%s: %s", u.What, count, u.Effect))
		}
	}
	if !all {
		var more []string
		if left := min(shownFindings, len(d.Findings)) - len(findings); left > 0 {
			more = append(more, workload.Counted(left, "finding", "findings"))
		}
		if left := min(shownJobs, len(d.Jobs)) - len(jobs); left > 0 {
			more = append(more, "the ledger of "+workload.Counted(left, "job", "jobs"))
		}
		if len(more) > 0 {
			fmt.Fprintf(&b, "\nmore with -v: %s\n", strings.Join(more, ", "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// longest is the place of the job that took longest, -1 if no job was read.
func (d *Diagnosis) longest() int {
	at := -1
	for i := range d.Jobs {
		if j := &d.Jobs[i]; at < 0 || j.Finish-j.Submit > d.Jobs[at].Finish-d.Jobs[at].Submit {
			at = i
		}
	}
	return at
}

// firstChanges are the first findings with changes that no finding before them has.
func (d *Diagnosis) firstChanges() (list []Finding) {
	for _, f := range d.Findings {
		known := slices.ContainsFunc(list, func(g Finding) bool {
			return g.Rule == f.Rule && g.Receipt.Outcome == f.Receipt.Outcome && (g.Change == nil) == (f.Change == nil) && (f.Change == nil || g.Change.Text == f.Change.Text)
		})
		if !known && len(list) < shownChanges {
			list = append(list, f)
		}
	}
	return list
}

// mostConfirmed is the confirmed finding that gains most, nil if there is none.
func (d *Diagnosis) mostConfirmed() (best *Finding) {
	for i := range d.Findings {
		if f := &d.Findings[i]; f.Receipt.Outcome == Confirmed && (best == nil || f.Receipt.ranked > best.Receipt.ranked) {
			best = f
		}
	}
	return best
}

// Conclusion returns the first sentence.
func (d *Diagnosis) Conclusion() string {
	confirmed, untested, tested, late := 0, 0, 0, 0
	for _, f := range d.Findings {
		if f.Receipt.Pairs > 0 {
			tested++
		}
		if f.Receipt.Note == budgetUsed {
			late++
		}
		switch f.Receipt.Outcome {
		case Confirmed:
			confirmed++
		case Untested:
			untested++
		}
	}
	switch {
	case len(d.Jobs) == 0:
		return "No job was read: the samples alone name no cause."
	case len(d.Findings) == 0:
		return "No cause found."
	case confirmed > 0:
		f := d.Findings[0]
		among := ""
		if late > 0 {
			among = fmt.Sprintf(" of those tested (the budget left %d of %d findings untested)", late, len(d.Findings))
		}
		return fmt.Sprintf("Main cause%s in %s: %s. The change %q saves %.1f %% ± %.1f.", among, d.of(&f), f.Headline(), f.Change.Text, 100*f.Receipt.Gain, 50*(f.Receipt.High-f.Receipt.Low))
	case untested > 0 && tested == 0:
		return fmt.Sprintf("Possible cause in %s: %s. No change was tested%s.", d.of(&d.Findings[0]), d.Findings[0].Headline(), d.untestedRight())
	case untested > 0:
		return fmt.Sprintf("Possible cause in %s: %s. No change was confirmed%s.", d.of(&d.Findings[0]), d.Findings[0].Headline(), d.untestedRight())
	}
	return "No change gains anything: all findings are withdrawn."
}

// untestedRight is measured on keys of the schema that are planted at random
// (docs/validation.md), with the rules of slotwave.
func (d *Diagnosis) untestedRight() string {
	if d.Findings[0].Basis == ofFile {
		return ""
	}
	return "; the first cause is right in 6 of 10 such cases"
}

// of names the jobs in which the cause of a finding was found with the same outcome.
func (d *Diagnosis) of(f *Finding) string {
	const named = 2
	jobs := []string{workload.Printable(f.Job)}
	for i := range d.Findings {
		g := &d.Findings[i]
		same := g.Rule == f.Rule && g.Node == f.Node && g.Device == f.Device && g.Receipt.Outcome == f.Receipt.Outcome
		if job := workload.Printable(g.Job); same && !slices.Contains(jobs, job) {
			jobs = append(jobs, job)
		}
	}
	switch n := len(jobs); {
	case f.Job == meanJob:
		return "the mean job"
	case n == 1:
		return "job " + jobs[0]
	case n == named:
		return "jobs " + jobs[0] + " and " + jobs[1]
	default:
		return fmt.Sprintf("jobs %s and %d more", strings.Join(jobs[:named], ", "), n-named)
	}
}

// Headline names the cause and where it is.
func (f *Finding) Headline() string {
	if where := f.where(); where != "" {
		return workload.Printable(f.Cause + " on " + where)
	}
	return workload.Printable(f.Cause)
}

func (f *Finding) where() string {
	return strings.TrimSpace(workload.Printable(f.Node + " " + f.Device))
}

func (f *Finding) gain() string {
	if f.Receipt.Pairs == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f ± %.1f %%", 100*f.Receipt.Gain, 50*(f.Receipt.High-f.Receipt.Low))
}

// text writes the ledger of one job, the largest accounts first.
func (j *JobDiagnosis) text(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s\n", cut(fmt.Sprintf("job %s: %s", workload.Printable(j.ID), seconds(j.Finish-j.Submit)), width))
	type account struct {
		name string
		of   Account
		time time.Duration
	}
	var list []account
	at := map[string]int{}
	for i := range j.Ledger {
		s := &j.Ledger[i]
		name := s.Name()
		n, known := at[name]
		if !known {
			n = len(list)
			at[name], list = n, append(list, account{name: name, of: s.Account})
		}
		list[n].time += s.To - s.From
	}
	slices.SortFunc(list, func(x, y account) int {
		return cmp.Or(cmp.Compare(y.time, x.time), cmp.Compare(x.of, y.of), cmp.Compare(x.name, y.name))
	})
	for _, a := range list {
		fmt.Fprintf(b, "  %-28s %10s %5.1f %%\n", workload.Printable(a.name), seconds(a.time), 100*a.time.Seconds()/(j.Finish-j.Submit).Seconds())
	}
	critical := 0
	for _, o := range j.Outliers {
		if o.Critical {
			critical++
		}
	}
	if len(j.Outliers) > 0 {
		fmt.Fprintf(b, "  %d outliers among tasks and phases, %d of them critical\n", len(j.Outliers), critical)
	}
	if j.Gap > 0 {
		fmt.Fprintf(b, "  the last shuffle ends %s after the last map, %.1f %% of the job\n", seconds(j.Gap), 100*j.Gap.Seconds()/(j.Finish-j.Submit).Seconds())
	}
}

// Name is the account of a step; of time that others cost at a device, with the
// kind of device; of a limit, the limit.
func (s *Step) Name() string {
	kind, _, _ := strings.Cut(deviceKind(s.Device), "-")
	if kind == "cpu" {
		kind = "CPU"
	}
	switch {
	case s.Account == schedulerLimit && s.By != "":
		return s.By
	case kind == "":
	case s.Account == deviceSharing:
		return "sharing: " + kind
	case s.Account == slowDevice:
		return "slow " + kind
	case s.Account == foreignLoad:
		return "foreign " + kind
	}
	return s.Account.String()
}

// withoutText writes what a job gains without each part of the cluster.
func (d *Diagnosis) withoutText(b *strings.Builder, j *JobDiagnosis) {
	first, above := true, false
	for _, w := range d.Without {
		if w.Job != j.ID || w.Factor != 0 {
			continue
		}
		if first {
			fmt.Fprintf(b, "  if a part took no time %10s %18s\n", "in ledger", "simulated gain")
			first = false
		}
		fmt.Fprintf(b, "  %-28s %5.1f %% %11.1f %% ± %.1f\n", w.Part, 100*w.Ledger.Seconds()/(j.Finish-j.Submit).Seconds(), 100*w.Gain, 50*(w.High-w.Low))
		above = above || w.Gain > w.Ledger.Seconds()/(j.Finish-j.Submit).Seconds()
	}
	if above {
		b.WriteString("  A gain may exceed the time in the ledger: tasks also reach an earlier\n  heartbeat, or start in another order.\n")
	}
}

// text writes how many stages were found, where the threads of each vertex were
// sampled most often, and in which state.
func (d *Dataflow) text(b *strings.Builder) {
	fmt.Fprintf(b, "\n%d of %d stages of the sampled tasks found\n", d.found, d.complete)
	fmt.Fprintf(b, "\n%-18s %-19s %-5s %6s  %s\n", "vertex", "thread", "", "share", "in most samples")
	for i := range d.shares {
		s, first := &d.shares[i], true
		for _, before := range d.shares[:i] {
			first = first && (before.vertex != s.vertex || before.class != s.class || before.kind != s.kind)
		}
		if first {
			fmt.Fprintf(b, "%-18s %-19s %-5s %4.0f %%  %s\n", cut(workload.Printable(s.vertex), 18), cutFront(workload.Printable(s.class), 19), s.kind, 100*s.share, cutFront(workload.Printable(s.name), 27))
		}
	}
}

// useText writes the mean use of devices while each vertex runs on their nodes, and the
// gap of the shuffle (HiTune, figures 14 to 16 and 18).
func (d *Dataflow) useText(b *strings.Builder) {
	if kinds, vertices := d.use(); len(kinds) > 0 {
		fmt.Fprintf(b, "\n%-17s", "use while it runs")
		for _, kind := range kinds {
			fmt.Fprintf(b, " %11s", cut(workload.Printable(kind), 11))
		}
		for _, v := range vertices {
			fmt.Fprintf(b, "\n%-17s", cut(workload.Printable(v.vertex), 17))
			for _, mean := range v.means {
				cell := "-" // no reading
				if !math.IsNaN(mean) {
					cell = fmt.Sprintf("%.3g", mean)
				}
				fmt.Fprintf(b, " %11s", cell)
			}
		}
		b.WriteByte('\n')
	}
	if g, after, before, err := d.gap(); err == nil {
		line(b, 0, fmt.Sprintf("The first phase of %s ends %.1f s after the last %s, %.1f %% of the sampled time.", after, g.Gap/1000, before, 100*g.Fraction))
	}
}

// cutFront shortens a name to n characters and keeps its end, which identifies it.
func cutFront(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return "…" + string(r[len(r)-n+1:])
}

func seconds(t time.Duration) string { return fmt.Sprintf("%.1f s", t.Seconds()) }

// cut shortens a text to n characters.
func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// line writes a text, indented, in lines of the terminal's width.
func line(b *strings.Builder, indent int, text string) {
	at := 0
	for _, word := range strings.Fields(workload.Printable(text)) {
		word = cut(word, width-indent)
		n := len([]rune(word))
		switch {
		case at == 0:
			b.WriteString(strings.Repeat(" ", indent))
			at = indent
		case at+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	b.WriteByte('\n')
}
