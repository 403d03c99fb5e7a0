package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/slotwave/slotwave/model"
)

// meanJob stands for all jobs of a run: its time is the mean of theirs.
const meanJob = "*"

// keyRule is the rule of a finding that the ledger proposed and no rule explains.
const keyRule = "key"

// screened is a change that was tried with one seed.
type screened struct {
	lever  *lever
	change *Change
	gain   float64 // of the mean job
}

// score is that by which the changes of a lever compare.
func (s *screened) score() float64 {
	if s.change == nil {
		return 0
	}
	return s.gain * s.change.weight
}

// propose lets each account that has its part of the time of all jobs propose the
// keys that act on it; keys with an unusual value are tried in any case. Each key is
// tried with one seed at its default and in both directions; the best changes are tested
// as those of rules are.
func (v *verifier) propose(d *Diagnosis, all []lever) []Finding {
	accounts := usesOf(d.Jobs)
	var list []lever
	for _, l := range all {
		if _, part := accounts.largest(&l); part >= leastPart || l.unusual() {
			list = append(list, l)
		}
	}
	best := v.search(list)
	slices.SortStableFunc(best, func(a, b screened) int { return -cmp.Compare(a.score(), b.score()) })
	var found []Finding
	tested := 0
	for i, s := range best {
		if tested == v.Most || i >= v.Most/2 && !s.lever.unusual() {
			continue
		}
		tested++
		t := v.begin(s.change, v.about, s.lever.node != "")
		v.narrow(t)
		if t.receipt.Outcome != Confirmed {
			continue
		}
		f := s.lever.finding(accounts, d, s.change)
		f.Receipt = t.receipt
		found = append(found, f)
	}
	return found
}

// finding is a finding that the ledger proposed.
func (l *lever) finding(accounts *uses, d *Diagnosis, change *Change) Finding {
	account, part := accounts.largest(l)
	f := Finding{
		Job: meanJob, Rule: keyRule, Basis: "O", Cause: l.about, Node: l.node, Account: unknownTime, Ledger: accounts.of[account],
		Evidence: fmt.Sprintf("%s has %s of the time of the jobs, and %s acts on it%s", account, percent(part), l.key, l.note),
		Change:   change, Receipt: Receipt{Outcome: Untested}, weight: change.weight,
	}
	if a := slices.Index(accountNames[:], account); a >= 0 {
		f.Account = Account(a)
	}
	if len(d.Jobs) == 1 {
		f.Job = d.Jobs[0].ID
	}
	f.saves = part * accounts.whole.Seconds() / float64(len(d.Jobs))
	return f
}

// suspect lets the accounts propose without a test what the question shows to be
// unusual: nodes unlike their peers, limits, and fixed costs.
func (e *evidence) suspect(d *Diagnosis) {
	accounts := usesOf(d.Jobs)
	for _, l := range e.levers {
		if _, part := accounts.largest(&l); part < leastPart || !l.unusual() {
			continue
		}
		f := l.finding(accounts, d, l.to[0])
		d.Findings = append(d.Findings, f)
	}
}

// search tries each lever with the seed of the base, and then goes on in the
// direction that gains. It returns the best change of each lever that gains at least
// half of what a finding needs, or whose value is unusual and can be changed.
func (v *verifier) search(list []lever) []screened {
	const furthest = 3 // steps
	best, first := make([]screened, len(list)), make([]screened, len(list))
	direction, most := make([]int, len(list)), make([]float64, len(list)) // of the best try so far, whatever its weight
	for round := 1; round <= furthest; round++ {
		var tries []screened
		var of, steps []int
		add := func(i, step int, c *Change) {
			if c != nil {
				tries, of, steps = append(tries, screened{&list[i], c, 0}), append(of, i), append(steps, step)
			}
		}
		for i := range list {
			l := &list[i]
			if round == 1 {
				for _, c := range l.to {
					add(i, 0, c)
				}
			}
			for _, sign := range []int{1, -1} {
				if l.step != nil && (round == 1 || direction[i] == sign) {
					add(i, sign, l.step(sign*round))
				}
			}
		}
		v.screen(tries)
		clear(direction)
		for k := range tries {
			const clearly = 0.01 // further steps have to gain this much more
			i := of[k]
			if tries[k].gain > most[i]+clearly || best[i].change == nil && tries[k].gain > 0 {
				most[i], direction[i] = tries[k].gain, steps[k]
			}
			if best[i].change == nil && tries[k].gain > 0 || tries[k].score() > best[i].score()+clearly*tries[k].change.weight {
				best[i] = tries[k]
			}
			if l := &list[i]; l.unusual() && tries[k].change == l.to[0] && !math.IsInf(tries[k].gain, -1) {
				first[i] = screened{lever: l, change: l.to[0]}
			}
		}
	}
	for i, s := range first {
		if b := &best[i]; s.change != nil && b.gain < v.least/2 && (b.change == nil || b.change.weight < weightUnusual) {
			*b = s // the change of the unusual value: it may gain with other seeds
		}
	}
	return slices.DeleteFunc(best, func(s screened) bool { return s.change == nil || s.gain < v.least/2 && !s.lever.unusual() })
}

// mostTasks is how many times the tasks of the base a change may have.
const mostTasks = 8

// screen simulates each change with the seed of the base. A change that cannot be
// made gains nothing.
func (v *verifier) screen(tries []screened) {
	if len(v.bases) == 0 {
		first, err := v.runs(v.base, 0, 1)
		if err != nil {
			return
		}
		v.bases = first
	}
	var group errgroup.Group
	group.SetLimit(v.workers())
	for i := range tries {
		v.tell("keys", i+1, len(tries))
		s := &tries[i]
		s.gain = math.Inf(-1)
		changed, err := v.edit(s.change)
		if err != nil || changed.Tasks() > mostTasks*v.base.Tasks() || !v.spend(&changed, 1) {
			continue
		}
		if changed.Until == 0 {
			changed.Until = mostTime * v.bases[0][""]
		}
		group.Go(func() error {
			if v.ctx.Err() != nil {
				return nil
			}
			times, err := v.times(changed)
			if before := v.bases[0][v.about]; err == nil && times[v.about] > 0 && before > 0 {
				s.gain = 1 - times[v.about].Seconds()/before.Seconds()
			}
			return nil
		})
	}
	group.Wait()
}

// withProposals adds what the ledger proposed to what rules found. A proposal is left
// where a rule has a change of the same key that ranks nearly as high.
func withProposals(findings, proposed []Finding) []Finding {
	const nearly = 0.8
	for _, p := range proposed {
		named := func(f Finding) bool {
			same := f.Change != nil && (f.Change.Key == p.Change.Key || p.Node != "" && f.Node == p.Node)
			return same && f.Receipt.Outcome == Confirmed && f.rankedBy() >= nearly*p.rankedBy()
		}
		if !slices.ContainsFunc(findings, named) {
			findings = append(findings, p)
		}
	}
	return findings
}

// TaskWork is what the simulation of a task costs at fidelity device, in tasks of
// given times.
const TaskWork = 10

// spend takes runs of a question from the budget, or reports that it is used up.
func (v *verifier) spend(q *model.WhatIf, runs int) bool {
	work := int64(q.Tasks()) * int64(runs)
	if q.Fidelity == model.Device {
		work *= TaskWork
	}
	if v.Budget > 0 && v.spent+work > v.Budget {
		return false
	}
	v.spent += work
	return true
}
