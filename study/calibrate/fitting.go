package calibrate

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// FittedPhase is a phase of a platform profile with the model fitted to it.
type FittedPhase struct {
	platform.PhaseFit
	Rows     []platform.PhaseRow
	Expected *ExpectedBreak // from the configuration; nil: not known
}

// ExpectedBreak is the break that follows from the configuration of a phase,
// with the Chow test of the rows; F is NaN if it cannot be computed.
type ExpectedBreak struct{ MB, F, P float64 }

// Fitting is a fitted platform profile.
type Fitting struct {
	Title    string
	Platform platform.Model
	Phases   []FittedPhase
}

// platformFile and fitName are files of a fitted platform.
const (
	platformFile = "platform.json"
	fitName      = "fit.csv"
)

// Write writes the platform, the table of its fit, and a picture of each phase.
func (f *Fitting) Write(d resultdir.Target) error {
	w := resultdir.Writer{Dir: d}
	var names []string
	var figures []*figure.Figure
	for i := range f.Phases {
		p := &f.Phases[i]
		names, figures = append(names, "fit-"+text.Slug(p.Phase)), append(figures, fitFigure(f.Title, p))
	}
	var drawn figure.Pictures
	drawn.Draw(names, figures)
	w.Write(platformFile, f.WritePlatform)
	w.Write(fitName, f.WriteCSV)
	drawn.Write(&w)
	return w.Err
}

// Doubts lists the fits of the platform that few rows agree with.
func (f *Fitting) Doubts() (list []string) {
	for i := range f.Phases {
		if p := &f.Phases[i]; slices.Contains(platform.Phases[:], p.Phase) {
			if doubt := p.Doubt(); doubt != "" {
				list = append(list, doubt)
			}
		}
	}
	return list
}

// WritePlatform writes only the platform, as models read it.
func (f *Fitting) WritePlatform(w io.Writer) error { return platform.WriteModel(w, f.Platform) }

// fitColumns names the columns of fit.csv, in order. Lines are in ms and ms/MB, errors
// of abs(predicted - measured) / measured.
var fitColumns = []string{
	"phase", "rows", "a", "b", "tau_mb", "a2", "b2", // two lines: the second from tau_mb on
	"weight", "proportional", "scale", "scale2", // spread of the residuals of both lines, in ms, or a fraction if proportional to the prediction
	"bic_gain", "f", // BIC of one line minus that of two, and the F ratio at the break
	"expected_tau_mb", "chow_f", "chow_p", // the break that the configuration implies
	"within_10", "within_15", "within_20", "mean_error", "max_error", // fractions of the rows within 10, 15 and 20 %
}

// WriteCSV writes fit.csv. Cells that do not apply are empty.
func (f *Fitting) WriteCSV(w io.Writer) error {
	return workload.WriteCSV(w, fitColumns, func(write func(...string)) {
		for i := range f.Phases {
			p := &f.Phases[i]
			cells := make([]string, len(fitColumns))
			set := func(column string, v float64) {
				if !math.IsNaN(v) && !math.IsInf(v, 0) {
					cells[slices.Index(fitColumns, column)] = text.Share(v).String()
				}
			}
			cells[0], cells[1] = text.Escape(p.Phase), strconv.Itoa(len(p.Rows))
			cells[7], cells[8] = p.Weight, strconv.FormatBool(p.Proportional)
			set("a", p.Model.A)
			set("b", p.Model.B)
			set("scale", p.Scales[0])
			if p.broken() {
				set("tau_mb", p.Model.Tau)
				set("a2", p.Model.Beyond.A)
				set("b2", p.Model.Beyond.B)
				set("scale2", p.Scales[1])
			}
			if p.Two != nil && p.Two.BIC2 != nil {
				set("bic_gain", p.Two.BIC1-*p.Two.BIC2)
				if p.Two.F != nil {
					set("f", *p.Two.F)
				}
			}
			if p.Expected != nil {
				set("expected_tau_mb", p.Expected.MB)
				set("chow_f", p.Expected.F)
				set("chow_p", p.Expected.P)
			}
			if e := p.Errors; len(e.Fractions) == 3 {
				set("within_10", e.Fractions[0])
				set("within_15", e.Fractions[1])
				set("within_20", e.Fractions[2])
				set("mean_error", e.Mean)
				set("max_error", e.Max)
			}
			write(cells...)
		}
	})
}

// broken reports whether the phase has two lines.
func (p *FittedPhase) broken() bool { return !math.IsInf(p.Model.Tau, 1) }

// WriteText writes lines and errors of the phases for people.
func (f *Fitting) WriteText(w io.Writer, colour bool) error {
	t := text.NewWriter(w, colour)
	t.Heading(text.Escape(f.Title))
	fmt.Fprintln(t, "phase\trows\tms\tfrom\tms\twithin 10 %\t15 %\t20 %\tmean error\tlargest")
	for i := range f.Phases {
		p := &f.Phases[i]
		from, beyond := "", ""
		if p.broken() {
			from, beyond = fmt.Sprintf("%.4g MB", p.Model.Tau), lineText(p.Model.Beyond.A, p.Model.Beyond.B)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s", text.Escape(p.Phase), text.Number(int64(len(p.Rows))), lineText(p.Model.A, p.Model.B), from, beyond)
		if e := p.Errors; len(e.Fractions) == 3 {
			for _, v := range append(slices.Clone(e.Fractions), e.Mean, e.Max) {
				fmt.Fprintf(t, "\t%s", text.Percent(text.Share(v)))
			}
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	t.Section("One line or two")
	for i := range f.Phases {
		p := &f.Phases[i]
		if p.Two == nil {
			continue
		}
		fmt.Fprintf(t, "%s\t", text.Escape(p.Phase))
		switch {
		case p.Two.BIC2 == nil:
			fmt.Fprint(t, "one: too few rows for two")
		case p.broken():
			fmt.Fprintf(t, "two: from %.4g MB on; the BIC falls by %.1f", *p.Two.Tau, p.Two.BIC1-*p.Two.BIC2)
		default:
			fmt.Fprintf(t, "one: two from %.4g MB on change the BIC by %+.1f", *p.Two.Tau, *p.Two.BIC2-p.Two.BIC1)
		}
		if e := p.Expected; e != nil {
			fmt.Fprintf(t, "\texpected by the configuration at %.4g MB", e.MB)
			if !math.IsNaN(e.F) {
				fmt.Fprintf(t, " (Chow: F = %.1f, p = %.2g)", e.F, e.P)
			}
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	return t.Done()
}

func lineText(a, b float64) string {
	if b < 0 {
		return fmt.Sprintf("%.4g - %.4g/MB", a, -b)
	}
	return fmt.Sprintf("%.4g + %.4g/MB", a, b)
}

// fitFigure draws the rows of a phase with its line or lines, and the residuals
// below.
func fitFigure(title string, p *FittedPhase) *figure.Figure {
	f := &figure.Figure{Title: title + ": " + text.Escape(p.Phase), Subtitle: "one ring per task; the band holds times within 20 % of the line", Raster: len(p.Rows) > results.MaxBars}
	f.Legend = []figure.LegendEntry{
		{Label: "measured", Sample: func(to draw.Canvas) { to.DrawGlyph(figure.FitPoint, to.Center()) }},
		{Label: "fitted", Sample: figure.Stroked(figure.FitLine)},
		{Label: "within 20 %", Sample: figure.Filled(figure.FitBand)},
	}
	if p.broken() {
		f.Legend = append(f.Legend, figure.LegendEntry{Label: "break", Sample: figure.Stroked(figure.FitBreak)})
	}
	s := &fitPlotter{p: p}
	for _, r := range p.Rows {
		s.end, s.top = math.Max(s.end, r.MB), math.Max(s.top, math.Max(r.MS, p.Model.At(r.MB)))
		s.rest = math.Max(s.rest, math.Abs(r.MS-p.Model.At(r.MB)))
	}
	if p.Expected != nil && p.Expected.MB <= s.end {
		f.Legend = append(f.Legend, figure.LegendEntry{Label: "break expected by the configuration", Sample: figure.Stroked(figure.FitExpected)})
	}
	s.end, s.top, s.rest = s.end*1.03, math.Max(1, s.top*1.05), math.Max(1, s.rest*1.1)
	if s.end == 0 {
		s.end = 1
	}
	lines := figure.NewPanel(340, "duration (ms)")
	lines.Y.Min, lines.Y.Max = 0, s.top
	lines.Y.Tick.Marker = plot.ConstantTicks(figure.Ticks(s.top, 8, nil))
	lines.Add(figure.Drawing(s.lines))
	rest := figure.NewPanel(160, "measured - fitted (ms)")
	rest.Y.Min, rest.Y.Max = -s.rest, s.rest
	var marks []plot.Tick
	for _, t := range figure.Ticks(s.rest, 3, nil) {
		marks = append(marks, t)
		if t.Value > 0 {
			marks = append(marks, plot.Tick{Value: -t.Value, Label: "-" + t.Label})
		}
	}
	rest.Y.Tick.Marker = plot.ConstantTicks(marks)
	rest.Add(figure.Drawing(s.residuals))
	f.Panels = []*figure.Panel{lines, rest}
	f.SetX(s.end, "data of the task (MB)", figure.Ticks(s.end, 12, nil))
	return f
}

// fitPlotter has what both panels of a fit draw, and the ends of their axes.
type fitPlotter struct {
	p              *FittedPhase
	end, top, rest float64
}

// pieces returns the ends of the drawn lines.
func (s *fitPlotter) pieces() [][2]float64 {
	if !s.p.broken() {
		return [][2]float64{{0, s.end}}
	}
	return [][2]float64{{0, s.p.Model.Tau}, {math.Nextafter(s.p.Model.Tau, s.end), s.end}}
}

// lines draws the rows over the lines, and the band within 20 %.
func (s *fitPlotter) lines(c draw.Canvas, x, y func(float64) vg.Length) {
	at := func(mb, ms float64) vg.Point { return vg.Point{X: x(mb), Y: y(ms)} }
	const steps = 64 // a line bends where it reaches 0
	for _, ends := range s.pieces() {
		var up, down, middle []vg.Point
		for i := range steps + 1 {
			mb := ends[0] + float64((ends[1]-ends[0])*float64(i)/steps)
			ms := s.p.Model.At(mb)
			up, down, middle = append(up, at(mb, 1.2*ms)), append(down, at(mb, 0.8*ms)), append(middle, at(mb, ms))
		}
		slices.Reverse(down)
		c.FillPolygon(figure.FitBand, c.ClipPolygonXY(append(up, down...)))
		c.StrokeLines(figure.FitLine, c.ClipLinesXY(middle)...)
	}
	for _, r := range s.p.Rows {
		c.DrawGlyph(figure.FitPoint, at(r.MB, r.MS))
	}
	s.breaks(c, x)
}

// breaks marks where the second line begins, and where it was expected.
func (s *fitPlotter) breaks(c draw.Canvas, x func(float64) vg.Length) {
	if s.p.broken() {
		c.StrokeLine2(figure.FitBreak, x(s.p.Model.Tau), c.Min.Y, x(s.p.Model.Tau), c.Max.Y)
	}
	if e := s.p.Expected; e != nil && e.MB <= s.end {
		c.StrokeLine2(figure.FitExpected, x(e.MB), c.Min.Y, x(e.MB), c.Max.Y)
	}
}

// residuals draws what the lines leave of the rows.
func (s *fitPlotter) residuals(c draw.Canvas, x, y func(float64) vg.Length) {
	c.StrokeLine2(figure.FitLine, c.Min.X, y(0), c.Max.X, y(0))
	for _, row := range s.p.Rows {
		c.DrawGlyph(figure.FitPoint, vg.Point{X: x(row.MB), Y: y(row.MS - s.p.Model.At(row.MB))})
	}
	s.breaks(c, x)
}
