package diagnose

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// An account proposes the keys that act on it: a key that gains is found where the
// account has 5 % of the time, and not where it has less, or where the budget is over.
func TestProposals(t *testing.T) {
	for _, c := range []struct {
		key      string
		shuffles bool
		budget   int64
		want     string
	}{
		{"mapred.reduce.parallel.copies", true, 0, "mapred.reduce.parallel.copies = 20"},
		{"mapred.reduce.parallel.copies", false, 0, ""},
		{"mapred.reduce.parallel.copies", true, 200, ""},
		{"mapred.submit.replication", true, 0, ""},
	} {
		p := newTestRun()
		p.question = &model.WhatIf{
			Fidelity: model.Phase, Jobs: []workload.Job{{ID: "j", Maps: workload.MapTasks{Count: 60}, Reduces: workload.ReduceTasks{Count: 40}}},
			Cluster: model.Cluster{Nodes: slices.Repeat([]model.Node{{MapSlots: 4, ReduceSlots: 4}}, 10)},
		}
		if !c.shuffles {
			p.jobs[0].Tasks = p.jobs[0].Tasks[:200]
			p.close()
		}
		in := p.input()
		in.Question = p.question
		o := DefaultOptions()
		o.Verify = DefaultVerification(&fakePredictor{gains: map[string]float64{c.key: 0.1}})
		o.Verify.Budget = c.budget
		d, err := Run(context.Background(), in, o)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range d.Findings {
			if f.Rule == keyRule && f.Receipt.Outcome == Confirmed {
				got = f.Change.Text
			}
		}
		if got != c.want {
			t.Errorf("%+v: proposed %q, want %q", c, got, c.want)
		}
	}
}

// A node unlike its peers is tested in pairs although its fault costs nothing with the
// seed of the run.
func TestUnusualInPairs(t *testing.T) {
	p := newTestRun()
	p.question = &model.WhatIf{Jobs: []workload.Job{{ID: "j"}}, Cluster: model.Cluster{Nodes: slices.Repeat([]model.Node{{MapSlots: 4, ReduceSlots: 4}}, 10)}}
	p.question.Cluster.Nodes[3].Name, p.question.Cluster.Nodes[3].Dies = "n3", 100*s
	in := p.input()
	in.Question = p.question
	o := DefaultOptions()
	o.Verify = DefaultVerification(mortal{})
	d, err := Run(context.Background(), in, o)
	if err != nil || !slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Node == "n3" && f.Receipt.Outcome == Confirmed }) {
		t.Errorf("%+v, %v: want n3 confirmed", d, err)
	}
}

// Of a key with an unusual value the search returns the change of this value, unless it
// cannot be made or another change like it gains more, however little.
func TestSearchUnusual(t *testing.T) {
	to := func(key string, weight float64, err error) *Change {
		return edited(key, key, func(q *model.WhatIf) error { q.Jobs[0].Conf.Set(key, "1"); return err }).weigh(weight)
	}
	refused := errors.New("there is nothing to change")
	for i, c := range []struct {
		to   []*Change
		want string
	}{
		{[]*Change{to("nothing", weightUnusual, nil)}, "nothing"},
		{[]*Change{to("nothing", weightUsual, nil)}, ""},
		{[]*Change{to("nothing", weightUnusual, refused)}, ""},
		{[]*Change{to("loss", weightUnusual, nil), to("little", weightUnusual, nil)}, "little"},
		{[]*Change{to("nothing", weightUnusual, nil), to("little", weightUsual, nil)}, "nothing"},
	} {
		v := newVerifier(&fakePredictor{gains: map[string]float64{"loss": -0.3, "little": 0.005}})
		got := ""
		for _, s := range v.search([]lever{{to: c.to}}) {
			got += s.change.Text
		}
		if got != c.want {
			t.Errorf("case %d: the search returned %q, want %q", i, got, c.want)
		}
	}
}

// A proposal is left where a rule has a change of its key that ranks nearly as high. The
// same gain by more hardware ranks lower.
func TestWithProposals(t *testing.T) {
	finding := func(weight, gain float64) Finding {
		return Finding{Change: &Change{Key: "network.nic_mb"}, weight: weight, Receipt: Receipt{Outcome: Confirmed, ranked: gain}}
	}
	proposed := []Finding{finding(weightUnusual, 0.7)}
	for weight, want := range map[float64]int{weightUnusual: 1, weightBought: 2} {
		if got := withProposals([]Finding{finding(weight, 0.6)}, proposed); len(got) != want {
			t.Errorf("weight %v: got %d findings, want %d", weight, len(got), want)
		}
	}
}

// Of alternatives for one cause one counts. The same setting of two jobs is two changes, and
// so is the limit of two pools.
func TestTogether(t *testing.T) {
	q := model.WhatIf{Scheduler: model.Scheduler{Pools: []model.Pool{{Name: "a", Mode: "fifo", Weight: 1}, {Name: "b", Mode: "fifo", Weight: 1}}}}
	pools := limitsOf(&q)
	job := func(id, rule string, c *Change) Finding { return Finding{Job: id, Rule: rule, Change: c} }
	pool := func(l *lever) Finding {
		f := l.finding(&uses{}, &Diagnosis{Jobs: make([]JobDiagnosis, 2)}, l.to[0])
		f.Receipt.Outcome = Confirmed
		return f
	}
	for name, c := range map[string]struct {
		findings []Finding
		want     int
	}{
		"two values of a key": {[]Finding{job("j", "R11", &Change{Text: "k = 1", Key: "k"}), job(meanJob, keyRule, &Change{Text: "k = 2", Key: "k"})}, 1},
		"two jobs":            {[]Finding{job("i", "R03", &Change{Text: "k = 1", Key: "k"}), job("j", "R03", &Change{Text: "k = 1", Key: "k"})}, 2},
		"two rules":           {[]Finding{job("j", "R01", &Change{Text: "n repaired"}), job("j", "R09", &Change{Text: "n repaired"})}, 1},
		"one cluster":         {[]Finding{job("i", "R07", &Change{Text: "c", Key: "cluster.c"}), job("j", "R07", &Change{Text: "c", Key: "cluster.c"})}, 1},
		"two pools":           {[]Finding{pool(&pools[0]), pool(&pools[1])}, 2},
	} {
		for i := range c.findings {
			c.findings[i].Receipt.Outcome = Confirmed
		}
		if got := together(c.findings); len(got) != c.want {
			t.Errorf("%s: got %d changes: want %d", name, len(got), c.want)
		}
	}
	if got := withProposals(nil, []Finding{pool(&pools[0]), pool(&pools[1])}); len(got) != 2 {
		t.Errorf("got %d proposals of two pools", len(got))
	}
}

// mortal takes longer if n3 dies, except with the first seed.
type mortal struct{}

func (mortal) Predict(q model.WhatIf) (model.Prediction, error) {
	length := 100 * s
	if q.Seed > 0 && q.Cluster.Nodes[3].Dies > 0 {
		length = 130 * s
	}
	return model.Prediction{Mean: length, Jobs: []model.JobOutcome{{ID: "j", Finish: length}}}, nil
}

// Levers change a copy: nodes unlike their peers, limits, and what a machine can hold.
func TestLevers(t *testing.T) {
	three := 3
	q := model.WhatIf{
		Fidelity: model.Device,
		Jobs:     []workload.Job{{ID: "j", Maps: workload.MapTasks{Count: 9}, Reduces: workload.ReduceTasks{Count: 4}}},
		Cluster: model.Cluster{
			Nodes:    []model.Node{{Name: "a", MapSlots: 4}, {Name: "b", MapSlots: 4}, {Name: "c", MapSlots: 4, Machine: 1}, {Name: "d", MapSlots: 4}, {Name: "e", MapSlots: 4}},
			Machines: []model.Machine{{Memory: 48e9}, {Memory: 48e9, Speed: 0.5}},
			Loads:    []model.Load{{Node: 2, Share: 0.5}},
		},
		Scheduler: model.Scheduler{Name: "fair2", Pools: []model.Pool{{Name: "etl", MaxMaps: &three, MinMaps: 2, Weight: 0.1}}},
	}
	q.Jobs[0].Conf.Set("mapred.child.java.opts", "-Xmx1400m")
	q.Cluster.Conf.Set("bouncer.cookie.domain", "example.com") // of a recorded job
	q.Scheduler.Conf.Set("userMaxJobsDefault", "2")
	q.Scheduler.Conf = q.Cluster.Conf.Over(q.Scheduler.Conf)
	whole := model.Queue{Name: "default"}
	whole.Conf.Set("capacity", "100")
	q.Scheduler.Queues = []model.Queue{whole}
	for _, l := range levers(&q) {
		if strings.Contains(l.key, "bouncer") || strings.HasPrefix(l.key, "scheduler.queue.capacity") {
			t.Errorf("%s is a lever: want no property of another program, and not all of the cluster as a limit", l.key)
		}
	}
	find := func(key string) *lever {
		list := levers(&q)
		i := slices.IndexFunc(list, func(l lever) bool { return l.key == key })
		if i < 0 {
			t.Fatalf("no lever for %s", key)
		}
		return &list[i]
	}
	alike, err := find("node c").to[0].Edit(q)
	if n := alike.Cluster.Nodes[2]; err != nil || n.Machine != 0 || n.Name != "c" || len(alike.Cluster.Loads) > 0 || len(q.Cluster.Loads) == 0 {
		t.Errorf("node c like the others: %+v, %v", alike.Cluster, err)
	}
	free, err := find("scheduler.pool.max_maps of etl").to[0].Edit(q)
	if err != nil || free.Scheduler.Pools[0].MaxMaps != nil || q.Scheduler.Pools[0].MaxMaps == nil {
		t.Errorf("without the limit of the pool: %+v, %v", free.Scheduler, err)
	}
	if free, err := find("scheduler.userMaxJobsDefault").to[0].Edit(q); err != nil || free.Scheduler.Conf.String("userMaxJobsDefault", "") != "" {
		t.Errorf("without the limit of users: %+v, %v", free.Scheduler, err)
	}
	for key, weight := range map[string]float64{"weight": weightUnusual, "min_maps": weightSet} {
		change := find("scheduler.pool." + key + " of etl").to[0]
		if equal, err := change.Edit(q); err != nil || change.weight != weight || key == "weight" && equal.Scheduler.Pools[0].Weight != 1 || key == "min_maps" && equal.Scheduler.Pools[0].MinMaps != 0 {
			t.Errorf("without %s of the pool: %+v, %v; weight of the change %v, want %v", key, equal.Scheduler, err, change.weight, weight)
		}
	}
	for name, weight := range map[string]float64{"fifo": weightUsual, "fair2": weightSet} { // Hadoop's default and another
		other := q
		other.Scheduler.Name = name
		list := levers(&other)
		if got := list[slices.IndexFunc(list, func(l lever) bool { return l.key == "scheduler.name" })].to[0].weight; got != weight {
			t.Errorf("another scheduler than %s has weight %v, want %v", name, got, weight)
		}
	}
	if other, err := find("cluster.hadoop").to[0].Edit(q); err != nil || other.Cluster.Hadoop != "0.20.2" || q.Cluster.Hadoop != "" {
		t.Errorf("another release: %q, %v", other.Cluster.Hadoop, err)
	}
	narrow := q
	narrow.Jobs = []workload.Job{{ID: "j", Maps: workload.MapTasks{Count: 1, InputBytes: 400 << 20}}}
	narrow.Cluster.Conf.Set("io.sort.mb", "4")
	for key, weights := range map[string][4]float64{ // of -2, -1, 1 and 2 steps, below or above what is usual
		"io.sort.mb": {0, 0, weightUnusual, weightUnusual}, "dfs.block.size": {weightUnusual, weightUnusual, 0, 0},
	} {
		list := levers(&narrow)
		l := list[slices.IndexFunc(list, func(l lever) bool { return l.key == key })]
		for i, steps := range []int{-2, -1, 1, 2} {
			got := 0.0
			if c := l.step(steps); c != nil {
				got = c.weight
			}
			if got != weights[i] {
				t.Errorf("%s by %d steps has weight %v, want %v", key, steps, got, weights[i])
			}
		}
	}
	if shared, err := find("cluster.shared_slots").to[0].Edit(q); err != nil || !shared.Cluster.SharedSlots || q.Cluster.SharedSlots {
		t.Errorf("shared slots: %v, %v", shared.Cluster.SharedSlots, err)
	}
	divided, err := find("dfs.block.size").step(-1).Edit(q)
	if m := divided.Jobs[0].Maps; err != nil || m.Count != 36 || q.Jobs[0].Maps.Count != 9 {
		t.Errorf("4 splits in place of each: %+v, %v", m, err)
	}
	slots := find("cluster.map_slots")
	if _, err := slots.step(2).Edit(q); err != nil { // 16 heaps of 1.4 GB
		t.Error(err)
	}
	if _, err := slots.step(4).Edit(q); err == nil || !strings.Contains(err.Error(), "the heaps of 64 slots need") {
		t.Errorf("64 heaps of 1.4 GB on 48 GB: error %v", err)
	}
	accounts := usesOf([]JobDiagnosis{{Ledger: []Step{{To: 3 * s, Account: sortSpill}, {From: 3 * s, To: 4 * s, Account: deviceSharing, Device: "uplink-in"}}}})
	for key, want := range map[string]string{"io.sort.mb": "sort and spill 0.75", "mapred.reduce.parallel.copies": "network 0.25", "mapred.tasktracker.expiry.interval": " 0"} {
		if name, part := accounts.largest(find(key)); fmt.Sprint(name, " ", part) != want {
			t.Errorf("%s acts on %s %v, want %s", key, name, part, want)
		}
	}
	busy := usesOf([]JobDiagnosis{{Ledger: []Step{{To: s, Account: deviceSharing, Device: "cpu"}}}})
	if _, part := busy.largest(find("mapred.output.compress")); part != 1 { // codecs take the processor
		t.Errorf("compressing the output acts on %v of the time of processors, want 1", part)
	}
}

// Nodes alike but for the loads of others are unlike their peers: c and d have the same
// load, which one change takes from both, and a has another.
func TestLeversOfLoads(t *testing.T) {
	q := model.WhatIf{Cluster: model.Cluster{
		Nodes: []model.Node{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}, {Name: "f"}},
		Loads: []model.Load{{Node: 2, Share: 0.5}, {Node: 0, Share: 0.25}, {Node: 3, Share: 0.5}},
	}}
	list := unlikePeers(&q)
	if len(list) != 2 || list[0].to[0].Text != "a like the other nodes" || list[1].to[0].Text != "c, d like the other nodes" {
		t.Fatalf("got %d levers %+v: want one for a, one for c and d", len(list), list)
	}
	if changed, err := list[1].to[0].Edit(q); err != nil || len(changed.Cluster.Loads) != 1 || changed.Cluster.Loads[0].Node != 0 {
		t.Errorf("c and d like the others: loads %+v, %v: want that of a", changed.Cluster.Loads, err)
	}
}

// Of two kinds of nodes equally many, the kind that comes first is the usual one. A kind of
// more than a quarter of the nodes is no fault, and a change names three of its nodes.
func TestLeversOfKinds(t *testing.T) {
	nodes := func(slow, all int) (list []model.Node) {
		for i := range all {
			n := model.Node{Name: fmt.Sprint("n", i), Slowness: 1}
			if i >= all-slow {
				n.Slowness = 2
			}
			list = append(list, n)
		}
		return list
	}
	for _, x := range []struct {
		slow, all int
		text      string
		weight    float64
	}{
		{1, 2, "n1 like the other nodes", weightUsual}, {2, 8, "n6, n7 like the other nodes", weightRepair}, {3, 8, "n5, n6, n7 like the other nodes", weightUsual},
		{4, 8, "n4, n5, n6 and 1 more like the other nodes", weightUsual},
	} {
		list := unlikePeers(&model.WhatIf{Cluster: model.Cluster{Nodes: nodes(x.slow, x.all)}})
		if len(list) != 1 || list[0].to[0].Text != x.text || list[0].to[0].weight != x.weight {
			t.Errorf("%d of %d: got %+v: want %s, weight %v", x.slow, x.all, list, x.text, x.weight)
		}
	}
}

// One lever gives all jobs with far too few or too many reduces another number; jobs
// with given times of reduces keep theirs, whatever proposes the change.
func TestNumberOfReduces(t *testing.T) {
	with := func(reduces int) workload.Job {
		return workload.Job{ID: fmt.Sprint("r", reduces), Maps: workload.MapTasks{Count: 100}, Reduces: workload.ReduceTasks{Count: reduces}}
	}
	q := model.WhatIf{
		Jobs:    []workload.Job{with(2), with(30), with(100), with(1)},
		Cluster: model.Cluster{Nodes: slices.Repeat([]model.Node{{ReduceSlots: 4}}, 10)},
	}
	q.Jobs[3].Reduces.Time.All = 10 * s
	list := fewOrMany(&q)
	if len(list) != 1 || list[0].to[0].Text != "mapred.reduce.tasks = 36 for r2 and 1 more" {
		t.Fatalf("got %d levers %+v: want one for r2 and r100", len(list), list)
	}
	for i, change := range []*Change{list[0].to[0], reducesLever().times(2)} {
		changed, err := change.Edit(q)
		var got []int
		for _, j := range changed.Jobs {
			got = append(got, j.Reduces.Count)
		}
		if want := [][]int{{36, 30, 36, 1}, {4, 60, 200, 1}}[i]; err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v reduces, %v: want %v", change.Text, got, err, want)
		}
	}
	given := scene{job: &job{id: "r1"}}
	if _, err := given.setReduces(18).Edit(q); err == nil {
		t.Error("another number of reduces with given times: no error")
	}
}

// A change of the cluster is simulated once for all jobs, and says what each gains.
func TestForAllJobs(t *testing.T) {
	p := &twoJobs{}
	v := newVerifier(p)
	v.base.Jobs = []workload.Job{{ID: "a"}, {ID: "b"}}
	change := edited("cluster.heartbeat", "heartbeat of 1s", func(q *model.WhatIf) error { q.Cluster.Heartbeat = 1; return nil })
	a, b := v.test(change, "a", false), v.test(change, "b", false)
	const want = "all jobs: mean -10.0 %, p95 +17.0 %, 1 faster, 1 slower, worst b by 20.0 s"
	if a.Outcome != Confirmed || a.Note != want || b.Outcome != Withdrawn || p.runs != 10 {
		t.Errorf("%+v and %+v in %d runs: want the first with %q, in 10 runs", a, b, p.runs, want)
	}
}

// twoJobs takes 100 s for each of two jobs, and with a heartbeat 60 s and 120 s.
type twoJobs struct{ runs int }

func (p *twoJobs) Predict(q model.WhatIf) (model.Prediction, error) {
	p.runs++
	a, b := 100*s, 100*s
	if q.Cluster.Heartbeat > 0 {
		a, b = 60*s, 120*s
	}
	return model.Prediction{Mean: b, Jobs: []model.JobOutcome{{ID: "a", Finish: a}, {ID: "b", Finish: b}}}, nil
}
