package platform

import (
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

const mib = 1 << 20

// Observe adds the phases of a task that succeeded. The sort of a reduce counts as
// shuffle; its waits for map outputs do not count.
func (p *Profile) Observe(a *workload.Attempt) {
	if a.State != workload.Succeeded {
		return
	}
	add := func(phase string, bytes int64, waits time.Duration, phases ...workload.Phase) {
		t := -waits
		for _, ph := range phases {
			t += a.Phases[ph]
		}
		p.Add(phase, PhaseRow{float64(bytes) / mib, 1000 * t.Seconds()})
	}
	switch a.Kind {
	case workload.Map:
		add("read", a.InBytes, 0, workload.PhaseRead)
		add("collect", a.OutBytes, 0, workload.PhaseCollect)
		add("spill", a.OutBytes, 0, workload.PhaseSpill)
		add("merge", a.OutBytes, 0, workload.PhaseMerge)
	case workload.Reduce:
		add("shuffle", a.InBytes, a.WaitFetch, workload.PhaseShuffle, workload.PhaseMerge)
		add("write", a.OutBytes, 0, workload.PhaseWrite)
		add(SortPhase, a.InBytes, 0, workload.PhaseMerge)
	}
}

// BenchmarkRow is the size of a microbenchmark record, bytes.
const BenchmarkRow = 100

// Benchmark returns the job of a grid point with records of the given bytes. Its
// program costs nothing; its selectivity is that of the point.
func (g GridPoint) Benchmark(row float64) (workload.Job, model.Program, error) {
	data, err := g.Data()
	j := workload.Job{
		Maps:    workload.MapTasks{Count: g.Maps, InputBytes: int64(data.Read * mib * float64(g.Maps))},
		Reduces: workload.ReduceTasks{Count: g.Reduces},
	}
	p := model.Program{Data: taskplan.Data{
		InputPairWidth: row, RecsPerGroup: 1,
		MapSizeSel: g.MapSel, MapRecsSel: g.MapSel, ReduceSizeSel: 1, ReduceRecsSel: 1,
		CombineSizeSel: 1, CombineRecsSel: 1,
	}}
	return j, p, err
}
