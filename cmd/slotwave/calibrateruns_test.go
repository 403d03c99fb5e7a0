package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Jobs with different work on machines that differ from every shipped platform.
const recordedMix = `fidelity = "device"
[cluster]
platform = "truth.toml"
nodes = 4
map_slots = 2
reduce_slots = 2
[conf]
"mapred.map.tasks.speculative.execution" = false
"mapred.reduce.tasks.speculative.execution" = false
[[job]]
name = "sort"
profile = "terasort"
input = "1 GB"
reduces = 4
[[job]]
name = "count"
submit = "50s"
profile = "wordcount"
input = "512 MB"
reduces = 2
`

// TestCalibrateRuns: simulated jobs on the platform that is found from a history
// take as long as recorded, within 8 % of a job (5.4 % measured: the rates of disks
// trade against costs, and heartbeats round the times of short jobs). The files are accepted by validate and run.
func TestCalibrateRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("calibrates")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	truth := strings.NewReplacer("read_mb = 60", "read_mb = 90", "write_mb = 55", "write_mb = 75", "speed = 0.4", "speed = 0.6").Replace(verb(t, "show", "dl145-g3"))
	writeFile(t, at("truth.toml"), truth)
	writeFile(t, at("mix.toml"), recordedMix)
	verb(t, "run", at("mix.toml"), "--out", at("run"), "--quiet")
	verb(t, "convert", at("run"), "--to", "jhist", "--out", at("history"), "--quiet")
	text := verb(t, "platform", "calibrate", at("history"), "--out", at("calibrated"))
	for _, want := range []string{"sort ", "count ", "disk.read_mb", "not told"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	for _, file := range []string{"platform.toml", "scenario.toml", "profiles/sort.toml", "profiles/count.toml"} {
		verb(t, "validate", at("calibrated/"+file))
	}
	verb(t, "run", at("calibrated/scenario.toml"), "--out", at("again"), "--quiet", "--fail-above", "8%")
	// A platform without a limit between racks has no uplink_mb to be assumed.
	verb(t, "platform", "calibrate", at("history"), "--platform", "ec2-large", "--out", at("ec2"), "--quiet")
	verb(t, "validate", at("ec2/scenario.toml"))
	verb(t, "run", at("calibrated/scenario.toml"), "--set", "cluster.disk_slowdown=0.25", "--set", "network.nic_mb=1250", "--out", at("ssd"), "--quiet")
}

// TestCalibrateUnequalTasks: a slow machine and the scatter of equal maps come back
// from a history, and run reads both. Recorded times contain the slow machine.
func TestCalibrateUnequalTasks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	writeFile(t, at("varied.toml"), strings.Replace(verb(t, "show", "terasort"), "map_record =", "map_cv = 0.3\nmap_record =", 1))
	writeFile(t, at("world.toml"), `fidelity = "phase"
[cluster]
platform = "dl145-g3"
nodes = 8
map_slots = 2
reduce_slots = 2
[cluster.slowdowns]
node3 = 1.4
[conf]
"mapred.map.tasks.speculative.execution" = false
"mapred.reduce.tasks.speculative.execution" = false
[[job]]
name = "varied"
profile = "varied.toml"
input = "8 GB"
reduces = 8
[[job]]
name = "equal"
submit = "60s"
profile = "wordcount"
input = "4 GB"
reduces = 8
`)
	verb(t, "run", at("world.toml"), "--out", at("run"), "--quiet", "--set", "plots=none")
	verb(t, "convert", at("run"), "--to", "jhist", "--out", at("history"), "--quiet")
	text := verb(t, "platform", "calibrate", at("history"), "--fidelity", "phase", "--out", at("found"))
	for _, want := range []string{"node3 ", "7 other machines: no difference shown", "reduces of equal (n="} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	number := func(file, key string) float64 {
		_, rest, _ := strings.Cut(read(t, at(file)), key+" = ")
		value, _ := strconv.ParseFloat(strings.Fields(rest + " 0")[0], 64)
		return value
	}
	// 64 maps on 8 machines: the standard error of the coefficient is a tenth of it.
	if cv := number("found/profiles/varied.toml", "map_cv"); math.Abs(cv-0.3) > 0.09 {
		t.Errorf("map_cv %v, want 0.3", cv)
	}
	if equal := read(t, at("found/profiles/equal.toml")); strings.Contains(equal, "_cv") {
		t.Errorf("equal maps have a coefficient:\n%s", equal)
	}
	if factor := number("found/scenario.toml", `"node3"`); math.Abs(factor-1.4) > 0.14 {
		t.Errorf("node3 takes %v as long, want 1.4", factor)
	}
	jobs, err := filepath.Glob(at("history/*.jhist*"))
	if err != nil || len(jobs) != 2 {
		t.Fatalf("histories %q, %v", jobs, err)
	}
	// What is stated is not looked for.
	if text := verb(t, "platform", "calibrate", jobs[0], "--fidelity", "phase", "--know", "cores=6", "--know", "nic_mb=100", "--out", at("one")); strings.Contains(text, "\ncores") || strings.Contains(text, "\nnic_mb") || !strings.Contains(text, "\nmemory") {
		t.Errorf("stated cores and network are looked for:\n%s", text)
	}
	if number("one/platform.toml", "cores") != 6 || number("one/platform.toml", "nic_mb") != 100 {
		t.Errorf("stated cores and network are not kept:\n%s", read(t, at("one/platform.toml")))
	}
	verb(t, "run", at("found/scenario.toml"), "--out", at("again"), "--set", "plots=none", "--quiet")
	_, _, warned := call("", "run", at("found/scenario.toml"), "--fidelity", "replay", "--out", at("replay"), "--set", "plots=none")
	if !strings.Contains(warned, "cluster.slowdowns has no effect") {
		t.Errorf("a replay does not say that recorded times contain the slow machine: %s", warned)
	}
	for _, result := range []string{"history", "again", "replay"} {
		if seen := verb(t, "inspect", at(result)); !regexp.MustCompile(`\nnode3 +1\.[34]\d  `).MatchString(seen) {
			t.Errorf("%s: node3 does not take 1.4 times as long:\n%s", result, seen)
		}
	}
	if printed := verb(t, "run", at("found/scenario.toml"), "--set", "cluster.nodes=2", "--out", at("fewer"), "--set", "plots=none", "-v"); !strings.Contains(printed, "no node is as slow as node3 was") {
		t.Errorf("on other machines: %s", printed)
	}
}

// A folder of profiles has one for each name of a job.
func TestProfilesOfAFolder(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Mkdir(at("profiles"), 0o777); err != nil {
		t.Fatal(err)
	}
	titled := func(profile, title string) string {
		_, rest, _ := strings.Cut(verb(t, "show", profile), "\n")
		return "title = \"" + title + "\"\n" + rest
	}
	writeFile(t, at("profiles/sort.toml"), titled("terasort", "sort"))
	writeFile(t, at("jobs.csv"), "job,name,state,submit_ns,finish_ns,maps,reduces\na,sort,SUCCEEDED,0,9000000000,1,0\nb,other,SUCCEEDED,0,9000000000,1,0\n")
	writeFile(t, at("attempts.csv"), "job,task,kind,attempt,state,node,start_ns,finish_ns,in_bytes\na,0,map,0,SUCCEEDED,n1,1000000000,8000000000,9000\nb,0,map,0,SUCCEEDED,n1,1000000000,8000000000,9000\n")
	writeFile(t, at("s.toml"), "fidelity = \"device\"\n[cluster]\nplatform = \"dl145-g3\"\n[workload]\ntrace = [\"jobs.csv\", \"attempts.csv\"]\nprofiles = \"profiles\"\n")
	code, _, errs := call("", "run", at("s.toml"), "--out", at("out"))
	if code != exitInput || !strings.Contains(errs, `"other"`) || !strings.Contains(errs, "s.toml:6: ") {
		t.Errorf("exit %d: %s", code, errs)
	}
	writeFile(t, at("profiles/other.toml"), titled("grep", "other"))
	verb(t, "run", at("s.toml"), "--out", at("out"), "--quiet")
}

// TestCalibrateStarfish: a platform and a profile are made of a Starfish profile alone,
// and a run on them takes the time that the costs say.
func TestCalibrateStarfish(t *testing.T) {
	t.Chdir(t.TempDir())
	figures := func(kind string, all ...string) (text string) {
		for i := 0; i < len(all); i += 2 {
			text += fmt.Sprintf("<%s key=%q value=%q/>", kind, all[i], all[i+1])
		}
		return text
	}
	writeFile(t, "profile.xml", `<?xml version="1.0"?><job_profile id="job_201001010000_0001" num_mappers="4" num_reducers="0"><inputs/><map_profile num_tasks="4" input_index="0"><counters>`+
		figures("counter", "MAP_INPUT_RECORDS", "1000")+"</counters><statistics>"+
		figures("statistic", "INPUT_PAIR_WIDTH", "1000", "MAP_SIZE_SEL", "0.01", "MAP_PAIRS_SEL", "1")+"</statistics><cost_factors>"+
		figures("cost_factor", "READ_HDFS_IO_COST", "500", "MAP_CPU_COST", "2000000")+"</cost_factors></map_profile></job_profile>")
	text := verb(t, "platform", "calibrate", "profile.xml", "--out", "found")
	if !strings.Contains(text, "Assumed: cpu.compare: as in dl145-g3; the profile has no SORT_CPU_COST") {
		t.Errorf("costs that the profile does not hold are not listed:\n%s", text)
	}
	verb(t, "validate", "found/platform.toml")
	writeFile(t, "job.toml", `fidelity = "phase"
[cluster]
platform = "found/platform.toml"
nodes = 2
[[job]]
name = "j"
profile = "found/profiles/job_201001010000_0001.toml"
maps = 4
input = "4000000"
`)
	verb(t, "run", "job.toml", "--out", "out", "--quiet", "--set", "plots=none")
	for _, row := range rowsOf(t, "out/attempts.csv") {
		if row["kind"] != "map" {
			continue
		}
		// 1,000 records of 1,000 bytes: 0.5 s to read them at 500 ns a byte, 2 s to map them.
		for column, want := range map[string]float64{"p_read_ns": 0.5e9, "p_map_ns": 2e9} {
			if got, _ := strconv.ParseFloat(row[column], 64); math.Abs(got/want-1) > 0.001 {
				t.Errorf("%s: %v, want %v", column, got, want)
			}
		}
	}
	for _, c := range []struct{ flag, want string }{{"--fidelity=phase", "--fidelity: is for a platform profile"}, {"--out=x.toml", "want a folder"}, {"--platform=none", "none"}} {
		if code, _, errs := call("", "platform", "calibrate", "profile.xml", c.flag); code == exitDone || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit %d: %s", c.flag, code, errs)
		}
	}
	verb(t, "run", "two-jobs", "--set", "scheduler.name=fifo", "--out", "other", "--quiet", "--set", "plots=none")
	if code, _, errs := call("", "platform", "calibrate", "profile.xml", "other"); code != exitInput {
		t.Errorf("with the history of other jobs: exit %d: %s", code, errs)
	}
}
