package diagnose

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// A class of requests is compared with the nearest one that several devices have;
// of two equally near ones with the lower.
func TestNearestClass(t *testing.T) {
	two := []float64{1, 2}
	classes := map[int][]float64{0: {1}, 2: two, 6: two, 9: two}
	for c, want := range map[int]int{0: 2, 3: 2, 4: 2, 5: 6, 8: 9, 20: 9} {
		for range 20 { // the order of a map differs each time
			if got := nearest(classes, c); got != want {
				t.Errorf("%d is nearest to %d: want %d", c, got, want)
			}
		}
	}
	if got := nearest(map[int][]float64{0: {1}}, 7); got != 7 {
		t.Errorf("no other class: got %d: want 7", got)
	}
}

// The rate of a device counts however short it was busy.
func TestRatesOfShortUse(t *testing.T) {
	var rows []Usage
	for i, rate := range []float64{100, 100, 100, 50} {
		for _, at := range []time.Duration{0, 2 * s} {
			rows = append(rows, Usage{Time: at, Node: fmt.Sprint("n", i), Device: "disk0", Busy: 0.2, Rate: rate, InService: 0.2})
		}
	}
	list := compareRates(newResources(rows).devices["disk0"])
	if got := list[3].rate / list[0].rate; math.Abs(got-0.5) > 1e-9 { // rounding
		t.Errorf("a disk of half the rate has %v of that of its peers: want 0.5", got)
	}
}

// One disk of a node is repaired, the others stay as they are.
func TestRepairOneDisk(t *testing.T) {
	disks := func(rates ...float64) (m model.Machine) {
		for _, r := range rates {
			m.Disks = append(m.Disks, model.Disk{Read: r, Write: r})
		}
		return m
	}
	c := model.Cluster{
		Machines: []model.Machine{disks(100, 100, 100), disks(100, 50, 60)},
		Nodes:    []model.Node{{Name: "a"}, {Name: "b"}, {Name: "c", Machine: 1}},
	}
	for device, want := range map[string][]float64{"disk1": {100, 100, 60}, "disk2": {100, 50, 100}, "disk": {100, 100, 100}} {
		q, err := repair("c", device).Edit(model.WhatIf{Cluster: c})
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for _, d := range q.Cluster.Machines[q.Cluster.Nodes[2].Machine].Disks {
			got = append(got, d.Read)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s repaired: rates %v, want %v", device, got, want)
		}
	}
}

// Phases that all tasks state are not called unknown.
func TestKnownPhases(t *testing.T) {
	for _, u := range newTestRun().diagnose(t).Unknown {
		if strings.HasPrefix(u.What, "read of") || strings.HasPrefix(u.What, "map of") {
			t.Errorf("%+v", u)
		}
	}
}

func TestTasksLike(t *testing.T) {
	x := explainer{&evidence{b: keep(newTestRun().input().Jobs, nil, nil)}}
	for task, want := range map[string]string{
		"j/m/999": "a task of the job: j/m/0 to 199, j/r/0 to 39, j/setup or j/cleanup",
		"k/m/1":   "a task of the run, such as j/m/0",
	} {
		if got := x.tasksLike(task); got != want {
			t.Errorf("%s: %q, want %q", task, got, want)
		}
	}
}

// The text of a screen has the ledger of the job that took longest, with what it gains.
func TestTextOfAScreen(t *testing.T) {
	d := newTestRun().diagnose(t)
	short, long := d.Jobs[0], d.Jobs[0]
	short.ID, short.Finish = "short", short.Submit+time.Second
	long.ID = "long"
	d.Jobs = []JobDiagnosis{short, long}
	d.Without = []Without{{Job: "short", Part: "disks of short"}, {Job: "long", Part: "disks of long"}}
	for all, want := range map[bool][]string{false: {"job long:", "disks of long", "the ledger of 1 job"}, true: {"job short:", "disks of short", "job long:", "disks of long"}} {
		var b bytes.Buffer
		if err := d.Text(&b, all); err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(b.String(), part) {
				t.Errorf("all: %v: want %q in %s", all, part, b.String())
			}
		}
		if strings.Contains(b.String(), "short") != all {
			t.Errorf("all: %v: got %s", all, b.String())
		}
	}
}

// What -v has more is what it prints, not what the files have.
func TestMoreWithAll(t *testing.T) {
	d := newTestRun().diagnose(t)
	d.Jobs = slices.Repeat(d.Jobs[:1], 8)
	d.Findings = nil
	for n := range 30 {
		d.Findings = append(d.Findings, Finding{Rule: keyRule, Change: &Change{Text: fmt.Sprint(n)}})
	}
	var b bytes.Buffer
	if err := d.Text(&b, false); err != nil || !strings.Contains(b.String(), "more with -v: 6 findings, the ledger of 4 jobs") {
		t.Errorf("%v: %s", err, b.String())
	}
}

// What was not simulated has no figure.
func TestTogetherUntested(t *testing.T) {
	d := newTestRun().diagnose(t)
	for pairs, want := range map[int]bool{0: false, 3: true} {
		d.Together = &Receipt{Pairs: pairs, Gain: 12, Low: 0.11, High: 0.13}
		var b bytes.Buffer
		if err := d.Text(&b, true); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "all confirmed changes together") != want {
			t.Errorf("%d pairs: %s", pairs, b.String())
		}
	}
}

// Records of samples are in milliseconds, tables in nanoseconds.
func TestTimelineCells(t *testing.T) {
	if got := msText(1.5); got != "1500000" {
		t.Errorf("1.5 ms is %s ns: want 1500000", got)
	}
	if got := (&Dataflow{}).share("map", "", "RUNNABLE"); got != 0 {
		t.Errorf("without samples the share is %v: want 0", got)
	}
}

// One of four nodes takes four times as long for maps whose data are not counted:
// too few nodes for a spread of nodes, but not for one of tasks.
func TestSlowNodeByTimes(t *testing.T) {
	w := &world{question: slotsOf(2, "n1", "n2", "n3", "n4")}
	w.job("j", 0, 90*s)
	for i := range 24 {
		node, length := fmt.Sprintf("n%d", 1+i%3), time.Duration(18+i%5)*s
		if i%6 == 5 {
			node, length = "n4", 4*length
		}
		a := w.attempt(workload.Map, node, i%2, 1*s, 2*s, 2*s+length)
		a.Phases[workload.PhaseMap] = length
	}
	found := func(d *Diagnosis) bool {
		return slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Rule == "R16" && f.Node == "n4" && f.Device == "" })
	}
	if d := w.run(t); !found(d) {
		t.Errorf("%+v: want R16 on n4", d.Findings)
	}
	for i := range w.jobs[0].Tasks {
		if a := &w.jobs[0].Tasks[i].Attempts[0]; a.Node == "n4" { // as long as the others
			a.Finish = 2*s + (a.Finish-2*s)/4
			a.Phases[workload.PhaseMap] = a.Finish - 2*s
		}
	}
	if d := w.run(t); found(d) {
		t.Errorf("%+v: want nothing on n4", d.Findings)
	}
}

// A slow interface keeps the shuffles of all other nodes open until it has sent its map
// outputs: those of its own reduces end apart by more than two sleeps of a copier.
func TestSlowInterfaceByShuffles(t *testing.T) {
	for apart, want := range map[time.Duration]bool{-40 * s: true, 40 * s: true, 8 * s: false} {
		w := &world{question: slotsOf(2, "n1", "n2", "n3", "n4", "n5")}
		w.job("j", 0, 300*s)
		for i := range 10 {
			w.attempt(workload.Map, fmt.Sprintf("n%d", 1+i%5), i/5, 1*s, 2*s, 20*s)
		}
		for i := range 10 {
			shuffle := 98 * s
			if i%5 == 3 {
				shuffle += apart
			}
			a := w.attempt(workload.Reduce, fmt.Sprintf("n%d", 1+i%5), i/5, 1*s, 2*s, 200*s)
			a.Phases[workload.PhaseStartup], a.Phases[workload.PhaseShuffle] = 0, shuffle
		}
		d := w.run(t)
		found := slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Rule == "R16" && f.Node == "n4" && f.Device == "network" })
		if found != want {
			t.Errorf("shuffles %v apart: %+v, want R16 on the interface of n4: %v", apart, d.Findings, want)
		}
	}
}

// One attempt that is lost is a finding of a history if its repetition came late. A late
// speculative attempt of another task is no repetition, whichever of the two wins.
func TestOneLostAttempt(t *testing.T) {
	for wait, want := range map[time.Duration]bool{100 * s: true, 1 * s: false} {
		w := &world{}
		w.job("j", 0, 200*s)
		for i := range 60 {
			w.attempt(workload.Map, fmt.Sprintf("n%d", 1+i%5), i/5, 1*s, 2*s, 60*s)
		}
		w.attempt(workload.Map, "n1", 20, 1*s, 2*s, 3*s)
		w.again(workload.Failed, "n2", 3*s, 2*s+wait, 190*s)
		for _, state := range []workload.State{workload.Killed, workload.Succeeded} {
			w.attempt(workload.Map, "n3", 21, 1*s, 2*s, 120*s)
			w.again(state, "n4", 101*s, 101*s, 120*s)
		}
		w.attempt(workload.Map, "n1", 22, 1*s, 2*s, 20*s)
		w.again(workload.Succeeded, "n4", 21*s, 21*s, 24*s) // before the JobTracker knew of the end
		tasks := w.jobs[0].Tasks
		for _, t := range tasks[len(tasks)-2:] {
			t.Attempts[1].State = workload.Killed // this speculation was in vain
		}
		d := w.run(t)
		if found := slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Rule == "R23" && f.Node == "n1" }); found != want {
			t.Errorf("repeated after %v: %+v, want R23 on n1: %v", wait, d.Findings, want)
		}
	}
}

// A set-up says what held its slot; a repeated attempt says when the loss was known.
func TestExplainWaits(t *testing.T) {
	w := &world{question: slotsOf(1, "n1", "n2")}
	w.job("a", 0, 30*s)
	w.attempt(workload.Map, "n1", 0, 1*s, 2*s, 28*s)
	w.job("b", 10*s, 260*s)
	w.attempt(workload.Setup, "n1", 0, 29*s, 29*s, 31*s)
	w.attempt(workload.Map, "n2", 0, 32*s, 33*s, 58*s)
	w.again(workload.Killed, "n1", 200*s, 201*s, 255*s)
	for task, want := range map[string]string{
		"b/setup": "submitted at 10.0 s and initialised until 11.0 s. Its set-up takes the first slot that a heartbeat offers; all other tasks come after it. It waited 18.0 s. Its slot was held by a/m/0 until 28.0 s.",
		"b/m/0":   "It repeats attempt 0, which was killed on n2 at 58.0 s. The JobTracker knew that at 200.0 s:",
	} {
		var b strings.Builder
		if err := Explain(&b, w.input(), Explained{Task: task}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in %s", task, want, got)
		}
	}
}

// A killed attempt was preempted where the scheduler preempts and no other attempt of its
// task had won.
func TestExplainPreempted(t *testing.T) {
	for _, preempts := range []string{"true", "false"} {
		w := &world{question: slotsOf(1, "n1", "n2")}
		w.question.Scheduler.Name = "fair2"
		w.question.Scheduler.Conf.Set("mapred.fairscheduler.preemption", preempts)
		w.job("a", 0, 90*s)
		w.attempt(workload.Map, "n1", 0, 1*s, 2*s, 20*s)
		w.again(workload.Killed, "n2", 20*s, 30*s, 50*s)
		w.job("b", 10*s, 40*s)
		w.attempt(workload.Map, "n1", 0, 11*s, 22*s, 38*s)
		var b strings.Builder
		if err := Explain(&b, w.input(), Explained{Task: "a/m/0"}); err != nil {
			t.Fatal(err)
		}
		want := "The scheduler killed it, because another pool had been below its share for as long as a timeout of preemption. b/m/0 got its slot at 22.0 s."
		if got := strings.Join(strings.Fields(b.String()), " "); strings.Contains(got, want) != (preempts == "true") {
			t.Errorf("preemption %s: %s", preempts, got)
		}
	}
}
