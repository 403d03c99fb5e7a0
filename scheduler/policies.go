package scheduler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// policies is the table of names, sorted.
var policies = []named{
	capacityPolicy,
	fair1Policy,
	fair2Policy,
	fifoPolicy,
	maxEDFPolicy,
	minEDFPolicy,
}

// find returns the policy of a name, which may be unknown.
func find(name string) (n named, ok bool) {
	i := slices.IndexFunc(policies, func(n named) bool { return n.name == name })
	if i < 0 {
		return named{}, false
	}
	return policies[i], true
}

// New makes the policy that spec names, as in the given release.
func New(spec model.Scheduler, r *model.Release) (Policy, error) {
	n, ok := find(spec.Name)
	if !ok {
		return Policy{}, fmt.Errorf("unknown scheduler %q: want one of %s", spec.Name, strings.Join(Names(), ", "))
	}
	return n.make(spec, r)
}

// Check returns an error if one of the jobs could never run under the scheduler
// that spec names, on a cluster with the given slots of each type.
func Check(spec model.Scheduler, r *model.Release, slots [2]int, jobs []workload.Job) error {
	policy, err := New(spec, r)
	if err != nil || policy.check == nil {
		return err
	}
	for i := range jobs {
		if err := policy.check(&jobs[i], slots); err != nil {
			return err
		}
	}
	return nil
}

// Names lists the schedulers.
func Names() []string {
	var names []string
	for _, p := range policies {
		names = append(names, p.name)
	}
	return names
}

// About describes a scheduler in one line.
func About(name string) string {
	n, _ := find(name)
	return n.about
}

// Order says in which order a scheduler asks jobs.
func Order(name string) string {
	n, _ := find(name)
	return n.order
}
