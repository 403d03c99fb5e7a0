package points

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

func TestReadMetrics(t *testing.T) {
	job := func(name, pool string, maps int, response time.Duration) model.JobOutcome {
		j := model.JobOutcome{Name: name, Pool: pool, Maps: maps, Submit: time.Minute, FirstMap: time.Minute, Finish: time.Minute + response, State: workload.Succeeded}
		if response == 0 {
			j.Finish = -1
		}
		return j
	}
	p := &model.Prediction{Mean: 2 * time.Hour, Jobs: []model.JobOutcome{
		job("report-1", "a", 2, 10*time.Second), job("report/2", "a", 4, 20*time.Second), job("load", "b", 90, 60*time.Second), job("never", "b", 90, 0),
	}}
	for i := range p.Jobs {
		p.Jobs[i].Spills, p.Jobs[i].MergePasses, p.Jobs[i].SpilledRecords = int64(i), 10*int64(i), 100*int64(i)
	}
	q := &model.WhatIf{}
	q.Cluster.Nodes = []model.Node{{Price: 0.5}, {Price: 0.25}}
	for name, want := range map[string]float64{
		"mean_response_ns[pool=a]":            15e9,
		"p50_response_ns":                     20e9,
		"sum_spills":                          6,
		"mean_merge_passes[pool=b]":           25,
		"max_spilled_records[spills=:2]":      200,
		"p99.9_response_ns[maps=:4]":          20e9,
		"max_response_ns[job=report*]":        20e9,
		"min_response_ns[job=*2,pool=a]":      20e9,
		"sum_maps[pool=b]":                    180,
		"sum_maps[maps=4]":                    4,
		"mean_response_ns[job=*t*2]":          20e9,
		"mean_response_ns[job=none]":          math.NaN(),
		"mean_response_ns[job=never]":         math.NaN(),
		"mean_deadline_met":                   math.NaN(),
		"price":                               1.5,
		"price_per_job":                       0.375,
		"mean_slowdown[pool=b,maps=10:]":      1,
		"mean_response_ns[response_ns=15e9:]": 40e9,
		"mean_response_ns[submit_ns=:60e9]":   30e9,
	} {
		m, err := ReadMetrics([]string{name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		values := m.Measure(q, p, [2]float64{})
		v := values[len(values)-1]
		if v != want && !(math.IsNaN(v) && math.IsNaN(want)) {
			t.Errorf("%s: got %v: want %v", name, v, want)
		}
	}
	for name, want := range map[string]string{
		"makespan":                   "did you mean makespan_ns?",
		"p0_response_ns":             "want a metric",
		"mean_state":                 "want a metric",
		"mean_response_ns[pool=a":    "want ] at its end",
		"mean_response_ns[poll=a]":   "want job, user, pool or queue",
		"mean_response_ns[maps=9:1]": "want FROM:TO",
		"mean_response_ns[maps=:]":   "want FROM:TO",
		"mean_response_ns[]":         "want job, user, pool or queue",
		"makespan_ns[pool=a]":        "want a metric",
	} {
		if _, err := ReadMetrics([]string{name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v: want %q", name, err, want)
		}
	}
	if _, err := ReadMetrics([]string{"price", "price"}); err == nil {
		t.Error("a metric twice: got no error")
	}
}
