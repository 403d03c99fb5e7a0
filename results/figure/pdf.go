package figure

import (
	"io"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"
)

// The library would write the clock.
func init() {
	fpdf.SetDefaultCreationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultModificationDate(time.Unix(0, 0).UTC())
}

// pdfCanvas draws texts as outlines, so that a PDF needs no fonts.
type pdfCanvas struct {
	*vgpdf.Canvas
	glyphs sfnt.Buffer
}

// WritePDF writes the figure as PDF.
func (f *Figure) WritePDF(w io.Writer) error {
	c := &pdfCanvas{Canvas: vgpdf.New(f.Width(), f.Height())}
	f.draw(draw.New(c))
	_, err := c.WriteTo(w)
	return err
}

// FillString implements vg.Canvas.
func (c *pdfCanvas) FillString(face font.Face, at vg.Point, text string) {
	if outline := textPath(&c.glyphs, face, at, text); len(outline) > 0 {
		c.Fill(outline)
	}
}
