package reproduce

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/compare"
	"github.com/slotwave/slotwave/workload"
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

// khanJobs are the jobs that are predicted.
var khanJobs = []string{"wordcount", "sort"}

// khanRun is an unseen run, with the relative errors of the models that answer for it.
type khanRun struct {
	job       string
	input     int64 // bytes
	reduces   int
	simulated float64 // seconds
	off       map[string]float64
}

// khanDeadlines are relative to the time on the cluster of the history.
var khanDeadlines = []float64{0.8, 1, 1.5}

// khanUnseen predicts runs from a history of others, and takes clusters for deadlines:
// sized has them, with the simulated time on each. It returns what the simulations assume.
func (r *reproducing) khanUnseen() (runs []khanRun, sized []row, assumed []string, err error) {
	for _, profile := range khanJobs {
		history, err := r.khanRuns(profile, "history", "[5368709120, 10737418240, 16106127360, 21474836480]", "[8, 16, 24, 32, 40]")
		if err != nil {
			return nil, nil, nil, err
		}
		s, dir, err := r.simulated(history)
		if err != nil {
			return nil, nil, nil, err
		}
		assumed = withNew(assumed, s.Scenario.Assumed)
		models, err := study.ModelsWith(scenarios.ModelFiles{History: []string{dir}, Literal: true})
		if err != nil {
			return nil, nil, nil, err
		}
		unseen, err := r.khanRuns(profile, "unseen", "[8053063680, 13421772800, 18790481920]", "[12, 24, 36]")
		if err != nil {
			return nil, nil, nil, err
		}
		compared, err := compare.Compare([]string{unseen}, compare.Options{Options: r.Options, Models: models}, nil)
		if err != nil {
			return nil, nil, nil, err
		}
		for _, run := range compared.Runs {
			j := &run.Question.Jobs[0]
			x := khanRun{profile, j.Maps.InputBytes, j.Reduces.Count, run.Predictions[0].Mean.Seconds(), map[string]float64{}}
			for _, a := range compared.Answers.List {
				if a.Scenario == run.Question.Name && a.Err == nil && slices.Contains(khanModels, a.Prediction.Model) {
					x.off[a.Prediction.Model] = a.Prediction.Mean.Seconds()/x.simulated - 1
				}
			}
			runs = append(runs, x)
			if x.reduces != 24 { // the only number in the history too, so that HP answers
				continue
			}
			for _, part := range khanDeadlines {
				deadline := workload.Seconds(part * x.simulated)
				found, err := analytic.Provision(*run.Question, models, deadline)
				if err != nil {
					return nil, nil, nil, err
				}
				for _, p := range found {
					if p.Nodes == 0 || !slices.Contains(khanModels, p.Model) {
						continue
					}
					q := run.Question.Resized(p.Nodes)
					answer, err := study.Predict(sim.Simulator{}, &q)
					if err != nil {
						return nil, nil, nil, err
					}
					sized = append(sized, cells{"job": profile, "model": p.Model, "deadline": deadline.Seconds(), "simulated": answer.Mean.Seconds()})
				}
			}
		}
	}
	return runs, sized, assumed, nil
}

// khanTables makes the tables unseen, the error of each model for each run, in per
// cent, and sized, the clusters for deadlines.
func khanTables(r *reproducing) (tables, error) {
	runs, sized, _, err := r.khanUnseen()
	if err != nil {
		return nil, err
	}
	var all []row
	for _, x := range runs {
		for _, name := range khanModels {
			if off, answered := x.off[name]; answered {
				all = append(all, cells{"job": x.job, "model": name, "error": 100 * math.Abs(off)})
			}
		}
	}
	return tables{"run": {"unseen": all, "sized": sized}}, nil
}

// khanEvaluation is the page of the predictions.
func khanEvaluation(r *reproducing) ([]ReproducedPart, error) {
	part := ReproducedPart{
		Name: "evaluation-runs", Title: "Evaluation: accuracy on a history of runs",
		Text: "WordCount and Sort on 20 workers of `dl145-g3`, at fidelity `device`: a history of 5, 10, 15 and 20 GB with 8 to 40 reduces, from which other sizes and numbers of reduces are predicted (`models.history`). " +
			"The equations as printed (`ihp-literal`) count fractions of waves and fit without a constant; `ihp-literal-waves` counts whole waves; `ihp` has a constant, scaled distances and the time of the protocol besides.",
		Header: append([]string{"job", "input", "reduces", "simulated s"}, khanModels...),
	}
	runs, _, assumed, err := r.khanUnseen()
	if err != nil {
		return nil, err
	}
	part.Assumed = assumed
	chart := Chart{Name: "evaluation", Title: "Improved HP on unseen runs", X: "simulated (s)", Y: "predicted (s)", Diagonal: true}
	for _, name := range []string{"ihp-literal", "ihp"} {
		series := ChartSeries{Name: name}
		for _, x := range runs {
			if off, answered := x.off[name]; answered {
				series.X, series.Y = append(series.X, x.simulated), append(series.Y, x.simulated*(1+off))
			}
		}
		chart.Series = append(chart.Series, series)
	}
	part.Charts = []Chart{chart}
	for _, x := range runs {
		row := []string{x.job, fmt.Sprintf("%.1f GB", float64(x.input)/(1<<30)), fmt.Sprint(x.reduces), fmt.Sprintf("%.1f", x.simulated)}
		for _, name := range khanModels {
			cell := "n/a"
			if off, answered := x.off[name]; answered {
				cell = fmt.Sprintf("%+.1f %%", 100*off)
			}
			row = append(row, cell)
		}
		part.Rows = append(part.Rows, row)
	}
	for _, job := range khanJobs {
		row := []string{"mean accuracy, " + job, "", "", ""}
		for _, name := range khanModels {
			off, n := 0.0, 0.0
			for _, x := range runs {
				if v, answered := x.off[name]; answered && x.job == job {
					off, n = off+math.Abs(v), n+1
				}
			}
			row = append(row, fmt.Sprintf("%.1f %%", 100*(1-off/n)))
		}
		part.Rows = append(part.Rows, row)
	}
	return []ReproducedPart{part}, nil
}

func (r *reproducing) khanRuns(profile, name, inputs, reduces string) (string, error) {
	file := filepath.Join(r.work, profile+"-"+name+".toml")
	return file, resultdir.WriteFile(file, 0o666, resultdir.Text(fmt.Sprintf(khanScenario, profile, inputs, reduces)))
}
