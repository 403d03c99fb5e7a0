package size

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
)

// replayRecord simulates the record of the scenario at its own size, with those
// settings of the study that say how it is replayed. What the jobs took says how far
// the simulation is off and where the search begins.
func (z *Search) replayRecord() error {
	o := study.Options{Seed: z.File.Seed, Fidelity: z.Asked.Fidelity}
	for _, text := range z.Base.Options.Set {
		if scenarios.AsRecorded(text) {
			o.Set = append(o.Set, text)
		}
	}
	s, err := study.Open(z.File.Scenario, o)
	if err != nil { // it needs the settings
		z.errors.Unknown = "the scenario runs only with the settings of the study, not as recorded"
		return nil
	}
	asked := &s.Scenario.Runs[0]
	switch {
	case len(asked.Recorded) == 0:
		z.errors.Unknown = "the workload has no recorded times to compare with"
		return nil
	case len(asked.Changed) > 0:
		z.errors.Unknown = "the scenario differs from its record (" + strings.Join(asked.Changed, ", ") + ")"
		return nil
	}
	z.report("replay of the record")
	run, err := s.Once(0)
	if err != nil {
		return err
	}
	if e := replayErrors(run); e != nil {
		z.errors = *e
	} else {
		z.errors.Unknown = "the record states the time of no job"
	}
	z.guessByRecord(run)
	return nil
}

// guessByRecord lets the search begin at the recorded size, times what the replay
// takes over what the goals allow. Slots of other nodes count as those recorded.
func (z *Search) guessByRecord(run *results.Run) {
	nodes := run.Question.Cluster.Nodes
	slots := 0
	for i := range nodes {
		slots += nodes[i].MapSlots
	}
	over := 0.0
	for i := range z.Goals {
		if g := &z.Goals[i]; g.Deadlines == 0 {
			over = max(over, g.Measure(run.Question, &run.Predictions[0])/g.Limit())
		}
	}
	if !(over > 0) || math.IsInf(over, 1) {
		over = 1
	}
	for i := range z.types {
		t := &z.types[i]
		guess := over * float64(len(nodes))
		if own := t.question.Cluster.Nodes[0].MapSlots; own > 0 && slots > 0 {
			guess = over * float64(slots) / float64(own)
		}
		t.guess = int(min(float64(t.most), max(1, math.Round(guess))))
	}
}

// report announces a step of the search.
func (z *Search) report(step string) {
	if z.Step = step; z.progress != nil {
		z.progress(study.SweepStatus{Step: step, Ended: z.Ended})
	}
}

// withError finds the sizes that meet the goals if jobs take longer than simulated by
// the errors of the replay, with the seeds of the search.
func (z *Search) withError(answer *candidate) error {
	if answer == nil || z.errors.Replay == nil {
		return nil
	}
	for _, m := range []*Margin{&z.errors.Median, &z.errors.Worst} {
		if m.Nodes = answer.nodes; m.Longer <= 0 {
			continue
		}
		tight := tightened(z.Goals, m.Longer)
		nodes, err := fewestNodes(answer.nodes, z.types[answer.kind].most, func(n int) (bool, error) {
			if n < answer.nodes {
				return false, nil
			}
			return z.meetsGoals(answer.kind, n, tight)
		})
		if err != nil {
			return err
		}
		m.Nodes = nodes
	}
	return nil
}

// tightened returns goals that runs meet if they meet the given ones even when all
// takes longer. Goals about deadlines stay: they count jobs, not time.
func tightened(goals []model.Goal, longer float64) []model.Goal {
	tight := slices.Clone(goals)
	for i := range tight {
		for _, limit := range []*time.Duration{&tight[i].Finish, &tight[i].Response} {
			*limit = time.Duration(float64(*limit) / (1 + longer))
		}
	}
	return tight
}

// byCalibrations simulates the answer with each other calibration that explains the
// record about as well.
func (z *Search) byCalibrations(answer *candidate) error {
	if answer == nil {
		return nil
	}
	settings := z.Settings(z.point(answer.kind, answer.nodes, false))
	for i, other := range z.Base.Scenario.Alternatives {
		z.report("other calibrations of " + z.nameOf(answer.kind, answer.nodes))
		f, err := scenarios.OpenReading(z.File.Scenario, scenarios.Reading{}, slices.Concat(other, z.Base.Options.Settings(), settings)...)
		if err != nil {
			return err
		}
		s, err := f.Scenario(z.Base.Options.SeedOf(i + 1))
		if err != nil {
			return err
		}
		q := &s.Runs[0].Question
		p, err := study.Predict(sim.Simulator{}, q)
		if err != nil {
			return err
		}
		r := points.Replication{}
		for g := range z.Goals {
			r.Goals = append(r.Goals, z.Goals[g].Measure(q, &p))
		}
		z.errors.Calibrations = append(z.errors.Calibrations, r)
	}
	return nil
}
