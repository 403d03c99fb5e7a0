package validation

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/sim/mrapp"
	sim "github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

// question is the part of a case that an execution reads: nodes, costs and the times of
// tasks.
func (c *yarnCase) question() *model.WhatIf {
	q := &model.WhatIf{Fidelity: model.Replay, Cluster: model.Cluster{
		Grain: time.Millisecond, Costs: model.Costs{Launch: c.cost("launch_ms").Duration()},
	}}
	for i, rack := range c.Cluster.RackOf {
		n := model.Node{Name: c.host(int32(i)), Rack: rack, Slowness: 1}
		if len(c.Cluster.Slowness) > 0 {
			n.Slowness = c.Cluster.Slowness[i]
		}
		if i < len(c.Cluster.FailAfter) {
			n.FailAfter = times(c.Cluster.FailAfter[i])[0]
		}
		q.Cluster.Nodes = append(q.Cluster.Nodes, n)
		for len(q.Cluster.Racks) <= rack {
			q.Cluster.Racks = append(q.Cluster.Racks, fmt.Sprint("/rack", rack))
		}
	}
	for i := range c.Jobs {
		q.Jobs = append(q.Jobs, c.Jobs[i].spec())
	}
	return q
}

// times converts milliseconds.
func times(ms ...int64) []time.Duration {
	out := make([]time.Duration, len(ms))
	for i, n := range ms {
		out[i] = time.Duration(n) * time.Millisecond
	}
	return out
}

func (j *yarnJob) spec() workload.Job {
	m, r := &j.Maps, &j.Reduces
	return workload.Job{
		Maps: workload.MapTasks{
			Count: m.Count, Time: workload.Durations{Each: times(m.MS...)}, RackFactor: m.RackFactor, OffFactor: m.OffFactor,
			Ends: ends(m.Fail), InputBytes: int64(m.Count) * cmp.Or(m.Bytes, 128<<20),
		},
		Reduces: workload.ReduceTasks{
			Count: r.Count, Shuffle: workload.Durations{Each: times(r.Shuffle...)}, Sort: workload.Durations{Each: times(r.Sort...)},
			Time: workload.Durations{Each: times(r.Reduce...)}, Ends: ends(r.Fail),
		},
	}
}

// ends are the failures of a case by task.
func ends(fail map[string][]int64) map[int][]workload.AttemptEnd {
	out := make(map[int][]workload.AttemptEnd)
	for task, list := range fail {
		n, _ := strconv.Atoi(task)
		for _, after := range times(list...) {
			out[n] = append(out[n], workload.AttemptEnd{State: workload.Failed, After: after})
		}
	}
	return out
}

// mapreduce makes the job of a case for its ApplicationMaster.
func (c *yarnCase) mapreduce(t *testing.T, q *model.WhatIf, x *mrapp.Executor, id int, recorder mrapp.Recorder) *mrapp.Job {
	j := &c.Jobs[id]
	var conf workload.Conf
	conf.Set("mapreduce.map.speculative", "false")
	conf.Set("mapreduce.reduce.speculative", "false")
	conf.Set("yarn.app.mapreduce.am.job.recovery.enable", "false")
	for k, v := range j.Properties {
		conf.Set(k, fmt.Sprint(v))
	}
	release, err := mrapp.FindRelease("3.3.6")
	if err != nil {
		t.Fatal(err)
	}
	settings, err := mrapp.ReadSettings(conf)
	if err != nil {
		t.Fatal(err)
	}
	job := &mrapp.Job{
		ID: id, Spec: &q.Jobs[id], Topology: execute.NewTopology(&q.Cluster),
		MapSize: j.Maps.resource(), ReduceSize: j.Reduces.resource(), AMSize: j.AM.resource(), BlockBytes: 128 << 20,
		Settings: settings, Release: release, Executor: x, Recorder: recorder,
		Costs: mrapp.Costs{
			Setup: c.cost("setup_ms"), Commit: c.cost("commit_ms"), Exit: c.cost("exit_ms"), Abort: c.cost("task_abort_ms"),
			JobCommit: c.cost("job_commit_ms"), AMExit: c.cost("am_exit_ms"),
		},
	}
	job.Hosts = make([][]int32, j.Maps.Count)
	for i, hosts := range j.Maps.Hosts {
		for _, h := range hosts {
			job.Hosts[i] = append(job.Hosts[i], nodeOf(h))
		}
	}
	return job
}

// executor makes the execution of a case.
func (c *yarnCase) executor(t *testing.T, e *engine.Engine) (*model.WhatIf, *mrapp.Executor) {
	q := c.question()
	x, err := mrapp.NewExecutor(q, e)
	if err != nil {
		t.Fatal(err)
	}
	return q, x
}

// played is what came of the MapReduce jobs of a run.
type played struct {
	attempts map[string]string
	jobs     map[string]string
}

func newPlayed() played { return played{map[string]string{}, map[string]string{}} }

// playedJob records one attempt of an ApplicationMaster in the words of the record.
type playedJob struct {
	played
	job    string
	prefix string // of its containers
}

func (p playedJob) Attempt(r mrapp.AttemptRecord) {
	container := p.prefix + strconv.Itoa(int(r.Container))
	if r.Container == 0 {
		container = "am"
	}
	locality, state := "", ""
	if r.Kind == workload.Map {
		locality = r.Locality.String()
	}
	if r.State != workload.Running {
		state = r.State.String()
	}
	key := fmt.Sprintf("%s %s %d %d", p.job, r.Kind, r.Task, r.Attempt)
	p.attempts[key] = strings.Join([]string{
		container, host(r.Node), locality, inMs(r.Launched), inMs(r.Begun), inMs(r.MapsKnown), inMs(r.Pending), inMs(r.Done), state,
	}, ",")
}

func (p playedJob) Job(r mrapp.JobRecord) {
	uber := ""
	if r.Uber {
		uber = "1"
	}
	p.jobs[p.job] = strings.Join([]string{inMs(r.Inited), inMs(r.Finished), inMs(r.Unregistered), uber, r.State.String()}, " ")
}

// compare holds attempts and jobs of a run against the record.
func (p played) compare(t testing.TB, c *yarnCase, run int, attempts, jobs *difference) {
	folder := filepath.Join(c.folder, fmt.Sprint("run", run))
	for _, row := range readTable(t, filepath.Join(folder, "attempts.csv.gz")) {
		key := fmt.Sprintf("%s %s %s %s", row["job"], row["kind"], row["index"], row["attempt"])
		want := strings.Join([]string{
			row["container"], row["node"], row["locality"], row["launch_ms"], row["begin_ms"], row["maps_known_ms"], row["commit_pending_ms"], row["done_ms"], row["state"],
		}, ",")
		attempts.row(key+": "+p.attempts[key], key+": "+want)
		delete(p.attempts, key)
	}
	for key, row := range p.attempts {
		attempts.row(key+": "+row, "")
	}
	mapreduce := map[string]bool{}
	for _, j := range c.Jobs {
		mapreduce[j.Name] = true
	}
	for _, row := range readTable(t, filepath.Join(folder, "jobs.csv")) {
		if mapreduce[row["job"]] {
			want := strings.Join([]string{row["inited_ms"], row["finish_ms"], row["unregistered_ms"], row["uber"], row["state"]}, " ")
			jobs.row(row["job"]+": "+p.jobs[row["job"]], row["job"]+": "+want)
		}
	}
}

// MapReduce jobs from end to end: the ResourceManager with its schedulers and the
// ApplicationMasters, all recorded runs.
func TestYarnJobs(t *testing.T) {
	exact, runs := 0, 0
	for _, folder := range yarnFolders(t) {
		c := openYarnCase(t, folder)
		if len(c.Jobs) == 0 {
			continue
		}
		for run := 1; run <= len(c.Runs); run++ {
			p := newPlayed()
			config := c.config(run)
			q, x := c.executor(t, config.Engine)
			for i := range c.Jobs {
				s := c.submission(&c.Jobs[i])
				s.New = func(attempt int) sim.Application {
					recorder := playedJob{played: p, job: c.Jobs[i].Name}
					if attempt > 1 {
						recorder.prefix = fmt.Sprint(attempt, ".")
					}
					return mrapp.New(c.mapreduce(t, q, x, i, recorder), attempt)
				}
				config.Work = append(config.Work, s)
			}
			rm, err := sim.New(config)
			if err != nil {
				t.Logf("%s: %v", c.name, err)
				break
			}
			if err := rm.Run(engine.Time(c.Limit) * ms); err != nil {
				t.Fatal(err)
			}
			var attempts, jobs difference
			p.compare(t, c, run, &attempts, &jobs)
			m := c.compareContainers(t, run, rm.Rows())
			runs++
			if m.exact == m.rows && m.extra == 0 && attempts.same == attempts.all && jobs.same == jobs.all {
				exact++
				continue
			}
			t.Logf("%s run %d: %d of %d containers, %d extra, %d of %d attempts, %d of %d jobs; %s", c.name, run,
				m.exact, m.rows, m.extra, attempts.same, attempts.all, jobs.same, jobs.all, m.first)
		}
	}
	t.Logf("%d of %d runs exact", exact, runs)
}
