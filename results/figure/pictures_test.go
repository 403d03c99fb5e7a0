package figure

import (
	"bytes"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

// A user's text replaces the one that it names, of one picture before that of all, and no
// other: not each entry of a legend, nor the caption of one panel among several.
func TestRelabel(t *testing.T) {
	f := &Figure{
		Title: "Two jobs", Subtitle: "fifo", Legend: []LegendEntry{{Label: "maps"}, {Label: "reduces"}},
		Panels: []*Panel{{Plot: plot.New(), Heading: "map slots", Caption: "slots"}, {Plot: plot.New(), Heading: "reduce slots", Caption: "slots"}},
	}
	f.Panels[1].X.Label.Text = "time (s)"
	own := NewLabels(map[string]string{
		"title": "All", "slots.title": "Own", "subtitle": "", "legend": "wrong", "maps": "map tasks",
		"slots.x": "Time", "other.x": "wrong", "y": "wrong", "reduce slots": "slots of reduces", "map": "cut",
	}, map[string]string{"map": "s.toml:9: "}, false)
	f.relabel("slots", own)
	if got := strings.Join(own.Unused(), "\n"); strings.Count(got, "\n") != 3 || !strings.Contains(got, `s.toml:9: figure."map" replaces nothing here (did you mean maps?)`) {
		t.Errorf("keys that replace nothing: got %q: want legend, map, other.x and y", got)
	}
	for what, c := range map[string][2]string{
		"title": {f.Title, "Own"}, "subtitle": {f.Subtitle, ""}, "named entry": {f.Legend[0].Label, "map tasks"}, "other entry": {f.Legend[1].Label, "reduces"},
		"axis": {f.Panels[1].X.Label.Text, "Time"}, "no axis": {f.Panels[0].X.Label.Text, ""},
		"caption": {f.Panels[0].Caption, "slots"}, "heading": {f.Panels[1].Heading, "slots of reduces"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: got %q: want %q", what, c[0], c[1])
		}
	}
}

// A PDF has the same bytes each time.
func TestPDF(t *testing.T) {
	var first, second bytes.Buffer
	for _, to := range []*bytes.Buffer{&first, &second} {
		f := &Figure{Title: "Two jobs – ±", Panels: []*Panel{NewPanel(50, "slots")}}
		f.SetX(10, "time (s)", Ticks(10, 5, nil))
		if err := f.WritePDF(to); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.HasPrefix(first.Bytes(), []byte("%PDF")) || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("%d and %d bytes, which begin with %.8q: want equal PDF", first.Len(), second.Len(), first.Bytes())
	}
}
