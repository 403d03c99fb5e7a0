package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// profile writes or prints the profiles of recorded jobs.
func (a *app) profile(c *cobra.Command, args []string, k *conversion) error {
	var p workload.Profiler
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
		if err := a.losses(h, k.strict, k.quiet); err != nil {
			return err
		}
	}
	profiles := p.Profiles()
	if len(profiles) == 0 {
		return fmt.Errorf("%s: no recorded job found: want a trace or history with tasks", strings.Join(args, ", "))
	}
	if !k.reading.Anonymise {
		for _, x := range profiles {
			x.Source = args
		}
	}
	if k.on != "" {
		return a.programs(c, args, profiles, k)
	}
	next := slices.Concat([]string{"convert"}, args, []string{"--to", "profile", "--out", "profiles"})
	if k.out != "" {
		parts, err := profileFiles(profiles, &k.output)
		if err != nil {
			return err
		}
		if err := a.deliver(c, args, &k.output, parts, resultdir.Manifest{Scenario: "profile", Seed: 1}); err != nil {
			return err
		}
		next = []string{"validate", k.path(parts[0].Name)}
	}
	switch {
	case k.json:
		return study.Internal(trace.WriteProfilesJSON(a.data(), profiles))
	case k.quiet:
		return nil
	case k.out == "":
		for _, x := range profiles {
			if err := trace.WriteProfile(a.stdout, x); err != nil {
				return study.Internal(err)
			}
		}
	}
	return a.next(&output{}, next...)
}

// profileFiles returns a file for each profile, named after it, or one of JSON.
func profileFiles(profiles []*workload.Profile, to *output) (parts []trace.File, err error) {
	if strings.EqualFold(filepath.Ext(to.main()), ".json") {
		return []trace.File{{Name: "profiles.json", Write: func(w io.Writer) error { return trace.WriteProfilesJSON(w, profiles) }}}, nil
	}
	if to.main() != "" && len(profiles) > 1 {
		return nil, fmt.Errorf("%s: %d profiles: want a directory, or .json", to.main(), len(profiles))
	}
	return filesByJob(profiles, func(x *workload.Profile) (string, func(io.Writer) error) {
		return x.Name, func(w io.Writer) error { return trace.WriteProfile(w, x) }
	}), nil
}

// filesByJob returns a file for each job, named after it, which may not be unique.
func filesByJob[T any](jobs []T, of func(T) (name string, write func(io.Writer) error)) (parts []trace.File) {
	taken := map[string]bool{}
	for _, job := range jobs {
		name, write := of(job)
		slug := text.Slug(name)
		name = slug + ".toml"
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d.toml", slug, n)
		}
		taken[name] = true
		parts = append(parts, trace.File{Name: name, Write: write})
	}
	return parts
}
