package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// targetNames lists the formats that convert writes.
func targetNames() (names []string) {
	for _, f := range trace.Formats() {
		if f.Writes() {
			names = append(names, f.Name)
		}
	}
	return names
}

// conversion holds the flags of convert.
type conversion struct {
	format            string
	first, last, fold string
	shape             workload.Shaping
	seed              uint64
	anonymise         bool
	strict, quiet     bool
	reading           scenarios.Reading
	to                destination
}

func convertCommand(a *app) *cobra.Command {
	k := &conversion{}
	about := ""
	for _, f := range trace.Formats() {
		if f.Writes() {
			about += fmt.Sprintf("\n  %-8s %s", f.Name, f.About)
		}
	}
	c := &cobra.Command{
		Use:   "convert TRACE... --to FORMAT --out PATH",
		Short: "Write recorded or simulated runs in another format",
		Long: `Write traces, job histories, or the result of a simulation in another format:
` + about + `

PATH is a directory, or the main file if the format has one. Further files and a
manifest are written next to it. A file whose name ends in .gz is compressed.
The flags cut, scale and fold traces as the keys of [workload] do.`,
		Example: "  slotwave convert out/two-jobs --to chrome --out two-jobs.json.gz\n  slotwave convert history/done --to rumen --out trace.json --anonymise\n  slotwave convert trace.json --to toml --out replay.toml --first 10 --last 20",
		Args:    cobra.MinimumNArgs(1),
	}
	f := c.Flags()
	f.StringVar(&k.format, "to", "", "`FORMAT` to write: "+strings.Join(targetNames(), ", "))
	k.to.flags(c, "`PATH` to write: a file or a directory")
	readingFlags(c, &k.reading)
	f.StringVar(&k.first, "first", "", "first job to keep: its number, or a time of submission")
	f.StringVar(&k.last, "last", "", "last job to keep: its number, or a time of submission")
	f.IntVar(&k.shape.Jobs, "jobs", 0, "largest number of jobs to keep (0: all)")
	f.Float64Var(&k.shape.ScaleJobs, "scale-jobs", 1, "factor on the number of jobs")
	f.Float64Var(&k.shape.ScaleTime, "scale-time", 1, "factor on the time between submissions")
	f.Float64Var(&k.shape.ScaleBytes, "scale-bytes", 1, "factor on bytes and records")
	f.StringVar(&k.fold, "fold", "", "overlay the cycles of a trace: `CYCLE,LENGTH[,CONCENTRATION]`, such as 24h,1h")
	f.BoolVar(&k.anonymise, "anonymise", false, "replace the names of users, jobs and machines")
	f.Uint64Var(&k.seed, "seed", 1, "master seed of all random numbers")
	f.BoolVar(&k.strict, "strict", false, "treat every loss of data as an error")
	f.BoolVar(&k.quiet, "quiet", false, "print errors only")
	c.RunE = func(c *cobra.Command, args []string) error { return a.convert(c, args, k) }
	return c
}

// check parses the flags that have a format of their own.
func (k *conversion) check() error {
	if !slices.Contains(targetNames(), k.format) {
		return fmt.Errorf("--to %q: want one of %s", k.format, strings.Join(targetNames(), ", "))
	}
	if k.to.out == "" {
		return errors.New("--out is missing: want a file or a directory")
	}
	s := &k.shape
	for _, x := range []struct {
		flag, text string
		at         *time.Duration
		number     *int
	}{{"first", k.first, &s.From, &s.First}, {"last", k.last, &s.To, &s.Last}} {
		if x.text == "" {
			continue
		}
		n, err := strconv.Atoi(x.text)
		d, err2 := time.ParseDuration(x.text)
		switch {
		case err == nil && n >= 1:
			*x.number = n
		case err2 == nil && d >= 0 && err != nil:
			*x.at = d
		default:
			return fmt.Errorf("--%s %s: want the number of a job, from 1, or a time such as 90s", x.flag, x.text)
		}
	}
	if s.To > 0 && s.To <= s.From || s.Last > 0 && s.Last < s.First {
		return fmt.Errorf("--last %s is before --first %s: want a later one", k.last, k.first)
	}
	for _, x := range []struct {
		flag  string
		value float64
	}{{"jobs", float64(s.Jobs)}, {"scale-jobs", s.ScaleJobs}, {"scale-time", s.ScaleTime}, {"scale-bytes", s.ScaleBytes}} {
		if !(x.value >= 0 && x.value <= 1e12) {
			return fmt.Errorf("--%s %v: want a number from 0 to 1e12", x.flag, x.value)
		}
	}
	if k.fold == "" {
		return nil
	}
	fields := strings.Split(k.fold, ",")
	s.Fold = &workload.Folding{Concentration: 1}
	var errs [3]error
	if len(fields) >= 2 {
		s.Fold.Cycle, errs[0] = time.ParseDuration(fields[0])
		s.Fold.Length, errs[1] = time.ParseDuration(fields[1])
	}
	if len(fields) == 3 {
		s.Fold.Concentration, errs[2] = strconv.ParseFloat(fields[2], 64)
	}
	if len(fields) < 2 || len(fields) > 3 || errors.Join(errs[:]...) != nil {
		return fmt.Errorf("--fold %s: want CYCLE,LENGTH or CYCLE,LENGTH,CONCENTRATION, such as 24h,1h", k.fold)
	}
	return nil
}

func (a *app) convert(c *cobra.Command, args []string, k *conversion) error {
	if err := k.check(); err != nil {
		return err
	}
	h, err := k.reading.Open(args...)
	if err != nil {
		return err
	}
	if err := a.losses(h.Problems, h.Dropped, k.strict, k.quiet); err != nil {
		return err
	}
	if k.format == "chrome" && len(args) == 1 && k.keepsTimes() {
		if err := study.AddDevices(h, args[0]); err != nil {
			return err
		}
	}
	seed := workload.Seed(k.seed)
	k.shape.Seed = seed.Named("shape")
	if err := h.Shape(&k.shape); err != nil {
		return err
	}
	if k.anonymise {
		h = h.Anonymise(&workload.Names{Seed: seed.Named("names")})
	}
	if release, known := model.ReleaseOf(h.Common()); known {
		h.Release = release
	}
	if k.format == "toml" {
		scenarios.Infer(h)
	}
	out, err := k.prepare(h)
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(args, ", "), err)
	}
	if err := a.losses(out.Lost, 0, k.strict, k.quiet); err != nil {
		return err
	}
	var parts []part
	for _, file := range out.Files {
		parts = append(parts, part{file.Name, file.Write})
	}
	if err := a.deliver(c, args, &k.to, parts, resultdir.Manifest{Scenario: "convert", Seed: k.seed}); err != nil || k.quiet {
		return err
	}
	written := holdings(h)
	written.tasks -= out.Left.Tasks
	written.attempts -= out.Left.Attempts
	_, err = fmt.Fprintf(a.stdout, "%s: %s\n", printable(k.to.out), written)
	return study.Internal(err)
}

// keepsTimes reports whether all jobs are kept, at their times.
func (k *conversion) keepsTimes() bool {
	s := &k.shape
	return k.first == "" && k.last == "" && s.Fold == nil && s.Jobs == 0 && s.ScaleJobs == 1 && s.ScaleTime == 1
}

// prepare makes the files of a history in the chosen format.
func (k *conversion) prepare(h *workload.History) (trace.Output, error) {
	all := trace.Formats()
	out, err := all[slices.IndexFunc(all, func(f trace.Format) bool { return f.Name == k.format })].Write(h)
	if jobs := len(h.Jobs); err == nil && out.PerJob && k.to.main() != "" && jobs > 1 {
		err = fmt.Errorf("got %d jobs, one file each: want a directory for --out", jobs)
	}
	return out, err
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// losses prints what could not be read.
func (a *app) losses(problems []workload.Problem, dropped int, strict, quiet bool) error {
	h := workload.History{Problems: problems, Dropped: dropped}
	err := h.Strict()
	if err == nil || strict {
		return err
	}
	if !quiet {
		a.warn(strings.Split(err.Error(), "\n"))
	}
	return nil
}

// destination is the output of a verb that reads traces.
type destination struct {
	out, name string
	force     bool
}

func (d *destination) flags(c *cobra.Command, about string) {
	f := c.Flags()
	f.StringVar(&d.out, "out", "", about)
	f.StringVar(&d.name, "name", "", "`NAME` of the main file, if --out is a directory")
	f.BoolVar(&d.force, "force", false, "replace a file, or write into a directory that already holds others")
}

// endings are the file name endings of single files.
var endings = []string{".json", ".gz", ".toml", ".csv", ".tsv", ".parquet", ".jhist", ".hist"}

// file reports whether the destination is a single file.
func (d *destination) file() bool {
	if info, err := os.Stat(d.out); err == nil {
		return !info.IsDir()
	}
	return slices.Contains(endings, strings.ToLower(filepath.Ext(d.out)))
}

// main returns the name of the main file; empty: the default of the format.
func (d *destination) main() string {
	if d.file() {
		return filepath.Base(d.out)
	}
	return d.name
}

// part is one file of an output.
type part struct {
	name  string
	write func(io.Writer) error
}

// named renames the first file to the main name, and the others accordingly.
func (d *destination) named(parts []part) error {
	main := d.main()
	if main != "" && (filepath.Base(main) != main || strings.HasPrefix(main, ".") || main == resultdir.ManifestName) {
		return fmt.Errorf("--name %s: want a plain file name (no folder, no leading dot, not manifest.json)", main)
	}
	stem, _, _ := strings.Cut(main, ".")
	for i := range parts {
		p := &parts[i]
		switch {
		case main == "":
		case i == 0:
			p.name = main
		default:
			p.name = stem + "-" + p.name
		}
		if write := p.write; strings.EqualFold(filepath.Ext(p.name), ".gz") {
			p.write = func(w io.Writer) error { return trace.Gzip(w, write) }
		}
	}
	return nil
}

// deliver writes the files, and a manifest to make them again.
func (a *app) deliver(c *cobra.Command, args []string, to *destination, parts []part, m resultdir.Manifest) error {
	if err := to.named(parts); err != nil {
		return err
	}
	file := to.file()
	folder := to.out
	if file {
		if isFile(to.out) && !to.force {
			return fmt.Errorf("--out %s: file exists: want another name, or --force", to.out)
		}
		folder = filepath.Join(filepath.Dir(to.out), "."+filepath.Base(to.out)+".partial")
	}
	if err := to.complete(&m, c, args); err != nil {
		return err
	}
	if file {
		m.Directory = resultdir.DirectoryFrom(filepath.Dir(to.out), m.Inputs)
	}
	d, err := resultdir.Create(folder, to.force)
	if err != nil {
		return err
	}
	defer d.Abort()
	a.writing.Store(d)
	for _, p := range parts {
		if err := d.Write(p.name, p.write); err != nil {
			return err
		}
	}
	a.writing.Store(nil)
	if err := d.Commit(m); err != nil {
		return study.Internal(err)
	}
	if !file {
		return nil
	}
	stem, _, _ := strings.Cut(filepath.Base(to.out), ".")
	for _, p := range append(parts, part{name: resultdir.ManifestName}) {
		name := p.name
		if name == resultdir.ManifestName {
			name = stem + "-" + name
		}
		err = errors.Join(err, os.Rename(filepath.Join(folder, p.name), filepath.Join(filepath.Dir(to.out), name)))
	}
	return study.Internal(errors.Join(err, os.Remove(folder)))
}

// repeating lists the arguments of a verb that reads traces: those that decide on what it writes.
func repeating(c *cobra.Command, args []string) []string {
	list := append(strings.Fields(c.CommandPath())[1:], args...)
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"out", "name", "force", "quiet", "json", "workers"}, f.Name) {
			list = append(list, "--"+f.Name+"="+f.Value.String())
		}
	})
	return list
}

// complete says what the output is made from, and how.
func (d *destination) complete(m *resultdir.Manifest, c *cobra.Command, args []string) error {
	m.Build, m.Replications = resultdir.ReadBuild(version, ""), 1
	m.Arguments = repeating(c, args)
	if main := d.main(); main != "" {
		m.Arguments = append(m.Arguments, "--name="+main)
	}
	sums, err := study.FileSums(args)
	m.Inputs = append(m.Inputs, sums...)
	return err
}
