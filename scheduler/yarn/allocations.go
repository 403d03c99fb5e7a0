package yarn

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/slotwave/slotwave/model"
)

// amounts is a resource that may be given in percent of the cluster
// (ConfigurableResource).
type amounts struct {
	fixed   Resource
	percent *[2]float64
}

func (a amounts) of(cluster Resource) Resource {
	if a.percent == nil {
		return a.fixed
	}
	return Resource{
		MemoryMiB: int64(float64(cluster.MemoryMiB) * a.percent[0]),
		VCores:    int64(float64(cluster.VCores) * a.percent[1]),
	}
}

// parseAmounts reads "12288 mb, 12 vcores", "memory-mb=12288, vcores=12", "50%" or
// "50% memory, 20% cpu" (FairSchedulerConfiguration.parseResourceConfigValue). What is
// not stated is as missing.
func parseAmounts(text string, missing Resource) (amounts, error) {
	bad := fmt.Errorf("got %q: want amounts like \"12288 mb, 12 vcores\" or percentages like \"50%%\"", text)
	a := amounts{fixed: missing}
	t := strings.ToLower(strings.TrimSpace(text))
	if strings.Contains(t, "%") {
		p, ok := parsePercents(t)
		if !ok {
			return a, bad
		}
		a.percent = &p
		return a, nil
	}
	found := false
	for _, part := range strings.Split(t, ",") {
		kind, number := amountOf(part)
		n, err := parseNumber(number, 64)
		switch {
		case err != nil || n < 0:
			return a, bad
		case strings.HasPrefix(kind, "m"):
			a.fixed.MemoryMiB, found = int64(n), true
		case strings.HasPrefix(kind, "v"):
			a.fixed.VCores, found = int64(n), true
		default:
			return a, bad
		}
	}
	if !found {
		return a, bad
	}
	return a, nil
}

// amountOf splits "12 vcores" or "vcores=12".
func amountOf(part string) (kind, number string) {
	part = strings.TrimSpace(part)
	if k, n, ok := strings.Cut(part, "="); ok {
		return strings.TrimSpace(k), strings.TrimSpace(n)
	}
	i := strings.LastIndexAny(part, "0123456789.")
	return strings.TrimSpace(part[i+1:]), strings.TrimSpace(part[:i+1])
}

func parsePercents(t string) ([2]float64, bool) {
	var p [2]float64
	parts := strings.Split(t, ",")
	for _, part := range parts {
		number, kind, ok := strings.Cut(part, "%")
		n, err := parseNumber(strings.TrimSpace(number), 64)
		kind = strings.TrimSpace(kind)
		switch {
		case !ok || err != nil || n < 0:
			return p, false
		case len(parts) == 1 && kind == "":
			p[0], p[1] = n/100, n/100
		case strings.HasPrefix(kind, "m"):
			p[0] = n / 100
		case strings.HasPrefix(kind, "c"), strings.HasPrefix(kind, "v"):
			p[1] = n / 100
		default:
			return p, false
		}
	}
	return p, true
}

// newFair makes the FairScheduler of 3.3.6 from the properties of yarn-site.xml and an
// allocation file (FairSchedulerConfiguration, AllocationFileLoaderService).
func newFair(r *reader, file *model.Allocations, l Listener) (Scheduler, error) {
	const prefix = "yarn.scheduler.fair."
	const ms = int64(1e6)
	s := &fair{
		cluster: newCluster(l, r),
		queues:  make(map[string]*fairQueue), file: file,
		books:         make(map[*Node]*fairNode),
		stopUpdate:    func() {},
		update:        r.whole(prefix+"update-interval-ms", 500) * ms,
		multiple:      r.flag(prefix+"assignmultiple", false),
		half:          r.flag(prefix+"dynamic.max.assign", r.release.Fair28),
		perBeat:       int(r.whole(prefix+"max.assign", -1)),
		bySize:        r.flag(prefix+"sizebasedweight", false),
		nodeThreshold: float64(r.number(prefix+"locality.threshold.node", -1)),
		rackThreshold: float64(r.number(prefix+"locality.threshold.rack", -1)),
		continuous:    r.flag(prefix+"continuous-scheduling-enabled", false),
		sleep:         r.whole(prefix+"continuous-scheduling-sleep-ms", 5) * ms,
		nodeDelay:     r.whole(prefix+"locality-delay-node-ms", -1) * ms,
		rackDelay:     r.whole(prefix+"locality-delay-rack-ms", -1) * ms,
		reservable:    r.number(prefix+"reservable-nodes", 0.05),
		onDemand:      r.flag(prefix+"allow-undeclared-pools", true),
		byUser:        r.flag(prefix+"user-as-default-queue", true),
		preempts:      r.flag(prefix+"preemption", false),
		utilization:   r.number(prefix+"preemption.cluster-utilization-threshold", 0.8),
		warn:          r.whole(prefix+"waitTimeBeforeKill", 15000) * ms,
		warnings:      warnings{interval: r.whole(prefix+"preemptionInterval", 5000) * ms, since: make(map[*Container]int64)},
	}
	s.limits = newAppLimits(s.userApps, func(a *App) *appLimit { return a.fair.queue.limit }, func(a *App) {
		a.fair.queue.apps = append(a.fair.queue.apps, a)
	})
	s.sparesAM = func(queue string) bool {
		return !r.flag(prefix+"am.preemption."+queue, r.flag(prefix+"am.preemption", true))
	}
	s.least, s.most = r.bounds()
	// getIncrementAllocation: from 3.0 on the names of resource types go first.
	s.step = Resource{
		MemoryMiB: r.whole("yarn.resource-types.memory-mb.increment-allocation", r.whole("yarn.scheduler.increment-allocation-mb", 1024)),
		VCores:    r.whole("yarn.resource-types.vcores.increment-allocation", r.whole("yarn.scheduler.increment-allocation-vcores", 1)),
	}
	s.reserveFrom = times(s.step, float64(r.number("yarn.scheduler.reservation-threshold.increment-multiple", 2)))
	// The four heartbeats that FSPreemptionThread means to add are none in 3.3.6: it is
	// made before their interval is read.
	s.recheck = s.warn + r.whole(prefix+"waitTimeBeforeNextStarvationCheck", 10000)*ms
	if s.continuous {
		s.recheck += 10 * s.sleep
	}
	s.readQueues(r)
	if r.err != nil {
		return nil, r.err
	}
	s.start()
	return s, nil
}

// usualPolicy is the policy of queues that state none. Hadoop refuses fifo even if all do.
const usualPolicy = "defaultQueueSchedulingPolicy"

// readQueues makes root and the queues of the file.
func (s *fair) readQueues(r *reader) {
	if p := s.file.Settings[usualPolicy]; p != "" && (sharingOf(p) == nil || sharingOf(p) == sharings["fifo"]) {
		r.refuse(&fairQueue{path: "root"}, usualPolicy, fmt.Sprintf("got %q: want fair or drf", p))
	}
	s.root = s.newQueue(r, nil, "root", nil)
	var add func(parent *fairQueue, list []model.AllocationQueue)
	add = func(parent *fairQueue, list []model.AllocationQueue) {
		for _, q := range list {
			if parent == s.root && q.Name == "root" {
				s.configure(r, s.root, q.Settings)
				add(s.root, q.Queues)
				continue
			}
			child := s.newQueue(r, parent, parent.path+"."+q.Name, q.Settings)
			if len(q.Queues) > 0 && s.release.Fair28 && q.Settings["maxAMShare"] != "" {
				r.refuse(child, "maxAMShare", "got "+q.Settings["maxAMShare"]+": want it at queues without queues in them alone")
			}
			add(child, q.Queues)
		}
	}
	add(s.root, s.file.Queues)
	for _, path := range slices.Sorted(maps.Keys(s.queues)) {
		if q := s.queues[path]; len(q.children) == 0 && q != s.root {
			s.leafs = append(s.leafs, q)
		}
	}
	slots := hashSlots(0, len(s.leafs))
	slices.SortStableFunc(s.leafs, func(a, b *fairQueue) int {
		return slotOf(stringHash(a.path), slots) - slotOf(stringHash(b.path), slots)
	})
	s.defaultFirst()
	// Hadoop makes the queues in the order of its leafs, and asks them in that order where
	// applications that wait began together (QueueManager.updateAllocationConfiguration).
	for _, q := range s.queues {
		q.children, q.limit.below = nil, nil
	}
	for _, leaf := range s.leafs {
		for q := leaf; q.parent != nil && !slices.Contains(q.parent.children, q); q = q.parent {
			q.parent.children, q.parent.limit.below = append(q.parent.children, q), append(q.parent.limit.below, q.limit)
		}
	}
}

// defaultFirst puts the queue that is made before the file is read before the others
// (QueueManager.initialize).
func (s *fair) defaultFirst() {
	if q := s.queues["root.default"]; q != nil && slices.Contains(s.leafs, q) {
		s.leafs = append([]*fairQueue{q}, remove(s.leafs, q)...)
	}
}

// newQueue makes a queue with the defaults of the file and its own settings.
func (s *fair) newQueue(r *reader, parent *fairQueue, path string, own map[string]string) *fairQueue {
	q := &fairQueue{s: s, path: path, parent: parent, maxAM: 0.5, minTimeout: math.MaxInt64, fairTimeout: math.MaxInt64, threshold: 0.5, preemptable: true}
	q.weight, q.mostShare = 1, amounts{fixed: unbounded}
	q.atLeast, q.atShare = s.listener.Nanos(), s.listener.Nanos()
	defaults := map[string]string{}
	if parent != nil {
		parent.children = append(parent.children, q)
		q.limit = newAppLimit(parent.limit, path, math.MaxInt)
		q.minTimeout, q.fairTimeout, q.threshold = parent.minTimeout, parent.fairTimeout, parent.threshold
	} else {
		q.limit = newAppLimit(nil, path, math.MaxInt)
		defaults["minSharePreemptionTimeout"] = s.file.Settings["defaultMinSharePreemptionTimeout"]
		defaults["fairSharePreemptionTimeout"] = s.file.Settings["defaultFairSharePreemptionTimeout"]
		defaults["fairSharePreemptionThreshold"] = s.file.Settings["defaultFairSharePreemptionThreshold"]
	}
	// These hold for root too, unless it has its own (AllocationConfiguration.initFSQueue).
	defaults["maxAMShare"] = s.file.Settings["queueMaxAMShareDefault"]
	defaults["maxRunningApps"] = s.file.Settings["queueMaxAppsDefault"]
	defaults["maxResources"] = s.file.Settings["queueMaxResourcesDefault"]
	defaults["schedulingPolicy"] = cmp.Or(s.file.Settings[usualPolicy], "fair")
	s.queues[path] = q
	s.configure(r, q, defaults)
	s.configure(r, q, own)
	if parent != nil && !parent.preemptable && s.release.Fair28 {
		q.preemptable = false // whatever it states (FSQueue.updatePreemptionVariables)
	}
	if parent != nil && q.policy != nil {
		switch {
		case parent.policy == sharings["fifo"]:
			r.refuse(parent, "schedulingPolicy", "got fifo: want fair or drf at a queue with queues in it")
		case s.forbids(parent, q.policy):
			r.refuse(q, "schedulingPolicy", "got drf below a queue of the policy fair: want fair or fifo")
		}
	}
	return q
}

// forbids reports whether a queue may not have queues of a policy below it
// (FairSharePolicy.isChildPolicyAllowed).
func (s *fair) forbids(parent *fairQueue, child *sharing) bool {
	return s.release.Fair28 && parent.policy == sharings["fair"] && child == sharings["drf"]
}

// refuse keeps what is wrong with an element of a queue.
func (r *reader) refuse(q *fairQueue, element, what string) {
	if r.err == nil {
		r.err = &Refused{"queue " + q.path + ": " + element, what}
	}
}

// configure applies settings to a queue.
func (s *fair) configure(r *reader, q *fairQueue, own map[string]string) {
	for _, name := range sortedKeys(own) {
		text := strings.TrimSpace(own[name])
		if text == "" || !r.knows(name) {
			continue
		}
		if err := q.set(name, text); err != nil {
			r.refuse(q, name, err.Error())
		}
	}
}

// set applies one setting of a queue (AllocationFileQueueParser).
func (q *fairQueue) set(name, text string) error {
	var err error
	var a amounts
	var f float64
	number := func() float64 {
		f, err = parseNumber(text, 64)
		if err != nil {
			err = fmt.Errorf("got %q: want a number", text)
		}
		return f
	}
	seconds := func() int64 { return int64(number()) * 1e9 }
	switch name {
	case "minResources":
		a, err = parseAmounts(text, Resource{})
		q.leastShare = a.fixed
	case "maxResources":
		q.mostShare, err = parseAmounts(text, unbounded)
	case "maxChildResources":
		a, err = parseAmounts(text, unbounded)
		q.mostBelow = &a
	case "maxContainerAllocation":
		a, err = parseAmounts(text, unbounded)
		q.largest = &a.fixed
	case "weight":
		if q.weight = float32(number()); q.weight < 0 {
			err = fmt.Errorf("got %q: want a weight of at least 0", text)
		}
	case "maxRunningApps":
		q.limit.most = int(number())
	case "maxAMShare":
		q.maxAM = min(float32(number()), 1)
	case "minSharePreemptionTimeout":
		q.minTimeout = seconds()
	case "fairSharePreemptionTimeout":
		q.fairTimeout = seconds()
	case "fairSharePreemptionThreshold":
		q.threshold = min(max(float32(number()), 0), 1)
	case "allowPreemptionFrom":
		q.preemptable = text != "false"
	case "schedulingPolicy", "schedulingMode":
		if q.policy = sharingOf(text); q.policy == nil {
			err = fmt.Errorf("got %q: want fair, drf or fifo", text)
		}
	}
	return err
}

// make adds a queue that the file does not name, with the queues above it
// (QueueManager.createQueue).
func (s *fair) make(path string) *fairQueue {
	up := path[:strings.LastIndex(path, ".")]
	parent := s.queues[up]
	if parent == nil {
		if parent = s.make(up); parent == nil {
			return nil
		}
		s.leafs = remove(s.leafs, parent)
	}
	if len(parent.apps)+len(parent.limit.waiting) > 0 || s.forbids(parent, sharingOf(cmp.Or(s.file.Settings[usualPolicy], "fair"))) {
		return nil
	}
	q := s.newQueue(&reader{}, parent, path, nil)
	if parent.mostBelow != nil {
		q.mostShare = *parent.mostBelow
	}
	s.leafs = append(s.leafs, q)
	s.defaultFirst()
	return q
}

// userApps is how many applications of a user may run.
func (s *fair) userApps(user string) int {
	text := s.file.UserApps[user]
	if text == "" {
		text = s.file.Settings["userMaxAppsDefault"]
	}
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
		return n
	}
	return math.MaxInt
}
