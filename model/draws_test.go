package model

import (
	"testing"

	"github.com/slotwave/slotwave/workload"
)

// The streams of a purpose follow from the seed of the question and its text alone.
// Results of earlier versions have these streams.
func TestDraws(t *testing.T) {
	q := &WhatIf{Seed: 7}
	if got, want := q.Draws(DrawHeartbeatPhase), workload.Seed(7).Named("heartbeat phase"); got != want {
		t.Errorf("got %d: want %d", got, want)
	}
	if q.Draws(DrawMapTime) == q.Draws(DrawReduceTime) {
		t.Error("maps and reduces have the same streams")
	}
}
