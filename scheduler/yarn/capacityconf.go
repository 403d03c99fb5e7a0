package yarn

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

const capacityPrefix = "yarn.scheduler.capacity."

// newCapacity makes the CapacityScheduler from the properties of
// yarn-site.xml and capacity-scheduler.xml (CapacitySchedulerConfiguration,
// CapacitySchedulerQueueManager).
func newCapacity(r *reader, l Listener) (Scheduler, error) {
	s := &capacity{
		cluster:         newCluster(l, r),
		paths:           make(map[string]*capacityQueue),
		nodeDelay:       int(r.whole(capacityPrefix+"node-locality-delay", r.release.LocalityDelay)),
		rackDelay:       int(r.whole(capacityPrefix+"rack-locality-additional-delay", -1)),
		rackFullReset:   r.flag(capacityPrefix+"rack-locality-full-reset", true),
		continueLooking: r.flag(capacityPrefix+"reservations-continue-look-all-nodes", true),
		multiple:        r.flag(capacityPrefix+"per-node-heartbeat.multiple-assignments-enabled", true),
		perBeat:         int(r.whole(capacityPrefix+"per-node-heartbeat.maximum-container-assignments", 100)),
		offPerBeat:      int(r.whole(capacityPrefix+"per-node-heartbeat.maximum-offswitch-assignments", 1)),
		maxPriority:     int32(r.whole("yarn.cluster.max-application-priority", 0)),
		maxApps:         int(r.whole(capacityPrefix+"maximum-applications", 10000)),
	}
	for _, key := range sortedKeys(r.p) {
		if strings.Contains(key, ".user-settings.") && strings.HasSuffix(key, ".weight") {
			r.weighted = append(r.weighted, key)
		}
	}
	if !r.release.Capacity28 {
		s.perBeat = -1
	}
	s.least, s.most = r.bounds()
	s.calc = r.calculator(capacityPrefix + "resource-calculator")
	s.limits = newAppLimits(r.parallelApps(), func(a *App) *appLimit { return a.capacity.leaf.q.limit }, func(a *App) { a.capacity.leaf.submit(a) })
	s.root = s.read(r, nil, "root", "root")
	if len(s.root.children) == 0 {
		r.fail(capacityPrefix+"root.queues", "at least one queue")
	}
	s.unique()
	monitor := s.readPreemption(r)
	if r.err != nil {
		return nil, r.err
	}
	if monitor != nil {
		monitor.start()
	}
	return s, nil
}

const (
	monitorEnabled   = "yarn.resourcemanager.scheduler.monitor.enable"
	preemptionPrefix = "yarn.resourcemanager.monitor.capacity.preemption."
)

// readPreemption makes the preemption monitor, if it is enabled
// (CapacitySchedulerConfiguration.PREEMPTION_...).
func (s *capacity) readPreemption(r *reader) *preemption {
	const prefix, ms = preemptionPrefix, int64(1e6)
	if !r.flag(monitorEnabled, false) {
		return nil
	}
	p := &preemption{
		s: s, chosen: make(map[*Container]int64),
		interval:    r.whole(prefix+"monitoring_interval", 3000) * ms,
		wait:        r.whole(prefix+"max_wait_before_kill", 15000) * ms,
		ignored:     r.double(prefix+"max_ignored_over_capacity", 0.1, 64),
		termination: r.double(prefix+"natural_termination_factor", 0.2, 64),
		perRound:    r.number(prefix+"total_preemption_per_round", 0.1),
		observe:     r.flag(prefix+"observe_only", false),
		whole:       r.flag(prefix+"conservative-drf", false),
		within:      s.readIntraQueue(r),
	}
	if r.flag(prefix+"select_based_on_reserved_containers", false) {
		p.selectors = append(p.selectors, selector{wait: p.wait, reserved: true, choose: (*preemption).chooseOnNodes})
	}
	also := r.flag(prefix+"additional_res_balance_based_on_reserved_containers", false)
	p.selectors = append(p.selectors, selector{wait: p.wait, reserved: also, choose: (*preemption).chooseLast})
	const beyond = prefix + "preemption-to-balance-queue-after-satisfied."
	if r.flag(beyond+"enabled", false) {
		wait := r.whole(beyond+"max-wait-before-kill", 300_000) * ms
		p.selectors = append(p.selectors, selector{wait: wait, beyond: true, choose: (*preemption).chooseLast})
	}
	return p
}

func (r *reader) calculator(key string) calculator {
	const pack = "org.apache.hadoop.yarn.util.resource."
	switch r.text(key, pack+"DefaultResourceCalculator") {
	case pack + "DefaultResourceCalculator":
		return memoryOnly
	case pack + "DominantResourceCalculator":
		return dominant
	}
	r.fail(key, pack+"DefaultResourceCalculator or "+pack+"DominantResourceCalculator")
	return memoryOnly
}

// read makes a queue and all below it.
func (s *capacity) read(r *reader, parent *capacityQueue, name, path string) *capacityQueue {
	key := func(k string) string { return capacityPrefix + path + "." + k }
	q := &capacityQueue{s: s, name: name, path: path, parent: parent, preemptable: true, intraPreemptable: true}
	s.readCapacity(r, q, key)
	q.priority = int32(r.whole(key("priority"), 0))
	s.readLargest(r, q, key)
	if parent != nil {
		q.preemptable, q.intraPreemptable = parent.preemptable, parent.intraPreemptable
	}
	q.preemptable = !r.flag(key("disable_preemption"), !q.preemptable)
	q.intraPreemptable = !r.flag(key("intra-queue-preemption.disable_preemption"), !q.intraPreemptable)
	var up *appLimit
	if parent != nil {
		up = parent.limit
	}
	q.limit = newAppLimit(up, path, int(r.whole(key("max-parallel-apps"), r.whole(capacityPrefix+"max-parallel-apps", math.MaxInt32))))
	s.paths[path] = q
	names := r.list(key("queues"))
	if len(names) == 0 && parent != nil {
		s.readLeaf(r, q, key)
		return q
	}
	switch r.text(key("ordering-policy"), "") {
	case "utilization":
	case "priority-utilization":
		q.byPriority = true
	case "": // as the queue above it
		q.byPriority = parent != nil && parent.byPriority
	default:
		r.fail(key("ordering-policy"), "utilization or priority-utilization")
	}
	for _, n := range names {
		q.children = append(q.children, s.read(r, q, n, path+"."+n))
	}
	q.checkSum(r)
	return q
}

// readLargest reads the largest allocation of a queue, by default that of the queue above it
// (AbstractCSQueue.setupMaximumAllocation).
func (s *capacity) readLargest(r *reader, q *capacityQueue, key func(string) string) {
	q.largest = s.most
	if q.parent != nil {
		q.largest = q.parent.largest
	}
	const undefined = -1 // also where it is stated
	if n := r.whole(key("maximum-allocation-mb"), undefined); n != undefined {
		q.largest.MemoryMiB = n
	}
	if n := r.whole(key("maximum-allocation-vcores"), undefined); n != undefined {
		q.largest.VCores = n
	}
	switch {
	case q.largest.MemoryMiB > s.most.MemoryMiB:
		r.fail(key("maximum-allocation-mb"), fmt.Sprintf("at most yarn.scheduler.maximum-allocation-mb (%d)", s.most.MemoryMiB))
	case q.largest.VCores > s.most.VCores:
		r.fail(key("maximum-allocation-vcores"), fmt.Sprintf("at most yarn.scheduler.maximum-allocation-vcores (%d)", s.most.VCores))
	}
	q.leastFactor = s.calc.ratio(q.largest.Minus(s.least), q.largest)
}

// checkSum refuses children whose percentages do not make 100 or are mixed with
// absolute resources (ParentQueue.setChildQueues). It names the first capacity that
// differs or is too much, else the last.
func (q *capacityQueue) checkSum(r *reader) {
	const precision = 0.0005
	var sum float32
	var at *capacityQueue
	var shares []string
	for _, c := range q.children {
		if (c.fixed != (Resource{})) != (q.children[0].fixed != (Resource{})) {
			r.fail(c.capacityKey(), fmt.Sprintf("all queues below %s in percent or all in resources", q.path))
			return
		}
		if sum <= 1+precision {
			at = c
		}
		sum += c.capacity
		shares = append(shares, fmt.Sprintf("%s %.4g", c.path, c.capacity*100))
	}
	switch {
	case at == nil || at.fixed != (Resource{}):
	case q.capacity > 0 && math.Abs(float64(sum-1)) > precision:
		r.fail(at.capacityKey(), fmt.Sprintf("capacities below %s that sum to 100, not to %.4g: %s", q.path, sum*100, strings.Join(shares, ", ")))
	case q.capacity == 0 && sum > 0:
		r.fail(at.capacityKey(), fmt.Sprintf("0, as %s has", q.path))
	}
}

func (q *capacityQueue) capacityKey() string { return capacityPrefix + q.path + ".capacity" }

// readCapacity reads a queue's share and its maximum: percentages of the parent, or
// amounts in brackets.
func (s *capacity) readCapacity(r *reader, q *capacityQueue, key func(string) string) {
	up, upTo := float32(1), float32(1)
	if q.parent != nil {
		up, upTo = q.parent.absolute, q.parent.absoluteTo
	}
	if v := r.text(key("capacity"), ""); q.parent != nil && r.release.QueueAmounts && strings.HasPrefix(v, "[") {
		q.fixed = r.amount(key("capacity"))
		q.fixedMost = r.amount(key("maximum-capacity"))
		if most := q.fixedMost; most != (Resource{}) && !q.fixed.Within(most) {
			r.fail(key("maximum-capacity"), "at least the capacity")
		}
		return
	}
	q.capacity = 1
	if q.parent != nil {
		q.capacity = r.percent(key("capacity"), 0)
		if strings.HasPrefix(r.text(key("capacity"), ""), "-") {
			r.fail(key("capacity"), "a percentage from 0 to 100")
		}
	}
	q.most = 1
	if m := r.percent(key("maximum-capacity"), -1); m >= 0 {
		q.most = m
	}
	q.absolute, q.absoluteTo = q.capacity*up, q.most*upTo
	if q.absolute > q.absoluteTo {
		r.fail(key("maximum-capacity"), "at least the capacity")
	}
}

// percent reads a percentage as a fraction; without it it returns the default.
func (r *reader) percent(key string, unset float32) float32 {
	v := r.text(key, "")
	if v == "" {
		return unset
	}
	f, err := parseNumber(strings.TrimSuffix(v, "%"), 32)
	if err != nil || f > 100 {
		r.fail(key, "a percentage")
	}
	if f < 0 {
		return unset
	}
	return float32(f) / 100
}

// amount reads "[memory=10240,vcores=10]".
func (r *reader) amount(key string) Resource {
	v := strings.Trim(r.text(key, ""), "[]")
	var out Resource
	for _, part := range strings.Split(v, ",") {
		name, n, ok := strings.Cut(part, "=")
		if !ok {
			continue
		}
		amount, err := strconv.ParseInt(strings.TrimSpace(n), 10, 64)
		switch strings.TrimSpace(name) {
		case "memory", "memory-mb":
			out.MemoryMiB = amount
		case "vcores":
			out.VCores = amount
		}
		if err != nil {
			r.fail(key, "amounts like [memory=10240,vcores=10]")
		}
	}
	return out
}

// readLeaf reads what concerns the applications of a queue (LeafQueue.setupQueueConfigs).
func (s *capacity) readLeaf(r *reader, q *capacityQueue, key func(string) string) {
	l := &capacityLeaf{q: q, users: newCapacityUsers(q)}
	q.leaf = l
	l.amPercent = r.number(key("maximum-am-resource-percent"), r.number(capacityPrefix+"maximum-am-resource-percent", 0.1))
	l.users.percent = float32(r.whole(key("minimum-user-limit-percent"), 100))
	l.users.factor = r.number(key("user-limit-factor"), 1)
	l.users.weights = r.weights(q.path, l.users.percent)
	switch r.text(key("ordering-policy"), "fifo") {
	case "fifo":
	case "fair":
		l.fair = true
		l.bySize = r.flag(key("ordering-policy.fair.enable-size-based-weight"), false)
	default:
		r.fail(key("ordering-policy"), "fifo or fair")
	}
	l.statedApps = int(r.whole(key("maximum-applications"), -1))
	switch state := r.text(key("state"), "RUNNING"); state {
	case "RUNNING":
	case "STOPPED", "DRAINING":
		l.stopped = true
	default:
		r.fail(key("state"), "RUNNING, STOPPED or DRAINING")
	}
	l.limitApps()
	s.leafs = append(s.leafs, l)
}

// limitApps sets how many applications a leaf takes, of all users and of one: from its
// share of the system's, unless it states a number
// (ParentQueue.deriveCapacityFromAbsoluteConfigurations).
func (l *capacityLeaf) limitApps() {
	l.maxApps = l.statedApps
	if l.maxApps < 0 {
		l.maxApps = int(float32(l.q.s.maxApps) * l.q.absolute)
	}
	l.maxAppsUser = min(l.maxApps, int(float32(l.maxApps)*(l.users.percent/100)*l.users.factor))
}

// parallelApps returns how many applications of a user may run at once
// (getMaxParallelAppsForUser).
func (r *reader) parallelApps() func(user string) int {
	const prefix, suffix = capacityPrefix + "user.", ".max-parallel-apps"
	usual := int(r.whole(prefix+suffix[1:], math.MaxInt32))
	most := make(map[string]int)
	for _, key := range sortedKeys(r.p) {
		if user, ok := strings.CutPrefix(key, prefix); ok {
			if user, ok := strings.CutSuffix(user, suffix); ok {
				most[user] = int(r.whole(key, math.MaxInt32))
			}
		}
	}
	return func(user string) int {
		if n, stated := most[user]; stated {
			return n
		}
		return usual
	}
}

// weights reads the weights of users of a leaf, of which those of nearer queues go first
// (AbstractCSQueue.getUserWeightsFromHierarchy).
func (r *reader) weights(path string, percent float32) map[string]float32 {
	out := make(map[string]float32)
	from := make(map[string]string)
	for end := range len(path) + 1 {
		if end < len(path) && path[end] != '.' {
			continue
		}
		prefix := capacityPrefix + path[:end] + ".user-settings."
		for _, key := range r.weighted {
			if user, ok := strings.CutPrefix(key, prefix); ok {
				user = strings.TrimSuffix(user, ".weight")
				out[user], from[user] = r.number(key, 1), key
			}
		}
	}
	for _, user := range sortedKeys(out) {
		if most := 100 / min(percent, 100); out[user] < 0 || out[user] > most {
			r.fail(from[user], fmt.Sprintf("from 0 to %v: 100 / minimum-user-limit-percent of %s", most, path))
		}
	}
	return out
}

// unique lets queues be named by their last part where only one queue has it.
func (s *capacity) unique() {
	count := make(map[string]int)
	for _, q := range s.paths {
		count[q.name]++
	}
	for _, path := range sortedKeys(s.paths) {
		if q := s.paths[path]; count[q.name] == 1 && q.path == path {
			s.paths[q.name] = q
		}
	}
}
