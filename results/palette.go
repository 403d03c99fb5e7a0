package results

import (
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/workload"
)

// stageColours are those of the main phase of each stage. A reduce after its shuffle
// is lighter than its main phase, so that it differs from a map in greyscale too.
var stageColours = [numStages]figure.Tint{
	stageMap:     figure.PhaseColours[workload.PhaseMap],
	stageShuffle: figure.PhaseColours[workload.PhaseShuffle],
	stageReduce:  figure.Tinted(0x3f8a3f, 0x45a050),
	stageOther:   figure.PhaseColours[figure.OtherPhase],
}

var stageInk = func() (inks [numStages]figure.Ink) {
	for i, c := range stageColours {
		inks[i] = figure.InkOf(c)
	}
	return inks
}()

// A stage is the unit of the panels of slots in use. It is coarser than a phase
// and remains visible if a pixel holds several tasks.
type stage uint8

const (
	stageMap     stage = iota
	stageShuffle       // a reduce until the end of its shuffle
	stageReduce        // a reduce after its shuffle
	stageOther         // set-up and clean-up
	numStages
)

var stageLabels = [numStages]string{"maps", "reduces: start-up, shuffle", "reduces: merge to commit", "set-up, clean-up"}
