package scenarios

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// scenarioOf reads a scenario that is not in a file.
func scenarioOf(t *testing.T, text string) *Scenario {
	t.Helper()
	file := &File{name: "s.toml", slug: "s", data: []byte(text), folder: t.TempDir(), traces: map[string]*openedTrace{}, parsed: new(parsed)}
	s, err := file.Scenario(1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Slots that each group states are not assumed; those that one leaves open are.
func TestAssumedSlots(t *testing.T) {
	const job = "[[job]]\nmaps = 1\nmap_ms = 1\n[cluster]\n"
	for _, c := range []struct{ text, want string }{
		{job + "[[cluster.group]]\nmap_slots = 4\nreduce_slots = 3", ""},
		{job + "[[cluster.group]]\nmap_slots = 4\nreduce_slots = 3\n[[cluster.group]]\nreduce_slots = 3", "cluster.map_slots = 2"},
		{job + "nodes = 1\nreduce_slots = 1", "cluster.map_slots = 2"},
	} {
		slots := slices.DeleteFunc(scenarioOf(t, c.text).Assumed, func(a string) bool { return !strings.Contains(a, "_slots") })
		if got := strings.Join(slots, "; "); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%q: assumed %q: want %q", c.text, got, c.want)
		}
	}
}

// A load names a node. If a group of nodes is faulty, the load is neither checked nor
// reported as unknown.
func TestLoadBesideFaultyGroup(t *testing.T) {
	const text = "[[cluster.group]]\nmap_slots = \"x\"\n[[cluster.load]]\nnode = \"node1\"\nshare = 0.3\n[[job]]\nmaps = 1\nmap_ms = 1\n"
	file := &File{name: "s.toml", slug: "s", data: []byte(text), folder: t.TempDir(), traces: map[string]*openedTrace{}, parsed: new(parsed)}
	const want = "s.toml:2: cluster.group[0].map_slots: \"x\": want a whole number from 0 to 100000"
	if _, err := file.Scenario(1); err == nil || err.Error() != want {
		t.Errorf("got %v: want %s", err, want)
	}
}

// Pictures of many runs would take longer than the runs.
func TestPlotsOfManyRuns(t *testing.T) {
	const job = "[[job]]\nmaps = 1\nmap_ms = 1\n[cluster]\nnodes = 1\n[vary]\n\"job.0.maps\" = "
	for _, c := range []struct {
		text string
		want bool
	}{
		{job + "[1, 2]", false},
		{"plots = \"none\"\n" + job + "[1, 2]", true},
		{job + "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]", false},
		{job + "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]", true},
		{"plots = \"all\"\n" + job + "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]", false},
	} {
		if s := scenarioOf(t, c.text); s.NoPlots != c.want {
			t.Errorf("%d runs, %.14q: NoPlots = %v: want %v", len(s.Runs), c.text, s.NoPlots, c.want)
		}
	}
}

func TestJSONLines(t *testing.T) {
	const text = "{\"a\": 1,\n \"b\": [\n  2, {\"c\":\n 3}],\n \"d\": [[4],\n[5]]}"
	parsed, err := parseJSON([]byte(text), "c.json")
	if err != nil {
		t.Fatal(err)
	}
	got := parsed.lines
	for path, want := range map[string]int{"a": 1, "b": 2, "b[0]": 3, "b[1]": 3, "b[1].c": 3, "d[0][0]": 5, "d[1][0]": 6} {
		if got[path] != want {
			t.Errorf("%s is on line %d: want %d", path, got[path], want)
		}
	}
	for _, cut := range []string{"", "{", `{"a"`, `{"a":`, `{"a": [1`, `{"a": "b`, `{"a": {"b": 1, `} {
		if _, err := parseJSON([]byte(cut), "c.json"); err == nil || !strings.Contains(err.Error(), "ends within the object") {
			t.Errorf("%s: got %v: want that the text ends", cut, err)
		}
	}
	for _, broken := range []string{"[1]", "]", "{} {}", `{"a": [1,]}`, `{"a": 1 "b": 2}`, `{"a":` + strings.Repeat("[", 1000)} {
		if _, err := parseJSON([]byte(broken), "c.json"); err == nil || !strings.HasPrefix(err.Error(), "c.json:") {
			t.Errorf("%.20s: got %v: want an error with its place", broken, err)
		}
	}
}

// Jobs of a trace that names no users are dealt to some in turn.
func TestUsers(t *testing.T) {
	f, err := Open("fb2009", "workload.jobs=5", "workload.users=2")
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Scenario(1)
	if err != nil {
		t.Fatal(err)
	}
	var users []string
	for _, j := range s.Runs[0].Question.Jobs {
		users = append(users, j.User)
	}
	if got, want := strings.Join(users, " "), "user1 user2 user1 user2 user1"; got != want {
		t.Errorf("users %s, want %s", got, want)
	}
	if !slices.ContainsFunc(s.Assumed, func(a string) bool { return strings.HasPrefix(a, "users: the 5 jobs without one") }) {
		t.Errorf("%q: want the users among what is assumed", s.Assumed)
	}
}

// An attempt of whichever task ends within 10 years.
func TestEndsBeyondLimit(t *testing.T) {
	late := []workload.AttemptEnd{{State: workload.Failed, After: mostTime + time.Second}}
	for _, j := range []workload.Job{
		{Ends: late[0]},
		{SetupEnds: late},
		{CleanupEnds: late},
		{Maps: workload.MapTasks{Ends: map[int][]workload.AttemptEnd{0: late}}},
		{Reduces: workload.ReduceTasks{Ends: map[int][]workload.AttemptEnd{0: late}}},
	} {
		if got := beyond(&model.WhatIf{Jobs: []workload.Job{j}}); !strings.Contains(got, "is ended after 10 years") {
			t.Errorf("%+v: got %q", j, got)
		}
	}
}

// A record with more attempts at once than the stated nodes have slots by default is named,
// and so is a machine of the record that the nodes replace, without a warning: only a name
// that nothing has is a mistake.
func TestNodesBesideRecord(t *testing.T) {
	record := func(node string) string {
		text := "job,type,task,start_s,finish_s,node\n"
		for i := range 12 {
			text += fmt.Sprintf("j,map,%d,0,9,%s\n", i, node)
		}
		dir := t.TempDir()
		name := filepath.Join(dir, "s.toml")
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "r.csv"), []byte(text), 0o666), os.WriteFile(name, []byte("workload.trace = \"r.csv\"\ncluster.nodes = 2\n"), 0o666)); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const slots = "s.toml: 4 map slots, the default, while the record has 12 maps at once: if it ran on as many nodes, want --set cluster.map_slots=6"
	for _, c := range []struct {
		node, set      string
		warned, unused string // one is wanted of the first; none of the second
	}{
		{"", "cluster.racks=1", slots, "reduce slots"},
		{"", "cluster.nodes=6", "", "at once"},
		{"", "cluster.map_slots=2", "", "at once"},
		{"n1", `cluster.slowdowns."n1"=2`, "", "slowdowns"},
		{"n1", `cluster.slowdowns."n2"=2`, "no node of this cluster has the name n2", ""},
	} {
		f, err := Open(record(c.node), c.set)
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Scenario(1)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.Warnings, "\n"); !strings.Contains(got, c.warned) || c.unused != "" && strings.Contains(got, c.unused) {
			t.Errorf("%s: got %s: want %q, without %q", c.set, got, c.warned, c.unused)
		}
	}
}

// What several values of a scenario make together is accepted at its limit, and refused
// beyond it.
func TestLimitsOfTogether(t *testing.T) {
	const cluster, job = "[cluster]\nnodes = 1\n", "[[job]]\nmaps = 1\nmap_ms = 1\n"
	for _, c := range []struct {
		text       string // with the value
		at, beyond any
		refusal    string
	}{
		{job + cluster + "heartbeat = %q\n", "1ms", "999us", "want at least 1ms"},
		{job + "[[cluster.group]]\nmap_slots = 1\nreduce_slots = 0\n[[cluster.group]]\ncount = %d\nmap_slots = 1\nreduce_slots = 0\n", mostNodes - 1, mostNodes, "200001 nodes: want at most 200000"},
		{job + "[cluster]\nmap_slots = 100000\nreduce_slots = 0\nnodes = %d\n", 200, 201, "want at most 20000000 in all"},
		{cluster + "[[job]]\nmap_ms = 1\njobs = 2\nmaps = %d\n", mostTasks / 2, mostTasks/2 + 1, "want at most 20000000 tasks in one question"},
		{cluster + job + "[[job]]\nmap_ms = 1\nmaps = %d\n", mostTasks - 1, mostTasks, "20000001 tasks: want at most 20000000 in one question"},
		{cluster + "[[job]]\nmaps = 1\njobs = 2\nmap_ms = 1\nsubmit = \"1s\"\ninterarrival = %q\n", "87599h59m59s", "87600h", "submitted after 10 years: want at most 10 years"},
		{cluster + "slowdown = %v\n[[job]]\nmaps = 1\nduration = \"87600h\"\n", 1, 1.001, "a task takes 10 years alone on its node: want at most 10 years"},
	} {
		for value, refused := range map[any]bool{c.at: false, c.beyond: true} {
			text := fmt.Sprintf(c.text, value)
			file := &File{name: "s.toml", slug: "s", data: []byte(text), folder: t.TempDir(), traces: map[string]*openedTrace{}, parsed: new(parsed)}
			if _, err := file.Scenario(1); (err != nil) != refused || refused && !strings.Contains(err.Error(), c.refusal) {
				t.Errorf("%s: got %v: want refused %v: %s", text, err, refused, c.refusal)
			}
		}
	}
}
