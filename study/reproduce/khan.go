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

// khanDeadlines are relative to the time on the cluster of the history.
var khanDeadlines = []float64{0.8, 1, 1.5}

// khanTables predicts runs from a history of others, and takes clusters for deadlines. It
// makes the tables unseen, the error of each model for each run, in per cent, and sized,
// the clusters with the simulated time on each.
func khanTables(r *reproducing) (tables, error) {
	var unseen, sized []row
	for _, profile := range khanJobs {
		history, err := r.khanRuns(profile, "history", "[5368709120, 10737418240, 16106127360, 21474836480]", "[8, 16, 24, 32, 40]")
		if err != nil {
			return nil, err
		}
		_, dir, err := r.simulated(history)
		if err != nil {
			return nil, err
		}
		models, err := study.ModelsWith(scenarios.ModelFiles{History: []string{dir}, Literal: true})
		if err != nil {
			return nil, err
		}
		others, err := r.khanRuns(profile, "unseen", "[8053063680, 13421772800, 18790481920]", "[12, 24, 36]")
		if err != nil {
			return nil, err
		}
		compared, err := compare.Compare([]string{others}, compare.Options{Options: r.Options, Models: models}, nil)
		if err != nil {
			return nil, err
		}
		for _, run := range compared.Runs {
			simulated := run.Predictions[0].Mean.Seconds()
			for _, a := range compared.Answers.List {
				if a.Scenario == run.Question.Name && a.Err == nil && slices.Contains(khanModels, a.Prediction.Model) {
					off := math.Abs(a.Prediction.Mean.Seconds()/simulated - 1)
					unseen = append(unseen, cells{"job": profile, "model": a.Prediction.Model, "error": 100 * off})
				}
			}
			if run.Question.Jobs[0].Reduces.Count != 24 { // the only number in the history too, so that HP answers
				continue
			}
			for _, part := range khanDeadlines {
				deadline := workload.Seconds(part * simulated)
				found, err := analytic.Provision(*run.Question, models, deadline)
				if err != nil {
					return nil, err
				}
				for _, p := range found {
					if p.Nodes == 0 || !slices.Contains(khanModels, p.Model) {
						continue
					}
					q := run.Question.Resized(p.Nodes)
					answer, err := study.Predict(sim.Simulator{}, &q)
					if err != nil {
						return nil, err
					}
					sized = append(sized, cells{"job": profile, "model": p.Model, "deadline": deadline.Seconds(), "simulated": answer.Mean.Seconds()})
				}
			}
		}
	}
	return tables{"run": {"unseen": unseen, "sized": sized}}, nil
}

func (r *reproducing) khanRuns(profile, name, inputs, reduces string) (string, error) {
	file := filepath.Join(r.work, profile+"-"+name+".toml")
	return file, resultdir.WriteFile(file, 0o666, resultdir.Text(fmt.Sprintf(khanScenario, profile, inputs, reduces)))
}
