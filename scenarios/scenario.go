// Package scenarios holds the scenarios that come with slotwave and the loader
// that turns scenario files and recorded cases into questions.
package scenarios

import (
	"github.com/slotwave/slotwave/model"
)

// Scenario is a what-if question with what a reader should know about it.
type Scenario struct {
	Name     string
	Title    string
	Source   string
	Assumed  []string
	Question model.WhatIf
}
