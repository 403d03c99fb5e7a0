package results

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// WriteText writes the summary for people.
func (s *Summary) WriteText(w io.Writer, colour bool) error {
	t := text.NewWriter(w, colour)
	t.Heading(s.Title)
	fmt.Fprintf(t, "%s, %s, %s, %s, fidelity %s, seed %d", text.Count(s.Nodes, "node"), s.capacityText(), s.schedulerText(), s.releaseText(), s.Fidelity, s.Seed)
	if s.Replications > 1 {
		fmt.Fprintf(t, ", %s replications", text.Number(int64(s.Replications)))
	}
	fmt.Fprintf(t, "\n\n")

	makespan := s.Makespan.text()
	if c := s.Calibrations; c != nil {
		fmt.Fprintf(t, "answer\t%s, %s to %s (90 %% interval): the makespan by %d machines that explain the record, each corrected by what it misses of it; of jobs: low_ns and high_ns in %s\n",
			text.Duration(c.Mean), text.Duration(c.Low), text.Duration(c.High), c.N, JobsName)
		makespan += " by the one of them that explains it best, not corrected; so is all that follows"
	}
	fmt.Fprintf(t, "makespan\t%s\n", makespan)
	if i := s.Interval; i != nil {
		label, answer := "interval", fmt.Sprintf("%s to %s: 90 %% interval, by", text.Duration(i.Low), text.Duration(i.High))
		if i.N > 1 {
			label = "answer"
			answer = fmt.Sprintf("%s, %s to %s (90 %% interval): the makespan of %d runs, between which equal tasks swap their times, and",
				text.Duration(i.Mean), text.Duration(i.Low), text.Duration(i.High), i.N)
		}
		fmt.Fprintf(t, "%s\t%s the errors of the replay and of such questions; of jobs: low_ns and high_ns in %s\n", label, answer, JobsName)
	}
	if s.Replay != nil {
		fmt.Fprintf(t, "replay\t%s\n", s.Replay.Text())
	}
	fmt.Fprintf(t, "jobs\t%s\n", s.jobsText())
	switch {
	case s.Jobs.Jobs == 1 && s.Jobs.Mean.N == 1:
		fmt.Fprintf(t, "job time\t%s\n", s.Jobs.Mean.text())
	case s.Jobs.Mean.N > 0:
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
			text.PercentOf(s.Locality.Node, n), text.PercentOf(s.Locality.Rack, n), text.PercentOf(s.Locality.Off, n))
		if s.Locality.None > 0 {
			fmt.Fprintf(t, " (%s without hosts of their split)", text.Number(s.Locality.None))
		}
		fmt.Fprintln(t)
	}
	t.Flush()

	if s.Replay != nil {
		s.Replay.table(t)
	}
	t.List("Warnings", s.Warnings)
	if s.Containers != nil {
		s.Containers.tables(t)
	} else {
		s.slotTable(t)
	}

	t.Section("Attempts")
	fmt.Fprintf(t, "kind\tattempts\tfailed\tkilled\tmean\tmedian\t95th pct\tlongest\t%s time lost\n", s.word())
	for _, k := range s.Kinds {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.Kind, text.Number(k.Attempts), text.Number(k.Failed), text.Number(k.Killed),
			k.length(k.Mean), k.length(k.Median), k.length(k.P95), k.length(k.Max), text.PercentOf(k.LostTime, k.SlotTime))
	}
	t.Flush()

	t.Section("Share of " + s.word() + " time by phase")
	s.phaseTable(t)
	t.Flush()

	if len(s.Slowest) > 1 && s.Replications == 1 {
		t.Section("Slowest jobs")
		for _, j := range s.Slowest {
			name := j.Name
			if name == j.ID {
				name = ""
			}
			fmt.Fprintf(t, "%s\t%s\t%s\n", text.Shorten(j.ID, 32), j.text(), text.Shorten(name, 48))
		}
		t.Flush()
	}
	spillTable(t, s.Spills)
	if s.Deadlines != nil {
		s.Deadlines.table(t, s.Replications)
	}
	for i := range s.Groups {
		s.Groups[i].table(t, s.word())
	}
	t.List("Assumed", s.Assumptions)
	return t.Done()
}

// slotTable writes the use of each type of slot.
func (s *Summary) slotTable(t *text.Writer) {
	t.Section("Slots")
	fmt.Fprintf(t, "type\tslots\tbusy\tall in use\tbusiest step\tnever used\tattempts per slot\n")
	for _, sl := range s.Slots {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s of the time\t%s\t%s\t%.1f (most: %s)\n", sl.Type, text.Number(int64(sl.Slots)), text.Percent(sl.Busy), text.Percent(sl.Saturated),
			text.Number(int64(math.Round(float64(sl.Peak)))), text.Number(int64(sl.Slots-sl.Used)), float64(sl.PerSlot), text.Number(int64(sl.MostPer)))
	}
	t.Flush()
}

// tables writes the use of the cluster and of its queues.
func (c *ContainerSummary) tables(t *text.Writer) {
	t.Section("Containers")
	fmt.Fprintf(t, "granted\tgiven back\tmemory in use\tof ApplicationMasters\treserved\tvcores in use\n")
	fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", text.Number(int64(c.Containers)), text.Number(int64(c.Unused)), text.Percent(c.Memory), text.Percent(c.Masters), text.Percent(c.Reserved), text.Percent(c.Cores))
	t.Flush()
	t.Section("Queues (memory as a share of the cluster)")
	fmt.Fprintf(t, "queue\tguaranteed\tmaximum\tin use\tbusiest step\tcontainers\tapplications\twaiting\n")
	for _, q := range c.Queues {
		least, most := "", ""
		if q.Maximum != nil {
			least, most = text.Percent(*q.Guaranteed), text.Percent(*q.Maximum)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%.1f\t%.1f\n", text.Shorten(q.Queue, 32), least, most, text.Percent(q.Memory), text.Percent(q.Peak), text.Number(int64(q.Containers)), q.Running, q.Waiting)
	}
	t.Flush()
}

// word names what a task runs in.
func (s *Summary) word() string {
	if s.Containers != nil {
		return "container"
	}
	return "slot"
}

// length returns a time of the successful attempts, in words.
func (k *KindSummary) length(ns int64) string {
	if k.Succeeded == 0 {
		return "-"
	}
	return text.Duration(ns)
}

// table writes the rows of a group. Of nodes it writes those with the longest
// maps.
func (g *Group) table(t *text.Writer, word string) {
	rows, head := g.Rows, g.By+"\tjobs\tmean job time\tnode-local maps"
	if g.By == "node" {
		const most = 3
		rows, head = rows[:min(most, len(rows))], "node\tattempts\tmean map time"
		t.Section("Nodes with the longest maps")
	} else {
		t.Section("By " + g.By)
	}
	fmt.Fprintln(t, head+"\t"+word+" time\tshare\tattempts lost")
	for _, r := range rows {
		name, of, local := r.Name, text.Number(r.Attempts), ""
		if name == "" {
			name = "(none)"
		}
		if g.By != "node" {
			of, local = text.Number(int64(r.Jobs)), "\t"
			if r.Local != nil {
				local += text.Percent(*r.Local)
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s%s\t%s\t%s\t%s\n", text.Shorten(name, 32), of, text.Duration(r.Mean), local, text.Duration(r.SlotTime), text.Percent(r.Share), text.Number(r.Lost))
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
					cell += text.Percent(ph.Share)
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

func (s *Summary) capacityText() string {
	if c := s.Containers; c != nil {
		return fmt.Sprintf("%s, %s vcores", memoryText(c.MemoryMiB), text.Number(c.VCores))
	}
	var parts []string
	for _, sl := range s.Slots {
		parts = append(parts, text.Number(int64(sl.Slots))+" "+sl.Type)
	}
	return strings.Join(parts, " and ") + " slots"
}

func (s *Summary) jobsText() string {
	line := fmt.Sprintf("%s succeeded", text.Number(int64(s.Jobs.Succeeded)))
	if s.Jobs.Succeeded < s.Jobs.Jobs {
		line += fmt.Sprintf(", %s failed, %s killed, of %s", text.Number(int64(s.Jobs.Failed)), text.Number(int64(s.Jobs.Killed)), text.Number(int64(s.Jobs.Jobs)))
	}
	return line
}

func (s *Summary) wavesText() string {
	var parts []string
	for _, x := range []struct {
		Waves
		of string
	}{{s.Jobs.MapWaves, "maps"}, {s.Jobs.ReduceWaves, "reduces"}} {
		switch {
		case x.Jobs == 1:
			parts = append(parts, fmt.Sprintf("%s of %s", text.Number(int64(x.Max)), x.of))
		case x.Jobs > 1:
			parts = append(parts, fmt.Sprintf("%s of %s in the median job, at most %s", text.Number(int64(x.Median)), x.of, text.Number(int64(x.Max))))
		}
	}
	return strings.Join(parts, "; ")
}

// text formats an estimate with its interval, if there is one.
func (e *Estimate) text() string {
	if e.Low == nil {
		return e.short()
	}
	return fmt.Sprintf("%s (95 %% interval %s to %s, n = %d)", e.short(), text.Duration(*e.Low), text.Duration(*e.High), e.N)
}

func (e *Estimate) short() string { return text.Duration(e.Mean) }
