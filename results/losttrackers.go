package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slotwave/slotwave/results/text"
)

// lostTracker is a TaskTracker that sent its last heartbeat before the run ended.
type lostTracker struct {
	Node     string `json:"node"`
	At       int64  `json:"at_ns"`         // no heartbeat from then on
	Attempts int64  `json:"attempts_lost"` // that ran on it then
}

// lostTrackers lists those of the first replication, the earliest first.
func (r *Run) lostTrackers() (list []lostTracker) {
	type loss struct {
		node string
		at   time.Duration
	}
	attempts := map[loss]int64{}
	for i := range r.Stats.slots.nodes {
		n := &r.Stats.slots.nodes[i]
		attempts[loss{n.name, n.killed}] = n.killedThen
	}
	for i := range r.Question.Cluster.Nodes {
		if n := &r.Question.Cluster.Nodes[i]; n.Dies > 0 && int64(n.Dies) < r.end() {
			list = append(list, lostTracker{text.Escape(n.Name), int64(n.Dies), attempts[loss{n.Name, n.Dies}]})
		}
	}
	slices.SortStableFunc(list, func(a, b lostTracker) int { return cmp.Compare(a.At, b.At) })
	return list
}

// lostText says which trackers were lost, and what with them.
func lostText(list []lostTracker) string {
	const named = 3
	var trackers []string
	attempts := int64(0)
	for i, l := range list {
		if i < named {
			trackers = append(trackers, fmt.Sprintf("%s at %s", text.Shorten(l.Node, 24), text.Duration(l.At)))
		}
		attempts += l.Attempts
	}
	line := strings.Join(trackers, ", ")
	if more := len(list) - named; more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	with := "it"
	if len(list) > 1 {
		with = "them"
	}
	return fmt.Sprintf("%s lost, %s with %s; last heartbeat of %s", text.Count(len(list), "tracker"), text.Count(int(attempts), "running attempt"), with, line)
}
