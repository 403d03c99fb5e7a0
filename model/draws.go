package model

import "github.com/slotwave/slotwave/workload"

// Purpose is what random numbers of a question are drawn for. Each has streams of its
// own, so that what is drawn for one does not change what is drawn for another.
type Purpose string

// The purposes of the draws of a question. A changed text changes results.
const (
	DrawHeartbeatPhase Purpose = "heartbeat phase"
	DrawInterarrival   Purpose = "interarrival"
	DrawBlocks         Purpose = "block placement"
	DrawSplits         Purpose = "split placement"
	DrawPace           Purpose = "pace"
	DrawMapTime        Purpose = "map time"
	DrawShuffleTime    Purpose = "shuffle time"
	DrawSortTime       Purpose = "sort time"
	DrawReduceTime     Purpose = "reduce time"
	DrawReplayError    Purpose = "error of the replay"
)

// Draws returns the seed of what is drawn for a purpose.
func (q *WhatIf) Draws(p Purpose) workload.Seed { return workload.Seed(q.Seed).Named(string(p)) }
