package size

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotwave/slotwave/internal/layers"
	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/results"
	"github.com/slotwave/slotwave/results/points"
	"github.com/slotwave/slotwave/results/text"
	"github.com/slotwave/slotwave/study/search"
	"github.com/slotwave/slotwave/workload"
)

// Sizes of which exactly the stated fraction of runs meets the goals are taken for
// sufficient in at most 2.5 % of the searches, however often one looks, and so are
// their intervals; a size that is clearly sufficient is shown to be.
func TestShown(t *testing.T) {
	const most = 600
	trials := layers.Draws(400, 400)
	z := &Sizing{Goals: []model.Goal{{Finish: 1}}, Confidence: 0.9}
	searched := func(r *rand.Rand, chance float64) (enough, outside bool) {
		s := &Size{}
		for len(s.Runs) < most {
			late := 2.0
			if r.Float64() < chance {
				late = 1
			}
			s.Runs = append(s.Runs, points.Replication{Goals: []float64{late}})
			if now, _ := z.runs(s.Runs).Shown(1); now && !enough {
				enough = true
			}
		}
		_, low, high := s.Probability(z)
		return enough, chance < low || chance > high
	}
	count := func(chance float64) (shown, outside int) {
		r := rand.New(rand.NewPCG(15, 3))
		for range trials {
			enough, out := searched(r, chance)
			if enough {
				shown++
			}
			if out {
				outside++
			}
		}
		return shown, outside
	}
	above := func(p float64) int { // four standard errors
		n := float64(trials)
		return int(n*p + 4*math.Sqrt(n*p*(1-p)))
	}
	if shown, outside := count(0.9); shown > above(0.025) || outside > above(0.05) {
		t.Errorf("%d of %d are shown, and %d intervals miss: want at most %d and %d", shown, trials, outside, above(0.025), above(0.05))
	}
	if shown, _ := count(0.97); shown < trials*95/100 {
		t.Errorf("%d of %d sizes with 97 %% are shown: want nearly all", shown, trials)
	}
	if n := search.LeastRuns(0.9); n != 60 {
		t.Errorf("least runs: got %d: want 60", n)
	}
}

// Machines that agree promise a time 5 % below a limit. Where they differ, all of them may
// be off, and far from the record too.
func TestChancesByMachines(t *testing.T) {
	z := &Sizing{Goals: []model.Goal{{Finish: 1}}, Error: SizingError{Alternatives: 3, recorded: time.Minute}}
	chance := func(makespan time.Duration, slacks ...float64) float64 {
		s := &Size{}
		for _, slack := range slacks {
			s.Runs = append(s.Runs, points.Replication{Values: []float64{float64(makespan)}, Goals: []float64{1}, Slacks: []float64{slack}})
		}
		_, met := z.goal(s, 0)
		return met
	}
	if got := chance(time.Minute, 1.05, 1.051, 1.049, 1.05); got < 0.94 {
		t.Errorf("machines that agree: got %.3f, want 0.94 or more", got)
	}
	if got := chance(time.Minute, 1.01, 1.09, 1.03, 1.07); got > 0.85 {
		t.Errorf("machines that differ by 3 %%: got %.3f, want 0.85 at most", got)
	}
	if got := chance(time.Minute, append(slices.Repeat([]float64{1.05}, 18), 0.98)...); got < 0.88 {
		t.Errorf("one run of 19 is late: got %.3f, want 0.88 or more", got)
	}
	if got := chance(2*time.Minute, 1.05, 1.051, 1.049, 1.05); got > 0.85 {
		t.Errorf("twice the recorded time: got %.3f, want 0.85 at most", got)
	}
}

// A replay of one job knows one error, however many runs draw it.
func TestProbabilityOfOneJob(t *testing.T) {
	z := &Sizing{Goals: []model.Goal{{Finish: 1}}, Confidence: 0.9, Error: SizingError{Replay: &results.ReplaySummary{Jobs: 1}}}
	s := &Size{Runs: slices.Repeat([]points.Replication{{Goals: []float64{1}}}, 100)}
	if p, low, high := s.Probability(z); p != 1 || low > 0.21 || high != 1 {
		t.Errorf("got %.3f, %.3f to %.3f: want 1, 0.207 to 1", p, low, high)
	}
}

// Containers that stand free for a tenth of the time in which maps wait are named.
func TestFreeContainersAreNoted(t *testing.T) {
	for free, want := range map[int64]bool{9: false, 50: true} {
		z := &Sizing{Answer: -1, Waited: &workload.RecordedWait{Most: 2, Time: 100, Free: free}}
		s := &Size{Nodes: 1, Runs: []points.Replication{{Full: 1}}}
		notes := strings.Join(z.notes(&Line{Sizes: []Size{*s}}, s), "; ")
		if strings.Contains(notes, "Spark") != want {
			t.Errorf("%d of 100 ns: got %q", free, notes)
		}
	}
}

// A job's time is off by as much in size as in run.
func TestErrorOfRunAndSize(t *testing.T) {
	const took, recorded = 200 * time.Second, 100 * time.Second
	answer := model.Prediction{Mean: took, Jobs: []model.JobOutcome{{Finish: took}}}
	r := results.Run{Question: &model.WhatIf{}, Predictions: []model.Prediction{answer}, Calibrations: []model.Prediction{answer, answer}, Recorded: []workload.JobRecord{{Finish: recorded}}}
	r.Spread()
	j := r.Predictions[0].Jobs[0]
	z := &Sizing{Goals: []model.Goal{{Response: took}}, Error: SizingError{Alternatives: 1, recorded: recorded}}
	s := &Size{Runs: slices.Repeat([]points.Replication{{Values: []float64{float64(took)}, Goals: []float64{float64(took)}, Slacks: []float64{1}}}, 2)}
	if got, want := z.value(s, 0), fmt.Sprintf("%s (%s to %s)", text.Duration(int64(took)), text.Duration(int64(j.Low)), text.Duration(int64(j.High))); got != want {
		t.Errorf("got %s, run %s", got, want)
	}
}
