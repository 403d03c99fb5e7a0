package study

import (
	"slices"
	"sync"

	"github.com/slotwave/slotwave/scenarios"
)

// Policy is a scheduler that no record states, and what else of the master the record
// leaves open. An empty name is Hadoop's default.
type Policy struct {
	Name     string
	Settings []PolicySetting
	Why      string

	searched bool
	off      float64 // mean error of the jobs
}

// PolicySetting is a further key, with its value as in a file.
type PolicySetting struct{ Section, Key, Value string }

func (p Policy) state(f *scenarios.File) {
	if p.Name != "" {
		f.State("scheduler.name", p.Name, p.Why)
	}
	for _, s := range p.Settings {
		f.State(s.Section+"."+s.Key, s.Value, "found with the scheduler")
	}
}

func (p Policy) String() string {
	text := p.Name
	for i, s := range p.Settings {
		text += []string{" with ", ", "}[min(i, 1)] + s.Key + " = " + s.Value
	}
	return text
}

// In returns the settings of a section.
func (p Policy) In(section string) []PolicySetting {
	return slices.DeleteFunc(slices.Clone(p.Settings), func(s PolicySetting) bool { return s.Section != section })
}

// policies keeps what was found without some settings of a scenario, so that each search
// is done once.
type policies struct {
	sync.Mutex
	without map[string]Policy
}
