package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/scenarios"
	"github.com/slotwave/slotwave/workload"
)

// mostToFindPolicy limits the tasks of a history that is replayed under several
// schedulers.
const mostToFindPolicy = 200_000

// findScheduler gives a history whose scheduler nothing states the one whose replay
// meets the recorded jobs best.
func (o *Options) findScheduler(name string, f *scenarios.File, first *scenarios.Scenario) (found bool, err error) {
	policy, err := o.schedulerOf(name, first)
	policy.state(f)
	return policy.Name != "", err
}

// Policy is a scheduler that no record states. An empty name is Hadoop's default.
type Policy struct {
	Name     string
	Multiple string // mapred.fairscheduler.assignmultiple; empty: the default
	Why      string
}

// MultipleKey is the property of Policy.Multiple.
const MultipleKey = "mapred.fairscheduler.assignmultiple"

func (p Policy) state(f *scenarios.File) {
	if p.Name != "" {
		f.State("scheduler.name", p.Name, p.Why)
	}
	if p.Multiple != "" {
		f.State("scheduler."+MultipleKey, p.Multiple, p.Why)
	}
}

func (p Policy) String() string {
	if p.Multiple != "" {
		return p.Name + " with " + MultipleKey + " = " + p.Multiple
	}
	return p.Name
}

// SchedulerOf returns the scheduler of a history that states none, if the replay under
// another than Hadoop's default meets its jobs clearly better.
func SchedulerOf(name string, o Options) (Policy, error) {
	f, err := o.open(name)
	if err != nil {
		return Policy{}, err
	}
	first, err := f.Scenario(o.Seed)
	if err != nil {
		return Policy{}, err
	}
	return o.schedulerOf(name, first)
}

func (o *Options) schedulerOf(name string, first *scenarios.Scenario) (found Policy, err error) {
	const good, clearly = 0.005, 0.5
	run := &first.Runs[0]
	if !run.AnyScheduler || !overlap(run.Recorded) || run.Question.Tasks() > mostToFindPolicy {
		return Policy{}, nil
	}
	fair := Policy{Name: "fair2"}
	other := Policy{Name: "fair2", Multiple: "false"}
	if strings.HasPrefix(run.Question.Cluster.Hadoop, "0.20") {
		fair, other = Policy{Name: "fair1"}, Policy{Name: "fair1", Multiple: "true"}
	}
	var names, errors []string
	usual, least := 0.0, 0.0
	for i, tried := range []Policy{{Name: "fifo"}, fair, other, {Name: "capacity"}} {
		off, known, err := o.replayError(name, tried, run.Changed)
		if err != nil || !known || i == 0 && off < good {
			return Policy{}, err
		}
		bar := min(least, clearly*usual)
		if tried.Name == found.Name { // with another property
			bar = clearly * least
		}
		if i == 0 {
			usual, least = off, off
		} else if off < bar {
			found, least = tried, off
		}
		names, errors = append(names, tried.String()), append(errors, fmt.Sprintf("%.1f %%", 100*off))
	}
	found.Why = fmt.Sprintf("no record states it; jobs are off by %s in the mean under %s", strings.Join(errors, ", "), strings.Join(names, ", "))
	return found, nil
}

// overlap reports whether a job was submitted while another ran: otherwise all
// schedulers do the same.
func overlap(jobs []workload.JobRecord) bool {
	end := time.Duration(-1)
	for _, j := range slices.SortedFunc(slices.Values(jobs), func(a, b workload.JobRecord) int { return cmp.Compare(a.Submit, b.Submit) }) {
		if j.Submit < end {
			return true
		}
		end = max(end, j.Finish)
	}
	return false
}

// replayError returns the mean relative error of the jobs of a history, as recorded,
// under a scheduler, without the settings that change the record.
func (o *Options) replayError(name string, policy Policy, changed []string) (mean float64, known bool, err error) {
	set := slices.DeleteFunc(slices.Clone(o.Set), func(s string) bool { return slices.Contains(changed, workload.WithoutSecrets(s)) })
	f, err := scenarios.OpenReading(name, o.Reading, append(set, "fidelity=\"replay\"")...)
	if err != nil {
		return 0, false, err
	}
	policy.state(f)
	first, err := f.Scenario(o.Seed)
	if err != nil {
		return 0, false, err
	}
	s := &Study{Scenario: first, File: f, Options: Options{Seed: o.Seed}}
	run, err := s.Once(0)
	if err != nil {
		return 0, false, err
	}
	rows := run.Replayed()
	for _, row := range rows {
		mean += math.Abs(float64(row.Difference)) / float64(len(rows))
	}
	return mean, len(rows) > 1, nil
}
