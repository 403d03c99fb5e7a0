package diagnose

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/workload"
)

// normalFacts returns facts on which no rule fires.
func normalFacts() facts {
	return facts{
		Kind: "map", Critical: 1, CPUNode: 0.8, CPUCluster: 0.8, IONodeRatio: 1, DiskNodeRatio: 1, DiskJobShare: 1,
		Spills: 1, MapsPending: true, SharedSlots: true, InputRatio: 1,
	}
}

// Each rule fires on its facts, and stops when any one of them is at the limit.
func TestRules(t *testing.T) {
	type change = func(*facts)
	for _, c := range []struct {
		id    string
		facts change
		stops []change
	}{
		{"R01", func(f *facts) { f.SameNode, f.CPUNode, f.IONodeRatio = true, 0.99, 0.49 }, []change{
			func(f *facts) { f.SameNode = false }, func(f *facts) { f.CPUNode = 0.98 }, func(f *facts) { f.IONodeRatio = 0.5 }}},
		{"R02", func(f *facts) { f.SameNode, f.DiskNodeRatio, f.DiskJobShare = true, 1.6, 0.6 }, []change{
			func(f *facts) { f.SameNode = false }, func(f *facts) { f.DiskNodeRatio = 1.5 }, func(f *facts) { f.DiskJobShare = 0.7 }}},
		{"R03", func(f *facts) { f.Spills, f.ShareSortSpill = 2, 0.21 }, []change{
			func(f *facts) { f.Kind = "reduce" }, func(f *facts) { f.Spills = 1 }, func(f *facts) { f.ShareSortSpill = 0.2 }}},
		{"R04", func(f *facts) { f.Kind, f.ShareWaitFetch = "reduce", 0.91 }, []change{
			func(f *facts) { f.Kind = "map" }, func(f *facts) { f.ShareWaitFetch = 0.9 },
			func(f *facts) { f.CPUNode = 0.95 }, func(f *facts) { f.MapsPending = false }}},
		{"R05", func(f *facts) { f.ShareShuffle = 0.71 }, []change{
			func(f *facts) { f.ShareShuffle = 0.7 }, func(f *facts) { f.Compressed = true }}},
		{"R06", func(f *facts) { f.ShareShuffle, f.Compressed, f.CodecCPUShare = 0.71, true, 0.51 }, []change{
			func(f *facts) { f.ShareShuffle = 0.7 }, func(f *facts) { f.Compressed = false }, func(f *facts) { f.CodecCPUShare = 0.5 }}},
		{"R07", func(f *facts) { f.SharedSlots, f.CPUCluster, f.IdleOtherSlots = false, 0.39, 1 }, []change{
			func(f *facts) { f.SharedSlots = true }, func(f *facts) { f.CPUCluster = 0.4 }, func(f *facts) { f.IdleOtherSlots = 0 }}},
		{"R08", func(f *facts) { f.InputRatio = 1.6 }, []change{
			func(f *facts) { f.Critical = 0 }, func(f *facts) { f.SameNode = true }, func(f *facts) { f.InputRatio = 1.5 }}},
		{"R09", func(f *facts) { f.SameNode, f.InputRatio, f.CPUNode, f.DiskNodeRatio = true, 1.5, 0.98, 1.5 }, []change{
			func(f *facts) { f.SameNode = false }, func(f *facts) { f.InputRatio = 1.6 },
			func(f *facts) { f.CPUNode = 0.99 }, func(f *facts) { f.DiskNodeRatio = 1.6 }}},
		{"R10", func(f *facts) { f.SameNode, f.InputRatio = true, 1.6 }, []change{
			func(f *facts) { f.SameNode = false }, func(f *facts) { f.InputRatio = 1.5 }}},
		{"R11", func(f *facts) { f.CPUDrop = 0.51 }, []change{
			func(f *facts) { f.Kind = "reduce" }, func(f *facts) { f.Critical = 0 }, func(f *facts) { f.CPUDrop = 0.5 }}},
		{"R12", func(f *facts) { f.CPUNode, f.NetNodeShare = 0.96, 0.52 }, []change{ // 1.3 of 2.5 GB/s
			func(f *facts) { f.CPUNode = 0.95 }, func(f *facts) { f.NetNodeShare = 0.5 }}},
		{"R13", func(f *facts) { f.Critical, f.NetSlowNodes = 0, 1 }, []change{
			func(f *facts) { f.Critical = 1 }, func(f *facts) { f.NetSlowNodes = 0 }}},
		{"R14", func(f *facts) { f.Kind, f.ShareReduce = "reduce", 0.71 }, []change{
			func(f *facts) { f.Kind = "map" }, func(f *facts) { f.Critical = 0 }, func(f *facts) { f.ShareReduce = 0.7 }}},
	} {
		fires := func(f facts) bool {
			fired, err := recommend(f, DefaultThresholds())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.IsSortedFunc(fired, func(a, b advice) int { return strings.Compare(a[0], b[0]) }) {
				t.Errorf("%v are not in the order of their ids", fired)
			}
			return slices.ContainsFunc(fired, func(a advice) bool { return a[0] == c.id })
		}
		f := normalFacts()
		if fires(f) {
			t.Errorf("%s fires on normal facts", c.id)
		}
		c.facts(&f)
		if !fires(f) {
			t.Errorf("%s does not fire on %+v", c.id, f)
		}
		for i, stop := range c.stops {
			g := f
			if stop(&g); fires(g) {
				t.Errorf("%s still fires after change %d", c.id, i)
			}
		}
	}
}

// Thresholds are options.
func TestRuleThresholds(t *testing.T) {
	f := normalFacts()
	f.InputRatio = 1.3
	limits := DefaultThresholds()
	limits.InputSkew = 1.2
	fired, err := recommend(f, limits)
	if err != nil || len(fired) != 1 || fired[0] != (advice{"R08", "rebalance-partitions"}) {
		t.Errorf("%v, %v, want R08", fired, err)
	}
}

func TestRuleErrors(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*facts)
	}{
		{`kind: unknown ""`, func(f *facts) { f.Kind = "" }},
		{"cpu_node: missing", func(f *facts) { f.CPUNode = math.NaN() }},
		{"spills: -1", func(f *facts) { f.Spills = -1 }},
		{"input_ratio: -2", func(f *facts) { f.InputRatio = -2 }},
	} {
		f := normalFacts()
		c.change(&f)
		if _, err := recommend(f, DefaultThresholds()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// R04 for the reduces and R11 for the maps of one job: many waiting maps keep
// R04, a tail keeps R11.
func TestSettleSlowstart(t *testing.T) {
	r04, r05, r11 := advice{"R04", "raise-slowstart"}, advice{"R05", "compress-map-output"}, advice{"R11", "lower-slowstart-or-add-reduces"}
	for _, c := range []struct {
		fired   []advice
		pending int
		want    []advice
	}{
		{[]advice{r04, r05, r11}, 16, []advice{r04, r05}},
		{[]advice{r04, r05, r11}, 15, []advice{r05, r11}},
		{[]advice{r04, r05}, 0, []advice{r04, r05}},
		{[]advice{r11}, 99, []advice{r11}},
	} {
		if got := settleSlowstart(c.fired, c.pending, 16); !slices.Equal(got, c.want) {
			t.Errorf("%v with %d maps pending: %v, want %v", c.fired, c.pending, got, c.want)
		}
	}
}

// R25 says more than R08 and R10 where it names a reduce of theirs, or where one
// change evens the reduces of both.
func TestLeaveExplained(t *testing.T) {
	even, other := &Change{Text: "even partitions"}, &Change{Text: "another"}
	for _, c := range []struct {
		own  hit
		left int
	}{
		{hit{tasks: []string{"j/r/1"}, change: other}, 0}, {hit{tasks: []string{"j/r/2"}, change: even}, 0},
		{hit{tasks: []string{"j/r/2"}, change: other}, 1}, {hit{tasks: []string{"j/r/2"}}, 1},
	} {
		hits := make([][]hit, len(rules))
		at := func(id string) int { return slices.IndexFunc(rules, func(r rule) bool { return r.id == id }) }
		hits[at("R25")] = []hit{{tasks: []string{"j/r/1"}, change: even}}
		hits[at("R08")], hits[at("R10")] = []hit{c.own}, []hit{c.own}
		leaveExplained(hits)
		if got := [2]int{len(hits[at("R08")]), len(hits[at("R10")])}; got != [2]int{c.left, c.left} || len(hits[at("R25")]) != 1 {
			t.Errorf("%+v: %d findings of R08 and R10 are left: want %d", c.own, got, c.left)
		}
	}
}

// Rules of a file hold as those of slotwave do, and an error names the line of its key.
func TestReadRules(t *testing.T) {
	const table = "[[rule]]\nid = \"S1\"\nstage = \"map\"\nwhen = [\"spills < 2\", \"share_sort_spill > 0.1\"]\ncause = \"c\"\nadvice = \"a\"\n"
	o := DefaultOptions()
	text := table + "[[rule]]\nid = \"S2\"\ncorrelation = \"task-resource disk saturated\"\ncause = \"full disk\"\nadvice = \"another disk\"\nset = \"io.sort.mb = 200\"\n"
	if err := o.ReadRules("my.toml", text); err != nil {
		t.Fatal(err)
	}
	p := newTestRun()
	p.use("n2", "disk0", func(u *Usage) { u.Busy = 0.97 })
	p.slow(12, func(a *workload.HistoryAttempt) bool {
		return a.Kind == workload.Map && a.Node == "n2" && a.Task >= 160
	}, workload.PhaseSpill)
	in := p.input()
	in.Resources = p.resources
	d, err := Run(context.Background(), in, o)
	if err != nil {
		t.Fatal(err)
	}
	for rule, want := range map[string]string{"S1": "a", "S2": "io.sort.mb = 200"} {
		i := slices.IndexFunc(d.Findings, func(f Finding) bool { return f.Rule == rule })
		if i < 0 || d.Findings[i].Change.Text != want || rule == "S2" && d.Findings[i].Node != "n2" {
			t.Errorf("%s: finding %d of %+v, want the change %q", rule, i, d.Findings, want)
		}
	}
	for _, c := range []struct{ old, new, want string }{
		{"spills < 2", "spill < 2", `my.toml:4: when: got "spill < 2": want METRIC > NUMBER`},
		{"spills < 2", "spills < two", `my.toml:4: when: got "spills < two"`},
		{"stage = \"map\"", "stage = \"maps\"", `my.toml:3: stage: got "maps": want map or reduce`},
		{"id = \"S1\"", "id = \"R05\"", `my.toml:2: id: got "R05", which another rule has`},
		{"cause = \"c\"\n", "", "my.toml:1: cause: got none: want a text"},
		{"cause = \"c\"", "cause = \"\"", `my.toml:5: cause: got "": want one text`},
		{"id = \"S1\"", "id = \"LONG1\"", `my.toml:2: id: got "LONG1": want at most 4 letters`},
		{"spills < 2", "spills <> 2", `my.toml:4: when: got "spills <> 2"`},
		{"spills < 2", "spills < NaN", `my.toml:4: when: got "spills < NaN"`},
		{"stage =", "correlation = \"task-resource foo over\"\nstage =", `my.toml:3: correlation: got "task-resource foo over"`},
		{table, table + "[rules]\nx = 1\n", "my.toml:7: got unknown key rules: want [[rule]]"},
		{"[[rule]]", "\n\n[rule]", "my.toml:3: rule: got another value: want a table [[rule]]"},
		{table, "rule = 3\n", "my.toml:1: rule: got another value"},
		{"cause =", "because =", "my.toml:5: because: got an unknown key"},
		{"advice = \"a\"", "advice = 3", "my.toml:6: advice: got 3: want a text"},
		{"stage =", "correlation = \"disk over\"\nstage =", `my.toml:3: correlation: got "disk over": want KIND SUBJECT CLASS`},
		{"stage =", "set = \"io.sort = 3\"\nstage =", `my.toml:3: set: got "io.sort = 3": want PROPERTY = VALUE`},
		{table, "x = 1\n" + table, "my.toml:1: got unknown key x"},
		{table, "", "my.toml:1: rule: got none"},
		{"stage =", "stage", "my.toml:3: "},
	} {
		own := DefaultOptions()
		if err := own.ReadRules("my.toml", strings.Replace(table, c.old, c.new, 1)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: error %v, want one with %q", c.new, c.old, err, c.want)
		} else if n := strings.Count(err.Error(), "\n"); n > 0 && c.new != "because =" { // which lacks its cause, too
			t.Errorf("%q for %q: %d more errors: %v", c.new, c.old, n, err)
		}
	}
}

// A rule of a file on what a record does not tell holds for nothing.
func TestUnknownFacts(t *testing.T) {
	o := DefaultOptions()
	for i, when := range []string{"spills < 2", "share_sort_spill < 0.1", "share_reduce < 1", "compressed < 1", "shared_slots < 1", "net_slow_nodes < 1", "input_ratio < 9"} {
		if err := o.ReadRules("my.toml", fmt.Sprintf("[[rule]]\nid = \"S%d\"\nwhen = %q\ncause = \"c\"\nadvice = \"a\"\n", i, when)); err != nil {
			t.Fatal(err)
		}
	}
	p := newTestRun()
	p.jobs[0].Conf = workload.Conf{}
	p.each(func(a *workload.HistoryAttempt) {
		blank := workload.NewHistoryAttempt("", "", a.Kind, 0, 0)
		a.Phases, a.Spills, a.InBytes, a.HDFSReadBytes, a.ShuffleBytes = blank.Phases, -1, -1, -1, -1
	})
	in := p.input()
	in.Question = nil
	d, err := Run(context.Background(), in, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range d.Findings {
		if f.Basis == ofFile {
			t.Errorf("%s holds: %s", f.Rule, f.Evidence)
		}
	}
}
