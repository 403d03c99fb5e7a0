package model

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// Goal is a demand on the jobs of an answer. Exactly one of Finish, Response and
// Deadlines is set.
type Goal struct {
	Job, User, Pool, Queue string // patterns of the jobs that count, in which * is any text; empty: any

	Finish     time.Duration // when the last of them has ended, from the start of the workload
	Response   time.Duration // longest time of a job from its submission to its end
	Percentile float64       // percentage of the jobs that Response holds for
	Deadlines  float64       // least fraction of the deadlines that are met
}

// About reports whether the goal is about a job of these names.
func (g *Goal) About(name, user, pool, queue string) bool {
	for _, want := range [][2]string{{g.Job, name}, {g.User, user}, {g.Pool, pool}, {g.Queue, queue}} {
		if want[0] != "" && !workload.Matches(want[1], want[0]) {
			return false
		}
	}
	return true
}

// Limit is the largest value of Measure that meets the goal.
func (g *Goal) Limit() float64 {
	if g.Deadlines > 0 {
		return 1 - g.Deadlines + 1e-9 // rounding
	}
	return float64(g.Finish + g.Response)
}

// Met reports whether a value of Measure meets the goal.
func (g *Goal) Met(value float64) bool { return value <= g.Limit() }

// Measure returns what the goal limits: nanoseconds, or the fraction of deadlines
// that are missed. It is NaN, which meets no goal, if a job that counts does not
// succeed. The time of each job, by its place in the prediction, is multiplied by what
// longer returns; nil: by 1. Slack is the factor by which the times of all jobs may still
// grow until the goal is missed, below 1 if it is.
func (g *Goal) Measure(q *WhatIf, p *Prediction, longer func(job int) float64) (value, slack float64) {
	due := map[string]time.Duration{}
	if g.Deadlines > 0 {
		for i := range q.Jobs {
			if d := q.Jobs[i].Deadline; d > 0 {
				due[q.Jobs[i].ID] = d
			}
		}
	}
	var responses, slacks []float64
	last, missed, deadlines := 0.0, 0.0, 0.0
	for i := range p.Jobs {
		j := &p.Jobs[i]
		if !g.About(j.Name, j.User, j.Pool, j.Queue) {
			continue
		}
		finish := float64(j.Finish)
		if longer != nil {
			finish = float64(j.Submit) + float64(j.Finish-j.Submit)*longer(i)
		}
		if j.State != workload.Succeeded || j.Finish < 0 {
			finish = math.Inf(1)
		}
		last = max(last, finish)
		took, until := finish-float64(j.Submit), g.Finish
		responses = append(responses, took)
		if d, ok := due[j.ID]; ok {
			deadlines++
			until = d
			if finish > float64(d) {
				missed++
			}
		} else if g.Deadlines > 0 {
			continue
		}
		free := mostSlack
		if took > 0 {
			free = min(free, max(0, float64(until-j.Submit)/took))
		}
		slacks = append(slacks, free)
	}
	if len(responses) == 0 {
		return math.NaN(), 0
	}
	slices.Sort(slacks)
	switch {
	case g.Deadlines > 0:
		value, slack = missed/deadlines, slacks[min(len(slacks)-1, int((1-g.Deadlines)*deadlines+1e-9))]
	case g.Response > 0:
		slices.Sort(responses)
		rank := int(math.Ceil(g.Percentile/100*float64(len(responses)) - 1e-9))
		value = responses[max(1, rank)-1]
		slack = min(mostSlack, float64(g.Response)/value)
	default:
		value, slack = last, slacks[0]
	}
	if math.IsInf(value, 0) {
		return math.NaN(), 0
	}
	return value, slack
}

// mostSlack stands for every larger slack, such as that of a job without tasks.
const mostSlack float64 = 1e6

// String describes the goal without its limit.
func (g *Goal) String() string {
	var parts []string
	for _, of := range [][2]string{{"job", g.Job}, {"user", g.User}, {"pool", g.Pool}, {"queue", g.Queue}} {
		if of[1] != "" {
			parts = append(parts, of[0]+" "+of[1])
		}
	}
	jobs := strings.Join(parts, ", ")
	if jobs != "" {
		jobs += ": "
	}
	switch {
	case g.Deadlines > 0:
		return jobs + "deadlines missed"
	case g.Finish > 0:
		return jobs + "last job ends"
	case g.Percentile == 100:
		return jobs + "longest response"
	}
	return fmt.Sprintf("%sresponse, %g %% of jobs", jobs, g.Percentile)
}
