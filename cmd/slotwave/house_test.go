package main

import (
	"encoding/json"
	"errors"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
)

// recipes are those of CONTRIBUTING.md: the whole file that each adds, if any,
// and the line before which each of its other blocks of Go goes.
var recipes = []struct {
	title, file string
	edits       [][2]string // file, line
}{
	{"a scheduler", "scheduler/shortest.go", [][2]string{{"scheduler/policies.go", "}"}}},
	{"a trace format", "workload/trace/toy.go", [][2]string{{"workload/trace/format.go", "}"}}},
	{"an analytic model", "model/analytic/busy.go", [][2]string{{"model/analytic/table.go", "\tcrespModel,"}}},
	{"a plot", "results/plot_waiting.go", [][2]string{{"results/plots.go", "}"}}},
	{"a Hadoop property", "", [][2]string{
		{"workload/properties.go", "}"},
		{"sim/jobtracker/newjobtracker.go", "\tconf, err := jt.conf.of(spec.Conf, jt.Release.Name)"},
	}},
	{"a diagnosis rule", "diagnose/rule_shortmaps.go", [][2]string{{"diagnose/rules.go", "}"}}},
}

// tables are what the tables begin with that recipes add a line to.
var tables = map[string]string{
	"scheduler/policies.go":           "var policies = ",
	"workload/trace/format.go":        "var formats = ",
	"model/analytic/table.go":         "var Models = ",
	"results/plots.go":                "var plots = ",
	"workload/properties.go":          "var properties = ",
	"sim/jobtracker/newjobtracker.go": "func (jt *JobTracker) checkedConf(",
	"diagnose/rules.go":               "var rules = ",
}

// ofRecipe reports whether a recipe adds the file.
func ofRecipe(file string) bool {
	for _, r := range recipes {
		if r.file == file {
			return true
		}
	}
	return false
}

// The recipes of CONTRIBUTING.md compile together and do what they say, in as few
// files as they say.
func TestRecipes(t *testing.T) {
	layers.OnlyWhole(t, "compiles the program and the tests of a package anew")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	replace := map[string]string{}
	place := func(file, content string) {
		replace[filepath.Join(root, file)] = write(strings.ReplaceAll(file, "/", "-"), content)
	}
	page := read(t, filepath.Join(root, "CONTRIBUTING.md"))
	for _, r := range recipes {
		_, section, _ := strings.Cut(page, "\n## Add "+r.title+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(section, -1)
		if r.file != "" && len(blocks) > 0 {
			if !strings.Contains(section, "whole file") || !strings.Contains(section, "`"+r.file+"`") {
				t.Errorf("the recipe of %s does not name %s", r.title, r.file)
			}
			if clean, err := format.Source([]byte(blocks[0][1])); err != nil || string(clean) != blocks[0][1] {
				t.Errorf("%s: not as gofmt writes it (%v); want\n%s", r.file, err, clean)
			}
			place(r.file, blocks[0][1])
			blocks = blocks[1:]
		}
		if len(blocks) != len(r.edits) {
			t.Fatalf("the recipe of %s has %d blocks of Go besides whole files: want %d", r.title, len(blocks), len(r.edits))
		}
		for i, e := range r.edits {
			if !strings.Contains(section, "`"+e[0]+"`") {
				t.Errorf("the recipe of %s does not name %s", r.title, e[0])
			}
			text := read(t, filepath.Join(root, e[0]))
			table := strings.Index(text, "\n"+tables[e[0]])
			line := strings.Index(text[max(0, table):], "\n"+e[1]+"\n")
			if table < 0 || line < 0 {
				t.Fatalf("%s has no line %q in %q", e[0], e[1], tables[e[0]])
			}
			at := table + line + 1
			place(e[0], text[:at]+blocks[i][1]+text[at:])
		}
	}
	place("diagnose/recipe_test.go", `package diagnose

import (
	"testing"

	"github.com/slotwave/slotwave/workload"
)

func TestRecipe(t *testing.T) {
	p := newTestRun()
	p.slow(0.5, func(a *workload.HistoryAttempt) bool { return a.Kind == workload.Map }, workload.PhaseRead, workload.PhaseMap, workload.PhaseSpill)
	for _, f := range p.diagnose(t).Findings {
		if f.Rule == "R27" && f.Evidence != "" {
			return
		}
	}
	t.Error("the rule found nothing")
}
`)
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlaid := "-overlay=" + write("overlay.json", string(overlay))
	call := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
		return string(out)
	}
	program := filepath.Join(dir, "slotwave")
	if out := call("go", "build", overlaid, "-o", program, "./cmd/slotwave"); out != "" {
		t.Fatal(out)
	}
	two, out := read(t, filepath.Join(root, "scenarios", "two-jobs.toml")), filepath.Join(dir, "out")
	one, _, _ := strings.Cut(two, "[[job]]\nname = \"short\"")
	limited := strings.Replace(two, "[conf]\n", "[conf]\n\"mapreduce.jobtracker.maxtasks.perjob\" = 10\n", 1)
	const toy = "toy job_1_0001\nmap 2 5\nmap 2 9\n"
	for _, c := range []struct {
		recipe, want string
		args         []string
	}{
		{"a scheduler", "shortest", []string{"run", "two-jobs", "--set", "scheduler.name=shortest", "--out", out}},
		{"a trace format", "", []string{"convert", write("in.toy", toy), "--to", "toy", "--out", filepath.Join(dir, "back")}},
		{"an analytic model", "busy", []string{"predict", write("one.toml", one)}},
		{"a Hadoop property", "maxtasks.per.job: got 43 tasks: want at most 10", []string{"run", write("limited.toml", limited), "--out", filepath.Join(dir, "none")}},
	} {
		if got := call(program, c.args...); !strings.Contains(got, c.want) {
			t.Errorf("%s: %v: want %q in\n%s", c.recipe, c.args, c.want, got)
		}
	}
	if got := read(t, filepath.Join(out, "summary.json")); !strings.Contains(got, `"scheduler": "shortest"`) {
		t.Errorf("another scheduler ran: %.300s", got)
	}
	if got := read(t, filepath.Join(dir, "back", "jobs.toy")); got != toy {
		t.Errorf("the trace came back as %q", got)
	}
	for _, name := range []string{"waiting.png", "waiting.svg"} {
		read(t, filepath.Join(out, name))
	}
	if got := call("go", "test", overlaid, "-run", "^TestRecipe$", "./diagnose"); !strings.HasPrefix(got, "ok") {
		t.Errorf("a diagnosis rule: %s", got)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Commands in the documents are lines of code that begin with slotwave or go
// run. Files of the reader's own in them are named my*. The commands of the
// tutorial depend on one another: TestTutorial runs them. What is
// diagnosed or explained a command before wrote; no changes are tested here.
func TestDocumentedCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("whole days of clusters")
	}
	line := regexp.MustCompile(`^(?:    |\t)?(?:\$ )?(?:go run \./cmd/)?slotwave ([^#<|]*)`)
	seen := map[string]bool{}
	folder, written := t.TempDir(), map[string]string{}
	for _, doc := range documents(t) {
		if isChapter(doc) {
			continue
		}
		fenced := false
		for _, text := range strings.Split(read(t, doc), "\n") {
			if strings.HasPrefix(text, "```") {
				fenced = !fenced
			}
			m := line.FindStringSubmatch(text)
			if m == nil || !fenced && !strings.HasPrefix(text, "    ") || strings.Contains(m[1], " my") || seen[m[1]] {
				continue
			}
			seen[m[1]] = true
			t.Run(strings.TrimSpace(m[1]), func(t *testing.T) {
				args := arguments(m[1])
				out := filepath.Join(folder, strconv.Itoa(len(seen)))
				if i := slices.Index(args, "--out"); i >= 0 {
					written[args[i+1]] = out
					args[i+1] = out
				} else if kind := map[string]string{"report": ".html", "play": ".html", "convert": ".csv"}[args[0]]; kind != "" {
					args = append(args, "--out", out+kind)
					written["samples"+kind] = out + kind
				} else if args[0] == "run" || args[0] == "compare" {
					written["out/"+args[1]] = out
					args = append(args, "--out", out)
				}
				switch args[0] {
				case "diagnose":
					if !slices.Contains(args, "--follow") { // which tests no change
						args = append(args, "--verify", "off")
					}
				case "play": // builds the simulator for the browser
					layers.OnlyWhole(t, "takes half a minute; TestPlayAttemptsOfRun and package play test the rest")
				case "reproduce":
					if slices.Contains(args, "--all") || slices.Contains(args, "slots") {
						layers.OnlyWhole(t, "takes minutes; package reproduce tests its claims")
					}
					if slices.Contains(args, "zhang") {
						layers.OnlyWhole(t, "TestModelOutputsStay and TestZhangLoop make its parts")
					}
				case "report":
					if !layers.Whole { // simulates for 20 s
						args = append(args, "--verify", "off")
					}
				}
				for i, a := range args {
					if dir := written[a]; dir != "" {
						args[i] = dir
					}
				}
				if code, _, stderr := call("", args...); code != exitDone {
					t.Errorf("%s: exit code %d: %s", doc, code, stderr)
				}
			})
		}
	}
	if len(seen) < 4 {
		t.Errorf("%d commands found, want those of the README at least", len(seen))
	}
}

// arguments splits a command as a shell does, with single quotes.
func arguments(command string) []string {
	args := regexp.MustCompile(`(?:[^\s']|'[^']*')+`).FindAllString(command, -1)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "'", "")
	}
	return args
}
