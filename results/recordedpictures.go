package results

import (
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// DrawRecorded draws recorded attempts as those of a run are drawn: its execution and
// the slots in use, by file name. The question holds the machines with their slots.
func DrawRecorded(q *model.WhatIf, attempts []workload.Attempt) (map[string][]byte, error) {
	stats := NewStats(q, true)
	for i := range attempts {
		stats.Attempt(&attempts[i])
	}
	var p figure.Pictures
	s := subject{title: text.Escape(q.Name), runs: []*Run{{Question: q, Stats: stats}}, answers: &Answers{}}
	s.begin(&p)
	return p.Content()
}
