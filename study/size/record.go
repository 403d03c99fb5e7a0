package size

import (
	"math"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
)

// replayRecord simulates the record of the scenario at its own size, without the
// settings of the study that ask about another cluster or workload, but in the way in
// which these are answered. What the jobs took says how far the simulation is off and
// where the search begins.
func (z *Search) replayRecord() error {
	base := &z.Base.Scenario.Runs[0]
	f, err := z.Base.File.AsRecorded(slices.Concat(base.Changed, base.Stated), true)
	if err != nil {
		return err
	}
	scenario, err := f.Scenario(z.File.Seed)
	if err != nil { // it needs the settings
		z.errors.Unknown = "the scenario runs only with the settings of the study, not as recorded"
		return nil
	}
	asked := &scenario.Runs[0]
	switch {
	case len(asked.Recorded) == 0:
		z.errors.Unknown = "the workload has no recorded times to compare with"
		return nil
	case len(asked.Changed) > 0:
		z.errors.Unknown = "the scenario differs from its record (" + text.Escape(strings.Join(asked.Changed, ", ")) + ")"
		return nil
	}
	s := &study.Study{Scenario: scenario, File: f, Options: study.Options{Seed: z.File.Seed}}
	z.report("replay of the record")
	run, err := s.Once(0)
	if err != nil {
		return err
	}
	z.errors.recorded = workload.RecordedMakespan(asked.Recorded)
	if z.errors.Replay = run.ReplaySummary(); z.errors.Replay == nil || z.errors.Replay.Jobs == 0 {
		z.errors.Replay, z.errors.Unknown = nil, "the record states the time of no job"
	} else if z.turn == 0 { // else the profiles of each machine have what it misses
		for _, row := range run.Replayed() {
			z.Ratios = append(z.Ratios, float64(row.Recorded)/float64(row.Simulated))
		}
	}
	z.guessByRecord(run)
	return nil
}

// guessByRecord lets the search begin at the recorded size, times what the replay
// takes over what the goals allow. Slots of other nodes count as those recorded.
func (z *Search) guessByRecord(run *results.Run) {
	nodes, slots := run.Question.Cluster.Nodes, run.Question.Cluster.Slots()[workload.Map]
	over := 0.0
	for i := range z.Goals {
		if g := &z.Goals[i]; g.Deadlines == 0 {
			value, _ := g.Measure(run.Question, &run.Predictions[0], nil)
			over = max(over, value/g.Limit())
		}
	}
	if !(over > 0) || math.IsInf(over, 1) {
		over = 1
	}
	for i := range z.lines[:z.offers] {
		l := &z.lines[i]
		if l.now {
			continue
		}
		guess := over * float64(len(nodes))
		if own := l.question.Cluster.Nodes[0].MapSlots; own > 0 && slots > 0 {
			guess = over * float64(slots) / float64(own)
		}
		l.guess = int(min(float64(l.most), max(1, math.Round(guess))))
	}
}

// report announces a step of the search.
func (z *Search) report(step string) {
	if z.Step = step; z.progress != nil {
		z.progress(study.SweepStatus{Step: step, Ended: z.Ended})
	}
}
