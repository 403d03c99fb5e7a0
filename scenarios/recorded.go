package scenarios

import (
	"cmp"
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

// recorded is a case.json: a small cluster and jobs with given times. Their outcome
// under a real JobTracker or ResourceManager is recorded next to it. Times are in
// milliseconds from its start.
type recorded struct {
	Name   string `json:"name"`
	About  string `json:"about"`
	Hadoop string `json:"hadoop"`

	Cluster struct {
		Trackers    int              `json:"trackers"`
		Nodes       int              `json:"nodes"` // on YARN
		MapSlots    oneOrEach        `json:"map_slots"`
		ReduceSlots oneOrEach        `json:"reduce_slots"`
		Memory      oneOrEach        `json:"memory_mb"`
		VCores      oneOrEach        `json:"vcores"`
		Racks       int              `json:"racks"`
		RackOf      []int            `json:"rack_of"`
		Slowness    []float64        `json:"slowness"`
		Dies        map[string]int64 `json:"dies_ms"`
		FailAfter   perTracker       `json:"fail_after_ms"`
	} `json:"cluster"`

	Scheduler struct {
		Type        string                    `json:"type"`
		Properties  map[string]any            `json:"properties"`
		Pools       map[string]map[string]any `json:"pools"`
		Users       map[string]map[string]any `json:"users"`
		Allocations map[string]any            `json:"allocations"`
		Queues      map[string]map[string]any `json:"queues"`
		Capacity    map[string]any            `json:"capacity"` // on YARN
		Fair        map[string]any            `json:"fair"`
	} `json:"scheduler"`

	Costs struct {
		Launch      int64 `json:"launch_ms"`
		Setup       int64 `json:"setup_ms"`
		Cleanup     int64 `json:"cleanup_ms"`
		Commit      int64 `json:"commit_ms"`
		TaskCleanup int64 `json:"task_cleanup_ms"`
		AMLaunch    int64 `json:"am_launch_ms"` // on YARN
		JobCommit   int64 `json:"job_commit_ms"`
		Exit        int64 `json:"exit_ms"`
		AMExit      int64 `json:"am_exit_ms"`
		Kill        int64 `json:"kill_ms"`
		TaskAbort   int64 `json:"task_abort_ms"`
	} `json:"costs"`

	Limit int64     `json:"limit_ms"`
	Runs  [][]int64 `json:"runs"`
	Jobs  []caseJob `json:"jobs"`
	Apps  []caseJob `json:"apps"` // scripted applications
}

// caseJob is a job or a scripted application.
type caseJob struct {
	Name        string         `json:"name"`
	User        string         `json:"user"`
	Pool        string         `json:"pool"`
	Queue       string         `json:"queue"`
	Priority    any            `json:"priority"` // a word, or a number on YARN
	Submit      int64          `json:"submit_ms"`
	Speculative speculative    `json:"speculative"`
	Slowstart   *float64       `json:"slowstart"`
	Properties  map[string]any `json:"properties"`
	AM          caseSize       `json:"am"`
	Heartbeat   int64          `json:"heartbeat_ms"`
	Maps        struct {
		caseSize
		Count      int                 `json:"count"`
		Time       times               `json:"ms"`
		Hosts      [][]string          `json:"hosts"`
		RackFactor float64             `json:"rack_factor"`
		OffFactor  float64             `json:"off_factor"`
		Fail       map[string][]*int64 `json:"fail"`
		Retry      times               `json:"retry_ms"`
		Bytes      int64               `json:"bytes"`
	} `json:"maps"`
	Reduces struct {
		caseSize
		Count   int                 `json:"count"`
		Shuffle times               `json:"shuffle_ms"`
		Sort    times               `json:"sort_ms"`
		Reduce  times               `json:"reduce_ms"`
		Fail    map[string][]*int64 `json:"fail"`
	} `json:"reduces"`
	Tasks []struct {
		caseSize
		Count    int        `json:"count"`
		Priority int        `json:"priority"`
		Time     times      `json:"ms"`
		Hosts    [][]string `json:"hosts"`
	} `json:"tasks"`
}

// caseSize is the size of a container.
type caseSize struct {
	Memory int64 `json:"memory_mb"`
	VCores int64 `json:"vcores"`
}

// oneOrEach is a number for all tasks or machines, or a list with one for each.
type oneOrEach []int64

func (v *oneOrEach) UnmarshalJSON(b []byte) error {
	var one int64
	if json.Unmarshal(b, &one) == nil {
		*v = oneOrEach{one}
		return nil
	}
	var each []int64
	if err := json.Unmarshal(b, &each); err != nil {
		return fmt.Errorf("got %.40s: want a whole number or a list of them", b)
	}
	*v = each
	return nil
}

// of returns the value of a task or machine; 0 if none is given.
func (v oneOrEach) of(i int) int64 {
	switch len(v) {
	case 0:
		return 0
	case 1:
		return v[0]
	}
	return v[i]
}

// times is a number of milliseconds or a list of them by task.
type times = oneOrEach

func durationsOf(t times) workload.Durations {
	if len(t) < 2 {
		return workload.Durations{All: millis(t.of(0))}
	}
	d := workload.Durations{Each: make([]time.Duration, len(t))}
	for i, ms := range t {
		d.Each[i] = millis(ms)
	}
	return d
}

func millis(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// perTracker is a value by tracker: an object with tracker numbers, or a list.
type perTracker map[string]int64

func (p *perTracker) UnmarshalJSON(b []byte) error {
	var list []*int64
	if json.Unmarshal(b, &list) == nil {
		*p = perTracker{}
		for i, v := range list {
			if v != nil {
				(*p)[strconv.Itoa(i)] = *v
			}
		}
		return nil
	}
	var m map[string]int64
	err := json.Unmarshal(b, &m)
	*p = m
	return err
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
	var r recorded
	if err := json.Unmarshal(f.data, &r); err != nil {
		return nil, jsonError(f.name, f.data, err)
	}
	r.Name = cmp.Or(r.Name, f.slug)
	release, err := model.FindRelease(r.Hadoop)
	onYARN, master, ask := err == nil && release.YARN != nil, "JobTracker", r.onSlots
	if onYARN {
		if !release.YARN.Recorded {
			return nil, fmt.Errorf("%s: hadoop: %q: want %s, of which alone cases of YARN are recorded", f.name, r.Hadoop, usualYARN)
		}
		master, ask = "ResourceManager", r.inContainers
	}
	if err := r.check(f, run, onYARN); err != nil {
		return nil, err
	}
	q, err := ask(run)
	if err == nil {
		if what := beyond(q); what != "" {
			err = errors.New(what)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return &Scenario{
		Name: slugOf(r.Name), Title: r.About, Source: "decisions of a real " + master + ", " + r.Hadoop, Attempts: "csv", Case: onYARN,
		Inputs: []Input{{f.name, f.data}},
		Runs:   []Run{{Question: *q}},
	}, nil
}

// question returns what is common to both masters: all but the scheduler and the jobs.
func (r *recorded) question(run, nodes int) *model.WhatIf {
	c := &r.Cluster
	q := &model.WhatIf{
		Name: r.Name, Fidelity: model.Replay, Seed: 1, Until: millis(r.Limit),
		Cluster: model.Cluster{
			Hadoop: r.Hadoop, FromStart: true, Grain: time.Millisecond,
			Costs: model.Costs{
				Launch: millis(r.Costs.Launch), Setup: millis(r.Costs.Setup), Cleanup: millis(r.Costs.Cleanup),
				TaskCleanup: millis(r.Costs.TaskCleanup), Commit: millis(r.Costs.Commit),
			},
		},
	}
	for rack := range max(1, c.Racks) {
		q.Cluster.Racks = append(q.Cluster.Racks, fmt.Sprintf("/rack%d", rack))
	}
	for i := range nodes {
		n := model.Node{
			Name: fmt.Sprintf("c%03d", i), Slowness: 1, MapSlots: int(c.MapSlots.of(i)), ReduceSlots: int(c.ReduceSlots.of(i)),
			Resource: model.Resource{MemoryMiB: c.Memory.of(i), VCores: c.VCores.of(i)},
			Dies:     millis(c.Dies[strconv.Itoa(i)]), FailAfter: millis(c.FailAfter[strconv.Itoa(i)]),
		}
		if i < len(c.RackOf) {
			n.Rack = c.RackOf[i]
		}
		if i < len(c.Slowness) {
			n.Slowness = c.Slowness[i]
		}
		q.Cluster.Nodes = append(q.Cluster.Nodes, n)
		q.Cluster.Phases = append(q.Cluster.Phases, millis(r.Runs[run-1][i]))
	}
	return q
}

// tasks returns the maps and reduces of a job.
func (j *caseJob) tasks() (m workload.MapTasks, r workload.ReduceTasks) {
	m = workload.MapTasks{
		Count: j.Maps.Count, Time: durationsOf(j.Maps.Time), RackFactor: j.Maps.RackFactor, OffFactor: j.Maps.OffFactor,
		Splits: make([]workload.Split, j.Maps.Count), Ends: failures(j.Maps.Fail),
	}
	for i := range min(len(j.Maps.Hosts), m.Count) {
		m.Splits[i].Hosts = j.Maps.Hosts[i]
	}
	return m, workload.ReduceTasks{
		Count: j.Reduces.Count, Shuffle: durationsOf(j.Reduces.Shuffle), Sort: durationsOf(j.Reduces.Sort), Time: durationsOf(j.Reduces.Reduce),
		Ends: failures(j.Reduces.Fail),
	}
}

// failures returns how attempts end: after a number of milliseconds by a failure, or,
// for null, as they should.
func failures(in map[string][]*int64) map[int][]workload.AttemptEnd {
	if len(in) == 0 {
		return nil
	}
	out := make(map[int][]workload.AttemptEnd, len(in))
	for _, key := range slices.Sorted(maps.Keys(in)) {
		task, _ := strconv.Atoi(key)
		for _, ms := range in[key] {
			var end workload.AttemptEnd
			if ms != nil {
				end = workload.AttemptEnd{State: workload.Failed, After: millis(*ms)}
			}
			out[task] = append(out[task], end)
		}
	}
	return out
}

// onSlots returns the question to a JobTracker.
func (r *recorded) onSlots(run int) (*model.WhatIf, error) {
	if _, err := model.FindRelease(r.Hadoop); err != nil {
		return nil, err
	}
	q := r.question(run, r.Cluster.Trackers)
	q.Cluster.Conf = confOf(r.Scheduler.Properties)
	var err error
	if q.Scheduler, err = r.policy(); err != nil {
		return nil, err
	}
	for i := range r.Jobs {
		job, err := r.job(i)
		if err != nil {
			return nil, fmt.Errorf("jobs[%d]: %w", i, err)
		}
		q.Jobs = append(q.Jobs, job)
	}
	slices.SortStableFunc(q.Jobs, func(a, b workload.Job) int { return int((a.Submit - b.Submit) / time.Millisecond) })
	return q, servable(q)
}

func confOf(properties map[string]any) workload.Conf {
	var conf workload.Conf
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		conf.Set(key, textOf(properties[key]))
	}
	return conf
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
	if in.Priority != nil && in.Priority != "" {
		p, ok := workload.ParsePriority(textOf(in.Priority))
		if !ok {
			return job, fmt.Errorf("priority = %q: want VERY_HIGH, HIGH, NORMAL, LOW or VERY_LOW", textOf(in.Priority))
		}
		job.Priority = p
	}
	job.Maps, job.Reduces = in.tasks()
	return job, nil
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
