package validation

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/slotwave/slotwave/internal/evidence"
	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
)

// setting is what the runs of a benchmark of ALOJA differ in.
type setting struct {
	disk, net          string
	slots, replication int
}

// alojaBenchmark is one benchmark of HiBench as a change to aloja-terasort.
type alojaBenchmark struct {
	name, id string
	settings []string
}

var alojaBenchmarks = []alojaBenchmark{
	{"TeraSort", "terasort", nil},
	// Text of 128 GB in all, and of 24 GB a node, through zlib.
	{"WordCount", "wordcount", []string{`job.0.profile="wordcount-compressed"`, "job.0.input=41_200_000_000", `conf."mapred.output.compress"=true`}},
	{"Sort", "sort", []string{`job.0.profile="sort-compressed"`, "job.0.input=61_800_000_000", `conf."mapred.output.compress"=true`}},
}

// alojaFactor is what two runs differ in that are alike in all else.
type alojaFactor struct {
	name string
	from func(setting) bool
	to   func(setting) setting
}

var alojaFactors = []alojaFactor{
	{"one disk to one SSD", func(s setting) bool { return s.disk == "HDD" }, func(s setting) setting { s.disk = "SSD"; return s }},
	{"Ethernet to InfiniBand", func(s setting) bool { return s.net == "ETH" }, func(s setting) setting { s.net = "IB"; return s }},
	{"12 to 24 slots, one disk", func(s setting) bool { return s.slots == 12 && s.disk == "HDD" }, func(s setting) setting { s.slots = 24; return s }},
	{"1 to 3 replicas", func(s setting) bool { return s.replication == 1 }, func(s setting) setting { s.replication = 3; return s }},
}

// ratios of all pairs of settings that differ in the factor.
func (f *alojaFactor) ratios(seconds map[setting]float64) (all []float64) {
	for s, from := range seconds {
		if to, ok := seconds[f.to(s)]; ok && f.from(s) {
			all = append(all, to/from)
		}
	}
	return all
}

// readALOJA is the median time of each setting of a benchmark on minerva-100.
func readALOJA(t *testing.T, benchmark string) map[setting]float64 {
	t.Helper()
	all := map[setting][]float64{}
	for _, r := range measurements(t, shared(t, "data/aloja/runs.tsv.gz")) {
		s := setting{r["disk"], r["net"], int(r.number("map_slots_per_node")), int(r.number("replication"))}
		if r["cluster"] == "minerva100-10-18-21" && r["benchmark"] == benchmark && (s.disk == "HDD" || s.disk == "SSD") &&
			(s.slots == 12 || s.slots == 16 || s.slots == 24) && (s.replication == 1 || s.replication == 3) &&
			r["io_sort_factor"] == "10" && r["io_file_buffer"] == "65536" && r["comp"] == "0" && r["block_mb"] == "64" {
			all[s] = append(all[s], r.number("exe_time_s"))
		}
	}
	medians := map[setting]float64{}
	for s, v := range all {
		medians[s] = median(v)
	}
	return medians
}

// simulate runs the benchmark in all combinations of what the factors change.
func (b *alojaBenchmark) simulate(t *testing.T) map[setting]float64 {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	type answer struct {
		setting
		seconds float64
	}
	var answers []*answer
	for _, c := range []setting{{net: "ETH", replication: 1}, {net: "ETH", replication: 3}, {net: "IB", replication: 1}, {net: "IB", replication: 3}} {
		settings := append(slices.Clone(b.settings), fmt.Sprintf(`conf."dfs.replication"=%d`, c.replication))
		if c.net == "IB" {
			settings = append(settings, "network.nic_mb=2000") // IP over FDR, assumed
		}
		if b.id != "terasort" { // which writes one replica all the same
			settings = append(settings, fmt.Sprintf(`job.0.conf."dfs.replication"=%d`, c.replication))
		}
		f, err := scenarios.Open("aloja-terasort", settings...)
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Scenario(1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Runs {
			q := s.Runs[i].Question
			c.disk, c.slots = [...]string{"HDD", "SSD"}[i/2], q.Cluster.Nodes[0].MapSlots
			a := &answer{setting: c}
			answers = append(answers, a)
			group.Go(func() error {
				p, err := sim.Simulator{}.Predict(q)
				a.seconds = p.Mean.Seconds()
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	seconds := map[setting]float64{}
	for _, a := range answers {
		seconds[a.setting] = a.seconds
	}
	return seconds
}

// Pairs of runs that differ in one thing: the ratio of their times against those
// measured, and how long some of them take.
func TestPairsOfALOJA(t *testing.T) {
	layers.OnlyWhole(t, "TestRealPairs simulates the same pairs by verbs")
	const repeats = 0.02 // as far as repeated runs of WordCount agree
	var b, times strings.Builder
	b.WriteString("| benchmark | pair | pairs measured | ratio, quartiles | simulated | result |\n|---|---|---|---|---|---|\n")
	times.WriteString("| benchmark | one disk: measured s | one disk: simulated s | SSD: measured s | SSD: simulated s |\n|---|---|---|---|---|\n")
	inside, wrong := map[string]int{}, 0
	for i := range alojaBenchmarks {
		bench := &alojaBenchmarks[i]
		measured, simulated := readALOJA(t, bench.id), bench.simulate(t)
		fmt.Fprintf(&times, "| %s |", bench.name)
		for _, disk := range []string{"HDD", "SSD"} {
			s := setting{disk, "ETH", 12, 1}
			fmt.Fprintf(&times, " %.0f | %.0f |", measured[s], simulated[s])
		}
		times.WriteString("\n")
		for _, f := range alojaFactors {
			was, is := f.ratios(measured), f.ratios(simulated)
			if len(was) < 4 || len(is) < 4 {
				t.Fatalf("%s, %s: %d pairs measured, %d simulated", bench.name, f.name, len(was), len(is))
			}
			low, middle, high, got := quantile(was, 0.25), quantile(was, 0.5), quantile(was, 0.75), quantile(is, 0.5)
			result := "outside"
			if (got-1)*(middle-1) < 0 && math.Abs(got-1) > repeats && math.Abs(middle-1) > repeats {
				result = "outside, wrong sign"
				wrong++
			}
			if got >= low-repeats && got <= high+repeats {
				result = "inside"
				inside[bench.id]++
			}
			fmt.Fprintf(&b, "| %s | %s | %d | %.2f, %.2f to %.2f | %.2f | %s |\n", bench.name, f.name, len(was), middle, low, high, got, result)
		}
	}
	if n := inside["terasort"] + inside["wordcount"]; n < 6 || wrong > 0 {
		t.Errorf("%d of 8 pairs of TeraSort and WordCount inside, %d of all 12 with the wrong sign: want 6 and none", n, wrong)
	}
	evidence.Compare(t, "aloja", b.String(), *update)
	evidence.Compare(t, "aloja-times", times.String(), *update)
}
