package simulated

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/slotwave/slotwave/diagnose"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// AccountChange is the time in one account of the ledger, or of slots held by one job.
type AccountChange struct {
	Account string `json:"account"`
	First   int64  `json:"first_ns"`
	Second  int64  `json:"second_ns"`
}

// Differences says where two runs differ. Times are in nanoseconds.
type Differences struct {
	Accounts []AccountChange `json:"accounts"`           // of the ledgers, those that change most first
	Held     []AccountChange `json:"held"`               // slot held, by the job that held it
	Decision *Decision       `json:"decision,omitempty"` // left out: no account of a job changes
	Launch   *OtherLaunch    `json:"launch,omitempty"`   // left out: all launches are the same
	Offer    *OtherOffer     `json:"offer,omitempty"`    // left out: all offers with launches are the same
}

// OtherLaunch is the first launch in which the two runs differ.
type OtherLaunch struct {
	Time   int64  `json:"time_ns"`
	First  string `json:"first"`
	Second string `json:"second"`
}

// OtherOffer is the first heartbeat at which the schedulers launched different
// tasks, and what each decided, in words.
type OtherOffer struct {
	Time   int64  `json:"time_ns"`
	Node   string `json:"node"`
	First  string `json:"first"`
	Second string `json:"second"`
}

// Decision is the largest part of a difference: the account that changes most of the
// job that differs most, the longest step of it in the slower run, and what the
// scheduler decided first in that time.
type Decision struct {
	Job        string `json:"job"`
	Difference int64  `json:"difference_ns"` // of the time of the job
	Account    string `json:"account"`
	Change     int64  `json:"change_ns"`
	Slower     int    `json:"slower"` // 0: the first run is slower
	Task       string `json:"task"`   // that waited or ran, if known
	Node       string `json:"node"`
	From       int64  `json:"from_ns"`
	To         int64  `json:"to_ns"`
	Offer      string `json:"offer,omitempty"` // in words
}

// decision finds the decision that cost most time.
func decision(pair *[2]Run, ledgers *[2][]diagnose.JobDiagnosis) *Decision {
	var d *Decision
	var slow *diagnose.JobDiagnosis
	for i := range ledgers[0] {
		first := &ledgers[0][i]
		at := slices.IndexFunc(ledgers[1], func(j diagnose.JobDiagnosis) bool { return j.ID == first.ID })
		if at < 0 {
			continue
		}
		both := [2]*diagnose.JobDiagnosis{first, &ledgers[1][at]}
		difference := (both[1].Finish - both[1].Submit) - (both[0].Finish - both[0].Submit)
		if size := max(difference, -difference); size == 0 || d != nil && size <= time.Duration(max(d.Difference, -d.Difference)) {
			continue
		}
		d = &Decision{Job: first.ID, Difference: int64(difference)}
		if difference > 0 {
			d.Slower = 1
		}
		slow = both[d.Slower]
		sums := map[string]time.Duration{}
		for k, sign := range [2]time.Duration{-1, 1} {
			for n := range both[k].Ledger {
				s := &both[k].Ledger[n]
				sums[s.Name()] += sign * (s.To - s.From)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(sums)) {
			if change := int64(sums[name]); d.Account == "" || (change > d.Change) == (difference > 0) && change != d.Change {
				d.Account, d.Change = name, change
			}
		}
	}
	if d == nil {
		return nil
	}
	for n := range slow.Ledger {
		if s := &slow.Ledger[n]; s.Name() == d.Account && int64(s.To-s.From) > d.To-d.From {
			d.From, d.To, d.Task, d.Node = int64(s.From), int64(s.To), s.Attempt, s.Node
		}
	}
	run := &pair[d.Slower]
	for i := range run.Offers {
		if o := &run.Offers[i]; int64(o.Time) >= d.From && int64(o.Time) < d.To {
			d.Offer = diagnose.DecisionText(o, run.Question)
			break
		}
	}
	return d
}

// Compare compares the ledgers, launches and offers of two runs: of the jobs that job
// selects, as --job does.
func Compare(pair *[2]Run, job string) (Differences, error) {
	var d Differences
	of, err := d.compareLedgers(pair, job)
	if err == nil {
		d.Launch, d.Offer = otherLaunch(pair, of), otherOffer(pair, of)
	}
	return d, err
}

// slotHeld is the account of the ledger for slots that other attempts held.
const slotHeld = "slot held"

// compareLedgers sums the ledgers of the first pair by account, and the time for which
// slots were held by the job that held them. It returns the selected jobs.
func (d *Differences) compareLedgers(pair *[2]Run, job string) (of map[string]bool, err error) {
	of = map[string]bool{}
	accounts, held := map[string]*AccountChange{}, map[string]*AccountChange{}
	var ledgers [2][]diagnose.JobDiagnosis
	add := func(to map[string]*AccountChange, name string, i int, t time.Duration) {
		if to[name] == nil {
			to[name] = &AccountChange{Account: workload.Escape(name)}
		}
		*[]*int64{&to[name].First, &to[name].Second}[i] += int64(t)
	}
	for i := range pair {
		r := &pair[i]
		jobs, err := r.Ledgers(job)
		if err != nil {
			return nil, err
		}
		ledgers[i] = jobs
		for _, j := range jobs {
			of[j.ID] = true
			for _, step := range j.Ledger {
				add(accounts, step.Name(), i, step.To-step.From)
				if step.Account.String() == slotHeld {
					add(held, step.By, i, step.To-step.From)
				}
			}
		}
	}
	d.Accounts, d.Held, d.Decision = changesOf(accounts), changesOf(held), decision(pair, &ledgers)
	return of, nil
}

// changesOf lists what changes most first.
func changesOf(sums map[string]*AccountChange) []AccountChange {
	list := []AccountChange{}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		list = append(list, *sums[name])
	}
	slices.SortStableFunc(list, func(a, b AccountChange) int {
		x, y := a.Second-a.First, b.Second-b.First
		return -cmp.Compare(max(x, -x), max(y, -y))
	})
	return list
}

// otherLaunch finds the first launch of these jobs that differs in job, task, node or
// time.
func otherLaunch(pair *[2]Run, of map[string]bool) *OtherLaunch {
	var lists [2]Attempts
	for i := range pair {
		for k := range pair[i].Attempts {
			if a := &pair[i].Attempts[k]; of[a.Job] {
				lists[i] = append(lists[i], *a)
			}
		}
		slices.SortStableFunc(lists[i], func(a, b workload.Attempt) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Task, b.Task))
		})
	}
	first, second := lists[0], lists[1]
	say := func(list Attempts, i int) (string, time.Duration) {
		if i >= len(list) {
			return "nothing more", math.MaxInt64
		}
		a := &list[i]
		return fmt.Sprintf("%v %d of %s on %s at %.3f s", a.Kind, a.Task, workload.Escape(a.Job), workload.Escape(a.Node), a.Start.Seconds()), a.Start
	}
	for i := range max(len(first), len(second)) {
		a, at := say(first, i)
		b, bt := say(second, i)
		if a != b {
			return &OtherLaunch{int64(min(at, bt)), a, b}
		}
	}
	return nil
}

// launchesOf lists what an offer launched of these jobs.
func launchesOf(o *model.Offer, of map[string]bool) []string {
	var list []string
	for i := range o.Asked {
		if a := &o.Asked[i]; a.Task >= 0 && of[a.Job] {
			list = append(list, fmt.Sprintf("%v %d %d %s", a.Kind, a.Task, a.Attempt, a.Job))
		}
	}
	return list
}

// otherOffer finds the first heartbeat with different launches of these jobs. An offer
// that one of the runs lacks counts as launching nothing there.
func otherOffer(pair *[2]Run, of map[string]bool) *OtherOffer {
	type heartbeat struct {
		at   time.Duration
		node string
	}
	found := map[heartbeat]*[2]*model.Offer{}
	var order []heartbeat
	for i := range pair {
		for k := range pair[i].Offers {
			o := &pair[i].Offers[k]
			h := heartbeat{o.Time, o.Node}
			if found[h] == nil {
				found[h] = &[2]*model.Offer{}
				order = append(order, h)
			}
			found[h][i] = o
		}
	}
	slices.SortStableFunc(order, func(a, b heartbeat) int { return cmp.Compare(a.at, b.at) })
	for _, h := range order {
		var launched [2][]string
		texts := [2]string{}
		for i, o := range found[h] {
			if o != nil {
				launched[i] = launchesOf(o, of)
			}
		}
		if slices.Equal(launched[0], launched[1]) {
			continue
		}
		for i, o := range found[h] {
			texts[i] = "  nothing: no slot was free there for which a job waited\n"
			if o != nil {
				texts[i] = diagnose.DecisionText(o, pair[i].Question)
			}
		}
		return &OtherOffer{int64(h.at), workload.Escape(h.node), texts[0], texts[1]}
	}
	return nil
}
