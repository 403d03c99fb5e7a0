package reproduce

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/study"
)

// paperPart makes one or several parts of a page. Its name is that of a figure or
// table, which selects it, as do other names: of further figures, or of a section.
type paperPart struct {
	name string
	make func(*reproducing) ([]ReproducedPart, error)
	also []string
}

// Reproducing selects the parts of a paper to reproduce, and how.
type Reproducing struct {
	study.Options
	Figure   string // name of one part; empty: all
	Platform string // of the clusters of zhang, in place of the paper's; empty: the paper's
}

// reproducing is a reproduction in progress. Its runs are written below a temporary
// directory.
type reproducing struct {
	Reproducing
	work string
	done map[string]any // results that several parts use, by name
}

// caseOf is a part that a shipped scenario shows.
func caseOf(name, title, scenario string) paperPart {
	return paperPart{name: name, make: func(r *reproducing) ([]ReproducedPart, error) {
		s, dir, err := r.simulated(scenario)
		if err != nil {
			return nil, err
		}
		shown, err := Facts(scenario, dir)
		if err != nil {
			return nil, err
		}
		part := ReproducedPart{
			Name: name, Title: title,
			Text:    fmt.Sprintf("%s. Repeat with `slotwave run %s`.", s.Scenario.Title, scenario),
			Assumed: shown.Assumed,
			Header:  []string{"the paper saw", "wanted", "simulated", "from published numbers", "result"},
		}
		missed := 0
		for _, f := range shown.Facts {
			part.Rows = append(part.Rows, []string{f.Seen, f.Wanted, f.Shown, f.Difference, f.Outcome})
			part.Causes = append(part.Causes, f.Cause)
			if strings.Contains(f.Outcome, "miss") {
				missed++
			}
		}
		part.Outcome = fmt.Sprintf("%d of %d facts are as wanted.", len(shown.Facts)-missed, len(shown.Facts))
		if missed > 0 {
			part.Outcome += fmt.Sprintf(" docs/cases/%s.md has more about the others.", scenario)
		}
		part.Pictures, err = picturesOf(name, scenario, s, dir)
		return []ReproducedPart{part}, err
	}}
}

// mostPictures is the number of runs of a scenario whose pictures a page has.
const mostPictures = 4

// picturesOf returns the slots in use over time of the first runs of a result.
func picturesOf(name, scenario string, s *study.Study, dir string) (all []Picture, err error) {
	const slots = "slots.svg"
	for i := range s.Scenario.Runs[:min(len(s.Scenario.Runs), mostPictures)] {
		run := &s.Scenario.Runs[i]
		at := filepath.Join(dir, slots)
		if len(s.Scenario.Runs) > 1 {
			at = filepath.Join(dir, run.Folder, slots)
		}
		data, err := os.ReadFile(at)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the scenario draws none
		}
		if err != nil {
			return nil, err
		}
		title := run.Name
		if title == "" {
			title = scenario
		}
		all = append(all, Picture{Name: fmt.Sprintf("%s-%d", text.Slug(name), i+1), Title: "Slots in use, " + title, SVG: data})
	}
	return all, nil
}
