package points

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
)

// simulated is one simulation with the share of map and of reduce slots in use.
type simulated struct {
	*model.Prediction
	question *model.WhatIf
	busy     [2]float64
}

// metric is a figure of one simulation.
type metric struct {
	name   string
	better int // 1: more is better, -1: less is, 0: neither
	of     func(*simulated) float64
}

// metrics are the figures of every points.csv, in order.
var metrics = []metric{
	{"makespan_ns", -1, func(s *simulated) float64 { return float64(s.Mean) }},
	overJobs("mean_response_ns", "mean_response_ns"),
	overJobs("p95_response_ns", "p95_response_ns"),
	overJobs("p99_response_ns", "p99_response_ns"),
	overJobs("mean_slowdown", "mean_slowdown"),
	{"map_slots_busy", 0, func(s *simulated) float64 { return s.busy[0] }},
	{"reduce_slots_busy", 0, func(s *simulated) float64 { return s.busy[1] }},
	{"node_local", 1, func(s *simulated) float64 { return s.localShare(workload.NodeLocal) }},
	{"rack_local", 0, func(s *simulated) float64 { return s.localShare(workload.RackLocal) }},
	{"off_rack", -1, func(s *simulated) float64 { return s.localShare(workload.OffRack) }},
	{"deadlines", 0, func(s *simulated) float64 {
		return s.count(func(j *model.JobOutcome) bool { return j.Deadline > 0 })
	}},
	overJobs("deadlines_met", "sum_deadline_met"),
	{"jobs_succeeded", 1, func(s *simulated) float64 {
		return s.count(func(j *model.JobOutcome) bool { return j.State == workload.Succeeded })
	}},
	overJobs("attempts_failed", "sum_failed"),
	overJobs("attempts_killed", "sum_killed"),
}

// overJobs names a statistic of a column of jobs.csv.
func overJobs(name, statistic string) metric {
	m, _, _ := readStatistic(statistic)
	m.name = name
	return m
}

// localShare is the share of the maps whose place counts that ran at one locality.
func (s *simulated) localShare(at workload.Locality) float64 {
	var maps [workload.NumLocalities]float64
	for i := range s.Jobs {
		for at, n := range s.Jobs[i].Locality {
			maps[at] += float64(n)
		}
	}
	return maps[at] / (maps[workload.NodeLocal] + maps[workload.RackLocal] + maps[workload.OffRack])
}

// count is the number of jobs for which a condition holds.
func (s *simulated) count(holds func(*model.JobOutcome) bool) (n float64) {
	for i := range s.Jobs {
		if holds(&s.Jobs[i]) {
			n++
		}
	}
	return n
}

// pricedMetrics are measured if a study asks for them.
var pricedMetrics = []metric{
	{"price", -1, clusterPrice},
	{"price_per_job", -1, func(s *simulated) float64 { return clusterPrice(s) / float64(len(s.Jobs)) }},
}

// clusterPrice is that of all nodes until the last job ends; NaN if no node has a price.
func clusterPrice(s *simulated) float64 {
	hourly := 0.0
	for i := range s.question.Cluster.Nodes {
		hourly += s.question.Cluster.Nodes[i].Price
	}
	if hourly == 0 {
		return math.NaN()
	}
	return hourly * s.Mean.Hours()
}

// Metrics are the figures of each simulation of a study: those of every points.csv,
// and others that the study asks for. The zero value has no others.
type Metrics struct {
	Asked  []string // names of those in the summary; empty: all
	others []metric
}

// ReadMetrics reads the names of the metrics that a study asks for. A name is a column
// of points.csv, price, price_per_job, or STATISTIC_COLUMN[CONDITION,...]: mean, sum,
// min, max or a percentile such as p95; a column of jobs.csv, response_ns or slowdown;
// and the jobs that count, by name, user, pool and queue with * for any text, or by a
// range of a column, such as maps=1:10.
func ReadMetrics(names []string) (m Metrics, err error) {
	m.Asked = names
	for i, name := range names {
		switch {
		case slices.Contains(names[:i], name):
			return m, fmt.Errorf("%q: got it twice", name)
		case slices.ContainsFunc(metrics, func(of metric) bool { return of.name == name }):
			continue
		}
		if k := slices.IndexFunc(pricedMetrics, func(of metric) bool { return of.name == name }); k >= 0 {
			m.others = append(m.others, pricedMetrics[k])
			continue
		}
		other, known, err := readStatistic(name)
		if !known {
			column, _, _ := strings.Cut(name, "[")
			err = fmt.Errorf("%q: want a metric of points.csv such as makespan_ns, price, or a statistic and a column of jobs.csv such as p95_response_ns[pool=etl]%s", name, input.DidYouMean(column, new(Metrics).Names()))
		}
		if err != nil {
			return m, err
		}
		m.others = append(m.others, other)
	}
	return m, nil
}

// list returns all metrics in the order of their values.
func (m *Metrics) list() []metric { return append(slices.Clip(metrics), m.others...) }

// Names are the names of the figures that Measure returns, in order.
func (m *Metrics) Names() (names []string) {
	for _, one := range m.list() {
		names = append(names, one.name)
	}
	return names
}

// First is the metric that the study asks for first.
func (m *Metrics) First() string {
	if len(m.Asked) > 0 {
		return m.Asked[0]
	}
	return metrics[0].name
}

// shown are the indices of the metrics that a terminal shows.
func (m *Metrics) shown() (list []int) {
	names := m.Names()
	for _, name := range m.Asked {
		list = append(list, slices.Index(names, name))
	}
	if len(list) == 0 {
		return []int{0, 1}
	}
	return list
}

// summed reports whether a metric is in the summary.
func (m *Metrics) summed(name string) bool {
	return len(m.Asked) == 0 || slices.Contains(m.Asked, name)
}

// Measure returns the metrics of one simulation; NaN where there is none. busy is the
// share of map and of reduce slots in use, as Stats has it.
func (m *Metrics) Measure(q *model.WhatIf, p *model.Prediction, busy [2]float64) (values []float64) {
	for _, one := range m.list() {
		values = append(values, one.of(&simulated{p, q, busy}))
	}
	return values
}

// JobFigure is a column of jobs.csv with numbers.
type JobFigure struct {
	Name   string
	better int
	Of     func(*model.JobOutcome) int64 // below 0: none
}

// JobFigures are the columns of jobs.csv with numbers, in order. The last two are of
// jobs with a deadline; deadline_met is 1 or 0.
var JobFigures = []JobFigure{
	{"submit_ns", 0, func(j *model.JobOutcome) int64 { return int64(j.Submit) }},
	{"launch_ns", -1, func(j *model.JobOutcome) int64 { return int64(j.Launch) }},
	{"running_ns", -1, func(j *model.JobOutcome) int64 { return int64(j.Running) }},
	{"first_map_ns", -1, func(j *model.JobOutcome) int64 { return int64(j.FirstMap) }},
	{"last_map_ns", -1, func(j *model.JobOutcome) int64 { return int64(j.LastMap) }},
	{"shuffle_end_ns", -1, func(j *model.JobOutcome) int64 { return int64(j.ShuffleEnd) }},
	{"finish_ns", -1, func(j *model.JobOutcome) int64 { return int64(j.Finish) }},
	{"low_ns", 0, func(j *model.JobOutcome) int64 { return where(j.Finished(), int64(j.Low)) }},
	{"high_ns", 0, func(j *model.JobOutcome) int64 { return where(j.Finished(), int64(j.High)) }},
	{"maps", 0, func(j *model.JobOutcome) int64 { return int64(j.Maps) }},
	{"reduces", 0, func(j *model.JobOutcome) int64 { return int64(j.Reduces) }},
	{"failed", -1, func(j *model.JobOutcome) int64 { return int64(j.Failed) }},
	{"killed", -1, func(j *model.JobOutcome) int64 { return int64(j.Killed) }},
	{"speculative", 0, func(j *model.JobOutcome) int64 { return int64(j.SpeculativeRuns) }},
	{"node_local", 1, func(j *model.JobOutcome) int64 { return int64(j.Locality[workload.NodeLocal]) }},
	{"rack_local", 0, func(j *model.JobOutcome) int64 { return int64(j.Locality[workload.RackLocal]) }},
	{"off_rack", -1, func(j *model.JobOutcome) int64 { return int64(j.Locality[workload.OffRack]) }},
	{"no_locality", 0, func(j *model.JobOutcome) int64 { return int64(j.Locality[workload.NoLocality]) }},
	{"map_waves", 0, func(j *model.JobOutcome) int64 { return int64(j.MapWaves) }},
	{"reduce_waves", 0, func(j *model.JobOutcome) int64 { return int64(j.ReduceWaves) }},
	{"in_bytes", 0, func(j *model.JobOutcome) int64 { return j.InBytes }},
	{"shuffle_bytes", 0, func(j *model.JobOutcome) int64 { return j.ShuffleBytes }},
	{"out_bytes", 0, func(j *model.JobOutcome) int64 { return j.OutBytes }},
	{"map_time_ns", -1, func(j *model.JobOutcome) int64 { return int64(j.MapTime) }},
	{"reduce_time_ns", -1, func(j *model.JobOutcome) int64 { return int64(j.ReduceTime) }},
	{"spills", -1, func(j *model.JobOutcome) int64 { return j.Spills }},
	{"merge_passes", -1, func(j *model.JobOutcome) int64 { return j.MergePasses }},
	{"spilled_records", -1, func(j *model.JobOutcome) int64 { return j.SpilledRecords }},
	{"deadline_ns", 0, func(j *model.JobOutcome) int64 { return where(j.Deadline > 0, int64(j.Deadline)) }},
	{"deadline_met", 1, func(j *model.JobOutcome) int64 {
		if j.InTime() {
			return where(j.Deadline > 0, 1)
		}
		return where(j.Deadline > 0, 0)
	}},
}

func where(some bool, n int64) int64 {
	if !some {
		return -1
	}
	return n
}

// figureOf returns response_ns, slowdown or a column of jobs.csv as a function that
// returns NaN where a job has none; nil if the name is of none.
func figureOf(name string) (better int, of func(*model.JobOutcome) float64) {
	switch name {
	case "response_ns":
		return -1, response
	case "slowdown":
		return -1, slowdown
	}
	k := slices.IndexFunc(JobFigures, func(f JobFigure) bool { return f.Name == name })
	if k < 0 {
		return 0, nil
	}
	return JobFigures[k].better, func(j *model.JobOutcome) float64 {
		if n := JobFigures[k].Of(j); n >= 0 {
			return float64(n)
		}
		return math.NaN()
	}
}

func response(j *model.JobOutcome) float64 {
	if !j.Finished() {
		return math.NaN()
	}
	return float64(j.Finish - j.Submit)
}

// slowdown is the response over the time from the first map.
func slowdown(j *model.JobOutcome) float64 {
	if j.FirstMap < 0 || j.Finish <= j.FirstMap {
		return math.NaN()
	}
	return response(j) / float64(j.Finish-j.FirstMap)
}

// readStatistic reads STATISTIC_COLUMN[CONDITION,...], if it begins as one.
func readStatistic(text string) (m metric, known bool, err error) {
	name, conditions, some := strings.Cut(text, "[")
	statistic, column, _ := strings.Cut(name, "_")
	better, figure := figureOf(column)
	reduce := statisticOf(statistic)
	if figure == nil || reduce == nil {
		return m, false, nil
	}
	var counts []func(*model.JobOutcome) bool
	if some {
		inside, closed := strings.CutSuffix(conditions, "]")
		if !closed {
			return m, true, fmt.Errorf("%q: want ] at its end", text)
		}
		for _, condition := range strings.Split(inside, ",") {
			one, err := readCondition(condition)
			if err != nil {
				return m, true, fmt.Errorf("%q: %w", text, err)
			}
			counts = append(counts, one)
		}
	}
	return metric{text, better, func(s *simulated) float64 {
		var values []float64
		for i := range s.Jobs {
			j := &s.Jobs[i]
			if slices.ContainsFunc(counts, func(of func(*model.JobOutcome) bool) bool { return !of(j) }) {
				continue
			}
			if v := figure(j); !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		if len(values) == 0 {
			return math.NaN()
		}
		return reduce(values)
	}}, true, nil
}

// statisticOf returns a function of values of which there is at least one; nil if the
// name is of none.
func statisticOf(name string) func([]float64) float64 {
	switch name {
	case "mean":
		return func(v []float64) float64 { return stat.Mean(v, nil) }
	case "sum":
		return func(v []float64) float64 {
			sum := 0.0
			for _, x := range v {
				sum += x
			}
			return sum
		}
	case "min":
		return slices.Min[[]float64]
	case "max":
		return slices.Max[[]float64]
	}
	percent, ok := strings.CutPrefix(name, "p")
	rank, err := strconv.ParseFloat(percent, 64)
	if !ok || err != nil || !(rank > 0 && rank <= 100) {
		return nil
	}
	return func(v []float64) float64 {
		slices.Sort(v)
		return stat.Quantile(rank/100, stat.Empirical, v, nil)
	}
}

// namesOfJobs are the names by which a metric chooses jobs.
var namesOfJobs = map[string]func(*model.JobOutcome) string{
	"job":   func(j *model.JobOutcome) string { return j.Name },
	"user":  func(j *model.JobOutcome) string { return j.User },
	"pool":  func(j *model.JobOutcome) string { return j.Pool },
	"queue": func(j *model.JobOutcome) string { return j.Queue },
}

// OfSome returns an error about the first metric that asks for a name that none of the
// jobs has.
func (m *Metrics) OfSome(jobs []workload.Job) error {
	for _, name := range m.Asked {
		_, conditions, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
		for _, condition := range strings.Split(conditions, ",") {
			key, pattern, _ := strings.Cut(condition, "=")
			of := namesOfJobs[key]
			if of == nil {
				continue
			}
			var names []string
			for i := range jobs {
				names = append(names, of(&model.JobOutcome{Name: jobs[i].Name, User: jobs[i].User, Pool: jobs[i].Pool, Queue: jobs[i].Queue}))
			}
			if len(strings.Join(names, "")) == 0 {
				return fmt.Errorf("%q: no job names its %s", name, key)
			}
			slices.Sort(names)
			if names = slices.Compact(names); !slices.ContainsFunc(names, func(n string) bool { return workload.Matches(n, pattern) }) {
				return fmt.Errorf("%q: no job has the %s %s: want one of %s", name, key, pattern, strings.TrimPrefix(strings.Join(names[:min(len(names), 10)], ", "), ", "))
			}
		}
	}
	return nil
}

// readCondition reads KEY=PATTERN or COLUMN=FROM:TO.
func readCondition(text string) (func(*model.JobOutcome) bool, error) {
	key, value, ok := strings.Cut(text, "=")
	if ok && value != "" {
		if of := namesOfJobs[key]; of != nil {
			return func(j *model.JobOutcome) bool { return workload.Matches(of(j), value) }, nil
		}
		if _, figure := figureOf(key); figure != nil {
			from, to, ok := readRange(value)
			if !ok {
				return nil, fmt.Errorf("%s: want FROM:TO, two numbers of which one may be left out", text)
			}
			return func(j *model.JobOutcome) bool { v := figure(j); return v >= from && v <= to }, nil
		}
	}
	return nil, fmt.Errorf("%q: want job, user, pool or queue with a name, or a column of jobs.csv with a range, such as maps=1:10", text)
}

// readRange reads FROM:TO. An end that is left out is infinite; a number alone is both.
func readRange(text string) (from, to float64, ok bool) {
	ends := [2]float64{math.Inf(-1), math.Inf(1)}
	low, high, two := strings.Cut(text, ":")
	if !two {
		high = low
	}
	for i, end := range []string{low, high} {
		if end == "" {
			continue
		}
		v, err := strconv.ParseFloat(end, 64)
		if err != nil {
			return 0, 0, false
		}
		ends[i] = v
	}
	return ends[0], ends[1], text != ":" && ends[0] <= ends[1]
}
