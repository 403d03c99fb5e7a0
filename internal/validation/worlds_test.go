package validation

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/evidence"
	"github.com/slotwave/slotwave/internal/layers"
)

// recordedWorlds is how many random worlds are recorded and replayed; -short takes
// a few of them.
const recordedWorlds = 200

// sameInstant is how far a replayed instant may be from the recorded one: formats
// have whole milliseconds, and an attempt has up to four of them.
const sameInstant = 5 * time.Millisecond

// carriedBy counts what comes back from a format.
type carriedBy struct {
	worlds, exact                    int // worlds; those in which every attempt is equal
	attempts, states, times          int // maps and reduces; equal in state; and in time
	special, specialStates, repeated int // not successful, or of a task with such; equal in state; and in time
	jobs, ends                       int // equal in how they end
}

// worldTable replays random worlds from their histories, by the commands that a user
// types: run, convert, run. It says how many attempts come back.
func worldTable(t *testing.T, worlds int) (string, map[string]*carriedBy) {
	formats := []string{"rumen", "history", "jhist"}
	all := make([]carriedBy, len(formats))
	for n := range worlds {
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		if err := os.WriteFile(at("world.toml"), []byte(randomWorld(uint64(n))), 0o666); err != nil {
			t.Fatal(err)
		}
		verb(t, "run", at("world.toml"), "--seed", fmt.Sprint(n+7), "--quiet", "--set", "plots=none", "--out", at("world"))
		want, wantEnds := mapsAndReduces(t, at("world"))
		for i, format := range formats {
			verb(t, "convert", at("world"), "--to", format, "--quiet", "--out", at(format))
			verb(t, "run", at(format), "--quiet", "--set", "plots=none", "--out", at("replay-"+format))
			got, gotEnds := mapsAndReduces(t, at("replay-"+format))
			all[i].add(want, got)
			for job, end := range wantEnds {
				all[i].jobs++
				if gotEnds[job] == end {
					all[i].ends++
				}
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	b.WriteString("| format | worlds with every attempt equal | attempts equal in state | attempts equal in time | of tasks with failed, killed or speculative attempts: in state | of these in time | jobs that end alike |\n|---|---|---|---|---|---|---|\n")
	for i, format := range formats {
		c := &all[i]
		fmt.Fprintf(&b, "| %s | %d of %d | %s | %s | %s | %s | %d of %d |\n", format, c.exact, c.worlds,
			share(c.states, c.attempts), share(c.times, c.attempts), share(c.specialStates, c.special), share(c.repeated, c.special), c.ends, c.jobs)
	}
	byFormat := map[string]*carriedBy{}
	for i, format := range formats {
		byFormat[format] = &all[i]
	}
	return b.String(), byFormat
}

func share(n, of int) string {
	return fmt.Sprintf("%.1f %% of %d", 100*float64(n)/float64(max(1, of)), of)
}

// ranAs is how an attempt ran.
type ranAs struct {
	state         string
	start, finish time.Duration
}

// add compares the attempts of a world with those of its replay.
func (c *carriedBy) add(want, got map[string]ranAs) {
	c.worlds++
	special := map[string]bool{} // by task
	for name, w := range want {
		if task, number, _ := strings.Cut(name, "#"); w.state != "SUCCEEDED" || number != "0" {
			special[task] = true
		}
	}
	exact := len(got) == len(want)
	for name, w := range want {
		g, ran := got[name]
		task, _, _ := strings.Cut(name, "#")
		state := ran && g.state == w.state
		equal := state && max(g.start-w.start, w.start-g.start, g.finish-w.finish, w.finish-g.finish) <= sameInstant
		exact = exact && equal
		for _, count := range []struct {
			counts bool
			n      *int
		}{
			{true, &c.attempts}, {state, &c.states}, {equal, &c.times},
			{special[task], &c.special}, {special[task] && state, &c.specialStates}, {special[task] && equal, &c.repeated},
		} {
			if count.counts {
				*count.n++
			}
		}
	}
	if exact {
		c.exact++
	}
}

// mapsAndReduces reads the attempts of a result by job, kind, task and number, and
// how its jobs ended.
func mapsAndReduces(t *testing.T, dir string) (map[string]ranAs, map[string]string) {
	attempts, ends := map[string]ranAs{}, map[string]string{}
	for name, row := range map[string]func(map[string]string){
		"attempts.csv": func(row map[string]string) {
			if row["kind"] == "map" || row["kind"] == "reduce" {
				span := func(key string) time.Duration { ns, _ := strconv.ParseInt(row[key], 10, 64); return time.Duration(ns) }
				attempts[row["job"]+" "+row["kind"]+" "+row["task"]+"#"+row["attempt"]] = ranAs{row["state"], span("start_ns"), span("finish_ns")}
			}
		},
		"jobs.csv": func(row map[string]string) { ends[row["job"]] = row["state"] },
	} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		table, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, cells := range table[1:] {
			values := map[string]string{}
			for i, cell := range cells {
				values[table[0][i]] = cell
			}
			row(values)
		}
	}
	return attempts, ends
}

// randomWorld is a scenario: a small cluster, where some machines are slow, and a
// few jobs, where attempts fail, are killed, hang on a host that stands still, or
// run beside others, and some jobs are killed.
func randomWorld(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 12))
	one := func(values ...string) string { return values[r.IntN(len(values))] }
	among := func(least, most int) int { return least + r.IntN(most-least+1) }
	times := func(n, least, most int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprint(among(least, most))
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	// Ends of the attempts of a task: of a hung one, of some that fail or are
	// killed, or of one beside which another is launched and wins.
	ends := func(least int) string {
		switch r.IntN(5) {
		case 0:
			return fmt.Sprintf(`["FAILED %ds", "SUCCEEDED"]`, among(2, 20))
		case 1:
			return fmt.Sprintf(`["FAILED %ds", "KILLED %ds", "SUCCEEDED"]`, among(2, 20), among(2, 20))
		case 2:
			return fmt.Sprintf(`["FAILED %ds", "SUCCEEDED"]`, 60+among(0, 60))
		case 3:
			return fmt.Sprintf(`["KILLED %ds", "SUCCEEDED beside %ds"]`, 300, among(5, 20))
		}
		return fmt.Sprintf(`["SUCCEEDED", "KILLED 300s beside %ds"]`, among(1, max(1, least/1000)))
	}
	var b strings.Builder
	nodes := among(3, 8)
	fmt.Fprintf(&b, "[cluster]\nhadoop = %q\nracks = %d\n", one("0.20.2", "1.0.4", "1.2.1"), among(1, 2))
	slots := fmt.Sprintf("map_slots = %d\nreduce_slots = %d\n", among(1, 3), among(1, 2))
	slow := r.IntN(3)
	fmt.Fprintf(&b, "[[cluster.group]]\nname = \"a\"\ncount = %d\n%s", nodes-min(slow, nodes-1), slots)
	if slow > 0 {
		fmt.Fprintf(&b, "[[cluster.group]]\nname = \"s\"\ncount = %d\nslowdown = %s\n%s", slow, one("1.5", "2", "3"), slots)
	}
	b.WriteString("[conf]\n\"mapred.map.tasks.speculative.execution\" = false\n\"mapred.reduce.tasks.speculative.execution\" = false\n")
	for j := range among(1, 4) {
		maps, reduces := among(2, 30), among(0, 5)
		fmt.Fprintf(&b, "[[job]]\nname = \"job_201001010000_%04d\"\nsubmit = \"%ds\"\nmaps = %d\nmap_ms = %s\nreduces = %d\n",
			j+1, j*among(0, 40), maps, times(maps, 3000, 30_000), reduces)
		// The tables of a result do not hold the replicas of splits, so there are none.
		fmt.Fprintf(&b, "split_hosts = [%s]\n", strings.TrimSuffix(strings.Repeat("[], ", maps), ", "))
		if reduces > 0 {
			fmt.Fprintf(&b, "reduce_shuffle_ms = %s\nreduce_sort_ms = %s\nreduce_ms = %s\n",
				times(reduces, 500, 6000), times(reduces, 100, 900), times(reduces, 2000, 20_000))
		}
		if r.IntN(8) == 0 {
			fmt.Fprintf(&b, "ends = \"KILLED %ds\"\n", among(20, 90))
		}
		for k, n := range [...]int{maps, reduces} {
			if n == 0 || r.IntN(2) == 0 {
				continue
			}
			fmt.Fprintf(&b, "[job.%s_ends]\n", [...]string{"map", "reduce"}[k])
			tasks := r.Perm(n)[:min(n, among(1, 3))]
			slices.Sort(tasks)
			for _, task := range tasks {
				fmt.Fprintf(&b, "%d = %s\n", task, ends(3000))
			}
		}
	}
	return b.String()
}

// Random worlds come back from their histories. docs/evidence has the table of 200
// worlds, which -update writes; otherwise a part of them is replayed.
func TestRecordedWorlds(t *testing.T) {
	worlds := layers.Draws(recordedWorlds/25, recordedWorlds/10)
	switch {
	case *update:
		worlds = recordedWorlds
	case testing.Short():
		worlds = 3
	}
	table, all := worldTable(t, worlds)
	for format, c := range all {
		if c.exact*100 < c.worlds*99 || c.states < c.attempts*99/100 || c.times < c.attempts*99/100 || c.ends < c.jobs {
			t.Errorf("%s: in %d of %d worlds every attempt is equal; of %d attempts %d are equal in state, %d in time; of %d jobs %d end alike:\n%s",
				format, c.exact, c.worlds, c.attempts, c.states, c.times, c.jobs, c.ends, table)
		}
	}
	if *update {
		evidence.Compare(t, "recorded-worlds", table, true)
	}
}
