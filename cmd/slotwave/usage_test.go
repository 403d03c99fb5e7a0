package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
)

// Mistakes on the command line are answered in words of slotwave, with what was
// expected, and with nothing of the libraries below.
func TestUsageErrors(t *testing.T) {
	for command, want := range map[string]string{
		"rn two-jobs":                  `unknown verb "rn"; did you mean "run"?`,
		"--quiet":                      `unknown flag "--quiet"`,
		"run":                          "run: got no argument: want slotwave run SCENARIO",
		"run a b":                      "run: got 2 arguments, a b: want slotwave run SCENARIO",
		"list all":                     `list: got all: want slotwave list, which prints everything`,
		"list fair2":                   "list: got fair2: a scheduler: slotwave help fair2 explains it",
		"show aria":                    "show aria: no such scenario, platform or profile: got a model",
		"help cluster.nodes":           "help cluster.nodes: a key of a scenario: want docs/scenarios.md",
		"run two-jobs --version":       "want slotwave --version",
		"run two-jobs --dry-run":       "want slotwave validate FILE",
		"run two-jobs --thread 3":      "want --workers N",
		"run two-jobs --replication 3": `unknown flag "--replication": want --replications`,
		"merge a":                      "slotwave sweep merge does that",
		"platform calib x":             `platform: unknown verb "calib"; did you mean "calibrate"?`,
		"reproduce":                    "reproduce: want one PAPER",
		"convert x --to jist":          "did you mean jhist?",
		"compare two-jobs --why":       "--why: got 1 scenario, two-jobs: want two",
		"compare two-jobs two-jobs --why --job shrt":                                     `--job: got "shrt": want the id or name of a job`,
		"report two-jobs.toml --out x.pdf":                                               "--out x.pdf: report writes an HTML page",
		"sweep two-jobs --over cluster.nodes=2,3,4 --baseline cluster.nodes=5 --out out": "--baseline: got cluster.nodes=5: want values of the factors, cluster.nodes=2, ..., 4",
		"run two-jobs --sed 3":                                                           `unknown flag "--sed": want --seed`,
		"run two-jobs -x":                                                                `unknown flag "-x"; want one of --`,
		"run two-jobs --seed":                                                            "--seed: want a value",
		"run two-jobs --seed -1":                                                         `--seed: got "-1": want a whole number, 0 or more`,
		"run two-jobs --workers many":                                                    `--workers: got "many": want a whole number`,
		"run two-jobs --json=7":                                                          `--json: got "7": want true or false`,
		"predict two-jobs --deadline 5":                                                  `--deadline: got "5": want a time such as`,
		"platform fit nowhere.csv":                                                       "slotwave: nowhere.csv: no such file or directory",
		"convert nowhere --to csv --out x":                                               "slotwave: nowhere: no such file or directory",
		"fit nowhere.csv":                                                                "slotwave: fit is now: slotwave platform fit",
		"convert out --to statistics --out x":                                            "slotwave: convert --to statistics is now: slotwave convert --to profile",
		"platform eval spills":                                                           "slotwave: platform eval spills is now: slotwave run SCENARIO",
		"rerun out":                                                                      "slotwave: rerun is now: slotwave run RESULT/manifest.json",
		"show fb2008":                                                                    `did you mean fb2009?`,
		"two-jobs run":                                                                   "two-jobs is a scenario, not a verb: the verb stands first, such as slotwave run two-jobs",
		"my.toml":                                                                        "my.toml is a scenario, not a verb",
		"simulate two-jobs":                                                              `unknown verb "simulate": slotwave run does that`,
		"run two-jobs -o x":                                                              `unknown flag "-o": want --out`,
		"run two-jobs --output x":                                                        `unknown flag "--output": want --out DIR`,
		"run two-jobs --workers -1":                                                      "--workers: got -1: want 0 or more",
		"run two-jobs --set cluster.vcores=8":                                            `cluster.vcores: Hadoop 1.2.1 has slots: want hadoop = "3.3.6"`,
		"explain out/x --node node1":                                                     "--at is missing: want a time",
		"explain out/x --at 5s":                                                          "--node is missing: want the name",
		"convert x":                                                                      "--to is missing: want one of",
		"help wavs":                                                                      "no such page (did you mean waves?)",
		"tune two-jobs":                                                                  "got 1 run and 2 jobs: want a scenario of one job",
		"explain two-jobs":                                                               "got a scenario: want a result; slotwave run two-jobs writes one into out/two-jobs",
		"run two-jobs --set cluster.hadoop=2.7":                                          "cluster.hadoop: 2.7: want one of 0.20.2, ",
		"run two-jobs --set job.0.map_time=5":                                            "unknown key job[0].map_time (did you mean job[0].map_ms?)",
	} {
		code, _, stderr := call("", strings.Fields(command)...)
		if code != exitInput || !strings.Contains(stderr, want) || strings.ContainsAny(strings.TrimSpace(stderr), "\n\\") {
			t.Errorf("%s: exit code %d, %q; want %q", command, code, stderr, want)
		}
	}
}

// A file that is given in place of another is named for what it is, with what to do.
func TestForeignFiles(t *testing.T) {
	folder := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	scenario := file("mine.toml", "name = \"mine\"\n[cluster]\nnodes = 3\n")
	settings := file("mapred-site.xml", `<?xml version="1.0"?><configuration><property><name>io.sort.mb</name><value>100</value></property></configuration>`)
	spark := file("app-1", `{"Event":"SparkListenerLogStart","Spark Version":"3.1.1"}`)
	utf16 := file("utf16.toml", "\xff\xfen\x00a\x00")
	latin1 := file("latin1.toml", "name = \"caf\xe9\"\n")
	cut := file("cut.toml", "name = \"caf\xc3")
	table := file("prices.csv", "machine,price\nm1,2\n")
	file("pictures/slots.png", "\x89PNG\r\n\x1a\n")
	study := file("study.toml", "scenario = \"two-jobs\"\n[[factor]]\nkey = \"cluster.nodes\"\nvalues = [2, 3]\n")
	machine := file("machine.toml", "cores = 4\n[[disk]]\n")
	offer := file("offer.toml", "[[goal]]\nfinish = \"5m\"\n[[node]]\nname = \"a\"\nmap_slots = \"two\"\n")
	none := filepath.Join(folder, "none")
	if code, _, stderr := call("", "run", "two-jobs", "--set", "attempts=none", "--set", "plots=none", "--out", none); code != exitDone {
		t.Fatal(stderr)
	}
	empty := filepath.Join(folder, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	yaml := file("docker-compose.yml", "services:\n  namenode:\n    image: hadoop\n")
	pools := file("fair-scheduler.xml", "<allocations><queue name=\"etl\"/></allocations>\n")
	lost := file("lost.toml", "scenario = \"nowhere.toml\"\n")
	fare := file("fare.toml", "scenario = \"two-jobs\"\n[[factor]]\nkey = \"scheduler.name\"\nvalues = [\"fifo\", \"fare2\"]\n")
	offers := file("offers.toml", "[[node]]\nname = \"a\"\nmap_slots = 2\nreduce_slots = 1\n[[goal]]\nfinish = \"5m\"\n")
	priced := file("priced.toml", "[[node]]\nname = \"a\"\nmap_slots = 2\nreduce_slots = 1\nprice = 2\n[[goal]]\nfinish = \"5m\"\n")
	goal := file("goal.toml", "[[node]]\nname = \"a\"\nmap_slots = 2\nreduce_slots = 1\n[[goal]]\njob = \"shrt\"\nresponse = \"5m\"\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"explain", scenario}, "got a scenario: want a result; slotwave run " + scenario + " writes one into out/mine"},
		{[]string{"report", scenario}, "got a scenario: want a result"},
		{[]string{"diagnose", scenario}, "got a scenario: want a result"},
		{[]string{"inspect", scenario}, "got a scenario: want a result"},
		{[]string{"inspect", "two-jobs"}, "got a scenario: want a result"},
		{[]string{"inspect", settings}, "no jobs found: mapred-site.xml holds settings: want the histories of the jobs"},
		{[]string{"run", settings}, "no jobs found: mapred-site.xml holds settings"},
		{[]string{"run", spark}, "an event log of Spark: want a record of MapReduce jobs"},
		{[]string{"inspect", spark}, "an event log of Spark"},
		{[]string{"run", utf16}, "text in UTF-16: want UTF-8; iconv -f utf-16"},
		{[]string{"run", latin1}, "want UTF-8; iconv -f latin1"},
		{[]string{"run", cut}, "want UTF-8; iconv -f latin1"},
		{[]string{"size", "two-jobs", offers, "--know", "cores=8"}, "--know: got cores=8: want a history before it"},
		{[]string{"inspect", table}, "a table with the columns machine, price: want those of attempts.csv or jobs.csv"},
		{[]string{"inspect", filepath.Join(folder, "pictures")}, "slots.png: a picture: want a history"},
		{[]string{"run", filepath.Join(folder, "pictures")}, "slots.png: a picture: want a history"},
		{[]string{"run", study}, "got a study: want a scenario; slotwave sweep " + study + " simulates it"},
		{[]string{"inspect", study}, "got a study: want a result"},
		{[]string{"run", machine}, "got a platform: want a scenario"},
		{[]string{"run", goal}, "got goals and offers: want a scenario; slotwave size SCENARIO " + goal},
		{[]string{"platform", "bench", scenario}, "got a scenario: want a platform"},
		{[]string{"platform", "fit", scenario}, "line 1: want a table of benchmarks"},
		{[]string{"sweep", study, "--set", "cluster.nodes=4"}, "study.toml:2: the study varies this key: want --over cluster.nodes=4"},
		{[]string{"size", "two-jobs", offer}, "offer.toml:5: node[0]: map_slots: \"two\": want a whole number"},
		{[]string{"size", "two-jobs", priced}, "priced.toml:5: node[0]: unknown key price (did you mean price_per_hour?)"},
		{[]string{"size", "two-jobs", offers, "--grow", "1,4"}, "--grow: got 1,4: 1 has a line already"},
		{[]string{"diagnose", none}, "the run wrote no attempts"},
		{[]string{"run", filepath.Join(none, "summary.json")}, "a part of a result, without tasks: want " + none},
		{[]string{"run", none, "--topology", table}, "--topology " + table + ": want a file with the racks and machines alone"},
		{[]string{"run", yaml}, `not a known history format: it begins with "services: namenode: image: hadoop": want a file that slotwave help formats lists, or a scenario in TOML`},
		{[]string{"run", pools}, "the queues of a cluster on YARN, without jobs: want --workload FILE"},
		{[]string{"inspect", filepath.Join(none, "manifest.json")}, "a part of a result, without tasks: want " + none},
		{[]string{"sweep", lost}, "lost.toml: scenario: "},
		{[]string{"sweep", fare}, "fare.toml:2: scheduler.name: \"fare2\": want one of"},
		{[]string{"platform", "calibrate", scenario}, "got a scenario: want a result"},
		{[]string{"explain", none, "--task", "short/m/0"}, "the run wrote no attempts"},
		{[]string{"diagnose", empty}, empty + ": no file to read"},
		{[]string{"size", "two-jobs", goal}, `goal[0]: job: got "shrt": want one of long, short`},
	} {
		code, _, stderr := call("", c.args...)
		if code != exitInput || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit code %d, %q; want %q", c.args, code, stderr, c.want)
		}
	}
}

// Help fits on a terminal of 80 columns.
func TestHelpWidth(t *testing.T) {
	pages := 0
	verbs := (&app{}).root().Commands()
	for _, c := range verbs {
		verbs = append(verbs, c.Commands()...)
	}
	for _, c := range verbs {
		name := strings.TrimPrefix(c.CommandPath(), "slotwave ")
		page := verb(t, append([]string{"help"}, strings.Fields(name)...)...)
		pages++
		for _, line := range strings.Split(page, "\n") {
			if len(line) > 80 {
				t.Errorf("help %s: %d columns: %s", name, len(line), line)
			}
		}
	}
	if pages < 20 {
		t.Errorf("%d pages, want those of all verbs and topics", pages)
	}
}

// -h fits a screen, begins with a sentence and has an example if the verb has flags.
func TestShortHelpFits(t *testing.T) {
	t.Parallel()
	for _, c := range append((&app{}).root().Commands(), platformCommand(&app{}).Commands()...) {
		if !c.Runnable() || c.Hidden {
			continue
		}
		args := append(strings.Fields(strings.TrimPrefix(c.CommandPath(), "slotwave ")), "-h")
		if c.Parent() != nil && c.Parent().Name() == "platform" {
			args = append([]string{"platform"}, c.Name(), "-h")
		}
		page := verb(t, args...)
		lines := strings.Split(strings.TrimSuffix(page, "\n"), "\n")
		if len(lines) > screenHeight {
			t.Errorf("%v: %d lines", args, len(lines))
		}
		for _, line := range lines {
			if width(line) > screenWidth {
				t.Errorf("%v: %d columns: %s", args, width(line), line)
			}
		}
		if !strings.HasSuffix(lines[0], ".") || c.Example == "" && strings.Contains(page, "      --") {
			t.Errorf("%v: begins with %q: want a sentence and an example", args, lines[0])
		}
	}
}

// What run prints fits a screen and ends with a command that goes on; -v prints all.
func TestRunFitsScreen(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"two-jobs", "hitune-sort", "zhang-waves", "capacity-queues"} {
		out := filepath.Join(t.TempDir(), "out")
		text := verb(t, "run", name, "--out", out, "--set", "plots=none")
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) > screenHeight || !strings.HasPrefix(lines[len(lines)-1], "next: slotwave diagnose "+out) || strings.Contains(text, "\nAssumed\n") {
			t.Errorf("%s: %d lines: %s", name, len(lines), text)
		}
		for _, line := range lines[:len(lines)-2] {
			if width(line) > screenWidth {
				t.Errorf("%s: %d columns: %s", name, width(line), line)
			}
		}
		if name != "two-jobs" && !layers.Whole {
			continue // -v is the same for all of them
		}
		all := verb(t, "run", name, "-v", "--out", out, "--set", "plots=none")
		if !strings.Contains(all, "\nAssumed\n") || !strings.Contains(all, "\nresults in ") {
			t.Errorf("%s -v: %s", name, all)
		}
	}
	if code, _, stderr := call("", "sweep", "two-jobs", "--out", filepath.Join(t.TempDir(), "out")); code != exitDone || !strings.Contains(stderr, "nothing varies") {
		t.Errorf("sweep without a factor: exit %d, %s", code, stderr)
	}
}

// Long lines go on below their last cell, and no figure loses its unit.
func TestWrap(t *testing.T) {
	for row, want := range map[string]string{
		"makespan  between the first submission and the end of the last job there are 6 h 13 min 5 s": "makespan  between the first submission and the end of the last job there are\n" +
			"          6 h 13 min 5 s",
		"cluster.heartbeat  determined  300ms  tasks of a machine are assigned whole intervals apart": "cluster.heartbeat  determined  300ms  tasks of a machine are assigned whole\n" +
			"                                      intervals apart",
	} {
		if got := strings.Join(wrap(row), "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	s := section{rows: []string{"run  " + strings.Repeat("a", 54) + "  makespan  ratio of it", "x    1" + strings.Repeat(" ", 55) + "22.5 s    0.5"}}
	if s.narrow(); strings.Join(s.cut, ", ") != "ratio of it" || width(s.rows[1]) > screenWidth || !strings.HasSuffix(s.rows[0], "makespan") {
		t.Errorf("left out %q of\n%s", s.cut, strings.Join(s.rows, "\n"))
	}
}

// Rows that are dropped alike are listed once.
func TestRowsDroppedAlike(t *testing.T) {
	rows := write(t, "r.csv", "job,type,task,start_s,finish_s\nj,map,0,0,9\n"+strings.Repeat("j,m,1,0,9\n", 5))
	if _, _, warned := call("", "diagnose", rows); !strings.Contains(warned, " and 4 others: kind \"m\" is none of") {
		t.Error(warned)
	}
}
