// Package sweep simulates the points of a study: all combinations of the values of its
// factors, each with several seeds, on one machine or many.
//
//	Open -> Sweep.Run -> Journal            one line for each finished simulation
//	Sweep.Plan -> Work -> Merge             the same in shards (shard), on Slurm or Hadoop (submit)
//	Sweep.Points -> results/points          tables, intervals and pictures
package sweep

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
)

// Options select how a study is simulated. A field that is nil, 0 or empty
// takes the value of the study file, or else the default of Options.
type Options struct {
	Scenario     string   `json:"scenario,omitempty"` // in place of that of the study
	Seed         *uint64  `json:"seed,omitempty"`
	Replications int      `json:"replications,omitempty"`
	Set          []string `json:"set,omitempty"`
	Jobs         []string `json:"jobs,omitempty"`     // patterns of ids or names: the others of a history are left out
	Over         []string `json:"over,omitempty"`     // KEY=FROM:TO:STEP or KEY=VALUE,VALUE
	Metrics      []string `json:"metrics,omitempty"`  // of the summary, in place of those of the study
	Baseline     []string `json:"baseline,omitempty"` // KEY=VALUE, in place of that of the study
	Fidelity     string   `json:"fidelity,omitempty"`
	Workers      int      `json:"-"`
}

// arguments repeat the sweep so that it gives the same bytes.
func (o *Options) arguments(name string) []string {
	args := []string{"sweep"}
	if o.Scenario != "" {
		args = append(args, o.Scenario)
	}
	args = append(args, name)
	if o.Seed != nil {
		args = append(args, fmt.Sprintf("--seed=%d", *o.Seed))
	}
	if o.Replications > 0 {
		args = append(args, fmt.Sprintf("--replications=%d", o.Replications))
	}
	if o.Fidelity != "" {
		args = append(args, "--fidelity="+o.Fidelity)
	}
	for _, of := range []struct {
		flag   string
		values []string
	}{{"job", o.Jobs}, {"set", o.Set}, {"over", o.Over}, {"metric", o.Metrics}, {"baseline", o.Baseline}} {
		for _, v := range of.values {
			args = append(args, "--"+of.flag+"="+v)
		}
	}
	return args
}

// Sweep is a study: the points of a scenario whose keys vary, each simulated
// with several seeds.
type Sweep struct {
	StudyName string
	Asked     Options
	Base      *study.Study
	File      *scenarios.StudyFile
	inputs    []resultdir.FileSum
	Factors   []Factor
	wheels    []wheel
	Step      string // of a search
	Ended     int    // simulations
	NumPoints int    // combinations of the factors
	Metrics   points.Metrics
	Goals     []model.Goal
	Ratios    []float64                       // recorded over simulated times of the jobs of a replay, by which goals measure jobs, drawn at random
	Fresh     bool                            // the last factor is the seeds: those of the search, or fresh ones
	Enough    func([]points.Replication) bool // whether a point needs no more replications; nil: always

	known   *journalHead   // its identity; nil until asked for
	tried   int            // questions that were made before the sweep
	assumed map[string]int // those of them that assume something
	assumes []string       // in order

	lock     sync.Mutex
	done     map[int][]points.Replication // finished simulations by point
	warnings map[string]int               // points by warning
}

// seed returns the seed of a simulation.
func (s *Sweep) seed(t task) uint64 {
	replication := t.replication
	if levels := s.levels(t.point); s.Fresh && levels[len(levels)-1] > 0 {
		replication += s.File.MaxReplications
	}
	return s.Base.Options.SeedOf(replication)
}

// Settings are what a point lays over the scenario.
func (s *Sweep) Settings(point int) (all []string) {
	for f, level := range s.levels(point) {
		all = append(all, s.Factors[f].Level(level).Set...)
	}
	return all
}

// Question is that of the first simulation of a point.
func (s *Sweep) Question(point int) (*model.WhatIf, error) {
	scenario, err := s.scenario(point, 0)
	if err != nil {
		return nil, err
	}
	return &scenario.Runs[0].Question, nil
}

// pointName names a point for people.
func (s *Sweep) pointName(point int) string { return s.NameOf(point, len(s.Factors)) }

// NameOf names a point by its first factors.
func (s *Sweep) NameOf(point, factors int) string {
	var parts []string
	for f, value := range s.Values(point)[:factors] {
		parts = append(parts, s.Factors[f].Key+"="+value)
	}
	return strings.Join(parts, " ")
}

// Values are the values of the factors of a point.
func (s *Sweep) Values(point int) (values []string) {
	for f, level := range s.levels(point) {
		values = append(values, s.Factors[f].Level(level).Text)
	}
	return values
}

// scenario makes the question of one simulation.
func (s *Sweep) scenario(point, replication int) (*scenarios.Scenario, error) {
	settings := s.Settings(point)
	if others := s.Base.Scenario.Alternatives; len(s.Goals) > 0 && len(others) > 0 {
		if k := replication % (1 + len(others)); k > 0 { // a probability is one over what is not known, too
			settings = slices.Concat(others[k-1], s.Base.Options.Settings(), settings)
		}
	}
	f, err := s.Base.File.With(settings...)
	if err != nil {
		return nil, err
	}
	scenario, err := f.Scenario(s.seed(task{point, replication}))
	if err == nil && len(scenario.Runs) != 1 {
		err = fmt.Errorf("%s: got %d runs: want the keys of [vary] as factors", s.pointName(point), len(scenario.Runs))
	}
	return scenario, err
}

// Warnings are those of the values that were tried and of the points that were
// simulated, each with its number of simulated points.
func (s *Sweep) Warnings() []string { return study.Counted(s.warnings, "point") }

// assumptions are those of the questions that were tried, each once.
func (s *Sweep) assumptions() (list []string) {
	for _, text := range s.assumes {
		if s.assumed[text] < s.tried {
			text += " (some points)"
		}
		list = append(list, text)
	}
	return list
}

// Name names the folder of the results.
func (s *Sweep) Name() string { return s.Base.Scenario.Name }

// Title is the title of the scenario.
func (s *Sweep) Title() string { return text.Escape(s.Base.Scenario.Title) }

// Manifest describes the result of the sweep.
func (s *Sweep) Manifest(b resultdir.Build) resultdir.Manifest {
	return resultdir.Manifest{
		Build: b, Arguments: s.Asked.arguments(s.StudyName), Scenario: s.Base.Scenario.Name, Seed: s.File.Seed,
		Replications: s.File.Replications, Inputs: s.inputs, Assumptions: s.Base.Scenario.Assumed,
	}
}

// Factor is a key that varies.
type Factor struct {
	Key, zip string
	where    string // file:line: or flag
	Tried    int    // values of which a question is made before the sweep begins: 0, all; 1, the first; 2, the first and the last
	First    int    // index of the first value that is tried
	Count    int    // of values
	Level    func(k int) FactorLevel
}

type FactorLevel struct {
	Text string
	Set  []string
}

// wheel is a set of factors that advance together: those with the same zip name, or one
// by itself. Points are all combinations of the wheels' levels; the last wheel changes
// fastest.
type wheel struct {
	factors  []int
	count    int // of levels
	compared int // the level of the point with which a point is compared; -1: its own
}

// task is one simulation.
type task struct{ point, replication int }

// journalHead is the first line of a journal.
type journalHead struct {
	Schema string  `json:"schema"`
	Study  string  `json:"study"`
	Asked  Options `json:"asked"`
	Inputs string  `json:"inputs_sha256"`
	Build  string  `json:"build_sha256"`
}
