package analytic

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// sortingJob is a job whose maps spill more than once with stock settings, on
// machines.
func sortingJob() model.WhatIf {
	q := exampleJob()
	q.Fidelity = model.Phase
	q.Cluster.Machines = []model.Machine{{
		Cores: 2, Speed: 1, Memory: 4 << 30, NIC: 100e6, Uplink: math.Inf(1), HeapPart: 1,
		Disks: []model.Disk{{Read: 60e6, Write: 60e6, Curve: model.DiskCurve{Kind: model.NoCurve}}}, CPU: model.MeasuredCost,
	}}
	q.Programs = []model.Program{{Name: "sort", MapCPU: 500, ReduceCPU: 500, Data: taskplan.Data{
		InputPairWidth: 100, RecsPerGroup: 1, MapSizeSel: 1, MapRecsSel: 1,
		CombineSizeSel: 1, CombineRecsSel: 1, ReduceSizeSel: 1, ReduceRecsSel: 1,
	}}}
	j := &q.Jobs[0]
	j.Program = "sort"
	j.Maps.Time = workload.Durations{}
	j.Reduces = workload.ReduceTasks{Count: 2}
	return q
}

// A larger part for records and more reduces are there to be found; values that
// are worse than the start are not taken.
func TestTune(t *testing.T) {
	base := sortingJob()
	question := func(at []float64) model.WhatIf {
		q := base
		q.Jobs = slices.Clone(q.Jobs)
		q.Jobs[0].Conf.Set("io.sort.record.percent", strconv.FormatFloat(at[0], 'g', -1, 64))
		q.Jobs[0].Reduces.Count = int(at[1])
		return q
	}
	seconds := func(at []float64) float64 {
		p, err := herodotouPredictor{}.Predict(question(at))
		if err != nil {
			t.Fatal(err)
		}
		return p.Mean.Seconds()
	}
	space := []TuneParam{
		{SearchParam: SearchParam{Name: "io.sort.record.percent", Min: 0.01, Max: 0.5}, Start: 0.05},
		{SearchParam: SearchParam{Name: "reduces", Min: 1, Max: 32, Whole: true}, Start: 2, ReduceSide: true},
	}
	at, err := Tune(space, 1, question)
	if err != nil {
		t.Fatal(err)
	}
	before, after := seconds([]float64{0.05, 2}), seconds(at)
	if after > before/2 || at[0] < 0.1 || at[1] < 8 {
		t.Errorf("%v takes %v s, the start %v s", at, after, before)
	}
	if again, err := Tune(space, 1, question); err != nil || !slices.Equal(at, again) {
		t.Errorf("the same seed: %v, then %v, %v", at, again, err)
	}
	space[0].Min, space[0].Max = 0.05, 0.05
	space[1].Min, space[1].Max = 1, 1
	if at, err := Tune(space, 1, question); err != nil || !slices.Equal(at, []float64{0.05, 2}) {
		t.Errorf("only worse values: %v, %v, want the start", at, err)
	}
	base.Programs = nil
	if _, err := Tune(space, 1, question); err == nil {
		t.Error("a job without a program is tuned")
	}
}
