package figure

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/slotwave/slotwave/results/resultdir"

	"golang.org/x/sync/errgroup"
)

// Labels are a user's texts by what they replace: title, subtitle, x, y, or a text as
// the picture has it. After the name of a picture and a dot they are for that one alone.
type Labels map[string]string

// Pictures are drawn while the tables are written.
type Pictures struct {
	Labels Labels
	group  errgroup.Group
	files  []*drawing
}

type drawing struct {
	name    string
	content bytes.Buffer
}

// Draw starts to draw figures as PNG and, if they hold no raster, as SVG.
func (p *Pictures) Draw(names []string, figures []*Figure) {
	work := make(chan func() error, len(figures))
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
func (f *Figure) relabel(name string, l Labels) {
	if len(l) == 0 {
		return
	}
	replace := func(text *string, part string) {
		for _, key := range []string{name + "." + part, name + "." + *text, part, *text} {
			if own, ok := l[key]; ok && key != "" && *text != "" {
				*text = own
				return
			}
		}
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
