package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// benching are the flags of microbench.
type benching struct {
	out          string
	seed         uint64
	fidelity     string
	row          float64
	grid         string
	set          []string
	force, quiet bool
}

func (a *app) microbenchCommand() *cobra.Command {
	k := &benching{}
	c := &cobra.Command{
		Use:   "microbench PLATFORM",
		Short: "Run the microbenchmarks of the platform model on a simulated cluster",
		Long: `Run the microbenchmarks of Zhang, Cherkasova and Loo on five simulated workers of
a platform, shipped or a file: 30 jobs for all phases, 15 more that reach far for
the shuffle. What their tasks show is a platform profile, a table with the columns
phase,row,data_mb,duration_ms, as fit and calibrate read it.`,
		Example: "  slotwave microbench dl145-g3 --out my-profile.csv\n  slotwave fit my-profile.csv --heap 700m",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.microbench(args[0], k) },
	}
	f := c.Flags()
	f.StringVar(&k.out, "out", "", "`FILE` of the profile (default: standard output)")
	f.Uint64Var(&k.seed, "seed", 1, "seed of everything random")
	f.StringVar(&k.fidelity, "fidelity", "device", "where task times come from: phase or device")
	f.Float64Var(&k.row, "row", platform.BenchmarkRow, "bytes of a row; costs follow records as much as bytes")
	f.StringVar(&k.grid, "grid", "", gridUsage)
	f.StringArrayVar(&k.set, "set", nil, "`KEY=VALUE` laid over the scenario zhang-shuffle-break, whose cluster it is")
	f.BoolVar(&k.force, "force", false, "replace a file")
	f.BoolVar(&k.quiet, "quiet", false, "print nothing but a profile without --out")
	return c
}

func (a *app) microbench(platform string, k *benching) error {
	bed, err := openTestbed(platform, k.fidelity, k.seed, k.set...)
	if err == nil {
		err = bed.take(k.grid)
	}
	if err != nil {
		return err
	}
	profile, err := bed.profile(k.row)
	if err != nil {
		return err
	}
	if k.out == "" {
		return internal(profile.Write(a.stdout))
	}
	if err := keepFile(k.out, k.force, profile.Write); err != nil {
		return err
	}
	if !k.quiet {
		rows := 0
		for _, p := range profile {
			rows += len(p.Rows)
		}
		_, err = fmt.Fprintf(a.stdout, "%d rows of %d phases in %s\n", rows, len(profile), printable(k.out))
	}
	return internal(err)
}

// keepFile writes a file that is there either whole or not at all.
func keepFile(name string, force bool, write func(io.Writer) error) error {
	if isFile(name) && !force {
		return fmt.Errorf("--out %s: is there already: want another name, or --force", name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // is gone once it is renamed
	err = errors.Join(write(f), f.Chmod(0o644), f.Sync(), f.Close())
	return cmp.Or(err, os.Rename(f.Name(), name))
}

// testbed is the cluster on which Zhang, Cherkasova and Loo ran their benchmarks,
// or another one, and the benchmarks.
type testbed struct {
	model.WhatIf
	first, far []platform.GridPoint // for all phases, and for the shuffle alone
}

const gridUsage = "`FILE` with other benchmarks, one to a row: mb_per_map, selectivity, maps, reduces"

// take replaces the benchmarks by those of a table, if there is one.
func (b *testbed) take(file string) error {
	if file == "" {
		return nil
	}
	data, err := os.Open(file)
	if err != nil {
		return err
	}
	defer data.Close()
	b.far = nil
	if b.first, err = platform.ReadGrid(data); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// openTestbed takes the cluster from the scenario of their benchmark.
func openTestbed(machine, fidelity string, seed uint64, settings ...string) (*testbed, error) {
	if fidelity != model.Phase.String() && fidelity != model.Device.String() {
		return nil, fmt.Errorf("--fidelity %s: want phase or device", fidelity)
	}
	var err error
	if isFile(machine) {
		machine, err = filepath.Abs(machine)
	} else {
		_, err = scenarios.Platform(machine)
	}
	if err != nil {
		return nil, err
	}
	settings = append([]string{"cluster.platform=" + workload.TOMLText(machine), "fidelity=" + workload.TOMLText(fidelity)}, settings...)
	f, err := scenarios.Open("zhang-shuffle-break", settings...)
	if err != nil {
		return nil, err
	}
	s, err := f.Scenario(seed)
	if err != nil {
		return nil, err
	}
	q := s.Runs[0].Question
	q.Cluster.Replication = 3
	bed := &testbed{WhatIf: q}
	bed.first, bed.far = platform.Grids()
	return bed, nil
}

// job asks for one job, with all else as the paper had it.
func (b *testbed) job(j workload.Job, p model.Program) model.WhatIf {
	q := b.WhatIf
	var own workload.Conf
	own.Set("dfs.block.size", "67108864")
	own.Set("dfs.replication", "3")
	own.Set("io.sort.mb", "100")
	j.ID, j.Program = "bench", "bench"
	j.Conf = q.Jobs[0].Conf.Over(own).Over(j.Conf)
	p.Name = j.Program
	q.Jobs, q.Programs = []workload.Job{j}, []model.Program{p}
	return q
}

// profile runs the microbenchmarks on rows of so many bytes.
func (b *testbed) profile(row float64) (platform.Profile, error) {
	if !(row >= 1 && row <= 1<<20) {
		return nil, fmt.Errorf("--row %v: want 1 byte to 1 MiB", row)
	}
	first := b.first
	runs := make([]observer, len(first)+len(b.far))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, point := range slices.Concat(first, b.far) {
		group.Go(func() error {
			j, p, err := point.Benchmark(row)
			if i >= len(first) { // only its shuffle is of interest
				p.Data.ReduceSizeSel, p.Data.ReduceRecsSel = 0, 0
			}
			if err == nil {
				_, err = sim.Simulator{Recorder: &runs[i]}.Predict(b.job(j, p))
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var all platform.Profile
	for i := range runs {
		for _, p := range runs[i].Profile {
			if i < len(first) || p.Phase == "shuffle" || p.Phase == platform.SortPhase {
				for _, row := range p.Rows {
					all.Add(p.Phase, row)
				}
			}
		}
	}
	return all, nil
}

// observer records what tasks show of the phases.
type observer struct{ platform.Profile }

func (o *observer) Attempt(a *workload.Attempt) { o.Observe(a) }
