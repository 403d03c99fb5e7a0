package reproduce

import (
	"fmt"
	"io"
	"strings"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/results/text"
)

// reproductionName is the page of a reproduced paper.
const reproductionName = "README.md"

// missingHeading is above the gaps of a paper.
const missingHeading = "Not tested, or without a text at hand to test against"

// Reproduction is a paper's experiments, simulated, beside its published figures.
type Reproduction struct {
	Paper, Title, Source string
	Missing              []string // see Paper
	Assumed              []string // in all parts that assume something
	Warnings             []string // of what was fitted
	Answers              Answers  // on the claims of the parts
	Parts                []ReproducedPart
}

// ReproducedPart is a table or figure of the paper.
type ReproducedPart struct {
	Name    string // of its picture: table-1, figure-4
	Title   string
	Text    string   // what was run, and how it differs from the paper
	Assumed []string // in this part only
	Unknown []string // inputs that the paper does not state, with their ranges and sources
	Header  []string
	Rows    [][]string
	Causes  []string // of the differences of each row from the paper; empty: unknown or none
	Charts  []Chart
}

// Write writes the page and its pictures.
func (r *Reproduction) Write(d resultdir.Target) error {
	w := resultdir.Writer{Dir: d}
	var names []string
	var figures []*figure.Figure
	for i := range r.Parts {
		for k := range r.Parts[i].Charts {
			c := &r.Parts[i].Charts[k]
			names, figures = append(names, c.Name), append(figures, c.figure())
		}
	}
	var drawn figure.Pictures
	drawn.Draw(names, figures)
	w.Write(reproductionName, r.WriteMarkdown)
	w.Write(claimsName, r.Answers.WriteCSV)
	drawn.Write(&w)
	return w.Err
}

// WriteMarkdown writes the page.
func (r *Reproduction) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	list := func(heading string, items []string) {
		if len(items) > 0 {
			fmt.Fprintf(&b, "\n%s:\n\n- %s\n", heading, strings.Join(items, "\n- "))
		}
	}
	fmt.Fprintf(&b, "# %s\n\n%s\n", r.Title, r.Source)
	list(missingHeading, r.Missing)
	list("Warnings", r.Warnings)
	list("Assumed in all simulated cases", r.Assumed)
	for i := range r.Parts {
		p := &r.Parts[i]
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", p.Title, p.Text)
		list("Not stated by the paper", p.Unknown)
		list("Assumed", p.Assumed)
		if len(p.Rows) > 0 {
			fmt.Fprintf(&b, "\n| %s |\n|%s\n", strings.Join(p.Header, " | "), strings.Repeat("---|", len(p.Header)))
			for _, row := range p.Rows {
				fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
			}
		}
		list("Causes of differences", p.causes())
		for k := range p.Charts {
			fmt.Fprintf(&b, "\n![%s](%s.svg)\n", p.Charts[k].Title, p.Charts[k].Name)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteText writes the tables for people.
func (r *Reproduction) WriteText(w io.Writer, colour bool) error {
	t := text.NewWriter(w, colour)
	t.Heading(r.Title)
	for i := range r.Parts {
		p := &r.Parts[i]
		t.Section(p.Title)
		p.table(t)
		t.Flush()
		t.List("Not stated by the paper", p.Unknown)
		t.List("Assumed", p.Assumed)
	}
	t.List("Assumed in all simulated cases", r.Assumed)
	t.List(missingHeading, r.Missing)
	return t.Done()
}

// causes names the rows that have a cause, and it.
func (p *ReproducedPart) causes() (all []string) {
	for i, cause := range p.Causes {
		if cause != "" {
			all = append(all, fmt.Sprintf("*%s*: %s", p.Rows[i][0], cause))
		}
	}
	return all
}

// widestRow is the length of a row from which on its cells are written one below the
// other.
const widestRow = 80

// table writes the rows of a part.
func (p *ReproducedPart) table(t *text.Writer) {
	widest := 0
	for _, row := range p.Rows {
		widest = max(widest, len(strings.Join(row, "  ")))
	}
	if widest <= widestRow && len(p.Rows) > 0 {
		fmt.Fprintln(t, strings.Join(p.Header, "\t"))
	}
	for i, row := range p.Rows {
		if widest <= widestRow {
			fmt.Fprintln(t, strings.Join(row, "\t"))
			continue
		}
		if i > 0 {
			fmt.Fprintln(t)
		}
		for k, cell := range row {
			if cell != "" {
				fmt.Fprintf(t, "%s\t%s\n", p.Header[k], strings.ReplaceAll(cell, "**", ""))
			}
		}
		if i < len(p.Causes) && p.Causes[i] != "" {
			fmt.Fprintf(t, "cause\t%s\n", p.Causes[i])
		}
	}
}

// WriteJSON writes the parts as one JSON object.
func (r *Reproduction) WriteJSON(w io.Writer) error {
	type part struct {
		Name    string     `json:"name"`
		Title   string     `json:"title"`
		Header  []string   `json:"header"`
		Rows    [][]string `json:"rows"`
		Causes  []string   `json:"causes"`
		Assumed []string   `json:"assumed"`
	}
	doc := struct {
		Schema  string   `json:"schema"`
		Paper   string   `json:"paper"`
		Assumed []string `json:"assumed"`
		Parts   []part   `json:"parts"`
	}{Schema: "slotwave/reproduction/1", Paper: r.Paper, Assumed: text.Listed(r.Assumed)}
	for i := range r.Parts {
		p := &r.Parts[i]
		doc.Parts = append(doc.Parts, part{p.Name, p.Title, text.Listed(p.Header), text.Listed(p.Rows), text.Listed(p.Causes), text.Listed(p.Assumed)})
	}
	doc.Parts = text.Listed(doc.Parts)
	return resultdir.WriteJSON(w, doc)
}
