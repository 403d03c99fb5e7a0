package results

import (
	"cmp"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

// DrawRecorded draws recorded attempts as those of a run are drawn: its execution and
// the slots in use, by file name. The question holds the machines with their slots.
func DrawRecorded(q *model.WhatIf, attempts []workload.Attempt) (map[string][]byte, error) {
	title := text.Escape(q.Name)
	folded, leftOut := foldIdle(attempts)
	if leftOut > 0 {
		title += ", without " + text.Duration(int64(leftOut)) + " in which nothing ran"
	}
	stats := NewStats(q, true)
	for i := range folded {
		stats.Attempt(&folded[i])
	}
	var p figure.Pictures
	s := subject{title: title, runs: []*Run{{Question: q, Stats: stats}}, answers: &Answers{}}
	s.begin(&p)
	return p.Content()
}

// foldIdle moves attempts together where none ran or waited for longer than a tenth
// of the time in which some did, so that a record of several days does not shrink to a
// few lines. It keeps a tenth of that much between them, and returns what it left out.
func foldIdle(attempts []workload.Attempt) (folded []workload.Attempt, leftOut time.Duration) {
	folded = slices.Clone(attempts)
	slices.SortStableFunc(folded, func(a, b workload.Attempt) int { return cmp.Compare(a.Runnable, b.Runnable) })
	// idle calls do before each attempt that begins after a gap.
	idle := func(do func(i int, gap time.Duration)) (busy time.Duration) {
		end := time.Duration(0)
		for i := range folded {
			if from := folded[i].Runnable; from > end {
				do(i, from-end)
				end = from
			}
			if until := folded[i].Finish; until > end {
				busy += until - end
				end = until
			}
		}
		return busy
	}
	most := idle(func(int, time.Duration) {}) / 10
	cut := make([]time.Duration, len(folded)) // before each attempt
	idle(func(i int, gap time.Duration) {
		if gap > most {
			cut[i] = gap - most/10
		}
	})
	for i := range folded {
		leftOut += cut[i]
		a := &folded[i]
		a.Runnable, a.Start, a.Finish = a.Runnable-leftOut, a.Start-leftOut, a.Finish-leftOut
	}
	return folded, leftOut
}
