package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/text"
	policy "github.com/slotwave/slotwave/scheduler/yarn"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/mrapp"
	"github.com/slotwave/slotwave/sim/run"
	"github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

// yarnRun simulates one question on YARN.
type yarnRun struct {
	*run.Run
	executor *mrapp.Executor
	rm       *yarn.ResourceManager
	listed   bool // attempts go into the list, not to the recorder
	sampled  bool // what limits the jobs is looked at
	over     bool // what still runs is cut off
	done     OnYARN
}

// RunOnYARN simulates a question on YARN and lists its attempts.
func RunOnYARN(q *model.WhatIf) (*OnYARN, error) {
	r, err := newYARNRun(q, nil, true)
	if err != nil {
		return nil, err
	}
	limit := engine.Never - 1
	if q.Until > 0 {
		limit = engine.At(q.Until)
	}
	if err := r.rm.Run(limit); err != nil {
		return nil, err
	}
	r.done.Containers, r.done.Applications = r.rm.Rows(), r.rm.Applications()
	return &r.done, nil
}

func newYARNRun(q *model.WhatIf, to model.Recorder, listed bool) (*yarnRun, error) {
	common, err := run.New(q, to)
	if err != nil {
		return nil, err
	}
	r := &yarnRun{Run: common, listed: listed}
	if r.executor, err = mrapp.NewExecutor(q, r.Engine); err != nil {
		return nil, err
	}
	r.Exec = r.executor.Execution
	r.done.Finished = slices.Repeat([]engine.Time{yarn.None}, len(q.Jobs))
	r.done.Jobs = slices.Repeat([]mrapp.JobRecord{{Inited: yarn.None, Finished: yarn.None, Unregistered: yarn.None}}, len(q.Jobs))
	config, err := r.config()
	if err != nil {
		return nil, err
	}
	r.rm, err = yarn.New(config)
	return r, err
}

// predictOnYARN simulates a question on YARN.
func (s Simulator) predictOnYARN(q *model.WhatIf) (model.Prediction, error) {
	r, err := newYARNRun(q, s.Recorder, false)
	if err != nil {
		return model.Prediction{}, err
	}
	if s.Spans != nil {
		r.Exec.Trace(s.Spans)
	}
	var open []*model.JobOutcome
	for i := range q.Jobs {
		open = append(open, r.Recorder.Open(i))
	}
	limit, until := engine.At(cmp.Or(s.Limit, defaultLimit)), engine.Never
	if q.Until > 0 {
		until = engine.At(q.Until)
	}
	r.sampled = s.OnYARN != nil
	if err := r.run(min(limit, until), lastSubmit(q.Jobs)); err != nil {
		return model.Prediction{}, err
	}
	r.done.Containers, r.done.Applications = r.rm.Rows(), r.rm.Applications()
	r.over = true
	r.executor.Close(min(limit, until))
	for i, o := range open {
		r.outcome(i, o)
	}
	switch {
	case r.rm.Over():
	case until <= limit:
		r.Jobs.Until(q.Jobs, until)
		r.Cut(until)
	default:
		return model.Prediction{}, &LimitReached{limit.Duration(), lastSubmit(q.Jobs)}
	}
	if s.OnYARN != nil {
		if r.done.Queues, err = policy.Queues(q, r.Release.YARN); err != nil {
			return model.Prediction{}, err
		}
		*s.OnYARN = r.done
	}
	return r.Recorder.Prediction(), nil
}

// run simulates until all applications have ended or until a limit. Heartbeats never
// cease, so a run in which nothing else happens for hours has stalled.
func (r *yarnRun) run(limit engine.Time, last time.Duration) error {
	const (
		step  = engine.Time(10 * time.Minute)
		quiet = engine.Time(2 * time.Hour)
	)
	slowest, longest := 1.0, 0.0 // longest is that of given containers
	for i := range r.Question.Cluster.Nodes {
		slowest = max(slowest, r.Question.Cluster.Nodes[i].Slowness)
	}
	for i := range r.Question.Jobs {
		for _, g := range r.Question.Jobs[i].Containers {
			for _, t := range g.Times {
				longest = max(longest, float64(t))
			}
		}
	}
	patience := quiet + engine.Time(slowest*longest)
	limits := sampler{r: r}
	for usage := r.Exec.Usage(); !r.rm.Over() && r.Now() < limit; {
		by := min(limit, r.Now()+step)
		if r.sampled {
			by = min(by, limits.next())
		}
		if usage != nil {
			by = min(by, usage.Next)
		}
		if err := r.rm.Run(by); err != nil {
			return err
		}
		if r.rm.Over() {
			break
		}
		r.Wait(by)
		if r.sampled {
			limits.sample(by)
		}
		for usage != nil && by >= usage.Next {
			usage.Read()
		}
		if since := max(r.rm.Changed(), engine.At(last)); by > since+patience && r.executor.Idle() {
			return stalled(r.Question, since, by, r.unfinished(), "no container that they ask for will ever be given"+r.refusal())
		}
	}
	return nil
}

// sampler divides the time of jobs by what limits them, at instants that become fewer as
// the run goes on.
type sampler struct {
	r    *yarnRun
	last engine.Time
	at   map[string]int // places in the list
}

// next is when to look: not in step with heartbeats.
func (l *sampler) next() engine.Time {
	return l.last + max(engine.At(1130*time.Millisecond), l.last/200)
}

// sample looks, unless it is too early.
func (l *sampler) sample(now engine.Time) {
	if now < l.next() {
		return
	}
	list := &l.r.done.Limits
	if l.at == nil {
		l.at = make(map[string]int)
	}
	waiting := make(map[int]int)
	l.r.rm.Refusals(func(i int, registered bool, asked int, why policy.Refusal) {
		switch {
		case l.r.done.Finished[i] != yarn.None:
			return
		case why.What == "" && !registered:
			why.What = "start-up and end of tasks and jobs"
		case why.What == "":
			why.What = "given times of tasks"
			if l.r.Question.Fidelity > model.Profile {
				why.What = "tasks"
			}
		}
		k, ok := l.at[why.What]
		if !ok {
			k = len(*list)
			l.at[why.What] = k
			*list = append(*list, Limit{Refusal: why})
		}
		(*list)[k].Time += (now - l.last).Duration()
		if waiting[k] += asked; waiting[k] > (*list)[k].Waiting {
			(*list)[k].Waiting, (*list)[k].Refusal = waiting[k], why
		}
	})
	l.last = now
}

// refusal says what keeps the first application from a container that it asks for, if a
// limit does.
func (r *yarnRun) refusal() (why string) {
	r.rm.Refusals(func(i int, _ bool, _ int, of policy.Refusal) {
		if why == "" && of.Unit != "" {
			why = fmt.Sprintf(": job %s waits for %s, with %s", r.Question.Jobs[i].ID, of.What, text.InUse(of.Used, of.Limit, of.Unit))
		}
	})
	return why
}

// unfinished lists the jobs that have not ended.
func (r *yarnRun) unfinished() (names []string) {
	for i, a := range r.rm.Applications() {
		if a.Ended == yarn.None {
			names = append(names, r.Question.Jobs[i].ID)
		}
	}
	return names
}

// outcome enters what has become of a job. One that the ResourceManager rejected or
// whose ApplicationMasters all failed has failed when its application ended.
func (r *yarnRun) outcome(i int, o *model.JobOutcome) {
	j, a, m := &r.Question.Jobs[i], &r.done.Applications[i], &r.done.Jobs[i]
	o.State = workload.Running
	if m.Inited != yarn.None {
		o.Launch = m.Inited.Duration()
		o.Running = o.Launch + r.setup(j)
	}
	switch finished := r.done.Finished[i]; {
	case finished != yarn.None && j.Containers == nil:
		o.State, o.Finish = m.State, finished.Duration()
	case finished != yarn.None:
		o.State, o.Finish = workload.Succeeded, finished.Duration()
	case a.Ended != yarn.None:
		o.State, o.Finish = workload.Failed, a.Ended.Duration()
	}
	if why := r.rm.Rejected(i); why != nil {
		r.Warn("job %s was rejected: %v", j.ID, why)
	}
	o.MapWaves, o.ReduceWaves = r.executor.Waves(i, workload.Map, o.Maps), r.executor.Waves(i, workload.Reduce, o.Reduces)
	o.SpeculativeRuns = m.Speculative
}

// setup is how long the committer sets a job up.
func (r *yarnRun) setup(j *workload.Job) time.Duration {
	return cmp.Or(j.SetupTime, r.Question.Cluster.Costs.Setup)
}

// config makes the cluster and its work.
func (r *yarnRun) config() (yarn.Config, error) {
	q, y := r.Question, r.Question.YARN
	c := yarn.Config{Engine: r.Engine, Scheduler: r.policy, Kill: engine.At(y.Costs.Kill)}
	var err error
	interval := func(key string, unset time.Duration) engine.Time {
		d, e := policy.Properties(y.Properties).Milliseconds(key, unset)
		if err == nil {
			err = e
		}
		return engine.At(d)
	}
	c.Every = q.Cluster.EveryHeartbeat
	c.Heartbeat = interval("yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", time.Second)
	c.Expiry = interval("yarn.nm.liveness-monitor.expiry-interval-ms", 10*time.Minute)
	c.AMExpiry = interval("yarn.am.liveness-monitor.expiry-interval-ms", 10*time.Minute)
	seed := q.Draws(model.DrawHeartbeatPhase)
	for i := range q.Cluster.Nodes {
		n := &q.Cluster.Nodes[i]
		node := yarn.NodeConfig{Name: n.Name, Rack: r.rack(n.Rack), Total: n.Resource, Dies: engine.Never}
		if q.Cluster.Phases != nil {
			node.First = engine.At(q.Cluster.Phases[i])
		} else {
			node.First = engine.Time(seed.Stream(i, 0).Uniform() * float64(c.Heartbeat))
		}
		if n.Dies > 0 {
			node.Dies = engine.At(n.Dies)
		}
		c.Nodes = append(c.Nodes, node)
	}
	for i := range q.Jobs {
		s, e := r.submission(i)
		if err == nil && e != nil {
			err = fmt.Errorf("job %s: %w", q.Jobs[i].ID, e)
		}
		c.Work = append(c.Work, s)
	}
	return c, err
}

// rack returns the name of a rack for the ResourceManager.
func (r *yarnRun) rack(i int) string {
	if r.Question.YARN.Flat || len(r.Question.Cluster.Racks) < 2 {
		return "/default-rack"
	}
	return r.Question.Cluster.Racks[i]
}

func (r *yarnRun) policy(l policy.Listener) (policy.Scheduler, error) {
	return policy.New(r.Question.YARN, r.Release.YARN, l)
}

// priority returns the priority of an application: the number in its configuration, or
// that of a JobPriority from VERY_LOW, 1, to VERY_HIGH, 5. One that states none has 0
// (TypeConverter.toYarnApplicationPriority).
func priority(conf workload.Conf) (int32, error) {
	const key, normal = "mapreduce.job.priority", 3
	if p, named := workload.ParsePriority(conf.String(key, "")); named {
		return normal - int32(p), nil
	}
	n, err := conf.Int(key, 0)
	return int32(n), err
}

// submission makes the application of a job.
func (r *yarnRun) submission(i int) (yarn.Submission, error) {
	j, y := &r.Question.Jobs[i], r.Question.YARN
	s := yarn.Submission{
		Name: j.ID, Queue: cmp.Or(j.Queue, "default"), User: j.User, At: engine.At(j.Submit), Attempts: 2,
		Launch: engine.At(y.Costs.AMLaunch),
	}
	var err error
	if s.Priority, err = priority(j.Conf); err != nil {
		return s, err
	}
	if s.AM, err = model.AMSize(j.Conf); err != nil {
		return s, err
	}
	beat, err := j.Conf.Int("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", 1000)
	if err != nil {
		return s, err
	}
	s.Interval = engine.At(time.Duration(beat) * time.Millisecond)
	if j.Containers != nil {
		s.New = r.fixed(i)
		return s, nil
	}
	job, err := r.mapreduce(i)
	s.New = func(attempt int) yarn.Application {
		own := *job
		own.Recorder = yarnRecorder{r, i, attempt}
		return mrapp.New(&own, attempt)
	}
	return s, err
}

// fixed makes an application of containers with given times.
func (r *yarnRun) fixed(i int) func(int) yarn.Application {
	q := r.Question
	rackOf := func(host string) string {
		if n, ok := r.Nodes[host]; ok {
			return q.Cluster.Racks[q.Cluster.Nodes[n].Rack]
		}
		return "/default-rack" // a host that is no node
	}
	job := &yarn.FixedJob{
		Launch: engine.At(q.Cluster.Costs.Launch), Exit: engine.At(q.YARN.Costs.AMExit),
		HostOf:   func(node int32) string { return q.Cluster.Nodes[node].Name },
		RackOf:   rackOf,
		Slowness: func(node int32) float64 { return q.Cluster.Nodes[node].Slowness },
	}
	for _, g := range q.Jobs[i].Containers {
		group := yarn.FixedGroup{
			Priority: yarn.Priority(g.Priority), Size: model.Resource{MemoryMiB: g.MemoryMiB, VCores: g.VCores}, Hosts: g.Hosts,
		}
		for _, t := range g.Times {
			group.Times = append(group.Times, engine.At(t))
		}
		job.Groups = append(job.Groups, group)
	}
	return func(int) yarn.Application {
		return job.New(func(at engine.Time) { r.done.Finished[i] = at })
	}
}

// mapreduce makes the question of a MapReduce job.
func (r *yarnRun) mapreduce(i int) (*mrapp.Job, error) {
	const usualBlock = 128 << 20
	j, costs := &r.Question.Jobs[i], &r.Question.Cluster.Costs
	y := &r.Question.YARN.Costs
	job := &mrapp.Job{
		ID: i, Spec: j, Topology: r.Topology, BlockBytes: usualBlock,
		Executor: r.executor, History: &mrapp.History{}, Release: r.Release.YARN,
		Costs: mrapp.Costs{
			Setup: engine.At(r.setup(j)), Commit: engine.At(costs.Commit),
			Exit: engine.At(y.Exit), Abort: engine.At(y.TaskAbort), JobCommit: engine.At(cmp.Or(j.CleanupTime, y.JobCommit)), AMExit: engine.At(y.AMExit),
		},
	}
	if job.Release == nil {
		return nil, fmt.Errorf("release %s of Hadoop has no YARN", r.Release.Name)
	}
	var err error
	if job.Settings, err = mrapp.ReadSettings(j.Conf); err != nil {
		return nil, err
	}
	if job.AMSize, err = model.AMSize(j.Conf); err != nil {
		return nil, err
	}
	if job.MapSize, err = job.Release.TaskSize(j.Conf, workload.Map); err != nil {
		return nil, err
	}
	if job.ReduceSize, err = job.Release.TaskSize(j.Conf, workload.Reduce); err != nil {
		return nil, err
	}
	if _, err = r.Exec.NewJob(i, j); err != nil {
		return nil, err
	}
	splits := r.Splits(i)
	if n := splits.Unknown; n > 0 {
		r.Warn("job %s: %s of its splits are no nodes of the cluster", j.ID, workload.Counted(n, "host", "hosts"))
	}
	job.Hosts = make([][]int32, j.Maps.Count)
	for m := range job.Hosts {
		for _, h := range splits.Of(int32(m)) {
			if h.Node >= 0 {
				job.Hosts[m] = append(job.Hosts[m], h.Node)
			}
		}
	}
	return job, nil
}

// yarnRecorder keeps what becomes of one ApplicationMaster.
type yarnRecorder struct {
	r      *yarnRun
	job    int
	master int
}

// Attempt implements mrapp.Recorder. An attempt on a node that has died was killed.
func (x yarnRecorder) Attempt(a mrapp.AttemptRecord) {
	if x.r.listed {
		x.r.done.Attempts = append(x.r.done.Attempts, YARNAttempt{x.job, x.master, a})
		return
	}
	state := a.State
	if state == workload.Running && !x.r.over {
		state = workload.Killed
	}
	a.Run.Number = a.Attempt
	x.r.Recorder.Attempt(a.Run, state, a.Lane, min(a.Asked, a.Launched))
}

// Job implements mrapp.Recorder.
func (x yarnRecorder) Job(j mrapp.JobRecord) {
	x.r.done.Jobs[x.job] = j
	x.r.done.Finished[x.job] = j.Finished
}
