package analytic

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/slotwave/slotwave/workload"
)

// SmallRunOf takes the work of tasks from the attempts of a run. The phases of its
// tasks must be recorded.
func SmallRunOf(attempts []workload.Attempt) (SmallRun, error) {
	var s SmallRun
	var maps, reduces []float64 // work
	outRecs, spills := 0.0, 0.0
	for i := range attempts {
		a := &attempts[i]
		if a.State != workload.Succeeded {
			continue
		}
		work := 0.0
		for phase, t := range a.Phases {
			if p := workload.Phase(phase); p != workload.PhaseStartup && p != workload.PhaseCommit {
				work += 1000 * t.Seconds()
			}
		}
		switch a.Kind {
		case workload.Map:
			s.maps++
			s.mapMS += work
			maps = append(maps, work/1000)
			s.spillMS += 1000 * a.Phases[workload.PhaseSpill].Seconds()
			outRecs, spills = outRecs+float64(a.OutRecords), spills+float64(a.Spills)
			s.blockMB += float64(a.InBytes) / mib
			s.blockRecs += float64(a.InRecords)
			s.longestMB = math.Max(s.longestMB, float64(a.InBytes)/mib)
			s.longestN = math.Max(s.longestN, float64(a.InRecords))
		case workload.Reduce:
			s.reduces++
			work -= float64(1000 * a.WaitFetch.Seconds())
			s.reduceMS += work
			reduces = append(reduces, work/1000)
		}
	}
	if s.maps == 0 || s.blockRecs <= 0 {
		return s, errors.New("no map with its input records is recorded")
	}
	if s.mapMS <= 0 {
		return s, errors.New("the phases of its maps are not recorded")
	}
	n := float64(s.maps)
	s.mapMS, s.blockMB, s.blockRecs, s.spillMS = s.mapMS/n, s.blockMB/n, s.blockRecs/n, s.spillMS/n
	if s.reduces > 0 {
		s.reduceMS /= float64(s.reduces)
	}
	if spills > 0 {
		s.spillRecs = outRecs / spills
	}
	if len(maps) > 1 {
		s.spread.maps = stat.StdDev(maps, nil)
	}
	if len(reduces) > 1 {
		s.spread.reduces = stat.StdDev(reduces, nil)
	}
	return s, nil
}

// spread returns the spread of tasks, 0 without a small run.
func (z zhangPredictor) spread() taskSpread {
	if z.small == nil {
		return taskSpread{}
	}
	return z.small.spread
}

// sorted returns how much longer a map waits for its spills with another number of
// reduces, ms: a spill sorts the records of each reduce (Herodotou, eq. 20). The
// combiner, which takes combineMS of a spill's time, runs once per record.
func (s *SmallRun) sorted(reduces int, combineMS float64) float64 {
	depth := func(reduces int) float64 {
		return math.Max(1, math.Log2(math.Max(2, s.spillRecs/float64(reduces))))
	}
	if s.reduces == 0 || reduces == 0 || s.spillRecs == 0 {
		return 0
	}
	return math.Max(0, s.spillMS-combineMS) * (depth(reduces)/depth(s.reduces) - 1)
}

// correct adds to the cost per record of the job's functions the difference between
// the measured tasks of a small run and the lines of the platform.
func (z zhangPredictor) correct(job *ZhangJob, g *capacity) error {
	s := z.small
	if s == nil {
		return nil
	}
	past := *job
	if past.Maps = s.maps; job.Reduces > 0 {
		past.Reduces = s.reduces
	}
	past.BlockMBAvg, past.BlockMBMax, past.BlockRecsAvg, past.BlockRecsMax = s.blockMB, s.longestMB, s.blockRecs, s.longestN
	t, err := past.Times(z.platform, g.maps, max(1, g.reduces))
	if err != nil {
		return err
	}
	job.MapMSPerRec = math.Max(0, job.MapMSPerRec+(s.mapMS+s.sorted(job.Reduces, float64(job.combineMSPerRec*s.blockRecs))-t.MapAvg)/s.blockRecs)
	recSel := job.MapRecSel
	if math.IsNaN(recSel) {
		recSel = job.MapSel
	}
	recs := float64(s.blockRecs * recSel * job.CombineRecSel * float64(s.maps))
	if past.Reduces > 0 && s.reduceMS > 0 && recs > 0 {
		job.ReduceMSPerRec = math.Max(0, job.ReduceMSPerRec+(s.reduceMS-t.ReduceAvg)*float64(s.reduces)/recs)
	}
	return nil
}
