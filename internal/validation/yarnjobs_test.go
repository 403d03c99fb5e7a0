package validation

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/mrapp"
	sim "github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

// yarnTasks are the given times of a recorded job.
type yarnTasks struct {
	*yarnCase
	*yarnJob
}

func (y yarnTasks) Work(kind workload.Kind, task, attempt, node int32) mrapp.Work {
	slow := 1.0
	if len(y.Cluster.Slowness) > 0 {
		slow = y.Cluster.Slowness[node]
	}
	times := func(n int64, by float64) engine.Time {
		return engine.Time(math.Floor(float64(n)*by*slow+0.5)) * ms
	}
	w := mrapp.Work{Fails: engine.Never, Locality: workload.NoLocality}
	fail := y.Maps.Fail
	if kind == workload.Map {
		n := y.Maps.MS[task]
		if attempt > 0 && len(y.Maps.Retry) > 0 {
			n = y.Maps.Retry[task]
		}
		factor := 1.0
		w.Locality = y.locality(task, node)
		switch w.Locality {
		case workload.RackLocal:
			factor = cmp.Or(y.Maps.RackFactor, 1)
		case workload.OffRack:
			factor = cmp.Or(y.Maps.OffFactor, 1)
		}
		w.Map = times(n, factor)
	} else {
		fail = y.Reduces.Fail
		w.Shuffle, w.Sort, w.Reduce = times(y.Reduces.Shuffle[task], 1), times(y.Reduces.Sort[task], 1), times(y.Reduces.Reduce[task], 1)
	}
	if at := fail[strconv.Itoa(int(task))]; int(attempt) < len(at) {
		w.Fails = engine.Time(at[attempt]) * ms
	}
	if at := y.Cluster.FailAfter; int(node) < len(at) && at[node] > 0 {
		w.Fails = min(w.Fails, engine.Time(at[node])*ms)
	}
	return w
}

func (y yarnTasks) locality(task, node int32) workload.Locality {
	if int(task) >= len(y.Maps.Hosts) || len(y.Maps.Hosts[task]) == 0 {
		return workload.NoLocality
	}
	best := workload.OffRack
	for _, h := range y.Maps.Hosts[task] {
		at := nodeOf(h)
		if at == node {
			return workload.NodeLocal
		}
		if y.Cluster.RackOf[at] == y.Cluster.RackOf[node] {
			best = workload.RackLocal
		}
	}
	return best
}

// mapreduce makes the question of a recorded job.
func (c *yarnCase) mapreduce(t *testing.T, j *yarnJob, recorder mrapp.Recorder) *mrapp.Job {
	var conf workload.Conf
	conf.Set("mapreduce.map.speculative", "false")
	conf.Set("mapreduce.reduce.speculative", "false")
	for k, v := range j.Properties {
		conf.Set(k, fmt.Sprint(v))
	}
	settings, err := mrapp.ReadSettings(conf)
	if err != nil {
		t.Fatal(err)
	}
	q := &mrapp.Job{
		Reduces: j.Reduces.Count, MapSize: j.Maps.resource(), ReduceSize: j.Reduces.resource(), AMSize: j.AM.resource(),
		InputBytes: int64(j.Maps.Count) * cmp.Or(j.Maps.Bytes, 128<<20), BlockBytes: 128 << 20,
		Settings: settings, Release: mrapp.Hadoop336, Tasks: yarnTasks{c, j}, Recorder: recorder,
		Costs: mrapp.Costs{
			Setup: c.cost("setup_ms"), Launch: c.cost("launch_ms"), Commit: c.cost("commit_ms"),
			Exit: c.cost("exit_ms"), Abort: c.cost("task_abort_ms"), JobCommit: c.cost("job_commit_ms"),
			AMExit: c.cost("am_exit_ms"),
		},
	}
	q.Hosts = make([][]int32, j.Maps.Count)
	for i, hosts := range j.Maps.Hosts {
		for _, h := range hosts {
			q.Hosts[i] = append(q.Hosts[i], nodeOf(h))
		}
	}
	return q
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
			for i := range c.Jobs {
				config.Work = append(config.Work, c.submitMapReduce(t, &c.Jobs[i], p))
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

// submitMapReduce makes the submission of a recorded job.
func (c *yarnCase) submitMapReduce(t *testing.T, j *yarnJob, p played) sim.Submission {
	s := c.submission(j)
	s.New = func(attempt int) sim.Application {
		recorder := playedJob{played: p, job: j.Name}
		if attempt > 1 {
			recorder.prefix = fmt.Sprint(attempt, ".")
		}
		return mrapp.New(c.mapreduce(t, j, recorder), attempt)
	}
	return s
}
