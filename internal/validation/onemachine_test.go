package validation

import (
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/evidence"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/workload"
)

// oneMachine is where the search for the real machine begins: what its README
// says of it, and round figures for the rest.
const oneMachine = `title = "Two server CPUs, all data in the page cache"
source = "README of the measurements: 2 CPUs, 24 GB, loopback network"
assumed = [
  "disk.read_mb: memory",
  "disk.write_mb: memory, which is written back",
  "nic_mb: loopback",
  "jvm.start: mean of the small runs from the launch of a task to its body",
  "cpu.local_read_byte: likewise",
  "cpu.local_write_byte: likewise",
  "cpu.fetch_byte: likewise",
  "cpu.open_file: likewise",
  "cpu.cold_records: likewise",
]
cores = 2
speed = 1
memory = "24g"
nic_mb = 1000
overlap = true
[[disk]]
read_mb = 1500
write_mb = 800
[disk.curve]
kind = "none"
[jvm]
start = "700ms"
heap_part = 1
[cpu]
fetch_byte = 3
open_file = 40e6
cold_records = 200000
local_read_byte = 0.5
local_write_byte = 1
`

// measuredJob is the scenario of an application, and of the small runs alike.
const measuredJob = `fidelity = "device"
[cluster]
hadoop = "0.20.2"
nodes = 1
platform = "found.toml"
map_slots = 2
reduce_slots = 2
[cluster.costs]   # short beside a heartbeat
setup = "50ms"
cleanup = "50ms"
commit = "10ms"
[scheduler]
name = "fifo"
[conf]
"dfs.block.size" = 67108864
"dfs.replication" = 1
"io.sort.mb" = 100
"mapred.child.java.opts" = "-Xmx200m"
[[job]]
name = "app"
profile = "%s"
input = %s
reduces = 2
`

const draws = 20 // of an application

// rowsIn reads a table; the first of two columns of a name counts.
func rowsIn(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(shared(t, "data/"+name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, key := range all[0] {
			if _, twice := row[key]; !twice {
				row[key] = cells[i]
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func figure(row map[string]string, key string) float64 {
	v, err := strconv.ParseFloat(row[key], 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// taskLog keeps the attempts of one run.
type taskLog []workload.Attempt

func (l *taskLog) Attempt(a *workload.Attempt) { *l = append(*l, *a) }

// A platform is calibrated to the profile of a real Hadoop 0.20.2 on one machine;
// the applications take from their small runs what their own code costs there, and
// run on their large inputs. The waits between and in their tasks are those that
// were measured.
func TestOneMachine(t *testing.T) {
	const set = "platform-0.20.2/"
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	grid := "mb_per_map,selectivity,maps,reduces\n"
	for _, r := range rowsIn(t, set+"grid-runs.csv") {
		if strings.HasPrefix(r["point"], "g1-") {
			grid += strings.Join([]string{r["mb_per_map"], r["selectivity"], r["maps"], r["reduces"]}, ",") + "\n"
		}
	}
	found := filepath.Join(dir, "found.toml")
	report := verb(t, "platform", "calibrate", shared(t, "data/"+set+"platform-profile.csv"), "--grid", put("grid.csv", grid),
		"--platform", put("start.toml", oneMachine), "--fidelity", "device", "--set", "cluster.nodes=1",
		"--set", `cluster.heartbeat="300ms"`, "--set", `conf."mapred.child.java.opts"="-Xmx200m"`, "--out", found)
	for _, line := range strings.Split(report, "\n")[1:7] {
		if f := strings.Fields(line); len(f) < 5 || figure(map[string]string{"after": f[4]}, "after") > 25 {
			t.Errorf("%s: want benchmarks within 25 %% of the profile in the mean", line)
		}
	}
	evidence.Compare(t, "one-machine-profile", profileTable(report), *update)

	var jobs strings.Builder
	jobs.WriteString("| application | measured | mean | simulated, mean of 20 | least to most | difference |\n|---|---|---|---|---|---|\n")
	measured := map[string]map[string][]float64{"small": {}, "large": {}} // job times, s
	input := map[string]string{}
	for _, r := range rowsIn(t, set+"jobs.csv") {
		measured[r["size"]][r["app"]] = append(measured[r["size"]][r["app"]], figure(r, "job_s"))
		input[r["app"]+r["size"]] = r["input_bytes"]
	}
	// Tasks of a run scatter; those of a simulation do not, but a draw of it is
	// faster or slower as a whole, by as much as the recorded maps of small runs are.
	times, scatter := map[string][]float64{}, map[string]float64{}
	for _, r := range rowsIn(t, set+"app-tasks.csv") {
		if r["type"] == "map" && r["size"] == "small" {
			times[r["app"]] = append(times[r["app"]], figure(r, "done_ms")-figure(r, "launch_ms"))
		}
	}
	for app, ms := range times {
		for _, v := range ms {
			scatter[app] += (v - average(ms)) * (v - average(ms)) / float64(len(ms))
		}
		scatter[app] = math.Sqrt(scatter[app]) / average(ms)
	}
	var normal [draws]float64 // midpoints of equal parts of a normal distribution
	for i := range normal {
		normal[i] = math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/draws-1)
	}
	var waits delays
	for _, app := range []string{"grep", "score", "sort", "terasort", "wordcount"} {
		histories, err := filepath.Glob(shared(t, "data/"+set+"histories/"+app+"-small-*.history.gz"))
		if err != nil || len(histories) == 0 {
			t.Fatalf("no histories of %s (%v)", app, err)
		}
		bed := put("bed.toml", fmt.Sprintf(measuredJob, "terasort", input[app+"small"]))
		verb(t, slices.Concat([]string{"convert"}, histories, []string{"--to", "profile", "--on", bed, "--out", filepath.Join(dir, app+".toml")})...)
		for _, size := range []string{"small", "large"} {
			var took []float64
			for seed := range uint64(draws) {
				f, err := scenarios.Open(put("run.toml", fmt.Sprintf(measuredJob, app+".toml", input[app+size])))
				if err != nil {
					t.Fatal(err)
				}
				s, err := f.Scenario(seed + 1)
				if err != nil {
					t.Fatal(err)
				}
				q := s.Runs[0].Question
				q.Cluster.Machines[0].Speed *= 1 + scatter[app]*normal[(7*seed)%draws]
				var log taskLog
				answer, err := sim.Simulator{Recorder: &log}.Predict(q)
				if err != nil {
					t.Fatal(err)
				}
				took = append(took, answer.Mean.Seconds())
				waits.simulated(log)
			}
			if size == "small" {
				continue
			}
			of, mean := measured[size][app], average(took)
			off := mean/average(of) - 1
			fmt.Fprintf(&jobs, "| %s | %.1f to %.1f | %.1f | %.1f | %.1f to %.1f | %+.1f %% |\n", app, slices.Min(of), slices.Max(of), average(of),
				mean, slices.Min(took), slices.Max(took), 100*off)
			if math.Abs(off) > 0.15 {
				t.Errorf("%s: %.1f s, measured %.1f s: want at most 15 %% between them", app, mean, average(of))
			}
		}
	}
	evidence.Compare(t, "one-machine-jobs", jobs.String(), *update)

	waits.measured(t)
	evidence.Compare(t, "one-machine-waits", waits.table(t), *update)
}

func average(values []float64) (mean float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	return mean
}

// profileTable is what calibrate says of the phases.
func profileTable(report string) string {
	var b strings.Builder
	b.WriteString("| phase | amounts | mean off before | mean off after | worst before | worst after |\n|---|---|---|---|---|---|\n")
	for _, line := range strings.Split(report, "\n")[1:7] {
		f := strings.Fields(strings.ReplaceAll(line, " %", ""))
		fmt.Fprintf(&b, "| %s | %s | %s %% | %s %% | %s %% | %s %% |\n", f[0], f[1], f[2], f[3], f[4], f[5])
	}
	return b.String()
}

// delays are waits that the protocol makes, seconds, measured and simulated.
type delays struct {
	report, idle, commit [2][]float64
	elsewhere            [2][]float64 // the report and the commit, of nine other jobs
}

// fromEnds is how long after each end of a map, but those of the last, the next
// one was launched.
func fromEnds(ends, launches []float64) (delays []float64) {
	for _, end := range ends {
		next := math.Inf(1)
		for _, l := range launches {
			if l >= end {
				next = math.Min(next, l-end)
			}
		}
		if !math.IsInf(next, 1) {
			delays = append(delays, next)
		}
	}
	return delays
}

func (d *delays) simulated(log taskLog) {
	var ends, launches []float64
	for _, a := range log {
		switch a.Kind {
		case workload.Map:
			ends, launches = append(ends, a.Finish.Seconds()), append(launches, a.Start.Seconds())
		case workload.Reduce:
			d.idle[1] = append(d.idle[1], a.WaitFetch.Seconds())
			d.commit[1] = append(d.commit[1], (a.Phases[workload.PhaseCommit] - 10*time.Millisecond).Seconds())
		}
	}
	d.report[1] = append(d.report[1], fromEnds(ends, launches)...)
}

func (d *delays) measured(t *testing.T) {
	ends, launches := map[string][]float64{}, map[string][]float64{}
	for _, r := range rowsIn(t, "platform-0.20.2/app-tasks.csv") {
		run := r["app"] + r["size"] + r["rep"]
		if r["type"] == "map" {
			ends[run] = append(ends[run], figure(r, "done_ms")/1000)
			launches[run] = append(launches[run], figure(r, "launch_ms")/1000)
			continue
		}
		d.idle[0] = append(d.idle[0], (figure(r, "fetch_ms")-figure(r, "busy_ms"))/1000)
		d.commit[0] = append(d.commit[0], figure(r, "commit_ms")/1000)
	}
	for _, run := range slices.Sorted(maps.Keys(ends)) {
		d.report[0] = append(d.report[0], fromEnds(ends[run], launches[run])...)
	}
	for _, r := range rowsIn(t, "pseudo-0.20.2/phases.csv") {
		if told := figure(r, "jt_success") - figure(r, "done"); !math.IsNaN(told) {
			d.elsewhere[0] = append(d.elsewhere[0], told)
		}
		if commit := figure(r, "commit_begin") - figure(r, "pending"); !math.IsNaN(commit) {
			d.elsewhere[1] = append(d.elsewhere[1], commit)
		}
	}
}

// table compares the distributions.
func (d *delays) table(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| wait, s | n | least | quartiles | most | simulated least | simulated quartiles | simulated most | KS distance | critical at 5 % |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, w := range []struct {
		name                string
		measured, simulated []float64
		most                float64 // distance; 0: not held to one
	}{
		{"end of a map to the next launch", d.report[0], d.report[1], 0.35},
		{"end of a task to the JobTracker, nine other jobs", d.elsewhere[0], d.report[1], 0.35},
		{"reduce with nothing to copy", d.idle[0], d.idle[1], 0.35},
		{"wish to commit to commit", d.commit[0], d.commit[1], 0.35},
		{"the same, nine other jobs", d.elsewhere[1], d.commit[1], 0.35},
	} {
		slices.Sort(w.measured)
		slices.Sort(w.simulated)
		five := func(v []float64) string {
			at := func(p float64) float64 { return v[int(p*float64(len(v)-1)+0.5)] }
			return fmt.Sprintf("%.2f | %.2f, %.2f, %.2f | %.2f", v[0], at(0.25), at(0.5), at(0.75), v[len(v)-1])
		}
		n, m := float64(len(w.measured)), float64(len(w.simulated))
		distance := kolmogorov(w.measured, w.simulated)
		fmt.Fprintf(&b, "| %s | %.0f | %s | %s | %.2f | %.2f |\n", w.name, n, five(w.measured), five(w.simulated), distance, 1.358*math.Sqrt((n+m)/(n*m)))
		if distance > w.most {
			t.Errorf("%s: distributions are %.2f apart, want at most %.2f", w.name, distance, w.most)
		}
	}
	return b.String()
}

// kolmogorov is the largest distance between the distributions of two sorted
// samples, where what differs by less than 50 ms is alike: commits are measured
// with their work, on a busy machine.
func kolmogorov(a, b []float64) (most float64) {
	const alike = 0.05
	upTo := func(v []float64, x float64) float64 {
		i := slices.IndexFunc(v, func(y float64) bool { return y > x })
		if i < 0 {
			i = len(v)
		}
		return float64(i) / float64(len(v))
	}
	for _, x := range a {
		most = math.Max(most, upTo(a, x)-upTo(b, x+alike))
	}
	for _, x := range b {
		most = math.Max(most, upTo(b, x)-upTo(a, x+alike))
	}
	return most
}
