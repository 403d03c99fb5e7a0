package scenarios

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model/input"
	"github.com/slotwave/slotwave/workload"
)

// readGroups reads the groups of users, { ann = ["analysts", "staff"] }.
func (x *yarnTable) readGroups() map[string][]string {
	in := x.inner("groups")
	groups := map[string][]string{}
	for _, user := range slices.Sorted(maps.Keys(in.values)) {
		groups[user] = in.texts(user)
	}
	in.done()
	return groups
}

// place puts each job into its queue.
func (x *yarnTable) place(jobs []workload.Job) {
	if x.y.Policy == "capacity" {
		x.checkMappings()
	}
	for i := range jobs {
		j := &jobs[i]
		j.Queue = cmp.Or(j.Queue, "default")
		switch x.y.Policy {
		case "capacity":
			x.mapped(j)
		case "fair":
			x.ruled(j)
		}
	}
	x.queuesOf(jobs)
}

const mappingsKey = capacityKey + "queue-mappings"

// checkMappings refuses mappings of another form.
func (x *yarnTable) checkMappings() {
	for _, mapping := range strings.Split(x.y.Properties[mappingsKey], ",") {
		parts := strings.Split(strings.TrimSpace(mapping), ":")
		if mapping := strings.TrimSpace(mapping); mapping != "" && (len(parts) != 3 || parts[0] != "u" && parts[0] != "g") {
			x.failKey(mappingsKey, "illegal mapping %q: want u:USER:QUEUE or g:GROUP:QUEUE", mapping)
		}
	}
}

// mapped applies yarn.scheduler.capacity.queue-mappings. A job that names a queue keeps
// it, unless the mappings override.
func (x *yarnTable) mapped(j *workload.Job) {
	if j.Queue != "default" && !strings.EqualFold(strings.TrimSpace(x.y.Properties[mappingsKey+"-override.enable"]), "true") {
		return
	}
	groups := x.groups[j.User]
	for _, mapping := range strings.Split(x.y.Properties[mappingsKey], ",") {
		kind, rest, ok := strings.Cut(strings.TrimSpace(mapping), ":")
		source, queue, to := strings.Cut(rest, ":")
		fits := kind == "u" && (source == j.User && source != "" || source == "%user") || kind == "g" && slices.Contains(groups, source)
		if !ok || !to || !fits || j.User == "" && strings.Contains(queue, "%user") {
			continue
		}
		for group, name := range []string{"%primary_group", "%secondary_group"} {
			if strings.Contains(queue, name) && group >= len(groups) {
				return
			} else if strings.Contains(queue, name) {
				queue = strings.ReplaceAll(queue, name, groups[group])
			}
		}
		j.Queue = strings.ReplaceAll(queue, "%user", j.User)
		return
	}
}

// ruled applies the rules of queuePlacementPolicy in their order; the first that names a
// queue decides. Without rules the FairScheduler decides itself.
func (x *yarnTable) ruled(j *workload.Job) {
	if x.rules == nil {
		return
	}
	before := len(x.problems)
	for _, rule := range x.rules.children {
		queue := x.byRule(rule, j)
		if queue == "" || rule.attrs["create"] == "false" && !x.exists(queue) {
			continue
		}
		j.Queue = queue
		return
	}
	if len(x.problems) == before { // else a rule that is not understood may place it
		x.failIn(x.rulesOf, x.rules.line, "no rule places job %s of user %q: the ResourceManager rejects it: want a last rule default", j.ID, j.User)
	}
}

var rulesOfPlacement = []string{"specified", "user", "primaryGroup", "secondaryGroupExistingQueue", "nestedUserQueue", "default", "reject"}

// byRule returns the queue that a rule names, or none.
func (x *yarnTable) byRule(rule *element, j *workload.Job) string {
	clean := func(name string) string { return strings.ReplaceAll(name, ".", "_dot_") }
	groups := x.groups[j.User]
	switch name := rule.attrs["name"]; name {
	case "specified":
		if j.Queue != "default" {
			return x.full(j.Queue)
		}
	case "user":
		return x.full(clean(j.User))
	case "primaryGroup":
		if len(groups) > 0 {
			return x.full(clean(groups[0]))
		}
	case "secondaryGroupExistingQueue":
		for _, g := range groups[min(1, len(groups)):] {
			if x.exists(x.full(clean(g))) {
				return x.full(clean(g))
			}
		}
	case "nestedUserQueue":
		for _, parent := range rule.children {
			if up := x.byRule(parent, j); up != "" {
				return up + "." + clean(j.User)
			}
		}
	case "default":
		return x.full(cmp.Or(rule.attrs["queue"], "default"))
	case "reject":
	default:
		x.failIn(x.rulesOf, rule.line, "rule %q: want one of %s%s", name, strings.Join(rulesOfPlacement, ", "), input.DidYouMean(name, rulesOfPlacement))
	}
	return ""
}

func (x *yarnTable) full(queue string) string { return "root." + strings.TrimPrefix(queue, "root.") }

// exists reports whether fair-scheduler.xml has a queue.
func (x *yarnTable) exists(path string) bool {
	list := x.y.Allocations.Queues
	found := false
	for _, part := range strings.Split(path, ".")[1:] {
		found = false
		for _, q := range list {
			if found = q.Name == part; found {
				list = q.Queues
				break
			}
		}
		if !found {
			return false
		}
	}
	return found
}
