package diagnose

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// robust is a line that predicts the time of a phase from the work of a task.
type robust struct {
	base, slope float64 // seconds, seconds per unit of work
	spread      float64 // 1.4826 MAD of the residuals
	median      float64 // of the times
}

// fewestPeers is the number of tasks that a comparison needs.
const fewestPeers = 5

// robustLine fits y over x so that less than 29 % outliers do not affect it.
// The slope is the median of slopes between points half of the list apart by x
// (incomplete Theil-Sen), never negative.
func robustLine(x, y []float64) robust {
	n := len(x)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	l := robust{median: median(y)}
	slopes := make([]float64, 0, n/2)
	middle := median(x)
	for i := range n / 2 {
		a, b := order[i], order[i+n-n/2]
		if dx := x[b] - x[a]; dx > 0.01*middle { // nearly equal work does not determine the slope
			slopes = append(slopes, (y[b]-y[a])/dx)
		}
	}
	if len(slopes) >= fewestPeers {
		l.slope = max(0, median(slopes))
	}
	rest := make([]float64, n)
	for i := range x {
		rest[i] = y[i] - float64(l.slope*x[i])
	}
	l.base = median(rest)
	l.spread = normalMAD * deviation(rest, l.base)
	return l
}

func (l *robust) at(x float64) float64 { return max(0, l.base+float64(l.slope*x)) }

// Work is what a phase processes: one of the counts of an attempt.
type Work uint8

// The counts that measure the work of phases.
const (
	noWork Work = iota
	workHDFSRead
	workInput
	workInputRecords
	workOutput
	workOutputRecords
	workShuffled
	workLocalRead
	workHDFSWritten
	numWork
)

var workNames = [numWork]string{
	"", "bytes read from HDFS", "bytes of input", "records of input", "bytes of output", "records of output", "bytes shuffled", "bytes read from local disks",
	"bytes written to HDFS",
}

func (w Work) String() string { return workNames[w] }

// Of returns the count of an attempt; a negative one is unknown.
func (w Work) Of(a *workload.Attempt) int64 {
	c := countersOf(&a.Counters)
	return w.of(&c)
}

func (w Work) of(c *counters) int64 {
	switch w {
	case workHDFSRead:
		return c.HDFSReadBytes
	case workInput:
		return c.InBytes
	case workInputRecords:
		return c.InRecords
	case workOutput:
		return c.OutBytes
	case workOutputRecords:
		return c.OutRecords
	case workShuffled:
		return c.ShuffleBytes
	case workLocalRead:
		return c.LocalReadBytes
	case workHDFSWritten:
		return c.HDFSWriteBytes
	}
	return 0
}

// works lists the counts that measure each phase; the first that is known counts.
// Start-up and commit have none.
var works = [workload.NumPhases][]Work{
	workload.PhaseRead: {workHDFSRead, workInput}, workload.PhaseMap: {workInputRecords, workInput}, workload.PhaseCollect: {workOutput, workOutputRecords},
	workload.PhaseSpill: {workOutput, workOutputRecords}, workload.PhaseShuffle: {workShuffled, workInput}, workload.PhaseMerge: {workLocalRead, workShuffled, workOutput},
	workload.PhaseReduce: {workInputRecords, workInput, workShuffled}, workload.PhaseWrite: {workHDFSWritten, workOutput},
}

// workOf returns the count that measures a phase of an attempt, and whether one is known.
func workOf(a *attempt, p workload.Phase) (Work, bool) {
	for _, w := range works[p] {
		if w.of(&a.counters) >= 0 {
			return w, true
		}
	}
	return noWork, len(works[p]) == 0
}

// phaseWork returns the bytes or records that a phase of an attempt processes,
// and whether they are known.
func phaseWork(a *attempt, p workload.Phase) (float64, bool) {
	w, known := workOf(a, p)
	return float64(w.of(&a.counters)), known
}

// Line is the equation that predicts the time of a phase from the work of a task:
// Base and PerUnit were fitted to the tasks of the stage, robust to outliers.
type Line struct {
	Kind    workload.Kind
	Phase   workload.Phase
	Work    Work
	Base    time.Duration
	PerUnit float64 // seconds for each byte or record
}

// equations lists the lines of a stage whose tasks all count their work alike.
func (s *stage) equations() []Line {
	var list []Line
	for p, l := range s.lines {
		p := workload.Phase(p)
		if l.median == 0 {
			continue
		}
		work, alike := workOf(s.b.at(s.rows[0]), p)
		for i := 1; i < len(s.rows) && alike; i++ {
			w, known := workOf(s.b.at(s.rows[i]), p)
			alike = known && w == work
		}
		if alike {
			list = append(list, Line{s.kind, p, work, workload.Seconds(l.base), l.slope})
		}
	}
	return list
}

// phaseTime returns the time of a phase without its waits, if they are known.
func phaseTime(a *attempt, p workload.Phase) (time.Duration, bool) {
	d := a.phases[p]
	if !workload.Known(d) {
		return 0, false
	}
	if p == workload.PhaseShuffle {
		if !workload.Known(a.waitFetch) || !workload.Known(a.waitMemory) {
			return 0, false
		}
		d -= a.waitFetch + a.waitMemory
	}
	return max(0, d), true
}

// Outlier is a task, or a phase of one, that took longer than its peers
// predict.
type Outlier struct {
	Job      string
	Stage    string // map or reduce
	Phase    string // empty: the whole task
	Task     string
	Node     string
	Time     time.Duration
	Expected time.Duration
	Median   time.Duration // of the peers
	Limit    time.Duration // the threshold
	Critical bool
	Delay    time.Duration // of the end of the stage
	z        float64
	row      int32
}

// phaseOutliers compares each phase of the tasks of a stage with the time
// predicted from its own bytes and records. Phases that are unknown are
// counted.
func (s *stage) phaseOutliers(o *Options) {
	t := &o.Thresholds
	for p := range workload.NumPhases {
		if !s.has[p] {
			continue
		}
		var rows []int
		var x, y []float64
		unknown := 0
		for i, row := range s.rows {
			a := s.b.at(row)
			d, timed := phaseTime(a, p)
			work, known := phaseWork(a, p)
			if !timed || !known {
				if workload.Known(a.phases[p]) && a.phases[p] == 0 {
					continue
				}
				unknown++
				continue
			}
			rows, x, y = append(rows, i), append(x, work), append(y, d.Seconds())
		}
		if unknown > 0 && unknown < len(s.rows) || unknown == len(s.rows) && usual[s.kind][p] {
			s.b.add(p.String()+" of a "+s.kind.String(), unknown, len(s.rows), "no outliers of this phase")
		}
		if len(rows) < fewestPeers {
			continue
		}
		l := robustLine(x, y)
		s.lines[p] = l
		for k, i := range rows {
			expected := l.at(x[k])
			spread := max(l.spread, 0.02*l.median, 0.001)
			limit := max(expected+float64(t.PhaseZ*spread), expected*t.PhaseRatio)
			if y[k] <= limit || y[k]-expected < t.PhaseShare*s.median {
				continue
			}
			a := s.b.at(s.rows[i])
			s.excess[i] += y[k] - expected
			s.found = append(s.found, Outlier{
				Job: s.job.id, Stage: s.kind.String(), Phase: p.String(), Task: s.b.name(a), Node: s.b.node(a),
				Time: workload.Seconds(y[k]), Expected: workload.Seconds(expected), Median: workload.Seconds(l.median),
				Limit: workload.Seconds(limit), z: (y[k] - expected) / spread, row: s.rows[i],
			})
		}
	}
}

// usual lists the phases that tasks of a kind have.
var usual = [2][workload.NumPhases]bool{
	workload.Map:    {workload.PhaseRead: true, workload.PhaseMap: true, workload.PhaseSpill: true},
	workload.Reduce: {workload.PhaseShuffle: true, workload.PhaseMerge: true, workload.PhaseReduce: true},
}

// share returns the share of a phase in the time of all tasks; unknown phases
// count as zero.
func (s *stage) share(phases ...workload.Phase) float64 {
	part, known := 0.0, false
	for _, row := range s.rows {
		a := s.b.at(row)
		for _, p := range phases {
			if workload.Known(a.phases[p]) {
				part, known = part+a.phases[p].Seconds(), true
			}
		}
	}
	if s.whole == 0 || !known {
		return notNumber()
	}
	return part / s.whole
}

// knows reports whether a phase is known for most tasks.
func (s *stage) knows(p workload.Phase) bool {
	n := 0
	for _, row := range s.rows {
		if workload.Known(s.b.at(row).phases[p]) {
			n++
		}
	}
	return 2*n > len(s.rows)
}

func notNumber() float64 { return math.NaN() }
