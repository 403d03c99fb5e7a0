package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model/vectortest"
)

// draw writes parts of a random scenario.
type draw struct {
	*rand.Rand
	strings.Builder
}

func (d *draw) in(n int) bool { return d.IntN(n) == 0 }

func (d *draw) of(words ...string) string { return words[d.IntN(len(words))] }

// set writes a key in one of n scenarios.
func (d *draw) set(n int, key, format string, values ...any) {
	if d.in(n) {
		fmt.Fprintf(d, key+" = "+format+"\n", values...)
	}
}

// time draws how long something takes.
func (d *draw) time(most int) string {
	s := 1 + d.IntN(most)
	switch d.IntN(8) {
	case 0:
		return fmt.Sprintf(`{ dist = %q, mean = "%ds", sd = "%ds" }`, d.of("normal", "lognormal", "gamma"), s, 1+s/3)
	case 1:
		return fmt.Sprintf(`{ dist = "exponential", mean = "%ds" }`, s)
	case 2:
		return fmt.Sprintf(`{ dist = "uniform", min = "%ds", max = "%ds" }`, s, 2*s)
	case 3:
		return fmt.Sprintf(`{ dist = %q, mean = "%ds", min = "%ds", shape = 1.%d }`, d.of("weibull", "pareto"), s, s, 1+d.IntN(9))
	case 4:
		return fmt.Sprintf(`{ dist = "triangle", min = "%ds", mode = "%ds", max = "%ds" }`, s, s+d.IntN(9), s+9)
	case 5:
		return fmt.Sprintf(`{ dist = "empirical", quantiles = ["%ds", "%ds", "%ds"] }`, s, s+d.IntN(9), s+9)
	}
	return fmt.Sprintf(`"%dms"`, 1000*s+d.IntN(1000))
}

// drawnScenario is a small cluster of any release and fidelity, whose nodes differ, fail
// and die, with jobs in pools and queues.
func drawnScenario(r *rand.Rand) string {
	d := &draw{Rand: r}
	yarn, fidelity := d.in(4), d.of("replay", "replay", "phase", "device")
	release := d.of("0.20.2", "0.21.0", "1.0.4", "1.2.1", "1.2.1")
	if yarn {
		release = d.of("2.10.2", "3.3.6")
	} else if fidelity == "replay" && d.in(8) {
		release = "ideal"
	}
	planned := fidelity != "replay"
	d.set(6, "attempts", "%q", d.of("csv.gz", "none"))
	fmt.Fprintf(d, "fidelity = %q\n", fidelity)
	d.set(9, "until", `"%ds"`, 60+d.IntN(300))
	fmt.Fprintf(d, "[cluster]\nhadoop = %q\n", release)
	platform := func() string { return d.of("dl145-g3", "ec2-large", "hitune-xeon", "powerlinux-7r2", "server-2025") }
	if planned {
		fmt.Fprintf(d, "platform = %q\n", platform())
	}
	d.set(3, "price_per_hour", "0.%d", 1+d.IntN(9))
	if !yarn && release != "ideal" {
		d.set(4, "heartbeat", `"%dms"`, 500+d.IntN(4000))
		d.set(5, "from_start", "true")
		d.set(8, "shared_slots", "true")
		d.set(6, "heartbeats", `"every"`)
		d.set(4, "costs", `{ launch = "%dms", setup = "0.%ds", commit = "%dms" }`, 100+d.IntN(3000), d.IntN(9), d.IntN(900))
	}
	if yarn {
		d.set(2, "memory", `"%d GiB"`, 5+d.IntN(12))
		d.set(2, "vcores", "%d", 2+d.IntN(8))
	}
	groups := !d.in(2)
	if !groups {
		fmt.Fprintf(d, "nodes = %d\n", 2+d.IntN(6))
		d.set(2, d.of("racks", "nodes_per_rack"), "2")
		if !yarn {
			fmt.Fprintf(d, "map_slots = %d\nreduce_slots = %d\n", 1+d.IntN(3), 1+d.IntN(2))
		}
		d.set(3, "slowdown", "1.%d", d.IntN(9))
	} else {
		for g := range 2 + d.IntN(2) {
			fmt.Fprintf(d, "[[cluster.group]]\nname = \"%c\"\ncount = %d\n", 'a'+g, 1+d.IntN(3))
			if !yarn {
				fmt.Fprintf(d, "map_slots = %d\nreduce_slots = %d\n", 1+d.IntN(3), 1+d.IntN(2))
			}
			d.set(2, "slowdown", "%d.%d", 1+d.IntN(3), d.IntN(9))
			if release != "ideal" && g > 0 {
				d.set(6, "dies", `"%ds"`, 20+d.IntN(90))
			}
			d.set(8, "fail_after", `"%ds"`, 15+d.IntN(60))
			if planned {
				d.set(3, "platform", "%q", platform())
				d.set(3, "disk_slowdown", "%d", 2+d.IntN(3))
				d.set(4, "disks", "%d", 1+d.IntN(3))
				d.set(4, "cores", "%d", 1+d.IntN(8))
				d.set(4, d.of("cpu_slowdown", "nic_slowdown"), "1.%d", 1+d.IntN(9))
			}
		}
	}
	if planned && d.in(3) {
		node := map[bool]string{true: "a1", false: "node1"}[groups]
		fmt.Fprintf(d, "[[cluster.load]]\nnode = %q\ndevice = %q\n%s\n", node, d.of("disk", "cpu", "network"), d.of("streams = 2", "share = 0.4"))
		d.set(2, "from", `"%ds"`, d.IntN(20))
		d.set(2, "until", `"%ds"`, 21+d.IntN(60))
	}
	if planned && d.in(3) {
		d.WriteString("[network]\n")
		d.set(2, "nic_mb", "%d", 20+d.IntN(200))
		d.set(2, "uplink_mb", "%d", 20+d.IntN(400))
		d.set(3, "slack", "0.0%d", 1+d.IntN(9))
		d.set(3, "exact_fetches", "%d", d.IntN(30))
	}
	pools := []string{"etl", "adhoc", "default"}
	scheduler := d.of("fifo", "fair1", "fair2", "fair2", "capacity", "capacity", "maxedf", "minedf")
	if !yarn {
		fmt.Fprintf(d, "[scheduler]\nname = %q\n", scheduler)
		switch {
		case strings.HasPrefix(scheduler, "fair"):
			d.set(3, "user_max_running_jobs", "%d", 1+d.IntN(2))
			for _, pool := range pools[:1+d.IntN(2)] {
				fmt.Fprintf(d, "[[scheduler.pool]]\nname = %q\n", pool)
				d.set(2, "weight", "%d", 1+d.IntN(4))
				d.set(3, "min_maps", "%d", 1+d.IntN(3))
				d.set(3, "min_reduces", "1")
				d.set(4, "max_running_jobs", "1")
				d.set(4, "max_maps", "%d", 3+d.IntN(4))
				d.set(4, "max_reduces", "%d", 1+d.IntN(3))
				if scheduler == "fair2" {
					d.set(4, "mode", `"fifo"`)
					d.set(4, "min_share_timeout", `"%ds"`, 5+d.IntN(20))
				}
			}
			if d.in(4) {
				d.WriteString("[[scheduler.user]]\nname = \"ann\"\nmax_running_jobs = 1\n")
			}
		case scheduler == "capacity":
			first := 20 + d.IntN(40)
			for i, capacity := range []int{first, 30, 70 - first} {
				fmt.Fprintf(d, "[[scheduler.queue]]\nname = %q\ncapacity = %d\n", pools[i], capacity)
				d.set(3, "user_limit_factor", "2")
				d.set(3, "supports_priority", "true")
				d.set(4, "minimum_user_limit_percent", "%d", 20+d.IntN(80))
				d.set(5, "maximum_capacity", "%d", 70+d.IntN(31))
			}
		}
		if d.in(8) {
			fmt.Fprintf(d, "[[change]]\nat = \"%ds\"\n[change.scheduler]\nname = \"fifo\"\n", 10+d.IntN(60))
		}
	} else if scheduler = d.of("yarn-capacity", "yarn-fair", "yarn-fifo", ""); scheduler != "" {
		fmt.Fprintf(d, "[scheduler]\nname = %q\n", scheduler)
		for i, queue := range pools {
			switch scheduler {
			case "yarn-capacity":
				fmt.Fprintf(d, "[[scheduler.queue]]\nname = \"root.%s\"\ncapacity = %d\n", queue, []int{30, 50, 20}[i])
				d.set(3, "maximum_capacity", "%d", 50+d.IntN(51))
				d.set(3, "minimum_user_limit_percent", "%d", 20+d.IntN(80))
				d.set(3, "user_limit_factor", "%d", 1+d.IntN(3))
				d.set(4, "maximum_am_resource_percent", "0.%d", 2+d.IntN(8))
				d.set(4, "ordering_policy", `"fair"`)
			case "yarn-fair":
				fmt.Fprintf(d, "[[scheduler.queue]]\nname = \"root.%s\"\n", queue)
				d.set(2, "weight", "%d", 1+d.IntN(4))
				d.set(3, "minResources", `"%d mb, 1 vcores"`, 1024*(1+d.IntN(4)))
				d.set(3, "maxRunningApps", "%d", 1+d.IntN(2))
				d.set(3, "schedulingPolicy", "%q", d.of("fifo", "fair", "drf"))
			}
		}
	}
	d.WriteString("[conf]\n")
	d.set(2, `"mapred.reduce.slowstart.completed.maps"`, d.of("0", "0.05", "0.5", "1"))
	d.set(3, `"mapred.map.tasks.speculative.execution"`, "%t", d.in(2))
	d.set(3, `"mapred.reduce.tasks.speculative.execution"`, "%t", d.in(2))
	d.set(4, `"mapred.map.max.attempts"`, "%d", 1+d.IntN(3))
	d.set(2, `"mapred.tasktracker.expiry.interval"`, "%d", 30000+d.IntN(60000))
	d.set(4, `"mapred.max.tracker.failures"`, "%d", 1+d.IntN(3))
	d.set(4, `"mapred.max.map.failures.percent"`, "%d", 10+d.IntN(60))
	if yarn {
		d.set(2, `"mapreduce.map.memory.mb"`, "%d", 512*(1+d.IntN(5)))
		d.set(2, `"mapreduce.reduce.memory.mb"`, "%d", 512*(1+d.IntN(5)))
		d.set(3, `"mapreduce.map.cpu.vcores"`, "2")
		d.set(3, `"mapreduce.job.ubertask.enable"`, "true")
		d.set(3, `"yarn.scheduler.capacity.node-locality-delay"`, "%d", d.IntN(6))
		d.set(3, `"yarn.scheduler.maximum-allocation-mb"`, "4096")
		d.set(3, `"yarn.app.mapreduce.am.resource.mb"`, "%d", 512*(1+d.IntN(4)))
		d.set(3, `"yarn.scheduler.fair.preemption"`, "true")
	}
	if planned {
		d.set(2, `"dfs.block.size"`, "%d", 32<<(20+d.IntN(3)))
		d.set(2, `"io.sort.mb"`, "%d", 10+d.IntN(100))
		d.set(2, `"io.sort.factor"`, "%d", 2+d.IntN(20))
		d.set(3, `"mapred.compress.map.output"`, "true")
		d.set(3, `"mapred.output.compress"`, "true")
		d.set(3, `"mapred.job.shuffle.input.buffer.percent"`, "0.%d", 1+d.IntN(8))
		d.set(3, `"mapred.job.reduce.input.buffer.percent"`, "0.%d", d.IntN(8))
		d.set(3, `"io.sort.record.percent"`, "0.%02d", 1+d.IntN(40))
		d.set(4, `"mapred.child.java.opts"`, `"-Xmx%dm"`, 200+d.IntN(800))
	}
	jobs := 1 + d.IntN(4)
	if planned {
		jobs = (jobs + 1) / 2
	}
	for i := range jobs {
		fmt.Fprintf(d, "[[job]]\nname = \"j%d\"\nuser = %q\n", i, d.of("ann", "bob"))
		d.set(2, "priority", "%q", d.of("HIGH", "LOW", "VERY_HIGH"))
		d.set(2, "submit", `"%ds"`, d.IntN(60))
		if !yarn {
			d.set(2, "pool", "%q", d.of(pools...))
			d.set(2, "queue", "%q", d.of(pools[:map[bool]int{true: 3, false: 1}[scheduler == "capacity"]]...))
			d.set(3, "deadline", `"%ds"`, 60+d.IntN(200))
			d.set(6, "setup_cleanup", "false")
			if i > 0 {
				d.set(6, "after", `["j%d"]`, i-1)
			}
		} else if strings.HasPrefix(scheduler, "yarn-") && scheduler != "yarn-fifo" {
			fmt.Fprintf(d, "queue = \"root.%s\"\n", d.of(pools...))
		}
		if yarn && !planned && d.in(4) {
			fmt.Fprintf(d, "application = \"fixed\"\n")
			for range 1 + d.IntN(2) {
				fmt.Fprintf(d, "[[job.container]]\ncount = %d\nduration = %s\n", 1+d.IntN(9), d.time(20))
				d.set(2, "memory", `"%d MiB"`, 512*(1+d.IntN(5)))
				d.set(3, "vcores", "2")
				d.set(2, "priority", "%d", 1+d.IntN(9))
			}
			continue
		}
		reduces := d.IntN(4)
		fmt.Fprintf(d, "reduces = %d\n", reduces)
		if planned {
			fmt.Fprintf(d, "profile = %q\ninput = \"%dm\"\n", d.of("terasort", "wordcount", "sort", "grep", "inverted-index", "join"), 32+d.IntN(500))
			if reduces > 1 {
				d.set(3, "skew", "{ zipf = 0.%d }", 1+d.IntN(9))
			}
			continue
		}
		fmt.Fprintf(d, "maps = %d\nduration = %s\n", 4+d.IntN(12), d.time(20))
		d.set(5, "map_fail_ms", `{ "0" = [%d, -1] }`, 500+d.IntN(5000))
		d.set(6, "map_ends", `{ "1" = ["KILLED %ds"] }`, 1+d.IntN(20))
		d.set(9, "ends", `"KILLED %ds"`, 20+d.IntN(60))
		if reduces > 0 {
			fmt.Fprintf(d, "shuffle_duration = %s\nreduce_duration = %s\n", d.time(10), d.time(20))
			d.set(3, "sort_duration", d.time(3))
		}
		d.set(4, "off_factor", "1.%d", d.IntN(9))
		d.set(4, "rack_factor", "1.%d", d.IntN(9))
		d.set(6, "commits", "true")
		d.set(6, "from_last_map", "true")
		d.set(4, "shuffle_bytes", `"%dm"`, d.IntN(900))
		d.set(4, "output_bytes", `"%dm"`, d.IntN(900))
	}
	return d.String()
}

// questions draws some of what can be asked of a scenario in s.toml, whose run is in run.
func (d *draw) questions(text string) (asked [][]string) {
	over := "--over=" + d.of("cluster.nodes=2,4", "job.0.reduces=1:3:2", "conf.mapred.reduce.slowstart.completed.maps=0,0.5,1", "cluster.heartbeat=1s,4s")
	metric := "--metric=" + d.of("price_per_job", d.of("mean", "sum", "min", "max", "p95")+"_"+d.of(
		"submit_ns", "launch_ns", "running_ns", "first_map_ns", "last_map_ns", "shuffle_end_ns", "finish_ns", "low_ns", "high_ns", "maps", "reduces", "failed", "killed",
		"speculative", "node_local", "rack_local", "off_rack", "no_locality", "map_waves", "reduce_waves", "in_bytes", "shuffle_bytes", "out_bytes", "map_time_ns",
		"reduce_time_ns", "deadline_ns", "response_ns", "slowdown")+d.of("", "", "[user=ann]", "[pool=etl]", "[maps=1:9]", "[job=j0]", "[queue=root.*]"))
	all := [][]string{
		{"sweep", "s.toml", over, metric, "--replications=2", "--out=swept"},
		{"sweep", "s.toml", over, "--over=cluster.slowdown=1,2", "--out=swept2"},
		{"run", "s.toml", over, "-v", "--set=plots=none", "--out=varied"},
		{"run", "s.toml", "--replications=3", "--json", "--set=plots=none", "--out=replicated"},
		{"compare", "s.toml", over, metric, "-v"},
		{"compare", "s.toml", "--json", "--fail-above=5%"},
		{"inspect", "run", "--json"},
		{"inspect", "run", "--out=inspected"},
		{"convert", "run", "--to=rumen", "--anonymise", "--set=workload.scale_time=0.5", "--set=workload.jobs=2", "--force", "--out=anonymous"},
	}
	if !strings.Contains(text, "hadoop = \"2") && !strings.Contains(text, "hadoop = \"3") {
		all = append(all, [][]string{
			{"run", "s.toml", "--fork-at=20s", "--set=scheduler.name=fair2", "--set=plots=none", "--out=forked"},
			{"run", "s.toml", "--over=scheduler.name=fifo,fair2", "--over=cluster.heartbeat=1s,4s", "--out=varied2"},
			{"compare", "run", "s.toml", "--why", "--replications=2"},
			{"predict", "s.toml", over, "--json"},
			{"predict", "s.toml", "--deadline=4m"},
			{"size", "goals.toml", "-v", "--out=sized"},
			{"diagnose", "run", "--budget=3000", "--pairs=3", "--without"},
			{"diagnose", "run", "--budget=1000", "--json"},
		}...)
	}
	if !strings.Contains(text, `fidelity = "replay"`) {
		all = append(all, [][]string{
			{"convert", "run", "--to=samples", "--force", "--out=samples"},
			{"convert", "run", "--to=profile", "--per=job", "--on=s.toml"},
		}...)
		if strings.Count(text, "[[job]]") == 1 {
			searched := [][]string{{"sensitivity", "s.toml", "--replications=2", "--by=30%", "--out=sensitive"}, {"tune", "s.toml", "--replications=2", "--out=tuned"}}
			asked = append(asked, searched[d.IntN(2)])
		}
	}
	for _, i := range d.Perm(len(all))[:4] {
		asked = append(asked, all[i])
	}
	return asked
}

// What verbs say of random scenarios stays: a run, what is asked of its result, what it is
// converted to and read back from. A line of the golden file is a verb: its exit code and a
// digest of what it printed and wrote. -v shows the scenarios and what was printed.
func TestDrawnOutputsStay(t *testing.T) {
	golden, err := filepath.Abs("testdata/drawn.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var got bytes.Buffer
	var files watched
	const drawn = 48 // a fifth of them in short tests
	worlds := layers.Draws(drawn, drawn)
	if *update {
		worlds = drawn
	}
	for i := range worlds {
		r := rand.New(rand.NewPCG(uint64(i), 29))
		text := drawnScenario(r)
		writeFile(t, "s.toml", text)
		writeFile(t, "goals.toml", fmt.Sprintf("scenario = \"s.toml\"\nconfidence = \"60 %%\"\nmost_nodes = 4\nmax_replications = 20\n[[goal]]\nfinish = \"%dm\"\n", 2+i%5))
		if testing.Verbose() {
			t.Logf("%d:\n%s", i, text)
		}
		ask := func(args ...string) (code int) {
			code, out, errs := call("", args...)
			errs = progressLine.ReplaceAllString(errs, "")
			if testing.Verbose() {
				t.Logf("%q: exit %d\n%s%s", args, code, out, errs)
			}
			all := sha256.New()
			fmt.Fprintln(all, code, out, errs)
			for _, name := range files.changed(t) {
				fmt.Fprintln(all, name, files.files[name].text)
			}
			fmt.Fprintf(&got, "%d %s: exit %d, %.6x\n", i, args[0], code, all.Sum(nil))
			return code
		}
		plots, yarn := "plots="+map[bool]string{true: "all", false: "none"}[i%4 == 0], strings.Contains(text, "hadoop = \"2.10.2\"") || strings.Contains(text, "hadoop = \"3.3.6\"")
		run := []string{"run", "s.toml", "-v", "--seed", fmt.Sprint(i), "--set", plots, "--out", "run"}
		if !yarn {
			run = append(run, "--trace")
		}
		if ask(run...) != exitDone {
			continue
		}
		d := &draw{Rand: r}
		for _, question := range d.questions(text) {
			ask(question...)
		}
		formats := []string{"rumen", "history", "csv", "jhist", "csv.gz", "profile"}
		to := formats[i%len(formats)]
		if ask("convert", "run", "--to", to, "--force", "--out", "converted-"+to) == exitDone && i%len(formats) < 4 {
			ask("inspect", "converted-"+to)
			ask("run", "converted-"+to, "--set=plots=none", "--out=recorded")
			ask("run", "converted-"+to, "--set=workload.replay=rescaled", d.of("--set=cluster.nodes=3", "--set=workload.scale_bytes=2"), "--set=plots=none", "--out=moved")
		}
		ask("diagnose", "run", "--verify", "off", "--out", "diagnosis")
		if yarn {
			ask("run", "run", "--set", "plots=none", "--set", "cluster.hadoop=2.10.2", "--set", "workload.application="+d.of("mapreduce", "fixed"), "--out", "replayed")
			continue
		}
		ask("explain", "run", "--task", "j0/m/"+fmt.Sprint(r.IntN(4)))
		node := "node1"
		if strings.Contains(text, "[[cluster.group]]") {
			node = "b1"
		}
		ask("explain", "run", "--at", fmt.Sprintf("%ds", 10+r.IntN(60)), "--node", node)
		switch i % 4 {
		case 0:
			ask("run", "run", "--set", "plots=none", "--out", "replayed")
		case 1:
			ask("predict", "s.toml", "-v")
		case 2:
			ask("run", "run", "--set", "plots=none", "--set", fmt.Sprintf("cluster.nodes=%d", 2+r.IntN(4)), "--out", "changed")
		case 3:
			ask("compare", "s.toml", "run", "-v")
		}
	}
	vectortest.FirstLines(t, golden, got.String(), *update)
}
