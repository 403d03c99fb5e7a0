package reproduce

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/simulated"
	"github.com/slotwave/slotwave/study/sweep"
	"github.com/slotwave/slotwave/workload"
)

// busyThreads adds up the time in which the threads of all tasks do not wait.
type busyThreads [model.NumThreads]time.Duration

func (b *busyThreads) Span(s *model.Span) {
	if s.Wait == model.NoWait {
		b[s.Thread] += s.End - s.Begin
	}
}

// tablesOf are the tables of a simulated run of an experiment. That of limits has the
// parts of the jobs' time by what limited them, from their ledgers.
func (e *Experiment) tablesOf(q *model.WhatIf) (map[string][]row, error) {
	var attempts simulated.Attempts
	var threads busyThreads
	s := sim.Simulator{Recorder: results.Recorders{&attempts}}
	if e.Threads {
		s.Spans = &threads
	}
	p, err := study.Predict(s, q)
	if err != nil {
		return nil, err
	}
	t := map[string][]row{"maps": {}, "reduces": {}, "jobs": {}, "devices": {}}
	for i := range attempts {
		if a := &attempts[i]; a.State == workload.Succeeded {
			switch a.Kind {
			case workload.Map:
				t["maps"] = append(t["maps"], attemptRow{a})
			case workload.Reduce:
				t["reduces"] = append(t["reduces"], attemptRow{a})
			}
		}
	}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		t["jobs"] = append(t["jobs"], cells{
			"name": j.Name, "start": j.Submit.Seconds(), "finish": j.Finish.Seconds(), "first_map": j.FirstMap.Seconds(), "last_map": j.LastMap.Seconds(),
			"shuffle_end": j.ShuffleEnd.Seconds(), "maps": float64(j.Maps), "reduces": float64(j.Reduces),
			"map_waves": float64(j.MapWaves), "reduce_waves": float64(j.ReduceWaves),
		})
	}
	for i := range p.Devices {
		for step := range p.Devices[i].Uses {
			t["devices"] = append(t["devices"], deviceRow{&p.Devices[i], step})
		}
	}
	if e.Threads {
		for thread, busy := range threads {
			t["threads"] = append(t["threads"], cells{"thread": model.Thread(thread).String(), "busy": busy.Seconds()})
		}
	}
	if e.Limits {
		list, err := study.Limits(q, nil)
		if err != nil {
			return nil, err
		}
		list, _ = results.SharesOf(list)
		for _, l := range list {
			t["limits"] = append(t["limits"], cells{"limit": l.What, "share": float64(l.Share)})
		}
	}
	return t, nil
}

// sampled opens the points of an experiment whose unknown inputs vary.
func (r *reproducing) sampled(e *Experiment) (*sweep.Sweep, error) {
	file := struct {
		Scenario string           `toml:"scenario"`
		Samples  int              `toml:"samples,omitzero"`
		Sampling string           `toml:"sampling,omitempty"`
		Factor   []map[string]any `toml:"factor"`
	}{Scenario: e.Scenario}
	if e.Points > 0 {
		file.Samples, file.Sampling = e.Points, "sobol"
	}
	for _, u := range e.Inputs {
		file.Factor = append(file.Factor, u.Factor)
	}
	if len(file.Factor) == 0 { // a study varies something
		file.Factor = []map[string]any{{"key": "job.0.submit", "values": []string{"0s"}}}
	}
	var text bytes.Buffer
	if err := toml.NewEncoder(&text).Encode(file); err != nil {
		return nil, err
	}
	name := filepath.Join(r.work, "study-"+e.Name+".toml")
	if err := resultdir.WriteFile(name, 0o666, resultdir.Text(text.String())); err != nil {
		return nil, err
	}
	set := slices.Clone(e.Set)
	if names := sortedKeys(e.Runs); len(names) > 0 {
		set = append(set, e.Runs[names[0]]...) // for the keys of [vary]; each run replaces it
	}
	seed := max(1, r.Seed)
	return sweep.Open(name, sweep.Options{Set: set, Seed: &seed})
}

// settings are those of a choice of the unknown inputs.
func (e *Experiment) settings(inputs []string) (all []string) {
	for i, v := range inputs {
		all = append(all, fmt.Sprintf("%s=%s", e.Inputs[i].Factor["key"], v))
	}
	return all
}

// simulatePoint makes the tables of the runs at a point.
func (e *Experiment) simulatePoint(s *sweep.Sweep, settings []string) (tables, error) {
	all := tables{}
	runs := e.Runs
	if len(runs) == 0 {
		runs = map[string][]string{"run": nil}
	}
	for _, name := range sortedKeys(runs) {
		f, err := s.Base.File.With(slices.Concat(settings, runs[name])...)
		if err != nil {
			return nil, err
		}
		scenario, err := f.Scenario(s.File.Seed)
		if err != nil {
			return nil, err
		}
		if len(scenario.Runs) != 1 {
			return nil, fmt.Errorf("run %s: got %d runs of %s: want the keys of its [vary] set", name, len(scenario.Runs), e.Scenario)
		}
		if all[name], err = e.tablesOf(&scenario.Runs[0].Question); err != nil {
			return nil, fmt.Errorf("run %s: %w", name, err)
		}
	}
	return all, nil
}

// measured evaluates the measures of all claims.
func (e *Experiment) measured(t tables) (values []float64s, err error) {
	for i := range e.Claim {
		c := &e.Claim[i]
		list := float64s{}
		for _, m := range c.measures() {
			v, err := t.measure(expression(m))
			if err != nil {
				return nil, fmt.Errorf("%s: measure %q: %w", c.ID, m, err)
			}
			list = append(list, v)
		}
		values = append(values, list)
	}
	return values, nil
}

// once fills in the values of a point from the journal, or else from the tables, and
// then adds them to the journal.
func (r *reproducing) once(paper string, e *Experiment, p *point, make func() (tables, error)) error {
	key := r.key(paper, e, p.Inputs)
	if values, ok := r.journal.find(key); ok {
		p.Values = values
		return nil
	}
	t, err := make()
	if err == nil {
		p.Values, err = e.measured(t)
	}
	if err != nil {
		return fmt.Errorf("%s, inputs %v: %w", e.Name, p.Inputs, err)
	}
	if err := r.journal.add(journalLine{key, p.Values}); err != nil || r.Progress == nil {
		return err
	}
	r.journal.lock.Lock()
	defer r.journal.lock.Unlock()
	r.status.Done, r.status.Ended, r.status.Step = r.status.Done+1, r.status.Ended+1, paper+" "+e.Name
	r.Progress(r.status)
	return nil
}

// key identifies what a point depends on: the program, the experiment and the inputs.
func (r *reproducing) key(paper string, e *Experiment, inputs []string) string {
	sum := sha256.New()
	build := r.Build
	json.NewEncoder(sum).Encode([]any{build.Version, build.Revision, build.Go, paper, e, inputs, r.Seed, r.Platform})
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
