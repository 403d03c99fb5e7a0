package results

import (
	"image/color"
	"math"
	"testing"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/workload"
)

// sights are what eyes make of linear RGB: Machado, Oliveira and Fernandes 2009,
// at full severity.
var sights = []struct {
	name   string
	matrix [3][3]float64
}{
	{"normal", [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
	{"protan", [3][3]float64{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
	{"deutan", [3][3]float64{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
	{"tritan", [3][3]float64{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},
}

// seen is a colour in CIELAB (D65) as one kind of sight has it.
func seen(c color.NRGBA, matrix [3][3]float64) [3]float64 {
	var rgb [3]float64
	for i, v := range []uint8{c.R, c.G, c.B} {
		if x := float64(v) / 255; x <= 0.04045 {
			rgb[i] = x / 12.92
		} else {
			rgb[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	times := func(m [3][3]float64, v [3]float64) (out [3]float64) {
		for i := range m {
			for k := range v {
				out[i] += float64(m[i][k] * v[k])
			}
		}
		return out
	}
	rgb = times(matrix, rgb)
	for i := range rgb {
		rgb[i] = min(1, max(0, rgb[i]))
	}
	xyz := times([3][3]float64{{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}, rgb)
	var f [3]float64
	for i, white := range []float64{0.95047, 1, 1.08883} {
		if t := xyz[i] / white; t > 216.0/24389 {
			f[i] = math.Cbrt(t)
		} else {
			f[i] = (24389.0/27*t + 16) / 116
		}
	}
	return [3]float64{116*f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])}
}

// ciede2000 is the distance of two colours (Sharma, Wu and Dalal 2005).
func ciede2000(p, q [3]float64) float64 {
	rad := func(degrees float64) float64 { return degrees * math.Pi / 180 }
	pow7 := func(c float64) float64 { return math.Sqrt(math.Pow(c, 7) / (math.Pow(c, 7) + math.Pow(25, 7))) }
	g := 0.5 * (1 - pow7((math.Hypot(p[1], p[2])+math.Hypot(q[1], q[2]))/2))
	polar := func(c [3]float64) (chroma, hue float64) {
		a := c[1] * (1 + g)
		return math.Hypot(a, c[2]), math.Mod(math.Atan2(c[2], a)*180/math.Pi+360, 360)
	}
	c1, h1 := polar(p)
	c2, h2 := polar(q)
	angle, mean := h2-h1, (h1+h2)/2
	if c1*c2 == 0 {
		angle, mean = 0, h1+h2
	} else if math.Abs(angle) > 180 {
		angle -= math.Copysign(360, angle)
		mean = math.Mod(mean+180, 360)
	}
	lightness, chroma := (p[0]+q[0])/2, (c1+c2)/2
	t := 1 - 0.17*math.Cos(rad(mean-30)) + 0.24*math.Cos(rad(2*mean)) + 0.32*math.Cos(rad(3*mean+6)) - 0.2*math.Cos(rad(4*mean-63))
	off := (lightness - 50) * (lightness - 50)
	dl := (q[0] - p[0]) / (1 + 0.015*off/math.Sqrt(20+off))
	dc := (c2 - c1) / (1 + 0.045*chroma)
	dh := 2 * math.Sqrt(c1*c2) * math.Sin(rad(angle/2)) / (1 + 0.015*chroma*t)
	rotation := -2 * pow7(chroma) * math.Sin(rad(60*math.Exp(-math.Pow((mean-275)/25, 2))))
	return math.Sqrt(dl*dl + dc*dc + dh*dh + rotation*dc*dh)
}

// TestCIEDE2000 has four pairs of the paper's table of test data.
func TestCIEDE2000(t *testing.T) {
	for _, x := range []struct {
		p, q [3]float64
		want float64
	}{
		{[3]float64{50, 2.6772, -79.7751}, [3]float64{50, 0, -82.7485}, 2.0425},
		{[3]float64{50, 2.5, 0}, [3]float64{73, 25, -18}, 27.1492},
		{[3]float64{60.2574, -34.0099, 36.2677}, [3]float64{60.4626, -34.1751, 39.4387}, 1.2644},
		{[3]float64{22.7233, 20.0904, -46.6940}, [3]float64{23.0331, 14.9730, -42.5619}, 2.0373},
	} {
		if got := ciede2000(x.p, x.q); math.Abs(got-x.want) > 5e-5 {
			t.Errorf("%v to %v: got %.4f: want %.4f", x.p, x.q, got, x.want)
		}
	}
}

// TestTouchingColours wants what touches in a chart to be told apart by all eyes,
// and phases also on a printer without colours. 12 is far above the 2 to 3 that a
// trained eye sees side by side, since bars are small; 7 of lightness is the most
// that nine phases and the ground leave room for.
func TestTouchingColours(t *testing.T) {
	apart := func(nameA, nameB string, a, b figure.Tint) {
		for _, s := range sights {
			for _, pair := range [][2]color.NRGBA{{a.Light, b.Light}, {a.Dark, b.Dark}} {
				if d := ciede2000(seen(pair[0], s.matrix), seen(pair[1], s.matrix)); d < 12 {
					t.Errorf("%s and %s are %.1f apart for %s sight (%v, %v): want 12", nameA, nameB, d, s.name, pair[0], pair[1])
				}
			}
		}
	}
	grey := func(a, b figure.Tint) {
		for _, pair := range [][2]color.NRGBA{{a.Light, b.Light}, {a.Dark, b.Dark}} {
			if d := math.Abs(seen(pair[0], sights[0].matrix)[0] - seen(pair[1], sights[0].matrix)[0]); d < 7 {
				t.Errorf("%v and %v are %.1f apart in lightness: want 7", pair[0], pair[1], d)
			}
		}
	}
	for _, phases := range [][]workload.Phase{
		{workload.PhaseStartup, workload.PhaseRead, workload.PhaseMap, workload.PhaseCollect, workload.PhaseSpill, workload.PhaseMerge, workload.PhaseWrite, workload.PhaseCommit},
		{workload.PhaseStartup, workload.PhaseShuffle, workload.PhaseMerge, workload.PhaseReduce, workload.PhaseWrite, workload.PhaseCommit},
	} {
		for i, a := range phases {
			apart(a.String(), "the ground", figure.PhaseColours[a], figure.ColourGround)
			apart(a.String(), "set-up", figure.PhaseColours[a], figure.PhaseColours[figure.OtherPhase])
			grey(figure.PhaseColours[a], figure.PhaseColours[figure.OtherPhase])
			for _, b := range phases[:i] {
				apart(a.String(), b.String(), figure.PhaseColours[a], figure.PhaseColours[b])
				grey(figure.PhaseColours[a], figure.PhaseColours[b])
			}
		}
	}
	for a := range numStages {
		apart(stageLabels[a], "the ground", stageColours[a], figure.ColourGround)
		for b := range a {
			apart(stageLabels[a], stageLabels[b], stageColours[a], stageColours[b])
			grey(stageColours[a], stageColours[b])
		}
	}
}
