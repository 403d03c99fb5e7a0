package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/calibrate"
	"github.com/slotwave/slotwave/workload"
)

// fitting holds the flags of fit.
type fitting struct {
	calibrate.FitOptions
	output
	set []string
}

func fitCommand(a *app) *cobra.Command {
	k := &fitting{output: output{verbose: true}}
	c := &cobra.Command{
		Use:   "fit PROFILE.csv",
		Short: "Fit a platform model to measured phases",
		Long: `Fit the platform model to a platform profile: a table with the columns
phase,row,data_mb,duration_ms. A robust line is fitted to each phase. A phase in
--two-lines gets two lines if its rows show a break. --heap computes the break
of the shuffle that the configuration implies, and tests whether the rows show
it.

--json prints the platform model for models.platform_model. --out writes the
model with a table and plots of the fit.

--weight is one of
` + strings.Join(fit.Weights(), ", ") + `.
Without it, bisquare is used, or huber with --equal-spread where bisquare loses
more than 10 % of the time of all rows.`,
		Example: "  slotwave platform fit profile.csv\n  slotwave platform fit profile.csv --heap 700m --out out/platform",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.fit(c, args[0], k) },
	}
	f := c.Flags()
	k.output.flags(c, "`DIR` for the results", forceFolder, "print the platform model as JSON instead of text", "print nothing")
	f.StringArrayVar(&k.set, "set", nil, "`KEY=VALUE` of a property of the reduce of --heap, such as io.sort.factor=100")
	o := &k.Platform
	f.StringVar(&o.Robust.Weight, "weight", "", "`FUNCTION` that weights residuals (default bisquare)")
	f.BoolVar(&o.Robust.NonNegative, "non-negative", false, "allow no negative slope or intercept")
	f.BoolVar(&o.Robust.Leverage, "leverage", false, "scale residuals by the leverage of their rows")
	f.BoolVar(&o.EqualSpread, "equal-spread", false, "assume equal variance for all rows of a phase")
	f.StringSliceVar(&o.TwoLines, "two-lines", []string{"merge", "shuffle"}, "`PHASES` that may have two lines")
	f.BoolVar(&o.Segment.Continuous, "continuous", false, "make the two lines meet")
	f.Float64Var(&o.Segment.Margin, "margin", fit.DefaultMargin, "decrease of the `BIC` that a second line needs")
	f.IntVar(&o.Segment.MinPoints, "min-rows", 3, "least `NUMBER` of rows on each side of a break")
	f.StringVar(&k.Heap, "heap", "", "test the shuffle for the break that this -Xmx implies")
	return c
}

// configure reads the properties that, with the heap, determine the break of the
// shuffle.
func (k *fitting) configure() (err error) {
	var conf workload.Conf
	for _, s := range k.set {
		key, value, _ := strings.Cut(s, "=")
		if !slices.Contains(breakProperties, workload.Canonical(key)) {
			return fmt.Errorf("--set %s: want one of %s", s, strings.Join(breakProperties, ", "))
		}
		conf.Set(key, value)
	}
	var errs [3]error
	k.Break.SortFactor, errs[0] = conf.Whole(breakProperties[0])
	k.Break.InBuffer, errs[1] = conf.Number(breakProperties[1])
	k.Break.MergeAt, errs[2] = conf.Number(breakProperties[2])
	return errors.Join(errs[:]...)
}

var breakProperties = []string{"io.sort.factor", "mapred.job.shuffle.input.buffer.percent", "mapred.job.shuffle.merge.percent"}

func (a *app) fit(c *cobra.Command, name string, k *fitting) error {
	if isDir(name) {
		return fmt.Errorf("%s: a folder: want a table of benchmarks (slotwave platform bench writes one); slotwave platform calibrate %[1]s takes a history", name)
	}
	if err := k.configure(); err != nil {
		return err
	}
	for _, phase := range k.Platform.TwoLines {
		if phases := platform.Phases[:]; !slices.Contains(phases, phase) {
			return fmt.Errorf("--two-lines: got %q: want phases, %s%s", phase, strings.Join(phases, ", "), input.DidYouMean(phase, phases))
		}
	}
	if k.Platform.Segment.MinPoints < 1 {
		return fmt.Errorf("--min-rows: got %d: want 1 or more", k.Platform.Segment.MinPoints)
	}
	result, err := calibrate.FitPlatform(name, k.FitOptions)
	if err != nil {
		return err
	}
	if !k.quiet {
		a.warn(result.Doubts())
	}
	if k.out != "" {
		read := []string{name}
		inputs, err := study.FileSums(read)
		if err != nil {
			return err
		}
		m := resultdir.Manifest{Arguments: repeating(c, read), Scenario: text.Slug(result.Title), Inputs: inputs}
		if err := a.fill(k.out, resultdir.Purpose{Verb: "platform fit", Inputs: read, Force: k.force}, m, result.Write); err != nil {
			return err
		}
	}
	next := []string{"platform", "fit", name, "--out", filepath.Join("out", text.Slug(result.Title))}
	if k.out != "" {
		next = []string{"run", "two-jobs", "--fidelity", "phase", "--set", "cluster.platform=" + filepath.Join(k.out, "platform.json")}
	}
	return a.show(&k.output, result.WriteText, result.WritePlatform, next...)
}
