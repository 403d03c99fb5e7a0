package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/study"
)

// head is a sound beginning; what is broken follows from line 8.
const head = `[cluster]
nodes = 2
[[job]]
name = "a"
maps = 4
map_ms = 1000
# line 7
`

const soundCase = `{"name": "c", "hadoop": "1.2.1",
 "cluster": {"trackers": 2, "racks": 1, "map_slots": 2, "reduce_slots": 1},
 "scheduler": {"type": "fifo"},
 "costs": {"launch_ms": 1000},
 "runs": [[0, 100]],
 "jobs": [{"name": "j", "submit_ms": 0, "maps": {"count": 2, "ms": 1000}}]}
`

// broken inputs: everything wrong is told at once, each with the line and what
// was expected, and nothing is written.
var broken = []struct {
	name, file, text string
	want             []string
}{
	{"unknown key of a table", "s.toml", head + "[scheduler]\nnmae = \"fifo\"", []string{"s.toml:9: unknown key scheduler.nmae (did you mean scheduler.name?)"}},
	{"unknown key at the top", "s.toml", "titel = \"x\"\n" + head, []string{"s.toml:1: unknown key titel (did you mean title?)"}},
	{"unknown key of a job", "s.toml", head + "reduce = 3", []string{"s.toml:8: unknown key job[0].reduce (did you mean job[0].reduces?)"}},
	{"unknown table", "s.toml", head + "[claster]\nnodes = 3", []string{"s.toml:8: unknown key claster (did you mean cluster?)"}},
	{"three faults at once", "s.toml", head + "reduces = -1\npriority = \"URGENT\"\n[scheduler]\nname = \"fare\"", []string{"s.toml:8: ", "s.toml:9: ", "s.toml:11: "}},
	{"not TOML", "s.toml", head + "reduces = [1, 2}", []string{"s.toml:8: ", "want a TOML file"}},
	{"two equals signs", "s.toml", head + "reduces == 3", []string{"s.toml:8: reduces == 3: want reduces = 3"}},
	{"a colon", "s.toml", head + "reduces: 3", []string{"s.toml:8: reduces: 3: want reduces = 3"}},
	{"no equals sign", "s.toml", head + "reduces 3", []string{"s.toml:8: reduces 3: want reduces = 3"}},
	{"no value", "s.toml", head + "reduces =", []string{"s.toml:8: reduces =: want a value after ="}},
	{"a word without quotes", "s.toml", head + "user = bob", []string{`s.toml:8: user = bob: want a number, true or false, or a text in quotes: "bob"`}},
	{"a unit without quotes", "s.toml", head + "submit = 20s", []string{`s.toml:8: submit = 20s: want a number without a unit, or a text in quotes: "20s"`}},
	{"an open quote", "s.toml", head + "user = \"bob\nreduces = 1", []string{`s.toml:8: user = "bob: want a quote at the end too: user = "bob"`}},
	{"an open bracket", "s.toml", head + "[scheduler\nname = \"fifo\"", []string{"s.toml:8: [scheduler: want [scheduler]"}},
	{"a comma at the end", "s.toml", head + "reduces = 3,", []string{"s.toml:8: reduces = 3,: want no , at the end: reduces = 3"}},
	{"a semicolon at the end", "s.toml", head + "reduces = 3;", []string{"s.toml:8: reduces = 3;: want no ; at the end: reduces = 3"}},
	{"curly quotes", "s.toml", head + "user = \u201cbob\u201d", []string{"want straight quotes: user = \"bob\""}},
	{"seconds for milliseconds", "s.toml", "[cluster]\nnodes = 2\n[[job]]\nmaps = 4\nmap_sec = 5", []string{"s.toml:5: unknown key job[0].map_sec (did you mean job[0].map_ms?)"}},
	{"jobs", "s.toml", "[cluster]\nnodes = 2\n[[jobs]]\nmaps = 4", []string{"s.toml:3: unknown key jobs (did you mean job?)"}},
	{"a number with commas", "s.toml", head + "reduces = 3,000", []string{"s.toml:8: reduces = 3,000: want a number without commas: reduces = 3000"}},
	{"a list without brackets", "s.toml", head + "[vary]\n\"cluster.nodes\" = 3, 4", []string{`s.toml:9: "cluster.nodes" = 3, 4: want a list in brackets: "cluster.nodes" = [3, 4]`}},
	{"yes", "s.toml", strings.Replace(head, "nodes = 2", "nodes = 2\nshared_slots = yes", 1), []string{"s.toml:3: shared_slots = yes: want shared_slots = true"}},
	{"a number with a 0 before it", "s.toml", head + "reduces = 03", []string{"s.toml:8: reduces = 03: want no 0 before a number: reduces = 3"}},
	{"another comment", "s.toml", head + "// reduces", []string{"s.toml:8: // reduces: want # before a comment"}},
	{"a key twice", "s.toml", head + "maps = 5", []string{"s.toml:8: job.maps is set twice: want one of the two"}},
	{"another tool's word", "s.toml", "[cluster]\nnodes = 2\n[[job]]\nmappers = 4\nmap_ms = 5", []string{"s.toml:4: unknown key job[0].mappers (did you mean job[0].maps?)"}},
	{"a list of one table", "s.toml", "[cluster]\nnodes = 2\n[job]\nmaps = 4", []string{"s.toml:3: job: a table: want a list of tables [[job]]"}},
	{"a text for a number", "s.toml", "[cluster]\nnodes = \"two\"", []string{`s.toml:2: cluster.nodes: "two": want a whole number from 1`}},
	{"no nodes", "s.toml", "[cluster]\nracks = 1\n[[job]]\nmaps = 1\nmap_ms = 1", []string{"s.toml:1: cluster.nodes: want nodes or [[cluster.group]]"}},
	{"no jobs", "s.toml", "[cluster]\nnodes = 2", []string{"s.toml: no jobs: want [[job]] tables or a trace"}},
	{"zero nodes", "s.toml", strings.Replace(head, "nodes = 2", "nodes = 0", 1), []string{"s.toml:2: cluster.nodes: 0: want a whole number from 1"}},
	{"a billion nodes", "s.toml", strings.Replace(head, "nodes = 2", "nodes = 1000000000", 1), []string{"s.toml:2: cluster.nodes: 1000000000: want"}},
	{"a billion maps", "s.toml", strings.Replace(head, "maps = 4", "maps = 1000000000", 1), []string{"s.toml:5: job[0].maps: 1000000000: want"}},
	{"no slots", "s.toml", strings.Replace(head, "nodes = 2", "nodes = 2\nmap_slots = 0\nreduce_slots = 0", 1), []string{"cluster.map_slots: no node has a slot"}},
	{"negative slots", "s.toml", strings.Replace(head, "nodes = 2", "nodes = 2\nmap_slots = -1", 1), []string{"s.toml:3: cluster.map_slots: -1"}},
	{"more slots than memory", "s.toml", strings.Replace(head, "nodes = 2", "nodes = 200000\nmap_slots = 100000", 1), []string{"s.toml:3: cluster.map_slots: 20000400000 slots on 200000 nodes: want at most 20000000"}},
	{"more slots than memory in all runs", "s.toml", head + "[vary]\n\"cluster.map_slots\" = [90000, 91000]\n\"cluster.nodes\" = [100, 150]", []string{"s.toml:8: vary: the runs have more than"}},
	{"a time beyond all", "s.toml", head + "submit = \"90000h\"", []string{"s.toml:8: job[0].submit: \"90000h\": want a duration"}},
	{"milliseconds beyond all", "s.toml", strings.Replace(head, "map_ms = 1000", "map_ms = 1e14", 1), []string{"s.toml:6: job[0].map_ms: 1e+14: want milliseconds"}},
	{"factors whose product is", "s.toml", strings.Replace(head, "nodes = 2", "nodes = 2\nslowdown = 1000", 1) + "off_factor = 1e6", []string{"job a: a task takes 31.7 years"}},
	{"a workload of ages", "s.toml", head + "jobs = 100\ninterarrival = \"80000h\"", []string{"s.toml:9: job[0].interarrival: job 3 of 100 is submitted after"}},
	{"a processor that stands still", "s.toml", "fidelity = \"device\"\n[cluster]\nnodes = 2\nplatform = \"dl145-g3\"\ncpu_slowdown = 1000\n[[job]]\nname = \"x\"\nprofile = \"sort\"\ninput = \"4000 TB\"\nmaps = 1", []string{"s.toml:6: job x: a task takes"}},
	{"unknown release", "s.toml", strings.Replace(head, "nodes = 2", "nodes = 2\nhadoop = \"1.2\"", 1), []string{`s.toml:3: cluster.hadoop: "1.2": want one of`, "did you mean 1.2.1?"}},
	{"trackers that expire between heartbeats", "s.toml", "[cluster]\n[[cluster.group]]\ncount = 2\nmap_slots = 1\ndies = \"20s\"\n[[job]]\nmaps = 1\nmap_ms = 1\n[conf]\n\"mapred.tasktracker.expiry.interval\" = 300", []string{"mapred.tasktracker.expiry.interval: got 300: want more than 300, the heartbeat interval in ms"}},
	{"trackers that expire between stated heartbeats", "s.toml", "[cluster]\nheartbeat = \"30s\"\n[[cluster.group]]\ncount = 2\nmap_slots = 1\ndies = \"20s\"\n[[job]]\nmaps = 1\nmap_ms = 1\n[conf]\n\"mapred.tasktracker.expiry.interval\" = 20000", []string{"got 20000: want more than 30000, the heartbeat interval in ms"}},
	{"trackers that expire at once", "s.toml", head + "[conf]\n\"mapred.tasktracker.expiry.interval\" = -9", []string{"got -9: want 3 to 315360000000"}},
	{"unknown scheduler", "s.toml", head + "[scheduler]\nname = \"fair\"", []string{`s.toml:9: scheduler.name: "fair": want one of`, "did you mean fair1?"}},
	{"unknown fidelity", "s.toml", "fidelity = \"exact\"\n" + head, []string{`s.toml:1: fidelity: "exact": want one of`}},
	{"a duration without unit", "s.toml", head + "submit = \"10\"", []string{`s.toml:8: job[0].submit: "10": want a duration such as`}},
	{"a negative duration", "s.toml", head + "submit = \"-10s\"", []string{"s.toml:8: job[0].submit"}},
	{"a size that is none", "s.toml", head + "input = \"many\"", []string{`s.toml:8: job[0].input: "many": want a size`}},
	{"neither maps nor input", "s.toml", "[cluster]\nnodes = 2\n[[job]]\nmap_ms = 1", []string{"s.toml:3: job[0]: want maps or input"}},
	{"maps without a time", "s.toml", "[cluster]\nnodes = 2\n[[job]]\nmaps = 1", []string{"s.toml:3: job[0]: want the time of its maps"}},
	{"reduces without a time", "s.toml", head + "reduces = 2", []string{"s.toml:8: job[0]: want the times of its reduces"}},
	{"too few times", "s.toml", strings.Replace(head, "map_ms = 1000", "map_ms = [1, 2]", 1), []string{"s.toml:6: job[0].map_ms: lists 2 times: want one for each of 4 tasks"}},
	{"a distribution that lacks its mean", "s.toml", strings.Replace(head, "map_ms = 1000", "duration = { dist = \"exponential\" }", 1), []string{"s.toml:6: job[0].duration: exponential distribution: want mean > 0"}},
	{"an unknown distribution", "s.toml", strings.Replace(head, "map_ms = 1000", "duration = { dist = \"expo\", mean = 3 }", 1), []string{`s.toml:6: job[0].duration.dist: "expo": want one of`}},
	{"a number that is whole with an exponent", "s.toml", "[cluster]\nnodes = 1e3", []string{"s.toml:2: cluster.nodes: 1000.0: want a whole number"}},
	{"a date", "s.toml", head + "submit = 2026-01-01", []string{"s.toml:8: job[0].submit: a date: want a duration"}},
	{"a property in another table", "s.toml", "[cluster]\nnodes = 2\nio.sort.mb = 200", []string{"s.toml:3: unknown key cluster.io.sort.mb (did you mean conf.io.sort.mb?)"}},
	{"the same name twice", "s.toml", head + "[[job]]\nname = \"a\"\nmaps = 1\nmap_ms = 1", []string{"two jobs are named \"a\""}},
	{"a Hadoop property that is no number", "s.toml", head + "[conf]\n\"mapred.map.max.attempts\" = \"four\"", []string{`s.toml:9: mapred.map.max.attempts: got "four": want a whole number`}},
	{"a Hadoop property beyond its range", "s.toml", head + "[conf]\n\"mapred.reduce.slowstart.completed.maps\" = 1.5", []string{"s.toml:9: mapred.reduce.slowstart.completed.maps: got 1.5: want a number from 0 to 1"}},
	{"a Hadoop property twice", "s.toml", head + "[conf]\n\"mapred.map.max.attempts\" = 4\n\"mapreduce.map.maxattempts\" = 5", []string{"is already set, by its other name"}},
	{"queues above the whole", "s.toml", head + "[scheduler]\nname = \"capacity\"\n[[scheduler.queue]]\nname = \"a\"\ncapacity = 70\n[[scheduler.queue]]\nname = \"b\"\ncapacity = 60", []string{"s.toml:9: scheduler: the queues' capacities add up to 130 %: want 100"}},
	{"a queue that is not there", "s.toml", head + "queue = \"prd\"\n[scheduler]\nname = \"capacity\"\n[[scheduler.queue]]\nname = \"prod\"\ncapacity = 100", []string{`s.toml:8: job a: queue "prd": want one of prod (did you mean prod?)`}},
	{"a queue default that is not there", "s.toml", head + "[scheduler]\nname = \"capacity\"\n[[scheduler.queue]]\nname = \"prod\"\ncapacity = 100", []string{`s.toml:3: job a: queue "default": want one of prod`}},
	{"a pool without a name", "s.toml", head + "[scheduler]\nname = \"fair2\"\n[[scheduler.pool]]\nweight = 2", []string{"s.toml:10: scheduler.pool[0].name: want a name"}},
	{"a pool twice", "s.toml", head + "[scheduler]\nname = \"fair2\"\n[[scheduler.pool]]\nname = \"p\"\n[[scheduler.pool]]\nname = \"p\"", []string{`s.toml:13: scheduler.pool[1].name: got "p" twice: want a different name for each`}},
	{"a queue twice", "s.toml", head + "[scheduler]\nname = \"capacity\"\n[[scheduler.queue]]\nname = \"default\"\ncapacity = 50\n[[scheduler.queue]]\nname = \"default\"\ncapacity = 50", []string{`s.toml:14: scheduler.queue[1].name: got "default" twice`}},
	{"a maximum below the capacity", "s.toml", head + "[scheduler]\nname = \"capacity\"\n[[scheduler.queue]]\nname = \"default\"\ncapacity = 100\nmaximum_capacity = 50", []string{"s.toml:9: scheduler: queue default: maximum-capacity = 50: want at least the capacity, 100"}},
	{"a pool's mode", "s.toml", head + "[scheduler]\nname = \"fair2\"\n[[scheduler.pool]]\nname = \"p\"\nmode = \"lifo\"", []string{`s.toml:12: scheduler.pool[0].mode: "lifo": want one of fair, fifo`}},
	{"a trace that is not there", "s.toml", "[cluster]\nnodes = 2\n[workload]\ntrace = \"none.tsv\"", []string{"s.toml:4: workload.trace: ", "none.tsv"}},
	{"a trace of nothing known", "s.toml", "[cluster]\nnodes = 2\n[workload]\ntrace = \"s.toml\"", []string{"s.toml:4: workload.trace: "}},
	{"a window that ends before it begins", "s.toml", "[cluster]\nnodes = 2\n[workload]\ntrace = \"none.tsv\"\nfirst = \"2h\"\nlast = \"1h\"", []string{"s.toml:6: workload.last: is before first"}},
	{"an empty list to vary", "s.toml", head + "[vary]\n\"cluster.nodes\" = []", []string{"s.toml:9: vary.cluster.nodes: an empty list: want a list of values"}},
	{"a scenario in UTF-16", "s.toml", "\xff\xfex\x00=\x001\x00", []string{"s.toml: text in UTF-16: want UTF-8"}},
	{"volumes between commas", "s.tsv", "job0,49,40,1,2,3\n", []string{"s.tsv: 6 columns of job volumes: a SWIM trace has 6 or 9, separated by tabs"}},
	{"a value to vary twice", "s.toml", head + "[vary]\n\"cluster.nodes\" = [3, 3]", []string{"s.toml:9: vary.cluster.nodes: got 3 twice: want different values"}},
	{"a value to vary of the wrong kind", "s.toml", head + "[vary]\n\"cluster.nodes\" = [1, \"x\"]", []string{`s.toml:9: cluster.nodes: "x": want a whole number`}},
	{"deep nesting", "s.toml", "a = " + strings.Repeat("[", 5000), []string{"s.toml:1: values nested deeper than 64"}},
	{"a long key", "s.toml", strings.Repeat("a.", 5000) + "b = 1", []string{"s.toml:1: a key of more than 16 parts"}},
	{"a name that is no slug", "s.toml", "name = \"../../etc\"\n" + head, []string{"s.toml:1: name: \"../../etc\": want small letters"}},
	{"an empty file", "s.toml", "", []string{"s.toml: the file is empty"}},
	{"a number without a unit", "s.toml", strings.Replace(head, "map_ms = 1000", "duration = 12", 1), []string{`s.toml:6: job[0].duration: 12: want a duration such as "90s"`}},
	{"groups beside nodes", "s.toml", head + "[[cluster.group]]\ncount = 2", []string{"cluster.nodes: cannot be combined with [[cluster.group]]"}},
	{"hosts for another number of maps", "s.toml", head + "split_hosts = [[\"node1\"]]", []string{"s.toml:8: job[0].split_hosts: a list: want a list of nodes for each of 4 maps"}},
	{"drawn times until launch", "s.toml", head + "map_localise_ms = { dist = \"constant\", mean = \"1s\" }", []string{"s.toml:8: job[0].map_localise_ms: got a distribution: want milliseconds"}},
	{"times until launch of other maps", "s.toml", head + "map_localise_ms = [1, 2]", []string{"s.toml:8: job[0].map_localise_ms: lists 2 times: want one for each of 4 tasks"}},
	{"the time of a set-up there is not", "s.toml", head + "setup_cleanup = false\nsetup = \"2s\"", []string{"s.toml:9: job[0].setup: cannot be combined with setup_cleanup = false"}},
	{"failures of a task there is not", "s.toml", head + "map_fail_ms = { \"9\" = [100] }", []string{"s.toml:8: ", "want a task from 0 to 3"}},

	{"a case that is not JSON", "c.json", strings.Replace(soundCase, `"runs": [[0, 100]],`, `"runs": [[0, 100]`, 1), []string{"c.json:6: "}},
	{"a case with a text for a number", "c.json", strings.Replace(soundCase, `"trackers": 2`, `"trackers": "2"`, 1), []string{`c.json:2: cluster.trackers: "2": want a whole number from 1 to 200000`}},
	{"a case with too few phases", "c.json", strings.Replace(soundCase, "[0, 100]", "[0]", 1), []string{"c.json:5: runs[0]: a list of 1: want a heartbeat phase for each of 2 nodes"}},
	{"a case of an unknown release", "c.json", strings.Replace(soundCase, "1.2.1", "3.0", 1), []string{`c.json:1: hadoop: "3.0": want one of 0.20.2, `}},
	{"a case without trackers", "c.json", strings.Replace(soundCase, `"trackers": 2`, `"trackers": 0`, 1), []string{"c.json:2: cluster.trackers: 0: want a whole number from 1 to"}},
	{"a case with a mistyped key", "c.json", strings.Replace(soundCase, "map_slots", "mapslots", 1), []string{"c.json:2: cluster.mapslots: unknown key: want map_slots"}},
	{"a case with a negative count", "c.json", strings.Replace(soundCase, `"count": 2`, `"count": -2`, 1), []string{"c.json:6: jobs[0].maps.count: -2: want a whole number from 0 to"}},
	{"a case with a phase before the start", "c.json", strings.Replace(soundCase, "[0, 100]", "[0,\n -1]", 1), []string{"c.json:6: runs[0][1]: -1: want a whole number from 0 to"}},
	{"a case with a negative slowness", "c.json", strings.Replace(soundCase, `"racks": 1,`, `"racks": 1, "slowness": [1, -1],`, 1), []string{"c.json:2: cluster.slowness[1]: -1: want a number from 0.001 to 1000"}},
	{"a case with a time beyond all", "c.json", strings.Replace(soundCase, `"ms": 1000`, `"ms": 9223372036854775`, 1), []string{"c.json:6: jobs[0].maps.ms: 9223372036854775: want a whole number from 0 to"}},
	{"a case with factors whose product is", "c.json", strings.Replace(strings.Replace(soundCase, `"ms": 1000`, `"ms": 86400000000, "off_factor": 1e6`, 1), `"racks": 1,`, `"racks": 1, "slowness": [1000],`, 1), []string{"c.json: job j: a task takes 2.74e+09 years"}},
	{"a case that fails before it begins", "c.json", strings.Replace(soundCase, `"ms": 1000`, `"ms": 1000, "fail": {"0": [-5], "7": [1]}`, 1), []string{"c.json:6: jobs[0].maps.fail.0: -5: want milliseconds", "jobs[0].maps.fail.7: want a task from 0 to 1"}},
	{"a case with more slots than memory", "c.json", strings.Replace(soundCase, `"trackers": 2, "racks": 1, "map_slots": 2`, `"trackers": 200000, "racks": 1, "map_slots": 100000`, 1), []string{"c.json:2: cluster.map_slots: 20000200000 slots on 200000 trackers: want 1 to"}},
	{"a case with slots of too few trackers", "c.json", strings.Replace(soundCase, `"trackers": 2, "racks": 1, "map_slots": 2`, `"trackers": 3, "racks": 1, "map_slots": [1, 2]`, 1), []string{"c.json:2: cluster.map_slots: a list of 2: want one number, or one for each of 3 nodes"}},
	{"a case with negative slots in a list", "c.json", strings.Replace(soundCase, `"map_slots": 2`, `"map_slots": [1,
 -2]`, 1), []string{"c.json:3: cluster.map_slots[1]: -2: want a whole number from 0 to"}},
	{"a case of an unknown scheduler", "c.json", strings.Replace(soundCase, `"fifo"`, `"best"`, 1), []string{`c.json: unknown scheduler "best"`}},
	{"a case with a text for an object", "c.json", strings.Replace(soundCase, `{"type": "fifo"}`, `"fifo"`, 1), []string{`c.json:3: scheduler: "fifo": want an object`}},
}

// single are mistakes that have consequences, of which nothing is said.
var single = []struct{ text, want string }{
	{head + "reduces = 2\nreduce_ms = 5\nskew = { zip = 0.8 }", "s.toml:10: unknown key job[0].skew.zip (did you mean job[0].skew.zipf?)"},
	{strings.Replace(head, "map_ms = 1000", "duration = { dist = \"lognormal\", mean = \"20s\", stddev = \"5s\" }", 1), "s.toml:6: unknown key job[0].duration.stddev (did you mean job[0].duration.sd?)"},
	{"nodes = 2\n[[job]]\nmaps = 1\nmap_ms = 1", "s.toml:1: unknown key nodes (did you mean cluster.nodes?)"},
	{"fidelity = \"phase\"\n[cluster]\nnodes = 2\nplatform = \"dl145\"\n[[job]]\nprofile = \"sort\"\ninput = \"1 GB\"", "s.toml:4: cluster.platform: dl145: not one of the shipped platforms (did you mean dl145-g3?)"},
}

func TestBrokenInputs(t *testing.T) {
	for _, s := range single {
		file := filepath.Join(t.TempDir(), "s.toml")
		if err := os.WriteFile(file, []byte(s.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := call("", "validate", file); code != exitInput || !strings.Contains(stderr, s.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("exit code %d, want %q alone in\n%s", code, s.want, stderr)
		}
	}
	for _, b := range broken {
		t.Run(b.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, b.file)
			if err := os.WriteFile(file, []byte(b.text), 0o666); err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(dir, "out")
			code, _, stderr := call("", "run", file, "--out", out)
			if code != exitInput {
				t.Errorf("exit code %d, want %d", code, exitInput)
			}
			for _, w := range b.want {
				if !strings.Contains(stderr, w) {
					t.Errorf("want %q in\n%s", w, stderr)
				}
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("an output directory was left")
			}
		})
	}
}

// What the cases are made from is sound.
func TestSoundInputs(t *testing.T) {
	for name, text := range map[string]string{"s.toml": head, "c.json": soundCase} {
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := call("", "run", file, "--out", filepath.Join(dir, "out")); code != exitDone {
			t.Errorf("%s: exit code %d: %s", name, code, stderr)
		}
	}
}

func TestInputsWithoutEffectWarn(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a pool nobody uses", head + "[scheduler]\nname = \"fair2\"\n[[scheduler.pool]]\nname = \"etl\"", "s.toml:10: pool etl has no effect: no job is in it"},
		{"a pool under fifo", head + "[scheduler]\n[[scheduler.pool]]\nname = \"etl\"", "s.toml:9: pool etl has no effect: the scheduler is fifo"},
		{"more racks than nodes", strings.Replace(head, "nodes = 2", "nodes = 2\nracks = 5", 1), "s.toml:3: of 5 racks only 2 have nodes"},
		{"a property nobody reads", head + "[conf]\n\"mapred.map.max.atempts\" = 4", "s.toml:9: mapred.map.max.atempts has no effect: slotwave does not read it (did you mean mapred.map.max.attempts?)"},
		{"a number of reduces as a property", head + "[conf]\n\"mapred.reduce.tasks\" = 4", "s.toml:9: mapred.reduce.tasks has no effect: slotwave does not read it: want reduces of the [[job]]"},
		{"a number of maps as a property of a job", head + "[job.conf]\n\"mapreduce.job.maps\" = 4", "s.toml:9: mapreduce.job.maps has no effect: slotwave does not read it: want maps of the [[job]]"},
		{"a property within tasks whose times are given", head + "[conf]\n\"io.sort.mb\" = 200", "s.toml:9: io.sort.mb has no effect: at this fidelity task times are given"},
		{"an out-of-band heartbeat on 0.20.2", "[cluster]\nnodes = 2\nhadoop = \"0.20.2\"\nmap_slots = 2\nreduce_slots = 1\n[conf]\n\"mapreduce.tasktracker.outofband.heartbeat\" = true\n[[job]]\nname = \"a\"\nmaps = 4\nmap_ms = 1000\n", "s.toml:7: mapreduce.tasktracker.outofband.heartbeat has no effect: Hadoop 0.20.2 does not know it"},
		{"a fair property under fifo", head + "[scheduler]\n\"mapred.fairscheduler.assignmultiple\" = true", "s.toml:9: mapred.fairscheduler.assignmultiple has no effect: the scheduler is fifo"},
		{"a queue without jobs", head + "[scheduler]\nname = \"capacity\"\n[[scheduler.queue]]\nname = \"default\"\ncapacity = 50\n[[scheduler.queue]]\nname = \"idle\"\ncapacity = 50", "s.toml:13: queue idle gets no job"},
		{"a queue under fair", head + "queue = \"q\"\n[scheduler]\nname = \"fair2\"", "s.toml:8: job[0].queue has no effect: the scheduler is fair2: want pool"},
		{"a pool under capacity", head + "pool = \"p\"\n[scheduler]\nname = \"capacity\"", "s.toml:8: job[0].pool has no effect: the scheduler is capacity: want queue"},
		{"a pool that fifo does not know", head + "pool = \"p\"", "s.toml:8: job[0].pool has no effect on the run: the scheduler is fifo"},
		{"a mode of fair under fifo", head + "[scheduler]\nmode = \"fair\"", "s.toml:9: scheduler.mode has no effect: the scheduler is fifo"},
		{"a weight of 0", head + "pool = \"p\"\n[scheduler]\nname = \"fair2\"\n[[scheduler.pool]]\nname = \"p\"\nweight = 0", "s.toml:13: scheduler.pool[0].weight: 0: pool p gets no fair share"},
		{"capacities as fractions", head + "[scheduler]\nname = \"capacity\"\n[[scheduler.queue]]\nname = \"default\"\ncapacity = 0.6", "s.toml:10: scheduler.queue: the capacities add up to 0.6 %: want 100"},
		{"a change to the same", head + "[scheduler]\nname = \"fifo\"\n[[change]]\nat = \"1s\"\n[change.scheduler]\nname = \"fifo\"", "s.toml:10: change[0] has no effect: it states what [scheduler] says already"},
		{"more replicas than nodes", head + "[conf]\n\"dfs.replication\" = 10", "s.toml:9: dfs.replication: 10: more than the 2 nodes"},
		{"blocks of given maps", head + "[conf]\n\"dfs.block.size\" = 1048576", "s.toml:9: dfs.block.size has no effect: every [[job]] states maps"},
		{"bytes without a unit", head + "input = 3", "s.toml:8: job[0].input: 3 bytes: want a unit if they are not bytes, such as \"3 GB\""},
		{"a fidelity without profiles", "fidelity = \"profile\"\n" + head, "s.toml:1: fidelity profile has no effect: no [[job]] has a profile"},
		{"times beside a profile", "fidelity = \"device\"\n" + strings.Replace(head, "nodes = 2", "nodes = 2\nplatform = \"dl145-g3\"\nmemory = \"100 MB\"", 1) + "profile = \"sort\"\ninput = \"100 MB\"", "s.toml:9: job[0].map_ms has no effect: at this fidelity the work of the profile gives the times"},
		{"a codec that nothing uses", "fidelity = \"device\"\n" + strings.Replace(strings.Replace(head, "map_ms = 1000", "profile = \"sort\"\ninput = \"100 MB\"", 1), "nodes = 2", "nodes = 2\nplatform = \"dl145-g3\"", 1) + "[conf]\n\"mapred.map.output.compression.codec\" = \"org.apache.hadoop.io.compress.DefaultCodec\"", "s.toml:12: mapred.map.output.compression.codec has no effect: it needs mapred.compress.map.output = true"},
		{"a node there is not", head + "[cluster.slowdowns]\nnode7 = 2", "s.toml:8: cluster.slowdowns: no node of this cluster has the name node7, so it has no effect: want one of node1 to node2 (did you mean node1?)"},
		{"a scale without a trace", head + "[workload]\nscale_time = 2", "s.toml:9: workload.scale_time has no effect: there is no trace"},
		{"times of reduces there are not", head + "reduce_ms = 5", "s.toml:8: job[0].reduce_ms has no effect: the job has no reduces"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "s.toml")
			if err := os.WriteFile(file, []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			code, _, stderr := call("", "run", file, "--set", "plots=none", "--out", filepath.Join(dir, "out"))
			if code != exitDone || !strings.Contains(stderr, c.want) {
				t.Errorf("exit code %d, want %q in\n%s", code, c.want, stderr)
			}
		})
	}
}

// The file of a scheduler of YARN is checked as run checks it.
func TestValidateQueues(t *testing.T) {
	t.Chdir(t.TempDir())
	const capacity = "<configuration>\n<property><name>yarn.scheduler.capacity.root.queues</name><value>a,b</value></property>\n" +
		"<property><name>yarn.scheduler.capacity.root.a.capacity</name><value>60</value></property>\n" +
		"<property><name>yarn.scheduler.capacity.root.b.capacity</name><value>40</value></property>\n</configuration>\n"
	for _, c := range []struct {
		text, want string
		code       int
	}{
		{capacity, "capacity-scheduler.xml: queues of a cluster on YARN", exitDone},
		{strings.Replace(capacity, ">40<", ">60<", 1), `capacity-scheduler.xml:4: yarn.scheduler.capacity.root.b.capacity: got "60": want capacities below root that sum to 100`, exitInput},
		{"<allocations><queue name=\"a\"><weight>2</weight></queue></allocations>", "queues of a cluster on YARN", exitDone},
		{"<allocations><queue name=\"a\"><weight>x</weight></queue></allocations>", "capacity-scheduler.xml:1: ", exitInput},
		{"<allocations>\n<pool name=\"a\"><minMaps>5</minMaps></pool></allocations>", "capacity-scheduler.xml:2: <minMaps>: of the fair scheduler of Hadoop 1: want [[scheduler.pool]]", exitInput},
	} {
		writeFile(t, "capacity-scheduler.xml", c.text)
		if code, out, errs := call("", "validate", "capacity-scheduler.xml"); code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: exit %d, %s%s: want %d, %q", c.text, code, out, errs, c.code, c.want)
		}
	}
}

// Properties with numbers of tasks change no recorded job: the warning names the key
// that does.
func TestTracedTasksWarn(t *testing.T) {
	dir := t.TempDir()
	history := filepath.Join(dir, "history")
	if code, _, stderr := call("", "run", "two-jobs", "--set", "scheduler.name=fifo", "--set", "plots=none", "--out", history); code != exitDone {
		t.Fatal(stderr)
	}
	for setting, want := range map[string]string{
		"conf.mapred.reduce.tasks=4": "mapred.reduce.tasks has no effect: slotwave does not read it: want workload.reduces",
		"conf.mapreduce.job.maps=4":  "mapreduce.job.maps has no effect: slotwave does not read it: want workload.block_size",
	} {
		code, _, stderr := call("", "run", history, "--set", setting, "--set", "plots=none", "--out", filepath.Join(dir, "out"))
		if code != exitDone || !strings.Contains(stderr, "--set "+setting+": "+want) {
			t.Errorf("%s: exit code %d, want %q in\n%s", setting, code, want, stderr)
		}
	}
}

// Tasks that take no time end a run at time 0, with all its files; no interval of times
// begins below 0; a TOML file of many MB is refused before it is read.
func TestExtremesOfTime(t *testing.T) {
	t.Chdir(t.TempDir())
	const job = "[cluster]\nnodes = 1\nmap_slots = 2\nreduce_slots = 1\nhadoop = \"ideal\"\n[[job]]\nname = \"a\"\nmaps = 4\nduration = %s\n"
	writeFile(t, "none.toml", fmt.Sprintf(job, `{ dist = "constant", mean = "0s" }`))
	verb(t, "run", "none.toml", "--quiet", "--out", "none")
	if !study.IsFile("none/slots.png") || !study.IsFile("none/execution.svg") {
		t.Error("a run of no time lacks its pictures")
	}
	writeFile(t, "wide.toml", fmt.Sprintf(job, `{ dist = "lognormal", mean = "20s", sd = "200s" }`))
	verb(t, "run", "wide.toml", "--quiet", "--replications", "3", "--set", "plots=none", "--out", "wide")
	for _, name := range []string{"wide/summary.json", "wide/jobs.csv", "wide/summary.csv"} {
		if text := read(t, name); strings.Contains(text, `"low_ns": -`) || strings.Contains(text, ",-") {
			t.Errorf("%s has a time below 0: %s", name, text)
		}
	}
	writeFile(t, "large.toml", "title = \""+strings.Repeat("x", 17<<20)+"\"\n")
	if code, _, errs := call("", "run", "large.toml"); code != exitInput || !strings.Contains(errs, "large.toml: got 17 MB: want a TOML file of at most 16 MB") {
		t.Errorf("17 MB of TOML: exit %d, %.200s", code, errs)
	}
}
