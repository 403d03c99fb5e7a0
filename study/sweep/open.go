package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
)

// Open opens a study file, or a scenario whose factors are its [vary] and
// those of o.Over. Each value of each factor is tried once.
func Open(name string, o Options) (*Sweep, error) {
	s, err := OpenStudy(name, o)
	if err != nil {
		return nil, err
	}
	if s.File.Size != nil {
		return nil, fmt.Errorf("%s: asks for the size of a cluster: want slotwave size %s, or a study without [[goal]]", name, name)
	}
	if s.Factors, err = s.ReadFactors(); err != nil {
		return nil, err
	}
	if s.File.Precision > 0 {
		s.Enough = func(runs []points.Replication) bool { return s.Metrics.RelativeHalf(runs) <= s.File.Precision }
	}
	return s, s.MakePoints()
}

// OpenStudy reads a study and opens its scenario.
func OpenStudy(name string, o Options) (*Sweep, error) {
	file, err := scenarios.ReadStudy(name, func(metrics []string) error {
		_, err := points.ReadMetrics(metrics)
		return err
	})
	if err != nil {
		return nil, err
	}
	if file == nil {
		file = &scenarios.StudyFile{Scenario: name, Seed: 1, Replications: 1, MaxReplications: 1}
	}
	if file.Scenario = cmp.Or(o.Scenario, file.Scenario); file.Scenario == "" {
		return nil, fmt.Errorf("%s: names no scenario: want the key scenario, or slotwave size SCENARIO %s", name, name)
	}
	return OpenFile(name, file, o)
}

// OpenFile opens the scenario of a study that was read or made.
func OpenFile(name string, file *scenarios.StudyFile, o Options) (s *Sweep, err error) {
	if o.Seed != nil {
		file.Seed = *o.Seed
	}
	if o.Replications > 0 {
		file.Replications = o.Replications
		file.MaxReplications = max(file.MaxReplications, o.Replications)
	}
	if len(o.Metrics) > 0 {
		file.Metrics = o.Metrics
	}
	if len(o.Baseline) > 0 {
		file.Baseline = nil
	}
	for _, text := range o.Baseline {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("--baseline %s: want KEY=VALUE", text)
		}
		file.Baseline = append(file.Baseline, scenarios.Level{Key: key, Text: value})
	}
	s = &Sweep{StudyName: name, Asked: o, File: file, assumed: map[string]int{}, warnings: map[string]int{}}
	if s.Metrics, err = points.ReadMetrics(file.Metrics); err != nil {
		return nil, fmt.Errorf("--metric %w", err)
	}
	s.Base, err = study.Open(file.Scenario, study.Options{
		Seed: file.Seed, Replications: file.Replications, Workers: o.Workers,
		Set: append(slices.Clone(file.Set), o.Set...), Fidelity: o.Fidelity, Containers: true,
		Reading: scenarios.Reading{Jobs: o.Jobs},
	})
	if err != nil && o.Scenario == "" && name != file.Scenario && strings.HasPrefix(err.Error(), file.Scenario+": ") {
		err = fmt.Errorf("%s: scenario: %w", name, err)
	}
	return s, err
}

// Combine counts the points of the factors so far.
func (s *Sweep) Combine() (err error) {
	s.wheels, s.NumPoints, err = combine(s.Factors)
	return err
}

// MakePoints combines the factors, and tries their values.
func (s *Sweep) MakePoints() error {
	if err := s.Combine(); err != nil {
		return err
	}
	s.done = map[int][]points.Replication{}
	return s.tryLevels()
}

// ReadFactors are those of the file and the command line, and the keys that the
// scenario varies.
func (s *Sweep) ReadFactors() ([]Factor, error) {
	all := varied(s.Base.Scenario.Runs)
	add := func(f Factor) { // replaces one of the same key
		if i := slices.IndexFunc(all, func(g Factor) bool { return g.Key == f.Key }); i >= 0 {
			all[i] = f
			return
		}
		all = append(all, f)
	}
	tables := s.Base.Scenario.Tables
	for _, given := range s.File.Factors {
		f := Factor{Key: given.Key, zip: given.Zip, where: given.Where, Count: given.Count}
		if given.Range {
			f.Tried = 2
		}
		f.Level = func(k int) FactorLevel {
			level := given.Level(k)
			return FactorLevel{level.Text, study.KeySettings(level.Key, level.TOML, tables)}
		}
		if i := slices.IndexFunc(s.Asked.Set, func(set string) bool { return strings.HasPrefix(set, f.Key+"=") }); i >= 0 {
			return nil, fmt.Errorf("--set %s: %sthe study varies this key: want --over %[1]s to replace its values", s.Asked.Set[i], f.where)
		}
		if slices.ContainsFunc(s.File.Set, func(set string) bool { return strings.HasPrefix(set, f.Key+"=") }) {
			return nil, fmt.Errorf("%sfactor: key: %s is in [set] too: want one of the two", f.where, f.Key)
		}
		if slices.ContainsFunc(all, func(g Factor) bool { return g.Key == f.Key && g.where != "" }) {
			return nil, fmt.Errorf("%sfactor: key: got %s twice: want one factor", f.where, f.Key)
		}
		add(f)
	}
	for _, text := range s.Asked.Over {
		o, err := study.ParseOver(text)
		if err != nil {
			return nil, err
		}
		var levels []FactorLevel
		for _, v := range o.Values {
			levels = append(levels, FactorLevel{v, study.KeySettings(o.Key, v, tables)})
		}
		add(Listed(o.Key, "--over "+o.Key+": ", levels))
	}
	return all, nil
}

// settingOfJob is what an error about a varied key of all jobs says of one of them.
var settingOfJob = regexp.MustCompile(`^--set [^=]*=[^:]*: |job\[\d+\]\.`)

// tryLevels makes a question with each value of each factor, or with the ends of a
// range, the others at their first, and collects the files that the questions depend on.
func (s *Sweep) tryLevels() error {
	var all scenarios.Scenario
	if s.File.Input.Data != nil {
		all.AddInputs([]scenarios.Input{s.File.Input})
	}
	all.AddInputs(s.Base.Scenario.Inputs)
	var noJob error
	asked := false
	seen := make([]map[int]bool, len(s.Factors))
	for f := range seen {
		seen[f] = map[int]bool{}
	}
	for i := range s.NumPoints {
		levels, fresh, least, where := s.levels(i), false, true, ""
		for f, level := range levels {
			least = least && level >= s.Factors[f].First
		}
		for f, level := range levels {
			if least && !seen[f][level] && s.Factors[f].tries(level) {
				seen[f][level], fresh, where = true, true, s.Factors[f].where
			}
		}
		if !fresh && (i > 0 || !least) {
			continue
		}
		scenario, err := s.scenario(i, 0)
		if err != nil {
			if where != "" { // which has made settings, of each job perhaps
				text, _, _ := strings.Cut(settingOfJob.ReplaceAllString(err.Error(), ""), "\n")
				err = errors.New(text)
			}
			return fmt.Errorf("%s%w", where, err)
		}
		all.AddInputs(scenario.Inputs)
		err = s.Metrics.OfSome(scenario.Runs[0].Question.Jobs)
		noJob, asked = cmp.Or(noJob, err), asked || err == nil
		s.tried++
		for _, text := range scenario.Assumed {
			if s.assumed[text]++; s.assumed[text] == 1 {
				s.assumes = append(s.assumes, text)
			}
		}
		for _, text := range scenario.Warnings {
			s.warnings[text] = 0
		}
	}
	if !asked && noJob != nil {
		return fmt.Errorf("--metric %w", noJob)
	}
	var err error
	if s.inputs, err = study.Sums(all.Inputs); err != nil {
		return err
	}
	return s.readBaseline()
}
