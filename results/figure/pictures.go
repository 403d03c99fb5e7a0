package figure

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"

	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/results/resultdir"

	"golang.org/x/sync/errgroup"
)

// Labels are a user's texts by what they replace: title, subtitle, x, y, or a text as
// the picture has it. After the name of a picture and a dot they are for that one alone.
// The zero value and nil have none.
type Labels struct {
	PDF   bool // draw PDF too
	own   map[string]string
	at    map[string]string // their places, as warnings begin
	used  map[string]bool
	drawn []string // texts of pictures that may be replaced
}

// NewLabels returns texts for pictures, which are drawn as PDF too if pdf is true.
func NewLabels(own, at map[string]string, pdf bool) *Labels {
	return &Labels{PDF: pdf, own: own, at: at, used: map[string]bool{}}
}

// Unused returns a warning about each key that replaced nothing in what was drawn.
func (l *Labels) Unused() (warnings []string) {
	if l == nil || l.drawn == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(l.own)) {
		if !l.used[key] {
			warnings = append(warnings, fmt.Sprintf("%sfigure.%q replaces nothing here%s: want title, subtitle, x, y or a text of a picture", l.at[key], key, input.DidYouMean(key, l.drawn)))
		}
	}
	return warnings
}

// Pictures are drawn while the tables are written.
type Pictures struct {
	Labels *Labels
	group  errgroup.Group
	files  []*drawing
}

type drawing struct {
	name    string
	content bytes.Buffer
}

// Draw starts to draw figures as PNG and, if they hold no raster, as SVG, and as PDF if asked.
func (p *Pictures) Draw(names []string, figures []*Figure) {
	work := make(chan func() error, 2*len(figures))
	for i, f := range figures {
		f.relabel(names[i], p.Labels)
		p.files = append(p.files, &drawing{name: names[i] + ".png"})
		png := &p.files[len(p.files)-1].content
		if f.Raster {
			work <- func() error { return f.WritePNG(png) }
			continue
		}
		p.files = append(p.files, &drawing{name: names[i] + ".svg"})
		svg := &p.files[len(p.files)-1].content
		work <- func() error { return errors.Join(f.WritePNG(png), f.WriteSVG(svg)) }
		if p.Labels != nil && p.Labels.PDF {
			p.files = append(p.files, &drawing{name: names[i] + ".pdf"})
			pdf := &p.files[len(p.files)-1].content
			work <- func() error { return f.WritePDF(pdf) }
		}
	}
	close(work)
	for range min(len(figures), runtime.GOMAXPROCS(0)) {
		p.group.Go(func() (err error) {
			defer func() {
				if v := recover(); v != nil {
					err = fmt.Errorf("internal error: %v", v)
				}
			}()
			for draw := range work {
				err = errors.Join(err, draw())
			}
			return err
		})
	}
}

// relabel replaces texts of a figure with those of the user.
func (f *Figure) relabel(name string, l *Labels) {
	if l == nil || len(l.own) == 0 {
		return
	}
	replace := func(text *string, part string) {
		if *text == "" {
			return
		}
		l.drawn = append(l.drawn, part, *text)
		own, found := *text, false
		for _, key := range []string{name + "." + part, name + "." + *text, part, *text} {
			if text, ok := l.own[key]; ok {
				l.used[key] = true
				if !found {
					own, found = text, true
				}
			}
		}
		*text = own
	}
	replace(&f.Title, "title")
	replace(&f.Subtitle, "subtitle")
	for i := range f.Legend {
		replace(&f.Legend[i].Label, f.Legend[i].Label)
	}
	for _, p := range f.Panels {
		y := "y"
		if len(f.Panels) > 1 { // each shows something else, which its own text names
			y = p.Caption
		}
		replace(&p.Heading, p.Heading)
		replace(&p.Caption, y)
		replace(&p.X.Label.Text, "x")
	}
}

// Content waits for the pictures and returns them by file name.
func (p *Pictures) Content() (map[string][]byte, error) {
	if err := p.group.Wait(); err != nil {
		return nil, err
	}
	drawn := make(map[string][]byte, len(p.files))
	for _, f := range p.files {
		drawn[f.name] = f.content.Bytes()
	}
	return drawn, nil
}

// Write waits for the pictures and writes them.
func (p *Pictures) Write(w *resultdir.Writer) {
	w.Err = cmp.Or(w.Err, p.group.Wait())
	for _, f := range p.files {
		w.Write(f.name, func(to io.Writer) error { _, err := f.content.WriteTo(to); return err })
	}
}
