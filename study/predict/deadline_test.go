package predict

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/slotwave/slotwave/model/analytic"
	"github.com/slotwave/slotwave/sim"
	"github.com/slotwave/slotwave/study"
)

// The nodes found are the fewest of all numbers of nodes with which the last of two
// jobs ends in time, wherever the models begin the search.
func TestProvisionAgainstAllNodes(t *testing.T) {
	const text = `[cluster]
nodes = 3
map_slots = 2
reduce_slots = 1
hadoop = "1.2.1"
[scheduler]
name = "fifo"
[[job]]
name = "a"
maps = 40
duration = { dist = "lognormal", mean = "10s", sd = "3s" }
reduces = 2
reduce_shuffle_ms = 2000
reduce_ms = 4000
[[job]]
name = "b"
submit = "5s"
maps = 20
map_ms = 6000
`
	file := filepath.Join(t.TempDir(), "two.toml")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	const replications = 3
	s, err := study.Open(file, study.Options{Seed: 1, Replications: replications})
	if err != nil {
		t.Fatal(err)
	}
	models, err := analytic.Predictors(analytic.Knowledge{})
	if err != nil {
		t.Fatal(err)
	}
	for _, deadline := range []time.Duration{10 * time.Second, 45 * time.Second, 70 * time.Second, 3 * time.Minute, time.Hour} {
		want := 0
		for nodes := 40; nodes > 0; nodes-- {
			var finishes []time.Duration
			for seed := range deciding * replications {
				one, err := study.Open(file, study.Options{Seed: s.Options.SeedOf(seed)})
				if err != nil {
					t.Fatal(err)
				}
				p, err := sim.Simulator{}.Predict(one.Scenario.Runs[0].Question.Resized(nodes))
				if err != nil {
					t.Fatal(err)
				}
				finishes = append(finishes, p.Mean)
			}
			slices.Sort(finishes)
			if finishes[len(finishes)-1-len(finishes)/10] > deadline {
				break
			}
			want = nodes
		}
		for _, guess := range [][]analytic.Predictor{nil, models} {
			p, err := Provision(s, guess, deadline)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := p.WriteJSON(&out); err != nil {
				t.Fatal(err)
			}
			var got struct {
				Simulation []struct {
					Nodes any
					Found *struct{ Met int }
					Fewer *struct{ Nodes, Met int }
				}
			}
			if err := json.Unmarshal(out.Bytes(), &got); err != nil || len(got.Simulation) != 1 {
				t.Fatalf("%v in %s", err, &out)
			}
			x := got.Simulation[0]
			switch {
			case want == 0 && (x.Nodes != "none" || x.Found != nil):
				t.Errorf("%v: %v nodes, want none", deadline, x.Nodes)
			case want > 0 && (x.Nodes != float64(want) || 10*x.Found.Met < 9*deciding*replications):
				t.Errorf("%v: %v nodes, want %d", deadline, x.Nodes, want)
			case want > 1 && (x.Fewer.Nodes != want-1 || 10*x.Fewer.Met >= 9*deciding*replications):
				t.Errorf("%v: %+v, want one node less to miss", deadline, x.Fewer)
			}
		}
	}
}
