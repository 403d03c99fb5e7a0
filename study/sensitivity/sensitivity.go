// Package sensitivity changes each cost and each setting of a scenario alone, and says
// which of them the makespan depends on.
//
//	Analyse -> levers (machines, costs, programs, slots, the settings of tune)
//	        -> pairs of simulations, answers of the models
//	        -> Sensitivity    table, text and tornado (answer)
package sensitivity

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/predict"
	"github.com/slotwave/slotwave/study/search"
	"github.com/slotwave/slotwave/study/tune"
	"github.com/slotwave/slotwave/workload"
)

// Bounds of the part by which Analyse changes costs.
const (
	DefaultChange = 0.2
	mostChange    = 0.9
)

// end is a value of an input.
type end struct {
	to    string // as people read it
	apply func(*model.WhatIf)
}

// lever is an input of the simulation with the values that it takes.
type lever struct {
	kind, name, from string
	ends             []end
}

// Analyse changes each cost and each setting of the scenario alone, and
// measures what that does to the makespan. Costs, rates and numbers of reduces
// change by the given part, down and up; a Hadoop property takes both ends of the
// range that Tune searches. Each value is simulated with the seeds of the scenario
// itself, one for each replication. The models predict the same changes, except
// those that do not answer. progress may be nil.
func Analyse(s *study.Study, by float64, models []analytic.Predictor, progress study.SweepProgress) (*Sensitivity, error) {
	if n := s.Options.NumReplications(); n < search.LeastPairs {
		return nil, fmt.Errorf("--replications: got %d: want %d or more, for an interval", n, search.LeastPairs)
	}
	if !(by > 0 && by <= mostChange) {
		return nil, fmt.Errorf("--by: got %v %%: want more than 0 and at most %v %%", 100*by, 100*mostChange)
	}
	if n := len(s.Scenario.Runs); n != 1 {
		return nil, fmt.Errorf("%s: got %d runs: want a scenario without [vary]", s.Scenario.Name, n)
	}
	q := &s.Scenario.Runs[0].Question
	if q.Fidelity < model.Phase {
		return nil, fmt.Errorf("%s: fidelity: got %s: want phase or device, where costs and settings change the times of tasks", s.Scenario.Name, q.Fidelity)
	}
	levers, err := leversOf(s, q, by)
	if err != nil {
		return nil, err
	}
	base, times, err := pull(s, levers, progress)
	if err != nil {
		return nil, err
	}
	predicted, names, err := predictLevers(q, levers, models)
	if err != nil {
		return nil, err
	}
	out := &Sensitivity{Scenario: s.Scenario.Name, Fidelity: q.Fidelity.String(), By: by, Base: base, Models: names, Labels: s.Labels}
	k := 0
	for _, l := range levers {
		for _, e := range l.ends {
			out.Rows = append(out.Rows, Pulled{
				Name: l.name, Kind: l.kind, From: l.from, To: e.to,
				Makespans: times[k], Predicted: predicted[k],
			})
			k++
		}
	}
	return out, nil
}

// pull simulates the scenario, and each end of each lever, with every seed.
func pull(s *study.Study, levers []lever, progress study.SweepProgress) (base []float64, times [][]float64, err error) {
	applied := []func(*model.WhatIf){nil}
	for _, l := range levers {
		for _, e := range l.ends {
			applied = append(applied, e.apply)
		}
	}
	all := make([][]float64, len(applied))
	for i := range all {
		all[i] = make([]float64, s.Options.NumReplications())
	}
	var mutex sync.Mutex
	status := study.SweepStatus{Total: len(applied) * s.Options.NumReplications()}
	ended := func() {
		mutex.Lock()
		defer mutex.Unlock()
		status.Done++
		status.Ended++
		if progress != nil {
			progress(status)
		}
	}
	var group errgroup.Group
	group.SetLimit(s.Options.NumWorkers())
	for k := range s.Options.NumReplications() {
		seeded, err := s.Turn(k).Scenario(s.Options.SeedOf(k))
		if err != nil {
			return nil, nil, err
		}
		for i, apply := range applied {
			group.Go(func() (err error) {
				q := seeded.Runs[0].Question.Copy()
				if apply != nil {
					apply(&q)
				}
				all[i][k], err = search.TimeTaken(&q)
				ended()
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	if slices.ContainsFunc(all[0], func(t float64) bool { return math.IsInf(t, 1) }) {
		return nil, nil, fmt.Errorf("%s: the jobs do not succeed in every run: want a scenario in which they do", s.Scenario.Name)
	}
	return all[0], all[1:], nil
}

// leversOf lists the costs and settings of a scenario.
func leversOf(s *study.Study, q *model.WhatIf, by float64) ([]lever, error) {
	factors := []float64{1 - by, 1 + by}
	scaled := func(kind, name, from string, scale func(*model.WhatIf, float64)) lever {
		l := lever{name: name, from: from, kind: kind}
		for _, f := range factors {
			l.ends = append(l.ends, end{fmt.Sprintf("%.4g times", f), func(q *model.WhatIf) { scale(q, f) }})
		}
		return l
	}
	list := machineLevers(q, scaled)
	list = append(list, fixedCostLevers(q, scaled)...)
	list = append(list, programLevers(q, scaled)...)
	list = append(list, slotLevers(q)...)
	settings, err := tune.SettingsOf(s, q)
	return append(list, settingLevers(settings, scaled)...), err
}

// scaling makes a lever whose ends multiply an input.
type scaling func(kind, name, from string, scale func(*model.WhatIf, float64)) lever

// machineLevers are the rates and costs of the machines.
func machineLevers(q *model.WhatIf, scaled scaling) (list []lever) {
	var seen []string
	for i := range q.Cluster.Machines {
		m := &q.Cluster.Machines[i]
		if m.Fitted != nil {
			continue // lines in place of devices
		}
		for _, k := range platform.Parameters(m) {
			if slices.Contains(seen, k.Name) {
				continue
			}
			seen = append(seen, k.Name)
			list = append(list, scaled("platform", k.Name, machineValue(k, m), func(q *model.WhatIf, f float64) {
				for i := range q.Cluster.Machines {
					k.Scale(&q.Cluster.Machines[i], f)
				}
			}))
		}
	}
	return list
}

// machineValue writes a parameter in the unit of its key.
func machineValue(k platform.Parameter, m *model.Machine) string {
	v := k.Value(m)
	switch {
	case strings.HasSuffix(k.Name, "_mb"):
		return fmt.Sprintf("%.4g MB/s", v/1e6)
	case strings.HasSuffix(k.Name, "_records"), k.Name == "speed", strings.HasSuffix(k.Name, ".alpha"):
		return fmt.Sprintf("%.4g", v)
	case strings.HasSuffix(k.Name, ".chunk"):
		return fmt.Sprintf("%.4g MB", v/1e6)
	}
	return fmt.Sprintf("%.4g ns", v)
}

// fixedCostLevers are the times that do not depend on data.
func fixedCostLevers(q *model.WhatIf, scaled scaling) (list []lever) {
	for _, cost := range []struct {
		key string
		of  func(*model.WhatIf) *time.Duration
	}{
		{"launch", func(q *model.WhatIf) *time.Duration { return &q.Cluster.Costs.Launch }},
		{"setup", func(q *model.WhatIf) *time.Duration { return &q.Cluster.Costs.Setup }},
		{"cleanup", func(q *model.WhatIf) *time.Duration { return &q.Cluster.Costs.Cleanup }},
		{"commit", func(q *model.WhatIf) *time.Duration { return &q.Cluster.Costs.Commit }},
		{"task_cleanup", func(q *model.WhatIf) *time.Duration { return &q.Cluster.Costs.TaskCleanup }},
	} {
		if now := *cost.of(q); now > 0 {
			list = append(list, scaled("cost", "cluster.costs."+cost.key, now.String(), func(q *model.WhatIf, f float64) {
				*cost.of(q) = time.Duration(float64(*cost.of(q)) * f)
			}))
		}
	}
	return list
}

// programLevers are the costs of the jobs' own code.
func programLevers(q *model.WhatIf, scaled scaling) (list []lever) {
	for _, cost := range []struct {
		key string
		of  func(*model.Program) *float64
	}{
		{"profile.cpu.map_record", func(p *model.Program) *float64 { return &p.MapCPU }},
		{"profile.cpu.reduce_record", func(p *model.Program) *float64 { return &p.ReduceCPU }},
		{"profile.combiner.record", func(p *model.Program) *float64 { return &p.CombineCPU }},
	} {
		i := slices.IndexFunc(q.Programs, func(p model.Program) bool { return *cost.of(&p) > 0 })
		if i < 0 {
			continue
		}
		list = append(list, scaled("profile", cost.key, fmt.Sprintf("%.4g ns", *cost.of(&q.Programs[i])), func(q *model.WhatIf, f float64) {
			for i := range q.Programs {
				*cost.of(&q.Programs[i]) *= f
			}
		}))
	}
	return list
}

// slotLevers add a slot to every node, and take one away where there is more.
func slotLevers(q *model.WhatIf) (list []lever) {
	for _, kind := range []struct {
		key string
		of  func(*model.Node) *int
	}{
		{"cluster.map_slots", func(n *model.Node) *int { return &n.MapSlots }},
		{"cluster.reduce_slots", func(n *model.Node) *int { return &n.ReduceSlots }},
	} {
		least := math.MaxInt
		for i := range q.Cluster.Nodes {
			least = min(least, *kind.of(&q.Cluster.Nodes[i]))
		}
		now := *kind.of(&q.Cluster.Nodes[0])
		l := lever{name: kind.key, from: strconv.Itoa(now), kind: "setting"}
		for _, step := range []int{-1, 1} {
			if least+step > 0 {
				l.ends = append(l.ends, end{strconv.Itoa(now + step), func(q *model.WhatIf) {
					for i := range q.Cluster.Nodes {
						*kind.of(&q.Cluster.Nodes[i]) += step
					}
				}})
			}
		}
		list = append(list, l)
	}
	return list
}

// settingLevers are the Hadoop properties that tune searches, and the number of reduces.
func settingLevers(settings []tune.Setting, scaled scaling) (list []lever) {
	for i := range settings {
		d := &settings[i]
		if d.Name == "reduces" {
			list = append(list, scaled("setting", d.Name, d.Text(d.Start), func(q *model.WhatIf, f float64) {
				for i := range q.Jobs {
					if r := &q.Jobs[i].Reduces; r.Count > 0 && r.Shares == nil {
						r.Resize(max(1, int(math.Round(float64(r.Count)*f))))
					}
				}
			}))
			continue
		}
		l := lever{name: d.Name, from: d.Text(d.Start), kind: "setting"}
		values := []float64{d.Min, d.Max}
		if d.IsSwitch || d.Choices != nil {
			values = d.Tries
		}
		for _, v := range values {
			if v = d.Round(v); v != d.Round(d.Start) {
				l.ends = append(l.ends, end{d.Text(v), func(q *model.WhatIf) {
					var conf workload.Conf
					conf.Set(d.Name, d.Text(v))
					for i := range q.Jobs {
						q.Jobs[i].Conf = q.Jobs[i].Conf.Over(conf)
					}
				}})
			}
		}
		list = append(list, l)
	}
	return list
}

// predictLevers returns, for each end, the change that each model predicts. Models
// that do not answer are left out.
func predictLevers(q *model.WhatIf, levers []lever, models []analytic.Predictor) (changes []map[string]float64, names []string, err error) {
	ask := func(q *model.WhatIf) (map[string]float64, error) {
		answers, err := predict.Ask(q, models)
		means := map[string]float64{}
		for _, a := range answers {
			if a.Err == nil {
				means[a.Prediction.Model] = a.Prediction.Mean.Seconds()
			}
		}
		return means, err
	}
	base, err := ask(q)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range models {
		if base[m.Name] > 0 {
			names = append(names, m.Name)
		}
	}
	for _, l := range levers {
		for _, e := range l.ends {
			changed := q.Copy()
			e.apply(&changed)
			means, err := ask(&changed)
			if err != nil {
				return nil, nil, err
			}
			change := map[string]float64{}
			for _, name := range names {
				if means[name] > 0 {
					change[name] = means[name]/base[name] - 1
				}
			}
			changes = append(changes, change)
		}
	}
	return changes, names, nil
}
