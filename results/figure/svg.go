package figure

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// WriteSVG writes the figure as SVG. Text stays text, and viewers in dark mode
// use the dark variant of each tint.
func (f *Figure) WriteSVG(w io.Writer) error {
	c := &svgCanvas{width: f.Width(), height: f.Height(), classes: map[svgClass]string{}}
	canvas := draw.New(c)
	canvas.SetColor(ColourGround)
	canvas.Fill(canvas.Rectangle.Path())
	f.draw(canvas)
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%vpt" height="%vpt" viewBox="0 0 %[1]v %v" role="img">`+"\n", float64(c.width), float64(c.height))
	fmt.Fprintf(&out, "<title>%s</title>\n<desc>%s</desc>\n", html.EscapeString(f.Title), html.EscapeString(f.describe()))
	out.WriteString("<style>\ntext{font-family:\"Liberation Sans\",Arial,Helvetica,sans-serif;white-space:pre}\n")
	out.Write(c.light.Bytes())
	fmt.Fprintf(&out, "@media (prefers-color-scheme:dark){\n%s}\n</style>\n", c.dark.Bytes())
	out.Write(c.body.Bytes())
	out.WriteString("</svg>\n")
	_, err := w.Write(out.Bytes())
	return err
}

// svgCanvas is the vg.Canvas for WriteSVG. Coordinates are whole hundredths of a
// point, relative to the previous point. This keeps files small and equal on all
// machines. It does not support rotation, scale and images, because figures do
// not use them.
type svgCanvas struct {
	width, height     vg.Length
	body, light, dark bytes.Buffer
	classes           map[svgClass]string
	svgState
	saved []svgState
	label string // name of the following shapes
}

type svgState struct {
	colour color.Color
	line   vg.Length
	dashes []vg.Length
	origin vg.Point
}

// svgClass is a rule of the style sheet.
type svgClass struct {
	Tint
	stroke bool
}

// Labelled names the following shapes until the next call. Viewers show the
// name of the shape under the pointer. Other canvases have no names.
func Labelled(c vg.Canvas, label string) {
	if svg, ok := Backend(c).(*svgCanvas); ok {
		svg.label = label
	}
}

// Size implements draw.Canvas.
func (c *svgCanvas) Size() (w, h vg.Length) { return c.width, c.height }

// SetLineWidth implements vg.Canvas.
func (c *svgCanvas) SetLineWidth(w vg.Length) { c.line = w }

// SetLineDash implements vg.Canvas.
func (c *svgCanvas) SetLineDash(dashes []vg.Length, _ vg.Length) { c.dashes = dashes }

// SetColor implements vg.Canvas.
func (c *svgCanvas) SetColor(to color.Color) { c.colour = to }

// Push implements vg.Canvas.
func (c *svgCanvas) Push() { c.saved = append(c.saved, c.svgState) }

// Pop implements vg.Canvas.
func (c *svgCanvas) Pop() {
	c.svgState, c.saved = c.saved[len(c.saved)-1], c.saved[:len(c.saved)-1]
}

// Translate implements vg.Canvas.
func (c *svgCanvas) Translate(by vg.Point) { c.origin = c.origin.Add(by) }

// Rotate implements vg.Canvas.
func (c *svgCanvas) Rotate(float64) { panic("figure: figures do not rotate") }

// Scale implements vg.Canvas.
func (c *svgCanvas) Scale(x, y float64) { panic("figure: figures do not scale") }

// DrawImage implements vg.Canvas.
func (c *svgCanvas) DrawImage(vg.Rectangle, image.Image) { panic("figure: figures hold no images") }

// class returns the name of the rule for a shape in the present colour.
func (c *svgCanvas) class(stroke bool) string {
	key := svgClass{c.colour.(Tint), stroke} // every colour has a dark variant
	name, ok := c.classes[key]
	if !ok {
		name = className(len(c.classes))
		c.classes[key] = name
		rule := "." + name + "{fill:%s}\n"
		if stroke {
			rule = "." + name + "{fill:none;stroke:%s}\n"
		}
		fmt.Fprintf(&c.light, rule, CSSColour(key.Light))
		fmt.Fprintf(&c.dark, rule, CSSColour(key.Dark))
	}
	return name
}

// className returns a, b, ... z, a1, b1 and so on.
func className(i int) string {
	name := string(rune('a' + i%26))
	if i >= 26 {
		name += strconv.Itoa(i / 26)
	}
	return name
}

func CSSColour(c color.NRGBA) string {
	if c.A < 255 {
		return fmt.Sprintf("#%02x%02x%02x%02x", c.R, c.G, c.B, c.A)
	}
	return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
}

// Fill implements vg.Canvas.
func (c *svgCanvas) Fill(p vg.Path) {
	fmt.Fprintf(&c.body, `<path class="%s"`, c.class(false))
	c.path(p)
}

// Stroke implements vg.Canvas.
func (c *svgCanvas) Stroke(p vg.Path) {
	if c.line <= 0 {
		return
	}
	fmt.Fprintf(&c.body, `<path class="%s" stroke-width="%s"`, c.class(true), hundredths(c.line))
	if len(c.dashes) > 0 {
		c.body.WriteString(` stroke-dasharray="`)
		for _, d := range c.dashes {
			c.body.WriteString(hundredths(d) + " ")
		}
		c.body.WriteByte('"')
	}
	c.path(p)
}

// FillString implements vg.Canvas.
func (c *svgCanvas) FillString(f font.Face, at vg.Point, text string) {
	if text == "" || text == " " {
		return
	}
	at = at.Add(c.origin)
	// With its length a text keeps its place where another font stands in.
	fmt.Fprintf(&c.body, `<text class="%s" x="%s" y="%s" font-size="%s" textLength="%s" lengthAdjust="spacingAndGlyphs"`,
		c.class(false), hundredths(at.X), hundredths(c.height-at.Y), hundredths(f.Font.Size), hundredths(f.Width(text)))
	if f.Font.Weight > 0 {
		c.body.WriteString(` font-weight="bold"`)
	}
	fmt.Fprintf(&c.body, ">%s</text>\n", html.EscapeString(text))
}

// path writes the outline of a path and ends its element.
func (c *svgCanvas) path(p vg.Path) {
	c.body.WriteString(` d="`)
	var pen svgPen
	for _, part := range p {
		at := part.Pos.Add(c.origin)
		x, y := whole100(at.X), whole100(c.height-at.Y)
		switch part.Type {
		case vg.MoveComp:
			pen.move(&c.body, x, y)
		case vg.LineComp:
			pen.line(&c.body, x, y)
		case vg.ArcComp:
			pen.arc(&c.body, part, at, c.height)
		case vg.CloseComp:
			pen.close(&c.body)
		default:
			panic("figure: figures hold no curves")
		}
	}
	c.body.WriteByte('"')
	if c.label != "" {
		fmt.Fprintf(&c.body, "><title>%s</title></path>\n", html.EscapeString(c.label))
		return
	}
	c.body.WriteString("/>\n")
}

// svgPen writes the commands of a path. Its position is in hundredths.
type svgPen struct {
	x, y, firstX, firstY int64
	down                 bool
}

func (s *svgPen) move(b *bytes.Buffer, x, y int64) {
	if s.down {
		s.command(b, 'm', x-s.x, y-s.y)
	} else {
		s.command(b, 'M', x, y)
	}
	s.x, s.y, s.firstX, s.firstY, s.down = x, y, x, y, true
}

func (s *svgPen) line(b *bytes.Buffer, x, y int64) {
	switch dx, dy := x-s.x, y-s.y; {
	case dx == 0 && dy == 0:
	case dy == 0:
		s.command(b, 'h', dx)
	case dx == 0:
		s.command(b, 'v', dy)
	default:
		s.command(b, 'l', dx, dy)
	}
	s.x, s.y = x, y
}

func (s *svgPen) close(b *bytes.Buffer) {
	b.WriteByte('z')
	s.x, s.y = s.firstX, s.firstY
}

// arc draws at most half a circle at a time, because a whole one ends where it
// begins.
func (s *svgPen) arc(b *bytes.Buffer, arc vg.PathComp, centre vg.Point, height vg.Length) {
	at := func(angle float64) (x, y int64) {
		return whole100(centre.X + vg.Length(float64(arc.Radius)*math.Cos(angle))), whole100(height - centre.Y - vg.Length(float64(arc.Radius)*math.Sin(angle)))
	}
	x, y := at(arc.Start)
	if !s.down {
		s.move(b, x, y)
	}
	s.line(b, x, y)
	sweep := int64(0) // counter-clockwise
	if arc.Angle < 0 {
		sweep = 100
	}
	parts := max(1, math.Ceil(math.Abs(arc.Angle)/math.Pi-1e-9))
	r := whole100(arc.Radius)
	for i := range int(parts) {
		x, y := at(arc.Start + float64(arc.Angle*float64(i+1)/parts))
		s.command(b, 'a', r, r, 0, 0, sweep, x-s.x, y-s.y)
		s.x, s.y = x, y
	}
}

func (s *svgPen) command(b *bytes.Buffer, name byte, numbers ...int64) {
	b.WriteByte(name)
	for i, n := range numbers {
		if i > 0 && n >= 0 {
			b.WriteByte(' ')
		}
		b.Write(appendHundredths(b.AvailableBuffer(), n))
	}
}

func whole100(v vg.Length) int64 { return int64(math.Round(float64(v) * 100)) }

func hundredths(v vg.Length) string { return string(appendHundredths(nil, whole100(v))) }

// appendHundredths appends a number of hundredths as the shortest decimal:
// 12.3, .05, -7.
func appendHundredths(b []byte, n int64) []byte {
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	if n >= 100 || n == 0 {
		b = strconv.AppendInt(b, n/100, 10)
	}
	if n %= 100; n > 0 {
		b = append(b, '.', byte('0'+n/10))
		if n%10 > 0 {
			b = append(b, byte('0'+n%10))
		}
	}
	return b
}

// Backend returns the canvas under the clipping of a plot.
func Backend(c vg.Canvas) vg.Canvas {
	for {
		crop, ok := c.(draw.Canvas)
		if !ok {
			return c
		}
		c = crop.Canvas
	}
}
