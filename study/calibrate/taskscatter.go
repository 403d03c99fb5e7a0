package calibrate

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/workload"
)

const (
	leastFreedom = 10   // of equal tasks to tell their scatter: known to a quarter
	scatterError = 0.01 // probability that a coefficient is found where there is none
	scatterRuns  = 3    // simulations whose scatter is averaged
	leastScatter = 0.01 // of a coefficient of variation: less changes no time that is printed
	leastCounted = 0.03 // of the same by counters of the processor
	leastMillis  = 100  // of the processor: counters are rounded to one
	likeRecords  = 0.7  // logarithm of their records, within which tasks count as equal
	mostScatter  = 3
)

// varied reports whether equal tasks of some program differ.
func (c *RunCalibration) varied() bool {
	return slices.ContainsFunc(c.Programs, func(p model.Program) bool { return p.CV != [2]float64{} })
}

// countScatter takes the scatter of the time that equal tasks computed, where the record
// counts it, before a machine is looked for: one far task makes a whole job longer, which
// no machine explains.
func (c *RunCalibration) countScatter() {
	differ := slices.ContainsFunc(c.hosts, func(f hostFactor) bool { return f.Differs })
	for i := range c.Programs {
		for kind := range c.Programs[i].CV {
			var values []fit.GroupValue
			for n, j := range c.tasks {
				if !slices.Contains(c.jobsLike(i), j.job) {
					continue
				}
				computed := func(a workload.Attempt) bool {
					return int(a.Kind) == kind && a.State == workload.Succeeded && a.CPUMillis >= leastMillis && a.InRecords > 0
				}
				var records []float64
				for _, a := range j.attempts {
					if computed(a) {
						records = append(records, float64(a.InRecords))
					}
				}
				slices.Sort(records)
				hosts := map[string]int{}
				for _, a := range j.attempts {
					if !computed(a) || math.Abs(math.Log(float64(a.InRecords)/records[len(records)/2])) > likeRecords {
						continue
					}
					host := 0
					if differ {
						if _, known := hosts[a.Node]; !known {
							hosts[a.Node] = len(hosts)
						}
						host = hosts[a.Node]
					}
					values = append(values, fit.GroupValue{Group: host, Condition: n, Value: math.Log(float64(a.CPUMillis) / float64(a.InRecords))})
				}
			}
			if s := fit.Within(values); s.Freedom >= leastFreedom/2 && s.Variance > leastCounted*leastCounted {
				c.Programs[i].CV[kind] = math.Min(mostScatter, math.Sqrt(math.Expm1(s.Variance)))
			}
		}
	}
}

// findScatter finds coefficients of variation with which simulated tasks scatter as
// much as recorded ones.
func (c *RunCalibration) findScatter(q model.WhatIf, apart bool) error {
	const rounds = 3
	recorded := c.scatterOf(c.tasks, apart)
	c.scatters = make([][2]taskScatter, len(c.Programs))
	simulated, err := c.simulatedScatter(q)
	if err != nil {
		return err
	}
	found := false
	for i := range c.scatters {
		for kind := range c.scatters[i] {
			s := &c.scatters[i][kind]
			s.Recorded, s.Simulated = recorded[i][kind], simulated[i][kind]
			s.Known = s.Recorded.Freedom >= leastFreedom && s.Simulated.Freedom >= leastFreedom
			if s.CV = c.Programs[i].CV[kind]; s.CV > 0 {
				s.counted = true
			} else if s.more() {
				s.CV = math.Min(mostScatter, math.Sqrt(s.Recorded.Variance-s.Simulated.Variance))
				found = true
			}
		}
	}
	for range rounds {
		if !found {
			return nil
		}
		c.takeScatter()
		if simulated, err = c.simulatedScatter(q); err != nil {
			return err
		}
		for i := range c.scatters {
			for kind := range c.scatters[i] {
				s := &c.scatters[i][kind]
				if s.CV == 0 || s.counted {
					continue
				}
				want, got := s.Recorded.Variance-s.Simulated.Variance, simulated[i][kind].Variance-s.Simulated.Variance
				factor := math.Sqrt(want / math.Max(got, want/16))
				s.CV = math.Min(mostScatter, s.CV*factor)
				// Of the recorded scatter, and of the part of it that the simulation has anyway.
				s.Error = s.CV / 2 * math.Hypot(s.Recorded.Error, s.Simulated.Error/math.Sqrt(scatterRuns)) / want
			}
		}
	}
	for i := range c.scatters {
		for kind := range c.scatters[i] {
			if s := &c.scatters[i][kind]; s.CV < leastScatter {
				s.CV = 0
			}
		}
	}
	c.takeScatter()
	return nil
}

// more reports whether recorded tasks differ more than simulated ones, by enough
// to be printed. The freedom of scattered times is less where a few are far off.
func (s *taskScatter) more() bool {
	if !s.Known || s.Recorded.Variance-s.Simulated.Variance <= leastScatter*leastScatter {
		return false
	}
	free := func(x fit.Scatter) float64 { return 2 * x.Variance * x.Variance / (x.Error * x.Error) }
	if s.Simulated.Variance == 0 {
		return true
	}
	ratio := s.Recorded.Variance / s.Simulated.Variance
	return distuv.F{D1: free(s.Recorded), D2: free(s.Simulated)}.Survival(ratio) < scatterError
}

func (c *RunCalibration) takeScatter() {
	for i := range c.Programs {
		for kind := range c.scatters[i] {
			c.Programs[i].CV[kind] = c.scatters[i][kind].CV
		}
	}
}

// simulatedScatter returns the mean scatter over a few seeds.
func (c *RunCalibration) simulatedScatter(q model.WhatIf) ([][2]fit.Scatter, error) {
	q = c.with(q, candidate{machine: c.Machine, costs: c.found.costs})
	all := make([][2]fit.Scatter, len(c.Programs))
	for run := range scatterRuns {
		q.Seed = uint64(run + 1)
		times, err := simulatedTimes(&q)
		if err != nil {
			return nil, err
		}
		var jobs []jobAttempts
		for _, j := range c.tasks {
			jobs = append(jobs, jobAttempts{j.job, times[j.job].all})
		}
		for i, scatter := range c.scatterOf(jobs, false) {
			for kind, s := range scatter {
				all[i][kind].Variance += s.Variance / scatterRuns
				all[i][kind].Error += s.Error / scatterRuns
				all[i][kind].Freedom = s.Freedom
			}
		}
	}
	return all, nil
}

// scatterOf returns the scatter of equal tasks by program and kind.
func (c *RunCalibration) scatterOf(jobs []jobAttempts, apart bool) [][2]fit.Scatter {
	loads := loadsBeside(jobs, apart)
	found := make([][2]fit.Scatter, len(c.Programs))
	for program := range c.Programs {
		for kind := range found[program] {
			var values []fit.GroupValue
			used := 0
			for n, j := range jobs {
				if !slices.Contains(c.jobs[program], j.job) {
					continue
				}
				times, hosts := equalTasks(j.attempts, workload.Kind(kind), c.startup(), loads[n]), map[string]int{}
				for i, host := range times.host {
					if _, known := hosts[host]; !known {
						hosts[host] = len(hosts)
					}
					values = append(values, fit.GroupValue{Group: hosts[host], Condition: n, Value: times.log[i]})
				}
				used += times.used
			}
			s := fit.Within(values)
			if s.Freedom > used { // the covariates took some
				s.Variance *= float64(s.Freedom) / float64(s.Freedom-used)
				s.Freedom -= used
			}
			found[program][kind] = s
		}
	}
	return found
}

// writeScatter writes the scatter of equal tasks, and of which the record does not
// tell it.
func (c *RunCalibration) writeScatter(w io.Writer) {
	fmt.Fprintln(w, "equal tasks of\tkind\trecorded scatter\tsimulated\tcoefficient of variation of their CPU time")
	var unknown []string
	for i := range c.scatters {
		for kind, s := range c.scatters[i] {
			name := workload.Kind(kind).String()
			if !s.Known && !s.counted {
				unknown = append(unknown, fmt.Sprintf("%ss of %s (n=%d)", name, c.Programs[i].Title, s.Recorded.Freedom))
				continue
			}
			text := "0: the simulated ones differ as much"
			if s.counted {
				text = fmt.Sprintf("%.3f, by the counters of the processor", s.CV)
			} else if s.CV > 0 {
				text = fmt.Sprintf("%.3f ± %.3f", s.CV, s.Error)
			}
			fmt.Fprintf(w, "%s\t%s\t%.1f %%\t%.1f %%\t%s\n", c.Programs[i].Title, name, 100*math.Sqrt(s.Recorded.Variance), 100*math.Sqrt(s.Simulated.Variance), text)
		}
	}
	if len(unknown) > 0 {
		fmt.Fprintf(w, "Scatter not known, fewer than %d equal tasks beyond one a machine: %s\n", leastFreedom, strings.Join(unknown, ", "))
	}
}
