package bench

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
)

// colours of the lines of a picture.
var colours = []string{"#888888", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"}

// Growth lists the groups whose benchmarks have sizes.
func Growth(all []Result) (groups []string) {
	for i := range all {
		if g := all[i].Group; all[i].Size > 0 && (len(groups) == 0 || groups[len(groups)-1] != g) {
			groups = append(groups, g)
		}
	}
	return groups
}

// WriteGrowth draws the time of a unit of work against the size, of the
// benchmarks of a group, as SVG. Both axes are logarithmic.
func WriteGrowth(w io.Writer, all []Result, group string) error {
	const width, height, left, top, plotWidth, plotHeight = 640, 400, 70, 50, 420, 290
	var names []string
	lines := map[string][]Result{}
	low, high, least, most := math.Inf(1), 0.0, math.Inf(1), 0.0
	unit := ""
	for _, r := range all {
		if r.Group != group || r.Size == 0 {
			continue
		}
		if lines[r.Name] == nil {
			names = append(names, r.Name)
		}
		lines[r.Name] = append(lines[r.Name], r)
		low, high = min(low, float64(r.Size)), max(high, float64(r.Size))
		least, most = min(least, r.PerUnit()), max(most, r.PerUnit())
		unit = r.Unit
	}
	least, most = math.Pow(10, math.Floor(math.Log10(least))), math.Pow(10, math.Ceil(math.Log10(most)))
	x := func(size float64) float64 { return left + plotWidth*math.Log(size/low)/math.Log(high/low) }
	y := func(ns float64) float64 { return top + plotHeight*(1-math.Log(ns/least)/math.Log(most/least)) }

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %d" role="img" font-family="sans-serif" font-size="12">`+"\n", width, height, height)
	title := html.EscapeString(fmt.Sprintf("%s: processor time of one %s", group, unit))
	fmt.Fprintf(&b, "<title>%s</title>\n<desc>Both axes are logarithmic.</desc>\n", title)
	b.WriteString("<style>rect{fill:#ffffff}text{fill:#222222}line{stroke:#dddddd}\n" +
		"@media(prefers-color-scheme:dark){rect{fill:#0d1117}text{fill:#e6e6e6}line{stroke:#30363d}}</style>\n")
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%"/><text x="%d" y="26" font-size="15">%s</text>`+"\n", left, title)
	for size := low; size <= high*1.001; size *= 10 {
		fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`+"\n", x(size), x(size), top, top+plotHeight)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x(size), top+plotHeight+18, count(int(size)))
	}
	for ns := least; ns <= most*1.001; ns *= 10 {
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`+"\n", left, left+plotWidth, y(ns), y(ns))
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", left-6, y(ns)+4, duration(ns))
	}
	labels := make([]float64, len(names)) // heights
	for i, name := range names {
		last := lines[name][len(lines[name])-1]
		labels[i] = y(last.PerUnit()) + 4
	}
	spread(labels, 14)
	for i, name := range names {
		colour := colours[i%len(colours)]
		var points []string
		for _, r := range lines[name] {
			px, py := x(float64(r.Size)), y(r.PerUnit())
			points = append(points, fmt.Sprintf("%.1f,%.1f", px, py))
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"><title>%s, %s: %s</title></circle>`+"\n", px, py, colour, html.EscapeString(name), count(r.Size), perUnit(&r))
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), colour)
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" style="fill:%s">%s</text>`+"\n", left+plotWidth+8, labels[i], colour, html.EscapeString(name))
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// spread moves labels down that are closer than gap to the one above.
func spread(heights []float64, gap float64) {
	order := make([]int, len(heights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(heights[a], heights[b]) })
	for i := 1; i < len(order); i++ {
		heights[order[i]] = max(heights[order[i]], heights[order[i-1]]+gap)
	}
}
