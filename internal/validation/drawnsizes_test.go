package validation

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/slotwave/slotwave/internal/evidence"
	"github.com/slotwave/slotwave/internal/layers"
)

// An offeredNode is a type of node that a team may buy.
type offeredNode struct {
	name  string
	price float64
	keys  []string // of [cluster]: key, value, ...
}

// offers are nodes with other slots, other disks and other cores than the recorded ones.
func (w *drawnWorld) offers(d dice) []offeredNode {
	slots := func(by float64) []string {
		return []string{"map_slots", fmt.Sprint(max(1, int(float64(w.mapSlots)*by))), "reduce_slots", fmt.Sprint(max(1, int(float64(w.reduceSlots)*by)))}
	}
	price := func() float64 { return math.Round(100*d.log(0.1, 1)) / 100 }
	return []offeredNode{
		{"other slots", price(), slots(pick(d, 0.5, 1.5, 2.0))},
		{"other disks", price(), append(slots(pick(d, 0.75, 1.0, 1.5)), "disks", fmt.Sprint(w.otherDisks(d)))},
		{"other cores", price(), append(slots(pick(d, 1.0, 2)), "cpu_slowdown", fmt.Sprint(pick(d, 0.5, 0.7, 1.4)))},
	}
}

// sets are the values of --set for a number of these nodes, and a load.
func (o *offeredNode) sets(w *drawnWorld, nodes int, grow float64) []string {
	q := w.resized("", nodes)
	if grow != 1 {
		q.own = append(q.own, w.scaled(grow).own...)
	}
	for pair := range slices.Chunk(o.keys, 2) {
		q.own = append(q.own, "cluster."+pair[0]+"="+pair[1])
	}
	return q.own
}

// healthy is the cluster of a world of new nodes: none is slow, or shared with others.
func (w *drawnWorld) healthy() (scenario string, equal *drawnWorld) {
	scenario = w.files["scenario.toml"]
	if i := strings.Index(scenario, "[[cluster.load]]"); i >= 0 { // the last table
		scenario = scenario[:i]
	}
	if before, rest, ok := strings.Cut(scenario, "[cluster.slowdowns]\n"); ok {
		_, after, _ := strings.Cut(rest, "\n\n")
		scenario = before + "\n" + after
	}
	other := *w
	other.slow, other.loaded = nil, false
	return scenario, &other
}

// A sizedOffer is what size says of an offer under a load, and what is true.
type sizedOffer struct {
	world                        uint64
	offer                        string
	grow, price                  float64
	nodes, least                 int // 0: none
	probability, low, high, kept float64
	refusal                      string
	measured                     measuredOffer
}

// A measuredOffer is what measure promises of a fact for the makespan on recorded nodes of
// an offer, and what came when the fact was known: half-widths of intervals, relative.
type measuredOffer struct {
	key                     string // empty: no fact is named that the world has
	before, promised, after float64
	inBefore, inAfter       bool // the true makespan
}

// mostNodes is where searches end, of size and of the truth.
const mostNodes = 60

// sizeWorld asks the history of a world for the nodes of three offers.
func sizeWorld(t *testing.T, w *drawnWorld) []sizedOffer {
	d := dice{rand.New(rand.NewPCG(w.seed, 28))}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	w.record(t, dir)
	scenario, equal := w.healthy()
	if err := os.WriteFile(at("healthy.toml"), []byte(scenario), 0o666); err != nil {
		t.Fatal(err)
	}
	offers := w.offers(d)
	const grow = 1.4
	nodes := max(2, int(math.Round(float64(w.nodes)*d.log(0.7, 2))))
	needs := ask(t, at("truth"), at("healthy.toml"), offers[0].sets(equal, nodes, grow), "--replications", "3", "--seed", "201")
	if needs.refusal != "" {
		t.Logf("world %d: %s", w.seed, needs.refusal)
		return nil
	}
	limit := math.Ceil(needs.makespan * 1.05)

	var study lines
	study.add("confidence = \"90 %%\"\nmost_nodes = %d\nmax_replications = 200\n[[goal]]\nfinish = \"%.0fs\"", mostNodes, limit)
	for _, o := range offers {
		study.add("[[node]]\nname = %q\nprice_per_hour = %v", o.name, o.price)
		for pair := range slices.Chunk(o.keys, 2) {
			study.add("%s = %s", pair[0], pair[1])
		}
	}
	if err := os.WriteFile(at("offers.toml"), []byte(study.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call("", "size", at("past"), at("offers.toml"), "--grow", fmt.Sprint(grow), "--workers", "1", "--json", "--out", at("size"))
	var said struct {
		Offers []struct {
			Load, Node string
			Nodes      int
			Size       struct{ Probability, Low, High float64 }
		}
	}
	refusal := ""
	if code != 0 {
		refusal = firstLine(errs)
	} else if err := json.Unmarshal([]byte(out), &said); err != nil {
		t.Fatal(err)
	}
	var all []sizedOffer
	for _, by := range []float64{1, grow} {
		for _, o := range offers {
			s := sizedOffer{world: w.seed, offer: o.name, grow: by, price: o.price, refusal: refusal}
			holds := func(nodes int, seeds string) float64 {
				return sharesInTime(t, at("truth"), at("healthy.toml"), o.sets(equal, nodes, by), limit, seeds)
			}
			for _, line := range said.Offers {
				if line.Node == o.name && line.Load == fmt.Sprintf("workload.scale_bytes=%v", by) {
					s.nodes, s.probability, s.low, s.high = line.Nodes, line.Size.Probability, line.Size.Low, line.Size.High
				}
			}
			if s.nodes > 0 {
				s.kept = holds(s.nodes, "20")
			}
			s.least = leastNodes(func(n int) bool { return holds(n, "5") == 1 })
			all = append(all, s)
		}
	}
	if refusal == "" {
		for i, m := range w.measureOffers(t, dir, equal, offers) {
			all[i].measured = m
		}
	}
	return all
}

// measurePlan is what slotwave measure says of offers.
type measurePlan struct {
	Questions []struct {
		Makespan float64 `json:"makespan_ns"`
		Width    float64 `json:"half_width"`
	}
	Facts []struct {
		Key    string
		Widths []float64 `json:"half_widths"`
	}
}

// measureOffers asks which fact would shrink the intervals of the offers, states it as the
// world has it, and asks again.
func (w *drawnWorld) measureOffers(t *testing.T, dir string, equal *drawnWorld, offers []offeredNode) []measuredOffer {
	at := func(name string) string { return filepath.Join(dir, name) }
	planOf := func(folder string) (p measurePlan) {
		if err := json.Unmarshal([]byte(verb(t, "measure", filepath.Join(dir, folder, "scenario.toml"), at("offers.toml"), "--json")), &p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	before := planOf("past-machine")
	all := make([]measuredOffer, len(offers))
	truth := make([]float64, len(offers))
	in := func(p *measurePlan, i int) bool {
		return math.Abs(math.Log(truth[i]*1e9/p.Questions[i].Makespan)) <= math.Log1p(p.Questions[i].Width)
	}
	for i, o := range offers {
		truth[i] = ask(t, at("truth"), at("healthy.toml"), o.sets(equal, w.nodes, 1), "--replications", "4", "--seed", "401").makespan
		all[i].before, all[i].inBefore = before.Questions[i].Width, in(&before, i)
	}
	for _, f := range before.Facts {
		value := w.valueOf(t, f.Key)
		if value == "" {
			continue
		}
		if code, _, errs := call("", "platform", "calibrate", at("past"), "--quiet", "--know", f.Key+"="+value, "--out", at("known")); code != 0 {
			t.Logf("world %d: %s=%s: %s", w.seed, f.Key, value, firstLine(errs))
			continue
		}
		after := planOf("known")
		for i := range all {
			m := &all[i]
			m.key, m.promised, m.after, m.inAfter = f.Key, f.Widths[i], after.Questions[i].Width, in(&after, i)
		}
		break
	}
	return all
}

// valueOf is the value of a key of the machine of a world; empty: it has none.
func (w *drawnWorld) valueOf(t *testing.T, key string) string {
	var tree map[string]any
	if err := toml.Unmarshal([]byte(w.files["platform.toml"]), &tree); err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(key, ".") {
		v := tree[part]
		if list, ok := v.([]map[string]any); ok {
			v = list[0]
		}
		inner, ok := v.(map[string]any)
		if !ok {
			if v == nil {
				return ""
			}
			return fmt.Sprint(v)
		}
		tree = inner
	}
	return ""
}

// sharesInTime runs a world with several seeds, and returns how many end in time.
func sharesInTime(t *testing.T, out, scenario string, sets []string, limit float64, seeds string) float64 {
	t.Helper()
	args := []string{"run", scenario, "--quiet", "--workers", "1", "--force", "--set", "plots=none", "--set", "attempts=none", "--out", out, "--seed", "301", "--replications", seeds}
	for _, s := range sets {
		args = append(args, "--set", s)
	}
	if code, _, _ := call("", args...); code != 0 {
		return 0 // such as queues of less than a slot
	}
	f, err := os.Open(filepath.Join(out, "points.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column, in := slices.Index(rows[0], "makespan_ns"), 0
	for _, row := range rows[1:] {
		if ns, err := strconv.ParseFloat(row[column], 64); err == nil && ns/1e9 <= limit {
			in++
		}
	}
	return float64(in) / float64(len(rows)-1)
}

// leastNodes returns the least number of nodes that is enough, or 0.
func leastNodes(enough func(int) bool) int {
	few, many := 0, 1 // few is not enough
	for !enough(many) {
		if few = many; few == mostNodes {
			return 0
		}
		many = min(2*many, mostNodes)
	}
	for many-few > 1 {
		if middle := (few + many) / 2; enough(middle) {
			many = middle
		} else {
			few = middle
		}
	}
	return many
}

// Histories of worlds of random structure name the nodes of three offers, for the recorded
// data and for 40 % more.
func TestDrawnSizes(t *testing.T) {
	layers.OnlyWhole(t, "an hour")
	all := ofWorlds(t, sizeWorld, writeSized)
	table := sizesTable(all)
	t.Logf("\n%s", table)
	if *update {
		evidence.Compare(t, "drawn-sizes", table, true)
	}
}

func sizesTable(all []sizedOffer) string {
	var b strings.Builder
	b.WriteString("| offer | questions | no number named | though one is enough | runs on the named numbers in time | as said | named numbers with 90 % of 20 runs in time | median of named / least number |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|\n")
	for _, offer := range []string{"other slots", "other disks", "other cores", "all"} {
		asked, none, wrongly, named, kept, said, inTime := 0, 0, 0, 0, 0, 0.0, 0.0
		var over []float64
		for _, s := range all {
			if s.offer != offer && offer != "all" {
				continue
			}
			asked++
			if s.nodes == 0 {
				none++
				if s.least > 0 {
					wrongly++
				}
				continue
			}
			named++
			said += s.probability
			inTime += s.kept
			if s.kept >= 0.9 {
				kept++
			}
			if s.least > 0 {
				over = append(over, float64(s.nodes)/float64(s.least))
			}
		}
		ratio := ""
		if len(over) > 0 {
			ratio = fmt.Sprintf("%.2f", quantileOf(over, 0.5))
		}
		percent := 100 / float64(max(1, named))
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %.1f %% | %.1f %% | %s | %s |\n", offer, asked, none, wrongly, percent*inTime, percent*said, share(kept, named), ratio)
	}
	named, keeps, cheap, nearly := 0, 0, 0, 0
	var more []float64 // nodes
	for _, s := range all {
		if s.nodes > 0 && s.least > 0 {
			more = append(more, float64(s.nodes-s.least))
		}
	}
	for group := range slices.Chunk(all, 3) { // the offers of a world and a load
		best := sizedOffer{}
		least := math.Inf(1)
		for _, s := range group {
			if s.nodes > 0 && (best.nodes == 0 || s.price*float64(s.nodes) < best.price*float64(best.nodes)) {
				best = s
			}
			if s.least > 0 {
				least = min(least, s.price*float64(s.least))
			}
		}
		if best.nodes == 0 {
			continue
		}
		named++
		if best.kept >= 0.9 {
			keeps++
			if best.price*float64(best.nodes) <= 1.1*least {
				cheap++
				nearly++
			} else if best.price*float64(best.nodes-1) <= least {
				nearly++
			}
		}
	}
	var promises, outcomes []float64
	asked, held, knew, holds := 0, 0, 0, 0
	for _, s := range all {
		m := &s.measured
		if m.before == 0 {
			continue
		}
		if asked++; m.inBefore {
			held++
		}
		if m.key != "" {
			promises, outcomes = append(promises, m.promised/m.before), append(outcomes, m.after/m.before)
			if knew++; m.inAfter {
				holds++
			}
		}
	}
	fmt.Fprintf(&b, "\nThe 90 %% interval of measure holds the makespan on as many nodes for %s offers. ", share(held, asked))
	if knew > 0 {
		fmt.Fprintf(&b, "A fact is named for %d: its interval is promised to be %.2f of that without it in the median, is %.2f when it is known, and holds %s.\n",
			knew, quantileOf(promises, 0.5), quantileOf(outcomes, 0.5), share(holds, knew))
	}
	fmt.Fprintf(&b, "\nThe cheapest named cluster keeps its promise for %s loads; for %s it also costs within 10 %% of the cheapest that does, and for %s within 10 %% or one node. In the median an offer has %.0f nodes more than are enough, in nine of ten at most %.0f.\n",
		share(keeps, named), share(cheap, named), share(nearly, named), quantileOf(more, 0.5), quantileOf(more, 0.9))
	return b.String()
}

func writeSized(t *testing.T, path string, all []sizedOffer) {
	rows := [][]string{{"world", "load", "offer", "price", "named", "least", "probability", "low", "high", "kept", "refusal", "fact", "half_width", "promised", "with_fact", "holds", "holds_with_fact"}}
	for i := range all {
		s, m := &all[i], &all[i].measured
		rows = append(rows, []string{fmt.Sprint(s.world), fmt.Sprint(s.grow), s.offer, fmt.Sprint(s.price), fmt.Sprint(s.nodes), fmt.Sprint(s.least),
			fmt.Sprintf("%.3f", s.probability), fmt.Sprintf("%.3f", s.low), fmt.Sprintf("%.3f", s.high), fmt.Sprintf("%.2f", s.kept), s.refusal,
			m.key, fmt.Sprintf("%.3f", m.before), fmt.Sprintf("%.3f", m.promised), fmt.Sprintf("%.3f", m.after), fmt.Sprint(m.inBefore), fmt.Sprint(m.inAfter)})
	}
	writeRows(t, path, rows)
}
