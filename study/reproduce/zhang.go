package reproduce

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/model/platform"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/calibrate"
	"github.com/slotwave/slotwave/study/predict"
	"github.com/slotwave/slotwave/study/simulated"
)

// zhangApplication is an application of the paper. Assumed: the gigabytes where only
// maps are known. The text numbers thirteen applications, Table 2 has twelve rows;
// which of the last two is not in the table is not known, so both have its last row.
type zhangApplication struct {
	name, profile string
	small, large  zhangLoad
}

// zhangLoad is the size of a run.
type zhangLoad struct {
	gb            float64
	maps, reduces int
}

var zhangApplications = []zhangApplication{
	{"TeraSort", "terasort", zhangLoad{2.8, 44, 20}, zhangLoad{31, 495, 240}},
	{"WordCount", "wordcount", zhangLoad{2.8, 44, 20}, zhangLoad{50, 788, 240}},
	{"Grep", "grep", zhangLoad{2.8, 44, 1}, zhangLoad{50, 788, 1}},
	{"InvertedIndex", "inverted-index", zhangLoad{2.8, 44, 20}, zhangLoad{50, 788, 240}},
	{"RankedInvertedIndex", "ranked-inverted-index", zhangLoad{2.5, 40, 20}, zhangLoad{46, 745, 240}},
	{"TermVector", "term-vector", zhangLoad{2.8, 44, 20}, zhangLoad{50, 788, 240}},
	{"SequenceCount", "sequence-count", zhangLoad{2.8, 44, 20}, zhangLoad{50, 788, 240}},
	{"SelfJoin", "self-join", zhangLoad{2.1, 32, 20}, zhangLoad{28, 448, 240}},
	{"AdjacencyList", "adjacency-list", zhangLoad{2.4, 44, 20}, zhangLoad{28, 508, 240}},
	{"HistogramMovies", "histogram-movies", zhangLoad{3.5, 56, 1}, zhangLoad{27, 428, 1}},
	{"HistogramRatings", "histogram-ratings", zhangLoad{3.5, 56, 1}, zhangLoad{27, 428, 1}},
	{"Classification", "classification", zhangLoad{3.5, 56, 16}, zhangLoad{27, 428, 50}},
	{"KMeans", "kmeans", zhangLoad{3.5, 56, 16}, zhangLoad{27, 428, 50}},
}

// zhangSmall is the run that the costs of records come from: less than two waves of
// maps on five workers, and one of reduces.
func (a *zhangApplication) zhangSmall() zhangLoad {
	return zhangLoad{a.small.gb / 2, a.small.maps / 2, min(a.small.reduces, 10)}
}

const zhangPlatform = "dl145-g3"

func (r *reproducing) zhangPlatform() string {
	if r.Platform != "" {
		return r.Platform
	}
	return zhangPlatform
}

func (r *reproducing) testbed() (*calibrate.Testbed, error) {
	return calibrate.OpenTestbed(r.zhangPlatform(), model.Device.String(), r.Seed, r.Set...)
}

// lines runs the microbenchmarks with rows of the given bytes, and fits the platform
// model as fit does. It returns the file of the fitted platform.
func (r *reproducing) lines(row float64) (*calibrate.Fitting, string, error) {
	bed, err := r.testbed()
	if err != nil {
		return nil, "", err
	}
	profile, err := bed.Profile(row)
	if err != nil {
		return nil, "", err
	}
	table, lines := filepath.Join(r.work, "profile.csv"), filepath.Join(r.work, fmt.Sprintf("platform-%.4g.json", row))
	if err := resultdir.WriteFile(table, 0o666, profile.Write); err != nil {
		return nil, "", err
	}
	fitted, err := calibrate.FitPlatform(table, calibrate.FitOptions{})
	if err != nil {
		return nil, "", err
	}
	return fitted, lines, resultdir.WriteFile(lines, 0o666, fitted.WritePlatform)
}

// zhangBenchmarks makes the tables rows, the tasks of the microbenchmarks, and phases,
// the lines fitted to them.
func zhangBenchmarks(r *reproducing) (tables, error) {
	fitted, _, err := r.lines(platform.BenchmarkRow)
	if err != nil {
		return nil, err
	}
	var tasks, phases []row
	for i := range fitted.Phases {
		p := &fitted.Phases[i]
		for _, x := range p.Rows {
			tasks = append(tasks, cells{"phase": p.Phase, "mb": x.MB, "ms": x.MS, "line": p.Model.At(x.MB)})
		}
		line := cells{"phase": p.Phase, "pieces": 1.0, "breaks": math.NaN(), "steeper": math.NaN()}
		if !math.IsInf(p.Model.Tau, 1) {
			line["pieces"], line["breaks"], line["steeper"] = 2.0, p.Model.Tau, p.Model.Beyond.B/p.Model.B
		}
		for k, name := range []string{"within_10", "within_15", "within_20"} {
			line[name] = 100 * p.Errors.Fractions[k]
		}
		phases = append(phases, line)
	}
	return tables{"run": {"rows": tasks, "phases": phases}}, nil
}

func zhangTable1(r *reproducing) ([]ReproducedPart, error) {
	bed, err := r.testbed()
	if err != nil {
		return nil, err
	}
	fitted, _, err := r.lines(platform.BenchmarkRow)
	if err != nil {
		return nil, err
	}
	r.warnings = withNew(r.warnings, fitted.Doubts())
	part := ReproducedPart{
		Assumed: bed.Cluster.Machines[0].Assumed,
		Name:    "table-1-lines", Title: "Table 1 and figure 2: lines of the phases",
		Text:   fmt.Sprintf("Microbenchmarks on five workers of `%s` (`slotwave platform bench`), lines fitted to them (`slotwave platform fit`).", r.zhangPlatform()),
		Header: []string{"phase", "ms", "rows within 10 / 15 / 20 %"},
	}
	for i := range fitted.Phases {
		p := &fitted.Phases[i]
		e := p.Errors.Fractions
		part.Rows = append(part.Rows, []string{p.Phase, lineOf(p.Model), fmt.Sprintf("%.0f / %.0f / %.0f", 100*e[0], 100*e[1], 100*e[2])})
		part.Charts = append(part.Charts, phaseChart(p))
	}
	return []ReproducedPart{part}, nil
}

func lineOf(m platform.PhaseModel) string {
	text := fmt.Sprintf("%.0f + %.3g/MB", m.A, m.B)
	if !math.IsInf(m.Tau, 1) {
		text += fmt.Sprintf(", from %.4g MB on %.0f + %.3g/MB", m.Tau, m.Beyond.A, m.Beyond.B)
	}
	return text
}

// phaseChart draws the rows of a phase and its line.
func phaseChart(p *calibrate.FittedPhase) Chart {
	rows := ChartSeries{Name: "tasks of the microbenchmarks"}
	line := ChartSeries{Name: "fitted", Line: true}
	most := 0.0
	for _, row := range p.Rows {
		rows.X, rows.Y = append(rows.X, row.MB), append(rows.Y, row.MS/1000)
		most = max(most, row.MB)
	}
	const steps = 200
	for i := range steps + 1 {
		x := most * float64(i) / steps
		line.X, line.Y = append(line.X, x), append(line.Y, p.Model.At(x)/1000)
	}
	return Chart{Name: "figure-2-" + p.Phase, Title: "Phase " + p.Phase, X: "data (MB)", Y: "time (s)", Series: []ChartSeries{rows, line}}
}

// zhangCluster is one of the two clusters of the paper.
type zhangCluster struct {
	name, title  string
	nodes, racks int
	load         func(*zhangApplication) zhangLoad
}

var (
	zhangTest       = zhangCluster{"figure-4", "Figure 4: the applications on 5 workers", 5, 1, func(a *zhangApplication) zhangLoad { return a.small }}
	zhangProduction = zhangCluster{"figure-5", "Figure 5: the applications on 64 workers", 64, 2, func(a *zhangApplication) zhangLoad { return a.large }}
)

func zhangFive(r *reproducing) ([]ReproducedPart, error) { return r.zhangLoop(zhangTest) }
func zhangMany(r *reproducing) ([]ReproducedPart, error) { return r.zhangLoop(zhangProduction) }
func zhangFiveTables(r *reproducing) (tables, error)     { return r.zhangApplications(zhangTest) }
func zhangManyTables(r *reproducing) (tables, error)     { return r.zhangApplications(zhangProduction) }

// zhangApplications makes the table applications: the error of the paper's method, its
// bounds, and the error of the mean of ARIA's bounds.
func (r *reproducing) zhangApplications(c zhangCluster) (tables, error) {
	var all []row
	for i := range zhangApplications {
		a := &zhangApplications[i]
		x, err := r.zhangAnswers(a, &c, zhangWays[:1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		low, high := x.bounds[0].Seconds(), x.bounds[1].Seconds()
		all = append(all, cells{"name": a.name, "simulated": x.simulated.Seconds(), "error": 100 * (x.predicted[0].Seconds()/x.simulated.Seconds() - 1), "low": low, "high": high, "aria_error": 100 * (x.aria.Avg/x.simulated.Seconds() - 1)})
	}
	return tables{"run": {"applications": all}}, nil
}

// scenario writes the scenario of one run of an application.
func (r *reproducing) scenario(a *zhangApplication, c *zhangCluster, load zhangLoad) (string, error) {
	file := filepath.Join(r.work, fmt.Sprintf("%s-%d-%d.toml", a.profile, c.nodes, load.maps))
	block := int64(load.gb*(1<<30)) / int64(load.maps) / 512 * 512
	return file, resultdir.WriteFile(file, 0o666, resultdir.Text(fmt.Sprintf(`title = "%s"
fidelity = "device"
[cluster]
hadoop = "0.20.2"
nodes = %d
racks = %d
platform = %q
map_slots = 2
reduce_slots = 2
[scheduler]
name = "fifo"
[conf]
"dfs.block.size" = %d
"dfs.replication" = 3
"io.sort.mb" = 100
"mapred.child.java.opts" = "-Xmx700m"
"mapred.reduce.slowstart.completed.maps" = 1.0
"mapred.map.tasks.speculative.execution" = false
"mapred.reduce.tasks.speculative.execution" = false
[[job]]
name = %q
profile = %q
input = %d
reduces = %d
`, a.name, c.nodes, c.racks, r.zhangPlatform(), block, a.name, a.profile, block*int64(load.maps), load.reduces)))
}

// zhangAnswers are the answers about one run: the simulation, and zhang in each of
// zhangWays.
type zhangAnswers struct {
	simulated time.Duration
	predicted [len(zhangWays)]time.Duration
	bounds    [2]time.Duration    // of the paper's method
	aria      analytic.AriaBounds // from the times of the run's own tasks
	assumed   []string            // in the simulation
}

// zhangWays are what zhang answers from. The first is the method of the paper: lines
// from benchmarks of 100 bytes, and the mean of the bounds. The others are ours: the
// time in waves in place of the bounds.
var zhangWays = [...]string{"the paper's method", "in waves", "in waves, benchmarks of own rows", "in waves, with a small run"}

func (r *reproducing) zhangLoop(c zhangCluster) ([]ReproducedPart, error) {
	part := ReproducedPart{
		Name: c.name + "-applications", Title: c.title,
		Text: fmt.Sprintf("The applications of table 2 with their combiners (the text numbers thirteen, the table has twelve rows; Classification and KMeans both have the last one), on %d workers of `%s` in %d racks, two map and two reduce slots each; reduces start after the last map, as in the model. "+
			"The paper's method is the mean of its bounds, with lines from benchmarks of 100 bytes on five workers. The other columns are ours: tasks in waves in place of the bounds; "+
			"benchmarks with rows as wide as the application's map output (`platform bench --row`); a small run. "+
			"The costs of the functions are taken from the programs. The small run is half the input on five workers (`models.small`): "+
			"it shows by how much tasks exceed the lines, because the costs of Hadoop depend on records as well as on bytes.", c.nodes, r.zhangPlatform(), c.racks),
		Header: append([]string{"application", "simulated s"}, zhangWays[:]...),
	}
	var series [len(zhangWays)]ChartSeries
	var within [len(zhangWays)]int
	var worst [len(zhangWays)]float64
	for i := range zhangApplications {
		a := &zhangApplications[i]
		x, err := r.zhangAnswers(a, &c, zhangWays[:])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		part.Assumed = withNew(part.Assumed, x.assumed)
		row := []string{a.name, fmt.Sprintf("%.1f", x.simulated.Seconds())}
		for k, p := range x.predicted {
			off := p.Seconds()/x.simulated.Seconds() - 1
			row = append(row, fmt.Sprintf("%+.1f %%", 100*off))
			series[k].Name = zhangWays[k]
			series[k].X, series[k].Y = append(series[k].X, x.simulated.Seconds()), append(series[k].Y, p.Seconds())
			if math.Abs(off) <= 0.1 {
				within[k]++
			}
			worst[k] = max(worst[k], math.Abs(off))
		}
		part.Rows = append(part.Rows, row)
	}
	sum := []string{fmt.Sprintf("within 10 %% of %d, worst", len(zhangApplications)), ""}
	for k := range zhangWays {
		sum = append(sum, fmt.Sprintf("%d, %.1f %%", within[k], 100*worst[k]))
	}
	part.Rows = append(part.Rows, sum)
	part.Charts = []Chart{{Name: c.name, Title: c.title, X: "simulated (s)", Y: "predicted (s)", Diagonal: true, Series: series[:]}}
	return []ReproducedPart{part}, nil
}

// zhangAnswers asks zhang in some of zhangWays about a run, and simulates it.
func (r *reproducing) zhangAnswers(a *zhangApplication, c *zhangCluster, ways []string) (x zhangAnswers, err error) {
	file, err := r.scenario(a, c, c.load(a))
	if err != nil {
		return x, err
	}
	s, err := study.Open(file, r.Options)
	if err != nil {
		return x, err
	}
	var attempts simulated.Attempts
	run, err := study.Predict(sim.Simulator{Recorder: results.Recorders{&attempts}}, &s.Scenario.Runs[0].Question)
	if err != nil {
		return x, err
	}
	x.simulated, x.assumed = run.Mean, s.Scenario.Assumed
	own, err := analytic.ExtractAria(attempts)
	if err != nil {
		return x, err
	}
	if x.aria, err = own.Bounds(2*c.nodes, 2*c.nodes, true); err != nil {
		return x, err
	}
	answer := func(row float64, small string) (*model.Prediction, error) {
		lines, err := cached(r, fmt.Sprint("lines ", row), func() (string, error) {
			_, file, err := r.lines(row)
			return file, err
		})
		if err != nil {
			return nil, err
		}
		return r.zhangAnswer(file, lines, small)
	}
	p, err := answer(platform.BenchmarkRow, "")
	if err != nil {
		return x, err
	}
	x.bounds = [2]time.Duration{p.Low, p.High}
	x.predicted[0] = (p.Low + p.High) / 2
	if len(ways) == 1 {
		return x, nil
	}
	x.predicted[1] = p.Mean
	small, err := r.scenario(a, &zhangCluster{nodes: 5, racks: 1}, a.zhangSmall())
	if err != nil {
		return x, err
	}
	smaller, err := cached(r, small, func() (simulatedRun, error) {
		s, dir, err := r.simulated(small)
		return simulatedRun{s, dir}, err
	})
	if err != nil {
		return x, err
	}
	d := &smaller.s.Scenario.Runs[0].Question.Programs[0].Data
	wide := float64(platform.BenchmarkRow)
	if d.MapRecsSel > 0 {
		wide = math.Max(1, d.InputPairWidth*d.MapSizeSel/d.MapRecsSel)
	}
	if p, err = answer(wide, ""); err != nil {
		return x, err
	}
	x.predicted[2] = p.Mean
	if p, err = answer(platform.BenchmarkRow, smaller.dir); err != nil {
		return x, err
	}
	x.predicted[3] = p.Mean
	return x, nil
}

// zhangAnswer is the answer of zhang about a scenario.
func (r *reproducing) zhangAnswer(file, lines, small string) (*model.Prediction, error) {
	models, err := study.ModelsWith(scenarios.ModelFiles{PlatformModel: lines, Small: small})
	if err != nil {
		return nil, err
	}
	s, err := study.Open(file, r.Options)
	if err != nil {
		return nil, err
	}
	answers, err := predict.All(s, models)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(answers.List, func(a results.Answer) bool { return a.Prediction.Model == "zhang" })
	return &answers.List[i].Prediction, answers.List[i].Err
}

// simulatedRun is the result of a scenario.
type simulatedRun struct {
	s   *study.Study
	dir string
}

// cached calls make the first time, and returns the same for the key after that.
func cached[T any](r *reproducing, key string, make func() (T, error)) (T, error) {
	if x, ok := r.done[key].(T); ok {
		return x, nil
	}
	x, err := make()
	if err == nil {
		r.done[key] = x
	}
	return x, err
}
