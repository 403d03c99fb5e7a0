package reproduce

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/compare"
)

// khanScenario is TeraSort, Sort or another job on in-house nodes, by input in
// blocks of 64 MB and number of reduces.
const khanScenario = `title = "A history of runs"
fidelity = "device"
[cluster]
hadoop = "0.20.2"
nodes = 20
platform = "dl145-g3"
map_slots = 2
reduce_slots = 2
[scheduler]
name = "fifo"
[conf]
"dfs.block.size" = 67108864
"mapred.child.java.opts" = "-Xmx700m"
[[job]]
name = "history"
profile = %q
input = 1
reduces = 1
[vary]
"job.0.input" = %s
"job.0.reduces" = %s
`

// khanModels are the model as printed, then changed step by step, and the one that it
// improves.
var khanModels = []string{"ihp-literal", "ihp-literal-waves", "ihp", "hp"}

// khanErrors are the relative errors of the models that answer for one run.
type khanErrors struct {
	job       string
	simulated float64 // seconds
	off       map[string]float64
}

// khanOutcome compares the mean accuracy of each model over the runs of each job with
// the published one.
func khanOutcome(runs []khanErrors) string {
	text := "Mean accuracy over the unseen runs, published 94.97 to 95.51 %:"
	for _, model := range khanModels {
		for _, job := range []string{"wordcount", "sort"} {
			sum, n := 0.0, 0
			for _, r := range runs {
				if off, answered := r.off[model]; answered && r.job == job {
					sum, n = sum+math.Abs(off), n+1
				}
			}
			text += fmt.Sprintf(" %s of %s %.1f %% (n = %d),", model, job, 100*(1-sum/float64(n)), n)
		}
	}
	return strings.TrimSuffix(text, ",") + ". The equations as printed (`ihp-literal`) count fractions of waves and fit without a constant; `ihp` has whole waves, a constant, scaled distances and the time of the protocol."
}

// khanEvaluation predicts runs from a history of others.
func khanEvaluation(r *reproducing) ([]ReproducedPart, error) {
	part := ReproducedPart{
		Name: "evaluation", Title: "Evaluation: accuracy on a history of runs",
		Text: "WordCount and Sort, as in the paper, on 20 workers of `dl145-g3` in place of its virtual machines, at fidelity `device`: a history of 5, 10, 15 and 20 GB with 8 to 40 reduces " +
			"(`slotwave run` with [vary]), from which other sizes and numbers of reduces are predicted (`slotwave predict` with `models.history`). " +
			"The settings of the paper's clusters are not known, so only the accuracy is compared.",
		Header: append([]string{"job", "input", "reduces", "simulated s"}, khanModels...),
	}
	var runs []khanErrors
	for _, profile := range []string{"wordcount", "sort"} {
		history, err := r.khanRuns(profile, "history", "[5368709120, 10737418240, 16106127360, 21474836480]", "[8, 16, 24, 32, 40]")
		if err != nil {
			return nil, err
		}
		s, dir, err := r.simulated(history)
		if err != nil {
			return nil, err
		}
		part.Assumed = withNew(part.Assumed, s.Scenario.Assumed)
		models, err := study.ModelsWith(scenarios.ModelFiles{History: []string{dir}, Literal: true})
		if err != nil {
			return nil, err
		}
		unseen, err := r.khanRuns(profile, "unseen", "[8053063680, 13421772800, 18790481920]", "[12, 24, 36]")
		if err != nil {
			return nil, err
		}
		compared, err := compare.Compare([]string{unseen}, compare.Options{Options: r.Options, Models: models}, nil)
		if err != nil {
			return nil, err
		}
		for _, run := range compared.Runs {
			j := &run.Question.Jobs[0]
			row := []string{profile, fmt.Sprintf("%.1f GB", float64(j.Maps.InputBytes)/(1<<30)), fmt.Sprint(j.Reduces.Count), fmt.Sprintf("%.1f", run.Predictions[0].Mean.Seconds())}
			errors := khanErrors{job: profile, simulated: run.Predictions[0].Mean.Seconds(), off: map[string]float64{}}
			for _, model := range khanModels {
				text := "n/a"
				for _, a := range compared.Answers.List {
					if a.Scenario == run.Question.Name && a.Prediction.Model == model && a.Err == nil {
						errors.off[model] = a.Prediction.Mean.Seconds()/errors.simulated - 1
						text = fmt.Sprintf("%+.1f %%", 100*errors.off[model])
					}
				}
				row = append(row, text)
			}
			part.Rows, runs = append(part.Rows, row), append(runs, errors)
		}
	}
	part.Outcome = khanOutcome(runs)
	chart := Chart{Name: "evaluation", Title: "Improved HP on unseen runs", X: "simulated (s)", Y: "predicted (s)", Diagonal: true}
	for _, model := range []string{"ihp-literal", "ihp"} {
		series := ChartSeries{Name: model}
		for _, r := range runs {
			if off, answered := r.off[model]; answered {
				series.X, series.Y = append(series.X, r.simulated), append(series.Y, r.simulated*(1+off))
			}
		}
		chart.Series = append(chart.Series, series)
	}
	part.Charts = []Chart{chart}
	return []ReproducedPart{part}, nil
}

func (r *reproducing) khanRuns(profile, name, inputs, reduces string) (string, error) {
	file := filepath.Join(r.work, profile+"-"+name+".toml")
	return file, resultdir.WriteFile(file, 0o666, resultdir.Text(fmt.Sprintf(khanScenario, profile, inputs, reduces)))
}
