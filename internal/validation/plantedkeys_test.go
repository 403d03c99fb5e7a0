package validation

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/diagnosis"
	"github.com/slotwave/slotwave/workload"
)

// keyWorld is a scenario that is well configured, and the value of one key of the
// schema that makes it slower. The keys come from the schema alone: what the
// diagnosis knows of a key has no part in the draw.
type keyWorld struct {
	text  string
	key   string // as --set takes it; a table of a load has the name of its header
	value string
	load  string    // lines that --set cannot add
	other *keyWorld // whose key is planted too, with or without this one; nil: none
}

// kinds are the parts of the schema, one for each seed in turn: the worlds of any seeds in
// sequence are a fair draw. Properties have two turns, as most keys are properties.
var kinds = []string{"conf", "cluster", "node", "conf", "scheduler", "network"}

// kindOf is the part of the schema that a key is planted for; empty: none. The number of
// nodes is no setting, and jobs are what they are.
func kindOf(key string) string {
	part, rest, _ := strings.Cut(key, ".")
	switch {
	case part == "cluster" && (strings.HasPrefix(rest, "group.0.") || strings.HasSuffix(rest, "count") || rest == "nodes"):
		return ""
	case part == "cluster" && strings.HasPrefix(rest, "group.1."):
		return "node"
	case slices.Contains(kinds, part):
		return part
	}
	return ""
}

// unstated draw values of the keys of which the schema states no form, by the last part of
// their names: they are unset, or several forms are allowed.
var unstated = map[string]func(*rand.Rand) string{
	"cores": whole(1, 4), "disks": whole(1, 2), "memory": func(r *rand.Rand) string { return fmt.Sprintf("%d GB", 1+r.IntN(16)) },
	"disk_slowdown": factor(1.3, 5), "cpu_slowdown": factor(1.3, 4), "nic_slowdown": factor(2, 40), "nic_mb": factor(2, 40), "uplink_mb": factor(2, 60),
	"platform": func(r *rand.Rand) string { return hosts[r.IntN(len(hosts))].platform },
	"max_maps": whole(1, 12), "max_reduces": whole(1, 6), "max_running_jobs": whole(1, 2), "user_max_running_jobs": whole(1, 2), "pool_max_running_jobs": whole(1, 2),
	"min_share_timeout": seconds(1, 100), "fair_share_timeout": seconds(1, 100), "mode": oneOf("fair", "fifo"),
	"maximum_capacity": whole(5, 60), "minimum_user_limit_percent": whole(5, 60), "user_limit_factor": factor(0.1, 0.9), "supports_priority": oneOf("true", "false"),
	"maximum_initialized_jobs_per_user": whole(1, 2), "maximum_initialized_active_tasks": whole(1, 100), "maximum_initialized_active_tasks_per_user": whole(1, 100), "init_accept_jobs_factor": whole(1, 10),
	"load disk": factor(0.3, 0.9), "load cpu": factor(0.3, 0.9), "load network": factor(0.7, 0.99),
}

func whole(least, most int) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return fmt.Sprint(least + r.IntN(most-least+1)) }
}

// factor draws uniformly on a logarithmic scale.
func factor(least, most float64) func(*rand.Rand) string {
	return func(r *rand.Rand) string {
		return strconv.FormatFloat(least*math.Pow(most/least, r.Float64()), 'g', 3, 64)
	}
}

func seconds(least, most float64) func(*rand.Rand) string {
	draw := factor(least, most)
	return func(r *rand.Rand) string { return draw(r) + "s" }
}

func oneOf(values ...string) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return values[r.IntN(len(values))] }
}

// drawValue draws a value of a key from its form, its limits, and the value that it has.
func drawValue(r *rand.Rand, k scenarios.Key) (value string, ok bool) {
	codecs := []string{"org.apache.hadoop.io.compress.DefaultCodec", "org.apache.hadoop.io.compress.GzipCodec", "org.apache.hadoop.io.compress.BZip2Codec", lzoCodec}
	is, far := strings.Trim(k.Value, "\""), math.Pow(10, 4*r.Float64()-2)
	number, err := strconv.ParseFloat(is, 64)
	if bytes, err2 := workload.ParseBytes(is); k.Form == "size" {
		number, err = float64(bytes), err2
	}
	if err != nil {
		number = 1
	}
	within := func(least float64) float64 {
		v := max(least, math.Abs(number)) * far
		if k.Most > 0 {
			v = min(v, k.Most)
		}
		return max(v, k.Least)
	}
	last := k.Name[strings.LastIndexByte(k.Name, '.')+1:]
	switch draw := unstated[last]; {
	case k.Form == "switch":
		return fmt.Sprint(is != "true"), true
	case k.Form == "choice":
		return k.Words[r.IntN(len(k.Words))], true
	case k.Form == "duration":
		d, err := time.ParseDuration(is)
		return workload.Seconds(max(1, d.Seconds()) * far).String(), err == nil
	case k.Form == "number" && k.Most > 0 && k.Most <= 1:
		return strconv.FormatFloat(k.Least+(k.Most-k.Least)*r.Float64(), 'g', 2, 64), true
	case k.Form == "number" && draw == nil:
		return strconv.FormatFloat(within(0.1), 'g', 3, 64), true
	case (k.Form == "whole" || k.Form == "size") && draw == nil:
		return fmt.Sprint(int64(max(1, within(1)))), true
	case last == "codec":
		return codecs[r.IntN(len(codecs))], true
	case strings.HasSuffix(k.Name, "java.opts"):
		return fmt.Sprintf("-Xmx%dm", 200+r.IntN(4000)), true
	case draw != nil:
		return draw(r), true
	}
	return "", false
}

// newKeyWorld draws a cluster and its load.
func newKeyWorld(r *rand.Rand) *keyWorld {
	h := hosts[r.IntN(len(hosts))]
	release := []string{"0.20.2", "1.0.4", "1.2.1"}[r.IntN(3)]
	scheduler := []string{"fifo", "fair2", "capacity"}[r.IntN(3)]
	nodes, racks, block := 5+r.IntN(10), 1+r.IntN(3)/2, 64<<r.IntN(2)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("fidelity = \"device\"\nplots = \"none\"\n[cluster]\nhadoop = %q\nracks = %d\nmap_slots = %d\nreduce_slots = %d\nplatform = %q", release, racks, h.maps, h.reduces, h.platform)
	if r.IntN(2) == 0 {
		line("heartbeat = \"1s\"")
	}
	line("[[cluster.group]]\nname = \"well\"\ncount = %d\n[[cluster.group]]\nname = %q\ncount = 1\nslowdown = 1", nodes-1, sick)
	line("[scheduler]\nname = %q", scheduler)
	switch scheduler {
	case "capacity":
		line("\"mapred.capacity-scheduler.maximum-system-jobs\" = 3000\n[[scheduler.queue]]\nname = \"default\"\ncapacity = 100")
	case "fair2":
		line("[[scheduler.pool]]\nname = \"etl\"\nweight = 1")
	}
	if racks > 1 {
		line("[network]\nuplink_mb = %d", h.uplink*(nodes/racks+1))
	}
	line("[conf]")
	for _, kv := range [][2]string{
		{"dfs.block.size", fmt.Sprintf("%dm", block)}, {"io.sort.mb", fmt.Sprint(block * 5 / 2)}, {"io.sort.record.percent", "0.2"}, {"io.sort.factor", "100"},
		{"mapred.child.java.opts", "-Xmx1g"}, {"mapred.compress.map.output", "true"}, {"mapred.map.output.compression.codec", lzoCodec},
		{"mapred.reduce.slowstart.completed.maps", []string{"0.3", "0.5", "0.8"}[r.IntN(3)]},
		{"mapred.map.tasks.speculative.execution", "false"}, {"mapred.reduce.tasks.speculative.execution", "false"},
	} {
		line("%q = %q", kv[0], kv[1])
	}
	for j := range 1 + r.IntN(4)*r.IntN(2) {
		maps := int((0.6 + 2*r.Float64()) * float64(nodes*h.maps))
		line("[[job]]\nname = \"job%d\"\nsubmit = \"%ds\"\nprofile = %q\ninput = %d\nreduces = %d", j, j*(1+r.IntN(15)),
			[]string{"terasort", "sort", "wordcount", "join", "inverted-index"}[r.IntN(5)], maps*block<<20, max(1, int((0.5+0.45*r.Float64())*float64(nodes*h.reduces))))
		if scheduler == "fair2" {
			line("pool = \"etl\"")
		}
	}
	return &keyWorld{text: b.String()}
}

// plant draws a key of a kind that the schema of the world has, and then its value. It
// reports false for a key of which no value is drawn.
func (w *keyWorld) plant(t *testing.T, dir, kind string, r *rand.Rand) bool {
	t.Helper()
	name, _ := w.write(t, dir, false)
	f, err := scenarios.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := f.Keys()
	if err != nil {
		t.Fatal(err)
	}
	for _, device := range []string{"disk", "cpu", "network"} {
		keys = append(keys, scenarios.Key{Name: "cluster.group.1.load " + device})
	}
	keys = slices.DeleteFunc(keys, func(k scenarios.Key) bool { return kindOf(k.Name) != kind })
	k := keys[r.IntN(len(keys))]
	value, ok := drawValue(r, k)
	w.key, w.value, w.load = k.Name, value, ""
	if _, device, is := strings.Cut(k.Name, "load "); is {
		w.load = fmt.Sprintf("[[cluster.load]]\nnode = %q\ndevice = %q\nshare = %s\n", sick, device, value)
	}
	return ok
}

// write writes the world, without or with its planted value, and returns the
// settings with which it is opened.
func (w *keyWorld) write(t *testing.T, dir string, planted bool) (name string, set []string) {
	t.Helper()
	name, text := filepath.Join(dir, "well.toml"), w.text
	plant := func(w *keyWorld) {
		if text += w.load; w.load == "" {
			set = append(set, w.key+"="+w.value)
		}
	}
	if planted {
		name = filepath.Join(dir, "planted.toml")
		plant(w)
	}
	if w.other != nil {
		plant(w.other)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name, set
}

// dayOf returns the sum of the times of all jobs of a question in seconds, with each
// of some seeds. It is +Inf where a job does not succeed.
func dayOf(q model.WhatIf, seeds int) ([]float64, error) {
	days := make([]float64, seeds)
	q.Until = 24 * time.Hour // some values let a job wait for ever
	for i := range days {
		q.Seed = 100 + uint64(i)
		p, err := sim.Simulator{}.Predict(q)
		if err != nil {
			return nil, err
		}
		for k := range p.Jobs {
			if j := &p.Jobs[k]; j.State == workload.Succeeded && j.Finished() {
				days[i] += (j.Finish - j.Submit).Seconds()
			} else {
				days[i] = math.Inf(1)
			}
		}
	}
	return days, nil
}

// written writes a scenario into a file, and returns its question.
func written(t *testing.T, name, text string) model.WhatIf {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return questionOf(t, name)
}

// writtenDay writes a scenario into a file, and returns the sum of dayOf over the seeds
// that judge a change.
func writtenDay(t *testing.T, name, text string) float64 {
	t.Helper()
	list, err := dayOf(written(t, name, text), judgeSeeds)
	if err != nil {
		t.Fatal(err)
	}
	return sum(list)
}

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// keyJudge knows what a planted key costs, and judges findings by that.
type keyJudge struct {
	world         *keyWorld
	well, planted model.WhatIf
	before, after float64 // days without and with the planted value
}

const (
	judgeSeeds   = 5
	mostKeyTasks = 400 // a diagnosis simulates some hundred runs
)

// judge opens both scenarios. It returns nil if the key costs less than 3 %, lets a
// job fail, or has no such value.
func (w *keyWorld) judge(t *testing.T, dir string) *keyJudge {
	t.Helper()
	j := &keyJudge{world: w}
	for _, planted := range []bool{false, true} {
		name, set := w.write(t, dir, planted)
		s, err := study.Open(name, study.Options{Seed: 1, Set: set})
		if err != nil {
			if !planted && w.other == nil {
				t.Fatal(err)
			}
			return nil
		}
		q := s.Scenario.Runs[0].Question
		if q.Tasks() > mostKeyTasks {
			return nil
		}
		if planted {
			j.planted = q
		} else {
			j.well = q
		}
	}
	for _, seeds := range []int{1, judgeSeeds} { // most keys change nothing, which one seed shows
		before, err1 := dayOf(j.well, seeds)
		after, err2 := dayOf(j.planted, seeds)
		if j.before, j.after = sum(before), sum(after); errors.Join(err1, err2) != nil || j.after <= j.before {
			return nil
		}
	}
	if cost := j.after/j.before - 1; !(cost >= 0.03) || math.IsInf(cost, 1) {
		return nil
	}
	return j
}

// right reports whether a finding names the planted key, or changes something else
// that regains 70 % of the loss with no more hardware and no less work, and gains
// less than a fifth of that where nothing is planted.
func (j *keyJudge) right(f *diagnose.Finding) bool {
	if f.Change == nil {
		return false
	}
	if j.named(f) {
		return true
	}
	changed, err := f.Change.Edit(j.planted)
	if err != nil || j.easier(&changed) {
		return false
	}
	days, err := dayOf(changed, judgeSeeds)
	if err != nil || !(sum(days) <= j.after-0.7*(j.after-j.before)) {
		return false
	}
	if changed, err = f.Change.Edit(j.well); err != nil {
		return true
	}
	well, err := dayOf(changed, judgeSeeds)
	return err != nil || j.before-sum(well) < 0.2*(j.after-sum(days))
}

// named reports whether a finding changes the key or has its name, or has the name of the
// sick node.
func (j *keyJudge) named(f *diagnose.Finding) bool {
	key := strings.TrimPrefix(j.world.key, "conf.")
	if kindOf(key) == "node" {
		return strings.HasPrefix(f.Node, sick) || strings.Contains(f.Change.Text, sick)
	}
	return f.Change.Key == strings.ReplaceAll(key, ".0.", ".") || strings.Contains(f.Change.Text, key)
}

// easier reports whether a changed question has faster hardware, lower fixed costs
// or fewer replicas than the world before the planting.
func (j *keyJudge) easier(q *model.WhatIf) bool {
	c, well := &q.Cluster, &j.well.Cluster
	if len(c.Nodes) != len(well.Nodes) || c.Replication < well.Replication ||
		c.Costs.Launch < well.Costs.Launch || c.Costs.Setup < well.Costs.Setup || c.Costs.Cleanup < well.Costs.Cleanup || c.Costs.Commit < well.Costs.Commit {
		return true
	}
	for i := range c.Nodes {
		m, was := &c.Machines[c.Nodes[i].Machine], &well.Machines[well.Nodes[i].Machine]
		if m.Cores > was.Cores || m.Speed > was.Speed || m.NIC > was.NIC || m.Uplink > was.Uplink || m.Memory > was.Memory || m.JVMStart < was.JVMStart || m.CPU.Fetch < was.CPU.Fetch {
			return true
		}
		for k := range m.Disks {
			if k >= len(was.Disks) || m.Disks[k].Read > was.Disks[k].Read || m.Disks[k].Write > was.Disks[k].Write {
				return true
			}
		}
	}
	return false
}

// plantedKey draws worlds and keys of the kind that is the seed's until one costs enough.
func plantedKey(t *testing.T, dir string, seed uint64) *keyJudge {
	for r := rand.New(rand.NewPCG(seed, 28)); ; {
		w := newKeyWorld(r)
		if w.plant(t, dir, kinds[seed%uint64(len(kinds))], r) {
			if j := w.judge(t, dir); j != nil {
				return j
			}
		}
	}
}

// diagnoseKey plants a key and scores the diagnosis by its first findings.
func diagnoseKey(t *testing.T, seed uint64) (s keyScore) {
	dir := t.TempDir()
	j := plantedKey(t, dir, seed)
	w := j.world
	name, set := w.write(t, dir, true)
	out := filepath.Join(dir, "out")
	runSet(t, name, out, study.Options{Set: set})
	untested, err := diagnosis.Diagnose([]string{out}, diagnosis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := diagnosis.Diagnose([]string{out}, diagnosis.Options{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	s.worlds = 1
	if len(untested.Findings) > 0 {
		s.guesses = 1
		if j.right(&untested.Findings[0]) {
			s.guessed = 1
		}
	}
	var list []string
	for i := range d.Findings[:min(3, len(d.Findings))] {
		f := &d.Findings[i]
		list = append(list, fmt.Sprintf("%s [%s] %s %.1f %%", f.Rule, changeText(f.Change), f.Receipt.Outcome, 100*f.Receipt.Gain))
		if s.three == 0 && j.right(f) {
			s.three = 1
			if i == 0 {
				s.first = 1
			}
		}
	}
	t.Logf("seed %d: %s = %s costs %.1f %%: first %d, three %d: %s", seed, w.key, w.value, 100*(j.after/j.before-1), s.first, s.three, strings.Join(list, "; "))
	s.receipts.again(t, j.planted, d)
	return s
}

// keyScore counts the worlds in which the cause is named.
type keyScore struct {
	worlds, first, three int
	guesses, guessed     int // first findings without a test, and those that are right
	receipts             receipts
}

// runSet simulates a scenario with settings into a folder.
func runSet(t *testing.T, name, out string, o study.Options) {
	t.Helper()
	o.Seed = 1
	s, err := study.Open(name, o)
	if err != nil {
		t.Fatal(err)
	}
	d, err := resultdir.Create(out, resultdir.Purpose{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Abort()
	runs, err := s.Simulate(d, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(d, runs); err != nil {
		t.Fatal(err)
	}
	arguments := []string{"run", name, "--seed=1"}
	for _, v := range o.Set {
		arguments = append(arguments, "--set="+v)
	}
	m, err := s.Manifest(resultdir.Build{}, arguments)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(m); err != nil {
		t.Fatal(err)
	}
}

var untied = flag.Uint64("tags-deleted", 0, "seed that draws a tenth of the tags that tie keys to accounts, without which keys are planted; 0: all tags are there")

// withoutTags runs the test with a program that lacks a tenth of the tags that tie keys to
// accounts: what the proposer owes to the table, and not to the tests of changes.
func withoutTags(t *testing.T) {
	file, err := filepath.Abs("../../diagnose/levers.go")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const tags = "range strings.Fields(l.acts) {\n"
	kept := fmt.Sprintf(tags+"hash := uint32(%d)\nfor _, c := range l.key + acts {\nhash = (hash ^ uint32(c)) * 16777619\n}\nif hash>>8%%10 == 0 {\ncontinue\n}\n", *untied)
	changed := strings.Replace(string(source), tags, kept, 1)
	if changed == string(source) {
		t.Fatalf("%s has no %q", file, tags)
	}
	dir := t.TempDir()
	other, overlay := filepath.Join(dir, "levers.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{file: other}})
	if err := errors.Join(err, os.WriteFile(other, []byte(changed), 0o666), os.WriteFile(overlay, list, 0o666)); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("go", "test", ".", "-overlay", overlay, "-run", "^"+t.Name()+"$", "-v", "-timeout", "0", "-seeds", fmt.Sprint(cmp.Or(*evaluates, 10)), "-first-seed", fmt.Sprint(cmp.Or(*evaluated, 7001)))
	c.Env = append(os.Environ(), "SLOTWAVE_LARGE=1")
	text, err := c.CombinedOutput()
	t.Logf("%s", text)
	if err != nil {
		t.Error(err)
	}
}

// Any key of the schema that costs 3 % or more is named first. The whole
// tests plant ten; -seeds N plants N, of the kinds in turn.
func TestPlantedKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("whole jobs at fidelity device")
	}
	if *evaluates == 0 {
		layers.OnlyWhole(t, "a diagnosis simulates some hundred runs")
	}
	if *untied > 0 {
		withoutTags(t)
		return
	}
	n, first := cmp.Or(*evaluates, 10), cmp.Or(*evaluated, 7001)
	total := keyScore{}
	for seed := first; seed < first+n; seed++ {
		s := diagnoseKey(t, seed)
		total.worlds, total.first, total.three = total.worlds+1, total.first+s.first, total.three+s.three
		total.guesses, total.guessed = total.guesses+s.guesses, total.guessed+s.guessed
		total.receipts.add(s.receipts)
	}
	t.Logf("| any key | %+v |", total)
	if 10*total.three < 7*total.worlds {
		t.Errorf("%d of %d keys are named among the first three: want 70 %%", total.three, total.worlds)
	}
}

// plantedPair draws worlds with two keys, each of any kind, until both cost enough.
func plantedPair(t *testing.T, dir string, seed uint64) (*keyWorld, [2]*keyJudge) {
	for r := rand.New(rand.NewPCG(seed, 29)); ; {
		first := newKeyWorld(r)
		second := &keyWorld{text: first.text}
		known := first.plant(t, dir, kinds[seed%uint64(len(kinds))], r) && second.plant(t, dir, kinds[r.IntN(len(kinds))], r)
		if !known || first.key == second.key || kindOf(first.key) == "node" && kindOf(second.key) == "node" {
			continue
		}
		first.other, second.other = second, &keyWorld{key: first.key, value: first.value, load: first.load}
		if one := first.judge(t, dir); one != nil {
			if other := second.judge(t, dir); other != nil {
				return first, [2]*keyJudge{one, other}
			}
		}
	}
}

// Two keys that each cost 3 % or more while the other is planted are both named among the
// first three. The whole tests plant six pairs.
func TestPlantedPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("whole jobs at fidelity device")
	}
	if *evaluates == 0 {
		layers.OnlyWhole(t, "a diagnosis simulates some hundred runs")
	}
	n, worlds, both, one := cmp.Or(*evaluates, 6), 0, 0, 0
	for seed := cmp.Or(*evaluated, 5001); uint64(worlds) < n; seed++ {
		dir := t.TempDir()
		first, judges := plantedPair(t, dir, seed)
		second := first.other
		name, set := first.write(t, dir, true)
		out := filepath.Join(dir, "out")
		runSet(t, name, out, study.Options{Set: set})
		d, err := diagnosis.Diagnose([]string{out}, diagnosis.Options{Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		var named [2]bool
		var list []string
		for i := range d.Findings[:min(3, len(d.Findings))] {
			f := &d.Findings[i]
			list = append(list, fmt.Sprintf("%s [%s] %.1f %%", f.Rule, changeText(f.Change), 100*f.Receipt.Gain))
			for k, j := range judges {
				named[k] = named[k] || j.right(f)
			}
		}
		worlds++
		if named[0] && named[1] {
			both++
		}
		if named[0] || named[1] {
			one++
		}
		t.Logf("seed %d: %s = %s and %s = %s: %v: %s", seed, first.key, first.value, second.key, second.value, named, strings.Join(list, "; "))
	}
	t.Logf("| pairs | both %d, one %d of %d |", both, one, worlds)
	if 10*both < 6*worlds {
		t.Errorf("both keys of %d of %d pairs are named among the first three: want 60 %%", both, worlds)
	}
}

func changeText(c *diagnose.Change) string {
	if c == nil {
		return ""
	}
	return c.Text
}
