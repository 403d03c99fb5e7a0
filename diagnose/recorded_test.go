package diagnose

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// Of ten recorded maps the last begins 100 s after its assignment: R26 names it and, but for
// a replay, its node, and the ledger has its start-up. Of a simulated job R26 says nothing.
func TestLateTask(t *testing.T) {
	w := &world{}
	w.job("j", 0, 200*s)
	for i := range 10 {
		begin := 2 * s
		if i == 9 {
			begin = 102 * s
		}
		a := w.attempt(workload.Map, fmt.Sprintf("n%d", 1+i%5), i/5, workload.UnknownTime, begin, begin+20*s)
		for p := range a.Phases {
			a.Phases[p] = workload.UnknownTime
		}
	}
	for _, c := range []struct {
		replay, simulated bool
		want              string
	}{
		{want: "[j/m/9] n5: m/9 took 120 s, the median map 20 s; it began 100 s after its assignment"},
		{replay: true, want: "[j/m/9] : m/9 took 120 s, the median map 20 s; it began 100 s after its assignment"},
		{simulated: true},
	} {
		in := w.input()
		if in.Replay = c.replay; c.replay {
			in.Still = "n5: standstill repeated"
		}
		in.Localised = func(t *workload.HistoryTask) time.Duration { return max(0, t.Attempts[0].Start-2*s) }
		if c.replay || c.simulated {
			in.Question = slotsOf(2, "n1", "n2", "n3", "n4", "n5")
		}
		d, err := Run(t.Context(), in, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range d.Findings {
			if f.Rule == "R26" {
				got += fmt.Sprintf("%v %s: %s", f.Tasks, f.Node, f.Evidence)
			}
		}
		if got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
		if sums := accountSums(d.Jobs[0].Ledger); sums[startUp] != 100*s || sums[workTime] != 20*s {
			t.Errorf("%+v: start-up %v, map and reduce %v: want 100 s and 20 s", c, sums[startUp], sums[workTime])
		}
		if said := slices.ContainsFunc(d.Unknown, func(u Unknown) bool { return u.What == "n5: standstill repeated" }); said != c.replay {
			t.Errorf("%+v: a standstill is said: %v", c, said)
		}
		if known := slices.ContainsFunc(d.Unknown, func(u Unknown) bool { return u.What == "the machine of each recorded time" }); known != c.replay {
			t.Errorf("%+v: machines not known: %v", c, known)
		}
	}
}

// The maps of a are slow on n5. It is a finding of a, and none of b, whose maps ran on the
// other nodes; none of a replay, whose times are of other machines.
func TestSlowNodeOfItsJobs(t *testing.T) {
	w := &world{}
	for _, job := range []string{"a", "b"} {
		w.job(job, 0, 200*s)
		for i := range 20 {
			node, took := 1+i%5, 20*s
			if node == 5 && job == "a" {
				took = 60 * s
			} else if node == 5 {
				node = 1
			}
			w.attempt(workload.Map, fmt.Sprintf("n%d", node), i, 1*s, 2*s, 2*s+took)
		}
	}
	for _, replay := range []bool{false, true} {
		in := w.input()
		if in.Replay = replay; replay {
			in.Question = slotsOf(20, "n1", "n2", "n3", "n4", "n5")
		}
		d, err := Run(t.Context(), in, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		jobs := ""
		for _, f := range d.Findings {
			if f.Node != "" {
				jobs += f.Job
			}
		}
		if jobs != map[bool]string{false: "a", true: ""}[replay] {
			t.Errorf("replay %v: nodes are named of %q: %+v", replay, jobs, d.Findings)
		}
	}
}

// A job that was killed has the time of the attempt that ran until then.
func TestLedgerKilledJob(t *testing.T) {
	w := &world{question: slotsOf(1, "n1")}
	w.job("j", 0, 60*s)
	w.jobs[0].Outcome = workload.Killed
	w.attempt(workload.Setup, "n1", 0, 1*s, 2*s, 4*s).State = workload.Succeeded
	w.attempt(workload.Map, "n1", 0, 4*s, 7*s, 59*s).State = workload.Killed
	if sums := accountSums(w.run(t).Jobs[0].Ledger); sums[lostAttempts] != 52*s {
		t.Errorf("lost attempts %v: want 52 s", sums[lostAttempts])
	}
}
