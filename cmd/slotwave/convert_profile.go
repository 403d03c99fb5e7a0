package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// profile writes or prints the profiles of recorded jobs, or the statistics of one.
func (a *app) profile(c *cobra.Command, args []string, k *conversion) error {
	p := workload.Profiler{Spill: true}
	defer p.Close()
	switch k.per {
	case "name":
	case "job":
		p.Key = func(*workload.HistoryJob) string { return "" }
	default:
		return fmt.Errorf("--per %s: want name or job", k.per)
	}
	if k.on != "" && (k.json || strings.EqualFold(filepath.Ext(k.main()), ".json")) {
		return errors.New("--on cannot write JSON: want no --json, and a .toml file or a directory for --out")
	}
	histories, err := study.Histories(args)
	if err != nil {
		return err
	}
	for _, paths := range histories {
		h, err := k.reading.Each(paths, func(j *workload.HistoryJob) error { p.Add(j); return nil })
		if err != nil {
			return err
		}
		if err := a.losses(h.Problems, h.Dropped, k.strict, k.quiet); err != nil {
			return err
		}
	}
	if p.Len() == 0 {
		return fmt.Errorf("%s: no recorded job found: want a trace or history with tasks", strings.Join(args, ", "))
	}
	each := func(f func(*workload.Profile) error) error {
		return p.Each(func(x *workload.Profile) error {
			if !k.reading.Anonymise {
				x.Source = args
			}
			return f(x)
		})
	}
	if k.on != "" {
		return a.programs(c, args, each, k)
	}
	if k.format == "statistics" {
		return a.statistics(c, args, each, p.Len(), k)
	}
	next := slices.Concat([]string{"convert"}, args, []string{"--to", "profile", "--out", "profiles"})
	if k.out != "" {
		parts, stop, err := profileFiles(each, p.Len(), &k.output)
		if err != nil {
			return err
		}
		defer stop()
		if err := a.deliver(c, args, &k.output, parts, resultdir.Manifest{Scenario: "profile", Seed: 1}); err != nil {
			return err
		}
		next = []string{"validate", k.path(parts[0].Name)}
	}
	switch {
	case k.quiet && !k.json:
		return nil
	case k.json:
		return study.Internal(trace.WriteProfilesJSON(a.data(), each))
	}
	var text bytes.Buffer
	err = each(func(x *workload.Profile) error {
		text.Reset()
		if err := trace.WriteProfileText(&text, x); err != nil {
			return err
		}
		_, err := io.WriteString(a.stdout, printable(text.String()))
		return err
	})
	if err != nil {
		return study.Internal(err)
	}
	return a.next(&output{}, next...)
}

// profileFiles returns a file for each profile, named after it. Write the files
// in order, once, and then call stop.
func profileFiles(each func(func(*workload.Profile) error) error, n int, to *output) (parts []trace.File, stop func(), err error) {
	if strings.EqualFold(filepath.Ext(to.main()), ".json") {
		return []trace.File{{Name: "profiles.json", Write: func(w io.Writer) error { return trace.WriteProfilesJSON(w, each) }}}, func() {}, nil
	}
	if to.main() != "" && n > 1 {
		return nil, nil, fmt.Errorf("%s: %d profiles: want a directory, or .json", to.main(), n)
	}
	var failed error
	next, stop := iter.Pull(func(yield func(*workload.Profile) bool) {
		failed = each(func(x *workload.Profile) error {
			if !yield(x) {
				return errStopped
			}
			return nil
		})
	})
	write := func(w io.Writer) error {
		x, ok := next()
		if !ok {
			return failed
		}
		return trace.WriteProfile(w, x)
	}
	names := fileNames{}
	err = each(func(x *workload.Profile) error {
		parts = append(parts, trace.File{Name: names.next(x.Name), Write: write})
		return nil
	})
	return parts, stop, err
}

// fileNames holds the names already used for profiles.
type fileNames map[string]bool

// next returns an unused file name for a job, whose name may not be unique.
func (taken fileNames) next(job string) string {
	slug := text.Slug(job)
	name := slug + ".toml"
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d.toml", slug, n)
	}
	taken[name] = true
	return name
}

// errStopped ends the iteration over profiles early.
var errStopped = errors.New("no more profiles are wanted")

// statistics writes or prints the statistics of Herodotou's report for the only profile.
func (a *app) statistics(c *cobra.Command, args []string, each func(func(*workload.Profile) error) error, profiles int, k *conversion) error {
	if profiles != 1 {
		return fmt.Errorf("--to statistics: got %s: want one (--job chooses)", workload.Counted(profiles, "profile", "profiles"))
	}
	return each(func(p *workload.Profile) error {
		var out bytes.Buffer
		assumed, err := analytic.StatisticsOf(&out, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		if !k.quiet {
			for _, text := range assumed {
				fmt.Fprintf(a.stderr, "assumed: %s\n", printable(text))
			}
		}
		write := func(w io.Writer) error {
			_, err := out.WriteTo(w)
			return err
		}
		if k.out == "" {
			return study.Internal(write(a.data()))
		}
		return a.deliver(c, args, &k.output, []trace.File{{Name: "statistics.json", Write: write}}, resultdir.Manifest{Scenario: "statistics", Seed: 1})
	})
}
