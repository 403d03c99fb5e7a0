// Package report writes one HTML file that shows runs and their diagnosis. It
// needs no network: styles and script are part of the file, and its policy
// forbids everything else. Names from traces reach the page only as text.
package report

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/figure"
	"github.com/slotwave/slotwave/study/diagnosis"
	"github.com/slotwave/slotwave/study/play"
	"github.com/slotwave/slotwave/workload"
)

// Page is the content of a report: runs side by side, then studies.
type Page struct {
	Title      string
	Difference string // between two runs, a sentence; empty: not two, or no job in common
	Runs       []*Run
	Studies    []Study
	Engine     *play.Engine // which simulates changes; nil: none
}

// Run is one run and its diagnosis. Its attempts are read once, and a page shows the
// first mostOffers of its offers.
type Run struct {
	*diagnosis.Diagnosis
	Name    string
	Verdict string           // a sentence
	Sampled *Flow            // the dataflow from sampling records; nil: none
	Answers []results.Answer // of the models to the question of the run
	Packed  []byte           // the question that the page simulates; nil: none
	Tables  []Table          // that are folded
	Trials  []Trial          // of the changes of findings; nil: the page has no simulator
}

// Trial is the question with the change of a finding that the page simulates, or why
// it does not, and the command that does. A finding without a change has neither.
type Trial struct {
	Question []byte
	Try      string
}

// trial returns the trial of a finding.
func (r *Run) trial(finding int) Trial {
	if r.Trials == nil {
		return Trial{}
	}
	return r.Trials[finding]
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

// Write writes the page. Characters of a name that would reorder or hide text are escaped.
func (p *Page) Write(w io.Writer) error {
	page, err := template.New("page").Funcs(template.FuncMap{
		"seconds": seconds, "percent": percent, "place": place, "sums": sums, "first": firstFindings, "rest": restFindings, "beyond": beyondFindings, "list": newFindingTable, "total": jobTime, "answered": answered, "silent": silent, "counted": workload.Counted,
	}).Parse(pageText)
	if err != nil {
		return err
	}
	style, workers, programs := styles+figure.PageStyles(), "", ""
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
		p, "default-src 'none'; img-src data:; " + workers + "style-src " + play.Hash(style) + "; script-src " + programs + play.Hash(script), template.CSS(style), template.JS(script), nil,
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

// Against writes the difference of a prediction to the time of the run.
func (r *Run) Against(mean time.Duration) string {
	first, last := r.Jobs[0].Submit, time.Duration(0)
	for i := range r.Jobs {
		first, last = min(first, r.Jobs[i].Submit), max(last, r.Jobs[i].Finish)
	}
	return fmt.Sprintf("%+.1f %%", 100*(mean.Seconds()/(last-first).Seconds()-1))
}

// answered lists the models that predict the run.
func answered(list []results.Answer) []results.Answer {
	return slices.DeleteFunc(slices.Clone(list), func(a results.Answer) bool { return a.Err != nil })
}

// silent lists the models that do not, with their reasons.
func silent(list []results.Answer) []results.Answer {
	return slices.DeleteFunc(slices.Clone(list), func(a results.Answer) bool { return a.Err == nil })
}

func place(f diagnose.Finding) string { return strings.TrimSpace(f.Node + " " + f.Device) }

func jobTime(j diagnose.JobDiagnosis) time.Duration { return j.Finish - j.Submit }

// A page shows a few findings, and folds more of them.
const (
	shownFindings  = 5
	foldedFindings = 200
)

// firstFindings returns the highest findings.
func firstFindings(list []diagnose.Finding) []diagnose.Finding {
	return list[:min(shownFindings, len(list))]
}

// restFindings returns those that are folded.
func restFindings(list []diagnose.Finding) []diagnose.Finding {
	return list[min(shownFindings, len(list)):min(shownFindings+foldedFindings, len(list))]
}

// beyondFindings counts those that the page leaves out.
func beyondFindings(list []diagnose.Finding) int {
	return max(0, len(list)-shownFindings-foldedFindings)
}

// findingTable is a table of findings on a page.
type findingTable struct {
	Caption  string
	Jobs     bool // names them
	Findings []diagnose.Finding
	from     int
	run      *Run
}

// Number returns the number of a row among the findings of its run.
func (t findingTable) Number(row int) int { return t.from + row }

// Try returns why the page does not simulate the change of a row.
func (t findingTable) Try(row int) string { return t.run.trial(t.from + row).Try }

func newFindingTable(r *Run, caption string, from int, list []diagnose.Finding) findingTable {
	return findingTable{caption, len(r.Jobs) > 1, list, from, r}
}

// accountSum is the time of a job in one account.
type accountSum struct {
	Account diagnose.Account
	Time    time.Duration
	Share   float64
}

// sums returns the accounts of a job, the longest first.
func sums(j diagnose.JobDiagnosis) []accountSum {
	var list []accountSum
	at := map[diagnose.Account]int{}
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
