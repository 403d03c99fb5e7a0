package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/diagnosis"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// targets are the formats that convert writes.
func targets() (all []trace.Format) {
	for _, f := range trace.Formats() {
		if f.Writes() {
			all = append(all, f)
		}
	}
	return append(all,
		trace.Format{Name: "profile", About: "job profiles for [[job]], TOML, or JSON in a .json"},
		trace.Format{Name: "samples", About: "records of HiTune's sampling agents, CSV"})
}

// conversion holds the flags of convert.
type conversion struct {
	output
	format, per, on, every string
	set                    []string
	seed                   uint64
	strict                 bool
	reading                scenarios.Reading
}

func convertCommand(a *app) *cobra.Command {
	k := &conversion{}
	about, names := "", []string{}
	for _, f := range targets() {
		about += fmt.Sprintf("\n  %-10s %s", f.Name, f.About)
		names = append(names, f.Name)
	}
	c := &cobra.Command{
		Use:   "convert PATH... --to FORMAT --out PATH",
		Short: "Write recorded or simulated runs in another format",
		Long: `Write traces, job histories, or the result of a simulation in another format:
` + about + `

--out is a directory, or the main file if the format has one; .gz compresses it.
Without --out, profiles are printed. --set changes the workload.`,
		Example: "  slotwave convert out/two-jobs --to jhist --out two-jobs-history\n  slotwave convert trace.json --to rumen --out ten.json --set workload.first=10",
		Args:    cobra.MinimumNArgs(1),
	}
	f := c.Flags()
	f.StringVar(&k.format, "to", "", "`FORMAT` to write")
	_ = c.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	k.output.flags(c, "`PATH` to write: a file or a directory", "replace a file, or write beside other files", "print profiles as JSON", "print errors only")
	f.StringVar(&k.name, "name", "", "`NAME` of the main file, if --out is a directory")
	_ = f.MarkHidden("name") // in manifests
	readingFlags(c, &k.reading)
	f.StringArrayVar(&k.set, "set", nil, "`KEY=VALUE` of [workload], such as workload.scale_bytes=2")
	f.StringVar(&k.per, "per", "name", "one profile per `KIND`: name or job")
	f.StringVar(&k.on, "on", "", "`SCENARIO` of the runs: estimate what maps cost a record")
	f.StringVar(&k.every, "every", "20ms,5s", "`TIMES` between samples of a thread and of a device")
	f.Uint64Var(&k.seed, "seed", 1, "master seed of all random numbers")
	f.BoolVar(&k.strict, "strict", false, "treat every loss of data as an error")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := k.check(c, names); err != nil {
			return err
		}
		if err := diagnosis.NotScenarios(args...); err != nil {
			return err
		}
		switch k.format {
		case "profile":
			return a.profile(c, args, k)
		case "samples":
			return a.samples(c, args, k)
		}
		return a.convert(c, args, k)
	}
	return c
}

// onlyFor names the formats that a flag is for.
var onlyFor = map[string][]string{
	"per": {"profile"}, "on": {"profile"}, "json": {"profile"}, "every": {"samples"},
}

// check refuses flags that the format does not use.
func (k *conversion) check(c *cobra.Command, names []string) (err error) {
	if k.format == "parquet" {
		return errors.New("--to parquet: want --to csv.gz, which pandas, R and DuckDB read")
	}
	if k.format == "" {
		return fmt.Errorf("--to is missing: want one of %s", strings.Join(names, ", "))
	}
	if old := "convert --to " + k.format; newName(old) != "" {
		return renamed(old, newName(old))
	}
	if !slices.Contains(names, k.format) {
		return fmt.Errorf("--to %q: want one of %s%s", k.format, strings.Join(names, ", "), input.DidYouMean(k.format, names))
	}
	traces := !slices.Contains([]string{"profile", "samples"}, k.format)
	c.Flags().Visit(func(f *pflag.Flag) {
		of := onlyFor[f.Name]
		if of != nil && !slices.Contains(of, k.format) || !traces && f.Name == "set" || k.format == "samples" && f.Name == "anonymise" {
			err = fmt.Errorf("--%s: has no effect on --to %s: want none", f.Name, k.format)
		}
	})
	if err == nil && traces && k.out == "" {
		err = errors.New("--out is missing: want a file or a directory")
	}
	return err
}

func (a *app) convert(c *cobra.Command, args []string, k *conversion) error {
	seed := workload.Seed(k.seed)
	shape, err := scenarios.Shaping(k.set, seed.Named("shape"))
	if err != nil {
		return err
	}
	anonymise := k.reading.Anonymise
	k.reading.Anonymise = false // after the shape
	h, err := k.reading.Open(args...)
	if err != nil {
		return err
	}
	if err := a.losses(h, k.strict, k.quiet); err != nil {
		return err
	}
	if err := h.Shape(&shape); err != nil {
		return err
	}
	if anonymise {
		h = h.Anonymise(&workload.Names{Seed: seed.Named("names")})
	}
	if release, known := model.ReleaseOf(h.Common()); known {
		h.Release = release
	}
	out, err := k.prepare(h)
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(args, ", "), err)
	}
	if err := a.losses(&workload.History{Problems: out.Lost}, k.strict, k.quiet); err != nil {
		return err
	}
	if err := a.deliver(c, args, &k.output, out.Files, resultdir.Manifest{Scenario: "convert", Seed: k.seed}); err != nil || k.quiet {
		return err
	}
	written := holdings(h)
	written.tasks -= out.Left.Tasks
	written.attempts -= out.Left.Attempts
	if _, err = fmt.Fprintf(a.stdout, "%s: %s\n", printable(k.out), written); err != nil {
		return study.Internal(err)
	}
	return a.next(&output{}, "inspect", k.out)
}

// prepare makes the files of a history in the chosen format.
func (k *conversion) prepare(h *workload.History) (trace.Output, error) {
	all := trace.Formats()
	out, err := all[slices.IndexFunc(all, func(f trace.Format) bool { return f.Name == k.format })].Write(h)
	if jobs := len(h.Jobs); err == nil && out.PerJob && k.main() != "" && jobs > 1 {
		err = fmt.Errorf("got %d jobs, one file each: want a directory for --out", jobs)
	}
	return out, err
}

// losses prints what could not be read.
func (a *app) losses(h *workload.History, strict, quiet bool) error {
	if !quiet {
		for _, p := range h.Unread {
			a.warn([]string{p.String()})
		}
	}
	err := h.Strict()
	if err == nil || strict {
		return err
	}
	if !quiet {
		a.warn(strings.Split(err.Error(), "\n"))
	}
	return nil
}
