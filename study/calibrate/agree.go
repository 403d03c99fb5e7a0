package calibrate

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
)

// shown returns a candidate with the costs of the programs that its simulation asks
// for, and the rows as they would be with these.
func (c *RunCalibration) shown(q model.WhatIf, at candidate) (candidate, platform.Profile, error) {
	rows, err := c.simulate(q, at)
	if err != nil {
		return at, nil, err
	}
	to := candidate{machine: at.machine, costs: slices.Clone(at.costs)}
	for i := range to.costs {
		c.fit(i, &to.costs[i], &at.machine, &q, rows)
	}
	return to, c.moved(&q, rows, &at, &to), nil
}

// fitted returns a candidate with the costs of the programs with which maps and reduces
// compute, or else take, as long as recorded, or 0 where they take longer without any,
// and the rows of the simulation.
func (c *RunCalibration) fitted(q model.WhatIf, at candidate) (best candidate, bestRows platform.Profile, err error) {
	least := math.Inf(1)
	at.costs = slices.Clone(at.costs)
	for range foundRounds {
		rows, err := c.simulate(q, at)
		if err != nil {
			return best, nil, err
		}
		if off := c.off(rows); off < least {
			least, best, bestRows = off, candidate{machine: at.machine, costs: slices.Clone(at.costs)}, rows
		}
		done := true
		for i := range at.costs {
			done = c.fit(i, &at.costs[i], &at.machine, &q, rows) && done
		}
		if done {
			return at, rows, nil
		}
	}
	return best, bestRows, nil
}

// sharing returns by how much a map and a reduce take longer for each second that they
// compute, if all slots of their kind compute at once.
func sharing(q *model.WhatIf, m *model.Machine) [2]float64 {
	n := &q.Cluster.Nodes[len(q.Cluster.Nodes)/2]
	return [2]float64{max(1, float64(n.MapSlots)/float64(m.Cores)), max(1, float64(n.ReduceSlots)/float64(m.Cores))}
}

// moved returns the rows of a simulation as they would be with other costs of the
// programs.
func (c *RunCalibration) moved(q *model.WhatIf, rows platform.Profile, from, to *candidate) platform.Profile {
	slots := q.Cluster.Slots()[workload.Map]
	waves := map[string]float64{}
	for i := range q.Jobs {
		waves[q.Jobs[i].ID] = max(1, float64(q.Jobs[i].Maps.Count)/float64(max(1, slots)))
	}
	var moved platform.Profile
	shared := sharing(q, &to.machine)
	for i := range from.costs {
		for _, job := range c.jobs[i] {
			var by [2]float64 // ms of a task
			for kind := range by {
				more := (to.costs[i].cost[kind] - from.costs[i].cost[kind]) * c.records[job][kind]
				if kind == int(workload.Map) {
					more += (to.costs[i].combine - from.costs[i].combine) * c.combining[i].records
				}
				by[kind] = more / (1e6 * to.machine.Speed)
			}
			maps := rowOf(rows, mapRow+" "+job)
			for _, row := range slices.Concat(runRows, besideRows) {
				ms := rowOf(rows, row+" "+job)
				if ms < 0 {
					continue
				}
				switch row {
				case mapCPURow:
					ms += by[workload.Map]
				case mapRow, crowdedRow:
					ms += by[workload.Map] * shared[workload.Map]
				case aloneRow:
					ms += by[workload.Map]
				case scatterRow:
					ms *= maps / max(1, maps+by[workload.Map]*shared[workload.Map])
				case reduceCPURow:
					ms += by[workload.Reduce]
				case reduceRow:
					ms += by[workload.Reduce] * shared[workload.Reduce]
				case jobRow:
					ms += waves[job]*by[workload.Map]*shared[workload.Map] + by[workload.Reduce]*shared[workload.Reduce]
				}
				moved.Add(row+" "+job, platform.PhaseRow{MS: max(0, ms)})
			}
		}
	}
	return moved
}

// off sums the squared differences of the recorded rows.
func (c *RunCalibration) off(rows platform.Profile) (sum float64) {
	for _, row := range c.recorded {
		if strings.HasPrefix(row.Phase, scatterRow) {
			continue // not a time
		}
		off := math.Log((rowOf(rows, row.Phase) + 1) / (row.Rows[0].MS + 1))
		sum += float64(off * off)
	}
	return sum
}

// nearEnough is the part of a recorded time to which costs are found.
const nearEnough = 0.01

// fit changes the costs of a program by what its tasks lack in a simulation. It
// reports whether they were right.
func (c *RunCalibration) fit(program int, at *programCosts, m *model.Machine, q *model.WhatIf, rows platform.Profile) bool {
	done, speed, shared := true, m.Speed, sharing(q, m)
	for kind, row := range []string{mapRow, reduceRow} {
		jobs := c.jobsLike(program)
		whole, got, counted := c.meansOf(jobs, row, rows)
		records := 0.0
		for _, job := range jobs {
			if rowOf(c.recorded, row+" "+job) >= 0 && rowOf(rows, row+" "+job) >= 0 {
				records += c.records[job][kind] / float64(counted)
			}
		}
		if counted == 0 || records == 0 {
			continue
		}
		want := whole
		if w, g, n := c.meansOf(jobs, row+"-cpu", rows); n == counted {
			want, got, shared[kind] = w, g, 1
		}
		combined := c.combining[c.alike[program][0]].records / records // per record of the map
		was := at.cost[kind]
		if kind == int(workload.Map) {
			was += float64(at.combine * combined)
		}
		next := math.Max(0, was+(want-got)*1e6*speed/records/shared[kind]) // closes the gap
		done = done && (math.Abs(want-got) <= nearEnough*want || next == 0 && was == 0)
		at.cost[kind], at.part[kind] = next, math.Min(1, next*records/(1e6*speed*whole))
		if kind == int(workload.Map) && combined > 0 && next > 0 {
			done = c.combiner(program, at, next/combined, speed, rows) && done
			at.cost[kind], at.combine = (1-at.share)*next, at.share*next/combined
		}
	}
	return done
}

// combiner finds the share of the combiner in the code of maps, of which most is the
// cost per record that it gets. Merges of maps that combine take as long as
// recorded, or else whole maps: the thread that spills combines while the map
// function runs. It reports whether the share was right.
func (c *RunCalibration) combiner(program int, at *programCosts, most, speed float64, rows platform.Profile) bool {
	const first, considerable = 0.5, 0.05
	of := c.combining[c.alike[program][0]]
	jobs := c.jobsLike(program)
	if _, _, counted := c.meansOf(jobs, mapCPURow, rows); counted == 0 {
		return true
	}
	if want, got, counted := c.meansOf(jobs, mergeRow, rows); counted > 0 && of.merged > considerable*of.records {
		at.share = math.Max(0, math.Min(1, (at.combine+(want-got)*1e6*speed/of.merged)/most))
		return math.Abs(want-got) <= nearEnough*want
	}
	want, got, _ := c.meansOf(jobs, mapRow, rows)
	gap, share := (want-got)/want, at.share
	if math.Abs(gap) <= nearEnough {
		return true
	}
	switch moved := gap - at.gap; {
	case share == at.before:
		at.share = first
	case math.Abs(moved) > nearEnough/2:
		at.share = math.Max(0, math.Min(1, share-gap*(share-at.before)/moved))
	}
	at.before, at.gap = share, gap
	return at.share == share
}

// jobsLike returns the jobs of a program and of those that do the same.
func (c *RunCalibration) jobsLike(program int) (jobs []string) {
	for _, i := range c.alike[program] {
		jobs = append(jobs, c.jobs[i]...)
	}
	return jobs
}

// meansOf returns the mean recorded and simulated times of a row over the jobs that have
// it, ms, and their number.
func (c *RunCalibration) meansOf(of []string, row string, simulated platform.Profile) (want, got float64, jobs int) {
	for _, job := range of {
		w, g := rowOf(c.recorded, row+" "+job), rowOf(simulated, row+" "+job)
		if w >= 0 && g >= 0 {
			want, got, jobs = want+w, got+g, jobs+1
		}
	}
	return want / float64(max(1, jobs)), got / float64(max(1, jobs)), jobs
}

// with returns a question about a candidate.
func (c *RunCalibration) with(q model.WhatIf, at candidate) model.WhatIf {
	q.Cluster.Machines = []model.Machine{at.machine}
	q.Programs = slices.Clone(q.Programs)
	for i := range q.Programs {
		if k := c.programOf(&q.Programs[i]); k >= 0 {
			q.Programs[i].MapCPU, q.Programs[i].ReduceCPU = at.costs[k].cost[workload.Map], at.costs[k].cost[workload.Reduce]
			q.Programs[i].CombineCPU = at.costs[k].combine
			q.Programs[i].CV = c.Programs[k].CV
		}
	}
	return q
}

func (c *RunCalibration) simulate(q model.WhatIf, at candidate) (platform.Profile, error) {
	q = c.with(q, at)
	times, err := simulatedTimes(&q)
	if err != nil {
		return nil, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.Runs++
	if c.progress != nil {
		c.progress(study.SweepStatus{Done: c.Runs, Ended: c.Runs, Total: MostSimulations})
	}
	var rows platform.Profile
	var all []workload.Attempt
	for i := range q.Jobs {
		all = append(all, times[q.Jobs[i].ID].all...)
	}
	load := hostLoad(all)
	for i := range q.Jobs {
		id := q.Jobs[i].ID
		times[id].rows(&rows, id)
		times[id].besideRows(&rows, id, load)
	}
	return rows, nil
}

// question opens the scenario of the calibration as a user does later.
func (c *RunCalibration) question(seed uint64) (q model.WhatIf, err error) {
	dir, err := os.MkdirTemp("", "slotwave-")
	if err != nil {
		return q, err
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(filepath.Join(dir, profilesFolder), 0o777); err != nil {
		return q, err
	}
	for _, f := range c.Files("") {
		write := f.Write
		if f.Name == platformName {
			write = c.writeStart
		}
		if err := resultdir.WriteFile(filepath.Join(dir, f.Name), 0o666, write); err != nil {
			return q, err
		}
	}
	f, err := scenarios.Open(filepath.Join(dir, scenarioName))
	if err != nil {
		return q, err
	}
	s, err := f.Scenario(seed)
	if err != nil {
		return q, err
	}
	return s.Runs[0].Question, nil
}
