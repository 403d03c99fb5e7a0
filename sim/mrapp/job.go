// Package mrapp is MapReduce's ApplicationMaster on YARN (MRAppMaster): what it
// asks the ResourceManager for and when, which task gets which container, what it
// makes of failures, slow tasks and lost nodes, and how a job ends. Classes that
// comments name are those of Hadoop 3.3.6 unless a release is given.
package mrapp

import (
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/workload"
)

// Job is a MapReduce job as its client submits it.
type Job struct {
	Hosts      [][]int32 // of each map: nodes that hold its input
	Reduces    int
	MapSize    model.Resource // of a map's container
	ReduceSize model.Resource
	AMSize     model.Resource
	InputBytes int64 // of all maps
	BlockBytes int64 // dfs.blocksize, the most that an uber job reads
	Settings   Settings
	Costs      Costs
	Release    Release
	Tasks      Tasks
	Recorder   Recorder
}

// Costs are durations that the platform decides, not the ApplicationMaster's rules.
type Costs struct {
	Setup     engine.Time // of the job, by its committer
	Launch    engine.Time // from startContainers until the child asks for its task
	Commit    engine.Time // of a task
	Exit      engine.Time // of a child's process, after its last call
	Abort     engine.Time // of a task, by the committer
	JobCommit engine.Time // or abort
	AMExit    engine.Time // of the ApplicationMaster's process, after its last sleep
}

// Tasks says how long attempts work.
type Tasks interface {
	// Work returns the times of an attempt on a node. Attempts are counted from 0
	// within the attempt of the ApplicationMaster.
	Work(kind workload.Kind, task, attempt, node int32) Work
}

// Work holds the times of one attempt.
type Work struct {
	Locality workload.Locality // of a map
	Map      engine.Time       // of a map, without its commit
	Shuffle  engine.Time       // of a reduce, once it knows all maps
	Sort     engine.Time
	Reduce   engine.Time
	Fails    engine.Time // after its begin; engine.Never: it does not
}

// Recorder takes what has happened.
type Recorder interface {
	Attempt(AttemptRecord)
	Job(JobRecord)
}

// None marks an instant of a record that has not come.
const None engine.Time = -1

// AttemptRecord is an attempt that was launched. Its times are those of its process.
type AttemptRecord struct {
	Kind      workload.Kind
	Task      int32
	Attempt   int32 // from 0; those of the n-th ApplicationMaster from 1000 (n - 1)
	Container int32 // 0: inside the ApplicationMaster (uber)
	Node      int32
	Locality  workload.Locality // of a map
	Launched  engine.Time
	Begun     engine.Time    // the child has its task
	MapsKnown engine.Time    // of a reduce: it has learnt of all maps
	Pending   engine.Time    // it asked to commit
	Done      engine.Time    // its last call, or it was killed
	State     workload.State // Running: its node died
}

// JobRecord is a job at the end of its ApplicationMaster.
type JobRecord struct {
	Registered   engine.Time
	Inited       engine.Time
	Finished     engine.Time // last commit or abort done
	Unregistered engine.Time
	Uber         bool
	State        workload.State
}
