package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// programs writes what the recorded jobs do and cost on a cluster.
func (a *app) programs(c *cobra.Command, args []string, each func(func(*workload.Profile) error) error, k *profiling) error {
	q, inputs, err := questionOf(k.on)
	if err != nil {
		return err
	}
	var found []programOn
	err = each(func(p *workload.Profile) error {
		one, err := findProgram(q, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		if one.missed != "" && !k.quiet {
			a.warn([]string{p.Name + ": " + one.missed})
		}
		found = append(found, one)
		return nil
	})
	if err != nil {
		return err
	}
	if k.to.out != "" {
		if k.to.main() != "" && len(found) > 1 {
			return fmt.Errorf("%s: %d profiles: want a directory", k.to.main(), len(found))
		}
		var parts []part
		names := fileNames{}
		for i := range found {
			p := &found[i].Program
			parts = append(parts, part{names.next(p.Name), func(w io.Writer) error { return scenarios.WriteProgram(w, p) }})
		}
		sums, err := inputSums(inputs)
		if err != nil {
			return err
		}
		if err := a.deliver(c, args, &k.to, parts, results.Manifest{Scenario: "profile", Seed: 1, Inputs: sums}); err != nil {
			return err
		}
	}
	if k.quiet {
		return nil
	}
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "job\tmap, recorded\tsimulated\tns/record")
	for _, f := range found {
		fmt.Fprintf(t, "%s\t%.3f s\t%.3f s\t%.0f\n", printable(f.Title), f.recorded, f.simulated, f.MapCPU)
	}
	return internal(t.Flush())
}

// questionOf is the first run of a scenario that plans its tasks, and what the
// scenario was made from.
func questionOf(name string) (q model.WhatIf, inputs []scenarios.Input, err error) {
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
		return q, nil, fmt.Errorf("--on %s: want a scenario with a job, at fidelity phase or device", name)
	}
	return q, s.Inputs, nil
}

// programOn is a program found, with the means of its maps, seconds.
type programOn struct {
	model.Program
	recorded, simulated float64
	missed              string // how far the cost that was found is off; empty: it is not
}

// mapMean takes the mean time of maps.
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

// findProgram looks for the cost of a record in the map function. Where maps
// take longer even at no cost, or the search does not come near, it is assumed.
func findProgram(q model.WhatIf, r *workload.Profile) (programOn, error) {
	const rounds, near = 20, 0.002 // of the recorded time
	var f programOn
	var err error
	if f.Program, err = platform.ProgramOf(r); err != nil {
		return f, err
	}
	if r.MapTime.N == 0 || r.MapInBytes.N == 0 || r.MapInRecords.Mean <= 0 {
		return f, fmt.Errorf("no times of maps: want a history with counters")
	}
	f.recorded = r.MapTime.Mean
	f.ReduceCPU = 400
	f.Assumed = append(f.Assumed, "cpu.reduce_record: a history does not tell it from the wait for the commit")
	if f.Combiner {
		f.Assumed = append(f.Assumed, "combiner.record: part of cpu.map_record")
	}
	j := q.Jobs[0]
	j.ID, j.Program, j.Profile = "recorded", f.Name, nil
	j.Maps.Count, j.Maps.InputBytes, j.Maps.Splits = r.Maps, int64(math.Round(r.MapInBytes.Mean*float64(r.Maps))), nil
	j.Reduces.Count = r.Reduces
	q.Jobs = []workload.Job{j}
	below, above := [2]float64{}, [2]float64{math.Inf(1)} // costs, and how far maps are off by them
	for round := 1; ; round++ {
		q.Programs = []model.Program{f.Program}
		var m mapMean
		if _, err := (sim.Simulator{Recorder: &m}).Predict(q); err != nil {
			return f, err
		}
		f.simulated = m.sum.Seconds() / float64(max(1, m.n))
		off := f.recorded - f.simulated
		if math.Abs(off) <= near*f.recorded {
			f.Source = append(f.Source, "cpu.map_record: that with which simulated maps take as long as the recorded ones")
			return f, nil
		}
		if round == rounds || off < 0 && f.MapCPU == 0 {
			f.missed = fmt.Sprintf("cpu.map_record: with it simulated maps take %.3f s, recorded ones %.3f s: %+.1f %%", f.simulated, f.recorded, -100*off/f.recorded)
			f.Assumed = append(f.Assumed, f.missed)
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
