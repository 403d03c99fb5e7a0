package calibrate

import (
	"fmt"
	"math"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// ProgramQuestion returns the first run of a scenario that plans its tasks, and
// the inputs of the scenario.
func ProgramQuestion(name string) (q model.WhatIf, inputs []scenarios.Input, err error) {
	f, err := scenarios.Open(name)
	if err != nil {
		return q, nil, err
	}
	s, err := f.Scenario(1)
	if err != nil {
		return q, nil, err
	}
	q = s.Runs[0].Question
	if q.Fidelity < model.Phase || len(q.Jobs) == 0 {
		return q, nil, fmt.Errorf("%s: no job at fidelity phase or device: want a scenario that has one", name)
	}
	return q, s.Inputs, nil
}

// FoundProgram is an estimated program, with mean map times in seconds.
type FoundProgram struct {
	model.Program
	Recorded, Simulated float64 // mean time of a map, seconds
	Missed              string  // error of the estimate; empty: none
}

// mapMean returns the mean time of maps.
type mapMean struct {
	sum time.Duration
	n   int
}

func (m *mapMean) Attempt(a *workload.Attempt) {
	if a.Kind == workload.Map && a.State == workload.Succeeded {
		m.sum += a.Finish - a.Start
		m.n++
	}
}

// FindProgram estimates the cost of a record in the map function. If maps take
// longer even at zero cost, or the search does not converge, the cost is an
// assumption.
func FindProgram(q model.WhatIf, r *workload.Profile) (FoundProgram, error) {
	const rounds, near = 20, 0.002 // of the recorded time
	var f FoundProgram
	var err error
	if f.Program, err = platform.ProgramOf(r); err != nil {
		return f, err
	}
	if r.MapTime.N == 0 || r.MapInBytes.N == 0 || r.MapInRecords.Mean <= 0 {
		return f, fmt.Errorf("no map times or input counters: want a history with counters")
	}
	f.Recorded = r.MapTime.Mean
	f.ReduceCPU = 400
	f.Assumed = append(f.Assumed, "cpu.reduce_record: a history does not separate it from the wait for the commit")
	if f.Combiner {
		f.Assumed = append(f.Assumed, "combiner.record: included in cpu.map_record")
	}
	j := q.Jobs[0]
	j.ID, j.Program, j.Profile = "recorded", f.Name, nil
	j.Maps.Count, j.Maps.InputBytes, j.Maps.Splits, j.Maps.Shares = r.Maps, int64(math.Round(r.MapInBytes.Mean*float64(r.Maps))), nil, nil
	j.Reduces.Count, j.Reduces.Shares = r.Reduces, nil
	q.Jobs = []workload.Job{j}
	below, above := [2]float64{}, [2]float64{math.Inf(1)} // costs, and the remaining error of map times
	for round := 1; ; round++ {
		q.Programs = []model.Program{f.Program}
		var m mapMean
		if _, err := (sim.Simulator{Recorder: &m}).Predict(q); err != nil {
			return f, err
		}
		f.Simulated = m.sum.Seconds() / float64(max(1, m.n))
		off := f.Recorded - f.Simulated
		if math.Abs(off) <= near*f.Recorded {
			f.Source = append(f.Source, "cpu.map_record: makes simulated maps take as long as the recorded ones")
			return f, nil
		}
		if round == rounds || off < 0 && f.MapCPU == 0 {
			f.Missed = fmt.Sprintf("cpu.map_record: with it simulated maps take %.3f s, recorded ones %.3f s: %+.1f %%", f.Simulated, f.Recorded, -100*off/f.Recorded)
			f.Assumed = append(f.Assumed, f.Missed)
			return f, nil
		}
		if off > 0 {
			below = [2]float64{f.MapCPU, off}
		} else {
			above = [2]float64{f.MapCPU, off}
		}
		if math.IsInf(above[0], 1) {
			f.MapCPU += 1.5 * off * 1e9 / r.MapInRecords.Mean
		} else {
			f.MapCPU = below[0] + (above[0]-below[0])*below[1]/(below[1]-above[1])
		}
	}
}
