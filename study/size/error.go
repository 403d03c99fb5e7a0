package size

import (
	"fmt"
	"math"
	"slices"

	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/text"
)

// replayErrors compares a replay with its record. The margins say how much longer than
// simulated the jobs took: by the median of the differences in either direction, and
// the job that took longest over its simulated time. It returns nil if no time is
// compared.
func replayErrors(r *results.Run) *SizingError {
	s := r.ReplaySummary()
	if s == nil || s.Jobs == 0 {
		return nil
	}
	e := &SizingError{Replay: s}
	var off []float64
	for _, row := range r.Replayed() {
		longer := float64(row.Recorded)/float64(row.Simulated) - 1
		e.Worst.Longer = max(e.Worst.Longer, longer)
		off = append(off, math.Abs(longer))
	}
	slices.Sort(off)
	e.Median.Longer = (off[(len(off)-1)/2] + off[len(off)/2]) / 2
	return e
}

// errorText writes how far the simulation may be off.
func (z *Sizing) errorText(t *text.Writer) {
	e := &z.Error
	if e.Replay == nil {
		if e.Unknown != "" {
			fmt.Fprintf(t, "error\tnot known: %s; the intervals cover the seeds only\n", text.Escape(e.Unknown))
		}
	} else {
		fmt.Fprintf(t, "replay\tof the record at its own size: %s\n", e.Replay.Text())
		if z.Answer >= 0 {
			fmt.Fprintf(t, "with error\tmedian: %s\n", e.Median.text())
			fmt.Fprintf(t, "\tworst: %s\n", e.Worst.text())
		}
	}
	if n := len(e.Calibrations); n > 0 {
		met := (&Size{Runs: e.Calibrations}).Met(z.Goals)
		fmt.Fprintf(t, "platforms\t%d of %d others that explain the record about as well meet all goals, in one run each\n", met, n)
	}
}

func (m *Margin) text() string {
	if m.Longer <= 0 {
		return "no job took longer than simulated, so the answer stays"
	}
	enough := "no size is enough"
	if m.Nodes > 0 {
		enough = text.Count(m.Nodes, "node")
	}
	return fmt.Sprintf("%s if all jobs take %s longer than simulated", enough, text.Percent(text.Share(m.Longer)))
}

// errorNotes say what the error of the replay does not cover.
func (z *Sizing) errorNotes() (notes []string) {
	if z.Error.Replay == nil {
		return nil
	}
	notes = append(notes, "the error of the replay is that of the recorded cluster: how far the simulation is off on another number or type of nodes is not known")
	for i := range z.Goals {
		if z.Goals[i].Deadlines > 0 {
			notes = append(notes, fmt.Sprintf("%s: counts deadlines, so the sizes by the errors of the replay do not tighten it", text.Escape(z.Goals[i].String())))
		}
	}
	return notes
}

// sizingErrorRow is the error as JSON.
type sizingErrorRow struct {
	Unknown      string                 `json:"unknown,omitempty"`
	Replay       *results.ReplaySummary `json:"replay"`
	Median       *marginRow             `json:"by_median_error"`
	Worst        *marginRow             `json:"by_worst_error"`
	Calibrations int                    `json:"other_calibrations"`
	Met          int                    `json:"other_calibrations_met"`
}

type marginRow struct {
	Longer text.Share `json:"longer"`
	Nodes  int        `json:"nodes"` // 0: no size is enough
}

func (z *Sizing) errorRow() sizingErrorRow {
	e := &z.Error
	r := sizingErrorRow{Unknown: text.Escape(e.Unknown), Replay: e.Replay, Calibrations: len(e.Calibrations), Met: (&Size{Runs: e.Calibrations}).Met(z.Goals)}
	if e.Replay != nil && z.Answer >= 0 {
		r.Median = &marginRow{text.Share(e.Median.Longer), e.Median.Nodes}
		r.Worst = &marginRow{text.Share(e.Worst.Longer), e.Worst.Nodes}
	}
	return r
}
