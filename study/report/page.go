// Package report writes one HTML file that shows runs and their diagnosis. It
// needs no network: styles and script are part of the file, and its policy
// forbids everything else. Names from traces reach the page only as text.
package report

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/study/play"
	"github.com/slotwave/slotwave/workload"
)

// Page is the content of a report: runs side by side, then studies.
type Page struct {
	Title      string
	Difference string // between two runs, a sentence; empty: not two, or no job in common
	Runs       []Run
	Studies    []Study
	Engine     *play.Engine // which simulates changes; nil: none
}

// Run is one run and its diagnosis.
type Run struct {
	Name       string
	Conclusion string // a sentence
	Findings   []Finding
	Jobs       []Job
	Attempts   iter.Seq[*workload.Attempt] // read once; an attempt is used only until the next
	Devices    []results.Usage             // with the slots of the cluster
	Offers     []Offer                     // in order of time; a page shows the first mostOffers
	Unknown    []string                    // facts that the record does not have
	Sampled    *Flow                       // the dataflow from sampling records; nil: none
	Answers    []Answer                    // of the models to the question of the run
	Question   []byte                      // that the page simulates; nil: none
}

// Finding is a cause that was found, and the change that was tested.
type Finding struct {
	Job      string   `json:"job"`
	Rule     string   `json:"rule"`
	Cause    string   `json:"cause"`
	Node     string   `json:"node"`
	Device   string   `json:"device"`
	Tasks    []string `json:"tasks"`
	Evidence string   `json:"evidence"`
	Change   string   `json:"change"`
	Outcome  string   `json:"outcome"`
	Note     string   `json:"note"`
	Gain     float64  `json:"gain"`
	Low      float64  `json:"low"`
	High     float64  `json:"high"`
	Tested   bool     `json:"tested"`
	Question []byte   `json:"question,omitempty"` // with the change, that the page simulates
	Try      string   `json:"-"`                  // why it does not, and the command that does

	edit func(model.WhatIf) (model.WhatIf, error)
}

// Job is one job with its ledger.
type Job struct {
	ID             string
	Submit, Finish time.Duration
	Ledger         []Step
	Lines          []Line
}

// Line is the equation that predicts the time of a phase from a count of an attempt.
type Line struct {
	Kind    workload.Kind
	Phase   workload.Phase
	Base    time.Duration
	PerUnit float64 // seconds
	Work    string  // what is counted; empty: nothing
	Of      func(*workload.Attempt) int64
}

// Answer is what a model predicts for the run.
type Answer struct {
	Model     string
	Mean      time.Duration // makespan
	Low, High time.Duration // of the model's interval; both 0: it has none
	Ratio     float64       // of the mean to the time of the run
	None      string        // why there is no answer; empty: there is one
	Phases    []PhaseTime   // of a task; empty: the model has none, or the run several jobs
}

// PhaseTime is the time of a phase of a task.
type PhaseTime struct {
	Kind  workload.Kind
	Phase workload.Phase
	Time  time.Duration
}

// Step is a part of the time of a job.
type Step struct {
	From, To time.Duration
	Account  string
	Attempt  string
	Node     string
	By       string
}

// Offer is a heartbeat of a node with a free slot, and what the scheduler did.
type Offer struct {
	Time            time.Duration
	Node, Free      string
	Asked, Declined string
}

// mostOffers bounds the decisions that a page shows.
const mostOffers = 20_000

// mostAttempts is the largest number of attempts of a run that a page shows.
const mostAttempts = 1_000_000

//go:embed page.html
var pageText string

//go:embed page.css
var styles string

//go:embed page.js
var script string

// hash returns the source of a policy that allows a text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Write writes the page. Characters of a name that would reorder or hide text are escaped.
func (p *Page) Write(w io.Writer) error {
	page, err := template.New("page").Funcs(template.FuncMap{
		"seconds": seconds, "percent": percent, "place": place, "sums": sums, "first": firstFindings, "rest": restFindings, "beyond": beyondFindings, "list": newFindingTable, "total": jobTime, "answered": answered, "silent": silent, "ratio": ratio,
	}).Parse(pageText)
	if err != nil {
		return err
	}
	style, workers, programs := styles+figure.PhaseStyles(), "", ""
	if p.Engine != nil {
		workers, programs = "worker-src blob:; ", "'wasm-unsafe-eval' "
	}
	data := struct {
		*Page
		Policy string
		Style  template.CSS
		Script template.JS
		Data   []string
	}{
		p, "default-src 'none'; img-src data:; " + workers + "style-src " + hash(style) + "; script-src " + programs + hash(script), template.CSS(style), template.JS(script), nil,
	}
	for i := range p.Runs {
		packed, err := p.Runs[i].pack()
		if err != nil {
			return err
		}
		data.Data = append(data.Data, packed)
	}
	var text bytes.Buffer
	if err := page.Execute(&text, data); err != nil {
		return err
	}
	_, err = w.Write(workload.Visible(text.Bytes()))
	return err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

// ratio writes a ratio as a difference.
func ratio(x float64) string { return fmt.Sprintf("%+.1f %%", 100*(x-1)) }

// answered lists the models that predict the run.
func answered(list []Answer) []Answer {
	return slices.DeleteFunc(slices.Clone(list), func(a Answer) bool { return a.None != "" })
}

// silent lists the models that do not, with their reasons.
func silent(list []Answer) []Answer {
	return slices.DeleteFunc(slices.Clone(list), func(a Answer) bool { return a.None == "" })
}

func place(f Finding) string { return strings.TrimSpace(f.Node + " " + f.Device) }

func jobTime(j Job) time.Duration { return j.Finish - j.Submit }

// A page shows a few findings, and folds more of them.
const (
	shownFindings  = 5
	foldedFindings = 200
)

// firstFindings returns the highest findings.
func firstFindings(list []Finding) []Finding { return list[:min(shownFindings, len(list))] }

// restFindings returns those that are folded.
func restFindings(list []Finding) []Finding {
	return list[min(shownFindings, len(list)):min(shownFindings+foldedFindings, len(list))]
}

// beyondFindings counts those that the page leaves out.
func beyondFindings(list []Finding) int { return max(0, len(list)-shownFindings-foldedFindings) }

// findingTable is a table of findings on a page.
type findingTable struct {
	Caption  string
	Jobs     bool // names them
	Findings []Finding
	from     int
}

// Number returns the number of a row among the findings of its run.
func (t findingTable) Number(row int) int { return t.from + row }

func newFindingTable(r Run, caption string, from int, list []Finding) findingTable {
	return findingTable{caption, len(r.Jobs) > 1, list, from}
}

// accountSum is the time of a job in one account.
type accountSum struct {
	Account string
	Time    time.Duration
	Share   float64
}

// sums returns the accounts of a job, the longest first.
func sums(j Job) []accountSum {
	var list []accountSum
	at := map[string]int{}
	for _, s := range j.Ledger {
		i, known := at[s.Account]
		if !known {
			i = len(list)
			at[s.Account] = i
			list = append(list, accountSum{Account: s.Account})
		}
		list[i].Time += s.To - s.From
	}
	for i := range list {
		list[i].Share = list[i].Time.Seconds() / max(1e-9, jobTime(j).Seconds())
	}
	slices.SortStableFunc(list, func(a, b accountSum) int { return cmp.Compare(b.Time, a.Time) })
	return list
}

// pack returns the data of a run as the script reads them: JSON, a zero byte,
// and columns of numbers; compressed, in base64.
func (r *Run) pack() (string, error) {
	about, columns := r.columns()
	text, err := json.Marshal(about)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	letters := base64.NewEncoder(base64.StdEncoding, &b)
	z := gzip.NewWriter(letters) // the best compression takes eight times as long and saves 1.3 %
	if _, err := z.Write(append(text, 0)); err != nil {
		return "", err
	}
	for _, c := range columns {
		if _, err := z.Write(c); err != nil {
			return "", err
		}
	}
	err = errors.Join(z.Close(), letters.Close())
	return b.String(), err
}
