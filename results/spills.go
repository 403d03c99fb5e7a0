package results

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/results/text"
)

// JobSpills counts what the successful attempts of a job spilled and merged.
type JobSpills struct {
	ID          string `json:"job"`
	Maps        int    `json:"maps"`
	Reduces     int    `json:"reduces"`
	Spills      int64  `json:"spills"`
	MergePasses int64  `json:"merge_passes"`
	Records     int64  `json:"spilled_records"`
}

// spills lists the jobs that spilled most records.
func (r *Run) spills() []JobSpills {
	var all []JobSpills
	for i := range r.Predictions[0].Jobs {
		if j := &r.Predictions[0].Jobs[i]; j.SpilledRecords > 0 {
			all = append(all, JobSpills{text.Escape(j.ID), j.Maps, j.Reduces, j.Spills, j.MergePasses, j.SpilledRecords})
		}
	}
	slices.SortStableFunc(all, func(a, b JobSpills) int { return cmp.Compare(b.Records, a.Records) })
	return all[:min(len(all), slowestJobs)]
}

func (j *JobSpills) perMap() float64 { return float64(j.Spills) / float64(j.Maps) }

func (s *Summary) spillTable(t *text.Writer) {
	if len(s.Spills) == 0 {
		return
	}
	t.Section("Spills and merges")
	fmt.Fprintf(t, "job\tspill files\tof a map\tmerge passes\trecords spilled\n")
	for _, j := range s.Spills {
		fmt.Fprintf(t, "%s\t%s\t%.1f\t%s\t%s\n", text.Shorten(j.ID, 32), text.Number(j.Spills), j.perMap(), text.Number(j.MergePasses), text.Number(j.Records))
	}
	t.Flush()
}

// spillsFigure draws the jobs that spilled most, each figure in a panel of its own.
func spillsFigure(title string, jobs []JobSpills) *figure.Figure {
	var names []string
	panels := []barPanel{{heading: "spill files of a map"}, {heading: "merge passes"}, {heading: "records spilled"}}
	for i := range jobs {
		j := &jobs[i]
		names = append(names, j.ID)
		panels[0].add(j.perMap(), textMean(j.perMap()))
		panels[1].add(float64(j.MergePasses), text.Number(j.MergePasses))
		panels[2].add(float64(j.Records), text.Number(j.Records))
	}
	return barsFigure(&figure.Figure{Title: title, Subtitle: "successful attempts", Columns: 2}, names, panels)
}
