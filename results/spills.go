package results

import (
	"cmp"
	"fmt"
	"slices"

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
	if len(r.Predictions) == 0 { // recorded
		return nil
	}
	for i := range r.Predictions[0].Jobs {
		if j := &r.Predictions[0].Jobs[i]; j.SpilledRecords > 0 {
			all = append(all, JobSpills{text.Escape(j.ID), j.Maps, j.Reduces, j.Spills, j.MergePasses, j.SpilledRecords})
		}
	}
	slices.SortStableFunc(all, func(a, b JobSpills) int { return cmp.Compare(b.Records, a.Records) })
	return all[:min(len(all), slowestJobs)]
}

func (j *JobSpills) perMap() float64 { return float64(j.Spills) / float64(j.Maps) }

func spillTable(t *text.Writer, jobs []JobSpills) {
	if len(jobs) == 0 {
		return
	}
	t.Section("Spills and merges")
	fmt.Fprintf(t, "job\tspill files\tof a map\tmerge passes\trecords spilled\n")
	for _, j := range jobs {
		fmt.Fprintf(t, "%s\t%s\t%.1f\t%s\t%s\n", text.Shorten(j.ID, 32), text.Number(j.Spills), j.perMap(), text.Number(j.MergePasses), text.Number(j.Records))
	}
	t.Flush()
}
