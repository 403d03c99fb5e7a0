package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/workload"
)

func (a *app) validateCommand() *cobra.Command {
	strict := false
	c := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check files and report everything wrong with them at once",
		Long: `Check anything slotwave reads: scenarios, recorded cases, traces, job histories,
configurations, job and platform profiles, manifests. What is damaged but readable is
reported and passes, unless --strict.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var errs []error
			for _, name := range args {
				errs = append(errs, a.validate(name, strict))
			}
			return errors.Join(errs...)
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "any loss is an error")
	return c
}

func (a *app) validate(name string, strict bool) error {
	if strings.EqualFold(filepath.Ext(name), ".toml") {
		if about, err := scenarios.CheckProfile(name); about != "" {
			if err == nil {
				_, err = fmt.Fprintf(a.stdout, "%s: %s\n", printable(name), about)
			}
			return err
		}
	}
	if isScenario(name) {
		f, err := scenarios.Open(name)
		if err != nil {
			return err
		}
		s, err := f.Scenario(1)
		if err != nil {
			return err
		}
		a.warn(s.Warnings)
		if strict && len(s.Warnings) > 0 {
			return fmt.Errorf("%s: %d warnings", name, len(s.Warnings))
		}
		jobs := 0
		for _, r := range s.Runs {
			jobs += len(r.Question.Jobs)
		}
		_, err = fmt.Fprintf(a.stdout, "%s: scenario, %d runs, %d jobs\n", printable(name), len(s.Runs), jobs)
		return err
	}
	if filepath.Base(name) == results.ManifestName {
		m, err := results.ReadManifest(name)
		if err == nil {
			_, err = fmt.Fprintf(a.stdout, "%s: result of %s, %d files\n", printable(name), printable(m.Scenario), len(m.Outputs))
		}
		return err
	}
	if isProfile(name) {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		p, err := model.ReadPlatformProfile(f)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		_, err = fmt.Fprintf(a.stdout, "%s: platform profile, %d phases\n", printable(name), len(p))
		return err
	}
	h, err := workload.Open(name)
	if err != nil {
		return err
	}
	for _, p := range h.Problems {
		fmt.Fprintf(a.stderr, "warning: %s\n", printable(p.String()))
	}
	if h.Dropped > 0 {
		fmt.Fprintf(a.stderr, "warning: and %d more\n", h.Dropped)
	}
	lost := len(h.Problems) + h.Dropped
	if holdings(h) == "nothing" && lost > 0 {
		return fmt.Errorf("%s: nothing could be read: %d losses", name, lost)
	}
	if strict && lost > 0 {
		return fmt.Errorf("%s: %d losses", name, lost)
	}
	_, err = fmt.Fprintf(a.stdout, "%s: %s\n", printable(name), holdings(h))
	return err
}

// holdings says what a history holds.
func holdings(h *workload.History) string {
	var parts []string
	count := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	tasks, attempts := 0, 0
	for i := range h.Jobs {
		tasks += len(h.Jobs[i].Tasks)
		for t := range h.Jobs[i].Tasks {
			attempts += len(h.Jobs[i].Tasks[t].Attempts)
		}
	}
	count(len(h.Jobs)+len(h.Swim), "jobs")
	count(tasks, "tasks")
	count(attempts, "attempts")
	count(h.Topology.Hosts(), "machines")
	count(len(h.Site.Keys()), "properties of the cluster")
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// isScenario tells scenarios and recorded cases from traces.
func isScenario(name string) bool {
	if strings.EqualFold(filepath.Ext(name), ".toml") || slices.Contains(scenarios.List(), name) {
		return true
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<20 || !strings.EqualFold(filepath.Ext(name), ".json") {
		return false
	}
	data, err := os.ReadFile(name)
	var head struct {
		Cluster json.RawMessage `json:"cluster"`
		Runs    json.RawMessage `json:"runs"`
	}
	return err == nil && json.Unmarshal(data, &head) == nil && head.Cluster != nil && head.Runs != nil
}

// isProfile knows a platform profile by its header.
func isProfile(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	const header = "phase,row,data_mb,duration_ms"
	head := make([]byte, len(header))
	n, _ := f.Read(head)
	return string(head[:n]) == header
}
