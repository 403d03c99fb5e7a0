// Package calibrate finds platforms and programs from what was measured.
//
//	CalibrateRuns  histories of jobs: mean times of tasks (rows), simulated until they agree
//	               (agree, equaltasks, taskscatter), and the files and text of that (written)
//	OpenStarfish   profiles of Starfish
//	FitPlatform    microbenchmarks: a line or two for each phase (fit, fitting)
//	OpenTestbed    microbenchmarks on a simulated machine
//	FindProgram    the cost of a record in the map function of a job
package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/workload"
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
	records   map[string][2]float64 // of one map and of one reduce, by job
	jobs      [][]string            // ids of the recorded jobs, by program
	alike     [][]int               // the group of programs that do the same, by program
	combined  []bool                // a codec or a combiner that is not recorded made less of the map output, by program
	combining []combining           // by program
	packed    []bool                // compressed output whose ratio the recorded bytes contain, by program

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
	luckRuns     = 8  // of one machine, for the luck of rows
	alternatives = 18 // machines that explain the record, beside what was found
	foundRounds  = 9  // most, to fit the costs of what was found
)

// MostSimulations is how many simulations a calibration by recorded jobs takes at most,
// besides those for the scatter of equal tasks.
const MostSimulations = luckRuns + 1 + members*(passes+1+steps) + alternatives + 2*foundRounds

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
	if _, err := scenarios.Platform(start); err != nil {
		return nil, err
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
	c.group()
	c.hosts = FactorsOf(h)
	c.countScatter()
	if len(c.recorded) == 0 {
		err := fmt.Errorf("%s: no job has what calibrating needs: want jobs that succeeded, with bytes, records and times of tasks (slotwave inspect lists what a record lacks)", strings.Join(paths, ", "))
		if len(c.Unused) > 0 {
			err = fmt.Errorf("%w; the first of %s: %s", err, workload.Counted(len(c.Unused), "job", "jobs"), strings.ReplaceAll(c.Unused[0], "\n", "; "))
		}
		return err
	}
	return nil
}

// group puts programs that do the same into groups, which have the same costs: jobs of
// other names, such as those of each day, run the same code.
func (c *RunCalibration) group() {
	for i := range c.Programs {
		group := []int{i}
		for k := range c.alike {
			if c.alike[k][0] == k && c.same(k, i) {
				group = append(c.alike[k], i)
				c.Programs[i].Assumed = append(c.Programs[i].Assumed, "cpu: the code of "+c.Programs[k].Title+", whose data and recorded times agree")
				break
			}
		}
		c.alike = append(c.alike, nil)
		for _, member := range group {
			c.alike[member] = group
		}
	}
}

// same reports whether two programs turn their records into as many of the same width,
// in about the same recorded time: of the processor, or else of tasks, which depends on
// what runs beside them.
func (c *RunCalibration) same(a, b int) bool {
	const near, nearCPU, nearTime = 1.02, 1.25, 2.0
	x, y := &c.Programs[a].Data, &c.Programs[b].Data
	differ := func(x, y, by float64) bool {
		return math.IsNaN(x) != math.IsNaN(y) || max(x, y) > by*min(x, y)
	}
	for _, pair := range [][2]float64{
		{x.InputPairWidth, y.InputPairWidth}, {x.MapSizeSel, y.MapSizeSel}, {x.MapRecsSel, y.MapRecsSel}, {x.CombineSizeSel, y.CombineSizeSel},
		{x.CombineRecsSel, y.CombineRecsSel}, {x.ReduceSizeSel, y.ReduceSizeSel}, {x.ReduceRecsSel, y.ReduceRecsSel},
	} {
		if differ(pair[0], pair[1], near) {
			return false
		}
	}
	for kind, row := range []string{mapRow, reduceRow} {
		by, first, second := nearCPU, c.perRecord(a, kind, row+"-cpu"), c.perRecord(b, kind, row+"-cpu")
		if first == 0 || second == 0 {
			by, first, second = nearTime, c.perRecord(a, kind, row), c.perRecord(b, kind, row)
		}
		if differ(first, second, by) {
			return false
		}
	}
	return true
}

// perRecord is the recorded time of a row per record of the tasks of a program, 0 if it is
// not known.
func (c *RunCalibration) perRecord(program, kind int, row string) float64 {
	ms, records := 0.0, 0.0
	for _, job := range c.jobs[program] {
		if t := rowOf(c.recorded, row+" "+job); t >= 0 && c.records[job][kind] > 0 {
			ms, records = ms+t, records+c.records[job][kind]
		}
	}
	return ms / max(1, records)
}

// readPrograms makes a program of each name of a job, with costs to start from.
func (c *RunCalibration) readPrograms(h *workload.History) error {
	var p workload.Profiler
	for i := range h.Jobs {
		p.Add(&h.Jobs[i])
	}
	taken := map[string]bool{}
	for _, r := range p.Profiles() {
		program, err := platform.ProgramOf(r)
		switch {
		case err != nil:
			c.Unused = append(c.Unused, fmt.Sprintf("%s: %v", r.Name, err))
			continue
		case r.MapTime.N == 0 || r.MapInRecords.N == 0 || r.MapInRecords.Mean <= 0:
			c.Unused = append(c.Unused, r.Name+": no times or input records of maps")
			continue
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
		c.jobs = append(c.jobs, nil)
		out := r.MapInBytes.Mean * float64(r.Maps) * program.Data.MapSizeSel
		c.combined = append(c.combined, !program.Combiner && r.ReduceInBytes.N > 0 && r.ReduceInBytes.Mean*float64(r.Reduces) < 0.95*out)
		c.combining, c.packed = append(c.combining, combining{}), append(c.packed, false)
		c.Programs = append(c.Programs, program)
	}
	return nil
}

// measure takes the rows of the recorded jobs. The time of a whole job that a standstill
// held up tells nothing of the machine.
func (c *RunCalibration) measure(h *workload.History) {
	c.launch, c.records = true, map[string][2]float64{}
	var measured []*jobTimes
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
		times, of, won := jobTimes{submit: j.Submit}, combining{}, 0.0
		var records, counted [2]float64
		for k := range j.Tasks {
			for n := range j.Tasks[k].Attempts {
				a := &j.Tasks[k].Attempts[n].Attempt
				c.launch = c.launch && !workload.Known(a.Phases[workload.PhaseStartup])
				times.add(a)
				if a.Kind <= workload.Reduce && a.State == workload.Succeeded && a.InRecords >= 0 {
					records[a.Kind] += float64(a.InRecords)
					counted[a.Kind]++
				}
				if a.Kind == workload.Map && a.State == workload.Succeeded && a.OutRecords >= 0 {
					of.records += float64(max(0, a.CombineInRecords))
					of.merged += float64(max(0, a.CombineInRecords-a.OutRecords))
					won++
				}
			}
		}
		c.combining[program] = combining{of.records / max(1, won), of.merged / max(1, won)}
		id := cmp.Or(j.Conf.String(workload.OriginalID, ""), j.ID)
		c.tasks = append(c.tasks, jobAttempts{id, times.all})
		var rows platform.Profile
		times.rows(&rows, id)
		for _, row := range rows {
			if heldUp := strings.HasPrefix(row.Phase, jobRow) && j.Still; !heldUp && c.shows(rows, row, program, id) {
				c.recorded = append(c.recorded, row)
			}
		}
		c.records[id] = [2]float64{records[workload.Map] / max(1, counted[workload.Map]), records[workload.Reduce] / max(1, counted[workload.Reduce])}
		c.jobs[program], measured = append(c.jobs[program], id), append(measured, &times)
	}
	for n, load := range loadsBeside(c.tasks, h.AtOnce() != "") {
		measured[n].besideRows(&c.recorded, c.tasks[n].job, load)
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

// taskScatter is how much equal tasks differ in a record, and the coefficient of
// variation of the time of cores with which simulated ones differ as much.
type taskScatter struct {
	Recorded, Simulated fit.Scatter // of the logarithms; simulated without a coefficient
	CV, Error           float64     // 0: the simulated tasks differ as much anyway
	counted             bool        // the coefficient is that of recorded times of the processor
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

func baseNames(paths []string) (names []string) {
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	return names
}
