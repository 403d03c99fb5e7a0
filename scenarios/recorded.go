package scenarios

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// recorded is a case.json: a small cluster and jobs with given task times. Their
// outcome under the real JobTracker is recorded next to it. Times are in
// milliseconds from the start of the JobTracker.
type recorded struct {
	Name   string `json:"name"`
	About  string `json:"about"`
	Hadoop string `json:"hadoop"`

	Cluster struct {
		caseMachines
		Trackers    int            `json:"trackers"`
		MapSlots    oneOrEach[int] `json:"map_slots"`
		ReduceSlots oneOrEach[int] `json:"reduce_slots"`
	} `json:"cluster"`

	Scheduler struct {
		Type        string                    `json:"type"`
		Properties  map[string]any            `json:"properties"`
		Pools       map[string]map[string]any `json:"pools"`
		Users       map[string]map[string]any `json:"users"`
		Allocations map[string]any            `json:"allocations"`
		Queues      map[string]map[string]any `json:"queues"`
	} `json:"scheduler"`

	Costs struct {
		Launch      int64 `json:"launch_ms"`
		Setup       int64 `json:"setup_ms"`
		Cleanup     int64 `json:"cleanup_ms"`
		Commit      int64 `json:"commit_ms"`
		TaskCleanup int64 `json:"task_cleanup_ms"`
	} `json:"costs"`

	Limit int64     `json:"limit_ms"`
	Runs  [][]int64 `json:"runs"`

	Jobs []struct {
		Name        string         `json:"name"`
		User        string         `json:"user"`
		Pool        string         `json:"pool"`
		Queue       string         `json:"queue"`
		Priority    string         `json:"priority"`
		Submit      int64          `json:"submit_ms"`
		Speculative speculative    `json:"speculative"`
		Slowstart   *float64       `json:"slowstart"`
		Properties  map[string]any `json:"properties"`
		Maps        caseMaps       `json:"maps"`
		Reduces     caseReduces    `json:"reduces"`
	} `json:"jobs"`
}

// speculative is true, false, "map" or "reduce".
type speculative struct{ maps, reduces bool }

func (s *speculative) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "true", `"both"`:
		*s = speculative{true, true}
	case "false", "null":
	case `"map"`:
		s.maps = true
	case `"reduce"`:
		s.reduces = true
	default:
		return fmt.Errorf("speculative = %s: want true, false, \"map\" or \"reduce\"", b)
	}
	return nil
}

// recorded reads a recorded case. The setting run selects one of its lists of
// heartbeat phases, counted from 1.
func (f *File) recorded() (*Scenario, error) {
	run := 1
	for _, s := range f.set {
		n, ok := s.value["run"].(int64)
		if !ok || len(s.value) != 1 {
			return nil, fmt.Errorf("--set %s: a recorded case takes run=K only", s.text)
		}
		run = int(n)
	}
	if onYARN(f.data) {
		return f.recordedYARN(run)
	}
	var r recorded
	if err := json.Unmarshal(f.data, &r); err != nil {
		return nil, jsonError(f.name, f.data, err)
	}
	if err := r.check(f, run); err != nil {
		return nil, err
	}
	if r.Name == "" {
		r.Name = f.slug
	}
	q, err := r.question(run)
	if err == nil {
		err = servable(q)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return &Scenario{
		Name: slugOf(r.Name), Title: r.About, Source: "decisions of a real JobTracker, " + r.Hadoop, Attempts: "csv",
		Inputs: []Input{{f.name, f.data}},
		Runs:   []Run{{Question: *q}},
	}, nil
}

func (r *recorded) question(run int) (*model.WhatIf, error) {
	bad := func(what string, args ...any) (*model.WhatIf, error) { return nil, fmt.Errorf(what, args...) }
	c := &r.Cluster
	if _, err := model.FindRelease(r.Hadoop); err != nil {
		return nil, err
	}
	q := model.WhatIf{
		Name:     r.Name,
		Fidelity: model.Replay,
		Seed:     1,
		Until:    millis(r.Limit),
		Cluster: model.Cluster{
			Hadoop:    r.Hadoop,
			FromStart: true,
			Grain:     time.Millisecond,
			Costs: model.Costs{
				Launch: millis(r.Costs.Launch), Setup: millis(r.Costs.Setup), Cleanup: millis(r.Costs.Cleanup),
				TaskCleanup: millis(r.Costs.TaskCleanup), Commit: millis(r.Costs.Commit),
			},
			Conf: confOf(r.Scheduler.Properties),
		},
	}
	q.Cluster.Racks = c.racks()
	for i := range c.Trackers {
		n := c.node(i)
		n.MapSlots, n.ReduceSlots = c.MapSlots.of(i), c.ReduceSlots.of(i)
		q.Cluster.Nodes = append(q.Cluster.Nodes, n)
		q.Cluster.Phases = append(q.Cluster.Phases, millis(r.Runs[run-1][i]))
	}
	var err error
	if q.Scheduler, err = r.policy(); err != nil {
		return nil, err
	}
	for i := range r.Jobs {
		job, err := r.job(i)
		if err != nil {
			return bad("jobs[%d]: %w", i, err)
		}
		q.Jobs = append(q.Jobs, job)
	}
	slices.SortStableFunc(q.Jobs, func(a, b workload.Job) int { return int((a.Submit - b.Submit) / time.Millisecond) })
	if what := beyond(&q); what != "" {
		return nil, errors.New(what)
	}
	return &q, nil
}

func confOf(properties map[string]any) workload.Conf {
	var conf workload.Conf
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		conf.Set(key, textOf(properties[key]))
	}
	return conf
}

// textOf returns a JSON value as the text that Hadoop's configuration would
// hold.
func textOf(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// policy converts the scheduler section. Pools and queues keep the element
// names of Hadoop's files.
func (r *recorded) policy() (model.Scheduler, error) {
	s := model.Scheduler{Name: r.Scheduler.Type, Conf: confOf(r.Scheduler.Properties)}
	if s.Name == "fair" {
		s.Name = "fair2"
		if r.Hadoop == "0.20.2" {
			s.Name = "fair1"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Scheduler.Pools)) {
		p, err := allocated(name, confOf(r.Scheduler.Pools[name]))
		if err != nil {
			return s, err
		}
		s.Pools = append(s.Pools, p)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Scheduler.Users)) {
		limit, err := confOf(r.Scheduler.Users[name]).Int("maxRunningJobs", -1)
		if err != nil {
			return s, fmt.Errorf("user %s: %w", name, err)
		}
		if limit >= 0 {
			s.Users = append(s.Users, model.UserLimit{Name: name, MaxRunningJobs: limit})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Scheduler.Allocations)) {
		s.Conf.Set(key, textOf(r.Scheduler.Allocations[key]))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Scheduler.Queues)) {
		s.Queues = append(s.Queues, model.Queue{Name: name, Conf: confOf(r.Scheduler.Queues[name])})
	}
	return s, nil
}

// allocated reads one pool of an allocation file.
func allocated(name string, conf workload.Conf) (model.Pool, error) {
	p := model.Pool{Name: name}
	var errs []error
	integer := func(key string) *int {
		if _, ok := conf.Lookup(key); !ok {
			return nil
		}
		n, err := conf.Int(key, 0)
		errs = append(errs, err)
		return &n
	}
	least := func(n *int) int {
		if n == nil {
			return 0
		}
		return *n
	}
	var err error
	p.Weight, err = conf.Float("weight", 1)
	errs = append(errs, err)
	p.MinMaps, p.MinReduces = least(integer("minMaps")), least(integer("minReduces"))
	p.MaxMaps, p.MaxReduces = integer("maxMaps"), integer("maxReduces")
	p.MaxRunningJobs = integer("maxRunningJobs")
	p.Mode = conf.String("schedulingMode", "")
	if seconds := integer("minSharePreemptionTimeout"); seconds != nil {
		d := time.Duration(*seconds) * time.Second
		p.MinShareTimeout = &d
	}
	for _, err := range errs {
		if err != nil {
			return p, fmt.Errorf("pool %s: %w", name, err)
		}
	}
	return p, nil
}

func (r *recorded) job(i int) (workload.Job, error) {
	in := &r.Jobs[i]
	conf := confOf(r.Scheduler.Properties).Over(confOf(in.Properties))
	conf = conf.Over(workload.Conf{})
	set := func(key, value string) {
		var top workload.Conf
		top.Set(key, value)
		conf = conf.Over(top)
	}
	set("mapred.map.tasks.speculative.execution", strconv.FormatBool(in.Speculative.maps))
	set("mapred.reduce.tasks.speculative.execution", strconv.FormatBool(in.Speculative.reduces))
	if in.Slowstart != nil {
		set("mapred.reduce.slowstart.completed.maps", strconv.FormatFloat(*in.Slowstart, 'g', -1, 64))
	}
	if in.User == "" {
		in.User = "root"
	}
	if in.Pool == "" && r.Scheduler.Type == "fair" {
		in.Pool = "default"
	}
	job := workload.Job{
		ID: in.Name, Name: in.Name, User: in.User, Pool: in.Pool, Queue: in.Queue,
		Submit: millis(in.Submit), Conf: conf,
	}
	if in.Priority != "" {
		p, ok := workload.ParsePriority(in.Priority)
		if !ok {
			return job, fmt.Errorf("priority = %q: want VERY_HIGH, HIGH, NORMAL, LOW or VERY_LOW", in.Priority)
		}
		job.Priority = p
	}
	var err error
	if job.Maps, err = in.Maps.tasks(); err == nil {
		job.Reduces, err = in.Reduces.tasks()
	}
	return job, err
}

// jsonError adds the line to a decoding error.
func jsonError(file string, data []byte, err error) error {
	offset := int64(-1)
	switch e := err.(type) {
	case *json.SyntaxError:
		offset = e.Offset
	case *json.UnmarshalTypeError:
		offset = e.Offset
		err = fmt.Errorf("%s: want %s, not %s", e.Field, jsonKind(e.Type), e.Value)
	}
	if offset < 0 {
		return fmt.Errorf("%s: %w", file, err)
	}
	line := 1
	for _, b := range data[:min(int(offset), len(data))] {
		if b == '\n' {
			line++
		}
	}
	return fmt.Errorf("%s:%d: %w", file, line, err)
}

// jsonKind names what a value of JSON must be to be read into a type.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}
