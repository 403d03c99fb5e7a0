package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/calibrate"
	"github.com/slotwave/slotwave/study/diagnosis"
	"github.com/slotwave/slotwave/workload/trace"
)

// calibrating holds the flags of calibrate.
type calibrating struct {
	output
	platform, fidelity string
	seed               uint64
	row                float64
	grid               string
	set                []string
	reading            scenarios.Reading
	known              []string
	anonymise          bool
	brief              bool   // print progress only
	answer             string // default folder of an answer by the machine, beside it
}

// defaultStart is the platform from which a calibration starts.
const defaultStart = "dl145-g3"

func calibrateCommand(a *app) *cobra.Command {
	k := &calibrating{}
	c := &cobra.Command{
		Use:   "calibrate PROFILE.csv | STARFISH | HISTORY...",
		Short: "Find rates and costs from a platform profile or recorded jobs",
		Long: `Find the rates of disks and network and the CPU costs of Hadoop with which
simulated microbenchmarks reproduce a measured platform profile. At fidelity
device, also find how the rate of a disk falls with the number of its streams.
Values that the profile does not determine stay close to those of --platform.

A profile cannot separate CPU costs from the speed of a core. The costs that are
found hold for the core speed of --platform.

From recorded jobs (a history, a trace or a result), find the rates and the
speed with which their simulated tasks take as long as recorded, and the costs
of each job's own code. --out is then a folder for the platform, a profile of
each job and the scenario that runs the recorded jobs with them. The folder also
has 18 other machines that explain the record about as well; run simulates each
and states the mean of the answers with a 90 % interval. They differ in all that
the record does not tell: cores, disks, memory, network, Hadoop's costs. State
what you know with --know KEY=VALUE (cores, disk.count, memory, nic_mb and every
other key of the machine in the output), or in a platform FILE: what it does not
list as assumed is kept, except rates and costs.

Equal tasks of a job, of as much data, take unequal times. calibrate finds how
much the CPU times of maps and of reduces vary (map_cv, reduce_cv in a profile),
and which machines take longer than the others (cluster.slowdowns in the
scenario), with intervals, and lists where the record has too few tasks to tell.

A job profile of Starfish (XML, or a table of the same names) gives the costs of
a machine without a search. Its history, if given, has the data of its tasks.
What the profile does not hold is taken from --platform and listed as assumed.
`,
		Example: "  slotwave platform calibrate my-profile.csv --out my-platform.toml\n  slotwave platform calibrate history/done --out calibrated\n  slotwave platform calibrate profile.xml history/done --out calibrated",
		Args:    cobra.MinimumNArgs(1),
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := diagnosis.NotScenarios(args...); err != nil {
			return err
		}
		if i := slices.IndexFunc(args, calibrate.IsStarfish); i >= 0 {
			if k.anonymise {
				return errors.New("--anonymise: got a profile of Starfish: want recorded jobs only")
			}
			return a.calibrateProfile(c, args[i], slices.Delete(slices.Clone(args), i, i+1), k)
		}
		if k.reading.Format != "" || k.reading.Topology != "" || len(k.reading.Jobs) > 0 {
			return a.calibrateRuns(c, args, k)
		}
		if len(args) > 1 || isHistory(args[0]) {
			return a.calibrateRuns(c, args, k)
		}
		if k.anonymise {
			return fmt.Errorf("--anonymise: got %s, a platform profile, which holds no names: want recorded jobs", args[0])
		}
		return a.calibrate(args[0], k)
	}
	f := c.Flags()
	f.StringVar(&k.reading.Format, "format", "", "`FORMAT` of the history (default: detected)")
	jobsFlag(f, &k.reading.Jobs)
	f.StringVar(&k.reading.Topology, "topology", "", "`FILE` with the racks and machines of the history")
	f.StringVar(&k.platform, "platform", defaultStart, "platform to start from: a shipped one or a file")
	f.StringVar(&k.fidelity, "fidelity", "phase", "source of task times: phase, or device if the profile has contention")
	k.output.flags(c, "`FILE` for the platform (.toml); from recorded jobs a folder", "replace an existing file", "", "print nothing")
	f.Uint64Var(&k.seed, "seed", 1, "master seed of all random numbers")
	f.Float64Var(&k.row, "row", platform.BenchmarkRow, "bytes per row of the benchmarks")
	f.StringVar(&k.grid, "grid", "", gridUsage)
	f.StringArrayVar(&k.set, "set", nil, "`KEY=VALUE` to set in zhang-shuffle-break, the scenario that defines the cluster")
	addKnown(c, &k.known)
	addAnonymise(c, &k.anonymise)
	return c
}

// addKnown adds the flag with which a user states what is known of recorded machines.
func addKnown(c *cobra.Command, known *[]string) {
	c.Flags().StringArrayVar(known, "know", nil, "`KEY=VALUE` known of the recorded machine: cores=8")
}

// addAnonymise adds the flag with which a copy of the history with other names is asked.
func addAnonymise(c *cobra.Command, anonymise *bool) {
	c.Flags().BoolVar(anonymise, "anonymise", false, "replace names, in a copy of the history by --out")
}

// renamedHistory writes recorded jobs with other names beside a result, as convert
// does, and returns the folder. What is made of this copy, and refers to it, holds none
// of the recorded names. A copy that is there already is replaced.
func renamedHistory(c *cobra.Command, recorded []string, r *scenarios.Reading, result string, force bool) (folder string, err error) {
	folder = filepath.Clean(result) + "-history"
	if m, err := resultdir.ReadManifest(filepath.Join(folder, resultdir.ManifestName)); err == nil && m.Scenario == "convert" {
		force = true
	}
	convert, _, err := c.Root().Find([]string{"convert"})
	if err != nil {
		return "", study.Internal(err)
	}
	flags := []string{"--to=jhist", "--anonymise", "--quiet", "--out=" + folder, "--format=" + r.Format, "--topology=" + r.Topology, fmt.Sprintf("--force=%t", force)}
	if err := convert.ParseFlags(flags); err != nil {
		return "", study.Internal(err)
	}
	return folder, convert.RunE(convert, recorded)
}

// calibrateProfile makes a machine of a profile of Starfish.
func (a *app) calibrateProfile(c *cobra.Command, file string, history []string, k *calibrating) error {
	for _, flag := range []string{"row", "grid", "set", "fidelity"} {
		if c.Flags().Changed(flag) {
			return fmt.Errorf("--%s: is for a platform profile: want none with a profile of Starfish", flag)
		}
	}
	found, err := calibrate.OpenStarfish(file, history, k.reading, k.platform, k.seed)
	if err != nil {
		return err
	}
	return a.calibrated(c, append([]string{file}, history...), k, found)
}

// calibrated writes the files of a calibration and prints it.
func (a *app) calibrated(c *cobra.Command, args []string, k *calibrating, found interface {
	Files(folder string) []trace.File
	WriteText(w io.Writer) error
}) error {
	if k.out != "" {
		if k.file() {
			return fmt.Errorf("--out %s: want a folder: this calibration has several files", k.out)
		}
		if err := a.deliver(c, args, &k.output, found.Files(k.out), resultdir.Manifest{Scenario: "calibrate", Seed: k.seed}); err != nil {
			return err
		}
	}
	return a.found(k, found.WriteText, args, "calibrated", "platform, profiles and scenario", "run", filepath.Join(k.out, "scenario.toml"))
}

// found prints a calibration, and where its files are or how they are written.
func (a *app) found(k *calibrating, write func(io.Writer) error, args []string, out, files string, next ...string) error {
	if k.quiet || k.brief {
		return nil
	}
	var text strings.Builder
	write(&text)
	if k.out == "" {
		next = slices.Concat([]string{"platform", "calibrate"}, args, []string{"--out", out})
	} else {
		fmt.Fprintf(&text, "\n%s in %s\n", files, k.out)
	}
	if _, err := io.WriteString(a.stdout, printable(text.String())); err != nil {
		return study.Internal(err)
	}
	return a.next(&output{}, next...)
}

// isHistory reports whether a path holds recorded jobs.
func isHistory(name string) bool {
	file, err := trace.Detect(name)
	return err == nil && file != "" || isDir(name)
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// calibrateRuns calibrates from recorded jobs.
func (a *app) calibrateRuns(c *cobra.Command, args []string, k *calibrating) error {
	for _, flag := range []string{"row", "grid", "set"} {
		if c.Flags().Changed(flag) {
			return fmt.Errorf("--%s: is for a platform profile: want a profile, or none", flag)
		}
	}
	fidelity := k.fidelity
	if !c.Flags().Changed("fidelity") {
		fidelity = "device"
	}
	if k.anonymise {
		if k.out == "" {
			return errors.New("--anonymise: want a folder for --out")
		}
		folder, err := renamedHistory(c, args, &k.reading, k.out, k.force)
		if err != nil {
			return err
		}
		args, k.reading = []string{folder}, scenarios.Reading{}
	}
	bar := a.progress("simulations", calibrate.MostSimulations, k.quiet)
	known := calibrate.Calibrating{Start: k.platform, Fidelity: fidelity, Seed: k.seed, Progress: bar.reportOf(), Known: k.known}
	found, err := calibrate.CalibrateRuns(args, k.reading, known)
	bar.end()
	if err != nil {
		return err
	}
	return a.calibrated(c, args, k, found)
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
			return scenarios.WritePlatform(w, calibrate.CalibratedPlatform(&found, filepath.Base(name), k.platform))
		}
		if err := keepFile(k.out, k.force, write); err != nil {
			return err
		}
	}
	text := func(w io.Writer) error {
		calibrate.WriteCalibration(w, &found)
		return nil
	}
	return a.found(k, text, []string{name}, "my-platform.toml", "platform", "platform", "bench", k.out)
}
