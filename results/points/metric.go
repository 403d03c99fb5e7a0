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

// metric is a figure of one simulation.
type metric struct {
	name   string
	better int // 1: more is better, -1: less is, 0: neither
	of     func(*model.WhatIf, *model.Prediction) float64
}

// metrics are the figures of every points.csv, in order. Their function is measure.
var metrics = []metric{
	{name: "makespan_ns", better: -1},
	{name: "mean_response_ns", better: -1}, {name: "p95_response_ns", better: -1}, {name: "p99_response_ns", better: -1},
	{name: "mean_slowdown", better: -1},
	{name: "map_slots_busy"}, {name: "reduce_slots_busy"},
	{name: "node_local", better: 1}, {name: "rack_local"}, {name: "off_rack", better: -1},
	{name: "deadlines"}, {name: "deadlines_met", better: 1},
	{name: "jobs_succeeded", better: 1},
	{name: "attempts_failed", better: -1}, {name: "attempts_killed", better: -1},
}

// pricedMetrics are measured if a study asks for them.
var pricedMetrics = []metric{
	{"price", -1, clusterPrice},
	{"price_per_job", -1, func(q *model.WhatIf, p *model.Prediction) float64 { return clusterPrice(q, p) / float64(len(p.Jobs)) }},
}

// clusterPrice is that of all nodes until the last job ends; NaN if no node has a price.
func clusterPrice(q *model.WhatIf, p *model.Prediction) float64 {
	hourly := 0.0
	for i := range q.Cluster.Nodes {
		hourly += q.Cluster.Nodes[i].Price
	}
	if hourly == 0 {
		return math.NaN()
	}
	return hourly * p.Mean.Hours()
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
		other := metric{}
		if k := slices.IndexFunc(pricedMetrics, func(of metric) bool { return of.name == name }); k >= 0 {
			other = pricedMetrics[k]
		} else if other, err = readMetric(name); err != nil {
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
func (m *Metrics) Measure(q *model.WhatIf, p *model.Prediction, busy [2]float64) []float64 {
	values := measure(p, busy)
	for _, other := range m.others {
		values = append(values, other.of(q, p))
	}
	return values
}

// jobFigure is a number of a job.
type jobFigure struct {
	name   string
	better int
	of     func(*model.JobOutcome) float64
}

// jobFigures are response_ns, slowdown, and the columns of jobs.csv that are numbers.
var jobFigures = []jobFigure{
	{"response_ns", -1, response}, {"slowdown", -1, slowdown},
	{"submit_ns", 0, func(j *model.JobOutcome) float64 { return known(j.Submit) }},
	{"launch_ns", -1, func(j *model.JobOutcome) float64 { return known(j.Launch) }},
	{"running_ns", -1, func(j *model.JobOutcome) float64 { return known(j.Running) }},
	{"first_map_ns", -1, func(j *model.JobOutcome) float64 { return known(j.FirstMap) }},
	{"last_map_ns", -1, func(j *model.JobOutcome) float64 { return known(j.LastMap) }},
	{"shuffle_end_ns", -1, func(j *model.JobOutcome) float64 { return known(j.ShuffleEnd) }},
	{"finish_ns", -1, func(j *model.JobOutcome) float64 { return known(j.Finish) }},
	{"low_ns", 0, func(j *model.JobOutcome) float64 { return ended(j, float64(j.Low)) }},
	{"high_ns", 0, func(j *model.JobOutcome) float64 { return ended(j, float64(j.High)) }},
	{"maps", 0, func(j *model.JobOutcome) float64 { return float64(j.Maps) }},
	{"reduces", 0, func(j *model.JobOutcome) float64 { return float64(j.Reduces) }},
	{"failed", -1, func(j *model.JobOutcome) float64 { return float64(j.Failed) }},
	{"killed", -1, func(j *model.JobOutcome) float64 { return float64(j.Killed) }},
	{"speculative", 0, func(j *model.JobOutcome) float64 { return float64(j.SpeculativeRuns) }},
	{"node_local", 1, func(j *model.JobOutcome) float64 { return float64(j.Locality[workload.NodeLocal]) }},
	{"rack_local", 0, func(j *model.JobOutcome) float64 { return float64(j.Locality[workload.RackLocal]) }},
	{"off_rack", -1, func(j *model.JobOutcome) float64 { return float64(j.Locality[workload.OffRack]) }},
	{"no_locality", 0, func(j *model.JobOutcome) float64 { return float64(j.Locality[workload.NoLocality]) }},
	{"map_waves", 0, func(j *model.JobOutcome) float64 { return float64(j.MapWaves) }},
	{"reduce_waves", 0, func(j *model.JobOutcome) float64 { return float64(j.ReduceWaves) }},
	{"in_bytes", 0, func(j *model.JobOutcome) float64 { return float64(j.InBytes) }},
	{"shuffle_bytes", 0, func(j *model.JobOutcome) float64 { return float64(j.ShuffleBytes) }},
	{"out_bytes", 0, func(j *model.JobOutcome) float64 { return float64(j.OutBytes) }},
	{"map_time_ns", -1, func(j *model.JobOutcome) float64 { return float64(j.MapTime) }},
	{"reduce_time_ns", -1, func(j *model.JobOutcome) float64 { return float64(j.ReduceTime) }},
	{"spills", -1, func(j *model.JobOutcome) float64 { return float64(j.Spills) }},
	{"merge_passes", -1, func(j *model.JobOutcome) float64 { return float64(j.MergePasses) }},
	{"spilled_records", -1, func(j *model.JobOutcome) float64 { return float64(j.SpilledRecords) }},
	{"deadline_ns", 0, func(j *model.JobOutcome) float64 { return due(j, float64(j.Deadline)) }},
	{"deadline_met", 1, func(j *model.JobOutcome) float64 {
		if j.InTime() {
			return due(j, 1)
		}
		return due(j, 0)
	}},
}

// known is an instant; NaN if the event never happened.
func known[T ~int64](t T) float64 {
	if t < 0 {
		return math.NaN()
	}
	return float64(t)
}

// ended is a figure of a job that finished.
func ended(j *model.JobOutcome, v float64) float64 {
	if !j.Finished() {
		return math.NaN()
	}
	return v
}

// due is a figure of a job with a deadline.
func due(j *model.JobOutcome, v float64) float64 {
	if j.Deadline == 0 {
		return math.NaN()
	}
	return v
}

func response(j *model.JobOutcome) float64 { return ended(j, float64(j.Finish-j.Submit)) }

// slowdown is the response over the time from the first map.
func slowdown(j *model.JobOutcome) float64 {
	if j.FirstMap < 0 || j.Finish <= j.FirstMap {
		return math.NaN()
	}
	return response(j) / float64(j.Finish-j.FirstMap)
}

// readMetric reads STATISTIC_COLUMN[CONDITION,...].
func readMetric(text string) (m metric, err error) {
	name, conditions, some := strings.Cut(text, "[")
	statistic, column, _ := strings.Cut(name, "_")
	k := slices.IndexFunc(jobFigures, func(f jobFigure) bool { return f.name == column })
	reduce := statisticOf(statistic)
	if k < 0 || reduce == nil {
		names := make([]string, len(metrics))
		for i, of := range metrics {
			names[i] = of.name
		}
		return m, fmt.Errorf("%q: want a metric of points.csv such as makespan_ns, price, or a statistic and a column of jobs.csv such as p95_response_ns[pool=etl]%s", text, input.DidYouMean(name, names))
	}
	var counts []func(*model.JobOutcome) bool
	if some {
		inside, closed := strings.CutSuffix(conditions, "]")
		if !closed {
			return m, fmt.Errorf("%q: want ] at its end", text)
		}
		for _, condition := range strings.Split(inside, ",") {
			one, err := readCondition(condition)
			if err != nil {
				return m, fmt.Errorf("%q: %w", text, err)
			}
			counts = append(counts, one)
		}
	}
	figure := jobFigures[k].of
	return metric{text, jobFigures[k].better, func(_ *model.WhatIf, p *model.Prediction) float64 {
		var values []float64
		for i := range p.Jobs {
			j := &p.Jobs[i]
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
	}}, nil
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

// readCondition reads KEY=PATTERN or COLUMN=FROM:TO.
func readCondition(text string) (func(*model.JobOutcome) bool, error) {
	key, value, ok := strings.Cut(text, "=")
	if ok && value != "" {
		names := map[string]func(*model.JobOutcome) string{
			"job":   func(j *model.JobOutcome) string { return j.Name },
			"user":  func(j *model.JobOutcome) string { return j.User },
			"pool":  func(j *model.JobOutcome) string { return j.Pool },
			"queue": func(j *model.JobOutcome) string { return j.Queue },
		}
		if of := names[key]; of != nil {
			return func(j *model.JobOutcome) bool { return workload.Matches(of(j), value) }, nil
		}
		if k := slices.IndexFunc(jobFigures, func(f jobFigure) bool { return f.name == key }); k >= 0 {
			from, to, ok := readRange(value)
			if !ok {
				return nil, fmt.Errorf("%s: want FROM:TO, two numbers of which one may be left out", text)
			}
			return func(j *model.JobOutcome) bool { v := jobFigures[k].of(j); return v >= from && v <= to }, nil
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

// measure returns the metrics of every points.csv; NaN where there is none. busy is the
// share of map and of reduce slots in use.
func measure(p *model.Prediction, busy [2]float64) []float64 {
	var responses, slowdowns []float64
	var locality [len(model.JobOutcome{}.Locality)]float64
	var failed, killed, deadlines, met, succeeded float64
	for i := range p.Jobs {
		j := &p.Jobs[i]
		failed += float64(j.Failed)
		killed += float64(j.Killed)
		for at, n := range j.Locality {
			locality[at] += float64(n)
		}
		if v := response(j); !math.IsNaN(v) {
			responses = append(responses, v)
		}
		if v := slowdown(j); !math.IsNaN(v) {
			slowdowns = append(slowdowns, v)
		}
		if j.State == workload.Succeeded {
			succeeded++
		}
		if j.Deadline > 0 {
			deadlines++
			if j.InTime() {
				met++
			}
		}
	}
	slices.Sort(responses)
	quantile := func(p float64) float64 {
		if len(responses) == 0 {
			return math.NaN()
		}
		return stat.Quantile(p, stat.Empirical, responses, nil)
	}
	mean := func(values []float64) float64 {
		if len(values) == 0 {
			return math.NaN()
		}
		return stat.Mean(values, nil)
	}
	if deadlines == 0 {
		met = math.NaN()
	}
	placed := locality[workload.NodeLocal] + locality[workload.RackLocal] + locality[workload.OffRack]
	return []float64{
		float64(p.Mean), mean(responses), quantile(0.95), quantile(0.99), mean(slowdowns), busy[0], busy[1],
		locality[workload.NodeLocal] / placed, locality[workload.RackLocal] / placed, locality[workload.OffRack] / placed,
		deadlines, met, succeeded, failed, killed,
	}
}
