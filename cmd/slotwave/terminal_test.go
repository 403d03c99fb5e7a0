package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/slotwave/slotwave/workload"
)

// hostile ends the names of the inputs: it colours, rings, turns the text round, begins a
// line and breaks a column.
const hostile = "\x1b[31m\x07\u009b31m\u202e\u2066\u200b\rx\ny\tz\x7f"

// hostileInputs writes a history and a scenario in which every name is hostile, and
// returns their paths.
func hostileInputs(t *testing.T) (history, scenario string) {
	t.Helper()
	cell := func(name string) string { return workload.Escape(name + hostile) }
	if err := os.Mkdir("history", 0o777); err != nil {
		t.Fatal(err)
	}
	jobs := "job,name,user,pool,queue,state,submit_ns,finish_ns,maps,reduces\n"
	attempts := "job,task,kind,attempt,state,node,rack,start_ns,finish_ns\n"
	for j := range 3 {
		jobs += fmt.Sprintf("%s,%s,%s,%s,%s,SUCCEEDED,%d000000000,%d000000000,4,0\n", cell(fmt.Sprint("j", j)), cell("name"), cell("user"), cell("pool"), cell("queue"), 10*j, 10*j+45)
		for i := range 4 {
			attempts += fmt.Sprintf("%s,%d,map,0,SUCCEEDED,%s,%s,%d000000000,%d000000000\n", cell(fmt.Sprint("j", j)), i, cell(fmt.Sprint("n", i%2)), cell("rack"), 10*j+2+i, 10*j+20+7*i)
		}
	}
	writeFile(t, "history/jobs.csv", jobs)
	writeFile(t, "history/attempts.csv", attempts)
	name := func(s string) string { return workload.TOMLText(s + hostile) }
	writeFile(t, "my.toml", "title = "+name("title")+"\nassumed = ["+name("assumed")+"]\n[[cluster.group]]\nname = "+name("group")+"\ncount = 2\nmap_slots = 2\nreduce_slots = 1\n"+
		"[scheduler]\nname = \"fair2\"\n[[scheduler.pool]]\nname = "+name("pool")+"\nmin_maps = 2\n"+
		"[[job]]\nname = "+name("job")+"\nuser = "+name("user")+"\npool = "+name("pool")+"\nmaps = 8\nduration = { dist = \"exponential\", mean = \"20s\" }\nreduces = 2\nreduce_ms = 4000\n")
	writeFile(t, "flat.toml", "title = "+name("title")+"\nassumed = ["+name("assumed")+"]\nfidelity = \"phase\"\n[cluster]\nplatform = \"dl145-g3\"\nnodes = 2\n[[job]]\nname = "+name("job")+"\nuser = "+name("user")+"\nprofile = \"terasort\"\ninput = \"256 MB\"\nreduces = 2\n")
	return "history", "my.toml"
}

// No verb writes a character that controls a terminal, whatever the names in its input
// hold; and a name is the same text in every table, so that tables join.
func TestTerminalIsSafe(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every verb")
	}
	t.Chdir(t.TempDir())
	history, scenario := hostileInputs(t)
	writeFile(t, "size.toml", "scenario = \"flat.toml\"\nconfidence = \"50 %\"\nmost_nodes = 3\nmax_replications = 40\n[[goal]]\nfinish = \"10m\"\n")
	for _, w := range [][]string{
		{"run", scenario, "--out", "ran", "-v"}, {"run", scenario, "--trace", "--out", "traced"}, {"run", scenario, "--json", "--out", "again", "--force"}, {"run", history, "--out", "replayed", "-v"}, {"compare", scenario, history}, {"compare", scenario, history, "--json"},
		{"compare", "ran", "traced", "--why"}, {"sweep", scenario, "--over", "cluster.heartbeat=3s,5s", "--out", "swept", "-v"}, {"diagnose", "ran", "--verify", "off", "--out", "found"}, {"diagnose", history, "--json"}, {"diagnose", history, "--verify", "off"},
		{"explain", "traced", "--at", "10s", "--node", "group" + hostile + "1"}, {"explain", history, "--task", "j1" + hostile + "/m/1"}, {"report", "ran", "--out", "r.html"}, {"inspect", history}, {"inspect", history, "--json"},
		{"size", "size.toml", "--out", "sized", "-v"}, {"tune", "flat.toml", "--out", "tuned"}, {"sensitivity", "flat.toml"}, {"predict", scenario}, {"predict", scenario, "--json"}, {"platform", "calibrate", history},
		{"convert", history, "--to", "csv", "--out", "table"}, {"convert", history, "--to", "profile"}, {"convert", "ran", "--to", "jhist", "--out", "jhist"}, {"validate", history}, {"validate", scenario}, {"validate", "ran"}, {"validate", "nothing" + hostile}, {"run", scenario, "--set", "job.0.name=" + hostile, "--out", "set"},
		{"show", "nothing" + hostile}, {"help", "word" + hostile}, {"list"},
	} {
		code, out, errs := call("", w...)
		t.Logf("%.40q: exit %d %.200s", w, code, errs)
		for _, text := range []string{out, errs} {
			for i, r := range text {
				_, n := utf8.DecodeRuneInString(text[i:])
				if r != '\n' && r != '\t' && !unicode.IsPrint(r) || r == utf8.RuneError && n == 1 {
					t.Errorf("%.60q: writes %q in %.80q", w, r, text[max(0, i-40):])
					break
				}
			}
		}
	}
	names := func(table, column string) []string {
		rows, err := csv.NewReader(strings.NewReader(read(t, table))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		k := slices.Index(rows[0], column)
		var list []string
		for _, row := range rows[1:] {
			list = append(list, row[k])
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	jobs := names("ran/jobs.csv", "job")
	for _, table := range []string{"ran/attempts.csv", "found/ledger-sums.csv", "found/stages.csv"} {
		if got := names(table, "job"); !slices.Equal(got, jobs) {
			t.Errorf("%s names the jobs %q: want %q", table, got, jobs)
		}
	}
	for name, text := range content(t, ".") {
		if slices.Contains([]string{".csv", ".json", ".html", ".svg"}, filepath.Ext(name)) && strings.ContainsAny(text, "\x1b\x07\u009b\u202e\u2066\u200b\r\x7f") {
			t.Errorf("%s holds a raw character of a hostile name", name)
		}
	}
}
