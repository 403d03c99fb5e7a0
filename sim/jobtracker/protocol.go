package jobtracker

import (
	"math"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/sim/engine"
	"github.com/slotwave/slotwave/sim/execute"
)

// protocol lists what a release of Hadoop does beyond running maps and reduces.
// The ideal protocol does none of it. It is chosen when the run starts.
type protocol struct {
	execute.Protocol
	heartbeats   bool // trackers report at intervals, and not at once
	serviceTasks bool // jobs are set up and cleaned up by tasks, and so are failed attempts
	locality     bool // splits have hosts
	roundsStart  bool // slowstart is computed in single precision, and may be 0 maps
}

func newProtocol(r *model.Release, c *model.Cluster) protocol {
	if r.Ideal {
		return protocol{heartbeats: c.Heartbeat > 0}
	}
	return protocol{
		Protocol:   execute.Protocol{Commit: true, Poll: true, FetchSleep: engine.At(r.FetchSleep)},
		heartbeats: true, serviceTasks: true, locality: true, roundsStart: true,
	}
}

// slowstart returns how many maps end before reduces may start.
func (p *protocol) slowstart(fraction float64, maps int) int {
	if p.roundsStart || maps == 0 {
		return int(math.Ceil(float64(float32(fraction) * float32(maps))))
	}
	return max(1, int(math.Ceil(fraction*float64(maps)-1e-9)))
}
