package scenarios

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// SizeFile is what a study says about the size of a cluster.
type SizeFile struct {
	Lowest     string  // what shall be as low as possible: one of Lowests
	Confidence float64 // least fraction of runs that meet all goals
	MostNodes  int     // 0: as many as the tasks can use
	Goals      []model.Goal
	Types      []NodeType     // at least one
	Lines      map[string]int // of the keys of the study
}

// SizeReplications is the least number of runs of a size, unless the study says
// otherwise.
const SizeReplications = 20

// MostReplications is the largest number of runs of a size, unless the study says
// otherwise.
func (s *SizeFile) MostReplications() int {
	return min(mostReplications, int(math.Ceil(200/(1-s.Confidence))))
}

// NodeType is a type of node that the cluster may consist of.
type NodeType struct {
	Name  string
	Price float64 // of a node, per hour; 0: none
	Set   []string
}

// Quantities of a cluster that a study can ask to be low.
const (
	FewestNodes  = "nodes"
	FewestSlots  = "slots"
	LowestHourly = "price_per_hour"
	LowestPerJob = "price_per_job"
)

// readSize reads the keys of a study that are about sizing. It returns nil
// if the study has no goal and no offer.
func readSize(t *table) *SizeFile {
	if !t.given("goal") && !t.given("node") {
		for _, key := range keysOfSize {
			if t.given(key) {
				t.failf(key, "has no effect without a [[goal]]: want one")
			}
		}
		return nil
	}
	if !t.has("goal") {
		t.lacks("goal: missing: want a table [[goal]] such as finish = \"30m\"")
	}
	s := &SizeFile{
		Confidence: t.fraction("confidence", 0.95, `"95 %" or 0.95`),
		MostNodes:  t.integer("most_nodes", 0, 1, mostNodes),
		Lines:      t.lines,
	}
	if s.Confidence > 0.999 {
		t.failf("confidence", "got %v: want at most \"99.9 %%\", since no number of runs shows more", s.Confidence)
	}
	for _, in := range t.tables("goal") {
		s.Goals = append(s.Goals, readGoal(in))
		in.done()
	}
	for _, in := range t.named("node") {
		n := NodeType{Name: in.str("name", ""), Price: in.number("price_per_hour", 0, 0, anyNumber)}
		if n.Name == "" {
			in.lacks("%s: name: missing: want a name for this type of node", in.path)
		}
		for key, v := range inOrder(in) {
			if key == "nodes" || key == "group" {
				in.failf(key, "is what size finds: want most_nodes at the top of the file as a limit")
			} else if key != "name" {
				n.Set = append(n.Set, fmt.Sprintf("cluster.%s=%s%s %s:%d: %s", key, workload.TOMLValue(v), FlagMark, in.file, in.line(key), in.path))
			}
		}
		s.Types = append(s.Types, n)
	}
	least, free := FewestNodes, slices.IndexFunc(s.Types, func(n NodeType) bool { return n.Price == 0 })
	if len(s.Types) > 0 && free < 0 {
		least = LowestHourly
	}
	priced := slices.ContainsFunc(s.Types, func(n NodeType) bool { return n.Price > 0 })
	if priced && free >= 0 && !t.has("lowest") {
		t.fail(t.lines[index("node", free)], "%s %s states no price_per_hour, as others do: want it, or lowest = %q", index("node", free), s.Types[free].Name, FewestNodes)
	}
	s.Lowest = t.oneOf("lowest", least, FewestNodes, FewestSlots, LowestHourly, LowestPerJob)
	if priced := s.Lowest == LowestHourly || s.Lowest == LowestPerJob; priced && len(s.Types) == 0 {
		t.failf("lowest", "got %q without a price: want [[node]] tables with price_per_hour", s.Lowest)
	} else if priced && free >= 0 {
		t.failf("lowest", "got %q, but the [[node]] %s has no price_per_hour: want the price of each type", s.Lowest, s.Types[free].Name)
	}
	if len(s.Types) == 0 {
		s.Types = []NodeType{{}}
	}
	return s
}

// readGoal reads one [[goal]].
func readGoal(t *table) model.Goal {
	g := model.Goal{
		Job: t.str("job", ""), User: t.str("user", ""), Pool: t.str("pool", ""), Queue: t.str("queue", ""),
		Finish: t.duration("finish", 0), Response: t.duration("response", 0),
		Percentile: t.number("percentile", 100, above, 100),
	}
	if t.given("deadlines") {
		g.Deadlines = t.fraction("deadlines", 1, `"99 %", "100 %" or 0.99`)
	}
	kinds := 0
	for _, set := range []bool{g.Finish > 0, g.Response > 0, g.Deadlines > 0} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		t.lacks(`%s: want one of finish = "30m", response = "5m" and deadlines = "99 %%"`, t.path)
	}
	if g.Percentile < 1 {
		t.failf("percentile", "got %v: a percentage: want %.4g", g.Percentile, g.Percentile*100)
	}
	if t.has("percentile") && g.Response == 0 {
		t.failf("percentile", "has no effect without response: want both")
	}
	return g
}

// asPercent reads "2 %" or 0.02.
func asPercent(v any) (float64, bool) {
	text, ok := v.(string)
	if !ok {
		return asNumber(v)
	}
	number, percent := strings.CutSuffix(text, "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	return f / 100, err == nil && percent
}

// fraction reads a fraction above 0 and at most 1.
func (t *table) fraction(key string, def float64, form string) float64 {
	return read(t, key, def, Key{}, "a fraction above 0 and at most 1, such as "+form, func(v any) (float64, bool) {
		f, ok := asPercent(v)
		return f, ok && f > 0 && f <= 1
	})
}
