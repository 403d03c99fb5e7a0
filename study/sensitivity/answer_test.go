package sensitivity

import (
	"math"
	"strings"
	"testing"
)

// Inputs with the largest certain effect come first; a run that does not end is
// the largest, and an uncertain one makes no difference.
func TestSensitivityOrder(t *testing.T) {
	base := []float64{100, 100, 100}
	s := &Sensitivity{Scenario: "s", Fidelity: "phase", Base: base, Models: []string{"herodotou"}}
	for _, c := range []struct {
		name, to string
		after    []float64
	}{
		{"speed", "0.8 times", []float64{109, 110, 111}},
		{"speed", "1.2 times", []float64{95, 95, 95}},
		{"nic_mb", "0.8 times", []float64{60, 100, 140}},
		{"reduces", "1.2 times", []float64{100, math.Inf(1), 100}},
		{"disk.write_mb", "0.8 times", []float64{130, 130, 130}},
	} {
		s.Rows = append(s.Rows, Pulled{Name: c.name, Kind: "platform", From: "1", To: c.to, Makespans: c.after})
	}
	var text strings.Builder
	if err := s.WriteText(&text, false); err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, want := range []string{
		"reduces        1     1.2 times  the job does not end", "disk.write_mb  1     0.8 times  +30.0 % ± 0.0",
		"speed          1     0.8 times  +10.0 % ± 2.5", "                     1.2 times  -5.0 % ± 0.0", "make no difference\n- nic_mb",
	} {
		next := strings.Index(text.String(), want)
		if next <= at {
			t.Errorf("%q is at %d, after %d:\n%s", want, next, at, text.String())
		}
		at = next
	}
}
