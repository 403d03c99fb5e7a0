package size

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/workload"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("answer").Parse(pageText))

// page is what the page shows. Names of the input are text in it.
type page struct {
	Title, Sentence, Asked string
	Heads                  []string
	Rows                   [][]string
	Best                   int // row
	Pictures               []picture
	Goals, Errors          []string
	Notes, Assumed         []string
}

// picture is an image of its own, so that its styles stay there.
type picture struct {
	Alt string
	Src template.URL
}

// writePage writes the answer with its pictures.
func (z *Sizing) writePage(w io.Writer, pictures []*figure.Figure) error {
	l := z.shown()
	p := page{Title: text.Escape(z.Title), Sentence: z.sentence(), Asked: z.asked(), Best: z.Answer}
	p.Notes, p.Assumed = z.notes(l, l.shown()), text.Listed(z.Assumed)
	for _, row := range z.errorRows() {
		p.Errors = append(p.Errors, strings.TrimPrefix(row[0]+": "+row[1], ": "))
	}
	if len(z.Lines) > 1 {
		p.Heads, p.Rows = z.table()
	}
	for _, f := range pictures {
		var svg bytes.Buffer
		if err := f.WriteSVG(&svg); err != nil {
			return err
		}
		p.Pictures = append(p.Pictures, picture{f.Title + ": " + f.Subtitle, template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg.Bytes()))})
	}
	for g := range z.Goals {
		goal := &z.Goals[g]
		p.Goals = append(p.Goals, fmt.Sprintf("%s: %s on %s, limit %s", text.Escape(goal.String()), z.value(l.shown(), g), l.name(l.shown()), goalValue(goal, goal.Limit())))
	}
	var html bytes.Buffer
	if err := pageTemplate.Execute(&html, p); err != nil {
		return err
	}
	_, err := w.Write(workload.Visible(html.Bytes()))
	return err
}

// sentence is the answer in one sentence.
func (z *Sizing) sentence() string {
	l := z.shown()
	s := l.best()
	if l.Nodes == 0 {
		return fmt.Sprintf("No size up to %s is shown to meet the goals.", l.name(s))
	}
	cost := ""
	if s.Price > 0 {
		cost = fmt.Sprintf(" for %s per hour", price(s.Hourly()))
	}
	if l.Load != "" {
		cost += ", for " + l.loadName()
	}
	return fmt.Sprintf("Take %s%s: %s.", l.name(s), cost, z.metText(s))
}
