package analytic

import (
	"testing"

	"github.com/slotwave/slotwave/model/fit"
)

// teraSort is one what-if question, the number of reduces, put to every analytic
// model about one TeraSort job.
func teraSort(reduces int) error {
	h := DefaultPhases()
	h.Reducers = reduces
	p, err := h.Phases(HerodotouOptions{Mode: Corrected})
	if err != nil {
		return err
	}
	j, err := h.waves(0.05, HerodotouOptions{Mode: Corrected})
	if err != nil {
		return err
	}
	if _, err := Waves(j); err != nil {
		return err
	}

	mapTime, shuffle, reduce := p.TotalMapTime/1000, j.Shuffle+j.Sort, j.Reduce
	aria := AriaProfile{
		Maps: h.Mappers, Reduces: reduces, MapAvg: mapTime, MapMax: 1.3 * mapTime,
		FirstShuffleAvg: shuffle / 2, FirstShuffleMax: shuffle, ShuffleAvg: shuffle, ShuffleMax: 1.2 * shuffle,
		ReduceAvg: reduce, ReduceMax: 1.2 * reduce,
	}
	if _, err := aria.Bounds(8, 8, true); err != nil {
		return err
	}
	if _, err := aria.Invert(p.WaveJobTime/1000, "avg"); err != nil {
		return err
	}
	if _, err := aria.curve(p.WaveJobTime/1000, "low", 8, 8); err != nil {
		return err
	}
	if _, err := HPProfile([]HPRun{{Profile: aria, Data: 1}, {Profile: aria, Data: 2}}, 400, 3); err != nil {
		return err
	}
	ihp := ihpJob{
		Maps: h.Mappers, MapSlots: 8, Reduces: reduces, ReduceSlots: 8, MapAvg: mapTime, MapMax: 1.3 * mapTime,
		Shuffle1Avg: shuffle, Shuffle1Max: 1.2 * shuffle, Shuffle2Avg: shuffle, Shuffle2Max: 1.2 * shuffle,
		ReduceAvg: reduce, ReduceMax: 1.2 * reduce,
	}
	if _, err := ihp.Bounds(); err != nil {
		return err
	}
	job := ZhangJob{
		Maps: h.Mappers, Reduces: reduces, BlockMBAvg: 64, BlockMBMax: 64, BlockRecsAvg: 671088, BlockRecsMax: 671088,
		MapSel: 1, MapRecSel: 1, ReduceSel: 1, MapMSPerRec: 0.0009, ReduceMSPerRec: 0.0011, Skew: 1,
	}
	if _, err := job.Times(ptr(fittedPlatform()), 8, 8); err != nil {
		return err
	}
	_, err = crespCost{Beta: crespBeta}.Time(h.Mappers, 8, reduces)
	return err
}

// A thousand questions to every analytic model, among them the six regressions of
// the improved HP model on 40 runs; at most a second is asked for.
func BenchmarkThousandWhatIfs(b *testing.B) {
	var runs []ihpRun
	for i := range 40 {
		d, r := float64(1+i%8), float64(1+i/8)
		runs = append(runs, ihpRun{Data: d, Reduces: r, Duration: 10 + 3*d - r})
	}
	regression, err := fitRuns(runs, fit.LocalOptions{Intercept: true, Scale: "zscore"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for i := range 1000 {
			if err := teraSort(1 + i%64); err != nil {
				b.Fatal(err)
			}
			for range 6 {
				if _, _, err := regression.At(1+float64(i%8), 3); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}
