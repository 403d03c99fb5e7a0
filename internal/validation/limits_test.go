package validation

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/study"
	"github.com/slotwave/slotwave/study/diagnosis"
)

// Every kind of refusal has a world, a name in the ledger, and a gain: two jobs, each of
// which would use half of the slots.
func TestRefusals(t *testing.T) {
	const queue = "name = \"capacity\"\n[[scheduler.queue]]\nname = \"default\"\ncapacity = 100\n"
	for _, c := range []struct {
		scheduler, conf, job string
		step                 string // of the ledger: account, and whose limit
		change               string // confirmed; empty: the limit costs little here (hitune-small-files is a case in which it costs much)
	}{
		{"name = \"fair2\"\n[[scheduler.pool]]\nname = \"etl\"\nmax_maps = 6\n", "", "pool = \"etl\"\n", "scheduler limit pool limit (pool etl, 6)", "no max_maps of pool etl"},
		{"name = \"fair2\"\n[[scheduler.pool]]\nname = \"etl\"\nmax_running_jobs = 1\n", "", "pool = \"etl\"\n", "scheduler limit job limit (pool etl, 1)", "no max_running_jobs of pool etl"},
		{"name = \"fair1\"\n[[scheduler.pool]]\nname = \"etl\"\nmax_running_jobs = 1\n", "", "pool = \"etl\"\n", "scheduler limit job limit (pool etl, 1)", "no max_running_jobs of pool etl"},
		{"name = \"fair2\"\nuser_max_running_jobs = 1\n", "", "", "scheduler limit job limit (user ann, 1)", "no userMaxJobsDefault"},
		{strings.Replace(queue, "100", "30", 1) + "maximum_capacity = 30\nuser_limit_factor = 4\n[[scheduler.queue]]\nname = \"adhoc\"\ncapacity = 70\n", "", "", "scheduler limit queue limit (queue default, 7)", "no maximum_capacity of queue default"},
		{queue + "user_limit_factor = 0.2\n", "", "", "scheduler limit user limit (user ann, 4)", "no user_limit_factor of queue default"},
		{"\"mapred.capacity-scheduler.maximum-system-jobs\" = 1\n" + queue, "", "", "scheduler limit initialisation limit (queue default, 1)", "mapred.capacity-scheduler.maximum-system-jobs = 3000"},
		{"name = \"fair1\"\n", "\"dfs.block.size\" = \"32m\"\n", "", "scheduler limit one task per heartbeat", ""},
		{"name = \"fair2\"\n\"mapred.fairscheduler.locality.delay\" = 30000\n", "\"dfs.replication\" = 1\n", "", "locality locality wait", ""},
	} {
		dir := t.TempDir()
		name, out := filepath.Join(dir, "limit.toml"), filepath.Join(dir, "out")
		text := "fidelity = \"phase\"\nplots = \"none\"\n[cluster]\nhadoop = \"1.2.1\"\nnodes = 6\nmap_slots = 4\nreduce_slots = 2\nplatform = \"dl145-g3\"\n[scheduler]\n" + c.scheduler + "[conf]\n" + c.conf
		for i := range 2 {
			text += fmt.Sprintf("[[job]]\nname = \"job%d\"\nuser = \"ann\"\nsubmit = \"%ds\"\nprofile = \"wordcount\"\ninput = \"768 MB\"\nreduces = 3\n", i, 5*i) + c.job
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		runSet(t, name, out, study.Options{})
		d, err := diagnosis.Diagnose([]string{out}, diagnosis.Options{Verify: true, Pairs: 2, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		var steps, changes []string
		for _, j := range d.Jobs {
			for _, s := range j.Ledger {
				if step := strings.TrimSpace(s.Account.String() + " " + s.By); s.By != "" && !slices.Contains(steps, step) {
					steps = append(steps, step)
				}
			}
		}
		for i := range d.Findings {
			if f := &d.Findings[i]; f.Receipt.Outcome == diagnose.Confirmed {
				changes = append(changes, f.Change.Text)
			}
		}
		if !slices.Contains(steps, c.step) {
			t.Errorf("%q: the ledger has %q: want %q", c.scheduler, steps, c.step)
		}
		if c.change != "" && !slices.ContainsFunc(changes, func(s string) bool { return strings.Contains(s, c.change) }) {
			t.Errorf("%q: confirmed are %q: want %q", c.scheduler, changes, c.change)
		}
	}
}
