// Package mrapp is MapReduce's ApplicationMaster on YARN (MRAppMaster): what it
// asks the ResourceManager for and when, which task gets which container, what it
// makes of failures, slow tasks and lost nodes, and how a job ends. Classes that
// comments name are those of Hadoop 3.3.6 unless a release is given.
package mrapp

import (
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
	"github.com/slotwave/slotwave/workload"
)

// Job is a MapReduce job as its client submits it.
type Job struct {
	ID         int
	Spec       *workload.Job
	Hosts      [][]int32 // of each map: nodes that hold its input
	Topology   *execute.Topology
	MapSize    model.Resource // of a map's container
	ReduceSize model.Resource
	AMSize     model.Resource
	BlockBytes int64 // dfs.blocksize, the most that an uber job reads
	Settings   Settings
	Costs      Costs
	Release    *model.YARNRelease
	Executor   *Executor
	Recorder   Recorder
	History    *History // shared by the attempts of its ApplicationMaster
}

// History holds what a job's ApplicationMasters have written into its history file: the
// tasks that have succeeded, with the node of the attempt. The next ApplicationMaster
// recovers them (MRAppMaster.processRecovery). It is read, not recorded.
type History struct {
	succeeded [2][]int32 // by task: the node + 1; 0: no success
}

// add notes a success of one of n tasks.
func (h *History) add(k *task, n int, node int32) {
	if h.succeeded[k.kind] == nil {
		h.succeeded[k.kind] = make([]int32, n)
	}
	h.succeeded[k.kind][k.index] = node + 1
}

// remove takes the success of a lost map back.
func (h *History) remove(k *task) { h.succeeded[k.kind][k.index] = 0 }

// node returns where a task has succeeded, if it has.
func (h *History) node(k *task) (node int32, ok bool) {
	if list := h.succeeded[k.kind]; list != nil {
		node = list[k.index] - 1
		return node, node >= 0
	}
	return 0, false
}

// Costs are durations that the platform decides, not the ApplicationMaster's rules.
type Costs struct {
	Setup     engine.Time // of the job, by its committer
	Commit    engine.Time // of a task
	Exit      engine.Time // of a child's process, after its last call
	Abort     engine.Time // of a task, by the committer
	JobCommit engine.Time // or abort
	AMExit    engine.Time // of the ApplicationMaster's process, after its last sleep
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
	Run       *execute.Attempt // to be closed by the recorder (execute.Execution)
	Kind      workload.Kind
	Task      int32
	Node      int32
	Locality  workload.Locality // of a map
	Attempt   int32             // from 0; those of the n-th ApplicationMaster from 1000 (n - 1)
	Container int32             // 0: inside the ApplicationMaster (uber)
	Lane      int32             // of the container on its node
	Asked     engine.Time       // its container was asked for
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
	Speculative  int // attempts
	State        workload.State
}
