package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/workload"
)

// profiling are the flags of profile.
type profiling struct {
	by                  string
	json, strict, quiet bool
	to                  destination
}

func (a *app) profileCommand() *cobra.Command {
	k := &profiling{}
	c := &cobra.Command{
		Use:   "profile TRACE...",
		Short: "Make job profiles of recorded runs",
		Long: `Make a profile of each job that was recorded: how long its tasks took, what it
does to its data and what that costs. Runs of one job merge into one profile.
What is not recorded is left out, and listed.

TRACE is a trace, a job history, a folder of them, or the result of a simulation.
With --out the profiles are written as TOML, for profile = "..." of a job in a
scenario: one into a file, or all into a directory.`,
		Example: "  slotwave profile history/done --out profiles\n  slotwave profile trace.json.gz --by job\n  slotwave profile out/two-jobs --json",
		Args:    cobra.MinimumNArgs(1),
	}
	f := c.Flags()
	f.StringVar(&k.by, "by", "name", "runs that make one profile: those of one job `name`, or each job alone")
	f.BoolVar(&k.json, "json", false, "print JSON instead of text")
	f.BoolVar(&k.strict, "strict", false, "any loss is an error")
	f.BoolVar(&k.quiet, "quiet", false, "print nothing but errors")
	k.to.flags(c, "file (.toml, .json) or directory of the profiles")
	c.RunE = func(c *cobra.Command, args []string) error { return a.profile(c, args, k) }
	return c
}

func (a *app) profile(c *cobra.Command, args []string, k *profiling) error {
	p := workload.Profiler{}
	switch k.by {
	case "name":
	case "job":
		p.Key = func(j *workload.HistoryJob) string { return j.ID }
	default:
		return fmt.Errorf("--by %s: want name or job", k.by)
	}
	problems, err := workload.ReadOptions{}.Each(recordings(args), func(j *workload.HistoryJob) error { p.Add(j); return nil })
	if err != nil {
		return err
	}
	if err := a.losses(problems, 0, k.strict, k.quiet); err != nil {
		return err
	}
	profiles := p.Profiles()
	if len(profiles) == 0 {
		return fmt.Errorf("%s: no recorded job: want a trace or history with tasks", strings.Join(args, ", "))
	}
	for _, x := range profiles {
		x.Source = args
	}
	if k.to.out != "" {
		parts, err := profileFiles(profiles, &k.to)
		if err != nil {
			return err
		}
		if err := a.deliver(c, args, &k.to, parts, results.Manifest{Scenario: "profile", Seed: 1}); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	switch {
	case k.quiet:
		return nil
	case k.json:
		err = workload.WriteProfilesJSON(a.stdout, profiles)
	default:
		for _, x := range profiles {
			err = cmp.Or(err, workload.WriteProfileText(&text, x))
		}
		io.WriteString(a.stdout, printable(text.String()))
	}
	return internal(err)
}

// profileFiles is a file for each profile, named after it.
func profileFiles(profiles []*workload.Profile, to *destination) ([]part, error) {
	if strings.EqualFold(filepath.Ext(to.main()), ".json") {
		return []part{{"profiles.json", func(w io.Writer) error { return workload.WriteProfilesJSON(w, profiles) }}}, nil
	}
	if to.main() != "" && len(profiles) > 1 {
		return nil, fmt.Errorf("%s: %d profiles: want a directory, or .json", to.main(), len(profiles))
	}
	var parts []part
	taken := map[string]bool{}
	for _, p := range profiles {
		slug := results.Slug(p.Name)
		name := slug + ".toml"
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d.toml", slug, n)
		}
		taken[name] = true
		parts = append(parts, part{name, func(w io.Writer) error { return workload.WriteProfile(w, p) }})
	}
	return parts, nil
}
