package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/size"
	"github.com/slotwave/slotwave/workload"
)

func validateCommand(a *app) *cobra.Command {
	strict, r := false, scenarios.Reading{}
	c := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check files and report all errors at once",
		Long: `Check any file that slotwave reads: scenarios, studies, recorded cases,
traces, job histories, configurations, profiles, rules of diagnose, fitted
platforms, manifests, results. The files of a result need the checksums of its
manifest. Another damaged file that can still be read gives warnings; with
--strict it is an error.`,
		Example: "  slotwave validate my.toml\n  slotwave validate history/done --strict",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var errs []error
			var first []string
			for i, name := range args {
				about, next, err := a.describe(name, strict, &r)
				if err == nil {
					_, err = fmt.Fprintf(a.stdout, "%s: %s\n", printable(name), printable(about))
				}
				if errs = append(errs, err); i == 0 {
					first = next
				}
			}
			if err := errors.Join(errs...); err != nil {
				return err
			}
			return a.next(&output{}, first...)
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "treat every loss of data as an error")
	readingFlags(c, &r)
	return c
}

// rulesLine begins a rule of diagnose --rules.
var rulesLine = regexp.MustCompile(`(?m)^\s*\[\[rule\]\]`)

// describe checks a file. It returns what the file is, and a command for it.
func (a *app) describe(name string, strict bool, r *scenarios.Reading) (about string, next []string, err error) {
	if strings.EqualFold(filepath.Ext(name), ".toml") {
		if about, err := scenarios.CheckDescription(name); about != "" {
			return about, []string{"help", "profile"}, err
		}
		if text, err := os.ReadFile(name); err == nil && rulesLine.Match(text) {
			return "rules of diagnose", []string{"help", "diagnose"}, cmp.Or(scenarios.Syntax(name, string(text)), new(diagnose.Options).ReadRules(name, string(text)))
		}
	}
	if about, next, err := size.Check(name); err != nil || about != "" {
		return about, next, err
	}
	if text, ok := platformModel(name); ok {
		if _, err := platform.ReadModel(text); err != nil {
			return "", nil, fmt.Errorf("%s: %w", name, err)
		}
		about := "fitted platform, " + workload.Counted(len(platform.Phases), "phase", "phases")
		return about, []string{"run", "two-jobs", "--fidelity", "phase", "--set", "cluster.platform=" + name}, nil
	}
	switch {
	case r.Format == "" && isScenario(name):
		about, err = a.describeScenario(name, strict)
		return about, []string{"run", name}, err
	case filepath.Base(name) == resultdir.ManifestName:
		about, _, err := describeManifest(name)
		return about, []string{"run", name}, err
	case isProfile(name):
		f, err := os.Open(name)
		if err != nil {
			return "", nil, err
		}
		defer f.Close()
		p, err := platform.ReadProfile(f)
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w", name, err)
		}
		return "platform profile, " + workload.Counted(len(p), "phase", "phases"), []string{"platform", "fit", name}, nil
	}
	var damaged error // reported after the reading, so that a newer layout is refused as such
	if manifest := filepath.Join(name, resultdir.ManifestName); study.IsFile(manifest) {
		about, history, err := describeManifest(manifest)
		if about != "" && !history {
			return about, []string{"run", manifest}, err
		}
		damaged = err
	}
	n, lost, unread := held{}, 0, 0
	if about, warnings, err := scenarios.CheckQueues(name); err != nil || about != "" {
		a.warn(warnings)
		return about, []string{"run", name, "--workload", "yarn-am-limit"}, err
	}
	histories, err := study.Histories([]string{name})
	if err != nil {
		return "", nil, err
	}
	for _, paths := range histories {
		h, err := r.Each(paths, func(j *workload.HistoryJob) error {
			if n.job(j); j.Outcome == workload.Running {
				a.warn([]string{fmt.Sprintf("%s: %s: no end of the job is recorded: copied by half, or still running", paths[0], j.ID)})
				lost++
			}
			return nil
		})
		if err != nil {
			return "", nil, errors.Join(err, damaged)
		}
		n.rest(h)
		for _, p := range slices.Concat(h.Unread, h.Problems) {
			a.warn([]string{p.String()})
		}
		if h.Dropped > 0 {
			a.warn([]string{fmt.Sprintf("and %d more", h.Dropped)})
		}
		lost += len(h.Problems) + h.Dropped
		unread += len(h.Unread)
	}
	if damaged != nil {
		return "", nil, damaged
	}
	if n.jobs == 0 { // the settings themselves are what is validated
		lost += unread
	}
	losses := workload.Counted(lost, "loss", "losses")
	switch {
	case n == (held{}) && lost > 0:
		return "", nil, fmt.Errorf("%s: nothing could be read: %s", name, losses)
	case n.jobs+n.properties == 0 && lost > 0:
		return "", nil, fmt.Errorf("%s: no job is left: %s", name, losses)
	case (strict || n.jobs == 0) && lost > 0:
		return "", nil, fmt.Errorf("%s: %s", name, losses)
	case n.jobs == 0: // settings or machines, which no verb takes alone
		return n.String(), nil, nil
	}
	return n.String(), []string{"inspect", name}, nil
}

// describeManifest checks the files of a result, and reports whether they hold jobs.
func describeManifest(name string) (about string, history bool, err error) {
	m, err := resultdir.ReadManifest(name)
	if m.Schema == "" {
		return "", false, err
	}
	history = len(m.Arguments) > 0 && m.Arguments[0] == "convert" || slices.ContainsFunc(m.Outputs, func(f resultdir.FileSum) bool {
		return filepath.Base(f.Name) == results.JobsName || strings.HasPrefix(filepath.Base(f.Name), "attempts.")
	})
	return fmt.Sprintf("result of %s, %s", m.Scenario, workload.Counted(len(m.Outputs), "file", "files")), history, err
}

func (a *app) describeScenario(name string, strict bool) (string, error) {
	f, err := scenarios.Open(name)
	if err != nil {
		return "", err
	}
	s, err := f.Scenario(1)
	if err != nil {
		return "", err
	}
	a.warn(s.Warnings)
	if strict && len(s.Warnings) > 0 {
		return "", fmt.Errorf("%s: %s", name, workload.Counted(len(s.Warnings), "warning", "warnings"))
	}
	jobs := 0
	for _, r := range s.Runs {
		jobs += len(r.Question.Jobs)
	}
	return fmt.Sprintf("scenario, %s, %s", workload.Counted(len(s.Runs), "run", "runs"), workload.Counted(jobs, "job", "jobs")), nil
}

// held counts the content of a history.
type held struct{ jobs, tasks, attempts, machines, properties int }

// holdings counts the content of a history that keeps its jobs.
func holdings(h *workload.History) (n held) {
	for i := range h.Jobs {
		n.job(&h.Jobs[i])
	}
	n.rest(h)
	return n
}

func (n *held) job(j *workload.HistoryJob) {
	n.jobs++
	n.tasks += len(j.Tasks)
	for t := range j.Tasks {
		n.attempts += len(j.Tasks[t].Attempts)
	}
}

// rest counts everything but the jobs. Several runs count as runs on the same
// machines.
func (n *held) rest(h *workload.History) {
	n.jobs += len(h.Swim)
	n.machines, n.properties = max(n.machines, h.Topology.Hosts()), n.properties+len(h.Site.Keys())
}

func (n held) String() string {
	var parts []string
	count := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, workload.Counted(n, one, many))
		}
	}
	count(n.jobs, "job", "jobs")
	count(n.tasks, "task", "tasks")
	count(n.attempts, "attempt", "attempts")
	count(n.machines, "machine", "machines")
	count(n.properties, "property of the cluster", "properties of the cluster")
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// isScenario reports whether a file is a scenario or a recorded case, and not a
// trace.
func isScenario(name string) bool {
	if strings.EqualFold(filepath.Ext(name), ".toml") || slices.Contains(scenarios.List(), name) {
		return true
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<20 || !strings.EqualFold(filepath.Ext(name), ".json") {
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	// The first object decides.
	dec := json.NewDecoder(f)
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return false
	}
	wanted := map[string]bool{"cluster": true, "runs": true}
	for len(wanted) > 0 && dec.More() {
		key, err := dec.Token()
		if err != nil {
			return false
		}
		delete(wanted, key.(string))
		var value json.RawMessage
		if len(wanted) > 0 && dec.Decode(&value) != nil {
			return false
		}
	}
	return len(wanted) == 0
}

// isProfile recognises a platform profile by its header.
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

// platformModel returns the content of a JSON file that is a fitted platform: an
// object with a list for the shuffle.
func platformModel(name string) ([]byte, bool) {
	const most = 1 << 16 // bytes; it has six short lists
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most || !strings.EqualFold(filepath.Ext(name), ".json") {
		return nil, false
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, false
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(text, &keys) != nil {
		return nil, false
	}
	return text, len(keys["shuffle"]) > 0 && keys["shuffle"][0] == '['
}
