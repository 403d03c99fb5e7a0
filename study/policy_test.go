package study

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results/resultdir"
	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/workload/trace"
)

const twoUsers = `[cluster]
nodes = 4
map_slots = 2
reduce_slots = 1
[scheduler]
name = "fair2"
[[job]]
name = "long"
user = "a"
maps = 120
map_ms = 20000
[[job]]
name = "short"
user = "b"
submit = "30s"
maps = 8
map_ms = 20000
`

// A history that does not state its scheduler is replayed under the one that meets its
// jobs, and says so. One that FIFO meets stays with FIFO.
func TestSchedulerOfARecord(t *testing.T) {
	for _, policy := range []string{"fair2", "fifo", "capacity", "capacity of 30 %", "capacity of a queue", "capacity one by one", "fair2 of one job at a time"} {
		folder := t.TempDir()
		policy, apart := strings.CutSuffix(policy, " one by one")
		policy, limited := strings.CutSuffix(policy, " of one job at a time")
		policy, alone := strings.CutSuffix(policy, " of a queue") // of which the record has jobs
		policy, unequal := strings.CutSuffix(policy, " of 30 %")
		text := strings.ReplaceAll(strings.Replace(twoUsers, "fair2", policy, 1), "user = \"b\"", "user = \"b\"\nqueue = \"q\"")
		if policy == "capacity" {
			text = strings.Replace(text, "[[job]]", "[[scheduler.queue]]\nname = \"default\"\ncapacity = 50\n[[scheduler.queue]]\nname = \"q\"\ncapacity = 50\n[[job]]", 1)
			if unequal {
				text = strings.Replace(strings.Replace(text, "capacity = 50", "capacity = 30", 1), "capacity = 50", "capacity = 70", 1)
			}
		} else {
			text = strings.Replace(text, "\nqueue = \"q\"", "", 1)
		}
		if apart {
			text = strings.Replace(text, "submit = \"30s\"", "submit = \"1500s\"", 1)
		}
		if limited { // the second job of b waits for the first to end
			text = strings.Replace(text, "[[job]]", "[[scheduler.pool]]\nname = \"b\"\nmax_running_jobs = 1\n[[job]]", 1)
			text = strings.Replace(text, "user = \"b\"", "pool = \"b\"", 1)
			text += "[[job]]\nname = \"next\"\npool = \"b\"\nsubmit = \"31s\"\nmaps = 8\nmap_ms = 20000\n"
		}
		if alone {
			text = strings.Replace(text, "user = \"a\"", "user = \"a\"\nqueue = \"q\"", 1)
		}
		scenario, record := filepath.Join(folder, "s.toml"), filepath.Join(folder, "record")
		if err := os.WriteFile(scenario, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := Open(scenario, Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		s.Scenario.NoPlots = true
		d, err := resultdir.Create(record, resultdir.Purpose{})
		if err != nil {
			t.Fatal(err)
		}
		runs, err := s.Simulate(d, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Write(d, runs); err != nil {
			t.Fatal(err)
		}
		if err := d.Commit(resultdir.Manifest{}); err != nil {
			t.Fatal(err)
		}
		h, err := trace.Open(record)
		if err != nil {
			t.Fatal(err)
		}
		formats := trace.Formats()
		at := slices.IndexFunc(formats, func(f trace.Format) bool { return f.Name == "jhist" })
		files, err := formats[at].Write(h)
		if err != nil {
			t.Fatal(err)
		}
		history := filepath.Join(folder, "history")
		if err := os.Mkdir(history, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, file := range files.Files {
			if err := resultdir.WriteFile(filepath.Join(history, file.Name), 0o666, file.Write); err != nil {
				t.Fatal(err)
			}
		}
		again, err := Open(history, Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		found := &again.Scenario.Runs[0].Question.Scheduler
		if found.Name != policy {
			t.Errorf("scheduler %s: want %s", found.Name, policy)
		}
		if at := slices.IndexFunc(found.Pools, func(p model.Pool) bool { return p.Name == "b" }); limited && (at < 0 || found.Pools[at].MaxRunningJobs == nil || *found.Pools[at].MaxRunningJobs != 1) {
			t.Errorf("pools %+v: want one job of b at a time", found.Pools)
		}
		run, err := again.Once(0)
		if err != nil {
			t.Fatal(err)
		}
		if assumed := strings.Join(again.Scenario.Assumed, "\n"); policy != "fifo" && !strings.Contains(assumed, "replay: "+run.ReplaySummary().Errors()) {
			t.Errorf("%s: the scheduler is assumed for other errors than the run has:\n%s", policy, assumed)
		}
		for _, j := range run.Replayed() {
			// One heartbeat of 3 s more or less, before the first task of 250 s.
			if j.Difference > 0.02 || j.Difference < -0.02 {
				t.Errorf("%s: job %s is off by %.1f %%", policy, j.Name, 100*j.Difference)
			}
		}
	}
}

// Shares that were found are written as a scenario reads them.
func TestSharesAsSettings(t *testing.T) {
	for name, c := range map[string]struct {
		share
		want string
	}{
		"fair1":    {share{name: "etl", weight: 0.353, minMaps: 3, running: 1}, `[{name = "etl", weight = 0.35, min_maps = 3, max_running_jobs = 1}]`},
		"capacity": {share{name: "etl", weight: 100, ofOneUser: 2}, `[{name = "etl", capacity = 100, user_limit_factor = 2}]`},
	} {
		if got := (Policy{Name: name}).with([]share{c.share}).Settings[0].Value; got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// What was found without some settings is known by them, in any order: without a file
// there is nothing to replay.
func TestSearchIsKnownByItsSettings(t *testing.T) {
	o := Options{policies: &policies{without: map[string]Policy{"a=1\nb=2": {Name: "fair2"}}}}
	if p, err := o.policyWithout(nil, []string{"b=2", "a=1", "b=2"}); err != nil || p.Name != "fair2" {
		t.Errorf("got %v, %v", p, err)
	}
}

// Every machine that explains a record runs the same jobs of it, also if a seed draws
// some of them.
func TestJobsOfAlternatives(t *testing.T) {
	folder := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	platform, _ := scenarios.Data("platforms/dl145-g3.toml")
	profile, _ := scenarios.Data("profiles/grep.toml")
	_, profile, _ = bytes.Cut(profile, []byte("\n"))
	jobs, attempts := "job,name,state,submit_ns,finish_ns,maps,reduces\n", "job,task,kind,attempt,state,node,start_ns,finish_ns,in_bytes\n"
	for i := range 12 {
		jobs += fmt.Sprintf("j%d,sort,SUCCEEDED,%d000000000,90000000000,1,0\n", i, i)
		attempts += fmt.Sprintf("j%d,0,map,0,SUCCEEDED,n1,%d000000000,90000000000,9000\n", i, i+1)
	}
	put("jobs.csv", jobs)
	put("attempts.csv", attempts)
	put("alternatives/01.toml", string(platform))
	for _, name := range []string{"profiles", "profiles-01"} {
		put(name+"/sort.toml", "title = \"sort\"\n"+string(profile))
	}
	put("s.toml", "fidelity = \"device\"\n[cluster]\nplatform = \"dl145-g3\"\n[workload]\ntrace = [\"jobs.csv\", \"attempts.csv\"]\nprofiles = \"profiles\"\nalternatives = \"alternatives\"\nscale_jobs = 0.5\n")
	s, err := Open(filepath.Join(folder, "s.toml"), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var drawn [][]string
	for _, q := range s.Machines() {
		var ids []string
		for i := range q.Jobs {
			ids = append(ids, q.Jobs[i].ID)
		}
		drawn = append(drawn, ids)
	}
	if len(drawn) != 2 || len(drawn[0]) == 12 || !slices.Equal(drawn[0], drawn[1]) {
		t.Errorf("the machines run %v", drawn)
	}
}
