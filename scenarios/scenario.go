// Package scenarios holds the scenarios that come with slotwave and the loader
// that turns scenario files and recorded cases into questions.
package scenarios

import (
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// Scenario is one or more what-if questions with notes for their reader.
type Scenario struct {
	Name        string // a slug
	Title       string
	Source      string
	Tables      int               // [[job]] tables of the file
	Attempts    string            // attempt table to write: csv, csv.gz or none
	NoPlots     bool              // write no pictures
	PDF         bool              // write them as PDF too
	Labels      map[string]string // [figure]: texts of pictures by what they replace
	LabelPlaces map[string]string // of Labels, for warnings
	Case        bool              // a recorded case of a ResourceManager, which has the tables of the record
	Inputs      []Input           // the scenario itself first, then the files that it names
	Runs        []Run             // one, or one for each variation
	Assumed     []string          // values without a source
	Warnings    []string          // inputs without effect, and omissions from a trace
	Beyond      []string          // what the command line asks and given times of tasks do not answer

	Models       ModelFiles
	Alternatives [][]string // settings of calibrations that explain the record about as well
}

// ModelFiles is what analytic models read beyond the scenario.
type ModelFiles struct {
	PlatformModel string   // a fitted platform, for zhang; empty: none
	Statistics    string   // data and cost statistics of the job, for herodotou; empty: none
	Small         string   // one run of the job on the cluster of the microbenchmarks, for zhang; empty: none
	History       []string // runs of the job with other input or reduces, for hp, ihp and cresp
	Literal       bool     // ask Herodotou's equations as printed too
	NoCauses      bool     // do not split the gap between simulation and models by cause
}

// note adds a file to the inputs of the questions.
func (s *Scenario) note(in Input) {
	if !slices.ContainsFunc(s.Inputs, func(i Input) bool { return i.Name == in.Name }) {
		s.Inputs = append(s.Inputs, in)
	}
}

// AddInputs enters the files that decided on other questions.
func (s *Scenario) AddInputs(inputs []Input) {
	for _, in := range inputs {
		s.note(in)
	}
}

// Run is one question of a scenario.
type Run struct {
	Name     string // the variation, such as "map_slots=4 scheduler=fair1"; empty without one
	Folder   string // a slug of the name
	Levels   []Level
	Question model.WhatIf
	Recorded []workload.JobRecord // what the trace states of its jobs; nil: no times
	Changed  []string             // settings that make the run differ from the recorded one
	Stated   []string             // settings that state what the record does not
	Rescaled bool                 // recorded times are adapted to where tasks run
	Record   *workload.History    // that has containers; nil: none
	Still    string               // the machines that stood still, and what becomes of it; empty: none did

	AnyScheduler bool          // it is a history whose scheduler nothing states
	AlsoFits     [][][2]string // keys of [cluster] with values that the record fits too: those of each entry go together
}

// Level is a value of a varied key.
type Level struct {
	Key  string
	Text string // the value for people and tables
	TOML string // the value as a scenario has it
}

// Input is a file that decided on the questions. Embedded files have names that
// begin with "slotwave:".
type Input struct {
	Name string
	Data []byte // nil for a file that can be read again under its name
}

// OnYARN reports whether the scenario asks about containers instead of slots.
func (s *Scenario) OnYARN() bool { return len(s.Runs) > 0 && s.Runs[0].Question.YARN != nil }

// File is the text of a scenario with the settings applied to it. It makes
// questions for any seed.
type File struct {
	name   string // as the user gave it
	slug   string // name of the scenario unless it sets one
	data   []byte
	files  fs.FS  // file system of a shipped scenario; nil: the machine's
	folder string // base of the scenario's paths
	set    []setting
	fork   *fork   // nil: one run of each variation
	anew   bool    // what the cluster of a record decided is simulated again, even if nothing changes
	jobs   *uint64 // draws the jobs if the scenario's seed draws recorded times from each other; else nil
	traces map[string]*openedTrace
	parsed *parsed // data, shared by copies with more settings

	reading    Reading
	history    bool              // the file is a history, which the scenario replays
	onlyQueues bool              // the scenario is the file of a scheduler, without jobs
	stated     map[string]stated // by key, what is known of a history besides its tables
}

// parsed is the text of a scenario, parsed once. Readers do not change its values.
type parsed struct {
	once  sync.Once
	whole *table
	err   error
}

// table returns the values with lines and problems of its own.
func (p *parsed) table(data []byte, name string) (*table, error) {
	p.once.Do(func() { p.whole, p.err = parse(data, name) })
	if p.err != nil {
		return nil, p.err
	}
	return &table{report: &report{file: name, lines: maps.Clone(p.whole.lines), order: p.whole.order}, values: p.whole.values}, nil
}

// Reading says how the histories of a scenario are read. The zero value detects
// the format and takes every job.
type Reading struct {
	Format   string   // instead of what the content looks like
	Topology string   // file with the machines, read beside the histories
	Jobs     []string // patterns of ids or names of the jobs to take
	Workload string   // history or scenario with the jobs for the file of a scheduler of YARN

	Made string // the result whose manifest states the rest; empty: none

	Anonymise bool // give users, jobs, queues, pools, paths and machines new names

	Read *workload.History // what the files hold, if they have been read; nil: not yet
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

func slugOf(s string) string {
	return cut(strings.Trim(notSlug.ReplaceAllString(strings.ToLower(s), "-"), "-"), 64)
}

func cut(s string, n int) string {
	if s == "" {
		return "scenario"
	}
	return s[:min(len(s), n)]
}

// fork runs a scenario twice: as it is, and with settings that change at a given
// time.
type fork struct {
	name     string // of the run with the change
	settings []setting
}

// trace is the content of a scenario's trace files. It is read once for all
// questions.
type openedTrace struct {
	history *workload.History
	inputs  []Input
	onYARN  bool // a format that records containers
	err     error

	interval foundInterval
}

// stated is a value of a key, and why.
type stated struct{ value, why string }
