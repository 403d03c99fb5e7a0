package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/study/diagnosis"
	"github.com/slotwave/slotwave/study/report"
)

// reporting are the flags of report.
type reporting struct {
	diagnosis.Options
	output
	verify string
	play   bool
}

func reportCommand(a *app) *cobra.Command {
	k := &reporting{Options: diagnosis.Options{Budget: diagnosis.DefaultBudget}}
	c := &cobra.Command{
		Use:   "report PATH...",
		Short: "Write one HTML page that shows runs and their diagnosis",
		Long: `Write one HTML page that shows runs and their diagnosis: findings, execution
chart, ledger, devices and jobs. The page needs no network. A click on an
attempt, finding, job or part of a ledger shows it in all views.

PATH is the folder of a result or a job history; several are shown side by side.
Of a sweep, a sizing, a search of settings, a sensitivity or a run on YARN it
shows the table and the pictures.
--verify auto tests changes by simulation, as diagnose does. With --play, which
adds 7 MB, a button at each finding simulates its change on the page.`,
		Example: "  slotwave run two-jobs\n  slotwave report out/two-jobs\n  slotwave report out/one out/two --out both.html",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := verifies(&k.Options, k.verify); err != nil {
				return err
			}
			return writeReport(a, args, k)
		},
	}
	f := c.Flags()
	k.output.flags(c, "`FILE` to write (default report-NAME.html, by the name of PATH)", "replace a file that is no report", "", "print no text or warnings")
	f.BoolVar(&k.play, "play", false, "let the page simulate the change of each finding (7 MB)")
	f.StringVar(&k.verify, "verify", "off", "test changes: `auto` (if the scenario is known) or off")
	f.StringVar(&k.On, "on", "", "`SCENARIO` of a recorded run, to test changes")
	f.BoolVar(&k.Anonymise, "anonymise", false, "replace the names of users, jobs and machines")
	f.IntVar(&k.Workers, "workers", 0, "simulations at a time (0: one per core)")
	return c
}

// replaceable reports whether a file does not exist, or is a page of the generator.
func replaceable(name, generator string) bool {
	f, err := os.Open(name)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := io.ReadFull(f, head)
	return bytes.Contains(head[:n], []byte(`content="`+generator+`"`))
}

// reportName names the page of some results or histories.
func reportName(paths []string) string {
	names := []string{"report"}
	for _, path := range paths {
		if full, err := filepath.Abs(path); err == nil {
			path = full
		}
		names = append(names, filepath.Base(path))
	}
	return text.Slug(strings.Join(names, "-")) + ".html"
}

// writeReport writes the page once it is whole.
func writeReport(a *app, paths []string, k *reporting) error {
	defer collectEarly()()
	if k.Workers < 0 {
		return fmt.Errorf("--workers: got %d: want 0 or more", k.Workers)
	}
	if k.out == "" {
		k.out = reportName(paths)
		if k.Anonymise {
			k.out = "report-anonymous.html"
		}
	}
	var building func(string)
	if k.play {
		building = a.building(k.quiet)
	}
	var runs, warnings []string
	var compared string
	_, err := k.page("report", "report", func(w io.Writer) (err error) {
		if k.play && k.Anonymise {
			return errors.New("--play: the simulator needs the names that --anonymise replaces: want one of the two")
		}
		bar := a.progress("tests", 0, k.quiet)
		defer bar.end()
		k.Progress = bar.reportOf()
		runs, compared, warnings, err = report.Write(w, paths, k.Options, building)
		return err
	})
	if err != nil {
		return err
	}
	if !k.quiet {
		a.warn(warnings)
		if compared != "" {
			fmt.Fprintf(a.stdout, "%s\n\n", strings.Join(wrap(compared), "\n"))
		}
		fmt.Fprintf(a.stdout, "report in %s\n", k.out)
	}
	if len(runs) == 0 {
		return a.next(&k.output, "run", filepath.Join(paths[0], resultdir.ManifestName))
	}
	return a.next(&k.output, append([]string{"diagnose"}, runs...)...)
}
