package results

import (
	"time"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/workload"
)

// MaxBars is the number of bars up to which the execution chart keeps them
// individually. With more bars, a vector picture is too large, and the chart
// becomes a raster.
const MaxBars = 24000

// maxRows limits the rows of a raster; if there are more slots, neighbours
// share a row.
const maxRows = 480

// execution collects the data of the execution chart. Up to maxBars bars
// (phases of attempts) it keeps every attempt. With more it uses rasters, whose
// size does not depend on the run.
type execution struct {
	slots *slots
	jobs  map[string]int32 // by ID, in order of submission
	kept  []placed
	bars  int   // phases of all attempts
	time  int64 // ns of slot time of all attempts

	// The rasters are nil while attempts are kept. There is no raster by
	// phase if slots share a row, which would blur phases. There is none by
	// job with a single job or more jobs than colours.
	rasters [numColourings]*figure.Raster
}

// A colouring is the meaning of a bar's colour.
type colouring uint8

const (
	byStage colouring = iota
	byPhase
	byJob
	numColourings
)

// placed is an attempt with its place in the chart.
type placed struct {
	from, to  int64                    // ns
	phases    [numPhases]time.Duration // none for set-up and clean-up
	lane, job int32
	section   uint8
	kind      workload.Kind
	state     workload.State
}

func newExecution(s *slots, jobs []workload.Job) *execution {
	e := &execution{slots: s, jobs: make(map[string]int32, len(jobs))}
	for i := range jobs {
		e.jobs[jobs[i].ID] = int32(i)
	}
	return e
}

func (e *execution) rasterised() bool { return e.rasters[byStage] != nil }

// coloursJobs reports whether colours can distinguish the jobs of the run.
func (e *execution) coloursJobs() bool { return len(e.jobs) > 1 && len(e.jobs) <= figure.MaxJobColours }

// add takes one attempt that ran on the given slot.
func (e *execution) add(a *workload.Attempt, section, lane int) {
	p := placed{
		from: int64(a.Start), to: int64(a.Finish), lane: int32(lane), section: uint8(section), kind: a.Kind, state: a.State,
	}
	if !e.rasterised() || e.rasters[byJob] != nil {
		p.job = e.job(a.Job)
	}
	if a.Kind == workload.Map || a.Kind == workload.Reduce {
		p.phases = a.Phases
	}
	e.time += p.to - p.from
	p.each(func(int, int64, int64) { e.bars++ })
	if e.rasterised() {
		e.ink(&p)
		return
	}
	e.kept = append(e.kept, p)
	if e.bars > MaxBars {
		e.rasterise()
	}
}

// each calls f for every phase that took time.
func (p *placed) each(f func(phase int, from, to int64)) {
	at := p.from
	for i, d := range &p.phases {
		if d > 0 {
			f(i, at, at+int64(d))
			at += int64(d)
		}
	}
	if at < p.to {
		f(figure.OtherPhase, at, p.to)
	}
}

// apart shortens the attempt slightly at its end, so that the next one on its
// slot is visibly separate. Short bars stay unchanged.
func (p *placed) apart(gap int64) placed {
	q := *p
	if p.to-p.from < 6*gap {
		return q
	}
	q.to -= gap
	for i := len(q.phases) - 1; i >= 0 && gap > 0; i-- {
		off := min(gap, int64(q.phases[i]))
		q.phases[i] -= time.Duration(off)
		gap -= off
	}
	return q
}

func (e *execution) job(id string) int32 {
	j, ok := e.jobs[id]
	if !ok {
		j = int32(len(e.jobs))
		e.jobs[id] = j
	}
	return j
}

// rasterise paints the kept attempts into rasters and discards them.
func (e *execution) rasterise() {
	start := func(by colouring) {
		e.rasters[by] = figure.NewRaster(e.slots.count, maxRows, maxBins, int64(firstBin))
	}
	start(byStage)
	if e.rasters[byStage].Group == 1 {
		start(byPhase)
	}
	if e.coloursJobs() {
		start(byJob)
	}
	for i := range e.kept {
		e.ink(&e.kept[i])
	}
	e.kept = nil
}

func (e *execution) ink(p *placed) {
	for by, r := range e.rasters {
		if r != nil {
			a := p.apart(r.Width)
			a.ink(r, colouring(by))
		}
	}
}

// ink paints an attempt into a raster.
func (p *placed) ink(r *figure.Raster, by colouring) {
	s, l := int(p.section), int(p.lane)
	switch {
	case by == byPhase:
		p.each(func(phase int, from, to int64) { r.Add(s, l, from, to, figure.PhaseInk[phase]) })
	case by == byJob:
		r.Add(s, l, p.from, p.to, figure.JobInk(int(p.job)))
	case p.kind == workload.Map:
		r.Add(s, l, p.from, p.to, stageInk[stageMap])
	case p.kind == workload.Reduce:
		shuffled := p.from
		for _, d := range p.phases[:workload.PhaseShuffle+1] {
			shuffled += int64(d)
		}
		r.Add(s, l, p.from, shuffled, stageInk[stageShuffle])
		r.Add(s, l, shuffled, p.to, stageInk[stageReduce])
	default:
		r.Add(s, l, p.from, p.to, stageInk[stageOther])
	}
}
