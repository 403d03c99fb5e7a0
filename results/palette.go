package results

import (
	"fmt"
	"image/color"

	"github.com/slotwave/slotwave/workload"
)

// tint is a colour on a white background, and its variant on a dark one. If
// only one is used, as in a PNG, it is the light one.
type tint struct{ light, dark color.NRGBA }

// RGBA implements color.Color.
func (t tint) RGBA() (r, g, b, a uint32) { return t.light.RGBA() }

func tinted(light, dark uint32) tint { return tint{rgb(light), rgb(dark)} }

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}
}

// faint returns the tint in a nearly transparent form.
func (t tint) faint() tint {
	t.light.A, t.dark.A = 40, 60
	return t
}

// phaseColours differ, between any two phases of a map and any two of a reduce,
// by a CIEDE2000 distance of 12 or more. This holds for normal, deutan, protan
// and tritan sight and on both backgrounds.
var phaseColours = [numPhases + 1]tint{
	workload.PhaseStartup: tinted(0x2b2b2b, 0xf0f0f0),
	workload.PhaseRead:    tinted(0xb9ddf9, 0x406c8b),
	workload.PhaseMap:     tinted(0x3579ba, 0x5cb2fc),
	workload.PhaseCollect: tinted(0xb798d1, 0x7d5fda),
	workload.PhaseSpill:   tinted(0xe6972b, 0xffb347),
	workload.PhaseShuffle: tinted(0xfbe4b1, 0x715e20),
	workload.PhaseMerge:   tinted(0xc4651f, 0xe36818),
	workload.PhaseReduce:  tinted(0x17663c, 0x3fae6a),
	workload.PhaseWrite:   tinted(0x7eb883, 0x064e31),
	workload.PhaseCommit:  tinted(0x4a2259, 0xc280b7),
	otherPhase:            tinted(0x9d9f9e, 0x7f7e7d),
}

// PhaseColour returns the colour of a phase on light and on dark ground, as in
// CSS.
func PhaseColour(p workload.Phase) (light, dark string) {
	c := phaseColours[p]
	css := func(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
	return css(c.light), css(c.dark)
}

// stageColours match those of the main phase of each stage, and differ as much.
var stageColours = [numStages]tint{
	stageMap:     tinted(0x5b93c3, 0x5cb2fc),
	stageShuffle: tinted(0xf0d596, 0xa98a35),
	stageReduce:  tinted(0x2e7d4b, 0x23713f),
	stageOther:   tinted(0x9e9e9e, 0x7f7e7d),
}

// jobColours alternate between dark and light, so that consecutive jobs also
// differ in greyscale.
var jobColours = [maxJobColours]tint{
	tinted(0x2f6fa8, 0x2f6fa8), tinted(0xf2b950, 0xf2b950), tinted(0x1f6b3c, 0x2a8a4f), tinted(0xe79fb3, 0xe79fb3),
	tinted(0x6a3d7c, 0x83509a), tinted(0x93cf9b, 0x93cf9b), tinted(0x9c3b2e, 0xb24737), tinted(0xa9d0ea, 0xa9d0ea),
	tinted(0x5b5b5b, 0x7a7a7a), tinted(0xd8c36a, 0xd8c36a), tinted(0x177e89, 0x177e89), tinted(0xc9b3dd, 0xc9b3dd),
}

// Colours of everything else.
var (
	colourGround    = tinted(0xffffff, 0x0d1117)
	colourText      = tinted(0x222222, 0xe6e6e6)
	colourFaint     = tinted(0x6b6b6b, 0x9aa0a6) // secondary text
	colourAxis      = tinted(0x555555, 0xa0a0a0)
	colourGuide     = tinted(0xdddddd, 0x30363d)
	colourLimit     = tinted(0x111111, 0xf0f0f0)
	colourMaps      = tinted(0x2a5d8c, 0x7cc0ff)
	colourReduces   = tinted(0x1f6b3c, 0x5fd08a)
	colourFailed    = tinted(0xb00020, 0xff5c6c)
	colourKilled    = colourLimit
	colourReference = tinted(0xd4d4d4, 0x3d444d)
)

func inkOf(t tint) ink {
	return ink{255 - float32(t.light.R), 255 - float32(t.light.G), 255 - float32(t.light.B), 1}
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

// jobColour returns the colour of the i-th job. Colours repeat if there are
// more jobs than colours.
func jobColour(i int) tint { return jobColours[i%maxJobColours] }

func jobInk(i int) ink { return inkOf(jobColour(i)) }
