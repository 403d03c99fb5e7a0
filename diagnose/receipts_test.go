package diagnose

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// fakePredictor takes 100 s, times noise that depends on the seed alone, less the
// gain of each property that a job sets; its own noise is what pairs do not share.
type fakePredictor struct {
	gains map[string]float64
	own   float64
	runs  atomic.Int32
	fails bool
}

func (p *fakePredictor) Predict(q model.WhatIf) (model.Prediction, error) {
	p.runs.Add(1)
	if p.fails {
		return model.Prediction{}, errors.New("does not answer")
	}
	common := 1 + 0.2*rand.New(rand.NewPCG(q.Seed, 1)).Float64()
	took := 100 * common
	for i, key := range q.Jobs[0].Conf.Keys() {
		took *= 1 - p.gains[key] + p.own*rand.New(rand.NewPCG(q.Seed, uint64(2+i))).NormFloat64()
	}
	t := workload.Seconds(took)
	return model.Prediction{Mean: t, Jobs: []model.JobOutcome{{ID: "j", Finish: t}}}, nil
}

func newVerifier(p model.Predictor) *verifier {
	return &verifier{
		Verification: DefaultVerification(p), ctx: context.Background(), least: 0.02,
		base: model.WhatIf{Seed: 7, Jobs: []workload.Job{{ID: "j"}}},
	}
}

func TestReceipts(t *testing.T) {
	s := &scene{job: &job{id: "j"}}
	for _, c := range []struct {
		gain, own float64
		want      Outcome
		pairs     int
		note      string
	}{
		{0.10, 0, Confirmed, 5, ""},
		{0.01, 0, Withdrawn, 5, "gains only 1.0 % ± 0.0: leave it"},
		{0, 0, Withdrawn, 5, "leave it"},
		{-0.2, 0.001, Withdrawn, 5, "gains -20"},
		{0.5, 0.1, Confirmed, 20, ""},
		{0.01, 0.2, Withdrawn, 20, "leave it"},
	} {
		p := &fakePredictor{gains: map[string]float64{"io.sort.mb": c.gain}, own: c.own}
		v := newVerifier(p)
		r := v.test(s.setConf("io.sort.mb", "200"), "j", false)
		if r.Outcome != c.want || r.Pairs != c.pairs || !strings.Contains(r.Note, c.note) {
			t.Errorf("gain %v with noise %v: %+v, want %s after %d pairs, %q", c.gain, c.own, r, c.want, c.pairs, c.note)
		}
		if c.own == 0 && (math.Abs(r.Gain-c.gain) > 1e-9 || r.High-r.Low > 1e-9) {
			t.Errorf("gain %v: %+v: noise that both runs share is not the gain's", c.gain, r)
		}
		if int(p.runs.Load()) != 2*r.Pairs {
			t.Errorf("%d runs for %d pairs", p.runs.Load(), r.Pairs)
		}
		if v.base.Jobs[0].Conf.Keys() != nil {
			t.Error("the base was changed")
		}
	}
}

// The interval covers the true gain in 95 of 100 changes; of 400 at most 1 in
// 10,000 would miss more than 38.
func TestReceiptsCover(t *testing.T) {
	s := &scene{job: &job{id: "j"}}
	missed := 0
	for seed := range uint64(400) {
		v := newVerifier(&fakePredictor{gains: map[string]float64{"io.sort.mb": 0.1}, own: 0.02})
		v.base.Seed = 1000 * seed
		v.HalfWidth = 0 // a fixed number of pairs
		if r := v.test(s.setConf("io.sort.mb", "200"), "j", false); r.Low > 0.1 || r.High < 0.1 {
			missed++
		}
	}
	if missed > 38 {
		t.Errorf("%d of 400 intervals miss the gain, want about 20", missed)
	}
}

// A finding whose change gains nothing gets the next one that does, and keeps its
// own if none does.
func TestOtherChanges(t *testing.T) {
	s := &scene{job: &job{id: "j"}}
	const useful = "io.sort.factor"
	first, second, third := s.setConf("io.sort.mb", "200"), s.setConf("io.sort.record.percent", "0.2"), s.setConf(useful, "100")
	for _, c := range []struct {
		change *Change
		others []*Change
		want   *Change
		result Outcome
		runs   int32
	}{
		{first, []*Change{second, third}, third, Confirmed, 20},
		{third, []*Change{first}, third, Confirmed, 10},
		{first, []*Change{second}, first, Withdrawn, 15},
	} {
		p := &fakePredictor{gains: map[string]float64{useful: 0.1}}
		f := []Finding{{Job: "j", Change: c.change, others: c.others}}
		newVerifier(p).testAll(f)
		if f[0].Change != c.want || f[0].Receipt.Outcome != c.result || p.runs.Load() != c.runs {
			t.Errorf("%s %+v in %d runs, want %s %s in %d", f[0].Change.Text, f[0].Receipt, p.runs.Load(), c.want.Text, c.result, c.runs)
		}
	}
}

func TestReceiptsUntested(t *testing.T) {
	s := &scene{job: &job{id: "j"}}
	change := s.setConf("io.sort.mb", "200")
	v := newVerifier(&fakePredictor{})
	for _, c := range []struct {
		receipt Receipt
		note    string
	}{
		{v.test(nil, "j", false), "no change"},
		{v.test(repair("n1", "disk0"), "j", true), "node n1 is not in the cluster"},
		{v.test(change, "other", false), "job other does not end"},
		{newVerifier(&fakePredictor{fails: true}).test(change, "j", false), "does not answer"},
	} {
		if c.receipt.Outcome != Untested || !strings.Contains(c.receipt.Note, c.note) {
			t.Errorf("%+v, want untested: %s", c.receipt, c.note)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	v.ctx, v.bases = ctx, nil
	if r := v.test(change, "j", false); r.Outcome != Untested || r.Note != "the budget of tasks is used up" {
		t.Errorf("%+v, want no time left", r)
	}
}

// A base that is off from what was recorded widens the interval, and withdraws
// advice on devices beyond 10 %.
func TestReceiptsMeasured(t *testing.T) {
	s := &scene{job: &job{id: "j"}}
	for _, c := range []struct {
		measured float64
		device   bool
		want     Outcome
	}{{105, true, Confirmed}, {105, false, Confirmed}, {200, true, Withdrawn}, {200, false, Confirmed}} {
		v := newVerifier(&fakePredictor{gains: map[string]float64{"io.sort.mb": 0.1}})
		v.Measured = map[string]time.Duration{"j": workload.Seconds(c.measured)}
		r := v.test(s.setConf("io.sort.mb", "200"), "j", c.device)
		if r.Outcome != c.want || !(r.High-r.Low > 0.001) {
			t.Errorf("recorded %v s, device %v: %+v, want %s with a wider interval", c.measured, c.device, r, c.want)
		}
		base := 0.0
		for _, times := range v.bases {
			base += times["j"].Seconds() / float64(len(v.bases))
		}
		e := max(0.26, math.Abs(base/c.measured-1)) // a base off by less does not narrow it
		if low, high := 1-0.9*math.Exp(e), 1-0.9*math.Exp(-e); math.Abs(r.RealLow-low) > 0.01 || math.Abs(r.RealHigh-high) > 0.01 {
			t.Errorf("recorded %v s: %.3f to %.3f on the recorded cluster, want %.3f to %.3f", c.measured, r.RealLow, r.RealHigh, low, high)
		}
	}
}

// Changes are edits of a copy: the question that they are given stays.
func TestChanges(t *testing.T) {
	node := func(name string, machine int) model.Node {
		return model.Node{Name: name, Machine: machine, MapSlots: 2, ReduceSlots: 2, Slowness: 1}
	}
	disk := model.Disk{Read: 100e6, Write: 100e6}
	slow := model.Disk{Read: 50e6, Write: 50e6}
	q := model.WhatIf{
		Jobs: []workload.Job{{ID: "j", Maps: workload.MapTasks{Count: 10, Splits: make([]workload.Split, 10)}, Reduces: workload.ReduceTasks{Count: 4, Shares: []float64{1, 0, 0, 0}}}},
		Cluster: model.Cluster{
			Nodes:    []model.Node{node("n0", 0), node("n1", 0), node("n2", 1)},
			Machines: []model.Machine{{Disks: []model.Disk{disk, disk}, NIC: 100e6, Speed: 1}, {Disks: []model.Disk{slow, disk}, NIC: 50e6, Speed: 0.5}},
			Loads:    []model.Load{{Node: 0, Device: model.LoadDisk, Share: 0.5}, {Node: 1, Device: model.LoadCPU, Share: 1}},
		},
		Scheduler: model.Scheduler{Name: "fifo"},
	}
	s := &scene{job: &job{id: "j"}}
	machine := func(q model.WhatIf) model.Machine { return q.Cluster.Machines[q.Cluster.Nodes[2].Machine] }
	for _, c := range []struct {
		change *Change
		holds  func(q model.WhatIf) bool
	}{
		{repair("n2", "disk0"), func(q model.WhatIf) bool { return machine(q).Disks[0] == disk && machine(q).NIC == 50e6 }},
		{repair("n2", "network-in"), func(q model.WhatIf) bool { return machine(q).NIC == 100e6 && machine(q).Disks[0] == slow }},
		{repair("n2", "cpu"), func(q model.WhatIf) bool { return machine(q).Speed == 1 && machine(q).Disks[0] == slow }},
		{unload("n0", "disk1", false), func(q model.WhatIf) bool { return len(q.Cluster.Loads) == 1 && q.Cluster.Loads[0].Node == 1 }},
		{unload("n1", "", true), func(q model.WhatIf) bool { return len(q.Cluster.Loads) == 1 && q.Cluster.Loads[0].Node == 0 }},
		{s.setReduces(8), func(q model.WhatIf) bool { return q.Jobs[0].Reduces.Count == 8 && q.Jobs[0].Reduces.Shares == nil }},
		{s.evenReduces(), func(q model.WhatIf) bool { return q.Jobs[0].Reduces.Shares == nil }},
		{s.combineSplits(4), func(q model.WhatIf) bool { return q.Jobs[0].Maps.Count == 3 && len(q.Jobs[0].Maps.Splits) == 3 }},
		{shareSlots(), func(q model.WhatIf) bool { return q.Cluster.SharedSlots }},
		{setScheduler("fair2"), func(q model.WhatIf) bool { return q.Scheduler.Name == "fair2" }},
		{join([]*Change{setScheduler("fair2"), shareSlots()}), func(q model.WhatIf) bool { return q.Cluster.SharedSlots && q.Scheduler.Name == "fair2" }},
	} {
		got, err := c.change.Edit(q)
		if err != nil || !c.holds(got) {
			t.Errorf("%s: %v, %+v", c.change.Text, err, got)
		}
		if c.holds(q) {
			t.Errorf("%s changed the question itself", c.change.Text)
		}
	}
	for _, c := range []*Change{
		repair("n0", "disk0"), repair("n9", "cpu"), unload("n2", "disk0", false), unload("n0", "", true), s.setReduces(4),
		noFailures(), freeCopies(),
	} {
		if _, err := c.Edit(q); err == nil {
			t.Errorf("%s: no error though there is nothing to change", c.Text)
		}
	}
	if !slices.Equal(q.Cluster.Loads, []model.Load{{Node: 0, Device: model.LoadDisk, Share: 0.5}, {Node: 1, Device: model.LoadCPU, Share: 1}}) {
		t.Error("the loads of the question were changed")
	}
}
