package jobtracker

import (
	"slices"

	"github.com/slotwave/slotwave/scheduler"
	"github.com/slotwave/slotwave/workload"
)

// pendingTasks are the maps and reduces of a job that can be launched.
type pendingTasks struct {
	tasks   *taskTable
	maps    mapCache
	reduces taskLists
	retries [2][]int32 // 1.x: tasks that failed, most failures first
	search  search
}

// search is a search for a task that a tracker can run.
type search struct {
	tasks      *taskTable
	kind       workload.Kind
	tracker    int32
	hosts      int  // hosts of the cluster
	failing    bool // the job has been given up
	dropFailed bool // remove tasks that failed on this tracker
	onNode     bool // the map found lies on the tracker's node
	inRack     bool // it was found among those of the tracker's rack
}

// decide returns the test inside JobInProgress.findTaskFromList.
func (s *search) decide(index int32) decision {
	if s.tasks.gone(s.kind, index) {
		return drop
	}
	t := s.tasks.at(s.kind, index)
	switch {
	case t == nil && s.failing:
		return drop
	case t == nil:
		return take
	case !t.runnable() || t.running():
		return drop
	case !t.refuses(s.tracker, s.hosts):
		return take
	case s.dropFailed:
		return drop
	}
	return pass
}

// searchFor starts a search for a task.
func (p *pendingTasks) searchFor(k workload.Kind, tracker int32, hosts int, failing bool) *search {
	s := &p.search
	s.tasks, s.kind, s.tracker, s.hosts, s.failing = p.tasks, k, tracker, hosts, failing
	s.dropFailed, s.onNode, s.inRack = false, false, false
	return s
}

// unlaunched returns the number of tasks of a job without an attempt.
func unlaunched(j *scheduler.Job, k workload.Kind) int {
	return j.Tasks[k] - j.Finished[k] - j.ActiveTasks[k] - j.FailedTasks[k]
}

// retry takes the first task from those that failed.
func (p *pendingTasks) retry(s *search) (int32, bool) {
	if len(p.retries[s.kind]) == 0 {
		return 0, false
	}
	rest, found := searchSlice(p.retries[s.kind], s)
	p.retries[s.kind] = rest
	return found, found >= 0
}

// putBack makes a task available again (JobInProgress.failMap, failReduce).
func (p *pendingTasks) putBack(t *taskInProgress, failedList bool) {
	switch {
	case t.failed:
	case failedList:
		list := &p.retries[t.kind]
		at, _ := slices.BinarySearchFunc(*list, t, func(index int32, t *taskInProgress) int {
			if d := t.failures - p.tasks.at(t.kind, index).failures; d != 0 {
				return int(d)
			}
			return int(index - t.index)
		})
		*list = slices.Insert(*list, at, t.index)
	case t.kind == workload.Reduce:
		p.reduces.putFront(0, t.index)
	default:
		p.maps.putFront(t.index)
	}
}

// near reports whether only maps close to their data are asked for.
func near(r scheduler.Reach) bool { return r == scheduler.OnNode || r == scheduler.InRack }
