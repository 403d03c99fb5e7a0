package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/workload"
)

// fitting are the flags of fit.
type fitting struct {
	out                string
	json, quiet, force bool
	options            platform.FitOptions
	heap               string
	expect             platform.BreakSetup
	tasks              []string
}

func (a *app) fitCommand() *cobra.Command {
	k := &fitting{}
	c := &cobra.Command{
		Use:   "fit PROFILE.csv",
		Short: "Fit a platform model to measured phases",
		Long: `Fit the platform model to a platform profile, a table with the columns
phase,row,data_mb,duration_ms: a robust line per phase, or two where the phase may
have two and its rows show them. With --heap the shuffle is tested for the break
to which the configuration leads.

--tasks names tables of the same tasks with what they did; phases that depend on
records and spills are then fitted too, and both are shown on runs that were left
out of their fit.

--json prints the platform as predict --platform-model reads it; --out writes it
with a table and pictures of the fit.`,
		Example: "  slotwave fit profile.csv\n  slotwave fit profile.csv --heap 700m --out out/platform",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.fit(args[0], k) },
	}
	f := c.Flags()
	f.StringVar(&k.out, "out", "", "directory of the results")
	f.BoolVar(&k.json, "json", false, "print the platform as JSON instead of text")
	f.BoolVar(&k.quiet, "quiet", false, "print nothing")
	f.BoolVar(&k.force, "force", false, "write into a directory that holds other files")
	o := &k.options
	f.StringVar(&o.Robust.Weight, "weight", "bisquare", "weight function: "+strings.Join(fit.Weights(), ", "))
	f.BoolVar(&o.Robust.NonNegative, "non-negative", false, "no line falls or starts below 0")
	f.BoolVar(&o.Robust.Leverage, "leverage", false, "count residuals by the leverage of their rows")
	f.BoolVar(&o.EqualSpread, "equal-spread", false, "take all rows of a phase to scatter alike, as the paper does")
	f.StringSliceVar(&o.TwoLines, "two-lines", []string{"merge", "shuffle"}, "phases that may have two lines")
	f.BoolVar(&o.Segment.Continuous, "continuous", false, "the two lines meet")
	f.Float64Var(&o.Segment.Margin, "margin", fit.DefaultMargin, "fall of the BIC from which on there are two lines")
	f.IntVar(&o.Segment.MinPoints, "min-rows", 3, "rows wanted on each side of a break")
	f.StringSliceVar(&k.tasks, "tasks", nil, "`FILES` with one measured task to a row: type, task, point or app, counters, times")
	f.StringVar(&k.heap, "heap", "", "-Xmx of a reduce, such as 700m: test the break expected in the shuffle")
	f.IntVar(&k.expect.SortFactor, "sort-factor", 10, "io.sort.factor")
	f.Float64Var(&k.expect.InBuffer, "in-buffer", 0.7, "mapred.job.shuffle.input.buffer.percent")
	f.Float64Var(&k.expect.MergeAt, "merge-at", 0.66, "mapred.job.shuffle.merge.percent")
	return c
}

func (a *app) fit(name string, k *fitting) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	profile, err := platform.ReadProfile(file)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	result := results.Fitting{Title: filepath.Base(name)}
	var fits []platform.PhaseFit
	if result.Platform, fits, err = platform.Fit(profile, k.options); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	tau, err := k.expected()
	if err != nil {
		return err
	}
	for i, f := range fits {
		p := results.FittedPhase{PhaseFit: f, Rows: profile[i].Rows}
		if f.Phase == "shuffle" && tau > 0 {
			p.Expected = chow(p.Rows, tau, k.options.Segment.Continuous)
		}
		result.Phases = append(result.Phases, p)
	}
	if err := k.terms(&result); err != nil {
		return err
	}
	if k.out != "" {
		if err := a.keepFit(name, k, &result); err != nil {
			return err
		}
	}
	return a.show(&asked{out: k.out, quiet: k.quiet, json: k.json}, result.WriteText, result.WritePlatform)
}

// terms fits the phases of measured tasks.
func (k *fitting) terms(result *results.Fitting) error {
	tasks := platform.WorkProfile{}
	for _, name := range k.tasks {
		data, err := os.ReadFile(name)
		if err == nil {
			err = tasks.ReadWork(bytes.NewReader(data))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(k.tasks) == 0 {
		return nil
	}
	for _, phase := range platform.Phases {
		rows := tasks[phase]
		m, err := platform.FitWork(phase, rows, platform.Typical)
		if err != nil {
			return err
		}
		terms, err := platform.CrossWork(phase, rows)
		if err != nil {
			return err
		}
		lines, err := platform.CrossLines(phase, rows, k.options)
		if err != nil {
			return err
		}
		measured := make([]float64, len(rows))
		for i := range rows {
			measured[i] = rows[i].MS
		}
		byLines, err := fit.Errors(measured, lines, fit.ErrorThresholds)
		if err != nil {
			return fmt.Errorf("%s: %w", phase, err)
		}
		byTerms, err := fit.Errors(measured, terms, fit.ErrorThresholds)
		if err != nil {
			return fmt.Errorf("%s: %w", phase, err)
		}
		result.Terms = append(result.Terms, results.PhaseTerms{
			Phase: phase, Rows: len(rows), Terms: m.String(), Lines: byLines.Fractions, Work: byTerms.Fractions,
		})
	}
	return nil
}

// expected is the break to which the configuration leads, MB; 0: it was not
// asked for.
func (k *fitting) expected() (float64, error) {
	if k.heap == "" {
		return 0, nil
	}
	bytes, err := workload.ParseBytes(k.heap)
	if err != nil {
		return 0, fmt.Errorf("--heap: %w", err)
	}
	k.expect.HeapMB = float64(bytes) / (1 << 20)
	b, err := platform.ExpectedBreak(k.expect)
	return b.TauMB, err
}

// chow tests the break that was expected; rows on one side of it say nothing.
func chow(rows []platform.PhaseRow, tau float64, continuous bool) *results.ExpectedBreak {
	x, y := make([]float64, len(rows)), make([]float64, len(rows))
	for i, r := range rows {
		x[i], y[i] = r.MB, r.MS
	}
	e := &results.ExpectedBreak{MB: tau}
	var err error
	if e.F, e.P, err = fit.Chow(x, y, tau, continuous); err != nil {
		e.F, e.P = math.NaN(), math.NaN()
	}
	return e
}

func (a *app) keepFit(name string, k *fitting, f *results.Fitting) error {
	d, err := results.Create(k.out, k.force)
	if err != nil {
		return err
	}
	defer d.Abort()
	a.writing.Store(d)
	if err := f.Write(d); err != nil {
		return internal(err)
	}
	var sums []results.FileSum
	for _, name := range append([]string{name}, k.tasks...) {
		sum, err := results.SumFile(name)
		if err != nil {
			return err
		}
		sums = append(sums, sum)
	}
	m := results.Manifest{Build: results.ReadBuild(version, ""), Arguments: k.arguments(name), Scenario: results.Slug(f.Title), Inputs: sums}
	a.writing.Store(nil)
	return internal(d.Commit(m))
}

// arguments repeat the fit.
func (k *fitting) arguments(name string) []string {
	o := &k.options
	args := []string{
		"fit", name, "--weight=" + o.Robust.Weight, "--two-lines=" + strings.Join(o.TwoLines, ","),
		fmt.Sprintf("--non-negative=%t", o.Robust.NonNegative), fmt.Sprintf("--leverage=%t", o.Robust.Leverage),
		fmt.Sprintf("--equal-spread=%t", o.EqualSpread), fmt.Sprintf("--continuous=%t", o.Segment.Continuous),
		fmt.Sprintf("--margin=%v", o.Segment.Margin), fmt.Sprintf("--min-rows=%d", o.Segment.MinPoints),
	}
	for _, name := range k.tasks {
		args = append(args, "--tasks="+name)
	}
	if k.heap != "" {
		args = append(args, "--heap="+k.heap, fmt.Sprintf("--sort-factor=%d", k.expect.SortFactor),
			fmt.Sprintf("--in-buffer=%v", k.expect.InBuffer), fmt.Sprintf("--merge-at=%v", k.expect.MergeAt))
	}
	return args
}
