package calibrate

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/sync/errgroup"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
)

// A Testbed is the cluster of Zhang, Cherkasova and Loo, or another one, with its
// benchmarks.
type Testbed struct {
	model.WhatIf
	all, shuffleOnly []platform.GridPoint // benchmarks of every phase, and of the shuffle alone
}

// ReadGrid replaces the benchmarks by those of a table.
func (b *Testbed) ReadGrid(file string) error {
	data, err := os.Open(file)
	if err != nil {
		return err
	}
	defer data.Close()
	b.shuffleOnly = nil
	if b.all, err = platform.ReadGrid(data); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// OpenTestbed opens the test cluster of the scenario zhang-shuffle-break with
// machines of a platform, which is shipped or in a file.
func OpenTestbed(machine, fidelity string, seed uint64, settings ...string) (*Testbed, error) {
	if fidelity != model.Phase.String() && fidelity != model.Device.String() {
		return nil, fmt.Errorf("--fidelity %s: want phase or device", fidelity)
	}
	_, err := scenarios.Platform(machine)
	if err == nil && study.IsFile(machine) {
		machine, err = filepath.Abs(machine)
	}
	if err != nil {
		return nil, err
	}
	settings = append([]string{
		"cluster.platform=" + workload.TOMLText(machine), "fidelity=" + workload.TOMLText(fidelity),
		`conf."dfs.block.size"=67108864`, `conf."dfs.replication"=3`, `conf."io.sort.mb"=100`,
	}, settings...)
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
	bed := &Testbed{WhatIf: q}
	bed.all, bed.shuffleOnly = platform.Grids()
	return bed, nil
}

// Job returns the question about one job. Everything else is as in the paper.
func (b *Testbed) Job(j workload.Job, p model.Program) model.WhatIf {
	q := b.WhatIf
	j.ID, j.Program = "bench", "bench"
	j.Conf = q.Jobs[0].Conf.Over(j.Conf)
	p.Name = j.Program
	q.Jobs, q.Programs = []workload.Job{j}, []model.Program{p}
	return q
}

// Profile runs the microbenchmarks on rows of the given bytes.
func (b *Testbed) Profile(row float64) (platform.Profile, error) {
	if !(row >= 1 && row <= 1<<20) {
		return nil, fmt.Errorf("--row %v: want 1 byte to 1 MiB", row)
	}
	first := b.all
	runs := make([]observer, len(first)+len(b.shuffleOnly))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, point := range slices.Concat(first, b.shuffleOnly) {
		group.Go(func() error {
			j, p, err := point.Benchmark(row)
			if i >= len(first) { // only its shuffle is used
				p.Data.ReduceSizeSel, p.Data.ReduceRecsSel = 0, 0
			}
			if err == nil {
				_, err = sim.Simulator{Recorder: &runs[i]}.Predict(b.Job(j, p))
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

// Calibrate finds the machine whose simulated benchmarks show the measured
// profile.
func (b *Testbed) Calibrate(measured platform.Profile, row float64) (platform.Calibration, error) {
	return platform.Calibrate(measured, b.Cluster.Machines[0], b.Fidelity == model.Device, func(m model.Machine) (platform.Profile, error) {
		return b.on(m).Profile(row)
	})
}

// on returns the testbed on other machines.
func (b *Testbed) on(m model.Machine) *Testbed {
	other := *b
	other.Cluster.Machines = []model.Machine{m}
	return &other
}

// CalibratedPlatform returns the machine that was found, with where its values
// come from, for a platform file.
func CalibratedPlatform(c *platform.Calibration, profile, start string) *model.Machine {
	m := c.Machine
	m.Title += ", calibrated"
	m.Source = []string{"slotwave platform calibrate: simulated benchmarks on this platform reproduce the profile " + profile}
	m.Assumed = nil
	for _, key := range []string{"cores", "speed", "memory", "jvm.start", "jvm.heap_part"} {
		m.Assumed = append(m.Assumed, key+": as in "+start+"; the profile does not depend on it")
	}
	for i := range c.Parameters {
		if k := &c.Parameters[i]; !k.Determined() {
			m.Assumed = append(m.Assumed, k.Name+": the profile determines it only jointly with others; kept close to that of "+start)
		}
	}
	return &m
}

// writeParameters writes the values that a calibration found from a source, such
// as a profile.
func writeParameters(w io.Writer, c *platform.Calibration, source string) {
	fmt.Fprintln(w, "\nvalue\tbefore\tafter\tstandard error")
	for i := range c.Parameters {
		k := &c.Parameters[i]
		known := fmt.Sprintf("%.1f %%", 100*k.Error)
		if !k.Determined() {
			known = "not determined by the " + source + " alone"
		}
		fmt.Fprintf(w, "%s\t%.4g\t%.4g\t%s\n", k.Name, inUnit(k.Name, k.Start), inUnit(k.Name, k.Found), known)
	}
}

// WriteCalibration writes what a calibration found, and how well the profile
// determines it.
func WriteCalibration(w io.Writer, c *platform.Calibration) error {
	var text bytes.Buffer
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "phase\tpoints\tmean error before\tafter\tlargest error before\tafter")
	for _, p := range c.Phases {
		fmt.Fprintf(t, "%s\t%d\t%.1f %%\t%.1f %%\t%.1f %%\t%.1f %%\n", p.Phase, p.Points,
			100*p.MeanBefore, 100*p.MeanAfter, 100*p.WorstBefore, 100*p.WorstAfter)
	}
	writeParameters(t, c, "profile")
	t.Flush()
	for _, names := range c.Joint {
		fmt.Fprintf(&text, "\nDetermined only jointly: %s\n", strings.Join(names, ", "))
	}
	fmt.Fprintf(&text, "\n%d runs of the benchmarks\n", c.Runs)
	_, err := text.WriteTo(w)
	return err
}

// inUnit returns a value in the unit of its key in a platform file.
func inUnit(key string, v float64) float64 {
	if strings.HasSuffix(key, "_mb") {
		return v / 1e6
	}
	return v
}
