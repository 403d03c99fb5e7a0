package diagnose

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/vectortest"
	"github.com/slotwave/slotwave/workload"
)

// testRun is a job of 200 maps and 40 reduces on 10 nodes with 4 map and 4 reduce
// slots each. Phases follow from bytes, with 5 % noise. Each test plants one fault.
type testRun struct {
	world
	nodes     int
	resources []Usage
}

const mb = 1 << 20

func newTestRun() *testRun {
	p := &testRun{nodes: 10}
	r := rand.New(rand.NewPCG(1, 1))
	noise := func() float64 { return 0.95 + 0.1*r.Float64() }
	p.job("j", 0, 0)
	at := func(phases *[workload.NumPhases]time.Duration, phase workload.Phase, seconds float64) time.Duration {
		phases[phase] = workload.Seconds(seconds * noise())
		return phases[phase]
	}
	free := make([]time.Duration, 40)
	var lastMap time.Duration
	for i := range 200 {
		slot := i % 40
		start := max(free[slot], 3*s)
		a := p.attempt(workload.Map, fmt.Sprintf("n%d", slot%p.nodes), slot/p.nodes, start, start, 0)
		size := 64 * (1 + r.Float64())
		a.InBytes, a.HDFSReadBytes, a.OutBytes, a.InRecords, a.OutRecords, a.Spills = int64(size*mb), int64(size*mb), int64(size*mb), int64(size*1e4), int64(size*1e4), 1
		length := at(&a.Phases, workload.PhaseStartup, 1)
		length += at(&a.Phases, workload.PhaseRead, size/20)
		length += at(&a.Phases, workload.PhaseMap, size/10)
		length += at(&a.Phases, workload.PhaseSpill, size/40)
		a.Finish = start + length
		free[slot], lastMap = a.Finish, max(lastMap, a.Finish)
	}
	for i := range 40 {
		a := p.attempt(workload.Reduce, fmt.Sprintf("n%d", i%p.nodes), i/p.nodes, lastMap, lastMap, 0)
		a.ShuffleBytes, a.InBytes, a.OutBytes, a.InRecords = 300*mb, 300*mb, 300*mb, 3e6
		length := at(&a.Phases, workload.PhaseStartup, 1)
		length += at(&a.Phases, workload.PhaseShuffle, 10)
		length += at(&a.Phases, workload.PhaseReduce, 15)
		length += at(&a.Phases, workload.PhaseWrite, 15)
		a.Finish = lastMap + length
	}
	p.close()
	p.jobs[0].Conf.Set("io.sort.mb", "100")
	for n := range p.nodes {
		for k := range 100 {
			for _, device := range []string{"cpu", "disk0", "network-in"} {
				p.resources = append(p.resources, Usage{
					Time: time.Duration(k) * 2 * s, Node: fmt.Sprintf("n%d", n), Device: device, Busy: 0.6, Bytes: 100 * mb,
					InService: 0.6 * float64(1+k%4), Rate: 1 / float64(1+k%4),
				})
			}
		}
	}
	return p
}

// close lets the job end with its last attempt.
func (p *testRun) close() {
	p.jobs[0].Finish = 0
	p.each(func(a *workload.HistoryAttempt) { p.jobs[0].Finish = max(p.jobs[0].Finish, a.Finish+s) })
}

func (p *testRun) each(f func(a *workload.HistoryAttempt)) {
	for t := range p.jobs[0].Tasks {
		for n := range p.jobs[0].Tasks[t].Attempts {
			f(&p.jobs[0].Tasks[t].Attempts[n])
		}
	}
}

// slow makes phases of some attempts longer, and what follows on their slot later.
func (p *testRun) slow(factor float64, want func(a *workload.HistoryAttempt) bool, phases ...workload.Phase) {
	type slot struct {
		node string
		slot int
		kind workload.Kind
	}
	late := map[slot]time.Duration{}
	p.each(func(a *workload.HistoryAttempt) {
		k := slot{a.Node, a.Slot, a.Kind}
		a.Start, a.Finish = a.Start+late[k], a.Finish+late[k]
		if !want(a) {
			return
		}
		for _, ph := range phases {
			more := workload.Seconds(a.Phases[ph].Seconds() * (factor - 1))
			a.Phases[ph] += more
			a.Finish += more
			late[k] += more
		}
	})
	p.close()
}

func (p *testRun) use(node, device string, f func(u *Usage)) {
	for i := range p.resources {
		if u := &p.resources[i]; u.Node == node && u.Device == device {
			f(u)
		}
	}
}

func (p *testRun) diagnose(t testing.TB) *Diagnosis {
	t.Helper()
	in := p.input()
	in.Resources = p.resources
	d, err := Run(context.Background(), in, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// halfUsed lets all maps wait from the beginning, on a cluster with twice as many
// map slots as are ever used.
func (p *testRun) halfUsed() {
	p.question = &model.WhatIf{Cluster: model.Cluster{Nodes: slices.Repeat([]model.Node{{MapSlots: 8, ReduceSlots: 4}}, 10)}}
	p.each(func(a *workload.HistoryAttempt) {
		if a.Kind == workload.Map {
			a.Runnable = 3 * s
		}
	})
}

func on(node string, kind workload.Kind) func(*workload.HistoryAttempt) bool {
	return func(a *workload.HistoryAttempt) bool { return a.Node == node && a.Kind == kind }
}

// A healthy job has no finding on hardware and no critical phase.
func TestHealthy(t *testing.T) {
	d := newTestRun().diagnose(t)
	for _, f := range d.Findings {
		t.Errorf("%s: %s", f.Rule, f.Evidence)
	}
	for _, o := range d.Jobs[0].Outliers {
		if o.Critical {
			t.Errorf("%+v", o)
		}
	}
}

// Each rule of ours finds the fault that is planted for it, at the place and with
// the change.
func TestPlantedRules(t *testing.T) {
	maps := func(a *workload.HistoryAttempt) bool { return a.Kind == workload.Map }
	var text bytes.Buffer
	for _, c := range []struct {
		rule, node, device, change string
		testRun                    func(p *testRun)
	}{
		{"R15", "", "", "scheduler fair2", func(p *testRun) {
			p.halfUsed()
			p.offers = slices.Repeat([]model.Offer{{Time: 5 * s, Free: [2]int{3}, Waiting: [2]int{9}, Reason: [2]model.Reason{model.OneTaskPerHeartbeat}}}, 9)
		}},
		{"R15", "", "", "mapred.fairscheduler.locality.delay = 0", func(p *testRun) {
			p.halfUsed()
			p.offers = slices.Repeat([]model.Offer{{Time: 5 * s, Free: [2]int{3}, Waiting: [2]int{9}, Reason: [2]model.Reason{model.LocalityWait}}}, 9)
		}},
		{"R16", "n3", "disk0", "disk0 of n3 at the nominal speed", func(p *testRun) {
			p.use("n3", "disk0", func(u *Usage) { u.Rate *= 0.56 })
		}},
		{"R16", "n3", "cpu", "cpu of n3 at the nominal speed", func(p *testRun) {
			p.resources = nil
			p.slow(2, on("n3", workload.Map), workload.PhaseMap, workload.PhaseSpill)
		}},
		{"R16", "n3", "disk", "disk of n3 at the nominal speed", func(p *testRun) {
			p.resources = nil
			p.slow(4, on("n3", workload.Map), workload.PhaseRead)
		}},
		{"R17", "n4", "disk0", "no foreign load on disk0 of n4", func(p *testRun) {
			p.use("n4", "disk0", func(u *Usage) { u.ForeignBusy = 0.4 })
			p.slow(2, on("n4", workload.Map), workload.PhaseRead)
		}},
		{"R19", "", "", "mapred.job.shuffle.input.buffer.percent = 0.9", func(p *testRun) {
			p.each(func(a *workload.HistoryAttempt) {
				if a.Kind == workload.Reduce {
					a.WaitMemory = a.Phases[workload.PhaseShuffle] / 2
				}
			})
		}},
		{"R20", "", "", "mapred.reduce.tasks = 100", func(p *testRun) {
			p.question = &model.WhatIf{Cluster: model.Cluster{Nodes: slices.Repeat([]model.Node{{MapSlots: 4, ReduceSlots: 10}}, 10)}}
		}},
		{"R21", "", "", "4 splits combined into one", func(p *testRun) { p.slow(12, maps, workload.PhaseStartup) }},
		{"R22", "", "", "dfs.replication = 4", func(p *testRun) {
			p.question = &model.WhatIf{Cluster: model.Cluster{Nodes: slices.Repeat([]model.Node{{MapSlots: 4, ReduceSlots: 4}}, 10)}}
			p.each(func(a *workload.HistoryAttempt) {
				if a.Task%2 == 0 {
					a.Locality = workload.RackLocal
				}
			})
			p.slow(3, func(a *workload.HistoryAttempt) bool { return a.Kind == workload.Map && a.Task%2 == 0 }, workload.PhaseRead)
		}},
		{"R23", "n5", "", "no attempt fails", func(p *testRun) {
			for i := range 20 {
				a := p.jobs[0].Tasks[i].Attempts[0]
				a.State, a.Node, a.Finish = workload.Failed, "n5", a.Start
				a.Start = max(0, a.Start-30*s)
				a.Finish = a.Start + 30*s
				p.jobs[0].Tasks[i].Attempts = append([]workload.HistoryAttempt{a}, p.jobs[0].Tasks[i].Attempts...)
			}
		}},
		{"R24", "n6", "network-in", "mapred.compress.map.output = true, mapred.map.output.compression.codec = " + fastCodec, func(p *testRun) {
			p.use("n6", "network-in", func(u *Usage) { u.Busy, u.InService = 0.99, u.InService*0.99/0.6 })
		}},
		{"R25", "", "", "even partitions", func(p *testRun) {
			last := &p.jobs[0].Tasks[len(p.jobs[0].Tasks)-1].Attempts[0]
			last.ShuffleBytes, last.InBytes = 900*mb, 900*mb
			p.slow(3, func(a *workload.HistoryAttempt) bool { return a == last }, workload.PhaseShuffle, workload.PhaseReduce)
		}},
	} {
		p := newTestRun()
		c.testRun(p)
		d := p.diagnose(t)
		fmt.Fprintf(&text, "# %s %s %s: %s\n", c.rule, c.node, c.device, c.change)
		if err := d.Text(&text, true); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(d.Findings, func(f Finding) bool { return f.Rule == c.rule })
		if i < 0 {
			t.Errorf("%s does not hold: %d findings", c.rule, len(d.Findings))
			for _, f := range d.Findings {
				t.Logf("  %s %s %s: %s", f.Rule, f.Node, f.Device, f.Evidence)
			}
			continue
		}
		f := d.Findings[i]
		if f.Node != c.node || f.Device != c.device || f.Change == nil || f.Change.Text != c.change {
			t.Errorf("%s: %s %s %+v, want %s %s %s", c.rule, f.Node, f.Device, f.Change, c.node, c.device, c.change)
		}
		for _, f := range d.Findings { // hardware that is in order is not named
			if (f.Rule == "R16" || f.Rule == "R17" || f.Rule == "R18") && (f.Rule != c.rule || f.Node != c.node) {
				t.Errorf("%s planted, but %s names %s %s: %s", c.rule, f.Rule, f.Node, f.Device, f.Evidence)
			}
		}
	}
	golden(t, "planted.txt", text.Bytes())
}

// Where few maps read from another rack and take most of the time that is lost, the
// links of racks are the change; where many read from their own rack, replicas.
func TestRemoteReads(t *testing.T) {
	for _, c := range []struct {
		slow workload.Locality // of the maps that take longer
		want string
	}{{workload.OffRack, "rack links without a limit"}, {workload.RackLocal, "dfs.replication = 4"}} {
		p := newTestRun()
		p.question = &model.WhatIf{Cluster: model.Cluster{Nodes: slices.Repeat([]model.Node{{MapSlots: 4, ReduceSlots: 4}}, 10), Machines: []model.Machine{{Uplink: 1e8}}, Racks: []string{"r1", "r2"}}}
		p.each(func(a *workload.HistoryAttempt) {
			switch {
			case a.Task%20 == 0:
				a.Locality = workload.OffRack
			case a.Task%4 == 0:
				a.Locality = workload.RackLocal
			}
		})
		p.slow(9, func(a *workload.HistoryAttempt) bool { return a.Kind == workload.Map && a.Locality == c.slow }, workload.PhaseRead)
		d := p.diagnose(t)
		i := slices.IndexFunc(d.Findings, func(f Finding) bool { return f.Rule == "R22" })
		if i < 0 || d.Findings[i].Change.Text != c.want {
			t.Errorf("%v maps are slow: finding %d of %+v, want %s", c.slow, i, d.Findings, c.want)
		}
	}
}

// One slot a node is unusually few, if reduces wait for it, and more slots than cores are
// unusually many.
func TestSlotsAndCores(t *testing.T) {
	for _, c := range []struct {
		kind           workload.Kind
		slots, reduces int
		down, up       float64
		to             string
	}{
		{workload.Map, 1, 0, weightUsual, weightUnusual, "2 times as many map slots"}, {workload.Map, 4, 0, weightUsual, weightBought, ""}, {workload.Map, 32, 0, weightUnusual, weightBought, "0.25 times as many map slots"},
		{workload.Reduce, 1, 10, weightUsual, weightBought, ""}, {workload.Reduce, 1, 11, weightUsual, weightUnusual, "2 times as many reduce slots"}, {workload.Reduce, 2, 30, weightUsual, weightBought, ""},
	} {
		q := model.WhatIf{Cluster: model.Cluster{Nodes: slices.Repeat([]model.Node{{MapSlots: c.slots, ReduceSlots: c.slots}}, 10), Machines: []model.Machine{{Cores: 8}}}, Jobs: []workload.Job{{Reduces: workload.ReduceTasks{Count: c.reduces}}}}
		l, to := slotsLever(&q, c.kind), ""
		if len(l.to) > 0 {
			to = l.to[0].Text
		}
		if l.step(-1).weight != c.down || l.step(1).weight != c.up || to != c.to {
			t.Errorf("%+v: weights %v and %v, %q", c, l.step(-1).weight, l.step(1).weight, to)
		}
	}
}

// The rate of a device is compared with that of its peers when they have as many
// requests: a disk that is 44 % slower is found so though it has more of them.
func TestRates(t *testing.T) {
	p := newTestRun()
	p.use("n3", "disk0", func(u *Usage) {
		u.InService = min(2.4, u.InService+0.6)
		u.Rate = 0.56 * 0.6 / u.InService
	})
	found := false
	for _, d := range newResources(p.resources).rates() {
		want := 1.0
		if d.node == "n3" && d.device == "disk0" {
			want, found = 0.56, true
		}
		if math.Abs(d.rate-want) > 0.03 {
			t.Errorf("%s of %s: rate %.3f, want %.2f", d.device, d.node, d.rate, want)
		}
	}
	if !found {
		t.Error("no rate of disk0 of n3")
	}
}

// A phase is compared with what its own bytes lead to expect: a map with four
// times the bytes is no outlier, one whose read takes three times as long is.
func TestPhaseOutliers(t *testing.T) {
	p := newTestRun()
	large, slow := &p.jobs[0].Tasks[7].Attempts[0], 13
	large.InBytes, large.HDFSReadBytes, large.OutBytes, large.InRecords = 4*large.InBytes, 4*large.HDFSReadBytes, 4*large.OutBytes, 4*large.InRecords
	p.slow(4, func(a *workload.HistoryAttempt) bool { return a == large }, workload.PhaseRead, workload.PhaseMap, workload.PhaseSpill)
	p.slow(3, func(a *workload.HistoryAttempt) bool { return a.Kind == workload.Map && a.Task == slow }, workload.PhaseRead)
	var found []string
	for _, o := range p.diagnose(t).Jobs[0].Outliers {
		if o.Phase == "" || o.Stage != "map" {
			continue
		}
		found = append(found, o.Task+" "+o.Phase)
		took := o.Time.Seconds() / o.Expected.Seconds()
		if math.Abs(took-3) > 0.4 || o.Limit <= o.Expected || o.Time <= o.Limit {
			t.Errorf("%+v: %.2f times what was expected, want 3", o, took)
		}
	}
	if !slices.Equal(found, []string{"j/m/13 read"}) {
		t.Errorf("%v, want the read of j/m/13", found)
	}
}

// Algorithm 1: the critical tasks of a slow node, that they share it, the disk
// that is busy there, and the phase that takes their time.
func TestCorrelations(t *testing.T) {
	p := newTestRun()
	p.use("n2", "disk0", func(u *Usage) { u.Busy = 0.97 })
	p.slow(12, func(a *workload.HistoryAttempt) bool {
		return a.Kind == workload.Map && a.Node == "n2" && a.Task >= 160
	}, workload.PhaseSpill)
	var got []string
	for _, c := range p.diagnose(t).Jobs[0].Correlations {
		if c.Stage == "map" {
			got = append(got, strings.Join([]string{c.Kind, c.Scope, c.Node, c.Subject, c.Class}, " "))
		}
	}
	for _, want := range []string{
		"task-task inter n2 time over", "task-task intra n2 node same-node", "task-resource inter n2 disk0 over", "task-resource inter n2 disk0 saturated",
		"phase-phase intra n2 spill share", "resource-resource inter n2 disk0 over", "resource-resource intra n2 disk0 saturated",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, slices.Compact(got))
		}
	}
}

// A node that is slow in every job stands out over the cluster.
func TestClusterCorrelation(t *testing.T) {
	p := newTestRun()
	p.slow(2, on("n3", workload.Map), workload.PhaseMap, workload.PhaseRead)
	c := p.diagnose(t).Correlations
	if len(c) != 1 || c[0].Node != "n3" || c[0].Job != allNodes || c[0].Class != "over" {
		t.Errorf("%+v, want n3", c)
	}
}

func TestThresholdsFile(t *testing.T) {
	got, err := ReadThresholds("limits.toml", "still = 20\nsort_spill = 0.5\n")
	want := DefaultThresholds()
	want.Still, want.SortSpill = 20, 0.5
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"still = 1\nstil = 2\n":     "limits.toml:2: got unknown key stil: want still",
		"a = 1\nlost = -1\n":        "limits.toml:2: lost: got -1: want 0 or more",
		"[a]\nx = 1\ny = 2\n":       "limits.toml:1: got unknown key a: want ",
		"still = \n":                "limits.toml:1:",
		"still = 1\nlost = \"x\"\n": "limits.toml",
	} {
		if _, err := ReadThresholds("limits.toml", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
	// Each threshold takes 0 and more, and is suggested if its last letter is missing.
	for _, name := range thresholdNames() {
		for value, want := range map[string]float64{"0": 0, "1": 1, "1e300": 1e300} {
			if got, err := ReadThresholds("limits.toml", name+" = "+value); err != nil || got != with(name, want) {
				t.Errorf("%s = %s: %+v, %v", name, value, got, err)
			}
		}
		for _, value := range []string{"-1e-300", "-1", "inf", "nan", "true", `"1"`} {
			if _, err := ReadThresholds("limits.toml", name+" = "+value); err == nil {
				t.Errorf("%s = %s: no error", name, value)
			}
		}
		text := name[:len(name)-1] + " = 1"
		if _, err := ReadThresholds("limits.toml", text); err == nil || !strings.HasSuffix(err.Error(), ": want "+name) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The table of rules is complete and in order.
func TestRuleTable(t *testing.T) {
	for i, r := range rules {
		if want := fmt.Sprintf("R%02d", i+1); r.id != want {
			t.Errorf("rule %d is %s, want %s", i, r.id, want)
		}
		if r.cause == "" || r.evidence == "" || r.change == "" || r.find == nil || (r.basis == "P") != (i < 14) || (r.fires != nil) != (i < 14) {
			t.Errorf("%s is not complete: %+v", r.id, r)
		}
	}
}

// A million attempts take seconds and little memory beside the history itself.
func TestMillionAttempts(t *testing.T) {
	if testing.Short() {
		t.Skip("a million attempts")
	}
	const tasks, jobs = 1000, 1000
	in := Input{Jobs: func(yield func(*workload.HistoryJob) bool) {
		for j := range jobs {
			h := workload.HistoryJob{ID: fmt.Sprint("j", j), Submit: time.Duration(j) * s, Finish: time.Duration(j+200) * s}
			r := rand.New(rand.NewPCG(uint64(j), 1))
			for i := range tasks {
				a := workload.HistoryAttempt{Attempt: workload.Attempt{Job: h.ID, Task: i, Node: fmt.Sprint("n", i%100), Slot: i / 100 % 8}}
				a.Runnable, a.Start = h.Submit, h.Submit+time.Duration(r.IntN(100))*s
				a.Phases[workload.PhaseRead], a.Phases[workload.PhaseMap] = time.Duration(r.IntN(9))*s, 10*s
				a.InBytes, a.InRecords = int64(a.Phases[workload.PhaseRead]), 1000
				a.Finish = a.Start + a.Phases[workload.PhaseRead] + a.Phases[workload.PhaseMap]
				h.Tasks = append(h.Tasks, workload.HistoryTask{Number: i, Attempts: []workload.HistoryAttempt{a}})
			}
			if !yield(&h) {
				return
			}
		}
	}}
	defer debug.SetGCPercent(debug.SetGCPercent(40)) // as the verb does
	// Memory that earlier tests had is given back first: their order decides nothing.
	debug.FreeOSMemory()
	before := heldHeap()
	start := time.Now()
	d, err := Run(context.Background(), in, DefaultOptions())
	if err != nil || len(d.Jobs) != jobs {
		t.Fatal(err)
	}
	took := heldHeap() - before
	t.Logf("%.1f s, %d MB of heap from the system", time.Since(start).Seconds(), took>>20)
	if took > 500<<20 {
		t.Errorf("%d MB, want less than 500 with the garbage", took>>20)
	}
}

// heldHeap is the memory of the heap, in bytes, that the system has not got back.
func heldHeap() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapSys - m.HeapReleased)
}

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares what people read with a file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	vectortest.Lines(t, filepath.Join("testdata", name), string(got), *update)
}

// Explanations of maps and reduces, with and without the offers of the run.
func TestExplainTexts(t *testing.T) {
	var text bytes.Buffer
	w := offeredWorld()
	for _, in := range []Input{w.input(), {Jobs: w.input().Jobs, Question: w.question}} {
		for _, what := range []Explained{{Task: "a/m/0"}, {Task: "b/m/0"}, {Task: "b/r/0"}, {Task: "b/setup"}, {Node: "n1", At: 30 * s}, {Node: "n2", At: 6 * s}} {
			if what.Task == "" && len(in.Offers) == 0 {
				continue
			}
			fmt.Fprintf(&text, "# %+v\n", what)
			if err := Explain(&text, in, what); err != nil {
				t.Fatal(err)
			}
		}
	}
	golden(t, "explain.txt", text.Bytes())
}

// offeredWorld is a job that waits for another one, and the offers meanwhile.
func offeredWorld() *world {
	w := &world{question: slotsOf(2, "n1", "n2")}
	w.question.Scheduler.Name = "fair2"
	w.job("a", 0, 60*s)
	w.attempt(workload.Map, "n1", 0, 1*s, 2*s, 28*s)
	w.attempt(workload.Map, "n1", 1, 1*s, 2*s, 29*s)
	w.attempt(workload.Map, "n2", 0, 1*s, 5*s, 31*s)
	w.attempt(workload.Map, "n2", 1, 1*s, 30*s, 58*s)
	w.job("b", 10*s, 95*s)
	w.attempt(workload.Setup, "n1", 0, 29*s, 29*s, 31*s).Locality = workload.NoLocality
	a := w.attempt(workload.Map, "n2", 0, 32*s, 33*s, 58*s)
	a.Phases[workload.PhaseStartup], a.Phases[workload.PhaseMap] = 1*s, 24*s
	a = w.attempt(workload.Reduce, "n1", 2, 58*s, 60*s, 90*s)
	a.Locality = workload.NoLocality
	a.Phases[workload.PhaseStartup], a.Phases[workload.PhaseShuffle], a.Phases[workload.PhaseReduce] = 1*s, 9*s, 20*s
	asked := func(job string, task int, reason model.Reason, delay, waited time.Duration) model.Asked {
		return model.Asked{Job: job, Kind: workload.Map, Task: task, Reason: reason, Figures: model.Figures{Pool: job, Share: 1.5, Running: 2, Demand: 4, Delay: delay, Waited: waited}}
	}
	w.offers = []model.Offer{
		{Time: 5 * s, Node: "n2", Free: [2]int{2, 2}, Waiting: [2]int{1}, Reason: [2]model.Reason{model.LocalityWait, model.NothingWaiting}, Asked: []model.Asked{
			asked("a", 2, model.NotDeclined, 3*s, 2*s), asked("a", -1, model.LocalityWait, 3*s, 1*s),
		}},
		{Time: 30 * s, Node: "n1", Free: [2]int{1, 2}, Waiting: [2]int{2}, Reason: [2]model.Reason{model.AtUserLimit, model.NothingWaiting}, Asked: []model.Asked{
			asked("b", -1, model.AtUserLimit, 0, 0), asked("a", -1, model.BehindOthers, 0, 0),
		}},
		{Time: 33 * s, Node: "n2", Free: [2]int{1, 2}, Waiting: [2]int{1}, Asked: []model.Asked{asked("b", 0, model.NotDeclined, 5*s, 2*s)}},
	}
	return w
}
