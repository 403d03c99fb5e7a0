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
	policy, why, err := o.schedulerOf(name, first)
	if policy != "" {
		f.State("scheduler.name", policy, why)
	}
	return policy != "", err
}

// SchedulerOf returns the scheduler of a history that states none, if the replay under
// another than Hadoop's default meets its jobs clearly better, and why.
func SchedulerOf(name string, o Options) (policy, why string, err error) {
	f, err := o.open(name)
	if err != nil {
		return "", "", err
	}
	first, err := f.Scenario(o.Seed)
	if err != nil {
		return "", "", err
	}
	return o.schedulerOf(name, first)
}

func (o *Options) schedulerOf(name string, first *scenarios.Scenario) (policy, why string, err error) {
	const good, clearly = 0.005, 0.5
	run := &first.Runs[0]
	if !run.AnyScheduler || !overlap(run.Recorded) || run.Question.Tasks() > mostToFindPolicy {
		return "", "", nil
	}
	fair := "fair2"
	if strings.HasPrefix(run.Question.Cluster.Hadoop, "0.20") {
		fair = "fair1"
	}
	var names, errors []string
	least, usual := math.Inf(1), 0.0
	for _, tried := range []string{"fifo", fair, "capacity"} {
		off, known, err := o.replayError(name, tried, run.Changed)
		if err != nil || !known || tried == "fifo" && off < good {
			return "", "", err
		}
		if tried == "fifo" {
			usual = off
		} else if off < least && off < clearly*usual {
			policy, least = tried, off
		}
		names, errors = append(names, tried), append(errors, fmt.Sprintf("%.1f %%", 100*off))
	}
	return policy, fmt.Sprintf("no record states it; jobs are off by %s in the mean under %s", strings.Join(errors, ", "), strings.Join(names, ", ")), nil
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
func (o *Options) replayError(name, policy string, changed []string) (mean float64, known bool, err error) {
	set := slices.DeleteFunc(slices.Clone(o.Set), func(s string) bool { return slices.Contains(changed, workload.WithoutSecrets(s)) })
	f, err := scenarios.OpenReading(name, o.Reading, append(set, "fidelity=\"replay\"")...)
	if err != nil {
		return 0, false, err
	}
	f.State("scheduler.name", policy, "tried")
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
