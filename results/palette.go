package results

import "github.com/slotwave/slotwave/results/figure"

// stageColours match those of the main phase of each stage, and differ as much.
var stageColours = [numStages]figure.Tint{
	stageMap:     figure.Tinted(0x5b93c3, 0x5cb2fc),
	stageShuffle: figure.Tinted(0xf0d596, 0xa98a35),
	stageReduce:  figure.Tinted(0x2e7d4b, 0x23713f),
	stageOther:   figure.Tinted(0x9e9e9e, 0x7f7e7d),
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
