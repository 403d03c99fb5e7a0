package mrapp

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

// lab is a cluster of four nodes, two in each rack, whose ResourceManager answers as
// the test says. The ApplicationMaster registers at 0 and beats each second. Tasks
// take 1 GiB; set-up takes 100 ms, the start of a process 1 s, a commit 200 ms, an exit
// 300 ms, an abort 50 ms, the commit of the job 400 ms and the exit of the
// ApplicationMaster 100 ms.
type lab struct {
	e        *engine.Engine
	rank     uint32
	job      *Job
	am       *AppMaster
	beats    int
	answers  map[int]*yarn.AllocateResponse // by the number of the beat, from 1
	headroom model.Resource
	cores    bool
	largest  model.Resource
	sent     []string // what heartbeats carried
	made     map[int32]*yarn.Container
	unheard  []yarn.Ended // told with the next answer
	stopped  []string
	asked    bool
	exited   engine.Time
	attempts []AttemptRecord
	record   *JobRecord
}

const gib = 1024

// Releases with and without what 2.8 and later changed.
var hadoop336, hadoop277 = release("3.3.6"), release("2.7.7")

func release(name string) *model.YARNRelease {
	r, err := model.FindRelease(name)
	if err != nil {
		panic(err)
	}
	return r.YARN
}

func (l *lab) Attempt(r AttemptRecord) { l.attempts = append(l.attempts, r) }
func (l *lab) Job(r JobRecord)         { l.record = &r }

// newLab makes a job with a map for each list of hosts. Maps work for 10 s, reduces for
// 6 s once they know all maps.
func newLab(t *testing.T, reduces int, hosts ...[]int32) *lab {
	t.Helper()
	return newLabOf(t, labQuestion(), reduces, hosts...)
}

// labQuestion is the cluster of a lab; newLabOf adds the job.
func labQuestion() *model.WhatIf {
	q := &model.WhatIf{Fidelity: model.Replay, Cluster: model.Cluster{
		Racks: []string{"a", "b"}, Grain: time.Millisecond, Costs: model.Costs{Launch: time.Second},
	}}
	for i := range 4 {
		q.Cluster.Nodes = append(q.Cluster.Nodes, model.Node{Name: fmt.Sprint("n", i), Rack: i / 2, Slowness: 1})
	}
	q.Jobs = []workload.Job{{
		Maps:    workload.MapTasks{Time: workload.Durations{All: 10 * time.Second}},
		Reduces: workload.ReduceTasks{Shuffle: workload.Durations{All: 2 * time.Second}, Sort: workload.Durations{All: time.Second}, Time: workload.Durations{All: 3 * time.Second}},
	}}
	return q
}

func newLabOf(t *testing.T, q *model.WhatIf, reduces int, hosts ...[]int32) *lab {
	t.Helper()
	spec := &q.Jobs[0]
	spec.Maps.Count, spec.Reduces.Count = len(hosts), reduces
	var conf workload.Conf
	conf.Set("mapreduce.map.speculative", "false")
	conf.Set("mapreduce.reduce.speculative", "false")
	settings, err := ReadSettings(conf)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{
		e: engine.New(), answers: map[int]*yarn.AllocateResponse{}, made: map[int32]*yarn.Container{},
		headroom: model.Resource{MemoryMiB: 8 * gib, VCores: 8}, largest: model.Resource{MemoryMiB: 8 * gib, VCores: 4}, exited: None,
	}
	size := model.Resource{MemoryMiB: gib, VCores: 1}
	executor, err := NewExecutor(q, l.e)
	if err != nil {
		t.Fatal(err)
	}
	l.job = &Job{
		Spec: spec, Hosts: hosts, Topology: execute.NewTopology(&q.Cluster), MapSize: size, ReduceSize: size, AMSize: size, BlockBytes: 1 << 20,
		Settings: settings, Release: hadoop336, Executor: executor, Recorder: l,
		Costs: Costs{
			Setup: second / 10, Commit: second / 5, Exit: 3 * second / 10, Abort: second / 20,
			JobCommit: 4 * second / 10, AMExit: second / 10,
		},
	}
	l.am = New(l.job, 1)
	return l
}

// anywhere are the hosts of n maps without any.
func anywhere(n int) [][]int32 { return make([][]int32, n) }

func (l *lab) Now() engine.Time { return l.e.Now() }

func (l *lab) At(when engine.Time, do func()) yarn.Timer {
	l.rank++
	t := l.e.NewTimer(engine.Heartbeat, 0, func(int32) { do() }).Ranked(l.rank)
	t.Reset(when)
	return t
}

func (l *lab) Registered() yarn.Registration {
	return yarn.Registration{Node: 0, Largest: l.largest, VCores: l.cores}
}

func (l *lab) Place(name string) yarn.Place  { panic("the ApplicationMaster asks by node") }
func (l *lab) RackOf(node int32) yarn.Place  { return yarn.Place(1 + node/2) }
func (l *lab) HostOf(node int32) yarn.Place  { return yarn.Place(10 + node) }
func (l *lab) Launch(*yarn.Container) bool   { return true }
func (l *lab) Exit()                         { l.exited = l.Now() }
func (l *lab) Wake()                         {}
func (l *lab) Unregister(bool) (agreed bool) { agreed, l.asked = l.asked, true; return agreed }
func (l *lab) Ended(c *yarn.Container, e yarn.Exit) {
	l.unheard = append(l.unheard, yarn.Ended{Container: c, Exit: e})
}

func (l *lab) Stop(c *yarn.Container) {
	l.stopped = append(l.stopped, fmt.Sprintf("%v: %d", l.Now(), c.Number))
	l.am.Killed(c)
	l.Ended(c, yarn.KilledByAM)
}

func (l *lab) Allocate(q yarn.AllocateRequest) yarn.AllocateResponse {
	l.beats++
	if text := describe(q); text != "" {
		l.sent = append(l.sent, fmt.Sprintf("%d: %s", l.beats, text))
	}
	answer := yarn.AllocateResponse{Headroom: l.headroom, Cluster: 4}
	if a := l.answers[l.beats]; a != nil {
		answer = *a
	}
	answer.Ended = append(slices.Clone(answer.Ended), l.unheard...)
	l.unheard = nil
	return answer
}

// describe writes an ask as priority:place=count, with * for anywhere, r for a rack and
// n for a host; releases as -container; blacklisted and forgiven nodes as !n and ?n.
func describe(q yarn.AllocateRequest) string {
	var words []string
	for _, a := range q.Asks {
		place := "*"
		switch {
		case a.Place >= 10:
			place = fmt.Sprintf("n%d", a.Place-10)
		case a.Place > 0:
			place = fmt.Sprintf("r%d", a.Place-1)
		}
		words = append(words, fmt.Sprintf("%d:%s=%d", a.Priority, place, a.Count))
	}
	for _, c := range q.Releases {
		words = append(words, fmt.Sprintf("-%d", c.Number))
	}
	for _, n := range q.Blacklist {
		words = append(words, fmt.Sprintf("!%d", n))
	}
	for _, n := range q.Forgive {
		words = append(words, fmt.Sprintf("?%d", n))
	}
	return strings.Join(words, " ")
}

// answer returns the answer of a beat, for the test to fill.
func (l *lab) answer(beat int) *yarn.AllocateResponse {
	if l.answers[beat] == nil {
		l.answers[beat] = &yarn.AllocateResponse{Headroom: l.headroom, Cluster: 4}
	}
	return l.answers[beat]
}

// grant has the answer of a beat bring containers of a priority, numbered from first,
// on these nodes.
func (l *lab) grant(beat int, priority yarn.Priority, first int32, nodes ...int32) {
	a := l.answer(beat)
	for i, node := range nodes {
		c := &yarn.Container{Number: first + int32(i), Node: node, Size: model.Resource{MemoryMiB: gib, VCores: 1}, Priority: priority}
		l.made[c.Number] = c
		a.Granted = append(a.Granted, c)
	}
}

// at calls do during the run, after the ApplicationMaster's own work of that instant.
func (l *lab) at(when time.Duration, do func()) {
	l.e.NewTimer(engine.AfterHeartbeat, 0, func(int32) { do() }).Reset(engine.At(when))
}

// run simulates until an instant.
func (l *lab) run(until time.Duration) {
	if l.am.master == nil {
		l.start()
	}
	for l.e.StepBy(engine.At(until)) {
	}
}

func (l *lab) start() {
	l.am.Start(l)
	l.am.settle()
	var beat func()
	beat = func() {
		if l.am.Beating() {
			l.am.Beat()
			l.At(l.Now()+second, beat)
		}
	}
	l.At(second, beat)
}

// want compares texts.
func want[T any](t *testing.T, what string, got T, want string) {
	t.Helper()
	if s := fmt.Sprint(got); s != want {
		t.Errorf("%s:\n got %s\nwant %s", what, s, want)
	}
}

// carried joins what the heartbeats carried.
func (l *lab) carried() string { return strings.Join(l.sent, "; ") }

// ran lists attempts: kind, task_attempt, container@node, and the seconds of launch,
// begin and end with the first letter of the outcome.
func (l *lab) ran() string {
	var words []string
	for _, r := range l.attempts {
		words = append(words, fmt.Sprintf("%s%d_%d %d@%d %v-%v-%v%s", r.Kind.String()[:1], r.Task, r.Attempt, r.Container, r.Node,
			r.Launched, r.Begun, r.Done, r.State.String()[:1]))
	}
	return strings.Join(words, "; ")
}
