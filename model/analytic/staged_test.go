package analytic

import (
	"math"
	"strings"
	"testing"
)

// Six maps of 1 + 4 s on two slots, at heartbeats 4, 10 and 16; their ends are
// told at 10, 16 and 22. Reduces are launched at 10 and 13 and begin a second
// later; they look for outputs every 5 s from then on, but the first time in vain.
//
//	first   looks at 16 and knows the first wave's outputs, at 21 and knows the
//	        second's, but the last map has ended by then, and finds the last ones
//	        at 26; copied by 27, wants to commit at 28.5, says so at 31, sees the
//	        answer at 31.5, is done at 31.6, told at 34
//	second  looks at 19 and knows two waves', finds the last ones at 24; wants to
//	        commit at 26.5, says so at 28, sees the answer at 28.5
//	job     the clean-up from 34 on is told at 37
func stagedJob() StagedJob {
	return StagedJob{
		Maps: 6, Reduces: 2, MapSlots: 2, ReduceSlots: 2, Trackers: 1, Slowstart: 0.05,
		Before: 4, Launch: 1, Map: 4, Cleanup: 0.2,
		Reduce:    StagedReduce{Copies: 3, Sort: 1, Rest: 0.5, Commit: 0.1},
		Heartbeat: 3, Sleep: 5, Polls: 1,
	}
}

func TestStagedJob(t *testing.T) {
	j := stagedJob()
	got, err := j.Times()
	if err != nil {
		t.Fatal(err)
	}
	want := StagedTimes{LastMap: 21, LastReduce: 31.6, End: 37}
	for _, v := range [][2]float64{{got.LastMap, want.LastMap}, {got.LastReduce, want.LastReduce}, {got.End, want.End}} {
		if math.Abs(v[0]-v[1]) > 1e-5 {
			t.Fatalf("%+v, want %+v", got, want)
		}
	}
	// Maps of 4.9 to 5.1 s and their launch fill one interval or two.
	j.Launch, j.Map, j.MapSpread = 0.9, 5, 0.2
	if got, err = j.Times(); err != nil || !(got.End > 38 && got.End < 49) {
		t.Errorf("%+v, %v: want a mean of waves of 6 s and of 9 s", got, err)
	}
}

func TestStagedJobErrors(t *testing.T) {
	j := stagedJob()
	j.Maps, j.Heartbeat, j.Launch = 0, 0, math.NaN()
	_, err := j.Times()
	for _, want := range []string{"maps", "heartbeat", "launch"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want it to name %s", err, want)
		}
	}
}
