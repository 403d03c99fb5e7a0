package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/evidence"
	"github.com/slotwave/slotwave/internal/layers"
)

// diagnosed is what diagnose --json prints.
type diagnosed struct {
	Jobs []struct {
		Job    string
		Submit int64            `json:"submit_ns"`
		Finish int64            `json:"finish_ns"`
		Ledger map[string]int64 `json:"ledger_ns"`
	}
	Findings []finding
	Unknown  []struct{ What string }
}

type finding struct {
	Rule, Cause, Node, Device, Change, Verdict string

	Value    float64
	Gain     float64
	Low      float64 `json:"gain_low"`
	High     float64 `json:"gain_high"`
	RealLow  float64 `json:"recorded_low"`
	RealHigh float64 `json:"recorded_high"`
}

// diagnoseByVerb diagnoses a path and checks that the ledger of each job adds up.
func diagnoseByVerb(t *testing.T, path string, flags ...string) (d diagnosed) {
	t.Helper()
	text := verb(t, append([]string{"diagnose", path, "--json"}, flags...)...)
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, j := range d.Jobs {
		sum := int64(0)
		for _, ns := range j.Ledger {
			sum += ns
		}
		if sum != j.Finish-j.Submit {
			t.Errorf("%s: accounts of %s add up to %d ns of %d", path, j.Job, sum, j.Finish-j.Submit)
		}
	}
	return d
}

// With --trace a diagnosis says the same of a run, and its ledgers have the limits that
// run names.
func TestTraceLeavesLedgers(t *testing.T) {
	t.Chdir(t.TempDir())
	var traced [2]diagnosed
	for i, flags := range [][]string{nil, {"--trace"}} {
		verb(t, append([]string{"run", "capacity-queues", "--set", "plots=none", "--out", fmt.Sprint(i)}, flags...)...)
		traced[i] = diagnoseByVerb(t, fmt.Sprint(i), "--verify", "off")
	}
	if !reflect.DeepEqual(traced[0].Jobs, traced[1].Jobs) {
		t.Errorf("got %+v: want %+v", traced[1].Jobs, traced[0].Jobs)
	}
	var limited int64
	for _, j := range traced[0].Jobs {
		limited += j.Ledger["scheduler limit"] + j.Ledger["locality"]
	}
	var s struct {
		Limits []struct {
			Limit string
			Time  int64 `json:"time_ns"`
		}
	}
	data, err := os.ReadFile("0/summary.json")
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range s.Limits {
		if l.Limit == "scheduler" {
			limited -= l.Time
		}
	}
	if limited != 0 {
		t.Errorf("diagnose has %d ns more with the scheduler than %+v", limited, s.Limits)
	}
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// paperCase is a run whose cause a paper names.
type paperCase struct {
	scenario, run string   // run: folder of one value of [vary]
	place         int      // of the paper's cause among the findings
	want          []string // its rule, node and device, and those of the next findings
	not           string   // instead: a rule and its cause that must not be confirmed
	slower        []float64
}

var paperCases = []paperCase{
	{"hitune-small-files", "scheduler-fair1", 2, []string{"R15"}, "", nil},
	{"hitune-codec", "map-output-compression-codec-org-apache-hadoop-io-compress-defau", 1, []string{"R19"}, "", nil},
	{"hitune-slow-disk", "", 1, []string{"R16 slow44 disk0", "R16 slow30 disk0"}, "", []float64{0.44, 0.30}},
	{"hitune-hive", "", 5, []string{"R05"}, "", nil},
	{"sonata-two-spills", "io-sort-mb-500", 4, []string{"R03"}, "", nil},
	{"sonata-slowstart", "shared-slots-false-reduce-slowstart-completed-maps-0-05", 1, nil, "R04, reduces start too early", nil},
	{"sonata-slowstart", "shared-slots-false-reduce-slowstart-completed-maps-0-9", 4, []string{"R07"}, "", nil},
	{"sonata-slowstart", "shared-slots-false-reduce-slowstart-completed-maps-1", 1, []string{"R11"}, "", nil},
	{"sonata-codecs", "compress-map-output-false-map-output-compression-codec-org-apach", 1, []string{"R05"}, "", nil},
	{"sonata-shared-slots", "shared-slots-false", 4, []string{"R07"}, "", nil},
	{"sonata-foreign-load", "", 1, []string{"R17 node01 disk"}, "", nil},
	{"sonata-slow-cpu", "", 1, []string{"R16 slow cpu"}, "", nil},
	{"hitune-sort", "", 1, nil, "R07, slots of the other kind idle", nil},
}

// TestPapersCauses: run and diagnose alone name the causes of the papers, on their
// nodes and devices, and confirm them at the place in the table.
func TestPapersCauses(t *testing.T) {
	layers.OnlyWhole(t, "whole jobs at fidelity device, with and without each change, take minutes")
	dir := t.TempDir()
	rows := []string{"| `slotwave run` | folder to diagnose | place | cause | where | change | gain |", "|---|---|---|---|---|---|---|"}
	done := map[string]bool{}
	for i := range paperCases {
		c := &paperCases[i]
		t.Run(strings.TrimSpace(c.scenario+" "+c.run), func(t *testing.T) {
			out := filepath.Join(dir, c.scenario)
			if !done[c.scenario] {
				verb(t, "run", c.scenario, "--set", "plots=none", "--quiet", "--out", out)
				done[c.scenario] = true
			}
			d := diagnoseByVerb(t, filepath.Join(out, c.run), "--budget", "0", "--pairs", "5")
			c.check(t, d.Findings)
			row := fmt.Sprintf("| `%s` | `%s` | | %s, is not confirmed | | | |", c.scenario, c.run, c.not)
			if len(c.want) > 0 {
				f := &d.Findings[c.place-1]
				row = fmt.Sprintf("| `%s` | `%s` | %d | %s, %s | %s | %s | %.1f ± %.1f %% |", c.scenario, c.run, c.place, f.Rule, f.Cause,
					strings.TrimSpace(f.Node+" "+f.Device), f.Change, 100*f.Gain, 50*(f.High-f.Low))
			}
			t.Log(row)
			rows = append(rows, row)
		})
	}
	if len(rows) == 2+len(paperCases) { // -run may have left out some
		evidence.Compare(t, "diagnosed-papers", strings.Join(rows, "\n"), *update)
	}
}

// check compares the first findings with those of the paper.
func (c *paperCase) check(t *testing.T, findings []finding) {
	t.Helper()
	not, _, _ := strings.Cut(c.not, ",")
	if i := slices.IndexFunc(findings, func(f finding) bool { return f.Rule == not && f.Verdict == "confirmed" }); i >= 0 {
		t.Errorf("%s is confirmed with a gain of %.1f %%: want it withdrawn", not, 100*findings[i].Gain)
	}
	if len(c.want) > 0 && len(findings) < c.place-1+len(c.want) {
		t.Fatalf("%d findings, want %s", len(findings), c.want)
	}
	for i, want := range c.want {
		f := &findings[c.place-1+i]
		if got := strings.TrimSpace(f.Rule + " " + strings.TrimSpace(f.Node+" "+f.Device)); got != want || f.Verdict != "confirmed" {
			t.Errorf("finding %d is %s, %s: want %s, confirmed", c.place+i, got, f.Verdict, want)
		}
		// Sharing moves the rate of a sound disk by as much as 3 points.
		if len(c.slower) > 0 && math.Abs(1-f.Value-c.slower[i]) > 0.03 {
			t.Errorf("%s of %s is %.1f %% slower, want %.0f", f.Device, f.Node, 100*(1-f.Value), 100*c.slower[i])
		}
	}
}

// records are the recorded histories and traces, by the name of their set.
var records = [][2]string{
	{"HiTune's Sort", "hitune-sort"}, {"EC2", "ec2-starfish"}, {"ALOJA", "aloja/terasort_100g_tasks.tsv"},
	{"GridMix", "gridmix-traces/*.json.gz"}, {"0.20.2, one machine, benchmarks", "platform-0.20.2/histories"}, {"0.20.2, one machine, jobs", "pseudo-0.20.2"},
	{"0.18 to 1.x", "mrv1-history/*"}, {"2.x", "mrv2-jhist"}, {"Rumen", "rumen"},
}

// TestDiagnoseEveryRecord: diagnose ends without an error on each recorded history
// and trace, names what is not known, and its ledgers add up.
func TestDiagnoseEveryRecord(t *testing.T) {
	if testing.Short() {
		t.Skip("reads every record")
	}
	var b strings.Builder
	b.WriteString("| record | files | jobs | with a finding | rules | not known, in most files |\n|---|---|---|---|---|---|\n")
	for _, set := range records {
		paths, err := filepath.Glob(shared(t, "data/"+set[1]))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v, %v", set[1], paths, err)
		}
		jobs, found := 0, map[string]bool{}
		unknown, rules := map[string]int{}, map[string]int{}
		for _, path := range paths {
			d := diagnoseByVerb(t, path, "--quiet")
			if len(d.Jobs) == 0 || len(d.Unknown) == 0 {
				t.Errorf("%s: %d jobs, %d things not known", path, len(d.Jobs), len(d.Unknown))
			}
			jobs += len(d.Jobs)
			for _, f := range d.Findings {
				rules[f.Rule]++
				found[path] = true
			}
			for _, u := range d.Unknown {
				unknown[u.What]++
			}
		}
		most := sorted(unknown)
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %s |\n", set[0], len(paths), jobs, len(found), strings.Join(sorted(rules), ", "), strings.Join(most[:min(6, len(most))], "; "))
	}
	evidence.Compare(t, "diagnosed-records", b.String(), *update)
}

// sorted lists the keys of counts, the largest first.
func sorted(counts map[string]int) []string {
	var keys []string
	for k := range counts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	return keys
}

// TestRealPairs runs the studies of docs/pairs by the commands of docs/cases.md, and
// compares what they give with the measured pairs.
func TestRealPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("large jobs at fidelity device")
	}
	files := absolute(t, root+"/docs/pairs")
	yarn, aloja := shared(t, "data/yarn-slowstart/runs.tsv"), shared(t, "data/aloja/runs.tsv.gz")
	t.Chdir(t.TempDir())
	if err := os.CopyFS(".", os.DirFS(files)); err != nil {
		t.Fatal(err)
	}
	t.Run("yarn", func(t *testing.T) {
		verb(t, "run", "my-yarn.toml", "--set", "plots=none", "--quiet", "--out", "my-yarn")
		verb(t, "run", "my-yarn.toml", "--set", "plots=none", "--quiet", "--set", "conf.mapred.reduce.slowstart.completed.maps=0.05", "--out", "my-early")
		evidence.Compare(t, "pairs-yarn", yarnPair(t, yarn, diagnoseByVerb(t, "my-yarn", "--budget", "0", "--pairs", "5"), diagnoseByVerb(t, "my-early", "--verify", "off")), *update)
	})
	t.Run("ec2", func(t *testing.T) {
		layers.OnlyWhole(t, "four calibrations take five minutes")
		evidence.Compare(t, "pairs-ec2", ec2Pairs(t, shared(t, "data/ec2-starfish")), *update)
	})
	measured := alojaRuns(t, aloja)
	var p alojaPairs
	p.rows.WriteString("| benchmark | pair | ratio measured, quartiles | simulated | result |\n|---|---|---|---|---|\n")
	for _, benchmark := range []string{"terasort", "wordcount", "sort"} {
		t.Run(benchmark, func(t *testing.T) { p.add(t, benchmark, measured[benchmark]) })
	}
	if p.pairs == 12 { // -run may have left out some
		fmt.Fprintf(&p.rows, "\nThe sign is right in %d of 12, %d are inside.\n", p.right, p.inside)
		if p.right < 12 || p.inside < 7 {
			t.Errorf("%d signs right, %d inside: want 12 and 7", p.right, p.inside)
		}
		evidence.Compare(t, "pairs-aloja", p.rows.String(), *update)
	}
	t.Run("errors", func(t *testing.T) { evidence.Compare(t, "pairs-errors", pairErrors(t), *update) })
}

func numberOf(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// yarnPair compares the advice on the run with slowstart 1.0 with the recorded runs
// of both settings.
func yarnPair(t *testing.T, file string, d, early diagnosed) string {
	t.Helper()
	times := map[string][]float64{}
	for _, r := range rowsOf(t, file) {
		if r["workload"] == "TeraSort" {
			times[r["slowstart"]] = append(times[r["slowstart"]], numberOf(t, r["elapsed_s"]))
		}
	}
	measured := 1 - average(times["0.05"])/average(times["1.0"])
	f := &d.Findings[0]
	took := func(d *diagnosed) float64 { return float64(d.Jobs[0].Finish - d.Jobs[0].Submit) }
	if f.Rule != "R11" || f.Verdict != "confirmed" || measured < 0 {
		t.Errorf("%s %s first, %.1f %% measured: want R11, confirmed", f.Rule, f.Verdict, 100*measured)
	}
	return fmt.Sprintf("| first finding | change | gain of `diagnose` | of one pair of runs | measured, %d and %d runs | sign |\n|---|---|---|---|---|---|\n| %s, %s: %s | %s | %.1f ± %.1f %% | %.1f %% | %.1f %% | right |\n",
		len(times["1.0"]), len(times["0.05"]), f.Rule, f.Cause, f.Verdict, f.Change, 100*f.Gain, 50*(f.High-f.Low), 100*(1-took(&early)/took(&d)), 100*measured)
}

// ec2Run is a recorded run of a pair that differs in the compression of the map output.
type ec2Run struct {
	id, kind string
	advice   diagnosed
	seconds  float64    // recorded
	means    [2]float64 // simulated: with compression, and without
}

// ec2Pairs compares the advice on each run of the two pairs, and the simulated change
// of the setting, with the other run of the pair.
func ec2Pairs(t *testing.T, folder string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| known run | first advice on the map output | gain of `diagnose` | simulated gain without compression | 1.3 times more or less | measured | sign | result |\n|---|---|---|---|---|---|---|---|\n")
	for _, pair := range [][2]string{{"0148", "0149"}, {"0076", "0077"}} {
		runs := [2]*ec2Run{newEC2Run(t, folder, pair[0], "compressed"), newEC2Run(t, folder, pair[1], "plain")}
		measured := 1 - runs[1].seconds/runs[0].seconds
		for plain, r := range runs {
			ratio := r.means[1] / r.means[0]
			low, high, result := 1-ratio*worldFactor, 1-ratio/worldFactor, "outside"
			if low <= measured && measured <= high {
				result = "inside"
			}
			f := r.codecAdvice(t)
			if ratio >= 1 || measured <= 0 {
				t.Errorf("%s: gain %.3f, measured %.3f: want both above 0", r.id, 1-ratio, measured)
			}
			if plain == 0 && (f.Verdict != "confirmed" || f.Change != "mapred.compress.map.output = false" || measured < f.RealLow || measured > f.RealHigh) {
				t.Errorf("%s: %s gains %.3f to %.3f on the recorded cluster: want no compression, and %.3f", r.id, f.Change, f.RealLow, f.RealHigh, measured)
			}
			fmt.Fprintf(&b, "| 1322_%s, %s | %s, %s: %s | %.1f ± %.1f %% | %.1f %% | %.0f to %.0f %% | %.1f %% | right | %s |\n",
				r.id, r.kind, f.Rule, f.Change, f.Verdict, 100*f.Gain, 50*(f.High-f.Low), 100*(1-ratio), 100*low, 100*high, 100*measured, result)
		}
	}
	return b.String()
}

// newEC2Run saves the rows of one job, calibrates a scenario of it, diagnoses it there,
// and simulates both settings.
func newEC2Run(t *testing.T, folder, id, kind string) *ec2Run {
	t.Helper()
	record, calibrated := "my-"+id, "calibrated-"+id
	if err := os.Mkdir(record, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"jobs.tsv", "tasks.tsv", "conf.tsv"} {
		lines := strings.SplitAfter(read(t, filepath.Join(folder, table)), "\n")
		own := slices.DeleteFunc(lines[1:], func(line string) bool { return !strings.HasPrefix(line, "201102151322_"+id+"\t") })
		writeFile(t, filepath.Join(record, table), lines[0]+strings.Join(own, ""))
	}
	verb(t, "platform", "calibrate", record, "--quiet", "--platform", "ec2-large", "--out", calibrated)
	scenario := filepath.Join(calibrated, "scenario.toml")
	r := &ec2Run{id: id, kind: kind, advice: diagnoseByVerb(t, record, "--on", scenario, "--budget", "0", "--pairs", "5")}
	r.seconds = float64(r.advice.Jobs[0].Finish-r.advice.Jobs[0].Submit) / 1e9
	for i, compressed := range []string{"true", "false"} {
		out := fmt.Sprint("runs-", id, "-", compressed)
		verb(t, "run", scenario, "--set", "plots=none", "--quiet", "--set", "conf.mapred.compress.map.output="+compressed, "--replications", "5", "--out", out)
		for _, row := range rowsOf(t, filepath.Join(out, "summary.csv")) {
			if row["metric"] == "mean_response_ns" {
				r.means[i] = numberOf(t, row["mean"])
			}
		}
	}
	return r
}

// codecAdvice returns the first finding on the compression of the map output.
func (r *ec2Run) codecAdvice(t *testing.T) *finding {
	t.Helper()
	for i := range r.advice.Findings {
		if f := &r.advice.Findings[i]; strings.HasPrefix(f.Change, "mapred.compress.map.output") {
			return f
		}
	}
	t.Fatalf("%s: no finding on the map output", r.id)
	return nil
}

// worldFactor is the factor of the interval for the recorded cluster, e^0.26: that of the
// pairs, or a little more.
const worldFactor = 1.297

// pairErrors judges that factor on the pairs of docs/evidence: those of one source are
// held back, and the factor is the conformal 80 % quantile of the errors of the others.
func pairErrors(t *testing.T) string {
	t.Helper()
	sources := []struct {
		name, table string
		simulated   int // columns
		measured    int
		gains       bool // in percent; else ratios
	}{{"EC2", "pairs-ec2", 3, 5, true}, {"YARN", "pairs-yarn", 2, 4, true}, {"ALOJA", "pairs-aloja", 3, 2, false}}
	errors := make([][]float64, len(sources))
	for i, s := range sources {
		for _, cells := range evidence.Read(t, s.table).All() {
			var ratio [2]float64
			for k, column := range []int{s.simulated, s.measured} {
				if _, err := fmt.Sscan(strings.TrimRight(strings.Fields(cells[column])[0], ","), &ratio[k]); err != nil {
					t.Fatalf("%s: %v: %v", s.table, cells, err)
				}
				if s.gains {
					ratio[k] = 1 - ratio[k]/100
				}
			}
			errors[i] = append(errors[i], math.Abs(math.Log(ratio[0]/ratio[1])))
		}
	}
	quantile := func(v []float64) float64 {
		v = slices.Sorted(slices.Values(v))
		return v[min(len(v), int(math.Ceil(0.8*float64(len(v)+1))))-1]
	}
	var b strings.Builder
	b.WriteString("| pairs held back | factor from the others | measured gain inside |\n|---|---|---|\n")
	inside, n := 0, 0
	for i, s := range sources {
		factor, in := quantile(slices.Concat(slices.Delete(slices.Clone(errors), i, i+1)...)), 0
		for _, e := range errors[i] {
			if e <= factor {
				in++
			}
		}
		fmt.Fprintf(&b, "| %s | %.2f | %d of %d |\n", s.name, math.Exp(factor), in, len(errors[i]))
		inside, n = inside+in, n+len(errors[i])
	}
	fmt.Fprintf(&b, "| all | %.2f of all pairs | %d of %d |\n", math.Exp(quantile(slices.Concat(errors...))), inside, n)
	if factor := math.Exp(quantile(slices.Concat(errors...))); n != 17 || 5*inside < 4*n || math.Abs(factor-1.284) > 0.01 || factor > worldFactor {
		t.Errorf("%d of %d inside, factor %.3f: want 80 %% of 17, 1.28 and at most %.3f", inside, n, factor, worldFactor)
	}
	return b.String()
}

// component is what the runs of a pair differ in: a column of the measured table and
// one of points.csv, with both values in each.
type component struct {
	name, measured, simulated string
	values                    [2][2]string
	oneDisk                   bool // only runs on disks are pairs
}

var components = []component{
	{"one disk to one SSD", "disk", "cluster.platform", [2][2]string{{"HDD", "SSD"}, {"aloja-hdd", "aloja-ssd"}}, false},
	{"Ethernet to InfiniBand", "net", "network.nic_mb", [2][2]string{{"ETH", "IB"}, {"118", "2000"}}, false},
	{"12 to 24 slots, one disk", "map_slots_per_node", "cluster.map_slots", [2][2]string{{"12", "24"}, {"12", "24"}}, true},
	{"1 to 3 replicas", "replication", "conf.'dfs.replication'", [2][2]string{{"1", "3"}, {"1", "3"}}, false},
}

// ratios returns the ratios of the times of all pairs that differ in a component
// alone. rows have the columns of the components and a column time.
func (c *component) ratios(t *testing.T, rows []map[string]string, column func(*component) string, values [2]string, hdd string) []float64 {
	t.Helper()
	others := func(r map[string]string) string {
		key := ""
		for i := range components {
			if components[i].name != c.name {
				key += r[column(&components[i])] + "\n"
			}
		}
		return key
	}
	times := map[[2]string][]float64{}
	for _, r := range rows {
		if !c.oneDisk || r[column(&components[0])] == hdd {
			k := [2]string{others(r), r[column(c)]}
			times[k] = append(times[k], numberOf(t, r["time"]))
		}
	}
	var all []float64
	for k, to := range times {
		if from := times[[2]string{k[0], values[0]}]; k[1] == values[1] && from != nil {
			all = append(all, middle(to)/middle(from))
		}
	}
	slices.Sort(all)
	return all
}

func middle(v []float64) float64 { return quantileOf(v, 0.5) }

// quantileOf interpolates between the sorted values.
func quantileOf(v []float64, p float64) float64 {
	v = slices.Sorted(slices.Values(v))
	at := p * float64(len(v)-1)
	i := int(at)
	return v[i] + (at-float64(i))*(v[min(i+1, len(v)-1)]-v[i])
}

// alojaRuns reads the measured runs of each benchmark.
func alojaRuns(t *testing.T, file string) map[string][]map[string]string {
	t.Helper()
	measured := map[string][]map[string]string{}
	for _, r := range rowsOf(t, file) {
		if r["cluster"] == "minerva100-10-18-21" && (r["disk"] == "HDD" || r["disk"] == "SSD") && slices.Contains([]string{"12", "16", "24"}, r["map_slots_per_node"]) &&
			(r["replication"] == "1" || r["replication"] == "3") && r["io_sort_factor"] == "10" && r["io_file_buffer"] == "65536" && r["comp"] == "0" && r["block_mb"] == "64" {
			r["time"] = r["exe_time_s"]
			measured[r["benchmark"]] = append(measured[r["benchmark"]], r)
		}
	}
	return measured
}

// alojaPairs compares the points of studies with the measured runs.
type alojaPairs struct {
	rows                 strings.Builder
	pairs, right, inside int
}

func (p *alojaPairs) add(t *testing.T, benchmark string, measured []map[string]string) {
	t.Helper()
	const repeats = 0.02 // as far as repeated runs of WordCount agree
	verb(t, "sweep", "my-"+benchmark+".toml", "--quiet", "--out", "out/my-"+benchmark)
	points := rowsOf(t, "out/my-"+benchmark+"/points.csv")
	for _, r := range points {
		r["time"] = r["makespan_ns"]
	}
	for i := range components {
		c := &components[i]
		was := c.ratios(t, measured, func(c *component) string { return c.measured }, c.values[0], "HDD")
		is := c.ratios(t, points, func(c *component) string { return c.simulated }, c.values[1], "aloja-hdd")
		if len(was) < 4 || len(is) < 4 {
			t.Fatalf("%s, %s: %d pairs measured, %d simulated", benchmark, c.name, len(was), len(is))
		}
		got, want, low, high := middle(is), middle(was), quantileOf(was, 0.25), quantileOf(was, 0.75)
		result := "outside"
		if got >= low-repeats && got <= high+repeats {
			result = "inside"
			p.inside++
		}
		if (got-1)*(want-1) < 0 && math.Abs(got-1) > repeats && math.Abs(want-1) > repeats {
			result += ", wrong sign"
		} else {
			p.right++
		}
		p.pairs++
		row := fmt.Sprintf("| %s | %s | %.2f, %.2f to %.2f | %.2f | %s |", benchmark, c.name, want, low, high, got, result)
		t.Log(row)
		p.rows.WriteString(row + "\n")
	}
}

// TestSamplesOfSizes: one job leaves about as many records of its threads on 5, 10 and 20
// nodes, as HiTune's did, because samples count the work and not the machines. Reduces
// fill one wave on each, and wait less for maps on more nodes.
func TestSamplesOfSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("three jobs at fidelity device")
	}
	t.Chdir(t.TempDir())
	writeFile(t, "sort.toml", `fidelity = "device"
plots = "none"
[cluster]
hadoop = "0.20.2"
nodes = 5
platform = "hitune-xeon"
map_slots = 8
reduce_slots = 4
[conf]
"dfs.block.size" = "128m"
"mapred.compress.map.output" = "true"
"mapred.map.output.compression.codec" = "com.hadoop.compression.lzo.LzoCodec"
[[job]]
name = "terasort"
profile = "terasort"
input = "40 GB"
reduces = 18
`)
	var counts []int
	for _, nodes := range []int{5, 10, 20} {
		out := fmt.Sprint("on-", nodes)
		verb(t, "run", "sort.toml", "--set", "plots=none", "--quiet", "--trace", "--set", fmt.Sprint("cluster.nodes=", nodes), "--set", fmt.Sprint("job.0.reduces=", 4*nodes-2), "--out", out)
		verb(t, "convert", out, "--to", "samples", "--every", "1s", "--out", out+".csv")
		counts = append(counts, strings.Count(read(t, out+".csv"), "\n")-1)
	}
	t.Logf("%d records on 5, 10 and 20 nodes", counts)
	if least, most := slices.Min(counts), slices.Max(counts); float64(most) > 1.18*float64(least) {
		t.Errorf("%d records: want at most 18 %% between", counts)
	}
}
