package reproduce

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/model/fit"
	"github.com/slotwave/slotwave/results"
)

// missingFact is what a result does not hold that a fact needs.
type missingFact string

// runs are what a shipped scenario wrote, by the title of each variation.
type runs map[string]*written

// written is the tables of one run, and what it assumes.
type written struct {
	attempts, jobs, resources []record
	assumptions               []string
}

// record is a row of a table; times are asked for in seconds.
type record map[string]string

func (r record) number(column string) float64 {
	v, err := strconv.ParseFloat(r[column], 64)
	if err != nil {
		panic(missingFact(fmt.Sprintf("%s: %v", column, err)))
	}
	return v
}

func (r record) seconds(column string) float64 { return r.number(column+"_ns") / 1e9 }

func (r record) duration() float64 { return r.seconds("finish") - r.seconds("start") }

// readRuns reads the tables below a directory of results.
func readRuns(dir string) (runs, error) {
	all := runs{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Name() != results.SummaryName {
			return err
		}
		var summary struct {
			Title       string
			Assumptions []string
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &summary); err != nil {
			return err
		}
		w := &written{assumptions: summary.Assumptions}
		all[summary.Title] = w
		dir := filepath.Dir(path)
		var errs [3]error
		w.attempts, errs[0] = readRecords(filepath.Join(dir, "attempts.csv"))
		w.jobs, errs[1] = readRecords(filepath.Join(dir, "jobs.csv"))
		w.resources, errs[2] = readRecords(filepath.Join(dir, "resources.csv"))
		return errors.Join(errs[:]...)
	})
	return all, err
}

// readRecords reads a table, or nothing where there is none.
func readRecords(file string) (all []record, err error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, row := range rows[1:] {
		r := record{}
		for i, column := range rows[0] {
			r[column] = row[i]
		}
		all = append(all, r)
	}
	return all, nil
}

// with is the run whose title has all these words.
func (r runs) with(words ...string) *written {
	var found *written
	for _, title := range slices.Sorted(maps.Keys(r)) {
		w := r[title]
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(title+" ", word+" ") }) {
			if found != nil {
				panic(missingFact(fmt.Sprintf("two runs with %q", words)))
			}
			found = w
		}
	}
	if found == nil {
		panic(missingFact(fmt.Sprintf("no run with %q", words)))
	}
	return found
}

// only is the run of a scenario that varies nothing.
func (r runs) only() *written { return r.with() }

func (w *written) kind(kind string, of ...func(record) bool) (all []record) {
	for _, a := range w.attempts {
		if a["kind"] == kind && a["state"] == "SUCCEEDED" && !slices.ContainsFunc(of, func(f func(record) bool) bool { return !f(a) }) {
			all = append(all, a)
		}
	}
	return all
}

func on(prefix string) func(record) bool {
	return func(r record) bool { return strings.HasPrefix(r["node"], prefix) }
}

func (w *written) job(column string) float64 { return w.jobs[0].seconds(column) }

func mean(rows []record, of func(record) float64) float64 {
	sum := 0.0
	for _, r := range rows {
		sum += of(r)
	}
	return sum / float64(len(rows))
}

func most(rows []record, of func(record) float64) float64 {
	v := math.Inf(-1)
	for _, r := range rows {
		v = max(v, of(r))
	}
	return v
}

func least(rows []record, of func(record) float64) float64 {
	return -most(rows, func(r record) float64 { return -of(r) })
}

func phases(names ...string) func(record) float64 {
	return func(r record) (sum float64) {
		for _, n := range names {
			sum += r.seconds("p_" + n)
		}
		return sum
	}
}

func start(r record) float64  { return r.seconds("start") }
func finish(r record) float64 { return r.seconds("finish") }

// mapPhase is the time from the first map to the last one's end.
func (w *written) mapPhase() float64 { return w.job("last_map") - w.job("first_map") }

// gap is the part of the job between the last map and the end of the shuffle.
func (w *written) gap() float64 {
	return (w.job("shuffle_end") - w.job("last_map")) / w.job("finish")
}

// busy is how busy a device of all nodes was up to an instant.
func (w *written) busy(device string, until float64) float64 {
	sum, n := 0.0, 0.0
	for _, r := range w.resources {
		if t := r.seconds("time"); r["device"] == device && t > 2 && t <= until {
			sum += r.number("busy")
			n++
		}
	}
	return sum / n
}

// busyOn is how busy a device of the nodes with a prefix was up to an instant; NaN
// if the result has no rows of single nodes.
func (w *written) busyOn(prefix, device string, until float64) float64 {
	var rows []record
	for _, r := range w.resources {
		if t := r.seconds("time"); r["device"] == device && strings.HasPrefix(r["node"], prefix) && t > 2 && t <= until {
			rows = append(rows, r)
		}
	}
	return mean(rows, func(r record) float64 { return r.number("busy") })
}

// firstWave is when the first map wave of a node is over on average.
func (w *written) firstWave(slots int) float64 {
	maps := w.kind("map")
	slices.SortStableFunc(maps, func(a, b record) int { return int(math.Copysign(1, start(a)-start(b))) })
	return mean(maps[:slots], finish)
}

// together is the most maps that ran on one node at a time.
func (w *written) together() (peak int) {
	type change struct {
		at float64
		by int
	}
	nodes := map[string][]change{}
	for _, a := range w.kind("map") {
		nodes[a["node"]] = append(nodes[a["node"]], change{start(a), 1}, change{finish(a), -1})
	}
	for _, node := range slices.Sorted(maps.Keys(nodes)) {
		changes := nodes[node]
		slices.SortFunc(changes, func(a, b change) int {
			if a.at != b.at {
				return int(math.Copysign(1, a.at-b.at))
			}
			return a.by - b.by
		})
		n := 0
		for _, c := range changes {
			n += c.by
			peak = max(peak, n)
		}
	}
	return peak
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }
func change(v float64) string  { return fmt.Sprintf("%+.1f %%", 100*(v-1)) }

func inside(v, low, high float64) bool { return low <= v && v <= high }

// fact is what a source saw, and what a shipped scenario shows. Some tell a
// direction only: the source gives no band, or what the scenario assumes decides
// how far it goes.
type fact struct {
	id, scenario, seen, band string
	direction                bool
	// show returns what a result shows, whether that is as wanted, and its figures
	// beside the published ones.
	show  func(runs) (string, bool, []comparison)
	cause string // of the difference, where one is known
}

// comparison is a published number and the simulated one.
type comparison struct {
	published, simulated float64
	share                bool // of a whole: the difference is told in points
}

func times(published, simulated float64) comparison { return comparison{published, simulated, false} }
func share(published, simulated float64) comparison { return comparison{published, simulated, true} }

func (c comparison) String() string {
	if c.share {
		return fmt.Sprintf("%+.1f points", 100*(c.simulated-c.published))
	}
	return change(c.simulated / c.published)
}

// heldOut are the facts that were not used to choose any value of a scenario.
var heldOut = []string{"E03", "E06", "E08"}

const (
	lzo  = "compression.codec=com.hadoop.compression.lzo.LzoCodec"
	zlib = "compression.codec=org.apache.hadoop.io.compress.DefaultCodec"
	lz4  = "compression.codec=org.apache.hadoop.io.compress.Lz4Codec"
)

// outlierRatio is how many times the median an outlier takes at least, as in diagnose.
const outlierRatio = 1.2

// facts are those of the literature that scenarios are shipped for.
var facts = []fact{
	{"E01", "hitune-small-files-slots", "the job about six times as fast with Fair 2.0 as with Fair 1.0; the slots are not stated", "ratio of jobs 4 to 8 with 8 slots; ratio of map phases at most the slots", false, func(r runs) (string, bool, []comparison) {
		var jobs, phases []string
		good, eight := true, 0.0
		for _, s := range []int{2, 4, 6, 8, 16} {
			slots := fmt.Sprintf("map_slots=%d", s)
			before, after := r.with(slots, "scheduler=fair1"), r.with(slots, "scheduler=fair2")
			job, ratio := before.job("finish")/after.job("finish"), before.mapPhase()/after.mapPhase()
			jobs, phases = append(jobs, fmt.Sprintf("%.2f", job)), append(phases, fmt.Sprintf("%.2f", ratio))
			good = good && ratio <= float64(s)
			if s == 8 {
				eight = job
			}
		}
		good = good && inside(eight, 4, 8)
		return "jobs " + strings.Join(jobs, ", ") + " and map phases " + strings.Join(phases, ", ") + " with 2, 4, 6, 8, 16", good, []comparison{times(6, eight)}
	}, ""},
	{"E02", "hitune-small-files", "maps of a node one after the other; reduces only after the maps", "1 map at a time; no reduce before the last map starts", false, func(r runs) (string, bool, []comparison) {
		w := r.with("scheduler=fair1")
		after := least(w.kind("reduce"), start) - most(w.kind("map"), start)
		return fmt.Sprintf("%d; %.1f s after", w.together(), after), w.together() == 1 && after >= 0, nil
	}, ""},
	{"E04", "hitune-codec", "default codec: the shuffle ends about 15 % of the job after the last map", "10 to 20 %", true, func(r runs) (string, bool, []comparison) {
		g := r.with(zlib, "copies=5").gap()
		return percent(g), inside(g, 0.1, 0.2), []comparison{share(0.15, g)}
	}, ""},
	{"E04", "hitune-codec", "copiers wait for memory 80 % of their time", "65 to 90 %", false, func(r runs) (string, bool, []comparison) {
		v := mean(r.with(zlib, "copies=5").kind("reduce"), func(a record) float64 { return a.seconds("wait_memory") / a.seconds("p_shuffle") })
		return percent(v), inside(v, 0.65, 0.9), []comparison{share(0.8, v)}
	}, "the speed of the codec and the reduces on a node are not stated; both decide how far the merge falls behind the copiers"},
	{"E04", "hitune-codec", "more copiers do not help", "5 to 20: less than 3 %", false, func(r runs) (string, bool, []comparison) {
		v := r.with(zlib, "copies=20").job("finish") / r.with(zlib, "copies=5").job("finish")
		return change(v), math.Abs(v-1) < 0.03, nil
	}, ""},
	{"E05", "hitune-codec", "LZO is more than twice as fast", "at least 2", true, func(r runs) (string, bool, []comparison) {
		v := r.with(zlib, "copies=5").job("finish") / r.with(lzo, "copies=5").job("finish")
		return fmt.Sprintf("%.2f times", v), v >= 2, []comparison{times(2, v)}
	}, ""},
	{"E05", "hitune-codec", "with LZO the gap is gone", "below 2 %", false, func(r runs) (string, bool, []comparison) {
		v := r.with(lzo, "copies=5").gap()
		return percent(v), v < 0.02, nil
	}, ""},
	{"E06", "hitune-slow-disk", "reduces of nodes with one of four disks 44 % and 30 % slower take 20 % and 14 % longer", "15 to 25 and 9 to 19 %, in this order; others within 3 %", false, func(r runs) (string, bool, []comparison) {
		work := phases("reduce", "write")
		even := r.only().kind("reduce", on("even"))
		m := mean(even, work)
		a, b := mean(r.only().kind("reduce", on("slow44")), work)/m, mean(r.only().kind("reduce", on("slow30")), work)/m
		spread := max(most(even, work)/m-1, 1-least(even, work)/m)
		return fmt.Sprintf("%s and %s; %.1f %%", change(a), change(b), 100*spread), inside(a, 1.15, 1.25) && inside(b, 1.09, 1.19) && a > b && spread <= 0.03, []comparison{share(0.2, a-1), share(0.14, b-1)}
	}, "a reduce that waits for its disk would take 19.6 and 10.7 % longer; two reduces share a node, and how often both use the slow disk at once changes the result by some percent (with --seed 3 the second node is 9.0 % slower)"},
	{"E07", "hitune-hive", "a Hive aggregation: 32 % of the time of tasks in operators, 68 % in input, output, start and stop", "adds up to all of it", true, func(r runs) (string, bool, []comparison) {
		w := r.only()
		rows := slices.Concat(w.kind("map"), w.kind("reduce"))
		whole := mean(rows, record.duration)
		op := mean(rows, phases("map", "reduce")) / whole
		io := mean(rows, phases("startup", "read", "collect", "spill", "shuffle", "merge", "write", "commit")) / whole
		return fmt.Sprintf("%s and %s", percent(op), percent(io)), math.Abs(op+io-1) < 1e-9, []comparison{share(0.32, op), share(0.68, io)}
	}, ""},
	{"E08", "sonata-shared-slots", "shared slots: 485 to 422 s, 13 % shorter", "8 to 18 % shorter", false, func(r runs) (string, bool, []comparison) {
		before, after := r.with("slots=false").job("finish"), r.with("slots=true").job("finish")
		return fmt.Sprintf("%s (%.0f to %.0f s)", change(after/before), before, after), inside(after/before, 0.82, 0.92), []comparison{times(485, before), times(422, after)}
	}, "the size of the input, blocks and reduces are not stated; the simulated job is about half as long, so only the ratio is compared"},
	{"E08", "sonata-shared-slots", "CPU in the first map wave from below 37 % to above 50 %", "at least 1.3 times", true, func(r runs) (string, bool, []comparison) {
		a, b := r.with("slots=false"), r.with("slots=true")
		was, is := a.busy("cpu", a.firstWave(320)), b.busy("cpu", b.firstWave(640))
		return fmt.Sprintf("%s to %s", percent(was), percent(is)), is >= 1.3*was, []comparison{share(0.37, was), share(0.5, is)}
	}, ""},
	{"E09", "sonata-two-spills", "two spills: more than 49 % of a map goes to sorting, spilling and merging; a larger buffer removes one", "2 to 1 spills, no merge, shorter; above 49 %", false, func(r runs) (string, bool, []comparison) {
		two, one := r.with("mb=500").kind("map"), r.with("mb=800").kind("map")
		spills := func(a record) float64 { return a.number("spills") }
		sorting := mean(two, phases("spill", "merge")) / mean(two, record.duration)
		before, after := mean(two, record.duration), mean(one, record.duration)
		return fmt.Sprintf("%.0f to %.0f spills, merge %.1f to %.1f s, map %.1f to %.1f s; %s", mean(two, spills), mean(one, spills),
				mean(two, phases("merge")), mean(one, phases("merge")), before, after, percent(sorting)),
			least(two, spills) == 2 && most(one, spills) == 1 && mean(one, phases("merge")) == 0 && after < before && sorting > 0.49, []comparison{share(0.49, sorting)}
	}, ""},
	{"E10", "sonata-slowstart", "a critical reduce that starts early waits more than 99 % of its time for fetches", "above 95 % of the task at 0.05", false, func(r runs) (string, bool, []comparison) {
		v := most(r.with("shared_slots=false", "slowstart.completed.maps=0.05").kind("reduce"), func(a record) float64 { return a.seconds("wait_fetch") / a.duration() })
		return percent(v) + " at most", v > 0.95, []comparison{share(0.99, v)}
	}, "the paper states the share of the whole task: after the wait a simulated reduce still merges, reduces and writes for a fifth of its time; the size of the paper's job is not known"},
	{"E10", "sonata-slowstart", "the share of the shuffle that is spent waiting falls with a later start", "above 95 % at 0.05; falls, to a point", false, func(r runs) (string, bool, []comparison) {
		var text []string
		last, first := 2.0, 0.0
		good := true
		for i, s := range []string{"0.05", "0.5", "0.9", "1"} {
			w := r.with("shared_slots=false", "slowstart.completed.maps="+s)
			v := mean(w.kind("reduce"), phases("shuffle"))
			wait := mean(w.kind("reduce"), func(a record) float64 { return a.seconds("wait_fetch") }) / v
			if i == 0 {
				first = wait
			}
			good, last = good && wait <= last+0.01, wait // the idle loop of a fetch sleeps 5 s however late it starts
			text = append(text, percent(wait))
		}
		return strings.Join(text, ", "), good && first > 0.95, nil
	}, ""},
	{"E10", "sonata-slowstart", "with shared slots a later start shortens the map phase", "falls", true, func(r runs) (string, bool, []comparison) {
		early, late := r.with("shared_slots=true", "maps=0.05").job("last_map"), r.with("shared_slots=true", "maps=0.9").job("last_map")
		return fmt.Sprintf("last map %.0f to %.0f s", early, late), late < early, nil
	}, ""},
	{"E11", "sonata-codecs", "default codec about 1.5 times as long as LZ4, or 1.5 times longer", "1.3 to 2.5", false, func(r runs) (string, bool, []comparison) {
		v := r.with("output=true", zlib).job("finish") / r.with("output=true", lz4).job("finish")
		return fmt.Sprintf("%.2f times", v), inside(v, 1.3, 2.5), []comparison{times(1.5, v)}
	}, ""},
	{"E11", "sonata-codecs", "without compression the shuffle is more than 70 % of the job", "above 70 %", false, func(r runs) (string, bool, []comparison) {
		w := r.with("output=false", lz4)
		v := mean(w.kind("reduce"), phases("shuffle")) / mean(w.kind("reduce"), record.duration)
		return percent(v) + " of a reduce", v > 0.7, []comparison{share(0.7, v)}
	}, "how long a reduce takes after its shuffle depends on the number of reduces and their buffers, which are not stated"},
	{"E12", "sonata-slow-cpu", "tasks of the slow node are the outliers; its CPU is above 99 %", "outliers only there", true, func(r runs) (string, bool, []comparison) {
		slow, even := r.only().kind("reduce", on("slow")), r.only().kind("reduce", on("even"))
		a, b := least(slow, record.duration), most(even, record.duration)
		busy := r.only().busyOn("slow", "cpu", r.only().job("last_map"))
		return fmt.Sprintf("its reduces take %.0f s and more, others up to %.0f s; its processors are %s busy during the maps, those of all %s",
			a, b, percent(busy), percent(r.only().busy("cpu", r.only().job("last_map")))), a > b, []comparison{share(0.99, busy)}
	}, "simulated maps of TeraSort wait for disks for half of their time, on the slow node too; what the paper's node computed besides is not known"},
	{"E13", "sonata-foreign-load", "late reduces on the loaded node only", "only there", true, func(r runs) (string, bool, []comparison) {
		loaded := func(a record) bool { return a["node"] == "node01" }
		others := func(a record) bool { return a["node"] != "node01" }
		a, b := most(r.only().kind("reduce", loaded), finish), most(r.only().kind("reduce", others), finish)
		return fmt.Sprintf("its last reduce ends at %.0f s, that of others at %.0f s", a, b), a > 1.05*b, nil
	}, ""},
	{"R13", "sonata-slow-adapter", "a node whose network is slower than that of the others, and no critical task: check its network adapter", "its shuffles last longer; none of its reduces is an outlier", true, func(r runs) (string, bool, []comparison) {
		slow, even := r.only().kind("reduce", on("slow")), r.only().kind("reduce", on("even"))
		shuffle, others := mean(slow, phases("shuffle")), mean(even, phases("shuffle"))
		longest := most(slow, record.duration) / mean(even, record.duration)
		return fmt.Sprintf("its shuffles take %.1f s, those of others %.1f s; its longest reduce takes %.2f times the mean of the others", shuffle, others, longest),
			shuffle > 1.05*others && longest < outlierRatio, nil
	}, ""},
	{"E15", "zhang-shuffle-break", "the line of the shuffle breaks at 3.2 GB a reduce, and is steeper beyond", "2.9 to 3.6 GB, steeper", false, func(r runs) (string, bool, []comparison) {
		var x, y []float64
		for _, title := range slices.Sorted(maps.Keys(r)) {
			w := r[title]
			reduces := w.kind("reduce")
			if gb := mean(reduces, func(a record) float64 { return a.number("shuffle_bytes") }) / 1e9; gb < 6 {
				x, y = append(x, gb), append(y, mean(reduces, phases("shuffle", "merge")))
			}
		}
		two, err := fit.Segment(x, y, fit.SegmentOptions{MinPoints: 3, Margin: fit.DefaultMargin})
		if err != nil || !two.Two {
			return fmt.Sprint("one line ", err), false, nil
		}
		before, after := two.Pieces[0].B, two.Pieces[1].B
		return fmt.Sprintf("%.2f GB, %.1f to %.1f s/GB below 6 GB", *two.Tau, before, after), inside(*two.Tau, 2.9, 3.6) && after > before, []comparison{times(3.2, *two.Tau)}
	}, "a pass merges ten files together with the segments left in memory, so only an eleventh file needs another pass (3.5 GB); the paper has no run between 3.2 and 3.84 GB"},
	{"E18", "zhang-waves", "495, 788, 745, 448, 508 and 428 maps and 240 reduces on 128 slots of each; the paper prints no waves", "maps and reduces over slots, rounded up: 4, 7, 6, 4, 4, 4; 2", false, func(r runs) (string, bool, []comparison) {
		var text []string
		good := true
		for i, maps := range []int{495, 788, 745, 448, 508, 428} {
			w := r.with(fmt.Sprintf("maps=%d", maps)).jobs[0]
			text = append(text, w["map_waves"])
			good = good && w["map_waves"] == []string{"4", "7", "6", "4", "4", "4"}[i] && w["reduce_waves"] == "2"
		}
		return strings.Join(text, ", "), good, nil
	}, ""},
	{"E21", "speculation", "no significant gain on even nodes", "less than 5 %", false, func(r runs) (string, bool, []comparison) {
		off := r.with("slowdown=1", "map.tasks.speculative.execution=false", "reduce.tasks.speculative.execution=false").job("finish")
		v := r.with("slowdown=1", "map.tasks.speculative.execution=true", "reduce.tasks.speculative.execution=true").job("finish") / off
		return change(v), math.Abs(v-1) < 0.05, nil
	}, ""},
	{"E22", "khan-waves", "80 maps and 32 reduces on 16 slots of each: the first shuffle covers the maps and lasts longer than those of the second wave; 16 and 16: one wave", "two kinds of shuffle; one wave", false, func(r runs) (string, bool, []comparison) {
		w := r.with("input=5g", "reduces=32")
		first := w.kind("reduce", func(a record) bool { return start(a) < w.job("last_map") })
		second := w.kind("reduce", func(a record) bool { return start(a) >= w.job("last_map") })
		one := r.with("input=1g", "reduces=16").jobs[0]["reduce_waves"]
		return fmt.Sprintf("%d of %.0f to %.0f s, %d of %.0f to %.0f s; %s wave",
				len(first), least(first, phases("shuffle")), most(first, phases("shuffle")),
				len(second), least(second, phases("shuffle")), most(second, phases("shuffle")), one),
			len(first) == 16 && len(second) == 16 && least(first, phases("shuffle")) > most(second, phases("shuffle")) && one == "1", nil
	}, ""},
	{"L1", "osdi04-sort", "without backup tasks 44 % longer (891 and 1,283 s)", "longer", true, func(r runs) (string, bool, []comparison) {
		backup := func(is string) float64 {
			return r.with("map.tasks.speculative.execution="+is, "reduce.tasks.speculative.execution="+is).job("finish")
		}
		on, off := backup("true"), backup("false")
		return fmt.Sprintf("%s (%.0f and %.0f s)", change(off/on), on, off), off > 1.05*on, []comparison{times(891, on), times(1283, off)}
	}, ""},
	{"L3", "delay-scheduling", "without waiting few maps of small jobs are local (5 %); a short wait makes nearly all local", "rises", true, func(r runs) (string, bool, []comparison) {
		var text []string
		last, good := -1.0, true
		for _, d := range []string{"0", "1000", "3000", "5000", "10000"} {
			w := r.with("locality.delay=" + d)
			small := w.kind("map", func(a record) bool { return strings.HasPrefix(a["job"], "small") })
			local := mean(small, func(a record) float64 {
				if a["locality"] == "node" {
					return 1
				}
				return 0
			})
			good, last = good && local >= last, local
			text = append(text, fmt.Sprintf("%.0f", 100*local))
		}
		return strings.Join(text, ", ") + " % after 0, 1, 3, 5, 10 s", good, nil
	}, ""},
}

// FactShown is a fact with what a result shows of it.
type FactShown struct {
	ID, Scenario, Seen, Wanted, Shown, Outcome string
	Difference, Cause                          string // from the published numbers; empty where there are none
}

// ShownFacts are the facts that the result of a scenario shows.
type ShownFacts struct {
	Facts   []FactShown
	Assumed []string // in all its runs
}

// Facts compares the facts that a scenario is shipped for with its result in a
// directory.
func Facts(scenario, dir string) (s *ShownFacts, err error) {
	r, err := readRuns(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if missing, ok := recover().(missingFact); ok {
			s, err = nil, fmt.Errorf("%s: %s", dir, string(missing))
		}
	}()
	s = &ShownFacts{}
	for i := range facts {
		f := &facts[i]
		if f.scenario != scenario {
			continue
		}
		text, good, compared := f.show(r)
		outcome := "in band"
		switch {
		case !good:
			outcome = "**miss**"
		case f.direction:
			outcome = "direction"
		}
		if slices.Contains(heldOut, f.id) {
			outcome += ", held out"
		}
		var differences []string
		for _, c := range compared {
			differences = append(differences, c.String())
		}
		s.Facts = append(s.Facts, FactShown{
			ID: f.id, Scenario: f.scenario, Seen: f.seen, Wanted: f.band, Shown: text, Outcome: outcome,
			Difference: strings.Join(differences, ", "), Cause: f.cause,
		})
	}
	for _, title := range slices.Sorted(maps.Keys(r)) {
		s.Assumed = withNew(s.Assumed, r[title].assumptions)
	}
	return s, nil
}

// withNew appends the texts that the list does not have.
func withNew(list, texts []string) []string {
	for _, text := range texts {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}
