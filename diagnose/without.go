package diagnose

import (
	"slices"
	"time"

	"github.com/slotwave/slotwave/model"
)

// Without is what a job gains if a part of the cluster takes only a part of its
// time, and the time that the ledger has for it: that of its own accounts, and that
// in which other attempts held a slot.
type Without struct {
	Job    string
	Part   string
	Ledger time.Duration
	Factor float64 // 0: the part takes no time
	Receipt
}

// factors are the parts of the time that are left.
var factors = [...]float64{0.9, 0.5, 0}

// clusterPart is something that takes time and can be made faster. Its accounts are those
// of the ledger in which this time is; a step with a device is of the part of the
// device, whatever its account. shrink returns false if the question has
// no such time.
type clusterPart struct {
	name     string
	accounts []Account
	device   string // kind of the devices of the part; empty: it has none
	shrink   func(q *model.WhatIf, factor float64) bool
}

// tiny stands for no time where the simulator needs some.
const tiny = 1e-3

var clusterParts = []clusterPart{
	{"start-up of tasks", []Account{startUp, setUp, cleanUp}, "", func(q *model.WhatIf, factor float64) bool {
		any := shorten(&q.Cluster.Costs.Launch, factor)
		for i := range q.Cluster.Machines {
			any = shorten(&q.Cluster.Machines[i].JVMStart, factor) || any
		}
		return any
	}},
	{"set-up and clean-up of jobs", []Account{setUp, cleanUp}, "", func(q *model.WhatIf, factor float64) bool {
		c := &q.Cluster.Costs
		any := shorten(&c.Setup, factor)
		return shorten(&c.Cleanup, factor) || any
	}},
	{"commit", []Account{commitTime}, "", func(q *model.WhatIf, factor float64) bool { return shorten(&q.Cluster.Costs.Commit, factor) }},
	{"heartbeats", []Account{heartbeatTime, schedulerLimit, queueTime, initialisation, setUp, cleanUp, commitTime, shuffleTime}, "", func(q *model.WhatIf, factor float64) bool {
		beat := heartbeatOf(q)
		if beat <= 0 {
			return false
		}
		shorten(&beat, max(factor, tiny))
		q.Cluster.Heartbeat, q.Cluster.Phases = beat, nil
		return true
	}},
	{"processors", []Account{workTime, sortSpill, mergeTime, readTime, writeTime, shuffleTime, waitsForSpill, waitsForFetch, waitsForMemory}, "cpu", func(q *model.WhatIf, factor float64) bool {
		for i := range q.Cluster.Machines {
			q.Cluster.Machines[i].Speed /= max(factor, tiny)
		}
		return q.Fidelity >= model.Phase
	}},
	{"disks", []Account{readTime, sortSpill, mergeTime, writeTime, shuffleTime, waitsForSpill, waitsForFetch, waitsForMemory, localityTime}, "disk", func(q *model.WhatIf, factor float64) bool {
		for i := range q.Cluster.Machines {
			m := &q.Cluster.Machines[i]
			for k := range m.Disks {
				m.Disks[k].Read, m.Disks[k].Write = m.Disks[k].Read/max(factor, tiny), m.Disks[k].Write/max(factor, tiny)
			}
		}
		return q.Fidelity >= model.Phase
	}},
	{"network", []Account{readTime, writeTime, shuffleTime, waitsForFetch, waitsForMemory, localityTime}, "network", func(q *model.WhatIf, factor float64) bool {
		for i := range q.Cluster.Machines {
			m := &q.Cluster.Machines[i]
			m.NIC, m.Uplink = m.NIC/max(factor, tiny), m.Uplink/max(factor, tiny)
		}
		return q.Fidelity >= model.Phase
	}},
}

// shorten multiplies a time and reports whether there was one.
func shorten(t *time.Duration, factor float64) bool {
	any := *t > 0
	*t = time.Duration(factor * float64(*t))
	return any
}

// edit returns the question with a part that takes a factor of its time.
func (p *clusterPart) edit(q model.WhatIf, factor float64) (model.WhatIf, bool) {
	q = q.Copy()
	return q, p.shrink(&q, factor)
}

// has reports whether the time of a step is that of the part.
func (p *clusterPart) has(s *Step) bool {
	if s.Device != "" && s.Account != startUp {
		return devicesOf(s.Device) == p.device
	}
	return slices.Contains(p.accounts, s.Account)
}

// without re-simulates the run with each part of the cluster faster. A part whose
// accounts are empty in the ledgers of all jobs is left out.
func (v *verifier) without(jobs []JobDiagnosis) []Without {
	var list []Without
	for i := range clusterParts {
		p := &clusterParts[i]
		ledger, sum := make([]time.Duration, len(jobs)), time.Duration(0)
		for k := range jobs {
			for i := range jobs[k].Ledger {
				s := &jobs[k].Ledger[i]
				switch {
				case p.has(s):
					sum += s.To - s.From
					ledger[k] += s.To - s.From
				case s.Account == slotHeld, s.Account == lostAttempts: // other attempts take less time too
					ledger[k] += s.To - s.From
				}
			}
		}
		if sum == 0 {
			continue
		}
		for _, factor := range factors {
			q, any := p.edit(v.base, factor)
			if !any {
				break
			}
			runs, err := v.pairsOf(q, 0, v.Pairs)
			if err != nil {
				return list // no time is left
			}
			for k := range jobs {
				if r, ok := v.gain(runs, jobs[k].ID); ok {
					list = append(list, Without{jobs[k].ID, p.name, ledger[k], factor, r})
				}
			}
		}
	}
	return list
}
