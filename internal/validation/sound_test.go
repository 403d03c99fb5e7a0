package validation

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/scenarios"
)

// TestShippedRunsAreSound runs every shipped scenario at every fidelity that it can
// have, and checks what must hold in the tables of any run.
func TestShippedRunsAreSound(t *testing.T) {
	layers.OnlyWhole(t, "minutes")
	runs := 0
	for _, name := range scenarios.List() {
		for _, fidelity := range []string{"replay", "profile", "phase", "device"} {
			dir := filepath.Join(t.TempDir(), "out")
			code, _, errs := call("", "run", name, "--fidelity", fidelity, "--set", "plots=none", "--quiet", "--out", dir)
			if code != 0 {
				if code != 2 || strings.Contains(errs, "internal error") {
					t.Errorf("%s at %s: exit %d: %s", name, fidelity, code, errs)
				}
				continue
			}
			err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err == nil && d.Name() == "jobs.csv" {
					runs++
					err = sound(filepath.Dir(path))
				}
				return err
			})
			if err != nil {
				t.Errorf("%s at %s: %v", name, fidelity, err)
			}
		}
	}
	t.Logf("%d runs", runs)
	if runs < 2*len(scenarios.List()) {
		t.Errorf("%d runs of %d scenarios: want two of each or more", runs, len(scenarios.List()))
	}
}

// soundRow is a row of a table by the names of its columns.
type soundRow struct {
	columns map[string]int
	cells   []string
}

func (r soundRow) text(column string) string { return r.cells[r.columns[column]] }

// number is a whole number, -1 if the cell is empty.
func (r soundRow) number(column string) int64 {
	v, err := strconv.ParseInt(r.text(column), 10, 64)
	if err != nil {
		return -1
	}
	return v
}

func (r soundRow) key(columns ...string) string {
	var parts []string
	for _, c := range columns {
		parts = append(parts, r.text(c))
	}
	return strings.Join(parts, " ")
}

func soundTable(path string) (rows []soundRow, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	columns := map[string]int{}
	for i, name := range all[0] {
		columns[name] = i
	}
	for _, cells := range all[1:] {
		rows = append(rows, soundRow{columns, cells})
	}
	return rows, nil
}

// sound checks the tables of one run.
func sound(dir string) error {
	jobs, err := soundTable(filepath.Join(dir, "jobs.csv"))
	attempts, err2 := soundTable(filepath.Join(dir, "attempts.csv"))
	resources, err3 := soundTable(filepath.Join(dir, "resources.csv"))
	if errors.Is(err2, fs.ErrNotExist) { // a scenario may ask for none
		err2 = nil
	}
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	// A set-up or clean-up exists for each type of slot.
	once := func(r soundRow) bool { k := r.text("kind"); return k == "map" || k == "reduce" }
	if len(attempts) == 0 {
		return errors.Join(unique(jobs, nil, "job"), unique(resources, nil, "time_ns", "node", "device"))
	}
	return errors.Join(
		unique(jobs, nil, "job"), unique(resources, nil, "time_ns", "node", "device"),
		unique(attempts, once, "job", "kind", "task", "attempt"),
		timesInOrder(attempts), oneAtATime(attempts), jobsAddUp(jobs, attempts),
	)
}

func unique(rows []soundRow, counts func(soundRow) bool, columns ...string) error {
	seen := map[string]bool{}
	for _, r := range rows {
		k := r.key(columns...)
		if seen[k] && (counts == nil || counts(r)) {
			return fmt.Errorf("%s: %s occurs twice", strings.Join(columns, ", "), k)
		}
		seen[k] = true
	}
	return nil
}

// timesInOrder: an attempt starts after it became runnable, and its phases add up to
// its time.
func timesInOrder(attempts []soundRow) error {
	for _, a := range attempts {
		runnable, start, finish := a.number("runnable_ns"), a.number("start_ns"), a.number("finish_ns")
		if runnable < 0 || start < runnable || finish < start {
			return fmt.Errorf("out of order: %s", strings.Join(a.cells, ","))
		}
		sum := int64(0)
		for name := range a.columns {
			if strings.HasPrefix(name, "p_") {
				if a.number(name) < 0 {
					return fmt.Errorf("%s is negative or empty: %s", name, strings.Join(a.cells, ","))
				}
				sum += a.number(name)
			}
		}
		if sum != finish-start {
			return fmt.Errorf("phases add up to %d of %d ns: %s", sum, finish-start, strings.Join(a.cells, ","))
		}
	}
	return nil
}

// oneAtATime: a slot holds one attempt.
func oneAtATime(attempts []soundRow) error {
	slots := map[string][]soundRow{}
	for _, a := range attempts {
		if a.number("finish_ns") > a.number("start_ns") { // one that was killed while it waited has no slot
			k := a.key("node", "slot")
			slots[k] = append(slots[k], a)
		}
	}
	for k, list := range slots {
		slices.SortFunc(list, func(a, b soundRow) int { return cmp.Compare(a.number("start_ns"), b.number("start_ns")) })
		for i := 1; i < len(list); i++ {
			if list[i].number("start_ns") < list[i-1].number("finish_ns") {
				return fmt.Errorf("slot %s holds two attempts: %s and %s", k, strings.Join(list[i-1].cells, ","), strings.Join(list[i].cells, ","))
			}
		}
	}
	return nil
}

// jobsAddUp: what jobs.csv says of a job is what its attempts add up to.
func jobsAddUp(jobs, attempts []soundRow) error {
	by := map[string][]soundRow{}
	for _, a := range attempts {
		by[a.text("job")] = append(by[a.text("job")], a)
	}
	for _, j := range jobs {
		want := map[string]int64{"failed": 0, "killed": 0, "map_time_ns": 0, "reduce_time_ns": 0, "node_local": 0, "rack_local": 0, "off_rack": 0}
		for _, a := range by[j.text("job")] {
			if a.number("start_ns") < j.number("submit_ns") || a.number("finish_ns") > j.number("finish_ns") && j.text("state") == "SUCCEEDED" {
				return fmt.Errorf("job %s: an attempt before or after it: %s", j.text("job"), strings.Join(a.cells, ","))
			}
			if cleanup := strings.HasSuffix(a.text("kind"), "taskcleanup"); !cleanup {
				switch a.text("state") {
				case "FAILED":
					want["failed"]++
				case "KILLED":
					want["killed"]++
				}
			}
			switch kind := a.text("kind"); kind {
			case "map", "reduce":
				want[kind+"_time_ns"] += a.number("finish_ns") - a.number("start_ns")
			}
			if a.text("kind") == "map" {
				for locality, column := range map[string]string{"node": "node_local", "rack": "rack_local", "off": "off_rack"} {
					if a.text("locality") == locality {
						want[column]++
					}
				}
			}
		}
		for column, v := range want {
			if got := j.number(column); got != v {
				return fmt.Errorf("job %s: %s is %d in jobs.csv: its attempts give %d", j.text("job"), column, got, v)
			}
		}
		for _, kind := range []string{"map", "reduce"} {
			got, want := j.number(kind+"_waves"), wavesOf(by[j.text("job")], kind, j.number(kind+"s"))
			if got > want+1 || got < want-1 { // the JobTracker learns of starts and ends at the next heartbeat
				return fmt.Errorf("job %s: %s_waves is %d: %d tasks in the most at once give %d", j.text("job"), kind, got, j.number(kind+"s"), want)
			}
		}
	}
	return nil
}

// wavesOf divides tasks by the most attempts that ran at once, rounded up.
func wavesOf(attempts []soundRow, kind string, tasks int64) int64 {
	type change struct{ at, by int64 }
	var changes []change
	for _, a := range attempts {
		if a.text("kind") == kind && a.number("finish_ns") > a.number("start_ns") {
			changes = append(changes, change{a.number("start_ns"), 1}, change{a.number("finish_ns"), -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	running, most := int64(0), int64(0)
	for _, c := range changes {
		running += c.by
		most = max(most, running)
	}
	if most == 0 {
		return 0
	}
	return (tasks + most - 1) / most
}
