package jobtracker

// trackerFailures counts the failures of a job's attempts by tracker. A tracker
// with too many gets no more tasks of the job
// (JobInProgress.trackerToFailuresMap).
type trackerFailures struct {
	failures    map[int32]int
	flaky       int // trackers that have failed too often
	most        int // mapred.max.tracker.failures
	clusterSize int // trackers when the job was last offered one
}

const maxFlaky = 0.25 // share of the cluster

// refuses reports whether the job gives a tracker no tasks
// (JobInProgress.shouldRunOnTaskTracker).
func (f *trackerFailures) refuses(tracker int32) bool {
	return f.failures != nil && float64(f.flaky) < float64(f.clusterSize)*maxFlaky && f.isFlaky(tracker)
}

func (f *trackerFailures) isFlaky(tracker int32) bool { return f.failures[tracker] >= f.most }

// add records a failure (JobInProgress.addTrackerTaskFailure).
func (f *trackerFailures) add(tracker int32) {
	if float64(f.flaky) >= float64(f.clusterSize)*maxFlaky {
		return
	}
	if f.failures == nil {
		f.failures = make(map[int32]int)
	}
	f.failures[tracker]++
	if f.failures[tracker] == f.most {
		f.flaky++
	}
}
