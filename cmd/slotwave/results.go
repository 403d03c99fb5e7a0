package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload/trace"
)

// output says what a verb prints, and where it writes. Verbs have the flags of it that
// they need.
type output struct {
	out, name   string // name is that of the main file if out is a folder
	force       bool
	json, quiet bool
	verbose     bool
	shortens    bool     // leaves out columns that a screen has no room for: --verbose prints them
	lines       int      // that the text has room for; 0: any number
	rest        string   // what the sections below the first two hold, if only -v prints them
	asked       []string // how the titles of sections begin that are printed nonetheless
}

// flags are --out, --force, --json and --quiet with what they do; empty: no such flag.
func (o *output) flags(c *cobra.Command, out, force, json, quiet string) {
	f := c.Flags()
	if out != "" {
		f.StringVar(&o.out, "out", "", out)
	}
	for _, b := range []struct {
		to          *bool
		name, usage string
	}{{&o.force, "force", force}, {&o.json, "json", json}, {&o.quiet, "quiet", quiet}} {
		if b.usage != "" {
			f.BoolVar(b.to, b.name, false, b.usage)
		}
	}
}

// What flags of several verbs do.
const (
	forceFolder = "write into a directory that already holds other files"
	forJSON     = "print JSON instead of text"
)

func build() resultdir.Build { return resultdir.ReadBuild(version, "") }

// begin makes the folder of a result. It is removed if the program is interrupted.
func (a *app) begin(out string, p resultdir.Purpose) (*resultdir.Dir, error) {
	d, err := resultdir.Create(out, p)
	if err == nil {
		a.writing.Store(d)
	}
	return d, err
}

// end writes the last files of a result and completes it with its manifest.
func (a *app) end(d *resultdir.Dir, m resultdir.Manifest, writes ...func(resultdir.Target) error) error {
	for _, write := range writes {
		if err := write(d); err != nil {
			return study.Internal(err)
		}
	}
	m.Build = build()
	a.writing.Store(nil)
	return study.Internal(d.Commit(m))
}

// fill makes the folder of a result with its files.
func (a *app) fill(out string, p resultdir.Purpose, m resultdir.Manifest, write func(resultdir.Target) error) error {
	d, err := a.begin(out, p)
	if err != nil {
		return err
	}
	defer d.Abort()
	return a.end(d, m, write)
}

// logged writes the clock and the machine.
func logged(began time.Time) func(resultdir.Target) error {
	return func(d resultdir.Target) error {
		return d.Write(resultdir.LogName, func(w io.Writer) error { return study.WriteLog(w, began) })
	}
}

// purpose is that of the result of a study. It is not to replace files that the study
// reads.
func purpose(s *study.Study, verb string, force bool, read ...string) resultdir.Purpose {
	for _, in := range s.Scenario.Inputs {
		if in.Data == nil {
			read = append(read, in.Name)
		}
	}
	return resultdir.Purpose{Verb: verb, Inputs: read, Force: force}
}

// keepFile writes a file completely or not at all. One that exists is kept unless force.
func keepFile(name string, force bool, write func(io.Writer) error) error {
	switch info, err := os.Stat(name); {
	case err == nil && info.IsDir():
		return fmt.Errorf("--out %s: is a folder: want a file", name)
	case err == nil && !force:
		return fmt.Errorf("--out %s: file exists: want another name, or --force", name)
	}
	return resultdir.WriteFile(name, 0o666, write)
}

// namesPage refuses names of a flag that no HTML page can have.
func namesPage(flag, name, verb string) error {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return fmt.Errorf("%s: got %s: a folder: want a file, such as %s", flag, name, filepath.Join(name, verb+".html"))
	}
	if ext := strings.ToLower(filepath.Ext(name)); ext != "" && ext != ".html" && ext != ".htm" {
		return fmt.Errorf("%s %s: %s writes an HTML page: want a name that ends in .html", flag, name, verb)
	}
	return nil
}

// page writes an HTML page once it is whole, in place of a page of the same verb or,
// forced, of any file. It returns the size.
func (to *output) page(verb, what string, write func(io.Writer) error) (bytes int, err error) {
	if err := namesPage("--out", to.out, verb); err != nil {
		return 0, err
	}
	if !to.force && !replaceable(to.out, "slotwave "+verb) {
		return 0, fmt.Errorf("--out %s: the file exists and is no %s: name another, or replace it with --force", to.out, what)
	}
	var page strings.Builder
	if err := write(&page); err != nil {
		return 0, err
	}
	return page.Len(), resultdir.WriteFile(to.out, 0o666, resultdir.Text(page.String()))
}

// endings are the file name endings of single files.
var endings = []string{".json", ".gz", ".toml", ".csv", ".tsv", ".jhist", ".hist"}

// file reports whether the output is a single file.
func (o *output) file() bool {
	if info, err := os.Stat(o.out); err == nil {
		return !info.IsDir()
	}
	return slices.Contains(endings, strings.ToLower(filepath.Ext(o.out)))
}

// main returns the name of the main file; empty: the default of the format.
func (o *output) main() string {
	if o.file() {
		return filepath.Base(o.out)
	}
	return o.name
}

// path returns where the main file is written, whose name is by default the given one.
func (o *output) path(name string) string {
	if o.file() {
		return o.out
	}
	return filepath.Join(o.out, cmp.Or(o.name, name))
}

// named renames the first file to the main name, and the others accordingly.
func (o *output) named(parts []trace.File) error {
	main := o.main()
	if main != "" && (filepath.Base(main) != main || strings.HasPrefix(main, ".") || main == resultdir.ManifestName) {
		return fmt.Errorf("--name %s: want a plain file name (no folder, no leading dot, not manifest.json)", main)
	}
	stem, _, _ := strings.Cut(main, ".")
	for i := range parts {
		p := &parts[i]
		switch {
		case main == "":
		case i == 0:
			p.Name = main
		default:
			p.Name = stem + "-" + p.Name
		}
		if write := p.Write; strings.EqualFold(filepath.Ext(p.Name), ".gz") {
			p.Write = func(w io.Writer) error { return trace.Gzip(w, write) }
		}
	}
	return nil
}

// deliver writes the files, and a manifest to make them again.
func (a *app) deliver(c *cobra.Command, args []string, to *output, parts []trace.File, m resultdir.Manifest) error {
	if err := to.named(parts); err != nil {
		return err
	}
	file := to.file()
	if file && study.IsFile(to.out) && !to.force {
		return fmt.Errorf("--out %s: file exists: want another name, or --force", to.out)
	}
	m.Build, m.Replications = build(), 1
	m.Arguments = repeating(c, args)
	if main := to.main(); main != "" {
		m.Arguments = append(m.Arguments, "--name="+main)
	}
	sums, err := study.FileSums(args)
	if err != nil {
		return err
	}
	m.Inputs = append(m.Inputs, sums...)
	if f := c.Flags().Lookup("anonymise"); f != nil && f.Changed {
		m.Anonymise()
	}
	if file {
		folder := filepath.Dir(to.out)
		m.Directory = resultdir.DirectoryFrom(folder, m.Inputs)
		stem, _, _ := strings.Cut(filepath.Base(to.out), ".")
		var files []resultdir.NamedFile
		for _, p := range parts {
			files = append(files, resultdir.NamedFile(p))
		}
		return study.Internal(resultdir.WriteFiles(folder, files, stem+"-"+resultdir.ManifestName, m))
	}
	d, err := a.begin(to.out, resultdir.Purpose{Verb: strings.Join(strings.Fields(c.CommandPath())[1:], " "), Inputs: args, Force: to.force})
	if err != nil {
		return err
	}
	defer d.Abort()
	for _, p := range parts {
		if err := d.Write(p.Name, p.Write); err != nil {
			return err
		}
	}
	return a.end(d, m)
}

// repeating lists the arguments of a verb that reads traces: those that decide on what it writes.
func repeating(c *cobra.Command, args []string) []string {
	list := append(strings.Fields(c.CommandPath())[1:], args...)
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"out", "name", "force", "quiet", "json", "workers"}, f.Name) {
			list = append(list, repeated(f)...)
		}
	})
	return list
}

// repeated are the arguments that give a flag its value.
func repeated(f *pflag.Flag) (list []string) {
	values := []string{f.Value.String()}
	if many, ok := f.Value.(pflag.SliceValue); ok {
		values = many.GetSlice()
	}
	for _, v := range values {
		list = append(list, "--"+f.Name+"="+v)
	}
	return list
}
