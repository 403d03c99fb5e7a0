package figure

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// Raster is a picture of lanes over time in cells. A cell sums the ink of every
// bar that crosses it, weighted by time. It shows the mean colour over its time
// and its lanes; idle time is white. Columns double in width like the bins of a
// timeline.
type Raster struct {
	Width int64 // ns per column
	cols  int   // even
	Group int   // lanes per row
	lanes [2]int
	cells [2][]Ink // by section, column and row: bars that end together lie together
}

func NewRaster(lanes [2]int, rows, cols int, width int64) *Raster {
	r := &Raster{Width: width, cols: cols, lanes: lanes}
	r.Group = max(1, (lanes[0]+lanes[1]+rows-1)/rows)
	for i := range r.cells {
		r.cells[i] = make([]Ink, r.rows(i)*cols)
	}
	return r
}

func (r *Raster) rows(section int) int { return (r.lanes[section] + r.Group - 1) / r.Group }

// Add inks one bar.
func (r *Raster) Add(section, lane int, from, to int64, colour Ink) {
	for to > r.Width*int64(r.cols) {
		r.halve()
	}
	row, rows, cells := lane/r.Group, r.rows(section), r.cells[section]
	for i := from / r.Width; from < to; i++ {
		edge := min((i+1)*r.Width, to)
		t := float32(edge - from)
		c := &cells[int(i)*rows+row]
		c[0] += float32(t * colour[0])
		c[1] += float32(t * colour[1])
		c[2] += float32(t * colour[2])
		c[3] += t
		from = edge
	}
}

// halve merges neighbouring columns.
func (r *Raster) halve() {
	r.Width *= 2
	for section, cells := range r.cells {
		rows, half := r.rows(section), r.cols/2
		for i := range half * rows {
			first := 2*(i/rows)*rows + i%rows
			a, b := cells[first], cells[first+rows]
			cells[i] = Ink{a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]}
		}
		clear(cells[half*rows:])
	}
}

// Pixels returns the rectangle of an image that a rectangle of its canvas
// covers, to the nearest pixel.
func Pixels(img *PNGCanvas, rect vg.Rectangle) image.Rectangle {
	_, h := img.Size()
	dot := func(v vg.Length) int { return int(math.Round(float64(v) * PNGDPI / 72)) }
	return image.Rect(dot(rect.Min.X), dot(h-rect.Max.Y), dot(rect.Max.X), dot(h-rect.Min.Y))
}

// Draw paints a section into a rectangle of an image. Its width is the time
// from 0 to end. With lift, the depth of colours grows with the square root of
// the busy time, so that sparse use is visible.
func (r *Raster) Draw(img *image.RGBA, to image.Rectangle, section int, end int64, lift bool) {
	rows, lanes := r.rows(section), r.lanes[section]
	line, paint := make([][4]float64, to.Dx()), make([]color.RGBA, to.Dx())
	shares, columns := r.shares(to.Dx(), end)
	if 2*rows <= to.Dy() { // each row has its own pixels
		for row := range rows {
			first, last := row*r.Group, min((row+1)*r.Group, lanes)
			top, bottom := first*to.Dy()/lanes, last*to.Dy()/lanes
			if thick := bottom - top; thick >= 12 {
				top, bottom = top+1, bottom-1
			} else if thick >= 4 {
				bottom--
			}
			clear(line)
			r.line(line, section, row, shares, columns, 1/float64(last-first))
			colours(paint, line, lift)
			for y := top; y < bottom; y++ {
				paintLine(img, to.Min.X, to.Min.Y+y, paint)
			}
		}
		return
	}
	// Several rows share a pixel: a row counts by the fraction that lies in
	// the pixel.
	perPixel := float64(rows) / float64(to.Dy())
	for y := range to.Dy() {
		from, until := float64(y)*perPixel, float64(y+1)*perPixel
		clear(line)
		for row := int(from); row < rows && float64(row) < until; row++ {
			part := math.Min(until, float64(row+1)) - math.Max(from, float64(row))
			count := min((row+1)*r.Group, lanes) - row*r.Group
			r.line(line, section, row, shares, columns, part/perPixel/float64(count))
		}
		colours(paint, line, lift)
		paintLine(img, to.Min.X, to.Min.Y+y, paint)
	}
}

// share is the part of a column that lies in a pixel of a line.
type share struct {
	pixel, column int
	part          float64
}

// shares lists what each pixel of a line shows of the columns until a time. It also
// returns the columns of a pixel.
func (r *Raster) shares(pixels int, end int64) (list []share, perPixel float64) {
	perPixel = float64(end) / float64(pixels) / float64(r.Width)
	for x := range pixels {
		from, until := float64(x)*perPixel, float64(x+1)*perPixel
		for col := int(from); col < r.cols && float64(col) < until; col++ {
			list = append(list, share{x, col, math.Min(until, float64(col+1)) - math.Max(from, float64(col))})
		}
	}
	return list, perPixel
}

// line adds a row to a line of pixels: the mean ink over a pixel's time, times
// a weight.
func (r *Raster) line(line [][4]float64, section, row int, shares []share, perPixel, weight float64) {
	rows, cells := r.rows(section), r.cells[section]
	for _, s := range shares {
		c := &cells[s.column*rows+row]
		if c[3] == 0 {
			continue // idle
		}
		w := weight * s.part / perPixel / float64(r.Width)
		sum := &line[s.pixel]
		sum[0] += float64(w * float64(c[0]))
		sum[1] += float64(w * float64(c[1]))
		sum[2] += float64(w * float64(c[2]))
		sum[3] += float64(w * float64(c[3]))
	}
}

// colours converts a line of ink to the colours of its pixels. A pixel without
// ink has alpha 0.
func colours(to []color.RGBA, line [][4]float64, lift bool) {
	for x, sum := range line {
		to[x] = color.RGBA{}
		busy := sum[3]
		if busy <= 0 {
			continue
		}
		depth := 1.0
		if lift {
			depth = math.Sqrt(math.Min(1, busy)) / busy
		}
		var c [3]uint8
		for i := range c {
			c[i] = 255 - uint8(math.Min(255, float64(depth*sum[i])+0.5))
		}
		to[x] = color.RGBA{R: c[0], G: c[1], B: c[2], A: 255}
	}
}

// paintLine paints the pixels that have ink on one line of an image.
func paintLine(img *image.RGBA, x, y int, line []color.RGBA) {
	for i, c := range line {
		if c.A > 0 {
			img.SetRGBA(x+i, y, c)
		}
	}
}
