package model

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/slotwave/slotwave/workload"
)

// Release is one release of Hadoop, described by the differences that matter to
// scheduling. The rows of the table come from its source code.
type Release struct {
	Name string

	HeartbeatMin  time.Duration // MRConstants.HEARTBEAT_INTERVAL_MIN
	HeartbeatCeil bool          // whole seconds per started hundred of trackers, or in proportion
	HeartbeatConf bool          // mapred.heartbeats.in.second and the scaling factor are read

	OutOfBand      bool          // mapreduce.tasktracker.outofband.heartbeat is known
	FailedMapsList bool          // failed maps wait in one list by failures, not at the head of every locality list
	PerAttempt     bool          // running counts fall with each attempt, not with the task's last one
	FailedAreDone  bool          // failed tasks count for slowstart
	MeteredDemand  bool          // fair 2.0: a pool stops counting demand at its maximum
	CountAssigned  bool          // fair 2.0: what this heartbeat gave counts for the tracker's load
	AvoidsTrackers bool          // a tracker that many jobs blacklisted gets no more work
	WideTasks      bool          // capacity: a task that asks for much memory takes several slots
	CapacityPair   bool          // capacity: a map and a reduce a heartbeat instead of one task; maximum-capacity
	NoSpeculation  bool          // its speculation follows another rule, which is not simulated
	Capacity1      bool          // the capacity scheduler of 1.x
	CapacityFits   bool          // that scheduler accepts a request that exactly fills a queue
	FetchSleep     time.Duration // sleep of ReduceCopier.fetchOutputs when it finds nothing to fetch; 0: it is woken (0.21)
	CPUCounter     bool          // tasks count CPU_MILLISECONDS and MAP_OUTPUT_MATERIALIZED_BYTES
	Ideal          bool          // no protocol and no fixed costs

	YARN *YARNRelease // of Hadoop 2 and 3; nil: a JobTracker
}

// YARNRelease is what differs between releases of MapReduce on YARN. Only the rules of
// 3.3.6 are recorded; those of the other releases are read in their sources.
type YARNRelease struct {
	Recorded bool // decisions of a real one are reproduced; false: read in its source

	Lacks         []string // ends of the names of settings that it does not know; what ends in a dot is a part of one
	MostVCores    int64    // default of yarn.scheduler.maximum-allocation-vcores
	LocalityDelay int64    // default of node-locality-delay; the capacity-scheduler.xml that Hadoop ships sets 40
	QueueAmounts  bool     // capacities of queues may be amounts in brackets (3.1)
	SizeOfHeaps   bool     // a task that states no memory has that of its heap over mapreduce.job.heap.memory-mb.ratio (3.0)

	// HoldsNode keeps the memory of a running container that the scheduler ends taken on
	// its node until the node reports the end (SchedulerNode.releaseContainer, 2.8).
	// Without it the node is free at once, and may run more than it has for a while.
	HoldsNode bool

	// DropsTable forgets what an application asks for at hosts and racks at a priority
	// of which it takes the count of all back (AppSchedulingInfo, 2.8).
	DropsTable bool

	// Capacity28 is the CapacityScheduler from 2.8 on. Without it, in 2.7:
	//   - queues stand in order of use by capacity, then of their paths;
	//   - a queue stops where its use and the request are above its limit, which nothing
	//     checks later, and keeps nothing from its siblings;
	//   - a user's limit follows from the use of the queue, the request and the number of
	//     users that ask, not from what these use;
	//   - of applications whose masters do not fit only the first of a queue runs, and the
	//     limit of a user is not bounded by that of the queue;
	//   - a node goes on in the heartbeat in which its reservation ended;
	//   - the headroom is not bounded by what is free in the cluster;
	//   - preemption offers a queue more than its guarantee, and kills a container only
	//     after the wait.
	Capacity28 bool

	// Fair28 is the FairScheduler from 2.8 on. Without it, in 2.7:
	//   - an application wants what it asks for at all hosts and racks too, and is offered
	//     nodes although the last update saw none of it;
	//   - queues that want nothing are not last, and drf leaves equals as they stood;
	//   - a queue passes its maximum by one container;
	//   - the share of ApplicationMasters is of the fair share alone, in memory unless the
	//     policy is drf, and counts as an offer where it refuses;
	//   - any application may reserve any number of nodes below the maximum of its queue;
	//   - a leaf is starved, not an application: containers of queues above their share are
	//     warned and killed wherever they are, for as much as all leafs lack;
	//   - nodes that come or go wait for the next update;
	//   - with continuous scheduling a heartbeat offers its node only if containers ended,
	//     and each round visits all nodes.
	Fair28 bool

	// FinishAtDone ends an attempt for the ApplicationMaster with the child's last call
	// and leaves the process to exit by itself (SUCCESS_FINISHING_CONTAINER and
	// FAIL_FINISHING_CONTAINER, from 2.8). Without it the container is stopped first,
	// and a failed task's output is aborted.
	FinishAtDone bool

	// Progress is how often a child reports; 0: as the job sets it (2.9).
	Progress time.Duration

	// ScheduledReduces subtracts the reduces that are asked for from the headroom when
	// a map has no room (RMContainerAllocator.preemptReducesIfNeeded, 3.3).
	ScheduledReduces bool

	// CountReduces releases each reduce container beyond the waiting reduces (3.3);
	// without it only while none waits.
	CountReduces bool

	// RetryBesideAsk starts a new attempt of a failed task although another attempt
	// waits for its container (TaskImpl.AttemptFailedTransition, 3.3).
	RetryBesideAsk bool

	// FastFailKilled asks for the next attempt of a task that a lost node killed at the
	// priority of failed maps (TaskAttemptKillEvent.getRescheduleAttempt, from 2.8).
	FastFailKilled bool
}

// Releases lists what Cluster.Hadoop may name.
var Releases = []Release{
	{
		Name: "0.20.2", HeartbeatMin: 3 * time.Second, HeartbeatCeil: true,
		AvoidsTrackers: true, FetchSleep: 5 * time.Second,
	},
	{
		Name: "0.21.0", HeartbeatMin: 3 * time.Second, HeartbeatCeil: true, HeartbeatConf: true,
		OutOfBand: true, AvoidsTrackers: true, WideTasks: true, CapacityPair: true, NoSpeculation: true,
	},
	{
		Name: "1.0.4", HeartbeatMin: 3 * time.Second, HeartbeatCeil: true, HeartbeatConf: true,
		OutOfBand: true, FailedMapsList: true, PerAttempt: true,
		WideTasks: true, Capacity1: true, FetchSleep: 5 * time.Second, CPUCounter: true,
	},
	{
		Name: "1.2.1", HeartbeatMin: 300 * time.Millisecond, HeartbeatConf: true,
		OutOfBand: true, FailedMapsList: true, PerAttempt: true, FailedAreDone: true,
		MeteredDemand: true, CountAssigned: true,
		WideTasks: true, Capacity1: true, CapacityFits: true, FetchSleep: 5 * time.Second, CPUCounter: true,
	},
	{Name: "ideal", Ideal: true, CPUCounter: true},
	{Name: "2.7.7", CPUCounter: true, YARN: &YARNRelease{
		MostVCores: 32, LocalityDelay: -1, Progress: 3 * time.Second,
		Lacks: append([]string{
			"ordering-policy", "enable-size-based-weight", ".priority", "max-application-priority", "rack-locality-additional-delay",
			"per-node-heartbeat.", "user-settings.", "intra-queue-preemption.", "conservative-drf", "dynamic.max.assign",
		}, after210...),
	}},
	{Name: "2.10.2", CPUCounter: true, YARN: yarn28(YARNRelease{Lacks: after210})},
	{Name: "3.3.6", CPUCounter: true, YARN: yarn28(YARNRelease{Recorded: true, QueueAmounts: true, SizeOfHeaps: true})},
	{Name: "3.4.1", CPUCounter: true, YARN: yarn28(YARNRelease{QueueAmounts: true, SizeOfHeaps: true})},
}

// after210 are settings that came after 2.10.
var after210 = []string{"max-parallel-apps", "maxContainerAllocation", "maxChildResources", "resource-types.memory-mb.increment-allocation", "resource-types.vcores.increment-allocation"}

// yarn28 adds the rules that hold from 2.8 on.
func yarn28(r YARNRelease) *YARNRelease {
	r.MostVCores, r.LocalityDelay = 4, 40
	r.HoldsNode, r.DropsTable, r.Capacity28, r.Fair28 = true, true, true, true
	r.FinishAtDone, r.ScheduledReduces, r.CountReduces, r.RetryBesideAsk, r.FastFailKilled = true, true, true, true, true
	return &r
}

// FindRelease looks a release up by name.
func FindRelease(name string) (*Release, error) {
	var known []string
	for i := range Releases {
		if Releases[i].Name == name {
			return &Releases[i], nil
		}
		known = append(known, Releases[i].Name)
	}
	return nil, fmt.Errorf("unknown Hadoop release %q: want one of %s", name, strings.Join(known, ", "))
}

// ReleaseOf returns the release with a JobTracker that a configuration names, and
// whether it can be simulated. A cluster on YARN is simulated only if that is asked for.
// The core-default.xml of every 2.x and 3.x says 0.23.0 and so names none.
func ReleaseOf(conf workload.Conf) (string, bool) {
	version := conf.String("hadoop.common.configuration.version", "")
	if version == "0.23.0" {
		return "", false
	}
	r, err := FindRelease(version)
	return version, err == nil && r.YARN == nil
}

// HeartbeatInterval returns the heartbeat interval of a cluster with n trackers
// (JobTracker.getNextHeartbeatInterval).
func (r *Release) HeartbeatInterval(n int, conf workload.Conf) (time.Duration, error) {
	perSecond, scale := 100, 1.0
	if r.HeartbeatConf {
		var err error
		if perSecond, err = conf.Whole("mapred.heartbeats.in.second"); err != nil {
			return 0, err
		}
		if perSecond < 1 {
			perSecond = 100
		}
		if scale, err = conf.Number("mapreduce.jobtracker.heartbeats.scaling.factor"); err != nil {
			return 0, err
		}
		if scale < 0.01 {
			scale = 1
		}
	}
	seconds := float64(n) / float64(perSecond)
	if r.HeartbeatCeil {
		seconds = math.Ceil(seconds)
	}
	// The JobTracker computes in single-precision scale and whole milliseconds.
	ms := int64(float64(1000*float32(scale)) * seconds)
	return max(time.Duration(ms)*time.Millisecond, r.HeartbeatMin), nil
}
