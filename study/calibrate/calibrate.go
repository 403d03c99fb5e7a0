// Package calibrate finds platforms and programs from what was measured.
//
//	CalibrateRuns  histories of jobs: rows by kind of task, task scatter, hosts (equaltasks, taskscatter)
//	OpenStarfish   profiles of Starfish
//	FitPlatform    microbenchmarks: a line or two for each phase (fit, fitting)
//	OpenTestbed    microbenchmarks on a simulated machine
//	FindProgram    the cost of a record in the map function of a job
package calibrate

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
	"github.com/slotwave/slotwave/workload/trace"
)

// candidate is a machine with the costs of the programs.
type candidate struct {
	machine model.Machine
	costs   []programCosts
	misfits []float64 // recorded time of the jobs of a program, relative to the simulated
}

// RunCalibration is a machine and the programs of recorded jobs, with which
// simulated tasks take as long as recorded ones.
type RunCalibration struct {
	Machine  model.Machine
	Runs     int // simulations
	Programs []model.Program
	Unused   []string // jobs that the calibration does not use, with the reason

	start     string // platform
	fidelity  string
	traces    []string
	format    string   // of the traces; empty: detected
	chosen    []string // patterns of their jobs; empty: all
	release   string
	scheduler study.Policy
	launch    bool // the record has no start of the JVM
	recorded  platform.Profile
	simulated platform.Profile
	files     []string // names of the programs' files
	found     candidate
	keys      []foundKey
	warnings  []string
	records   [][2]float64 // of one map and of one reduce, by program
	jobs      [][]string   // ids of the recorded jobs, by program
	combined  []bool       // a codec or a combiner that is not recorded made less of the map output, by program
	combining []combining  // by program
	packed    []bool       // compressed output whose ratio the recorded bytes contain, by program

	hosts    []hostFactor
	scatters [][2]taskScatter // by program, of maps and of reduces
	tasks    []jobAttempts    // recorded

	alternatives []candidate

	progress study.SweepProgress // may be nil
	mutex    sync.Mutex
}

// Calibrating says where a calibration starts and who is told how far it is.
type Calibrating struct {
	Start    string // platform
	Fidelity string
	Seed     uint64
	Progress study.SweepProgress // may be nil

	Known []string // KEY=VALUE of the machine, as in a platform file

	stated []string // keys that are not looked for
}

// programCosts are the costs of a program's own code, ns per record, and the part
// of the recorded time of maps and of the reduce phase that they explain.
type programCosts struct {
	cost, part [2]float64 // of maps, of reduces
	combine    float64    // of the combiner

	share       float64 // of the combiner in the code of maps
	before, gap float64 // the share in the round before, and the part of the time of maps that was missing
}

// combining counts the records that the combiner of one map gets, and those of
// them that it gets in merges.
type combining struct{ records, merged float64 }

// How many simulations a calibration takes, of each member one in every pass and step.
const (
	members      = 24
	passes       = 3  // of the smoother
	steps        = 2  // of the walks
	alternatives = 18 // with what was found a range of 90 %, if the truth is as likely as each of them
	foundRounds  = 9  // most, to fit the costs of what was found
)

// MostSimulations is how many simulations a calibration by recorded jobs takes at most,
// besides those for the scatter of equal tasks.
const MostSimulations = members*(passes+1+steps) + alternatives + 2*foundRounds

// mostPrograms limits the names of jobs, each of which has two costs to find.
const mostPrograms = 100

// CalibrateRuns finds the machine and the costs of the jobs' own code from
// recorded runs. It simulates the recorded workload with one machine after the
// other, from a shipped platform or a file on.
func CalibrateRuns(paths []string, r scenarios.Reading, k Calibrating) (*RunCalibration, error) {
	start, fidelity := k.Start, k.Fidelity
	if fidelity != model.Phase.String() && fidelity != model.Device.String() {
		return nil, fmt.Errorf("--fidelity %s: want phase or device", fidelity)
	}
	h, err := r.Open(paths...)
	if err != nil {
		return nil, err
	}
	*h, _ = h.WithoutStill()
	c := &RunCalibration{start: start, fidelity: fidelity, release: h.Release, format: r.Format, chosen: r.Jobs, progress: k.Progress}
	if err := c.open(h, paths, r.Topology); err != nil {
		return nil, err
	}
	if len(paths) == 1 {
		if c.scheduler, err = study.SchedulerOf(paths[0], study.Options{Seed: k.Seed, Reading: r}); err != nil {
			return nil, err
		}
	}
	q, err := c.question(k.Seed)
	if err != nil {
		return nil, err
	}
	if err := k.state(&q); err != nil {
		return nil, err
	}
	if err := c.find(q, &k, h.AtOnce() != ""); err != nil {
		return nil, err
	}
	c.takeCombiners(q)
	c.take()
	return c, nil
}

// takeCombiners enters the combiners of the simulated programs where the profile of the
// record has none: Rumen has the records into a combiner, and not those out of it.
// Without its combiner a program would lose the cost that was found for it.
func (c *RunCalibration) takeCombiners(q model.WhatIf) {
	for i := range q.Programs {
		simulated := &q.Programs[i]
		k := c.programOf(simulated)
		if k < 0 || !simulated.Combiner || c.Programs[k].Combiner {
			continue
		}
		p := &c.Programs[k]
		p.Combiner, p.Again = true, simulated.Again
		p.Data.CombineSizeSel, p.Data.CombineRecsSel = simulated.Data.CombineSizeSel, simulated.Data.CombineRecsSel
		p.Assumed = append(p.Assumed, "combiner: the bytes that reduces fetched are what it left of the map output")
	}
}

// programOf returns the index of the recorded program that a simulated one is made of,
// or -1.
func (c *RunCalibration) programOf(simulated *model.Program) int {
	file, _, _ := strings.Cut(simulated.Name, " as ")
	return slices.Index(c.files, file)
}

// open takes the programs, the times and the machines of a history.
func (c *RunCalibration) open(h *workload.History, paths []string, topology string) (err error) {
	if topology != "" {
		paths = append(slices.Clone(paths), topology)
	}
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		c.traces = append(c.traces, path)
	}
	if study.IsFile(c.start) {
		if c.start, err = filepath.Abs(c.start); err != nil {
			return err
		}
	}
	if err := c.readPrograms(h); err != nil {
		return err
	}
	c.measure(h)
	if len(c.recorded) == 0 {
		err := fmt.Errorf("%s: no job has what calibrating needs: want jobs that succeeded, with bytes, records and times of tasks (slotwave inspect lists what a record lacks)", strings.Join(paths, ", "))
		if len(c.Unused) > 0 {
			err = fmt.Errorf("%w; the first of %s: %s", err, workload.Counted(len(c.Unused), "job", "jobs"), c.Unused[0])
		}
		return err
	}
	c.hosts = FactorsOf(h)
	return nil
}

// readPrograms makes a program of each name of a job, with costs to start from.
func (c *RunCalibration) readPrograms(h *workload.History) error {
	var p workload.Profiler
	defer p.Close()
	for i := range h.Jobs {
		p.Add(&h.Jobs[i])
	}
	taken := map[string]bool{}
	return p.Each(func(r *workload.Profile) error {
		program, err := platform.ProgramOf(r)
		switch {
		case err != nil:
			c.Unused = append(c.Unused, fmt.Sprintf("%s: %v", r.Name, err))
			return nil
		case r.MapTime.N == 0 || r.MapInRecords.N == 0 || r.MapInRecords.Mean <= 0:
			c.Unused = append(c.Unused, r.Name+": no times or input records of maps")
			return nil
		case len(c.Programs) == mostPrograms:
			return fmt.Errorf("jobs of more than %d names: want fewer at a time", mostPrograms)
		}
		const half = 0.5e9 // ns: half of the recorded time, for want of better
		program.MapCPU = half * r.MapTime.Mean / r.MapInRecords.Mean
		if r.ReduceInRecords.N > 0 && r.ReduceInRecords.Mean > 0 && r.ReduceTime.N > 0 {
			program.ReduceCPU = half * r.ReduceTime.Mean / r.ReduceInRecords.Mean
		}
		name := text.Slug(r.Name)
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", text.Slug(r.Name), n)
		}
		taken[name] = true
		program.Source = []string{"slotwave platform calibrate: the costs with which simulated tasks take as long as those recorded in " + strings.Join(baseNames(c.traces), ", ")}
		c.files = append(c.files, name)
		records := [2]float64{r.MapInRecords.Mean, 0}
		if r.ReduceInRecords.N > 0 {
			records[workload.Reduce] = r.ReduceInRecords.Mean
		}
		c.records, c.jobs = append(c.records, records), append(c.jobs, nil)
		out := r.MapInBytes.Mean * float64(r.Maps) * program.Data.MapSizeSel
		c.combined = append(c.combined, !program.Combiner && r.ReduceInBytes.N > 0 && r.ReduceInBytes.Mean*float64(r.Reduces) < 0.95*out)
		c.combining, c.packed = append(c.combining, combining{}), append(c.packed, false)
		c.Programs = append(c.Programs, program)
		return nil
	})
}

// measure takes the rows of the recorded jobs. The time of a whole job that a standstill
// held up tells nothing of the machine.
func (c *RunCalibration) measure(h *workload.History) {
	c.launch = true
	for i := range h.Jobs {
		j := &h.Jobs[i]
		program := slices.IndexFunc(c.Programs, func(p model.Program) bool { return p.Title == j.Name || p.Title == j.ID })
		if program < 0 {
			continue
		}
		if j.Outcome != workload.Succeeded || !workload.Known(j.Submit) {
			c.Unused = append(c.Unused, fmt.Sprintf("%s: %v", j.ID, j.Outcome))
			continue
		}
		if compressed, err := j.Conf.Truth("mapred.output.compress"); err != nil || compressed {
			c.packed[program] = true
		}
		c.tasks = append(c.tasks, jobAttempts{job: cmp.Or(j.Conf.String(workload.OriginalID, ""), j.ID)})
		at := &c.tasks[len(c.tasks)-1]
		times, of, won := jobTimes{submit: j.Submit}, combining{}, 0.0
		for k := range j.Tasks {
			for n := range j.Tasks[k].Attempts {
				a := &j.Tasks[k].Attempts[n].Attempt
				at.attempts = append(at.attempts, *a)
				c.launch = c.launch && !workload.Known(a.Phases[workload.PhaseStartup])
				times.add(a)
				if a.Kind == workload.Map && a.State == workload.Succeeded && a.OutRecords >= 0 {
					of.records += float64(max(0, a.CombineInRecords))
					of.merged += float64(max(0, a.CombineInRecords-a.OutRecords))
					won++
				}
			}
		}
		c.combining[program] = combining{of.records / max(1, won), of.merged / max(1, won)}
		id := cmp.Or(j.Conf.String(workload.OriginalID, ""), j.ID)
		var rows platform.Profile
		times.rows(&rows, id)
		for _, row := range rows {
			if heldUp := strings.HasPrefix(row.Phase, jobRow) && j.Still; !heldUp && c.shows(rows, row, program, id) {
				c.recorded = append(c.recorded, row)
			}
		}
		c.jobs[program] = append(c.jobs[program], id)
	}
}

// startup is the start of a JVM where the record does not have it apart, as the
// scenario states it.
func (c *RunCalibration) startup() time.Duration {
	if c.launch {
		return time.Second
	}
	return 0
}

// shows reports whether a row of a job tells of the machine: it is a considerable
// part of its task, and no combiner of unknown effect took part in it.
func (c *RunCalibration) shows(rows platform.Profile, row platform.PhaseRows, program int, job string) bool {
	const least = 0.05
	name, _, _ := strings.Cut(row.Phase, " ")
	switch name {
	case mergeRow:
		return !c.combined[program] && row.Rows[0].MS > least*rowOf(rows, mapRow+" "+job)
	case shuffleRow, sortRow:
		whole := 0.0
		for _, part := range []string{shuffleRow, sortRow, reduceRow} {
			whole += rowOf(rows, part+" "+job)
		}
		return row.Rows[0].MS > least*whole
	case mapCPURow, reduceCPURow:
		return row.Rows[0].MS > 0
	}
	return true
}

// jobTimes collects the times of a job's tasks that succeeded.
type jobTimes struct {
	spec                  *workload.Job // nil: a recorded one
	submit, lastMap, last time.Duration
	maps, merges          []time.Duration
	reduces               []workload.Attempt
	cpu                   [2][]time.Duration // of maps, of reduces
}

func (t *jobTimes) add(a *workload.Attempt) {
	if a.State != workload.Succeeded || !workload.Known(a.Start) || !workload.Known(a.Finish) {
		return
	}
	t.last = max(t.last, a.Finish)
	if a.Kind <= workload.Reduce && a.CPUMillis != workload.Unknown {
		t.cpu[a.Kind] = append(t.cpu[a.Kind], time.Duration(a.CPUMillis)*time.Millisecond)
	}
	switch a.Kind {
	case workload.Map:
		t.lastMap = max(t.lastMap, a.Finish)
		t.maps = append(t.maps, a.Finish-a.Start)
		if merge := a.Phases[workload.PhaseMerge]; workload.Known(merge) {
			t.merges = append(t.merges, merge)
		}
	case workload.Reduce:
		t.reduces = append(t.reduces, *a)
	}
}

// The rows of a job: mean times of its maps, of their merge, of the shuffle after
// the last map, of the sort and of the rest of reduces, its own time until its
// last task ends, and mean times that maps and reduces computed.
const (
	mapRow       = "map"
	mergeRow     = "merge"
	shuffleRow   = "shuffle"
	sortRow      = "sort"
	reduceRow    = "reduce"
	jobRow       = "job"
	mapCPURow    = "map-cpu"
	reduceCPURow = "reduce-cpu"
)

var runRows = []string{mapRow, mergeRow, shuffleRow, sortRow, reduceRow, mapCPURow, reduceCPURow, jobRow}

func (t *jobTimes) rows(to *platform.Profile, job string) {
	add := func(row string, times []time.Duration) {
		if len(times) == 0 {
			return
		}
		ms := 0.0
		for _, d := range times {
			ms += 1000 * d.Seconds() / float64(len(times))
		}
		to.Add(row+" "+job, platform.PhaseRow{MS: ms})
	}
	add(mapRow, t.maps)
	add(mapCPURow, t.cpu[workload.Map])
	add(reduceCPURow, t.cpu[workload.Reduce])
	add(mergeRow, t.merges)
	var shuffles, sorts, rests []time.Duration
	for i := range t.reduces {
		a := &t.reduces[i]
		startup := max(0, a.Phases[workload.PhaseStartup])
		shuffle, merge := a.Phases[workload.PhaseShuffle], a.Phases[workload.PhaseMerge]
		if !workload.Known(shuffle) || !workload.Known(merge) {
			continue
		}
		end := a.Start + startup + shuffle
		shuffles = append(shuffles, max(0, end-max(a.Start, t.lastMap)))
		sorts = append(sorts, merge)
		rests = append(rests, a.Finish-end-merge)
	}
	add(shuffleRow, shuffles)
	add(sortRow, sorts)
	add(reduceRow, rests)
	add(jobRow, []time.Duration{t.last - t.submit})
}

// runTimes records the jobs of a simulation.
type runTimes map[string]*jobTimes

func (r runTimes) Attempt(a *workload.Attempt) {
	if t := r[a.Job]; t != nil {
		one := launched(t.spec, *a)
		t.add(&one)
	}
}

// launched returns a simulated attempt from its launch on, as a record has it: without
// the recorded time since its assignment, which its start-up contains.
func launched(j *workload.Job, a workload.Attempt) workload.Attempt {
	if a.Number == 0 && a.Kind <= workload.Reduce {
		wait := [...]*workload.Durations{&j.Maps.Localise, &j.Reduces.Localise}[a.Kind].At(a.Task, workload.Stream{})
		a.Start += wait
		a.Phases[workload.PhaseStartup] = max(0, a.Phases[workload.PhaseStartup]-wait)
	}
	return a
}

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
	slots := 0
	for i := range q.Cluster.Nodes {
		slots += q.Cluster.Nodes[i].MapSlots
	}
	waves := map[string]float64{}
	for i := range q.Jobs {
		waves[q.Jobs[i].ID] = max(1, float64(q.Jobs[i].Maps.Count)/float64(max(1, slots)))
	}
	var moved platform.Profile
	shared := sharing(q, &to.machine)
	for i := range from.costs {
		var by [2]float64 // ms of a task
		for kind := range by {
			more := (to.costs[i].cost[kind] - from.costs[i].cost[kind]) * c.records[i][kind]
			if kind == int(workload.Map) {
				more += (to.costs[i].combine - from.costs[i].combine) * c.combining[i].records
			}
			by[kind] = more / (1e6 * to.machine.Speed)
		}
		for _, job := range c.jobs[i] {
			for _, row := range runRows {
				ms := rowOf(rows, row+" "+job)
				if ms < 0 {
					continue
				}
				switch row {
				case mapCPURow:
					ms += by[workload.Map]
				case mapRow:
					ms += by[workload.Map] * shared[workload.Map]
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
		whole, got, jobs := c.meansOf(program, row, rows)
		records := c.records[program][kind]
		if jobs == 0 || records == 0 {
			continue
		}
		want := whole
		if w, g, counted := c.meansOf(program, row+"-cpu", rows); counted == jobs {
			want, got, shared[kind] = w, g, 1
		}
		combined := c.combining[program].records / records // per record of the map
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
	of := c.combining[program]
	if _, _, counted := c.meansOf(program, mapCPURow, rows); counted == 0 {
		return true
	}
	if want, got, jobs := c.meansOf(program, mergeRow, rows); jobs > 0 && of.merged > considerable*of.records {
		at.share = math.Max(0, math.Min(1, (at.combine+(want-got)*1e6*speed/of.merged)/most))
		return math.Abs(want-got) <= nearEnough*want
	}
	want, got, _ := c.meansOf(program, mapRow, rows)
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

// meansOf returns the mean recorded and simulated times of a row over the jobs of a
// program, ms.
func (c *RunCalibration) meansOf(program int, row string, simulated platform.Profile) (want, got float64, jobs int) {
	for _, job := range c.jobs[program] {
		w, g := rowOf(c.recorded, row+" "+job), rowOf(simulated, row+" "+job)
		if w >= 0 && g >= 0 {
			want, got, jobs = want+w, got+g, jobs+1
		}
	}
	return want / float64(max(1, jobs)), got / float64(max(1, jobs)), jobs
}

// rowOf returns the time of a row, or -1 if there is none.
func rowOf(p platform.Profile, row string) float64 {
	i := slices.IndexFunc(p, func(r platform.PhaseRows) bool { return r.Phase == row })
	if i < 0 {
		return -1
	}
	return p[i].Rows[0].MS
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
	times := runTimes{}
	for i := range q.Jobs {
		times[q.Jobs[i].ID] = &jobTimes{spec: &q.Jobs[i], submit: q.Jobs[i].Submit}
	}
	if _, err := (sim.Simulator{Recorder: times}).Predict(q); err != nil {
		return nil, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.Runs++
	if c.progress != nil {
		c.progress(study.SweepStatus{Done: c.Runs, Ended: c.Runs, Total: MostSimulations})
	}
	var rows platform.Profile
	for i := range q.Jobs {
		times[q.Jobs[i].ID].rows(&rows, q.Jobs[i].ID)
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

// writeStart writes the platform to start from.
func (c *RunCalibration) writeStart(w io.Writer) error {
	if study.IsFile(c.start) {
		data, err := os.ReadFile(c.start)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	m, err := scenarios.Platform(c.start)
	if err != nil {
		return err
	}
	return scenarios.WritePlatform(w, &m)
}

// take enters what was found into the machine and the programs.
func (c *RunCalibration) take() {
	m := &c.Machine
	m.Title = "Machine of recorded jobs"
	m.Source = []string{"slotwave platform calibrate: on this platform simulated tasks take as long as those recorded in " + strings.Join(baseNames(c.traces), ", ")}
	m.Assumed = nil
	if len(c.keys) == 0 { // made of a profile
		for _, key := range []string{"cores", "memory", "disk.count", "uplink_mb", "jvm.start", "jvm.heap_part"} {
			if key == "uplink_mb" && math.IsInf(m.Uplink, 1) {
				continue // the platform file does not have it
			}
			m.Assumed = append(m.Assumed, key+": as in "+filepath.Base(c.start)+"; a history does not tell it")
		}
	}
	for i := range c.keys {
		f := &c.keys[i]
		inFile := (f.key != "overlap" || m.Overlap) && (f.key != "page_cache" || m.PageCache) && (f.key != "dirty" || m.Dirty > 0)
		if f.told() != scenarios.Determined && inFile {
			m.Assumed = append(m.Assumed, fmt.Sprintf("%s: %s by the record, %s", f.key, f.told(), f.interval()))
		}
	}
	for i := range c.Programs {
		p, found := &c.Programs[i], &c.found.costs[i]
		p.MapCPU, p.ReduceCPU, p.CombineCPU = found.cost[workload.Map], found.cost[workload.Reduce], found.combine
		if len(c.found.misfits) > 0 {
			p.Misfit = c.found.misfits[i]
		}
		for kind, key := range []string{"cpu.map_record", "cpu.reduce_record"} {
			if why := found.known(kind); why != "" {
				p.Assumed = append(p.Assumed, key+": "+why)
			}
		}
	}
}

// known tells why a cost is not known well; empty: it is. An error of one percent
// in the time of the rest of a task is one of 1 % (1 - part)/part in the cost.
func (p *programCosts) known(kind int) string {
	switch part := p.part[kind]; {
	case part == 0:
		return "none is left: the rest of the task takes the recorded time"
	case part < 0.1:
		return fmt.Sprintf("%.0f %% of the recorded time, less than the rest of the task is known to", 100*part)
	}
	return ""
}

func baseNames(paths []string) (names []string) {
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	return names
}

// Names of what a calibration by recorded jobs writes.
const (
	platformName   = "platform.toml"
	scenarioName   = "scenario.toml"
	profilesFolder = "profiles"

	alternativesFolder = "alternatives"
)

// Files returns the platform, the profiles and a scenario that runs the recorded
// workload with them, for a folder. The scenario names the traces relative to
// the folder; without a folder their names are absolute.
func (c *RunCalibration) Files(folder string) []trace.File {
	files := []trace.File{
		{Name: scenarioName, Write: func(w io.Writer) error { return c.writeScenario(w, folder) }},
		{Name: platformName, Write: func(w io.Writer) error { return scenarios.WritePlatform(w, &c.Machine) }},
	}
	for i, name := range c.files {
		files = append(files, trace.File{Name: profilesFolder + "/" + name + ".toml", Write: func(w io.Writer) error {
			return scenarios.WriteProgram(w, &c.Programs[i])
		}})
	}
	draw := rand.New(rand.NewPCG(1, uint64(len(c.files))))
	for n, a := range c.alternatives {
		number := fmt.Sprintf("%02d", n+1)
		a.machine.Title, a.machine.Source, a.machine.Assumed = c.Machine.Title, c.Machine.Source, nil
		files = append(files, trace.File{Name: alternativesFolder + "/" + number + ".toml", Write: func(w io.Writer) error { return scenarios.WritePlatform(w, &a.machine) }})
		for i, name := range c.files {
			p := c.Programs[i]
			p.MapCPU, p.ReduceCPU, p.CombineCPU, p.Assumed = a.costs[i].cost[workload.Map], a.costs[i].cost[workload.Reduce], a.costs[i].combine, nil
			p.Misfit = a.misfits[i]
			if !c.packed[i] {
				p.Ratios = drawRatios(draw)
			}
			files = append(files, trace.File{Name: profilesFolder + "-" + number + "/" + name + ".toml", Write: func(w io.Writer) error { return scenarios.WriteProgram(w, &p) }})
		}
	}
	return files
}

// drawRatios draws how well codecs compress the data of a job. The ratio of a codec
// that the record uses follows from its bytes, whatever is drawn.
func drawRatios(r *rand.Rand) map[string]float64 {
	// The ratios of the measured programs differ from those of the codecs by factors
	// of 0.43 (TeraSort) to 2.1 (Sort).
	const spread = 0.6
	factor := math.Exp(spread * r.NormFloat64())
	ratios := map[string]float64{}
	for _, codec := range model.Codecs[1:] {
		ratios[codec.Name] = math.Min(1, codec.Ratio*factor)
	}
	return ratios
}

func (c *RunCalibration) writeScenario(w io.Writer, folder string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "title = %s\n", workload.TOMLText("Jobs of "+strings.Join(baseNames(c.traces), ", ")+" on the platform found from them"))
	fmt.Fprintf(&b, "fidelity = %s\n\n[cluster]\nplatform = %s\n", workload.TOMLText(c.fidelity), workload.TOMLText(platformName))
	if c.release != "" {
		fmt.Fprintf(&b, "hadoop = %s\n", workload.TOMLText(c.release))
	}
	if c.launch {
		fmt.Fprintf(&b, "[cluster.costs]\nlaunch = \"1s\"   # not recorded\n")
	}
	if slices.ContainsFunc(c.hosts, func(f hostFactor) bool { return f.Differs }) {
		fmt.Fprintf(&b, "[cluster.slowdowns]   # 95 %% intervals\n")
		for i := range c.hosts {
			if f := &c.hosts[i]; f.Differs {
				fmt.Fprintf(&b, "%s = %.3f   # %.2f to %.2f\n", workload.TOMLText(f.Host), f.Factor, f.Low, f.High)
			}
		}
	}
	if c.scheduler.Name != "" {
		fmt.Fprintf(&b, "[scheduler]\nname = %s   # %s\n", workload.TOMLText(c.scheduler.Name), c.scheduler.Why)
		if c.scheduler.Multiple != "" {
			fmt.Fprintf(&b, "%q = %s\n", study.MultipleKey, c.scheduler.Multiple)
		}
	}
	var names []string
	for _, path := range c.traces {
		if folder != "" {
			to, err := filepath.Abs(folder)
			if err != nil {
				return err
			}
			if relative, err := filepath.Rel(to, path); err == nil {
				path = relative
			}
		}
		names = append(names, workload.TOMLText(path))
	}
	fmt.Fprintf(&b, "\n[workload]\ntrace = [%s]\nprofiles = %s\n", strings.Join(names, ", "), workload.TOMLText(profilesFolder))
	if c.format != "" {
		fmt.Fprintf(&b, "format = %s\n", workload.TOMLText(c.format))
	}
	if len(c.chosen) > 0 {
		var patterns []string
		for _, p := range c.chosen {
			patterns = append(patterns, workload.TOMLText(p))
		}
		fmt.Fprintf(&b, "job = [%s]\n", strings.Join(patterns, ", "))
	}
	if len(c.Unused) > 0 {
		fmt.Fprintf(&b, "profile = %s   # of jobs that record too little\n", workload.TOMLText(profilesFolder+"/"+c.files[0]+".toml"))
	}
	if len(c.alternatives) > 0 {
		fmt.Fprintf(&b, "alternatives = %s   # calibrations that explain the record about as well\n", workload.TOMLText(alternativesFolder))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteText writes the errors by job, what was found with how well the record
// determines it, and what the record cannot tell.
func (c *RunCalibration) WriteText(w io.Writer) error {
	var text bytes.Buffer
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "simulated - recorded\t"+strings.Join(runRows, "\t"))
	var jobs []string
	for _, row := range c.recorded {
		if phase, job, _ := strings.Cut(row.Phase, " "); phase == mapRow {
			jobs = append(jobs, job)
		}
	}
	for _, job := range jobs {
		fmt.Fprint(t, job)
		for _, name := range runRows {
			fmt.Fprintf(t, "\t%s", c.rowText(name+" "+job))
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintln(t, "\nmachine\tfound\t90 % interval\tby the record")
	for i := range c.keys {
		f := &c.keys[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", f.key, f.text(f.found), f.interval(), f.told())
	}
	fmt.Fprintln(t)
	c.writeCosts(t)
	fmt.Fprintln(t)
	c.writeScatter(t)
	fmt.Fprintln(t)
	writeHosts(t, c.hosts)
	t.Flush()
	for _, a := range c.Machine.Assumed {
		if len(c.keys) == 0 { // otherwise the table has them
			fmt.Fprintf(&text, "Not recorded: %s\n", a)
		}
	}
	for _, u := range c.Unused {
		fmt.Fprintf(&text, "Not used: %s\n", u)
	}
	for _, w := range c.warnings {
		fmt.Fprintf(&text, "Warning: %s\n", w)
	}
	fmt.Fprintf(&text, "\n%d simulations\n", c.Runs)
	_, err := text.WriteTo(w)
	return err
}

// writeCosts writes the costs of each program with their 90 % intervals, the ranges
// over the alternatives.
func (c *RunCalibration) writeCosts(w io.Writer) {
	fmt.Fprintln(w, "program\tns per map record\t90 % interval\tof map time\tns per reduce record\t90 % interval\tof reduce time")
	for i := range c.Programs {
		fmt.Fprint(w, c.Programs[i].Title)
		for kind := range c.found.costs[i].cost {
			cost := c.found.costs[i].cost[kind]
			low, high := cost, cost
			for _, a := range c.alternatives {
				low, high = min(low, a.costs[i].cost[kind]), max(high, a.costs[i].cost[kind])
			}
			fmt.Fprintf(w, "\t%.4g\t%.4g to %.4g\t%.0f %%", cost, low, high, 100*c.found.costs[i].part[kind])
		}
		fmt.Fprintln(w)
	}
}

// rowText returns the error of a row as text.
func (c *RunCalibration) rowText(row string) string {
	want, got := rowOf(c.recorded, row), rowOf(c.simulated, row)
	switch {
	case want < 0 || got < 0:
		return ""
	case want < 1:
		return fmt.Sprintf("%+.0f ms", got-want)
	}
	return signedPercent((got - want) / want)
}

func signedPercent(x float64) string { return fmt.Sprintf("%+.1f %%", 100*x) }

// taskScatter is how much equal tasks differ in a record, and the coefficient of
// variation of the time of cores with which simulated ones differ as much.
type taskScatter struct {
	Recorded, Simulated fit.Scatter // of the logarithms; simulated without a coefficient
	CV, Error           float64     // 0: the simulated tasks differ as much anyway
	Known               bool        // there are enough tasks
}

// foundKey is what a record tells of a key of the machine.
type foundKey struct {
	key              string
	found, low, high float64
	error, spread    float64 // standard deviations of the logarithm, over the alternatives and before
	unexplained      bool    // no machine explains the record, so that none is determined
}

func (f *foundKey) told() string {
	switch {
	case f.error <= 0.1 && !f.unexplained:
		return scenarios.Determined
	case f.error < 0.7*f.spread:
		return scenarios.Bounded
	}
	return scenarios.NotTold
}

func (f *foundKey) interval() string { return f.text(f.low) + " to " + f.text(f.high) }

func (f *foundKey) text(v float64) string {
	switch f.key {
	case "overlap", "page_cache":
		if v > 1 {
			return "yes"
		}
		return "no"
	case "cores", "disk.count":
		return fmt.Sprintf("%.0f", v)
	case "memory":
		return fmt.Sprintf("%.3g GiB", v/(1<<30))
	case "dirty":
		return fmt.Sprintf("%.2g %% of memory", 100*v)
	case "jvm.start":
		return fmt.Sprintf("%.2g s", v)
	}
	return fmt.Sprintf("%.4g", inUnit(f.key, v))
}
