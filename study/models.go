package study

import (
	"cmp"
	"fmt"
	"os"

	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// Models returns the analytic models with the data that the scenario states for them
// in [models].
func (s *Study) Models() ([]analytic.Predictor, error) { return ModelsWith(s.Scenario.Models) }

// ModelsWith returns the analytic models with data beyond the scenario.
func ModelsWith(k scenarios.ModelFiles) ([]analytic.Predictor, error) {
	known := analytic.Inputs{Files: map[string]analytic.File{}, Literal: k.Literal}
	for _, f := range []struct{ key, name string }{{"platform_model", k.PlatformModel}, {"statistics", k.Statistics}} {
		if f.name == "" {
			continue
		}
		data, err := os.ReadFile(f.name)
		if err != nil {
			return nil, err
		}
		known.Files[f.key] = analytic.File{Name: f.name, Data: data}
	}
	var err error
	if known.Runs, err = recordedRuns(k.History); err != nil {
		return nil, err
	}
	if k.Small != "" {
		small, err := smallRun(k.Small)
		if err != nil {
			return nil, err
		}
		known.Small = &small
	}
	return analytic.Predictors(known)
}

// smallRun reads the run of one job.
func smallRun(path string) (analytic.SmallRun, error) {
	all, err := Histories([]string{path})
	if err != nil {
		return analytic.SmallRun{}, err
	}
	h, err := trace.Open(all[0]...)
	if err == nil {
		err = h.Strict()
	}
	switch {
	case err != nil:
		return analytic.SmallRun{}, err
	case len(all) > 1 || len(h.Jobs) != 1:
		return analytic.SmallRun{}, fmt.Errorf("models.small: %s: got %d runs and %d jobs: want one run of one job", path, len(all), len(h.Jobs))
	}
	s, err := analytic.SmallRunOf(h.Attempts())
	if err != nil {
		return s, fmt.Errorf("models.small: %s: %w", path, err)
	}
	return s, nil
}

// recordedRuns reads the runs of a job.
func recordedRuns(histories []string) (runs []analytic.RecordedRun, err error) {
	name := ""
	all, err := Histories(histories)
	if err != nil {
		return nil, err
	}
	for _, paths := range all {
		h, err := trace.Open(paths...)
		if err != nil {
			return nil, err
		}
		if err := h.Strict(); err != nil {
			return nil, err
		}
		for i := range h.Jobs {
			if name = cmp.Or(name, h.Jobs[i].Name); h.Jobs[i].Name != name {
				return nil, fmt.Errorf("models.history: got runs of different jobs, %q and %q: want runs of one job", name, h.Jobs[i].Name)
			}
		}
		for i := range h.Jobs {
			j := &h.Jobs[i]
			one := workload.History{Jobs: h.Jobs[i : i+1]}
			r, err := analytic.RecordRun(one.Attempts(), j.Submit, j.Finish)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", paths[0], j.ID, err)
			}
			runs = append(runs, r)
		}
	}
	return runs, nil
}
