package results

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
)

// tunedSchema is the first field of tuned settings in JSON.
const tunedSchema = "slotwave/tuned/1"

// tunedName is the file of tuned settings.
const tunedName = "tune.csv"

// Gain is the part of the time that a change saves, as the mean over pairs of runs
// with common seeds and its 95 % interval (Student's t).
type Gain struct {
	Mean  float64 `json:"mean"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Pairs int     `json:"n"`
}

// NewGain compares the times of pairs of runs, two or more.
func NewGain(before, after []float64) Gain {
	gains := make([]float64, len(before))
	for i := range gains {
		gains[i] = 1
		if !math.IsInf(before[i], 1) { // the job does not succeed
			gains[i] -= after[i] / before[i]
		}
	}
	mean, half := fit.StudentInterval(gains)
	return Gain{mean, mean - half, mean + half, len(gains)}
}

// Effect says what a change does to the time.
type Effect string

// The effects. A change whose interval includes 0 makes no difference.
const (
	Faster       Effect = "faster"
	Slower       Effect = "slower"
	NoDifference Effect = "makes no difference"
)

// leastGain is the gain below which times differ only by the rounding of sums.
const leastGain = 1e-9

// Effect returns the effect of the change.
func (g *Gain) Effect() Effect {
	switch {
	case g.Low > leastGain:
		return Faster
	case g.High < -leastGain:
		return Slower
	}
	return NoDifference
}

func (g *Gain) String() string {
	half := 50 * (g.High - g.Low)
	return fmt.Sprintf("%.1f %% ± %.1f", 100*g.Mean, half)
}

// Tuned are the settings that tune found for a job.
type Tuned struct {
	Scenario, Fidelity, Job string
	Before, After           []float64 // times of the job in pairs of runs, s
	Gain                    Gain      // of all settings together
	Settings                []TunedSetting
	Set                     []string // what is changed, as --set takes it
	Simulations             int
	Notes                   []string
}

// TunedSetting is a setting that tune may change.
type TunedSetting struct {
	Setting string
	From    string // value in the scenario
	To      string // value found
	Gain    *Gain  // of the value that the search found over From, the others unchanged; nil: it found none
	Kept    bool   // To differs from From
}

func (s *TunedSetting) verdict() string {
	if s.Gain == nil {
		return "left as it is"
	}
	return string(s.Gain.Effect())
}

// estimateOf returns the mean of times in seconds.
func estimateOf(seconds []float64) Estimate {
	ns := make([]float64, len(seconds))
	for i, s := range seconds {
		ns[i] = 1e9 * s
	}
	return newEstimate(ns)
}

type tunedRow struct {
	Setting string `json:"setting"`
	From    string `json:"from"`
	To      string `json:"to"`
	Gain    *Gain  `json:"gain,omitempty"`
	Verdict string `json:"verdict"`
}

func (t *Tuned) rows() []tunedRow {
	var rows []tunedRow
	for i := range t.Settings {
		s := &t.Settings[i]
		rows = append(rows, tunedRow{s.Setting, text.Escape(s.From), text.Escape(s.To), s.Gain, s.verdict()})
	}
	return rows
}

// WriteJSON writes the settings as one JSON object.
func (t *Tuned) WriteJSON(w io.Writer) error {
	return resultdir.WriteJSON(w, struct {
		Schema      string     `json:"schema"`
		Scenario    string     `json:"scenario"`
		Fidelity    string     `json:"fidelity"`
		Job         string     `json:"job"`
		Before      Estimate   `json:"before"`
		After       Estimate   `json:"after"`
		Gain        Gain       `json:"gain"`
		Verdict     Effect     `json:"verdict"`
		Settings    []tunedRow `json:"settings"`
		Set         []string   `json:"set"`
		Simulations int        `json:"simulations"`
		Notes       []string   `json:"notes"`
	}{tunedSchema, text.Escape(t.Scenario), t.Fidelity, text.Escape(t.Job), estimateOf(t.Before), estimateOf(t.After),
		t.Gain, t.Gain.Effect(), text.Listed(t.rows()), text.Listed(t.Set), t.Simulations, text.Listed(t.Notes)})
}

// tunedColumns are the columns of tune.csv.
var tunedColumns = []string{"setting", "from", "to", "gain", "gain_low", "gain_high", "n", "verdict"}

// WriteCSV writes tune.csv: all settings together, then one by one.
func (t *Tuned) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write(tunedColumns)
	cells := func(r tunedRow) {
		row := []string{r.Setting, r.From, r.To, "", "", "", "", r.Verdict}
		if g := r.Gain; g != nil {
			for i, v := range []float64{g.Mean, g.Low, g.High} {
				row[3+i] = strconv.FormatFloat(v, 'f', 6, 64)
			}
			row[6] = strconv.Itoa(g.Pairs)
		}
		out.Write(row)
	}
	cells(tunedRow{"all", "", "", &t.Gain, string(t.Gain.Effect())})
	for _, r := range t.rows() {
		cells(r)
	}
	out.Flush()
	return out.Error()
}

// Write writes tune.csv.
func (t *Tuned) Write(d resultdir.Target) error { return d.Write(tunedName, t.WriteCSV) }

// WriteText writes the gain, the settings that matter, those that do not, and how
// to run the job with them.
func (t *Tuned) WriteText(w io.Writer, colour bool) error {
	out := text.NewWriter(w, colour)
	out.Heading(fmt.Sprintf("Settings of job %s, %s at fidelity %s", text.Escape(t.Job), text.Escape(t.Scenario), t.Fidelity))
	time := func(seconds []float64) string {
		e := estimateOf(seconds)
		return fmt.Sprintf("%s ± %s", text.Duration(e.Mean), text.Duration((*e.High-*e.Low)/2))
	}
	fmt.Fprintf(out, "as in the scenario\t%s\n", time(t.Before))
	fmt.Fprintf(out, "tuned\t%s\n", time(t.After))
	fmt.Fprintf(out, "gain\t%s\n", t.gainText())
	out.Flush()
	fmt.Fprintf(out, "n = %d pairs of runs with common seeds; ± is the 95 %% interval.\n", t.Gain.Pairs)
	var matter, idle, left []string
	for i := range t.Settings {
		s := &t.Settings[i]
		switch {
		case s.Gain == nil:
			left = append(left, s.Setting)
		case s.Gain.Effect() == NoDifference:
			kept := ""
			if s.Kept {
				kept = ": " + text.ClassName(s.To) + " is kept, for several of these together make one"
			}
			idle = append(idle, s.Setting+kept)
		default:
			matter = append(matter, fmt.Sprintf("%s\t%s\t%s\t%s", s.Setting, text.ClassName(s.From), text.ClassName(s.To), s.Gain))
		}
	}
	if len(matter) > 0 {
		out.Section("Settings that matter, with the gain of each while the others are set")
		fmt.Fprintln(out, "setting\tfrom\tto\tgain")
		fmt.Fprintln(out, strings.Join(matter, "\n"))
		out.Flush()
	}
	out.List("Settings whose change alone makes no difference", idle)
	out.List("Settings for which no better value was found", left)
	out.List("Notes", t.Notes)
	if len(t.Set) > 0 {
		out.Section("To run the job with these settings, add")
		for _, s := range t.Set {
			fmt.Fprintf(out, "  --set '%s'\n", s)
		}
	}
	fmt.Fprintf(out, "\n%s\n", text.Count(t.Simulations, "simulation"))
	return out.Done()
}

func (t *Tuned) gainText() string {
	if t.Gain.Effect() == NoDifference {
		return t.Gain.String() + ": makes no difference"
	}
	return t.Gain.String()
}
