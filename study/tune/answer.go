package tune

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/study/search"
	"github.com/slotwave/slotwave/workload"
)

// tunedSchema is the first field of tuned settings in JSON.
const tunedSchema = "slotwave/tuned/1"

// tunedName is the file of tuned settings.
const tunedName = "tune.csv"

// Tuned are the settings that tune found for a job.
type Tuned struct {
	Scenario, Fidelity, Job string
	Before, After           []float64   // times of the job in pairs of runs, s
	Gain                    search.Gain // of all settings together
	Settings                []TunedSetting
	Set                     []string // what is changed, as --set takes it
	Simulations             int
	Notes                   []string
}

// TunedSetting is a setting that tune may change.
type TunedSetting struct {
	Setting string
	From    string       // value in the scenario
	To      string       // value found
	Gain    *search.Gain // of the value that the search found over From, the others unchanged; nil: it found none
	Kept    bool         // To differs from From
}

func (s *TunedSetting) verdict() string {
	if s.Gain == nil {
		return "left as it is"
	}
	return string(s.Gain.Effect())
}

type tunedRow struct {
	Setting string       `json:"setting"`
	From    string       `json:"from"`
	To      string       `json:"to"`
	Gain    *search.Gain `json:"gain,omitempty"`
	Verdict string       `json:"verdict"`
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
		Schema      string           `json:"schema"`
		Scenario    string           `json:"scenario"`
		Fidelity    string           `json:"fidelity"`
		Job         string           `json:"job"`
		Before      results.Estimate `json:"before"`
		After       results.Estimate `json:"after"`
		Gain        search.Gain      `json:"gain"`
		Verdict     search.Effect    `json:"verdict"`
		Settings    []tunedRow       `json:"settings"`
		Set         []string         `json:"set"`
		Simulations int              `json:"simulations"`
		Notes       []string         `json:"notes"`
	}{tunedSchema, text.Escape(t.Scenario), t.Fidelity, text.Escape(t.Job), search.EstimateOf(t.Before), search.EstimateOf(t.After),
		t.Gain, t.Gain.Effect(), text.Listed(t.rows()), text.Listed(t.Set), t.Simulations, text.Listed(t.Notes)})
}

// tunedColumns are the columns of tune.csv.
var tunedColumns = []string{"setting", "from", "to", "gain", "gain_low", "gain_high", "n", "verdict"}

// WriteCSV writes tune.csv: all settings together, then one by one.
func (t *Tuned) WriteCSV(w io.Writer) error {
	return workload.WriteCSV(w, tunedColumns, func(write func(...string)) {
		cells := func(r tunedRow) {
			row := []string{r.Setting, r.From, r.To, "", "", "", "", r.Verdict}
			if g := r.Gain; g != nil {
				for i, v := range []float64{g.Mean, g.Low, g.High} {
					row[3+i] = strconv.FormatFloat(v, 'f', 6, 64)
				}
				row[6] = strconv.Itoa(g.Pairs)
			}
			write(row...)
		}
		cells(tunedRow{"all", "", "", &t.Gain, string(t.Gain.Effect())})
		for _, r := range t.rows() {
			cells(r)
		}
	})
}

// Write writes tune.csv.
func (t *Tuned) Write(d resultdir.Target) error { return d.Write(tunedName, t.WriteCSV) }

// WriteText writes the gain, the settings that matter, those that do not, and how
// to run the job with them.
func (t *Tuned) WriteText(w io.Writer, colour bool) error {
	out := text.NewWriter(w, colour)
	out.Heading(fmt.Sprintf("Settings of job %s, %s at fidelity %s", text.Escape(t.Job), text.Escape(t.Scenario), t.Fidelity))
	time := func(seconds []float64) string {
		e := search.EstimateOf(seconds)
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
		case s.Gain.Effect() == search.NoDifference:
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
	if t.Gain.Effect() == search.NoDifference {
		return t.Gain.String() + ": makes no difference"
	}
	return t.Gain.String()
}
