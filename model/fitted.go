package model

import (
	"errors"
	"math"
	"time"

	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// FittedMachine returns a machine on which Hadoop's own phases take the fitted
// times. Its devices take no time.
func FittedMachine(name string, f Fitted) Machine {
	const most = math.MaxFloat64
	return Machine{
		Name: name, Title: name, Fitted: f,
		Cores: 1, Speed: 1, Memory: math.MaxInt64, HeapPart: 1,
		Disks: []Disk{{Read: most, Write: most, Curve: DiskCurve{Kind: NoCurve}}}, NIC: most, Uplink: most,
		Assumed: []string{
			"speed: 1; the job's own functions cost what its profile states",
			"heap_part: 1; a JVM reports all of -Xmx as its memory",
		},
	}
}

const mib = 1 << 20

// fits reports a job whose tasks have work that no microbenchmark has.
func (m *Machine) fits(program *Program, conf *taskplan.Conf) error {
	if m.Fitted != nil && (program.InCodec != "" || conf.IntermCompressed || conf.OutCompressed) {
		return errors.New("fitted without compression: want a job whose input, map output and output are not compressed")
	}
	return nil
}

// MapTimes returns the time of each phase of a map alone on the machine. On a fitted
// machine the combiner adds to the spill.
func (m *Machine) MapTimes(p *taskplan.Planner, f taskplan.MapFlow, plan *taskplan.MapPlan) [workload.NumPhases]time.Duration {
	if m.Fitted == nil {
		return plan.Alone(p.Cost)
	}
	times := plan.PhaseTimes(p.Cost)
	add := func(to workload.Phase, phase string, bytes float64) {
		times[to] += m.fittedTime(phase, bytes)
	}
	add(workload.PhaseRead, "read", f.InStored)
	if p.Reduces == 0 {
		add(workload.PhaseWrite, "write", f.OutBytes)
		return times
	}
	add(workload.PhaseCollect, "collect", f.OutBytes)
	add(workload.PhaseSpill, "spill", f.OutBytes)
	add(workload.PhaseMerge, "merge", p.Contents(plan.Output, float64(p.Reduces)))
	return times
}

// ReduceTimes returns the time of each phase of a reduce alone on the machine. The
// fitted shuffle includes the sort.
func (m *Machine) ReduceTimes(p *taskplan.Planner, plan *taskplan.ReducePlan) [workload.NumPhases]time.Duration {
	times := plan.PhaseTimes(p.Cost)
	if m.Fitted != nil {
		times[workload.PhaseShuffle] += m.fittedTime("shuffle", float64(plan.InBytes))
		times[workload.PhaseWrite] += m.fittedTime("write", float64(plan.OutBytes))
	}
	return times
}

func (m *Machine) fittedTime(phase string, bytes float64) time.Duration {
	return workload.Seconds(m.Fitted.Phase(phase, bytes/mib) / 1000)
}
