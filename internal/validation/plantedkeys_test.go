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
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/resultdir"
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
	load  string // lines that --set cannot add

	scheduler string
	other     *keyWorld // whose key is planted too, with or without this one; nil: none
}

// schemaKeys are the keys of a scenario outside [conf], with how a bad value is
// drawn. A key of which a scenario has no table is drawn again.
var schemaKeys = map[string][]struct {
	key  string
	draw func(r *rand.Rand) string
}{
	"cluster": {
		{"cluster.heartbeat", seconds(2, 30)}, {"cluster.map_slots", whole(1, 3)}, {"cluster.reduce_slots", whole(1, 2)}, {"cluster.racks", whole(2, 5)},
		{"cluster.costs.launch", seconds(3, 30)}, {"cluster.costs.setup", seconds(3, 60)}, {"cluster.costs.cleanup", seconds(3, 60)},
		{"cluster.costs.commit", seconds(1, 20)}, {"cluster.costs.task_cleanup", seconds(3, 30)}, {"cluster.disks", whole(1, 1)},
	},
	"node": {
		{"cluster.group.1.slowdown", factor(1.3, 4)}, {"cluster.group.1.cpu_slowdown", factor(1.3, 4)}, {"cluster.group.1.disk_slowdown", factor(1.3, 5)},
		{"cluster.group.1.nic_slowdown", factor(2, 40)}, {"cluster.group.1.fail_after", seconds(3, 20)}, {"cluster.group.1.dies", seconds(10, 60)},
		{"cluster.group.1.map_slots", whole(1, 1)}, {"cluster.group.1.reduce_slots", whole(1, 1)}, {"cluster.group.1.disks", whole(1, 1)},
		{"cluster.load disk", factor(0.3, 0.9)}, {"cluster.load cpu", factor(0.3, 0.9)}, {"cluster.load network", factor(0.7, 0.99)},
	},
	"scheduler": {
		{"scheduler.name", oneOf("fifo", "fair1", "fair2", "capacity")}, {"scheduler.mode", oneOf("fair", "fifo")},
		{"scheduler.user_max_running_jobs", whole(1, 2)}, {"scheduler.pool_max_running_jobs", whole(1, 2)},
		{"scheduler.pool.0.max_maps", whole(1, 12)}, {"scheduler.pool.0.max_reduces", whole(1, 6)}, {"scheduler.pool.0.max_running_jobs", whole(1, 2)},
		{"scheduler.queue.0.maximum_capacity", whole(5, 60)}, {"scheduler.queue.0.minimum_user_limit_percent", whole(5, 60)},
		{"scheduler.queue.0.user_limit_factor", factor(0.1, 0.9)}, {"scheduler.queue.0.maximum_initialized_jobs_per_user", whole(1, 1)},
		{"scheduler.queue.0.capacity", whole(5, 60)},
	},
	"network": {{"network.nic_mb", factor(2, 40)}, {"network.uplink_mb", factor(2, 60)}},
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

// drawProperty draws a value of a Hadoop property from its kind, default and range.
func drawProperty(r *rand.Rand, p workload.Property) (value string, ok bool) {
	codecs := []string{"org.apache.hadoop.io.compress.DefaultCodec", "org.apache.hadoop.io.compress.GzipCodec", "org.apache.hadoop.io.compress.BZip2Codec", lzoCodec}
	switch {
	case strings.HasSuffix(p.Key, ".codec"):
		return codecs[r.IntN(len(codecs))], true
	case strings.HasSuffix(p.Key, "java.opts"):
		return fmt.Sprintf("-Xmx%dm", 200+r.IntN(4000)), true
	case p.Switch():
		return fmt.Sprint(r.IntN(2) == 0), true
	}
	def, err := strconv.ParseFloat(p.Default, 64)
	if err != nil {
		return "", false
	}
	switch {
	case p.Range() == "a number from 0 to 1":
		value = strconv.FormatFloat(r.Float64(), 'g', 2, 64)
	case p.Whole() || p.Unit == "bytes":
		value = fmt.Sprint(int64(math.Max(1, math.Abs(def)) * math.Pow(10, 4*r.Float64()-2)))
	default:
		value = strconv.FormatFloat(math.Max(0.1, def)*math.Pow(10, 4*r.Float64()-2), 'g', 3, 64)
	}
	return value, p.Check(value) == nil
}

// newKeyWorld draws a cluster and its load, and a key of the schema with a value.
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
	w := &keyWorld{text: b.String(), scheduler: scheduler}
	w.plant(r)
	return w
}

// plant draws the key of the world and its value.
func (w *keyWorld) plant(r *rand.Rand) {
	w.key, w.value, w.load = "", "", ""
	for w.key == "" {
		kind := []string{"conf", "conf", "cluster", "node", "scheduler", "network"}[r.IntN(6)]
		if kind == "conf" {
			keys := workload.Properties()
			p, _ := workload.FindProperty(keys[r.IntN(len(keys))])
			if value, ok := drawProperty(r, p); ok && !strings.HasSuffix(p.Key, "*") {
				w.key, w.value = "conf."+p.Key, value
			}
			continue
		}
		k := schemaKeys[kind][r.IntN(len(schemaKeys[kind]))]
		value := k.draw(r)
		if device, ok := strings.CutPrefix(k.key, "cluster.load "); ok {
			w.load = fmt.Sprintf("[[cluster.load]]\nnode = %q\ndevice = %q\nshare = %s\n", sick, device, value)
		}
		if strings.HasPrefix(k.key, "scheduler.pool.") && w.scheduler != "fair2" || strings.HasPrefix(k.key, "scheduler.queue.") && w.scheduler != "capacity" {
			continue
		}
		w.key, w.value = k.key, value
	}
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
	s, err := study.Open(name, study.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s.Scenario.Runs[0].Question
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

const judgeSeeds = 5

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
		if q.Tasks() > 700 { // a diagnosis simulates some hundred runs
			return nil
		}
		days, err := dayOf(q, judgeSeeds)
		if err != nil {
			return nil
		}
		if planted {
			j.planted, j.after = q, sum(days)
		} else {
			j.well, j.before = q, sum(days)
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

// named reports whether a finding names the key by its last word, or the sick node
// by its name.
func (j *keyJudge) named(f *diagnose.Finding) bool {
	if strings.HasPrefix(j.world.key, "cluster.group.1.") || j.world.load != "" {
		return strings.HasPrefix(f.Node, sick) || strings.Contains(f.Change.Text, sick)
	}
	key := strings.TrimPrefix(j.world.key, "conf.")
	text := f.Change.Text
	switch key {
	case "cluster.heartbeat":
		return strings.Contains(text, "heartbeat of")
	case "cluster.map_slots", "mapred.tasktracker.map.tasks.maximum":
		return strings.Contains(text, "map slots")
	case "cluster.reduce_slots", "mapred.tasktracker.reduce.tasks.maximum":
		return strings.Contains(text, "reduce slots")
	case "cluster.disks":
		return strings.Contains(text, "as many disks")
	case "scheduler.name":
		return strings.HasPrefix(text, "scheduler ")
	case "network.nic_mb":
		return strings.Contains(text, "network interfaces")
	case "network.uplink_mb":
		return strings.Contains(text, "rack links")
	case "dfs.block.size":
		return strings.Contains(text, "splits")
	case "dfs.replication":
		return strings.Contains(text, "replica")
	}
	return strings.Contains(text, key)
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

// diagnoseKey plants a key and scores the diagnosis by its first findings. It
// reports false if the key costs too little.
func diagnoseKey(t *testing.T, seed uint64) (s keyScore, kept bool) {
	dir := t.TempDir()
	w := newKeyWorld(rand.New(rand.NewPCG(seed, 28)))
	j := w.judge(t, dir)
	if j == nil {
		return s, false
	}
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
	return s, true
}

// keyScore counts the worlds in which the cause is named.
type keyScore struct {
	worlds, first, three int
	guesses, guessed     int // first findings without a test, and those that are right
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
// tests plant ten; -seeds N plants until N keys cost that much.
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
	n := int(cmp.Or(*evaluates, 10))
	total := keyScore{}
	for seed := cmp.Or(*evaluated, 7001); total.worlds < n; seed++ {
		s, kept := diagnoseKey(t, seed)
		if kept {
			total.worlds, total.first, total.three = total.worlds+1, total.first+s.first, total.three+s.three
			total.guesses, total.guessed = total.guesses+s.guesses, total.guessed+s.guessed
		}
	}
	t.Logf("| any key | %+v |", total)
	if 10*total.three < 7*total.worlds {
		t.Errorf("%d of %d keys are named among the first three: want 70 %%", total.three, total.worlds)
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
	n, worlds, both, one := int(cmp.Or(*evaluates, 6)), 0, 0, 0
	for seed := cmp.Or(*evaluated, 5001); worlds < n; seed++ {
		r := rand.New(rand.NewPCG(seed, 29))
		first := newKeyWorld(r)
		second := &keyWorld{text: first.text, scheduler: first.scheduler}
		second.plant(r)
		if first.key == second.key || first.load != "" && second.load != "" {
			continue
		}
		first.other = second
		second.other = &keyWorld{key: first.key, value: first.value, load: first.load}
		judges, dir := [2]*keyJudge{}, t.TempDir()
		if judges[0] = first.judge(t, dir); judges[0] == nil {
			continue
		}
		if judges[1] = second.judge(t, dir); judges[1] == nil {
			continue
		}
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
