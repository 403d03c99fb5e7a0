// Package scenarios holds the scenarios that come with slotwave and the loader
// that turns scenario files and recorded cases into questions.
package scenarios

import (
	"slices"

	"github.com/slotwave/slotwave/model"
)

// Scenario is one or more what-if questions with what a reader should know
// about them.
type Scenario struct {
	Name     string // a slug
	Title    string
	Source   string
	Tables   int      // [[job]] tables of the file
	Attempts string   // attempt table to write: csv, parquet or none
	NoPlots  bool     // write no pictures
	Inputs   []Input  // the scenario itself first, then what it names
	Runs     []Run    // one, or as many as the scenario varies
	Assumed  []string // values that no source states
	Warnings []string // inputs without effect, and what was left out of a trace
}

// note enters a file that decided on the questions.
func (s *Scenario) note(in Input) {
	if !slices.ContainsFunc(s.Inputs, func(i Input) bool { return i.Name == in.Name }) {
		s.Inputs = append(s.Inputs, in)
	}
}

// Run is one question of a scenario.
type Run struct {
	Name     string // what is varied, as in "map_slots=4 scheduler=fair1"; empty if nothing is
	Folder   string // a slug of the name
	Levels   []Level
	Question model.WhatIf
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
