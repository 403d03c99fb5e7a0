package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/internal/bench"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/study"
)

// measuring holds the flags of bench.
type measuring struct {
	bench.Options
	out         string
	json, force bool
}

func benchCommand(a *app) *cobra.Command {
	k := &measuring{}
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast the simulator is on this machine",
		Long: `Measure the simulator: its event list, whole clusters, devices and transfers,
what-if questions, readers of traces. Each row has the processor time, that of
a unit of work, and the memory allocated. The last column has the time of a
unit in operations of a bare priority queue (a binary heap), which is measured
first. It depends less on the machine than the times do.

Without --all, the simulated days have fewer jobs and the shuffles fewer nodes;
the command then takes about half a minute. --growth also simulates 10 to 10,000
jobs, 10,000 to 1,000,000 maps and 100 to 100,000 nodes, and prints the power of
the size with which the processor time grows: 1 is proportional.`,
		Example: "  slotwave bench\n  slotwave bench --growth\n  slotwave bench --all --growth --out speed",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return k.run(a) },
	}
	f := c.Flags()
	f.BoolVar(&k.All, "all", false, "simulate whole days and shuffles; takes minutes")
	f.BoolVar(&k.Growth, "growth", false, "also measure how the cost grows, by scheduler; takes minutes")
	f.StringVar(&k.out, "out", "", "`DIR` for bench.json, the table bench.md and pictures of the growth")
	f.BoolVar(&k.json, "json", false, "print JSON instead of text")
	f.BoolVar(&k.force, "force", false, "replace existing files")
	return c
}

// measured is the JSON of bench.
type measured struct {
	Schema  string         `json:"schema"`
	Version string         `json:"version"`
	Go      string         `json:"go"`
	System  string         `json:"system"`
	Cores   int            `json:"cores"`
	Results []bench.Result `json:"results"`
}

// run measures, and prints or writes what it took.
func (k *measuring) run(a *app) error {
	if k.out != "" {
		if err := os.MkdirAll(k.out, 0o777); err != nil {
			return fmt.Errorf("--out %s: cannot make the folder: want another name", k.out)
		}
	}
	show := func(bench.Result) {}
	var failed error
	if !k.json {
		failed = bench.WriteHead(a.stdout)
		group := ""
		show = func(r bench.Result) {
			if err := bench.WriteRow(a.stdout, &r, r.Group != group); err != nil {
				failed = err
			}
			group = r.Group
		}
	}
	all, err := bench.Run(k.Options, show)
	if err != nil {
		return study.Internal(err)
	}
	doc := measured{"slotwave/bench/1", resultdir.ReadBuild(version, "").Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, runtime.NumCPU(), all}
	if k.json {
		failed = writeJSON(a.stdout, &doc)
	}
	if failed != nil || k.out == "" {
		return study.Internal(failed)
	}
	files := map[string]func(io.Writer) error{
		"bench.json": func(w io.Writer) error { return writeJSON(w, &doc) },
		"bench.md":   func(w io.Writer) error { return bench.WriteMarkdown(w, all) },
	}
	names := []string{"bench.json", "bench.md"}
	for _, group := range bench.Growth(all) {
		name := strings.ReplaceAll(group, " ", "-") + ".svg"
		names = append(names, name)
		files[name] = func(w io.Writer) error { return bench.WriteGrowth(w, all, group) }
	}
	for _, name := range names {
		if err := keepFile(filepath.Join(k.out, name), k.force, files[name]); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
