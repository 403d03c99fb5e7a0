package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/scenarios"
)

// calibrating are the flags of calibrate.
type calibrating struct {
	platform, fidelity, out string
	seed                    uint64
	row                     float64
	grid                    string
	set                     []string
	force, quiet            bool
}

func (a *app) calibrateCommand() *cobra.Command {
	k := &calibrating{}
	c := &cobra.Command{
		Use:   "calibrate PROFILE.csv",
		Short: "Find the platform that shows a measured profile",
		Long: `Find the rates of disks and network and the costs of Hadoop with which simulated
microbenchmarks show a measured platform profile, and at fidelity device how the
rate of a disk falls with its streams. What the profile does not tell stays near
the platform that the search starts from.

Speed is a matter of scale: costs are those of a core of the platform's speed.`,
		Example: "  slotwave calibrate my-profile.csv --platform dl145-g3 --out my-platform.toml",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.calibrate(args[0], k) },
	}
	f := c.Flags()
	f.StringVar(&k.platform, "platform", "dl145-g3", "platform to start from: shipped, or a file")
	f.StringVar(&k.fidelity, "fidelity", "phase", "of the microbenchmarks: phase, or device for profiles with contention")
	f.StringVar(&k.out, "out", "", "`FILE` of the platform (.toml)")
	f.Uint64Var(&k.seed, "seed", 1, "seed of everything random")
	f.Float64Var(&k.row, "row", platform.BenchmarkRow, "bytes of a row of the measured benchmarks")
	f.StringVar(&k.grid, "grid", "", gridUsage)
	f.StringArrayVar(&k.set, "set", nil, "`KEY=VALUE` laid over the scenario zhang-shuffle-break, of whose cluster the benchmarks make use")
	f.BoolVar(&k.force, "force", false, "replace a file")
	f.BoolVar(&k.quiet, "quiet", false, "print nothing")
	return c
}

func (a *app) calibrate(name string, k *calibrating) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	measured, err := platform.ReadProfile(file)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	bed, err := openTestbed(k.platform, k.fidelity, k.seed, k.set...)
	if err == nil {
		err = bed.take(k.grid)
	}
	if err != nil {
		return err
	}
	found, err := bed.calibrate(measured, k.row)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if k.out != "" {
		write := func(w io.Writer) error {
			return scenarios.WritePlatform(w, foundPlatform(&found, filepath.Base(name), k.platform))
		}
		if err := keepFile(k.out, k.force, write); err != nil {
			return err
		}
	}
	if k.quiet {
		return nil
	}
	_, err = io.WriteString(a.stdout, printable(calibrationText(&found)))
	if err == nil && k.out != "" {
		_, err = fmt.Fprintf(a.stdout, "\nplatform in %s\n", printable(k.out))
	}
	return internal(err)
}

// calibrate looks for the machine of the testbed.
func (b *testbed) calibrate(measured platform.Profile, row float64) (platform.Calibration, error) {
	return platform.Calibrate(measured, b.Cluster.Machines[0], b.Fidelity == model.Device, func(m model.Machine) (platform.Profile, error) {
		return b.with(m).profile(row)
	})
}

// with is the testbed on other machines.
func (b *testbed) with(m model.Machine) *testbed {
	other := *b
	other.Cluster.Machines = []model.Machine{m}
	return &other
}

func calibrationText(c *platform.Calibration) string {
	var text bytes.Buffer
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "phase\tamounts\tmean off before\tafter\tworst before\tafter")
	for _, p := range c.Phases {
		fmt.Fprintf(t, "%s\t%d\t%.1f %%\t%.1f %%\t%.1f %%\t%.1f %%\n", p.Phase, p.Points,
			100*p.MeanBefore, 100*p.MeanAfter, 100*p.WorstBefore, 100*p.WorstAfter)
	}
	fmt.Fprintln(t, "\nvalue\tbefore\tafter\tstandard error")
	for i := range c.Parameters {
		k := &c.Parameters[i]
		known := fmt.Sprintf("%.1f %%", 100*k.Error)
		if !k.Determined() {
			known = "not told by the profile alone"
		}
		fmt.Fprintf(t, "%s\t%.4g\t%.4g\t%s\n", k.Name, inUnit(k.Name, k.Start), inUnit(k.Name, k.Found), known)
	}
	t.Flush()
	for _, names := range c.Joint {
		fmt.Fprintf(&text, "\nTold only together: %s\n", strings.Join(names, ", "))
	}
	fmt.Fprintf(&text, "\n%d runs of the benchmarks\n", c.Runs)
	return text.String()
}

// inUnit is a value in the unit of its key in a platform file.
func inUnit(key string, v float64) float64 {
	if strings.HasSuffix(key, "_mb") {
		return v / 1e6
	}
	return v
}

// platform is the machine that was found, as a file about it says where its
// values come from.
func foundPlatform(c *platform.Calibration, profile, start string) *model.Machine {
	m := c.Machine
	m.Title += ", calibrated"
	m.Source = []string{"slotwave calibrate: benchmarks on this platform show the profile " + profile}
	m.Assumed = nil
	for _, key := range []string{"cores", "speed", "memory", "jvm.start", "jvm.heap_part"} {
		m.Assumed = append(m.Assumed, key+": as in "+start+"; the profile does not depend on it")
	}
	for i := range c.Parameters {
		if k := &c.Parameters[i]; !k.Determined() {
			m.Assumed = append(m.Assumed, k.Name+": the profile tells it only together with others; near to that of "+start)
		}
	}
	return &m
}
