package analytic

import (
	"fmt"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/workload"
)

// childPoll is the interval at which a child asks its tracker whether it may commit
// and which maps have ended, seconds.
const childPoll = 1.0

// protocolTimes are what the protocol between tasks adds to a job, seconds.
type protocolTimes struct{ mapEnd, end float64 }

// protocol returns what heartbeats, the start of tasks, completion events, commits,
// and the set-up and clean-up of the job add to waves of tasks of the same times.
// Nothing is added on the ideal cluster. The spread of tasks decides which heartbeat
// reports them, and how long the job waits for the last ones.
func (g *capacity) protocol(q *model.WhatIf, j *workload.Job, w WaveJob, spread taskSpread) (protocolTimes, error) {
	r, err := model.FindRelease(q.Cluster.Hadoop)
	if err != nil || r.HeartbeatMin == 0 {
		return protocolTimes{}, nil // no release, or one without heartbeats
	}
	interval, err := r.HeartbeatOf(&q.Cluster, len(q.Cluster.Nodes))
	if err != nil {
		return protocolTimes{}, fmt.Errorf("%s: %w", j.ID, err)
	}
	c, beat := &q.Cluster.Costs, interval.Seconds()
	trackers := float64(len(q.Cluster.Nodes))
	staged := StagedJob{
		Maps: w.Maps, Reduces: w.Reduces, MapSlots: w.MapSlots, ReduceSlots: w.ReduceSlots,
		Trackers: len(q.Cluster.Nodes), Slowstart: w.Slowstart,
		Before: firstMap(beat, trackers, c),
		Launch: c.Launch.Seconds(), Map: w.Map[0], MapSpread: spread.maps, ReduceSpread: spread.reduces, Cleanup: c.Cleanup.Seconds(), Commit: c.Commit.Seconds(),
		Heartbeat: beat, Sleep: r.FetchSleep.Seconds(), Polls: childPoll,
		Reduce: StagedReduce{Copies: w.Shuffle, Sort: w.Sort, Rest: w.Reduce, Commit: c.Commit.Seconds()},
	}
	with, err := staged.Times()
	if err != nil {
		return protocolTimes{}, fmt.Errorf("%s: %w", j.ID, err)
	}
	without, err := Waves(w)
	if err != nil {
		return protocolTimes{}, fmt.Errorf("%s: %w", j.ID, err)
	}
	return protocolTimes{with.LastMap - without.MapEnd, with.End - without.JobEnd}, nil
}

// onSlots sets the slots of the cluster and the start of the job's reduces.
func (g *capacity) onSlots(j *workload.Job, w WaveJob) (WaveJob, error) {
	w.MapSlots, w.ReduceSlots = g.maps, max(1, g.reduces)
	var err error
	w.Slowstart, err = j.Conf.Number("mapred.reduce.slowstart.completed.maps")
	return w, err
}

// firstMap is the expected time from the submission to the launch of the first map:
// the first tracker to send a heartbeat launches the set-up task. Its first heartbeat
// after the launch and the set-up reports the end of that task, and launches the
// first map.
func firstMap(beat, trackers float64, c *model.Costs) float64 {
	return beat/(trackers+1) + nextBeat((c.Launch+c.Setup).Seconds(), 0, beat)
}
