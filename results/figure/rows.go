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
	p.Add(Drawing(func(c draw.Canvas, x, y func(float64) vg.Length) {
		style := rowStyle()
		for i, b := range bars {
			bar := Row(x(b.Low), x(b.High), y, i, 0.22)
			c.SetColor(colourBar)
			c.Fill(bar.Path())
			mid := y(float64(i) + 0.5)
			style.XAlign = draw.XRight
			c.FillText(style, vg.Point{X: bar.Min.X - 4, Y: mid}, text.Shorten(text.Escape(b.From), 20))
			style.XAlign = draw.XLeft
			c.FillText(style, vg.Point{X: bar.Max.X + 4, Y: mid}, text.Shorten(text.Escape(b.To), 20))
		}
		c.StrokeLine2(LimitStyle, x(middle), c.Min.Y, x(middle), c.Max.Y)
	}))
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

// Row is a bar of a row, from left to right, with a part of its height free on each side.
func Row(left, right vg.Length, y func(float64) vg.Length, row int, free float64) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: left, Y: y(float64(row) + 1 - free)}, Max: vg.Point{X: right, Y: y(float64(row) + free)}}
}

// rowStyle is that of texts in rows.
func rowStyle() (style draw.TextStyle) {
	style = newStyle(textSize-1, ColourText, false)
	style.YAlign = draw.YCenter
	return style
}

// ValueBars are horizontal bars from 0 over the rows of a panel, with what each says
// beside it. Room is the part of the width for the bars.
func ValueBars(values []float64, texts []string, colour Tint, room float64) Drawing {
	return func(c draw.Canvas, x, y func(float64) vg.Length) {
		style, most := rowStyle(), max(slices.Max(values), math.SmallestNonzeroFloat64)
		for i, v := range values {
			bar := Row(x(0), x(room*v/most), y, i, 0.15)
			c.SetColor(colour)
			c.Fill(bar.Path())
			c.FillText(style, vg.Point{X: bar.Max.X + 4, Y: y(float64(i) + 0.5)}, texts[i])
		}
	}
}
