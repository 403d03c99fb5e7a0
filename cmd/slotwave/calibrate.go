package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
)

// calibrating holds the flags of calibrate.
type calibrating struct {
	platform, fidelity, out string
	seed                    uint64
	row                     float64
	grid                    string
	set                     []string
	force, quiet            bool
}

func calibrateCommand(a *app) *cobra.Command {
	k := &calibrating{}
	c := &cobra.Command{
		Use:   "calibrate PROFILE.csv",
		Short: "Fit device rates and CPU costs to a measured platform profile",
		Long: `Find the rates of disks and network and the CPU costs of Hadoop with which
simulated microbenchmarks reproduce a measured platform profile. At fidelity
device, also find how the rate of a disk falls with the number of its streams.
Values that the profile does not determine stay close to those of --platform.

A profile cannot separate CPU costs from the speed of a core. The costs that are
found hold for the core speed of --platform.`,
		Example: "  slotwave calibrate my-profile.csv --platform dl145-g3 --out my-platform.toml",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.calibrate(args[0], k) },
	}
	f := c.Flags()
	f.StringVar(&k.platform, "platform", "dl145-g3", "platform to start from: a shipped one or a file")
	f.StringVar(&k.fidelity, "fidelity", "phase", "source of task times: phase, or device if the profile has contention")
	f.StringVar(&k.out, "out", "", "`FILE` for the platform (.toml)")
	f.Uint64Var(&k.seed, "seed", 1, "master seed of all random numbers")
	f.Float64Var(&k.row, "row", platform.BenchmarkRow, "bytes per row of the measured benchmarks")
	f.StringVar(&k.grid, "grid", "", gridUsage)
	f.StringArrayVar(&k.set, "set", nil, "`KEY=VALUE` to set in zhang-shuffle-break, the scenario that defines the cluster")
	f.BoolVar(&k.force, "force", false, "replace an existing file")
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
	bed, err := openTestbed(k.platform, k.fidelity, k.grid, k.seed, k.set)
	if err != nil {
		return err
	}
	found, err := bed.Calibrate(measured, k.row)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if k.out != "" {
		write := func(w io.Writer) error {
			return scenarios.WritePlatform(w, study.CalibratedPlatform(&found, filepath.Base(name), k.platform))
		}
		if err := keepFile(k.out, k.force, write); err != nil {
			return err
		}
	}
	if k.quiet {
		return nil
	}
	var text strings.Builder
	study.WriteCalibration(&text, &found)
	_, err = io.WriteString(a.stdout, printable(text.String()))
	if err == nil && k.out != "" {
		_, err = fmt.Fprintf(a.stdout, "\nplatform in %s\n", printable(k.out))
	}
	return study.Internal(err)
}
