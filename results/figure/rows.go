package figure

import (
	"math"
	"slices"

	"github.com/slotwave/slotwave/results/text"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bar is what a factor does to a metric by itself.
type Bar struct {
	Name, From, To string  // levels with the lowest and the highest mean
	Low, High      float64 // means over all other factors
}

type TornadoPlotter struct {
	bars []Bar
	mean float64
}

// Plot implements plot.Plotter.
func (t *TornadoPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := newStyle(textSize-1, ColourText, false)
	style.YAlign = draw.YCenter
	for i, b := range t.bars {
		bar := vg.Rectangle{Min: vg.Point{X: x(b.Low), Y: y(float64(i) + 0.78)}, Max: vg.Point{X: x(b.High), Y: y(float64(i) + 0.22)}}
		c.SetColor(colourBar)
		c.Fill(bar.Path())
		mid := y(float64(i) + 0.5)
		style.XAlign = draw.XRight
		c.FillText(style, vg.Point{X: bar.Min.X - 4, Y: mid}, text.Shorten(text.Escape(b.From), 20))
		style.XAlign = draw.XLeft
		c.FillText(style, vg.Point{X: bar.Max.X + 4, Y: mid}, text.Shorten(text.Escape(b.To), 20))
	}
	c.StrokeLine2(LimitStyle, x(t.mean), c.Min.Y, x(t.mean), c.Max.Y)
}

// SetRange makes an axis from low to high, with room for labels at both ends.
func (f *Figure) SetRange(low, high float64, label string) {
	margin := (high - low) * 0.2
	f.SetX(high+margin, label, nil)
	marks := MarksBetween(low-margin, high+margin)
	for _, p := range f.Panels {
		p.X.Min, p.X.Tick.Marker = low-margin, plot.ConstantTicks(marks)
	}
}

// TornadoPanel is a bar for each input around a middle value, and the ends of all.
func TornadoPanel(bars []Bar, middle float64) (p *Panel, low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	var names []string
	for _, b := range bars {
		names = append(names, b.Name)
		low, high = min(low, b.Low), max(high, b.High)
	}
	p = RowsPanel(names, 30)
	p.Add(&TornadoPlotter{bars, middle})
	return p, low, high
}

// RowsPanel has a row of a height for each name, the first one on top.
func RowsPanel(names []string, height vg.Length) *Panel {
	p := NewPanel(vg.Length(len(names))*height, "")
	p.Y.Min, p.Y.Max = 0, float64(len(names))
	p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	var marks []plot.Tick
	for i, name := range text.Apart(names, 44) {
		marks = append(marks, plot.Tick{Value: float64(i) + 0.5, Label: name})
	}
	p.Y.Tick.Marker, p.Y.Tick.Length = plot.ConstantTicks(marks), 0
	return p
}

// ValueBars are horizontal bars from 0 over the rows of a panel, with what each says
// beside it.
type ValueBars struct {
	Values []float64
	Texts  []string
	Colour Tint
	Room   float64 // part of the width for the bars; beside them are the texts
}

// Plot implements plot.Plotter.
func (b *ValueBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := newStyle(textSize-1, ColourText, false)
	style.YAlign = draw.YCenter
	most := max(slices.Max(b.Values), math.SmallestNonzeroFloat64)
	for i, v := range b.Values {
		bar := vg.Rectangle{Min: vg.Point{X: x(0), Y: y(float64(i) + 0.85)}, Max: vg.Point{X: x(b.Room * v / most), Y: y(float64(i) + 0.15)}}
		c.SetColor(b.Colour)
		c.Fill(bar.Path())
		c.FillText(style, vg.Point{X: bar.Max.X + 4, Y: y(float64(i) + 0.5)}, b.Texts[i])
	}
}
