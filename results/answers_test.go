package results

import (
	"bytes"
	"encoding/csv"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/text"
)

// swept are two models beside the simulation over four values of a key.
func swept(reference string) *Answers {
	a := &Answers{Reference: reference, Over: "reduces"}
	for i := range 4 {
		at := float64(8 * (4 - i))
		t := time.Duration(100-at) * time.Second
		for _, m := range []struct {
			name            string
			low, mean, high float64
		}{{"simulation", 1, 1, 1}, {"aria", 0.8, 0.95, 1.3}, {"waves", 0.9, 0.9, 0.9}} {
			x := Answer{Scenario: text.Share(at).String(), At: at, Prediction: model.Prediction{Model: m.name}}
			p := &x.Prediction
			p.Low, p.Mean, p.High = time.Duration(m.low*float64(t)), time.Duration(m.mean*float64(t)), time.Duration(m.high*float64(t))
			if m.name == "waves" && i == 2 {
				x.Err = errors.New("one job only")
			}
			if m.name == "aria" {
				x.Gap = []GapPart{{"stragglers", false, 3 * time.Second}, {"the model's own", false, t - p.Mean - 3*time.Second}}
			}
			a.List = append(a.List, x)
		}
	}
	return a
}

func TestSweepText(t *testing.T) {
	var b bytes.Buffer
	if err := swept("simulation").WriteText(&b, false); err != nil {
		t.Fatal(err)
	}
	golden(t, "sweep.txt", b.Bytes())
}

func TestSweepFigure(t *testing.T) {
	for _, reference := range []string{"simulation", ""} {
		var first, again bytes.Buffer
		a := swept(reference)
		if err := sweepFigure("sweep", a).WriteSVG(&first); err != nil {
			t.Fatal(err)
		}
		if err := sweepFigure("sweep", a).WriteSVG(&again); err != nil || !bytes.Equal(first.Bytes(), again.Bytes()) {
			t.Errorf("drawn again the figure differs, %v", err)
		}
		for _, want := range []string{"aria", "waves", "simulation", "reduces", "makespan (min)"} {
			if want = strings.Replace(want, "(min)", "(s)", 1); !strings.Contains(first.String(), ">"+want+"<") {
				t.Errorf("the figure does not say %q", want)
			}
		}
	}
	lines := swept("simulation").sweepLines(figure.TimeUnits[0])
	if len(lines) != 3 || len(lines[2].Points) != 3 || lines[0].Points[0].At != 8 {
		t.Errorf("lines %+v", lines)
	}
}

// The parts of a gap stand in predictions.csv and add up to it.
func TestGapRows(t *testing.T) {
	a := swept("simulation")
	a.Over = ""
	var b bytes.Buffer
	if err := a.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	gaps := slices.DeleteFunc(rows, func(r []string) bool { return r[2] != "gap" })
	if len(gaps) != 8 || gaps[0][7] != "3000000000" || gaps[0][12] != "stragglers" {
		t.Errorf("%q", gaps)
	}
	b.Reset()
	if err := a.WriteText(&b, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Why simulation differs", "from aria", "stragglers       +3.00 s", "together         +3.40 s"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text does not say %q:\n%s", want, b.String())
		}
	}
}

func TestAbove(t *testing.T) {
	a := swept("simulation")
	if got := a.Above(0.07); len(got) != 3 || got[0] != "32, waves: -10.0 %" {
		t.Errorf("above 7 %%: %q", got)
	}
	if got := a.Above(0.2); got != nil {
		t.Errorf("above 20 %%: %q", got)
	}
}
