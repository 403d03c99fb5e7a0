package figure

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/slotwave/slotwave/workload"
)

// MaxJobColours is the largest number of jobs that colours can distinguish.
const MaxJobColours = 12

// OtherPhase is the whole of a set-up or clean-up attempt.
const OtherPhase = int(workload.NumPhases)

// Tint is a colour on a white background, and its variant on a dark one. If
// only one is used, as in a PNG, it is the light one.
type Tint struct{ Light, Dark color.NRGBA }

// RGBA implements color.Color.
func (t Tint) RGBA() (r, g, b, a uint32) { return t.Light.RGBA() }

func Tinted(light, dark uint32) Tint { return Tint{rgb(light), rgb(dark)} }

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}
}

// faint returns the tint in a nearly transparent form.
func (t Tint) faint() Tint {
	t.Light.A, t.Dark.A = 40, 60
	return t
}

// PhaseColours differ, between any two phases of a map and any two of a reduce,
// by a CIEDE2000 distance of 12 or more, for normal, deutan, protan and tritan
// sight and on both backgrounds. In greyscale they differ by 7 or more in lightness
// (0 to 100).
var PhaseColours = [workload.NumPhases + 1]Tint{
	workload.PhaseStartup: Tinted(0x1f1e1b, 0xeaedef),
	workload.PhaseRead:    Tinted(0xc9ddf4, 0x355573),
	workload.PhaseMap:     Tinted(0x035bb5, 0x56b9f5),
	workload.PhaseCollect: Tinted(0xc8afff, 0x7b4ac2),
	workload.PhaseSpill:   Tinted(0xe59532, 0xfebf4f),
	workload.PhaseShuffle: Tinted(0xf8e5af, 0x685628),
	workload.PhaseMerge:   Tinted(0xaf5503, 0xe36309),
	workload.PhaseReduce:  Tinted(0x045e39, 0x61c56f),
	workload.PhaseWrite:   Tinted(0x42905a, 0x06381b),
	workload.PhaseCommit:  Tinted(0x44136a, 0xce86b1),
	OtherPhase:            Tinted(0x909493, 0x777876),
}

// PageStyles returns style rules of a page with the colours of phases and jobs: the
// property --NAME of each phase and --jobN of each job, in the light and in the dark.
func PageStyles() string {
	var light, dark strings.Builder
	add := func(name string, t Tint) {
		fmt.Fprintf(&light, "--%s:%s;", name, css(t.Light))
		fmt.Fprintf(&dark, "--%s:%s;", name, css(t.Dark))
	}
	for p := range workload.NumPhases {
		add(p.String(), PhaseColours[p])
	}
	for i, t := range JobColours {
		add(fmt.Sprintf("job%d", i), t)
	}
	return fmt.Sprintf(":root{%s}\n@media screen and (prefers-color-scheme:dark){:root:not(.light){%s}}\n:root.dark{%s}\n", light.String(), dark.String(), dark.String())
}

func css(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// JobColours alternate between dark and light, so that consecutive jobs also
// differ in greyscale.
var JobColours = [MaxJobColours]Tint{
	Tinted(0x2f6fa8, 0x2f6fa8), Tinted(0xf2b950, 0xf2b950), Tinted(0x1f6b3c, 0x2a8a4f), Tinted(0xe79fb3, 0xe79fb3),
	Tinted(0x6a3d7c, 0x83509a), Tinted(0x93cf9b, 0x93cf9b), Tinted(0x9c3b2e, 0xb24737), Tinted(0xa9d0ea, 0xa9d0ea),
	Tinted(0x5b5b5b, 0x7a7a7a), Tinted(0xd8c36a, 0xd8c36a), Tinted(0x177e89, 0x177e89), Tinted(0xc9b3dd, 0xc9b3dd),
}

// Colours of everything else.
var (
	ColourGround    = Tinted(0xffffff, 0x0d1117)
	ColourText      = Tinted(0x222222, 0xe6e6e6)
	colourFaint     = Tinted(0x6b6b6b, 0x9aa0a6) // secondary text
	colourAxis      = Tinted(0x555555, 0xa0a0a0)
	ColourGuide     = Tinted(0xdddddd, 0x30363d)
	colourLimit     = Tinted(0x111111, 0xf0f0f0)
	ColourMaps      = Tinted(0x2a5d8c, 0x7cc0ff)
	ColourReduces   = Tinted(0x1f6b3c, 0x5fd08a)
	ColourFailed    = Tinted(0xb00020, 0xff5c6c)
	ColourKilled    = colourLimit
	colourBar       = Tinted(0x5b93c3, 0x5cb2fc)
	ColourReference = Tinted(0xd4d4d4, 0x3d444d)
)

func InkOf(t Tint) Ink {
	return Ink{255 - float32(t.Light.R), 255 - float32(t.Light.G), 255 - float32(t.Light.B), 1}
}

var PhaseInk = func() (inks [workload.NumPhases + 1]Ink) {
	for i, c := range PhaseColours {
		inks[i] = InkOf(c)
	}
	return inks
}()

// JobColour returns the colour of the i-th job. Colours repeat if there are
// more jobs than colours.
func JobColour(i int) Tint { return JobColours[i%MaxJobColours] }

func JobInk(i int) Ink { return InkOf(JobColour(i)) }

// Ink is the red, green and blue (0 to 255) that a colour removes from white,
// and 1 for the time; or a sum of it over time in ns. This type has enough
// digits for a picture.
type Ink [4]float32
