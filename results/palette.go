package results

import (
	"image/color"

	"github.com/slotwave/slotwave/workload"
)

// phaseColours are chosen so that phases which follow one another differ in
// lightness as well as in hue, and stay apart in greyscale.
var phaseColours = [numPhases + 1]color.RGBA{
	workload.PhaseStartup: rgb(0x2b2b2b),
	workload.PhaseRead:    rgb(0xb0d5ee),
	workload.PhaseMap:     rgb(0x3579ba),
	workload.PhaseCollect: rgb(0xc3b3e0),
	workload.PhaseSpill:   rgb(0xdd9226),
	workload.PhaseShuffle: rgb(0xf4dfb0),
	workload.PhaseMerge:   rgb(0xc4651f),
	workload.PhaseReduce:  rgb(0x17663c),
	workload.PhaseWrite:   rgb(0x93cf9b),
	workload.PhaseCommit:  rgb(0x4a2259),
	otherPhase:            rgb(0x9e9e9e),
}

// stageColours match those of the phases that fill each stage.
var stageColours = [numStages]color.RGBA{
	stageMap:     rgb(0x5b93c3),
	stageShuffle: rgb(0xf0d596),
	stageReduce:  rgb(0x2e7d4b),
	stageOther:   rgb(0x9e9e9e),
}

// jobColours alternate between dark and light for the same reason.
var jobColours = [maxJobColours]color.RGBA{
	rgb(0x2f6fa8), rgb(0xf2b950), rgb(0x1f6b3c), rgb(0xe79fb3), rgb(0x6a3d7c), rgb(0x93cf9b),
	rgb(0x9c3b2e), rgb(0xa9d0ea), rgb(0x5b5b5b), rgb(0xd8c36a), rgb(0x177e89), rgb(0xc9b3dd),
}

// Colours of everything else.
var (
	colourText  = rgb(0x222222)
	colourFaint = rgb(0x6b6b6b) // secondary text
	colourAxis  = rgb(0x555555)
	colourGuide = rgb(0xdddddd)
	colourLimit = rgb(0x111111)
)

func rgb(v uint32) color.RGBA {
	return color.RGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}
}

func inkOf(c color.RGBA) ink {
	return ink{255 - float32(c.R), 255 - float32(c.G), 255 - float32(c.B), 1}
}

var phaseInk = func() (inks [numPhases + 1]ink) {
	for i, c := range phaseColours {
		inks[i] = inkOf(c)
	}
	return inks
}()

var stageInk = func() (inks [numStages]ink) {
	for i, c := range stageColours {
		inks[i] = inkOf(c)
	}
	return inks
}()

// jobColour gives the i-th job its colour; they repeat where there are more
// jobs than colours.
func jobColour(i int) color.RGBA { return jobColours[i%maxJobColours] }

func jobInk(i int) ink { return inkOf(jobColour(i)) }
