package model

import "time"

// YARN is what a question says of a cluster on YARN, beside what it says of any
// cluster: containers take the place of slots.
type YARN struct {
	Nodes       []Resource        // of each node of the cluster: yarn.nodemanager.resource.memory-mb, cpu-vcores
	Policy      string            // capacity, fair or fifo
	Properties  map[string]string // of yarn-site.xml and capacity-scheduler.xml
	Allocations *Allocations      // fair-scheduler.xml
	Costs       YARNCosts
}

// YARNCosts are durations of a platform on YARN beside those of any cluster.
type YARNCosts struct {
	AMLaunch  time.Duration // from the start of its container until an ApplicationMaster registers
	AMExit    time.Duration // of its process, after its last sleep
	Exit      time.Duration // of a task's process, after its last call
	Kill      time.Duration // of a process, after the order
	JobCommit time.Duration
	TaskAbort time.Duration
}

// YARNReleases are the releases of Hadoop whose ResourceManager is simulated.
var YARNReleases = []string{"3.3.6"}

// Allocations is the content of fair-scheduler.xml: settings of the whole, by element
// name, and the queues.
type Allocations struct {
	Settings map[string]string
	Queues   []AllocationQueue
	UserApps map[string]string // maxRunningApps of users
}

// AllocationQueue is one queue element: its own settings by element name, and the
// queues in it.
type AllocationQueue struct {
	Name     string
	Settings map[string]string
	Queues   []AllocationQueue
}
