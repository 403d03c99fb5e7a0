package mrapp

import (
	"cmp"
	"math"
	"slices"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/yarn"
	"github.com/slotwave/slotwave/workload"
)

// allocator decides which attempts wait for containers and which get them
// (RMContainerAllocator). Requests for maps are sent as soon as they come; reduces
// are pending until the ramp-up asks for them.
type allocator struct {
	requests requestor

	maps           queue // scheduled: asked for
	reduces        queue
	pending        queue // pendingReduces
	failedMaps     []*attempt
	onHost         map[int32][]*attempt      // mapsHostMapping
	onRack         map[yarn.Place][]*attempt // mapsRackMapping
	runningMaps    queue                     // assigned: their containers have not been reported ended
	runningReduces queue
	holder         []*attempt // that was given a container, by its number

	headroom    model.Resource
	lastEnded   int  // tasks that had ended at the last heartbeat
	recalculate bool // something has changed since
	started     bool // slowstart has been reached
	disordered  bool // maps do not wait in the order of their requests
}

// runningOf returns the list of the attempts that hold containers.
func (a *allocator) runningOf(t *attempt) *queue {
	if t.isMap() {
		return &a.runningMaps
	}
	return &a.runningReduces
}

// ask takes the request of a new attempt (handleMapContainerRequest,
// handleReduceContainerRequest). After a failure a map asks for any node at the
// priority of failed maps, and a reduce goes to the head of the pending ones.
func (a *AppMaster) ask(t *attempt, again bool) {
	if a.uber {
		a.local.add(a, t)
		return
	}
	a.recalculate = true
	t.asked = a.master.Now()
	if !a.fits(t.task.kind) {
		a.later(event{large: true})
		return
	}
	switch {
	case !t.isMap():
		t.request.priority = reducePrio
		if again {
			a.pending.pushFront(t)
		} else {
			a.pending.push(t)
		}
		return
	case again:
		t.request.priority = fastFailMap
		a.failedMaps = append(a.failedMaps, t)
	default:
		a.askNear(t)
	}
	a.maps.push(t)
	a.requests.add(&t.request)
}

// fits reports whether the scheduler gives out containers as large as a task needs.
func (a *AppMaster) fits(kind workload.Kind) bool {
	return a.requests.sizes[kind].Within(a.registered.Largest)
}

// askNear makes the request of a map at the hosts of its split.
func (a *AppMaster) askNear(t *attempt) {
	q := &t.request
	q.priority = mapPrio
	for _, node := range a.job.Hosts[t.task.index] {
		if slices.Contains(q.hosts, node) {
			continue
		}
		q.hosts = append(q.hosts, node)
		a.onHost[node] = append(a.onHost[node], t)
		if rack := a.master.RackOf(node); !slices.Contains(q.racks, rack) {
			q.racks = append(q.racks, rack)
			a.onRack[rack] = append(a.onRack[rack], t)
		}
	}
}

// withdraw takes the request of a killed attempt back (CONTAINER_DEALLOCATE). That of
// a pending reduce stays: Hadoop does not look for it there.
func (a *AppMaster) withdraw(t *attempt) {
	a.recalculate = true
	if t.queued == &a.maps || t.queued == &a.reduces {
		t.queued.remove(t)
		a.requests.drop(&t.request)
	}
}

// Beat is the heartbeat to the ResourceManager.
func (a *AppMaster) Beat() {
	if a.uber { // LocalContainerAllocator
		a.master.Allocate(yarn.AllocateRequest{})
		return
	}
	a.speculator.wake()
	a.limitRunning()
	before := a.headroom
	answer := a.requests.heartbeat()
	a.headroom = answer.Headroom
	if len(answer.Granted)+len(answer.Ended) > 0 || a.headroom != before {
		a.recalculate = true
	}
	a.requests.weighBlacklist()
	a.updateNodes(answer.Nodes)
	for _, e := range answer.Ended {
		a.processFinished(e)
	}
	if len(answer.Granted) > 0 {
		a.assign(answer.Granted)
	}
	if n := a.endedMaps() + a.ended[workload.Reduce]; n != a.lastEnded || a.maps.len > 0 {
		a.lastEnded = n
		a.recalculate = true
	}
	if a.recalculate {
		if !a.preemptIfNeeded() {
			a.scheduleReduces()
		}
		a.recalculate = false
	}
	a.settle()
}

// limitRunning caps what is asked for where the job limits its running tasks
// (applyConcurrentTaskLimits).
func (a *AppMaster) limitRunning() {
	s := &a.job.Settings
	if s.RunningMaps > 0 && a.maps.len > 0 && len(a.maptasks) > s.RunningMaps {
		most := max(0, s.RunningMaps-a.runningMaps.len)
		again := min(most, len(a.failedMaps))
		a.requests.limit(fastFailMap, int32(again))
		a.requests.limit(mapPrio, int32(min(most-again, a.maps.len-len(a.failedMaps))))
	}
	if s.RunningReduces > 0 && a.reduces.len > 0 && len(a.reducetasks) > s.RunningReduces {
		most := max(0, s.RunningReduces-a.runningReduces.len)
		a.requests.limit(reducePrio, int32(min(most, a.reduces.len)))
	}
}

// updateNodes kills what runs on nodes that were lost, and completed maps whose output
// is lost with them while reduces need it (handleUpdatedNodes,
// JobImpl.actOnUnusableNode).
func (a *AppMaster) updateNodes(reports []yarn.NodeReport) {
	if len(reports) == 0 {
		return
	}
	lost := map[int32]bool{}
	for _, r := range reports {
		if !r.Usable {
			lost[r.Node] = true
		}
	}
	a.later(event{lost: reports})
	for t := a.runningMaps.first; t != nil; t = t.after {
		if lost[t.container.Node] {
			a.later(event{kill: t, again: true})
		}
	}
	for t := a.runningReduces.first; t != nil; t = t.after {
		if lost[t.container.Node] {
			a.later(event{kill: t})
		}
	}
}

// loseMaps kills the successful maps of lost nodes while the job runs and reduces have
// not all ended.
func (a *AppMaster) loseMaps(reports []yarn.NodeReport) {
	if a.state != jobRunning || a.ended[workload.Reduce] == len(a.reducetasks) {
		return
	}
	for _, r := range reports {
		if r.Usable {
			continue
		}
		for _, t := range a.successes[r.Node] {
			a.later(event{kill: t, again: true})
		}
	}
}

// processFinished takes an ended container out of the books at once; what its attempt
// makes of that follows after the heartbeat (processFinishedContainer).
func (a *AppMaster) processFinished(e yarn.Ended) {
	t := a.attemptIn(e.Container)
	if t == nil {
		return // it was released
	}
	a.runningOf(t).remove(t)
	a.later(event{ended: t, exit: e.Exit})
}

// assign deals granted containers to waiting attempts (ScheduledRequests.assign):
// useless ones and those on blacklisted nodes go back, failed maps and reduces take
// theirs first, and maps the rest: by host, by rack, then any, each over the whole
// batch.
func (a *AppMaster) assign(granted []*yarn.Container) {
	rest := make([]*yarn.Container, 0, len(granted))
	waiting := a.reduces.len
	for _, c := range granted {
		switch {
		case !a.useful(c, &waiting):
			a.requests.release(c)
		case a.requests.blacklisted(c.Node):
			a.refile(c)
			a.requests.release(c)
		default:
			rest = append(rest, c)
		}
	}
	rest = a.deal(rest, a.withoutLocality)
	rest = a.deal(rest, a.nearHost)
	rest = a.deal(rest, a.nearRack)
	rest = a.deal(rest, a.anyMap)
	for _, c := range rest {
		a.requests.release(c)
	}
}

// useful reports whether a container is of a kind that waits and large enough.
// waiting is the number of reduces that may still take one of this batch.
func (a *AppMaster) useful(c *yarn.Container, waiting *int) bool {
	switch c.Priority {
	case fastFailMap, mapPrio:
		return a.maps.len > 0 && a.containers(c.Size, workload.Map) > 0
	case reducePrio:
		if *waiting <= 0 || a.containers(c.Size, workload.Reduce) <= 0 {
			return false
		}
		if a.job.Release.CountReduces {
			*waiting--
		}
		return true
	}
	return false
}

// refile moves one waiting request of a container's kind away from its blacklisted
// node (getContainerReqToReplace, getFilteredContainerRequest).
func (a *AppMaster) refile(c *yarn.Container) {
	t := a.toRefile(c)
	if t == nil {
		return
	}
	a.requests.drop(&t.request)
	t.asked = a.master.Now()
	t.request.hosts = slices.DeleteFunc(t.request.hosts, a.requests.blacklisted)
	if c.Priority != fastFailMap {
		q := t.queued
		q.remove(t)
		q.push(t)
	} else {
		a.disordered = true
	}
	a.requests.add(&t.request)
}

func (a *AppMaster) toRefile(c *yarn.Container) *attempt {
	switch c.Priority {
	case fastFailMap:
		for _, t := range a.failedMaps {
			if t.queued == &a.maps {
				return t
			}
		}
		return nil
	case reducePrio:
		return a.reduces.first
	}
	list := a.onHost[c.Node]
	if len(list) == 0 {
		return a.maps.first
	}
	t := list[len(list)-1]
	a.onHost[c.Node] = list[:len(list)-1]
	if t.queued != &a.maps {
		return nil
	}
	return t
}

// deal gives each container to the attempt that pick names for it and returns the
// containers for which it names none.
func (a *AppMaster) deal(granted []*yarn.Container, pick func(*yarn.Container) *attempt) []*yarn.Container {
	rest := granted[:0]
	for _, c := range granted {
		if t := pick(c); t != nil {
			a.give(c, t)
		} else {
			rest = append(rest, c)
		}
	}
	return rest
}

// give assigns a container (containerAssigned). All counts of the request sink,
// whatever brought the container.
func (a *AppMaster) give(c *yarn.Container, t *attempt) {
	t.queued.remove(t)
	a.requests.drop(&t.request)
	t.container = c
	a.runningOf(t).push(t)
	for int(c.Number) >= len(a.holder) {
		a.holder = append(a.holder, nil)
	}
	a.holder[c.Number] = t
	a.later(event{assigned: t})
}

// withoutLocality serves failed maps and reduces (assignWithoutLocality).
func (a *AppMaster) withoutLocality(c *yarn.Container) *attempt {
	switch {
	case c.Priority == fastFailMap:
		return a.nextWaiting(&a.failedMaps)
	case c.Priority == reducePrio && a.mayRunReduce():
		return a.reduces.first
	}
	return nil
}

func (a *AppMaster) nearHost(c *yarn.Container) *attempt {
	list := a.onHost[c.Node]
	t := a.nextWaiting(&list)
	a.onHost[c.Node] = list
	return t
}

func (a *AppMaster) nearRack(c *yarn.Container) *attempt {
	rack := a.master.RackOf(c.Node)
	list := a.onRack[rack]
	t := a.nextWaiting(&list)
	a.onRack[rack] = list
	return t
}

func (a *AppMaster) anyMap(*yarn.Container) *attempt {
	if !a.mayRunMap() {
		return nil
	}
	return a.maps.first
}

// nextWaiting takes the first attempt from a list that still waits for a container.
func (a *AppMaster) nextWaiting(list *[]*attempt) *attempt {
	for len(*list) > 0 && a.maps.len > 0 && a.mayRunMap() {
		t := (*list)[0]
		*list = (*list)[1:]
		if t.queued == &a.maps {
			return t
		}
	}
	return nil
}

func (a *AppMaster) mayRunMap() bool {
	most := a.job.Settings.RunningMaps
	return most <= 0 || a.runningMaps.len < most
}

func (a *AppMaster) mayRunReduce() bool {
	most := a.job.Settings.RunningReduces
	return most <= 0 || a.runningReduces.len < most
}

// containers returns how many containers of a kind fit into an amount
// (ResourceCalculatorUtils.computeAvailableContainers). Virtual cores count if the
// scheduler counts them.
func (a *AppMaster) containers(in model.Resource, kind workload.Kind) int64 {
	size := a.requests.sizes[kind]
	n := ratio(in.MemoryMiB, size.MemoryMiB)
	if a.registered.VCores {
		n = min(n, ratio(in.VCores, size.VCores))
	}
	return n
}

func ratio(in, size int64) int64 {
	if size == 0 {
		return math.MaxInt32
	}
	return in / size
}

// reducesFor returns how many reduces hold at least an amount
// (divideAndCeilContainers).
func (a *AppMaster) reducesFor(amount model.Resource) int64 {
	size := a.requests.sizes[workload.Reduce]
	n := ceil(amount.MemoryMiB, size.MemoryMiB)
	if a.registered.VCores {
		n = max(n, ceil(amount.VCores, size.VCores))
	}
	return n
}

func ceil(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	return (a + (b - 1)) / b
}

// share returns a part of an amount, truncated (Resources.multiply).
func share(r model.Resource, by float32) model.Resource {
	return model.Resource{
		MemoryMiB: int64(float64(r.MemoryMiB) * float64(by)),
		VCores:    int64(float64(r.VCores) * float64(by)),
	}
}

// limit is what the job has and may still get (getResourceLimit).
func (a *AppMaster) limit() model.Resource {
	return a.headroom.
		Plus(a.requests.sizes[workload.Map].Times(int64(a.runningMaps.len))).
		Plus(a.requests.sizes[workload.Reduce].Times(int64(a.runningReduces.len)))
}

// scheduleReduces asks for reduces, or takes requests back, by the share of the maps
// that have ended and what the headroom allows.
func (a *AppMaster) scheduleReduces() {
	if a.pending.len == 0 {
		return
	}
	if a.started = a.slowstarted(); !a.started {
		return
	}
	if a.maps.len == 0 {
		a.rampUp(a.pending.len)
		return
	}
	mapSize, reduceSize := a.requests.sizes[workload.Map], a.requests.sizes[workload.Reduce]
	done := float32(a.endedMaps()) / float32(len(a.maptasks))
	limit := a.limit()
	forReduces := share(limit, min(done, a.job.Settings.RampUpLimit))
	forMaps := limit.Minus(forReduces)
	wanted := int64(a.maps.len + a.runningMaps.len)
	if a.containers(forMaps, workload.Map) >= wanted {
		forReduces = forReduces.Plus(forMaps.Minus(mapSize.Times(wanted)))
	}
	held := reduceSize.Times(int64(a.reduces.len + a.runningReduces.len))
	n := a.containers(forReduces.Minus(held), workload.Reduce)
	if n > 0 {
		a.rampUp(int(min(n, int64(a.pending.len))))
	} else {
		a.rampDown(int(min(-n, int64(a.reduces.len))))
	}
}

// slowstarted reports whether enough maps have ended for the first reduce.
func (a *AppMaster) slowstarted() bool {
	return a.started || a.endedMaps() >= int(math.Ceil(float64(a.job.Settings.Slowstart*float32(len(a.maptasks)))))
}

// rampUp asks for the first n pending reduces.
func (a *AppMaster) rampUp(n int) {
	for range n {
		t := a.pending.first
		a.pending.remove(t)
		a.reduces.push(t)
		a.requests.add(&t.request)
	}
}

// rampDown makes n of the reduces that are asked for pending again.
func (a *AppMaster) rampDown(n int) {
	for range n {
		t := a.reduces.first
		a.reduces.remove(t)
		a.requests.drop(&t.request)
		a.pending.push(t)
	}
}

// preemptIfNeeded kills reduces if they hold everything while maps wait and none runs
// (preemptReducesIfNeeded). It reports whether it has acted.
func (a *AppMaster) preemptIfNeeded() bool {
	if len(a.reducetasks) == 0 || a.runningMaps.len > 0 || a.maps.len == 0 {
		return false
	}
	if d := a.job.Settings.UnconditionalDelay; d >= 0 {
		if n := a.hanging(d); n > 0 {
			a.preempt(n)
			return true
		}
	}
	free := a.headroom
	if a.job.Release.ScheduledReduces {
		free = free.Minus(a.requests.sizes[workload.Reduce].Times(int64(a.reduces.len)))
	}
	if a.containers(free, workload.Map) > 0 {
		return false
	}
	if n := a.hanging(a.job.Settings.PreemptDelay); n > 0 {
		a.preempt(n)
		return true
	}
	return false
}

// hanging counts the maps that have waited for longer than a delay
// (getNumHangingRequests), as far as it matters to preempt. Maps wait in the order of
// their requests, unless one on a blacklisted node was made anew in its place.
func (a *AppMaster) hanging(delay engine.Time) int {
	if delay <= 0 {
		return a.maps.len
	}
	n, most := 0, 1
	if a.runningReduces.len > 0 {
		most = a.maps.len
	}
	for t := a.maps.first; t != nil && n < most; t = t.after {
		if a.master.Now()-t.asked > delay {
			n++
		} else if !a.disordered {
			break
		}
	}
	return n
}

// preempt takes all requests for reduces back and kills the running reduces that have
// come least far: enough for one map or the preemption limit, at most for all maps
// that wait (preemptReducer).
func (a *AppMaster) preempt(waiting int) {
	a.rampDown(a.reduces.len)
	size := a.requests.sizes[workload.Map]
	least := max(a.reducesFor(size), a.reducesFor(share(a.limit(), a.job.Settings.PreemptionLimit)))
	n := min(least, a.reducesFor(size.Times(int64(waiting))))
	var running []*attempt
	for t := a.runningReduces.first; t != nil; t = t.after {
		running = append(running, t)
	}
	slices.SortStableFunc(running, func(x, y *attempt) int {
		return cmp.Compare(a.progress(x), a.progress(y))
	})
	for _, t := range running[:min(int(n), len(running))] {
		a.later(event{kill: t})
	}
}
