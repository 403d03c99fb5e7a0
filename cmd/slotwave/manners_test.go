package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is set on the command line is blamed on the flag, in one message, with
// the key that was meant.
func TestBlame(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "fb2009", "--set", "cluster.nodes=0"}, "--set cluster.nodes=0: cluster.nodes: 0: want a whole number from 1 to 200000"},
		{[]string{"run", "fb2009", "--set", "nodes=3"}, "--set nodes=3: unknown key nodes (did you mean cluster.nodes?)"},
		{[]string{"run", "fb2009", "--set", "workload.first=99h"}, "--set workload.first=99h: workload.first: no job is submitted in the window: the last one of the trace is submitted after 24.0 h"},
		{[]string{"run", "two-jobs", "--set", "job.7.maps=1"}, "--set job.7.maps=1: job.7: there are only 2 [[job]] tables: want job.0 (long) to job.1 (short)"},
		{[]string{"run", "mm4", "--set", "job.7.maps=1"}, "--set job.7.maps=1: job.7: there is only 1 [[job]] table: want job.0"},
		{[]string{"run", "two-jobs", "--set", "job.1.maps=-1"}, "--set job.1.maps=-1: job[1].maps: -1: want a whole number"},
		{[]string{"run", "two-jobs", "--fidelity", "exact"}, `--fidelity exact: fidelity: "exact": want one of`},
		{[]string{"run", "two-jobs", "--set", "cluster.map_slots=0"}, "--set cluster.map_slots=0: cluster.map_slots: no node has a map slot, and job long has 40 maps: want at least one"},
		{[]string{"run", "two-jobs", "--set", "cluster.hadoop=3.3.6"}, "--set cluster.hadoop=3.3.6: it has containers on YARN, and slotwave:two-jobs.toml:11 states cluster.reduce_slots: want a scenario for YARN"},
		{[]string{"run", "yarn-am-limit", "--set", "cluster.hadoop=1.2.1"}, "--set cluster.hadoop=1.2.1: it has slots, and slotwave:yarn-am-limit.toml"},
		{[]string{"run", "two-jobs", "--set", "scheduler=fifo"}, `--set scheduler=fifo: scheduler: "fifo": want one of its keys, such as scheduler.name`},
		{[]string{"run", "two-jobs", "--set", "cluster.nodes=4,5"}, `--set cluster.nodes=4,5: cluster.nodes: "4,5": want a whole number from 1 to 200000; several values: --over cluster.nodes=4,5`},
		{[]string{"run", "two-jobs", "--set", "scheduler.name=org.apache.hadoop.mapred.FairScheduler"}, `--set scheduler.name=org.apache.hadoop.mapred.FairScheduler: scheduler.name: "org.apache.hadoop.mapred.FairScheduler": a class of Hadoop: want "fair2"`},
		{[]string{"run", "two-jobs", "--set", "node.0.cores=4"}, "--set node.0.cores=4: node: a key of goals and offers: want it in their file"},
		{[]string{"run", "two-jobs", "--set", "cluster.nodes=1,000"}, `--set cluster.nodes=1,000: cluster.nodes: "1,000": want a whole number from 1 to 200000, without commas: 1000`},
		{[]string{"run", "two-jobs", "--set", "conf.io.sort.mb=100", "--set", "conf.mapreduce.task.io.sort.mb=200"}, "--set conf.io.sort.mb=100 and --set conf.mapreduce.task.io.sort.mb=200: want one of them; both: --over conf.mapreduce.task.io.sort.mb=100,200"},
		{[]string{"run", "two-jobs", "--set", "conf.io.sort.mb=100", "--over", `conf."mapreduce.task.io.sort.mb"=200`}, `--set conf.io.sort.mb=100 and --over conf."mapreduce.task.io.sort.mb"=200: want one of them`},
		{[]string{"sweep", "two-jobs", "--over", "cluster.nodes=3-9"}, `--over cluster.nodes=3-9: got "3-9": want FROM:TO:STEP, such as cluster.nodes=3:9:1`},
		{[]string{"sweep", "two-jobs", "--over", "nodes=3,4"}, "--over nodes: unknown key nodes (did you mean cluster.nodes?)"},
		{[]string{"run", "two-jobs", "--set", "maps=3"}, "--set maps=3: unknown key maps (did you mean job.0.maps, or --over maps for every job?)"},
		{[]string{"run", "two-jobs", "--set", "jobs.0.maps=3"}, "--set jobs.0.maps=3: unknown key jobs (did you mean job?)"},
		{[]string{"run", "two-jobs", "--set", "job[7].maps=3"}, "--set job.7.maps=3: job.7: there are only 2"},
		{[]string{"run", "two-jobs", "--set", "job.0.duration={mean=3}"}, "--set job.0.duration={mean=3}: job[0].duration: cannot be combined with map_ms"},
		{[]string{"run", "two-jobs", "--set", "vary.cluster.nodes=1,2"}, "--set vary.cluster.nodes=1,2: want --over cluster.nodes=1,2"},
		{[]string{"run", "two-jobs", "--set", "seed=1", "--set", "seed=2"}, "--set seed=1 and --set seed=2: want one of them; both: --over seed=1,2"},
		{[]string{"run", "two-jobs", "--set", "scheduler.name=yarn-fair"}, `--set scheduler.name=yarn-fair: scheduler.name: "yarn-fair": is of a cluster on YARN: want cluster.hadoop = "3.3.6"`},
		{[]string{"run", "two-jobs", "--set", "models.history=nowhere"}, "--set models.history=nowhere: models.history: nowhere: no such file or directory"},
		{[]string{"run", "two-jobs", "--set", "slots=4"}, "--set slots=4: unknown key slots (did you mean cluster.map_slots?)"},
		{[]string{"run", "two-jobs", "--set", "seed=5"}, "--set seed=5: unknown key seed (did you mean --seed?)"},
		{[]string{"run", "two-jobs", "--set", "job.*.maps=5"}, "--set job.*.maps=5: got *: want the number of a table, such as job.0"},
		{[]string{"run", "two-jobs", "--set", "attempts=false"}, "--set attempts=false: attempts: false: want one of csv, csv.gz, none"},
		{[]string{"run", "two-jobs", "--set", "network.nic_mb=1Gbit"}, `--set network.nic_mb=1Gbit: network.nic_mb: "1Gbit": want a number from 0.01 to 1e+09, in MB/s`},
		{[]string{"run", "two-jobs", "--over", "nodes=1,2"}, "--over nodes=1,2: unknown key job[0].nodes (did you mean cluster.nodes?)"},
		{[]string{"run", "two-jobs", "--set", "scheduler.locality_delay=3s"}, "--set scheduler.locality_delay=3s: unknown key scheduler.locality_delay (did you mean conf.mapred.fairscheduler.locality.delay?)"},
		{[]string{"run", "hitune-sort", "--set", "conf.dfs.block.size=128"}, "--set conf.dfs.block.size=128: dfs.block.size: got 128: want a size like 64m or 67108864, at least 512"},
		{[]string{"run", "hitune-sort", "--set", "cluster.memory=16"}, `--set cluster.memory=16: cluster.memory: 16: want at least 1 MiB, such as "64 GB"`},
		{[]string{"run", "hitune-sort", "--set", "cluster.platform=m5.large"}, "--set cluster.platform=m5.large: cluster.platform: m5.large: no such file (did you mean ec2-large?): want a file or one of the shipped platforms: "},
		{[]string{"run", "two-jobs", "--set", "job.0.map_memory=1"}, "--set job.0.map_memory=1: unknown key job[0].map_memory (did you mean conf.mapreduce.map.memory.mb?)"},
		{[]string{"diagnose", "two-jobs", "--budget", "lots"}, `--budget: got "lots": want a whole number`},
		{[]string{"run", "two-jobs", "on"}, "run: got 2 arguments, two-jobs on: want slotwave run SCENARIO\n"},
		{[]string{"run", "two-jobs", "--quiet", "yes"}, "run: got 2 arguments, two-jobs yes: want slotwave run SCENARIO (a switch takes no value: --quiet, or --quiet=false)"},
		{[]string{"run", "two-jobs", "fifo"}, "run: got 2 arguments, two-jobs fifo: want slotwave run SCENARIO (a scheduler is a setting: --set scheduler.name=fifo)"},
		{[]string{"run", "two-jobs", "mm4"}, "run: got 2 arguments, two-jobs mm4: want slotwave run SCENARIO (slotwave compare two-jobs mm4 compares two)"},
		{[]string{"run", "two-jobs", "--seeds", "5"}, `unknown flag "--seeds": want --replications N`},
		{[]string{"run", "two-jobs", "-set", "cluster.nodes=4"}, `unknown flag "-set": want --set`},
		{[]string{"run", "--scenario", "two-jobs"}, `unknown flag "--scenario": want it without a flag: slotwave run two-jobs`},
		{[]string{"predict", "two-jobs", "--replications", "3"}, "--replications and --workers: got them with models, which use no random numbers"},
		{[]string{"predict", "two-jobs", "--workers", "3"}, "--replications and --workers: got them with models, which use no random numbers"},
	} {
		code, _, stderr := call("", append(c.args, "--out", filepath.Join(t.TempDir(), "out"))...)
		if code != exitInput || !strings.HasPrefix(stderr, "slotwave: "+c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit code %d, want one message %q in\n%s", c.args, code, c.want, stderr)
		}
	}
	_, _, stderr := call("", "run", "two-jobs", "--set", "workload.first=99h", "--quiet=false", "--out", filepath.Join(t.TempDir(), "out"))
	if want := "warning: --set workload.first=99h: workload.first has no effect: there is no trace (workload.trace)\n"; stderr != want {
		t.Errorf("%q: want %q", stderr, want)
	}
	if _, _, stderr := call("", "runn"); strings.Contains(stderr, `\x`) || !strings.Contains(stderr, `did you mean "run"?`) {
		t.Errorf("an unknown verb is answered by %q", stderr)
	}
}

// A mistake in files is answered with its place and with what to do next.
func TestMistakesInFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	verb(t, "run", "two-jobs", "--quiet", "--set", "plots=none", "--out", "out/two-jobs")
	for _, format := range []string{"jhist", "rumen", "sls"} {
		verb(t, "convert", "out/two-jobs", "--to", format, "--out", format)
	}
	jhist, _ := filepath.Glob("jhist/*.jhist")
	conf, _ := filepath.Glob("jhist/*_conf.xml")
	for name, text := range map[string]string{
		"cut.jhist": read(t, jhist[0])[:2000], "cut.json": read(t, "rumen/trace.json")[:1000],
		"study.toml":  "scenario = \"two-jobs\"\nreplication = 10\n",
		"offers.toml": "[[goal]]\nfinish = \"4m\"\n[[node]]\nname = \"a\"\nmap_slots = 2\n",
		"goals.toml":  "confidence = \"110 %\"\n[[goals]]\nfinish = \"4m\"\n[[node]]\nname = \"a\"\nmap_slots = 2\n",
		"soon.toml":   "most_nodes = 4\n[[goal]]\nfinish = \"5s\"\n",
		"later.toml":  "most_nodes = 1\n[[goal]]\nfinish = \"2m\"\n",
		"huge.toml":   "[workload]\ntrace = \"jhist\"\nscale_jobs = 1000000000\n",
		"other.json":  "{\"name\": \"root\", \"children\": [{\"name\": \"r\", \"children\": [{\"name\": \"ghost\"}]}]}\n",
		"times.csv":   "job,task,kind,attempt,state,node,start,finish_s\na,0,map,0,SUCCEEDED,n1,1,2\n",
		"phases.csv":  "phase,row,data_mb,duration_ms\nreed,1,64,200\n",
		"unnamed.xml": "<allocations>\n<queue><weight>2</weight></queue></allocations>\n",
		"open.toml":   "[cluster]\ncores = \"4\n[[goal]]\n",
		"packed.xz":   "\xfd7zXZ\x00\x00", "packed.bz2": "BZh91AY&SY", "packed.zst": "\x28\xb5\x2f\xfd", "avro.jhist": "Obj\x01\x04\x14avro.codec", "program": "\x7fELF\x02\x01\x01\x00",
		"bare.jhist": `{"type":"record","name":"Event","namespace":"x"}`, "list.json": "[\n{\n\"jobID\": 1\n}\n]\n",
		"texts.json":  `{"job.start.ms":1,"job.end.ms":2,"job.queue.name":"q","job.id":"j","job.user":"u","job.tasks":[{"container.start.ms":"x"}]}`,
		"skew.toml":   "data_skew = \"2\"\n",
		"dotted.toml": "[cluster]\nnodes = 3 // three\n",
		"json.toml":   "{\"cluster\": 3}\n",
		"none.toml":   "[workload]\ntrace = \"jhist\"\njob = \"pig*\"\n",
		"codec.toml":  "fidelity = \"phase\"\n[cluster]\nnodes = 2\nplatform = \"dl145-g3\"\n[conf]\n\"mapred.compress.map.output\" = true\n\"mapred.map.output.compression.codec\" = \"snapy\"\n[[job]]\nname = \"a\"\nprofile = \"terasort\"\ninput = \"1 GB\"\nreduces = 1\n",
		"site.xml":    "<configuration>\n<property><name>io.sort.mb</name><value>1OO</value></property>\n</configuration>\n",
	} {
		writeFile(t, name, text)
	}
	writeFile(t, conf[0], read(t, "site.xml"))
	if err := os.Mkdir("rules", 0o777); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "rules/fair-scheduler.xml", "<allocations>\n<queuePlacementPolicy><rule name=\"specfied\"/></queuePlacementPolicy>\n</allocations>\n")
	if err := os.Remove("jhist/manifest.json"); err != nil {
		t.Fatal(err)
	}
	const left = ":2: io.sort.mb: got \"1OO\": want a whole number, such as 100: it is left out"
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"compare two-jobs out/two-job", exitInput, "out/two-job: no such file or shipped scenario (did you mean out/two-jobs?)"},
		{"sweep study.toml", exitInput, "study.toml:2: unknown key replication (did you mean replications?)\n"},
		{"sweep two-jobs", exitInput, "two-jobs: nothing varies, so there is one point: want --over KEY=VALUES"},
		{"inspect cut.jhist", exitInput, "cut.jhist: no job is left after 1 loss, first cut.jhist:2: the file ends before its first event: want the whole file"},
		{"run cut.json", exitInput, "cut.json: no job is left after 1 loss, first cut.json:"},
		{"validate cut.json", exitInput, "the file ends within it"},
		{"inspect sls/nodes.json", exitInput, "sls/nodes.json: no jobs found: it holds 3 machines: want the file or folder with the jobs"},
		{"run jhist --topology rumen/trace.json", exitInput, "--topology rumen/trace.json: want a file with the racks and machines alone"},
		{"size offers.toml jhist", exitInput, "size: got the offers first: want slotwave size jhist offers.toml"},
		{"measure offers.toml jhist", exitInput, "measure: got the offers first: want slotwave measure jhist offers.toml"},
		{"size two-jobs goals.toml", exitInput, "goals.toml:1: confidence: \"110 %\": want a fraction above 0 and at most 1, such as \"95 %\" or 0.95\ngoals.toml:2: unknown key goals (did you mean goal?)\n"},
		{"size two-jobs soon.toml --out soon", exitDone, "want    looser goals, or other nodes: more of these would not be enough"},
		{"size two-jobs later.toml --out later", exitDone, "want    a most_nodes above 1, since a run on 23 nodes meets the goals, or looser\n        goals"},
		{"run two-jobs --fidelity phase", exitInput, "job[1].profile: missing: fidelity phase needs a profile of the work of the tasks, such as --set job.1.profile=terasort"},
		{"validate times.csv", exitDone, "times.csv:1: column start: a time without a unit is left out: want start_s, start_ms or another unit"},
		{"convert jhist --to swim --out t.tsv", exitInput, "jhist: --to swim: only a SWIM trace states the volumes of its jobs: want another format, such as --to csv"},
		{"validate rules/fair-scheduler.xml", exitDone, "queues of a cluster on YARN"},
		{"run rules/fair-scheduler.xml --workload jhist", exitInput, `slotwave: rules/fair-scheduler.xml:2: rule "specfied": want one of specified, user, primaryGroup, secondaryGroupExistingQueue, nestedUserQueue, default, reject (did you mean specified?)` + "\n"},
		{"compare two-jobs --metric p95_response_ns[pool=etl]", exitInput, `--metric "p95_response_ns[pool=etl]": no job names its pool`},
		{"compare two-jobs out/two-jobs --metric price", exitDone, "price\nNo simulation has this figure"},
		{"run jhist --know cores", exitInput, "no job has what calibrating needs"},
		{"validate huge.toml", exitInput, "huge.toml:3: workload.scale_jobs: makes 2e+09 jobs: want at most 2000000"},
		{"run rumen/trace.json --topology other.json --set plots=none --out other", exitDone, "warning: --topology other.json: no task ran on any of its 1 machines: want the list of the recorded cluster"},
		{"validate unnamed.xml", exitInput, `unnamed.xml:2: a queue without a name: want <queue name="etl">`},
		{"run rules --workload jhist", exitInput, "rules: no queues of a cluster on YARN (did you mean rules/fair-scheduler.xml?)"},
		{"convert jhist out/two-jobs --to csv --out both", exitInput, "jhist, out/two-jobs: out/two-jobs/attempts.csv has relative times and jhist/job_201001010000_0001.jhist Unix times"},
		{"platform fit jhist", exitInput, "jhist: a folder: want a table of benchmarks (slotwave platform bench writes one); slotwave platform calibrate jhist takes a history"},
		{"platform fit phases.csv", exitInput, "read: no rows of this phase (did you mean reed?): want benchmarks of all: read, collect, spill, merge, shuffle, write"},
		{"reproduce zhang --figure 3 --platform dl145", exitInput, "--platform: dl145: not one of the shipped platforms (did you mean dl145-g3?)"},
		{"size two-jobs open.toml", exitInput, "open.toml:2: cores = \"4: want a quote at the end too"},
		{"measure jhist open.toml", exitInput, "open.toml:2: cores"},
		{"platform bench open.toml", exitInput, "open.toml:2: cores"},
		{"platform calibrate jhist --platform open.toml", exitInput, "slotwave: open.toml:2: cores"},
		{"diagnose out/two-jobs --rules open.toml", exitInput, "open.toml:2: cores"},
		{"diagnose out/two-jobs --thresholds skew.toml", exitInput, "skew.toml:1: data_skew: got \"2\": want 0 or more"},
		{"run packed.xz", exitInput, "packed.xz: compressed with xz: want gzip or plain text, such as of xz -dc FILE | gzip > FILE.gz"},
		{"inspect packed.bz2", exitInput, "compressed with bzip2: want"},
		{"run packed.zst", exitInput, "compressed with zstd: want"},
		{"run avro.jhist", exitInput, "avro.jhist: binary Avro history: want the text form"},
		{"inspect avro.jhist --format jhist", exitInput, "avro.jhist: binary Avro history: want the text form"},
		{"run program", exitInput, "program: a program: want a history"},
		{"run bare.jhist", exitInput, "bare.jhist: a job history without its first line: want the line Avro-Json before it"},
		{"inspect list.json", exitInput, "list.json: an array of JSON: want its objects one after another"},
		{"validate texts.json", exitInput, "/job.tasks/0/container.start.ms: got string: want a value of another kind"},
		{"run dotted.toml", exitInput, "dotted.toml:2: nodes = 3 // three: want # before a comment: nodes = 3 #"},
		{"run json.toml", exitInput, "json.toml:1: got "},
		{"run none.toml", exitInput, "none.toml:3: workload.job: pig*: matches none of 2 jobs"},
		{"run codec.toml", exitInput, "mapred.map.output.compression.codec: unknown codec \"snapy\""},
		{"sweep jhist --over cluster.map_slots=1,2 --out swept", exitDone, "compared with the baseline"},
		{"run swept", exitInput, "swept: a result of slotwave sweep jhist --over=cluster.map_slots=1,2, which holds no jobs: want a history or a result of slotwave run"},
		{"validate site.xml", exitInput, "site.xml" + left},
		{"validate jhist", exitDone, conf[0] + left},
		{"run jhist --set plots=none --out replayed", exitDone, conf[0] + left},
	} {
		if code, out, errs := call("", strings.Fields(c.args)...); code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: exit code %d, want %d and %q in\n%s%s", c.args, code, c.code, c.want, out, errs)
		}
	}
	if err := os.Remove("out/two-jobs/manifest.json"); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"report", "diagnose", "validate", "compare"} {
		const want = "warning: out/two-jobs: a result without manifest.json, which is written last: want the whole folder, or the run again\n"
		if _, _, errs := call("", verb, "out/two-jobs"); strings.Count(errs, want) != 1 {
			t.Errorf("%s of a result without a manifest: want %q in\n%s", verb, want, errs)
		}
	}
}

// --quiet leaves JSON that was asked for.
func TestQuietJSON(t *testing.T) {
	for _, args := range [][]string{{"run", "two-jobs"}, {"predict", "two-jobs"}, {"compare", "two-jobs"}} {
		for _, asks := range []bool{false, true} {
			with := append(append([]string{}, args...), "--quiet", "--set", `plots="none"`)
			if asks {
				with = append(with, "--json")
			}
			if args[0] == "run" {
				with = append(with, "--out", filepath.Join(t.TempDir(), "out"))
			}
			code, stdout, stderr := call("", with...)
			if code != exitDone || stderr != "" || json.Valid([]byte(stdout)) != asks || !asks && stdout != "" {
				t.Errorf("%q: exit code %d, %q on stderr, stdout %.200q", with, code, stderr, stdout)
			}
		}
	}
}
