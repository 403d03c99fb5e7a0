package diagnose

import (
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// table is one file of a diagnosis.
type table struct {
	name    string
	columns []string
	rows    func(d *Diagnosis, row func(cells ...string))
}

// tables are the files that Write makes in addition to diagnosis.json.
var tables = []table{
	{"dataflow.csv", []string{"task", "node", "vertex", "start_ns", "end_ns"}, (*Diagnosis).dataflowRows},
	{"stages.csv", []string{"job", "stage", "phase", "tasks", "begin_ns", "end_ns", "mean_ns", "median_ns", "max_ns", "share", "outliers", "critical"}, (*Diagnosis).stageRows},
	{"breakdown.csv", []string{"vertex", "thread", "kind", "name", "samples", "share"}, (*Diagnosis).breakdownRows},
	{"nodes.csv", []string{"vertex", "node", "norm_mean", "busy_norm", "idle_norm"}, (*Diagnosis).nodeRows},
	{"outliers.csv", []string{"job", "stage", "phase", "task", "node", "time_ns", "expected_ns", "peers_median", "threshold", "critical", "delay_ns"}, (*Diagnosis).outlierRows},
	{"correlations.csv", []string{"job", "stage", "kind", "scope", "task", "node", "subject", "value", "peers", "class"}, (*Diagnosis).correlationRows},
	{"ledger.csv", []string{"job", "step", "from_ns", "to_ns", "account", "attempt", "node", "device", "by"}, (*Diagnosis).ledgerRows},
	{"ledger-sums.csv", []string{"job", "account", "ns", "share"}, (*Diagnosis).ledgerSumRows},
	{"without.csv", []string{"job", "part", "ledger_ns", "factor", "gain", "gain_low", "gain_high", "pairs"}, (*Diagnosis).withoutRows},
	{"findings.csv", []string{
		"rank", "job", "rule", "cause", "node", "device", "tasks", "evidence", "value", "peers", "z", "ledger_ns", "change",
		"gain", "gain_low", "gain_high", "pairs", "verdict", "note", "recorded_low", "recorded_high",
	}, (*Diagnosis).findingRows},
}

// named are the columns of names, which are written as in every other table, so that the
// tables join.
var named = map[string]bool{"job": true, "node": true, "task": true, "tasks": true, "attempt": true, "by": true, "subject": true, "name": true, "vertex": true}

// JSONName is the file with the findings and the unknown values.
const JSONName = "diagnosis.json"

// Write writes the files of a diagnosis, each by its name.
func (d *Diagnosis) Write(file func(name string, content func(io.Writer) error) error) error {
	for _, t := range tables {
		err := file(t.name, func(w io.Writer) error {
			return workload.WriteCSV(w, t.columns, func(write func(...string)) {
				t.rows(d, func(cells ...string) {
					for i, column := range t.columns {
						if named[column] {
							cells[i] = workload.Escape(cells[i])
						} else {
							cells[i] = workload.Printable(cells[i])
						}
					}
					write(cells...)
				})
			})
		})
		if err != nil {
			return err
		}
	}
	return file(JSONName, d.WriteJSON)
}

func whole(n int) string { return strconv.Itoa(n) }

func ns(t time.Duration) string { return strconv.FormatInt(int64(t), 10) }

// ms converts milliseconds to whole nanoseconds.
func msText(t float64) string { return strconv.FormatInt(int64(math.Round(t*1e6)), 10) }

// number returns an empty cell for an unknown value.
func number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

func (d *Diagnosis) dataflowRows(row func(...string)) {
	if d.Dataflow == nil {
		return
	}
	first, last := math.Inf(1), math.Inf(-1)
	for _, t := range d.Dataflow.tasks {
		first, last = min(first, t.first), max(last, t.last)
	}
	for _, s := range d.Dataflow.timeline(first, last) {
		row(s.task, s.node, s.what, msText(s.start), msText(s.end))
	}
}

func (d *Diagnosis) stageRows(row func(...string)) {
	for _, j := range d.Jobs {
		for _, s := range j.Stages {
			for _, p := range s.Phases {
				critical := 0
				for _, o := range j.Outliers {
					if o.Critical && o.Stage == s.Stage && o.Phase == p.Phase {
						critical++
					}
				}
				row(s.Job, s.Stage, p.Phase, whole(p.Tasks), ns(s.Begin), ns(s.End), ns(p.Mean), ns(p.Median), ns(p.Max), number(p.Share), whole(p.Outliers), whole(critical))
			}
		}
	}
}

func (d *Diagnosis) breakdownRows(row func(...string)) {
	if d.Dataflow == nil {
		return
	}
	for _, s := range d.Dataflow.shares {
		row(s.vertex, s.class, s.kind, s.name, whole(s.samples), number(s.share))
	}
}

func (d *Diagnosis) nodeRows(row func(...string)) {
	if d.Dataflow == nil {
		return
	}
	for _, vertex := range d.Dataflow.vertexNames() {
		shares, err := stageByNode(d.Dataflow.nodeRows(vertex))
		if err != nil {
			continue // no time in any: nothing to compare
		}
		for _, s := range shares {
			row(vertex, s.Node, number(s.Mean), number(s.Busy), number(s.Idle))
		}
	}
}

func (d *Diagnosis) outlierRows(row func(...string)) {
	for _, j := range d.Jobs {
		for _, o := range j.Outliers {
			row(o.Job, o.Stage, o.Phase, o.Task, o.Node, ns(o.Time), ns(o.Expected), ns(o.Median), ns(o.Limit), strconv.FormatBool(o.Critical), ns(o.Delay))
		}
	}
}

func (d *Diagnosis) correlationRows(row func(...string)) {
	write := func(list []Correlation) {
		for _, c := range list {
			row(c.Job, c.Stage, c.Kind, c.Scope, c.Task, c.Node, c.Subject, number(c.Value), number(c.Peers), c.Class)
		}
	}
	for _, j := range d.Jobs {
		write(j.Correlations)
	}
	write(d.Correlations)
}

func (d *Diagnosis) ledgerRows(row func(...string)) {
	for _, j := range d.Jobs {
		for i, s := range j.Ledger {
			row(s.Job, whole(i+1), ns(s.From), ns(s.To), s.Account.String(), s.Attempt, s.Node, s.Device, s.By)
		}
	}
}

func (d *Diagnosis) ledgerSumRows(row func(...string)) {
	for _, j := range d.Jobs {
		for account, sum := range accountSums(j.Ledger) {
			if sum > 0 {
				row(j.ID, Account(account).String(), ns(sum), number(sum.Seconds()/(j.Finish-j.Submit).Seconds()))
			}
		}
	}
}

func (d *Diagnosis) withoutRows(row func(...string)) {
	for _, w := range d.Without {
		row(w.Job, w.Part, ns(w.Ledger), number(w.Factor), number(w.Gain), number(w.Low), number(w.High), whole(w.Pairs))
	}
}

func (d *Diagnosis) findingRows(row func(...string)) {
	for _, f := range d.Findings {
		change := ""
		if f.Change != nil {
			change = f.Change.Text
		}
		gain, low, high, pairs, realLow, realHigh := "", "", "", "", "", ""
		if r := f.Receipt; r.Pairs > 0 {
			gain, low, high, pairs = number(r.Gain), number(r.Low), number(r.High), whole(r.Pairs)
			if r.RealLow != r.RealHigh {
				realLow, realHigh = number(r.RealLow), number(r.RealHigh)
			}
		}
		row(whole(f.Rank), f.Job, f.Rule, f.Cause, f.Node, f.Device, strings.Join(f.Tasks, " "), f.Evidence, number(f.Value), number(f.Peers), number(f.Z),
			ns(f.Ledger), change, gain, low, high, pairs, string(f.Receipt.Outcome), f.Receipt.Note, realLow, realHigh)
	}
}

// WriteJSON writes the findings, the sums of the ledger and the unknown values.
func (d *Diagnosis) WriteJSON(w io.Writer) error {
	type jsonFinding map[string]any
	type jsonJob struct {
		Job      string           `json:"job"`
		SubmitNS int64            `json:"submit_ns"`
		FinishNS int64            `json:"finish_ns"`
		GapNS    int64            `json:"shuffle_gap_ns"`
		Outliers int              `json:"outliers"`
		Ledger   map[string]int64 `json:"ledger_ns"`
	}
	out := struct {
		Schema   string        `json:"schema"`
		Jobs     []jsonJob     `json:"jobs"`
		Findings []jsonFinding `json:"findings"`
		Together *float64      `json:"gain_together,omitempty"`
		Unknown  []Unknown     `json:"unknown"`
	}{Schema: "slotwave/diagnosis/1", Jobs: []jsonJob{}, Findings: []jsonFinding{}, Unknown: append([]Unknown{}, d.Unknown...)}
	for _, j := range d.Jobs {
		job := jsonJob{j.ID, int64(j.Submit), int64(j.Finish), int64(j.Gap), len(j.Outliers), map[string]int64{}}
		for account, sum := range accountSums(j.Ledger) {
			if sum > 0 {
				job.Ledger[Account(account).String()] = int64(sum)
			}
		}
		out.Jobs = append(out.Jobs, job)
	}
	columns := tables[len(tables)-1].columns
	d.findingRows(func(cells ...string) {
		f := jsonFinding{}
		for i, cell := range cells {
			switch n, err := strconv.ParseFloat(cell, 64); {
			case cell == "":
			case err == nil && columns[i] != "job" && columns[i] != "node" && columns[i] != "tasks":
				f[columns[i]] = n
			default:
				f[columns[i]] = cell
			}
		}
		out.Findings = append(out.Findings, f)
	})
	if d.Together != nil && !math.IsNaN(d.Together.Gain) {
		out.Together = &d.Together.Gain
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(workload.VisibleJSON(text), '\n'))
	return err
}
