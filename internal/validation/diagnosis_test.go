package validation

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/study/diagnosis"
)

// diagnosed simulates a shipped scenario and diagnoses one run of it without
// testing changes.
func diagnosed(t *testing.T, scenario, run string) []diagnose.Finding {
	t.Helper()
	found := runAndDiagnose(t, scenario, filepath.Join(t.TempDir(), "out"), diagnosis.Options{}, run)
	return found.Findings
}

// The cause that a paper found is among the findings, on its node and device;
// of slow disks with the rate they were given.
func TestDiagnosedCases(t *testing.T) {
	if testing.Short() {
		t.Skip("whole jobs at fidelity device")
	}
	findings := map[string][]diagnose.Finding{} // by scenario
	for _, c := range []struct {
		scenario, run      string
		rule, node, device string
		slower             float64 // of a device, within 0.03: sharing moves the rate of a sound disk as much
	}{
		{"hitune-slow-disk", "", "R16", "slow44", "disk0", 0.44},
		{"hitune-slow-disk", "", "R16", "slow30", "disk0", 0.30},
		{"sonata-foreign-load", "", "R17", "node01", "disk", 0},
		{"sonata-slow-cpu", "", "R16", "slow", "cpu", 0},
		{"hitune-small-files", "scheduler-fair1", "R15", "", "", 0},
		{"sonata-two-spills", "io-sort-mb-500", "R03", "", "", 0},
		{"hitune-codec", "map-output-compression-codec-org-apache-hadoop-io-compress-defau", "R19", "", "", 0},
	} {
		found := false
		if findings[c.scenario] == nil {
			findings[c.scenario] = diagnosed(t, c.scenario, c.run)
		}
		for _, f := range findings[c.scenario] {
			if f.Rule != c.rule || f.Node != c.node || f.Device != c.device {
				continue
			}
			found = true
			if c.slower > 0 && math.Abs(1-f.Value-c.slower) > 0.03 {
				t.Errorf("%s: %s of %s is %.1f %% slower, want %.0f", c.scenario, f.Device, f.Node, 100*(1-f.Value), 100*c.slower)
			}
		}
		if !found {
			t.Errorf("%s: no %s on %q %q", c.scenario, c.rule, c.node, c.device)
		}
	}
}
