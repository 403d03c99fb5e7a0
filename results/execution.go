package results

import (
	"time"

	"github.com/slotwave/slotwave/workload"
)

// maxBars is how many bars the execution chart keeps one by one. Beyond it a
// vector picture is no use to anybody, and the bars become a raster.
const maxBars = 24000

// maxRows bounds the rows of a raster; neighbouring slots share one where there
// are more.
const maxRows = 480

// maxJobColours is how many jobs can be told apart by colour.
const maxJobColours = 12

// otherPhase stands for the whole of a set-up or clean-up attempt.
const otherPhase = numPhases

// execution gathers what the execution chart shows. Up to maxBars bars (phases
// of attempts) it keeps every attempt; then it turns to rasters, whose size
// does not depend on the run.
type execution struct {
	slots *slots
	jobs  map[string]int32 // by ID, in order of submission
	kept  []placed
	bars  int   // phases of all attempts
	time  int64 // ns of slot time of all attempts

	// The rasters; nil as long as attempts are kept. There is none by phase
	// where slots share a row, which would blur phases, and none by job where
	// there is one job or more than there are colours.
	rasters [numColourings]*raster
}

// A colouring is what the colour of a bar stands for.
type colouring uint8

const (
	byStage colouring = iota
	byPhase
	byJob
	numColourings
)

// placed is an attempt at its place in the chart.
type placed struct {
	from, to  int64                    // ns
	phases    [numPhases]time.Duration // none for set-up and clean-up
	lane, job int32
	section   uint8
	kind      workload.Kind
	state     workload.State
}

// A stage is what the panels of slots in use tell apart: coarser than a phase,
// it is still seen where a pixel holds several tasks.
type stage uint8

const (
	stageMap     stage = iota
	stageShuffle       // a reduce to the end of its shuffle
	stageReduce        // a reduce from then on
	stageOther         // set-up and clean-up
	numStages
)

var stageLabels = [numStages]string{"maps", "reduces: start-up, shuffle", "reduces: merge to commit", "set-up, clean-up"}

func newExecution(s *slots, jobs []workload.Job) *execution {
	e := &execution{slots: s, jobs: make(map[string]int32, len(jobs))}
	for i := range jobs {
		e.jobs[jobs[i].ID] = int32(i)
	}
	return e
}

func (e *execution) rasterised() bool { return e.rasters[byStage] != nil }

// coloursJobs reports whether the jobs of the run can be told apart by colour.
func (e *execution) coloursJobs() bool { return len(e.jobs) > 1 && len(e.jobs) <= maxJobColours }

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
	if e.bars > maxBars {
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
		f(otherPhase, at, p.to)
	}
}

// apart returns the attempt without the last moments before its end, so that the
// next one on its slot is seen to be another. Short bars stay whole.
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

// rasterise paints the attempts kept so far and forgets them.
func (e *execution) rasterise() {
	start := func(by colouring) {
		e.rasters[by] = newRaster(e.slots.count, maxRows, maxBins, int64(firstBin))
	}
	start(byStage)
	if e.rasters[byStage].group == 1 {
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
			a := p.apart(r.width)
			a.ink(r, colouring(by))
		}
	}
}

// ink paints an attempt into a raster.
func (p *placed) ink(r *raster, by colouring) {
	s, l := int(p.section), int(p.lane)
	switch {
	case by == byPhase:
		p.each(func(phase int, from, to int64) { r.add(s, l, from, to, phaseInk[phase]) })
	case by == byJob:
		r.add(s, l, p.from, p.to, jobInk(int(p.job)))
	case p.kind == workload.Map:
		r.add(s, l, p.from, p.to, stageInk[stageMap])
	case p.kind == workload.Reduce:
		shuffled := p.from
		for _, d := range p.phases[:workload.PhaseShuffle+1] {
			shuffled += int64(d)
		}
		r.add(s, l, p.from, shuffled, stageInk[stageShuffle])
		r.add(s, l, shuffled, p.to, stageInk[stageReduce])
	default:
		r.add(s, l, p.from, p.to, stageInk[stageOther])
	}
}
