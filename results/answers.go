package results

import (
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"github.com/slotwave/slotwave/model"
)

// PredictionsSchema is the first field of predictions in JSON.
const PredictionsSchema = "slotwave/predictions/1"

// Answer is what one predictor said to one question.
type Answer struct {
	Scenario   string
	Prediction model.Prediction // Model is set in any case
	Err        error            // why the model cannot answer; nil where it did
}

// Answers are predictions side by side. Reference names the model the others
// are measured by: the simulator, or a record of what happened.
type Answers struct {
	Reference string
	List      []Answer
}

// reference finds the prediction that others of a scenario are compared with.
func (a *Answers) reference(scenario string) *model.Prediction {
	for i := range a.List {
		if x := &a.List[i]; x.Scenario == scenario && x.Err == nil && x.Prediction.Model == a.Reference {
			return &x.Prediction
		}
	}
	return nil
}

// compared reports whether a model has answered beside the reference.
func (a *Answers) compared() bool {
	for i := range a.List {
		x := &a.List[i]
		if x.Err == nil && x.Prediction.Model != a.Reference && a.reference(x.Scenario) != nil {
			return true
		}
	}
	return false
}

// PredictionColumns names the columns of predictions.csv, in order.
var PredictionColumns = []string{
	"scenario", "model", "part", "job", "kind", "phase",
	"low_ns", "mean_ns", "high_ns", "reference_ns", "difference", "within", "note",
}

// predictionRow is a row of predictions.csv: one figure of one model next to
// the reference's. What is nil does not apply.
type predictionRow struct {
	Scenario   string `json:"scenario"`
	Model      string `json:"model"`
	Part       string `json:"part"` // makespan, job or phase
	Job        string `json:"job,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Phase      string `json:"phase,omitempty"`
	Low        *int64 `json:"low_ns,omitempty"`
	Mean       *int64 `json:"mean_ns,omitempty"`
	High       *int64 `json:"high_ns,omitempty"`
	Reference  *int64 `json:"reference_ns,omitempty"`
	Difference *share `json:"difference,omitempty"`
	Within     *bool  `json:"within,omitempty"`
	Note       string `json:"note,omitempty"`
}

// against sets the figures of a row.
func (r predictionRow) against(low, mean, high time.Duration, ref *time.Duration) predictionRow {
	r.Low, r.Mean, r.High = (*int64)(&low), (*int64)(&mean), (*int64)(&high)
	if ref != nil {
		within := low <= *ref && *ref <= high
		r.Reference, r.Within = (*int64)(ref), &within
		if *ref > 0 {
			d := share(difference(mean, *ref))
			r.Difference = &d
		}
	}
	return r
}

// difference is (predicted - reference) / reference.
func difference(predicted, reference time.Duration) float64 {
	return float64(predicted-reference) / float64(reference)
}

// rows lists, for each answer, its makespan, the time of each job from
// submission to finish, and the mean time of each phase.
func (a *Answers) rows() []predictionRow {
	var rows []predictionRow
	for i := range a.List {
		x := &a.List[i]
		p := &x.Prediction
		row := predictionRow{Scenario: Escape(x.Scenario), Model: Escape(p.Model), Part: "makespan"}
		if x.Err != nil {
			row.Note = "n/a: " + Escape(x.Err.Error())
			rows = append(rows, row)
			continue
		}
		ref := a.reference(x.Scenario)
		var makespan *time.Duration
		if ref != nil {
			makespan = &ref.Mean
		}
		rows = append(rows, row.against(p.Low, p.Mean, p.High, makespan))
		row.Part = "job"
		for k := range p.Jobs {
			j := &p.Jobs[k]
			row.Job = Escape(j.ID)
			if finished(j) {
				rows = append(rows, row.against(j.Low, j.Finish-j.Submit, j.High, jobTime(ref, k, j.ID)))
			} else {
				unfinished := row
				unfinished.Note = "not finished"
				rows = append(rows, unfinished)
			}
		}
		row.Part, row.Job = "phase", ""
		for _, ph := range p.Phases {
			row.Kind, row.Phase = ph.Kind.String(), ph.Phase.String()
			rows = append(rows, row.against(ph.Time, ph.Time, ph.Time, phaseTime(ref, ph)))
		}
	}
	return rows
}

// jobTime is the reference's time of a job; predictions list their jobs in the
// same order.
func jobTime(ref *model.Prediction, i int, id string) *time.Duration {
	if ref == nil || i >= len(ref.Jobs) || ref.Jobs[i].ID != id || !finished(&ref.Jobs[i]) {
		return nil
	}
	t := ref.Jobs[i].Finish - ref.Jobs[i].Submit
	return &t
}

func phaseTime(ref *model.Prediction, of model.PhaseTime) *time.Duration {
	if ref == nil {
		return nil
	}
	for _, ph := range ref.Phases {
		if ph.Kind == of.Kind && ph.Phase == of.Phase {
			return &ph.Time
		}
	}
	return nil
}

// WriteCSV writes predictions.csv.
func (a *Answers) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write(PredictionColumns)
	for _, r := range a.rows() {
		cells := []string{r.Scenario, r.Model, r.Part, r.Job, r.Kind, r.Phase,
			optional(r.Low), optional(r.Mean), optional(r.High), optional(r.Reference), "", "", r.Note}
		if r.Difference != nil {
			cells[10] = r.Difference.String()
		}
		if r.Within != nil {
			cells[11] = strconv.FormatBool(*r.Within)
		}
		out.Write(cells)
	}
	out.Flush()
	return out.Error()
}

func optional(n *int64) string {
	if n == nil {
		return ""
	}
	return whole(*n)
}

// WriteJSON writes the rows of predictions.csv as one JSON object, with what
// the models say about themselves.
func (a *Answers) WriteJSON(w io.Writer) error {
	doc := struct {
		Schema      string          `json:"schema"`
		Reference   string          `json:"reference"`
		Rows        []predictionRow `json:"rows"`
		Warnings    []string        `json:"warnings"`
		Assumptions []string        `json:"assumptions"`
	}{Schema: PredictionsSchema, Reference: Escape(a.Reference), Rows: listed(a.rows())}
	for i := range a.List {
		p := &a.List[i].Prediction
		doc.Warnings = addNew(doc.Warnings, p.Warnings)
		doc.Assumptions = addNew(doc.Assumptions, p.Assumed)
	}
	doc.Warnings, doc.Assumptions = listed(doc.Warnings), listed(doc.Assumptions)
	return writeJSON(w, doc)
}

// Write writes predictions.csv and, where there is a reference, its picture.
func (a *Answers) Write(d Target, title string) error {
	w := fileWriter{dir: d}
	w.answers(Escape(title), a)
	return w.err
}
