package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/calibrate"
)

// benching holds the flags of platform bench.
type benching struct {
	output
	seed     uint64
	fidelity string
	row      float64
	grid     string
	set      []string
}

func benchCommand(a *app) *cobra.Command {
	k := &benching{}
	c := &cobra.Command{
		Use:   "bench PLATFORM",
		Short: "Run the platform model's microbenchmarks on a simulated cluster",
		Long: `Run the microbenchmarks of Zhang, Cherkasova and Loo on five simulated workers.
PLATFORM is a shipped platform or a file. 30 jobs measure all phases; 15 larger
jobs measure the shuffle only. The result is a platform profile, a table with
the columns phase,row,data_mb,duration_ms, which fit and calibrate read.

The rows have no random noise. Tasks with the same data differ only because they
take turns at disks, network and processors.`,
		Example: "  slotwave platform bench dl145-g3 --out my-profile.csv\n  slotwave platform fit my-profile.csv --heap 700m",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.bench(args[0], k) },
	}
	f := c.Flags()
	k.output.flags(c, "`FILE` for the profile (default standard output)", "replace an existing file", "", "print nothing but the profile")
	f.Uint64Var(&k.seed, "seed", 1, "master seed of all random numbers")
	f.StringVar(&k.fidelity, "fidelity", "device", "source of task times: phase or device")
	f.Float64Var(&k.row, "row", platform.BenchmarkRow, "bytes per row; costs depend on records as well as on bytes")
	f.StringVar(&k.grid, "grid", "", gridUsage)
	f.StringArrayVar(&k.set, "set", nil, "`KEY=VALUE` to set in zhang-shuffle-break, the scenario that defines the cluster")
	return c
}

func (a *app) bench(platform string, k *benching) error {
	bed, err := openTestbed(platform, k.fidelity, k.grid, k.seed, k.set)
	if err != nil {
		return err
	}
	profile, err := bed.Profile(k.row)
	if err != nil {
		return err
	}
	if k.out == "" {
		return study.Internal(profile.Write(a.data()))
	}
	if err := keepFile(k.out, k.force, profile.Write); err != nil {
		return err
	}
	if !k.quiet {
		rows := 0
		for _, p := range profile {
			rows += len(p.Rows)
		}
		fmt.Fprintf(a.stdout, "%d rows of %d phases in %s; without random noise\n", rows, len(profile), printable(k.out))
	}
	return a.next(&k.output, "platform", "fit", k.out)
}

const gridUsage = "`FILE` with benchmarks to run instead of the paper's, one per row: mb_per_map, selectivity, maps, reduces"

// openTestbed opens the test cluster with the benchmarks of a file, or the paper's.
func openTestbed(platform, fidelity, grid string, seed uint64, settings []string) (*calibrate.Testbed, error) {
	bed, err := calibrate.OpenTestbed(platform, fidelity, seed, settings...)
	if err == nil && grid != "" {
		err = bed.ReadGrid(grid)
	}
	return bed, err
}
