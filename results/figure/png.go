package figure

import (
	"fmt"
	"image"
	"io"
	"math"

	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// PNGCanvas draws an image that is bit-identical on all machines. The last bits
// of a coordinate depend on how a compiler fuses products and sums. So points
// are rounded before they reach the rasteriser, which uses integers. Glyphs are
// filled as outlines, because the font rasteriser does not round.
type PNGCanvas struct {
	*vgimg.Canvas
	glyphs sfnt.Buffer
}

// WritePNG writes the figure as PNG.
func (f *Figure) WritePNG(w io.Writer) error {
	img := image.NewRGBA(image.Rect(0, 0, int(f.Width())*PNGDPI/72, int(f.Height())*PNGDPI/72))
	g := gg.NewContextForRGBA(img) // vgimg would draw on a copy of the image
	g.SetLineCapButt()
	g.InvertY()
	c := &PNGCanvas{Canvas: vgimg.NewWith(vgimg.UseImageWithContext(img, g), vgimg.UseDPI(PNGDPI))} // on white, as ColourGround is
	f.draw(draw.New(c))
	return encodePNG(w, img)
}

// snap rounds to 1/64 of a point.
func snap(v vg.Length) vg.Length { return vg.Length(math.Round(float64(v)*64) / 64) }

func snapPoint(p vg.Point) vg.Point { return vg.Point{X: snap(p.X), Y: snap(p.Y)} }

func snapPath(p vg.Path) vg.Path {
	snapped := make(vg.Path, len(p))
	for i, comp := range p {
		comp.Pos = snapPoint(comp.Pos)
		snapped[i] = comp
	}
	return snapped
}

// Fill implements vg.Canvas.
func (c *PNGCanvas) Fill(p vg.Path) { c.Canvas.Fill(snapPath(p)) }

// Stroke implements vg.Canvas.
func (c *PNGCanvas) Stroke(p vg.Path) { c.Canvas.Stroke(snapPath(p)) }

// FillString implements vg.Canvas.
func (c *PNGCanvas) FillString(face plotfont.Face, at vg.Point, text string) {
	if outline := textPath(&c.glyphs, face, snapPoint(at), text); len(outline) > 0 {
		c.Canvas.Fill(outline)
	}
}

// textPath returns the outlines of a text.
func textPath(glyphs *sfnt.Buffer, face plotfont.Face, at vg.Point, text string) (outline vg.Path) {
	f := face.Face
	em := fixed.Int26_6(f.UnitsPerEm()) // outlines then use whole units of the font
	unit := face.Font.Size / vg.Length(em)
	x := fixed.Int26_6(0)
	var last sfnt.GlyphIndex
	for i, r := range text {
		glyph, err := f.GlyphIndex(glyphs, r)
		must(err)
		if i > 0 {
			if kern, err := f.Kern(glyphs, last, glyph, em, font.HintingNone); err == nil {
				x += kern
			}
		}
		segments, err := f.LoadGlyph(glyphs, glyph, em, nil)
		must(err)
		point := func(p fixed.Point26_6) vg.Point {
			return snapPoint(vg.Point{X: at.X + vg.Length(float64(x+p.X)*float64(unit)), Y: at.Y - vg.Length(float64(p.Y)*float64(unit))})
		}
		for _, s := range segments {
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				outline.Move(point(s.Args[0]))
			case sfnt.SegmentOpLineTo:
				outline.Line(point(s.Args[0]))
			case sfnt.SegmentOpQuadTo:
				outline.QuadTo(point(s.Args[0]), point(s.Args[1]))
			case sfnt.SegmentOpCubeTo:
				outline.CubeTo(point(s.Args[0]), point(s.Args[1]), point(s.Args[2]))
			}
		}
		advance, err := f.GlyphAdvance(glyphs, glyph, em, font.HintingNone)
		must(err)
		x += advance
		last = glyph
	}
	return outline
}

// must panics on an error, which cannot happen because the fonts are part of
// the program.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("figure: font: %v", err))
	}
}
