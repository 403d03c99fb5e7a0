package diagnose_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/diagnose"
)

// calm are facts on which no rule fires.
func calm() diagnose.Facts {
	return diagnose.Facts{
		Kind: "map", Critical: 1, CPUNode: 0.8, CPUCluster: 0.8, IONodeRatio: 1, DiskNodeRatio: 1, DiskJobShare: 1,
		Spills: 1, MapsPending: true, SharedSlots: true, InputRatio: 1,
	}
}

// Each rule fires on its facts, and stops when any one of them is at the limit.
func TestRules(t *testing.T) {
	type change = func(*diagnose.Facts)
	for _, c := range []struct {
		id    string
		facts change
		stops []change
	}{
		{"R01", func(f *diagnose.Facts) { f.SameNode, f.CPUNode, f.IONodeRatio = true, 0.99, 0.49 }, []change{
			func(f *diagnose.Facts) { f.SameNode = false }, func(f *diagnose.Facts) { f.CPUNode = 0.98 }, func(f *diagnose.Facts) { f.IONodeRatio = 0.5 }}},
		{"R02", func(f *diagnose.Facts) { f.SameNode, f.DiskNodeRatio, f.DiskJobShare = true, 1.6, 0.6 }, []change{
			func(f *diagnose.Facts) { f.SameNode = false }, func(f *diagnose.Facts) { f.DiskNodeRatio = 1.5 }, func(f *diagnose.Facts) { f.DiskJobShare = 0.7 }}},
		{"R03", func(f *diagnose.Facts) { f.Spills, f.ShareSortSpill = 2, 0.21 }, []change{
			func(f *diagnose.Facts) { f.Kind = "reduce" }, func(f *diagnose.Facts) { f.Spills = 1 }, func(f *diagnose.Facts) { f.ShareSortSpill = 0.2 }}},
		{"R04", func(f *diagnose.Facts) { f.Kind, f.ShareWaitFetch = "reduce", 0.91 }, []change{
			func(f *diagnose.Facts) { f.Kind = "map" }, func(f *diagnose.Facts) { f.ShareWaitFetch = 0.9 },
			func(f *diagnose.Facts) { f.CPUNode = 0.95 }, func(f *diagnose.Facts) { f.MapsPending = false }}},
		{"R05", func(f *diagnose.Facts) { f.ShareShuffle = 0.71 }, []change{
			func(f *diagnose.Facts) { f.ShareShuffle = 0.7 }, func(f *diagnose.Facts) { f.Compressed = true }}},
		{"R06", func(f *diagnose.Facts) { f.ShareShuffle, f.Compressed, f.CodecCPUShare = 0.71, true, 0.51 }, []change{
			func(f *diagnose.Facts) { f.ShareShuffle = 0.7 }, func(f *diagnose.Facts) { f.Compressed = false }, func(f *diagnose.Facts) { f.CodecCPUShare = 0.5 }}},
		{"R07", func(f *diagnose.Facts) { f.SharedSlots, f.CPUCluster, f.IdleOtherSlots = false, 0.39, 1 }, []change{
			func(f *diagnose.Facts) { f.SharedSlots = true }, func(f *diagnose.Facts) { f.CPUCluster = 0.4 }, func(f *diagnose.Facts) { f.IdleOtherSlots = 0 }}},
		{"R08", func(f *diagnose.Facts) { f.InputRatio = 1.6 }, []change{
			func(f *diagnose.Facts) { f.Critical = 0 }, func(f *diagnose.Facts) { f.SameNode = true }, func(f *diagnose.Facts) { f.InputRatio = 1.5 }}},
		{"R09", func(f *diagnose.Facts) { f.SameNode, f.InputRatio, f.CPUNode, f.DiskNodeRatio = true, 1.5, 0.98, 1.5 }, []change{
			func(f *diagnose.Facts) { f.SameNode = false }, func(f *diagnose.Facts) { f.InputRatio = 1.6 },
			func(f *diagnose.Facts) { f.CPUNode = 0.99 }, func(f *diagnose.Facts) { f.DiskNodeRatio = 1.6 }}},
		{"R10", func(f *diagnose.Facts) { f.SameNode, f.InputRatio = true, 1.6 }, []change{
			func(f *diagnose.Facts) { f.SameNode = false }, func(f *diagnose.Facts) { f.InputRatio = 1.5 }}},
		{"R11", func(f *diagnose.Facts) { f.CPUDrop = 0.51 }, []change{
			func(f *diagnose.Facts) { f.Kind = "reduce" }, func(f *diagnose.Facts) { f.Critical = 0 }, func(f *diagnose.Facts) { f.CPUDrop = 0.5 }}},
		{"R12", func(f *diagnose.Facts) { f.CPUNode, f.NetNodeShare = 0.96, 0.52 }, []change{ // 1.3 of 2.5 GB/s
			func(f *diagnose.Facts) { f.CPUNode = 0.95 }, func(f *diagnose.Facts) { f.NetNodeShare = 0.5 }}},
		{"R13", func(f *diagnose.Facts) { f.Critical, f.NetSlowNodes = 0, 1 }, []change{
			func(f *diagnose.Facts) { f.Critical = 1 }, func(f *diagnose.Facts) { f.NetSlowNodes = 0 }}},
		{"R14", func(f *diagnose.Facts) { f.Kind, f.ShareReduce = "reduce", 0.71 }, []change{
			func(f *diagnose.Facts) { f.Kind = "map" }, func(f *diagnose.Facts) { f.Critical = 0 }, func(f *diagnose.Facts) { f.ShareReduce = 0.7 }}},
	} {
		fires := func(f diagnose.Facts) bool {
			fired, err := diagnose.Recommend(f, diagnose.DefaultThresholds())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.IsSortedFunc(fired, func(a, b diagnose.Advice) int { return strings.Compare(a[0], b[0]) }) {
				t.Errorf("%v are not in the order of their ids", fired)
			}
			return slices.ContainsFunc(fired, func(a diagnose.Advice) bool { return a[0] == c.id })
		}
		f := calm()
		if fires(f) {
			t.Errorf("%s fires on calm facts", c.id)
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
	f := calm()
	f.InputRatio = 1.3
	limits := diagnose.DefaultThresholds()
	limits.InputSkew = 1.2
	fired, err := diagnose.Recommend(f, limits)
	if err != nil || len(fired) != 1 || fired[0] != (diagnose.Advice{"R08", "rebalance-partitions"}) {
		t.Errorf("%v, %v, want R08", fired, err)
	}
}

func TestRuleErrors(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*diagnose.Facts)
	}{
		{`kind: unknown ""`, func(f *diagnose.Facts) { f.Kind = "" }},
		{"cpu_node: missing", func(f *diagnose.Facts) { f.CPUNode = math.NaN() }},
		{"spills: -1", func(f *diagnose.Facts) { f.Spills = -1 }},
		{"input_ratio: -2", func(f *diagnose.Facts) { f.InputRatio = -2 }},
	} {
		f := calm()
		c.change(&f)
		if _, err := diagnose.Recommend(f, diagnose.DefaultThresholds()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// R04 for the reduces and R11 for the maps of one job: many waiting maps keep
// R04, a tail keeps R11.
func TestSettleSlowstart(t *testing.T) {
	r04, r05, r11 := diagnose.Advice{"R04", "raise-slowstart"}, diagnose.Advice{"R05", "compress-map-output"}, diagnose.Advice{"R11", "lower-slowstart-or-add-reduces"}
	for _, c := range []struct {
		fired   []diagnose.Advice
		pending int
		want    []diagnose.Advice
	}{
		{[]diagnose.Advice{r04, r05, r11}, 16, []diagnose.Advice{r04, r05}},
		{[]diagnose.Advice{r04, r05, r11}, 15, []diagnose.Advice{r05, r11}},
		{[]diagnose.Advice{r04, r05}, 0, []diagnose.Advice{r04, r05}},
		{[]diagnose.Advice{r11}, 99, []diagnose.Advice{r11}},
	} {
		if got := diagnose.SettleSlowstart(c.fired, c.pending, 16); !slices.Equal(got, c.want) {
			t.Errorf("%v with %d maps pending: %v, want %v", c.fired, c.pending, got, c.want)
		}
	}
}
