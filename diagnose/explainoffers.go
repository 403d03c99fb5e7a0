package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/workload"
)

// meanings say what a reason means, for those who meet it for the first time.
var meanings = map[model.Reason]string{
	model.NothingWaiting:      "the scheduler knew of no task to run there; the fair schedulers count waiting tasks only every half second",
	model.OneTaskPerHeartbeat: "the scheduler hands out a limited number of tasks at a heartbeat; other free slots wait for the next one",
	model.LocalityWait:        "a job lets slots pass for a while if the node does not hold its data, because a node that does may come soon (delay scheduling)",
	model.AtPoolLimit:         "a pool already runs as many tasks as its maximum",
	model.AtJobLimit:          "a pool or user already runs as many jobs as its maximum",
	model.AtInitLimit:         "a queue or user already has as many initialised jobs as its maximum; the others wait for their end",
	model.AtUserLimit:         "the user already has as many slots of the queue as the user limit allows",
	model.AtQueueLimit:        "the queue already has as many slots as its capacity or its limit allows",
	model.MemoryLimit:         "a task that asks for much memory needs several slots of the node at once",
	model.AvoidedTracker:      "too many tasks of the job have failed on that TaskTracker, or most TaskTrackers are excluded",
	model.LoadFactor:          "the scheduler spreads tasks evenly: while few tasks wait, a TaskTracker may fill only a part of its slots",
	model.PaddedSlots:         "the cluster was almost full, and the last slots are kept for the first job",
	model.OneOffRackMap:       "the scheduler launches only one map per heartbeat that is speculative or has no data in this rack",
	model.SetupOrCleanupFirst: "the JobTracker gave the TaskTracker a set-up or clean-up task, and then asks the scheduler for nothing more",
	model.DeadlineMet:         "the job already runs as many tasks as it needs to meet its deadline",
	model.BehindOthers:        "it came later in the order",
}

// offered explains an attempt by the offers of the run: those while it waited, and
// the one that launched it.
func (x *explainer) offered(a *attempt, waited bool) []string {
	if x.offers == nil || a.kind > workload.Reduce {
		return nil
	}
	id := x.b.jobs[a.job].id
	isOwn := func(k *model.Asked) bool {
		return k.Task == int(a.task) && k.Attempt == int(a.number) && k.Kind == a.kind && k.Job == id
	}
	at := slices.IndexFunc(x.offers.offers, func(o model.Offer) bool {
		return slices.ContainsFunc(o.Asked, func(k model.Asked) bool { return isOwn(&k) })
	})
	if at < 0 {
		return nil
	}
	offer := &x.offers.offers[at]
	var text []string
	if waited {
		text = x.passed(a, at)
	}
	text = append(text, x.describe(offer, a.kind, isOwn)...)
	if wait := a.start - offer.Time; wait > 0 {
		started := fmt.Sprintf("It started %.1f s after this heartbeat", wait.Seconds())
		if before := x.freed(a); before != nil && before.finish > offer.Time {
			started += fmt.Sprintf(", when %s had left the slot. A task that waits for permission to commit no longer counts as running, so the JobTracker can hand out its slot before it is free", x.b.name(before))
		}
		text = append(text, started+".")
	}
	return text
}

// passed sums the offers between the time at which a task could run and its
// launch.
func (x *explainer) passed(a *attempt, at int) []string {
	if !workload.Known(a.runnable) || a.start <= a.runnable {
		return nil
	}
	id := x.b.jobs[a.job].id
	n, own, others := 0, 0, 0
	left, refused := map[model.Reason]int{}, map[model.Reason]int{}
	var limit *model.Asked       // the last that kept its job from slots
	limited := 0                 // heartbeats
	var lost, first *model.Offer // the first that went to another job: although this one was asked or next, and any
	for i := at - 1; i >= 0 && x.offers.offers[i].Time >= a.runnable; i-- {
		o := &x.offers.offers[i]
		if o.Free[a.kind] == 0 {
			continue
		}
		n += 1 + o.Repeats
		if why := o.Reason[a.kind]; why != model.NotDeclined {
			left[why] += 1 + o.Repeats
		}
		listed, other := false, false
		for k := range o.Asked {
			switch asked := &o.Asked[k]; {
			case asked.Kind != a.kind:
			case asked.Task >= 0 && asked.Job == id:
				own++
			case asked.Task >= 0:
				others++
				other = true
			case asked.Job == id && asked.Reason.IsLimit() && asked.Figures.Limit > 0:
				if limited == 0 {
					limit = asked
				}
				limited += 1 + o.Repeats
			case asked.Job == id:
				refused[asked.Reason] += 1 + o.Repeats
				listed = true
			}
		}
		if listed && other {
			lost = o
		}
		if other {
			first = o
		}
	}
	if n == 0 {
		return []string{fmt.Sprintf("No heartbeat offered a %s slot before the one that launched it.", a.kind)}
	}
	text := fmt.Sprintf("While it waited, %s offered %s slots. At these heartbeats %s of its job and %s of other jobs were launched.",
		workload.Counted(n, "heartbeat", "heartbeats"), a.kind, workload.Counted(own, a.kind.String(), a.kind.String()+"s"), workload.Counted(others, a.kind.String(), a.kind.String()+"s"))
	list := []string{text}
	delete(refused, model.BehindOthers)
	if limit != nil {
		list = append(list, fmt.Sprintf("A limit kept its job from the slots of %s (%s): %s", workload.Counted(limited, "heartbeat", "heartbeats"), limit.Reason, limitSentence(limit)))
		delete(left, limit.Reason)
	}
	list = append(list, reasonSentences(left, "%s left a slot free: %s (%s).")...)
	list = append(list, reasonSentences(refused, "Its job was asked in vain at %s: %s (%s).")...)
	if lost != nil {
		for k := range lost.Asked {
			if asked := &lost.Asked[k]; asked.Kind == a.kind && asked.Job == id {
				list = append(list, fmt.Sprintf("The first time that another job went before, at %s on %s:", seconds(lost.Time), lost.Node))
				return append(list, x.order(lost, a.kind, nil)...)
			}
		}
	}
	if first != nil && limit == nil {
		list = append(list, fmt.Sprintf("The first slot went to another job at %s on %s, and the scheduler did not ask this one%s:", seconds(first.Time), first.Node, x.notCounted()))
		list = append(list, x.order(first, a.kind, nil)...)
	}
	return list
}

// notCounted says why a scheduler may not ask a job that waits.
func (x *explainer) notCounted() string {
	if x.q != nil && strings.HasPrefix(x.q.Scheduler.Name, "fair") {
		return " (the fair schedulers count jobs and their tasks every half second)"
	}
	return ""
}

// reasonSentences makes a sentence for each reason, the most frequent first.
func reasonSentences(by map[model.Reason]int, format string) []string {
	var reasons []model.Reason
	for r := range model.NumReasons {
		if by[r] > 0 {
			reasons = append(reasons, r)
		}
	}
	slices.SortStableFunc(reasons, func(a, b model.Reason) int { return cmp.Compare(by[b], by[a]) })
	var list []string
	for _, r := range reasons {
		list = append(list, fmt.Sprintf(format, workload.Counted(by[r], "heartbeat", "heartbeats"), r, meanings[r]))
	}
	return list
}

// describe says what a scheduler did with the free slots of a kind at a heartbeat.
func (x *explainer) describe(o *model.Offer, kind workload.Kind, own func(*model.Asked) bool) []string {
	text := fmt.Sprintf("At %.3f s the TaskTracker of %s sent a heartbeat with %s, while %s waited for one.", o.Time.Seconds(), o.Node,
		workload.Counted(o.Free[kind], "free "+kind.String()+" slot", "free "+kind.String()+" slots"), workload.Counted(o.Waiting[kind], "job", "jobs"))
	if x.q != nil {
		text = strings.TrimSpace(text + " " + scheduler.Order(x.q.Scheduler.Name))
	}
	list := append([]string{text}, x.order(o, kind, own)...)
	if why := o.Reason[kind]; why != model.NotDeclined {
		list = append(list, fmt.Sprintf("A slot stayed free: %s (%s).", why, meanings[why]))
	}
	return list
}

// DecisionText says in words what the scheduler of a question did at a heartbeat.
func DecisionText(o *model.Offer, q *model.WhatIf) string {
	x := explainer{&evidence{q: q}}
	var text strings.Builder
	for kind, free := range o.Free {
		if free > 0 {
			for _, p := range x.describe(o, workload.Kind(kind), nil) {
				line(&text, 2, p)
			}
		}
	}
	return text.String()
}

// order lists the jobs that were asked, each with its figures. Lines of a list
// begin with a bullet.
func (x *explainer) order(o *model.Offer, kind workload.Kind, own func(*model.Asked) bool) []string {
	var list []string
	var behind []model.Asked
	for i := range o.Asked {
		a := &o.Asked[i]
		if a.Kind != kind || slices.Contains(behind, *a) {
			continue
		}
		if a.Reason == model.BehindOthers {
			behind = append(behind, *a)
		}
		outcome := fmt.Sprintf("not asked: %s", meanings[a.Reason])
		switch {
		case a.Task >= 0 && own != nil && own(a):
			outcome = "launched this attempt"
		case a.Task >= 0:
			outcome = fmt.Sprintf("launched %s %d", a.Kind, a.Task)
		case a.Reason.IsLimit() && a.Figures.Limit > 0:
			list = append(list, fmt.Sprintf("- %s: not asked: %s", a.Job, limitSentence(a)))
			continue
		case a.Reason != model.BehindOthers:
			outcome = fmt.Sprintf("launched nothing: %s", a.Reason)
		}
		if a.Task >= 0 && a.Locality != workload.NoLocality {
			outcome += fmt.Sprintf(" (%s-local)", a.Locality)
			if a.Locality == workload.OffRack {
				outcome = strings.TrimSuffix(outcome, fmt.Sprintf(" (%s-local)", a.Locality)) + " (data in another rack)"
			}
		}
		list = append(list, fmt.Sprintf("- %s: %s%s", a.Job, outcome, x.figures(a)))
	}
	return list
}

// limitSentence says whose limit keeps a job from tasks, and how many wait.
func limitSentence(a *model.Asked) string {
	f := &a.Figures
	what := a.Kind.String()
	switch a.Reason {
	case model.AtJobLimit:
		what = "running job"
	case model.AtInitLimit:
		what = "initialised job"
	}
	text := fmt.Sprintf("%s has its %s", f.Pool, workload.Counted(f.Limit, what, what+"s"))
	if waiting := f.Demand - f.Running; waiting > 0 {
		text += fmt.Sprintf("; %d wait", waiting)
	}
	return text + "."
}

// figures says the values of a job at an offer that its scheduler uses.
func (x *explainer) figures(a *model.Asked) string {
	name, f := "", &a.Figures
	if x.q != nil {
		name = x.q.Scheduler.Name
	}
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch name {
	case "fair1":
		add("it ran %d of the %d tasks that it could, its fair share was %.1f slots", f.Running, f.Demand, f.Share)
		add("its deficit %.1f task seconds", f.Deficit.Seconds())
	case "fair2":
		pool := "its pool"
		if f.Pool != "" {
			pool = "pool " + f.Pool
		}
		add("%s ran %d of the %d tasks that it could, its fair share was %.1f slots", pool, f.Running, f.Demand, f.Share)
	case "capacity":
		if over := float64(f.Running) - f.Share; over > 0 {
			add("queue %s used %d slots, the %.0f of its capacity and %.0f that others left free", f.Pool, f.Running, f.Share, over)
		} else {
			add("queue %s used %d of its %.0f slots", f.Pool, f.Running, f.Share)
		}
		if f.Skipped > 0 {
			add("the job had let %s pass for a local map", workload.Counted(f.Skipped, "heartbeat", "heartbeats"))
		}
	case "maxedf", "minedf":
		add("it ran %d tasks, and %d were left", f.Running, f.Demand)
	}
	if f.MinShare > 0 {
		add("its minimum share %d", f.MinShare)
	}
	if f.Delay > 0 && a.Kind == workload.Map && (f.Waited > 0 || a.Reason == model.LocalityWait) {
		add("it had waited %.1f s for a local map; its delay is %.1f s", f.Waited.Seconds(), f.Delay.Seconds())
	}
	if len(parts) == 0 {
		return "."
	}
	return ". Until then " + strings.Join(parts, ", ") + "."
}

// silentAt says that a node no longer sent heartbeats at a time.
func (x *explainer) silentAt(node string, at time.Duration) string {
	if x.q == nil {
		return ""
	}
	for i := range x.q.Cluster.Nodes {
		if n := &x.q.Cluster.Nodes[i]; n.Name == node && n.Dies > 0 && n.Dies < at {
			return fmt.Sprintf(" It sent no heartbeats from %s on.", seconds(n.Dies))
		}
	}
	return ""
}

// atNode explains the last heartbeat of a node, at or before a time, that offered
// a slot for which jobs waited. Without offers it is the last start of an attempt
// there.
func (x *explainer) atNode(at time.Duration, node string) ([]string, error) {
	if end := x.b.end; at > end {
		return nil, fmt.Errorf("--at: got %s: want at most %s, the end of the run", seconds(at), seconds(end))
	}
	known := slices.Contains(x.b.nodes.list, node)
	if x.offers != nil {
		var last *model.Offer
		for i := range x.offers.offers {
			o := &x.offers.offers[i]
			known = known || o.Node == node
			if o.Node == node && o.Time <= at {
				last = o
			}
		}
		if last != nil {
			var text []string
			if at > last.Time {
				text = append(text, fmt.Sprintf("This was the last offer of %s until %s: a heartbeat with a free slot, while a job waited.%s", node, seconds(at), x.silentAt(node, at)))
			}
			for kind, free := range last.Free {
				if free > 0 {
					text = append(text, x.describe(last, workload.Kind(kind), nil)...)
				}
			}
			return text, nil
		}
	}
	if !known {
		example := ""
		if len(x.b.nodes.list) > 0 {
			example = ", such as " + slices.Max(x.b.nodes.list)
		}
		return nil, fmt.Errorf("--node: got %q: want a node of the run%s", node, example)
	}
	var last *attempt
	for i := range int32(x.b.rows) {
		if a := x.b.at(i); a.timed() && x.b.node(a) == node && a.start <= at && (last == nil || a.start > last.start) {
			last = a
		}
	}
	if last == nil {
		return []string{fmt.Sprintf("Until %s nothing was offered to %s and no attempt had started there.", seconds(at), node)}, nil
	}
	return x.attempt(last), nil
}
