package validation

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/diagnosis"
)

// plan is a scenario of one job on a random cluster, with or without a fault.
type plan struct {
	r               *rand.Rand
	platform        string
	release         string
	nodes           int
	racks           int
	maps            int // slots of a node
	reduces         int
	block           int // MiB
	waves           float64
	profile         string
	scheduler, beat string
	count           int  // reduces of the job
	second          bool // a small job follows
	conf            map[string]string
	group           string   // of the node with a fault
	lines           []string // of [cluster], beside the group
	tables          []string
	job             []string
	nic             float64 // MB/s of that node; 0: as the others
}

// hosts are the platforms of the planted faults with slots that suit their
// cores, and the largest sort buffer that their memory allows.
var hosts = []struct {
	platform      string
	maps, reduces int
	uplink        int // MB/s for each node of a rack
}{
	{"dl145-g3", 4, 2, 40}, {"ec2-large", 2, 2, 30}, {"hitune-xeon", 8, 4, 40}, {"powerlinux-7r2", 32, 16, 300}, {"aloja-hdd", 12, 6, 40},
}

const lzoCodec = "com.hadoop.compression.lzo.LzoCodec"

// newPlan draws a healthy cluster: maps spill once, their output is compressed,
// reduces fit into one wave, and the scheduler fills all slots at a heartbeat.
func newPlan(seed uint64, kind string, planted bool) *plan {
	r := rand.New(rand.NewPCG(seed, 14))
	h := hosts[r.IntN(len(hosts))]
	if kind != "" {
		h = hosts[seed%uint64(len(hosts))] // each platform in turn
	}
	p := &plan{r: r, platform: h.platform, maps: h.maps, reduces: h.reduces, racks: 1, block: 64 << r.IntN(2)}
	p.release = []string{"0.20.2", "1.0.4", "1.2.1"}[r.IntN(3)]
	p.nodes = 6 + r.IntN(9)
	p.waves = float64(2+r.IntN(3)) - 0.1*r.Float64()
	p.profile = []string{"terasort", "sort", "wordcount", "join", "inverted-index"}[r.IntN(5)]
	p.scheduler = []string{"fair2", "capacity"}[r.IntN(2)]
	if r.IntN(3) == 0 {
		p.racks = 2
	}
	p.beat = []string{"500ms", "1s"}[r.IntN(2)]
	p.count = max(2, int((0.85+0.1*r.Float64())*float64(p.nodes*p.reduces)))
	p.conf = map[string]string{
		"dfs.block.size": fmt.Sprintf("%dm", p.block), "dfs.replication": "3",
		"io.sort.mb": fmt.Sprint(p.block * 5 / 2), "io.sort.record.percent": "0.2", "io.sort.factor": "100",
		"mapred.child.java.opts": "-Xmx1g", "mapred.compress.map.output": "true", "mapred.map.output.compression.codec": lzoCodec,
		"mapred.reduce.slowstart.completed.maps": []string{"0.3", "0.5", "0.7"}[r.IntN(3)],
		"mapred.map.tasks.speculative.execution": "false", "mapred.reduce.tasks.speculative.execution": "false",
	}
	if kind == "slowstart too early" { // it costs another job that waits for slots of reduces
		p.conf["mapred.reduce.slowstart.completed.maps"] = "0.9"
		p.count, p.waves, p.second, p.scheduler = p.nodes*p.reduces, p.waves+2, true, "fair2"
	}
	if kind == "one task a heartbeat" {
		p.beat = "3s"
	}
	if kind == "off-rack reads" {
		p.profile, p.racks, p.count = "grep", 3, p.nodes
	}
	if planted {
		faults[kind](p)
	}
	return p
}

// sick is the node with a fault of its own.
const sick = "sick"

// faults plant one fault each, by its name.
var faults = map[string]func(*plan){
	"slow disk":         func(p *plan) { p.group = fmt.Sprintf("disk_slowdown = %.2f", 1.6+2*p.r.Float64()) },
	"slow CPU":          func(p *plan) { p.group = fmt.Sprintf("cpu_slowdown = %.2f", 1.4+2*p.r.Float64()) },
	"slow NIC":          func(p *plan) { p.nic = 2 + 8*p.r.Float64() },
	"foreign disk load": func(p *plan) { p.load("disk") }, "foreign CPU load": func(p *plan) { p.load("cpu") }, "foreign network load": func(p *plan) { p.load("network") },
	"data skew": func(p *plan) { p.job = append(p.job, fmt.Sprintf("skew = { zipf = %.2f }", 0.5+0.7*p.r.Float64())) },
	"small buffer": func(p *plan) {
		p.conf["io.sort.mb"], p.conf["io.sort.factor"] = fmt.Sprint(8+p.r.IntN(p.block/4)), fmt.Sprint(3+p.r.IntN(8))
	},
	"slowstart too early": func(p *plan) {
		p.conf["mapred.reduce.slowstart.completed.maps"] = "0"
	},
	"slowstart too late": func(p *plan) { p.conf["mapred.reduce.slowstart.completed.maps"] = "1.0" },
	"too few slots":      func(p *plan) { p.waves *= float64(p.maps); p.maps = max(1, p.maps/4); p.waves /= float64(p.maps) },
	"too few reduces":    func(p *plan) { p.count = max(1, int(float64(p.count)*(0.1+0.3*p.r.Float64()))) },
	"off-rack reads": func(p *plan) {
		p.conf["dfs.replication"] = "1"
		p.scheduler = "fifo"
		p.tables = append(p.tables, fmt.Sprintf("[network]\nuplink_mb = %d", 5+p.r.IntN(25)))
	},
	"codec": func(p *plan) {
		if p.r.IntN(2) == 0 {
			p.conf["mapred.compress.map.output"] = "false"
		} else {
			p.conf["mapred.map.output.compression.codec"] = "org.apache.hadoop.io.compress.BZip2Codec"
		}
	},
	"one task a heartbeat": func(p *plan) { p.scheduler = "fair1" },
	"standstill": func(p *plan) {
		from := 15 + p.r.IntN(20)
		for _, device := range []string{"disk", "cpu", "network"} {
			p.tables = append(p.tables, fmt.Sprintf("[[cluster.load]]\nnode = %q\ndevice = %q\nshare = 1\nfrom = \"%ds\"\nuntil = \"%ds\"", sick, device, from, from+60+from%7*10))
		}
		p.group = "slowdown = 1"
	},
	"failing tasks": func(p *plan) { p.group = fmt.Sprintf("fail_after = \"%ds\"", 5+p.r.IntN(15)) },
	"tiny splits": func(p *plan) {
		small := 4 << p.r.IntN(2)
		p.waves *= float64(p.block / small)
		p.block = small
		p.conf["dfs.block.size"] = fmt.Sprintf("%dm", p.block)
	},
}

func (p *plan) load(device string) {
	text := fmt.Sprintf("share = %.2f", 0.3+0.5*p.r.Float64())
	if p.r.IntN(2) == 0 && device != "network" {
		text = fmt.Sprintf("streams = %d", map[string]int{"disk": 2 + p.r.IntN(5), "cpu": 2 * (p.maps + p.reduces)}[device])
	}
	if device == "network" {
		text = fmt.Sprintf("share = %.2f", 0.9+0.09*p.r.Float64())
	}
	p.tables = append(p.tables, fmt.Sprintf("[[cluster.load]]\nnode = %q\ndevice = %q\n%s", sick, device, text))
	p.group = "slowdown = 1"
}

// write writes the scenario into a folder and returns its name.
func (p *plan) write(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("fidelity = \"device\"\nplots = \"none\"\n[cluster]\nhadoop = %q\nracks = %d\nmap_slots = %d\nreduce_slots = %d\nheartbeat = %q\nplatform = %q", p.release, p.racks, p.maps, p.reduces, p.beat, p.platform)
	for _, l := range p.lines {
		line("%s", l)
	}
	well := p.nodes
	if p.group != "" || p.nic > 0 {
		well--
	}
	line("[[cluster.group]]\nname = \"well\"\ncount = %d", well)
	if well < p.nodes {
		line("[[cluster.group]]\nname = %q\ncount = 1\n%s", sick, p.group)
	}
	if p.nic > 0 {
		p.writePlatform(t, filepath.Join(dir, "replaced.toml"))
		line("platform = \"replaced.toml\"")
	}
	line("[scheduler]\nname = %q", p.scheduler)
	if p.scheduler == "capacity" {
		line("\"mapred.capacity-scheduler.maximum-system-jobs\" = 3000")
	}
	for _, table := range p.tables {
		line("%s", table)
	}
	line("[conf]")
	for _, key := range slices.Sorted(maps.Keys(p.conf)) {
		line("%q = %q", key, p.conf[key])
	}
	maps := int(p.waves * float64(p.nodes*p.maps))
	line("[[job]]\nname = \"job\"\nprofile = %q\ninput = %d\nreduces = %d", p.profile, maps*p.block<<20, p.count)
	for _, l := range p.job {
		line("%s", l)
	}
	if p.second {
		small := p.nodes * p.maps / 2
		line("[[job]]\nname = \"small\"\nsubmit = \"5s\"\nprofile = %q\ninput = %d\nreduces = %d", p.profile, small*p.block<<20, max(1, p.nodes/2))
	}
	name := filepath.Join(dir, "plan.toml")
	if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func (p *plan) writePlatform(t *testing.T, name string) {
	t.Helper()
	m, err := scenarios.Platform(p.platform)
	if err != nil {
		t.Fatal(err)
	}
	m.NIC = p.nic * 1e6
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(scenarios.WritePlatform(f, &m), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// questionOf opens a scenario of one run.
func questionOf(t *testing.T, name string) model.WhatIf {
	t.Helper()
	s, err := study.Open(name, study.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s.Scenario.Runs[0].Question
}

// jobTimes simulates a scenario with several seeds.
func jobTimes(t *testing.T, name string, seeds int) []float64 {
	t.Helper()
	q := questionOf(t, name)
	var times []float64
	for i := range seeds {
		q.Seed = 100 + uint64(i)
		p, err := sim.Simulator{}.Predict(q)
		if err != nil {
			t.Fatal(err)
		}
		j := p.Jobs[len(p.Jobs)-1]
		times = append(times, (j.Finish - j.Submit).Seconds())
	}
	return times
}

// cost returns the mean part by which a fault lengthens the job, over pairs of
// runs with the same seeds.
func cost(planted, well []float64) float64 {
	sum := 0.0
	for i := range planted {
		sum += planted[i]/well[i] - 1
	}
	return sum / float64(len(planted))
}

// runAndDiagnose simulates a scenario into a folder and diagnoses it as the verb
// does.
func runAndDiagnose(t *testing.T, name, out string, k diagnosis.Options, run string) *diagnosis.Diagnosis {
	t.Helper()
	runSet(t, name, out, study.Options{Set: []string{"plots=none"}})
	found, err := diagnosis.Diagnose([]string{filepath.Join(out, run)}, k)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// names reports whether a finding names a planted fault: its kind, and the node
// and device of one that has them.
func names(f *diagnose.Finding, kind string) bool {
	place, device := "", ""
	rules := map[string][]string{
		"slow disk": {"R16"}, "slow CPU": {"R16", "R01"}, "slow NIC": {"R16", "R13"}, "foreign disk load": {"R17", "R02"}, "foreign CPU load": {"R17"},
		"foreign network load": {"R17"}, "data skew": {"R25", "R08", "R10"}, "small buffer": {"R03"}, "slowstart too early": {"R04"}, "slowstart too late": {"R11"},
		"too few reduces": {"R20"}, "off-rack reads": {"R22"}, "codec": {"R05", "R06", "R19"}, "one task a heartbeat": {"R15"},
		"standstill": {"R18"}, "failing tasks": {"R23"}, "tiny splits": {"R21"},
	}[kind]
	switch kind {
	case "slow disk", "foreign disk load":
		place, device = sick, "disk"
	case "slow CPU", "foreign CPU load":
		place, device = sick, "cpu"
	case "slow NIC", "foreign network load":
		place, device = sick, "network"
	case "standstill", "failing tasks":
		place = sick
	}
	node := f.Node
	if strings.HasPrefix(node, sick) {
		node = sick
	}
	key := map[string]string{"slowstart too early": "mapred.reduce.slowstart.completed.maps", "slowstart too late": "mapred.reduce.slowstart.completed.maps", "too few slots": "cluster.map_slots", "too few reduces": "job.reduces", "one task a heartbeat": "scheduler.name", "tiny splits": "dfs.block.size"}[kind]
	if f.Rule == "key" { // proposed by the ledger
		return f.Change.Key == key && key != "" || place != "" && node == place
	}
	return slices.Contains(rules, f.Rule) && node == place && strings.HasPrefix(f.Device, device)
}

// hardware are the rules that blame a device or a node.
var hardware = []string{"R01", "R02", "R09", "R13", "R16", "R17", "R18"}

// score counts the diagnoses of one kind of fault.
type score struct {
	planted, first, three int
	harmless, left        int // cost less than 1 %; not confirmed
	receipts              receipts
}

// receipts counts first confirmed changes on fresh seeds.
type receipts struct{ advised, sign, inside int }

func (s *receipts) add(o receipts) {
	s.advised, s.sign, s.inside = s.advised+o.advised, s.sign+o.sign, s.inside+o.inside
}

func (s *score) add(o score) {
	s.planted, s.first, s.three = s.planted+o.planted, s.first+o.first, s.three+o.three
	s.harmless, s.left = s.harmless+o.harmless, s.left+o.left
	s.receipts.add(o.receipts)
}

// again tests the change of the first confirmed finding on twenty seeds of its
// own: whether the mean gain has the right sign, and lies in the interval of the
// diagnosis, which the error of this mean widens.
func (s *receipts) again(t *testing.T, question model.WhatIf, d *diagnosis.Diagnosis) {
	const seeds, first = 20, 90_000
	if !*fresh || len(d.Findings) == 0 || d.Findings[0].Receipt.Outcome != diagnose.Confirmed {
		return
	}
	f := &d.Findings[0]
	changed, err := f.Change.Edit(question)
	if err != nil {
		t.Fatal(err)
	}
	var gains []float64
	for seed := range uint64(seeds) {
		question.Seed, changed.Seed = first+seed, first+seed
		gains = append(gains, 1-jobTime(t, changed, f.Job)/jobTime(t, question, f.Job))
	}
	mean, sd := stat.MeanStdDev(gains, nil)
	r := f.Receipt
	half := math.Hypot((r.High-r.Low)/2, 2.093*sd/math.Sqrt(seeds))
	s.advised = 1
	if mean > 0 {
		s.sign = 1
	}
	if math.Abs(mean-r.Gain) <= half {
		s.inside = 1
	}
	t.Logf("on %d fresh seeds %.2f ± %.2f %%, the receipt has %.2f (%.2f to %.2f): sign %d, inside %d",
		seeds, 100*mean, 100*2.093*sd/math.Sqrt(seeds), 100*r.Gain, 100*r.Low, 100*r.High, s.sign, s.inside)
}

// jobTime simulates a question and returns the time of a job, or else the mean of all, in
// seconds.
func jobTime(t *testing.T, q model.WhatIf, job string) float64 {
	t.Helper()
	p, err := sim.Simulator{}.Predict(q)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, j := range p.Jobs {
		if j.ID == job {
			return (j.Finish - j.Submit).Seconds()
		}
		sum += (j.Finish - j.Submit).Seconds()
	}
	return sum / float64(len(p.Jobs))
}

// diagnosePlanted plants a fault. One that lengthens the job by 3 % or more
// should be named first. One that costs less than 1 % should not be confirmed.
func diagnosePlanted(t *testing.T, kind string, seed uint64) (s score) {
	const costs, harmless, pairs = 0.03, 0.01, 5
	well, planted := newPlan(seed, kind, false), newPlan(seed, kind, true)
	dir := t.TempDir()
	before := jobTimes(t, well.write(t, dir), pairs)
	name := planted.write(t, dir)
	c := cost(jobTimes(t, name, pairs), before)
	if c < costs && math.Abs(c) >= harmless {
		return s
	}
	d := runAndDiagnose(t, name, filepath.Join(dir, "out"), diagnosis.Options{Verify: true}, "")
	at := slices.IndexFunc(d.Findings, func(f diagnose.Finding) bool { return names(&f, kind) })
	if c < costs {
		s.harmless = 1
		if at < 0 || d.Findings[at].Receipt.Outcome != diagnose.Confirmed {
			s.left = 1
		}
		t.Logf("%s, seed %d on %s costs %.1f %%: left alone %d", kind, seed, planted.platform, 100*c, s.left)
		s.receipts.again(t, questionOf(t, name), d)
		return s
	}
	s.planted = 1
	if at == 0 {
		s.first = 1
	}
	if at >= 0 && at < 3 {
		s.three = 1
	}
	var list []string
	for _, f := range d.Findings[:min(3, len(d.Findings))] {
		list = append(list, fmt.Sprintf("%s %s %s %s %.1f %%", f.Rule, f.Node, f.Device, f.Receipt.Outcome, 100*f.Receipt.Gain))
	}
	t.Logf("%s, seed %d on %s costs %.1f %%: place %d of %s", kind, seed, planted.platform, 100*c, at+1, strings.Join(list, "; "))
	s.receipts.again(t, questionOf(t, name), d)
	return s
}

// evaluated are the seeds of a test; docs/validation.md names its own. Thresholds were
// chosen on seeds 1 to 11 and 1001 to 1003.
var (
	evaluated = flag.Uint64("first-seed", 0, "first seed of planted faults (0: 7001), healthy clusters (0: 2001) or runs without a part of the cluster")
	evaluates = flag.Uint64("seeds", 0, "number of seeds of planted faults, healthy clusters or runs without a part of the cluster (0: a few)")
	fresh     = flag.Bool("fresh", false, "also test the first confirmed change of each planted fault or key on 20 fresh seeds")
)

// Each kind of fault is named with its node and device. An ordinary run plants
// few. The flag -seeds plants each kind once for a seed, on five platforms in
// turn, for the figures of docs/validation.md.
func TestPlantedFaults(t *testing.T) {
	kinds, seeds := []string{"slow disk", "foreign CPU load", "standstill", "one task a heartbeat"}, uint64(1)
	if layers.Whole { // tiny splits take twice as long as all others; TestDiagnosedCases has a case of them
		kinds = append(kinds, "tiny splits")
	}
	if testing.Short() {
		t.Skip("whole jobs at fidelity device")
	}
	if *evaluates > 0 {
		kinds, seeds = slices.Sorted(maps.Keys(faults)), *evaluates
	}
	total, first := score{}, cmp.Or(*evaluated, 7001)
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			var sum score
			for seed := first; seed < first+seeds; seed++ {
				sum.add(diagnosePlanted(t, kind, seed))
			}
			t.Logf("| %s | %+v |", kind, sum)
			total.add(sum)
		})
	}
	t.Logf("| all | %+v |", total)
	if *evaluates == 0 && total.planted == 0 || float64(total.first) < 0.85*float64(total.planted) || float64(total.three) < 0.9*float64(total.planted) {
		t.Errorf("%d of %d faults are named first, %d among the first three: want 85 and 90 %%", total.first, total.planted, total.three)
	}
}

// No device or node of a healthy cluster is blamed.
func TestHealthyClusters(t *testing.T) {
	n := uint64(3)
	if testing.Short() {
		t.Skip("whole jobs at fidelity device")
	}
	if *evaluates > 0 {
		n = *evaluates
	}
	named, kept, first := 0, 0, cmp.Or(*evaluated, 2001)
	for seed := first; seed < first+n; seed++ {
		dir := t.TempDir()
		name := newPlan(seed, "", false).write(t, dir)
		blames := func(d *diagnosis.Diagnosis) bool {
			return slices.ContainsFunc(d.Findings, func(f diagnose.Finding) bool {
				return slices.Contains(hardware, f.Rule) && f.Receipt.Outcome != diagnose.Withdrawn
			})
		}
		out := filepath.Join(dir, "out")
		if !blames(runAndDiagnose(t, name, out, diagnosis.Options{}, "")) {
			continue
		}
		named++
		d, err := diagnosis.Diagnose([]string{out}, diagnosis.Options{Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		if blames(d) {
			kept++
			t.Logf("seed %d: %+v", seed, d.Findings[0])
		}
	}
	t.Logf("of %d healthy clusters hardware is named in %d, and not withdrawn in %d", n, named, kept)
	if 50*kept > int(n) {
		t.Errorf("hardware is blamed in %d of %d healthy clusters: want 2 %% or less", kept, n)
	}
}
