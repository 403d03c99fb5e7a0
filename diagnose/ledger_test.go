package diagnose

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

const s = time.Second

// world is a hand-made run.
type world struct {
	jobs     []workload.HistoryJob
	question *model.WhatIf
	spans    []model.Span
	offers   []model.Offer
}

// job adds a job; its tasks follow.
func (w *world) job(id string, submit, finish time.Duration) {
	w.jobs = append(w.jobs, workload.HistoryJob{ID: id, Submit: submit, Launch: submit + s, Finish: finish, Outcome: workload.Succeeded})
}

// attempt adds a task with one attempt to the last job.
func (w *world) attempt(kind workload.Kind, node string, slot int, times ...time.Duration) *workload.HistoryAttempt {
	j := &w.jobs[len(w.jobs)-1]
	n := 0
	for _, t := range j.Tasks {
		if t.Kind == kind {
			n++
		}
	}
	a := workload.HistoryAttempt{Attempt: workload.Attempt{
		Job: j.ID, Task: n, Kind: kind, Node: node, Slot: slot, Runnable: times[0], Start: times[1], Finish: times[2],
	}}
	j.Tasks = append(j.Tasks, workload.HistoryTask{Kind: kind, Number: n, Attempts: []workload.HistoryAttempt{a}})
	return &j.Tasks[len(j.Tasks)-1].Attempts[0]
}

// span adds what a thread of a task of the last job did.
func (w *world) span(kind workload.Kind, task int, sp model.Span) {
	sp.Job, sp.Kind, sp.Task = w.jobs[len(w.jobs)-1].ID, kind, task
	w.spans = append(w.spans, sp)
}

func (w *world) input() Input {
	in := Input{Jobs: jobsOf(&workload.History{Jobs: w.jobs}), Offers: w.offers, Question: w.question}
	if len(w.spans) > 0 {
		in.Spans = func(yield func(*model.Span) bool) {
			for i := range w.spans {
				if !yield(&w.spans[i]) {
					return
				}
			}
		}
	}
	return in
}

// slotsOf is a question of nodes with as many slots of each kind, and a heartbeat of 3 s.
func slotsOf(slots int, nodes ...string) *model.WhatIf {
	q := &model.WhatIf{Cluster: model.Cluster{Hadoop: "0.20.2", Heartbeat: 3 * s}}
	for _, name := range nodes {
		q.Cluster.Nodes = append(q.Cluster.Nodes, model.Node{Name: name, MapSlots: slots, ReduceSlots: slots})
	}
	return q
}

func (w *world) run(t testing.TB) *Diagnosis {
	t.Helper()
	d, err := Run(context.Background(), w.input(), DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// wantLedger compares the ledger of a job, one step a line: from, to, account and,
// if there is one, by.
func wantLedger(t *testing.T, d *Diagnosis, job int, want string) {
	t.Helper()
	var lines []string
	for _, st := range d.Jobs[job].Ledger {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%v-%v %v %s", st.From.Seconds(), st.To.Seconds(), st.Account, st.By)))
	}
	if got := strings.Join(lines, "\n"); got != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, strings.TrimSpace(want))
	}
}

// One map and one reduce that starts while the map runs. The reduce ends last; its
// shuffle waited for the map; the map waited for the set-up.
func oneMapOneReduce() *world {
	w := &world{question: slotsOf(1, "n1", "n2")}
	w.job("j", 0, 60*s)
	w.attempt(workload.Setup, "n1", 0, 1*s, 2*s, 4*s)
	w.attempt(workload.Map, "n1", 0, 5*s, 6*s, 26*s)
	w.attempt(workload.Reduce, "n2", 0, 5*s, 10*s, 55*s)
	w.attempt(workload.Cleanup, "n1", 0, 55*s, 57*s, 59*s)
	m := func(begin, end, own time.Duration, sp model.Span) {
		sp.Begin, sp.End, sp.Own = begin*s, end*s, own*s
		w.span(workload.Map, 0, sp)
	}
	m(6, 8, 2, model.Span{Phase: workload.PhaseStartup, Device: "cpu"})
	m(8, 14, 3, model.Span{Phase: workload.PhaseRead, Device: "disk0"}) // half of it shared
	m(14, 20, 6, model.Span{Phase: workload.PhaseMap, Device: "cpu"})
	m(20, 22, 0, model.Span{Phase: workload.PhaseCollect, Wait: model.WaitSpill})
	m(22, 25, 3, model.Span{Phase: workload.PhaseSpill, Device: "disk0"})
	m(25, 26, 1, model.Span{Phase: workload.PhaseCommit})
	r := func(begin, end, own time.Duration, sp model.Span) {
		sp.Begin, sp.End, sp.Own = begin*s, end*s, own*s
		w.span(workload.Reduce, 0, sp)
	}
	r(10, 11, 1, model.Span{Phase: workload.PhaseStartup, Device: "cpu"})
	r(11, 40, 0, model.Span{Phase: workload.PhaseShuffle, Wait: model.WaitFetch})
	r(30, 36, 6, model.Span{Thread: model.CopierThread, Phase: workload.PhaseShuffle, Device: "network-in", FromNode: "n1"})
	r(36, 39, 0, model.Span{Thread: model.CopierThread, Phase: workload.PhaseShuffle, Wait: model.WaitMemory})
	r(39, 40, 1, model.Span{Thread: model.MemoryMergeThread, Phase: workload.PhaseShuffle, Device: "cpu"})
	r(40, 50, 10, model.Span{Phase: workload.PhaseReduce, Device: "cpu"})
	r(50, 55, 5, model.Span{Phase: workload.PhaseWrite, Device: "disk0"})
	return w
}

func TestLedgerOneJob(t *testing.T) {
	wantLedger(t, oneMapOneReduce().run(t), 0, `
0-1 initialisation
1-2 heartbeat
2-4 set-up
4-5 heartbeat
5-6 heartbeat
6-8 start-up
8-11 disk own
11-14 sharing
14-20 CPU own
20-22 wait for spill
22-25 sort and spill
25-26 commit
26-30 wait for fetch
30-36 network own
36-39 wait for memory
39-40 merge
40-50 CPU own
50-55 disk own
55-57 heartbeat
57-59 clean-up
59-60 heartbeat`)
}

// Of a recorded run phases say what passed, and no one what passed between attempts.
func TestLedgerRecorded(t *testing.T) {
	w := oneMapOneReduce()
	w.question, w.spans = nil, nil
	m, r := &w.jobs[0].Tasks[1].Attempts[0], &w.jobs[0].Tasks[2].Attempts[0]
	m.Phases[workload.PhaseStartup], m.Phases[workload.PhaseMap], m.Phases[workload.PhaseSpill] = 2*s, 15*s, 3*s
	r.Phases[workload.PhaseShuffle], r.Phases[workload.PhaseMerge], r.Phases[workload.PhaseReduce] = 30*s, 5*s, 10*s
	wantLedger(t, w.run(t), 0, `
0-1 initialisation
1-2 between attempts
2-4 set-up
4-5 between attempts
5-6 between attempts
6-8 start-up
8-23 map and reduce
23-26 sort and spill
26-40 shuffle
40-45 merge
45-55 map and reduce
55-57 between attempts
57-59 clean-up
59-60 between attempts`)
}

// Three jobs on one slot: the last one waits for the others, then for a heartbeat.
// Its second map takes the slot of its first.
func TestLedgerSlotHeld(t *testing.T) {
	w := &world{question: slotsOf(1, "n1")}
	w.job("a", 0, 50*s)
	w.attempt(workload.Map, "n1", 0, 1*s, 1*s, 50*s)
	w.job("c", 2*s, 52*s)
	w.attempt(workload.Map, "n1", 0, 3*s, 50*s, 52*s)
	w.job("b", 10*s, 80*s)
	w.attempt(workload.Map, "n1", 0, 12*s, 53*s, 60*s)
	w.attempt(workload.Map, "n1", 0, 12*s, 63*s, 80*s)
	d := w.run(t)
	wantLedger(t, d, 2, `
10-11 initialisation
11-12 heartbeat
12-50 slot held a
50-52 slot held c
52-53 heartbeat
53-60 unknown
60-63 heartbeat
63-80 unknown`)
}

// Small files: one map a heartbeat of 3 s, on two nodes with two slots each. The
// slots that the maps take were freed by each other, but the scheduler is what
// keeps them: the ledger says so, and R15 too.
func smallFiles(maps int) *world {
	w := &world{}
	end := time.Duration(3*maps) * s
	w.job("j", 0, end+3*s)
	for i := range maps {
		at := time.Duration(3*i+3) * s
		w.attempt(workload.Map, []string{"n1", "n2"}[i%2], 0, 2*s, at, at+2500*time.Millisecond)
		w.offers = append(w.offers, model.Offer{
			Time: at, Node: []string{"n1", "n2"}[i%2], Free: [2]int{2}, Waiting: [2]int{maps - i},
			Reason: [2]model.Reason{model.OneTaskPerHeartbeat},
		})
	}
	return w
}

func TestLedgerSchedulerLimit(t *testing.T) {
	d := smallFiles(100).run(t)
	sums := accountSums(d.Jobs[0].Ledger)
	if part := sums[schedulerLimit].Seconds() / 303; part < 0.95 {
		t.Errorf("scheduler limit is %.3f of the job, want nearly all of it: %v", part, sums)
	}
	if len(d.Findings) == 0 || d.Findings[0].Rule != "R15" || d.Findings[0].Change.Text != "scheduler fair2" || d.Findings[0].Ledger != sums[schedulerLimit] {
		t.Errorf("findings %+v, want R15 first", d.Findings)
	}
}

// A pool's limit kept the job from a slot of another node while its own map was in the
// slot that the next one took: that time is of the map, none of it of a heartbeat.
func TestLedgerLimitWhileOwnMapRan(t *testing.T) {
	w := &world{question: slotsOf(1, "n1", "n2")}
	w.job("j", 0, 60*s)
	w.attempt(workload.Map, "n1", 0, 1*s, 1*s, 10*s)
	w.attempt(workload.Map, "n1", 0, 1*s, 10*s, 39*s)
	w.attempt(workload.Map, "n1", 0, 1*s, 40*s, 60*s)
	w.offers = []model.Offer{{Time: 30 * s, Node: "n2", Free: [2]int{1}, Waiting: [2]int{1}, Reason: [2]model.Reason{model.AtPoolLimit},
		Asked: []model.Asked{{Job: "j", Task: -1, Reason: model.AtPoolLimit, Figures: model.Figures{Pool: "p", Limit: 1}}}}}
	wantLedger(t, w.run(t), 0, `
0-1 initialisation
1-10 unknown
10-30 unknown
30-40 scheduler limit pool limit (p, 1)
40-60 unknown`)
}

func TestBalance(t *testing.T) {
	j := &job{id: "j", submit: 5, finish: 20}
	good := []Step{{From: 5, To: 10}, {From: 10, To: 20}}
	if err := balance(j, good); err != nil {
		t.Error(err)
	}
	for _, bad := range [][]Step{nil, good[:1], good[1:], {{From: 5, To: 11}, {From: 10, To: 20}}, {{From: 5, To: 10}, {From: 11, To: 20}}, {{From: 5, To: 21}}} {
		if balance(j, bad) == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

// Whatever attempts, spans and offers say, the ledger balances to the
// nanosecond and the walk ends.
func TestLedgerBalances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		w := &world{}
		at := func(n int64) time.Duration { return time.Duration(r.Int64N(n)) }
		for j := range 1 + r.IntN(3) {
			submit := at(100)
			w.job(fmt.Sprint("j", j), submit, submit+at(1000))
			w.jobs[j].Launch = submit + at(50)
			for range r.IntN(12) {
				kind := workload.Kind(r.IntN(4))
				start := at(1000)
				a := w.attempt(kind, fmt.Sprint("n", r.IntN(2)), r.IntN(3)-1, at(1000), start, start+at(300))
				a.Phases[r.IntN(int(workload.NumPhases))] = at(300)
				if r.IntN(4) == 0 {
					a.Runnable = workload.UnknownTime
				}
				for range r.IntN(6) {
					begin := start + at(300) - 50
					w.span(kind, a.Task, model.Span{
						Thread: model.Thread(r.IntN(5)), Phase: workload.Phase(r.IntN(int(workload.NumPhases))), Wait: model.Wait(r.IntN(5)),
						Device: "disk0", Begin: begin, End: begin + at(200), Own: at(200),
					})
				}
			}
		}
		for range r.IntN(20) {
			w.offers = append(w.offers, model.Offer{
				Time: at(1000), Free: [2]int{r.IntN(2), r.IntN(2)}, Waiting: [2]int{r.IntN(2)},
				Reason: [2]model.Reason{model.Reason(r.IntN(int(model.NumReasons))), model.Reason(r.IntN(int(model.NumReasons)))},
			})
		}
		if r.IntN(2) == 0 {
			w.question = slotsOf(1+r.IntN(2), "n0", "n1")
			w.question.Cluster.Heartbeat = at(50)
			w.question.Cluster.SharedSlots = r.IntN(3) == 0
		}
		in := w.input()
		in.Resources = []Usage{{Node: "n0", Device: "disk0", Busy: 1, ForeignBusy: 0.3, Rate: 0.2}, {Time: 500, Node: "n0", Device: "disk0"}}
		d, err := Run(context.Background(), in, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range d.Jobs {
			total := time.Duration(0)
			for _, sum := range accountSums(j.Ledger) {
				total += sum
			}
			if total != j.Finish-j.Submit {
				t.Errorf("accounts of %s add up to %d ns, want %d", j.ID, total, j.Finish-j.Submit)
			}
		}
		if !slices.IsSortedFunc(d.Jobs, func(a, b JobDiagnosis) int { return int(a.Submit - b.Submit) }) {
			t.Error("jobs are not in order of submission")
		}
	})
}

// again adds an attempt to the last task.
func (w *world) again(state workload.State, node string, times ...time.Duration) {
	j := &w.jobs[len(w.jobs)-1]
	t := &j.Tasks[len(j.Tasks)-1]
	a := t.Attempts[len(t.Attempts)-1]
	t.Attempts[len(t.Attempts)-1].State = state
	a.Number, a.State, a.Node, a.Runnable, a.Start, a.Finish = a.Number+1, workload.Succeeded, node, times[0], times[1], times[2]
	t.Attempts = append(t.Attempts, a)
}

// The node of the first attempt dies at 50 s, which the JobTracker learns at 118 s.
// All of the time from the start of the attempt until then is lost. So is the time
// of an attempt until a speculative one takes over.
func TestLedgerLostAttempts(t *testing.T) {
	w := &world{question: slotsOf(1, "n1", "n2")}
	w.job("j", 0, 160*s)
	w.attempt(workload.Map, "n2", 0, 1*s, 4*s, 50*s)
	w.again(workload.Killed, "n1", 118*s, 120*s, 159*s)
	wantLedger(t, w.run(t), 0, "0-1 initialisation\n1-4 heartbeat\n4-118 lost attempts\n118-120 heartbeat\n120-159 unknown\n159-160 heartbeat")

	w = &world{question: slotsOf(1, "n1", "n2")}
	w.job("j", 0, 100*s)
	w.attempt(workload.Map, "n2", 0, 1*s, 4*s, 98*s)
	w.again(workload.Killed, "n1", 1*s, 65*s, 98*s)
	wantLedger(t, w.run(t), 0, "0-1 initialisation\n1-4 heartbeat\n4-65 lost attempts\n65-98 unknown\n98-100 heartbeat")
}

// A set-up waits for the slot that a map of another job holds.
func TestLedgerSetUpWaits(t *testing.T) {
	w := &world{question: slotsOf(1, "n1")}
	w.job("a", 0, 30*s)
	w.attempt(workload.Map, "n1", 0, 1*s, 2*s, 28*s)
	w.job("b", 10*s, 60*s)
	w.attempt(workload.Setup, "n1", 0, 29*s, 29*s, 31*s)
	w.attempt(workload.Map, "n1", 0, 32*s, 33*s, 58*s)
	wantLedger(t, w.run(t), 1, "10-11 initialisation\n11-28 slot held a\n28-29 heartbeat\n29-31 set-up\n31-32 heartbeat\n32-33 heartbeat\n33-58 unknown\n58-60 heartbeat")
}
