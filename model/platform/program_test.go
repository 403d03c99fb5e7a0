package platform

import (
	"math"
	"testing"

	"github.com/slotwave/slotwave/model/taskplan"
	"github.com/slotwave/slotwave/workload"
)

// Maps of compressed input read what is stored, in as many records as are recorded. Of
// reduces that emit no record nothing is left, although a record has no width then.
func TestProgramOf(t *testing.T) {
	p, err := ProgramOf(&workload.Profile{Reduces: 1, Data: workload.DataStatistics{
		InputPairWidth: 1000, InputCompressRatio: 0.25, MapSizeSel: 0.2, MapRecsSel: 8, MapOutPairWidth: 25, CombineRecsSel: math.NaN(),
		RecsPerRedGroup: 2, ReduceSizeSel: math.NaN(), ReduceRecsSel: 0, ReduceOutPairWidth: math.NaN(),
	}})
	if want := (taskplan.Data{InputPairWidth: 250, MapSizeSel: 0.8, MapRecsSel: 8, RecsPerGroup: 2, CombineSizeSel: 1, CombineRecsSel: 1}); err != nil || p.Data != want {
		t.Errorf("got %+v, %v, want %+v", p.Data, err, want)
	}
}
