package jobtracker

import (
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/run"
	"github.com/slotwave/slotwave/workload"
)

// speculativeLag is how old a job is when its tasks may be run a second time
// (TaskInProgress.SPECULATIVE_LAG).
const speculativeLag = engine.Time(60e9)

// speculation finds the lagging tasks of a job.
type speculation struct {
	job     *jobInProgress
	eng     *engine.Engine
	tasks   *taskTable
	hosts   *run.Splits
	racks   int // hosts of the cluster
	tracked [2]bool
	from    engine.Time // when the job is old enough for speculative attempts

	recorded [2]recordedSpeculation // recorded speculative attempts, which replace the rule
	progress [2]float32             // progress of the job, in single precision as in Hadoop
	losses   int32                  // changes whenever a running task loses progress or an attempt
	running  [2]taskQueue           // the running tasks by type
	sole     [2]soleAttempts        // those without a record
	byHost   mapsByHost             // the running maps by host
	timer    engine.Timer           // set for when the job is old enough
	timerSet bool
}

// open starts to watch a job that has just been initialised.
func (s *speculation) open(j *jobInProgress) {
	c := j.cluster
	s.eng, s.racks, s.from = c.Engine, len(c.Question.Cluster.Racks), c.Now()+speculativeLag
	s.job, s.tasks, s.hosts = j, &j.tasks, &j.pending.maps.hosts
	for k := range s.running {
		s.running[k] = taskQueue{running: s, kind: workload.Kind(k)}
	}
	s.byHost.unplaced.running = s
}

// close stops watching.
func (s *speculation) close() {
	if s.timerSet {
		s.timer.Stop()
	}
}

// add adds a task that has started to run (JobInProgress.scheduleMap,
// scheduleReduce).
func (s *speculation) add(t *taskInProgress) {
	if !s.tracked[t.kind] {
		return
	}
	s.queue(t.kind, launched{t.index, t.launches})
}

// queue adds a task to the running ones.
func (s *speculation) queue(k workload.Kind, l launched) {
	s.running[k].add(l)
	if k == workload.Map && s.byHost.sorted {
		s.byHost.sort(s, l)
	}
}

// bound returns the bound of a task's progress, and whether it has run without a
// break since it was launched.
func (s *speculation) bound(k workload.Kind, l launched) (low float32, runs bool) {
	t, sole := s.tasks.find(k, l.task)
	switch {
	case sole != nil:
		return s.sole[k].bound(sole), true
	case t == nil || t.launches != l.times || !t.running() || !t.runnable():
		return ended, false
	case t.isAlone():
		return float32(t.progress), true
	}
	return ended, true
}

// ranOn reports whether a running task has had an attempt on a tracker.
func (s *speculation) ranOn(k workload.Kind, l launched, tracker int32) bool {
	t, sole := s.tasks.find(k, l.task)
	if sole != nil {
		return sole.Node == tracker
	}
	return t.ranOn(tracker)
}

// advance adds the change of a task's progress to the job's, in increments as
// in Hadoop. Some task may lag now, or none any more.
func (s *speculation) advance(k workload.Kind, change float64) {
	j := s.job
	s.progress[k] = float32(float64(s.progress[k]) + change/float64(j.Tasks[k]))
	if change < 0 {
		s.losses++
	}
	if j.skipsLooks && j.Speculates[k] && unlaunched(&j.Job, k) == 0 && j.needs.has(needMap+need(k)) != j.anyLags(k) {
		j.settleNeeds()
	}
}

// average returns the job's progress.
func (s *speculation) average(k workload.Kind) float64 { return float64(s.progress[k]) }

func (s *speculation) pace(k workload.Kind) pace { return pace{s.average(k), s.losses} }

func (s *speculation) isOldEnough() bool { return s.eng.Now() >= s.from }

// anyLags reports whether some task lags, whether or not the job is old enough.
func (s *speculation) anyLags(k workload.Kind) bool {
	return s.running[k].lagging(s.pace(k), 0) >= 0
}

// setTimer sets a timer that fires when the job is old enough.
func (s *speculation) setTimer(id int32, call func(int32)) {
	s.timerSet = true
	s.timer = s.eng.NewTimer(engine.Submission, id, call)
	s.timer.Reset(s.from)
}

// countAll counts the lagging tasks of any job.
func (s *speculation) countAll(k workload.Kind) (n int) {
	if s.recorded[k].any() {
		return s.recorded[k].count(s)
	}
	for _, i := range s.tasks.active[k] {
		if t := s.tasks.at(k, i); t.running() && s.mayBeSpeculated(t, s.average(k)) {
			n++
		}
	}
	return n
}

// mayBeSpeculated implements TaskInProgress.hasSpeculativeTask.
func (s *speculation) mayBeSpeculated(t *taskInProgress, average float64) bool {
	return lags(t.progress, average) && s.isOldEnough() && t.isAlone()
}

// findReduce returns a lagging reduce (JobInProgress.findSpeculativeTask).
func (s *speculation) findReduce(tracker int32) (int32, bool) {
	if s.recorded[workload.Reduce].any() {
		return s.recorded[workload.Reduce].find(s, tracker)
	}
	if !s.isOldEnough() {
		return 0, false
	}
	return s.running[workload.Reduce].first(s.pace(workload.Reduce), tracker)
}

// findMap returns a lagging map from the lists of the tracker's node, its rack,
// the other racks, and last of the maps without hosts.
func (s *speculation) findMap(tracker int32) (int32, bool) {
	if s.recorded[workload.Map].any() {
		return s.recorded[workload.Map].find(s, tracker)
	}
	b := &s.byHost
	if !b.sorted {
		b.sortAll(s)
	}
	if index, ok := b.onNode(s, tracker); ok {
		return index, true
	}
	if !s.isOldEnough() || s.average(workload.Map) < speculativeGap {
		return 0, false
	}
	p, own := s.pace(workload.Map), s.job.cluster.Topology.RackOf[tracker]
	if index, ok := b.racks[own].first(p, tracker); ok {
		return index, true
	}
	for rack := range b.racks {
		if int32(rack) != own {
			if index, ok := b.racks[rack].first(p, tracker); ok {
				return index, true
			}
		}
	}
	return b.unplaced.first(p, tracker)
}

// mapsByHost are the running maps by node and by rack of their splits
// (JobInProgress.runningMapCache, nonLocalRunningMaps). They are sorted when a
// tracker first asks for them.
type mapsByHost struct {
	sorted   bool
	nodes    map[int32][]launched
	racks    []taskQueue // the last is that of hosts without a tracker
	unplaced taskQueue
}

func (b *mapsByHost) sort(s *speculation, l launched) {
	hosts := s.hosts.Of(l.task)
	if len(hosts) == 0 {
		b.unplaced.add(l)
	}
	for _, h := range hosts {
		if list := b.nodes[h.Node]; len(list) == 0 || list[len(list)-1] != l {
			b.nodes[h.Node] = append(list, l)
		}
		b.racks[h.Rack].add(l)
	}
}

// sortAll does the same for all maps that run.
func (b *mapsByHost) sortAll(s *speculation) {
	b.sorted, b.nodes, b.racks = true, make(map[int32][]launched), make([]taskQueue, s.racks+1)
	for i := range b.racks {
		b.racks[i].running = s
	}
	for _, l := range s.running[workload.Map].members {
		if _, runs := s.bound(workload.Map, l); runs {
			b.sort(s, l)
		}
	}
}

// onNode returns a lagging map from the list of a node. The node's own tracker
// removes the tasks that it has run itself.
func (b *mapsByHost) onNode(s *speculation, tracker int32) (int32, bool) {
	average, members := s.average(workload.Map), b.nodes[tracker]
	kept := members[:0]
	found := int32(-1)
	for i, l := range members {
		low, runs := s.bound(workload.Map, l)
		if !runs || s.ranOn(workload.Map, l, tracker) {
			continue
		}
		if lags(float64(low), average) && s.isOldEnough() {
			found = l.task
			kept = append(kept, members[i+1:]...)
			break
		}
		kept = append(kept, l)
	}
	if len(kept) < len(members) {
		b.nodes[tracker] = kept
	}
	return found, found >= 0
}
