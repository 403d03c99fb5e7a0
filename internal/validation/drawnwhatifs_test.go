package validation

import (
	"cmp"
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
	"time"
)

// A whatIf is a question about a world, and the same change to the world itself.
type whatIf struct {
	kind       string
	asked, own []string // values of --set: for a history, for the world
}

func same(kind string, set ...string) whatIf { return whatIf{kind, set, set} }

// whatIfs are ten questions that every team asks, and two of the others.
func (w *drawnWorld) whatIfs() []whatIf {
	d := dice{rand.New(rand.NewPCG(w.seed, 27))}
	all := []whatIf{
		w.resized("more nodes", w.nodes*2), w.resized("fewer nodes", max(2, w.nodes*6/10)),
		w.scaled(1.5), w.scaled(3),
		w.otherSlots(d),
		same("map output codec", fmt.Sprintf("conf.mapred.compress.map.output=%v", !w.compressed)),
		same("sort buffer", fmt.Sprintf("conf.io.sort.mb=%d", w.otherSortMB(d))),
		same("scheduler", "scheduler.name="+w.otherScheduler(d)),
		same("speed of disks", fmt.Sprintf("cluster.disk_slowdown=%v", pick(d, 0.25, 0.5, 2.0))),
		same("network", fmt.Sprintf("network.nic_mb=%v", math.Round(w.nicMB*pick(d, 0.25, 4, 10)))),
	}
	rest := []whatIf{
		same("speed of cores", fmt.Sprintf("cluster.cpu_slowdown=%v", pick(d, 0.5, 2.0))),
		same("number of disks", fmt.Sprintf("cluster.disks=%d", w.otherDisks(d))),
		same("output codec", fmt.Sprintf("conf.mapred.output.compress=%v", !w.outputCompressed)),
		same("slowstart", fmt.Sprintf("conf.mapred.reduce.slowstart.completed.maps=%v", pick(d, 0.02, 0.5, 0.98))),
		w.otherReduces(d), w.otherBlocks(d),
	}
	d.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return append(all, rest[:2]...)
}

// resized keeps the slow and the loaded node, whose names have as many digits as the number of nodes.
func (w *drawnWorld) resized(kind string, nodes int) whatIf {
	set := fmt.Sprintf("cluster.nodes=%d", nodes)
	q := whatIf{kind, []string{set}, []string{set}}
	for i, factor := range w.slow {
		q.own = append(q.own, fmt.Sprintf("cluster.slowdowns.%s=%v", nodeName(i+1, nodes), factor))
	}
	if w.loaded {
		q.own = append(q.own, "cluster.load.0.node="+nodeName(1, nodes))
	}
	return q
}

func (w *drawnWorld) scaled(by float64) whatIf {
	q := whatIf{kind: fmt.Sprintf("data x%v", by), asked: []string{fmt.Sprintf("workload.scale_bytes=%v", by)}}
	for i, j := range w.jobs {
		q.own = append(q.own, fmt.Sprintf("job.%d.input=%d", i, int64(float64(j.bytes)*by)))
	}
	return q
}

func (w *drawnWorld) otherSlots(d dice) whatIf {
	by := pick(d, 0.5, 2.0)
	if w.mapSlots == 1 {
		by = 2
	}
	slots := func(n int) int { return max(1, int(float64(n)*by)) }
	return same("slots", fmt.Sprintf("cluster.map_slots=%d", slots(w.mapSlots)), fmt.Sprintf("cluster.reduce_slots=%d", slots(w.reduceSlots)))
}

func (w *drawnWorld) otherSortMB(d dice) int {
	if more := w.sortMB * 2; more < w.heapMB*7/10 && d.chance(0.7) {
		return more
	}
	return max(10, w.sortMB/2)
}

func (w *drawnWorld) otherScheduler(d dice) string {
	for {
		if other := pick(d, "fifo", "fair1", "fair2"); other != w.scheduler {
			return other
		}
	}
}

func (w *drawnWorld) otherDisks(d dice) int {
	if w.disks > 1 && d.chance(0.5) {
		return w.disks / 2
	}
	return w.disks * 2
}

func (w *drawnWorld) otherReduces(d dice) whatIf {
	n := max(2, int(float64(w.nodes*w.reduceSlots)*d.log(0.2, 1.9)))
	q := whatIf{kind: "reduces", asked: []string{fmt.Sprintf("workload.reduces=%d", n)}}
	for i, j := range w.jobs {
		if j.reduces > 0 {
			q.own = append(q.own, fmt.Sprintf("job.%d.reduces=%d", i, n))
		}
	}
	return q
}

func (w *drawnWorld) otherBlocks(d dice) whatIf {
	size := int(float64(w.blockMB)*pick(d, 0.5, 2.0)) * mib
	return whatIf{"block size", []string{fmt.Sprintf("workload.block_size=%d", size)}, []string{fmt.Sprintf("conf.dfs.block.size=%d", size)}}
}

// An answer is what a run says of the makespan and of the mean time of a job, in
// seconds. Without an interval low and high are 0.
type answer struct {
	makespan, meanJob, low, high float64
	refusal                      string
}

// ask runs a scenario or a history with settings.
func ask(t testing.TB, out, path string, settings []string, flags ...string) answer {
	t.Helper()
	args := append([]string{"run", path, "--workers", "1", "--force", "--set", "plots=none", "--set", "attempts=none", "--out", out}, flags...)
	for _, s := range settings {
		args = append(args, "--set", s)
	}
	code, _, errs := call("", args...)
	if code != 0 {
		return answer{refusal: firstLine(errs)}
	}
	for line := range strings.Lines(errs) {
		if strings.Contains(line, "--set") && strings.Contains(line, "has no effect") {
			return answer{refusal: strings.TrimSpace(line)}
		}
	}
	var s struct {
		Makespan struct {
			Mean float64 `json:"mean_ns"`
		}
		Calibrations, Interval struct {
			Mean float64 `json:"mean_ns"`
			Low  float64 `json:"low_ns"`
			High float64 `json:"high_ns"`
		}
		Jobs struct {
			Jobs, Succeeded int
			Mean            struct {
				Mean float64 `json:"mean_ns"`
			}
		}
	}
	if err := json.Unmarshal([]byte(read(t.(*testing.T), filepath.Join(out, "summary.json"))), &s); err != nil {
		t.Fatal(err)
	}
	if s.Jobs.Succeeded != s.Jobs.Jobs {
		return answer{refusal: fmt.Sprintf("%d of %d jobs end", s.Jobs.Succeeded, s.Jobs.Jobs)}
	}
	return answer{cmp.Or(s.Calibrations.Mean, s.Interval.Mean, s.Makespan.Mean) / 1e9, s.Jobs.Mean.Mean / 1e9, (s.Calibrations.Low + s.Interval.Low) / 1e9, (s.Calibrations.High + s.Interval.High) / 1e9, ""}
}

func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "warning:") {
			return line
		}
	}
	return "no reason"
}

// An asked question has the answer of one arm, the truth and the recorded time.
type askedQuestion struct {
	world            *drawnWorld
	arm              string
	whatIf           whatIf
	got, truth, base answer
}

func (q *askedQuestion) miss() float64     { return q.got.makespan/q.truth.makespan - 1 }
func (q *askedQuestion) jobMiss() float64  { return q.got.meanJob/q.truth.meanJob - 1 }
func (q *askedQuestion) hasInterval() bool { return q.got.refusal == "" && q.got.high > 0 }
func (q *askedQuestion) holds() bool {
	return q.got.low <= q.truth.makespan && q.truth.makespan <= q.got.high
}
func (q *askedQuestion) halfWidth() float64 { return (q.got.high - q.got.low) / 2 / q.got.makespan }

// moves returns whether the change makes a tenth of difference.
func (q *askedQuestion) moves() bool { return math.Abs(q.truth.makespan/q.base.makespan-1) >= 0.1 }

// The arms: what is asked of the history as it is, of the machine that calibrate finds
// from it, and of that which it finds when it starts from the facts that an owner knows.
var arms = []string{"history", "calibrated", "stated"}

func askedArms() []string { return strings.Split(*worldsArms, ",") }

// askWorld records a world, asks its history what would be if, and compares with the
// world that is changed so.
func askWorld(t *testing.T, w *drawnWorld) []askedQuestion {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	w.record(t, dir)
	if err := os.WriteFile(at("facts.toml"), []byte(w.factsPlatform(t)), 0o666); err != nil {
		t.Fatal(err)
	}
	scenario, history := at("scenario.toml"), at("past")
	paths := map[string]string{"history": history, "calibrated": at("calibrated/scenario.toml"), "stated": at("stated/scenario.toml")}
	failed := map[string]string{}
	for _, arm := range askedArms() {
		if arm == "history" {
			continue
		}
		began := time.Now()
		args := []string{"platform", "calibrate", history, "--fidelity", "device", "--quiet", "--out", at(arm)}
		if arm == "stated" {
			args = append(args, "--platform", at("facts.toml"))
		}
		if code, _, errs := call("", args...); code != 0 {
			failed[arm] = "calibrate: " + firstLine(errs)
		}
		t.Logf("%s: calibrate took %v", arm, time.Since(began).Round(time.Second))
	}
	// One long reduce on a slow node doubles a makespan: the truth is a mean of runs.
	base := ask(t, at("base"), scenario, nil, "--replications", "8", "--seed", "101")
	var all []askedQuestion
	for _, q := range append([]whatIf{{kind: "as recorded"}}, w.whatIfs()...) {
		truth := ask(t, at("truth"), scenario, q.own, "--replications", "8", "--seed", "101")
		if truth.refusal != "" {
			t.Logf("world %d: %s: %q: %s", w.seed, q.kind, q.own, truth.refusal)
			continue
		}
		for _, arm := range askedArms() {
			a := askedQuestion{w, arm, q, answer{refusal: failed[arm]}, truth, base}
			if a.got.refusal == "" {
				a.got = ask(t, at("answer"), paths[arm], w.armSettings(arm, q))
			}
			all = append(all, a)
		}
	}
	return all
}

// armSettings are those of the documents: an owner states the scheduler and the heartbeat,
// which few histories have.
func (w *drawnWorld) armSettings(arm string, q whatIf) []string {
	if arm != "stated" {
		return q.asked
	}
	known := slices.Clone(w.masterSets)
	if q.kind == "scheduler" {
		known = slices.DeleteFunc(known, func(s string) bool { return strings.HasPrefix(s, "scheduler.") })
	}
	return append(known, q.asked...)
}

// factsPlatform is the platform that calibrate starts from by itself, with the facts that
// the owner of the machines states in place of its own.
func (w *drawnWorld) factsPlatform(t *testing.T) string {
	var kept []string
	stated := map[string]bool{}
	for line := range strings.Lines(w.facts) {
		key, _, _ := strings.Cut(line, " ")
		stated[key] = true
	}
	inDisk, inAssumed := false, false
	for line := range strings.Lines(verb(t, "show", "dl145-g3")) {
		key, _, _ := strings.Cut(line, " ")
		inDisk = inDisk || strings.HasPrefix(line, "[[disk]]")
		switch {
		case key == "assumed":
			inAssumed = true
		case inAssumed:
			inAssumed = !strings.HasPrefix(line, "]")
		case key == "cores":
			kept = append(kept, w.facts)
		case inDisk && key == "count":
			kept = append(kept, fmt.Sprintf("count = %d\n", w.disks))
		case stated[key], key == "uplink_mb": // a cluster of one rack has none
		default:
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// writeAsked writes every question with its answers.
func writeAsked(t *testing.T, path string, all []askedQuestion) {
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }
	rows := [][]string{{"world", "format", "arm", "kind", "asked", "recorded_s", "truth_s", "answer_s", "low_s", "high_s", "truth_job_s", "answer_job_s", "refusal"}}
	for _, q := range all {
		rows = append(rows, []string{fmt.Sprint(q.world.seed), q.world.format, q.arm, q.whatIf.kind, strings.Join(q.whatIf.asked, " "), number(q.base.makespan),
			number(q.truth.makespan), number(q.got.makespan), number(q.got.low), number(q.got.high), number(q.truth.meanJob), number(q.got.meanJob), q.got.refusal})
	}
	writeRows(t, path, rows)
}
