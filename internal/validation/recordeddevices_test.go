package validation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model"
)

// deviceChanges are the questions asked of every world, as settings of a
// scenario.
var deviceChanges = []struct {
	name     string
	settings []string
}{
	{"as recorded", nil},
	{"disks of a quarter of the time", []string{"cluster.disk_slowdown=0.25"}},
	{"network of 1250 MB/s", []string{"network.nic_mb=1250"}},
	{"one more map slot", []string{"cluster.map_slots=3"}},
	{"twice the nodes", []string{"cluster.nodes=8"}},
	{"map output compressed", []string{"conf.'mapred.compress.map.output'=true", "conf.'mapred.map.output.compression.codec'=lz4"}},
}

// TestDevicesFromHistory takes simulated worlds as the truth: random machines and
// jobs. It writes their histories, calibrates from them, changes the devices of
// both and compares the times of the jobs. It prints the errors that
// docs/validation.md sums up.
func TestDevicesFromHistory(t *testing.T) {
	layers.OnlyWhole(t, "30 calibrations take many minutes")
	worlds, first := 30, 0
	if n, err := strconv.Atoi(os.Getenv("SLOTWAVE_FIRST_WORLD")); err == nil {
		first = n
	}
	if n, err := strconv.Atoi(os.Getenv("SLOTWAVE_WORLDS")); err == nil {
		worlds = n
	}
	errors, inside := make([][]float64, len(deviceChanges)), make([]int, len(deviceChanges)+1)
	for world := range worlds {
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		scenario := writeWorld(t, dir, uint64(first+world))
		verb(t, "run", scenario, "--out", at("run"), "--quiet", "--set", "plots=none")
		verb(t, "convert", at("run"), "--to", "jhist", "--out", at("history"), "--quiet")
		verb(t, "platform", "calibrate", at("history"), "--out", at("found"), "--quiet")
		for i, change := range deviceChanges {
			type stated struct{ time, low, high float64 }
			times := func(scenario, out string) map[string]stated {
				args := []string{"run", scenario, "--out", at(out), "--quiet", "--set", "plots=none"}
				for _, s := range change.settings {
					args = append(args, "--set", s)
				}
				verb(t, args...)
				all := map[string]stated{}
				for _, j := range rowsOf(t, filepath.Join(at(out), "jobs.csv")) {
					number := func(column string) float64 { v, _ := strconv.ParseFloat(j[column], 64); return v }
					all[j["name"]] = stated{number("finish_ns") - number("submit_ns"), number("low_ns"), number("high_ns")}
				}
				return all
			}
			truth := times(scenario, fmt.Sprintf("truth-%d", i))
			for job, found := range times(at("found/scenario.toml"), fmt.Sprintf("found-%d", i)) {
				errors[i] = append(errors[i], math.Abs(found.time/truth[job].time-1))
				if found.low <= truth[job].time && truth[job].time <= found.high {
					inside[i]++
				}
				if os.Getenv("SLOTWAVE_WORST") != "" {
					t.Logf("world %d %s %s: %+.1f %%, %+.1f %% to %+.1f %%", first+world, deviceChanges[i].name, job,
						100*(found.time/truth[job].time-1), 100*(found.low/truth[job].time-1), 100*(found.high/truth[job].time-1))
				}
			}
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "| change | jobs | median error | 90 %% within | worst | inside the stated interval |\n|---|---|---|---|---|---|\n")
	var all []float64
	for i, change := range deviceChanges {
		e := errors[i]
		slices.Sort(e)
		fmt.Fprintf(&table, "| %s | %d | %.1f %% | %.1f %% | %.1f %% | %s |\n", change.name, len(e), 100*e[len(e)/2], 100*e[len(e)*9/10], 100*e[len(e)-1], share(inside[i], len(e)))
		if i > 0 {
			all = append(all, e...)
			inside[len(errors)] += inside[i]
		}
	}
	slices.Sort(all)
	fmt.Fprintf(&table, "| all changes | %d | %.1f %% | %.1f %% | %.1f %% | %s |\n", len(all), 100*all[len(all)/2], 100*all[len(all)*9/10], 100*all[len(all)-1], share(inside[len(errors)], len(all)))
	t.Logf("%d worlds\n%s", worlds, table.String())
	if median, most := all[len(all)/2], all[len(all)*9/10]; median > 0.05 || most > 0.12 {
		t.Errorf("median error %.1f %%, 90 %% within %.1f %%: want 5 %% and 12 %% at most", 100*median, 100*most)
	}
}

// writeWorld writes a scenario with a random machine and two to four jobs.
func writeWorld(t *testing.T, dir string, seed uint64) string {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 14))
	between := func(low, high float64) string {
		return strconv.FormatFloat(low*math.Pow(high/low, r.Float64()), 'f', 3, 64)
	}
	machine := strings.NewReplacer(
		"read_mb = 60", "read_mb = "+between(40, 160), "write_mb = 55", "write_mb = "+between(40, 140),
		"speed = 0.4", "speed = "+between(0.25, 1), "nic_mb = 125", "nic_mb = "+between(40, 250),
	).Replace(verb(t, "show", "dl145-g3"))
	var b strings.Builder
	b.WriteString("fidelity = \"device\"\n[cluster]\nplatform = \"truth.toml\"\nnodes = 4\nmap_slots = 2\nreduce_slots = 2\n" +
		"[conf]\n\"mapred.map.tasks.speculative.execution\" = false\n\"mapred.reduce.tasks.speculative.execution\" = false\n")
	profiles := []string{"terasort", "sort", "wordcount", "grep", "inverted-index", "join", "kmeans", "self-join"}
	r.Shuffle(len(profiles), func(i, k int) { profiles[i], profiles[k] = profiles[k], profiles[i] })
	for i, profile := range profiles[:2+r.IntN(3)] {
		fmt.Fprintf(&b, "[[job]]\nname = %q\nsubmit = \"%ds\"\nprofile = %q\ninput = \"%d MB\"\nreduces = %d\n", profile, 40*i, profile, 512+128*r.IntN(8), 1+r.IntN(6))
	}
	for name, text := range map[string]string{"truth.toml": machine, "world.toml": b.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "world.toml")
}

// TestRecordedVolumes writes the history of jobs with and without a combiner that
// works in spills, merges and reduces. A replay with the true machine and the true
// costs moves the same bytes and records: neither the combiner nor the framing of
// map outputs is applied twice. Records and bytes of a task are whole.
func TestRecordedVolumes(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Mkdir(at("profiles"), 0o777); err != nil {
		t.Fatal(err)
	}
	world := "fidelity = \"device\"\n[cluster]\nplatform = \"dl145-g3\"\nnodes = 4\nmap_slots = 2\nreduce_slots = 2\n" +
		"[conf]\n\"mapred.map.tasks.speculative.execution\" = false\n\"mapred.reduce.tasks.speculative.execution\" = false\n"
	for i, profile := range []string{"terasort", "self-join", "wordcount"} {
		name := fmt.Sprintf("job_201001010000_%04d", i+1)
		_, text, _ := strings.Cut(verb(t, "show", profile), "\n")
		world += fmt.Sprintf("[[job]]\nname = %q\nsubmit = \"%ds\"\nprofile = %q\ninput = \"512 MB\"\nreduces = 2\n", name, 40*i, profile)
		if err := os.WriteFile(at("profiles/"+profile+".toml"), []byte("title = \""+name+"\"\n"+text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	again := "fidelity = \"device\"\n[cluster]\nplatform = \"dl145-g3\"\n[cluster.costs]\nlaunch = \"1s\"\n[workload]\ntrace = \"history\"\nprofiles = \"profiles\"\n"
	for name, text := range map[string]string{"world.toml": world, "again.toml": again} {
		if err := os.WriteFile(at(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	verb(t, "run", at("world.toml"), "--out", at("world"), "--quiet", "--set", "plots=none")
	verb(t, "convert", at("world"), "--to", "jhist", "--out", at("history"), "--quiet")
	// As in Hadoop, the configuration of a job holds what the cluster set for it.
	if conf := read(t, at("history/job_201001010000_0002_conf.xml")); !strings.Contains(conf, "<name>mapred.map.tasks.speculative.execution</name><value>false</value>") {
		t.Errorf("the configuration in the history is %s", conf)
	}
	verb(t, "run", at("again.toml"), "--out", at("again"), "--quiet", "--set", "plots=none")
	columns := map[string]float64{ // and how far their sums may differ
		"out_records": 0.0001, "out_bytes": 0.001, "shuffle_bytes": 0.0005, "hdfs_write_bytes": 0.0005, "local_write_bytes": 0.0005,
		"combine_input_records": 0.0005, "combine_output_records": 0.0005, "map_output_materialized_bytes": 0.0005, "cpu_milliseconds": 0.01,
	}
	sums := func(name string) map[string]float64 {
		all := map[string]float64{}
		for _, row := range rowsOf(t, filepath.Join(at(name), "attempts.csv")) {
			for column := range columns {
				v, err := strconv.ParseFloat(row[column], 64)
				if err != nil {
					t.Fatal(err)
				}
				all[column+" of the "+row["kind"]+"s of "+row["job"]] += v
			}
		}
		return all
	}
	want, got := sums("world"), sums("again")
	for key, w := range want {
		column, _, _ := strings.Cut(key, " ")
		if g := got[key]; math.Abs(g-w) > columns[column]*w+10 {
			t.Errorf("%s: %v, recorded %v", key, g, w)
		}
	}
	if len(want) != len(got) || want["combine_input_records of the reduces of job_201001010000_0002"] == 0 {
		t.Errorf("%d sums of the world, %d of its replay: %v", len(want), len(got), want)
	}
}

// TestRumenRoundTrips runs jobs with every codec, writes their history as Rumen's
// trace and runs that at every fidelity: it takes as long as the jobs themselves,
// and moves the same bytes. Rumen has neither the locality of maps nor the records
// out of combiners. Its milliseconds move an instant by half of one. Records and
// bytes of a task are whole, so that each of the twelve maps of a job, whose output
// for a reduce may be 176 bytes, may be off by one, and the ratio of its codec.
func TestRumenRoundTrips(t *testing.T) {
	const makespan, bytes, maps = 0.0001, 0.0002, 12
	for _, codec := range model.Codecs {
		if testing.Short() && codec.Name != "gzip" {
			continue
		}
		t.Run(codec.Name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			if err := os.Mkdir(at("profiles"), 0o777); err != nil {
				t.Fatal(err)
			}
			world := "[cluster]\nplatform = \"dl145-g3\"\nnodes = 4\nracks = 2\nmap_slots = 2\nreduce_slots = 2\n" +
				"[conf]\n\"mapred.map.tasks.speculative.execution\" = false\n\"mapred.reduce.tasks.speculative.execution\" = false\n"
			if codec.Name != "none" {
				world += fmt.Sprintf("\"mapred.compress.map.output\" = true\n\"mapred.map.output.compression.codec\" = %q\n", codec.Name)
			}
			files := map[string]string{}
			for i, profile := range []string{"terasort", "self-join", "wordcount"} {
				_, text, _ := strings.Cut(verb(t, "show", profile), "\n")
				name := fmt.Sprintf("job_201001010000_%04d", i+1)
				files["profiles/"+profile+".toml"] = "title = \"" + name + "\"\n" + text
				world += fmt.Sprintf("[[job]]\nname = %q\nsubmit = \"%ds\"\nprofile = %q\ninput = \"768 MB\"\nreduces = 3\n", name, 20*i, profile)
			}
			files["world.toml"] = world
			files["again.toml"] = "[cluster]\nplatform = \"dl145-g3\"\n[cluster.costs]\nlaunch = \"1s\"\n[workload]\ntrace = \"trace.json\"\nprofiles = \"profiles\"\n"
			for name, text := range files {
				if err := os.WriteFile(at(name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			run := func(scenario, fidelity, out string) (ns float64, moved map[string]float64) {
				verb(t, "run", at(scenario), "--fidelity", fidelity, "--out", at(out), "--quiet", "--set", "plots=none")
				for _, j := range rowsOf(t, filepath.Join(at(out), "jobs.csv")) {
					v, _ := strconv.ParseFloat(j["finish_ns"], 64)
					ns = math.Max(ns, v)
				}
				moved = map[string]float64{}
				for _, row := range rowsOf(t, filepath.Join(at(out), "attempts.csv")) {
					for column, text := range row {
						if v, err := strconv.ParseFloat(text, 64); err == nil && (strings.HasSuffix(column, "_bytes") || strings.HasSuffix(column, "_records")) {
							moved[row["job"]+" "+row["kind"]+" "+column] += v
						}
					}
				}
				return ns, moved
			}
			phase, inPhase := run("world.toml", "phase", "phase")
			device, inDevice := run("world.toml", "device", "device")
			verb(t, "convert", at("device"), "--to", "rumen", "--out", at("trace.json"), "--quiet")
			for _, x := range []struct {
				fidelity string
				ns       float64
				moved    map[string]float64
			}{{"replay", device, nil}, {"profile", device, nil}, {"phase", phase, inPhase}, {"device", device, inDevice}} {
				ns, moved := run("again.toml", x.fidelity, "again-"+x.fidelity)
				if math.Abs(ns/x.ns-1) > makespan {
					t.Errorf("%s: %.3f s, recorded %.3f s", x.fidelity, ns/1e9, x.ns/1e9)
				}
				for key, want := range x.moved {
					if got := moved[key]; math.Abs(got-want) > bytes*want+maps {
						t.Errorf("%s: %s: %v, recorded %v", x.fidelity, key, got, want)
					}
				}
			}
		})
	}
}

// TestDividedJobs gives recorded jobs other numbers of reduces and other blocks. They
// take as long as jobs that were run so, but for the heartbeats of the record and the
// places of replicas.
func TestDividedJobs(t *testing.T) {
	const near = 0.02
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	_, profile, _ := strings.Cut(verb(t, "show", "terasort"), "\n")
	world := "fidelity = \"phase\"\n[cluster]\nplatform = \"dl145-g3\"\nnodes = 4\nmap_slots = 2\nreduce_slots = 2\n" +
		"[conf]\n\"mapred.map.tasks.speculative.execution\" = false\n\"mapred.reduce.tasks.speculative.execution\" = false\n" +
		"[[job]]\nname = \"job_201001010000_0001\"\nprofile = \"terasort\"\ninput = \"1536 MB\"\nreduces = 4\n"
	again := "fidelity = \"phase\"\n[cluster]\nplatform = \"dl145-g3\"\n[cluster.costs]\nlaunch = \"1s\"\n[workload]\ntrace = \"trace.json\"\nprofile = \"profile.toml\"\n"
	for name, text := range map[string]string{"profile.toml": "title = \"terasort\"\n" + profile, "world.toml": world, "again.toml": again} {
		if err := os.WriteFile(at(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(scenario string, settings ...string) float64 {
		args := []string{"run", at(scenario), "--out", at("out"), "--force", "--quiet", "--set", "plots=none"}
		for _, s := range settings {
			args = append(args, "--set", s)
		}
		verb(t, args...)
		ns, _ := strconv.ParseFloat(rowsOf(t, at("out/jobs.csv"))[0]["finish_ns"], 64)
		return ns
	}
	recorded := run("world.toml")
	verb(t, "convert", at("out"), "--to", "rumen", "--out", at("trace.json"), "--quiet")
	for _, x := range []struct{ truth, change string }{
		{"job.0.reduces=1", "workload.reduces=1"},
		{"job.0.reduces=2", "workload.reduces=2"},
		{"conf.'dfs.block.size'=16777216", "workload.block_size=16m"},
		{"conf.'dfs.block.size'=268435456", "workload.block_size=256m"},
	} {
		want, got := run("world.toml", x.truth), run("again.toml", x.change)
		if math.Abs(got/want-1) > near || math.Abs(want/recorded-1) < 2*near {
			t.Errorf("%s: %.1f s, want %.1f s; as recorded %.1f s", x.change, got/1e9, want/1e9, recorded/1e9)
		}
	}
}
