package workload

// UnknownCounters returns counters that are all Unknown.
func UnknownCounters() TaskCounters {
	return TaskCounters{
		Counters: Counters{
			InRecords: Unknown, InBytes: Unknown, OutRecords: Unknown, OutBytes: Unknown,
			Spills: Unknown, MergePasses: Unknown, SpilledRecords: Unknown, ShuffleBytes: Unknown,
			HDFSReadBytes: Unknown, HDFSWriteBytes: Unknown, LocalReadBytes: Unknown, LocalWriteBytes: Unknown,
			CombineInRecords: Unknown, CombineOutRecords: Unknown, MaterializedBytes: Unknown, CPUMillis: Unknown,
		},
		More: moreCounters{
			InGroups: Unknown, SpillRawBytes: Unknown, SpillStoredBytes: Unknown,
			GCMillis: Unknown, PhysicalBytes: Unknown, VirtualBytes: Unknown, HeapBytes: Unknown,
		},
	}
}

// NewHistoryJob returns a job with an id and no other known field.
func NewHistoryJob(id string) HistoryJob {
	c := UnknownCounters()
	return HistoryJob{
		ID: id, Submit: UnknownTime, Launch: UnknownTime, Finish: UnknownTime, Outcome: Running,
		Maps: Unknown, Reduces: Unknown,
		HeapMB: Unknown, MapMB: Unknown, ReduceMB: Unknown, ClusterMapMB: Unknown, ClusterReduceMB: Unknown,
		Totals: JobTotals{
			Map: c, Reduce: c, All: c,
			LaunchedMaps: Unknown, LaunchedReduces: Unknown, NodeLocalMaps: Unknown, RackLocalMaps: Unknown,
			OffRackMaps: Unknown, FailedMaps: Unknown, FailedReduces: Unknown,
			SlotMillisMaps: Unknown, SlotMillisReduces: Unknown,
		},
	}
}

// NewHistoryTask returns a task with a name and no other known field.
func NewHistoryTask(kind Kind, reduceSlot bool, number int) HistoryTask {
	return HistoryTask{
		Kind: kind, ReduceSlot: reduceSlot, Number: number, State: Running,
		Start: UnknownTime, Finish: UnknownTime, Split: Split{Bytes: Unknown},
	}
}

// NewHistoryAttempt returns an attempt with a name and no other known field.
func NewHistoryAttempt(job, pool string, kind Kind, task, number int) HistoryAttempt {
	c := UnknownCounters()
	a := HistoryAttempt{
		Attempt: Attempt{
			Job: job, Task: task, Kind: kind, Number: number, State: Running, Slot: Unknown, Pool: pool,
			Locality: NoLocality, Runnable: UnknownTime, Start: UnknownTime, Finish: UnknownTime,
			Counters: c.Counters, WaitFetch: UnknownTime, WaitMemory: UnknownTime,
		},
		More: c.More, HTTPPort: Unknown,
	}
	for p := range a.Phases {
		a.Phases[p] = UnknownTime
	}
	return a
}
